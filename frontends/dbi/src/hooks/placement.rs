//! Places of the arguments and the result of a function of known signature in the System V calling convention (psABI,
//! section 3.2.3), or of any function if nothing is known but that floats are doubles.

use super::abi::{self, Float};
use crate::hooks::machine::{Machine, Unmapped, read_u64};
use crate::x86::state;
use shadowgrind_core::format::Format;
use shadowgrind_core::shadow::Location;
use shadowgrind_core::spec::Slot;
use shadowgrind_symbols::{Passed, Signature, general_register};

/// A float that crosses a function's boundary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    place: Place,
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Vector register, and lane of the format.
    Vector(u8, u8),
    /// Bytes from the first argument on the stack.
    Stack(u64),
    /// Below the top of the x87 stack.
    X87(u8),
    /// General register, by the hardware's number.
    General(u8),
}

impl Spot {
    /// Tells whether it is passed in memory.
    pub(crate) fn is_on_stack(self) -> bool {
        matches!(self.place, Place::Stack(_))
    }
}

/// Place of an integer or a pointer that crosses a function's boundary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IntegerPlace {
    /// Integer argument of this number, from 0.
    General(u8),
    /// Bytes from the first argument on the stack.
    Stack(u64),
}

impl IntegerPlace {
    /// The value, at the function's entry.
    pub(crate) fn read(self, m: &dyn Machine) -> Result<u64, Unmapped> {
        match self {
            IntegerPlace::General(number) => abi::integer(m, number.into()),
            IntegerPlace::Stack(offset) => read_u64(m, abi::stack(m).wrapping_add(offset)),
        }
    }
}

/// Reason why a slot of a function is no float.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NoSpot {
    /// Function that has only so many floating-point arguments.
    Floats(usize),
    /// The argument is neither an integer nor a pointer.
    NoPointer,
    /// The argument is no float.
    NoFloat,
    /// Function that returns no float.
    NoResult,
    /// A structure is passed before it, in parts.
    Structure,
    /// Value in a register that is not followed.
    Register,
}

impl std::fmt::Display for NoSpot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NoSpot::Floats(0) => write!(f, "the function has no floating-point arguments"),
            NoSpot::Floats(1) => write!(f, "the function has only one floating-point argument"),
            NoSpot::Floats(n) => write!(f, "the function has only {n} floating-point arguments"),
            NoSpot::NoPointer => write!(f, "this argument is no pointer"),
            NoSpot::NoFloat => write!(f, "this argument is no float"),
            NoSpot::NoResult => write!(f, "the function returns no float"),
            NoSpot::Register => write!(f, "it is in a register that holds no floats"),
            NoSpot::Structure => {
                write!(f, "the function has a structure before this argument; name a variable")
            }
        }
    }
}

/// The floats that a function is given or returns by value. Without a signature they are of `format`, or doubles.
pub(crate) fn spots(
    signature: Option<&Signature>,
    slot: Slot,
    format: Option<Format>,
) -> Result<Vec<Spot>, NoSpot> {
    let Some(signature) = signature.filter(|_| format.is_none()) else {
        return Ok(vec![unknown(slot, format.unwrap_or(Format::F64))]);
    };
    match slot {
        Slot::Result => result(signature),
        Slot::Argument(number) => {
            let arguments = assigned(signature);
            let is_float = |a: &&(Passed, Assigned)| matches!(a.0, Passed::Float(_) | Passed::Complex(_));
            let floats = arguments.iter().filter(is_float);
            let found = floats.clone().nth(number as usize - 1);
            let (passed, assigned) = found.ok_or(NoSpot::Floats(floats.count()))?;
            passed_in(*passed, *assigned)
        }
        Slot::Pointee(_) => Err(NoSpot::NoFloat),
    }
}

/// The float in a register, by its number in DWARF (AMD64 supplement, figure 3.36).
pub(crate) fn register(number: u16, format: Format) -> Result<Spot, NoSpot> {
    let place = match number {
        17..=32 => Place::Vector((number - 17) as u8, 0),
        67..=82 => Place::Vector((number - 67 + 16) as u8, 0),
        33..=40 => Place::X87((number - 33) as u8),
        _ => Place::General(general_register(number).ok_or(NoSpot::Register)? as u8),
    };
    Ok(Spot { place, format })
}

/// The floats that parameter `number`, from 0, is by value.
pub(crate) fn parameter(signature: Option<&Signature>, number: usize) -> Result<Vec<Spot>, NoSpot> {
    let signature = signature.ok_or(NoSpot::NoFloat)?;
    let (passed, assigned) = *assigned(signature).get(number).ok_or(NoSpot::NoFloat)?;
    passed_in(passed, assigned)
}

/// Place of the integer or pointer that parameter `number`, from 0, is. Without a signature all are taken for such.
pub(crate) fn word(signature: Option<&Signature>, number: usize) -> Result<IntegerPlace, NoSpot> {
    let Some(signature) = signature else {
        return Ok(match u8::try_from(number) {
            Ok(number @ 0..=5) => IntegerPlace::General(number),
            _ => IntegerPlace::Stack(8 * (number as u64 - 6)),
        });
    };
    match assigned(signature).get(number) {
        Some((_, Assigned::General(number))) => Ok(IntegerPlace::General(*number)),
        Some((_, Assigned::Stack(offset))) => Ok(IntegerPlace::Stack(*offset)),
        Some((_, Assigned::Unknown)) => Err(NoSpot::Structure),
        Some((_, Assigned::Vectors(_))) | None => Err(NoSpot::NoPointer),
    }
}

fn unknown(slot: Slot, format: Format) -> Spot {
    let place = match (slot, format) {
        (Slot::Result, Format::F80) => Place::X87(0),
        (Slot::Argument(number), Format::F80) => Place::Stack(16 * (u64::from(number) - 1)),
        (Slot::Argument(number @ 1..=8), _) => Place::Vector(number as u8 - 1, 0),
        (Slot::Argument(number), _) => Place::Stack(8 * (u64::from(number) - 9)),
        (Slot::Result | Slot::Pointee(_), _) => Place::Vector(0, 0),
    };
    Spot { place, format }
}

fn result(signature: &Signature) -> Result<Vec<Spot>, NoSpot> {
    let spot = |place, format| Spot { place, format };
    Ok(match signature.result {
        Some(Passed::Float(Format::F80)) => vec![spot(Place::X87(0), Format::F80)],
        Some(Passed::Complex(Format::F80)) => [0, 1].map(|i| spot(Place::X87(i), Format::F80)).to_vec(),
        Some(Passed::Float(format)) => vec![spot(Place::Vector(0, 0), format)],
        Some(passed @ Passed::Complex(_)) => return passed_in(passed, Assigned::Vectors(0)),
        _ => return Err(NoSpot::NoResult),
    })
}

/// Place that an argument was assigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Assigned {
    General(u8),
    /// Vector register of this number, and the next for a complex double.
    Vectors(u8),
    Stack(u64),
    /// After a structure that may be in registers nothing is certain.
    Unknown,
}

/// The parameters, and where they are.
fn assigned(signature: &Signature) -> Vec<(Passed, Assigned)> {
    // A large structure is returned through a pointer that comes before all arguments.
    let hidden = match signature.result {
        Some(Passed::Structure(bytes)) => bytes > 16,
        Some(Passed::Complex(_) | Passed::Float(_) | Passed::Pointer(_) | Passed::Integer) | None => false,
    };
    let mut next = Next { general: u8::from(hidden), vector: 0, stack: 0, lost: false };
    signature.parameters.iter().map(|&(passed, _)| (passed, next.assign(passed))).collect()
}

struct Next {
    general: u8,
    vector: u8,
    stack: u64,
    lost: bool,
}

impl Next {
    fn assign(&mut self, passed: Passed) -> Assigned {
        match passed {
            _ if self.lost => Assigned::Unknown,
            Passed::Pointer(_) | Passed::Integer => self.general(),
            Passed::Float(Format::F80) => self.stack(16, 16),
            Passed::Complex(Format::F80) => self.stack(32, 16),
            Passed::Complex(Format::F64) => self.vectors(2, 16),
            Passed::Float(_) | Passed::Complex(_) => self.vectors(1, 8),
            // Larger than two words: in memory.
            Passed::Structure(bytes) if bytes > 16 => self.stack(bytes.next_multiple_of(8), 8),
            Passed::Structure(_) => {
                self.lost = true;
                Assigned::Unknown
            }
        }
    }

    fn general(&mut self) -> Assigned {
        if self.general == 6 {
            return self.stack(8, 8);
        }
        self.general += 1;
        Assigned::General(self.general - 1)
    }

    fn vectors(&mut self, count: u8, bytes: u64) -> Assigned {
        if self.vector + count > 8 {
            return self.stack(bytes, 8);
        }
        self.vector += count;
        Assigned::Vectors(self.vector - count)
    }

    fn stack(&mut self, bytes: u64, align: u64) -> Assigned {
        let at = self.stack.next_multiple_of(align);
        self.stack = at + bytes;
        Assigned::Stack(at)
    }
}

/// The floats of a value that was put there.
fn passed_in(passed: Passed, assigned: Assigned) -> Result<Vec<Spot>, NoSpot> {
    let (format, count) = match passed {
        Passed::Float(format) => (format, 1),
        Passed::Complex(format) => (format, 2),
        _ => return Err(NoSpot::NoFloat),
    };
    let part = if format == Format::F80 { 16 } else { format.bytes() as u64 };
    let place = |i: u8| match assigned {
        Assigned::Vectors(register) if format == Format::F32 => Ok(Place::Vector(register, i)),
        Assigned::Vectors(register) => Ok(Place::Vector(register + i, 0)),
        Assigned::Stack(offset) => Ok(Place::Stack(offset + part * u64::from(i))),
        Assigned::General(_) | Assigned::Unknown => Err(NoSpot::Structure),
    };
    (0..count).map(|i| place(i).map(|place| Spot { place, format })).collect()
}

impl Spot {
    /// The float, at the function's entry for an argument and after its return for a result.
    pub(crate) fn float(&self, m: &dyn Machine) -> Result<Float, Unmapped> {
        let format = self.format;
        match self.place {
            Place::Vector(register, lane) => Ok(abi::lane(m, register.into(), lane.into(), format)),
            Place::Stack(offset) => abi::memory(m, abi::stack(m).wrapping_add(offset), format),
            Place::General(number) => {
                let bits = format.bits_of(&m.general(number.into()).to_le_bytes());
                Ok(Float { location: Location::State(state::general(number.into())), format, bits })
            }
            Place::X87(index) => {
                let location = Location::State(state::x87(m.x87_top(), index));
                Ok(Float { location, format, bits: format.bits_of(&m.x87(index.into())) })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Format::{F32, F64, F80};
    use Passed::{Complex, Integer, Pointer, Structure};

    fn signature(parameters: &[Passed], result: Option<Passed>) -> Signature {
        Signature { parameters: parameters.iter().map(|&p| (p, false)).collect(), result }
    }

    fn place(signature: &Signature, slot: Slot) -> Result<Vec<Place>, NoSpot> {
        spots(Some(signature), slot, None).map(|spots| spots.into_iter().map(|spot| spot.place).collect())
    }

    #[test]
    fn every_class_has_its_own_sequence() {
        let float = Passed::Float;
        let f = signature(
            &[Integer, float(F32), float(F80), Pointer(Some(F32)), Complex(F64), Complex(F32), float(F64)],
            Some(float(F80)),
        );
        assert_eq!(place(&f, Slot::Argument(1)), Ok(vec![Place::Vector(0, 0)]));
        assert_eq!(place(&f, Slot::Argument(2)), Ok(vec![Place::Stack(0)]));
        assert_eq!(place(&f, Slot::Argument(3)), Ok(vec![Place::Vector(1, 0), Place::Vector(2, 0)]));
        assert_eq!(place(&f, Slot::Argument(4)), Ok(vec![Place::Vector(3, 0), Place::Vector(3, 1)]));
        assert_eq!(place(&f, Slot::Argument(5)), Ok(vec![Place::Vector(4, 0)]));
        assert_eq!(place(&f, Slot::Argument(6)), Err(NoSpot::Floats(5)));
        assert_eq!(word(Some(&f), 3), Ok(IntegerPlace::General(1)));
        assert_eq!(word(Some(&f), 1), Err(NoSpot::NoPointer));
        assert_eq!(place(&f, Slot::Result), Ok(vec![Place::X87(0)]));
    }

    #[test]
    fn what_does_not_fit_registers_is_on_the_stack() {
        let mut many = vec![Passed::Float(F64); 7];
        many.extend([Complex(F64), Passed::Float(F64), Passed::Float(F32), Passed::Float(F80)]);
        let f = signature(&many, Some(Complex(F64)));
        assert_eq!(place(&f, Slot::Argument(8)), Ok(vec![Place::Stack(0), Place::Stack(8)]));
        assert_eq!(place(&f, Slot::Argument(9)), Ok(vec![Place::Vector(7, 0)]));
        assert_eq!(place(&f, Slot::Argument(10)), Ok(vec![Place::Stack(16)]));
        assert_eq!(place(&f, Slot::Argument(11)), Ok(vec![Place::Stack(32)]));
        assert_eq!(place(&f, Slot::Result), Ok(vec![Place::Vector(0, 0), Place::Vector(1, 0)]));
    }

    #[test]
    fn structures_in_memory_are_skipped_and_others_admitted() {
        let f = signature(&[Pointer(Some(F64)), Structure(24), Passed::Float(F80)], Some(Structure(40)));
        assert_eq!(word(Some(&f), 0), Ok(IntegerPlace::General(1)), "after the result's address");
        assert_eq!(place(&f, Slot::Argument(1)), Ok(vec![Place::Stack(32)]));
        assert_eq!(place(&f, Slot::Result), Err(NoSpot::NoResult));
        let f = signature(&[Structure(16), Passed::Float(F64)], None);
        assert_eq!(place(&f, Slot::Argument(1)), Err(NoSpot::Structure));
    }
}
