//! Entries that whoever takes requests reads and writes itself: schemas and pools. The broker only keeps them.

use std::sync::Arc;

use hapax_core::Refusal;
use hapax_store::{Edit, Entry, EntryKey, EntryPage, EntryQuery, Register, Written};

use crate::{Broker, Error};

impl Broker {
    /// Makes an entry; refused if there is one of that name.
    pub async fn make_entry(&self, key: EntryKey, body: Arc<str>) -> Result<(), Error> {
        let its_key = key.clone();
        let edit = Edit::new(move |before: Option<&Written>| match before {
            Some(_) => Err(its_key.taken()),
            None => Ok(Some(Written { body: Arc::clone(&body), due_at: None })),
        });
        self.edit(self.now(), key, edit).await.map(|_| ())
    }

    /// Makes an entry or writes it anew; refused if it is new and there are as many as there may be. Whether it is new.
    pub async fn put_entry(&self, key: EntryKey, body: Arc<str>, max: usize) -> Result<bool, Error> {
        // One at a time, so that those who come together count each other.
        let _turn = self.shared.making.lock().await;
        if self.entry(key.clone()).await?.is_none() {
            self.expect_room(key.register, max).await?;
        }
        let edit = Edit::new(move |_| Ok(Some(Written { body: Arc::clone(&body), due_at: None })));
        let (_, was_there) = self.edit(self.now(), key, edit).await?;
        Ok(!was_there)
    }

    /// Removes an entry; refused if there is none of that name.
    pub async fn remove_entry(&self, key: EntryKey) -> Result<(), Error> {
        let its_key = key.clone();
        let edit = Edit::new(move |before| if before.is_some() { Ok(None) } else { Err(its_key.missing()) });
        self.edit(self.now(), key, edit).await.map(|_| ())
    }

    /// The entry of that name.
    pub async fn entry(&self, key: EntryKey) -> Result<Option<Entry>, Error> {
        Ok(self.shared.store.entry(key).await?)
    }

    /// Entries of a register by name.
    pub async fn entries(
        &self,
        register: Register,
        after: Option<Arc<str>>,
        limit: usize,
    ) -> Result<EntryPage, Error> {
        let query = EntryQuery { register, prefix: "".into(), after, limit };
        Ok(self.shared.store.entries(query).await?)
    }

    /// What readable entries say. Whoever asks for one of the others by its name is told; a list goes on without it.
    pub(crate) fn read_all<T>(entries: &[Entry], read: impl Fn(&Entry) -> Result<T, Error>) -> Vec<T> {
        let told = |error| tracing::error!(%error, "a list leaves out what cannot be read");
        entries.iter().filter_map(|entry| read(entry).map_err(told).ok()).collect()
    }

    /// Refuses one more entry in a register that is full. Servers that share a database do not wait for each other: each may
    /// let in the last one.
    pub(crate) async fn expect_room(&self, register: Register, max: usize) -> Result<(), Error> {
        let total = self.entries(register, None, 1).await?.total;
        if usize::try_from(total).is_ok_and(|total| total < max) {
            return Ok(());
        }
        Err(Refusal::RegisterFull { register: register.name(), max }.into())
    }

    /// Whether others may change what is stored without this broker.
    pub fn is_shared(&self) -> bool {
        self.shared.store.is_shared()
    }
}

#[cfg(test)]
mod tests {
    use hapax_core::Refusal;
    use hapax_core::limit::LimitKey;
    use hapax_core::workflow::WorkflowId;
    use hapax_store::{EntryKey, Register, StoreError, cron, limit, settings, workflow};

    use crate::testing::{queue, rig, settle};
    use crate::{EntryPart, Error};

    #[tokio::test(start_paused = true)]
    async fn an_entry_is_made_once_and_removed_once() {
        let broker = rig().broker;
        let key = EntryKey::new(Register::Schema, "a");
        broker.make_entry(key.clone(), "1".into()).await.unwrap();
        let again = broker.make_entry(key.clone(), "2".into()).await.unwrap_err();
        assert!(matches!(again, Error::Refused(Refusal::EntryTaken { .. })), "{again:?}");
        let kept = broker.entry(key.clone()).await.unwrap().unwrap();
        assert_eq!(&*kept.written.body, "1");
        broker.remove_entry(key.clone()).await.unwrap();
        let gone = broker.remove_entry(key).await.unwrap_err();
        assert!(matches!(gone, Error::Refused(Refusal::NoEntry { .. })), "{gone:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn an_entry_that_is_put_is_new_once_and_listed() {
        let broker = rig().broker;
        for (name, is_new) in [("b", true), ("a", true), ("b", false)] {
            let put = broker.put_entry(EntryKey::new(Register::Pool, name), "{}".into(), 2).await.unwrap();
            assert_eq!(put, is_new, "{name}");
        }
        let page = broker.entries(Register::Pool, None, 10).await.unwrap();
        let names: Vec<&str> = page.entries.iter().map(|entry| &*entry.key.name).collect();
        assert_eq!(names, ["a", "b"]);
    }

    #[tokio::test(start_paused = true)]
    async fn what_cannot_be_read_is_named_and_not_taken_for_absent() {
        let broker = rig().broker;
        let (queue, id) = (queue("mail"), WorkflowId::new(broker.now(), [7; 10]));
        let damage = [
            (settings::key("mail"), "the entry \"mail\" of the register \"queue\" is damaged"),
            (cron::key("nightly"), "the entry \"nightly\" of the register \"cron\" is damaged"),
            (limit::key(&LimitKey::of_queue(&queue)), "of the register \"limit\" is damaged"),
            (workflow::key(id), "of the register \"workflow\" is damaged"),
        ];
        for (key, _) in &damage {
            broker.make_entry(key.clone(), "?".into()).await.unwrap();
        }
        let told = [
            broker.queue_settings("mail").await.map(drop),
            broker.cron("nightly").await.map(drop),
            broker.queue_limit(&queue).await.map(drop),
            broker.workflow(id).await.map(drop),
        ];
        for (told, (_, named)) in told.into_iter().zip(damage) {
            let Err(Error::Store(error @ StoreError::Damaged { .. })) = told else { panic!("{told:?}") };
            assert!(error.to_string().ends_with(named), "{error}");
        }
        let all = EntryPart { limit: 9, ..EntryPart::default() };
        assert_eq!(broker.crons(all.clone(), None).await.unwrap().crons, [], "a list goes on without it");
        assert_eq!(broker.workflows(all, None).await.unwrap().workflows, []);
    }

    #[tokio::test(start_paused = true)]
    async fn of_many_who_put_entries_at_once_no_more_are_let_in_than_there_is_room_for() {
        let rig = rig();
        rig.store.hold();
        let put = |name: String| {
            let broker = rig.broker.clone();
            let key = EntryKey::new(Register::Pool, name);
            tokio::spawn(async move { broker.put_entry(key, "{}".into(), 5).await })
        };
        let asked: Vec<_> = (0..20).map(|number| put(number.to_string())).collect();
        settle().await;
        rig.store.release();
        let mut made = 0;
        for asked in asked {
            match asked.await.unwrap() {
                Ok(is_new) => made += usize::from(is_new),
                Err(Error::Refused(Refusal::RegisterFull { max: 5, .. })) => {}
                Err(other) => panic!("{other:?}"),
            }
        }
        let page = rig.broker.entries(Register::Pool, None, 10).await.unwrap();
        assert_eq!((made, page.total), (5, 5));
        let again = put(page.entries[0].key.name.to_string()).await.unwrap();
        assert!(matches!(again, Ok(false)), "what is there can be written anew: {again:?}");
    }
}
