//! What one of several threads needs to look at states: the moves of a state, and the numbers of the states after them.

use super::{Moves, Runs};
use spinor_store::{Cards, CardsHand, Full, StateId, Visited};
use std::ops::Range;

pub struct Eyes<'a, R: Runs, V: Visited + 'a> {
    pub runs: &'a R,
    pub store: &'a V,
    pub hand: V::Hand<'a>,
    pub desk: R::Desk,
    pub cards: CardsHand<'a>,
    pub moves: Moves,
    /// The numbers of the states after the moves.
    pub numbers: Vec<u32>,
    key: Vec<u8>,
    keys: Vec<Range<usize>>,
    out: Vec<(StateId, bool)>,
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
            numbers: Vec::new(),
            key: Vec::new(),
            keys: Vec::new(),
            out: Vec::new(),
        }
    }

    /// The states where runs begin, as moves.
    pub fn start(&mut self) -> Result<(), Full> {
        self.moves.clear();
        self.runs.initial(&mut self.desk, &mut self.moves);
        self.put()
    }

    #[inline]
    pub fn look(&mut self, n: u32) -> Result<(), Full> {
        let id = self.cards.laid().name(n);
        self.store.load(&mut self.hand, id, &mut self.key);
        self.moves.clear();
        self.runs.moves(&mut self.desk, &self.key, &mut self.moves);
        self.put()
    }

    #[inline]
    fn put(&mut self) -> Result<(), Full> {
        self.keys.clear();
        self.keys.extend(self.moves.all.iter().map(|m| m.to.clone()));
        self.store.offer(&mut self.hand, &self.moves.keys, &self.keys)?;
        self.store.settle(&mut self.hand, &self.moves.keys, &self.keys, &mut self.out)?;
        // Asking for numbers may mean waiting for threads that wait for the store.
        self.store.rest(&mut self.hand);
        self.cards.numbers(&self.out, &mut self.numbers)
    }

    /// The places of the moves of state `n` in the order in which a thread makes them, the last one first. Each thread
    /// has its own, so that they go different ways.
    #[inline]
    pub fn order(&self, n: u32, thread: usize) -> impl Iterator<Item = usize> + use<R, V> {
        let n_moves = self.numbers.len();
        let turn = if thread == 0 || n_moves == 0 { 0 } else { (n as usize ^ thread) % n_moves };
        (0..n_moves).map(move |i| {
            let place = if thread.is_multiple_of(2) { n_moves - 1 - i } else { i };
            if place + turn < n_moves { place + turn } else { place + turn - n_moves }
        })
    }
}
