//! A file taken apart line by line into code, comments and string literals.

#[derive(Debug, Default)]
pub(crate) struct Line {
    /// The code, with every string literal emptied and every comment left out.
    pub(crate) code: String,
    /// The comment's text without its slashes.
    pub(crate) comment: Option<Comment>,
    /// The contents of the string literals that begin here.
    pub(crate) literals: Vec<String>,
}

#[derive(Debug)]
pub(crate) struct Comment {
    pub(crate) text: String,
    pub(crate) is_doc: bool,
}

#[derive(Debug)]
pub(crate) struct Source {
    lines: Vec<Line>,
}

impl Source {
    pub(crate) fn rust(text: &str) -> Self {
        let text = text.strip_suffix('\n').unwrap_or(text);
        let mut scanner = Scanner { rest: text, lines: vec![Line::default()] };
        scanner.scan();
        Self { lines: scanner.lines }
    }

    pub(crate) fn sql(text: &str) -> Self {
        let line = |line: &str| match line.split_once("--") {
            Some((code, text)) => {
                let comment = Comment { text: text.to_owned(), is_doc: false };
                Line { code: code.to_owned(), comment: Some(comment), literals: Vec::new() }
            }
            None => Line { code: line.to_owned(), ..Line::default() },
        };
        Self { lines: text.lines().map(line).collect() }
    }

    /// Lines with their numbers, counted from one.
    pub(crate) fn lines(&self) -> impl DoubleEndedIterator<Item = (usize, &Line)> + Clone {
        self.lines.iter().enumerate().map(|(index, line)| (index + 1, line))
    }

    /// The number of the line at which the trailing test module begins, or one past the end.
    pub(crate) fn tests_start(&self) -> usize {
        let opens_module = |line: &Line| line.code.starts_with("mod ") && line.code.trim_end().ends_with('{');
        let at = self
            .lines
            .windows(2)
            .rposition(|pair| pair[0].code.trim() == "#[cfg(test)]" && opens_module(&pair[1]));
        at.map_or(self.lines.len() + 1, |index| index + 1)
    }
}

struct Scanner<'a> {
    rest: &'a str,
    lines: Vec<Line>,
}

impl Scanner<'_> {
    fn scan(&mut self) {
        while let Some(next) = self.rest.chars().next() {
            if self.rest.starts_with("//") {
                self.line_comment();
            } else if self.rest.starts_with("/*") {
                self.block_comment();
            } else if let Some(hashes) = self.raw_string_hashes() {
                self.raw_string(hashes);
            } else if next == '"' {
                self.string();
            } else if next == '\'' {
                self.quote();
            } else {
                self.code(next.len_utf8());
            }
        }
    }

    fn line_comment(&mut self) {
        let end = self.rest.find('\n').unwrap_or(self.rest.len());
        let text = &self.rest[2..end];
        let is_doc = text.starts_with('!') || (text.starts_with('/') && !text.starts_with("//"));
        let text = if is_doc { &text[1..] } else { text }.to_owned();
        self.line().comment = Some(Comment { text, is_doc });
        self.rest = &self.rest[end..];
    }

    fn block_comment(&mut self) {
        let (mut depth, mut end) = (0, 0);
        while let Some(next) = self.rest[end..].chars().next() {
            let ahead = &self.rest[end..];
            depth += i32::from(ahead.starts_with("/*")) - i32::from(ahead.starts_with("*/"));
            end += if ahead.starts_with("/*") || ahead.starts_with("*/") { 2 } else { next.len_utf8() };
            if depth == 0 {
                break;
            }
        }
        let (text, rest) = self.rest.split_at(end);
        let is_doc = text.starts_with("/**") || text.starts_with("/*!");
        for (index, text) in text.split('\n').enumerate() {
            if index > 0 {
                self.lines.push(Line::default());
            }
            let text = text.trim_start().trim_start_matches(['/', '*']).to_owned();
            self.line().comment = Some(Comment { text, is_doc });
        }
        self.rest = rest;
    }

    /// At `r"`, `r#"`, `br##"` and the like, unless the `r` ends an identifier.
    fn raw_string_hashes(&mut self) -> Option<usize> {
        if self.line().code.ends_with(|c: char| c.is_alphanumeric() || c == '_') {
            return None;
        }
        let prefix = ["r", "br", "cr"].into_iter().find_map(|prefix| self.rest.strip_prefix(prefix))?;
        let hashes = prefix.len() - prefix.trim_start_matches('#').len();
        prefix[hashes..].starts_with('"').then_some(hashes)
    }

    fn raw_string(&mut self, hashes: usize) {
        let open = self.rest.find('"').map_or(self.rest.len(), |at| at + 1);
        let close = format!("\"{}", "#".repeat(hashes));
        let end = self.rest[open..].find(&close).map_or(self.rest.len(), |at| open + at);
        self.literal(open, end, end + close.len());
    }

    fn string(&mut self) {
        let mut escaped = false;
        let close = self.rest[1..].char_indices().find(|&(_, c)| {
            let closes = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            closes
        });
        let end = close.map_or(self.rest.len(), |(at, _)| at + 1);
        self.literal(1, end, end + 1);
    }

    fn literal(&mut self, from: usize, to: usize, after: usize) {
        let content = &self.rest[from.min(to)..to];
        let newlines = content.matches('\n').count();
        let content = content.to_owned();
        self.line().literals.push(content);
        self.line().code.push_str("\"\"");
        self.lines.extend(std::iter::repeat_with(Line::default).take(newlines));
        self.rest = self.rest.get(after..).unwrap_or("");
    }

    /// A character literal is emptied like a string; a lifetime is code.
    fn quote(&mut self) {
        let mut ahead = self.rest.chars().skip(1);
        let length = match (ahead.next(), ahead.next()) {
            (Some('\\'), Some(escaped)) => {
                let from = 2 + escaped.len_utf8();
                self.rest[from..].find('\'').map(|at| from + at + 1)
            }
            (Some(c), Some('\'')) => Some(2 + c.len_utf8()),
            _ => None,
        };
        match length {
            Some(length) => {
                self.line().code.push_str("' '");
                self.rest = &self.rest[length..];
            }
            None => self.code(1),
        }
    }

    fn code(&mut self, length: usize) {
        let (code, rest) = self.rest.split_at(length);
        match code {
            "\n" => self.lines.push(Line::default()),
            _ => self.line().code.push_str(code),
        }
        self.rest = rest;
    }

    fn line(&mut self) -> &mut Line {
        if self.lines.is_empty() {
            self.lines.push(Line::default());
        }
        let last = self.lines.len() - 1;
        &mut self.lines[last]
    }
}

#[cfg(test)]
mod tests;
