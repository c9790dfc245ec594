//! The C preprocessor, as far as Promela models use it: macros, includes, conditional text.
//!
//! It turns texts into one stream of tokens and never goes back to text, so every token keeps its place and the macros it
//! came through. What `gcc -E` prints is the reference for behaviour. Files are read through the caller's loader only.
//!
//! Nothing here recurses without a bound: macros stand on an explicit stack, arguments may nest [`MAX_ARG_DEPTH`] deep,
//! and all work is counted, so that a few lines that double each other end in a message and not in the swap file.

mod condition;
mod directive;
mod macros;

use crate::annotation;
use crate::ast::Ident;
use crate::diags::Diags;
use crate::lexer::Lexer;
use crate::token::{NEWLINE, Names, SPACE, Sign, Sym, Tok, Token};
use macros::{Context, Macro};
use spinor_model::diagnostic::Diagnostic;
use spinor_model::source::{Sources, Span};
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// What the user said on the command line about the text.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// `-DX` and `-DX=v`
    pub defines: Vec<(String, Option<String>)>,
    /// `-UX`
    pub undefines: Vec<String>,
    /// Where includes may be found, besides the folder of the model.
    pub include_roots: Vec<PathBuf>,
    /// Texts with their names that are read behind the model, as if they were its last lines.
    pub more: Vec<(String, String)>,
}

/// Reads a file for `#include`.
pub type Loader<'a> = &'a dyn Fn(&Path) -> io::Result<Vec<u8>>;

/// Tokens passed on, those of macros and arguments included.
const MAX_WORK: usize = 1 << 20;
const MAX_EXPANSIONS: usize = 1 << 17;
const MAX_ARG_DEPTH: usize = 100;
const MAX_MACRO_DEPTH: usize = 1000;
const MAX_INCLUDE_DEPTH: usize = 64;
const MAX_INCLUDES: usize = 2000;
const MAX_FILE_BYTES: usize = 16 << 20;
const MAX_TOTAL_BYTES: usize = 64 << 20;

/// A text being read, and where it was asked for.
struct Open {
    lexer: Lexer,
    path: PathBuf,
    conditions: Vec<Condition>,
}

/// One `#if` … `#endif`.
struct Condition {
    opened: Span,
    /// A group has been chosen, so the rest are skipped.
    taken: bool,
    seen_else: Option<Span>,
}

pub struct Preprocessor<'a> {
    pub sources: Sources,
    pub names: Names,
    pub diags: Diags,
    options: &'a Options,
    loader: Loader<'a>,
    root: PathBuf,
    macros: HashMap<Sym, Rc<Macro>>,
    files: Vec<Open>,
    read: HashMap<PathBuf, (spinor_model::source::FileId, std::sync::Arc<str>)>,
    n_includes: usize,
    n_bytes: usize,
    /// How many of the further texts have been opened.
    n_more: usize,
    contexts: Vec<Context>,
    /// The use of a macro in the text itself that is being worked on.
    outer_use: Option<(Rc<Macro>, Span)>,
    arg_depth: usize,
    work: usize,
    /// The arguments of a macro are being read: the end of a file ends them.
    collecting: bool,
    /// The `(` after the name of a macro is being looked for.
    seeking: bool,
    /// `defined X` has a meaning here.
    in_condition: bool,
    /// Arguments of a macro crossed a line end, which now stands after them.
    carried_newline: bool,
    /// What stood before a macro name, a space or a line end, now stands before its first token, or the next one.
    pending: u8,
    /// A limit was met; only the end follows.
    stopped: bool,
    /// The end comes earlier than the author wrote it, for a reason that has been told.
    pub truncated: bool,
    /// Proctypes that comments declare to be symmetric.
    pub symmetric: Vec<Ident>,
    words: Words,
}

/// Words the preprocessor itself knows.
struct Words {
    defined: Sym,
    line: Sym,
    file: Sym,
    va_args: Sym,
}

impl<'a> Preprocessor<'a> {
    pub fn new(name: &str, text: &str, options: &'a Options, loader: Loader<'a>) -> Self {
        let mut names = Names::default();
        let words = Words {
            defined: names.intern("defined"),
            line: names.intern("__LINE__"),
            file: names.intern("__FILE__"),
            va_args: names.intern("__VA_ARGS__"),
        };
        let path = PathBuf::from(name);
        let root = directive::normal(path.parent().unwrap_or(Path::new("")));
        let mut pp = Preprocessor {
            sources: Sources::default(),
            names,
            diags: Diags::default(),
            options,
            loader,
            root,
            macros: HashMap::new(),
            files: Vec::new(),
            read: HashMap::new(),
            n_includes: 0,
            n_bytes: 0,
            n_more: 0,
            contexts: Vec::new(),
            outer_use: None,
            arg_depth: 0,
            work: 0,
            collecting: false,
            seeking: false,
            in_condition: false,
            carried_newline: false,
            pending: 0,
            stopped: false,
            truncated: false,
            symmetric: Vec::new(),
            words,
        };
        pp.open(name, path, text, None);
        pp.command_line();
        pp
    }

    /// All tokens of the model, the last one [`Tok::Eof`].
    pub fn run(&mut self) -> Vec<Token> {
        let mut out = Vec::new();
        loop {
            let mut token = self.next_expanded();
            token.flags |= std::mem::take(&mut self.pending);
            out.push(token);
            if token.tok == Tok::Eof {
                return out;
            }
        }
    }

    /// `-D` and `-U`, as a text that is read before the model's first line.
    fn command_line(&mut self) {
        let mut text = String::new();
        let clean = |s: &str| s.replace(['\n', '\r'], " ");
        for (name, value) in &self.options.defines {
            let value = value.as_deref().unwrap_or("1");
            text.push_str(&format!("#define {} {}\n", clean(name), clean(value)));
        }
        for name in &self.options.undefines {
            text.push_str(&format!("#undef {}\n", clean(name)));
        }
        if !text.is_empty() {
            self.open("<command line>", PathBuf::from("<command line>"), &text, None);
        }
    }

    fn open(&mut self, name: &str, path: PathBuf, text: &str, asked: Option<Span>) {
        if text.len() > MAX_FILE_BYTES || self.n_bytes + text.len() > MAX_TOTAL_BYTES {
            // The text is not kept, so there is nothing to point at but the place that asked for it.
            let what = if text.len() > MAX_FILE_BYTES { text.len() } else { self.n_bytes + text.len() };
            let limit = if text.len() > MAX_FILE_BYTES { MAX_FILE_BYTES } else { MAX_TOTAL_BYTES };
            let d =
                Diagnostic::error("P0038", format!("`{name}` is too large: {what} bytes, at most {limit} are read"));
            self.diags.push(match asked {
                Some(span) => d.at(span, "included here"),
                None => d,
            });
            self.stopped = true;
            self.truncated = true;
            let file = self.sources.add_file(name, "");
            self.files.push(Open { lexer: Lexer::new(file, "".into()), path, conditions: Vec::new() });
            return;
        }
        let (file, text) = match self.read.get(&path) {
            Some((file, text)) => (*file, text.clone()),
            None => {
                let file = self.sources.add_file(name, text);
                let text: std::sync::Arc<str> = text.into();
                self.read.insert(path.clone(), (file, text.clone()));
                (file, text)
            }
        };
        self.n_bytes += text.len();
        self.files.push(Open { lexer: Lexer::new(file, text), path, conditions: Vec::new() });
    }

    fn top(&mut self) -> &mut Open {
        self.files.last_mut().expect("a text is open until the end")
    }

    /// The next token of the texts themselves, directives carried out on the way.
    fn next_base(&mut self) -> Token {
        loop {
            let open = self.files.last_mut().expect("a text is open until the end");
            let (mut token, first) = open.lexer.next(&mut self.names);
            if let Some(span) = open.lexer.open_comment.take() {
                self.diags.push(
                    Diagnostic::error("P0003", "this comment never ends")
                        .at(span, "begins here")
                        .help("add `*/` where it should end; comments do not nest"),
                );
                self.truncated = true;
            }
            for (lo, hi) in std::mem::take(&mut open.lexer.annotations) {
                match annotation::symmetric(&open.lexer.text, open.lexer.file, lo, hi) {
                    Ok(names) => self.symmetric.extend(names),
                    Err(d) => self.diags.push(*d),
                }
            }
            if self.stopped {
                return Token { tok: Tok::Eof, ..token };
            }
            if first && token.is(Sign::Hash) {
                if self.seeking {
                    // As in gcc, a directive between a name and its `(` parts them.
                    open.lexer.pos = token.span.lo as usize;
                    open.lexer.line_start = true;
                    self.carried_newline |= token.has(NEWLINE);
                    return Token { tok: Tok::Eof, ..token };
                }
                self.directive(token.span);
                // What is passed over says nothing.
                self.files.iter_mut().for_each(|open| open.lexer.annotations.clear());
                continue;
            }
            if token.tok == Tok::Eof {
                if self.collecting {
                    return token;
                }
                self.end_of_file();
                let options = self.options;
                if self.files.len() == 1 {
                    let Some((name, text)) = options.more.get(self.n_more) else { return token };
                    self.n_more += 1;
                    self.files.clear();
                    // Texts may have the same name and are different ones.
                    let path = PathBuf::from(format!("<{} {name}>", self.n_more));
                    self.open(name, path, text, None);
                    self.carried_newline = true;
                    continue;
                }
                self.files.pop();
                self.carried_newline = true;
                continue;
            }
            if std::mem::take(&mut self.carried_newline) {
                token.flags |= NEWLINE | SPACE;
            }
            return token;
        }
    }

    fn end_of_file(&mut self) {
        for condition in std::mem::take(&mut self.top().conditions) {
            let d = Diagnostic::error("P0040", "this conditional is never closed")
                .at(condition.opened, "opened here")
                .help("add `#endif` where it should end");
            self.diags.push(match condition.seen_else {
                Some(span) => d.label(span, "its `#else`"),
                None => d,
            });
        }
    }

    /// A limit was met. Whatever would follow is left out, so one message tells it all.
    fn stop(&mut self, d: Diagnostic) {
        if !self.stopped {
            self.diags.push(d);
        }
        self.stopped = true;
        self.truncated = true;
    }
}
