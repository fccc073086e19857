//! A pool on its way in.

use hapax_broker::{Pool, PoolStrategy};
use hapax_core::QueueName;
use hapax_core::json::{Node, Value};

use super::draft::read_queue;
use super::retry::choice;
use super::{Fault, Given, Place};

/// Most queues of a pool: as many as a fetch may name.
pub(crate) const QUEUES_MAX: usize = 256;
pub(crate) const WEIGHT_MAX: i64 = 1_000_000;
const QUEUES_WANTED: &str = "an array of queues, or an object with their weights";

/// Reads the body of `PUT /admin/pools/{name}`.
pub(crate) fn pool(body: &Node<'_>, name: &str) -> Result<Pool, Fault> {
    let body = Given::body(body)?;
    body.expect_only(&["name", "strategy", "queues", "weights"])?;
    if let Some(given) = body.member("name")
        && given.text("the name in the path")? != name
    {
        return Err(Fault::new(given.place, "is not the name in the path"));
    }
    let strategy = body.member("strategy").map_or(Ok(PoolStrategy::RoundRobin), |given| {
        choice(given, "strategy", &PoolStrategy::ALL, PoolStrategy::name)
    })?;
    let given = body.required("queues", QUEUES_WANTED)?;
    let mut queues = read_queues(&given)?;
    if !(1..=QUEUES_MAX).contains(&queues.len()) {
        return Err(Fault::new(given.place, format_args!("must name 1 to {QUEUES_MAX} queues")));
    }
    if let Some(index) =
        (1..queues.len()).find(|index| queues[..*index].iter().any(|(name, _)| *name == queues[*index].0))
    {
        return Err(Fault::new(given.place, format_args!("name {} twice", queues[index].0.as_str())));
    }
    if let Some(weights) = body.member("weights") {
        add_weights(&mut queues, &weights)?;
    }
    Ok(Pool { strategy, queues })
}

/// Names alone, objects with names, or an object by names.
fn read_queues(given: &Given<'_, '_>) -> Result<Vec<(QueueName, u32)>, Fault> {
    match &given.node.value {
        Value::Array(_) => given.items(QUEUES_WANTED)?.map(|item| read_item(&item)).collect(),
        Value::Object(members) => members
            .iter()
            .map(|member| {
                let place = Place::Member(&given.place, &member.name);
                let queue = QueueName::parse(&member.name).map_err(|error| Fault::new(place, error))?;
                Ok((queue, read_weight(&Given { node: &member.node, place })?))
            })
            .collect(),
        _ => Err(given.wrong(QUEUES_WANTED)),
    }
}

fn read_item(item: &Given<'_, '_>) -> Result<(QueueName, u32), Fault> {
    match &item.node.value {
        Value::Object(_) => {
            item.expect_only(&["name", "weight"])?;
            Ok((read_queue(item.required("name", "the name of a queue")?)?, read_weight(item)?))
        }
        _ => Ok((read_queue(*item)?, 1)),
    }
}

/// A number, or an object with one.
fn read_weight(given: &Given<'_, '_>) -> Result<u32, Fault> {
    let weight = match &given.node.value {
        Value::Object(_) => match given.member("weight") {
            Some(weight) => weight.integer(1, WEIGHT_MAX)?,
            None => 1,
        },
        _ => given.integer(1, WEIGHT_MAX)?,
    };
    Ok(u32::try_from(weight).unwrap_or(1))
}

fn add_weights(queues: &mut [(QueueName, u32)], weights: &Given<'_, '_>) -> Result<(), Fault> {
    weights.expect_object("an object with the weights of queues")?;
    for member in weights.node.as_object().unwrap_or_default() {
        let place = Place::Member(&weights.place, &member.name);
        let queue = queues.iter_mut().find(|(name, _)| name.as_str() == member.name);
        let (_, weight) = queue.ok_or_else(|| Fault::new(place, "is not a queue of the pool"))?;
        *weight = read_weight(&Given { node: &member.node, place })?;
    }
    Ok(())
}
