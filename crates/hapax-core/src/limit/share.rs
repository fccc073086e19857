//! Fair shares: who goes before whom among jobs that wait in one queue and belong to different keys.

/// How a job shares its queue with those of other keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Share {
    /// First come, first served.
    #[default]
    Line,
    /// Keys take turns, however many jobs each of them has.
    Fair,
}

impl Share {
    /// All of them.
    pub const ALL: [Share; 2] = [Share::Line, Share::Fair];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Share::Line => "line",
            Share::Fair => "fair",
        }
    }
}

/// The turn that goes with a number. It is even: whoever drew the number has it alone, and the odd one behind it is for those
/// who join, in the order of acceptance.
pub const fn turn_of(number: u64) -> u64 {
    number * 2
}

/// The first turn behind all of these.
pub const fn turn_behind(last: u64) -> u64 {
    (last | 1) + 1
}

/// The turn of a job that shares fairly, among the jobs of its queue and priority that wait with turns before `drawn`, the one
/// that it would have as the last in line.
///
/// - `last` is the highest turn of a job with the same key,
/// - `front` the lowest of a job that may start,
/// - `next` the lowest above a given one.
///
/// It joins another: a key has one job with each of those who drew their turns. The first of a key joins the front, unless who
/// drew that turn has left: else those who come one at a time would be let in there forever, and whoever has many would
/// starve behind them. Only the order of turns counts, not how far apart they are, so that it is the same in every engine,
/// whoever else draws numbers meanwhile.
pub fn fair_turn(
    drawn: u64,
    last: Option<u64>,
    front: Option<u64>,
    next: impl FnOnce(u64) -> Option<u64>,
) -> u64 {
    let joined = match (last, front) {
        (None, Some(front)) if front.is_multiple_of(2) => Some(front),
        (Some(behind), _) | (None, Some(behind)) => next(behind | 1),
        (None, None) => None,
    };
    joined.map(|turn| turn | 1).filter(|turn| *turn < drawn).unwrap_or(drawn)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    /// A line of jobs, each with a turn, a number in the order of acceptance, and a key unless it does not share fairly.
    #[derive(Default)]
    struct Line {
        jobs: BTreeSet<(u64, u64, Option<char>)>,
        number: u64,
    }

    impl Line {
        /// One job after the other, by the names of their keys; `-` for one that has none.
        fn of(names: &str) -> Line {
            let mut line = Line::default();
            names.chars().for_each(|name| line.join(name));
            line
        }

        fn join(&mut self, name: char) {
            // Others draw numbers as well.
            self.number += 1 + self.number % 3;
            let key = Some(name).filter(|name| *name != '-');
            let turns = |wanted: Option<char>| {
                let jobs = self.jobs.iter().filter(move |(.., key)| wanted.is_none() || *key == wanted);
                jobs.map(|(turn, ..)| *turn)
            };
            let next = |after| turns(None).find(|turn| *turn > after);
            let drawn = turn_of(self.number);
            let turn = match key {
                Some(_) => fair_turn(drawn, turns(key).max(), turns(None).min(), next),
                None => drawn,
            };
            self.jobs.insert((turn, self.number, key));
        }

        fn take(&mut self) -> Option<char> {
            self.jobs.pop_first().map(|(.., key)| key.unwrap_or('-'))
        }

        fn order(mut self) -> String {
            std::iter::from_fn(|| self.take()).collect()
        }
    }

    #[test]
    fn keys_take_turns_however_many_jobs_one_of_them_has() {
        assert_eq!(Line::of("aaaaaabbb").order(), "abababaaa");
        assert_eq!(Line::of("aaaabbbbcc").order(), "abcabcabab");
        assert_eq!(Line::of("abcabcabc").order(), "abcabcabc");
        assert_eq!(Line::of("aabbbbbbaa").order(), "ababbababb");
        assert_eq!(Line::of("aaaa").order(), "aaaa");
    }

    #[test]
    fn those_that_do_not_share_keep_the_places_that_they_came_with() {
        assert_eq!(Line::of("----aa").order(), "-a-a--", "all of them together are like one key");
        assert_eq!(Line::of("aa-").order(), "aa-");
        assert_eq!(Line::of("aaa--b").order(), "abaa--");
    }

    #[test]
    fn a_fair_turn_is_never_behind_the_one_that_was_drawn() {
        let mut line = Line::default();
        for round in 0..500_u32 {
            line.join(['a', 'b', 'c', '-'][(round.wrapping_mul(2_654_435_769) >> 13) as usize % 4]);
            assert!(line.jobs.iter().all(|(turn, number, _)| *turn <= turn_of(*number)));
            if round % 3 == 0 {
                line.take();
            }
        }
        assert_eq!(fair_turn(4, Some(3), Some(1), |_| Some(8)), 4);
    }

    #[test]
    fn nobody_has_a_turn_that_another_drew() {
        assert_eq!((turn_of(1), turn_behind(0), turn_behind(2), turn_behind(3)), (2, 2, 4, 4));
        assert_eq!(fair_turn(8, None, Some(2), |_| None), 3);
    }

    #[test]
    fn jobs_of_a_key_stay_in_order() {
        let mut line = Line::of("aaaabbb-aab-bba-aaab");
        let mut last: BTreeMap<char, u64> = BTreeMap::new();
        while let Some((_, number, key)) = line.jobs.pop_first() {
            assert!(last.insert(key.unwrap_or('-'), number) < Some(number));
        }
    }

    #[test]
    fn whoever_has_many_is_not_starved_by_those_who_come_back_as_soon_as_they_were_served() {
        let mut line = Line::of("aaaaaaaaaabc");
        let next = |_| {
            let name = line.take()?;
            if name != 'a' {
                line.join(name);
            }
            Some(name)
        };
        assert_eq!((0..15).filter_map(next).collect::<String>(), "abcabcabcabcabc");
    }

    #[test]
    fn nor_by_those_who_come_once_each() {
        let mut line = Line::of("aaaaaaaaaaaaaaaaaaaa");
        let newcomer = |number: u8| char::from(b'A' + number);
        let mut taken = String::new();
        for round in 0..20 {
            line.join(newcomer(round));
            taken.extend(line.take());
        }
        assert_eq!(taken, "aAaBCaDEFaGHIJaKLMNO", "one in each round of all who are there");
    }
}
