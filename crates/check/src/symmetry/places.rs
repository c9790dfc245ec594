//! Where the processes are in a key: what a permutation moves and renames, and what can be said about each process.
//!
//! All that does not depend on the state is worked out once. Members of classes never end and nobody before them
//! does (`model/scalarset`, A3), so once all are there, their frames lie at fixed places.
//!
//! Most places are of a simple kind, and handled by short loops; the rest by a general one. `listed` finds them, `image` moves
//! and renames, and what is seen is here.
//!
//! | kind | is | does |
//! |---|---|---|
//! | number | holds the number of a process and stays where it is in its frame: a local, a register | is renamed |
//! | column | an array of globals that has one element for each member of a class | moves; is renamed if it holds numbers |
//! | queue | a channel that stays where it is in its frame and holds numbers | its messages are renamed |
//! | slot, chan | anything else: two indices, arrays in frames, numbers of channels, arrays of channels | all of it |
//!
//! # Invariants
//!   I1 what `apply` does for a product of permutations is what it does for one after the other
//!   I2 what `see` says about the processes of a state it says about their images in an image of the state
//!   I3 two processes of one colour can change places while the key remains, unless one of them is mentioned together with
//!      somebody who shares a colour with another process, or with two others at once (if no two hashes are equal by
//!      chance: then only too many states are seen)
//!   I4 a number that is not read again counts as zero, and is zero in every image
//!   I5 what is listed is of members, and has every word of their frames once
//!   I6 no two of what acts in a frame, or among the globals, lie on each other
//!   I7 members of a class are of one proctype, and there is a frame for each up to the highest
//!   I8 who is named or mentioned is of a class, and nobody is mentioned with itself

pub(super) mod image;
mod listed;

use crate::cycles::Pids;
use spinor_model::index::Idx;
use spinor_model::ir::Pid;
use spinor_model::layout::{Field, Layout};
use spinor_model::scalarset::{Dim, Scalarset, Value};

pub struct Places {
    pub set: Scalarset,
    pub layout: Layout,
    /// One more than the highest member of a class.
    pub n: usize,
    /// By process: it is in a class.
    member: Vec<bool>,
    /// The frames up to the highest member, and where the next one begins.
    fixed: Vec<FrameAt>,
    end: FrameAt,
    /// What is a member's own and names nobody, in its frame and in columns.
    looks: Vec<Look>,
    /// The words of the frames of members: of all of a class, or of one.
    words: Vec<Row>,
    /// Numbers in the frames of members, and by location whether they are read again.
    own: Vec<Own>,
    alive: Vec<bool>,
    /// Those, and the numbers that columns hold for a member.
    held: Vec<Own>,
    /// Numbers among the globals, which are always read again, and what they say about whom they name: those of a byte, with
    /// the table that says whom, and the others.
    bytes: Vec<(usize, usize, u64)>,
    registers: Vec<(Number, u64)>,
    /// By what is added to a number: of each byte, which member it names; one more than the highest if none.
    names: Vec<(i32, [u8; 256])>,
    /// Columns of bytes that name nobody: these move, and that is all. The others.
    cells: Vec<Row>,
    columns: Vec<usize>,
    /// Processes below the highest member whose frames have more to see than that.
    busy: Vec<usize>,
    /// There are such, or there is more to see among the globals, or `_last` names somebody.
    is_rich: bool,
    globals: Acts,
    procs: Vec<Acts>,
    /// Some number of a process is not always read again.
    has_dead: bool,
}

#[derive(Clone, Copy)]
pub struct FrameAt {
    at: usize,
    proctype: usize,
    /// The number of its first channel.
    chan: usize,
}

/// The frames of a key: the fixed ones, and those beyond.
#[derive(Clone, Copy)]
struct Frames<'a>(&'a [FrameAt], &'a [FrameAt]);

impl Frames<'_> {
    #[inline]
    fn at(&self, p: usize) -> FrameAt {
        self.0.get(p).copied().unwrap_or_else(|| self.1[p - self.0.len()])
    }

    /// Whose a channel is.
    fn owner(&self, chan: usize, procs: &[Acts]) -> Option<usize> {
        let holds = |f: &FrameAt| (f.chan..f.chan + procs[f.proctype].chans.len()).contains(&chan);
        self.0.iter().chain(self.1).position(holds)
    }
}

/// What is said about the processes of a state.
#[derive(Clone, Default)]
pub struct Said {
    /// By process: all that names nobody else, the location first.
    pub colours: Vec<u64>,
    /// Two that are mentioned together, and how.
    pub refs: Vec<(Pid, Pid, u64)>,
    /// Those whose number is kept somewhere, or who are mentioned where more than one can be; but not by what is
    /// anybody's own. What is simple about that is known only after `see_names`.
    named: Pids,
    /// Those who are mentioned with two others at once: what their pairs say is not all.
    pub many: Pids,
    /// There may be a number that is not read again and is not zero.
    pub stale: bool,
    coords: Vec<Pid>,
}

/// What a permutation does inside a frame.
#[derive(Default)]
struct Acts {
    /// The words of a frame, without what acts.
    words: Vec<(usize, u64)>,
    numbers: Vec<Number>,
    /// By location and number: it is read again. Empty if all are always.
    live: Vec<bool>,
    columns: Vec<Column>,
    queues: Vec<Queue>,
    slots: Vec<SlotAct>,
    /// By location and slot: of the general ones.
    live_slots: Vec<Vec<bool>>,
    chans: Vec<ChanAct>,
    /// Those of them that are of the general kind.
    moving: Vec<usize>,
    /// Of all slots.
    fields: Vec<Field>,
    /// The channel that was put into a slot.
    by_slot: Vec<Option<u32>>,
}

/// Eight bytes of a key, or one, for each of some members with numbers on end: where the first one's are, and how far from there the
/// next one's.
#[derive(Clone, Copy)]
struct Row {
    first: usize,
    n: usize,
    at: usize,
    stride: usize,
}

impl Row {
    fn of(pid: Pid, at: usize) -> Row {
        Row { first: usize::from(pid), n: 1, at, stride: 0 }
    }

    /// Of all of these, if they lie as they must.
    fn all(mut of: impl Iterator<Item = (Pid, usize)>) -> Option<Row> {
        let (pid, at) = of.next()?;
        let mut row = Row::of(pid, at);
        of.all(|(pid, at)| row.take(pid, at)).then_some(row)
    }

    /// Takes the next member's, if they lie as they must.
    fn take(&mut self, pid: Pid, at: usize) -> bool {
        let next = usize::from(pid) == self.first + self.n && at > self.at;
        let stride = at.wrapping_sub(self.at);
        if next && self.n == 1 {
            self.stride = stride;
        }
        let fits = next && stride == self.n * self.stride;
        self.n += usize::from(fits);
        fits
    }
}

/// Some bytes of a key that say something about members.
struct Look {
    row: Row,
    mask: u64,
    tag: u64,
}

/// A number in the frame of a member, or held for it by a column; its field is that of the key.
#[derive(Clone)]
struct Own {
    number: Number,
    pid: Pid,
    /// Where its process stands, and where the list of locations begins at which it is read again, if that is not always.
    loc: Field,
    alive: Option<usize>,
}

#[derive(Clone, Copy)]
struct Number {
    field: Field,
    offset: i32,
    tag: u64,
}

impl Number {
    /// What a register says about the one whose number it has.
    fn said(&self) -> u64 {
        mix(self.tag, 0)
    }
}

struct Column {
    /// By process, and those of the class in its order.
    fields: Vec<Field>,
    of_class: Vec<(Pid, Field)>,
    /// The offset, if it holds numbers.
    names: Option<i32>,
    tag: u64,
}

struct Queue {
    len: Field,
    /// Numbers in a message.
    each: usize,
    numbers: Vec<Number>,
}

struct SlotAct {
    slot: u32,
    field: Field,
    value: Value,
    dims: Vec<Dim>,
    place: Place,
}

struct ChanAct {
    slot: u32,
    len: Field,
    /// Of each message.
    messages: Vec<Vec<Field>>,
    values: Vec<Value>,
    dims: Vec<Dim>,
    place: Place,
}

/// What can be said about a place before a state is met.
#[derive(Default)]
struct Place {
    /// The members that its indices name.
    named: Vec<Pid>,
    tag: u64,
}

/// A colour is a location and so many bits of a hash: a step that leads to a location nearby leaves most in their places.
const HASH_BITS: u32 = 48;

/// What a location gives to a colour.
#[inline]
fn hue(loc: i32) -> u64 {
    (loc as u64).min(u64::MAX >> HASH_BITS) << HASH_BITS
}

/// A process is mentioned with itself.
const ITSELF: u64 = 1 << 46;

/// Adds something to what is said by a colour.
#[inline]
pub fn tinted(colour: u64, what: u64) -> u64 {
    let hash = u64::MAX >> (64 - HASH_BITS);
    colour & !hash | colour.wrapping_add(what >> (64 - HASH_BITS)) & hash
}

/// A hash of two; the second multiplication that others need is saved by keeping all of the product.
#[inline]
pub fn mix(a: u64, b: u64) -> u64 {
    let x = u128::from(a ^ 0x9E37_79B9_7F4A_7C15) * u128::from(b ^ 0xD1B5_4A32_D192_ED03);
    x as u64 ^ (x >> 64) as u64
}

/// Most numbers are bytes.
#[inline]
fn read(field: Field, frame: &[u8]) -> i32 {
    if field.bytes == 1 { i32::from(frame[field.at as usize]) } else { field.read(frame) }
}

#[inline]
fn write(field: Field, frame: &mut [u8], value: i32) {
    if field.bytes == 1 {
        frame[field.at as usize] = value as u8;
    } else {
        field.write(frame, value);
    }
    debug_assert_eq!(read(field, frame), value, "scalarset I1");
}

/// Whether there is such a process nobody could guess, so there is no branch.
#[inline]
fn renamed(value: i32, offset: i32, perm: &[Pid]) -> i32 {
    let pid = value.wrapping_add(offset) as usize;
    let is_one = pid < perm.len();
    let to = i32::from(perm[if is_one { pid } else { 0 }]) - offset;
    if is_one { to } else { value }
}

fn moved(slot: u32, dims: &[Dim], perm: &[Pid]) -> u32 {
    dims.iter().fold(slot, |slot, d| {
        let to = renamed(d.index as i32, d.offset, perm);
        debug_assert!((0..d.len as i32).contains(&to), "scalarset I2: {to} of {}", d.len);
        slot - d.index * d.stride + to as u32 * d.stride
    })
}

impl ChanAct {
    /// The same for all elements of an array of channels.
    fn base(&self, n: usize) -> u64 {
        let offset = self.dims.iter().map(|d| d.index * d.stride).sum::<u32>();
        if self.dims.is_empty() { n as u64 } else { u64::from(self.slot - offset) << 32 }
    }
}

impl Acts {
    /// Where a channel of the frame goes.
    fn chan_to(&self, n: usize, perm: &[Pid]) -> usize {
        let chan = &self.chans[n];
        match moved(chan.slot, &chan.dims, perm) {
            to if to == chan.slot => n,
            to => {
                let there = self.by_slot[to as usize];
                debug_assert!(there.is_some(), "an array of channels has one in each element");
                there.map_or(n, |to| to as usize)
            }
        }
    }

    /// There is more to see than numbers and columns.
    #[inline]
    fn is_busy(&self) -> bool {
        !(self.queues.is_empty() && self.slots.is_empty() && self.moving.is_empty())
    }

    #[inline]
    fn is_live(&self, loc: usize, number: usize) -> bool {
        self.live.is_empty() || self.live[loc * self.numbers.len() + number]
    }
}

impl Said {
    #[inline]
    fn add(&mut self, p: Pid, what: u64) {
        let colour = &mut self.colours[usize::from(p)];
        *colour = colour.wrapping_add(what);
    }

    /// A place that is of one process holds the number of another; or of the same.
    #[inline]
    fn meet(&mut self, p: Pid, q: Pid, tag: u64) {
        self.named.put(p);
        self.named.put(q);
        if p == q {
            self.add(p, mix(tag, ITSELF));
        } else {
            self.refs.push((p, q, tag));
        }
    }

    /// Whether the number of one of two that are the `same` is kept anywhere, or it is mentioned with others. (If it held
    /// its own number, so would the other one, and they would be mentioned together.)
    pub fn is_named(&self, p: Pid) -> bool {
        self.named.has(p) || self.refs.iter().any(|(a, b, _)| *a == p || *b == p)
    }

    /// Those in `coords` are mentioned together.
    fn together(&mut self, tag: u64, value: u64) {
        let said = mix(tag, value);
        match self.coords[..] {
            [] => {}
            [p] => {
                self.named.put(p);
                self.add(p, said);
            }
            [first, .., last] => {
                for i in 1..self.coords.len() {
                    self.meet(self.coords[i - 1], self.coords[i], mix(said, i as u64));
                }
                if self.coords.len() > 2 {
                    self.meet(first, last, said);
                    self.coords.iter().for_each(|p| self.many.put(*p));
                }
            }
        }
    }
}

impl Places {
    pub fn identity(&self) -> Vec<Pid> {
        (0..self.n).map(|p| p as Pid).collect()
    }

    fn is_member(&self, pid: i32) -> bool {
        self.member.get(pid as usize) == Some(&true)
    }

    /// Whether all members are there, so that they can change places; and where the frames beyond them are.
    #[inline]
    pub fn read(&self, key: &[u8], beyond: &mut Vec<FrameAt>) -> bool {
        beyond.clear();
        let n_procs = read(self.layout.n_procs, key) as usize;
        if n_procs == self.n && self.set.settled.is_none() && !cfg!(debug_assertions) {
            return true;
        }
        self.read_beyond(key, n_procs, beyond)
    }

    fn read_beyond(&self, key: &[u8], n_procs: usize, beyond: &mut Vec<FrameAt>) -> bool {
        if n_procs < self.n {
            return false;
        }
        if let Some((pid, locs)) = &self.set.settled {
            // If it has ended, it has done so with nothing ahead.
            let at = match self.fixed.get(usize::from(*pid)) {
                Some(frame) => Some(frame.at),
                None => self.layout.frames(key).nth(usize::from(*pid)).map(|(at, _)| at),
            };
            if at.is_some_and(|at| !locs[self.layout.loc.read(&key[at..]) as usize]) {
                return false;
            }
        }
        let mut next = self.end;
        for _ in self.n..n_procs {
            next.proctype = self.layout.proctype.read(&key[next.at..]) as usize;
            beyond.push(next);
            next.at += self.layout.procs[next.proctype].size as usize;
            next.chan += self.procs[next.proctype].chans.len();
        }
        debug_assert!(
            (self.layout.frames(key).zip(self.fixed.iter().chain(&*beyond)))
                .all(|((at, t), f)| (at, t.index()) == (f.at, f.proctype)),
            "who is there does not change below the highest member"
        );
        debug_assert_eq!(self.fixed.len() + beyond.len(), n_procs, "I7");
        debug_assert!(next.at <= key.len(), "frames lie in the key");
        true
    }

    /// The location of each process, and nothing else.
    pub fn see_locations(&self, key: &[u8], said: &mut Said) {
        debug_assert_eq!(self.fixed.len(), self.n, "a frame for each up to the highest member");
        said.refs.clear();
        said.stale = self.has_dead;
        said.colours.clear();
        said.colours.extend(self.fixed.iter().map(|f| hue(read(self.layout.loc, &key[f.at..]))));
    }

    /// All that can be said.
    pub fn see(&self, key: &[u8], beyond: &[FrameAt], said: &mut Said) {
        said.refs.clear();
        said.stale = false;
        (said.named, said.many) = (Pids::default(), Pids::default());
        said.colours.clear();
        // Who is in no class has a number, too: what is said about it goes nowhere, and there is no branch.
        said.colours.resize(self.n + 1, 0);
        for Look { row, mask, tag } in &self.looks {
            let mut at = row.at;
            for colour in &mut said.colours[row.first..row.first + row.n] {
                // After globals there are frames, and those are words: there are eight bytes.
                let word = u64::from_le_bytes(*key[at..].first_chunk().expect("eight bytes"));
                *colour = colour.wrapping_add(mix(*tag, word & mask));
                at += row.stride;
            }
        }
        self.held.iter().for_each(|own| self.see_held(key, own, said));
        for (at, names, what) in &self.bytes {
            let to = usize::from(self.names[*names].1[usize::from(key[*at])]);
            said.colours[to] = said.colours[to].wrapping_add(*what);
        }
        for (number, what) in &self.registers {
            let to = read(number.field, key).wrapping_add(number.offset);
            let at = if self.is_member(to) { to as usize } else { self.n };
            said.colours[at] = said.colours[at].wrapping_add(*what);
        }
        said.colours.truncate(self.n);
        if self.is_rich || !beyond.is_empty() {
            self.see_more(key, beyond, said);
        }
        for (colour, f) in said.colours.iter_mut().zip(&self.fixed) {
            *colour = hue(read(self.layout.loc, &key[f.at..])) | *colour >> (64 - HASH_BITS);
        }
        debug_assert!(self.check_said(said), "I8");
    }

    /// I8
    fn check_said(&self, said: &Said) -> bool {
        let is_one = |p: &Pid| self.is_member(i32::from(*p));
        said.refs.iter().all(|(p, q, _)| is_one(p) && is_one(q) && p != q)
            && said.named.union(said.many).iter().all(|p| is_one(&p))
            && said.colours.len() == self.n
    }

    /// What is not of a simple kind.
    fn see_more(&self, key: &[u8], beyond: &[FrameAt], said: &mut Said) {
        let frames = Frames(&self.fixed, beyond);
        if self.globals.is_busy() {
            self.see_frame(&self.globals, key, None, 0, frames, said);
        }
        for p in self.busy.iter().copied().chain(self.n..self.n + beyond.len()) {
            let (f, own) = (frames.at(p), self.is_member(p as i32).then_some(p as Pid));
            // Frames of others are places of their own.
            let kind = if own.is_some() { 0 } else { p as u64 + 1 };
            self.see_frame(&self.procs[f.proctype], &key[f.at..], own, kind, frames, said);
        }
        if let Value::Pid(offset) = self.set.last {
            self.see_number(None, self.layout.last.read(key), offset, 99, 0, said);
        }
    }

    /// Who is named, and nothing else unless that takes no longer.
    pub fn see_names(&self, key: &[u8], beyond: &[FrameAt], said: &mut Said) {
        if self.is_rich || !beyond.is_empty() {
            self.see(key, beyond, said);
        } else {
            said.refs.clear();
            said.named = Pids::default();
            for own in &self.held {
                let to = read(own.number.field, key).wrapping_add(own.number.offset);
                if self.is_member(to) && to != i32::from(own.pid) && self.is_live(own, key) {
                    said.named.put(own.pid);
                    said.named.put(to as Pid);
                }
            }
        }
        for (at, names, _) in &self.bytes {
            let to = self.names[*names].1[usize::from(key[*at])];
            if usize::from(to) < self.n {
                said.named.put(to);
            }
        }
        for (number, _) in &self.registers {
            let to = read(number.field, key).wrapping_add(number.offset);
            if self.is_member(to) {
                said.named.put(to as Pid);
            }
        }
        debug_assert!(self.check_names(key, beyond, said), "I8");
    }

    /// Who is named is who is named or mentioned by all that can be said, or has its number among the globals.
    fn check_names(&self, key: &[u8], beyond: &[FrameAt], said: &Said) -> bool {
        let mut all = Said::default();
        self.see(key, beyond, &mut all);
        let is_held = |p: Pid| {
            let bytes = self.bytes.iter().map(|(at, names, _)| (i32::from(key[*at]), self.names[*names].0));
            let words = self.registers.iter().map(|(number, _)| (read(number.field, key), number.offset));
            bytes.chain(words).any(|(value, offset)| value.wrapping_add(offset) == i32::from(p))
        };
        self.set.members().all(|p| said.is_named(p) == (all.is_named(p) || is_held(p)))
    }

    /// What a number says about the member that has it.
    #[inline]
    fn see_held(&self, key: &[u8], own: &Own, said: &mut Said) {
        let Number { field, offset, tag } = own.number;
        let value = read(field, key);
        let to = value.wrapping_add(offset);
        if !self.is_live(own, key) {
            said.stale |= value != 0;
        } else if !self.is_member(to) {
            said.add(own.pid, mix(tag, value as u32 as u64));
        } else if to != i32::from(own.pid) {
            said.refs.push((own.pid, to as Pid, tag));
        } else {
            said.add(own.pid, mix(tag, ITSELF));
        }
    }

    /// Calls with each two neighbours of a class that, if their numbers are kept nowhere, have the same in all places that are
    /// theirs: so they can change places, and the key remains. What is busy has more places than its frame and columns.
    pub fn each_same(&self, key: &[u8], mut call: impl FnMut(Pid, Pid)) {
        for class in &self.set.classes {
            // Most are told apart by where they stand, which is in the first word. Which are, nobody could guess.
            let first =
                |p: Pid| u64::from_le_bytes(*key[self.fixed[usize::from(p)].at..].first_chunk().expect("a word"));
            let mut before = first(class[0]);
            let mut alike = Pids::default();
            for p in &class[1..] {
                let word = first(*p);
                alike.put_if(*p, word == before);
                before = word;
            }
            if alike.is_empty() {
                continue;
            }
            for pair in class.windows(2).filter(|pair| alike.has(pair[1]) && self.same(key, pair[0], pair[1])) {
                call(pair[0], pair[1]);
            }
        }
    }

    fn same(&self, key: &[u8], p: Pid, q: Pid) -> bool {
        let (p, q) = (usize::from(p), usize::from(q));
        let (a, b) = (self.fixed[p], self.fixed[q]);
        let size = self.layout.procs[a.proctype].size as usize;
        let held = |c: &Column| read(c.fields[p], key) == read(c.fields[q], key);
        let words = |f: FrameAt| key[f.at..f.at + size].as_chunks::<8>().0.iter();
        words(a).eq(words(b)) && self.globals.columns.iter().all(held) && !self.busy.contains(&p)
    }

    #[inline]
    fn is_live(&self, own: &Own, key: &[u8]) -> bool {
        own.alive.is_none_or(|from| self.alive[from + read(own.loc, key) as usize])
    }

    #[inline]
    fn see_number(&self, own: Option<Pid>, value: i32, offset: i32, tag: u64, kind: u64, said: &mut Said) {
        let to = value.wrapping_add(offset);
        match own {
            Some(p) if self.is_member(to) => said.meet(p, to as Pid, tag),
            Some(p) => said.add(p, mix(tag, value as u32 as u64)),
            None if self.is_member(to) => {
                said.named.put(to as Pid);
                said.add(to as Pid, mix(tag, kind));
            }
            None => {}
        }
    }

    fn see_frame(&self, acts: &Acts, frame: &[u8], own: Option<Pid>, kind: u64, frames: Frames<'_>, said: &mut Said) {
        // Those of members are listed, and so are registers.
        if own.is_none() && !std::ptr::eq(acts, &self.globals) && !acts.numbers.is_empty() {
            let loc = if acts.live.is_empty() { 0 } else { self.layout.loc.read(frame) as usize };
            for (i, number) in acts.numbers.iter().enumerate() {
                let value = read(number.field, frame);
                if acts.is_live(loc, i) {
                    self.see_number(own, value, number.offset, number.tag, kind, said);
                } else {
                    said.stale |= value != 0;
                }
            }
        }
        for queue in &acts.queues {
            for number in &queue.numbers[..queue.len.read(frame) as usize * queue.each] {
                self.see_number(own, read(number.field, frame), number.offset, number.tag, kind, said);
            }
        }
        if !acts.slots.is_empty() {
            let live = acts.live_slots.get(self.layout.loc.read(frame) as usize);
            for act in &acts.slots {
                let value = act.field.read(frame);
                let dead = matches!(act.value, Value::Pid(_)) && live.is_some_and(|l| !l[act.slot as usize]);
                said.stale |= dead && value != 0;
                if dead || !act.dims.is_empty() && value == 0 && act.value == Value::Plain {
                    continue;
                }
                said.coords.clear();
                said.coords.extend(own);
                said.coords.extend_from_slice(&act.place.named);
                let value = self.value(value, act.value, frames, &mut said.coords);
                said.together(mix(act.place.tag, kind), value);
            }
        }
        for chan in acts.moving.iter().map(|n| &acts.chans[*n]) {
            let len = chan.len.read(frame) as usize;
            if len == 0 {
                continue;
            }
            let tag = mix(chan.place.tag, kind);
            said.coords.clear();
            said.coords.extend(own);
            said.coords.extend_from_slice(&chan.place.named);
            let n_coords = said.coords.len();
            said.together(tag, len as u64);
            for (i, message) in chan.messages.iter().take(len).enumerate() {
                for (f, (field, role)) in message.iter().zip(&chan.values).enumerate() {
                    said.coords.truncate(n_coords);
                    let value = self.value(field.read(frame), *role, frames, &mut said.coords);
                    said.together(mix(tag, mix(i as u64, f as u64 + 1)), value);
                }
            }
        }
    }

    /// The members that the indices of an element name; the others are part of the tag.
    fn coordinates(&self, dims: &[Dim], coords: &mut Vec<Pid>, mut tag: u64) -> u64 {
        for (n, d) in dims.iter().enumerate() {
            let pid = d.index as i32 + d.offset;
            if self.is_member(pid) {
                coords.push(pid as Pid);
                tag = mix(tag, n as u64);
            } else {
                tag = mix(tag, mix(n as u64 + 1000, d.index.into()));
            }
        }
        tag
    }

    /// What a value says beside naming a member, who becomes a coordinate.
    fn value(&self, value: i32, role: Value, frames: Frames<'_>, coords: &mut Vec<Pid>) -> u64 {
        match role {
            Value::Plain => value as u32 as u64,
            Value::Pid(offset) if self.is_member(value.wrapping_add(offset)) => {
                coords.push(value.wrapping_add(offset) as Pid);
                1 << 40
            }
            Value::Pid(_) => 1 << 41 | value as u32 as u64,
            Value::Chan => {
                let id = value as usize;
                if value <= 0 {
                    return 1 << 42;
                }
                if let Some(chan) = self.globals.chans.get(id - 1) {
                    let base = chan.slot - chan.dims.iter().map(|d| d.index * d.stride).sum::<u32>();
                    return self.coordinates(&chan.dims, coords, 1 << 43 | u64::from(base));
                }
                let Some(at) = frames.owner(id, &self.procs) else { return 1 << 44 | id as u64 };
                let frame = frames.at(at);
                let chan = &self.procs[frame.proctype].chans[id - frame.chan];
                let base = chan.slot - chan.dims.iter().map(|d| d.index * d.stride).sum::<u32>();
                let mut tag = 1 << 45 | u64::from(base);
                if self.is_member(at as i32) {
                    coords.push(at as Pid);
                } else {
                    tag = mix(tag, at as u64);
                }
                self.coordinates(&chan.dims, coords, tag)
            }
        }
    }
}
