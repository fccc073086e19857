//! From each kind of store to each.

use crate::carry::{Place, home, lines, same, stop};
use crate::world::World;

#[test]
fn a_folder_moves_to_postgresql_and_to_a_folder_again_and_everything_goes_on() {
    let home = home();
    let (first, second) = (home.path().join("1.ndjson"), home.path().join("2.ndjson"));
    let (old, new) = (Place::Folder(home.path().join("old")), Place::database());
    let server = old.serve();
    let world = World::make(&mut server.client());
    stop(server);
    let exported = old.export(&first);
    same(&exported, &new.import(&first));
    same(&exported, &new.export(&second));
    assert_eq!(lines(&first), lines(&second));
    let server = new.serve();
    world.is_there(&mut server.client());
    // A database is exported while its servers go on.
    same(&exported, &new.export(&second));
    stop(server);
    let back = Place::Folder(home.path().join("back"));
    same(&exported, &back.import(&second));
    for place in [new, back] {
        let server = place.serve();
        world.is_there(&mut server.client());
        world.goes_on(&mut server.client());
    }
}

#[test]
fn a_store_moves_to_another_of_its_kind() {
    let home = home();
    let file = home.path().join("jobs.ndjson");
    for [old, new] in [
        [Place::Folder(home.path().join("old")), Place::Folder(home.path().join("new"))],
        [Place::database(), Place::database()],
    ] {
        let server = old.serve();
        let world = World::make(&mut server.client());
        stop(server);
        let exported = old.export(&file);
        same(&exported, &new.import(&file));
        let server = new.serve();
        world.is_there(&mut server.client());
        world.goes_on(&mut server.client());
    }
}
