//! Quotients by bisimulation and by simulation, and transitions that a better one makes superfluous.
//!
//! # The argument
//!   `t` simulates `s` if, whatever `s` can do, `t` can do with at least the same marks, arriving where the arrival is
//!   simulated again. Guards are functions, so one transition of `s` may be answered by several of `t`, each for some
//!   valuations. A run from `s` is then followed from `t`, with at least the same marks at every step, so:
//!   Q1 of states that simulate each other one is enough, with its own transitions
//!   Q2 a transition is not needed for those valuations for which another one of the same state leads, with at least
//!      the same marks, to a state that simulates its target (and that is not the same after Q1); nor an initial
//!      state that another one simulates
//!   Backwards, `t` precedes as `s` does if, whatever leads to `s`, something leads to `t` with at least the same
//!   marks, coming from where it was so before, and `t` is initial if `s` is. A prefix that ends in `s` is then one
//!   that ends in `t`:
//!   Q3 states that precede each other are one, with the transitions of both
//!   Q4 a transition is not needed for those valuations for which another state, that precedes as its source does, has
//!      one to the same target with at least the same marks
//!   Each of the four is sound alone and is done on the result of the one before: Q2 and Q4 at once are not.
//!
//!   In a state-based automaton the marks are of the source, which Q3 would lose: there an accepting state does not
//!   precede as another that is not.
//!
//! # Owed
//!   O1 the automaton accepts the same words    tests: random formulas
//!
//! # Cost  pairs of states times pairs of their transitions, some times over. A relation that is not complete when the
//! effort is spent is not used.

use crate::automaton::{Automaton, StateId, Transition};
use crate::effort::Effort;
use crate::guards::{Guard, Guards};
use crate::hash::QuickMap;
use crate::reduce::redirect;

/// Pairs of transitions that one pass over all pairs of states may look at.
const MOST_WORK: usize = 1 << 24;

/// All of the above, once, as far as the effort goes.
pub fn reduce(a: &mut Automaton, effort: &mut Effort) {
    let within = bisimulation(a, effort);
    let pairs = a.n_transitions().pow(2).max(a.n_states().pow(2));
    if within && pairs <= MOST_WORK && forward(a, effort).is_some() {
        backward(a, effort);
    }
}

/// States with the same transitions into the same classes are one; classes are split until that is so. Was there time?
pub(crate) fn bisimulation(a: &mut Automaton, effort: &mut Effort) -> bool {
    let mut class: Vec<u32> = vec![0; a.n_states()];
    let mut n_classes = 1;
    loop {
        let mut numbers: QuickMap<(u32, Vec<Transition>), u32> = QuickMap::default();
        let mut finer = Vec::with_capacity(class.len());
        for (s, transitions) in a.states.iter().enumerate() {
            let to_class = |t: &Transition| Transition { target: StateId(class[t.target.idx()]), ..*t };
            let mut signature: Vec<Transition> = transitions.iter().map(to_class).collect();
            Automaton::join(&mut a.guards, &mut signature);
            let next = numbers.len() as u32;
            finer.push(*numbers.entry((class[s], signature)).or_insert(next));
            if !effort.goes_on(&mut a.guards, transitions.len() as u64) {
                return false;
            }
        }
        debug_assert!(numbers.len() >= n_classes, "classes are split and never joined");
        class = finer;
        if numbers.len() == n_classes {
            break;
        }
        n_classes = numbers.len();
    }
    let mut first: Vec<Option<StateId>> = vec![None; n_classes];
    let stands_for = |(s, &c): (usize, &u32)| *first[c as usize].get_or_insert(StateId(s as u32));
    let stands_for: Vec<StateId> = class.iter().enumerate().map(stands_for).collect();
    redirect(a, &stands_for);
    true
}

/// A relation between states: `above[s * n + t]` if `t` can stand for `s`.
pub(crate) struct Order {
    n: usize,
    above: Vec<bool>,
}

impl Order {
    /// The largest relation for which each transition in `steps[s]` is answered by those in `steps[t]`, if there is time.
    pub fn largest(
        guards: &mut Guards,
        steps: &[Vec<Transition>],
        possible: impl Fn(usize, usize) -> bool,
        effort: &mut Effort,
    ) -> Option<Order> {
        let n = steps.len();
        let mut order = Order { n, above: (0..n * n).map(|i| possible(i / n, i % n)).collect() };
        loop {
            let mut stable = true;
            for s in 0..n {
                for t in 0..n {
                    if !order.is(s, t) {
                        continue;
                    }
                    if !effort.goes_on(guards, (steps[s].len() * steps[t].len() / 8) as u64) {
                        return None;
                    }
                    if s != t && !order.answers(guards, &steps[s], &steps[t]) {
                        order.above[s * n + t] = false;
                        stable = false;
                    }
                }
            }
            if stable {
                debug_assert!((0..n).all(|s| !possible(s, s) || order.is(s, s)), "a state can stand for itself");
                debug_assert!(n > 64 || order.is_transitive(), "what stands for it stands for what that stands for");
                return Some(order);
            }
        }
    }

    pub fn is(&self, s: usize, t: usize) -> bool {
        self.above[s * self.n + t]
    }

    fn is_transitive(&self) -> bool {
        let all = || 0..self.n;
        let through = |s, t| all().all(|u| !self.is(t, u) || self.is(s, u));
        all().all(|s| all().all(|t| !self.is(s, t) || through(s, t)))
    }

    fn strictly(&self, s: usize, t: usize) -> bool {
        self.is(s, t) && !self.is(t, s)
    }

    fn answers(&self, guards: &mut Guards, of_s: &[Transition], of_t: &[Transition]) -> bool {
        of_s.iter().all(|x| {
            let mut open = x.guard;
            for y in of_t {
                if x.marks.within(y.marks) && self.is(x.target.idx(), y.target.idx()) {
                    open = guards.minus(open, y.guard);
                    if open == Guard::FALSE {
                        return true;
                    }
                }
            }
            false
        })
    }

    /// For each state the first one that is equal to it.
    fn representatives(&self) -> Vec<StateId> {
        let equal = |s: usize| (0..s).find(|&t| self.is(s, t) && self.is(t, s)).unwrap_or(s);
        let all: Vec<StateId> = (0..self.n).map(|s| StateId(equal(s) as u32)).collect();
        debug_assert!(all.iter().all(|s| all[s.idx()] == *s), "who stands for others stands for itself");
        all
    }
}

/// Q1, Q2
fn forward(a: &mut Automaton, effort: &mut Effort) -> Option<()> {
    let order = Order::largest(&mut a.guards, &a.states, |_, _| true, effort)?;
    let stands_for = order.representatives(); // Q1
    for transitions in &mut a.states {
        for t in transitions.iter_mut() {
            t.target = stands_for[t.target.idx()];
        }
        Automaton::join(&mut a.guards, transitions);
        // After Q1 two targets that simulate each other are the same one, so "better" has no cycles.
        let all = transitions.clone();
        for t in transitions.iter_mut() {
            let better = |y: &&Transition| {
                let other = (y.target, y.marks) != (t.target, t.marks);
                other && t.marks.within(y.marks) && order.is(t.target.idx(), y.target.idx())
            };
            for y in all.iter().filter(better) {
                t.guard = a.guards.minus(t.guard, y.guard); // Q2
            }
        }
    }
    for s in &mut a.initial {
        *s = stands_for[s.idx()];
    }
    let all = a.initial.clone();
    a.initial.retain(|s| !all.iter().any(|t| order.strictly(s.idx(), t.idx())));
    debug_assert!(a.initial.is_empty() == all.is_empty(), "of those that simulate each other one is left");
    a.restrict(|_| true);
    Some(())
}

/// Q3, Q4
fn backward(a: &mut Automaton, effort: &mut Effort) -> Option<()> {
    let n = a.n_states();
    let mut arrivals: Vec<Vec<Transition>> = vec![Vec::new(); n];
    for (s, transitions) in a.states.iter().enumerate() {
        for t in transitions {
            arrivals[t.target.idx()].push(Transition { target: StateId(s as u32), ..*t });
        }
    }
    let initial: Vec<bool> = (0..n).map(|s| a.initial.contains(&StateId(s as u32))).collect();
    let accepting: Vec<bool> = (0..n).map(|s| a.is_accepting(StateId(s as u32))).collect();
    let state_based = a.is_state_based();
    let possible = |s: usize, t: usize| initial[s] <= initial[t] && (!state_based || accepting[s] <= accepting[t]);
    let order = Order::largest(&mut a.guards, &arrivals, possible, effort)?;
    let stands_for = order.representatives();
    for (s, r) in stands_for.iter().enumerate().filter(|(s, r)| r.idx() != *s) {
        let moved = std::mem::take(&mut a.states[s]);
        a.states[r.idx()].extend(moved);
    }
    for s in 0..n {
        for t in &mut a.states[s] {
            t.target = stands_for[t.target.idx()];
        }
        Automaton::join(&mut a.guards, &mut a.states[s]);
    }
    let all = a.states.clone();
    for s in 0..n {
        for t in &mut a.states[s] {
            for better in (0..n).filter(|&r| order.strictly(s, r)) {
                for y in all[better].iter().filter(|y| y.target == t.target && t.marks.within(y.marks)) {
                    t.guard = a.guards.minus(t.guard, y.guard);
                }
            }
        }
    }
    for s in &mut a.initial {
        *s = stands_for[s.idx()];
    }
    a.restrict(|_| true);
    Some(())
}
