//! The expressions of `#if`: C's, over 64-bit whole numbers.
//!
//! C computes in the widest type, signed unless a `u` says otherwise. Models need no unsigned arithmetic there; a `u`
//! is read and has no effect.

use crate::token::{Names, Sign, Tok, Token};
use spinor_model::source::Span;

type Failure = (Option<Span>, String);

pub fn value(tokens: &[Token], names: &Names) -> Result<bool, Failure> {
    let mut e = Evaluator { tokens, names, pos: 0, depth: 0 };
    let value = e.ternary(true)?;
    match tokens.get(e.pos) {
        None => Ok(value != 0),
        Some(t) => Err((Some(t.span), format!("{} is not expected in this condition", names.describe(t)))),
    }
}

struct Evaluator<'a> {
    tokens: &'a [Token],
    names: &'a Names,
    pos: usize,
    depth: usize,
}

impl Evaluator<'_> {
    fn take(&mut self, sign: Sign) -> bool {
        let yes = self.tokens.get(self.pos).is_some_and(|t| t.is(sign));
        self.pos += yes as usize;
        yes
    }

    /// `live`: the value counts. Where it does not, a division by zero is no mistake.
    fn ternary(&mut self, live: bool) -> Result<i64, Failure> {
        self.depth += 1;
        if self.depth > 100 {
            return Err((self.tokens.first().map(|t| t.span), "this condition is nested too deep".into()));
        }
        let c = self.binary(0, live)?;
        let out = if self.take(Sign::Query) {
            let a = self.ternary(live && c != 0)?;
            if !self.take(Sign::Colon) {
                return Err(self.missing("`:`"));
            }
            let b = self.ternary(live && c == 0)?;
            if c != 0 { a } else { b }
        } else {
            c
        };
        self.depth -= 1;
        Ok(out)
    }

    fn binary(&mut self, min: u8, live: bool) -> Result<i64, Failure> {
        let mut a = self.unary(live)?;
        while let Some(Token { tok: Tok::Sign(sign), span, .. }) = self.tokens.get(self.pos).copied() {
            let Some(strength) = strength(sign).filter(|s| *s >= min) else { break };
            self.pos += 1;
            let live = live && !(sign == Sign::AndAnd && a == 0) && !(sign == Sign::OrOr && a != 0);
            let b = self.binary(strength + 1, live)?;
            if matches!(sign, Sign::Slash | Sign::Percent) && b == 0 {
                if live {
                    return Err((Some(span), "this condition divides by zero".into()));
                }
                a = 0;
                continue;
            }
            a = match sign {
                Sign::OrOr => (a != 0 || b != 0) as i64,
                Sign::AndAnd => (a != 0 && b != 0) as i64,
                Sign::Or => a | b,
                Sign::Caret => a ^ b,
                Sign::And => a & b,
                Sign::EqEq => (a == b) as i64,
                Sign::NotEq => (a != b) as i64,
                Sign::Lt => (a < b) as i64,
                Sign::Le => (a <= b) as i64,
                Sign::Gt => (a > b) as i64,
                Sign::Ge => (a >= b) as i64,
                Sign::Shl => a.wrapping_shl(b as u32),
                Sign::Shr => a.wrapping_shr(b as u32),
                Sign::Plus => a.wrapping_add(b),
                Sign::Minus => a.wrapping_sub(b),
                Sign::Star => a.wrapping_mul(b),
                Sign::Slash => a.wrapping_div(b),
                _ => a.wrapping_rem(b),
            };
        }
        Ok(a)
    }

    fn unary(&mut self, live: bool) -> Result<i64, Failure> {
        // Signs before an operand, in a row, without recursion.
        let from = self.pos;
        while let Some(Token { tok: Tok::Sign(s), .. }) = self.tokens.get(self.pos)
            && matches!(s, Sign::Bang | Sign::BangBang | Sign::Minus | Sign::Plus | Sign::Tilde)
        {
            self.pos += 1;
        }
        let signs = from..self.pos;
        let mut v = self.primary(live)?;
        for i in signs.rev() {
            v = match self.tokens[i].tok {
                Tok::Sign(Sign::Bang) => (v == 0) as i64,
                Tok::Sign(Sign::BangBang) => (v != 0) as i64,
                Tok::Sign(Sign::Minus) => v.wrapping_neg(),
                Tok::Sign(Sign::Tilde) => !v,
                _ => v,
            };
        }
        Ok(v)
    }

    fn primary(&mut self, live: bool) -> Result<i64, Failure> {
        let Some(token) = self.tokens.get(self.pos).copied() else { return Err(self.missing("a value")) };
        self.pos += 1;
        match token.tok {
            Tok::Number(sym) => number(self.names.text(sym))
                .ok_or_else(|| (Some(token.span), format!("`{}` is not a whole number", self.names.text(sym)))),
            Tok::Char(sym) => Ok(crate::parser::char_value(self.names.text(sym)).unwrap_or(0).into()),
            // As in C: a name that is no macro counts as 0, `true` included.
            Tok::Word(_) => Ok(0),
            Tok::Sign(Sign::OpenParen) => {
                let v = self.ternary(live)?;
                if self.take(Sign::CloseParen) { Ok(v) } else { Err(self.missing("`)`")) }
            }
            _ => Err((Some(token.span), format!("{} is not a value", self.names.describe(&token)))),
        }
    }

    fn missing(&self, what: &str) -> Failure {
        let at = self.tokens.get(self.pos).or(self.tokens.last()).map(|t| t.span);
        (at, format!("{what} is missing in this condition"))
    }
}

fn strength(sign: Sign) -> Option<u8> {
    use Sign::*;
    Some(match sign {
        OrOr => 1,
        AndAnd => 2,
        Or => 3,
        Caret => 4,
        And => 5,
        EqEq | NotEq => 6,
        Lt | Le | Gt | Ge => 7,
        Shl | Shr => 8,
        Plus | Minus => 9,
        Star | Slash | Percent => 10,
        _ => return None,
    })
}

/// A number as C writes it.
fn number(text: &str) -> Option<i64> {
    let text = text.trim_end_matches(['u', 'U', 'l', 'L']);
    let (digits, radix) = match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => (&text[2..], 16),
        [b'0', b'b' | b'B', ..] => (&text[2..], 2),
        [b'0', _, ..] => (&text[1..], 8),
        _ => (text, 10),
    };
    u64::from_str_radix(digits, radix).ok().map(|n| n as i64)
}
