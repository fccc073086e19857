//! The operator's end of the HTTP API: a request, its answer, or why there is none.

mod advice;
mod exchange;
mod path;
mod trouble;
mod url;

use std::path::Path;

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue, USER_AGENT};
use hyper::{Method, Request};
use serde::de::DeserializeOwned;
use tokio::runtime::Runtime;

pub(crate) use path::ApiPath;
pub(crate) use trouble::Told;
pub(crate) use url::ServerUrl;

use crate::failure::Failure;
use crate::secret::{self, Secret};

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const NAME: HeaderValue = HeaderValue::from_static(concat!("hapax/", env!("CARGO_PKG_VERSION")));

/// Asks one server.
#[derive(Debug)]
pub(crate) struct Client {
    server: ServerUrl,
    /// Marked as sensitive, so that it has no `Debug` either.
    authorization: Option<HeaderValue>,
    runtime: Runtime,
}

/// What the server answered.
#[derive(Debug)]
pub(crate) struct Reply {
    server: ServerUrl,
    text: String,
}

impl Client {
    /// A client that shows this key, if there is one.
    pub(crate) fn new(server: ServerUrl, key: Option<&Secret>) -> Result<Client, Failure> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Failure::because("could not start", &error))?;
        Ok(Client { server, authorization: key.map(authorization).transpose()?, runtime })
    }

    pub(crate) fn get(&self, path: &ApiPath) -> Result<Reply, Failure> {
        self.ask(Method::GET, path, Vec::new())
    }

    pub(crate) fn post(&self, path: &ApiPath, body: Vec<u8>) -> Result<Reply, Failure> {
        self.ask(Method::POST, path, body)
    }

    pub(crate) fn delete(&self, path: &ApiPath) -> Result<Reply, Failure> {
        self.ask(Method::DELETE, path, Vec::new())
    }

    fn ask(&self, method: Method, path: &ApiPath, body: Vec<u8>) -> Result<Reply, Failure> {
        let request = self.request(method, path, body)?;
        let answer = self.runtime.block_on(exchange::exchange(self.server.destination(), request));
        let answer = answer.map_err(|error| trouble::unanswered(&self.server, &error))?;
        if !answer.status.is_success() {
            return Err(trouble::refused(&self.server, &answer));
        }
        let text = String::from_utf8(answer.body.into());
        let text = text.map_err(|error| trouble::unreadable(&self.server, &error.utf8_error()))?;
        Ok(Reply { server: self.server.clone(), text })
    }

    fn request(
        &self,
        method: Method,
        path: &ApiPath,
        body: Vec<u8>,
    ) -> Result<Request<Full<Bytes>>, Failure> {
        let mut request = Request::builder()
            .method(method)
            .uri(self.server.target(path.as_str()))
            .header(HOST, self.server.authority())
            .header(USER_AGENT, NAME)
            .header(ACCEPT, JSON);
        if !body.is_empty() {
            request = request.header(CONTENT_TYPE, JSON);
        }
        if let Some(authorization) = &self.authorization {
            request = request.header(AUTHORIZATION, authorization);
        }
        let request = request.body(Full::new(body.into()));
        request.map_err(|error| Failure::because(format!("could not ask {}", self.server), &error))
    }
}

impl Reply {
    /// As it came.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// What it says.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        serde_json::from_str(&self.text).map_err(|error| trouble::unreadable(&self.server, &error))
    }
}

/// The first key of a file, which may be the server's own.
pub(crate) fn key_of_file(path: &Path) -> Result<Secret, Failure> {
    let text = secret::read(path)?;
    let first = secret::entries(text.reveal()).find(|entry| !entry.secret.is_empty());
    let first = first.map(|entry| Secret::new(entry.secret));
    first.ok_or_else(|| {
        Failure::new(format!("{}: there is no key in it", path.display()))
            .hint("one line is enough: the secret, or name:secret as in the server's own file")
    })
}

fn authorization(key: &Secret) -> Result<HeaderValue, Failure> {
    let value = HeaderValue::from_str(&format!("Bearer {}", key.reveal()));
    let mut value = value.map_err(|_| {
        Failure::new("the API key has characters in it that cannot be sent")
            .hint("a key is one line of letters, digits and signs; look for a line break at its end")
    })?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests;
