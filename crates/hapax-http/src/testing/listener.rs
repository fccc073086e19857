//! A client that listens to a stream: splits it into lines at LF and at nothing else, as the SDKs do.

use std::time::Duration;

use axum::body::Body;
use http_body_util::BodyExt as _;
use serde_json::Value;
use tokio::time::timeout;

/// Longer than anything takes that is to happen, and longer than a heartbeat where time is made to pass.
const PATIENCE: Duration = Duration::from_secs(20);

/// A stream of events.
pub(crate) struct Listener {
    body: Body,
    unread: String,
}

/// One block of lines.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Heard {
    pub(crate) id: String,
    pub(crate) event: String,
    pub(crate) data: String,
    pub(crate) retry: String,
    pub(crate) comments: Vec<String>,
}

impl Heard {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.data).unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }

    /// The kind of event, and from where to where the job went with it.
    pub(crate) fn shown(&self) -> String {
        let data = self.json();
        let text = |name: &str| data[name].as_str().unwrap_or("–").to_owned();
        format!("{} {} → {}", self.event, text("from"), text("to"))
    }
}

impl Listener {
    pub(crate) fn new(body: Body) -> Listener {
        Listener { body, unread: String::new() }
    }

    /// The next block; nothing at the end of the stream.
    pub(crate) async fn next(&mut self) -> Option<Heard> {
        loop {
            if let Some((block, rest)) = self.unread.split_once("\n\n") {
                let heard = read(block);
                self.unread = rest.to_owned();
                return Some(heard);
            }
            let piece = timeout(PATIENCE, self.body.frame()).await.expect("something is told in time");
            let Some(piece) = piece else {
                assert_eq!(self.unread, "", "the stream ends with a whole block");
                return None;
            };
            let bytes = piece.unwrap().into_data().unwrap();
            self.unread.push_str(std::str::from_utf8(&bytes).unwrap());
        }
    }

    /// The next event, whatever signs of life come before.
    pub(crate) async fn event(&mut self) -> Heard {
        loop {
            match self.next().await {
                Some(heard) if heard.event.is_empty() => {}
                heard => return heard.expect("the stream goes on"),
            }
        }
    }

    /// What the next events are, as far as to that kind.
    pub(crate) async fn shown_up_to(&mut self, kind: &str) -> Vec<String> {
        let mut shown = Vec::new();
        loop {
            let heard = self.event().await;
            shown.push(heard.shown());
            if heard.event == kind {
                return shown;
            }
        }
    }

    /// Everything, to the end.
    pub(crate) async fn whole(self) -> String {
        let bytes = self.body.collect().await.unwrap().to_bytes();
        String::from_utf8(bytes.to_vec()).unwrap()
    }

    /// What comes without anything happening.
    pub(crate) async fn text_at_once(&mut self) -> String {
        let mut text = String::new();
        while let Ok(Some(piece)) = timeout(Duration::from_millis(5), self.body.frame()).await {
            text.push_str(std::str::from_utf8(&piece.unwrap().into_data().unwrap()).unwrap());
        }
        text
    }
}

fn read(block: &str) -> Heard {
    let mut heard = Heard::default();
    for line in block.split('\n') {
        assert!(!line.contains('\r'), "{line:?}");
        if let Some(comment) = line.strip_prefix(':') {
            heard.comments.push(comment.to_owned());
            continue;
        }
        let (name, value) = line.split_once(": ").unwrap_or_else(|| panic!("a line with a name: {line:?}"));
        let field = match name {
            "id" => &mut heard.id,
            "event" => &mut heard.event,
            "data" => &mut heard.data,
            "retry" => &mut heard.retry,
            other => panic!("no such field: {other}"),
        };
        assert_eq!(*field, "", "each field once: {block}");
        value.clone_into(field);
    }
    heard
}
