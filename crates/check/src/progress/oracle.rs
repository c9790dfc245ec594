//! The whole graph: whether it has a cycle without progress, and after how little progress.
//!
//! The level of each state is lowered until nothing changes. Then states without a move that makes no progress to a state that
//! is left are taken away until nothing changes. From each state that is left a cycle can be reached without progress, and
//! such moves lead to no higher level: the least level of what is left is that of a cycle.

use super::{Found, Ground, Out, Which};
use std::collections::BTreeMap;

pub struct Graph {
    keys: Vec<Vec<u8>>,
    progress: Vec<bool>,
    /// From, to, and whether the step makes progress.
    moves: Vec<(usize, usize, bool)>,
}

impl Graph {
    pub fn new<G: Ground>(ground: &G) -> Graph {
        let mut graph = Graph { keys: Vec::new(), progress: Vec::new(), moves: Vec::new() };
        let (mut desk, mut out, mut first) = (ground.desk(), ground.out(), Vec::new());
        let mut numbers: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
        if ground.initial(&mut desk, &mut first) {
            numbers.insert(first.clone(), 0);
            graph.keys.push(first);
        }
        while graph.progress.len() < graph.keys.len() {
            let from = graph.progress.len();
            graph.progress.push(ground.bring(&mut desk, &graph.keys[from]));
            out.clear();
            ground.moves(&mut desk, Which::All, &mut out);
            let Out { made, .. } = &out;
            for (n, made) in made.iter().enumerate() {
                let key = out.key(n).to_vec();
                let to = *numbers.entry(key).or_insert_with_key(|key| {
                    graph.keys.push(key.clone());
                    graph.keys.len() - 1
                });
                graph.moves.push((from, to, *made));
            }
        }
        graph
    }

    pub fn len(&self) -> usize {
        self.keys.len()
    }

    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    pub fn n_moves(&self) -> usize {
        self.moves.len()
    }

    fn costs(&self, &(_, to, made): &(usize, usize, bool)) -> u64 {
        u64::from(made || self.progress[to])
    }

    /// The least number of moves that make progress on the way to a cycle without any.
    pub fn level(&self) -> Option<u64> {
        let mut level = vec![u64::MAX; self.keys.len()];
        level.first_mut().into_iter().for_each(|first| *first = 0);
        let mut changed = true;
        while changed {
            changed = false;
            for m in &self.moves {
                let through = level[m.0].saturating_add(self.costs(m));
                if through < level[m.1] {
                    level[m.1] = through;
                    changed = true;
                }
            }
        }
        let mut left: Vec<bool> = self.progress.iter().map(|progress| !progress).collect();
        loop {
            let mut stays = vec![false; left.len()];
            for m in self.moves.iter().filter(|m| self.costs(m) == 0 && left[m.0] && left[m.1]) {
                stays[m.0] = true;
            }
            if stays == left {
                break;
            }
            left = stays;
        }
        level.iter().zip(left).filter(|(_, left)| *left).map(|(level, _)| *level).min()
    }

    /// Panics unless this is a run from the initial state into a cycle without progress, and says its level rightly.
    pub fn judge(&self, found: &Found) {
        let number = |key: &Vec<u8>| self.keys.iter().position(|k| k == key).expect("a state of the graph");
        let all: Vec<(usize, bool)> =
            found.stem.iter().chain(&found.cycle).map(|at| (number(&at.key), at.made)).collect();
        assert_eq!(all[0].0, 0, "a run begins at the beginning");
        let n_stem = found.stem.len();
        let mut level = 0;
        let go = |from: usize, to: usize, made: bool| {
            assert!(self.moves.contains(&(from, to, made)), "there is no such move");
            u64::from(made || self.progress[to])
        };
        for pair in all[..=n_stem].windows(2) {
            level += go(pair[0].0, pair[1].0, pair[1].1);
        }
        assert_eq!(level, found.level, "the progress before the cycle");
        let cycle: Vec<usize> = all[n_stem..].iter().map(|(n, _)| *n).collect();
        let back = cycle.iter().cycle().skip(1);
        let progress: u64 = cycle.iter().zip(back).map(|(from, to)| go(*from, *to, false)).sum();
        assert_eq!(progress, 0, "a cycle without progress");
    }
}
