//! A formula becomes an automaton with transition-based generalised acceptance.
//!
//! # The argument
//!   A state is a set of formulas that are to hold from here on. Each formula unfolds into *terms*: what must hold
//!   now (a guard), what must hold from the next state on (a set of formulas), and which untils were put off (the
//!   *promises*). `a U b` is `b`, or `a` now and itself next with a promise; `a W b` is the same without the promise.
//!   The terms of a conjunction are the products, those of a disjunction the union. A term is a
//!   transition; it has the mark of every until that it does not put off, so a run that puts one off for ever lacks
//!   its mark (Couvreur, FM 1999).
//!
//!   For one valuation, only the terms with fewest promises and formulas matter: a run from fewer formulas can do
//!   what a run from more does, with more marks. So the guard of a term loses what a smaller term allows. What is
//!   left is canonical: two sets have equal terms if and only if they unfold to the same function of valuations, next
//!   formulas and promises, and then they are one state.
//!   For the same reason a formula goes from a set if another one unfolds within it (`Pool::unfolds_within`). No
//!   other simplification is made on sets: it could replace a promise by another one at every step, so that none is
//!   ever found broken.
//!
//!   Marks are numbered in each component of the automaton apart: an until that is never put off inside of a component
//!   needs no mark there.
//!
//! # Owed
//!   O1 the automaton accepts what satisfies the formula    tests: random formulas, with their negations and on lassos
//!
//! # Cost  exponential in the untils in the worst case; `Limits` stops it. What is to hold infinitely often is
//! waited for in turn if it is much (`often`).

use crate::automaton::{Automaton, Marks, StateId, Transition};
use crate::effort::{Effort, Limits, TooLarge};
use crate::formula::Formula;
use crate::graph::Components;
use crate::guards::Guard;
use crate::hash::QuickMap;
use crate::lasso::eval_lasso;
use crate::often::{MOST_OFTEN, with_often};
use crate::pool::{Id, Node, Pool};
use crate::product::{accepts_as, union};
use std::rc::Rc;

/// Terms of one product, before the least ones are chosen: that compares all pairs.
const MOST_TERMS: usize = 1 << 15;

/// The automaton of a formula, as the construction gives it: simplified before, not reduced after.
pub fn translate(formula: &Formula, limits: Limits) -> Result<Automaton, TooLarge> {
    translate_within(formula, limits, &mut Effort::new(&limits))
}

pub(crate) fn translate_within(formula: &Formula, limits: Limits, effort: &mut Effort) -> Result<Automaton, TooLarge> {
    let mut pool = Pool::default();
    let id = pool.build(formula);
    let operators = pool.n_operators(id);
    let made = whole(&mut pool, id, limits, effort).map_err(|e| TooLarge { operators, ..e })?;
    debug_assert!(is_of(&made, formula), "O1");
    Ok(made)
}

/// For checks: of some words, the automaton accepts those that satisfy the formula.
pub(crate) fn is_of(automaton: &Automaton, formula: &Formula) -> bool {
    accepts_as(automaton, &formula.props(), |stem, cycle| eval_lasso(formula, stem, cycle).holds())
}

/// In parts, if some disjunct asks for much that is to hold infinitely often.
fn whole(pool: &mut Pool, formula: Id, limits: Limits, effort: &mut Effort) -> Result<Automaton, TooLarge> {
    let disjuncts = pool.disjuncts(formula);
    let parts: Vec<(Vec<Id>, Vec<Guard>)> = disjuncts.iter().map(|&part| apart(pool, part)).collect();
    if parts.iter().all(|(_, often)| often.is_empty()) {
        return Construction::new(pool, limits, effort).run(formula);
    }
    let mut all: Option<Automaton> = None;
    let plain =
        parts.iter().zip(&disjuncts).filter(|((_, often), _)| often.is_empty()).map(|(_, &part)| part).collect();
    let plain = pool.or(plain);
    if plain != Id::FALSE {
        all = Some(Construction::new(pool, limits, effort).run(plain)?);
    }
    for (rest, often) in parts.into_iter().filter(|(_, often)| !often.is_empty()) {
        let rest = pool.and(rest);
        let rest = Construction::new(pool, limits, effort).run(rest)?;
        let part = with_often(&rest, &often, &pool.guards, &pool.props, limits.transitions)?;
        all = Some(match all {
            None => part,
            Some(others) => union(&others, &part),
        });
    }
    Ok(all.expect("there is a part"))
}

/// The conjuncts, and apart from them what is to hold infinitely often, if it is much.
fn apart(pool: &Pool, formula: Id) -> (Vec<Id>, Vec<Guard>) {
    let often = |id: Id| match *pool.node(id) {
        Node::Always(inner) => match *pool.node(inner) {
            Node::Eventually(condition) => match *pool.node(condition) {
                Node::Bool(guard) => Some(guard),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    };
    let all = pool.conjuncts(formula);
    let conditions: Vec<Guard> = all.iter().filter_map(|&id| often(id)).collect();
    if conditions.len() <= MOST_OFTEN {
        return (all, Vec::new());
    }
    (all.into_iter().filter(|&id| often(id).is_none()).collect(), conditions)
}

type Set = Rc<[Id]>;

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
struct Term {
    next: Set,
    promises: Set,
    guard: Guard,
}

type Terms = Rc<[Term]>;

struct Construction<'a> {
    pool: &'a mut Pool,
    limits: Limits,
    effort: &'a mut Effort,
    /// States and terms so far.
    made: (usize, usize),
    /// Roughly, of the tables below.
    bytes: usize,
    terms: QuickMap<Id, Terms>,
    products: QuickMap<Set, Terms>,
    absorbed: QuickMap<Vec<Id>, Set>,
}

impl<'a> Construction<'a> {
    fn new(pool: &'a mut Pool, limits: Limits, effort: &'a mut Effort) -> Construction<'a> {
        Construction {
            pool,
            limits,
            effort,
            made: (0, 0),
            bytes: 0,
            terms: QuickMap::default(),
            products: QuickMap::default(),
            absorbed: QuickMap::default(),
        }
    }

    /// Pays for some steps.
    fn goes_on(&mut self, steps: usize) -> Result<(), TooLarge> {
        let within = self.effort.goes_on(&mut self.pool.guards, steps as u64);
        if within && self.bytes + self.pool.guards.bytes() <= self.limits.bytes {
            Ok(())
        } else {
            Err(self.too_large())
        }
    }

    fn too_large(&self) -> TooLarge {
        TooLarge { states: self.made.0, transitions: self.made.1, operators: 0 }
    }

    fn run(mut self, formula: Id) -> Result<Automaton, TooLarge> {
        let start = self.pool.conjuncts(formula);
        let start = self.absorb(start);
        let mut of_set: QuickMap<Set, StateId> = QuickMap::default();
        let mut of_terms: QuickMap<Terms, StateId> = QuickMap::default();
        let mut states: Vec<Terms> = Vec::new();
        let mut todo = vec![start.clone()];
        let mut n_terms = 0;
        while let Some(set) = todo.pop() {
            if of_set.contains_key(&set) {
                continue;
            }
            let terms = self.of_set(&set)?;
            let state = *of_terms.entry(terms.clone()).or_insert_with(|| {
                n_terms += terms.len();
                todo.extend(terms.iter().map(|t| t.next.clone()));
                states.push(terms.clone());
                StateId(states.len() as u32 - 1)
            });
            of_set.insert(set, state);
            self.made = (states.len(), n_terms);
            if states.len() > self.limits.states || n_terms > self.limits.transitions {
                return Err(self.too_large());
            }
            self.goes_on(terms.len())?;
        }
        let target = |t: &Term| of_set[&t.next].idx();
        let components = Components::new(states.len(), 0..states.len(), |s, n| states[s].get(n).map(target));
        let inside = |s: usize, t: &Term| components.of[s] == components.of[target(t)];
        // The promises of each component.
        let mut promises: Vec<Vec<Id>> = vec![Vec::new(); components.n];
        for (s, terms) in states.iter().enumerate() {
            let known = &mut promises[components.of[s] as usize];
            known.extend(terms.iter().filter(|t| inside(s, t)).flat_map(|t| t.promises.iter()));
            known.sort_unstable();
            known.dedup();
        }
        let n_marks = promises.iter().map(|p| p.len()).max().unwrap_or(0) as u32;
        if n_marks > Marks::MOST {
            return Err(self.too_large());
        }
        let marks = |s: usize, t: &Term| {
            if !inside(s, t) {
                return Marks::NONE;
            }
            let broken = promises[components.of[s] as usize].iter().enumerate().filter(|(_, p)| t.promises.contains(p));
            Marks(broken.fold(Marks::all(n_marks).0, |marks, (n, _)| marks & !(1 << n)))
        };
        let mut guards = self.pool.guards.clone();
        let states = states.iter().enumerate().map(|(s, terms)| {
            let transition = |t: &Term| Transition { target: of_set[&t.next], marks: marks(s, t), guard: t.guard };
            let mut transitions: Vec<Transition> = terms.iter().map(transition).collect();
            Automaton::join(&mut guards, &mut transitions);
            transitions
        });
        let states = states.collect();
        let mut automaton =
            Automaton { props: self.pool.props.clone(), guards, initial: vec![of_set[&start]], states, n_marks };
        automaton.restrict(|_| true);
        automaton.compact();
        debug_assert_eq!((), automaton.check());
        Ok(automaton)
    }

    /// The set without what another of its formulas unfolds within.
    fn absorb(&mut self, mut set: Vec<Id>) -> Set {
        set.sort_unstable();
        set.dedup();
        if let Some(known) = self.absorbed.get(&set) {
            return known.clone();
        }
        let mut kept = set.clone();
        let mut i = 0;
        while i < kept.len() {
            let absorbed = (0..kept.len()).any(|j| i != j && self.pool.unfolds_within(kept[j], kept[i]));
            if absorbed {
                kept.remove(i);
            } else {
                i += 1;
            }
        }
        debug_assert!(kept.is_empty() == set.is_empty(), "what absorbs stays");
        debug_assert!(within(&kept, &set), "nothing comes to be demanded");
        let kept: Set = kept.into();
        self.bytes += 4 * (set.len() + kept.len()) + 80;
        self.absorbed.insert(set, kept.clone());
        kept
    }

    /// Outer formulas are younger than their parts, come last in a set, and stay while their parts come and go: so
    /// the products are made from the end and remembered.
    fn of_set(&mut self, set: &[Id]) -> Result<Terms, TooLarge> {
        let Some((&first, rest)) = set.split_first() else { return Ok(Rc::new([now(Guard::TRUE)])) };
        if rest.is_empty() {
            return self.of(first);
        }
        if let Some(known) = self.products.get(set) {
            return Ok(known.clone());
        }
        let (first, rest) = (self.of(first)?, self.of_set(rest)?);
        let terms = self.product(&first, &rest)?;
        self.products.insert(set.into(), terms.clone());
        Ok(terms)
    }

    fn of(&mut self, formula: Id) -> Result<Terms, TooLarge> {
        if let Some(terms) = self.terms.get(&formula) {
            return Ok(terms.clone());
        }
        let set = |id: Id| -> Set { Rc::new([id]) };
        let none: Set = Rc::new([]);
        let again = |promises: Set| -> Terms { Rc::new([Term { next: set(formula), promises, guard: Guard::TRUE }]) };
        let terms: Terms = match self.pool.node(formula).clone() {
            Node::Bool(Guard::FALSE) => Rc::new([]),
            Node::Bool(g) => Rc::new([now(g)]),
            Node::And(parts) => self.of_set(&parts)?,
            Node::Or(parts) => {
                let mut all = Vec::new();
                for part in parts {
                    all.extend(self.of(part)?.iter().cloned());
                }
                self.least(all)?
            }
            Node::Next(a) => {
                let next = self.pool.conjuncts(a);
                let next = self.absorb(next);
                Rc::new([Term { next, promises: none, guard: Guard::TRUE }])
            }
            Node::Always(a) => {
                let a = self.of(a)?;
                self.product(&a, &again(none))?
            }
            Node::Eventually(b) => {
                let b = self.of(b)?;
                self.least(b.iter().chain(again(set(formula)).iter()).cloned().collect())?
            }
            Node::Until(a, b) | Node::WeakUntil(a, b) => {
                let strong = matches!(self.pool.node(formula), Node::Until(..));
                let (a, b) = (self.of(a)?, self.of(b)?);
                let later = self.product(&a, &again(if strong { set(formula) } else { none }))?;
                self.least(b.iter().chain(later.iter()).cloned().collect())?
            }
        };
        self.terms.insert(formula, terms.clone());
        Ok(terms)
    }

    fn product(&mut self, a: &Terms, b: &Terms) -> Result<Terms, TooLarge> {
        let n_terms = a.len() * b.len();
        if n_terms > MOST_TERMS.min(4 * self.limits.transitions) {
            return Err(self.too_large());
        }
        let union = |x: &Set, y: &Set| -> Vec<Id> {
            let mut all: Vec<Id> = x.iter().chain(y.iter()).copied().collect();
            all.sort_unstable();
            all.dedup();
            all
        };
        let mut all = Vec::new();
        for x in a.iter() {
            self.goes_on(b.len())?;
            for y in b.iter() {
                let guard = self.pool.guards.and(x.guard, y.guard);
                if guard != Guard::FALSE {
                    let next = self.absorb(union(&x.next, &y.next));
                    all.push(Term { next, promises: union(&x.promises, &y.promises).into(), guard });
                }
            }
        }
        self.least(all)
    }

    /// Terms with equal demands joined, and each kept only where no smaller term allows the same.
    fn least(&mut self, mut terms: Vec<Term>) -> Result<Terms, TooLarge> {
        terms.sort_unstable();
        let mut joined: Vec<Term> = Vec::with_capacity(terms.len());
        for t in terms {
            match joined.last_mut() {
                Some(last) if last.next == t.next && last.promises == t.promises => {
                    last.guard = self.pool.guards.or(last.guard, t.guard)
                }
                _ => joined.push(t),
            }
        }
        let mut least = Vec::with_capacity(joined.len());
        for (n, t) in joined.iter().enumerate() {
            self.goes_on(joined.len() / 4)?;
            let mut guard = t.guard;
            for (m, smaller) in joined.iter().enumerate() {
                if guard == Guard::FALSE {
                    break;
                }
                if m != n && within(&smaller.next, &t.next) && within(&smaller.promises, &t.promises) {
                    guard = self.pool.guards.minus(guard, smaller.guard);
                }
            }
            if guard != Guard::FALSE {
                self.bytes += 2 * (size_of::<Term>() + 4 * t.promises.len() + 16);
                least.push(Term { guard, ..t.clone() });
            }
        }
        let demands = |t: &Term| (t.next.clone(), t.promises.clone());
        debug_assert!(least.is_sorted_by(|t, u| demands(t) < demands(u)), "a term for each set of demands");
        Ok(least.into())
    }
}

fn now(guard: Guard) -> Term {
    Term { next: Rc::new([]), promises: Rc::new([]), guard }
}

/// Of sorted sets.
fn within(small: &[Id], large: &[Id]) -> bool {
    debug_assert!(small.is_sorted() && large.is_sorted(), "sets are sorted");
    let mut at = large.iter();
    small.len() <= large.len() && small.iter().all(|s| at.by_ref().any(|l| l == s))
}
