//! What was written on the command line: read by the rows of [`crate::options`], or refused with what was meant.
//!
//! [`parse`] makes [`Options`], and these make the settings of a check. An option may stand anywhere; a new one needs an
//! arm in `apply`.

pub(crate) mod values;

use crate::options::Command::{self, Check, Completions, Explain, Export, Graph, Lint, Ltl, Plan, Replay, Sim};
use crate::options::{COMMANDS, Id, OPTIONS, OptionRow, PLANNED_COMMANDS, Takes, name_of};
use spinor_check::clock;
use spinor_check::cycles::Fairness;
use spinor_check::progress::meaning::Progress;
use spinor_check::reduce::still::HowMany;
use spinor_check::reduce::{AbleBy, Proviso, Selector, UnlessBy};
use spinor_check::settings::{DEFAULT_TRACES, FairBy, Reduce, Search, Selection, Settings, Store};
use spinor_check::symmetry::Way;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use values::{is_name, nearest, size, time};

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
    Interp,
    #[default]
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
    /// What is asked for; [`Options::settings`] says the rest.
    asked: Settings,
    pub ltls: Vec<String>,
    pub claims: Vec<PathBuf>,
    pub executor: Executor,
    /// `None`: as many as there are cores.
    pub jobs: Option<usize>,
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
    /// As asked for, or as the name of the file says; nothing if that is the name of something else.
    pub fn drawing(&self) -> Option<Drawing> {
        let ending = self.out.as_deref().and_then(|f| f.extension()).map(|e| e.to_string_lossy());
        self.drawing.or(match ending.as_deref() {
            Some("svg") => Some(Drawing::Svg),
            Some("mmd" | "mermaid") => Some(Drawing::Mermaid),
            None | Some("dot" | "gv") => Some(Drawing::Dot),
            Some(_) => None,
        })
    }

    pub fn settings(&self) -> Settings {
        Settings {
            select: if self.props.is_empty() { Selection::default() } else { Selection::of(&self.props) },
            // The paths need some, too.
            table: self.asked.max_memory.map(|bytes| bytes / 2),
            jobs: self.jobs.unwrap_or_else(clock::cores),
            ..self.asked.clone()
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
            // File names need not be UTF-8; the names of options are.
            let text = arg.to_string_lossy().into_owned();
            if text == "--" {
                self.positional.extend(args);
                return Ok(());
            }
            if let Some(long) = text.strip_prefix("--") {
                let (name, joined) = match long.split_once('=') {
                    Some((name, _)) => (name, true),
                    None => (long, false),
                };
                let row = OPTIONS.iter().find(|o| o.long == name).ok_or_else(|| unknown(&format!("--{name}")))?;
                let value = match row.takes {
                    Takes::Nothing if joined => return Err(Usage::new(format!("`--{name}` takes no value"))),
                    _ if joined => Some(tail(&arg, "--=".len() + name.len(), row)?),
                    Takes::Nothing | Takes::Optional(_) => None,
                    Takes::Value(_) | Takes::Path(_) | Takes::OneOf(..) => {
                        Some(args.next().ok_or_else(|| needs_value(row))?)
                    }
                };
                self.push(row, value)?;
            } else if text.len() > 1 && text.starts_with('-') {
                self.read_short(&arg, &text, &mut args)?;
            } else {
                self.positional.push(arg);
            }
        }
        Ok(())
    }

    /// `-q`, `-qv`, `-p NAME`, `-pNAME`
    fn read_short(&mut self, arg: &OsStr, text: &str, args: &mut impl Iterator<Item = OsString>) -> Result<(), Usage> {
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
                joined => tail(arg, text.len() - joined.len(), row)?,
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

/// The value behind the name of an option, which is ASCII and ends there, in the bytes that were given.
#[cfg(unix)]
fn tail(arg: &OsStr, at: usize, _: &OptionRow) -> Result<OsString, Usage> {
    use std::os::unix::ffi::OsStrExt;
    Ok(OsStr::from_bytes(&arg.as_bytes()[at..]).to_owned())
}

#[cfg(not(unix))]
fn tail(arg: &OsStr, at: usize, row: &OptionRow) -> Result<OsString, Usage> {
    let text = arg.to_str().map(|text| text[at..].into());
    let usage = || Usage::new(format!("`--{}`: its value is not Unicode", row.long));
    text.ok_or_else(|| usage().help("a file name may be something else, as an argument of its own"))
}

fn needs_value(row: &OptionRow) -> Usage {
    let what = match row.takes {
        Takes::OneOf(built, _) => built.join(", "),
        Takes::Value(word) | Takes::Path(word) | Takes::Optional(word) => word.to_string(),
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

/// The one that is written like this.
fn named<T: Copy>(all: impl IntoIterator<Item = T>, word: fn(T) -> &'static str, text: &str) -> Option<T> {
    all.into_iter().find(|one| word(*one) == text)
}

fn apply(o: &mut Options, row: &OptionRow, value: Option<OsString>) -> Result<(), Usage> {
    let bytes = value.unwrap_or_default();
    let text = bytes.to_string_lossy().into_owned();
    let wrong = |wanted: &str| Usage::new(format!("`--{} {text}`: expected {wanted}", row.long));
    if bytes.to_str().is_none() && !matches!(row.takes, Takes::Path(_)) {
        return Err(wrong("UTF-8"));
    }
    // The table has a value that nothing below is made of.
    let unread = || Usage::new(format!("`--{} {text}` is not built yet", row.long));
    if let Takes::OneOf(built, planned) = row.takes {
        one_of(row.long, &text, built, planned)?;
    }
    match row.id {
        Id::Prop => o.props.push(text),
        Id::Search => {
            let all = Search::ALL.into_iter().chain([Search::Auto]);
            o.asked.search = named(all, Search::word, &text).ok_or_else(unread)?;
        }
        Id::Store => {
            let all = Store::ALL.into_iter().chain([Store::Auto]);
            o.asked.store = named(all, Store::word, &text).ok_or_else(unread)?;
        }
        Id::Sym => {
            let all = Way::ALL.into_iter().chain([Way::Off, Way::Auto]);
            o.asked.symmetry = named(all, Way::word, &text).ok_or_else(unread)?;
        }
        Id::Ltl => o.ltls.push(text),
        Id::Claim => o.claims.push(bytes.into()),
        Id::Fair => o.asked.fairness = named(Fairness::ALL, Fairness::word, &text).ok_or_else(unread)?,
        Id::FairBy => o.asked.fair_by = named(FairBy::ALL, FairBy::word, &text).ok_or_else(unread)?,
        Id::Still => o.asked.still = named(HowMany::ALL, HowMany::word, &text).ok_or_else(unread)?,
        Id::Proviso => o.asked.proviso = named(Proviso::ASKED, Proviso::word, &text).ok_or_else(unread)?,
        Id::UnlessBy => o.asked.repairs.unless = named(UnlessBy::ALL, UnlessBy::word, &text).ok_or_else(unread)?,
        Id::AbleBy => o.asked.repairs.able = named(AbleBy::ALL, AbleBy::word, &text).ok_or_else(unread)?,
        Id::Por => {
            o.asked.reduce = match text.as_str() {
                "auto" => Reduce::Auto,
                "off" => Reduce::Off,
                word => Reduce::By(named(Selector::ALL, Selector::word, word).ok_or_else(unread)?),
            }
        }
        Id::Progress => o.asked.progress = named(Progress::ALL, Progress::word, &text).ok_or_else(unread)?,
        Id::ProgressOf => o.asked.progress_of = Some(text),
        Id::Executor => {
            o.executor = match text.as_str() {
                "interp" => Executor::Interp,
                "jit" | "auto" => Executor::Jit,
                _ => return Err(unread()),
            }
        }
        Id::Audit => o.asked.audit = true,
        Id::Plain => o.asked.plain = true,
        Id::NoDead => o.asked.optimise.dead = false,
        Id::NoMerge => o.asked.optimise.merge = false,
        Id::NoUnread => o.asked.optimise.unread = false,
        Id::Memory => o.asked.max_memory = Some(size(&text).ok_or_else(|| wrong("a size like 8GiB, 500MB or 4096"))?),
        Id::Time => o.asked.max_time = Some(time(&text).ok_or_else(|| wrong("a time like 90s, 10m or 2h"))?),
        Id::Depth => o.asked.max_depth = Some(text.parse().map_err(|_| wrong("a whole number"))?),
        Id::Jobs => match text.parse() {
            Ok(n) if (1..=MOST_JOBS).contains(&n) => o.jobs = Some(n),
            _ => return Err(wrong("a whole number from 1 to 1024")),
        },
        Id::AllErrors => {
            o.asked.all_errors = Some(match text.as_str() {
                "" => DEFAULT_TRACES,
                n => n.parse().map_err(|_| wrong("a whole number"))?,
            })
        }
        Id::NoShorten => o.asked.shorten = false,
        Id::Expect => {
            o.expect = match text.as_str() {
                "pass" => Some(Expect::Pass),
                "fail" => Some(Expect::Fail),
                _ => return Err(unread()),
            }
        }
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
        Id::Format => {
            o.format = match text.as_str() {
                "human" => Format::Human,
                "json" => Format::Json,
                _ => return Err(unread()),
            }
        }
        Id::Color => {
            o.color = match text.as_str() {
                "always" => Color::Always,
                "never" => Color::Never,
                "auto" => Color::Auto,
                _ => return Err(unread()),
            }
        }
        Id::Width => match text.parse() {
            Ok(n) if (40..=10_000).contains(&n) => o.width = Some(n),
            _ => return Err(wrong("a number from 40 to 10000")),
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
                "summary" => To::Summary,
                _ => return Err(unread()),
            }
        }
        Id::From => o.from_hoa = text == "hoa",
        Id::Of => o.of.push(text),
        Id::Drawing => {
            o.drawing = Some(match text.as_str() {
                "mermaid" => Drawing::Mermaid,
                "svg" => Drawing::Svg,
                "dot" => Drawing::Dot,
                _ => return Err(unread()),
            })
        }
        Id::MaxStates => match text.parse() {
            Ok(n) if n > 0 => o.max_states = Some(n),
            _ => return Err(wrong("a whole number from 1 on")),
        },
        Id::Receptions => o.receptions = Some(text),
        Id::StrictReceptions => o.strict_receptions = true,
        Id::Overflows => o.overflows = Some(text),
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

#[cfg(test)]
mod tests {
    use super::*;
    use spinor_model::optimise::Optimisations;

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
            assert_eq!(o.asked.search, Search::Dfs);
            assert_eq!(o.asked.max_depth, Some(7));
            assert_eq!(o.defines, [("N".to_string(), Some("3".to_string()))]);
            assert_eq!(o.undefines, ["M"]);
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_path_need_not_be_utf8_and_all_else_must() {
        use std::os::unix::ffi::OsStringExt;
        let parsed = |args: &[&[u8]]| {
            let model: &[u8] = b"m.pml";
            parse(args.iter().chain([&model]).map(|a| OsString::from_vec(a.to_vec())).collect())
        };
        let path = PathBuf::from(OsString::from_vec(b"d\xff=".to_vec()));
        for args in [&[&b"--out=d\xff="[..]][..], &[b"--out", b"d\xff="], &[b"-od\xff="], &[b"-qo=d\xff="]] {
            assert_eq!(parsed(args).unwrap().out.as_ref(), Some(&path), "{args:?}");
        }
        let o = parsed(&[b"--claim=d\xff=", b"--include-root=d\xff="]).unwrap();
        assert_eq!((&o.claims[..], &o.include_roots[..]), (&[path.clone()][..], &[path.clone()][..]));
        assert_eq!(parsed(&[b"sim", b"--script=d\xff="]).unwrap().script, Some(path));
        for (args, option) in [
            (&[&b"--ltl=p\xff"[..]][..], "--ltl"),
            (&[b"-pp\xff"], "--prop"),
            (&[b"--define", b"N=\xff"], "--define"),
            (&[b"--search=\xff"], "--search"),
            (&[b"--all-errors=\xff"], "--all-errors"),
        ] {
            let usage = parsed(args).expect_err(option);
            assert!(usage.message.contains(option) && usage.message.contains("UTF-8"), "{}", usage.message);
        }
        for args in [&[&b"--\xff=x"[..]][..], &[b"-\xffx"], &[b"-q\xff"]] {
            assert!(parsed(args).expect_err("no such option").message.contains("unknown option"), "{args:?}");
        }
    }

    #[test]
    fn what_is_not_built_is_refused_by_name() {
        assert!(!refused("m.pml --search dfs-fifo").contains("is not built yet"));
        assert!(refused("m.pml --progress x").contains("states"));
        assert!(refused("explore m.pml").contains("the command `explore` is not built yet"));
    }

    #[test]
    fn every_value_of_the_table_is_read() {
        for row in OPTIONS.iter().filter(|row| row.id != Id::Planned) {
            let Takes::OneOf(built, _) = row.takes else { continue };
            for value in built {
                let line = format!("{} m --{} {value}", name_of(row.commands[0]), row.long);
                assert!(read(&line).is_ok(), "{line}");
            }
        }
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
    fn all_errors_has_an_optional_number() {
        assert_eq!(read("m.pml --all-errors").unwrap().asked.all_errors, Some(DEFAULT_TRACES));
        assert_eq!(read("m.pml --all-errors=3").unwrap().asked.all_errors, Some(3));
        assert_eq!(read("--all-errors m.pml").unwrap().files.len(), 1);
    }

    #[test]
    fn a_name_that_two_commands_share_means_what_the_command_says() {
        assert_eq!(read("graph m --to svg").unwrap().drawing(), Some(Drawing::Svg));
        assert_eq!(read("--to hoa ltl p").unwrap().to, To::Hoa);
        assert!(refused("graph m --to hoa").contains("expected one of `dot`, `mermaid`, `svg`"));
        assert!(refused("ltl p --to svgg").contains("expected one of `summary`"));
        assert!(refused("sim m --to dot").contains("it belongs to `ltl`, `graph`"));
        assert!(refused("m --of x").contains("it belongs to `graph`"));
        let out = |line: &str| read(line).unwrap().drawing().unwrap();
        assert_eq!((out("graph m -o x.svg"), out("graph m --out=x.mmd")), (Drawing::Svg, Drawing::Mermaid));
        assert_eq!((out("graph m -o x"), out("graph m -o x.svg --to dot")), (Drawing::Dot, Drawing::Dot));
        assert_eq!(read("graph m -o x.png").unwrap().drawing(), None);
        assert!(refused("graph m --max-states 0").contains("from 1 on"));
        assert!(refused("graph").contains("`graph` needs a model"));
    }

    #[test]
    fn threads_stores_and_optimisations_become_settings() {
        let settings = |line: &str| read(line).unwrap().settings();
        assert_eq!(settings("m -j 3").jobs, 3);
        assert_eq!(settings("m").jobs, clock::cores());
        assert!(refused("m -j 0").contains("from 1 to 1024"));
        assert_eq!(settings("m --store arena").store, Store::Arena);
        assert_eq!(settings("m").optimise, Optimisations::ALL);
        assert_eq!(settings("m --no-merge").optimise, Optimisations { merge: false, ..Optimisations::ALL });
        assert_eq!(settings("m --no-dead --no-merge --no-unread").optimise, Optimisations::NONE);
        assert_eq!(settings("m --plain").optimisations(), Optimisations::NONE);
    }

    #[test]
    fn selections_become_settings() {
        assert_eq!(read("m").unwrap().settings().select, Selection::default());
        assert_eq!(read("m -p safety").unwrap().settings().select, Selection::safety());
        // Some are asked about by name only.
        let both = Selection::of(["progress", "all"]);
        assert_eq!(read("m -p progress -p all").unwrap().settings().select, both);
        assert_eq!(read("m -p x").unwrap().settings().select, Selection::of(["x"]));
    }
}
