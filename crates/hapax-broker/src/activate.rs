//! Activate: somebody lets a pending job go.

use hapax_core::{Event, Job, JobId};

use crate::{Broker, Error};

impl Broker {
    /// Lets a pending job wait for a worker, or for its start time if that lies ahead.
    pub async fn activate(&self, id: JobId) -> Result<Job, Error> {
        self.step(id, Event::Activate).await
    }
}
