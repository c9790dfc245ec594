//! A process keeps the floor over locations at which there is nothing to see.
//!
//! Source  SPIN's statement merging (`-o3`), restated for graphs and carried further: the statement before may be
//!         anything, and a location may have several edges.
//!
//! A step is *local* if what it reads and writes is its process's own and nobody else looks at it: private slots, hidden
//! variables, globals that never change. Local steps of a process commute with everything that other processes do, and
//! nobody can tell whether they have happened, except from where the process stands.
//!
//! # The argument
//!   M1 A location is *silent* if all its edges are local and cannot fault, and nobody looks at where the process stands, here
//!      or after the edge. Whether it can go on is decided when it comes there, and by nobody else. If it cannot, it stays,
//!      and the state is seen. If it can, the step from the silent location can be moved to the front until it follows the
//!      one that led there: what it is moved past does not change it and is not changed by it. The run is as long,
//!      visits the same states up to what nobody sees, and is one of those in which the process kept the floor. If
//!      the process never leaves the silent location, the step can be added: it can always run.
//!   M2 A location is *late* if exactly one edge leaves it, which can always run, whatever it does. If the step before it is
//!      local, that step can be moved to the back until it precedes the one from the late location, provided that the process
//!      could wait where it came from: it had not kept the floor there after something that others see (else that would be
//!      moved, too). If the process never leaves the late location, the step can be left out.
//!   So every run has one in the result that others cannot tell from it: the same assertions fail in it, it ends in the
//!   same state, the same fault ends it, the same events pass, and formulas that cannot count steps hold in both. Each
//!   run of the result is one of the original anyway. The states of the result are among those of the original.
//!   M5 A step that asks whether there is room in a channel into which no other process sends (`nfull`), and of its own things
//!      beside, stays possible whatever the others do; and after it a send into that channel can always run. So M2 holds of
//!      the two as if the step were local and the location late. The same of a message (`nempty`) in a channel from which no
//!      other process receives, and a receive that takes whatever comes.
//!   M3 No circle of edges that keep the floor arises: each merged edge is looked at for that.
//!   M4 Nor do two choices come to lie in one step. The paths through a step are all walked, and thirty choices that make no
//!      difference would be a thousand million of them.
//!
//! Faults. A failed assertion does not end a run, so an assertion about private variables may stand in a silent location.
//! A fatal fault ends the run, and with it what others would have done after the step before: a location where one can happen
//! is late, never silent.
//!
//! Who could tell where a process stands, and what becomes of it:
//!   labels that are asked for                 those locations are *marked*: neither silent nor late, no end of a silent step
//!   accept and progress labels, if they matter, `np_`     the same
//!   a send that tests for a partner, while its process can go on without (`else`, an escape, a `D_proctype`): where a
//!                                             rendez-vous receive may stand is marked, if there is such a test
//!   `enabled`, `pc_value`, `_last`            nothing is merged
//!   priorities                                a process that can run keeps those of lower priority from running. Over a silent
//!                                             location it goes on at once unless it is outranked there, and then it
//!                                             stays and is seen; once it has gone on it keeps nobody from running who
//!                                             could have run before. So M1 stands. M2 is left out
//!   `provided`                                nothing is merged in that proctype: it might not be allowed to go on
//!   `timeout`, end states                     are about states in which nothing can run; where a process is passed on,
//!                                             it can, so these are never such states, and all others stay. Who
//!                                             watches from outside could see `timeout` false in between: nothing is merged
//!   somebody who counts steps                 nothing is merged
//!   fairness                                  a process that can always run is treated fairly only if it does
//!
//! After a handshake the floor is the receiver's. The sender then stands at the silent location for others to see: a state more,
//! which the original has as well.

use super::{Asked, Bits, Watched, each_slot};
use crate::index::Idx;
use crate::ir::{Edge, EdgeId, Effect, Expr, Guard, Loc, Place, Probe, Proctype, ProctypeId, Scope, System, Then};
use crate::range::{Range, effect_faults};
use crate::written::FixedChans;

/// Lets processes keep the floor; returns after how many edges.
pub(super) fn merge(system: &mut System, asked: &Asked, watched: &Watched<'_>) -> usize {
    let seen = asked.enabled || asked.pc_value || asked.last || asked.timeout;
    if watched.counts_steps || system.uses.last || seen {
        return 0;
    }
    let world = World::new(system, asked, watched);
    let found: Vec<Vec<EdgeId>> = system.proctypes.ids().map(|t| world.merges(t)).collect();
    let mut n = 0;
    for (t, edges) in system.proctypes.iter_mut().zip(found) {
        n += edges.len();
        debug_assert!(
            edges.iter().all(|e| t.edges[*e].then == Then::Yield),
            "only who would give the floor back keeps it"
        );
        debug_assert!(edges.is_empty() || t.provided.is_none(), "who may be kept from going on gives the floor back");
        edges.into_iter().for_each(|e| t.edges[e].then = Then::Atomic);
    }
    n
}

struct World<'a> {
    system: &'a System,
    asked: &'a Asked,
    chans: FixedChans,
    progress: bool,
    accept: bool,
    /// Somebody goes on when there is no partner for a handshake.
    misses_partners: bool,
    /// Per global variable: nobody writes it.
    constant: Vec<bool>,
}

impl<'a> World<'a> {
    fn new(system: &'a System, asked: &'a Asked, watched: &Watched<'_>) -> World<'a> {
        let mut constant = vec![true; system.globals.vars.len()];
        for effect in system.proctypes.iter().chain(&system.claims).flat_map(|t| &t.edges).flat_map(|e| &e.effects) {
            let mut written = |place: &Place| {
                if place.scope == Scope::Global {
                    constant[place.var.index()] = false;
                }
            };
            effect.each_write(&mut written);
        }
        let mut world = World {
            system,
            asked,
            chans: FixedChans::new(system),
            progress: watched.progress || asked.np,
            accept: asked.accept,
            misses_partners: false,
            constant,
        };
        world.misses_partners = system.proctypes.enumerated().any(|(id, t)| {
            let waited = t.edges.iter().flat_map(|e| &e.guards).flat_map(|g| match g {
                Guard::NoneOf(others) => &others[..],
                _ => &[],
            });
            let waited = waited.map(|e| &t.edges[*e]);
            // A second statement that can run is a fault in a `D_proctype`.
            let alone = t.edges.iter().filter(|_| t.deterministic);
            let mut sends = waited.chain(alone).filter_map(Edge::send);
            sends.any(|(chan, _)| world.may_be_rendezvous(id, chan))
        });
        world
    }

    fn may_be_rendezvous(&self, proctype: ProctypeId, chan: &Expr) -> bool {
        let Some((scope, n)) = self.chans.named(proctype, chan) else { return true };
        let frame = match scope {
            Scope::Global => &self.system.globals,
            Scope::Local => &self.system.proctypes[proctype].frame,
        };
        frame.chans[n as usize].capacity == 0
    }

    /// The edges of a proctype after which the floor is kept.
    fn merges(&self, id: ProctypeId) -> Vec<EdgeId> {
        let t = &self.system.proctypes[id];
        if t.provided.is_some() {
            return Vec::new();
        }
        let marked = Bits::from_fn(t.locs.len(), |l| self.marked(id, Loc::new(l)));
        let local = Bits::from_fn(t.edges.len(), |e| {
            let edge = &t.edges[EdgeId::new(e)];
            let seen = marked.has(edge.from.index()) || marked.has(edge.to.index());
            !seen && self.local(id, edge)
        });
        let silent = Bits::from_fn(t.locs.len(), |l| silent(t, Loc::new(l), &local));
        let late = Bits::from_fn(t.locs.len(), |l| !marked.has(l) && late(t, Loc::new(l)));
        let apart =
            |l: usize| !(marked.has(l) && (silent.has(l) && !t.locs[Loc::new(l)].edges.is_empty() || late.has(l)));
        debug_assert!((0..t.locs.len()).all(apart), "a location that is looked at is neither silent nor late");
        let mut floor = Floor::new(t);
        // M1. Edges that close a loop come last, so that what stays of a loop is its head.
        let order = loops_last(t);
        for e in order.iter().filter(|e| silent.has(t.edges[**e].to.index())) {
            floor.keep(*e);
        }
        // M2. The process could wait where it came from.
        let free = floor.free(&local);
        let n_silent = floor.merged.len();
        let waits = !t.deterministic && !self.system.uses.priorities;
        for e in order.iter().filter(|_| waits) {
            let edge = &t.edges[*e];
            let sure = || !marked.has(edge.from.index()) && !marked.has(edge.to.index()) && self.makes_sure(id, edge);
            if free.has(edge.from.index()) && (late.has(edge.to.index()) && local.has(e.index()) || sure()) {
                floor.keep(*e);
            }
        }
        debug_assert!(floor.check_circles(), "M3");
        debug_assert!(floor.check_choices(), "M4");
        let could_wait = |free: &Bits| floor.merged[n_silent..].iter().all(|e| free.has(t.edges[*e].from.index()));
        debug_assert!(could_wait(&floor.free(&local)), "M2: nobody is passed on from where he had to go on");
        let reason = |e: &EdgeId| {
            let edge = &t.edges[*e];
            silent.has(edge.to.index()) || waits && (late.has(edge.to.index()) || self.makes_sure(id, edge))
        };
        debug_assert!(floor.merged.iter().all(reason), "M1, M2, M5: an edge is merged for one of these");
        floor.merged
    }

    /// Somebody may look at whether the process stands here.
    fn marked(&self, id: ProctypeId, loc: Loc) -> bool {
        let t = &self.system.proctypes[id];
        let l = &t.locs[loc];
        let waits = |e: &EdgeId| t.edges[*e].receive().is_some_and(|(chan, _)| self.may_be_rendezvous(id, chan));
        self.asked.at(id, loc)
            || self.progress && l.progress
            || self.accept && l.accept
            || self.misses_partners && l.edges.iter().any(waits)
    }

    fn local(&self, id: ProctypeId, edge: &Edge) -> bool {
        let t = &self.system.proctypes[id];
        let guard = |g: &Guard| matches!(g, Guard::Holds(e) if self.local_expr(e));
        !edge.in_d_step
            && edge.then == Then::Yield
            && edge.guards.iter().all(|g| match g {
                Guard::NoneOf(others) => {
                    let guards = others.iter().flat_map(|e| &t.edges[*e].guards);
                    guards.into_iter().all(|g| matches!(g, Guard::NoneOf(_)) || guard(g))
                }
                g => guard(g),
            })
            && edge.effects.iter().all(|e| self.local_effect(id, e))
    }

    /// M5: what the edge asks for lets the one behind it run.
    fn makes_sure(&self, id: ProctypeId, edge: &Edge) -> bool {
        let t = &self.system.proctypes[id];
        let [next] = t.locs[edge.to].edges[..] else { return false };
        let next = &t.edges[next];
        if edge.in_d_step || next.in_d_step || edge.then != Then::Yield {
            return false;
        }
        let Some((probe, used)) = next.possible_if() else { return false };
        let Some((Scope::Global, used)) = self.chans.named(id, used) else { return false };
        let asks = |e: &Expr| match e {
            Expr::Probe(p, chan) => *p == probe && self.chans.named(id, chan) == Some((Scope::Global, used)),
            _ => false,
        };
        let mut asked = false;
        let steady = edge.guards.iter().all(|g| {
            let Guard::Holds(e) = g else { return false };
            e.conjuncts().into_iter().all(|e| {
                let this = asks(e);
                asked |= this;
                this || self.local_expr(e)
            })
        });
        steady
            && asked
            && edge.effects.iter().all(|e| self.local_effect(id, e))
            && self.system.globals.chans[used as usize].capacity > 0
            && self.alone(id, used, probe == Probe::Nfull)
    }

    /// Nobody else than the one process of this type sends into a channel, or receives from it.
    fn alone(&self, id: ProctypeId, used: u32, sends: bool) -> bool {
        let everyone = || self.system.proctypes.enumerated().flat_map(|(t, p)| p.edges.iter().map(move |e| (t, e)));
        let effects = || everyone().flat_map(|(t, e)| e.effects.iter().map(move |e| (t, e)));
        let made = effects().any(|(_, e)| matches!(e, Effect::Run { proctype, .. } if *proctype == id));
        let may_be = |t, chan: &Expr| match self.chans.named(t, chan) {
            Some((Scope::Global, n)) => n == used,
            Some((Scope::Local, _)) => false,
            None => true,
        };
        let uses = |(t, e): (ProctypeId, &Effect)| match e {
            Effect::Send { chan, .. } => sends && may_be(t, chan),
            Effect::Receive { chan, .. } => !sends && may_be(t, chan),
            Effect::Assign { .. } | Effect::Run { .. } | Effect::SetPriority { .. } => false,
            Effect::Assert(_) | Effect::Print { .. } | Effect::PrintName(..) => false,
            Effect::Event { .. } | Effect::End => false,
        };
        let one = self.system.active.iter().filter(|t| **t == id).count() == 1 && !made;
        one && !effects().any(|(t, e)| t != id && uses((t, e)))
    }

    fn local_effect(&self, id: ProctypeId, effect: &Effect) -> bool {
        // What is printed is shown in replays, whatever it is.
        if matches!(effect, Effect::Print { .. } | Effect::PrintName(..)) && !effect_faults(effect) {
            return true;
        }
        let mut local = true;
        effect.each_expr(&mut |e| local &= self.local_expr(e));
        local
            && match effect {
                Effect::Assign { to, .. } => match to.scope {
                    Scope::Global => self.system.globals.vars[to.var].hidden,
                    Scope::Local => {
                        let mut private = true;
                        each_slot(to, &mut |s| private &= !self.asked.slots[id.index()].has(s));
                        private
                    }
                },
                Effect::Assert(_) | Effect::Print { .. } | Effect::PrintName(..) => true,
                _ => false,
            }
    }

    fn local_expr(&self, e: &Expr) -> bool {
        let mut local = true;
        e.each_part(&mut |e| {
            local &= match e {
                Expr::Const(_) | Expr::Pid | Expr::Unary(..) | Expr::Binary(..) | Expr::Cond(..) => true,
                Expr::Read(Place { scope: Scope::Local, .. }) => true,
                Expr::Read(place) => self.constant[place.var.index()] || self.system.globals.vars[place.var].hidden,
                _ => false,
            };
        });
        local
    }
}

/// M1; the marks are in what is local.
fn silent(t: &Proctype, loc: Loc, local: &Bits) -> bool {
    let edges = &t.locs[loc].edges;
    let faults = |e: &Edge| {
        let guards = e.guards.iter().any(|g| matches!(g, Guard::Holds(e) if Range::of(e).faults));
        guards || e.effects.iter().any(effect_faults)
    };
    edges.iter().all(|e| local.has(e.index()) && !faults(&t.edges[*e])) && (edges.len() == 1 || !t.deterministic)
}

/// M2
fn late(t: &Proctype, loc: Loc) -> bool {
    match &t.locs[loc].edges[..] {
        [e] => t.edges[*e].guards.iter().all(|g| matches!(g, Guard::Holds(e) if Range::of(e).holds())),
        _ => false,
    }
}

/// Which edges keep the floor, while more come to do so.
struct Floor<'a> {
    t: &'a Proctype,
    kept: Bits,
    merged: Vec<EdgeId>,
    /// The edges that lead to a location.
    into: Vec<Vec<EdgeId>>,
    /// Locations where more than one edge may be able to run.
    chooses: Bits,
}

impl<'a> Floor<'a> {
    fn new(t: &'a Proctype) -> Self {
        let kept = Bits::from_fn(t.edges.len(), |e| t.edges[EdgeId::new(e)].then != Then::Yield);
        let mut into = vec![Vec::new(); t.locs.len()];
        t.edges.enumerated().for_each(|(id, e)| into[e.to.index()].push(id));
        let chooses = Bits::from_fn(t.locs.len(), |l| {
            let edges = &t.locs[Loc::new(l)].edges;
            // An edge that waits for all others runs alone.
            let last = |e: &EdgeId| {
                t.edges[*e].guards.iter().any(|g| matches!(g, Guard::NoneOf(others) if others.len() + 1 == edges.len()))
            };
            edges.iter().filter(|e| !last(e)).count() > 1
        });
        Floor { t, kept, merged: Vec::new(), into, chooses }
    }

    fn keep(&mut self, id: EdgeId) {
        let edge = &self.t.edges[id];
        if self.kept.has(id.index()) || edge.effects.contains(&Effect::End) {
            return;
        }
        let Floor { t, kept, .. } = &*self;
        let onwards = reach(t, edge.to, |loc| {
            t.locs[loc].edges.iter().filter(|e| kept.has(e.index())).map(|e| t.edges[*e].to).collect()
        });
        if onwards.has(edge.from.index()) {
            return; // M3
        }
        let before = |loc: Loc| -> Vec<Loc> {
            self.into[loc.index()].iter().filter(|e| kept.has(e.index())).map(|e| t.edges[*e].from).collect()
        };
        // Of the locations before, those that are passed: someone leads there and keeps the floor.
        let passed = reach(t, edge.from, before);
        let chooses = |l: usize| self.chooses.has(l);
        let choice_before = passed.iter().any(|l| chooses(l) && !before(Loc::new(l)).is_empty());
        let choice_after = onwards.iter().any(|l| chooses(l) && l != edge.to.index());
        if [choice_before, chooses(edge.to.index()), choice_after].into_iter().filter(|b| *b).count() > 1 {
            return; // M4
        }
        self.kept.put(id.index());
        self.merged.push(id);
    }

    /// M3: an edge that is merged lies on no circle of edges that keep the floor.
    fn check_circles(&self) -> bool {
        let onwards = |loc: Loc| -> Vec<Loc> {
            let kept = self.t.locs[loc].edges.iter().filter(|e| self.kept.has(e.index()));
            kept.map(|e| self.t.edges[*e].to).collect()
        };
        let open = |e: &EdgeId| !reach(self.t, self.t.edges[*e].to, onwards).has(self.t.edges[*e].from.index());
        self.merged.iter().all(open)
    }

    /// M4: of an edge that is merged, the same step has a choice before it, behind it, or further on, and no two of these.
    fn check_choices(&self) -> bool {
        let kept = |e: &&EdgeId| self.kept.has(e.index());
        let before = |loc: Loc| -> Vec<Loc> {
            self.into[loc.index()].iter().filter(kept).map(|e| self.t.edges[*e].from).collect()
        };
        let onwards = |loc: Loc| -> Vec<Loc> {
            self.t.locs[loc].edges.iter().filter(kept).map(|e| self.t.edges[*e].to).collect()
        };
        self.merged.iter().all(|e| {
            let edge = &self.t.edges[*e];
            let at = edge.to.index();
            let passed = |l: usize| !before(Loc::new(l)).is_empty();
            let sooner = reach(self.t, edge.from, before).iter().any(|l| self.chooses.has(l) && passed(l));
            let later = reach(self.t, edge.to, onwards).iter().any(|l| self.chooses.has(l) && l != at);
            u32::from(sooner) + u32::from(self.chooses.has(at)) + u32::from(later) <= 1
        })
    }

    /// Locations that are never reached with the floor, or only after local steps from such locations.
    fn free(&self, local: &Bits) -> Bits {
        let mut free = Bits::from_fn(self.t.locs.len(), |_| true);
        loop {
            let mut changed = false;
            for (id, edge) in self.t.edges.enumerated().filter(|(e, _)| self.kept.has(e.index())) {
                let waits = local.has(id.index()) && free.has(edge.from.index());
                if !waits && free.has(edge.to.index()) {
                    free.take(edge.to.index());
                    changed = true;
                }
            }
            if !changed {
                let waits = |id: EdgeId, e: &Edge| local.has(id.index()) && free.has(e.from.index());
                let mut kept = self.t.edges.enumerated().filter(|(id, _)| self.kept.has(id.index()));
                debug_assert!(kept.all(|(id, e)| !free.has(e.to.index()) || waits(id, e)), "M2: one could wait there");
                return free;
            }
        }
    }
}

/// Where `next` leads, the start included.
fn reach(t: &Proctype, start: Loc, next: impl Fn(Loc) -> Vec<Loc>) -> Bits {
    let mut seen = Bits::new(t.locs.len());
    seen.put(start.index());
    let mut todo = vec![start];
    while let Some(loc) = todo.pop() {
        for to in next(loc) {
            if !seen.has(to.index()) {
                seen.put(to.index());
                todo.push(to);
            }
        }
    }
    let closed = |l: usize| next(Loc::new(l)).into_iter().all(|to| seen.has(to.index()));
    debug_assert!(seen.iter().all(closed), "there is no way out");
    seen
}

/// All edges, those that lead back to a location on the way from the start last.
fn loops_last(t: &Proctype) -> Vec<EdgeId> {
    let (mut on_path, mut done) = (Bits::new(t.locs.len()), Bits::new(t.locs.len()));
    let (mut first, mut last) = (Vec::new(), Vec::new());
    for start in std::iter::once(t.start).chain(t.locs.ids()) {
        let mut path: Vec<(Loc, usize)> = Vec::new();
        if !done.has(start.index()) {
            done.put(start.index());
            on_path.put(start.index());
            path.push((start, 0));
        }
        while let Some((loc, next)) = path.last_mut() {
            let Some(e) = t.locs[*loc].edges.get(*next) else {
                on_path.take(loc.index());
                path.pop();
                continue;
            };
            *next += 1;
            let to = t.edges[*e].to;
            if on_path.has(to.index()) {
                last.push(*e);
                continue;
            }
            first.push(*e);
            if !done.has(to.index()) {
                done.put(to.index());
                on_path.put(to.index());
                path.push((to, 0));
            }
        }
    }
    first.extend(last);
    debug_assert!(
        {
            let mut sorted = first.clone();
            sorted.sort_unstable();
            sorted.into_iter().eq(t.edges.ids())
        },
        "V1: every edge is met, once"
    );
    first
}
