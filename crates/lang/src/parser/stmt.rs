//! Statements, one by one.

use super::seq::First;
use super::{Failed, MAX_STRING, Opened, Opener, Parser, Read};
use crate::ast::*;
use crate::token::{Key, Sign, Sym, Tok};
use spinor_model::diagnostic::Diagnostic;
use spinor_model::source::Span;

#[inline(never)]
fn boxed<T>(kind: fn(T) -> StmtKind, content: T) -> Box<StmtKind> {
    Box::new(kind(content))
}

impl Parser {
    /// One statement, without labels and `unless`.
    pub(super) fn stmt(&mut self) -> Read<Box<StmtKind>> {
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
        let before = self.pos;
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
        let (first, name) = (self.pos, self.said(before, self.pos));
        self.expect(Sign::Colon, "and a range after the variable of `for`")?;
        let (from, to) = self.range("for")?;
        let steps = self.for_steps(first + 1, &name, var.span);
        Ok(Box::new(StmtKind::ForRange { var, from, to, body: Seq::default(), steps }))
    }

    /// The steps of a range that was read from the given token on, with its closing parenthesis.
    #[inline(never)]
    fn for_steps(&mut self, first: usize, name: &str, var: Span) -> [Span; 4] {
        let dots = (first..self.pos).find(|n| self.tokens[*n].is(Sign::DotDot)).unwrap_or(first);
        let (from, to) = (self.said(first, dots), self.said(dots + 1, self.pos - 1));
        let call = self.sources.surface(var);
        [format!("{name} = {from}"), format!("{name} <= {to}"), format!("{name}++"), "else".to_string()]
            .map(|says| self.sources.add_statement(var, call, says))
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
