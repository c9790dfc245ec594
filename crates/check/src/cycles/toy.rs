//! Random graphs with marks and owners.

use super::{Moves, Pids, Runs};
use crate::toy::Rng;
use spinor_model::ir::Pid;

/// Nodes are numbers.
#[derive(Clone, Debug, Default)]
pub struct ToyRuns {
    pub initial: Vec<u32>,
    pub arcs: Vec<ToyMove>,
    /// Who is able to move at each node, beside those who have an arc there.
    pub able: Vec<Pids>,
    pub n_marks: u32,
    /// The arcs that end the matter.
    pub ends: Vec<usize>,
}

#[derive(Clone, Debug)]
pub struct ToyMove {
    pub from: u32,
    pub to: u32,
    pub marks: u64,
    pub pid: Option<Pid>,
}

impl ToyRuns {
    /// At most so many nodes.
    pub fn random(seed: u64, most: u64) -> ToyRuns {
        let mut rng = Rng(seed);
        let n = 1 + rng.below(most);
        let n_marks = rng.below(4) as u32;
        let (n_pids, rare) = (1 + rng.below(3), 1 + rng.below(4));
        let node = |rng: &mut Rng| rng.below(n) as u32;
        let n_arcs = rng.below(3 * n + 1);
        let arcs = (0..n_arcs).map(|_| {
            let marks = (0..n_marks).filter(|_| rng.below(1 + rare) == 0).fold(0, |marks, m| marks | 1 << m);
            let pid = (rng.below(8) > 0).then(|| rng.below(n_pids) as Pid);
            ToyMove { from: node(&mut rng), to: node(&mut rng), marks, pid }
        });
        let arcs: Vec<ToyMove> = arcs.collect();
        let able = (0..n).map(|_| {
            let mut able = Pids::default();
            (0..n_pids).filter(|_| rng.below(6) == 0).for_each(|pid| able.put(pid as Pid));
            able
        });
        let able = able.collect();
        let initial = (0..1 + rng.below(2)).map(|_| node(&mut rng)).collect();
        let ends = if rng.below(8) == 0 { (0..arcs.len()).filter(|_| rng.below(8) == 0).collect() } else { Vec::new() };
        ToyRuns { initial, arcs, able, n_marks, ends }
    }
}

impl Runs for ToyRuns {
    type Desk = ();
    fn desk(&self) {}

    fn n_marks(&self) -> u32 {
        self.n_marks
    }

    fn initial(&self, _: &mut (), out: &mut Moves) {
        self.initial.iter().for_each(|node| out.push(&node.to_le_bytes(), 0, None));
    }

    fn moves(&self, _: &mut (), key: &[u8], out: &mut Moves) {
        let node = u32::from_le_bytes(*key.first_chunk().expect("four bytes"));
        out.able = self.able.get(node as usize).copied().unwrap_or_default();
        for (n, arc) in self.arcs.iter().enumerate().filter(|(_, arc)| arc.from == node) {
            if self.ends.contains(&n) {
                out.ends.get_or_insert(out.all.len() as u32);
            }
            out.push(&arc.to.to_le_bytes(), arc.marks, arc.pid);
            out.able = out.able.union(Pids::of(arc.pid));
        }
    }
}
