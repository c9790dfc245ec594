//! Accepting cycles by nested depth-first searches of several threads.
//!
//! Source  [ELPP12] Evangelista, Laarman, Petrucci, van de Pol: Improved multi-core nested depth-first search, algorithm 2
//!         (CNDFS).
//! Fits    what `ndfs` fits, and every exact store.
//!
//! # The argument
//!   blue(s)   B1 s is cyan for this thread
//!             B2 for each successor t that is neither blue nor cyan for this thread: blue(t)
//!             B3 s is blue
//!             B4 if s is accepting: red(s), and s is the seed
//!             B5 wait until all accepting states that this red search visited, but for the seed, are red
//!             B6 all states that it visited are red
//!             B7 s is not cyan any more
//!   red(s)    R1 s is pink for this thread
//!             R2 for each successor t:
//!             R3   t is cyan for this thread: it is on a cycle with the seed, report it
//!             R4   t is neither red nor pink for this thread: red(t)
//!   Blue and red are for all threads: what one has been through the others leave out, each going in an order of its
//!   own. Cyan is a thread's path, and pink what its red search has visited; what is pink stays so, for it is red then.
//!
//!   A state becomes blue when a thread has been through all that can be reached from it, but for what is blue
//!   already or cyan. So when a thread is through, all states are blue, and the accepting ones have a red search behind
//!   or before them: all threads go on to their end. A red search may come too early, while another thread is still below
//!   its seed; then it may pass accepting states that are not red yet, and what it has visited must not become red
//!   before they are (B5). So an accepting state becomes red only after a red search that began there and closed no
//!   cycle (B6), and a red search never stops short of a cycle because of another one that was too early. That threads do
//!   not wait for each other in a ring, and the rest of the argument, is section 3 of the paper.
//!
//! # Where we leave the paper
//!   D1 frames instead of recursion; all successors of a state go to the store at once.
//!   D2 no red search from a seed that is red: somebody had it for a seed.
//!   D3 with a limit of depth there are states that nobody will ever make red. Once a thread has met one, nobody waits;
//!      nothing can be said to hold any more, and what is reported is a cycle as before.
//!   D4 no cycle leaves its part, so a red search keeps to the part of its seed; and states of barren parts are on no cycle
//!      that matters, so they have no colours and are visited once (`scout`). A blue search begins at every state that is met
//!      first from a barren one. What the argument says of the states that can be reached from one, it says of those
//!      that can be reached without a barren state between, and a red search sees no others.
//!   D5 of the moves of a state a blue search makes those first that lead to where no thread is: the order is free, and so
//!      two threads go through fewer states twice.
//!   D6 below a state that is on the path of another thread a red search may meet states that nobody has visited, also one
//!      with a move that ends the matter. Then that is found.
//!
//! # Invariants
//!   I1 a state is cyan for a thread exactly while it is on the path of the thread's blue search
//!   I2 between red searches of a thread nothing is on its red path, and what it made pink is red
//!   I3 nobody waits (B5) for its own seed
//!   I4 the moves in `todo` from the uppermost frame's on are those that its state still has to make
//!   I5 what the red search of a thread alone goes through is blue, if nothing was too deep
//!   I6 if nothing is found, and nothing was too deep, each stored state was visited, and once counted
//!
//! # Owed
//!   O1 verdict = oracle, and the lasso is accepted; counts = `ndfs`    tests: random graphs, 1, 2 and 4 threads
//!
//! # Cost  one thread expands each state at most twice, more threads some of them more often, but barren ones once; 43 to
//!   54 bytes for each other state for good, 24 a frame, and 8 for each move not made yet.

use super::crew::{ALONE, Crew};
use super::eyes::Eyes;
use super::fair::Fair;
use super::ndfs::{Nested, Refused, accepts};
use super::scout::{self, Next, Scout, Way};
use super::sets::breath;
use super::{Lasso, Request, Runs, Searched};
use crate::observer::Observer;
use crate::search::held::Held;
use crate::search::{Halt, Stopped, stopped_by};
use spinor_store::{Budget, Cards, Full, Laid, Visited};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::{Arc, Mutex};

/// The words of a card: colours for all; the threads for which it is cyan; those for which it is pink.
const COLOURS: usize = 0;
const CYAN: usize = 1;
const PINK: usize = 2;

const BLUE: u64 = 1;
const RED: u64 = 2;

pub fn search<R: Runs, V: Visited>(
    runs: &R,
    store: &V,
    request: &Request,
    observer: &mut dyn Observer,
) -> Result<Nested, Refused> {
    search_after(ALONE, runs, store, request, observer)
}

/// For a run that is accepted and weakly fair, as `fair::search`.
pub fn search_fair<R: Runs, V: Visited>(
    fair: &Fair<'_, R>,
    store: &V,
    request: &Request,
    observer: &mut dyn Observer,
) -> Result<Nested, Refused> {
    let mut nested = search(fair, store, request, observer)?;
    nested.searched.found = nested.searched.found.map(|lasso| fair.project(&lasso));
    Ok(nested)
}

/// The other threads are called after so many states.
pub(super) fn search_after<R: Runs, V: Visited>(
    alone: u64,
    runs: &R,
    store: &V,
    request: &Request,
    observer: &mut dyn Observer,
) -> Result<Nested, Refused> {
    assert!(V::EXACT, "a state is expanded from its name");
    assert!(!runs.judges(), "what is closed here is a cycle, whoever moves in it");
    if runs.n_marks() > 1 {
        return Err(Refused::ManyMarks(runs.n_marks()));
    }
    let crew = Crew::new(request);
    let cards = match Cards::new(&request.budget) {
        Ok(cards) => cards,
        Err(full) => return Ok(Nested { searched: Searched::none(full, &request.budget), second: 0 }),
    };
    let run = Run { runs, request, cut: AtomicBool::new(false), answer: Mutex::new(None) };
    let at = (&crew, &cards);
    let (mut searched, trails, n_second) = scout::send(alone, (runs, store), at, request, observer, |scout| {
        let mut worker = Worker::new(&run, scout);
        if let Err(End::Answer(answer)) = worker.all() {
            run.answer.lock().expect("nothing panics while it is held").get_or_insert(answer);
            worker.scout.pace.crew.signals.stop(Stopped::Settled);
        }
        worker.n_second
    });
    let second = n_second.iter().sum();
    let answer = run.answer.into_inner().expect("nothing panics while it is held");
    let through = answer.is_none() && searched.stopped.is_none();
    assert!(!through || searched.counters.stored == store.len(), "I6");
    if let Some(answer) = answer {
        let Found { way, stem, cycle } = answer?;
        match scout::stem(&trails, way, &mut Eyes::new(runs, store, &cards)) {
            Ok((initial, mut to_start)) => {
                to_start.extend(stem);
                searched.found = Some(Lasso { initial, stem: to_start, cycle });
                searched.stopped = None;
            }
            Err(full) => searched.stopped = Some(stopped_by(full, &request.budget)),
        }
    }
    Ok(Nested { searched, second })
}

/// What all threads share.
struct Run<'a, R> {
    runs: &'a R,
    request: &'a Request,
    /// A state was too deep (D3).
    cut: AtomicBool,
    answer: Mutex<Option<Answer>>,
}

type Answer = Result<Found, Refused>;

/// The way to where a search began, the moves from there to the cycle, and those of the cycle.
struct Found {
    way: Way,
    stem: Vec<u32>,
    cycle: Vec<u32>,
}

/// Why a thread ends before it is through.
enum End {
    Answer(Answer),
    Halt,
}

impl From<Refused> for End {
    fn from(refused: Refused) -> End {
        End::Answer(Err(refused))
    }
}

impl From<Halt> for End {
    fn from(_: Halt) -> End {
        End::Halt
    }
}

/// A state on the path of one of the searches.
#[derive(Clone, Copy)]
struct Frame {
    state: u32,
    accepting: bool,
    /// Its moves still to be made lie in `todo` from here to the next frame's, the next one last.
    todo: usize,
    n_moves: u32,
    /// The move made last.
    nth: u32,
}

struct Path {
    frames: Held<Frame>,
    /// The state after a move, and the move's number.
    todo: Held<(u32, u32)>,
}

impl Path {
    fn new(budget: &Arc<Budget>) -> Path {
        Path { frames: Held::new(budget), todo: Held::new(budget) }
    }

    fn push(&mut self, frame: Frame, moves: impl Iterator<Item = (u32, u32)>) -> Result<(), Full> {
        let todo = self.todo.len();
        for one in moves {
            self.todo.push(one)?;
        }
        self.frames.push(Frame { todo, ..frame })
    }

    /// Makes the next move of the uppermost state, if it has one left.
    fn follow(&mut self) -> Option<u32> {
        let frame = self.frames.last_mut()?;
        debug_assert!((frame.todo..=frame.todo + frame.n_moves as usize).contains(&self.todo.len()), "I4");
        if self.todo.len() == frame.todo {
            return None;
        }
        let (to, nth) = self.todo.pop()?;
        frame.nth = nth;
        Some(to)
    }

    /// Lets a move to a state where nobody is be the next, if there is one.
    fn prefer(&mut self, nobody_at: impl Fn(u32) -> bool) {
        let Some(frame) = self.frames.last() else { return };
        let left = &mut self.todo[frame.todo..];
        if let Some(at) = left.iter().rposition(|(to, _)| nobody_at(*to)) {
            let last = left.len() - 1;
            left.swap(at, last);
        }
    }

    fn moves(&self) -> Vec<u32> {
        self.frames.iter().map(|frame| frame.nth).collect()
    }
}

struct Worker<'r, 's, 'a, 'w, R: Runs, V: Visited> {
    run: &'r Run<'r, R>,
    me: u64,
    scout: &'s mut Scout<'a, 'w, R, V>,
    path: Path,
    /// The path of the red search, from the seed.
    nested: Path,
    /// What the red search has visited; and the accepting ones among them, but for the seed.
    pinks: Held<u32>,
    awaited: Vec<u32>,
    n_second: u64,
}

fn has(laid: Laid<'_>, n: u32, word: usize, bits: u64) -> bool {
    laid.card(n)[word].load(SeqCst) & bits != 0
}

impl<'r, 's, 'a, 'w, R: Runs, V: Visited> Worker<'r, 's, 'a, 'w, R, V> {
    fn new(run: &'r Run<'r, R>, scout: &'s mut Scout<'a, 'w, R, V>) -> Self {
        let budget = &run.request.budget;
        Worker {
            run,
            me: 1 << scout.number,
            scout,
            path: Path::new(budget),
            nested: Path::new(budget),
            pinks: Held::new(budget),
            awaited: Vec::new(),
            n_second: 0,
        }
    }

    fn all(&mut self) -> Result<(), End> {
        self.scout.begin()?;
        loop {
            match self.scout.next()? {
                Next::Search(start) => self.from(start.state)?,
                Next::Ends(way) => return Err(End::Answer(Ok(Found { way, stem: Vec::new(), cycle: Vec::new() }))),
                Next::Nothing => return Ok(()),
            }
        }
    }

    /// The blue search.
    fn from(&mut self, start: u32) -> Result<(), End> {
        if !has(self.scout.eyes.cards.laid(), start, COLOURS, BLUE) {
            self.enter(start)?;
        }
        debug_assert!(self.nested.frames.is_empty() && self.path.frames.len() <= 1, "I1, I2");
        while let Some(&Frame { state, accepting, n_moves, .. }) = self.path.frames.last() {
            let laid = self.scout.eyes.cards.laid();
            if self.scout.pace.crew.jobs > 1 {
                let free = |to| laid.card(to)[COLOURS].load(Relaxed) | laid.card(to)[CYAN].load(Relaxed) == 0;
                self.path.prefer(free); // D5
            }
            if let Some(to) = self.path.follow() {
                if !has(laid, to, COLOURS, BLUE) && !has(laid, to, CYAN, self.me) {
                    self.enter(to)?; // B2
                }
                continue;
            }
            breath();
            let before = laid.card(state)[COLOURS].fetch_or(BLUE, SeqCst); // B3
            breath();
            if before & BLUE == 0 {
                self.scout.pace.counters.stored += 1;
                self.scout.pace.counters.transitions += u64::from(n_moves);
            }
            if accepting && before & RED == 0 {
                self.cycle_from(state)?; // B4, D2
            }
            let before = self.scout.eyes.cards.laid().card(state)[CYAN].fetch_and(!self.me, Relaxed); // B7
            debug_assert!(before & self.me != 0, "I1");
            self.path.frames.pop();
            self.scout.pace.crew.signals.go_on()?;
        }
        debug_assert!(self.path.todo.is_empty(), "no move is left");
        Ok(())
    }

    /// B1
    fn enter(&mut self, state: u32) -> Result<(), End> {
        let depth = self.scout.start.depth + self.path.frames.len() as u64;
        if self.scout.pace.too_deep(depth) {
            self.scout.pace.cut = true;
            self.run.cut.store(true, SeqCst);
            return Ok(());
        }
        // Before it is looked at: what is met from there may be taken by others at once, and a way to it be asked for.
        let before = self.scout.eyes.cards.laid().card(state)[CYAN].fetch_or(self.me, Relaxed);
        debug_assert!(before & self.me == 0, "I1");
        let frame = self.expand(state, depth)?;
        let me = self.me;
        self.scout.eyes.keep(|laid, to| !has(laid, to, COLOURS, BLUE) && !has(laid, to, CYAN, me));
        let eyes = &self.scout.eyes;
        let order = eyes.order(state, self.scout.number);
        let pushed = self.path.push(frame, order.map(|nth| (eyes.numbers[nth], nth as u32)));
        pushed.map_err(|full| self.scout.pace.full(full))?;
        if let Some(nth) = self.scout.eyes.moves.ends {
            self.path.frames.last_mut().expect("just pushed").nth = nth;
            return Err(End::Answer(Ok(Found {
                way: self.scout.start.way,
                stem: self.path.moves(),
                cycle: Vec::new(),
            })));
        }
        Ok(())
    }

    /// The moves of a state.
    fn expand(&mut self, state: u32, depth: u64) -> Result<Frame, End> {
        self.scout.look(state, depth)?;
        let moves = &self.scout.eyes.moves;
        let (accepting, n_moves) = (accepts(moves, self.run.runs.n_marks())?, moves.all.len() as u32);
        Ok(Frame { state, accepting, todo: 0, n_moves, nth: 0 })
    }

    /// The red search.
    fn cycle_from(&mut self, seed: u32) -> Result<(), End> {
        debug_assert!(self.nested.frames.is_empty() && self.nested.todo.is_empty(), "I2");
        debug_assert!(self.pinks.is_empty() && self.awaited.is_empty(), "I2");
        self.enter_nested(seed, seed)?;
        while !self.nested.frames.is_empty() {
            let Some(to) = self.nested.follow() else {
                self.nested.frames.pop();
                continue;
            };
            let laid = self.scout.eyes.cards.laid();
            if has(laid, to, CYAN, self.me) {
                return Err(End::Answer(Ok(self.lasso(to)))); // R3
            }
            if !has(laid, to, COLOURS, RED) && !has(laid, to, PINK, self.me) {
                self.enter_nested(to, seed)?; // R4
            }
        }
        debug_assert!(self.pinks.first() == Some(&seed) && self.nested.todo.is_empty(), "I3, I4");
        breath();
        self.wait()?; // B5
        let laid = self.scout.eyes.cards.laid();
        for pink in self.pinks.iter() {
            laid.card(*pink)[COLOURS].fetch_or(RED, SeqCst); // B6
            breath();
        }
        self.pinks.truncate(0);
        Ok(())
    }

    fn is_blue(&mut self, state: u32) -> bool {
        has(self.scout.eyes.cards.laid(), state, COLOURS, BLUE)
    }

    /// R1
    fn enter_nested(&mut self, state: u32, seed: u32) -> Result<(), End> {
        self.scout.eyes.cards.laid().card(state)[PINK].fetch_or(self.me, Relaxed); // as above
        debug_assert!(self.scout.pace.crew.jobs > 1 || self.run.cut.load(Relaxed) || self.is_blue(state), "I5");
        let frame = self.expand(state, 0)?;
        if frame.accepting && state != seed {
            self.awaited.push(state);
        }
        self.n_second += u64::from(frame.n_moves);
        let me = self.me;
        self.scout
            .eyes
            .keep(|laid, to| !has(laid, to, COLOURS, RED) && !has(laid, to, PINK, me) || has(laid, to, CYAN, me));
        let eyes = &self.scout.eyes;
        let part = eyes.runs.part(&eyes.key).number;
        let inside = |nth: &usize| eyes.runs.part(eyes.moves.key(*nth)).number == part; // D4
        let order = eyes.order(state, self.scout.number).filter(inside);
        let pushed = self.nested.push(frame, order.map(|nth| (eyes.numbers[nth], nth as u32)));
        pushed.and_then(|()| self.pinks.push(state)).map_err(|full| self.scout.pace.full(full))?;
        if let Some(nth) = self.scout.eyes.moves.ends {
            self.nested.frames.last_mut().expect("just pushed").nth = nth;
            let mut stem = self.path.moves();
            stem.pop(); // of the seed, which both paths have
            stem.extend(self.nested.moves());
            return Err(End::Answer(Ok(Found { way: self.scout.start.way, stem, cycle: Vec::new() }))); // D6
        }
        Ok(())
    }

    /// For the accepting states that other threads have to make red.
    fn wait(&mut self) -> Result<(), Halt> {
        while let Some(state) = self.awaited.pop() {
            // The seed would wait for itself.
            debug_assert!(self.pinks.first() != Some(&state), "I3");
            while !has(self.scout.eyes.cards.laid(), state, COLOURS, RED) && !self.run.cut.load(SeqCst) {
                self.scout.eyes.cards.rest();
                self.scout.pace.look()?;
                self.scout.pace.crew.patience();
            }
        }
        Ok(())
    }

    /// Along the path to where the cycle closes, on to the seed, and along the red search's path back.
    fn lasso(&self, closes: u32) -> Found {
        let at = self.path.frames.iter().position(|frame| frame.state == closes).expect("I1");
        let mut stem = self.path.moves();
        stem.pop(); // of the seed, whose moves were all made
        let (seed, red) = (self.path.frames.last(), self.nested.frames.first());
        assert_eq!(seed.map(|f| f.state), red.map(|f| f.state), "the seed is the last state of the path");
        let mut cycle = stem.split_off(at);
        cycle.extend(self.nested.moves());
        Found { way: self.scout.start.way, stem, cycle }
    }
}
