//! Properties of runs that never end: from a question to a search, and from what it found to a row of the report.

use super::{About, Executors, Question, Said, of_the_whole, open};
use crate::claim::{Claim, Marking, Refused};
use crate::clock::Clock;
use crate::cycles::answer::Answered;
use crate::cycles::how::How;
use crate::cycles::{self, Searched};
use crate::observer::Observer;
use crate::plan::{self, Asking, Combination};
use crate::progress::answer::Account;
use crate::progress::meaning::{Meaning, Of};
use crate::progress::{self, loops};
use crate::reduce::Selector;
use crate::report::{PropertyReport, Report, Stats};
use crate::settings::{Search, Settings};
use crate::stores::{missed, table};
use crate::symmetry::Way;
use crate::verdict::{Kind, Verdict};
use spinor_ltl::Limits;
use spinor_model::interp::Interp;
use spinor_store::Budget;
use std::time::Instant;

/// What is told instead of a search where the text alone shows it (`progress/loops.rs`).
pub(super) const READING: &str = "reading";

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
    /// What breaks the property; nothing if it is not a claim by which progress is asked for.
    fn claim(&self, about: &About<'_>) -> Result<Option<Claim>, String> {
        let marking = plan::marking(self.asking.combination.search);
        let claim = match about {
            About::Itself => unreachable!("safety is not asked for here"),
            About::Progress => return Ok(None),
            About::Accept => Claim::accept_labels(),
            About::Claim(claim) => Claim::never(claim, self.interp.system()).map_err(|e| self.refusal(&e))?,
            About::Stated(Said::Formula { formula, props }) => {
                Claim::against_within(formula, props, marking, self.limits()).map_err(|e| e.to_string())?
            }
            About::Stated(Said::Automaton { automaton, looked }) => Claim::given(automaton, looked, marking),
        };
        Ok(Some(claim))
    }

    /// With nothing left out, so far.
    fn how(&self) -> How {
        let Endless {
            settings, asking: Asking { combination: Combination { search, store, fair_by, .. }, .. }, ..
        } = *self;
        let limit = settings.memory_left();
        How {
            search,
            store,
            table: table(settings, limit),
            fair_by,
            optimise: settings.optimisations(),
            shorten: settings.shorten,
            reduce: None,
            forced: settings.forces_reduction(),
            audit: settings.audit,
            proviso: plan::choose_proviso(settings.proviso, search),
            repairs: settings.repairs,
            request: cycles::Request {
                fairness: settings.fairness,
                max_depth: settings.max_depth,
                max_time: settings.max_time.map(|t| t.saturating_sub(self.started.elapsed())),
                budget: Budget::new(limit),
                jobs: settings.jobs.max(1),
            },
            most_processes: self.interp.system().most_processes(),
        }
    }

    /// Is there a run that the claim accepts?
    fn runs<E: Executors>(
        &self,
        claim: Claim,
        name: &str,
        executors: &E,
        observer: &mut dyn Observer,
        report: &mut Report,
    ) -> (Option<Selector>, Answered) {
        let Asking { combination, refusal, .. } = self.asking;
        let (stutter_invariant, sees_steps) = (claim.stutter_invariant, claim.sees_steps);
        let wants_form = refusal.is_none() && plan::wants_stutter_form(self.settings, combination);
        let (claim, refusal) = match wants_form.then(|| claim.in_stutter_form()) {
            None => (claim, refusal),
            Some(None) => (claim, Some(plan::NO_STUTTER_FORM)),
            Some(Some(form)) => (form, None),
        };
        let asked = cycles::answer::Asked::new(self.interp, &claim, self.how(), self.way);
        report.tell_symmetry(&asked.symmetry);
        let symmetric = asked.symmetry.canon.is_some();
        let asking = Asking { symmetric, stutter_invariant, sees_steps, refusal, ..self.asking };
        let reduce = report.reduces(asking, name);
        (reduce, asked.reducing(reduce).answer(executors, observer))
    }

    /// Is there one without progress from some point on?
    fn progress<E: Executors>(
        &self,
        name: &str,
        executors: &E,
        observer: &mut dyn Observer,
        report: &mut Report,
    ) -> (Option<Selector>, Answered) {
        let Settings { progress, still, .. } = *self.settings;
        let reduce = report.reduces(self.asking, name);
        let how = How { reduce, ..self.how() };
        let asked = progress::answer::Asked { interp: self.interp, progress, of: self.of, still, how };
        (reduce, asked.answer(executors, observer))
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
        let left = self.settings.memory_left();
        Limits {
            bytes: usual.bytes.min(usize::try_from(left).unwrap_or(usize::MAX)),
            until: self.settings.max_time.and_then(|t| self.started.checked_add(t)),
            ..usual
        }
    }

    fn refusal(&self, e: &Refused) -> String {
        let place = self.interp.system().sources.told(e.span);
        place.map_or(e.to_string(), |place| format!("{e}: {place}"))
    }

    pub fn property<E: Executors>(
        &self,
        question: Question<'_>,
        executors: &E,
        observer: &mut dyn Observer,
        report: &mut Report,
    ) -> PropertyReport {
        let Question { name, kind, about } = question;
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
        let wants_states = plan::marking(self.asking.combination.search) == Marking::States;
        let at_states =
            |claim: &Claim| claim.automaton.is_state_based() || matches!(about, About::Claim(_) | About::Accept);
        assert!(!wants_states || claim.as_ref().is_none_or(at_states), "marks are where the search looks for them");
        let (reduce, answered) = match claim {
            Some(claim) => self.runs(claim, &name, executors, observer, report),
            None => self.progress(&name, executors, observer, report),
        };
        let Answered { searched, kept: (store_bytes, omission), faulty, left_out, note } = answered;
        let Searched { found: trace, counters, stopped, bytes: search_bytes } = searched;
        report.notes.extend(note);
        report.tell_worth(&name, reduce, &left_out);
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
            ..Stats::measured(self.asking.combination.search, &counters, clock.seconds())
        });
        let verdict = match (&trace, stopped) {
            (Some(trace), _) => Verdict::Violated { what: crate::explain::what(self.interp, trace) },
            (None, Some(stopped)) => Verdict::NothingFound { because: stopped.to_string() },
            (None, None) => omission.map_or(Verdict::Holds, |o| Verdict::NothingFound { because: missed(o) }),
        };
        let (n_violations, search) = (u64::from(trace.is_some()), Some(report.searches.len() - 1));
        let account = trace.as_ref().filter(|_| kind == Kind::NonProgress);
        let account = account.map(|trace| Account::of(self.interp, settings.progress, self.of, trace));
        let traces = trace.into_iter().collect();
        PropertyReport { traces, n_violations, search, account, ..PropertyReport::new(name, kind, verdict) }
    }
}
