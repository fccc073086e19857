//! Who takes spans.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use hapax_carrier::{NeighbourResolver, Post};
use hapax_core::webhook::{Endpoint, Reach, Response};
use hyper::HeaderMap;

/// What a collector promises to answer.
pub(crate) type Answer<'c> = Pin<Box<dyn Future<Output = Response> + Send + 'c>>;

/// Takes spans. It answers within a limit of time of its own.
pub(crate) trait Collector: Send + Sync + fmt::Debug {
    fn take(&self, body: Bytes) -> Answer<'_>;
}

/// One that is reached over HTTP.
pub(crate) struct HttpCollector {
    post: Post,
    endpoint: Endpoint,
    headers: HeaderMap,
}

impl HttpCollector {
    pub(crate) fn new(endpoint: Endpoint, headers: HeaderMap) -> HttpCollector {
        // It is the operator who says where it is: mostly next door.
        let post = Post::new(Reach::Everywhere, Arc::new(NeighbourResolver));
        HttpCollector { post, endpoint, headers }
    }
}

impl Collector for HttpCollector {
    fn take(&self, body: Bytes) -> Answer<'_> {
        Box::pin(self.post.send(&self.endpoint, self.headers.clone(), body))
    }
}

/// The headers may be secret.
impl fmt::Debug for HttpCollector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpCollector").field("endpoint", &self.endpoint.url()).finish_non_exhaustive()
    }
}
