//! Lists of jobs.

use std::collections::HashMap;

use hapax_core::{Job, JobFilter, JobId, KindPattern, QueueName, State, Timestamp};
use hapax_store::{JobPage, JobQuery, JobScan, ListOrder};
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use super::{View, number};
use crate::Fault;
use crate::row::uuid;

/// How many whole jobs are fetched at once.
const FETCHED_MAX: usize = 100;

/// A job in the list, and whether it is worth a closer look.
#[derive(Debug, Clone, Copy)]
struct Place {
    id: JobId,
    is_wanted: bool,
}

impl View<'_> {
    pub(crate) async fn job_page(&self, query: &JobQuery) -> Result<JobPage, Fault> {
        let most = query.scan_max();
        let places = self.places(query, most.saturating_add(1)).await?;
        let has_more = places.len() > most;
        let mut left = &places[..most.min(places.len())];
        let mut scan = JobScan::new(query);
        while !left.is_empty() && !scan.is_over() {
            let (now, later) = left.split_at(handful(left, query.limit.min(FETCHED_MAX)));
            let mut found = self.wanted(now).await?;
            for place in now {
                if scan.is_over() {
                    return Ok(scan.page(true));
                }
                if place.is_wanted {
                    scan.look(place.id, found.remove(&place.id));
                } else {
                    scan.pass(place.id);
                }
            }
            left = later;
        }
        Ok(scan.page(has_more || !left.is_empty()))
    }

    async fn places(&self, query: &JobQuery, most: usize) -> Result<Vec<Place>, Fault> {
        let JobFilter { queue, states, kind, created, .. } = &query.filter;
        // Beyond every id, on the side where the list begins.
        let (sql, start) = match query.order {
            ListOrder::NewestFirst => (&self.engine.statements.newest_places, Uuid::max()),
            ListOrder::OldestFirst => (&self.engine.statements.oldest_places, Uuid::nil()),
        };
        let after = query.after.map_or(start, uuid);
        let states: Vec<&str> = states.iter().map(State::name).collect();
        let queue = queue.as_ref().map(QueueName::as_str);
        let (kind, kind_begins) = match kind {
            Some(KindPattern::Exactly(kind)) => (Some(kind.as_str()), None),
            Some(KindPattern::StartsWith(beginning)) => (None, Some(&**beginning)),
            None => (None, None),
        };
        let [since, until] = [created.since, created.until].map(|at| at.map(Timestamp::millis));
        let most = number(most);
        let params: [&(dyn ToSql + Sync); 8] =
            [&after, &states, &queue, &kind, &kind_begins, &since, &until, &most];
        let failed = Fault::of("look through the jobs");
        let place = |row: &tokio_postgres::Row| {
            let id: Uuid = row.try_get(0).map_err(&failed)?;
            let damaged = Fault::Damaged { column: "id", id, found: "no UUID of version 7" };
            let id = JobId::from_bytes(*id.as_bytes()).ok_or(damaged)?;
            Ok(Place { id, is_wanted: row.try_get(1).map_err(&failed)? })
        };
        self.query(sql, &params).await?.iter().map(place).collect()
    }

    /// The jobs among these that are worth a closer look and still there.
    async fn wanted(&self, places: &[Place]) -> Result<HashMap<JobId, Job>, Fault> {
        let ids: Vec<Uuid> =
            places.iter().filter(|place| place.is_wanted).map(|place| uuid(place.id)).collect();
        if ids.is_empty() {
            return Ok(HashMap::new());
        }
        let jobs = self.jobs(&self.engine.statements.jobs, &[&ids]).await?;
        Ok(jobs.into_iter().map(|job| (job.id, job)).collect())
    }
}

/// How many places to go on so that so many wanted jobs are among them.
fn handful(places: &[Place], wanted: usize) -> usize {
    let mut wanted_ones = places.iter().enumerate().filter(|(_, place)| place.is_wanted);
    wanted_ones.nth(wanted).map_or(places.len(), |(index, _)| index.max(1))
}
