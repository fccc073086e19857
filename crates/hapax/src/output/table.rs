//! Rows in columns, and facts behind their names.

/// Space between two columns.
const GAP: &str = "  ";

/// A table that is printed in one or several parts. Columns never become narrower, so that later parts stand under
/// earlier ones.
#[derive(Debug)]
pub(crate) struct Table {
    /// What is not printed yet, the head at first.
    rows: Vec<Vec<String>>,
    widths: Vec<usize>,
}

impl Table {
    /// A table with this head. The last column is for free text: what stands in it may have any width.
    pub(crate) fn new(head: &[&'static str]) -> Table {
        let mut table = Table { rows: Vec::new(), widths: vec![0; head.len()] };
        table.row(head.iter().map(|name| (*name).to_owned()).collect());
        table
    }

    /// One more row.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        for (width, cell) in self.widths.iter_mut().zip(&cells) {
            // What is in columns is ASCII by the rules of its names, or padding would have to know how wide a
            // terminal draws each character.
            *width = (*width).max(cell.chars().count());
        }
        self.rows.push(cells);
    }

    /// The lines that were not taken yet.
    pub(crate) fn take_lines(&mut self) -> String {
        let mut lines = String::new();
        for row in std::mem::take(&mut self.rows) {
            let cells = row.iter().zip(&self.widths).map(|(cell, width)| format!("{cell:width$}"));
            lines.push_str(cells.collect::<Vec<_>>().join(GAP).trim_end());
            lines.push('\n');
        }
        lines
    }
}

/// Facts under each other, each behind its name.
pub(crate) fn facts(facts: &[(&str, String)]) -> String {
    let width = facts.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let line = |(name, fact): &(&str, String)| format!("{GAP}{name:width$}{GAP}{fact}\n");
    facts.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cells: [&str; 3]) -> Vec<String> {
        cells.map(str::to_owned).to_vec()
    }

    #[test]
    fn columns_stand_under_each_other() {
        let mut table = Table::new(&["JOB", "STATE", "WHY"]);
        table.row(row(["1", "available", "it is early"]));
        table.row(row(["1234", "", ""]));
        assert_eq!(table.take_lines(), "JOB   STATE      WHY\n1     available  it is early\n1234\n");
    }

    #[test]
    fn facts_stand_behind_their_names() {
        let text = facts(&[("key", "ab".into()), ("canonical", "{}".into())]);
        assert_eq!(text, "  key        ab\n  canonical  {}\n");
    }

    #[test]
    fn a_later_part_keeps_the_columns_and_has_no_head() {
        let mut table = Table::new(&["A", "B", "C"]);
        table.row(row(["12345", "x", "y"]));
        table.take_lines();
        assert_eq!(table.take_lines(), "");
        table.row(row(["1", "x", "y"]));
        assert_eq!(table.take_lines(), "1      x  y\n");
    }
}
