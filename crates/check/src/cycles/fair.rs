//! Weak fairness put into the states: an accepted run of these is a fair and accepted run of those below.
//!
//! Source  [Bosnacki-POR] figures 4 and 5 (`By::Flags`); [Bosnacki-SYM] figure 3, in its figure 4 (`By::Copies`).
//! Fits    what `ndfs` fits; weak fairness.
//!
//! Both figures are a nested search and the states it runs through, written as one. Here they are apart: `Fair` is the
//! states, and `ndfs` runs through them. A state gets a stage that says for whom it waits.
//! N is `n_pids` and is given: the processes are 0 to N−1, and a move or an ability of another is our bug. A
//! process is disabled where it is not `able`; one that has not begun or has ended is so, and is not waited for.
//! "Accepting" is what `ndfs` says about the state below.
//!
//! # The argument: flags
//!   A state is (s, A, C). When it is left,
//!     R1 s is accepting and A = 0:  A becomes 1 and C becomes N+1
//!     R3 otherwise, if C = 1:       A and C become 0
//!     R2 if A = 1 and C = i+2:      moves of process i go on with C−1; if i is disabled here, there is a default
//!                                   move, of nobody, to (s, A, C−1)
//!   and all other moves go on with A and C as they are. Accepting is what arrived with A = 1 and C = 1.
//!   After such a state A is 0. Before the next an accepting s was left, and since then each process moved or
//!   was disabled, N−1 first, 0 last: a cycle through such a state is accepted and fair below. And a run that is
//!   accepted and fair below can always go on to the next such state, by taking the default move where it can.
//!
//! # The argument: copies
//!   A state is (s, C).
//!     E0 C = 0 and s is accepting: the only move is a default move to (s, 1)
//!     Ei C = i+1:                  moves of process i go on to copy C+1, or 0 after N; if i is disabled here,
//!                                  there is a default move, to s in that copy
//!   and all other moves stay in their copy. Accepting is what E0 is for. From there back to copy 0 each process moved
//!   or was disabled, 0 first.
//!
//! # Where we leave the papers
//!   Flags:
//!   D1 only moves of process i take C−1 with them. The figure decreases C before process i is looked at and leaves
//!      it so for all that come after it, whose moves then count as i's.
//!   D2 a disabled i is a move of its own, as the prose says. In the figure the decrease is there only for those who
//!      happen to come after i.
//!   D3 R3 whenever R1 does not apply, as the prose says. The figure keeps A = 1 and C = 1 in accepting states: then
//!      one lap counts for all that follow.
//!   D4 second searches start where A = 1 and C = 1 arrived. The figure looks at A and C after its loop, where C has
//!      come down to 1 whoever moved.
//!   Copies:
//!   D5 in an accepting state where nobody is able the lap is over as it begins: instead of E0 it has the moves of s,
//!      into copy 0. By the figure the default moves alone would lead round and be a cycle, of a run that stands still.
//!   Both:
//!   D6 the order of the moves is that below, and the default move is last: a move keeps its number. The figures go
//!      through the processes, N−1 to 0 or 1 to N, and have the default move in its process's place.
//!   D7 processes are numbered from 0; copy C waits for process C−1.
//!   D8 moves of nobody (the automaton's alone) change no stage; the papers have none.
//!   D9 without symmetry: h of [Bosnacki-SYM] is the identity.
//!   D10 the stage is part of the key, not of an array of bits beside the state. Each state below lies under one
//!      stored state or more, and each stored state over one that can be reached: the states below are
//!      the stored keys without their ends (`original`).
//!   D11 a move that ends the matter is taken in any stage; it keeps its number.
//!   D12 where moves are left out below, those below may be told who is waited for, and a default move may be the only one
//!      (`reduce/repairs`). A lasso then has the numbers of all moves below.
//!
//! # Invariants
//!   I1 with flags A = 0 exactly if C = 0, and C is at most N+1; with copies C is at most N
//!   I2 the moves of a state are those below, or none of them, each in its place, and at most one default move behind
//!   I3 a lasso closes with its stage, and has moves of its own below
//!
//! # Owed
//!   O1 verdict = oracle, the lasso is accepted and fair below   tests: random graphs, both kinds, both targets
//!   O2 components say the same of the unfolded states           tests: `scc` beside it, with its counts
//!   O3 D1 to D4, together; D5                                   tests: flags_as_they_are_printed_find_runs_that_are_not_fair;
//!                                                               nobody_runs_by_default_moves_alone
//!   O4 the states below are those of D10                        tests: random graphs
//!
//! # Cost  N+2 states for one at most with flags, N+1 with copies. Four bytes a key, in the tree store as much as a
//!   grain. A successor's key is written twice, first as it is below.

use super::ndfs::{self, Nested, Nesting, Refused, Target, accepts};
use super::{Lasso, Move, Moves, Pids, Request, Runs};
use crate::observer::Observer;
use crate::stores::WithBits;
use spinor_model::ir::Pid;
use spinor_model::successors::Wish;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum By {
    Flags,
    Copies,
    /// The flags without D1 to D4, as the figures have them, but that a second search looks for the state it began at as it
    /// was when it arrived. Wrong; a test shows it.
    Printed,
}

/// Runs with weak fairness in their states.
pub struct Fair<'a, R> {
    runs: &'a R,
    n_pids: u32,
    everybody: Pids,
    by: By,
    tells: bool,
    eager: bool,
}

/// Nested search for a run that is accepted and weakly fair. The lasso is one of the runs below; what is counted are
/// states and moves of `Fair`, default moves too.
pub fn search<R: Runs, V: WithBits>(
    fair: &Fair<'_, R>,
    store: &V,
    target: Target,
    request: &Request,
    observer: &mut dyn Observer,
) -> Result<Nested, Refused> {
    search_with(fair, store, Nesting::to(target), request, observer)
}

/// The same by a search that has a say in which moves are left out below.
pub fn search_with<R: Runs, V: WithBits>(
    fair: &Fair<'_, R>,
    store: &V,
    way: Nesting,
    request: &Request,
    observer: &mut dyn Observer,
) -> Result<Nested, Refused> {
    let mut nested = ndfs::search_with(fair, store, way, request, observer)?;
    let wish = if way.proviso.is_path() { Wish::ALL } else { Wish::default() };
    nested.searched.found = nested.searched.found.map(|lasso| fair.project_as(&lasso, wish));
    Ok(nested)
}

/// The key of the state below.
pub fn original(key: &[u8]) -> &[u8] {
    split(key).0
}

/// The state below, and the stage.
fn split(key: &[u8]) -> (&[u8], u32) {
    let (state, stage) = key.split_last_chunk().expect("a key of ours");
    (state, u32::from_le_bytes(*stage))
}

fn push(out: &mut Moves, state: &[u8], stage: u32, marks: u64, pid: Option<Pid>) {
    let from = out.keys.len();
    out.keys.extend_from_slice(state);
    out.keys.extend_from_slice(&stage.to_le_bytes());
    out.all.push(Move { to: from..out.keys.len(), marks, pid });
}

/// How a state is left.
struct Turn {
    accepting: bool,
    /// Whether the moves below are moves here.
    moves: bool,
    /// The stage after a move of the others.
    stays: u32,
    /// For whom the state waits, and the stage once he has moved.
    waits: Option<(Pid, u32)>,
    /// Moves of those with lower numbers count as his (without D1).
    falls: bool,
    /// The stage after the default move, if there is one.
    default: Option<u32>,
}

impl Turn {
    fn after(&self, pid: Option<Pid>) -> u32 {
        match self.waits {
            Some((of, stage)) if pid == Some(of) => stage,
            Some((of, stage)) if self.falls && pid.is_some_and(|pid| pid < of) => {
                stage - (u32::from(of - pid.unwrap_or(of)) << 1)
            }
            _ => self.stays,
        }
    }
}

impl<'a, R: Runs> Fair<'a, R> {
    pub fn new(runs: &'a R, n_pids: u32, by: By) -> Fair<'a, R> {
        assert!(n_pids <= u32::from(Pid::MAX) + 1, "{n_pids} processes");
        assert!(!runs.judges(), "who is waited for has one number all the time");
        let mut everybody = Pids::default();
        (0..n_pids).for_each(|pid| everybody.put(pid as Pid));
        Fair { runs, n_pids, everybody, by, tells: false, eager: false }
    }

    /// Those below are told who is waited for; and where there is a default move it is the only one (D12).
    pub fn telling(self, tells: bool, eager: bool) -> Fair<'a, R> {
        Fair { tells, eager, ..self }
    }

    /// The same run below: default moves are dropped.
    pub fn project(&self, lasso: &Lasso) -> Lasso {
        self.project_as(lasso, Wish::default())
    }

    pub(crate) fn project_as(&self, lasso: &Lasso, wish: Wish) -> Lasso {
        let (mut start, mut desk) = (Moves::default(), self.runs.desk());
        self.runs.initial(&mut desk, &mut start);
        let mut at = (start.key(lasso.initial).to_vec(), 0);
        let mut go = |numbers: &[u32], at: &mut (Vec<u8>, u32)| -> Vec<u32> {
            numbers.iter().filter_map(|nth| self.step(&mut desk, at, *nth, wish)).collect()
        };
        let stem = go(&lasso.stem, &mut at);
        let start = at.clone();
        let cycle = go(&lasso.cycle, &mut at);
        assert!(at == start, "I3");
        assert_eq!(cycle.is_empty(), lasso.cycle.is_empty(), "I3");
        Lasso { initial: lasso.initial, stem, cycle }
    }

    /// Makes a move, and says its number below, if it is no default move.
    fn step(&self, desk: &mut R::Desk, at: &mut (Vec<u8>, u32), nth: u32, wish: Wish) -> Option<u32> {
        let (state, stage) = at;
        let mut below = Moves::default();
        let turn = self.below(desk, state, *stage, wish, &mut below);
        let turn = turn.map(|turn| turn.expect("a lasso has no state that is refused"));
        let moves = turn.as_ref().is_none_or(|turn| turn.moves);
        match below.all.get(nth as usize).filter(|_| moves) {
            Some(m) => {
                *stage = turn.map_or(*stage, |turn| turn.after(m.pid)); // D11
                let number = if self.tells {
                    let mut all = Moves::default();
                    self.runs.moves_as(desk, state, Wish::ALL, &mut all);
                    below.number_in(nth, &all)
                } else {
                    nth
                };
                *state = below.key(nth as usize).to_vec();
                Some(number)
            }
            None => {
                assert_eq!(nth as usize, if moves { below.all.len() } else { 0 }, "D6");
                *stage = turn.and_then(|turn| turn.default).expect("a move of this state");
                None
            }
        }
    }

    /// The moves below, and how the state is left; nothing if one of them ends the matter.
    fn below(
        &self,
        desk: &mut R::Desk,
        state: &[u8],
        stage: u32,
        wish: Wish,
        below: &mut Moves,
    ) -> Option<Result<Turn, Refused>> {
        below.clear();
        self.runs.moves_as(desk, state, wish, below);
        if below.ends.is_some() {
            return None;
        }
        let turn = self.turn(stage, below).map(|turn| {
            let alone = self.eager && wish.attempt != Some(0) && turn.default.is_some();
            Turn { moves: turn.moves && !alone, ..turn }
        });
        let waited = turn.as_ref().ok().filter(|turn| turn.moves).and_then(|turn| turn.waits);
        if let Some((pid, _)) = waited.filter(|_| self.tells && below.left_out) {
            below.clear();
            self.runs.moves_as(desk, state, Wish { waited: Some(pid), ..wish }, below);
        }
        Some(turn)
    }

    fn turn(&self, stage: u32, below: &Moves) -> Result<Turn, Refused> {
        let seen = below.all.iter().fold(below.able, |seen, m| seen.union(Pids::of(m.pid)));
        assert!(seen.without(self.everybody).is_empty(), "only {} processes are waited for", self.n_pids);
        debug_assert!(self.is_stage(stage), "I1");
        let accepting = accepts(below, self.runs.n_marks())?;
        let turn = match self.by {
            By::Flags => self.flags(stage, accepting, below.able),
            By::Printed => self.printed(stage, accepting),
            By::Copies => self.copies(stage, accepting, below.able),
        };
        let mut after = [Some(turn.stays), turn.default].into_iter().chain([turn.waits.map(|(_, after)| after)]);
        debug_assert!(after.all(|after| after.is_none_or(|after| self.is_stage(after))), "I1");
        Ok(turn)
    }

    /// I1
    fn is_stage(&self, stage: u32) -> bool {
        match self.by {
            By::Flags | By::Printed => (stage & 1 == 1) == (stage >> 1 > 0) && stage >> 1 <= self.n_pids + 1,
            By::Copies => stage <= self.n_pids,
        }
    }

    fn flags(&self, stage: u32, accepting: bool, able: Pids) -> Turn {
        let arrived = (stage & 1 == 1, stage >> 1);
        let (mut a, mut c) = arrived;
        if accepting && !a {
            (a, c) = (true, self.n_pids + 1); // R1
        } else if c == 1 {
            (a, c) = (false, 0); // R3, D3
        }
        let stage = |c: u32| c << 1 | u32::from(a);
        let waits = (a && c >= 2).then(|| ((c - 2) as Pid, stage(c - 1))); // R2, D1
        let default = waits.filter(|(pid, _)| !able.has(*pid)).map(|(_, stage)| stage); // D2
        let accepting = arrived == (true, 1); // D4
        Turn { accepting, moves: true, stays: stage(c), waits, falls: false, default }
    }

    /// [Bosnacki-POR] figures 4 and 5 to the letter.
    fn printed(&self, stage: u32, accepting: bool) -> Turn {
        let (mut a, mut c) = (stage & 1 == 1, stage >> 1);
        if accepting && !a {
            (a, c) = (true, self.n_pids + 1);
        } else if !accepting && c == 1 {
            (a, c) = (false, 0);
        }
        let stage = |c: u32| c << 1 | u32::from(a);
        let waits = (a && c >= 2).then(|| ((c - 2) as Pid, stage(c - 1)));
        Turn { accepting: a, moves: true, stays: stage(c), waits, falls: true, default: None }
    }

    fn copies(&self, copy: u32, accepting: bool, able: Pids) -> Turn {
        if copy == 0 && accepting {
            let lap = !able.is_empty(); // D5
            let default = lap.then_some(1);
            return Turn { accepting, moves: !lap, stays: 0, waits: None, falls: false, default }; // E0
        }
        let next = (copy + 1) % (self.n_pids + 1);
        let waits = (copy > 0).then(|| ((copy - 1) as Pid, next)); // Ei
        let default = waits.filter(|(pid, _)| !able.has(*pid)).map(|(_, next)| next);
        Turn { accepting: false, moves: true, stays: copy, waits, falls: false, default }
    }
}

impl<R: Runs> Runs for Fair<'_, R> {
    type Desk = (R::Desk, Moves);

    fn desk(&self) -> Self::Desk {
        (self.runs.desk(), Moves::default())
    }

    /// One; if there are more below, as many, so that they are refused.
    fn n_marks(&self) -> u32 {
        self.runs.n_marks().max(1)
    }

    fn initial(&self, (desk, below): &mut Self::Desk, out: &mut Moves) {
        below.clear();
        self.runs.initial(desk, below);
        (0..below.all.len()).for_each(|n| push(out, below.key(n), 0, 0, None));
    }

    fn moves(&self, desk: &mut Self::Desk, key: &[u8], out: &mut Moves) {
        self.moves_as(desk, key, Wish::default(), out);
    }

    fn moves_as(&self, (desk, below): &mut Self::Desk, key: &[u8], wish: Wish, out: &mut Moves) {
        debug_assert!(out.all.is_empty(), "the moves of one state at a time");
        let (state, stage) = split(key);
        let turn = self.below(desk, state, stage, wish, below);
        (out.able, out.blind) = (below.able, below.blind);
        out.left_out = below.left_out;
        if let Some(nth) = below.ends {
            // D11
            (0..=nth as usize).for_each(|n| push(out, below.key(n), stage, 0, below.all[n].pid));
            out.ends = Some(nth);
            return;
        }
        let Some(Ok(turn)) = turn else {
            // What would be refused below is refused here: the marks are the same.
            let moves = below.all.iter().enumerate();
            return moves.for_each(|(n, m)| push(out, below.key(n), stage, m.marks, m.pid));
        };
        let marks = u64::from(turn.accepting);
        for (n, m) in below.all.iter().enumerate().filter(|_| turn.moves) {
            debug_assert!(self.is_stage(turn.after(m.pid)), "I1");
            push(out, below.key(n), turn.after(m.pid), marks, m.pid);
        }
        if let Some(stage) = turn.default {
            push(out, state, stage, marks, None);
            debug_assert_ne!(stage, split(key).1, "a default move leads to another stage");
        }
        let n_below = if turn.moves { below.all.len() } else { 0 };
        debug_assert_eq!(out.all.len(), n_below + usize::from(turn.default.is_some()), "I2");
    }
}
