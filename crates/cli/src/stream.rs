//! A run with one step a line.

use crate::screen::{Screen, clip, pad, width};
use spinor_model::ir::System;
use std::fmt::Write as _;

/// Rows of one step each, for narrow screens and for runs that are shown while they happen.
pub struct Stream {
    name_width: usize,
    screen: Screen,
}

/// Columns of the line number and of the statement in a stream.
const LINE_WIDTH: usize = 5;
const STATEMENT_WIDTH: usize = 34;

impl Stream {
    pub fn new(system: &System, screen: Screen) -> Stream {
        let longest = system.proctypes.iter().map(|t| width(&t.name) + 4).max().unwrap_or(0);
        Stream { name_width: longest.clamp(8, 24), screen }
    }

    pub fn header(&self) -> String {
        let text = format!(" step  {}  {:>LINE_WIDTH$}  statement", pad("process", self.name_width), "line");
        self.screen.paint.bold(&text) + "\n"
    }

    /// `cells` are process, line and statement: one, or two of a handshake.
    pub fn row(
        &self,
        gutter: &str,
        label: &str,
        cells: &[(String, String, String)],
        changes: &[String],
        mark: Option<&str>,
    ) -> String {
        let paint = self.screen.paint;
        let mut out = String::new();
        let mut lines: Vec<String> = Vec::new();
        for (name, line, text) in cells {
            let room = self.screen.width.saturating_sub(self.name_width + LINE_WIDTH + 11 + width(gutter)).max(20);
            let name = pad(&clip_name(name, self.name_width), self.name_width);
            lines.push(format!("{name}  {line:>LINE_WIDTH$}  {}", clip(text, room)));
        }
        let column = self.name_width + LINE_WIDTH + 4 + STATEMENT_WIDTH;
        let told = changes.join(", ");
        let last = lines.len().saturating_sub(1);
        for (i, line) in lines.iter().enumerate() {
            let label = if i == 0 { label } else { "" };
            let _ = write!(out, "{gutter}{label:>5}  ");
            let after = width(&told) + mark.map_or(0, |m| width(m) + 2);
            let fits = width(line) < column && column + after + 8 <= self.screen.width;
            if i < last || told.is_empty() && mark.is_none() {
                out.push_str(line);
            } else if fits {
                out.push_str(&pad(line, column + 1));
                out.push_str(&told);
                if let Some(mark) = mark {
                    let gap = if told.is_empty() { "" } else { "  " };
                    let _ = write!(out, "{gap}{}", paint.bad(mark));
                }
            } else {
                out.push_str(line);
                let room = self.screen.width.saturating_sub(self.name_width + 20).max(20);
                for line in packed(changes, room) {
                    let _ = write!(out, "\n{gutter}{:w$}{line}", "", w = self.name_width + 16);
                }
                if let Some(mark) = mark {
                    let _ = write!(out, "\n{gutter}{:w$}{}", "", paint.bad(mark), w = self.name_width + 16);
                }
            }
            out.truncate(out.trim_end_matches(' ').len());
            out.push('\n');
        }
        out
    }
}

/// As many on a line as there is room for.
fn packed(items: &[String], room: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for item in items {
        let item = clip(item, room);
        match lines.last_mut() {
            Some(line) if width(line) + 2 + width(&item) <= room => line.extend([", ", &item]),
            _ => lines.push(item),
        }
    }
    lines
}

/// The number is what tells processes apart, so it stays.
fn clip_name(name: &str, max: usize) -> String {
    match name.rfind('[') {
        Some(at) => clip(&name[..at], max.saturating_sub(width(&name[at..]))) + &name[at..],
        None => clip(name, max),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_changes_share_lines() {
        let items = ["a: 0 → 1", "b: 0 → 1", "c: 0 → 1"].map(str::to_string);
        assert_eq!(packed(&items, 20), ["a: 0 → 1, b: 0 → 1", "c: 0 → 1"]);
        assert_eq!(packed(&items, 4), ["a: …", "b: …", "c: …"]);
    }
}
