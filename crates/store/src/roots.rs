//! The set of pairs (left root, right root) of one class: one 32-bit slot a state.
//!
//! # The argument
//!   A pair of `m` bits is mixed by a bijection of `m` bits. There are `f * 2^k` lines of 16 slots, with `f` 1 or 3.
//!   The result times `f` has as its top bits the pair's *home*, one of the lines; the rest, the *remainder* of `m - k`
//!   bits, is what a slot keeps. A pair lies in the first of the three lines from
//!   its home on that had an empty slot when it came, and its slot says which of the three (1, 2, 3; an empty
//!   slot is 0). So a slot and its place give back the pair, and no two pairs have equal slots in equal places.
//!   Lines fill from the front and never empty, so a search ends at an empty slot or after three full lines;
//!   pairs that met three full lines are in the stash, a few ordinary sets, each behind a lock.
//!
//!   Putting is one compare-and-swap of an empty slot. Two threads that put the same pair try the same slots in
//!   the same order; the one that loses a slot looks at what is now in it before going on.
//!
//!   Growth adds half as many lines, or a third, where they are: from 2^k to 3 * 2^(k-1) to 2^(k+1). The step by half
//!   needs a bit of the remainder more than there was; where there is none, and where the table is small, the lines
//!   double. The fields' widths follow the node numbers; when one outgrows its field, all pairs are mixed anew, into
//!   another table.
//!
//! # Moving
//!   Growth leaves the pairs where they are, and the threads move them together (`help`) before any of them looks at
//!   the table again. Homes keep their order, so the pairs of the lines from `a` to `b` go to those from `r a` to
//!   `r b`, where `r` is how many times as many lines there are now: that is a part of the work, and whoever takes it
//!   has these lines for itself. A pair whose place is just outside is laid aside until the end. The uppermost lines,
//!   down to the `r`-th part of them, go to lines that did not exist; those below go to lines that are empty by then;
//!   and so on down to a few lines, whose pairs are laid aside too.
//!   Into another table there is no such order: pairs are put there as they always are.
//!
//! # Invariants
//!   I1 a pair is in the stash only if its three lines are full
//!   I2 a remainder has at most 30 bits
//!   I3 a line that has an empty slot has only empty slots after it
//!   I4 while pairs are moved, a line is read or written by the thread alone that has it in its part; and a part is
//!      begun when those are done whose lines it fills
//!
//! # Cost
//!   4 bytes a slot, at most 92 % full: 4.3 to 6.5 a state, to 8.7 in a small table.
//!   A line is one cache line, and when full about one search
//!   in ten looks at a second one.
//!
//! # Owed
//!   O1 a pair is new once, in all schedules of two threads    tests: `loom_*`
//!   O2 no pair is lost or doubled, whoever moves which part   tests: `loom_*`, threads that help each other

use crate::memory::{Line, Region, prefetch_to_write};
use crate::nodes::NODE_BITS;
use crate::sync::{AcqRel, Acquire, Apart, AtomicU32, Relaxed, Release, wait_until};
use crate::{Account, Full};
use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;
use std::sync::{Arc, Mutex};

const SLOTS: usize = 16;
const LINES: u32 = 3;
const REMAINDER_BITS: u32 = 30;
const FIRST_SIZE: Size = Size { factor: 1, bits: if cfg!(loom) { 0 } else { 4 } };
/// Smaller tables double: moving the pairs takes time, and there is little memory to save.
const STEP_BITS: u32 = if cfg!(test) { 6 } else { 18 };
const MAX_LINES: usize = 1 << 32;
const FIRST_FIELD_BITS: u32 = (FIRST_SIZE.bits + REMAINDER_BITS) / 2;
/// The lines of a part: some ten microseconds of work.
const PART: usize = if cfg!(loom) {
    1
} else if cfg!(test) {
    8
} else {
    256
};
/// So few lines are not worth a part.
const FEW: usize = if cfg!(loom) {
    1
} else if cfg!(test) {
    16
} else {
    256
};
/// So few parts are not worth a second thread.
const FEW_PARTS: usize = if cfg!(test) { 1 } else { 8 };
/// Pairs that are put into another table together.
const BATCH: usize = 64;
/// What an entry of the stash may take: 9 bytes at 7/16 of its table's capacity, and the table twice while it grows.
const STASH_BYTES: u64 = 32;

/// Whether pairs are to be moved.
const STILL: u32 = 0;
const MOVING: u32 = 1;
/// Who moved some panicked.
const BROKEN: u32 = 2;

/// Of the pair, whose fields have the widths that the table has now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mixed(u64);

/// How many homes there are: `factor << bits`. The factor is 1 or 3.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Size {
    factor: u64,
    bits: u32,
}

impl Size {
    fn homes(self) -> usize {
        (self.factor as usize) << self.bits
    }

    /// With those behind the last home.
    fn lines(self) -> usize {
        self.homes() + LINES as usize - 1
    }

    /// The next size for pairs of so many bits.
    fn next(self, pair_bits: u32) -> Size {
        match self {
            Size { factor: 1, bits } if bits >= STEP_BITS && pair_bits < bits + REMAINDER_BITS => {
                Size { factor: 3, bits: bits - 1 }
            }
            Size { factor: 1, bits } => Size { factor: 1, bits: bits + 1 },
            Size { bits, .. } => Size { factor: 1, bits: bits + 2 },
        }
    }

    /// This one, or the least greater one that holds pairs of so many bits.
    fn for_pairs(self, pair_bits: u32) -> Size {
        let least = pair_bits.saturating_sub(REMAINDER_BITS); // I2
        match self {
            Size { bits, .. } if least <= bits => self,
            Size { factor: 1, .. } => Size { factor: 1, bits: least },
            Size { bits, .. } => Size { factor: 1, bits: least.max(bits + 2) },
        }
    }

    /// More states than this need growth. The middle size is left sooner: a full table is slower, and the next one is
    /// then as empty at first as the middle one was.
    fn limit(self) -> u64 {
        (SLOTS * self.homes()) as u64 * if self.factor == 1 { 92 } else { 82 } / 100
    }
}

/// See the module.
#[derive(Debug)]
pub struct Roots {
    lines: Region<Line>,
    size: Size,
    left_bits: u32,
    right_bits: u32,
    limit: u64,
    /// Whether growth was refused: then the table is filled further.
    stretched: bool,
    stash: Stash,
    motion: AtomicU32,
    moving: Mutex<Option<Arc<Move>>>,
    /// Do not mix: for tests that nothing but the speed depends on it.
    weak: bool,
}

/// What growth left to do.
#[derive(Debug)]
struct Move {
    /// What the pairs' places are to be understood by.
    size: Size,
    /// The table that they come from, if it is not this one.
    from: Option<Roots>,
    parts: Vec<Part>,
    /// The next part to be taken.
    next: Apart<AtomicU32>,
    done: Apart<AtomicU32>,
    /// Pairs laid aside.
    late: Mutex<Vec<Mixed>>,
}

/// Lines to be emptied when so many of the parts before are done.
#[derive(Debug)]
struct Part {
    lines: Range<usize>,
    after: u32,
}

impl Move {
    fn new(size: Size, from: Option<Roots>, parts: Vec<Part>, late: Vec<Mixed>) -> Move {
        let count = || Apart(AtomicU32::new(0));
        Move { size, from, parts, next: count(), done: count(), late: Mutex::new(late) }
    }
}

/// Nobody waits for a thread that panics.
struct Alarm<'a>(&'a AtomicU32);

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(BROKEN, Release);
        }
    }
}

/// The lines from `a` on go to those from here on.
fn goes_to(a: usize, old: Size, new: Size) -> usize {
    (a * new.homes()).div_ceil(old.homes())
}

/// What is to be moved when the table grows, from the end on, and how many lines are left.
fn parts_of(old: Size, new: Size) -> (Vec<Part>, usize) {
    let mut parts = Vec::new();
    let mut end = old.lines();
    while end > FEW {
        // What goes to lines from `end` on.
        let start = (end * old.homes()).div_ceil(new.homes());
        let after = parts.len() as u32;
        let cut = |from: usize| Part { lines: from..(from + PART).min(end), after };
        parts.extend((start..end).step_by(PART).map(cut));
        end = start;
    }
    (parts, end)
}

/// Pairs that found no line. Which set one is in depends on the pair alone.
#[derive(Debug)]
struct Stash([Apart<Mutex<Set>>; 16]);

type Set = HashSet<u64, BuildHasherDefault<Spread>>;

/// Pairs are mixed already; this brings their bits to where a set looks.
#[derive(Debug, Default)]
struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("a pair is a number");
    }

    fn write_u64(&mut self, mixed: u64) {
        self.0 = mixed.wrapping_mul(ODD[0]).rotate_left(32);
    }
}

impl Stash {
    fn new() -> Stash {
        Stash(std::array::from_fn(|_| Apart(Mutex::default())))
    }

    /// Whether the pair is new; then `pay` is asked first.
    fn put(&self, Mixed(mixed): Mixed, pay: impl FnOnce() -> Result<(), Full>) -> Result<bool, Full> {
        let nth = mixed.wrapping_mul(ODD[1]) >> 60;
        let mut set = self.0[nth as usize].0.lock().expect("no panic while it is locked");
        if set.contains(&mixed) {
            return Ok(false);
        }
        pay()?;
        set.insert(mixed);
        Ok(true)
    }

    fn all(&self) -> Vec<Mixed> {
        let sets = self.0.iter().map(|Apart(set)| set.lock().expect("no panic while it is locked"));
        sets.flat_map(|set| set.iter().map(|&mixed| Mixed(mixed)).collect::<Vec<_>>()).collect()
    }

    fn len(&self) -> usize {
        self.0.iter().map(|Apart(set)| set.lock().expect("no panic while it is locked").len()).sum()
    }
}

impl Roots {
    pub fn new(weak: bool, account: &Account) -> Result<Self, Full> {
        Roots::with_size(FIRST_SIZE, FIRST_FIELD_BITS, FIRST_FIELD_BITS, weak, account)
    }

    fn with_size(size: Size, left: u32, right: u32, weak: bool, account: &Account) -> Result<Self, Full> {
        assert!(left + right - size.bits <= REMAINDER_BITS, "I2");
        let mut lines = Region::new(MAX_LINES + LINES as usize - 1)?;
        lines.grow_to(size.lines(), account)?;
        Ok(Roots {
            lines,
            size,
            left_bits: left,
            right_bits: right,
            limit: size.limit(),
            stretched: false,
            stash: Stash::new(),
            motion: AtomicU32::new(STILL),
            moving: Mutex::default(),
            weak,
        })
    }

    /// Whether the fields are wide enough for this pair.
    #[inline]
    pub fn fits(&self, left: u32, right: u32) -> bool {
        (left >> self.left_bits) | (right >> self.right_bits) == 0
    }

    /// More states than this need growth.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Starts fetching what `put` looks at. The pair must fit; the answer holds until the table is changed.
    #[inline(always)]
    pub fn prepare(&self, left: u32, right: u32) -> Mixed {
        let mixed = self.mix(left, right);
        prefetch_to_write(&self.lines[self.home(mixed)]);
        mixed
    }

    /// Whether the pair is new.
    #[inline(always)]
    pub fn put(&self, mixed: Mixed, account: &Account) -> Result<bool, Full> {
        // Not where each load is another schedule.
        debug_assert!(cfg!(loom) || self.motion.load(Relaxed) == STILL, "what growth left is done");
        match self.put_into_lines(mixed) {
            Some(new) => Ok(new),
            None => self.put_into_stash(mixed, account),
        }
    }

    /// Whether the pair is new, unless there is no place.
    #[inline(always)]
    fn put_into_lines(&self, mixed: Mixed) -> Option<bool> {
        let (home, remainder) = (self.home(mixed), self.remainder(mixed));
        for way in 1..=LINES {
            let wanted = way << REMAINDER_BITS | remainder;
            let line = &self.lines[home + way as usize - 1];
            let (found, empty) = line.find(wanted);
            if found != 0 {
                return Some(false);
            }
            // The first empty slot; those before it are other pairs' for good.
            let first = empty.trailing_zeros() as usize;
            for slot in line.0.get(first..).unwrap_or_default() {
                match slot.compare_exchange(0, wanted, AcqRel, Acquire) {
                    Ok(_) => return Some(true),
                    Err(theirs) if theirs == wanted => return Some(false),
                    Err(_) => {}
                }
            }
        }
        None
    }

    /// More room, where it is; `help` is to be called before anything else is. When memory is refused the table is
    /// filled to the brim first.
    #[cold]
    pub fn grow(&mut self, account: &Account) -> Result<(), Full> {
        let pair_bits = self.left_bits + self.right_bits;
        let (old, new) = (self.size, self.size.next(pair_bits));
        debug_assert_eq!(self.motion.load(Relaxed), STILL, "what growth left is done");
        assert!(new.bits <= pair_bits, "a table has fewer slots than there are pairs");
        assert!(pair_bits - new.bits <= REMAINDER_BITS, "I2");
        if new.homes() > MAX_LINES {
            return Err(Full::Numbers);
        }
        if let Err(full) = self.lines.grow_to(new.lines(), account) {
            if self.stretched {
                return Err(full);
            }
            self.stretched = true;
            self.limit = (SLOTS * old.homes()) as u64 / 100 * 97;
            return Ok(());
        }
        (self.size, self.limit, self.stretched) = (new, new.limit(), false);
        let mut late = self.take_stash(account);
        let (parts, rest) = parts_of(old, new);
        // Where there are no parts nothing is written before all of these are read; where there are some, they fill
        // lines above.
        (0..rest).for_each(|i| late.extend(self.empty(i, old)));
        self.begin(Move::new(old, None, parts, late), account);
        Ok(())
    }

    /// Wider fields, if this pair does not fit; `help` is to be called before anything else is.
    #[cold]
    pub fn widen(&mut self, left: u32, right: u32, account: &Account) -> Result<(), Full> {
        if self.fits(left, right) {
            return Ok(());
        }
        debug_assert_eq!(self.motion.load(Relaxed), STILL, "what growth left is done");
        let mut left_bits = self.left_bits.max(u32::BITS - left.leading_zeros());
        let mut right_bits = self.right_bits.max(u32::BITS - right.leading_zeros());
        assert!(left_bits.max(right_bits) <= NODE_BITS);
        // More bits than needed, as long as they cost nothing: widening is not cheap. One is left for the step by half.
        let most_bits = self.size.bits + REMAINDER_BITS - u32::from(self.size.factor == 1);
        while left_bits + right_bits < most_bits && left_bits.min(right_bits) < NODE_BITS {
            let narrow = if left_bits < right_bits { &mut left_bits } else { &mut right_bits };
            *narrow += 1;
        }
        let size = self.size.for_pairs(left_bits + right_bits);
        let wide = Roots::with_size(size, left_bits, right_bits, self.weak, account)?;
        let late = self.take_stash(account).into_iter().map(|mixed| self.unmix(mixed));
        let late = late.map(|(left, right)| wide.mix(left, right)).collect();
        let n_lines = self.size.lines();
        let cut = |from: usize| Part { lines: from..(from + PART).min(n_lines), after: 0 };
        let parts = (0..n_lines).step_by(PART).map(cut).collect();
        debug_assert!(wide.fits(left, right), "the fields are wide enough");
        let old = std::mem::replace(self, wide);
        self.begin(Move::new(old.size, Some(old), parts, late), account);
        Ok(())
    }

    fn begin(&mut self, work: Move, account: &Account) {
        let n_parts = work.parts.len();
        self.moving = Mutex::new(Some(Arc::new(work)));
        self.motion.store(MOVING, Relaxed);
        if n_parts <= FEW_PARTS {
            self.help(account);
        }
    }

    /// Moves pairs that growth left where they were, and comes back when all are moved.
    #[inline]
    pub fn help(&self, account: &Account) {
        if self.motion.load(Acquire) != STILL {
            self.take_parts(account);
        }
    }

    #[cold]
    fn take_parts(&self, account: &Account) {
        let work = self.moving.lock().expect("no panic while it is locked").clone();
        let _alarm = Alarm(&self.motion);
        let wait = |so: &dyn Fn() -> bool| {
            wait_until(|| {
                assert_ne!(self.motion.load(Acquire), BROKEN, "a thread that moved pairs panicked");
                so()
            });
        };
        // There is none if somebody has just finished.
        if let Some(work) = work {
            let n_parts = work.parts.len() as u32;
            loop {
                // The last one to be taken is what was laid aside.
                let n = work.next.0.fetch_add(1, Relaxed);
                if n > n_parts {
                    break;
                }
                let part = work.parts.get(n as usize);
                let after = part.map_or(n_parts, |part| part.after);
                wait(&|| work.done.0.load(Acquire) >= after); // I4
                match (part, &work.from) {
                    (Some(Part { lines, .. }), None) => self.spread(lines.clone(), &work, account),
                    (Some(Part { lines, .. }), Some(from)) => self.mix_anew(lines.clone(), from, account),
                    (None, from) => {
                        let late = std::mem::take(&mut *work.late.lock().expect("no panic while it is locked"));
                        late.into_iter().for_each(|mixed| self.put_anyway(mixed, account));
                        account.release(from.as_ref().map_or(0, |from| from.lines.bytes()));
                        *self.moving.lock().expect("no panic while it is locked") = None;
                        self.motion.store(STILL, Release);
                    }
                }
                work.done.0.fetch_add(1, AcqRel);
            }
        }
        wait(&|| self.motion.load(Acquire) == STILL);
    }

    /// Moves the pairs of these lines of a table that has grown.
    fn spread(&self, lines: Range<usize>, work: &Move, account: &Account) {
        let to = |i: usize| goes_to(i, work.size, self.size).min(self.size.lines());
        let own = to(lines.start)..if lines.end == work.size.lines() { self.size.lines() } else { to(lines.end) };
        // How full each line is: cheaper than to look.
        let mut used = vec![0; own.len()];
        let is_empty = |i: usize| self.lines[i].0.iter().all(|slot| slot.load(Relaxed) == 0);
        debug_assert!(own.start >= lines.end, "I4: what is filled is not what is emptied");
        debug_assert!(cfg!(loom) || own.clone().all(is_empty), "I4");
        let mut late = Vec::new();
        for mixed in lines.flat_map(|i| self.empty(i, work.size)) {
            match self.place(mixed, &own, &mut used) {
                Placed::There => {}
                Placed::Outside => late.push(mixed),
                Placed::Nowhere => self.stash_anyway(mixed, account),
            }
        }
        work.late.lock().expect("no panic while it is locked").append(&mut late);
    }

    /// Puts the pairs of these lines of another table.
    fn mix_anew(&self, lines: Range<usize>, from: &Roots, account: &Account) {
        let mut batch = Vec::with_capacity(BATCH + SLOTS);
        let put = |batch: &mut Vec<Mixed>| batch.drain(..).for_each(|mixed| self.put_anyway(mixed, account));
        for i in lines {
            for (left, right) in from.used(i).map(|mixed| from.unmix(mixed)) {
                batch.push(self.prepare(left, right));
            }
            if batch.len() >= BATCH {
                put(&mut batch);
            }
        }
        put(&mut batch);
    }

    /// Puts what is not there. Moving must not fail half-way, so the few pairs that find no line are charged whether
    /// there is room or not.
    fn put_anyway(&self, mixed: Mixed, account: &Account) {
        if self.put_into_lines(mixed).is_none() {
            self.stash_anyway(mixed, account);
        }
    }

    #[cold]
    fn stash_anyway(&self, mixed: Mixed, account: &Account) {
        let new = self.stash.put(mixed, || {
            account.charge_anyway(STASH_BYTES);
            Ok(())
        });
        debug_assert_eq!(new, Ok(true), "what is moved is nowhere else");
    }

    /// How many pairs did not find a place in their lines.
    pub fn n_stashed(&self) -> usize {
        self.stash.len()
    }

    /// All pairs, in no order.
    #[cfg(all(test, not(loom)))]
    fn pairs(&self) -> impl Iterator<Item = (u32, u32)> {
        let slots = (0..self.size.lines()).flat_map(|i| self.used(i));
        slots.chain(self.stash.all()).map(|mixed| self.unmix(mixed))
    }

    /// The pairs of a line.
    fn used(&self, i: usize) -> impl Iterator<Item = Mixed> {
        let slots = self.lines[i].0.iter().map(|slot| slot.load(Relaxed)).take_while(|&slot| slot != 0); // I3
        slots.map(move |slot| self.mixed_at(i, slot, self.size))
    }

    /// The pairs of a line, which has none after that.
    #[inline(always)]
    fn empty(&self, i: usize, size: Size) -> impl Iterator<Item = Mixed> {
        let slots = self.lines[i].0.each_ref().map(|slot| {
            let there = slot.load(Relaxed);
            slot.store(0, Relaxed);
            there
        });
        debug_assert!(slots.iter().skip_while(|slot| **slot != 0).all(|slot| *slot == 0), "I3");
        slots.into_iter().take_while(|&slot| slot != 0).map(move |slot| self.mixed_at(i, slot, size)) // I3
    }

    #[inline(always)]
    fn mixed_at(&self, i: usize, slot: u32, size: Size) -> Mixed {
        let home = (i + 1) as u64 - u64::from(slot >> REMAINDER_BITS);
        let remainder = u64::from(slot & ((1 << REMAINDER_BITS) - 1));
        let product = home << (self.left_bits + self.right_bits - size.bits) | remainder;
        debug_assert!(slot >> REMAINDER_BITS != 0 && product.is_multiple_of(size.factor), "a slot that is some pair's");
        Mixed(if size.factor == 1 { product } else { product / 3 })
    }

    /// Puts what is not there into the lines of a part, of which `used` says how many slots of each are.
    #[inline(always)]
    fn place(&self, mixed: Mixed, own: &Range<usize>, used: &mut [u8]) -> Placed {
        let (home, remainder) = (self.home(mixed), self.remainder(mixed));
        for way in 1..=LINES {
            let at = home + way as usize - 1;
            // Before the first, too.
            let Some(used) = used.get_mut(at.wrapping_sub(own.start)) else { return Placed::Outside };
            if let Some(slot) = self.lines[at].0.get(usize::from(*used)) {
                slot.store(way << REMAINDER_BITS | remainder, Relaxed);
                *used += 1;
                return Placed::There;
            }
        }
        Placed::Nowhere
    }

    #[cold]
    fn put_into_stash(&self, mixed: Mixed, account: &Account) -> Result<bool, Full> {
        let lines = &self.lines[self.home(mixed)..][..LINES as usize];
        debug_assert!(lines.iter().all(|line| line.0.iter().all(|slot| slot.load(Relaxed) != 0)), "I1");
        self.stash.put(mixed, || account.charge(STASH_BYTES))
    }

    fn take_stash(&mut self, account: &Account) -> Vec<Mixed> {
        let stash = std::mem::replace(&mut self.stash, Stash::new()).all();
        account.release(stash.len() as u64 * STASH_BYTES);
        stash
    }

    #[inline(always)]
    fn home(&self, Mixed(mixed): Mixed) -> usize {
        ((mixed * self.size.factor) >> (self.left_bits + self.right_bits - self.size.bits)) as usize
    }

    #[inline(always)]
    fn remainder(&self, Mixed(mixed): Mixed) -> u32 {
        let bits = self.left_bits + self.right_bits - self.size.bits;
        ((mixed * self.size.factor) & ((1 << bits) - 1)) as u32
    }

    #[inline(always)]
    fn mix(&self, left: u32, right: u32) -> Mixed {
        debug_assert!(self.fits(left, right));
        let pair = u64::from(left) << self.right_bits | u64::from(right);
        Mixed(if self.weak { pair } else { mix(pair, self.left_bits + self.right_bits) })
    }

    fn unmix(&self, Mixed(mixed): Mixed) -> (u32, u32) {
        let pair = if self.weak { mixed } else { unmix(mixed, self.left_bits + self.right_bits) };
        ((pair >> self.right_bits) as u32, (pair & ((1 << self.right_bits) - 1)) as u32)
    }
}

/// Where a pair went.
enum Placed {
    There,
    /// Nowhere yet: its line is another part's.
    Outside,
    /// Its lines are full.
    Nowhere,
}

const ODD: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xd6e8_feb8_6659_fd93];
/// Their inverses modulo 2^64, and so modulo every smaller power.
const INVERSE: [u64; 2] = [inverse(ODD[0]), inverse(ODD[1])];

const fn inverse(odd: u64) -> u64 {
    // Newton: each round doubles the number of right bits, and `odd` is right to three.
    let mut x = odd;
    let mut round = 0;
    while round < 5 {
        x = x.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(x)));
        round += 1;
    }
    x
}

/// A bijection of the numbers of `bits` bits, whose top bits depend on all. The shift is at least half the width,
/// so that shifting twice gives nothing and the step undoes itself.
#[inline(always)]
fn mix(mut x: u64, bits: u32) -> u64 {
    let (mask, shift) = ((1 << bits) - 1, bits.div_ceil(2));
    x ^= x >> shift;
    x = x.wrapping_mul(ODD[0]) & mask;
    x ^= x >> shift;
    x = x.wrapping_mul(ODD[1]) & mask;
    x ^ x >> shift
}

fn unmix(mut x: u64, bits: u32) -> u64 {
    let (mask, shift) = ((1 << bits) - 1, bits.div_ceil(2));
    x ^= x >> shift;
    x = x.wrapping_mul(INVERSE[1]) & mask;
    x ^= x >> shift;
    x = x.wrapping_mul(INVERSE[0]) & mask;
    x ^ x >> shift
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::Budget;
    use crate::testing::Rng;
    use std::collections::BTreeSet;

    #[test]
    fn mixing_can_be_undone() {
        for bits in 2..=58 {
            let mut rng = Rng(u64::from(bits));
            for _ in 0..1000 {
                let x = rng.next() & ((1 << bits) - 1);
                let mixed = mix(x, bits);
                assert!(mixed < 1 << bits);
                assert_eq!(unmix(mixed, bits), x);
            }
        }
    }

    fn check(weak: bool, n: u64, pair: impl Fn(&mut Rng) -> (u32, u32)) -> Roots {
        let account = Budget::unlimited().account();
        let mut roots = Roots::new(weak, &account).expect("room");
        let mut truth = BTreeSet::new();
        let mut rng = Rng(n);
        for _ in 0..n {
            let (left, right) = pair(&mut rng);
            roots.widen(left, right, &account).expect("room");
            roots.help(&account);
            assert_eq!(roots.put(roots.prepare(left, right), &account), Ok(truth.insert((left, right))));
            if truth.len() as u64 > roots.limit() {
                roots.grow(&account).expect("room");
                roots.help(&account);
            }
        }
        assert!(truth.iter().all(|&(left, right)| roots.put(roots.prepare(left, right), &account) == Ok(false)));
        let mut all: Vec<_> = roots.pairs().collect();
        all.sort_unstable();
        assert!(all.iter().eq(truth.iter()));
        assert_eq!(account.held(), roots.lines.bytes() + roots.n_stashed() as u64 * STASH_BYTES);
        roots
    }

    #[test]
    fn it_agrees_with_a_set_through_growth_and_widening() {
        for bits in [3, 8, 14, 15, 20, 24] {
            let pair = |rng: &mut Rng| (rng.below(1 << bits) as u32, rng.below(1 << (bits / 2)) as u32);
            check(false, 50_000, pair);
            check(false, 50_000, |rng| (pair(rng).1, pair(rng).0));
        }
        check(false, 30_000, |rng| {
            let bits = rng.below(22);
            (rng.below(1 << bits) as u32, rng.below(1 << bits) as u32)
        });
        check(true, 3000, |rng| (rng.below(300) as u32, rng.below(300) as u32));
    }

    #[test]
    fn a_size_is_followed_by_one_and_a_half_or_a_third_more() {
        let size = |factor, bits| Size { factor, bits };
        assert_eq!(size(1, STEP_BITS).next(STEP_BITS + 29), size(3, STEP_BITS - 1));
        assert_eq!(size(1, STEP_BITS).next(STEP_BITS + 30), size(1, STEP_BITS + 1), "I2");
        assert_eq!(size(1, STEP_BITS - 1).next(20), size(1, STEP_BITS));
        assert_eq!(size(3, STEP_BITS - 1).next(STEP_BITS + 29), size(1, STEP_BITS + 1));
        assert_eq!(size(1, 9).for_pairs(39), size(1, 9));
        assert_eq!(size(1, 9).for_pairs(40), size(1, 10));
        assert_eq!(size(3, 8).for_pairs(38), size(3, 8));
        assert_eq!(size(3, 8).for_pairs(39), size(1, 10), "not fewer lines than before");
        assert_eq!(size(3, 8).for_pairs(42), size(1, 12));
        for (old, new) in [(size(1, 12), size(3, 11)), (size(3, 11), size(1, 13))] {
            assert_eq!(old.next(40), new);
            let per_state = (new.lines() * SLOTS * 4) as f64 / old.limit() as f64;
            assert!(per_state < 6.55, "{per_state}");
        }
    }

    /// The three steps, each in a table filled to its limit, and wider fields in a table of the middle size.
    #[test]
    fn nothing_is_lost_from_one_size_to_the_next() {
        let account = Budget::unlimited().account();
        for (factor, bits, fields, after) in [(1, 8, 18, 3), (1, 8, 19, 1), (3, 7, 18, 1)] {
            let size = Size { factor, bits };
            let mut roots = Roots::with_size(size, fields, fields, false, &account).expect("room");
            let mut truth = BTreeSet::new();
            let mut rng = Rng(u64::from(fields));
            while truth.len() as u64 <= size.limit() {
                let pair = (rng.below(1 << fields) as u32, rng.below(1 << fields) as u32);
                assert_eq!(roots.put(roots.prepare(pair.0, pair.1), &account), Ok(truth.insert(pair)));
            }
            assert!(roots.n_stashed() * 100 < truth.len() * 4, "{}", roots.n_stashed());
            let same = |roots: &Roots| {
                let all: BTreeSet<_> = roots.pairs().collect();
                all == truth && roots.pairs().count() == truth.len()
            };
            assert!(same(&roots));
            if factor == 3 {
                roots.widen(1 << fields, 0, &account).expect("room");
                roots.help(&account);
                assert!(roots.size == size && roots.left_bits > fields && same(&roots));
            }
            roots.grow(&account).expect("room");
            roots.help(&account);
            assert_eq!(roots.size.factor, after);
            assert!(same(&roots) && roots.n_stashed() * 100 < truth.len());
            let known = |&(left, right): &(u32, u32)| roots.put(roots.prepare(left, right), &account) == Ok(false);
            assert!(truth.iter().all(known));
        }
    }

    /// I4: every line is in one part or left over; a part fills lines that no other part of its round and no part
    /// before it reads or fills, and that are empty by then.
    #[test]
    fn parts_do_not_meet() {
        let size = |factor, bits| Size { factor, bits };
        for bits in 1..12 {
            for (old, new) in [
                (size(1, bits), size(3, bits - 1)),
                (size(1, bits), size(1, bits + 1)),
                (size(3, bits), size(1, bits + 2)),
            ] {
                let (parts, rest) = parts_of(old, new);
                assert!(rest <= FEW || parts.is_empty());
                // What is in each line: pairs in their old places, nothing, pairs in their new places.
                let (mut old_ones, mut new_ones) = (vec![false; new.lines()], vec![false; new.lines()]);
                old_ones[rest..old.lines()].fill(true);
                let (mut n_done, mut emptied) = (0, Vec::new());
                for (n, part) in parts.iter().enumerate() {
                    if part.after > n_done {
                        n_done = part.after;
                        assert_eq!(n_done as usize, n);
                        emptied.drain(..).for_each(|i: usize| old_ones[i] = false);
                    }
                    assert!(part.lines.clone().all(|i| old_ones[i] && !new_ones[i] && !emptied.contains(&i)));
                    emptied.extend(part.lines.clone());
                    let to = |i: usize| goes_to(i, old, new).min(new.lines());
                    for i in to(part.lines.start)..to(part.lines.end) {
                        assert!(!old_ones[i] && !new_ones[i]);
                        new_ones[i] = true;
                    }
                }
                emptied.into_iter().for_each(|i| old_ones[i] = false);
                assert!(old_ones.iter().all(|old| !old));
            }
        }
    }

    /// O2
    #[test]
    fn threads_move_pairs_together() {
        for seed in 0..20 {
            let account = Budget::unlimited().account();
            let mut rng = Rng(seed);
            let mut roots = Roots::with_size(Size { factor: 1, bits: 8 }, 18, 18, false, &account).expect("room");
            let mut truth = BTreeSet::new();
            for round in 0..4 {
                while truth.len() as u64 <= roots.limit() {
                    let pair = (rng.below(1 << 18) as u32, rng.below(1 << 18) as u32);
                    assert_eq!(roots.put(roots.prepare(pair.0, pair.1), &account), Ok(truth.insert(pair)));
                }
                if round == 2 {
                    roots.widen(1 << 18, 0, &account).expect("room");
                } else {
                    roots.grow(&account).expect("room");
                }
                std::thread::scope(|scope| {
                    for _ in 0..3 {
                        scope.spawn(|| {
                            roots.help(&account);
                            assert!(truth.iter().all(|&(left, right)| {
                                roots.put(roots.prepare(left, right), &account) == Ok(false)
                            }));
                        });
                    }
                });
                assert_eq!(roots.pairs().count(), truth.len());
                assert_eq!(account.held(), roots.lines.bytes() + roots.n_stashed() as u64 * STASH_BYTES);
            }
        }
    }

    #[test]
    fn the_stash_stays_almost_empty() {
        let roots = check(false, 350_000, |rng| (rng.below(3000) as u32, rng.below(1000) as u32));
        assert!(roots.n_stashed() < 50, "{}", roots.n_stashed());
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use crate::Budget;
    use loom::sync::Arc;

    /// Both threads put the same two pairs, in different orders, into the same line.
    #[test]
    fn loom_a_pair_is_new_once() {
        loom::model(|| {
            let account = std::sync::Arc::new(Budget::unlimited().account());
            let roots = Arc::new(Roots::with_size(Size { factor: 1, bits: 0 }, 2, 2, false, &account).expect("room"));
            let work = |roots: Arc<Roots>, account: std::sync::Arc<Account>, pairs: [(u32, u32); 2]| {
                pairs.map(|(left, right)| roots.put(roots.prepare(left, right), &account).expect("room"))
            };
            let (theirs, paying) = (roots.clone(), account.clone());
            let other = loom::thread::spawn(move || work(theirs, paying, [(1, 2), (3, 0)]));
            let [b, a] = work(roots.clone(), account, [(3, 0), (1, 2)]);
            let [other_a, other_b] = other.join().expect("no panic");
            assert!(a != other_a && b != other_b, "O1");
        });
    }

    /// Of two pairs one is in a line that either thread may have to move, the other is laid aside.
    #[test]
    fn loom_pairs_are_moved_once() {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(2);
        model.check(|| {
            let account = std::sync::Arc::new(Budget::unlimited().account());
            let mut roots = Roots::with_size(Size { factor: 1, bits: 1 }, 2, 2, false, &account).expect("room");
            let at = |home: usize| (0..4).map(|n| (1, n)).find(|&(l, r)| roots.home(roots.mix(l, r)) == home);
            let pairs = [0, 1].map(|home| at(home).expect("a pair with this home"));
            for (left, right) in pairs {
                assert!(roots.put(roots.prepare(left, right), &account).expect("room"));
            }
            roots.grow(&account).expect("room");
            let roots = Arc::new(roots);
            let work = move |roots: Arc<Roots>, account: std::sync::Arc<Account>| {
                roots.help(&account);
                for (left, right) in pairs {
                    assert!(!roots.put(roots.prepare(left, right), &account).expect("room"), "O2");
                }
            };
            let (theirs, paying) = (roots.clone(), account.clone());
            let other = loom::thread::spawn(move || work(theirs, paying));
            work(roots, account);
            other.join().expect("no panic");
        });
    }
}
