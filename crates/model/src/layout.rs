//! Where every value lies in a key.
//!
//! A key is the state written down: the head (how many processes, the globals, their channels), then one frame per
//! live process, in pid order. Each value has the whole bytes its type needs, at an offset of its frame that is known
//! beforehand, so native code works on the key itself and the store, which shares equal parts between states, makes
//! up for the bits that are not used. What cannot differ between states has no bytes.
//!
//! # Invariants
//!   L1 a frame is a multiple of eight bytes, so that no two share a part that the store looks at; channels start
//!      at words
//!   L2 a value lies at a multiple of its size, so it never spans two words
//!   L3 the elements of an array are equally far apart
//!   L4 bytes that no value owns are zero
//!   L5 a key is a multiple of [`GRAIN`] bytes

use crate::index::Idx;
use crate::ir::{ChanDecl, Frame, MAX_LIVE, ProctypeId, Shape, System, Type};
use crate::range::{ANY, values};

/// Keys are filled up with zeros to multiples of this, because stores take them apart in such pieces.
pub const GRAIN: usize = 16;

/// The place of one value, from the start of its frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Field {
    pub at: u32,
    /// 0, 1, 2 or 4; a field without bytes is always zero.
    pub bytes: u8,
    pub signed: bool,
}

impl Field {
    pub const NONE: Field = Field { at: 0, bytes: 0, signed: false };

    #[inline(always)]
    pub fn read(self, frame: &[u8]) -> i32 {
        let at = self.at as usize;
        match (self.bytes, self.signed) {
            (0, _) => 0,
            (1, _) => i32::from(frame[at]),
            (2, false) => i32::from(u16::from_le_bytes([frame[at], frame[at + 1]])),
            (2, true) => i32::from(i16::from_le_bytes([frame[at], frame[at + 1]])),
            _ => i32::from_le_bytes([frame[at], frame[at + 1], frame[at + 2], frame[at + 3]]),
        }
    }

    #[inline]
    pub fn write(self, frame: &mut [u8], value: i32) {
        let at = self.at as usize;
        let bytes = value.to_le_bytes();
        let n = usize::from(self.bytes);
        frame[at..at + n].copy_from_slice(&bytes[..n]);
        debug_assert!(n == 0 || self.read(frame) == value, "S1: {value} in {self:?}");
    }

    /// Whether each value from the one to the other comes back as it was written.
    fn holds(self, (lo, hi): (i64, i64)) -> bool {
        let (least, most) = match (self.bytes, self.signed) {
            (4, _) => ANY,
            (n, true) => (-(1 << (8 * n - 1)), (1 << (8 * n - 1)) - 1),
            (n, false) => (0, (1 << (8 * n)) - 1),
        };
        least <= lo && hi <= most
    }

    /// The same value of a frame that lies so much further on.
    pub fn after(self, distance: u32) -> Field {
        Field { at: self.at + distance, ..self }
    }
}

/// The bytes of the globals, or of the processes of one proctype.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FrameLayout {
    /// In bytes (L1).
    pub size: u32,
    /// One per slot of the variables.
    pub slots: Vec<Field>,
    pub chans: Vec<ChanLayout>,
}

impl FrameLayout {
    /// Of what is in front of the variables, and of the rest of the frame.
    fn check(&self, header: &[Field], frame: &Frame) {
        let messages = |chan: &ChanLayout| (0..chan.capacity).flat_map(|i| chan.message(i)).collect::<Vec<_>>();
        let chans = self.chans.iter().flat_map(|chan| [vec![chan.len], messages(chan)].concat());
        let all = header.iter().chain(&self.slots).copied().chain(chans);
        let mut all: Vec<Field> = all.filter(|field| field.bytes > 0).collect();
        all.sort_by_key(|field| field.at);
        let end = |field: &Field| field.at + u32::from(field.bytes);
        assert!(self.size.is_multiple_of(8), "L1");
        assert!(self.chans.iter().all(|chan| chan.len.at.is_multiple_of(4)), "L1");
        assert!(all.iter().all(|field| field.at.is_multiple_of(field.bytes.into())), "L2");
        assert!(all.windows(2).all(|two| end(&two[0]) <= two[1].at), "a byte has one owner");
        assert!(all.last().is_none_or(|last| end(last) <= self.size), "a frame has room for its values");
        let hidden = frame.vars.iter().flat_map(|var| std::iter::repeat_n(var.hidden, var.shape.n_slots() as usize));
        let keeps = |((field, ty), hidden): ((&Field, Type), bool)| {
            if hidden { field.bytes == 0 } else { field.bytes > 0 && field.holds(values(ty)) }
        };
        debug_assert!(
            self.slots.iter().zip(frame.slot_types()).zip(hidden).all(keeps),
            "S1: a field has room for its type"
        );
        let kept = |(field, ty): (&Field, &Type)| field.holds(values(*ty)) && field.at < self.size;
        for (chan, decl) in self.chans.iter().zip(&frame.chans) {
            assert!(chan.len.holds((0, chan.capacity.into())), "a channel can be full");
            assert_eq!(
                (chan.capacity, chan.fields.len()),
                (decl.capacity, decl.fields.len()),
                "a channel is as declared"
            );
            assert!(chan.capacity == 0 || chan.fields.iter().zip(&decl.fields).all(kept), "S1");
        }
        assert_eq!(self.chans.len(), frame.chans.len(), "a channel is as declared");
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChanLayout {
    pub len: Field,
    /// Of the first message.
    pub fields: Vec<Field>,
    /// From a message to the next.
    pub stride: u32,
    pub capacity: u32,
}

impl ChanLayout {
    pub fn message(&self, i: u32) -> impl Iterator<Item = Field> + '_ {
        self.fields.iter().map(move |f| f.after(i * self.stride))
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Layout {
    pub n_procs: Field,
    pub last: Field,
    pub monitor: Field,
    pub globals: FrameLayout,
    /// The first bytes of every process's frame.
    pub proctype: Field,
    pub loc: Field,
    pub priority: Field,
    pub procs: Vec<FrameLayout>,
}

impl Layout {
    pub fn new(system: &System) -> Layout {
        let unsigned = |at, bytes| Field { at, bytes, signed: false };
        let mut head = Cursor { at: 1 };
        let last = if system.uses.last { head.take(1, false) } else { Field::NONE };
        let monitor =
            system.monitor.as_ref().map_or(Field::NONE, |m| head.take(bytes_below(m.graph.locs.len() + 1), false));
        let globals = head.frame(&system.globals);
        // Control is in one word: what a step changes in any case.
        let most_locs = system.proctypes.iter().map(|t| t.locs.len()).max().unwrap_or(0);
        let types = bytes_below(system.proctypes.len()).max(1);
        let mut header = Cursor { at: 0 };
        let loc = header.take(bytes_below(most_locs).max(1), false);
        let proctype = header.take(types, false);
        let priority = if system.uses.priorities { header.take(1, false) } else { Field::NONE };
        header.align(4);
        let procs = system.proctypes.iter().map(|t| Cursor { at: header.at }.frame(&t.frame));
        let (n_procs, procs) = (unsigned(0, 1), procs.collect::<Vec<_>>());
        globals.check(&[n_procs, last, monitor], &system.globals);
        procs.iter().zip(&system.proctypes).for_each(|(at, t)| at.check(&[proctype, loc, priority], &t.frame));
        let below = |n: usize| (0, n.saturating_sub(1) as i64);
        assert!(loc.holds(below(most_locs)) && proctype.holds(below(system.proctypes.len())), "everybody can be told");
        // One past its locations it is disarmed.
        let stands = system.monitor.as_ref().is_none_or(|m| monitor.holds((0, m.graph.locs.len() as i64)));
        assert!(stands && n_procs.holds((0, MAX_LIVE as i64)), "everything can be told");
        assert!(!system.uses.priorities || priority.holds((0, 255)), "every priority can be told");
        assert!(!system.uses.last || last.holds(below(MAX_LIVE)), "everybody can be the last");
        Layout { n_procs, last, monitor, globals, proctype, loc, priority, procs }
    }

    /// The frames of a key: where each process's begins, and its proctype.
    pub fn frames<'a>(&'a self, key: &'a [u8]) -> impl Iterator<Item = (usize, ProctypeId)> + 'a {
        let mut at = self.globals.size as usize;
        (0..self.n_procs.read(key)).map(move |_| {
            let t = self.proctype.read(&key[at..]) as usize;
            let here = at;
            at += self.procs[t].size as usize;
            (here, ProctypeId::new(t))
        })
    }
}

/// Enough for the values `0..n`.
fn bytes_below(n: usize) -> u8 {
    match n {
        0..=1 => 0,
        2..=0x100 => 1,
        0x101..=0x1_0000 => 2,
        _ => 4,
    }
}

fn bytes_of(ty: Type) -> u8 {
    match ty.bits() {
        0..=8 => 1,
        9..=16 => 2,
        _ => 4,
    }
}

/// Gives out bytes.
struct Cursor {
    at: u32,
}

impl Cursor {
    fn align(&mut self, to: u32) {
        self.at = self.at.next_multiple_of(to.max(1));
    }

    fn take(&mut self, bytes: u8, signed: bool) -> Field {
        self.align(u32::from(bytes)); // L2
        debug_assert!(!signed || bytes > 1, "a byte is read without a sign");
        let field = Field { at: self.at, bytes, signed };
        self.at += u32::from(bytes);
        field
    }

    fn value(&mut self, ty: Type) -> Field {
        self.take(bytes_of(ty), matches!(ty, Type::Short | Type::Int))
    }

    fn frame(mut self, frame: &Frame) -> FrameLayout {
        let mut out = FrameLayout::default();
        for var in frame.vars.iter() {
            if var.hidden {
                var.shape.leaves(&mut |_, _| out.slots.push(Field::NONE));
            } else {
                self.shape(&var.shape, &mut out.slots);
            }
        }
        for c in &frame.chans {
            let chan = self.chan(c);
            out.chans.push(chan);
        }
        self.align(8); // L1
        out.size = self.at;
        assert_eq!(out.slots.len(), frame.n_slots as usize, "validator rule V8");
        out
    }

    fn shape(&mut self, shape: &Shape, out: &mut Vec<Field>) {
        match shape {
            Shape::Scalar(ty) => out.push(self.value(*ty)),
            Shape::Array(n, of) => {
                let align = alignment(of);
                self.align(align);
                let from = self.at;
                let first = out.len();
                self.shape(of, out);
                self.align(align);
                let stride = self.at - from;
                debug_assert!(stride.is_multiple_of(align), "L3: what is after one is aligned as it is");
                let element = first..out.len();
                for i in 1..*n {
                    for slot in element.clone() {
                        out.push(out[slot].after(i * stride)); // L3
                    }
                }
                self.at = from + n * stride;
            }
            Shape::Record(r) => {
                self.align(alignment(shape));
                for (_, field) in &r.fields {
                    self.shape(field, out);
                }
            }
        }
    }

    fn chan(&mut self, decl: &ChanDecl) -> ChanLayout {
        self.align(4); // L1
        let len = self.take(bytes_below(decl.capacity as usize + 1), false);
        let align = decl.fields.iter().map(|ty| u32::from(bytes_of(*ty))).max().unwrap_or(1);
        self.align(align);
        let from = self.at;
        let fields: Vec<Field> = decl.fields.iter().map(|ty| self.value(*ty)).collect();
        self.align(align);
        let stride = self.at - from;
        self.at = from + decl.capacity * stride;
        ChanLayout { len, fields, stride, capacity: decl.capacity }
    }
}

fn alignment(shape: &Shape) -> u32 {
    match shape {
        Shape::Scalar(ty) => u32::from(bytes_of(*ty)),
        Shape::Array(_, of) => alignment(of),
        Shape::Record(r) => r.fields.iter().map(|(_, s)| alignment(s)).max().unwrap_or(1),
    }
}
