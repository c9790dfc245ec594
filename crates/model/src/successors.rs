//! The narrow waist: every front end above, every search below.
//!
//! A search asks in two phases. `enabled` says which steps can be taken, grouped by process, always in the same
//! order for the same state: a reduction chooses among them before anything is fired, and both passes of a nested
//! search and every replayed trace rely on the order. `fire` then does a selection of them and lays the
//! successors, packed, into one [`Batch`] that goes to the store whole.
//!
//! A step is the choice to move. An `atomic` may branch after its first statement, so one step can have several
//! *outcomes*, one per path to the point where others may run again; a `d_step` or a handshake has one.

use crate::fault::{Fault, FaultKind};
use crate::index::Idx;
use crate::ir::{EdgeId, Pid, ProctypeId, System};
use std::ops::Range;

/// A process takes an edge, alone or in a handshake.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub struct Step {
    pub pid: Pid,
    pub edge: EdgeId,
    /// The receiver's half of a rendez-vous.
    pub partner: Option<(Pid, EdgeId)>,
    /// The step exists because nothing else could run.
    pub timeout: bool,
}

/// What one path of one step led to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// Which of the fired steps, and which of its paths.
    pub step: u32,
    pub path: u32,
    /// Statements after which the process kept the floor: SPIN's "atomic steps".
    pub atomic_steps: u32,
    /// Where the successor's key lies in the batch; `NO_KEY` if a fatal fault ended the path.
    from: u32,
    to: u32,
}

const NO_KEY: u32 = u32::MAX;

impl Outcome {
    /// The successor's key is `keys[range]` of the batch; `None` if a fatal fault ended the path.
    #[inline]
    pub fn key(&self) -> Option<Range<usize>> {
        (self.from != NO_KEY).then_some(self.from as usize..self.to as usize)
    }
}

/// The successors of one state or several, packed, and what was seen while they were made.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    pub keys: Vec<u8>,
    pub outcomes: Vec<Outcome>,
    /// What went wrong on the way to an outcome, in order. A failed assertion is not fatal.
    pub faults: Vec<(usize, Fault)>,
    /// Edges taken, and edges at which a value did not fit its variable and lost bits, since the batch was made.
    pub reached: EdgeSet,
    pub truncated: EdgeSet,
}

impl Batch {
    pub fn new(system: &System) -> Batch {
        let edges = EdgeSet::new(system);
        Batch { reached: edges.clone(), truncated: edges, ..Batch::default() }
    }

    /// Forgets the outcomes; edges seen stay seen.
    #[inline]
    pub fn clear(&mut self) {
        self.keys.clear();
        self.outcomes.clear();
        self.faults.clear();
    }

    /// Notes an outcome; its key is what `keys` holds from `from` on, or nothing after a fatal fault.
    #[inline]
    pub fn push(&mut self, step: u32, path: u32, atomic_steps: u32, from: Option<usize>) {
        debug_assert!(from.is_none_or(|from| from <= self.keys.len()), "a key lies in the batch");
        debug_assert!(self.is_next(step, path), "the paths of a step are numbered: {step} {path}");
        let place = |at: usize| u32::try_from(at).expect("a batch is flushed long before it holds 4 GiB");
        let (from, to) = from.map_or((NO_KEY, NO_KEY), |from| (place(from), place(self.keys.len())));
        self.outcomes.push(Outcome { step, path, atomic_steps, from, to });
    }

    /// The same for a key that lies anywhere in `keys`.
    #[inline]
    pub fn push_key(&mut self, step: u32, path: u32, atomic_steps: u32, key: Range<usize>) {
        debug_assert!(key.start <= key.end && key.end <= self.keys.len() && key.end < NO_KEY as usize);
        debug_assert!(self.is_next(step, path), "the paths of a step are numbered: {step} {path}");
        self.outcomes.push(Outcome { step, path, atomic_steps, from: key.start as u32, to: key.end as u32 });
    }

    fn is_next(&self, step: u32, path: u32) -> bool {
        let last = self.outcomes.last().map(|o| (o.step, o.path));
        path == 0 || last == Some((step, path - 1))
    }

    #[inline]
    pub fn key(&self, outcome: &Outcome) -> Option<&[u8]> {
        outcome.key().map(|range| &self.keys[range])
    }

    /// What went wrong on the way to the `n`-th outcome.
    pub fn faults_of(&self, n: usize) -> impl Iterator<Item = &Fault> {
        debug_assert!(n < self.outcomes.len(), "it is asked about an outcome");
        debug_assert!(self.faults.last().is_none_or(|(n, _)| *n < self.outcomes.len()), "a fault is on the way to one");
        debug_assert!(self.faults.is_sorted_by_key(|(outcome, _)| *outcome), "faults are in the order of outcomes");
        let from = self.faults.partition_point(|(outcome, _)| *outcome < n);
        self.faults[from..].iter().take_while(move |(outcome, _)| *outcome == n).map(|(_, fault)| fault)
    }
}

/// A set of edges over all proctypes: a byte for each, those of a proctype together.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct EdgeSet {
    /// Where each proctype's edges begin.
    starts: Vec<u32>,
    marks: Vec<u8>,
}

impl EdgeSet {
    pub fn new(system: &System) -> EdgeSet {
        EdgeSet::sized(system.proctypes.iter().map(|t| t.edges.len()))
    }

    /// For so many edges of each proctype.
    pub fn sized(n_edges: impl Iterator<Item = usize>) -> EdgeSet {
        let mut starts = Vec::new();
        let mut total = 0;
        for n in n_edges {
            starts.push(total);
            total = u32::checked_add(total, n as u32).expect("fewer edges than a word counts");
        }
        EdgeSet { starts, marks: vec![0; total as usize] }
    }

    /// The number of an edge among the edges of all proctypes.
    pub fn number(&self, proctype: ProctypeId, edge: EdgeId) -> usize {
        let n = self.starts[proctype.index()] as usize + edge.index();
        let end = self.starts.get(proctype.index() + 1).map_or(self.marks.len(), |next| *next as usize);
        debug_assert!(n < end, "an edge is one of its proctype: {edge:?} of {proctype:?}");
        n
    }

    pub fn put(&mut self, proctype: ProctypeId, edge: EdgeId) {
        let n = self.number(proctype, edge);
        self.marks[n] = 1;
    }

    pub fn has(&self, proctype: ProctypeId, edge: EdgeId) -> bool {
        self.marks[self.number(proctype, edge)] != 0
    }

    /// One byte an edge, not zero if it is in the set; for those who write into it directly.
    #[inline]
    pub fn marks_mut(&mut self) -> &mut [u8] {
        &mut self.marks
    }

    /// Adds what another set has.
    pub fn join(&mut self, other: &EdgeSet) {
        assert_eq!(self.starts, other.starts, "sets of the same system");
        for (mine, theirs) in self.marks.iter_mut().zip(&other.marks) {
            *mine |= theirs;
        }
    }

    /// In order of proctype and edge.
    pub fn iter(&self) -> impl Iterator<Item = (ProctypeId, EdgeId)> + '_ {
        let ends = self.starts.iter().skip(1).copied().chain([self.marks.len() as u32]);
        self.starts.iter().zip(ends).enumerate().flat_map(move |(t, (&from, to))| {
            let set = (from..to).filter(|n| self.marks[*n as usize] != 0);
            set.map(move |n| (ProctypeId::new(t), EdgeId::new((n - from) as usize)))
        })
    }
}

/// What a search that has a say in it wants of a system that leaves out steps.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Wish {
    /// The so-many-th selection there is, from 1; all steps if there are not so many, and by 0.
    pub attempt: Option<u8>,
    /// The process that must move or be unable to before the search is content.
    pub waited: Option<Pid>,
}

impl Wish {
    pub const ALL: Wish = Wish { attempt: Some(0), waited: None };
}

/// Steps that need not be taken, because what they lead to is known: those of a process alone that bear these numbers.
#[derive(Clone, Copy, Debug)]
pub struct Asleep<'a> {
    /// By process: the number of a step with its first edge. The number of any other is so much more.
    pub firsts: &'a [u32],
    /// A bit for each number; what lies behind is not there.
    pub set: &'a [u64],
}

impl Asleep<'_> {
    /// Handshakes do not sleep, nor does what happens because nothing else could.
    #[inline]
    pub fn has(&self, step: &Step) -> bool {
        let number = self.firsts.get(usize::from(step.pid)).map(|first| *first as usize + step.edge.index());
        let word = number.and_then(|n| self.set.get(n / 64).map(|word| word >> (n % 64)));
        step.partner.is_none() && !step.timeout && word.is_some_and(|word| word & 1 == 1)
    }
}

/// [`Successors::expand_awake`] in two phases.
pub fn fire_awake<S: Successors + ?Sized>(
    exec: &S,
    state: &mut S::State,
    asleep: Asleep<'_>,
    steps: &mut Vec<Step>,
    batch: &mut Batch,
) {
    exec.enabled(state, steps);
    let from = batch.outcomes.len();
    let is_awake = |(_, step): &(u32, Step)| !asleep.has(step);
    let (numbers, awake): (Vec<u32>, Vec<Step>) = (0..).zip(steps.iter().copied()).filter(is_awake).unzip();
    exec.fire(state, &awake, batch);
    debug_assert!(batch.outcomes[from..].is_sorted_by_key(|o| (o.step, o.path)), "outcomes are in the order of steps");
    batch.outcomes[from..].iter_mut().for_each(|outcome| outcome.step = numbers[outcome.step as usize]);
}

pub trait Successors: Sync {
    /// A state unpacked for work, with the memory that work needs. Two states are the same iff their keys are.
    type State: Clone;

    /// Fails if an initialiser does.
    fn initial(&self) -> Result<Self::State, Fault>;
    /// Appends the key.
    fn pack(&self, state: &Self::State, key: &mut Vec<u8>);
    fn unpack(&self, key: &[u8]) -> Self::State;
    /// The same over a state that is no longer needed.
    fn unpack_into(&self, key: &[u8], state: &mut Self::State) {
        *state = self.unpack(key);
    }
    /// An empty batch that has room for the edges of this system.
    fn batch(&self) -> Batch;
    /// The steps that can be taken: highest pid first, edges in the order of their location. Cleared first.
    fn enabled(&self, state: &mut Self::State, steps: &mut Vec<Step>);
    /// Those of one process, as far as they do not wait for `timeout`. Cleared first.
    fn enabled_of(&self, state: &mut Self::State, pid: Pid, steps: &mut Vec<Step>) {
        self.enabled(state, steps);
        debug_assert!(steps.is_sorted_by(|a, b| a.pid >= b.pid), "the youngest process first");
        steps.retain(|step| step.pid == pid && !step.timeout);
    }
    /// Appends the outcomes of these steps, in order.
    fn fire(&self, state: &mut Self::State, steps: &[Step], batch: &mut Batch);
    /// Both at once: the outcomes of all steps that can be taken. How many steps there are; they are numbered as
    /// `enabled` lists them.
    fn expand(&self, state: &mut Self::State, batch: &mut Batch) -> usize {
        let mut steps = Vec::new();
        self.enabled(state, &mut steps);
        self.fire(state, &steps, batch);
        steps.len()
    }
    /// The same, and whose each of the steps is; `owners` is cleared first. A system that leaves out steps names behind
    /// those who could have taken them.
    fn expand_owned(&self, state: &mut Self::State, batch: &mut Batch, owners: &mut Vec<Pid>) -> usize {
        let mut steps = Vec::new();
        self.enabled(state, &mut steps);
        self.fire(state, &steps, batch);
        owners.clear();
        owners.extend(steps.iter().map(|step| step.pid));
        steps.len()
    }
    /// The outcomes of all steps but those that are asleep, numbered as `steps` lists them; that is as `enabled` does, with
    /// those that are asleep.
    fn expand_awake(&self, state: &mut Self::State, asleep: Asleep<'_>, steps: &mut Vec<Step>, batch: &mut Batch) {
        fire_awake(self, state, asleep, steps, batch);
    }
    /// What is wanted of this state the next time it is expanded.
    fn wish(&self, _state: &mut Self::State, _wish: Wish) {}
    /// Whether the last expansion of this state left out steps that can be taken.
    fn leaves_out(&self, _state: &Self::State) -> bool {
        false
    }
    /// Appends the outcomes of what `expand` leaves out of this state, numbered as `all_enabled` lists the steps.
    fn expand_rest(&self, _state: &mut Self::State, _batch: &mut Batch) {}
    /// The steps that `expand` takes, in its order, and behind them those that it leaves out.
    fn all_enabled(&self, state: &mut Self::State, steps: &mut Vec<Step>) {
        self.enabled(state, steps);
    }
    /// Which faults that do not end a run are still worth telling in outcomes made with this state: failed assertions,
    /// broken promises. What nobody waits for need not be told, if leaving it out is faster.
    fn heed(&self, _state: &mut Self::State, _assertions: bool, _promises: bool) {}
    /// The steps of the model that an outcome of a step of this state is, in an order in which they can be taken, each with
    /// its path: several where steps are taken together.
    fn steps_of(&self, _key: &[u8], step: Step, path: u32) -> Vec<(Step, u32)> {
        vec![(step, path)]
    }
    /// In which phase whoever looks at this state is: what it may look at from now on (`check/claim.rs`).
    fn minds(&self, _state: &mut Self::State, _phase: u32) {}
    /// Which of the expressions that this was made to look at are true in a state: a bit each, in their order; `bits` is
    /// cleared first. Whoever looks is no process. Fails if one of them cannot be evaluated here.
    fn look(&self, _state: &mut Self::State, bits: &mut Vec<u64>) -> Result<(), FaultKind> {
        bits.clear();
        Ok(())
    }
    /// The same for each outcome of a batch, one after the other: what is true in this state if that is how it is left.
    /// The batch is what `steps`, which can be taken here, lead to; `one` is what [`Successors::look`] says, which looks as
    /// if no step were taken. Only expressions about steps (`Expr::Happens`) can differ from it, and nobody else asks.
    fn happens(
        &self,
        _state: &mut Self::State,
        _one: &[u64],
        _fired: (&[Step], &Batch),
        _bits: &mut Vec<u64>,
    ) -> Result<(), FaultKind> {
        unreachable!("this does not know what its steps do")
    }
    /// With no step enabled: may the run end here?
    fn may_end(&self, state: &Self::State) -> bool;
}
