//! The holders of one key that live, or that ended in one state: nearly always one, sometimes thousands.

use std::collections::BTreeMap;
use std::ops::Bound;

use hapax_core::StateSet;
use hapax_core::unique::{Anchor, Holder, Watch};

use super::mark::{Mark, Place};
use super::orders::{Order, Orders};

/// Holders by age. `Many` has at least two, so that equal sets are equal.
#[derive(Debug, PartialEq)]
pub(super) enum Holders {
    None,
    One(Place, Mark),
    Many(Many),
}

#[derive(Debug, PartialEq)]
pub(super) struct Many {
    by_age: BTreeMap<Place, Mark>,
    /// Kept if there are more than [`FEW_MAX`].
    orders: Option<Box<Orders>>,
}

/// So many are looked through one by one.
const FEW_MAX: usize = 8;

impl Holders {
    /// Adds a holder, or marks it anew.
    pub(super) fn insert(&mut self, place: Place, mark: Mark) {
        match self {
            Holders::None => *self = Holders::One(place, mark),
            Holders::One(same, old) if *same == place => *old = mark,
            Holders::One(other, old) => {
                let by_age = BTreeMap::from([(*other, *old), (place, mark)]);
                *self = Holders::Many(Many { by_age, orders: None });
            }
            Holders::Many(many) => many.insert(place, mark),
        }
    }

    pub(super) fn remove(&mut self, place: Place) -> &Holders {
        match self {
            Holders::One(same, _) if *same == place => *self = Holders::None,
            Holders::Many(many) => {
                many.remove(place);
                if many.by_age.len() == 1
                    && let Some((place, mark)) = many.by_age.pop_first()
                {
                    *self = Holders::One(place, mark);
                }
            }
            Holders::None | Holders::One(..) => {}
        }
        self
    }

    pub(super) fn is_empty(&self) -> bool {
        matches!(self, Holders::None)
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Holders::None => 0,
            Holders::One(..) => 1,
            Holders::Many(many) => many.by_age.len(),
        }
    }

    /// All that `covers` says yes to, or of each state the newest, as the watch wants it.
    pub(super) fn live(&self, watch: Watch, mut covers: impl FnMut(Holder) -> bool) -> Vec<(Place, Mark)> {
        let mut covers = |(place, mark): &(Place, Mark)| covers(mark.holder(*place));
        let Holders::Many(Many { by_age, orders: Some(orders) }) = self else {
            let mut met = StateSet::NONE;
            let few = self.before(None).filter(covers);
            let is_wanted = |(_, mark): &(Place, Mark)| {
                let is_first = !met.contains(mark.state());
                met = met.with(mark.state());
                watch.every_live || is_first
            };
            return few.filter(is_wanted).collect();
        };
        let mut covered = Vec::new();
        for state in watch.states.iter() {
            let places = orders.live(state).iter().rev();
            let alike = places.filter_map(|place| by_age.get(place).map(|mark| (*place, *mark)));
            let most = if watch.every_live { usize::MAX } else { 1 };
            match watch.period.map(|_| watch.period_from) {
                // What is older has an older window.
                Some(Anchor::CreatedAt) => covered.extend(alike.take_while(&mut covers).take(most)),
                Some(Anchor::ScheduledAt | Anchor::FinishedAt) | None => {
                    covered.extend(alike.filter(&mut covers).take(most));
                }
            }
        }
        covered
    }

    /// The newest that `covers` says yes to, among those before a place.
    pub(super) fn newest(
        &self,
        windows: Option<Anchor>,
        before: Option<Place>,
        covers: &mut impl FnMut(Holder) -> bool,
    ) -> Option<(Place, Mark)> {
        if let Holders::Many(Many { by_age, orders: Some(orders) }) = self
            && let Some(order) = windows.and_then(|anchor| orders.ended(anchor))
        {
            return newest_open(by_age, order, before, covers);
        }
        for (place, mark) in self.before(before) {
            if covers(mark.holder(place)) {
                return Some((place, mark));
            }
            // Those that have ended are alike in state, and what is older has an older window.
            if mark.state().is_terminal() && windows == Some(Anchor::CreatedAt) {
                return None;
            }
        }
        None
    }

    /// Those before a place or all of them, newest first.
    fn before(&self, end: Option<Place>) -> impl Iterator<Item = (Place, Mark)> {
        let (one, many) = match self {
            Holders::None => (None, None),
            Holders::One(place, mark) => {
                (Some((*place, *mark)).filter(|_| end.is_none_or(|end| *place < end)), None)
            }
            Holders::Many(many) => (None, Some(range(&many.by_age, end))),
        };
        one.into_iter().chain(many.into_iter().flatten())
    }
}

impl Many {
    fn insert(&mut self, place: Place, mark: Mark) {
        let old = self.by_age.insert(place, mark);
        match &mut self.orders {
            Some(orders) => {
                if let Some(old) = old {
                    orders.remove(place, old);
                }
                orders.insert(place, mark);
            }
            None if self.by_age.len() > FEW_MAX => {
                self.orders = Some(Box::new(self.by_age.iter().collect()));
            }
            None => {}
        }
    }

    fn remove(&mut self, place: Place) {
        let old = self.by_age.remove(&place);
        if self.by_age.len() <= FEW_MAX {
            self.orders = None;
        }
        if let (Some(old), Some(orders)) = (old, &mut self.orders) {
            orders.remove(place, old);
        }
    }
}

/// Two ways lead to the newest holder whose window is open: from the newest down until one is open, and through all
/// that are open, which stand last in the order of their moments. Either can be long, both hardly ever: jobs that
/// were created later mostly ended later. So both are gone step by step, and the one that arrives first answers.
fn newest_open(
    by_age: &BTreeMap<Place, Mark>,
    order: &Order,
    before: Option<Place>,
    covers: &mut impl FnMut(Holder) -> bool,
) -> Option<(Place, Mark)> {
    let mut from_newest = range(by_age, before);
    let mut from_last = order.iter().rev().filter_map(|(_, place)| by_age.get_key_value(place));
    let mut newest: Option<(Place, Mark)> = None;
    loop {
        let Some((place, mark)) = from_last.next().filter(|(place, mark)| covers(mark.holder(**place)))
        else {
            return newest;
        };
        let is_newest = newest.is_none_or(|(newest, _)| newest < *place);
        if is_newest && before.is_none_or(|before| *place < before) {
            newest = Some((*place, *mark));
        }
        let next = from_newest.next()?;
        if covers(next.1.holder(next.0)) {
            return Some(next);
        }
    }
}

/// Newest first.
fn range(by_age: &BTreeMap<Place, Mark>, end: Option<Place>) -> impl Iterator<Item = (Place, Mark)> {
    let end = end.map_or(Bound::Unbounded, Bound::Excluded);
    by_age.range((Bound::Unbounded, end)).rev().map(|(place, mark)| (*place, *mark))
}
