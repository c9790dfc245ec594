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

mod expr;
mod token;

use crate::index::{Idx, IndexVec};
use crate::ir::{
    ChanDecl, Edge, EdgeId, Frame, Init, Loc, Monitor, MtypeSet, Proctype, ProctypeId, Promise, Record, Shape, System,
    Type, Var, VarId,
};
use crate::print::is_id;
use crate::source::{Sources, Span};
use expr::Exprs;
use std::fmt;
use std::sync::Arc;
use token::{Cursor, Line, Token, tokenise};

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
                        "drained" => uses.drained = true,
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
        if word == "active" || word == "symmetric" {
            let list = if word == "active" { &mut system.active } else { &mut system.symmetric };
            loop {
                list.push(p.proctype()?);
                if !p.c.take(",") {
                    return p.c.end();
                }
            }
        }
        if word == "visible" {
            loop {
                let edge = (p.proctype()?, EdgeId(p.c.id('e')?));
                system.visible.push(edge);
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
