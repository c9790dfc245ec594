//! What searches for cycles cost, by threads:
//! `cargo run --release -p spinor-check --example cycle_speed model.pml 'formula' [NAME=VALUE ...]`
//!
//! A search of several threads never waits but in passing, so on a machine with a processor for each, the time it takes is its
//! processor time by the number of threads: "overhead" is the processor time beside that of one thread.

use spinor_check::claim::{Claim, Marking};
use spinor_check::clock::Clock;
use spinor_check::cycles::ndfs::{self, Target};
use spinor_check::cycles::product::Product;
use spinor_check::cycles::{Fairness, Request, Searched, cndfs, scc, union};
use spinor_check::observer::Silent;
use spinor_lang::{Options, load};
use spinor_model::interp::Interp;
use spinor_store::{Budget, Compact, Hint};

fn store(request: &Request) -> Compact {
    Compact::new(&request.budget, Box::new(|_| Hint::default())).expect("room")
}

fn say(what: &str, jobs: usize, fairness: Fairness, alone: &mut Option<f64>, go: impl Fn(&Request) -> Searched) {
    let request = Request { jobs, budget: Budget::unlimited(), ..Request::new(fairness) };
    let clock = Clock::start();
    let s = go(&request);
    let (cpu, wall) = (clock.cpu_seconds(), clock.wall_seconds());
    let overhead = cpu / *alone.get_or_insert(cpu);
    let (states, moves) = (s.counters.stored, s.counters.transitions);
    let found = if s.found.is_some() { "found" } else { "nothing" };
    let bytes = s.bytes as f64 / states as f64;
    println!(
        "{what:<7} {jobs} threads  {states:>9} states  {moves:>10} moves  {cpu:>6.2} s of processor time  {wall:>6.2} s  \
         overhead {overhead:>4.2}  {bytes:>5.1} bytes a state  {found}"
    );
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [file, formula, defines @ ..] = &args[..] else { panic!("a model and a formula") };
    let text = std::fs::read_to_string(file).expect("a model");
    let defines: String = defines.iter().map(|d| format!("#define {}\n", d.replace('=', " "))).collect();
    let text = format!("{defines}{text}\nltl p {{ {formula} }}\n");
    let loaded = load(file, &text, &Options::default(), &|_| Err(std::io::ErrorKind::NotFound.into()));
    let model = loaded.model.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
    let stated = model.formulas.last().expect("a formula");
    for fairness in [Fairness::None, Fairness::Weak] {
        println!("{fairness:?}");
        let claim = Claim::against(&stated.formula, &stated.props, Marking::Generalised).expect("a small automaton");
        let system = Interp::looking(model.system.clone(), &claim.looked);
        let product = Product::new(&system, &claim, fairness);
        let mut alone = None;
        say("scc", 1, fairness, &mut None, |r| scc::search(&product, &store(r), r, &mut Silent));
        for jobs in [1, 2, 4] {
            say("union", jobs, fairness, &mut alone, |r| union::search(&product, &store(r), r, &mut Silent));
        }
    }
    let claim = Claim::against(&stated.formula, &stated.props, Marking::States).expect("a small automaton");
    let system = Interp::looking(model.system.clone(), &claim.looked);
    let product = Product::new(&system, &claim, Fairness::None);
    let mut alone = None;
    say("ndfs", 1, Fairness::None, &mut None, |r| {
        ndfs::search(&product, &store(r), Target::Path, r, &mut Silent).expect("marks at states").searched
    });
    for jobs in [1, 2, 4] {
        say("cndfs", jobs, Fairness::None, &mut alone, |r| {
            cndfs::search(&product, &store(r), r, &mut Silent).expect("marks at states").searched
        });
    }
}
