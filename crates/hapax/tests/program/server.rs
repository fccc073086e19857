//! A server in a process of its own.

use std::io::{BufRead as _, BufReader, Lines, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStderr, Command, Stdio};

/// A server with its lines; it is ended with the test.
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) lines: Lines<BufReader<ChildStderr>>,
    pub(crate) address: String,
}

/// The program with the command that serves, and nothing in its environment.
pub(crate) fn hapax(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hapax"));
    command.arg("serve").args(arguments).env_clear().stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

impl Server {
    /// Starts a server on a free port and waits until it says where.
    pub(crate) fn start(arguments: &[&str]) -> Server {
        Server::of(hapax(arguments))
    }

    pub(crate) fn of(mut command: Command) -> Server {
        let mut child = command.args(["--listen", "127.0.0.1:0"]).spawn().unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut server = Server { child, lines, address: String::new() };
        let line = server.line_with("127.0.0.1:");
        let port = line.split("127.0.0.1:").nth(1).unwrap();
        let port: String = port.chars().take_while(char::is_ascii_digit).collect();
        server.address = format!("127.0.0.1:{port}");
        server
    }

    /// The next line that contains the text.
    #[track_caller]
    pub(crate) fn line_with(&mut self, text: &str) -> String {
        self.lines.by_ref().map(Result::unwrap).find(|line| line.contains(text)).expect(text)
    }

    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-s", name, &id]).status().unwrap().success());
    }

    /// Waits until it has ended, and gives its exit code.
    pub(crate) fn code(mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }

    pub(crate) fn send(&self, request: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        stream
    }

    pub(crate) fn post(&self, path: &str, body: &str) -> TcpStream {
        self.send(&format!(
            "POST {path} HTTP/1.1\r\nHost: hapax\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        ))
    }

    pub(crate) fn get(&self, path: &str) -> String {
        answer(self.send(&format!("GET {path} HTTP/1.1\r\nHost: hapax\r\nConnection: close\r\n\r\n")))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself, as most tests want it to.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// All that comes until the connection ends.
pub(crate) fn answer(mut stream: TcpStream) -> String {
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}
