//! Processes that can change places: one state searched for all that look alike.
//!
//! | file | is |
//! |---|---|
//! | this | whether there is a symmetry to use, and what is said about it |
//! | `canon` | one state for all its images |
//! | `places` | what a permutation does to a key, and what a key says about each process |
//! | `quotient` | a system, and a system beside a claim, of which one state of each orbit is seen |
//! | `unfold` | a run of the quotient as a run of the system |
//! | `threads` | fairness in a component of the quotient, exactly |
//! | `figure4` | weak fairness by nested search, one way |
//!
//! Which processes can change places, and why that is right, is the business of `model/scalarset`. Here: a state and
//! its images have the same runs up to the names of processes, so it is enough to search one of them. Faults, end
//! states and what a symmetric claim looks at are the same for all images.

pub mod canon;
pub mod figure4;
mod places;
pub mod quotient;
pub mod threads;
pub mod unfold;

#[cfg(test)]
mod tests;

use canon::Canon;
use spinor_model::interp::Interp;
use spinor_model::ir::{Expr, System};
use spinor_model::scalarset::{self, Break, Scalarset, Value};
use spinor_model::source::Sources;
use spinor_model::successors::Successors;
use std::sync::Arc;

/// How one state is chosen among its images.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Way {
    /// `Segmented` where enough processes can change places, or it is declared that some can; and nobody is told why not.
    #[default]
    Auto,
    /// Symmetry is not used.
    Off,
    Sorted,
    Segmented,
    PcSorted,
    PcSegmented,
    Full,
}

impl Way {
    pub const ALL: [Way; 5] = [Way::Sorted, Way::Segmented, Way::PcSorted, Way::PcSegmented, Way::Full];

    pub fn word(self) -> &'static str {
        match self {
            Way::Off => "off",
            Way::Auto => "auto",
            Way::Sorted => "sorted",
            Way::Segmented => "segmented",
            Way::PcSorted => "pc-sorted",
            Way::PcSegmented => "pc-segmented",
            Way::Full => "full",
        }
    }

    pub fn is_on(self) -> bool {
        self != Way::Off
    }
}

/// What is used, and what there is to say about it.
#[derive(Clone, Default)]
pub struct Symmetry {
    pub canon: Option<Arc<Canon>>,
    pub notes: Vec<String>,
}

/// In fewer orders of the processes than these, symmetry saves less than it costs: a reduction may save more.
const WORTH: u64 = 6;

/// In how many ways the processes can change places.
fn orders(set: &Scalarset) -> u64 {
    set.classes.iter().flat_map(|c| 1..=c.len() as u64).fold(1, u64::saturating_mul)
}

/// The author says that there is one, and wants it used.
fn is_declared(system: &System, set: &Scalarset) -> bool {
    set.members().any(|p| system.symmetric.contains(&set.kinds[usize::from(p)]))
}

/// Looks for a symmetry of the system that is searched, if one is wanted; `looked` is what a claim looks at.
pub fn find(system: &System, looked: &[Expr], way: Way) -> Symmetry {
    if !way.is_on() {
        return Symmetry::default();
    }
    let set = scalarset::find(system, looked);
    let mut notes = Vec::new();
    let way = match way {
        Way::Auto if orders(&set) < WORTH && !is_declared(system, &set) => return Symmetry::default(),
        Way::Auto => Way::Segmented,
        way => way,
    };
    if set.is_empty() {
        let why: Vec<String> = set.breaks.iter().map(|b| told(b, &system.sources)).collect();
        notes.push(format!("no symmetry is used: {}", why.join("; ")));
        return Symmetry { canon: None, notes };
    }
    let of = |class: &Vec<u8>| {
        let list: Vec<String> = class.iter().map(u8::to_string).collect();
        format!("processes {}", list.join(", "))
    };
    let classes: Vec<String> = set.classes.iter().map(of).collect();
    let mut note = format!("symmetry ({}): {} can change places", way.word(), classes.join("; "));
    if !set.breaks.is_empty() {
        let why: Vec<String> = set.breaks.iter().map(|b| told(b, &system.sources)).collect();
        note += &format!(", and no others: {}", why.join("; "));
    }
    notes.push(note);
    notes.extend(named_at_first(system, &set));
    Symmetry { canon: Some(Arc::new(Canon::new(system, set, way))), notes }
}

/// Globals that begin with the number of a process, most often zero, tell it from others until they are written.
fn named_at_first(system: &System, set: &Scalarset) -> Option<String> {
    let initial = Interp::new(Arc::new(system.clone())).initial().ok()?;
    let names = |slot: usize| match set.globals.slots[slot].value {
        Value::Pid(offset) => set.members().any(|p| i32::from(p) == initial.globals()[slot].wrapping_add(offset)),
        _ => false,
    };
    let var = system.globals.vars.iter().find(|var| !var.hidden && names(var.slot as usize))?;
    let name = &var.name;
    Some(format!(
        "`{name}` names a process at the start: if it held a number that is nobody's, there might be fewer states"
    ))
}

/// A reason, with its line.
fn told(b: &Break, sources: &Sources) -> String {
    let place = if b.span == Default::default() { None } else { sources.told(b.span) };
    place.map_or(b.why.clone(), |place| format!("{} ({place})", b.why))
}
