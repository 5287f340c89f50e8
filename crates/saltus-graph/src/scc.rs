//! Strongly connected components (Tarjan 1972), without recursion.

/// Components of the graph `successors[n]`, in an order in which every component comes after those it points to:
/// if an edge n → m means "n needs m", the order is an order of evaluation. Nodes of a component are ascending.
pub fn strongly_connected_components(successors: &[Vec<u32>]) -> Vec<Vec<u32>> {
    const UNSEEN: u32 = u32::MAX;
    let n = successors.len();
    let mut index = vec![UNSEEN; n];
    let mut low = vec![0u32; n];
    let mut on_stack = vec![false; n];
    let mut stack: Vec<u32> = Vec::new();
    let mut work: Vec<(u32, usize)> = Vec::new();
    let mut components = Vec::new();
    let mut counter = 0;
    for root in 0..n {
        if index[root] != UNSEEN {
            continue;
        }
        work.push((root as u32, 0));
        while let Some(&mut (node, ref mut edge)) = work.last_mut() {
            saltus_control::checkpoint();
            let v = node as usize;
            if *edge == 0 {
                index[v] = counter;
                low[v] = counter;
                counter += 1;
                stack.push(node);
                on_stack[v] = true;
            }
            if let Some(&next) = successors[v].get(*edge) {
                *edge += 1;
                let w = next as usize;
                if index[w] == UNSEEN {
                    work.push((next, 0));
                } else if on_stack[w] {
                    low[v] = low[v].min(index[w]);
                }
                continue;
            }
            work.pop();
            if let Some(&(parent, _)) = work.last() {
                low[parent as usize] = low[parent as usize].min(low[v]);
            }
            if low[v] == index[v] {
                let mut component = Vec::new();
                while let Some(w) = stack.pop() {
                    on_stack[w as usize] = false;
                    component.push(w);
                    if w == node {
                        break;
                    }
                }
                component.sort_unstable();
                components.push(component);
            }
        }
    }
    components
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// 2000 cases, or what `SALTUS_PROPTEST_CASES` says.
    pub(crate) fn cases() -> ProptestConfig {
        let cases = std::env::var("SALTUS_PROPTEST_CASES")
            .ok()
            .and_then(|s| s.parse().ok())
            .unwrap_or(2000);
        ProptestConfig {
            cases,
            failure_persistence: None,
            ..ProptestConfig::default()
        }
    }

    #[test]
    fn a_ring_with_a_tail_has_the_tail_first() {
        let components = strongly_connected_components(&[vec![1], vec![2], vec![0, 3], vec![]]);
        assert_eq!(components, [vec![3], vec![0, 1, 2]]);
    }

    #[test]
    fn a_node_without_edges_is_seen_once() {
        assert_eq!(
            strongly_connected_components(&[vec![], vec![], vec![1]]),
            [vec![0], vec![1], vec![2]]
        );
    }

    proptest! {
        #![proptest_config(cases())]
        #[test]
        fn components_are_mutual_reachability(
            edges in prop::collection::vec(prop::collection::vec(0u32..8, 0..4), 8)
        ) {
            let n = edges.len();
            let mut reach = vec![vec![false; n]; n];
            for (i, row) in reach.iter_mut().enumerate() {
                row[i] = true;
                for &j in &edges[i] {
                    row[j as usize] = true;
                }
            }
            for k in 0..n {
                for i in 0..n {
                    for j in 0..n {
                        reach[i][j] |= reach[i][k] && reach[k][j];
                    }
                }
            }
            let components = strongly_connected_components(&edges);
            let mut place = vec![usize::MAX; n];
            for (k, component) in components.iter().enumerate() {
                for &v in component {
                    prop_assert_eq!(place[v as usize], usize::MAX);
                    place[v as usize] = k;
                }
            }
            for i in 0..n {
                for j in 0..n {
                    prop_assert_eq!(place[i] == place[j], reach[i][j] && reach[j][i]);
                    if reach[i][j] {
                        prop_assert!(place[j] <= place[i]);
                    }
                }
            }
        }
    }
}
