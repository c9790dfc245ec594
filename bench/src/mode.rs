//! What is run on a model, as a table: a mode is two sides, or more, that take turns.
//!
//! A new comparison (reduction, bitstate) is a new row here and nothing else.

/// One of the two programs and the flags it gets.
#[derive(Clone, Copy, Debug)]
pub enum Side {
    Spin { generate: &'static [&'static str], compile: &'static [&'static str], verify: &'static [&'static str] },
    Spinor { name: &'static str, check: &'static [&'static str] },
}

impl Mode {
    /// The two that are compared.
    pub fn pair(&self) -> [&'static str; 2] {
        [self.sides[0].name(), self.sides[1].name()]
    }
}

impl Side {
    pub fn name(&self) -> &'static str {
        match self {
            Side::Spin { .. } => "spin",
            Side::Spinor { name, .. } => name,
        }
    }
}

/// How the counts of the first two sides stand to each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Counts {
    /// The same stored states and transitions: it is the same graph. Anything else is a bug.
    Equal,
    /// They may differ; the second side is to store no more states than the first.
    NoMore,
    /// They may differ either way: each tool has its own automaton for a formula.
    Free,
}

/// What all sides are to answer. Anything else is a bug of one of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// The model's own matter: the search goes on past errors.
    Any,
    Holds,
    /// It holds, or a search that may miss what there is has found nothing.
    NotViolated,
    Violated,
}

/// Which models have what a mode asks about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Models {
    All,
    /// Those in `models/`: each has a formula `holds` and one that is `broken`.
    Ours,
    /// Those in `models/symmetric/`: processes can change places, and both formulas speak of weak fairness.
    Symmetric,
    /// Families that grow by a process at a time.
    Named(&'static [&'static str]),
}

/// What a mode is about, and so what of it is repeated and summed up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Judged {
    /// CPU time of the search alone; SPIN's verifier is made once, before. Summed up over the sizes from so many stored
    /// states on.
    Search { from: u64 },
    /// CPU time from the model's text to the answer: SPIN generates and compiles in every repetition.
    EndToEnd,
    /// Wall time of the search.
    Wall,
    /// Stored states, until a violation where there is one. They are the same every time, so there is one repetition.
    Stored,
    /// Nothing: states, CPU time and memory of every side stand beside each other.
    Nothing,
}

#[derive(Clone, Copy, Debug)]
pub struct Mode {
    pub name: &'static str,
    pub about: &'static str,
    /// What is judged is the second beside the first.
    pub sides: &'static [Side],
    pub counts: Counts,
    pub judged: Judged,
    pub answer: Answer,
    pub models: Models,
    /// Sizes outside of these stored states, of the model alone, are not run.
    pub states: (u64, u64),
    /// Also SPIN's installed examples, all of them, as they are.
    pub examples: bool,
}

const ANY: (u64, u64) = (0, u64::MAX);
/// Below, start-up is a part of what is measured.
const SEARCH: Judged = Judged::Search { from: 1_000_000 };

/// The whole graph: no optimisation, no reduction, no claim, and on past errors, which some of the examples have. The
/// depth bound is added when it is known.
const SPIN_PLAIN: Side = Side::Spin {
    generate: &["-o1", "-o2", "-o3"],
    compile: &["-DSAFETY", "-DNOREDUCE", "-DNOCLAIM"],
    verify: &["-n", "-c0"],
};

const SPINOR_PLAIN: Side =
    Side::Spinor { name: "spinor", check: &["--plain", "--search", "bfs", "--all-errors", "-p", "safety", "-j", "1"] };

/// Each tool's own reduction and optimisations, on past errors.
const SPIN_REDUCED: Side = Side::Spin { generate: &[], compile: &["-DSAFETY", "-DNOCLAIM"], verify: &["-n", "-c0"] };

/// The product of the model and SPIN's automaton for one of its formulas, up to the first violation.
const fn pan(verify: &'static [&'static str]) -> Side {
    // Room for fourteen processes when there is fairness; it takes none otherwise.
    Side::Spin { generate: &["-o1", "-o2", "-o3"], compile: &["-DNOREDUCE", "-DNFAIR=3"], verify }
}

/// The same with the claim that asks for progress, which SPIN makes itself.
const fn pan_progress(verify: &'static [&'static str]) -> Side {
    Side::Spin { generate: &["-o1", "-o2", "-o3"], compile: &["-DNP", "-DNOREDUCE", "-DNOCLAIM"], verify }
}

const SPINOR_PROGRESS: Side = Side::Spinor { name: "spinor", check: &["--plain", "-p", "progress", "-j", "1"] };
/// There is progress in every cycle.
const PROGRESS: Models = Models::Named(&["leader_ring", "philosophers", "election", "two_phase_commit"]);

const FAMILIES: Models = Models::Named(&["philosophers", "token_ring"]);
/// Their sizes up to eight processes.
const EIGHT: (u64, u64) = (0, 2_000_000);

const SPINOR_HOLDS: Side = Side::Spinor { name: "spinor", check: &["--plain", "-p", "holds", "-j", "1"] };
const SPINOR_FAIR: Side =
    Side::Spinor { name: "spinor fair", check: &["--plain", "-p", "holds", "--fair", "weak", "-j", "1"] };

const fn spinor(name: &'static str, check: &'static [&'static str]) -> Side {
    Side::Spinor { name, check }
}

const FIGURE_4_HOLDS: &[&str] = &[
    "--por",
    "off",
    "-p",
    "holds",
    "--fair",
    "weak",
    "-j",
    "1",
    "--sym",
    "segmented",
    "--search",
    "ndfs",
    "--fair-by",
    "copies",
];
const FIGURE_4_BROKEN: &[&str] = &[
    "--por",
    "off",
    "-p",
    "broken",
    "--fair",
    "weak",
    "-j",
    "1",
    "--sym",
    "segmented",
    "--search",
    "ndfs",
    "--fair-by",
    "copies",
];

pub const MODES: &[Mode] = &[
    Mode {
        name: "plain",
        about: "every state and transition of the model, one thread",
        sides: &[SPIN_PLAIN, SPINOR_PLAIN],
        counts: Counts::Equal,
        judged: SEARCH,
        answer: Answer::Any,
        models: Models::All,
        states: ANY,
        examples: false,
    },
    Mode {
        name: "plain-dfs",
        about: "the same, both depth-first",
        sides: &[
            SPIN_PLAIN,
            Side::Spinor {
                name: "spinor",
                check: &["--plain", "--search", "dfs", "--all-errors", "-p", "safety", "-j", "1"],
            },
        ],
        counts: Counts::Equal,
        judged: SEARCH,
        answer: Answer::Any,
        models: Models::All,
        states: ANY,
        examples: false,
    },
    Mode {
        name: "end-to-end",
        about: "from the model's text to the answer, with SPIN's generation and compilation",
        sides: &[SPIN_PLAIN, SPINOR_PLAIN],
        counts: Counts::Equal,
        judged: Judged::EndToEnd,
        answer: Answer::Any,
        models: Models::All,
        states: (0, 150_000),
        examples: false,
    },
    Mode {
        name: "threads",
        about: "Spinor with two threads against one",
        sides: &[
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
        answer: Answer::Any,
        models: Models::All,
        states: (500_000, u64::MAX),
        examples: false,
    },
    Mode {
        name: "reduced",
        about: "every state: SPIN's reduction, and ours by each selector and without",
        sides: &[
            SPIN_REDUCED,
            Side::Spinor { name: "plain", check: &["--plain", "--all-errors", "-p", "safety", "-j", "1"] },
            spinor("optimised", &["--por", "off", "--all-errors", "-p", "safety", "-j", "1"]),
            spinor("ample", &["--por", "ample", "--all-errors", "-p", "safety", "-j", "1"]),
            spinor("stubborn", &["--por", "stubborn", "--all-errors", "-p", "safety", "-j", "1"]),
            spinor("leap", &["--por", "leap", "--all-errors", "-p", "safety", "-j", "1"]),
        ],
        counts: Counts::Free,
        judged: Judged::Nothing,
        answer: Answer::Any,
        models: Models::All,
        states: (0, 2_000_000),
        examples: true,
    },
    Mode {
        name: "reduced-time",
        about: "Spinor with the reduction that it chooses against without",
        sides: &[
            Side::Spinor { name: "por off", check: &["--por", "off", "--sym", "off", "-p", "safety", "-j", "1"] },
            Side::Spinor { name: "por auto", check: &["-p", "safety", "-j", "1"] },
        ],
        counts: Counts::NoMore,
        judged: Judged::Search { from: 100_000 },
        answer: Answer::Any,
        models: Models::Ours,
        states: (100_000, 15_000_000),
        examples: false,
    },
    Mode {
        name: "reduced-spin",
        about: "from the model's text to the answer, each tool with its reduction",
        sides: &[SPIN_REDUCED, Side::Spinor { name: "spinor", check: &["-p", "safety", "-j", "1"] }],
        counts: Counts::Free,
        judged: Judged::EndToEnd,
        answer: Answer::Any,
        models: Models::Ours,
        states: (100_000, 15_000_000),
        examples: false,
    },
    Mode {
        name: "reduced-fair",
        about: "weak fairness beside handshakes, which SPIN does not reduce: Spinor with reduction against without",
        sides: &[
            Side::Spinor {
                name: "por off",
                check: &["--por", "off", "--sym", "off", "-p", "holds", "--fair", "weak", "-j", "1"],
            },
            Side::Spinor {
                name: "stubborn",
                check: &["--por", "stubborn", "-p", "holds", "--fair", "weak", "-j", "1"],
            },
        ],
        counts: Counts::NoMore,
        judged: Judged::Search { from: 10_000 },
        answer: Answer::Holds,
        models: Models::Named(&["relay", "msi"]),
        states: (0, 4_000_000),
        examples: false,
    },
    Mode {
        name: "default",
        about: "what is stored with each tool's own optimisations, without reduction",
        sides: &[
            Side::Spin { generate: &[], compile: &["-DSAFETY", "-DNOREDUCE", "-DNOCLAIM"], verify: &["-n", "-c0"] },
            Side::Spinor { name: "spinor", check: &["--por", "off", "--all-errors", "-p", "safety", "-j", "1"] },
        ],
        counts: Counts::NoMore,
        judged: Judged::Stored,
        answer: Answer::Any,
        models: Models::All,
        states: ANY,
        examples: true,
    },
    Mode {
        name: "ltl",
        about: "a formula that holds, one thread",
        sides: &[pan(&["-n", "-a", "-N", "holds"]), SPINOR_HOLDS],
        counts: Counts::Free,
        judged: SEARCH,
        answer: Answer::Holds,
        models: Models::Ours,
        states: ANY,
        examples: false,
    },
    Mode {
        name: "ltl-fair",
        about: "a formula that holds: Spinor with weak fairness against without, a process more at a time",
        sides: &[SPINOR_HOLDS, SPINOR_FAIR],
        counts: Counts::Equal,
        judged: Judged::Search { from: 100_000 },
        answer: Answer::Holds,
        models: FAMILIES,
        states: EIGHT,
        examples: false,
    },
    Mode {
        name: "ltl-fair-spin",
        about: "the same with weak fairness, beside SPIN, which unfolds the states by its processes",
        sides: &[pan(&["-n", "-a", "-f", "-N", "holds"]), SPINOR_FAIR],
        counts: Counts::Free,
        judged: Judged::Search { from: 100_000 },
        answer: Answer::Holds,
        models: FAMILIES,
        states: EIGHT,
        examples: false,
    },
    Mode {
        name: "ltl-fair-only",
        about: "a formula that holds because of weak fairness only",
        sides: &[
            pan(&["-n", "-a", "-f", "-N", "fair"]),
            Side::Spinor { name: "spinor fair", check: &["--plain", "-p", "fair", "--fair", "weak", "-j", "1"] },
        ],
        counts: Counts::Free,
        judged: Judged::Search { from: 100_000 },
        answer: Answer::Holds,
        models: Models::Named(&["counters", "philosophers"]),
        states: EIGHT,
        examples: false,
    },
    Mode {
        name: "ltl-threads",
        about: "a formula that holds: Spinor's components by two threads against the search for one alone",
        sides: &[
            Side::Spinor { name: "one thread", check: &["--plain", "-p", "holds", "--search", "scc", "-j", "1"] },
            Side::Spinor { name: "two threads", check: &["--plain", "-p", "holds", "--search", "scc-par", "-j", "2"] },
        ],
        counts: Counts::Free,
        judged: Judged::Wall,
        answer: Answer::Holds,
        models: Models::Ours,
        states: (500_000, u64::MAX),
        examples: false,
    },
    Mode {
        name: "ltl-threads-scc",
        about: "a formula that holds: components that threads share, by two threads against by one",
        sides: &[
            Side::Spinor { name: "one thread", check: &["--plain", "-p", "holds", "--search", "scc-par", "-j", "1"] },
            Side::Spinor { name: "two threads", check: &["--plain", "-p", "holds", "--search", "scc-par", "-j", "2"] },
        ],
        counts: Counts::Equal,
        judged: Judged::Wall,
        answer: Answer::Holds,
        models: Models::Ours,
        states: (500_000, u64::MAX),
        examples: false,
    },
    Mode {
        name: "ltl-threads-ndfs",
        about: "a formula that holds: nested searches of threads, by two threads against by one",
        sides: &[
            Side::Spinor { name: "one thread", check: &["--plain", "-p", "holds", "--search", "cndfs", "-j", "1"] },
            Side::Spinor { name: "two threads", check: &["--plain", "-p", "holds", "--search", "cndfs", "-j", "2"] },
        ],
        counts: Counts::Equal,
        judged: Judged::Wall,
        answer: Answer::Holds,
        models: Models::Ours,
        states: (500_000, u64::MAX),
        examples: false,
    },
    Mode {
        name: "ltl-broken",
        about: "a formula that is broken: what is stored until a violation is found",
        sides: &[
            pan(&["-n", "-a", "-N", "broken"]),
            Side::Spinor { name: "spinor", check: &["--plain", "-p", "broken", "-j", "1"] },
        ],
        counts: Counts::Free,
        judged: Judged::Stored,
        answer: Answer::Violated,
        models: Models::Ours,
        states: ANY,
        examples: false,
    },
    Mode {
        name: "progress",
        about: "no cycle without progress, one thread",
        sides: &[pan_progress(&["-n", "-l"]), SPINOR_PROGRESS],
        counts: Counts::Free,
        judged: Judged::Search { from: 100_000 },
        answer: Answer::Holds,
        models: PROGRESS,
        states: ANY,
        examples: false,
    },
    Mode {
        name: "progress-safety",
        about: "the same beside Spinor's own search for safety",
        sides: &[
            Side::Spinor { name: "safety", check: &["--plain", "-p", "safety", "-j", "1"] },
            Side::Spinor { name: "progress", check: &["--plain", "-p", "progress", "-j", "1"] },
        ],
        counts: Counts::Equal,
        judged: Judged::Search { from: 100_000 },
        answer: Answer::Holds,
        models: PROGRESS,
        states: ANY,
        examples: false,
    },
    Mode {
        name: "progress-default",
        about: "the same as users run it: with optimisations and reduction, or by reading the text",
        sides: &[spinor("safety", &["-p", "safety", "-j", "1"]), spinor("progress", &["-p", "progress", "-j", "1"])],
        counts: Counts::Free,
        judged: Judged::Search { from: 1 },
        answer: Answer::Holds,
        models: PROGRESS,
        states: ANY,
        examples: false,
    },
    Mode {
        name: "progress-threads",
        about: "the same level by level, by two threads against by one",
        sides: &[
            spinor("one thread", &["--plain", "-p", "progress", "--search", "fifo-levels", "-j", "1"]),
            spinor("two threads", &["--plain", "-p", "progress", "--search", "fifo-levels", "-j", "2"]),
        ],
        counts: Counts::Equal,
        judged: Judged::Wall,
        answer: Answer::Holds,
        models: PROGRESS,
        states: (500_000, u64::MAX),
        examples: false,
    },
    Mode {
        name: "progress-broken",
        about: "a cycle without progress: what is stored until it is found",
        sides: &[pan_progress(&["-n", "-l"]), SPINOR_PROGRESS],
        counts: Counts::Free,
        judged: Judged::Stored,
        answer: Answer::Violated,
        models: Models::Named(&["polite", "bakery", "token_ring", "sliding_window"]),
        states: ANY,
        examples: false,
    },
    Mode {
        name: "symmetry",
        about: "every state of a symmetric model, without symmetry and by each kind of representative",
        sides: &[
            spinor("off", &["--por", "off", "-p", "safety", "-j", "1", "--sym", "off"]),
            spinor("sorted", &["--por", "off", "-p", "safety", "-j", "1", "--sym", "sorted"]),
            spinor("segmented", &["--por", "off", "-p", "safety", "-j", "1", "--sym", "segmented"]),
            spinor("pc-sorted", &["--por", "off", "-p", "safety", "-j", "1", "--sym", "pc-sorted"]),
            spinor("pc-segmented", &["--por", "off", "-p", "safety", "-j", "1", "--sym", "pc-segmented"]),
            spinor("full", &["--por", "off", "-p", "safety", "-j", "1", "--sym", "full"]),
        ],
        counts: Counts::Free,
        judged: Judged::Nothing,
        answer: Answer::Holds,
        models: Models::Symmetric,
        states: ANY,
        examples: false,
    },
    Mode {
        name: "symmetry-fair",
        about: "a formula that holds because of weak fairness: without symmetry, exactly, and by figure 4 of [Bosnacki-SYM]",
        sides: &[
            spinor("off", &["--por", "off", "-p", "holds", "--fair", "weak", "-j", "1", "--sym", "off"]),
            spinor("exact", &["--por", "off", "-p", "holds", "--fair", "weak", "-j", "1", "--sym", "segmented"]),
            spinor(
                "exact pc-sorted",
                &["--por", "off", "-p", "holds", "--fair", "weak", "-j", "1", "--sym", "pc-sorted"],
            ),
            spinor("figure 4", FIGURE_4_HOLDS),
        ],
        counts: Counts::Free,
        judged: Judged::Nothing,
        answer: Answer::NotViolated,
        models: Models::Symmetric,
        states: ANY,
        examples: false,
    },
    Mode {
        name: "symmetry-broken",
        about: "a formula that is broken in spite of weak fairness: what is stored until that is found",
        sides: &[
            spinor("off", &["--por", "off", "-p", "broken", "--fair", "weak", "-j", "1", "--sym", "off"]),
            spinor("exact", &["--por", "off", "-p", "broken", "--fair", "weak", "-j", "1", "--sym", "segmented"]),
            spinor(
                "exact pc-sorted",
                &["--por", "off", "-p", "broken", "--fair", "weak", "-j", "1", "--sym", "pc-sorted"],
            ),
            spinor("figure 4", FIGURE_4_BROKEN),
        ],
        counts: Counts::Free,
        judged: Judged::Nothing,
        answer: Answer::Violated,
        models: Models::Symmetric,
        states: ANY,
        examples: false,
    },
];

pub fn named(name: &str) -> Option<&'static Mode> {
    MODES.iter().find(|m| m.name == name)
}
