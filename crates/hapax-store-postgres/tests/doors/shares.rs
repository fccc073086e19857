//! Jobs that share their queue fairly: servers let them in, and what SQL does to them leaves each key its turns.

use hapax_core::JobId;

use crate::rig::Rig;
use crate::said::Said;

/// Jobs in both stores, by the names of their keys, each with these attributes besides.
fn create(rig: &mut Rig, names: &str, more: &str) -> Vec<JobId> {
    let make = |(index, name): (usize, char)| {
        let id = format!("01a31895-ca17-7000-8000-{:04x}{:08x}", u32::from(name), index + more.len() * 100);
        let job = format!(
            r#"{{"id":"{id}","type":"a.b","args":[1],"rate_limit":{{"key":"{name}","share":"fair"}}{more}}}"#
        );
        let said = rig.enqueue_by_server(&job);
        assert!(matches!(said, Said::Done(..)), "{said:?}");
        id.parse().unwrap()
    };
    names.chars().enumerate().map(make).collect()
}

/// Takes what is left, in order.
fn taken(rig: &mut Rig) -> Vec<JobId> {
    std::iter::from_fn(|| rig.claim("default").map(|(id, _)| id)).collect()
}

#[test]
fn a_job_that_sql_hands_back_takes_a_turn_of_its_key() {
    let mut rig = Rig::new();
    let ids = create(&mut rig, "aaabb", "");
    let (id, lease) = rig.claim("default").unwrap();
    assert_eq!(id, ids[0]);
    rig.fail(id, &lease, None, true);
    rig.compare_all(&ids);
    assert_eq!(taken(&mut rig), [ids[3], ids[1], ids[4], ids[2], ids[0]]);
    let mut rig = Rig::new();
    let ids = create(&mut rig, "baaaa", "");
    let (id, lease) = rig.claim("default").unwrap();
    rig.fail(id, &lease, None, true);
    assert_eq!(taken(&mut rig), [ids[1], ids[2], ids[0], ids[3], ids[4]], "not behind all of another's");
}

#[test]
fn one_that_sql_lets_go_takes_a_turn_of_its_key() {
    let mut rig = Rig::new();
    let line = create(&mut rig, "bb", r#","ordering_key":"o""#);
    let (id, lease) = rig.claim("default").unwrap();
    let many = create(&mut rig, "aaa", "");
    let said = rig.complete(id, &lease, None);
    assert_eq!(said.at("/job/rate_limit/share"), Some(&serde_json::json!("fair")));
    assert_eq!(taken(&mut rig), [many[0], line[1], many[1], many[2]]);
}

#[test]
fn those_from_sql_stand_where_they_came() {
    let mut rig = Rig::new();
    let plain =
        |n: u8| format!(r#"{{"id":"01a31895-ca17-7000-8000-0000000000f{n}","type":"a.b","args":[]}}"#);
    for n in 0..3 {
        rig.enqueue(&plain(n));
    }
    let fair = create(&mut rig, "aa", "");
    rig.enqueue(&plain(3));
    let [p0, p1, p2, p3] = [0, 1, 2, 3].map(|n| plain(n)[7..43].parse().unwrap());
    assert_eq!(taken(&mut rig), [p0, fair[0], p1, fair[1], p2, p3]);
}

#[test]
fn a_job_that_ended_in_sql_may_be_forgotten_before_a_server_sees_its_end() {
    let mut rig = Rig::new();
    let ids = create(&mut rig, "ab", "");
    let (id, lease) = rig.claim("default").unwrap();
    rig.complete(id, &lease, None);
    rig.pass(30 * 86_400_000);
    rig.advance();
    assert_eq!(rig.compare(id), None);
    rig.compare_all(&ids);
}
