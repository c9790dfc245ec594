//! From a claim to an answer: the system that is searched, the search, and the run that it found.
//!
//! # The argument
//!   The system is optimised for those who look from outside: the claim's expressions, and its count of steps unless it
//!   is closed under stuttering. With fairness there is one thing more to see: if local statements were merged into the
//!   step before them, the states in which a receiver is still busy would be gone, and who sends to it would seem able to
//!   move all the time. So with fairness and channels without slots, nothing is merged.
//!   Where a claim sees steps none are merged.
//!   What was found is shortened, and replayed as the model was written (`trace`); a formula is evaluated on the states
//!   that the replay passes, without its automaton, and must be false there.

use super::by_process::ByProcess;
use super::fair::{self, By, Fair};
use super::ndfs::{self, Nesting, Target};
use super::product::Product;
use super::{Fairness, Lasso, Moves, Request, Runs, Searched, cndfs, lasso, learn, lossy, scc, shorten, union};
use crate::claim::Claim;
use crate::executors::Executors;
use crate::observer::Observer;
use crate::plan;
use crate::reduce::{AbleBy, Proviso, Reduced, Reduction, Repairs, Selector};
use crate::report::LeftOut;
use crate::search::Stopped;
use crate::settings::{FairBy, Search, Store};
use crate::stores::{self, Kept, Use, WithBits};
use crate::symmetry::canon::Canon;
use crate::symmetry::figure4::{self, Fragment};
use crate::symmetry::quotient::QuotientRuns;
use crate::symmetry::{self, Way, unfold};
use crate::trace::{self, Endless, Trace};
use spinor_ltl::{Formula, PropId, Valuation, eval_lasso};
use spinor_model::interp::Interp;
use spinor_model::ir::{Expr, System};
use spinor_model::optimise::{Optimisations, Watched, optimised};
use spinor_model::successors::{Step, Successors};
use spinor_store::{Arena, Hint, Hints, Visited};
use std::cell::LazyCell;
use std::slice::from_ref;
use std::sync::Arc;

/// How runs that never end are searched, whatever is asked about them.
#[derive(Clone, Debug)]
pub struct How {
    pub search: Search,
    pub store: Store,
    /// Bytes of a bitstate table.
    pub table: u64,
    pub fair_by: FairBy,
    pub optimise: Optimisations,
    pub shorten: bool,
    pub reduce: Option<Selector>,
    /// A reduction was asked for by name: it is not estimated whether it pays.
    pub forced: bool,
    pub audit: bool,
    pub proviso: Proviso,
    pub repairs: Repairs,
    pub request: Request,
}

impl How {
    /// The search beside the store that is asked for.
    pub(crate) fn search<F, U: Use<Out = Searched<F>>>(&self, hints: Hints, user: U) -> (Searched<F>, Kept) {
        let budget = &self.request.budget;
        let searched = stores::open(self.store, self.table, budget, hints, user);
        searched.unwrap_or_else(|full| (Searched::none(full, budget), (0, None)))
    }

    /// What is shown of a run: fewer moves if that is wanted, as who is quick finds them, after the judge went along them.
    pub(crate) fn shown<Q: Runs, R: Runs>(&self, quick: &Q, judge: &R, lasso: Lasso, stored: u64) -> Lasso {
        let fairness = self.request.fairness;
        let lasso = if self.shorten { shorten::shorten(quick, &lasso, fairness, stored) } else { lasso };
        self.replayed(judge, &lasso);
        lasso
    }

    /// Panics unless the run is accepted, and fair.
    fn replayed<R: Runs>(&self, judge: &R, lasso: &Lasso) {
        let judged = lasso::replay(judge, lasso, self.request.fairness);
        judged.unwrap_or_else(|e| panic!("what was found is no violation: {e}"));
    }

    /// Statements are not merged: see the argument.
    pub(crate) fn hides_waiting(&self, system: &System) -> bool {
        self.request.fairness != Fairness::None && system.has_rendezvous()
    }

    /// Fairness lies in the keys, behind those of what is searched.
    pub(crate) fn unfolds(&self) -> bool {
        !plan::knows_components(self.search) && self.request.fairness != Fairness::None
    }

    /// Who is waited for has a say in what is left out.
    fn waits(&self) -> bool {
        self.repairs.able.waits(self.request.fairness)
    }
}

/// A claim to be answered.
#[derive(Clone)]
pub struct Asked<'a> {
    /// As the model was written.
    pub interp: &'a Interp,
    pub claim: &'a Claim,
    /// What [`Asked::symmetry`] found: if something, nothing is reduced.
    pub symmetry: symmetry::Found,
    pub how: How,
}

/// What came of it.
pub struct Answered {
    pub searched: Searched<Trace>,
    pub kept: Kept,
    /// Some runs are ended by a fault, and were not judged.
    pub faulty: bool,
    pub left_out: LeftOut,
    /// What else there is to tell: how much of that was tried out, what was kept beside states.
    pub note: Option<String>,
}

impl Asked<'_> {
    /// Who can change places in what is searched, if nothing is reduced.
    pub fn symmetry(&self, way: Way) -> symmetry::Found {
        match way {
            Way::Off => symmetry::Found::default(),
            way => symmetry::find(&self.optimised(), &self.claim.looked, way),
        }
    }

    pub fn answer<E: Executors>(&self, executors: &E, observer: &mut dyn Observer) -> Answered {
        if self.how.reduce.is_none() {
            return self.answer_in(&[], executors, observer);
        }
        let mut claim = self.claim.clone();
        let phases = claim.tell_phases();
        Asked { claim: &claim, ..self.clone() }.answer_in(&phases, executors, observer)
    }

    fn answer_in<E: Executors>(&self, phases: &[Vec<u32>], executors: &E, observer: &mut dyn Observer) -> Answered {
        let system = self.optimised();
        let replayed = Interp::looking(system.clone(), &self.claim.looked);
        let exec = Arc::new(executors.executor(system.clone(), &self.claim.looked));
        if let Some(canon) = self.symmetry.canon.as_deref() {
            assert!(self.how.reduce.is_none(), "the plan refuses it");
            return self.by_quotient(exec, canon, &replayed, observer);
        }
        let fairness = self.how.request.fairness;
        let fair = fairness != Fairness::None;
        let How { repairs, proviso, .. } = self.how;
        // Who selects by the path, or by who is waited for, has one graph from the beginning to the end.
        let n_phases = if proviso.is_path() || self.how.waits() { phases.len().min(1) } else { phases.len() };
        let phases = &phases[..n_phases];
        // The papers' ways keep less in order than parts need; operations are asked about all at once.
        let in_parts = fair && proviso == Proviso::Loops && repairs == Repairs::default() && !self.claim.sees_steps;
        let reduce = |by| {
            let reduction = Reduction::new(system, by, &self.claim.looked, fair).repaired(repairs);
            let reduction = if in_parts { reduction.in_parts(&self.claim.parts) } else { reduction.phased(phases) };
            reduction.audited_if(self.how.audit)
        };
        let reduction = self.how.reduce.map(|by| Arc::new(reduce(by)));
        let reduced = reduction.map(|r| Reduced::new(exec.clone(), r, proviso));
        let reduced = reduced.filter(|r| r.worth(self.how.forced).is_some());
        // What is shown are steps of the interpreter, of which a leap is several.
        let few = reduced.as_ref().map(|r| r.of(Arc::new(replayed.clone())));
        let left_out = reduced.as_ref().map_or_else(LeftOut::default, LeftOut::steps);
        let (searched, kept, faulty) = match reduced {
            None => self.whole().find(exec.clone(), observer),
            Some(reduced) => self.find(Arc::new(reduced), observer),
        };
        let note = few.as_ref().and_then(|r| r.reduction().audit_note());
        let stored = searched.counters.stored;
        let searched = searched.map(|lasso| {
            let judge = Product::new(&replayed, self.claim, fairness);
            // What is chosen on the fly is told in the numbers of all moves.
            let by_state = !proviso.is_path() && !self.how.waits();
            let lasso = match few.filter(|_| by_state) {
                None => lasso,
                Some(reduced) => {
                    let leaps = reduced.reduction().selector().leaps();
                    let few = Product::new(&reduced, self.claim, fairness);
                    if leaps {
                        self.how.replayed(&few, &lasso);
                        return trace::build_endless(self.interp, &replayed, &endless(&few, &lasso));
                    }
                    renumbered(&lasso, &few, &judge)
                }
            };
            self.told(&*exec, &replayed, lasso, stored)
        });
        Answered { searched, kept, faulty, left_out, note }
    }

    /// The same with nothing left out.
    fn whole(&self) -> Self {
        let how = How { proviso: Proviso::default(), repairs: Repairs::default(), ..self.how.clone() };
        Asked { how, ..self.clone() }
    }

    /// The run as statements.
    fn told<S: Successors>(&self, exec: &S, replayed: &Interp, lasso: Lasso, stored: u64) -> Trace {
        let fairness = self.how.request.fairness;
        let judge = Product::new(replayed, self.claim, fairness);
        let lasso = self.how.shown(&Product::new(exec, self.claim, fairness), &judge, lasso, stored);
        trace::build_endless(self.interp, replayed, &endless(&judge, &lasso))
    }

    fn find<S: Successors + Send + 'static>(
        &self,
        exec: Arc<S>,
        observer: &mut dyn Observer,
    ) -> (Searched, Kept, bool) {
        let owned = self.owned();
        let product = Product::new(&*exec, self.claim, owned);
        let (searched, kept) = self.search(&product, self.hints(exec.clone(), owned), observer);
        (searched, kept, product.is_faulty())
    }

    /// Whose a move is matters also where moves are ordered by it.
    fn owned(&self) -> Fairness {
        if self.how.search == Search::NdfsProcess { Fairness::Weak } else { self.how.request.fairness }
    }

    pub(crate) fn search<R: Runs>(&self, runs: &R, hints: Hints, observer: &mut dyn Observer) -> (Searched, Kept) {
        self.how.search(hints, Searching { asked: self, runs, observer })
    }

    /// One state stands for its images.
    fn by_quotient<S: Successors + Send + 'static>(
        &self,
        exec: Arc<S>,
        canon: &Canon,
        replayed: &Interp,
        observer: &mut dyn Observer,
    ) -> Answered {
        let (owned, fairness) = (self.owned(), self.how.request.fairness);
        let quotient = QuotientRuns { product: Product::new(&*exec, self.claim, owned), canon, fairness };
        if plan::is_nested(self.how.search) && fairness == Fairness::Weak {
            return self.by_figure4(&quotient, replayed, observer);
        }
        let (searched, kept) = self.search(&quotient, self.hints(exec.clone(), owned), observer);
        let stored = searched.counters.stored;
        let searched = searched.map(|lasso| {
            let judge = Product::new(replayed, self.claim, fairness);
            self.told(&*exec, replayed, unfold::lasso(&judge, canon, &lasso), stored)
        });
        let left_out = LeftOut::states(canon.way());
        Answered { searched, kept, faulty: quotient.product.is_faulty(), left_out, note: None }
    }

    /// Nested search with fairness in a quotient: what it finds is there.
    fn by_figure4<S: Successors>(
        &self,
        quotient: &QuotientRuns<'_, S>,
        replayed: &Interp,
        observer: &mut dyn Observer,
    ) -> Answered {
        let How { store, table, request, .. } = &self.how;
        let budget = &request.budget;
        let n = self.interp.system().most_processes() as u16;
        let found = if store.is_lossy() {
            stores::open_lossy(*store, *table, budget, InLossy { quotient, n, request, observer })
        } else {
            Arena::new(budget).map(|store| {
                let mut beside = figure4::Beside::new(&store, n, budget);
                let out = figure4::search(quotient, n, &mut beside, request, observer);
                let (bits, states, bytes) = (beside.n_bits(), out.counters.stored, beside.bytes());
                let note =
                    format!("{bits} bits are kept beside each of {states} states, which are kept whole: {bytes} bytes");
                ((out, Some(note)), (store.bytes() + bytes, None))
            })
        };
        let ((mut searched, note), kept) =
            found.unwrap_or_else(|full| ((Searched::none(full, budget), None), (0, None)));
        if searched.found.is_none() {
            searched.stopped = searched.stopped.or(Some(Stopped::OneWay));
        }
        let stored = searched.counters.stored;
        let searched = searched.map(|fragment| {
            let judge = Product::new(replayed, self.claim, request.fairness);
            self.told(quotient.product.system(), replayed, unfold::glue(&judge, quotient.canon, &fragment), stored)
        });
        let left_out = LeftOut::states(quotient.canon.way());
        Answered { searched, kept, faulty: quotient.product.is_faulty(), left_out, note }
    }

    fn optimised(&self) -> Arc<System> {
        let system = self.interp.shared_system();
        // Two steps that are one would be two operations at one position.
        let steps_count = !self.claim.stutter_invariant || self.claim.sees_steps;
        let counts_steps = steps_count || self.how.hides_waiting(system);
        let params = self.how.reduce.is_some();
        let watched = Watched { exprs: &self.claim.looked, counts_steps, params, ..Watched::default() };
        optimised(system, self.how.optimise, &watched)
    }

    /// How the store is to lay out keys, learned from the product. Flags and copies lie behind its keys; what is learned
    /// then would not fit them.
    fn hints<S: Successors + Send + 'static>(&self, exec: Arc<S>, owned: Fairness) -> Hints {
        if self.how.unfolds() {
            return Box::new(|_| Hint::default());
        }
        let claim = self.claim.clone();
        Box::new(move |key| learn(&Product::new(&*exec, &claim, owned), key))
    }

    fn nested<R: Runs, V: WithBits>(
        &self,
        runs: &R,
        store: &V,
        target: Target,
        observer: &mut dyn Observer,
    ) -> Searched {
        let How { request, proviso, .. } = &self.how;
        let way = Nesting { proviso: *proviso, ..Nesting::to(target) };
        let nested = match self.fair(runs) {
            None if V::EXACT => ndfs::search_with(runs, store, way, request, observer),
            Some(fair) if V::EXACT => fair::search_with(&fair, store, way, request, observer),
            _ if proviso.is_path() => unreachable!("the plan refuses it"),
            None => lossy::search(runs, store, target, request, observer),
            Some(fair) => lossy::search_fair(&fair, store, target, request, observer),
        };
        nested.expect(ONE_MARK).searched
    }

    /// With fairness, the runs that have it in their states.
    fn fair<'r, R: Runs>(&self, runs: &'r R) -> Option<Fair<'r, R>> {
        let by = || match self.how.fair_by {
            FairBy::Copies => By::Copies,
            FairBy::Flags => By::Flags,
            FairBy::Auto | FairBy::Scc => unreachable!("the plan refuses it"),
        };
        let eager = self.how.repairs.able == AbleBy::Defaults;
        let fair = || Fair::new(runs, self.interp.system().most_processes(), by()).telling(self.how.waits(), eager);
        (self.how.request.fairness != Fairness::None).then(fair)
    }
}

const ONE_MARK: &str = "nested search is given claims with one mark, at states";

struct Searching<'a, R> {
    asked: &'a Asked<'a>,
    runs: &'a R,
    observer: &'a mut dyn Observer,
}

impl<R: Runs> Use for Searching<'_, R> {
    type Out = Searched;
    fn with<V: WithBits>(self, store: &V) -> Searched {
        let Searching { asked, runs, observer } = self;
        let request = &asked.how.request;
        match asked.how.search {
            Search::Ndfs => asked.nested(runs, store, Target::Path, observer),
            Search::NdfsSeed => asked.nested(runs, store, Target::Seed, observer),
            Search::NdfsProcess => {
                let ordered = ByProcess(runs);
                let mut searched = asked.nested(&ordered, store, Target::Seed, observer);
                searched.found = searched.found.map(|lasso| ordered.project(&lasso));
                searched
            }
            _ if !V::EXACT => unreachable!("the plan refuses it"),
            Search::Scc => scc::search(runs, store, request, observer),
            Search::SccPar => union::search(runs, store, request, observer),
            Search::Cndfs => {
                let nested = match asked.fair(runs) {
                    None => cndfs::search(runs, store, request, observer),
                    Some(fair) => cndfs::search_fair(&fair, store, request, observer),
                };
                nested.expect(ONE_MARK).searched
            }
            _ => unreachable!("no search for cycles"),
        }
    }
}

/// Figure 4 beside a lossy store, with what there is to say about it.
struct InLossy<'a, 'q, S: Successors> {
    quotient: &'a QuotientRuns<'q, S>,
    n: u16,
    request: &'a Request,
    observer: &'a mut dyn Observer,
}

impl<S: Successors> Use for InLossy<'_, '_, S> {
    type Out = (Searched<Fragment>, Option<String>);
    fn with<V: WithBits>(self, store: &V) -> Self::Out {
        let InLossy { quotient, n, request, observer } = self;
        let out = figure4::search(quotient, n, &mut lossy::Marked::new(store), request, observer);
        let note = format!("{} copies of states are marked, for one of two searches each", store.len());
        (out, Some(note))
    }
}

/// The same run, in the numbers of a product that has more moves. It ends where one of those that were left out ends the
/// matter: that is all such a state has to say.
fn renumbered<S: Successors, T: Successors>(lasso: &Lasso, few: &Product<'_, S>, all: &Product<'_, T>) -> Lasso {
    let (mut few_moves, mut few_desk) = (Moves::default(), few.desk());
    let (mut all_moves, mut all_desk) = (Moves::default(), all.desk());
    few.initial(&mut few_desk, &mut few_moves);
    let mut key = few_moves.key(lasso.initial).to_vec();
    let mut stem = Vec::with_capacity(lasso.stem.len() + lasso.cycle.len());
    for nth in lasso.stem.iter().chain(&lasso.cycle) {
        few_moves.clear();
        few.moves(&mut few_desk, &key, &mut few_moves);
        all_moves.clear();
        all.moves(&mut all_desk, &key, &mut all_moves);
        if let Some(ends) = all_moves.ends {
            stem.push(ends);
            return Lasso { initial: lasso.initial, stem, cycle: Vec::new() };
        }
        stem.push(few_moves.number_in(*nth, &all_moves));
        key = few_moves.key(*nth as usize).to_vec();
    }
    let cycle = stem.split_off(lasso.stem.len());
    Lasso { initial: lasso.initial, stem, cycle }
}

/// The steps of a run of the product. Where a move is a leap, all its steps, one after the other: the automaton reads more
/// states that way, and cannot tell.
fn endless<S: Successors>(product: &Product<'_, S>, lasso: &Lasso) -> Endless {
    walked(product, lasso, product.n_steps(lasso), |key, nth| product.steps(key, nth))
}

/// The steps of a run that is known by its moves, each of one or several; of the stem, up to so many moves.
pub(crate) fn walked<R: Runs, I: IntoIterator<Item = (Step, u32)>>(
    runs: &R,
    lasso: &Lasso,
    n_stem: usize,
    steps: impl Fn(&[u8], u32) -> I,
) -> Endless {
    let (mut moves, mut desk) = (Moves::default(), runs.desk());
    runs.initial(&mut desk, &mut moves);
    let mut key = moves.key(lasso.initial).to_vec();
    let mut walk = |numbers: &[u32]| {
        let mut all = Vec::new();
        for nth in numbers {
            all.extend(steps(&key, *nth));
            moves.clear();
            runs.moves(&mut desk, &key, &mut moves);
            key = moves.key(*nth as usize).to_vec();
        }
        all
    };
    let stem = walk(&lasso.stem[..n_stem]);
    let cycle = (!lasso.cycle.is_empty()).then(|| walk(&lasso.cycle));
    Endless { stem, cycle }
}

/// Panics if a trace does not break the formula.
pub fn judge(interp: &Interp, formula: &Formula, props: &[Expr], trace: &Trace) {
    let (stem, cycle) = valuations(interp, props, trace);
    let last = stem.last().or(cycle.last()).cloned();
    // If it is broken for good, it is so however the run goes on.
    let cycle = if cycle.is_empty() { last.into_iter().collect() } else { cycle };
    assert!(!eval_lasso(formula, &stem, &cycle).holds(), "T6: the run does not break {formula}");
}

/// What is true in the states that were looked at, left as they are left, before the cycle and in it.
pub fn valuations(interp: &Interp, props: &[Expr], trace: &Trace) -> (Vec<Valuation>, Vec<Valuation>) {
    let judge = Interp::looking(interp.shared_system().clone(), props);
    // A proposition that makes no difference to the formula is not looked at by the search, and may have no value. Then
    // each is asked by itself, and what is taken for one that has none makes no difference either.
    let each = LazyCell::new(|| {
        let alone = |p| Interp::looking(interp.shared_system().clone(), from_ref(p));
        props.iter().map(alone).collect::<Vec<Interp>>()
    });
    let mut all: Vec<Valuation> = Vec::new();
    for (nth, n) in trace.looks.iter().enumerate() {
        let state = trace.before(*n).expect("a state of the trace");
        // The step by which it is left; after the last one comes none, or the one at which the cycle begins.
        let end = trace.looks.get(nth + 1).unwrap_or(n);
        let statements: Vec<Step> = trace.steps[*n..*end].iter().map(|s| s.step).collect();
        let mut bits = Vec::new();
        if judge.happens_by(state, &statements, &mut bits).is_err() {
            bits = vec![0; props.len().div_ceil(64)];
            for (n, one) in each.iter().enumerate() {
                let mut bit = Vec::new();
                if one.happens_by(state, &statements, &mut bit).is_ok() {
                    bits[n / 64] |= bit[0] << (n % 64);
                }
            }
        }
        let holds = |n: &usize| bits[n / 64] >> (n % 64) & 1 == 1;
        all.push(Valuation::new((0..props.len()).filter(holds).map(|n| PropId(n as u32))));
    }
    let Some(start) = trace.cycle_start else { return (all, Vec::new()) };
    let from = trace.looks.iter().position(|n| *n == start).expect("the cycle begins where somebody looks");
    if start < trace.steps.len() {
        all.pop(); // where the cycle begins, once more
    }
    let cycle = all.split_off(from);
    (all, cycle)
}
