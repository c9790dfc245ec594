//! Properties of runs that never end: from a question to a search, and from what it found to a row of the report.

use super::{About, Executors, NOT_WORTH, Question, Said, memory_left, of_the_whole, open};
use crate::claim::{Claim, Refused};
use crate::clock::Clock;
use crate::cycles::answer::{Answered, How};
use crate::cycles::{self, Searched};
use crate::observer::Observer;
use crate::plan::{self, Asking, Combination, OnTheFly};
use crate::progress::answer::{Account, Asked as Progressing};
use crate::progress::loops;
use crate::progress::meaning::{Meaning, Of};
use crate::report::{LeftOut, PropertyReport, Report, Stats};
use crate::settings::{Reduce, Search, Settings};
use crate::stores::{missed, table};
use crate::symmetry::Way;
use crate::verdict::{Kind, Verdict};
use spinor_ltl::Limits;
use spinor_model::interp::Interp;
use spinor_store::Budget;
use std::time::Instant;

/// What is told instead of a search where the text alone shows it (`progress/loops.rs`).
const READING: &str = "reading";

/// The searches for runs that never end, one a property.
pub(super) struct Endless<'a> {
    pub interp: &'a Interp,
    /// Whose progress counts.
    pub of: Option<Of>,
    pub way: Way,
    pub settings: &'a Settings,
    pub started: Instant,
    /// Run-time errors are asked about, too.
    pub runtime: bool,
    pub asking: Asking,
}

impl Endless<'_> {
    /// What breaks the property.
    fn claim(&self, about: &About<'_>) -> Result<Claim, String> {
        let marking = plan::marking(self.asking.combination.search);
        match about {
            About::Itself => unreachable!("safety is not asked for here"),
            About::Accept => Ok(Claim::accept_labels()),
            About::Progress => Ok(Claim::without_progress(marking)), // not asked: see `Progressing`
            About::Claim(claim) => Claim::never(claim, self.interp.system()).map_err(|e| self.refusal(&e)),
            About::Stated(Said::Formula { formula, props }) => {
                Claim::against_within(formula, props, marking, self.limits()).map_err(|e| e.to_string())
            }
            About::Stated(Said::Automaton { automaton, looked }) => Ok(Claim::given(automaton, looked, marking)),
        }
    }

    /// There is progress in every loop, and nobody asked for a search.
    fn is_read_off(&self) -> bool {
        let Settings { search, plain, progress, .. } = *self.settings;
        let asks = plain || search != Search::Auto || self.asking.by_name;
        let system = self.interp.system();
        !asks && loops::all_pass(system, &Meaning::new(system, progress, self.of))
    }

    /// What a translation may take of what the user allows.
    fn limits(&self) -> Limits {
        let usual = Limits::default();
        let left = memory_left(self.settings);
        Limits {
            bytes: usual.bytes.min(usize::try_from(left).unwrap_or(usize::MAX)),
            until: self.settings.max_time.and_then(|t| self.started.checked_add(t)),
            ..usual
        }
    }

    fn refusal(&self, e: &Refused) -> String {
        let sources = &self.interp.system().sources;
        match sources.files.get(e.span.file) {
            Some(_) => format!("{e}: line {}", sources.line(sources.surface(e.span))),
            None => e.to_string(),
        }
    }

    pub fn property<E: Executors>(
        &self,
        question: Question<'_>,
        executors: &E,
        observer: &mut dyn Observer,
        report: &mut Report,
    ) -> PropertyReport {
        let Question { name, kind, about, .. } = question;
        if matches!(about, About::Progress) && self.is_read_off() {
            report.chosen.progress = Some((READING, self.settings.progress.word()));
            return PropertyReport::new(name, kind, Verdict::Holds);
        }
        let claim = match self.claim(&about) {
            Ok(claim) => claim,
            Err(because) => return open(name, kind, because),
        };
        let settings = self.settings;
        let clock = Clock::start();
        let limit = memory_left(settings);
        let request = cycles::Request {
            fairness: settings.fairness,
            max_depth: settings.max_depth,
            max_time: settings.max_time.map(|t| t.saturating_sub(self.started.elapsed())),
            budget: Budget::new(limit),
            jobs: settings.jobs.max(1),
        };
        let Endless { interp, of, .. } = *self;
        let Combination { search, store, fair_by, .. } = self.asking.combination;
        let how = How {
            search,
            store,
            table: table(settings, limit),
            fair_by,
            optimise: settings.optimisations(),
            shorten: settings.shorten,
            reduce: None, // so far
            forced: settings.forces_reduction(),
            audit: settings.audit,
            proviso: plan::choose_proviso(settings.proviso, search),
            repairs: settings.repairs,
            request,
        };
        let (stutter_invariant, sees_steps) = (claim.stutter_invariant, claim.sees_steps);
        let is_progress = matches!(about, About::Progress);
        let fly = OnTheFly {
            proviso: how.proviso,
            able_by: how.repairs.able,
            search,
            fairness: settings.fairness,
            jobs: settings.jobs,
            in_form: true,
            lossy: store.is_lossy(),
        };
        // Selections that depend on more than the state of the system.
        let reduces = !settings.plain && settings.reduce != Reduce::Off;
        let form = (fly.is_wanted() && reduces && !is_progress).then(|| claim.in_stutter_form());
        let fly = OnTheFly { in_form: !matches!(form, Some(None)), ..fly };
        let of_progress = || match fly.is_wanted() || how.repairs.departs(settings.fairness) {
            true => Some(plan::BY_STATE_ALONE),
            false => plan::refuses_progress(search, settings.progress, settings.reduce.leaps()),
        };
        let refusal = self.asking.refusal.or_else(|| if is_progress { of_progress() } else { fly.refusal() });
        let claim = form.flatten().filter(|_| refusal.is_none()).unwrap_or(claim);
        let asking = Asking { counts_all: false, stutter_invariant, sees_steps, refusal, ..self.asking };
        let (reduce, answered) = if is_progress {
            let reduce = report.reduces(asking, &name);
            let (progress, all_still) = (settings.progress, settings.all_still);
            let asked = Progressing { interp, progress, of, all_still, how: How { reduce, ..how } };
            (reduce, asked.answer(executors, observer))
        } else {
            let mut asked = cycles::answer::Asked { interp, claim: &claim, symmetry: Default::default(), how };
            asked.symmetry = asked.symmetry(self.way);
            report.tell_symmetry(&asked.symmetry);
            let symmetric = asked.symmetry.canon.is_some();
            asked.how.reduce = report.reduces(Asking { symmetric, ..asking }, &name);
            (asked.how.reduce, asked.answer(executors, observer))
        };
        let Answered { searched, kept: (store_bytes, omission), faulty, left_out, note } = answered;
        let Searched { found: trace, counters, stopped, bytes: search_bytes } = searched;
        report.notes.extend(note);
        if reduce.is_some() && left_out.por == LeftOut::default().por {
            report.unreduced.push((name.clone(), NOT_WORTH.to_string()));
        }
        if let (Some(trace), About::Stated(Said::Formula { formula, props })) = (&trace, &about) {
            cycles::answer::judge(self.interp, formula, props, trace);
        }
        if faulty && !self.runtime {
            let note = format!("met but not asked about: {}; runs that it ends are not judged", Kind::RuntimeError);
            if !report.notes.contains(&note) {
                report.notes.push(note);
            }
        }
        let stopped = stopped.map(|why| of_the_whole(why, settings));
        report.searches.push(Stats {
            complete: stopped.is_none() && trace.is_none() && omission.is_none(),
            store_bytes,
            search_bytes,
            omission,
            left_out,
            ..Stats::measured(search, &counters, clock.seconds())
        });
        let verdict = match (&trace, stopped) {
            (Some(trace), _) => Verdict::Violated { what: crate::explain::what(self.interp, trace) },
            (None, Some(stopped)) => Verdict::NothingFound { because: stopped.to_string() },
            (None, None) => omission.map_or(Verdict::Holds, |o| Verdict::NothingFound { because: missed(o) }),
        };
        let (n_violations, search) = (u64::from(trace.is_some()), Some(report.searches.len() - 1));
        let account = trace.as_ref().filter(|_| kind == Kind::NonProgress);
        let account = account.map(|trace| Account::of(interp, settings.progress, of, trace));
        let traces = trace.into_iter().collect();
        PropertyReport { traces, n_violations, search, account, ..PropertyReport::new(name, kind, verdict) }
    }
}
