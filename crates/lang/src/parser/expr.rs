//! Expressions and formulas.
//!
//! Binary operators are folded with an explicit stack, so that only real nesting (parentheses, indices, arguments) costs
//! stack. Loosest to tightest, all left-associative, as in SPIN:
//!
//!   1 `-> <->` (formulas)   2 `||`   3 `&&`   4 `U W V` (formulas)   5 `|`   6 `^`   7 `&`   8 `== !=`   9 `< <= > >=`
//!   10 `<< >>`   11 `+ -`   12 `* / %`   then the signs before an operand
//!
//! In one point we leave SPIN: `[]`, `<>` and `X` take everything down to level 5 as their operand, so that `[] x < 3` is
//! `[] (x < 3)`. SPIN reads `([] x) < 3` there and answers for a token number; a warning tells the author either way.

use super::{MAX_HEIGHT, Parser, Read};
use crate::ast::*;
use crate::token::{Key, Sign, Sym, Tok, Token};
use spinor_model::diagnostic::Diagnostic;
use spinor_model::source::Span;

/// An expression and how many operators stand above each other in it.
type Tall = (Expr, u32);

#[derive(Clone, Copy)]
pub(super) enum Op {
    Binary(BinOp),
    Temporal(Temporal),
}

const TEMPORAL_OPERAND: u8 = 5;

impl Parser {
    pub(super) fn expr(&mut self) -> Read<Expr> {
        Ok(self.expr_at(0)?.0)
    }

    /// Everything held together by operators of at least this level.
    pub(super) fn expr_at(&mut self, min: u8) -> Read<Tall> {
        self.deeper()?;
        let mut operands: Vec<Tall> = Vec::new();
        let mut ops: Vec<(Op, u8)> = Vec::new();
        loop {
            operands.push(self.operand()?);
            let Some((op, level)) = self.operator().filter(|(_, level)| *level >= min) else { break };
            self.fold(&mut operands, &mut ops, level)?;
            self.bump();
            ops.push((op, level));
        }
        self.fold(&mut operands, &mut ops, 0)?;
        self.depth -= 1;
        operands.pop().ok_or(super::Failed)
    }

    /// Folds the operators that bind at least as tight as `level`.
    fn fold(&mut self, operands: &mut Vec<Tall>, ops: &mut Vec<(Op, u8)>, level: u8) -> Read<()> {
        while let Some(&(op, _)) = ops.last().filter(|(_, l)| *l >= level) {
            ops.pop();
            let ((b, hb), (a, ha)) = match (operands.pop(), operands.pop()) {
                (Some(b), Some(a)) => (b, a),
                _ => return Err(super::Failed),
            };
            let span = self.sources.join(a.span, b.span);
            let height = ha.max(hb) + 1;
            self.not_too_tall(height, span)?;
            let kind = match op {
                Op::Binary(op) => ExprKind::Binary(op, Box::new(a), Box::new(b)),
                Op::Temporal(t) => {
                    self.chained(t, &a, &b, span);
                    ExprKind::Temporal(t, vec![a, b])
                }
            };
            operands.push((Expr { kind, span }, height));
        }
        Ok(())
    }

    fn not_too_tall(&mut self, height: u32, span: Span) -> Read<()> {
        if height <= MAX_HEIGHT {
            return Ok(());
        }
        let at = self.sources.surface(span);
        let d = Diagnostic::error(
            "P0239",
            format!("this expression has more than {MAX_HEIGHT} operators above each other"),
        )
        .at(Span { hi: at.hi.min(at.lo + 40), ..at }, "begins here")
        .help("put parentheses around parts of it, or compute it in several steps");
        Err(self.stop(d))
    }

    /// `p -> q -> r` without parentheses means what few expect.
    fn chained(&mut self, t: Temporal, left: &Expr, right: &Expr, span: Span) {
        let word = match t {
            Temporal::Implies => "->",
            Temporal::Until => "U",
            Temporal::WeakUntil => "W",
            Temporal::Release => "V",
            _ => return,
        };
        if matches!(&left.kind, ExprKind::Temporal(l, args) if *l == t && args.len() == 2) {
            let d = Diagnostic::warning("P0411", format!("`{word}` twice in a row without parentheses"))
                .at(
                    span,
                    format!(
                        "read as `({}) {word} {}`",
                        self.sources.one_line(left.span),
                        self.sources.one_line(right.span)
                    ),
                )
                .help("write the parentheses");
            self.diags.push(d.spin("6.5.2 reads it the same way"));
        }
    }

    pub(super) fn operator(&self) -> Option<(Op, u8)> {
        use Op::*;
        let token = self.cur();
        Some(match token.tok {
            Tok::Sign(sign) => match sign {
                Sign::Arrow if self.in_ltl => (Temporal(self::Temporal::Implies), 1),
                Sign::Iff if self.in_ltl => (Temporal(self::Temporal::Equivalent), 1),
                Sign::OrOr => (Binary(BinOp::Or), 2),
                Sign::AndAnd => (Binary(BinOp::And), 3),
                Sign::Or => (Binary(BinOp::BitOr), 5),
                Sign::Caret => (Binary(BinOp::BitXor), 6),
                Sign::And => (Binary(BinOp::BitAnd), 7),
                Sign::EqEq => (Binary(BinOp::Eq), 8),
                Sign::NotEq => (Binary(BinOp::Ne), 8),
                Sign::Lt => (Binary(BinOp::Lt), 9),
                Sign::Le => (Binary(BinOp::Le), 9),
                Sign::Gt => (Binary(BinOp::Gt), 9),
                Sign::Ge => (Binary(BinOp::Ge), 9),
                Sign::Shl => (Binary(BinOp::Shl), 10),
                Sign::Shr => (Binary(BinOp::Shr), 10),
                Sign::Plus => (Binary(BinOp::Add), 11),
                Sign::Minus => (Binary(BinOp::Sub), 11),
                Sign::Star => (Binary(BinOp::Mul), 12),
                Sign::Slash => (Binary(BinOp::Div), 12),
                Sign::Percent => (Binary(BinOp::Rem), 12),
                _ => return None,
            },
            Tok::Word(_) if self.in_ltl => match self.cur_word()? {
                "U" | "until" | "stronguntil" => (Temporal(self::Temporal::Until), 4),
                "W" | "weakuntil" => (Temporal(self::Temporal::WeakUntil), 4),
                "V" | "R" | "release" => (Temporal(self::Temporal::Release), 4),
                "implies" => (Temporal(self::Temporal::Implies), 1),
                "equivalent" => (Temporal(self::Temporal::Equivalent), 1),
                _ => return None,
            },
            _ => return None,
        })
    }

    /// The signs before an operand, and the operand.
    fn operand(&mut self) -> Read<Tall> {
        let sign = matches!(self.cur().tok, Tok::Sign(Sign::Bang | Sign::Minus | Sign::Tilde | Sign::BangBang));
        if sign || self.temporal_prefix().is_some() { self.prefixed() } else { self.primary() }
    }

    #[inline(never)]
    fn prefixed(&mut self) -> Read<Tall> {
        let from = self.pos;
        while matches!(self.cur().tok, Tok::Sign(Sign::Bang | Sign::Minus | Sign::Tilde | Sign::BangBang)) {
            self.bump();
        }
        let signs = from..self.pos;
        let (mut e, mut height) = match self.temporal_prefix() {
            Some((t, span, n)) => self.temporal(t, span, n)?,
            None => self.primary()?,
        };
        self.apply(signs, &mut e, &mut height)?;
        Ok((e, height))
    }

    /// Puts the signs at these positions before the operand.
    #[inline(never)]
    fn apply(&mut self, signs: std::ops::Range<usize>, e: &mut Expr, height: &mut u32) -> Read<()> {
        for i in signs.rev() {
            let token = self.tokens[i];
            let ops: &[UnOp] = match token.tok {
                Tok::Sign(Sign::Bang) => &[UnOp::Not],
                Tok::Sign(Sign::BangBang) => &[UnOp::Not, UnOp::Not],
                Tok::Sign(Sign::Tilde) => &[UnOp::BitNot],
                _ => &[UnOp::Neg],
            };
            for &op in ops {
                let span = self.sources.join(token.span, e.span);
                if op == UnOp::Not && !self.in_ltl {
                    self.negated_probe(e, span);
                }
                *height += 1;
                self.not_too_tall(*height, span)?;
                let inner = std::mem::replace(e, Expr { kind: ExprKind::Error, span });
                e.kind = ExprKind::Unary(op, Box::new(inner));
            }
        }
        Ok(())
    }

    /// `[]`, `<>`, `X` and their words, and how many tokens they take.
    fn temporal_prefix(&self) -> Option<(Temporal, Span, usize)> {
        if !self.in_ltl {
            return None;
        }
        let token = self.cur();
        match token.tok {
            Tok::Sign(Sign::OpenBracket) if self.nth(1).is(Sign::CloseBracket) => {
                Some((Temporal::Always, self.sources.join(token.span, self.nth(1).span), 2))
            }
            Tok::Sign(Sign::Diamond) => Some((Temporal::Eventually, token.span, 1)),
            Tok::Word(_) => {
                let t = match self.cur_word()? {
                    "always" => Temporal::Always,
                    "eventually" => Temporal::Eventually,
                    "X" | "next" => Temporal::Next,
                    _ => return None,
                };
                // A variable may have such a name; then no operand follows it.
                let next = self.nth(1);
                // So may a process, and then a remote reference goes on after the name.
                let reference = self.nth(2).is(Sign::At)
                    || self.nth(2).is(Sign::Colon)
                    || self.nth(2).is(Sign::OpenBracket) && !self.nth(3).is(Sign::CloseBracket);
                let operand = match next.tok {
                    Tok::Word(_) if reference => true,
                    Tok::Word(_) => !matches!(
                        next.name().map(|s| self.word(s)),
                        Some(
                            "U" | "V"
                                | "W"
                                | "R"
                                | "until"
                                | "stronguntil"
                                | "weakuntil"
                                | "release"
                                | "implies"
                                | "equivalent"
                        )
                    ),
                    Tok::Number(_) | Tok::Char(_) | Tok::C(_) => true,
                    Tok::Sign(sign) => {
                        matches!(sign, Sign::OpenParen | Sign::Bang | Sign::Diamond | Sign::Tilde)
                            || sign == Sign::OpenBracket && self.nth(2).is(Sign::CloseBracket)
                    }
                    _ => false,
                };
                operand.then_some((t, token.span, 1))
            }
            _ => None,
        }
    }

    #[inline(never)]
    fn temporal(&mut self, t: Temporal, sign: Span, n: usize) -> Read<Tall> {
        for _ in 0..n {
            self.bump();
        }
        let (e, height) = self.expr_at(TEMPORAL_OPERAND)?;
        let span = self.sources.join(sign, e.span);
        if matches!(e.kind, ExprKind::Binary(..)) {
            self.bare_comparison(sign, e.span, span);
        }
        self.not_too_tall(height + 1, span)?;
        Ok((Expr { kind: ExprKind::Temporal(t, vec![e]), span }, height + 1))
    }

    #[cold]
    fn bare_comparison(&mut self, sign: Span, operand: Span, whole: Span) {
        let op = self.sources.text(sign).to_string();
        let inner = self.sources.one_line(operand);
        let d = Diagnostic::warning("P0410", format!("`{op}` before a comparison without parentheses"))
            .at(whole, format!("read as `{op} ({inner})`"))
            .help("write the parentheses")
            .spin(format!("6.5.2 applies `{op}` to the first name only and answers for something else"));
        self.diags.push(if whole.via.is_none() { d.fix(operand, format!("({inner})")) } else { d });
    }

    fn primary(&mut self) -> Read<Tall> {
        let token = self.cur();
        if token.is(Sign::OpenParen) {
            return self.paren();
        }
        match token.key() {
            Some(Key::Run) => self.run(),
            Some(key @ (Key::Enabled | Key::GetPriority | Key::PcValue)) => self.of_process(key),
            None if token.name().is_some() => self.named(),
            _ => self.atom(),
        }
    }

    /// A value that is one word, or a word and a channel.
    #[inline(never)]
    fn atom(&mut self) -> Read<Tall> {
        let token = self.cur();
        let mut height = 1;
        let kind = match (token.tok, token.key()) {
            (Tok::Number(_) | Tok::Char(_), _) | (_, Some(Key::True | Key::False | Key::Skip)) => self.constant()?.kind,
            (Tok::C(Key::CExpr), _) => {
                self.bump();
                ExprKind::C(CFragment { keyword: "c_expr", span: token.span })
            }
            (_, Some(Key::Timeout)) => {
                self.bump();
                ExprKind::Timeout
            }
            (_, Some(Key::Np)) => {
                self.bump();
                ExprKind::NonProgress
            }
            (_, Some(key @ (Key::Len | Key::Full | Key::Nfull | Key::Empty | Key::Nempty))) => {
                let (kind, h) = self.of_channel(key)?;
                height = h + 1;
                kind
            }
            _ => return Err(self.not_a_value()),
        };
        Ok((Expr { kind, span: self.since(token.span) }, height))
    }

    /// `( e )` and `( c -> a : b )`
    #[inline(never)]
    fn paren(&mut self) -> Read<Tall> {
        let open = self.bump().span;
        let (inner, height) = self.expr_at(0)?;
        if self.at(Sign::CloseParen) {
            return self.parenthesised(open, inner, height);
        }
        self.paren_rest(open, inner, height)
    }

    fn parenthesised(&mut self, open: Span, inner: Expr, height: u32) -> Read<Tall> {
        self.bump();
        let span = self.since(open);
        self.not_too_tall(height + 1, span)?;
        Ok((Expr { kind: ExprKind::Paren(Box::new(inner)), span }, height + 1))
    }

    /// What may follow an expression in parentheses, other than `)`.
    #[inline(never)]
    fn paren_rest(&mut self, open: Span, inner: Expr, height: u32) -> Read<Tall> {
        if self.at(Sign::Assign) && !(self.in_ltl && self.implication_habit()) {
            self.assignment_inside(open);
            self.bump();
            // Read as the comparison it should have been.
            let (b, hb) = self.expr_at(0)?;
            let span = self.sources.join(inner.span, b.span);
            let kind = ExprKind::Binary(BinOp::Eq, Box::new(inner), Box::new(b));
            return self.paren_end(open, Expr { kind, span }, height.max(hb) + 1);
        }
        if self.at(Sign::Arrow) && !self.in_ltl {
            self.bump();
            let arrow = self.prev;
            let (a, ha) = self.expr_at(0)?;
            if !self.eat(Sign::Colon) {
                return Err(self.half_conditional(open, arrow));
            }
            return self.cond_end(open, inner, a, height.max(ha));
        }
        if self.at(Sign::Colon) && matches!(inner.kind, ExprKind::Temporal(Temporal::Implies, _)) {
            // In a formula `->` has been taken as an implication; the colon shows what it was.
            self.bump();
            if let ExprKind::Temporal(_, mut args) = inner.kind
                && let (Some(a), Some(c)) = (args.pop(), args.pop())
            {
                return self.cond_end(open, c, a, height);
            }
            return Err(super::Failed);
        }
        self.paren_end(open, inner, height)
    }

    #[cold]
    fn half_conditional(&mut self, open: Span, arrow: Span) -> super::Failed {
        if self.at(Sign::CloseParen) {
            return self.unexpected("`:` and the other value after `->` in parentheses");
        }
        let d = Diagnostic::error("P0015", "this `(` is not closed before `->`")
            .at(open, "opened here")
            .label(arrow, "the statement after the guard begins here")
            .help(
                "close the parenthesis before `->`; inside parentheses `->` makes a conditional value `(c -> a : b)`",
            );
        self.fail(d)
    }

    /// The other value of `( c -> a : b )` and its end. It counts as a level of its own, having twice the frames of others.
    fn cond_end(&mut self, open: Span, c: Expr, a: Expr, height: u32) -> Read<Tall> {
        self.deeper()?;
        let (b, hb) = self.expr_at(0)?;
        self.depth -= 1;
        let span = self.sources.join(c.span, b.span);
        let kind = ExprKind::Cond(Box::new(c), Box::new(a), Box::new(b));
        self.paren_end(open, Expr { kind, span }, height.max(hb) + 1)
    }

    fn paren_end(&mut self, open: Span, inner: Expr, height: u32) -> Read<Tall> {
        if !self.at(Sign::CloseParen) {
            return Err(self.unclosed_paren(open));
        }
        self.parenthesised(open, inner, height)
    }

    /// `)` after something the caller names.
    pub(super) fn close_paren(&mut self, what: &str) -> Read<Span> {
        if self.at(Sign::CloseParen) {
            return Ok(self.bump().span);
        }
        if self.at(Sign::Assign) {
            self.assignment_inside(self.prev);
            return Err(super::Failed);
        }
        if let Some(failed) = self.step_inside() {
            return Err(failed);
        }
        Err(self.unexpected(&format!("`)` after {what}")))
    }

    fn unclosed_paren(&mut self, open: Span) -> super::Failed {
        if let Some(failed) = self.step_inside() {
            return failed;
        }
        if self.stopped {
            return super::Failed;
        }
        if self.word_operator() || self.in_ltl && self.implication_habit() {
            return super::Failed;
        }
        if self.at(Sign::Query)
            && let Some(failed) = self.c_ternary()
        {
            return failed;
        }
        let token = self.cur();
        let found = self.describe(&token);
        let at = if token.tok == Tok::Eof { self.prev } else { token.span };
        let d = Diagnostic::error("P0015", format!("expected `)`, found {found}"))
            .at(at, "")
            .label(open, "opened here")
            .help("close the parenthesis before this");
        let end = self.after_prev();
        let fits = self.at_separator() || token.tok == Tok::Eof || token.is(Sign::CloseBrace);
        let d = if fits && end.via.is_none() { d.fix(end, ")") } else { d };
        self.fail(d)
    }

    #[inline(never)]
    fn named(&mut self) -> Read<Tall> {
        let token = self.cur();
        let start = token.span;
        let sym = token.name();
        if self.word_not() {
            return Err(super::Failed);
        }
        let proctype = sym.is_some_and(|s| self.known.proctypes.contains(&s));
        let remote =
            proctype && (self.nth(1).is(Sign::Colon) || self.nth(1).is(Sign::OpenBracket)) || self.nth(1).is(Sign::At);
        if remote {
            return self.remote();
        }
        if self.nth(1).is(Sign::OpenParen)
            && let Some(sym) = sym
            && self.known.inlines.contains(&sym)
        {
            return Err(self.inline_in_expr(sym, token, true));
        }
        if let Some(sym) = sym.filter(|s| self.known.inlines.contains(s) && !self.nth(1).is(Sign::OpenBracket)) {
            return Err(self.inline_in_expr(sym, token, false));
        }
        if self.nth(1).is(Sign::OpenParen) && sym.is_some_and(|s| self.word(s) == "happens") {
            return self.happens();
        }
        if self.nth(1).is(Sign::OpenParen) && !self.in_ltl {
            return Err(self.function_call());
        }
        let (chan, height) = self.var_ref_tall()?;
        if chan.parts.len() == 1 && self.at(Sign::At) {
            // `a[i]@L` where `a` is no proctype that we know: the checker says so.
            let pid = chan.parts[0].index.clone();
            let proctype = chan.parts[0].name.clone();
            self.bump();
            let label = self.ident("a label")?;
            let kind = ExprKind::RemoteLabel { proctype, pid, label };
            return Ok((Expr { kind, span: self.since(start) }, height + 1));
        }
        let random = self.at(Sign::QueryQuery);
        if (random || self.at(Sign::Query)) && self.nth(1).is(Sign::OpenBracket) {
            self.bump();
            self.bump();
            let mut args = Vec::new();
            self.deeper()?;
            let inner = self.recv_args(&mut args)?;
            self.depth -= 1;
            self.expect(Sign::CloseBracket, "after the fields of the message")?;
            let kind = ExprKind::Poll { chan, random, args };
            return Ok((Expr { kind, span: self.since(start) }, height.max(inner) + 1));
        }
        let span = chan.span;
        Ok((Expr { kind: ExprKind::Var(chan), span }, height))
    }

    #[cold]
    pub(super) fn inline_in_expr(&mut self, sym: Sym, at: Token, called: bool) -> super::Failed {
        let name = self.word(sym).to_string();
        let at = at.span;
        let d = if called {
            Diagnostic::error("P0226", format!("the call of inline `{name}` stands inside an expression"))
                .at(at, "")
                .help(format!("assign first: `x = {name}(…)`, then use `x`; the inline gives its value with `return`"))
        } else {
            Diagnostic::error("P0226", format!("inline `{name}` is used without parentheses"))
                .at(at, "")
                .help(format!("write `{name}(…)` to use it"))
        };
        self.fail(d)
    }

    /// `P@L`, `P[e]@L`, `P:x`, `P[e]:x`
    #[inline(never)]
    fn remote(&mut self) -> Read<Tall> {
        let proctype = self.ident("a proctype")?;
        let start = proctype.span;
        let mut pid = None;
        let mut height = 1;
        if self.eat(Sign::OpenBracket) {
            let (e, h) = self.expr_at(0)?;
            height = h + 1;
            pid = Some(Box::new(e));
            self.expect(Sign::CloseBracket, "after the number of the process")?;
        }
        if self.eat(Sign::At) {
            let label = self.ident("a label")?;
            let kind = ExprKind::RemoteLabel { proctype, pid, label };
            return Ok((Expr { kind, span: self.since(start) }, height));
        }
        self.expect(Sign::Colon, "or `@` after a process")?;
        let var = self.ident("a variable")?;
        let mut index = None;
        if self.at(Sign::OpenBracket) && !self.nth(1).is(Sign::CloseBracket) {
            self.bump();
            let (e, h) = self.expr_at(0)?;
            height = height.max(h) + 1;
            index = Some(Box::new(e));
            self.expect(Sign::CloseBracket, "after the index")?;
        }
        let kind = ExprKind::RemoteVar { proctype, pid, var, index };
        Ok((Expr { kind, span: self.since(start) }, height))
    }

    /// `happens(q!m)`, `happens(q?)`, `happens(P[e]: q!m)`, `happens(P[e]@L)`. The word is a name like any other unless a
    /// parenthesis follows it, and an inline of that name goes first.
    #[inline(never)]
    fn happens(&mut self) -> Read<Tall> {
        let start = self.bump().span;
        self.bump();
        let (first, mut height) = self.var_ref_tall()?;
        let mut by = None;
        let mut chan = first;
        if self.at(Sign::At) || self.at(Sign::Colon) {
            let [part] = &chan.parts[..] else { return Err(self.unexpected("`!` or `?` after a channel")) };
            by = Some((part.name.clone(), part.index.clone()));
        }
        let what = if self.eat(Sign::At) {
            Operation::Leaves(self.ident("a label")?)
        } else {
            if self.eat(Sign::Colon) {
                let (named, h) = self.var_ref_tall()?;
                (chan, height) = (named, height.max(h));
            }
            let send = self.at(Sign::Bang) || self.at(Sign::BangBang);
            if !send && !self.at(Sign::Query) && !self.at(Sign::QueryQuery) {
                return Err(self.unexpected("`!` or `?` after a channel, or `@` and a label after a proctype"));
            }
            self.bump();
            let mut args = Vec::new();
            if !self.at(Sign::CloseParen) {
                self.deeper()?;
                height = height.max(self.recv_args(&mut args)?);
                self.depth -= 1;
            }
            Operation::Passes { send, chan, args }
        };
        self.close_paren("the operation of `happens`")?;
        let span = self.since(start);
        self.not_too_tall(height + 1, span)?;
        Ok((Expr { kind: ExprKind::Happens(Box::new(Happens { by, what })), span }, height + 1))
    }

    pub(super) fn var_ref(&mut self) -> Read<VarRef> {
        Ok(self.var_ref_tall()?.0)
    }

    pub(super) fn var_ref_tall(&mut self) -> Read<(VarRef, u32)> {
        let start = self.cur().span;
        let mut parts = Vec::new();
        let mut height = 1;
        loop {
            let name = self.ident(if parts.is_empty() { "a variable" } else { "a field" })?;
            let mut index = None;
            if self.at(Sign::OpenBracket) && !(self.in_ltl && self.nth(1).is(Sign::CloseBracket)) {
                let open = self.bump().span;
                if self.at(Sign::CloseBracket) {
                    return Err(self.bad_index(Some(open)));
                }
                let (e, h) = self.expr_at(0)?;
                height = height.max(h + 1);
                index = Some(Box::new(e));
                self.expect(Sign::CloseBracket, "after the index")?;
                if self.at(Sign::OpenBracket) && !self.in_ltl {
                    return Err(self.bad_index(None));
                }
            }
            parts.push(VarPart { name, index });
            if !self.eat(Sign::Dot) {
                let span = self.since(start);
                self.not_too_tall(height, span)?;
                return Ok((VarRef { parts, span }, height));
            }
        }
    }

    #[cold]
    fn bad_index(&mut self, empty: Option<Span>) -> super::Failed {
        let at = self.cur().span;
        let d = match empty {
            Some(open) => Diagnostic::error("P0246", "an index is missing")
                .at(self.sources.join(open, at), "")
                .help("write the number of the element between the brackets"),
            None => Diagnostic::error("P0246", "an array has one dimension")
                .at(at, "second index")
                .help("an array of a typedef with an array in it does it: `m[i].cell[j]`"),
        };
        self.fail(d)
    }

    #[inline(never)]
    fn run(&mut self) -> Read<Tall> {
        let start = self.bump().span;
        let proctype = self.ident("a proctype")?;
        let mut args = Vec::new();
        let mut height = 1;
        if self.at(Sign::OpenParen) {
            self.bump();
            if !self.eat(Sign::CloseParen) {
                loop {
                    let (e, h) = self.expr_at(0)?;
                    height = height.max(h + 1);
                    args.push(e);
                    if !self.eat(Sign::Comma) {
                        break;
                    }
                }
                self.close_paren("the arguments of `run`")?;
            }
        } else {
            self.run_without_parens(&proctype);
        }
        let priority = if self.eat_key(Key::Priority) { Some(Box::new(self.number_only("a priority")?)) } else { None };
        let span = self.since(start);
        if let Some(inner) = args.iter().find_map(find_run) {
            self.run_in_run(inner);
        }
        self.not_too_tall(height, span)?;
        Ok((Expr { kind: ExprKind::Run { proctype, args, priority }, span }, height))
    }

    #[cold]
    fn run_without_parens(&mut self, proctype: &Ident) {
        let at = self.after_prev();
        let d = Diagnostic::error("P0223", format!("`run {}` has no parentheses", proctype.name))
            .at(proctype.span, "no `(` follows")
            .help("write `()` if there are no arguments");
        self.report(if at.via.is_none() { d.fix(at, "()") } else { d });
    }

    #[cold]
    fn run_in_run(&mut self, at: Span) {
        let d = Diagnostic::error("P0231", "`run` stands inside the arguments of `run`").at(at, "");
        self.diags.push(d.help("start the inner process in a statement of its own and pass its number"));
    }

    #[inline(never)]
    fn of_channel(&mut self, key: Key) -> Read<(ExprKind, u32)> {
        self.bump();
        self.expect(Sign::OpenParen, &format!("after `{}`", key.text()))?;
        let (chan, height) = self.var_ref_tall()?;
        self.close_paren(&format!("the channel of `{}`", key.text()))?;
        let kind = match key {
            Key::Len => ExprKind::Len(chan),
            Key::Full => ExprKind::Probe(Probe::Full, chan),
            Key::Nfull => ExprKind::Probe(Probe::Nfull, chan),
            Key::Empty => ExprKind::Probe(Probe::Empty, chan),
            Key::Nempty => ExprKind::Probe(Probe::Nempty, chan),
            other => unreachable!("{other:?} asks nothing of a channel"),
        };
        Ok((kind, height))
    }

    #[inline(never)]
    fn of_process(&mut self, key: Key) -> Read<Tall> {
        let start = self.bump().span;
        self.expect(Sign::OpenParen, &format!("after `{}`", key.text()))?;
        let (e, height) = self.expr_at(0)?;
        self.close_paren(&format!("the argument of `{}`", key.text()))?;
        let e = Box::new(e);
        let kind = match key {
            Key::Enabled => ExprKind::Enabled(e),
            Key::GetPriority => ExprKind::GetPriority(e),
            _ => ExprKind::PcValue(e),
        };
        Ok((Expr { kind, span: self.since(start) }, height + 1))
    }

    // Constants

    /// A number, a character, `true`, `false` or `skip`.
    pub(super) fn constant(&mut self) -> Read<Expr> {
        let token = self.cur();
        let value = match (token.tok, token.key()) {
            (Tok::Number(sym), _) => {
                let text = self.names.shared(sym);
                self.number(&text, token)?
            }
            (Tok::Char(sym), _) => {
                let text = self.names.shared(sym);
                match char_value(&text) {
                    Some(value) => value,
                    None => {
                        let d =
                            Diagnostic::error("P0008", "a character constant holds one character").at(token.span, "");
                        let d = d.help("write one character, or `\\n`, `\\t`, `\\r`, `\\f`, `\\\\`, `\\'`; strings stand in `printf` only");
                        return Err(self.fail(d));
                    }
                }
            }
            (_, Some(Key::False)) => 0,
            _ => 1,
        };
        self.bump();
        Ok(Expr { kind: ExprKind::Num(value), span: token.span })
    }

    fn number(&mut self, text: &str, token: Token) -> Read<i32> {
        if text.bytes().all(|b| b.is_ascii_digit()) {
            if let Ok(value) = text.parse::<i64>() {
                if i32::try_from(value).is_err() {
                    let cut = value as i32;
                    let d = Diagnostic::warning("P0005", format!("`{text}` does not fit into 32 bits"));
                    let d = d.at(token.span, format!("read as {cut}")).help("the largest number is 2147483647");
                    self.diags.push(d.spin("6.5.2 cuts the number without a message"));
                }
                return Ok(value as i32);
            }
            let shown =
                if text.len() > 30 { format!("a number of {} digits", text.len()) } else { format!("`{text}`") };
            let d = Diagnostic::warning("P0005", format!("{shown} does not fit into 32 bits"));
            let d = d.at(token.span, "read as -1").help("the largest number is 2147483647");
            self.diags.push(d.spin("6.5.2 prints \"value out of range\" and reads -1"));
            return Ok(-1);
        }
        let shown: String = text.chars().take(30).collect();
        let d = Diagnostic::error("P0004", format!("`{shown}` is not a number of Promela")).at(token.span, "");
        let hex = text.strip_prefix("0x").or(text.strip_prefix("0X"));
        let plain = token.span.via.is_none();
        let d = if let Some(value) = hex.and_then(|h| i64::from_str_radix(h, 16).ok()) {
            let d = d.help(format!("numbers are decimal: write `{value}`"));
            if plain { d.fix(token.span, value.to_string()) } else { d }
        } else if text.contains('.') {
            d.help("Promela computes with whole numbers only")
        } else {
            let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
            let suffix = text[digits.len()..].chars().all(|c| "uUlL".contains(c));
            match suffix {
                true if plain => d.help("leave the letters out").fix(token.span, digits),
                true => d.help("leave the letters out"),
                false => d.help("numbers are decimal digits only; names begin with a letter or `_`"),
            }
        };
        Err(self.fail(d))
    }

    /// Where SPIN wants a number and nothing else.
    pub(super) fn number_only(&mut self, what: &str) -> Read<Expr> {
        match self.cur().tok {
            Tok::Number(_) => self.constant(),
            _ => Err(self.unexpected(&format!("a number for {what}"))),
        }
    }

    // Rules about `run`

    /// A statement may be `run` or an expression without it: else nobody could say when it is executable.
    pub(super) fn run_alone(&mut self, e: &Expr) {
        let mut inner = e;
        while let ExprKind::Paren(e) = &inner.kind {
            inner = e;
        }
        if matches!(inner.kind, ExprKind::Run { .. }) {
            return;
        }
        if let Some(span) = find_run(inner) {
            let d = Diagnostic::error("P0231", "`run` is part of a larger condition")
                .at(span, "")
                .help("start the process in a statement of its own: `p = run P()`, then test `p`");
            self.diags.push(d.spin("6.5.2 stops with \"use of run operator in compound expression\""));
        }
    }

    pub(super) fn no_run_in(&mut self, e: &Expr, place: &str, help: &str) {
        if let Some(span) = find_run(e) {
            self.diags.push(Diagnostic::error("P0231", format!("`run` cannot be {place}")).at(span, "").help(help));
        }
    }

    fn negated_probe(&mut self, e: &Expr, whole: Span) {
        let mut inner = e;
        while let ExprKind::Paren(e) = &inner.kind {
            inner = e;
        }
        let ExprKind::Probe(probe, chan) = &inner.kind else { return };
        let (word, opposite) = match probe {
            Probe::Full => ("full", "nfull"),
            Probe::Nfull => ("nfull", "full"),
            Probe::Empty => ("empty", "nempty"),
            Probe::Nempty => ("nempty", "empty"),
        };
        let chan = self.sources.one_line(chan.span);
        let d = Diagnostic::error("P0233", format!("`{word}` cannot be negated with `!`"))
            .at(whole, "")
            .help(format!("write `{opposite}({chan})`"))
            .spin("6.5.2 reports a syntax error");
        self.diags.push(if whole.via.is_none() { d.fix(whole, format!("{opposite}({chan})")) } else { d });
    }
}

/// Where a `run` stands in an expression.
fn find_run(e: &Expr) -> Option<Span> {
    let mut todo = vec![e];
    while let Some(e) = todo.pop() {
        match &e.kind {
            ExprKind::Run { .. } => return Some(e.span),
            ExprKind::Unary(_, a) | ExprKind::Paren(a) => todo.push(a),
            ExprKind::Binary(_, a, b) => todo.extend([&**b, &**a]),
            ExprKind::Cond(a, b, c) => todo.extend([&**c, &**b, &**a]),
            _ => {}
        }
    }
    None
}

/// The value of what stands between single quotes. As in SPIN, a backslash before any other character is that character.
pub fn char_value(text: &str) -> Option<i32> {
    let mut chars = text.chars();
    let value = match (chars.next()?, chars.next()) {
        (c, None) if c != '\\' => c,
        ('\\', Some(c)) => match c {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'f' => '\x0c',
            c => c,
        },
        _ => return None,
    };
    (chars.next().is_none() && value.is_ascii()).then_some(value as i32)
}
