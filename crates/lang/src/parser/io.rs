//! Sends, receives and polls.

use super::{Parser, Read};
use crate::ast::*;
use crate::token::{Key, Sign, Tok};
use spinor_model::diagnostic::Diagnostic;

impl Parser {
    /// `q!a,b`, `q!a(b,c)`; the channel has been read.
    #[inline(never)]
    pub(super) fn send(&mut self, chan: VarRef, sorted: bool) -> Read<StmtKind> {
        self.bump();
        if self.at(Sign::OpenParen) && self.parenthesised_message() {
            return Ok(StmtKind::Error);
        }
        // A name with `(` after it is the type of a message here, and a mistake anywhere else.
        let head = self.cur().name().is_some() && self.nth(1).is(Sign::OpenParen);
        let first = if head {
            let var = self.var_ref()?;
            let span = var.span;
            Expr { kind: ExprKind::Var(var), span }
        } else {
            self.expr()?
        };
        let mut args = vec![first];
        if self.at(Sign::OpenParen) {
            // `q!type(field, field)` is another way to write `q!type,field,field`.
            self.bump();
            loop {
                args.push(self.expr()?);
                if !self.eat(Sign::Comma) {
                    break;
                }
            }
            self.close_paren("the fields of the message")?;
        } else {
            while self.eat(Sign::Comma) {
                args.push(self.expr()?);
            }
        }
        for arg in &args {
            self.no_run_in(arg, "a field of a message", "assign the number of the process to a variable and send that");
        }
        Ok(StmtKind::Send { chan, sorted, args })
    }

    /// `q!(1, 2)`: reported and passed over.
    fn parenthesised_message(&mut self) -> bool {
        let mut depth = 0usize;
        let mut comma = false;
        for n in 0..1000 {
            match self.nth(n).tok {
                Tok::Sign(Sign::OpenParen | Sign::OpenBracket) => depth += 1,
                Tok::Sign(Sign::CloseParen | Sign::CloseBracket) => {
                    depth -= 1;
                    if depth == 0 {
                        break;
                    }
                }
                Tok::Sign(Sign::Comma) if depth == 1 => comma = true,
                Tok::Eof | Tok::Sign(Sign::Semi | Sign::OpenBrace | Sign::CloseBrace) => return false,
                _ => {}
            }
        }
        if !comma {
            return false;
        }
        let d = Diagnostic::error("P0234", "the fields of this message stand in parentheses")
            .at(self.cur().span, "")
            .help("write `q!1,2`, or `q!type(1,2)` with the first field before the parentheses");
        self.report(d.spin("6.5.2 reports a syntax error, though it accepts `q?(x,y)`"));
        self.skip_balanced();
        true
    }

    /// `q?…` and `q??…`, without and with `<…>`; the channel has been read.
    #[inline(never)]
    pub(super) fn receive(&mut self, chan: VarRef, random: bool) -> Read<StmtKind> {
        self.bump();
        let open = self.cur();
        let keep = self.eat(Sign::Lt);
        let mut args = Vec::new();
        self.recv_args(&mut args)?;
        if keep && !self.eat(Sign::Gt) {
            let d = Diagnostic::error("P0015", "this `<` is never closed").at(open.span, "opened here");
            return Err(self.fail(d.label(self.cur().span, "`>` is expected here").help("write `q?<x>`")));
        }
        if let Some(failed) = self.c_ternary() {
            return Err(failed);
        }
        Ok(StmtKind::Receive { chan, random, keep, args })
    }

    /// `rarg {, rarg}`, `rarg ( rargs )`, `( rargs )`. Gives the height of the tallest expression in them.
    pub(super) fn recv_args(&mut self, args: &mut Vec<RecvArg>) -> Read<u32> {
        if self.at(Sign::OpenParen) {
            self.deeper()?;
            self.bump();
            let height = self.recv_args(args)?;
            self.close_paren("the fields of the message")?;
            self.depth -= 1;
            return Ok(height);
        }
        let mut height = 1;
        loop {
            if self.at(Sign::OpenParen) {
                return Ok(height.max(self.recv_args(args)?));
            }
            let (arg, h) = self.recv_arg()?;
            height = height.max(h);
            args.push(arg);
            if self.at(Sign::OpenParen) {
                return Ok(height.max(self.recv_args(args)?));
            }
            if !self.eat(Sign::Comma) {
                return Ok(height);
            }
        }
    }

    fn recv_arg(&mut self) -> Read<(RecvArg, u32)> {
        let token = self.cur();
        let start = token.span;
        let mut height = 1;
        let kind = match (token.tok, token.key()) {
            (Tok::Number(_) | Tok::Char(_), _) | (_, Some(Key::True | Key::False | Key::Skip)) => {
                RecvKind::Const(self.constant()?)
            }
            (Tok::Sign(Sign::Minus), _) if matches!(self.nth(1).tok, Tok::Number(_) | Tok::Char(_)) => {
                self.bump();
                let value = self.constant()?;
                let span = self.since(start);
                RecvKind::Const(Expr { kind: ExprKind::Unary(UnOp::Neg, Box::new(value)), span })
            }
            (_, Some(Key::Eval)) => {
                self.bump();
                self.expect(Sign::OpenParen, "after `eval`")?;
                let (e, h) = self.expr_at(0)?;
                height = h + 1;
                self.close_paren("the argument of `eval`")?;
                RecvKind::Eval(e)
            }
            _ if token.name().is_some_and(|sym| self.word(sym) == "_") => {
                self.bump();
                RecvKind::Any
            }
            _ if token.name().is_some() => {
                let (var, h) = self.var_ref_tall()?;
                height = h;
                RecvKind::Name(var)
            }
            _ => return Err(self.unexpected("a variable, a constant or `eval(…)` to receive into")),
        };
        let span = self.since(start);
        let operator = match self.cur().tok {
            Tok::Sign(sign) => matches!(
                sign,
                Sign::Plus
                    | Sign::Minus
                    | Sign::Star
                    | Sign::Slash
                    | Sign::Percent
                    | Sign::EqEq
                    | Sign::NotEq
                    | Sign::And
                    | Sign::AndAnd
                    | Sign::Or
                    | Sign::OrOr
                    | Sign::Lt
                    | Sign::Le
                    | Sign::Ge
                    | Sign::Shl
            ),
            _ => false,
        };
        if operator {
            return Err(self.expr_received());
        }
        Ok((RecvArg { kind, span }, height))
    }

    #[cold]
    fn expr_received(&mut self) -> super::Failed {
        let d = Diagnostic::error("P0234", "an expression stands where a message is received")
            .at(self.cur().span, "operator")
            .help("a received field is a variable, a constant, `_`, or `eval(expression)` to test for a value");
        self.fail(d)
    }
}
