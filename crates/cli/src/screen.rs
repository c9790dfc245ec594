//! What terminals need: colours, widths, text without control characters, a standard output that may close early.

use crate::args::{Color, Options, Usage};
use std::io::{self, IsTerminal, Write};
use std::path::Path;

/// Colours, or none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Paint {
    pub on: bool,
}

impl Paint {
    pub const OFF: Paint = Paint { on: false };

    fn wrap(self, code: &str, text: &str) -> String {
        if self.on { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_string() }
    }

    pub fn bad(self, text: &str) -> String {
        self.wrap("1;31", text)
    }

    pub fn good(self, text: &str) -> String {
        self.wrap("32", text)
    }

    pub fn open(self, text: &str) -> String {
        self.wrap("33", text)
    }

    pub fn bold(self, text: &str) -> String {
        self.wrap("1", text)
    }

    pub fn dim(self, text: &str) -> String {
        self.wrap("2", text)
    }
}

/// How to write to this run's output.
#[derive(Clone, Copy, Debug)]
pub struct Screen {
    pub paint: Paint,
    /// Diagnostics go to the other stream, which may be a terminal when this one is not.
    pub paint_errors: Paint,
    pub width: usize,
}

/// The widest line when nobody says otherwise.
const WIDTH: usize = 120;

impl Screen {
    pub fn new(options: &Options) -> Screen {
        let color = |terminal: bool| Paint {
            on: match options.color {
                Color::Always => true,
                Color::Never => false,
                Color::Auto => {
                    let set = |name| std::env::var_os(name).is_some_and(|v| !v.is_empty());
                    terminal && !set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|t| t != "dumb")
                }
            },
        };
        let columns = || std::env::var("COLUMNS").ok()?.parse().ok().filter(|n| (40..=10_000).contains(n));
        Screen {
            paint: color(io::stdout().is_terminal()),
            paint_errors: color(io::stderr().is_terminal()),
            width: options.width.or_else(columns).unwrap_or(WIDTH),
        }
    }
}

/// Model texts and file names come from strangers: no escape sequence of theirs reaches the terminal.
pub fn printable(text: &str) -> String {
    let hides = |c: char| {
        c.is_control() && c != '\n' && c != '\t'
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars().map(|c| if hides(c) { '\u{fffd}' } else { c }).collect()
}

/// A word as a shell reads it back.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:,@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_string();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// The columns a text takes, as far as counting characters tells.
pub fn width(text: &str) -> usize {
    text.chars().count()
}

/// Cut to `max` columns, with a sign that it was.
pub fn clip(text: &str, max: usize) -> String {
    if width(text) <= max {
        return text.to_string();
    }
    let mut out: String = text.chars().take(max.saturating_sub(1)).collect();
    out.push('…');
    out
}

pub fn pad(text: &str, to: usize) -> String {
    let mut out = text.to_string();
    out.extend(std::iter::repeat_n(' ', to.saturating_sub(width(text))));
    out
}

/// `1 234 567`
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(c);
    }
    out
}

pub fn bytes(n: u64) -> String {
    let units = ["KiB", "MiB", "GiB", "TiB"];
    let mut value = n as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    if value >= 100.0 { format!("{value:.0} {}", units[unit]) } else { format!("{value:.1} {}", units[unit]) }
}

pub fn plural(n: usize, word: &str) -> String {
    if n == 1 { format!("1 {word}") } else { format!("{} {word}s", grouped(n as u64)) }
}

/// Standard output. Who stops reading, as `head` does, has seen enough: that is no fault. A full disk is one.
#[derive(Default)]
pub struct Out {
    closed: bool,
    pub failed: Option<io::Error>,
}

impl Out {
    /// False once nobody reads any more.
    pub fn put(&mut self, text: &str) -> bool {
        if !self.closed {
            let mut stdout = io::stdout().lock();
            if let Err(e) = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
                self.closed = true;
                self.failed = Some(e).filter(|e| e.kind() != io::ErrorKind::BrokenPipe);
            }
        }
        !self.closed
    }

    /// Into the file, or to who reads.
    pub fn deliver(&mut self, file: Option<&Path>, text: &str) -> Result<(), Usage> {
        let Some(file) = file else {
            self.put(text);
            return Ok(());
        };
        let name = printable(&file.to_string_lossy());
        std::fs::write(file, text).map_err(|e| Usage::new(format!("cannot write `{name}`: {e}")))
    }
}

/// Standard error, best effort.
pub fn note(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shell_words_survive_a_shell() {
        assert_eq!(quoted("a/b.pml"), "a/b.pml");
        assert_eq!(quoted("$(touch x).pml"), "'$(touch x).pml'");
        assert_eq!(quoted("it's"), "'it'\\''s'");
    }

    #[test]
    fn escape_sequences_are_made_visible() {
        assert_eq!(printable("a\x1b[31mb\u{202e}c\td"), "a\u{fffd}[31mb\u{fffd}c\td");
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!(grouped(1234567), "1 234 567");
        assert_eq!(grouped(12), "12");
        assert_eq!(bytes(1536), "1.5 KiB");
        assert_eq!(bytes(3 << 30), "3.0 GiB");
        assert_eq!(plural(1, "state"), "1 state");
    }

    #[test]
    fn long_text_is_cut_with_a_sign() {
        assert_eq!(clip("abcdef", 4), "abc…");
        assert_eq!(clip("abcd", 4), "abcd");
        assert_eq!(pad("ü", 3), "ü  ");
    }
}
