//! Library types that are arrays or pointers to whoever uses them, and structures to debug information.

use super::dies::{At, Dies};
use super::error::{LookupError, OpenError};
use super::reach::{Expression, Extent, Operation};
use super::types::{Array, Dimension, Member, Type};

/// Members that point to the first element and behind the last: `std::vector` of libstdc++ and of libc++.
const ENDS: [[&str; 2]; 2] = [["_M_start", "_M_finish"], ["__begin_", "__end_"]];

/// Members that are the pointer: of libstdc++'s `unique_ptr` and `shared_ptr`, of libc++'s.
pub(super) const POINTERS: [&str; 3] = ["_M_head_impl", "_M_ptr", "__ptr_"];

/// Bytes and type of the member called so, also one of a base class.
pub(super) type Find<'a> = &'a dyn Fn(&str) -> Result<Option<Member>, LookupError>;

/// The elements that a structure with these members points to, if it is such a type.
pub(super) fn elements(
    dies: &Dies,
    find: Find<'_>,
    failed: &dyn Fn(gimli::Error) -> OpenError,
) -> Result<Option<Array>, LookupError> {
    for [first, last] in ENDS {
        if let (Some(first), Some(last)) = (find(first)?, find(last)?)
            && let Type::Pointer(Some(element)) = dies.resolve(&first.kind).map_err(failed)?
        {
            let stride = dies.size(&element).map_err(failed)?.unwrap_or(0);
            return Ok(Some(between(first.offset, last.offset, element, stride)));
        }
    }
    Ok(None)
}

/// Elements from where the pointer at offset `first` leads to where that at `last` does.
fn between(first: u64, last: u64, element: At, stride: u64) -> Array {
    use Operation::{Add, Constant, Divide, Load, Object, Subtract};
    let pointer = |offset: u64| [Object, Constant(offset as i64), Add, Load(8)];
    let mut upper = [pointer(last), pointer(first)].concat();
    upper.extend([Subtract, Constant(stride as i64), Divide, Constant(1), Subtract]);
    let dimension =
        Dimension { lower: Extent::Known(0), upper: Extent::Computed(Expression(upper)), stride: None };
    let data = Some(Expression(pointer(first).to_vec()));
    Array { data, dimensions: vec![dimension], column_major: false, element, stride }
}
