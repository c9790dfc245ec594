//! The processes that live, and what their steps have to do with each other.
//!
//! As long as the same processes live, with the same values in their fixed slots, one table says all that does not
//! depend on the rest of the state. A *transition* is an edge of one process of the cast (a handshake is two of them,
//! taken together); those of the edges at the location where the process stands are *current*.
//!
//! # The relations
//!   t *disturbs* u   in some state where both can be taken, one keeps the other from being taken, or their order
//!                    matters. Never for two of one process at different locations: they cannot both be taken.
//!   u *enables* t    it may make true what t needs and does not have yet; what that is depends on how channels are filled
//!   t *meets* u      they may be the two halves of a handshake
//!   A row of a table also speaks for what comes later: it has a current transition c where the relation holds of c itself,
//!   of a transition that the process of c reaches only through c, or of one of a process that c leads to making.
//!
//! Each row may have too much, never too little (`touch`).
//!
//! # Invariants
//!   I1 transitions are numbered process by process, those of a process by its edges
//!   I2 to disturb is mutual, and what is gone one step further for has at least what it is gone from
//!   I3 different fields are gathered to different words: no bit is put where another is, and none is left behind
//!   I4 a row is of who is asked about: of a location of that process, of a phase that there is, of as many channels as tell
//!   I5 the locations of a process share out its transitions; in a later phase no more is shut than in the first, and with
//!      loops closed no less

mod making;
mod witness;

pub(super) use making::Making;
use witness::Witness;

use super::statics::Statics;
use super::uses::ActorId;
use super::without::{Condition, Without};
use spinor_model::index::Idx;
use spinor_model::ir::{EdgeId, Loc, Pid};
use spinor_model::layout::{Field, Layout};
use spinor_model::successors::Step;

/// Casts with more transitions are not reduced: the tables grow with the square. Their numbers, and those of locations, have
/// 16 bits.
pub(super) const MOST_TRANSITIONS: usize = 4096;
const MOST_LOCS: usize = 1 << 16;

/// Of so many channels it is asked how they are filled.
const MOST_TOLD: usize = 2;

#[derive(Debug)]
pub(super) struct Cast {
    /// Of a different cast it is different.
    pub number: u32,
    /// Every key of it has these bits: how many processes there are, their proctypes, what tells them apart.
    marks: Marks,
    /// By process: where the key says where it stands; and the same for all of them at once.
    stands: Vec<Field>,
    gathered: Gathered,
    /// By process: the number of its first edge, and of its first location.
    first: Vec<u32>,
    first_loc: Vec<u32>,
    owner: Vec<ActorId>,
    pub n_blocks: usize,
    /// By process and location: what is current there.
    current: Vec<Block>,
    /// By process: all that is its.
    own: Vec<Block>,
    /// Of one that can be taken: what is its process's, and what it disturbs; and the same one step further.
    disturbs: Vec<Block>,
    with: Vec<Block>,
    /// What enables it, and what it meets: a row for each way its channels may be filled.
    enables: Vec<Block>,
    /// By transition: which row.
    lacks: Vec<Lacks>,
    /// The channels that tell, each once.
    asked: Vec<Told>,
    pub flags: Vec<Flags>,
    /// What must not be selected: by phase what is seen, and behind that the same with what closes a loop.
    shut: Vec<Block>,
    n_phases: u32,
    /// In the same order, by process and location: whatever the rest of the state, what can be taken there, if anything, is
    /// a closed set that may be selected.
    safe: Vec<bool>,
    n_locs: usize,
    /// Whether that is true anywhere.
    any_safe: bool,
    /// By process and location: it makes progress to stand there. Nothing if no states make progress.
    pub labels: Vec<Vec<bool>>,
    /// By process and location: it may come to where it minds that a handshake becomes possible; it stands where one of
    /// its own may (`repairs`).
    minds: Vec<Vec<bool>>,
    offers: Vec<Vec<bool>>,
    pub without: Without,
    /// In debug builds.
    witness: Option<Witness>,
}

/// What else is known of a transition.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flags {
    /// It may be half of a handshake.
    pub half: bool,
    /// Nothing but the first message of a channel is missing, if it cannot be taken.
    receives: bool,
    pub closes: bool,
    /// It may make progress, or lead to a label (`still`).
    pub marked: bool,
}

/// A row is of these, so that what is done to it is done to several words at once.
pub(super) type Block = [u64; 4];
/// Transitions of a block.
pub(super) const BLOCK: usize = 256;

/// A set of transitions, of whole blocks.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Set(Vec<u64>);

impl Set {
    /// Of none of so many.
    pub fn new(n: usize) -> Set {
        Set(vec![0; n.div_ceil(BLOCK) * (BLOCK / 64)])
    }
    fn blocks(&self) -> &[Block] {
        self.0.as_chunks().0
    }
    pub fn has(&self, t: u32) -> bool {
        self.0[t as usize / 64] >> (t % 64) & 1 == 1
    }
    pub fn put(&mut self, t: u32) {
        self.0[t as usize / 64] |= 1 << (t % 64);
    }
    /// Takes one of them out.
    pub fn take(&mut self) -> Option<u32> {
        let (n, word) = self.0.iter_mut().enumerate().find(|(_, word)| **word != 0)?;
        let bit = word.trailing_zeros();
        *word &= *word - 1;
        Some(n as u32 * 64 + bit)
    }
    fn add(&mut self, other: &Set) {
        debug_assert_eq!(self.0.len(), other.0.len(), "sets of one cast");
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a |= b);
    }
    fn remove(&mut self, other: &Set) {
        debug_assert_eq!(self.0.len(), other.0.len(), "sets of one cast");
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a &= !b);
    }
    fn is_within(&self, other: &Set) -> bool {
        debug_assert_eq!(self.0.len(), other.0.len(), "sets of one cast");
        self.0.iter().zip(&other.0).all(|(a, b)| a & !b == 0)
    }
    fn meets(&self, other: &Set) -> bool {
        debug_assert_eq!(self.0.len(), other.0.len(), "sets of one cast");
        self.0.iter().zip(&other.0).any(|(a, b)| a & b != 0)
    }
}

impl Cast {
    /// Is this the cast of the state?
    #[inline]
    pub fn fits(&self, key: &[u8]) -> bool {
        self.marks.are_on(key)
    }

    /// Where each process stands.
    #[inline]
    pub fn stands(&self, key: &[u8]) -> impl Iterator<Item = Loc> + Clone {
        self.stands.iter().map(|field| Loc::new(field.read(key) as usize))
    }

    /// The same in words, as many as [`Cast::n_gathered`].
    #[inline]
    pub fn gather(&self, key: &[u8], words: &mut [u64]) {
        self.gathered.gather(key, words);
        let n_bits = words[..self.gathered.n_words].iter().map(|word| word.count_ones()).sum::<u32>();
        debug_assert_eq!(n_bits, self.stands(key).map(|loc| loc.0.count_ones()).sum::<u32>(), "I3");
    }

    pub fn n_gathered(&self) -> usize {
        self.gathered.n_words
    }

    /// How the channels that matter to `enables` are filled: each a [`Filled`] as a number, and a 0 behind them.
    #[inline]
    pub fn fill(&self, key: &[u8], filled: &mut Vec<u8>) {
        filled.clear();
        filled.extend(self.asked.iter().map(|told| told.filled(key)));
        filled.push(0);
        debug_assert_eq!(filled.len(), self.asked.len() + 1, "the place behind all says nothing");
    }

    /// Somebody minds, or may yet mind, that a handshake becomes possible.
    pub fn is_minded(&self, key: &[u8], steps: &[Step]) -> bool {
        let literal = !self.without.keeps(Condition::Coming);
        let can = |pid: usize| literal && steps.iter().any(|s| usize::from(s.pid) == pid && s.partner.is_some());
        let minds = |(pid, loc): (usize, Loc)| self.minds[pid].get(loc.index()).is_some_and(|m| *m) && !can(pid);
        self.without.keeps(Condition::Minded) && self.stands(key).enumerate().any(minds)
    }

    /// A process stands at a send of a handshake.
    pub fn offers(&self, pid: Pid, key: &[u8]) -> bool {
        let at = |loc: Loc| self.offers[pid as usize].get(loc.index()).is_some_and(|o| *o);
        self.stands(key).nth(pid as usize).is_some_and(at)
    }

    /// I2, of the transitions of those that live.
    fn check_rows(&self, n: usize) -> bool {
        // All pairs: small casts are enough.
        if n > 512 {
            return true;
        }
        let disturbs = |t: u32, u: u32| has(self.row(&self.disturbs, t), u);
        let all = || (0..n as u32).flat_map(|t| (0..n as u32).map(move |u| (t, u)));
        let mine = |t: u32, u: u32| self.owner(t) == self.owner(u);
        // Of one process no two can be changed in their order: what sleeps must be disturbed by them all (`commute`).
        let mutual = |(t, u)| if mine(t, u) { disturbs(t, u) } else { disturbs(t, u) == disturbs(u, t) };
        all().all(mutual) && all().all(|(t, u)| !disturbs(t, u) || has(self.with(t), u))
    }

    /// I5
    fn check_shares(&self) -> bool {
        let n_locs =
            |pid: usize| self.first_loc.get(pid + 1).map_or(self.n_locs as u32, |next| *next) - self.first_loc[pid];
        let is_shared_out = |pid: usize| {
            let mut left = self.own(pid as Pid).to_vec();
            for loc in 0..n_locs(pid) {
                for (left, here) in left.iter_mut().zip(self.current(pid as Pid, Loc(loc))) {
                    for n in 0..here.len() {
                        if here[n] & !left[n] != 0 {
                            return false;
                        }
                        left[n] &= !here[n];
                    }
                }
            }
            left.iter().all(|left| *left == [0; 4])
        };
        let is_within =
            |a: &[Block], b: &[Block]| a.as_flattened().iter().zip(b.as_flattened()).all(|(a, b)| a & !b == 0);
        let phases = || 0..self.n_phases;
        let safe = |phase: u32, strict: bool| {
            let row = self.row_of(phase, strict) as usize * self.n_locs;
            &self.safe[row..row + self.n_locs]
        };
        let no_more = |a: &[bool], b: &[bool]| a.iter().zip(b).all(|(a, b)| !a || *b);
        (0..self.stands.len()).all(is_shared_out)
            && phases().all(|phase| is_within(self.shut(phase, false), self.shut(phase, true)))
            && phases().all(|phase| is_within(self.shut(phase, false), self.shut(0, false)))
            && phases().all(|phase| no_more(safe(phase, true), safe(phase, false)))
            && phases().all(|phase| no_more(safe(0, false), safe(phase, false)))
            && (0..self.flags.len() as u32).all(|t| !self.flags[t as usize].closes || has(self.shut(0, true), t))
    }

    /// I4
    #[inline]
    fn row_of(&self, phase: u32, strict: bool) -> u32 {
        debug_assert!(phase < self.n_phases, "I4: one of the phases");
        if strict { self.n_phases + phase } else { phase }
    }

    /// I4
    #[inline]
    fn place(&self, pid: usize, loc: u32) -> usize {
        let place = self.first_loc[pid] + loc;
        let end = || self.first_loc.get(pid + 1).map_or(self.n_locs as u32, |next| *next);
        debug_assert!(place < end(), "I4: a location of the process");
        place as usize
    }

    /// By process: the number of the transition that is its first edge; those of others follow it.
    #[inline]
    pub fn firsts(&self) -> &[u32] {
        &self.first
    }

    #[inline]
    pub fn transition(&self, pid: Pid, edge: EdgeId) -> u32 {
        let t = self.first[pid as usize] + edge.index() as u32;
        debug_assert_eq!(self.owner[t as usize], pid as usize, "I1");
        t
    }

    #[inline]
    pub fn current(&self, pid: Pid, loc: Loc) -> &[Block] {
        self.row(&self.current, self.place(usize::from(pid), loc.0) as u32)
    }

    #[inline]
    pub fn own(&self, pid: Pid) -> &[Block] {
        self.row(&self.own, u32::from(pid))
    }

    /// What must not be selected; with `strict`, nothing that closes a loop either.
    #[inline]
    pub fn shut(&self, phase: u32, strict: bool) -> &[Block] {
        self.row(&self.shut, self.row_of(phase, strict))
    }

    /// The processes whose steps are a closed set that may be selected, if they have any; in the order of steps.
    #[inline]
    pub fn safe(&self, key: &[u8], phase: u32, strict: bool) -> impl Iterator<Item = Pid> {
        let row = self.row_of(phase, strict) as usize * self.n_locs;
        let is_safe = move |pid: &usize| self.safe[row + self.place(*pid, self.stands[*pid].read(key) as u32)];
        let n_pids = if self.any_safe { self.stands.len() } else { 0 };
        (0..n_pids).rev().filter(is_safe).map(|pid| pid as Pid)
    }

    #[inline]
    pub fn owner(&self, t: u32) -> Pid {
        self.owner[t as usize] as Pid
    }

    #[inline]
    fn row<'r>(&self, table: &'r [Block], t: u32) -> &'r [Block] {
        &table[t as usize * self.n_blocks..(t as usize + 1) * self.n_blocks]
    }

    #[inline]
    pub fn disturbs(&self, t: u32) -> &[u64] {
        self.row(&self.disturbs, t).as_flattened()
    }

    #[inline]
    pub fn with(&self, t: u32) -> &[Block] {
        self.row(&self.with, t)
    }

    /// What may let a transition happen that cannot happen while channels are filled like this, and what it may meet.
    #[inline]
    pub fn enables(&self, t: u32, filled: &[u8]) -> &[Block] {
        debug_assert_eq!(filled.len(), self.asked.len() + 1, "I4");
        let Lacks { first, by } = &self.lacks[t as usize];
        let row = first + by.iter().fold(0, |n, by| n * 3 + u32::from(filled[usize::from(*by)]));
        debug_assert!(self.lacks.get(t as usize + 1).is_none_or(|next| row < next.first), "a row of its own");
        self.row(&self.enables, row)
    }

    /// Of one that cannot be taken: it may only be for want of a message, or of room.
    pub fn lacks_message(&self, t: u32, filled: &[u8]) -> bool {
        let empty = |by: &u16| filled[usize::from(*by)] == 0;
        !self.flags[t as usize].receives || self.lacks[t as usize].by.iter().all(empty)
    }
}

/// Which row says what enables a transition.
#[derive(Clone, Copy, Debug)]
struct Lacks {
    /// While its channels are empty.
    first: u32,
    /// Where its channels are among those that tell. It may have fewer: then the first of these are the place behind all.
    by: [u16; MOST_TOLD],
}

/// How to get fields of a key into few words.
#[derive(Debug, Default)]
struct Gathered {
    pieces: Vec<Piece>,
    n_words: usize,
}

/// Some bits of eight bytes of a key, and where they are put.
#[derive(Debug)]
struct Piece {
    at: u32,
    turn: u32,
    mask: u64,
    word: usize,
}

impl Gathered {
    /// No two pieces have a bit in common where they are put, so different fields are different words.
    fn new(fields: &[Field], len: usize) -> Gathered {
        let mut bits = vec![0; len];
        fields.iter().for_each(|f| bits[f.at as usize..][..usize::from(f.bytes)].fill(u8::MAX));
        let (mut pieces, mut put): (_, Vec<u64>) = (Vec::new(), Vec::new());
        while let Some(first) = bits.iter().position(|b| *b != 0) {
            let at = first.min(len.saturating_sub(8));
            let mask = word(&bits, at);
            bits.iter_mut().skip(at).take(8).for_each(|b| *b = 0);
            let room = |(n, put): (usize, &u64)| {
                (0..64).step_by(8).find(|turn| put & mask.rotate_left(*turn) == 0).map(|turn| (n, turn))
            };
            let (word, turn) = put.iter().enumerate().find_map(room).unwrap_or((put.len(), 0));
            put.resize(put.len().max(word + 1), 0);
            assert_eq!(put[word] & mask.rotate_left(turn), 0, "I3");
            put[word] |= mask.rotate_left(turn);
            pieces.push(Piece { at: at as u32, turn, mask, word });
        }
        let n_put = put.iter().map(|put| put.count_ones()).sum::<u32>();
        debug_assert_eq!(n_put, fields.iter().map(|f| u32::from(f.bytes) * 8).sum::<u32>(), "I3");
        Gathered { pieces, n_words: put.len() }
    }

    #[inline]
    fn gather(&self, key: &[u8], words: &mut [u64]) {
        words[..self.n_words].fill(0);
        for piece in &self.pieces {
            words[piece.word] |= (word(key, piece.at as usize) & piece.mask).rotate_left(piece.turn);
        }
    }
}

/// Where a key tells how many messages a channel has, and how many it can have.
#[derive(Clone, Copy, Debug)]
struct Told {
    len: Field,
    capacity: i32,
}

impl Told {
    /// A [`Filled`] as a number.
    #[inline]
    fn filled(&self, key: &[u8]) -> u8 {
        let len = self.len.read(key);
        debug_assert!((0..=self.capacity).contains(&len), "no more messages than there is room for");
        let filled = u8::from(len > 0) + u8::from(len >= self.capacity);
        debug_assert_eq!(filled == 0, len == 0, "a channel without slots tells nothing");
        filled
    }
}

/// Does a row have it?
fn has(row: &[Block], t: u32) -> bool {
    row[t as usize / BLOCK][t as usize % BLOCK / 64] >> (t % 64) & 1 == 1
}

/// What tells casts apart.
pub(super) fn signature(layout: &Layout, statics: &Statics, key: &[u8]) -> Vec<i32> {
    let mut out = Vec::new();
    for (at, t) in layout.frames(key) {
        out.push(t.index() as i32);
        out.extend(statics.told_by[t.index()].iter().map(|f| f.read(&key[at..])));
    }
    out
}

/// The signature as it lies in a key, by words: where, which bits, and what they are.
#[derive(Debug)]
struct Marks {
    len: usize,
    words: Vec<(u32, u64, u64)>,
}

impl Marks {
    fn new(layout: &Layout, statics: &Statics, key: &[u8]) -> Marks {
        let mut mask = vec![0; key.len()];
        let mut mark = |f: Field| mask[f.at as usize..f.at as usize + usize::from(f.bytes)].fill(u8::MAX);
        mark(layout.n_procs);
        for (at, t) in layout.frames(key) {
            mark(layout.proctype.after(at as u32));
            statics.told_by[t.index()].iter().for_each(|f| mark(f.after(at as u32)));
        }
        let words = (0..key.len()).step_by(8).map(|at| (at as u32, word(&mask, at), word(key, at)));
        let words = words.filter(|(_, mask, _)| *mask != 0).map(|(at, mask, word)| (at, mask, word & mask)).collect();
        let marks = Marks { len: key.len(), words };
        debug_assert!(marks.are_on(key), "the state is one of its cast");
        marks
    }

    /// A key with the same marks has the same frames in the same places, so it is as long.
    #[inline]
    fn are_on(&self, key: &[u8]) -> bool {
        key.len() == self.len && self.words.iter().all(|(at, mask, value)| word(key, *at as usize) & mask == *value)
    }
}

/// Eight bytes of it, as many as there are.
#[inline]
fn word(bytes: &[u8], at: usize) -> u64 {
    let rest = &bytes[at..];
    match rest.first_chunk() {
        Some(eight) => u64::from_le_bytes(*eight),
        None => rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
    }
}
