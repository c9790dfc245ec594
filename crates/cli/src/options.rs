//! The command line: one table of commands and one of options.
//!
//! The parser ([`crate::args`]), `--help` and the completions ([`crate::help`], [`crate::completions`]) all read the same
//! rows. A row that is not built yet is there to be refused by name: never ignored, never offered.

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Command {
    Check,
    Sim,
    Replay,
    Lint,
    Explain,
    Plan,
    Ltl,
    Graph,
    Export,
    Completions,
}

pub struct CommandRow {
    pub command: Command,
    pub name: &'static str,
    pub args: &'static str,
    pub help: &'static str,
}

pub const COMMANDS: &[CommandRow] = &[
    CommandRow {
        command: Command::Check,
        name: "check",
        args: "MODEL…",
        help: "verify everything in the model; `spinor MODEL` is short for it",
    },
    CommandRow {
        command: Command::Sim,
        name: "sim",
        args: "MODEL",
        help: "run the model: at random, by hand (-i), or from a script",
    },
    CommandRow {
        command: Command::Replay,
        name: "replay",
        args: "MODEL [TRACE]",
        help: "show a saved trace: our .json or a SPIN .trail",
    },
    CommandRow { command: Command::Lint, name: "lint", args: "MODEL…", help: "errors and warnings only, no search" },
    CommandRow { command: Command::Explain, name: "explain", args: "CODE", help: "the long text of an error code" },
    CommandRow { command: Command::Plan, name: "plan", args: "", help: "which combinations of options are answered" },
    CommandRow {
        command: Command::Ltl,
        name: "ltl",
        args: "FORMULA",
        help: "what a formula says and the automaton that accepts it, as a never claim, HOA or a drawing",
    },
    CommandRow {
        command: Command::Graph,
        name: "graph",
        args: "MODEL",
        help: "draw processes, claims, formulas or states, as dot, Mermaid or SVG",
    },
    CommandRow {
        command: Command::Export,
        name: "export",
        args: "MODEL",
        help: "a .cfsm protocol as Promela text with the same states and transitions",
    },
    CommandRow {
        command: Command::Completions,
        name: "completions",
        args: "SHELL",
        help: "a completion script for bash, zsh or fish",
    },
];

/// Commands whose names are taken and that do not exist yet.
pub(crate) const PLANNED_COMMANDS: &[&str] = &["explore", "test", "convert", "new", "fmt", "lsp", "spin", "man"];

/// What an option means to the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Id {
    Prop,
    Search,
    Por,
    Proviso,
    Still,
    UnlessBy,
    AbleBy,
    Audit,
    Sym,
    Ltl,
    Claim,
    Fair,
    FairBy,
    Progress,
    ProgressOf,
    Store,
    Plain,
    NoDead,
    NoMerge,
    NoUnread,
    Executor,
    Memory,
    Time,
    Depth,
    Jobs,
    AllErrors,
    NoShorten,
    Expect,
    Define,
    Undefine,
    IncludeRoot,
    Out,
    Format,
    Color,
    Width,
    Quiet,
    Verbose,
    Seed,
    Steps,
    Interactive,
    Script,
    To,
    From,
    Of,
    Drawing,
    MaxStates,
    Receptions,
    StrictReceptions,
    Overflows,
    Help,
    Version,
    /// Known by name and not built.
    Planned,
}

#[derive(Clone, Copy, Debug)]
pub enum Takes {
    Nothing,
    /// A value, shown by this word.
    Value(&'static str),
    /// The name of a file or a folder, which need not be UTF-8.
    Path(&'static str),
    /// `--name` or `--name=VALUE`
    Optional(&'static str),
    /// One of the first list; the second list is planned.
    OneOf(&'static [&'static str], &'static [&'static str]),
}

pub struct OptionRow {
    pub id: Id,
    pub long: &'static str,
    pub short: Option<char>,
    pub takes: Takes,
    pub repeats: bool,
    pub default: &'static str,
    pub help: &'static str,
    /// What SPIN's user would have written.
    pub spin: &'static str,
    pub commands: &'static [Command],
}

const fn row(id: Id, long: &'static str, takes: Takes, commands: &'static [Command]) -> OptionRow {
    OptionRow { id, long, short: None, takes, repeats: false, default: "", help: "", spin: "", commands }
}

impl OptionRow {
    const fn short(mut self, c: char) -> Self {
        self.short = Some(c);
        self
    }

    const fn repeats(mut self) -> Self {
        self.repeats = true;
        self
    }

    const fn default(mut self, text: &'static str) -> Self {
        self.default = text;
        self
    }

    const fn help(mut self, text: &'static str) -> Self {
        self.help = text;
        self
    }

    const fn spin(mut self, text: &'static str) -> Self {
        self.spin = text;
        self
    }
}

use Command::{Check, Completions, Explain, Export, Graph, Lint, Ltl, Plan, Replay, Sim};
const CHECK: &[Command] = &[Check];
const MODELS: &[Command] = &[Check, Sim, Replay, Lint];
/// Those that read a model.
const READERS: &[Command] = &[Check, Sim, Replay, Lint, Graph];
const EVERY: &[Command] = &[Check, Sim, Replay, Lint, Explain, Plan, Ltl, Graph, Export, Completions];

pub const OPTIONS: &[OptionRow] = &[
    row(Id::Prop, "prop", Takes::Value("NAME"), CHECK)
        .short('p')
        .repeats()
        .default("all")
        .help(
            "check this only: all, assert, deadlock, runtime, trace, promise, accept, progress, claim, a name; of a protocol \
             also reception, overflow, nonexecutable; safety: all that finite runs show, but promises",
        )
        .spin("pan -a -A -E -l -N name"),
    row(
        Id::Search,
        "search",
        Takes::OneOf(
            &[
                "auto",
                "dfs",
                "bfs",
                "scc",
                "ndfs",
                "ndfs-seed",
                "ndfs-process",
                "scc-par",
                "cndfs",
                "fifo",
                "fifo-levels",
                "restarts",
                "ndfs-np",
            ],
            &[],
        ),
        CHECK,
    )
    .default("auto")
    .help(
        "how it is searched: states by bfs (shortest traces) or dfs, cycles by the others; fifo, fifo-levels, restarts and ndfs-np only for progress",
    )
    .spin("-DBFS"),
    row(Id::Por, "por", Takes::OneOf(&["auto", "off", "povas", "ample", "stubborn", "lra", "leap"], &[]), CHECK)
        .default("auto")
        .help("which steps are left out where others show as much: by process (povas, ample), by what steps have to do with each other, or between the steps of a leap (lra, leap)")
        .spin("-DNOREDUCE"),
    row(
        Id::Proviso,
        "proviso",
        Takes::OneOf(&["loops", "levels", "stack-number", "stack-bit"], &[]),
        CHECK,
    )
    .default("loops")
    .help(
        "who sees to it that no step is left out for ever: selections at loops, breadth-first search by levels, or \
         depth-first and nested search by the path, with the number of the selection or a bit remembered",
    ),
    row(Id::Still, "still", Takes::OneOf(&["one", "all"], &[]), CHECK)
        .default("one")
        .help("with --progress steps: of the steps that are selected where others are left out, so many make no progress"),
    row(Id::UnlessBy, "unless-by", Takes::OneOf(&["guards", "static", "dynamic"], &[]), CHECK)
        .default("guards")
        .help("how a reduction minds that an escape which is a handshake becomes possible: ours, and a paper's two"),
    row(Id::AbleBy, "able-by", Takes::OneOf(&["guards", "static", "dynamic", "defaults"], &[]), CHECK)
        .default("guards")
        .help("how a reduction minds that a handshake lets a process move, for fairness: ours, and a paper's three"),
    row(Id::Audit, "audit", Takes::Nothing, CHECK)
        .help("try out every selection of steps: slow, and a fault of spinor (status 4) if one is not what it must be"),
    row(
        Id::Sym,
        "sym",
        Takes::OneOf(&["auto", "off", "sorted", "segmented", "pc-sorted", "pc-segmented", "full"], &[]),
        CHECK,
    )
    .default("auto")
    .help("if processes can change places, search one of the states that look alike, chosen in this way"),
    row(Id::Ltl, "ltl", Takes::Value("FORMULA"), CHECK)
        .repeats()
        .help("check this formula, too")
        .spin("spin -f FORMULA"),
    row(Id::Claim, "claim", Takes::Path("FILE"), CHECK)
        .repeats()
        .help("check that no run is accepted by the never claim or HOA automaton in FILE")
        .spin("spin -N FILE"),
    row(Id::Receptions, "receptions", Takes::Value("CHANNELS"), &[Check, Replay])
        .default("as the file says, or all")
        .help("of a protocol: where a message that its receiver does not expect is an error: all, none, names with commas"),
    row(Id::StrictReceptions, "strict-receptions", Takes::Nothing, &[Check, Replay])
        .help("of a protocol: it is one even if the receiver can do something else first"),
    row(Id::Overflows, "overflows", Takes::Value("CHANNELS"), &[Check, Replay])
        .default("as the file says, or all")
        .help("of a protocol: where a send that finds its channel full is an error: all, none, names with commas"),
    row(Id::Fair, "fair", Takes::OneOf(&["none", "weak", "strong"], &[]), CHECK)
        .default("none")
        .help("fairness that runs must have to count: of a process that could move always (weak), or again and again")
        .spin("pan -f"),
    row(Id::FairBy, "fair-by", Takes::OneOf(&["auto", "scc", "flag", "copies"], &[]), CHECK)
        .default("auto")
        .help("how weak fairness is decided: from components, or by nested search with flags or copies"),
    row(Id::Progress, "progress", Takes::OneOf(&["states", "steps"], &[]), CHECK)
        .default("states")
        .help("what a progress label makes progress: the state in which a process stands there, or the step from there"),
    row(Id::ProgressOf, "progress-of", Takes::Value("PROCTYPE"), CHECK)
        .help("only the progress of these processes counts: a proctype, or one process as P[2]"),
    row(Id::Store, "store", Takes::OneOf(&["auto", "tree", "arena", "hashcompact", "bitstate"], &[]), CHECK)
        .default("auto")
        .help("how states are kept: hashcompact and bitstate need least memory and may miss states")
        .spin("-DCOLLAPSE -DBITSTATE -DHC"),
    row(Id::Plain, "plain", Takes::Nothing, CHECK)
        .help("the clean semantics: no reduction, no static optimisation")
        .spin("spin -o1 -o2 -o3, -DNOREDUCE"),
    row(Id::NoDead, "no-dead", Takes::Nothing, CHECK)
        .help("do not reset variables that are written before they are read again")
        .spin("spin -o1"),
    row(Id::NoMerge, "no-merge", Takes::Nothing, CHECK)
        .help("do not take statements together that nobody can see between")
        .spin("spin -o3"),
    row(Id::NoUnread, "no-unread", Takes::Nothing, CHECK)
        .help("keep variables that are never read as a part of the states")
        .spin("spin -o2"),
    row(Id::Executor, "executor", Takes::OneOf(&["auto", "interp", "jit"], &[]), CHECK)
        .default("auto")
        .help("what runs the model: native code made from it (auto, jit), or the interpreter"),
    row(Id::Memory, "memory", Takes::Value("SIZE"), CHECK)
        .default("80% of what is free")
        .help("stop before the program holds more, for example 8GiB or 500M")
        .spin("-DMEMLIM=N"),
    row(Id::Time, "time", Takes::Value("TIME"), CHECK)
        .default("none")
        .help("stop after this long, for example 90s, 10m or 2h")
        .spin("pan -QN"),
    row(Id::Depth, "depth", Takes::Value("N"), CHECK)
        .default("none")
        .help("look no deeper than N steps")
        .spin("pan -mN"),
    row(Id::Jobs, "jobs", Takes::Value("N"), CHECK)
        .short('j')
        .default("all cores")
        .help("threads that search: for states, and for cycles with --search scc-par, cndfs or fifo-levels; a small model is searched by one")
        .spin("-DNCORE=N"),
    row(Id::AllErrors, "all-errors", Takes::Optional("N"), CHECK)
        .help("go on after a violation; keep at most N traces a property (10; 0: all)")
        .spin("pan -c0 -e"),
    row(Id::NoShorten, "no-shorten", Takes::Nothing, CHECK)
        .help("show a trace as it was found, and look for no shorter one")
        .spin("pan without -i"),
    row(Id::Expect, "expect", Takes::OneOf(&["pass", "fail"], &[]), CHECK).help("status 0 if the answer is this one"),
    row(Id::Out, "out", Takes::Path("DIR"), CHECK)
        .short('o')
        .help("write each trace to DIR as .json and .trail; nothing is written otherwise")
        .spin("(always writes MODEL.trail)"),
    row(Id::Format, "format", Takes::OneOf(&["human", "json"], &["jsonl", "sarif", "junit", "github"]), &[Check, Lint])
        .default("human")
        .help("form of the result; json of several models is a list"),
    row(Id::Seed, "seed", Takes::Value("N"), &[Sim])
        .default("from the clock, printed")
        .help("the run at random that N names")
        .spin("spin -nN"),
    row(Id::Steps, "steps", Takes::Value("N"), &[Sim])
        .default("250")
        .help("stop a run at random after N steps")
        .spin("spin -uN"),
    row(Id::Interactive, "interactive", Takes::Nothing, &[Sim])
        .short('i')
        .help("choose each step yourself; `?` lists the commands")
        .spin("spin -i"),
    row(Id::Script, "script", Takes::Path("FILE"), &[Sim]).help("read the commands of -i from FILE"),
    row(Id::To, "to", Takes::OneOf(&["summary", "never", "hoa", "dot", "mermaid", "svg"], &[]), &[Ltl])
        .default("summary")
        .help("what is printed: the facts, or the automaton in this form")
        .spin("spin -f FORMULA"),
    row(Id::From, "from", Takes::OneOf(&["formula", "hoa"], &[]), &[Ltl])
        .default("formula")
        .help("what is read: a formula, or the file of a HOA automaton"),
    row(Id::Of, "of", Takes::Value("NAME"), &[Graph]).repeats().default("every proctype").help(
        "draw this: a proctype, a claim, `trace`, an ltl name, `states` (all that can be reached), or `all` but these",
    ),
    row(Id::Drawing, "to", Takes::OneOf(&["dot", "mermaid", "svg"], &[]), &[Graph])
        .default("dot")
        .help("the form of the drawing; the name given with -o decides if this does not"),
    row(Id::Out, "out", Takes::Path("FILE"), &[Graph])
        .short('o')
        .help("write the drawing to FILE instead of showing it"),
    row(Id::Quiet, "quiet", Takes::Nothing, &[Graph, Export]).short('q').help("no warnings"),
    row(Id::Out, "out", Takes::Path("FILE"), &[Export]).short('o').help("write it to FILE instead of showing it"),
    row(Id::MaxStates, "max-states", Takes::Value("N"), &[Graph])
        .default("500")
        .help("draw no states if there are more than N"),
    row(Id::Define, "define", Takes::Value("NAME[=VALUE]"), READERS)
        .short('D')
        .repeats()
        .help("define a macro for the preprocessor")
        .spin("spin -DNAME=VALUE"),
    row(Id::Undefine, "undefine", Takes::Value("NAME"), READERS)
        .short('U')
        .repeats()
        .help("remove a macro")
        .spin("spin -UNAME"),
    row(Id::IncludeRoot, "include-root", Takes::Path("DIR"), READERS)
        .repeats()
        .help("another folder that #include may read from"),
    row(Id::Color, "color", Takes::OneOf(&["auto", "always", "never"], &[]), EVERY)
        .default("auto")
        .help("auto: on a terminal, unless NO_COLOR is set"),
    row(Id::Width, "width", Takes::Value("N"), &[Check, Sim, Replay])
        .default("COLUMNS, or 120")
        .help("widest line of a trace"),
    row(Id::Quiet, "quiet", Takes::Nothing, MODELS).short('q').help("the verdicts only"),
    row(Id::Verbose, "verbose", Takes::Nothing, MODELS).short('v').help("more: whole traces, all unreached code"),
    row(Id::Help, "help", Takes::Nothing, EVERY).short('h').help("this text"),
    row(Id::Version, "version", Takes::Nothing, EVERY).short('V').help("the version").spin("spin -V"),
    row(Id::Planned, "only", Takes::Value("PROCESS"), CHECK),
    row(Id::Planned, "watch", Takes::Value("NAMES"), CHECK),
    row(Id::Planned, "help-all", Takes::Nothing, EVERY),
    row(Id::Planned, "cpp", Takes::Nothing, MODELS),
];

/// The options that exist, for one command.
pub fn options_of(command: Command) -> impl Iterator<Item = &'static OptionRow> {
    OPTIONS.iter().filter(move |o| o.id != Id::Planned && o.commands.contains(&command))
}

pub fn name_of(command: Command) -> &'static str {
    COMMANDS.iter().find(|c| c.command == command).map_or("", |c| c.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_rows_are_complete() {
        for (i, a) in OPTIONS.iter().enumerate() {
            for b in &OPTIONS[i + 1..] {
                // Of two with one name, no command has both, and both are read alike.
                if a.long == b.long {
                    assert!(!a.commands.iter().any(|c| b.commands.contains(c)), "{}", a.long);
                    assert_eq!((a.short, a.repeats), (b.short, b.repeats), "{}", a.long);
                    let value = |o: &OptionRow| match o.takes {
                        Takes::Value(_) | Takes::Path(_) | Takes::OneOf(..) => true,
                        Takes::Nothing => false,
                        Takes::Optional(_) => panic!("{}", o.long),
                    };
                    assert_eq!(value(a), value(b), "{}", a.long);
                    continue;
                }
                assert!(a.short.is_none() || a.short != b.short);
            }
            assert!(a.id == Id::Planned || !a.help.is_empty(), "{}", a.long);
            if let Takes::OneOf(built, _) = a.takes {
                assert!(a.default.is_empty() || built.contains(&a.default), "{}", a.long);
            }
        }
    }
}
