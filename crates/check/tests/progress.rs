//! Cycles without progress in small random systems: all searches, with all steps and with those that each reduction selects,
//! against the oracle on the whole graph: whether there is a cycle, and after how little progress.
//!
//! `SPINOR_SEEDS=0..200000` for more.

use spinor_check::cycles::{Fairness, Request};
use spinor_check::observer::Silent;
use spinor_check::progress::loops;
use spinor_check::progress::meaning::{Meaning, Of, Progress};
use spinor_check::progress::oracle::Graph;
use spinor_check::progress::system::Grounds;
use spinor_check::progress::{Ground, Searched, fifo, levels, nested, restarts};
use spinor_check::reduce::commute::Commute;
use spinor_check::reduce::still::HowMany;
use spinor_check::reduce::without::Condition;
use spinor_check::reduce::{Proviso, Reduced, Reduction, Selector, refusal};
use spinor_gen::question::seeds;
use spinor_lang::{Options, load};
use spinor_model::index::Idx;
use spinor_model::interp::Interp;
use spinor_model::ir::{ProctypeId, System};
use spinor_store::{Arena, Budget};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

struct Rng(u64);

impl Rng {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }

    fn of<'s>(&mut self, all: &[&'s str]) -> &'s str {
        all[self.below(all.len() as u64) as usize]
    }
}

/// What two processes do has mostly nothing to do with each other: otherwise nothing could be left out.
fn statement(rng: &mut Rng, n_labels: &mut u32) -> String {
    let own = ["skip", "x = 1 - x", "x == 0", "x == 1", "x = 1"];
    let shared = ["g = 1 - g", "g == 0", "g == 1", "h = 1", "h == 0", "c!1", "c?_", "c?0", "nempty(c)", "len(d) == 0"];
    let meet = ["r!1", "r?_", "r?0", "d!x", "d?x"];
    let odd = ["timeout", "_nr_pr < 5 -> run Child()", "atomic { g == 0; g = 1 }", "atomic { r!1; g = 0 }"];
    match rng.below(20) {
        0..=10 => rng.of(&own).to_string(),
        11..=13 => rng.of(&shared).to_string(),
        14..=15 => rng.of(&meet).to_string(),
        16 => rng.of(&odd).to_string(),
        kind => {
            let (a, b) = (rng.of(&own), if rng.below(3) == 0 { rng.of(&shared) } else { rng.of(&own) });
            *n_labels += 1;
            let label = if rng.below(2) == 0 { format!("progressIn{n_labels}: ") } else { String::new() };
            let block = if kind == 17 && !b.contains(['=', '!', '?', '(']) { "d_step" } else { "atomic" };
            format!("{block} {{ {a}; {label}{b} }}")
        }
    }
}

fn process(rng: &mut Rng, n: u64, out: &mut String) {
    let n_locs = 1 + rng.below(4);
    let rare = 2 + rng.below(3);
    let mut n_labels = 0;
    let _ = writeln!(out, "active proctype P{n}() {{ bit x;");
    for loc in 0..n_locs {
        let _ = write!(out, "L{loc}: ");
        if rng.below(rare) == 0 {
            let _ = write!(out, "progress{loc}: ");
        }
        let _ = write!(out, "if");
        for _ in 0..1 + rng.below(2) {
            let statement = statement(rng, &mut n_labels);
            // Now and then it ends.
            let to = rng.below(n_locs * 8 + 1);
            let to = if to == n_locs * 8 { "End".to_string() } else { format!("L{}", to % n_locs) };
            let _ = write!(out, " :: {statement} -> goto {to}");
        }
        let _ = writeln!(out, " fi;");
    }
    let _ = writeln!(out, "End: skip }}");
}

fn text(seed: u64) -> String {
    let mut rng = Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mut out =
        "bit g; bit h; chan c = [1] of { bit }; chan d = [2] of { bit }; chan r = [0] of { bit };\n".to_string();
    let _ = writeln!(out, "proctype Child() {{ {}skip }}", if rng.below(2) == 0 { "progress: " } else { "" });
    let n = 2 + rng.below(2);
    (0..n).for_each(|n| process(&mut rng, n, &mut out));
    out
}

fn request(jobs: usize) -> Request {
    Request { jobs, ..Request::new(Fairness::None) }
}

fn arena() -> Arena {
    Arena::new(&Budget::unlimited()).expect("unlimited")
}

/// All searches say what the oracle says about the whole graph; `left_out`: not all of its steps are offered.
fn agree<G: Ground>(ground: &G, level: Option<u64>, whole: &Graph, jobs: &[usize], left_out: bool, told: &str) {
    let exact = |searched: &Searched, name: &str| {
        assert_eq!(searched.found.as_ref().map(|f| f.level), level, "{told}: {name}");
        searched.found.iter().for_each(|found| whole.judge(found));
    };
    exact(&fifo::search(ground, &arena(), &request(1), &mut Silent), "fifo");
    for jobs in jobs {
        let alone = if *jobs > 1 { 0 } else { levels::ALONE };
        exact(&levels::search_from(ground, &arena(), &request(*jobs), alone, &mut Silent), "levels");
    }
    let restarts = restarts::search(ground, &arena(), &request(1), &mut Silent);
    assert_eq!(restarts.found.is_some(), level.is_some(), "{told}: restarts");
    restarts.found.iter().for_each(|found| whole.judge(found));
    if !left_out {
        let nested = nested::search(ground, &arena(), &request(1), &mut Silent);
        assert_eq!(nested.found.is_some(), level.is_some(), "{told}: nested");
    }
}

/// Larger ones take too long, and show no more.
const MOST: usize = 600;

#[derive(Default, Debug)]
struct Told {
    systems: u64,
    cycles: u64,
    after_progress: u64,
    /// Every loop passes a label.
    read_off: u64,
    /// Of those that have no cycle, by meaning and rule: all states, and those of the reduced graph.
    states: [(u64, u64); 3],
}

fn ask(system: &Arc<System>, progress: Progress, jobs: &[usize], name: &str, told: &mut Told) {
    let meaning = Meaning::new(system, progress, None);
    let relabelled = meaning.relabelled(system);
    let still = meaning.still(&relabelled);
    let interp = Arc::new(Interp::looking(relabelled.clone(), std::slice::from_ref(&still)));
    let whole = Graph::new(&Grounds::new(&*interp, &interp, &meaning));
    if whole.len() > MOST {
        return;
    }
    let level = whole.level();
    told.systems += 1;
    told.cycles += u64::from(level.is_some());
    told.after_progress += u64::from(level > Some(0));
    let read_off = loops::all_pass(system, &meaning);
    assert!(!read_off || level.is_none(), "{name}: {progress:?}, every loop passes a label");
    told.read_off += u64::from(read_off);
    let ground = Grounds::new(&*interp, &interp, &meaning);
    agree(&ground, level, &whole, jobs, false, name);
    let all = fifo::search(&ground, &arena(), &request(1), &mut Silent);
    let asleep = ground.sleeping(meaning.commute(&relabelled));
    let awake = fifo::search(&asleep, &arena(), &request(1), &mut Silent);
    assert_eq!(awake.found.as_ref().map(|f| f.level), level, "{name}: asleep");
    awake.found.iter().for_each(|found| whole.judge(found));
    let counted = |s: &Searched| (s.counters.stored, s.counters.transitions);
    assert_eq!(counted(&all), counted(&awake), "{name}: asleep");
    if refusal(&relabelled).is_some() {
        return;
    }
    let rules = if progress == Progress::Steps { &HowMany::ALL[..] } else { &[HowMany::One] };
    for still in rules {
        for selector in [Selector::Ample, Selector::Stubborn, Selector::Leap] {
            // States that make progress would be passed by.
            if selector.leaps() && progress == Progress::States {
                continue;
            }
            let reduction = Reduction::for_progress(relabelled.clone(), selector, meaning.spared(&relabelled, *still));
            let reduced = Reduced::new(interp.clone(), Arc::new(reduction), Proviso::None);
            let ground = Grounds::new(&reduced, &interp, &meaning);
            let part = Graph::new(&ground);
            let name = format!("{name}, {progress:?} {selector:?}, {still:?}");
            assert_eq!(part.level(), level, "{name}: the graph");
            agree(&ground, level, if selector.leaps() { &part } else { &whole }, jobs, true, &name);
            if level.is_none() && selector == Selector::Stubborn {
                let (before, after) =
                    &mut told.states[usize::from(progress == Progress::Steps) + usize::from(*still == HowMany::All)];
                *before += whole.len() as u64;
                *after += part.len() as u64;
            }
        }
    }
}

#[test]
fn reduced_or_not_the_searches_agree_with_the_oracle_on_random_systems() {
    let mut told = Told::default();
    for seed in seeds(0..1500) {
        let text = text(seed);
        let loaded = load("m.pml", &text, &Options::default(), &|p: &Path| std::fs::read(p));
        let model = loaded.model.unwrap_or_else(|| panic!("seed {seed}: {:?}\n{text}", loaded.diagnostics));
        // Threads cost more than such a system.
        let jobs: &[usize] = if seed % 20 == 0 { &[1, 2] } else { &[1] };
        for progress in [Progress::States, Progress::Steps] {
            ask(&model.system, progress, jobs, &format!("seed {seed}\n{text}"), &mut told);
        }
    }
    println!("{told:?}");
    let Told { systems, cycles, after_progress, read_off, states } = told;
    assert!(cycles > systems / 10 && cycles < systems * 9 / 10 && after_progress > systems / 100);
    assert!(read_off > systems / 100);
    assert!(states.iter().all(|(all, few)| few < all), "nothing is left out: {states:?}");
}

/// What `loops` takes for a loop without progress, because it may be one: in each of these models it is one.
#[test]
fn labels_that_nobody_sees_are_none_that_a_loop_passes() {
    // The text, whose progress counts, and whether every loop passes a label by states and by steps.
    let models = [
        ("active proctype P() { do :: skip; progress: skip od }", None, [true, true]),
        // Nobody sees the state in the middle of an `atomic`.
        ("bit x; active proctype P() { do :: atomic { x = 1; progress: x = 0 } od }", None, [false, true]),
        // Each hands the floor to the other, who moves it on: nobody sees them at their labels.
        (
            "chan c = [0] of { bit }; chan d = [0] of { bit }; chan e = [0] of { bit };\n\
             active proctype P() { do :: c!1; progress: atomic { d?1; e!1 } od }\n\
             active proctype Q() { do :: atomic { c?1; d!1 }; progress: atomic { e?1; skip } od }",
            None,
            [false, true],
        ),
        // The other one goes round past a label that does not count.
        ("active [2] proctype P() { do :: skip; progress: skip od }", Some((0, Some(0))), [false, false]),
        ("active [2] proctype P() { do :: skip; progress: skip od }", Some((0, None)), [true, true]),
        (
            "active proctype P() { do :: skip; progress: skip od } active proctype Q() { do :: skip od }",
            None,
            [false, false],
        ),
        // A process that is made over and over has no loop, but who makes it has one.
        ("proctype Q() { skip } active proctype P() { do :: _nr_pr < 3 -> run Q() od }", None, [false, false]),
        ("active proctype P() { if :: skip :: progress: skip fi }", None, [true, true]),
    ];
    for (text, of, expected) in models {
        let loaded = load("m.pml", text, &Options::default(), &|p: &Path| std::fs::read(p));
        let system = loaded.model.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics)).system;
        for (progress, expected) in [Progress::States, Progress::Steps].into_iter().zip(expected) {
            let of = of.map(|(t, pid)| Of { proctype: ProctypeId::new(t), pid });
            let meaning = Meaning::new(&system, progress, of);
            let relabelled = meaning.relabelled(&system);
            let still = meaning.still(&relabelled);
            let interp = Interp::looking(relabelled, std::slice::from_ref(&still));
            let level = Graph::new(&Grounds::new(&interp, &interp, &meaning)).level();
            assert_eq!(loops::all_pass(&system, &meaning), expected, "{progress:?}: {text}");
            assert_eq!(level.is_none(), expected, "{progress:?}: {text}");
        }
    }
}

fn figure(name: &str) -> (Arc<System>, Meaning) {
    let path = spinor_gen::corpus::folder().join("progress").join(name);
    let text = std::fs::read_to_string(path).expect("a model");
    let loaded = load(name, &text, &Options::default(), &|p: &Path| std::fs::read(p));
    let system = loaded.model.expect("a model").system;
    let meaning = Meaning::new(&system, Progress::States, None);
    (system, meaning)
}

/// [FaragoSchmitt] figures 2 and 3: depth-first search alone misses a cycle; with ever more progress it is found too late.
#[test]
fn depth_first_search_misses_and_restarts_overshoot() {
    for (name, misses, overshoots) in [("fig2.pml", true, false), ("fig3.pml", false, true)] {
        let (system, meaning) = figure(name);
        let still = meaning.still(&system);
        let interp = Interp::looking(system, std::slice::from_ref(&still));
        let ground = Grounds::new(&interp, &interp, &meaning);
        let level = Graph::new(&ground).level();
        assert!(level.is_some(), "{name}");
        let once = restarts::once(&ground, &arena(), &request(1), &mut Silent);
        assert_eq!(once.found.is_none(), misses, "{name}");
        let (restarts, limit) = restarts::search_as(&ground, &arena(), fifo::Form::Repaired, &request(1), &mut Silent);
        assert!(restarts.found.is_some(), "{name}");
        assert_eq!(Some(limit) > level, overshoots, "{name}: {limit} {level:?}");
    }
}

/// If the order of two steps matters, neither is asleep after the other: B has to move before A in the second way, though
/// the state after A is known from the first one. In debug builds it is noticed where a step sleeps that leads to something
/// new; in others the cycle is missed.
#[test]
fn steps_that_disturb_each_other_do_not_sleep() {
    let text = "byte x, y, z, done;\nactive proctype B() { d_step { z == 1; y = x; done = 1 } }\n\
                active proctype A() {\n\
                  if :: d_step { x = 1; z = 1 } :: z = 1; x = 1 fi; done == 1; y == 0; do :: skip od }";
    let loaded = load("m.pml", text, &Options::default(), &|p: &Path| std::fs::read(p));
    let system = loaded.model.expect("a model").system;
    let meaning = Meaning::new(&system, Progress::States, None);
    let relabelled = meaning.relabelled(&system);
    let still = meaning.still(&relabelled);
    let interp = Interp::looking(relabelled.clone(), std::slice::from_ref(&still));
    let finds = |commute: Option<Commute>| {
        let ground = Grounds::new(&interp, &interp, &meaning).sleeping(commute);
        fifo::search(&ground, &arena(), &request(1), &mut Silent).found.is_some()
    };
    let commute = || meaning.commute(&relabelled);
    assert!(finds(None) && finds(commute()));
    let wrong = || finds(commute().map(|c| c.without(Condition::D2)));
    let noticed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(wrong));
    assert!(!matches!(noticed, Ok(true)), "D2 is not needed");
}

/// Where two moves lead to one state that is new, it is not known yet for either of them: both statements of P0 lead to the
/// state before its loop.
#[test]
fn what_is_met_twice_at_once_is_not_known() {
    let text = "bit h;\nactive proctype P0() { bit x; if :: h == 0 :: x == 0 fi; L: if :: x == 0 -> goto L fi }\n\
                active proctype P1() { progress: h = 1 }";
    let loaded = load("m.pml", text, &Options::default(), &|p: &Path| std::fs::read(p));
    let mut told = Told::default();
    ask(&loaded.model.expect("a model").system, Progress::States, &[1], "met twice", &mut told);
    assert_eq!((told.cycles, told.after_progress), (1, 0));
}

/// A step that leads to a label does not sleep: of the state after it no more may be known than that it lies in the queue.
#[test]
#[cfg(debug_assertions)]
fn steps_to_a_label_do_not_sleep() {
    let noticed = std::panic::catch_unwind(|| (0..1500).for_each(|seed| sleeping(seed, Some(Condition::Enters))));
    assert!(noticed.is_err(), "Enters is not needed");
    (0..1500).for_each(|seed| sleeping(seed, None));
}

#[cfg(debug_assertions)]
fn sleeping(seed: u64, without: Option<Condition>) {
    let loaded = load("m.pml", &text(seed), &Options::default(), &|p: &Path| std::fs::read(p));
    let system = loaded.model.expect("a model").system;
    let meaning = Meaning::new(&system, Progress::States, None);
    let still = meaning.still(&system);
    let interp = Interp::looking(system.clone(), std::slice::from_ref(&still));
    let commute = meaning.commute(&system).map(|c| match without {
        Some(condition) => c.without(condition),
        None => c,
    });
    fifo::search(&Grounds::new(&interp, &interp, &meaning).sleeping(commute), &arena(), &request(1), &mut Silent);
}
