//! Job keys: the name that a client gives a job.

use hapax_core::unique::{JobKey, JobKeyMode, Key};

use super::retry::choice;
use super::{Fault, Given, Place};

/// Longest job key, in characters.
const NAME_CHARS_MAX: usize = 512;

/// Reads `job_key` and `job_key_mode`.
pub(super) fn read(name: Given<'_, '_>, mode: Option<Given<'_, '_>>) -> Result<JobKey, Fault> {
    let text = name.text("a string")?;
    check(name.place, text)?;
    let mode = mode
        .map_or(Ok(JobKeyMode::Replace), |given| choice(given, "mode", &JobKeyMode::ALL, JobKeyMode::name))?;
    Ok(JobKey { name: text.into(), mode })
}

/// The key of the job key that a path names.
pub(crate) fn job_key(name: &str) -> Result<Key, Fault> {
    let place = Place::Member(&Place::Body, "path");
    check(place, name)?;
    JobKey::key(name).map_err(|error| Fault::new(place, error))
}

fn check(place: Place<'_>, name: &str) -> Result<(), Fault> {
    match name.chars().count() {
        1..=NAME_CHARS_MAX => Ok(()),
        0 => Err(Fault::new(place, "a job key must not be empty")),
        count => {
            let problem =
                format_args!("a job key may have {NAME_CHARS_MAX} characters, and this one has {count}");
            Err(Fault::new(place, problem))
        }
    }
}
