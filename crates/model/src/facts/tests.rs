use super::random::{self, Random, Taste};
use super::*;
use crate::eval::Eval;
use crate::interp::{Floor, Interp, Log, Ready};
use crate::ir::{Loc, Pid, Type};
use crate::read::read;
use crate::state::State;
use crate::successors::Successors;
use std::sync::Arc;

fn facts_of(text: &str, t: u32, e: u32) -> EdgeFacts {
    edge(&read(text).unwrap(), ProctypeId(t), EdgeId(e))
}

#[test]
fn ranges_join_when_they_touch() {
    let mut s = Slots::default();
    for (lo, hi) in [(5, 6), (1, 2), (9, 12), (2, 5), (12, 12), (8, 9)] {
        s.insert(lo, hi);
    }
    assert_eq!(s.ranges(), [(1, 6), (8, 12)]);
    assert!(s.contains(5) && !s.contains(6) && !s.contains(7) && s.contains(8));
    let mut other = Slots::default();
    other.insert(6, 8);
    assert!(!s.meets(&other) && !other.meets(&s));
    other.insert(11, 20);
    assert!(s.meets(&other) && other.meets(&s));
}

const TWO: &str = "
globals
  var x: byte
  var a: [3] byte
  var q: chan
  var p: chan
  chan c0 q: [1] of { byte }
  init @q = chan c0
proctype A (t0) start l0 end l1
  var i: byte
  l0: e0, e1, e2, e3
e0: l0 -> l1 when @a[%i] == 1 do @a.1 = @x
e1: l0 -> l1 when channel do @q ! (%i)
e2: l0 -> l1 when channel do @q ? (%i)
e3: l0 -> l1 when none of e2 do @p = @q
  l1: e4
e4: l1 -> l1 when youngest do die
";

#[test]
fn an_index_may_be_any_and_a_constant_is_one() {
    let f = facts_of(TWO, 0, 0);
    assert_eq!(f.guards.globals.ranges(), [(1, 4)]);
    assert_eq!(f.guards.locals.ranges(), [(0, 1)]);
    assert_eq!(f.reads.globals.ranges(), [(0, 4)]);
    assert_eq!(f.writes.globals.ranges(), [(2, 3)]);
    assert!(f.guards.chans.is_empty() && !f.guards.population && f.writes.locals.is_empty());
}

#[test]
fn a_send_asks_for_room_and_appends_and_a_receive_asks_for_the_head_and_takes_it() {
    let accesses = |f: &Footprint| f.chans.iter().map(|u| (u.name, u.access)).collect::<Vec<_>>();
    let send = facts_of(TWO, 0, 1);
    assert_eq!(accesses(&send.guards), [(ChanName::Global(0), Access::Room)]);
    assert_eq!(accesses(&send.writes), [(ChanName::Global(0), Access::Append)]);
    assert!(send.guards.locals.is_empty() && send.reads.locals.contains(0));
    let receive = facts_of(TWO, 0, 2);
    assert_eq!(accesses(&receive.guards), [(ChanName::Global(0), Access::Head)]);
    assert_eq!(accesses(&receive.writes), [(ChanName::Global(0), Access::TakeHead)]);
    assert_eq!(receive.writes.locals.ranges(), [(0, 1)]);
}

#[test]
fn what_waits_for_an_edge_reads_what_the_edge_reads() {
    let f = facts_of(TWO, 0, 3);
    assert_eq!(f.guards, facts_of(TWO, 0, 2).guards);
}

#[test]
fn a_handshake_reads_where_the_partner_stands_and_writes_its_variables() {
    let text = "
globals
  var z: chan
  var y: chan
  chan c0 z: [0] of { byte }
  chan c1 y: [0] of { byte }
  init @z = chan c0
  init @y = chan c1
proctype S (t0) start l0 end l1
  var v: byte
  l0: e0
e0: l0 -> l1 when channel do @z ! (%v)
  l1: e1
e1: l1 -> l1 when youngest do die
proctype R (t1) start l0 end l1
  var w: byte
  var k: byte
  l0: e0, e1
e0: l0 -> l1 when channel do @z ? (%w)
e1: l0 -> l1 when channel do @z ? (==%k)
  l1: e2
e2: l1 -> l1 when youngest do die
proctype Q (t2) start l0 end l1
  var w: byte
  l0: e0
e0: l0 -> l1 when channel do @y ? (%w)
  l1: e1
e1: l1 -> l1 when youngest do die
";
    let f = facts_of(text, 0, 0);
    assert!(f.guards.population && f.guards.locals.contains(0));
    assert_eq!(f.guards.locations, BTreeSet::from([ProctypeId(1)]), "Q waits on another channel");
    assert_eq!(f.guards.remotes[&ProctypeId(1)].ranges(), [(1, 2)], "k decides, w does not");
    assert_eq!(f.writes.remotes[&ProctypeId(1)].ranges(), [(0, 1)]);
    assert_eq!(f.writes.locations, BTreeSet::from([ProctypeId(0), ProctypeId(1)]));
    assert!(f.writes.chans.is_empty(), "a rendez-vous channel holds nothing");
}

#[test]
fn readers_of_everything_say_so() {
    let system = |guard: &str| {
        format!(
            "globals\nproctype P (t0) start l0 end l1\n  var n: byte\n  l0: e0\n    e0: l0 -> l1 when {guard}\n  \
             l1: e1\n    e1: l1 -> l1 when youngest do die\n"
        )
    };
    let guards = |guard: &str| facts_of(&system(guard), 0, 0).guards;
    assert!(guards("timeout").everything && guards("enabled(3)").everything);
    assert!(guards("_nr_pr == 1").population && !guards("_nr_pr == 1").everything);
    assert!(guards("_last == 1").last);
    assert!(guards("get_priority(0)").priorities);
    assert_eq!(guards("np_").locations, BTreeSet::from([ProctypeId(0)]));
    assert_eq!(guards("pc_value(1)").locations, BTreeSet::from([ProctypeId(0)]));
    let at = guards("at(P[1], l0 x)");
    assert!(at.population && at.locations.contains(&ProctypeId(0)) && at.remotes.is_empty());
    let remote = guards("remote(P, %n)");
    assert!(remote.population && remote.remotes[&ProctypeId(0)].contains(0) && remote.locals.is_empty());
    assert!(facts_of(&system("1"), 0, 1).guards.population, "death waits for the younger");
    assert!(facts_of(&system("1"), 0, 1).writes.population);
}

#[test]
fn a_channel_variable_that_is_assigned_may_name_any_channel_and_those_die_with_their_processes() {
    let text = TWO.replace("@q ? (%i)", "@p ? (%i)");
    let f = facts_of(&text, 0, 2);
    assert_eq!(f.guards.chans[0].name, ChanName::Any);
    assert!(f.guards.globals.contains(5) && !f.guards.population, "all channels are global");
    let text = text.replace("  var i: byte\n", "  var i: byte\n  chan c0 c: [1] of { byte }\n");
    assert!(facts_of(&text, 0, 2).guards.population);
}

/// Some reachable states of a system, by random walks.
fn walk(interp: &Interp, r: &mut Random, mut visit: impl FnMut(&State, &mut Random)) {
    let Ok(initial) = interp.initial() else { return };
    let mut steps = Vec::new();
    for _ in 0..4 {
        let mut state = initial.clone();
        for _ in 0..12 {
            visit(&state, r);
            interp.moves(&state, Floor::Anyone, &mut steps);
            if steps.is_empty() || state.n_procs() > 6 {
                break;
            }
            let step = steps[r.below(steps.len())];
            let mut next = state.clone();
            if interp.apply(&mut next, step, &mut Log::default()).is_ok() {
                state = next;
            }
        }
    }
}

fn systems(n: u64, mut visit: impl FnMut(u64, Interp, &mut Random)) {
    for seed in 0..n {
        let mut r = Random::new(seed + 1);
        let taste = Taste { global_readers: seed % 3 == 0, priorities: seed % 5 == 0, monitor: seed % 4 == 0 };
        let system = read(&random::system(&mut r, taste)).unwrap();
        visit(seed, Interp::new(Arc::new(system)), &mut r);
    }
}

/// Does a name of this footprint, used by `pid`, mean channel `id`?
fn means(state: &State, pid: Pid, name: ChanName, id: u8) -> bool {
    let chan = state.chan(id);
    match name {
        ChanName::Any => true,
        ChanName::Global(n) => chan.owner.is_none() && chan.decl == n,
        ChanName::Own(n) => chan.owner == Some(pid) && chan.decl == n,
        ChanName::Of(t, n) => chan.decl == n && chan.owner.is_some_and(|o| state.proctype(o) == t),
    }
}

fn other_value(r: &mut Random, state: &State, ty: Type) -> i32 {
    match ty {
        Type::Chan => r.below(state.n_chans() + 1) as i32,
        ty => ty.fit(r.below(5) as i32 - 1),
    }
}

/// One random change, and whether a footprint of `pid` covers it.
fn change(facts: &Facts<'_>, state: &mut State, r: &mut Random, pid: Pid, f: &Footprint) -> (String, bool) {
    let system = facts.system;
    match r.below(7) {
        6 if r.chance(50) => {
            state.push_proc(system, ProctypeId::new(r.below(system.proctypes.len())));
            ("a process is born".into(), f.population)
        }
        6 if (pid as usize) + 1 < state.n_procs() => {
            state.pop_proc();
            ("the youngest dies".into(), f.population)
        }
        0 | 1 => {
            let names = system.globals.slot_names();
            let slot = r.below(names.len());
            if facts.fixed[0].contains_key(&(slot as u32)) {
                return ("nothing: it is never written".into(), true);
            }
            let value = other_value(r, state, names[slot].1);
            state.set_global(slot, value);
            (format!("{} := {value}", names[slot].0), f.globals.contains(slot as u32))
        }
        2 => {
            let whose = r.below(state.n_procs()) as Pid;
            let t = state.proctype(whose);
            let names = system.proctypes[t].frame.slot_names();
            let slot = r.below(names.len());
            if facts.fixed[t.index() + 1].contains_key(&(slot as u32)) {
                return ("nothing: it is never written".into(), true);
            }
            let value = other_value(r, state, names[slot].1);
            state.set_local(whose, slot, value);
            let own = whose == pid && f.locals.contains(slot as u32);
            let covered = own || f.remotes.get(&t).is_some_and(|s| s.contains(slot as u32));
            (format!("{} of {whose} := {value}", names[slot].0), covered)
        }
        3 => {
            let whose = r.below(state.n_procs()) as Pid;
            let t = state.proctype(whose);
            if whose == pid {
                return ("nothing".into(), true);
            }
            let loc = Loc::new(r.below(system.proctypes[t].locs.len()));
            state.set_loc(whose, loc);
            (format!("{whose} at {loc}"), f.locations.contains(&t))
        }
        4 => {
            state.set_last(r.below(3) as Pid);
            let (whom, value) = (r.below(state.n_procs()) as Pid, 1 + r.below(3) as i32);
            state.set_priority(whom, value);
            if system.monitor.is_some() {
                state.set_monitor(r.below(3));
            }
            ("last, priorities, monitor".into(), f.last || f.priorities || f.monitor)
        }
        _ => {
            let id = 1 + r.below(state.n_chans()) as u8;
            let chan = state.chan(id);
            let decl = crate::state::decl(system, state, chan).clone();
            let (n, len) = (decl.fields.len(), state.chan_len(chan));
            if decl.capacity == 0 {
                return ("nothing".into(), true);
            }
            let uses = |accesses: &[Access]| {
                f.chans.iter().any(|u| accesses.contains(&u.access) && means(state, pid, u.name, id))
            };
            use Access::{Contents, Head, Length, Presence, Room};
            let message: Vec<i32> = decl.fields.iter().map(|ty| ty.fit(r.below(3) as i32)).collect();
            // Grow or shrink at the end, or change a message in place.
            if len < decl.capacity as usize && r.chance(40) {
                let first = len == 0 && uses(&[Head, Presence]);
                let last = len + 1 == decl.capacity as usize && uses(&[Room]);
                let covered = first || last || uses(&[Length, Contents]);
                state.insert_message(chan, len, &message);
                return (format!("channel {id} grows"), covered);
            }
            if len > 0 && r.chance(40) {
                let first = len == 1 && uses(&[Head, Presence]);
                let last = len == decl.capacity as usize && uses(&[Room]);
                let covered = first || last || uses(&[Length, Contents]);
                state.remove_message(chan, n, len - 1);
                return (format!("channel {id} shrinks"), covered);
            }
            if len > 0 {
                let at = r.below(len);
                let covered = uses(&[Contents]) || at == 0 && uses(&[Head]);
                state.remove_message(chan, n, at);
                state.insert_message(chan, at, &message);
                return (format!("message {at} of channel {id}"), covered);
            }
            ("nothing".into(), true)
        }
    }
}

fn ready(interp: &Interp, state: &State, pid: Pid, e: EdgeId) -> (bool, Vec<(Pid, EdgeId)>) {
    let eval = Eval::new(interp, state, Some(pid), false);
    let t = &interp.system().proctypes[state.proctype(pid)];
    let provided = interp.is_provided(eval);
    match interp.readiness(eval, t, e) {
        Ready::No => (false, vec![]),
        Ready::Yes => (provided, vec![]),
        Ready::With(partners) => (provided, if provided { partners } else { vec![] }),
    }
}

#[test]
fn what_is_not_read_does_not_matter_to_whether_an_edge_can_run() {
    let (mut outside, mut mattered) = (0, 0);
    systems(400, |seed, interp, r| {
        let system = interp.system().clone();
        let facts = Facts::new(&system);
        walk(&interp, r, |state, r| {
            for pid in 0..state.n_procs() as Pid {
                let t = state.proctype(pid);
                for &e in &system.proctypes[t].locs[state.loc(pid)].edges {
                    let f = facts.edge(t, e).guards;
                    if f.everything && !system.uses.priorities {
                        continue;
                    }
                    for _ in 0..6 {
                        let mut changed = state.clone();
                        let (what, covered) = change(&facts, &mut changed, r, pid, &f);
                        let same = ready(&interp, state, pid, e) == ready(&interp, &changed, pid, e);
                        outside += usize::from(!covered);
                        mattered += usize::from(covered && !same);
                        assert!(
                            covered || same || f.everything,
                            "seed {seed}: {what} matters to {t} {}\n{f:?}",
                            crate::print::edge(&system, &system.proctypes[t], e)
                        );
                    }
                }
            }
        });
    });
    assert!(outside > 10_000 && mattered > 1_000, "the test tests: {outside} {mattered}");
}

#[test]
fn what_is_not_written_does_not_change_when_an_edge_is_taken() {
    let mut fired = 0;
    systems(400, |seed, interp, r| {
        let system = interp.system().clone();
        let facts = Facts::new(&system);
        let mut steps = Vec::new();
        walk(&interp, r, |state, _| {
            interp.moves(state, Floor::Anyone, &mut steps);
            for &step in &steps {
                let t = state.proctype(step.pid);
                let f = facts.edge(t, step.edge).writes;
                let mut after = state.clone();
                // A fault leaves the state half way; what was done until then counts, too.
                let _ = interp.apply(&mut after, step, &mut Log::default());
                fired += 1;
                if let Some(what) = uncovered(&system, state, &after, step.pid, &f) {
                    let edge = crate::print::edge(&system, &system.proctypes[t], step.edge);
                    panic!("seed {seed}: {what} is changed by {t} {edge}\n{f:?}");
                }
            }
        });
    });
    assert!(fired > 10_000, "the test tests: {fired}");
}

/// A part that differs and that the footprint of `pid` does not name.
fn uncovered(system: &System, before: &State, after: &State, pid: Pid, f: &Footprint) -> Option<String> {
    let slots = |a: &[i32], b: &[i32], covered: &dyn Fn(u32) -> bool| {
        (0..a.len()).find(|n| a[*n] != b[*n] && !covered(*n as u32))
    };
    if let Some(n) = slots(before.globals(), after.globals(), &|n| f.globals.contains(n)) {
        return Some(system.globals.slot_names()[n].0.clone());
    }
    if before.n_procs() != after.n_procs() && !f.population {
        return Some("the population".into());
    }
    for p in 0..before.n_procs().min(after.n_procs()) as Pid {
        let t = before.proctype(p);
        let remote = |n| f.remotes.get(&t).is_some_and(|s| s.contains(n));
        let covered = |n| remote(n) || p == pid && f.locals.contains(n);
        if let Some(n) = slots(before.locals(system, p), after.locals(system, p), &covered) {
            return Some(format!("{} of {p}", system.proctypes[t].frame.slot_names()[n].0));
        }
        if before.loc(p) != after.loc(p) && !f.locations.contains(&t) {
            return Some(format!("the location of {p}"));
        }
        if before.priority(p) != after.priority(p) && !f.priorities {
            return Some(format!("the priority of {p}"));
        }
    }
    if before.monitor() != after.monitor() && !f.monitor {
        return Some("the monitor".into());
    }
    if before.last() != after.last() && system.uses.last && !f.last {
        return Some("_last".into());
    }
    for id in 1..=before.n_chans().min(after.n_chans()) as u8 {
        let n = crate::state::decl(system, before, before.chan(id)).fields.len();
        let all = |s: &State| -> Vec<Vec<i32>> {
            (0..s.chan_len(s.chan(id))).map(|i| s.message(s.chan(id), n, i).to_vec()).collect()
        };
        let (a, b) = (all(before), all(after));
        let uses = f.chans.iter().filter(|u| means(before, pid, u.name, id));
        let accesses: BTreeSet<Access> = uses.map(|u| u.access).collect();
        let only = |access: Access| accesses.iter().all(|x| *x == access);
        let fine = a == b
            || !accesses.is_empty()
                && (!only(Access::Append) || b.starts_with(&a))
                && (!only(Access::TakeHead) || a.ends_with(&b));
        if !fine {
            return Some(format!("channel {id}"));
        }
    }
    None
}
