//! What can be known about a system before it runs, and makes its code shorter.
//!
//! Everything here errs on the safe side: an expression that "may fault" need not, a range may be too wide, a channel
//! that is not known to be fixed is looked up.

use spinor_model::facts::{ChanName, Facts};
use spinor_model::index::Idx;
use spinor_model::ir::{Effect, Expr, Frame, Init, Place, ProctypeId, Scope, System, Type};
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
        debug_assert!((1..classes.len()).all(|n| !classes[..n].contains(&classes[n])), "each class is there once");
        let active: usize = system.active.iter().map(|t| layout.procs[t.index()].size as usize).sum();
        let most = if grows { spinor_model::ir::MAX_LIVE * longest } else { active };
        let statics = Statics {
            classes,
            global_chans,
            local_chans,
            global_fixed,
            local_fixed,
            has_promises: system.proctypes.iter().any(|t| !t.promises.is_empty()),
            max_len: layout.globals.size as usize + most,
        };
        debug_assert!(statics.check_classes(system, layout), "a class fits all its channels");
        debug_assert!(statics.check_fixed(system), "a channel that is fixed here is fixed there (facts.rs)");
        debug_assert!(active <= most && statics.max_len.is_multiple_of(8), "J2");
        statics
    }

    /// Capacity and fields are the declared ones, at the distances that the layout gives each channel.
    fn check_classes(&self, system: &System, layout: &Layout) -> bool {
        let fits = |frame: &Frame, at: &FrameLayout, classes: &[usize]| {
            let mut channels =
                frame.chans.iter().zip(&at.chans).zip(classes).map(|(chan, n)| (chan, &self.classes[*n]));
            classes.len() == frame.chans.len()
                && channels.all(|((decl, at), class)| {
                    let moved = class.fields.iter().map(|f| f.after(at.len.at));
                    (decl.capacity, &decl.fields, at.len.bytes) == (class.capacity, &class.types, class.len_bytes)
                        && moved.eq(at.fields.iter().copied())
                        && at.stride == class.stride
                })
        };
        let locals = system.proctypes.iter().zip(&layout.procs).zip(&self.local_chans);
        fits(&system.globals, &layout.globals, &self.global_chans)
            && locals.into_iter().all(|((t, at), classes)| fits(&t.frame, at, classes))
    }

    /// What the model finds out about channels by itself says the same. (It also counts what claims assign.)
    fn check_fixed(&self, system: &System) -> bool {
        let facts = Facts::new(system);
        let named = |t: ProctypeId, scope: Scope, frame: &Frame, slot: usize| {
            let var = frame.vars.enumerated().rfind(|(_, v)| v.slot as usize <= slot).expect("a slot has a variable").0;
            let place = Place { scope, var, slot: slot as u32, ty: Type::Chan, index: Vec::new() };
            facts.chan_name(t, &Expr::Read(place))
        };
        let frame = |t: ProctypeId, scope: Scope, frame: &Frame, fixed: &[Option<u32>]| {
            fixed.iter().enumerate().filter_map(|(slot, chan)| Some((slot, (*chan)?))).all(|(slot, chan)| {
                let wanted = if scope == Scope::Global { ChanName::Global(chan) } else { ChanName::Own(chan) };
                (chan as usize) < frame.chans.len() && named(t, scope, frame, slot) == wanted
            })
        };
        let mut locals = system.proctypes.enumerated().zip(&self.local_fixed);
        !system.claims.is_empty()
            || frame(ProctypeId::new(0), Scope::Global, &system.globals, &self.global_fixed)
                && locals.all(|((t, proctype), fixed)| frame(t, Scope::Local, &proctype.frame, fixed))
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
        debug_assert!(class < self.classes.len(), "a channel is of a class");
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
            effect.each_write(&mut assign);
        }
        locals.push(own);
    }
    (globals, locals)
}
