//! Corners of runs that never end: names, propositions without a value, files that are no claims, searches that are cut,
//! and what is said about a run.

use std::path::PathBuf;
use std::process::{Command, Stdio};

/// A folder of its own, gone when the test is.
struct Place(PathBuf);

impl Place {
    fn new(name: &str, model: &str) -> Place {
        let dir = std::env::temp_dir().join(format!("spinor-corners-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&dir).expect("a folder");
        let place = Place(dir);
        place.file("m.pml", model);
        place
    }

    fn file(&self, name: &str, text: &str) {
        std::fs::write(self.0.join(name), text).expect("a file");
    }

    /// The status, and all that was said.
    fn check(&self, args: &[&str]) -> (i32, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_spinor"));
        command.args(["check", "m.pml"]).args(args).current_dir(&self.0).env_remove("COLUMNS").stdin(Stdio::null());
        let out = command.output().expect("spinor starts");
        let text = String::from_utf8_lossy(&out.stdout) + String::from_utf8_lossy(&out.stderr);
        (out.status.code().expect("it ends by itself"), text.into_owned())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[track_caller]
fn says(found: &(i32, String), status: i32, words: &[&str]) {
    assert_eq!(found.0, status, "{}", found.1);
    words.iter().for_each(|word| assert!(found.1.contains(word), "{word}\n{}", found.1));
}

const TOGGLE: &str = "byte x;\nactive proctype P() { do :: x = 1 - x od }\n";

fn hoa(proposition: &str) -> String {
    format!(
        "HOA: v1\nStates: 1\nStart: 0\nAP: 1 \"{proposition}\"\nacc-name: Buchi\nAcceptance: 1 Inf(0)\n--BODY--\n\
         State: 0\n[0] 0 {{0}}\n[!0] 0\n--END--\n"
    )
}

#[test]
fn a_proposition_of_an_automaton_is_any_condition_and_nothing_else() {
    let place = Place::new("hoa", TOGGLE);
    let cases = [
        ("x == 0", 1),
        ("x == 7", 0),
        ("true -> x == 0", 1),
        ("x == 0 -> x == 7", 1),
        ("x < 2 -> x == 7", 0),
        ("x == 0 <-> x != 1", 1),
        ("x == 0 <-> x == 1", 0),
        ("!(x == 0 -> x == 7)", 1),
        ("x == 0 && x < 5 || x == 9", 1),
        ("false", 0),
    ];
    for (proposition, status) in cases {
        place.file("a.hoa", &hoa(proposition));
        let found = place.check(&["--claim", "a.hoa"]);
        assert_eq!(found.0, status, "{proposition}\n{}", found.1);
    }
    for (proposition, why) in [
        ("[] (x == 0)", "looks at more than one state"),
        ("x == 0 U x == 1", "looks at more than one state"),
        ("x == 0 -> <> (x == 1)", "looks at more than one state"),
        ("x == 0) } ltl other { (true", "is no condition"),
        // What is wrong stands where it was written.
        ("x == 0 || y == 1", "a.hoa, proposition 0:1:11\n  |\n1 | x == 0 || y == 1\n  |           ^ not declared"),
        ("x == 0 &&", "a.hoa, proposition 0:1:10\n"),
    ] {
        place.file("a.hoa", &hoa(proposition));
        says(&place.check(&["--claim", "a.hoa"]), 2, &["a.hoa", why]);
    }
}

#[test]
fn a_file_that_states_nothing_is_no_claim() {
    let place = Place::new("nothing", TOGGLE);
    for text in ["", "/* nothing */\n", "proctype Q() { skip }\n", "#define p (x == 0)\n"] {
        place.file("c", text);
        says(&place.check(&["--claim", "c"]), 2, &["cannot read `c`: it states no property"]);
    }
    place.file("c", "ltl { [] (x < 2) }\n");
    says(&place.check(&["--claim", "c"]), 0, &["every run satisfies it"]);
    place.file("d", "#include \"c\"\n");
    says(&place.check(&["--claim", "d"]), 0, &["every run satisfies it"]);
}

#[test]
fn names_of_claims_and_formulas_differ() {
    let twice = "ltl a { [] (x < 2) }\nltl a { [] (x == 0) }\n";
    says(&Place::new("twice", &(TOGGLE.to_string() + twice)).check(&[]), 2, &["P0101", "`a` is declared twice"]);
    let both = "never a { do :: x == 3 -> break :: else od }\nltl a { [] (x < 2) }\n";
    says(&Place::new("both", &(TOGGLE.to_string() + both)).check(&[]), 2, &["P0101"]);
    let place = Place::new("unnamed", TOGGLE);
    place.file("c", "never { do :: x == 3 -> break :: else od }\n");
    place.file("d", "never { do :: x == 1 -> break :: else od }\n");
    says(&place.check(&["--claim", "c", "--claim", "d"]), 1, &["ok    claim ", "FAIL  claim_2 ", "d:1"]);
}

/// A formula may be named like a kind of property; each trace has a file of its own.
#[test]
fn traces_of_properties_with_one_name_are_all_kept() {
    let text = "byte x;\nactive proctype P() { x = 1; x == 2 }\nltl deadlock { [] (x == 0) }\n";
    let place = Place::new("names", text);
    says(&place.check(&["-o", "traces"]), 1, &["deadlock: invalid end state", "ltl deadlock"]);
    let mut names: Vec<String> = std::fs::read_dir(place.0.join("traces"))
        .expect("a folder of traces")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    let all = ["deadlock.json", "deadlock.trail", "deadlock_2.json", "deadlock_2.trail"];
    assert_eq!(names, all.map(|name| format!("m.pml.{name}")));
}

/// What the automaton does not look at may have no value on the run that is shown.
#[test]
fn a_proposition_without_a_value_that_makes_no_difference() {
    let text = "byte x, y = 1;\nactive proctype P() { x = 1; y = 0; x = 2; do :: x = 3 od }\n";
    let place = Place::new("value", text);
    for formula in [
        "[] ((x < 2) || ((1/y == 1) U false))",
        "([] (x < 2)) || (false U (1/y == 1) && false)",
        "(<> (x == 9)) || ((1/y == 1) && [] !(1/y == 1))",
    ] {
        for more in [&["--plain"][..], &[]] {
            says(&place.check(&[&["--ltl", formula, "-p", "ltl_0"], more].concat()), 1, &["FAIL  ltl ltl_0"]);
        }
    }
    says(&place.check(&["--ltl", "[] (1/y == 1)"]), 3, &["has no value"]);
}

/// Where the first search is cut, the second may have been ahead of it.
#[test]
fn nested_search_that_is_cut() {
    let text = "byte x;\nactive proctype P() {\n  if :: x = 1 :: x = 1; goto accept_s fi;\n  x = 1;\naccept_r: x = 1;\n\
                accept_s: x = 1\n}\n";
    let place = Place::new("cut", text);
    for search in ["scc", "ndfs", "ndfs-seed", "ndfs-process"] {
        for depth in ["1", "2", "3"] {
            let found = place.check(&["--plain", "-p", "accept", "--search", search, "--depth", depth]);
            says(&found, 3, &[&format!("the search was cut at depth {depth}")]);
        }
        says(&place.check(&["--plain", "-p", "accept", "--search", search]), 0, &[]);
    }
}

#[test]
fn what_is_said_about_a_handshake_and_about_states_in_between() {
    let text = "chan c = [0] of { byte };\nbyte x;\nactive proctype S() { do :: c!1 od }\n\
                active proctype R() { do :: c?x od }\n";
    let found = Place::new("handshake", text).check(&["--ltl", "<> (x == 2)", "-p", "ltl_0"]);
    says(&found, 1, &["S[0] moves in the cycle.", "R[1] receives there, which is the move of who sends."]);
    assert!(!found.1.contains("not able"), "{}", found.1);
    // S waits while R is busy with itself: it is not able to send all the time, whatever is merged.
    let text = "chan c = [0] of { byte };\nbyte x;\nactive proctype S() { c!1 }\n\
                active proctype R() { byte n; do :: n = 1; n = 0 :: c?x od }\n";
    let place = Place::new("between", text);
    let ask = ["--ltl", "<> (x == 1)", "-p", "ltl_0"];
    says(&place.check(&ask), 1, &["S[0] is able to move in 1 of 2 states", "Weak fairness keeps this run"]);
    says(&place.check(&[&ask[..], &["--fair", "weak"]].concat()), 1, &[]);
    says(&place.check(&[&ask[..], &["--fair", "strong"]].concat()), 0, &[]);
}

#[test]
fn what_is_broken_at_once_is_not_said_to_repeat() {
    let found = Place::new("const", TOGGLE).check(&["--ltl", "<> false", "-p", "ltl_0"]);
    says(&found, 1, &["needed: false at some time.  Found: it is broken at the start."]);
}

/// The command that is proposed finds the same.
#[test]
fn the_next_command_states_the_properties_again() {
    let found = Place::new("next", TOGGLE).check(&["--ltl", "<> (x == 3)", "--fair", "weak"]);
    says(&found, 1, &["next  spinor check m.pml --ltl '<> (x == 3)' --fair weak -o traces"]);
    // Who makes progress, and how; and labels that nobody has.
    let text = "active proctype P() { do :: skip; progress: skip od }\nactive proctype Q() { do :: skip od }\n";
    let cases: [(&str, &str, &[&str]); 4] = [
        ("whose", text, &["--progress-of", "Q"]),
        ("steps", text, &["-p", "progress", "--progress", "steps"]),
        ("unlabelled", TOGGLE, &["-p", "progress"]),
        ("both", TOGGLE, &["-p", "progress", "--progress", "steps", "--fair", "weak"]),
    ];
    for (name, text, words) in cases {
        let place = Place::new(name, text);
        let found = place.check(words);
        let next = found.1.lines().find_map(|line| line.trim_start().strip_prefix("next  spinor check m.pml"));
        let next = next.unwrap_or_else(|| panic!("{name}: no command is proposed: {}", found.1));
        let words: Vec<&str> = next.split_whitespace().take_while(|word| *word != "-o").collect();
        says(&place.check(&words), 1, &["FAIL  progress"]);
    }
}

#[test]
fn runs_that_a_fault_ends_are_mentioned() {
    let text = "byte x, y;\nactive proctype P() { x = 1; x = 1/y; do :: x = 1 od }\nltl t { <> (x == 5) }\n";
    let note = "met but not asked about: runtime-error; runs that it ends are not judged";
    let place = Place::new("fault", text);
    for search in ["scc", "ndfs"] {
        says(&place.check(&["-p", "t", "--search", search]), 0, &[note]);
    }
    let found = place.check(&[]);
    says(&found, 1, &["FAIL  runtime"]);
    assert!(!found.1.contains(note), "{}", found.1);
    let text = "byte y;\nbyte x = 1/y;\nactive proctype P() { x = 1 }\nltl t { <> (x == 5) }\n";
    says(&Place::new("start", text).check(&["-p", "t"]), 0, &[note]);
}

/// What is left of a component when a process is given up may be as many components as there are states.
#[test]
fn strong_fairness_in_a_long_circle() {
    let text = "int x; bool done;\nactive proctype P() { do :: atomic { x < 30000 && !done -> x++ }\n\
                :: atomic { x == 30000 && !done -> x = 0 } od }\n\
                active proctype Z() { x % 2 == 1 -> done = true }\n";
    let place = Place::new("circle", text);
    says(&place.check(&["--ltl", "<> done", "-p", "ltl_0", "--fair", "strong"]), 0, &["every run satisfies it"]);
    let found = place.check(&["--ltl", "<> done", "-p", "ltl_0", "--fair", "strong", "--format", "json"]);
    let peak = found.1.split("\"peak_memory_bytes\":").nth(1).and_then(|rest| rest.split([',', '\n', '}']).next());
    let peak: u64 = peak.and_then(|n| n.trim().parse().ok()).expect("a number of bytes");
    assert!(peak < 200 << 20, "{peak}");
    says(&place.check(&["--ltl", "<> done", "-p", "ltl_0", "--fair", "weak"]), 1, &["Weak fairness keeps this run"]);
}
