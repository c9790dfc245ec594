//! Whose loops are to be closed.
//!
//! Every cycle of the reduced graph must have a step that closes a loop (`statics`). It need not be one of every process
//! that moves in the cycle: if a process goes round only by receiving from a channel into which another one sends, it goes
//! round only if the other one does, and it is enough to close the loops of that one.
//!
//! # The argument
//!   Let there be a cycle without a step that closes.
//!   R1 If a process is made in it, one that makes others lives all the while: who makes a process is older than it. It goes
//!      round a loop with such a step, and the loops of those are always closed (`Statics::makes`). So no process is
//!      made, none dies, and the same cast plays in the whole cycle.
//!   R2 A process whose loops are closed does not move in it, or it would come back to where it was.
//!   R3 An edge that is taken in the cycle lies on a loop of edges that are.
//!   R4 A channel has as many messages after the cycle as before it: whoever receives from it, somebody sends into it, and
//!      the other way round. A handshake is both.
//!   Edges of which this cannot be true are taken away until no more are found. If none is left there is no such cycle. So
//!   processes are added to those whose loops are closed until none is left.
//!
//! Which channel an edge is about may not be known: it may be any of several, and one of them with a partner is enough.

use super::statics::{Statics, components};
use super::touch::Walk;
use super::uses::Actor;
use super::without::Condition;
use spinor_model::index::Idx;
use spinor_model::ir::{Edge, Effect, Loc, System};

/// Of more processes the first one that goes round is taken, without a look at what the others would leave.
const MOST_TRIED: usize = 40;
/// Of more edges all loops are closed: it takes too long to choose.
const MOST_EDGES: usize = 4096;

/// What an edge sends and receives: whether it sends, and the channels that it may be about.
type Traffic = Vec<(bool, Vec<u8>)>;

struct Rounds<'a> {
    system: &'a System,
    live: &'a [Actor],
    /// By process and edge.
    traffic: Vec<Vec<Traffic>>,
    /// Who takes needs somebody who gives.
    fed: bool,
}

/// By process that lives: whether its loops are closed.
pub(super) fn closed(walk: &Walk<'_>, statics: &Statics, n_live: usize) -> Vec<bool> {
    let live = &walk.actors[..n_live];
    let n_edges: usize = live.iter().map(|a| walk.system.proctypes[a.proctype].edges.len()).sum();
    if n_edges > MOST_EDGES {
        return vec![true; n_live];
    }
    let traffic = |i: usize| {
        let walk = Walk { me: Some(i), ..*walk };
        walk.edges[i].iter().map(|e| e.as_ref().map_or(Vec::new(), |e| walk.traffic(e))).collect()
    };
    let rounds = Rounds {
        system: walk.system,
        live,
        traffic: (0..n_live).map(traffic).collect(),
        fed: walk.without.keeps(Condition::Fed),
    };
    let made = walk.without.keeps(Condition::Made);
    let mut closed: Vec<bool> = live.iter().map(|a| made && statics.makes[a.proctype.index()]).collect(); // R1
    loop {
        let left = rounds.left(&closed);
        // The one after which the fewest edges are left; of several, the one whose closing steps are selected least.
        let mut moves = (0..n_live).filter(|i| left[*i] > 0);
        let best = if n_live > MOST_TRIED { moves.next() } else { None };
        let best = best.or_else(|| {
            moves.min_by_key(|i| {
                let mut with = closed.clone();
                with[*i] = true;
                (rounds.left(&with).iter().sum::<usize>(), u32::MAX - statics.seldom[live[*i].proctype.index()])
            })
        });
        match best {
            Some(best) => {
                debug_assert!(!closed[best], "R2: who is closed does not move");
                closed[best] = true;
                let fewer = rounds.left(&closed).iter().zip(&left).all(|(now, before)| now <= before);
                debug_assert!(fewer, "who is closed lets nobody else move");
            }
            None => break,
        }
    }
    // One that was chosen early may have become needless.
    let n_tried = if n_live > MOST_TRIED { 0 } else { n_live };
    for i in (0..n_tried).filter(|i| !(made && statics.makes[live[*i].proctype.index()])) {
        if std::mem::take(&mut closed[i]) && rounds.left(&closed).iter().any(|n| *n > 0) {
            closed[i] = true;
        }
    }
    debug_assert!(live.iter().zip(&closed).all(|(a, c)| *c || !made || !statics.makes[a.proctype.index()]), "R1");
    debug_assert!(rounds.left(&closed).iter().all(|n| *n == 0), "every cycle has a step that closes");
    let is_needed = |i: usize| {
        let mut without = closed.clone();
        !std::mem::take(&mut without[i])
            || made && statics.makes[live[i].proctype.index()]
            || rounds.left(&without).iter().any(|n| *n > 0)
    };
    debug_assert!((0..n_tried).all(is_needed), "whose loops are closed is needed");
    closed
}

impl Rounds<'_> {
    /// How many edges of each process may be taken in a cycle without steps that close.
    fn left(&self, closed: &[bool]) -> Vec<usize> {
        let dies = |e: &Edge| e.effects.contains(&Effect::End);
        let mut may: Vec<Vec<bool>> = Vec::new();
        for (actor, closed) in self.live.iter().zip(closed) {
            may.push(self.system.proctypes[actor.proctype].edges.iter().map(|e| !closed && !dies(e)).collect()); // R2
        }
        loop {
            let (mut sent, mut taken) = ([false; 256], [false; 256]);
            for (traffic, _) in
                self.traffic.iter().zip(&may).flat_map(|(t, may)| t.iter().zip(may).filter(|(_, m)| **m))
            {
                for (send, chans) in traffic {
                    let set = if *send { &mut sent } else { &mut taken };
                    chans.iter().for_each(|c| set[usize::from(*c)] = true);
                }
            }
            let mut changed = false;
            for ((actor, may), traffic) in self.live.iter().zip(&mut may).zip(&self.traffic) {
                let t = &self.system.proctypes[actor.proctype];
                let component = components(t.locs.len(), &|at, out: &mut Vec<usize>| {
                    let edges = t.locs[Loc::new(at)].edges.iter().filter(|e| may[e.index()]);
                    out.extend(edges.map(|e| t.edges[*e].to.index()));
                });
                for (n, edge) in t.edges.iter().enumerate() {
                    let round = component[edge.from.index()] == component[edge.to.index()]; // R3
                    let has = |(send, chans): &(bool, Vec<u8>)| {
                        let set = if *send { &taken } else { &sent };
                        (self.fed || *send) && chans.iter().any(|c| set[usize::from(*c)])
                    };
                    if may[n] && !(round && traffic[n].iter().all(has)) {
                        may[n] = false; // R4
                        changed = true;
                    }
                }
            }
            if !changed {
                return may.iter().map(|m| m.iter().filter(|m| **m).count()).collect();
            }
        }
    }
}
