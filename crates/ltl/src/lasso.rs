//! The truth of a formula, and of every part of it, along a lasso: a stem and a cycle that is repeated for ever.
//!
//! # The argument
//!   A formula has one value at each position of stem and cycle. `a U b` is the least solution of
//!   `v(i) = b(i) || a(i) && v(i + 1)`, where the last position is followed by the first one of the cycle: start with
//!   false everywhere and go backwards twice, once to learn what the cycle's beginning says and once to use it.
//!   `a W b` is the greatest solution of the same equation: start with true.
//!
//! # Cost  positions times parts of the formula.

use crate::formula::{Formula, PropId};
use std::collections::HashMap;

/// Which propositions hold in one state; those never set do not.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Valuation(Vec<u64>);

impl Valuation {
    pub fn new(true_props: impl IntoIterator<Item = PropId>) -> Valuation {
        let mut valuation = Valuation::default();
        for prop in true_props {
            valuation.set(prop, true);
        }
        valuation
    }

    pub fn set(&mut self, prop: PropId, value: bool) {
        let (word, bit) = (prop.0 as usize / 64, prop.0 % 64);
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        self.0[word] = self.0[word] & !(1 << bit) | (value as u64) << bit;
    }

    pub fn holds(&self, prop: PropId) -> bool {
        self.0.get(prop.0 as usize / 64).is_some_and(|word| word >> (prop.0 % 64) & 1 == 1)
    }
}

/// The values of a formula and its parts along a lasso.
#[derive(Clone, Debug)]
pub struct LassoValues<'a> {
    /// Every part once, operands before what they are part of, the whole formula last; and its value at each
    /// position of the stem, then of the cycle.
    pub rows: Vec<(&'a Formula, Vec<bool>)>,
}

impl LassoValues<'_> {
    /// Does the whole formula hold at the first position?
    pub fn holds(&self) -> bool {
        self.rows.last().is_some_and(|(_, values)| values[0])
    }
}

/// The values of every part of a formula at every position of a lasso. Panics if the cycle is empty.
pub fn eval_lasso<'a>(formula: &'a Formula, stem: &[Valuation], cycle: &[Valuation]) -> LassoValues<'a> {
    assert!(!cycle.is_empty(), "a cycle has at least one state");
    let mut table =
        Table { word: stem.iter().chain(cycle).collect(), back: stem.len(), rows: Vec::new(), row: HashMap::new() };
    table.add(formula);
    LassoValues { rows: table.rows }
}

/// So many lassos over these propositions for checks, the same ones for the same seed.
pub(crate) fn some_lassos(
    props: &[PropId],
    n: u64,
    seed: u64,
) -> impl Iterator<Item = (Vec<Valuation>, Vec<Valuation>)> {
    (0..n).map(move |nth| {
        let mut state = (seed << 8 ^ nth).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut random = move || {
            state = (state ^ state >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            state >> 32
        };
        let (n_stem, n_cycle) = (random() % 3, 1 + random() % 3);
        let mut word = |len: u64| {
            let letters = (0..len).map(|_| Valuation::new(props.iter().copied().filter(|_| random() % 2 == 0)));
            letters.collect::<Vec<_>>()
        };
        (word(n_stem), word(n_cycle))
    })
}

struct Table<'a, 'w> {
    word: Vec<&'w Valuation>,
    /// The position after the last one.
    back: usize,
    rows: Vec<(&'a Formula, Vec<bool>)>,
    row: HashMap<&'a Formula, usize>,
}

impl<'a> Table<'a, '_> {
    fn add(&mut self, formula: &'a Formula) -> usize {
        if let Some(&row) = self.row.get(formula) {
            return row;
        }
        let parts: Vec<usize> = formula.parts().into_iter().map(|p| self.add(p)).collect();
        let n = self.word.len();
        let a = |i: usize| self.rows[parts[0]].1[i];
        let b = |i: usize| self.rows[parts[1]].1[i];
        let each = |value: &dyn Fn(usize) -> bool| (0..n).map(value).collect::<Vec<bool>>();
        let values = match formula {
            Formula::True => each(&|_| true),
            Formula::False => each(&|_| false),
            Formula::Prop(p) => each(&|i| self.word[i].holds(*p)),
            Formula::Not(_) => each(&|i| !a(i)),
            Formula::And(..) => each(&|i| a(i) && b(i)),
            Formula::Or(..) => each(&|i| a(i) || b(i)),
            Formula::Implies(..) => each(&|i| !a(i) || b(i)),
            Formula::Equivalent(..) => each(&|i| a(i) == b(i)),
            Formula::Next(_) => each(&|i| a(self.after(i))),
            Formula::Always(_) => self.solve(true, &|i, later| a(i) && later),
            Formula::Eventually(_) => self.solve(false, &|i, later| a(i) || later),
            Formula::Until(..) => self.solve(false, &|i, later| b(i) || a(i) && later),
            Formula::WeakUntil(..) => self.solve(true, &|i, later| b(i) || a(i) && later),
            Formula::Release(..) => self.solve(true, &|i, later| b(i) && (a(i) || later)),
        };
        debug_assert!(
            values.len() == n && parts.iter().all(|part| *part < self.rows.len()),
            "parts come before the whole"
        );
        self.rows.push((formula, values));
        self.row.insert(formula, self.rows.len() - 1);
        self.rows.len() - 1
    }

    fn after(&self, i: usize) -> usize {
        if i + 1 < self.word.len() { i + 1 } else { self.back }
    }

    fn solve(&self, start: bool, step: &dyn Fn(usize, bool) -> bool) -> Vec<bool> {
        let mut values = vec![start; self.word.len()];
        for _ in 0..2 {
            for i in (0..self.word.len()).rev() {
                values[i] = step(i, values[self.after(i)]);
            }
        }
        let is_solved = |i: usize| values[i] == step(i, values[self.after(i)]);
        debug_assert!((0..values.len()).all(is_solved), "to go round twice is enough");
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_come_once_and_before_the_whole() {
        let p = || Box::new(Formula::Prop(PropId(0)));
        let often = Formula::Always(Box::new(Formula::Eventually(p())));
        let f = Formula::And(Box::new(often), Box::new(Formula::Next(p())));
        let (yes, no) = (Valuation::new([PropId(0)]), Valuation::default());
        let values = eval_lasso(&f, &[no.clone(), no.clone()], &[no, yes]);
        let table: Vec<(String, Vec<bool>)> = values.rows.iter().map(|(f, v)| (f.to_string(), v.clone())).collect();
        let row = |name: &str| &table.iter().find(|(n, _)| n == name).unwrap().1;
        assert_eq!(table.len(), 5);
        assert_eq!(row("p0"), &[false, false, false, true]);
        assert_eq!(row("<> p0"), &[true; 4]);
        assert_eq!(row("X p0"), &[false, false, true, false]);
        assert!(!values.holds());
    }
}
