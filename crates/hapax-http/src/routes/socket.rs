//! `GET /ojs/v1/ws`: a WebSocket on which a client says what it wants to hear.

use axum::http::{HeaderMap, HeaderValue, Request, header};
use hyper_util::rt::TokioIo;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::server::create_response;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

use crate::answer::{Answer, Session};
use crate::call::Call;
use crate::from_wire::{self, Fault, Place};
use crate::limits::{SOCKET_MESSAGE_BYTES_MAX, SOCKET_READ_BUFFER_BYTES};
use crate::live::Socket;
use crate::page;
use crate::problem::Problem;

/// The name of the protocol that is spoken (Real-Time 3.1).
const PROTOCOL: &str = "ojs.v1";

pub(crate) async fn open(call: Call) -> Result<Answer, Problem> {
    from_wire::no_choice_yet(&call.uri)?;
    let listener = call.listener();
    let Some(parts) = call.head else { return Err(no_handshake("has no head")) };
    page::expect_own_origin(&parts)?;
    let mut request = Request::from_parts(*parts, ());
    let response = create_response(&request).map_err(|error| no_handshake(&error.to_string()))?;
    let upgrade = hyper::upgrade::on(&mut request);
    let mut headers = response.into_parts().0.headers;
    if offers(request.headers(), PROTOCOL) {
        headers.insert(header::SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(PROTOCOL));
    }
    let place = call.shared.streams.enter()?;
    let broker = call.shared.broker.clone();
    let session = Session::new(async move {
        // An error means that the client has gone meanwhile.
        if let Ok(upgraded) = upgrade.await {
            let io = TokioIo::new(upgraded);
            let wire = WebSocketStream::from_raw_socket(io, Role::Server, Some(config())).await;
            Socket::new(broker, listener, place, wire).run().await;
        }
    });
    Ok(Answer::Upgrade(headers, session))
}

fn config() -> WebSocketConfig {
    WebSocketConfig::default()
        .read_buffer_size(SOCKET_READ_BUFFER_BYTES)
        .max_message_size(Some(SOCKET_MESSAGE_BYTES_MAX))
        .max_frame_size(Some(SOCKET_MESSAGE_BYTES_MAX))
}

fn no_handshake(problem: &str) -> Problem {
    let place = Place::Member(&Place::Body, "the handshake");
    let hint = "Open this path with a WebSocket client over HTTP/1.1; for plain HTTP there is /ojs/v1/events/stream.";
    Problem { hint: Some(hint), ..Fault::new(place, problem).into() }
}

fn offers(headers: &HeaderMap, protocol: &str) -> bool {
    let offered = headers.get_all(header::SEC_WEBSOCKET_PROTOCOL).into_iter();
    offered
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|name| name.trim() == protocol)
}
