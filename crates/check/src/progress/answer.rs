//! From the question whether there is always progress to an answer: what is searched, how, and the run that was found.
//!
//! # The argument
//!   The system is relabelled for what is asked (`meaning`) and optimised for those who look at its progress labels. What makes
//!   progress is decided on that system, statement by statement, so the optimisation cannot hide it.
//!   With fairness the question goes to the searches of `cycles`: a component of the part without progress has a fair run or
//!   has none, and a search that knows single cycles only cannot say. They get the question as a claim about states,
//!   or, if steps make progress, as `modes`.
//!   The other searches may leave out steps, by rules of their own (`reduce/still.rs`): what they go through then has the same
//!   cycles without progress as far as they are asked for, and nothing else is answered from it.
//!   What was found is replayed as the model was written (`trace`).

use super::meaning::{Meaning, Of, Progress, passed};
use super::modes::Modes;
use super::system::Grounds;
use super::{At, Found, Ground, Searched, fifo, levels, nested, restarts};
use crate::claim::Claim;
use crate::cycles;
use crate::cycles::answer::{Answered, walked};
use crate::cycles::how::How;
use crate::executors::Executors;
use crate::observer::Observer;
use crate::plan;
use crate::reduce::still::HowMany;
use crate::reduce::{Proviso, Reduced, Reduction};
use crate::report::LeftOut;
use crate::search::order;
use crate::settings::Search;
use crate::stores::{Kept, User, WithBits};
use crate::symmetry::Way;
use crate::trace::{self, EndlessRun, Trace};
use spinor_model::index::Idx;
use spinor_model::interp::Interp;
use spinor_model::ir::{Expr, Loc, Pid, ProctypeId, System};
use spinor_model::optimise::{Watched, optimised};
use spinor_model::successors::Successors;
use std::collections::BTreeSet;
use std::slice::from_ref;
use std::sync::Arc;

/// The question, and how it is to be answered.
#[derive(Clone, Debug)]
pub struct Asked<'a> {
    /// As the model was written.
    pub interp: &'a Interp,
    pub progress: Progress,
    pub of: Option<Of>,
    pub still: HowMany,
    /// Steps are left out by rules of their own: the proviso and the repairs in it are of claims.
    pub how: How,
}

impl Asked<'_> {
    /// The question is asked as a claim about states, and answered as such claims are.
    pub fn by_claim(search: Search, progress: Progress) -> bool {
        !plan::seeks_progress(search) && progress == Progress::States
    }

    pub fn answer<E: Executors>(&self, executors: &E, observer: &mut dyn Observer) -> Answered {
        let How { search, .. } = self.how;
        let original = self.interp.shared_system();
        let meaning = Meaning::new(original, self.progress, self.of);
        let relabelled = meaning.relabelled(original);
        let still = meaning.still(&relabelled);
        if Self::by_claim(search, self.progress) {
            return self.as_claim(&relabelled, still, executors, observer);
        }
        let system = self.optimised(&relabelled, &still);
        let meaning = meaning.on(&system);
        let interp = Interp::looking(system.clone(), from_ref(&still));
        let exec = Arc::new(executors.executor(system.clone(), from_ref(&still)));
        if !plan::seeks_progress(search) {
            return self.by_modes(&meaning, &interp, exec, observer);
        }
        let reduction = self.how.reduce.map(|by| {
            let still = meaning.spared(&system, self.still);
            Arc::new(Reduction::for_progress(system, by, still).audited_if(self.how.audit))
        });
        let reduced = reduction.as_ref().map(|r| Reduced::new(exec.clone(), r.clone(), Proviso::None));
        let reduced = reduced.filter(|r| r.worth(self.how.forced).is_some());
        let left_out = reduced.as_ref().map_or_else(LeftOut::default, LeftOut::steps);
        // What is shown are steps of the interpreter, of which a leap is several.
        let judge = reduced.as_ref().map(|r| r.of(Arc::new(interp.clone())));
        let (searched, kept, faulty) = match reduced {
            None => self.find(exec, &interp, &meaning, true, observer),
            Some(reduced) => self.find(Arc::new(reduced), &interp, &meaning, false, observer),
        };
        let searched = searched.map(|found| {
            let endless = match &judge {
                None => endless(&Grounds::new(&interp, &interp, &meaning), &found),
                Some(reduced) => endless(&Grounds::new(reduced, &interp, &meaning), &found),
            };
            trace::build_endless(self.interp, &interp, &endless)
        });
        let note = judge.and_then(|reduced| reduced.reduction().audit_note());
        Answered { searched, kept, faulty, left_out, note }
    }

    fn find<S: Successors + Send + 'static>(
        &self,
        exec: Arc<S>,
        interp: &Interp,
        meaning: &Meaning,
        whole: bool,
        observer: &mut dyn Observer,
    ) -> (Searched, Kept, bool) {
        let ground = Grounds::new(&*exec, interp, meaning);
        let sleeps = whole && self.how.search == Search::Fifo;
        let ground = ground.sleeping(sleeps.then(|| meaning.commute(interp.shared_system())).flatten());
        let walked = exec.clone();
        let hints = Box::new(move |key: &[u8]| order::learn(&*walked, key));
        let (searched, kept) = self.how.search(hints, Searching { how: &self.how, ground: &ground, observer });
        (searched, kept, ground.is_faulty())
    }

    fn optimised(&self, system: &Arc<System>, still: &Expr) -> Arc<System> {
        let (counts_steps, params) = (self.how.hides_waiting(system), self.how.reduce.is_some());
        let watched = Watched { exprs: from_ref(still), progress: true, counts_steps, params };
        optimised(system, self.how.optimise, &watched)
    }

    /// As a claim about the states of the relabelled system.
    fn as_claim<E: Executors>(
        &self,
        relabelled: &Arc<System>,
        still: Expr,
        executors: &E,
        observer: &mut dyn Observer,
    ) -> Answered {
        let mut claim = Claim::without_progress(plan::marking(self.how.search));
        claim.looked = vec![still];
        let interp = Interp::new(relabelled.clone());
        cycles::answer::Asked::new(&interp, &claim, self.how.by_state(), Way::Off).answer(executors, observer)
    }

    /// By the searches of `cycles`, with steps that make progress.
    fn by_modes<S: Successors + Send + 'static>(
        &self,
        meaning: &Meaning,
        interp: &Interp,
        exec: Arc<S>,
        observer: &mut dyn Observer,
    ) -> Answered {
        let modes = Modes::new(&*exec, interp, meaning);
        let unfolded = self.how.unfolds();
        let hints = {
            let (exec, interp, meaning) = (exec.clone(), interp.clone(), meaning.clone());
            let learn = move |key: &[u8]| cycles::learn(&Modes::new(&*exec, &interp, &meaning), key);
            Box::new(move |key: &[u8]| if unfolded { Default::default() } else { learn(key) })
        };
        let (searched, kept) = self.how.by_state().find(&modes, hints, observer);
        let faulty = modes.is_faulty();
        let stored = searched.counters.stored;
        let searched = searched.map(|lasso| {
            let judge = Modes::new(interp, interp, meaning);
            let lasso = self.how.shown(&modes, &judge, lasso, stored);
            let endless = walked(&judge, &lasso, lasso.stem.len(), |key, nth| [judge.step(key, nth)]);
            trace::build_endless(self.interp, interp, &endless)
        });
        Answered { searched, kept, faulty, left_out: LeftOut::default(), note: None }
    }
}

struct Searching<'a, G> {
    how: &'a How,
    ground: &'a G,
    observer: &'a mut dyn Observer,
}

impl<G: Ground> User for Searching<'_, G> {
    type Out = Searched;
    fn with<V: WithBits>(self, store: &V) -> Searched {
        let Searching { how: How { search, request, .. }, ground, observer } = self;
        match search {
            Search::Fifo => fifo::search(ground, store, request, observer),
            _ if !V::EXACT => unreachable!("the plan refuses it"),
            Search::Restarts => restarts::search(ground, store, request, observer),
            Search::NdfsNp => nested::search(ground, store, request, observer),
            Search::FifoLevels => levels::search(ground, store, request, observer),
            _ => unreachable!("no search for progress"),
        }
    }
}

/// The steps of a run that is known by its states.
fn endless<S: Successors>(judge: &Grounds<'_, S>, found: &Found) -> EndlessRun {
    let mut desk = judge.desk();
    let progress = found.cycle.iter().any(|at| judge.bring(&mut desk, &at.key));
    assert!(!progress, "what was found is no violation: a progress state is in the cycle");
    let all: Vec<&At> = found.stem.iter().chain(&found.cycle).collect();
    let steps = |from: &At, to: &[u8], made: bool| {
        let mut best = None;
        judge.each(&from.key, &mut |step, path, makes, key| {
            if best.is_none() && key == to && makes == made {
                best = Some((step, path));
            }
        });
        let (step, path) = best.expect("a move leads from each state of a run to the next");
        judge.exec.steps_of(&from.key, step, path)
    };
    let stem = all[..=found.stem.len()].windows(2).flat_map(|pair| steps(pair[0], &pair[1].key, pair[1].made));
    let last = &found.cycle[found.cycle.len() - 1];
    let cycle = found.cycle.windows(2).flat_map(|pair| steps(&pair[0], &pair[1].key, false));
    let cycle = cycle.chain(steps(last, &found.cycle[0].key, false)).collect();
    let by_steps = judge.by_steps();
    let makes = |n: &usize| if by_steps { all[*n].made } else { judge.bring(&mut desk, &all[*n].key) };
    let level = (1..=found.stem.len()).filter(makes).count() as u64;
    assert_eq!(level, found.level, "what was found has the progress that it is said to have");
    EndlessRun { stem: stem.collect(), cycle: Some(cycle) }
}

/// What there is to say about progress in a run that makes none from some point on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Account {
    pub progress: Progress,
    /// Progress states passed, or steps that make progress, before the cycle.
    pub before: usize,
    /// Labels that no process passes in the cycle.
    pub outside: Vec<(ProctypeId, Loc)>,
    /// Labels that are passed there and do not count: somebody else's.
    pub inside: Vec<(ProctypeId, Loc)>,
}

impl Account {
    pub fn of(interp: &Interp, progress: Progress, of: Option<Of>, trace: &Trace) -> Account {
        let system = interp.system();
        let meaning = Meaning::new(system, progress, of);
        let start = trace.cycle_start.unwrap_or(trace.steps.len());
        // The labels that each state or step shows, in order, with the place on the trace.
        type Labels = BTreeSet<(Pid, ProctypeId, Loc)>;
        let mut shown: Vec<(usize, Labels)> = Vec::new();
        let labelled = |t: ProctypeId, loc: Loc| system.proctypes[t].locs[loc].progress;
        if progress == Progress::States {
            for n in &trace.looks {
                let state = trace.before(*n).expect("a state of the trace");
                let at = (0..state.n_procs() as Pid).map(|p| (p, state.proctype(p), state.loc(p)));
                shown.push((*n, at.filter(|(_, t, loc)| labelled(*t, *loc)).collect()));
            }
        } else {
            for pair in trace.looks.windows(2) {
                let mut at = BTreeSet::new();
                for n in pair[0]..pair[1] {
                    let before = trace.before(n).expect("a state of the trace");
                    let passed = passed(interp, before, trace.steps[n].step);
                    at.extend(passed.filter(|(_, t, loc)| labelled(*t, *loc)));
                }
                shown.push((pair[0], at));
            }
        }
        let counts = |at: &BTreeSet<(Pid, ProctypeId, Loc)>| at.iter().any(|(p, t, loc)| meaning.counts(*p, *t, *loc));
        let before = shown.iter().filter(|(n, at)| *n < start && counts(at)).count();
        let is_cycle = trace.cycle_start.is_some();
        assert!(
            !is_cycle || !shown.iter().any(|(n, at)| *n >= start && counts(at)),
            "a cycle without progress has none"
        );
        let passed: BTreeSet<(ProctypeId, Loc)> =
            shown.iter().filter(|(n, _)| *n >= start).flat_map(|(_, at)| at).map(|(_, t, loc)| (*t, *loc)).collect();
        let all = system.proctypes.enumerated().flat_map(|(t, p)| (0..p.locs.len()).map(move |l| (t, Loc::new(l))));
        let (inside, outside) = all.filter(|(t, l)| labelled(*t, *l)).partition(|at| passed.contains(at));
        Account { progress, before, outside, inside }
    }
}
