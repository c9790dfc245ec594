//! `spinor ltl`: facts, claims and automata.

use std::path::PathBuf;
use std::process::{Command, Output};

fn ltl(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_spinor")).arg("ltl").args(args).output().expect("spinor runs")
}

fn said(args: &[&str]) -> String {
    let out = ltl(args);
    assert_eq!(out.status.code(), Some(0), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).expect("text")
}

/// A folder of the test's own.
fn folder(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("spinor-ltl-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&path).expect("a folder for the test");
    path
}

#[test]
fn a_formula_is_told_by_what_breaks_it() {
    for (formula, kind) in [
        ("[] p", "safety"),
        ("p W q", "safety"),
        ("<> p", "guarantee"),
        ("[] (p -> <> q)", "liveness"),
        ("[]<> p && [] q", "liveness"),
        ("p || !p", "true of every run"),
        ("<> p && [] !p", "false of every run"),
    ] {
        let text = said(&[formula]);
        assert!(text.contains(&format!("it is       {kind}")), "{formula}: {text}");
    }
    assert!(said(&["X p"]).contains("stuttering  makes a difference"));
    assert!(said(&["[] (p -> X (true U p))"]).contains("stuttering"));
    assert!(said(&["p U q"]).contains("stuttering  makes no difference"));
}

#[test]
fn an_automaton_comes_back_from_its_text() {
    let folder = folder("hoa");
    let file = folder.join("a.hoa");
    let file = file.to_str().expect("a plain path");
    for formula in ["[] (p -> <> q)", "<>[] (x < 3) && []<> (y == 2)", "p U (q U r)", "true", "false"] {
        let text = said(&[formula, "--to", "hoa"]);
        std::fs::write(file, &text).expect("it can be written");
        assert_eq!(said(&[file, "--from", "hoa", "--to", "hoa"]), text, "{formula}");
        assert!(said(&[file, "--from", "hoa"]).starts_with("automaton"));
        assert!(said(&[file, "--from", "hoa", "--to", "dot"]).starts_with("digraph"));
    }
    let _ = std::fs::remove_dir_all(folder);
}

#[test]
fn spin_takes_the_claims() {
    let folder = folder("never");
    for formula in ["[] (p -> <> q)", "!([]<> p -> []<> q)", "p U q", "[] p", "true", "false", "<> (len(c) > 1)"] {
        let claim = said(&[formula, "--to", "never"]);
        let model = format!(
            "bool p, q; chan c = [2] of {{ bit }};\nactive proctype P() {{ do :: p = !p :: q = p od }}\n{claim}"
        );
        std::fs::write(folder.join("m.pml"), model).expect("it can be written");
        let out = Command::new("spin").args(["-a", "m.pml"]).current_dir(&folder).output().expect("spin runs");
        let text = String::from_utf8_lossy(&out.stdout).into_owned();
        assert!(out.status.success() && !text.to_lowercase().contains("error"), "{formula}: {claim}\n{text}");
    }
    let _ = std::fs::remove_dir_all(folder);
}

#[test]
fn what_cannot_be_read_is_refused_with_a_way_out() {
    let folder = folder("bad");
    let file = folder.join("bad.hoa");
    std::fs::write(&file, "HOA: v1\nStates: 1\nAcceptance: 2 Fin(0) & Inf(1)\n--BODY--\n--END--\n").expect("written");
    let file = file.to_str().expect("a plain path");
    let bad: &[&[&str]] = &[
        &[],
        &["p q"],
        &[""],
        &["[] ("],
        &["p", "q"],
        &[file, "--from", "hoa"],
        &["no.hoa", "--from", "hoa"],
        &["p", "--to", "spot"],
    ];
    for args in bad {
        let out = ltl(args);
        let text = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(2), "{args:?}: {text}");
        assert!(out.stdout.is_empty() && text.contains("error"), "{args:?}: {text}");
    }
    let _ = std::fs::remove_dir_all(folder);
}
