//! A wall clock that is set forward and back while the server runs.

use std::collections::BTreeSet;
use std::time::Duration;

use e2e::clock;
use e2e::fleet::{DATABASE, Fleet};
use e2e::{Launch, Shift};
use hapax_pg_cluster::{Cluster, Options};
use serde_json::json;

use crate::crash::agrees;
use crate::ticks::Ticks;
use crate::{EVERY_SECOND, entry, register};

const NAME: &str = "beat";
const HOUR: i64 = 3600;
const WHILE: Duration = Duration::from_millis(2500);

#[test]
fn a_clock_that_jumps_an_hour_and_back_makes_no_tick_twice() {
    let shift = Shift::of(0);
    let mut server = shift.launch(Launch::embedded()).start();
    let mut client = server.client();
    register(&mut client, &entry(NAME, EVERY_SECOND, "allow"));
    let mut ticks = Ticks::default();
    ticks.await_more(&mut client, NAME, 2);
    shift.set(HOUR);
    ticks.await_more(&mut client, NAME, 3);
    let moments = ticks.moments();
    let (first, last) = (json!(moments[0]), json!(moments[moments.len() - 1]));
    assert!(clock::ms_between(&first, &last) >= 3_600_000, "the clock was not set: {moments:?}");
    // A whole hour of ticks was missed; one of them is made up for at most.
    assert!(ticks.len() < 20, "{:?}", ticks.moments());
    shift.set(0);
    let watch = |ticks: &mut Ticks, client: &mut e2e::Client| {
        // That none comes twice is what the collection itself sees to.
        clock::throughout("no tick comes twice", WHILE, || {
            ticks.collect(client, NAME);
            true
        });
    };
    watch(&mut ticks, &mut client);
    server.crash_and_restart();
    watch(&mut ticks, &mut server.client());
    shift.set(HOUR);
    ticks.await_more(&mut server.client(), NAME, 2);
}

#[test]
fn a_clock_that_was_set_back_makes_no_tick_twice_although_the_job_is_switched_off_and_on() {
    let shift = Shift::of(10);
    let server = shift.launch(Launch::embedded()).start();
    let mut client = server.client();
    register(&mut client, &entry(NAME, EVERY_SECOND, "allow"));
    let mut ticks = Ticks::default();
    ticks.await_more(&mut client, NAME, 3);
    shift.set(8);
    for enabled in ["false", "true"] {
        let switch = e2e::Request::new("PATCH", &format!("/ojs/v1/cron/{NAME}"));
        let switch = switch.header("Content-Type", "application/json");
        client.send(&switch.body(format!(r#"{{"enabled":{enabled}}}"#))).is(200);
    }
    // The clock shows moments again for which there are jobs, and then new ones.
    ticks.await_more(&mut client, NAME, 3);
}

#[test]
fn two_servers_make_one_job_for_each_tick_whichever_clock_jumps() {
    let [first, second, database] = [0; 3].map(Shift::of);
    let options = Options { environment: database.environment().into(), ..Options::default() };
    let cluster = Cluster::start(&options).unwrap_or_else(|error| panic!("{error}"));
    let launches = [&first, &second].map(|shift| shift.launch(Launch::default()));
    let mut fleet = Fleet::on(cluster, &launches, |cluster| cluster.url(DATABASE));
    register(&mut fleet.client(0), &entry(NAME, EVERY_SECOND, "allow"));
    let mut ticks = Ticks::default();
    ticks.await_more(&mut fleet.client(0), NAME, 1);
    let start = json!(ticks.moments()[0]);
    for (shift, seconds) in [(&first, HOUR), (&second, -HOUR), (&first, -HOUR), (&second, HOUR)] {
        shift.set(seconds);
        for number in 0..2 {
            ticks.await_more(&mut fleet.client(number), NAME, 1);
        }
    }
    // Back by an hour is 23 hours of the day before. The last one is ahead of all others.
    for (seconds, hours) in [(HOUR, 1), (0, 0), (-HOUR, 23), (0, 0), (HOUR, 1)] {
        database.set(seconds);
        let known: BTreeSet<String> = ticks.moments().into_iter().map(str::to_owned).collect();
        let is_so = |moment: &str| clock::ms_between(&start, &json!(moment)) / 3_600_000 == hours;
        // Servers ask the database for the time every few seconds.
        ticks.await_such(&mut fleet.client(0), NAME, |moment| !known.contains(moment) && is_so(moment));
        let (one, other) = if seconds == 0 { (0, 1) } else { (1, 0) };
        fleet.server_mut(one).kill();
        ticks.await_more(&mut fleet.client(other), NAME, 2);
        fleet.server_mut(one).start_again();
    }
    agrees(&mut fleet.client(0), &mut ticks);
}
