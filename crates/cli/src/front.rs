//! From a file name to a model: the only place that knows how the front end is called.

use crate::args::{Options, Usage};
use crate::diagnostics;
use crate::screen::{Screen, note};
use crate::sha256;
use spinor_lang::codes::Code;
use spinor_ltl::Automaton;
use spinor_model::diagnostic::Diagnostic;
use spinor_model::interp::Interp;
use spinor_model::ir::{BinOp, Expr, System, UnOp};
use spinor_model::print;
use spinor_model::protocol::Protocol;
use spinor_model::source::{Sources, Span};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A model text, read; understood if `model` is there.
pub struct Front {
    /// As the user wrote it.
    pub path: String,
    /// Of the model's own text, not of what it includes.
    pub sha256: String,
    pub model: Option<Model>,
    pub sources: Arc<Sources>,
    pub diagnostics: Vec<Diagnostic>,
}

pub struct Model {
    pub system: Arc<System>,
    pub formulas: Vec<Formula>,
    pub automata: Vec<GivenAutomaton>,
    /// Of a protocol of communicating machines.
    pub protocol: Option<Protocol>,
    /// It in Promela, if it was written in another language.
    pub promela: Option<String>,
}

impl Model {
    /// What is asked of a protocol: as the options say, or else as the model does.
    pub fn asked(&self, options: &Options) -> Result<Option<Protocol>, Usage> {
        let Some(p) = &self.protocol else {
            if options.receptions.is_some() || options.overflows.is_some() || options.strict_receptions {
                let usage = Usage::new(
                    "`--receptions`, `--strict-receptions` and `--overflows` are about the channels of a protocol",
                );
                return Err(usage.help("a protocol is a model whose name ends in `.cfsm`"));
            }
            return Ok(None);
        };
        let places = |given: &Option<String>, own: &[usize]| match given.as_deref() {
            None => Ok(own.to_vec()),
            Some("all") => Ok((0..p.channels.len()).collect()),
            Some("none") => Ok(Vec::new()),
            Some(names) => names.split(',').map(|name| place(p, name.trim())).collect(),
        };
        Ok(Some(Protocol {
            channels: p.channels.clone(),
            receptions: places(&options.receptions, &p.receptions)?,
            overflows: places(&options.overflows, &p.overflows)?,
            strict: p.strict || options.strict_receptions,
        }))
    }
}

fn place(p: &Protocol, name: &str) -> Result<usize, Usage> {
    p.channels.iter().position(|c| c.name == name).ok_or_else(|| {
        let known: Vec<&str> = p.channels.iter().map(|c| c.name.as_str()).collect();
        Usage::new(format!("the protocol has no channel `{name}`")).help(format!("it has {}", known.join(", ")))
    })
}

pub struct Formula {
    pub name: String,
    pub text: String,
    pub span: Span,
    pub formula: spinor_ltl::Formula,
    /// What proposition `n` says.
    pub props: Vec<Expr>,
    /// The same as it was written.
    pub says: Vec<String>,
}

/// An automaton from a file, which is to accept no run.
pub struct GivenAutomaton {
    pub name: String,
    pub automaton: Automaton,
    /// What the columns of its guards stand for.
    pub looked: Vec<Expr>,
}

/// Why a file could not be used.
#[derive(Debug)]
pub struct Unreadable {
    pub path: PathBuf,
    pub why: String,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot read `{}`: {}", self.path.display(), self.why)
    }
}

/// A model is written by hand; what is larger than this is not one.
const MAX_BYTES: u64 = 64 << 20;

/// Reads a text file, or says plainly why not.
pub fn read_text(path: &Path) -> Result<String, Unreadable> {
    let fail = |why: String| Unreadable { path: path.to_path_buf(), why };
    if path == Path::new("-") {
        return Err(fail("standard input is `/dev/stdin` here".to_string()));
    }
    let meta = std::fs::metadata(path).map_err(|e| fail(reason(&e)))?;
    if meta.is_dir() {
        return Err(fail("it is a folder, not a file".to_string()));
    }
    if meta.len() > MAX_BYTES {
        return Err(fail(format!("it is larger than {} MiB", MAX_BYTES >> 20)));
    }
    let bytes = std::fs::read(path).map_err(|e| fail(reason(&e)))?;
    String::from_utf8(bytes).or_else(|e| {
        let at = e.utf8_error().valid_up_to();
        // Old models have comments in Latin-1, in which every byte is the character of that number.
        if e.as_bytes().iter().all(|b| is_latin_text(*b)) {
            return Ok(e.as_bytes().iter().map(|b| char::from(*b)).collect());
        }
        let line = e.as_bytes()[..at].iter().filter(|b| **b == b'\n').count() + 1;
        Err(fail(format!("line {line} is neither UTF-8 nor Latin-1 text (byte {at})")))
    })
}

/// A letter or a sign of Latin-1, or what parts lines and words; no other control character.
fn is_latin_text(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | 0x0b..=b'\r' | b' '..=b'~' | 0xa0..)
}

fn reason(e: &io::Error) -> String {
    match e.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_string(),
        io::ErrorKind::PermissionDenied => "permission denied".to_string(),
        _ => e.to_string(),
    }
}

/// A model ready to run, or its errors on standard error and nothing.
pub fn load_or_say(path: &Path, options: &Options, screen: Screen) -> Result<(Front, Option<Interp>), Usage> {
    let front = load(path, options).map_err(|e| Usage::new(e.to_string()))?;
    if !front.diagnostics.is_empty() && (front.model.is_none() || !options.quiet) {
        note(&diagnostics::render_all(&front.sources, &front.diagnostics, screen.paint_errors));
    }
    let interp = front.model.as_ref().map(|m| Interp::new(m.system.clone()));
    Ok((front, interp))
}

pub fn load(path: &Path, options: &Options) -> Result<Front, Unreadable> {
    let text = read_text(path)?;
    let name = path.to_string_lossy().into_owned();
    let is_protocol = name.ends_with(spinor_lang::cfsm::EXTENSION);
    if is_protocol && !(options.defines.is_empty() && options.undefines.is_empty()) {
        return Err(Unreadable { path: path.to_path_buf(), why: "a protocol has no macros to define".to_string() });
    }
    // What is read as the text of a formula, though no file has it: what it is called, and how it was typed.
    let mut typed: Vec<(String, String)> = Vec::new();
    let mut more: Vec<(String, String)> = Vec::new();
    for (n, formula) in options.ltls.iter().enumerate() {
        // Of several, each has a number.
        let title = if options.ltls.len() > 1 { format!("--ltl {}", n + 1) } else { "--ltl".to_string() };
        more.push((title.clone(), spinor_lang::block("", formula)));
        typed.push((title, formula.clone()));
    }
    let mut given: Vec<(String, spinor_ltl::Hoa)> = Vec::new();
    let (mut texts, mut hoas): (Vec<PathBuf>, Vec<PathBuf>) = (Vec::new(), Vec::new());
    for file in &options.claims {
        let text = read_text(file)?;
        let shown = file.to_string_lossy().into_owned();
        if !text.trim_start().starts_with("HOA:") {
            if is_protocol {
                let why = "a never claim is about Promela; a protocol has formulas and HOA automata".to_string();
                return Err(Unreadable { path: file.clone(), why });
            }
            // What it includes may state one.
            if !text.contains("#include") {
                texts.push(file.clone());
            }
            more.push((shown, text));
            continue;
        }
        let hoa = spinor_ltl::from_hoa(&text);
        let hoa = hoa.map_err(|e| Unreadable { path: file.clone(), why: e.to_string() })?;
        // It would end the text that it is put into below.
        if let Some(text) = hoa.props.iter().find(|text| text.contains(['{', '}', '\n', '#'])) {
            return Err(Unreadable { path: file.clone(), why: format!("the proposition `{text}` is no condition") });
        }
        // What a proposition says is read as if it were a formula of the model.
        for (n, text) in hoa.props.iter().enumerate() {
            let title = format!("{shown}, proposition {n}");
            more.push((title.clone(), spinor_lang::block(&column(given.len(), n), text)));
            typed.push((title, text.clone()));
        }
        given.push((shown, hoa));
        hoas.push(file.clone());
    }
    let lang_options = spinor_lang::Options {
        defines: options.defines.clone(),
        undefines: options.undefines.clone(),
        include_roots: options.include_roots.clone(),
        more,
    };
    let mut loaded = spinor_lang::load(&name, &text, &lang_options, &|path: &Path| std::fs::read(path));
    if loaded.model.is_none() {
        let files = &loaded.sources.files;
        let file = |title: &str| files.enumerated().skip(1).find(|(_, f)| f.name == title).map(|(id, _)| id);
        let typed: Vec<_> = typed.iter().filter_map(|(title, f)| Some((file(title)?, f.as_str()))).collect();
        loaded.sources = Arc::new(spinor_lang::as_typed(&loaded.sources, &mut loaded.diagnostics, &typed));
    }
    if let Some(m) = &loaded.model {
        let claims = m.system.claims.iter().map(|c| c.span);
        let files: Vec<&str> = claims
            .chain(m.formulas.iter().map(|f| f.span))
            .map(|span| loaded.sources.file_name(loaded.sources.surface(span)))
            .collect();
        if let Some(path) = texts.iter().find(|path| !files.contains(&&*path.to_string_lossy())) {
            return Err(Unreadable { path: path.clone(), why: "it states no property".to_string() });
        }
        for (file, (_, hoa)) in given.iter().enumerate() {
            let is_condition = |f: &spinor_lang::NamedFormula| condition(&f.formula, &f.props).is_some();
            let temporal = |n: &usize| m.formulas.iter().any(|f| f.name == column(file, *n) && !is_condition(f));
            if let Some(n) = (0..hoa.props.len()).find(temporal) {
                let why = format!("the proposition `{}` looks at more than one state", hoa.props[n]);
                return Err(Unreadable { path: hoas[file].clone(), why });
            }
        }
    }
    let model = loaded.model.map(|m| {
        let says =
            |name: &str| m.formulas.iter().find(|f| f.name == name).and_then(|f| condition(&f.formula, &f.props));
        let automata = given.into_iter().enumerate().map(|(file, (name, hoa))| {
            let looked = hoa.automaton.props.iter().map(|p| says(&column(file, p.0 as usize)).expect("read above"));
            let looked = looked.collect();
            GivenAutomaton { name: hoa.name.unwrap_or(name), automaton: hoa.automaton, looked }
        });
        let automata = automata.collect();
        let formulas = m.formulas.into_iter().filter(|f| !f.name.starts_with(COLUMN));
        let formulas = formulas.map(|f| of_lang(&m.system, f)).collect();
        Model { formulas, system: m.system, automata, protocol: m.protocol, promela: m.promela }
    });
    Ok(Front {
        path: name,
        sha256: sha256::hex(text.as_bytes()),
        model,
        sources: loaded.sources,
        diagnostics: loaded.diagnostics,
    })
}

/// Names that no author gives to a formula.
const COLUMN: &str = "__column_";

fn column(file: usize, n: usize) -> String {
    format!("{COLUMN}{file}_{n}")
}

/// A formula without temporal operators, as an expression.
fn condition(f: &spinor_ltl::Formula, props: &[Expr]) -> Option<Expr> {
    use spinor_ltl::Formula::{And, Equivalent, False, Implies, Not, Or, Prop, True};
    let not = |e: Expr| Expr::Unary(UnOp::Not, Box::new(e));
    let both = |op: BinOp, a: Expr, b: Expr| Expr::Binary(op, Box::new(a), Box::new(b));
    let part = |f: &spinor_ltl::Formula| condition(f, props);
    Some(match f {
        True | False => Expr::Const(i32::from(*f == True)),
        Prop(p) => props[p.0 as usize].clone(),
        Not(a) => not(part(a)?),
        And(a, b) => both(BinOp::And, part(a)?, part(b)?),
        Or(a, b) => both(BinOp::Or, part(a)?, part(b)?),
        Implies(a, b) => both(BinOp::Or, not(part(a)?), part(b)?),
        Equivalent(a, b) => both(BinOp::Eq, not(part(a)?), not(part(b)?)),
        _ => return None,
    })
}

fn of_lang(system: &System, f: spinor_lang::NamedFormula) -> Formula {
    // Two uses of one macro look alike and need not mean the same: those are told apart by what they came to.
    let twice = |n: usize| f.says.iter().filter(|text| **text == f.says[n]).count() > 1;
    let printed = |n: usize| print::expr(system, &system.globals, &f.props[n]).replace('@', "");
    let text = |n: usize| if twice(n) { printed(n) } else { f.says[n].clone() };
    let says = (0..f.says.len()).map(text).collect();
    Formula { name: f.name, text: f.text, span: f.span, formula: f.formula, props: f.props, says }
}

/// What is wrong with a command, though nothing is with the text it is about.
static COMMAND_CODES: &[Code] = &[Code {
    code: "V0001",
    title: "a property or process that the model does not have",
    text: "`-p` takes the names of properties, as the report shows them, and `all` and `safety`; `--progress-of` takes a \
           proctype, or one process as `P[2]`. The message lists what the model has.",
    example: "",
}];

/// Every code there is, explained.
pub fn codes() -> impl Iterator<Item = &'static Code> {
    spinor_lang::codes::CODES.iter().chain(COMMAND_CODES)
}

/// The long text of a code.
pub fn explain(code: &str) -> Option<String> {
    let row = codes().find(|row| row.code.eq_ignore_ascii_case(code))?;
    let mut out = format!("{}: {}\n\n{}\n", row.code, row.title, row.text.trim());
    if !row.example.trim().is_empty() {
        out.push_str("\nFor example\n\n");
        for line in row.example.trim_end().lines() {
            out.push_str(format!("    {line}").trim_end());
            out.push('\n');
        }
    }
    Some(out)
}
