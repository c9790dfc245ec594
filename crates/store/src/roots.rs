//! The set of pairs (left root, right root) of one class: one 32-bit slot a state.
//!
//! # The argument
//!   A pair of `m` bits is mixed by a bijection of `m` bits. The top bits of the result choose a *home*, a line of
//!   16 slots; the rest, the *remainder*, is what a slot keeps. A pair lies in the first of the three lines from
//!   its home on that had an empty slot when it came, and its slot says which of the three (1, 2, 3; an empty
//!   slot is 0). So a slot and its place give back the pair, and no two pairs have equal slots in equal places.
//!   Lines fill from the front and never empty, so a search ends at an empty slot or after three full lines;
//!   pairs that met three full lines are in the stash, an ordinary set behind a lock.
//!
//!   Putting is one compare-and-swap of an empty slot. Two threads that put the same pair try the same slots in
//!   the same order; the one that loses a slot looks at what is now in it before going on.
//!
//!   Growth doubles the lines, where they are. The home gains the remainder's top bit, so a pair of line `i` goes
//!   to line `2i - 4` or later: walking from the end, a line is emptied before anything is put there.
//!   The fields' widths follow the node numbers; when one outgrows its field, all pairs are mixed anew.
//!
//! # Invariants
//!   I1 a pair is in the stash only if its three lines are full
//!   I2 a remainder has at most 30 bits: `pair_bits - line_bits <= 30`
//!   I3 a line that has an empty slot has only empty slots after it
//!
//! # Cost
//!   4 bytes a slot, at most 92 % full: 4.3 to 8.7 a state. A line is one cache line, and when full about one search
//!   in ten looks at a second one.
//!
//! # Owed
//!   O1 a pair is new once, in all schedules of two threads    tests: `loom_*`

use crate::memory::{Line, Region, prefetch_to_write};
use crate::nodes::NODE_BITS;
use crate::sync::{AcqRel, Acquire, Apart, Relaxed};
use crate::{Account, Full};
use std::collections::HashSet;
use std::sync::Mutex;

const SLOTS: usize = 16;
const LINES: u32 = 3;
const REMAINDER_BITS: u32 = 30;
const FIRST_LINE_BITS: u32 = if cfg!(loom) { 0 } else { 4 };
const MAX_LINE_BITS: u32 = 32;
const FIRST_FIELD_BITS: u32 = (FIRST_LINE_BITS + REMAINDER_BITS) / 2;
/// What an entry of the stash may take: 9 bytes at 7/16 of its table's capacity, and the table twice while it grows.
const STASH_BYTES: u64 = 32;

/// Of the pair, whose fields have the widths that the table has now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mixed(u64);

/// See the module.
#[derive(Debug)]
pub struct Roots {
    lines: Region<Line>,
    line_bits: u32,
    left_bits: u32,
    right_bits: u32,
    /// More states than this need growth.
    limit: u64,
    /// Whether growth was refused: then the table is filled further.
    stretched: bool,
    stash: Apart<Mutex<HashSet<u64>>>,
    /// Do not mix: for tests that nothing but the speed depends on it.
    weak: bool,
}

impl Roots {
    pub fn new(weak: bool, account: &Account) -> Result<Self, Full> {
        Roots::with_bits(FIRST_LINE_BITS, FIRST_FIELD_BITS, FIRST_FIELD_BITS, weak, account)
    }

    fn with_bits(line_bits: u32, left: u32, right: u32, weak: bool, account: &Account) -> Result<Self, Full> {
        assert!(left + right - line_bits <= REMAINDER_BITS, "I2");
        let mut lines = Region::new((1 << MAX_LINE_BITS) + 2)?;
        lines.grow_to((1 << line_bits) + 2, account)?;
        let stash = Apart(Mutex::default());
        let (left_bits, right_bits) = (left, right);
        let limit = normal_limit(line_bits);
        Ok(Roots { lines, line_bits, left_bits, right_bits, limit, stretched: false, stash, weak })
    }

    /// Whether the fields are wide enough for this pair.
    #[inline]
    pub fn fits(&self, left: u32, right: u32) -> bool {
        (left >> self.left_bits) | (right >> self.right_bits) == 0
    }

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
        let (home, remainder) = (self.home(mixed), self.remainder(mixed));
        for way in 1..=LINES {
            let wanted = way << REMAINDER_BITS | remainder;
            let line = &self.lines[home + way as usize - 1];
            let (found, empty) = line.find(wanted);
            if found != 0 {
                return Ok(false);
            }
            // The first empty slot; those before it are other pairs' for good.
            let first = empty.trailing_zeros() as usize;
            for slot in line.0.get(first..).unwrap_or_default() {
                match slot.compare_exchange(0, wanted, AcqRel, Acquire) {
                    Ok(_) => return Ok(true),
                    Err(theirs) if theirs == wanted => return Ok(false),
                    Err(_) => {}
                }
            }
        }
        self.put_into_stash(mixed, account)
    }

    /// Twice the room, where it is. When memory is refused the table is filled to the brim first.
    #[cold]
    pub fn grow(&mut self, account: &Account) -> Result<(), Full> {
        let pair_bits = self.left_bits + self.right_bits;
        assert!(self.line_bits < pair_bits, "a table has fewer slots than there are pairs");
        let old_lines = (1 << self.line_bits) + LINES as usize - 1;
        if self.line_bits == MAX_LINE_BITS {
            return Err(Full::Numbers);
        }
        if let Err(full) = self.lines.grow_to((2 << self.line_bits) + LINES as usize - 1, account) {
            if self.stretched {
                return Err(full);
            }
            self.stretched = true;
            self.limit = (16 << self.line_bits) / 100 * 97;
            return Ok(());
        }
        let old_bits = self.line_bits;
        self.line_bits += 1;
        self.limit = normal_limit(self.line_bits);
        self.stretched = false;
        let early_lines = old_lines.min(2 * LINES as usize);
        let mut early = self.take_stash(account);
        // The first lines do not move away from themselves.
        (0..early_lines).for_each(|i| self.empty(i, old_bits, |mixed| early.push(mixed)));
        // How full each line is: cheaper than to look.
        let mut used = vec![0; self.lines.len()];
        let mut some = Vec::with_capacity(SLOTS);
        for i in (early_lines..old_lines).rev() {
            self.empty(i, old_bits, |mixed| some.push(mixed));
            for mixed in some.drain(..) {
                debug_assert!(self.home(mixed) >= i);
                self.place(mixed, &mut used, account);
            }
        }
        early.into_iter().for_each(|mixed| self.place(mixed, &mut used, account));
        Ok(())
    }

    /// Wider fields, if this pair does not fit.
    #[cold]
    pub fn widen(&mut self, left: u32, right: u32, account: &Account) -> Result<(), Full> {
        if self.fits(left, right) {
            return Ok(());
        }
        let mut left_bits = self.left_bits.max(u32::BITS - left.leading_zeros());
        let mut right_bits = self.right_bits.max(u32::BITS - right.leading_zeros());
        assert!(left_bits.max(right_bits) <= NODE_BITS);
        // More bits than needed, as long as they cost nothing: widening is not cheap.
        while left_bits + right_bits < self.line_bits + REMAINDER_BITS && left_bits.min(right_bits) < NODE_BITS {
            let narrow = if left_bits < right_bits { &mut left_bits } else { &mut right_bits };
            *narrow += 1;
        }
        let line_bits = self.line_bits.max((left_bits + right_bits).saturating_sub(REMAINDER_BITS));
        let wide = Roots::with_bits(line_bits, left_bits, right_bits, self.weak, account)?;
        let mut used = vec![0; wide.lines.len()];
        self.pairs().for_each(|(left, right)| wide.place(wide.mix(left, right), &mut used, account));
        self.take_stash(account);
        let old = std::mem::replace(self, wide);
        account.release(old.lines.bytes());
        Ok(())
    }

    /// How many pairs did not find a place in their lines.
    pub fn n_stashed(&self) -> usize {
        self.stash.0.lock().expect("no panic while it is locked").len()
    }

    /// All pairs, in no order.
    fn pairs(&self) -> impl Iterator<Item = (u32, u32)> {
        let slots = self.lines.iter().enumerate().flat_map(move |(i, Line(line))| {
            let used = line.iter().map(|slot| slot.load(Relaxed)).take_while(|&slot| slot != 0); // I3
            used.map(move |slot| self.mixed_at(i, slot, self.line_bits))
        });
        let stash = self.stash.0.lock().expect("no panic while it is locked");
        let stashed: Vec<Mixed> = stash.iter().map(|&mixed| Mixed(mixed)).collect();
        slots.chain(stashed).map(move |mixed| self.unmix(mixed))
    }

    fn empty(&self, i: usize, line_bits: u32, mut each: impl FnMut(Mixed)) {
        let Line(line) = &self.lines[i];
        for slot in line {
            let there = slot.load(Relaxed);
            if there == 0 {
                break; // I3
            }
            slot.store(0, Relaxed);
            each(self.mixed_at(i, there, line_bits));
        }
    }

    fn mixed_at(&self, i: usize, slot: u32, line_bits: u32) -> Mixed {
        let home = (i + 1) as u64 - u64::from(slot >> REMAINDER_BITS);
        let remainder = u64::from(slot & ((1 << REMAINDER_BITS) - 1));
        Mixed(home << (self.left_bits + self.right_bits - line_bits) | remainder)
    }

    /// Puts what is not there, while no other thread looks; `used` says how many slots of each line are. This must not
    /// fail half-way, so the few pairs that find no line are charged whether there is room or not.
    #[inline(always)]
    fn place(&self, mixed: Mixed, used: &mut [u8], account: &Account) {
        let (home, remainder) = (self.home(mixed), self.remainder(mixed));
        for (way, used) in (1..=LINES).zip(&mut used[home..]) {
            if usize::from(*used) < SLOTS {
                let Line(line) = &self.lines[home + way as usize - 1];
                line[usize::from(*used)].store(way << REMAINDER_BITS | remainder, Relaxed);
                *used += 1;
                return;
            }
        }
        account.charge_anyway(STASH_BYTES);
        self.stash.0.lock().expect("no panic while it is locked").insert(mixed.0);
    }

    #[cold]
    fn put_into_stash(&self, mixed: Mixed, account: &Account) -> Result<bool, Full> {
        let mut stash = self.stash.0.lock().expect("no panic while it is locked");
        if stash.contains(&mixed.0) {
            return Ok(false);
        }
        account.charge(STASH_BYTES)?;
        stash.insert(mixed.0);
        Ok(true)
    }

    fn take_stash(&mut self, account: &Account) -> Vec<Mixed> {
        let stash = std::mem::take(&mut *self.stash.0.lock().expect("no panic while it is locked"));
        account.release(stash.len() as u64 * STASH_BYTES);
        stash.into_iter().map(Mixed).collect()
    }

    #[inline(always)]
    fn home(&self, Mixed(mixed): Mixed) -> usize {
        (mixed >> (self.left_bits + self.right_bits - self.line_bits)) as usize
    }

    #[inline(always)]
    fn remainder(&self, Mixed(mixed): Mixed) -> u32 {
        (mixed & ((1 << (self.left_bits + self.right_bits - self.line_bits)) - 1)) as u32
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

fn normal_limit(line_bits: u32) -> u64 {
    (16 << line_bits) * 92 / 100
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
            assert_eq!(roots.put(roots.prepare(left, right), &account), Ok(truth.insert((left, right))));
            if truth.len() as u64 > roots.limit() {
                roots.grow(&account).expect("room");
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
            let roots = Arc::new(Roots::with_bits(0, 2, 2, false, &account).expect("room"));
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
}
