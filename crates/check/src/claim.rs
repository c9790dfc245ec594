//! What is looked for in the runs of a system: those that break a property.
//!
//! | from | file |
//! |---|---|
//! | a formula | this |
//! | a `never` claim | `never` |
//! | accept labels | this |
//! | the question whether there is progress | this |
//!
//! A claim is an automaton that reads the states of a run through the expressions it looks at, and accepts the runs
//! that are violations. What the expressions mean is the system's business. Some may be about the steps between the
//! states (`spinor_model::happening`): then it reads each state together with the step by which it is left.

mod never;

use crate::reduce::without::{Condition, Without};
pub use never::Refused;
use spinor_ltl::{Automaton, Formula, Guard, Guards, Limits, Marks, PropId, StateId, TooLarge, Transition};
use spinor_model::happening::is_about_steps;
use spinor_model::ir::{Expr, Proctype, System};
use std::collections::BTreeSet;

/// See the module.
#[derive(Clone, Debug)]
pub struct Claim {
    pub automaton: Automaton,
    /// What the columns of its guards stand for, in their order.
    pub looked: Vec<Expr>,
    /// A run that ends is continued by staying where it is.
    pub stutters: bool,
    /// It cannot tell a run from one that stays longer in some states. No also where that is not known.
    pub stutter_invariant: bool,
    /// Some of the expressions are about the steps between the states (`spinor_model::happening`). Then *stays* means that
    /// nothing happens that is named.
    pub sees_steps: bool,
    /// What is accepted is a boolean combination of properties, none of which can tell how long a run stays where it is: the
    /// columns that each of them looks at. All together if there is one property, or if that is not known.
    pub parts: Vec<Vec<u32>>,
    /// By state of the automaton: whatever comes, it is accepted.
    settles: Vec<bool>,
    /// By state of the automaton: in which phase it is. All are in phase 0 until they are told apart.
    phases: Vec<u32>,
}

/// Phases that begin in more states are not told apart: it takes too long to look at these.
const MOST_ENTRIES: usize = 8;

/// Where a search wants the marks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Marking {
    /// As many as there are, at transitions.
    Generalised,
    /// One at most, at states.
    States,
}

impl Claim {
    pub fn new(automaton: Automaton, looked: Vec<Expr>, stutters: bool, stutter_invariant: bool) -> Claim {
        assert_eq!(automaton.props.len(), looked.len(), "an expression for each column");
        let all = automaton.all_marks();
        let stays = |(s, ts): (usize, &Vec<Transition>)| {
            ts.iter().any(|t| t.target.idx() == s && t.guard == Guard::TRUE && t.marks == all)
        };
        let settles = if stutters { automaton.states.iter().enumerate().map(stays).collect() } else { Vec::new() };
        let phases = vec![0; automaton.n_states()];
        let sees_steps = looked.iter().any(is_about_steps);
        let parts = vec![(0..looked.len() as u32).collect()];
        assert!(automaton.initial.iter().all(|s| s.idx() < phases.len()), "a run begins at a state that there is");
        Claim { automaton, looked, stutters, stutter_invariant, sees_steps, parts, settles, phases }
    }

    /// Tells phases apart, and returns what is looked at in each, as columns: in phase 0 all of them, in the others what
    /// the automaton may yet look at from its states. From one phase there is no way but to phases that look at less.
    ///
    /// That is of use to who must keep in order what is looked at (`reduce`), and only if each phase that is entered
    /// begins with a state from which the automaton cannot tell how long a run stays where nothing changes: else, and
    /// where that is not known, there is one phase.
    pub fn tell_phases(&mut self) -> Vec<Vec<u32>> {
        self.tell_phases_without(Without::default())
    }

    #[doc(hidden)]
    pub fn tell_phases_without(&mut self, without: Without) -> Vec<Vec<u32>> {
        let all: Vec<u32> = (0..self.looked.len() as u32).collect();
        if self.sees_steps {
            return vec![all]; // who cannot count repeated states may still count steps
        }
        let automaton = &self.automaton;
        let mut columns: Vec<BTreeSet<u32>> = automaton.states.iter().map(|ts| self.columns_of(ts)).collect();
        let edges = || automaton.states.iter().enumerate().flat_map(|(at, ts)| ts.iter().map(move |t| (at, t.target)));
        loop {
            let mut grew = false;
            for (at, to) in edges().filter(|_| without.keeps(Condition::Yet)) {
                let more: Vec<u32> = columns[to.idx()].difference(&columns[at]).copied().collect();
                grew |= !more.is_empty();
                columns[at].extend(more);
            }
            if !grew {
                break;
            }
        }
        let entries: BTreeSet<StateId> =
            edges().filter(|(at, to)| columns[*at] != columns[to.idx()]).map(|(_, to)| to).collect();
        // What is accepted from all initial states together is known to be stutter-invariant; if they look at different things it
        // is asked of each.
        let begins = automaton.initial.iter().filter(|at| columns[at.idx()] != columns[automaton.initial[0].idx()]);
        let begins = begins.flat_map(|_| &automaton.initial).copied();
        let entries: BTreeSet<StateId> = entries.into_iter().chain(begins).collect();
        let mut phases = vec![all];
        let invariant = |at: &StateId| !without.keeps(Condition::Stutters) || self.is_stutter_invariant(*at);
        if !self.stutter_invariant || entries.len() > MOST_ENTRIES || !entries.iter().all(invariant) {
            return phases;
        }
        for (at, columns) in columns.iter().enumerate() {
            let columns: Vec<u32> = columns.iter().copied().collect();
            let phase = phases.iter().position(|p| *p == columns).unwrap_or_else(|| {
                phases.push(columns);
                phases.len() - 1
            });
            self.phases[at] = phase as u32;
        }
        debug_assert!(
            !without.keeps(Condition::Yet) || self.are_phases(&phases),
            "a phase looks at less than what leads to it"
        );
        phases
    }

    /// Whoever is in a phase looks at nothing else, and nothing comes to be looked at.
    fn are_phases(&self, phases: &[Vec<u32>]) -> bool {
        let looks = |at: usize| &phases[self.phases[at] as usize];
        let within = |few: &[u32], many: &[u32]| few.iter().all(|column| many.contains(column));
        self.automaton.states.iter().enumerate().all(|(at, ts)| {
            let own: Vec<u32> = self.columns_of(ts).into_iter().collect();
            within(&own, looks(at)) && ts.iter().all(|t| within(looks(t.target.idx()), looks(at)))
        })
    }

    /// Each column is looked at by some part.
    fn with_parts(self, parts: Vec<Vec<u32>>) -> Claim {
        let n = self.looked.len() as u32;
        assert!(
            (0..n).all(|column| parts.iter().any(|part| part.contains(&column))),
            "nothing is looked at by no part"
        );
        assert!(parts.iter().flatten().all(|column| *column < n), "a part looks at what is looked at");
        Claim { parts, ..self }
    }

    fn columns_of(&self, transitions: &[Transition]) -> BTreeSet<u32> {
        transitions.iter().flat_map(|t| self.automaton.guards.columns(t.guard)).collect()
    }

    /// From this state it cannot tell how long a run stays where nothing changes.
    fn is_stutter_invariant(&self, at: StateId) -> bool {
        let limits = Limits { states: 500, transitions: 5_000, steps: 200_000, ..Limits::default() };
        let from = Automaton { initial: vec![at], ..self.automaton.clone() };
        spinor_ltl::is_automaton_stutter_invariant(&from, limits).unwrap_or(false)
    }

    /// See [`Claim::tell_phases`].
    pub fn phase(&self, at: StateId) -> u32 {
        self.phases[at.idx()]
    }

    /// The runs that break a formula; `props` is what its propositions say.
    pub fn against(formula: &Formula, props: &[Expr], marking: Marking) -> Result<Claim, TooLarge> {
        Claim::against_within(formula, props, marking, Limits::default())
    }

    /// The same, within limits of size and time.
    pub fn against_within(
        formula: &Formula,
        props: &[Expr],
        marking: Marking,
        limits: Limits,
    ) -> Result<Claim, TooLarge> {
        let negated = Formula::Not(Box::new(formula.clone()));
        let claim = Claim::accepting(&negated, props, marking, true, limits)?;
        // With operations it is a larger formula than the one that was translated; what takes long is not known.
        let limits = if claim.sees_steps { Limits { steps: limits.steps.min(2_000_000), ..limits } } else { limits };
        let states = as_states(&negated, props);
        let invariant = states.is_some_and(|f| spinor_ltl::is_stutter_invariant(&f, limits).unwrap_or(false));
        Ok(claim.invariant(invariant))
    }

    /// The runs that an automaton accepts; `looked` is what the columns of its guards stand for.
    pub fn given(automaton: &Automaton, looked: &[Expr], marking: Marking) -> Claim {
        let automaton = match marking {
            Marking::Generalised => automaton.clone(),
            Marking::States => spinor_ltl::state_based(&spinor_ltl::degeneralise(automaton)),
        };
        Claim::new(automaton, looked.to_vec(), true, false).found_invariant()
    }

    /// The runs without progress from some point on. One that ends is none.
    pub fn without_progress(marking: Marking) -> Claim {
        let np = Formula::Prop(PropId(0));
        let formula = Formula::Eventually(Box::new(Formula::Always(Box::new(np))));
        let claim = Claim::accepting(&formula, &[Expr::NonProgress], marking, false, Limits::default());
        claim.expect("two states are few").invariant(true)
    }

    /// The runs that a `never` claim of this system says there are none of.
    pub fn never(claim: &Proctype, system: &System) -> Result<Claim, Refused> {
        never::read(claim, system)
    }

    /// The runs that pass accept labels of processes for ever.
    pub fn accept_labels() -> Claim {
        let mut guards = Guards::new();
        let here = guards.column(0);
        let elsewhere = guards.not(here);
        let at = |guard, marks| Transition { target: StateId(0), marks, guard };
        let automaton = Automaton {
            props: vec![PropId(0)],
            guards,
            initial: vec![StateId(0)],
            states: vec![vec![at(here, Marks::all(1)), at(elsewhere, Marks(0))]],
            n_marks: 1,
        };
        Claim::new(automaton, vec![Expr::Accepting], true, true)
    }

    fn accepting(
        formula: &Formula,
        props: &[Expr],
        marking: Marking,
        stutters: bool,
        limits: Limits,
    ) -> Result<Claim, TooLarge> {
        let automaton = match marking {
            Marking::Generalised => spinor_ltl::automaton(formula, limits)?,
            Marking::States => spinor_ltl::buchi_automaton(formula, limits)?,
        };
        let looked = automaton.props.iter().map(|prop| props[prop.0 as usize].clone()).collect();
        // A proposition that the automaton does not look at makes no difference.
        let column = |p: &PropId| automaton.props.iter().position(|prop| prop == p).map(|n| n as u32);
        let parts = spinor_ltl::parts(formula).iter().map(|part| part.iter().filter_map(column).collect()).collect();
        debug_assert!(marking != Marking::States || automaton.is_state_based(), "marks are where they are wanted");
        Ok(Claim::new(automaton, looked, stutters, false).with_parts(parts))
    }

    /// Finds out whether the automaton sees how long a run stays in a state.
    fn found_invariant(self) -> Claim {
        if self.sees_steps {
            return self; // not known: it is asked of formulas only (`as_states`)
        }
        let limits = Limits { states: 2_000, transitions: 20_000, steps: 5_000_000, ..Limits::default() };
        let found = spinor_ltl::is_automaton_stutter_invariant(&self.automaton, limits);
        self.invariant(found.unwrap_or(false))
    }

    fn invariant(self, stutter_invariant: bool) -> Claim {
        Claim { stutter_invariant, ..self }
    }

    /// The same in a form in which it is plain that repetitions make no difference (`ltl/stutter_form`), with one mark at
    /// most, and at states. Nothing if it is too large, or if they make one.
    pub fn in_stutter_form(&self) -> Option<Claim> {
        if !self.stutter_invariant || self.sees_steps {
            return None;
        }
        let form = spinor_ltl::stutter_form(&spinor_ltl::degeneralise(&self.automaton))?;
        let form = if form.n_marks == 0 { form } else { marked_states(&form) };
        let expr = |prop: &PropId| self.automaton.props.iter().position(|p| p == prop).map(|n| self.looked[n].clone());
        let looked = form.props.iter().map(expr).collect::<Option<Vec<Expr>>>()?;
        let column = |c: &u32| {
            let prop = self.automaton.props[*c as usize];
            form.props.iter().position(|p| *p == prop).map(|n| n as u32)
        };
        let parts = self.parts.iter().map(|part| part.iter().filter_map(column).collect()).collect();
        assert!(form.is_state_based(), "one mark at most, and at states");
        Some(Claim::new(form, looked, self.stutters, true).with_parts(parts))
    }

    /// Once the automaton is there, the run is accepted.
    pub fn settles(&self, state: StateId) -> bool {
        self.settles.get(state.idx()).copied().unwrap_or(false)
    }
}

/// The same formula about states alone, where what happens is told by what changes; nothing if a proposition mixes the two.
///
/// Give each named operation a bit that is turned over by every step in which it happens. Then it happens at a position
/// iff its bit is another one at the next. Every run with operations becomes runs with bits, every run with bits is one of
/// those, and to put in or take out a repeated state there is to put in or take out, here, a step in which nothing
/// happens that is named, and after which all propositions are as before: what a reduction does that lets nothing
/// be left out which is named (`reduce`). So the formula cannot tell such steps iff the one with bits is closed under
/// stuttering, and the formula without operations is itself.
fn as_states(formula: &Formula, props: &[Expr]) -> Option<Formula> {
    let part = |f: &Formula| as_states(f, props).map(Box::new);
    Some(match formula {
        Formula::Prop(p) => match &props[p.0 as usize] {
            Expr::Happens(_) => {
                let now = || Box::new(formula.clone());
                let next = Box::new(Formula::Next(now()));
                Formula::Not(Box::new(Formula::Equivalent(now(), next)))
            }
            e if is_about_steps(e) => return None,
            _ => formula.clone(),
        },
        Formula::True | Formula::False => formula.clone(),
        Formula::Not(a) => Formula::Not(part(a)?),
        Formula::Next(a) => Formula::Next(part(a)?),
        Formula::Always(a) => Formula::Always(part(a)?),
        Formula::Eventually(a) => Formula::Eventually(part(a)?),
        Formula::And(a, b) => Formula::And(part(a)?, part(b)?),
        Formula::Or(a, b) => Formula::Or(part(a)?, part(b)?),
        Formula::Implies(a, b) => Formula::Implies(part(a)?, part(b)?),
        Formula::Equivalent(a, b) => Formula::Equivalent(part(a)?, part(b)?),
        Formula::Until(a, b) => Formula::Until(part(a)?, part(b)?),
        Formula::WeakUntil(a, b) => Formula::WeakUntil(part(a)?, part(b)?),
        Formula::Release(a, b) => Formula::Release(part(a)?, part(b)?),
    })
}

/// The mark of a transition is that of the state it leads to: each state twice. What can be read from both is the same, so
/// a run passes a marked state, at least, whenever it takes a marked transition into a letter that it has not just read.
fn marked_states(one: &Automaton) -> Automaton {
    let twice = |target: StateId, marked: bool| StateId(2 * target.0 + u32::from(marked));
    let from = |ts: &Vec<Transition>, marks: Marks| -> Vec<Transition> {
        ts.iter()
            .map(|t| Transition { target: twice(t.target, t.marks == Marks::all(1)), marks, guard: t.guard })
            .collect()
    };
    let states = one.states.iter().flat_map(|ts| [from(ts, Marks::NONE), from(ts, Marks::all(1))]).collect();
    let initial = one.initial.iter().map(|s| twice(*s, false)).collect();
    Automaton { props: one.props.clone(), guards: one.guards.clone(), initial, states, n_marks: 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_given_automaton_that_sees_no_repetitions_is_found_to_be_so() {
        let p = || Box::new(Formula::Prop(PropId(0)));
        let later = Formula::Eventually(Box::new(Formula::Always(p())));
        let begins = Formula::Eventually(Box::new(Formula::And(p(), Box::new(Formula::Next(p())))));
        for (formula, invariant) in [(later, true), (Formula::Next(p()), false), (begins, false)] {
            let automaton = spinor_ltl::automaton(&formula, Limits::default()).expect("small");
            for marking in [Marking::Generalised, Marking::States] {
                assert_eq!(Claim::given(&automaton, &[Expr::NrPr], marking).stutter_invariant, invariant);
            }
        }
    }

    /// Where it cannot be decided it is no, and the claim is there all the same.
    #[test]
    fn what_is_not_known_to_be_invariant_is_not() {
        let prop = |n| Box::new(Formula::Prop(PropId(n)));
        let part = |n: u32| {
            let begins = Box::new(Formula::And(Box::new(Formula::Not(prop(n))), Box::new(Formula::Next(prop(n)))));
            Formula::Always(Box::new(Formula::Implies(begins, Box::new(Formula::Eventually(prop(n + 12))))))
        };
        let all = (1..12).fold(part(0), |all, n| Formula::And(Box::new(all), Box::new(part(n))));
        let looked = vec![Expr::NrPr; 24];
        let claim = Claim::against(&all, &looked, Marking::Generalised).expect("a disjunction of small automata");
        assert!(!claim.stutter_invariant && claim.automaton.n_states() < 30);
    }

    #[test]
    fn a_safety_formula_is_settled_and_a_liveness_formula_is_not() {
        let p = || Box::new(Formula::Prop(PropId(0)));
        let looked = [Expr::NrPr];
        for marking in [Marking::Generalised, Marking::States] {
            let settles = |formula: &Formula| {
                let claim = Claim::against(formula, &looked, marking).expect("small");
                (0..claim.automaton.n_states() as u32).any(|s| claim.settles(StateId(s)))
            };
            assert!(settles(&Formula::Always(p())));
            assert!(settles(&Formula::Next(p())));
            assert!(!settles(&Formula::Eventually(p())));
            assert!(!settles(&Formula::Always(Box::new(Formula::Eventually(p())))));
            let claim = Claim::without_progress(marking);
            assert!((0..claim.automaton.n_states() as u32).all(|s| !claim.settles(StateId(s))));
        }
        assert!(!Claim::accept_labels().settles(StateId(0)));
    }
}
