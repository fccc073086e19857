//! Where a database is: a URL that may hold a password, so that it is never shown as it is.

use std::fmt;
use std::str::FromStr;

use tokio_postgres::Config;
use tokio_postgres::config::Host;

/// A database.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseUrl(Box<Config>);

/// A text that names no database.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DatabaseUrlError {
    /// It has another form.
    #[error("not a database URL such as postgres://user@host:5432/name")]
    Form,
}

impl DatabaseUrl {
    pub(crate) fn config(&self) -> &Config {
        &self.0
    }
}

impl FromStr for DatabaseUrl {
    type Err = DatabaseUrlError;

    fn from_str(text: &str) -> Result<Self, DatabaseUrlError> {
        // The parser's own words may quote the text, and with it the password.
        let config: Config = text.parse().map_err(|_| DatabaseUrlError::Form)?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(DatabaseUrlError::Form);
        }
        Ok(DatabaseUrl(Box::new(config)))
    }
}

impl fmt::Display for DatabaseUrl {
    /// Without the password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("postgres://")?;
        if let Some(user) = self.0.get_user() {
            write!(f, "{user}@")?;
        }
        for (index, host) in self.0.get_hosts().iter().enumerate() {
            f.write_str(if index > 0 { "," } else { "" })?;
            match host {
                Host::Tcp(name) => f.write_str(name)?,
                Host::Unix(path) => write!(f, "{}", path.display())?,
            }
            let port = self.0.get_ports().get(index).or(self.0.get_ports().first());
            write!(f, ":{}", port.unwrap_or(&5432))?;
        }
        write!(f, "/{}", self.0.get_dbname().unwrap_or_default())
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_never_shown() {
        let url: DatabaseUrl = "postgres://me:hunter2@db.example:6432/jobs".parse().unwrap();
        assert_eq!(url.to_string(), "postgres://me@db.example:6432/jobs");
        assert_eq!(format!("{url:?}"), url.to_string());
        let error = "postgres://me:hunter2@[db:x/jobs".parse::<DatabaseUrl>().unwrap_err();
        assert!(!format!("{error} {error:?}").contains("hunter2"));
    }

    #[test]
    fn what_names_no_database_is_refused() {
        for text in ["", "jobs", "mysql://a/b", "postgres://", "postgres://host:port/jobs"] {
            assert_eq!(text.parse::<DatabaseUrl>(), Err(DatabaseUrlError::Form), "{text}");
        }
    }
}
