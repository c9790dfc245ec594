//! A selection under its own definition: every claim that it makes is tried out, by the interpreter.
//!
//! For a state where steps are left out, every run of left-out steps is followed for a while. In each state on the way,
//! for each selected step t and each other step u that can be taken there:
//!   A1 emptiness      some step is selected
//!   A2 decomposition  t can be taken; after u it still can be, and after t so can u; both orders lead to the same states
//!                     (an `atomic` may lead to several), and whatever goes wrong in one of them does so in the other
//!   A3 faults         no path of t is ended by a fault, or nothing could be made up for behind it
//!   A4 visibility     t changes nothing that is looked at from outside, and does nothing that is named there; if the
//!                     property was taken apart, no part looks at something that t changes and something that u changes
//!   A5 fairness       not both t and u change whether a third process can move. One that t or u makes is no third: it is
//!                     made again only if it has died, which is a move of its own
//! A step of the same process as t that becomes possible on the way is such a u, and breaks A2. So what holds of the runs
//! that are followed is what `stubborn` claims of all runs.
//!
//! The cycle condition speaks of cycles, not of a state: [`skipped`] looks at the whole graph.
//!
//! Not decided here: what happens after longer runs than are followed. It is slow, and meant to be.

use super::Reduced;
use spinor_model::fault::Fault;
use spinor_model::index::Idx;
use spinor_model::interp::Interp;
use spinor_model::ir::{Expr, Loc, Pid, System};
use spinor_model::layout::Layout;
use spinor_model::state::State;
use spinor_model::successors::{Step, Successors};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Runs are followed for so many steps, through so many states.
const MOST_STEPS: usize = 3;
const MOST_STATES: usize = 200;

/// One who watches a reduction.
pub(super) struct Auditor {
    interp: Interp,
    parts: Vec<Vec<u32>>,
    fair: bool,
    n_audited: AtomicU64,
}

/// What a step leads to: the keys of the states, what went wrong, and whether a path ended.
#[derive(Default)]
struct Effect {
    keys: BTreeSet<Vec<u8>>,
    faults: Vec<Fault>,
    ended: bool,
}

impl Auditor {
    pub fn new(system: &Arc<System>, looked: &[Expr], parts: &[Vec<u32>], fair: bool) -> Auditor {
        let interp = Interp::looking(system.clone(), looked);
        Auditor { interp, parts: parts.to_vec(), fair, n_audited: AtomicU64::new(0) }
    }

    pub fn n_audited(&self) -> u64 {
        self.n_audited.load(Ordering::Relaxed)
    }

    /// Panics if a selection that leaves something out is not what it must be.
    pub fn audit(&self, key: &[u8], offered: &[Step], selected: &[Step]) {
        self.n_audited.fetch_add(1, Ordering::Relaxed);
        assert_eq!(self.steps(key), offered, "what is offered is what the interpreter offers");
        if let Err(Broken { what, at, steps }) = self.try_audit(key, offered, selected) {
            let mut text = format!("the reduction broke {what}\nin the state\n{}", self.told(key));
            if at != key {
                let _ = write!(text, "after steps that were left out, in the state\n{}", self.told(&at));
            }
            let state = self.interp.unpack(&at);
            steps.iter().for_each(|s| text.push_str(&format!("  {}\n", self.name(&state, s))));
            panic!("{text}");
        }
    }

    fn try_audit(&self, key: &[u8], offered: &[Step], selected: &[Step]) -> Result<(), Broken> {
        let broken = |what, at: &[u8], steps: &[&Step]| {
            Err(Broken { what, at: at.to_vec(), steps: steps.iter().map(|s| **s).collect() })
        };
        if selected.is_empty() {
            return broken("emptiness", key, &[]);
        }
        if let Some(t) = selected.iter().find(|t| !offered.contains(t)) {
            return broken("emptiness: a selected step cannot be taken", key, &[t]);
        }
        let mut seen: BTreeSet<Vec<u8>> = BTreeSet::from([key.to_vec()]);
        let mut level = vec![key.to_vec()];
        for n_steps in 0..=MOST_STEPS {
            let mut next = Vec::new();
            for at in level {
                let steps = self.steps(&at);
                let sight = self.sight(&at);
                for t in selected {
                    if !steps.contains(t) {
                        return broken("decomposition: a selected step can no longer be taken", &at, &[t]);
                    }
                    let done = self.effect(&at, t);
                    if done.ended {
                        return broken("the rule about faults: a selected step ends a run", &at, &[t]);
                    }
                    let whole = self.parts.is_empty();
                    if whole && (done.keys.iter().any(|k| self.sight(k) != sight) || self.is_named(&at, t)) {
                        return broken("visibility: a selected step is seen", &at, &[t]);
                    }
                    for u in steps.iter().filter(|u| !selected.contains(u)) {
                        let other = self.effect(&at, u);
                        if self.parts.iter().any(|p| [&done, &other].iter().all(|e| self.shows(&sight, e, p))) {
                            return broken("visibility: a part sees a selected step and another", &at, &[t, u]);
                        }
                        // Whoever comes second: what it leads to, after each path of the first.
                        let (then_t, then_u) = (self.after(&other, t), self.after(&done, u));
                        let Some(then_t) = then_t else {
                            return broken("decomposition: one keeps the selected from being taken", &at, &[t, u]);
                        };
                        let Some(then_u) = then_u else {
                            return broken("decomposition: the selected keeps one from being taken", &at, &[t, u]);
                        };
                        if then_u.keys != then_t.keys {
                            return broken("decomposition: the order of two steps matters", &at, &[t, u]);
                        }
                        let same = |a: &Effect, b: &Effect| a.ended == b.ended && same_faults(&a.faults, &b.faults);
                        if !same(&other, &then_u) || !other.keys.is_empty() && !same(&done, &then_t) {
                            return broken("decomposition: a fault depends on the order of two steps", &at, &[t, u]);
                        }
                        if self.fair && self.change_a_third(&at, [t, u], [&done, &other, &then_t]) {
                            return broken("fairness: two steps change whether a third process can move", &at, &[t, u]);
                        }
                    }
                }
                if n_steps == MOST_STEPS {
                    continue;
                }
                for u in steps.iter().filter(|u| !selected.contains(u)) {
                    for key in self.effect(&at, u).keys {
                        if seen.len() < MOST_STATES && seen.insert(key.clone()) {
                            next.push(key);
                        }
                    }
                }
            }
            level = next;
        }
        Ok(())
    }

    fn steps(&self, key: &[u8]) -> Vec<Step> {
        let mut steps = Vec::new();
        self.interp.enabled(&mut self.interp.unpack(key), &mut steps);
        steps
    }

    fn effect(&self, key: &[u8], step: &Step) -> Effect {
        let mut batch = self.interp.batch();
        self.interp.fire(&mut self.interp.unpack(key), &[*step], &mut batch);
        let mut out = Effect::default();
        for (n, outcome) in batch.outcomes.iter().enumerate() {
            match batch.key(outcome) {
                Some(key) => {
                    out.keys.insert(key.to_vec());
                }
                None => out.ended = true,
            }
            out.faults.extend(batch.faults_of(n).cloned());
        }
        assert!(out.ended || !out.keys.is_empty(), "interp M2: every step leads somewhere, or is ended");
        out
    }

    /// What a step leads to after each path of another one; nothing if it cannot be taken after one of them.
    fn after(&self, first: &Effect, step: &Step) -> Option<Effect> {
        let mut out = Effect::default();
        for key in &first.keys {
            if !self.steps(key).contains(step) {
                return None;
            }
            let then = self.effect(key, step);
            out.keys.extend(then.keys);
            out.faults.extend(then.faults);
            out.ended |= then.ended;
        }
        Some(out)
    }

    /// Does a step do something that is named? If it cannot be said, it is.
    fn is_named(&self, key: &[u8], step: &Step) -> bool {
        let (mut state, mut batch) = (self.interp.unpack(key), self.interp.batch());
        let (mut one, mut bits) = (Vec::new(), Vec::new());
        self.interp.fire(&mut state, &[*step], &mut batch);
        let looked = self.interp.look(&mut state, &mut one);
        let told = looked.and_then(|()| self.interp.happens(&mut state, &one, (&[*step], &batch), &mut bits));
        told.is_err() || !one.is_empty() && bits.chunks(one.len()).any(|bits| bits != one)
    }

    /// What is to be seen from outside; that it cannot be said is something to be seen, too.
    fn sight(&self, key: &[u8]) -> Result<Vec<u64>, String> {
        let mut bits = Vec::new();
        let looked = self.interp.look(&mut self.interp.unpack(key), &mut bits);
        looked.map(|()| bits).map_err(|kind| format!("{kind:?}"))
    }

    /// Does a part see a difference?
    fn shows(&self, before: &Result<Vec<u64>, String>, done: &Effect, part: &[u32]) -> bool {
        let differ = |key: &Vec<u8>| match (before, &self.sight(key)) {
            (Ok(a), Ok(b)) => part.iter().any(|c| (a[*c as usize / 64] ^ b[*c as usize / 64]) >> (c % 64) & 1 == 1),
            (a, b) => a != b,
        };
        done.keys.iter().any(differ)
    }

    /// Who can move. Whoever waits until nobody else can does not count: here somebody can.
    fn able(&self, steps: &[Step]) -> BTreeSet<Pid> {
        steps.iter().filter(|s| !s.timeout).map(|s| s.pid).collect()
    }

    fn change_a_third(&self, at: &[u8], steps: [&Step; 2], after: [&Effect; 3]) -> bool {
        let movers = |s: &&Step| [Some(s.pid), s.partner.map(|(pid, _)| pid)].into_iter().flatten();
        let moved: BTreeSet<Pid> = steps.iter().flat_map(movers).collect();
        let [after_t, after_u, after_both] = after.map(|e| {
            let able = e.keys.iter().map(|k| self.able(&self.steps(k)));
            able.collect::<BTreeSet<BTreeSet<Pid>>>()
        });
        let differs = |a: &BTreeSet<BTreeSet<Pid>>, b: &BTreeSet<BTreeSet<Pid>>, pid: &Pid| {
            let of = |sets: &BTreeSet<BTreeSet<Pid>>| sets.iter().map(|s| s.contains(pid)).collect::<BTreeSet<bool>>();
            !sets_are_empty(a, b) && of(a) != of(b)
        };
        let before = BTreeSet::from([self.able(&self.steps(at))]);
        let lives = 0..self.interp.unpack(at).n_procs() as Pid;
        lives.filter(|pid| !moved.contains(pid)).any(|pid| {
            let pid = &pid;
            let by_t = differs(&before, &after_t, pid) || differs(&after_u, &after_both, pid);
            let by_u = differs(&before, &after_u, pid) || differs(&after_t, &after_both, pid);
            by_t && by_u
        })
    }

    fn name(&self, state: &State, step: &Step) -> String {
        let system = self.interp.system();
        let half = |pid: Pid, edge| {
            let t = &system.proctypes[state.proctype(pid)];
            let span = t.edges[edge].span;
            let place = system.sources.told(span).map_or(String::new(), |place| format!(", {place}"));
            format!("{} ({pid}){place}, edge {}", t.name, edge.index())
        };
        let partner = step.partner.map(|(pid, edge)| format!(" with {}", half(pid, edge)));
        half(step.pid, step.edge) + &partner.unwrap_or_default()
    }

    fn told(&self, key: &[u8]) -> String {
        let system = self.interp.system();
        let state = self.interp.unpack(key);
        let mut out = String::new();
        for ((name, ty), value) in system.globals.slot_names().iter().zip(state.globals()) {
            let _ = writeln!(out, "  {name} = {}", system.show(*ty, *value));
        }
        for (id, chan) in (1..=state.n_chans() as u8).filter_map(|id| Some((id, self.interp.chan(&state, id)?))) {
            let _ = writeln!(out, "  channel {id} holds {:?}", chan.messages);
        }
        let layout: &Layout = self.interp.layout();
        for (pid, (at, t)) in layout.frames(key).enumerate() {
            let t = &system.proctypes[t];
            let loc = Loc::new(layout.loc.read(&key[at..]) as usize);
            let _ = writeln!(out, "  {} ({pid}) at location {}", t.name, loc.index());
        }
        out
    }
}

fn sets_are_empty(a: &BTreeSet<BTreeSet<Pid>>, b: &BTreeSet<BTreeSet<Pid>>) -> bool {
    a.is_empty() || b.is_empty()
}

/// The same ones, however often.
fn same_faults(a: &[Fault], b: &[Fault]) -> bool {
    a.iter().all(|f| b.contains(f)) && b.iter().all(|f| a.contains(f))
}

/// A condition that does not hold, where, and of which steps.
struct Broken {
    what: &'static str,
    at: Vec<u8>,
    steps: Vec<Step>,
}

/// A state on a cycle of the reduced graph on which every state leaves steps out, if there is one: whatever is left out
/// there could be left out for ever.
pub fn skipped<S: Successors + Send>(reduced: &Reduced<S>) -> Option<Vec<u8>> {
    let mut next: BTreeMap<Vec<u8>, BTreeSet<Vec<u8>>> = BTreeMap::new();
    let Ok(initial) = reduced.initial() else { return None };
    let mut key = Vec::new();
    reduced.pack(&initial, &mut key);
    let mut seen = BTreeSet::from([key.clone()]);
    let mut todo = vec![key];
    while let Some(key) = todo.pop() {
        let mut state = reduced.unpack(&key);
        let mut batch = reduced.batch();
        reduced.expand(&mut state, &mut batch);
        reduced.list(&mut state);
        let keys: BTreeSet<Vec<u8>> = batch.outcomes.iter().filter_map(|o| batch.key(o)).map(<[u8]>::to_vec).collect();
        todo.extend(keys.iter().filter(|k| seen.insert((*k).clone())).cloned());
        if state.leaves_out() {
            next.insert(key, keys);
        }
    }
    // What is left after states without a way onwards are taken away, again and again, lies on cycles or before them.
    loop {
        let dead: Vec<Vec<u8>> =
            next.iter().filter(|(_, to)| !to.iter().any(|k| next.contains_key(k))).map(|(k, _)| k.clone()).collect();
        if dead.is_empty() {
            return next.into_keys().next();
        }
        dead.iter().for_each(|k| {
            next.remove(k);
        });
    }
}
