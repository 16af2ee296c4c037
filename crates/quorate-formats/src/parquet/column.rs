//! One column of a Parquet file, read row by row. Values stay in their page or dictionary, however often a row repeats them.

use std::sync::Arc;

use ::parquet::basic::{Repetition, Type};
use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use ::parquet::data_type::{ByteArray, DataType};
use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::metadata::RowGroupMetaData;
use ::parquet::schema::types::{SchemaDescriptor, Type as SchemaType};

use super::pages::{Budget, ElementCount, Pages};
use super::whole_file::WholeFile;
use crate::table::{Cell, Value};

/// A column, and its reader in the current row group.
pub(super) struct Column {
    /// Its index among all leaves of the schema.
    leaf: usize,
    /// Of a list: from which definition level on the list has elements, and whether the list itself may be null.
    list: Option<ListLevels>,
    /// From which definition level on there is a value.
    value_level: i16,
    elements: ElementCount,
    reader: Option<ColumnReader>,
    levels: Levels,
}

#[derive(Clone, Copy)]
struct ListLevels {
    occupied: i16,
    nullable: bool,
}

#[derive(Default)]
struct Levels {
    definition: Vec<i16>,
    repetition: Vec<i16>,
}

impl Column {
    /// The column at this place of the schema; none if it has several parts, or none. Another column may have its name.
    pub(super) fn of(schema: &SchemaDescriptor, place: usize) -> Option<Self> {
        let mut leaves = (0..schema.num_columns()).filter(|leaf| schema.get_column_root_idx(*leaf) == place);
        let (leaf, None) = (leaves.next()?, leaves.next()) else { return None };
        let column = schema.column(leaf);
        Some(Self {
            leaf,
            list: (column.max_rep_level() > 0).then(|| list_levels(schema.get_column_root(leaf))),
            value_level: column.max_def_level(),
            elements: ElementCount::default(),
            reader: None,
            levels: Levels::default(),
        })
    }

    /// Starts to read a row group.
    pub(super) fn start(
        &mut self,
        file: &Arc<WholeFile>,
        group: &RowGroupMetaData,
        rows: usize,
        budget: &Budget,
    ) -> Result<()> {
        let elements = self.list.is_some().then(|| self.elements.clone());
        let pages = Pages::new(file, group.column(self.leaf), rows, budget, elements)?;
        self.reader = Some(get_column_reader(group.schema_descr().column(self.leaf), Box::new(pages)));
        Ok(())
    }

    /// The next row.
    pub(super) fn next(&mut self) -> Result<Cell<'static, ByteArray>> {
        let row = self.row()?;
        row.ok_or_else(|| ParquetError::General("a column has fewer rows than its row group".to_owned()))
    }

    /// Ends the row group that was started, if there is one, after its last row.
    pub(super) fn end(&mut self) -> Result<()> {
        if self.reader.is_some() && self.row()?.is_some() {
            return Err(ParquetError::General("a column has more rows than its row group".to_owned()));
        }
        self.reader = None;
        Ok(())
    }

    /// The next row; none if the column has no more.
    fn row(&mut self) -> Result<Option<Cell<'static, ByteArray>>> {
        self.elements.restart();
        let levels = &mut self.levels;
        levels.definition.clear();
        levels.repetition.clear();
        let reader =
            self.reader.as_mut().ok_or_else(|| ParquetError::General("no row group was started".to_owned()))?;
        let values = match reader {
            ColumnReader::ByteArrayColumnReader(r) => read(r, levels, Value::Bytes),
            ColumnReader::FixedLenByteArrayColumnReader(r) => read(r, levels, |v| Value::Bytes(ByteArray::clone(&v))),
            ColumnReader::BoolColumnReader(r) => read(r, levels, Value::Bool),
            ColumnReader::Int32ColumnReader(r) => read(r, levels, Value::Int32),
            ColumnReader::Int64ColumnReader(r) => read(r, levels, Value::Int64),
            ColumnReader::FloatColumnReader(r) => read(r, levels, Value::Float),
            ColumnReader::DoubleColumnReader(r) => read(r, levels, Value::Double),
            ColumnReader::Int96ColumnReader(_) => {
                return Err(ParquetError::General(format!("a column has the type {}", Type::INT96)));
            }
        }?;
        Ok(values.map(|values| self.cell(values)))
    }

    fn cell(&self, values: Vec<Value<ByteArray>>) -> Cell<'static, ByteArray> {
        let mut values = values.into_iter();
        let Some(list) = self.list else { return values.next().map_or(Cell::Null, Cell::One) };
        match self.levels.definition.first() {
            Some(level) if *level < list.occupied => {
                let is_null = list.nullable && *level + 1 < list.occupied;
                if is_null { Cell::Null } else { Cell::List(Box::new(std::iter::empty())) }
            }
            _ => {
                let element = |level: &i16| if *level == self.value_level { values.next() } else { None };
                let elements: Vec<_> = self.levels.definition.iter().map(element).collect();
                Cell::List(Box::new(elements.into_iter()))
            }
        }
    }
}

/// Reads the values of one row, and its levels. None at the end of the column.
fn read<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    levels: &mut Levels,
    value: impl Fn(T::T) -> Value<ByteArray>,
) -> Result<Option<Vec<Value<ByteArray>>>> {
    let mut values = Vec::new();
    let (rows, _, found) =
        reader.read_records(1, Some(&mut levels.definition), Some(&mut levels.repetition), &mut values)?;
    match (rows, found) {
        (1, _) => Ok(Some(values.into_iter().map(value).collect())),
        (_, 0) => Ok(None),
        _ => Err(ParquetError::General("a column ends in the middle of a list".to_owned())),
    }
}

/// Walks from a column's root down to the group that repeats.
fn list_levels(root: &SchemaType) -> ListLevels {
    let mut list = ListLevels { occupied: 0, nullable: false };
    let mut at = root;
    loop {
        match at.get_basic_info().repetition() {
            Repetition::REPEATED => {
                list.occupied += 1;
                return list;
            }
            Repetition::OPTIONAL => {
                list.occupied += 1;
                list.nullable = true;
            }
            Repetition::REQUIRED => {}
        }
        match at {
            SchemaType::GroupType { fields, .. } if !fields.is_empty() => at = &fields[0],
            _ => return list,
        }
    }
}
