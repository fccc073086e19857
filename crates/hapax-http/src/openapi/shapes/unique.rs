//! How a job is recognised as one that exists already.

use hapax_core::State;
use hapax_core::unique::{Anchor, Field, Releaser, Strategy, WhileActive};

use super::{Named, one_of};
use crate::compat::PERIOD_MS;
use crate::from_wire::bounds::{DIMENSIONS, STATE_GROUPS};
use crate::openapi::shape::{
    Member, Shape, choice, constant, count, either, integer, list, may, moment, named, needs, object, span,
    text, texts,
};

pub(super) fn shapes() -> Vec<Named> {
    vec![
        ("UniquePolicy", wish()),
        (
            "Uniqueness",
            object(policy().into_iter().chain(facts()))
                .about("The policy of the job, and what it is to others with its key."),
        ),
        ("ShownPolicy", object(policy())),
        ("Duplicates", duplicates()),
        ("ReplacedFields", replaced()),
    ]
}

/// What clients may send. Nothing else passes: a typo would switch protection off.
fn wish() -> Shape {
    let strategies = Strategy::ALL.into_iter().map(Strategy::name).chain(["use_existing", "drop"]);
    let span = || either([integer().least(1), span()]);
    let moments = || choice(Anchor::ALL.into_iter().map(Anchor::name).chain(["inserted_at"]));
    object([
        may("keys", list(choice(DIMENSIONS.iter().copied())).about("What the key is made of; the type always is.")),
        may("args_keys", texts().about("Only these members of the arguments.")),
        may("meta_keys", texts().about("Only these members of the metadata.")),
        may("key", either([text(), texts()]).about("A text of your own in place of all that.")),
        may("period", either([span(), constant("infinity")]).about("For how long an earlier job counts.")),
        may(PERIOD_MS, integer().least(1).about("`period` in milliseconds.")),
        may("period_from", moments().about("From when that is counted.")),
        may("timestamp", moments().about("The same as `period_from`.")),
        may("states", either([list(named("State")), choice(STATE_GROUPS.map(|(name, _)| name))]).about("The states in which an earlier job counts.")),
        may("on_conflict", choice(strategies).about("What becomes of a duplicate.")),
        may("replace", named("ReplacedFields")),
        may("debounce", object([needs("wait", span()), may("max_wait", span())]).only()),
        may("while_active", one_of(WhileActive::ALL, WhileActive::name)),
    ].into_iter().chain(facts()))
    .only()
    .about("When a job is a duplicate, of which jobs, and what becomes of it then. Facts that replies show may be sent back, and mean nothing.")
}

fn policy() -> Vec<Member> {
    vec![
        may("keys", list(choice(DIMENSIONS.iter().copied()))),
        may("args_keys", texts()),
        may("meta_keys", texts()),
        may("key", text()),
        may("period", span()),
        may("period_from", one_of(Anchor::ALL, Anchor::name)),
        may("states", list(named("State"))),
        may("on_conflict", one_of(Strategy::ALL, Strategy::name)),
        may("debounce", object([needs("wait", span()), may("max_wait", span())])),
        may("replace", named("ReplacedFields")),
        may("while_active", one_of(WhileActive::ALL, WhileActive::name)),
    ]
}

fn facts() -> Vec<Member> {
    let released = object([
        needs("at", moment()),
        needs("key", text()),
        needs("by", one_of(Releaser::ALL, Releaser::name)),
        may("reason", text()),
    ]);
    vec![
        may("uniqueness_key", text().about("The key, if the job holds it.")),
        may("reentered_beside", text().about("The job that held the key when this one came back.")),
        may("waits_for", text().about("The job after which this one starts.")),
        may("first_start", moment().about("From where a debounced start moves.")),
        may("released", released.about("Who took the key away, when and why.")),
        may("duplicates", named("Duplicates")),
    ]
}

fn duplicates() -> Shape {
    let one = object([needs("at", moment()), needs("outcome", text()), may("request_id", text())]);
    object([needs("count", count()), may("last_at", moment()), may("recent", list(one))])
        .about("What the job turned away.")
}

fn replaced() -> Shape {
    let fields = || list(one_of(Field::ALL, Field::name)).items_min(1);
    let by_state = State::ALL.into_iter().map(|state| may(state.name(), fields()));
    either([fields(), object(by_state).only()])
        .about("Which attributes a holder takes over; in all states, or by state.")
}
