//! Sequences: statements with their labels and their `unless`, and what separates them.

use super::{Failed, Parser, Read};
use crate::ast::*;
use crate::token::{IMPLIED, Key, NEWLINE, Sign, Tok, Token};
use spinor_model::diagnostic::Diagnostic;
use spinor_model::source::{ExpansionKind, Span};
use std::collections::HashMap;

/// What a label on the first statement of a sequence would be.
#[derive(Clone, Copy, PartialEq)]
pub enum First {
    /// fine: the body of a process, of a `for`
    Free,
    /// an error: the first thing in `{`, `atomic {`, `d_step {`, or of an `unless` escape
    Refused,
    /// in front of a guard, where no process ever stands
    Guard,
}

/// To SPIN's separator rules the call of an inline is the block it becomes.
fn ends_with_brace(s: &Stmt) -> bool {
    match &s.kind {
        StmtKind::Inline { .. } => true,
        StmtKind::Unless { escape, .. } => ends_with_brace(escape),
        _ => false,
    }
}

impl Parser {
    /// Statements up to something that ends the sequence, which is left for the caller.
    pub(super) fn sequence(&mut self, first: First) -> Vec<Stmt> {
        let mut stmts = Vec::new();
        if self.at_separator() {
            self.leading_separator();
        }
        while !self.at_sequence_end() {
            let before = self.pos;
            let place = if stmts.is_empty() { first } else { First::Free };
            let start = self.cur().span;
            if self.step(place, &mut stmts).is_err() {
                self.unreadable(start, &mut stmts);
            }
            if self.at_sequence_end() {
                break;
            }
            if self.at_separator() {
                let sep = self.cur();
                self.skip_separators();
                if self.at_key(Key::Unless) {
                    self.unless_after(sep.span, sep.has(IMPLIED));
                    self.skip_statement();
                    self.skip_separators();
                }
            } else if self.pos > before && !stmts.last().is_some_and(ends_with_brace) {
                self.missing_separator();
                self.skip_separators();
            }
            if self.pos == before {
                self.unexpected("a statement");
                self.bump();
                self.skip_statement();
                self.skip_separators();
            }
        }
        stmts
    }

    #[cold]
    fn leading_separator(&mut self) {
        let span = self.cur().span;
        let what = self.describe(&self.cur());
        let d = Diagnostic::error("P0204", format!("{what} stands where a statement should begin")).at(span, "");
        self.report(if span.via.is_none() { d.help("remove it").fix(span, "") } else { d.help("remove it") });
        self.skip_separators();
    }

    #[cold]
    fn unreadable(&mut self, start: Span, out: &mut Vec<Stmt>) {
        self.skip_statement();
        out.push(Stmt { labels: Vec::new(), kind: StmtKind::Error, span: self.since(start) });
    }

    fn at_sequence_end(&self) -> bool {
        let token = self.cur();
        match token.tok {
            Tok::Eof => true,
            Tok::Sign(sign) => matches!(sign, Sign::CloseBrace | Sign::ColonColon),
            _ => token.key().is_some_and(|k| matches!(k, Key::Fi | Key::Od) || k.begins_unit()),
        }
    }

    /// Two statements with nothing between them.
    pub(super) fn missing_separator(&mut self) {
        let token = self.cur();
        let at = self.after_prev();
        if self.operator_after_line_end() || self.statement_habit() {
            return;
        }
        let starts = token.name().is_some()
            || token.is(Sign::OpenBrace)
            || token.is(Sign::OpenParen)
            || matches!(token.tok, Tok::Number(_) | Tok::C(_))
            || token
                .key()
                .is_some_and(|k| !matches!(k, Key::Of | Key::Unless | Key::Priority | Key::Provided | Key::Eval));
        if !starts {
            self.unexpected("`;` or the end of the statement");
            self.skip_statement();
            return;
        }
        if self.unknown_type_before(token) {
            return;
        }
        let what = self.describe(&token);
        let d = Diagnostic::error("P0202", format!("a separator is missing before {what}"))
            .at(token.span, "another statement begins here")
            .label(self.prev, "the one before it ends here");
        let d = d.help("write `;` between them, or begin a new line");
        self.report(if at.via.is_none() && token.span.via.is_none() { d.fix(at, ";") } else { d });
    }

    /// `Thing x;` with a type that nobody declared; `Thing` has been taken for a statement.
    fn unknown_type_before(&mut self, name: Token) -> bool {
        let next = self.nth(1);
        let declares = [Sign::Semi, Sign::Assign, Sign::OpenBracket, Sign::Comma].iter().any(|s| next.is(*s));
        let (Some(_), true, true) = (name.name(), declares, self.pos >= 2) else { return false };
        let (before, first) = (self.tokens[self.pos - 2], self.tokens[self.pos - 1]);
        let alone = [Sign::Semi, Sign::Arrow, Sign::OpenBrace, Sign::ColonColon].iter().any(|s| before.is(*s));
        let Some(sym) = first.name().filter(|_| alone) else { return false };
        let word = self.word(sym).to_string();
        let d = Diagnostic::error("P0241", format!("there is no type `{word}`"))
            .at(first.span, "not a type")
            .help("declare it with `typedef` above; if these are two statements, write `;` between them");
        self.report(d);
        self.skip_statement();
        true
    }

    /// `unless` after a separator, often one that the author does not see.
    fn unless_after(&mut self, sep: Span, implied: bool) {
        let d =
            Diagnostic::error("P0237", "`unless` follows a separator").at(self.cur().span, "nothing for it to guard");
        let d = if implied {
            d.label(sep, "the line end separates statements here")
                .help("write `unless` on the line where the guarded statement ends, or put that statement into `{ … }`")
        } else {
            let d = d.label(sep, "separator").help("remove the separator");
            if sep.via.is_none() { d.fix(sep, "") } else { d }
        };
        self.report(d.spin("6.5.2 reports a syntax error"));
    }

    /// A declaration, or a statement with its labels and its `unless`.
    ///
    /// This and what it calls on the way to a nested statement is kept small and free of messages: without optimisation
    /// each of them costs stack on every level.
    fn step(&mut self, first: First, out: &mut Vec<Stmt>) -> Read<()> {
        let labels = self.labels()?;
        if self.at_decl() {
            return self.decl_step(labels, out);
        }
        if let Some(key @ (Key::Xr | Key::Xs)) = self.cur().key() {
            return self.exclusive(labels, key, out);
        }
        if let Some(label) = labels.first() {
            self.first_label(label, first);
            if self.at_separator() || self.at_sequence_end() {
                let span = labels[labels.len() - 1].span;
                out.push(Stmt { labels, kind: StmtKind::LabelOnly, span });
                return Ok(());
            }
        }
        let (start, first) = (self.cur().span, self.pos);
        let kind = self.stmt()?;
        self.finish_step(labels, kind, (start, first), out)
    }

    #[inline(never)]
    fn finish_step(
        &mut self,
        labels: Vec<Ident>,
        kind: Box<StmtKind>,
        (start, first): (Span, usize),
        out: &mut Vec<Stmt>,
    ) -> Read<()> {
        let span = self.since(start);
        let span = if kind.is_simple() { self.of_macro(span, first) } else { span };
        out.push(Stmt { labels, kind: *kind, span });
        let implied = self.at(Sign::Semi) && self.cur().has(IMPLIED) && self.nth(1).key() == Some(Key::Unless);
        if implied && out.last().is_some_and(ends_with_brace) {
            self.bump();
        }
        if self.at_key(Key::Unless) { self.unless(start, out) } else { Ok(()) }
    }

    /// Of a statement that was read from the given token on: its span, and what it says if it lies inside the call of a macro.
    fn of_macro(&mut self, span: Span, first: usize) -> Span {
        let own = self.sources.surface(span);
        let is_macro = |via| self.sources.expansions[via].kind == ExpansionKind::Macro;
        let tokens = self.tokens.get(first..self.pos).unwrap_or(&[]);
        let through = tokens.iter().filter(|t| t.span.via.is_some_and(is_macro));
        let mut calls = through.map(|t| self.sources.surface(t.span));
        let holds =
            |call: &Span| (call.file, call.via) == (own.file, own.via) && call.lo <= own.lo && own.hi <= call.hi;
        let Some(call) = calls.find(holds) else { return span };
        let says = self.said(first, self.pos);
        let span = self.sources.add_statement(span, call, says);
        self.of_macros.push(span);
        span
    }

    /// Where a call came to one statement, the call is what the author wrote.
    pub(super) fn name_lone_calls(&mut self) {
        let call = |span: &Span| span.via.map(|via| self.sources.expansions[via].call);
        let calls: Vec<_> = self.of_macros.iter().map(call).collect();
        let mut often: HashMap<_, usize> = HashMap::new();
        calls.iter().for_each(|call| *often.entry(*call).or_default() += 1);
        for (span, _) in self.of_macros.iter().zip(&calls).filter(|(_, call)| often[*call] == 1) {
            if let Some(via) = span.via {
                self.sources.expansions[via].says = None;
            }
        }
    }

    /// Tokens as one would write them on a line.
    pub(super) fn said(&self, from: usize, to: usize) -> String {
        let mut out = String::new();
        let mut before: Option<Token> = None;
        let written = |t: &&Token| !t.has(IMPLIED);
        for token in self.tokens.get(from..to).unwrap_or(&[]).iter().filter(written) {
            let tight = |t: &Token, signs: &[Sign]| signs.iter().any(|s| t.is(*s));
            let value =
                before.is_some_and(|b| b.name().is_some() || tight(&b, &[Sign::CloseBracket, Sign::CloseParen]));
            let call = before.is_some_and(|b| b.name().is_some() || b.key().is_some());
            let passes = [Sign::Bang, Sign::Query, Sign::BangBang, Sign::QueryQuery];
            let glued = before.is_none_or(|b| tight(&b, &[Sign::OpenParen, Sign::OpenBracket, Sign::Dot, Sign::Tilde]))
                || before.is_some_and(|b| tight(&b, &passes))
                || tight(token, &[Sign::CloseParen, Sign::CloseBracket, Sign::Comma, Sign::Dot, Sign::Semi])
                || tight(token, &[Sign::PlusPlus, Sign::MinusMinus, Sign::OpenBracket])
                || value && tight(token, &passes)
                || call && tight(token, &[Sign::OpenParen]);
            if !glued {
                out.push(' ');
            }
            out.push_str(self.sources.text(token.span));
            before = Some(*token);
        }
        out
    }

    #[inline(never)]
    fn decl_step(&mut self, labels: Vec<Ident>, out: &mut Vec<Stmt>) -> Read<()> {
        let start = self.cur().span;
        if let Some(label) = labels.first() {
            let d = Diagnostic::error("P0235", format!("label `{}` stands before a declaration", label.name))
                .at(label.span, "")
                .label(start, "the declaration")
                .help("put the label on the statement that follows the declaration");
            self.report(d.spin("6.5.2 stops with \"label preceding declaration\""));
        }
        if self.at_key(Key::Mtype) && self.at_mtype_list() {
            let d = Diagnostic::error("P0240", "message types are declared outside of processes").at(start, "");
            return Err(self.fail(d.help("move this line in front of the proctype")));
        }
        let decl = self.decl()?;
        let span = decl.span;
        out.push(Stmt { labels: Vec::new(), kind: StmtKind::Decl(decl), span });
        Ok(())
    }

    /// `xr a, b`
    #[inline(never)]
    fn exclusive(&mut self, labels: Vec<Ident>, key: Key, out: &mut Vec<Stmt>) -> Read<()> {
        let start = self.cur().span;
        if let Some(label) = labels.first() {
            let d = Diagnostic::error("P0235", format!("label `{}` stands before `{}`", label.name, key.text()))
                .at(label.span, "")
                .help("put the label on the statement that follows");
            self.report(d.spin("6.5.2 stops with \"label preceding xr/xs claim\""));
        }
        self.bump();
        let mut chans = vec![self.var_ref()?];
        while self.eat(Sign::Comma) {
            chans.push(self.var_ref()?);
        }
        let kind = StmtKind::Exclusive { send: key == Key::Xs, chans };
        out.push(Stmt { labels: Vec::new(), kind, span: self.since(start) });
        Ok(())
    }

    /// The last statement of `out` is followed by `unless`.
    fn unless(&mut self, start: Span, out: &mut Vec<Stmt>) -> Read<()> {
        self.deeper()?;
        let word = self.bump().span;
        if let Some(main) = out.last() {
            self.label_before_unless(main, word);
        }
        let labels = self.labels()?;
        if let Some(label) = labels.first() {
            self.first_label(label, First::Refused);
        }
        if self.at_decl() {
            return Err(self.decl_after_unless());
        }
        let from = self.cur().span;
        let kind = self.stmt()?;
        self.finish_unless(labels, kind, from, start, out);
        self.depth -= 1;
        if self.at_key(Key::Unless) { Err(self.second_unless(word)) } else { Ok(()) }
    }

    #[inline(never)]
    fn finish_unless(&mut self, labels: Vec<Ident>, kind: Box<StmtKind>, from: Span, start: Span, out: &mut Vec<Stmt>) {
        let escape = Box::new(Stmt { labels, kind: *kind, span: self.since(from) });
        if let Some(mut main) = out.pop() {
            let labels = std::mem::take(&mut main.labels);
            let kind = StmtKind::Unless { main: Box::new(main), escape };
            out.push(Stmt { labels, kind, span: self.since(start) });
        }
    }

    #[inline(never)]
    fn label_before_unless(&mut self, main: &Stmt, unless: Span) {
        let block = matches!(
            main.kind,
            StmtKind::Block(_) | StmtKind::Atomic(_) | StmtKind::DStep(_) | StmtKind::Inline { .. }
        );
        let Some(label) = main.labels.first().filter(|_| !block) else { return };
        let d = Diagnostic::error("P0235", format!("label `{}` stands before a statement with `unless`", label.name))
            .at(label.span, "it is not clear what it marks")
            .label(unless, "the `unless`")
            .help(format!("write `{}: {{ … }} unless …`", label.name));
        self.diags.push(d.spin("6.5.2 stops with \"label placed incorrectly\""));
    }

    #[cold]
    fn decl_after_unless(&mut self) -> Failed {
        let d = Diagnostic::error("P0240", "a declaration cannot follow `unless`").at(self.cur().span, "");
        self.fail(d.help("declare the variable before the statement"))
    }

    #[cold]
    fn second_unless(&mut self, first: Span) -> Failed {
        let d = Diagnostic::error("P0237", "a statement has one `unless`")
            .at(self.cur().span, "second one")
            .label(first, "first one");
        self.fail(d.help("put the statement with its first `unless` into `{ … }`"))
    }

    fn labels(&mut self) -> Read<Vec<Ident>> {
        let mut labels = Vec::new();
        while self.at_label() {
            if self.nth(2).is(Sign::Assign) && self.nth(1).span.hi == self.nth(2).span.lo {
                self.bump();
                return Err(self.colon_assign());
            }
            labels.push(self.ident("a label")?);
            self.bump();
        }
        Ok(labels)
    }

    /// `P:x` refers to a variable of process `P`, which is why proctypes cannot name labels.
    fn at_label(&self) -> bool {
        self.nth(1).is(Sign::Colon) && self.cur().name().is_some_and(|sym| !self.known.proctypes.contains(&sym))
    }

    fn first_label(&mut self, label: &Ident, first: First) {
        let name = &label.name;
        match first {
            First::Free => {}
            First::Refused => {
                let d = Diagnostic::error("P0235", format!("label `{name}` is the first thing in a block"))
                    .at(label.span, "")
                    .help(format!("put it before the block: `{name}: {{ … }}`"));
                self.diags.push(d.spin("6.5.2 stops with \"label placed incorrectly\""));
            }
            First::Guard => {
                let d = Diagnostic::warning("P0236", format!("label `{name}` stands before a guard"))
                    .at(label.span, "no process ever stops here")
                    .help("put it before the `if` or `do`, or on a statement after the guard");
                self.diags.push(d.spin("6.5.2 prints \"label placed incorrectly\" and goes on"));
            }
        }
    }

    pub(super) fn at_decl(&self) -> bool {
        let token = self.cur();
        match token.tok {
            Tok::Word(_) => match token.key() {
                Some(key) => key.begins_decl(),
                None => {
                    let next = self.nth(1);
                    let known = token.name().is_some_and(|sym| self.known.typedefs.contains(&sym));
                    next.name().is_some() && (known || self.at_c_type() && !next.has(NEWLINE))
                }
            },
            _ => false,
        }
    }
}
