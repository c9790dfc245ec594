//! What combines with what, and why that is right.
//!
//! One row per search × property × store × reduction × fairness. A cell is the reason its answer can be trusted,
//! the reason only its violations can, or the reason it is refused. `check` asks here and nowhere else, so a pair nobody
//! argued for cannot be run by accident: the table first ([`cell`], [`symmetric`]), and then what it does not say because
//! it depends on more than these ([`choose_symmetry`], [`choose_reduction`], [`refuses_reduction`]). The searches for
//! safety take any number of threads (`jobs`): the arguments are in `search/bfs.rs` and `search/dfs.rs`.

mod printed;

pub use printed::Printed;

use crate::claim::Marking;
use crate::cycles::Fairness;
use crate::progress::meaning::Progress;
use crate::reduce::{self, AbleBy, Proviso, Selector};
use crate::settings::{FairBy, Reduce, Search, Settings, Store};
use crate::symmetry::Way;
use crate::verdict::Kind;
use spinor_model::ir::System;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cell {
    Sound(&'static str),
    /// A violation is one; that none was found says little.
    OneWay(&'static str),
    Refused(&'static str),
}

/// Why leaps and fairness do not go together.
const UNFAIR: &str = "a leap is a move of several processes, and fairness asks whose a move is: --por stubborn";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Combination {
    /// Never `Auto`.
    pub search: Search,
    pub property: Kind,
    /// Never `Auto`.
    pub store: Store,
    /// How steps are selected, if some are left out.
    pub reduction: Option<Selector>,
    pub fairness: Fairness,
    /// Never `Auto`; says nothing without weak fairness.
    pub fair_by: FairBy,
}

/// What `auto` came to.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    /// For what a finite run can show, for runs that never end, and for those without progress.
    pub finite: Search,
    pub endless: Search,
    pub progress: Search,
    pub store: Store,
    pub fairness: Fairness,
    pub fair_by: FairBy,
}

impl Choice {
    pub fn of(settings: &Settings) -> Choice {
        let Settings { search, store, fairness, fair_by, .. } = *settings;
        let progress = choose_progress(search, fairness, fair_by, store);
        let (endless, by) = choose_endless(search, fair_by, store);
        let (finite, store) = choose(search, store);
        assert!(family(finite) == Family::States && store != Store::Auto, "what is chosen searches states");
        assert!(finds_cycles(endless) && !seeks_progress(endless) && by != FairBy::Auto, "what is chosen finds cycles");
        assert!(finds_cycles(progress), "what is chosen finds cycles");
        Choice { finite, endless, progress, store, fairness, fair_by: by }
    }

    /// Without a reduction.
    pub fn combination(&self, property: Kind) -> Combination {
        let search = match property {
            Kind::NonProgress => self.progress,
            _ if property.is_endless() => self.endless,
            _ => self.finite,
        };
        let Choice { store, fairness, fair_by, .. } = *self;
        Combination { search, property, store, reduction: None, fairness, fair_by }
    }
}

/// What a search goes through.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Family {
    /// It is still to be chosen.
    Open,
    States,
    Components,
    Nested,
    Progress,
}

fn family(search: Search) -> Family {
    match search {
        Search::Auto => Family::Open,
        Search::Bfs | Search::Dfs => Family::States,
        Search::Scc | Search::SccPar => Family::Components,
        Search::Ndfs | Search::NdfsSeed | Search::NdfsProcess | Search::Cndfs => Family::Nested,
        Search::Fifo | Search::FifoLevels | Search::Restarts | Search::NdfsNp => Family::Progress,
    }
}

pub fn is_nested(search: Search) -> bool {
    family(search) == Family::Nested
}

/// It knows components, so marks may be many and at moves.
pub fn knows_components(search: Search) -> bool {
    family(search) == Family::Components
}

/// Where the marks of a claim may be, for it.
pub fn marking(search: Search) -> Marking {
    if knows_components(search) { Marking::Generalised } else { Marking::States }
}

/// It looks for cycles without progress, and for nothing else.
pub fn seeks_progress(search: Search) -> bool {
    family(search) == Family::Progress
}

/// Several threads share the work.
pub fn uses_threads(search: Search) -> bool {
    match search {
        Search::Bfs | Search::Dfs | Search::SccPar | Search::Cndfs | Search::FifoLevels => true,
        Search::Auto | Search::Scc | Search::Ndfs | Search::NdfsSeed | Search::NdfsProcess => false,
        Search::Fifo | Search::Restarts | Search::NdfsNp => false,
    }
}

/// It looks for runs that never end.
pub fn finds_cycles(search: Search) -> bool {
    match family(search) {
        Family::Components | Family::Nested | Family::Progress => true,
        Family::Open | Family::States => false,
    }
}

/// The table.
pub fn cell(c: Combination) -> Cell {
    // The reduced graph is chosen before the search, and has the runs that matter to any of them (`reduce`).
    let Combination { search, property, store, reduction, fairness, fair_by } = c;
    if search == Search::Auto || store == Store::Auto || fair_by == FairBy::Auto {
        return Cell::Refused("`auto` is a request; `choose` turns it into a search and a store");
    }
    match (property.is_endless(), finds_cycles(search)) {
        (false, false) => safety(search, property, store),
        (true, true) if seeks_progress(search) => progress(c),
        (true, true) => match endless(search, store, fairness, fair_by) {
            Cell::Sound(_) | Cell::OneWay(_)
                if fairness != Fairness::None && reduction.is_some_and(Selector::leaps) =>
            {
                Cell::Refused(UNFAIR)
            }
            cell => cell,
        },
        (true, false) => Cell::Refused("it knows states and no cycles: --search scc or ndfs"),
        (false, true) => Cell::Refused("it looks for cycles; what a finite run can show is searched breadth-first"),
    }
}

/// The same for the quotient of a symmetric system.
pub fn symmetric(c: Combination) -> Cell {
    let of_quotient = quotient(c);
    let is_sound = |cell: Cell| matches!(cell, Cell::Sound(_));
    assert!(!is_sound(of_quotient) || is_sound(cell(c)), "of a quotient no more is known than of the whole");
    of_quotient
}

fn quotient(c: Combination) -> Cell {
    let plain = cell(c);
    if matches!(plain, Cell::Refused(why) if why != UNFAIR) {
        return plain;
    }
    if c.reduction.is_some() {
        return Cell::Refused("symmetry and reduction are not combined yet: --por off, or --sym off");
    }
    match c.property {
        Kind::Reception | Kind::Overflow | Kind::NonExecutable => {
            return Cell::Refused("machines of a protocol have names: --sym off");
        }
        Kind::NonProgress => {
            return Cell::Refused("cycles without progress are not searched with symmetry yet: --sym off");
        }
        Kind::Assertion | Kind::EndState | Kind::RuntimeError | Kind::Trace | Kind::Promise => {}
        Kind::Acceptance | Kind::Claim | Kind::Ltl => {}
    }
    match (c.search, c.fairness, c.fair_by) {
        (Search::Bfs | Search::Dfs, ..) => match plain {
            Cell::Sound(_) => Cell::Sound(
                "a state has the faults and the end of its images, one of which is met (symmetry/quotient.rs)",
            ),
            other => other,
        },
        (Search::Scc, Fairness::Weak, FairBy::Scc) | (Search::Scc, Fairness::Strong, _) => Cell::Sound(
            "processes are followed through a component of the quotient, name by name (symmetry/threads.rs)",
        ),
        (Search::Ndfs | Search::NdfsSeed, Fairness::Weak, FairBy::Copies) => Cell::OneWay(
            "[Bosnacki-SYM] figure 4: a fair path to an image of where it began; not all are found (symmetry/figure4.rs)",
        ),
        (search, Fairness::None, _) if is_nested(search) && c.store.is_lossy() => Cell::OneWay(
            "[Bosnacki-SYM] figure 2 beside a lossy store: both ends of a cycle are compared by their keys (cycles/lossy.rs)",
        ),
        (search, Fairness::None, _) if is_nested(search) && search != Search::Cndfs => {
            Cell::Sound("[Bosnacki-SYM] figure 2: nested search of the quotient (symmetry/quotient.rs)")
        }
        (Search::Scc | Search::SccPar | Search::Cndfs, Fairness::None, _) => {
            Cell::Sound("a claim reads the same in all images, so runs of the quotient will do (symmetry/quotient.rs)")
        }
        _ => Cell::Refused("a name is another process's after each step of the quotient: --search scc, or --sym off"),
    }
}

/// Every finite run can go on fairly, so fairness makes no difference here.
fn safety(search: Search, property: Kind, store: Store) -> Cell {
    if store.is_lossy() {
        return match search {
            Search::Dfs if property == Kind::NonExecutable => Cell::Refused(
                "a transition that seems to be executed nowhere may be executed in a state that is missed: --store tree",
            ),
            Search::Dfs => Cell::OneWay(
                "every state on the path is a real one, so a violation is; a state taken for another is not searched",
            ),
            Search::Bfs => Cell::Refused(
                "breadth-first search reads its levels back from the store, and a lossy store keeps no states: \
                 --search dfs does without",
            ),
            _ => unreachable!("no search of states"),
        };
    }
    match property {
        Kind::EndState => Cell::Sound(
            "every reachable state is asked for its steps, handshakes included, and those without any are judged",
        ),
        Kind::Reception | Kind::Overflow => Cell::Sound(
            "every reachable state is looked at once, and the condition is one of the state alone (protocol.rs)",
        ),
        Kind::NonExecutable => {
            Cell::Sound("every reachable state is expanded once, and every transition that is taken is noted")
        }
        Kind::Assertion | Kind::RuntimeError | Kind::Trace | Kind::Promise => Cell::Sound(
            "every reachable state is expanded once, all its steps are fired, and the fault is one of theirs",
        ),
        Kind::Acceptance | Kind::NonProgress | Kind::Claim | Kind::Ltl => unreachable!("no finite run shows it"),
    }
}

fn endless(search: Search, store: Store, fairness: Fairness, fair_by: FairBy) -> Cell {
    use Search::{Cndfs, Ndfs, NdfsProcess, NdfsSeed, Scc, SccPar};
    match (search, fairness, fair_by) {
        (Scc | SccPar | Cndfs, ..) if store.is_lossy() => Cell::Refused(
            "it reads states back from the store, and a lossy store keeps none: --search ndfs does without, or --store tree",
        ),
        (Ndfs | NdfsSeed | NdfsProcess, Fairness::None, _)
        | (Ndfs | NdfsSeed | NdfsProcess, Fairness::Weak, FairBy::Flags | FairBy::Copies)
            if store.is_lossy() =>
        {
            Cell::OneWay(
                "what closes a cycle is compared with the path, whose states are real; a state taken for another is not \
             searched (cycles/lossy.rs)",
            )
        }
        (SccPar, Fairness::None, _) => {
            Cell::Sound("[BLP16]: sets united along cycles by all threads become the components (cycles/union.rs)")
        }
        (SccPar, Fairness::Weak, FairBy::Scc) | (SccPar, Fairness::Strong, _) => {
            Cell::Sound("a set is judged as a component of one thread's search would be (cycles/union.rs)")
        }
        (Scc, Fairness::None, _) => {
            Cell::Sound("a component is accepted iff its moves have all marks, and each is found (cycles/scc.rs)")
        }
        (Scc, Fairness::Weak, FairBy::Scc) => Cell::Sound(
            "a component has a weakly fair run iff each process somewhere moves or is not able to (cycles/scc.rs)",
        ),
        (Scc | SccPar, Fairness::Weak, FairBy::Flags | FairBy::Copies | FairBy::Auto) => {
            Cell::Refused("flags and copies are states for nested search: --search ndfs, or --fair-by scc")
        }
        (Scc, Fairness::Strong, _) => Cell::Sound(
            "states where a process is able to move that never does are removed until the rest is fair (cycles/scc.rs)",
        ),
        (Cndfs, Fairness::None, _) => {
            Cell::Sound("[ELPP12]: threads share blue and red states and wait for red searches (cycles/cndfs.rs)")
        }
        (Ndfs | NdfsSeed | NdfsProcess, Fairness::None, _) => Cell::Sound(
            "[HPY96] figures 2 and 4: the second search from an accepting state closes a cycle (cycles/ndfs.rs)",
        ),
        (Ndfs | NdfsSeed | NdfsProcess | Cndfs, Fairness::Weak, FairBy::Flags) => Cell::Sound(
            "[Bosnacki-POR] figures 4 and 5, repaired: a lap in which each process is served (cycles/fair.rs)",
        ),
        (Ndfs | NdfsSeed | NdfsProcess | Cndfs, Fairness::Weak, FairBy::Copies) => {
            Cell::Sound("[Bosnacki-SYM] figure 3: one copy a process, left when it is served (cycles/fair.rs)")
        }
        (Ndfs | NdfsSeed | NdfsProcess | Cndfs, Fairness::Weak, FairBy::Scc | FairBy::Auto) => {
            Cell::Refused("nested search knows no components: --fair-by flag or copies")
        }
        (Ndfs | NdfsSeed | NdfsProcess | Cndfs, Fairness::Strong, _) => {
            Cell::Refused("strong fairness asks about sets of states, and nested search knows one cycle: --search scc")
        }
        (Search::Auto | Search::Bfs | Search::Dfs, ..) => unreachable!("it knows no cycles"),
        (Search::Fifo | Search::FifoLevels | Search::Restarts | Search::NdfsNp, ..) => {
            unreachable!("it knows no acceptance")
        }
    }
}

/// What is known of a question when it is decided which steps may be left out.
#[derive(Clone, Copy, Debug)]
pub struct Asking {
    /// As it would be without a reduction.
    pub combination: Combination,
    pub wanted: Reduce,
    /// It was asked for, or how it is to be done: if it is not, that is said.
    pub by_name: bool,
    pub plain: bool,
    /// Every violation is to be counted.
    pub counts_all: bool,
    /// One state stands for its images.
    pub symmetric: bool,
    /// Who looks at the runs cannot tell how long they stay where nothing is to be seen.
    pub stutter_invariant: bool,
    /// It names operations.
    pub sees_steps: bool,
    /// Why it may not be, whatever the table says.
    pub refusal: Option<&'static str>,
}

/// How steps are left out of a search, and if they are not, why not.
pub fn choose_reduction(asking: Asking) -> (Option<Selector>, Option<&'static str>) {
    let by = match asking.wanted {
        Reduce::Off => return (None, None),
        Reduce::Auto => Selector::Stubborn,
        Reduce::By(selector) => selector,
    };
    let c = Combination { reduction: Some(by), ..asking.combination };
    let why = match (asking, if asking.symmetric { symmetric(c) } else { cell(c) }) {
        (Asking { plain: true, wanted: Reduce::By(_), .. }, _) => "--plain leaves no steps out",
        (Asking { plain: true, .. }, _) => return (None, None),
        (Asking { refusal: Some(why), .. }, _) => why,
        (_, Cell::Refused(why)) => why,
        // Who asks for both is told the number in the smaller graph.
        (Asking { counts_all: true, wanted: Reduce::Auto, .. }, _) => {
            "all violations are to be counted, and fewer steps show fewer of them"
        }
        (Asking { stutter_invariant: false, sees_steps: true, .. }, _) => {
            "the property is not known to be the same for runs with more steps in which nothing happens that it names"
        }
        (Asking { stutter_invariant: false, .. }, _) => {
            "the property is not known to be the same for runs that stay longer in some states"
        }
        (_, cell_now @ (Cell::Sound(_) | Cell::OneWay(_))) => {
            let before = cell(asking.combination);
            let is_sound = |cell: Cell| matches!(cell, Cell::Sound(_));
            assert!(!is_sound(cell_now) || is_sound(before), "of fewer steps no more is known than of all");
            return (Some(by), None);
        }
    };
    (None, Some(why))
}

/// Which symmetry is looked for; and if one was asked for by name and is not, why not. What nobody asked for is used only where
/// it says as much as no symmetry.
pub fn choose_symmetry(c: Combination, wanted: Way, counts_all: bool) -> (Way, Option<&'static str>) {
    let why = match c.property {
        Kind::NonProgress => Some("cycles without progress are not searched with it yet"),
        kind if counts_all && !kind.is_endless() => {
            Some("all violations are to be counted, and one would stand for several")
        }
        _ => None,
    };
    match (wanted, symmetric(c), cell(c)) {
        (Way::Off, ..) => (Way::Off, None),
        (Way::Auto, ..) if why.is_some() => (Way::Off, None),
        (Way::Auto, Cell::Sound(_), Cell::Sound(_)) => (Way::Auto, None),
        // Fairness in a quotient misses more than a lossy store does.
        (Way::Auto, Cell::OneWay(_), Cell::OneWay(_)) if c.fairness == Fairness::None || !c.property.is_endless() => {
            (Way::Auto, None)
        }
        (Way::Auto, ..) => (Way::Off, None),
        (way, ..) => (if why.is_some() { Way::Off } else { way }, why),
    }
}

/// What the table does not say of cycles without progress and a reduction, because it depends on what makes progress.
fn refuses_progress(search: Search, progress: Progress, leaps: bool) -> Option<&'static str> {
    match (family(search), progress) {
        (Family::Progress, Progress::States) if leaps => Some(
            "states that make progress would be passed in the middle of a leap: --progress steps, or --por stubborn",
        ),
        (Family::Progress, _) | (_, Progress::States) => None,
        (_, Progress::Steps) => {
            Some("steps that make progress are searched whole by it: --search fifo, fifo-levels or restarts")
        }
    }
}

/// Which proviso a search uses. `levels` is breadth-first search's own: any other search has `loops` instead, which is the
/// same for every search and any number of threads. (Levels leave more out of some systems and less of others, and nobody
/// knows beforehand of which.)
pub fn choose_proviso(wanted: Proviso, search: Search) -> Proviso {
    match wanted {
        Proviso::Levels if search == Search::Bfs => Proviso::Levels,
        Proviso::PathNumber | Proviso::PathBit => wanted,
        Proviso::None | Proviso::Loops | Proviso::Levels | Proviso::Always => Proviso::Loops,
    }
}

/// Leaps are a matter of the state alone.
fn refuses_leaps(proviso: Proviso, leaps: bool) -> Option<&'static str> {
    (leaps && proviso.is_path()).then_some("leaps do not depend on a path: --proviso loops or levels")
}

/// Of cycles without progress.
const BY_STATE_ALONE: &str = "for cycles without progress steps are selected by the state alone: --proviso loops, --able-by guards, --unless-by guards";

/// corpus/regressions/R04_parity_claim.pml
pub const NO_STUTTER_FORM: &str = "the automaton is in no form in which it cannot tell how often a state is repeated, and \
     selections that depend on more than the state would be told: --proviso loops, --able-by guards";

/// Why steps may not be left out, as far as that is said neither by the table nor by the claim: because of the system, or
/// of what is asked for together.
pub fn refuses_reduction(settings: &Settings, system: &System, c: Combination) -> Option<&'static str> {
    let (leaps, fly) = (settings.reduce.leaps(), OnTheFly::of(settings, c));
    let by_search = || match c.property {
        Kind::NonProgress if fly.is_wanted() || settings.repairs.departs(settings.fairness) => Some(BY_STATE_ALONE),
        Kind::NonProgress => refuses_progress(c.search, settings.progress, leaps),
        _ => fly.refusal(),
    };
    reduce::refusal(system).or(refuses_leaps(settings.proviso, leaps)).or_else(by_search)
}

/// A claim has to be in stutter form, because steps are to be left out by more than the state.
pub fn wants_stutter_form(settings: &Settings, c: Combination) -> bool {
    let reduces = !settings.plain && settings.reduce != Reduce::Off;
    reduces && c.property != Kind::NonProgress && OnTheFly::of(settings, c).is_wanted()
}

/// What depends on more than a state: the path, or who is waited for.
#[derive(Clone, Copy, Debug)]
struct OnTheFly {
    proviso: Proviso,
    able_by: AbleBy,
    search: Search,
    fairness: Fairness,
    jobs: usize,
    /// States are not kept, so nothing can be remembered beside them.
    lossy: bool,
}

impl OnTheFly {
    fn of(settings: &Settings, c: Combination) -> OnTheFly {
        let Settings { proviso, fairness, jobs, .. } = *settings;
        let (search, lossy) = (c.search, c.store.is_lossy());
        OnTheFly { proviso, able_by: settings.repairs.able, search, fairness, jobs, lossy }
    }

    /// The claim has to be in stutter form.
    fn is_wanted(&self) -> bool {
        self.proviso.is_path() || self.waits()
    }

    fn waits(&self) -> bool {
        self.able_by.waits(self.fairness)
    }

    /// Why it cannot be.
    fn refusal(&self) -> Option<&'static str> {
        let stack = self.proviso.is_path();
        let nested = matches!(self.search, Search::Ndfs | Search::NdfsSeed | Search::Cndfs);
        match self.search {
            Search::Bfs if stack => Some("breadth-first search has no path: --search dfs, or --proviso levels"),
            Search::Dfs if stack && self.jobs > 1 => {
                Some("of several paths none has all that may lead back to a state: -j 1, or --proviso loops")
            }
            Search::Dfs if self.proviso == Proviso::Levels => {
                Some("depth-first search has no levels: --search bfs, or --proviso loops")
            }
            Search::Bfs | Search::Dfs => None,
            // corpus/figures/hpy_figure_3.pml
            Search::NdfsSeed if stack => Some(
                "a second search that goes on through the path meets states that have no selection yet: --search ndfs",
            ),
            _ if stack && self.lossy => Some(
                "a choice is remembered beside its state, and a lossy store keeps none: --proviso loops, or --store tree",
            ),
            search if stack && search != Search::Ndfs => {
                Some("a selection by the path is one of nested search: --search ndfs, or --proviso loops")
            }
            _ if stack && self.waits() => {
                Some("a default move may lead back to the path: --able-by guards or static, or --proviso loops")
            }
            _ if self.waits() && !nested => Some("nobody is waited for: --search ndfs, or --able-by guards or static"),
            _ => None,
        }
    }
}

/// The searches that know nothing but progress. The arguments say nothing of what makes progress, states or steps, nor
/// whose counts.
fn progress(c: Combination) -> Cell {
    let Combination { search, property, store, reduction, fairness, .. } = c;
    match (search, fairness) {
        _ if property != Kind::NonProgress => {
            Cell::Refused("it knows progress and no acceptance: --search scc or ndfs")
        }
        _ if store.is_lossy() && search != Search::Fifo => Cell::Refused(
            "it reads states back from the store, and a lossy store keeps none: --search fifo does without, or --store tree",
        ),
        (_, Fairness::Weak | Fairness::Strong) => Cell::Refused(
            "the cycle that it closes first may be an unfair one, and a fair one through the same states is not looked \
             for: --search scc takes the part without progress by components",
        ),
        _ if store.is_lossy() => Cell::OneWay(
            "a cycle closes on the path, whose states are real; a state taken for another is not searched (progress/walk.rs)",
        ),
        (Search::NdfsNp, Fairness::None) if reduction.is_some() => {
            Cell::Refused("[HPY96] has it without reduction, for comparison: --search fifo, or --por off")
        }
        (Search::Fifo | Search::FifoLevels | Search::Restarts, Fairness::None) if reduction.is_some() => Cell::Sound(
            "one selected step makes no progress, or none leads to any; the same cycles after as little progress \
             (reduce/still.rs)",
        ),
        (Search::Restarts, Fairness::None) => Cell::Sound(
            "[FaragoSchmitt] listings 3 and 4, repaired, and a last look by second searches (progress/restarts.rs)",
        ),
        (Search::NdfsNp, Fairness::None) => Cell::Sound(
            "[HPY96] figure 5: the second searches together are one of the part without progress (progress/nested.rs)",
        ),
        (Search::Fifo, Fairness::None) => Cell::Sound(
            "[FaragoSchmitt] listing 5, repaired: states are met with as little progress as can be (progress/fifo.rs)",
        ),
        (Search::FifoLevels, Fairness::None) => Cell::Sound(
            "[LF13]: a state is left, for all threads, after what follows it without progress (progress/levels.rs)",
        ),
        _ => unreachable!("no search for progress"),
    }
}

/// What `auto` means for what a finite run can show.
pub fn choose(search: Search, store: Store) -> (Search, Store) {
    let store = match store {
        Store::Auto => Store::Tree,
        store => store,
    };
    let search = match family(search) {
        Family::States => search,
        Family::Open | Family::Components | Family::Nested | Family::Progress => {
            if store.is_lossy() {
                Search::Dfs
            } else {
                Search::Bfs
            }
        }
    };
    (search, store)
}

/// What it means for runs that never end.
pub fn choose_endless(search: Search, fair_by: FairBy, store: Store) -> (Search, FairBy) {
    let search = match family(search) {
        Family::Components | Family::Nested => search,
        Family::Open | Family::States | Family::Progress => match fair_by {
            FairBy::Flags | FairBy::Copies => Search::Ndfs,
            FairBy::Auto | FairBy::Scc => {
                if store.is_lossy() {
                    Search::Ndfs
                } else {
                    Search::Scc
                }
            }
        },
    };
    let fair_by = match fair_by {
        FairBy::Auto if is_nested(search) => FairBy::Flags,
        FairBy::Auto => FairBy::Scc,
        by => by,
    };
    (search, fair_by)
}

/// What it means for cycles without progress. The number of threads makes no difference to what is told.
pub fn choose_progress(search: Search, fairness: Fairness, fair_by: FairBy, store: Store) -> Search {
    match family(search) {
        Family::Open | Family::States if fairness == Fairness::None => Search::Fifo,
        Family::Progress => search,
        Family::Open | Family::States | Family::Components | Family::Nested => choose_endless(search, fair_by, store).0,
    }
}

#[cfg(test)]
mod tests {
    use super::printed::rows;
    use super::*;

    #[test]
    fn every_property_has_a_sound_search_for_each_fairness_and_a_refusal_says_the_way() {
        for property in Kind::ALL {
            for fairness in Fairness::ALL {
                let sound = |(c, cell): &(Combination, Cell)| {
                    c.property == property && c.fairness == fairness && matches!(cell, Cell::Sound(_))
                };
                assert!(rows(cell).iter().any(sound), "{property} {fairness:?}");
            }
        }
        for (c, cell) in rows(cell) {
            match cell {
                Cell::Sound(why) => {
                    assert!(!why.is_empty() && !c.store.is_lossy(), "{c:?}");
                    assert_eq!(finds_cycles(c.search), c.property.is_endless(), "{c:?}");
                    assert!(!seeks_progress(c.search) || c.property == Kind::NonProgress, "{c:?}");
                }
                Cell::OneWay(_) => {
                    let nested = matches!(c.search, Search::Ndfs | Search::NdfsSeed | Search::NdfsProcess);
                    assert!(c.store.is_lossy() && (nested || matches!(c.search, Search::Dfs | Search::Fifo)), "{c:?}")
                }
                Cell::Refused(why) => assert!(why.contains("--") || why.contains("breadth-first"), "{c:?}: {why}"),
            }
        }
    }

    #[test]
    fn auto_is_never_a_row_and_always_becomes_one() {
        assert!(rows(cell).iter().all(|(c, _)| c.search != Search::Auto && c.store != Store::Auto));
        assert_eq!(choose(Search::Auto, Store::Auto).0, Search::Bfs);
        assert_eq!(choose(Search::Dfs, Store::Arena), (Search::Dfs, Store::Arena));
        for store in [Store::Bitstate, Store::HashCompact] {
            assert_eq!(choose(Search::Auto, store), (Search::Dfs, store));
            assert_eq!(choose(Search::Bfs, store), (Search::Bfs, store), "a request is not changed");
        }
        assert_eq!(choose(Search::Ndfs, Store::Auto).0, Search::Bfs);
        for fair_by in [FairBy::Auto, FairBy::Scc, FairBy::Flags, FairBy::Copies] {
            for search in Search::ALL {
                let progress = choose_progress(search, Fairness::None, fair_by, Store::Auto);
                assert!(finds_cycles(progress) && (!seeks_progress(search) || progress == search));
                let (search, by) = choose_endless(search, fair_by, Store::Auto);
                assert!(finds_cycles(search) && !seeks_progress(search) && by != FairBy::Auto);
            }
            for fairness in Fairness::ALL {
                let chosen = choose_progress(Search::Auto, fairness, fair_by, Store::Auto);
                let fair = fairness != Fairness::None;
                assert_eq!(
                    chosen,
                    if fair { choose_endless(Search::Auto, fair_by, Store::Auto).0 } else { Search::Fifo }
                );
            }
            let (search, by) = choose_endless(Search::Auto, fair_by, Store::Auto);
            assert!(matches!(endless(search, Store::Tree, Fairness::Weak, by), Cell::Sound(_)), "{fair_by:?}");
            let (search, by) = choose_endless(Search::Auto, fair_by, Store::Bitstate);
            let cell = endless(search, Store::Bitstate, Fairness::Weak, by);
            assert_eq!(matches!(cell, Cell::OneWay(_)), fair_by != FairBy::Scc, "{fair_by:?}");
        }
    }

    #[test]
    fn symmetry_answers_no_more_than_the_search_does_without() {
        for (c, without) in rows(cell) {
            if c.reduction.is_some() {
                assert!(matches!(symmetric(c), Cell::Refused(_)), "{c:?}");
            }
            match (symmetric(c), without) {
                (Cell::Sound(_), other) => assert!(matches!(other, Cell::Sound(_)), "{c:?}"),
                (Cell::OneWay(_), other) => assert!(!matches!(other, Cell::Refused(_)), "{c:?}"),
                (Cell::Refused(why), _) => assert!(why.contains("--") || why.contains("breadth-first"), "{why}"),
            }
        }
    }
}
