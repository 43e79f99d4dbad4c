//! Locations of local variables: what debug information says of where one is while which code runs.
//!
//! A location that a computation leads to, or a constant that the compiler knows, is no place: nothing can be put there.
//! Frames that are told by their canonical address (CFA) are turned into such that a register leads to, by `.eh_frame`.

use std::ops::Range;

use gimli::{AttributeValue as Attr, Expression, Operation as Op};

use super::debug::Reader;
use super::dies::{Dies, Holder, Storage, Unit};
use super::unwind::CallFrames;

/// Location of a variable, or of one piece of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Located {
    pub(super) base: Base,
    /// True if the place holds a pointer to the variable.
    pub(super) is_pointer: bool,
}

/// Place that a location begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Base {
    /// A place that is told without the frame's canonical address.
    Known(Storage),
    /// So many bytes from the canonical address of the frame.
    Cfa(i64),
}

/// Contents of a location description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Location {
    /// The whole variable is here.
    Whole(Located),
    /// The pieces, each with its size in bytes; those without a place have none.
    Pieces(Vec<(u64, Option<Located>)>),
    /// Value without a place.
    Nowhere,
    /// Constant without a place.
    Constant,
    /// Nothing: there is no value that a debugger could show.
    Absent,
}

/// Location of a variable while some code runs.
#[derive(Clone, Debug)]
pub(super) struct Listed {
    pub(super) range: Range<u64>,
    pub(super) location: Location,
}

impl Listed {
    /// The places of all that is described, without those that a pointer leads to.
    pub(super) fn places(&self, mut frames: Option<&mut CallFrames>) -> Vec<(Range<u64>, Storage)> {
        let located: Vec<Located> = match &self.location {
            Location::Whole(located) => vec![*located],
            Location::Pieces(pieces) => pieces.iter().filter_map(|(_, located)| *located).collect(),
            Location::Nowhere | Location::Constant | Location::Absent => Vec::new(),
        };
        let bases = located.iter().filter(|located| !located.is_pointer).map(|located| located.base);
        bases.flat_map(|base| base.places(&self.range, frames.as_deref_mut())).collect()
    }
}

/// The frame base of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FrameBase(Option<Base>);

impl FrameBase {
    /// Location of the function with this attribute, if it has one.
    pub(super) fn of(unit: &Unit, value: Option<Attr<Reader>>) -> Result<FrameBase, gimli::Error> {
        let Some(expression) = value.and_then(|value| value.exprloc_value()) else {
            return Ok(FrameBase(None));
        };
        let mut operations = expression.operations(unit.encoding());
        Ok(FrameBase(match operations.next()? {
            Some(Op::CallFrameCFA) => Some(Base::Cfa(0)),
            // The register holds the address.
            Some(Op::Register { register }) => Some(frame(register.0, 0)),
            Some(Op::RegisterOffset { register, offset, .. }) => Some(frame(register.0, offset)),
            _ => None,
        }))
    }
}

fn frame(register: u16, offset: i64) -> Base {
    Base::Known(Storage::Frame { register, offset })
}

/// The locations that `value`, a variable's attribute, lists; one for all of `scope` where it lists none.
pub(super) fn listed(
    dies: &Dies,
    unit: &Unit,
    value: Attr<Reader>,
    frame: FrameBase,
    scope: &[Range<u64>],
) -> Result<Vec<Listed>, gimli::Error> {
    if let Some(expression) = value.exprloc_value() {
        let location = location(unit, expression, frame)?;
        let everywhere =
            scope.iter().map(|range| Listed { range: range.clone(), location: location.clone() });
        return Ok(everywhere.collect());
    }
    let Some(mut list) = dies.dwarf.attr_locations(unit, value)? else { return Ok(Vec::new()) };
    let mut all = Vec::new();
    while let Some(entry) = list.next()? {
        let location = location(unit, entry.data, frame)?;
        all.push(Listed { range: entry.range.begin..entry.range.end, location });
    }
    Ok(all)
}

fn location(unit: &Unit, expression: Expression<Reader>, frame: FrameBase) -> Result<Location, gimli::Error> {
    let mut operations = expression.operations(unit.encoding());
    let mut pieces = Vec::new();
    let mut here = Reading::Nothing;
    while let Some(operation) = operations.next()? {
        here = match operation {
            Op::Piece { size_in_bits, bit_offset: None | Some(0) } if size_in_bits % 8 == 0 => {
                pieces.push((size_in_bits / 8, here.located()));
                Reading::Nothing
            }
            Op::Piece { .. } => return Ok(Location::Nowhere),
            operation => here.after(operation, frame),
        };
    }
    Ok(match (pieces.is_empty(), here) {
        (false, _) => Location::Pieces(pieces),
        (true, Reading::Nothing) => Location::Absent,
        (true, Reading::Constant) => Location::Constant,
        (true, here) => here.located().map_or(Location::Nowhere, Location::Whole),
    })
}

/// Progress through a location description.
#[derive(Clone, Copy)]
enum Reading {
    Nothing,
    At(Located),
    Constant,
    /// Something that is no place.
    Elsewhere,
}

impl Reading {
    fn located(self) -> Option<Located> {
        if let Reading::At(located) = self { Some(located) } else { None }
    }

    fn after(self, operation: Op<Reader>, frame_base: FrameBase) -> Reading {
        let at = |base| Reading::At(Located { base, is_pointer: false });
        match (self, operation) {
            (Reading::Nothing, Op::Register { register }) => {
                at(Base::Known(Storage::Value(Holder::Register(register.0))))
            }
            (Reading::Nothing, Op::RegisterOffset { register, offset, .. }) => at(frame(register.0, offset)),
            (Reading::Nothing, Op::CallFrameCFA) => at(Base::Cfa(0)),
            (Reading::Nothing, Op::FrameOffset { offset }) => {
                frame_base.0.map_or(Reading::Elsewhere, |base| at(base.moved(offset)))
            }
            (Reading::At(Located { base, is_pointer: false }), Op::PlusConstant { value }) => {
                at(base.moved(value as i64))
            }
            (Reading::At(Located { base, is_pointer: false }), Op::Deref { size: 8, space: false, .. }) => {
                Reading::At(Located { base, is_pointer: true })
            }
            (
                Reading::Nothing,
                Op::ImplicitValue { .. } | Op::UnsignedConstant { .. } | Op::SignedConstant { .. },
            ) => Reading::Constant,
            (Reading::Constant, Op::StackValue) => Reading::Constant,
            _ => Reading::Elsewhere,
        }
    }
}

impl Base {
    fn moved(self, bytes: i64) -> Base {
        match self {
            Base::Known(storage) => Base::Known(storage.at(bytes as u64)),
            Base::Cfa(offset) => Base::Cfa(offset.wrapping_add(bytes)),
        }
    }

    /// The places that it is while the code of `range` runs.
    pub(super) fn places(
        self,
        range: &Range<u64>,
        frames: Option<&mut CallFrames>,
    ) -> Vec<(Range<u64>, Storage)> {
        match self {
            Base::Known(storage) => vec![(range.clone(), storage)],
            Base::Cfa(offset) => {
                let rows = frames.map_or_else(Vec::new, |frames| frames.addresses(range));
                let moved = |(range, register, cfa): (Range<u64>, u16, i64)| {
                    (range, Storage::Frame { register, offset: cfa.wrapping_add(offset) })
                };
                rows.into_iter().map(moved).collect()
            }
        }
    }
}
