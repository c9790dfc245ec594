//! From what finite runs can show to the runs that show it: what is searched, the search, and the traces.
//!
//! # The argument
//!   The system is optimised for those who look at its states. Of what is left, one state stands for its images, or some steps
//!   are left out, or neither. What was found there is found again in the system itself, and replayed as the model
//!   was written (`trace`).
//!   What is shown has the fewest statements that bounded effort finds. Breadth-first, with all steps, the first of a
//!   kind has the fewest moves; otherwise those are searched for breadth-first, no deeper than the trace is long. A move may be
//!   several statements, so then there is a search for fewer of these (`fewest`).

use super::fewest::{self, Fewest};
use super::{Found, Request, Searched, Stopped, bfs, dfs, order};
use crate::clock::Clock;
use crate::executors::Executors;
use crate::observer::{Control, Observer, Progress};
use crate::plan;
use crate::protocol;
use crate::reduce::{Proviso, Reduced, Reduction, Selector};
use crate::report::LeftOut;
use crate::settings::{Search, Settings, Store};
use crate::stores::{self, Kept, TABLE, User, WithBits, table};
use crate::symmetry::quotient::Quotient;
use crate::symmetry::{self, Way, unfold};
use crate::trace::{self, Ending, Trace};
use crate::verdict::Kind;
use spinor_model::fault::FaultKind;
use spinor_model::interp::Interp;
use spinor_model::ir::{EdgeId, Expr, ProctypeId, System};
use spinor_model::optimise::{Watched, optimised, unkept};
use spinor_model::successors::Successors;
use spinor_store::{Budget, Hint};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// The kinds of violations to be looked for.
pub struct Asked<'a> {
    /// As the model was written.
    interp: &'a Interp,
    kinds: &'a [Kind],
    settings: &'a Settings,
    search: Search,
    store: Store,
    /// What is looked at in every state, and the kinds that are violated where it is true.
    looked: Vec<Expr>,
    looked_kinds: Vec<Kind>,
    /// Who can change places in what is searched: if somebody can, nothing is reduced.
    pub symmetry: symmetry::Symmetry,
    reduce: Option<Selector>,
    clock: Clock,
}

/// What came of it.
pub struct Answered {
    pub traces: Vec<(Kind, Trace)>,
    /// Without what was found.
    pub searched: Searched,
    pub kept: Kept,
    pub left_out: LeftOut,
    /// Every statement that can be taken was. (Without a proviso steps may be left out for ever.)
    pub sees_all: bool,
    /// Statements that store a value of which bits are lost.
    pub truncations: Vec<(ProctypeId, EdgeId)>,
    pub note: Option<String>,
    /// Of processor and wall, until the search was done.
    pub seconds: (f64, f64),
}

impl<'a> Asked<'a> {
    /// With the symmetry that there is, of those that are looked for.
    pub fn new(
        interp: &'a Interp,
        kinds: &'a [Kind],
        settings: &'a Settings,
        (search, store): (Search, Store),
        way: Way,
    ) -> Asked<'a> {
        let clock = Clock::start();
        let column = |kind: &Kind| {
            let protocol = settings.protocol.as_ref()?;
            Some((*kind, protocol::column(protocol, interp.system(), *kind)?))
        };
        let (looked_kinds, looked): (Vec<Kind>, Vec<Expr>) = kinds.iter().filter_map(column).unzip();
        let (symmetry, reduce) = (symmetry::Symmetry::default(), None);
        let mut asked = Asked { interp, kinds, settings, search, store, looked, looked_kinds, symmetry, reduce, clock };
        if way.is_on() {
            asked.symmetry = symmetry::find(&asked.optimised(), &asked.looked, way);
        }
        asked
    }

    /// With nothing left out but what is selected in this way, if that is worth while.
    pub fn reducing(mut self, reduce: Option<Selector>) -> Asked<'a> {
        assert!(reduce.is_none() || self.symmetry.canon.is_none(), "the plan refuses it");
        self.reduce = reduce;
        self
    }

    fn optimised(&self) -> Arc<System> {
        let watched = Watched { exprs: &self.looked, params: self.reduce.is_some(), ..Watched::default() };
        optimised(self.interp.shared_system(), self.settings.optimisations(), &watched)
    }

    pub fn answer<E: Executors>(&self, executors: &E, observer: &mut dyn Observer) -> Answered {
        let Asked { settings, search, store, .. } = *self;
        let system = self.optimised();
        let exec = Arc::new(executors.executor(system.clone(), &self.looked));
        let (reduced, por_from) = match self.reduce.and_then(|by| self.reduced(&exec, &system, by)) {
            Some((reduced, from)) => (Some(reduced), from),
            None => (None, 0),
        };
        let canon = self.symmetry.canon.clone();
        let left_out = match (&reduced, &canon) {
            (Some(reduced), _) => LeftOut { por_from, ..LeftOut::steps(reduced) },
            (None, Some(canon)) => LeftOut::states(canon.way()),
            (None, None) => LeftOut::default(),
        };
        let quotient = canon.map(|canon| Arc::new(Quotient { system: exec.clone(), canon }));
        let bytes = settings.memory_left();
        let request = Request {
            kinds: self.kinds.to_vec(),
            looked: self.looked_kinds.clone(),
            all_errors: settings.all_errors,
            max_depth: settings.max_depth,
            max_time: settings.max_time,
            budget: Budget::new(bytes),
            jobs: settings.jobs.max(1),
            proviso: reduced.as_ref().map_or(Proviso::None, |r| r.proviso()),
            por_from,
            ..Request::default()
        };
        let table = table(settings, bytes);
        let (mut searched, kept) = match (&quotient, &reduced) {
            (Some(quotient), None) => run(quotient, Quotient::learn, search, store, table, &request, observer),
            (None, Some(reduced)) => run(reduced, order::learn, search, store, table, &request, observer),
            (None, None) => run(&exec, order::learn, search, store, table, &request, observer),
            (Some(_), Some(_)) => unreachable!("the plan refuses it"),
        };
        let seconds = self.clock.seconds();
        let replayed = Interp::new(system);
        let steps = reduced.as_ref().map(|r| r.of(Arc::new(replayed.clone())));
        let telling = Telling { asked: self, exec, quotient, steps, replayed, request };
        let traces = telling.all(&std::mem::take(&mut searched.found), &searched, bytes, observer);
        let kept_whole = |(t, e): &(ProctypeId, EdgeId)| !unkept(telling.replayed.system(), *t, *e);
        Answered {
            traces,
            kept,
            left_out,
            sees_all: telling.steps.as_ref().is_none_or(|r| r.proviso() != Proviso::None),
            truncations: searched.truncated.iter().filter(kept_whole).collect(),
            note: telling.steps.and_then(|r| r.reduction().audit_note()),
            seconds,
            searched,
        }
    }

    /// The system with fewer steps, if it is worth while, and from how many states on. It is judged on random walks, unless
    /// somebody wants it.
    fn reduced<S: Successors + Send>(
        &self,
        exec: &Arc<S>,
        system: &Arc<System>,
        selector: Selector,
    ) -> Option<(Arc<Reduced<S>>, u64)> {
        let Asked { settings, search, .. } = *self;
        // What is looked at in the states of a protocol is known before (`reduce`, J and K).
        let reduction = match &settings.protocol {
            Some(protocol) => Reduction::new(system.clone(), selector, &[], false).minding(protocol, self.kinds),
            None => Reduction::new(system.clone(), selector, &self.looked, false),
        };
        let reduction = Arc::new(reduction.repaired(settings.repairs).audited_if(settings.audit));
        // States without steps are found whatever else is left out.
        let ends_only = self.kinds == [Kind::EndState];
        let proviso = if ends_only { Proviso::None } else { plan::choose_proviso(settings.proviso, search) };
        let chosen = Reduced::new(exec.clone(), reduction, proviso);
        let saves = chosen.worth(settings.forces_reduction())?;
        let may_begin_late = search == Search::Bfs && chosen.proviso().may_begin_late() && !selector.leaps();
        let at_once = saves >= WORTH_AT_ONCE || !may_begin_late || settings.audit;
        Some((Arc::new(chosen), if at_once { 0 } else { POR_FROM }))
    }
}

/// The share of the steps that must be left out for a reduction to begin at once. Below it the first levels are searched
/// whole, while they are small: to store a state that a cache holds takes less time than to select steps.
const WORTH_AT_ONCE: f64 = 1.0 / 3.0;
const POR_FROM: u64 = 1 << 15;

/// What was found, on its way to be shown.
struct Telling<'a, S> {
    asked: &'a Asked<'a>,
    exec: Arc<S>,
    quotient: Option<Arc<Quotient<S>>>,
    /// What is shown are steps of the interpreter, of which a leap is several.
    steps: Option<Reduced<Interp>>,
    replayed: Interp,
    request: Request,
}

impl<S: Successors + Send + 'static> Telling<'_, S> {
    /// One trace for each violation, with fewer moves and statements if that is wanted.
    fn all(&self, found: &[Found], searched: &Searched, bytes: u64, observer: &mut dyn Observer) -> Vec<(Kind, Trace)> {
        let Asked { settings, search, .. } = *self.asked;
        // Breadth-first the first one of a kind has the fewest moves, unless steps were left out.
        let exact = search == Search::Bfs && self.steps.is_none();
        let early = matches!(searched.stopped, Some(Stopped::Interrupted | Stopped::Time(_)));
        let may_shorten = settings.shorten && settings.all_errors.is_none() && !early;
        let effort = bytes.min(SHORTEN_AT_LEAST.max(SHORTEN_TIMES * searched.bytes));
        let mut met = BTreeSet::new();
        let mut told = Vec::new();
        for found in found {
            let kind = found.kind;
            let (mut trace, mut n_moves) = self.trace(&self.real(found));
            let mut fewest = exact && met.insert(kind);
            if may_shorten && !exact {
                let (shorter, all) = self.with_fewer_moves(kind, n_moves, effort, observer);
                if let Some(found) = shorter {
                    (trace, n_moves) = self.trace(&found);
                }
                fewest = all;
            }
            // A move may be several statements.
            trace.shortest |= fewest && n_moves == trace.steps.len();
            if may_shorten && !trace.shortest && by_statements(&trace) {
                trace = self.with_fewer_statements(kind, trace, searched.bytes, observer);
            }
            debug_assert!(shows(&trace.ending, kind), "what is told is what was found");
            told.push((kind, trace));
        }
        told
    }

    /// A violation of the quotient has to be found again in the system, and a leap is several steps of it.
    fn real(&self, found: &Found) -> Found {
        match (&self.quotient, &self.steps) {
            (Some(quotient), _) => {
                let real = unfold::violation(&self.replayed, &quotient.canon, found);
                assert_eq!(real.steps.len(), found.steps.len(), "a run and its image are equally long");
                real
            }
            (None, Some(steps)) => {
                let real = steps.shown_violation(found);
                assert!(real.steps.len() >= found.steps.len(), "a leap is one step or several");
                real
            }
            (None, None) => found.clone(),
        }
    }

    /// As the model was written, and the number of moves.
    fn trace(&self, real: &Found) -> (Trace, usize) {
        let Asked { interp, settings, .. } = *self.asked;
        let mut trace = trace::build(interp, &self.replayed, real);
        settings.protocol.iter().for_each(|p| protocol::tell(p, interp, &mut trace));
        (trace, real.steps.len())
    }

    /// A violation with the fewest moves, if there is one with fewer than these, and whether there is none with fewer than
    /// the one at hand then. It is searched for where no step is left out, and is no part of the statistics.
    fn with_fewer_moves(
        &self,
        kind: Kind,
        n_moves: usize,
        effort: u64,
        observer: &mut dyn Observer,
    ) -> (Option<Found>, bool) {
        let Some(most) = n_moves.checked_sub(1).and_then(|n| u32::try_from(n).ok()) else {
            return (None, n_moves == 0);
        };
        let spent = Duration::from_secs_f64(self.asked.clock.wall_seconds());
        let request = Request {
            kinds: vec![kind],
            max_depth: Some(most),
            max_time: self.request.max_time.map(|t| t.saturating_sub(spent)),
            budget: Budget::new(effort),
            proviso: Proviso::None,
            por_from: 0,
            ..self.request.clone()
        };
        let (search, store) = plan::choose(Search::Bfs, Store::Auto);
        let (searched, _) = match &self.quotient {
            Some(quotient) => run(quotient, order::learn, search, store, TABLE, &request, observer),
            None => run(&self.exec, order::learn, search, store, TABLE, &request, observer),
        };
        assert!(searched.found.len() <= 1, "one of the kind was asked for");
        let found = searched.found.into_iter().next();
        let all = matches!(searched.stopped, None | Some(Stopped::Depth(_)));
        let fewest = found.is_some() || all;
        let found = found.map(|found| if self.quotient.is_some() { self.real(&found) } else { found });
        assert!(found.as_ref().is_none_or(|f| f.steps.len() <= most as usize), "no deeper than was searched");
        (found, fewest)
    }

    /// The trace itself if there is none, or if it takes too much to know.
    fn with_fewer_statements(&self, kind: Kind, trace: Trace, bytes: u64, observer: &mut dyn Observer) -> Trace {
        let Asked { interp, settings, ref clock, .. } = *self.asked;
        let goes_on = &mut |stored: usize| {
            let elapsed = Duration::from_secs_f64(clock.wall_seconds());
            let (stored, depth) = (stored as u64, trace.steps.len() as u64);
            let at = Progress { stored, transitions: stored, depth, frontier: 0, bytes, elapsed };
            settings.max_time.is_none_or(|most| elapsed < most) && observer.progress(&at) == Control::Continue
        };
        match fewest::fewest(interp, kind, trace.steps.len() - 1, goes_on) {
            Fewest::Found(steps) => {
                assert!(steps.len() < trace.steps.len(), "fewer were asked for");
                Trace { shortest: true, ..trace::of_statements(interp, steps, kind) }
            }
            Fewest::None => Trace { shortest: true, ..trace },
            Fewest::Unknown => trace,
        }
    }
}

/// What a trace with fewer moves may cost, in bytes: some times what the trace itself did, so that a quick find stays
/// quick. Past that the trace is shown as it was found.
const SHORTEN_TIMES: u64 = 4;
const SHORTEN_AT_LEAST: u64 = 32 << 20;

/// The end of a trace is one of a violation of this kind.
fn shows(ending: &Ending, kind: Kind) -> bool {
    match ending {
        Ending::Fault(fault) => Kind::of(&fault.kind) == kind,
        Ending::InvalidEnd => kind == Kind::EndState,
        Ending::Met { .. } => kind != Kind::EndState,
        Ending::Cycle | Ending::Settled => false,
    }
}

/// It is one of its statements that shows it, or that nothing comes after the last one.
fn by_statements(trace: &Trace) -> bool {
    match &trace.ending {
        Ending::Fault(fault) => fault.kind != FaultKind::EndlessAtomic,
        Ending::InvalidEnd => true,
        Ending::Met { .. } => false,
        Ending::Cycle | Ending::Settled => unreachable!("no finite run"),
    }
}

/// The search with the store.
fn run<S: Successors + Send + 'static>(
    system: &Arc<S>,
    learn: fn(&S, &[u8]) -> Hint,
    search: Search,
    store: Store,
    table: u64,
    request: &Request,
    observer: &mut dyn Observer,
) -> (Searched, Kept) {
    let walked = system.clone();
    let hints = Box::new(move |key: &[u8]| learn(&walked, key));
    let user = Searching { system: &**system, search, request, observer };
    let ran = stores::open(store, table, &request.budget, hints, user);
    ran.unwrap_or_else(|full| (Searched::none(&**system, full, request), (0, None)))
}

struct Searching<'a, S> {
    system: &'a S,
    search: Search,
    request: &'a Request,
    observer: &'a mut dyn Observer,
}

impl<S: Successors> User for Searching<'_, S> {
    type Out = Searched;
    fn with<V: WithBits>(self, store: &V) -> Searched {
        let Searching { system, search, request, observer } = self;
        match search {
            Search::Dfs => dfs::search(system, store, request, observer),
            Search::Bfs => bfs::search(system, store, request, observer),
            _ => unreachable!("no search of states"),
        }
    }
}
