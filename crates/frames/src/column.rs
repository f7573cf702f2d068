//! Columns of a batch as the engine reads them.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, DecimalType,
    Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, BooleanArray, Int64Array, PrimitiveArray, RecordBatch, RunArray};
use arrow_buffer::{ArrowNativeType, NullBuffer};
use arrow_schema::DataType;
use karat::columns::{Bits, Field, Texts, Values};

/// A batch of a data frame: columns under their names; those of structs under their path, `metrics.cost`.
pub struct Frame {
    rows: usize,
    columns: Vec<Column>,
}

/// A column: numbers and bits where Arrow has them, texts that are reached by row.
pub(crate) struct Column {
    name: String,
    data: Data,
    nulls: Option<NullBuffer>,
}

enum Data {
    /// Numbers of a type that the engine reads, or booleans.
    Plain(ArrayRef),
    /// Numbers of another type.
    Doubles(Vec<f64>),
    Words(Words),
    Missing,
    Other(String),
}

/// Texts of an array; of a dictionary by the place of each row among its values.
struct Words {
    values: ArrayRef,
    places: Option<Vec<usize>>,
}

impl Texts for Words {
    fn text(&self, row: usize) -> Option<&str> {
        let row = self.places.as_ref().map_or(Some(row), |places| places.get(row).copied())?;
        text_of(&self.values, row)
    }
}

/// Returns the text of a row of an array of texts.
pub(crate) fn text_of(array: &dyn Array, row: usize) -> Option<&str> {
    if row >= array.len() || array.is_null(row) {
        return None;
    }
    match array.data_type() {
        DataType::Utf8 => Some(array.as_string::<i32>().value(row)),
        DataType::LargeUtf8 => Some(array.as_string::<i64>().value(row)),
        DataType::Utf8View => Some(array.as_string_view().value(row)),
        _ => None,
    }
}

/// Calls `$with` with the type of an array of primitive numbers that the engine reads, whatever it is.
macro_rules! with_numbers {
    ($of:expr, $type:ident => $with:expr, $else:expr) => {
        match $of {
            DataType::Float64 => {
                type $type = Float64Type;
                $with
            }
            DataType::Float32 => {
                type $type = Float32Type;
                $with
            }
            DataType::Int64 => {
                type $type = Int64Type;
                $with
            }
            DataType::Int32 => {
                type $type = Int32Type;
                $with
            }
            DataType::Int16 => {
                type $type = Int16Type;
                $with
            }
            DataType::Int8 => {
                type $type = Int8Type;
                $with
            }
            DataType::UInt64 => {
                type $type = UInt64Type;
                $with
            }
            DataType::UInt32 => {
                type $type = UInt32Type;
                $with
            }
            DataType::UInt16 => {
                type $type = UInt16Type;
                $with
            }
            DataType::UInt8 => {
                type $type = UInt8Type;
                $with
            }
            _ => $else,
        }
    };
}

impl Frame {
    /// Takes the columns of a batch; nothing is copied but what Arrow packs: dictionaries, decimals, runs.
    pub fn new(batch: &RecordBatch) -> Self {
        let mut columns = Vec::new();
        let schema = batch.schema();
        for (field, array) in schema.fields().iter().zip(batch.columns()) {
            Column::add(field.name().clone(), array, None, &mut columns);
        }
        Self { rows: batch.num_rows(), columns }
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the columns, as [`Table`](karat::columns::Table) takes them.
    pub fn fields(&self) -> Vec<Field<'_>> {
        self.columns.iter().map(Column::field).collect()
    }
}

impl Column {
    fn add(name: String, array: &ArrayRef, above: Option<&NullBuffer>, columns: &mut Vec<Self>) {
        let nulls = NullBuffer::union(above, array.logical_nulls().as_ref());
        if let Some(parts) = array.as_struct_opt() {
            for (field, part) in parts.fields().iter().zip(parts.columns()) {
                Self::add(format!("{name}.{}", field.name()), part, nulls.as_ref(), columns);
            }
            return;
        }
        columns.push(Self { name, data: Data::new(array), nulls });
    }

    fn field(&self) -> Field<'_> {
        let values = match &self.data {
            Data::Plain(array) => plain(array),
            Data::Doubles(numbers) => Values::F64(numbers),
            Data::Words(words) => Values::Texts(words),
            Data::Missing => Values::Missing,
            Data::Other(name) => Values::Other(name),
        };
        let valid = self.nulls.as_ref().map(|nulls| Bits { bytes: nulls.validity(), start: nulls.offset() });
        Field { name: &self.name, values, valid }
    }
}

impl Data {
    fn new(array: &ArrayRef) -> Self {
        match array.data_type() {
            DataType::Null => Self::Missing,
            DataType::Boolean => Self::Plain(array.clone()),
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
                Self::Words(Words { values: array.clone(), places: None })
            }
            DataType::Float16 => Self::Doubles(
                array.as_primitive::<Float16Type>().values().iter().map(|it| it.to_f64()).collect(),
            ),
            DataType::Decimal32(..) => decimals::<Decimal32Type>(array),
            DataType::Decimal64(..) => decimals::<Decimal64Type>(array),
            DataType::Decimal128(..) => decimals::<Decimal128Type>(array),
            DataType::Decimal256(..) => decimals::<Decimal256Type>(array),
            DataType::Dictionary(..) | DataType::RunEndEncoded(..) => match unpacked(array) {
                Some((values, places)) => Self::of_places(&values, places),
                None => Self::Other(array.data_type().to_string()),
            },
            other => {
                with_numbers!(other, T => { let _: Option<T> = None; Self::Plain(array.clone()) }, Self::Other(other.to_string()))
            }
        }
    }

    /// Takes the values at these places; what is at the place of a null does not matter.
    fn of_places(values: &ArrayRef, places: Vec<usize>) -> Self {
        match Self::new(values) {
            Self::Words(Words { values, places: inner }) => {
                // Values may be packed themselves. A place past them has no text.
                let of = |place: usize| match &inner {
                    Some(inner) => inner.get(place).copied().unwrap_or(usize::MAX),
                    None => place,
                };
                Self::Words(Words { values, places: Some(places.into_iter().map(of).collect()) })
            }
            Self::Doubles(numbers) => Self::Doubles(
                places.iter().map(|place| numbers.get(*place).copied().unwrap_or(f64::NAN)).collect(),
            ),
            Self::Plain(values) if values.data_type() == &DataType::Boolean => {
                let values = values.as_boolean();
                let bit = |place: &usize| *place < values.len() && values.value(*place);
                Self::Plain(std::sync::Arc::new(BooleanArray::from(
                    places.iter().map(bit).collect::<Vec<bool>>(),
                )))
            }
            Self::Plain(values) => {
                with_numbers!(values.data_type(), T => Self::Plain(gathered::<T>(&values, &places)), Self::Missing)
            }
            other => other,
        }
    }
}

fn gathered<T: ArrowPrimitiveType>(values: &ArrayRef, places: &[usize]) -> ArrayRef {
    let values = values.as_primitive::<T>().values();
    let number = |place: &usize| values.get(*place).copied().unwrap_or_default();
    std::sync::Arc::new(PrimitiveArray::<T>::from_iter_values(places.iter().map(number)))
}

/// Returns the values of a dictionary or of runs, and the place of each row among them.
pub(crate) fn unpacked(array: &ArrayRef) -> Option<(ArrayRef, Vec<usize>)> {
    if let Some(dictionary) = array.as_any_dictionary_opt() {
        let places = match dictionary.values().is_empty() {
            true => vec![0; dictionary.len()],
            false => dictionary.normalized_keys(),
        };
        return Some((dictionary.values().clone(), places));
    }
    fn runs<R: arrow_array::types::RunEndIndexType>(runs: &RunArray<R>) -> (ArrayRef, Vec<usize>) {
        let ends: Vec<usize> = runs.run_ends().sliced_values().map(|end| end.as_usize()).collect();
        let mut place = 0;
        let of = |row: usize| {
            while ends.get(place).is_some_and(|end| *end <= row) {
                place += 1;
            }
            place
        };
        let places = (0..runs.len()).map(of).collect();
        (runs.values_slice(), places)
    }
    let DataType::RunEndEncoded(ends, _) = array.data_type() else { return None };
    Some(match ends.data_type() {
        DataType::Int16 => runs(array.as_run::<Int16Type>()),
        DataType::Int32 => runs(array.as_run::<Int32Type>()),
        _ => runs(array.as_run::<Int64Type>()),
    })
}

/// Returns decimals as the nearest doubles, as JSON has them.
fn decimals<T: DecimalType + ArrowPrimitiveType>(array: &ArrayRef) -> Data {
    let array = array.as_primitive::<T>();
    let (precision, scale) = (array.precision(), array.scale());
    if scale == 0 {
        // Whole numbers stay such, so that those that a double does not hold are found.
        let whole = |value: T::Native| T::format_decimal(value, precision, scale).parse::<i64>().ok();
        let wholes: Option<Vec<i64>> = array
            .values()
            .iter()
            .enumerate()
            .map(|(row, value)| if array.is_null(row) { Some(0) } else { whole(*value) })
            .collect();
        if let Some(wholes) = wholes {
            return Data::Plain(std::sync::Arc::new(Int64Array::from(wholes)));
        }
    }
    let double = |value: T::Native| T::format_decimal(value, precision, scale).parse().unwrap_or(f64::NAN);
    Data::Doubles(array.values().iter().map(|value| double(*value)).collect())
}

fn plain(array: &ArrayRef) -> Values<'_> {
    match array.data_type() {
        DataType::Float64 => Values::F64(array.as_primitive::<Float64Type>().values()),
        DataType::Float32 => Values::F32(array.as_primitive::<Float32Type>().values()),
        DataType::Int64 => Values::I64(array.as_primitive::<Int64Type>().values()),
        DataType::Int32 => Values::I32(array.as_primitive::<Int32Type>().values()),
        DataType::Int16 => Values::I16(array.as_primitive::<Int16Type>().values()),
        DataType::Int8 => Values::I8(array.as_primitive::<Int8Type>().values()),
        DataType::UInt64 => Values::U64(array.as_primitive::<UInt64Type>().values()),
        DataType::UInt32 => Values::U32(array.as_primitive::<UInt32Type>().values()),
        DataType::UInt16 => Values::U16(array.as_primitive::<UInt16Type>().values()),
        DataType::UInt8 => Values::U8(array.as_primitive::<UInt8Type>().values()),
        DataType::Boolean => {
            let bits = array.as_boolean().values();
            Values::Bits(Bits { bytes: bits.values(), start: bits.offset() })
        }
        _ => Values::Missing,
    }
}
