//! Runs a cluster until its input ends, for a look at PostgreSQL by hand and for the tests that kill it.

use std::io::{self, Write as _};

use hapax_pg_cluster::Cluster;

fn main() -> io::Result<()> {
    let url = Cluster::shared().url("postgres");
    writeln!(io::stdout(), "{url}")?;
    io::copy(&mut io::stdin().lock(), &mut io::sink())?;
    Ok(())
}
