//! What one of several threads needs to look at states: the moves of a state, and the numbers of the states after them.
//! A state of a barren part has no number.
//!
//! # Invariants
//!   I1 once a state was looked at, and as long as none of its moves is dropped, those without a number are exactly its
//!      moves to barren states
//!   I2 a thread makes each move to a state with a number once, in whatever order

use super::{Moves, Runs};
use spinor_store::{Cards, CardsHand, Full, Laid, StateId, Visited};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::Ordering::SeqCst;

pub struct Eyes<'a, R: Runs, V: Visited + 'a> {
    pub runs: &'a R,
    pub store: &'a V,
    pub hand: V::Hand<'a>,
    pub desk: R::Desk,
    pub cards: CardsHand<'a>,
    pub moves: Moves,
    /// The states after the moves, and whether they are new.
    pub out: Vec<(StateId, bool)>,
    /// Their numbers, 0 for those that are barren or not kept; whether there are barren ones.
    pub numbers: Vec<u32>,
    pub some_barren: bool,
    /// The state that was looked at last.
    pub key: Vec<u8>,
    keys: Vec<Range<usize>>,
    fertile: Vec<(StateId, bool)>,
}

impl<'a, R: Runs, V: Visited> Eyes<'a, R, V> {
    pub fn new(runs: &'a R, store: &'a V, cards: &'a Cards) -> Self {
        Eyes {
            runs,
            store,
            hand: store.hand(),
            desk: runs.desk(),
            cards: cards.hand(),
            moves: Moves::default(),
            out: Vec::new(),
            numbers: Vec::new(),
            some_barren: false,
            key: Vec::new(),
            keys: Vec::new(),
            fertile: Vec::new(),
        }
    }

    pub fn clear(&mut self) {
        self.moves.clear();
        self.keys.clear();
    }

    /// The states where runs begin, as moves.
    pub fn start(&mut self) -> Result<(), Full> {
        self.clear();
        self.runs.initial(&mut self.desk, &mut self.moves);
        self.offer(0)?;
        self.settle()
    }

    pub fn soon(&mut self, id: StateId) {
        self.store.soon(&mut self.hand, id);
    }

    /// The moves of a state, behind those at hand.
    #[inline]
    pub fn expand(&mut self, id: StateId) -> Result<(), Full> {
        let before = self.moves.all.len();
        self.store.load(&mut self.hand, id, &mut self.key);
        self.runs.moves(&mut self.desk, &self.key, &mut self.moves);
        debug_assert!(self.moves.check_behind(before, self.runs.n_marks()), "M1, M2, M3");
        self.offer(before)
    }

    #[inline]
    fn offer(&mut self, before: usize) -> Result<(), Full> {
        self.keys.extend(self.moves.all[before..].iter().map(|m| m.to.clone()));
        self.store.offer(&mut self.hand, &self.moves.keys, &self.keys[before..])
    }

    /// The states after the moves at hand.
    #[inline]
    pub fn settle(&mut self) -> Result<(), Full> {
        self.store.settle(&mut self.hand, &self.moves.keys, &self.keys, &mut self.out)?;
        debug_assert_eq!(self.out.len(), self.moves.all.len(), "a state after each move");
        // Asking for numbers may mean waiting for threads that wait for the store.
        self.store.rest(&mut self.hand);
        Ok(())
    }

    /// The state after a move is one of a barren part.
    #[inline]
    pub fn is_barren(&self, at: usize) -> bool {
        self.runs.part(self.moves.key(at)).barren
    }

    /// The moves of a state that has a number.
    #[inline]
    pub fn look(&mut self, n: u32) -> Result<(), Full> {
        let id = self.cards.laid().name(n);
        self.clear();
        self.expand(id)?;
        self.settle()?;
        self.some_barren = (0..self.out.len()).any(|at| self.is_barren(at));
        if !self.some_barren {
            let numbered = self.cards.numbers(&self.out, &mut self.numbers);
            debug_assert!(numbered.is_err() || self.check_numbers(), "I1");
            return numbered;
        }
        self.fertile.clear();
        for at in 0..self.out.len() {
            if !self.is_barren(at) {
                self.fertile.push(self.out[at]);
            }
        }
        self.cards.numbers(&self.fertile, &mut self.numbers)?;
        let mut left = self.numbers.len();
        self.numbers.resize(self.out.len(), 0);
        for at in (0..self.out.len()).rev() {
            let barren = self.is_barren(at);
            left -= usize::from(!barren);
            self.numbers[at] = if barren { 0 } else { self.numbers[left] };
        }
        debug_assert_eq!(left, 0, "each number is some move's");
        debug_assert!(self.check_numbers(), "I1");
        Ok(())
    }

    /// I1
    fn check_numbers(&self) -> bool {
        let agrees = |(at, n): (usize, &u32)| (*n == 0) == self.is_barren(at);
        self.numbers.len() == self.moves.all.len() && self.numbers.iter().enumerate().all(agrees)
    }

    /// Forgets the numbers of the others.
    #[inline]
    pub fn keep(&mut self, keep: impl Fn(Laid<'_>, u32) -> bool) {
        let laid = self.cards.laid();
        for n in self.numbers.iter_mut().filter(|n| **n != 0) {
            if !keep(laid, *n) {
                *n = 0;
            }
        }
    }

    /// The places of the moves of state `n` to states with numbers in the order in which a thread makes them, the last one
    /// first. Each thread has its own, so that they go different ways.
    #[inline]
    pub fn order(&self, n: u32, thread: usize) -> impl Iterator<Item = usize> + '_ {
        let n_moves = self.numbers.len();
        let turn = if thread == 0 || n_moves == 0 { 0 } else { (n as usize ^ thread) % n_moves };
        let place = move |i: usize| {
            let place = if thread.is_multiple_of(2) { n_moves - 1 - i } else { i };
            if place + turn < n_moves { place + turn } else { place + turn - n_moves }
        };
        let bits = |places: &mut dyn Iterator<Item = usize>| places.fold(0u64, |bits, at| bits | 1 << at);
        debug_assert!(n_moves >= 64 || bits(&mut (0..n_moves).map(place)) == bits(&mut (0..n_moves)), "I2");
        let all = (0..n_moves).map(place);
        all.filter(|at| self.numbers[*at] != 0)
    }

    /// Some thread has entered a state with a number (`scout`, I2).
    pub fn is_entered(&mut self, n: u32) -> bool {
        self.cards.laid().card(n).iter().any(|word| word.load(SeqCst) != 0)
    }

    /// A way between two states with numbers, among those that some thread has entered.
    pub fn between(&mut self, from: u32, to: u32) -> Result<Vec<u32>, Full> {
        let (mut all, mut before) = (vec![from], HashMap::from([(from, (from, 0))]));
        let mut at = 0;
        while !before.contains_key(&to) {
            assert!(at < all.len(), "somebody went there");
            let n = all[at];
            self.look(n)?;
            for nth in 0..self.numbers.len() {
                let to = self.numbers[nth];
                if to != 0 && self.is_entered(to) && !before.contains_key(&to) {
                    before.insert(to, (n, nth as u32));
                    all.push(to);
                }
            }
            at += 1;
        }
        let (mut way, mut at) = (Vec::new(), to);
        while at != from {
            let (earlier, nth) = before[&at];
            way.push(nth);
            at = earlier;
        }
        way.reverse();
        Ok(way)
    }
}
