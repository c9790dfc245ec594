//! The third opinion: the whole graph, in the most boring way.
//!
//! No numbers that matter, no batches, no cleverness: a map from keys to nodes, lists of edges, and searches that a
//! reader checks at a glance. Tests compare every engine with it. It is slow, and meant to be.

use crate::verdict::Kind;
use spinor_model::fault::Fault;
use spinor_model::ir::Pid;
use spinor_model::successors::{Step, Successors};
use std::collections::{BTreeMap, BTreeSet};

/// Everything reachable.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// Node 0 is the initial state; empty if it cannot be made.
    pub nodes: Vec<Node>,
    pub start_fault: Option<Fault>,
}

#[derive(Clone, Debug, Default)]
pub struct Node {
    pub key: Vec<u8>,
    pub edges: Vec<GraphEdge>,
    /// Least number of steps from the initial state.
    pub distance: usize,
    /// No step, and the run may not end here.
    pub bad_end: bool,
}

#[derive(Clone, Debug)]
pub struct GraphEdge {
    pub step: Step,
    /// `None` if a fatal fault ended it.
    pub to: Option<usize>,
    pub faults: Vec<Fault>,
    pub atomic_steps: u32,
}

impl Graph {
    pub fn build<S: Successors>(system: &S) -> Graph {
        let mut graph = Graph::default();
        let mut known: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
        let initial = match system.initial() {
            Ok(state) => state,
            Err(fault) => {
                graph.start_fault = Some(fault);
                return graph;
            }
        };
        let mut key = Vec::new();
        system.pack(&initial, &mut key);
        known.insert(key.clone(), 0);
        graph.nodes.push(Node { key, ..Node::default() });
        let mut next = 0;
        while next < graph.nodes.len() {
            let mut state = system.unpack(&graph.nodes[next].key);
            let before = &graph.nodes[next.saturating_sub(1)];
            assert!(before.distance <= graph.nodes[next].distance, "nodes are met by their distance");
            let mut steps = Vec::new();
            system.enabled(&mut state, &mut steps);
            graph.nodes[next].bad_end = steps.is_empty() && !system.may_end(&state);
            for step in steps {
                let mut batch = system.batch();
                system.fire(&mut state, &[step], &mut batch);
                for (n, outcome) in batch.outcomes.iter().enumerate() {
                    let to = batch.key(outcome).map(|key| {
                        let distance = graph.nodes[next].distance + 1;
                        *known.entry(key.to_vec()).or_insert_with(|| {
                            graph.nodes.push(Node { key: key.to_vec(), distance, ..Node::default() });
                            graph.nodes.len() - 1
                        })
                    });
                    let (faults, atomic_steps) = (batch.faults_of(n).cloned().collect(), outcome.atomic_steps);
                    graph.nodes[next].edges.push(GraphEdge { step, to, faults, atomic_steps });
                }
            }
            next += 1;
        }
        graph
    }

    pub fn n_transitions(&self) -> usize {
        usize::from(!self.nodes.is_empty())
            + self.nodes.iter().flat_map(|n| &n.edges).filter(|e| e.to.is_some()).count()
    }

    pub fn n_atomic_steps(&self) -> u64 {
        self.nodes.iter().flat_map(|n| &n.edges).map(|e| u64::from(e.atomic_steps)).sum()
    }

    /// How many violations of this kind there are, and the length of the shortest trace to one.
    pub fn violations(&self, kind: Kind) -> (u64, Option<usize>) {
        let mut lengths = Vec::new();
        if self.start_fault.as_ref().is_some_and(|f| Kind::of(&f.kind) == kind) {
            lengths.push(0);
        }
        for node in &self.nodes {
            if kind == Kind::EndState && node.bad_end {
                lengths.push(node.distance);
            }
            for fault in node.edges.iter().flat_map(|e| &e.faults) {
                if Kind::of(&fault.kind) == kind {
                    lengths.push(node.distance + 1);
                }
            }
        }
        (lengths.len() as u64, lengths.iter().min().copied())
    }

    /// The strongly connected components with at least one inner edge, by mutual reachability.
    pub fn components(&self) -> Vec<BTreeSet<usize>> {
        let reach: Vec<BTreeSet<usize>> = (0..self.nodes.len()).map(|n| self.reachable_from(n)).collect();
        let mut done = BTreeSet::new();
        let mut out = Vec::new();
        for n in 0..self.nodes.len() {
            if !done.contains(&n) && reach[n].contains(&n) {
                let component: BTreeSet<usize> = reach[n].iter().copied().filter(|m| reach[*m].contains(&n)).collect();
                assert!(done.is_disjoint(&component), "a node is in one component");
                done.extend(component.iter().copied());
                out.push(component);
            }
        }
        out
    }

    /// Nodes reachable by one edge or more.
    fn reachable_from(&self, n: usize) -> BTreeSet<usize> {
        let mut seen = BTreeSet::new();
        let mut todo = vec![n];
        while let Some(n) = todo.pop() {
            for to in self.nodes[n].edges.iter().filter_map(|e| e.to) {
                if seen.insert(to) {
                    todo.push(to);
                }
            }
        }
        seen
    }

    /// Is there an infinite run that passes through acceptance for ever? Under weak fairness (`fair`): in which
    /// moreover every process that can always move does. The run may be taken to visit a whole component for
    /// ever, which makes each process move or stop being enabled as often as the component lets it.
    /// Runs that end are not infinite here: a caller that wants them stutters first.
    pub fn has_accepting_run(&self, accepting: &dyn Fn(usize, &GraphEdge) -> bool, fair: Option<&[Pid]>) -> bool {
        self.components().iter().any(|component| {
            let inner = || {
                let edges = component.iter().flat_map(|n| self.nodes[*n].edges.iter().map(move |e| (*n, e)));
                edges.filter(|(_, e)| e.to.is_some_and(|t| component.contains(&t)))
            };
            let accepts = inner().any(|(n, e)| accepting(n, e));
            let served = |pid: Pid| {
                let moves = inner().any(|(_, e)| e.step.pid == pid);
                let stops = component.iter().any(|n| self.nodes[*n].edges.iter().all(|e| e.step.pid != pid));
                moves || stops
            };
            accepts && fair.unwrap_or(&[]).iter().all(|pid| served(*pid))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toy::Toy;

    #[test]
    fn distances_are_least_and_counts_are_all() {
        // 0 -> 1 -> 2 -> 0, 0 -> 2, and 1 fails an assertion on its way.
        let toy = Toy::graph(&[(0, 1), (1, 2), (2, 0), (0, 2)]).asserting(1);
        let g = Graph::build(&toy);
        let distances: Vec<usize> = g.nodes.iter().map(|n| n.distance).collect();
        assert_eq!(distances, [0, 1, 1]);
        assert_eq!(g.n_transitions(), 5);
        assert_eq!(g.violations(Kind::Assertion), (1, Some(2)));
        assert_eq!(g.violations(Kind::EndState), (0, None));
    }

    #[test]
    fn components_need_an_inner_edge() {
        let g = Graph::build(&Toy::graph(&[(0, 1), (1, 2), (2, 1), (0, 3), (3, 3), (3, 4)]));
        let keys = |c: &BTreeSet<usize>| c.iter().map(|n| g.nodes[*n].key[0]).collect::<Vec<_>>();
        let mut found: Vec<Vec<u8>> = g.components().iter().map(keys).collect();
        found.sort();
        assert_eq!(found, [vec![1, 2], vec![3]]);
    }

    #[test]
    fn a_process_that_can_always_move_and_never_does_makes_a_cycle_unfair() {
        // Process 0 turns 0 -> 1 -> 0; process 1 could leave to 2 from both.
        let toy = Toy::graph(&[(0, 1), (1, 0), (0, 2), (1, 2)]).owned(2, 1).owned(3, 1);
        let g = Graph::build(&toy);
        assert!(g.has_accepting_run(&|_, _| true, None));
        assert!(!g.has_accepting_run(&|_, _| true, Some(&[0, 1])));
        // If it can leave from one of them only, it is not always enabled.
        let toy = Toy::graph(&[(0, 1), (1, 0), (0, 2)]).owned(2, 1);
        assert!(Graph::build(&toy).has_accepting_run(&|_, _| true, Some(&[0, 1])));
        // Acceptance outside the component does not count.
        let toy = Toy::graph(&[(0, 1), (1, 1)]);
        let g = Graph::build(&toy);
        assert!(!g.has_accepting_run(&|n, _| n == 0, None));
        assert!(g.has_accepting_run(&|n, _| n == 1, None));
    }
}
