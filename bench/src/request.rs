//! Requests that are written once and then only patched: the generator shares two cores with the server.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};

/// Numbers have ten digits from the first to the last, so that patching one never moves a byte.
pub(crate) const NUMBER_WIDTH: usize = 10;
pub(crate) const ID_WIDTH: usize = 36;
const NUMBER_FIRST: u64 = 1_000_000_000;

/// Hands out the numbers that make jobs distinct, across all connections, cases and rounds of a run.
#[derive(Debug)]
pub(crate) struct Numbers(AtomicU64);

impl Numbers {
    pub(crate) fn new() -> Self {
        Self(AtomicU64::new(NUMBER_FIRST))
    }

    pub(crate) fn take(&self, count: usize) -> u64 {
        self.0.fetch_add(count as u64, Ordering::Relaxed)
    }
}

/// What is sent: a path, a body, and the places in the body that change from request to request.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub(crate) path: String,
    pub(crate) body: Vec<u8>,
    pub(crate) holes: Vec<usize>,
}

impl Shape {
    /// The same bytes for the echo server, which answers with `answer_bytes`.
    pub(crate) fn echoed(&self, answer_bytes: usize) -> Self {
        Self { path: format!("/echo/{answer_bytes}"), ..self.clone() }
    }
}

/// A shape with its head, ready for the socket.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    bytes: Vec<u8>,
    holes: Vec<usize>,
}

impl Request {
    pub(crate) fn new(address: SocketAddr, shape: &Shape) -> Self {
        let Shape { path, body, holes } = shape;
        let mut bytes = format!(
            "POST {path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/openjobspec+json\r\n\
             content-length: {}\r\n\r\n",
            body.len()
        )
        .into_bytes();
        let holes = holes.iter().map(|hole| hole + bytes.len()).collect();
        bytes.extend_from_slice(body);
        Self { bytes, holes }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn holes(&self) -> usize {
        self.holes.len()
    }

    /// Writes consecutive numbers into the holes.
    pub(crate) fn set_numbers(&mut self, first: u64) {
        for (hole, number) in self.holes.iter().zip(first..) {
            write_digits(&mut self.bytes[*hole..*hole + NUMBER_WIDTH], number);
        }
    }

    pub(crate) fn set_id(&mut self, id: [u8; ID_WIDTH]) {
        for hole in &self.holes {
            self.bytes[*hole..*hole + ID_WIDTH].copy_from_slice(&id);
        }
    }
}

fn write_digits(place: &mut [u8], mut number: u64) {
    for digit in place.iter_mut().rev() {
        *digit = b'0' + u8::try_from(number % 10).unwrap_or(0);
        number /= 10;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_patched_in_place() {
        let shape =
            Shape { path: "/p".into(), body: b"[0000000000,0000000000]".to_vec(), holes: vec![1, 12] };
        let mut request = Request::new(([127, 0, 0, 1], 80).into(), &shape);
        request.set_numbers(1_234_567_899);
        assert!(request.bytes().ends_with(b"\r\n\r\n[1234567899,1234567900]"));
    }
}
