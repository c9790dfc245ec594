//! The Hanoi omega-automata format: what is written is read back, what others write is read, what cannot be used is
//! refused with its place and a way out.

mod common;

use common::{Rng, formula, parse, word};
use spinor_ltl::*;

fn read(text: &str) -> Hoa {
    from_hoa(text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// Does the automaton accept what the formula over its propositions says? Lassos decide.
fn is(hoa: &Hoa, text: &str) {
    let mut names = hoa.props.clone();
    let f = parse(text, &mut names);
    assert_eq!(names, hoa.props);
    let mut rng = Rng::new(7);
    for _ in 0..300 {
        let (stem, cycle) = (rng.below(4), 1 + rng.below(4));
        let (stem, cycle) = (word(&mut rng, stem, 3), word(&mut rng, cycle, 3));
        let truth = eval_lasso(&f, &stem, &cycle).holds();
        assert_eq!(accepts_lasso(&hoa.automaton, &stem, &cycle), truth, "{text} on {stem:?} {cycle:?}");
    }
}

#[test]
fn what_is_written_is_read_back() {
    for seed in 0..200 {
        let mut rng = Rng::new(seed);
        let f = formula(&mut rng, 9, 3, true);
        let a = reduce(&translate(&f, Limits::default()).unwrap());
        let text = to_hoa(&a, &f.to_string(), |p| format!("p \"{}\"", p.0));
        let hoa = read(&text);
        assert_eq!(hoa.name, Some(f.to_string()));
        let prop = |n: PropId| hoa.props[n.0 as usize].clone();
        assert_eq!(to_hoa(&hoa.automaton, &f.to_string(), prop), text, "seed {seed}: {f}");
    }
}

#[test]
fn the_written_form() {
    let f = parse("[]<> p && []<> !q", &mut Vec::new());
    let a = reduce(&translate(&f, Limits::default()).unwrap());
    let expected = r#"HOA: v1
name: "often"
States: 1
Start: 0
AP: 2 "p" "q"
acc-name: generalized-Buchi 2
Acceptance: 2 Inf(0)&Inf(1)
properties: trans-labels explicit-labels trans-acc
--BODY--
State: 0
[!0&1] 0
[0&1] 0 {0}
[!0&!1] 0 {1}
[0&!1] 0 {0 1}
--END--
"#;
    assert_eq!(to_hoa(&a, "often", |p| ["p", "q"][p.0 as usize].to_string()), expected);
}

#[test]
fn state_labels_state_acceptance_and_aliases() {
    let hoa = read(
        r#"HOA: v1 /* a comment /* in a comment */ */
        tool: "somebody's" "1.0"
        States: 2
        Start: 0
        Start: 1
        AP: 2 "a" "b"
        Alias: @both 0 & 1
        Alias: @any (0 | 1)
        acc-name: Buchi
        Acceptance: 1 Inf(0)
        properties: state-labels state-acc
        --BODY--
        State: [@any & !@both | !0&!1] 0 "waits" 0 1
        State: [@both] 1 "seen" {0}
        0 1
        --END--"#,
    );
    is(&hoa, "[]<> (a && b)");
}

#[test]
fn implicit_labels() {
    let hoa =
        read("HOA: v1 Start: 0 AP: 2 \"a\" \"b\" Acceptance: 0 t --BODY-- State: 0 0 1 0 1 State: 1 0 0 0 1 --END--");
    assert_eq!(hoa.automaton.n_states(), 2);
    is(&hoa, "true");
    let hoa =
        read("HOA: v1 Start: 0 AP: 1 \"a\" Acceptance: 1 Inf(0) --BODY-- State: 0 0 1 {0} State: 1 0 1 {0} --END--");
    is(&hoa, "[]<> a");
}

#[test]
fn nothing_and_everything() {
    is(&read("HOA: v1 Start: 0 AP: 0 Acceptance: 0 f --BODY-- State: 0 [t] 0 --END--"), "false");
    is(&read("HOA: v1 Start: 0 AP: 0 Acceptance: 0 t --BODY-- State: 0 [t] 0 --END--"), "true");
    is(&read("HOA: v1 AP: 0 Acceptance: 0 t --BODY-- --END--"), "false");
    is(&read("HOA: v1 States: 2 Start: 1 AP: 0 Acceptance: 2 Inf(0)&(Inf(1)) --BODY-- --END--"), "false");
}

#[test]
fn refusals_say_where_and_what_to_do() {
    let refused = |text: &str, line, column, message: &str, help: &str| {
        let error = from_hoa(text).expect_err(text);
        assert_eq!((error.line, error.column), (line, column), "{error}");
        assert!(error.message.contains(message) && error.help.contains(help), "{error}");
    };
    let head = "HOA: v1\nStates: 2\nStart: 0\nAP: 1 \"a\"\n";
    refused("never { }", 1, 1, "begins with `HOA: v1`", "");
    refused("HOA: v2\n", 1, 6, "version `v2`", "v1");
    refused(&format!("{head}Acceptance: 2 Fin(0) & Inf(1)\n--BODY--"), 5, 15, "Fin", "autfilt");
    refused(&format!("{head}Acceptance: 2 Inf(0) | Inf(1)\n--BODY--"), 5, 22, "choice", "autfilt");
    refused(&format!("{head}Acceptance: 1 Inf(!0)\n--BODY--"), 5, 15, "complement", "autfilt");
    refused(&format!("{head}Start: 0&1\n"), 5, 9, "alternating", "alternation");
    refused(&format!("{head}properties: univ-branch\n"), 5, 13, "alternating", "alternation");
    refused("HOA: v1\nStart: 4000000000\n", 2, 8, "too large", "1,048,576");
    refused(&format!("{head}Parity: 1\n"), 5, 1, "`Parity:`", "remove it");
    let body = format!("{head}Acceptance: 1 Inf(0)\n--BODY--\n");
    refused(&format!("{body}State: 0\n[0] 0&1"), 8, 6, "alternating", "alternation");
    refused(&format!("{body}State: 0\n[1] 0"), 8, 2, "proposition 1", "from 0");
    refused(&format!("{body}State: 0\n[@x] 0"), 8, 2, "`@x`", "Alias:");
    refused(&format!("{body}State: 0\n[0] 0 {{1}}"), 8, 8, "set 1", "from 0");
    refused(&format!("{body}State: 0\n0\n--END--"), 7, 8, "1 transitions without labels", "add the missing");
    refused(&format!("{body}State: 0\n[0] 2\n--END--"), 8, 5, "state 2 does not exist", "from 0");
    refused(&format!("{body}State: 0\n[0] 0\nState: 0\n--END--"), 9, 8, "twice", "join");
    refused(&format!("{body}State: 0\n[0] 0\n"), 9, 1, "the end of the text", "");
    refused(&format!("{body}--END--\nHOA: v1"), 8, 1, "more text", "one automaton");
    refused(&format!("{body}--ABORT--"), 7, 1, "gave up", "again");
    refused("HOA: v1\nStart: 0\nAP: 0\n--BODY--\n--END--", 5, 1, "no `Acceptance:`", "mandatory");
    refused("HOA: v1\nname: \"x", 2, 7, "string does not end", "close it");
    refused(&format!("{body}State: 0\n[{}0", "(".repeat(300)), 8, 202, "too deeply", "Alias:");
    refused(&format!("{body}State: 0 %"), 7, 10, "no place here", "");
}

#[test]
fn damaged_texts_are_refused_or_read_but_nothing_panics() {
    let f = parse("([]<> p -> []<> q) && (p U (q && X r))", &mut Vec::new());
    let a = automaton(&f, Limits::default()).unwrap();
    let text = to_hoa(&a, "damaged", |p| ["p", "q", "r"][p.0 as usize].to_string());
    let pieces = [
        "[", "]", "{", "}", "(", ")", "&", "|", "!", "@x", "0", "99", "t", "Inf", "\"", "/*", "--END--", "Start:", "é",
    ];
    for seed in 0..5_000 {
        let mut rng = Rng::new(seed);
        let mut damaged = text.clone();
        for _ in 0..1 + rng.below(3) {
            let at = rng.below(damaged.len() as u64) as usize;
            if !damaged.is_char_boundary(at) {
                continue;
            }
            match rng.below(3) {
                0 => damaged.truncate(at),
                1 => damaged.insert_str(at, pieces[rng.below(pieces.len() as u64) as usize]),
                _ => {
                    damaged.remove(at.min(damaged.len() - 1));
                }
            }
            if damaged.is_empty() {
                break;
            }
        }
        if let Err(error) = from_hoa(&damaged) {
            assert!(error.line <= damaged.lines().count() + 1 && !error.help.is_empty(), "{error}");
        }
    }
}
