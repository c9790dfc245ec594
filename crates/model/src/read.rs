//! Reads the printed form of a system (see [`crate::print`]).
//!
//! Two passes over the lines: first what is declared (variables, channels, proctypes), then what refers to it, so
//! that the order of proctypes does not matter. The text may come from anywhere: whatever it says, the answer is a
//! system or an error with a line, and it comes soon. Hence the limits below; no system that could be run meets
//! them.
//!
//! What a line says is not checked against the rules of [`crate::validate`]: a broken system can be written down,
//! which is how the rules are tested. A system read has no sources and default spans;
//! `read(&print(s)) == Ok(without_origins(s))`.

use crate::index::{Idx, IndexVec};
use crate::ir::{
    BinOp, ChanDecl, Edge, EdgeId, Effect, Expr, Frame, Guard, IndexStep, Init, Loc, Location, Monitor, MtypeId,
    MtypeSet, Pattern, Place, Proctype, ProctypeId, Promise, Record, Scope, Shape, System, Then, Type, UnOp, Var,
    VarId,
};
use crate::print::{ATOM, BINARY, PROBES, is_id, precedence, probe_name, symbol};
use crate::source::{Sources, Span};
use std::fmt;
use std::sync::Arc;

/// How deep parentheses and indices nest. Readers of expressions are recursive; this keeps them on their stack.
const MAX_DEPTH: u32 = 150;
/// How many binary operators one expression has: a chain of them is a tree as deep as it is long.
const MAX_OPERATORS: u32 = 1000;
/// How many parts one variable has, records and elements counted.
const MAX_PARTS: u64 = 1 << 20;

/// What is wrong, and on which line (from 1).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReadError {
    pub line: u32,
    pub message: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for ReadError {}

/// The system a text describes.
pub fn read(text: &str) -> Result<System, ReadError> {
    let lines = tokenise(text)?;
    let mut declared = Declared::default();
    let mut later = Vec::new();
    for line in &lines {
        if !declared.line(line)? {
            later.push((declared.section, line));
        }
    }
    let mut body = Body { names: Names::of(&declared), declared, edges: Vec::new() };
    for (section, line) in later {
        body.line(section, line)?;
    }
    body.finish()
}

/// The same system without its texts: what remains after printing and reading.
pub fn without_origins(system: &System) -> System {
    let mut s = system.clone();
    s.sources = Arc::new(Sources::default());
    strip_frame(&mut s.globals);
    for t in s.proctypes.iter_mut().chain(&mut s.claims).chain(s.monitor.as_mut().map(|m| &mut m.graph)) {
        t.span = Span::default();
        strip_frame(&mut t.frame);
        t.promises.iter_mut().for_each(|p| p.span = Span::default());
        t.locs.iter_mut().for_each(|l| l.span = Span::default());
        t.edges.iter_mut().for_each(|e| e.span = Span::default());
    }
    s
}

fn strip_frame(frame: &mut Frame) {
    frame.vars.iter_mut().for_each(|v| v.span = Span::default());
    frame.chans.iter_mut().for_each(|c| c.span = Span::default());
    for init in &mut frame.inits {
        if let Init::Value { span, .. } = init {
            *span = Span::default();
        }
    }
}

type Read<T> = Result<T, ReadError>;

#[derive(Clone, PartialEq, Debug)]
enum Token {
    Word(String),
    Number(i64),
    Text(String),
    Sign(&'static str),
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Word(w) => write!(f, "`{w}`"),
            Token::Number(n) => write!(f, "`{n}`"),
            Token::Text(_) => write!(f, "a string"),
            Token::Sign(s) => write!(f, "`{s}`"),
        }
    }
}

struct Line {
    no: u32,
    tokens: Vec<Token>,
}

/// Longest first, so that the first that fits is the right one.
const SIGNS: [&str; 35] = [
    "->", "==", "!=", "<=", ">=", "<<", ">>", "&&", "||", "!!", "??", "(", ")", "{", "}", "[", "]", ",", ":", ".", "=",
    "<", ">", "+", "-", "*", "/", "%", "&", "|", "^", "!", "?", "~", "@",
];

fn tokenise(text: &str) -> Read<Vec<Line>> {
    let mut out = Vec::new();
    for (n, line) in text.lines().enumerate() {
        let no = u32::try_from(n + 1).unwrap_or(u32::MAX);
        let tokens = tokenise_line(line).map_err(|message| ReadError { line: no, message })?;
        if !tokens.is_empty() {
            out.push(Line { no, tokens });
        }
    }
    Ok(out)
}

fn tokenise_line(line: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut rest = line.trim_start();
    // Inside braces and brackets `;` separates; elsewhere it starts a comment.
    let mut open = 0u32;
    while let Some(c) = rest.chars().next() {
        let len;
        if c == ';' && open == 0 {
            break;
        } else if c == ';' {
            tokens.push(Token::Sign(";"));
            len = 1;
        } else if c == '"' {
            let (text, n) = string(rest)?;
            tokens.push(Token::Text(text));
            len = n;
        } else if c.is_ascii_digit() {
            len = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            let number = rest[..len].parse().map_err(|_| format!("the number {} is too large", &rest[..len]))?;
            tokens.push(Token::Number(number));
        } else if c.is_ascii_alphabetic() || c == '_' {
            len = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            tokens.push(Token::Word(rest[..len].to_string()));
        } else if let Some(sign) = SIGNS.iter().find(|s| rest.starts_with(**s)) {
            match *sign {
                "[" => open += 1,
                "]" => open = open.saturating_sub(1),
                _ => {}
            }
            tokens.push(Token::Sign(sign));
            len = sign.len();
        } else {
            return Err(format!("unexpected {c:?}"));
        }
        rest = rest[len..].trim_start();
    }
    Ok(tokens)
}

/// The string that starts here, and its length in the text.
fn string(rest: &str) -> Result<(String, usize), String> {
    let mut out = String::new();
    let mut chars = rest.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Ok((out, at + 1)),
            '\\' => match chars.next().map(|(_, c)| c) {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some('r') => out.push('\r'),
                Some(c @ ('"' | '\\')) => out.push(c),
                Some('u') => {
                    let digits: String = chars.by_ref().map(|(_, c)| c).take_while(|c| *c != '}').collect();
                    let code = digits.strip_prefix('{').and_then(|d| u32::from_str_radix(d, 16).ok());
                    out.push(code.and_then(char::from_u32).ok_or("no such character")?);
                }
                _ => return Err("an escape that means nothing".into()),
            },
            c => out.push(c),
        }
    }
    Err("a string without an end".into())
}

/// What the lines are about: the globals, or one of the control graphs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
enum Section {
    #[default]
    Top,
    Globals,
    Proctype(usize),
    Claim(usize),
    Monitor,
}

#[derive(Default)]
struct Declared {
    system: System,
    section: Section,
    records: Vec<(Arc<Record>, u64, u32)>,
}

impl Declared {
    /// False if the line refers to what is declared, and has to wait.
    fn line(&mut self, line: &Line) -> Read<bool> {
        let mut c = Cursor::new(line);
        let Some(Token::Word(word)) = c.peek() else { return Err(c.wrong("a word")) };
        match word.as_str() {
            "system" => {
                c.next();
                self.system.name = c.name()?;
            }
            "uses" => {
                c.next();
                let uses = &mut self.system.uses;
                loop {
                    match c.word()? {
                        "last" => uses.last = true,
                        "priorities" => uses.priorities = true,
                        "timeout" => uses.timeout = true,
                        other => return Err(c.error(format!("`{other}` is nothing a system uses"))),
                    }
                    if !c.take(",") {
                        break;
                    }
                }
            }
            "mtype" => {
                c.next();
                let name = c.name()?;
                c.expect("{")?;
                let names = if c.at("}") { Vec::new() } else { c.names()? };
                c.expect("}")?;
                self.system.mtypes.push(MtypeSet { name, names });
            }
            "record" => self.record(&mut c)?,
            "globals" => {
                c.next();
                self.section = Section::Globals;
            }
            "proctype" => {
                c.next();
                let name = c.name()?;
                c.expect("(")?;
                let id = ProctypeId::new(c.id('t')? as usize);
                c.expect(")")?;
                if id != self.system.proctypes.next_id() {
                    return Err(c.error(format!("the next proctype is {}", self.system.proctypes.next_id())));
                }
                let t = graph(&mut c, name, id.0)?;
                self.section = Section::Proctype(id.index());
                self.system.proctypes.push(t);
            }
            "claim" => {
                c.next();
                let name = c.name()?;
                self.section = Section::Claim(self.system.claims.len());
                self.system.claims.push(graph(&mut c, name, 0)?);
            }
            "trace" | "notrace" => {
                let negated = word == "notrace";
                c.next();
                let name = c.name()?;
                if self.system.monitor.is_some() {
                    return Err(c.error("there is a trace already"));
                }
                self.section = Section::Monitor;
                self.system.monitor = Some(Monitor { negated, graph: graph(&mut c, name, 0)? });
            }
            "var" | "hidden" => self.var(&mut c)?,
            "slots" => {
                c.next();
                let n = c.u32()?;
                self.frame(&c)?.n_slots = n;
            }
            "chan" => {
                c.next();
                let n = c.id('c')?;
                let name = c.name()?;
                c.expect(":")?;
                c.expect("[")?;
                let capacity = c.u32()?;
                c.expect("]")?;
                c.keyword("of")?;
                c.expect("{")?;
                let mut fields = Vec::new();
                while !c.at("}") {
                    if !fields.is_empty() {
                        c.expect(",")?;
                    }
                    fields.push(c.ty()?);
                }
                c.expect("}")?;
                let frame = self.frame(&c)?;
                if n as usize != frame.chans.len() {
                    return Err(c.error(format!("the next channel is c{}", frame.chans.len())));
                }
                frame.chans.push(ChanDecl { name, capacity, fields, span: Span::default() });
            }
            _ => return Ok(false),
        }
        c.end()?;
        Ok(true)
    }

    fn frame(&mut self, c: &Cursor<'_>) -> Read<&mut Frame> {
        frame(&mut self.system, self.section).ok_or_else(|| c.error("this belongs to `globals` or to a proctype"))
    }

    fn record(&mut self, c: &mut Cursor<'_>) -> Read<()> {
        c.next();
        let n = c.id('r')?;
        if n as usize != self.records.len() {
            return Err(c.error(format!("the next record is r{}", self.records.len())));
        }
        let name = c.name()?;
        c.expect("{")?;
        let mut fields = Vec::new();
        let (mut parts, mut depth) = (1u64, 1u32);
        while !c.at("}") {
            if !fields.is_empty() {
                c.expect(",")?;
            }
            let field = c.name()?;
            c.expect(":")?;
            let (shape, p, d) = self.shape(c, 0)?;
            parts = c.few_parts(parts.saturating_add(p))?;
            depth = depth.max(d + 1);
            fields.push((field, shape));
        }
        c.expect("}")?;
        self.records.push((Arc::new(Record { name, fields }), parts, depth));
        Ok(())
    }

    /// The shape, how many parts it has, and how deep it is.
    fn shape(&self, c: &mut Cursor<'_>, depth: u32) -> Read<(Shape, u64, u32)> {
        if depth > MAX_DEPTH {
            return Err(c.error("too many dimensions"));
        }
        if c.take("[") {
            let n = c.u32()?;
            c.expect("]")?;
            let (of, parts, d) = self.shape(c, depth + 1)?;
            let parts = c.few_parts(u64::from(n).max(1).saturating_mul(parts))?;
            return Ok((Shape::Array(n, Box::new(of)), parts, d + 1));
        }
        if let Some(Token::Word(w)) = c.peek()
            && is_id(w, 'r')
        {
            let n = c.id('r')?;
            let Some((record, parts, d)) = self.records.get(n as usize) else {
                return Err(c.error(format!("there is no record r{n} above")));
            };
            if *d + depth > MAX_DEPTH {
                return Err(c.error("records inside records, too deep"));
            }
            return Ok((Shape::Record(record.clone()), *parts, *d));
        }
        Ok((Shape::Scalar(c.ty()?), 1, 1))
    }

    fn var(&mut self, c: &mut Cursor<'_>) -> Read<()> {
        let hidden = c.take_word("hidden");
        c.keyword("var")?;
        let name = c.name()?;
        c.expect(":")?;
        let (shape, ..) = self.shape(c, 0)?;
        let given = if c.take_word("slot") { Some(c.u32()?) } else { None };
        let frame = self.frame(c)?;
        let slot = given.unwrap_or(frame.n_slots);
        let end = u64::from(slot) + shape.n_slots();
        frame.n_slots = u32::try_from(end).map_err(|_| c.error("too many slots"))?;
        frame.vars.push(Var { name, shape, slot, hidden, span: Span::default() });
        Ok(())
    }
}

/// The head of a control graph, from behind its name.
fn graph(c: &mut Cursor<'_>, name: String, number: u32) -> Read<Proctype> {
    let mut t = Proctype {
        name,
        n_params: 0,
        frame: Frame::default(),
        locs: IndexVec::new(),
        edges: IndexVec::new(),
        start: Loc(0),
        end: Loc(0),
        provided: None,
        priority: 1,
        deterministic: false,
        promises: Vec::new(),
        number,
        span: Span::default(),
    };
    while c.peek().is_some() {
        match c.word()? {
            "params" => t.n_params = c.u32()?,
            "priority" => t.priority = c.u8()?,
            "deterministic" => t.deterministic = true,
            "number" => t.number = c.u32()?,
            "start" => t.start = Loc(c.id('l')?),
            "end" => t.end = Loc(c.id('l')?),
            other => return Err(c.error(format!("`{other}` says nothing about a proctype"))),
        }
    }
    Ok(t)
}

fn graph_of(system: &mut System, section: Section) -> Option<&mut Proctype> {
    match section {
        Section::Top | Section::Globals => None,
        Section::Proctype(n) => system.proctypes.iter_mut().nth(n),
        Section::Claim(n) => system.claims.get_mut(n),
        Section::Monitor => system.monitor.as_mut().map(|m| &mut m.graph),
    }
}

fn frame(system: &mut System, section: Section) -> Option<&mut Frame> {
    match section {
        Section::Globals => Some(&mut system.globals),
        other => graph_of(system, other).map(|t| &mut t.frame),
    }
}

/// What expressions refer to.
struct Names {
    globals: IndexVec<VarId, Var>,
    proctypes: Vec<(String, IndexVec<VarId, Var>)>,
    claims: Vec<IndexVec<VarId, Var>>,
    monitor: IndexVec<VarId, Var>,
}

impl Names {
    fn of(d: &Declared) -> Names {
        Names {
            globals: d.system.globals.vars.clone(),
            proctypes: d.system.proctypes.iter().map(|t| (t.name.clone(), t.frame.vars.clone())).collect(),
            claims: d.system.claims.iter().map(|t| t.frame.vars.clone()).collect(),
            monitor: d.system.monitor.as_ref().map(|m| m.graph.frame.vars.clone()).unwrap_or_default(),
        }
    }

    fn locals(&self, section: Section) -> Option<&IndexVec<VarId, Var>> {
        match section {
            Section::Top | Section::Globals => None,
            Section::Proctype(n) => Some(&self.proctypes[n].1),
            Section::Claim(n) => Some(&self.claims[n]),
            Section::Monitor => Some(&self.monitor),
        }
    }
}

struct Body {
    names: Names,
    declared: Declared,
    edges: Vec<ReadEdge>,
}

struct ReadEdge {
    section: Section,
    id: u32,
    line: u32,
    edge: Edge,
}

impl Body {
    fn line(&mut self, section: Section, line: &Line) -> Read<()> {
        let names = &self.names;
        let mut p = Exprs { c: Cursor::new(line), names, locals: names.locals(section), depth: 0, operators: 0 };
        let word = p.c.word()?;
        let system = &mut self.declared.system;
        if word == "active" {
            loop {
                let t = p.proctype()?;
                system.active.push(t);
                if !p.c.take(",") {
                    return p.c.end();
                }
            }
        }
        if word == "init" {
            let to = p.init_place()?;
            p.c.expect("=")?;
            let init = if p.c.take_word("chan") {
                Init::Chan { slot: to.slot, chan: p.c.id('c')? }
            } else {
                Init::Value { slot: to.slot, ty: to.ty, value: p.top()?, span: Span::default() }
            };
            p.c.end()?;
            if matches!(init, Init::Chan { .. }) && to.ty != Type::Chan {
                return Err(p.c.error("only a chan holds a channel"));
            }
            let Some(frame) = frame(system, section) else { return Err(p.c.error("nothing to initialise here")) };
            frame.inits.push(init);
            return Ok(());
        }
        let Some(t) = graph_of(system, section) else {
            return Err(p.c.error(format!("`{word}` starts no line here")));
        };
        match word {
            "provided" => {
                if t.provided.is_some() {
                    return Err(p.c.error("`provided` was said already"));
                }
                t.provided = Some(p.top()?);
            }
            "xr" | "xs" => {
                let chan = p.top_place()?;
                t.promises.push(Promise { send: word == "xs", chan, span: Span::default() });
            }
            w if is_id(w, 'l') => {
                if p.c.own_id(w, 'l')? as usize != t.locs.len() {
                    return Err(p.c.error(format!("the next location is {}", t.locs.next_id())));
                }
                p.c.expect(":")?;
                t.locs.push(p.location()?);
            }
            w if is_id(w, 'e') => {
                let id = p.c.own_id(w, 'e')?;
                p.c.expect(":")?;
                let edge = p.edge()?;
                self.edges.push(ReadEdge { section, id, line: line.no, edge });
            }
            _ => return Err(p.c.error(format!("`{word}` starts no line here"))),
        }
        p.c.end()
    }

    /// Edges stand under their locations, in any order; here they take their numbers.
    fn finish(mut self) -> Read<System> {
        self.edges.sort_by_key(|e| (e.section, e.id));
        for e in self.edges {
            let t = graph_of(&mut self.declared.system, e.section).expect("the section was there when it was read");
            if e.id as usize != t.edges.len() {
                let (n, next) = (e.id, t.edges.len());
                let message =
                    if (n as usize) < next { format!("a second e{n}") } else { format!("e{n}, but no e{next}") };
                return Err(ReadError { line: e.line, message });
            }
            t.edges.push(e.edge);
        }
        Ok(self.declared.system)
    }
}

/// Reads what may refer to variables and proctypes.
struct Exprs<'a> {
    c: Cursor<'a>,
    names: &'a Names,
    /// `None` where nothing is local.
    locals: Option<&'a IndexVec<VarId, Var>>,
    depth: u32,
    operators: u32,
}

impl<'a> Exprs<'a> {
    fn location(&mut self) -> Read<Location> {
        let mut loc = Location { edges: self.edge_ids()?, ..Location::default() };
        while self.c.peek().is_some() {
            match self.c.word()? {
                "labels" => loc.labels = self.c.names()?,
                "is" => loop {
                    match self.c.word()? {
                        "end" => loc.end = true,
                        "accept" => loc.accept = true,
                        "progress" => loc.progress = true,
                        other => return Err(self.c.error(format!("a location is not `{other}`"))),
                    }
                    if !self.c.take(",") {
                        break;
                    }
                },
                "number" => loc.number = self.c.u32()?,
                other => return Err(self.c.error(format!("`{other}` says nothing about a location"))),
            }
        }
        Ok(loc)
    }

    /// `e1, e2`; stops before a comma that something else follows.
    fn edge_ids(&mut self) -> Read<Vec<EdgeId>> {
        let mut out = Vec::new();
        let is_edge = |t: Option<&Token>| matches!(t, Some(Token::Word(w)) if is_id(w, 'e'));
        if is_edge(self.c.peek()) {
            out.push(EdgeId(self.c.id('e')?));
            while self.c.at(",") && is_edge(self.c.tokens.get(self.c.at + 1)) {
                self.c.next();
                out.push(EdgeId(self.c.id('e')?));
            }
        }
        Ok(out)
    }

    fn edge(&mut self) -> Read<Edge> {
        let from = Loc(self.c.id('l')?);
        self.c.expect("->")?;
        let to = Loc(self.c.id('l')?);
        let mut edge = Edge {
            from,
            to,
            guards: Vec::new(),
            effects: Vec::new(),
            then: Then::Yield,
            in_d_step: false,
            stmt: 0,
            span: Span::default(),
        };
        if self.c.take_word("when") {
            edge.guards.push(self.guard()?);
            while self.c.take(",") {
                edge.guards.push(self.guard()?);
            }
        }
        if self.c.take_word("do") {
            edge.effects.push(self.effect()?);
            while self.c.take(",") {
                edge.effects.push(self.effect()?);
            }
        }
        if self.c.take_word("then") {
            edge.then = match self.c.word()? {
                "atomic" => Then::Atomic,
                "d_step" => Then::DStep,
                "yield" => Then::Yield,
                other => return Err(self.c.error(format!("`{other}` is not one of atomic, d_step, yield"))),
            };
            edge.in_d_step = edge.then == Then::DStep;
        }
        if self.c.take_word("ends") {
            match self.c.word()? {
                "d_step" => edge.in_d_step = true,
                other => return Err(self.c.error(format!("`{other}` cannot end here; only a d_step can"))),
            }
        }
        if self.c.take_word("stmt") {
            edge.stmt = self.c.u32()?;
        }
        Ok(edge)
    }

    fn guard(&mut self) -> Read<Guard> {
        if self.c.take_word("channel") {
            return Ok(Guard::Channel);
        }
        if self.c.take_word("youngest") {
            return Ok(Guard::Youngest);
        }
        if self.c.take_word("none") {
            self.c.keyword("of")?;
            return Ok(Guard::NoneOf(self.edge_ids()?));
        }
        Ok(Guard::Holds(self.top()?))
    }

    fn effect(&mut self) -> Read<Effect> {
        self.operators = 0;
        if let Some(Token::Word(word)) = self.c.peek() {
            let word = word.as_str();
            match word {
                "run" => {
                    self.c.next();
                    let proctype = self.proctype()?;
                    let args = self.args()?;
                    let priority = if self.c.take_word("priority") { self.c.u8()? } else { 1 };
                    return Ok(Effect::Run { proctype, args, priority });
                }
                "assert" => {
                    self.c.next();
                    return Ok(Effect::Assert(self.top()?));
                }
                "print" => {
                    self.c.next();
                    let format = self.c.text()?.into();
                    return Ok(Effect::Print { format, args: self.args()? });
                }
                "printm" => {
                    self.c.next();
                    let set = MtypeId(self.c.id('m')?);
                    return Ok(Effect::PrintName(self.top()?, set));
                }
                "set_priority" => {
                    self.c.next();
                    self.c.expect("(")?;
                    let pid = self.top()?;
                    self.c.expect(",")?;
                    let value = self.top()?;
                    self.c.expect(")")?;
                    return Ok(Effect::SetPriority { pid, value });
                }
                "event" => {
                    self.c.next();
                    let chan = self.primary()?;
                    let send = self.c.take("!");
                    if !send {
                        self.c.expect("?")?;
                    }
                    return Ok(Effect::Event { send, chan, args: self.patterns()? });
                }
                "die" => {
                    self.c.next();
                    return Ok(Effect::End);
                }
                _ => {}
            }
        }
        let keep = self.c.take_word("peek");
        let target = self.primary()?;
        if keep || self.c.at("?") || self.c.at("??") {
            let (random, args) = self.receive()?;
            return Ok(Effect::Receive { chan: target, random, keep, args });
        }
        if self.c.at("!") || self.c.at("!!") {
            let sorted = self.c.at("!!");
            self.c.next();
            return Ok(Effect::Send { chan: target, sorted, args: self.args()? });
        }
        self.c.expect("=")?;
        let Expr::Read(to) = target else { return Err(self.c.error("only a variable is assigned")) };
        Ok(Effect::Assign { to, value: self.top()? })
    }

    /// From the `?` on.
    fn receive(&mut self) -> Read<(bool, Vec<Pattern>)> {
        let random = self.c.take("??");
        if !random {
            self.c.expect("?")?;
        }
        Ok((random, self.patterns()?))
    }

    fn patterns(&mut self) -> Read<Vec<Pattern>> {
        self.c.expect("(")?;
        let mut args = Vec::new();
        while !self.c.at(")") {
            if !args.is_empty() {
                self.c.expect(",")?;
            }
            args.push(if self.c.take_word("_") {
                Pattern::Any
            } else if self.c.take("==") {
                Pattern::Equal(self.expr(0)?)
            } else {
                Pattern::Bind(self.place(self.locals)?)
            });
        }
        self.c.expect(")")?;
        Ok(args)
    }

    fn args(&mut self) -> Read<Vec<Expr>> {
        self.c.expect("(")?;
        let mut args = Vec::new();
        while !self.c.at(")") {
            if !args.is_empty() {
                self.c.expect(",")?;
            }
            args.push(self.top()?);
        }
        self.c.expect(")")?;
        Ok(args)
    }

    fn proctype(&mut self) -> Read<ProctypeId> {
        let word = self.c.word()?;
        if is_id(word, 't') {
            return Ok(ProctypeId(self.c.own_id(word, 't')?));
        }
        let mut named = self.names.proctypes.iter().enumerate().filter(|(_, t)| t.0 == word);
        match (named.next(), named.next()) {
            (Some((n, _)), None) => Ok(ProctypeId::new(n)),
            (None, _) => Err(self.c.error(format!("there is no proctype {word}"))),
            _ => Err(self.c.error(format!("there are several proctypes {word}"))),
        }
    }

    /// An expression that is not part of another.
    fn top(&mut self) -> Read<Expr> {
        self.operators = 0;
        self.expr(0)
    }

    fn top_place(&mut self) -> Read<Place> {
        self.operators = 0;
        self.place(self.locals)
    }

    fn init_place(&mut self) -> Read<Place> {
        let place = self.top_place()?;
        if !place.index.is_empty() {
            return Err(self.c.error("an initialiser names a slot, not an index"));
        }
        Ok(place)
    }

    /// By precedence: takes operators that bind at least as tightly as `level`.
    fn expr(&mut self, level: u8) -> Read<Expr> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.c.error("an expression that nests too deep"));
        }
        let mut left = self.unary()?;
        while let Some(op) = self.operator().filter(|op| precedence(*op) >= level) {
            self.c.next();
            self.operators += 1;
            if self.operators > MAX_OPERATORS {
                return Err(self.c.error(format!("more than {MAX_OPERATORS} operators in an expression")));
            }
            let right = self.expr(precedence(op) + 1)?;
            left = Expr::Binary(op, Box::new(left), Box::new(right));
        }
        self.depth -= 1;
        Ok(left)
    }

    fn operator(&self) -> Option<BinOp> {
        let Some(Token::Sign(sign)) = self.c.peek() else { return None };
        BINARY.iter().copied().find(|op| symbol(*op) == *sign)
    }

    fn unary(&mut self) -> Read<Expr> {
        if self.c.at("-")
            && let Some(Token::Number(n)) = self.c.tokens.get(self.c.at + 1)
        {
            self.c.at += 2;
            return i32::try_from(-*n).map(Expr::Const).map_err(|_| self.c.error(format!("-{n} is too small")));
        }
        let op = match self.c.peek() {
            Some(Token::Sign("!")) => UnOp::Not,
            Some(Token::Sign("-")) => UnOp::Neg,
            Some(Token::Sign("~")) => UnOp::BitNot,
            _ => return self.primary(),
        };
        self.c.next();
        Ok(Expr::Unary(op, Box::new(self.primary()?)))
    }

    /// What needs no parentheses. Every way from here back to here passes through `expr`, which counts.
    fn primary(&mut self) -> Read<Expr> {
        match self.c.peek() {
            Some(Token::Number(n)) => {
                self.c.next();
                i32::try_from(*n).map(Expr::Const).map_err(|_| self.c.error(format!("{n} is too large")))
            }
            Some(Token::Sign("@" | "%")) => Ok(Expr::Read(self.place(self.locals)?)),
            Some(Token::Sign("(")) => {
                self.c.next();
                let first = self.expr(0)?;
                if self.c.take("->") {
                    let yes = self.expr(0)?;
                    self.c.expect(":")?;
                    let no = self.expr(0)?;
                    self.c.expect(")")?;
                    return Ok(Expr::Cond(Box::new(first), Box::new(yes), Box::new(no)));
                }
                self.c.expect(")")?;
                Ok(first)
            }
            Some(Token::Word(word)) => {
                self.c.next();
                self.named(word)
            }
            _ => Err(self.c.wrong("an expression")),
        }
    }

    fn named(&mut self, word: &str) -> Read<Expr> {
        if let Some(probe) = PROBES.iter().find(|p| probe_name(**p) == word) {
            return Ok(Expr::Probe(*probe, self.argument()?));
        }
        Ok(match word {
            "_pid" => Expr::Pid,
            "_nr_pr" => Expr::NrPr,
            "_last" => Expr::Last,
            "timeout" => Expr::Timeout,
            "np_" => Expr::NonProgress,
            "new_pid" => Expr::NewPid,
            "enabled" => Expr::Enabled(self.argument()?),
            "pc_value" => Expr::PcValue(self.argument()?),
            "get_priority" => Expr::GetPriority(self.argument()?),
            "can" => {
                self.c.expect("(")?;
                // Through `expr`, so that its depth is counted.
                let chan = Box::new(self.expr(ATOM)?);
                let (random, args) = self.receive()?;
                self.c.expect(")")?;
                Expr::Poll { chan, random, args }
            }
            "at" => {
                let (proctype, pid) = self.remote()?;
                let loc = Loc(self.c.id('l')?);
                let label = self.c.name()?;
                self.c.expect(")")?;
                Expr::AtLabel { proctype, pid, loc, label }
            }
            "remote" => {
                let (proctype, pid) = self.remote()?;
                let names = self.names;
                let place = self.place(names.proctypes.get(proctype.index()).map(|t| &t.1))?;
                self.c.expect(")")?;
                Expr::Remote { proctype, pid, place }
            }
            other => return Err(self.c.error(format!("`{other}` is no expression"))),
        })
    }

    fn argument(&mut self) -> Read<Box<Expr>> {
        self.c.expect("(")?;
        let e = self.expr(0)?;
        self.c.expect(")")?;
        Ok(Box::new(e))
    }

    /// `(worker[p], `
    fn remote(&mut self) -> Read<(ProctypeId, Option<Box<Expr>>)> {
        self.c.expect("(")?;
        let proctype = self.proctype()?;
        let pid = if self.c.take("[") {
            let e = self.expr(0)?;
            self.c.expect("]")?;
            Some(Box::new(e))
        } else {
            None
        };
        self.c.expect(",")?;
        Ok((proctype, pid))
    }

    /// `locals` are the variables a `%` means; indices always mean the evaluating process's.
    fn place(&mut self, locals: Option<&'a IndexVec<VarId, Var>>) -> Read<Place> {
        let scope = if self.c.take("@") { Scope::Global } else { Scope::Local };
        if scope == Scope::Local {
            self.c.expect("%")?;
        }
        let vars = if scope == Scope::Global { Some(&self.names.globals) } else { locals };
        let var = match self.c.next() {
            Some(Token::Number(n)) => VarId(u32::try_from(*n).map_err(|_| self.c.error("no such variable"))?),
            Some(Token::Word(name)) => {
                let mut named = vars.into_iter().flat_map(|v| v.enumerated()).filter(|(_, v)| v.name == *name);
                match (named.next(), named.next()) {
                    (Some((id, _)), None) => id,
                    (None, _) => return Err(self.c.error(format!("there is no variable {name} here"))),
                    _ => return Err(self.c.error(format!("several variables are called {name}: give its number"))),
                }
            }
            _ => return Err(self.c.error("expected the name of a variable")),
        };
        if self.c.take("{") {
            return self.bare(scope, var);
        }
        let Some(var_decl) = vars.and_then(|v| v.get(var)) else {
            return Err(self.c.error(format!("there is no variable {} here", var.0)));
        };
        self.path(scope, var, var_decl)
    }

    /// Follows the shape of the variable.
    fn path(&mut self, scope: Scope, var: VarId, decl: &Var) -> Read<Place> {
        let mut slot = u64::from(decl.slot);
        let mut index = Vec::new();
        let mut shape = &decl.shape;
        loop {
            match shape {
                Shape::Scalar(ty) => {
                    let slot = u32::try_from(slot).map_err(|_| self.c.error("a slot too far"))?;
                    return Ok(Place { scope, var, slot, ty: *ty, index });
                }
                Shape::Array(len, of) => {
                    let stride = u32::try_from(of.n_slots()).map_err(|_| self.c.error("elements too large"))?;
                    if self.c.take("[") {
                        let value = self.expr(0)?;
                        self.c.expect("]")?;
                        index.push(IndexStep { value, len: *len, stride });
                    } else {
                        self.c.expect(".")?;
                        let i = self.c.u32()?;
                        if i >= *len {
                            return Err(self.c.error(format!("{} has no element {i}", decl.name)));
                        }
                        slot += u64::from(i) * u64::from(stride);
                    }
                    shape = of;
                }
                Shape::Record(r) => {
                    self.c.expect(".")?;
                    let name = self.c.word()?;
                    let mut named = r.fields.iter().enumerate().filter(|(_, f)| f.0 == name);
                    let (Some((n, field)), None) = (named.next(), named.next()) else {
                        return Err(self.c.error(format!("{} has no field of its own called {name}", r.name)));
                    };
                    slot += r.fields[..n].iter().map(|f| f.1.n_slots()).sum::<u64>();
                    shape = &field.1;
                }
            }
        }
    }

    /// `7 byte [e; 3; 2]}`
    fn bare(&mut self, scope: Scope, var: VarId) -> Read<Place> {
        let slot = self.c.u32()?;
        let ty = self.c.ty()?;
        let mut index = Vec::new();
        while self.c.take("[") {
            let value = self.expr(0)?;
            self.c.expect(";")?;
            let len = self.c.u32()?;
            self.c.expect(";")?;
            let stride = self.c.u32()?;
            self.c.expect("]")?;
            index.push(IndexStep { value, len, stride });
        }
        self.c.expect("}")?;
        Ok(Place { scope, var, slot, ty, index })
    }
}

/// The tokens of one line.
struct Cursor<'a> {
    no: u32,
    tokens: &'a [Token],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn new(line: &'a Line) -> Self {
        Cursor { no: line.no, tokens: &line.tokens, at: 0 }
    }

    fn error(&self, message: impl Into<String>) -> ReadError {
        ReadError { line: self.no, message: message.into() }
    }

    fn wrong(&self, expected: &str) -> ReadError {
        match self.peek() {
            Some(token) => self.error(format!("expected {expected}, found {token}")),
            None => self.error(format!("expected {expected}, found the end of the line")),
        }
    }

    fn peek(&self) -> Option<&'a Token> {
        self.tokens.get(self.at)
    }

    fn next(&mut self) -> Option<&'a Token> {
        let token = self.tokens.get(self.at);
        self.at += 1;
        token
    }

    fn end(&self) -> Read<()> {
        if self.at < self.tokens.len() { Err(self.wrong("the end of the line")) } else { Ok(()) }
    }

    fn at(&self, sign: &str) -> bool {
        matches!(self.peek(), Some(Token::Sign(s)) if *s == sign)
    }

    fn take(&mut self, sign: &str) -> bool {
        let here = self.at(sign);
        self.at += usize::from(here);
        here
    }

    fn expect(&mut self, sign: &str) -> Read<()> {
        if self.take(sign) { Ok(()) } else { Err(self.wrong(&format!("`{sign}`"))) }
    }

    fn take_word(&mut self, word: &str) -> bool {
        let here = matches!(self.peek(), Some(Token::Word(w)) if w == word);
        self.at += usize::from(here);
        here
    }

    fn keyword(&mut self, word: &str) -> Read<()> {
        if self.take_word(word) { Ok(()) } else { Err(self.wrong(&format!("`{word}`"))) }
    }

    fn word(&mut self) -> Read<&'a str> {
        match self.peek() {
            Some(Token::Word(w)) => {
                self.at += 1;
                Ok(w)
            }
            _ => Err(self.wrong("a word")),
        }
    }

    fn text(&mut self) -> Read<&'a str> {
        match self.peek() {
            Some(Token::Text(t)) => {
                self.at += 1;
                Ok(t)
            }
            _ => Err(self.wrong("a string")),
        }
    }

    /// A word, or anything at all in quotes.
    fn name(&mut self) -> Read<String> {
        match self.peek() {
            Some(Token::Word(s) | Token::Text(s)) => {
                self.at += 1;
                Ok(s.clone())
            }
            _ => Err(self.wrong("a name")),
        }
    }

    fn names(&mut self) -> Read<Vec<String>> {
        let mut out = vec![self.name()?];
        while self.take(",") {
            out.push(self.name()?);
        }
        Ok(out)
    }

    fn u32(&mut self) -> Read<u32> {
        match self.peek() {
            Some(Token::Number(n)) => {
                self.at += 1;
                u32::try_from(*n).map_err(|_| self.error(format!("{n} is too large")))
            }
            _ => Err(self.wrong("a number")),
        }
    }

    fn u8(&mut self) -> Read<u8> {
        let n = self.u32()?;
        u8::try_from(n).map_err(|_| self.error(format!("{n} is too large")))
    }

    /// `l3`, `e7`, …
    fn id(&mut self, prefix: char) -> Read<u32> {
        match self.peek() {
            Some(Token::Word(w)) if is_id(w, prefix) => {
                self.at += 1;
                self.own_id(w, prefix)
            }
            _ => Err(self.wrong(&format!("`{prefix}` and a number"))),
        }
    }

    fn own_id(&self, word: &str, prefix: char) -> Read<u32> {
        let number = word.strip_prefix(prefix).and_then(|n| n.parse().ok());
        number.ok_or_else(|| self.error(format!("{word} is too large")))
    }

    fn ty(&mut self) -> Read<Type> {
        Ok(match self.word()? {
            "bit" => Type::Bit,
            "bool" => Type::Bool,
            "byte" => Type::Byte,
            "pid" => Type::Pid,
            "short" => Type::Short,
            "int" => Type::Int,
            "chan" => Type::Chan,
            "unsigned" => {
                self.expect(":")?;
                match self.u8()? {
                    bits @ 1..=31 => Type::Unsigned(bits),
                    bits => return Err(self.error(format!("unsigned has 1 to 31 bits, not {bits}"))),
                }
            }
            "mtype" => {
                self.expect(":")?;
                Type::Mtype(MtypeId(self.id('m')?))
            }
            other => return Err(self.error(format!("`{other}` is no type"))),
        })
    }

    fn few_parts(&self, parts: u64) -> Read<u64> {
        if parts > MAX_PARTS { Err(self.error(format!("more than {MAX_PARTS} parts"))) } else { Ok(parts) }
    }
}
