//! A small assembler for VEX and EVEX instructions: what shadow rules and moves of shadows are made of.
//!
//! Takes a form (`forms`), operands and decorations, and writes the bytes; VEX wherever it can say the same, as it is
//! shorter and runs on more machines. Knows encodings only (Intel SDM vol. 2, 2.3 and 2.7), not what is computed.

pub(crate) mod forms;
#[cfg(test)]
mod tests;

use shadowgrind_core::format::Format;

use super::asm::{Asm, Gpr};
pub(crate) use forms::Form;

/// Summand of the displacements of operands that mean the mirror; GS's base is less by as much.
///
/// Processors (AMD's, from the second Zen on) take what a load from the stack wants from the last store with the same
/// base register and the same displacement, or rather bits 3 to 9 of it, before they know the address, and do not look at
/// the segment. A shadow stored beside each float, or beside each pushed register, would be taken for that.
pub(crate) const MIRROR_SHIFT: i32 = 512;

/// A memory operand of emitted code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mem {
    /// Relative to GS: the mirror.
    pub(crate) gs: bool,
    /// Relative to FS: the guest's thread pointer.
    pub(crate) fs: bool,
    /// The address is computed in 32 bits.
    pub(crate) address32: bool,
    /// The address before any segment's base.
    pub(crate) at: At,
}

/// An address of emitted code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum At {
    /// An absolute target, reached rip-relative.
    Rip(u64),
    /// base + index · scale + displacement.
    Base {
        /// Base register.
        base: Option<Gpr>,
        /// Index register, not rsp, and scale 1, 2, 4 or 8.
        index: Option<(Gpr, u8)>,
        /// Signed displacement.
        displacement: i32,
    },
}

impl Mem {
    /// The memory at an absolute address within reach.
    pub(crate) const fn rip(target: u64) -> Mem {
        Mem { gs: false, fs: false, address32: false, at: At::Rip(target) }
    }
}

/// A vector register, 0 … 31 (in some forms a general or mask register), or memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Register by hardware number.
    Reg(u8),
    /// Memory.
    Mem(Mem),
}

/// Part of a register that an instruction works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Length {
    /// The lowest lane.
    Scalar,
    /// xmm.
    B16,
    /// ymm.
    B32,
    /// zmm: EVEX only.
    B64,
}

impl Length {
    /// The length for an operand of so many bytes; those of one lane are scalar.
    pub(crate) fn of(bytes: u8) -> Length {
        match bytes {
            4 | 8 => Length::Scalar,
            16 => Length::B16,
            32 => Length::B32,
            64 => Length::B64,
            _ => panic!("no vector operand has {bytes} bytes"),
        }
    }

    /// The field L'L.
    const fn field(self) -> u8 {
        match self {
            Length::Scalar | Length::B16 => 0,
            Length::B32 => 1,
            Length::B64 => 2,
        }
    }
}

/// Treatment of exceptions by an EVEX register form. Packed forms are 512 bits wide when they are not `Loud`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Noise {
    /// Flags are raised.
    Loud,
    /// `{sae}`: none are.
    Suppressed,
    /// `{rn-sae}`: none are, and rounding is to nearest whatever the mode.
    Nearest,
}

/// One instruction. Operands in the order of Intel's VEX syntax: `reg`, then `second` where the form has one, then `rm`
/// (stores have `rm` first).
#[derive(Clone, Copy, Debug)]
#[must_use]
pub(crate) struct Vector {
    form: Form,
    format: Format,
    length: Length,
    reg: u8,
    second: u8,
    rm: Place,
    mask: u8,
    zeroing: bool,
    noise: Noise,
    immediate: Option<u8>,
}

impl Vector {
    /// `form reg, second, rm` on lanes of `format`.
    pub(crate) fn new(form: Form, format: Format, length: Length, [reg, second]: [u8; 2], rm: Place) -> Self {
        Vector {
            form,
            format,
            length,
            reg,
            second,
            rm,
            mask: 0,
            zeroing: false,
            noise: Noise::Loud,
            immediate: None,
        }
    }

    /// `form reg, rm`, for forms without a second operand.
    pub(crate) fn unary(form: Form, format: Format, length: Length, reg: u8, rm: Place) -> Self {
        Vector::new(form, format, length, [reg, 0], rm)
    }

    /// Only lanes of mask register `k` are written, the others kept; `k` = 0 means all.
    pub(crate) fn masked(self, k: u8) -> Self {
        Vector { mask: k, ..self }
    }

    /// Lanes that are not written become zero.
    pub(crate) fn zeroing(self) -> Self {
        Vector { zeroing: self.mask != 0, ..self }
    }

    /// No exception flags and rounding to nearest. Register operands only; packed lengths become 512 bits.
    pub(crate) fn nearest(self) -> Self {
        self.quiet(Noise::Nearest)
    }

    /// No exception flags, for forms that do not round. Register operands only; packed lengths become 512 bits.
    pub(crate) fn suppressed(self) -> Self {
        self.quiet(Noise::Suppressed)
    }

    fn quiet(self, noise: Noise) -> Self {
        let length = if self.length == Length::Scalar { Length::Scalar } else { Length::B64 };
        Vector { noise, length, ..self }
    }

    /// With an immediate byte.
    pub(crate) fn immediate(self, value: u8) -> Self {
        Vector { immediate: Some(value), ..self }
    }

    /// Tells whether the instruction has to be in EVEX.
    pub(crate) fn is_evex(&self) -> bool {
        let high = |place| matches!(place, Place::Reg(16..));
        let decorated = self.mask != 0 || self.noise != Noise::Loud || self.length == Length::B64;
        !self.form.has_vex() || decorated || self.reg >= 16 || self.second >= 16 || high(self.rm)
    }
}

/// The high bits of the register fields in ModRM and SIB.
struct Extension {
    /// Bit 3 of the index; bit 4 of a register in `rm`.
    x: u8,
    /// Bit 3 of the base or of a register in `rm`.
    b: u8,
}

impl Mem {
    /// The memory `bytes` further on.
    pub(crate) fn plus(self, bytes: i32) -> Mem {
        let at = match self.at {
            At::Rip(target) => At::Rip(target.wrapping_add_signed(i64::from(bytes))),
            At::Base { base, index, displacement } => {
                At::Base { base, index, displacement: displacement.wrapping_add(bytes) }
            }
        };
        Mem { at, ..self }
    }

    /// The summand of the displacement.
    pub(crate) fn shift(self) -> i32 {
        if self.gs { MIRROR_SHIFT } else { 0 }
    }

    /// Tells whether the address needs general register `n`.
    pub(crate) fn uses(self, n: Gpr) -> bool {
        match self.at {
            At::Rip(_) => false,
            At::Base { base, index, .. } => base == Some(n) || index.is_some_and(|(index, _)| index == n),
        }
    }
}

impl Place {
    /// Bits 3 of the index and of the base (or register) in `rm`, for a REX prefix.
    pub(in crate::x86) fn extension_bits(self) -> (u8, u8) {
        let Extension { x, b } = self.extension();
        (x, b)
    }

    fn extension(self) -> Extension {
        match self {
            Place::Reg(number) => Extension { x: number >> 4 & 1, b: number >> 3 & 1 },
            Place::Mem(Mem { at: At::Rip(_), .. }) => Extension { x: 0, b: 0 },
            Place::Mem(Mem { at: At::Base { base, index, .. }, .. }) => {
                Extension { x: index.map_or(0, |(index, _)| index >> 3), b: base.unwrap_or(0) >> 3 }
            }
        }
    }
}

impl Asm {
    /// Appends an instruction.
    ///
    /// # Panics
    /// Where no encoding says it: a decoration on a form without EVEX, a quiet memory operand.
    pub(crate) fn vector(&mut self, v: Vector) {
        if let Place::Mem(mem) = v.rm {
            assert!(v.noise == Noise::Loud, "quiet instructions take registers");
            self.segment(mem);
        }
        let scale = if v.is_evex() { self.evex(&v) } else { self.vex(&v) };
        self.operand(v.reg & 7, v.rm, scale, u64::from(v.immediate.is_some()));
        if let Some(value) = v.immediate {
            self.raw(&[value]);
        }
    }

    /// Loads the low `bytes` (4, 8, 16, 32, 64) of vector register `reg`; the rest of it becomes zero.
    pub(crate) fn vector_load(&mut self, reg: u8, from: Mem, bytes: u8) {
        self.vector(Vector::unary(forms::LOAD, lane(bytes), Length::of(bytes), reg, Place::Mem(from)));
    }

    /// Stores the low `bytes` (4, 8, 16, 32, 64) of vector register `reg`.
    pub(crate) fn vector_store(&mut self, to: Mem, reg: u8, bytes: u8) {
        self.vector(Vector::unary(forms::STORE, lane(bytes), Length::of(bytes), reg, Place::Mem(to)));
    }

    /// Prefixes of a memory operand.
    pub(in crate::x86) fn segment(&mut self, mem: Mem) {
        assert!(!mem.gs || !mem.fs, "one segment");
        for (there, prefix) in [(mem.gs, 0x65), (mem.fs, 0x64), (mem.address32, 0x67)] {
            if there {
                self.raw(&[prefix]);
            }
        }
    }

    /// Prefix and opcode; returns the unit of an 8-bit displacement.
    fn vex(&mut self, v: &Vector) -> i32 {
        let (map, prefix, wide) = (v.form.map(), v.form.prefix(v.format, v.length), v.form.vex_w(v.format));
        let Extension { x, b } = v.rm.extension();
        let r = v.reg >> 3;
        let low = (!v.second & 15) << 3 | v.length.field() << 2 | prefix;
        let opcode = v.form.opcode(v.length);
        if map == 1 && x | b | wide == 0 {
            self.raw(&[0xc5, (r ^ 1) << 7 | low, opcode]);
        } else {
            self.raw(&[0xc4, (r ^ 1) << 7 | (x ^ 1) << 6 | (b ^ 1) << 5 | map, wide << 7 | low, opcode]);
        }
        1
    }

    /// Prefix and opcode; returns the unit of an 8-bit displacement.
    fn evex(&mut self, v: &Vector) -> i32 {
        assert!(v.form.has_evex(), "{:?} is VEX only", v.form);
        let (map, prefix) = (v.form.map(), v.form.prefix(v.format, v.length));
        let Extension { x, b } = v.rm.extension();
        let (r, r_high) = (v.reg >> 3 & 1, v.reg >> 4);
        let first = (r ^ 1) << 7 | (x ^ 1) << 6 | (b ^ 1) << 5 | (r_high ^ 1) << 4 | map;
        let second = v.form.evex_w(v.format) << 7 | (!v.second & 15) << 3 | 4 | prefix;
        // With rounding control, L'L is the mode: 0 is to nearest.
        let length = if v.noise == Noise::Nearest { 0 } else { v.length.field() };
        let quiet = u8::from(v.noise != Noise::Loud);
        let (zeroing, high) = (u8::from(v.zeroing), v.second >> 4 ^ 1);
        let third = zeroing << 7 | length << 5 | quiet << 4 | high << 3 | v.mask;
        self.raw(&[0x62, first, second, third, v.form.opcode(v.length)]);
        v.form.unit(v.format, v.length)
    }

    /// ModRM, SIB and displacement; `tail` bytes of the instruction follow.
    pub(in crate::x86) fn operand(&mut self, reg: u8, rm: Place, unit: i32, tail: u64) {
        let reg = reg << 3;
        match rm {
            Place::Reg(number) => self.raw(&[0xc0 | reg | number & 7]),
            Place::Mem(mem @ Mem { at: At::Rip(target), address32, .. }) => {
                assert!(!address32, "rip-relative addresses have 64 bits");
                let target = target.wrapping_add_signed(mem.shift().into());
                self.raw(&[reg | 5]);
                self.rel32(target, tail);
            }
            Place::Mem(mem @ Mem { at: At::Base { base, index, displacement }, .. }) => {
                let displacement = displacement.wrapping_add(mem.shift());
                self.address(reg, base, index, displacement, unit);
            }
        }
    }

    fn address(
        &mut self,
        reg: u8,
        base: Option<Gpr>,
        index: Option<(Gpr, u8)>,
        displacement: i32,
        unit: i32,
    ) {
        // rsp as index means none; it and r12 as base need a SIB byte.
        let (index, scale) = index.unwrap_or((4, 1));
        let needs_sib = index != 4 || base.is_none_or(|base| base & 7 == 4);
        let short = i8::try_from(displacement / unit).ok().filter(|_| displacement % unit == 0);
        // rbp and r13 without displacement mean other things.
        let mode = match (base, short) {
            (None, _) => 0,
            (Some(base), Some(0)) if base & 7 != 5 => 0,
            (_, Some(_)) => 0x40,
            (_, None) => 0x80,
        };
        // Base 5 in mode 0: no base, and 32 bits of displacement.
        let base_field = base.unwrap_or(5) & 7;
        if needs_sib {
            assert!(scale.is_power_of_two() && scale <= 8, "scale {scale}");
            let sib = (scale.trailing_zeros() as u8) << 6 | (index & 7) << 3 | base_field;
            self.raw(&[mode | reg | 4, sib]);
        } else {
            self.raw(&[mode | reg | base_field]);
        }
        match (mode, short) {
            (0x40, Some(short)) => self.raw(&short.to_le_bytes()),
            (0, _) if base.is_some() => {}
            _ => self.imm32(displacement),
        }
    }
}

/// The lane format with which moves of so many bytes are spelt.
fn lane(bytes: u8) -> Format {
    if bytes == 8 { Format::F64 } else { Format::F32 }
}
