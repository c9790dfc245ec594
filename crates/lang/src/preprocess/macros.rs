//! Macro expansion.
//!
//! As in gcc: an expansion is laid on a stack and read from there; a macro is asleep while its expansion is being read,
//! and its name met in that time is frozen for ever. Arguments are expanded on their own before they are put in place,
//! except next to `#` and `##`.

use super::{MAX_ARG_DEPTH, MAX_EXPANSIONS, MAX_MACRO_DEPTH, MAX_WORK, Preprocessor};
use crate::lexer::single;
use crate::token::{FROZEN, Key, NEWLINE, SPACE, Sign, Sym, Tok, Token};
use spinor_model::diagnostic::Diagnostic;
use spinor_model::source::{ExpansionId, ExpansionKind, Span};
use std::cell::Cell;
use std::rc::Rc;

pub struct Macro {
    pub name: Sym,
    /// Where the name stands in its `#define`.
    pub span: Span,
    /// `None` for a macro without parentheses.
    pub params: Option<Vec<Sym>>,
    /// The last parameter takes all arguments that are left.
    pub variadic: bool,
    pub body: Rc<[Token]>,
    pub asleep: Cell<bool>,
}

/// Tokens waiting to be read.
pub struct Context {
    tokens: Rc<[Token]>,
    pos: usize,
    /// Goes into the span of each token.
    via: Option<ExpansionId>,
    /// Wakes up when the tokens are used up.
    asleep: Option<Rc<Macro>>,
    /// An argument expanded on its own: its end is an end.
    barrier: bool,
}

impl Macro {
    pub fn param(&self, token: &Token) -> Option<usize> {
        match token.tok {
            Tok::Word(sym) => self.params.as_ref()?.iter().position(|p| *p == sym),
            _ => None,
        }
    }

    /// Two definitions that say the same, spaces aside.
    pub fn same(&self, other: &Macro) -> bool {
        self.params == other.params
            && self.variadic == other.variadic
            && self.body.len() == other.body.len()
            && self.body.iter().zip(other.body.iter()).all(|(a, b)| a.tok == b.tok)
    }
}

impl Preprocessor<'_> {
    pub(super) fn next_expanded(&mut self) -> Token {
        loop {
            let token = self.next_raw();
            let Tok::Word(sym) = token.tok else { return token };
            if token.has(FROZEN) {
                return token;
            }
            if sym == self.words.line || sym == self.words.file {
                return self.predefined(sym, token);
            }
            if self.in_condition && sym == self.words.defined {
                return self.defined(token);
            }
            let Some(mac) = self.macros.get(&sym).cloned() else { return token };
            if mac.asleep.get() {
                return Token { flags: token.flags | FROZEN, ..token };
            }
            if !self.enter(mac, token) {
                return token;
            }
        }
    }

    /// The next token, macros not yet looked at.
    fn next_raw(&mut self) -> Token {
        self.work += 1;
        if self.work > MAX_WORK && !self.stopped {
            self.stop_at_work_limit();
        }
        loop {
            if self.stopped {
                self.contexts.clear();
            }
            let Some(context) = self.contexts.last_mut() else { return self.next_base() };
            if let Some(&token) = context.tokens.get(context.pos) {
                context.pos += 1;
                let via = context.via.or(token.span.via);
                return Token { span: Span { via, ..token.span }, ..token };
            }
            if context.barrier {
                return Token { tok: Tok::Eof, flags: 0, span: Span::default() };
            }
            self.pop_context();
        }
    }

    fn pop_context(&mut self) {
        if let Some(mac) = self.contexts.pop().and_then(|c| c.asleep) {
            mac.asleep.set(false);
        }
    }

    fn stop_at_work_limit(&mut self) {
        self.stop_in_macro(format!("the model grows beyond {MAX_WORK} tokens"));
    }

    /// Stops, and points at the use of a macro that the author wrote, however deep the trouble is.
    fn stop_in_macro(&mut self, what: String) {
        let d = Diagnostic::error("P0034", what);
        let d = match self.outer_use.clone() {
            Some((mac, span)) => {
                let name = self.names.text(mac.name).to_string();
                d.at(span, format!("while `{name}` is expanded")).label(mac.span, "defined here")
            }
            None => d.at(self.files[0].lexer.file.span(0, 0), ""),
        };
        self.stop(d.help("let the macros produce less text: a macro that uses another one twice doubles it"));
    }

    /// Lays the expansion of a macro on the stack. False if this is no use of it: its name without parentheses.
    fn enter(&mut self, mac: Rc<Macro>, name: Token) -> bool {
        if self.contexts.is_empty() && self.arg_depth == 0 {
            self.outer_use = Some((mac.clone(), name.span));
        }
        if self.contexts.len() >= MAX_MACRO_DEPTH {
            self.stop_in_macro(format!("macros are nested more than {MAX_MACRO_DEPTH} deep"));
            return false;
        }
        if self.sources.expansions.len() >= MAX_EXPANSIONS {
            self.stop_in_macro(format!("macros are used more than {MAX_EXPANSIONS} times"));
            return false;
        }
        let Some(params) = &mac.params else {
            self.pending |= name.flags & (NEWLINE | SPACE);
            let via = self.expansion(&mac, name.span);
            let tokens = if mac.body.iter().any(|t| t.is(Sign::HashHash)) {
                self.substitute(&mac, &[], name, via)
            } else {
                mac.body.clone()
            };
            self.lay(tokens, mac, via);
            return true;
        };
        let n_params = params.len();
        let Some(open) = self.open_paren() else { return false };
        self.pending |= name.flags & (NEWLINE | SPACE);
        let Some((mut args, close)) = self.arguments(&mac, n_params) else {
            if self.stopped {
                return true;
            }
            let text = self.names.text(mac.name).to_string();
            self.diags.push(
                Diagnostic::error("P0033", format!("the arguments of macro `{text}` never end"))
                    .at(open, "opened here")
                    .label(mac.span, "defined here")
                    .help("add the missing `)`"),
            );
            self.truncated = true;
            return true;
        };
        if n_params == 0 && args.len() == 1 && args[0].is_empty() {
            args.clear();
        }
        if mac.variadic && args.len() + 1 == n_params {
            args.push(Vec::new());
        }
        let call = self.sources.join(name.span, close);
        if args.len() != n_params {
            let text = self.names.text(mac.name).to_string();
            self.diags.push(
                Diagnostic::error("P0032", format!("macro `{text}` takes {}, not {}", count(n_params), args.len()))
                    .at(call, "")
                    .label(mac.span, "defined here")
                    .help(
                        "a comma between arguments splits them; put parentheses around an argument that contains one",
                    ),
            );
            let stand_in = self.stand_in(name, call);
            self.contexts.push(Context {
                tokens: Rc::from([stand_in]),
                pos: 0,
                via: None,
                asleep: None,
                barrier: false,
            });
            return true;
        }
        let via = self.expansion(&mac, call);
        let tokens = self.substitute(&mac, &args, name, via);
        self.lay(tokens, mac, via);
        true
    }

    fn expansion(&mut self, mac: &Macro, call: Span) -> ExpansionId {
        let name = self.names.text(mac.name).to_string();
        self.sources.add_expansion(ExpansionKind::Macro, name, call)
    }

    fn lay(&mut self, tokens: Rc<[Token]>, mac: Rc<Macro>, via: ExpansionId) {
        mac.asleep.set(true);
        // Substituted tokens carry their places already; a plain body gets them as it is read.
        let plain = mac.params.is_none() && Rc::ptr_eq(&tokens, &mac.body);
        self.contexts.push(Context { tokens, pos: 0, via: plain.then_some(via), asleep: Some(mac), barrier: false });
    }

    /// Takes the `(` that makes a name a call, if it is next; else leaves everything as it was.
    fn open_paren(&mut self) -> Option<Span> {
        let outer = std::mem::replace(&mut self.collecting, true);
        let newline = self.carried_newline;
        self.seeking = true;
        let token = self.next_raw();
        self.seeking = false;
        self.collecting = outer;
        if token.is(Sign::OpenParen) {
            self.carried_newline |= newline || token.has(NEWLINE);
            return Some(token.span);
        }
        if token.tok != Tok::Eof {
            let tokens = Rc::from([token]);
            self.contexts.push(Context { tokens, pos: 0, via: None, asleep: None, barrier: false });
        }
        None
    }

    /// The arguments up to the closing parenthesis, unexpanded.
    fn arguments(&mut self, mac: &Macro, n_params: usize) -> Option<(Vec<Vec<Token>>, Span)> {
        let outer = std::mem::replace(&mut self.collecting, true);
        let mut args = vec![Vec::new()];
        let mut depth = 0usize;
        let mut newline = self.carried_newline;
        let close = loop {
            let mut token = self.next_raw();
            newline |= token.has(NEWLINE);
            match token.tok {
                Tok::Eof => break None,
                Tok::Sign(Sign::CloseParen) if depth == 0 => break Some(token.span),
                Tok::Sign(Sign::CloseParen) => depth -= 1,
                Tok::Sign(Sign::OpenParen) => depth += 1,
                Tok::Sign(Sign::Comma) if depth == 0 && !(mac.variadic && args.len() == n_params) => {
                    args.push(Vec::new());
                    continue;
                }
                Tok::Word(sym) if self.macros.get(&sym).is_some_and(|m| m.asleep.get()) => token.flags |= FROZEN,
                _ => {}
            }
            // gcc prints an expansion on one line, whatever lines its arguments came from.
            if token.has(NEWLINE) {
                token.flags = token.flags & !NEWLINE | SPACE;
            }
            args.last_mut().expect("there is a first one").push(token);
        };
        self.collecting = outer;
        self.carried_newline = newline;
        Some((args, close?))
    }

    /// An argument with its own macros expanded.
    fn expand_alone(&mut self, tokens: &[Token]) -> Vec<Token> {
        if tokens.iter().all(|t| !matches!(t.tok, Tok::Word(_))) {
            return tokens.to_vec();
        }
        if self.arg_depth >= MAX_ARG_DEPTH {
            self.stop_in_macro(format!("macro calls are nested more than {MAX_ARG_DEPTH} deep"));
            return Vec::new();
        }
        self.arg_depth += 1;
        let pending = std::mem::take(&mut self.pending);
        let tokens = Rc::from(tokens);
        self.contexts.push(Context { tokens, pos: 0, via: None, asleep: None, barrier: true });
        let depth = self.contexts.len();
        let mut out = Vec::new();
        loop {
            let mut token = self.next_expanded();
            token.flags |= std::mem::take(&mut self.pending) & SPACE;
            if token.tok == Tok::Eof {
                break;
            }
            out.push(token);
        }
        self.contexts.truncate(depth - 1);
        self.pending = pending;
        self.arg_depth -= 1;
        out
    }

    /// The body with the arguments in place.
    fn substitute(&mut self, mac: &Macro, args: &[Vec<Token>], name: Token, via: ExpansionId) -> Rc<[Token]> {
        let body = mac.body.clone();
        let mut expanded: Vec<Option<Vec<Token>>> = vec![None; args.len()];
        let mut out: Vec<Token> = Vec::new();
        // What stands left of a `##` has come to nothing.
        let mut left_empty = false;
        let mut i = 0;
        while i < body.len() && !self.stopped {
            let token = body[i];
            let pasting = token.is(Sign::HashHash) && i > 0 && i + 1 < body.len();
            if pasting {
                i += 1;
            }
            let here = Token { span: Span { via: Some(via), ..body[i].span }, ..body[i] };
            let string = mac.params.is_some() && here.is(Sign::Hash) && i + 1 < body.len();
            let piece: Vec<Token> = if string && let Some(p) = mac.param(&body[i + 1]) {
                i += 1;
                vec![self.stringify(&args[p], here)]
            } else if let Some(p) = mac.param(&body[i]) {
                let before_paste = body.get(i + 1).is_some_and(|t| t.is(Sign::HashHash)) && i + 2 < body.len();
                let mut piece = if pasting || before_paste {
                    args[p].clone()
                } else {
                    if expanded[p].is_none() {
                        expanded[p] = Some(self.expand_alone(&args[p]));
                    }
                    expanded[p].clone().unwrap_or_default()
                };
                if let Some(first) = piece.first_mut() {
                    first.flags = first.flags & !(NEWLINE | SPACE) | here.flags & SPACE;
                }
                // `, ## args` takes the comma away when no argument is left.
                let last = p + 1 == args.len();
                if pasting && mac.variadic && last && out.last().is_some_and(|t| t.is(Sign::Comma)) {
                    if piece.is_empty() {
                        out.pop();
                    }
                    left_empty = true;
                }
                piece
            } else {
                vec![here]
            };
            self.work += piece.len();
            if self.work > MAX_WORK {
                self.stop_at_work_limit();
                break;
            }
            let empty = piece.is_empty();
            let mut piece = piece.into_iter();
            if pasting
                && !left_empty
                && let (Some(left), Some(right)) = (out.last().copied(), piece.as_slice().first().copied())
            {
                piece.next();
                out.pop();
                self.paste(left, right, name, &mut out);
            }
            out.extend(piece);
            left_empty = if pasting { left_empty && empty } else { empty };
            i += 1;
        }
        out.into()
    }

    fn paste(&mut self, left: Token, right: Token, name: Token, out: &mut Vec<Token>) {
        let (a, b) = (self.spelling(&left), self.spelling(&right));
        match single(&format!("{a}{b}"), left.span, &mut self.names) {
            Some(token) => out.push(Token { flags: left.flags & !FROZEN, ..token }),
            None => {
                self.diags.push(
                    Diagnostic::error("P0044", format!("`##` cannot make one token of `{a}` and `{b}`"))
                        .at(self.sources.surface(name.span), "in the expansion of this macro")
                        .label(left.span, "the left part")
                        .help("use `##` only where both parts together form a name, a number or an operator"),
                );
                out.push(self.stand_in(left, left.span));
            }
        }
    }

    /// What could not be made is read as `skip`, which is a statement and a value.
    fn stand_in(&mut self, like: Token, span: Span) -> Token {
        Token { tok: Tok::Word(self.names.intern(Key::Skip.text())), span, ..like }
    }

    fn stringify(&mut self, tokens: &[Token], at: Token) -> Token {
        let mut text = String::new();
        for (i, token) in tokens.iter().enumerate() {
            if i > 0 && token.has(SPACE) {
                text.push(' ');
            }
            let spelling = self.spelling(token);
            match token.tok {
                Tok::Str(_) | Tok::Char(_) => text.push_str(&spelling.replace('\\', "\\\\").replace('"', "\\\"")),
                _ => text.push_str(&spelling),
            }
        }
        Token { tok: Tok::Str(self.names.intern(&text)), ..at }
    }

    fn spelling(&self, token: &Token) -> String {
        match token.tok {
            Tok::Word(s) | Tok::Number(s) | Tok::Open(s) => self.names.text(s).to_string(),
            Tok::Char(s) => format!("'{}'", self.names.text(s)),
            Tok::Str(s) => format!("\"{}\"", self.names.text(s)),
            Tok::Sign(sign) => sign.text().to_string(),
            Tok::Stray(c) => c.to_string(),
            Tok::C(_) | Tok::Eof => String::new(),
        }
    }

    fn predefined(&mut self, sym: Sym, token: Token) -> Token {
        let at = self.sources.surface(token.span);
        let tok = if sym == self.words.line {
            let line = self.sources.line(at).to_string();
            Tok::Number(self.names.intern(&line))
        } else {
            let name = self.sources.file_name(at).replace('\\', "\\\\").replace('"', "\\\"");
            Tok::Str(self.names.intern(&name))
        };
        Token { tok, ..token }
    }

    /// `defined X` and `defined(X)`, in a condition.
    fn defined(&mut self, token: Token) -> Token {
        let mut next = self.next_raw();
        let paren = next.is(Sign::OpenParen);
        if paren {
            next = self.next_raw();
        }
        let Tok::Word(sym) = next.tok else {
            self.diags.push(
                Diagnostic::error("P0041", "`defined` needs the name of a macro").at(token.span, "no name follows"),
            );
            return token;
        };
        if paren && !self.next_raw().is(Sign::CloseParen) {
            self.diags.push(
                Diagnostic::error("P0041", "`defined(` is not closed").at(token.span, "").help("add the missing `)`"),
            );
        }
        let known = self.is_macro(sym);
        Token { tok: Tok::Number(self.names.intern(if known { "1" } else { "0" })), ..token }
    }

    pub(super) fn is_macro(&self, sym: Sym) -> bool {
        self.macros.contains_key(&sym) || sym == self.words.line || sym == self.words.file
    }

    /// The tokens of a directive with its macros expanded.
    pub(super) fn expand_line(&mut self, tokens: &[Token], condition: bool) -> Vec<Token> {
        let outer = std::mem::replace(&mut self.in_condition, condition);
        // Directives may stand between the arguments of a macro: what is asleep there stays so, what waits stays there.
        let contexts = std::mem::take(&mut self.contexts);
        let collecting = std::mem::replace(&mut self.collecting, false);
        let out = self.expand_alone(tokens);
        self.contexts = contexts;
        self.collecting = collecting;
        self.in_condition = outer;
        out
    }
}

fn count(n: usize) -> String {
    match n {
        0 => "no arguments".into(),
        1 => "1 argument".into(),
        n => format!("{n} arguments"),
    }
}
