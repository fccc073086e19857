//! Who carries a letter to an endpoint.

use std::fmt::Debug;
use std::pin::Pin;
use std::sync::Arc;

use hapax_core::webhook::{Endpoint, Response};

/// An event on its way, signed.
#[derive(Debug, Clone)]
pub struct Letter {
    /// Where to.
    pub endpoint: Endpoint,
    /// The kind of event.
    pub event_type: Box<str>,
    /// The name of the delivery.
    pub delivery: Box<str>,
    /// The name of the subscription.
    pub subscription: Box<str>,
    /// When it is sent, in Unix seconds.
    pub timestamp: i64,
    /// The signatures.
    pub signature: Box<str>,
    /// The event.
    pub body: Arc<str>,
}

/// Sends requests to endpoints. It ends each after its own limit of time, and never fails otherwise than by an answer.
pub trait Carrier: Send + Sync + Debug {
    /// Sends one.
    fn carry(&self, letter: Letter) -> Pin<Box<dyn Future<Output = Response> + Send + '_>>;
}
