//! `hapax`: the server, and where the program meets the system: command line, environment, clock, signals.

mod banner;
mod cli;
mod clock;
mod config;
mod entropy;
mod environment;
mod failure;
mod keys;
mod logging;
mod serve;
mod signals;
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
    let Command::Serve(serve) = Cli::parse().command;
    let mut format = serve.settings.log.unwrap_or(LogFormat::Text);
    match start(*serve, &mut format) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            logging::report(&failure, format);
            ExitCode::FAILURE
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
