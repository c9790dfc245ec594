//! How runs that never end are searched, whatever is asked about them: which search, beside which store, with which
//! fairness.
//!
//! Claims are searched by it (`answer`), and cycles without progress where fairness is asked for, too
//! (`progress/answer.rs`).

use super::by_process::ByProcess;
use super::fair::{self, By, Fair};
use super::ndfs::{self, Nesting, Target};
use super::{Fairness, Lasso, Request, Runs, Searched, cndfs, lasso, lossy, scc, shorten, union};
use crate::observer::Observer;
use crate::plan;
use crate::reduce::{AbleBy, Proviso, Repairs, Selector};
use crate::settings::{FairBy, Search, Store};
use crate::stores::{self, Kept, User, WithBits};
use spinor_model::ir::System;
use spinor_model::optimise::Optimisations;
use spinor_store::Hints;

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
    /// Processes that can be alive at a time.
    pub most_processes: u32,
}

impl How {
    /// The search beside the store that is asked for.
    pub(crate) fn search<F, U: User<Out = Searched<F>>>(&self, hints: Hints, user: U) -> (Searched<F>, Kept) {
        let budget = &self.request.budget;
        let searched = stores::open(self.store, self.table, budget, hints, user);
        let (searched, kept) = searched.unwrap_or_else(|full| (Searched::none(full, budget), (0, None)));
        assert!(searched.found.is_none() || searched.stopped.is_none(), "M5");
        (searched, kept)
    }

    /// The search itself.
    pub(crate) fn find<R: Runs>(&self, runs: &R, hints: Hints, observer: &mut dyn Observer) -> (Searched, Kept) {
        self.search(hints, Searching { how: self, runs, observer })
    }

    /// Where nothing is left out, or by the state alone.
    pub(crate) fn by_state(&self) -> How {
        How { proviso: Proviso::default(), repairs: Repairs::default(), ..self.clone() }
    }

    /// What is shown of a run: fewer moves if that is wanted, as who is quick finds them, after the judge went along them.
    pub(crate) fn shown<Q: Runs, R: Runs>(&self, quick: &Q, judge: &R, lasso: Lasso, stored: u64) -> Lasso {
        let fairness = self.request.fairness;
        let lasso = if self.shorten { shorten::shorten(quick, &lasso, fairness, stored) } else { lasso };
        self.replayed(judge, &lasso);
        lasso
    }

    /// Panics unless the run is accepted, and fair.
    pub(crate) fn replayed<R: Runs>(&self, judge: &R, lasso: &Lasso) {
        let judged = lasso::replay(judge, lasso, self.request.fairness);
        judged.unwrap_or_else(|e| panic!("what was found is no violation: {e}"));
    }

    /// Statements are not merged (`answer` says why).
    pub(crate) fn hides_waiting(&self, system: &System) -> bool {
        self.request.fairness != Fairness::None && system.has_rendezvous()
    }

    /// Fairness lies in the keys, behind those of what is searched.
    pub(crate) fn unfolds(&self) -> bool {
        !plan::knows_components(self.search) && self.request.fairness != Fairness::None
    }

    /// Who is waited for has a say in what is left out.
    pub(crate) fn waits(&self) -> bool {
        self.repairs.able.waits(self.request.fairness)
    }

    /// Whose a move is matters also where moves are ordered by it.
    pub(crate) fn owned(&self) -> Fairness {
        if self.search == Search::NdfsProcess { Fairness::Weak } else { self.request.fairness }
    }

    fn nested<R: Runs, V: WithBits>(
        &self,
        runs: &R,
        store: &V,
        target: Target,
        observer: &mut dyn Observer,
    ) -> Searched {
        let How { request, proviso, .. } = self;
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
        let by = || match self.fair_by {
            FairBy::Copies => By::Copies,
            FairBy::Flags => By::Flags,
            FairBy::Auto | FairBy::Scc => unreachable!("the plan refuses it"),
        };
        let eager = self.repairs.able == AbleBy::Defaults;
        let fair = || Fair::new(runs, self.most_processes, by()).telling(self.waits(), eager);
        assert_ne!(self.request.fairness, Fairness::Strong, "states wait for one process at a time: that is weak");
        assert_eq!(self.unfolds(), self.request.fairness != Fairness::None, "the keys are as long as it was said");
        self.unfolds().then(fair)
    }
}

const ONE_MARK: &str = "nested search is given claims with one mark, at states";

struct Searching<'a, R> {
    how: &'a How,
    runs: &'a R,
    observer: &'a mut dyn Observer,
}

impl<R: Runs> User for Searching<'_, R> {
    type Out = Searched;
    fn with<V: WithBits>(self, store: &V) -> Searched {
        let Searching { how, runs, observer } = self;
        let request = &how.request;
        match how.search {
            Search::Ndfs => how.nested(runs, store, Target::Path, observer),
            Search::NdfsSeed => how.nested(runs, store, Target::Seed, observer),
            Search::NdfsProcess => {
                let ordered = ByProcess(runs);
                let mut searched = how.nested(&ordered, store, Target::Seed, observer);
                searched.found = searched.found.map(|lasso| ordered.project(&lasso));
                searched
            }
            _ if !V::EXACT => unreachable!("the plan refuses it"),
            Search::Scc => scc::search(runs, store, request, observer),
            Search::SccPar => union::search(runs, store, request, observer),
            Search::Cndfs => {
                let nested = match how.fair(runs) {
                    None => cndfs::search(runs, store, request, observer),
                    Some(fair) => cndfs::search_fair(&fair, store, request, observer),
                };
                nested.expect(ONE_MARK).searched
            }
            _ => unreachable!("no search for cycles"),
        }
    }
}
