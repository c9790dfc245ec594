//! Sets of states that many threads unite: the known parts of components.
//!
//! Source  [BLP16] section 4, with locks where the paper has none.
//!
//! # The argument
//!   A set is a tree of cards; the root stands for it, and knows
//!     which threads have entered it                          a bit each
//!     the ring of its states that may still be worked at     a thread picks one and goes on to the next
//!     its summary                                            if a move inside it is known
//!   A state is *done* when some thread has followed all its moves: each leads into the set, or to a set that is dead.
//!   A set whose states are all done is a whole component, and *dead*.
//!
//!   To unite, and to look at the ring, one locks the roots, the one with the lower number first. Once a root has been
//!   hung below another nobody locks it again; a thread that waited for its lock looks for the root anew. States that are done leave the
//!   ring when somebody comes by.
//!   Finding the root, and what concerns one state alone (claiming it, saying that it is done), needs no lock: bits are
//!   only ever added, and a state's way to its root is only ever made shorter.
//!
//!   A thread enters a set by its bit at the root. If the root is hung below another meanwhile, the bit may have come too late
//!   to be taken along; so whoever hangs a root reads the bits afterwards, and whoever sets a bit looks afterwards
//!   whether the root is one still, and if not sets it again. Until the bits are taken along, a thread may take a
//!   set for new to it that is not. It enters it once more; that costs time and does no harm.
//!
//! # Invariants
//!   I1 a root that was united, or has a move to itself, is `SUMMED` and has an entry; its summary has the `able` of all
//!      its states, as far as whoever united them told them
//!   I2 next and head are written only with the root locked
//!   I3 what hangs below another has the higher number, so every way leads to a root
//!   I4 a set that dies is a whole component, unless there is a limit of depth; so no dead set is united with another
//!   I5 the ring of a set has the states of both that it was made of
//!
//! # Owed
//!   O1 what was told of either set is known of both, who was in either is in both, and a set whose states are
//!      all done is dead                                  tests: two threads in turn
//!   O2 the same, whoever comes when                      tests: those of `union`, with a breath where it matters
//!
//! # Cost  a card a state; 150 bytes and more for a set of several states that is not dead.

use super::crew::Crew;
use super::{Fairness, Summary};
use spinor_store::{Account, Budget, Cards, Full, Laid};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, SeqCst};

/// The words of a card: the number of what it hangs below (its own, if it is a root) over flags; the number of the
/// next in the ring over the one that a root's next pick begins at, 0 being its own; the threads that entered.
const SET: usize = 0;
const RING: usize = 1;
const THREADS: usize = 2;

const CLAIMED: u64 = 1;
const LOCK: u64 = 2;
const DEAD: u64 = 4;
const DONE: u64 = 8;
const SUMMED: u64 = 16;

const STRIPES: usize = 64;
/// What an entry takes, in a table that may be half empty.
const ENTRY: u64 = 2 * (size_of::<(u32, Summary)>() as u64 + 1);

/// What the threads share.
pub struct Sets {
    pub cards: Cards,
    summaries: Vec<Mutex<HashMap<u32, Summary>>>,
    account: Account,
    n_marks: u32,
    fairness: Fairness,
}

/// One thread's way to them.
#[derive(Clone, Copy)]
pub struct View<'s> {
    sets: &'s Sets,
    crew: &'s Crew,
    me: u64,
}

/// What a thread that comes to a state finds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Claim {
    /// Its component is complete.
    Dead,
    /// The thread has entered its set before.
    Found,
    /// The thread enters its set.
    Entered,
    /// The same, and no other thread was there before.
    New,
    /// It would, if it were allowed to.
    Refused,
}

#[derive(Clone, Copy, Debug)]
pub enum Pick {
    /// A state that is not done.
    State(u32),
    /// All states are done: this thread is the one that saw it, and this is the summary.
    Complete(Option<Summary>),
    /// Another thread saw it.
    Dead,
}

impl Sets {
    pub fn new(budget: &Arc<Budget>, n_marks: u32, fairness: Fairness) -> Result<Sets, Full> {
        let summaries = (0..STRIPES).map(|_| Mutex::default()).collect();
        Ok(Sets { cards: Cards::new(budget)?, summaries, account: budget.account(), n_marks, fairness })
    }

    pub fn view<'s>(&'s self, crew: &'s Crew, thread: usize) -> View<'s> {
        View { sets: self, crew, me: 1 << thread }
    }

    fn stripe(&self, root: u32) -> std::sync::MutexGuard<'_, HashMap<u32, Summary>> {
        self.summaries[root as usize % STRIPES].lock().expect("nothing panics while it is held")
    }

    /// Takes a summary away.
    fn take(&self, root: u32) -> Option<Summary> {
        let taken = self.stripe(root).remove(&root);
        if taken.is_some() {
            self.account.release(ENTRY);
        }
        taken
    }

    /// Adds to the summary of a locked root. What it says now.
    fn add(&self, root: u32, summary: &Summary) -> Summary {
        let mut stripe = self.stripe(root);
        let sum = stripe.entry(root).or_insert_with(|| {
            self.account.charge_anyway(ENTRY);
            *summary
        });
        sum.add(summary);
        *sum
    }

    /// With strong fairness only whole components are: a state that is still missing may be one where somebody is able to
    /// move.
    fn is_accepted(&self, sum: &Summary) -> bool {
        self.fairness != Fairness::Strong && sum.is_accepted(self.n_marks, self.fairness)
    }
}

/// A place where another thread may do something that matters: in tests it often does.
#[cfg(not(test))]
#[inline(always)]
pub fn breath() {}

#[cfg(test)]
pub fn breath() {
    thread_local!(static STATE: std::cell::Cell<u64> = const { std::cell::Cell::new(1) });
    let next = STATE.get().wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(std::process::id().into());
    STATE.set(next);
    if next >> 61 == 0 {
        std::thread::yield_now();
    }
}

fn word(laid: Laid<'_>, n: u32, which: usize) -> &AtomicU64 {
    &laid.card(n)[which]
}

fn above(set: u64) -> u32 {
    (set >> 32) as u32
}

fn root_of(laid: Laid<'_>, mut n: u32) -> u32 {
    let mut set = word(laid, n, SET).load(SeqCst);
    loop {
        let up = above(set);
        debug_assert!(up <= n, "I3");
        if up == n {
            return n;
        }
        breath();
        let next = word(laid, up, SET).load(SeqCst);
        let top = above(next);
        debug_assert!(top <= up, "I3");
        if top == up {
            return up;
        }
        // That it fails does not matter.
        let shorter = u64::from(top) << 32 | set & 0xffff_ffff;
        let _ = word(laid, n, SET).compare_exchange(set, shorter, AcqRel, Relaxed);
        n = top;
        set = word(laid, n, SET).load(SeqCst);
    }
}

fn is_root(laid: Laid<'_>, n: u32) -> bool {
    above(word(laid, n, SET).load(SeqCst)) == n
}

/// `false`: it is not a root any more.
fn lock(laid: Laid<'_>, crew: &Crew, root: u32) -> bool {
    let (word, mut tries) = (word(laid, root, SET), 0u32);
    loop {
        let set = word.load(Acquire);
        if above(set) != root {
            return false;
        }
        if set & LOCK == 0 && word.compare_exchange_weak(set, set | LOCK, Acquire, Relaxed).is_ok() {
            return true;
        }
        tries += 1;
        if tries.is_multiple_of(64) {
            crew.patience();
        }
        std::hint::spin_loop();
    }
}

/// Locks the root of a state's set.
fn lock_root(laid: Laid<'_>, crew: &Crew, n: u32) -> u32 {
    loop {
        let root = root_of(laid, n);
        if lock(laid, crew, root) {
            debug_assert!(is_root(laid, root), "who hangs a root has locked it");
            return root;
        }
    }
}

fn is_locked(laid: Laid<'_>, root: u32) -> bool {
    word(laid, root, SET).load(Relaxed) & LOCK != 0
}

/// Lets go of a root. The flags must not be there yet.
fn unlock(laid: Laid<'_>, root: u32, flags: u64) {
    let before = word(laid, root, SET).fetch_add(flags.wrapping_sub(LOCK), SeqCst);
    debug_assert!(before & LOCK != 0 && before & flags == 0, "it is locked, and the flags are new");
}

fn next(laid: Laid<'_>, n: u32) -> u32 {
    let next = (word(laid, n, RING).load(Relaxed) >> 32) as u32;
    if next == 0 { n } else { next }
}

fn set_next(laid: Laid<'_>, n: u32, to: u32) {
    debug_assert!(is_locked(laid, root_of(laid, n)), "I2");
    let ring = word(laid, n, RING);
    ring.store(u64::from(to) << 32 | ring.load(Relaxed) & 0xffff_ffff, Relaxed);
}

fn head(laid: Laid<'_>, root: u32) -> u32 {
    let head = word(laid, root, RING).load(Relaxed) as u32;
    if head == 0 { root } else { head }
}

fn set_head(laid: Laid<'_>, root: u32, to: u32) {
    debug_assert!(is_locked(laid, root), "I2");
    let ring = word(laid, root, RING);
    ring.store(ring.load(Relaxed) >> 32 << 32 | u64::from(to), Relaxed);
}

/// A ring that is longer is not counted.
const LONG: usize = 32;

/// Of the ring of a locked set.
fn ring_len(laid: Laid<'_>, from: u32) -> usize {
    let (mut at, mut n) = (next(laid, from), 1);
    while at != from && n < LONG {
        at = next(laid, at);
        n += 1;
    }
    n
}

impl View<'_> {
    /// No thread has come to this state.
    #[inline]
    pub fn is_new(self, laid: Laid<'_>, n: u32) -> bool {
        word(laid, n, SET).load(Relaxed) == 0
    }

    #[inline]
    pub fn claim(self, laid: Laid<'_>, n: u32, may_enter: bool) -> Claim {
        debug_assert_ne!(n, 0, "no state has this number");
        let set = word(laid, n, SET);
        let mut root = n;
        if set.load(Acquire) == 0 {
            if !may_enter {
                return Claim::Refused;
            }
            let claimed = u64::from(n) << 32 | CLAIMED;
            breath();
            if set.compare_exchange(0, claimed, SeqCst, SeqCst).is_ok() {
                breath();
                enter(laid, n, self.me);
                return Claim::New;
            }
        }
        if above(set.load(Acquire)) != n {
            root = root_of(laid, n);
        }
        breath();
        // The bits first: those of a set that died before it was united come after the root is dead.
        let threads = word(laid, root, THREADS).load(SeqCst);
        breath();
        if word(laid, root, SET).load(SeqCst) & DEAD != 0 {
            return Claim::Dead;
        }
        if threads & self.me != 0 {
            return Claim::Found;
        }
        if !may_enter {
            return Claim::Refused;
        }
        breath();
        enter(laid, root, self.me);
        Claim::Entered
    }

    pub fn same(self, laid: Laid<'_>, a: u32, b: u32) -> bool {
        loop {
            let (a, b) = (root_of(laid, a), root_of(laid, b));
            breath();
            if a == b {
                return true;
            }
            if is_root(laid, a) {
                return false;
            }
        }
    }

    /// Whether some thread has been there, and its set is not dead.
    pub fn is_live(self, laid: Laid<'_>, n: u32) -> bool {
        word(laid, n, SET).load(Acquire) != 0 && !self.is_dead(laid, n)
    }

    pub fn is_dead(self, laid: Laid<'_>, n: u32) -> bool {
        word(laid, root_of(laid, n), SET).load(SeqCst) & DEAD != 0
    }

    /// Whether it can be seen on the state's own card that its set is dead.
    #[inline]
    pub fn is_known_dead(self, laid: Laid<'_>, n: u32) -> bool {
        word(laid, n, SET).load(Acquire) & DEAD != 0
    }

    pub fn is_done(self, laid: Laid<'_>, n: u32) -> bool {
        word(laid, n, SET).load(Acquire) & DONE != 0
    }

    /// All moves of this state were followed. Whether this is new.
    pub fn done(self, laid: Laid<'_>, n: u32) -> bool {
        let before = word(laid, n, SET).fetch_or(DONE, SeqCst);
        debug_assert!(before & CLAIMED != 0, "who has followed its moves came to it");
        before & DONE == 0
    }

    /// Adds to the summary of a set. What it says now, and whether it is accepted; nothing if the set is dead.
    pub fn tell(self, laid: Laid<'_>, n: u32, summary: &Summary) -> Option<(Summary, bool)> {
        let root = lock_root(laid, self.crew, n);
        let set = word(laid, root, SET).load(Relaxed);
        if set & DEAD != 0 {
            unlock(laid, root, 0);
            return None;
        }
        let sum = self.sets.add(root, summary);
        let accepted = self.sets.is_accepted(&sum);
        unlock(laid, root, SUMMED & !set);
        Some((sum, accepted))
    }

    /// Two sets are one, and this is known of it. What its summary says now.
    pub fn unite(self, laid: Laid<'_>, a: u32, b: u32, summary: &Summary) -> Option<Summary> {
        let crew = self.crew;
        let (root, other) = loop {
            let (a, b) = (root_of(laid, a), root_of(laid, b));
            if a == b {
                return self.tell(laid, a, summary).map(|(sum, _)| sum);
            }
            breath();
            let (low, high) = (a.min(b), a.max(b));
            if !lock(laid, crew, low) {
                continue;
            }
            if lock(laid, crew, high) {
                break (low, high);
            }
            unlock(laid, low, 0);
        };
        breath();
        debug_assert!(root < other, "I3");
        let (to, from) = (head(laid, root), head(laid, other));
        let n_before = if cfg!(debug_assertions) { ring_len(laid, to) + ring_len(laid, from) } else { 0 };
        let after = next(laid, to);
        set_next(laid, to, next(laid, from));
        set_next(laid, from, after);
        debug_assert!(n_before >= LONG || ring_len(laid, to) == n_before, "I5");
        let (set, gone) = (word(laid, root, SET).load(Relaxed), word(laid, other, SET).load(Relaxed));
        debug_assert!((set | gone) & DEAD == 0 || crew.has_limit(), "I4");
        let mut sum = self.sets.add(root, summary);
        if gone & SUMMED != 0
            && let Some(theirs) = self.sets.take(other)
        {
            sum = self.sets.add(root, &theirs);
        }
        // With a limit of depth a set may be dead that is not whole. Threads have left it; before their bits are at the
        // root, the root is dead, too.
        if gone & DEAD != 0 {
            word(laid, root, SET).fetch_or(DEAD, SeqCst);
        }
        breath();
        // Hung below the root, and no longer locked; the flags stay.
        let below = (u64::from(root) << 32).wrapping_sub(u64::from(other) << 32);
        word(laid, other, SET).fetch_add(below.wrapping_sub(LOCK), SeqCst);
        breath();
        let threads = word(laid, other, THREADS).load(SeqCst);
        word(laid, root, THREADS).fetch_or(threads, SeqCst);
        breath();
        debug_assert!(self.sets.stripe(root).contains_key(&root), "I1");
        unlock(laid, root, SUMMED & !set);
        Some(sum)
    }

    /// Something to be done in a set.
    pub fn pick(self, laid: Laid<'_>, n: u32) -> Pick {
        // A state alone, without a move to itself: united or told of, it would be summed.
        let alone = u64::from(n) << 32 | CLAIMED | DONE;
        let set = word(laid, n, SET);
        if set.load(Relaxed) == alone && set.compare_exchange(alone, alone | DEAD, SeqCst, Relaxed).is_ok() {
            return Pick::Complete(None);
        }
        let root = lock_root(laid, self.crew, n);
        let set = word(laid, root, SET).load(Relaxed);
        if set & DEAD != 0 {
            unlock(laid, root, 0);
            return Pick::Dead;
        }
        let is_done = |n: u32| word(laid, n, SET).load(Acquire) & DONE != 0;
        let at = head(laid, root);
        loop {
            let next_one = next(laid, at);
            if !is_done(next_one) {
                debug_assert_eq!(root_of(laid, next_one), root, "I5");
                set_head(laid, root, next_one);
                unlock(laid, root, 0);
                return Pick::State(next_one);
            }
            if next_one == at {
                break;
            }
            set_next(laid, at, next(laid, next_one));
        }
        debug_assert!(is_done(at) && set & CLAIMED != 0, "nothing is left of the ring");
        breath();
        let sum = if set & SUMMED != 0 { self.sets.take(root) } else { None };
        debug_assert!(set & SUMMED == 0 || sum.is_some(), "I1");
        unlock(laid, root, DEAD);
        Pick::Complete(sum)
    }
}

/// A bit at the root, wherever that is in the end.
fn enter(laid: Laid<'_>, mut root: u32, me: u64) {
    loop {
        word(laid, root, THREADS).fetch_or(me, SeqCst);
        breath();
        if is_root(laid, root) {
            return;
        }
        root = root_of(laid, root);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cycles::{Pids, Request};

    fn marked(marks: u64) -> Summary {
        Summary { marks, ..Summary::of_state(Pids::default()) }
    }

    /// Two threads, each in one of the first two of four sets.
    fn with_two(check: impl Fn(Laid<'_>, View<'_>, View<'_>)) {
        let (crew, budget) = (Crew::new(&Request::new(Fairness::None)), Budget::unlimited());
        let sets = Sets::new(&budget, 3, Fairness::None).expect("room");
        let mut hand = sets.cards.hand();
        for n in 1..=4 {
            assert_eq!(hand.number(spinor_store::StateId(100 + u64::from(n))), Ok(n));
        }
        let (p, q) = (sets.view(&crew, 0), sets.view(&crew, 1));
        assert_eq!((p.claim(hand.laid(), 1, true), q.claim(hand.laid(), 2, true)), (Claim::New, Claim::New));
        check(hand.laid(), p, q);
        drop(hand);
        drop(sets);
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn what_was_told_of_either_set_is_known_of_both() {
        for (a, b) in [(1, 2), (2, 1)] {
            with_two(|laid, p, q| {
                assert_eq!(q.tell(laid, a, &marked(1)).map(|(sum, accepted)| (sum.marks, accepted)), Some((1, false)));
                assert_eq!(q.tell(laid, b, &marked(2)).map(|(sum, _)| sum.marks), Some(2));
                assert_eq!(p.unite(laid, a, b, &marked(0)).map(|sum| sum.marks), Some(3));
                assert_eq!(p.unite(laid, a, b, &marked(2)).map(|sum| sum.marks), Some(3));
                assert_eq!(q.tell(laid, b, &marked(4)).map(|(sum, accepted)| (sum.marks, accepted)), Some((7, true)));
            });
        }
    }

    #[test]
    fn who_was_in_either_set_is_in_both() {
        with_two(|laid, p, q| {
            assert_eq!(p.claim(laid, 2, false), Claim::Refused);
            assert_eq!(p.claim(laid, 3, false), Claim::Refused);
            p.claim(laid, 3, true);
            p.unite(laid, 3, 2, &marked(0));
            assert!(p.same(laid, 2, 3) && !p.same(laid, 1, 2));
            assert_eq!((p.claim(laid, 2, true), q.claim(laid, 3, true)), (Claim::Found, Claim::Found));
            assert_eq!((q.claim(laid, 1, true), q.claim(laid, 1, true)), (Claim::Entered, Claim::Found));
        });
    }

    #[test]
    fn a_set_is_dead_when_all_its_states_are_done() {
        with_two(|laid, p, q| {
            (3..=4).for_each(|n| assert_eq!(p.claim(laid, n, true), Claim::New));
            p.unite(laid, 3, 4, &marked(1));
            p.unite(laid, 2, 1, &marked(2));
            p.unite(laid, 4, 1, &marked(0));
            let mut left = vec![1, 2, 3, 4];
            while !left.is_empty() {
                // Whoever asks is given each of them in turn.
                let mut picked: Vec<u32> = left
                    .iter()
                    .map(|_| match q.pick(laid, 3) {
                        Pick::State(n) => n,
                        other => panic!("{other:?}"),
                    })
                    .collect();
                let done = picked[0];
                picked.sort_unstable();
                assert_eq!(picked, left);
                assert!(q.done(laid, done) && !p.done(laid, done));
                left.retain(|n| *n != done);
            }
            assert_eq!(p.claim(laid, 1, true), Claim::Found);
            assert!(matches!(q.pick(laid, 2), Pick::Complete(Some(sum)) if sum.marks == 3));
            assert!(matches!(p.pick(laid, 1), Pick::Dead));
            assert_eq!(p.claim(laid, 1, true), Claim::Dead);
            assert!(p.tell(laid, 1, &marked(7)).is_none());
        });
        with_two(|laid, p, q| {
            assert!(matches!(p.pick(laid, 1), Pick::State(1)));
            p.done(laid, 1);
            assert!(matches!(p.pick(laid, 1), Pick::Complete(None)));
            assert_eq!((p.claim(laid, 1, true), q.claim(laid, 1, true)), (Claim::Dead, Claim::Dead));
        });
    }
}
