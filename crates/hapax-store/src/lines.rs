//! Lines: the available jobs of each queue, next one first; and lines within them, for jobs that share a rate limit.
//!
//! Of the jobs of a queue that share a limit only the first can be next, and it is looked at only while there may be room
//! for it. Whoever finds that there is none sets the line aside; whatever may make room brings it back. So neither a
//! thousand limits without room nor a hundred thousand jobs behind one of them are in the way of a claim.

mod share;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet};
use std::ops::Range;

use hapax_core::QueueName;
use hapax_core::limit::LimitKey;

/// A place in line: who goes first, and whose it is.
pub trait Place: Copy + Ord {
    /// Its turn among those of its priority.
    fn turn(self) -> u64;

    /// The first place of the same priority with that turn.
    #[must_use]
    fn at(self, turn: u64) -> Self;

    /// All places of the same priority.
    fn band(self) -> Range<Self> {
        self.at(0)..self.at(u64::MAX)
    }
}

/// All lines.
#[derive(Debug)]
pub struct Lines<P> {
    queues: HashMap<QueueName, Line<P>>,
    gates: HashMap<LimitKey, Gate>,
    /// Queues whose operator limits them.
    limited: HashSet<QueueName>,
    /// Queues in which somebody who waits should look, and how many.
    calls: BTreeMap<QueueName, usize>,
}

/// Where a job stands.
#[derive(Debug, Clone, Copy)]
pub struct Stand<'j, P> {
    /// Its queue.
    pub queue: &'j QueueName,
    /// The limit that it shares.
    pub key: Option<&'j LimitKey>,
    /// Its place in line, if it is available.
    pub place: Option<P>,
    /// Whether it runs.
    pub is_active: bool,
}

#[derive(Debug)]
struct Line<P> {
    plain: BTreeSet<P>,
    /// All that share limits.
    limited: BTreeSet<P>,
    by_key: HashMap<LimitKey, BTreeSet<P>>,
    /// The first of each limit in each priority, if there may be room for it.
    open: BTreeMap<P, LimitKey>,
}

#[derive(Debug, Default)]
struct Gate {
    active: u64,
    /// Queues in which its line is set aside.
    aside: BTreeSet<QueueName>,
    /// Queues in which somebody behind the first was turned away.
    turned_away: BTreeSet<QueueName>,
}

impl<P> Default for Lines<P> {
    fn default() -> Lines<P> {
        Lines {
            queues: HashMap::new(),
            gates: HashMap::new(),
            limited: HashSet::new(),
            calls: BTreeMap::new(),
        }
    }
}

impl<P: Place> Lines<P> {
    /// A job changed, came or went.
    pub fn replace(&mut self, before: Option<Stand<'_, P>>, after: Option<Stand<'_, P>>) {
        self.move_in_line(before, after);
        let runs = |stand: Option<Stand<'_, P>>| stand.is_some_and(|stand| stand.is_active);
        if let Some(stand) = before.filter(|_| runs(before)) {
            // One that runs on elsewhere makes room where it was.
            let is_same = |after: Stand<'_, P>| after.queue == stand.queue && after.key == stand.key;
            self.stop(stand, runs(after) && after.is_some_and(is_same));
        }
        if let Some(key) = after.filter(|_| runs(after)).and_then(|stand| stand.key) {
            self.gates.entry(key.clone()).or_default().active += 1;
        }
    }

    fn move_in_line(&mut self, before: Option<Stand<'_, P>>, after: Option<Stand<'_, P>>) {
        let place = |stand: Option<Stand<'_, P>>| stand.and_then(|stand| stand.place);
        let is_same = |before: Stand<'_, P>, after: Stand<'_, P>| {
            before.queue == after.queue && before.key == after.key && before.place == after.place
        };
        if before.zip(after).is_some_and(|(before, after)| is_same(before, after)) {
            return;
        }
        if let Some((stand, place)) = before.zip(place(before)) {
            self.leave(stand, place);
        }
        if let Some((stand, place)) = after.zip(place(after)) {
            self.enter(stand, place);
        }
    }

    fn enter(&mut self, stand: Stand<'_, P>, place: P) {
        let line = match self.queues.get_mut(stand.queue) {
            Some(line) => line,
            None => self.queues.entry(stand.queue.clone()).or_default(),
        };
        let Some(key) = stand.key else {
            line.plain.insert(place);
            return;
        };
        line.limited.insert(place);
        let same = line.by_key.entry(key.clone()).or_default();
        let (first, head) = (same.first().copied(), same.range(place.band()).next().copied());
        same.insert(place);
        // Who comes first has limits of its own: there may be room for it.
        if first.is_none_or(|first| place < first) {
            self.bring_back(stand.queue, key);
        }
        if head.is_none_or(|head| place < head) {
            self.replace_head(stand.queue, key, head, Some(place));
        }
    }

    fn leave(&mut self, stand: Stand<'_, P>, place: P) {
        let Some(line) = self.queues.get_mut(stand.queue) else { return };
        match stand.key {
            None => {
                line.plain.remove(&place);
                if !line.is_empty() {
                    return;
                }
            }
            Some(key) => {
                line.limited.remove(&place);
                let Some(same) = line.by_key.get_mut(key) else { return };
                let was_first = same.first() == Some(&place);
                let was_head = same.range(place.band()).next() == Some(&place);
                same.remove(&place);
                let (is_last, next) = (same.is_empty(), same.range(place.band()).next().copied());
                if was_first {
                    self.bring_back(stand.queue, key);
                }
                if was_head {
                    self.replace_head(stand.queue, key, Some(place), next);
                }
                if is_last {
                    self.queues.get_mut(stand.queue).map(|line| line.by_key.remove(key));
                    self.gates.get_mut(key).map(|gate| gate.turned_away.remove(stand.queue));
                    self.forget_gate(key);
                } else if was_first {
                    *self.calls.entry(stand.queue.clone()).or_default() += 1;
                }
            }
        }
        if self.queues.get(stand.queue).is_some_and(Line::is_empty) {
            self.queues.remove(stand.queue);
        }
    }

    /// The line of the limit in this queue is not aside any more.
    fn bring_back(&mut self, queue: &QueueName, key: &LimitKey) {
        let Some(gate) = self.gates.get_mut(key) else { return };
        if gate.aside.remove(queue)
            && let Some(line) = self.queues.get_mut(queue)
        {
            line.show(key);
        }
        self.forget_gate(key);
    }

    /// Another is the first of its limit in its priority.
    fn replace_head(&mut self, queue: &QueueName, key: &LimitKey, before: Option<P>, after: Option<P>) {
        let is_aside = self.is_aside(queue, key);
        let Some(line) = self.queues.get_mut(queue) else { return };
        if let Some(before) = before {
            line.open.remove(&before);
        }
        if !is_aside {
            line.open.extend(after.map(|after| (after, key.clone())));
        }
    }

    fn stop(&mut self, stand: Stand<'_, P>, goes_on: bool) {
        if !goes_on && self.limited.contains(stand.queue) {
            *self.calls.entry(stand.queue.clone()).or_default() += 1;
        }
        let Some(key) = stand.key else { return };
        if let Some(gate) = self.gates.get_mut(key) {
            gate.active = gate.active.saturating_sub(1);
        }
        if goes_on {
            self.forget_gate(key);
        } else {
            self.open(key);
        }
    }

    fn forget_gate(&mut self, key: &LimitKey) {
        let is_over = |gate: &Gate| gate.active == 0 && gate.aside.is_empty() && gate.turned_away.is_empty();
        if self.gates.get(key).is_some_and(is_over) {
            self.gates.remove(key);
        }
    }

    /// There may be room for jobs that share this limit.
    pub fn open(&mut self, key: &LimitKey) {
        let Some(gate) = self.gates.get_mut(key) else { return };
        let turned_away = std::mem::take(&mut gate.turned_away);
        for queue in std::mem::take(&mut gate.aside) {
            let Some(line) = self.queues.get_mut(&queue) else { continue };
            if line.show(key) {
                *self.calls.entry(queue).or_default() += 1;
            }
        }
        for queue in turned_away {
            self.calls.entry(queue).or_insert(1);
        }
        self.forget_gate(key);
    }

    /// There is no room for jobs of this queue that share this limit.
    pub fn set_aside(&mut self, queue: &QueueName, key: &LimitKey) {
        let Some(line) = self.queues.get_mut(queue) else { return };
        let heads = line.heads(key);
        if !heads.is_empty() {
            for place in &heads {
                line.open.remove(place);
            }
            self.gates.entry(key.clone()).or_default().aside.insert(queue.clone());
        }
    }

    /// There is no room for the job at that place, which was looked at before its turn. Its limits may be other than those
    /// of the ones before it: only the first sets its line aside.
    pub fn turn_away(&mut self, queue: &QueueName, key: &LimitKey, place: P) {
        let same = self.queues.get(queue).and_then(|line| line.by_key.get(key));
        if same.and_then(BTreeSet::first) == Some(&place) {
            self.set_aside(queue, key);
        } else {
            self.gates.entry(key.clone()).or_default().turned_away.insert(queue.clone());
        }
    }

    /// Whether jobs of this queue that share this limit are not looked at.
    pub fn is_aside(&self, queue: &QueueName, key: &LimitKey) -> bool {
        self.gates.get(key).is_some_and(|gate| gate.aside.contains(queue))
    }

    /// How many jobs that share this limit run.
    pub fn active(&self, key: &LimitKey) -> u64 {
        self.gates.get(key).map_or(0, |gate| gate.active)
    }

    /// Whether the operator limits the queue.
    pub fn is_limited(&self, queue: &QueueName) -> bool {
        !self.limited.is_empty() && self.limited.contains(queue)
    }

    /// Says whether the operator limits the queue.
    pub fn set_limited(&mut self, queue: QueueName, is_limited: bool) {
        if is_limited {
            self.limited.insert(queue);
        } else {
            self.limited.remove(&queue);
        }
    }

    /// There may be room for jobs of this queue.
    pub fn call_all(&mut self, queue: QueueName) {
        self.calls.insert(queue, usize::MAX / 2);
    }

    /// The job whose turn it is.
    pub fn first(&self, queue: &QueueName) -> Option<P> {
        let line = self.queues.get(queue)?;
        let limited = line.open.first_key_value().map(|(place, _)| place);
        line.plain.first().into_iter().chain(limited).min().copied()
    }

    /// The first jobs, next one first; of those that share a limit the first only.
    pub fn first_few(&self, queue: &QueueName, count: usize) -> Vec<P> {
        let Some(line) = self.queues.get(queue).filter(|_| count > 0) else { return Vec::new() };
        let mut seen = HashSet::new();
        let limited = line.open.iter().filter(|(_, key)| seen.insert(*key)).map(|(place, _)| place);
        let mut first: Vec<P> = line.plain.iter().take(count).chain(limited.take(count)).copied().collect();
        first.sort_unstable();
        first.truncate(count);
        first
    }

    /// The first jobs, next one first, whatever they share: for whoever does not take them in turn.
    pub fn first_of_all(&self, queue: &QueueName, count: usize) -> Vec<P> {
        let Some(line) = self.queues.get(queue) else { return Vec::new() };
        let mut seen = HashSet::new();
        // Who stands behind the first of so many limits is too far behind.
        let open = line.open.values().filter(|key| seen.insert(*key)).take(count);
        let limited = open.filter_map(|key| line.by_key.get(key));
        let mut lines: Vec<_> = limited.chain([&line.plain]).map(|line| line.iter().copied()).collect();
        let heads = lines.iter_mut().enumerate();
        let mut heads: BinaryHeap<_> =
            heads.filter_map(|(index, line)| Some(Reverse((line.next()?, index)))).collect();
        let mut first = Vec::new();
        while first.len() < count
            && let Some(Reverse((place, index))) = heads.pop()
        {
            first.push(place);
            heads.extend(lines[index].next().map(|next| Reverse((next, index))));
        }
        first
    }

    /// The last place in line, room for it or not.
    pub fn last(&self, queue: &QueueName) -> Option<P> {
        let line = self.queues.get(queue)?;
        line.plain.last().max(line.limited.last()).copied()
    }

    /// The first from that place on, room for it or not.
    pub fn first_from(&self, queue: &QueueName, from: P) -> Option<P> {
        let line = self.queues.get(queue)?;
        let plain = line.plain.range(from..).next();
        plain.into_iter().chain(line.limited.range(from..).next()).min().copied()
    }

    /// How many jobs wait there.
    pub fn len(&self, queue: &QueueName) -> usize {
        self.queues.get(queue).map_or(0, |line| line.plain.len() + line.limited.len())
    }

    /// Where somebody who waits should look since the last call, and how many.
    pub fn take_calls(&mut self) -> BTreeMap<QueueName, usize> {
        std::mem::take(&mut self.calls)
    }
}

impl<P> Default for Line<P> {
    fn default() -> Line<P> {
        Line {
            plain: BTreeSet::new(),
            limited: BTreeSet::new(),
            by_key: HashMap::new(),
            open: BTreeMap::new(),
        }
    }
}

impl<P: Place> Line<P> {
    /// The first of a limit in each priority.
    fn heads(&self, key: &LimitKey) -> Vec<P> {
        let Some(same) = self.by_key.get(key) else { return Vec::new() };
        let next = |head: &P| same.range(head.band().end..).next().copied();
        std::iter::successors(same.first().copied(), next).collect()
    }

    /// There may be room for those of a limit; whether there are any.
    fn show(&mut self, key: &LimitKey) -> bool {
        let heads = self.heads(key);
        self.open.extend(heads.iter().map(|place| (*place, key.clone())));
        !heads.is_empty()
    }
}

impl<P> Line<P> {
    fn is_empty(&self) -> bool {
        self.plain.is_empty() && self.limited.is_empty()
    }
}

/// Whether the same jobs stand in the same places and as many run. What was set aside is known to whoever looked.
impl<P: PartialEq> PartialEq for Lines<P> {
    fn eq(&self, other: &Lines<P>) -> bool {
        let active = |lines: &Lines<P>| -> BTreeMap<LimitKey, u64> {
            let gates = lines.gates.iter().filter(|(_, gate)| gate.active > 0);
            gates.map(|(key, gate)| (key.clone(), gate.active)).collect()
        };
        let is_same = |(queue, line): (&QueueName, &Line<P>)| {
            other.queues.get(queue).is_some_and(|other| {
                line.plain == other.plain && line.limited == other.limited && line.by_key == other.by_key
            })
        };
        self.queues.len() == other.queues.len()
            && self.queues.iter().all(is_same)
            && active(self) == active(other)
            && self.limited == other.limited
    }
}

#[cfg(test)]
mod tests;
