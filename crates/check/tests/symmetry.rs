//! With symmetry and without, models have the same verdicts, and one state of each orbit is stored.

use spinor_check::check::{Said, Stated, interpreted};
use spinor_check::cycles::Fairness;
use spinor_check::observer::Silent;
use spinor_check::reduce::{Proviso, Selector};
use spinor_check::report::Report;
use spinor_check::settings::{FairBy, Reduce, Search, Selection, Settings, Store};
use spinor_check::symmetry::Way;
use spinor_check::symmetry::canon::{Canon, Scratch};
use spinor_check::symmetry::quotient::Quotient;
use spinor_check::verdict::Verdict;
use spinor_gen::question::seeds;
use spinor_lang::{Options, load};
use spinor_model::interp::Interp;
use spinor_model::ir::System;
use spinor_model::scalarset::{self, Role, Scalarset, Value};
use spinor_model::successors::{Batch, Successors};
use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

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
    interpreted(&interp, &stated, settings, &mut Silent).expect("the request makes sense")
}

fn words(report: &Report) -> Vec<(String, &'static str)> {
    report.properties.iter().map(|p| (p.name.clone(), p.verdict.word())).collect()
}

const TOGGLERS: &str = "byte on; active [3] proctype toggler() { do :: on++; accept: on-- od }";

/// Asks about `p`.
fn by_figure_4() -> Settings {
    Settings {
        symmetry: Way::Segmented,
        search: Search::Ndfs,
        fairness: Fairness::Weak,
        fair_by: FairBy::Copies,
        select: Selection::of(["p"]),
        ..Settings::default()
    }
}

/// As many processes as there can be: all of them are waited for, and the number of their orders is no number.
#[test]
fn many_processes_can_change_places() {
    let text = "byte x; active [254] proctype P() { do :: true od } active proctype S() { x = 1; do :: true od }
        ltl p { <> (x == 1) }";
    let asked = by_figure_4();
    let report = run("m", text, &asked);
    assert!(matches!(&report.properties[0].verdict, Verdict::NothingFound { .. }), "{:?}", words(&report));
    let found = Settings { fairness: Fairness::None, fair_by: FairBy::Auto, ..asked };
    assert_eq!(words(&run("m", text, &found)), [("p".to_string(), "violated")]);
    for n in [21, 66] {
        let text = format!("active [{n}] proctype P() {{ do :: skip od }}");
        for symmetry in [Way::Auto, Way::PcSegmented] {
            let report = run("m", &text, &Settings { symmetry, select: Selection::safety(), ..Settings::default() });
            assert_eq!((report.stats().left_out.sym != "off", report.stats().stored), (true, 1), "{n} {symmetry:?}");
        }
    }
}

/// Where nobody is able to move any more, everybody is served: figure 4 sees a run that ends.
#[test]
fn figure_4_finds_runs_that_end() {
    let text = "byte x; active [3] proctype P() { do :: x == 2 od } ltl p { <> (x == 1) }";
    let asked = by_figure_4();
    let report = run("m", text, &asked);
    assert_eq!(
        words(&report),
        [("p".to_string(), "violated")],
        "{:?} {:?}",
        report.notes,
        report.properties[0].verdict
    );
}

/// Three that are mentioned at once say more than their pairs do: who has the one's number where, and who the other's.
#[test]
fn what_three_have_together_is_told_apart() {
    let text = "typedef row { chan c[4] = [1] of { byte } };
        row g[4]; byte a = 255, b = 255;
        active [4] proctype P() {
          if :: atomic { a == 255 -> a = _pid }
             :: atomic { a != 255 && b == 255 && a != _pid -> b = _pid }
             :: atomic { b != 255 -> if :: g[_pid].c[a]!a; g[_pid].c[b]!b :: g[_pid].c[a]!b; g[_pid].c[b]!a fi }
          fi;
          do :: a == 254 od }";
    let stored = |symmetry| {
        let report = run("m", text, &Settings { symmetry, select: Selection::safety(), ..Settings::default() });
        assert_eq!(report.stats().left_out.sym, symmetry.word(), "{:?}", report.notes);
        report.stats().stored
    };
    assert_eq!(stored(Way::Segmented), stored(Way::Full));
}

#[test]
fn a_state_stands_for_its_images() {
    let all = Settings { select: Selection::safety(), plain: true, ..Settings::default() };
    let plain = run("togglers", TOGGLERS, &all);
    for way in Way::ALL {
        let with = run("togglers", TOGGLERS, &Settings { symmetry: way, ..all.clone() });
        assert_eq!(words(&plain), words(&with), "{way:?}");
        assert_eq!((plain.stats().stored, with.stats().stored), (8, 4), "{way:?} {:?}", with.notes);
    }
}

/// Where one state stands for its images no step is left out, and that is said; where there is no symmetry some are.
#[test]
fn symmetry_and_reduction_are_not_combined() {
    let alike = "byte n; active [3] proctype P() { byte k; do :: k = 1 - k :: d_step { n++; n-- } od }
        ltl small { [] (n < 5) }";
    let apart = "byte n; active [3] proctype P() { byte k; do :: k = (k + _pid) % 3 :: d_step { n++; n-- } od }
        ltl small { [] (n < 5) }";
    for reduce in [Reduce::Auto, Reduce::By(Selector::Ample), Reduce::By(Selector::Stubborn)] {
        for (text, is_symmetric) in [(alike, true), (apart, false)] {
            for symmetry in Way::ALL {
                let asked = Settings { reduce, symmetry, ..Settings::default() };
                let report = run("m", text, &asked);
                let left_out = report.stats().left_out;
                assert_eq!(left_out.sym, if is_symmetric { symmetry.word() } else { "off" }, "{:?}", report.notes);
                for search in ["safety", "small"] {
                    let told = |(name, why): &(String, String)| name == search && why.contains("symmetry");
                    assert_eq!(report.unreduced.iter().any(told), is_symmetric, "{search} {:?}", report.unreduced);
                }
                if is_symmetric {
                    assert_eq!((left_out.por, left_out.proviso), ("off", None), "{reduce:?} {symmetry:?}");
                } else if reduce != Reduce::Auto {
                    assert_ne!(left_out.por, "off", "{reduce:?} {symmetry:?}");
                }
            }
        }
    }
}

/// Unasked it is used where there are enough to change places, and nobody asks for something else; a violation that is
/// counted stands for itself.
#[test]
fn symmetry_is_used_where_it_is_worth_while_and_not_to_count_violations() {
    let text = "byte n; active [3] proctype P() { do :: n < 2 -> n++ :: n == 2 -> assert(false) od }";
    let asked = |text: &str, settings: Settings| {
        let report = run("m", text, &settings);
        (report.stats().left_out.sym, report.notes.len())
    };
    assert_eq!(asked(text, Settings::default()), ("segmented", 1));
    let two = text.replace("[3]", "[2]");
    assert_eq!(asked(&two, Settings::default()), ("off", 0));
    assert_eq!(asked(&two, Settings { symmetry: Way::Segmented, ..Settings::default() }), ("segmented", 1));
    let apart = text.replace("n == 2", "n == 2 && _pid < 5");
    assert_eq!(asked(&apart, Settings::default()), ("off", 0), "nobody asked why not");
    for other in [
        Settings { symmetry: Way::Off, ..Settings::default() },
        Settings { plain: true, ..Settings::default() },
        Settings { reduce: Reduce::By(Selector::Stubborn), ..Settings::default() },
        Settings { proviso: Proviso::Levels, ..Settings::default() },
        Settings { all_errors: Some(0), ..Settings::default() },
    ] {
        assert_eq!(asked(text, other), ("off", 0));
    }
    // A search that follows nobody through the quotient does without it, unless it is wanted.
    let fair = text.replace("assert(false)", "accept: n = 0");
    let par = Settings { search: Search::SccPar, fairness: Fairness::Weak, ..Settings::default() };
    let report = run("m", &fair, &par);
    assert_eq!(words(&report).last(), Some(&("accept".to_string(), "violated")), "{:?}", report.properties);
    let report = run("m", &fair, &Settings { symmetry: Way::Segmented, ..par });
    assert!(words(&report).last().is_some_and(|(_, word)| *word != "violated" && *word != "holds"), "it is refused");
    let count = |symmetry| {
        let asked = Settings { symmetry, all_errors: Some(0), ..Settings::default() };
        let report = run("m", text, &asked);
        (report.property("assert").expect("it was asked").n_violations, report.stats().left_out.sym, report.notes.len())
    };
    let (n, ..) = count(Way::Off);
    assert_eq!(count(Way::Full), (n, "off", 1));
}

/// Verdicts of random symmetric models, with each way and without.
fn compare(seed: u64, tally: &mut [usize; 6]) {
    let text = spinor_gen::symmetric(seed);
    let limit = Some(Duration::from_millis(700));
    let plain = Settings { max_time: limit, ..Settings::default() };
    let fairness = [Fairness::None, Fairness::None, Fairness::Weak, Fairness::Strong][seed as usize % 4];
    let plain = Settings { fairness, plain: seed.is_multiple_of(5), ..plain };
    let without = run("m", &text, &Settings { symmetry: Way::Off, ..plain.clone() });
    if !without.properties.iter().all(|p| matches!(p.verdict, Verdict::Violated { .. } | Verdict::Holds)) {
        return;
    }
    tally[0] += 1;
    let mut stored: Vec<u64> = Vec::new();
    for way in Way::ALL {
        println!("seed {seed} {way:?} {fairness:?}"); // where a panic came from
        let search = if fairness == Fairness::None && seed.is_multiple_of(3) { Search::Ndfs } else { Search::Auto };
        let with = run("m", &text, &Settings { symmetry: way, search, max_time: None, ..plain.clone() });
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

/// Nested search of the quotient beside a lossy store, with no fairness (figure 2) and weak fairness (figure 4): what is
/// violated is, every trace having been replayed; nothing is said to hold.
#[test]
fn random_symmetric_models_beside_lossy_stores() {
    let (mut n_violated, mut n_found) = ([0; 2], [0; 2]);
    for seed in seeds(0..32) {
        let text = spinor_gen::symmetric(seed);
        let asked = Settings { max_time: Some(Duration::from_millis(700)), ..Settings::default() };
        for (fair, fairness) in [Fairness::None, Fairness::Weak].into_iter().enumerate() {
            let without = run("m", &text, &Settings { symmetry: Way::Off, fairness, ..asked.clone() });
            for store in [Store::HashCompact, Store::Bitstate] {
                let way = Way::ALL[seed as usize % Way::ALL.len()];
                let table = Some(if seed.is_multiple_of(2) { 1 << 12 } else { 1 << 20 });
                let with = Settings { symmetry: way, fairness, fair_by: FairBy::Copies, store, table, ..asked.clone() };
                let with = run("m", &text, &with);
                for (p, q) in with.properties.iter().zip(&without.properties) {
                    let case =
                        || format!("seed {seed} {way:?} {fairness:?} {store:?} {}: {:?}\n{text}", p.name, p.verdict);
                    let is_endless = !["assert", "deadlock", "runtime"].contains(&&*p.name);
                    assert!(p.verdict != Verdict::Holds, "{}", case());
                    assert!(!p.verdict.is_violated() || q.verdict != Verdict::Holds, "{}", case());
                    n_violated[fair] += usize::from(is_endless && q.verdict.is_violated());
                    n_found[fair] += usize::from(is_endless && p.verdict.is_violated());
                }
            }
        }
    }
    println!("{n_found:?} found of {n_violated:?}");
    assert!(n_found[0] * 10 > n_violated[0] * 9 && n_found[1] * 10 > n_violated[1], "{n_found:?} of {n_violated:?}");
}

#[test]
fn random_symmetric_models_have_the_same_verdicts() {
    let mut tally = [0; 6];
    seeds(0..120).for_each(|seed| compare(seed, &mut tally));
    println!("{tally:?}: models, with symmetry, violated, states, states with symmetry");
    assert!(tally[1] * 10 > tally[0] * 9, "{tally:?}: most have a symmetry");
}

fn loaded(text: &str) -> Arc<System> {
    let loaded = load("m", text, &Options::default(), &|_| Err(std::io::ErrorKind::NotFound.into()));
    loaded.model.unwrap_or_else(|| panic!("refused: {:?}\n{text}", loaded.diagnostics)).system
}

/// What a permutation does to a state, a model's steps do not notice; and canonical ways are.
#[test]
fn images_of_states_have_images_of_steps() {
    let mut n_images = 0;
    for seed in 0..100 {
        let text = spinor_gen::symmetric(seed);
        let system = loaded(&text);
        let set = scalarset::find(&system, &[]);
        if !set.is_empty() {
            n_images += images(&system, &set, seed, 300).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));
        }
    }
    assert!(n_images > 5_000, "{n_images}");
}

/// A place that is not moved or renamed is noticed, whatever kind of place it is.
#[test]
fn a_forgotten_place_is_noticed() {
    let mut noticed: BTreeMap<&'static str, usize> = BTreeMap::new();
    for seed in 0..120 {
        let system = loaded(&spinor_gen::symmetric(seed));
        let set = scalarset::find(&system, &[]);
        if set.is_empty() {
            continue;
        }
        for n in 0.. {
            let mut less = set.clone();
            let Some(what) = forget(&mut less, n) else { break };
            // In debug builds what is picked is looked at again, and the assertion comes first.
            let told = std::panic::catch_unwind(|| images(&system, &less, seed, 60));
            if !matches!(told, Ok(Ok(_))) {
                *noticed.entry(what).or_default() += 1;
            }
        }
    }
    println!("{noticed:?}");
    for what in ["_last", "an array", "a global", "a local", "a message", "an array of channels"] {
        assert!(noticed.contains_key(what), "{what}: {noticed:?}");
    }
}

/// The n-th place is nobody's any more; what it was.
fn forget(set: &mut Scalarset, n: usize) -> Option<&'static str> {
    let mut left = n;
    let mut is_next = || {
        left = left.wrapping_sub(1);
        left == usize::MAX
    };
    if set.last != Value::Plain && is_next() {
        set.last = Value::Plain;
        return Some("_last");
    }
    for (frame, roles) in std::iter::once(&mut set.globals).chain(&mut set.procs).enumerate() {
        // All elements of an array at once.
        let bases: BTreeSet<u32> = (0..roles.slots.len())
            .map(|s| s as u32 - roles.slots[s].dims.iter().map(|d| d.index * d.stride).sum::<u32>())
            .collect();
        for base in bases {
            let of = |s: usize, r: &Role| s as u32 - r.dims.iter().map(|d| d.index * d.stride).sum::<u32>() == base;
            let first = roles.slots[base as usize].clone();
            let members: Vec<usize> = (0..roles.slots.len()).filter(|s| of(*s, &roles.slots[*s])).collect();
            if matches!(first.value, Value::Pid(_)) && is_next() {
                members.iter().for_each(|s| roles.slots[*s].value = Value::Plain);
                return Some(if frame == 0 { "a global" } else { "a local" });
            }
            if !first.dims.is_empty() && is_next() {
                members.iter().for_each(|s| roles.slots[*s].dims.clear());
                return Some(if first.value == Value::Chan { "an array of channels" } else { "an array" });
            }
        }
        for chan in &mut roles.chans {
            if let Some(field) = chan.fields.iter_mut().find(|v| matches!(v, Value::Pid(_)))
                && is_next()
            {
                *field = Value::Plain;
                return Some("a message");
            }
        }
    }
    None
}

/// What a quotient says of its states beside what is said of each successor by itself.
#[derive(Default, Debug)]
struct Beside {
    n_states: usize,
    n_moved: usize,
    n_left_out: usize,
    n_with_faults: usize,
}

/// The successors of a state that are left out stand for nothing that the others do not stand for.
fn beside(system: &Arc<System>, way: Way, most: usize, tally: &mut Beside) {
    let set = scalarset::find(system, &[]);
    if set.is_empty() {
        return;
    }
    let interp = Arc::new(Interp::new(system.clone()));
    let canon = Arc::new(Canon::new(system, set, way));
    let quotient = Quotient { system: interp.clone(), canon: canon.clone() };
    let Ok(initial) = quotient.initial() else { return };
    let mut key = Vec::new();
    quotient.pack(&initial, &mut key);
    let mut scratch = Scratch::default();
    for state in quotient.learn(&key).sample {
        let mut picked = state.clone();
        canon.pick(&mut picked, &mut scratch);
        assert_eq!(picked, state, "{way:?}: what is learned from is what is stored");
    }
    let mut seen = HashSet::from([key.clone()]);
    let mut todo = VecDeque::from([key]);
    while let Some(key) = todo.pop_front() {
        let (mut all, mut some) = (interp.batch(), quotient.batch());
        let n = interp.expand(&mut interp.unpack(&key), &mut all);
        assert_eq!(quotient.expand(&mut quotient.unpack(&key), &mut some), n);
        let mut expected = BTreeMap::new();
        for outcome in &all.outcomes {
            let Some(raw) = all.key(outcome) else { continue };
            let mut picked = raw.to_vec();
            canon.pick(&mut picked, &mut scratch);
            tally.n_moved += usize::from(picked != raw);
            expected.insert((outcome.step, outcome.path), picked);
        }
        for outcome in &some.outcomes {
            let expected = expected.get(&(outcome.step, outcome.path)).map(Vec::as_slice);
            assert_eq!(some.key(outcome), expected, "{way:?}");
        }
        let keys: HashSet<&[u8]> = some.outcomes.iter().filter_map(|o| some.key(o)).collect();
        for (which, key) in &expected {
            assert!(keys.contains(&key[..]), "{way:?}: {which:?} is no double");
        }
        let faults = |batch: &Batch| {
            let where_to = |n: usize| (batch.outcomes[n].step, batch.outcomes[n].path);
            batch.faults.iter().map(|(n, fault)| (where_to(*n), fault.clone())).collect::<Vec<_>>()
        };
        assert_eq!(faults(&some), faults(&all), "what goes wrong is told");
        tally.n_states += 1;
        tally.n_left_out += all.outcomes.len() - some.outcomes.len();
        tally.n_with_faults += usize::from(!all.faults.is_empty());
        for next in expected.into_values() {
            if seen.len() < most && seen.insert(next.clone()) {
                todo.push_back(next);
            }
        }
    }
}

#[test]
fn only_doubles_are_left_out() {
    for way in Way::ALL {
        let (mut tally, most) = (Beside::default(), if way == Way::Segmented { 400 } else { 60 });
        for seed in 0..100 {
            println!("seed {seed} {way:?}"); // where a panic came from
            beside(&loaded(&spinor_gen::symmetric(seed)), way, most, &mut tally);
        }
        for text in [TOGGLERS, DOUBLES, APART, COMING] {
            println!("{way:?}\n{text}");
            beside(&loaded(text), way, most, &mut tally);
        }
        println!("{way:?} {tally:?}");
        assert!(tally.n_states > 1_000 && tally.n_moved > 1_000 && tally.n_with_faults > 5, "{tally:?}");
        assert_eq!(tally.n_left_out > 1_000, way == Way::Segmented, "{way:?} {tally:?}");
    }
}

/// Alike until they are named: in a register, in the frame of another, in a message, by what an array holds.
const DOUBLES: &str = "byte owner = 255; byte next[4] = 255; bit flag[4]; chan line = [4] of { byte };
    active [4] proctype P() {
        byte peer = 255;
        do
        :: owner == 255 -> owner = _pid
        :: owner == _pid -> owner = 255
        :: owner != 255 && owner != _pid && peer == 255 -> peer = owner
        :: peer != 255 -> next[peer] = _pid; peer = 255
        :: next[_pid] != 255 -> flag[next[_pid]] = 1 - flag[next[_pid]]; next[_pid] = 255
        :: nfull(line) && !flag[_pid] -> line!_pid
        :: line?eval(_pid); assert(len(line) < 3)
        od
    }";

/// Two classes, and one between them who knows some of each.
const APART: &str = "byte met; chan in = [2] of { byte, byte };
    active [3] proctype A() { byte k; do :: k < 2 -> k++ :: k == 2 -> in!_pid, k; k = 0 od }
    active proctype B() { byte who = 255, k; do :: in?who, k -> met = k - met; who = 255 :: in?_, k od }
    active [3] proctype C() { bit up; do :: up = 1 - up :: up -> d_step { met = 0; up = 0 } od }";

/// Others come and go beyond them, and are not all of one size.
const COMING: &str = "byte owner = 255, n; int all;
    active [3] proctype P() {
        do :: owner == 255 -> owner = _pid :: owner == _pid -> owner = 255 :: owner == _pid -> assert(n < 2) od
    }
    active proctype R() { do :: n < 2 -> atomic { n++; if :: run S() :: run T() fi } od }
    proctype S() { byte who = 255; who = owner; (owner != who); atomic { who = 255; n-- } }
    proctype T() { int a = 7, b; byte who = 255; b = a; who = owner; a = b + n; all = a; atomic { who = 255; n-- } }";

fn images(system: &Arc<System>, set: &Scalarset, seed: u64, most: usize) -> Result<usize, String> {
    let interp = Interp::new(system.clone());
    let canons: Vec<Canon> = Way::ALL.iter().map(|way| Canon::new(system, set.clone(), *way)).collect();
    let mut scratch = Scratch::default();
    let Ok(initial) = interp.initial() else { return Ok(0) };
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
        if normal(&key, &mut scratch) != image {
            expected.sort();
            there.sort();
            if expected != there {
                return Err(format!("{p} and {q} of {class:?}: the image of a state has other steps"));
            }
        }
        for canon in &canons {
            let (mut a, mut b) = (key.clone(), image.clone());
            canon.pick(&mut a, &mut scratch);
            let picked = Canon::picked(&scratch).clone();
            if a != canon.image(&key, &picked, &mut scratch) {
                return Err("the permutation does not lead there".to_string());
            }
            let mut again = a.clone();
            canon.pick(&mut again, &mut scratch);
            if a != again {
                return Err(format!("I2: {:?}", canon.way()));
            }
            canon.pick(&mut b, &mut scratch);
            if matches!(canon.way(), Way::Segmented | Way::PcSegmented | Way::Full) && a != b {
                return Err(format!("{:?} is not canonical", canon.way()));
            }
        }
        n += 1;
        for key in next {
            if seen.len() < most && seen.insert(key.clone()) {
                todo.push_back(key);
            }
        }
    }
    Ok(n)
}

/// Peterson's algorithm for n processes; to wait for all others is one test.
fn peterson(n: usize) -> String {
    let others: Vec<String> = (0..n).map(|j| format!("(_pid == {j} || level[{j}] < k)")).collect();
    format!(
        "byte level[{n}]; pid last[{n}] = 255; byte inside;
active [{n}] proctype P() {{
  byte k;
  do :: k = 1;
    do :: k < {n} -> level[_pid] = k; last[k] = _pid; (last[k] != _pid || ({})); k++ :: else -> break od;
    inside++; assert(inside == 1); inside--; level[_pid] = 0
  od
}}",
        others.join(" && ")
    )
}

#[test]
fn petersons_algorithm_has_few_states() {
    for n in [2, 3] {
        let text = peterson(n);
        let asked = Settings { select: Selection::safety(), symmetry: Way::Off, ..Settings::default() };
        let without = run("peterson", &text, &asked);
        let with = run("peterson", &text, &Settings { symmetry: Way::Segmented, ..asked });
        assert_eq!(words(&without), words(&with), "{:?}", with.notes);
        let (all, few) = (without.stats().stored, with.stats().stored);
        println!("{n}: {all} and {few}");
        assert!(few * (n as u64) < all * 2, "{n}: {all} and {few}, {:?}", with.notes);
        // With the steps of doubles there are 481.
        assert!(n != 3 || (few, with.stats().transitions) == (195, 424), "{:?}", with.stats());
    }
}

fn classes(text: &str) -> (Vec<Vec<u8>>, String) {
    let loaded = load("m", text, &Options::default(), &|_| Err(std::io::ErrorKind::NotFound.into()));
    let model = loaded.model.unwrap_or_else(|| panic!("refused: {:?}\n{text}", loaded.diagnostics));
    let looked: Vec<_> = model.formulas.iter().flat_map(|f| f.props.clone()).collect();
    let set = scalarset::find(&model.system, &looked);
    let sources = &model.system.sources;
    let line = |b: &scalarset::Break| match b.span == Default::default() {
        true => b.why.clone(),
        false => format!("{}:{}", sources.line(sources.surface(b.span)), b.why),
    };
    (set.classes, set.breaks.iter().map(line).collect::<Vec<_>>().join("; "))
}

/// Each tells processes apart in one way, on its second line.
const BROKEN: &[(&str, &str)] = &[
    ("byte x;\nactive [2] proctype P() { do :: _pid < 1 -> x = 1 :: else od }", "2:process numbers are ordered"),
    ("byte x;\nactive [2] proctype P() { do :: x = _pid :: x >= 1 od }", "2:process numbers are ordered"),
    ("byte x;\nactive [2] proctype P() { do :: x = _pid * 2 :: x == _pid od }", "arithmetic"),
    ("byte x;\nactive [2] proctype P() { do :: x = (_pid + 1) % 2 :: x == _pid od }", "arithmetic"),
    ("byte x;\nactive [2] proctype P() { do :: x = 1 << _pid od }", "arithmetic"),
    ("byte x;\nactive [2] proctype P() { do :: x = _pid & 1 od }", "arithmetic"),
    ("byte x;\nactive [2] proctype P() { do :: x = 1 - _pid od }", "arithmetic"),
    ("short x;\nactive [2] proctype P() { do :: x = -_pid od }", "arithmetic"),
    ("byte x;\nactive [2] proctype P() { do :: x == _pid -> x++ od }", "2:a process number is used in arithmetic"),
    (
        "byte x;\nactive [2] proctype P() { do :: x == 0 -> x = _pid od }",
        "2:a statement tells process 0 from process 1",
    ),
    ("byte x;\nactive [2] proctype P() { do :: x = _pid :: x = 1 od }", "2:a statement tells process 0 from process 1"),
    ("byte x;\nactive [2] proctype P() { do :: _pid -> x = 1 - x od }", "2:a statement tells process 0 from process 1"),
    ("byte x;\nactive [2] proctype P() { do :: x = (_pid == 1 -> 1 : 2) od }", "tells process 0 from process 1"),
    ("byte x;\nactive [2] proctype P() { do :: assert(_pid != 1) od }", "tells process 0 from process 1"),
    ("byte a[2];\nactive [2] proctype P() { do :: a[_pid] = a[0] od }", "tells process 0 from process 1"),
    ("byte a[2];\nactive [2] proctype P() { do :: a[_pid] = 1 :: a[0] && !a[1] od }", "tells process 0 from process 1"),
    ("chan q = [2] of { pid };\nactive [2] proctype P() { do :: q!!_pid :: q?_ od }", "2:process numbers are sorted"),
    ("chan q = [2] of { pid };\nactive [2] proctype P() { do :: q!_pid :: q?0 od }", "tells process 0 from process 1"),
    ("chan q = [2] of { byte };\nactive [2] proctype P() { do :: q!_pid :: q!1 :: q?_ od }", "tells process 0 from"),
    ("chan q = [2] of { pid };\nactive [2] proctype P() { byte x; do :: q!_pid :: q?x; x = x / 2 od }", "arithmetic"),
    ("chan q = [2] of { bit };\nactive [3] proctype P() { do :: q!_pid :: q?_ od }", "1:`q` is too small"),
    ("chan q[2] = [1] of { bit };\nactive [2] proctype P() { do :: q[_pid]!1 :: q[1]?_ od }", "tells process 0 from"),
    (
        "chan q = [1] of { bit };\nactive [2] proctype P() { byte x; do :: x = _pid :: x = len(q) od }",
        "another kind of value",
    ),
    ("byte x;\nactive [2] proctype P() { do :: _nr_pr == 2 -> x = 1 - x od }", "2:`_nr_pr` counts processes"),
    ("byte x;\nactive [2] proctype P() { x++ }", "2:`P` can end"),
    ("byte x;\nactive [2] proctype P() { do :: x++ :: break od }", "`P` can end"),
    ("bit x;\nactive [3] proctype P() { do :: x = _pid od }", "1:`x` is too small"),
    ("unsigned x : 2 = 0;\nactive [5] proctype P() { do :: x = _pid od }", "1:`x` is too small"),
    ("byte a[2];\nactive [3] proctype P() { do :: a[_pid] = 1 od }", "1:`a` has no element for some processes"),
    ("byte x;\nactive [2] proctype P() { do :: x = _pid :: x = 1000 od }", "2:1000 is no process number"),
    ("byte x;\nactive [2] proctype P() { do :: run Q() :: x++ od }\nproctype Q() { skip }", "2:processes are made"),
    (
        "byte x;\ninit { do :: x < 2 -> run P(); x++ :: else -> break od }\nproctype P() { do :: x++ od }",
        "2:processes are made",
    ),
    (
        "byte g; proctype P() { do :: g = 1 - g od }\ninit { byte x; run P(); x = g; if :: x == 0 -> run P() :: else fi }",
        "2:processes are made while others run",
    ),
    (
        "byte g, i; proctype P() { do :: g = 1 - g od }\ninit { byte a[2]; run P(); a[g] = 1; if :: a[0] -> run P() :: else fi }",
        "2:processes are made while others run",
    ),
    (
        "byte g; proctype P() { do :: g = 1 - g od }\ninit { run P(); run P() }\nactive proctype X() { skip }",
        "2:processes are made while others can end",
    ),
    (
        "byte g; proctype P() { do :: g = 1 - g od } proctype Q() { skip }\ninit { atomic { run P(); run Q() }; run P() }",
        "2:processes are made while others can end",
    ),
    (
        "short s = 258; byte b = 200;\nactive [3] proctype P() { do :: b == 200 -> b = s :: b == _pid -> b = 200 od }",
        "1:258 does not fit `b`",
    ),
    (
        "byte s = 5; unsigned b : 2 = 3;\nactive [3] proctype P() { do :: b == 3 -> b = s :: b == _pid -> b = 3 od }",
        "1:5 does not fit `b`",
    ),
    (
        "chan q = [1] of { byte }; short s = 258;\nactive [3] proctype P() { do :: q!s :: q!_pid :: q?eval(_pid) od }",
        "1:258 does not fit `q`",
    ),
    (
        "short s; byte b = 200; proctype P() { do :: b = s :: b == _pid od }\ninit { s = 258; run P(); run P(); s = 0 }",
        "1:258 does not fit `b`",
    ),
    (
        "short s, t; byte b = 200; proctype P() { do :: b = s :: b == _pid :: t = 7 od }\ninit { s = t; run P(); run P() }",
        "1:`s` may begin with a value that is no process number",
    ),
    (
        "byte b = 200; short t; proctype P(short s) { do :: b = s :: b == _pid :: t++ od }\ninit { run P(0); run P(t) }",
        "1:`s` may begin with a value that is no process number",
    ),
    (
        "byte b = 200;\nactive [2] proctype P() { do :: b = Z[2]:who :: b == _pid od }\nactive proctype Z() { byte who = 200; who = 201 }",
        "2:a statement tells process 0 from process 1",
    ),
    (
        "byte b = 200;\nactive [2] proctype P() { do :: b = Z:who :: b == _pid od }\nactive proctype Z() { byte who = 200; who = 201 }",
        "2:a statement tells process 0 from process 1",
    ),
    ("byte x;\nactive [2] proctype P() provided (_pid == 1) { do :: x = 1 - x od }", "2:a `provided` clause tells"),
    ("byte x;\nactive [2] proctype P() { do :: enabled(0) od }", "tells process 0 from process 1"),
    ("byte x;\nactive [2] proctype P() { do :: pc_value(0) == 1 od }", "tells process 0 from process 1"),
    ("byte x;\nactive [2] proctype P() { do :: _last == 0 -> x = 1 - x od }", "tells process 0 from process 1"),
    ("byte x;\nactive [2] proctype P() { l: do :: P[1]@l od }", "tells process 0 from process 1"),
    (
        "byte x;\nactive [2] proctype P() { byte i; do :: i = 0; do :: i < 2 -> x = i; i++ :: i == _pid -> break od od }",
        "ordered",
    ),
    ("byte x;\nactive [2] proctype P() { do :: set_priority(_pid, 2) od }", "priorities order processes"),
    ("byte x;\nactive [2] proctype P() { l: do :: x = 1 - x od }\nltl f { [] P[0]@l }", "the property tells process 0"),
    ("byte x;\nactive [2] proctype P() { do :: x = _pid od }\nltl f { <> (x == 1) }", "the property tells process 0"),
    ("byte a[2];\nactive [2] proctype P() { do :: a[_pid] = 1 od }\nltl f { <> (a[1] == 1) }", "the property tells"),
    ("byte a[2];\nactive [2] proctype P() { do :: a[_pid] = 1 od }\nltl f { <> (a[0] > a[1]) }", "the property tells"),
    ("typedef T { byte a[2] }; T t;\nactive [2] proctype P() { do :: t.a[_pid] = t.a[1] od }", "tells process 0 from"),
    (
        "byte x;\nactive [2] proctype P() { byte y; y = _pid; do :: y > 0 -> x = 1 - x od }",
        "2:process numbers are ordered",
    ),
    ("byte x;\nactive [2] proctype P() { byte y; y = _pid; do :: x = x ^ y od }", "arithmetic"),
    ("byte x;\nactive [2] proctype P() { do :: x = _pid + _pid od }", "arithmetic"),
    ("byte x;\nactive [2] proctype P() { do :: x = _pid :: x = x + 1 od }", "arithmetic"),
    ("chan q = [2] of { pid };\nactive [2] proctype P() { do :: q!_pid :: q??1 od }", "tells process 0 from process 1"),
    (
        "chan q = [2] of { pid };\nactive [2] proctype P() { bit x; do :: q!_pid :: q?[1] -> x = 1 - x od }",
        "tells process",
    ),
    ("byte x;\nactive [2] proctype P() { do :: x = get_priority(_pid) od }", "priorities order processes"),
    ("byte x;\nactive proctype P() { do :: x = 1 - x od }", "no proctype has two processes"),
];

#[test]
fn what_tells_processes_apart_is_said_with_its_line() {
    assert!(BROKEN.len() > 50);
    let mut wrong = String::new();
    for (text, why) in BROKEN {
        let (classes, breaks) = classes(text);
        if !classes.is_empty() || !breaks.contains(why) {
            wrong += &format!("{text}\n  expected {why}\n  found {classes:?} {breaks}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// What is declared is checked: a model that tells its processes apart is refused, with the reasons; if a property does, that
/// is no fault of the model.
#[test]
fn what_is_declared_to_be_symmetric_must_be() {
    let declared = |text: &str| {
        let no_file = |_: &std::path::Path| Err(std::io::ErrorKind::NotFound.into());
        load("m", text, &Options::default(), &no_file)
    };
    let mut n_refused = 0;
    for (text, why) in BROKEN {
        let name = text.split_once("proctype ").map_or("", |(_, rest)| rest.split('(').next().unwrap_or_default());
        let loaded = declared(&format!("/* @symmetric {name} */ {text}"));
        let codes: Vec<&str> = loaded.diagnostics.iter().filter(|d| d.is_error()).map(|d| d.code).collect();
        let told = format!("{:?}", loaded.diagnostics);
        let Some(model) = loaded.model else {
            let why = why.split_once(':').map_or(*why, |(_, why)| why);
            assert_eq!(codes, ["P0346"], "{text}");
            assert!(told.contains(why) || why.contains("no proctype has two"), "{text}\n{told}");
            n_refused += 1;
            continue;
        };
        assert_eq!(scalarset::find(&model.system, &[]).classes.len(), 1, "{text}");
        assert!(text.contains("ltl ") || text.contains("never "), "{text}");
    }
    assert!(n_refused > 40, "{n_refused}");
    // Two are enough if somebody says so; a group that is passed over says nothing.
    let two = "byte x; active [2] proctype P() { do :: x = 1 - x od }";
    let sym = |text: &str| run("m", text, &Settings::default()).stats().left_out.sym;
    assert_eq!(sym(two), "off");
    for comment in
        ["/* @symmetric P */", "/*@symmetric\n  P,\n*/", "// @symmetric P\n", "#if 1\n/* @symmetric P */\n#endif\n"]
    {
        assert_eq!(sym(&format!("{comment}{two}")), "segmented", "{comment}");
        assert_eq!(sym(&format!("{two}\n{comment}")), "segmented", "{comment}");
    }
    for comment in
        ["#if 0\n/* @symmetric P */\n#endif\n", "/* symmetric P */", "/* see @symmetric P */", "/* @author P */"]
    {
        assert_eq!(sym(&format!("{comment}{two}")), "off", "{comment}");
    }
    let unknown = declared(&format!("/* @symmetric P, R */{two}"));
    assert_eq!(unknown.diagnostics.iter().map(|d| d.code).collect::<Vec<_>>(), ["P0103"]);
}

#[test]
fn who_can_change_places() {
    let all: &[(&str, &[&[u8]])] = &[
        ("byte x; active [3] proctype P() { do :: x = 1 - x od }", &[&[0, 1, 2]]),
        (
            "byte x = 200; active [3] proctype P() { do :: x == 200 -> x = _pid :: x == _pid -> x = 200 od }",
            &[&[0, 1, 2]],
        ),
        ("byte x; active [3] proctype P() { do :: x = _pid :: x == 0 od }", &[&[1, 2]]),
        (
            "byte x; active [2] proctype P() { do :: x++ od } active [2] proctype Q() { do :: x-- od }",
            &[&[0, 1], &[2, 3]],
        ),
        ("byte a[3]; active [3] proctype P() { do :: a[_pid] = 1 :: a[0] + a[1] + a[2] == 3 od }", &[&[0, 1, 2]]),
        (
            "byte a[3]; active [3] proctype P() { do :: (a[0] || _pid == 0) && (a[1] || _pid == 1) && (a[2] || _pid == 2) -> a[_pid] = 1 od }",
            &[&[0, 1, 2]],
        ),
        (
            "byte a[3]; proctype P() { do :: a[_pid - 1] = 1 od } init { atomic { run P(); run P(); run P() } }",
            &[&[1, 2, 3]],
        ),
        (
            "byte a[3]; proctype P(byte id) { do :: a[id] = 1 :: a[id] -> a[id] = 0 od } init { run P(0); run P(1); run P(2) }",
            &[&[1, 2, 3]],
        ),
        (
            "chan q[2] = [1] of { pid }; active [2] proctype P() { pid x; do :: q[_pid]!_pid :: q[_pid]?x; q[x]!_pid od }",
            &[&[0, 1]],
        ),
        ("byte x; active [3] proctype P() { l: do :: x = 1 - x od } ltl f { [] P[1]@l }", &[&[0, 2]]),
        (
            "byte x; active [3] proctype P() { do :: x = 1 - x; l: skip od } ltl f { <> (P[0]@l && P[1]@l && P[2]@l) }",
            &[&[0, 1, 2]],
        ),
        (
            "byte a[4]; proctype P() { do :: a[_pid] = 1 od } proctype Q() { skip } init { atomic { run P(); run Q(); run P() } }",
            &[&[1, 3]],
        ),
        (
            "byte a[4]; proctype P() { do :: a[_pid] = 1 od } proctype Q() { skip } init { run P(); run P(); run Q() }",
            &[&[1, 2]],
        ),
        (
            "byte g, b = 200; proctype P(byte s) { do :: b = s :: b == _pid :: g++ od } init { run P(g); run P(g) }",
            &[&[1, 2]],
        ),
        (
            "byte b = 200; active proctype Z() { byte who = 200; who = 201 } active [2] proctype P() { do :: b = Z[0]:who :: b == _pid od }",
            &[&[1, 2]],
        ),
        (
            "byte b = 200; active [2] proctype P() { do :: b = Z[2]:who :: b == _pid od } active proctype Z() { byte who = 200; do :: who = 201 od }",
            &[&[0, 1]],
        ),
        ("byte x; active [2] proctype P() { pid y; do :: y = _last; x = (y == _pid -> 1 : 0) od }", &[&[0, 1]]),
    ];
    for (text, expected) in all {
        let (classes, breaks) = classes(text);
        assert_eq!(classes, *expected, "{breaks}\n{text}");
    }
}

/// Told apart by the property, or by fairness alone.
#[test]
fn symmetric_processes_that_a_property_tells_apart() {
    let toggle = "byte on; active [2] proctype toggler() { do :: on++; accept: on-- od }";
    let mutex = "bool busy; active [3] proctype user() { do :: atomic { !busy -> busy = true }; cs: busy = false od }
        ltl quiet { !([]<> busy) } ltl one { []<> user[0]@cs } ltl any { []<> (user[0]@cs || user[1]@cs || user[2]@cs) }";
    let expected = [
        (toggle, Fairness::Weak, vec![("accept", "violated")]),
        (mutex, Fairness::None, vec![("quiet", "violated"), ("one", "violated"), ("any", "holds")]),
        (mutex, Fairness::Weak, vec![("quiet", "violated"), ("one", "violated"), ("any", "holds")]),
        (mutex, Fairness::Strong, vec![("quiet", "violated"), ("one", "holds"), ("any", "holds")]),
    ];
    for (text, fairness, verdicts) in expected {
        for way in Way::ALL.into_iter().chain([Way::Off]) {
            for plain in [false, true] {
                let report = run("m", text, &Settings { symmetry: way, fairness, plain, ..Settings::default() });
                for (name, verdict) in &verdicts {
                    let found = report.property(name).expect("it was asked").verdict.word();
                    assert_eq!(found, *verdict, "{name} {way:?} {fairness:?} plain {plain}");
                }
            }
        }
    }
    // Figure 4 finds what is there or says that it does not know.
    let asked = Settings { symmetry: Way::Sorted, fairness: Fairness::Weak, ..Settings::default() };
    let asked = Settings { search: Search::Ndfs, fair_by: FairBy::Copies, ..asked };
    let report = run("m", mutex, &asked);
    for (name, verdicts) in [("one", ["violated", "inconclusive"]), ("any", ["inconclusive"; 2])] {
        let found = &report.property(name).expect("it was asked").verdict;
        assert!(verdicts.contains(&found.word()), "{name}: {found:?}");
    }
}

/// Where there is no symmetry, none is used; where there is one, it makes no difference to the verdicts.
#[test]
fn the_corpus_has_its_verdicts_with_symmetry() {
    let (mut n, mut used) = (0, 0);
    for path in spinor_gen::corpus::models(&["pml"]) {
        let text = std::fs::read_to_string(&path).expect("text");
        if text.contains("#include") {
            continue;
        }
        let name = path.display().to_string();
        for fairness in [Fairness::None, Fairness::Weak] {
            let (symmetry, max_time) = (Way::Off, Some(Duration::from_millis(500)));
            let without = Settings { fairness, symmetry, max_time, ..Settings::default() };
            let with = run(&name, &text, &Settings { symmetry: Way::Segmented, ..without.clone() });
            n += 1;
            used += usize::from(with.stats().left_out.sym != "off");
            let without = run(&name, &text, &without);
            for (p, q) in without.properties.iter().zip(&with.properties) {
                let sure = [p, q].iter().all(|p| p.verdict.word() != "inconclusive");
                let same = p.verdict.word() == q.verdict.word();
                assert!(!sure || same, "{name} {fairness:?} {} {:?}", p.name, with.notes);
            }
        }
    }
    println!("{n} runs, {used} with a symmetry");
    assert!(used > 4, "{used} of {n}");
}
