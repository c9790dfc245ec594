//! Synthesised protocols: what every engine says of them is what their description says.
//!
//! The oracle below knows the machines as they were drawn, not their text and not the system they become: a global state is the
//! machines' states and lists of messages. It finds deadlocks, receptions that are not specified, overflows and transitions
//! that are never executed by trying everything, and counts states and transitions on the way.
//!
//! `SPINOR_PROTOCOLS=A..B` asks about other seeds than usual.

use spinor::native::natively;
use spinor_check::check::interpreted;
use spinor_check::observer::Silent;
use spinor_check::protocol::{Channel, Protocol};
use spinor_check::report::Report;
use spinor_check::settings::{Search, Settings, Store};
use spinor_gen::protocol::{Does, Shape, synthesise};
use spinor_lang::{Options, load};
use spinor_model::interp::Interp;
use spinor_model::validate::validate;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::ops::Range;
use std::path::Path;

/// A machine's state each, and what each channel holds, first message first.
type Global = (Vec<usize>, Vec<VecDeque<(usize, u8)>>);

#[derive(Debug, Default, PartialEq, Eq)]
struct Truth {
    states: u64,
    transitions: u64,
    /// How far the nearest one is.
    deadlock: Option<u64>,
    reception: Option<u64>,
    strict: Option<u64>,
    overflow: Option<u64>,
    never_executed: u64,
}

const MOST_STATES: usize = 4_000;

fn truth(p: &spinor_gen::protocol::Protocol) -> Option<Truth> {
    let mut out = Truth::default();
    let first: Global = (vec![0; p.machines.len()], vec![VecDeque::new(); p.channels.len()]);
    let mut distance = HashMap::from([(first.clone(), 0u64)]);
    let mut todo = VecDeque::from([first]);
    let mut executed: BTreeSet<(usize, usize, usize)> = BTreeSet::new();
    out.transitions = 1;
    while let Some(state) = todo.pop_front() {
        if distance.len() > MOST_STATES {
            return None;
        }
        let depth = distance[&state];
        let (at, holds) = &state;
        let mut can_move = false;
        for (i, machine) in p.machines.iter().enumerate() {
            let moves = &machine.states[at[i]].moves;
            for (n, m) in moves.iter().enumerate() {
                let mut next = state.clone();
                match m.does {
                    Does::Internal => {}
                    Does::Send { channel, message, value } => {
                        if holds[channel].len() == p.channels[channel].capacity {
                            out.overflow.get_or_insert(depth);
                            continue;
                        }
                        next.1[channel].push_back((message, value));
                    }
                    Does::Receive { channel, message, value } => match holds[channel].front() {
                        Some((first, v)) if *first == message && value.is_none_or(|value| value == *v) => {
                            next.1[channel].pop_front();
                        }
                        _ => continue,
                    },
                }
                can_move = true;
                executed.insert((i, at[i], n));
                next.0[i] = m.to;
                out.transitions += 1;
                if !distance.contains_key(&next) {
                    distance.insert(next.clone(), depth + 1);
                    todo.push_back(next);
                }
            }
            for (c, channel) in p.channels.iter().enumerate().filter(|(_, c)| c.to == i) {
                let _ = channel;
                let Some((first, v)) = holds[c].front() else { continue };
                let takes = moves.iter().any(|m| {
                    matches!(m.does, Does::Receive { channel, message, value }
                        if channel == c && message == *first && value.is_none_or(|value| value == *v))
                });
                if takes {
                    continue;
                }
                out.strict.get_or_insert(depth);
                if !moves.is_empty() && moves.iter().all(|m| matches!(m.does, Does::Receive { .. })) {
                    out.reception.get_or_insert(depth);
                }
            }
        }
        let fine =
            p.machines.iter().zip(at).all(|(m, s)| m.states[*s].is_final) && holds.iter().all(VecDeque::is_empty);
        if !can_move && !fine {
            out.deadlock.get_or_insert(depth);
        }
    }
    out.states = distance.len() as u64;
    let all = p.machines.iter().flat_map(|m| &m.states).map(|s| s.moves.len()).sum::<usize>();
    out.never_executed = (all - executed.len()) as u64;
    Some(out)
}

fn asked(p: &spinor_lang::cfsm::Protocol, strict: bool) -> Protocol {
    let channel = |c: &spinor_lang::cfsm::Channel| Channel { name: c.name.clone(), var: c.var, from: c.from, to: c.to };
    Protocol {
        channels: p.channels.iter().map(channel).collect(),
        receptions: p.receptions.clone(),
        overflows: p.overflows.clone(),
        strict,
    }
}

/// The report says what is true, with a shortest trace where the search is one that finds it.
fn agree(report: &Report, truth: &Truth, strict: bool, counts: bool, text: &str, way: &str) {
    let reception = if strict { truth.strict } else { truth.reception };
    for (name, nearest) in [("deadlock", truth.deadlock), ("reception", reception), ("overflow", truth.overflow)] {
        let p = report.property(name).expect("it is asked");
        assert_eq!(p.verdict.is_violated(), nearest.is_some(), "{way}: {name} {:?}\n{text}", p.verdict);
        if let (Some(nearest), true) = (nearest, counts) {
            assert_eq!(p.traces[0].steps.len() as u64, nearest, "{way}: {name}\n{text}");
        }
    }
    let p = report.property("nonexecutable").expect("it is asked");
    assert_eq!(p.n_violations, truth.never_executed, "{way}\n{text}");
    assert_eq!(p.verdict.is_violated(), truth.never_executed > 0, "{way}\n{text}");
    if counts {
        let stats = report.stats();
        assert_eq!((stats.stored, stats.transitions), (truth.states, truth.transitions), "{way}\n{text}");
    }
}

fn seeds() -> Range<u64> {
    let asked = std::env::var("SPINOR_PROTOCOLS").ok();
    let ends = asked.as_deref().and_then(|text| text.split_once(".."));
    let ends = ends.and_then(|(a, b)| Some(a.parse().ok()?..b.parse().ok()?));
    ends.unwrap_or(if cfg!(debug_assertions) { 0..400 } else { 0..2_500 })
}

fn loaded(name: &str, text: &str) -> spinor_lang::Model {
    let loaded = load(name, text, &Options::default(), &|p: &Path| std::fs::read(p));
    loaded.model.unwrap_or_else(|| panic!("{text}\n{:?}", loaded.diagnostics))
}

#[test]
fn every_way_of_checking_says_what_the_machines_say() {
    let (mut n, mut large, mut states) = (0, 0, 0);
    let mut found = [0; 5];
    for seed in seeds() {
        let drawn = synthesise(seed, &Shape::small(seed));
        let text = drawn.text();
        let Some(truth) = truth(&drawn) else {
            large += 1;
            continue;
        };
        n += 1;
        states += truth.states;
        let nearest = [truth.deadlock, truth.reception, truth.strict, truth.overflow];
        nearest.iter().zip(&mut found).for_each(|(nearest, n)| *n += u64::from(nearest.is_some()));
        found[4] += u64::from(truth.never_executed > 0);

        let model = loaded("p.cfsm", &text);
        assert_eq!(validate(&model.system), Vec::<String>::new(), "{text}");
        let protocol = model.protocol.as_ref().expect("a protocol");
        let interp = Interp::new(model.system.clone());
        // Each seed asks in some ways; together they are all.
        let strict = seed % 2 == 1;
        let set = |search, store, plain, jobs| Settings {
            search,
            store,
            plain,
            jobs,
            protocol: Some(asked(protocol, strict)),
            ..Settings::default()
        };
        let plain = set(Search::Bfs, Store::Arena, true, 1);
        let report = interpreted(&interp, &[], &plain, &mut Silent).expect("an answer");
        agree(&report, &truth, strict, true, &text, "interpreted, arena");
        let ways = [
            set(Search::Bfs, Store::Tree, true, 1),
            set(Search::Dfs, Store::Tree, true, 1),
            set(Search::Bfs, Store::Tree, false, 2),
            set(Search::Dfs, Store::Arena, false, 1),
        ];
        let settings = &ways[seed as usize % ways.len()];
        let way = format!("seed {seed}, native, {:?} {:?} {}", settings.search, settings.store, settings.plain);
        let report = natively(&interp, &[], settings, &mut Silent).expect("an answer");
        agree(&report, &truth, strict, settings.plain, &text, &way);

        // The same in Promela, as far as Promela can ask.
        if seed % 4 == 0 {
            let model = loaded("p.pml", &protocol.promela);
            let settings = Settings { plain: true, all_errors: Some(1), ..Settings::default() };
            let report = interpreted(&Interp::new(model.system), &[], &settings, &mut Silent).expect("an answer");
            let stats = report.stats();
            assert_eq!((stats.stored, stats.transitions), (truth.states, truth.transitions), "{}", protocol.promela);
        }
    }
    let [deadlock, reception, strict, overflow, never] = found;
    println!(
        "{n} protocols, {states} states ({large} too large): {deadlock} deadlock, {reception} have receptions that are \
         not specified ({strict} strictly), {overflow} overflow, {never} have transitions that are never executed"
    );
    assert!(large * 4 < n, "{large} of {n} are too large");
    for found in found {
        assert!(found > 0 && found < n, "{found} of {n}: one answer never comes, and none was compared");
    }
}

fn spinor(args: &[&str]) -> (i32, String, String) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let out = std::process::Command::new(env!("CARGO_BIN_EXE_spinor")).args(args).current_dir(root).output();
    let out = out.expect("spinor runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (out.status.code().unwrap_or(-1), text(&out.stdout), text(&out.stderr))
}

#[test]
fn what_makes_no_sense_is_refused_with_a_reason() {
    let model = "corpus/cfsm/handshake.cfsm";
    for (args, says) in [
        (vec!["check", model, "--receptions", "nosuch"], "no channel `nosuch`; it has ab, ba"),
        (vec!["check", "corpus/mutex.pml", "--overflows", "all"], "about the channels of a protocol"),
        (vec!["check", model, "-DN=3"], "a protocol has no macros"),
        (vec!["check", model, "-p", "assert"], "it has deadlock, reception, overflow, nonexecutable, answered"),
        (vec!["check", model, "--overflows", "none", "-p", "overflow"], "the model has no property `overflow`"),
        (vec!["export", "corpus/mutex.pml"], "is no protocol"),
        (vec!["check", model, "--ltl", "client@nowhere"], "no state of `client` `nowhere`"),
    ] {
        let (code, _, err) = spinor(&args);
        assert_eq!(code, 2, "{args:?}: {err}");
        assert!(err.contains(says), "{args:?}: {err}");
    }
}

#[test]
fn every_command_takes_a_protocol() {
    let model = "corpus/cfsm/abp.cfsm";
    let (code, out, _) = spinor(&["check", "-q", model, "--ltl", "[] len(in_line) <= 1"]);
    assert!(code == 1 && out.contains("ok    ltl ltl_2: [] len(in_line) <= 1"), "{out}");
    let (code, out, err) = spinor(&["sim", model, "--seed", "1", "--steps", "20"]);
    assert!(code == 0 && out.contains("-data(0)"), "{out}{err}");
    let (code, out, err) = spinor(&["graph", model, "--to", "mermaid"]);
    assert!(code == 0 && out.contains("proctype receiver") && out.contains("wait0"), "{out}{err}");
    assert_eq!(spinor(&["lint", model]).0, 0);
    // A lossy store says nothing about transitions that are never executed.
    let (code, out, _) =
        spinor(&["check", "-q", model, "-p", "nonexecutable", "--store", "bitstate", "--memory", "64M"]);
    assert!(code == 3 && out.contains("--store tree"), "{out}");
}
