//! The levels of a breadth-first search, all of them: they are what a trace is found in.
//!
//! # The argument
//!   A small level lies behind the other small levels in one log, and its length is kept in two bytes, so that a model
//!   of a million levels pays little for each. A large one keeps the logs that its threads wrote. A level is for several
//!   threads from an eighth of that size on.
//!
//! # Invariants
//!   I1 the levels are the states of the store, each once, by their least distance from the initial state
//!   I2 up to the first level for several threads, the order inside a level is the order of discovery by one thread
//!   I3 every level has states, so a length of zero is said of large ones only

use super::held::Held;
use spinor_store::{Budget, Full, Log, StateId};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

pub(crate) struct Levels {
    /// The states that a small level has at most.
    small_len: u64,
    /// The states that a level for one thread has at most.
    alone: u64,
    /// How many states each small level has; zero for a large one.
    lens: Held<u16>,
    /// Where every so many-th level begins in the log of small ones, or would.
    starts: Held<u64>,
    /// The small levels, one after the other.
    small: Log,
    /// The large ones, with their numbers.
    large: Held<(usize, Arc<[Log]>)>,
    /// How many levels there are before the first one for several threads.
    n_ordered: usize,
}

/// Levels between two known starts.
const STRIDE: usize = 64;
/// So many states of a level are worth a thread: to meet costs as much as some of them.
const SHARE: usize = 128;

impl Levels {
    pub fn new(budget: &Arc<Budget>, alone: u64) -> Levels {
        Levels {
            small_len: alone.min(u64::from(u16::MAX)),
            alone: alone / 8,
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
        assert!(len > 0, "I3");
        ids.clear();
        let level = self.len();
        if level.is_multiple_of(STRIDE) {
            self.starts.push(self.small.len())?;
        }
        debug_assert_eq!(self.starts.len(), level / STRIDE + 1, "so many begin at a known place");
        if self.n_ordered == level && len <= self.alone {
            self.n_ordered += 1; // I2
        }
        if len > self.small_len {
            let take = |log: &mut Log| std::mem::replace(log, Log::new(budget));
            let logs: Arc<[Log]> = found.filter(|log| !log.is_empty()).map(take).collect();
            debug_assert_eq!(logs.iter().map(Log::len).sum::<u64>(), len, "I1");
            debug_assert!(self.large.last().is_none_or(|(last, _)| *last < level), "they are looked for by number");
            self.large.push((level, logs))?;
            return self.lens.push(0);
        }
        let mut chunk = Vec::new();
        for log in found {
            for n in 0..log.n_chunks() {
                log.read_chunk(n, &mut chunk);
                ids.extend_from_slice(&chunk);
            }
            log.clear();
        }
        debug_assert_eq!(ids.len() as u64, len, "I1");
        let from = self.small.len();
        for id in ids.iter() {
            self.small.push(*id)?;
        }
        self.lens.push(len as u16)?;
        debug_assert_eq!(
            self.place(level),
            from as usize..self.small.len() as usize,
            "a small level is looked for where it lies"
        );
        Ok(())
    }

    /// I1, of so many states.
    pub fn has_each_once(&self, n_states: u64) -> bool {
        let mut all = Vec::new();
        let mut put = |log: &Log| {
            let mut ids = Vec::new();
            log.read(0..log.len() as usize, &mut ids);
            all.append(&mut ids);
        };
        put(&self.small);
        self.large.iter().flat_map(|(_, logs)| logs.iter()).for_each(put);
        let n_met = all.len() as u64;
        all.sort_unstable();
        all.dedup();
        n_met == n_states && all.len() as u64 == n_states
    }

    /// I2
    pub fn is_ordered(&self, level: usize) -> bool {
        level < self.n_ordered
    }

    /// How many threads a level is worth.
    pub fn n_threads(&self, level: usize, jobs: usize) -> usize {
        let len = match self.lens[level] {
            0 => usize::MAX,
            len => usize::from(len),
        };
        let n = if len as u64 <= self.alone { 1 } else { jobs.min(len / SHARE).max(jobs.min(2)) };
        debug_assert!(!self.is_ordered(level) || n == 1, "I2");
        assert!((1..=jobs).contains(&n), "a level is expanded by somebody, and by no more than there are");
        n
    }

    /// Something to expand, by so many threads; `ids` are its states if it is small.
    pub fn units(&self, level: usize, ids: Vec<StateId>, n_threads: usize) -> Units {
        let kept = match self.large.binary_search_by_key(&level, |(level, _)| *level) {
            Ok(n) => Some(self.large[n].1.clone()),
            Err(_) => None,
        };
        assert_eq!(kept.is_some(), self.lens[level] == 0, "I3");
        debug_assert!(kept.is_some() || ids.len() == usize::from(self.lens[level]), "a small level is read");
        let heap = |range: Range<usize>| Heap { next: AtomicUsize::new(range.start), end: range.end };
        let heaps = match &kept {
            Some(logs) => logs.iter().map(|log| heap(0..log.len() as usize)).collect(),
            None => (0..n_threads).map(|n| heap(ids.len() * n / n_threads..ids.len() * (n + 1) / n_threads)).collect(),
        };
        Units { ids, kept, heaps, alone: n_threads == 1 }
    }

    /// Where a small level lies in its log.
    fn place(&self, level: usize) -> Range<usize> {
        let known = level / STRIDE;
        let before: usize = self.lens[known * STRIDE..level].iter().map(|len| usize::from(*len)).sum();
        let from = self.starts[known] as usize + before;
        debug_assert!(from as u64 + u64::from(self.lens[level]) <= self.small.len(), "I1");
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

pub(crate) struct Reader<'a> {
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
                let len = self.levels.small.len() as usize - self.at * self.chunk_len;
                assert_eq!(self.chunk.len(), len.min(self.chunk_len), "all chunks but the last are equally long");
            }
            ids.push(self.chunk[n % self.chunk_len]);
        }
    }
}

/// The states of a level, in portions. A thread takes those that it found itself first: their successors are the most
/// likely to be among the keys that it met a short while ago. For the same reason a portion is a part of what is left, as
/// large as leaves the others enough to do: the threads end together because the last portions are small.
pub(crate) struct Units {
    ids: Vec<StateId>,
    kept: Option<Arc<[Log]>>,
    /// One for each log, or of the states of a small level one for each thread.
    heaps: Vec<Heap>,
    alone: bool,
}

/// States that lie one after the other; those before the next one are taken.
struct Heap {
    next: AtomicUsize,
    end: usize,
}

/// The states that a portion has at least and at most, if there are so many.
const LEAST: usize = 32;
const MOST: usize = 4096;

impl Units {
    /// Reads the next portion for a thread into `ids`; `false` if there is none.
    pub fn take(&self, me: usize, ids: &mut Vec<StateId>) -> bool {
        for k in 0..self.heaps.len() {
            let nth = (me + k) % self.heaps.len();
            let Some(range) = self.heaps[nth].take(self.alone) else { continue };
            match &self.kept {
                Some(logs) => logs[nth].read(range, ids),
                None => {
                    ids.clear();
                    ids.extend_from_slice(&self.ids[range]);
                }
            }
            return true;
        }
        false
    }

    /// Nothing is left, nor was more taken than there is.
    pub fn are_taken(&self) -> bool {
        self.heaps.iter().all(|heap| heap.next.load(Relaxed) == heap.end)
    }

    /// The room of the list, for another level.
    pub fn into_ids(self) -> Vec<StateId> {
        self.ids
    }
}

impl Heap {
    fn take(&self, alone: bool) -> Option<Range<usize>> {
        let size = |from: usize| {
            let rest = self.end - from;
            let part = if alone { MOST } else { (rest / 4).clamp(LEAST, MOST) };
            part.min(rest)
        };
        let after = |from: usize| (from < self.end).then(|| from + size(from));
        let from = self.next.fetch_update(Relaxed, Relaxed, after).ok()?;
        Some(from..from + size(from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every state is in one portion, however long the logs are and whoever takes.
    #[test]
    fn portions_are_the_level() {
        for (n_logs, len, alone) in
            [(1, 5, 64), (3, 100, 800), (2, 700, 800), (1, 5000, 800), (4, 30_000, 800), (3, 9, 0)]
        {
            let budget = Budget::unlimited();
            let mut levels = Levels::new(&budget, alone);
            let mut logs: Vec<Log> = (0..n_logs).map(|_| Log::new(&budget)).collect();
            (0..len).for_each(|n| logs[n as usize * n as usize % n_logs].push(StateId(n)).expect("room"));
            let mut ids = Vec::new();
            levels.push(&budget, len, logs.iter_mut(), &mut ids).expect("room");
            for jobs in [1, 2, 5] {
                let n_threads = levels.n_threads(0, jobs);
                assert_eq!(n_threads == 1, jobs == 1 || len <= alone / 8);
                let units = levels.units(0, ids.clone(), n_threads);
                let (mut all, mut portion) = (Vec::new(), Vec::new());
                let mut n_portions = 0;
                while units.take(n_portions % n_threads, &mut portion) {
                    assert!(!portion.is_empty());
                    all.append(&mut portion);
                    n_portions += 1;
                }
                assert!(n_threads == 1 || n_portions >= n_threads.min(len as usize / LEAST), "{n_portions}");
                all.sort();
                assert!(all.iter().map(|id| id.0).eq(0..len));
            }
        }
    }
}
