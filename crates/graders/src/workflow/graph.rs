//! A directed graph over numbered nodes: its tiers, its cycles, and which node comes before which.

use std::collections::BTreeSet;

/// Nodes `0..nodes` and the edges between them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Graph {
    nodes: usize,
    /// The edges (from, to), sorted, each once.
    edges: Vec<(usize, usize)>,
}

/// Bits of the word that says which of as many nodes lie before a node.
const LANES: usize = u64::BITS as usize;
/// The most walks of the whole graph to find what lies before what.
const WALKS: usize = 16;

impl Graph {
    /// Makes a graph of the edges whose ends are among its nodes and differ.
    pub(super) fn new(nodes: usize, mut edges: Vec<(usize, usize)>) -> Self {
        edges.retain(|&(from, to)| from < nodes && to < nodes && from != to);
        edges.sort_unstable();
        edges.dedup();
        Self { nodes, edges }
    }

    /// Returns the edges (from, to), sorted.
    pub(super) fn edges(&self) -> &[(usize, usize)] {
        &self.edges
    }

    fn successors(&self, node: usize) -> impl Iterator<Item = usize> {
        let first = self.edges.partition_point(|&(from, _)| from < node);
        self.edges.iter().skip(first).take_while(move |&&(from, _)| from == node).map(|&(_, to)| to)
    }

    /// Returns the nodes in levels, each node in the first level after those of all its predecessors (Kahn 1962), and
    /// within a level by number.
    ///
    /// # Errors
    /// If cycles prevent it: some of them, none of which shares a node with another.
    pub(super) fn tiers(&self) -> Result<Vec<Vec<usize>>, Vec<Vec<usize>>> {
        let mut waiting = vec![0usize; self.nodes];
        for &(_, to) in &self.edges {
            if let Some(count) = waiting.get_mut(to) {
                *count += 1;
            }
        }
        let mut tiers = Vec::new();
        let mut placed = 0;
        let mut tier: Vec<usize> =
            waiting.iter().enumerate().filter(|&(_, &count)| count == 0).map(|(node, _)| node).collect();
        while !tier.is_empty() {
            placed += tier.len();
            let mut next = Vec::new();
            for to in tier.iter().flat_map(|&node| self.successors(node)) {
                if let Some(count) = waiting.get_mut(to) {
                    *count -= 1;
                    if *count == 0 {
                        next.push(to);
                    }
                }
            }
            next.sort_unstable();
            tiers.push(std::mem::replace(&mut tier, next));
        }
        if placed == self.nodes { Ok(tiers) } else { Err(self.cycles(&waiting)) }
    }

    /// Finds cycles. Every node that still waits has a predecessor that waits too, so going back from one must come
    /// round.
    fn cycles(&self, waiting: &[usize]) -> Vec<Vec<usize>> {
        let waits = |node: usize| waiting.get(node).is_some_and(|&count| count > 0);
        let mut before = vec![None; self.nodes];
        for &(from, to) in self.edges.iter().filter(|&&(from, to)| waits(from) && waits(to)) {
            if let Some(before) = before.get_mut(to) {
                *before = Some(from);
            }
        }
        let mut cycles = Vec::new();
        let mut met_from = vec![None; self.nodes];
        for start in (0..self.nodes).filter(|&node| waits(node)) {
            let mut walk = Vec::new();
            let mut here = Some(start);
            while let Some(node) = here {
                match met_from.get_mut(node) {
                    Some(met @ None) => *met = Some(start),
                    _ => break,
                }
                walk.push(node);
                here = before.get(node).copied().flatten();
            }
            // Where the walk of an earlier start was met, that walk has reported the cycle.
            if let Some(first) = here.and_then(|met| walk.iter().position(|&node| node == met)) {
                let mut cycle = walk.split_off(first);
                cycle.reverse();
                let least = cycle.iter().enumerate().min_by_key(|&(_, node)| node).map_or(0, |(at, _)| at);
                cycle.rotate_left(least);
                cycles.push(cycle);
            }
        }
        cycles
    }

    /// Returns, for each pair, whether the first node lies before the second, given the tiers of the graph. `None`
    /// where too many different nodes are asked about for all answers to be found in a time in proportion to the graph:
    /// the direct edges are always answered, and of the other first nodes the first 1,024.
    pub(super) fn lies_before(&self, tiers: &[Vec<usize>], pairs: &[(usize, usize)]) -> Vec<Option<bool>> {
        let mut answers: Vec<_> =
            pairs.iter().map(|pair| self.edges.binary_search(pair).ok().map(|_| true)).collect();
        let mut open: Vec<_> =
            pairs.iter().zip(&mut answers).filter(|(_, answer)| answer.is_none()).collect();
        open.sort_unstable_by_key(|&(&(from, _), _)| from);
        let sources: BTreeSet<usize> = open.iter().map(|&(&(from, _), _)| from).collect();
        let sources: Vec<usize> = sources.into_iter().collect();

        let mut open = open.into_iter().peekable();
        for lanes in sources.chunks(LANES).take(WALKS) {
            let before = self.lanes_before(tiers, lanes);
            let last = lanes.last().copied().unwrap_or_default();
            while let Some((&(from, to), answer)) = open.next_if(|&(&(from, _), _)| from <= last) {
                let lane = lanes.binary_search(&from).unwrap_or_default();
                *answer = before.get(to).map(|&word| word >> lane & 1 == 1);
            }
        }
        answers
    }

    /// Returns, for each node, which of the nodes of the `lanes` (sorted, at most 64) lie before it or are it: a bit
    /// for each.
    fn lanes_before(&self, tiers: &[Vec<usize>], lanes: &[usize]) -> Vec<u64> {
        let mut before = vec![0u64; self.nodes];
        for (lane, &node) in lanes.iter().enumerate() {
            if let Some(word) = before.get_mut(node) {
                *word = 1 << lane;
            }
        }
        for &node in tiers.iter().flatten() {
            let word = before.get(node).copied().unwrap_or_default();
            if word != 0 {
                for to in self.successors(node) {
                    if let Some(after) = before.get_mut(to) {
                        *after |= word;
                    }
                }
            }
        }
        before
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Computes the transitive closure by squaring paths (Warshall 1962), to compare with.
    fn closure(nodes: usize, edges: &[(usize, usize)]) -> Vec<Vec<bool>> {
        let mut reach = vec![vec![false; nodes]; nodes];
        for &(from, to) in edges.iter().filter(|(from, to)| from != to) {
            reach[from][to] = true;
        }
        for middle in 0..nodes {
            for from in 0..nodes {
                for to in 0..nodes {
                    reach[from][to] |= reach[from][middle] && reach[middle][to];
                }
            }
        }
        reach
    }

    #[test]
    fn a_diamond_has_three_tiers() {
        let graph = Graph::new(4, vec![(3, 1), (3, 2), (1, 0), (2, 0), (2, 0)]);
        assert_eq!(graph.tiers(), Ok(vec![vec![3], vec![1, 2], vec![0]]));
    }

    #[test]
    fn cycles_that_share_no_node_are_all_told_from_their_least_node() {
        let edges = vec![(4, 2), (2, 3), (3, 4), (0, 1), (1, 0), (4, 5), (5, 6), (7, 2)];
        assert_eq!(Graph::new(8, edges).tiers(), Err(vec![vec![0, 1], vec![2, 3, 4]]));
    }

    #[test]
    fn more_first_nodes_than_can_be_followed_stay_open() {
        let nodes = LANES * WALKS + 10;
        let chain: Vec<_> = (1..nodes).map(|node| (node - 1, node)).collect();
        let graph = Graph::new(nodes, chain);
        let tiers = graph.tiers().unwrap();
        let pairs: Vec<_> = (2..nodes).map(|node| (node - 2, node)).collect();
        let answers = graph.lies_before(&tiers, &pairs);
        assert_eq!(answers.iter().filter(|answer| **answer == Some(true)).count(), LANES * WALKS);
        assert_eq!(answers.iter().filter(|answer| answer.is_none()).count(), 8);
        assert_eq!(graph.lies_before(&tiers, &[(5, 3), (3, 5)]), [Some(false), Some(true)]);
    }

    proptest! {
        #[test]
        fn tiers_cycles_and_order_agree_with_the_closure(
            nodes in 1usize..9,
            edges in prop::collection::vec((0usize..9, 0usize..9), 0..20),
        ) {
            let edges: Vec<_> = edges.into_iter().map(|(from, to)| (from % nodes, to % nodes)).collect();
            let reach = closure(nodes, &edges);
            let graph = Graph::new(nodes, edges.clone());
            match graph.tiers() {
                Ok(tiers) => {
                    prop_assert!(reach.iter().enumerate().all(|(node, after)| !after[node]));
                    let tier_of = |node| tiers.iter().position(|tier| tier.contains(&node)).unwrap();
                    let depth = |node: usize| {
                        let before = reach.iter().enumerate().filter(|(_, after)| after[node]);
                        before.map(|(other, _)| tier_of(other) + 1).max().unwrap_or(0)
                    };
                    prop_assert!((0..nodes).all(|node| tier_of(node) == depth(node)));
                    prop_assert!(tiers.iter().all(|tier| tier.is_sorted()));
                    let pairs: Vec<_> =
                        (0..nodes * nodes).map(|at| (at / nodes, at % nodes)).filter(|(a, b)| a != b).collect();
                    for (&(from, to), answer) in pairs.iter().zip(graph.lies_before(&tiers, &pairs)) {
                        prop_assert_eq!(answer, Some(reach[from][to]));
                    }
                }
                Err(cycles) => {
                    prop_assert!(!cycles.is_empty());
                    let mut seen = BTreeSet::new();
                    for cycle in cycles {
                        let next = cycle.iter().cycle().skip(1);
                        prop_assert!(cycle.iter().zip(next).all(|(&from, &to)| edges.contains(&(from, to))));
                        prop_assert!(cycle.iter().all(|&node| seen.insert(node)));
                    }
                }
            }
        }
    }
}
