//! The tables of a cast, made from the text of its processes.
//!
//! Who touches what is said by `touch`, transition by transition (`scene`); here each is put beside every other one
//! (`index`), and one step further (`reach`; see the parent).

mod index;
mod reach;
mod scene;

use super::{BLOCK, Cast, Flags, Gathered, Lacks, MOST_TOLD, Marks, Set, Told, Witness, signature, witness};
use crate::reduce::repairs::{Repairs, UnlessBy};
use crate::reduce::statics::Statics;
use crate::reduce::still::Still;
use crate::reduce::uses::{Atom, Touch, Use};
use crate::reduce::without::{Condition, Without};
use index::{Index, told, ways_to_fill};
use reach::Reach;
use scene::Scene;
use spinor_model::index::Idx;
use spinor_model::interp::Interp;
use spinor_model::ir::{EdgeId, Expr, Loc, Pid, System};
use spinor_model::successors::Successors;
use std::collections::BTreeMap;

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

/// By transition: nobody else is in any set because it can be taken, or because it cannot.
struct Alone {
    if_taken: bool,
    if_not: bool,
}

impl Making<'_> {
    /// The cast of a state, if it is not too large.
    pub fn cast(&self, key: &[u8], number: u32) -> Option<Cast> {
        let state = self.interp.unpack(key);
        let scene = Scene::new(self, &state)?;
        let mut cast = self.blank(key, number, &scene);
        debug_assert!(cast.stands(key).enumerate().all(|(pid, loc)| loc == state.loc(pid as Pid)), "who stands where");
        let reach = Reach::new(self.system, &scene);
        if self.repairs.unless == UnlessBy::Dynamic {
            cast.minds = reach.minds(self.system, &scene, self.without);
        }
        self.locations(&mut cast, &scene);
        let alone = self.relations(&mut cast, &scene, &reach);
        self.flags(&mut cast, &scene);
        self.safe(&mut cast, &scene, &alone);
        self.check(&cast, &scene);
        if cfg!(debug_assertions) {
            let (known, touches, lengths) = (scene.known, scene.touches, scene.lengths);
            let signature = signature(self.interp.layout(), self.statics, key);
            let fixed = witness::fixed(self.interp, self.statics, &state);
            cast.witness = Some(Witness { known, touches, lengths, signature, fixed });
            debug_assert!(cast.check_fixed(self.interp, self.statics, key), "witness I3, of the first of its states");
            debug_assert!(cast.check_known(self.interp, key), "witness I1, of the first of its states");
        }
        Some(cast)
    }

    /// Nothing is in its tables yet.
    fn blank(&self, key: &[u8], number: u32, scene: &Scene) -> Cast {
        let layout = self.interp.layout();
        let stands: Vec<_> = layout.frames(key).map(|(at, _)| layout.loc.after(at as u32)).collect();
        let n_blocks = Set::new(scene.owner.len()).blocks().len();
        Cast {
            number,
            marks: Marks::new(layout, self.statics, key),
            gathered: Gathered::new(&stands, key.len()),
            stands,
            first: scene.first.clone(),
            first_loc: Vec::new(),
            owner: scene.owner.clone(),
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
            minds: vec![Vec::new(); scene.n_live],
            offers: scene.offers.clone(),
            without: self.without,
            witness: None,
        }
    }

    /// By process and location.
    fn locations(&self, cast: &mut Cast, scene: &Scene) {
        let none = Set::new(scene.owner.len());
        for (i, actor) in scene.live().iter().enumerate() {
            let mut own = none.clone();
            scene.transitions(i).for_each(|t| own.put(t));
            cast.own.extend(own.blocks());
            let t = &self.system.proctypes[actor.proctype];
            cast.first_loc.push(cast.n_locs as u32);
            cast.n_locs += t.locs.len();
            for loc in t.locs.iter() {
                let mut here = none.clone();
                loc.edges.iter().for_each(|e| here.put(scene.transition(i, *e)));
                cast.current.extend(here.blocks());
            }
            let labels = self.still.and_then(|still| still.labels.get(actor.proctype.index()));
            debug_assert!(labels.is_none_or(|labels| labels.len() == t.locs.len()), "of each location");
            cast.labels.extend(labels.cloned());
        }
    }

    /// By transition: what it disturbs, what enables it, what it meets.
    fn relations(&self, cast: &mut Cast, scene: &Scene, reach: &Reach) -> Vec<Alone> {
        let keeps = |condition| self.without.keeps(condition);
        let none = Set::new(scene.owner.len());
        let index = Index::new(scene, self.without);
        let leads = reach.leads(self.system, scene, self.without);
        let further = |mut targets: Set| {
            let mut row = none.clone();
            while let Some(target) = targets.take() {
                row.add(&leads[target as usize]);
            }
            row
        };
        let mut lacks: Vec<(u32, Vec<Told>)> = Vec::new();
        let mut alone = Vec::new();
        debug_assert!(leads.iter().all(|row| index.is_live(row, scene.n_live)), "only who lives is current");
        // Only transitions of those that live are ever current.
        for t in (0..scene.n_live).flat_map(|i| scene.transitions(i)).map(|t| t as usize) {
            let touch = &scene.touches[t];
            let mine = &index.own[scene.owner[t]];
            let mut disturbed = index.disturbed(t, touch);
            let mut with = if keeps(Condition::D2) { further(disturbed.clone()) } else { none.clone() };
            with.remove(mine);
            let half = touch.sends.is_some() || touch.takes.is_some();
            let if_taken = with == none && !(half && keeps(Condition::HasteMeets));
            if keeps(Condition::D1) {
                with.add(mine);
            }
            disturbed.add(mine);
            debug_assert!(!keeps(Condition::D1) || mine.is_within(&with), "D1");
            debug_assert!(mine.has(t as u32) && disturbed.has(t as u32), "nobody takes a step twice");
            cast.disturbs.extend(disturbed.blocks());
            cast.with.extend(with.blocks());
            let mut meets = none.clone();
            if half && keeps(Condition::D4) {
                meets = further(index.meeting(t, touch, &scene.touches));
                meets.remove(mine);
            }
            let told = told(touch, &scene.lengths);
            debug_assert!(told.len() <= MOST_TOLD && told.is_sorted_by_key(|(chan, _)| *chan), "each channel once");
            lacks.push(((cast.enables.len() / cast.n_blocks) as u32, told.iter().map(|(_, told)| *told).collect()));
            debug_assert!(self.check_ways(&index, touch, &told), "what enables it in no way enables it");
            let mut if_not = true;
            for filled in ways_to_fill(&told) {
                let mut enables = meets.clone();
                if keeps(Condition::D3) {
                    enables.add(&further(index.enabling(touch, &filled)));
                }
                cast.enables.extend(enables.blocks());
                enables.remove(mine);
                if_not &= enables == none;
            }
            alone.push(Alone { if_taken, if_not });
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
        debug_assert!(cast.asked.is_sorted_by_key(|told| told.len.at), "each channel once");
        let n_rows = |lacks: &Lacks| {
            let tells = |by: &u16| usize::from(*by) < cast.asked.len();
            debug_assert!(lacks.by.iter().is_sorted_by_key(tells), "the place behind all comes first");
            3_usize.pow(lacks.by.iter().filter(|by| tells(by)).count() as u32)
        };
        let n_ways = cast.lacks.iter().map(n_rows).sum::<usize>();
        debug_assert_eq!(cast.enables.len(), n_ways * cast.n_blocks, "a row for each way to fill what it waits for");
        alone
    }

    /// Whatever enables it while it is not known how channels are filled does so while they are filled in some way.
    fn check_ways(&self, index: &Index, touch: &Touch, told: &[(u8, Told)]) -> bool {
        let mut some = index.enabling(touch, &BTreeMap::new());
        let whatever = some.clone();
        let ways: Vec<Set> = ways_to_fill(told).iter().map(|filled| index.enabling(touch, filled)).collect();
        let is_less = ways.iter().all(|way| way.is_within(&whatever));
        ways.iter().for_each(|way| some.remove(way));
        is_less && (some.take().is_none() || !self.without.is_nothing())
    }

    /// By transition: what else is known of it, and when it must not be selected.
    fn flags(&self, cast: &mut Cast, scene: &Scene) {
        let keeps = |condition| self.without.keeps(condition);
        for (i, actor) in scene.live().iter().enumerate() {
            for (edge, (t, touch)) in scene.transitions(i).map(|t| (t, &scene.touches[t as usize])).enumerate() {
                let id = (actor.proctype, EdgeId::new(edge));
                let closes =
                    keeps(Condition::Cycle) && scene.closed[i] && self.statics.closes[actor.proctype.index()][edge];
                let marked = self.still.is_some_and(|still| still.edge(id.0, id.1));
                let half = touch.sends.is_some() || touch.takes.is_some();
                cast.flags.push(Flags { half, receives: only_message(touch), closes, marked });
                let drains = touch.chans.iter().any(|(c, how)| *how == Use::Take && self.brimming.contains(c));
                let by_all = self.system.visible.contains(&id)
                    || drains && keeps(Condition::Overflow)
                    || self.leads_to_answer(scene, i, edge);
                let by = |seen: &Touch| by_all || keeps(Condition::Visibility) && is_seen(touch, seen);
                for phase in 0..self.looked.len() {
                    let seen = scene.seen.get(phase).map_or(by_all, by);
                    for (row, shut) in [(phase, seen), (self.looked.len() + phase, seen || closes)] {
                        cast.shut[row * cast.n_blocks + t as usize / BLOCK][t as usize % BLOCK / 64] |=
                            u64::from(shut) << (t % 64);
                    }
                }
            }
        }
    }

    /// With static repairs: the step may change what decides a handshake that somebody looks at.
    fn leads_to_answer(&self, scene: &Scene, i: usize, edge: usize) -> bool {
        if !self.repairs.is_static() || !self.without.keeps(Condition::Followed) {
            return false;
        }
        let proctype = scene.actors[i].proctype;
        let chain = &self.statics.chains[proctype.index()][edge];
        let takes = |loc: &Loc| {
            let edges = &self.system.proctypes[proctype].locs[*loc].edges;
            edges.iter().any(|e| scene.touches[scene.transition(i, *e) as usize].takes.is_some())
        };
        let compared = |a: &Atom| !matches!(a, Atom::At(..)) && scene.answers.contains(a);
        let touch = &scene.touches[scene.transition(i, EdgeId::new(edge)) as usize];
        chain.inner.iter().chain(&chain.ends).any(takes) || touch.writes.iter().any(compared)
    }

    /// By what is shut, process and location: what can be taken there is a closed set by itself.
    fn safe(&self, cast: &mut Cast, scene: &Scene, alone: &[Alone]) {
        for shut in cast.shut.chunks(cast.n_blocks.max(1)) {
            let is_shut = |t: u32| shut[t as usize / BLOCK][t as usize % BLOCK / 64] >> (t % 64) & 1 == 1;
            for (i, actor) in scene.live().iter().enumerate() {
                let alone = |e: &EdgeId| &alone[scene.transition(i, *e) as usize];
                let safe = |e: &EdgeId| alone(e).if_taken && !is_shut(scene.transition(i, *e));
                let locs = self.system.proctypes[actor.proctype].locs.iter();
                // The only one there is cannot be the one that cannot be taken.
                cast.safe.extend(locs.map(|loc| match &loc.edges[..] {
                    [edge] => safe(edge),
                    edges => {
                        edges.iter().all(|e| safe(e) && (alone(e).if_not || !self.without.keeps(Condition::HasteWaits)))
                    }
                }));
            }
        }
        cast.any_safe = cast.safe.contains(&true);
    }

    /// Every table has a row for whatever it is about.
    fn check(&self, cast: &Cast, scene: &Scene) {
        let (n_live, n_blocks) = (scene.n_live, cast.n_blocks);
        // Of those that live.
        let n = (0..n_live).map(|i| scene.transitions(i).len()).sum::<usize>();
        debug_assert!(cast.first.is_sorted() && cast.owner.is_sorted(), "I1");
        debug_assert!(!self.without.is_nothing() || cast.check_rows(n), "I2");
        debug_assert_eq!((cast.flags.len(), cast.lacks.len()), (n, n), "one for each transition");
        debug_assert_eq!((cast.disturbs.len(), cast.with.len()), (n * n_blocks, n * n_blocks), "a row for each");
        debug_assert_eq!((cast.own.len(), cast.current.len()), (n_live * n_blocks, cast.n_locs * n_blocks), "and here");
        debug_assert_eq!(cast.safe.len() * n_blocks, cast.shut.len() * cast.n_locs, "by what is shut, by location");
        debug_assert!(cast.check_shares(), "I5");
        debug_assert!(cast.labels.is_empty() || cast.labels.len() == n_live, "of each process or of none");
        debug_assert_eq!((cast.minds.len(), cast.offers.len()), (n_live, n_live), "one for each process");
    }
}

/// Does a receive wait for nothing but the first message of a channel?
fn only_message(touch: &Touch) -> bool {
    let mut waits = touch.waits.iter();
    let first = matches!(waits.next(), Some((_, Use::Take | Use::Copy))) && waits.next().is_none();
    first && touch.takes.is_none() && !touch.wild
}

/// Does somebody outside notice the step?
fn is_seen(touch: &Touch, seen: &Touch) -> bool {
    // Who may do anything may do what is looked at, if anything is.
    let looks = seen.wild || !(seen.reads.is_empty() && seen.chans.is_empty());
    looks && touch.changes(seen)
}
