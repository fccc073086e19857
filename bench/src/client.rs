//! A minimal HTTP/1.1 keep-alive client: one request at a time, and of the answer only what is checked.

use std::net::SocketAddr;

use anyhow::{Context, Result, bail, ensure};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const HEAD_BYTES_MAX: usize = 16 * 1024;
const BODY_BYTES_MAX: usize = 64 * 1024 * 1024;
const READ_BYTES: usize = 8 * 1024;

#[derive(Debug)]
pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

#[derive(Debug)]
pub(crate) struct Answer<'a> {
    pub(crate) status: u16,
    pub(crate) body: &'a [u8],
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::with_capacity(2 * READ_BYTES) })
    }

    pub(crate) async fn exchange(&mut self, request: &[u8]) -> Result<Answer<'_>> {
        self.stream.write_all(request).await?;
        self.buffer.clear();
        let head = self.read_head().await?;
        let end = head.bytes + head.body_bytes;
        self.buffer.reserve(end.saturating_sub(self.buffer.len()));
        while self.buffer.len() < end {
            self.read().await?;
        }
        Ok(Answer { status: head.status, body: &self.buffer[head.bytes..end] })
    }

    async fn read_head(&mut self) -> Result<Head> {
        loop {
            self.buffer.reserve(READ_BYTES);
            self.read().await?;
            if let Some(head) = Head::parse(&self.buffer)? {
                return Ok(head);
            }
            ensure!(self.buffer.len() < HEAD_BYTES_MAX, "the head of the answer does not end");
        }
    }

    async fn read(&mut self) -> Result<()> {
        let count = self.stream.read_buf(&mut self.buffer).await?;
        ensure!(count > 0, "the server closed the connection");
        Ok(())
    }
}

#[derive(Debug)]
struct Head {
    bytes: usize,
    status: u16,
    body_bytes: usize,
}

impl Head {
    /// `None` until the empty line has arrived.
    fn parse(buffer: &[u8]) -> Result<Option<Self>> {
        let Some(end) = buffer.windows(4).position(|window| window == b"\r\n\r\n") else {
            return Ok(None);
        };
        let text = str::from_utf8(&buffer[..end]).context("the head of the answer is not text")?;
        let status = text.get(9..12).and_then(|digits| digits.parse().ok()).context("no status line")?;
        let body_bytes = content_length(text)?;
        ensure!(body_bytes <= BODY_BYTES_MAX, "an answer of {body_bytes} bytes");
        Ok(Some(Self { bytes: end + 4, status, body_bytes }))
    }
}

fn content_length(head: &str) -> Result<usize> {
    for line in head.split("\r\n").skip(1) {
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            return Ok(value.trim().parse()?);
        }
    }
    bail!("an answer without Content-Length: {head}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_parsed_once_complete() -> Result<()> {
        assert!(Head::parse(b"HTTP/1.1 201 Created\r\nContent-Le")?.is_none());
        let head = Head::parse(b"HTTP/1.1 201 Created\r\nContent-Length: 12\r\n\r\n{}")?.expect("complete");
        assert_eq!((head.status, head.body_bytes), (201, 12));
        Ok(())
    }

    #[test]
    fn a_chunked_answer_is_an_error() {
        assert!(Head::parse(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").is_err());
    }
}
