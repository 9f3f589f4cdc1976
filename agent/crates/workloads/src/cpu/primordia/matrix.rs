//! Small symmetric matrices, row by row.

/// A square matrix.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    pub size: usize,
    pub values: Vec<f64>,
}

impl Matrix {
    pub fn of(size: usize, value: impl Fn(usize, usize) -> f64) -> Self {
        let values = (0..size * size)
            .map(|at| value(at / size, at % size))
            .collect();
        Self { size, values }
    }

    pub fn at(&self, row: usize, column: usize) -> f64 {
        self.values[row * self.size + column]
    }

    pub fn add(&mut self, other: &Self, factor: f64) {
        for (a, b) in self.values.iter_mut().zip(&other.values) {
            *a += factor * b;
        }
    }

    pub fn scale(&mut self, factor: f64) {
        self.values.iter_mut().for_each(|value| *value *= factor);
    }

    /// Σ of the products of the elements: the trace of the product of symmetric matrices.
    pub fn inner(&self, other: &Self) -> f64 {
        self.values
            .iter()
            .zip(&other.values)
            .map(|(a, b)| a * b)
            .sum()
    }
}

/// Columns of vectors: `vectors[column][row]`.
pub type Columns = Vec<Vec<f64>>;

/// Tᵗ·M·T for columns T.
pub fn transform(matrix: &Matrix, columns: &Columns) -> Matrix {
    let products: Columns = columns
        .iter()
        .map(|column| {
            let rows = matrix.values.chunks_exact(matrix.size);
            rows.map(|row| dot(row, column)).collect()
        })
        .collect();
    Matrix::of(columns.len(), |i, j| dot(&columns[i], &products[j]))
}

/// T·M·Tᵗ for columns T, as many as M has rows.
pub fn back(matrix: &Matrix, columns: &Columns) -> Matrix {
    let rows: Columns = (0..columns[0].len())
        .map(|row| columns.iter().map(|column| column[row]).collect())
        .collect();
    transform(matrix, &rows)
}

pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Eigenvalues in ascending order with their vectors, by C. G. J. Jacobi's rotations (H.
/// Rutishauser, Numerische Mathematik 9, 1966).
pub fn eigen(matrix: &Matrix) -> (Vec<f64>, Columns) {
    let n = matrix.size;
    let mut a = matrix.clone();
    let mut vectors: Columns = (0..n)
        .map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect())
        .collect();
    for _sweep in 0..60 {
        let mut off = 0.0;
        for p in 0..n {
            for q in p + 1..n {
                off += a.at(p, q) * a.at(p, q);
            }
        }
        if off == 0.0 {
            break;
        }
        for p in 0..n {
            for q in p + 1..n {
                rotate(&mut a, &mut vectors, p, q);
            }
        }
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| a.at(i, i).total_cmp(&a.at(j, j)));
    let values = order.iter().map(|&i| a.at(i, i)).collect();
    (values, order.iter().map(|&i| vectors[i].clone()).collect())
}

fn rotate(a: &mut Matrix, vectors: &mut Columns, p: usize, q: usize) {
    let n = a.size;
    let (app, aqq, apq) = (a.at(p, p), a.at(q, q), a.at(p, q));
    // What does not change the diagonal's last place is nothing.
    if apq.abs() <= 1e-17 * (app.abs() + aqq.abs()) {
        a.values[p * n + q] = 0.0;
        a.values[q * n + p] = 0.0;
        return;
    }
    let theta = (aqq - app) / (2.0 * apq);
    let sign = if theta < 0.0 { -1.0 } else { 1.0 };
    let t = sign / (theta.abs() + (theta * theta + 1.0).sqrt());
    let c = 1.0 / (t * t + 1.0).sqrt();
    let s = t * c;
    for k in 0..n {
        if k != p && k != q {
            let (akp, akq) = (a.at(k, p), a.at(k, q));
            let (new_p, new_q) = (c * akp - s * akq, s * akp + c * akq);
            a.values[k * n + p] = new_p;
            a.values[p * n + k] = new_p;
            a.values[k * n + q] = new_q;
            a.values[q * n + k] = new_q;
        }
    }
    a.values[p * n + p] = app - t * apq;
    a.values[q * n + q] = aqq + t * apq;
    a.values[p * n + q] = 0.0;
    a.values[q * n + p] = 0.0;
    let (left, right) = vectors.split_at_mut(q);
    for (x, y) in left[p].iter_mut().zip(&mut right[0]) {
        (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eigenvectors_are_orthonormal_and_give_the_matrix_back() {
        let matrix = Matrix::of(12, |i, j| {
            let (a, b) = (i.min(j) as f64, i.max(j) as f64);
            1.0 / (1.0 + a + b) + a * 0.1 - b * 0.01
        });
        let (values, vectors) = eigen(&matrix);
        assert!(values.windows(2).all(|pair| pair[0] <= pair[1]));
        for i in 0..12 {
            for j in 0..12 {
                let expected = f64::from(u8::from(i == j));
                assert!((dot(&vectors[i], &vectors[j]) - expected).abs() < 1e-13);
            }
        }
        let diagonal = transform(&matrix, &vectors);
        for (i, value) in values.iter().enumerate() {
            assert!((diagonal.at(i, i) - value).abs() < 1e-12);
        }
        let again = back(&diagonal, &vectors);
        for (a, b) in again.values.iter().zip(&matrix.values) {
            assert!((a - b).abs() < 1e-12);
        }
    }

    #[test]
    fn a_known_spectrum_comes_out() {
        // The second difference on n points: 2 − 2 cos(πk/(n+1)).
        let n = 9;
        let matrix = Matrix::of(n, |i, j| match i.abs_diff(j) {
            0 => 2.0,
            1 => -1.0,
            _ => 0.0,
        });
        let (values, _) = eigen(&matrix);
        for (k, value) in values.iter().enumerate() {
            let angle = std::f64::consts::PI * (k + 1) as f64 / (n + 1) as f64;
            assert!((value - (2.0 - 2.0 * angle.cos())).abs() < 1e-13);
        }
    }
}
