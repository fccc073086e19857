//! Where requests enter: those of the busy routes go straight there, the others through the router.

use std::pin::Pin;
use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::http::Method;
use axum::response::Response;
use tower::Service as _;

/// An answer on its way.
pub(crate) type Answering = Pin<Box<dyn Future<Output = Response> + Send>>;

/// All routes. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Front {
    /// The posts to a path without variable parts: what producers and workers send all day. The router copies the
    /// route and boxes the request's future twice on its way: 4 % of the instructions of a duplicate, measured.
    posts: Arc<[(&'static str, Post)]>,
    router: Router,
}

/// Takes a request through one route.
pub(crate) type Post = Box<dyn Fn(Request) -> Answering + Send + Sync>;

impl Front {
    /// The router, and which of its routes are posts to a fixed path.
    pub(crate) fn new(router: Router, posts: Vec<(&'static str, Post)>) -> Front {
        Front { posts: posts.into(), router }
    }

    /// Answers a request.
    pub(crate) fn answer(&self, request: Request) -> Answering {
        let path = request.uri().path();
        let post = self.posts.iter().find(|(known, _)| *known == path);
        if let (Some((_, post)), &Method::POST) = (post, request.method()) {
            return post(request);
        }
        let answer = self.router.clone().call(request);
        Box::pin(async { answer.await.unwrap_or_else(|never| match never {}) })
    }
}

impl std::fmt::Debug for Front {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Front").field("router", &self.router).finish_non_exhaustive()
    }
}
