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
    let (first, last) = chosen(subscript, bounds)?;
    let Dimension { lower, upper, .. } = dimension.clone();
    let elements = Elements { first, last, lower, upper, stride: stride.clone() };
    let Some(Known { start, end, lower, stride }) = known(&elements, name)? else {
        way.steps.push(Step::Elements(Box::new(elements)));
        return Ok(());
    };
    way.move_by(start.wrapping_sub(lower).wrapping_mul(stride) as u64);
    if elements.last != Last::First {
        way.steps.push(Step::Each { count: end.abs_diff(start) + 1, stride: stride as u64 });
    }
    Ok(())
}

/// Index of the first element that a subscript chooses, if it says so, and the last.
fn chosen(subscript: &Subscript, bounds: Bounds<'_>) -> Result<(Option<i64>, Last), LookupError> {
    Ok(match subscript {
        Subscript::One(index) => (Some(*index), Last::First),
        Subscript::Range { start, end: None } => (*start, Last::Upper),
        Subscript::Range { start, end: Some((End::Index(end), included)) } => {
            (*start, Last::Index(if *included { *end } else { *end - 1 }))
        }
        Subscript::Range { start, end: Some((end, included)) } => {
            (*start, Last::Integer { integer: bounds(end)?, included: *included })
        }
    })
}

/// Elements of an array all of whose bounds are known before the program runs.
struct Known {
    /// Index of the first.
    start: i64,
    /// Index of the last.
    end: i64,
    /// The array's lowest index.
    lower: i64,
    /// Bytes from one element to the next.
    stride: i64,
}

/// Bounds of `elements`, checked; nothing if some are known only while the program runs.
fn known(elements: &Elements, name: &str) -> Result<Option<Known>, LookupError> {
    let Elements { first, last, lower, upper, stride } = elements;
    if matches!(lower, Extent::Unknown) || matches!(stride, Extent::Unknown) {
        return Err(LookupError::Dynamic { name: name.to_owned() });
    }
    let (&Extent::Known(lower), &Extent::Known(stride)) = (lower, stride) else { return Ok(None) };
    let start = first.unwrap_or(lower);
    let end = match (last, upper) {
        (Last::Upper, Extent::Unknown) => return Err(LookupError::Endless { name: name.to_owned() }),
        (Last::Integer { .. }, _) | (_, Extent::Computed(_)) => return Ok(None),
        (Last::First, _) => start,
        (&Last::Index(index), _) => index,
        (Last::Upper, &Extent::Known(upper)) => upper,
    };
    if let &Extent::Known(upper) = upper
        && let Some(index) = [start, end].into_iter().find(|index| !(lower..=upper).contains(index))
    {
        return Err(LookupError::OutOfRange { name: name.to_owned(), index, lower, upper });
    }
    Ok(Some(Known { start, end, lower, stride }))
}
