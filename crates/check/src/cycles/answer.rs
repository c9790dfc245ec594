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

use super::how::How;
use super::product::Product;
use super::{Fairness, Lasso, Moves, Request, Runs, Searched, learn, lossy};
use crate::claim::Claim;
use crate::executors::Executors;
use crate::observer::Observer;
use crate::plan;
use crate::reduce::{Proviso, Reduced, Reduction, Repairs, Selector};
use crate::report::LeftOut;
use crate::search::Stopped;
use crate::stores::{self, Kept, User, WithBits};
use crate::symmetry::canon::Canon;
use crate::symmetry::figure4::{self, Fragment};
use crate::symmetry::quotient::QuotientRuns;
use crate::symmetry::{self, Way, unfold};
use crate::trace::{self, EndlessRun, Trace};
use spinor_ltl::{Formula, PropId, Valuation, eval_lasso};
use spinor_model::interp::Interp;
use spinor_model::ir::{Expr, System};
use spinor_model::optimise::{Watched, optimised};
use spinor_model::successors::{Step, Successors};
use spinor_store::{Arena, Hint, Hints, Visited};
use std::cell::LazyCell;
use std::slice::from_ref;
use std::sync::Arc;

/// A claim to be answered.
#[derive(Clone)]
pub struct Asked<'a> {
    /// As the model was written.
    pub interp: &'a Interp,
    pub claim: &'a Claim,
    pub how: How,
    /// Who can change places in what is searched: if somebody can, nothing is reduced.
    pub symmetry: symmetry::Symmetry,
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

impl<'a> Asked<'a> {
    /// With the symmetry that there is, of those that are looked for.
    pub fn new(interp: &'a Interp, claim: &'a Claim, how: How, way: Way) -> Asked<'a> {
        let mut asked = Asked { interp, claim, how, symmetry: symmetry::Symmetry::default() };
        if way.is_on() {
            asked.symmetry = symmetry::find(&asked.optimised(), &claim.looked, way);
        }
        asked
    }

    /// With nothing left out but what is selected in this way.
    pub fn reducing(mut self, reduce: Option<Selector>) -> Asked<'a> {
        assert!(reduce.is_none() || self.symmetry.canon.is_none(), "the plan refuses it");
        self.how.reduce = reduce;
        self
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
        assert!(self.how.reduce.is_some() || phases.is_empty(), "phases are told to who leaves something out");
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
        Asked { how: self.how.by_state(), ..self.clone() }
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
        let owned = self.how.owned();
        let product = Product::new(&*exec, self.claim, owned);
        let (searched, kept) = self.how.find(&product, self.hints(exec.clone(), owned), observer);
        (searched, kept, product.is_faulty())
    }

    /// One state stands for its images.
    fn by_quotient<S: Successors + Send + 'static>(
        &self,
        exec: Arc<S>,
        canon: &Canon,
        replayed: &Interp,
        observer: &mut dyn Observer,
    ) -> Answered {
        let (owned, fairness) = (self.how.owned(), self.how.request.fairness);
        let quotient = QuotientRuns { product: Product::new(&*exec, self.claim, owned), canon, fairness };
        if plan::is_nested(self.how.search) && fairness == Fairness::Weak {
            return self.by_figure4(&quotient, replayed, observer);
        }
        let (searched, kept) = self.how.find(&quotient, self.hints(exec.clone(), owned), observer);
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
        let n = self.how.most_processes as u16;
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
}

/// Figure 4 beside a lossy store, with what there is to say about it.
struct InLossy<'a, 'q, S: Successors> {
    quotient: &'a QuotientRuns<'q, S>,
    n: u16,
    request: &'a Request,
    observer: &'a mut dyn Observer,
}

impl<S: Successors> User for InLossy<'_, '_, S> {
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
    debug_assert_eq!(stem.len(), lasso.stem.len() + lasso.cycle.len(), "a number for each move");
    let cycle = stem.split_off(lasso.stem.len());
    Lasso { initial: lasso.initial, stem, cycle }
}

/// The steps of a run of the product. Where a move is a leap, all its steps, one after the other: the automaton reads more
/// states that way, and cannot tell.
fn endless<S: Successors>(product: &Product<'_, S>, lasso: &Lasso) -> EndlessRun {
    walked(product, lasso, product.n_steps(lasso), |key, nth| product.steps(key, nth))
}

/// The steps of a run that is known by its moves, each of one or several; of the stem, up to so many moves.
pub(crate) fn walked<R: Runs, I: IntoIterator<Item = (Step, u32)>>(
    runs: &R,
    lasso: &Lasso,
    n_stem: usize,
    steps: impl Fn(&[u8], u32) -> I,
) -> EndlessRun {
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
    assert!(lasso.cycle.is_empty() || n_stem == lasso.stem.len(), "a cycle begins behind the whole stem");
    let stem = walk(&lasso.stem[..n_stem]);
    let cycle = (!lasso.cycle.is_empty()).then(|| walk(&lasso.cycle));
    EndlessRun { stem, cycle }
}

/// Panics if a trace does not break the formula.
pub fn judge(interp: &Interp, formula: &Formula, props: &[Expr], trace: &Trace) {
    let (stem, cycle) = valuations(interp, props, trace);
    assert_eq!(cycle.is_empty(), trace.cycle_start.is_none(), "what repeats is looked at");
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
    assert!(
        trace.looks.is_sorted() && trace.looks.last().is_none_or(|n| *n <= trace.steps.len()),
        "it looks as it goes"
    );
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
