//! Lists of jobs: the index says which rows, the rows say which jobs.

use hapax_core::{JobFilter, KindPattern, Timestamp};
use hapax_store::{JobPage, JobQuery, JobScan};
use rusqlite::{CachedStatement, OptionalExtension as _, ToSql};

use super::View;
use crate::Fault;
use crate::index::Places;
use crate::row::{self, Seq};

/// Asks of one row what [`JobScan::wants`] asks of a job, without reading what can be large.
const GLANCE: &str = "SELECT 1 FROM status s JOIN jobs j ON j.seq = s.seq WHERE s.seq = ?1 \
     AND instr(?2, s.state || ' ') > 0 AND (?3 IS NULL OR j.queue = ?3) AND (?4 IS NULL OR j.type = ?4) \
     AND (?5 IS NULL OR substr(j.type, 1, length(?5)) = ?5) \
     AND (?6 IS NULL OR j.created_at >= ?6) AND (?7 IS NULL OR j.created_at < ?7)";

impl View<'_> {
    pub(crate) fn jobs(&mut self, query: &JobQuery, places: &Places) -> Result<JobPage, Fault> {
        let Places { places, has_more } = places;
        let mut scan = JobScan::new(query);
        let mut glance = Glance::new(row::statement(self.db, GLANCE)?, &query.filter);
        self.at_one_moment(|loader| {
            for (id, seq) in places {
                if scan.is_over() {
                    return Ok(scan.page(true));
                }
                if glance.is_worth_a_look(*seq)? {
                    // The index runs ahead of the tables: what is not there yet is left out.
                    let job = loader.load(*seq)?.map(|stored| stored.job).filter(|job| job.id == *id);
                    scan.look(*id, job);
                } else {
                    scan.pass(*id);
                }
            }
            Ok(scan.page(*has_more))
        })
    }
}

/// The question, with everything but the row.
struct Glance<'g> {
    statement: CachedStatement<'g>,
    states: String,
    queue: Option<&'g str>,
    kind: Option<&'g str>,
    kind_begins: Option<&'g str>,
    since: Option<i64>,
    until: Option<i64>,
}

impl<'g> Glance<'g> {
    fn new(statement: CachedStatement<'g>, filter: &'g JobFilter) -> Glance<'g> {
        let JobFilter { queue, states, kind, created, .. } = filter;
        let (kind, kind_begins) = match kind {
            Some(KindPattern::Exactly(kind)) => (Some(kind.as_str()), None),
            Some(KindPattern::StartsWith(beginning)) => (None, Some(&**beginning)),
            None => (None, None),
        };
        Glance {
            statement,
            // Each with a blank behind it, so that none is found within another.
            states: states.iter().flat_map(|state| [state.name(), " "]).collect(),
            queue: queue.as_ref().map(hapax_core::QueueName::as_str),
            kind,
            kind_begins,
            since: created.since.map(Timestamp::millis),
            until: created.until.map(Timestamp::millis),
        }
    }

    fn is_worth_a_look(&mut self, seq: Seq) -> Result<bool, Fault> {
        let Glance { statement, states, queue, kind, kind_begins, since, until } = self;
        let cells: [&dyn ToSql; 7] = [&seq, states, queue, kind, kind_begins, since, until];
        let found = statement.query_row(cells.as_slice(), |_| Ok(())).optional();
        found.map(|found| found.is_some()).map_err(Fault::of("look through the jobs"))
    }
}
