//! Machines as Promela text with the same states and the same transitions.
//!
//! # The argument
//!   A machine is an active proctype. A state is a label before an `if` whose options are the transitions, each a send, a
//!   receive or a true condition, followed by a `goto`, which is no step of its own. So a process stands at exactly one label, and from
//!   there each transition is one step. A state without transitions is `false`, at which a process stands for ever. No
//!   process comes to its closing brace. Final states have an end label besides their own; that channels have to be
//!   empty at the end is what `pan -q` asks for.
//!
//! Names that Promela or SPIN's generated code would read differently get another ending.

use super::names::{Does, Local, Machine, Machines, Sees};
use super::tree::Compare;
use crate::token::KEYS;
use std::collections::BTreeSet;
use std::fmt::Write as _;

pub fn export(m: &Machines) -> String {
    let names = Names::new(m);
    let mut out = String::from("/* made from a .cfsm protocol; for the same end states use pan -q */\n");
    if !m.messages.is_empty() {
        let _ = writeln!(out, "mtype = {{ {} }};", names.messages.join(", "));
    }
    for (c, name) in m.channels.iter().zip(&names.channels) {
        let fields = ", byte".repeat(c.n_fields);
        let (from, to) = (&names.processes[c.from], &names.processes[c.to]);
        let _ = writeln!(out, "chan {name} = [{}] of {{ mtype{fields} }}; /* {from} -> {to} */", c.capacity);
    }
    for (n, p) in m.processes.iter().enumerate() {
        machine(n, p, &names, &mut out);
    }
    for f in &m.formulas {
        let text = f.formula.text(&|p| sees(&f.props[p.0 as usize], &names));
        let text = format!("ltl {} {{ {text} }}", names.free(&f.name));
        if f.props.iter().any(Sees::is_about_steps) {
            let _ = writeln!(out, "\n/* about operations, which Promela has no words for:\n   {text} */");
        } else {
            let _ = writeln!(out, "\n{text}");
        }
    }
    out
}

fn machine(n: usize, p: &Machine, names: &Names, out: &mut String) {
    let _ = writeln!(out, "\nactive proctype {}()\n{{", names.processes[n]);
    // A process begins with what is written first.
    let order = std::iter::once(p.initial).chain((0..p.states.len()).filter(|s| *s != p.initial));
    for (s, Local { transitions, is_final, .. }) in order.map(|s| (s, &p.states[s])) {
        let end = if *is_final { format!(" end_{}:", names.states[n][s]) } else { String::new() };
        let _ = write!(out, "{}:{end}", names.states[n][s]);
        if transitions.is_empty() {
            out.push_str("\tfalse;\n");
            continue;
        }
        out.push_str("\tif\n");
        for t in transitions {
            let does = match &t.does {
                Does::Send { chan, message, data } => {
                    let data: String = data.iter().map(|d| format!(",{d}")).collect();
                    format!("{}!{}{data}", names.channels[*chan], names.messages[*message])
                }
                Does::Receive { chan, message, data } => {
                    format!("{}?{}{}", names.channels[*chan], names.messages[*message], pattern(data))
                }
                // SPIN refuses a loop of the condition 1 by itself.
                Does::Internal(name) if t.to == s => format!("_pid >= 0 /* {name} */"),
                Does::Internal(name) => format!("true /* {name} */"),
            };
            let _ = writeln!(out, "\t:: {does} -> goto {}", names.states[n][t.to]);
        }
        out.push_str("\tfi;\n");
    }
    out.push_str("}\n");
}

fn pattern(data: &[Option<u32>]) -> String {
    data.iter().map(|d| d.map_or(",_".to_string(), |d| format!(",{d}"))).collect()
}

fn sees(sees: &Sees, names: &Names) -> String {
    match sees {
        Sees::At { process, state } => format!("({}@{})", names.processes[*process], names.states[*process][*state]),
        Sees::Empty(c) => format!("(len({}) == 0)", names.channels[*c]),
        Sees::Full(c) => format!("(full({}))", names.channels[*c]),
        Sees::Head { chan, message, data } => {
            format!("({}?[{}{}])", names.channels[*chan], names.messages[*message], pattern(data))
        }
        Sees::Holds { chan, message, data } => {
            format!("({}??[{}{}])", names.channels[*chan], names.messages[*message], pattern(data))
        }
        Sees::Passes { send, chan, message, data } => {
            let sign = if *send { "!" } else { "?" };
            format!("happens({}{sign}{}{})", names.channels[*chan], names.messages[*message], pattern(data))
        }
        Sees::Takes { process, name, .. } => format!("happens({}: {name})", names.processes[*process]),
        Sees::Length(c, op, n) => {
            let op = match op {
                Compare::Eq => "==",
                Compare::Ne => "!=",
                Compare::Lt => "<",
                Compare::Le => "<=",
                Compare::Gt => ">",
                Compare::Ge => ">=",
            };
            format!("(len({}) {op} {n})", names.channels[*c])
        }
    }
}

/// What everything is called in Promela.
struct Names {
    messages: Vec<String>,
    channels: Vec<String>,
    processes: Vec<String>,
    states: Vec<Vec<String>>,
    taken: BTreeSet<String>,
}

impl Names {
    fn new(m: &Machines) -> Names {
        let mut taken = BTreeSet::new();
        let messages = m.messages.iter().map(|name| take(name, &mut taken)).collect();
        let channels = m.channels.iter().map(|c| take(&c.name, &mut taken)).collect();
        let processes = m.processes.iter().map(|p| take(&p.name, &mut taken)).collect();
        // Labels of different proctypes do not meet, but SPIN knows a label's name from a variable's only by its place.
        let states = m.processes.iter().map(|p| {
            let mut here = taken.clone();
            p.states.iter().map(|s| take(&s.name, &mut here)).collect()
        });
        let states = states.collect();
        Names { messages, channels, processes, states, taken }
    }

    fn free(&self, name: &str) -> String {
        take(name, &mut self.taken.clone())
    }
}

/// Beside Promela's own (`KEYS`): words of SPIN's formulas, and of the C text that it makes.
const WORDS: &str = " in always eventually until weakuntil release implies equivalent next U V W X auto case char \
    const continue default double enum extern float long register signed sizeof static struct switch union void \
    volatile while now main trpt ";

/// A name that is free, near to the given one.
fn take(name: &str, taken: &mut BTreeSet<String>) -> String {
    let digit = name.starts_with(|c: char| c.is_ascii_digit());
    // These beginnings mean something to SPIN.
    let mark = ["end", "accept", "progress", "_"].iter().any(|mark| name.starts_with(mark));
    let mut out = if digit || mark { format!("s_{name}") } else { name.to_string() };
    let is_word = |name: &str| KEYS.iter().any(|(_, word)| *word == name) || WORDS.contains(&format!(" {name} "));
    while is_word(&out) || taken.contains(&out) {
        out.push('_');
    }
    taken.insert(out.clone());
    out
}
