//! The known name that a mistyped one was probably meant to be.

/// Longer names are not compared: nobody mistypes so many letters by accident.
const LENGTH_MAX: usize = 40;

/// So many letters of a name are enough to know it by its beginning.
const BEGINNING_MIN: usize = 4;

/// The nearest of the known names, if it is near at all; case does not count.
pub fn nearest<'k>(found: &str, known: &[&'k str]) -> Option<&'k str> {
    if found.len() > LENGTH_MAX {
        return None;
    }
    let found = found.to_lowercase();
    let is_beginning = |name: &str| found.len() >= BEGINNING_MIN && name.to_lowercase().starts_with(&found);
    let mut beginnings = known.iter().filter(|name| is_beginning(name));
    if let (Some(name), None) = (beginnings.next(), beginnings.next()) {
        return Some(name);
    }
    let near = known.iter().map(|name| (distance(&found, &name.to_lowercase()), *name)).min()?;
    // A third of the letters may be wrong, and one always.
    (near.0 <= 1.max(near.1.len() / 3)).then_some(near.1)
}

/// How many letters have to be added, left out, changed or swapped with their neighbour.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    // Three rows of the usual table: a swap looks back two.
    let mut before: Vec<usize> = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let changed = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = changed.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_errors_find_their_name() {
        let known = ["keys", "args_keys", "meta_keys", "period", "states", "on_conflict"];
        for (found, meant) in [
            ("key", "keys"),
            ("arg_keys", "args_keys"),
            ("argskeys", "args_keys"),
            ("Period", "period"),
            ("sattes", "states"),
            ("onConflict", "on_conflict"),
            ("on_conflcit", "on_conflict"),
            ("on_c", "on_conflict"),
        ] {
            assert_eq!(nearest(found, &known), Some(meant), "{found}");
        }
    }

    #[test]
    fn case_does_not_count() {
        assert_eq!(nearest("FBE", &["JAN", "FEB"]), Some("FEB"));
        assert_eq!(nearest("EUROPE/BERLN", &["Europe/Dublin", "Europe/Berlin"]), Some("Europe/Berlin"));
    }

    #[test]
    fn other_words_find_nothing() {
        for found in ["", "ttl", "while_active", &"k".repeat(1000)] {
            assert_eq!(nearest(found, &["period", "states", "on_conflict"]), None, "{found}");
        }
    }
}
