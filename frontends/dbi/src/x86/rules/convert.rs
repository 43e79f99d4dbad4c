//! Dots that change their format with the value: f64 to f32 and back.
//!
//! The rule of TABLE 1's `Narrow` and `Widen` is that the dot is converted like the value; this is that conversion.

use shadowgrind_core::format::Format;

use super::super::asm::Asm;
use super::super::vector::{Length, Place, Vector, forms};
use super::vex::{clear_above, merge};
use super::{Binding, Constants, Rest};

/// A conversion of dots to emit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conversion {
    /// Format of the operand: F64 narrows to F32, F32 widens to F64.
    pub(crate) from: Format,
    /// Number of lanes: 1 for a scalar conversion, 2, 4, or, with `Evex`, 8.
    pub(crate) count: u8,
    /// The operand's dot: as many lanes of it. What is above them may be anything.
    pub(crate) dot: Place,
    /// Register for the result's dot; may be that of `dot`.
    pub(crate) to: u8,
    /// What becomes of `to` beyond the lanes of the result.
    pub(crate) rest: Rest,
    /// A vector register to clobber.
    pub(crate) temp: u8,
    /// A mask register to clobber; unused with `Vex`.
    pub(crate) mask: u8,
    /// A mask register whose lowest bits are set, one for each of `count` lanes. Without it, one is loaded.
    pub(crate) lanes: Option<u8>,
}

impl Conversion {
    /// Bytes of all lanes in `format`.
    fn bytes(&self, format: Format) -> u8 {
        self.count * format.bytes() as u8
    }

    fn result(&self) -> Format {
        if self.from == Format::F64 { Format::F32 } else { Format::F64 }
    }

    /// The instruction, at a length by which both sides are named.
    fn vector(&self, length: Length, operands: [u8; 2], rm: Place) -> Vector {
        let form = if self.from == Format::F64 { forms::NARROW } else { forms::WIDEN };
        Vector::new(form, self.from, length, operands, rm)
    }
}

/// Appends a conversion. With [`Binding::Evex`] it is quiet, with [`Binding::Vex`] it raises flags.
pub(crate) fn convert(asm: &mut Asm, binding: Binding, job: &Conversion, constants: &Constants) {
    match binding {
        Binding::Evex => evex(asm, job, *constants),
        Binding::Vex => vex(asm, job),
    }
}

fn evex(asm: &mut Asm, job: &Conversion, constants: Constants) {
    let lanes = job.lanes.unwrap_or_else(|| {
        let mem = Place::Mem(constants.lanes(job.count));
        asm.vector(Vector::unary(forms::MASK_LOAD, Format::F32, Length::B16, job.mask, mem));
        job.mask
    });
    let from = match job.dot {
        Place::Reg(register) => register,
        Place::Mem(mem) => {
            asm.vector_load(job.temp, mem, job.bytes(job.from));
            job.temp
        }
    };
    let quiet = |to| {
        let vector = job.vector(Length::B64, [to, 0], Place::Reg(from));
        if job.from == Format::F64 { vector.nearest() } else { vector.suppressed() }
    };
    match (job.rest, job.from) {
        (Rest::Zero, _) => asm.vector(quiet(job.to).masked(lanes).zeroing()),
        (Rest::Keep | Rest::Low, Format::F32) => asm.vector(quiet(job.to).masked(lanes)),
        // Eight narrow lanes are all the instruction can leave alone.
        (Rest::Keep | Rest::Low, _) => {
            asm.vector(quiet(job.temp).masked(lanes).zeroing());
            let rm = Place::Reg(job.temp);
            asm.vector(Vector::unary(forms::MOVE, job.result(), Length::B64, job.to, rm).masked(lanes));
        }
    }
}

fn vex(asm: &mut Asm, job: &Conversion) {
    let scalar = job.count == 1;
    let length = if scalar { Length::Scalar } else { Length::of(job.bytes(Format::F64)) };
    let to = if job.rest == Rest::Zero { job.to } else { job.temp };
    // The scalar form copies what is above the lane from its second operand.
    let vector = job.vector(length, [to, if scalar { to } else { 0 }], job.dot);
    asm.vector(vector);
    let width = job.bytes(job.result());
    match job.rest {
        Rest::Keep | Rest::Low => merge(asm, job.to, to, width, job.rest),
        Rest::Zero if scalar => clear_above(asm, to, to, width),
        Rest::Zero => {}
    }
}
