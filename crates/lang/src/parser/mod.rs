//! Tokens into a tree, by recursive descent.
//!
//! Parsing never fails: what cannot be read is reported, becomes an `Error` node, and reading goes on after it.
//! Nor does it ever run out of stack: nesting is counted ([`MAX_DEPTH`]), and so is the height of expressions
//! ([`MAX_HEIGHT`]), because whoever walks the tree later recurses too.
//!
//! | file | reads |
//! |---|---|
//! | `separate` | the separators authors leave out; pieces of C |
//! | `repair` | characters that are no Promela |
//! | `unit` | proctypes, claims, typedefs and the rest of the top level |
//! | `decl` | declarations |
//! | `seq` | sequences: statements with their labels and their `unless` |
//! | `stmt` | statements, one by one |
//! | `io` | sends, receives, polls |
//! | `expr` | expressions and formulas |
//! | `inline` | inlines: kept as tokens, put in place and read where they are used |
//! | `habits` | what authors write who think of C |
//! | `dump` | the tree as text, for tests |

mod decl;
pub mod dump;
mod expr;
mod habits;
mod inline;
mod io;
mod repair;
mod separate;
mod seq;
mod stmt;
mod unit;

use crate::ast::{Ident, Program};
use crate::diags::Diags;
use crate::preprocess::{Loader, Options, Preprocessor};
use crate::token::{IMPLIED, Key, Names, Sign, Sym, Tok, Token};
use separate::{Known, Place, separate};
use spinor_model::diagnostic::Diagnostic;
use spinor_model::source::{Sources, Span};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

pub use expr::char_value;

/// The tree of a model, with every text read for it and everything there is to say about it.
#[derive(Clone, Debug)]
pub struct Parsed {
    pub program: Program,
    pub sources: Sources,
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads a model. `name` is how the user calls its file; includes are looked up relative to it, through `loader`.
pub fn parse(name: &str, text: &str, options: &Options, loader: Loader<'_>) -> Parsed {
    let mut pp = Preprocessor::new(name, text, options, loader);
    let tokens = pp.run();
    let truncated = pp.truncated;
    let symmetric = pp.symmetric;
    let (sources, names, diags) = (pp.sources, pp.names, pp.diags);
    let mut parser = Parser::new(tokens, sources, names, diags);
    parser.truncated = truncated;
    let program = Program { symmetric, ..parser.program() };
    parser.name_lone_calls();
    let mut diagnostics = parser.diags.list;
    // In the order of the text; what has no place comes last.
    diagnostics.sort_by_key(|d| d.primary.as_ref().map_or((u32::MAX, 0), |(s, _)| (s.file.0, s.lo)));
    Parsed { program, sources: parser.sources, diagnostics }
}

/// Blocks, selections, parentheses and inlines inside each other.
const MAX_DEPTH: usize = 300;
/// Operators above each other in one expression; a chain `a + b + c` has one per `+`.
const MAX_HEIGHT: u32 = 500;
/// SPIN dies of longer names.
const MAX_NAME: usize = 511;
const MAX_STRING: usize = 2000;

/// Something could not be read, and has been reported.
struct Failed;
type Read<T> = Result<T, Failed>;

/// Something that has been opened and wants to be closed.
#[derive(Clone, Copy)]
struct Opener {
    what: Opened,
    span: Span,
}

#[derive(Clone, Copy, PartialEq)]
enum Opened {
    Brace,
    If,
    Do,
}

struct Parser {
    tokens: Rc<[Token]>,
    pos: usize,
    /// Where the last token taken ends.
    prev: Span,
    sources: Sources,
    names: Names,
    diags: Diags,
    known: Known,
    inlines: HashMap<Sym, Rc<inline::InlineDef>>,
    calls: Vec<inline::Call>,
    n_inlined: usize,
    open: Vec<Opener>,
    depth: usize,
    in_ltl: bool,
    /// The token the last error was about: what follows from one mistake is not told again.
    last_error: Option<(Span, usize)>,
    /// Names with letters of other alphabets, reported at their first use.
    odd_names: HashSet<Sym>,
    /// A limit was met; only the end follows.
    stopped: bool,
    /// The text ends too early for a reason that has been told, so nothing that is missing at the end is a mistake.
    truncated: bool,
    /// Of statements that lie inside the call of a macro.
    of_macros: Vec<Span>,
}

impl Parser {
    fn new(tokens: Vec<Token>, sources: Sources, mut names: Names, mut diags: Diags) -> Self {
        let mut known = Known::default();
        let tokens = separate(&tokens, Place::Model, &mut known, &mut names, &sources, &mut diags);
        Parser {
            tokens: tokens.into(),
            pos: 0,
            prev: Span::default(),
            sources,
            names,
            diags,
            known,
            inlines: HashMap::new(),
            calls: Vec::new(),
            n_inlined: 0,
            open: Vec::new(),
            depth: 0,
            in_ltl: false,
            last_error: None,
            odd_names: HashSet::new(),
            stopped: false,
            truncated: false,
            of_macros: Vec::new(),
        }
    }

    // Looking at tokens and taking them

    fn cur(&self) -> Token {
        self.nth(0)
    }

    fn nth(&self, n: usize) -> Token {
        let last = self.tokens.len() - 1;
        let token = self.tokens[(self.pos + n).min(last)];
        if self.stopped { Token { tok: Tok::Eof, ..token } } else { token }
    }

    fn bump(&mut self) -> Token {
        let token = self.cur();
        if token.tok != Tok::Eof {
            self.prev = token.span;
            self.pos += 1;
        }
        token
    }

    fn at(&self, sign: Sign) -> bool {
        self.cur().is(sign)
    }

    fn at_key(&self, key: Key) -> bool {
        self.cur().key() == Some(key)
    }

    fn at_end(&self) -> bool {
        self.cur().tok == Tok::Eof
    }

    fn at_separator(&self) -> bool {
        self.at(Sign::Semi) || self.at(Sign::Arrow)
    }

    fn eat(&mut self, sign: Sign) -> bool {
        let yes = self.at(sign);
        if yes {
            self.bump();
        }
        yes
    }

    fn eat_key(&mut self, key: Key) -> bool {
        let yes = self.at_key(key);
        if yes {
            self.bump();
        }
        yes
    }

    fn expect(&mut self, sign: Sign, where_: &str) -> Read<Span> {
        if self.at(sign) {
            return Ok(self.bump().span);
        }
        Err(self.unexpected(&format!("`{}` {where_}", sign.text())))
    }

    /// From a place to the last token taken.
    fn since(&self, start: Span) -> Span {
        self.sources.join(start, self.prev)
    }

    /// Right after the last token taken.
    fn after_prev(&self) -> Span {
        Span { lo: self.prev.hi, ..self.prev }
    }

    fn word(&self, sym: Sym) -> &str {
        self.names.text(sym)
    }

    fn cur_word(&self) -> Option<&str> {
        self.cur().name().map(|sym| self.word(sym))
    }

    fn describe(&self, token: &Token) -> String {
        self.names.describe(token)
    }

    /// A name that the author gives or uses; `what` says of what.
    fn ident(&mut self, what: &str) -> Read<Ident> {
        let token = self.cur();
        if let Some(sym) = token.name() {
            self.bump();
            let name = self.names.shared(sym);
            if !name.is_ascii() && self.odd_names.insert(sym) {
                self.odd_name(&name, token.span);
            }
            if name.len() > MAX_NAME {
                let n = name.len();
                self.report(
                    Diagnostic::error("P0006", format!("this name has {n} letters, at most {MAX_NAME} are allowed"))
                        .at(token.span, "")
                        .help("use a shorter name")
                        .spin("6.5.2 crashes on names of more than 511 letters"),
                );
                let cut: String = name.chars().take(MAX_NAME).collect();
                return Ok(Ident { name: cut.into(), span: token.span });
            }
            return Ok(Ident { name, span: token.span });
        }
        if let Some(key) = token.key() {
            let word = key.text();
            let d = Diagnostic::error("P0219", format!("`{word}` is a word of Promela and cannot name {what}"))
                .at(token.span, "reserved word");
            let d = match token.span.via {
                None => d.help(format!("use another name, for example `{word}_`")).fix(token.span, format!("{word}_")),
                Some(_) => d.help("use another name"),
            };
            return Err(self.fail(d));
        }
        Err(self.unexpected(&format!("the name of {what}")))
    }

    // Messages

    #[cold]
    fn odd_name(&mut self, name: &str, span: Span) {
        let odd: String = name.chars().filter(|c| !c.is_ascii()).map(|c| format!("`{c}` ")).take(5).collect();
        let d = Diagnostic::error("P0001", format!("this name contains {}", odd.trim_end())).at(span, "").help(
            "names consist of the letters a to z and A to Z, digits and `_`; others may stand in comments and strings",
        );
        self.diags.push(d);
    }

    fn report(&mut self, d: Diagnostic) {
        if d.is_error() {
            if self.excused() {
                return;
            }
            let here = (self.cur().span, self.pos);
            if self.last_error == Some(here) {
                return;
            }
            self.last_error = Some(here);
        }
        self.diags.push(d);
        if self.diags.full() {
            self.stopped = true;
        }
    }

    /// The end of a text that was cut off.
    fn excused(&self) -> bool {
        self.truncated && self.calls.is_empty() && self.at_end()
    }

    fn fail(&mut self, d: Diagnostic) -> Failed {
        self.report(d);
        Failed
    }

    /// A limit was met.
    fn stop(&mut self, d: Diagnostic) -> Failed {
        if !self.stopped {
            self.diags.push(d);
        }
        self.stopped = true;
        Failed
    }

    fn unexpected(&mut self, wanted: &str) -> Failed {
        let token = self.cur();
        if self.stopped {
            return Failed;
        }
        let found = self.describe(&token);
        let mut d = Diagnostic::error("P0201", format!("expected {wanted}, found {found}"));
        if token.is(Sign::Semi) && token.has(IMPLIED) {
            d = d.at(self.prev, "the statement ends here, with the line").help(
                "a line end after a complete statement ends it; break the line after an operator or inside parentheses",
            );
        } else if token.tok == Tok::Eof {
            d = match self.calls.last() {
                Some(call) => {
                    let name = call.name.clone();
                    Diagnostic::error("P0201", format!("expected {wanted}, found the end of inline `{name}`"))
                        .at(self.prev, "after this")
                        .label(call.span, "used here")
                }
                None => d.at(self.prev, "after this"),
            };
        } else {
            d = d.at(token.span, "");
        }
        self.fail(d)
    }

    /// Counts a level of nesting; the caller gives it back with `self.depth -= 1`.
    fn deeper(&mut self) -> Read<()> {
        if self.depth >= MAX_DEPTH {
            let at = self.sources.surface(self.cur().span);
            let d = Diagnostic::error("P0238", format!("the model is nested more than {MAX_DEPTH} levels deep"))
                .at(at, "one level too many")
                .help("give the inner part a place of its own, in another process or a variable");
            return Err(self.stop(d));
        }
        self.depth += 1;
        Ok(())
    }

    // Going on after an error

    /// Skips to where the next statement may begin: after a separator, or at something that ends the sequence.
    fn skip_statement(&mut self) {
        let mut depth = 0usize;
        loop {
            let token = self.cur();
            match (token.tok, token.key()) {
                (Tok::Eof, _) => return,
                (_, Some(key)) if key.begins_unit() => return,
                (_, Some(Key::If | Key::Do)) => depth += 1,
                (_, Some(Key::Fi | Key::Od)) | (Tok::Sign(Sign::CloseBrace), _) if depth == 0 => return,
                (_, Some(Key::Fi | Key::Od)) => depth -= 1,
                (Tok::Sign(Sign::Semi | Sign::Arrow | Sign::ColonColon), _) if depth == 0 => return,
                (Tok::Sign(Sign::OpenBrace | Sign::OpenParen | Sign::OpenBracket), _) => depth += 1,
                (Tok::Sign(Sign::CloseBrace | Sign::CloseParen | Sign::CloseBracket), _) => {
                    depth = depth.saturating_sub(1);
                }
                _ => {}
            }
            self.bump();
        }
    }

    /// Skips from an opening sign past its partner, and says whether there was one.
    fn skip_balanced(&mut self) -> bool {
        let mut depth = 0usize;
        loop {
            let token = self.cur();
            match token.tok {
                Tok::Eof => return false,
                Tok::Sign(Sign::OpenBrace | Sign::OpenParen | Sign::OpenBracket) => depth += 1,
                Tok::Sign(Sign::CloseBrace | Sign::CloseParen | Sign::CloseBracket) => depth = depth.saturating_sub(1),
                Tok::Word(_) if token.key().is_some_and(Key::begins_unit) => return false,
                _ => {}
            }
            self.bump();
            if depth == 0 {
                return true;
            }
        }
    }

    fn skip_separators(&mut self) {
        while self.at_separator() {
            self.bump();
        }
    }
}
