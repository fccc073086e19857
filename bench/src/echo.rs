//! The HTTP ceiling: reads a body, answers with so many bytes, on the stack that the server uses.

use std::net::SocketAddr;

use anyhow::Result;
use axum::Router;
use axum::extract::{Path, State};
use axum::http::{HeaderName, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use bytes::Bytes;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};

const ANSWER_BYTES_MAX: usize = 1024 * 1024;

/// Serves until it is killed.
pub(crate) async fn serve(address: SocketAddr) -> Result<()> {
    let listener = TcpListener::bind(address).await?;
    let router = Router::new()
        .route("/ojs/v1/health", get(async || "ok"))
        .route("/echo/{bytes}", post(echo))
        .with_state(Bytes::from(vec![b'x'; ANSWER_BYTES_MAX]));
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(talk(stream, router.clone()));
    }
}

async fn talk(stream: TcpStream, router: Router) {
    let service = TowerToHyperService::new(router);
    let builder = Builder::new(TokioExecutor::new());
    // The generator hangs up between two measurements, which hyper may report as an error.
    let _ = builder.serve_connection(TokioIo::new(stream), service).await;
}

async fn echo(State(filler): State<Bytes>, Path(bytes): Path<usize>, _body: Bytes) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "application/openjobspec+json"),
        (HeaderName::from_static("ojs-version"), "1.0"),
    ];
    (headers, filler.slice(..bytes.min(ANSWER_BYTES_MAX))).into_response()
}
