//! Where the places are: worked out once for a system and its classes.

use super::{Acts, ChanAct, Column, FrameAt, Look, Number, Own, Place, Places, Queue, Row, SlotAct, mix, moved};
use spinor_model::index::Idx;
use spinor_model::ir::{Pid, ProctypeId, System};
use spinor_model::layout::{Field, FrameLayout, Layout};
use spinor_model::scalarset::{Roles, Scalarset, Value};
use spinor_model::written::FixedChans;

impl Acts {
    /// I6
    fn are_apart(&self) -> bool {
        let columns = self.columns.iter().flat_map(|c| c.of_class.iter().map(|(_, field)| *field));
        let numbers = self.numbers.iter().chain(self.queues.iter().flat_map(|q| &q.numbers)).map(|number| number.field);
        let chans = self.moving.iter().map(|n| &self.chans[*n]);
        let messages = chans.flat_map(|c| c.messages.iter().flatten().copied().chain([c.len]));
        let mut all: Vec<Field> = numbers.chain(columns).chain(messages).collect();
        all.extend(self.slots.iter().map(|act| act.field));
        all.sort_by_key(|field| field.at);
        all.windows(2).all(|two| two[0].at + u32::from(two[0].bytes) <= two[1].at)
    }
}

impl Places {
    pub fn new(system: &System, set: Scalarset) -> Places {
        let layout = Layout::new(system);
        let n = set.members().max().map_or(0, |p| usize::from(p) + 1);
        let mut member = vec![false; n];
        set.members().for_each(|p| member[usize::from(p)] = true);
        let is_of_one = |class: &Vec<Pid>| {
            let kind = |p: &Pid| set.kinds[usize::from(*p)];
            class.len() > 1 && class.is_sorted_by(|p, q| p < q && kind(p) == kind(q))
        };
        assert!(set.classes.iter().all(is_of_one), "I7");
        assert_eq!(member.iter().filter(|is| **is).count(), set.members().count(), "nobody is in two classes");
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
        let chans = FixedChans::new(system);
        places.globals = places.acts(&places.set.globals, &places.layout.globals, &chans.globals, 0);
        let kinds = places.set.procs.iter().zip(&places.layout.procs).enumerate();
        let acts = |(n, (roles, frame)): (usize, _)| {
            places.acts(roles, frame, &chans.locals[ProctypeId::new(n)], 1 + n as u64)
        };
        places.procs = kinds.map(acts).collect();
        let rests = |acts: &Acts| {
            let pids = acts.slots.iter().filter(|a| matches!(a.value, Value::Pid(_)));
            let mut slots = pids.map(|a| a.slot as usize);
            !acts.live.is_empty() || slots.any(|s| acts.live_slots.iter().any(|at| !at[s]))
        };
        places.has_dead = places.procs.iter().any(rests);
        places.flatten();
        places.check_lists();
        places
    }

    /// I5, and that what is of a simple kind is in one list each.
    fn check_lists(&self) {
        let mut words: Vec<usize> =
            self.words.iter().flat_map(|row| (0..row.n).map(|n| row.at + n * row.stride)).collect();
        let frame = |p: Pid| {
            let f = self.fixed[usize::from(p)];
            (f.at..f.at + self.layout.procs[f.proctype].size as usize).step_by(8)
        };
        let mut expected: Vec<usize> = self.set.members().flat_map(frame).collect();
        words.sort_unstable();
        expected.sort_unstable();
        assert_eq!(words, expected, "I5");
        let rows = self.looks.iter().map(|look| &look.row).chain(&self.words).chain(&self.cells);
        let is_listed = |row: &Row| self.member[row.first..row.first + row.n].iter().all(|is| *is);
        assert!(rows.into_iter().all(is_listed), "I5");
        assert!(self.held.iter().all(|own| self.member[usize::from(own.pid)]), "I5");
        let numbers = |p: Pid| self.procs[self.fixed[usize::from(p)].proctype].numbers.len();
        assert_eq!(self.own.len(), self.set.members().map(numbers).sum::<usize>(), "I5");
        let (n_bytes, n_columns) = (self.bytes.len(), self.cells.len() + self.columns.len());
        assert_eq!(n_bytes + self.registers.len(), self.globals.numbers.len(), "each number of the globals is listed");
        assert_eq!(n_columns, self.globals.columns.len(), "each column is listed");
        assert!(self.procs.iter().all(|acts| acts.columns.is_empty()), "columns are global");
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
                let n_locs = from.map_or(0, |from| alive.len() - from);
                debug_assert!(
                    from.is_none() || n_locs == acts.live_slots.len(),
                    "it is read again or not at each location"
                );
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
        debug_assert!(self.looks.iter().all(|look| look.row.first + look.row.n <= self.n), "I5");
        debug_assert!(
            self.words.iter().map(|row| row.n * 8).sum::<usize>()
                == self
                    .set
                    .members()
                    .map(|p| self.layout.procs[self.fixed[usize::from(p)].proctype].size as usize)
                    .sum(),
            "I5"
        );
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

    fn acts(&self, roles: &Roles, frame: &FrameLayout, chans: &[Option<u32>], kind: u64) -> Acts {
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
                    let of_class: Vec<(Pid, Field)> =
                        self.set.classes[class].iter().map(|p| (*p, fields[usize::from(*p)])).collect();
                    assert!(of_class.iter().all(|(_, f)| f.bytes == field.bytes), "elements of an array are alike");
                    acts.columns.push(Column { fields, of_class, names, tag: place.tag });
                }
                // It stays, and what it holds too.
                ([], None) if role.value == Value::Plain => {}
                // It holds the channel that was put there, and so does the place it moves to. (What moves with its frame
                // has to be renamed.)
                _ if role.value == Value::Chan && chans[slot as usize].is_some() && !moves => {}
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
        assert!(acts.are_apart(), "I6");
        acts.words = mask.chunks(8).enumerate().map(word).filter(|(_, mask)| *mask != 0).collect();
        acts
    }
}
