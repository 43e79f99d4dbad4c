//! Arguments of SQL's `printf` and `format`: SQLite formats these as it does C's, but the one argument behind the format is where
//! the values of SQL are.
//!
//! The layouts are those of SQLite from 3.37 on; only numbers that a value has as a double are told.

use super::abi::{self, Float};
use crate::hooks::machine::{Machine, Unmapped, read_u64};
use shadowgrind_core::format::Format;

/// Place of the flags in a `sqlite3_str`, and the one that says that arguments are SQL's (`SQLITE_PRINTF_SQLFUNC`).
const STRING_FLAGS: u64 = 29;
const IS_SQL: u8 = 2;
/// Place of the flags in a `sqlite3_value`, and those of an integer and of a double (`MEM_Int`, `MEM_Real`).
const VALUE_FLAGS: u64 = 20;
const IS_INTEGER: u8 = 4;
const IS_DOUBLE: u8 = 8;

/// Values that have not been formatted yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct SqlValues {
    /// Address of the pointer to the next.
    next: u64,
    left: u64,
}

/// A value of SQL.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum SqlValue {
    Integer(u64),
    Double(Float),
    /// A text, NULL, or a value that is missing.
    Other,
}

impl SqlValues {
    /// The values that the call of `sqlite3_str_appendf(string, format, values)` formats, if those are SQL's.
    pub(super) fn of_call(m: &dyn Machine) -> Result<Option<SqlValues>, Unmapped> {
        let mut flags = [0];
        m.read(abi::integer(m, 0)?.wrapping_add(STRING_FLAGS), &mut flags)?;
        if flags[0] & IS_SQL == 0 {
            return Ok(None);
        }
        // The number of values and of those that are used, and where there are pointers to all.
        let at = abi::integer(m, 2)?;
        let (counts, first) = (read_u64(m, at)?, read_u64(m, at.wrapping_add(8))?);
        let (count, used) = (counts & 0xffff_ffff, counts >> 32);
        Ok(Some(SqlValues { next: first.wrapping_add(8 * used), left: count.saturating_sub(used) }))
    }

    /// The next value.
    pub(super) fn next(&mut self, m: &dyn Machine) -> Result<SqlValue, Unmapped> {
        if self.left == 0 {
            return Ok(SqlValue::Other);
        }
        let value = read_u64(m, self.next)?;
        *self = SqlValues { next: self.next.wrapping_add(8), left: self.left - 1 };
        let mut flags = [0];
        m.read(value.wrapping_add(VALUE_FLAGS), &mut flags)?;
        Ok(match flags[0] {
            flags if flags & IS_DOUBLE != 0 => SqlValue::Double(abi::memory(m, value, Format::F64)?),
            flags if flags & IS_INTEGER != 0 => SqlValue::Integer(read_u64(m, value)?),
            _ => SqlValue::Other,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hooks::fake::{Fake, RDI};
    use shadowgrind_core::shadow::Location;

    const STRING: u64 = 0x5000_0000;
    const RDX: usize = 2;

    /// A call with an integer, a double and nothing, of which the first is used already.
    fn call(flags: u8) -> Fake {
        let mut m = Fake::called(0x1234);
        let (values, pointers, first) = (0x6000_0000, 0x6000_0100, 0x6000_0200);
        m.poke(STRING + STRING_FLAGS, &[flags]);
        m.poke_words(values, &[3 | 1 << 32, pointers]);
        m.poke_words(pointers, &[first, first + 64, first + 128]);
        for (number, (bits, kind)) in [(7, 4), (2.5_f64.to_bits(), 8), (0, 1)].into_iter().enumerate() {
            m.poke_words(first + 64 * number as u64, &[bits, 0, kind << 32]);
        }
        (m.general[RDI], m.general[RDX]) = (STRING, values);
        m
    }

    #[test]
    fn values_are_sqls_where_the_string_says_so() {
        let m = call(IS_SQL);
        let mut values = SqlValues::of_call(&m).unwrap().expect("values of SQL");
        let SqlValue::Double(float) = values.next(&m).unwrap() else { panic!("a double") };
        assert_eq!((float.bits, float.location), (2.5_f64.to_bits().into(), Location::Memory(0x6000_0240)));
        assert_eq!(values.next(&m), Ok(SqlValue::Other));
        assert_eq!(values.next(&m), Ok(SqlValue::Other), "no more");
        assert!(SqlValues::of_call(&call(0)).unwrap().is_none());
    }
}
