//! Entries: named things that a store keeps beside the jobs, each in a register.

use std::fmt;
use std::sync::Arc;

use hapax_core::{Refusal, Timestamp};

use crate::StoreError;

/// What an entry is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Register {
    /// Jobs that are made again and again, by name.
    Cron,
    /// Workflows, by id: where they stand.
    Workflow,
    /// Workflows, by id: the names of their steps, which never change.
    Steps,
    /// Settings of queues, by name.
    Queue,
    /// Who is told of events, by id.
    Webhook,
    /// How deliveries to subscriptions went lately, by the id of the subscription.
    Courier,
    /// Events on their way to subscriptions, by subscription, step and place in the order.
    Delivery,
    /// What the arguments of jobs look like, by type and version.
    Schema,
    /// Settings of pools of workers, by name.
    Pool,
    /// What is remembered of rate limits, by key.
    Limit,
}

impl Register {
    /// All registers, in the order in which they are exported: by name.
    pub const ALL: [Register; 10] = [
        Register::Courier,
        Register::Cron,
        Register::Delivery,
        Register::Limit,
        Register::Pool,
        Register::Queue,
        Register::Schema,
        Register::Steps,
        Register::Webhook,
        Register::Workflow,
    ];

    /// The name that stores keep.
    pub const fn name(self) -> &'static str {
        match self {
            Register::Cron => "cron",
            Register::Workflow => "workflow",
            Register::Steps => "steps",
            Register::Queue => "queue",
            Register::Webhook => "webhook",
            Register::Courier => "courier",
            Register::Delivery => "delivery",
            Register::Schema => "schema",
            Register::Pool => "pool",
            Register::Limit => "limit",
        }
    }

    /// The register of that name.
    pub fn named(name: &str) -> Option<Register> {
        Register::ALL.into_iter().find(|register| register.name() == name)
    }
}

/// The name of an entry.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EntryKey {
    /// In which register it stands.
    pub register: Register,
    /// Its name there.
    pub name: Arc<str>,
}

impl EntryKey {
    /// The entry of that name.
    pub fn new(register: Register, name: impl AsRef<str>) -> EntryKey {
        EntryKey { register, name: name.as_ref().into() }
    }

    /// What somebody is told who asks for an entry that is not there.
    pub fn missing(&self) -> Refusal {
        Refusal::NoEntry { register: self.register.name(), name: (&*self.name).into() }
    }

    /// What somebody is told who wants to make an entry that is there.
    pub fn taken(&self) -> Refusal {
        Refusal::EntryTaken { register: self.register.name(), name: (&*self.name).into() }
    }

    /// What somebody is told who asks for an entry that cannot be read.
    pub fn damaged(&self) -> StoreError {
        StoreError::Damaged { register: self.register.name(), name: Arc::clone(&self.name) }
    }
}

/// An entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub key: EntryKey,
    /// What it says.
    pub written: Written,
}

/// What an entry says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The text, JSON of whoever wrote it.
    pub body: Arc<str>,
    /// When something is to happen to it by itself.
    pub due_at: Option<Timestamp>,
}

/// What becomes of an entry: nothing, if it is not to be there.
pub type Revision = Option<Written>;

/// How an entry is changed: a pure function from what it says, if it is there, to what it shall say. The engine calls it
/// inside its atomic section, perhaps more than once, so nothing can come between the look and the change.
#[derive(Clone)]
pub struct Edit(Arc<Editing>);

type Editing = dyn Fn(Option<&Written>) -> Result<Revision, Refusal> + Send + Sync;

impl Edit {
    /// Changes an entry like this.
    pub fn new(edit: impl Fn(Option<&Written>) -> Result<Revision, Refusal> + Send + Sync + 'static) -> Edit {
        Edit(Arc::new(edit))
    }

    /// What becomes of it.
    pub fn apply(&self, before: Option<&Written>) -> Result<Revision, Refusal> {
        (self.0)(before)
    }
}

impl fmt::Debug for Edit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Edit(…)")
    }
}

/// How several entries are changed together: as [`Edit`], from what all of them say to what all of them shall say, in the
/// order in which they were named.
#[derive(Clone)]
pub struct JointEdit(Arc<JointEditing>);

type JointEditing = dyn Fn(&[Option<Written>]) -> Result<Vec<Revision>, Refusal> + Send + Sync;

impl JointEdit {
    /// Changes so many entries like this.
    pub fn new<const N: usize>(
        edit: impl Fn([Option<&Written>; N]) -> Result<[Revision; N], Refusal> + Send + Sync + 'static,
    ) -> JointEdit {
        JointEdit(Arc::new(move |before| {
            let at = |index: usize| before.get(index).and_then(Option::as_ref);
            edit(std::array::from_fn(at)).map(Vec::from)
        }))
    }

    /// Changes any number of entries like this.
    pub fn of_all(
        edit: impl Fn(&[Option<Written>]) -> Result<Vec<Revision>, Refusal> + Send + Sync + 'static,
    ) -> JointEdit {
        JointEdit(Arc::new(edit))
    }

    /// What becomes of them.
    pub fn apply(&self, before: &[Option<Written>]) -> Result<Vec<Revision>, Refusal> {
        (self.0)(before)
    }
}

impl fmt::Debug for JointEdit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JointEdit(…)")
    }
}

/// Which entries of a register are wanted, by name.
#[derive(Debug, Clone)]
pub struct EntryQuery {
    /// The register.
    pub register: Register,
    /// Only names that begin like this.
    pub prefix: Arc<str>,
    /// Only names after this one.
    pub after: Option<Arc<str>>,
    /// At most so many.
    pub limit: usize,
}

/// Entries by name. Registers are short, so they are counted when asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryPage {
    /// The entries.
    pub entries: Vec<Entry>,
    /// Whether there are more after these.
    pub has_more: bool,
    /// How many there are with that prefix.
    pub total: u64,
}
