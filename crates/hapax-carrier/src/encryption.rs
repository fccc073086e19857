//! Encrypted connections: the certificate of the endpoint is verified with those that the system trusts, or with those in
//! the file that `SSL_CERT_FILE` names.

use std::io;
use std::sync::{Arc, LazyLock};

use hapax_core::webhook::Host;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::trouble::Trouble;

/// Reading hundreds of certificates for each delivery would take longer than the delivery.
static CONNECTOR: LazyLock<Option<TlsConnector>> = LazyLock::new(|| {
    let mut trusted = RootCertStore::empty();
    trusted.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().ok()?;
    let config = config.with_root_certificates(trusted).with_no_client_auth();
    Some(TlsConnector::from(Arc::new(config)))
});

/// Encrypts a connection to that host.
pub(crate) async fn encrypt(stream: TcpStream, host: &Host) -> Result<TlsStream<TcpStream>, Trouble> {
    // The certificates are in files, which must not hold up others.
    let connector = tokio::task::spawn_blocking(|| CONNECTOR.clone()).await.ok().flatten();
    let connector = connector.ok_or(Trouble::NoEncryption)?;
    let name = match host {
        Host::Name(name) => ServerName::try_from(name.to_string())
            .map_err(|error| Trouble::Encryption(io::Error::new(io::ErrorKind::InvalidInput, error)))?,
        Host::Address(address) => ServerName::IpAddress((*address).into()),
    };
    connector.connect(name, stream).await.map_err(Trouble::Encryption)
}
