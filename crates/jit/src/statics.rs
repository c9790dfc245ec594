//! What can be known about a system before it runs, and makes its code shorter.
//!
//! Everything here errs on the safe side: an expression that "may fault" need not, a range may be too wide, a channel
//! that is not known to be fixed is looked up.

use spinor_model::index::Idx;
use spinor_model::ir::{Effect, Frame, Place, ProctypeId, Scope, System, Type};
use spinor_model::layout::{ChanLayout, FrameLayout, Layout};
use spinor_model::written::FixedChans;

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
    fixed: FixedChans,
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
            fixed: FixedChans::new(system),
            has_promises: system.proctypes.iter().any(|t| !t.promises.is_empty()),
            max_len: layout.globals.size as usize + most,
        };
        debug_assert!(statics.check_classes(system, layout), "a class fits all its channels");
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

    /// If the place can only name channels that were made with its frame: where they lie.
    pub fn fixed(&self, layout: &Layout, place: &Place, t: Option<ProctypeId>) -> Option<Fixed> {
        let (fixed, chans, at) = match (place.scope, t) {
            (Scope::Global, _) => (&self.fixed.globals, &self.global_chans, &layout.globals),
            (Scope::Local, Some(t)) => (&self.fixed.locals[t], &self.local_chans[t.index()], &layout.procs[t.index()]),
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
