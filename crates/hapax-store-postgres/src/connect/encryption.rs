//! Encrypted connections: the certificate of the server is verified with the certificates that the system trusts, or with
//! those in the file that `SSL_CERT_FILE` names.

use std::sync::{Arc, LazyLock};

use rustls::{ClientConfig, RootCertStore};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::Fault;

/// Reading hundreds of certificates for each connection would take longer than connecting.
static TRUSTED: LazyLock<Arc<RootCertStore>> = LazyLock::new(|| {
    let mut trusted = RootCertStore::empty();
    trusted.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    Arc::new(trusted)
});

/// What connects with encryption.
pub(super) fn connector() -> Result<MakeRustlsConnect, Fault> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| Fault::Encryption(Box::new(error)))?
        .with_root_certificates(Arc::clone(&TRUSTED))
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}
