//! Partial order reduction: of the steps of a state, as many as matter.
//!
//! | file | is |
//! |---|---|
//! | this | what a reduction is made of, and what is preserved |
//! | `reduced` | the system with fewer steps |
//! | `statics` | what is known before a state is met: fixed slots, chains, loops |
//! | `known` | which values a process must have where it stands |
//! | `touch` | what a step of a process looks at and changes |
//! | `uses` | what can be touched, and which touches disturb or enable each other |
//! | `cast` | the processes that live, and what their steps have to do with each other |
//! | `rounds` | whose loops are to be closed |
//! | `stubborn` | which steps are enough |
//! | `still` | what else they must have for cycles without progress |
//! | `repairs` | handshakes that become possible where somebody minds |
//! | `leap` | several of them as one |
//! | `offline` | the graph built beforehand, with conditions about the path of the search |
//! | `commute` | which steps lead to the same in both orders |
//! | `checked` | a selection under its own definition |
//! | `without` | conditions left out, by tests |
//!
//! A system that is [`Reduced`] is a system: it has fewer steps in some states, chosen by the state alone. Whatever
//! searches it sees one graph, so what is proved of that graph is true of every search, with any number of threads, and
//! beside any automaton that cannot tell how long a run stays where nothing is to be seen. That is so by `Proviso::Loops`.
//! By `Levels` and by the path the search has a say, and what the proviso asks for is proved where it is kept
//! (`search/bfs.rs`, `search/dfs.rs`, `cycles/ndfs.rs`).
//!
//! # What is preserved
//!   P1 states without steps, and which steps fault; which edges are taken: by decomposition and cycle
//!   P2 runs that never end, as far as what is looked at and stuttering go: with visibility in addition
//!   P3 weakly and strongly fair runs: with F in addition
//!   P4 cycles without progress, and how little progress is before them: with the rules of `still` instead of all that
//!   Not: how many states, steps or violations there are, nor the least depth of anything.
//!
//! # Phases
//!   What is looked at may become less: an automaton that waits for p and then for q does not mind p any more when it waits
//!   for q. Whoever looks says in which phase it is, and a step counts as seen if something changes that may be looked
//!   at in this phase or later. For each set V of things looked at there is a reduced graph G(V); the search goes through
//!   G(V) as long as the automaton may yet look at V.
//!   Let the automaton accept a run σ of the system from s on, being in q, where it may yet look at V. By P2 there is a
//!   run ρ of G(V) from s that looks the same up to stuttering, as far as V goes. What is accepted from q depends on V
//!   alone, and if it is closed under stuttering the automaton accepts ρ from q. Take such a run of it. If it minds V for
//!   ever, we are done: this is a run of the product that is searched. Else there is a first place where it comes to a
//!   state q' from which it minds less. Up to there the run is one of the product that is searched; and the rest
//!   of ρ is a run of the system that is accepted from q', and so on, as often as there are things to be looked at.
//!   So it is needed that what is accepted is closed under stuttering, from each state in which a phase begins
//!   (`claim.rs`). Fairness is a matter of how a run goes on for ever, so all this is true of fair runs.
//!
//! # Fairness
//!   F  Steps of different processes that may change whether a third one can move disturb each other.
//!   Take a fair run from a state where steps were left out. It has a step of the selection: a step of the selection
//!   stays possible as long as none is taken, so its process could always move, and must do so; its next step is of the
//!   selection, which has all of its steps here (`stubborn`, D1). So by decomposition the run is only put in another
//!   order, and nothing is added to it. A process that moves for ever still does. One that moves no more is somewhere
//!   disabled for ever or again and again; what changes that are steps that keep their order (F), so it still is.
//!   Who can move in a state is asked of all its steps, also of those left out.
//!
//! # Parts
//!   By the above, of a fair run nothing becomes of what is left out but another order. So where only fair runs are asked
//!   about, steps that are seen may be selected, if what is seen keeps its order: instead of visibility
//!   S  Steps of different processes that the same part of the property may see disturb each other.
//!   If the property is a boolean combination of parts (`spinor_ltl::parts`), and a step that only one part sees
//!   changes places with one that only another sees, each part sees the same run as before up to stuttering, and
//!   has the value it had ([Schoot7], section 7.3.4). A run that is not fair may never take the step that is selected;
//!   then a step that is seen would be added to it (`tests/conditions/Added.pml`).
//!
//! # Faults
//!   A step that a fault ends leads nowhere, so nothing could be made up for behind it: where a selection has one,
//!   nothing is left out.
//!
//! # Protocols
//!   Of the machines of a protocol it is asked whether a state can be reached in which i waits for other messages than the
//!   first one of a channel to it (reception, on the channels J), or wants to send on a channel that is full (overflow, on
//!   K). To look at these conditions would make every send and receive a step that is seen. Less is enough ([Schoot7],
//!   definition 7.21):
//!   J  nothing of process i is selected while a channel of J that leads to it is empty
//!   K  no receive from a channel of K is selected, unless nothing is left out
//!   Let σ be a shortest run to such a state of i, and t a step of a selection of which σ has no step. After t, σ can
//!   still be taken (decomposition), and leads to the same state but for what t does. If t is not a step of i, it does not
//!   change where i stands, nor the first message of a channel to i, nor, by K, how much a channel of K holds, but to make
//!   it more: then i has no room all the more. If t is one of i, then i does not move in σ, and stands where it will. The
//!   channel to it was not empty (J), and its first message still is: the state at hand is such a state already. The
//!   channel from it was full in the end, and only i fills it: so it is full now, and the state at hand is one, too.
//!   So every such state of i is announced by one that is met. As printed, the definition makes the sender of a channel of
//!   K wait while its receiver can move; the receiver then goes on alone and makes room that a run to an overflow did not
//!   have (`tests/conditions/Overflow.cfsm`).
//!
//! # Operations
//!   Who looks may name operations (`spinor_model::happening`): what is seen at a state is then also what the step does by
//!   which it is left. A step that may do something that is named is one that is seen, so of those none is selected
//!   unless nothing is left out. Think of a bit for each operation, turned over by every step that does it, and P2 is about
//!   states again: such bits are read by nobody but who looks from outside, so the rest of the argument never meets them.
//!   What is preserved are runs up to steps after which nothing looks different and which do nothing that is named;
//!   whether a formula can tell these is asked of the formula with bits (`claim.rs`). A leap has at most one step that is
//!   seen, the last one: what that does is what the leap does.
//!
//! # Who is refused
//!   Priorities and `_last`: every step is disturbed by every other.

mod cast;
pub mod checked;
pub mod commute;
mod known;
pub mod leap;
pub mod offline;
mod reduced;
mod repairs;
mod rounds;
mod statics;
pub mod still;
mod stubborn;
mod touch;
mod uses;
#[doc(hidden)]
pub mod without;

use crate::verdict::Kind;
use cast::{Cast, Making};
use checked::Auditor;
use leap::Leaps;
pub use reduced::{Reduced, State};
pub use repairs::{AbleBy, Repairs, UnlessBy};
use spinor_model::index::Idx;
use spinor_model::interp::Interp;
use spinor_model::ir::{Expr, Pid, System};
use spinor_model::layout::{Field, Layout};
use spinor_model::protocol::Protocol;
use spinor_model::successors::{Batch, Step, Wish};
use statics::Statics;
use std::collections::HashMap;
use std::sync::{Arc, RwLock};
use still::Still;
use stubborn::Rules;
use without::{Condition, Without};

/// How steps are selected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Selector {
    /// The steps of one process that waits for nothing: [Schoot7]'s POVAS, by its proposition 7.20. `Ample` leaves out as
    /// much and more, since it knows who could end the waiting.
    Povas,
    /// The steps of one process.
    Ample,
    /// The steps of as many processes as it takes.
    Stubborn,
    /// One step each of several processes that wait for nothing, together: [Schoot7]'s LRA.
    Lra,
    /// The same of as many sets as `Stubborn` has to choose from.
    Leap,
}

impl Selector {
    pub const ALL: [Selector; 5] =
        [Selector::Povas, Selector::Ample, Selector::Stubborn, Selector::Lra, Selector::Leap];

    pub fn word(self) -> &'static str {
        match self {
            Selector::Povas => "povas",
            Selector::Ample => "ample",
            Selector::Stubborn => "stubborn",
            Selector::Lra => "lra",
            Selector::Leap => "leap",
        }
    }

    /// It takes steps of several processes as one.
    pub fn leaps(self) -> bool {
        matches!(self, Selector::Lra | Selector::Leap)
    }
}

/// Who sees to it that no step is left out for ever: the cycle condition.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Proviso {
    /// Nobody: states without steps are found all the same, and with the rules of `still` cycles without progress.
    None,
    /// The selection, at the steps that close loops (`statics`). For every search and every question.
    #[default]
    Loops,
    /// Breadth-first search, by its levels (`search/bfs.rs`). For what finite runs show.
    Levels,
    /// Depth-first search, by its path: a selection with a step back to the path is not taken. The search says which of the
    /// selections it wants, and remembers it (`cycles/ndfs.rs`): the number, or whether it was the first or none.
    PathNumber,
    PathBit,
    /// Leaps, by having all that is left out in each. For every search and every question; nothing but leaps has it.
    Always,
}

/// No attempt has this number.
pub(crate) const NO_ATTEMPT: u8 = u8::MAX;

impl Proviso {
    /// Those that can be asked for.
    pub const ASKED: [Proviso; 4] = [Proviso::Loops, Proviso::Levels, Proviso::PathNumber, Proviso::PathBit];

    pub fn word(self) -> &'static str {
        match self {
            Proviso::None => "none",
            Proviso::Loops => "loops",
            Proviso::Levels => "levels",
            Proviso::PathNumber => "stack-number",
            Proviso::PathBit => "stack-bit",
            Proviso::Always => "always",
        }
    }

    /// The search has a say in what is selected.
    pub fn is_path(self) -> bool {
        match self {
            Proviso::PathNumber | Proviso::PathBit => true,
            Proviso::None | Proviso::Loops | Proviso::Levels | Proviso::Always => false,
        }
    }

    /// Nothing that closes a loop is selected: the selection itself sees to it.
    fn is_strict(self) -> bool {
        match self {
            Proviso::Loops => true,
            Proviso::None | Proviso::Levels | Proviso::PathNumber | Proviso::PathBit | Proviso::Always => false,
        }
    }

    /// Any closed set that may be selected is a selection: one safe step may be taken in haste.
    fn may_hasten(self) -> bool {
        match self {
            Proviso::None | Proviso::Loops | Proviso::Levels | Proviso::Always => true,
            Proviso::PathNumber | Proviso::PathBit => false,
        }
    }

    /// A search by levels may begin with nothing left out, and leave out steps from some level on: the selection alone sees
    /// to it that none is left out for ever.
    pub(crate) fn may_begin_late(self) -> bool {
        match self {
            Proviso::None | Proviso::Loops | Proviso::Always => true,
            Proviso::Levels | Proviso::PathNumber | Proviso::PathBit => false,
        }
    }

    /// By the path: the number of the selection to try after one that leads back to it; 0 is everything.
    pub(crate) fn after(self, attempt: u8) -> u8 {
        assert!(self.is_path() && attempt > 0, "whoever takes everything tries nothing more");
        match self {
            Proviso::PathBit => 0,
            Proviso::PathNumber if attempt + 1 == NO_ATTEMPT => 0,
            Proviso::PathNumber => attempt + 1,
            Proviso::None | Proviso::Loops | Proviso::Levels | Proviso::Always => unreachable!("it has no path"),
        }
    }
}

/// See the module.
pub struct Reduction {
    interp: Interp,
    statics: Statics,
    /// By phase; in the first one it is everything.
    looked: Vec<Vec<Expr>>,
    /// What must be kept in order instead, each by itself, as columns of what is looked at; nothing if that is not enough.
    parts: Vec<Vec<u32>>,
    fair: bool,
    selector: Selector,
    still: Option<Still>,
    repairs: Repairs,
    /// Who waits while which channel is empty (J), and the channels that are not drained in passing (K).
    awaits: Vec<(Pid, Field)>,
    brimming: Vec<u8>,
    without: Without,
    /// By phase.
    auditors: Vec<Auditor>,
    casts: RwLock<HashMap<Vec<i32>, Option<Arc<Cast>>>>,
}

/// No more casts are kept; states of others are not reduced.
const MOST_CASTS: usize = 1 << 10;
/// With more phases all is one.
const MOST_PHASES: usize = 64;

/// Why a system cannot be reduced, if so.
pub fn refusal(system: &System) -> Option<&'static str> {
    if system.uses.priorities {
        Some("priorities: who may move depends on everyone else")
    } else if system.uses.last {
        Some("`_last`: every step is seen by whoever reads it")
    } else {
        None
    }
}

impl Reduction {
    /// Of this system, which must not be refused. `looked` is what is looked at in its states, from outside; with `fair`
    /// it matters who could move.
    pub fn new(system: Arc<System>, selector: Selector, looked: &[Expr], fair: bool) -> Reduction {
        assert!(refusal(&system).is_none(), "the plan refuses it");
        let interp = Interp::new(system);
        let statics = Statics::new(interp.system(), interp.layout(), looked);
        let (looked, still, repairs) = (vec![looked.to_vec()], None, Repairs::default());
        let (awaits, brimming, parts) = (Vec::new(), Vec::new(), Vec::new());
        let (without, auditors, casts) = (Without::default(), Vec::new(), RwLock::default());
        Reduction {
            interp,
            statics,
            looked,
            parts,
            fair,
            selector,
            still,
            repairs,
            awaits,
            brimming,
            without,
            auditors,
            casts,
        }
    }

    /// The same, such that these errors of a protocol are found, though they are not looked at: J and K.
    pub fn minding(mut self, protocol: &Protocol, kinds: &[Kind]) -> Reduction {
        self.check_new();
        let lengths = |n: usize| self.interp.layout().globals.chans[protocol.channels[n].var.index()].len;
        for kind in kinds {
            match kind {
                Kind::Reception => {
                    let to = |n: &usize| (protocol.channels[*n].to.index() as Pid, lengths(*n));
                    self.awaits.extend(protocol.receptions.iter().map(to));
                }
                Kind::Overflow => {
                    let n_chans = self.interp.system().globals.chans.len();
                    let is_global = |n: &usize| protocol.channels[*n].var.index() < n_chans.min(255);
                    assert!(protocol.overflows.iter().all(is_global), "channels are numbered as their variables are");
                    let number = |n: &usize| protocol.channels[*n].var.index() as u8 + 1;
                    self.brimming.extend(protocol.overflows.iter().map(number));
                }
                // Every selection keeps ends; by the cycle condition every transition is taken somewhere.
                Kind::EndState | Kind::NonExecutable => {}
                Kind::Assertion | Kind::RuntimeError | Kind::Trace | Kind::Promise => {
                    unreachable!("machines do not fail")
                }
                Kind::Acceptance | Kind::NonProgress | Kind::Claim | Kind::Ltl => {
                    unreachable!("no finite run shows it")
                }
            }
        }
        self
    }

    /// For cycles without progress, without a proviso.
    pub fn for_progress(system: Arc<System>, selector: Selector, still: Still) -> Reduction {
        let mut reduction = Reduction::new(system, selector, &[], false);
        reduction.still = Some(still.on(reduction.interp.system(), &reduction.statics));
        reduction
    }

    /// What is looked at in each phase, as columns of what is looked at at all: the first phase has all of them.
    pub fn phased(mut self, phases: &[Vec<u32>]) -> Reduction {
        assert!(self.auditors.is_empty(), "auditors look at phases");
        assert!(self.parts.is_empty(), "who asks in parts has one phase");
        self.check_new();
        let all = 0..self.looked[0].len() as u32;
        assert!(phases.first().is_none_or(|first| all.clone().eq(first.iter().copied())), "the first has all of them");
        if phases.len() <= MOST_PHASES {
            let all = &self.looked[0];
            let rest = phases.iter().skip(1).map(|p| p.iter().map(|c| all[*c as usize].clone()).collect());
            self.looked = std::iter::once(all.clone()).chain(rest).collect();
        }
        self
    }

    /// What is asked is a boolean combination of properties that look at these columns each, and only of fair runs (see
    /// *Parts*). Nobody else may say so, and there are no phases then.
    pub fn in_parts(mut self, parts: &[Vec<u32>]) -> Reduction {
        assert!(self.auditors.is_empty(), "auditors look at parts");
        if self.without.keeps(Condition::Added) {
            assert!(self.fair, "a step that is seen could be added to a run that is not fair");
        }
        self.check_new();
        let mut all = 0..self.looked[0].len() as u32;
        assert!(all.all(|c| parts.iter().any(|part| part.contains(&c))), "whatever is looked at some part looks at");
        self.looked.truncate(1);
        self.parts = parts.to_vec();
        self
    }

    pub fn selector(&self) -> Selector {
        self.selector
    }

    /// By the papers' ways, if they are wanted.
    pub fn repaired(mut self, repairs: Repairs) -> Reduction {
        self.check_new();
        self.repairs = repairs;
        self
    }

    /// Every selection is tried out (`checked`), if that is wanted.
    pub fn audited_if(mut self, wanted: bool) -> Reduction {
        // The papers' ways keep less in order than F says.
        let fair = self.fair && self.repairs.able == AbleBy::Guards;
        let auditor = |looked: &Vec<Expr>| Auditor::new(self.interp.shared_system(), looked, &self.parts, fair);
        self.auditors = self.looked.iter().filter(|_| wanted).map(auditor).collect();
        self
    }

    /// Casts are made for what is asked, so that is settled before the first of them is made.
    fn check_new(&mut self) {
        let casts = self.casts.get_mut().expect("nothing panics while it is held");
        assert!(casts.is_empty(), "no state was met yet");
    }

    /// How many selections were tried out.
    pub fn n_audited(&self) -> u64 {
        self.auditors.iter().map(Auditor::n_audited).sum()
    }

    /// The same, for a report.
    pub fn audit_note(&self) -> Option<String> {
        (!self.auditors.is_empty()).then(|| format!("audited: {} selections", self.n_audited()))
    }

    #[doc(hidden)]
    pub fn without(mut self, condition: Condition) -> Reduction {
        self.without = Without::one(condition);
        self
    }

    fn layout(&self) -> &Layout {
        self.interp.layout()
    }

    /// Puts steps that are enough into `chosen`, in the order that they have.
    fn select(&self, desk: &mut Desk, proviso: Proviso, at: (&[u8], bool), steps: &[Step], chosen: &mut Vec<Step>) {
        chosen.clear();
        let some = desk.wish.attempt != Some(0) && self.looks(desk, at, steps) && {
            let attempt = proviso.is_path().then_some(desk.wish.attempt.unwrap_or(1));
            let rules = Rules { phase: self.phase(desk), attempt, ..self.rules(proviso.is_strict()) };
            let Desk { cast, stubborn, .. } = desk;
            cast.as_ref().is_some_and(|cast| stubborn.select(cast, at.0, steps, rules, chosen))
        };
        debug_assert!(!some || chosen.len() < steps.len(), "a selection leaves something out");
        debug_assert!(!some || !chosen.is_empty(), "emptiness");
        if !some {
            chosen.clear();
            chosen.extend_from_slice(steps);
        }
    }

    /// A selection is a matter of the state and the phase alone, and all that is asked of it is that it be closed, may be
    /// selected and has what `still` asks for (`reduced`, *Haste*).
    fn hastens(&self, proviso: Proviso) -> bool {
        let Rules { near, .. } = self.rules(false);
        let minds = self.repairs.unless == UnlessBy::Dynamic || self.repairs.able.asks_who_is_waited_for();
        let free = !self.selector.leaps() && !near && proviso.may_hasten();
        free && !minds && self.awaits.is_empty()
    }

    /// Puts the only step of a process that is safe into `chosen`, if there is one; `of` gives the steps of a process.
    fn haste(
        &self,
        desk: &Desk,
        proviso: Proviso,
        key: &[u8],
        chosen: &mut Vec<Step>,
        mut of: impl FnMut(Pid, &mut Vec<Step>),
    ) -> bool {
        let Some(cast) = &desk.cast else { return false };
        let rule = self.still_rule();
        cast.safe(key, self.phase(desk), proviso.is_strict()).any(|pid| {
            of(pid, chosen);
            let still = |rule| stubborn::keeps_still(cast, cast.stands(key), chosen.iter(), rule);
            chosen.len() == 1 && rule.is_none_or(still)
        })
    }

    /// What was chosen in haste is closed, and may be selected.
    fn check_haste(&self, desk: &Desk, proviso: Proviso, key: &[u8], offered: &[Step], chosen: &[Step]) -> bool {
        let Some(cast) = &desk.cast else { return false };
        self.check_state(cast, key, offered);
        let rules = Rules { phase: self.phase(desk), ..self.rules(proviso.is_strict()) };
        let [only] = chosen else { return false };
        stubborn::Desk::check_safe(cast, key, offered, rules, only)
    }

    fn phase(&self, desk: &Desk) -> u32 {
        if (desk.phase as usize) < self.looked.len() { desk.phase } else { 0 }
    }

    /// Puts all sets of steps that are enough, and have none in common, into `leaps`.
    fn disjoint_sets(&self, desk: &mut Desk, at: (&[u8], bool), steps: &[Step], leaps: &mut Leaps) {
        leaps.clear();
        if !self.looks(desk, at, steps) {
            return;
        }
        let Desk { cast, stubborn, of, .. } = desk;
        if let Some(cast) = cast {
            // What is looked at in any phase: so leaps are a matter of the state alone.
            stubborn.disjoint_sets(cast, at.0, steps, self.rules(false), of);
            let closes = |pid, edge| cast.flags[cast.transition(pid, edge) as usize].closes;
            leaps.set(steps, of, |s| closes(s.pid, s.edge) || s.partner.is_some_and(|(pid, edge)| closes(pid, edge)));
        }
    }

    /// Puts the state on the desk, not if nothing can be left out of it. With its key comes whether the cast on the desk is
    /// its.
    fn looks(&self, desk: &mut Desk, (key, fits): (&[u8], bool), steps: &[Step]) -> bool {
        // One process alone has no one to be left out (steps are in the order of their processes); where nothing else could
        // happen, nothing is left out.
        debug_assert!(steps.is_sorted_by(|a, b| a.pid >= b.pid), "interp M3");
        let [first, .., last] = steps else { return false };
        if first.pid == last.pid || first.timeout {
            return false;
        }
        if !fits {
            desk.cast = self.cast(key);
        }
        let Some(cast) = &desk.cast else { return false };
        self.check_state(cast, key, steps);
        desk.stubborn.clear();
        if self.without.keeps(Condition::Reception) {
            for (pid, _) in self.awaits.iter().filter(|(_, length)| length.read(key) == 0) {
                desk.stubborn.waits(*pid); // J
            }
        }
        !self.minds(cast, key, desk.wish.waited, steps)
    }

    /// Of a state and its cast, with the steps that can be taken there.
    fn check_state(&self, cast: &Cast, key: &[u8], steps: &[Step]) {
        debug_assert!(cast.fits(key), "the cast is that of the state");
        debug_assert!(cast.check_known(&self.interp, key), "witness I1");
        debug_assert!(!is_sample(key, 4) || cast.check_fixed(&self.interp, &self.statics, key), "witness I3");
        debug_assert!(!is_sample(key, 4) || self.is_kept(cast, key), "of a state there is one cast");
        debug_assert!(cast.check_offered(key, steps), "witness I4");
        debug_assert!(!self.tries_out(key) || cast.check_pairs(&self.interp, key, steps), "witness I6, I7");
    }

    /// The cast is the one that is found for the state.
    fn is_kept(&self, cast: &Cast, key: &[u8]) -> bool {
        let signature = cast::signature(self.layout(), &self.statics, key);
        let casts = self.casts.read().expect("nothing panics while it is held");
        casts.get(&signature).is_some_and(|kept| kept.as_ref().is_some_and(|kept| std::ptr::eq(&**kept, cast)))
    }

    /// In debug builds all pairs of steps are tried out in some states, if they are kept in order by us.
    fn tries_out(&self, key: &[u8]) -> bool {
        is_sample(key, 32) && self.without.is_nothing() && self.repairs == Repairs::default()
    }

    /// Nothing may be left out, because it would be minded that a handshake becomes possible (`repairs`).
    fn minds(&self, cast: &Cast, key: &[u8], waited: Option<Pid>, steps: &[Step]) -> bool {
        let can = |pid: Pid| steps.iter().any(|s| s.pid == pid);
        let offers = |pid: Pid| {
            let counts = self.without.keeps(Condition::Waited) || !can(pid);
            counts && self.without.keeps(Condition::Offered) && cast.offers(pid, key)
        };
        self.repairs.unless == UnlessBy::Dynamic && cast.is_minded(key, steps)
            || self.repairs.able.asks_who_is_waited_for() && waited.is_some_and(offers)
    }

    /// What steps led to is what they may change, if the cast on the desk is that of the state.
    fn check_fired(&self, desk: &Desk, key: &[u8], steps: &[Step], batch: &Batch, from: usize) -> bool {
        let Some(cast) = desk.cast.as_ref().filter(|cast| cast.fits(key)) else { return true };
        batch.outcomes[from..].iter().all(|outcome| {
            let after = batch.key(outcome);
            let step = &steps[outcome.step as usize];
            let check = |after| cast.check_step(&self.interp, &self.statics, key, step, after);
            let seen = |after| cast.check_seen(&self.interp, &self.looked, &self.parts, key, step, after);
            debug_assert!(step.timeout || after.is_none_or(seen), "witness I5");
            step.timeout || after.is_none_or(check)
        })
    }

    fn rules(&self, strict: bool) -> Rules {
        let near = matches!(self.selector, Selector::Povas | Selector::Lra);
        let (alone, strict) = (near || self.selector == Selector::Ample, strict && !self.selector.leaps());
        Rules { alone, near, strict, phase: 0, still: self.still_rule(), attempt: None }
    }

    fn still_rule(&self) -> Option<still::Rule> {
        self.still.as_ref().map(|still| still.rule)
    }

    #[cold]
    fn cast(&self, key: &[u8]) -> Option<Arc<Cast>> {
        let signature = cast::signature(self.layout(), &self.statics, key);
        if let Some(cast) = self.casts.read().expect("nothing panics while it is held").get(&signature) {
            return cast.clone();
        }
        let making = Making {
            system: self.interp.system(),
            statics: &self.statics,
            interp: &self.interp,
            looked: &self.looked,
            parts: &self.parts,
            fair: self.fair,
            still: self.still.as_ref(),
            repairs: self.repairs,
            brimming: &self.brimming,
            without: self.without,
        };
        let mut casts = self.casts.write().expect("nothing panics while it is held");
        if casts.len() >= MOST_CASTS {
            return None;
        }
        let number = casts.len() as u32;
        debug_assert!(casts.values().flatten().all(|cast| cast.number < number), "no two casts have one number");
        let make = || making.cast(key, number).map(Arc::new);
        let cast = casts.entry(signature).or_insert_with(make).clone();
        debug_assert!(cast.as_ref().is_none_or(|cast| cast.fits(key)), "a cast is told by its signature");
        cast
    }
}

/// Is this one of so many keys? In debug builds what is slow is looked at in some states, always the same ones.
fn is_sample(key: &[u8], one_of: u32) -> bool {
    key.iter().fold(0, |sum: u32, byte| (sum ^ u32::from(*byte)).wrapping_mul(0x0100_0193)) % one_of == 0
}

/// One thread's.
#[derive(Clone, Default)]
struct Desk {
    phase: u32,
    wish: Wish,
    cast: Option<Arc<Cast>>,
    stubborn: stubborn::Desk,
    /// Of each step the number of its set.
    of: Vec<u8>,
}

impl Desk {
    /// The cast is that of this key.
    fn fits(&self, key: &[u8]) -> bool {
        self.cast.as_ref().is_some_and(|cast| cast.fits(key))
    }
}
