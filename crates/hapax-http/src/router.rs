//! Every route of the server, in one list.

use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::http::Method;
use axum::routing::{MethodFilter, on};
use hapax_wire::error::Code;

use crate::call::Call;
use crate::exchange::exchange;
use crate::front::{Front, Post};
use crate::problem::Problem;
use crate::reply::Reply;
use crate::routes::{
    admin, dead_letter, events, health, job_keys, jobs, manifest, metrics, queues, unique, workers,
};
use crate::shared::{Access, BodyRule, Endpoint, Shared};

use BodyRule::{Batch, Job, Unused};

/// The routes, ready to serve.
pub(crate) fn router(shared: &Arc<Shared>) -> Front {
    routes(shared).complete()
}

#[rustfmt::skip]
fn routes(shared: &Arc<Shared>) -> Routes {
    let mut routes = Routes::new(shared)
        .open("/health", health::show)
        .open("/healthz", health::show)
        .open("/ojs/v1/health", health::show)
        .open("/ready", health::ready)
        .open("/readyz", health::ready)
        .open("/metrics", metrics::show)
        .get("/ojs/manifest", manifest::show)
        .post("/ojs/v1/jobs", Job, jobs::create::run)
        .post("/ojs/v1/jobs/batch", Batch, jobs::batch::run)
        .post("/ojs/v1/jobs/bulk", Batch, jobs::bulk::run)
        .get("/ojs/v1/jobs/{id}", jobs::show::run)
        .delete("/ojs/v1/jobs/{id}", jobs::cancel::run)
        .post("/ojs/v1/jobs/{id}/cancel", Unused, jobs::cancel::run)
        .post("/ojs/v1/jobs/{id}/activate", Unused, jobs::activate::run)
        .post("/ojs/v1/jobs/{id}/ack", Job, workers::ack::of_path)
        .post("/ojs/v1/jobs/{id}/nack", Job, workers::nack::of_path)
        .delete("/ojs/v1/job-keys/", job_keys::remove)
        .delete("/ojs/v1/job-keys/{key}", job_keys::remove)
        .post("/ojs/v1/unique/explain", Job, unique::explain::run)
        .get("/ojs/v1/unique/keys", unique::list::run)
        .get("/ojs/v1/unique/keys/{key}", unique::show::run)
        .post("/ojs/v1/unique/keys/{key}/release", Job, unique::release::run)
        .post("/ojs/v1/workers/fetch", Job, workers::fetch::run)
        .post("/ojs/v1/workers/ack", Job, workers::ack::run)
        .post("/ojs/v1/workers/nack", Job, workers::nack::run)
        .post("/ojs/v1/workers/heartbeat", Job, workers::heartbeat::run)
        .get("/ojs/v1/queues", queues::list::run)
        .get("/ojs/v1/queues/{name}", queues::show::run)
        .get("/ojs/v1/queues/{name}/stats", queues::stats::run)
        .post("/ojs/v1/queues/{name}/pause", Unused, queues::pause::run)
        .post("/ojs/v1/queues/{name}/resume", Unused, queues::resume::run)
        .get("/ojs/v1/dead-letter", dead_letter::list::run)
        .get("/ojs/v1/dead-letter/{id}", dead_letter::show::run)
        .post("/ojs/v1/dead-letter/{id}/retry", Job, dead_letter::retry::run)
        .delete("/ojs/v1/dead-letter/{id}", dead_letter::delete::run)
        .get("/ojs/v1/events", events::list);
    if shared.conformance {
        routes = routes.post("/ojs/v1/admin/reset", Unused, admin::reset);
    }
    routes
}

/// A router in the making, and what is in it.
struct Routes {
    router: Router,
    posts: Vec<(&'static str, Post)>,
    shared: Arc<Shared>,
    #[cfg(test)]
    listed: Vec<(Method, &'static str)>,
}

impl Routes {
    fn new(shared: &Arc<Shared>) -> Routes {
        Routes {
            router: Router::new(),
            posts: Vec::new(),
            shared: Arc::clone(shared),
            #[cfg(test)]
            listed: Vec::new(),
        }
    }

    /// With answers for everything that is not in the list.
    fn complete(self) -> Front {
        let no_path_here = endpoint(&self.shared, "any", "(unknown path)", Access::Keyed, Unused);
        let no_method_here = endpoint(&self.shared, "any", "(unknown method)", Access::Keyed, Unused);
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
        self.add(&Method::GET, template, Access::Open, Unused, run)
    }

    fn get<W>(self, template: &'static str, run: fn(Call) -> W) -> Self
    where
        W: Future<Output = Result<Reply, Problem>> + Send + 'static,
    {
        self.add(&Method::GET, template, Access::Keyed, Unused, run)
    }

    fn post<W>(self, template: &'static str, body: BodyRule, run: fn(Call) -> W) -> Self
    where
        W: Future<Output = Result<Reply, Problem>> + Send + 'static,
    {
        self.add(&Method::POST, template, Access::Keyed, body, run)
    }

    fn delete<W>(self, template: &'static str, run: fn(Call) -> W) -> Self
    where
        W: Future<Output = Result<Reply, Problem>> + Send + 'static,
    {
        self.add(&Method::DELETE, template, Access::Keyed, Unused, run)
    }

    fn add<W>(
        mut self,
        method: &Method,
        template: &'static str,
        access: Access,
        body: BodyRule,
        run: fn(Call) -> W,
    ) -> Self
    where
        W: Future<Output = Result<Reply, Problem>> + Send + 'static,
    {
        let endpoint = endpoint(&self.shared, method.as_str(), template, access, body);
        let filter = match *method {
            Method::POST => MethodFilter::POST,
            Method::DELETE => MethodFilter::DELETE,
            // Answers HEAD as well.
            _ => MethodFilter::GET,
        };
        if filter == MethodFilter::POST && !template.contains('{') {
            let endpoint = Arc::clone(&endpoint);
            let post = move |request: Request| Box::pin(exchange(Arc::clone(&endpoint), request, run)) as _;
            self.posts.push((template, Box::new(post)));
        }
        let serve = move |request: Request| exchange(Arc::clone(&endpoint), request, run);
        self.router = self.router.route(template, on(filter, serve));
        #[cfg(test)]
        self.listed.push((method.clone(), template));
        self
    }
}

fn endpoint(
    shared: &Arc<Shared>,
    method: &str,
    template: &'static str,
    access: Access,
    body: BodyRule,
) -> Arc<Endpoint> {
    let meter = shared.metrics.route(method, template);
    Arc::new(Endpoint { shared: Arc::clone(shared), template, access, body, meter })
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
