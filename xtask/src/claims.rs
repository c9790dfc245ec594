//! Never claims: verdicts and product states of SPIN beside ours.
//!
//! SPIN runs as in `spin`, with the claim and the search for acceptance cycles. A formula is compared by the claim
//! that SPIN makes of it, which we read as a `never` claim, so both look at the same automaton.
//!
//! # What SPIN stores
//!   A pair of a system's state and a claim's location, whenever the claim is about to move: exactly the states of our
//!   product, with one exception. Where the system has no step left, SPIN lets the claim move once without storing where it
//!   comes to, and stores the pairs after each further move of the claim alone. A pair that is reached in both ways
//!   is expanded in the way it was met first, so the number of pairs depends on the order of the search. We do not want such
//!   a number; `as_spin` counts in that order and that way, so that nothing is left unexplained.
//!
//!   If a pair that was not stored is accepting, SPIN searches for a cycle from it. That search stores the pair and leaves it
//!   marked as one on the path, so a later search that meets it reports a cycle, whether or not there is one. Where that can
//!   be and SPIN alone finds a cycle, its answer says nothing.
//!
//!   A claim that goes through an `atomic` while it moves alone comes to pairs that are never stored, so SPIN goes round for
//!   ever in what should be a cycle: it runs into its depth limit and gives no answer. Where it does come to an end, the
//!   number of its pairs is compared no further.

use crate::compare::Difference;
use crate::spin::{Spin, SpinOutcome};
use crate::work::Scratch;
use spinor_check::claim::Claim;
use spinor_check::cycles::product::Product;
use spinor_check::cycles::{Fairness, Moves, Request, Runs, scc};
use spinor_check::observer::Silent;
use spinor_lang::{Model, Options, load};
use spinor_model::interp::Interp;
use spinor_model::ir::{Proctype, System, Then};
use spinor_store::{Arena, Budget};
use std::collections::{BTreeSet, HashSet};
use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// One claim of one model.
#[derive(Clone, Debug)]
pub struct Row {
    pub claim: String,
    /// `None`: no answer.
    pub spin: Option<Answer>,
    pub ours: Option<Answer>,
    /// Pairs that our product has and SPIN leaves out, where nothing is violated.
    pub left_out: u64,
    pub result: Result,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    pub violated: bool,
    pub stored: u64,
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.violated { write!(f, "violated") } else { write!(f, "holds, {} stored", self.stored) }
    }
}

#[derive(Clone, Debug)]
pub enum Result {
    Agree,
    /// One of the two gives no answer.
    Skipped(String),
    Differ(Vec<Difference>),
}

/// A random model with a never claim; every fourth has formulas. Left out is what SPIN answers in its own way: `_nr_pr`,
/// which counts the claim, `enabled` of processes with `provided`, which it does not look at, and remote array elements in
/// formulas, which lose their index.
pub fn random_model(seed: u64) -> String {
    let formulas = seed % 4 == 3;
    let faults = spinor_gen::Faults::Never;
    let options = spinor_gen::Options { faults, claimed: !formulas, ..spinor_gen::Options::default() };
    let fits = |m: &spinor_gen::Model| {
        let has = |what: &str| m.features.contains(&what);
        let loses = m.text.lines().any(|l| l.starts_with("ltl ") && l.contains(":la["));
        let other = formulas && ["never", "trace", "notrace"].iter().any(|f| has(f));
        let disputed = loses || m.text.contains("_nr_pr") || has("enabled") && has("provided");
        has("ltl") == formulas && !other && !disputed
    };
    let mut models = (0..).map(|n| spinor_gen::generate_with(seed + (n << 32), &options));
    models.find(fits).expect("a fifth of all models fit").text
}

/// All claims of a model, those that SPIN makes of formulas included. An error is what we say against the model.
pub fn rows(
    spin: &Spin,
    path: &Path,
    text: &str,
    limit: Duration,
) -> io::Result<std::result::Result<Vec<Row>, String>> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let read = |name: &Path| std::fs::read(folder.join(name));
    let name = path.display().to_string();
    let loaded = |text: &str| {
        let loaded = load(&name, text, &Options::default(), &read);
        let first = loaded.diagnostics.iter().find(|d| d.is_error());
        let why = first.map_or_else(|| "no model".to_string(), |d| format!("{}: {}", d.code, d.message));
        loaded.model.ok_or(why)
    };
    let mut model = match loaded(text) {
        Ok(model) => model,
        Err(why) => return Ok(Err(why)),
    };
    let own = model.system.claims.len();
    let made = if model.formulas.is_empty() { String::new() } else { spin.claims_of(path)? };
    if !made.is_empty() {
        model = match loaded(&(without_formulas(text, &model) + &made)) {
            Ok(model) => model,
            Err(why) => return Ok(Err(format!("what SPIN makes of the formulas: {why}"))),
        };
    }
    let several = model.system.claims.len() > 1;
    let mut rows = Vec::new();
    for (n, claim) in model.system.claims.iter().enumerate() {
        let nameless = n < own && claim.name == "claim";
        let name = if nameless { format!("never_{n}") } else { claim.name.clone() };
        let said = spin_says(spin, path, several.then_some(name.as_str()))?;
        rows.push(row(said, name, &model.system, claim, limit));
    }
    Ok(Ok(rows))
}

/// The same for a text.
pub fn rows_of_text(spin: &Spin, text: &str, limit: Duration) -> io::Result<std::result::Result<Vec<Row>, String>> {
    let scratch = Scratch::new()?;
    let path = scratch.path().join("m.pml");
    std::fs::write(&path, text)?;
    rows(spin, &path, text, limit)
}

/// The text with blanks where the formulas were: line numbers stay.
fn without_formulas(text: &str, model: &Model) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for formula in &model.formulas {
        let (from, to) = (formula.span.lo as usize, formula.span.hi as usize);
        for byte in &mut bytes[from..to] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned() + "\n"
}

/// What SPIN says of a claim, and its messages about it; or why it says nothing.
type Said = std::result::Result<(Answer, BTreeSet<String>), String>;

/// SPIN is asked for the first error, mostly: it does not always come to an end after one. Assertions of processes are not the
/// claim's; whose one is shows without the claim.
fn spin_says(spin: &Spin, path: &Path, name: Option<&str>) -> io::Result<Said> {
    let mut of_processes = BTreeSet::new();
    for all in [false, true] {
        let mut report = match spin.check_claim(path, name, all)? {
            SpinOutcome::Done(report) => report,
            SpinOutcome::Rejected(why) => return Ok(Err(format!("spin rejects it: {why}"))),
            SpinOutcome::Failed(why) => return Ok(Err(format!("spin fails: {why}"))),
            SpinOutcome::TimedOut => return Ok(Err(TOO_LONG.into())),
        };
        if let Some(fault) = report.faults().iter().find(|m| !CLAIM_ERRORS.contains(m)) {
            return Ok(Err(format!("a run-time error, {fault}")));
        }
        if report.assertion()
            && !all
            && let SpinOutcome::Done(report) = spin.check_file(path)?
        {
            of_processes = report.messages;
        }
        let alone = report.messages.is_empty();
        report.messages.retain(|m| !of_processes.contains(m));
        let violated = !report.messages.is_empty();
        if violated || alone || all {
            return Ok(Ok((Answer { violated, stored: report.stored }, report.messages)));
        }
    }
    unreachable!("the second round returns")
}

/// The same for a text with one claim.
pub fn spin_says_of_text(spin: &Spin, text: &str) -> io::Result<Option<Answer>> {
    let scratch = Scratch::new()?;
    let path = scratch.path().join("m.pml");
    std::fs::write(&path, text)?;
    Ok(spin_says(spin, &path, None)?.ok().map(|(answer, _)| answer))
}

const CLAIM_ERRORS: &[&str] = &["acceptance cycle", "end state in claim reached"];
const TOO_LONG: &str = "spin takes too long";

fn row(said: Said, name: String, system: &Arc<System>, graph: &Proctype, limit: Duration) -> Row {
    let row = Row { claim: name, spin: None, ours: None, left_out: 0, result: Result::Agree };
    let differ = |what, spin: String, spinor: String| Result::Differ(vec![Difference { what, spin, spinor }]);
    // What takes SPIN too long may take us long, too.
    if matches!(&said, Err(why) if why == TOO_LONG) {
        return Row { result: Result::Skipped(TOO_LONG.into()), ..row };
    }
    let claim = match Claim::never(graph, system) {
        Ok(claim) => claim,
        Err(refused) => return Row { result: differ("accepted", "yes".into(), format!("no, {refused}")), ..row },
    };
    let interp = Interp::looking(system.clone(), &claim.looked);
    let request = Request { max_time: Some(limit), budget: Budget::new(2 << 30), ..Request::new(Fairness::None) };
    let store = Arena::new(&request.budget).expect("room for an empty store");
    let product = Product::new(&interp, &claim, Fairness::None);
    let searched = scc::search(&product, &store, &request, &mut Silent);
    let ours = Answer { violated: searched.found.is_some(), stored: searched.counters.stored };
    let row = Row { ours: searched.stopped.is_none().then_some(ours), ..row };
    let (spin, messages) = match said {
        Ok(said) => said,
        Err(why) => return Row { result: Result::Skipped(why), ..row },
    };
    let mut row = Row { spin: Some(spin), ..row };
    if let Some(why) = searched.stopped {
        row.result = differ("finished", "yes".into(), format!("no, {why:?}"));
    } else if spin.violated != ours.violated {
        let of_cycles = spin.violated && messages.iter().all(|m| m == "acceptance cycle");
        row.result = if of_cycles && as_spin(&interp, &claim).leaves_marks {
            Result::Skipped("SPIN left marks behind".into())
        } else {
            let said = messages.into_iter().collect::<Vec<_>>().join("; ");
            differ("verdict", format!("{spin} {said}"), ours.to_string())
        };
    } else if !ours.violated && spin.stored != ours.stored {
        let AsSpin { stored: expected, moves_alone, .. } = as_spin(&interp, &claim);
        row.left_out = ours.stored.saturating_sub(expected);
        if spin.stored != expected {
            let has_atomic = graph.edges.iter().any(|e| e.then == Then::Atomic);
            row.result = if moves_alone && has_atomic && spin.stored < ours.stored {
                Result::Skipped("SPIN moves alone through an atomic".into())
            } else {
                let spinor = format!("{}, {expected} counted as SPIN does", ours.stored);
                differ("stored", spin.stored.to_string(), spinor)
            };
        }
    }
    row
}

/// How SPIN searches the pairs: see the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AsSpin {
    pub stored: u64,
    /// The claim moves alone somewhere.
    pub moves_alone: bool,
    /// It searches for a cycle from a pair that it has not stored.
    pub leaves_marks: bool,
}

/// In the order of its search.
pub fn as_spin(interp: &Interp, claim: &Claim) -> AsSpin {
    // With owners, so that a move of the claim alone can be told from one with a step.
    let product = Product::new(interp, claim, Fairness::Weak);
    let (mut desk, mut moves) = (product.desk(), Moves::default());
    let mut next = |key: &[u8]| {
        moves.clear();
        product.moves(&mut desk, key, &mut moves);
        let keys: Vec<Vec<u8>> = (0..moves.all.len()).map(|n| moves.key(n).to_vec()).collect();
        let accepting = moves.all.first().is_some_and(|m| m.marks != 0);
        (keys, moves.able.is_empty(), accepting)
    };
    // One that blocks inside an atomic has made a move in SPIN, and none here.
    let may_accept = |key: &[u8]| {
        let (_, at) = Product::<Interp>::split(key);
        claim.automaton.transitions(at).iter().any(|t| t.marks.0 != 0)
    };
    let mut seen: HashSet<Vec<u8>> = HashSet::new();
    let mut seeds: HashSet<Vec<u8>> = HashSet::new();
    let (mut moves_alone, mut leaves_marks) = (false, false);
    let mut start = Moves::default();
    product.initial(&mut product.desk(), &mut start);
    // The claim is about to move, or it moves alone already.
    let mut todo: Vec<(Vec<u8>, bool)> = (0..start.all.len()).map(|n| (start.key(n).to_vec(), false)).collect();
    while let Some((key, alone)) = todo.pop() {
        if !seen.insert(key.clone()) {
            continue;
        }
        let (mut keys, stuck, _) = next(&key);
        moves_alone |= stuck;
        if stuck && !alone {
            let mut further = Vec::new();
            for key in keys {
                let (keys, _, accepting) = next(&key);
                leaves_marks |= may_accept(&key);
                if accepting {
                    seeds.insert(key);
                }
                further.extend(keys);
            }
            keys = further;
        }
        todo.extend(keys.into_iter().rev().map(|key| (key, stuck)));
    }
    // A search for a cycle stores where it begins.
    AsSpin { stored: seen.union(&seeds).count() as u64, moves_alone, leaves_marks }
}
