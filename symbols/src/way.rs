//! The way to floats while it is being found: what is known before the program runs is settled, the rest becomes steps.

use shadowgrind_core::spec::{End, Subscript};

use super::dies::Storage;
use super::error::LookupError;
use super::reach::{Elements, Extent, Integer, Last, Step};
use super::types::Dimension;

/// All of a dimension.
pub(super) const WHOLE: Subscript = Subscript::Range { start: None, end: None };

/// The way gone so far.
pub(super) struct Way {
    pub(super) storage: Storage,
    pub(super) steps: Vec<Step>,
    /// Bytes from the start of the variable, before the first step.
    pub(super) moved: u64,
}

impl Way {
    /// The way that begins at a variable.
    pub(super) fn from(storage: Storage) -> Way {
        Way { storage, steps: Vec::new(), moved: 0 }
    }

    /// Goes on by so many bytes.
    pub(super) fn move_by(&mut self, bytes: u64) {
        let is_memory = !matches!(self.storage, Storage::Value(_) | Storage::Through(_));
        match self.steps.last_mut() {
            _ if bytes == 0 => {}
            None if is_memory => {
                self.storage = self.storage.at(bytes);
                self.moved = self.moved.wrapping_add(bytes);
            }
            Some(Step::Offset(offset)) => *offset = offset.wrapping_add(bytes),
            _ => self.steps.push(Step::Offset(bytes)),
        }
    }

    /// Goes where the pointer here leads.
    pub(super) fn follow_pointer(&mut self) {
        match self.storage {
            // A pointer that is in no memory.
            Storage::Value(holder) if self.steps.is_empty() => self.storage = Storage::Through(holder),
            _ => self.steps.push(Step::Pointer),
        }
    }
}

/// Meaning of an end of a range that is no number.
pub(super) type Bounds<'a> = &'a dyn Fn(&End) -> Result<Integer, LookupError>;

/// Goes to the elements of `dimension` that `subscript` chooses: checked at once where all is known, and while the
/// program runs where something is not.
pub(super) fn place(
    name: &str,
    subscript: &Subscript,
    dimension: &Dimension,
    stride: &Extent,
    way: &mut Way,
    bounds: Bounds<'_>,
) -> Result<(), LookupError> {
    let (first, last) = match subscript {
        Subscript::One(index) => (Some(*index), Last::First),
        Subscript::Range { start, end: None } => (*start, Last::Upper),
        Subscript::Range { start, end: Some((End::Index(end), included)) } => {
            (*start, Last::Index(if *included { *end } else { *end - 1 }))
        }
        Subscript::Range { start, end: Some((end, included)) } => {
            (*start, Last::Integer { integer: bounds(end)?, included: *included })
        }
    };
    let Dimension { lower, upper, .. } = dimension.clone();
    let (Extent::Known(low), Extent::Known(bytes)) = (&lower, stride) else {
        if matches!(lower, Extent::Unknown) || matches!(stride, Extent::Unknown) {
            return Err(LookupError::Dynamic { name: name.to_owned() });
        }
        way.steps.push(Step::Elements(Box::new(Elements {
            first,
            last,
            lower,
            upper,
            stride: stride.clone(),
        })));
        return Ok(());
    };
    let start = first.unwrap_or(*low);
    let known = match (&last, &upper) {
        (Last::First, _) => Some(start),
        (Last::Index(index), _) => Some(*index),
        (Last::Upper, Extent::Known(upper)) => Some(*upper),
        (Last::Upper, Extent::Unknown) => return Err(LookupError::Endless { name: name.to_owned() }),
        _ => None,
    };
    let (Some(end), false) = (known, matches!(upper, Extent::Computed(_))) else {
        let stride = Extent::Known(*bytes);
        way.steps.push(Step::Elements(Box::new(Elements { first, last, lower, upper, stride })));
        return Ok(());
    };
    if let Extent::Known(upper) = upper {
        let outside = [start, end].into_iter().find(|index| !(*low..=upper).contains(index));
        if let Some(index) = outside {
            return Err(LookupError::OutOfRange { name: name.to_owned(), index, lower: *low, upper });
        }
    }
    way.move_by(start.wrapping_sub(*low).wrapping_mul(*bytes) as u64);
    if last != Last::First {
        way.steps.push(Step::Each { count: end.abs_diff(start) + 1, stride: *bytes as u64 });
    }
    Ok(())
}
