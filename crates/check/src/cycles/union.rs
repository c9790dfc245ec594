//! Components, found depth-first by several threads that share what they know of them.
//!
//! Source  [BLP16] Bloemen, Laarman, van de Pol: Multi-core on-the-fly SCC decomposition, algorithm 3 (UFSCC).
//! Fits    what `scc` fits.
//!
//! # The argument
//!   Each thread goes depth-first, in an order of its own, with a stack of roots as in `scc`; the sets that the roots stand
//!   for are shared (`sets`). A thread that comes to a state
//!     whose set is dead               has nothing to do there
//!     whose set it has entered        has closed a cycle: the sets of its roots, from there up, are one
//!     otherwise                       enters it, also if other threads have: they may be there for a long time
//!   When all moves of a state were followed, each leads into its set or to a dead one, and the state is done: no other thread
//!   needs to follow them. A root that has nothing left to do itself picks a state of its set that is not done,
//!   which some other thread has brought into it, until there is none: then the set is a whole component, and dead.
//!
//!   Sets are united along cycles only, so a set is a part of a component. Its summary has what its states and the moves
//!   inside it say, as far as they are told: who unites tells what it knows of both, and whoever says that a state
//!   is done has told all its moves inside the set. So the summary of a dead set is that of the component. As in `scc`,
//!   what is accepted early stays so, without fairness and with weak fairness: what the rest of the component adds makes
//!   it only more so. With strong fairness it does not, and a set need not be all of what its cycles pass
//!   (D6); so there only whole components are looked at, each by the thread that saw it complete, which takes it apart.
//!
//!   A lasso is made when the threads are done. The thread that found it has a path; where the path goes on from a state
//!   that was picked, the way there from the state before it lies inside a set.
//!
//! # Where we leave the paper
//!   D1 frames instead of recursion.
//!   D2 a state is picked only when the root has nothing left. In the paper every frame picks from the set, also the states
//!      of frames below it, and so follows their moves again. Here a frame whose set goes on below it ends, and the
//!      frame below goes on with what it has left: one thread follows each move once.
//!   D3 roots of one set that lie on each other, because another thread united them, become one when the upper one's frame
//!      ends. (In the paper the upper one would pick.)
//!   D4 a thread that comes back to a frame whose state is done by now drops its moves.
//!   D5 all moves of a state go to the store at once.
//!   D6 a thread that closes a cycle ends as soon as both ends of it are in one set. If others have united them meanwhile,
//!      states between them may be missing from the set until somebody comes by again. Then a run inside the
//!      set may not be found, and one inside the component as far as it is known is looked for.
//!
//! # Invariants
//!   I1 the states of the frames from a root's on are in the set of a root at or above it
//!   I2 a thread whose bit is at a set that is not dead has a root in that set
//!
//! # Owed
//!   O1 verdict = oracle, and the lasso is accepted and fair; counts = `scc`    tests: random graphs, 1, 2 and 4 threads
//!   O2 verdict and counts = `scc` on graphs of some hundred nodes              tests: larger random graphs
//!
//! # Cost  one thread expands each state once, more threads some of them more than once; 43 to 54 bytes a state for good,
//!   24 for one on a path and for each of its moves.

use super::crew::{self, ALONE, Crew, Pace};
use super::eyes::Eyes;
use super::lasso::{Component, find_run};
use super::sets::{Claim, Pick, Sets, View};
use super::{Fairness, Lasso, Pids, Request, Runs, Searched, Summary, all_marks};
use crate::observer::Observer;
use crate::search::held::Held;
use crate::search::{Halt, Stopped};
use spinor_model::ir::Pid;
use spinor_store::{Full, StateId, Visited};
use std::collections::{HashMap, HashSet};
use std::sync::Mutex;

pub fn search<R: Runs, V: Visited>(runs: &R, store: &V, request: &Request, observer: &mut dyn Observer) -> Searched {
    search_after(ALONE, runs, store, request, observer)
}

/// The other threads are called after so many states.
pub(super) fn search_after<R: Runs, V: Visited>(
    alone: u64,
    runs: &R,
    store: &V,
    request: &Request,
    observer: &mut dyn Observer,
) -> Searched {
    assert!(V::EXACT, "a state is expanded from its name");
    let crew = Crew::new(request);
    let sets = match Sets::new(&request.budget, runs.n_marks(), request.fairness) {
        Ok(sets) => sets,
        Err(full) => {
            crew.signals.full(full);
            return crew::searched(&crew, &[], request);
        }
    };
    let run = Run { runs, store, request, sets, crew: &crew, found: Mutex::new(None) };
    let all = crew.work(alone, observer, |n, pace| {
        let mut worker = Worker::new(&run, n, pace);
        if worker.all().is_ok() {
            // Every state is done; the others need not look for themselves.
            run.crew.signals.stop(Stopped::Settled);
        }
        (worker.pace.counters, worker.pace.cut)
    });
    let mut searched = crew::searched(&crew, &all, request);
    searched.counters.stored = store.len();
    if let Some(found) = run.found.lock().expect("nothing panics while it is held").take() {
        match run.lasso(&found) {
            Ok(lasso) => {
                searched.found = Some(lasso);
                searched.stopped = None;
            }
            Err(full) => {
                let late = Crew::new(request);
                late.signals.full(full);
                searched.stopped = late.why();
            }
        }
    }
    searched
}

/// What all threads share.
struct Run<'a, R, V> {
    runs: &'a R,
    store: &'a V,
    request: &'a Request,
    sets: Sets,
    crew: &'a Crew,
    found: Mutex<Option<Found>>,
}

/// Where a thread was when it found something.
struct Found {
    initial: usize,
    legs: Vec<Leg>,
    /// A state of a set that is accepted; none if the last move ends the matter.
    inside: Option<u32>,
}

/// From a state inside its set to another, and on by a move.
struct Leg {
    from: u32,
    to: u32,
    nth: u32,
}

/// A state on the path.
#[derive(Clone, Copy)]
struct Frame {
    state: u32,
    /// The state of its set whose moves are followed; 0 if it was done when it was met.
    at: u32,
    /// The moves of that one still to be made lie in `todo` from here to the next frame's, the next one last.
    todo: usize,
    /// How many it has, and which was made last.
    n_moves: u32,
    nth: u32,
}

#[derive(Clone, Copy)]
struct Todo {
    to: u32,
    nth: u32,
    marks: u64,
    pid: Option<Pid>,
}

struct Root {
    state: u32,
    frame: u32,
    /// What this thread knows of the set.
    own: Summary,
    /// Whether the set knows it, too; until then it is about one state without moves.
    told: bool,
    /// The move that led here.
    marks: u64,
    pid: Option<Pid>,
}

/// Of no state.
fn nothing() -> Summary {
    let nobody = Pids::default();
    Summary { marks: 0, moved: nobody, always: Pids([u64::MAX; 4]), somewhere: nobody }
}

/// One thread's eyes, and its way to the sets.
struct Sight<'a, R: Runs, V: Visited + 'a> {
    eyes: Eyes<'a, R, V>,
    view: View<'a>,
}

impl<R: Runs, V: Visited> Sight<'_, R, V> {
    /// States that can be reached, this one first, up to one that is wanted; with each the place of the one before it and
    /// the number of the move. Those of its set, or, `wide`, all that some thread has entered and that are not dead.
    fn reach(&mut self, from: u32, wanted: Option<u32>, wide: bool) -> Result<Vec<(u32, usize, u32)>, Full> {
        let (mut all, mut seen) = (vec![(from, 0, 0)], HashSet::from([from]));
        let mut at = 0;
        while at < all.len() && all.last().map(|last| last.0) != wanted {
            self.eyes.look(all[at].0)?;
            let laid = self.eyes.cards.laid();
            for (nth, to) in self.eyes.numbers.iter().enumerate() {
                let inside = self.view.same(laid, from, *to) || wide && self.view.is_live(laid, *to);
                if inside && seen.insert(*to) {
                    all.push((*to, at, nth as u32));
                    if wanted == Some(*to) {
                        break;
                    }
                }
            }
            at += 1;
        }
        Ok(all)
    }

    /// A way between two states of a set.
    fn way(&mut self, from: u32, to: u32) -> Result<Vec<u32>, Full> {
        let mut all = self.reach(from, Some(to), false)?;
        if all.last().is_none_or(|last| last.0 != to) {
            all = self.reach(from, Some(to), true)?; // D6
        }
        let (mut way, mut at) = (Vec::new(), all.len() - 1);
        assert_eq!(all[at].0, to, "both are in one component");
        while at != 0 {
            way.push(all[at].2);
            at = all[at].1;
        }
        way.reverse();
        Ok(way)
    }

    /// The set of a state; or, `wide`, its component as far as it is known.
    fn component(&mut self, of: u32, wide: bool) -> Result<Component, Full> {
        let all = self.reach(of, None, wide)?;
        let places: HashMap<u32, usize> = all.iter().enumerate().map(|(at, (n, ..))| (*n, at)).collect();
        let mut before = vec![Vec::new(); all.len()];
        if wide {
            for (at, (n, ..)) in all.iter().enumerate() {
                self.eyes.look(*n)?;
                let inside = self.eyes.numbers.iter().filter_map(|to| places.get(to));
                inside.for_each(|to| before[*to].push(at));
            }
        }
        // What leads back to it.
        let (mut back, mut todo) = (vec![!wide; all.len()], vec![0]);
        back[0] = true;
        while let Some(at) = todo.pop() {
            todo.extend(before[at].iter().filter(|from| !std::mem::replace(&mut back[**from], true)));
        }
        let eyes = &mut self.eyes;
        let members = all.iter().zip(back).filter(|(_, back)| *back);
        let names: Vec<StateId> = members.map(|((n, ..), _)| eyes.cards.laid().name(*n)).collect();
        eyes.cards.rest();
        Component::new(eyes.runs, &mut eyes.desk, eyes.store, &mut eyes.hand, &names)
    }
}

impl<R: Runs, V: Visited> Run<'_, R, V> {
    fn sight(&self, thread: usize) -> Sight<'_, R, V> {
        let eyes = Eyes::new(self.runs, self.store, &self.sets.cards);
        Sight { eyes, view: self.sets.view(self.crew, thread) }
    }

    fn lasso(&self, found: &Found) -> Result<Lasso, Full> {
        let mut sight = self.sight(0);
        let mut stem = Vec::new();
        for leg in &found.legs {
            stem.extend(sight.way(leg.from, leg.to)?);
            stem.push(leg.nth);
        }
        let Some(inside) = found.inside else {
            return Ok(Lasso { initial: found.initial, stem, cycle: Vec::new() });
        };
        let (n_marks, fairness) = (self.runs.n_marks(), self.request.fairness);
        let mut component = sight.component(inside, false)?;
        let mut part = component.accepted_part(n_marks, fairness);
        if part.is_none() {
            component = sight.component(inside, true)?; // D6
            part = component.accepted_part(n_marks, fairness);
        }
        let part = part.expect("it was accepted");
        let (way, cycle) = find_run(&component, &part, 0, n_marks, fairness);
        stem.extend(way);
        Ok(Lasso { initial: found.initial, stem, cycle })
    }
}

struct Worker<'a, 'w, R: Runs, V: Visited> {
    run: &'a Run<'a, R, V>,
    number: usize,
    sight: Sight<'a, R, V>,
    pace: Pace<'a, 'w>,
    frames: Held<Frame>,
    todo: Held<Todo>,
    roots: Held<Root>,
    /// Which of the initial states the path begins at.
    initial: usize,
}

impl<'a, 'w, R: Runs, V: Visited> Worker<'a, 'w, R, V> {
    fn new(run: &'a Run<'a, R, V>, number: usize, pace: Pace<'a, 'w>) -> Self {
        let budget = &run.request.budget;
        Worker {
            run,
            number,
            sight: run.sight(number),
            pace,
            frames: Held::new(budget),
            todo: Held::new(budget),
            roots: Held::new(budget),
            initial: 0,
        }
    }

    fn all(&mut self) -> Result<(), Halt> {
        let put = self.sight.eyes.start();
        put.map_err(|full| self.pace.full(full))?;
        let start = self.sight.eyes.numbers.clone();
        if self.number == 0 {
            self.pace.counters.transitions += start.len() as u64;
        }
        for n in 0..start.len() {
            let n = (n + self.number) % start.len();
            self.initial = n;
            self.follow(start[n], 0, None)?;
            self.walk()?;
        }
        Ok(())
    }

    /// Until nothing is left of the path.
    fn walk(&mut self) -> Result<(), Halt> {
        while let Some(frame) = self.frames.last_mut() {
            if self.todo.len() == frame.todo {
                self.leave()?;
                continue;
            }
            let Some(Todo { to, nth, marks, pid }) = self.todo.pop() else { break };
            frame.nth = nth;
            self.follow(to, marks, pid)?;
        }
        Ok(())
    }

    /// A move to a state.
    #[inline]
    fn follow(&mut self, to: u32, marks: u64, pid: Option<Pid>) -> Result<(), Halt> {
        let deep = self.pace.too_deep(self.frames.len() as u64);
        match self.sight.view.claim(self.sight.eyes.cards.laid(), to, !deep) {
            Claim::Dead => {}
            Claim::Found => self.close(to, marks, pid)?,
            Claim::Entered => self.enter(to, marks, pid)?,
            Claim::New => {
                self.pace.counters.stored += 1;
                self.enter(to, marks, pid)?;
            }
            Claim::Refused => self.pace.cut = true,
        }
        Ok(())
    }

    /// A frame for a state of a set that this thread was not in.
    fn enter(&mut self, state: u32, marks: u64, pid: Option<Pid>) -> Result<(), Halt> {
        let frame = Frame { state, at: 0, todo: self.todo.len(), n_moves: 0, nth: 0 };
        let root = Root { state, frame: self.frames.len() as u32, own: nothing(), told: false, marks, pid };
        let pushed = self.frames.push(frame).and_then(|()| self.roots.push(root));
        pushed.map_err(|full| self.pace.full(full))?;
        if self.sight.view.is_done(self.sight.eyes.cards.laid(), state) { Ok(()) } else { self.expand(state) }
    }

    /// The uppermost frame is the uppermost root's, and goes on with the moves of this state of its set.
    fn expand(&mut self, n: u32) -> Result<(), Halt> {
        let eyes = &mut self.sight.eyes;
        eyes.look(n).map_err(|full| self.pace.full(full))?;
        let depth = self.frames.len() as u64 - 1;
        let frame = self.frames.last_mut().expect("a state on the path");
        (frame.at, frame.n_moves) = (n, eyes.numbers.len() as u32);
        if self.pace.beat(depth, &eyes.moves)? {
            eyes.cards.rest();
        }
        if let Some(nth) = eyes.moves.ends {
            frame.nth = nth;
            return Err(self.report(self.frames.len(), None));
        }
        let root = self.roots.last_mut().expect("the first state has a root");
        root.own.add(&Summary::of_state(eyes.moves.able));
        let pushed = eyes.order(n, self.number).try_for_each(|nth| {
            let m = &eyes.moves.all[nth];
            self.todo.push(Todo { to: eyes.numbers[nth], nth: nth as u32, marks: m.marks, pid: m.pid })
        });
        pushed.map_err(|full| self.pace.full(full))
    }

    /// A move into a set that this thread has a root in (I2): from there up, all is one set.
    fn close(&mut self, to: u32, marks: u64, pid: Option<Pid>) -> Result<(), Halt> {
        let at = self.frames.last().expect("a state on the path").at;
        let (view, laid) = (self.sight.view, self.sight.eyes.cards.laid());
        let mut root = self.roots.last_mut().expect("the first state has a root");
        let mut more = says_more(&root.own, marks, pid) || !root.told;
        root.own.add_move(marks, pid);
        while !view.same(laid, to, at) {
            let above = self.roots.pop().expect("I2");
            root = self.roots.last_mut().expect("I2");
            root.own.add(&above.own);
            root.own.add_move(above.marks, above.pid);
            root.told = true;
            if let Some(sum) = view.unite(laid, above.state, root.state, &root.own) {
                root.own = sum;
            }
            more = true;
        }
        if more { self.tell() } else { Ok(()) }
    }

    /// The uppermost root's set learns what its thread knows of it.
    fn tell(&mut self) -> Result<(), Halt> {
        let root = self.roots.last_mut().expect("the first state has a root");
        root.told = true;
        match self.sight.view.tell(self.sight.eyes.cards.laid(), root.state, &root.own) {
            Some((sum, accepted)) => {
                root.own = sum;
                if accepted { Err(self.found_inside()) } else { Ok(()) }
            }
            None => Ok(()),
        }
    }

    /// The uppermost frame has no moves left.
    fn leave(&mut self) -> Result<(), Halt> {
        self.run.crew.signals.go_on()?;
        let frame = *self.frames.last().expect("a state on the path");
        let (view, laid) = (self.sight.view, self.sight.eyes.cards.laid());
        if frame.at != 0 && view.done(laid, frame.at) {
            self.pace.counters.transitions += u64::from(frame.n_moves);
        }
        let n_roots = self.roots.len();
        let root = self.roots.last().expect("the first state has a root");
        if root.frame as usize + 1 < self.frames.len() {
            self.back(); // D2
            return Ok(());
        }
        if n_roots > 1 && view.same(laid, root.state, self.roots[n_roots - 2].state) {
            // D3
            let above = self.roots.pop().expect("two roots");
            let root = self.roots.last_mut().expect("two roots");
            root.own.add(&above.own);
            root.own.add_move(above.marks, above.pid);
            self.back();
            return self.tell();
        }
        match view.pick(laid, root.state) {
            Pick::State(n) => return self.expand(n),
            Pick::Complete(Some(sum)) => self.take_apart(&sum)?,
            Pick::Complete(None) | Pick::Dead => {}
        }
        self.roots.pop();
        self.back();
        Ok(())
    }

    /// To the frame below.
    fn back(&mut self) {
        self.frames.pop();
        // D4
        if let Some(frame) = self.frames.last()
            && self.sight.view.is_done(self.sight.eyes.cards.laid(), frame.at)
        {
            self.todo.truncate(frame.todo);
        }
    }

    /// The uppermost root's set is a whole component.
    fn take_apart(&mut self, sum: &Summary) -> Result<(), Halt> {
        let (n_marks, fairness) = (self.run.runs.n_marks(), self.run.request.fairness);
        if fairness != Fairness::Strong || sum.marks != all_marks(n_marks) {
            return Ok(());
        }
        let state = self.roots.last().expect("the first state has a root").state;
        let component = self.sight.component(state, false).map_err(|full| self.pace.full(full))?;
        match component.accepted_part(n_marks, fairness) {
            Some(_) => Err(self.found_inside()),
            None => Ok(()),
        }
    }

    fn found_inside(&mut self) -> Halt {
        let root = self.roots.last().expect("the first state has a root");
        self.report(root.frame as usize, Some(root.state))
    }

    /// Something was found, after the moves of so many frames.
    fn report(&self, n_frames: usize, inside: Option<u32>) -> Halt {
        let legs = self.frames[..n_frames].iter().map(|f| Leg { from: f.state, to: f.at, nth: f.nth });
        let found = Found { initial: self.initial, legs: legs.collect(), inside };
        self.run.found.lock().expect("nothing panics while it is held").get_or_insert(found);
        self.run.crew.signals.stop(Stopped::Settled)
    }
}

/// Whether a move says something that is not known yet.
fn says_more(known: &Summary, marks: u64, pid: Option<Pid>) -> bool {
    marks & !known.marks != 0 || pid.is_some_and(|pid| !known.moved.has(pid))
}
