//! Why a process cannot move.

use crate::eval::Eval;
use crate::interp::{Interp, Ready};
use crate::ir::{Edge, EdgeId, Effect, Guard, Pid};
use crate::state::State;

/// One edge of the location a process stands at, and what keeps it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Blocked {
    pub edge: EdgeId,
    pub why: Why,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Why {
    /// This guard of the edge is zero.
    ConditionFalse(usize),
    ChannelFull(u8),
    ChannelEmpty(u8),
    /// There are messages, but none it accepts.
    NoMatchingMessage(u8),
    /// A rendez-vous send, and nobody to receive it.
    NoPartner(u8),
    /// A rendez-vous receive: another process must send.
    WaitsForSender(u8),
    /// An escape, an earlier option, or what `else` waits for, can run.
    Preempted,
    /// It can only die after this younger process.
    NotYoungest(Pid),
    Provided,
    /// A process of higher priority can move.
    Priority,
    /// It can move.
    Enabled,
}

/// What keeps each edge of the process's location, in their order. `timeout` is taken as false.
pub fn blocked(interp: &Interp, state: &State, pid: Pid) -> Vec<Blocked> {
    let eval = Eval::new(interp, state, Some(pid), false);
    let t = &interp.system().proctypes[state.proctype(pid)];
    let provided = interp.is_provided(eval);
    let mut moves = Vec::new();
    interp.moves(state, crate::interp::Floor::Anyone, &mut moves);
    let edges = t.locs[state.loc(pid)].edges.iter();
    let out: Vec<Blocked> = edges
        .map(|&edge| {
            let why = if !provided {
                Why::Provided
            } else if !matches!(interp.readiness(eval, t, edge), Ready::No) {
                let offered = moves.iter().any(|m| m.pid == pid && m.edge == edge);
                debug_assert!(offered || interp.system().uses.priorities, "what is ready is offered: {edge:?}");
                if offered { Why::Enabled } else { Why::Priority }
            } else {
                let why = reason(eval, interp, &t.edges[edge]);
                debug_assert_ne!(why, Why::Enabled, "what cannot run has a reason: {edge:?}");
                why
            };
            Blocked { edge, why }
        })
        .collect();
    let can_move = moves.iter().any(|m| m.pid == pid && !m.timeout);
    debug_assert_eq!(out.iter().any(|b| b.why == Why::Enabled), can_move, "who can move is not kept from it");
    out
}

/// The first guard that does not hold.
fn reason(eval: Eval<'_>, interp: &Interp, edge: &Edge) -> Why {
    let t = &interp.system().proctypes[eval.state.proctype(eval.own())];
    for (n, guard) in edge.guards.iter().enumerate() {
        match guard {
            Guard::Holds(e) if eval.value(e) == Ok(0) => return Why::ConditionFalse(n),
            Guard::Youngest if eval.own() as usize + 1 < eval.state.n_procs() => {
                return Why::NotYoungest((eval.state.n_procs() - 1) as Pid);
            }
            Guard::NoneOf(others) if others.iter().any(|e| interp.is_ready_alone(eval, t, *e)) => {
                return Why::Preempted;
            }
            Guard::Channel => {
                if let Some(why) = channel_reason(eval, interp, edge) {
                    return why;
                }
            }
            _ => {}
        }
    }
    Why::Enabled
}

fn channel_reason(eval: Eval<'_>, interp: &Interp, edge: &Edge) -> Option<Why> {
    let (Effect::Send { chan: e, .. } | Effect::Receive { chan: e, .. }) = &edge.effects[0] else { return None };
    let (chan, decl) = eval.chan(e).ok()?;
    let id = eval.value(e).ok()? as u8;
    let len = eval.state.chan_len(chan);
    let capacity = decl.capacity as usize;
    if !matches!(interp.channel_readiness(eval, edge), Ok(Ready::No)) {
        return None;
    }
    Some(match &edge.effects[0] {
        Effect::Send { .. } if capacity == 0 => Why::NoPartner(id),
        Effect::Send { .. } if len >= capacity => Why::ChannelFull(id),
        Effect::Receive { .. } if capacity == 0 => Why::WaitsForSender(id),
        Effect::Receive { .. } if len == 0 => Why::ChannelEmpty(id),
        Effect::Receive { random, args, .. }
            if eval.find_message(chan, decl.fields.len(), *random, args) == Ok(None) =>
        {
            Why::NoMatchingMessage(id)
        }
        other => unreachable!("the channel keeps nobody from {other:?}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::read;
    use crate::successors::Successors;
    use std::sync::Arc;

    /// A send that somebody would take waits for no partner, whatever order its guards are written in.
    #[test]
    fn who_lets_another_statement_go_first_does_not_wait_for_a_partner() {
        for guards in ["channel, none of e0", "none of e0, channel"] {
            let text = format!(
                "globals\n  var z: chan\n  chan c0 z: [0] of {{ byte }}\n  init @z = chan c0\n\
                 proctype S (t0) start l0 end l1\n  l0: e0, e1\n    e0: l0 -> l1\n    \
                 e1: l0 -> l1 when {guards} do @z ! (1)\n  l1: e2\n    e2: l1 -> l1 when youngest do die\n\
                 proctype R (t1) start l0 end l1\n  l0: e0\n    e0: l0 -> l1 when channel do @z ? (_)\n  \
                 l1: e1\n    e1: l1 -> l1 when youngest do die\nactive S, R\n"
            );
            let interp = Interp::new(Arc::new(read(&text).expect("a system")));
            let state = interp.initial().expect("no fault");
            let why = |pid| blocked(&interp, &state, pid).iter().map(|b| b.why).collect::<Vec<_>>();
            assert_eq!(why(0), [Why::Enabled, Why::Preempted], "{guards}");
            assert_eq!(why(1), [Why::WaitsForSender(1)]);
        }
    }
}
