//! Small systems, for tests.

use spinor_check::trace::TraceStep;
use spinor_lang::{Options, load};
use spinor_model::interp::{Floor, Interp};
use spinor_model::state::State;
use spinor_model::successors::Successors;
use std::path::Path;

fn made(name: &str, text: &str) -> Interp {
    let loaded = load(name, text, &Options::default(), &|p: &Path| std::fs::read(p));
    Interp::new(loaded.model.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics)).system)
}

/// Two workers and a lock that does not lock.
pub fn lock() -> Interp {
    made("mutex.pml", include_str!("../../../corpus/mutex.pml"))
}

/// One message by rendez-vous, then the receiver counts.
pub fn handshake() -> Interp {
    let text = "chan c = [0] of { byte };
byte x;
active proctype sender() { c!3 }
active proctype receiver() { c?x; x = x + 1 }
";
    made("hand.pml", text)
}

/// The run that always takes the first move offered, at most `n` of them.
pub fn first_moves(interp: &Interp, n: usize) -> (State, Vec<TraceStep>) {
    let picks: Vec<Option<u8>> = vec![None; n];
    moves_of(interp, &picks)
}

/// The run that takes the first move of the processes named, or the first of all.
pub fn moves_of(interp: &Interp, pids: &[Option<u8>]) -> (State, Vec<TraceStep>) {
    let initial = interp.initial().unwrap_or_else(|f| panic!("{f:?}"));
    let (mut state, mut floor) = (initial.clone(), Floor::Anyone);
    let mut steps = Vec::new();
    for pid in pids {
        let mut moves = Vec::new();
        interp.moves(&state, floor, &mut moves);
        let Some(step) = moves.into_iter().find(|s| pid.is_none_or(|p| p == s.pid)) else { break };
        let (taken, then) = TraceStep::take(interp, &mut state, step);
        steps.push(taken);
        match then {
            Some(then) => floor = then,
            None => break,
        }
    }
    (initial, steps)
}
