//! Inlines: kept as tokens where they are defined, read as statements where they are used.
//!
//! Arguments replace parameters as tokens, without parentheses, as SPIN does: `y = x*2` with `1+2` for `x` is 5. A token
//! of the body is placed in the definition, via the call. A token of an argument is placed in the call, via the parameter
//! it replaces, which is in the body, via the call; so a statement made of both still has its place in the body.

use super::separate::{Place, separate};
use super::seq::First;
use super::{Failed, Opened, Parser, Read};
use crate::ast::*;
use crate::token::{IMPLIED, Key, NEWLINE, SPACE, Sign, Sym, Tok, Token};
use spinor_model::diagnostic::Diagnostic;
use spinor_model::source::{ExpansionKind, Span};
use std::rc::Rc;
use std::sync::Arc;

/// SPIN's limit is 16.
const MAX_INLINE_DEPTH: usize = 64;
/// Tokens put in place, in the whole model.
const MAX_INLINED: usize = 1 << 17;

pub struct InlineDef {
    name: Ident,
    params: Vec<(Sym, Span)>,
    /// what stands between the braces, without separators of ours
    body: Vec<Token>,
    /// The definition could not be read.
    broken: bool,
}

/// An inline being read at its place of use.
pub struct Call {
    sym: Sym,
    pub name: Arc<str>,
    pub span: Span,
    /// the variable that `return` assigns to
    result: Option<VarRef>,
    returned: bool,
}

impl Parser {
    pub(super) fn inline_definition(&mut self) -> Read<()> {
        self.bump();
        let sym = self.cur().name();
        let name = self.ident("an inline")?;
        let Some(sym) = sym else { return Err(Failed) };
        let known = self.inlines.contains_key(&sym);
        let result = self.inline_rest(sym, name.clone());
        if result.is_err() && !known {
            // Its uses are not to blame.
            self.inlines.insert(sym, Rc::new(InlineDef { name, params: Vec::new(), body: Vec::new(), broken: true }));
        }
        result
    }

    fn inline_rest(&mut self, sym: Sym, name: Ident) -> Read<()> {
        self.expect(Sign::OpenParen, "and the parameters after the name of an inline")?;
        let mut params: Vec<(Sym, Span)> = Vec::new();
        if !self.eat(Sign::CloseParen) {
            loop {
                if self.cur().key().is_some_and(Key::begins_decl) {
                    let token = self.cur();
                    let d = Diagnostic::error("P0229", "a parameter of an inline has no type").at(token.span, "a type");
                    let d = d.help("write the name only: arguments replace it as text");
                    self.report(if token.span.via.is_none() { d.fix(token.span, "") } else { d });
                    self.bump();
                }
                let token = self.cur();
                let param = self.ident("a parameter")?;
                if let Some(sym) = token.name() {
                    if let Some((_, first)) = params.iter().find(|(p, _)| *p == sym) {
                        let d = Diagnostic::error("P0229", format!("parameter `{}` occurs twice", param.name));
                        let d = d.at(param.span, "").label(*first, "first here");
                        self.diags.push(d.help("use another name"));
                    }
                    params.push((sym, token.span));
                }
                if self.eat(Sign::Comma) {
                    continue;
                }
                self.close_paren("the parameters of the inline")?;
                break;
            }
        }
        if !self.at(Sign::OpenBrace) {
            return Err(self.unexpected("`{` and the body of the inline"));
        }
        let open = self.bump().span;
        let from = self.pos;
        let mut depth = 1usize;
        loop {
            let token = self.cur();
            match token.tok {
                Tok::Sign(Sign::OpenBrace) => depth += 1,
                Tok::Sign(Sign::CloseBrace) => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                break;
            }
            if token.tok == Tok::Eof || token.key().is_some_and(Key::begins_unit) {
                self.never_closed(
                    super::Opener { what: Opened::Brace, span: open },
                    Some(&format!("inline `{}`", name.name)),
                );
                return Err(Failed);
            }
            self.bump();
        }
        let body = self.tokens[from..self.pos].to_vec();
        self.bump();
        if let Some(old) = self.inlines.get(&sym) {
            let d = Diagnostic::error("P0229", format!("inline `{}` is defined twice", name.name))
                .at(name.span, "again")
                .label(old.name.span, "first here")
                .help("give one of them another name");
            self.diags.push(d.spin("6.5.2 reports \"procedure name redefined\""));
            return Ok(());
        }
        self.inlines.insert(sym, Rc::new(InlineDef { name, params, body, broken: false }));
        Ok(())
    }

    /// A name followed by `(`, at the beginning of a statement.
    pub(super) fn call(&mut self, sym: Sym) -> Read<Box<StmtKind>> {
        if self.known.inlines.contains(&sym) {
            return self.inline_call(sym, None);
        }
        Err(self.unknown_call(sym))
    }

    #[cold]
    fn unknown_call(&mut self, sym: Sym) -> Failed {
        let token = self.cur();
        let name = self.word(sym).to_string();
        let d = if self.known.proctypes.contains(&sym) {
            let d = Diagnostic::error("P0226", format!("proctype `{name}` is called without `run`")).at(token.span, "");
            let d = d.help(format!("write `run {name}(…)`"));
            let before = Span { hi: token.span.lo, ..token.span };
            if token.span.via.is_none() { d.fix(before, "run ") } else { d }
        } else {
            let close = ["sleep", "print", "puts", "scanf", "cout"].contains(&name.as_str());
            let d = Diagnostic::error("P0226", format!("there is no inline `{name}`")).at(token.span, "called here");
            if close {
                d.help("Promela has `printf` for output; it has no input and no time")
            } else {
                d.help("define `inline` above its first use; functions do not exist in Promela")
            }
        };
        let failed = self.fail(d);
        self.bump();
        self.skip_balanced();
        failed
    }

    /// `f(a, b)` as a statement, or after `x =`. The name is next.
    pub(super) fn inline_call(&mut self, sym: Sym, result: Option<VarRef>) -> Read<Box<StmtKind>> {
        let start = result.as_ref().map_or(self.cur().span, |r| r.span);
        let name = self.ident("an inline")?;
        let args = self.inline_args()?;
        let call = self.since(start);
        let Some(body) = self.inline_body(sym, &name, args, call)? else { return Ok(Box::new(StmtKind::Error)) };
        self.read_body(sym, name, body, call, result)
    }

    /// What to read in place of the call; `None` if there is nothing and that has been told.
    #[inline(never)]
    fn inline_body(&mut self, sym: Sym, name: &Ident, args: Vec<Vec<Token>>, call: Span) -> Read<Option<Vec<Token>>> {
        let Some(def) = self.inlines.get(&sym).cloned() else {
            let d = Diagnostic::error("P0226", format!("inline `{}` is used before its definition", name.name));
            let d = d.at(name.span, "").help("move the definition above its first use");
            self.diags.push(d.spin("6.5.2 reports an undeclared variable"));
            return Ok(None);
        };
        if def.broken {
            return Ok(None);
        }
        if args.len() != def.params.len() {
            let n = def.params.len();
            let takes = if n == 1 { "1 argument".into() } else { format!("{n} arguments") };
            let d = Diagnostic::error("P0227", format!("inline `{}` takes {takes}, not {}", name.name, args.len()))
                .at(call, "")
                .label(def.name.span, "defined here");
            self.diags.push(d);
            return Ok(None);
        }
        if self.calls.iter().any(|c| c.sym == sym) {
            let d = Diagnostic::error("P0228", format!("inline `{}` uses itself", name.name))
                .at(self.sources.surface(call), "used again here")
                .label(def.name.span, "defined here")
                .help("inlines are replaced by their text, so they cannot call themselves; use a process or a loop");
            self.diags.push(d.spin("6.5.2 stops with \"cyclic inline attempt\""));
            return Ok(None);
        }
        if self.calls.len() >= MAX_INLINE_DEPTH {
            let d = Diagnostic::error("P0228", format!("inlines are nested more than {MAX_INLINE_DEPTH} deep"))
                .at(self.calls[0].span, "the outermost call")
                .label(def.name.span, "one too many");
            return Err(self.stop(d.help("use fewer levels").spin("6.5.2 allows 16")));
        }
        let body = self.expand(&def, &args, call)?;
        if body.iter().all(|t| t.is(Sign::Semi) || t.tok == Tok::Eof) {
            let d = Diagnostic::error("P0203", format!("inline `{}` is empty", name.name)).at(call, "used here");
            let d = d.label(def.name.span, "defined here").help("write `skip` if nothing is to be done");
            self.diags.push(d.spin("6.5.2 reports a syntax error"));
            return Ok(None);
        }
        Ok(Some(body))
    }

    /// The argument tokens between the parentheses.
    fn inline_args(&mut self) -> Read<Vec<Vec<Token>>> {
        let open = self.expect(Sign::OpenParen, "after the name of an inline")?;
        let mut args: Vec<Vec<Token>> = vec![Vec::new()];
        let mut depth = 0usize;
        loop {
            let token = self.cur();
            match token.tok {
                Tok::Sign(Sign::CloseParen) if depth == 0 => break,
                Tok::Eof => return Err(self.unclosed_call(open)),
                Tok::Sign(Sign::Comma) if depth == 0 => {
                    if args.last().is_some_and(Vec::is_empty) {
                        return Err(self.unexpected("an argument"));
                    }
                    args.push(Vec::new());
                    self.bump();
                    continue;
                }
                Tok::Sign(Sign::OpenParen | Sign::OpenBracket) => depth += 1,
                Tok::Sign(Sign::CloseParen | Sign::CloseBracket) => depth = depth.saturating_sub(1),
                Tok::Sign(Sign::Semi) if token.has(IMPLIED) && depth > 0 => {
                    self.bump();
                    continue;
                }
                Tok::Sign(Sign::Arrow) if depth > 0 => {}
                Tok::Sign(
                    Sign::Semi | Sign::Arrow | Sign::Assign | Sign::OpenBrace | Sign::CloseBrace | Sign::ColonColon,
                )
                | Tok::Str(_) => {
                    if token.key().is_none()
                        && (token.is(Sign::CloseBrace) || token.is(Sign::Semi) && depth == 0)
                        && args.len() == 1
                        && args[0].is_empty()
                    {
                        return Err(self.unclosed_call(open));
                    }
                    let what = self.describe(&token);
                    let d = Diagnostic::error(
                        "P0227",
                        format!("an argument of an inline is an expression, {what} is not part of one"),
                    )
                    .at(token.span, "")
                    .label(open, "the arguments begin here")
                    .help("close the parenthesis before this, or pass an expression");
                    return Err(self.fail(d.spin("6.5.2 reports a syntax error")));
                }
                Tok::Word(_) if token.key().is_some_and(Key::begins_unit) => return Err(self.unclosed_call(open)),
                _ => {}
            }
            if let Some(last) = args.last_mut() {
                last.push(token);
            }
            self.bump();
        }
        if args.len() == 1 && args[0].is_empty() {
            args.clear();
        } else if args.last().is_some_and(Vec::is_empty) {
            return Err(self.unexpected("an argument"));
        }
        self.bump();
        Ok(args)
    }

    fn unclosed_call(&mut self, open: Span) -> Failed {
        let d = Diagnostic::error("P0015", "the arguments of this inline never end").at(open, "opened here");
        self.fail(d.help("add the missing `)`"))
    }

    /// The body with arguments for parameters, and separators.
    fn expand(&mut self, def: &InlineDef, args: &[Vec<Token>], call: Span) -> Read<Vec<Token>> {
        let name = def.name.name.to_string();
        let via = self.sources.add_expansion(ExpansionKind::Inline, name.clone(), call);
        let mut out = Vec::with_capacity(def.body.len() + 1);
        for token in &def.body {
            // A body token that came through a macro keeps the macro's place; what counts is the call of that macro.
            let span = Span { via: Some(via), ..self.sources.surface(token.span) };
            let param = match token.tok {
                Tok::Word(sym) => def.params.iter().position(|(p, _)| *p == sym),
                _ => None,
            };
            let Some(param) = param else {
                out.push(Token { span, ..*token });
                continue;
            };
            let word = self.names.text(def.params[param].0).to_string();
            let inner = self.sources.add_expansion(ExpansionKind::Macro, word, span);
            for (i, arg) in args[param].iter().enumerate() {
                let span = Span { via: Some(inner), ..self.sources.surface(arg.span) };
                let flags = if i == 0 { token.flags } else { arg.flags & !NEWLINE | SPACE };
                out.push(Token { tok: arg.tok, flags, span });
            }
            self.n_inlined += args[param].len();
        }
        self.n_inlined += def.body.len();
        if self.n_inlined > MAX_INLINED {
            let outer = self.calls.first().map_or((name, call), |c| (c.name.to_string(), c.span));
            let d = Diagnostic::error("P0228", format!("inlines make more than {MAX_INLINED} tokens"))
                .at(self.sources.surface(outer.1), format!("while `{}` is put in place", outer.0))
                .help("an inline that uses another one twice doubles it; use a process or a loop");
            return Err(self.stop(d));
        }
        let end = def.body.last().map_or(call, |t| Span { lo: t.span.hi, ..t.span });
        out.push(Token { tok: Tok::Eof, flags: NEWLINE, span: Span { via: Some(via), ..end } });
        Ok(separate(&out, Place::Body, &mut self.known, &mut self.names, &self.sources, &mut self.diags))
    }

    fn read_body(
        &mut self,
        sym: Sym,
        name: Ident,
        body: Vec<Token>,
        span: Span,
        result: Option<VarRef>,
    ) -> Read<Box<StmtKind>> {
        self.deeper()?;
        let assigned = result.is_some();
        self.calls.push(Call { sym, name: name.name.clone(), span, result, returned: false });
        let tokens = std::mem::replace(&mut self.tokens, body.into());
        let pos = std::mem::replace(&mut self.pos, 0);
        let prev = std::mem::replace(&mut self.prev, span);
        let open = std::mem::take(&mut self.open);
        let whole = self.tokens.last().map_or(span, |end| self.sources.join(self.tokens[0].span, end.span));
        let mut stmts = self.sequence(First::Refused);
        while !(self.at_end() || self.stopped) {
            self.stray_closer();
            stmts.extend(self.sequence(First::Free));
        }
        let close = self.tokens.last().map_or(span, |end| end.span);
        self.tokens = tokens;
        self.pos = pos;
        self.prev = prev;
        self.open = open;
        self.depth -= 1;
        let call = self.calls.pop();
        if assigned && call.is_some_and(|c| !c.returned) && !self.stopped {
            self.nothing_returned(&name, span);
        }
        Ok(Box::new(StmtKind::Inline { name, body: Seq { stmts, span: whole, close } }))
    }

    #[cold]
    fn nothing_returned(&mut self, name: &Ident, call: Span) {
        let d = Diagnostic::warning("P0232", format!("inline `{}` has no `return`", name.name))
            .at(call, "nothing is assigned here")
            .help("end the inline with `return` and a value, or call it without `x =`");
        self.diags.push(d.spin("6.5.2 accepts this and assigns nothing"));
    }

    /// A `}`, `fi`, `od`, `::` or a unit inside an inline with nothing open.
    fn stray_closer(&mut self) {
        let token = self.cur();
        let what = self.describe(&token);
        let d = Diagnostic::error("P0014", format!("this {what} belongs to nothing in the inline")).at(token.span, "");
        let d = match self.calls.last() {
            Some(call) => d.label(call.span, "used here"),
            None => d,
        };
        self.report(d.help("an inline holds whole statements"));
        self.bump();
        self.skip_separators();
    }

    #[inline(never)]
    pub(super) fn return_stmt(&mut self) -> Read<StmtKind> {
        let word = self.bump().span;
        let Some(call) = self.calls.last_mut() else {
            let d = Diagnostic::error("P0210", "`return` stands outside of an inline").at(word, "");
            return Err(
                self.fail(d.help("a process ends at its closing brace: write `goto done` and `done: skip` at its end"))
            );
        };
        let Some(to) = call.result.clone() else {
            let (name, span) = (call.name.clone(), call.span);
            let d = Diagnostic::error("P0230", format!("the value of inline `{name}` is not used"))
                .at(span, "called without `x =`")
                .label(word, "returns a value here")
                .help(format!("write `x = {name}(…)`"));
            self.diags.push(d.spin("6.5.2 stops with \"return statement outside inline\""));
            self.expr()?;
            return Ok(StmtKind::Error);
        };
        call.returned = true;
        let value = self.expr()?;
        Ok(StmtKind::Assign { to, value })
    }
}
