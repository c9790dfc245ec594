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
//!   A row of a table goes one step further: it has a current transition c where the relation holds of c, or of a
//!   transition that the process of c comes to only by taking c; and of processes not made yet if c leads to making them.
//!
//! Each row may have too much, never too little (`touch`).
//!
//! # Invariants
//!   I1 transitions are numbered process by process, those of a process by its edges
//!   I2 to disturb is mutual, and what is gone one step further for has at least what it is gone from
//!   I3 different fields are gathered to different words: no bit is put where another is

use super::known;
use super::repairs::{AbleBy, Repairs, UnlessBy};
use super::rounds;
use super::statics::Statics;
use super::still::Still;
use super::touch::Walk;
use super::uses::{Actor, ActorId, Atom, Filled, Half, Touch, USES, Use};
use super::without::{Condition, Without};
use spinor_model::index::Idx;
use spinor_model::interp::Interp;
use spinor_model::ir::{EdgeId, Effect, Expr, Loc, Pid, ProctypeId, System};
use spinor_model::layout::{Field, Layout};
use spinor_model::successors::{Step, Successors};
use std::collections::{BTreeMap, BTreeSet};

/// Casts with more transitions are not reduced: the tables grow with the square. Their numbers, and those of locations, have
/// 16 bits.
pub(super) const MOST_TRANSITIONS: usize = 4096;
const MOST_LOCS: usize = 1 << 16;

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
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a |= b);
    }
    fn remove(&mut self, other: &Set) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a &= !b);
    }
    fn meets(&self, other: &Set) -> bool {
        self.0.iter().zip(&other.0).any(|(a, b)| a & b != 0)
    }
}

/// What a cast is made from.
pub(super) struct Making<'a> {
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
        let edges: Vec<_> = (0..actors.len()).map(|i| known::edges(&Walk { me: Some(i), ..nobody })).collect();
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
            first,
            first_loc: Vec::new(),
        };
        let layout = self.interp.layout();
        cast.stands = layout.frames(key).map(|(at, _)| layout.loc.after(at as u32)).collect();
        cast.gathered = Gathered::new(&cast.stands, key.len());
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
            cast.disturbs.extend(disturbed.blocks());
            cast.with.extend(with.blocks());
            let mut meets = none.clone();
            if half && keeps(Condition::D4) {
                meets = row(index.meeting(t, touch, &touches));
                meets.remove(mine);
            }
            let told = told(touch, &lengths);
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

/// Of so many channels it is asked how they are filled.
const MOST_TOLD: usize = 2;

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
        let has = |row: &[u64], t: usize| row[t / 64] >> (t % 64) & 1 == 1;
        let all = || (0..n as u32).flat_map(|t| (0..n as u32).map(move |u| (t, u)));
        let mine = |t: u32, u: u32| self.owner(t) == self.owner(u);
        let mutual = |(t, u)| mine(t, u) || has(self.disturbs(t), u as usize) == has(self.disturbs(u), t as usize);
        all().all(mutual)
            && all().all(|(t, u)| !has(self.disturbs(t), u as usize) || has(self.with(t).as_flattened(), u as usize))
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
        self.row(&self.current, self.first_loc[pid as usize] + loc.0)
    }

    #[inline]
    pub fn own(&self, pid: Pid) -> &[Block] {
        self.row(&self.own, u32::from(pid))
    }

    /// What must not be selected; with `strict`, nothing that closes a loop either.
    #[inline]
    pub fn shut(&self, phase: u32, strict: bool) -> &[Block] {
        self.row(&self.shut, if strict { self.n_phases + phase } else { phase })
    }

    /// The processes whose steps are a closed set that may be selected, if they have any; in the order of steps.
    #[inline]
    pub fn safe(&self, key: &[u8], phase: u32, strict: bool) -> impl Iterator<Item = Pid> {
        let row = (if strict { self.n_phases + phase } else { phase }) as usize * self.n_locs;
        let is_safe =
            move |pid: &usize| self.safe[row + self.first_loc[*pid] as usize + self.stands[*pid].read(key) as usize];
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
        let Lacks { first, by } = &self.lacks[t as usize];
        self.row(&self.enables, first + by.iter().fold(0, |n, by| n * 3 + u32::from(filled[usize::from(*by)])))
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
        u8::from(len > 0) + u8::from(len >= self.capacity)
    }
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
        Marks { len: key.len(), words }
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
