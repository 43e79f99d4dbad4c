//! Floats given by value to a function that formats them: their shadows are hidden from it.
//!
//! What it does to their digits, with tables and integers, is seen to instruction by instruction otherwise, and comes to
//! nothing. The shadows are put back when it has returned, where the floats still are: a `va_list` may be read once more.
//! A function that is left by `longjmp` or an exception has them put back before that, and after any other jump they are as soon as
//! another function is arrived at. Knows no function.

use super::observer::{Observer, SavedShadow};
use crate::hooks::abi::{self, Float};
use crate::hooks::machine::Machine;

/// A float whose shadow is hidden.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hidden {
    float: Float,
    kept: SavedShadow,
}

/// Hides the shadows of `floats`; those that have one.
pub(super) fn hide(
    floats: impl Iterator<Item = Float>,
    observer: &mut dyn Observer,
    m: &mut dyn Machine,
) -> Vec<Hidden> {
    let mut hidden = Vec::new();
    for float in floats {
        let kept = observer.keep(m, float);
        if kept != SavedShadow::NONE {
            m.set_cell(float.location, float.format.bytes(), 0);
            hidden.push(Hidden { float, kept });
        }
    }
    hidden
}

/// Puts back the shadows of floats that are where they were, and forgets the others.
pub(super) fn reveal(hidden: &[Hidden], observer: &mut dyn Observer, m: &mut dyn Machine) {
    for &Hidden { float, kept } in hidden {
        let is_there = abi::present(m, float) == Some(float);
        if is_there && m.cell(float.location, float.format.bytes()) == 0 {
            observer.put_back(m, float, kept);
        } else {
            observer.release(&[kept]);
        }
    }
}
