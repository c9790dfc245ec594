//! The tables of a cast, made from the text of its processes.
//!
//! Who touches what is said by `touch`, transition by transition; here each is put beside every other one, and one step
//! further (see the parent).

use super::{BLOCK, Cast, Flags, Gathered, Lacks, MOST_LOCS, MOST_TOLD, MOST_TRANSITIONS, Marks, Set, Told, Witness};
use crate::reduce::repairs::{AbleBy, Repairs, UnlessBy};
use crate::reduce::statics::Statics;
use crate::reduce::still::Still;
use crate::reduce::touch::Walk;
use crate::reduce::uses::{Actor, ActorId, Atom, Filled, Half, Touch, USES, Use};
use crate::reduce::without::{Condition, Without};
use crate::reduce::{known, rounds};
use spinor_model::index::Idx;
use spinor_model::interp::Interp;
use spinor_model::ir::{EdgeId, Effect, Expr, Loc, Pid, ProctypeId, System};
use spinor_model::layout::Field;
use spinor_model::successors::Successors;
use std::collections::{BTreeMap, BTreeSet};

/// What a cast is made from.
pub(in crate::reduce) struct Making<'a> {
    pub system: &'a System,
    pub statics: &'a Statics,
    pub interp: &'a Interp,
    /// By phase.
    pub looked: &'a [Vec<Expr>],
    /// What is kept in order instead of being seen, as columns of what is looked at.
    pub parts: &'a [Vec<u32>],
    pub fair: bool,
    pub still: Option<&'a Still>,
    pub repairs: Repairs,
    /// Channels from which nothing is to be taken but where all steps are (`Protocol` overflows).
    pub brimming: &'a [u8],
    pub without: Without,
}

impl Making<'_> {
    /// The cast of a state, if it is not too large.
    pub fn cast(&self, key: &[u8], number: u32) -> Option<Cast> {
        let state = &self.interp.unpack(key);
        let n_live = state.n_procs();
        let mut actors: Vec<Actor> =
            (0..n_live as Pid).map(|pid| Actor { proctype: state.proctype(pid), pid: Some(pid) }).collect();
        let unborn = self.unborn(&actors);
        actors.extend(unborn.iter().map(|t| Actor { proctype: *t, pid: None }));
        let mut first = Vec::new();
        let mut owner = Vec::new();
        for (i, actor) in actors.iter().enumerate() {
            first.push(owner.len() as u32);
            owner.resize(owner.len() + self.system.proctypes[actor.proctype].edges.len(), i);
        }
        let has_many = |actor: &Actor| self.system.proctypes[actor.proctype].locs.len() > MOST_LOCS;
        if owner.len() > MOST_TRANSITIONS || actors.iter().any(has_many) {
            return None;
        }
        let (system, statics, interp, without) = (self.system, self.statics, self.interp, self.without);
        let nobody = Walk { system, statics, interp, state, actors: &actors, edges: &[], me: None, without };
        let known = (0..actors.len()).map(|i| known::edges(&Walk { me: Some(i), ..nobody }));
        let (edges, known): (Vec<_>, Vec<_>) = known.unzip();
        let walk = |me| Walk { me, edges: &edges, ..nobody };
        let mut touches = Vec::with_capacity(owner.len());
        for (i, actor) in actors.iter().enumerate() {
            let walk = walk(Some(i));
            touches.extend(self.system.proctypes[actor.proctype].edges.ids().map(|e| walk.edge(e)));
        }
        // Who takes which handshakes for granted.
        let mut answers: BTreeSet<Atom> = touches.iter().flat_map(|t| t.answers.iter().copied()).collect();
        if self.repairs.unless == UnlessBy::Guards {
            touches.iter_mut().for_each(|t| t.guards.extend(t.answers.iter().copied()));
        }
        let mut offers = vec![Vec::new(); n_live];
        if self.fair && without.keeps(Condition::Fairness) {
            for (i, actor) in actors.iter().enumerate() {
                for loc in self.system.proctypes[actor.proctype].locs.ids() {
                    let mut able = walk(Some(i)).able(loc);
                    if i < n_live {
                        offers[i].push(!able.answers.is_empty());
                    }
                    if self.repairs.able == AbleBy::Guards {
                        able.guards.append(&mut able.answers);
                    } else {
                        answers.append(&mut able.answers);
                    }
                    for (touch, _) in touches.iter_mut().zip(&owner).filter(|(_, owner)| **owner != i) {
                        if touch.changes(&able) {
                            touch.writes.insert(Atom::Able(i, loc)); // F
                        }
                    }
                }
            }
        }
        for (n, part) in self.parts.iter().enumerate().filter(|_| without.keeps(Condition::Part)) {
            let looked: Vec<Expr> = part.iter().map(|c| self.looked[0][*c as usize].clone()).collect();
            let seen = walk(None).looked(&looked);
            for touch in touches.iter_mut().filter(|touch| is_seen(touch, &seen)) {
                touch.writes.insert(Atom::Part(n)); // S
            }
        }
        let looked = if self.parts.is_empty() { self.looked } else { &[] };
        let seen: Vec<Touch> = looked.iter().map(|looked| walk(None).looked(looked)).collect();
        let none = Set::new(owner.len());
        let n_blocks = none.blocks().len();
        let index = Index::new(&touches, &owner, without);
        let reach = self.reach(&actors, &first, &touches);
        let minds = match self.repairs.unless {
            UnlessBy::Dynamic => self.minds(&actors[..n_live], &first, &touches, &reach),
            UnlessBy::Guards | UnlessBy::Static => vec![Vec::new(); n_live],
        };
        let mut cast = Cast {
            number,
            marks: Marks::new(self.interp.layout(), self.statics, key),
            stands: Vec::new(),
            gathered: Gathered::default(),
            owner,
            n_blocks,
            current: Vec::new(),
            own: Vec::new(),
            disturbs: Vec::new(),
            with: Vec::new(),
            enables: Vec::new(),
            lacks: Vec::new(),
            asked: Vec::new(),
            flags: Vec::new(),
            shut: vec![[0; 4]; n_blocks * self.looked.len() * 2],
            n_phases: self.looked.len() as u32,
            safe: Vec::new(),
            n_locs: 0,
            any_safe: false,
            labels: Vec::new(),
            minds,
            offers,
            without,
            witness: None,
            first,
            first_loc: Vec::new(),
        };
        let layout = self.interp.layout();
        cast.stands = layout.frames(key).map(|(at, _)| layout.loc.after(at as u32)).collect();
        cast.gathered = Gathered::new(&cast.stands, key.len());
        debug_assert!(cast.stands(key).enumerate().all(|(pid, loc)| loc == state.loc(pid as Pid)), "who stands where");
        for (i, actor) in actors[..n_live].iter().enumerate() {
            let t = &self.system.proctypes[actor.proctype];
            let first = cast.first[i];
            cast.own.extend(index.own[i].blocks());
            cast.first_loc.push(cast.n_locs as u32);
            cast.n_locs += t.locs.len();
            for loc in t.locs.iter() {
                let mut here = none.clone();
                loc.edges.iter().for_each(|e| here.put(first + e.index() as u32));
                cast.current.extend(here.blocks());
            }
            let labels = self.still.and_then(|still| still.labels.get(actor.proctype.index()));
            cast.labels.extend(labels.cloned());
        }
        let lengths = self.lengths(&walk(None), &actors[..n_live]);
        let closed = rounds::closed(&walk(None), self.statics, n_live);
        let leads = self.leads(&actors, n_live, &cast.first, &touches, &reach);
        let mut lacks: Vec<(u32, Vec<Told>)> = Vec::new();
        // By transition: nobody else is in any set because it can be taken, or because it cannot.
        let mut alone = vec![(false, true); cast.owner.len()];
        // Only transitions of those that live are ever current.
        let n_rows = cast.first.get(n_live).map_or(cast.owner.len(), |f| *f as usize);
        for (t, touch) in touches.iter().enumerate().take(n_rows) {
            let me = cast.owner[t];
            let proctype = actors[me].proctype;
            let edge = t - cast.first[me] as usize;
            let mine = &index.own[me];
            let row = |mut targets: Set| {
                let mut row = none.clone();
                while let Some(target) = targets.take() {
                    row.add(&leads[target as usize]);
                }
                row
            };
            let keeps = |condition| without.keeps(condition);
            let mut disturbed = index.disturbed(t, touch);
            let mut with = if keeps(Condition::D2) { row(disturbed.clone()) } else { none.clone() };
            with.remove(mine);
            let half = touch.sends.is_some() || touch.takes.is_some();
            alone[t].0 = with == none && !(half && keeps(Condition::HasteMeets));
            if keeps(Condition::D1) {
                with.add(mine);
            }
            disturbed.add(mine);
            debug_assert!(!keeps(Condition::D1) || mine.0.iter().zip(&with.0).all(|(m, w)| m & !w == 0), "D1");
            debug_assert!(
                seen.iter().all(|seen| !seen.youngest && seen.writes.is_empty()),
                "who looks changes nothing"
            );
            cast.disturbs.extend(disturbed.blocks());
            cast.with.extend(with.blocks());
            let mut meets = none.clone();
            if half && keeps(Condition::D4) {
                meets = row(index.meeting(t, touch, &touches));
                meets.remove(mine);
            }
            let told = told(touch, &lengths);
            debug_assert!(told.len() <= MOST_TOLD && told.is_sorted_by_key(|(chan, _)| *chan), "each channel once");
            lacks.push(((cast.enables.len() / n_blocks) as u32, told.iter().map(|(_, told)| *told).collect()));
            for filled in ways_to_fill(&told) {
                let mut enables = meets.clone();
                if keeps(Condition::D3) {
                    enables.add(&row(index.enabling(touch, &filled)));
                }
                cast.enables.extend(enables.blocks());
                enables.remove(mine);
                alone[t].1 &= enables == none;
            }
            let closes = without.keeps(Condition::Cycle) && closed[me] && self.statics.closes[proctype.index()][edge];
            let leads = self.repairs.is_static() && without.keeps(Condition::Followed) && {
                let chain = &self.statics.chains[proctype.index()][edge];
                let takes = |loc: &Loc| {
                    let edges = &self.system.proctypes[proctype].locs[*loc].edges;
                    edges.iter().any(|e| touches[cast.first[me] as usize + e.index()].takes.is_some())
                };
                let compared = |a: &Atom| !matches!(a, Atom::At(..)) && answers.contains(a);
                chain.inner.iter().chain(&chain.ends).any(takes) || touch.writes.iter().any(compared)
            };
            let bit = |(phase, seen): (usize, &Touch)| u64::from(is_seen(touch, seen)) << phase;
            let drains = touch.chans.iter().any(|(c, how)| *how == Use::Take && self.brimming.contains(c));
            let declared = self.system.visible.contains(&(proctype, EdgeId::new(edge)));
            let leads = leads || declared || drains && without.keeps(Condition::Overflow);
            let seen = match (leads, without.keeps(Condition::Visibility)) {
                (true, _) => u64::MAX,
                (_, true) => seen.iter().enumerate().map(bit).sum(),
                _ => 0,
            };
            let marked = self.still.is_some_and(|still| still.edge(proctype, EdgeId::new(edge)));
            cast.flags.push(Flags { half, receives: only_message(touch), closes, marked });
            for phase in 0..self.looked.len() {
                let seen = seen >> phase & 1 == 1;
                for (row, shut) in [(phase, seen), (self.looked.len() + phase, seen || closes)] {
                    cast.shut[row * n_blocks + t / BLOCK][t % BLOCK / 64] |= u64::from(shut) << (t % 64);
                }
            }
        }
        let asked: BTreeMap<u32, Told> = lacks.iter().flat_map(|l| &l.1).map(|told| (told.len.at, *told)).collect();
        let places: BTreeMap<u32, u16> = asked.keys().copied().zip(0..).collect();
        cast.asked = asked.into_values().collect();
        cast.lacks.extend(lacks.into_iter().map(|(first, told)| {
            let mut by = [cast.asked.len() as u16; MOST_TOLD];
            let last = MOST_TOLD - told.len();
            by[last..].iter_mut().zip(&told).for_each(|(by, told)| *by = places[&told.len.at]);
            Lacks { first, by }
        }));
        for shut in cast.shut.chunks(n_blocks.max(1)) {
            let is_shut = |t: usize| shut[t / BLOCK][t % BLOCK / 64] >> (t % 64) & 1 == 1;
            for (i, actor) in actors[..n_live].iter().enumerate() {
                let one = |e: &EdgeId| cast.first[i] as usize + e.index();
                let safe = |e: &EdgeId| alone[one(e)].0 && !is_shut(one(e));
                let locs = self.system.proctypes[actor.proctype].locs.iter();
                // The only one there is cannot be the one that cannot be taken.
                cast.safe.extend(locs.map(|loc| match &loc.edges[..] {
                    [edge] => safe(edge),
                    edges => {
                        edges.iter().all(|e| safe(e) && (alone[one(e)].1 || !without.keeps(Condition::HasteWaits)))
                    }
                }));
            }
        }
        cast.any_safe = cast.safe.contains(&true);
        debug_assert!(cast.first.is_sorted() && cast.owner.is_sorted(), "I1");
        debug_assert!(!without.is_nothing() || cast.check_rows(n_rows), "I2");
        debug_assert_eq!((cast.flags.len(), cast.lacks.len()), (n_rows, n_rows), "one for each transition");
        debug_assert_eq!(
            (cast.disturbs.len(), cast.with.len()),
            (n_rows * n_blocks, n_rows * n_blocks),
            "a row for each"
        );
        debug_assert_eq!((cast.own.len(), cast.current.len()), (n_live * n_blocks, cast.n_locs * n_blocks), "and here");
        debug_assert_eq!(cast.safe.len() * n_blocks, cast.shut.len() * cast.n_locs, "by what is shut, by location");
        if cfg!(debug_assertions) {
            cast.witness = Some(Witness { known, touches });
        }
        Some(cast)
    }

    /// By transition: what is it, or comes before it: transitions of its process from which it is come to, and those that
    /// lead to making its process.
    fn leads(&self, actors: &[Actor], n_live: usize, first: &[u32], touches: &[Touch], reach: &[Vec<Set>]) -> Vec<Set> {
        let none = Set::new(touches.len());
        let mut leads = vec![none.clone(); touches.len()];
        for (i, actor) in actors[..n_live].iter().enumerate() {
            for (e, edge) in self.system.proctypes[actor.proctype].edges.enumerated() {
                let c = first[i] + e.index() as u32;
                let mut comes = none.clone();
                if self.without.keeps(Condition::Later) {
                    comes.add(&reach[i][edge.to.index()]);
                    reach_of_unborn(&touches[c as usize].runs, actors, n_live, reach).for_each(|r| comes.add(r));
                }
                comes.put(c);
                while let Some(t) = comes.take() {
                    leads[t as usize].put(c);
                }
            }
        }
        leads
    }

    /// By process and location: whether it stands there, or may come to where it goes on only while nobody answers.
    fn minds(&self, live: &[Actor], first: &[u32], touches: &[Touch], reach: &[Vec<Set>]) -> Vec<Vec<bool>> {
        let mut minding = Set::new(touches.len());
        (0..touches.len()).filter(|t| !touches[*t].answers.is_empty()).for_each(|t| minding.put(t as u32));
        let at = |(i, actor): (usize, &Actor)| {
            let locs = &self.system.proctypes[actor.proctype].locs;
            let here = |loc: Loc| locs[loc].edges.iter().any(|e| minding.has(first[i] + e.index() as u32));
            let comes = |loc: Loc| minding.meets(&reach[i][loc.index()]);
            let coming = self.without.keeps(Condition::Coming);
            locs.ids().map(|loc| here(loc) || coming && comes(loc)).collect()
        };
        live.iter().enumerate().map(at).collect()
    }

    /// By channel: where the key tells how many messages it has.
    fn lengths(&self, walk: &Walk<'_>, live: &[Actor]) -> Vec<Told> {
        let layout = self.interp.layout();
        let mut out: Vec<Field> = layout.globals.chans.iter().map(|c| c.len).collect();
        let mut at = layout.globals.size;
        for actor in live {
            let frame = &layout.procs[actor.proctype.index()];
            out.extend(frame.chans.iter().map(|c| c.len.after(at)));
            at += frame.size;
        }
        let capacity = |n: usize| walk.capacity(n as u8 + 1) as i32;
        out.iter().enumerate().map(|(n, len)| Told { len: *len, capacity: capacity(n) }).collect()
    }

    /// Proctypes of which processes may yet be made.
    fn unborn(&self, actors: &[Actor]) -> Vec<ProctypeId> {
        let mut found: BTreeSet<ProctypeId> = BTreeSet::new();
        let mut todo: Vec<ProctypeId> = actors.iter().map(|a| a.proctype).collect();
        while let Some(t) = todo.pop() {
            for effect in self.system.proctypes[t].edges.iter().flat_map(|e| &e.effects) {
                if let Effect::Run { proctype, .. } = effect
                    && found.insert(*proctype)
                {
                    todo.push(*proctype);
                }
            }
        }
        found.into_iter().collect()
    }

    /// By process and location: the transitions that may be taken from there on, by the process and those it makes.
    fn reach(&self, actors: &[Actor], first: &[u32], touches: &[Touch]) -> Vec<Vec<Set>> {
        let n_live = actors.iter().filter(|a| a.pid.is_some()).count();
        // Whoever is not there yet may do anything that its proctype can, and so may those it makes.
        let mut unborn: BTreeMap<ProctypeId, Set> = BTreeMap::new();
        for (i, actor) in actors.iter().enumerate().skip(n_live) {
            let mut all = Set::new(touches.len());
            let n = self.system.proctypes[actor.proctype].edges.len() as u32;
            (first[i]..first[i] + n).for_each(|t| all.put(t));
            unborn.insert(actor.proctype, all);
        }
        loop {
            let mut grew = false;
            for (i, actor) in actors.iter().enumerate().skip(n_live) {
                let n = self.system.proctypes[actor.proctype].edges.len() as u32;
                let runs: BTreeSet<ProctypeId> =
                    (first[i]..first[i] + n).flat_map(|t| touches[t as usize].runs.iter().copied()).collect();
                let mut mine = unborn[&actor.proctype].clone();
                runs.iter().for_each(|r| mine.add(&unborn[r]));
                if mine != unborn[&actor.proctype] {
                    unborn.insert(actor.proctype, mine);
                    grew = true;
                }
            }
            if !grew {
                break;
            }
        }
        let mut out = Vec::new();
        for (i, actor) in actors.iter().enumerate() {
            let t = &self.system.proctypes[actor.proctype];
            let mut sets = vec![Set::new(touches.len()); t.locs.len()];
            if i >= n_live {
                sets.fill(unborn[&actor.proctype].clone());
                out.push(sets);
                continue;
            }
            loop {
                let mut grew = false;
                for loc in t.locs.ids() {
                    let mut here = sets[loc.index()].clone();
                    for e in &t.locs[loc].edges {
                        let c = first[i] + e.index() as u32;
                        here.put(c);
                        here.add(&sets[t.edges[*e].to.index()]);
                        touches[c as usize].runs.iter().for_each(|r| here.add(&unborn[r]));
                    }
                    if here != sets[loc.index()] {
                        sets[loc.index()] = here;
                        grew = true;
                    }
                }
                if !grew {
                    break;
                }
            }
            debug_assert!(
                t.edges.iter().all(|e| {
                    let (here, there) = (&sets[e.from.index()], &sets[e.to.index()]);
                    there.0.iter().zip(&here.0).all(|(there, here)| there & !here == 0)
                }),
                "what may be taken from where an edge leads may be taken from where it begins"
            );
            out.push(sets);
        }
        out
    }
}

/// What those do that a transition makes.
fn reach_of_unborn<'r>(
    runs: &'r BTreeSet<ProctypeId>,
    actors: &'r [Actor],
    n_live: usize,
    reach: &'r [Vec<Set>],
) -> impl Iterator<Item = &'r Set> {
    let made = move |(i, a): (usize, &Actor)| (i >= n_live && runs.contains(&a.proctype)).then_some(&reach[i][0]);
    actors.iter().enumerate().filter_map(made)
}

/// Does a receive wait for nothing but the first message of a channel?
fn only_message(touch: &Touch) -> bool {
    let mut waits = touch.waits.iter();
    let first = matches!(waits.next(), Some((_, Use::Take | Use::Copy))) && waits.next().is_none();
    first && touch.takes.is_none() && !touch.wild
}

/// The channels a transition waits for, as far as it matters how they are filled.
fn told(touch: &Touch, lengths: &[Told]) -> Vec<(u8, Told)> {
    let chans: BTreeSet<u8> = touch.waits.iter().filter(|(_, how)| how.depends()).map(|(chan, _)| *chan).collect();
    let told = |chan: &u8| Some((*chan, *lengths.get(usize::from(*chan).checked_sub(1)?)?));
    let known = |(_, told): &(u8, Told)| told.len.bytes > 0 && told.capacity > 0;
    if touch.wild { Vec::new() } else { chans.iter().filter_map(told).filter(known).take(MOST_TOLD).collect() }
}

/// All of them, as they are numbered by [`Told::filled`], the first channel before the second.
fn ways_to_fill(told: &[(u8, Told)]) -> Vec<BTreeMap<u8, Filled>> {
    let mut out = vec![BTreeMap::new()];
    for (chan, _) in told {
        let with = |way: &BTreeMap<u8, Filled>, filled| {
            let mut way = way.clone();
            way.insert(*chan, filled);
            way
        };
        out = out.iter().flat_map(|way| Filled::ALL.map(|filled| with(way, filled))).collect();
    }
    out
}

/// Does somebody outside notice the step?
fn is_seen(touch: &Touch, seen: &Touch) -> bool {
    // Who may do anything may do what is looked at, if anything is.
    let looks = seen.wild || !(seen.reads.is_empty() && seen.chans.is_empty());
    looks && touch.changes(seen)
}

/// Who touches what.
struct Index {
    readers: BTreeMap<Atom, Set>,
    writers: BTreeMap<Atom, Set>,
    users: BTreeMap<(u8, Use), Set>,
    wild: Set,
    all: Set,
    youngest: Set,
    /// By process.
    own: Vec<Set>,
    owner: Vec<ActorId>,
    without: Without,
}

impl Index {
    fn new(touches: &[Touch], owner: &[ActorId], without: Without) -> Index {
        let empty = || Set::new(owner.len());
        let mut index = Index {
            readers: BTreeMap::new(),
            writers: BTreeMap::new(),
            users: BTreeMap::new(),
            wild: empty(),
            all: empty(),
            youngest: empty(),
            own: vec![empty(); owner.last().map_or(0, |o| o + 1)],
            owner: owner.to_vec(),
            without,
        };
        for (t, touch) in touches.iter().enumerate() {
            let n = t as u32;
            for atom in touch.guards.iter().chain(&touch.reads) {
                index.readers.entry(*atom).or_insert_with(empty).put(n);
            }
            for atom in &touch.writes {
                index.writers.entry(*atom).or_insert_with(empty).put(n);
            }
            for u in &touch.chans {
                index.users.entry(*u).or_insert_with(empty).put(n);
            }
            if touch.wild {
                index.wild.put(n);
            }
            if touch.youngest {
                index.youngest.put(n);
            }
            index.all.put(n);
            index.own[owner[t]].put(n);
        }
        index
    }

    fn disturbed(&self, t: usize, touch: &Touch) -> Set {
        let mut out = Set::new(self.owner.len());
        if touch.wild {
            out.add(&self.all);
        } else {
            let mut with = |set: Option<&Set>| set.iter().for_each(|s| out.add(s));
            for atom in &touch.writes {
                with(self.readers.get(atom));
                with(self.writers.get(atom));
            }
            for atom in touch.guards.iter().chain(&touch.reads) {
                with(self.writers.get(atom));
            }
            for (c, how) in &touch.chans {
                for other in USES.into_iter().filter(|o| how.disturbs(*o, self.without)) {
                    with(self.users.get(&(*c, other)));
                }
            }
            out.add(&self.wild);
            if touch.youngest {
                // Only one process is the youngest.
                out.remove(&self.youngest);
            }
        }
        out.remove(&self.own[self.owner[t]]);
        out
    }

    /// What lets a transition happen that cannot, while channels are filled like this.
    ///   What it waits for in a channel is never spoilt by more of it (`Use`). So what is there now is not what is missing,
    ///   and need not come again: room in a channel that is not full, a message in one that is not empty. And of a channel
    ///   that is empty the first message comes by a send, of another one by a receive that uncovers it.
    fn enabling(&self, touch: &Touch, filled: &BTreeMap<u8, Filled>) -> Set {
        let mut out = self.wild.clone();
        if touch.wild {
            return self.all.clone();
        }
        // Which channel it is may change, too.
        let renamed = self.without.keeps(Condition::Renamed) || !filled.values().any(|f| *f == Filled::Empty);
        for atom in touch.guards.iter().chain(&touch.answers).filter(|_| renamed) {
            if let Some(set) = self.writers.get(atom) {
                out.add(set);
            }
        }
        for (c, waiting) in &touch.waits {
            let filled = filled.get(c).copied();
            for how in USES.into_iter().filter(|u| u.enables(*waiting, filled, self.without)) {
                if let Some(set) = self.users.get(&(*c, how)) {
                    out.add(set);
                }
            }
        }
        out
    }

    fn meeting(&self, t: usize, touch: &Touch, touches: &[Touch]) -> Set {
        let mut out = Set::new(self.owner.len());
        for (u, other) in touches.iter().enumerate().filter(|(u, _)| self.owner[*u] != self.owner[t]) {
            let meets =
                |a: &Option<Half>, b: &Option<Half>| a.as_ref().zip(b.as_ref()).is_some_and(|(a, b)| a.meets(b));
            if meets(&touch.sends, &other.takes) || meets(&touch.takes, &other.sends) {
                out.put(u as u32);
            }
        }
        out
    }
}
