//! What is run on a model, as a table: a mode is two sides that take turns.
//!
//! A new comparison (reduction, LTL, bitstate) is a new row here and nothing else.

/// One of the two programs and the flags it gets.
#[derive(Clone, Copy, Debug)]
pub enum Side {
    Spin { generate: &'static [&'static str], compile: &'static [&'static str], verify: &'static [&'static str] },
    Spinor { name: &'static str, check: &'static [&'static str] },
}

impl Side {
    pub fn name(&self) -> &'static str {
        match self {
            Side::Spin { .. } => "spin",
            Side::Spinor { name, .. } => name,
        }
    }
}

/// How the counts of the two sides stand to each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Counts {
    /// The same stored states and transitions: it is the same graph. Anything else is a bug.
    Equal,
    /// They may differ; the second side is to store no more states than the first.
    NoMore,
}

/// What a mode is about, and so what of it is repeated and summed up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Judged {
    /// CPU time of the search alone; SPIN's verifier is made once, before.
    Search,
    /// CPU time from the model's text to the answer: SPIN generates and compiles in every repetition.
    EndToEnd,
    /// Wall time of the search.
    Wall,
    /// Stored states. They are the same every time, so there is one repetition.
    Stored,
}

#[derive(Clone, Copy, Debug)]
pub struct Mode {
    pub name: &'static str,
    pub about: &'static str,
    pub sides: [Side; 2],
    pub counts: Counts,
    pub judged: Judged,
    /// Sizes outside of these stored states are not run.
    pub states: (u64, u64),
    /// Also SPIN's installed examples, all of them, as they are.
    pub examples: bool,
}

const ANY: (u64, u64) = (0, u64::MAX);

/// The whole graph: no optimisation, no reduction, no claim, and on past errors, which some of the examples have. The
/// depth bound is added when it is known.
const SPIN_PLAIN: Side = Side::Spin {
    generate: &["-o1", "-o2", "-o3"],
    compile: &["-DSAFETY", "-DNOREDUCE", "-DNOCLAIM"],
    verify: &["-n", "-c0"],
};

const SPINOR_PLAIN: Side =
    Side::Spinor { name: "spinor", check: &["--plain", "--search", "bfs", "--all-errors", "-p", "safety", "-j", "1"] };

pub const MODES: &[Mode] = &[
    Mode {
        name: "plain",
        about: "every state and transition of the model, one thread",
        sides: [SPIN_PLAIN, SPINOR_PLAIN],
        counts: Counts::Equal,
        judged: Judged::Search,
        states: ANY,
        examples: false,
    },
    Mode {
        name: "plain-dfs",
        about: "the same, both depth-first",
        sides: [
            SPIN_PLAIN,
            Side::Spinor {
                name: "spinor",
                check: &["--plain", "--search", "dfs", "--all-errors", "-p", "safety", "-j", "1"],
            },
        ],
        counts: Counts::Equal,
        judged: Judged::Search,
        states: ANY,
        examples: false,
    },
    Mode {
        name: "end-to-end",
        about: "from the model's text to the answer, with SPIN's generation and compilation",
        sides: [SPIN_PLAIN, SPINOR_PLAIN],
        counts: Counts::Equal,
        judged: Judged::EndToEnd,
        states: (0, 150_000),
        examples: false,
    },
    Mode {
        name: "threads",
        about: "Spinor with two threads against one",
        sides: [
            Side::Spinor {
                name: "one thread",
                check: &["--plain", "--search", "bfs", "--all-errors", "-p", "safety", "-j", "1"],
            },
            Side::Spinor {
                name: "two threads",
                check: &["--plain", "--search", "bfs", "--all-errors", "-p", "safety", "-j", "2"],
            },
        ],
        counts: Counts::Equal,
        judged: Judged::Wall,
        states: (500_000, u64::MAX),
        examples: false,
    },
    Mode {
        name: "default",
        about: "what is stored with each tool's own optimisations, without reduction",
        sides: [
            Side::Spin { generate: &[], compile: &["-DSAFETY", "-DNOREDUCE", "-DNOCLAIM"], verify: &["-n", "-c0"] },
            Side::Spinor { name: "spinor", check: &["--all-errors", "-p", "safety", "-j", "1"] },
        ],
        counts: Counts::NoMore,
        judged: Judged::Stored,
        states: ANY,
        examples: true,
    },
];

pub fn named(name: &str) -> Option<&'static Mode> {
    MODES.iter().find(|m| m.name == name)
}
