//! The binary, as users and scripts meet it.

use spinor::json::Json;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// Two workers and a lock that does not lock: the model of the README.
const LOCK: &str = include_str!("../../../corpus/mutex.pml");

const DEADLOCK: &str = "chan a = [1] of { byte };
chan b = [1] of { byte };
active proctype P() { byte x; a?x; b!1 }
active proctype Q() { byte x; b?x; a!1 }
";

const FINE: &str = "byte x;
active proctype P() { x = 1; assert(x == 1) }
";

const HANDSHAKE: &str = "chan c = [0] of { byte };
byte n;
active proctype S() { c!3; atomic { n = n + 1; n = n + 2 }; d_step { n = 0; n = 5 } }
active proctype R() { byte k; c?k; assert(k != 3) }
";

const BROKEN: &str = "bool locked;
active proctype P()
{
  lokced = true
}
";

/// A folder of its own for each test, gone afterwards.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("spinor-test-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder for the test");
        Folder(path)
    }

    fn file(&self, name: &str, text: impl AsRef<[u8]>) -> &Folder {
        std::fs::write(self.0.join(name), text).expect("a file for the test");
        self
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_spinor"));
        command.args(args).current_dir(&self.0).env_remove("COLUMNS").env_remove("NO_COLOR");
        command
    }

    fn run(&self, args: &[&str]) -> Ran {
        Ran::of(self.command(args).stdin(Stdio::null()).output().expect("spinor starts"))
    }

    fn run_with(&self, args: &[&str], input: &str) -> Ran {
        let mut child = self
            .command(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("spinor starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        // It may end before it has read everything.
        let _ = stdin.write_all(input.as_bytes());
        drop(stdin);
        Ran::of(child.wait_with_output().expect("spinor ends"))
    }

    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).expect("the folder").flatten();
        let mut names: Vec<String> = entries.map(|e| e.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

struct Ran {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Ran {
    fn of(output: Output) -> Ran {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        Ran { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    #[track_caller]
    fn expect(self, code: i32, out: &[&str], err: &[&str]) -> Ran {
        let all = format!("exit {:?}\n--- out\n{}\n--- err\n{}", self.code, self.out, self.err);
        assert_eq!(self.code, Some(code), "{all}");
        for part in out {
            assert!(self.out.contains(part), "`{part}` is not in the output\n{all}");
        }
        for part in err {
            assert!(self.err.contains(part), "`{part}` is not among the messages\n{all}");
        }
        self
    }

    fn json(&self) -> Json {
        Json::parse(&self.out).unwrap_or_else(|e| panic!("{e}\n{}", self.out))
    }
}

#[test]
fn the_lock_fails_in_seven_steps_and_both_writers_are_named() {
    let f = Folder::new("lock");
    f.file("mutex.pml", LOCK);
    let table = "\
 step  worker[0]          worker[1]                  locked        critical
    0  (start)            (start)                    false         0
    1                      7  !locked                ·             ·
    2   7  !locked                                   ·             ·
    3                      8  locked = true          false → true  ·
    4                      9  critical++             ·             0 → 1
    5   8  locked = true                             ·             ·
    6   9  critical++                                ·             1 → 2
    7                     10  assert(critical == 1)  ✗ critical is 2
"
    .trim_start();
    let ran = f.run(&["check", "mutex.pml"]).expect(
        1,
        &[
            "FAIL  assert(critical == 1)                               mutex.pml:10\n      shortest trace, 7 steps\n",
            table,
            " why   critical became 2: step 4 (worker[1]) and step 6 (worker[0])",
            "ok    deadlock  no invalid end state",
            "states stored",
        ],
        &[],
    );
    assert_eq!(ran.err, "");
    assert_eq!(f.names(), ["mutex.pml"], "no file is written unless asked");
    assert_eq!(f.run(&["mutex.pml"]).out.lines().next(), ran.out.lines().next(), "check is the default");
}

#[test]
fn quiet_leaves_the_verdicts_and_colour_is_asked_for() {
    let f = Folder::new("quiet");
    f.file("mutex.pml", LOCK);
    let ran = f.run(&["-q", "mutex.pml"]).expect(1, &["FAIL  assert(critical == 1)"], &[]);
    assert!(ran.out.lines().all(|l| l.starts_with("FAIL") || l.starts_with("ok")), "{}", ran.out);
    assert!(!ran.out.contains('\x1b'));
    assert!(f.run(&["-q", "mutex.pml", "--color", "always"]).out.contains('\x1b'));
}

#[test]
fn a_deadlock_says_who_waits_for_what() {
    let f = Folder::new("deadlock");
    f.file("m.pml", DEADLOCK);
    let waits = ["FAIL  deadlock", "no process can move", "P[0] waits at line 3", "a is empty"];
    f.run(&["check", "m.pml"]).expect(1, &waits, &[]);
    f.run(&["check", "m.pml", "-p", "assert"]).expect(0, &["ok    assert"], &[]);
}

#[test]
fn what_holds_ends_with_status_0_and_expectations_turn_it() {
    let f = Folder::new("fine");
    f.file("m.pml", FINE);
    f.run(&["m.pml"]).expect(0, &["ok    assert    no assertion fails"], &[]);
    f.run(&["m.pml", "--expect", "pass"]).expect(0, &[], &[]);
    f.run(&["m.pml", "--expect", "fail"]).expect(1, &[], &[]);
    f.file("bad.pml", LOCK);
    f.run(&["bad.pml", "--expect", "fail"]).expect(0, &["FAIL"], &[]);
    f.run(&["bad.pml", "m.pml", "-q"]).expect(1, &["bad.pml\nFAIL", "m.pml\nok"], &[]);
}

#[test]
fn a_limit_or_an_unanswered_property_is_inconclusive() {
    let f = Folder::new("open");
    f.file("m.pml", FINE);
    f.run(&["m.pml", "--depth", "1"]).expect(3, &["?     assert"], &[]);
    f.file("ltl.pml", format!("{FINE}ltl p {{ <> (x == 1) }}\n"));
    f.run(&["ltl.pml"]).expect(0, &["ok    ltl p: <> (x == 1)  every run satisfies it"], &[]);
    let strong = &["ltl.pml", "--search", "ndfs", "--fair", "strong"];
    f.run(strong).expect(3, &["?     ltl p: <> (x == 1)", "--search scc"], &[]);
    f.run(&["ltl.pml", "-p", "safety"]).expect(0, &[], &[]);
}

#[test]
fn the_json_of_the_lock_tells_its_story() {
    let f = Folder::new("json");
    f.file("mutex.pml", LOCK);
    let doc = f.run(&["check", "mutex.pml", "--format", "json"]).expect(1, &[], &[]).json();
    let only = |path: &str| reach(&doc, path)[0];
    assert_eq!(only("schema_version").as_int(), Some(1));
    assert_eq!(only("model.path").as_str(), Some("mutex.pml"));
    assert_eq!(only("model.sha256").as_str(), Some(spinor::sha256::hex(LOCK.as_bytes()).as_str()));
    assert_eq!(only("properties.*.name").as_str(), Some("assert"));
    assert_eq!(only("properties.*.kind").as_str(), Some("assertion"));
    assert!(only("properties.*.because").as_str().is_some_and(|b| b.contains("critical == 1")));
    assert_eq!(reach(&doc, "properties.*.because")[1], &Json::Null);
    assert_eq!(reach(&doc, "properties.*.traces.*.steps.*").len(), 7);
    let change = reach(&doc, "properties.*.traces.*.steps.*")[3].get("changes").and_then(|c| c.get("critical"));
    assert_eq!(change, Some(&Json::List(vec![Json::Int(0), Json::Int(1)])));
    assert_eq!(only("unreached.*.end"), &Json::Bool(true));
}

#[test]
fn errors_of_a_model_are_shown_with_their_place_or_as_json() {
    let f = Folder::new("broken");
    f.file("m.pml", BROKEN);
    let place = ["error[P0102]", " --> m.pml:4:3", "4 |   lokced = true", "^^^^^^", "4 +   locked = true", "1 error"];
    let ran = f.run(&["check", "m.pml"]).expect(2, &[], &place);
    assert_eq!(ran.out, "");
    f.run(&["lint", "m.pml"]).expect(2, &place, &[]);
    let ran = f.run(&["check", "m.pml", "--format", "json"]).expect(2, &["\"P0102\""], &[]);
    assert_eq!(ran.err, "");
    let list = ran.json();
    let list = list.get("diagnostics").and_then(|d| d.as_list()).expect("diagnostics");
    assert_eq!(list[0].get("primary").and_then(|p| p.get("line")).and_then(|l| l.as_int()), Some(4));
    let ran = f.run(&["lint", "m.pml", "--format=json"]).expect(2, &[], &[]);
    ran.json();
    f.file("fine.pml", FINE);
    f.run(&["lint", "fine.pml"]).expect(0, &[], &[]);
    let several = f.run(&["check", "fine.pml", "m.pml", "nosuch.pml", "--format", "json"]).expect(2, &[], &[]);
    assert_eq!(several.json().as_list().map(<[_]>::len), Some(3));
}

#[test]
fn macros_come_from_the_command_line() {
    let f = Folder::new("macros");
    f.file("m.pml", "active proctype P() { assert(N == 3) }\n");
    f.run(&["m.pml", "-DN=3"]).expect(0, &[], &[]);
    f.run(&["m.pml", "-D", "N=4"]).expect(1, &["next  spinor check m.pml -DN=4"], &[]);
    f.run(&["m.pml"]).expect(2, &[], &["error["]);
}

#[test]
fn files_that_cannot_be_models_are_refused_plainly() {
    let f = Folder::new("files");
    f.file("latin.pml", b"byte x;\n/* \xe9 */ active proctype P() { x = 1 }\n").file("empty.pml", "");
    f.file("binary.pml", b"byte x;\n/* \xe9 */ \x01\n");
    std::fs::create_dir(f.0.join("dir")).expect("a folder");
    f.run(&["nosuch.pml"]).expect(2, &[], &["cannot read `nosuch.pml`: there is no such file"]);
    f.run(&["dir"]).expect(2, &[], &["cannot read `dir`: it is a folder"]);
    f.run(&["latin.pml"]).expect(0, &["no errors"], &[]);
    f.run(&["binary.pml"]).expect(2, &[], &["line 2 is neither UTF-8 nor Latin-1 text"]);
    f.run(&["-"]).expect(2, &[], &["cannot read `-`: standard input"]);
    f.run(&["chekc", "m.pml"]).expect(2, &[], &["`check` is a command"]);
    f.run(&["replay", "nosuch.pml"]).expect(2, &[], &["no such file"]);
    f.run(&["sim", "dir"]).expect(2, &[], &["folder"]);
    let ran = f.run(&["empty.pml"]);
    assert!(matches!(ran.code, Some(0 | 2)), "{:?} {}", ran.code, ran.err);
}

/// Several statements that one macro came to are told apart, and one alone is what its author wrote; so are the steps of a
/// `for`.
#[test]
fn what_a_macro_or_a_loop_does_is_shown() {
    let f = Folder::new("macro_rows");
    f.file(
        "m.pml",
        "#define SET(a, v) a = v; a = a + v\n#define INC(a) a++\nbyte x, i;\n\
         active proctype P() { SET(x, 1); INC(x); for (i : 1 .. 2) { x++ } assert(x == 9) }\n",
    );
    let rows = ["4  x = 1 ", "4  x = x + 1", "4  INC(x)", "4  i = 1", "4  i <= 2", "4  i++", "4  else"];
    f.run(&["m.pml", "-v"]).expect(1, &rows, &[]);
}

#[test]
fn a_circle_of_those_who_wait_goes_by_the_elements_that_they_wait_for() {
    let f = Folder::new("circle");
    f.file(
        "m.pml",
        "bool f[3];\nactive proctype A() { f[1] -> f[0] = true }\nactive proctype B() { f[2] -> f[1] = true }\n\
         active proctype C() { f[0] -> f[2] = true }\n",
    );
    let why = "A circle: A[0] waits for B[1], B[1] waits for C[2] and C[2] waits for A[0].";
    f.run(&["m.pml", "-p", "deadlock"]).expect(1, &[why], &[]);
}

#[test]
fn what_is_wrong_with_a_formula_is_shown_where_it_was_typed() {
    let f = Folder::new("typed");
    f.file("m.pml", "byte x;\nactive proctype P() { x = 1 }\n");
    f.run(&["m.pml", "--ltl", "[](z<2)"]).expect(2, &[], &["--> --ltl:1:4", "1 | [](z<2)"]);
    f.run(&["m.pml", "--ltl", "<> x", "--ltl", "x =="]).expect(2, &[], &["--> --ltl 2:1:", "1 | x =="]);
    f.run(&["ltl", "G p"]).expect(2, &[], &["--> formula:1:1", "1 | G p", "write `[]`"]);
}

#[test]
fn two_models_of_one_name_do_not_overwrite_each_others_traces() {
    let f = Folder::new("same_names");
    for folder in ["a", "b"] {
        std::fs::create_dir(f.0.join(folder)).expect("a folder");
        f.file(&format!("{folder}/m.pml"), LOCK);
    }
    f.run(&["a/m.pml", "b/m.pml", "-o", "traces"]).expect(2, &[], &["two models are called `m.pml`"]);
    f.run(&["a/m.pml", "-o", "traces"]).expect(1, &[], &[]);
}

#[test]
fn a_hostile_file_name_is_only_a_name() {
    let f = Folder::new("names");
    let name = "$(touch oops);.pml";
    f.file(name, LOCK);
    f.run(&["check", name]).expect(1, &["next  spinor check '$(touch oops);.pml' -o traces"], &[]);
    f.run(&["check", name, "-o", "out"]).expect(
        1,
        &["spinor replay '$(touch oops);.pml' 'out/$(touch oops);.pml"],
        &[],
    );
    assert!(!f.0.join("oops").exists());
    f.file("\x1b[31m.pml", LOCK);
    let ran = f.run(&["check", "\x1b[31m.pml"]).expect(1, &["FAIL"], &[]);
    assert!(!ran.out.contains('\x1b'), "{}", ran.out);
}

#[test]
fn unusable_command_lines_end_with_status_2_and_a_hint() {
    let f = Folder::new("usage");
    f.file("m.pml", FINE);
    f.run(&["m.pml", "--serach", "dfs"]).expect(2, &[], &["unknown option `--serach`", "did you mean `--search`?"]);
    f.run(&["m.pml", "--por", "leaps"]).expect(2, &[], &["`--por leaps`", "stubborn"]);
    f.run(&["m.pml", "-p", "nosuch"]).expect(2, &[], &["nosuch"]);
    f.run(&[]).expect(2, &[], &["no command"]);
    f.run(&["explain", "P9999"]).expect(2, &[], &["there is no code `P9999`"]);
    f.run(&["completions", "tcsh"]).expect(2, &[], &["bash, zsh and fish"]);
}

#[test]
fn help_version_explain_plan_and_completions_answer() {
    let f = Folder::new("answers");
    f.run(&["--help"]).expect(0, &["spinor check model.pml", "Exit status"], &[]);
    f.run(&["help"]).expect(0, &["spinor check model.pml", "Exit status"], &[]);
    f.run(&["help", "sim"]).expect(0, &["--seed", "--color auto|always|never\n"], &[]);
    f.run(&["check", "--help"]).expect(0, &["--search auto|dfs|bfs"], &[]);
    f.run(&["--version"]).expect(0, &["spinor 0."], &[]);
    f.run(&["explain", "P0011"]).expect(0, &["P0011: "], &[]);
    f.run(&["explain", "11"]).expect(2, &[], &["did you mean `P0011`?"]);
    f.run(&["plan"]).expect(0, &["search", "sound", "refused"], &[]);
    for shell in ["bash", "zsh", "fish"] {
        f.run(&["completions", shell]).expect(0, &["spinor", "all-errors"], &[]);
    }
}

#[test]
fn saved_traces_are_replayed_from_both_forms() {
    let f = Folder::new("replay");
    f.file("m.pml", HANDSHAKE);
    f.run(&["m.pml", "-o", "out"]).expect(1, &["spinor replay m.pml out/m.pml.assert.json", "saved  "], &[]);
    for file in ["out/m.pml.assert.json", "out/m.pml.assert.trail"] {
        let parts = ["c!3 →", "→ c?k", "✗ k is 3", "FAIL  the trace ends in a violation"];
        f.run(&["replay", "m.pml", file]).expect(1, &parts, &[]);
    }
    f.run(&["replay", "m.pml"]).expect(2, &[], &["no trace given"]);
    std::fs::copy(f.0.join("out/m.pml.assert.trail"), f.0.join("m.pml.trail")).expect("a copy");
    f.run(&["replay", "m.pml"]).expect(1, &["m.pml.trail"], &[]);

    f.file("good.trail", "1:0:0\n2:1:8\n");
    f.file("wrong.trail", "1:0:0\n");
    f.file("torn.trail", "1:0:0\nrubbish\n");
    f.run(&["replay", "m.pml", "wrong.trail"]).expect(2, &[], &["line 1 of the trace", "does not fit"]);
    f.run(&["replay", "m.pml", "torn.trail"]).expect(2, &[], &["line 2 of the trail, `rubbish`"]);
    f.file("m.pml", format!("{HANDSHAKE}\n"));
    f.run(&["replay", "m.pml", "out/m.pml.assert.json"]).expect(2, &[], &["another text"]);
    f.file("torn.json", "{ \"steps\": [ {");
    f.run(&["replay", "m.pml", "torn.json"]).expect(2, &[], &["not valid JSON"]);
}

#[test]
fn a_trace_that_ends_well_is_fine() {
    let f = Folder::new("ends-well");
    f.file("m.pml", FINE).file("some.trail", "1:0:0\n");
    f.run(&["replay", "m.pml", "some.trail"]).expect(0, &["ok    the trace fits the model"], &[]);
}

/// Rows of a merged trail name the first statement of a run of local ones.
#[test]
fn a_merged_trail_of_spin_is_filled_in() {
    let f = Folder::new("merged");
    f.file("m.pml", "byte g;\nactive proctype P() { byte a; a = 1; a = a + 1; a = a + 2; g = a; assert(g != 4) }\n");
    f.file("m.pml.trail", "-4:-4:-4\n1:0:0\n2:0:3\n3:0:4\n");
    f.run(&["replay", "m.pml"]).expect(1, &["✗ g is 4", "2 statements it does not mention were filled in"], &[]);
}

/// SPIN agrees with the trails we write. It takes an empty one for a missing one, so the deadlock has a step before it.
#[test]
fn spin_replays_what_we_save() {
    let stuck = DEADLOCK.replace("a?x", "x = 1; a?x");
    for (name, text, says) in [
        ("mutex", LOCK, "assertion violated"),
        ("hand", HANDSHAKE, "assertion violated"),
        ("dead", &stuck, "trail ends after 1 steps"),
    ] {
        let f = Folder::new(&format!("spin-{name}"));
        f.file("m.pml", text);
        f.run(&["m.pml", "-o", "out"]).expect(1, &[], &[]);
        let mut n = 0;
        for entry in std::fs::read_dir(f.0.join("out")).expect("traces") {
            let trail = entry.expect("a trace").path();
            if trail.extension().is_none_or(|e| e != "trail") {
                continue;
            }
            let spin =
                Command::new("spin").args(["-t", "-p", "-k"]).arg(&trail).arg("m.pml").current_dir(&f.0).output();
            let text = String::from_utf8_lossy(&spin.expect("spin is needed").stdout).into_owned();
            assert!(text.contains(says), "{}\n{text}", trail.display());
            n += 1;
        }
        assert!(n > 0, "{name}: no trail was saved");
    }
}

#[test]
fn all_errors_are_saved_one_by_one() {
    let f = Folder::new("all");
    f.file("m.pml", "active proctype P() { if :: assert(false) :: assert(1 == 2) fi; assert(2 == 3) }\n");
    f.run(&["m.pml", "--all-errors", "-o", "out"]).expect(
        1,
        &["assert(false)", "assert(1 == 2)", "assert(2 == 3)"],
        &[],
    );
    let names = Folder(f.0.join("out"));
    let files = names.names();
    assert!(files.contains(&"m.pml.assert.trail".to_string()), "{files:?}");
    assert!(files.contains(&"m.pml.assert.2.json".to_string()), "{files:?}");
    assert!(files.contains(&"m.pml.assert.3.json".to_string()), "{files:?}");
}

#[test]
fn a_folder_that_cannot_be_written_is_reported() {
    let f = Folder::new("out");
    f.file("m.pml", LOCK).file("taken", "");
    f.run(&["m.pml", "-o", "taken"]).expect(2, &[], &["cannot write traces"]);
}

#[test]
fn a_seed_names_a_run() {
    let f = Folder::new("seed");
    f.file("m.pml", LOCK);
    let first = f.run(&["sim", "m.pml", "--seed", "3", "--steps", "20"]).expect(0, &["seed 3\n", "stopped after"], &[]);
    let second = f.run(&["sim", "m.pml", "--seed", "3", "--steps", "20"]);
    assert_eq!(first.out, second.out);
    f.run(&["sim", "m.pml", "--steps", "1"]).expect(0, &["seed "], &[]);
    f.file("print.pml", "active proctype P() { printf(\"hello %d\\n\", 7); assert(false) }\n");
    f.run(&["sim", "print.pml"]).expect(1, &["prints  hello 7", "✗ assertion violated", "FAIL"], &[]);
    f.run(&["sim", "print.pml", "-q"]).expect(1, &["hello 7\n"], &[]);
    f.file("dead.pml", DEADLOCK);
    f.run(&["sim", "dead.pml"]).expect(1, &["invalid end state after 0 steps", "P[0] waits"], &[]);
}

#[test]
fn a_run_by_hand_reads_commands_from_a_pipe_or_a_script() {
    let f = Folder::new("hand");
    f.file("m.pml", LOCK);
    let commands = "1\ns\nb\nu\nr\n# a remark\nu\nu\n2\na 3\n?\n99\nnonsense\na x\nq\n1\n";
    let parts = [
        "[1]  worker[1]  line 7  !locked",
        "locked = false",
        "worker[0] at line 6",
        "back at step 0",
        "nothing to undo",
        "take move number N",
        "there is no move 99",
        "unknown command `nonsense`",
        "expected a number",
        "stopped after 4 steps",
    ];
    let piped = f.run_with(&["sim", "-i", "m.pml", "--seed", "1"], commands).expect(0, &parts, &[]);
    f.file("script", commands);
    let wrong = ["the script has an unknown command: `nonsense`"];
    let scripted = f.run(&["sim", "m.pml", "--script", "script", "--seed", "1"]).expect(2, &parts, &wrong);
    assert_eq!(piped.out, scripted.out);
    f.run(&["sim", "m.pml", "--script", "script", "--steps", "2"]).expect(
        2,
        &[],
        &["`--steps` is for a run at random"],
    );
    f.run(&["sim", "-i", "m.pml"]).expect(0, &["stopped after 0 steps"], &[]);
    f.run(&["sim", "m.pml", "--script", "nosuch"]).expect(2, &[], &["no such file"]);
}

#[test]
fn a_reader_that_leaves_early_is_no_fault() {
    let f = Folder::new("pipe");
    f.file("m.pml", LOCK);
    let mut child = f
        .command(&["sim", "m.pml", "--steps", "100000", "--seed", "1"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("spinor starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("spinor ends");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert!(matches!(output.status.code(), Some(0 | 1)), "{:?}", output.status);
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_reported() {
    let f = Folder::new("full");
    f.file("m.pml", FINE);
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
    let output = f.command(&["m.pml"]).stdout(full).output().expect("spinor starts");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot write the result"));
}

#[test]
fn a_model_that_cannot_even_start_is_a_violation_without_steps() {
    let f = Folder::new("start");
    f.file("m.pml", "byte a[2];\nbyte i = 5;\nbyte x = a[i];\nactive proctype P() { skip }\n");
    let ran = f.run(&["m.pml", "-o", "out"]);
    assert!(matches!(ran.code, Some(1 | 2)), "{:?}\n{}{}", ran.code, ran.out, ran.err);
    let ran = f.run(&["m.pml", "--format", "json"]);
    ran.json();
    let ran = f.run(&["sim", "m.pml"]);
    assert!(matches!(ran.code, Some(1 | 2)), "{:?}\n{}{}", ran.code, ran.out, ran.err);
}

#[test]
fn includes_are_found_beside_the_model() {
    let f = Folder::new("include");
    f.file("part.pml", "byte x;\n").file("m.pml", "#include \"part.pml\"\nactive proctype P() { assert(x == 1) }\n");
    f.run(&["m.pml"]).expect(1, &["m.pml:2"], &[]);
}

/// One line per promised field: where it is (`*` is every element, `?` may be null) and of which type.
const RESULT: &str = "
schema_version int
spinor text
model.path text
model.sha256 text
options?.search text
options?.endless text-or-null
options?.fair_by text-or-null
options?.por text
options?.sym text
options?.fair text
options?.store text
options?.executor text
options?.jobs int
options?.plain bool
options?.dead bool
options?.merge bool
options?.unread bool
properties.*.name text
properties.*.kind text
properties.*.verdict text
properties.*.because text-or-null
properties.*.violations int
properties.*.traces.*.cycle_start int-or-null
properties.*.traces.*.ending text
properties.*.traces.*.looks.* int
properties.*.traces.*.steps.*.pid int
properties.*.traces.*.steps.*.proctype text
properties.*.traces.*.steps.*.statement text
properties.*.traces.*.steps.*.file text
properties.*.traces.*.steps.*.line int
properties.*.traces.*.steps.*.col int
properties.*.traces.*.steps.*.end_line int
properties.*.traces.*.steps.*.end_col int
properties.*.traces.*.steps.*.stmt int
properties.*.traces.*.steps.*.changes.* pair
properties.*.stats?.search text
properties.*.stats?.stored int
properties.*.stats?.complete bool
unreached.*.proctype text
unreached.*.file text
unreached.*.line int
unreached.*.end bool
truncations.*.statement text
notes.* text
advice.* text
stats?.stored int
stats?.matched int
stats?.transitions int
stats?.atomic_steps int
stats?.depth int
stats?.complete bool
stats?.cpu_seconds number
stats?.wall_seconds number
stats?.peak_memory_bytes int
stats?.store_bytes int
stats?.search_bytes int
stats?.omission_bound number-or-null
diagnostics.*.code text-or-null
diagnostics.*.severity text
diagnostics.*.message text
diagnostics.*.primary?.file text
diagnostics.*.primary?.line int
diagnostics.*.primary?.label text
diagnostics.*.labels.*.line int
diagnostics.*.help text-or-null
diagnostics.*.fix?.text text
diagnostics.*.spin text-or-null
diagnostics.*.notes.* text
";

fn reach<'a>(from: &'a Json, path: &str) -> Vec<&'a Json> {
    let mut here = vec![from];
    for key in path.split('.') {
        here = here
            .into_iter()
            .flat_map(|value| match (key, value, key.strip_suffix('?')) {
                ("*", Json::List(items), _) => items.iter().collect(),
                ("*", Json::Object(fields), _) => fields.iter().map(|(_, v)| v).collect(),
                (_, _, Some(key)) => value.get(key).into_iter().filter(|v| **v != Json::Null).collect(),
                _ => vec![value.get(key).unwrap_or_else(|| panic!("no `{key}` of `{path}` in {value:?}"))],
            })
            .collect();
    }
    here
}

/// Checks every row of [`RESULT`], and returns the verdicts.
#[track_caller]
fn promised(doc: &Json) -> Vec<&str> {
    for row in RESULT.trim().lines() {
        let (path, wanted) = row.split_once(' ').expect("a path and a type");
        for value in reach(doc, path) {
            let fits = match (wanted, value) {
                ("int" | "int-or-null" | "number", Json::Int(_)) | ("number", Json::Real(_)) => true,
                ("text" | "text-or-null", Json::Text(_)) | ("bool", Json::Bool(_)) => true,
                ("text-or-null" | "int-or-null" | "number-or-null", Json::Null) => true,
                ("number-or-null", Json::Real(_) | Json::Int(_)) => true,
                ("pair", Json::List(two)) => two.len() == 2,
                _ => false,
            };
            assert!(fits, "`{path}` should be {wanted} and is {value:?}");
        }
    }
    reach(doc, "properties.*.verdict").into_iter().filter_map(Json::as_str).collect()
}

#[test]
fn every_json_document_has_the_fields_and_types_that_were_promised() {
    let f = Folder::new("schema");
    f.file("mutex.pml", LOCK).file("hand.pml", HANDSHAKE).file("fine.pml", FINE).file("broken.pml", BROKEN);
    f.file("ltl.pml", format!("{FINE}ltl p {{ <> (x == 1) }}\n"));
    f.file("bits.pml", "byte b; int i = 300;\nactive proctype P() { b = i }\n");
    for (args, code, verdicts) in [
        (&["mutex.pml"][..], 1, &["violated", "holds", "holds"][..]),
        (&["hand.pml"], 1, &["violated", "holds", "holds"]),
        (&["fine.pml"], 0, &["holds", "holds", "holds"]),
        (&["bits.pml"], 0, &["holds", "holds", "holds"]),
        (&["fine.pml", "--depth", "1"], 3, &["inconclusive"; 3]),
        (&["ltl.pml"], 0, &["holds"; 4]),
        (&["ltl.pml", "--ltl", "[] (x == 0)"], 1, &["holds", "holds", "holds", "holds", "violated"]),
        (&["broken.pml"], 2, &[]),
    ] {
        let ran = f.run(&[args, &["--format", "json"]].concat()).expect(code, &[], &[]);
        assert_eq!(ran.err, "", "{args:?}");
        assert_eq!(promised(&ran.json()), verdicts, "{args:?}");
    }
    let ran = f.run(&["nosuch.pml", "--format", "json"]).expect(2, &["there is no such file", "\"sha256\": null"], &[]);
    assert_eq!(ran.err, "");
}

#[test]
fn the_last_line_is_the_whole_answer() {
    let f = Folder::new("summary");
    f.file("fine.pml", FINE).file("bad.pml", LOCK).file("ltl.pml", format!("{FINE}ltl p {{ <> (x == 1) }}\n"));
    f.file("both.pml", format!("{LOCK}ltl p {{ <> (critical == 1) }}\n"));
    for (args, code, last) in [
        (&["fine.pml"][..], 0, "no errors: 4 states, all explored"),
        (&["fine.pml", "--expect", "pass"], 0, "no errors: 4 states, all explored"),
        (
            &["fine.pml", "--expect", "fail"],
            1,
            "no errors: 4 states, all explored; a violation was expected (exit status 1)",
        ),
        (&["bad.pml"], 1, "1 of 3 properties violated (exit status 1)"),
        (&["bad.pml", "-o", "out"], 1, "1 of 3 properties violated (exit status 1)"),
        (&["bad.pml", "--expect", "fail"], 0, "1 of 3 properties violated, as expected"),
        (&["both.pml"], 1, "1 of 4 properties violated (exit status 1)"),
        (
            &["ltl.pml", "--store", "hashcompact"],
            3,
            "no errors so far, but 4 of 4 properties not decided (exit status 3)",
        ),
        (&["fine.pml", "--depth", "1"], 3, "no errors so far, but 3 of 3 properties not decided (exit status 3)"),
    ] {
        let ran = f.run(args).expect(code, &[], &[]);
        assert_eq!(ran.out.lines().last(), Some(last), "{}", ran.out);
    }
    let limit = "?     assert\n?     deadlock\n?     runtime\n      the search was cut at depth 1\n";
    f.run(&["fine.pml", "--depth", "1"]).expect(3, &[limit, "help  a larger --depth, or none"], &[]);
}

#[test]
fn several_violations_share_one_next_line() {
    let f = Folder::new("next");
    f.file(
        "m.pml",
        "chan c;\nactive proctype P() { if :: assert(false) :: (false) :: c!1 fi }\nactive proctype Q() { (false) }\n",
    );
    let ran = f.run(&["m.pml"]).expect(1, &["FAIL  assert(false)", "FAIL  deadlock", "FAIL  runtime"], &[]);
    assert_eq!(ran.out.matches(" next  ").count(), 1, "{}", ran.out);
}

#[test]
fn ends_that_are_not_reached_are_one_line() {
    let f = Folder::new("ends");
    f.file(
        "m.pml",
        "byte x;\nactive proctype A() { do :: x = 1 od }\nactive proctype B() { do :: x = 0 :: x == 7 -> x = 9 od }\n",
    );
    let lines =
        "unreached  2 statements in no run:\n  m.pml:3  B  x == 7\n  m.pml:3  B  x = 9\nunreached  the end of A, B\n";
    f.run(&["m.pml"]).expect(0, &[lines], &[]);
}

#[test]
fn a_new_process_brings_only_what_it_does_not_start_with_at_zero() {
    let f = Folder::new("births");
    f.file("m.pml", "proctype Q(byte n) { byte zero, x; x = n; assert(x == 0) }\ninit { run Q(3) }\n");
    let ran = f.run(&["m.pml"]).expect(1, &["Q[1].n", "- → 3", "0 → 3"], &[]);
    assert!(!ran.out.contains("zero") && !ran.out.contains("- → 0"), "{}", ran.out);
}

#[test]
fn what_was_refused_is_told_once_and_the_rest_is_answered() {
    let f = Folder::new("refused");
    f.file("fine.pml", FINE).file("broken.pml", BROKEN);
    let ran = f.run(&["broken.pml", "nosuch.pml", "fine.pml"]).expect(2, &["no errors"], &["P0102", "nosuch.pml"]);
    assert!(ran.out.starts_with("fine.pml\nok "), "{}", ran.out);
    assert_eq!(f.run(&["lint", "fine.pml", "fine.pml", "-q"]).expect(0, &[], &[]).out, "");
}

#[test]
fn steps_are_named_by_what_they_do() {
    let f = Folder::new("words");
    f.file(
        "m.pml",
        "byte i;\nactive proctype P() { atomic { do :: i < 2 -> i++ :: else -> break od }; d_step { i = 7; i = 8 }; assert(i != 8) }\n",
    );
    f.run(&["m.pml"]).expect(1, &["└ (leaves the do)", "d_step { i = 7 … }", "✗ i is 8"], &[]);
}

#[test]
fn channels_are_told_by_name() {
    let f = Folder::new("channels");
    f.file(
        "m.pml",
        "chan a = [1] of { byte };\nproctype Q(chan c) { chan d; d = c; d!1; assert(false) }\ninit { run Q(a) }\n",
    );
    f.run(&["m.pml"]).expect(1, &["- → a", "none → a", "empty → [1]"], &[]);
    let ran = f.run_with(&["sim", "-i", "m.pml"], "1\ns\n").expect(0, &["Q[1].c = a\n", "a = empty"], &[]);
    assert!(!ran.out.contains("a = a"), "{}", ran.out);
}

/// Some ten thousand million states, all of them fine.
const LARGE: &str = "byte x[8];
active [8] proctype P() { do :: x[_pid] < 17 -> x[_pid]++ :: else -> x[_pid] = 0 od }
";

#[test]
fn the_memory_that_was_given_is_kept() {
    let f = Folder::new("memory");
    f.file("m.pml", LARGE);
    for (given, bytes, ways) in [
        (
            "32MiB",
            32u64 << 20,
            &[&["-j", "2"][..], &["--search", "dfs", "-j", "2"], &["--store", "arena", "-j", "1"]][..],
        ),
        ("90MB", 90_000_000, &[&["--store", "arena", "-j", "2"]]),
    ] {
        for options in ways {
            let args = [&["m.pml", "--memory", given, "--format", "json"], *options].concat();
            let doc = f.run(&args).expect(3, &[], &[]).json();
            let number = |path: &str| reach(&doc, path)[0].as_int().expect("a number") as u64;
            let peak = number("stats.peak_memory_bytes");
            assert!(peak <= bytes + bytes / 20, "{peak} of {bytes} with {options:?}");
            assert!(number("stats.search_bytes") <= bytes, "{options:?}");
            assert!(number("stats.store_bytes") <= number("stats.search_bytes"), "{options:?}");
            assert!(number("stats.stored") > 10_000, "{options:?}");
            let because = reach(&doc, "properties.*.because")[0].as_str().unwrap_or_default();
            assert!(because.contains("of memory"), "{because}");
            let advice: Vec<&str> = reach(&doc, "advice.*").iter().filter_map(|a| a.as_str()).collect();
            assert!(advice.contains(&"more --memory") && advice.len() >= 3, "{advice:?}");
        }
    }
    f.run(&["m.pml", "--memory", "20MiB"]).expect(
        3,
        &["the search was stopped at 20.0 MiB of memory", "--store hashcompact: 11 to 21 bytes a state"],
        &[],
    );
}

#[test]
fn the_time_that_was_given_is_kept() {
    let f = Folder::new("time");
    f.file("m.pml", LARGE);
    for options in [&["-j", "1"][..], &["-j", "2"], &["--search", "dfs", "-j", "2"]] {
        let started = std::time::Instant::now();
        let args = [&["m.pml", "--time", "300ms"], options].concat();
        f.run(&args).expect(3, &["the search was stopped after 0.3 s", "help  a longer --time"], &[]);
        assert!(started.elapsed().as_secs() < 10);
    }
    // There is no such time as the end of it.
    f.file("short.pml", "active proctype P() { skip }");
    f.run(&["short.pml", "--ltl", "[] true", "--time", "10000000000000000000"]).expect(0, &["no errors"], &[]);
}

#[cfg(unix)]
#[test]
fn an_interrupted_search_says_how_far_it_came() {
    let f = Folder::new("interrupt");
    f.file("m.pml", LARGE).file("bad.pml", LARGE.replace("-> x[_pid]++", "-> x[_pid]++; assert(x[0] != 1)"));
    for (model, options, code, said) in [
        ("m.pml", &["-j", "1"][..], 3, "the search was interrupted"),
        ("m.pml", &["-j", "2"], 3, "the search was interrupted"),
        ("m.pml", &["-j", "2", "--search", "dfs"], 3, "the search was interrupted"),
        // What was found before is shown.
        ("bad.pml", &["-j", "2"], 1, "FAIL  assert(x[0] != 1)"),
    ] {
        let args = [&[model, "--memory", "2GiB"], options].concat();
        let mut command = f.command(&args);
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let child = child.expect("spinor starts");
        std::thread::sleep(std::time::Duration::from_millis(1500));
        let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
        assert!(sent.success());
        let ran = Ran::of(child.wait_with_output().expect("spinor ends"));
        ran.expect(code, &[said, "states stored"], &[]);
    }
}

#[test]
fn the_bracket_of_an_atomic_ends_where_it_has_to_wait() {
    let f = Folder::new("bracket");
    let model = "\
chan q = [1] of { byte };
byte x;
active proctype A() { atomic { x = 1; q!1; q!2 } }
active proctype B() { byte y; q?y; assert(x == 0) }
";
    let ran = f.file("m.pml", model).run(&["m.pml"]).expect(1, &["┌ x = 1", "└ q!1"], &[]);
    assert!(!ran.out.contains("└ q?y") && !ran.out.contains("│ q!1"), "{}", ran.out);
}

#[test]
fn a_lossy_store_leaves_open_what_it_did_not_find() {
    let f = Folder::new("lossy");
    f.file("fine.pml", FINE).file("bad.pml", LOCK);
    for store in ["hashcompact", "bitstate"] {
        let said = ["?     assert", "the store may have taken states for others", "search dfs", store];
        f.run(&["fine.pml", "--store", store]).expect(3, &said, &[]);
        f.run(&["bad.pml", "--store", store]).expect(1, &["FAIL  assert(critical == 1)", "trace, 7 steps"], &[]);
        f.run(&["fine.pml", "--store", store, "--search", "bfs"]).expect(3, &["--search dfs does without"], &[]);
    }
    f.run(&["fine.pml", "--store", "tree", "-v"]).expect(0, &["store tree", "the whole search"], &[]);
}

#[test]
fn optimisations_are_switched_off_one_by_one() {
    let f = Folder::new("optimise");
    // The value that is left in `t` is never read again; the two statements on `t` are nobody else's business.
    f.file("m.pml", "byte g;\nactive proctype P() { byte t; t = 1; t = t + 2; g = t; g = 7; g = 8 }\n");
    let stored = |options: &[&str]| {
        let doc = f.run(&[&["m.pml", "--format", "json"], options].concat()).expect(0, &[], &[]).json();
        reach(&doc, "stats.stored")[0].as_int().expect("a number")
    };
    let all = stored(&[]);
    let plain = stored(&["--plain"]);
    assert!(all < plain, "{all} < {plain}");
    assert_eq!(stored(&["--no-merge", "--no-dead", "--no-unread"]), plain);
    assert!(stored(&["--no-merge"]) > all);
}
