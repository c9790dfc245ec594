//! The validator: for every rule a system that breaks just that rule.

use spinor_model::index::Idx;
use spinor_model::ir::{Effect, Expr, Loc, ProctypeId, System};
use spinor_model::print::print;
use spinor_model::read::read;
use spinor_model::validate::validate;

const GOOD: &str = r#"
system "good"
mtype _unnamed_ { red, green }
record r0 R { f: byte, g: [2] short }
globals
  var x: byte
  var a: [3] byte
  var o: [2] r0
  var q: chan
  chan c0 q: [1] of { byte }
  init @x = 1
  init @q = chan c0
proctype P (t0) params 1 start l0 end l3
  var n: byte
  var b: [2] byte
  l0: e0, e1
    e0: l0 -> l1 when channel do @q ! (%n)
    e1: l0 -> l1 when none of e0 do @a[%n] = @o[1].g[%n], printm m0 @x
  l1: e2
    e2: l1 -> l2 do run P(1), %n = new_pid then d_step
  l2: e3
    e3: l2 -> l3 when at(P, l1 here) || remote(P[0], %n) do @x = 1
  l3: e4
    e4: l3 -> l3 when youngest do die
active P, P
"#;

/// For `GOOD` to be watched by.
const MONITOR: &str = r#"
trace events start l0 end l1
  l0: e0, e1
    e0: l0 -> l0 do event @q ! (_)
    e1: l0 -> l1 do event @q ? (==@x)
  l1: e2
    e2: l1 -> l1 when youngest do die
"#;

/// `GOOD` with one piece of text replaced breaks this rule and no other.
fn breaks(rule: &str, from: &str, to: &str) {
    breaks_in(GOOD, rule, from, to);
}

fn breaks_in(good: &str, rule: &str, from: &str, to: &str) {
    assert_eq!(good.matches(from).count(), 1, "{from}");
    let system = read(&good.replace(from, to)).unwrap_or_else(|e| panic!("{to}: {e}"));
    only(rule, &system, to);
}

fn watched() -> String {
    [GOOD, MONITOR].concat()
}

fn only(rule: &str, system: &System, what: &str) {
    let broken = validate(system);
    let names = |b: &String| b.split(' ').next() == Some(rule);
    assert!(!broken.is_empty() && broken.iter().all(names), "{what}: expected {rule}, found {broken:?}");
}

#[test]
fn the_system_the_others_are_made_from_breaks_no_rule() {
    let system = read(GOOD).unwrap();
    assert_eq!(validate(&system), Vec::<String>::new());
    assert_eq!(read(&print(&system)), Ok(system));
}

#[test]
fn v1_edges_are_listed_once_where_they_leave_and_lead_somewhere() {
    breaks("V1", "l1: e2", "l1: e2, e2");
    breaks("V1", "e3: l2 -> l3", "e3: l2 -> l9");
    breaks("V1", "l0: e0, e1\n", "l0: e0, e1, e3\n");
    breaks("V1", "l1: e2", "l1: e2, e77");
}

#[test]
fn v2_the_end_is_the_death_of_the_youngest() {
    breaks("V2", "l3 -> l3 when youngest do die", "l3 -> l3 do die");
    breaks("V2", "l3 -> l3 when youngest do die", "l3 -> l3 when youngest");
    breaks("V2", "start l0", "start l8");
    breaks("V2", "end l3", "end l8");
    breaks("V2", "end l3", "end l0");
}

#[test]
fn v3_an_edge_waits_only_for_others_of_its_location_and_never_for_itself() {
    breaks("V3", "none of e0", "none of e2");
    breaks("V3", "none of e0", "none of e1");
    breaks("V3", "none of e0", "none of e77");
    breaks("V3", "when channel do @q ! (%n)", "when channel, none of e1 do @q ! (%n)");
}

#[test]
fn v4_a_channel_guard_goes_with_a_send_or_receive() {
    breaks("V4", "when channel do @q ! (%n)", "do @q ! (%n)");
    breaks("V4", "when none of e0 do", "when channel, none of e0 do");
}

#[test]
fn v5_a_send_or_receive_comes_first() {
    breaks("V5", "@q ! (%n)", "@q ! (%n), @q ! (%n)");
    breaks("V5", "do @x = 1\n", "do @x = 1, @q ? (%n)\n");
}

#[test]
fn v6_a_place_lies_inside_its_variable() {
    breaks("V6", "@a[%n] =", "@a{1 byte [%n; 4; 1]} =");
    breaks("V6", "@a[%n] =", "@a{0 byte} =");
    breaks("V6", "@a[%n] =", "@a{1 short [%n; 3; 1]} =");
    breaks("V6", "@a[%n] =", "@77{1 byte} =");
    breaks("V6", "init @x = 1", "init @x{99 byte} = 1");
    breaks("V6", "init @q = chan c0", "init @q = chan c7");
}

#[test]
fn v7_run_gives_every_parameter() {
    breaks("V7", "run P(1)", "run P()");
    breaks("V7", "run P(1)", "run P(1, 2)");
    breaks("V7", "run P(1)", "run t7(1)");
}

#[test]
fn v8_variables_fill_their_frame_one_after_the_other() {
    breaks("V8", "  var b: [2] byte\n", "  var b: [2] byte slot 2\n");
    breaks("V8", "  var b: [2] byte\n", "  var b: [2] byte\n  slots 9\n");
}

#[test]
fn v9_the_new_pid_is_read_after_the_run() {
    breaks("V9", "run P(1), %n = new_pid", "%n = new_pid, run P(1)");
    breaks("V9", "do @x = 1\n", "do @x = new_pid\n");
}

#[test]
fn v10_nothing_is_local_outside_a_process() {
    breaks("V10", "init @x = 1", "init @x = _pid");
    breaks_in(&watched(), "V10", "(==@x)", "(==_pid)");
}

#[test]
fn v11_a_d_step_goes_somewhere() {
    // The d_step ends at a location that nothing leaves.
    let from = "l1 -> l2 do run P(1), %n = new_pid then d_step";
    let text = GOOD.replace(from, &from.replace("l2", "l4")).replace("active", "  l4:\nactive");
    only("V11", &read(&text).unwrap(), "l4");
}

#[test]
fn v12_only_so_many_processes_are_active_and_all_have_a_type() {
    breaks("V12", "active P, P", &format!("active P{}", ", P".repeat(255)));
    breaks("V12", "active P, P", "active P, t3");
}

#[test]
fn v13_mtype_sets_and_remote_references_exist() {
    breaks("V13", "printm m0", "printm m9");
    breaks("V13", "at(P, l1 here)", "at(P, l9 here)");
    breaks("V13", "at(P, l1 here)", "at(t9, l1 here)");
    breaks("V13", "remote(P[0], %n)", "remote(t9, %0{0 byte})");
}

#[test]
fn v14_monitors_match_events_and_nothing_else_does() {
    assert_eq!(validate(&read(&watched()).unwrap()), Vec::<String>::new());
    breaks("V14", "do @x = 1\n", "do event @q ? (_)\n");
    breaks_in(&watched(), "V14", "do event @q ! (_)", "do @x = 1");
    breaks_in(&watched(), "V14", "(==@x)", "(@x)");
}

/// Damages a sound system in ways the printed form cannot say, and asks only that the validator answers.
#[test]
fn the_validator_answers_whatever_it_is_given() {
    let mut s = read(GOOD).unwrap();
    s.proctypes.iter_mut().for_each(|t| {
        t.locs = Default::default();
        t.edges = Default::default();
    });
    assert!(!validate(&s).is_empty());
    let mut s = read(GOOD).unwrap();
    s.proctypes.iter_mut().for_each(|t| t.start = Loc::new(u32::MAX as usize));
    s.active = vec![ProctypeId(u32::MAX)];
    for t in s.proctypes.iter_mut() {
        for e in t.edges.iter_mut() {
            e.effects.push(Effect::Assert(Expr::NewPid));
        }
    }
    assert!(!validate(&s).is_empty());
}
