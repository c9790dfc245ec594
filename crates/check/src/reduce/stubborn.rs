//! Which of the steps of a state are enough.
//!
//! Source  strong stubborn sets [Valmari90], on the guards of transitions [LPPW13]; as ample sets [Peled93] their
//!         conditions are *emptiness* (C0), *decomposition* (C1), *visibility* (C2 in [FaragoSchmitt], C3 in [Schoot7])
//!         and *cycle* (C3, C2).
//!
//! # The argument
//!   A set T of current transitions is closed if
//!     D1  with a transition that can be taken, it has all current ones of the processes that take part in it
//!     D2  with a transition that can be taken, it has what disturbs it, and what leads to something that does
//!     D3  with one that cannot be taken, it has what may enable it, and what leads to that
//!     D4  with half of a handshake it has the other halves there are, and what leads to others; and D3 of both, since
//!         two halves may be there that do not fit
//!   Let s have a run σ of steps outside of T, and t be a step of T that can be taken in s. No step of σ disturbs t, or
//!   its process had to come to that step by a step in T (D2). So t can be taken all along σ, before it as well as after
//!   it, with the same result. A step of T that cannot be taken in s cannot be taken after σ either (D3, D4). So the first
//!   step of T in any run from s is one that can be taken in s, and may be taken at once: decomposition. T has
//!   one that can be taken: emptiness. While it can be taken `timeout` is false, so who waits for `timeout` does not move
//!   in σ and need not be in any relation; where `timeout` is true nothing is left out.
//!   For cycles without progress the set must have what `still` says, and nothing of the following.
//!   A step that somebody outside may notice is in no selection that leaves out others: visibility. A step that closes
//!   a loop is in none either, so every cycle passes a state where nothing is left out: cycle (`statics`).
//!   Of the closed sets around each process that can move, the one with the fewest steps is taken. With a step of another
//!   process it has that one's set (D1): so if that may not be selected neither may this, and it is no smaller.
//!
//! # Several sets
//!   Of the smallest closed sets around the processes that can move no two have a step in common, unless they are the
//!   same: with a step it has what that step's set has. Each of them is enough, so each may be taken with any of the others
//!   (`leap`).
//!
//! # Owed
//!   O1 verdicts = the oracle's                         tests: random models, all properties
//!   O2 each condition is needed                        tests: a model for each, with the condition switched off
//!
//! # Cost  a closure for each process that can move; words of the rows of what is in the set.

use super::cast::{Cast, Set};
use super::still::Rule;
use super::without::Condition;
use spinor_model::index::Idx;
use spinor_model::ir::{Loc, Pid};
use spinor_model::successors::Step;

/// Memory for one who selects.
#[derive(Clone, Debug, Default)]
pub(super) struct Desk {
    /// Current transitions, those that can be taken, the set being closed.
    current: Set,
    can: Set,
    set: Set,
    /// Of those that can be taken: a set that has to have one of them is not the one that is looked for.
    barred: Set,
    /// Of the set: what was not looked at yet.
    todo: Set,
    locs: Vec<Loc>,
    /// By step: its transitions; twice the same if it is no handshake.
    halves: Vec<(u32, u32)>,
    /// By process: it must not be selected here, whatever it can do.
    waits: Vec<bool>,
    known: Known,
}

/// Selections made a short while ago.
#[derive(Clone, Debug, Default)]
struct Known {
    /// By a hash of the question: the length of it, the question, and which of its steps were taken, none if all were.
    entries: Vec<u32>,
    asked: Vec<u32>,
    place: usize,
    /// Of the last questions: how many there were, and how many were answered; and how many are not to be put.
    n_asked: u32,
    n_answered: u32,
    n_resting: u32,
}

impl Known {
    const BITS: u32 = 11;
    /// Words of an entry; longer questions are not kept. A thread has 256 KiB of them.
    const STRIDE: usize = 32;
    const LONGEST: usize = Self::STRIDE - 3;
    /// Where fewer than a quarter of so many questions are answered, the next ones are not worth it.
    const LOOK: u32 = 1 << 10;
    const REST: u32 = 1 << 14;

    /// Questions that differ are different words: how many of a kind follow is said before.
    fn ask(&mut self, cast: &Cast, key: &[u8], (locs, waits): (&[Loc], &[bool]), halves: &[(u32, u32)], rules: Rules) {
        let asked = &mut self.asked;
        asked.clear();
        if self.n_resting > 0 {
            self.n_resting -= 1;
            return;
        }
        if self.n_asked == Self::LOOK {
            let few = self.n_answered < Self::LOOK / 4;
            (self.n_asked, self.n_answered, self.n_resting) = (0, 0, if few { Self::REST } else { 0 });
        }
        self.n_asked += 1;
        asked.push(cast.number << 6 | rules.phase);
        asked.push((waits.len() as u32) << 8 | rules.attempt.map_or(0, u32::from));
        asked.extend(locs.iter().map(|l| l.0));
        let bit = |(n, waits): (usize, &bool)| u32::from(*waits) << n;
        asked.extend(waits.chunks(32).map(|some| some.iter().enumerate().map(bit).sum::<u32>()));
        for (t, other) in halves {
            asked.push(*t);
            asked.extend((t != other).then_some(!other));
        }
        asked.extend(cast.filled(key));
        // A sum of products of which none waits for another.
        let odd = |n: usize| (n as u64 * 2 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let sum =
            asked.iter().enumerate().map(|(n, x)| odd(n).wrapping_mul(u64::from(*x) + 1)).fold(0, u64::wrapping_add);
        self.place =
            ((sum ^ sum >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - Self::BITS)) as usize * Self::STRIDE;
    }

    fn answer(&mut self) -> Option<u64> {
        let entry = self.entries.get(self.place..self.place + Self::STRIDE)?;
        let n = self.asked.len();
        let same = 0 < n && n <= Self::LONGEST && entry[0] as usize == n && entry[1..=n] == self.asked[..];
        self.n_answered += u32::from(same);
        same.then(|| u64::from(entry[Self::STRIDE - 2]) | u64::from(entry[Self::STRIDE - 1]) << 32)
    }

    /// There is a question to which an answer can be learned.
    fn was_asked(&self) -> bool {
        (1..=Self::LONGEST).contains(&self.asked.len())
    }

    fn learn(&mut self, taken: u64) {
        if !self.was_asked() {
            return;
        }
        let n = self.asked.len();
        if self.entries.is_empty() {
            self.entries = vec![0; Self::STRIDE << Self::BITS];
        }
        let entry = &mut self.entries[self.place..self.place + Self::STRIDE];
        entry[0] = n as u32;
        entry[1..=n].copy_from_slice(&self.asked);
        entry[Self::STRIDE - 2] = taken as u32;
        entry[Self::STRIDE - 1] = (taken >> 32) as u32;
    }
}

/// Which sets will do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// Steps of one process only.
    pub alone: bool,
    /// Nothing of a process that could do more if a message or room came: what [Schoot7] asks for instead of D3
    /// (proposition 7.20).
    pub near: bool,
    /// No step that closes a loop.
    pub strict: bool,
    /// What is looked at.
    pub phase: u32,
    /// What cycles without progress need.
    pub still: Option<Rule>,
    /// The so-many-th set that will do, from 1; none: the smallest.
    pub attempt: Option<u8>,
}

impl Desk {
    pub fn locs(&self) -> &[Loc] {
        &self.locs
    }

    /// Where each process stands.
    pub fn stands(&mut self, locs: impl Iterator<Item = Loc>) {
        self.locs.clear();
        self.locs.extend(locs);
        self.waits.clear();
    }

    /// Nothing of this process is to be selected in the state at hand.
    pub fn waits(&mut self, pid: Pid) {
        self.waits.resize(self.locs.len(), false);
        self.waits[pid as usize] = true;
    }

    /// Puts the selection into `chosen`; false if nothing can be left out. All that matters is the cast, the phase, where the
    /// processes stand, what they can do, and which channels are empty: what came of that before is known for a while.
    pub fn select(&mut self, cast: &Cast, key: &[u8], steps: &[Step], rules: Rules, chosen: &mut Vec<Step>) -> bool {
        self.number(cast, steps);
        self.known.ask(cast, key, (&self.locs, &self.waits), &self.halves, rules);
        if let Some(taken) = self.known.answer() {
            let mut n = 0..;
            chosen.extend(steps.iter().filter(|_| taken >> n.next().unwrap_or(0) & 1 == 1));
            return taken != 0;
        }
        let some = self.select_anew(cast, key, steps, rules, chosen);
        if self.known.was_asked() && steps.len() <= 64 {
            let bit = |(n, step): (usize, &Step)| u64::from(chosen.contains(step)) << n;
            self.known.learn(if some { steps.iter().enumerate().map(bit).sum() } else { 0 });
        }
        some
    }

    /// The smallest closed sets, no two of which have a step in common: of each step the number of its set, from 1; 0 if
    /// it is in none.
    pub fn components(&mut self, cast: &Cast, key: &[u8], steps: &[Step], rules: Rules, of: &mut Vec<u8>) {
        of.clear();
        // No attempt has this number: these answers are not selections.
        let attempt = Some(u8::MAX);
        self.number(cast, steps);
        self.known.ask(cast, key, (&self.locs, &self.waits), &self.halves, Rules { attempt, ..rules });
        let few = steps.len() <= 16;
        if let Some(numbers) = self.known.answer().filter(|_| few) {
            of.extend((0..steps.len()).map(|n| (numbers >> (4 * n) & 15) as u8));
            return;
        }
        self.look(cast, rules);
        of.resize(steps.len(), 0);
        let mut sets: Vec<Vec<usize>> = Vec::new();
        let mut last = None;
        for (n, step) in steps.iter().enumerate() {
            if last.replace(step.pid) != Some(step.pid)
                && self.close(cast, key, n, step.pid, rules)
                && self.keeps_still(cast, steps, rules)
            {
                sets.push((0..steps.len()).filter(|n| self.selects(*n)).collect());
            }
        }
        sets.sort_by_key(Vec::len);
        let mut n = 0;
        // Of those that may make progress one is enough (`still`).
        let mut n_made = 0;
        let may_make = |set: &[usize]| rules.still.is_some() && set.iter().any(|n| is_marked(cast, &steps[*n]));
        for set in sets.into_iter().filter(|s| !s.is_empty()) {
            let made = may_make(&set) && cast.without.keeps(Condition::OneMade);
            if n < 15 && n_made + usize::from(made) < 2 && set.iter().all(|step| of[*step] == 0) {
                n += 1;
                n_made += usize::from(made);
                set.iter().for_each(|step| of[*step] = n);
            }
        }
        if few {
            self.known.learn(of.iter().enumerate().map(|(n, of)| u64::from(*of) << (4 * n)).sum());
        }
    }

    fn number(&mut self, cast: &Cast, steps: &[Step]) {
        self.halves.clear();
        self.halves.extend(steps.iter().map(|step| {
            let t = cast.transition(step.pid, step.edge);
            (t, step.partner.map_or(t, |(pid, edge)| cast.transition(pid, edge)))
        }));
    }

    /// What is current, what can be taken, and what of that is barred: what may not be selected, and by D1 whatever its
    /// process can do.
    fn look(&mut self, cast: &Cast, rules: Rules) {
        let Desk { current, can, barred, locs, halves, waits, .. } = self;
        current.clear(cast.n_words);
        for (pid, loc) in locs.iter().enumerate() {
            let span = cast.span(pid as Pid);
            let row = &cast.current(pid as Pid, *loc)[span.clone()];
            current.0[span].iter_mut().zip(row).for_each(|(a, b)| *a |= b);
        }
        can.clear(cast.n_words);
        for (t, other) in halves {
            can.put(*t);
            can.put(*other);
        }
        barred.0.clear();
        let shut = cast.shut(rules.phase, rules.strict).iter().zip(&can.0).map(|(shut, can)| shut & can);
        barred.0.extend(shut);
        if waits.is_empty() && barred.0.iter().all(|word| *word == 0) {
            return;
        }
        let d1 = cast.without.keeps(Condition::D1);
        for pid in 0..self.locs.len() {
            let span = cast.span(pid as Pid);
            let mut pairs = self.barred.0[span.clone()].iter().zip(&cast.own(pid as Pid)[span]);
            if self.waits.get(pid) == Some(&true) || d1 && pairs.any(|(barred, own)| barred & own != 0) {
                self.bar(cast, pid as Pid);
            }
        }
    }

    /// Nothing that this process can do is to be in a set.
    fn bar(&mut self, cast: &Cast, pid: Pid) {
        let span = cast.span(pid);
        let can = self.barred.0[span.clone()].iter_mut().zip(&self.can.0[span.clone()]);
        let words = can.zip(&cast.own(pid)[span]);
        words.for_each(|((barred, can), own)| *barred |= can & own);
    }

    fn select_anew(&mut self, cast: &Cast, key: &[u8], steps: &[Step], rules: Rules, chosen: &mut Vec<Step>) -> bool {
        self.look(cast, rules);
        let mut best = steps.len();
        let mut last = None;
        let mut left = rules.attempt;
        for (first, step) in steps.iter().enumerate() {
            if last.replace(step.pid) == Some(step.pid) {
                continue;
            }
            let closed = self.close(cast, key, first, step.pid, rules);
            // Of larger sets more may be asked than that they be small.
            if !closed || rules.attempt.is_none() && rules.still.is_none() {
                self.bar(cast, step.pid);
            }
            if !closed {
                continue;
            }
            if !self.keeps_still(cast, steps, rules) {
                continue;
            }
            let n = (0..steps.len()).filter(|n| self.selects(*n)).count();
            assert!(n > 0 || !cast.without.is_nothing(), "emptiness");
            if 0 < n && n < best {
                if left.is_some_and(|left| left > 1) {
                    left = left.map(|left| left - 1);
                    continue;
                }
                best = n;
                chosen.clear();
                chosen.extend((0..steps.len()).filter(|n| self.selects(*n)).map(|n| steps[n]));
                if n == 1 || left.is_some() {
                    break;
                }
            }
        }
        best < steps.len()
    }

    /// The set has what `still` asks for.
    fn keeps_still(&self, cast: &Cast, steps: &[Step], rules: Rules) -> bool {
        let keeps = |condition| cast.without.keeps(condition);
        let mut chosen = steps.iter().enumerate().filter(|(n, _)| self.selects(*n)).map(|(_, step)| step);
        let marked = |s: &Step| is_marked(cast, s);
        match rules.still {
            None => true,
            Some(Rule::One) => !keeps(Condition::Still) || chosen.any(|s| !marked(s)),
            Some(Rule::All) => chosen.all(|s| !marked(s)),
            Some(Rule::Nobody) => {
                let at_label = |(pid, loc): (usize, &Loc)| cast.labels[pid][loc.index()].then_some(pid as Pid);
                let takes_part = |s: &Step, pid| s.pid == pid || s.partner.is_some_and(|(other, _)| other == pid);
                chosen.all(|s| {
                    let left = self.locs.iter().enumerate().filter_map(at_label).all(|pid| takes_part(s, pid));
                    (left || !keeps(Condition::AtLabel)) && !(marked(s) && keeps(Condition::Enters))
                })
            }
        }
    }

    /// The set has the step with this number.
    #[inline]
    fn selects(&self, n: usize) -> bool {
        let (t, other) = self.halves[n];
        self.set.has(t) && self.set.has(other)
    }

    /// The smallest closed set with the step of this number, of this process; false if it may not be selected.
    fn close(&mut self, cast: &Cast, key: &[u8], n: usize, pid: Pid, rules: Rules) -> bool {
        let (t, _) = self.halves[n];
        if self.barred.has(t) {
            return false;
        }
        self.set.clear(cast.n_words);
        self.todo.clear(cast.n_words);
        self.set.put(t);
        self.todo.put(t);
        while let Some(t) = self.todo.take() {
            let can = self.can.has(t);
            if can && (rules.alone && cast.owner(t) != pid || !self.join(cast.with(t))) {
                return false; // D1, D2
            }
            if !can || cast.flags[t as usize].half {
                let lacks_message = !can && cast.without.keeps(Condition::D3) && cast.lacks_message(t, key);
                if rules.near && lacks_message || !self.join(cast.enables(t, key)) {
                    return false; // D3, D4
                }
            }
        }
        true
    }

    /// Puts what is current of a row into the set; false if that has something that is barred.
    #[inline]
    fn join(&mut self, row: &[u64]) -> bool {
        let Desk { set: Set(set), todo: Set(todo), current: Set(current), barred: Set(barred), .. } = self;
        let mut hit = 0;
        for ((((row, set), todo), current), barred) in row.iter().zip(set).zip(todo).zip(current).zip(barred) {
            let new = row & *current & !*set;
            hit |= new & *barred;
            *set |= new;
            *todo |= new;
        }
        hit == 0
    }
}

/// It may make progress, or lead somebody to a label.
fn is_marked(cast: &Cast, step: &Step) -> bool {
    let flag = |pid, edge| cast.flags[cast.transition(pid, edge) as usize].marked;
    flag(step.pid, step.edge) || step.partner.is_some_and(|(pid, edge)| flag(pid, edge))
}
