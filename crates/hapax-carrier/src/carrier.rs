//! One webhook to one endpoint.

use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use hapax_broker::{Carrier, Letter};
use hapax_core::webhook::{Reach, Response};
use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue, InvalidHeaderValue, USER_AGENT};

use crate::trouble::Trouble;
use crate::{NeighbourResolver, Post, Resolver, SystemResolver};

/// Carries letters over HTTP/1.1, one connection each.
#[derive(Debug, Clone)]
pub struct HttpCarrier {
    post: Post,
    user_agent: Box<str>,
}

impl HttpCarrier {
    /// A carrier of this version of the program that goes as far as it may.
    pub fn new(reach: Reach, version: &str) -> HttpCarrier {
        let resolver: Arc<dyn Resolver> = match reach {
            Reach::Public => Arc::new(SystemResolver),
            // Neighbours are allowed, so they may go by the names that they have among each other.
            Reach::Everywhere => Arc::new(NeighbourResolver),
        };
        HttpCarrier::with_resolver(reach, version, resolver)
    }

    /// The same with another knowledge of names.
    pub fn with_resolver(reach: Reach, version: &str, resolver: Arc<dyn Resolver>) -> HttpCarrier {
        let user_agent = format!("hapax/{version} OJS-Webhook/1.0").into();
        HttpCarrier { post: Post::new(reach, resolver), user_agent }
    }

    fn headers(&self, letter: &Letter) -> Result<HeaderMap, InvalidHeaderValue> {
        let Letter { endpoint: _, event_type, delivery, subscription, timestamp, signature, body: _ } =
            letter;
        let texts = [
            (USER_AGENT, &*self.user_agent),
            (HeaderName::from_static("x-ojs-event-type"), event_type),
            (HeaderName::from_static("x-ojs-delivery-id"), delivery),
            (HeaderName::from_static("x-ojs-subscription-id"), subscription),
            (HeaderName::from_static("x-ojs-timestamp"), &timestamp.to_string()),
            (HeaderName::from_static("x-ojs-signature"), signature),
        ];
        texts.into_iter().map(|(name, text)| Ok((name, HeaderValue::from_str(text)?))).collect()
    }
}

impl Carrier for HttpCarrier {
    fn carry(&self, letter: Letter) -> Pin<Box<dyn Future<Output = Response> + Send + '_>> {
        Box::pin(async move {
            let Ok(headers) = self.headers(&letter) else {
                return Response::Failed(Trouble::Request.to_string().into());
            };
            let body = Bytes::copy_from_slice(letter.body.as_bytes());
            self.post.send(&letter.endpoint, headers, body).await
        })
    }
}

#[cfg(test)]
mod tests;
