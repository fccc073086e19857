//! `hapax export` and `hapax import`: everything that a store holds, on its way to another.

mod input;
mod meter;
mod output_file;
mod place;
mod summary;

use hapax_broker::Clock as _;
use hapax_store::portable::{self, Batch, Census, ExportError, ExportId, ImportError, Occasion, Reader};

use crate::cli::{Export, Import};
use crate::clock::SystemClock;
use crate::failure::Failure;
use input::Input;
use meter::Meter;
use output_file::OutputFile;
use place::Kept;
use summary::Summary;

/// Writes everything to a file.
pub(crate) fn export(asked: Export) -> Result<(), Failure> {
    let Export { file, force, place, shown } = asked;
    let kept = Kept::find(place)?;
    let out = OutputFile::new(&file, force)?;
    let mut source = kept.source()?;
    let occasion = Occasion { id: random_id()?, now: SystemClock.now(), version: crate::VERSION };
    let mut meter = Meter::new("exported", shown.quiet);
    let written = portable::export(&mut *source, occasion, out.writer()?, &mut |done, all| {
        meter.show(done.jobs, all.jobs);
    });
    let written = written.map_err(|error| not_exported(&error, &out));
    let seconds = meter.end();
    let seal = match written {
        Ok((writer, seal)) => {
            drop(writer);
            seal
        }
        Err(failure) => {
            out.give_up();
            return Err(failure);
        }
    };
    out.finish()?;
    let summary = Summary { verb: "Exported", from: kept.to_string(), to: out.to_string(), seal, seconds };
    // Standard output may be the export itself.
    summary.print(shown.json, out.is_standard_output())
}

/// Reads everything from a file.
pub(crate) fn import(asked: Import) -> Result<(), Failure> {
    let Import { file, place, shown } = asked;
    let kept = Kept::find(place)?;
    let input = Input::open(&file)?;
    let from = input.to_string();
    // Whatever is no export is refused before anything is touched.
    let untouched = |error: ImportError| {
        Failure::because(format!("could not import {from}"), &error).hint(match error {
            ImportError::Newer { .. } => "run the version of hapax that wrote it, or a later one",
            _ => "nothing was changed; `hapax export` writes what can be imported",
        })
    };
    let mut reader = Reader::begin(input.reader()).map_err(untouched)?;
    let mut target = kept.target()?;
    let all = reader.header().census;
    let mut meter = Meter::new("imported", shown.quiet);
    let show = &mut |done: Census| meter.show(done.jobs, all.jobs);
    let read = portable::import(&mut reader, &mut *target, Batch::default(), show);
    let seconds = meter.end();
    let is_begun = target.begun().is_some();
    let seal = read.map_err(|error| not_imported(&error, &from, &kept, is_begun))?;
    let summary = Summary { verb: "Imported", from, to: kept.to_string(), seal, seconds };
    summary.print(shown.json, false)
}

fn random_id() -> Result<ExportId, Failure> {
    let mut id = [0; 16];
    getrandom::fill(&mut id)
        .map_err(|error| Failure::because("the system gives no random numbers", &error))?;
    Ok(ExportId(id))
}

fn not_exported(error: &ExportError, out: &OutputFile) -> Failure {
    let failure = Failure::because(format!("could not export to {out}"), error);
    match error {
        ExportError::Store(_) => failure,
        ExportError::Write(_) => failure.hint("see that there is room for it; nothing was left behind"),
    }
}

fn not_imported(error: &ImportError, from: &str, kept: &Kept, is_begun: bool) -> Failure {
    let failure = Failure::because(format!("could not import {from} to {kept}"), error);
    if !is_begun {
        return failure.hint("nothing was changed");
    }
    let hint = match error {
        ImportError::OtherExport { .. } | ImportError::Changed { .. } => {
            "give it the export with which it was begun, and it goes on where it was"
        }
        ImportError::Cut { .. } | ImportError::CutLine { .. } => {
            "run the same command again with the whole export, and it goes on where it was"
        }
        ImportError::Read(_) | ImportError::Store(_) | ImportError::AtWork => {
            "run the same command again when that is mended, and it goes on where it was"
        }
        ImportError::Foreign
        | ImportError::Newer { .. }
        | ImportError::Line { .. }
        | ImportError::Census { .. }
        | ImportError::Checksum { .. }
        | ImportError::Twice { .. }
        | ImportError::Stored { .. } => "this export cannot be finished, so a new one is needed",
    };
    failure.hint(format!("{hint}; {}", kept.way_out()))
}
