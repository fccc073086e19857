//! As much of a `Cargo.toml` as the rules need: its sections, keys and values, line by line.

#[derive(Debug)]
pub(crate) struct Manifest {
    pub(crate) path: String,
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    section: String,
    key: String,
    value: String,
    line: usize,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// Whether its version comes from the workspace.
    pub(crate) is_inherited: bool,
    pub(crate) line: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Normal,
    Dev,
    Build,
}

impl Manifest {
    pub(crate) fn parse(path: &str, text: &str) -> Self {
        let (mut section, mut entries) = ("", Vec::new());
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if let Some(header) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                section = header.trim_matches(['[', ']']);
            } else if let Some((key, value)) = line.split_once('=').filter(|_| !line.starts_with('#')) {
                let (key, value) = (key.trim().to_owned(), value.trim().to_owned());
                entries.push(Entry { section: section.to_owned(), key, value, line: index + 1 });
            }
        }
        Self { path: path.to_owned(), entries }
    }

    pub(crate) fn get(&self, section: &str, key: &str) -> Option<&str> {
        let entry = self.entries.iter().find(|entry| entry.section == section && entry.key == key)?;
        Some(entry.value.trim_matches('"'))
    }

    pub(crate) fn package_name(&self) -> &str {
        self.get("package", "name").unwrap_or(&self.path)
    }

    pub(crate) fn dependencies(&self) -> impl Iterator<Item = Dependency> {
        self.entries.iter().filter_map(Entry::dependency)
    }

    /// What the root offers to its members, with the line of each.
    pub(crate) fn offered(&self) -> impl Iterator<Item = (&str, usize)> {
        let offers = self.entries.iter().filter(|entry| entry.section == "workspace.dependencies");
        offers.map(|entry| (entry.key.as_str(), entry.line))
    }
}

impl Entry {
    /// Both `[dependencies] name.workspace = true` and `[dependencies.name] workspace = true`.
    fn dependency(&self) -> Option<Dependency> {
        let (section, key) = match self.section.rsplit_once('.') {
            Some((section, name)) if kind(section).is_some() => (section, format!("{name}.{}", self.key)),
            _ => (self.section.as_str(), self.key.clone()),
        };
        let kind = kind(section)?;
        let (name, member) = key.split_once('.').unwrap_or((&key, ""));
        let is_inherited = match member {
            "workspace" => self.value == "true",
            "" => self.value.contains("workspace = true"),
            _ => return None,
        };
        Some(Dependency { name: name.to_owned(), kind, is_inherited, line: self.line })
    }
}

fn kind(section: &str) -> Option<Kind> {
    let table = match section.strip_prefix("target.") {
        Some(target) => target.rsplit('.').next()?,
        None => section,
    };
    match table {
        "dependencies" => Some(Kind::Normal),
        "dev-dependencies" => Some(Kind::Dev),
        "build-dependencies" => Some(Kind::Build),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dependencies(text: &str) -> Vec<(String, Kind, bool)> {
        let manifest = Manifest::parse("Cargo.toml", text);
        manifest.dependencies().map(|found| (found.name, found.kind, found.is_inherited)).collect()
    }

    #[test]
    fn every_way_to_inherit_is_recognised() {
        let text = "[dependencies]\na.workspace = true\nb = { workspace = true, features = [\"x\"] }\n\
                    [dev-dependencies.c]\nworkspace = true\n[target.'cfg(unix)'.dependencies]\nd.workspace = true\n";
        let names = ["a", "b", "c", "d"].map(str::to_owned);
        let kinds = [Kind::Normal, Kind::Normal, Kind::Dev, Kind::Normal];
        let expected: Vec<_> = names.into_iter().zip(kinds).map(|(name, kind)| (name, kind, true)).collect();
        assert_eq!(dependencies(text), expected);
    }

    #[test]
    fn a_version_of_its_own_is_not_inherited() {
        assert_eq!(dependencies("[dependencies]\na = \"1\"\n"), [("a".to_owned(), Kind::Normal, false)]);
    }

    #[test]
    fn the_workspace_table_is_no_dependency_of_the_root() {
        let root = Manifest::parse("Cargo.toml", "[workspace.dependencies]\n# all\na = \"1\"\n");
        assert_eq!(root.dependencies().count(), 0);
        assert_eq!(root.offered().collect::<Vec<_>>(), [("a", 3)]);
    }
}
