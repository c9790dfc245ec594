//! A tree into machines whose names are resolved: which channel a message goes through, which state a transition leads to,
//! what a condition looks at. Everything that is wrong is reported.

use super::tree::{self, Arg, Atom, Check, CheckKind, Compare, Content, FormulaKind, Ident, Op, Tree, Which};
use crate::diags::Diags;
use crate::lower::closest;
use spinor_ltl::{Formula, PropId};
use spinor_model::diagnostic::Diagnostic;
use spinor_model::ir::MAX_LIVE;
use spinor_model::source::Span;
use std::collections::BTreeMap;

#[derive(Debug, Default)]
pub struct Machines {
    /// Message `n` is the mtype value `n + 1`.
    pub messages: Vec<String>,
    pub channels: Vec<Chan>,
    pub processes: Vec<Machine>,
    pub formulas: Vec<Stated>,
    pub receptions: Vec<usize>,
    pub strict: bool,
    pub overflows: Vec<usize>,
}

#[derive(Debug)]
pub struct Chan {
    pub name: String,
    pub span: Span,
    pub from: usize,
    pub to: usize,
    pub capacity: u32,
    /// Data of its longest message.
    pub n_fields: usize,
    messages: BTreeMap<usize, Vec<(u32, u32)>>,
}

#[derive(Debug)]
pub struct Machine {
    pub name: String,
    pub span: Span,
    pub states: Vec<Local>,
    pub initial: usize,
}

#[derive(Debug)]
pub struct Local {
    pub name: String,
    pub span: Span,
    pub is_final: bool,
    pub transitions: Vec<Move>,
}

#[derive(Debug)]
pub struct Move {
    pub does: Does,
    pub to: usize,
    pub visible: bool,
    pub span: Span,
}

/// Data are as many as the channel has fields. What a message does not have is sent as 0 and received as anything.
#[derive(Debug)]
pub enum Does {
    Send { chan: usize, message: usize, data: Vec<u32> },
    Receive { chan: usize, message: usize, data: Vec<Option<u32>> },
    Internal(String),
}

#[derive(Debug)]
pub struct Stated {
    pub name: String,
    pub formula: Formula,
    pub props: Vec<Sees>,
    /// Where each of them is written first.
    pub says: Vec<Span>,
    pub text: Span,
    pub span: Span,
}

/// What a condition looks at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Sees {
    At {
        process: usize,
        state: usize,
    },
    Empty(usize),
    Full(usize),
    Head {
        chan: usize,
        message: usize,
        data: Vec<Option<u32>>,
    },
    Holds {
        chan: usize,
        message: usize,
        data: Vec<Option<u32>>,
    },
    Length(usize, Compare, u32),
    /// The next step sends such a message, or receives it.
    Passes {
        send: bool,
        chan: usize,
        message: usize,
        data: Vec<Option<u32>>,
    },
    /// The next step is one of these transitions, counted through all states of the process.
    Takes {
        process: usize,
        transitions: Vec<usize>,
        name: String,
    },
}

impl Sees {
    /// It is about a step, not about a state.
    pub fn is_about_steps(&self) -> bool {
        matches!(self, Sees::Passes { .. } | Sees::Takes { .. })
    }
}

/// Mtype values and channels are bytes.
const MOST: usize = 255;
/// Data of one message.
const MOST_FIELDS: usize = 16;
/// A channel that can hold more has more contents than can be searched.
const MOST_ROOM: u32 = 255;

pub fn resolve(tree: &Tree, diags: &mut Diags) -> Machines {
    let mut r = Resolver { tree, diags, out: Machines::default() };
    r.channels();
    for (n, process) in tree.processes.iter().enumerate() {
        let machine = r.machine(n, process);
        r.out.processes.push(machine);
    }
    r.sizes();
    r.checks();
    for (n, ltl) in tree.formulas.iter().enumerate() {
        r.formula(n, ltl);
    }
    r.habits();
    r.out
}

struct Resolver<'a> {
    tree: &'a Tree,
    diags: &'a mut Diags,
    out: Machines,
}

impl<'a> Resolver<'a> {
    /// Reports what has the name of something before it.
    fn unique(&mut self, what: &str, names: impl Iterator<Item = &'a Ident>) {
        let mut known: BTreeMap<&str, Span> = BTreeMap::new();
        for ident in names {
            if let Some(first) = known.insert(&ident.name, ident.span) {
                self.diags.push(
                    Diagnostic::error("C0101", format!("the {what} `{}` is declared twice", ident.name))
                        .at(ident.span, "declared again here")
                        .label(first, "first declared here"),
                );
                known.insert(&ident.name, first);
            }
        }
    }

    fn unknown(&mut self, code: &'static str, what: &str, ident: &Ident, known: Vec<(String, Span)>) {
        let error =
            Diagnostic::error(code, format!("there is no {what} `{}`", ident.name)).at(ident.span, "not declared");
        let near = closest(&ident.name, known.clone().into_iter());
        self.diags.push(match near {
            Some((name, span)) => error
                .label(span, format!("a {what} `{name}` is declared here"))
                .help(format!("did you mean `{name}`?"))
                .fix(ident.span, name),
            None if known.is_empty() => error,
            None => {
                let names: Vec<String> = known.into_iter().take(12).map(|(name, _)| format!("`{name}`")).collect();
                error.help(format!("there is {}", names.join(", ")))
            }
        });
    }

    fn process(&mut self, ident: &Ident) -> Option<usize> {
        let tree = self.tree;
        let found = tree.processes.iter().position(|p| p.name.name == ident.name);
        if found.is_none() {
            let known = tree.processes.iter().map(|p| (p.name.name.clone(), p.name.span)).collect();
            self.unknown("C0102", "process", ident, known);
        }
        found
    }

    fn channel(&mut self, ident: &Ident) -> Option<usize> {
        let found = self.out.channels.iter().position(|c| c.name == ident.name);
        if found.is_none() {
            let known = self.out.channels.iter().map(|c| (c.name.clone(), c.span)).collect();
            self.unknown("C0103", "channel", ident, known);
        }
        found
    }

    fn message(&mut self, name: &str) -> usize {
        let messages = &mut self.out.messages;
        messages.iter().position(|m| m == name).unwrap_or_else(|| {
            messages.push(name.to_string());
            messages.len() - 1
        })
    }

    fn channels(&mut self) {
        let tree = self.tree;
        self.unique("process", tree.processes.iter().map(|p| &p.name));
        self.unique("channel", tree.channels.iter().map(|c| &c.name));
        for c in &tree.channels {
            self.unique("message", c.messages.iter().map(|m| &m.name));
            // One that cannot be resolved is kept all the same, so that no transition is blamed for it.
            let from = self.process(&c.from).unwrap_or(usize::MAX);
            let to = self.process(&c.to).unwrap_or(usize::MAX);
            if from == to && from != usize::MAX {
                self.diags.push(
                    Diagnostic::error("C0301", "a channel leads from one process to another")
                        .at(c.to.span, "the same process")
                        .help("let the process remember by its state what it would tell itself"),
                );
            }
            if c.capacity.value == 0 || c.capacity.value > MOST_ROOM {
                self.diags.push(
                    Diagnostic::error("C0302", format!("a channel has room for 1 to {MOST_ROOM} messages"))
                        .at(c.capacity.span, "")
                        .help("messages wait in a channel: one without room could never be used"),
                );
            }
            let mut messages = BTreeMap::new();
            for m in &c.messages {
                for (low, high) in &m.fields {
                    if low.value > high.value || high.value > 255 {
                        self.diags.push(
                            Diagnostic::error("C0303", format!("`{}..{}` is no range", low.value, high.value))
                                .at(super::parser::join(low.span, high.span), "")
                                .help("write the least value first; the greatest that there can be is 255"),
                        );
                    }
                }
                if m.fields.len() > MOST_FIELDS {
                    self.diags.push(
                        Diagnostic::error("C0308", format!("a message has at most {MOST_FIELDS} fields"))
                            .at(m.name.span, format!("it has {}", m.fields.len())),
                    );
                }
                let fields = m.fields.iter().map(|(low, high)| (low.value, high.value)).collect();
                messages.insert(self.message(&m.name.name), fields);
            }
            let n_fields = messages.values().map(Vec::len).max().unwrap_or(0);
            let (name, span) = (c.name.name.clone(), c.name.span);
            self.out.channels.push(Chan { name, span, from, to, capacity: c.capacity.value, n_fields, messages });
        }
    }

    fn machine(&mut self, n: usize, p: &'a tree::Process) -> Machine {
        self.unique("state", p.states.iter().map(|s| &s.name));
        if p.states.is_empty() {
            self.diags.push(
                Diagnostic::error("C0306", format!("the process `{}` has no states", p.name.name))
                    .at(p.name.span, "")
                    .help("it stands in its first one, or in the one that is marked `initial`: `state s { … }`"),
            );
        }
        let mut marks = p.states.iter().enumerate().filter_map(|(n, s)| s.initial.map(|span| (n, span)));
        let first = marks.next();
        if let (Some((_, first)), Some((_, second))) = (first, marks.next()) {
            self.diags.push(
                Diagnostic::error("C0305", format!("the process `{}` has two initial states", p.name.name))
                    .at(second, "a second one")
                    .label(first, "the first"),
            );
        }
        let states = p.states.iter().map(|s| {
            let moves = s.transitions.iter().filter_map(|t| self.transition(n, p, t));
            let (name, span) = (s.name.name.clone(), s.name.span);
            Local { transitions: moves.collect(), name, span, is_final: s.is_final }
        });
        let states = states.collect();
        let (name, span) = (p.name.name.clone(), p.name.span);
        Machine { name, span, states, initial: first.map_or(0, |(n, _)| n) }
    }

    fn transition(&mut self, n: usize, p: &tree::Process, t: &tree::Transition) -> Option<Move> {
        let to = self.state(p, &t.to);
        let does = match &t.op {
            Op::Send(content) => {
                let chan = self.route(n, content, true)?;
                let (message, data) = self.content(chan, content, true)?;
                if let Some(Arg::Any(span)) = content.args.iter().find(|a| matches!(a, Arg::Any(_))) {
                    self.diags.push(
                        Diagnostic::error("C0304", "`_` says nothing about what is sent")
                            .at(*span, "a value goes here")
                            .help("write one transition for each value that can be sent"),
                    );
                }
                Does::Send { chan, message, data: data.into_iter().map(|d| d.unwrap_or(0)).collect() }
            }
            Op::Receive(content) => {
                let chan = self.route(n, content, false)?;
                let (message, data) = self.content(chan, content, false)?;
                Does::Receive { chan, message, data }
            }
            Op::Internal(name) => Does::Internal(name.name.clone()),
        };
        Some(Move { does, to: to?, visible: t.visible, span: t.span })
    }

    fn state(&mut self, p: &tree::Process, ident: &Ident) -> Option<usize> {
        let found = p.states.iter().position(|s| s.name.name == ident.name);
        if found.is_none() {
            let known = p.states.iter().map(|s| (s.name.name.clone(), s.name.span)).collect();
            self.unknown("C0104", &format!("state of `{}`", p.name.name), ident, known);
        }
        found
    }

    /// The channel that a message of process `n` goes through.
    fn route(&mut self, n: usize, content: &Content, send: bool) -> Option<usize> {
        let (leaves, verb) = if send { ("leaves", "send") } else { ("reaches", "receive") };
        let ends_here = |c: &Chan| if send { c.from == n } else { c.to == n };
        if let Some(via) = &content.via {
            let chan = self.channel(via)?;
            let c = &self.out.channels[chan];
            if !ends_here(c) && c.from != usize::MAX && c.to != usize::MAX {
                let process = self.tree.processes[n].name.name.clone();
                let (name, span) = (c.name.clone(), c.span);
                self.diags.push(
                    Diagnostic::error("C0107", format!("`{process}` cannot {verb} through `{name}`"))
                        .at(via.span, format!("it is no channel that {leaves} `{process}`"))
                        .label(span, "declared here"),
                );
                return None;
            }
            return Some(chan);
        }
        let name = &content.message.name;
        let known = self.out.messages.iter().position(|m| m == name);
        let carries = |c: &Chan| known.is_some_and(|m| c.messages.contains_key(&m));
        let chans: Vec<usize> = (0..self.out.channels.len()).filter(|c| ends_here(&self.out.channels[*c])).collect();
        let fits: Vec<usize> = chans.iter().copied().filter(|c| carries(&self.out.channels[*c])).collect();
        match fits[..] {
            [one] => Some(one),
            [] => {
                let tree = self.tree;
                let process = &tree.processes[n].name.name;
                let all = tree.channels.iter().zip(&self.out.channels).filter(|(_, c)| ends_here(c));
                let names = all.flat_map(|(c, _)| &c.messages).map(|m| (m.name.name.clone(), m.name.span));
                let text = format!("no channel that {leaves} `{process}` carries `{name}`");
                let error = Diagnostic::error("C0105", text).at(content.message.span, "");
                self.diags.push(match closest(name, names) {
                    Some((near, span)) => error
                        .label(span, format!("a message `{near}` is declared here"))
                        .help(format!("did you mean `{near}`?"))
                        .fix(content.message.span, near),
                    None => error.help(format!("add it to the messages of one: `channel … of …, {name}`")),
                });
                None
            }
            _ => {
                let mut error = Diagnostic::error("C0106", format!("several channels could {verb} `{name}`"))
                    .at(content.span, "which one?")
                    .help(format!("name it: `{name} via {}`", self.out.channels[fits[0]].name));
                for chan in &fits {
                    error = error.label(self.out.channels[*chan].span, "this one carries it");
                }
                self.diags.push(error);
                None
            }
        }
    }

    /// The message and its data, as many as the channel has fields.
    fn content(&mut self, chan: usize, content: &Content, send: bool) -> Option<(usize, Vec<Option<u32>>)> {
        let name = &content.message.name;
        let known = self.out.messages.iter().position(|m| m == name);
        let c = &self.out.channels[chan];
        let Some((message, fields)) = known.and_then(|m| Some((m, c.messages.get(&m)?))) else {
            let (text, span) = (format!("`{}` does not carry `{name}`", c.name), c.span);
            self.diags.push(
                Diagnostic::error("C0105", text)
                    .at(content.message.span, "")
                    .label(span, "the channel")
                    .help(format!("add it to its messages: `channel {} … of …, {name}`", self.out.channels[chan].name)),
            );
            return None;
        };
        // Received without parentheses, whatever it carries is meant.
        let any = content.args.is_empty() && !send;
        if !any && content.args.len() != fields.len() {
            let n = fields.len();
            let (span, fields) = (c.span, if n == 1 { "field" } else { "fields" });
            self.diags.push(
                Diagnostic::error("C0307", format!("`{name}` has {n} {fields}"))
                    .at(content.span, format!("{} here", content.args.len()))
                    .label(span, "the channel"),
            );
            return None;
        }
        let mut data = vec![None; c.n_fields];
        let mut wrong = None;
        for (n, arg) in content.args.iter().enumerate() {
            if let Arg::Value(v) = arg {
                let (low, high) = fields[n];
                if v.value < low || v.value > high {
                    wrong = Some((v.span, low, high));
                }
                data[n] = Some(v.value);
            }
        }
        if let Some((span, low, high)) = wrong {
            self.diags.push(
                Diagnostic::error("C0309", "this value is outside of its range")
                    .at(span, format!("{low} to {high} are possible")),
            );
            return None;
        }
        Some((message, data))
    }

    fn sizes(&mut self) {
        let tree = self.tree;
        let mut most = |n: usize, what: &str, span: Option<Span>, most: usize| {
            if n > most {
                let error = Diagnostic::error("C0308", format!("there are {n} {what}"));
                let error = span.map_or(error.clone(), |span| error.at(span, "too many"));
                self.diags.push(error.help(format!("at most {most} are possible")));
            }
        };
        most(tree.processes.len(), "processes", tree.processes.get(MAX_LIVE).map(|p| p.name.span), MAX_LIVE);
        most(tree.channels.len(), "channels", tree.channels.get(MOST).map(|c| c.name.span), MOST);
        most(self.out.messages.len(), "messages", tree.channels.last().map(|c| c.name.span), MOST);
        if tree.processes.is_empty() {
            self.diags.push(
                Diagnostic::error("C0310", "this protocol has no processes").help("add one: `process p { state s }`"),
            );
        }
    }

    fn checks(&mut self) {
        let all: Vec<usize> = (0..self.out.channels.len()).collect();
        (self.out.receptions, self.out.overflows) = (all.clone(), all.clone());
        let tree = self.tree;
        for Check { what, which } in &tree.checks {
            let channels = match which {
                Which::All => all.clone(),
                Which::None => Vec::new(),
                Which::These(names) => names.iter().filter_map(|name| self.channel(name)).collect(),
            };
            match what {
                CheckKind::Overflow => self.out.overflows = channels,
                CheckKind::Reception | CheckKind::StrictReception => {
                    self.out.receptions = channels;
                    self.out.strict = *what == CheckKind::StrictReception;
                }
            }
        }
    }

    fn formula(&mut self, n: usize, ltl: &tree::Ltl) {
        let name = ltl.name.as_ref().map_or_else(|| format!("ltl_{n}"), |n| n.name.clone());
        if let Some(first) = self.out.formulas.iter().find(|f| f.name == name) {
            self.diags.push(
                Diagnostic::error("C0101", format!("the formula `{name}` is declared twice"))
                    .at(ltl.span, "declared again here")
                    .label(first.span, "first declared here"),
            );
        }
        let mut props = Props::default();
        if let Some(formula) = self.part(&ltl.formula, &mut props) {
            let Props { sees, says } = props;
            self.out.formulas.push(Stated { name, formula, props: sees, says, text: ltl.formula.span, span: ltl.span });
        }
    }

    fn part(&mut self, f: &tree::Formula, props: &mut Props) -> Option<Formula> {
        use tree::{Binary, Unary};
        Some(match &f.kind {
            FormulaKind::True => Formula::True,
            FormulaKind::False => Formula::False,
            FormulaKind::Atom(atom) => {
                let sees = self.atom(atom)?;
                let n = props.sees.iter().position(|s| *s == sees).unwrap_or_else(|| {
                    props.sees.push(sees);
                    props.says.push(f.span);
                    props.sees.len() - 1
                });
                Formula::Prop(PropId(n as u32))
            }
            FormulaKind::Unary(op, a) => {
                let a = Box::new(self.part(a, props)?);
                match op {
                    Unary::Not => Formula::Not(a),
                    Unary::Always => Formula::Always(a),
                    Unary::Eventually => Formula::Eventually(a),
                    Unary::Next => Formula::Next(a),
                }
            }
            FormulaKind::Binary(op, a, b) => {
                let (a, b) = (self.part(a, props), self.part(b, props));
                let (a, b) = (Box::new(a?), Box::new(b?));
                match op {
                    Binary::And => Formula::And(a, b),
                    Binary::Or => Formula::Or(a, b),
                    Binary::Implies => Formula::Implies(a, b),
                    Binary::Equivalent => Formula::Equivalent(a, b),
                    Binary::Until => Formula::Until(a, b),
                    Binary::WeakUntil => Formula::WeakUntil(a, b),
                    Binary::Release => Formula::Release(a, b),
                }
            }
        })
    }

    fn atom(&mut self, atom: &Atom) -> Option<Sees> {
        let tree = self.tree;
        Some(match atom {
            Atom::At(process, state) => {
                let process = self.process(process)?;
                Sees::At { process, state: self.state(&tree.processes[process], state)? }
            }
            Atom::Empty(c) => Sees::Empty(self.channel(c)?),
            Atom::Full(c) => Sees::Full(self.channel(c)?),
            Atom::Length(c, op, n) => Sees::Length(self.channel(c)?, *op, n.value),
            Atom::Head(c, content) | Atom::Holds(c, content) => {
                let chan = self.channel(c)?;
                let (message, data) = self.content(chan, content, false)?;
                if matches!(atom, Atom::Head(..)) {
                    Sees::Head { chan, message, data }
                } else {
                    Sees::Holds { chan, message, data }
                }
            }
            Atom::Happens(process, op) => {
                let process = self.process(process)?;
                self.operation(process, op)?
            }
        })
    }

    fn operation(&mut self, process: usize, op: &Op) -> Option<Sees> {
        let moves = |r: &Self| -> Vec<(usize, Span, String)> {
            let all = r.out.processes[process].states.iter().flat_map(|s| &s.transitions).enumerate();
            let name = |m: &Move| if let Does::Internal(name) = &m.does { Some(name.clone()) } else { None };
            all.filter_map(|(n, m)| Some((n, m.span, name(m)?))).collect()
        };
        let (content, send) = match op {
            Op::Send(content) => (content, true),
            Op::Receive(content) => (content, false),
            Op::Internal(name) => {
                let all = moves(self);
                let transitions: Vec<usize> = all.iter().filter(|m| m.2 == name.name).map(|m| m.0).collect();
                if transitions.is_empty() {
                    let what = format!("transition of `{}`", self.tree.processes[process].name.name);
                    self.unknown("C0108", &what, name, all.into_iter().map(|m| (m.2, m.1)).collect());
                    return None;
                }
                return Some(Sees::Takes { process, transitions, name: name.name.clone() });
            }
        };
        let chan = self.route(process, content, send)?;
        // As in a receive, whatever is carried may be left out or be anything.
        let (message, data) = self.content(chan, content, false)?;
        let fits = |d: &Option<u32>, other: Option<u32>| d.is_none() || other.is_none() || *d == other;
        let does = |m: &Move| match &m.does {
            Does::Send { chan: c, message: n, data: sent } if send => {
                *c == chan && *n == message && data.iter().zip(sent).all(|(d, s)| fits(d, Some(*s)))
            }
            Does::Receive { chan: c, message: n, data: taken } if !send => {
                *c == chan && *n == message && data.iter().zip(taken).all(|(d, t)| fits(d, *t))
            }
            _ => false,
        };
        if !self.out.processes[process].states.iter().flat_map(|s| &s.transitions).any(does) {
            let name = &self.tree.processes[process].name;
            self.diags.push(
                Diagnostic::warning("C0322", format!("no transition of `{}` does this", name.name))
                    .at(content.span, "never happens")
                    .label(name.span, "the process"),
            );
        }
        Some(Sees::Passes { send, chan, message, data })
    }

    /// What is allowed and hardly meant.
    fn habits(&mut self) {
        if self.diags.has_errors() {
            return;
        }
        let (tree, out) = (self.tree, &self.out);
        for (p, machine) in tree.processes.iter().zip(&out.processes) {
            let mut seen = vec![false; machine.states.len()];
            let mut todo = vec![machine.initial];
            while let Some(s) = todo.pop() {
                if !std::mem::replace(&mut seen[s], true) {
                    todo.extend(machine.states[s].transitions.iter().map(|t| t.to));
                }
            }
            for (s, _) in p.states.iter().zip(&seen).filter(|(_, seen)| !**seen) {
                self.diags.push(
                    Diagnostic::warning("C0320", format!("no transition leads to the state `{}`", s.name.name))
                        .at(s.name.span, "never reached"),
                );
            }
        }
        let moves = || out.processes.iter().flat_map(|m| &m.states).flat_map(|s| &s.transitions);
        for m in moves() {
            let Does::Receive { chan, message, data } = &m.does else { continue };
            let fits = |sent: &[u32]| data.iter().zip(sent).all(|(d, s)| d.is_none_or(|d| d == *s));
            let sent = moves().any(|m| match &m.does {
                Does::Send { chan: c, message: n, data } => c == chan && n == message && fits(data),
                _ => false,
            });
            if !sent {
                let name = &out.messages[*message];
                self.diags.push(
                    Diagnostic::warning("C0321", format!("nobody sends the `{name}` that is received here"))
                        .at(m.span, "never executed")
                        .label(out.channels[*chan].span, "the channel"),
                );
            }
        }
    }
}

#[derive(Default)]
struct Props {
    sees: Vec<Sees>,
    says: Vec<Span>,
}
