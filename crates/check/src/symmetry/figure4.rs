//! Weak fairness and symmetry by nested search, one way.
//!
//! Source  [Bosnacki-SYM] figure 4.
//! Fits    one mark at states, weak fairness, one thread. What it finds is there; that it finds nothing says little.
//!
//! # The argument
//!   The states are copied, once for each process and once more. A copy of a state is left for the next one when the
//!   process that it waits for moves or is not able to, so between two visits of an accepting state in copy 0 every process
//!   is served. The search goes through states of the system under their own names and remembers what stands for them.
//!   When the second search comes to what stands for its seed, a path has been found that serves everybody and ends in an
//!   image of the state where it began: its images, one after the other, are a fair cycle (`unfold::glue`; theorem 2).
//!   The converse fails: two states that stand for each other wait for different processes under the same number.
//!
//! # Where we leave the paper
//!   D1 a path of moves of nobody but the copies is none: the theorem's proof needs a move (a state without moves is
//!      not reported)
//!   D2 a move of the claim alone, where the system has ended, is nobody's and stays in its copy
//!   D3 where nobody is able to move all are served as they stand, so an accepting state is not left for copy 1: what the
//!      claim does there is a lap (as D5 of `cycles/fair.rs`)
//!
//! # Invariants
//!   I1 every process that is able to move, or moves, has a number below N, so there is a copy that waits for it
//!   I2 each move of a state is made once from each of its copies, unless an accepting one is left for copy 1; and one
//!      more, of nobody, goes to the next copy where the process that is waited for is not able to move
//!   I3 copies are 0 to N, and each has a bit of its own for each search
//!   I4 a path is one of states and moves under their own names; where there is no move, only the copy changes
//!
//! # Owed
//!   O1 what is found is there       tests: `figure_4_finds_nothing_that_is_not_there`, random models; every lasso is replayed
//!   O2 the converse fails           tests: `figure_4_misses_the_togglers_that_the_exact_check_finds`
//!   O3 D3                           tests: `figure_4_finds_runs_that_end`
//!
//! # Lossy stores
//!   One of these says whether a state is new in a copy and to a search, and may be wrong in saying that it is not. What is
//!   compared with the seed is what stands for a state, by its key; so still what is found is there.
//!
//! # Cost  each state stored once, with 2(N + 1) bits beside it: one for each copy and each of the two searches; expanded at
//!   most as often. With a lossy store, one entry for each of these bits that is set.

use super::threads::Permuted;
use crate::cycles::lossy::{Marked, Seen};
use crate::cycles::{Moves, Pids, Pulse, Request, Searched, ndfs};
use crate::observer::Observer;
use crate::search::Halt;
use crate::search::held::Held;
use spinor_model::ir::Pid;
use spinor_store::{Account, Arena, Budget, Full, Visited};
use std::sync::Arc;

/// A path through the states under their own names, and what follows it to an image of its end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fragment {
    pub initial: usize,
    pub stem: Vec<u32>,
    /// Empty if the last move of the stem ends the matter.
    pub lap: Vec<u32>,
}

/// Process `n` is waited for in copy `n + 1`.
type CopyId = u16;

struct Frame {
    copy: CopyId,
    accepting: bool,
    items: Vec<Item>,
    next: usize,
    /// The move that led here; none if only the copy changed.
    nth: Option<u32>,
    key: Vec<u8>,
}

struct Item {
    key: Vec<u8>,
    copy: CopyId,
    nth: Option<u32>,
}

impl Frame {
    fn bytes(&self) -> u64 {
        let item = |item: &Item| size_of::<Item>() + item.key.len();
        (size_of::<Frame>() + self.key.len() + self.items.iter().map(item).sum::<usize>()) as u64
    }
}

struct Search<'a, R: Permuted, S: Copies> {
    runs: &'a R,
    desk: R::Desk,
    seen: &'a mut S,
    /// What stands for the state at hand.
    key: Vec<u8>,
    n: CopyId,
    everybody: Pids,
    moves: Moves,
    pulse: Pulse<'a>,
    /// For what is on both paths.
    account: Account,
}

/// Who knows which search has met which state in which copy: the sign is one of these bits.
pub(crate) trait Copies: Seen {
    /// How many different states were met, as far as that is known.
    fn n_states(&self) -> u64;
}

impl<V: Visited> Copies for Marked<'_, V> {
    fn n_states(&self) -> u64 {
        self.len()
    }
}

/// States, and so many bits beside each, which all begin as zero.
pub(crate) struct Beside<'a> {
    store: &'a Arena,
    hand: <Arena as Visited>::Hand<'a>,
    each: usize,
    words: Held<u64>,
}

impl<'a> Beside<'a> {
    pub fn new(store: &'a Arena, n_procs: CopyId, budget: &Arc<Budget>) -> Beside<'a> {
        let each = 2 * (usize::from(n_procs) + 1);
        Beside { store, hand: store.hand(), each, words: Held::new(budget) }
    }

    /// Beside each state.
    pub fn n_bits(&self) -> usize {
        self.each
    }

    /// Of all bits.
    pub fn bytes(&self) -> u64 {
        self.words.len() as u64 * 8
    }
}

impl Seen for Beside<'_> {
    fn put(&mut self, key: &[u8], sign: u16) -> Result<bool, Full> {
        let (id, _) = self.store.put(&mut self.hand, key)?;
        self.store.rest(&mut self.hand);
        debug_assert!(usize::from(sign) < self.each, "I3");
        let at = id.index() * self.each + usize::from(sign);
        while self.words.len() <= at / 64 {
            self.words.push(0)?;
        }
        let before = self.words[at / 64];
        self.words[at / 64] |= 1 << (at % 64);
        Ok(before >> (at % 64) & 1 == 0)
    }
}

impl Copies for Beside<'_> {
    fn n_states(&self) -> u64 {
        self.store.len()
    }
}

/// Why it stopped.
enum Stop {
    Halt,
    Found(Vec<u32>),
    /// After these moves of the second search, some move ends the matter.
    Ends(Vec<u32>),
}

impl From<Halt> for Stop {
    fn from(_: Halt) -> Stop {
        Stop::Halt
    }
}

pub(crate) fn search<R: Permuted, S: Copies>(
    runs: &R,
    n: CopyId,
    seen: &mut S,
    request: &Request,
    observer: &mut dyn Observer,
) -> Searched<Fragment> {
    assert!(n <= CopyId::from(Pid::MAX) + 1, "{n} processes");
    let everybody = (0..n).fold(Pids::default(), |all, pid| all.union(Pids::of(Some(pid as Pid))));
    let (moves, key) = (Moves::default(), Vec::new());
    let (pulse, account) = (Pulse::new(request, observer), request.budget.account());
    let mut search = Search { runs, desk: runs.desk(), seen, key, n, everybody, moves, pulse, account };
    let mut start = Moves::default();
    runs.initial_raw(&mut search.desk, &mut start);
    let mut found = None;
    for initial in 0..start.all.len() {
        let mut path = Vec::new();
        let key = start.key(initial).to_vec();
        let stop = search.first(key, &mut path);
        let stem = || path.iter().filter_map(|f: &Frame| f.nth).collect::<Vec<u32>>();
        found = match stop {
            Ok(()) => continue,
            Err(Stop::Halt) => None,
            Err(Stop::Found(lap)) => Some(Fragment { initial, stem: stem(), lap }),
            Err(Stop::Ends(more)) => {
                let mut stem = stem();
                stem.extend(more);
                assert!(search.moves.ends.is_some(), "the moves at hand are those of the state where it ends");
                stem.extend(search.moves.ends);
                Some(Fragment { initial, stem, lap: Vec::new() })
            }
        };
        break;
    }
    search.pulse.counters.stored = search.seen.n_states();
    search.pulse.searched(found, request)
}

impl<R: Permuted, S: Copies> Search<'_, R, S> {
    /// Looks for what stands for a state.
    fn pick(&mut self, key: &[u8]) {
        self.key.clear();
        self.key.extend_from_slice(key);
        self.runs.pick(&mut self.desk, &mut self.key);
    }

    /// Whether one of the searches has not met it in this copy.
    fn put(&mut self, copy: CopyId, second: bool) -> Result<bool, Stop> {
        debug_assert!(copy <= self.n, "I3");
        let new = self.seen.put(&self.key, 2 * copy + u16::from(second)).map_err(|full| self.pulse.full(full))?;
        Ok(new)
    }

    /// Of a state on a path, which is so long with it.
    fn frame(&mut self, key: Vec<u8>, copy: CopyId, nth: Option<u32>, depth: usize) -> Result<Frame, Stop> {
        self.moves.clear();
        self.runs.moves_raw(&mut self.desk, &key, &mut self.moves);
        self.pulse.beat(depth as u64, &self.moves)?;
        let moves = &self.moves;
        let seen = moves.all.iter().fold(moves.able, |seen, m| seen.union(Pids::of(m.pid)));
        assert!(seen.without(self.everybody).is_empty(), "I1: only {} processes are waited for", self.n);
        if moves.ends.is_some() {
            return Err(Stop::Ends(Vec::new()));
        }
        let accepting = ndfs::accepts(moves, self.runs.n_marks()).expect("one mark, at states");
        let mut items = Vec::new();
        if copy == 0 && accepting && !moves.able.is_empty() {
            // D3
            items.push(Item { key: key.clone(), copy: 1, nth: None });
        } else {
            for i in 1..=self.n {
                let next = if copy == i { (copy + 1) % (self.n + 1) } else { copy };
                let pid = (i - 1) as Pid;
                if moves.able.has(pid) {
                    let own = moves.all.iter().enumerate().filter(|(_, m)| m.pid == Some(pid));
                    items.extend(own.map(|(nth, _)| Item {
                        key: moves.key(nth).to_vec(),
                        copy: next,
                        nth: Some(nth as u32),
                    }));
                } else if copy == i {
                    items.push(Item { key: key.clone(), copy: next, nth: None });
                }
            }
            let nobodys = moves.all.iter().enumerate().filter(|(_, m)| m.pid.is_none());
            // D2
            items.extend(nobodys.map(|(nth, _)| Item { key: moves.key(nth).to_vec(), copy, nth: Some(nth as u32) }));
        }
        let frame = Frame { copy, accepting, items, next: 0, nth, key };
        debug_assert!(self.check_items(&frame), "I2, I4");
        self.account.charge(frame.bytes()).map_err(|full| self.pulse.full(full))?;
        Ok(frame)
    }

    /// I2 to I4, of a state whose moves are at hand.
    fn check_items(&self, frame: &Frame) -> bool {
        let moves = &self.moves;
        let mut made: Vec<u32> = frame.items.iter().filter_map(|item| item.nth).collect();
        made.sort_unstable();
        let each_once = made.iter().copied().eq(0..moves.all.len() as u32);
        let stays = frame.items.iter().filter(|item| item.nth.is_none()).collect::<Vec<_>>();
        let waits = frame.copy.checked_sub(1).is_some_and(|pid| !moves.able.has(pid as Pid));
        let left = frame.copy == 0 && frame.accepting && !moves.able.is_empty();
        let after = |item: &Item| match item.nth {
            Some(nth) => {
                let is_waited_for = moves.all[nth as usize].pid.is_some_and(|p| CopyId::from(p) + 1 == frame.copy);
                moves.key(nth as usize) == item.key && is_waited_for == (item.copy != frame.copy)
            }
            None => item.key == frame.key && item.copy != frame.copy,
        };
        let n_staying = usize::from(left || waits);
        stays.len() == n_staying
            && (if left { made.is_empty() } else { each_once })
            && frame.items.iter().all(|item| item.copy <= self.n && after(item))
    }

    fn first(&mut self, key: Vec<u8>, path: &mut Vec<Frame>) -> Result<(), Stop> {
        self.pick(&key);
        if !self.put(0, false)? {
            return Ok(());
        }
        path.push(self.frame(key, 0, None, 1)?);
        while let Some(frame) = path.last_mut() {
            if let Some(item) = frame.items.get(frame.next) {
                frame.next += 1;
                let (key, copy, nth) = (item.key.clone(), item.copy, item.nth);
                self.pick(&key);
                if !self.pulse.too_deep(path.len() as u64) && self.put(copy, false)? {
                    match self.frame(key.clone(), copy, nth, path.len() + 1) {
                        Ok(frame) => path.push(frame),
                        Err(stop) => {
                            let items = Vec::new();
                            path.push(Frame { copy, accepting: false, items, next: 0, nth, key });
                            return Err(stop);
                        }
                    }
                }
                continue;
            }
            if frame.copy == 0 && frame.accepting {
                let key = frame.key.clone();
                self.second(key)?;
            }
            path.pop().iter().for_each(|frame| self.account.release(frame.bytes()));
        }
        Ok(())
    }

    fn second(&mut self, key: Vec<u8>) -> Result<(), Stop> {
        self.pick(&key);
        let seed = self.key.clone();
        self.put(0, true)?;
        let mut path = vec![self.frame(key, 0, None, 1)?];
        while let Some(frame) = path.last_mut() {
            let Some(item) = frame.items.get(frame.next) else {
                path.pop().iter().for_each(|frame| self.account.release(frame.bytes()));
                continue;
            };
            frame.next += 1;
            let (key, copy, nth) = (item.key.clone(), item.copy, item.nth);
            self.pick(&key);
            if copy == 0 && self.key == seed {
                let lap: Vec<u32> = path.iter().filter_map(|f| f.nth).chain(nth).collect();
                if !lap.is_empty() {
                    debug_assert!(path[0].accepting && path[0].copy == 0, "a lap begins where a state is accepted");
                    return Err(Stop::Found(lap)); // D1
                }
            } else if self.put(copy, true)? {
                match self.frame(key, copy, nth, path.len() + 1) {
                    Ok(frame) => path.push(frame),
                    Err(Stop::Ends(_)) => {
                        return Err(Stop::Ends(path.iter().filter_map(|f| f.nth).chain(nth).collect()));
                    }
                    Err(stop) => return Err(stop),
                }
            }
        }
        Ok(())
    }
}
