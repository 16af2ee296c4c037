//! Checks of arrays in memory. The library that made them may have taken them from somebody else without a look at them.
//!
//! A slice of a table shares the lists and dictionaries of the whole table. The Arrow library looks through all of these for each
//! slice, which takes time in proportion to the square of the table. So only what the slice names is checked here.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowDictionaryKeyType, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, GenericListArray, GenericListViewArray, OffsetSizeTrait, RecordBatch};
use arrow_buffer::{ArrowNativeType, Buffer};
use arrow_schema::{ArrowError, DataType};

use crate::error::ArrowBatchError;
use crate::table::{FEW_ROWS, Kind, is_read};

/// Refuses a batch whose columns of claims state more rows, or more elements of lists, than they have bytes: a run of values takes
/// no bytes for each of them. A table of a few hundred bytes would be verified for years.
pub(super) fn check_size(batch: &RecordBatch) -> Result<(), ArrowBatchError> {
    let (mut stated, mut bytes) = (0_usize, 0_usize);
    let schema = batch.schema();
    for (field, column) in schema.fields().iter().zip(batch.columns()) {
        // Nulls alone are not read.
        if !is_read(field.name()) || Kind::from(field.data_type()) == Kind::Null {
            continue;
        }
        let mut parts = vec![column.to_data()];
        while let Some(part) = parts.pop() {
            stated = stated.max(part.len());
            bytes = bytes.saturating_add(part.buffers().iter().map(Buffer::len).sum());
            parts.extend_from_slice(part.child_data());
        }
    }
    if stated > bytes.max(FEW_ROWS) { Err(ArrowBatchError::Size { stated, bytes }) } else { Ok(()) }
}

/// Checks an array, and of its lists and dictionaries what its rows name: offsets, keys, and that text is UTF-8.
///
/// # Errors
/// What is wrong, by the Arrow library.
pub fn check_array(array: &dyn Array) -> Result<(), ArrowError> {
    match array.data_type() {
        DataType::List(_) => check_list(array.as_list::<i32>()),
        DataType::LargeList(_) => check_list(array.as_list::<i64>()),
        DataType::ListView(_) => check_list_view(array.as_list_view::<i32>()),
        DataType::LargeListView(_) => check_list_view(array.as_list_view::<i64>()),
        DataType::Dictionary(keys, _) => match keys.as_ref() {
            DataType::Int8 => check_dictionary::<Int8Type>(array),
            DataType::Int16 => check_dictionary::<Int16Type>(array),
            DataType::Int32 => check_dictionary::<Int32Type>(array),
            DataType::Int64 => check_dictionary::<Int64Type>(array),
            DataType::UInt8 => check_dictionary::<UInt8Type>(array),
            DataType::UInt16 => check_dictionary::<UInt16Type>(array),
            DataType::UInt32 => check_dictionary::<UInt32Type>(array),
            DataType::UInt64 => check_dictionary::<UInt64Type>(array),
            _ => array.to_data().validate_full(),
        },
        _ => array.to_data().validate_full(),
    }
}

fn check_list<O: OffsetSizeTrait>(list: &GenericListArray<O>) -> Result<(), ArrowError> {
    // From here on the offsets rise, and lie within the elements.
    list.to_data().validate_data()?;
    let offsets = list.value_offsets();
    match (offsets.first(), offsets.last()) {
        (Some(first), Some(last)) if !list.is_empty() => {
            let (first, last) = (first.as_usize(), last.as_usize());
            check_array(&list.values().slice(first, last - first))
        }
        _ => Ok(()),
    }
}

fn check_list_view<O: OffsetSizeTrait>(list: &GenericListViewArray<O>) -> Result<(), ArrowError> {
    // From here on the offsets and sizes lie within the elements.
    list.to_data().validate_data()?;
    let ranges = list.value_offsets().iter().zip(list.value_sizes());
    let ranges = ranges.map(|(offset, size)| (offset.as_usize(), offset.as_usize() + size.as_usize()));
    let named = ranges.reduce(|(first, last), (start, end)| (first.min(start), last.max(end)));
    match named {
        Some((first, last)) => check_array(&list.values().slice(first, last - first)),
        None => Ok(()),
    }
}

fn check_dictionary<K: ArrowDictionaryKeyType>(array: &dyn Array) -> Result<(), ArrowError> {
    let dictionary = array.as_dictionary::<K>();
    // From here on the keys lie within the values.
    array.to_data().validate_data()?;
    let (keys, values) = (dictionary.keys(), dictionary.values());
    if keys.len() >= values.len() {
        return check_array(values);
    }
    keys.iter().flatten().try_for_each(|key| check_array(&values.slice(key.as_usize(), 1)))
}
