//! The levels of a breadth-first search, all of them: they are what a trace is found in.
//!
//! # The argument
//!   A small level lies behind the other small levels in one log, and its length is kept in two bytes, so that a model
//!   of a million levels pays little for each. A large one keeps the logs that its threads wrote.
//!
//! # Invariants
//!   I1 the levels are the states of the store, each once, by their least distance from the initial state
//!   I2 up to the first large level, the order inside a level is the order of discovery by one thread

use super::held::Held;
use spinor_store::{Budget, Full, Log, StateId};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

pub(super) struct Levels {
    /// The states that a small level has at most.
    alone: u64,
    /// How many states each small level has; zero for a large one.
    lens: Held<u16>,
    /// Where every so many-th level begins in the log of small ones, or would.
    starts: Held<u64>,
    /// The small levels, one after the other.
    small: Log,
    /// The large ones, with their numbers.
    large: Held<(usize, Box<[Log]>)>,
    /// How many levels there are before the first large one.
    n_ordered: usize,
}

/// Levels between two known starts.
const STRIDE: usize = 64;

impl Levels {
    pub fn new(budget: &Arc<Budget>, alone: u64) -> Levels {
        Levels {
            alone: alone.min(u64::from(u16::MAX)),
            lens: Held::new(budget),
            starts: Held::new(budget),
            small: Log::new(budget),
            large: Held::new(budget),
            n_ordered: 0,
        }
    }

    pub fn len(&self) -> usize {
        self.lens.len()
    }

    /// Adds what the threads found, `len` states in all. A small level is read into `ids`, and the logs can be used again.
    pub fn push<'a>(
        &mut self,
        budget: &Arc<Budget>,
        len: u64,
        found: impl Iterator<Item = &'a mut Log>,
        ids: &mut Vec<StateId>,
    ) -> Result<(), Full> {
        ids.clear();
        let level = self.len();
        if level.is_multiple_of(STRIDE) {
            self.starts.push(self.small.len())?;
        }
        if len > self.alone {
            let take = |log: &mut Log| std::mem::replace(log, Log::new(budget));
            self.large.push((level, found.filter(|log| !log.is_empty()).map(take).collect()))?;
            return self.lens.push(0);
        }
        if self.n_ordered == level {
            self.n_ordered += 1; // I2
        }
        let mut chunk = Vec::new();
        for log in found {
            for n in 0..log.n_chunks() {
                log.read_chunk(n, &mut chunk);
                ids.extend_from_slice(&chunk);
            }
            log.clear();
        }
        for id in ids.iter() {
            self.small.push(*id)?;
        }
        self.lens.push(len as u16)
    }

    /// I2
    pub fn is_ordered(&self, level: usize) -> bool {
        level < self.n_ordered
    }

    /// Something to expand; `ids` are its states if it is small.
    pub fn units<'a>(&'a self, level: usize, ids: &'a [StateId], jobs: usize) -> Units<'a> {
        let kept: &[Log] = match self.large.binary_search_by_key(&level, |(level, _)| *level) {
            Ok(n) => &self.large[n].1,
            Err(_) => &[],
        };
        let n_chunks: usize = kept.iter().map(Log::n_chunks).sum();
        // A chunk is four thousand states: parts of it, where there are too few for all threads.
        let parts = (16 * jobs).div_ceil(n_chunks.max(1)).min(16);
        let next = (0..kept.len().max(1)).map(|_| AtomicUsize::new(0)).collect();
        Units { ids, kept, parts: if jobs == 1 { 1 } else { parts }, next }
    }

    pub fn is_small(&self, level: usize) -> bool {
        self.lens[level] != 0
    }

    /// Where a small level lies in its log.
    fn place(&self, level: usize) -> Range<usize> {
        let known = level / STRIDE;
        let before: usize = self.lens[known * STRIDE..level].iter().map(|len| usize::from(*len)).sum();
        let from = self.starts[known] as usize + before;
        from..from + usize::from(self.lens[level])
    }

    /// For reading small levels one after the other.
    pub fn reader(&self) -> Reader<'_> {
        let mut chunk = Vec::new();
        if !self.small.is_empty() {
            self.small.read_chunk(0, &mut chunk);
        }
        Reader { levels: self, chunk_len: chunk.len().max(1), at: 0, chunk }
    }
}

pub(super) struct Reader<'a> {
    levels: &'a Levels,
    /// All chunks of a log are equally long, except the last.
    chunk_len: usize,
    /// The chunk read last.
    at: usize,
    chunk: Vec<StateId>,
}

impl Reader<'_> {
    /// The states of a level into `ids` if it is small.
    pub fn read(&mut self, level: usize, ids: &mut Vec<StateId>) {
        ids.clear();
        for n in self.levels.place(level) {
            if self.at != n / self.chunk_len {
                self.at = n / self.chunk_len;
                self.levels.small.read_chunk(self.at, &mut self.chunk);
            }
            ids.push(self.chunk[n % self.chunk_len]);
        }
    }
}

/// The states of a level, in portions. A thread takes those that it found itself first: their successors are the most
/// likely to be among the keys that it met a short while ago.
pub(super) struct Units<'a> {
    ids: &'a [StateId],
    kept: &'a [Log],
    parts: usize,
    /// Of each log.
    next: Vec<AtomicUsize>,
}

impl Units<'_> {
    /// Reads the next portion for a thread into `ids`; `false` if there is none.
    pub fn take(&self, me: usize, ids: &mut Vec<StateId>) -> bool {
        if !self.ids.is_empty() {
            let n = self.next[0].fetch_add(1, Relaxed);
            ids.clear();
            if n == 0 {
                ids.extend_from_slice(self.ids);
            }
            return n == 0;
        }
        for k in 0..self.kept.len() {
            let own = (me + k) % self.kept.len();
            let log = &self.kept[own];
            let n = self.next[own].fetch_add(1, Relaxed);
            let (chunk, part) = (n / self.parts, n % self.parts);
            if chunk < log.n_chunks() {
                log.read_chunk(chunk, ids);
                let cut = |part| ids.len() * part / self.parts;
                let (from, to) = (cut(part), cut(part + 1));
                ids.truncate(to);
                ids.drain(..from);
                return true;
            }
        }
        false
    }
}
