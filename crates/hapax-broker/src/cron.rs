//! Recurring jobs: registering them, looking at them, switching, running and removing them.

use std::sync::Arc;

use hapax_core::cron::{Cron, Overlap, Schedule, Template, Zone};
use hapax_core::{TenantId, Timestamp};
use hapax_store::record::cron as record;
use hapax_store::{Action, Done, Edit, Entry, EntryKey, Memo, Register, Tick, Written, cron};

use crate::entry_list::Found;
use crate::{Broker, EntryPart, Error, Receipt, answer};

/// A recurring job as a request described it, checked in form.
#[derive(Debug, Clone)]
pub struct CronDraft {
    /// Its name.
    pub name: Box<str>,
    /// The schedule as its client wrote it.
    pub expression: Box<str>,
    /// The schedule.
    pub schedule: Schedule,
    /// The zone in which the schedule is meant.
    pub zone: Zone,
    /// What happens if the job before it has not ended.
    pub overlap: Overlap,
    /// Whether it makes jobs.
    pub enabled: bool,
    /// For people.
    pub description: Option<Box<str>>,
    /// The job.
    pub template: Template,
    /// The tenant for whom it is registered: not in the place of one that makes jobs of another.
    pub tenant: Option<TenantId>,
}

/// Recurring jobs by name.
#[derive(Debug, Clone)]
pub struct CronPage {
    /// The recurring jobs.
    pub crons: Vec<Cron>,
    /// Behind which name others may follow.
    pub next: Option<Arc<str>>,
    /// How many there are, if that is known without looking at all of them.
    pub total: Option<u64>,
}

impl CronDraft {
    /// When it is due for the first time after that moment; never, if clocks always jump over its time.
    pub fn first_run(&self, now: Timestamp) -> Option<Timestamp> {
        self.schedule.next_after(now, &self.zone, now)
    }

    /// What is registered under its name from now on. What it has done so far stays; a schedule that did not change goes on.
    fn registered(&self, before: Option<&Cron>, now: Timestamp) -> Cron {
        let CronDraft {
            name,
            expression,
            schedule,
            zone,
            overlap,
            enabled,
            description,
            template,
            tenant: _,
        } = self.clone();
        let same = before.filter(|before| before.schedule == schedule && before.zone == zone);
        let mut cron = Cron {
            name,
            expression,
            schedule,
            zone,
            overlap,
            enabled,
            description,
            template,
            created_at: before.map_or(now, |before| before.created_at),
            anchor: same.map_or(now, |same| same.anchor),
            last_run_at: before.and_then(|before| before.last_run_at),
            last_job: before.and_then(|before| before.last_job),
            next_run_at: None,
            run_count: before.map_or(0, |before| before.run_count),
            // What clocks jumped over while it was switched off concerns nobody.
            told_until: same.filter(|same| same.enabled).map_or(now, |same| same.told_until),
        };
        let going_on = same.filter(|same| same.enabled && enabled).and_then(|same| same.next_run_at);
        cron.next_run_at = going_on.or_else(|| cron.next_after(now));
        cron.settle(now);
        cron
    }
}

impl Broker {
    /// Registers a recurring job, or registers it anew. Whether it is new.
    pub async fn register_cron(&self, draft: CronDraft) -> Result<(Cron, bool), Error> {
        let now = self.now();
        let key = cron::key(&draft.name);
        let its_key = key.clone();
        let edit = Edit::new(move |before: Option<&Written>| {
            // One that cannot be read is registered as if it were new.
            let before = before.and_then(|written| record::read(&draft.name, &written.body).ok());
            if let (Some(before), Some(tenant)) = (&before, &draft.tenant)
                && !tenant.owns(&before.template.spec.meta)
            {
                return Err(its_key.taken());
            }
            Ok(Some(cron::written(&draft.registered(before.as_ref(), now))))
        });
        let (entry, was_there) = self.edit(now, key, edit).await?;
        Ok((edited(entry)?, !was_there))
    }

    /// A recurring job.
    pub async fn cron(&self, name: &str) -> Result<Option<Cron>, Error> {
        let entry = self.shared.store.entry(cron::key(name)).await?;
        entry.as_ref().map(readable).transpose()
    }

    /// Recurring jobs by name: all of them, or those that are switched on or off.
    pub async fn crons(&self, part: EntryPart, enabled: Option<bool>) -> Result<CronPage, Error> {
        let Found { items: crons, next, total } = match enabled {
            None => self.list_entries(Register::Cron, part, readable).await?,
            Some(wanted) => {
                let fits = |cron: &Cron| cron.enabled == wanted;
                self.pick_entries(Register::Cron, part, readable, fits).await?
            }
        };
        Ok(CronPage { crons, next, total })
    }

    /// Lets a recurring job make jobs, or none. What it missed meanwhile is not made up for.
    pub async fn switch_cron(&self, name: &str, enabled: bool) -> Result<Cron, Error> {
        let now = self.now();
        let key = cron::key(name);
        let (its_key, its_name) = (key.clone(), Box::<str>::from(name));
        let edit = Edit::new(move |before: Option<&Written>| {
            let written = before.ok_or_else(|| its_key.missing())?;
            let Ok(mut cron) = record::read(&its_name, &written.body) else {
                return Ok(Some(written.clone()));
            };
            if cron.enabled != enabled {
                cron.enabled = enabled;
                cron.next_run_at = cron.next_after(now);
                cron.told_until = cron.told_until.max(now);
            }
            Ok(Some(cron::written(&cron)))
        });
        edited(self.edit(now, key, edit).await?.0)
    }

    /// Removes a recurring job; shows what it was. Jobs that it has made stay.
    pub async fn remove_cron(&self, name: &str) -> Result<Cron, Error> {
        let key = cron::key(name);
        let before = self.shared.store.entry(key.clone()).await?.ok_or_else(|| key.missing())?;
        let its_key = key.clone();
        let edit = Edit::new(move |before| if before.is_some() { Ok(None) } else { Err(its_key.missing()) });
        self.edit(self.now(), key, edit).await?;
        readable(&before)
    }

    /// Lets a recurring job make a job now, whatever its schedule says.
    pub async fn run_cron(&self, name: &str, memo: Option<Memo>) -> Result<Receipt<Tick>, Error> {
        self.admit_new_jobs()?;
        let now = self.now();
        let id = self.shared.entropy.job_id(now);
        match self.commit_one(now, Action::RunCron { key: cron::key(name), id, memo }).await? {
            Done::CronRan(tick) => Ok(Receipt::Fresh(*tick)),
            Done::Remembered(remembered) => Ok(Receipt::Remembered(remembered)),
            _ => Err(answer::another_question()),
        }
    }

    /// Changes an entry. What it says by now, and whether it was there before.
    pub(crate) async fn edit(
        &self,
        now: Timestamp,
        key: EntryKey,
        edit: Edit,
    ) -> Result<(Option<Entry>, bool), Error> {
        match self.commit_one(now, Action::Edit { key, edit }).await? {
            Done::Edited { entry, was_there } => Ok((entry, was_there)),
            _ => Err(answer::another_question()),
        }
    }
}

/// The recurring job of an entry that an edit has left there.
fn edited(entry: Option<Entry>) -> Result<Cron, Error> {
    readable(&entry.ok_or_else(answer::another_question)?)
}

fn readable(entry: &Entry) -> Result<Cron, Error> {
    record::read(&entry.key.name, &entry.written.body).map_err(|_| entry.key.damaged().into())
}

#[cfg(test)]
pub(crate) mod tests;
