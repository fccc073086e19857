//! How a job says that it is to exist once: by a policy or by a job key, never by both.

use hapax_core::unique::{JobKey, JobKeyMode, Key, KeyError, Keyed, UniquePolicy, Uniqueness, key_of};
use hapax_core::{JobType, QueueName, TENANT_MEMBER};
use hapax_wire::unique::{FIRST_START, RELEASED};

use super::envelope::Envelope;
use super::payload::Text;
use super::{Fault, Given, Place, job_key, unique};

/// What the client wants, and where it said so.
pub(super) struct Unique<'n, 'a> {
    pub(super) uniqueness: Uniqueness,
    given: Given<'n, 'a>,
}

/// Reads `unique` or `job_key`; nothing for a job that has neither.
pub(super) fn read<'n, 'a>(envelope: &Envelope<'n, 'a>) -> Result<Option<Unique<'n, 'a>>, Fault> {
    let policy = envelope.unique.filter(|given| !is_only_shown(*given, envelope.job_key.is_some()));
    if let (None, Some(mode)) = (envelope.job_key, envelope.job_key_mode) {
        return Err(Fault::new(
            mode.place,
            "says what becomes of the job with a job_key; send job_key as well",
        ));
    }
    match (envelope.job_key, policy) {
        (Some(name), Some(policy)) => {
            let problem = format_args!("stands beside {}; send one of the two", policy.place);
            Err(Fault::new(name.place, problem))
        }
        (Some(name), None) => {
            let job_key = job_key::read(name, envelope.job_key_mode)?;
            Ok(Some(Unique { uniqueness: Uniqueness::JobKey(job_key), given: name }))
        }
        (None, Some(given)) => Ok(Some(Unique { uniqueness: unique::policy(given)?.into(), given })),
        (None, None) => Ok(None),
    }
}

/// Whether `unique` is what the server shows of a job with a job key: facts without a policy. A job that lost its job
/// key is sent back without it.
fn is_only_shown(given: Given<'_, '_>, has_job_key: bool) -> bool {
    let members = given.node.as_object().unwrap_or_default();
    let is_shown = !members.is_empty() && members.iter().all(|member| unique::is_shown(&member.name));
    is_shown && (has_job_key || given.member(RELEASED).is_some())
}

impl<'n, 'a> Unique<'n, 'a> {
    /// Lets jobs of other tenants be others: their metadata says so.
    pub(super) fn keep_to_tenant(&mut self) {
        let Uniqueness::Policy(policy) = &mut self.uniqueness else { return };
        match &mut policy.meta_keys {
            Some(names) if !names.iter().any(|name| &**name == TENANT_MEMBER) => {
                names.push(TENANT_MEMBER.into());
            }
            None if !policy.dimensions.meta => policy.meta_keys = Some(vec![TENANT_MEMBER.into()]),
            _ => {}
        }
        policy.dimensions.meta = true;
    }

    /// The key of the job.
    pub(super) fn keyed(
        &self,
        kind: &JobType,
        queue: &QueueName,
        args: &Text<'_, '_>,
        meta: &Text<'_, '_>,
    ) -> Result<Keyed, Fault> {
        let place = self.given.place;
        match &self.uniqueness {
            Uniqueness::JobKey(job_key) => {
                let text = JobKey::canonical_text(&job_key.name).map_err(|error| Fault::new(place, error))?;
                Ok(Keyed { key: Key::of_text(&text), text })
            }
            Uniqueness::Policy(policy) => args.with(place, |args| {
                meta.with(place, |meta| {
                    key_of(policy, kind, queue, args, Some(meta)).map_err(|error| self.impossible(&error))
                })
            }),
        }
    }

    /// The job cannot have the key that its policy asks for.
    fn impossible(&self, error: &KeyError) -> Fault {
        let place = &self.given.place;
        match error {
            // Two SDKs send the names under `key`.
            KeyError::ArgsKeyMissing(_) if self.given.member("args_keys").is_none() => {
                Fault::new(Place::Member(place, "key"), error)
            }
            KeyError::ArgsKeyMissing(_) => Fault::new(Place::Member(place, "args_keys"), error),
            KeyError::MetaKeyMissing(_) => Fault::new(Place::Member(place, "meta_keys"), error),
            KeyError::Canonical(_) => Fault::new(*place, error),
        }
    }

    /// The start time that the job may ask for. A policy that decides itself when a job starts takes none, but a job
    /// that is sent back as it was read shows one.
    pub(super) fn start(
        &self,
        scheduled_at: Option<Given<'n, 'a>>,
        pending: Option<Given<'n, 'a>>,
    ) -> Result<Option<Given<'n, 'a>>, Fault> {
        if let (Some(decides), Some(pending)) = (self.decides_start(), pending) {
            let problem = format_args!(
                "stands beside {decides}, which decides what the job waits for; send one of the two"
            );
            return Err(Fault::new(pending.place, problem));
        }
        let debounce = self.uniqueness.policy().and_then(|policy| policy.debounce);
        match scheduled_at.filter(|_| debounce.is_some()) {
            Some(_) if self.given.member(FIRST_START).is_some() => Ok(None),
            Some(given) => {
                let place = Place::Member(&self.given.place, "debounce");
                let problem = format_args!(
                    "stands beside {place}, and debounce decides when the job starts; send one of the two"
                );
                Err(Fault::new(given.place, problem))
            }
            None => Ok(scheduled_at),
        }
    }

    /// What leaves no room for a job that waits for activation: where it says so itself when the job goes on.
    fn decides_start(&self) -> Option<String> {
        let member = |name| Some(Place::Member(&self.given.place, name).to_string());
        match &self.uniqueness {
            Uniqueness::Policy(UniquePolicy { debounce: Some(_), .. }) => member("debounce"),
            Uniqueness::Policy(UniquePolicy { while_active: Some(_), .. }) => member("while_active"),
            Uniqueness::JobKey(JobKey { mode: JobKeyMode::PreserveRunAt, .. }) => {
                Some(format!("job_key_mode {}", JobKeyMode::PreserveRunAt.name()))
            }
            Uniqueness::Policy(_) | Uniqueness::JobKey(_) => None,
        }
    }
}
