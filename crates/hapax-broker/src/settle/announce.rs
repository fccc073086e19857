//! Telling of what is no change in the store: what workers say, what a request about many jobs came to.

use hapax_store::{Action, Edit};

use crate::events::Unnumbered;
use crate::{Broker, Error};

impl Broker {
    /// Puts events into the log, and has them sent to those who subscribed to them. Their deliveries are stored right after,
    /// not with what happened: there is no commit to be part of. A crash in between loses them.
    pub(crate) fn announce(&self, events: Vec<Unnumbered>) {
        if events.is_empty() {
            return;
        }
        let (ticket, letters) = self.shared.events.in_turn(|| self.shared.outbox.letters_about(&events));
        if letters.is_empty() {
            ticket.publish(events);
            return;
        }
        ticket.publish(events.clone());
        let actions = letters.into_iter().map(|(key, written)| {
            let edit = Edit::new(move |_| Ok(Some(written.clone())));
            Action::Edit { key, edit }
        });
        let (broker, actions) = (self.clone(), actions.collect());
        self.shared.orphans.adopt(async move {
            match broker.commit(broker.now(), actions).await {
                Ok(_) => broker.shared.outbox.expect_mail(&events),
                Err(error) => lost(&error),
            }
        });
    }
}

fn lost(error: &Error) {
    tracing::warn!(%error, "what was to be told by webhooks was not stored");
}
