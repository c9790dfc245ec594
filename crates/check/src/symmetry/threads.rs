//! Fairness in a component of the quotient, exactly.
//!
//! Source  threads are what [EmersonSistla95] and [GyurisSistla97] follow, as an automaton; here they are sets that are joined.
//! Fits    weak and strong fairness; any choice of representatives; components found by `cycles/scc`.
//!
//! # The argument
//!   A state c of a component of the quotient stands for states ρ(c). A process of such a state is seen in c under
//!   a name, and after a move whose permutation is q the one that was seen as j is seen as q(j). So processes are
//!   followed along moves as *threads* through pairs (c, j). Permutations are one to one and a component is connected, so
//!   pairs that are joined by moves can all be reached from each other: they fall into classes, and each class has a
//!   pair at every state.
//!
//!   Weak fairness. If every class has a pair (c, i) where i is not able to move, or a move by i inside the component, then
//!   from any state each thread can be led to such a pair, one thread after the other, and back to where it began: a lap
//!   that serves every thread that begins there, and so does every further lap, whatever the names are then. If some class
//!   has no such pair, then the thread that is in it is always able to move and never does, in every run that stays
//!   inside, because parts of the component have parts of the classes.
//!
//!   Strong fairness. A class that is able to move somewhere and moves nowhere in the component is bad. In the
//!   states that the component stands for, a process in a bad class must not be able to move again and again; the
//!   processes in one class are alike, so the states to avoid are those c with a pair (c, j) of a bad class where j is
//!   able to, which is a matter of c alone. They are removed, and what is left is taken apart in the same way.
//!
//!   Moves between the same states with different permutations are different moves: all are kept.
//!
//! # Invariants
//!   I1 the moves of a state are those that the search made, so what they lead to is stored
//!   I2 each class of a connected part has a pair at every state, and as many at each
//!   I3 no two threads are seen under one name: what a move does to names is a permutation
//!   I4 whose a move is, is able to move and has a name
//!   I5 the run is one: it comes into the part, stays there, closes, and pays what is owed
//!
//! # Owed
//!   O1 verdict = oracle on the whole graph    tests: random symmetric systems; a join left out is caught there
//!
//! # Cost  processes times moves of a component that has all marks.

use super::canon::Perm;
use crate::cycles::{Fairness, Moves, Pids, Runs, all_marks};
use spinor_ltl::Components;
use spinor_model::ir::Pid;
use spinor_store::{Full, StateId, Visited};
use std::collections::{HashMap, HashSet, VecDeque};

/// Runs of a quotient that know how names change.
pub trait Permuted: Runs {
    /// Where runs really begin.
    fn initial_raw(&self, desk: &mut Self::Desk, out: &mut Moves);
    /// The moves, with the states that they really lead to.
    fn moves_raw(&self, desk: &mut Self::Desk, key: &[u8], out: &mut Moves);
    /// Replaces a state by the one that is seen for it. The permutation that leads there.
    fn pick(&self, desk: &mut Self::Desk, key: &mut [u8]) -> Perm;
}

/// From the first state to what repeats, and that; by numbers of moves.
pub type Run = (Vec<u32>, Vec<u32>);

/// A run in a component that is accepted and fair.
pub fn judge<'s, R: Permuted, V: Visited>(
    runs: &R,
    desk: &mut R::Desk,
    store: &'s V,
    hand: &mut V::Hand<'s>,
    states: &[StateId],
    fairness: Fairness,
) -> Result<Option<Run>, Full> {
    let threads = Threads::new(runs, desk, store, hand, states)?;
    let part = threads.accepted_part(runs.n_marks(), fairness);
    let run = part.map(|part| (threads.run(&part, runs.n_marks(), fairness), part));
    debug_assert!(run.iter().all(|(run, part)| threads.check_run(run, part, runs.n_marks(), fairness)), "I5");
    Ok(run.map(|(run, _)| run))
}

struct Threads {
    /// Names are less than this.
    n: usize,
    moves: Vec<Vec<Inner>>,
    able: Vec<Pids>,
    perms: Vec<Perm>,
}

struct Inner {
    nth: u32,
    to: usize,
    marks: u64,
    pid: Option<Pid>,
    perm: usize,
}

/// Sets of pairs.
struct Classes(Vec<usize>);

impl Classes {
    fn root(&mut self, mut n: usize) -> usize {
        while self.0[n] != n {
            self.0[n] = self.0[self.0[n]];
            n = self.0[n];
        }
        n
    }

    fn join(&mut self, a: usize, b: usize) {
        debug_assert!(a.max(b) < self.0.len(), "I4: pairs");
        let (a, b) = (self.root(a), self.root(b));
        self.0[a] = b;
    }
}

fn seat(perm: &[Pid], j: usize) -> usize {
    perm.get(j).map_or(j, |p| usize::from(*p))
}

fn is_permutation(perm: &[Pid]) -> bool {
    let mut all = perm.to_vec();
    all.sort_unstable();
    all.iter().enumerate().all(|(n, p)| usize::from(*p) == n)
}

impl Threads {
    fn new<'s, R: Permuted, V: Visited>(
        runs: &R,
        desk: &mut R::Desk,
        store: &'s V,
        hand: &mut V::Hand<'s>,
        states: &[StateId],
    ) -> Result<Threads, Full> {
        let numbers: HashMap<StateId, usize> = states.iter().enumerate().map(|(n, id)| (*id, n)).collect();
        assert_eq!(numbers.len(), states.len(), "each state is there once");
        let mut known: HashMap<Perm, usize> = HashMap::new();
        let mut out = Threads { n: 0, moves: Vec::new(), able: Vec::new(), perms: Vec::new() };
        let (mut key, mut moves, mut ids) = (Vec::new(), Moves::default(), Vec::new());
        for &id in states {
            store.load(hand, id, &mut key);
            moves.clear();
            runs.moves_raw(desk, &key, &mut moves);
            debug_assert!(moves.check_behind(0, runs.n_marks()), "M1, M2, M3, I4");
            let mut perms = Vec::new();
            for m in &moves.all {
                let perm = runs.pick(desk, &mut moves.keys[m.to.clone()]);
                out.n = out.n.max(perm.len());
                let next = known.len();
                perms.push(*known.entry(perm).or_insert(next));
            }
            let keys: Vec<_> = moves.all.iter().map(|m| m.to.clone()).collect();
            store.offer(hand, &moves.keys, &keys)?;
            store.settle(hand, &moves.keys, &keys, &mut ids)?;
            debug_assert!(ids.iter().all(|(_, new)| !new), "I1");
            store.rest(hand);
            let inner = moves.all.iter().zip(&ids).zip(perms).enumerate().filter_map(|(nth, ((m, (to, _)), perm))| {
                let to = *numbers.get(to)?;
                Some(Inner { nth: nth as u32, to, marks: m.marks, pid: m.pid, perm })
            });
            out.moves.push(inner.collect());
            out.n = out.n.max(moves.able.iter().last().map_or(0, |p| usize::from(p) + 1));
            out.able.push(moves.able);
        }
        out.perms.resize(known.len(), Vec::new());
        known.into_iter().for_each(|(perm, n)| out.perms[n] = perm);
        assert!(out.perms.iter().all(|perm| is_permutation(perm)), "I3");
        debug_assert!(out.moves.iter().flatten().all(|m| m.pid.is_none_or(|pid| usize::from(pid) < out.n)), "I4");
        Ok(out)
    }

    fn inside<'t>(&'t self, part: &'t [bool], at: usize) -> impl Iterator<Item = &'t Inner> {
        self.moves[at].iter().filter(|m| part[m.to])
    }

    fn is_able(&self, at: usize, j: usize) -> bool {
        self.able[at].has(j as Pid)
    }

    /// The pairs of a part that are joined.
    fn classes(&self, states: &[usize], part: &[bool]) -> Classes {
        let mut classes = Classes((0..self.moves.len() * self.n).collect());
        for &at in states {
            for m in self.inside(part, at) {
                for j in 0..self.n {
                    classes.join(at * self.n + j, m.to * self.n + seat(&self.perms[m.perm], j));
                }
            }
        }
        classes
    }

    /// The class of each pair at a state, in order.
    fn classes_at(&self, classes: &mut Classes, at: usize) -> Vec<usize> {
        let mut roots: Vec<usize> = (0..self.n).map(|j| classes.root(at * self.n + j)).collect();
        roots.sort_unstable();
        roots
    }

    /// I2
    fn check_classes(&self, classes: &mut Classes, states: &[usize], n_classes: usize) -> bool {
        let first = self.classes_at(classes, states[0]);
        let n_first = first.iter().collect::<HashSet<_>>().len();
        n_first == n_classes && states.iter().all(|at| self.classes_at(classes, *at) == first)
    }

    /// A connected part whose runs that pass everything are accepted and fair.
    fn accepted_part(&self, n_marks: u32, fairness: Fairness) -> Option<Vec<bool>> {
        let mut part = vec![false; self.moves.len()];
        let mut todo = self.components(&(0..self.moves.len()).collect::<Vec<_>>());
        while let Some(states) = todo.pop() {
            states.iter().for_each(|n| part[*n] = true);
            let mut marks = None;
            for m in states.iter().flat_map(|n| self.inside(&part, *n)) {
                *marks.get_or_insert(0) |= m.marks;
            }
            if marks == Some(all_marks(n_marks)) {
                let mut classes = self.classes(&states, &part);
                // By root: it moves, it is somewhere able to, it is somewhere not.
                let mut seen: HashMap<usize, (bool, bool, bool)> = HashMap::new();
                for &at in &states {
                    for j in 0..self.n {
                        let of = seen.entry(classes.root(at * self.n + j)).or_default();
                        of.1 |= self.is_able(at, j);
                        of.2 |= !self.is_able(at, j);
                    }
                    for pid in self.inside(&part, at).filter_map(|m| m.pid) {
                        seen.entry(classes.root(at * self.n + usize::from(pid))).or_default().0 = true;
                    }
                }
                debug_assert!(self.check_classes(&mut classes, &states, seen.len()), "I2");
                let bad = |of: &(bool, bool, bool)| match fairness {
                    Fairness::None => false,
                    Fairness::Weak => !of.0 && !of.2,
                    Fairness::Strong => !of.0 && of.1,
                };
                if !seen.values().any(bad) {
                    return Some(part);
                }
                if fairness == Fairness::Strong {
                    let mut avoid = |at: usize| {
                        (0..self.n).any(|j| self.is_able(at, j) && bad(&seen[&classes.root(at * self.n + j)]))
                    };
                    let rest: Vec<usize> = states.iter().copied().filter(|at| !avoid(*at)).collect();
                    assert!(rest.len() < states.len(), "who makes it unfair is able to move somewhere in it");
                    todo.extend(self.components(&rest));
                }
            }
            states.iter().for_each(|n| part[*n] = false);
        }
        None
    }

    fn components(&self, states: &[usize]) -> Vec<Vec<usize>> {
        Components::among(states, |n, nth| self.moves[n].get(nth).map(|m| m.to))
    }

    /// The shortest way, for a thread that is at a pair now, to a wanted move: states and places in their lists.
    fn way(
        &self,
        from: (usize, usize),
        part: &[bool],
        wanted: &dyn Fn(usize, usize, &Inner) -> bool,
    ) -> Vec<(usize, usize)> {
        let mut before: HashMap<(usize, usize), ((usize, usize), usize)> = HashMap::new();
        let mut queue = VecDeque::from([from]);
        while let Some((at, j)) = queue.pop_front() {
            for (place, m) in self.moves[at].iter().enumerate().filter(|(_, m)| part[m.to]) {
                if wanted(at, j, m) {
                    let (mut way, mut back) = (vec![(at, place)], (at, j));
                    while back != from {
                        let (pair, place) = before[&back];
                        way.push((pair.0, place));
                        back = pair;
                    }
                    way.reverse();
                    return way;
                }
                let to = (m.to, seat(&self.perms[m.perm], j));
                if to != from && !before.contains_key(&to) {
                    before.insert(to, ((at, j), place));
                    queue.push_back(to);
                }
            }
        }
        unreachable!("what is owed is in the part");
    }

    /// From the first state into the part and round in it.
    fn run(&self, part: &[bool], n_marks: u32, fairness: Fairness) -> Run {
        let whole = vec![true; self.moves.len()];
        let (mut way, mut start) = (Vec::new(), 0);
        if !part[0] {
            let steps = self.way((0, 0), &whole, &|_, _, m| part[m.to]);
            way.extend(steps.iter().map(|(at, place)| self.moves[*at][*place].nth));
            let (at, place) = steps[steps.len() - 1];
            start = self.moves[at][place].to;
        }
        let states: Vec<usize> = (0..self.moves.len()).filter(|n| part[*n]).collect();
        let mut classes = self.classes(&states, part);
        let mut able: HashMap<usize, bool> = HashMap::new();
        for &at in &states {
            for j in 0..self.n {
                *able.entry(classes.root(at * self.n + j)).or_default() |= self.is_able(at, j);
            }
        }
        // Under which name each thread is seen now; who is still to be served.
        let mut names: Vec<usize> = (0..self.n).collect();
        let mut owed: Vec<bool> = (0..self.n).map(|j| able[&classes.root(start * self.n + j)]).collect();
        if fairness == Fairness::None {
            owed.fill(false);
        }
        let mut marks = all_marks(n_marks);
        assert!(part[start], "the way leads into the part");
        let (mut cycle, mut at) = (Vec::new(), start);
        let rest = |owed: &mut Vec<bool>, names: &[usize], at: usize| {
            if fairness == Fairness::Weak {
                owed.iter_mut().zip(names).for_each(|(owed, j)| *owed &= self.is_able(at, *j));
            }
        };
        rest(&mut owed, &names, at);
        while marks != 0 || owed.contains(&true) || cycle.is_empty() {
            let thread = owed.iter().position(|o| *o);
            let steps = match thread {
                Some(t) => self.way((at, names[t]), part, &|_, j, m| {
                    let after = seat(&self.perms[m.perm], j);
                    m.pid == Some(j as Pid) || fairness == Fairness::Weak && !self.is_able(m.to, after)
                }),
                None => self.way((at, 0), part, &|_, _, m| marks == 0 || m.marks & marks != 0),
            };
            let before = (marks.count_ones(), owed.iter().filter(|owed| **owed).count());
            for (from, place) in steps {
                debug_assert_eq!(from, at, "a way begins where the thread is");
                let m = &self.moves[from][place];
                marks &= !m.marks;
                if let Some(t) = m.pid.and_then(|pid| names.iter().position(|j| *j == usize::from(pid))) {
                    owed[t] = false;
                }
                names.iter_mut().for_each(|j| *j = seat(&self.perms[m.perm], *j));
                at = m.to;
                rest(&mut owed, &names, at);
                cycle.push(m.nth);
            }
            let after = (marks.count_ones(), owed.iter().filter(|owed| **owed).count());
            debug_assert!(before == (0, 0) || after != before, "each way pays something");
        }
        debug_assert_eq!(names.iter().collect::<HashSet<_>>().len(), self.n, "I3");
        if at != start {
            let steps = self.way((at, 0), part, &|_, _, m| m.to == start);
            cycle.extend(steps.iter().map(|(at, place)| self.moves[*at][*place].nth));
        }
        (way, cycle)
    }

    /// I5, by going along it: each thread that is owed a move made one, or was not able to.
    fn check_run(&self, (way, cycle): &Run, part: &[bool], n_marks: u32, fairness: Fairness) -> bool {
        let find = |at: usize, nth: u32| self.moves[at].iter().find(|m| m.nth == nth);
        let (mut at, mut marks) = (0, 0);
        for nth in way {
            let Some(m) = find(at, *nth) else { return false };
            at = m.to;
        }
        let start = at;
        let mut names: Vec<usize> = (0..self.n).collect();
        let mut served = vec![false; self.n];
        let is_able = |at: usize, names: &[usize]| names.iter().map(|j| self.is_able(at, *j)).collect::<Vec<bool>>();
        let mut looks = vec![is_able(at, &names)];
        for nth in cycle {
            let Some(m) = find(at, *nth).filter(|m| part[at] && part[m.to]) else { return false };
            for (served, name) in served.iter_mut().zip(&mut names) {
                *served |= m.pid.is_some_and(|pid| usize::from(pid) == *name);
                *name = seat(&self.perms[m.perm], *name);
            }
            marks |= m.marks;
            at = m.to;
            looks.push(is_able(at, &names));
        }
        let is_fair = |thread: usize| match fairness {
            Fairness::None => true,
            Fairness::Weak => served[thread] || looks.iter().any(|able| !able[thread]),
            Fairness::Strong => served[thread] || looks.iter().all(|able| !able[thread]),
        };
        at == start && !cycle.is_empty() && marks == all_marks(n_marks) && (0..self.n).all(is_fair)
    }
}
