//! Never claims against SPIN 6.5.2: verdicts and stored states, on random models, on the models of each rule, and on the
//! examples SPIN installs.
//!
//! A failure names a seed; `cargo run -p xtask -- show SEED claims` prints its model.

use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;
use xtask::campaign;
use xtask::claims::{self, Answer, Result, Row};
use xtask::spin::Spin;

const WORKERS: usize = 2;

fn spin(seconds: u64) -> Spin {
    Spin::find(Duration::from_secs(seconds)).unwrap_or_else(|problem| panic!("{problem}"))
}

const LIMIT: Duration = Duration::from_secs(100);

/// What the rows come to.
#[derive(Default, Debug)]
struct Tally {
    held: u64,
    violated: u64,
    /// SPIN leaves pairs out.
    fewer: u64,
    skipped: Vec<String>,
    differ: Vec<String>,
}

impl Tally {
    fn add(&mut self, name: &str, row: &Row) {
        match &row.result {
            Result::Agree if row.ours.is_some_and(|a| a.violated) => self.violated += 1,
            Result::Agree if row.left_out > 0 => self.fewer += 1,
            Result::Agree => self.held += 1,
            Result::Skipped(why) => self.skipped.push(format!("{name} {}: {why}", row.claim)),
            Result::Differ(list) => {
                let text = list.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
                self.differ.push(format!("{name} {}: {text}", row.claim));
            }
        }
    }
}

#[test]
fn random_claims_agree_with_spin() {
    const SEEDS: u64 = 100;
    let mut spin = spin(4);
    spin.mended = true;
    let tally = Mutex::new(Tally::default());
    campaign::for_each(0..SEEDS, WORKERS, |seed| {
        let rows = claims::rows_of_text(&spin, &claims::random_model(seed), LIMIT)?;
        let mut tally = tally.lock().expect("no worker panics");
        match rows {
            Ok(rows) => rows.iter().for_each(|row| tally.add(&format!("seed {seed}"), row)),
            Err(why) => tally.differ.push(format!("seed {seed}: we refuse it, {why}")),
        }
        Ok(())
    })
    .expect("the tools run");
    let tally = tally.into_inner().expect("no worker panics");
    assert!(tally.differ.is_empty(), "{} claims differ\n{}", tally.differ.len(), tally.differ.join("\n"));
    assert!(tally.held > 25 && tally.violated > 25, "too few of a kind: {tally:?}");
    assert!(tally.skipped.len() < 20, "too many claims tell nothing: {:?}", tally.skipped);
}

#[test]
fn spin_says_what_the_models_of_each_rule_say() {
    let spin = spin(10);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/check/tests/claims");
    let mut wrong = String::new();
    for entry in std::fs::read_dir(folder).expect("the models").flatten() {
        let path = entry.path();
        let text = std::fs::read_to_string(&path).expect("a model");
        let rows = claims::rows(&spin, &path, &text, LIMIT).expect("the tools run").expect("a model");
        for row in rows {
            let name = if row.claim == "never_0" { "claim" } else { &row.claim };
            let said = text.lines().find_map(|l| l.strip_prefix(&format!("// {name}: "))).expect("a verdict");
            // `holds, 8 stored, 7 by SPIN` where the two count differently.
            let by_spin = said.strip_suffix(" by SPIN").and_then(|s| s.rsplit(' ').next());
            let said = by_spin.map_or(said.to_string(), |n| format!("holds, {n} stored"));
            if !matches!(row.result, Result::Agree) || row.spin.map(|a| a.to_string()) != Some(said.clone()) {
                wrong.push_str(&format!("{} {said}: {row:?}\n", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn both_tools_say_what_the_page_of_differences_says() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../DIFFERENCES.md");
    let page = std::fs::read_to_string(page).expect("DIFFERENCES.md");
    let spin = spin(5);
    let mut wrong = String::new();
    let mut n = 0;
    for section in page.split("\n### ").filter(|s| s.contains("```promela claim\n")) {
        let title = section.lines().next().unwrap_or_default();
        let model = section.split("```promela claim\n").nth(1).and_then(|s| s.split("```").next()).expect("a model");
        let line = |who: &str| {
            let mark = format!("* {who}: ");
            section.lines().find_map(|l| l.strip_prefix(mark.as_str())).unwrap_or_default().to_string()
        };
        let say = |answer: Option<Answer>, none: &str| answer.map_or(none.to_string(), |a| a.to_string());
        let (theirs, ours) = match claims::rows_of_text(&spin, model, LIMIT).expect("the tools run") {
            Err(_) => (claims::spin_says_of_text(&spin, model).expect("spin runs"), None),
            Ok(rows) => (rows[0].spin, rows[0].ours),
        };
        let found = (say(theirs, "no answer"), say(ours, "refuses it"));
        // What SPIN says in words follows in parentheses.
        let said = (line("SPIN").split(" (").next().unwrap_or_default().to_string(), line("Spinor"));
        if found != said {
            wrong.push_str(&format!("{title}: {found:?}\n"));
        }
        assert_ne!(said.0, said.1, "{title}: no difference");
        n += 1;
    }
    assert!(n >= 7, "only {n} models");
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn claims_of_installed_examples_agree_with_spin() {
    let mut spin = spin(2);
    spin.lenient = true;
    let models = campaign::installed_examples().unwrap_or_else(|problem| panic!("{problem}"));
    let tally = Mutex::new(Tally::default());
    campaign::for_each(0..models.len() as u64, WORKERS, |i| {
        let path = &models[i as usize];
        let text = String::from_utf8_lossy(&std::fs::read(path)?).into_owned();
        // What we refuse another test looks at.
        for row in claims::rows(&spin, path, &text, LIMIT)?.unwrap_or_default() {
            tally.lock().expect("no worker panics").add(&path.display().to_string(), &row);
        }
        Ok(())
    })
    .expect("the tools run");
    let tally = tally.into_inner().expect("no worker panics");
    assert!(tally.differ.is_empty(), "{}", tally.differ.join("\n"));
    assert!(tally.held >= 4 && tally.violated >= 8, "too few could be compared: {tally:?}");
}
