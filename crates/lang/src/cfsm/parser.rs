//! Tokens into a tree. What cannot be read is reported once and left out, and reading goes on at the next declaration,
//! state or transition.

use super::formula;
use super::token::{Tok, Token};
use super::tree::{
    Arg, Channel, Check, CheckKind, Content, Ident, Ltl, Message, Number, Op, Process, State, Transition, Tree, Which,
};
use crate::diags::Diags;
use spinor_model::diagnostic::Diagnostic;
use spinor_model::source::Span;

pub fn parse(tokens: Vec<Token>, diags: &mut Diags) -> Tree {
    let mut p = Parser { tokens, at: 0, diags };
    let mut tree = Tree::default();
    p.tree(&mut tree);
    tree
}

/// Something could not be read, and it has been said.
pub struct Lost;
pub type Read<T> = Result<T, Lost>;

pub struct Parser<'d> {
    tokens: Vec<Token>,
    at: usize,
    pub diags: &'d mut Diags,
}

const ITEMS: [&str; 4] = ["channel", "process", "ltl", "check"];
const SHAPE: &str = "a protocol consists of `channel`, `process`, `check` and `ltl`";

impl Parser<'_> {
    fn tree(&mut self, tree: &mut Tree) {
        while self.peek() != &Tok::End && !self.diags.full() {
            let start = self.at;
            let done = if self.word("channel") {
                self.channel().map(|c| tree.channels.push(c))
            } else if self.word("process") {
                self.process().map(|p| tree.processes.push(p))
            } else if self.word("check") {
                self.checks(&mut tree.checks)
            } else if self.word("ltl") {
                self.ltl().map(|l| tree.formulas.push(l))
            } else if self.sign(";") {
                Ok(())
            } else {
                self.expected("a declaration", SHAPE);
                Err(Lost)
            };
            if done.is_err() {
                self.at = self.at.max(start + 1);
                self.skip_to(|tok| is_word(tok, &ITEMS));
            }
        }
    }

    fn channel(&mut self) -> Read<Channel> {
        let form = "a channel is written `channel c: a -> b [2] of m, n(0..1)`";
        let name = self.name("the name of the channel", form)?;
        self.need(":", form)?;
        let from = self.name("the process that sends", form)?;
        self.need("->", form)?;
        let to = self.name("the process that receives", form)?;
        self.need("[", form)?;
        let capacity = self.number("how many messages the channel can hold", form)?;
        self.need("]", form)?;
        self.need_word("of", form)?;
        let mut messages = Vec::new();
        loop {
            messages.push(self.message(form)?);
            if !self.sign(",") {
                break;
            }
        }
        Ok(Channel { name, from, to, capacity, messages })
    }

    fn message(&mut self, form: &str) -> Read<Message> {
        let name = self.name("the name of a message", form)?;
        let mut fields = Vec::new();
        if self.sign("(") {
            loop {
                let low = self.number("the least value of the field", form)?;
                self.need("..", form)?;
                fields.push((low, self.number("the greatest value of the field", form)?));
                if !self.sign(",") {
                    break;
                }
            }
            self.need(")", form)?;
        }
        Ok(Message { name, fields })
    }

    fn process(&mut self) -> Read<Process> {
        let form = "a process is written `process p { state s { -m -> t } state t }`";
        let name = self.name("the name of the process", form)?;
        let open = self.span();
        self.need("{", form)?;
        let mut states = Vec::new();
        while !self.sign("}") {
            let start = self.at;
            if self.ends(open, "process")? {
                break;
            }
            let done = if self.word("state") {
                self.state().map(|s| states.push(s))
            } else if self.sign(";") {
                Ok(())
            } else {
                self.expected("`state` or `}`", form);
                Err(Lost)
            };
            if done.is_err() {
                self.at = self.at.max(start + 1);
                self.skip_to(|tok| is_word(tok, &ITEMS) || is_word(tok, &["state"]));
            }
        }
        Ok(Process { name, states })
    }

    fn state(&mut self) -> Read<State> {
        let form =
            "a state is written `state s initial final { … }`, where `initial`, `final` and the braces may be left out";
        let name = self.name("the name of the state", form)?;
        let mut state = State { name, initial: None, is_final: false, transitions: Vec::new() };
        loop {
            let span = self.span();
            if self.word("initial") {
                state.initial = Some(span);
            } else if self.word("final") {
                state.is_final = true;
            } else {
                break;
            }
        }
        let open = self.span();
        if !self.sign("{") {
            return Ok(state);
        }
        while !self.sign("}") {
            if self.ends(open, "state")? {
                break;
            }
            if self.sign(";") || self.sign(",") {
                continue;
            }
            let start = self.at;
            match self.transition() {
                Ok(t) => state.transitions.push(t),
                Err(Lost) => {
                    self.at = self.at.max(start + 1);
                    // To the next sign that can begin a transition, or out of the state.
                    self.skip_to(|tok| {
                        is_word(tok, &ITEMS)
                            || is_word(tok, &["state"])
                            || matches!(tok, Tok::Sign("}" | "-" | "+" | ";"))
                    });
                }
            }
        }
        Ok(state)
    }

    fn transition(&mut self) -> Read<Transition> {
        let form = "a transition is written `-m -> s` (send), `+m -> s` (receive) or `name -> s`";
        let start = self.span();
        let op = self.operation(form)?;
        self.need("->", form)?;
        let to = self.name("the state that it leads to", form)?;
        let span = join(start, to.span);
        let visible = self.word("visible");
        Ok(Transition { op, to, visible, span })
    }

    /// `-m(1) via c`, `+m`, `name`
    pub fn operation(&mut self, form: &str) -> Read<Op> {
        let start = self.span();
        Ok(if self.sign("-") {
            Op::Send(self.content(start, form)?)
        } else if self.sign("+") {
            Op::Receive(self.content(start, form)?)
        } else {
            Op::Internal(self.name("a transition", form)?)
        })
    }

    /// A message with its data, and the channel if that is named.
    fn content(&mut self, start: Span, form: &str) -> Read<Content> {
        let (message, args, mut end) = self.pattern(form)?;
        let via = if self.word("via") { Some(self.name("the name of a channel", form)?) } else { None };
        end = via.as_ref().map_or(end, |v| v.span);
        Ok(Content { message, args, via, span: join(start, end) })
    }

    /// `m(1, _)`
    pub fn pattern(&mut self, form: &str) -> Read<(Ident, Vec<Arg>, Span)> {
        let message = self.name("the name of a message", form)?;
        let mut args = Vec::new();
        let mut end = message.span;
        if self.sign("(") {
            loop {
                let span = self.span();
                args.push(if self.word("_") {
                    Arg::Any(span)
                } else {
                    Arg::Value(self.number("a value or `_`", form)?)
                });
                if !self.sign(",") {
                    break;
                }
            }
            end = self.span();
            self.need(")", form)?;
        }
        Ok((message, args, end))
    }

    fn checks(&mut self, out: &mut Vec<Check>) -> Read<()> {
        let form = "it is written `check { reception all overflow c, d }`; `all`, `none` and names of channels may stand there";
        let open = self.span();
        self.need("{", form)?;
        while !self.sign("}") {
            if self.ends(open, "check")? {
                break;
            }
            if self.sign(";") {
                continue;
            }
            let what = if self.word("reception") {
                if self.word("strict") { CheckKind::StrictReception } else { CheckKind::Reception }
            } else if self.word("overflow") {
                CheckKind::Overflow
            } else {
                self.expected("`reception` or `overflow`", form);
                return Err(Lost);
            };
            let which = if self.word("all") {
                Which::All
            } else if self.word("none") {
                Which::None
            } else {
                let mut names = Vec::new();
                loop {
                    names.push(self.name("the name of a channel", form)?);
                    if !self.sign(",") {
                        break;
                    }
                }
                Which::These(names)
            };
            out.push(Check { what, which });
        }
        Ok(())
    }

    fn ltl(&mut self) -> Read<Ltl> {
        let form = "it is written `ltl name { [] (p@s -> <> q@t) }`";
        let name = if self.peek() == &Tok::Sign("{") { None } else { Some(self.name("a name or `{`", form)?) };
        let open = self.span();
        self.need("{", form)?;
        let formula = formula::parse(self)?;
        let close = self.span();
        if !self.sign("}") {
            self.expected("an operator or `}`", form);
            return Err(Lost);
        }
        Ok(Ltl { span: name.as_ref().map_or(join(open, close), |n| join(n.span, close)), name, formula })
    }

    // ---- tokens

    pub fn peek(&self) -> &Tok {
        &self.tokens[self.at].tok
    }

    pub fn span(&self) -> Span {
        self.tokens[self.at].span
    }

    /// Of the token before.
    pub fn last(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].span
    }

    fn step(&mut self) {
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
    }

    pub fn sign(&mut self, sign: &str) -> bool {
        let here = matches!(self.peek(), Tok::Sign(s) if *s == sign);
        if here {
            self.step();
        }
        here
    }

    pub fn word(&mut self, word: &str) -> bool {
        let here = is_word(self.peek(), &[word]);
        if here {
            self.step();
        }
        here
    }

    pub fn need(&mut self, sign: &str, form: &str) -> Read<()> {
        if self.sign(sign) {
            return Ok(());
        }
        self.expected(&format!("`{sign}`"), form);
        Err(Lost)
    }

    fn need_word(&mut self, word: &str, form: &str) -> Read<()> {
        if self.word(word) {
            return Ok(());
        }
        self.expected(&format!("`{word}`"), form);
        Err(Lost)
    }

    pub fn name(&mut self, what: &str, form: &str) -> Read<Ident> {
        let span = self.span();
        match self.peek().clone() {
            Tok::Word(name) if !RESERVED.contains(&name.as_str()) => {
                self.step();
                Ok(Ident { name, span })
            }
            _ => {
                self.expected(what, form);
                Err(Lost)
            }
        }
    }

    pub fn number(&mut self, what: &str, form: &str) -> Read<Number> {
        let span = self.span();
        match self.peek() {
            Tok::Word(text) if text.bytes().all(|b| b.is_ascii_digit()) => {
                let value = text.parse().unwrap_or_else(|_| {
                    self.diags.push(
                        Diagnostic::error("C0004", "this number is too large")
                            .at(span, "")
                            .help("capacities and data are small numbers"),
                    );
                    0
                });
                self.step();
                Ok(Number { value, span })
            }
            _ => {
                self.expected(what, form);
                Err(Lost)
            }
        }
    }

    /// Says what should stand here.
    pub fn expected(&mut self, what: &str, form: &str) {
        let found = match self.peek() {
            Tok::Word(w) if RESERVED.contains(&w.as_str()) => format!("the word `{w}`"),
            Tok::Word(w) => format!("`{w}`"),
            Tok::Sign(s) => format!("`{s}`"),
            Tok::End => "the end of the text".to_string(),
        };
        let span = self.span();
        self.diags.push(Diagnostic::error("C0003", format!("expected {what}, found {found}")).at(span, "").help(form));
    }

    /// A block that another declaration or the end of the text cuts short.
    fn ends(&mut self, open: Span, what: &str) -> Read<bool> {
        let inner = what == "state" && is_word(self.peek(), &["state"]);
        if self.peek() != &Tok::End && !is_word(self.peek(), &ITEMS) && !inner {
            return Ok(false);
        }
        let span = self.span();
        self.diags.push(
            Diagnostic::error("C0005", format!("this `{what}` is never closed"))
                .at(open, "opened here")
                .label(span, "this comes before any `}`")
                .help("add `}` before it"),
        );
        // The rest is read as if it were closed.
        Ok(true)
    }

    fn skip_to(&mut self, stop: impl Fn(&Tok) -> bool) {
        while self.peek() != &Tok::End && !stop(self.peek()) {
            self.step();
        }
    }
}

/// Words that begin something and name nothing.
const RESERVED: [&str; 7] = ["channel", "process", "state", "check", "ltl", "via", "_"];

fn is_word(tok: &Tok, words: &[&str]) -> bool {
    matches!(tok, Tok::Word(w) if words.contains(&w.as_str()))
}

pub fn join(a: Span, b: Span) -> Span {
    Span { lo: a.lo, hi: b.hi.max(a.hi), ..a }
}
