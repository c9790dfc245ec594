//! With symmetry and without, models have the same verdicts, and one state of each orbit is stored.

use spinor_check::check::{Interpreted, Said, Stated, check};
use spinor_check::cycles::Fairness;
use spinor_check::observer::Silent;
use spinor_check::report::Report;
use spinor_check::settings::{Search, Selection, Settings};
use spinor_check::symmetry::Way;
use spinor_check::symmetry::canon::{Canon, Scratch};
use spinor_check::verdict::Verdict;
use spinor_lang::{Options, load};
use spinor_model::interp::Interp;
use spinor_model::scalarset;
use spinor_model::successors::Successors;
use std::collections::{HashSet, VecDeque};

fn run(name: &str, text: &str, settings: &Settings) -> Report {
    let loaded = load(name, text, &Options::default(), &|_| Err(std::io::ErrorKind::NotFound.into()));
    let model = loaded.model.unwrap_or_else(|| panic!("{name} is refused: {:?}\n{text}", loaded.diagnostics));
    let stated: Vec<Stated> = model
        .formulas
        .iter()
        .map(|f| Stated {
            name: f.name.clone(),
            said: Said::Formula { formula: f.formula.clone(), props: f.props.clone() },
        })
        .collect();
    let interp = Interp::new(model.system.clone());
    check(&interp, &stated, settings, &Interpreted, &mut Silent).expect("the request makes sense")
}

fn words(report: &Report) -> Vec<(String, &'static str)> {
    report.properties.iter().map(|p| (p.name.clone(), p.verdict.word())).collect()
}

const TOGGLERS: &str = "byte on; active [3] proctype toggler() { do :: on++; accept: on-- od }";

#[test]
fn a_state_stands_for_its_images() {
    let all = Settings { select: Selection::Safety, plain: true, ..Settings::default() };
    let plain = run("togglers", TOGGLERS, &all);
    for way in Way::ALL {
        let with = run("togglers", TOGGLERS, &Settings { symmetry: way, ..all.clone() });
        assert_eq!(words(&plain), words(&with), "{way:?}");
        assert_eq!((plain.stats().stored, with.stats().stored), (8, 4), "{way:?} {:?}", with.notes);
    }
}

/// Verdicts of random symmetric models, with each way and without.
fn compare(seed: u64, tally: &mut [usize; 6]) {
    let text = spinor_gen::symmetric(seed);
    let limit = Some(std::time::Duration::from_secs(3));
    let plain = Settings { max_time: limit, ..Settings::default() };
    let fairness = [Fairness::None, Fairness::None, Fairness::Weak, Fairness::Strong][seed as usize % 4];
    let plain = Settings { fairness, plain: seed % 5 == 0, ..plain };
    let without = run("m", &text, &plain);
    if !without.properties.iter().all(|p| matches!(p.verdict, Verdict::Violated { .. } | Verdict::Holds)) {
        return;
    }
    tally[0] += 1;
    let mut stored: Vec<u64> = Vec::new();
    for way in Way::ALL {
        println!("seed {seed} {way:?} {fairness:?}"); // where a panic came from
        let search = if fairness == Fairness::None && seed % 3 == 0 { Search::Ndfs } else { Search::Auto };
        let with = run("m", &text, &Settings { symmetry: way, search, ..plain.clone() });
        assert_eq!(words(&without), words(&with), "seed {seed} {way:?} {fairness:?}\n{text}\n{:?}", with.notes);
        let safety = with.searches.first().filter(|s| s.complete).map_or(0, |s| s.stored);
        if matches!(way, Way::Segmented | Way::PcSegmented | Way::Full) {
            stored.push(safety);
        }
        if way == Way::Segmented {
            let used = with.notes.iter().any(|n| n.starts_with("symmetry"));
            tally[1] += usize::from(used);
            tally[2] += with.properties.iter().filter(|p| p.verdict.is_violated()).count();
            if safety > 0 {
                tally[3] += without.searches[0].stored as usize;
                tally[4] += safety as usize;
            }
            if !used {
                println!("seed {seed}: {:?}", with.notes);
            }
        }
    }
    assert!(stored.iter().all(|n| *n == stored[0]), "seed {seed}: {stored:?} are not canonical\n{text}");
}

#[test]
fn random_symmetric_models_have_the_same_verdicts() {
    let mut tally = [0; 6];
    let n = std::env::var("SPINOR_SYMMETRIC").ok().and_then(|n| n.parse().ok()).unwrap_or(300);
    let from = std::env::var("SPINOR_FROM").ok().and_then(|n| n.parse().ok()).unwrap_or(0);
    (from..from + n).for_each(|seed| compare(seed, &mut tally));
    println!("{tally:?}: models, with symmetry, violated, states, states with symmetry");
    assert!(tally[1] * 10 > tally[0] * 9, "{tally:?}: most have a symmetry");
}

/// What a permutation does to a state, a model's steps do not notice; and canonical ways are.
#[test]
fn images_of_states_have_images_of_steps() {
    let mut n_images = 0;
    for seed in 0..150 {
        n_images += images("m", &spinor_gen::symmetric(seed), seed);
    }
    assert!(n_images > 10_000, "{n_images}");
}

fn images(name: &str, text: &str, seed: u64) -> usize {
    let loaded = load(name, text, &Options::default(), &|_| Err(std::io::ErrorKind::NotFound.into()));
    let system = loaded.model.expect("it loads").system;
    let set = scalarset::find(&system, &[]);
    if set.is_empty() {
        return 0;
    }
    let interp = Interp::new(system.clone());
    let canons: Vec<Canon> = Way::ALL.iter().map(|way| Canon::new(&system, set.clone(), *way)).collect();
    let mut scratch = Scratch::default();
    let Ok(initial) = interp.initial() else { return 0 };
    let mut key = Vec::new();
    interp.pack(&initial, &mut key);
    let mut seen = HashSet::from([key.clone()]);
    let mut todo = VecDeque::from([key]);
    let mut n = 0;
    let mut random = seed;
    let after = |key: &[u8]| {
        let mut batch = interp.batch();
        interp.expand(&mut interp.unpack(key), &mut batch);
        batch.outcomes.iter().filter_map(|o| batch.key(o).map(<[u8]>::to_vec)).collect::<Vec<_>>()
    };
    while let Some(key) = todo.pop_front() {
        // Two members of a class change places.
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let class = &set.classes[(random >> 33) as usize % set.classes.len()];
        let (p, q) = ((random >> 40) as usize % class.len(), (random >> 48) as usize % class.len());
        let mut perm = canons[0].identity();
        perm.swap(usize::from(class[p]), usize::from(class[q]));
        let image = canons[0].image(&key, &perm, &mut scratch);
        let next = after(&key);
        let normal = |key: &[u8], scratch: &mut Scratch| canons[0].normal(key, scratch);
        let mut expected: Vec<Vec<u8>> = next.iter().map(|k| canons[0].image(k, &perm, &mut scratch)).collect();
        let mut there: Vec<Vec<u8>> = after(&image).iter().map(|k| normal(k, &mut scratch)).collect();
        // Until all are there nothing moves.
        if normal(&key, &mut scratch) != image || perm[usize::from(class[p])] == class[p] {
            expected.sort();
            there.sort();
            assert_eq!(expected, there, "seed {seed}: {p} and {q} of {class:?}\n{text}");
        }
        for canon in &canons {
            let (mut a, mut b) = (key.clone(), image.clone());
            canon.pick(&mut a, &mut scratch);
            let picked = Canon::picked(&scratch).clone();
            assert_eq!(a, canon.image(&key, &picked, &mut scratch), "seed {seed}: the permutation leads there");
            let mut again = a.clone();
            canon.pick(&mut again, &mut scratch);
            assert_eq!(a, again, "I2, seed {seed} {:?}", canon.way());
            canon.pick(&mut b, &mut scratch);
            if matches!(canon.way(), Way::Segmented | Way::PcSegmented | Way::Full) {
                assert_eq!(a, b, "seed {seed}: {:?} is not canonical\n{text}", canon.way());
            }
        }
        n += 1;
        for key in next {
            if seen.len() < 600 && seen.insert(key.clone()) {
                todo.push_back(key);
            }
        }
    }
    n
}
