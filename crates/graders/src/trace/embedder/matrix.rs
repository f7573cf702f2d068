//! The product of rows and a matrix, in an order that no processor can change.
//!
//! Every element of a product is `bias + x[0] w[0] + x[1] w[1] + …`, summed in this order, each product and each sum
//! rounded by itself. What runs side by side in vector lanes are different elements, never parts of one sum. So lanes
//! of any width give the same bits.

/// Columns that are computed side by side: four registers of AVX2, two of AVX-512, eight of SSE2 or NEON.
const LANES: usize = 32;

const ROWS: usize = 2;

/// One value of each of [`LANES`] columns, where a load never crosses a line of the processor's cache.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct Lanes([f32; LANES]);

impl Lanes {
    /// Takes the values of columns from `first` on; columns beyond the last one are padded with zeros.
    fn new(first: usize, columns: usize, value: impl Fn(usize) -> f32) -> Self {
        Self(std::array::from_fn(|lane| if first + lane < columns { value(first + lane) } else { 0.0 }))
    }
}

/// A matrix of `depth` rows and `columns` columns with a bias for each column, laid out as the product reads it: panels
/// of [`LANES`] columns, each from the first row to the last.
#[derive(Debug)]
pub(super) struct Matrix {
    depth: usize,
    columns: usize,
    biases: Vec<Lanes>,
    /// `depth` for each panel.
    panels: Vec<Lanes>,
}

impl Matrix {
    /// Makes the matrix whose element in `row` and `column` is `value(row, column)`, without bias.
    pub fn new(depth: usize, columns: usize, value: impl Fn(usize, usize) -> f32) -> Self {
        Self::with_bias(depth, columns, value, |_| 0.0)
    }

    /// Makes the matrix whose element in `row` and `column` is `value(row, column)`.
    pub(crate) fn with_bias(
        depth: usize,
        columns: usize,
        value: impl Fn(usize, usize) -> f32,
        bias: impl Fn(usize) -> f32,
    ) -> Self {
        let firsts = || (0..columns).step_by(LANES);
        Self {
            depth,
            columns,
            biases: firsts().map(|first| Lanes::new(first, columns, &bias)).collect(),
            panels: firsts()
                .flat_map(|first| (0..depth).map(move |row| (first, row)))
                .map(|(first, row)| Lanes::new(first, columns, |column| value(row, column)))
                .collect(),
        }
    }

    /// Returns how many values a product has.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Multiplies each row of `input` by the matrix into the same row of `output`.
    ///
    /// A row is the first `depth` values of every `input_stride` (`columns` of every `output_stride`), so that a part
    /// of the columns of a wider table can be read and written where it lies.
    #[inline(always)]
    pub fn multiply(&self, input: &[f32], input_stride: usize, output: &mut [f32], output_stride: usize) {
        let panels = self.panels.chunks_exact(self.depth.max(1)).zip(&self.biases);
        for (first, (panel, bias)) in (0..).step_by(LANES).zip(panels) {
            let blocks = input.chunks(ROWS * input_stride).zip(output.chunks_mut(ROWS * output_stride));
            for (input, output) in blocks {
                // The last block may have one row: it is computed twice and written once.
                let (upper, lower) = input.split_at(input_stride.min(input.len()));
                let sums = block(panel, bias, upper, if lower.is_empty() { upper } else { lower });
                for (row, sum) in output.chunks_mut(output_stride).zip(&sums) {
                    let wanted = row.iter_mut().take(self.columns).skip(first);
                    wanted.zip(sum).for_each(|(place, value)| *place = *value);
                }
            }
        }
    }
}

#[inline(always)]
fn block(panel: &[Lanes], bias: &Lanes, upper: &[f32], lower: &[f32]) -> [[f32; LANES]; ROWS] {
    let [mut above, mut below] = [bias.0; ROWS];
    for ((Lanes(weights), x), y) in panel.iter().zip(upper).zip(lower) {
        for ((a, b), weight) in above.iter_mut().zip(&mut below).zip(weights) {
            *a += x * weight;
            *b += y * weight;
        }
    }
    [above, below]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(seed: usize) -> f32 {
        (seed.wrapping_mul(2_654_435_761) % 2003) as f32 / 1001.0 - 1.0
    }

    /// Sizes around the lanes and the blocks, a window of a wider table, and the written order to the bit.
    #[test]
    fn a_product_is_the_sum_in_the_written_order() {
        for rows in [1, 2, 3, 5] {
            for (depth, columns) in [(1, 1), (7, 31), (32, 32), (33, 65)] {
                let (input_stride, output_stride) = (depth + 3, columns + 5);
                let input: Vec<f32> = (0..rows * input_stride).map(noise).collect();
                let weight = |row: usize, column: usize| noise(row * columns + column + 17);
                let bias = |column: usize| noise(column + 71);
                let matrix = Matrix::with_bias(depth, columns, weight, bias);
                let mut output = vec![9.0; rows * output_stride];
                matrix.multiply(&input, input_stride, &mut output, output_stride);
                for row in 0..rows {
                    for column in 0..output_stride {
                        let expected = if column < columns {
                            (0..depth).fold(bias(column), |sum, at| {
                                sum + input[row * input_stride + at] * weight(at, column)
                            })
                        } else {
                            9.0
                        };
                        let found = output[row * output_stride + column];
                        assert_eq!(found.to_bits(), expected.to_bits(), "{rows} {depth} {columns}");
                    }
                }
            }
        }
    }
}
