//! One state for all its images.
//!
//! Source  [Bosnacki-SYM] 2.3, the function h; the strategies are named there and come from Symmetric SPIN.
//!
//! # The argument
//!   [`Canon::apply`] is the action of a permutation on keys that `model/scalarset` argues about. Any choice of a
//!   permutation for each state gives a quotient that is right; the better choice gives the smaller one. It is canonical
//!   if all images of a state get the same key.
//!
//!   A choice is made by *colours*: what can be said about a process without naming another of its class. Its frame
//!   has a colour, the elements that arrays have for it, the places that hold its number, the messages in channels that
//!   are its own. Where two processes are mentioned together (a local variable of one holds the number of the other)
//!   the colour of each adds to the other's, until no more are told apart. Colours are hashes: an image of a state has
//!   the same colours, with their processes, so ordering by colour is the same for all images.
//!   Processes of one colour are *free* to stand in any order unless two of them, or of two such groups, are mentioned
//!   together; only then all orders are tried, and the least key is taken.
//!
//! | way | order | among equals |
//! |---|---|---|
//! | sorted | colour | as they stand |
//! | segmented | colour | the least key of all orders |
//! | pc-sorted | location | as they stand |
//! | pc-segmented | location | the least key of all orders |
//! | full | - | the least key of all orders |
//!
//! # Invariants
//!   I1 what `apply` does for a product of permutations is what it does for one after the other
//!   I2 `pick` of a state it returned is that state, with the identity
//!
//! # Owed
//!   O1 segmented, pc-segmented and full are canonical    tests: images of states of models, each place forgotten once
//!
//! # Cost  segmented: some passes over the parts of the key that have to do with processes; factorials for those that are
//!   entangled, up to a limit past which the order stays as it is.

use super::Way;
use spinor_model::index::Idx;
use spinor_model::ir::{Pid, System};
use spinor_model::layout::{Field, FrameLayout, Layout};
use spinor_model::scalarset::{Dim, Roles, Scalarset, Value};
use std::ops::Range;

/// Where each process goes; those beyond stay.
pub type Perm = Vec<Pid>;

/// Orders tried for one state with `segmented` and `pc-segmented`.
const MOST_ORDERS: usize = 5_040;

pub struct Canon {
    set: Scalarset,
    layout: Layout,
    way: Way,
    globals: Acts,
    procs: Vec<Acts>,
    /// One more than the highest member of a class.
    n: usize,
    /// By process: its class.
    class_of: Vec<Option<usize>>,
}

/// What a permutation does inside a frame.
#[derive(Default)]
struct Acts {
    slots: Vec<SlotAct>,
    /// Of all slots.
    fields: Vec<Field>,
    chans: Vec<ChanAct>,
    /// Where each slot's channel goes: the channel that was put into that slot.
    by_slot: Vec<Option<u32>>,
    /// The words of a frame without what acts; for colours.
    mask: Vec<u64>,
    live: Vec<Vec<bool>>,
    /// Some number of a process rests somewhere.
    has_dead: bool,
}

struct SlotAct {
    slot: u32,
    field: Field,
    value: Value,
    dims: Vec<Dim>,
    /// The slot that all elements of its array have in common.
    base: u32,
    place: Place,
}

/// What can be said about a place before a state is met, in the globals or in a frame of a member.
#[derive(Default)]
struct Place {
    /// The members that its indices name.
    named: Vec<Pid>,
    tag: u64,
}

struct ChanAct {
    slot: u32,
    len: Field,
    /// Of each message.
    messages: Vec<Vec<Field>>,
    values: Vec<Value>,
    dims: Vec<Dim>,
    /// It moves, or holds something that does.
    acts: bool,
    place: Place,
}

/// Memory for one thread.
#[derive(Clone, Default)]
pub struct Scratch {
    frames: Vec<FrameAt>,
    colours: Vec<u64>,
    next: Vec<u64>,
    refs: Vec<(Pid, Pid, u64)>,
    order: Vec<Pid>,
    groups: Vec<Range<usize>>,
    perm: Perm,
    best_perm: Perm,
    trial: Vec<u8>,
    best: Vec<u8>,
    coords: Vec<Pid>,
}

#[derive(Clone, Copy)]
struct FrameAt {
    at: usize,
    proctype: usize,
    /// The number of its first channel.
    chan: usize,
}

fn mix(a: u64, b: u64) -> u64 {
    let x = (a ^ b.wrapping_mul(0x9E37_79B9_7F4A_7C15)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    (x ^ (x >> 29)).wrapping_add(b.rotate_left(17)).wrapping_mul(0x94D0_49BB_1331_11EB)
}

impl ChanAct {
    /// The same for all elements of an array of channels.
    fn base(&self, n: usize) -> u64 {
        let offset = self.dims.iter().map(|d| d.index * d.stride).sum::<u32>();
        if self.dims.is_empty() { n as u64 } else { u64::from(self.slot - offset) << 32 }
    }
}

impl Acts {
    fn new(roles: &Roles, frame: &FrameLayout) -> Acts {
        let mut acts = Acts { fields: frame.slots.clone(), live: roles.live.clone(), ..Acts::default() };
        acts.by_slot = vec![None; roles.slots.len()];
        let mut mask = vec![0xffu8; frame.size as usize];
        let hide = |mask: &mut [u8], f: Field| {
            mask[f.at as usize..f.at as usize + usize::from(f.bytes)].fill(0);
        };
        for (slot, role) in roles.slots.iter().enumerate() {
            let field = frame.slots[slot];
            if field.bytes == 0 || role.value == Value::Plain && role.dims.is_empty() {
                continue;
            }
            hide(&mut mask, field);
            let base = role.dims.iter().fold(slot as u32, |s, d| s - d.index * d.stride);
            let (dims, value) = (role.dims.clone(), role.value);
            acts.slots.push(SlotAct { slot: slot as u32, field, value, dims, base, place: Place::default() });
            let pid = matches!(value, Value::Pid(_));
            acts.has_dead |= pid && roles.live.iter().any(|l| !l[slot]);
        }
        for (n, (role, chan)) in roles.chans.iter().zip(&frame.chans).enumerate() {
            let dims = roles.slots.get(role.slot as usize).map_or(Vec::new(), |r| r.dims.clone());
            if let Some(at) = acts.by_slot.get_mut(role.slot as usize) {
                *at = Some(n as u32);
            }
            let messages: Vec<Vec<Field>> = (0..chan.capacity).map(|i| chan.message(i).collect()).collect();
            let acts_here = !dims.is_empty() || role.fields.iter().any(|v| *v != Value::Plain);
            if acts_here {
                hide(&mut mask, chan.len);
                messages.iter().flatten().for_each(|f| hide(&mut mask, *f));
            }
            let values = role.fields.clone();
            let (len, acts_here, place) = (chan.len, acts_here, Place::default());
            acts.chans.push(ChanAct { slot: role.slot, len, messages, values, dims, acts: acts_here, place });
        }
        acts.mask = mask.chunks(8).map(|w| u64::from_le_bytes(*w.first_chunk().expect("frames are words"))).collect();
        acts
    }

    /// Where a channel of the frame goes.
    fn chan_to(&self, n: usize, perm: &[Pid]) -> usize {
        let chan = &self.chans[n];
        match moved(chan.slot, &chan.dims, perm) {
            to if to == chan.slot => n,
            to => self.by_slot[to as usize].map_or(n, |to| to as usize),
        }
    }
}

#[inline]
fn renamed(value: i32, offset: i32, perm: &[Pid]) -> i32 {
    match perm.get(value.wrapping_add(offset) as usize) {
        Some(to) if value.wrapping_add(offset) >= 0 => i32::from(*to) - offset,
        _ => value,
    }
}

#[inline]
fn moved(slot: u32, dims: &[Dim], perm: &[Pid]) -> u32 {
    dims.iter().fold(slot, |slot, d| {
        let to = renamed(d.index as i32, d.offset, perm);
        slot - d.index * d.stride + to as u32 * d.stride
    })
}

impl Canon {
    pub fn new(system: &System, set: Scalarset, way: Way) -> Canon {
        assert!(!set.is_empty() && way.is_on(), "there is something to do");
        let layout = Layout::new(system);
        let globals = Acts::new(&set.globals, &layout.globals);
        let procs = set.procs.iter().zip(&layout.procs).map(|(roles, frame)| Acts::new(roles, frame)).collect();
        let n = set.members().max().map_or(0, |p| usize::from(p) + 1);
        let class = |p: usize| set.classes.iter().position(|c| c.contains(&(p as Pid)));
        let class_of = (0..n).map(class).collect();
        let mut canon = Canon { layout, way, globals, procs, n, class_of, set };
        let mut globals = std::mem::take(&mut canon.globals);
        canon.settle(&mut globals, mix(0, 0));
        canon.globals = globals;
        for n in 0..canon.procs.len() {
            let mut acts = std::mem::take(&mut canon.procs[n]);
            canon.settle(&mut acts, 1 + n as u64);
            canon.procs[n] = acts;
        }
        canon
    }

    /// Works out what can be said about places before a state is met.
    fn settle(&self, acts: &mut Acts, kind: u64) {
        for act in &mut acts.slots {
            act.place.tag = self.coordinates(&act.dims, &mut act.place.named, mix(kind, u64::from(act.base)));
        }
        for (n, chan) in acts.chans.iter_mut().enumerate() {
            let tag = mix(kind, mix(chan.base(n), 77));
            chan.place.tag = self.coordinates(&chan.dims, &mut chan.place.named, tag);
        }
    }

    pub fn set(&self) -> &Scalarset {
        &self.set
    }

    pub fn way(&self) -> Way {
        self.way
    }

    pub fn identity(&self) -> Perm {
        (0..self.n).map(|p| p as Pid).collect()
    }

    /// `first`, then `second`.
    pub fn product(first: &[Pid], second: &[Pid]) -> Perm {
        first.iter().map(|p| second.get(usize::from(*p)).copied().unwrap_or(*p)).collect()
    }

    pub fn inverse(perm: &[Pid]) -> Perm {
        let mut out = vec![0; perm.len()];
        perm.iter().enumerate().for_each(|(p, to)| out[usize::from(*to)] = p as Pid);
        out
    }

    /// All members are there, so they can change places.
    fn read(&self, key: &[u8], frames: &mut Vec<FrameAt>) -> bool {
        frames.clear();
        let mut chan = self.globals.chans.len() + 1;
        for (at, proctype) in self.layout.frames(key) {
            let proctype = proctype.index();
            frames.push(FrameAt { at, proctype, chan });
            chan += self.procs[proctype].chans.len();
        }
        frames.len() >= self.n
            && self.set.settled.as_ref().is_none_or(|(pid, locs)| {
                // If it has ended, it has done so with nothing ahead.
                frames.get(usize::from(*pid)).is_none_or(|f| locs[self.layout.loc.read(&key[f.at..]) as usize])
            })
    }

    /// Replaces a key by the one that stands for it; the permutation that leads there is in `scratch`.
    pub fn pick(&self, key: &mut [u8], scratch: &mut Scratch) {
        scratch.perm.clear();
        scratch.perm.extend(0..self.n as Pid);
        if !self.read(key, &mut scratch.frames) {
            return;
        }
        if self.way != Way::Full {
            self.colour(key, scratch);
        }
        self.choose(key, scratch);
    }

    /// The permutation that the last `pick` used.
    pub fn picked(scratch: &Scratch) -> &Perm {
        &scratch.perm
    }

    /// The image of a key.
    pub fn image(&self, key: &[u8], perm: &[Pid], scratch: &mut Scratch) -> Vec<u8> {
        let mut out = key.to_vec();
        if self.read(key, &mut scratch.frames) {
            self.apply(key, perm, &scratch.frames, &mut out);
        }
        out
    }

    /// What all keys have in common that differ in nothing that matters.
    pub fn normal(&self, key: &[u8], scratch: &mut Scratch) -> Vec<u8> {
        self.image(key, &self.identity(), scratch)
    }

    fn colour(&self, key: &[u8], scratch: &mut Scratch) {
        let Scratch { frames, colours, next, refs, coords, .. } = scratch;
        colours.clear();
        colours.resize(self.n, 0);
        refs.clear();
        let pc = matches!(self.way, Way::PcSorted | Way::PcSegmented);
        for p in 0..self.n {
            if self.class_of[p].is_none() {
                continue;
            }
            let frame = &key[frames[p].at..];
            if pc {
                colours[p] = self.layout.loc.read(frame) as u64;
                continue;
            }
            let mut h = 0;
            for (word, mask) in frame.chunks_exact(8).zip(&self.procs[frames[p].proctype].mask) {
                h = mix(h, u64::from_le_bytes(*word.first_chunk().expect("eight bytes")) & mask);
            }
            colours[p] = h;
        }
        if pc {
            return;
        }
        let mut see = |coords: &mut Vec<Pid>, tag: u64, value: u64| match coords[..] {
            [] => {}
            [p] => colours[usize::from(p)] = colours[usize::from(p)].wrapping_add(mix(tag, value)),
            _ => {
                for i in 1..coords.len() {
                    let (p, q) = (coords[i - 1], coords[i]);
                    if p == q {
                        let own = &mut colours[usize::from(p)];
                        *own = own.wrapping_add(mix(mix(tag, value), i as u64));
                    } else {
                        refs.push((p, q, mix(mix(tag, value), i as u64)));
                    }
                }
                if coords.len() > 2 && coords[0] != coords[coords.len() - 1] {
                    refs.push((coords[0], coords[coords.len() - 1], mix(tag, value)));
                }
            }
        };
        let whose = std::iter::once(None).chain((0..frames.len()).map(Some));
        for who in whose {
            let (acts, frame, kind) = match who {
                None => (&self.globals, key, 0),
                Some(p) => (&self.procs[frames[p].proctype], &key[frames[p].at..], 1 + frames[p].proctype as u64),
            };
            let own = who.filter(|p| self.is_member(*p as i32)).map(|p| p as Pid);
            // Frames of others are places of their own.
            let kind = if own.is_none() { mix(kind, who.map_or(0, |p| p as u64 + 1)) } else { kind };
            let live = who.and_then(|_| acts.live.get(self.layout.loc.read(frame) as usize));
            let settled = who.is_none() || own.is_some();
            for act in &acts.slots {
                let value = act.field.read(frame);
                let dead = matches!(act.value, Value::Pid(_)) && live.is_some_and(|l| !l[act.slot as usize]);
                // An element at zero says nothing: there are many.
                if !act.dims.is_empty() && (dead || value == 0 && act.value == Value::Plain) {
                    continue;
                }
                coords.clear();
                coords.extend(own);
                let tag = if settled {
                    coords.extend_from_slice(&act.place.named);
                    act.place.tag
                } else {
                    self.coordinates(&act.dims, coords, mix(kind, u64::from(act.base)))
                };
                let value = if dead { 0 } else { self.value(value, act.value, frames, coords) };
                see(coords, tag, value);
            }
            for (n, chan) in acts.chans.iter().enumerate().filter(|(_, c)| c.acts) {
                let len = chan.len.read(frame) as usize;
                coords.clear();
                coords.extend(own);
                let tag = if settled {
                    coords.extend_from_slice(&chan.place.named);
                    chan.place.tag
                } else {
                    self.coordinates(&chan.dims, coords, mix(kind, mix(chan.base(n), 77)))
                };
                let n_coords = coords.len();
                see(coords, tag, len as u64);
                for (i, message) in chan.messages.iter().take(len).enumerate() {
                    for (f, (field, role)) in message.iter().zip(&chan.values).enumerate() {
                        coords.truncate(n_coords);
                        let value = self.value(field.read(frame), *role, frames, coords);
                        see(coords, mix(tag, mix(i as u64, f as u64 + 1)), value);
                    }
                }
            }
        }
        if self.set.last != Value::Plain {
            let last = self.layout.last.read(key);
            if self.is_member(last) {
                see(&mut vec![last as Pid], 99, 1);
            }
        }
        // Until no more are told apart.
        let mut n_colours = self.n_colours(colours);
        while !refs.is_empty() {
            next.clone_from(colours);
            for (p, q, tag) in refs.iter() {
                let (p, q) = (usize::from(*p), usize::from(*q));
                next[p] = next[p].wrapping_add(mix(*tag, colours[q]));
                next[q] = next[q].wrapping_add(mix(!*tag, colours[p]));
            }
            std::mem::swap(colours, next);
            let n = self.n_colours(colours);
            if n == n_colours {
                break;
            }
            n_colours = n;
        }
    }

    fn n_colours(&self, colours: &[u64]) -> usize {
        let classes = self.set.classes.iter();
        let each = classes.map(|c| {
            let other = |p: &usize| c[..*p].iter().all(|q| colours[usize::from(*q)] != colours[usize::from(c[*p])]);
            (0..c.len()).filter(other).count()
        });
        each.sum()
    }

    fn is_member(&self, pid: i32) -> bool {
        usize::try_from(pid).is_ok_and(|p| self.class_of.get(p).is_some_and(|c| c.is_some()))
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
    fn value(&self, value: i32, role: Value, frames: &[FrameAt], coords: &mut Vec<Pid>) -> u64 {
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
                let holds = |f: &&FrameAt| (f.chan..f.chan + self.procs[f.proctype].chans.len()).contains(&id);
                let Some(at) = frames.iter().position(|f| holds(&f)) else { return 1 << 44 | id as u64 };
                let frame = &frames[at];
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

    fn choose(&self, key: &mut [u8], scratch: &mut Scratch) {
        let Scratch { frames, colours, refs, order, groups, perm, best_perm, trial, best, .. } = scratch;
        let full = self.way == Way::Full;
        // In each class, by colour.
        order.clear();
        groups.clear();
        for class in &self.set.classes {
            let from = order.len();
            order.extend(class);
            if full {
                groups.push(from..order.len());
                continue;
            }
            order[from..].sort_by_key(|p| colours[usize::from(*p)]);
            let mut at = from;
            while at < order.len() {
                let colour = colours[usize::from(order[at])];
                let to = at + order[at..].iter().take_while(|p| colours[usize::from(**p)] == colour).count();
                if to > at + 1 {
                    groups.push(at..to);
                }
                at = to;
            }
        }
        match self.way {
            Way::Sorted | Way::PcSorted => groups.clear(),
            Way::Segmented if refs.is_empty() => groups.clear(),
            Way::Segmented if !groups.is_empty() => {
                let group_of = |p: &Pid| groups.iter().position(|g| order[g.clone()].contains(p));
                let mut tangled = vec![false; groups.len()];
                for (p, q, _) in refs.iter() {
                    if let (Some(a), Some(b)) = (group_of(p), group_of(q)) {
                        tangled[a] = true;
                        tangled[b] = true;
                    }
                }
                let mut n = 0;
                groups.retain(|_| {
                    n += 1;
                    tangled[n - 1]
                });
            }
            _ => {}
        }
        let n_orders = groups.iter().fold(1usize, |n, g| n.saturating_mul((1..=g.len()).product()));
        if !full && n_orders > MOST_ORDERS {
            groups.clear();
        }
        self.seat(order, perm);
        let at_rest = |p: &FrameAt| !self.procs[p.proctype].has_dead;
        if groups.is_empty() {
            if perm.iter().enumerate().any(|(p, to)| p != usize::from(*to)) || !frames.iter().all(at_rest) {
                trial.clear();
                trial.extend_from_slice(key);
                self.apply(trial, perm, frames, key);
            }
            return;
        }
        best.clear();
        each_order(order, groups, &mut |order| {
            self.seat(order, perm);
            trial.clear();
            trial.extend_from_slice(key);
            self.apply(key, perm, frames, trial);
            if best.is_empty() || *trial < *best {
                std::mem::swap(best, trial);
                best_perm.clone_from(perm);
            }
        });
        key.copy_from_slice(best);
        std::mem::swap(perm, best_perm);
    }

    /// The n-th of a class goes to where its n-th stands.
    fn seat(&self, order: &[Pid], perm: &mut Perm) {
        perm.clear();
        perm.extend(0..self.n as Pid);
        for (from, to) in order.iter().zip(self.set.classes.iter().flatten()) {
            perm[usize::from(*from)] = *to;
        }
    }

    fn apply(&self, from: &[u8], perm: &[Pid], frames: &[FrameAt], to: &mut [u8]) {
        let seat = |p: usize| perm.get(p).map_or(p, |q| usize::from(*q));
        for p in (0..self.n).filter(|p| seat(*p) != *p) {
            let (a, b) = (frames[p], frames[seat(p)]);
            debug_assert_eq!(a.proctype, b.proctype, "members of a class are of one proctype");
            let size = self.layout.procs[a.proctype].size as usize;
            to[b.at..b.at + size].copy_from_slice(&from[a.at..a.at + size]);
        }
        self.act(&self.globals, from, perm, frames, to, None);
        for (p, frame) in frames.iter().enumerate() {
            let there = frames[seat(p)].at;
            let acts = &self.procs[frame.proctype];
            let loc = self.layout.loc.read(&from[frame.at..]) as usize;
            self.act(acts, &from[frame.at..], perm, frames, &mut to[there..], acts.live.get(loc));
        }
        if let Value::Pid(offset) = self.set.last {
            let last = self.layout.last.read(from);
            self.layout.last.write(to, renamed(last, offset, perm));
        }
    }

    fn act(&self, acts: &Acts, from: &[u8], perm: &[Pid], frames: &[FrameAt], to: &mut [u8], live: Option<&Vec<bool>>) {
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
        for (n, chan) in acts.chans.iter().enumerate().filter(|(_, c)| c.acts) {
            let there = &acts.chans[acts.chan_to(n, perm)];
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
    fn chan(&self, id: i32, perm: &[Pid], frames: &[FrameAt]) -> i32 {
        if id <= 0 {
            return id;
        }
        let n = id as usize;
        if n <= self.globals.chans.len() {
            return self.globals.chan_to(n - 1, perm) as i32 + 1;
        }
        let holds = |f: &FrameAt| (f.chan..f.chan + self.procs[f.proctype].chans.len()).contains(&n);
        let Some(p) = frames.iter().position(holds) else { return id };
        let seat = perm.get(p).map_or(p, |q| usize::from(*q));
        let own = self.procs[frames[p].proctype].chan_to(n - frames[p].chan, perm);
        (frames[seat].chan + own) as i32
    }
}

/// Calls with every order of the groups.
fn each_order(order: &mut [Pid], groups: &[Range<usize>], f: &mut dyn FnMut(&[Pid])) {
    let Some((group, rest)) = groups.split_first() else { return f(order) };
    permute(order, group.start, group.end, &mut |order| each_order(order, rest, f));
}

fn permute(order: &mut [Pid], from: usize, to: usize, f: &mut dyn FnMut(&mut [Pid])) {
    if to - from < 2 {
        return f(order);
    }
    for n in from..to {
        order.swap(from, n);
        permute(order, from + 1, to, f);
        order.swap(from, n);
    }
}
