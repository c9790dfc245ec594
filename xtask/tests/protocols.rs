//! Protocols of communicating machines against SPIN 6.5.2, by the Promela text that they are exported as: deadlocks,
//! stored states, transitions and the verdicts of formulas.
//!
//! A failure names a seed; `cargo run -p xtask -- synthesise --seed SEED` prints its protocol.

use spinor_check::check::{Said, Stated, interpreted};
use spinor_check::observer::Silent;
use spinor_check::report::Report;
use spinor_check::settings::Settings;
use spinor_gen::protocol::{Shape, synthesise};
use spinor_gen::question::seeds;
use spinor_lang::{Model, Options, load};
use spinor_model::interp::Interp;
use spinor_model::protocol::Protocol;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;
use xtask::campaign;
use xtask::spin::{Spin, SpinOutcome};
use xtask::work::Scratch;

/// SPIN, asked for empty channels at the end.
fn spin() -> Spin {
    let mut spin = Spin::find(Duration::from_secs(30)).unwrap_or_else(|problem| panic!("{problem}"));
    spin.drained = true;
    spin
}

fn loaded(name: &str, text: &str) -> Model {
    let loaded = load(name, text, &Options::default(), &|p: &Path| std::fs::read(p));
    loaded.model.unwrap_or_else(|| panic!("{text}\n{:?}", loaded.diagnostics))
}

fn answer(model: &Model) -> Report {
    let protocol = model.protocol.as_ref().map(|p| Protocol { channels: p.channels.clone(), ..Protocol::default() });
    let stated: Vec<Stated> = model
        .formulas
        .iter()
        .map(|f| Stated {
            name: f.name.clone(),
            said: Said::Formula { formula: f.formula.clone(), props: f.props.clone() },
        })
        .collect();
    let max_time = Some(Duration::from_secs(10));
    let settings = Settings { plain: true, all_errors: Some(1), max_time, protocol, ..Settings::default() };
    let interp = Interp::new(model.system.clone());
    interpreted(&interp, &stated, &settings, &mut Silent).expect("an answer")
}

/// `SPINOR_SEEDS=A..B` asks about others than usual.
/// What differs, or whether both find a deadlock; nothing of a protocol that is too large for a test.
fn compare(spin: &Spin, model: &Model) -> std::io::Result<Result<Option<bool>, String>> {
    let promela = model.promela.as_ref().expect("a protocol");
    let ours = answer(model);
    if !ours.searches[0].complete {
        return Ok(Ok(None));
    }
    let report = match spin.check_text(promela)? {
        SpinOutcome::Done(report) => report,
        other => return Ok(Err(format!("SPIN says {other:?}"))),
    };
    let deadlock = ours.property("deadlock").is_some_and(|p| p.verdict.is_violated());
    let (mine, theirs) = (
        (ours.searches[0].stored, ours.searches[0].transitions, deadlock),
        (report.stored, report.transitions, report.end_state()),
    );
    Ok(if mine == theirs { Ok(Some(deadlock)) } else { Err(format!("ours {mine:?}, SPIN's {theirs:?}")) })
}

#[test]
fn synthesised_protocols_have_spins_counts_and_deadlocks() {
    let spin = spin();
    let (differ, tally) = (Mutex::new(Vec::new()), Mutex::new((0, 0)));
    campaign::for_each(seeds(0..120), 2, |seed| {
        let text = synthesise(seed, &Shape::small(seed)).text();
        let result = compare(&spin, &loaded("p.cfsm", &text))?;
        match result {
            Ok(None) => {}
            Ok(Some(deadlock)) => {
                let mut tally = tally.lock().expect("no worker panics");
                tally.0 += 1;
                tally.1 += u64::from(deadlock);
            }
            Err(why) => differ.lock().expect("no worker panics").push(format!("seed {seed}: {why}")),
        }
        Ok(())
    })
    .expect("SPIN can be run");
    let differ = differ.into_inner().expect("no worker panics");
    assert!(differ.is_empty(), "{}", differ.join("\n"));
    let (n, deadlocks) = tally.into_inner().expect("no worker panics");
    println!("{n} protocols agree, {deadlocks} of them with a deadlock");
    assert!(n >= 50 && deadlocks * 10 > n && deadlocks < n, "{deadlocks} of {n} deadlock");
}

#[test]
fn the_protocols_of_the_corpus_have_spins_counts_and_verdicts() {
    let spin = spin();
    let (mut n, mut formulas) = (0, 0);
    for path in spinor_gen::corpus::models(&["cfsm"]) {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let model = loaded(&name, &std::fs::read_to_string(&path).expect("a protocol"));
        match compare(&spin, &model).expect("SPIN can be run") {
            Ok(deadlock) => assert!(deadlock.is_some(), "{name} is too large"),
            Err(why) => panic!("{name}: {why}"),
        }
        n += 1;
        let ours = answer(&model);
        let scratch = Scratch::new().expect("a folder");
        let file = scratch.path().join("p.pml");
        let promela = model.promela.as_ref().expect("a protocol");
        std::fs::write(&file, promela).expect("a file");
        // A name may have become another one.
        let names = promela.lines().filter_map(|l| l.strip_prefix("ltl ")?.split(' ').next());
        for (f, called) in model.formulas.iter().zip(names) {
            let violated = ours.property(&f.name).is_some_and(|p| p.verdict.is_violated());
            match spin.check_claim(&file, Some(called), false).expect("SPIN can be run") {
                SpinOutcome::Done(report) => assert_eq!(violated, report.errors > 0, "{name} {}", f.name),
                other => panic!("{name} {}: SPIN says {other:?}", f.name),
            }
            formulas += 1;
        }
    }
    assert!(n >= 9 && formulas >= 9, "{n} protocols, {formulas} formulas");
}
