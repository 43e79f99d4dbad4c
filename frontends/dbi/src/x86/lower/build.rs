//! Tools of every family's lowering: operands as places, captures, and the clearing of what is overwritten.

use super::address::AddressRecipe;
use super::complete::{Completion, Value};
use crate::x86::access::is_write;
use crate::x86::{rows, state};
use iced_x86::{EncodingKind, Instruction, InstructionInfo, OpKind, Register, UsedRegister};
use shadowgrind_core::format::Format;
use shadowgrind_core::step::{Capture, Lowered, Operand, Place, Step};

/// Reason why an instruction is a gap.
pub(super) type Why = &'static str;

/// An instruction as steps.
#[derive(Debug, Default)]
pub(crate) struct LoweredInsn {
    /// Captures and steps.
    pub(crate) lowered: Lowered,
    /// Recipes for the addresses that open the record.
    pub(crate) addresses: Vec<AddressRecipe>,
    /// Computations to be made once all is captured.
    pub(crate) completions: Vec<Completion>,
}

/// A vector register's bytes that a legacy instruction knows.
pub(super) const XMM_BYTES: u16 = 16;

/// An instruction being lowered.
pub(super) struct Build<'a> {
    pub(super) insn: &'a Instruction,
    pub(super) info: &'a InstructionInfo,
    /// Number of the x87 register on top before the instruction.
    pub(super) top: u8,
    pub(super) out: LoweredInsn,
    /// Numbers of the memory operands among the explicit ones.
    memory: [u8; 5],
}

/// Lanes of one operand: equally spaced, or one for all.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lanes {
    first: Operand,
    stride: u16,
}

impl Lanes {
    pub(super) fn lane(self, index: u16) -> Operand {
        self.first.plus(self.stride * index)
    }
}

impl<'a> Build<'a> {
    pub(super) fn new(insn: &'a Instruction, info: &'a InstructionInfo, top: u8) -> Self {
        Build { insn, info, top, out: LoweredInsn::default(), memory: [0; 5] }
    }

    pub(super) fn step(&mut self, step: Step) {
        self.out.lowered.steps.push(step);
    }

    pub(super) fn complete(&mut self, completion: Completion) {
        self.out.completions.push(completion);
    }

    /// The value of `r`, of this format, is worked out by the completion.
    pub(super) fn value(&mut self, format: Format, value: Value, r: Operand) {
        self.complete(Completion::Value { format, value, r: r.value });
    }

    /// Adds a memory operand. All are added before anything is captured: their addresses open the record.
    pub(super) fn address(&mut self, recipe: AddressRecipe) -> Place {
        let lowered = &mut self.out.lowered;
        debug_assert_eq!(lowered.record, 8 * u16::from(lowered.addresses), "addresses come first");
        let operand = lowered.addresses;
        lowered.addresses += 1;
        lowered.record += 8;
        self.out.addresses.push(recipe);
        Place::Memory { operand, offset: 0 }
    }

    /// Adds all explicit memory operands. Called before anything else.
    pub(super) fn name_memory(&mut self) {
        for operand in 0..self.insn.op_count() {
            if let Some(recipe) = AddressRecipe::of_operand(self.insn, operand) {
                self.memory[operand as usize] = self.out.lowered.addresses;
                self.address(recipe);
            }
        }
    }

    /// Number of operands that are no immediates.
    pub(super) fn operands(&self) -> u32 {
        (0..self.insn.op_count()).filter(|&n| !self.is_immediate(n)).count() as u32
    }

    pub(super) fn is_memory(&self, operand: u32) -> bool {
        AddressRecipe::of_operand(self.insn, operand).is_some()
    }

    pub(super) fn is_register(&self, operand: u32) -> bool {
        self.insn.op_kind(operand) == OpKind::Register
    }

    pub(super) fn is_immediate(&self, operand: u32) -> bool {
        !self.is_register(operand) && !self.is_memory(operand)
    }

    /// Place of operand `operand`.
    pub(super) fn place(&self, operand: u32) -> Result<Place, Why> {
        if self.is_memory(operand) {
            return Ok(Place::Memory { operand: self.memory[operand as usize], offset: 0 });
        }
        state::offset(self.insn.op_register(operand))
            .map(Place::State)
            .ok_or("an operand that holds no float")
    }

    /// Bytes of operand `operand`.
    pub(super) fn width(&self, operand: u32) -> u16 {
        if self.is_register(operand) {
            self.insn.op_register(operand).size() as u16
        } else {
            self.insn.memory_size().size() as u16
        }
    }

    /// Number of floats or integers that the instruction takes from a source, or would from memory.
    pub(super) fn elements(&self) -> u16 {
        self.insn.code().op_code().memory_size().element_count().max(1) as u16
    }

    /// Tells whether what a vector register has beyond the result becomes zero.
    pub(super) fn zeroes_upper(&self) -> bool {
        matches!(self.insn.encoding(), EncodingKind::VEX | EncodingKind::EVEX | EncodingKind::XOP)
    }

    pub(super) fn before(&mut self, place: Place, bytes: u16) -> Operand {
        self.out.lowered.before(place, bytes)
    }

    pub(super) fn after(&mut self, place: Place, bytes: u16) -> Operand {
        self.out.lowered.after(place, bytes)
    }

    /// Room for a value that the completion works out, for the lane at `place`.
    pub(super) fn computed(&mut self, place: Place, bytes: u16) -> Operand {
        Operand { place, value: self.out.lowered.reserve(bytes) }
    }

    /// Room for a float on the way to lane `i` of the result.
    pub(super) fn in_scratch(&mut self, format: Format, i: u16) -> Operand {
        let width = format.bytes() as u16;
        self.computed(Place::State(state::SCRATCH + width * i), width)
    }

    /// A constant of up to eight bytes, as an operand without a shadow.
    pub(super) fn constant(&mut self, bits: u64) -> Operand {
        let scratch = Place::State(state::SCRATCH);
        let r = self.computed(scratch, 8);
        self.value(Format::F64, Value::Bits(bits), r);
        self.clear(scratch, 8);
        r
    }

    /// Offset of the mask register's value, if the instruction works under one.
    pub(super) fn mask(&mut self) -> Option<u16> {
        let register = self.insn.has_op_mask().then(|| self.insn.op_mask())?;
        Some(self.before(Place::State(state::mask(register.number())), 8).value)
    }

    /// Tells whether lanes of the destination that the mask does not let through stay.
    pub(super) fn merges(&self) -> bool {
        self.insn.has_op_mask() && !self.insn.zeroing_masking()
    }

    /// Room for a flag.
    pub(super) fn flag(&mut self) -> u16 {
        self.out.lowered.reserve(1)
    }

    /// A flag that says whether the processor's condition `condition` held before the instruction.
    pub(super) fn condition(&mut self, condition: u8) -> u16 {
        let at = self.flag();
        self.out.lowered.captures.push(Capture::Condition { condition, at });
        at
    }

    /// Captures `count` lanes of source operand `operand`, which may be one broadcast from memory.
    pub(super) fn source(&mut self, operand: u32, format: Format, count: u16) -> Result<Lanes, Why> {
        let (place, width) = (self.place(operand)?, format.bytes() as u16);
        let broadcast = self.is_memory(operand) && self.insn.is_broadcast();
        let first = self.before(place, if broadcast { width } else { width * count });
        Ok(Lanes { first, stride: if broadcast { 0 } else { width } })
    }

    /// Captures `count` lanes of the destination, operand 0, after the instruction.
    pub(super) fn result(&mut self, format: Format, count: u16) -> Result<Lanes, Why> {
        let (place, width) = (self.place(0)?, format.bytes() as u16);
        Ok(Lanes { first: self.after(place, width * count), stride: width })
    }

    pub(super) fn copy(&mut self, from: Place, to: Place, bytes: u16) {
        if from != to && bytes > 0 {
            self.step(Step::Copy { from, to, bytes });
        }
    }

    pub(super) fn clear(&mut self, at: Place, bytes: u16) {
        if bytes > 0 {
            self.step(Step::Clear { at, bytes });
        }
    }

    /// The vector destination, operand 0, has been written up to `bytes`; the rest is as the encoding has it.
    pub(super) fn finish_vector(&mut self, bytes: u16) -> Result<(), Why> {
        if self.is_register(0) && self.insn.op0_register().is_mm() {
            // What is written as MMX is a NaN when read as x87.
            let place = self.place(0)?;
            self.clear(place.plus(8), 2);
        }
        if self.zeroes_upper() && self.is_register(0) && self.insn.op0_register().is_vector_register() {
            let place = self.place(0)?;
            self.clear(place.plus(bytes), state::VECTOR_BYTES - bytes);
        }
        Ok(())
    }

    /// Result of the lowest lane, where the rest of the lower 16 bytes comes from the first source in VEX forms.
    pub(super) fn finish_scalar(&mut self, bytes: u16) -> Result<(), Why> {
        if !self.zeroes_upper() || !self.is_register(0) || !self.insn.op0_register().is_vector_register() {
            return Ok(());
        }
        let (from, to) = (self.place(1)?, self.place(0)?);
        self.copy(from.plus(bytes), to.plus(bytes), XMM_BYTES - bytes);
        self.finish_vector(XMM_BYTES)
    }

    /// A general register has been written up to `bytes` of 4 or 8: the upper half of a 32-bit write is zero.
    pub(super) fn finish_general(&mut self, operand: u32) -> Result<(), Why> {
        if self.is_register(operand) && self.insn.op_register(operand).is_gpr32() {
            let place = self.place(operand)?;
            self.clear(place.plus(4), 4);
        }
        Ok(())
    }

    /// Clears all registers the instruction writes.
    pub(super) fn clear_registers(&mut self) {
        for register in written_registers(self.info) {
            if let Some((place, bytes)) = register_place(rows::no_float_after(self.insn, register)) {
                self.clear(place, bytes);
            }
        }
    }

    /// Clears everything the instruction writes. Called before any operand is named.
    pub(super) fn clear_written(&mut self) {
        self.clear_registers();
        let memory: Vec<_> =
            self.info.used_memory().iter().filter(|used| is_write(used.access())).copied().collect();
        for used in memory {
            if used.vsib_size() == 0 && used.memory_size().size() > 0 {
                let place = self.address(AddressRecipe::of_use(&used));
                self.clear(place, used.memory_size().size() as u16);
            }
        }
    }
}

/// Place of `register` in the state, and the number of its bytes that could be a float; `None` for the stack pointer
/// and all others that never hold one.
pub(super) fn register_place(register: Register) -> Option<(Place, u16)> {
    if register.full_register() == Register::RSP {
        return None;
    }
    let bytes = if register.is_mm() { Format::F80.bytes() } else { register.size() };
    state::offset(register).map(|offset| (Place::State(offset), bytes as u16))
}

/// Places of the registers an instruction writes.
pub(super) fn written(info: &InstructionInfo) -> impl Iterator<Item = (Place, u16)> {
    written_registers(info).filter_map(register_place)
}

/// Registers an instruction writes.
fn written_registers(info: &InstructionInfo) -> impl Iterator<Item = Register> {
    info.used_registers().iter().filter(|used| is_write(used.access())).map(UsedRegister::register)
}
