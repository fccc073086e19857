//! Several clients at once.

use std::panic::resume_unwind;
use std::thread;

/// Runs so many threads of the same work and returns what each came to, in order. A panic of one is a
/// panic of all.
pub fn together<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let work = &work;
    thread::scope(|scope| {
        let threads: Vec<_> = (0..count).map(|number| scope.spawn(move || work(number))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    })
}
