//! What a selection must have where cycles without progress are asked about, and nothing else.
//!
//! Source  [FaragoSchmitt] 3.2, C2 and C2'; the rule for steps answers the question of its section 4.2.
//!
//! # The argument
//!   Emptiness and decomposition hold (`stubborn`); there is no cycle condition. Let ρ be a run from s that never ends and
//!   makes progress k times, where steps are left out of s. If it takes steps of the selection, let t be the first of
//!   them: t may be taken at once, with the outcome that it has in ρ, and what came before it follows in its order. If it
//!   takes none, every step of the selection may be taken first, with each of its outcomes, and all of ρ follows.
//!   In both cases it is to be shown that the new run makes progress at most k times. Then the first step of it is one of
//!   the reduced graph, and the same is done again with the rest, and so on for ever: that is a run of the reduced graph
//!   that never ends and makes progress at most k times, so it comes to a cycle without progress after at most k. As the
//!   reduced graph is a part of the whole one, both have such cycles, or neither has, and after as little progress.
//!
//!   **One** (steps make progress): some step of the selection makes none, whichever outcome it has. An outcome is the same
//!   statements wherever the step is moved to, so moving t changes no count; and if ρ has no step of the selection, the one
//!   without progress is put in front.
//!   **All** (C2): no step of the selection makes progress. That is more than **One** asks for.
//!   **Nobody** (states make progress, C2'): each step of the selection leads to a state without progress, with each outcome.
//!   Whoever moves in t stands at no label afterwards, wherever it is moved to, and everybody else stands where they did: so
//!   t does not make a state of ρ a progress state. The state after t is none either, and it is the only one that is added.
//!   That steps make no difference to progress (C2) is not enough: while somebody stands at a label, another may go round
//!   for ever in the selections, and each of its steps leads to a progress state.
//!   So what is asked of a selection: everybody who stands at a label in s takes part in each of its steps, and no step of
//!   it leads anybody to a label.
//!
//!   *Leaps* (`leap`; steps make progress): each of the sets has a step without progress, and of at most one of them some step
//!   makes any. By the same argument the first step that ρ takes of each set, or one without progress where it takes none,
//!   can be taken at once: together they are a leap. It makes progress at most once, and then the rest of ρ does so once less:
//!   so the level that a leap leads to is one higher or the same, as if it were a step. Nothing need be added to a leap.
//!
//! # What may be asked of such a graph
//!   Whether there is a cycle without progress, after how little progress, and whether there is an end. Not what else happens:
//!   what is left out may be left out for ever, where there is always progress.
//!
//! # Invariants
//!   I1 who is asked about a step knows all edges of the system: where states make progress, that is so after `on`
//!   I2 where states make progress, labels are known of all locations; where steps do, of none
//!
//! # Owed
//!   O1 verdict and least progress = the oracle's    tests: random systems, random models
//!   O2 each condition is needed                     tests: `Still`, `Enters`, `AtLabel`, `OneMade`
//!
//! # Cost  a look at what each step of a selection begins with; where a step may lead is known before (`statics`).

use super::statics::{Chain, Statics};
use spinor_model::index::Idx;
use spinor_model::ir::{Edge, EdgeId, Effect, ProctypeId, System, Then};

/// See the module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    One,
    All,
    Nobody,
}

/// Of the steps that are selected, so many make no progress.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum HowMany {
    #[default]
    One,
    All,
}

impl HowMany {
    pub const ALL: [HowMany; 2] = [HowMany::One, HowMany::All];

    pub fn word(self) -> &'static str {
        match self {
            HowMany::One => "one",
            HowMany::All => "all",
        }
    }
}

/// What makes progress, and what a selection must have.
#[derive(Clone, Debug)]
pub struct Still {
    pub(super) rule: Rule,
    /// By proctype and location: a process that stands there makes progress of a state.
    pub(super) labels: Vec<Vec<bool>>,
    /// By proctype and edge: a step that begins with it may make progress, or may lead somebody to a label.
    pub(super) edges: Vec<Vec<bool>>,
}

impl Still {
    /// Steps make progress, and these may.
    pub fn steps(edges: Vec<Vec<bool>>, still: HowMany) -> Still {
        let rule = match still {
            HowMany::One => Rule::One,
            HowMany::All => Rule::All,
        };
        Still { rule, labels: Vec::new(), edges }
    }

    /// States make progress in which somebody stands at one of these.
    pub fn states(labels: Vec<Vec<bool>>) -> Still {
        Still { rule: Rule::Nobody, labels, edges: Vec::new() }
    }

    /// Which steps lead to a label.
    pub(super) fn on(mut self, system: &System, statics: &Statics) -> Still {
        if self.rule == Rule::Nobody {
            self.edges = entering(system, statics, &self.labels);
        }
        let n_edges = |n: usize| system.proctypes[ProctypeId::new(n)].edges.len();
        debug_assert_eq!(self.edges.len(), system.proctypes.len(), "I1");
        debug_assert!(self.edges.iter().enumerate().all(|(n, edges)| edges.len() == n_edges(n)), "I1");
        let n_locs = |n: usize| system.proctypes[ProctypeId::new(n)].locs.len();
        let n_labelled = if self.rule == Rule::Nobody { system.proctypes.len() } else { 0 };
        debug_assert_eq!(self.labels.len(), n_labelled, "I2");
        debug_assert!(self.labels.iter().enumerate().all(|(n, labels)| labels.len() == n_locs(n)), "I2");
        let leads_there = |n: usize, e: EdgeId| {
            let edge = &system.proctypes[ProctypeId::new(n)].edges[e];
            !edge.ends() && edge.then == Then::Yield && self.labels[n][edge.to.index()]
        };
        debug_assert!(
            (0..n_labelled).all(|n| {
                let edges = &system.proctypes[ProctypeId::new(n)].edges;
                edges.ids().all(|e| self.edges[n][e.index()] || !leads_there(n, e))
            }),
            "a step to a label enters it"
        );
        self
    }

    pub(super) fn edge(&self, proctype: ProctypeId, edge: EdgeId) -> bool {
        self.edges[proctype.index()][edge.index()]
    }
}

/// By proctype and edge: its process, or one that it makes, may stand at a label after a step that begins with it. Who sends
/// to others further on in a step disturbs everybody (`touch`), and is in no selection.
fn entering(system: &System, statics: &Statics, labels: &[Vec<bool>]) -> Vec<Vec<bool>> {
    let made = |e: &Effect| matches!(e, Effect::Run { proctype, .. } if begins(system, labels, *proctype));
    let mut out = Vec::new();
    for (n, t) in system.proctypes.iter().enumerate() {
        let enters = |(e, edge): (EdgeId, &Edge)| {
            let Chain { inner, ends } = &statics.chains[n][e.index()];
            let further = inner.iter().flat_map(|loc| &t.locs[*loc].edges).map(|e| &t.edges[*e]);
            ends.iter().any(|loc| labels[n][loc.index()])
                || further.chain([edge]).flat_map(|edge| &edge.effects).any(made)
        };
        out.push(t.edges.enumerated().map(enters).collect());
    }
    out
}

fn begins(system: &System, labels: &[Vec<bool>], proctype: ProctypeId) -> bool {
    labels[proctype.index()][system.proctypes[proctype].start.index()]
}
