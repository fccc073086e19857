//! System calls as strace saw them, and the order that durability demands.
//!
//! A thread that strace has stopped goes on only after its line is written, so that positions in the trace
//! are evidence: a call took effect after its beginning was written and before its end was.

use std::collections::BTreeMap;
use std::iter::Peekable;

/// One system call.
#[derive(Debug, Clone)]
pub struct Call {
    /// Its name, such as `fdatasync`.
    pub name: String,
    /// The file or socket, as `strace -y` names it.
    pub target: String,
    /// Arguments and result as text.
    pub text: String,
    /// The result; none for a call that never returned.
    pub result: Option<i64>,
    /// The line on which it began.
    pub begun: usize,
    /// The line on which it ended.
    pub ended: usize,
}

/// A whole trace.
#[derive(Debug)]
pub struct Trace {
    calls: Vec<Call>,
    data: String,
}

/// A request whose answer must not have left before its data was on disk.
#[derive(Debug, Clone)]
pub struct Promise {
    /// The `X-Request-Id`, which is in the request and in the answer.
    pub request_id: String,
    /// A text that the store has to write for this request; none if it writes nothing recognisable.
    pub marker: Option<String>,
}

const READS: [&str; 5] = ["read", "readv", "recvfrom", "recvmsg", "recvmmsg"];
const SENDS: [&str; 5] = ["write", "writev", "sendto", "sendmsg", "sendmmsg"];
const WRITES: [&str; 5] = ["write", "writev", "pwrite64", "pwritev", "pwritev2"];
const SYNCS: [&str; 2] = ["fsync", "fdatasync"];

impl Trace {
    /// Reads the output of `strace -f -y`. Files below `data` are the store's.
    pub fn parse(text: &str, data: &str) -> Trace {
        let mut calls = Vec::new();
        let mut unfinished: BTreeMap<&str, Call> = BTreeMap::new();
        for (number, line) in text.lines().enumerate() {
            let Some((thread, rest)) = line.trim_start().split_once(' ') else { continue };
            let rest = rest.trim_start();
            if let Some(resumed) = rest.strip_prefix("<... ") {
                if let Some(mut call) = unfinished.remove(thread) {
                    call.text.push_str(resumed.split_once("resumed>").map_or("", |(_, rest)| rest));
                    call.end(number);
                    calls.push(call);
                }
            } else if let Some((name, arguments)) = rest.split_once('(') {
                let text = arguments.trim_end_matches("<unfinished ...>").trim_end().to_owned();
                let target = text.split([',', ')']).next().unwrap_or_default().to_owned();
                let mut call =
                    Call { name: name.to_owned(), target, text, result: None, begun: number, ended: number };
                if rest.ends_with("<unfinished ...>") {
                    unfinished.insert(thread, call);
                } else {
                    call.end(number);
                    calls.push(call);
                }
            }
        }
        Trace { calls, data: data.to_owned() }
    }

    /// Why the promise was not kept, if it was not.
    pub fn judge(&self, promise: &Promise) -> Result<(), String> {
        let id = &promise.request_id;
        let received = self.find(&READS, id).filter(|call| call.is_on_socket()).map(|call| call.ended).min();
        let received = received.ok_or_else(|| format!("{id} was never received"))?;
        let sent = self.answered(id).ok_or_else(|| format!("{id} was never answered"))?;
        let marker = promise.marker.as_deref().unwrap_or_default();
        let mut writes = self.find(&WRITES, marker).filter(|call| self.is_of_store(call));
        let write = writes.find(|call| call.begun > received && call.ended < sent && call.result > Some(0));
        let write = write.ok_or_else(|| format!("{id} was answered before anything was written for it"))?;
        if self.synced(write.file(), write.ended).is_some_and(|ended| ended < sent) {
            Ok(())
        } else {
            Err(format!("{id} was answered before {} was synced", write.target))
        }
    }

    /// How many calls of this name the store made.
    pub fn count(&self, names: &[&str]) -> usize {
        self.find(names, "").filter(|call| self.is_of_store(call)).count()
    }

    /// Every call, in the order of their ends.
    pub fn calls(&self) -> &[Call] {
        &self.calls
    }

    /// The line on which the first sync of a file ended that began after a line.
    pub fn synced(&self, file: &str, after: usize) -> Option<usize> {
        let syncs = self.find(&SYNCS, "").filter(|call| call.file() == file && call.result == Some(0));
        syncs.filter(|call| call.begun > after).map(|call| call.ended).min()
    }

    /// The line on which the answer to a request began to leave.
    pub fn answered(&self, request_id: &str) -> Option<usize> {
        self.find(&SENDS, request_id).filter(|call| call.is_on_socket()).map(|call| call.begun).min()
    }

    fn find<'t>(&'t self, names: &'t [&str], marker: &'t str) -> impl Iterator<Item = &'t Call> {
        self.calls
            .iter()
            .filter(move |call| names.contains(&call.name.as_str()) && call.text.contains(marker))
    }

    fn is_of_store(&self, call: &Call) -> bool {
        call.target.contains(&self.data)
    }
}

impl Call {
    /// The path without the number: a sync through another descriptor of the file is a sync of the file.
    pub fn file(&self) -> &str {
        self.target.split_once('<').map_or("", |(_, path)| path.trim_end_matches('>'))
    }

    /// The n-th string among the arguments, without its escapes; empty if there is none.
    pub fn string(&self, number: usize) -> Vec<u8> {
        let mut rest = self.text.as_bytes().iter().copied().peekable();
        let mut string = Vec::new();
        for _ in 0..=number {
            string.clear();
            rest.find(|byte| *byte == b'"');
            while let Some(byte) = rest.next().filter(|byte| *byte != b'"') {
                string.push(if byte == b'\\' { unescaped(&mut rest) } else { byte });
            }
        }
        string
    }

    /// The number in the last place of the arguments.
    pub fn last_argument(&self) -> usize {
        let arguments = self.text.rsplit_once(')').map_or("", |(arguments, _)| arguments);
        let last = arguments.rsplit_once(',').map_or(arguments, |(_, last)| last);
        last.trim().parse().unwrap_or_default()
    }

    fn is_on_socket(&self) -> bool {
        self.target.contains("<socket:[")
    }

    fn end(&mut self, line: usize) {
        self.ended = line;
        let result = self.text.rsplit_once("= ").filter(|(call, _)| call.trim_end().ends_with(')'));
        let result = result.map(|(_, result)| result);
        let digits = result.and_then(|result| result.split([' ', '<']).next());
        self.result = digits.and_then(|digits| digits.parse().ok());
    }
}

/// The byte after a backslash: a letter that stands for it, or up to three octal digits.
fn unescaped(rest: &mut Peekable<impl Iterator<Item = u8>>) -> u8 {
    match rest.next() {
        Some(b'n') => b'\n',
        Some(b't') => b'\t',
        Some(b'r') => b'\r',
        Some(b'v') => 0x0b,
        Some(b'f') => 0x0c,
        Some(first @ b'0'..=b'7') => {
            let mut value = first - b'0';
            for _ in 0..2 {
                let Some(digit) = rest.next_if(|byte| (b'0'..=b'7').contains(byte)) else { break };
                value = value.wrapping_mul(8).wrapping_add(digit - b'0');
            }
            value
        }
        other => other.unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(lines: &[&str]) -> Result<(), String> {
        let promise = Promise { request_id: "req-1".into(), marker: Some("mark-1".into()) };
        Trace::parse(&lines.join("\n"), "/d/").judge(&promise)
    }

    const RECEIVED: &str = r#"10 recvfrom(9<socket:[1]>, "POST req-1 mark-1", 8192, 0) = 17"#;
    const WRITTEN: &str = r#"11 pwrite64(5</d/wal>, "..mark-1..", 8192, 32) = 8192"#;
    const SYNCED: &str = "11   fdatasync(5</d/wal>)        = 0";
    const SENT: &str = r#"10 sendto(9<socket:[1]>, "201 req-1", 9, 0, NULL, 0) = 9"#;

    #[test]
    fn written_synced_sent_is_the_order() {
        assert_eq!(judge(&[RECEIVED, WRITTEN, SYNCED, SENT]), Ok(()));
    }

    #[test]
    fn an_answer_before_the_sync_is_found() {
        assert!(judge(&[RECEIVED, WRITTEN, SENT, SYNCED]).is_err());
        assert!(judge(&[RECEIVED, SENT, WRITTEN, SYNCED]).is_err());
        assert!(judge(&[RECEIVED, WRITTEN, SENT]).is_err());
    }

    #[test]
    fn a_sync_of_another_file_or_that_failed_does_not_count() {
        assert!(judge(&[RECEIVED, WRITTEN, "11 fdatasync(6</d/other>) = 0", SENT]).is_err());
        assert!(judge(&[RECEIVED, WRITTEN, "11 fdatasync(5</d/wal>) = -1 EIO (Input)", SENT]).is_err());
        assert!(judge(&[RECEIVED, SYNCED, WRITTEN, SENT]).is_err());
    }

    #[test]
    fn a_sync_that_began_before_the_write_ended_does_not_count() {
        let begun = r#"11 pwrite64(5</d/wal>, "mark-1", 8192, 32 <unfinished ...>"#;
        let sync = "12 fdatasync(5</d/wal> <unfinished ...>";
        let (ended, synced) = ("11 <... pwrite64 resumed>) = 8192", "12 <... fdatasync resumed>) = 0");
        assert!(judge(&[RECEIVED, begun, sync, ended, synced, SENT]).is_err());
        assert_eq!(judge(&[RECEIVED, begun, ended, sync, synced, SENT]), Ok(()));
        assert!(judge(&[RECEIVED, begun, ended, sync, SENT, synced]).is_err());
    }

    #[test]
    fn without_a_marker_the_write_must_follow_the_request() {
        let promise = Promise { request_id: "req-1".into(), marker: None };
        let kept = |lines: &[&str]| Trace::parse(&lines.join("\n"), "/d/").judge(&promise).is_ok();
        assert!(kept(&[RECEIVED, WRITTEN, SYNCED, SENT]));
        assert!(!kept(&[WRITTEN, RECEIVED, SYNCED, SENT]));
    }
}
