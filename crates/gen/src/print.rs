//! From statement trees to text, in one of several layouts.
//!
//! The layouts differ in what the language says is equivalent: `;` against `->`, written separators
//! against line ends, short options on one line against spread ones.

use crate::rng::Rng;

pub(crate) enum Stmt {
    /// One statement without inner structure.
    Plain(String),
    /// A declaration: like a statement, but a label may not precede it.
    Decl(String),
    /// `head { body }`, the head being empty, `atomic`, `d_step` or a `for (..)`.
    Block(String, Vec<Stmt>),
    /// `if` or `do`.
    Choice(&'static str, Vec<Vec<Stmt>>),
    Unless(Box<Stmt>, Box<Stmt>),
    Labelled(String, Box<Stmt>),
    /// A label with nothing after it; it must end its sequence.
    BareLabel(String),
    /// Statements that belong together, such as a counter's reset and its loop.
    Many(Vec<Stmt>),
    /// A preprocessor line or a comment: no separator follows.
    Verbatim(String),
}

impl Stmt {
    pub fn plain(text: impl Into<String>) -> Stmt {
        Stmt::Plain(text.into())
    }
}

pub(crate) struct Layout {
    indent: &'static str,
    /// Leave out separators where a line end stands for one.
    pub by_newline: bool,
    arrow: &'static str,
    one_line_options: bool,
}

impl Layout {
    pub fn draw(rng: &mut Rng) -> Layout {
        Layout {
            indent: ["    ", "  ", "\t"][rng.below(3)],
            by_newline: rng.chance(25),
            arrow: if rng.chance(85) { " ->" } else { ";" },
            one_line_options: rng.chance(60),
        }
    }

    /// The layout for text that is not parsed as a body at once (inline definitions).
    pub fn with_separators(&self) -> Layout {
        Layout { by_newline: false, ..*self }
    }

    pub fn body(&self, depth: usize, stmts: Vec<Stmt>, out: &mut String) {
        let mut flat = Vec::new();
        for stmt in stmts {
            flatten(stmt, &mut flat);
        }
        let last = flat.iter().rposition(|s| !matches!(s, Stmt::Verbatim(_)));
        for (i, stmt) in flat.into_iter().enumerate() {
            self.stmt(depth, stmt, Some(i) == last, out);
        }
    }

    fn stmt(&self, depth: usize, stmt: Stmt, last: bool, out: &mut String) {
        if let Stmt::Verbatim(text) = &stmt {
            if text.starts_with('#') {
                *out += text;
            } else {
                self.pad(depth, out);
                *out += text;
            }
            out.push('\n');
            return;
        }
        self.pad(depth, out);
        self.bare(depth, stmt, out);
        if !last && (!self.by_newline || !ends_statement(out)) {
            out.push(';');
        }
        out.push('\n');
    }

    fn pad(&self, depth: usize, out: &mut String) {
        *out += &self.indent.repeat(depth);
    }

    fn bare(&self, depth: usize, stmt: Stmt, out: &mut String) {
        match stmt {
            Stmt::Plain(text) | Stmt::Decl(text) => *out += &text,
            Stmt::Block(head, body) => {
                *out += &head;
                *out += if head.is_empty() { "{\n" } else { " {\n" };
                self.body(depth + 1, body, out);
                self.pad(depth, out);
                out.push('}');
            }
            Stmt::Choice(word, options) => {
                *out += word;
                out.push('\n');
                for option in options {
                    self.option(depth, option, out);
                }
                self.pad(depth, out);
                *out += if word == "if" { "fi" } else { "od" };
            }
            Stmt::Unless(main, escape) => {
                self.bare(depth, *main, out);
                *out += " unless ";
                self.bare(depth, *escape, out);
            }
            Stmt::Labelled(name, stmt) => {
                *out += &name;
                *out += ": ";
                self.bare(depth, *stmt, out);
            }
            Stmt::BareLabel(name) => {
                *out += &name;
                out.push(':');
            }
            Stmt::Many(_) | Stmt::Verbatim(_) => unreachable!("flattened before printing"),
        }
    }

    fn option(&self, depth: usize, option: Vec<Stmt>, out: &mut String) {
        let mut flat = Vec::new();
        for stmt in option {
            flatten(stmt, &mut flat);
        }
        self.pad(depth, out);
        *out += ":: ";
        let short = self.one_line_options
            && flat.iter().all(|s| matches!(s, Stmt::Plain(_)))
            && flat.iter().map(|s| if let Stmt::Plain(t) = s { t.len() + 2 } else { 0 }).sum::<usize>() < 70;
        let n = flat.len();
        let mut rest = flat.into_iter();
        let first = rest.next().expect("an option has a first statement");
        self.bare(depth + 1, first, out);
        if n > 1 {
            *out += self.arrow;
        }
        if short {
            for (i, stmt) in rest.enumerate() {
                *out += if i == 0 { " " } else { "; " };
                self.bare(depth + 1, stmt, out);
            }
            out.push('\n');
        } else {
            out.push('\n');
            self.body(depth + 1, rest.collect(), out);
        }
    }
}

/// Whether a line end after this text stands for a separator. `timeout`, a closing `>` of a copying receive and
/// the colon of a label do not count among the tokens that allow it.
fn ends_statement(text: &str) -> bool {
    let last = text.chars().next_back().unwrap_or(' ');
    (last.is_ascii_alphanumeric() || "_)]}".contains(last)) && !text.ends_with("timeout")
}

fn flatten(stmt: Stmt, out: &mut Vec<Stmt>) {
    match stmt {
        Stmt::Many(inner) => inner.into_iter().for_each(|s| flatten(s, out)),
        Stmt::Labelled(name, inner) => {
            if let Stmt::Many(inner) = *inner {
                let at = out.len();
                inner.into_iter().for_each(|s| flatten(s, out));
                if at < out.len() {
                    let first = std::mem::replace(&mut out[at], Stmt::Many(Vec::new()));
                    out[at] = Stmt::Labelled(name, Box::new(first));
                }
            } else {
                out.push(Stmt::Labelled(name, inner));
            }
        }
        other => out.push(other),
    }
}
