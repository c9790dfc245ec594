//! Which steps lead to the same state in both orders, for searches that need not try both.
//!
//! Source  sleep sets [Godefroid90].
//! Fits    a search that knows of what was left that all behind it was (`progress/fifo`).
//!
//! # The argument
//!   Let a and b be steps of different processes that can be taken in s, and neither *disturb* the other (`cast`). Then a
//!   can be taken after b, and leads to where b leads after a. So whoever knows all about the state after a, and what comes
//!   behind it, knows where a leads after b, and need not take it there: it is *asleep*.
//!   Nothing is left out of a graph by that; only what is known is not asked for again. Which steps there are is
//!   asked of every state, so nothing is taken for asleep that cannot be taken.
//!   Two things do not sleep, because more than one step may bear the name: handshakes, which another partner may join; and
//!   steps with several outcomes (the searches look).
//!   Nor do steps that lead their process to a progress label. What is known of a state may be no more than that it lies in a
//!   queue, because it is a progress state; then nothing is known of what comes behind it. After a step that sleeps, the
//!   state is one only if it was one before: from a state that is none it leads to none, which has been left.
//!
//! # Invariants
//!   I1 a set has a bit for each transition of the cast whose number it bears, and is asked about no others
//!   I2 what does not sleep is in no set, and none of whoever moved last
//!
//! # Owed
//!   O1 what sleeps leads to what was left    tests: every such move is made in debug builds (`fifo`, I3)
//!   O2 `Condition::D2` and `Enters` needed   tests/progress.rs: a wrong answer, or one that is noticed, without them
//!   O3 what does not disturb commutes        tests/audited.rs: both orders are tried out
//!
//! # Cost  a row of `disturbs` for each step; a bit for each transition of a cast, and nothing for the large ones.

use super::cast::{BLOCK, Cast};
use super::still::Still;
use super::without::Condition;
use super::{Reduction, Selector, refusal};
use spinor_model::ir::System;
use spinor_model::successors::Step;
use std::sync::Arc;

/// The transitions of a step, twice the same if it is no handshake. Names mean something for one cast only.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Name(u32, u32);

/// It is the name of something that does not sleep.
const AWAKE: u32 = 1 << 31;

impl Name {
    pub const NONE: Name = Name(u32::MAX, u32::MAX);

    /// It can be asleep.
    #[inline]
    pub fn sleeps(self) -> bool {
        self.0 == self.1 && self != Name::NONE
    }

    /// The word of a set that has it, and the bit, if it can be asleep.
    #[inline]
    pub fn place(self) -> Option<(usize, u64)> {
        self.sleeps().then(|| (self.0 as usize / 64, 1 << (self.0 % 64)))
    }

    /// The same of a step that is not to be asleep.
    pub fn awake(self) -> Name {
        Name(self.0, self.1 | AWAKE)
    }
}

/// Steps of a state: those that are asleep, or lead to what is known.
#[derive(Clone, Debug, Default)]
pub struct Sleep {
    /// Whose names these are: the number of a cast and one more; 0 if nothing is known.
    pub cast: u32,
    pub set: Vec<u64>,
}

impl Sleep {
    #[inline]
    pub fn has(&self, name: Name) -> bool {
        self.cast > 0 && name.place().is_some_and(|(word, bit)| self.set[word] & bit != 0)
    }

    /// Keeps those of them that are named. How many that are.
    #[inline]
    pub fn retain(&mut self, names: &[Name]) -> u64 {
        let (mut there, mut n_there) = ([0; MOST_BLOCKS * (BLOCK / 64)], 0);
        for (word, bit) in names.iter().filter_map(|name| name.place()) {
            let is_asleep = self.set[word] & bit != 0;
            there[word] |= if is_asleep { bit } else { 0 };
            n_there += u64::from(is_asleep);
        }
        let n = self.set.len();
        debug_assert!(there[n..].iter().all(|word| *word == 0), "I1");
        let n_bits = there.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
        debug_assert_eq!(n_bits, n_there, "a name is that of one step");
        debug_assert!(self.set.iter().zip(&there).all(|(before, now)| now & !before == 0), "nobody falls asleep by it");
        self.set.copy_from_slice(&there[..n]);
        n_there
    }

    #[inline]
    pub fn put(&mut self, name: Name) {
        if let Some((word, bit)) = name.place().filter(|_| self.cast > 0) {
            debug_assert!(word < self.set.len(), "I1");
            self.set[word] |= bit;
        }
    }

    pub fn clear(&mut self) {
        self.cast = 0;
        self.set.clear();
    }
}

/// See the module.
pub struct Commute(Reduction);

/// One thread's: the cast of the state looked at last.
#[derive(Clone, Default)]
pub struct Desk(Option<Arc<Cast>>);

/// With more sets are not worth while.
const MOST_BLOCKS: usize = 4;

impl Commute {
    /// Of a system all steps of which are taken. Those that lead to a label do not sleep.
    pub fn new(system: &Arc<System>, labels: Still) -> Option<Commute> {
        let new = || Commute(Reduction::for_progress(system.clone(), Selector::Stubborn, labels));
        refusal(system).is_none().then(new)
    }

    #[doc(hidden)]
    pub fn without(self, condition: Condition) -> Commute {
        Commute(self.0.without(condition))
    }

    /// What is asleep in the state with this key, which was come to by a step from one where so much was known.
    pub fn bring(&self, desk: &mut Desk, key: &[u8], by: Name, sleep: &mut Sleep) {
        if !desk.0.as_ref().is_some_and(|c| c.fits(key)) {
            desk.0 = self.0.cast(key).filter(|c| c.n_blocks <= MOST_BLOCKS);
        }
        let Some(cast) = &desk.0 else { return sleep.clear() };
        self.0.check_state(cast, key, &[]);
        if sleep.cast != cast.number + 1 || by.0 == u32::MAX {
            sleep.cast = cast.number + 1;
            sleep.set.clear();
            sleep.set.resize(cast.n_blocks * (BLOCK / 64), 0);
            return;
        }
        debug_assert_eq!(sleep.set.len(), cast.n_blocks * (BLOCK / 64), "I1");
        for t in [by.0, by.1 & !AWAKE].into_iter().filter(|_| self.0.without.keeps(Condition::D2)) {
            debug_assert!((t as usize) < cast.flags.len(), "I1");
            let words = sleep.set.iter_mut().zip(cast.disturbs(t));
            words.for_each(|(set, disturbs)| *set &= !disturbs);
        }
        debug_assert!(self.check_asleep(cast, by, sleep), "I1, I2");
    }

    fn check_asleep(&self, cast: &Cast, by: Name, sleep: &Sleep) -> bool {
        let moved = [by.0, by.1 & !AWAKE].map(|t| cast.owner(t));
        let mut asleep = (0..sleep.set.len() as u32 * 64).filter(|t| sleep.has(Name(*t, *t)));
        let may = |t: u32| {
            let labelled = cast.flags[t as usize].marked && self.0.without.keeps(Condition::Enters);
            !labelled && (!moved.contains(&cast.owner(t)) || !self.0.without.keeps(Condition::D2))
        };
        asleep.all(|t| (t as usize) < cast.flags.len() && may(t))
    }

    /// The numbers of transitions, in the state that was brought last, if its cast is known.
    #[inline]
    pub fn firsts<'s>(&self, desk: &'s Desk) -> Option<&'s [u32]> {
        desk.0.as_ref().map(|cast| cast.firsts())
    }

    /// Of a step of the state that was brought last, if its cast is known.
    #[inline]
    pub fn name(&self, desk: &Desk, step: &Step) -> Name {
        match &desk.0 {
            Some(cast) if !step.timeout => {
                let t = cast.transition(step.pid, step.edge);
                let name = Name(t, step.partner.map_or(t, |(pid, edge)| cast.transition(pid, edge)));
                debug_assert!((name.0 | name.1) & AWAKE == 0, "I2: that bit says that it does not sleep");
                debug_assert_eq!(name.sleeps(), step.partner.is_none(), "I2: handshakes do not sleep");
                let labelled = cast.flags[t as usize].marked && self.0.without.keeps(Condition::Enters);
                if labelled { name.awake() } else { name }
            }
            _ => Name::NONE,
        }
    }
}
