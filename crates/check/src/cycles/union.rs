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
//!   All this is about states that are not barren. A state of a barren part is in no component that matters, and no move
//!   to it closes a cycle; so it is in no set, has no card, and is visited once (`scout`). A state is done when its moves
//!   to states that are not barren were followed; those to others that are new have been noted before, by the thread that
//!   looked at the state when they were. A search begins at every state that is met first from a barren one, and goes
//!   through all that can be reached from there inside such parts.
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
//!   D6 a thread stops uniting along a cycle as soon as both ends of it are in one set. If others have united them meanwhile,
//!      states between them may still be missing from the set. Then no run may be found inside the set, and it is looked
//!      for in the component as far as it is known.
//!   D7 a thread whose start is dead drops its path: all that can be reached from the start is dead, too. With a limit of
//!      depth it need not be, and the thread goes back step by step.
//!   D8 moves to states that are dead when they are met are not kept.
//!   D9 of the moves of a state those are made first that lead to where no thread was: the order is free, and so fewer
//!      states are expanded by several.
//!
//! # Invariants
//!   I1 the states of the frames from a root's on are in the set of a root at or above it
//!   I2 a thread whose bit is at a set that is not dead has a root in that set
//!   I3 the moves in `todo` from the uppermost frame's on are those that its state still has to make
//!   I4 the summary of a set that is dead, and a whole component, is what its states and the moves between them say
//!   I5 if nothing is found, and nothing was too deep, each stored state was visited, and counted once
//!   I6 the state whose moves a frame makes is of the set of its state
//!
//! # Owed
//!   O1 verdict = oracle, and the lasso is accepted and fair; counts = `scc`    tests: random graphs, 1, 2 and 4 threads
//!   O2 verdict and counts = `scc` on graphs of some hundred nodes              tests: larger random graphs
//!
//! # Cost  one thread expands each state once, more threads some of those that are not barren more than once; for each of
//!   these 43 to 54 bytes for good, and 24 for one on a path and for each of its moves.

use super::crew::{ALONE, Crew};
use super::eyes::Eyes;
use super::lasso::{Component, find_run};
use super::scout::{self, Next, Scout, Trail, Way};
use super::sets::{Claim, Pick, Sets, View};
use super::{Fairness, Lasso, Request, Runs, Searched, Summary, all_marks};
use crate::observer::Observer;
use crate::search::held::Held;
use crate::search::{Halt, Stopped, stopped_by};
use spinor_model::ir::Pid;
use spinor_store::{Full, StateId, Visited};
use std::collections::{HashMap, HashSet};
use std::sync::Mutex;

/// After so many frames a thread asks whether others have done the rest.
const LEFT: u32 = if cfg!(test) { 2 } else { 64 };

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
    assert!(!runs.judges(), "what a set says of who moves is taken as it is");
    let crew = Crew::new(request);
    let sets = match Sets::new(&request.budget, runs.n_marks(), request.fairness) {
        Ok(sets) => sets,
        Err(full) => return Searched::none(full, &request.budget),
    };
    let run = Run { runs, store, request, sets, crew: &crew, found: Mutex::new(None) };
    let at = (&crew, &run.sets.cards);
    let (mut searched, trails, _) = scout::send(alone, (runs, store), at, request, observer, |scout| {
        let _ = Worker::new(&run, scout).all();
    });
    let found = run.found.lock().expect("nothing panics while it is held").take();
    let through = found.is_none() && searched.stopped.is_none();
    assert!(!through || searched.counters.stored == store.len(), "I5");
    searched.counters.stored = store.len();
    if let Some(found) = found {
        match run.lasso(&found, &trails) {
            Ok(lasso) => {
                searched.found = Some(lasso);
                searched.stopped = None;
            }
            Err(full) => searched.stopped = Some(stopped_by(full, &request.budget)),
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
    /// How the state was come to that its search began at.
    way: Way,
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

/// A thread's eyes, and its way to the sets.
struct Sight<'e, 'a, 'v, R: Runs, V: Visited + 'a> {
    eyes: &'e mut Eyes<'a, R, V>,
    view: View<'v>,
}

impl<R: Runs, V: Visited> Sight<'_, '_, '_, R, V> {
    /// States that can be reached, this one first, up to one that is wanted; with each the place of the one before it and
    /// the number of the move. Those of its set, or, `wide`, all that some thread has entered and that are not dead.
    fn reach(&mut self, from: u32, wanted: Option<u32>, wide: bool) -> Result<Vec<(u32, usize, u32)>, Full> {
        let (mut all, mut seen) = (vec![(from, 0, 0)], HashSet::from([from]));
        let mut at = 0;
        while at < all.len() && all.last().map(|last| last.0) != wanted {
            self.eyes.look(all[at].0)?;
            let laid = self.eyes.cards.laid();
            for (nth, to) in self.eyes.numbers.iter().enumerate().filter(|(_, to)| **to != 0) {
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
        let eyes = &mut *self.eyes;
        let members = all.iter().zip(back).filter(|(_, back)| *back);
        let names: Vec<StateId> = members.map(|((n, ..), _)| eyes.cards.laid().name(*n)).collect();
        eyes.cards.rest();
        Component::new(eyes.runs, &mut eyes.desk, eyes.store, &mut eyes.hand, &names)
    }
}

impl<R: Runs, V: Visited> Run<'_, R, V> {
    fn lasso(&self, found: &Found, trails: &[Trail]) -> Result<Lasso, Full> {
        let mut eyes = Eyes::new(self.runs, self.store, &self.sets.cards);
        let (initial, mut stem) = scout::stem(trails, found.way, &mut eyes)?;
        let mut sight = Sight { eyes: &mut eyes, view: self.sets.view(self.crew, 0) };
        for leg in &found.legs {
            stem.extend(sight.way(leg.from, leg.to)?);
            stem.push(leg.nth);
        }
        let Some(inside) = found.inside else {
            return Ok(Lasso { initial, stem, cycle: Vec::new() });
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
        Ok(Lasso { initial, stem, cycle })
    }
}

struct Worker<'r, 's, 'a, 'w, R: Runs, V: Visited> {
    run: &'r Run<'r, R, V>,
    scout: &'s mut Scout<'a, 'w, R, V>,
    view: View<'r>,
    frames: Held<Frame>,
    todo: Held<Todo>,
    roots: Held<Root>,
    /// Frames that were left.
    n_left: u32,
}

impl<'r, 's, 'a, 'w, R: Runs, V: Visited> Worker<'r, 's, 'a, 'w, R, V> {
    fn new(run: &'r Run<'r, R, V>, scout: &'s mut Scout<'a, 'w, R, V>) -> Self {
        let budget = &run.request.budget;
        let view = run.sets.view(run.crew, scout.number);
        Worker {
            run,
            scout,
            view,
            frames: Held::new(budget),
            todo: Held::new(budget),
            roots: Held::new(budget),
            n_left: 0,
        }
    }

    fn all(&mut self) -> Result<(), Halt> {
        self.scout.begin()?;
        loop {
            match self.scout.next()? {
                Next::Search(start) => self.follow(start.state, 0, None)?,
                Next::Ends(way) => return Err(self.report(Found { way, legs: Vec::new(), inside: None })),
                Next::Nothing => return Ok(()),
            }
            self.walk()?;
        }
    }

    /// Until nothing is left of the path.
    fn walk(&mut self) -> Result<(), Halt> {
        while let Some(frame) = self.frames.last_mut() {
            debug_assert!(self.todo.len() - frame.todo <= frame.n_moves as usize, "I3");
            if self.todo.len() == frame.todo {
                self.leave()?;
                continue;
            }
            if self.run.crew.jobs > 1 {
                let (view, laid) = (self.view, self.scout.eyes.cards.laid());
                let left = &mut self.todo[frame.todo..];
                if let Some(at) = left.iter().rposition(|todo| view.is_new(laid, todo.to)) {
                    let last = left.len() - 1;
                    left.swap(at, last); // D9
                }
            }
            let Some(Todo { to, nth, marks, pid }) = self.todo.pop() else { break };
            frame.nth = nth;
            self.follow(to, marks, pid)?;
        }
        debug_assert!(self.todo.is_empty() && self.roots.is_empty(), "I1: a root has a frame");
        Ok(())
    }

    /// A move to a state.
    #[inline]
    fn follow(&mut self, to: u32, marks: u64, pid: Option<Pid>) -> Result<(), Halt> {
        let deep = self.scout.pace.too_deep(self.scout.start.depth + self.frames.len() as u64);
        match self.view.claim(self.scout.eyes.cards.laid(), to, !deep) {
            Claim::Dead => {}
            Claim::Found => self.close(to, marks, pid)?,
            Claim::Entered => self.enter(to, marks, pid)?,
            Claim::New => {
                self.scout.pace.counters.stored += 1;
                self.enter(to, marks, pid)?;
            }
            Claim::Refused => self.scout.pace.cut = true,
        }
        Ok(())
    }

    /// A frame for a state of a set that this thread was not in.
    fn enter(&mut self, state: u32, marks: u64, pid: Option<Pid>) -> Result<(), Halt> {
        let frame = Frame { state, at: 0, todo: self.todo.len(), n_moves: 0, nth: 0 };
        let root = Root { state, frame: self.frames.len() as u32, own: Summary::nothing(), told: false, marks, pid };
        debug_assert!(
            self.roots.last().is_none_or(|below| below.frame < root.frame),
            "I1: each root has its own frame"
        );
        let pushed = self.frames.push(frame).and_then(|()| self.roots.push(root));
        pushed.map_err(|full| self.scout.pace.full(full))?;
        if self.view.is_done(self.scout.eyes.cards.laid(), state) { Ok(()) } else { self.expand(state) }
    }

    /// The uppermost frame is the uppermost root's, and goes on with the moves of this state of its set.
    fn expand(&mut self, n: u32) -> Result<(), Halt> {
        self.scout.look(n, self.scout.start.depth + self.frames.len() as u64 - 1)?;
        let view = self.view;
        let laid = self.scout.eyes.cards.laid();
        debug_assert!(self.frames.last().is_some_and(|frame| view.same(laid, frame.state, n)), "I6");
        self.scout.eyes.keep(|laid, to| !view.is_known_dead(laid, to)); // D8
        let eyes = &self.scout.eyes;
        debug_assert!(self.roots.last().is_some_and(|root| root.frame as usize + 1 == self.frames.len()), "I1");
        let frame = self.frames.last_mut().expect("a state on the path");
        debug_assert_eq!(self.todo.len(), frame.todo, "I3");
        (frame.at, frame.n_moves) = (n, eyes.moves.all.len() as u32);
        if let Some(nth) = eyes.moves.ends {
            frame.nth = nth;
            return Err(self.report(self.found(self.frames.len(), None)));
        }
        let root = self.roots.last_mut().expect("the first state has a root");
        root.own.add(&Summary::of_state(eyes.moves.able));
        let pushed = eyes.order(n, self.scout.number).try_for_each(|nth| {
            let m = &eyes.moves.all[nth];
            self.todo.push(Todo { to: eyes.numbers[nth], nth: nth as u32, marks: m.marks, pid: m.pid })
        });
        pushed.map_err(|full| self.scout.pace.full(full))
    }

    /// A move into a set that this thread has a root in (I2): from there up, all is one set.
    fn close(&mut self, to: u32, marks: u64, pid: Option<Pid>) -> Result<(), Halt> {
        let at = self.frames.last().expect("a state on the path").at;
        debug_assert_ne!(at, 0, "a move is some state's");
        let (view, laid) = (self.view, self.scout.eyes.cards.laid());
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
        debug_assert!(view.same(laid, at, root.state), "I1, I2");
        if more { self.tell() } else { Ok(()) }
    }

    /// The uppermost root's set learns what its thread knows of it.
    fn tell(&mut self) -> Result<(), Halt> {
        let root = self.roots.last_mut().expect("the first state has a root");
        root.told = true;
        match self.view.tell(self.scout.eyes.cards.laid(), root.state, &root.own) {
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
        self.n_left = self.n_left.wrapping_add(1);
        let (whole, start) = (self.run.request.max_depth.is_none(), self.scout.start.state);
        if self.n_left.is_multiple_of(LEFT) && whole && self.view.is_dead(self.scout.eyes.cards.laid(), start) {
            // D7
            self.frames.truncate(0);
            self.todo.truncate(0);
            self.roots.truncate(0);
            return Ok(());
        }
        let frame = *self.frames.last().expect("a state on the path");
        let (view, laid) = (self.view, self.scout.eyes.cards.laid());
        if frame.at != 0 && view.done(laid, frame.at) {
            self.scout.pace.counters.transitions += u64::from(frame.n_moves);
        }
        let n_roots = self.roots.len();
        let root = self.roots.last().expect("the first state has a root");
        debug_assert!(view.same(laid, frame.state, root.state), "I1");
        debug_assert!((root.frame as usize) < self.frames.len(), "I1");
        if root.frame as usize + 1 < self.frames.len() {
            self.back(); // D2
            return Ok(());
        }
        if n_roots > 1 && view.same(laid, root.state, self.roots[n_roots - 2].state) {
            // D3
            let above = self.roots.pop().expect("two roots");
            let root = self.roots.last_mut().expect("two roots");
            debug_assert!(root.frame < above.frame, "I1: each root has its own frame");
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
            && self.view.is_done(self.scout.eyes.cards.laid(), frame.at)
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
        let mut sight = Sight { eyes: &mut self.scout.eyes, view: self.view };
        let component = sight.component(state, false).map_err(|full| self.scout.pace.full(full))?;
        debug_assert!(self.run.crew.has_limit() || component.whole() == Some(*sum), "I4");
        match component.accepted_part(n_marks, fairness) {
            Some(_) => Err(self.found_inside()),
            None => Ok(()),
        }
    }

    fn found_inside(&mut self) -> Halt {
        let root = self.roots.last().expect("the first state has a root");
        self.report(self.found(root.frame as usize, Some(root.state)))
    }

    /// After the moves of so many frames.
    fn found(&self, n_frames: usize, inside: Option<u32>) -> Found {
        debug_assert!(self.frames[..n_frames].iter().all(|f| f.at != 0 && f.nth < f.n_moves), "each frame made a move");
        let legs = self.frames[..n_frames].iter().map(|f| Leg { from: f.state, to: f.at, nth: f.nth });
        Found { way: self.scout.start.way, legs: legs.collect(), inside }
    }

    fn report(&self, found: Found) -> Halt {
        self.run.found.lock().expect("nothing panics while it is held").get_or_insert(found);
        self.run.crew.signals.stop(Stopped::Settled)
    }
}

/// Whether a move says something that is not known yet.
fn says_more(known: &Summary, marks: u64, pid: Option<Pid>) -> bool {
    marks & !known.marks != 0 || pid.is_some_and(|pid| !known.moved.has(pid))
}
