//! Telling what happens as it happens: who may listen, what they are told, and over what.

mod audience;
mod ear;
mod event_stream;
mod feed;
mod overview;
mod pace;
mod socket;
mod streams;
mod watch;

use audience::Audience;
pub(crate) use event_stream::EventStream;
pub(crate) use feed::{Feed, Told};
pub(crate) use overview::{Figures, Overview};
pub(crate) use socket::Socket;
pub(crate) use streams::{StreamPlace, Streams};
pub(crate) use watch::{Watch, Watched};
