//! Leaps: one step of each of several processes, as one.
//!
//! Source  [Schoot7]: multiple disjoint ample sets (figure 7.4), proper leap sets (definition 7.9), extended leap sets
//!         (7.11, 7.17) and the form that looks at no path (end of 7.3.3). Its C1 is *decomposition*, C2 *cycle*, C3
//!         *visibility*.
//!
//! # What a leap is
//!   The smallest closed sets of a state (`stubborn`) that nobody outside sees, A1 … Ak, have no step in common. A *proper
//!   leap* T takes one step of each. A step of Ai neither disturbs one of Aj nor keeps it from being taken: it is outside of
//!   Aj, and Aj decomposes. So all orders of T can be taken and lead to the same state; it is stored, and those in
//!   between are not. One order is shown.
//!   The *rest* R are the steps in none of the Ai. Where that is called for, T is *extended*: with one step a of R, which
//!   by the same argument can be taken before, after and between those of T.
//!
//! # The argument
//!   Let σ be a run from q, and q leap. For each Ai: if σ has a step of Ai, its first one can be taken at once
//!   (decomposition); if not, every step of Ai can be taken at once, and σ afterwards all the same. So with these steps as
//!   T, and a step of any kind where σ has none, q –T→ q', and what is left of σ is a run from q'. Nothing of T is seen.
//!
//!   *Ends.* If σ ends in a state without steps it has a step of each Ai, or else one could be taken there. So T only
//!   moves steps of σ to the front, and σ becomes shorter: P1 for states without steps needs no more (theorem 7.10).
//!
//!   *Cycle.* Let a be the first step of σ. If a is in T it is done. If not it is in R, and can be taken after T, in q'
//!   too, as the first step of what is left. So as long as a is not taken there is a next leap, and the leaps go on; the
//!   graph is finite, so they come to a cycle, and on a cycle some step closes a loop (`statics`). Where T has such a step
//!   it is extended with each step of R, so also with a. So a is taken after finitely many leaps, none of which has a step
//!   that is seen apart from a (lemma 7.13). Step for step, every run is followed by one of leaps that shows the same
//!   (theorems 7.15, 7.16). [Schoot7] extends T where q' lies on the path of the search, which makes the graph a matter
//!   of the search and, on the fly, of the automaton beside it; here it is a function of the state, so one graph is right
//!   for every search and every automaton, and off the line there is nothing to change (`offline` has the other form).
//!   By levels (`search/bfs.rs`, D2): if σ has a step of some Ai, T makes it shorter. If it has none, any leap may be T, and
//!   one is taken that leads to the next level. Where no leap does, the steps of R are taken one by one.
//!
//!   *Visibility.* A leap has at most one step that is seen, a. In the order that is shown it is the last one: until then
//!   everything looks as in q, and then as in the state that is stored. So a run of leaps and the run that is shown differ
//!   in how long they stay, and in nothing else.
//!
//!   *Faults.* A step that a fault ends leads nowhere, so where an Ai has one nothing is left out, nor joined. In R it may
//!   be: it is the last step of its leap.
//!
//!   *Fairness* is not answered: whose a move is, is asked there, and a leap is several processes'.
//!
//! # How it is called
//!   Searches know steps by a `Step`. A leap has none of its own; it is called by a handshake of a process with itself,
//!   which no system has, whose edge is the number of the leap. [`Reduced::shown`] gives back the steps that it is.
//!   Numbers: proper leaps as numbers with one digit for each Ai; then T extended with the r-th of R is
//!   |proper| + T · |R| + r.
//!
//! # Invariants
//!   I1 each step that is offered is in one of the Ai or in R, and no Ai is empty
//!   I2 a number that is called is that of a proper leap, or of one extended with a step of R that there is
//!   I3 what a flight keeps is of the state at hand: a stage for each of its steps, made from the stage before it
//!   I4 no two steps of a leap have a process in common, and whatever their order is, they lead to the same
//!   I5 what is shown of a leap are steps that can be taken one after the other, and lead where it leads
//!
//! # Owed
//!   O1 verdicts = the oracle's                         tests: synthesised protocols, random models
//!   O2 each condition is needed                        tests: `conditions/*`, without it
//!   O3 what is shown can be replayed                   every trace is
//!
//! # Cost  a leap of k steps costs k steps, less what it shares with the one before it.

use super::reduced::ends_a_run;
use super::without::Condition;
use super::{Proviso, Reduced, State, is_sample};
use crate::search::Found;
use spinor_model::fault::{Fault, FaultKind};
use spinor_model::index::Idx;
use spinor_model::ir::{EdgeId, Pid};
use spinor_model::successors::{Batch, Step, Successors};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The leaps of a state.
#[derive(Clone, Debug, Default)]
pub(super) struct Leaps {
    /// The steps of A1, of A2 and so on, and where each ends.
    steps: Vec<Step>,
    closing: Vec<bool>,
    ends: Vec<usize>,
    rest: Vec<Step>,
    n_proper: usize,
}

/// A state has no more of them: sets are left out until it is so.
const MOST: usize = 1 << 12;

/// What calls a leap.
fn call(first: Step, number: usize) -> Step {
    let edge = EdgeId::new(number);
    Step { pid: first.pid, edge, partner: Some((first.pid, edge)), timeout: false }
}

/// Who takes part in a step.
fn who(step: &Step) -> impl Iterator<Item = Pid> {
    [Some(step.pid), step.partner.map(|(pid, _)| pid)].into_iter().flatten()
}

/// The number of a leap, if it is one that is called.
pub(super) fn number(step: Step) -> Option<usize> {
    step.partner.is_some_and(|(pid, _)| pid == step.pid).then(|| step.edge.index())
}

impl Leaps {
    pub fn clear(&mut self) {
        self.steps.clear();
        self.closing.clear();
        self.ends.clear();
        self.rest.clear();
        self.n_proper = 0;
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The steps of these sets (`of` has the number of each step's, from 1, 0 for the rest).
    pub fn set(&mut self, steps: &[Step], of: &[u8], closes: impl Fn(&Step) -> bool) {
        self.clear();
        let n_sets = of.iter().copied().max().unwrap_or(0);
        let mine = |n: u8| steps.iter().zip(of).filter(move |(_, of)| **of == n).map(|(step, _)| *step);
        debug_assert_eq!(of.len(), steps.len(), "of each step the number of its set");
        debug_assert!(
            steps.iter().all(|step| number(*step).is_none()),
            "I2: no step of the system is called like a leap"
        );
        let mut sets: Vec<Vec<Step>> = (1..=n_sets).map(|n| mine(n).collect()).collect();
        debug_assert!(sets.is_sorted_by_key(Vec::len), "the largest is left out first");
        self.rest.extend(mine(0));
        // Sets are in order of their size. Fifteen of them may have more leaps than a number has bits for.
        let n_proper = |sets: &[Vec<Step>]| sets.iter().fold(1, |n: usize, set| n.saturating_mul(set.len()));
        while sets.len() > 1 && n_proper(&sets).saturating_mul(1 + self.rest.len()) > MOST {
            self.rest.extend(sets.pop().unwrap_or_default());
        }
        assert!(sets.iter().all(|set| !set.is_empty()), "I1");
        self.n_proper = n_proper(&sets);
        assert!(sets.len() < 2 || self.n_proper * (1 + self.rest.len()) <= MOST, "no more than are called");
        for set in sets {
            self.closing.extend(set.iter().map(&closes));
            self.steps.extend(set);
            self.ends.push(self.steps.len());
        }
        debug_assert_eq!(self.steps.len() + self.rest.len(), steps.len(), "I1");
        debug_assert_eq!(self.closing.len(), self.steps.len(), "I1");
        debug_assert!(self.shares_nothing(), "I4");
        // Nothing is left out and nothing joined.
        if self.ends.len() == 1 && self.rest.is_empty() {
            self.clear();
        }
    }

    /// No process takes part in steps of two sets.
    fn shares_nothing(&self) -> bool {
        let mut owners: BTreeMap<Pid, usize> = BTreeMap::new();
        self.sets().enumerate().all(|(n, set)| set.iter().flat_map(who).all(|pid| *owners.entry(pid).or_insert(n) == n))
    }

    pub fn rest(&self) -> &[Step] {
        &self.rest
    }

    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    pub fn sets(&self) -> impl Iterator<Item = &[Step]> {
        self.ranges().map(|range| &self.steps[range])
    }

    fn ranges(&self) -> impl Iterator<Item = Range<usize>> {
        self.ends.iter().scan(0, |from, to| Some(std::mem::replace(from, *to)..*to))
    }

    /// What calls them, those that are extended behind the proper ones.
    pub fn calls(&self, extended: impl Fn(bool) -> bool, out: &mut Vec<Step>) {
        out.clear();
        let Some(first) = self.steps.first() else { return };
        out.extend((0..self.n_proper).map(|n| call(*first, n)));
        for proper in 0..self.n_proper {
            let mut closes = false;
            self.each_member(proper, |at| closes |= self.closing[at]);
            if extended(closes) {
                let from = self.n_proper + proper * self.rest.len();
                out.extend((from..from + self.rest.len()).map(|n| call(*first, n)));
            }
        }
        debug_assert!(out.is_sorted_by(|a, b| a.edge < b.edge), "I2: a leap is called once");
        debug_assert!(out.iter().all(|step| number(*step).is_some_and(|n| self.has(n))), "I2");
    }

    fn has(&self, number: usize) -> bool {
        number < self.n_proper * (1 + self.rest.len())
    }

    /// The places of the steps of a proper leap.
    fn each_member(&self, mut proper: usize, mut f: impl FnMut(usize)) {
        for set in self.ranges() {
            f(set.start + proper % set.len());
            proper /= set.len();
        }
    }

    /// The steps of a leap; whether the last one is of the rest.
    fn members(&self, number: usize, out: &mut Vec<Step>) -> bool {
        debug_assert!(self.has(number), "I2");
        out.clear();
        let extra = number.checked_sub(self.n_proper);
        let proper = extra.map_or(number, |extra| extra / self.rest.len());
        self.each_member(proper, |at| out.push(self.steps[at]));
        out.extend(extra.map(|extra| self.rest[extra % self.rest.len()]));
        debug_assert_eq!(out.len(), self.ends.len() + usize::from(extra.is_some()), "a step of each set");
        let proper = &out[..self.ends.len()];
        debug_assert!(proper.iter().zip(self.sets()).all(|(step, set)| set.contains(step)), "a step of each set");
        let n_moving = proper.iter().flat_map(who).collect::<BTreeSet<Pid>>().len();
        debug_assert_eq!(n_moving, proper.iter().flat_map(who).count(), "I4");
        extra.is_some()
    }
}

/// What the steps of a leap led to, kept for those that begin alike.
#[derive(Clone, Debug, Default)]
pub(super) struct Flight {
    steps: Vec<Step>,
    stages: Vec<Stage>,
    members: Vec<Step>,
}

/// The states after some of the steps.
#[derive(Clone, Debug, Default)]
struct Stage {
    keys: Vec<u8>,
    done: Vec<Done>,
}

#[derive(Clone, Debug)]
struct Done {
    /// None if a fault ended it.
    key: Option<Range<usize>>,
    atomic_steps: u32,
    faults: Vec<Fault>,
    /// Of the state it was made from, and of the step.
    before: usize,
    path: u32,
}

impl Flight {
    pub fn clear(&mut self) {
        self.steps.clear();
    }
}

/// A fault ends a step of a leap.
#[derive(Debug)]
pub(super) struct Ended;

impl<S: Successors> Reduced<S> {
    /// Which leaps are called in the state at hand.
    pub(super) fn call_leaps(&self, leaps: &Leaps, chosen: &mut Vec<Step>) {
        let kept = self.reduction.without.keeps(Condition::Extension);
        match self.proviso {
            Proviso::None | Proviso::Levels => leaps.calls(|_| false, chosen),
            Proviso::Loops => leaps.calls(|closes| closes && kept, chosen),
            // Of a path they know nothing (the plan refuses it): what is always made up for is right for any.
            Proviso::Always | Proviso::PathNumber | Proviso::PathBit => leaps.calls(|_| kept, chosen),
        }
    }

    /// Appends the outcomes of one leap.
    pub(super) fn leap(
        &self,
        state: &mut State<S::State>,
        number: usize,
        index: u32,
        batch: &mut Batch,
    ) -> Result<(), Ended> {
        let State { own, leaps, flight, between, .. } = state;
        let Flight { steps, stages, members } = flight;
        let extended = leaps.members(number, members);
        debug_assert!(stages.len() >= steps.len(), "I3");
        let common = steps.iter().zip(members.iter()).take_while(|(a, b)| a == b).count();
        steps.truncate(common);
        for at in common..members.len() {
            let step = members[at];
            if stages.len() <= at {
                stages.push(Stage::default());
            }
            let (before, after) = stages.split_at_mut(at);
            let stage = &mut after[0];
            stage.keys.clear();
            stage.done.clear();
            match before.last() {
                None => self.go(own, step, None, batch, stage),
                Some(before) => {
                    let between = between.get_or_insert_with(|| own.clone());
                    for (n, done) in before.done.iter().enumerate() {
                        let Some(key) = &done.key else { return Err(Ended) };
                        self.system.unpack_into(&before.keys[key.clone()], between);
                        self.go(between, step, Some((n, done)), batch, stage);
                    }
                }
            }
            steps.push(step);
            let last = extended && at + 1 == members.len();
            if !last && self.minds_faults() && stage.done.iter().any(|d| d.key.is_none()) {
                return Err(Ended);
            }
        }
        debug_assert!(steps == members && stages.len() >= steps.len(), "I3");
        let Some(last) = stages.get(members.len() - 1) else { return Ok(()) };
        debug_assert!(
            !is_sample(&state.key, 16) || self.check_order(&state.key, members, last),
            "I4: the other way round it leads to the same"
        );
        for (path, done) in last.done.iter().enumerate() {
            let outcome = batch.outcomes.len();
            let from = done.key.clone().map(|key| {
                let from = batch.keys.len();
                batch.keys.extend_from_slice(&last.keys[key]);
                from
            });
            batch.push(index, path as u32, done.atomic_steps, from);
            batch.faults.extend(done.faults.iter().map(|fault| (outcome, fault.clone())));
        }
        if extended && !self.reduction.without.keeps(Condition::OneSeen) {
            self.and_the_rest(state, batch);
        }
        Ok(())
    }

    /// I4, of the steps in the other order.
    fn check_order(&self, key: &[u8], members: &[Step], last: &Stage) -> bool {
        if !self.reduction.without.is_nothing() {
            return true;
        }
        let mut level = BTreeSet::from([key.to_vec()]);
        for step in members.iter().rev() {
            let mut next = BTreeSet::new();
            for key in &level {
                let (mut state, mut steps, mut batch) = (self.system.unpack(key), Vec::new(), self.system.batch());
                self.system.enabled(&mut state, &mut steps);
                if !steps.contains(step) {
                    return false;
                }
                self.system.fire(&mut state, &[*step], &mut batch);
                next.extend(batch.outcomes.iter().filter_map(|outcome| batch.key(outcome)).map(<[u8]>::to_vec));
            }
            level = next;
        }
        let keys = last.done.iter().filter_map(|done| done.key.clone()).map(|key| last.keys[key].to_vec());
        level == keys.collect()
    }

    /// Takes a step in a state and puts what it leads to into a stage. What is noted besides stays in the batch.
    fn go(
        &self,
        state: &mut S::State,
        step: Step,
        before: Option<(usize, &Done)>,
        batch: &mut Batch,
        stage: &mut Stage,
    ) {
        let (n_outcomes, n_keys, n_faults) = (batch.outcomes.len(), batch.keys.len(), batch.faults.len());
        self.system.fire(state, &[step], batch);
        for n in n_outcomes..batch.outcomes.len() {
            let outcome = batch.outcomes[n];
            let key = batch.key(&outcome).map(|key| {
                let from = stage.keys.len();
                stage.keys.extend_from_slice(key);
                from..stage.keys.len()
            });
            let mut faults = before.map_or(Vec::new(), |(_, done)| done.faults.clone());
            if batch.faults.len() > n_faults {
                faults.extend(batch.faults_of(n).cloned());
            }
            let atomic_steps = before.map_or(0, |(_, done)| done.atomic_steps) + outcome.atomic_steps;
            let (before, path) = (before.map_or(0, |(n, _)| n), outcome.path);
            stage.done.push(Done { key, atomic_steps, faults, before, path });
        }
        debug_assert!(stage.done.iter().all(|d| d.before < before.map_or(1, |(n, _)| n + 1)), "I3");
        debug_assert!(batch.outcomes.len() > n_outcomes, "interp M2: every step has an outcome");
        batch.outcomes.truncate(n_outcomes);
        batch.keys.truncate(n_keys);
        batch.faults.truncate(n_faults);
    }

    /// Without `OneSeen`: whatever else of the rest can be taken is taken too, by the last outcome.
    #[cold]
    fn and_the_rest(&self, state: &mut State<S::State>, batch: &mut Batch) {
        let Some(key) = batch.outcomes.last().and_then(|last| batch.key(last)) else { return };
        let mut key = key.to_vec();
        for step in state.leaps.rest.clone() {
            let mut at = self.system.unpack(&key);
            let mut steps = Vec::new();
            self.system.enabled(&mut at, &mut steps);
            if steps.contains(&step) {
                let mut more = self.system.batch();
                self.system.fire(&mut at, &[step], &mut more);
                let after = more.outcomes.first().and_then(|o| more.key(o));
                key = after.map_or(key, <[u8]>::to_vec);
            }
        }
        let Some(last) = batch.outcomes.pop() else { return };
        let from = batch.keys.len();
        batch.keys.extend_from_slice(&key);
        batch.push(last.step, last.path, last.atomic_steps, Some(from));
    }

    /// Does a fault end some step of the sets?
    pub(super) fn is_ended(&self, state: &mut State<S::State>) -> bool {
        let mut batch = state.batch.take().unwrap_or_else(|| self.system.batch());
        batch.clear();
        self.system.fire(&mut state.own, state.leaps.steps(), &mut batch);
        let ended = ends_a_run(&batch.outcomes);
        state.batch = Some(batch);
        ended
    }
}

/// A step of the system, and what went wrong in it.
#[derive(Clone, Debug)]
pub struct Shown {
    pub step: Step,
    pub path: u32,
    pub faults: Vec<Fault>,
}

impl<S: Successors + Send> Reduced<S> {
    /// The steps of the system that a step of this is, in an order in which they can be taken, and the key of the state
    /// after them, if they lead to one.
    pub fn shown(&self, key: &[u8], step: Step, path: u32) -> (Vec<Shown>, Option<Vec<u8>>) {
        let mut batch = self.batch();
        let mut state = self.unpack(key);
        let Some(number) = number(step) else {
            self.system.fire(&mut state.own, &[step], &mut batch);
            let n = batch.outcomes.iter().position(|o| o.path == path).expect("such an outcome");
            let faults = batch.faults_of(n).cloned().collect();
            return (vec![Shown { step, path, faults }], batch.key(&batch.outcomes[n]).map(<[u8]>::to_vec));
        };
        self.ready(&mut state);
        self.leap(&mut state, number, 0, &mut batch).expect("no fault ends a leap");
        let Flight { steps, stages, .. } = &state.flight;
        let (mut out, mut at) = (Vec::new(), path as usize);
        for (step, stage) in steps.iter().zip(stages).rev() {
            let Done { before, path, .. } = stage.done[at];
            out.push(Shown { step: *step, path, faults: stage.done[at].faults.clone() });
            at = before;
        }
        out.reverse();
        // A step shows what is not shown before it.
        for n in (1..out.len()).rev() {
            let n_before = out[n - 1].faults.len();
            debug_assert_eq!(
                out[n].faults[..n_before],
                out[n - 1].faults,
                "a stage has the faults of the one before it"
            );
            out[n].faults.drain(..n_before);
        }
        debug_assert!(self.check_shown(key, &out, batch.key(&batch.outcomes[path as usize])), "I5");
        (out, batch.key(&batch.outcomes[path as usize]).map(<[u8]>::to_vec))
    }

    /// I5
    fn check_shown(&self, key: &[u8], shown: &[Shown], end: Option<&[u8]>) -> bool {
        let mut at = Some(key.to_vec());
        for Shown { step, path, .. } in shown {
            let Some(key) = at else { return false };
            let (mut state, mut steps, mut batch) = (self.system.unpack(&key), Vec::new(), self.system.batch());
            self.system.enabled(&mut state, &mut steps);
            if !steps.contains(step) {
                return false;
            }
            self.system.fire(&mut state, &[*step], &mut batch);
            let Some(outcome) = batch.outcomes.iter().find(|o| o.path == *path) else { return false };
            at = batch.key(outcome).map(<[u8]>::to_vec);
        }
        at.as_deref() == end || !self.reduction.without.is_nothing()
    }
}

impl<S: Successors + Send> Reduced<S> {
    /// Appends what is true before the last of these steps if that is how the state is left. Until then nothing is seen, so
    /// it is what is true of the leap.
    pub(super) fn happens_last(&self, key: &[u8], step: Step, path: u32, bits: &mut Vec<u64>) -> Result<(), FaultKind> {
        let mut at = key.to_vec();
        let (mut one, mut last) = (Vec::new(), Vec::new());
        for Shown { step, path, .. } in self.shown(key, step, path).0 {
            let (mut state, mut batch) = (self.system.unpack(&at), self.system.batch());
            self.system.look(&mut state, &mut one)?;
            self.system.fire(&mut state, &[step], &mut batch);
            self.system.happens(&mut state, &one, (&[step], &batch), &mut last)?;
            let n = batch.outcomes.iter().position(|o| o.path == path).expect("such an outcome");
            last = last[n * one.len()..(n + 1) * one.len()].to_vec();
            at = batch.key(&batch.outcomes[n]).map(<[u8]>::to_vec).unwrap_or_default();
        }
        bits.extend(last);
        Ok(())
    }

    /// A violation by the steps of the system. The last one shows the fault, if there is one.
    pub fn shown_violation(&self, found: &Found) -> Found {
        let mut steps = Vec::new();
        let mut key = Vec::new();
        if let Ok(initial) = self.initial() {
            self.pack(&initial, &mut key);
        }
        let last = found.steps.len();
        for (n, &(step, path)) in found.steps.iter().enumerate() {
            let (mut shown, after) = self.shown(&key, step, path);
            if let Some(fault) = found.fault.as_ref().filter(|_| n + 1 == last) {
                let at = shown.iter().position(|s| s.faults.contains(fault)).expect("the fault shows");
                shown.truncate(at + 1);
            }
            debug_assert!(n + 1 == last || after.is_some(), "a fault ends the last step, if any");
            steps.extend(shown.into_iter().map(|s| (s.step, s.path)));
            key = after.unwrap_or_default();
        }
        Found { kind: found.kind, steps, fault: found.fault.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_that_have_more_leaps_than_a_number_can_count_are_left_out() {
        // Of the last word of this power of two all bits are 0.
        let (n_sets, of_each) = (15, 32);
        let step = |n: usize| Step { pid: (n / of_each) as u8, edge: EdgeId::new(n), partner: None, timeout: false };
        let steps: Vec<Step> = (0..n_sets * of_each).map(step).collect();
        let of: Vec<u8> = steps.iter().map(|s| s.pid + 1).collect();
        let (mut leaps, mut calls) = (Leaps::default(), Vec::new());
        leaps.set(&steps, &of, |_| false);
        leaps.calls(|_| false, &mut calls);
        assert_eq!((leaps.sets().count(), leaps.rest().len(), calls.len()), (1, 14 * of_each, of_each));
    }
}
