//! Which values an expression may have, and whether its evaluation may fault.
//!
//! By types and constants alone, the same in every state. Errs in one direction: the range may be too wide and a
//! fault may be reported that cannot happen, never the reverse.
//!
//! # Invariants
//!   R1 what an expression comes to, in any state, is in its range, or a fault that may happen

use crate::eval;
use crate::ir::{BinOp, Effect, Expr, Place, Probe, Type, UnOp};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range {
    pub lo: i64,
    pub hi: i64,
    pub faults: bool,
}

pub const ANY: (i64, i64) = (i32::MIN as i64, i32::MAX as i64);

impl Range {
    fn new((lo, hi): (i64, i64), faults: bool) -> Range {
        // Arithmetic wraps: what leaves the 32 bits may be anything.
        assert!(lo <= hi, "some value is in it");
        let (lo, hi) = if lo < ANY.0 || hi > ANY.1 { ANY } else { (lo, hi) };
        Range { lo, hi, faults }
    }

    /// R1 of what is computed from the least and the greatest values of two ranges.
    fn check_corners(self, op: BinOp, a: Range, b: Range) -> bool {
        let ends = |r: Range| [r.lo as i32, r.hi as i32];
        let lazy = matches!(op, BinOp::And | BinOp::Or);
        lazy || ends(a).into_iter().all(|a| ends(b).into_iter().all(|b| self.has(&eval::binary(op, a, b))))
    }

    pub fn of(e: &Expr) -> Range {
        match e {
            Expr::Const(n) => Range::new((i64::from(*n), i64::from(*n)), false),
            Expr::Read(place) => Range::new(values(place.ty), index_faults(place)),
            Expr::Unary(op, a) => {
                let a = Range::of(a);
                let bounds = match op {
                    UnOp::Not => (i64::from(a.lo == 0 && a.hi == 0), i64::from(a.lo <= 0 && a.hi >= 0)),
                    UnOp::Neg => (-a.hi, -a.lo),
                    UnOp::BitNot => (!a.hi, !a.lo),
                };
                Range::new(bounds, a.faults)
            }
            Expr::Binary(op, a, b) => binary(*op, Range::of(a), Range::of(b)),
            Expr::Cond(c, a, b) => {
                let (c, a, b) = (Range::of(c), Range::of(a), Range::of(b));
                Range::new((a.lo.min(b.lo), a.hi.max(b.hi)), c.faults || a.faults || b.faults)
            }
            Expr::Pid | Expr::NewPid | Expr::NrPr | Expr::Last => Range::new((0, 255), false),
            Expr::Timeout | Expr::NonProgress | Expr::Accepting | Expr::Happens(_) => Range::new((0, 1), false),
            // A channel may be missing, a process may ask about itself.
            Expr::Probe(Probe::Len, _) => Range::new((0, ANY.1), true),
            Expr::Probe(Probe::Full | Probe::Nfull | Probe::Empty | Probe::Nempty, _) => Range::new((0, 1), true),
            Expr::Poll { .. } | Expr::Enabled(_) => Range::new((0, 1), true),
            Expr::PcValue(a) => Range::new((0, ANY.1), Range::of(a).faults),
            Expr::GetPriority(a) => Range::new((0, 255), Range::of(a).faults),
            Expr::AtLabel { pid, .. } => Range::new((0, 1), pid.as_ref().is_some_and(|p| Range::of(p).faults)),
            Expr::Remote { pid, place, .. } => {
                let (lo, hi) = values(place.ty);
                let pid = pid.as_ref().is_some_and(|p| Range::of(p).faults);
                Range::new((lo.min(0), hi), pid || index_faults(place))
            }
        }
    }

    /// R1
    pub fn has<F>(self, value: &Result<i32, F>) -> bool {
        value.as_ref().map_or(self.faults, |value| (self.lo..=self.hi).contains(&i64::from(*value)))
    }

    pub fn bounds(self) -> (i64, i64) {
        (self.lo, self.hi)
    }

    /// Never zero, and never a fault.
    pub fn holds(self) -> bool {
        !self.faults && (self.lo > 0 || self.hi < 0)
    }

    /// No bits are lost in a variable of this type.
    pub fn fits(self, ty: Type) -> bool {
        let (lo, hi) = values(ty);
        lo <= self.lo && self.hi <= hi
    }
}

/// Whether doing this may end in a fatal fault, as far as its expressions go.
pub fn effect_faults(effect: &Effect) -> bool {
    let mut faults = false;
    effect.each_expr(&mut |e| faults |= Range::of(e).faults);
    faults || matches!(effect, Effect::Assign { to, .. } if index_faults(to))
}

pub fn index_faults(place: &Place) -> bool {
    place.index.iter().any(|step| {
        let r = Range::of(&step.value);
        r.faults || r.lo < 0 || r.hi >= i64::from(step.len)
    })
}

/// The values a slot of this type can hold.
pub fn values(ty: Type) -> (i64, i64) {
    let (lo, hi) = match ty {
        Type::Short => (i64::from(i16::MIN), i64::from(i16::MAX)),
        Type::Int => ANY,
        _ => (0, (1 << ty.bits()) - 1),
    };
    debug_assert!([lo, hi].iter().all(|v| i64::from(ty.fit(*v as i32)) == *v), "R1: {ty:?} keeps what it can hold");
    debug_assert!(ty.fit(hi.wrapping_add(1) as i32) as i64 != hi + 1, "R1: {ty:?} keeps nothing else");
    (lo, hi)
}

fn binary(op: BinOp, a: Range, b: Range) -> Range {
    let mut faults = a.faults || b.faults;
    let corners = |f: fn(i64, i64) -> i64| {
        let all = [f(a.lo, b.lo), f(a.lo, b.hi), f(a.hi, b.lo), f(a.hi, b.hi)];
        (all.into_iter().min().unwrap_or(ANY.0), all.into_iter().max().unwrap_or(ANY.1))
    };
    let both_positive = a.lo >= 0 && b.lo >= 0;
    let bounds = match op {
        BinOp::Or | BinOp::And | BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge => (0, 1),
        BinOp::Add => corners(|a, b| a + b),
        BinOp::Sub => corners(|a, b| a - b),
        BinOp::Mul => corners(|a, b| a * b),
        BinOp::BitAnd if both_positive => (0, a.hi.min(b.hi)),
        BinOp::BitOr | BinOp::BitXor if both_positive => {
            (0, ((a.hi.max(b.hi) as u64 + 1).next_power_of_two() - 1) as i64)
        }
        BinOp::Div | BinOp::Rem => {
            faults |= b.lo <= 0 && b.hi >= 0;
            match op {
                BinOp::Div if a.lo >= 0 && b.lo > 0 => (0, a.hi / b.lo),
                BinOp::Rem if b.lo > 0 => (if a.lo >= 0 { 0 } else { 1 - b.hi }, a.hi.clamp(0, b.hi - 1)),
                _ => ANY,
            }
        }
        BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor | BinOp::Shl | BinOp::Shr => ANY,
    };
    let range = Range::new(bounds, faults);
    debug_assert!(range.check_corners(op, a, b), "R1: {op:?} of {a:?} and {b:?}");
    debug_assert!(range.faults || !a.faults && !b.faults, "R1: both sides may be looked at");
    range
}

#[cfg(test)]
mod tests {
    use super::*;

    fn c(n: i32) -> Box<Expr> {
        Box::new(Expr::Const(n))
    }

    fn range(op: BinOp, a: Expr, b: i32) -> (i64, i64, bool) {
        let r = Range::of(&Expr::Binary(op, Box::new(a), c(b)));
        (r.lo, r.hi, r.faults)
    }

    #[test]
    fn ranges_hold_what_the_machine_computes() {
        assert_eq!(range(BinOp::Rem, Expr::Pid, 3), (0, 2, false));
        assert_eq!(range(BinOp::Rem, Expr::Unary(UnOp::Neg, Box::new(Expr::Pid)), 3), (-2, 0, false));
        assert_eq!(range(BinOp::Rem, Expr::Pid, 0), (ANY.0, ANY.1, true));
        assert_eq!(range(BinOp::Div, Expr::Pid, 2), (0, 127, false));
        assert_eq!(range(BinOp::Add, Expr::Const(i32::MAX), 1), (ANY.0, ANY.1, false));
        assert_eq!(range(BinOp::Mul, Expr::Pid, -2), (-510, 0, false));
        assert_eq!(range(BinOp::BitOr, Expr::Pid, 256), (0, 511, false));
        assert!(Range::of(&Expr::Const(-1)).holds() && !Range::of(&Expr::Pid).holds());
        assert!(Range::of(&Expr::Unary(UnOp::Not, c(0))).holds() && !Range::of(&Expr::Unary(UnOp::Not, c(2))).holds());
        assert!(Range::of(&Expr::Pid).fits(Type::Byte) && !Range::of(&Expr::Pid).fits(Type::Bit));
    }
}
