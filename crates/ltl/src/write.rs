//! Automata as text: never claims, HOA and dot.

use crate::automaton::{Automaton, Marks, StateId};
use crate::degeneralise::state_based;
use crate::formula::PropId;
use crate::guards::{Cube, Guard};
use crate::hoa::from_hoa;
use crate::product::accept_the_same;
use std::fmt::Write;

/// A never claim in SPIN's layout. `title` goes into the comment; `prop` gives a proposition as an expression.
/// An automaton that is not state-based is made so before.
pub fn to_never(automaton: &Automaton, title: &str, prop: impl Fn(PropId) -> String) -> String {
    let mut a = if automaton.is_state_based() { automaton.clone() } else { state_based(automaton) };
    single_start(&mut a);
    debug_assert!(a.is_state_based() && accept_the_same(automaton, &a), "a claim accepts what the automaton does");
    let start = a.initial[0];
    let all = (0..a.n_states() as u32).map(StateId).find(|&s| accepts_all(&a, s));
    let name = |s: StateId| {
        let kind = if a.is_accepting(s) { "accept" } else { "T0" };
        match s {
            s if Some(s) == all => "accept_all".to_string(),
            s if s == start => format!("{kind}_init"),
            s => format!("{kind}_S{}", s.0),
        }
    };
    let mut guards = a.guards.clone();
    // A comment cannot hold the end of one.
    let mut text = format!("never  {{    /* {} */\n", title.replace("*/", "* /"));
    let first = std::iter::once(start).chain((0..a.n_states() as u32).map(StateId).filter(|&s| s != start));
    for s in first.filter(|&s| Some(s) != all) {
        let _ = writeln!(text, "{}:", name(s));
        if a.states[s.idx()].is_empty() {
            text.push_str("\tfalse;\n");
            continue;
        }
        text.push_str("\tdo\n");
        for t in &a.states[s.idx()] {
            let literal = |(c, value): &(u32, bool)| {
                let not = if *value { "" } else { "!" };
                format!("{not}({})", prop(a.props[*c as usize]))
            };
            let condition = sum(&guards.cubes(t.guard), "1", " && ", " || ", literal);
            let _ = writeln!(text, "\t:: ({condition}) -> goto {}", name(t.target));
        }
        text.push_str("\tod;\n");
    }
    // Behind it the claim ends, which is a violation at once: so it comes last.
    if all.is_some() {
        text.push_str("accept_all:\n\tskip\n");
    }
    text.push_str("}\n");
    text
}

/// The automaton in the Hanoi omega-automata format, version 1; `prop` gives the names of the propositions.
pub fn to_hoa(automaton: &Automaton, title: &str, prop: impl Fn(PropId) -> String) -> String {
    let mut guards = automaton.guards.clone();
    let quote = |s: &str| format!("\"{}\"", s.replace('\\', "\\\\").replace('"', "\\\""));
    let mut text = format!("HOA: v1\nname: {}\nStates: {}\n", quote(title), automaton.n_states());
    for s in &automaton.initial {
        let _ = writeln!(text, "Start: {}", s.0);
    }
    let _ = write!(text, "AP: {}", automaton.props.len());
    for &p in &automaton.props {
        let _ = write!(text, " {}", quote(&prop(p)));
    }
    let (name, condition) = match automaton.n_marks {
        0 => ("all".to_string(), "t".to_string()),
        n => {
            let all: Vec<String> = (0..n).map(|m| format!("Inf({m})")).collect();
            (if n == 1 { "Buchi".to_string() } else { format!("generalized-Buchi {n}") }, all.join("&"))
        }
    };
    let _ = writeln!(text, "\nacc-name: {name}\nAcceptance: {} {condition}", automaton.n_marks);
    text.push_str("properties: trans-labels explicit-labels trans-acc\n--BODY--\n");
    for (s, transitions) in automaton.states.iter().enumerate() {
        let _ = writeln!(text, "State: {s}");
        for t in transitions {
            let literal = |(c, value): &(u32, bool)| format!("{}{c}", if *value { "" } else { "!" });
            let label = sum(&guards.cubes(t.guard), "t", "&", " | ", literal);
            let _ = writeln!(text, "[{label}] {}{}", t.target.0, braces(t.marks));
        }
    }
    text.push_str("--END--\n");
    debug_assert!(
        automaton.n_transitions() > MOST_CHECKED || reads_back(&text, automaton),
        "what is written can be read"
    );
    text
}

/// Transitions of an automaton that is read back in debug builds.
const MOST_CHECKED: usize = 64;

/// As an automaton that accepts the same.
fn reads_back(text: &str, automaton: &Automaton) -> bool {
    from_hoa(text).is_ok_and(|hoa| {
        let is_whole = hoa.props.len() == automaton.props.len();
        // Read, propositions are numbered anew.
        is_whole && accept_the_same(automaton, &Automaton { props: automaton.props.clone(), ..hoa.automaton })
    })
}

/// The automaton as a graph for Graphviz.
pub fn to_dot(automaton: &Automaton, title: &str, prop: impl Fn(PropId) -> String) -> String {
    let mut guards = automaton.guards.clone();
    let quote = |s: &str| format!("\"{}\"", s.replace('\\', "\\\\").replace('"', "\\\""));
    let mut text = format!("digraph {{\n  rankdir=LR\n  label={}\n  node [shape=circle]\n", quote(title));
    for (n, s) in automaton.initial.iter().enumerate() {
        let _ = writeln!(text, "  start{n} [shape=point]\n  start{n} -> {}", s.0);
    }
    let state_based = automaton.is_state_based();
    for (s, transitions) in automaton.states.iter().enumerate() {
        let accepting = state_based && automaton.is_accepting(StateId(s as u32));
        let _ = writeln!(text, "  {s}{}", if accepting { " [shape=doublecircle]" } else { "" });
        for t in transitions {
            let literal = |(c, value): &(u32, bool)| {
                let text = prop(automaton.props[*c as usize]);
                let simple = text.chars().all(|c| c.is_alphanumeric() || c == '_');
                let text = if simple { text } else { format!("({text})") };
                format!("{}{text}", if *value { "" } else { "!" })
            };
            let mut label = sum(&guards.cubes(t.guard), "true", " && ", " || ", literal);
            if !state_based {
                label.push_str(&braces(t.marks));
            }
            let _ = writeln!(text, "  {s} -> {} [label={}]", t.target.0, quote(&label));
        }
    }
    text.push_str("}\n");
    text
}

/// One initial state: with several, a new one that can do what each of them can.
fn single_start(a: &mut Automaton) {
    if a.initial.len() == 1 {
        return;
    }
    let mut transitions: Vec<_> = a.initial.iter().flat_map(|s| a.states[s.idx()].clone()).collect();
    for t in &mut transitions {
        t.marks = Marks::NONE;
    }
    Automaton::join(&mut a.guards, &mut transitions);
    if a.n_marks == 0 {
        a.n_marks = 1;
        for t in a.states.iter_mut().flatten() {
            t.marks = Marks::all(1);
        }
    }
    a.initial = vec![StateId(a.n_states() as u32)];
    a.states.push(transitions);
}

fn accepts_all(a: &Automaton, s: StateId) -> bool {
    a.is_accepting(s) && a.transitions(s).iter().any(|t| t.target == s && t.guard == Guard::TRUE)
}

fn braces(marks: Marks) -> String {
    if marks == Marks::NONE {
        return String::new();
    }
    let marks: Vec<String> = marks.iter().map(|m| m.to_string()).collect();
    format!(" {{{}}}", marks.join(" "))
}

/// A sum of cubes; `one` is the empty cube.
fn sum(cubes: &[Cube], one: &str, and: &str, or: &str, literal: impl Fn(&(u32, bool)) -> String) -> String {
    let product = |cube: &Cube| match &cube[..] {
        [] => one.to_string(),
        literals => literals.iter().map(&literal).collect::<Vec<_>>().join(and),
    };
    match cubes {
        [only] => product(only),
        _ if and == "&" => cubes.iter().map(product).collect::<Vec<_>>().join(or),
        _ => {
            let parenthesised = |c: &Cube| if c.len() > 1 { format!("({})", product(c)) } else { product(c) };
            cubes.iter().map(parenthesised).collect::<Vec<_>>().join(or)
        }
    }
}
