//! Looking at one job.

use hapax_core::{Job, JobId, Refusal};

use crate::{Broker, Error};

impl Broker {
    /// The job of that id.
    pub async fn job(&self, id: JobId) -> Result<Job, Error> {
        let job = self.shared.store.get(id).await?;
        job.ok_or_else(|| Refusal::NotFound(id).into())
    }
}
