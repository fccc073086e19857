//! The database fails over to its synchronous standby under load: nothing acknowledged is lost with the old primary.

use std::time::Duration;

use e2e::Launch;
use e2e::clock;
use e2e::fleet::{DATABASE, Fleet, SERVERS, all_become, effort};
use hapax_pg_cluster::{Cluster, Error, Options};

use crate::faults::under_faults;

const PROMOTIONS: usize = 5;
const FOLLOWED_MAX: Duration = Duration::from_secs(30);

#[test]
fn a_promoted_standby_has_everything_that_was_acknowledged() {
    let promotions = effort("HAPAX_FLEET_PROMOTIONS", PROMOTIONS);
    let settings = vec!["synchronous_standby_names = 'walreceiver'".to_owned()];
    let one = Cluster::start(&Options { durable: true, settings, ..Options::default() });
    let one = one.unwrap_or_else(|error| panic!("{error}"));
    let other = one.standby().unwrap_or_else(|error| panic!("{error}"));
    let url = either(&one, &other);
    let mut fleet = Fleet::on(one, &vec![Launch::default(); SERVERS], |_| url);
    under_faults(&mut fleet, promotions, |fleet, number| {
        let (primary, standby) =
            if number.is_multiple_of(2) { (&fleet.cluster, &other) } else { (&other, &fleet.cluster) };
        fail_over(fleet, primary, standby).unwrap_or_else(|error| panic!("{error}"));
    });
    for number in 0..SERVERS {
        assert_eq!(fleet.server_mut(number).exit_status(), None, "a server ended with its database");
    }
}

/// The database at either place, wherever it can be written to.
fn either(one: &Cluster, other: &Cluster) -> String {
    // Both end with the database, after the place.
    let (one, other) = (one.url(DATABASE), other.url(DATABASE));
    let place = other.rsplit_once('@').and_then(|(_, rest)| rest.strip_suffix(&format!("/{DATABASE}")));
    let both = one.strip_suffix(&format!("/{DATABASE}")).zip(place);
    let (one, other) = both.unwrap_or_else(|| panic!("no places in {one} and {other}"));
    format!("{one},{other}/{DATABASE}?target_session_attrs=read-write")
}

/// The primary ends without knowing it, the standby takes its place, and the old primary comes back as a standby.
fn fail_over(fleet: &Fleet, primary: &Cluster, standby: &Cluster) -> Result<(), Error> {
    primary.kill()?;
    all_become(fleet.servers(), "not ready", false);
    standby.promote()?;
    all_become(fleet.servers(), "ready", true);
    primary.follow(standby)?;
    let sql = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'";
    clock::until("the standby follows", FOLLOWED_MAX, || {
        standby.query(DATABASE, sql).is_ok_and(|count| count == "1")
    });
    Ok(())
}
