//! `hapax`: the server, the commands that ask one, and where the program meets the system: command line, environment,
//! clock, signals.

mod banner;
mod cli;
mod client;
mod clock;
mod config;
mod entropy;
mod environment;
mod explain;
mod failure;
mod held_keys;
mod keys;
mod logging;
mod migrate;
mod moving;
mod output;
mod refuse;
mod secret;
mod serve;
mod session;
mod signals;
mod telemetry;
mod value;

use std::process::ExitCode;

use clap::Parser as _;

use crate::cli::{Cli, Command, LogFormat, Serve};
use crate::config::Config;
use crate::environment::Environment;
use crate::failure::Failure;

/// Requests are read on one thread, stored on a second and freed on a third, which this allocator is made for. With
/// glibc's, the C library took a fifth of the samples of a profile.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const VERSION: &str = env!("CARGO_PKG_VERSION");

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Serve(serve) => return serve_until_stopped(*serve),
        Command::Migrate(migrate) => migrate::run(migrate),
        Command::Export(asked) => moving::export(asked),
        Command::Import(asked) => moving::import(asked),
        Command::Explain(explain) => explain::run(&explain),
        Command::Keys(keys) => held_keys::run(&keys),
    };
    ended(done, LogFormat::Text)
}

fn serve_until_stopped(serve: Serve) -> ExitCode {
    let mut format = serve.settings.log.unwrap_or(LogFormat::Text);
    let done = start(serve, &mut format);
    ended(done, format)
}

fn ended(done: Result<(), Failure>, format: LogFormat) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            logging::report(&failure, format);
            failure.exit_code()
        }
    }
}

fn start(serve: Serve, format: &mut LogFormat) -> Result<(), Failure> {
    let config = Config::load(serve, Environment::read()?)?;
    *format = config.log.format;
    logging::start(&config.log)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::because("could not start the threads", &error))?;
    runtime.block_on(serve::run(config))
}
