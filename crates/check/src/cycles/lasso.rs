//! A run inside a component.
//!
//! # The argument
//!   Inside a component every state can be reached from every other. So one walks to the nearest thing that is
//!   still owed (a mark, a move of a process, a state where it is not able to move), and from the last one back. The
//!   walks are shortest ones, the whole is not: that would be a travelling salesman's problem.
//!   Whatever was found, and however it was shortened, `replay` goes along it before it is shown.

use super::{Fairness, Lasso, Moves, Pids, Runs, Summary, all_marks};
use spinor_ltl::Components;
use spinor_model::ir::Pid;
use spinor_store::{Full, StateId, Visited};
use std::collections::{HashMap, VecDeque};

/// Goes along the lasso: it is one, and the run is accepted and fair.
pub(crate) fn replay<R: Runs>(runs: &R, lasso: &Lasso, fairness: Fairness) -> Result<(), String> {
    let (mut moves, mut desk) = (Moves::default(), runs.desk());
    runs.initial(&mut desk, &mut moves);
    let mut at = moves.key(lasso.initial).to_vec();
    let mut step = |at: &mut Vec<u8>, nth: u32| {
        moves.clear();
        runs.moves(&mut desk, at, &mut moves);
        let m = moves.all.get(nth as usize).ok_or("there is no such move")?.clone();
        let (able, ends) = (moves.able, moves.ends == Some(nth));
        *at = moves.key(nth as usize).to_vec();
        Ok::<_, String>((m, able, ends))
    };
    let mut ended = false;
    for nth in &lasso.stem {
        if ended {
            return Err("it goes on after a move that ends the matter".into());
        }
        ended = step(&mut at, *nth)?.2;
    }
    if lasso.cycle.is_empty() {
        return if ended { Ok(()) } else { Err("nothing ends the matter".into()) };
    }
    let start = at.clone();
    let mut sum = Summary::nothing();
    for nth in &lasso.cycle {
        let (m, able, ends) = step(&mut at, *nth)?;
        if ended || ends {
            return Err("a move that ends the matter is part of a cycle, or before one".into());
        }
        sum.add(&Summary::of_state(able));
        sum.add_move(m.marks, m.pid);
    }
    if lasso.cycle.is_empty() {
        return Err("a cycle has moves".into());
    }
    if at != start {
        return Err("the cycle does not close".into());
    }
    if !sum.is_accepted(runs.n_marks(), fairness) {
        return Err(format!("not accepted: {sum:?}"));
    }
    Ok(())
}

/// Some states, and the moves between them.
pub struct Component {
    moves: Vec<Vec<Inner>>,
    able: Vec<Pids>,
}

struct Inner {
    /// Which of the state's moves it is.
    nth: u32,
    to: usize,
    marks: u64,
    pid: Option<Pid>,
}

/// States of a component: a bit each.
pub type Part = Vec<bool>;

impl Component {
    pub fn new<'s, R: Runs, V: Visited>(
        runs: &R,
        desk: &mut R::Desk,
        store: &'s V,
        hand: &mut V::Hand<'s>,
        states: &[StateId],
    ) -> Result<Component, Full> {
        let numbers: HashMap<StateId, usize> = states.iter().enumerate().map(|(n, id)| (*id, n)).collect();
        assert_eq!(numbers.len(), states.len(), "each state is there once");
        let mut component = Component { moves: Vec::new(), able: Vec::new() };
        let (mut key, mut moves, mut out) = (Vec::new(), Moves::default(), Vec::new());
        for &id in states {
            store.load(hand, id, &mut key);
            moves.clear();
            runs.moves(desk, &key, &mut moves);
            debug_assert!(moves.check_behind(0, runs.n_marks()), "M1, M2, M3");
            let keys: Vec<_> = moves.all.iter().map(|m| m.to.clone()).collect();
            store.offer(hand, &moves.keys, &keys)?;
            store.settle(hand, &moves.keys, &keys, &mut out)?;
            store.rest(hand);
            let inner = moves.all.iter().zip(&out).enumerate().filter_map(|(nth, (m, (to, _)))| {
                let to = *numbers.get(to)?;
                Some(Inner { nth: nth as u32, to, marks: m.marks, pid: m.pid })
            });
            component.moves.push(inner.collect());
            component.able.push(moves.able);
        }
        Ok(component)
    }

    fn len(&self) -> usize {
        self.moves.len()
    }

    /// Each of its states can be reached from each.
    pub fn is_connected(&self) -> bool {
        self.components(&(0..self.len()).collect::<Vec<_>>()).len() == 1
    }

    fn inside<'c>(&'c self, part: &'c [bool], n: usize) -> impl Iterator<Item = &'c Inner> {
        self.moves[n].iter().filter(|m| part[m.to])
    }

    /// What the run that passes everything says.
    pub fn whole(&self) -> Option<Summary> {
        self.summary(&(0..self.len()).collect::<Vec<_>>(), &vec![true; self.len()])
    }

    /// What the run that passes all of a part says; `None` if the part has no moves.
    fn summary(&self, states: &[usize], part: &[bool]) -> Option<Summary> {
        let mut sum = Summary::nothing();
        let mut any = false;
        for &n in states {
            sum.add(&Summary::of_state(self.able[n]));
            for m in self.inside(part, n) {
                any = true;
                sum.add_move(m.marks, m.pid);
            }
        }
        any.then_some(sum)
    }

    /// A strongly connected part that is accepted as a whole.
    pub fn accepted_part(&self, n_marks: u32, fairness: Fairness) -> Option<Part> {
        let mut part = vec![false; self.len()];
        let mut todo = self.components(&(0..self.len()).collect::<Vec<_>>());
        while let Some(states) = todo.pop() {
            states.iter().for_each(|n| part[*n] = true);
            let sum = self.summary(&states, &part);
            if sum.is_some_and(|sum| sum.is_accepted(n_marks, fairness)) {
                return Some(part);
            }
            states.iter().for_each(|n| part[*n] = false);
            if let Some(sum) = sum.filter(|sum| fairness == Fairness::Strong && sum.marks == all_marks(n_marks)) {
                let never = sum.somewhere.without(sum.moved);
                let n = states.len();
                let rest: Vec<usize> = states.into_iter().filter(|n| self.able[*n].both(never).is_empty()).collect();
                assert!(rest.len() < n, "who makes it unfair is able to move somewhere in it");
                todo.extend(self.components(&rest));
            }
        }
        None
    }

    fn components(&self, states: &[usize]) -> Vec<Vec<usize>> {
        Components::among(states, |n, nth| self.moves[n].get(nth).map(|m| m.to))
    }

    /// The shortest way, by moves inside the part, to one that is wanted: the moves, and the state after them.
    fn way(
        &self,
        from: usize,
        part: &[bool],
        wanted: impl Fn(usize, &Inner) -> bool,
    ) -> Option<(Vec<u32>, Vec<usize>)> {
        let mut before: HashMap<usize, (usize, u32)> = HashMap::new();
        let mut queue = VecDeque::from([from]);
        let mut seen = vec![false; self.len()];
        seen[from] = true;
        while let Some(n) = queue.pop_front() {
            for m in self.inside(part, n) {
                if wanted(n, m) {
                    let (mut moves, mut states, mut at) = (vec![m.nth], vec![m.to], n);
                    while at != from {
                        let (back, nth) = before[&at];
                        moves.push(nth);
                        states.push(at);
                        at = back;
                    }
                    moves.reverse();
                    states.reverse();
                    debug_assert!(
                        self.is_way(from, part, &moves, &states),
                        "each move leads to where the next one begins"
                    );
                    return Some((moves, states));
                }
                if !std::mem::replace(&mut seen[m.to], true) {
                    before.insert(m.to, (n, m.nth));
                    queue.push_back(m.to);
                }
            }
        }
        None
    }
}

impl Component {
    fn is_way(&self, from: usize, part: &[bool], moves: &[u32], states: &[usize]) -> bool {
        let mut at = from;
        let mut leads = |(nth, to): (&u32, &usize)| {
            let is_one = self.inside(part, at).any(|m| (m.nth, m.to) == (*nth, *to));
            at = *to;
            is_one
        };
        moves.len() == states.len() && moves.iter().zip(states).all(&mut leads)
    }
}

/// From a state of the component, the way into the part and round in it, accepted and fair.
pub fn find_run(c: &Component, part: &[bool], from: usize, n_marks: u32, fairness: Fairness) -> (Vec<u32>, Vec<u32>) {
    let whole = vec![true; c.len()];
    let (way, start) = if part[from] {
        (Vec::new(), from)
    } else {
        let (moves, states) = c.way(from, &whole, |_, m| part[m.to]).expect("a component is connected");
        (moves, *states.last().expect("a way has an end"))
    };
    let mut marks = all_marks(n_marks);
    let all = c.able.iter().fold(Pids::default(), |all, able| all.union(*able));
    // Who must be seen unable to move, or moving: with strong fairness only moving helps who is able anywhere.
    let mut owed = match fairness {
        Fairness::None => Pids::default(),
        Fairness::Weak => all,
        Fairness::Strong => {
            let states: Vec<usize> = (0..c.len()).filter(|n| part[*n]).collect();
            let sum = c.summary(&states, part).expect("an accepted part has moves");
            all.both(sum.somewhere)
        }
    };
    assert!(part[start], "the way leads into the part");
    let (mut cycle, mut at) = (Vec::new(), start);
    let pay_state = |owed: Pids, n: usize| match fairness {
        Fairness::Weak => owed.both(c.able[n]),
        Fairness::None | Fairness::Strong => owed,
    };
    owed = pay_state(owed, at);
    while marks != 0 || !owed.is_empty() || cycle.is_empty() {
        let pays = |_: usize, m: &Inner| {
            let none_owed = marks == 0 && owed.is_empty();
            none_owed || m.marks & marks != 0 || m.pid.is_some_and(|pid| owed.has(pid)) || pay_state(owed, m.to) != owed
        };
        let (moves, states) = c.way(at, part, pays).expect("what is owed is in the part");
        let before = (marks, owed);
        for (nth, to) in moves.into_iter().zip(states) {
            let m = c.inside(part, at).find(|m| m.nth == nth).expect("a move of the way");
            marks &= !m.marks;
            owed = owed.without(Pids::of(m.pid));
            owed = pay_state(owed, to);
            cycle.push(nth);
            at = to;
        }
        debug_assert!(before == (0, Pids::default()) || before != (marks, owed), "each way pays something");
    }
    if at != start {
        let (moves, _) = c.way(at, part, |_, m| m.to == start).expect("a part is connected");
        cycle.extend(moves);
    }
    (way, cycle)
}
