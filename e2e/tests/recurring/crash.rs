//! Servers that die and servers that share a database: no tick makes two jobs, and none that was made is lost.

use e2e::fleet::{DATABASE, Fleet, effort};
use e2e::{Client, Launch, Server};
use hapax_pg_cluster::{Cluster, Options};

use crate::ticks::Ticks;
use crate::{EVERY_SECOND, entry, register};

const NAME: &str = "beat";
const CRASHES: usize = 4;

#[test]
fn a_server_that_is_killed_ticks_on_and_no_tick_comes_twice() {
    let mut server = Server::start();
    register(&mut server.client(), &entry(NAME, EVERY_SECOND, "allow"));
    let mut ticks = Ticks::default();
    for _ in 0..effort("HAPAX_CRON_CRASHES", CRASHES) {
        ticks.await_more(&mut server.client(), NAME, 2);
        server.crash_and_restart();
    }
    ticks.await_more(&mut server.client(), NAME, 1);
    agrees(&mut server.client(), &mut ticks);
}

#[test]
fn two_servers_make_one_job_for_each_tick() {
    let cluster = Cluster::start(&Options::default()).unwrap_or_else(|error| panic!("{error}"));
    let launches = [Launch::default(), Launch::default()];
    let mut fleet = Fleet::on(cluster, &launches, |cluster| cluster.url(DATABASE));
    register(&mut fleet.client(0), &entry(NAME, EVERY_SECOND, "allow"));
    let mut ticks = Ticks::default();
    for number in 0..4 {
        ticks.await_more(&mut fleet.client(number), NAME, 1);
    }
    fleet.server_mut(0).kill();
    ticks.await_more(&mut fleet.client(1), NAME, 2);
    fleet.server_mut(0).start_again();
    fleet.server_mut(1).kill();
    ticks.await_more(&mut fleet.client(0), NAME, 2);
    agrees(&mut fleet.client(0), &mut ticks);
}

/// The recurring job has made as many jobs as have come.
pub(crate) fn agrees(client: &mut Client, ticks: &mut Ticks) {
    let path = format!("/ojs/v1/cron/{NAME}");
    // Off, so that nothing happens between two looks.
    let off = e2e::Request::new("PATCH", &path).header("Content-Type", "application/json");
    client.send(&off.body(r#"{"enabled":false}"#)).is(200);
    ticks.collect(client, NAME);
    let answer = client.get(&path);
    let cron = &answer.is(200)["cron_job"];
    assert_eq!(cron["run_count"], ticks.len(), "{cron}");
    assert_eq!(cron["last_run_at"].as_str(), ticks.moments().last().copied(), "{cron}");
    assert_eq!(client.count(NAME, "completed"), ticks.len() as u64);
}
