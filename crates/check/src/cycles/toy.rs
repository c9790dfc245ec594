//! Random graphs with marks and owners.

use super::{Moves, Part, Pids, Runs, all_marks};
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
    /// By node; empty if all are in one.
    pub parts: Vec<Part>,
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
        ToyRuns { initial, arcs, able, n_marks, ends, parts: Vec::new() }
    }

    /// The same in parts: some components together are one, and it may be said to be barren if it is.
    pub fn in_parts(mut self, seed: u64) -> ToyRuns {
        let n = self.able.len();
        let mut reaches = vec![vec![false; n]; n];
        self.arcs.iter().for_each(|arc| reaches[arc.from as usize][arc.to as usize] = true);
        for via in 0..n {
            for from in 0..n {
                for to in 0..n {
                    reaches[from][to] |= reaches[from][via] && reaches[via][to];
                }
            }
        }
        let component = |at: usize| (0..n).find(|b| *b == at || reaches[at][*b] && reaches[*b][at]).expect("itself");
        let mut rng = Rng(seed);
        let names: Vec<u32> = (0..n).map(|_| rng.below(3) as u32).collect();
        let mut fertile = [0; 3].map(|_| rng.below(2) == 0);
        for at in 0..n {
            let inside = |arc: &&ToyMove| [arc.from, arc.to].iter().all(|b| component(*b as usize) == component(at));
            let marks = self.arcs.iter().filter(inside).map(|arc| arc.marks).reduce(|a, b| a | b);
            fertile[names[component(at)] as usize] |= marks == Some(all_marks(self.n_marks));
        }
        let part = |at: usize| {
            let number = names[component(at)];
            Part { number, barren: !fertile[number as usize] }
        };
        self.parts = (0..n).map(part).collect();
        self
    }
}

impl Runs for ToyRuns {
    type Desk = ();
    fn desk(&self) {}

    fn n_marks(&self) -> u32 {
        self.n_marks
    }

    fn part(&self, key: &[u8]) -> Part {
        let node = u32::from_le_bytes(*key.first_chunk().expect("four bytes"));
        self.parts.get(node as usize).copied().unwrap_or_default()
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
