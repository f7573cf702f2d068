//! The weights of the model: a file of tensors, checked and laid out for the forward pass.

use safetensors::{Dtype, SafeTensors};

use super::matrix::Matrix;
use karat_evidence::json::problem::{Problem, Problems};

/// The sizes of a BERT encoder.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub vocabulary: usize,
    /// Most tokens of a text, the two of its frame included.
    pub positions: usize,
    /// Values that represent a token, between layers and in the end.
    pub hidden: usize,
    /// Parts of a token that attend to others separately; a divisor of `hidden`.
    pub heads: usize,
    /// Values inside the feed-forward part of a layer.
    pub feed_forward: usize,
    pub layers: usize,
}

impl Shape {
    /// The model card and `config.json` of all-MiniLM-L6-v2.
    pub(crate) const ALL_MINILM_L6_V2: Self =
        Self { vocabulary: 30_522, positions: 512, hidden: 384, heads: 12, feed_forward: 1536, layers: 6 };
}

/// A trained model.
#[derive(Debug)]
pub(super) struct Weights {
    pub shape: Shape,
    /// `vocabulary` rows of `hidden` values.
    pub words: Vec<f32>,
    /// `positions` rows of `hidden` values.
    pub positions: Vec<f32>,
    /// Segments separate a question from its answer. A text is one segment, so this is the row of the first one.
    pub segment: Vec<f32>,
    pub norm: Norm,
    pub layers: Vec<Layer>,
}

/// One layer: attention of every token to every token, then a feed-forward part for each token.
#[derive(Debug)]
pub(super) struct Layer {
    pub query: Matrix,
    pub key: Matrix,
    pub value: Matrix,
    pub attended: Matrix,
    pub attention_norm: Norm,
    pub widen: Matrix,
    pub narrow: Matrix,
    pub output_norm: Norm,
}

/// Scale and offset of a layer normalisation.
#[derive(Debug)]
pub(super) struct Norm {
    pub scale: Vec<f32>,
    pub offset: Vec<f32>,
}

impl Weights {
    /// Reads a file in the format `safetensors` with the tensor names of Hugging Face's `BertModel`. `file` is what
    /// problems call it.
    pub fn read(bytes: &[u8], shape: Shape, file: &str) -> Result<Self, Problems> {
        let tensors = SafeTensors::deserialize(bytes).map_err(|error| {
            Problem::at(
                file,
                format!("{} bytes that are not a safetensors file ({error})", bytes.len()),
                "the model's file `model.safetensors`, whole",
                "download it again",
            )
        })?;
        let mut reader = Reader { tensors, file, problems: Problems::default() };
        let Shape { vocabulary, positions, hidden, layers, .. } = shape;
        let weights = Self {
            shape,
            words: reader.tensor("embeddings.word_embeddings.weight", &[vocabulary, hidden]),
            positions: reader.tensor("embeddings.position_embeddings.weight", &[positions, hidden]),
            segment: {
                let mut rows = reader.tensor("embeddings.token_type_embeddings.weight", &[2, hidden]);
                rows.truncate(hidden);
                rows
            },
            norm: reader.norm("embeddings.LayerNorm", hidden),
            layers: (0..layers).map(|at| reader.layer(&format!("encoder.layer.{at}"), shape)).collect(),
        };
        if reader.problems.is_empty() { Ok(weights) } else { Err(reader.problems) }
    }
}

/// Takes tensors out of the file and collects what is wrong with them. A tensor with a problem becomes zeros.
struct Reader<'a> {
    tensors: SafeTensors<'a>,
    file: &'a str,
    problems: Problems,
}

impl Reader<'_> {
    fn tensor(&mut self, name: &str, shape: &[usize]) -> Vec<f32> {
        let size = shape.iter().product();
        let expected = format!("32-bit numbers of shape {shape:?}");
        let Ok(tensor) = self.tensors.tensor(name) else {
            self.problem(name, "no such tensor".to_owned(), expected);
            return vec![0.0; size];
        };
        if tensor.dtype() != Dtype::F32 || tensor.shape() != shape {
            self.problem(name, format!("{} of shape {:?}", tensor.dtype(), tensor.shape()), expected);
            return vec![0.0; size];
        }
        let (values, _) = tensor.data().as_chunks();
        let values: Vec<f32> = values.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        if let Some((at, value)) = values.iter().enumerate().find(|(_, value)| !value.is_finite()) {
            self.problem(name, format!("{value} as value {at}"), "finite numbers".to_owned());
        }
        values
    }

    /// Reads a linear map; the file has a row for each of its outputs.
    fn matrix(&mut self, name: &str, inputs: usize, outputs: usize) -> Matrix {
        let weight = self.tensor(&format!("{name}.weight"), &[outputs, inputs]);
        let bias = self.tensor(&format!("{name}.bias"), &[outputs]);
        let value = |table: &[f32], at: usize| table.get(at).copied().unwrap_or_default();
        Matrix::with_bias(
            inputs,
            outputs,
            |input, output| value(&weight, output * inputs + input),
            |output| value(&bias, output),
        )
    }

    fn norm(&mut self, name: &str, size: usize) -> Norm {
        Norm {
            scale: self.tensor(&format!("{name}.weight"), &[size]),
            offset: self.tensor(&format!("{name}.bias"), &[size]),
        }
    }

    fn layer(&mut self, name: &str, Shape { hidden, feed_forward, .. }: Shape) -> Layer {
        Layer {
            query: self.matrix(&format!("{name}.attention.self.query"), hidden, hidden),
            key: self.matrix(&format!("{name}.attention.self.key"), hidden, hidden),
            value: self.matrix(&format!("{name}.attention.self.value"), hidden, hidden),
            attended: self.matrix(&format!("{name}.attention.output.dense"), hidden, hidden),
            attention_norm: self.norm(&format!("{name}.attention.output.LayerNorm"), hidden),
            widen: self.matrix(&format!("{name}.intermediate.dense"), hidden, feed_forward),
            narrow: self.matrix(&format!("{name}.output.dense"), feed_forward, hidden),
            output_norm: self.norm(&format!("{name}.output.LayerNorm"), hidden),
        }
    }

    fn problem(&mut self, tensor: &str, found: String, expected: String) {
        self.problems.add(|| Problem::at(format!("{}: tensor `{tensor}`", self.file), found, expected, ""));
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeMap;

    use safetensors::tensor::TensorView;

    use super::*;

    /// A small model, of no size that fits the lanes of a processor.
    pub const SMALL: Shape =
        Shape { vocabulary: 24, positions: 16, hidden: 36, heads: 3, feed_forward: 70, layers: 2 };

    /// Tensors by name: type, shape and bytes.
    type Tensors = BTreeMap<String, (Dtype, Vec<usize>, Vec<u8>)>;

    /// Returns a model of the given shape with numbers from -`largest` to `largest` in no order.
    fn tensors(shape: Shape, largest: f32) -> Tensors {
        let Shape { vocabulary, positions, hidden, feed_forward, layers, .. } = shape;
        let mut shapes: Vec<(String, Vec<usize>)> =
            [("word", vocabulary), ("position", positions), ("token_type", 2)]
                .map(|(name, rows)| (format!("embeddings.{name}_embeddings.weight"), vec![rows, hidden]))
                .into();
        let norms = |name: String| ["weight", "bias"].map(|part| (format!("{name}.{part}"), vec![hidden]));
        shapes.extend(norms("embeddings.LayerNorm".into()));
        for layer in 0..layers {
            let name = |part: &str| format!("encoder.layer.{layer}.{part}");
            for (part, inputs, outputs) in [
                ("attention.self.query", hidden, hidden),
                ("attention.self.key", hidden, hidden),
                ("attention.self.value", hidden, hidden),
                ("attention.output.dense", hidden, hidden),
                ("intermediate.dense", hidden, feed_forward),
                ("output.dense", feed_forward, hidden),
            ] {
                shapes.push((name(part) + ".weight", vec![outputs, inputs]));
                shapes.push((name(part) + ".bias", vec![outputs]));
            }
            shapes.extend(norms(name("attention.output.LayerNorm")));
            shapes.extend(norms(name("output.LayerNorm")));
        }
        let mut state = 1_u64;
        let mut bytes = |shape: &Vec<usize>| {
            let noise = std::iter::repeat_with(|| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                ((state >> 40) as f32 / 8_388_608.0 - 1.0) * largest
            });
            noise.take(shape.iter().product()).flat_map(f32::to_le_bytes).collect()
        };
        shapes
            .into_iter()
            .map(|(name, shape)| {
                let bytes = bytes(&shape);
                (name, (Dtype::F32, shape, bytes))
            })
            .collect()
    }

    fn file(tensors: &Tensors) -> Vec<u8> {
        let views = tensors.iter().map(|(name, (dtype, shape, bytes))| {
            (name, TensorView::new(*dtype, shape.clone(), bytes).unwrap())
        });
        safetensors::serialize(views, None).unwrap()
    }

    pub fn model(largest: f32) -> Weights {
        Weights::read(&file(&tensors(SMALL, largest)), SMALL, "model").unwrap()
    }

    /// Returns the refusal of a small model after a change of its tensors.
    fn refusal(change: impl FnOnce(&mut Tensors)) -> String {
        let mut tensors = tensors(SMALL, 1.0);
        change(&mut tensors);
        Weights::read(&file(&tensors), SMALL, "model").map(|_| ()).unwrap_err().to_string()
    }

    #[test]
    fn all_that_is_wrong_is_said_at_once() {
        let said = refusal(|tensors| {
            tensors.remove("encoder.layer.1.output.dense.weight");
            let offset = tensors.get_mut("embeddings.LayerNorm.bias").unwrap();
            *offset = (Dtype::F16, vec![36], vec![0; 72]);
            let words = tensors.get_mut("embeddings.word_embeddings.weight").unwrap();
            words.1 = vec![36, 24];
            let norm = tensors.get_mut("encoder.layer.0.output.LayerNorm.weight").unwrap();
            norm.2[8..12].copy_from_slice(&f32::NAN.to_le_bytes());
        });
        assert_eq!(
            said.lines().collect::<Vec<_>>(),
            [
                "model: tensor `embeddings.word_embeddings.weight`: found F32 of shape [36, 24], expected 32-bit numbers of shape [24, 36]",
                "model: tensor `embeddings.LayerNorm.bias`: found F16 of shape [36], expected 32-bit numbers of shape [36]",
                "model: tensor `encoder.layer.0.output.LayerNorm.weight`: found NaN as value 2, expected finite numbers",
                "model: tensor `encoder.layer.1.output.dense.weight`: found no such tensor, expected 32-bit numbers of shape [36, 70]",
            ]
        );
    }

    #[test]
    fn other_tensors_do_no_harm() {
        let mut tensors = tensors(SMALL, 1.0);
        tensors.insert("pooler.dense.bias".into(), (Dtype::I64, vec![1], vec![1; 8]));
        assert!(Weights::read(&file(&tensors), SMALL, "model").is_ok());
    }

    /// Headers that lie about their length or the data, and a file that ends early.
    #[test]
    fn what_is_no_file_of_tensors_is_refused() {
        let whole = file(&tensors(SMALL, 1.0));
        let mut endless = whole.clone();
        endless[..8].copy_from_slice(&u64::MAX.to_le_bytes());
        let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
        let beyond = r#"{"embeddings.LayerNorm.bias":{"dtype":"F32","shape":[36],"data_offsets":[0,144]}}"#;
        let overflowing =
            format!(r#"{{"a":{{"dtype":"F32","shape":[{0},{0}],"data_offsets":[0,4]}}}}"#, u64::MAX);
        let with_header = |header: &str| [&(header.len() as u64).to_le_bytes(), header.as_bytes()].concat();
        for bytes in [
            Vec::new(),
            b"<html>".to_vec(),
            whole[..whole.len() - 1].to_vec(),
            whole[..whole.len() / 2].to_vec(),
            [&whole[..], &[0]].concat(),
            endless,
            with_header(&deep),
            with_header(beyond),
            with_header(&overflowing),
        ] {
            let said = Weights::read(&bytes, SMALL, "model").map(|_| ()).unwrap_err().to_string();
            assert!(said.starts_with("model: found ") && said.contains("not a safetensors file"), "{said}");
            assert!(said.lines().count() == 1, "{said}");
        }
    }
}
