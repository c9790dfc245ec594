//! What the user asked for.

use std::time::Duration;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    pub search: Search,
    pub select: Selection,
    /// `None`: a property is no longer looked for once it is violated. `Some(n)`: the search goes on to the end,
    /// counts every violation and keeps at most `n` traces a property (0: all of them).
    pub all_errors: Option<usize>,
    /// The clean semantics: no reduction, no static optimisation.
    pub plain: bool,
    pub max_depth: Option<u32>,
    pub max_time: Option<Duration>,
    /// Bytes of the store and of what the search keeps beside it.
    pub max_memory: Option<u64>,
    /// A trace found depth-first is replaced by a shortest one.
    pub shorten: bool,
}

/// Traces kept a property when `--all-errors` names no number.
pub const DEFAULT_TRACES: usize = 10;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Search {
    /// Breadth-first, so far.
    #[default]
    Auto,
    Dfs,
    Bfs,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Selection {
    #[default]
    All,
    /// Assertions, end states, run-time errors and the trace assertion: one search, whose counts are SPIN's.
    Safety,
    /// Names of properties; `all` and `safety` are names too.
    Names(Vec<String>),
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            search: Search::Auto,
            select: Selection::All,
            all_errors: None,
            plain: false,
            max_depth: None,
            max_time: None,
            max_memory: None,
            shorten: true,
        }
    }
}

impl Search {
    pub fn word(self) -> &'static str {
        match self {
            Search::Auto => "auto",
            Search::Dfs => "dfs",
            Search::Bfs => "bfs",
        }
    }
}

impl Selection {
    /// Whether a property of this name was asked for; `safe` says whether it belongs to `safety`.
    pub fn has(&self, name: &str, safe: bool) -> bool {
        match self {
            Selection::All => true,
            Selection::Safety => safe,
            Selection::Names(names) => names.iter().any(|n| n == name || n == "all" || n == "safety" && safe),
        }
    }

    /// Whether it was asked for by its own name.
    pub fn names(&self, name: &str) -> bool {
        matches!(self, Selection::Names(names) if names.iter().any(|n| n == name))
    }
}
