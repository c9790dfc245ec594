//! What is done to small graphs, edge by edge.

use super::*;
use crate::print::print;
use crate::read::read;
use crate::validate::validate;

/// The edges of the first proctype after an optimisation, without what does not change.
fn edges(which: Optimisations, text: &str) -> Vec<String> {
    let system = read(&format!("system \"m\"\n{text}")).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert_eq!(validate(&system), [""; 0]);
    let (result, _) = optimise(&system, which, &Watched::default());
    assert_eq!(validate(&result), [""; 0]);
    let printed = print(&result);
    let lines = printed.lines().skip_while(|l| !l.starts_with("proctype")).skip(1);
    let edges = lines.take_while(|l| !l.starts_with("proctype")).filter(|l| l.starts_with("    e"));
    edges.map(|l| l.trim().to_string()).filter(|l| !l.ends_with("die")).collect()
}

const DEAD: Optimisations = Optimisations { dead: true, ..Optimisations::NONE };
const MERGE: Optimisations = Optimisations { merge: true, ..Optimisations::NONE };

#[test]
fn a_slot_is_reset_on_the_edge_after_which_nobody_reads_it() {
    let text = "globals
  var g: byte
proctype P (t0) start l0 end l3
  var x: byte
  var a: [2] byte
  l0: e0
    e0: l0 -> l1 do %x = @g, %a[0] = 1, %a[1] = 2
  l1: e1, e2
    e1: l1 -> l2 when %x > 1
    e2: l1 -> l3 when %x <= 1
  l2: e3
    e3: l2 -> l3 do @g = %a[1] + %x
  l3: e4
    e4: l3 -> l3 when youngest do die
active P
";
    assert_eq!(
        edges(DEAD, text),
        [
            "e0: l0 -> l1 do %x = @g, %a[0] = 1, %a[1] = 2, %a.0 = 0",
            "e1: l1 -> l2 when %x > 1",
            "e2: l1 -> l3 when %x <= 1 do %x = 0, %a.1 = 0",
            "e3: l2 -> l3 do @g = %a[1] + %x, %x = 0, %a.1 = 0",
        ]
    );
}

#[test]
fn what_provided_clauses_and_promises_name_is_live() {
    let text = |clause: &str| {
        format!(
            "globals
  chan c0 q: [1] of {{ byte }}
  var q: chan
  init @q = chan c0
proctype P (t0) start l0 end l1
  var x: byte
  var c: chan
{clause}  l0: e0
    e0: l0 -> l1 do %x = 1, %c = @q
  l1: e1
    e1: l1 -> l1 when youngest do die
active P
"
        )
    };
    assert_eq!(edges(DEAD, &text("")), ["e0: l0 -> l1 do %x = 1, %c = @q, %x = 0, %c = 0"]);
    assert_eq!(edges(DEAD, &text("  provided %x < 2\n")), ["e0: l0 -> l1 do %x = 1, %c = @q, %c = 0"]);
    assert_eq!(edges(DEAD, &text("  xr %c\n")), ["e0: l0 -> l1 do %x = 1, %c = @q, %x = 0"]);
}

#[test]
fn a_slot_rests_at_its_initial_value_and_a_parameter_counts_as_read_at_the_start() {
    let text = "globals
  var g: byte
proctype P (t0) start l0 end l2 params 1
  var p: byte
  var x: byte
  init %x = 7
  l0: e0, e1
    e0: l0 -> l1 do %x = @g
    e1: l0 -> l2 do %p = 2
  l1: e2
    e2: l1 -> l0 do @g = %x
  l2: e3
    e3: l2 -> l2 when youngest do die
";
    assert_eq!(
        edges(DEAD, text),
        ["e0: l0 -> l1 do %x = @g", "e1: l0 -> l2 do %p = 2, %p = 0", "e2: l1 -> l0 do @g = %x, %x = 7"]
    );
}

#[test]
fn silent_locations_are_passed_and_a_loop_keeps_its_head() {
    let text = "globals
  var g: byte
proctype P (t0) start l0 end l4
  var x: byte
  l0: e0
    e0: l0 -> l1 do @g = 1
  l1: e1, e2
    e1: l1 -> l2 when %x < 3
    e2: l1 -> l3 when none of e1
  l2: e3
    e3: l2 -> l1 do %x = %x + 1
  l3: e4
    e4: l3 -> l4 do @g = 2
  l4: e5
    e5: l4 -> l4 when youngest do die
active P
";
    let then = |which| -> Vec<String> {
        edges(which, text).iter().filter(|e| e.ends_with("atomic")).map(|e| e[..2].to_string()).collect()
    };
    // e3 would close a loop; e2 leads to something that others see, after something that they saw.
    assert_eq!(then(MERGE), ["e0", "e1"]);
    assert_eq!(then(Optimisations::NONE), [""; 0]);
}
