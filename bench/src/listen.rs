//! Listeners: many connections that read the events of one queue and count them. A process of its own, so that reading
//! does not slow down the generator that measures.

use std::io::{BufRead as _, Write as _};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, Result, bail, ensure};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// Read in one go.
const BUFFER_BYTES: usize = 16 * 1024;
/// What every event begins with, and nothing else that is sent.
const EVENT: &[u8] = b"event: ";

/// Opens the connections; then answers each line of the standard input with the number of events heard so far.
pub(crate) async fn run(address: SocketAddr, queue: &str, count: usize) -> Result<()> {
    let heard = Arc::new(AtomicU64::new(0));
    let mut listeners = JoinSet::new();
    for opened in 0..count {
        let stream =
            open(address, queue).await.with_context(|| format!("after {opened} of {count} listeners"))?;
        listeners.spawn(hear(stream, Arc::clone(&heard)));
    }
    let mut questions = questions();
    say(0)?;
    loop {
        tokio::select! {
            ended = listeners.join_next() => bail!("a listener ended: {ended:?}"),
            question = questions.recv() => match question {
                Some(()) => say(heard.load(Ordering::Relaxed))?,
                None => return Ok(()),
            },
        }
    }
}

async fn open(address: SocketAddr, queue: &str) -> Result<TcpStream> {
    let mut stream = TcpStream::connect(address).await?;
    let request =
        format!("GET /ojs/v1/events/stream?channel=queue:{queue} HTTP/1.1\r\nhost: {address}\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    stream.readable().await?;
    let mut head = [0; 12];
    stream.peek(&mut head).await?;
    ensure!(head.ends_with(b" 200"), "answered with {}", String::from_utf8_lossy(&head));
    Ok(stream)
}

/// The buffer is not held while it waits: ten thousand of these take no memory worth speaking of.
async fn hear(stream: TcpStream, heard: Arc<AtomicU64>) -> Result<()> {
    loop {
        stream.readable().await?;
        let mut buffer = [0; BUFFER_BYTES];
        match stream.try_read(&mut buffer) {
            Ok(0) => bail!("the server closed a stream"),
            Ok(count) => {
                let events = buffer[..count].windows(EVENT.len()).filter(|window| *window == EVENT).count();
                heard.fetch_add(events as u64, Ordering::Relaxed);
            }
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Lines of the standard input, read where reading holds up nobody.
fn questions() -> mpsc::Receiver<()> {
    let (asked, questions) = mpsc::channel(1);
    std::thread::spawn(move || {
        let lines = std::io::stdin().lock().lines();
        lines.map_while(Result::ok).try_for_each(|_| asked.blocking_send(()))
    });
    questions
}

fn say(number: u64) -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{number}")?;
    Ok(out.flush()?)
}
