//! The least deterministic automaton of an obligation: a property that a weak deterministic automaton can decide.
//!
//! # The argument
//!   (Dax, Eisinger and Klaedtke, ATVA 2007.) Follow all runs at once: the subsets of states make a deterministic
//!   automaton. If the property is an obligation, then all cycles inside of one of its components are accepted or
//!   none is, and any one cycle tells which. Löding's numbers make it minimal (IPL 2001): from the last components
//!   backwards, a component has the least number, even for accepting and odd for rejecting ones, that is no less than
//!   those it leads to; a state outside of all cycles has the greatest of those it leads to. Even states are
//!   accepting, and then it is minimised as an automaton on finite words is.
//!   Whether the property is an obligation is found out in the end: the result is right if it and the automaton
//!   of the negation have nothing in common, and neither have its complement and the automaton itself.
//!
//! # Owed
//!   O1 the result accepts the same words    always on: the two products
//!
//! # Cost  exponential in the states in the worst case: it gives up soon.

use crate::automaton::{Automaton, Marks, StateId, Transition};
use crate::formula::PropId;
use crate::graph::Components;
use crate::guards::{Guard, Guards};
use crate::hash::QuickMap;
use crate::lasso::Valuation;
use crate::product::{accept_the_same, accepts_lasso, is_empty, product};

/// Transitions of the subsets, and of the automata it is tried for.
const MOST_TRANSITIONS: usize = 1_000;

/// The least weak deterministic automaton that accepts what `yes` does, state-based and complete, if there is one and
/// it is found soon. `no` accepts exactly what `yes` does not.
pub fn weak_deterministic(yes: &Automaton, no: &Automaton) -> Option<Automaton> {
    if yes.n_transitions().max(no.n_transitions()) > MOST_TRANSITIONS {
        return None;
    }
    let subsets = Subsets::new(yes)?;
    let numbers = subsets.numbers(yes);
    let result = subsets.minimal(&numbers);
    let mut complement = result.clone();
    for t in complement.states.iter_mut().flatten() {
        t.marks = Marks(t.marks.0 ^ 1);
    }
    debug_assert!(result.is_state_based() && complement.is_state_based(), "the numbers are of states");
    let is_obligation = is_empty(&product(&result, no)) && is_empty(&product(&complement, yes));
    debug_assert!(!is_obligation || accept_the_same(yes, &result), "O1");
    is_obligation.then_some(result)
}

/// The guards are disjoint, and one is true.
fn is_complete(guards: &mut Guards, edges: &[(Guard, usize)]) -> bool {
    let mut left = Guard::TRUE;
    let apart = edges.iter().all(|(guard, _)| {
        let own = guards.minus(*guard, left) == Guard::FALSE;
        left = guards.minus(left, *guard);
        own
    });
    apart && left == Guard::FALSE
}

struct Subsets {
    props: Vec<PropId>,
    guards: Guards,
    sets: Vec<Vec<StateId>>,
    /// The transitions of each set: disjoint guards, of which one is true.
    edges: Vec<Vec<(Guard, usize)>>,
    components: Components,
}

impl Subsets {
    fn new(a: &Automaton) -> Option<Subsets> {
        let mut guards = a.guards.clone();
        let mut numbers: QuickMap<Vec<StateId>, usize> = QuickMap::default();
        numbers.insert(a.initial.clone(), 0);
        let mut sets = vec![a.initial.clone()];
        let mut edges: Vec<Vec<(Guard, usize)>> = Vec::new();
        let mut n_edges = 0;
        while let Some(set) = sets.get(edges.len()).cloned() {
            let mut parts: Vec<(Guard, Vec<StateId>)> = vec![(Guard::TRUE, Vec::new())];
            for t in set.iter().flat_map(|s| &a.states[s.idx()]) {
                for n in 0..parts.len() {
                    let with = guards.and(parts[n].0, t.guard);
                    if with == Guard::FALSE || parts[n].1.contains(&t.target) {
                        continue;
                    }
                    let targets = [&parts[n].1[..], &[t.target]].concat();
                    parts[n].0 = guards.minus(parts[n].0, t.guard);
                    parts.push((with, targets));
                }
                parts.retain(|(guard, _)| *guard != Guard::FALSE);
                if parts.len() > MOST_TRANSITIONS {
                    return None;
                }
            }
            let mut of_set: QuickMap<usize, Guard> = QuickMap::default();
            for (guard, mut targets) in parts {
                targets.sort_unstable();
                let next = sets.len();
                let n = *numbers.entry(targets.clone()).or_insert(next);
                if n == next {
                    sets.push(targets);
                }
                let known = of_set.entry(n).or_insert(Guard::FALSE);
                *known = guards.or(*known, guard);
            }
            n_edges += of_set.len();
            if n_edges > MOST_TRANSITIONS {
                return None;
            }
            let mut of_set: Vec<(Guard, usize)> = of_set.into_iter().map(|(n, g)| (g, n)).collect();
            of_set.sort_unstable();
            debug_assert!(is_complete(&mut guards, &of_set), "one of the guards is true");
            edges.push(of_set);
        }
        debug_assert!(sets.iter().all(|set| set.is_sorted_by(|a, b| a < b)), "a set is known by its states, in order");
        let components = Components::new(sets.len(), [0].into_iter(), |s, n| edges[s].get(n).map(|e| e.1));
        Some(Subsets { props: a.props.clone(), guards, sets, edges, components })
    }

    /// Löding's numbers.
    fn numbers(&self, a: &Automaton) -> Vec<u32> {
        let mut of_component = vec![0; self.components.n];
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); self.components.n];
        for (s, &c) in self.components.of.iter().enumerate() {
            members[c as usize].push(s);
        }
        // What a component leads to has a smaller number and comes first.
        for (c, members) in members.iter().enumerate() {
            debug_assert!(
                members.iter().flat_map(|&s| &self.edges[s]).all(|e| self.components.of[e.1] as usize <= c),
                "components are numbered backwards"
            );
            let leads_to = members.iter().flat_map(|&s| &self.edges[s]).map(|e| self.components.of[e.1] as usize);
            let least = leads_to.filter(|&d| d != c).map(|d| of_component[d]).max().unwrap_or(0);
            of_component[c] = match self.cycle(members[0]) {
                None => least,
                Some(cycle) => {
                    let mut from_here = a.clone();
                    from_here.initial = self.sets[members[0]].clone();
                    let odd = !accepts_lasso(&from_here, &[], &cycle) as u32;
                    least + (least % 2 != odd) as u32
                }
            };
        }
        let numbers: Vec<u32> = self.components.of.iter().map(|&c| of_component[c as usize]).collect();
        let falls = |s: usize| self.edges[s].iter().all(|e| numbers[e.1] <= numbers[s]);
        debug_assert!((0..numbers.len()).all(falls), "numbers never rise");
        numbers
    }

    /// The word of some cycle through the set.
    fn cycle(&self, start: usize) -> Option<Vec<Valuation>> {
        let component = self.components.of[start];
        let mut from: QuickMap<usize, (usize, Guard)> = QuickMap::default();
        let mut todo = vec![start];
        let mut next = 0;
        while next < todo.len() {
            let s = todo[next];
            next += 1;
            for &(guard, to) in self.edges[s].iter().filter(|e| self.components.of[e.1] == component) {
                if to == start {
                    let mut word = vec![self.example(guard)];
                    let mut at = s;
                    while at != start {
                        let (before, guard) = from[&at];
                        word.push(self.example(guard));
                        at = before;
                    }
                    word.reverse();
                    return Some(word);
                }
                from.entry(to).or_insert_with(|| {
                    todo.push(to);
                    (s, guard)
                });
            }
        }
        None
    }

    fn example(&self, guard: Guard) -> Valuation {
        let cube = self.guards.example(guard);
        Valuation::new(cube.into_iter().filter(|(_, value)| *value).map(|(c, _)| self.props[c as usize]))
    }

    /// Sets with equal futures are one.
    fn minimal(mut self, numbers: &[u32]) -> Automaton {
        let mut class: Vec<u32> = numbers.iter().map(|n| n % 2).collect();
        let mut n_classes = 0;
        loop {
            let mut known: QuickMap<(u32, Vec<Transition>), u32> = QuickMap::default();
            let mut finer = Vec::with_capacity(class.len());
            for (s, edges) in self.edges.iter().enumerate() {
                let marks = Marks::NONE;
                let to_class = |&(guard, to): &(Guard, usize)| Transition { target: StateId(class[to]), marks, guard };
                let mut signature: Vec<Transition> = edges.iter().map(to_class).collect();
                Automaton::join(&mut self.guards, &mut signature);
                let next = known.len() as u32;
                finer.push(*known.entry((class[s], signature)).or_insert(next));
            }
            let n = known.len();
            if n == n_classes {
                let mut states = vec![Vec::new(); n];
                for ((_, signature), c) in known {
                    states[c as usize] = signature;
                }
                for (s, &c) in finer.iter().enumerate() {
                    for t in &mut states[c as usize] {
                        t.marks = if numbers[s].is_multiple_of(2) { Marks::all(1) } else { Marks::NONE };
                    }
                }
                let initial = vec![StateId(finer[0])];
                return Automaton { props: self.props, guards: self.guards, initial, states, n_marks: 1 };
            }
            n_classes = n;
            class = finer;
        }
    }
}
