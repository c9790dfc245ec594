//! A form of an automaton in which it is plain that repetitions make no difference: the one for which partial order
//! reduction on the fly is proved (Siegel, CAV 2019, who shows that an arbitrary automaton of a property that is
//! stutter invariant does not do).
//!
//! # What is guaranteed
//!   F1 the form accepts the same words, if what the automaton accepts is stutter invariant
//!   F2 whatever letter leads into a state can be read there again: the state has a loop for it, and the marks of
//!      the loop are among those of the transition that led there
//!   F3 that loop is the only transition for that letter: where the automaton is, and which marks it has seen, never depends
//!      on how often a letter was repeated
//!
//! # The argument
//!   A *letter* is a set of valuations that no guard tells apart. A state `(q, a)` knows the letter `a` that was read
//!   last, and `q` is where the automaton is after reading `a` some number of times. For another letter `b` it goes to
//!   every `(r, b)` such that the automaton comes from `q` to `r` by `b`, or `bb`, or `bbb` and so on, with the
//!   marks of all of these steps. For `a` it stays; if the automaton can go from `q` to `q` by letters `a`, the loop has
//!   the marks that it can see on the way, and all entries to `(q, a)` have them too, because they may go
//!   that way before they arrive.
//!   A run of the automaton over blocks of equal letters is a run of the form: enter where the block ends. If the
//!   last block never ends, the automaton goes round for ever by one letter with all marks at some `q` in the end, which
//!   the form may enter at once. A run of the form is one of the automaton over a word that differs in repetitions
//!   alone, so the word is accepted if the property is stutter invariant.
//!
//!   F2 and F3 survive when
//!   Q1 useless states go
//!   Q2 marks go from all transitions into a component that accepts nothing
//!   Q3 states with the same transitions become one (not states that simulate each other: one of them may lack the
//!      loop for a letter that leads to the other)
//!   Q4 a transition goes because there is a better one for the same valuations; a loop of F3 has no rival.
//!
//! # Owed
//!   O1 F1    tests: formulas without `X` and automata that are stutter invariant, by products and on lassos
//!   O2 F2, F3    always on, at the end: `is_stutter_form`
//!
//! # Cost  states times letters, and letters squared transitions for each; gives up above `MOST_STATES`.

use crate::automaton::{Automaton, Marks, StateId, Transition};
use crate::effort::Effort;
use crate::graph::Components;
use crate::guards::{Guard, Guards};
use crate::hash::QuickMap;
use crate::product::is_empty;
use crate::reduce::{Sccs, prune, reduce_within};
use crate::simulation::{Order, bisimulation};

const MOST_LETTERS: usize = 1 << 9;
const MOST_STATES: usize = 1 << 13;
const MOST_TRANSITIONS: usize = 1 << 18;
/// Transitions of a form that is looked at more often in debug builds.
const MOST_CHECKED: usize = 1 << 10;

/// See the module. Nothing if the form is too large.
pub fn stutter_form(automaton: &Automaton) -> Option<Automaton> {
    let effort = &mut Effort::usual();
    let mut a = reduce_within(automaton, effort);
    if is_stutter_form(&a) {
        return Some(a);
    }
    if a.n_marks == 0 {
        // To stay for ever by a loop that the automaton lacks is no acceptance.
        a.n_marks = 1;
        a.states.iter_mut().flatten().for_each(|t| t.marks = Marks::all(1));
    }
    let letters = letters(&mut a)?;
    let by_letter: Vec<Repeated> = letters.iter().map(|&l| Repeated::new(&mut a, l)).collect();
    let mut form = Unfolding { a: &a, letters: &letters, by_letter: &by_letter }.run()?;
    debug_assert!(form.n_transitions() > MOST_CHECKED || is_stutter_form(&form), "F2, F3");
    debug_assert_eq!(is_empty(&form), is_empty(&a), "F1: a word is accepted with some repetitions, or with none");
    shrink(&mut form, effort);
    form.compact();
    debug_assert!(form.n_transitions() > MOST_CHECKED || is_stutter_form(&form), "F2 and F3 survive");
    debug_assert_eq!(is_empty(&form), is_empty(&a), "F1: a word is accepted with some repetitions, or with none");
    is_stutter_form(&form).then_some(form)
}

/// F2 and F3 of any automaton.
pub fn is_stutter_form(automaton: &Automaton) -> bool {
    let mut guards = automaton.guards.clone();
    let mut entries: Vec<Vec<(usize, Transition)>> = vec![Vec::new(); automaton.n_states()];
    for (s, ts) in automaton.states.iter().enumerate() {
        for t in ts {
            entries[t.target.idx()].push((s, *t));
        }
    }
    automaton.states.iter().enumerate().all(|(s, ts)| {
        let (mut read, mut loops) = (Guard::FALSE, Guard::FALSE);
        for (_, t) in &entries[s] {
            read = guards.or(read, t.guard);
        }
        let mut only = true;
        for t in ts {
            let again = guards.and(t.guard, read);
            if t.target.idx() == s {
                only &= guards.and(loops, again) == Guard::FALSE;
                loops = guards.or(loops, again);
            } else {
                only &= again == Guard::FALSE;
            }
        }
        let keeps = |(from, entry): &(usize, Transition)| {
            let mut own = ts.iter().filter(|t| t.target.idx() == s);
            *from == s || own.all(|t| t.marks.within(entry.marks) || guards.and(t.guard, entry.guard) == Guard::FALSE)
        };
        only && loops == read && entries[s].iter().all(keeps)
    })
}

/// The sets of valuations that no guard tells apart.
fn letters(a: &mut Automaton) -> Option<Vec<Guard>> {
    let mut used: Vec<Guard> = a.states.iter().flatten().map(|t| t.guard).collect();
    used.sort_unstable();
    used.dedup();
    let mut letters = vec![Guard::TRUE];
    for guard in used {
        let mut finer = Vec::new();
        for letter in letters {
            let (with, without) = (a.guards.and(letter, guard), a.guards.minus(letter, guard));
            finer.extend([with, without].into_iter().filter(|&l| l != Guard::FALSE));
        }
        letters = finer;
        if letters.len() > MOST_LETTERS {
            return None;
        }
    }
    debug_assert!(are_apart(a.guards.clone(), &letters), "a valuation is of one letter");
    Some(letters)
}

/// The guards are those of a copy: what is done for checks is no work.
fn are_apart(mut guards: Guards, letters: &[Guard]) -> bool {
    let mut left = Guard::TRUE;
    let is_apart = |letter: &Guard| {
        let all = left;
        left = guards.minus(left, *letter);
        guards.or(left, *letter) == all
    };
    letters.iter().all(is_apart) && left == Guard::FALSE
}

/// What the automaton does by one letter, read over and over.
struct Repeated {
    /// For each state, where it goes at once.
    steps: Vec<Vec<(usize, Marks)>>,
    /// For each state, the marks on the ways from it to it.
    round: Vec<Marks>,
}

impl Repeated {
    fn new(a: &mut Automaton, letter: Guard) -> Repeated {
        let guards = &mut a.guards;
        let mut enabled = |t: &Transition| guards.and(letter, t.guard) != Guard::FALSE;
        let mut steps: Vec<Vec<(usize, Marks)>> = Vec::with_capacity(a.states.len());
        for ts in &a.states {
            steps.push(ts.iter().filter(|t| enabled(t)).map(|t| (t.target.idx(), t.marks)).collect());
        }
        let n = steps.len();
        let components = Components::new(n, 0..n, |s, k| steps[s].get(k).map(|step| step.0));
        let mut inside = vec![Marks::NONE; components.n];
        for (s, steps) in steps.iter().enumerate() {
            for (_, marks) in steps.iter().filter(|step| components.of[step.0] == components.of[s]) {
                let known = &mut inside[components.of[s] as usize];
                *known = known.union(*marks);
            }
        }
        let round = components.of.iter().map(|&c| inside[c as usize]).collect();
        Repeated { steps, round }
    }

    /// Where it can be after reading the letter once or more, with the marks: the largest sets for each state.
    fn from(&self, states: &[usize]) -> Vec<(usize, Marks)> {
        let mut reached: Vec<Vec<Marks>> = vec![Vec::new(); self.steps.len()];
        let mut todo: Vec<(usize, Marks)> = states.iter().map(|&s| (s, Marks::NONE)).collect();
        while let Some((from, seen)) = todo.pop() {
            for &(to, marks) in &self.steps[from] {
                let marks = seen.union(marks).union(self.round[to]);
                let known = &mut reached[to];
                if !known.iter().any(|k| marks.within(*k)) {
                    known.retain(|k| !k.within(marks));
                    known.push(marks);
                    todo.push((to, marks));
                }
            }
        }
        reached.iter().enumerate().flat_map(|(s, all)| all.iter().map(move |&m| (s, m))).collect()
    }
}

struct Unfolding<'a> {
    a: &'a Automaton,
    letters: &'a [Guard],
    by_letter: &'a [Repeated],
}

impl Unfolding<'_> {
    fn run(&self) -> Option<Automaton> {
        // A state of the automaton and a letter; nothing has been read in the first.
        let mut known: Vec<Option<(usize, usize)>> = vec![None];
        let mut numbers: QuickMap<(usize, usize), StateId> = QuickMap::default();
        let mut reached: QuickMap<(usize, usize), Vec<(usize, Marks)>> = QuickMap::default();
        let mut states: Vec<Vec<Transition>> = Vec::new();
        let mut n_transitions = 0;
        let initial: Vec<usize> = self.a.initial.iter().map(|s| s.idx()).collect();
        while let Some(&here) = known.get(states.len()) {
            let mut transitions = Vec::new();
            for (l, &guard) in self.letters.iter().enumerate() {
                let targets = match here {
                    Some((q, last)) if last == l => {
                        let marks = self.by_letter[l].round[q];
                        transitions.push(Transition { target: StateId(states.len() as u32), marks, guard });
                        continue;
                    }
                    Some((q, _)) => &*reached.entry((q, l)).or_insert_with(|| self.by_letter[l].from(&[q])),
                    None => &self.by_letter[l].from(&initial),
                };
                for &(q, marks) in targets {
                    let target = *numbers.entry((q, l)).or_insert_with(|| {
                        known.push(Some((q, l)));
                        StateId(known.len() as u32 - 1)
                    });
                    transitions.push(Transition { target, marks, guard });
                }
            }
            n_transitions += transitions.len();
            if known.len() > MOST_STATES || n_transitions > MOST_TRANSITIONS {
                return None;
            }
            states.push(transitions);
        }
        let (props, guards) = (self.a.props.clone(), self.a.guards.clone());
        let mut form = Automaton { props, guards, initial: vec![StateId(0)], states, n_marks: self.a.n_marks };
        form.restrict(|_| true);
        Some(form)
    }
}

fn shrink(form: &mut Automaton, effort: &mut Effort) {
    loop {
        let before = (form.n_states(), form.n_transitions());
        prune(form); // Q1
        unmark(form);
        let within = bisimulation(form, effort); // Q3
        if !within || drop_worse(form, effort).is_none() || (form.n_states(), form.n_transitions()) == before {
            break;
        }
    }
    prune(form);
    unmark(form);
}

/// Q2
fn unmark(form: &mut Automaton) {
    let sccs = Sccs::new(form);
    let accepting = |s: StateId| sccs.is_accepting(sccs.of[s.idx()]);
    for ts in &mut form.states {
        for t in ts.iter_mut().filter(|t| !accepting(t.target)) {
            t.marks = Marks::NONE;
        }
        Automaton::join(&mut form.guards, ts);
    }
}

/// Q4
fn drop_worse(form: &mut Automaton, effort: &mut Effort) -> Option<()> {
    let order = Order::largest(&mut form.guards, &form.states, |_, _| true, effort)?;
    for ts in &mut form.states {
        let all = ts.clone();
        let at_least =
            |x: &Transition, y: &Transition| x.marks.within(y.marks) && order.is(x.target.idx(), y.target.idx());
        for (n, t) in ts.iter_mut().enumerate() {
            // Of equals the first stays.
            let better =
                |&(m, y): &(usize, &Transition)| m != n && at_least(&all[n], y) && (m < n || !at_least(y, &all[n]));
            for (_, y) in all.iter().enumerate().filter(better) {
                t.guard = form.guards.minus(t.guard, y.guard);
            }
        }
    }
    form.restrict(|_| true);
    Some(())
}
