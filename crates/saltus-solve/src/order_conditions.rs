//! Order conditions of Runge–Kutta tableaux by rooted trees (Hairer, Nørsett, Wanner, Solving ODEs I, II.2): a method has order p if
//! Σ b_i Φ_i(t) = 1/γ(t) for all trees t with at most p nodes, and its interpolant if Σ b_i(θ) Φ_i(t) = θ^|t|/γ(t). For tests.

/// A rooted tree as the list of the trees at its root.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
struct Tree(Vec<Tree>);

impl Tree {
    fn nodes(&self) -> usize {
        1 + self.0.iter().map(Tree::nodes).sum::<usize>()
    }

    /// γ: the product of the sizes of all subtrees.
    fn density(&self) -> f64 {
        self.nodes() as f64 * self.0.iter().map(Tree::density).product::<f64>()
    }

    /// Φ_i of every stage.
    fn weights(&self, a: &[Vec<f64>]) -> Vec<f64> {
        let mut product = vec![1.0; a.len()];
        for child in &self.0 {
            let inner = child.weights(a);
            for (p, row) in product.iter_mut().zip(a) {
                *p *= row.iter().zip(&inner).map(|(a, w)| a * w).sum::<f64>();
            }
        }
        product
    }
}

/// All trees with `n` nodes, n = 1..=max.
fn trees(max: usize) -> Vec<Vec<Tree>> {
    let mut all: Vec<Vec<Tree>> = vec![Vec::new(), vec![Tree(Vec::new())]];
    for n in 2..=max {
        let mut found = Vec::new();
        forests(n - 1, n - 1, usize::MAX, &all, &mut Vec::new(), &mut found);
        all.push(found);
    }
    all
}

/// Multisets of trees with `left` nodes in all, in falling order of (size, place).
fn forests(
    left: usize,
    size: usize,
    place: usize,
    all: &[Vec<Tree>],
    chosen: &mut Vec<Tree>,
    found: &mut Vec<Tree>,
) {
    if left == 0 {
        found.push(Tree(chosen.clone()));
        return;
    }
    for next in (1..=size.min(left)).rev() {
        let last = if next == size { place } else { usize::MAX };
        for (i, tree) in all[next].iter().enumerate().take(last.saturating_add(1)) {
            chosen.push(tree.clone());
            forests(left - next, next, i, all, chosen, found);
            chosen.pop();
        }
    }
}

/// Largest |Σ b_i Φ_i(t) - θ^|t|/γ(t)| over the trees of each size 1..=max.
pub(crate) fn defects(a: &[Vec<f64>], b: &[f64], theta: f64, max: usize) -> Vec<f64> {
    trees(max)[1..]
        .iter()
        .map(|trees| {
            trees.iter().fold(0.0f64, |worst, tree| {
                let sum: f64 = b.iter().zip(tree.weights(a)).map(|(b, w)| b * w).sum();
                worst.max((sum - theta.powi(tree.nodes() as i32) / tree.density()).abs())
            })
        })
        .collect()
}

/// The conditions up to `order` hold to round-off, and those of the next order do not.
pub(crate) fn assert_order(a: &[Vec<f64>], b: &[f64], theta: f64, order: usize) {
    let defects = defects(a, b, theta, order + 1);
    for (i, defect) in defects[..order].iter().enumerate() {
        assert!(*defect < 2e-14, "order {} at {theta}: {defects:?}", i + 1);
    }
    assert!(
        defects[order] > 1e-9,
        "more than order {order}: {defects:?}"
    );
}

/// A square tableau from the rows of an explicit one, with zeros added.
pub(crate) fn square(rows: &[&[f64]]) -> Vec<Vec<f64>> {
    let n = rows.len();
    rows.iter()
        .map(|row| {
            let mut full = row.to_vec();
            full.resize(n, 0.0);
            full
        })
        .collect()
}

#[test]
fn trees_are_counted_as_in_the_literature() {
    let counts: Vec<usize> = trees(8)[1..].iter().map(Vec::len).collect();
    assert_eq!(counts, [1, 1, 2, 4, 9, 20, 48, 115]);
}
