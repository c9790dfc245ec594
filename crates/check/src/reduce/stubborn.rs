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
//! # Invariants
//!   I1 with a step a set has all steps in which one of its processes takes part
//!   I2 nothing that is selected is shut, nor of a process that is not to move; with `alone` it is all of one process; where
//!      progress is asked about it has what `still` asks for
//!   I3 no set that will do is smaller than the one that is selected
//!   I4 a question that was answered has the answer that it would have now; it fits into the words that it is put in
//!   I5 several sets have no process in common
//!
//! # Owed
//!   O1 verdicts = the oracle's                         tests: random models, all properties
//!   O2 each condition is needed                        tests: a model for each, with the condition switched off
//!
//! # Cost  a closure for each process that can move; words of the rows of what is in the set.

use super::NO_ATTEMPT;
use super::cast::{BLOCK, Block, Cast};
use super::still::Rule;
use super::without::Condition;
use spinor_model::index::Idx;
use spinor_model::ir::{Loc, Pid};
use spinor_model::successors::Step;

/// Memory for one who selects.
#[derive(Clone, Debug, Default)]
pub(super) struct Desk {
    marks: Vec<Marks>,
    /// Where each process stands.
    locs: Vec<Loc>,
    /// How channels are filled ([`Cast::fill`]).
    filled: Vec<u8>,
    /// By step: its transitions; twice the same if it is no handshake.
    halves: Vec<(u32, u32)>,
    /// Some of them are handshakes.
    met: bool,
    /// By process: it must not be selected here, whatever it can do.
    waits: Vec<bool>,
    known: Known,
}

/// What is said of the transitions of a block.
#[derive(Clone, Copy, Debug, Default)]
struct Marks {
    current: Block,
    can: Block,
    /// Of those that can be taken: a set that has to have one of them is not the one that is looked for.
    barred: Block,
    /// The set being closed, and what of it was not looked at yet.
    set: Block,
    todo: Block,
}

/// Where it is in a block: the word and the bit.
#[inline]
fn place(t: u32) -> (usize, u64) {
    (t as usize % BLOCK / 64, 1 << (t % 64))
}

#[inline]
fn has(block: &Block, t: u32) -> bool {
    let (word, bit) = place(t);
    block[word] & bit != 0
}

#[inline]
fn put(block: &mut Block, t: u32) {
    let (word, bit) = place(t);
    block[word] |= bit;
}

/// Selections made a short while ago.
#[derive(Clone, Debug, Default)]
struct Known {
    /// By a hash of the question.
    entries: Vec<Entry>,
    /// The question, and how long it is: 0 if there is none.
    asked: [u64; Known::LONGEST],
    n_words: usize,
    place: usize,
    /// Of the last questions: how many there were, and how many were answered; how many of the next are not to be put, and
    /// how many that was when it was decided.
    n_asked: u32,
    n_answered: u32,
    n_resting: u32,
    rest: u32,
}

/// Most questions share a cache line with their answer.
#[derive(Clone, Debug, Default)]
#[repr(align(64))]
struct Entry {
    /// Which of the steps were taken, none if all were.
    answer: u64,
    question: [u64; Known::LONGEST],
}

impl Known {
    /// A thread has 512 KiB of entries.
    const BITS: u32 = 12;
    /// Questions of more words are not kept.
    const LONGEST: usize = 15;
    /// Where fewer than an eighth of so many questions are answered, the next ones are not worth it: at first as many, then
    /// twice as many each time, up to this.
    const LOOK: u32 = 1 << 10;
    const MOST_RESTING: u32 = 1 << 16;

    /// Questions that differ are different words, and none begins like another: the first word says how many of a kind
    /// follow, and is never 0.
    fn ask(
        &mut self,
        cast: &Cast,
        key: &[u8],
        waits: &[bool],
        (halves, met): (&[(u32, u32)], bool),
        filled: &[u8],
        rules: Rules,
    ) {
        self.n_words = 0;
        if self.n_resting > 0 {
            self.n_resting -= 1;
            return;
        }
        if self.n_asked == Self::LOOK {
            let few = self.n_answered < Self::LOOK / 8;
            self.rest = if few { (2 * self.rest).clamp(Self::LOOK, Self::MOST_RESTING) } else { 0 };
            (self.n_asked, self.n_answered, self.n_resting) = (0, 0, self.rest);
        }
        self.n_asked += 1;
        let (n_waits, n_gathered, at_once) = (waits.len().div_ceil(64), cast.n_gathered(), if met { 2 } else { 4 });
        let n_words = 1 + n_gathered + n_waits + halves.len().div_ceil(at_once) + filled.len().div_ceil(32);
        if n_words > Self::LONGEST {
            return;
        }
        debug_assert!(halves.len() < 1 << 6 && n_waits < 1 << 4 && rules.phase < 1 << 16, "each has bits of its own");
        debug_assert!(cast.number < u32::MAX >> 8 && halves.iter().all(|(t, other)| (t | other) >> 16 == 0), "I4");
        debug_assert!(filled.iter().all(|filled| *filled < 3), "I4");
        let (number, attempt) = (u64::from(cast.number) + 1, rules.attempt.map_or(0, u64::from));
        let kinds = (usize::from(met) << 10 | n_waits << 6 | halves.len()) as u64;
        self.asked[0] = number << 40 | u64::from(rules.phase) << 24 | attempt << 16 | kinds;
        cast.gather(key, &mut self.asked[1..]);
        self.n_words = 1 + n_gathered;
        let Known { asked, n_words: n, .. } = self;
        let mut say = |word| {
            asked[*n] = word;
            *n += 1;
        };
        waits.chunks(64).for_each(|some| say(some.iter().rev().fold(0, |word, waits| word << 1 | u64::from(*waits))));
        if met {
            let both = |(t, other): &(u32, u32)| u64::from(t << 16 | other);
            halves.chunks(2).for_each(|some| say(some.iter().fold(0, |word, step| word << 32 | both(step))));
        } else {
            halves.chunks(4).for_each(|some| say(some.iter().fold(0, |word, (t, _)| word << 16 | u64::from(*t))));
        }
        filled.chunks(32).for_each(|some| say(some.iter().fold(0, |word, filled| word << 2 | u64::from(*filled))));
        debug_assert_eq!(self.n_words, n_words, "the first word tells how many there are");
        // A sum of products of which none waits for another.
        let odd = |n: usize| (n as u64 * 2 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let products = self.asked[..n_words].iter().enumerate().map(|(n, x)| odd(n).wrapping_mul(x ^ x >> 29));
        let sum = products.fold(0, u64::wrapping_add);
        self.place = ((sum ^ sum >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - Self::BITS)) as usize;
    }

    fn answer(&mut self) -> Option<u64> {
        let entry = self.entries.get(self.place).filter(|_| self.n_words > 0)?;
        let same = entry.question.iter().zip(&self.asked[..self.n_words]).all(|(a, b)| a == b);
        self.n_answered += u32::from(same);
        debug_assert!(self.n_answered <= self.n_asked, "who was answered has asked");
        same.then_some(entry.answer)
    }

    fn learn(&mut self, answer: u64) {
        if self.n_words == 0 {
            return;
        }
        if self.entries.is_empty() {
            self.entries.resize(1 << Self::BITS, Entry::default());
        }
        self.entries[self.place] = Entry { answer, question: self.asked };
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
    /// A state is put on it.
    pub fn clear(&mut self) {
        self.waits.clear();
    }

    /// Nothing of this process is to be selected in the state at hand.
    pub fn waits(&mut self, pid: Pid) {
        let n = usize::from(pid) + 1;
        self.waits.resize(self.waits.len().max(n), false);
        self.waits[n - 1] = true;
    }

    /// Puts the selection into `chosen`; false if nothing can be left out. All that matters is the cast, the phase, where the
    /// processes stand, what they can do, and which channels are empty: what came of that before is known for a while.
    pub fn select(&mut self, cast: &Cast, key: &[u8], steps: &[Step], rules: Rules, chosen: &mut Vec<Step>) -> bool {
        self.number(cast, key, steps);
        self.known.ask(cast, key, &self.waits, (&self.halves, self.met), &self.filled, rules);
        if let Some(taken) = self.known.answer() {
            debug_assert!(steps.len() <= 63 && taken >> steps.len() == 0, "who was asked had as many steps");
            debug_assert!(self.check_answer(cast, key, steps, rules, taken), "I4");
            let mut n = 0..;
            chosen.extend(steps.iter().filter(|_| taken >> n.next().unwrap_or(0) & 1 == 1));
            return taken != 0;
        }
        let some = self.select_anew(cast, key, steps, rules, chosen);
        debug_assert!(!some || self.check_set(cast, steps, chosen, rules), "I1, I2");
        debug_assert!(
            self.check_smallest(cast, key, steps, rules, if some { chosen.len() } else { steps.len() }),
            "I3"
        );
        if self.known.n_words > 0 {
            // They are in the order of the steps.
            let mut taken = chosen.iter().filter(|_| some).peekable();
            let bit = |(n, step): (usize, &Step)| u64::from(taken.next_if_eq(&step).is_some()) << n;
            let answer = steps.iter().enumerate().map(bit).sum();
            debug_assert!(taken.peek().is_none(), "every step of the selection has its bit");
            self.known.learn(answer);
        }
        some
    }

    /// What was answered before is what would be answered now.
    fn check_answer(&mut self, cast: &Cast, key: &[u8], steps: &[Step], rules: Rules, taken: u64) -> bool {
        let mut anew = Vec::new();
        let some = self.select_anew(cast, key, steps, rules, &mut anew);
        let before = steps.iter().enumerate().filter(|(n, _)| taken >> n & 1 == 1).map(|(_, step)| step);
        some == (taken != 0) && (!some || before.eq(&anew))
    }

    /// I1 and I2, of steps that are selected.
    fn check_set(&self, cast: &Cast, steps: &[Step], chosen: &[Step], rules: Rules) -> bool {
        if !cast.without.is_nothing() {
            return true;
        }
        let both = |s: &Step| [Some((s.pid, s.edge)), s.partner].into_iter().flatten();
        let takes_part = |pid: Pid| chosen.iter().any(|s| both(s).any(|(other, _)| other == pid));
        let shut = cast.shut(rules.phase, rules.strict);
        let is_shut = |(pid, edge)| {
            let t = cast.transition(pid, edge);
            has(&shut[t as usize / BLOCK], t) || self.waits.get(usize::from(pid)).is_some_and(|waits| *waits)
        };
        steps.iter().all(|s| chosen.contains(s) == both(s).any(|(pid, _)| takes_part(pid)))
            && !chosen.iter().flat_map(both).any(is_shut)
            && (!rules.alone || chosen.iter().all(|s| s.pid == chosen[0].pid && s.partner.is_none()))
            && rules.still.is_none_or(|rule| keeps_still(cast, self.locs.iter().copied(), chosen.iter(), rule))
    }

    /// I3, of some states: every set is closed by itself, whatever came of the others.
    fn check_smallest(&self, cast: &Cast, key: &[u8], steps: &[Step], rules: Rules, n: usize) -> bool {
        if !super::is_sample(key, 8) || rules.attempt.is_some() || !cast.without.is_nothing() {
            return true;
        }
        let mut desk = Desk { waits: self.waits.clone(), ..Desk::default() };
        desk.number(cast, key, steps);
        desk.look(cast, key, rules);
        (0..steps.len()).all(|first| {
            !desk.close(cast, first, steps[first].pid, rules)
                || !desk.keeps_still(cast, steps, rules)
                || desk.n_selected() >= n
        })
    }

    /// The smallest closed sets, no two of which have a step in common: of each step the number of its set, from 1; 0 if
    /// it is in none.
    pub fn disjoint_sets(&mut self, cast: &Cast, key: &[u8], steps: &[Step], rules: Rules, of: &mut Vec<u8>) {
        // These answers are not selections.
        let attempt = Some(NO_ATTEMPT);
        self.number(cast, key, steps);
        self.known.ask(cast, key, &self.waits, (&self.halves, self.met), &self.filled, Rules { attempt, ..rules });
        let few = steps.len() <= 16;
        if let Some(numbers) = self.known.answer().filter(|_| few) {
            of.clear();
            of.extend((0..steps.len()).map(|n| (numbers >> (4 * n) & 15) as u8));
            debug_assert!(
                {
                    let mut anew = Vec::new();
                    self.disjoint_anew(cast, key, steps, rules, &mut anew);
                    anew == *of
                },
                "I4"
            );
            return;
        }
        self.disjoint_anew(cast, key, steps, rules, of);
        if few {
            self.known.learn(of.iter().enumerate().map(|(n, of)| u64::from(*of) << (4 * n)).sum());
        }
    }

    fn disjoint_anew(&mut self, cast: &Cast, key: &[u8], steps: &[Step], rules: Rules, of: &mut Vec<u8>) {
        self.look(cast, key, rules);
        debug_assert!(is_grouped(steps), "a process is asked once");
        of.clear();
        of.resize(steps.len(), 0);
        let mut sets: Vec<Vec<usize>> = Vec::new();
        let mut last = None;
        for (n, step) in steps.iter().enumerate() {
            if last.replace(step.pid) != Some(step.pid)
                && self.close(cast, n, step.pid, rules)
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
        debug_assert!(of.iter().all(|of| *of <= n), "sets are numbered from 1 on");
        debug_assert!((1..=n).all(|n| of.contains(&n)), "a set has a step");
        // With its steps a set has those of all who take part in them, so no two have a process in common.
        let set =
            |n: u8| steps.iter().zip(&*of).filter(|(_, of)| **of == n).map(|(step, _)| *step).collect::<Vec<Step>>();
        debug_assert!((1..=n).all(|n| self.check_set(cast, steps, &set(n), rules)), "I1, I2, I5");
        debug_assert!((1..n).all(|n| set(n).len() <= set(n + 1).len()), "the smallest first");
    }

    fn number(&mut self, cast: &Cast, key: &[u8], steps: &[Step]) {
        cast.fill(key, &mut self.filled);
        self.halves.clear();
        self.halves.extend(steps.iter().map(|step| {
            let t = cast.transition(step.pid, step.edge);
            (t, step.partner.map_or(t, |(pid, edge)| cast.transition(pid, edge)))
        }));
        self.met = self.halves.iter().any(|(t, other)| t != other);
        debug_assert_eq!(self.met, steps.iter().any(|step| step.partner.is_some()), "two halves are two transitions");
    }

    /// What is current, what can be taken, and what of that is barred: what may not be selected, and by D1 whatever its
    /// process can do.
    fn look(&mut self, cast: &Cast, key: &[u8], rules: Rules) {
        let Desk { marks, locs, halves, waits, .. } = self;
        debug_assert!(!halves.is_empty(), "where nothing can be taken nobody selects");
        locs.clear();
        locs.extend(cast.stands(key));
        marks.clear();
        marks.resize(cast.n_blocks, Marks::default());
        for (pid, loc) in locs.iter().enumerate() {
            for (marks, row) in marks.iter_mut().zip(cast.current(pid as Pid, *loc)) {
                (0..row.len()).for_each(|n| marks.current[n] |= row[n]);
            }
        }
        for (t, other) in halves.iter() {
            put(&mut marks[*t as usize / BLOCK].can, *t);
            put(&mut marks[*other as usize / BLOCK].can, *other);
        }
        let can = |marks: &Marks| marks.can.iter().zip(&marks.current).all(|(can, current)| can & !current == 0);
        debug_assert!(marks.iter().all(can), "what can be taken is current");
        let (shut, d1) = (cast.shut(rules.phase, rules.strict), cast.without.keeps(Condition::D1));
        let mut shuts = |t: u32| {
            if has(&shut[t as usize / BLOCK], t) {
                put(&mut marks[t as usize / BLOCK].barred, t);
                if d1 {
                    bar(marks, cast, cast.owner(t));
                }
            }
        };
        for (t, other) in halves.iter() {
            shuts(*t);
            if t != other {
                shuts(*other);
            }
        }
        for (pid, _) in waits.iter().enumerate().filter(|(_, waits)| **waits) {
            bar(marks, cast, pid as Pid);
        }
        let bars = |marks: &Marks| marks.barred.iter().zip(&marks.can).all(|(barred, can)| barred & !can == 0);
        debug_assert!(marks.iter().all(bars), "what is barred can be taken");
    }

    fn select_anew(&mut self, cast: &Cast, key: &[u8], steps: &[Step], rules: Rules, chosen: &mut Vec<Step>) -> bool {
        self.look(cast, key, rules);
        debug_assert!(is_grouped(steps), "a process is asked once");
        let mut best = steps.len();
        let mut last = None;
        let mut left = rules.attempt;
        for (first, step) in steps.iter().enumerate() {
            if last.replace(step.pid) == Some(step.pid) {
                continue;
            }
            let closed = self.close(cast, first, step.pid, rules);
            let keeps = closed && self.keeps_still(cast, steps, rules);
            // A set that has this one is larger, and if this one has progress that no step of it may have, that has it, too.
            // One step without progress is what a larger set may have.
            let larger = rules.attempt.is_some() || !keeps && rules.still == Some(Rule::One);
            if !closed || !larger {
                bar(&mut self.marks, cast, step.pid);
            }
            if !keeps {
                continue;
            }
            let n = self.n_selected();
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
        debug_assert!(best == steps.len() || chosen.len() == best, "as many as were counted");
        best < steps.len()
    }

    /// The set has what `still` asks for.
    fn keeps_still(&self, cast: &Cast, steps: &[Step], rules: Rules) -> bool {
        let chosen = || steps.iter().enumerate().filter(|(n, _)| self.selects(*n)).map(|(_, step)| step);
        rules.still.is_none_or(|rule| keeps_still(cast, self.locs.iter().copied(), chosen(), rule))
    }

    /// How many steps the set has.
    fn n_selected(&self) -> usize {
        if self.met {
            return (0..self.halves.len()).filter(|n| self.selects(*n)).count();
        }
        let taken =
            |marks: &Marks| marks.set.iter().zip(&marks.can).map(|(set, can)| (set & can).count_ones()).sum::<u32>();
        self.marks.iter().map(taken).sum::<u32>() as usize
    }

    /// The set has the step with this number.
    #[inline]
    fn selects(&self, n: usize) -> bool {
        let has = |t| has(&self.marks[t as usize / BLOCK].set, t);
        let (t, other) = self.halves[n];
        has(t) && has(other)
    }

    /// The smallest closed set with the step of this number, of this process; false if it may not be selected.
    fn close(&mut self, cast: &Cast, n: usize, pid: Pid, rules: Rules) -> bool {
        let Desk { marks, filled, halves, .. } = self;
        debug_assert_eq!(marks.len(), cast.n_blocks, "the state was looked at");
        let (t, _) = halves[n];
        debug_assert_eq!(cast.owner(t), pid, "the first half is its own");
        let closed = match &mut marks[..] {
            // Most casts have one block: what follows is faster if that is known.
            [marks] => close(std::slice::from_mut(marks), cast, filled, t, pid, rules),
            marks => close(marks, cast, filled, t, pid, rules),
        };
        debug_assert!(!closed || self.check_closed(cast, t, pid, rules), "D1 to D4");
        closed
    }

    /// The set is closed, has the transition, and nothing that is barred.
    fn check_closed(&self, cast: &Cast, first: u32, pid: Pid, rules: Rules) -> bool {
        let keeps = |condition| cast.without.keeps(condition);
        let is_in = |of: fn(&Marks) -> &Block, t: u32| has(of(&self.marks[t as usize / BLOCK]), t);
        let members = |of: fn(&Marks) -> &Block| {
            (0..(self.marks.len() * BLOCK) as u32).filter(move |t| has(of(&self.marks[*t as usize / BLOCK]), *t))
        };
        let has_all = |row: &[Block]| {
            let lacks = |(m, row): (&Marks, &Block)| (0..row.len()).any(|n| row[n] & m.current[n] & !m.set[n] != 0);
            !self.marks.iter().zip(row).any(lacks)
        };
        is_in(|m| &m.set, first)
            && members(|m| &m.set).all(|t| {
                let can = is_in(|m| &m.can, t);
                let waits = !can || cast.flags[t as usize].half;
                is_in(|m| &m.current, t)
                    && !is_in(|m| &m.barred, t)
                    && (!can || has_all(cast.with(t)) && (!keeps(Condition::D1) || has_all(cast.own(cast.owner(t)))))
                    && (!can || !rules.alone || cast.owner(t) == pid)
                    && (!waits || has_all(cast.enables(t, &self.filled)))
            })
    }

    /// The only step of a process that is safe is a closed set, whoever else can do what (`reduced`, *Haste*).
    pub fn check_safe(cast: &Cast, key: &[u8], steps: &[Step], rules: Rules, only: &Step) -> bool {
        let mut desk = Desk::default();
        desk.number(cast, key, steps);
        desk.look(cast, key, rules);
        let n = steps.iter().position(|s| s == only).expect("a step of the state");
        debug_assert!(only.partner.is_none() && !only.timeout, "who is safe needs nobody");
        desk.close(cast, n, only.pid, rules) && desk.n_selected() == 1
    }
}

#[inline(always)]
fn close(marks: &mut [Marks], cast: &Cast, filled: &[u8], first: u32, pid: Pid, rules: Rules) -> bool {
    let block = first as usize / BLOCK;
    if has(&marks[block].barred, first) {
        return false;
    }
    for marks in marks.iter_mut() {
        (marks.set, marks.todo) = Default::default();
    }
    put(&mut marks[block].set, first);
    put(&mut marks[block].todo, first);
    while let Some(t) = take(marks) {
        let can = has(&marks[t as usize / BLOCK].can, t);
        if can && (rules.alone && cast.owner(t) != pid || !join(marks, cast.with(t))) {
            return false; // D1, D2
        }
        if !can || cast.flags[t as usize].half {
            let d3 = rules.near && !can && cast.without.keeps(Condition::D3);
            if d3 && cast.lacks_message(t, filled) || !join(marks, cast.enables(t, filled)) {
                return false; // D3, D4
            }
        }
    }
    true
}

/// The steps of a process stand together.
fn is_grouped(steps: &[Step]) -> bool {
    steps.is_sorted_by(|a, b| a.pid >= b.pid)
}

/// Takes one out of what was not looked at yet.
#[inline(always)]
fn take(marks: &mut [Marks]) -> Option<u32> {
    for (block, marks) in marks.iter_mut().enumerate() {
        for (n, word) in marks.todo.iter_mut().enumerate() {
            if *word != 0 {
                let bit = word.trailing_zeros();
                *word &= *word - 1;
                return Some((block * BLOCK + n * 64) as u32 + bit);
            }
        }
    }
    None
}

/// Puts what is current of a row into the set; false if that has something that is barred.
#[inline(always)]
fn join(marks: &mut [Marks], row: &[Block]) -> bool {
    let mut hit = [0; 4];
    for (marks, row) in marks.iter_mut().zip(row) {
        for n in 0..row.len() {
            let new = row[n] & marks.current[n] & !marks.set[n];
            hit[n] |= new & marks.barred[n];
            marks.set[n] |= new;
            marks.todo[n] |= new;
        }
    }
    hit == [0; 4]
}

/// Nothing that this process can do is to be in a set.
#[inline]
fn bar(marks: &mut [Marks], cast: &Cast, pid: Pid) {
    for (marks, own) in marks.iter_mut().zip(cast.own(pid)) {
        (0..own.len()).for_each(|n| marks.barred[n] |= marks.can[n] & own[n]);
    }
}

/// Of steps that may be selected where processes stand like this: they have what the rule asks for.
pub(super) fn keeps_still<'s>(
    cast: &Cast,
    locs: impl Iterator<Item = Loc> + Clone,
    mut chosen: impl Iterator<Item = &'s Step>,
    rule: Rule,
) -> bool {
    let keeps = |condition| cast.without.keeps(condition);
    match rule {
        Rule::One => !keeps(Condition::Still) || chosen.any(|s| !is_marked(cast, s)),
        Rule::All => chosen.all(|s| !is_marked(cast, s)),
        Rule::Nobody => {
            let at_label = |(pid, loc): (usize, Loc)| cast.labels[pid][loc.index()].then_some(pid as Pid);
            let takes_part = |s: &Step, pid| s.pid == pid || s.partner.is_some_and(|(other, _)| other == pid);
            let leaves = |s| locs.clone().enumerate().filter_map(at_label).all(|pid| takes_part(s, pid));
            chosen
                .all(|s| !(keeps(Condition::Enters) && is_marked(cast, s)) && (!keeps(Condition::AtLabel) || leaves(s)))
        }
    }
}

/// It may make progress, or lead somebody to a label.
fn is_marked(cast: &Cast, step: &Step) -> bool {
    let flag = |pid, edge| cast.flags[cast.transition(pid, edge) as usize].marked;
    flag(step.pid, step.edge) || step.partner.is_some_and(|(pid, edge)| flag(pid, edge))
}
