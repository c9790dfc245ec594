//! The image of a key under a permutation.

use super::{Acts, FrameAt, Frames, Places, mix, moved, read, renamed, write};
use spinor_model::ir::Pid;
use spinor_model::layout::Field;
use spinor_model::scalarset::Value;

/// Of more processes than these an image is not looked at.
pub const MANY: usize = 64;

impl Places {
    /// Writes the image of `from` over `to`, which is a copy of it.
    pub fn apply(&self, from: &[u8], perm: &[Pid], beyond: &[FrameAt], to: &mut [u8]) {
        debug_assert!(from == to, "it is a copy");
        debug_assert_eq!(perm.len(), self.n, "a place for each process up to the highest member");
        self.write_image(from, perm, beyond, to);
        debug_assert!(self.n > MANY || self.layout.frames(from).eq(self.layout.frames(to)), "I7");
        debug_assert!(self.n > MANY || self.keeps(from, to), "what is moved is neither lost nor doubled");
    }

    /// The locations of each class, and how many messages there are in each of the channels of the globals, are the same in
    /// any order: so are sums of their hashes.
    fn keeps(&self, from: &[u8], to: &[u8]) -> bool {
        let sum = |all: &mut dyn Iterator<Item = i32>| all.fold(0, |sum: u64, n| sum.wrapping_add(mix(n as u64, 1)));
        let loc = |key: &[u8], p: &Pid| self.layout.loc.read(&key[self.fixed[usize::from(*p)].at..]);
        let locations = |key: &[u8], class: &[Pid]| sum(&mut class.iter().map(|p| loc(key, p)));
        let lengths = |key: &[u8]| sum(&mut self.globals.chans.iter().map(|chan| chan.len.read(key)));
        let mut classes = self.set.classes.iter();
        classes.all(|class| locations(from, class) == locations(to, class)) && lengths(from) == lengths(to)
    }

    #[inline]
    fn write_image(&self, from: &[u8], perm: &[Pid], beyond: &[FrameAt], to: &mut [u8]) {
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
            let name = renamed(i32::from(from[*at]), self.names[*names].0, perm);
            debug_assert!(u8::try_from(name).is_ok(), "scalarset I1");
            to[*at] = name as u8;
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
            let there = acts.fields[moved(act.slot, &act.dims, perm) as usize];
            debug_assert_eq!(there.bytes, act.field.bytes, "elements of an array are alike");
            there.write(to, v);
        }
        for n in &acts.moving {
            let chan = &acts.chans[*n];
            let there = &acts.chans[acts.chan_to(*n, perm)];
            let len = chan.len.read(from);
            debug_assert!((0..=chan.messages.len() as i32).contains(&len), "so many messages have room");
            debug_assert_eq!(chan.values, there.values, "channels that change places are alike");
            debug_assert_eq!(chan.messages.len(), there.messages.len(), "channels that change places are alike");
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
        debug_assert_eq!(frames.at(seat).proctype, frame.proctype, "I7");
        let own = self.procs[frame.proctype].chan_to(n - frame.chan, perm);
        (frames.at(seat).chan + own) as i32
    }
}
