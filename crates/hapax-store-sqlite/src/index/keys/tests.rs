//! The index of keys gives the answers of a walk through all holders, without the walk.

use std::collections::BTreeMap;
use std::time::Duration;

use hapax_core::{JobId, QueueName};
use proptest::prelude::*;

use super::*;
use crate::draft;
use crate::row::Seq;

/// All holders, to be walked through.
type Model = BTreeMap<Seq, Holder>;

fn holder(state: State, created: i64, scheduled: Option<i64>, finished: i64) -> Holder {
    Holder {
        state,
        created_at: draft::at(created),
        scheduled_at: scheduled.map(draft::at),
        finished_at: state.is_terminal().then(|| draft::at(finished)),
    }
}

fn watch(states: StateSet, period: Option<u64>, period_from: Anchor) -> Watch {
    Watch { states, period: period.map(Duration::from_millis), period_from, every_live: true }
}

/// Puts the holder in the place of what it was.
fn put(keys: &mut Keys, key: &Key, seq: Seq, before: Option<Holder>, after: Option<Holder>) {
    let queue: QueueName = draft::queue("default");
    let facts = |holder: Holder| Facts {
        seq,
        id: id(seq),
        queue: &queue,
        state: holder.state,
        rank: None,
        due: None,
        dead_since: None,
        held: Some((key, holder)),
        waits_for: None,
        limit: None,
        ordered: None,
    };
    keys.replace(before.map(facts).as_ref(), after.map(facts).as_ref());
}

fn id(seq: Seq) -> JobId {
    draft::id(seq.unsigned_abs())
}

fn newest_of_all(model: &Model, before: Option<Place>, covers: impl Fn(Holder) -> bool) -> Option<Seen> {
    let covered = model.iter().filter(|(_, holder)| covers(**holder));
    let seen =
        covered.map(|(seq, holder)| (Place { created_at: holder.created_at, id: id(*seq) }, holder.state));
    seen.filter(|(place, _)| before.is_none_or(|before| *place < before)).max_by_key(|(place, _)| *place)
}

/// A holder's number, and what it becomes; nothing for one that goes.
fn changes() -> impl Strategy<Value = (Seq, Option<(usize, Option<i64>, i64)>)> {
    // Mostly completed, so that more than a few gather in one state.
    let state = prop_oneof![6 => Just(5usize), 4 => 0..8usize];
    let becomes = (state, prop::option::of(0..120i64), 0..120i64);
    (0..48i64, prop::option::weighted(0.9, becomes))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]
    #[test]
    fn the_index_answers_like_a_walk_through_all(
        changes in prop::collection::vec(changes(), 1..160),
        (states, period, anchor) in (1..=u8::MAX, prop::option::of(1..100u64), 0..3usize),
        (now, before) in (0..160i64, prop::option::of((0..24i64, 0..48i64))),
    ) {
        let (key, mut keys, mut model) = (Key::of_text("a"), Keys::default(), Model::new());
        for (seq, change) in changes {
            // Several are equally new, and the order of the numbers is not that of their age.
            let created = seq * 7 % 24;
            let after = change.map(|(state, scheduled, finished)| {
                holder(State::ALL[state], created, scheduled, finished)
            });
            put(&mut keys, &key, seq, model.get(&seq).copied(), after);
            match after {
                Some(after) => drop(model.insert(seq, after)),
                None => drop(model.remove(&seq)),
            }
        }

        let mut rebuilt = Keys::default();
        for (seq, holder) in &model {
            put(&mut rebuilt, &key, *seq, None, Some(*holder));
        }
        prop_assert_eq!(&keys, &rebuilt);

        let before = before.map(|(created, seq)| Place { created_at: draft::at(created), id: id(seq) });
        let now = draft::at(now);
        let watch = watch(StateSet::from_bits(states), period, Anchor::ALL[anchor]);
        let has_ended = |holder: Holder| holder.state.is_terminal();
        let ended = newest_of_all(&model, before, |holder| has_ended(holder) && watch.covers(holder, now));
        prop_assert_eq!(keys.newest_ended(&key, watch, now, before), ended);
        let any = newest_of_all(&model, before, |holder| watch.states.contains(holder.state));
        prop_assert_eq!(keys.newest_in(&key, watch.states, before), any);

        let mut live: Vec<JobId> = keys.live(&key, watch, now).map(|(place, _)| place.id).collect();
        live.sort_unstable();
        let covered =
            model.iter().filter(|(_, holder)| !has_ended(**holder) && watch.covers(**holder, now));
        prop_assert_eq!(live, covered.map(|(seq, _)| id(*seq)).collect::<Vec<_>>());
        let ended = model.values().filter(|holder| has_ended(**holder)).count();
        prop_assert_eq!(keys.count(&key), ((model.len() - ended) as u64, ended as u64));
    }
}

/// How many holders are asked about until it is known which decides.
fn looked_at(keys: &Keys, key: &Key, watch: Watch, now: Timestamp) -> usize {
    let mut looks = 0;
    let covers = |holder| {
        looks += 1;
        watch.covers(holder, now)
    };
    keys.newest_by(key, watch, None, covers);
    looks
}

/// One job a second, each started a minute after it was created and done in another: `count` of them completed, then
/// as many cancelled.
fn finished(count: i64) -> (Keys, Key) {
    let (mut keys, key) = (Keys::default(), Key::of_text("a"));
    for seq in 0..2 * count {
        let state = if seq < count { State::Completed } else { State::Cancelled };
        let created = seq * 1000;
        let holder = holder(state, created, Some(created + 60_000), created + 120_000);
        put(&mut keys, &key, seq, None, Some(holder));
    }
    (keys, key)
}

#[test]
fn ten_thousand_finished_holders_are_decided_like_two() {
    let (few, many) = (finished(2), finished(10_000));
    let end = draft::at(2 * 10_000 * 1000 + 120_000);
    let states = [
        StateSet::ALL,
        StateSet::SUCCESSFUL,
        StateSet::of(&[State::Completed]),
        StateSet::of(&[State::Cancelled]),
        StateSet::of(&[State::Discarded]),
        StateSet::of(&[State::Completed, State::Discarded]),
    ];
    // Nobody's window, those of the newest, of half of them, of all, and for ever.
    let periods = [Some(1), Some(180_000), Some(10_000_000), Some(100_000_000), None];
    for (states, anchor, period) in states
        .into_iter()
        .flat_map(|states| Anchor::ALL.map(|anchor| (states, anchor)))
        .flat_map(|(states, anchor)| periods.map(|period| (states, anchor, period)))
    {
        let watch = watch(states, period, anchor);
        let (few, many) = (looked_at(&few.0, &few.1, watch, end), looked_at(&many.0, &many.1, watch, end));
        // For each of two states, one look from either end.
        assert!(few <= 4 && many <= 4, "{few} and {many} looks for {watch:?}");
    }
}

#[test]
fn a_single_open_window_among_ten_thousand_is_found_at_once() {
    let (mut keys, key) = finished(10_000);
    let now = draft::at(100_000_000);
    let completed = |period_from| watch(StateSet::of(&[State::Completed]), Some(1000), period_from);
    // The oldest of all took very long.
    let (seq, old) = (0, holder(State::Completed, 0, Some(60_000), 120_000));
    let late = Holder { finished_at: Some(now), ..old };
    put(&mut keys, &key, seq, Some(old), Some(late));
    let place = Place { created_at: old.created_at, id: id(seq) };
    let found = keys.newest_ended(&key, completed(Anchor::FinishedAt), now, None);
    assert_eq!(found, Some((place, State::Completed)));
    assert!(looked_at(&keys, &key, completed(Anchor::FinishedAt), now) <= 3);
    assert!(looked_at(&keys, &key, completed(Anchor::ScheduledAt), now) <= 3);
}

#[test]
fn ten_thousand_live_holders_that_do_not_count_are_not_looked_at() {
    let (mut keys, key) = (Keys::default(), Key::of_text("a"));
    for seq in 0..10_000 {
        let state = if seq == 77 { State::Active } else { State::Available };
        put(&mut keys, &key, seq, None, Some(holder(state, seq, None, 0)));
    }
    let now = draft::at(10_000);
    for (states, period, looks_max, found) in [
        (&[State::Active][..], None, 1, 1),
        (&[State::Active, State::Retryable], Some(20_000), 1, 1),
        (&[State::Completed], None, 0, 0),
        (&[State::Active, State::Available], Some(3), 4, 2),
    ] {
        let (mut looks, watch) = (0, watch(StateSet::of(states), period, Anchor::CreatedAt));
        let covers = |holder| {
            looks += 1;
            watch.covers(holder, now)
        };
        assert_eq!(keys.live_by(&key, watch, covers).count(), found, "{watch:?}");
        assert!(looks <= looks_max, "{looks} looks for {watch:?}");
    }
}

#[test]
fn a_key_with_one_holder_takes_six_words() {
    assert!(size_of::<(u64, Holders)>() <= 6 * size_of::<u64>());
}
