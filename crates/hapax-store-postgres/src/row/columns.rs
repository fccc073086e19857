//! The columns that are written, in packs: most jobs leave most packs at their defaults, and a statement that leaves them
//! out costs a third less. There are few packs, so that there are few statements.

use std::fmt::Write as _;

/// Columns that are written together or left at their defaults together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Pack {
    /// Every job has them.
    Always,
    /// A unique job has them.
    Key,
    /// Whatever else a client may ask for.
    Client,
    /// Something happens by itself, or happened.
    Time,
    /// It ran.
    Run,
    /// It runs.
    Lease,
    /// It ended in its own way.
    End,
    /// Anything else.
    Rare,
    /// It shares a rate limit.
    Limit,
}

/// A set of packs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Packs(u16);

impl Packs {
    pub(crate) const fn new() -> Packs {
        Packs(1 << Pack::Always as u16)
    }

    pub(crate) const fn has(self, pack: Pack) -> bool {
        self.0 & (1 << pack as u16) != 0
    }

    /// Whether jobs have no more than what fresh ones have.
    pub(crate) fn are_fresh(self) -> bool {
        FRESH.iter().fold(self.0, |rest, pack| rest & !(1 << *pack as u16)) == 0
    }

    pub(crate) fn add_if(&mut self, is_used: bool, pack: Pack) {
        if is_used {
            self.0 |= 1 << pack as u16;
        }
    }
}

/// A column, as a statement that writes has it.
pub(crate) struct Column {
    name: &'static str,
    /// The type of a parameter's elements.
    sent_as: &'static str,
    /// What the element has to be turned into, if it is not sent so.
    cast: &'static str,
    /// Its value while its pack is left out.
    default: &'static str,
    pub(crate) pack: Pack,
}

impl Column {
    /// Whether it is the place in the order of acceptance.
    pub(super) fn is_place(&self) -> bool {
        self.name == "seq"
    }
}

const fn column(pack: Pack, name: &'static str, sent_as: &'static str) -> Column {
    Column { name, sent_as, cast: "", default: "NULL", pack }
}

impl Column {
    const fn cast(self, cast: &'static str) -> Column {
        Column { cast, ..self }
    }

    const fn or(self, default: &'static str) -> Column {
        Column { default, ..self }
    }
}

/// What became of a job. In the order of [`super::Sheet`]; the id is the first.
pub(super) const STATUS: [Column; 23] = [
    column(Pack::Always, "id", "uuid"),
    column(Pack::Always, "state", "text").cast("::hapax.state"),
    column(Pack::Always, "turn", "bigint"),
    column(Pack::Always, "enqueued_at", "bigint"),
    column(Pack::Time, "at", "bigint"),
    column(Pack::Time, "due_at", "bigint"),
    column(Pack::Run, "attempt", "integer").or("0"),
    column(Pack::Run, "fence", "bigint").or("0"),
    column(Pack::Run, "started_at", "bigint"),
    column(Pack::Lease, "token", "bytea"),
    column(Pack::Lease, "worker", "text"),
    column(Pack::Lease, "deadline", "bigint"),
    column(Pack::Lease, "lease_ms", "bigint"),
    column(Pack::End, "detail", "text"),
    column(Pack::End, "dead_letter", "boolean").or("false"),
    column(Pack::End, "result", "text").cast("::json"),
    column(Pack::Rare, "activated_at", "bigint"),
    column(Pack::Rare, "times_out_at", "bigint"),
    column(Pack::Rare, "after", "uuid"),
    column(Pack::Rare, "retry_ms", "bigint"),
    column(Pack::Rare, "reentered_beside", "uuid"),
    column(Pack::Rare, "errors", "text").cast("::json"),
    column(Pack::Rare, "ledger", "text").cast("::json"),
];

/// What the client asked for. In the order of [`super::Sheet`].
pub(super) const BODY: [Column; 14] = [
    column(Pack::Always, "seq", "bigint"),
    column(Pack::Always, "type", "text"),
    column(Pack::Always, "queue", "text"),
    column(Pack::Always, "priority", "smallint"),
    column(Pack::Always, "created_at", "bigint"),
    column(Pack::Always, "args", "text").cast("::json"),
    column(Pack::Key, "key", "bytea"),
    column(Pack::Key, "policy", "text").cast("::json"),
    column(Pack::Client, "scheduled_at", "bigint"),
    column(Pack::Client, "options", "text").cast("::json"),
    column(Pack::Client, "meta", "text").cast("::json"),
    column(Pack::Client, "extra", "text").cast("::json"),
    column(Pack::Limit, "limit_key", "text"),
    column(Pack::Limit, "ordering_key", "text"),
];

/// Stores new jobs, one per element of the arrays.
pub(crate) fn insert(packs: Packs) -> String {
    let all = || STATUS.iter().chain(&BODY);
    let names = list(all(), |column| column.name.to_owned());
    let values = list(all(), |column| value(column, packs));
    format!("INSERT INTO hapax.jobs ({names}) SELECT {values} FROM {}", arrays(all(), packs))
}

/// The packs that jobs have which nobody has touched yet.
const FRESH: [Pack; 4] = [Pack::Always, Pack::Key, Pack::Client, Pack::Time];

/// Columns of fresh jobs. Their places are drawn where they are stored.
pub(super) fn fresh() -> impl Iterator<Item = &'static Column> + Clone {
    let is_fresh = |column: &&Column| FRESH.contains(&column.pack) && !column.is_place();
    STATUS.iter().chain(&BODY).filter(is_fresh)
}

/// Stores fresh jobs if nobody is in the way: takes what to look for, the columns, and what to count.
pub(crate) fn store_new(packs: Packs) -> String {
    let mut number = 0;
    let mut next = |kind: &str| {
        number += 1;
        format!("${number}::{kind}[]")
    };
    let mut params: Vec<String> = ["bigint", "uuid", "bytea", "bytea"].map(&mut next).into();
    for column in fresh() {
        params.push(if packs.has(column.pack) { next(column.sent_as) } else { "NULL".to_owned() });
    }
    params.push(next("text"));
    params.extend([(); 11].map(|()| next("bigint")));
    format!("SELECT hapax.store_new({})", params.join(", "))
}

/// Writes what became of jobs, one per element of the arrays. Their rows are locked.
pub(crate) fn update(packs: Packs) -> String {
    overwrite(|| STATUS.iter(), packs)
}

/// Writes all of jobs that took over something else, one per element of the arrays. Their rows are locked.
pub(crate) fn rewrite(packs: Packs) -> String {
    overwrite(|| STATUS.iter().chain(&BODY), packs)
}

fn overwrite<'c, I: Iterator<Item = &'c Column> + Clone>(columns: impl Fn() -> I, packs: Packs) -> String {
    let written = list(columns().skip(1), |column| format!("{} = {}", column.name, value(column, packs)));
    let arrays = arrays(columns(), packs);
    // Whoever changes may have room.
    format!(
        "UPDATE hapax.jobs AS j SET {written}, held = false FROM {arrays} WHERE j.id = u.id AND j.id = ANY ($1::uuid[])"
    )
}

fn value(column: &Column, packs: Packs) -> String {
    let Column { name, cast, default, pack, .. } = column;
    if packs.has(*pack) { format!("u.{name}{cast}") } else { (*default).to_owned() }
}

/// The arrays of the packs that are sent, side by side.
fn arrays<'c>(columns: impl Iterator<Item = &'c Column> + Clone, packs: Packs) -> String {
    let sent = columns.filter(move |column| packs.has(column.pack));
    let mut number = 0;
    let params = list(sent.clone(), |column| {
        number += 1;
        format!("${number}::{}[]", column.sent_as)
    });
    format!("unnest({params}) AS u ({})", list(sent, |column| column.name.to_owned()))
}

fn list<'c>(columns: impl Iterator<Item = &'c Column>, mut text: impl FnMut(&'c Column) -> String) -> String {
    let mut list = String::new();
    for column in columns {
        let comma = if list.is_empty() { "" } else { ", " };
        // Writing to a text cannot fail.
        let _ = write!(list, "{comma}{}", text(column));
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_gets_its_default() {
        let mut packs = Packs::new();
        assert!(update(packs).contains("attempt = 0, fence = 0, started_at = NULL, token = NULL"));
        packs.add_if(true, Pack::Run);
        assert!(
            update(packs)
                .contains("attempt = u.attempt, fence = u.fence, started_at = u.started_at, token = NULL")
        );
    }

    #[test]
    fn every_column_of_the_table_is_written() {
        let table = include_str!("../sql/0001-tables.sql");
        let rows = table.split("CREATE TABLE hapax.jobs (").nth(1).unwrap().split("\n);").next().unwrap();
        let mut declared: Vec<&str> = rows
            .lines()
            .filter_map(|line| line.split_whitespace().next())
            .filter(|word| !word.starts_with("--"))
            .collect();
        let mut written: Vec<&str> = STATUS.iter().chain(&BODY).map(|column| column.name).collect();
        written.push("held");
        declared.sort_unstable();
        written.sort_unstable();
        assert_eq!(written, declared);
    }
}
