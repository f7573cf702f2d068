//! Streams of batches as others hand them over, read with more care than the crate of Arrow takes: columns without any value as Polars
//! exports them, and rows that are null as a whole.

#![allow(unsafe_code, reason = "the C interface hands over pointers")]

use std::ffi::{CStr, c_void};
use std::sync::Arc;

use arrow_array::ffi::from_ffi_and_data_type;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array, RecordBatch, RecordBatchOptions, RecordBatchReader, StructArray};
use arrow_data::ffi::FFI_ArrowArray;
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, DataType, Schema, SchemaRef};

/// The beginning of an array of the C interface, whose fields the crate of Arrow keeps to itself.
#[repr(C)]
struct Raw {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut Raw,
    dictionary: *mut Raw,
}

/// Batches of a stream.
pub struct Stream {
    stream: FFI_ArrowArrayStream,
    schema: SchemaRef,
}

impl Stream {
    /// Reads the schema of a stream.
    ///
    /// # Errors
    /// If there is no stream, or it is not one of tables.
    pub fn new(mut stream: FFI_ArrowArrayStream) -> Result<Self, ArrowError> {
        let get_schema = stream.get_schema().ok_or_else(taken)?;
        let mut schema = FFI_ArrowSchema::empty();
        // SAFETY: the stream is not released, and both places are its own.
        let status = unsafe { get_schema(&raw mut stream, &raw mut schema) };
        if status != 0 {
            return Err(last_error(&mut stream));
        }
        let schema = Arc::new(Schema::try_from(&schema)?);
        Ok(Self { stream, schema })
    }
}

impl Iterator for Stream {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let Some(get_next) = self.stream.get_next() else { return Some(Err(taken())) };
        let mut array = FFI_ArrowArray::empty();
        // SAFETY: as for the schema.
        let status = unsafe { get_next(&raw mut self.stream, &raw mut array) };
        if status != 0 {
            return Some(Err(last_error(&mut self.stream)));
        }
        if array.is_released() {
            return None;
        }
        let kind = DataType::Struct(self.schema.fields().clone());
        // SAFETY: the array is one of this schema, as the interface has it, and begins as `Raw` does.
        let data = unsafe {
            mend((&raw mut array).cast(), &kind);
            from_ffi_and_data_type(array, kind)
        };
        Some(data.and_then(|data| {
            let rows = StructArray::from(data);
            if rows.null_count() > 0 {
                let message = "found rows that are null as a whole, expected a table";
                return Err(ArrowError::SchemaError(String::from(message)));
            }
            let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
            RecordBatch::try_new_with_options(Arc::clone(&self.schema), rows.into_parts().1, &options)
        }))
    }
}

impl RecordBatchReader for Stream {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

fn taken() -> ArrowError {
    ArrowError::CDataInterface(String::from("this stream was taken before"))
}

fn last_error(stream: &mut FFI_ArrowArrayStream) -> ArrowError {
    let text = stream.get_last_error().and_then(|get| {
        // SAFETY: the stream is not released, and the text is valid until it is called again.
        let text = unsafe { get(std::ptr::from_mut(stream)) };
        // SAFETY: as before.
        (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
    });
    ArrowError::CDataInterface(text.unwrap_or_else(|| String::from("the stream ended with an error")))
}

/// Takes away the buffers of arrays without any value, which have none; Polars exports one.
///
/// # Safety
/// The array must be one of this type, and not released.
unsafe fn mend(array: *mut Raw, kind: &DataType) {
    // SAFETY: pointers of an array that is not released are valid, or null.
    let Some(raw) = (unsafe { array.as_mut() }) else { return };
    // SAFETY: the places are checked to be there.
    let child = |at: usize| match raw.children.is_null() || at as i64 >= raw.n_children {
        true => std::ptr::null_mut(),
        false => unsafe { *raw.children.add(at) },
    };
    let inner = |at: usize, kind: &DataType| unsafe { mend(child(at), kind) };
    match kind {
        DataType::Null => raw.n_buffers = 0,
        DataType::Struct(fields) => {
            fields.iter().enumerate().for_each(|(at, field)| inner(at, field.data_type()));
        }
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::FixedSizeList(field, _)
        | DataType::ListView(field)
        | DataType::LargeListView(field)
        | DataType::Map(field, _) => inner(0, field.data_type()),
        DataType::RunEndEncoded(_, values) => inner(1, values.data_type()),
        DataType::Dictionary(_, values) => {
            let dictionary = raw.dictionary;
            // SAFETY: as before.
            unsafe { mend(dictionary, values) }
        }
        _ => {}
    }
}
