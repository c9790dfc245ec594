//! The system: variables, channels, and processes as control graphs.
//!
//! A proctype is a graph of locations. An edge leaves a location when all its **guards** hold, and then its
//! **effects** happen in order. Whatever a statement needs in order to run is a guard, so that every reader of
//! executability (reduction, fairness, explanations) reads the same list:
//!
//! | in Promela | here |
//! |---|---|
//! | a condition | [`Guard::Holds`] |
//! | room in a channel, a matching message, a partner for a handshake | [`Guard::Channel`] |
//! | `else`; "no escape of an enclosing `unless` can run"; "no earlier option" in a `d_step` | [`Guard::NoneOf`] |
//! | the death of a process | [`Guard::Youngest`] |
//! | `provided`, priorities | [`Proctype::provided`], [`Uses::priorities`], asked of the process as a whole |
//! | `timeout` | [`Expr::Timeout`], true exactly when nothing can run while it is false |
//!
//! Values live in *slots*, one `i32` each. A frame (the globals, or a process) has its variables' slots in
//! declaration order; a [`Place`] names a slot, directly or through array indices.

use crate::index::IndexVec;
use crate::source::{Sources, Span};
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

crate::index_types! {
    /// A variable of one frame.
    VarId "v",
    /// A point of control in a proctype.
    Loc "l",
    /// An edge of a proctype.
    EdgeId "e",
    /// What is declared; a process is what runs.
    ProctypeId "t",
    /// An mtype set; 0 is the one without a name.
    MtypeId "m",
}

/// Process numbers: at most 255 live at a time, counted from 0 in order of creation.
pub type Pid = u8;
/// No more processes than this are alive at a time, and no more channels.
pub const MAX_LIVE: usize = 255;

#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct System {
    pub name: String,
    pub sources: Arc<Sources>,
    pub mtypes: IndexVec<MtypeId, MtypeSet>,
    pub globals: Frame,
    pub proctypes: IndexVec<ProctypeId, Proctype>,
    /// The processes of the initial state, in pid order.
    pub active: Vec<ProctypeId>,
    /// Those of which all processes can change places, as the author says (`scalarset`).
    pub symmetric: Vec<ProctypeId>,
    /// Edges whose steps a reduction keeps in their order, as the author says.
    pub visible: Vec<(ProctypeId, EdgeId)>,
    /// `never` claims: control graphs whose steps alternate with the system's.
    pub claims: Vec<Proctype>,
    /// `trace` or `notrace`
    pub monitor: Option<Monitor>,
    pub uses: Uses,
}

#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct MtypeSet {
    /// `_unnamed_` for the first
    pub name: String,
    /// The name of value `n` is `names[n - 1]`.
    pub names: Vec<String>,
}

/// Features that change what a state holds or which processes may move, wherever in the model they stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Uses {
    /// `_last` is read, so it is part of the state.
    pub last: bool,
    /// Only enabled processes of the highest priority may move.
    pub priorities: bool,
    /// Some expression reads `timeout`.
    pub timeout: bool,
    /// A run may end only with all channels empty.
    pub drained: bool,
}

/// The variables of the system, or of one proctype.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Frame {
    pub vars: IndexVec<VarId, Var>,
    /// Slots of the variables; the channels' slots come after them.
    pub n_slots: u32,
    /// Done in order when the frame is made.
    pub inits: Vec<Init>,
    /// Made with the frame, in order, and gone with it.
    pub chans: Vec<ChanDecl>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Var {
    pub name: String,
    pub shape: Shape,
    /// First slot in its frame.
    pub slot: u32,
    /// Never read, so left out of the state's key (declared `hidden`).
    pub hidden: bool,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    Scalar(Type),
    Array(u32, Box<Shape>),
    Record(Arc<Record>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub name: String,
    pub fields: Vec<(String, Shape)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    Bit,
    Bool,
    Byte,
    Pid,
    Short,
    Int,
    /// 1 to 31 bits
    Unsigned(u8),
    Mtype(MtypeId),
    Chan,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Init {
    Value {
        slot: u32,
        ty: Type,
        value: Expr,
        span: Span,
    },
    /// The slot receives the number of the frame's channel `chan`.
    Chan {
        slot: u32,
        chan: u32,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChanDecl {
    /// `q`, `q[1]`, `r.q`: the variable that holds it at first
    pub name: String,
    /// 0 for rendez-vous
    pub capacity: u32,
    pub fields: Vec<Type>,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proctype {
    pub name: String,
    /// The first slots of the frame.
    pub n_params: u32,
    pub frame: Frame,
    pub locs: IndexVec<Loc, Location>,
    pub edges: IndexVec<EdgeId, Edge>,
    pub start: Loc,
    /// The closing brace; a process that stands here has ended well.
    pub end: Loc,
    /// No step while this is false.
    pub provided: Option<Expr>,
    /// Of its processes in the initial state; one that is run has the priority the `run` gives it.
    pub priority: u8,
    /// `D_proctype`: two edges that can run at once are an error.
    pub deterministic: bool,
    /// `xr` and `xs`
    pub promises: Vec<Promise>,
    /// Its number in SPIN's order of definition, which trails name.
    pub number: u32,
    pub span: Span,
}

/// "Only this process receives from (sends to) the channel that this variable names."
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Promise {
    pub send: bool,
    pub chan: Place,
    pub span: Span,
}

/// A trace assertion: a control graph that is no process. It moves along its [`Effect::Event`] edges whenever a process
/// sends or receives on a channel that some edge names. Each such move must fit exactly one edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Monitor {
    /// `notrace`: matching to the end is the error.
    pub negated: bool,
    pub graph: Proctype,
}

#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Location {
    /// In the order they are tried: escapes first, outermost first, `else` last.
    pub edges: Vec<EdgeId>,
    pub labels: Vec<String>,
    pub end: bool,
    pub accept: bool,
    pub progress: bool,
    /// SPIN's number of the control state, the value of `pc_value`.
    pub number: u32,
    /// Where control stands: the statement about to run.
    pub span: Span,
}

/// Who runs after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Hash, PartialOrd, Ord)]
pub enum Then {
    /// anyone
    #[default]
    Yield,
    /// the same process, if it can: the next statement is in the same `atomic`
    Atomic,
    /// the same process, taking the first edge that can run: inside a `d_step`
    DStep,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    pub from: Loc,
    pub to: Loc,
    pub guards: Vec<Guard>,
    pub effects: Vec<Effect>,
    pub then: Then,
    /// Part of a `d_step`: its first statement, one inside, or its last.
    pub in_d_step: bool,
    /// SPIN's number of the statement, which trails name. All steps of a `d_step` have the `d_step`'s.
    pub stmt: u32,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Guard {
    /// The value is not zero.
    Holds(Expr),
    /// The first effect, a send or receive, can be done: there is room, a matching message, a partner.
    Channel,
    /// None of these edges of the same location can run. Whatever those wait for is in the list too. A partner's half of a handshake looks only at
    /// those that could take the same message.
    NoneOf(Vec<EdgeId>),
    /// No process is younger.
    Youngest,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    Assign {
        to: Place,
        value: Expr,
    },
    /// Always the first effect of its edge.
    Send {
        chan: Expr,
        sorted: bool,
        args: Vec<Expr>,
    },
    /// Always the first effect of its edge. `keep`: the message stays. `random`: the first that matches.
    Receive {
        chan: Expr,
        random: bool,
        keep: bool,
        args: Vec<Pattern>,
    },
    /// A new process; its number is [`Expr::NewPid`] for the rest of the edge.
    Run {
        proctype: ProctypeId,
        args: Vec<Expr>,
        priority: u8,
    },
    Assert(Expr),
    Print {
        format: Arc<str>,
        args: Vec<Expr>,
    },
    /// `printm`: the name of an mtype value.
    PrintName(Expr, MtypeId),
    SetPriority {
        pid: Expr,
        value: Expr,
    },
    /// In monitors only: a message that passes through this channel and fits. Nothing is assigned, so a field is
    /// compared with a value or matches anything; fields left out match anything, too.
    Event {
        send: bool,
        chan: Expr,
        args: Vec<Pattern>,
    },
    /// The process dies.
    End,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// matches everything and is assigned
    Bind(Place),
    /// matches this value
    Equal(Expr),
    Any,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    Global,
    /// of the process that evaluates, or, in [`Expr::Remote`], of the process named there
    Local,
}

/// A slot: `slot + Σ index·stride` of its frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub scope: Scope,
    pub var: VarId,
    pub slot: u32,
    pub ty: Type,
    pub index: Vec<IndexStep>,
}

/// Places with more slots than this are taken as one stretch from their first to their last.
const MOST_SINGLE: u64 = 256;

impl Place {
    /// The slots it may be: of all elements if an index is no constant, none if a constant one is outside, which is a fault and
    /// touches nothing.
    pub fn slots(&self) -> Vec<Range<u32>> {
        let first = u64::from(self.slot);
        let (mut each, mut hull) = (vec![first], (first, first));
        let mut is_wide = false;
        for step in &self.index {
            let (len, stride) = (u64::from(step.len), u64::from(step.stride));
            let (lo, hi) = match step.value {
                Expr::Const(i) if i < 0 || i as u64 >= len => return Vec::new(),
                Expr::Const(i) => (i as u64, i as u64),
                _ if len == 0 => return Vec::new(),
                _ => (0, len - 1),
            };
            hull = (hull.0 + lo * stride, hull.1 + hi * stride);
            is_wide |= (each.len() as u64).saturating_mul(hi - lo + 1) > MOST_SINGLE;
            if !is_wide {
                each = each.iter().flat_map(|s| (lo..=hi).map(move |i| s + i * stride)).collect();
            }
        }
        let fit = |s: u64| u32::try_from(s).unwrap_or(u32::MAX - 1);
        let stretch = |from: u64, to: u64| fit(from)..fit(to) + 1;
        if is_wide { vec![stretch(hull.0, hull.1)] } else { each.into_iter().map(|s| stretch(s, s)).collect() }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexStep {
    pub value: Expr,
    pub len: u32,
    pub stride: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnOp {
    Not,
    Neg,
    BitNot,
}

/// `And` and `Or` look at their right side only if they must.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinOp {
    Or,
    And,
    BitOr,
    BitXor,
    BitAnd,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Shl,
    Shr,
    Add,
    Sub,
    Mul,
    Div,
    Rem,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Probe {
    Len,
    Full,
    Nfull,
    Empty,
    Nempty,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expr {
    Const(i32),
    Read(Place),
    Unary(UnOp, Box<Expr>),
    Binary(BinOp, Box<Expr>, Box<Expr>),
    Cond(Box<Expr>, Box<Expr>, Box<Expr>),
    Probe(Probe, Box<Expr>),
    /// 1 if the receive could happen
    Poll {
        chan: Box<Expr>,
        random: bool,
        args: Vec<Pattern>,
    },
    /// `_pid`
    Pid,
    /// `_nr_pr`
    NrPr,
    /// `_last`
    Last,
    Timeout,
    /// `np_`
    NonProgress,
    /// Some process stands at an accept label.
    Accepting,
    /// The process made by the [`Effect::Run`] of the same edge.
    NewPid,
    Enabled(Box<Expr>),
    PcValue(Box<Expr>),
    GetPriority(Box<Expr>),
    /// `P[pid]@L`; without a pid the oldest live process of that type
    AtLabel {
        proctype: ProctypeId,
        pid: Option<Box<Expr>>,
        loc: Loc,
        label: String,
    },
    /// `P[pid]:x`; 0 if there is no such process
    Remote {
        proctype: ProctypeId,
        pid: Option<Box<Expr>>,
        place: Place,
    },
    /// 1 if the step that is taken next does this. Only those who look from outside can ask, and where no step is taken
    /// nothing happens (`happening.rs`).
    Happens(Box<Operation>),
}

/// What a step may do, as somebody names it who looks from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A message that fits goes into the channel, or out of it. Nothing is assigned, so a field is compared with a value or
    /// matches anything; fields left out match anything, too.
    Passes {
        /// Only by such a process, and by the one of this number.
        by: Option<(ProctypeId, Option<Expr>)>,
        send: bool,
        chan: Expr,
        args: Vec<Pattern>,
    },
    /// A process takes an edge from this location.
    Leaves { proctype: ProctypeId, pid: Option<Expr>, loc: Loc, label: String },
    /// A process takes one of these edges, which its author calls by one name.
    Takes { proctype: ProctypeId, edges: Vec<EdgeId>, name: String },
}

impl Type {
    pub fn bits(self) -> u8 {
        match self {
            Type::Bit | Type::Bool => 1,
            Type::Byte | Type::Pid | Type::Mtype(_) | Type::Chan => 8,
            Type::Short => 16,
            Type::Int => 32,
            Type::Unsigned(n) => n,
        }
    }

    /// The value a slot of this type holds after `v` is stored in it: low bits, sign extended where signed.
    pub fn fit(self, v: i32) -> i32 {
        match self {
            Type::Int => v,
            Type::Short => v as i16 as i32,
            _ => v & ((1u32 << self.bits()) - 1) as i32,
        }
    }
}

impl Shape {
    pub fn n_slots(&self) -> u64 {
        match self {
            Shape::Scalar(_) => 1,
            Shape::Array(n, of) => u64::from(*n) * of.n_slots(),
            Shape::Record(r) => r.fields.iter().map(|(_, s)| s.n_slots()).sum(),
        }
    }

    /// Calls `f` with the suffix of the name (`[1].b`) and the type of every slot, in order.
    pub fn leaves(&self, f: &mut impl FnMut(&str, Type)) {
        self.leaves_under(&mut String::new(), f);
    }

    fn leaves_under(&self, suffix: &mut String, f: &mut impl FnMut(&str, Type)) {
        let len = suffix.len();
        match self {
            Shape::Scalar(ty) => f(suffix, *ty),
            Shape::Array(n, of) => {
                for i in 0..*n {
                    suffix.push_str(&format!("[{i}]"));
                    of.leaves_under(suffix, f);
                    suffix.truncate(len);
                }
            }
            Shape::Record(r) => {
                for (name, shape) in &r.fields {
                    suffix.push('.');
                    suffix.push_str(name);
                    shape.leaves_under(suffix, f);
                    suffix.truncate(len);
                }
            }
        }
    }
}

impl Frame {
    /// Name and type of every variable slot, in order.
    pub fn slot_names(&self) -> Vec<(String, Type)> {
        let mut out = Vec::with_capacity(self.n_slots as usize);
        for var in self.vars.iter() {
            var.shape.leaves(&mut |suffix, ty| out.push((format!("{}{suffix}", var.name), ty)));
        }
        out
    }

    /// The type of every variable slot, in order.
    pub fn slot_types(&self) -> Vec<Type> {
        let mut out = Vec::with_capacity(self.n_slots as usize);
        self.vars.iter().for_each(|var| var.shape.leaves(&mut |_, ty| out.push(ty)));
        out
    }

    pub fn var_named(&self, name: &str) -> Option<VarId> {
        self.vars.enumerated().find(|(_, v)| v.name == name).map(|(id, _)| id)
    }
}

impl Edge {
    /// A send or receive is always the first effect.
    pub fn send(&self) -> Option<(&Expr, &[Expr])> {
        match self.effects.first() {
            Some(Effect::Send { chan, args, .. }) => Some((chan, args)),
            _ => None,
        }
    }

    pub fn receive(&self) -> Option<(&Expr, &[Pattern])> {
        match self.effects.first() {
            Some(Effect::Receive { chan, args, .. }) => Some((chan, args)),
            _ => None,
        }
    }

    /// The process dies by it.
    pub fn ends(&self) -> bool {
        matches!(self.effects.last(), Some(Effect::End))
    }

    /// Of an edge that waits for nothing but its channel: the probe that is true exactly where it can send, or take what
    /// comes, if the channel has slots.
    pub fn possible_if(&self) -> Option<(Probe, &Expr)> {
        if self.guards != [Guard::Channel] {
            return None;
        }
        match &self.effects[0] {
            Effect::Send { chan, .. } => Some((Probe::Nfull, chan)),
            Effect::Receive { chan, args, keep: false, .. } if !args.iter().any(|a| matches!(a, Pattern::Equal(_))) => {
                Some((Probe::Nempty, chan))
            }
            _ => None,
        }
    }
}

impl Expr {
    /// The channel that is asked about, if one is.
    pub fn channel(&self) -> Option<&Expr> {
        match self {
            Expr::Probe(_, chan) | Expr::Poll { chan, .. } => Some(chan),
            Expr::Const(_) | Expr::Read(_) | Expr::Unary(..) | Expr::Binary(..) | Expr::Cond(..) => None,
            Expr::Pid | Expr::NrPr | Expr::Last | Expr::NewPid => None,
            Expr::Timeout | Expr::NonProgress | Expr::Accepting => None,
            Expr::Enabled(_) | Expr::PcValue(_) | Expr::GetPriority(_) => None,
            Expr::AtLabel { .. } | Expr::Remote { .. } => None,
            // The step is asked, not the channel.
            Expr::Happens(_) => None,
        }
    }

    /// Of a test of a channel: which one, and for each side that it tells about whether that is the side that sends. Whether
    /// there is room is the sender's business, whether there is a message the receiver's.
    pub fn sides(&self) -> Option<(&Expr, &'static [bool])> {
        let sides: &[bool] = match self {
            Expr::Probe(Probe::Nfull, _) => &[true],
            Expr::Probe(Probe::Nempty, _) => &[false],
            _ => &[true, false],
        };
        Some((self.channel()?, sides))
    }

    /// All of these have to be true for it to be.
    pub fn conjuncts(&self) -> Vec<&Expr> {
        match self {
            Expr::Binary(BinOp::And, a, b) => [a.conjuncts(), b.conjuncts()].concat(),
            e => vec![e],
        }
    }
}

impl Proctype {
    fn reaches(&self, from: Loc, to: Loc) -> bool {
        let (mut seen, mut todo) = (BTreeSet::from([from]), vec![from]);
        while let Some(loc) = todo.pop() {
            if loc == to {
                return true;
            }
            let next = self.locs[loc].edges.iter().map(|e| self.edges[*e].to);
            todo.extend(next.filter(|loc| seen.insert(*loc)));
        }
        false
    }
}

impl System {
    pub fn proctype_named(&self, name: &str) -> Option<ProctypeId> {
        self.proctypes.enumerated().find(|(_, p)| p.name == name).map(|(id, _)| id)
    }

    /// Some channel may be one: its messages are handed over.
    pub fn has_rendezvous(&self) -> bool {
        let frames = self.proctypes.iter().map(|t| &t.frame).chain([&self.globals]);
        frames.flat_map(|f| &f.chans).any(|c| c.capacity == 0)
    }

    /// No more processes are alive at a time. Where processes are made over and over, it is the most there can be.
    pub fn most_processes(&self) -> u32 {
        let runs = |e: &&Edge| e.effects.iter().any(|e| matches!(e, Effect::Run { .. }));
        let mut n = self.active.len() as u32;
        for (id, t) in self.proctypes.enumerated() {
            let made = t.edges.iter().filter(runs).count() as u32;
            if made == 0 {
                continue;
            }
            let started = self.active.iter().filter(|a| **a == id).count() as u32;
            let mut effects = self.proctypes.iter().flat_map(|t| &t.edges).flat_map(|e| &e.effects);
            let is_run = effects.any(|e| matches!(e, Effect::Run { proctype, .. } if *proctype == id));
            if is_run || t.edges.iter().filter(runs).any(|e| t.reaches(e.to, e.from)) {
                return u32::from(Pid::MAX);
            }
            let each =
                t.edges.iter().flat_map(|e| &e.effects).filter(|e| matches!(e, Effect::Run { .. })).count() as u32;
            n += started * each.max(made);
        }
        n.min(u32::from(Pid::MAX))
    }

    /// How a value of this type is written.
    pub fn show(&self, ty: Type, value: i32) -> String {
        match ty {
            Type::Bool => if value != 0 { "true" } else { "false" }.to_string(),
            Type::Mtype(set) if value > 0 => match self.mtypes[set].names.get(value as usize - 1) {
                Some(name) => name.clone(),
                None => value.to_string(),
            },
            _ => value.to_string(),
        }
    }
}
