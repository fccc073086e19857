//! How routes are put together: each is measured, guarded and limited in the same way.

mod table;

use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::http::Method;
use axum::routing::{MethodFilter, on};
use hapax_wire::error::Code;

use crate::answer::Answer;
use crate::call::Call;
use crate::exchange::exchange;
use crate::front::{Front, Post};
use crate::openapi::{self, Route};
use crate::problem::Problem;
use crate::reply::Reply;
use crate::shared::{Access, BodyRule, Endpoint, QueryRule, Shared};
use crate::tenancy::Tenancy;

use BodyRule::{Lasting, Unused};
use QueryRule::{PassedOver, Read, Refused};

/// The routes, ready to serve.
pub(crate) fn router(shared: &Arc<Shared>) -> Front {
    let routes = table::routes(shared);
    shared.reference.get_or_init(|| openapi::document(&routes.listed, shared).into());
    routes.complete()
}

/// The routes, as they are listed.
#[cfg(test)]
pub(crate) fn listed(shared: &Arc<Shared>) -> Vec<Route> {
    table::routes(shared).listed
}

/// What a route asks of a request: who may send it, what its body and its query are, and for whom it is.
type Rules = (Access, BodyRule, QueryRule, Tenancy);

/// A router in the making, and what is in it.
struct Routes {
    router: Router,
    posts: Vec<(&'static str, Post)>,
    shared: Arc<Shared>,
    listed: Vec<Route>,
}

impl Routes {
    fn new(shared: &Arc<Shared>) -> Routes {
        Routes { router: Router::new(), posts: Vec::new(), shared: Arc::clone(shared), listed: Vec::new() }
    }

    /// With answers for everything that is not in the list.
    fn complete(self) -> Front {
        let nowhere = (Access::Keyed, Unused, PassedOver, Tenancy::All);
        let no_path_here = endpoint(&self.shared, "any", "(unknown path)", nowhere);
        let no_method_here = endpoint(&self.shared, "any", "(unknown method)", nowhere);
        let router = self
            .router
            .fallback(move |request: Request| exchange(Arc::clone(&no_path_here), request, no_path))
            .method_not_allowed_fallback(move |request: Request| {
                exchange(Arc::clone(&no_method_here), request, no_method)
            });
        Front::new(router, self.posts)
    }

    fn open<W>(self, template: &'static str, run: fn(Call) -> W) -> Self
    where
        W: Future<Output = Result<Reply, Problem>> + Send + 'static,
    {
        self.add(&Method::GET, template, (Access::Open, Unused, PassedOver, Tenancy::All), run)
    }

    fn get<W>(self, template: &'static str, tenancy: Tenancy, run: fn(Call) -> W) -> Self
    where
        W: Future<Output = Result<Reply, Problem>> + Send + 'static,
    {
        let query = if template.starts_with("/ojs/v1/") { Refused } else { PassedOver };
        self.add(&Method::GET, template, (Access::Keyed, Unused, query, tenancy), run)
    }

    /// A GET whose query says what to show.
    fn get_with<W>(self, template: &'static str, tenancy: Tenancy, run: fn(Call) -> W) -> Self
    where
        W: Future<Output = Result<Reply, Problem>> + Send + 'static,
    {
        self.add(&Method::GET, template, (Access::Keyed, Unused, Read, tenancy), run)
    }

    /// A GET whose answer may last.
    fn lasting<W>(self, template: &'static str, tenancy: Tenancy, run: fn(Call) -> W) -> Self
    where
        W: Future<Output = Result<Answer, Problem>> + Send + 'static,
    {
        self.add(&Method::GET, template, (Access::Keyed, Lasting, Read, tenancy), run)
    }

    fn post<W>(self, template: &'static str, body: BodyRule, tenancy: Tenancy, run: fn(Call) -> W) -> Self
    where
        W: Future<Output = Result<Reply, Problem>> + Send + 'static,
    {
        self.add(&Method::POST, template, (Access::Keyed, body, Refused, tenancy), run)
    }

    /// A POST to a fixed path that other methods take for the name of a thing: it goes past the router, which knows the one
    /// or the other.
    fn post_beside<W>(
        mut self,
        template: &'static str,
        body: BodyRule,
        tenancy: Tenancy,
        run: fn(Call) -> W,
    ) -> Self
    where
        W: Future<Output = Result<Reply, Problem>> + Send + 'static,
    {
        let rules = (Access::Keyed, body, Refused, tenancy);
        self.past_router(endpoint(&self.shared, Method::POST.as_str(), template, rules), run);
        self.listed.push(Route { method: Method::POST, template, access: Access::Keyed, body, tenancy });
        self
    }

    fn past_router<W, A>(&mut self, endpoint: Arc<Endpoint>, run: fn(Call) -> W)
    where
        W: Future<Output = Result<A, Problem>> + Send + 'static,
        A: Into<Answer> + Send + 'static,
    {
        let template = endpoint.template;
        let post = move |request: Request| Box::pin(exchange(Arc::clone(&endpoint), request, run)) as _;
        self.posts.push((template, Box::new(post)));
    }

    fn put<W>(self, template: &'static str, body: BodyRule, tenancy: Tenancy, run: fn(Call) -> W) -> Self
    where
        W: Future<Output = Result<Reply, Problem>> + Send + 'static,
    {
        self.add(&Method::PUT, template, (Access::Keyed, body, Refused, tenancy), run)
    }

    fn patch<W>(self, template: &'static str, body: BodyRule, tenancy: Tenancy, run: fn(Call) -> W) -> Self
    where
        W: Future<Output = Result<Reply, Problem>> + Send + 'static,
    {
        self.add(&Method::PATCH, template, (Access::Keyed, body, Refused, tenancy), run)
    }

    fn delete<W>(self, template: &'static str, tenancy: Tenancy, run: fn(Call) -> W) -> Self
    where
        W: Future<Output = Result<Reply, Problem>> + Send + 'static,
    {
        self.add(&Method::DELETE, template, (Access::Keyed, Unused, Refused, tenancy), run)
    }

    /// A DELETE whose body says what to delete.
    fn delete_with<W>(
        self,
        template: &'static str,
        body: BodyRule,
        tenancy: Tenancy,
        run: fn(Call) -> W,
    ) -> Self
    where
        W: Future<Output = Result<Reply, Problem>> + Send + 'static,
    {
        self.add(&Method::DELETE, template, (Access::Keyed, body, Refused, tenancy), run)
    }

    fn add<W, A>(mut self, method: &Method, template: &'static str, rules: Rules, run: fn(Call) -> W) -> Self
    where
        W: Future<Output = Result<A, Problem>> + Send + 'static,
        A: Into<Answer> + Send + 'static,
    {
        let endpoint = endpoint(&self.shared, method.as_str(), template, rules);
        let (access, body, _, tenancy) = rules;
        let filter = match *method {
            Method::POST => MethodFilter::POST,
            Method::DELETE => MethodFilter::DELETE,
            Method::PATCH => MethodFilter::PATCH,
            Method::PUT => MethodFilter::PUT,
            // Answers HEAD as well.
            _ => MethodFilter::GET,
        };
        if filter == MethodFilter::POST && !template.contains('{') {
            self.past_router(Arc::clone(&endpoint), run);
        }
        let serve = move |request: Request| exchange(Arc::clone(&endpoint), request, run);
        self.router = self.router.route(template, on(filter, serve));
        self.listed.push(Route { method: method.clone(), template, access, body, tenancy });
        self
    }
}

fn endpoint(shared: &Arc<Shared>, method: &str, template: &'static str, rules: Rules) -> Arc<Endpoint> {
    let (access, body, query, tenancy) = rules;
    let meter = shared.metrics.route(method, template);
    Arc::new(Endpoint { shared: Arc::clone(shared), template, access, body, query, tenancy, meter })
}

async fn no_path(call: Call) -> Result<Reply, Problem> {
    let path: String = call.uri.path().chars().take(200).collect();
    let hint = "The manifest at /ojs/manifest names the base of all paths, /ojs/v1.";
    let message = format!("this server has no path {path:?}");
    Err(Problem { hint: Some(hint), ..Problem::new(Code::NotFound, message) })
}

async fn no_method(_call: Call) -> Result<Reply, Problem> {
    Err(Problem::new(Code::MethodNotAllowed, "the path does not take this method"))
}

#[cfg(test)]
mod tests;
