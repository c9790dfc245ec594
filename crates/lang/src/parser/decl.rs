//! Declarations: types, variables, channels, parameters.

use super::{Parser, Read};
use crate::ast::*;
use crate::token::{IMPLIED, Key, Sign};
use spinor_model::diagnostic::Diagnostic;
use spinor_model::source::Span;

impl Parser {
    pub(super) fn decl(&mut self) -> Read<Decl> {
        let start = self.cur().span;
        let visibility = self.visibility()?;
        let ty = self.type_ref()?;
        let mut vars = vec![self.decl_var(&ty)?];
        loop {
            // The `}` of an initialiser has a separator after it by itself; a comma shows that the list goes on.
            let implied = self.at(Sign::Semi) && self.cur().has(IMPLIED) && self.nth(1).is(Sign::Comma);
            if implied && self.tokens[self.pos - 1].is(Sign::CloseBrace) {
                self.bump();
            }
            if !self.eat(Sign::Comma) {
                break;
            }
            vars.push(self.decl_var(&ty)?);
        }
        Ok(Decl { visibility, ty, vars, span: self.since(start) })
    }

    fn visibility(&mut self) -> Read<Option<(Visibility, Span)>> {
        let mut found: Option<(Visibility, Span)> = None;
        loop {
            let token = self.cur();
            let v = match token.key() {
                Some(Key::Hidden) => Visibility::Hidden,
                Some(Key::Show) => Visibility::Show,
                Some(Key::Local) => Visibility::Local,
                _ => return Ok(found),
            };
            if let Some((_, first)) = found {
                let d = Diagnostic::error("P0201", "one of `hidden`, `show` and `local` is enough")
                    .at(token.span, "second one")
                    .label(first, "first one")
                    .help("keep one of them");
                self.report(d);
            }
            self.bump();
            found = found.or(Some((v, token.span)));
        }
    }

    pub(super) fn type_ref(&mut self) -> Read<TypeRef> {
        let token = self.cur();
        let kind = match token.key() {
            Some(Key::Bit) => TypeKind::Bit,
            Some(Key::Bool) => TypeKind::Bool,
            Some(Key::Byte) => TypeKind::Byte,
            Some(Key::Pid) => TypeKind::Pid,
            Some(Key::Short) => TypeKind::Short,
            Some(Key::Int) => TypeKind::Int,
            Some(Key::Unsigned) => TypeKind::Unsigned,
            Some(Key::Chan) => TypeKind::Chan,
            Some(Key::Mtype) => {
                self.bump();
                let set = if self.at(Sign::Colon) && self.nth(1).name().is_some() {
                    self.bump();
                    Some(self.ident("a set of message types")?)
                } else {
                    None
                };
                return Ok(TypeRef { kind: TypeKind::Mtype(set), span: self.since(token.span) });
            }
            Some(_) => return Err(self.unexpected("a type")),
            None => {
                if let Some(kind) = self.c_type() {
                    return Ok(TypeRef { kind, span: self.since(token.span) });
                }
                if let Some(sym) = token.name()
                    && !self.known.typedefs.contains(&sym)
                {
                    let name = self.word(sym).to_string();
                    let d =
                        Diagnostic::error("P0241", format!("there is no type `{name}`")).at(token.span, "not a type");
                    return Err(self.fail(d.help(
                        "the types are bit, bool, byte, pid, short, int, unsigned, mtype, chan, and those of `typedef`",
                    )));
                }
                TypeKind::Named(self.ident("a type")?)
            }
        };
        if !matches!(kind, TypeKind::Named(_)) {
            self.bump();
        }
        // `unsigned int x`, as in C
        if self.cur().key().is_some_and(|k| matches!(k, Key::Int | Key::Short | Key::Byte))
            && matches!(kind, TypeKind::Unsigned | TypeKind::Short)
        {
            let second = self.bump().span;
            let span = self.since(token.span);
            let d = Diagnostic::error("P0218", "a type of Promela is one word").at(second, "second word");
            let d = match kind {
                TypeKind::Unsigned => {
                    d.help("write `unsigned x : 8` with the number of bits, or `byte`, `short`, `int`")
                }
                _ => d.help("write `short`"),
            };
            self.diags.push(d);
            return Ok(TypeRef { kind: TypeKind::Int, span });
        }
        Ok(TypeRef { kind, span: token.span })
    }

    fn decl_var(&mut self, ty: &TypeRef) -> Read<DeclVar> {
        let start = self.cur().span;
        if self.at(Sign::Star) {
            let d = Diagnostic::error("P0218", "Promela has no pointers").at(start, "");
            return Err(self.fail(d.help("use an index into an array instead")));
        }
        let name = self.ident("a variable")?;
        let mut width = None;
        let mut array = None;
        if self.at(Sign::Colon) && self.nth(1).is(Sign::Assign) {
            return Err(self.colon_assign());
        }
        if self.eat(Sign::Colon) {
            width = Some(self.number_only("a width")?);
        }
        if self.eat(Sign::OpenBracket) {
            if self.at(Sign::CloseBracket) {
                let at = self.since(name.span);
                let d = Diagnostic::error("P0246", format!("array `{}` has no size", name.name)).at(at, "");
                return Err(self.fail(d.help("write the number of elements between the brackets")));
            }
            array = Some(self.expr()?);
            self.expect(Sign::CloseBracket, "after the size of the array")?;
            if self.at(Sign::OpenBracket) {
                let d = Diagnostic::error("P0246", "an array has one dimension").at(self.cur().span, "second index");
                let d = d.help(
                    "declare `typedef Row { byte cell[3] }` and an array of it: `Row m[2]`, used as `m[i].cell[j]`",
                );
                self.report(d);
                while self.at(Sign::OpenBracket) {
                    self.skip_balanced();
                }
            }
        }
        let init = if self.eat(Sign::Assign) { Some(self.initialiser(ty)?) } else { None };
        Ok(DeclVar { name, width, array, init, span: self.since(start) })
    }

    fn initialiser(&mut self, ty: &TypeRef) -> Read<Init> {
        let start = self.cur().span;
        if self.at(Sign::OpenBracket) {
            return Ok(Init::Chan(self.chan_init()?));
        }
        if self.eat(Sign::OpenBrace) {
            let mut values = Vec::new();
            loop {
                if self.at(Sign::CloseBrace) && !values.is_empty() {
                    let d = Diagnostic::error("P0242", "a comma stands before `}`").at(self.prev, "nothing follows");
                    let comma = self.prev;
                    self.report(if comma.via.is_none() { d.help("remove the comma").fix(comma, "") } else { d });
                    self.bump();
                    break;
                }
                values.push(self.expr()?);
                if self.eat(Sign::Comma) {
                    continue;
                }
                self.expect(Sign::CloseBrace, "after the values")?;
                break;
            }
            return Ok(Init::List(values, self.since(start)));
        }
        let value = self.expr()?;
        self.no_run_in(&value, "the initial value of a variable", "declare first, then assign: `pid p; p = run P()`");
        // `chan c = 2` has a good guess, anything else is for the checker.
        if matches!(ty.kind, TypeKind::Chan) && matches!(value.kind, ExprKind::Num(_)) {
            let d = Diagnostic::error("P0222", "a channel needs a capacity and its message type").at(value.span, "");
            self.diags.push(d.help("write `chan c = [2] of { byte }`"));
        }
        Ok(Init::Expr(value))
    }

    fn chan_init(&mut self) -> Read<ChanInit> {
        let start = self.bump().span;
        let capacity = self.expr()?;
        self.expect(Sign::CloseBracket, "after the capacity of the channel")?;
        if !self.eat_key(Key::Of) {
            let at = self.after_prev();
            let brace = self.at(Sign::OpenBrace);
            let d = Diagnostic::error("P0222", "this channel does not say what it carries")
                .at(self.since(start), "`of { … }` is missing");
            let d = if brace {
                let d = d.help("write `of` before the types");
                if at.via.is_none() { d.fix(at, " of") } else { d }
            } else {
                d.help("write the types of a message, for example `= [2] of { byte }`")
            };
            self.report(d);
            if !brace {
                return Ok(ChanInit { capacity, fields: Vec::new(), span: self.since(start) });
            }
        }
        self.expect(Sign::OpenBrace, "before the types of a message")?;
        let mut fields = Vec::new();
        loop {
            fields.push(self.type_ref()?);
            if self.cur().name().is_some() {
                self.named_field();
            }
            if self.at_separator() {
                let d = Diagnostic::error("P0222", "the types of a message are separated by commas")
                    .at(self.cur().span, "");
                let at = self.cur().span;
                self.report(if at.via.is_none() && at.lo < at.hi { d.help("write `,`").fix(at, ",") } else { d });
                self.skip_separators();
            } else if !self.eat(Sign::Comma) {
                break;
            }
            if self.at(Sign::CloseBrace) {
                break;
            }
        }
        self.expect(Sign::CloseBrace, "after the types of a message")?;
        Ok(ChanInit { capacity, fields, span: self.since(start) })
    }

    fn named_field(&mut self) {
        let token = self.cur();
        let d = Diagnostic::error("P0222", "a field of a message has a type and no name").at(token.span, "a name");
        let d = d.help("remove the name");
        self.report(if token.span.via.is_none() { d.fix(token.span, "") } else { d });
        self.bump();
    }

    /// The parameters of a proctype, from after `(` to after `)`.
    pub(super) fn params(&mut self) -> Read<Vec<Decl>> {
        let mut params = Vec::new();
        if self.eat(Sign::CloseParen) {
            return Ok(params);
        }
        loop {
            if self.at(Sign::CloseParen) {
                let d =
                    Diagnostic::error("P0225", "a parameter is missing before `)`").at(self.prev, "nothing follows");
                let at = self.prev;
                self.report(if at.via.is_none() { d.help("remove the separator").fix(at, "") } else { d });
                self.bump();
                return Ok(params);
            }
            if self.cur_word() == Some("void") && self.nth(1).is(Sign::CloseParen) {
                let span = self.cur().span;
                let d = Diagnostic::error("P0225", "`void` is no parameter").at(span, "");
                self.report(if span.via.is_none() { d.help("leave the parentheses empty").fix(span, "") } else { d });
                self.bump();
                self.bump();
                return Ok(params);
            }
            let (decl, separated) = self.param_decl()?;
            params.push(decl);
            if separated {
                continue;
            }
            if self.at_separator() {
                self.bump();
                continue;
            }
            self.close_paren("the parameters")?;
            return Ok(params);
        }
    }

    /// One type and its names, and whether a separator has been taken after them.
    fn param_decl(&mut self) -> Read<(Decl, bool)> {
        let start = self.cur().span;
        let visibility = self.visibility()?;
        let ty = self.type_ref()?;
        let mut vars = vec![self.decl_var(&ty)?];
        while self.at(Sign::Comma) {
            let next = self.nth(1);
            let typed =
                next.key().is_some_and(Key::begins_decl) || next.name().is_some_and(|_| self.nth(2).name().is_some());
            if typed {
                let comma = self.cur().span;
                let d = Diagnostic::error("P0225", "parameters of different types are separated by `;`")
                    .at(comma, "a comma continues the list of one type")
                    .help("write `;`");
                self.report(if comma.via.is_none() { d.fix(comma, ";") } else { d });
                let decl = Decl { visibility, ty, vars, span: self.since(start) };
                // The rest is read as if a `;` stood there.
                self.bump();
                return Ok((self.checked_param(decl), true));
            }
            self.bump();
            vars.push(self.decl_var(&ty)?);
        }
        let span = self.since(start);
        Ok((self.checked_param(Decl { visibility, ty, vars, span }), false))
    }

    fn checked_param(&mut self, mut decl: Decl) -> Decl {
        for var in &mut decl.vars {
            if let Some(size) = var.array.take() {
                let d = Diagnostic::error("P0225", format!("parameter `{}` is an array", var.name.name))
                    .at(size.span, "")
                    .help("pass the elements one by one, or declare the array outside the process");
                self.diags.push(d.spin("6.5.2 stops with \"array in parameter list\""));
            }
            if let Some(init) = var.init.take() {
                let span = match init {
                    Init::Expr(e) => e.span,
                    Init::List(_, span) => span,
                    Init::Chan(c) => c.span,
                };
                let d = Diagnostic::error("P0225", format!("parameter `{}` has an initial value", var.name.name));
                let d =
                    d.at(span, "").help("`run` gives a parameter its value; parameters of an active proctype are 0");
                self.diags.push(d.spin("6.5.2 stops with \"initializer in parameter list\""));
            }
        }
        decl
    }
}
