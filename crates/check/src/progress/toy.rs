//! Random graphs in which states or moves make progress.

use super::{Ground, Out, Which};
use crate::toy::Rng;

#[derive(Clone, Debug, Default)]
pub struct ToyGround {
    /// From, to, and whether the step makes progress.
    pub arcs: Vec<(u32, u32, bool)>,
    /// Progress states.
    pub progress: Vec<u32>,
    pub by_steps: bool,
}

impl ToyGround {
    /// Node 0 is where runs begin.
    pub fn states(arcs: &[(u32, u32)], progress: &[u32]) -> ToyGround {
        let arcs = arcs.iter().map(|(from, to)| (*from, *to, false)).collect();
        ToyGround { arcs, progress: progress.to_vec(), by_steps: false }
    }

    pub fn steps(arcs: &[(u32, u32, bool)]) -> ToyGround {
        ToyGround { arcs: arcs.to_vec(), progress: Vec::new(), by_steps: true }
    }

    /// With few arcs, or much progress, so that about every second one has no cycle without progress.
    pub fn random(seed: u64, most: u64) -> ToyGround {
        let mut rng = Rng(seed);
        let n = 1 + rng.below(most);
        let by_steps = rng.below(2) == 0;
        let many = 2 + rng.below(2);
        let n_arcs = rng.below(many * n + 1);
        let frequent = 1 + rng.below(3);
        let arcs = (0..n_arcs).map(|_| {
            let (from, to) = (rng.below(n) as u32, rng.below(n) as u32);
            // Back arcs make progress more often: otherwise nearly every graph has a cycle without.
            let rare = if to <= from { 1 + frequent } else { 5 };
            let made = by_steps && if to <= from { rng.below(rare) > 0 } else { rng.below(rare) == 0 };
            (from, to, made)
        });
        let arcs = arcs.collect();
        let progress = (0..n as u32).filter(|_| !by_steps && rng.below(1 + frequent) == 0).collect();
        ToyGround { arcs, progress, by_steps }
    }
}

impl Ground for ToyGround {
    type Desk = u32;

    fn desk(&self) -> u32 {
        0
    }

    fn out(&self) -> Out {
        Out::default()
    }

    fn by_steps(&self) -> bool {
        self.by_steps
    }

    fn initial(&self, _: &mut u32, key: &mut Vec<u8>) -> bool {
        key.extend(key_of(0));
        true
    }

    fn bring(&self, desk: &mut u32, key: &[u8]) -> bool {
        *desk = u32::from_le_bytes(*key.first_chunk().expect("four bytes"));
        self.progress.contains(desk)
    }

    fn moves(&self, desk: &mut u32, which: Which, out: &mut Out) {
        let own: Vec<_> = self.arcs.iter().filter(|(from, ..)| from == desk).collect();
        out.more = own.iter().any(|(.., made)| *made);
        for (_, to, made) in own {
            if which == Which::All || *made == (which == Which::Progress) {
                let from = out.batch.keys.len();
                out.batch.keys.extend(key_of(*to));
                out.keys.push(from..out.batch.keys.len());
                if which == Which::All {
                    out.made.push(*made);
                }
            }
        }
    }
}

/// As long as a grain, so that a thread's `Recent` keeps it.
fn key_of(node: u32) -> [u8; 16] {
    let mut key = [0; 16];
    key[..4].copy_from_slice(&node.to_le_bytes());
    key
}
