//! What a search of many threads remembers beside a state: a number, and three words.
//!
//! # The argument
//!   A *card* is the name of a state and three words that begin as zero; its number is its place, so it never moves. A
//!   table, open-addressed with linear probing, leads from a name to its card: a slot is the card's number and 32
//!   bits of the name's hash, which save looking at most of the other cards. An empty slot is zero, and there is no
//!   card 0.
//!
//!   Who does not find a name writes it on a card that is nobody's yet and tries to put that card's number into the first
//!   empty slot with one compare-and-swap. So a slot leads to a card that is written. Two threads that put the
//!   same name try the same slots in the same order; the one that loses a slot looks at what is now in it before
//!   going on, and if it is the same name, clears its own card and keeps it for the next one.
//!
//!   Cards that are nobody's yet are taken by hands in small blocks, so that they rarely write a number which all write.
//!
//!   Growth is as in `growth`. The table is emptied and filled again from the cards: a card without a name is a hand's.
//!
//! # Invariants
//!   I1 no empty slot lies between a name's home and its slot
//!   I2 a hand's cards are in the region, and with all of them put at most three quarters of the slots are used
//!   I3 between two calls, the cards of a hand's block have no name
//!
//! # Owed
//!   O1 a name has one card, in all schedules of two threads    tests: `loom_*`
//!
//! # Cost  32 bytes a card, and 10.7 to 21.3 for its slot.

use crate::growth::{Growing, Grows, Hold};
use crate::memory::{Octet, Region, prefetch};
use crate::sync::{AcqRel, Acquire, AtomicU64, Relaxed};
use crate::{Account, Budget, Full, StateId};
use std::ops::Range;
use std::sync::Arc;

const FIRST_BITS: u32 = if cfg!(loom) { 2 } else { 9 };
const MAX_BITS: u32 = 33;
/// Cards that a hand takes at once.
const BLOCK: u64 = if cfg!(loom) { 1 } else { 32 };
/// The word of a card that holds the name plus one, or zero.
const NAME: usize = 3;

/// See the module.
#[derive(Debug)]
pub struct Cards {
    tables: Growing<Tables>,
    /// The first card that no hand has taken.
    next: std::sync::atomic::AtomicU64,
    account: Account,
}

#[derive(Debug)]
struct Tables {
    slots: Region<AtomicU64>,
    bits: u32,
    cards: Region<Octet>,
}

/// What one thread needs. It holds the tables until it rests.
#[derive(Debug)]
pub struct CardsHand<'c> {
    of: &'c Cards,
    tables: Hold<'c, Tables>,
    /// Cards to be given to new names.
    block: Range<u32>,
    hashes: Vec<u64>,
}

/// The cards as they lie, to be looked at and written on.
#[derive(Clone, Copy, Debug)]
pub struct Laid<'h>(&'h Tables);

impl Grows for Tables {}

impl Cards {
    pub fn new(budget: &Arc<Budget>) -> Result<Cards, Full> {
        let account = budget.account();
        let mut slots = Region::new(1 << MAX_BITS)?;
        slots.grow_to(1 << FIRST_BITS, &account)?;
        let cards = Region::new(1 << 32)?;
        let tables = Growing::new(Tables { slots, bits: FIRST_BITS, cards });
        Ok(Cards { tables, next: 1.into(), account })
    }

    pub fn hand(&self) -> CardsHand<'_> {
        CardsHand { of: self, tables: self.tables.hold(), block: 0..0, hashes: Vec::new() }
    }

    /// Memory held, in bytes.
    pub fn bytes(&self) -> u64 {
        self.account.held()
    }
}

impl CardsHand<'_> {
    /// The numbers of the cards of these states; those that have none get one. `out` is cleared first. The store's hand
    /// must rest meanwhile: this may wait for other threads, which may be waiting for the store to grow.
    pub fn numbers(&mut self, states: &[(StateId, bool)], out: &mut Vec<u32>) -> Result<(), Full> {
        out.clear();
        self.hashes.clear();
        let tables = self.tables.get();
        for (id, _) in states {
            let hash = mix(id.0);
            prefetch(&tables.slots[tables.home(hash)]);
            self.hashes.push(hash);
        }
        // A loop that does nothing else has most misses under way at once.
        for hash in &self.hashes {
            let likely = tables.slots[tables.home(*hash)].load(Relaxed) as u32;
            tables.cards.get(likely as usize).into_iter().for_each(prefetch);
        }
        loop {
            let tables = self.tables.get();
            for ((id, _), hash) in states.iter().zip(&self.hashes).skip(out.len()) {
                let number = match tables.find(id.0, *hash) {
                    Ok(number) => number,
                    Err(_) if self.block.is_empty() => break,
                    Err(at) => tables.put(id.0, *hash, at, self.block.start),
                };
                debug_assert_eq!(tables.find(id.0, *hash), Ok(number), "I1");
                self.block.start += u32::from(number == self.block.start);
                out.push(number);
            }
            if out.len() == states.len() {
                return Ok(());
            }
            self.take_block()?;
        }
    }

    pub fn number(&mut self, id: StateId) -> Result<u32, Full> {
        let mut out = Vec::new();
        self.numbers(&[(id, false)], &mut out)?;
        Ok(out[0])
    }

    #[cold]
    fn take_block(&mut self) -> Result<(), Full> {
        let next = &self.of.next;
        let taken = next.fetch_update(Relaxed, Relaxed, |from| (from + BLOCK <= 1 << 32).then_some(from + BLOCK));
        let from = taken.map_err(|_| Full::Numbers)?;
        if from + BLOCK > self.tables.get().room() {
            let account = &self.of.account;
            // Another thread may have done it already; and none of those whose blocks are after this one must be late.
            self.tables.alone(|tables| tables.grow_to(from + BLOCK, next.load(Relaxed), account))?;
        }
        debug_assert!(from + BLOCK <= self.tables.get().room(), "I2");
        debug_assert!(self.block.is_empty(), "no card is forgotten");
        self.block = from as u32..(from + BLOCK) as u32;
        Ok(())
    }

    #[inline]
    pub fn laid(&mut self) -> Laid<'_> {
        Laid(self.tables.get())
    }

    /// Lets other threads make more cards, until this hand is used again. To be called now and then, and before
    /// waiting for other threads.
    #[inline]
    pub fn rest(&mut self) {
        self.tables.rest();
    }
}

impl<'h> Laid<'h> {
    /// The three words of a card.
    #[inline]
    pub fn card(self, number: u32) -> &'h [AtomicU64; 3] {
        self.0.cards[number as usize].0.first_chunk().expect("four words")
    }

    /// Whose card it is.
    #[inline]
    pub fn name(self, number: u32) -> StateId {
        StateId(self.0.cards[number as usize].0[NAME].load(Relaxed).wrapping_sub(1))
    }
}

impl Tables {
    /// All cards before this number may be given out.
    fn room(&self) -> u64 {
        ((1 << self.bits) / 4 * 3).min(self.cards.len() as u64) // I2
    }

    #[inline]
    fn home(&self, hash: u64) -> usize {
        (hash >> (64 - self.bits)) as usize
    }

    #[inline]
    fn after(&self, at: usize) -> usize {
        (at + 1) & ((1 << self.bits) - 1)
    }

    /// Whether a slot leads to the card of this name.
    #[inline]
    fn is(&self, slot: u64, name: u64, hash: u64) -> bool {
        let same = slot >> 32 == hash & 0xffff_ffff;
        same && self.cards[slot as u32 as usize].0[NAME].load(Relaxed) == name.wrapping_add(1)
    }

    /// The card of a name, or the first empty slot from its home on.
    #[inline]
    fn find(&self, name: u64, hash: u64) -> Result<u32, usize> {
        let mut at = self.home(hash);
        loop {
            match self.slots[at].load(Acquire) {
                0 => return Err(at),
                there if self.is(there, name, hash) => return Ok(there as u32),
                _ => at = self.after(at),
            }
        }
    }

    /// The card of a name that was not there, by the slot that was empty: this card, which is nobody's, or one that another
    /// thread has put meanwhile.
    #[inline]
    fn put(&self, name: u64, hash: u64, mut at: usize, mine: u32) -> u32 {
        debug_assert_ne!(name, u64::MAX, "a name");
        debug_assert!(u64::from(mine) < self.room(), "I2");
        let card = &self.cards[mine as usize].0[NAME];
        debug_assert_eq!(card.load(Relaxed), 0, "I3");
        card.store(name.wrapping_add(1), Relaxed);
        loop {
            match self.slots[at].compare_exchange(0, hash << 32 | u64::from(mine), AcqRel, Acquire) {
                Ok(_) => return mine,
                Err(theirs) if self.is(theirs, name, hash) => {
                    card.store(0, Relaxed); // I3
                    return theirs as u32;
                }
                Err(_) => at = self.after(at),
            }
        }
    }

    /// Room for all cards before `to`; `next` have been given to hands.
    fn grow_to(&mut self, to: u64, next: u64, account: &Account) -> Result<(), Full> {
        let n_cards = self.cards.len() as u64;
        if to > n_cards {
            self.cards.grow_to(to.max(n_cards + n_cards / 8) as usize, account)?;
        }
        let mut bits = self.bits;
        while to > (1 << bits) / 4 * 3 {
            bits += 1;
        }
        if bits == self.bits {
            return Ok(());
        }
        if bits > MAX_BITS {
            return Err(Full::Numbers);
        }
        self.slots.grow_to(1 << bits, account)?;
        self.slots[..1 << self.bits].iter().for_each(|slot| slot.store(0, Relaxed));
        self.bits = bits;
        let end = next.min(self.cards.len() as u64) as usize;
        let mut some = [(0, 0); 32];
        for from in (1..end).step_by(some.len()) {
            let cards = &self.cards[from..(from + some.len()).min(end)];
            for (n, card) in cards.iter().enumerate() {
                let word = card.0[NAME].load(Relaxed);
                some[n] = (word, mix(word.wrapping_sub(1)));
                prefetch(&self.slots[self.home(some[n].1)]);
            }
            for (n, (_, hash)) in some[..cards.len()].iter().enumerate().filter(|(_, (word, _))| *word != 0) {
                let mut at = self.home(*hash);
                while self.slots[at].load(Relaxed) != 0 {
                    at = self.after(at);
                }
                self.slots[at].store(hash << 32 | (from + n) as u64, Relaxed);
            }
        }
        debug_assert!(self.check_slots(end), "I1");
        Ok(())
    }

    /// Every card before this one that has a name has one slot, and is found from its home on.
    fn check_slots(&self, end: usize) -> bool {
        let names = || (1..end).map(|n| (n, self.cards[n].0[NAME].load(Relaxed))).filter(|(_, word)| *word != 0);
        let is_found = |(n, word): (usize, u64)| self.find(word - 1, mix(word - 1)) == Ok(n as u32);
        let n_slots = self.slots.iter().filter(|slot| slot.load(Relaxed) != 0).count();
        n_slots == names().count() && names().all(is_found)
    }
}

/// Names are made of numbers that are near each other.
#[inline]
fn mix(name: u64) -> u64 {
    let wide = u128::from(name ^ 0x9e6c_63d0_873f_a2d5) * 0xc2b2_ae3d_27d4_eb4f;
    ((wide as u64) ^ (wide >> 64) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::testing::Rng;
    use std::collections::HashMap;

    fn states(names: impl Iterator<Item = u64>) -> Vec<(StateId, bool)> {
        names.map(|name| (StateId(name), false)).collect()
    }

    #[test]
    fn a_name_keeps_its_card_and_what_is_written_on_it() {
        let cards = Cards::new(&Budget::unlimited()).expect("room");
        let (mut hand, mut map, mut rng, mut out) = (cards.hand(), HashMap::new(), Rng(7), Vec::new());
        for _ in 0..40_000 {
            let far = (rng.next() % 2) << 40;
            let asked = states((0..5).map(|_| far | (rng.next() % 50_000)));
            hand.numbers(&asked, &mut out).expect("room");
            for ((id, _), number) in asked.iter().zip(&out) {
                assert_eq!(*map.entry(*id).or_insert(*number), *number);
                let laid = hand.laid();
                assert_eq!(laid.name(*number), *id);
                let before = laid.card(*number)[1].swap(id.0 ^ 5, Relaxed);
                assert!(before == 0 || before == id.0 ^ 5);
            }
        }
        let mut numbers: Vec<u32> = map.into_values().collect();
        let n = numbers.len();
        numbers.sort_unstable();
        numbers.dedup();
        assert!(numbers.len() == n && n > 50_000 && numbers[0] > 0);
        assert!(*numbers.last().expect("many") as usize <= n + BLOCK as usize, "numbers are dense");
    }

    #[test]
    fn threads_agree_on_the_cards() {
        for round in 0..20 {
            let cards = Cards::new(&Budget::unlimited()).expect("room");
            let work = |seed: u64| {
                let (mut hand, mut rng, mut out, mut all) = (cards.hand(), Rng(seed), Vec::new(), HashMap::new());
                for _ in 0..2000 {
                    let asked = states((0..4).map(|_| rng.next() % 3000));
                    hand.numbers(&asked, &mut out).expect("room");
                    for ((id, _), number) in asked.iter().zip(&out) {
                        assert_eq!(*all.entry(*id).or_insert(*number), *number);
                        hand.laid().card(*number)[0].fetch_add(1, Relaxed);
                    }
                    hand.rest();
                }
                all
            };
            let work = &work;
            let maps: Vec<HashMap<StateId, u32>> = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..3).map(|n| scope.spawn(move || work(3 * round + n))).collect();
                threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
            });
            let mut hand = cards.hand();
            let mut written = 0;
            for id in (0..3000).map(StateId) {
                let number = hand.number(id).expect("room");
                assert!(maps.iter().all(|map| map.get(&id).is_none_or(|theirs| *theirs == number)));
                written += hand.laid().card(number)[0].load(Relaxed);
            }
            assert_eq!(written, 3 * 2000 * 4);
        }
    }

    #[test]
    fn it_asks_before_it_grows() {
        let budget = Budget::new(1 << 20);
        let cards = Cards::new(&budget).expect("room");
        let mut hand = cards.hand();
        let n = (0..).take_while(|n| hand.number(StateId(*n)).is_ok()).count();
        assert!(n > 5000 && cards.bytes() <= 1 << 20, "{n}");
        assert_eq!(hand.number(StateId(3)).ok(), Some(4), "what is there is still found");
        drop(hand);
        drop(cards);
        assert_eq!(budget.used(), 0);
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use loom::sync::Arc;

    fn tables(room: u64) -> Tables {
        let account = Budget::unlimited().account();
        let mut slots = Region::new(1 << 4).expect("room");
        slots.grow_to(1 << FIRST_BITS, &account).expect("room");
        let mut tables = Tables { slots, bits: FIRST_BITS, cards: Region::new(1 << 4).expect("room") };
        tables.grow_to(room, 1, &account).expect("room");
        tables
    }

    /// Both threads put two names with one hash, in different orders, and read what is written on the cards.
    #[test]
    fn loom_a_name_has_one_card() {
        loom::model(|| {
            let tables = Arc::new(tables(5));
            let work = |tables: Arc<Tables>, names: [u64; 2], mut mine: u32| {
                names.map(|name| {
                    let number = tables.find(name, 7).unwrap_or_else(|at| tables.put(name, 7, at, mine));
                    mine += u32::from(number == mine);
                    assert_eq!(Laid(&tables).name(number), StateId(name), "a slot leads to a card that is written");
                    number
                })
            };
            let theirs = tables.clone();
            let other = loom::thread::spawn(move || work(theirs, [10, 11], 1));
            let [b, a] = work(tables.clone(), [11, 10], 3);
            assert_eq!(other.join().expect("no panic"), [a, b], "O1");
            assert_ne!(a, b);
        });
    }
}
