//! Statements and sequences of them.

use super::{MAX_STRING, Opened, Opener, Parser, Read};
use crate::ast::*;
use crate::token::{IMPLIED, Key, NEWLINE, Sign, Tok};
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
            let span = self.cur().span;
            let what = self.describe(&self.cur());
            let d = Diagnostic::error("P0204", format!("{what} stands where a statement should begin")).at(span, "");
            self.report(if span.via.is_none() { d.help("remove it").fix(span, "") } else { d.help("remove it") });
            self.skip_separators();
        }
        while !self.at_sequence_end() {
            let before = self.pos;
            let place = if stmts.is_empty() { first } else { First::Free };
            let start = self.cur().span;
            match self.step(place) {
                Ok(stmt) => stmts.push(stmt),
                Err(_) => {
                    self.skip_statement();
                    let span = self.since(start);
                    stmts.push(Stmt { labels: Vec::new(), kind: StmtKind::Error, span });
                }
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
            || token.key().is_some_and(|k| !matches!(k, Key::Of | Key::Unless | Key::Priority | Key::Provided | Key::Eval));
        if !starts {
            self.unexpected("`;` or the end of the statement");
            self.skip_statement();
            return;
        }
        let what = self.describe(&token);
        let d = Diagnostic::error("P0202", format!("a separator is missing before {what}"))
            .at(token.span, "another statement begins here")
            .label(self.prev, "the one before it ends here");
        let d = d.help("write `;` between them, or begin a new line");
        self.report(if at.via.is_none() && token.span.via.is_none() { d.fix(at, ";") } else { d });
    }

    /// `unless` after a separator, often one that the author does not see.
    fn unless_after(&mut self, sep: Span, implied: bool) {
        let d = Diagnostic::error("P0237", "`unless` follows a separator").at(self.cur().span, "nothing for it to guard");
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
    fn step(&mut self, first: First) -> Read<Stmt> {
        let labels = self.labels()?;
        let start = self.cur().span;
        if self.at_decl() {
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
            return Ok(Stmt { labels: Vec::new(), kind: StmtKind::Decl(decl), span });
        }
        if let Some(key @ (Key::Xr | Key::Xs)) = self.cur().key() {
            if let Some(label) = labels.first() {
                let d = Diagnostic::error("P0235", format!("label `{}` stands before `{}`", label.name, key.text()))
                    .at(label.span, "")
                    .help("put the label on the statement that follows");
                self.report(d);
            }
            self.bump();
            let mut chans = vec![self.var_ref()?];
            while self.eat(Sign::Comma) {
                chans.push(self.var_ref()?);
            }
            let kind = StmtKind::Exclusive { send: key == Key::Xs, chans };
            return Ok(Stmt { labels: Vec::new(), kind, span: self.since(start) });
        }
        if let Some(label) = labels.first() {
            self.first_label(label, first);
        }
        if (self.at_separator() || self.at_sequence_end()) && !labels.is_empty() {
            let span = labels[labels.len() - 1].span;
            return Ok(Stmt { labels, kind: StmtKind::LabelOnly, span });
        }
        let kind = self.stmt()?;
        let main = Stmt { labels, kind, span: self.since(start) };
        let implied = self.at(Sign::Semi) && self.cur().has(IMPLIED) && self.nth(1).key() == Some(Key::Unless);
        if implied && ends_with_brace(&main) {
            self.bump();
        }
        if !self.at_key(Key::Unless) {
            return Ok(main);
        }
        self.unless(main, start)
    }

    #[inline(never)]
    fn unless(&mut self, mut main: Stmt, start: Span) -> Read<Stmt> {
        let word = self.bump().span;
        let block = matches!(
            main.kind,
            StmtKind::Block(_) | StmtKind::Atomic(_) | StmtKind::DStep(_) | StmtKind::Inline { .. }
        );
        if let (Some(label), false) = (main.labels.first(), block) {
            let d = Diagnostic::error("P0235", format!("label `{}` stands before a statement with `unless`", label.name))
                .at(label.span, "it is not clear what it marks")
                .label(word, "the `unless`")
                .help(format!("write `{}: {{ … }} unless …`", label.name));
            self.diags.push(d.spin("6.5.2 stops with \"label placed incorrectly\""));
        }
        let labels = self.labels()?;
        if let Some(label) = labels.first() {
            self.first_label(label, First::Refused);
        }
        if self.at_decl() {
            let d = Diagnostic::error("P0240", "a declaration cannot follow `unless`").at(self.cur().span, "");
            return Err(self.fail(d.help("declare the variable before the statement")));
        }
        let from = self.cur().span;
        let kind = self.stmt()?;
        let escape = Stmt { labels, kind, span: self.since(from) };
        if self.at_key(Key::Unless) {
            let d = Diagnostic::error("P0237", "a statement has one `unless`")
                .at(self.cur().span, "second one")
                .label(word, "first one");
            return Err(self.fail(d.help("put the statement with its first `unless` into `{ … }`")));
        }
        let labels = std::mem::take(&mut main.labels);
        let kind = StmtKind::Unless { main: Box::new(main), escape: Box::new(escape) };
        Ok(Stmt { labels, kind, span: self.since(start) })
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
                    next.name().is_some() && !(next.has(NEWLINE) && !known) && (known || self.at_c_type())
                }
            },
            _ => false,
        }
    }

    /// One statement, without labels and `unless`.
    fn stmt(&mut self) -> Read<StmtKind> {
        let token = self.cur();
        match token.tok {
            Tok::C(Key::CCode) => {
                self.bump();
                return Ok(StmtKind::C(CFragment { keyword: "c_code", span: token.span }));
            }
            Tok::Sign(Sign::OpenBrace) => return Ok(StmtKind::Block(self.block(First::Refused)?)),
            _ => {}
        }
        let Some(key) = token.key() else { return self.named_or_expr() };
        match key {
            Key::If => self.selection(Opened::If),
            Key::Do => self.selection(Opened::Do),
            Key::For => self.for_loop(),
            Key::Select => self.select(),
            Key::Atomic | Key::DStep => {
                self.bump();
                if !self.at(Sign::OpenBrace) {
                    return Err(self.unexpected(&format!("`{{` after `{}`", key.text())));
                }
                let seq = self.block(First::Refused)?;
                Ok(if key == Key::Atomic { StmtKind::Atomic(seq) } else { StmtKind::DStep(seq) })
            }
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
                let d = Diagnostic::error("P0240", format!("`{}` stands inside a process", key.text())).at(token.span, "");
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
    fn named_or_expr(&mut self) -> Read<StmtKind> {
        if self.operator_after_line_end() || self.statement_habit() {
            return Ok(StmtKind::Error);
        }
        let Some(sym) = self.cur().name() else { return self.expr_stmt() };
        if self.nth(1).is(Sign::OpenParen) {
            return self.call(sym);
        }
        // Only a variable tells what kind of statement this is, so it is read ahead; expressions begin again.
        let (pos, prev) = (self.pos, self.prev);
        let to = self.var_ref()?;
        let token = self.cur();
        let Tok::Sign(sign) = token.tok else { return self.expr_from(pos, prev) };
        match sign {
            Sign::Assign => {
                self.bump();
                if let Some(sym) = self.cur().name()
                    && self.nth(1).is(Sign::OpenParen)
                    && self.known.inlines.contains(&sym)
                {
                    return self.inline_call(sym, Some(to));
                }
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
    fn selection(&mut self, what: Opened) -> Read<StmtKind> {
        self.deeper()?;
        let word = self.bump().span;
        let opener = Opener { what, span: word };
        if !self.at(Sign::ColonColon) {
            if what == Opened::If && self.c_if(word) {
                self.depth -= 1;
                return Ok(StmtKind::Error);
            }
            if what == Opened::Do && self.c_do(word) {
                self.depth -= 1;
                return Ok(StmtKind::Error);
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
                let d = Diagnostic::error("P0203", "this option is empty").at(start, "no statement follows");
                self.report(d.help("write `:: skip` if nothing is to be done, or remove the option"));
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
        Ok(if what == Opened::If { StmtKind::If(options) } else { StmtKind::Do(options) })
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
        if self.stopped {
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
                let (opens, d) = if wanted == Opened::If { ("if", "P0014") } else { ("do", "P0014") };
                let d = Diagnostic::error(d, format!("this {text} closes nothing"))
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
        let line = self.sources.line(self.prev);
        let mut d = Diagnostic::error(code, format!("this `{word}` is never closed")).at(opener.span, "opened here");
        let what = self.describe(&token);
        let reached = match token.tok {
            Tok::Eof => None,
            Tok::Sign(Sign::CloseBrace) => Some(format!("the block ends here, before any `{closer}`")),
            Tok::Sign(Sign::ColonColon) => Some(format!("{what} cannot stand inside the block")),
            _ if token.key().is_some_and(Key::begins_unit) => Some(format!("{what} begins here, before any `{closer}`")),
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

    #[inline(never)]
    fn for_loop(&mut self) -> Read<StmtKind> {
        let word = self.bump().span;
        self.expect(Sign::OpenParen, "after `for`")?;
        if self.cur().key().is_some_and(Key::begins_decl) {
            let d = Diagnostic::error("P0208", "a variable is declared inside `for (…)`").at(self.cur().span, "");
            self.report(d.help("declare it before the loop: `byte i; for (i : 0 .. 9) { … }`"));
            self.bump();
        }
        let var = self.var_ref()?;
        if self.at(Sign::Assign) {
            return Err(self.c_for(word, &var));
        }
        if self.cur_word() == Some("in") {
            self.bump();
            let over = self.var_ref()?;
            self.close_paren("the range of `for`")?;
            let body = self.for_body()?;
            return Ok(StmtKind::ForIn { var, over, body });
        }
        self.expect(Sign::Colon, "and a range after the variable of `for`")?;
        let (from, to) = self.range("for")?;
        let body = self.for_body()?;
        Ok(StmtKind::ForRange { var, from, to, body })
    }

    fn for_body(&mut self) -> Read<Seq> {
        // SPIN lets separators stand here, its own ones included.
        let pos = self.pos;
        self.skip_separators();
        if self.at(Sign::OpenBrace) {
            return self.block(First::Free);
        }
        self.pos = pos;
        let token = self.cur();
        let d = Diagnostic::error("P0208", "the body of `for` is a block").at(token.span, "no `{` here");
        Err(self.fail(d.help("put the statements into `{ … }`")))
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

