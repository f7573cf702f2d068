//! The forward pass: tokens in, the vector of the text out.
//!
//! The encoder of BERT (Devlin et al. 2018, section 3; Vaswani et al. 2017, sections 3.1 to 3.3) with the exact GELU
//! (Hendrycks and Gimpel 2016), then the mean over all tokens, scaled to length 1 (model card of all-MiniLM-L6-v2).
//! Every sum is taken in the written order, in 32 bits; `exp` and `erf` come from `libm`. All functions are inlined
//! into their caller, so that [`super::vector`] gets copies of the same loops for wider instructions.

use std::f32::consts::FRAC_1_SQRT_2;

use super::matrix::Matrix;
use super::weights::{Layer, Norm, Weights};

/// Keeps a normalisation from dividing by zero: `layer_norm_eps` of the model's `config.json`.
const NORM_EPSILON: f32 = 1e-12;

/// Returns the vector of a text with the given tokens. Its length is 1, unless the weights overflow on the way.
#[inline(always)]
pub(super) fn encode(weights: &Weights, tokens: &[u32]) -> Vec<f32> {
    let mut states = embed(weights, tokens);
    for layer in &weights.layers {
        let attended = attend(layer, &states, weights.shape.hidden, weights.shape.heads);
        let attended = apply(&layer.attended, &attended, weights.shape.hidden);
        add_and_normalise(&mut states, &attended, &layer.attention_norm);
        let mut wide = apply(&layer.widen, &states, weights.shape.hidden);
        wide.iter_mut().for_each(|x| *x = gelu(*x));
        let narrow = apply(&layer.narrow, &wide, weights.shape.feed_forward);
        add_and_normalise(&mut states, &narrow, &layer.output_norm);
    }
    pool(&states, weights.shape.hidden)
}

/// Returns the input of the layers: a row for each token, of its word, its position and the segment.
#[inline(always)]
fn embed(weights: &Weights, tokens: &[u32]) -> Vec<f32> {
    let hidden = weights.shape.hidden;
    let mut states = Vec::with_capacity(tokens.len() * hidden);
    for (token, position) in tokens.iter().zip(weights.positions.chunks_exact(hidden)) {
        let word = weights.words.chunks_exact(hidden).nth(*token as usize).unwrap_or_default();
        let parts = word.iter().zip(position).zip(&weights.segment);
        states.extend(parts.map(|((word, position), segment)| word + position + segment));
    }
    normalise(&mut states, &weights.norm);
    states
}

/// Applies attention: for every token the mean of the values of all tokens, weighted by how well its query fits their
/// keys.
#[inline(always)]
fn attend(layer: &Layer, states: &[f32], hidden: usize, heads: usize) -> Vec<f32> {
    let tokens = states.len() / hidden;
    let size = hidden / heads;
    let scale = (size as f32).sqrt();
    let queries = apply(&layer.query, states, hidden);
    let keys = apply(&layer.key, states, hidden);
    let values = apply(&layer.value, states, hidden);
    let mut fits = vec![0.0; tokens * tokens];
    let mut attended = vec![0.0; states.len()];
    for first in (0..hidden).step_by(size) {
        let at = |table: &[f32], token: usize, column: usize| {
            table.get(token * hidden + first + column).copied().unwrap_or_default()
        };
        let (_, queries) = queries.split_at(first);
        let (_, attended) = attended.split_at_mut(first);
        Matrix::new(size, tokens, |column, token| at(&keys, token, column))
            .multiply(queries, hidden, &mut fits, tokens);
        for row in fits.chunks_exact_mut(tokens) {
            row.iter_mut().for_each(|fit| *fit /= scale);
            softmax(row);
        }
        Matrix::new(tokens, size, |token, column| at(&values, token, column))
            .multiply(&fits, tokens, attended, hidden);
    }
    attended
}

/// Returns the product of every row of `input`, of `width` values, and a matrix.
#[inline(always)]
fn apply(matrix: &Matrix, input: &[f32], width: usize) -> Vec<f32> {
    let mut output = vec![0.0; input.len() / width * matrix.columns()];
    matrix.multiply(input, width, &mut output, matrix.columns());
    output
}

/// Shares of one whole, in proportion to the exponentials.
#[inline(always)]
fn softmax(row: &mut [f32]) {
    let largest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut whole = 0.0;
    for x in row.iter_mut() {
        *x = libm::expf(*x - largest);
        whole += *x;
    }
    row.iter_mut().for_each(|x| *x /= whole);
}

#[inline(always)]
fn gelu(x: f32) -> f32 {
    0.5 * x * (1.0 + libm::erff(x * FRAC_1_SQRT_2))
}

#[inline(always)]
fn add_and_normalise(states: &mut [f32], change: &[f32], norm: &Norm) {
    states.iter_mut().zip(change).for_each(|(state, change)| *state += change);
    normalise(states, norm);
}

/// Brings every row to mean 0 and variance 1, then to the scale and offset that were learnt.
#[inline(always)]
fn normalise(states: &mut [f32], norm: &Norm) {
    let size = norm.scale.len();
    for row in states.chunks_exact_mut(size.max(1)) {
        let mean = row.iter().fold(0.0, |sum, x| sum + x) / size as f32;
        row.iter_mut().for_each(|x| *x -= mean);
        let variance = row.iter().fold(0.0, |sum, x| sum + x * x) / size as f32;
        let deviation = (variance + NORM_EPSILON).sqrt();
        for ((x, scale), offset) in row.iter_mut().zip(&norm.scale).zip(&norm.offset) {
            *x = *x / deviation * scale + offset;
        }
    }
}

/// Returns the mean of all rows, scaled to length 1.
#[inline(always)]
fn pool(states: &[f32], hidden: usize) -> Vec<f32> {
    let mut mean = vec![0.0; hidden];
    for row in states.chunks_exact(hidden) {
        mean.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
    }
    let tokens = (states.len() / hidden) as f32;
    mean.iter_mut().for_each(|sum| *sum /= tokens);
    let length = mean.iter().fold(0.0, |sum, x| sum + x * x).sqrt();
    mean.iter_mut().for_each(|x| *x /= length);
    mean
}

#[cfg(test)]
mod tests {
    use super::super::vector::encode;
    use super::super::weights::tests::{SMALL, model};
    use super::*;
    use crate::instructions::Instructions;

    /// These bits must be the same everywhere: the last figures of every sum, `exp` and `erf` are in them.
    #[test]
    fn the_bits_are_pinned() {
        let tokens = [1, 2, 3, 10, 0, 7, 2];
        let vector = encode(Instructions::best(), &model(1.0), &tokens);
        let bytes: Vec<u8> = vector.iter().flat_map(|value| value.to_le_bytes()).collect();
        let digest = karat_core::facts::Digest::of(&bytes).to_string();
        assert_eq!(digest, "sha256:aa17ba9ddf585438d08c566d9dd5b9b4b6facecf70ba093a0cbd0090e8f3bcfd");
    }

    #[test]
    fn a_vector_has_length_one_and_depends_on_the_order() {
        let weights = model(1.0);
        let [one, other] =
            [[1, 2, 3], [2, 1, 3]].map(|tokens| encode(Instructions::best(), &weights, &tokens));
        assert_eq!(one.len(), SMALL.hidden);
        let square: f64 = one.iter().map(|x| f64::from(x * x)).fold(0.0, |sum, x| sum + x);
        assert!((square - 1.0).abs() < 1e-6, "{square}");
        assert!(one.iter().zip(&other).any(|(x, y)| (x - y).abs() > 1e-3));
    }

    #[test]
    fn softmax_shares_one_whole() {
        let mut row = [1.0, 2.0, 1000.0, 1000.0, f32::MIN];
        softmax(&mut row);
        assert_eq!(row, [0.0, 0.0, 0.5, 0.5, 0.0]);
    }

    /// Values of x Phi(x), with Phi from tables of the normal distribution.
    #[test]
    fn gelu_is_the_exact_one() {
        for (x, expected) in
            [(0.0, 0.0), (1.0, 0.841_344_8), (-1.0, -0.158_655_25), (3.0, 2.995_950_3), (-20.0, 0.0)]
        {
            assert!((gelu(x) - expected).abs() < 1e-6, "{x}");
        }
    }

    #[test]
    fn a_normalised_row_has_the_learnt_mean_and_scale() {
        let norm = Norm { scale: vec![2.0; 4], offset: vec![5.0; 4] };
        let mut rows = [1.0, -1.0, 1.0, -1.0, 7.0, 7.0, 7.0, 7.0];
        normalise(&mut rows, &norm);
        assert_eq!(rows, [7.0, 3.0, 7.0, 3.0, 5.0, 5.0, 5.0, 5.0]);
    }
}
