//! The same runs with the moves of each state in the order of the processes.
//!
//! Source  [Bosnacki-SYM] figure 1: nested search that goes through the processes from the first to the last, and
//!         through the moves of each. With `ndfs` and the seed as its target it is that figure.
//! Fits    any search of runs whose moves have owners.
//!
//! # The argument
//!   The order of the moves makes no difference to what is found at all, only to what is found first.
//!   Moves of nobody come last; moves of one process keep their order.
//!
//! # Invariants
//!   I1 the moves are those below, each once, and where a move ends the matter is told for the same one
//!
//! # Owed
//!   O1 verdict = oracle, and the run below is accepted    tests: random graphs (`ndfs_tests`)
//!   O2 the first process goes first                       tests: a graph with two cycles
//!
//! # Cost  the moves of a state are sorted, and laid down once more.

use super::{Lasso, Moves, Runs};
use spinor_model::successors::Wish;

pub struct ByProcess<'a, R>(pub &'a R);

/// The moves in our order, by their numbers below.
fn order(below: &Moves) -> Vec<usize> {
    let mut order: Vec<usize> = (0..below.all.len()).collect();
    order.sort_by_key(|n| below.all[*n].pid.map_or(u32::MAX, u32::from));
    order
}

impl<R: Runs> ByProcess<'_, R> {
    /// The same run below.
    pub fn project(&self, lasso: &Lasso) -> Lasso {
        let (mut moves, mut desk) = (Moves::default(), self.0.desk());
        self.0.initial(&mut desk, &mut moves);
        let mut key = moves.key(lasso.initial).to_vec();
        let mut below = |numbers: &[u32]| {
            let step = |nth: &u32| {
                moves.clear();
                self.0.moves(&mut desk, &key, &mut moves);
                let nth = order(&moves)[*nth as usize];
                key = moves.key(nth).to_vec();
                nth as u32
            };
            numbers.iter().map(step).collect()
        };
        Lasso { initial: lasso.initial, stem: below(&lasso.stem), cycle: below(&lasso.cycle) }
    }
}

impl<R: Runs> Runs for ByProcess<'_, R> {
    type Desk = (R::Desk, Moves);

    fn desk(&self) -> Self::Desk {
        (self.0.desk(), Moves::default())
    }

    fn n_marks(&self) -> u32 {
        self.0.n_marks()
    }

    fn initial(&self, (desk, _): &mut Self::Desk, out: &mut Moves) {
        self.0.initial(desk, out);
    }

    fn moves(&self, desk: &mut Self::Desk, key: &[u8], out: &mut Moves) {
        self.moves_as(desk, key, Wish::default(), out);
    }

    fn moves_as(&self, (desk, below): &mut Self::Desk, key: &[u8], wish: Wish, out: &mut Moves) {
        // Places are counted from the first move, and what is said of the state is said of it alone.
        debug_assert!(out.all.is_empty(), "the moves of one state at a time");
        below.clear();
        self.0.moves_as(desk, key, wish, below);
        for (place, n) in order(below).into_iter().enumerate() {
            out.push(below.key(n), below.all[n].marks, below.all[n].pid);
            if below.ends == Some(n as u32) {
                out.ends = Some(place as u32);
            }
        }
        debug_assert_eq!(out.all.len(), below.all.len(), "I1");
        debug_assert_eq!(out.ends.is_some(), below.ends.is_some(), "I1");
        (out.able, out.blind, out.left_out) = (below.able, below.blind, below.left_out);
    }
}
