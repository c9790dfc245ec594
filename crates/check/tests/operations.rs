//! Formulas that name operations, on random protocols and random Promela models, by every search and every reduction.
//!
//! The oracles know nothing of how operations are found. Of a protocol: its machines as they were drawn. Of a Promela model:
//! the same model with a counter for each operation, written into its text beside every statement that does it; an
//! operation happens where its counter is another one in the next state.

mod explicit;

use explicit::{Explicit, loaded, text};
use spinor_check::check::{Said, Stated, interpreted};
use spinor_check::cycles::Fairness;
use spinor_check::observer::Silent;
use spinor_check::reduce::Selector;
use spinor_check::settings::{Reduce, Search, Settings};
use spinor_gen::protocol::{Does, Protocol, Shape, synthesise};
use spinor_gen::question::{Draws, formula, seeds};
use spinor_model::interp::Interp;
use spinor_model::ir::Pid;
use spinor_model::successors::Successors;
use std::collections::{BTreeSet, HashMap, VecDeque};

const MOST_STATES: usize = 400;

/// A machine's state each, and what each channel holds, first message first.
type Global = (Vec<usize>, Vec<VecDeque<(usize, u8)>>);

/// What may be said of a step of a protocol, and the state before it.
#[derive(Clone, Copy, Debug)]
enum Says {
    At(usize, usize),
    Empty(usize),
    /// Any value if none is named.
    Sends(usize, usize, Option<u8>),
    Receives(usize, usize, Option<u8>),
    Goes(usize),
}

impl Says {
    fn random(p: &Protocol, draws: &mut Draws) -> Says {
        let channel = |draws: &mut Draws| {
            let c = draws.below(p.channels.len());
            let message = draws.below(p.channels[c].messages.len());
            let value = (p.channels[c].messages[message] && draws.below(2) == 0).then(|| draws.below(2) as u8);
            (c, message, value)
        };
        let machine = draws.below(p.machines.len());
        match draws.below(9) {
            0 | 1 => Says::At(machine, draws.below(p.machines[machine].states.len())),
            2 => Says::Empty(draws.below(p.channels.len())),
            3..=5 => {
                let (c, message, value) = channel(draws);
                Says::Sends(c, message, value)
            }
            6 | 7 => {
                let (c, message, value) = channel(draws);
                Says::Receives(c, message, value)
            }
            _ => {
                let goes =
                    |m: &usize| p.machines[*m].states.iter().flat_map(|s| &s.moves).any(|m| m.does == Does::Internal);
                (0..p.machines.len()).find(goes).map_or(Says::At(machine, 0), Says::Goes)
            }
        }
    }

    fn text(self, p: &Protocol) -> String {
        let data = |v: Option<u8>| v.map_or(String::new(), |v| format!("({v})"));
        match self {
            Says::At(m, s) => format!("p{m}@s{s}"),
            Says::Empty(c) => format!("empty(c{c})"),
            Says::Sends(c, m, v) => format!("happens(p{}: -m{c}_{m}{})", p.channels[c].from, data(v)),
            Says::Receives(c, m, v) => format!("happens(p{}: +m{c}_{m}{} via c{c})", p.channels[c].to, data(v)),
            Says::Goes(m) => format!("happens(p{m}: step)"),
        }
    }

    /// `step` is who moves, and what it does; a receive with the value that it found.
    fn is(self, (at, holds): &Global, step: Option<(usize, &Does)>) -> bool {
        match (self, step) {
            (Says::At(m, s), _) => at[m] == s,
            (Says::Empty(c), _) => holds[c].is_empty(),
            (Says::Sends(c, m, v), Some((_, Does::Send { channel, message, value }))) => {
                (c, m) == (*channel, *message) && v.is_none_or(|v| v == *value)
            }
            (Says::Receives(c, m, v), Some((_, Does::Receive { channel, message, .. }))) => {
                (c, m) == (*channel, *message) && v.is_none_or(|v| Some(v) == holds[c].front().map(|h| h.1))
            }
            (Says::Goes(m), Some((who, Does::Internal))) => m == who,
            _ => false,
        }
    }
}

/// All states of the machines, and what is true of each of their steps.
fn drawn(p: &Protocol, says: &[Says]) -> Option<Explicit> {
    let bits = |state: &Global, step: Option<(usize, &Does)>| {
        says.iter().enumerate().fold(0u64, |bits, (n, s)| bits | u64::from(s.is(state, step)) << n)
    };
    let first: Global = (vec![0; p.machines.len()], vec![VecDeque::new(); p.channels.len()]);
    let mut names = HashMap::from([(first.clone(), 0)]);
    let mut todo = VecDeque::from([first]);
    let mut out = Explicit::default();
    while let Some(state) = todo.pop_front() {
        let mut edges = Vec::new();
        for (i, machine) in p.machines.iter().enumerate() {
            for m in &machine.states[state.0[i]].moves {
                let mut next = state.clone();
                match m.does {
                    Does::Internal => {}
                    Does::Send { channel, .. } if state.1[channel].len() == p.channels[channel].capacity => continue,
                    Does::Send { channel, message, value } => next.1[channel].push_back((message, value)),
                    Does::Receive { channel, message, value } => match next.1[channel].pop_front() {
                        Some((first, v)) if first == message && value.is_none_or(|value| value == v) => {}
                        _ => continue,
                    },
                }
                next.0[i] = m.to;
                let n = names.len();
                let to = *names.entry(next.clone()).or_insert_with(|| {
                    todo.push_back(next);
                    n
                });
                edges.push((to, Some(i as Pid), bits(&state, Some((i, &m.does)))));
            }
        }
        if names.len() > MOST_STATES {
            return None;
        }
        out.able.push(edges.iter().filter_map(|e| e.1).collect());
        if edges.is_empty() {
            edges.push((names[&state], None, bits(&state, None)));
        }
        out.edges.push(edges);
    }
    out.processes = (0..p.machines.len() as Pid).collect();
    Some(out)
}

const SEARCHES: [Search; 6] =
    [Search::Scc, Search::Ndfs, Search::NdfsSeed, Search::NdfsProcess, Search::SccPar, Search::Cndfs];

/// What was seen of all that is to be seen.
#[derive(Debug, Default)]
struct Seen {
    asked: usize,
    violated: usize,
    reduced: usize,
    unreduced: usize,
}

impl Seen {
    /// Asks a model about its only formula, in a way for each reduction, and replays what is found (`check` does).
    fn ask(&mut self, model: &spinor_lang::Model, right: [bool; 2], draws: &mut Draws, text: &str) {
        let f = &model.formulas[0];
        let said = Said::Formula { formula: f.formula.clone(), props: f.props.clone() };
        let stated = [Stated { name: "f".into(), said }];
        let interp = Interp::new(model.system.clone());
        for reduce in std::iter::once(Reduce::Off).chain(Selector::ALL.map(Reduce::By)) {
            let fair = draws.below(3) == 0;
            let search = SEARCHES[draws.below(if fair { 2 } else { SEARCHES.len() })];
            let fairness = if fair { Fairness::Weak } else { Fairness::None };
            let settings = Settings {
                reduce,
                search,
                fairness,
                plain: reduce == Reduce::Off && draws.below(2) == 0,
                jobs: 1 + draws.below(2),
                audit: draws.below(2) == 0,
                select: spinor_check::settings::Selection::of(["f"]),
                ..Settings::default()
            };
            let way = format!("{reduce:?} {search:?} {fairness:?}");
            println!("{way}"); // where a panic came from
            let report = interpreted(&interp, &stated, &settings, &mut Silent).expect("an answer");
            let verdict = &report.properties[0].verdict;
            assert_eq!(verdict.is_violated(), right[usize::from(fair)], "{way} {verdict:?}\n{text}");
            self.asked += 1;
            self.violated += usize::from(right[usize::from(fair)]);
            if reduce != Reduce::Off {
                *(if report.stats().left_out.por == "off" { &mut self.unreduced } else { &mut self.reduced }) += 1;
            }
        }
    }

    fn is_enough(&self) {
        println!("{self:?}");
        assert!(self.violated * 8 > self.asked && self.violated * 8 < self.asked * 7, "{self:?}");
        assert!(self.reduced * 10 > self.asked && self.unreduced > 0, "{self:?}");
    }
}

#[test]
fn protocols_do_what_their_machines_do() {
    let mut seen = Seen::default();
    // In the last one a step that was left out ends the matter.
    for seed in seeds(0..if cfg!(debug_assertions) { 250 } else { 4_000 }).chain([679]) {
        let mut draws = Draws(seed);
        let p = synthesise(seed, &Shape::small(seed));
        let says: Vec<Says> = (0..1 + draws.below(3)).map(|_| Says::random(&p, &mut draws)).collect();
        let size = 2 + draws.below(6);
        let formula = formula(&mut draws, says.len(), size, seed % 8 == 0);
        let Some(graph) = drawn(&p, &says) else { continue };
        let text = format!("{}\nltl f {{ {} }}\n", p.text(), text(&formula, &|n| says[n].text(&p)));
        println!("seed {seed}");
        let model = loaded("p.cfsm", &text);
        let right = [false, true].map(|fair| graph.breaks(&formula, fair));
        seen.ask(&model, right, &mut draws, &text);
    }
    seen.is_enough();
}

/// What may be said in a Promela model; the operations have counters, by their place.
const STATES: [&str; 3] = ["g == 1", "b", "len(q) > 0"];
const OPERATIONS: [&str; 8] = [
    "happens(q!)",
    "happens(q!1)",
    "happens(q?0)",
    "happens(c!0)",
    "happens(P1: c?)",
    "happens(P0: q!)",
    "happens(P0@L0)",
    "happens(P1[1]@L1)",
];

/// A statement, and the operations that it is.
struct Statement {
    text: String,
    does: Vec<usize>,
    /// It hands over, and cannot count.
    hands_over: bool,
    may_block: bool,
}

impl Statement {
    fn random(p: usize, draws: &mut Draws, simple: bool) -> Statement {
        let v = draws.below(2);
        let (text, does) = match draws.below(if simple { 6 } else { 9 }) {
            0 => ("g = 1 - g".into(), vec![]),
            1 => ("b = 1 - b".into(), vec![]),
            2 | 3 => {
                let mut does = vec![0];
                does.extend((v == 1).then_some(1));
                does.extend((p == 0).then_some(5));
                (format!("q!{v}"), does)
            }
            4 => (format!("q?{v}"), if v == 0 { vec![2] } else { vec![] }),
            5 => ("g == 1".into(), vec![]),
            6 => (format!("c!{v}"), vec![]),
            _ => {
                let mut does = if v == 0 { vec![3] } else { vec![] };
                does.extend((p == 1).then_some(4));
                (format!("c?{v}"), does)
            }
        };
        let (hands_over, may_block) = (text.starts_with("c!"), !text.contains(" = "));
        Statement { text, does, hands_over, may_block }
    }

    /// The statement, counted.
    fn counted(&self, also: Option<usize>) -> String {
        let counts: String = self.does.iter().chain(&also).map(|n| format!("; n{n} = (n{n} + 1) % 4")).collect();
        match &self.text {
            text if counts.is_empty() => text.clone(),
            // Who receives in a handshake has the floor.
            text if text.starts_with("c?") => format!("atomic {{ {text}{counts} }}"),
            text => format!("d_step {{ {text}{counts} }}"),
        }
    }
}

/// A model, and the same with counters.
fn texts(draws: &mut Draws) -> [String; 2] {
    let head = "chan q = [2] of { bit }; chan c = [0] of { bit };\nbit g, b;\n";
    let counters: String = (0..OPERATIONS.len()).map(|n| format!("byte n{n};\n")).collect();
    let (mut plain, mut counted) = (head.to_string(), format!("{head}{counters}"));
    for p in 0..2 {
        let n = 2 + draws.below(3);
        for out in [&mut plain, &mut counted] {
            out.push_str(&format!("active proctype P{p}() {{\n"));
        }
        for at in 0..n {
            // The labels that are named.
            let label = [(0, 0, 6), (1, 1, 7)].iter().find(|l| (l.0, l.1) == (p, at)).map(|l| l.2);
            for out in [&mut plain, &mut counted] {
                out.push_str(&format!("L{at}: if"));
            }
            for option in 0..1 + draws.below(2) {
                let mut first = Statement::random(p, draws, false);
                while first.hands_over && label.is_some() {
                    first = Statement::random(p, draws, false); // who hands over cannot count where it stood
                }
                // A label that nobody comes to is none.
                let to = if (at, option) == (0, 0) { 1 } else { draws.below(n) };
                let mut more: Vec<Statement> = Vec::new();
                if draws.below(3) == 0 {
                    more.extend((0..1 + draws.below(2)).map(|_| Statement::random(p, draws, true)));
                }
                let may = !first.text.starts_with("c") && !more.is_empty() && more.iter().all(|s| !s.may_block);
                let d_step = may && draws.below(2) == 0;
                let word = if d_step { "d_step" } else { "atomic" };
                let join = |first: String, rest: Vec<String>| {
                    let all: Vec<String> = std::iter::once(first).chain(rest).collect();
                    if all.len() == 1 { all[0].clone() } else { format!("{word} {{ {} }}", all.join("; ")) }
                };
                let rest = more.iter().map(|s| s.text.clone()).collect();
                plain.push_str(&format!(" :: {}; goto L{to}", join(first.text.clone(), rest)));
                // A d_step in a d_step says nothing; in an atomic it is a statement.
                let unwrap = |text: String| {
                    if d_step { text.replace("d_step { ", "").replace(" }", "") } else { text }
                };
                let rest = more.iter().map(|s| unwrap(s.counted(None))).collect();
                counted.push_str(&format!(" :: {}; goto L{to}", join(unwrap(first.counted(label)), rest)));
            }
            for out in [&mut plain, &mut counted] {
                out.push_str(" fi;\n");
            }
        }
        for out in [&mut plain, &mut counted] {
            out.push_str("}\n");
        }
    }
    [plain, counted]
}

/// All states of a model with counters. What happens is told by what changes.
fn counted(model: &spinor_lang::Model, says: &[usize]) -> Option<Explicit> {
    let f = &model.formulas[0];
    let interp = Interp::looking(model.system.clone(), &f.props);
    let mut key = Vec::new();
    interp.pack(&interp.initial().expect("a first state"), &mut key);
    let mut names = HashMap::from([(key.clone(), 0)]);
    let mut todo = VecDeque::from([key]);
    let mut out = Explicit::default();
    let globals = |key: &[u8]| interp.unpack(key).globals().to_vec();
    let slot = |n: usize| {
        let name = format!("n{n}");
        interp.system().globals.slot_names().iter().position(|(s, _)| *s == name).expect("a counter")
    };
    let columns: Vec<Option<usize>> = says.iter().map(|s| s.checked_sub(STATES.len()).map(slot)).collect();
    while let Some(at) = todo.pop_front() {
        let mut state = interp.unpack(&at);
        let (mut steps, mut batch, mut look) = (Vec::new(), interp.batch(), Vec::new());
        interp.look(&mut state, &mut look).expect("it has a value");
        interp.enabled(&mut state, &mut steps);
        interp.fire(&mut state, &steps, &mut batch);
        let before = globals(&at);
        let bits = |after: &[i32]| {
            let is = |(n, column): (usize, &Option<usize>)| match column {
                None => look[0] >> says[n] & 1,
                Some(slot) => u64::from(before[*slot] != after[*slot]),
            };
            columns.iter().enumerate().fold(0u64, |bits, c| bits | is(c) << c.0)
        };
        let mut edges = Vec::new();
        for outcome in &batch.outcomes {
            let to = batch.key(outcome).expect("nothing fails");
            let n = names.len();
            let name = *names.entry(to.to_vec()).or_insert_with(|| {
                todo.push_back(to.to_vec());
                n
            });
            edges.push((name, Some(steps[outcome.step as usize].pid), bits(&globals(to))));
        }
        if names.len() > 20 * MOST_STATES {
            return None;
        }
        out.able.push(steps.iter().map(|s| s.pid).collect());
        if edges.is_empty() {
            edges.push((names[&at], None, bits(&before)));
        }
        out.edges.push(edges);
    }
    out.processes = BTreeSet::from([0, 1]);
    Some(out)
}

#[test]
fn promela_does_what_counters_count() {
    let mut seen = Seen::default();
    // In the last one a step that was left out ends the matter.
    for seed in seeds(0..if cfg!(debug_assertions) { 150 } else { 2_000 }).chain([1537]) {
        let mut draws = Draws(seed ^ 0x0b0e);
        let [plain, with_counters] = texts(&mut draws);
        let n = 1 + draws.below(3);
        let says: Vec<usize> = (0..n).map(|_| draws.below(STATES.len() + OPERATIONS.len())).collect();
        let size = 2 + draws.below(6);
        let formula = formula(&mut draws, n, size, seed % 8 == 0);
        // The states are looked at by the first propositions, in their order.
        let states: Vec<String> = STATES.iter().map(|s| format!("<> ({s})")).collect();
        println!("seed {seed}");
        let all = loaded("counted", &format!("{with_counters}ltl f {{ {} }}\n", states.join(" && ")));
        assert_eq!(all.formulas[0].props.len(), STATES.len());
        let Some(graph) = counted(&all, &says) else { continue };
        let said = |n: usize| {
            let n = says[n];
            n.checked_sub(STATES.len()).map_or_else(|| format!("({})", STATES[n]), |n| OPERATIONS[n].to_string())
        };
        let text = format!("{plain}ltl f {{ {} }}\n", text(&formula, &said));
        let model = loaded("plain", &text);
        let right = [false, true].map(|fair| graph.breaks(&formula, fair));
        seen.ask(&model, right, &mut draws, &text);
    }
    seen.is_enough();
}
