//! `hapax explain`: what would happen to a job, asked before it is enqueued.

mod explanation;

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::cli::Explain;
use crate::client::ApiPath;
use crate::failure::Failure;
use crate::session::Session;
use explanation::Explanation;

/// Largest job that any server can be set to take.
const JOB_BYTES_MAX: u64 = 32 * 1024 * 1024;

/// Asks the server and prints what it says.
pub(crate) fn run(explain: &Explain) -> Result<(), Failure> {
    let Explain { file, remote } = explain;
    let session = Session::open(remote)?;
    let job = read(file)?;
    let reply = session.client.post(&ApiPath::new("/ojs/v1/unique/explain"), job)?;
    session.print(&reply, |reply| Ok(reply.read::<Explanation>()?.for_eyes(session.now)))
}

fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    if file == Path::new("-") {
        return read_bounded(io::stdin().lock(), "standard input");
    }
    let name = file.display().to_string();
    let opened = File::open(file).map_err(|error| unread(&name, &error))?;
    read_bounded(opened, &name)
}

fn read_bounded(source: impl Read, name: &str) -> Result<Vec<u8>, Failure> {
    let mut job = Vec::new();
    source.take(JOB_BYTES_MAX + 1).read_to_end(&mut job).map_err(|error| unread(name, &error))?;
    if job.len() as u64 > JOB_BYTES_MAX {
        return Err(Failure::new(format!("the job in {name} is larger than {JOB_BYTES_MAX} bytes")));
    }
    Ok(job)
}

fn unread(name: &str, error: &io::Error) -> Failure {
    Failure::because(format!("could not read the job in {name}"), error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_read_as_it_is_and_within_bounds() {
        assert_eq!(read_bounded(&b"{ }\n"[..], "x").unwrap(), b"{ }\n");
        let failure = read_bounded(io::repeat(b' '), "standard input").unwrap_err();
        assert_eq!(failure.sentence(), "the job in standard input is larger than 33554432 bytes");
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let failure = read(Path::new("no/such/job.json")).unwrap_err();
        assert!(failure.sentence().starts_with("could not read the job in no/such/job.json: "), "{failure}");
    }
}
