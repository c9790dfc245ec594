//! What the user asked for.

use crate::clock::memory_bytes;
use crate::cycles::Fairness;
use crate::progress::meaning::Progress;
use crate::reduce::still::HowMany;
use crate::reduce::{Proviso, Repairs, Selector};
use crate::symmetry::Way;
use crate::verdict::{Kind, SAFETY};
use spinor_model::optimise::Optimisations;
use spinor_model::protocol::Protocol;
use std::time::Duration;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    pub search: Search,
    pub select: Selection,
    /// `None`: a property is no longer looked for once it is violated. `Some(n)`: the search goes on to the end,
    /// counts every violation and keeps at most `n` traces a property (0: all of them).
    pub all_errors: Option<usize>,
    pub store: Store,
    /// What runs must be, to count as violations.
    pub fairness: Fairness,
    pub fair_by: FairBy,
    pub reduce: Reduce,
    pub proviso: Proviso,
    /// Where steps make progress, what is selected (`reduce/still.rs`).
    pub still: HowMany,
    /// Who sees to handshakes that become possible.
    pub repairs: Repairs,
    /// Every selection of steps is tried out, which is slow.
    pub audit: bool,
    /// How one state stands for its images, if processes can change places.
    pub symmetry: Way,
    /// What makes progress, and whose counts: a proctype, or `P[pid]`.
    pub progress: Progress,
    pub progress_of: Option<String>,
    /// The clean semantics: no reduction, no static optimisation.
    pub plain: bool,
    /// The static optimisations, each by itself.
    pub optimise: Optimisations,
    pub max_depth: Option<u32>,
    pub max_time: Option<Duration>,
    /// Bytes that the program may hold.
    pub max_memory: Option<u64>,
    /// Bytes of a store whose size is fixed beforehand.
    pub table: Option<u64>,
    /// Threads that may search.
    pub jobs: usize,
    /// A trace is replaced by one with fewer moves or statements, if one is found with bounded effort; a lasso is
    /// shortened.
    pub shorten: bool,
    /// Of a protocol: what is asked besides.
    pub protocol: Option<Protocol>,
}

/// Traces kept a property when `--all-errors` names no number.
pub const DEFAULT_TRACES: usize = 10;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Search {
    /// By the question: for finite runs `Bfs`, or `Dfs` if the store cannot give a state back; for runs that never end
    /// `Scc`, or `Ndfs`; for progress `Fifo` (`plan::choose` and its like).
    #[default]
    Auto,
    Dfs,
    Bfs,
    /// Components. From here on the searches for runs that never end; end states and the like are then searched as
    /// with `Auto`.
    Scc,
    /// Nested depth-first search up to the first search's path, and up to its seed.
    Ndfs,
    NdfsSeed,
    /// Up to its seed, process by process.
    NdfsProcess,
    /// Components and nested depth-first search by several threads.
    SccPar,
    Cndfs,
    /// For cycles without progress alone: from a queue of progress, by levels of it, again and again with more of it, and
    /// with a second search from every state. Other runs that never end are then searched as with `Auto`.
    Fifo,
    FifoLevels,
    Restarts,
    NdfsNp,
}

/// How weak fairness is decided.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum FairBy {
    /// By the components themselves where the search knows them, else by flags.
    #[default]
    Auto,
    Scc,
    Flags,
    Copies,
}

/// Which steps may be left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Reduce {
    /// As many as can be, where that is known to be right.
    #[default]
    Auto,
    Off,
    /// All but those selected in this way.
    By(Selector),
}

impl Reduce {
    /// It is asked for steps of several processes as one.
    pub fn leaps(self) -> bool {
        matches!(self, Reduce::By(by) if by.leaps())
    }
}

/// How states are kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Store {
    #[default]
    Auto,
    Tree,
    Arena,
    Bitstate,
    HashCompact,
}

/// Names of properties; `all` and `safety` are names too. By default it is everything.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Selection(Vec<String>);

impl Default for Selection {
    fn default() -> Selection {
        Selection::of(["all"])
    }
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            search: Search::Auto,
            select: Selection::default(),
            all_errors: None,
            store: Store::Auto,
            fairness: Fairness::None,
            fair_by: FairBy::Auto,
            reduce: Reduce::Auto,
            proviso: Proviso::Loops,
            still: HowMany::One,
            repairs: Repairs::default(),
            audit: false,
            symmetry: Way::Auto,
            progress: Progress::States,
            progress_of: None,
            plain: false,
            optimise: Optimisations::ALL,
            max_depth: None,
            max_time: None,
            max_memory: None,
            table: None,
            jobs: 1,
            shorten: true,
            protocol: None,
        }
    }
}

impl Settings {
    /// The optimisations that are wanted.
    pub fn optimisations(&self) -> Optimisations {
        if self.plain { Optimisations::NONE } else { self.optimise }
    }

    /// The memory that the user allows, less what the program holds by now, native code and all.
    pub(crate) fn memory_left(&self) -> u64 {
        self.max_memory.map_or(u64::MAX, |n| n.saturating_sub(memory_bytes()))
    }

    /// Somebody has decided about leaving out steps: whether that is worth while is not asked.
    pub fn forces_reduction(&self) -> bool {
        self.reduce != Reduce::Auto
    }

    /// Somebody has said how steps are to be left out.
    pub fn shapes_reduction(&self) -> bool {
        self.proviso != Proviso::Loops || self.repairs.departs(self.fairness) || self.audit
    }

    /// The symmetry that is wanted. Who asks for a reduction, or for a count of something, gets none that was not
    /// asked for.
    pub fn way(&self) -> Way {
        let reduces = matches!(self.reduce, Reduce::By(_)) || self.shapes_reduction();
        match self.symmetry {
            Way::Auto if self.plain || reduces || self.all_errors.is_some() => Way::Off,
            way => way,
        }
    }
}

impl Search {
    /// All but the choice among them.
    pub const ALL: [Search; 12] = [
        Search::Bfs,
        Search::Dfs,
        Search::Scc,
        Search::SccPar,
        Search::Ndfs,
        Search::NdfsSeed,
        Search::NdfsProcess,
        Search::Cndfs,
        Search::Fifo,
        Search::FifoLevels,
        Search::Restarts,
        Search::NdfsNp,
    ];

    pub fn word(self) -> &'static str {
        match self {
            Search::Auto => "auto",
            Search::Dfs => "dfs",
            Search::Bfs => "bfs",
            Search::Scc => "scc",
            Search::Ndfs => "ndfs",
            Search::NdfsSeed => "ndfs-seed",
            Search::NdfsProcess => "ndfs-process",
            Search::SccPar => "scc-par",
            Search::Cndfs => "cndfs",
            Search::Fifo => "fifo",
            Search::FifoLevels => "fifo-levels",
            Search::Restarts => "restarts",
            Search::NdfsNp => "ndfs-np",
        }
    }
}

impl FairBy {
    pub const ALL: [FairBy; 4] = [FairBy::Auto, FairBy::Scc, FairBy::Flags, FairBy::Copies];

    pub fn word(self) -> &'static str {
        match self {
            FairBy::Auto => "auto",
            FairBy::Scc => "scc",
            FairBy::Flags => "flag",
            FairBy::Copies => "copies",
        }
    }
}

impl Store {
    /// All but the choice among them.
    pub const ALL: [Store; 4] = [Store::Tree, Store::Arena, Store::HashCompact, Store::Bitstate];

    pub fn word(self) -> &'static str {
        match self {
            Store::Auto => "auto",
            Store::Tree => "tree",
            Store::Arena => "arena",
            Store::Bitstate => "bitstate",
            Store::HashCompact => "hashcompact",
        }
    }

    /// It may take one state for another.
    pub fn is_lossy(self) -> bool {
        match self {
            Store::Bitstate | Store::HashCompact => true,
            Store::Auto | Store::Tree | Store::Arena => false,
        }
    }
}

impl Selection {
    pub fn of<S: Into<String>>(names: impl IntoIterator<Item = S>) -> Selection {
        Selection(names.into_iter().map(S::into).collect())
    }

    /// What SPIN's verifier answers without reduction, in one search whose counts are the same. There it checks no promises,
    /// so these are not part of it.
    pub fn safety() -> Selection {
        Selection::of(["safety"])
    }

    /// Whether a property of this name was asked for.
    pub fn has(&self, name: &str, kind: Kind) -> bool {
        let is_safety = SAFETY.contains(&kind) && kind != Kind::Promise;
        let meant = |n: &String| n == name || n == "all" || n == "safety" && is_safety;
        self.0.iter().any(meant)
    }

    /// Whether it was asked for by its own name.
    pub fn names(&self, name: &str) -> bool {
        self.0.iter().any(|n| n == name)
    }

    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}
