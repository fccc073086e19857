//! The order of system calls: written, synced, and only then answered.

use e2e::Launch;

use crate::witness::Recording;

#[test]
fn no_success_is_sent_before_its_data_is_on_disk() {
    let Recording { mut server, trace, vows } = Recording::make(8, 0);
    let broken: Vec<String> = vows.iter().filter_map(|vow| trace.judge(&vow.promise).err()).collect();
    assert!(broken.is_empty(), "{} of {} promises broken: {broken:#?}", broken.len(), vows.len());
    let syncs = trace.count(&["fsync", "fdatasync"]);
    eprintln!("{} promises kept by {syncs} syncs", vows.len());
    assert!(syncs > 0);

    server.start_again_as(Launch::embedded());
    let mut client = server.client();
    for (id, state) in vows.iter().flat_map(|vow| &vow.facts) {
        let found = client.state(id);
        assert!(state.is_none_or(|state| state == found), "{id} is {found}, not {state:?}");
    }
}
