//! A system of one's own, checked by Spinor's searches: two jugs of three and five litres, a tap and a sink.

use spinor_check::claim::{Claim, Marking};
use spinor_check::cycles::product::Product;
use spinor_check::cycles::{self, Fairness, scc};
use spinor_check::observer::Silent;
use spinor_check::search::{Request, bfs};
use spinor_check::verdict::Kind;
use spinor_ltl::{Formula, PropId};
use spinor_model::fault::{Fault, FaultKind};
use spinor_model::index::Idx;
use spinor_model::ir::{EdgeId, Expr, ProctypeId};
use spinor_model::successors::{Batch, EdgeSet, Step, Successors};
use spinor_store::Arena;

const DEEDS: [&str; 6] = ["fill 3", "fill 5", "empty 3", "empty 5", "pour 3 into 5", "pour 5 into 3"];

struct Jugs;

impl Jugs {
    fn after(&self, (small, large): (u8, u8), deed: usize) -> (u8, u8) {
        let (down, up) = (small.min(5 - large), large.min(3 - small));
        match deed {
            0 => (3, large),
            1 => (small, 5),
            2 => (0, large),
            3 => (small, 0),
            4 => (small - down, large + down),
            _ => (small + up, large - up),
        }
    }
}

impl Successors for Jugs {
    /// How much is in each jug.
    type State = (u8, u8);

    fn initial(&self) -> Result<(u8, u8), Fault> {
        Ok((0, 0))
    }

    /// A key is a multiple of sixteen bytes.
    fn pack(&self, state: &(u8, u8), key: &mut Vec<u8>) {
        let mut own = [0; 16];
        (own[0], own[1]) = *state;
        key.extend_from_slice(&own);
    }

    fn unpack(&self, key: &[u8]) -> (u8, u8) {
        (key[0], key[1])
    }

    fn batch(&self) -> Batch {
        let edges = EdgeSet::sized([DEEDS.len()].into_iter());
        Batch { reached: edges.clone(), truncated: edges, ..Batch::default() }
    }

    /// One process, which may do whatever makes a difference.
    fn enabled(&self, state: &mut (u8, u8), steps: &mut Vec<Step>) {
        let differs = |deed: &usize| self.after(*state, *deed) != *state;
        let step = |deed| Step { pid: 0, edge: EdgeId::new(deed), partner: None, timeout: false };
        steps.clear();
        steps.extend((0..DEEDS.len()).filter(differs).map(step));
    }

    fn fire(&self, state: &mut (u8, u8), steps: &[Step], batch: &mut Batch) {
        for (n, step) in steps.iter().enumerate() {
            let after = self.after(*state, step.edge.index());
            // "There are never four litres in the large jug", as an assertion.
            if after.1 == 4 {
                let fault = Fault { kind: FaultKind::Assertion, at: Some((0, ProctypeId(0), step.edge)) };
                batch.faults.push((batch.outcomes.len(), fault));
            }
            batch.reached.put(ProctypeId(0), step.edge);
            let from = batch.keys.len();
            self.pack(&after, &mut batch.keys);
            // The outcome of step n, by the first of its paths, without statements after which the floor was kept; its key
            // begins here.
            batch.push(n as u32, 0, 0, Some(from));
        }
    }

    /// What formulas may look at, a bit each.
    fn look(&self, state: &mut (u8, u8), bits: &mut Vec<u64>) -> Result<(), FaultKind> {
        bits.clear();
        bits.push(u64::from(state.1 == 4));
        Ok(())
    }

    fn may_end(&self, _: &(u8, u8)) -> bool {
        true
    }
}

fn main() {
    // A shortest run that fails the assertion.
    let request = Request { kinds: vec![Kind::Assertion], ..Request::default() };
    let store = Arena::new(&request.budget).expect("room for an empty store");
    let searched = bfs::search(&Jugs, &store, &request, &mut Silent);
    println!("{} states", searched.counters.stored);
    for (step, _) in &searched.found[0].steps {
        println!("  {}", DEEDS[step.edge.index()]);
    }

    // `<> four` does not hold: somebody may fill and empty a jug for ever. The formula has one proposition, and the system
    // says what it means (`look`), so any expression may stand for it.
    let four = Formula::Eventually(Box::new(Formula::Prop(PropId(0))));
    let claim = Claim::against(&four, &[Expr::Const(0)], Marking::Generalised).expect("a small automaton");
    let request = cycles::Request::new(Fairness::None);
    let store = Arena::new(&request.budget).expect("room for an empty store");
    let product = Product::new(&Jugs, &claim, Fairness::None);
    let lasso = scc::search(&product, &store, &request, &mut Silent).found.expect("a run that never has four litres");
    println!("a run of {} steps, then {} for ever", lasso.stem.len(), lasso.cycle.len());
}
