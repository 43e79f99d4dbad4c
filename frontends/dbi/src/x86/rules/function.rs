//! The rule of a function of the program, where operands, shadows and result are in memory: that of TABLE 1 in doubles,
//! converted for floats, since a float's arithmetic would lose several digits of a function's derivative.
//!
//! Knows nothing of functions but the operation, and not what to do where the rule says NaN because it does not know.

use super::super::asm::Asm;
use super::super::vector::{Mem, Place};
use super::{Binding, Constants, Conversion, InlineRule, Job, Rest, convert, emit};
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::{MAX_OPERANDS, Op};

/// The rule of a function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WrappedCall<'a> {
    /// The shadow's.
    pub(crate) rule: InlineRule,
    /// A row that [is arithmetic](InlineRule::is_arithmetic) in the rule.
    pub(crate) op: Op,
    /// F32 or F64.
    pub(crate) format: Format,
    /// Bytes of each operand and of the result: a lane's, or 16 or 32.
    pub(crate) width: u8,
    /// The operands.
    pub(crate) x: [Mem; MAX_OPERANDS],
    /// The shadows.
    pub(crate) shadows: [Mem; MAX_OPERANDS],
    /// A bit for each shadow that is known to be absent, as in [`Job`].
    pub(crate) absent: u8,
    /// The result.
    pub(crate) r: Mem,
    /// Memory to clobber, as wide.
    pub(crate) spill: Mem,
    /// The vector register for the result's shadow; the rest of it becomes zero.
    pub(crate) to: u8,
    /// Vector registers to clobber: twelve.
    pub(crate) temps: &'a [u8],
    /// Mask registers to clobber: three with `Evex`.
    pub(crate) masks: &'a [u8],
    /// Mask registers whose lowest bits are set, by how many lanes; with `Evex`.
    pub(crate) lanes: fn(u8) -> Option<u8>,
}

impl WrappedCall<'_> {
    fn lanes(&self, binding: Binding, count: u8) -> Option<u8> {
        (self.lanes)(count).filter(|_| binding == Binding::Evex)
    }

    fn job<'a>(
        &'a self,
        format: Format,
        width: u8,
        [x, shadows]: [&'a [Place]; 2],
        lanes: Option<u8>,
    ) -> Job<'a> {
        Job {
            absent: self.absent,
            r: Place::Mem(self.r),
            masks: self.masks,
            lanes,
            ..Job::of((self.rule, self.op), (format, width), [x, shadows], self.to, self.temps)
        }
    }
}

/// Appends the rule. Returns the vector registers it has written, as a mask.
pub(crate) fn emit_function(
    asm: &mut Asm,
    binding: Binding,
    applied: &WrappedCall,
    constants: &Constants,
) -> u32 {
    let count = applied.op.arity();
    if applied.format == Format::F64 || applied.op.is_arithmetic() {
        let lanes = applied.lanes(binding, applied.width / applied.format.bytes() as u8);
        let (x, shadows) = (applied.x.map(Place::Mem), applied.shadows.map(Place::Mem));
        let job = applied.job(applied.format, applied.width, [&x[..count], &shadows[..count]], lanes);
        return emit(asm, binding, &job, constants);
    }
    // As many lanes as there is room for as doubles.
    let room = if binding == Binding::Evex { 8 } else { 4 };
    let lanes = applied.width / Format::F32.bytes() as u8;
    if lanes <= room {
        return converted(asm, binding, applied, lanes, constants);
    }
    let mut written = 0;
    let bytes = room * Format::F32.bytes() as u8;
    for at in (0..applied.width).step_by(bytes.into()) {
        let part = |mem: Mem| mem.plus(at.into());
        let (x, shadows) = (applied.x.map(part), applied.shadows.map(part));
        let half = WrappedCall { x, shadows, r: part(applied.r), ..*applied };
        written |= converted(asm, binding, &half, room, constants);
        asm.vector_store(part(applied.spill), applied.to, bytes);
    }
    asm.vector_load(applied.to, applied.spill, applied.width);
    written
}

/// The rule for so many floats, as doubles.
fn converted(
    asm: &mut Asm,
    binding: Binding,
    applied: &WrappedCall,
    count: u8,
    constants: &Constants,
) -> u32 {
    let (op, lanes) = (applied.op, applied.lanes(binding, count));
    let mut free = applied.temps.iter().copied();
    let mut written = 1 << applied.to;
    let mut convert = |asm: &mut Asm, from: Format, shadow: Place, to: u8| {
        written |= 1 << to;
        let (temp, mask) = (to, applied.masks.first().copied().unwrap_or(0));
        let result = if from == Format::F32 { Format::F64 } else { Format::F32 };
        let job =
            Conversion { from, result, count, shadow, to, rest: Rest::Zero, temp, mask, lanes, mark: None };
        convert(asm, binding, &job, constants);
    };
    let mut widened = |asm: &mut Asm, mem: Mem, needed: bool| {
        if !needed {
            return Place::Mem(mem);
        }
        let to = free.next().expect("registers for all operands");
        convert(asm, Format::F32, Place::Mem(mem), to);
        Place::Reg(to)
    };
    let (mut x, mut shadows) = ([Place::Reg(0); MAX_OPERANDS], [Place::Reg(0); MAX_OPERANDS]);
    for i in 0..op.arity() {
        x[i] = widened(asm, applied.x[i], applied.rule.needs_operand(op, i));
        shadows[i] = widened(asm, applied.shadows[i], applied.absent >> i & 1 == 0);
    }
    let r = widened(asm, applied.r, applied.rule.needs_result(op));
    let temps: Vec<u8> = free.collect();
    let width = count * Format::F64.bytes() as u8;
    let job = applied.job(Format::F64, width, [&x[..op.arity()], &shadows[..op.arity()]], lanes);
    let computed = emit(asm, binding, &Job { r, temps: &temps, ..job }, constants);
    convert(asm, Format::F64, Place::Reg(applied.to), applied.to);
    written | computed
}
