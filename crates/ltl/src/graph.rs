//! Strongly connected components (Tarjan), without recursion.

/// For each of `n` nodes the number of its component; a component's number is greater than those it leads to.
/// Components of nodes that no root reaches are `u32::MAX`.
pub struct Components {
    pub of: Vec<u32>,
    pub n: usize,
}

const NONE: u32 = u32::MAX;
/// Nodes of a graph that is looked at again in debug builds.
const MOST_CHECKED: usize = 64;

impl Components {
    /// The components of some nodes of a larger graph, which are in ascending order, and so are those of each.
    pub fn among(nodes: &[usize], successor: impl Fn(usize, usize) -> Option<usize>) -> Vec<Vec<usize>> {
        let place = |n: usize| nodes.binary_search(&n).ok();
        // What leads elsewhere stays where it is.
        let inside = |at: usize, nth: usize| successor(nodes[at], nth).map(|to| place(to).unwrap_or(at));
        let components = Components::new(nodes.len(), 0..nodes.len(), inside);
        let mut all = vec![Vec::new(); components.n];
        debug_assert!(nodes.is_sorted_by(|a, b| a < b), "they are looked for by number");
        nodes.iter().zip(&components.of).for_each(|(n, of)| all[*of as usize].push(*n));
        all
    }

    pub fn new(
        n: usize,
        roots: impl Iterator<Item = usize>,
        successor: impl Fn(usize, usize) -> Option<usize>,
    ) -> Self {
        let mut of = vec![NONE; n];
        let mut order = vec![NONE; n];
        let mut low = vec![NONE; n];
        let (mut n_seen, mut n_components) = (0, 0);
        let mut open: Vec<usize> = Vec::new();
        for root in roots {
            if order[root] != NONE {
                continue;
            }
            let mut path: Vec<(usize, usize)> = vec![(root, 0)];
            order[root] = n_seen;
            low[root] = n_seen;
            n_seen += 1;
            open.push(root);
            while let Some((at, next)) = path.last_mut() {
                let at = *at;
                if let Some(to) = successor(at, *next) {
                    *next += 1;
                    if order[to] == NONE {
                        order[to] = n_seen;
                        low[to] = n_seen;
                        n_seen += 1;
                        open.push(to);
                        path.push((to, 0));
                    } else if of[to] == NONE {
                        low[at] = low[at].min(order[to]);
                    }
                    continue;
                }
                path.pop();
                if let Some(&(parent, _)) = path.last() {
                    low[parent] = low[parent].min(low[at]);
                }
                if low[at] == order[at] {
                    while let Some(member) = open.pop() {
                        of[member] = n_components;
                        if member == at {
                            break;
                        }
                    }
                    n_components += 1;
                }
            }
        }
        debug_assert!(open.is_empty(), "each component is closed when it is left");
        let is_below = |s: usize| of[s] == NONE || (0..).map_while(|nth| successor(s, nth)).all(|to| of[to] <= of[s]);
        debug_assert!(n > MOST_CHECKED || (0..n).all(is_below), "a component leads to lesser ones only");
        Components { of, n: n_components as usize }
    }
}
