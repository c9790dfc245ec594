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
        let mut args = vec![self.expr()?];
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

    /// `rarg {, rarg}`, `rarg ( rargs )`, `( rargs )`
    pub(super) fn recv_args(&mut self, args: &mut Vec<RecvArg>) -> Read<()> {
        if self.at(Sign::OpenParen) {
            self.deeper()?;
            self.bump();
            self.recv_args(args)?;
            self.close_paren("the fields of the message")?;
            self.depth -= 1;
            return Ok(());
        }
        loop {
            if self.at(Sign::OpenParen) {
                return self.recv_args(args);
            }
            args.push(self.recv_arg()?);
            if self.at(Sign::OpenParen) {
                return self.recv_args(args);
            }
            if !self.eat(Sign::Comma) {
                return Ok(());
            }
        }
    }

    fn recv_arg(&mut self) -> Read<RecvArg> {
        let token = self.cur();
        let start = token.span;
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
                let e = self.expr()?;
                self.close_paren("the argument of `eval`")?;
                RecvKind::Eval(e)
            }
            _ if token.name().is_some_and(|sym| self.word(sym) == "_") => {
                self.bump();
                RecvKind::Any
            }
            _ if token.name().is_some() => RecvKind::Name(self.var_ref()?),
            _ => return Err(self.unexpected("a variable, a constant or `eval(…)` to receive into")),
        };
        let span = self.since(start);
        let operator = match self.cur().tok {
            Tok::Sign(sign) => matches!(
                sign,
                Sign::Plus | Sign::Minus | Sign::Star | Sign::Slash | Sign::Percent | Sign::EqEq | Sign::NotEq | Sign::And
                    | Sign::AndAnd | Sign::Or | Sign::OrOr | Sign::Lt | Sign::Le | Sign::Ge | Sign::Shl
            ),
            _ => false,
        };
        if operator {
            let d = Diagnostic::error("P0234", "an expression stands where a message is received")
                .at(self.cur().span, "operator")
                .help("a received field is a variable, a constant, `_`, or `eval(expression)` to test for a value");
            return Err(self.fail(d));
        }
        Ok(RecvArg { kind, span })
    }
}
