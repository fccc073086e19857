//! How a cluster of one's own differs from the shared one.

use std::path::Path;

/// Enough for many test threads, each with a pool of connections.
const CONNECTIONS_MAX: u32 = 200;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// Whether what is committed survives a crash. Tests that crash nothing are faster without.
    pub durable: bool,
    /// Further lines for `postgresql.conf`, which win over the lines that are always there.
    pub settings: Vec<String>,
    /// Further variables of the server's environment.
    pub environment: Vec<(String, String)>,
}

impl Options {
    /// What is appended to the `postgresql.conf` of a cluster whose socket is in `folder`.
    pub(crate) fn lines(&self, folder: &Path) -> String {
        let quoted = folder.display().to_string().replace('\'', "''");
        let mut lines = vec![
            "listen_addresses = ''".to_owned(),
            format!("unix_socket_directories = '{quoted}'"),
            format!("max_connections = {CONNECTIONS_MAX}"),
            // In the folder, so that a killed server leaves nothing elsewhere.
            "dynamic_shared_memory_type = mmap".to_owned(),
        ];
        if !self.durable {
            lines.extend(
                ["fsync", "synchronous_commit", "full_page_writes"].map(|name| format!("{name} = off")),
            );
        }
        lines.extend(self.settings.iter().cloned());
        format!("\n{}\n", lines.join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_durable_cluster_syncs() {
        let durable = Options { durable: true, ..Options::default() };
        assert!(Options::default().lines(Path::new("f")).contains("\nfsync = off\n"));
        assert!(!durable.lines(Path::new("f")).contains("fsync"));
    }

    #[test]
    fn a_setting_of_the_caller_comes_last_and_wins() {
        let options = Options { settings: vec!["max_connections = 7".to_owned()], ..Options::default() };
        assert!(options.lines(Path::new("f")).ends_with("\nmax_connections = 7\n"));
    }

    #[test]
    fn a_quote_in_the_folder_stays_inside_the_setting() {
        assert!(Options::default().lines(Path::new("it's")).contains("= 'it''s'\n"));
    }
}
