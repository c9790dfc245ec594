//! Which processes of a system can change places, and what has to move with them.
//!
//! A *scalarset* is a type whose values can only be stored, sent, compared for equality and used as indices: nothing in
//! the system can tell one value from another. Process numbers are one, if the system treats them so.
//!
//! # The argument
//!   Let a permutation of process numbers act on states: frames change places, numbers that are stored somewhere are
//!   renamed, elements of arrays that are indexed by numbers change places, and so do channels that lie in such
//!   arrays or belong to the frames. If every guard and every effect that can still be met has the same value before
//!   and after, up to that renaming, then steps of a state and of its image correspond to each other: the system
//!   is symmetric. This is a statement about code; what the initial state looks like does not matter, for the
//!   relation between a state and its images is a bisimulation wherever one starts.
//!
//!   A1 Which places hold process numbers is inferred (`flow`): from `_pid`, through assignments, messages and
//!      comparisons. A place may hold the number minus a constant. Everything else that is done to such a place
//!      (an order, arithmetic, a value that is no number of a process) breaks the symmetry.
//!   A2 A constant in the place of a process number names that process. An expression may name processes as long as it is
//!      the same expression after they have changed places, up to the order of what commutes (`norm`). So two processes
//!      can change places iff every expression stays what it is when their names do.
//!      If (p q) and (q r) are fine, so is all that they generate: classes of processes, each with all its permutations.
//!   A3 Processes that end go youngest first, which tells them apart. So those of a class never end, and there are none made
//!      once all of a class are there. While they are made, by one process that looks at nothing but its own
//!      variables (`born`), nothing is renamed: what is true of all states from some point on of each run is enough.
//!   A4 A local variable that is not read again has no value. It is not renamed, and whoever looks for one state among
//!      the images of another must first give it one value (`optimise/liveness`, L3). This makes resets
//!      harmless: they are constants that name nobody.
//!
//! # Invariants
//!   I1 a place that holds a number of a class member, minus its offset, can hold that of every other member, and wraps none;
//!      and no number that is nobody's becomes a member's where bits are lost
//!   I2 an array whose index is a number minus its offset has an element for each member of a class

mod born;
mod flow;
mod norm;

use crate::index::Idx;
use crate::ir::{Edge, Effect, Expr, Frame, Init, Pid, ProctypeId, System, Type};
use crate::optimise::{self, Watched};
use crate::source::Span;
use flow::{Flow, FrameNodes};
use std::collections::BTreeSet;

/// What was found. There is no symmetry if there are no classes.
#[derive(Clone, Debug, Default)]
pub struct Scalarset {
    /// Processes that can change places in every way, by number; two or more each.
    pub classes: Vec<Vec<Pid>>,
    /// Only where this process stands at one of these locations all of them are there (A3).
    pub settled: Option<(Pid, Vec<bool>)>,
    /// By process, once all of them are there: its proctype. It does not change up to the highest member (A3).
    pub kinds: Vec<ProctypeId>,
    pub globals: Roles,
    /// By proctype.
    pub procs: Vec<Roles>,
    /// `_last`, if the model reads it.
    pub last: Value,
    /// What keeps processes of one proctype apart.
    pub breaks: Vec<Break>,
}

/// Something that tells processes apart.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Break {
    /// Where, if it is in the model's text.
    pub span: Span,
    pub why: String,
}

/// What the slots of a frame have to do with process numbers.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Roles {
    pub slots: Vec<Role>,
    pub chans: Vec<ChanRole>,
    /// By location and slot: A4. Empty for the globals.
    pub live: Vec<Vec<bool>>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Role {
    pub value: Value,
    /// The dimensions of its array that are indexed by process numbers.
    pub dims: Vec<Dim>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChanRole {
    /// The slot that its channel number is put into when the frame is made: it moves as that does.
    pub slot: u32,
    pub fields: Vec<Value>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Value {
    #[default]
    Plain,
    /// The number of a process, minus this.
    Pid(i32),
    Chan,
}

/// The slot lies at this index of a dimension; the next element is `stride` slots away; an index is the number of a
/// process minus `offset`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dim {
    pub index: u32,
    pub len: u32,
    pub stride: u32,
    pub offset: i32,
}

/// Who can change places, if `looked` is what is looked at from outside.
pub fn find(system: &System, looked: &[Expr]) -> Scalarset {
    let born = match born::born(system) {
        Ok(born) => born,
        Err(why) => return Scalarset { breaks: vec![why], ..Scalarset::default() },
    };
    let found = infer(system, looked, &born, true);
    if !found.classes.is_empty() || born.links.is_empty() {
        return found;
    }
    // The numbers that processes are born with may be just numbers.
    let other = infer(system, looked, &born, false);
    if other.classes.is_empty() { found } else { other }
}

/// Why not all processes of a proctype can change places; nothing if they can.
pub fn denied(system: &System, proctype: ProctypeId) -> Vec<Break> {
    let born = match born::born(system) {
        Ok(born) => born,
        Err(why) => return vec![why],
    };
    let pids: Vec<Pid> = (0..born.procs.len()).filter(|p| born.procs[*p] == proctype).map(|p| p as Pid).collect();
    let t = &system.proctypes[proctype];
    if pids.len() < 2 {
        let why = format!("there are not two processes of `{}` from the start", t.name);
        return vec![Break { span: t.span, why }];
    }
    let found = find(system, &[]);
    if found.classes.iter().any(|class| pids.iter().all(|p| class.contains(p))) {
        return Vec::new();
    }
    assert!(!found.breaks.is_empty(), "what keeps processes apart is known");
    found.breaks
}

fn infer(system: &System, looked: &[Expr], born: &born::Born, linked: bool) -> Scalarset {
    let mut out = Scalarset::default();
    let watched = Watched { exprs: looked, ..Watched::default() };
    let live = optimise::live(system, &watched);
    let mut flow = Flow::new(system, born, &live);
    if linked {
        born.links.iter().for_each(|link| flow.link(link));
    }
    flow.system(looked);
    // Who could be in a class: those of a proctype that never ends.
    let mut candidates: Vec<Vec<Pid>> = Vec::new();
    for (id, t) in system.proctypes.enumerated() {
        let pids: Vec<Pid> = (0..born.procs.len()).filter(|p| born.procs[*p] == id).map(|p| p as Pid).collect();
        if pids.len() < 2 {
            continue;
        }
        let end = |e: &&Edge| e.effects.contains(&Effect::End) && born.reaches(id, e.from);
        match t.edges.iter().find(end) {
            Some(edge) => {
                let span = if edge.span == Span::default() { t.span } else { edge.span };
                out.breaks.push(Break { span, why: format!("`{}` can end, and the youngest ends first", t.name) });
            }
            None => candidates.push(pids),
        }
    }
    let members: Vec<Pid> = candidates.iter().flatten().copied().collect();
    if members.is_empty() {
        if out.breaks.is_empty() {
            let why = "no proctype has two processes from the start".to_string();
            out.breaks.push(Break { span: Span::default(), why });
        }
        return out;
    }
    if system.uses.priorities {
        let why = "priorities order processes".to_string();
        out.breaks.push(Break { span: Span::default(), why });
        return out;
    }
    let own_chans = candidates.iter().any(|c| !system.proctypes[born.procs[usize::from(c[0])]].frame.chans.is_empty());
    out.breaks.extend(flow.breaks(&members, born.procs.len(), own_chans));
    if !out.breaks.is_empty() {
        out.breaks.sort();
        out.breaks.dedup();
        return out;
    }
    // A2
    let solved = norm::Names::new(&flow, born, looked);
    for candidate in candidates {
        let mut left: BTreeSet<Pid> = candidate.iter().copied().collect();
        while let Some(first) = left.pop_first() {
            let mut class = vec![first];
            loop {
                let more = left.iter().copied().find(|q| class.iter().any(|p| solved.told_apart(*p, *q).is_none()));
                let Some(q) = more else { break };
                left.remove(&q);
                class.push(q);
            }
            if let Some(q) = left.first()
                && let Some(why) = solved.told_apart(first, *q)
            {
                out.breaks.push(why);
            }
            class.sort_unstable();
            if class.len() > 1 {
                out.classes.push(class);
            }
        }
    }
    out.breaks.sort();
    out.breaks.dedup();
    out.settled.clone_from(&born.settled);
    out.kinds.clone_from(&born.procs);
    out.last = if system.uses.last { Value::Pid(0) } else { Value::Plain };
    out.globals = roles(&flow, &flow.frames[0], &system.globals, Vec::new());
    let frames = flow.frames[1..].iter().zip(&system.proctypes).zip(&live);
    out.procs = frames.map(|((nodes, t), live)| roles(&flow, nodes, &t.frame, live.clone())).collect();
    debug_assert!(out.has_room(&system.globals, &out.globals), "I1, I2");
    debug_assert!(system.proctypes.iter().zip(&out.procs).all(|(t, own)| out.has_room(&t.frame, own)), "I1, I2");
    out
}

fn roles(flow: &Flow<'_>, nodes: &FrameNodes, frame: &Frame, live: Vec<Vec<bool>>) -> Roles {
    let value = |node: usize, ty: Type| match flow.offset(node) {
        Some(offset) => Value::Pid(offset),
        None if ty == Type::Chan => Value::Chan,
        None => Value::Plain,
    };
    let types = frame.slot_names().into_iter().map(|(_, ty)| ty);
    let slots = nodes.slots.iter().zip(types).map(|(slot, ty)| {
        let dims = slot.dims.iter().filter_map(|d| {
            let offset = flow.offset(d.node)?;
            Some(Dim { index: d.index, len: d.len, stride: d.stride, offset })
        });
        Role { value: value(slot.node, ty), dims: dims.collect() }
    });
    let chans = frame.chans.iter().enumerate().map(|(n, decl)| {
        let at = frame.inits.iter().find_map(|i| match i {
            Init::Chan { slot, chan } if *chan as usize == n => Some(*slot),
            _ => None,
        });
        let fields = nodes.chans[n].iter().zip(&decl.fields).map(|(node, ty)| value(*node, *ty));
        ChanRole { slot: at.unwrap_or(u32::MAX), fields: fields.collect() }
    });
    Roles { slots: slots.collect(), chans: chans.collect(), live }
}

impl Scalarset {
    pub fn is_empty(&self) -> bool {
        self.classes.is_empty()
    }

    /// Whether every member fits where one has its number or its element.
    fn has_room(&self, frame: &Frame, roles: &Roles) -> bool {
        let numbers = |offset: i32| self.members().map(move |p| i32::from(p) - offset);
        let holds = |(value, ty): (&Value, Type)| match value {
            Value::Pid(offset) => numbers(*offset).all(|n| ty.fit(n) == n),
            Value::Plain | Value::Chan => true,
        };
        let has_elements = |d: &Dim| numbers(d.offset).all(|n| (0..d.len as i32).contains(&n));
        let types = frame.slot_names().into_iter().map(|(_, ty)| ty);
        let mut slots = roles.slots.iter().zip(types);
        let mut chans = roles.chans.iter().zip(&frame.chans);
        slots.all(|(role, ty)| holds((&role.value, ty)) && role.dims.iter().all(has_elements))
            && chans.all(|(role, decl)| role.fields.iter().zip(decl.fields.iter().copied()).all(holds))
    }

    /// All that are in a class.
    pub fn members(&self) -> impl Iterator<Item = Pid> + '_ {
        self.classes.iter().flatten().copied()
    }
}

/// The locations of a proctype that can be reached from one of its own.
fn reachable(t: &crate::ir::Proctype, from: crate::ir::Loc) -> Vec<bool> {
    let mut seen = vec![false; t.locs.len()];
    seen[from.index()] = true;
    let mut todo = vec![from];
    while let Some(loc) = todo.pop() {
        for id in &t.locs[loc].edges {
            let to = t.edges[*id].to;
            if !std::mem::replace(&mut seen[to.index()], true) {
                todo.push(to);
            }
        }
    }
    seen
}

/// The first process of a proctype, which a reference without a number means.
fn first_of(born: &born::Born, proctype: ProctypeId) -> i32 {
    born.procs.iter().position(|t| *t == proctype).map_or(-1, |p| p as i32)
}
