//! Shadows that change their format with the value: f64 to f32 and back, f32 to f16 and back.
//!
//! The rule of TABLE 1's `Narrow` and `Widen` is that the shadow is converted like the value; this is that conversion.

use shadowgrind_core::format::Format;

use super::super::asm::Asm;
use super::super::vector::{Length, Place, Vector, forms};
use super::vex::{clear_above, merge};
use super::{Binding, Constants, Rest};

/// A conversion of shadows to emit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conversion {
    /// Format of the operand.
    pub(crate) from: Format,
    /// Format of the result: the next wider or narrower one.
    pub(crate) result: Format,
    /// Number of lanes: 1 for a scalar conversion, 2, 4, or, with `Evex`, 8. Between F16 and F32 4 or 8, the rest zero.
    pub(crate) count: u8,
    /// The operand's shadow: as many lanes of it. What is above them may be anything.
    pub(crate) shadow: Place,
    /// Register for the result's shadow; may be that of `shadow`.
    pub(crate) to: u8,
    /// The fate of `to` beyond the lanes of the result.
    pub(crate) rest: Rest,
    /// A vector register to clobber.
    pub(crate) temp: u8,
    /// A mask register to clobber; unused with `Vex`.
    pub(crate) mask: u8,
    /// A mask register whose lowest bits are set, one for each of `count` lanes. Without it, one is loaded.
    pub(crate) lanes: Option<u8>,
    /// Registers to clobber, a vector and a mask register, of which each binding uses one, if shadows that become `f64`s are
    /// marked as having been `f32`s ([`WIDENED`]).
    ///
    /// [`WIDENED`]: shadowgrind_core::words::WIDENED
    pub(crate) mark: Option<[u8; 2]>,
}

impl Conversion {
    /// Bytes of all lanes in `format`.
    fn bytes(&self, format: Format) -> u8 {
        self.count * format.bytes() as u8
    }

    /// The instruction that makes `to` of `from`, at a length by which both sides are named. What a scalar one leaves of
    /// `to` it takes from there.
    fn vector(&self, length: Length, to: u8, from: Place) -> Vector {
        let second = if length == Length::Scalar { to } else { 0 };
        match (self.from, self.result, from) {
            (Format::F64, ..) => Vector::new(forms::NARROW, self.from, length, [to, second], from),
            (_, Format::F64, _) => Vector::new(forms::WIDEN, self.from, length, [to, second], from),
            (Format::F16, ..) => Vector::unary(forms::WIDEN_HALF, Format::F32, length, to, from),
            (.., Place::Reg(from)) => {
                Vector::unary(forms::NARROW_HALF, Format::F32, length, from, Place::Reg(to))
                    .immediate(NEAREST)
            }
            (.., Place::Mem(_)) => unreachable!("the operand is in a register"),
        }
    }

    /// Tells whether the instruction takes its operand from a register only.
    fn needs_register(&self) -> bool {
        self.result == Format::F16
    }
}

/// To the nearest, in `vcvtps2ph`'s immediate.
const NEAREST: u8 = 0;

/// Appends a conversion. With [`Binding::Evex`] it is quiet, with [`Binding::Vex`] it raises flags.
pub(crate) fn convert(asm: &mut Asm, binding: Binding, job: &Conversion, constants: &Constants) {
    match binding {
        Binding::Evex => evex(asm, job, *constants),
        Binding::Vex => vex(asm, job, *constants),
    }
}

/// Marks the shadow in the lowest lane of `to`, if there is one, as having been one beside an `f64`. Clobbers a vector or a mask
/// register, by the binding.
pub(crate) fn mark_double(
    asm: &mut Asm,
    binding: Binding,
    to: u8,
    [none, there]: [u8; 2],
    constants: Constants,
) {
    let [others, mark] = constants.widened_double().map(Place::Mem);
    let bits = |form, operands, rm| Vector::new(form, Format::F64, Length::B16, operands, rm);
    match binding {
        Binding::Evex => {
            asm.vector(bits(forms::TEST, [there, to], Place::Reg(to)));
            asm.vector(bits(forms::AND, [to, to], others));
            asm.vector(bits(forms::OR, [to, to], mark).masked(there));
        }
        Binding::Vex => {
            asm.vector(bits(forms::EQUAL_64, [none, to], Place::Mem(constants.zero())));
            asm.vector(bits(forms::AND_NOT, [none, none], mark));
            asm.vector(bits(forms::AND, [to, to], others));
            asm.vector(bits(forms::OR, [to, to], Place::Reg(none)));
        }
    }
}

fn evex(asm: &mut Asm, job: &Conversion, constants: Constants) {
    let lanes = job.lanes.unwrap_or_else(|| {
        let mem = Place::Mem(constants.lanes(job.count));
        asm.vector(Vector::unary(forms::MASK_LOAD, Format::F32, Length::B16, job.mask, mem));
        job.mask
    });
    let from = match job.shadow {
        Place::Reg(register) => register,
        Place::Mem(mem) => {
            asm.vector_load(job.temp, mem, job.bytes(job.from));
            job.temp
        }
    };
    let quiet = |to| {
        let vector = job.vector(Length::B64, to, Place::Reg(from));
        if job.from == Format::F64 { vector.nearest() } else { vector.suppressed() }
    };
    let mark = |asm: &mut Asm| {
        if let Some([_, there]) = job.mark {
            let vector = |form, to, rm| Vector::new(form, Format::F64, Length::B64, [to, job.to], rm);
            asm.vector(vector(forms::TEST, there, Place::Reg(job.to)).masked(lanes));
            asm.vector(vector(forms::OR, job.to, Place::Mem(constants.widened())).masked(there));
        }
    };
    match (job.rest, job.from) {
        (Rest::Zero, _) => asm.vector(quiet(job.to).masked(lanes).zeroing()),
        (Rest::Keep | Rest::Low, Format::F32) => asm.vector(quiet(job.to).masked(lanes)),
        // Eight narrow lanes are all the instruction can leave alone.
        (Rest::Keep | Rest::Low, _) => {
            asm.vector(quiet(job.temp).masked(lanes).zeroing());
            let rm = Place::Reg(job.temp);
            asm.vector(Vector::unary(forms::MOVE, job.result, Length::B64, job.to, rm).masked(lanes));
        }
    }
    mark(asm);
}

fn vex(asm: &mut Asm, job: &Conversion, constants: Constants) {
    let scalar = job.count == 1;
    let wider = if job.from.bytes() > job.result.bytes() { job.from } else { job.result };
    let length = if scalar { Length::Scalar } else { Length::of(job.bytes(wider)) };
    let to = if job.rest == Rest::Zero { job.to } else { job.temp };
    let shadow = match job.shadow {
        Place::Mem(mem) if job.needs_register() => {
            asm.vector_load(job.temp, mem, job.bytes(job.from));
            Place::Reg(job.temp)
        }
        shadow => shadow,
    };
    asm.vector(job.vector(length, to, shadow));
    if let Some([none, _]) = job.mark {
        let length = Length::of(job.bytes(Format::F64).max(16));
        let bits = |form, operands, rm| Vector::new(form, Format::F64, length, operands, rm);
        asm.vector(bits(forms::EQUAL_64, [none, to], Place::Mem(constants.zero())));
        asm.vector(bits(forms::AND_NOT, [none, none], Place::Mem(constants.widened())));
        asm.vector(bits(forms::OR, [to, to], Place::Reg(none)));
    }
    let width = job.bytes(job.result);
    match job.rest {
        Rest::Keep | Rest::Low => merge(asm, job.to, to, width, job.rest),
        Rest::Zero if scalar => clear_above(asm, to, to, width),
        Rest::Zero => {}
    }
}
