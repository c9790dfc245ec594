//! The command line: one table of commands, one table of options, and the parser that reads both.
//!
//! `--help` and the completions come from the same rows ([`crate::help`], [`crate::completions`]). A row that is not
//! built yet is there to be refused by name: never ignored, never offered.

use spinor_check::cycles::Fairness;
use spinor_check::progress::meaning::Progress;
use spinor_check::reduce::{AbleBy, Repairs, UnlessBy};
use spinor_check::settings::{DEFAULT_TRACES, FairBy, MadeUp, Reduce, Search, Selection, Settings, Store};
use spinor_check::symmetry::Way;
use spinor_model::optimise::Optimisations;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

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
const PLANNED_COMMANDS: &[&str] = &["explore", "test", "convert", "new", "fmt", "lsp", "spin", "man"];

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
    ExportTo,
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
            "check this only: all, safety, assert, deadlock, runtime, trace, promise, accept, progress, claim, a name; of a \
             protocol also reception, overflow, nonexecutable",
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
        "how it is searched: states by bfs (shortest traces) or dfs, cycles by the others, the last four only for progress",
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
    row(Id::Claim, "claim", Takes::Value("FILE"), CHECK)
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
        .help("how states are kept: the last two need least memory and may miss states")
        .spin("-DCOLLAPSE -DBITSTATE -DHC"),
    row(Id::Plain, "plain", Takes::Nothing, CHECK)
        .help("the clean semantics: no reduction, no static optimisation")
        .spin("spin -o1 -o2 -o3, -DNOREDUCE"),
    row(Id::NoDead, "no-dead", Takes::Nothing, CHECK)
        .help("do not reset variables that are written before they are read again")
        .spin("spin -o2"),
    row(Id::NoMerge, "no-merge", Takes::Nothing, CHECK)
        .help("do not take statements together that nobody can see between")
        .spin("spin -o3"),
    row(Id::NoUnread, "no-unread", Takes::Nothing, CHECK)
        .help("keep variables that are never read as a part of the states")
        .spin("spin -o1"),
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
        .help("threads that search; a small model is searched by one")
        .spin("-DNCORE=N"),
    row(Id::AllErrors, "all-errors", Takes::Optional("N"), CHECK)
        .help("go on after a violation; keep at most N traces a property (10; 0: all)")
        .spin("pan -c0 -e"),
    row(Id::NoShorten, "no-shorten", Takes::Nothing, CHECK)
        .help("show a trace found depth-first as it was found")
        .spin("pan without -i"),
    row(Id::Expect, "expect", Takes::OneOf(&["pass", "fail"], &[]), CHECK).help("status 0 if the answer is this one"),
    row(Id::Out, "out", Takes::Value("DIR"), CHECK)
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
    row(Id::Script, "script", Takes::Value("FILE"), &[Sim]).help("read the commands of -i from FILE"),
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
    row(Id::Out, "out", Takes::Value("FILE"), &[Graph])
        .short('o')
        .help("write the drawing to FILE instead of showing it"),
    row(Id::Quiet, "quiet", Takes::Nothing, &[Graph, Export]).short('q').help("no warnings"),
    row(Id::ExportTo, "to", Takes::OneOf(&["promela"], &[]), &[Export])
        .default("promela")
        .help("the language of the result"),
    row(Id::Out, "out", Takes::Value("FILE"), &[Export]).short('o').help("write it to FILE instead of showing it"),
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
    row(Id::IncludeRoot, "include-root", Takes::Value("DIR"), READERS)
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

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Expect {
    Pass,
    Fail,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Format {
    #[default]
    Human,
    Json,
}

/// What `ltl` prints.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum To {
    #[default]
    Summary,
    Never,
    Hoa,
    Dot,
    Mermaid,
    Svg,
}

/// How `graph` draws.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Drawing {
    #[default]
    Dot,
    Mermaid,
    Svg,
}

/// What runs a model.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Executor {
    #[default]
    Auto,
    Interp,
    Jit,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Color {
    #[default]
    Auto,
    Always,
    Never,
}

/// A command line, understood.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// `None`: only help or the version was asked for.
    pub command: Option<Command>,
    /// The command was written, not implied by a file name.
    pub named: bool,
    pub files: Vec<PathBuf>,
    pub props: Vec<String>,
    pub search: Search,
    pub ltls: Vec<String>,
    pub claims: Vec<PathBuf>,
    pub fairness: Fairness,
    pub fair_by: FairBy,
    pub reduce: Reduce,
    pub proviso: MadeUp,
    pub all_still: bool,
    pub repairs: Repairs,
    pub audit: bool,
    pub symmetry: Way,
    pub progress: Progress,
    pub progress_of: Option<String>,
    pub store: Store,
    pub plain: bool,
    pub no_dead: bool,
    pub no_merge: bool,
    pub no_unread: bool,
    pub executor: Executor,
    /// `None`: as many as there are cores.
    pub jobs: Option<usize>,
    pub memory: Option<u64>,
    pub time: Option<Duration>,
    pub depth: Option<u32>,
    pub all_errors: Option<usize>,
    pub no_shorten: bool,
    pub expect: Option<Expect>,
    pub defines: Vec<(String, Option<String>)>,
    pub undefines: Vec<String>,
    pub include_roots: Vec<PathBuf>,
    pub out: Option<PathBuf>,
    pub format: Format,
    pub color: Color,
    pub width: Option<usize>,
    pub quiet: bool,
    pub verbose: bool,
    pub seed: Option<u64>,
    pub steps: Option<u64>,
    pub interactive: bool,
    pub script: Option<PathBuf>,
    pub to: To,
    pub from_hoa: bool,
    pub of: Vec<String>,
    pub drawing: Option<Drawing>,
    pub max_states: Option<usize>,
    /// Channels of a protocol, as they were named.
    pub receptions: Option<String>,
    pub strict_receptions: bool,
    pub overflows: Option<String>,
    pub help: bool,
    pub version: bool,
}

impl Options {
    /// As asked for, or as the name of the file says.
    pub fn drawing(&self) -> Drawing {
        let ending = self.out.as_deref().and_then(|f| f.extension()).and_then(|e| e.to_str());
        self.drawing.unwrap_or(match ending {
            Some("svg") => Drawing::Svg,
            Some("mmd" | "mermaid") => Drawing::Mermaid,
            _ => Drawing::Dot,
        })
    }

    pub fn settings(&self) -> Settings {
        let select = match &self.props[..] {
            [] => Selection::All,
            names if names.iter().any(|n| n == "all") => Selection::All,
            [name] if name == "safety" => Selection::Safety,
            names => Selection::Names(names.to_vec()),
        };
        Settings {
            search: self.search,
            select,
            all_errors: self.all_errors,
            store: self.store,
            fairness: self.fairness,
            fair_by: self.fair_by,
            reduce: self.reduce,
            proviso: self.proviso,
            all_still: self.all_still,
            repairs: self.repairs,
            audit: self.audit,
            symmetry: self.symmetry,
            progress: self.progress,
            progress_of: self.progress_of.clone(),
            plain: self.plain,
            optimise: Optimisations { dead: !self.no_dead, merge: !self.no_merge, unread: !self.no_unread },
            max_depth: self.depth,
            max_time: self.time,
            max_memory: self.memory,
            // The paths need some, too.
            table: self.memory.map(|bytes| bytes / 2),
            jobs: self.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, |n| n.get())),
            shorten: !self.no_shorten,
            // The model's to say.
            protocol: None,
        }
    }
}

/// A command line that makes no sense.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Usage {
    pub message: String,
    pub help: Option<String>,
}

impl Usage {
    pub fn new(message: impl Into<String>) -> Usage {
        Usage { message: message.into(), help: None }
    }

    pub fn help(mut self, text: impl Into<String>) -> Usage {
        self.help = Some(text.into());
        self
    }
}

pub fn parse(args: Vec<OsString>) -> Result<Options, Usage> {
    let mut parser = Parser { given: Vec::new(), positional: Vec::new() };
    parser.read(args)?;
    let mut options = Options { help: parser.gave(Id::Help), version: parser.gave(Id::Version), ..Options::default() };
    let mut files = parser.positional.into_iter().peekable();
    // `spinor help check`, for those who do not think in dashes.
    options.help |= files.next_if(|word| word == "help" && !PathBuf::from(word).exists()).is_some();
    if let Some(first) = files.next() {
        match COMMANDS.iter().find(|c| first.to_str() == Some(c.name)) {
            Some(row) => {
                options.command = Some(row.command);
                options.named = true;
            }
            None => {
                if !PathBuf::from(&first).exists() {
                    not_a_command(&first.to_string_lossy())?;
                }
                options.command = Some(Check);
                options.files.push(first.into());
            }
        }
    }
    options.files.extend(files.map(PathBuf::from));
    for (row, value) in parser.given {
        // Commands may share the name of an option and not its meaning.
        let same = || OPTIONS.iter().filter(|o| o.long == row.long);
        let row = same().find(|o| options.command.is_some_and(|c| o.commands.contains(&c))).unwrap_or(row);
        if let Some(command) = options.command
            && !row.commands.contains(&command)
        {
            let users: Vec<_> = same().flat_map(|o| o.commands).map(|c| format!("`{}`", name_of(*c))).collect();
            return Err(Usage::new(format!("`--{}` is not an option of `{}`", row.long, name_of(command)))
                .help(format!("it belongs to {}", users.join(", "))));
        }
        apply(&mut options, row, value)?;
    }
    if options.quiet && options.verbose {
        return Err(Usage::new("`--quiet` and `--verbose` contradict each other"));
    }
    if !options.help && !options.version {
        check_arguments(&options)?;
    }
    Ok(options)
}

/// A first word that is no file may have been meant as a command.
fn not_a_command(word: &str) -> Result<(), Usage> {
    let exist = "`spinor --help` lists the commands that exist";
    if PLANNED_COMMANDS.contains(&word) {
        return Err(Usage::new(format!("the command `{word}` is not built yet")).help(exist));
    }
    match nearest(word, COMMANDS.iter().map(|c| c.name)) {
        Some(name) => Err(Usage::new(format!("`{word}` is neither a file nor a command"))
            .help(format!("`{name}` is a command, did you mean that?"))),
        None => Ok(()),
    }
}

/// The right number of files for the command.
fn check_arguments(options: &Options) -> Result<(), Usage> {
    let Some(command) = options.command else {
        return Err(Usage::new("no command and no model given").help("`spinor check MODEL`, or `spinor --help`"));
    };
    let (least, most) = match command {
        Check | Lint => (1, usize::MAX),
        Sim | Explain | Ltl | Graph | Export | Completions => (1, 1),
        Replay => (1, 2),
        Plan => (0, 0),
    };
    let name = name_of(command);
    let usage = COMMANDS.iter().find(|c| c.command == command).map_or("", |c| c.args);
    let usage = format!("usage: spinor {name} {usage}");
    if options.files.len() < least {
        let what = match command {
            Explain => "a code",
            Ltl => "a formula",
            Completions => "a shell: bash, zsh or fish",
            _ => "a model",
        };
        return Err(Usage::new(format!("`{name}` needs {what}")).help(usage.trim()));
    }
    if let Some(extra) = options.files.get(most) {
        return Err(Usage::new(format!("`{name}` has no use for `{}`", extra.display())).help(usage.trim()));
    }
    Ok(())
}

struct Parser {
    given: Vec<(&'static OptionRow, Option<OsString>)>,
    positional: Vec<OsString>,
}

impl Parser {
    fn gave(&self, id: Id) -> bool {
        self.given.iter().any(|(row, _)| row.id == id)
    }

    fn read(&mut self, args: Vec<OsString>) -> Result<(), Usage> {
        let mut args = args.into_iter();
        while let Some(arg) = args.next() {
            // File names need not be UTF-8; options do.
            let text = arg.to_string_lossy().into_owned();
            if text == "--" {
                self.positional.extend(args);
                return Ok(());
            }
            if let Some(long) = text.strip_prefix("--") {
                let (name, value) = match long.split_once('=') {
                    Some((name, value)) => (name, Some(OsString::from(value))),
                    None => (long, None),
                };
                let row = OPTIONS.iter().find(|o| o.long == name).ok_or_else(|| unknown(&format!("--{name}")))?;
                let value = match (row.takes, value) {
                    (Takes::Nothing, Some(_)) => {
                        return Err(Usage::new(format!("`--{name}` takes no value")));
                    }
                    (Takes::Nothing, None) => None,
                    (Takes::Optional(_), value) => value,
                    (_, Some(value)) => Some(value),
                    (_, None) => Some(args.next().ok_or_else(|| needs_value(row))?),
                };
                self.push(row, value)?;
            } else if text.len() > 1 && text.starts_with('-') {
                self.read_short(&text, &mut args)?;
            } else {
                self.positional.push(arg);
            }
        }
        Ok(())
    }

    /// `-q`, `-qv`, `-p NAME`, `-pNAME`
    fn read_short(&mut self, text: &str, args: &mut impl Iterator<Item = OsString>) -> Result<(), Usage> {
        let mut rest = &text[1..];
        while let Some(c) = rest.chars().next() {
            rest = &rest[c.len_utf8()..];
            let row = OPTIONS.iter().find(|o| o.short == Some(c)).ok_or_else(|| unknown(text))?;
            if matches!(row.takes, Takes::Nothing) {
                self.push(row, None)?;
                continue;
            }
            let value = match rest.strip_prefix('=').unwrap_or(rest) {
                "" => args.next().ok_or_else(|| needs_value(row))?,
                joined => joined.into(),
            };
            return self.push(row, Some(value));
        }
        Ok(())
    }

    /// Options have no order, so the same one twice must say the same twice.
    fn push(&mut self, row: &'static OptionRow, value: Option<OsString>) -> Result<(), Usage> {
        if row.id == Id::Planned {
            return Err(Usage::new(format!("`--{}` is not built yet", row.long))
                .help("`spinor check --help` lists the options that exist"));
        }
        let before = self.given.iter().find(|(o, _)| o.id == row.id && !row.repeats);
        if let Some((_, other)) = before {
            if *other != value {
                return Err(Usage::new(format!("`--{}` is given twice, with different values", row.long)));
            }
            return Ok(());
        }
        self.given.push((row, value));
        Ok(())
    }
}

fn needs_value(row: &OptionRow) -> Usage {
    let what = match row.takes {
        Takes::OneOf(built, _) => built.join(", "),
        Takes::Value(word) | Takes::Optional(word) => word.to_string(),
        Takes::Nothing => String::new(),
    };
    Usage::new(format!("`--{}` needs a value: {what}", row.long))
}

fn unknown(given: &str) -> Usage {
    let usage = Usage::new(format!("unknown option `{given}`"));
    let names = OPTIONS.iter().filter(|o| o.id != Id::Planned).map(|o| o.long);
    let word = given.trim_start_matches('-');
    if let Some(name) = names.clone().find(|n| *n == word).or_else(|| nearest(word, names)) {
        return usage.help(format!("did you mean `--{name}`?"));
    }
    // A habit from SPIN, where options are words after one dash.
    let same = |w: &str| match w.strip_suffix('N') {
        Some(start) => {
            given.strip_prefix(start).is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
        }
        None => w == given,
    };
    let word = |spin: &str| spin.split([' ', ',']).any(|w| w.starts_with('-') && same(w));
    match OPTIONS.iter().find(|o| word(o.spin)) {
        Some(row) => usage.help(format!("SPIN's `{given}` is `--{}` here", row.long)),
        None => usage.help("`spinor --help` lists the options; a file name that begins with `-` goes after `--`"),
    }
}

/// More threads than any machine has cores would only be in each other's way.
const MOST_JOBS: usize = 1024;

fn apply(o: &mut Options, row: &OptionRow, value: Option<OsString>) -> Result<(), Usage> {
    let bytes = value.unwrap_or_default();
    let text = bytes.to_string_lossy().into_owned();
    if let Takes::OneOf(built, planned) = row.takes {
        one_of(row.long, &text, built, planned)?;
    }
    let wrong = |wanted: &str| Usage::new(format!("`--{} {text}`: expected {wanted}", row.long));
    match row.id {
        Id::Prop => o.props.push(text),
        Id::Search => {
            o.search = match text.as_str() {
                "dfs" => Search::Dfs,
                "bfs" => Search::Bfs,
                "scc" => Search::Scc,
                "ndfs" => Search::Ndfs,
                "ndfs-seed" => Search::NdfsSeed,
                "ndfs-process" => Search::NdfsProcess,
                "scc-par" => Search::SccPar,
                "cndfs" => Search::Cndfs,
                "fifo" => Search::Fifo,
                "fifo-levels" => Search::FifoLevels,
                "restarts" => Search::Restarts,
                "ndfs-np" => Search::NdfsNp,
                _ => Search::Auto,
            }
        }
        Id::Store => {
            o.store = match text.as_str() {
                "tree" => Store::Tree,
                "arena" => Store::Arena,
                "hashcompact" => Store::HashCompact,
                "bitstate" => Store::Bitstate,
                _ => Store::Auto,
            }
        }
        Id::Sym => {
            let ways = Way::ALL.into_iter().chain([Way::Off]);
            o.symmetry = ways.into_iter().find(|way| way.word() == text).unwrap_or(Way::Auto);
        }
        Id::Ltl => o.ltls.push(text),
        Id::Claim => o.claims.push(bytes.into()),
        Id::Fair => {
            o.fairness = match text.as_str() {
                "weak" => Fairness::Weak,
                "strong" => Fairness::Strong,
                _ => Fairness::None,
            }
        }
        Id::FairBy => {
            o.fair_by = match text.as_str() {
                "scc" => FairBy::Scc,
                "flag" => FairBy::Flags,
                "copies" => FairBy::Copies,
                _ => FairBy::Auto,
            }
        }
        Id::Still => o.all_still = text == "all",
        Id::Proviso => {
            o.proviso = match text.as_str() {
                "levels" => MadeUp::Levels,
                "stack-number" => MadeUp::StackNumber,
                "stack-bit" => MadeUp::StackBit,
                _ => MadeUp::Loops,
            }
        }
        Id::UnlessBy => {
            let by = UnlessBy::ALL.into_iter().find(|by| by.word() == text);
            o.repairs.unless = by.unwrap_or_default();
        }
        Id::AbleBy => {
            let by = AbleBy::ALL.into_iter().find(|by| by.word() == text);
            o.repairs.able = by.unwrap_or_default();
        }
        Id::Por => {
            o.reduce = match text.as_str() {
                "off" => Reduce::Off,
                "povas" => Reduce::Povas,
                "ample" => Reduce::Ample,
                "stubborn" => Reduce::Stubborn,
                "lra" => Reduce::Lra,
                "leap" => Reduce::Leap,
                _ => Reduce::Auto,
            }
        }
        Id::Progress => o.progress = if text == "steps" { Progress::Steps } else { Progress::States },
        Id::ProgressOf => o.progress_of = Some(text),
        Id::Executor => {
            o.executor = match text.as_str() {
                "interp" => Executor::Interp,
                "jit" => Executor::Jit,
                _ => Executor::Auto,
            }
        }
        Id::Audit => o.audit = true,
        Id::Plain => o.plain = true,
        Id::NoDead => o.no_dead = true,
        Id::NoMerge => o.no_merge = true,
        Id::NoUnread => o.no_unread = true,
        Id::Memory => o.memory = Some(size(&text).ok_or_else(|| wrong("a size like 8GiB, 500MB or 4096"))?),
        Id::Time => o.time = Some(time(&text).ok_or_else(|| wrong("a time like 90s, 10m or 2h"))?),
        Id::Depth => o.depth = Some(text.parse().map_err(|_| wrong("a whole number"))?),
        Id::Jobs => match text.parse() {
            Ok(n) if (1..=MOST_JOBS).contains(&n) => o.jobs = Some(n),
            _ => return Err(wrong("a whole number from 1 to 1024")),
        },
        Id::AllErrors => {
            o.all_errors = Some(match text.as_str() {
                "" => DEFAULT_TRACES,
                n => n.parse().map_err(|_| wrong("a whole number"))?,
            })
        }
        Id::NoShorten => o.no_shorten = true,
        Id::Expect => o.expect = Some(if text == "pass" { Expect::Pass } else { Expect::Fail }),
        Id::Define => {
            let (name, value) = match text.split_once('=') {
                Some((name, value)) => (name, Some(value.to_string())),
                None => (&text[..], None),
            };
            if !is_name(name) {
                return Err(wrong("NAME or NAME=VALUE"));
            }
            o.defines.push((name.to_string(), value));
        }
        Id::Undefine => {
            if !is_name(&text) {
                return Err(wrong("a name"));
            }
            o.undefines.push(text);
        }
        Id::IncludeRoot => o.include_roots.push(bytes.into()),
        Id::Out => o.out = Some(bytes.into()),
        Id::Format => o.format = if text == "json" { Format::Json } else { Format::Human },
        Id::Color => {
            o.color = match text.as_str() {
                "always" => Color::Always,
                "never" => Color::Never,
                _ => Color::Auto,
            }
        }
        Id::Width => match text.parse() {
            Ok(n) if (40..=10_000).contains(&n) => o.width = Some(n),
            _ => return Err(wrong("a number from 40 on")),
        },
        Id::Quiet => o.quiet = true,
        Id::Verbose => o.verbose = true,
        Id::Seed => o.seed = Some(text.parse().map_err(|_| wrong("a whole number"))?),
        Id::Steps => o.steps = Some(text.parse().map_err(|_| wrong("a whole number"))?),
        Id::Interactive => o.interactive = true,
        Id::Script => o.script = Some(bytes.into()),
        Id::To => {
            o.to = match text.as_str() {
                "never" => To::Never,
                "hoa" => To::Hoa,
                "dot" => To::Dot,
                "mermaid" => To::Mermaid,
                "svg" => To::Svg,
                _ => To::Summary,
            }
        }
        Id::From => o.from_hoa = text == "hoa",
        Id::Of => o.of.push(text),
        Id::Drawing => {
            o.drawing = Some(match text.as_str() {
                "mermaid" => Drawing::Mermaid,
                "svg" => Drawing::Svg,
                _ => Drawing::Dot,
            })
        }
        Id::MaxStates => match text.parse() {
            Ok(n) if n > 0 => o.max_states = Some(n),
            _ => return Err(wrong("a whole number from 1 on")),
        },
        Id::Receptions => o.receptions = Some(text),
        Id::StrictReceptions => o.strict_receptions = true,
        Id::Overflows => o.overflows = Some(text),
        // One value so far.
        Id::ExportTo => {}
        Id::Help | Id::Version | Id::Planned => {}
    }
    Ok(())
}

fn one_of(long: &str, value: &str, built: &[&str], planned: &[&str]) -> Result<(), Usage> {
    let list = || built.iter().map(|v| format!("`{v}`")).collect::<Vec<_>>();
    if built.contains(&value) {
        return Ok(());
    }
    if planned.contains(&value) {
        let list = list();
        let there = match &list[..] {
            [one] => format!("only {one} exists"),
            [most @ .., last] => format!("{} and {last} exist", most.join(", ")),
            [] => String::new(),
        };
        return Err(Usage::new(format!("`--{long} {value}` is not built yet; {there}")));
    }
    let usage = Usage::new(format!("`--{long} {value}`: expected one of {}", list().join(", ")));
    Err(match nearest(value, built.iter().copied()) {
        Some(name) => usage.help(format!("did you mean `{name}`?")),
        None => usage,
    })
}

fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// `4096`, `500M`, `8GiB`: letters count in powers of 1024, except `kB`, `MB` and so on.
fn size(text: &str) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let n: u64 = text[..digits].parse().ok()?;
    let (base, power): (u64, u32) = match text[digits..].to_ascii_lowercase().as_str() {
        "" | "b" => (1, 0),
        "k" | "kib" => (1024, 1),
        "m" | "mib" => (1024, 2),
        "g" | "gib" => (1024, 3),
        "t" | "tib" => (1024, 4),
        "kb" => (1000, 1),
        "mb" => (1000, 2),
        "gb" => (1000, 3),
        "tb" => (1000, 4),
        _ => return None,
    };
    n.checked_mul(base.pow(power)).filter(|n| *n > 0)
}

/// `90`, `90s`, `1.5h`, `10m`, `200ms`
fn time(text: &str) -> Option<Duration> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let n: f64 = text[..digits].parse().ok()?;
    let unit = match &text[digits..] {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "d" => 86400.0,
        _ => return None,
    };
    Duration::try_from_secs_f64(n * unit).ok().filter(|d| !d.is_zero())
}

/// The name a typist may have meant: at most a third of it mistyped.
pub fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_ascii_lowercase();
    let near = names.into_iter().map(|name| (distance(&word, name), name)).min()?;
    (near.0 > 0 && near.0 <= near.1.len().div_ceil(3)).then_some(near.1)
}

/// Letters to insert, drop, replace or swap with their neighbour.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let swap = usize::from(a[i - 1] != b[j - 1]);
            let mut best = (rows[i - 1][j] + 1).min(row[j - 1] + 1).min(rows[i - 1][j - 1] + swap);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Options, Usage> {
        parse(line.split_whitespace().map(OsString::from).collect())
    }

    fn refused(line: &str) -> String {
        let usage = read(line).expect_err(line);
        format!("{} / {}", usage.message, usage.help.unwrap_or_default())
    }

    #[test]
    fn a_model_alone_is_checked() {
        let o = read("mutex.pml").unwrap();
        assert_eq!((o.command, o.named), (Some(Command::Check), false));
        assert_eq!(o.files, [PathBuf::from("mutex.pml")]);
        assert_eq!(read("-q lint a.pml b.pml").unwrap().files.len(), 2);
    }

    #[test]
    fn options_may_stand_anywhere_and_in_every_spelling() {
        for line in [
            "check m.pml -p assert --search dfs --depth 7 -DN=3 -U M",
            "--prop=assert check --search=dfs m.pml -D N=3 --depth=7 --undefine M",
            "-passert --depth 7 --search dfs -D=N=3 -UM check -- m.pml",
        ] {
            let o = read(line).unwrap();
            assert_eq!(o.props, ["assert"], "{line}");
            assert_eq!(o.search, Search::Dfs);
            assert_eq!(o.depth, Some(7));
            assert_eq!(o.defines, [("N".to_string(), Some("3".to_string()))]);
            assert_eq!(o.undefines, ["M"]);
        }
    }

    #[test]
    fn what_is_not_built_is_refused_by_name() {
        assert!(!refused("m.pml --search dfs-fifo").contains("is not built yet"));
        assert!(refused("m.pml --progress x").contains("states"));
        assert!(refused("explore m.pml").contains("the command `explore` is not built yet"));
    }

    #[test]
    fn mistakes_get_a_suggestion() {
        assert!(refused("m.pml --serach dfs").contains("did you mean `--search`?"));
        assert!(refused("m.pml --search bsf").contains("did you mean `bfs`?"));
        assert!(refused("m.pml -search dfs").contains("did you mean `--search`?"));
        assert!(refused("chekc m.pml").contains("`check` is a command, did you mean that?"));
        assert!(refused("m.pml -DNOREDUCE -nosuch").contains("unknown option `-nosuch`"));
        assert!(refused("m.pml -m10000").contains("SPIN's `-m10000` is `--depth` here"));
        assert!(refused("m.pml --nonsensical").contains("--help"));
        assert!(refused("m.pml --depth").contains("needs a value"));
        assert!(refused("m.pml --depth x").contains("a whole number"));
        assert!(refused("m.pml --plain=yes").contains("takes no value"));
        assert!(refused("m.pml -D 1x").contains("NAME"));
        assert!(refused("lint m.pml --depth 3").contains("not an option of `lint`"));
        assert!(refused("check").contains("needs a model"));
        assert!(refused("sim a b").contains("no use for `b`"));
        assert!(refused("m.pml -q -v").contains("contradict"));
        assert!(refused("").contains("no command"));
    }

    #[test]
    fn an_option_twice_must_agree_with_itself() {
        assert!(read("m.pml --depth 3 --depth 3").is_ok());
        assert!(refused("m.pml --depth 3 --depth 4").contains("twice"));
        assert_eq!(read("m.pml -p assert -p deadlock").unwrap().props.len(), 2);
    }

    #[test]
    fn sizes_and_times() {
        assert_eq!(size("8GiB"), Some(8 << 30));
        assert_eq!(size("500MB"), Some(500_000_000));
        assert_eq!(size("12"), Some(12));
        assert_eq!(size("12x"), None);
        assert_eq!(size("99999999999999999999"), None);
        assert_eq!(size("99999999999T"), None);
        assert_eq!(time("10m"), Some(Duration::from_secs(600)));
        assert_eq!(time("1.5h"), Some(Duration::from_secs(5400)));
        assert_eq!(time("200ms"), Some(Duration::from_millis(200)));
        assert_eq!(time("-1"), None);
        assert_eq!(time("1e9"), None);
    }

    #[test]
    fn all_errors_has_an_optional_number() {
        assert_eq!(read("m.pml --all-errors").unwrap().all_errors, Some(DEFAULT_TRACES));
        assert_eq!(read("m.pml --all-errors=3").unwrap().all_errors, Some(3));
        assert_eq!(read("--all-errors m.pml").unwrap().files.len(), 1);
    }

    #[test]
    fn a_name_that_two_commands_share_means_what_the_command_says() {
        assert_eq!(read("graph m --to svg").unwrap().drawing(), Drawing::Svg);
        assert_eq!(read("--to hoa ltl p").unwrap().to, To::Hoa);
        assert!(refused("graph m --to hoa").contains("expected one of `dot`, `mermaid`, `svg`"));
        assert!(refused("ltl p --to svgg").contains("expected one of `summary`"));
        assert!(refused("sim m --to dot").contains("it belongs to `ltl`, `graph`"));
        assert!(refused("m --of x").contains("it belongs to `graph`"));
        let out = |line: &str| read(line).unwrap().drawing();
        assert_eq!((out("graph m -o x.svg"), out("graph m --out=x.mmd")), (Drawing::Svg, Drawing::Mermaid));
        assert_eq!((out("graph m -o x"), out("graph m -o x.svg --to dot")), (Drawing::Dot, Drawing::Dot));
        assert!(refused("graph m --max-states 0").contains("from 1 on"));
        assert!(refused("graph").contains("`graph` needs a model"));
    }

    #[test]
    fn names_are_unique_and_rows_are_complete() {
        for (i, a) in OPTIONS.iter().enumerate() {
            for b in &OPTIONS[i + 1..] {
                // Of two with one name, no command has both, and both are read alike.
                if a.long == b.long {
                    assert!(!a.commands.iter().any(|c| b.commands.contains(c)), "{}", a.long);
                    assert_eq!((a.short, a.repeats), (b.short, b.repeats), "{}", a.long);
                    let value = |o: &OptionRow| match o.takes {
                        Takes::Value(_) | Takes::OneOf(..) => true,
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

    #[test]
    fn threads_stores_and_optimisations_become_settings() {
        let settings = |line: &str| read(line).unwrap().settings();
        assert_eq!(settings("m -j 3").jobs, 3);
        assert!(settings("m").jobs >= 1);
        assert!(refused("m -j 0").contains("from 1 to 1024"));
        assert_eq!(settings("m --store arena").store, Store::Arena);
        assert_eq!(settings("m").optimise, Optimisations::ALL);
        assert_eq!(settings("m --no-merge").optimise, Optimisations { merge: false, ..Optimisations::ALL });
        assert_eq!(settings("m --no-dead --no-merge --no-unread").optimise, Optimisations::NONE);
        assert_eq!(settings("m --plain").optimisations(), Optimisations::NONE);
    }

    #[test]
    fn selections_become_settings() {
        assert_eq!(read("m").unwrap().settings().select, Selection::All);
        assert_eq!(read("m -p safety").unwrap().settings().select, Selection::Safety);
        assert_eq!(read("m -p x -p all").unwrap().settings().select, Selection::All);
        assert_eq!(read("m -p x").unwrap().settings().select, Selection::Names(vec!["x".to_string()]));
    }
}
