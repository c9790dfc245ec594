//! What can be known about a system before it runs, and makes its code shorter.
//!
//! Everything here errs on the safe side: an expression that "may fault" need not, a range may be too wide, a channel
//! that is not known to be fixed is looked up.

use spinor_model::index::Idx;
use spinor_model::ir::{BinOp, Effect, Expr, Frame, Init, Pattern, Place, ProctypeId, Scope, System, Type, UnOp};
use spinor_model::layout::{ChanLayout, FrameLayout, Layout};
use std::collections::BTreeSet;

/// Channels of one capacity and one list of fields: the same code fits them all.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Class {
    pub capacity: u32,
    pub types: Vec<Type>,
    /// From the channel's first byte.
    pub len_bytes: u8,
    /// Offset and size of each field of the first message.
    pub fields: Vec<spinor_model::layout::Field>,
    pub stride: u32,
}

pub(crate) struct Statics {
    pub classes: Vec<Class>,
    /// The class of each channel of a frame: of the globals, then of each proctype.
    pub global_chans: Vec<usize>,
    pub local_chans: Vec<Vec<usize>>,
    /// Slots that hold, for ever, the channel made with their frame: which one.
    global_fixed: Vec<Option<u32>>,
    local_fixed: Vec<Vec<Option<u32>>>,
    pub has_promises: bool,
    /// Bytes that no state exceeds.
    pub max_len: usize,
}

/// Where a channel that never changes lies in its frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Fixed {
    pub at: u32,
    pub class: usize,
    /// To the next element's, if the place is an array of channels.
    pub stride: u32,
}

impl Statics {
    pub fn new(system: &System, layout: &Layout) -> Statics {
        let mut classes: Vec<Class> = Vec::new();
        let mut class_of = |frame: &Frame, at: &FrameLayout| -> Vec<usize> {
            let class = |(decl, at): (&spinor_model::ir::ChanDecl, &ChanLayout)| {
                let class = Class {
                    capacity: decl.capacity,
                    types: decl.fields.clone(),
                    len_bytes: at.len.bytes,
                    fields: at
                        .fields
                        .iter()
                        .map(|f| spinor_model::layout::Field { at: f.at - at.len.at, ..*f })
                        .collect(),
                    stride: at.stride,
                };
                classes.iter().position(|c| *c == class).unwrap_or_else(|| {
                    classes.push(class);
                    classes.len() - 1
                })
            };
            frame.chans.iter().zip(&at.chans).map(class).collect()
        };
        let global_chans = class_of(&system.globals, &layout.globals);
        let local_chans: Vec<Vec<usize>> =
            system.proctypes.iter().zip(&layout.procs).map(|(t, at)| class_of(&t.frame, at)).collect();
        let (global_set, local_set) = assigned(system);
        let fixed = |frame: &Frame, set: &BTreeSet<u32>, n_params: u32| {
            let mut out = vec![None; frame.n_slots as usize];
            for init in &frame.inits {
                match init {
                    Init::Chan { slot, chan } => out[*slot as usize] = Some(*chan),
                    Init::Value { slot, .. } => out[*slot as usize] = None,
                }
            }
            for (slot, chan) in out.iter_mut().enumerate() {
                if set.contains(&(slot as u32)) || slot < n_params as usize {
                    *chan = None;
                }
            }
            out
        };
        let global_fixed = fixed(&system.globals, &global_set, 0);
        let local_fixed =
            system.proctypes.iter().zip(&local_set).map(|(t, set)| fixed(&t.frame, set, t.n_params)).collect();
        let longest = layout.procs.iter().map(|f| f.size as usize).max().unwrap_or(0);
        let runs = system.proctypes.iter().flat_map(|t| t.edges.iter()).flat_map(|e| &e.effects);
        let grows = runs.into_iter().any(|e| matches!(e, Effect::Run { .. }));
        let active: usize = system.active.iter().map(|t| layout.procs[t.index()].size as usize).sum();
        let most = if grows { spinor_model::ir::MAX_LIVE * longest } else { active };
        Statics {
            classes,
            global_chans,
            local_chans,
            global_fixed,
            local_fixed,
            has_promises: system.proctypes.iter().any(|t| !t.promises.is_empty()),
            max_len: layout.globals.size as usize + most,
        }
    }

    /// If the place can only name channels that were made with its frame: where they lie.
    pub fn fixed(&self, layout: &Layout, place: &Place, t: Option<ProctypeId>) -> Option<Fixed> {
        let (fixed, chans, at) = match (place.scope, t) {
            (Scope::Global, _) => (&self.global_fixed, &self.global_chans, &layout.globals),
            (Scope::Local, Some(t)) => {
                (&self.local_fixed[t.index()], &self.local_chans[t.index()], &layout.procs[t.index()])
            }
            (Scope::Local, None) => return None,
        };
        let first = fixed[place.slot as usize]? as usize;
        let here = |chan: usize| (at.chans[chan].len.at, chans[chan]);
        let (start, class) = here(first);
        let [step] = &place.index[..] else {
            return place.index.is_empty().then_some(Fixed { at: start, class, stride: 0 });
        };
        let stride = if step.len > 1 {
            here(fixed[(place.slot + step.stride) as usize]? as usize).0.wrapping_sub(start)
        } else {
            0
        };
        for i in 0..step.len {
            let chan = fixed[(place.slot + i * step.stride) as usize]? as usize;
            if here(chan) != (start.wrapping_add(i.wrapping_mul(stride)), class) {
                return None;
            }
        }
        Some(Fixed { at: start, class, stride })
    }
}

/// The slots that some statement may assign: of the globals, and of each proctype.
fn assigned(system: &System) -> (BTreeSet<u32>, Vec<BTreeSet<u32>>) {
    let mut globals = BTreeSet::new();
    let mut locals = Vec::new();
    for t in system.proctypes.iter() {
        let mut own = BTreeSet::new();
        let mut assign = |place: &Place| {
            let (frame, set) = match place.scope {
                Scope::Global => (&system.globals, &mut globals),
                Scope::Local => (&t.frame, &mut own),
            };
            // The whole variable, whatever the index.
            let var = &frame.vars[place.var];
            set.extend(var.slot..var.slot + var.shape.n_slots() as u32);
        };
        for effect in t.edges.iter().flat_map(|e| &e.effects) {
            match effect {
                Effect::Assign { to, .. } => assign(to),
                Effect::Receive { args, .. } => {
                    for arg in args {
                        if let Pattern::Bind(place) = arg {
                            assign(place);
                        }
                    }
                }
                _ => {}
            }
        }
        locals.push(own);
    }
    (globals, locals)
}

/// Can its value fail to exist?
pub(crate) fn may_fault(e: &Expr) -> bool {
    match e {
        Expr::Const(_)
        | Expr::Pid
        | Expr::NrPr
        | Expr::Last
        | Expr::Timeout
        | Expr::NonProgress
        | Expr::Accepting
        | Expr::Happens(_)
        | Expr::NewPid => false,
        Expr::Read(place) => place_may_fault(place),
        Expr::Unary(_, a) => may_fault(a),
        Expr::Binary(BinOp::Div | BinOp::Rem, a, b) => may_fault(a) || !matches!(**b, Expr::Const(n) if n != 0),
        Expr::Binary(_, a, b) => may_fault(a) || may_fault(b),
        Expr::Cond(c, a, b) => may_fault(c) || may_fault(a) || may_fault(b),
        Expr::Probe(..) | Expr::Poll { .. } | Expr::Enabled(_) => true,
        Expr::PcValue(p) | Expr::GetPriority(p) => may_fault(p),
        Expr::AtLabel { pid, .. } => pid.as_ref().is_some_and(|p| may_fault(p)),
        Expr::Remote { pid, place, .. } => pid.as_ref().is_some_and(|p| may_fault(p)) || place_may_fault(place),
    }
}

pub(crate) fn place_may_fault(place: &Place) -> bool {
    place.index.iter().any(|step| {
        let (low, high) = range(&step.value);
        may_fault(&step.value) || low < 0 || high >= i64::from(step.len)
    })
}

pub(crate) const INT: (i64, i64) = (i32::MIN as i64, i32::MAX as i64);

/// The values a slot of this type can hold.
pub(crate) fn range_of(ty: Type) -> (i64, i64) {
    match ty {
        Type::Int => INT,
        Type::Short => (i64::from(i16::MIN), i64::from(i16::MAX)),
        _ => (0, (1 << ty.bits()) - 1),
    }
}

/// Bounds of its value.
pub(crate) fn range(e: &Expr) -> (i64, i64) {
    let fit = |(low, high): (i64, i64)| if low < INT.0 || high > INT.1 { INT } else { (low, high) };
    match e {
        Expr::Const(n) => (i64::from(*n), i64::from(*n)),
        Expr::Read(place) => range_of(place.ty),
        Expr::Remote { place, .. } => {
            let (low, high) = range_of(place.ty);
            (low.min(0), high.max(0))
        }
        Expr::Unary(UnOp::Not, _) => (0, 1),
        Expr::Unary(UnOp::Neg, a) => {
            let (low, high) = range(a);
            fit((-high, -low))
        }
        Expr::Unary(UnOp::BitNot, _) => INT,
        Expr::Binary(op, a, b) => {
            let ((a, b), (c, d)) = (range(a), range(b));
            match op {
                BinOp::Or | BinOp::And | BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge => {
                    (0, 1)
                }
                BinOp::Add => fit((a + c, b + d)),
                BinOp::Sub => fit((a - d, b - c)),
                BinOp::Mul if a >= 0 && c >= 0 => fit((a * c, b * d)),
                BinOp::Rem if a >= 0 && c > 0 => (0, b.min(d - 1)),
                BinOp::Div if a >= 0 && c > 0 => (0, b / c),
                BinOp::BitAnd if a >= 0 && c >= 0 => (0, b.min(d)),
                _ => INT,
            }
        }
        Expr::Cond(_, a, b) => {
            let ((a, b), (c, d)) = (range(a), range(b));
            (a.min(c), b.max(d))
        }
        Expr::Pid | Expr::NrPr | Expr::NewPid | Expr::Last | Expr::GetPriority(_) => (0, 255),
        Expr::Timeout
        | Expr::NonProgress
        | Expr::Accepting
        | Expr::Happens(_)
        | Expr::Enabled(_)
        | Expr::AtLabel { .. }
        | Expr::Poll { .. } => (0, 1),
        Expr::Probe(p, _) => {
            if *p == spinor_model::ir::Probe::Len {
                (0, INT.1)
            } else {
                (0, 1)
            }
        }
        Expr::PcValue(_) => (0, INT.1),
    }
}
