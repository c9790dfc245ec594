//! A state is a stack: globals, global channels, then one frame per live process, in pid order.
//!
//! Processes die youngest first and take their channels with them, so a state grows and shrinks at its end only.
//! Work happens on the unpacked form, one `i32` per slot; what is stored and compared is the *key*, in which every
//! value has just the bits of its type and what cannot differ has none.
//!
//! # Invariants
//!   S1 every slot holds a value that its type can hold (`ty.fit(v) == v`)
//!   S2 message slots beyond a channel's length are zero
//!   S3 unpacking a key and packing it again gives the same key

use crate::index::Idx;
use crate::ir::{ChanDecl, Frame, Loc, Pid, ProctypeId, System, Type};

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

    pub(crate) fn local(&self, pid: Pid, slot: usize) -> i32 {
        self.slots[self.procs[pid as usize] as usize + HEADER + slot]
    }

    pub(crate) fn set_local(&mut self, pid: Pid, slot: usize, value: i32) {
        let at = self.procs[pid as usize] as usize + HEADER + slot;
        self.slots[at] = value;
    }

    pub(crate) fn chan(&self, id: u8) -> Chan {
        self.chans[id as usize - 1]
    }

    pub(crate) fn chan_len(&self, chan: Chan) -> usize {
        self.slots[chan.at as usize] as usize
    }

    pub(crate) fn message(&self, chan: Chan, n_fields: usize, i: usize) -> &[i32] {
        let at = chan.at as usize + 1 + i * n_fields;
        &self.slots[at..at + n_fields]
    }

    /// Puts a message before the `i`-th.
    pub(crate) fn insert_message(&mut self, chan: Chan, i: usize, message: &[i32]) {
        let at = chan.at as usize;
        let len = self.slots[at] as usize;
        let n = message.len();
        let (from, to) = (at + 1 + i * n, at + 1 + len * n);
        debug_assert!(self.slots[to..to + n].iter().all(|v| *v == 0), "S2");
        self.slots.copy_within(from..to, from + n);
        self.slots[from..from + n].copy_from_slice(message);
        self.slots[at] += 1;
    }

    pub(crate) fn remove_message(&mut self, chan: Chan, n_fields: usize, i: usize) {
        let at = chan.at as usize;
        let len = self.slots[at] as usize;
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
    }
}

/// How many bits a slot has in the key.
#[derive(Clone, Copy, Debug)]
struct Width {
    bits: u8,
    signed: bool,
}

impl Width {
    const NONE: Width = Width { bits: 0, signed: false };

    fn of(ty: Type) -> Width {
        Width { bits: ty.bits(), signed: matches!(ty, Type::Short | Type::Int) }
    }

    /// The value that these bits stand for.
    fn value(self, bits: u32) -> i32 {
        let spare = 32 - u32::from(self.bits);
        if self.signed { ((bits << spare) as i32) >> spare } else { bits as i32 }
    }

    /// Enough for the values `0..n`.
    fn below(n: usize) -> Width {
        Width { bits: (usize::BITS - n.saturating_sub(1).leading_zeros()) as u8, signed: false }
    }
}

/// The widths of a system's slots: how keys are written and read.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    globals: Vec<Width>,
    ptype: Width,
    /// Without the proctype's own slot, which comes first and tells which row this is.
    procs: Vec<Vec<Width>>,
}

impl Layout {
    pub fn new(system: &System) -> Layout {
        let mut globals = Vec::new();
        Self::vars(&system.globals, &mut globals);
        globals.push(if system.uses.last { Width::below(256) } else { Width::NONE });
        globals.push(system.monitor.as_ref().map_or(Width::NONE, |m| Width::below(m.graph.locs.len() + 1)));
        Self::chans(&system.globals, &mut globals);
        let procs = system.proctypes.iter().map(|t| {
            let mut w =
                vec![Width::below(t.locs.len()), if system.uses.priorities { Width::below(256) } else { Width::NONE }];
            Self::vars(&t.frame, &mut w);
            Self::chans(&t.frame, &mut w);
            w
        });
        Layout { globals, ptype: Width::below(system.proctypes.len()), procs: procs.collect() }
    }

    fn vars(frame: &Frame, out: &mut Vec<Width>) {
        for var in frame.vars.iter() {
            var.shape.leaves(&mut |_, ty| out.push(if var.hidden { Width::NONE } else { Width::of(ty) }));
        }
    }

    fn chans(frame: &Frame, out: &mut Vec<Width>) {
        for c in &frame.chans {
            out.push(Width::below(c.capacity as usize + 1));
            for _ in 0..c.capacity {
                out.extend(c.fields.iter().map(|ty| Width::of(*ty)));
            }
        }
    }

    pub fn pack(&self, state: &State, key: &mut Vec<u8>) {
        key.push(state.procs.len() as u8);
        let mut bits = BitWriter { out: key, acc: 0, n: 0 };
        for (slot, w) in state.slots.iter().zip(&self.globals) {
            bits.put(*slot, *w);
        }
        for at in &state.procs {
            let at = *at as usize;
            bits.put(state.slots[at], self.ptype);
            for (slot, w) in state.slots[at + 1..].iter().zip(&self.procs[state.slots[at] as usize]) {
                bits.put(*slot, *w);
            }
        }
        bits.finish();
    }

    pub fn unpack(&self, system: &System, key: &[u8]) -> State {
        let mut state = State::empty(system);
        let mut bits = BitReader { key: &key[1..], at: 0, acc: 0, n: 0 };
        for (slot, w) in state.slots.iter_mut().zip(&self.globals) {
            *slot = bits.take(*w);
        }
        for _ in 0..key[0] {
            let proctype = ProctypeId::new(bits.take(self.ptype) as usize);
            let pid = state.push_proc(system, proctype);
            let at = state.procs[pid as usize] as usize;
            if !system.uses.priorities {
                state.slots[at + PRIO] = i32::from(system.proctypes[proctype].priority);
            }
            for (slot, w) in state.slots[at + 1..].iter_mut().zip(&self.procs[proctype.index()]) {
                if w.bits > 0 {
                    *slot = bits.take(*w);
                }
            }
        }
        state
    }
}

struct BitWriter<'a> {
    out: &'a mut Vec<u8>,
    acc: u64,
    n: u32,
}

impl BitWriter<'_> {
    fn put(&mut self, value: i32, w: Width) {
        let mask = (1u64 << w.bits) - 1;
        let bits = u64::from(value as u32) & mask;
        debug_assert!(w.bits == 0 || w.value(bits as u32) == value, "S1");
        self.acc |= bits << self.n;
        self.n += u32::from(w.bits);
        while self.n >= 8 {
            self.out.push(self.acc as u8);
            self.acc >>= 8;
            self.n -= 8;
        }
    }

    fn finish(self) {
        if self.n > 0 {
            self.out.push(self.acc as u8);
        }
    }
}

struct BitReader<'a> {
    key: &'a [u8],
    at: usize,
    acc: u64,
    n: u32,
}

impl BitReader<'_> {
    fn take(&mut self, w: Width) -> i32 {
        let bits = u32::from(w.bits);
        while self.n < bits {
            self.acc |= u64::from(self.key[self.at]) << self.n;
            self.at += 1;
            self.n += 8;
        }
        let value = (self.acc & ((1u64 << bits) - 1)) as u32;
        self.acc >>= bits;
        self.n -= bits;
        w.value(value)
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
    &frame.chans[chan.decl as usize]
}
