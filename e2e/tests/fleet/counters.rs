//! What happened in a run. A run in which a thing never happened has not tested it.

use std::sync::atomic::{AtomicUsize, Ordering};

macro_rules! counters {
    ($($name:ident),* $(,)?) => {
        /// One counter per thing that must happen sometimes.
        #[derive(Debug, Default)]
        pub(crate) struct Counters {
            $(pub(crate) $name: AtomicUsize,)*
        }

        impl Counters {
            fn all(&self) -> Vec<(&'static str, usize)> {
                vec![$((stringify!($name), self.$name.load(Ordering::Relaxed)),)*]
            }
        }
    };
}

counters![
    answered,
    accepted,
    duplicates,
    replaced,
    unknown,
    unknown_had_happened,
    unknown_had_not_happened,
    resent,
    delivered,
    redelivered,
    lease_lost,
    ended,
    checked,
];

impl Counters {
    pub(crate) fn print(&self) {
        for (name, count) in self.all() {
            eprintln!("{name:>26} {count}");
        }
    }

    #[track_caller]
    pub(crate) fn every_sometimes_happened(&self) {
        // Which way an unknown answer had gone is up to the moment of the fault: a run may see one way only.
        for (name, count) in self.all().into_iter().filter(|(name, _)| !name.starts_with("unknown_had")) {
            assert!(count > 0, "{name} never happened: the run tested less than it says");
        }
    }
}

/// One more.
pub(crate) fn count(counter: &AtomicUsize) {
    counter.fetch_add(1, Ordering::Relaxed);
}
