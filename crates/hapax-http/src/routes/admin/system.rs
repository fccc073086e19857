//! `/ojs/v1/admin/system`: how the server is set up, and maintenance.

use crate::call::Call;
use crate::from_wire::{self, MaintenanceWish};
use crate::problem::Problem;
use crate::reply::Reply;
use crate::to_wire::{maintenance, system};

/// How the server is set up.
pub(crate) async fn config(call: Call) -> Result<Reply, Problem> {
    Ok(Reply::ok(system::config(&call.shared)))
}

/// Whether there is maintenance.
pub(crate) async fn show_maintenance(call: Call) -> Result<Reply, Problem> {
    Ok(Reply::ok(maintenance::state(call.broker().maintenance().as_ref())))
}

/// Begins or ends it.
pub(crate) async fn set_maintenance(call: Call) -> Result<Reply, Problem> {
    let wish = {
        let body = from_wire::read(&call.body.bytes)?;
        from_wire::maintenance(&body)?
    };
    match wish {
        MaintenanceWish::On { reason, estimate } => drop(call.broker().begin_maintenance(reason, estimate)),
        MaintenanceWish::Off => call.broker().end_maintenance(),
    }
    show_maintenance(call).await
}
