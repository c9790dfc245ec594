//! The top level of a model.

use super::seq::First;
use super::{Opened, Opener, Parser, Read};
use crate::ast::*;
use crate::token::{Key, Sign, Tok};
use spinor_model::diagnostic::Diagnostic;
use spinor_model::source::Span;

impl Parser {
    pub(super) fn program(&mut self) -> Program {
        let mut units = Vec::new();
        loop {
            self.skip_separators();
            if self.at_end() {
                return Program { units, symmetric: Vec::new() };
            }
            let before = self.pos;
            match self.unit() {
                Ok(Some(unit)) => units.push(unit),
                Ok(None) => {}
                Err(_) => self.skip_unit(),
            }
            self.open.clear();
            self.depth = 0;
            if self.pos == before {
                self.bump();
            }
        }
    }

    fn unit(&mut self) -> Read<Option<Unit>> {
        let token = self.cur();
        if let Tok::C(key) = token.tok {
            self.bump();
            return Ok(Some(Unit::C(CFragment { keyword: key.text(), span: token.span })));
        }
        let Some(key) = token.key() else { return self.named_unit() };
        Ok(Some(match key {
            Key::Active | Key::Proctype | Key::DProctype => Unit::Proctype(Box::new(self.proctype()?)),
            Key::Init => Unit::Proctype(Box::new(self.init()?)),
            Key::Never => Unit::Never(self.never()?),
            Key::Trace | Key::Notrace => Unit::Trace(self.trace()?),
            Key::Ltl => Unit::Ltl(self.ltl()?),
            Key::Typedef => Unit::Typedef(self.typedef()?),
            Key::Inline => {
                self.inline_definition()?;
                return Ok(None);
            }
            Key::Mtype if self.at_mtype_list() => Unit::Mtype(self.mtype_decl()?),
            Key::CState | Key::CTrack => Unit::C(self.c_strings(key)?),
            Key::CCode | Key::CDecl | Key::CExpr => {
                self.bump();
                return Err(self.unexpected(&format!("`{{` after `{}`", key.text())));
            }
            key if key.begins_decl() => {
                if self.c_function()? {
                    return Ok(None);
                }
                let decl = self.decl()?;
                self.end_of_declaration()?;
                Unit::Decl(decl)
            }
            _ => return Err(self.outside()),
        }))
    }

    fn named_unit(&mut self) -> Read<Option<Unit>> {
        let token = self.cur();
        if token.is(Sign::CloseBrace) {
            let d = Diagnostic::error("P0014", "this `}` closes nothing").at(token.span, "no block is open here");
            self.report(d.help("remove it, or look for a `}` too many above"));
            self.bump();
            return Ok(None);
        }
        if token.name().is_none() {
            return Err(self.outside());
        }
        if self.c_function()? {
            return Ok(None);
        }
        let follows_name = self.nth(1).name().is_some();
        if follows_name || token.name().is_some_and(|sym| self.known.typedefs.contains(&sym)) {
            let decl = self.decl()?;
            self.end_of_declaration()?;
            return Ok(Some(Unit::Decl(decl)));
        }
        Err(self.outside())
    }

    /// Units may follow each other without separators, but what follows must be one.
    fn end_of_declaration(&mut self) -> Read<()> {
        let token = self.cur();
        let fine = self.at_separator()
            || self.at_end()
            || matches!(token.tok, Tok::C(_))
            || token.key().is_some_and(|k| k.begins_unit() || k.begins_decl())
            || matches!(token.key(), Some(Key::CState | Key::CTrack))
            || token.name().is_some_and(|_| self.nth(1).name().is_some());
        if fine { Ok(()) } else { Err(self.unexpected("`;` after the declaration")) }
    }

    /// Something that stands on the top level and does not belong there.
    fn outside(&mut self) -> super::Failed {
        let token = self.cur();
        let statement = token.name().is_some()
            || token.key().is_some_and(|k| {
                use Key::*;
                matches!(
                    k,
                    If | Do | For | Atomic | DStep | Assert | Printf | Goto | Break | Run | Skip | Select | Else
                )
            });
        if statement {
            let what = self.describe(&token);
            let d = Diagnostic::error("P0240", format!("a statement stands outside any process: {what}"))
                .at(token.span, "not inside `{ … }` of a proctype")
                .help("put it into `init { … }` or into a proctype; before it, look for a `}` too many");
            return self.fail(d);
        }
        self.unexpected("a proctype, a declaration, or another unit of the model")
    }

    /// Skips to something that can begin a unit.
    fn skip_unit(&mut self) {
        let mut depth = 0usize;
        loop {
            let token = self.cur();
            match token.tok {
                Tok::Eof => return,
                Tok::Word(_) => match token.key() {
                    Some(key) if key.begins_unit() => return,
                    Some(key) if depth == 0 && (key.begins_decl() || matches!(key, Key::CState | Key::CTrack)) => {
                        return;
                    }
                    _ => {}
                },
                Tok::C(_) if depth == 0 => return,
                Tok::Sign(Sign::Semi) if depth == 0 => return,
                Tok::Sign(Sign::OpenBrace | Sign::OpenParen) => depth += 1,
                Tok::Sign(Sign::CloseBrace | Sign::CloseParen) => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.bump();
        }
    }

    fn proctype(&mut self) -> Read<Proctype> {
        let start = self.cur().span;
        let active = if self.eat_key(Key::Active) {
            let mut n = None;
            if self.eat(Sign::OpenBracket) {
                n = Some(self.expr()?);
                self.expect(Sign::CloseBracket, "after the number of processes")?;
            }
            Some(n)
        } else {
            None
        };
        let kind = match self.cur().key() {
            Some(Key::Proctype) => ProcKind::Proctype,
            Some(Key::DProctype) => ProcKind::Deterministic,
            _ => return Err(self.unexpected("`proctype` after `active`")),
        };
        self.bump();
        let name = self.ident("a proctype")?;
        let params = if self.eat(Sign::OpenParen) {
            self.params()?
        } else {
            let at = self.after_prev();
            let d = Diagnostic::error("P0220", format!("proctype `{}` has no parameter list", name.name))
                .at(name.span, "no `(` follows")
                .help("write `()` if it has no parameters");
            self.report(if at.via.is_none() { d.fix(at, "()") } else { d });
            Vec::new()
        };
        let (mut priority, mut provided) = (None, None);
        loop {
            if self.eat_key(Key::Priority) {
                priority = Some(self.number_only("a priority")?);
            } else if self.eat_key(Key::Provided) {
                self.expect(Sign::OpenParen, "after `provided`")?;
                provided = Some(self.expr()?);
                self.close_paren("the condition of `provided`")?;
            } else {
                break;
            }
        }
        let body = self.body(&format!("proctype `{}`", name.name))?;
        let span = self.since(start);
        Ok(Proctype { kind, active, name, params, priority, provided, body, span })
    }

    fn init(&mut self) -> Read<Proctype> {
        let start = self.bump().span;
        if self.at(Sign::OpenParen) {
            let open = self.cur().span;
            self.skip_balanced();
            let span = self.since(open);
            let d = Diagnostic::error("P0221", "`init` has no parameter list").at(span, "not expected here");
            let d = d.help("write `init { … }`");
            // The message is about tokens already passed.
            self.diags.push(if span.via.is_none() { d.fix(span, "") } else { d });
        }
        let priority = if self.eat_key(Key::Priority) { Some(self.number_only("a priority")?) } else { None };
        let body = self.body("`init`")?;
        let name = Ident { name: "init".into(), span: start };
        let span = self.since(start);
        Ok(Proctype {
            kind: ProcKind::Init,
            active: None,
            name,
            params: Vec::new(),
            priority,
            provided: None,
            body,
            span,
        })
    }

    fn never(&mut self) -> Read<Claim> {
        let start = self.bump().span;
        let name = if self.cur().name().is_some() { Some(self.ident("a claim")?) } else { None };
        let body = self.body("the claim")?;
        Ok(Claim { name, body, span: self.since(start) })
    }

    fn trace(&mut self) -> Read<Trace> {
        let start = self.bump();
        let body = self.body("the trace")?;
        Ok(Trace { negated: start.key() == Some(Key::Notrace), body, span: self.since(start.span) })
    }

    fn ltl(&mut self) -> Read<Ltl> {
        let start = self.bump().span;
        let name = if self.cur().name().is_some() { Some(self.ident("a formula")?) } else { None };
        let open = self.expect(Sign::OpenBrace, "before the formula")?;
        self.in_ltl = true;
        let formula = self.expr();
        self.in_ltl = false;
        let formula = match formula {
            Ok(formula) => formula,
            Err(_) => {
                while !(self.at_end() || self.at(Sign::CloseBrace) || self.cur().key().is_some_and(Key::begins_unit)) {
                    self.bump();
                }
                self.eat(Sign::CloseBrace);
                let span = self.since(start);
                return Ok(Ltl { name, formula: Expr { kind: ExprKind::Error, span: open }, span });
            }
        };
        self.skip_separators();
        if !self.eat(Sign::CloseBrace) {
            let token = self.cur();
            if self.at_end() || token.key().is_some_and(Key::begins_unit) {
                let d = Diagnostic::error("P0010", "this formula is never closed")
                    .at(open, "opened here")
                    .help("add `}` after the formula");
                self.report(d);
            } else if !self.formula_habit() {
                self.unexpected("an operator or `}` in this formula");
            }
            while !(self.at_end() || self.at(Sign::CloseBrace) || self.cur().key().is_some_and(Key::begins_unit)) {
                self.bump();
            }
            self.eat(Sign::CloseBrace);
        }
        Ok(Ltl { name, formula, span: self.since(start) })
    }

    fn typedef(&mut self) -> Read<Typedef> {
        let start = self.bump().span;
        let name = self.ident("a type")?;
        let open = self.expect(Sign::OpenBrace, "after the name of the type")?;
        let mut fields = Vec::new();
        loop {
            self.skip_separators();
            let token = self.cur();
            if self.at_end() || token.key().is_some_and(Key::begins_unit) {
                let d = Diagnostic::error("P0010", "this typedef is never closed").at(open, "opened here");
                self.report(d.help("add `}` after its last field"));
                break;
            }
            if self.at(Sign::CloseBrace) {
                if fields.is_empty() {
                    let d = Diagnostic::error("P0203", format!("type `{}` has no fields", name.name));
                    self.report(d.at(self.since(open), "empty").help("declare at least one field"));
                }
                self.bump();
                break;
            }
            match self.decl() {
                Ok(decl) => fields.push(decl),
                Err(_) => self.skip_statement(),
            }
            if !(self.at_separator() || self.at(Sign::CloseBrace) || self.at_end()) {
                if self.cur().key().is_some_and(Key::begins_decl) {
                    self.missing_separator();
                } else if !self.cur().key().is_some_and(Key::begins_unit) {
                    self.unexpected("`;` or `}` after the field");
                    self.skip_statement();
                    if !(self.at_separator() || self.at(Sign::CloseBrace)) {
                        self.bump();
                    }
                }
            }
        }
        Ok(Typedef { name, fields, span: self.since(start) })
    }

    /// `mtype = {`, `mtype {`, `mtype:set = {`
    pub(super) fn at_mtype_list(&self) -> bool {
        let at = if self.nth(1).is(Sign::Colon) && self.nth(2).name().is_some() { 3 } else { 1 };
        self.nth(at).is(Sign::OpenBrace) || self.nth(at).is(Sign::Assign) && self.nth(at + 1).is(Sign::OpenBrace)
    }

    fn mtype_decl(&mut self) -> Read<MtypeDecl> {
        let start = self.bump().span;
        let set = if self.eat(Sign::Colon) { Some(self.ident("a set of message types")?) } else { None };
        self.eat(Sign::Assign);
        let open = self.expect(Sign::OpenBrace, "before the names")?;
        let mut names = Vec::new();
        while !self.at(Sign::CloseBrace) {
            if self.at_end() || self.cur().key().is_some_and(Key::begins_unit) {
                let d = Diagnostic::error("P0010", "this list is never closed").at(open, "opened here");
                self.report(d.help("add `}` after its last name"));
                return Ok(MtypeDecl { set, names, span: self.since(start) });
            }
            match self.ident("a message type") {
                Ok(name) => names.push(name),
                Err(_) => _ = self.bump(),
            }
            if self.at(Sign::Assign) {
                let at = self.cur().span;
                self.bump();
                let value = self.expr();
                let span = self.since(at);
                let d = Diagnostic::error("P0242", "a message type cannot be given a number").at(span, "");
                let d = d.help("write the names only; the last one of the list is 1, the one before it 2, and so on");
                self.diags.push(if span.via.is_none() { d.fix(span, "") } else { d });
                value?;
            }
            self.eat(Sign::Comma);
            if self.at_separator() {
                let span = self.cur().span;
                let d =
                    Diagnostic::error("P0242", "message types are separated by commas").at(span, "").help("write `,`");
                self.report(if span.via.is_none() { d.fix(span, ",") } else { d });
                self.skip_separators();
            }
        }
        self.bump();
        if names.is_empty() {
            let d = Diagnostic::error("P0203", "this list of message types is empty").at(self.since(open), "");
            self.report(d.help("name at least one message type"));
        }
        Ok(MtypeDecl { set, names, span: self.since(start) })
    }

    /// `c_state "…" "…" ["…"]`
    pub(super) fn c_strings(&mut self, key: Key) -> Read<CFragment> {
        let start = self.bump().span;
        let mut n = 0;
        while n < 3 && matches!(self.cur().tok, Tok::Str(_)) {
            self.bump();
            n += 1;
        }
        if n < 2 {
            return Err(self.unexpected(&format!("a string after `{}`", key.text())));
        }
        Ok(CFragment { keyword: key.text(), span: self.since(start) })
    }

    /// The `{ … }` of a process or claim.
    fn body(&mut self, owner: &str) -> Read<Seq> {
        if !self.at(Sign::OpenBrace) {
            return Err(self.unexpected(&format!("`{{` and the body of {owner}")));
        }
        let open = self.bump().span;
        self.open.push(Opener { what: Opened::Brace, span: open });
        let seq = self.braced(open, First::Free, Some(owner));
        self.open.pop();
        Ok(seq)
    }

    /// Statements up to `}`. The opener is on the stack.
    pub(super) fn braced(&mut self, open: Span, first: First, owner: Option<&str>) -> Seq {
        let stmts = self.sequence(first);
        let close = self.cur().span;
        if self.at(Sign::CloseBrace) {
            self.bump();
            if stmts.is_empty() {
                self.empty_block(open);
            }
        } else {
            self.never_closed(Opener { what: Opened::Brace, span: open }, owner);
        }
        Seq { stmts, span: self.since(open), close }
    }

    #[cold]
    fn empty_block(&mut self, open: Span) {
        let whole = self.since(open);
        let d = Diagnostic::error("P0203", "this block is empty").at(whole, "");
        let d = d.help("write `skip` if nothing is to be done");
        let d = if whole.via.is_none() { d.fix(whole, "{ skip }") } else { d };
        self.diags.push(d.spin("6.5.2 reports a syntax error"));
    }
}
