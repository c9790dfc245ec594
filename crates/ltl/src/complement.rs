//! What an automaton does not accept.
//!
//! # The argument
//!   D  A deterministic automaton, made complete, has one run for each word: it is rejected if from some point on it lacks
//!      some mark. So the run is followed, and at some point a mark is chosen and the transitions with it are
//!      forbidden.
//!   N  Any other is made state-based; then all its runs over a word make a graph, level by level, and none of them is
//!      accepted if and only if the nodes can be *ranked*: ranks never increase along an edge, accepting states have even
//!      ones, and no run stays at an even one (Kupferman and Vardi). From some level on there is a ranking that is
//!      *tight*: the greatest rank is odd, and all smaller odd ones occur (Friedgut, Kupferman and Vardi). So the
//!      subsets are followed, and at some point a tight ranking is guessed. From there on the greatest ranks that are
//!      allowed are kept, and one even rank `i` after the other is looked at (Schewe, STACS 2009): `owing` are the
//!      states of that rank that have had it since the look began. If they are gone it is the next rank's turn, and
//!      the transitions of such a state have the mark. The one guess that is left is that none of `owing` is
//!      really of rank `i` any more: then all of them get the greatest rank below.
//!      Why the greatest rank loses nothing: it is never below the real one, and a node of odd real rank has
//!      a successor of the same, so the tight ranks all stay.
//!
//! # Owed
//!   O1 a word is accepted by one of the two    tests: random automata, on lassos and by the product
//!
//! # Cost  exponential in the states where it is not deterministic: `Limits` stops it.

use crate::automaton::{Automaton, Marks, StateId, Transition};
use crate::degeneralise::state_based_within;
use crate::effort::{Effort, Limits, TooLarge};
use crate::guards::{Guard, Guards};
use crate::hash::QuickMap;
use crate::product::{accepts_as, accepts_lasso, is_empty};
use crate::reduce::reduce_within;

/// An automaton that accepts exactly what this one does not, reduced.
pub fn complement(automaton: &Automaton, limits: Limits) -> Result<Automaton, TooLarge> {
    complement_within(automaton, limits, &mut Effort::new(&limits))
}

pub(crate) fn complement_within(
    automaton: &Automaton,
    limits: Limits,
    effort: &mut Effort,
) -> Result<Automaton, TooLarge> {
    let mut a = reduce_within(automaton, effort);
    let made = if is_deterministic(&mut a) {
        of_deterministic(&a)
    } else {
        let buchi = state_based_within(&a, effort);
        Ranks::new(&buchi, limits, effort).run()?
    };
    let reduced = reduce_within(&made, effort);
    debug_assert!(!is_empty(automaton) || !is_empty(&reduced), "a word is accepted by one of the two");
    debug_assert!(accepts_as(&reduced, &automaton.props, |stem, cycle| !accepts_lasso(automaton, stem, cycle)), "O1");
    Ok(reduced)
}

fn is_deterministic(a: &mut Automaton) -> bool {
    let guards = &mut a.guards;
    a.initial.len() <= 1
        && a.states.iter().all(|ts| {
            let mut any = Guard::FALSE;
            ts.iter().all(|t| {
                let apart = guards.and(any, t.guard) == Guard::FALSE;
                any = guards.or(any, t.guard);
                apart
            })
        })
}

/// D. The states of `a`, one where it is stuck, and the states once more for each mark.
fn of_deterministic(a: &Automaton) -> Automaton {
    let mut guards = a.guards.clone();
    let n = a.n_states() as u32;
    let stuck = Transition { target: StateId(n), marks: Marks::all(1), guard: Guard::TRUE };
    let copy = |s: StateId, mark: u32| StateId(n + 1 + mark * n + s.0);
    let mut states: Vec<Vec<Transition>> = Vec::new();
    for ts in &a.states {
        let mut all = Vec::new();
        let mut missing = Guard::TRUE;
        for t in ts {
            missing = guards.minus(missing, t.guard);
            all.push(Transition { marks: Marks::NONE, ..*t });
            all.extend((0..a.n_marks).map(|m| Transition {
                target: copy(t.target, m),
                marks: Marks::NONE,
                guard: t.guard,
            }));
        }
        all.push(Transition { guard: missing, marks: Marks::NONE, ..stuck });
        states.push(all);
    }
    states.push(vec![stuck]);
    for m in 0..a.n_marks {
        for ts in &a.states {
            let without = ts.iter().filter(|t| !t.marks.has(m));
            let here = |t: &Transition| Transition { target: copy(t.target, m), marks: Marks::all(1), guard: t.guard };
            states.push(without.map(here).collect());
        }
    }
    for ts in &mut states {
        Automaton::join(&mut guards, ts);
    }
    let initial = if a.initial.is_empty() { vec![StateId(n)] } else { a.initial.clone() };
    assert_eq!(
        states.len() as u32,
        n + 1 + a.n_marks * n,
        "D: the states, one where it is stuck, and once more for each mark"
    );
    let made = Automaton { props: a.props.clone(), guards, initial, states, n_marks: 1 };
    debug_assert_eq!((), made.check());
    made
}

/// Valuations at which the same is possible, and what: who goes where.
type Letter = (Guard, Vec<(u32, u32)>);

/// A state of the result of N.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Node {
    /// The states in which the runs are.
    Subset(Vec<u32>),
    /// With their ranks.
    Ranked { ranks: Vec<(u32, u8)>, owing: Vec<u32>, even: u8 },
}

struct Ranks<'a> {
    a: &'a Automaton,
    accepting: Vec<bool>,
    guards: Guards,
    limits: Limits,
    effort: &'a mut Effort,
    numbers: QuickMap<Node, StateId>,
    nodes: Vec<Node>,
    n_transitions: usize,
}

impl<'a> Ranks<'a> {
    fn new(a: &'a Automaton, limits: Limits, effort: &'a mut Effort) -> Ranks<'a> {
        let accepting = (0..a.n_states() as u32).map(|s| a.is_accepting(StateId(s))).collect();
        let guards = a.guards.clone();
        Ranks {
            a,
            accepting,
            guards,
            limits,
            effort,
            numbers: QuickMap::default(),
            nodes: Vec::new(),
            n_transitions: 0,
        }
    }

    fn run(mut self) -> Result<Automaton, TooLarge> {
        let mut start: Vec<u32> = self.a.initial.iter().map(|s| s.0).collect();
        start.sort_unstable();
        let initial = vec![self.number(Node::Subset(start))];
        let mut states: Vec<Vec<Transition>> = Vec::new();
        while let Some(node) = self.nodes.get(states.len()).cloned() {
            let (members, marks) = match &node {
                Node::Subset(set) => (set.clone(), if set.is_empty() { Marks::all(1) } else { Marks::NONE }),
                Node::Ranked { ranks, owing, .. } => {
                    let marks = if owing.is_empty() { Marks::all(1) } else { Marks::NONE };
                    (ranks.iter().map(|r| r.0).collect(), marks)
                }
            };
            let mut transitions = Vec::new();
            for (guard, edges) in self.letters(&members)? {
                for next in self.onward(&node, &edges)? {
                    let target = self.number(next);
                    transitions.push(Transition { target, marks, guard });
                }
            }
            Automaton::join(&mut self.guards, &mut transitions);
            self.n_transitions += transitions.len();
            states.push(transitions);
            self.goes_on(1)?;
        }
        let made = Automaton { props: self.a.props.clone(), guards: self.guards, initial, states, n_marks: 1 };
        debug_assert_eq!((), made.check());
        debug_assert!(made.is_state_based(), "N: a node has the mark or lacks it");
        Ok(made)
    }

    fn number(&mut self, node: Node) -> StateId {
        let next = StateId(self.nodes.len() as u32);
        let number = *self.numbers.entry(node.clone()).or_insert(next);
        if number == next {
            self.nodes.push(node);
        }
        number
    }

    fn goes_on(&mut self, steps: usize) -> Result<(), TooLarge> {
        let within = self.nodes.len() <= self.limits.states && self.n_transitions <= self.limits.transitions;
        if self.effort.goes_on(&mut self.guards, steps as u64) && within {
            return Ok(());
        }
        Err(TooLarge { states: self.nodes.len(), transitions: self.n_transitions, operators: 0 })
    }

    /// The valuations by what the members can do.
    fn letters(&mut self, members: &[u32]) -> Result<Vec<Letter>, TooLarge> {
        let mut letters: Vec<Letter> = vec![(Guard::TRUE, Vec::new())];
        for &s in members {
            for t in &self.a.states[s as usize] {
                for n in 0..letters.len() {
                    let with = self.guards.and(letters[n].0, t.guard);
                    if with == Guard::FALSE {
                        continue;
                    }
                    let mut edges = letters[n].1.clone();
                    edges.push((s, t.target.0));
                    letters[n].0 = self.guards.minus(letters[n].0, t.guard);
                    letters.push((with, edges));
                }
                letters.retain(|l| l.0 != Guard::FALSE);
                self.goes_on(4 * letters.len())?;
            }
        }
        debug_assert!(check_letters(&mut self.guards, &letters), "a valuation is of one letter");
        Ok(letters)
    }

    fn onward(&mut self, node: &Node, edges: &[(u32, u32)]) -> Result<Vec<Node>, TooLarge> {
        match node {
            Node::Subset(_) => {
                let mut targets: Vec<u32> = edges.iter().map(|e| e.1).collect();
                targets.sort_unstable();
                targets.dedup();
                let mut all = self.tight(&targets)?;
                all.push(Node::Subset(targets));
                Ok(all)
            }
            Node::Ranked { ranks, owing, even } => Ok(self.ranked_onward(ranks, owing, *even, edges)),
        }
    }

    /// Every tight ranking of the states.
    fn tight(&mut self, set: &[u32]) -> Result<Vec<Node>, TooLarge> {
        let most = 2 * set.iter().filter(|&&s| !self.accepting[s as usize]).count();
        if most > u8::MAX as usize {
            return Err(TooLarge { states: self.nodes.len(), transitions: self.n_transitions, operators: 0 });
        }
        let mut rankings: Vec<Vec<(u32, u8)>> = vec![Vec::new()];
        for &s in set {
            let step = if self.accepting[s as usize] { 2 } else { 1 };
            let extended = |ranking: &Vec<(u32, u8)>| {
                let with = |rank: usize| [&ranking[..], &[(s, rank as u8)]].concat();
                (0..most).step_by(step).map(with).collect::<Vec<_>>()
            };
            rankings = rankings.iter().flat_map(extended).collect();
            self.goes_on(8 * rankings.len())?;
        }
        let ranked = |ranks: Vec<(u32, u8)>| Node::Ranked { ranks, owing: Vec::new(), even: 0 };
        Ok(rankings.into_iter().filter(|r| is_tight(r)).map(ranked).collect())
    }

    fn ranked_onward(&self, ranks: &[(u32, u8)], owing: &[u32], even: u8, edges: &[(u32, u32)]) -> Vec<Node> {
        debug_assert!(is_tight(ranks), "N: only tight rankings are followed");
        debug_assert!(ranks.is_sorted_by(|a, b| a.0 < b.0), "a state has one rank");
        debug_assert!(
            even.is_multiple_of(2) && owing.iter().all(|s| ranks.contains(&(*s, even))),
            "N: who owes has the even rank"
        );
        let rank_of = |s: u32| ranks[ranks.binary_search_by_key(&s, |r| r.0).expect("a member")].1;
        let mut next: Vec<(u32, u8)> = Vec::new();
        let mut still: Vec<u32> = Vec::new();
        let mut sorted = edges.to_vec();
        sorted.sort_unstable_by_key(|e| e.1);
        for (from, to) in sorted {
            let rank = rank_of(from);
            match next.last_mut() {
                Some(last) if last.0 == to => last.1 = last.1.min(rank),
                _ => next.push((to, rank)),
            }
            if owing.contains(&from) {
                still.push(to);
            }
        }
        for (s, rank) in &mut next {
            if self.accepting[*s as usize] {
                *rank &= !1;
            }
        }
        let greatest = |ranks: &[(u32, u8)]| ranks.iter().map(|r| r.1).max().unwrap_or(0);
        let highest = greatest(ranks);
        if greatest(&next) != highest || !is_tight(&next) {
            return Vec::new();
        }
        let (even, owing): (u8, Vec<u32>) = if owing.is_empty() {
            let even = (even + 2) % (highest + 1);
            (even, next.iter().filter(|r| r.1 == even).map(|r| r.0).collect())
        } else {
            (even, next.iter().filter(|r| r.1 == even && still.contains(&r.0)).map(|r| r.0).collect())
        };
        let mut all = Vec::new();
        if even > 0 && !owing.is_empty() {
            let lower = |&(s, rank): &(u32, u8)| match owing.contains(&s) {
                true if self.accepting[s as usize] => (s, even - 2),
                true => (s, even - 1),
                false => (s, rank),
            };
            all.push(Node::Ranked { ranks: next.iter().map(lower).collect(), owing: Vec::new(), even });
        }
        debug_assert!(
            next.is_sorted_by(|a, b| a.0 < b.0) && next.iter().all(|r| r.1 <= highest),
            "N: no rank increases"
        );
        let fits = |r: &(u32, u8)| !self.accepting[r.0 as usize] || r.1.is_multiple_of(2);
        debug_assert!(next.iter().all(fits), "N: accepting states have even ranks");
        all.push(Node::Ranked { ranks: next, owing, even });
        all
    }
}

/// No two have a valuation in common, and together they have all.
fn check_letters(guards: &mut Guards, letters: &[Letter]) -> bool {
    let mut left = Guard::TRUE;
    let each = letters.iter().all(|(guard, _)| {
        let own = guards.minus(*guard, left) == Guard::FALSE;
        left = guards.minus(left, *guard);
        own
    });
    each && left == Guard::FALSE
}

/// The greatest rank is odd, and every smaller odd one occurs.
fn is_tight(ranks: &[(u32, u8)]) -> bool {
    let highest = ranks.iter().map(|r| r.1).max().unwrap_or(0);
    highest % 2 == 1 && (1..highest).step_by(2).all(|odd| ranks.iter().any(|r| r.1 == odd))
}
