//! A state is a stack: globals, global channels, then one frame per live process, in pid order.
//!
//! Processes die youngest first and take their channels with them, so a state grows and shrinks at its end only.
//! Work happens on the unpacked form, one `i32` per slot; what is stored and compared is the *key* (layout.rs).
//!
//! # Invariants
//!   S1 every slot holds a value that its type can hold (`ty.fit(v) == v`)
//!   S2 message slots beyond a channel's length are zero
//!   S3 unpacking a key and packing it again gives the same key

use crate::index::Idx;
use crate::ir::{ChanDecl, Frame, Loc, MAX_LIVE, Pid, ProctypeId, System, Type};
use crate::layout::{Field, FrameLayout, GRAIN, Layout};

/// Slots after the global variables: the process that moved last, and where the trace assertion stands.
const EXTRA: usize = 2;
/// Slots in front of a process's variables: its proctype, its location, its priority.
const HEADER: usize = 3;
const PTYPE: usize = 0;
const LOC: usize = 1;
const PRIO: usize = 2;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct State {
    slots: Vec<i32>,
    /// Where each process's header is.
    procs: Vec<u32>,
    chans: Vec<Chan>,
    n_globals: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Chan {
    /// Where its length is; the messages follow.
    at: u32,
    pub owner: Option<Pid>,
    /// Which channel of the owner's frame (or of the globals).
    pub decl: u32,
}

impl State {
    pub fn n_procs(&self) -> usize {
        self.procs.len()
    }

    pub fn proctype(&self, pid: Pid) -> ProctypeId {
        ProctypeId::new(self.slots[self.procs[pid as usize] as usize + PTYPE] as usize)
    }

    pub fn loc(&self, pid: Pid) -> Loc {
        Loc::new(self.slots[self.procs[pid as usize] as usize + LOC] as usize)
    }

    pub fn priority(&self, pid: Pid) -> i32 {
        self.slots[self.procs[pid as usize] as usize + PRIO]
    }

    /// The global variables' slots.
    pub fn globals(&self) -> &[i32] {
        &self.slots[..self.n_globals as usize]
    }

    /// The variables' slots of one process.
    pub fn locals<'a>(&'a self, system: &System, pid: Pid) -> &'a [i32] {
        let at = self.procs[pid as usize] as usize + HEADER;
        &self.slots[at..at + system.proctypes[self.proctype(pid)].frame.n_slots as usize]
    }

    /// Channels are numbered from 1 to this.
    pub fn n_chans(&self) -> usize {
        self.chans.len()
    }

    pub fn last(&self) -> i32 {
        self.slots[self.n_globals as usize]
    }

    /// Where the trace assertion stands; one past its locations when it is disarmed.
    pub fn monitor(&self) -> usize {
        self.slots[self.n_globals as usize + 1] as usize
    }

    pub(crate) fn set_loc(&mut self, pid: Pid, loc: Loc) {
        let at = self.procs[pid as usize] as usize;
        self.slots[at + LOC] = loc.index() as i32;
    }

    pub(crate) fn set_priority(&mut self, pid: Pid, value: i32) {
        let at = self.procs[pid as usize] as usize;
        self.slots[at + PRIO] = value;
    }

    pub(crate) fn set_last(&mut self, pid: Pid) {
        let at = self.n_globals as usize;
        self.slots[at] = i32::from(pid);
    }

    pub(crate) fn set_monitor(&mut self, loc: usize) {
        let at = self.n_globals as usize + 1;
        self.slots[at] = loc as i32;
    }

    pub(crate) fn global(&self, slot: usize) -> i32 {
        debug_assert!(slot < self.n_globals as usize);
        self.slots[slot]
    }

    pub(crate) fn set_global(&mut self, slot: usize, value: i32) {
        debug_assert!(slot < self.n_globals as usize);
        self.slots[slot] = value;
    }

    /// Where what belongs to a process ends, its channels included.
    fn end_of(&self, pid: usize) -> usize {
        self.procs.get(pid + 1).map_or(self.slots.len(), |next| *next as usize)
    }

    pub(crate) fn local(&self, pid: Pid, slot: usize) -> i32 {
        let at = self.procs[pid as usize] as usize + HEADER + slot;
        debug_assert!(at < self.end_of(pid.into()), "a slot lies in the frame of its process");
        self.slots[at]
    }

    pub(crate) fn set_local(&mut self, pid: Pid, slot: usize, value: i32) {
        let at = self.procs[pid as usize] as usize + HEADER + slot;
        debug_assert!(at < self.end_of(pid.into()), "a slot lies in the frame of its process");
        self.slots[at] = value;
    }

    pub(crate) fn chan(&self, id: u8) -> Chan {
        self.chans[id as usize - 1]
    }

    pub(crate) fn chan_len(&self, chan: Chan) -> usize {
        self.slots[chan.at as usize] as usize
    }

    pub(crate) fn message(&self, chan: Chan, n_fields: usize, i: usize) -> &[i32] {
        debug_assert!(i < self.chan_len(chan), "only a message that is there can be looked at");
        let at = chan.at as usize + 1 + i * n_fields;
        &self.slots[at..at + n_fields]
    }

    /// Puts a message before the `i`-th.
    pub(crate) fn insert_message(&mut self, chan: Chan, i: usize, message: &[i32]) {
        let at = chan.at as usize;
        let len = self.slots[at] as usize;
        let n = message.len();
        let (from, to) = (at + 1 + i * n, at + 1 + len * n);
        debug_assert!(i <= len, "a message is put among those that are there, or behind them");
        debug_assert!(self.slots[to..to + n].iter().all(|v| *v == 0), "S2");
        self.slots.copy_within(from..to, from + n);
        self.slots[from..from + n].copy_from_slice(message);
        self.slots[at] += 1;
    }

    pub(crate) fn remove_message(&mut self, chan: Chan, n_fields: usize, i: usize) {
        let at = chan.at as usize;
        let len = self.slots[at] as usize;
        debug_assert!(i < len, "only a message that is there can be taken");
        let (from, to) = (at + 1 + i * n_fields, at + 1 + len * n_fields);
        self.slots.copy_within(from + n_fields..to, from);
        self.slots[to - n_fields..to].fill(0); // S2
        self.slots[at] -= 1;
    }

    pub(crate) fn empty(system: &System) -> State {
        let mut state = State { n_globals: system.globals.n_slots, ..State::default() };
        state.slots.resize(system.globals.n_slots as usize + EXTRA, 0);
        state.push_chans(&system.globals, None);
        state
    }

    /// A frame with all its variables zero and its channels empty.
    pub(crate) fn push_proc(&mut self, system: &System, proctype: ProctypeId) -> Pid {
        debug_assert!(self.procs.len() < MAX_LIVE, "a process number is a byte");
        let pid = self.procs.len() as Pid;
        let t = &system.proctypes[proctype];
        self.procs.push(self.slots.len() as u32);
        self.slots.extend([proctype.index() as i32, t.start.index() as i32, i32::from(t.priority)]);
        self.slots.resize(self.slots.len() + t.frame.n_slots as usize, 0);
        self.push_chans(&t.frame, Some(pid));
        pid
    }

    fn push_chans(&mut self, frame: &Frame, owner: Option<Pid>) {
        for (decl, c) in frame.chans.iter().enumerate() {
            self.chans.push(Chan { at: self.slots.len() as u32, owner, decl: decl as u32 });
            self.slots.resize(self.slots.len() + 1 + c.capacity as usize * c.fields.len(), 0);
        }
    }

    /// The youngest process dies, and its channels with it.
    pub(crate) fn pop_proc(&mut self) {
        let pid = self.procs.len() - 1;
        let at = self.procs.pop().expect("a process to end");
        self.slots.truncate(at as usize);
        while self.chans.last().is_some_and(|c| c.owner.is_some_and(|o| o as usize == pid)) {
            self.chans.pop();
        }
        debug_assert!(self.chans.is_sorted_by_key(|c| (c.owner, c.decl)), "channels are as old as their processes");
        let lives = |c: &Chan| (c.at as usize) < self.slots.len() && c.owner.is_none_or(|o| usize::from(o) < pid);
        debug_assert!(self.chans.iter().all(lives), "nobody's channels outlive him");
    }
}

/// Where the slots of a state lie in its key: the layout, in the order of the slots.
#[derive(Clone, Debug)]
pub(crate) struct Packing {
    pub layout: Layout,
    globals: Vec<Field>,
    procs: Vec<Vec<Field>>,
    /// The types of the variables' slots, of the globals and then of each proctype: for `check`, in debug builds only.
    types: Vec<Vec<Type>>,
}

impl Packing {
    pub fn new(system: &System) -> Packing {
        let layout = Layout::new(system);
        let mut globals = layout.globals.slots.clone();
        globals.extend([layout.last, layout.monitor]);
        Self::chans(&layout.globals, &mut globals);
        let procs = layout.procs.iter().map(|frame| {
            let mut fields = vec![layout.proctype, layout.loc, layout.priority];
            fields.extend(&frame.slots);
            Self::chans(frame, &mut fields);
            fields
        });
        let procs: Vec<Vec<Field>> = procs.collect();
        let n_of_chans = |f: &Frame| f.chans.iter().map(|c| 1 + c.capacity as usize * c.fields.len()).sum::<usize>();
        let n_slots = |f: &Frame, more: usize| more + f.n_slots as usize + n_of_chans(f);
        assert_eq!(globals.len(), n_slots(&system.globals, EXTRA), "each slot has its field");
        let each = system.proctypes.iter().zip(&procs);
        assert!(each.into_iter().all(|(t, own)| own.len() == n_slots(&t.frame, HEADER)), "each slot has its field");
        let frames = std::iter::once(&system.globals).chain(system.proctypes.iter().map(|t| &t.frame));
        let types = if cfg!(debug_assertions) { frames.map(Frame::slot_types).collect() } else { Vec::new() };
        Packing { globals, procs, layout, types }
    }

    fn chans(frame: &FrameLayout, out: &mut Vec<Field>) {
        for chan in &frame.chans {
            out.push(chan.len);
            for i in 0..chan.capacity {
                out.extend(chan.message(i));
            }
        }
    }

    pub fn pack(&self, state: &State, key: &mut Vec<u8>) {
        let mut at = key.len();
        let mut push = |size: u32, fields: &[Field], slots: &[i32], key: &mut Vec<u8>| {
            key.resize(at + size as usize, 0); // L4
            for (slot, field) in slots.iter().zip(fields) {
                field.write(&mut key[at..], *slot);
            }
            at += size as usize;
        };
        let head = key.len();
        debug_assert_eq!(self.globals.len(), state.procs.first().map_or(state.slots.len(), |at| *at as usize), "S3");
        push(self.layout.globals.size, &self.globals, &state.slots, key);
        self.layout.n_procs.write(&mut key[head..], state.procs.len() as i32);
        for (pid, &header) in state.procs.iter().enumerate() {
            let slots = &state.slots[header as usize..];
            let t = slots[PTYPE] as usize;
            debug_assert_eq!(header as usize + self.procs[t].len(), state.end_of(pid), "S3: nothing stays behind");
            push(self.layout.procs[t].size, &self.procs[t], slots, key);
        }
        debug_assert!(at == key.len() && (at - head).is_multiple_of(8), "L1");
        key.resize(head + (key.len() - head).next_multiple_of(GRAIN), 0); // L5
    }

    pub fn unpack(&self, system: &System, key: &[u8]) -> State {
        debug_assert!(key.len().is_multiple_of(GRAIN), "L5");
        let mut state = State::empty(system);
        for (slot, field) in state.slots.iter_mut().zip(&self.globals) {
            *slot = field.read(key);
        }
        for (at, proctype) in self.layout.frames(key) {
            let pid = state.push_proc(system, proctype);
            let header = state.procs[pid as usize] as usize;
            for (slot, field) in state.slots[header..].iter_mut().zip(&self.procs[proctype.index()]) {
                *slot = field.read(&key[at..]);
            }
            if !system.uses.priorities {
                state.slots[header + PRIO] = i32::from(system.proctypes[proctype].priority);
            }
        }
        debug_assert!(self.is_packed(&state, key), "L4");
        state
    }

    /// S3, from the other side: what comes back from its key is the state, but for what has no bytes there.
    pub fn is_kept(&self, system: &System, state: &State, key: &[u8]) -> bool {
        let back = self.unpack(system, key);
        let same = |fields: &[Field], at: usize| {
            let both = state.slots[at..].iter().zip(&back.slots[at..]);
            fields.iter().zip(both).all(|(field, (a, b))| field.bytes == 0 || a == b)
        };
        let frame = |pid: usize| {
            let at = state.procs[pid] as usize;
            state.slots[at + PTYPE] == back.slots[at + PTYPE] && same(&self.procs[state.slots[at + PTYPE] as usize], at)
        };
        let shape = |s: &State| (s.slots.len(), s.n_globals);
        shape(state) == shape(&back)
            && state.procs == back.procs
            && state.chans == back.chans
            && same(&self.globals, 0)
            && (0..state.procs.len()).all(frame)
    }

    /// S1 and S2; and frames and channels lie one behind the other, as they are declared.
    pub fn check(&self, system: &System, state: &State) -> bool {
        let mut chans = state.chans.iter();
        // From a frame's variables to what lies behind its last channel; `between` are slots of its own.
        let mut frame = |frame: &Frame, at: usize, between: usize, types: &[Type], owner: Option<Pid>| {
            let values = &state.slots[at..at + frame.n_slots as usize];
            let mut fits = types.iter().zip(values).all(|(ty, v)| ty.fit(*v) == *v);
            let mut at = at + frame.n_slots as usize + between;
            for (n, decl) in frame.chans.iter().enumerate() {
                let (size, len) = (decl.capacity as usize * decl.fields.len(), state.slots[at]);
                let here = Chan { at: at as u32, owner, decl: n as u32 };
                fits &= chans.next() == Some(&here) && (0..=decl.capacity as i32).contains(&len);
                let (sent, rest) =
                    state.slots[at + 1..at + 1 + size].split_at((len as usize * decl.fields.len()).min(size));
                fits &= sent.iter().zip(decl.fields.iter().cycle()).all(|(v, ty)| ty.fit(*v) == *v);
                fits &= rest.iter().all(|v| *v == 0);
                at += 1 + size;
            }
            (fits, at)
        };
        let (mut fits, mut at) = frame(&system.globals, 0, EXTRA, &self.types[0], None);
        for (pid, header) in state.procs.iter().enumerate() {
            let t = state.slots[*header as usize + PTYPE] as usize;
            fits &= *header as usize == at;
            let proctype = &system.proctypes[ProctypeId::new(t)];
            let own = frame(&proctype.frame, at + HEADER, 0, &self.types[t + 1], Some(pid as Pid));
            (fits, at) = (fits && own.0, own.1);
        }
        fits && at == state.slots.len() && chans.next().is_none()
    }

    /// Nothing is in a key but what is in the state.
    fn is_packed(&self, state: &State, key: &[u8]) -> bool {
        let mut own = Vec::with_capacity(key.len());
        self.pack(state, &mut own);
        own == key
    }
}

/// One live channel, for people and explanations.
#[derive(Clone, Debug)]
pub struct ChanView<'a> {
    pub id: u8,
    pub decl: &'a ChanDecl,
    /// The process it was made with; `None` for a global one.
    pub owner: Option<Pid>,
    pub messages: Vec<&'a [i32]>,
}

/// How a live channel was declared.
pub(crate) fn decl<'a>(system: &'a System, state: &State, chan: Chan) -> &'a ChanDecl {
    let frame = match chan.owner {
        Some(pid) => &system.proctypes[state.proctype(pid)].frame,
        None => &system.globals,
    };
    let decl = &frame.chans[chan.decl as usize];
    debug_assert!(state.chan_len(chan) <= decl.capacity as usize, "no more messages than there is room for");
    decl
}
