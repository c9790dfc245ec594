//! A formula as a boolean combination of others that look at less.
//!
//! Source  [Peled93], as [Schoot7] has it in its section 7.3.4.
//!
//! # The argument
//!   What decides a boolean combination is the value of each of its parts, and that is decided by what the part looks at.
//!   Temporal operators let some connectives through:
//!     `[](a && b) = []a && []b`            `<>(a || b) = <>a || <>b`
//!     `[]<>(a || b) = []<>a || []<>b`      `<>[](a && b) = <>[]a && <>[]b`
//!     `(a && b) U c = a U c && b U c`      `a U (b || c) = a U b || a U c`       the same for `W`
//!     `(a || b) V c = a V c || b V c`      `a V (b && c) = a V b && a V c`
//!   Nothing is rewritten: all that is wanted is what each part looks at.
//!
//! # Owed
//!   O1 two runs that look the same to each part, up to stuttering, have the same value    tests/parts.rs: random formulas

use crate::formula::{Formula, PropId};
use std::collections::BTreeSet;

/// What each part looks at; none is within another. With `X` there is one part.
pub fn parts(formula: &Formula) -> Vec<BTreeSet<PropId>> {
    let mut found = Vec::new();
    if formula.has_next() {
        found.push(looked(formula));
    } else {
        split(&normal(formula, false), &mut found);
    }
    let mut out: Vec<BTreeSet<PropId>> = Vec::new();
    found.sort_by_key(|part| std::cmp::Reverse(part.len()));
    for part in found.into_iter().filter(|part| !part.is_empty()) {
        if !out.iter().any(|larger| part.is_subset(larger)) {
            out.push(part);
        }
    }
    debug_assert!(
        looked(formula).iter().all(|prop| out.iter().any(|part| part.contains(prop))),
        "no proposition is lost"
    );
    out
}

fn looked(formula: &Formula) -> BTreeSet<PropId> {
    match formula {
        Formula::Prop(p) => BTreeSet::from([*p]),
        other => other.parts().into_iter().flat_map(looked).collect(),
    }
}

/// With `!` only where nothing is gained by moving it, and without `->`.
fn normal(formula: &Formula, negated: bool) -> Formula {
    let one = |of: fn(Box<Formula>) -> Formula, a: &Formula| of(Box::new(normal(a, negated)));
    let two = |of: fn(Box<Formula>, Box<Formula>) -> Formula, a: &Formula, b: &Formula| {
        of(Box::new(normal(a, negated)), Box::new(normal(b, negated)))
    };
    let or = |a: Formula, b: Formula| Formula::Or(Box::new(a), Box::new(b));
    let and = |a: Formula, b: Formula| Formula::And(Box::new(a), Box::new(b));
    match (formula, negated) {
        (Formula::True, false) | (Formula::False, true) => Formula::True,
        (Formula::False, false) | (Formula::True, true) => Formula::False,
        (Formula::Prop(p), false) => Formula::Prop(*p),
        (Formula::Prop(p), true) => Formula::Not(Box::new(Formula::Prop(*p))),
        (Formula::Not(a), _) => normal(a, !negated),
        (Formula::And(a, b), false) | (Formula::Or(a, b), true) => two(Formula::And, a, b),
        (Formula::Or(a, b), false) | (Formula::And(a, b), true) => two(Formula::Or, a, b),
        (Formula::Implies(a, b), false) => or(normal(a, true), normal(b, false)),
        (Formula::Implies(a, b), true) => and(normal(a, false), normal(b, true)),
        // It has the same parts if it is negated.
        (Formula::Equivalent(a, b), _) => Formula::Equivalent(Box::new(normal(a, false)), Box::new(normal(b, false))),
        (Formula::Next(a), _) => one(Formula::Next, a),
        (Formula::Always(a), false) | (Formula::Eventually(a), true) => one(Formula::Always, a),
        (Formula::Eventually(a), false) | (Formula::Always(a), true) => one(Formula::Eventually, a),
        (Formula::Until(a, b), false) | (Formula::Release(a, b), true) => two(Formula::Until, a, b),
        (Formula::Release(a, b), false) | (Formula::Until(a, b), true) => two(Formula::Release, a, b),
        (Formula::WeakUntil(a, b), false) => two(Formula::WeakUntil, a, b),
        (Formula::WeakUntil(..), true) => Formula::Not(Box::new(normal(formula, false))),
    }
}

/// The parts of a formula in normal form.
fn split(formula: &Formula, out: &mut Vec<BTreeSet<PropId>>) {
    use Formula::{Always, And, Equivalent, Eventually, Not, Or, Release, Until, WeakUntil};
    let again = |f: Formula, out: &mut Vec<_>| split(&f, out);
    match formula {
        And(a, b) | Or(a, b) | Equivalent(a, b) => {
            split(a, out);
            split(b, out);
        }
        Not(a) => split(a, out),
        Always(inner) => match &**inner {
            And(a, b) => [a, b].into_iter().for_each(|x| again(Always(x.clone()), out)),
            Always(_) => split(inner, out),
            Eventually(last) => match &**last {
                Or(a, b) => [a, b].into_iter().for_each(|x| again(Always(Box::new(Eventually(x.clone()))), out)),
                _ => out.push(looked(formula)),
            },
            _ => out.push(looked(formula)),
        },
        Eventually(inner) => match &**inner {
            Or(a, b) => [a, b].into_iter().for_each(|x| again(Eventually(x.clone()), out)),
            Eventually(_) => split(inner, out),
            Always(last) => match &**last {
                And(a, b) => [a, b].into_iter().for_each(|x| again(Eventually(Box::new(Always(x.clone()))), out)),
                _ => out.push(looked(formula)),
            },
            _ => out.push(looked(formula)),
        },
        Until(a, b) | WeakUntil(a, b) => {
            let of = if matches!(formula, Until(..)) { Until } else { WeakUntil };
            match (&**a, &**b) {
                (And(x, y), _) => [x, y].into_iter().for_each(|x| again(of(x.clone(), b.clone()), out)),
                (_, Or(x, y)) => [x, y].into_iter().for_each(|x| again(of(a.clone(), x.clone()), out)),
                _ => out.push(looked(formula)),
            }
        }
        Release(a, b) => match (&**a, &**b) {
            (Or(x, y), _) => [x, y].into_iter().for_each(|x| again(Release(x.clone(), b.clone()), out)),
            (_, And(x, y)) => [x, y].into_iter().for_each(|x| again(Release(a.clone(), x.clone()), out)),
            _ => out.push(looked(formula)),
        },
        _ => out.push(looked(formula)),
    }
}
