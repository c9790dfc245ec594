//! Where the processes are in a key: what a permutation moves and renames, and what can be said about each process.
//!
//! All that does not depend on the state is worked out once. Members of classes never end and nobody before them
//! does (`model/scalarset`, A3), so once all are there, their frames lie at fixed places.
//!
//! Most places are of a simple kind, and handled by short loops; the rest by a general one.
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
//!   I3 two of one colour, of which neither is mentioned with one that shares its colour with another, or with two others at
//!      once, can change places, and the key remains (if no two hashes are equal by chance: then only too many states are
//!      seen)
//!   I4 a number that is not read again counts as zero, and is zero in every image

use crate::cycles::Pids;
use crate::reduce::each_write;
use spinor_model::index::Idx;
use spinor_model::ir::{Frame, Init, Pid, Scope, System};
use spinor_model::layout::{Field, FrameLayout, Layout};
use spinor_model::scalarset::{Dim, Roles, Scalarset, Value};

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
            to => self.by_slot[to as usize].map_or(n, |to| to as usize),
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

/// By slot, of the globals and of each proctype: something else may come to lie there than the channel that is made with
/// the frame.
fn written(system: &System) -> (Vec<bool>, Vec<Vec<bool>>) {
    let made = |frame: &Frame| {
        let mut slots = vec![true; frame.n_slots as usize];
        for init in &frame.inits {
            if let Init::Chan { slot, .. } = init {
                slots[*slot as usize] = false;
            }
        }
        slots
    };
    let mut globals = made(&system.globals);
    let mut procs: Vec<Vec<bool>> = system.proctypes.iter().map(|t| made(&t.frame)).collect();
    for (t, locals) in system.proctypes.iter().zip(&mut procs) {
        for effect in t.edges.iter().flat_map(|e| &e.effects) {
            each_write(effect, &mut |place| {
                let (slots, frame) = match place.scope {
                    Scope::Global => (&mut globals, &system.globals),
                    Scope::Local => (&mut *locals, &t.frame),
                };
                let var = &frame.vars[place.var];
                let from = var.slot as usize;
                slots[from..from + var.shape.n_slots() as usize].fill(true);
            });
        }
        locals[..t.n_params as usize].fill(true);
    }
    (globals, procs)
}

impl Places {
    pub fn new(system: &System, set: Scalarset) -> Places {
        let layout = Layout::new(system);
        let n = set.members().max().map_or(0, |p| usize::from(p) + 1);
        let mut member = vec![false; n];
        set.members().for_each(|p| member[usize::from(p)] = true);
        let mut end = FrameAt { at: layout.globals.size as usize, proctype: 0, chan: layout.globals.chans.len() + 1 };
        let mut fixed = Vec::new();
        for proctype in set.kinds[..n].iter().map(|t| t.index()) {
            fixed.push(FrameAt { proctype, ..end });
            end.at += layout.procs[proctype].size as usize;
            end.chan += layout.procs[proctype].chans.len();
        }
        let (globals, procs) = (Acts::default(), Vec::new());
        let (looks, words, own, alive, held, registers, busy, has_dead) = Default::default();
        let (bytes, names, cells, columns, is_rich) = Default::default();
        let mut places = Places {
            set,
            layout,
            n,
            member,
            fixed,
            end,
            looks,
            words,
            own,
            alive,
            held,
            bytes,
            registers,
            names,
            cells,
            columns,
            busy,
            is_rich,
            globals,
            procs,
            has_dead,
        };
        let (written, locals) = written(system);
        places.globals = places.acts(&places.set.globals, &places.layout.globals, &written, 0);
        let kinds = places.set.procs.iter().zip(&places.layout.procs).enumerate();
        let acts = |(n, (roles, frame)): (usize, _)| places.acts(roles, frame, &locals[n], 1 + n as u64);
        places.procs = kinds.map(acts).collect();
        let rests = |acts: &Acts| {
            let pids = acts.slots.iter().filter(|a| matches!(a.value, Value::Pid(_)));
            let mut slots = pids.map(|a| a.slot as usize);
            !acts.live.is_empty() || slots.any(|s| acts.live_slots.iter().any(|at| !at[s]))
        };
        places.has_dead = places.procs.iter().any(rests);
        places.flatten();
        places
    }

    /// Lists what all keys have at the same places.
    fn flatten(&mut self) {
        let (mut own, mut alive, mut busy) = (Vec::new(), Vec::new(), Vec::new());
        let mut looks = Vec::new();
        for (p, f) in self.fixed.iter().enumerate() {
            let (pid, acts) = (p as Pid, &self.procs[f.proctype]);
            if !self.member[p] {
                busy.push(p);
                continue;
            }
            let look = |(at, mask): &(usize, u64)| (pid, f.at + at, *mask, *at as u64);
            looks.extend(acts.words.iter().map(look));
            for (nth, number) in acts.numbers.iter().enumerate() {
                let number = Number { field: number.field.after(f.at as u32), ..*number };
                let lives = acts.live.iter().skip(nth).step_by(acts.numbers.len());
                let from = (!acts.live.is_empty()).then_some(alive.len());
                alive.extend(lives);
                own.push(Own { number, pid, loc: self.layout.loc.after(f.at as u32), alive: from });
            }
            if acts.is_busy() {
                busy.push(p);
            }
        }
        for column in self.globals.columns.iter().filter(|c| c.names.is_none()) {
            for (p, field) in &column.of_class {
                let mask = u64::MAX >> (64 - 8 * u32::from(field.bytes));
                looks.push((*p, field.at as usize, mask, column.tag));
            }
        }
        let mut held: Vec<Own> = own.clone();
        for column in &self.globals.columns {
            let Some(offset) = column.names else { continue };
            for (pid, field) in column.of_class.iter().copied() {
                let number = Number { field, offset, tag: column.tag };
                held.push(Own { number, pid, loc: Field::NONE, alive: None });
            }
        }
        // Those that are alike side by side.
        looks.sort_by_key(|(p, at, mask, tag)| (*tag, *mask, *p, *at));
        for (p, at, mask, tag) in looks {
            let alike = self.looks.last_mut().filter(|last| (last.mask, last.tag) == (mask, tag));
            if !alike.is_some_and(|last| last.row.take(p, at)) {
                self.looks.push(Look { row: Row::of(p, at), mask, tag });
            }
        }
        for class in &self.set.classes {
            let first = self.fixed[usize::from(class[0])];
            let size = self.layout.procs[first.proctype].size as usize;
            let (from, n) = (usize::from(class[0]), class.len());
            let on_end = class.windows(2).all(|pair| pair[1] == pair[0] + 1);
            for at in (0..size).step_by(8) {
                if on_end {
                    self.words.push(Row { first: from, n, at: first.at + at, stride: size });
                } else {
                    self.words.extend(class.iter().map(|p| Row::of(*p, self.fixed[usize::from(*p)].at + at)));
                }
            }
        }
        (self.own, self.alive, self.busy) = (own, alive, busy);
        self.is_rich = self.globals.is_busy() || !self.busy.is_empty() || matches!(self.set.last, Value::Pid(_));
        self.held = held;
        assert!(self.globals.live.is_empty(), "who reads a global variable may be anywhere");
        for number in self.globals.numbers.clone() {
            // One more than the highest is a byte, too.
            if number.field.bytes == 1 && self.n <= usize::from(u8::MAX) {
                let names = self.names_at(number.offset);
                self.bytes.push((number.field.at as usize, names, number.said()));
            } else {
                self.registers.push((number, number.said()));
            }
        }
        for (nth, column) in self.globals.columns.iter().enumerate() {
            let row = Row::all(column.of_class.iter().map(|(p, field)| (*p, field.at as usize)));
            let plain = column.names.is_none() && column.of_class.iter().all(|(_, field)| field.bytes == 1);
            match row.filter(|_| plain) {
                Some(row) => self.cells.push(row),
                None => self.columns.push(nth),
            }
        }
    }

    /// The table for numbers to which this is added.
    fn names_at(&mut self, offset: i32) -> usize {
        let known = self.names.iter().position(|(of, _)| *of == offset);
        known.unwrap_or_else(|| {
            let name = |byte: usize| {
                let pid = (byte as i32).wrapping_add(offset);
                if self.is_member(pid) { pid as u8 } else { self.n as u8 }
            };
            self.names.push((offset, std::array::from_fn(name)));
            self.names.len() - 1
        })
    }

    fn acts(&self, roles: &Roles, frame: &FrameLayout, written: &[bool], kind: u64) -> Acts {
        let mut acts = Acts { fields: frame.slots.clone(), live_slots: roles.live.clone(), ..Acts::default() };
        acts.by_slot = vec![None; roles.slots.len()];
        let is_global = kind == 0;
        let of_member = |p: Pid| self.set.kinds[usize::from(p)].index() as u64 + 1 == kind;
        let moves = self.set.members().any(of_member);
        let mut mask = vec![0xffu8; frame.size as usize];
        let mut hide = |f: Field| mask[f.at as usize..f.at as usize + usize::from(f.bytes)].fill(0);
        let mut number_slots = Vec::new();
        for (slot, role) in roles.slots.iter().enumerate() {
            let field = frame.slots[slot];
            if field.bytes == 0 || role.value == Value::Plain && role.dims.is_empty() {
                continue;
            }
            hide(field);
            let (slot, dims) = (slot as u32, role.dims.clone());
            let base = dims.iter().fold(slot, |s, d| s - d.index * d.stride);
            let mut place = Place::default();
            place.tag = self.coordinates(&dims, &mut place.named, mix(kind, u64::from(base)));
            let names = match role.value {
                Value::Pid(offset) => Some(offset),
                _ => None,
            };
            match (&place.named[..], names) {
                ([], Some(offset)) => {
                    acts.numbers.push(Number { field, offset, tag: place.tag });
                    number_slots.push(slot as usize);
                }
                ([p], _) if is_global && role.value != Value::Chan => {
                    let class = self.set.classes.iter().position(|c| c.contains(p)).expect("members are of a class");
                    // Once for all of its elements.
                    if self.set.classes[class][0] != *p {
                        continue;
                    }
                    let mut fields = vec![Field::NONE; self.n];
                    for q in &self.set.classes[class] {
                        let mut swap = self.identity();
                        swap.swap(usize::from(*p), usize::from(*q));
                        fields[usize::from(*q)] = frame.slots[moved(slot, &dims, &swap) as usize];
                    }
                    let of_class = self.set.classes[class].iter().map(|p| (*p, fields[usize::from(*p)])).collect();
                    acts.columns.push(Column { fields, of_class, names, tag: place.tag });
                }
                // It stays, and what it holds too.
                ([], None) if role.value == Value::Plain => {}
                // It holds the channel that was put there, and so does the place it moves to. (What moves with its frame
                // has to be renamed.)
                _ if role.value == Value::Chan && !written[slot as usize] && !moves => {}
                _ => acts.slots.push(SlotAct { slot, field, value: role.value, dims, place }),
            }
        }
        if roles.live.iter().any(|at| number_slots.iter().any(|s| !at[*s])) {
            acts.live = roles.live.iter().flat_map(|at| number_slots.iter().map(|s| at[*s])).collect();
        }
        for (n, (role, chan)) in roles.chans.iter().zip(&frame.chans).enumerate() {
            let dims = roles.slots.get(role.slot as usize).map_or(Vec::new(), |r| r.dims.clone());
            if let Some(at) = acts.by_slot.get_mut(role.slot as usize) {
                *at = Some(n as u32);
            }
            let messages: Vec<Vec<Field>> = (0..chan.capacity).map(|i| chan.message(i).collect()).collect();
            let (values, place) = (role.fields.clone(), Place::default());
            let mut act = ChanAct { slot: role.slot, len: chan.len, messages, values, dims, place };
            let tag = mix(kind, mix(act.base(n), 77));
            act.place.tag = self.coordinates(&act.dims, &mut act.place.named, tag);
            let stays = act.place.named.is_empty();
            if chan.capacity == 0 || stays && act.values.iter().all(|v| *v == Value::Plain) {
                // Nothing in it moves.
            } else if stays && !act.values.contains(&Value::Chan) {
                let mut queue = Queue { len: chan.len, each: 0, numbers: Vec::new() };
                for (i, message) in act.messages.iter().enumerate() {
                    for (f, (field, value)) in message.iter().zip(&act.values).enumerate() {
                        if let Value::Pid(offset) = *value {
                            hide(*field);
                            let tag = mix(act.place.tag, mix(i as u64, f as u64 + 1));
                            queue.numbers.push(Number { field: *field, offset, tag });
                        }
                    }
                }
                queue.each = queue.numbers.len() / act.messages.len();
                acts.queues.push(queue);
            } else {
                hide(chan.len);
                act.messages.iter().flatten().for_each(|f| hide(*f));
                acts.moving.push(n);
            }
            acts.chans.push(act);
        }
        let word = |(n, w): (usize, &[u8])| (8 * n, u64::from_le_bytes(*w.first_chunk().expect("frames are words")));
        acts.words = mask.chunks(8).enumerate().map(word).filter(|(_, mask)| *mask != 0).collect();
        acts
    }

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
        true
    }

    /// The location of each process, and nothing else.
    pub fn see_locations(&self, key: &[u8], said: &mut Said) {
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

    /// Writes the image of `from` over `to`, which is a copy of it.
    pub fn apply(&self, from: &[u8], perm: &[Pid], beyond: &[FrameAt], to: &mut [u8]) {
        let frames = Frames(&self.fixed, beyond);
        let seat = |p: usize| perm.get(p).map_or(p, |q| usize::from(*q));
        // One that stays is copied over itself: nobody could guess which one does. Members of a class are of one proctype.
        for row in &self.words {
            let mut at = row.at;
            for seat in &perm[row.first..row.first + row.n] {
                let word: &[u8; 8] = from[at..].first_chunk().expect("eight bytes");
                let there = if row.n == 1 {
                    at + self.fixed[usize::from(*seat)].at - self.fixed[row.first].at
                } else {
                    row.at + (usize::from(*seat) - row.first) * row.stride
                };
                *to[there..].first_chunk_mut().expect("eight bytes") = *word;
                at += row.stride;
            }
        }
        for row in &self.cells {
            for (nth, seat) in perm[row.first..row.first + row.n].iter().enumerate() {
                to[row.at + (usize::from(*seat) - row.first) * row.stride] = from[row.at + nth * row.stride];
            }
        }
        for column in self.columns.iter().map(|nth| &self.globals.columns[*nth]) {
            for (p, field) in &column.of_class {
                let value = read(*field, from);
                let value = column.names.map_or(value, |offset| renamed(value, offset, perm));
                write(column.fields[usize::from(perm[usize::from(*p)])], to, value);
            }
        }
        for own in &self.own {
            let (p, number) = (usize::from(own.pid), own.number);
            let value = read(number.field, from);
            let name = if self.is_live(own, from) { renamed(value, number.offset, perm) } else { 0 }; // I4
            if name != value {
                let at = number.field.at + self.fixed[seat(p)].at as u32 - self.fixed[p].at as u32;
                write(Field { at, ..number.field }, to, name);
            }
        }
        for (at, names, _) in &self.bytes {
            to[*at] = renamed(i32::from(from[*at]), self.names[*names].0, perm) as u8;
        }
        for (number, _) in &self.registers {
            write(number.field, to, renamed(read(number.field, from), number.offset, perm));
        }
        if !self.is_rich && beyond.is_empty() {
            return;
        }
        if self.globals.is_busy() {
            self.act(&self.globals, from, perm, frames, to, false);
        }
        for p in self.busy.iter().copied().chain(self.n..self.n + beyond.len()) {
            let (f, numbers) = (frames.at(p), !self.is_member(p as i32));
            let there = &mut to[frames.at(seat(p)).at..];
            self.act(&self.procs[f.proctype], &from[f.at..], perm, frames, there, numbers);
        }
        if let Value::Pid(offset) = self.set.last {
            let last = self.layout.last.read(from);
            self.layout.last.write(to, renamed(last, offset, perm));
        }
    }

    fn act(&self, acts: &Acts, from: &[u8], perm: &[Pid], frames: Frames<'_>, to: &mut [u8], numbers: bool) {
        if numbers && !acts.numbers.is_empty() {
            let loc = if acts.live.is_empty() { 0 } else { self.layout.loc.read(from) as usize };
            for (i, number) in acts.numbers.iter().enumerate() {
                let name = || renamed(read(number.field, from), number.offset, perm);
                write(number.field, to, if acts.is_live(loc, i) { name() } else { 0 }); // I4
            }
        }
        for queue in &acts.queues {
            for number in &queue.numbers[..queue.len.read(from) as usize * queue.each] {
                write(number.field, to, renamed(read(number.field, from), number.offset, perm));
            }
        }
        if !acts.slots.is_empty() || !acts.moving.is_empty() {
            self.act_generally(acts, from, perm, frames, to);
        }
    }

    fn act_generally(&self, acts: &Acts, from: &[u8], perm: &[Pid], frames: Frames<'_>, to: &mut [u8]) {
        let live = acts.live_slots.get(self.layout.loc.read(from) as usize);
        let value = |v: i32, role: Value| match role {
            Value::Plain => v,
            Value::Pid(offset) => renamed(v, offset, perm),
            Value::Chan => self.chan(v, perm, frames),
        };
        // What the indices name stays: so does an element that is no number of a process.
        let stays = |named: &[Pid]| named.iter().all(|p| perm[usize::from(*p)] == *p);
        for act in acts.slots.iter().filter(|a| a.value != Value::Plain || !stays(&a.place.named)) {
            let v = act.field.read(from);
            let dead = matches!(act.value, Value::Pid(_)) && live.is_some_and(|l| !l[act.slot as usize]);
            let v = if dead { 0 } else { value(v, act.value) };
            acts.fields[moved(act.slot, &act.dims, perm) as usize].write(to, v);
        }
        for n in &acts.moving {
            let chan = &acts.chans[*n];
            let there = &acts.chans[acts.chan_to(*n, perm)];
            let len = chan.len.read(from);
            there.len.write(to, len);
            for (i, (a, b)) in chan.messages.iter().zip(&there.messages).enumerate() {
                for ((a, b), role) in a.iter().zip(b).zip(&chan.values) {
                    let v = a.read(from);
                    b.write(to, if (i as i32) < len { value(v, *role) } else { v });
                }
            }
        }
    }

    /// Where a channel goes, by its number.
    fn chan(&self, id: i32, perm: &[Pid], frames: Frames<'_>) -> i32 {
        if id <= 0 {
            return id;
        }
        let n = id as usize;
        if n <= self.globals.chans.len() {
            return self.globals.chan_to(n - 1, perm) as i32 + 1;
        }
        let Some(p) = frames.owner(n, &self.procs) else { return id };
        let seat = perm.get(p).map_or(p, |q| usize::from(*q));
        let frame = frames.at(p);
        let own = self.procs[frame.proctype].chan_to(n - frame.chan, perm);
        (frames.at(seat).chan + own) as i32
    }
}
