//! The way from a variable to the floats that a SPEC names: through members, elements and pointers.
//!
//! A way is found before the program runs and gone while it does, when pointers point somewhere. What memory holds is
//! asked of whoever can read it.

use std::fmt;

use super::Storage;

/// Computation from an object's address and memory, as debug information says it: a small stack machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Expression(pub(super) Vec<Operation>);

/// An operation of an [`Expression`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    /// Pushes the address of the object.
    Object,
    /// Pushes a constant.
    Constant(i64),
    /// Replaces an address by the bytes at it, so many of them.
    Load(u8),
    /// Adds the two on top.
    Add,
    /// Subtracts the one on top from that below.
    Subtract,
    /// Multiplies the two on top.
    Multiply,
    /// Divides the one below by that on top, as signed integers.
    Divide,
}

/// A number that is known before the program runs, or computed while it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// Number.
    Known(i64),
    /// The result of this computation.
    Computed(Expression),
    /// Nothing says.
    Unknown,
}

/// An integer of the program, which a range ends at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Integer {
    /// The storage it starts from.
    pub storage: Storage,
    /// The size.
    pub bytes: u8,
    /// True if it may be negative.
    pub signed: bool,
}

/// One step of the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// So many bytes further on.
    Offset(u64),
    /// To where the pointer here leads.
    Pointer,
    /// To where the object here says that its data are.
    Data(Expression),
    /// To each of `count` elements, `stride` bytes apart.
    Each {
        /// Number of elements.
        count: u64,
        /// Bytes from one to the next.
        stride: u64,
    },
    /// To elements of an array whose bounds are known while the program runs.
    Elements(Box<Elements>),
}

impl Step {
    /// Tells whether it leads to one place.
    pub(super) fn is_single(&self) -> bool {
        match self {
            Step::Offset(_) | Step::Pointer | Step::Data(_) => true,
            Step::Each { count, .. } => *count == 1,
            Step::Elements(elements) => elements.last == Last::First,
        }
    }

    /// The integer that a range ends at.
    pub(super) fn integer(&self) -> Option<&Integer> {
        match self {
            Step::Elements(elements) => match &elements.last {
                Last::Integer { integer, .. } => Some(integer),
                _ => None,
            },
            _ => None,
        }
    }
}

/// Elements of one dimension of an array, some of whose bounds are known only while the program runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Elements {
    /// Index of the first; the array's own if there is none.
    pub(super) first: Option<i64>,
    /// Index of the last.
    pub(super) last: Last,
    /// The array's lowest index.
    pub(super) lower: Extent,
    /// The highest index.
    pub(super) upper: Extent,
    /// Bytes from one element to the next.
    pub(super) stride: Extent,
}

/// The last of the elements that are named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Last {
    /// The first is the only one.
    First,
    /// The array's own.
    Upper,
    /// Index itself.
    Index(i64),
    /// Index that is the value of this variable, or the one before it.
    Integer { integer: Integer, included: bool },
}

/// Reason why there are no floats at the end of the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreached {
    /// A pointer leads to no memory.
    Pointer(u64),
    /// An index is outside the bounds of an array.
    OutOfRange {
        /// The index.
        index: i64,
        /// Lowest index.
        lower: i64,
        /// Highest index.
        upper: i64,
    },
    /// Nothing says where the array ends.
    Endless,
}

impl fmt::Display for Unreached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unreached::Pointer(0) => write!(f, "a pointer on the way is null"),
            Unreached::Pointer(address) => write!(f, "a pointer on the way is invalid ({address:#x})"),
            Unreached::OutOfRange { index, lower, upper } => {
                write!(f, "index {index} is out of range {lower} to {upper}")
            }
            Unreached::Endless => write!(f, "nothing says where the array ends"),
        }
    }
}

/// A running program's memory.
pub trait Memory {
    /// So many bytes (at most 8) at an address, as a little-endian number; nothing if there is no memory.
    fn load(&self, address: u64, bytes: u8) -> Option<u64>;
    /// The value of an integer, sign-extended; nothing if it cannot be read.
    fn integer(&self, integer: &Integer) -> Option<i64>;
}

/// No request is believed that names more floats than this.
const MOST: u64 = 1 << 32;

/// The addresses that `steps` lead to from `start`, in memory order.
pub(super) fn walk(steps: &[Step], start: u64, memory: &dyn Memory) -> Result<Vec<u64>, Unreached> {
    let mut reached = vec![Position { address: start, object: start }];
    for step in steps {
        reached = match step {
            Step::Offset(bytes) => each(reached, |at| Ok(at.moved(*bytes)))?,
            Step::Pointer => each(reached, |at| {
                let address = memory.load(at.address, 8).filter(|&to| to != 0).ok_or(at.unmapped(memory))?;
                Ok(Position { address, object: address })
            })?,
            Step::Data(expression) => each(reached, |at| {
                let address = evaluate(expression, at.address, memory).filter(|&to| to != 0);
                let address = address.ok_or(Unreached::Pointer(0))?;
                Ok(Position { address, object: at.address })
            })?,
            Step::Each { count, stride } => spread(reached, *count, |_| Ok((*count, *stride, 0)))?,
            Step::Elements(elements) => spread(reached, MOST, |at| elements.resolve(at.object, memory))?,
        };
    }
    Ok(reached.into_iter().map(|at| at.address).collect())
}

/// Progress along a way.
#[derive(Clone, Copy)]
struct Position {
    address: u64,
    /// The descriptor that says where the data are which `address` is among.
    object: u64,
}

impl Position {
    fn moved(self, bytes: u64) -> Position {
        let address = self.address.wrapping_add(bytes);
        let is_object = self.address == self.object;
        Position { address, object: if is_object { address } else { self.object } }
    }

    fn unmapped(self, memory: &dyn Memory) -> Unreached {
        Unreached::Pointer(memory.load(self.address, 8).map_or(self.address, |to| to))
    }
}

fn each(
    reached: Vec<Position>,
    to: impl FnMut(Position) -> Result<Position, Unreached>,
) -> Result<Vec<Position>, Unreached> {
    reached.into_iter().map(to).collect()
}

/// Goes from each position to several: how many, how far apart, and the first from where.
fn spread(
    reached: Vec<Position>,
    most: u64,
    to: impl Fn(Position) -> Result<(u64, u64, u64), Unreached>,
) -> Result<Vec<Position>, Unreached> {
    let mut all = Vec::new();
    for at in reached {
        let (count, stride, first) = to(at)?;
        if count > most || all.len() as u64 + count > MOST {
            return Err(Unreached::Endless);
        }
        let address = at.address.wrapping_add(first);
        all.extend(
            (0..count).map(|i| Position { address: address.wrapping_add(i.wrapping_mul(stride)), ..at }),
        );
    }
    Ok(all)
}

impl Elements {
    /// Number of elements, bytes from one to the next, and bytes to the first.
    fn resolve(&self, object: u64, memory: &dyn Memory) -> Result<(u64, u64, u64), Unreached> {
        let value = |extent: &Extent| match extent {
            Extent::Known(number) => Some(*number),
            Extent::Computed(expression) => evaluate(expression, object, memory).map(|n| n as i64),
            Extent::Unknown => None,
        };
        let stride = value(&self.stride).ok_or(Unreached::Endless)?;
        let lower = value(&self.lower).ok_or(Unreached::Endless)?;
        let upper = value(&self.upper);
        let first = self.first.unwrap_or(lower);
        let last = match &self.last {
            Last::First => first,
            Last::Upper => upper.ok_or(Unreached::Endless)?,
            Last::Index(index) => *index,
            Last::Integer { integer, included } => {
                let end = memory.integer(integer).ok_or(Unreached::Endless)?;
                if *included { end } else { end.wrapping_sub(1) }
            }
        };
        // An array without elements has none to be named.
        if last < first {
            return Ok((0, 0, 0));
        }
        if let Some(upper) = upper {
            let outside = [first, last].into_iter().find(|index| !(lower..=upper).contains(index));
            outside.map_or(Ok(()), |index| Err(Unreached::OutOfRange { index, lower, upper }))?;
        }
        let offset = first.wrapping_sub(lower).wrapping_mul(stride);
        Ok((last.abs_diff(first).saturating_add(1), stride as u64, offset as u64))
    }
}

fn evaluate(expression: &Expression, object: u64, memory: &dyn Memory) -> Option<u64> {
    let mut stack: Vec<u64> = Vec::new();
    for operation in &expression.0 {
        let value = match *operation {
            Operation::Object => object,
            Operation::Constant(number) => number as u64,
            Operation::Load(bytes) => memory.load(stack.pop()?, bytes)?,
            Operation::Add => stack.pop()?.wrapping_add(stack.pop()?),
            Operation::Multiply => stack.pop()?.wrapping_mul(stack.pop()?),
            Operation::Subtract => {
                let (right, left) = (stack.pop()?, stack.pop()?);
                left.wrapping_sub(right)
            }
            Operation::Divide => {
                let (right, left) = (stack.pop()? as i64, stack.pop()? as i64);
                left.checked_div(right)? as u64
            }
        };
        stack.push(value);
    }
    stack.pop()
}

/// Memory that holds nothing: only ways without pointers can be gone.
pub(super) struct Nothing;

impl Memory for Nothing {
    fn load(&self, _: u64, _: u8) -> Option<u64> {
        None
    }

    fn integer(&self, _: &Integer) -> Option<i64> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A hundred words, each holding ten times its number.
    struct Words;

    impl Memory for Words {
        fn load(&self, address: u64, _: u8) -> Option<u64> {
            (address < 800).then_some(address / 8 * 10)
        }

        fn integer(&self, integer: &Integer) -> Option<i64> {
            Some(integer.bytes.into())
        }
    }

    const N: Integer = Integer { storage: Storage::Static(0), bytes: 3, signed: true };

    fn elements(first: Option<i64>, last: Last, upper: Extent) -> Step {
        let (lower, stride) = (Extent::Known(1), Extent::Known(8));
        Step::Elements(Box::new(Elements { first, last, lower, upper, stride }))
    }

    #[test]
    fn through_pointers_and_elements() {
        assert_eq!(walk(&[Step::Offset(8), Step::Pointer, Step::Offset(4)], 0, &Words), Ok(vec![14]));
        let each = Step::Each { count: 2, stride: 8 };
        assert_eq!(walk(&[each.clone(), Step::Pointer, each], 80, &Words), Ok(vec![100, 108, 110, 118]));
        assert_eq!(walk(&[Step::Pointer], 0, &Words), Err(Unreached::Pointer(0)));
        assert_eq!(walk(&[Step::Pointer], 8000, &Words), Err(Unreached::Pointer(8000)));
    }

    #[test]
    fn up_to_an_integer() {
        let last = |included| Last::Integer { integer: N, included };
        let reach = |step| walk(&[step], 0, &Words);
        assert_eq!(reach(elements(None, last(true), Extent::Unknown)), Ok(vec![0, 8, 16]));
        assert_eq!(reach(elements(Some(2), last(false), Extent::Unknown)), Ok(vec![8]));
        assert_eq!(reach(elements(Some(4), last(true), Extent::Unknown)), Ok(vec![]));
        let outside = Unreached::OutOfRange { index: 3, lower: 1, upper: 2 };
        assert_eq!(reach(elements(None, last(true), Extent::Known(2))), Err(outside));
        assert_eq!(reach(elements(None, Last::Upper, Extent::Unknown)), Err(Unreached::Endless));
    }

    /// As gfortran describes an allocatable array: its data, bounds and stride are words of a descriptor.
    #[test]
    fn by_a_descriptor() {
        use Operation::{Add, Constant, Load, Object};
        let word = |offset| Expression(vec![Object, Constant(offset), Add, Load(8)]);
        let array = Elements {
            first: Some(12),
            last: Last::Index(13),
            lower: Extent::Computed(word(8)),
            upper: Extent::Computed(word(16)),
            stride: Extent::Known(8),
        };
        let steps = [Step::Data(word(0)), Step::Elements(Box::new(array))];
        assert_eq!(walk(&steps, 0, &Words), Err(Unreached::Pointer(0)), "not allocated");
        assert_eq!(walk(&steps, 8, &Words), Err(Unreached::OutOfRange { index: 12, lower: 20, upper: 30 }));
    }
}
