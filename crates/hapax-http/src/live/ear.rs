//! What a stream waits for: that its bell rings, and then that its turn comes.

use hapax_broker::Bell;

use super::StreamPlace;
use super::pace::{Number, Pace, Turn};

/// What a stream waits for.
pub(crate) struct Ear {
    place: StreamPlace,
    bell: Bell,
    /// Its number, if it waits for a turn.
    number: Option<Number>,
}

/// Why a stream reads, or does not any more.
pub(crate) enum Called {
    /// There may be something to tell, and it is the turn of this stream.
    ToRead(Turn),
    /// The server stops.
    ToEnd,
}

impl Ear {
    /// Waits for the bell.
    pub(crate) fn new(place: StreamPlace, bell: Bell) -> Ear {
        Ear { place, bell, number: None }
    }

    /// Waits. May be dropped half-way: a ring is not missed, and the number is kept.
    pub(crate) async fn called(&mut self) -> Called {
        let Ear { place, bell, number } = self;
        if number.is_none() {
            tokio::select! {
                () = place.closed() => return Called::ToEnd,
                () = bell.rung() => {}
            }
        }
        let drawn = number.get_or_insert_with(|| place.pace().draw());
        let turn = tokio::select! {
            biased;
            // Nobody waits for others to say the last words.
            () = place.closed() => return Called::ToEnd,
            turn = drawn.turn() => turn,
        };
        *number = None;
        Called::ToRead(turn)
    }

    /// Asks for a turn without a ring.
    pub(crate) fn read_on(&mut self) {
        let Ear { place, number, .. } = self;
        number.get_or_insert_with(|| place.pace().draw());
    }

    /// Whether streams have to end.
    pub(crate) fn is_closing(&self) -> bool {
        self.place.is_closing()
    }

    /// The pace of all streams, for what is done without a turn.
    pub(crate) fn pace(&self) -> &Pace {
        self.place.pace()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::super::Streams;
    use super::*;

    /// Ears of one server, of which the second wants to read.
    fn ears(streams: &Streams) -> [Ear; 2] {
        let mut ears = [(); 2].map(|()| Ear::new(streams.enter().unwrap(), Bell::default()));
        ears[1].read_on();
        ears
    }

    #[tokio::test(start_paused = true)]
    async fn it_rests_until_the_bell_rings_or_there_is_more() {
        let streams = Streams::new(2);
        let [mut ear, _] = ears(&streams);
        assert!(timeout(Duration::from_hours(1), ear.called()).await.is_err(), "no bell rang");
        ear.read_on();
        assert!(matches!(ear.called().await, Called::ToRead(_)));
    }

    #[tokio::test(start_paused = true)]
    async fn who_does_something_else_meanwhile_keeps_its_number() {
        let streams = Streams::new(2);
        let [mut first, mut second] = ears(&streams);
        first.read_on();
        first.pace().rest(Duration::from_secs(5));
        for _ in 0..100 {
            let waited = timeout(Duration::from_millis(10), first.called()).await;
            assert!(waited.is_err(), "others have told so much that nobody has a turn soon");
        }
        let number = first.number.as_ref().map(|number| format!("{number:?}"));
        let waited = timeout(Duration::from_millis(10), second.called()).await;
        assert!(waited.is_err() && number.is_some());
        assert_eq!(first.number.as_ref().map(|number| format!("{number:?}")), number);
        assert!(matches!(first.called().await, Called::ToRead(_)));
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_waits_for_a_turn_to_hear_of_the_end() {
        let streams = Streams::new(2);
        let [mut resting, mut waiting] = ears(&streams);
        waiting.pace().rest(Duration::from_secs(5));
        streams.close();
        assert!(matches!(resting.called().await, Called::ToEnd));
        assert!(matches!(waiting.called().await, Called::ToEnd));
    }
}
