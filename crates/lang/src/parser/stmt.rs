//! Statements and sequences of them.

use super::{Failed, MAX_STRING, Opened, Opener, Parser, Read};
use crate::ast::*;
use crate::token::{IMPLIED, Key, NEWLINE, Sign, Sym, Tok, Token};
use spinor_model::diagnostic::Diagnostic;
use spinor_model::source::Span;

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

#[inline(never)]
fn boxed<T>(kind: fn(T) -> StmtKind, content: T) -> Box<StmtKind> {
    Box::new(kind(content))
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
        let start = self.cur().span;
        let kind = self.stmt()?;
        self.finish_step(labels, kind, start, out)
    }

    #[inline(never)]
    fn finish_step(&mut self, labels: Vec<Ident>, kind: Box<StmtKind>, start: Span, out: &mut Vec<Stmt>) -> Read<()> {
        out.push(Stmt { labels, kind: *kind, span: self.since(start) });
        let implied = self.at(Sign::Semi) && self.cur().has(IMPLIED) && self.nth(1).key() == Some(Key::Unless);
        if implied && out.last().is_some_and(ends_with_brace) {
            self.bump();
        }
        if self.at_key(Key::Unless) { self.unless(start, out) } else { Ok(()) }
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

    /// One statement, without labels and `unless`.
    fn stmt(&mut self) -> Read<Box<StmtKind>> {
        if self.at(Sign::OpenBrace) {
            return self.plain_block();
        }
        match self.cur().key() {
            Some(Key::If) => self.selection(Opened::If),
            Some(Key::Do) => self.selection(Opened::Do),
            Some(Key::For) => self.for_loop(),
            Some(key @ (Key::Atomic | Key::DStep)) => self.atomic(key),
            Some(key) => self.simple(key).map(Box::new),
            None => self.named_or_expr(),
        }
    }

    fn plain_block(&mut self) -> Read<Box<StmtKind>> {
        let seq = self.block(First::Refused)?;
        Ok(boxed(StmtKind::Block, seq))
    }

    fn atomic(&mut self, key: Key) -> Read<Box<StmtKind>> {
        self.bump();
        if !self.at(Sign::OpenBrace) {
            return Err(self.unexpected(&format!("`{{` after `{}`", key.text())));
        }
        let seq = self.block(First::Refused)?;
        Ok(boxed(if key == Key::Atomic { StmtKind::Atomic } else { StmtKind::DStep }, seq))
    }

    /// Statements that begin with a word and hold no other statements.
    #[inline(never)]
    fn simple(&mut self, key: Key) -> Read<StmtKind> {
        let token = self.cur();
        match key {
            Key::Select => self.select(),
            Key::Break => {
                self.bump();
                Ok(StmtKind::Break)
            }
            Key::Else => {
                self.bump();
                Ok(StmtKind::Else)
            }
            Key::Goto => {
                self.bump();
                Ok(StmtKind::Goto(self.ident("a label")?))
            }
            Key::Assert => {
                self.bump();
                Ok(StmtKind::Assert(self.expr()?))
            }
            Key::Printf => self.printf(),
            Key::Printm => self.printm(),
            Key::SetPriority => self.set_priority(),
            Key::Return => self.return_stmt(),
            Key::CState | Key::CTrack => {
                let d =
                    Diagnostic::error("P0240", format!("`{}` stands inside a process", key.text())).at(token.span, "");
                self.report(d.help("move it in front of the proctype"));
                self.c_strings(key)?;
                Ok(StmtKind::Error)
            }
            Key::Unless => {
                let d = Diagnostic::error("P0237", "`unless` has no statement before it").at(token.span, "");
                Err(self.fail(d.help("write `statement unless { … }`")))
            }
            _ => self.expr_stmt(),
        }
    }

    #[inline(never)]
    fn named_or_expr(&mut self) -> Read<Box<StmtKind>> {
        if let Some(sym) = self.cur().name()
            && self.nth(1).is(Sign::OpenParen)
            && !self.statement_habit_next()
        {
            return self.call(sym);
        }
        let assigned = self.assigned_call()?;
        match assigned {
            Some((sym, to)) => {
                let (start, kind) = (self.cur(), self.inline_call(sym, Some(to))?);
                if self.operator().is_some() { Err(self.inline_in_expr(sym, start, true)) } else { Ok(kind) }
            }
            None => self.named_simple().map(Box::new),
        }
    }

    /// `x = f(` with an inline `f`: gives the inline and the variable, and has taken everything up to the name.
    #[inline(never)]
    fn assigned_call(&mut self) -> Read<Option<(Sym, VarRef)>> {
        let (pos, prev) = (self.pos, self.prev);
        // A call needs a name and `(` after the first `=`; most statements are sorted out without reading them twice.
        let eq = (1..64).find(|n| self.nth(*n).is(Sign::Assign) || self.nth(*n).is(Sign::Semi));
        let Some(eq) = eq.filter(|n| self.nth(*n).is(Sign::Assign)) else { return Ok(None) };
        let Some(sym) = self.nth(eq + 1).name().filter(|sym| self.known.inlines.contains(sym)) else { return Ok(None) };
        if self.cur().name().is_none() || !self.nth(eq + 2).is(Sign::OpenParen) {
            return Ok(None);
        }
        let to = self.var_ref()?;
        if self.at(Sign::Assign) && self.pos == pos + eq {
            self.bump();
            return Ok(Some((sym, to)));
        }
        self.pos = pos;
        self.prev = prev;
        Ok(None)
    }

    #[inline(never)]
    fn named_simple(&mut self) -> Read<StmtKind> {
        let token = self.cur();
        if token.tok == Tok::C(Key::CCode) {
            self.bump();
            return Ok(StmtKind::C(CFragment { keyword: "c_code", span: token.span }));
        }
        if self.operator_after_line_end() || self.statement_habit() {
            return Ok(StmtKind::Error);
        }
        if self.cur().name().is_none() {
            return self.expr_stmt();
        }
        // Only a variable tells what kind of statement this is, so it is read ahead; expressions begin again.
        let (pos, prev) = (self.pos, self.prev);
        let to = self.var_ref()?;
        let token = self.cur();
        let Tok::Sign(sign) = token.tok else { return self.expr_from(pos, prev) };
        match sign {
            Sign::Assign => {
                self.bump();
                let value = self.expr()?;
                self.chained_assignment()?;
                Ok(StmtKind::Assign { to, value })
            }
            Sign::PlusPlus | Sign::MinusMinus => {
                self.bump();
                Ok(StmtKind::Step { to, up: sign == Sign::PlusPlus })
            }
            Sign::Bang | Sign::BangBang => self.send(to, sign == Sign::BangBang),
            Sign::Query | Sign::QueryQuery if !self.nth(1).is(Sign::OpenBracket) => {
                self.receive(to, sign == Sign::QueryQuery)
            }
            _ => {
                if let Some(failed) = self.compound_assign(&to) {
                    return Err(failed);
                }
                self.expr_from(pos, prev)
            }
        }
    }

    fn expr_from(&mut self, pos: usize, prev: Span) -> Read<StmtKind> {
        self.pos = pos;
        self.prev = prev;
        self.expr_stmt()
    }

    #[inline(never)]
    fn expr_stmt(&mut self) -> Read<StmtKind> {
        if self.operator_after_line_end() {
            return Ok(StmtKind::Error);
        }
        let e = self.expr()?;
        self.run_alone(&e);
        self.chained_assignment()?;
        Ok(StmtKind::Expr(e))
    }

    /// `{ … }` as a statement, or what follows `atomic`, `for (…)`.
    #[inline(never)]
    fn block(&mut self, first: First) -> Read<Seq> {
        self.deeper()?;
        let open = self.bump().span;
        self.open.push(Opener { what: Opened::Brace, span: open });
        let seq = self.braced(open, first, None);
        self.open.pop();
        self.depth -= 1;
        Ok(seq)
    }

    // Selections

    #[inline(never)]
    fn selection(&mut self, what: Opened) -> Read<Box<StmtKind>> {
        self.deeper()?;
        let word = self.bump().span;
        let opener = Opener { what, span: word };
        if !self.at(Sign::ColonColon) {
            if what == Opened::If && self.c_if(word) || what == Opened::Do && self.c_do(word) {
                self.depth -= 1;
                return Ok(boxed(|_| StmtKind::Error, ()));
            }
            self.missing_guard(opener);
        }
        self.open.push(opener);
        let mut options = Vec::new();
        let mut lead = self.eat(Sign::ColonColon).then_some(self.prev);
        while !self.stopped {
            let start = lead.unwrap_or(self.cur().span);
            let stmts = self.sequence(First::Guard);
            let close = self.cur().span;
            if stmts.is_empty() {
                if lead.is_none() {
                    break;
                }
                self.empty_option(start);
            }
            options.push(Seq { stmts, span: self.since(start), close });
            if !self.eat(Sign::ColonColon) {
                break;
            }
            lead = Some(self.prev);
        }
        self.close_selection(opener);
        self.open.pop();
        self.depth -= 1;
        Ok(boxed(if what == Opened::If { StmtKind::If } else { StmtKind::Do }, options))
    }

    #[cold]
    fn empty_option(&mut self, at: Span) {
        let d = Diagnostic::error("P0203", "this option is empty").at(at, "no statement follows");
        self.report(d.help("write `:: skip` if nothing is to be done, or remove the option"));
    }

    fn close_selection(&mut self, opener: Opener) {
        let (own, other) = match opener.what {
            Opened::If => (Key::Fi, Key::Od),
            _ => (Key::Od, Key::Fi),
        };
        if self.eat_key(own) {
            return;
        }
        let outer = self.open.iter().rev().skip(1);
        let taken = outer.take_while(|o| o.what != Opened::Brace).any(|o| o.what != opener.what);
        if self.at_key(other) && !taken {
            let token = self.cur().span;
            let word = if opener.what == Opened::If { "if" } else { "do" };
            let d = Diagnostic::error("P0013", format!("this `{word}` is closed by `{}`", other.text()))
                .at(token, format!("should be `{}`", own.text()))
                .label(opener.span, "opened here")
                .help(format!("write `{}`", own.text()));
            self.report(if token.via.is_none() { d.fix(token, own.text()) } else { d });
            self.bump();
            return;
        }
        self.never_closed(opener, None);
    }

    /// The end came too early for something that was opened.
    pub(super) fn never_closed(&mut self, opener: Opener, owner: Option<&str>) {
        if self.stopped || self.excused() {
            return;
        }
        let token = self.cur();
        let (code, word, closer) = match opener.what {
            Opened::If => ("P0011", "if", "fi"),
            Opened::Do => ("P0012", "do", "od"),
            Opened::Brace => ("P0010", "{", "}"),
        };
        if opener.what == Opened::Brace && matches!(token.key(), Some(Key::Fi | Key::Od)) {
            // A closing word inside a block: either it is one too many, or the block was meant to end before it.
            let enclosing = self.open.iter().rev().skip(1).find(|o| o.what != Opened::Brace);
            let wanted = if token.key() == Some(Key::Fi) { Opened::If } else { Opened::Do };
            if enclosing.is_none_or(|o| o.what != wanted) {
                let text = self.describe(&token);
                let opens = if wanted == Opened::If { "if" } else { "do" };
                let d = Diagnostic::error("P0014", format!("this {text} closes nothing"))
                    .at(token.span, format!("no `{opens}` is open here"))
                    .label(opener.span, "in this block")
                    .help("remove it, or add what it should close");
                self.report(d);
                self.bump();
                // Reading goes on in the same block, as if it had not been there.
                self.skip_separators();
                self.sequence(First::Free);
                if self.eat(Sign::CloseBrace) {
                    return;
                }
                return self.never_closed(opener, owner);
            }
        }
        let line = self.sources.end(self.sources.surface(self.prev)).line;
        let mut d = Diagnostic::error(code, format!("this `{word}` is never closed")).at(opener.span, "opened here");
        let what = self.describe(&token);
        let reached = match token.tok {
            Tok::Eof => None,
            Tok::Sign(Sign::CloseBrace) => Some(format!("the block ends here, before any `{closer}`")),
            Tok::Sign(Sign::ColonColon) => Some(format!("{what} cannot stand inside the block")),
            _ if token.key().is_some_and(Key::begins_unit) => {
                Some(format!("{what} begins here, before any `{closer}`"))
            }
            _ => Some(format!("{what} stands here, before any `{closer}`")),
        };
        if let Some(text) = reached {
            d = d.label(token.span, text);
        }
        let end = self.after_prev();
        d = d.help(format!("add `{closer}` after line {line}"));
        if end.via.is_none() {
            d = d.fix(end, format!("\n{closer}"));
        }
        if let (Some(owner), Opened::Brace) = (owner, opener.what) {
            d.message = format!("the body of {owner} is never closed");
        }
        // One forgotten word leaves everything around it open too.
        let here = (token.span, self.pos);
        if self.last_error != Some(here) {
            self.last_error = Some(here);
            self.diags.push(d);
        }
    }

    // Loops over ranges

    #[cold]
    fn decl_in_for(&mut self) {
        let d = Diagnostic::error("P0208", "a variable is declared inside `for (…)`").at(self.cur().span, "");
        self.report(d.help("declare it before the loop: `byte i; for (i : 0 .. 9) { … }`"));
        self.bump();
    }

    fn for_loop(&mut self) -> Read<Box<StmtKind>> {
        let mut kind = self.for_head()?;
        let block = self.for_body()?;
        if let StmtKind::ForRange { body, .. } | StmtKind::ForIn { body, .. } = &mut *kind {
            *body = block;
        }
        Ok(kind)
    }

    /// A `for` without its body.
    #[inline(never)]
    fn for_head(&mut self) -> Read<Box<StmtKind>> {
        let word = self.bump().span;
        self.expect(Sign::OpenParen, "after `for`")?;
        if self.cur().key().is_some_and(Key::begins_decl) {
            self.decl_in_for();
        }
        let var = self.var_ref()?;
        if self.at(Sign::Assign) {
            return Err(self.c_for(word, &var));
        }
        if self.cur_word() == Some("in") {
            self.bump();
            let over = self.var_ref()?;
            self.close_paren("the range of `for`")?;
            return Ok(Box::new(StmtKind::ForIn { var, over, body: Seq::default() }));
        }
        self.expect(Sign::Colon, "and a range after the variable of `for`")?;
        let (from, to) = self.range("for")?;
        Ok(Box::new(StmtKind::ForRange { var, from, to, body: Seq::default() }))
    }

    fn for_body(&mut self) -> Read<Seq> {
        // SPIN lets separators stand here, its own ones included.
        let pos = self.pos;
        self.skip_separators();
        if self.at(Sign::OpenBrace) {
            return self.block(First::Free);
        }
        let failed = self.for_without_block();
        self.pos = pos;
        Err(failed)
    }

    #[cold]
    fn for_without_block(&mut self) -> Failed {
        let d = Diagnostic::error("P0208", "the body of `for` is a block").at(self.cur().span, "no `{` here");
        self.fail(d.help("put the statements into `{ … }`"))
    }

    /// `a .. b )`
    fn range(&mut self, word: &str) -> Read<(Expr, Expr)> {
        let from = self.expr()?;
        self.expect(Sign::DotDot, &format!("between the bounds of `{word}`"))?;
        let to = self.expr()?;
        self.close_paren(&format!("the range of `{word}`"))?;
        Ok((from, to))
    }

    #[inline(never)]
    fn select(&mut self) -> Read<StmtKind> {
        self.bump();
        self.expect(Sign::OpenParen, "after `select`")?;
        let var = self.var_ref()?;
        self.expect(Sign::Colon, "and a range after the variable of `select`")?;
        let number = |t: crate::token::Token| matches!(t.tok, Tok::Number(_));
        let literal = number(self.nth(0))
            && self.nth(1).is(Sign::DotDot)
            && number(self.nth(2))
            && self.nth(3).is(Sign::CloseParen);
        let (from, to) = self.range("select")?;
        Ok(StmtKind::Select { var, from, to, literal })
    }

    // Statements with parentheses

    #[inline(never)]
    fn printf(&mut self) -> Read<StmtKind> {
        self.bump();
        self.expect(Sign::OpenParen, "after `printf`")?;
        let token = self.cur();
        let format = match token.tok {
            Tok::Str(sym) => sym,
            Tok::Char(sym) => {
                let text = self.word(sym).to_string();
                let d = Diagnostic::error("P0224", "the format of `printf` stands in double quotes")
                    .at(token.span, "single quotes hold one character")
                    .help("write `\"` on both sides");
                self.report(if token.span.via.is_none() { d.fix(token.span, format!("\"{text}\"")) } else { d });
                sym
            }
            _ => {
                let d = Diagnostic::error("P0224", "`printf` begins with a format in double quotes");
                let d = d.at(token.span, "not a string").help("write for example `printf(\"x is %d\\n\", x)`");
                return Err(self.fail(d));
            }
        };
        self.bump();
        let format = self.names.shared(format);
        if format.len() > MAX_STRING {
            let n = format.len();
            self.diags.push(
                Diagnostic::error("P0007", format!("this string has {n} characters, at most {MAX_STRING} are allowed"))
                    .at(token.span, "")
                    .help("print it in several pieces")
                    .spin("6.5.2 crashes on strings of more than about 2000 characters"),
            );
        }
        if let Tok::Str(_) = self.cur().tok {
            let d = Diagnostic::error("P0224", "two strings in a row are not joined").at(self.cur().span, "");
            self.report(d.help("write one string"));
            self.bump();
        }
        let mut args = Vec::new();
        while self.eat(Sign::Comma) {
            args.push(self.expr()?);
        }
        self.close_paren("the arguments of `printf`")?;
        Ok(StmtKind::Printf { format, format_span: token.span, args })
    }

    #[inline(never)]
    fn printm(&mut self) -> Read<StmtKind> {
        self.bump();
        self.expect(Sign::OpenParen, "after `printm`")?;
        let e = self.expr()?;
        self.close_paren("the argument of `printm`")?;
        Ok(StmtKind::Printm(e))
    }

    #[inline(never)]
    fn set_priority(&mut self) -> Read<StmtKind> {
        self.bump();
        self.expect(Sign::OpenParen, "after `set_priority`")?;
        let pid = self.expr()?;
        self.expect(Sign::Comma, "and the priority")?;
        let value = self.expr()?;
        self.close_paren("the arguments of `set_priority`")?;
        Ok(StmtKind::SetPriority { pid, value })
    }
}
