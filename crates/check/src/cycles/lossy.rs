//! Nested depth-first search beside a store that keeps no states.
//!
//! Source  [HPY96] figures 2 and 4, as in `ndfs`; of a symmetric system that is [Bosnacki-SYM] figure 2. Two bits a state, one
//!         for each search, are what makes bitstate hashing fit.
//! Fits    one mark at most, and at states; fairness that is in the states (`fair`); any `Visited` that says whether a key is
//!         new. What is left out is chosen by the state alone.
//!
//! # The argument
//!   A lossy store says of a key whether it is new, and may be wrong in saying that it is not. So what a search goes through is
//!   a part of what `ndfs` goes through: it stops where a state is taken for another. Frames hold the keys of their states,
//!   and of the moves still to be made. What the second search comes to is compared with the seed, or the path, by its
//!   key. So a cycle that is reported is there, and that none is reported says little.
//!   A second search may meet states that the first one has missed, also one with a move that ends the matter.
//!   Each key is new once to each search: it is put with a sign of the search behind it (`Marked`).
//!
//! # Invariants
//!   I1 a key is in `on_path` exactly while it has a frame of the first search
//!   I2 the keys of a frame's moves lie one behind the other and fill `keys`, and it makes them in their order
//!
//! # Owed
//!   O1 what is found is accepted, and all is found if nothing is taken for another   tests: random graphs, random models
//!
//! # Cost  each state expanded at most twice; two entries of the store a state; the keys of both paths and of their moves.

use super::fair::Fair;
use super::ndfs::{End, Nested, Refused, Target, accepts, found};
use super::{Lasso, Moves, Pulse, Request, Runs};
use crate::observer::Observer;
use spinor_store::{Account, Budget, Full, Visited};
use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

/// Says whether something is new, by a key and a sign.
pub(crate) trait Seen {
    fn put(&mut self, key: &[u8], sign: u16) -> Result<bool, Full>;
}

/// By a store in which the sign lies behind the key.
pub(crate) struct Marked<'a, V: Visited + 'a> {
    store: &'a V,
    hand: V::Hand<'a>,
    key: Vec<u8>,
}

impl<'a, V: Visited> Marked<'a, V> {
    pub fn new(store: &'a V) -> Marked<'a, V> {
        Marked { store, hand: store.hand(), key: Vec::new() }
    }

    /// How many keys and signs were new.
    pub fn len(&self) -> u64 {
        self.store.len()
    }
}

impl<V: Visited> Seen for Marked<'_, V> {
    fn put(&mut self, key: &[u8], sign: u16) -> Result<bool, Full> {
        self.key.clear();
        self.key.extend_from_slice(key);
        self.key.extend_from_slice(&sign.to_le_bytes());
        let (_, new) = self.store.put(&mut self.hand, &self.key)?;
        self.store.rest(&mut self.hand);
        Ok(new)
    }
}

const FIRST: u16 = 0;
const SECOND: u16 = 1;

pub fn search<R: Runs, V: Visited>(
    runs: &R,
    store: &V,
    target: Target,
    request: &Request,
    observer: &mut dyn Observer,
) -> Result<Nested, Refused> {
    assert!(!runs.judges(), "what is closed here is a cycle, whoever moves in it");
    if runs.n_marks() > 1 {
        return Err(Refused::ManyMarks(runs.n_marks()));
    }
    let mut dfs = Dfs {
        runs,
        desk: runs.desk(),
        seen: Marked::new(store),
        target,
        pulse: Pulse::new(request, observer),
        path: Path::new(&request.budget),
        nested: Path::new(&request.budget),
        on_path: HashSet::new(),
        n_second: 0,
        moves: Moves::default(),
    };
    let found = found(dfs.all())?;
    Ok(Nested { searched: dfs.pulse.searched(found, request), second: dfs.n_second })
}

/// For a run that is accepted and weakly fair, as `fair::search`.
pub fn search_fair<R: Runs, V: Visited>(
    fair: &Fair<'_, R>,
    store: &V,
    target: Target,
    request: &Request,
    observer: &mut dyn Observer,
) -> Result<Nested, Refused> {
    let mut nested = search(fair, store, target, request, observer)?;
    nested.searched.found = nested.searched.found.map(|lasso| fair.project(&lasso));
    Ok(nested)
}

/// A state on the path of one of the searches, and its moves.
struct Frame {
    key: Rc<[u8]>,
    keys: Box<[u8]>,
    /// Where the key of each ends in `keys`.
    ends: Box<[u32]>,
    n_made: usize,
    accepting: bool,
}

impl Frame {
    /// Makes the next move, if there is one left.
    fn follow(&mut self) -> Option<Vec<u8>> {
        let end = *self.ends.get(self.n_made)? as usize;
        let from = self.n_made.checked_sub(1).map_or(0, |n| self.ends[n] as usize);
        self.n_made += 1;
        Some(self.keys[from..end].to_vec())
    }

    /// The number of the move that was made last.
    fn made(&self) -> u32 {
        assert!((1..=self.ends.len()).contains(&self.n_made), "I2: who is on the way has made a move");
        self.n_made as u32 - 1
    }

    /// The key is in two places where the path is asked for.
    fn bytes(&self) -> u64 {
        (size_of::<Frame>() + 2 * self.key.len() + self.keys.len() + 4 * self.ends.len()) as u64
    }
}

struct Path {
    frames: Vec<Frame>,
    account: Account,
}

impl Path {
    fn new(budget: &Arc<Budget>) -> Path {
        Path { frames: Vec::new(), account: budget.account() }
    }

    fn push(&mut self, frame: Frame) -> Result<(), Full> {
        self.account.charge(frame.bytes())?;
        self.frames.push(frame);
        Ok(())
    }

    fn pop(&mut self) -> Option<Frame> {
        let frame = self.frames.pop()?;
        self.account.release(frame.bytes());
        Some(frame)
    }
}

struct Dfs<'a, R: Runs, V: Visited + 'a> {
    runs: &'a R,
    desk: R::Desk,
    seen: Marked<'a, V>,
    target: Target,
    pulse: Pulse<'a>,
    path: Path,
    /// The path of the second search, from the seed.
    nested: Path,
    on_path: HashSet<Rc<[u8]>>,
    n_second: u64,
    moves: Moves,
}

/// What was found, with both paths as they are.
enum Here {
    /// A cycle is closed at this state of the path.
    Closes(Vec<u8>),
    /// The uppermost state has this move, which ends the matter: that of the second search, if there is one.
    Ends(u32),
}

impl<R: Runs, V: Visited> Dfs<'_, R, V> {
    fn all(&mut self) -> Result<Option<Lasso>, End> {
        let mut start = Moves::default();
        self.runs.initial(&mut self.desk, &mut start);
        for initial in 0..start.all.len() {
            self.pulse.counters.transitions += 1;
            if let Some(here) = self.from(start.key(initial).to_vec())? {
                return Ok(Some(self.lasso(initial, here)));
            }
        }
        Ok(None)
    }

    fn is_new(&mut self, key: &[u8], sign: u16) -> Result<bool, End> {
        Ok(self.seen.put(key, sign).map_err(|full| self.pulse.full(full))?)
    }

    /// The first search, until something is found.
    fn from(&mut self, initial: Vec<u8>) -> Result<Option<Here>, End> {
        if self.is_new(&initial, FIRST)?
            && let Some(nth) = self.enter(&initial)?
        {
            return Ok(Some(Here::Ends(nth)));
        }
        while let Some(frame) = self.path.frames.last_mut() {
            debug_assert!(self.on_path.contains(&frame.key), "I1");
            if let Some(to) = frame.follow() {
                let deep = self.pulse.too_deep(self.path.frames.len() as u64);
                if !deep
                    && self.is_new(&to, FIRST)?
                    && let Some(nth) = self.enter(&to)?
                {
                    return Ok(Some(Here::Ends(nth)));
                }
                continue;
            }
            let (accepting, key) = (frame.accepting, frame.key.clone());
            if accepting && let Some(here) = self.cycle_from(&key)? {
                return Ok(Some(here));
            }
            assert!(self.on_path.remove(&key), "I1");
            self.path.pop();
        }
        debug_assert!(self.on_path.is_empty(), "I1");
        Ok(None)
    }

    /// Lays a state on the path. The number of a move that ends the matter, if there is one.
    fn enter(&mut self, key: &[u8]) -> Result<Option<u32>, End> {
        let frame = self.frame(key)?;
        assert!(self.on_path.insert(frame.key.clone()), "I1");
        self.path.push(frame).map_err(|full| self.pulse.full(full))?;
        debug_assert_eq!(self.on_path.len(), self.path.frames.len(), "I1");
        self.pulse.counters.stored += 1;
        self.pulse.beat(self.path.frames.len() as u64 - 1, &self.moves)?;
        Ok(self.moves.ends)
    }

    /// The second search.
    fn cycle_from(&mut self, seed: &[u8]) -> Result<Option<Here>, End> {
        if !self.is_new(seed, SECOND)? {
            return Ok(None); // taken for another
        }
        debug_assert!(self.on_path.contains(seed), "the seed is the last state of the path");
        debug_assert!(self.nested.frames.is_empty(), "second searches are at their end, or have found something");
        self.enter_nested(seed)?;
        while let Some(frame) = self.nested.frames.last_mut() {
            let Some(to) = frame.follow() else {
                self.nested.pop();
                continue;
            };
            let closes = match self.target {
                Target::Seed => to == seed,
                Target::Path => self.on_path.contains(&to[..]),
            };
            if closes {
                return Ok(Some(Here::Closes(to)));
            }
            if self.is_new(&to, SECOND)?
                && let Some(nth) = self.enter_nested(&to)?
            {
                return Ok(Some(Here::Ends(nth)));
            }
        }
        Ok(None)
    }

    fn enter_nested(&mut self, key: &[u8]) -> Result<Option<u32>, End> {
        let frame = self.frame(key)?;
        self.n_second += frame.ends.len() as u64;
        self.nested.push(frame).map_err(|full| self.pulse.full(full))?;
        self.pulse.again()?;
        Ok(self.moves.ends)
    }

    fn frame(&mut self, key: &[u8]) -> Result<Frame, End> {
        self.moves.clear();
        self.runs.moves(&mut self.desk, key, &mut self.moves);
        debug_assert!(self.moves.check_behind(0, self.runs.n_marks()), "M1, M2, M3");
        let accepting = accepts(&self.moves, self.runs.n_marks())?;
        let (mut keys, mut ends) = (Vec::new(), Vec::new());
        for n in 0..self.moves.all.len() {
            keys.extend_from_slice(self.moves.key(n));
            ends.push(keys.len() as u32);
        }
        debug_assert!(u32::try_from(keys.len()).is_ok(), "where a key ends fits into a word");
        debug_assert!(ends.is_sorted() && keys == self.moves.keys, "I2");
        Ok(Frame { key: key.into(), keys: keys.into(), ends: ends.into(), n_made: 0, accepting })
    }

    /// Along the path to where the cycle closes, on to the seed, and along the second search's path back.
    fn lasso(&self, initial: usize, here: Here) -> Lasso {
        let (last, path) = self.path.frames.split_last().expect("something was found on the path");
        let seed = self.nested.frames.first();
        assert!(seed.is_none_or(|seed| seed.key == last.key), "the seed is the last state of the path");
        let mut stem: Vec<u32> = path.iter().map(Frame::made).collect();
        let mut cycle = Vec::new();
        match here {
            Here::Ends(nth) => {
                let nested = self.nested.frames.iter().rev().skip(1).rev();
                stem.extend(nested.map(Frame::made).chain([nth]));
            }
            Here::Closes(closes) => {
                let at = path.iter().position(|frame| *frame.key == closes[..]).unwrap_or_else(|| {
                    assert!(*last.key == closes[..], "targets are on the path");
                    path.len()
                });
                cycle = stem.split_off(at);
                cycle.extend(self.nested.frames.iter().map(Frame::made));
            }
        }
        Lasso { initial, stem, cycle }
    }
}
