//! Instruction forms: opcode, prefix and width of each, per lane format and length.
//!
//! One constant per instruction; the four variants of a floating-point instruction (ps, pd, ss, sd) are one form.
//! Register numbers and decorations are the assembler's business.

use shadowgrind_core::format::Format;

use super::Length;

/// Choice of the mandatory prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Prefix {
    /// ps none, pd 66, ss F3, sd F2.
    Float,
    /// Always this: 0 none, 1 66, 2 F3, 3 F2.
    Fixed(u8),
}

/// Choice of the W bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wide {
    /// Set for F64 in EVEX, ignored in VEX.
    Evex,
    /// Set for F64 in both.
    Both,
    /// Never set.
    Never,
}

/// Encodings that a form has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encodings {
    Vex,
    Evex,
    Either,
}

/// Unit of an 8-bit displacement in EVEX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Memory {
    /// The vector, or the lane of a scalar form.
    Vector,
    /// Half the vector, or the lane.
    Half,
    /// One lane, whatever the length.
    Lane,
}

/// An instruction but for its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Form {
    map: u8,
    prefix: Prefix,
    opcode: u8,
    /// The summand of the opcode in scalar variants.
    scalar: u8,
    wide: Wide,
    encodings: Encodings,
    memory: Memory,
}

impl Form {
    /// Map 0F, prefix by format.
    const fn float(opcode: u8) -> Form {
        Form {
            map: 1,
            prefix: Prefix::Float,
            opcode,
            scalar: 0,
            wide: Wide::Evex,
            encodings: Encodings::Either,
            memory: Memory::Vector,
        }
    }

    const fn fixed(map: u8, prefix: u8, opcode: u8) -> Form {
        Form { map, prefix: Prefix::Fixed(prefix), ..Form::float(opcode) }
    }

    /// Fused multiply-add: the scalar opcode is the next one, W is significant in VEX.
    const fn fused(opcode: u8) -> Form {
        Form { scalar: 1, wide: Wide::Both, ..Form::fixed(2, 1, opcode) }
    }

    const fn only(self, encodings: Encodings) -> Form {
        Form { encodings, ..self }
    }

    const fn wide(self, wide: Wide) -> Form {
        Form { wide, ..self }
    }

    const fn memory(self, memory: Memory) -> Form {
        Form { memory, ..self }
    }

    pub(super) fn map(self) -> u8 {
        self.map
    }

    pub(super) fn prefix(self, format: Format, length: Length) -> u8 {
        match self.prefix {
            Prefix::Fixed(prefix) => prefix,
            Prefix::Float => 2 * u8::from(length == Length::Scalar) + u8::from(is_double(format)),
        }
    }

    pub(super) fn opcode(self, length: Length) -> u8 {
        if length == Length::Scalar { self.opcode + self.scalar } else { self.opcode }
    }

    pub(super) fn vex_w(self, format: Format) -> u8 {
        u8::from(self.wide == Wide::Both && is_double(format))
    }

    pub(super) fn evex_w(self, format: Format) -> u8 {
        u8::from(self.wide != Wide::Never && is_double(format))
    }

    pub(super) fn has_vex(self) -> bool {
        self.encodings != Encodings::Evex
    }

    pub(super) fn has_evex(self) -> bool {
        self.encodings != Encodings::Vex
    }

    /// The unit of an 8-bit displacement in EVEX, in bytes.
    pub(super) fn unit(self, format: Format, length: Length) -> i32 {
        let vector = 16 << length.field();
        match self.memory {
            Memory::Vector if length != Length::Scalar => vector,
            Memory::Half if length != Length::Scalar => vector / 2,
            _ => format.bytes() as i32,
        }
    }
}

fn is_double(format: Format) -> bool {
    match format {
        Format::F16 | Format::F32 => false,
        Format::F64 => true,
        Format::F80 => panic!("no vector has 80-bit lanes"),
    }
}

/// `vadd`.
pub(crate) const ADD: Form = Form::float(0x58);
/// `vmul`.
pub(crate) const MUL: Form = Form::float(0x59);
/// `vsub`.
pub(crate) const SUB: Form = Form::float(0x5c);
/// `vmin`.
#[cfg_attr(not(test), expect(dead_code, reason = "a row that no rule needs yet"))]
pub(crate) const MIN: Form = Form::float(0x5d);
/// `vdiv`.
pub(crate) const DIV: Form = Form::float(0x5e);
/// `vmax`.
#[cfg_attr(not(test), expect(dead_code, reason = "a row that no rule needs yet"))]
pub(crate) const MAX: Form = Form::float(0x5f);
/// `vsqrt`: packed ones have no second operand.
pub(crate) const SQRT: Form = Form::float(0x51);
/// `vcmp` with a predicate; into a vector in VEX, into a mask register in EVEX.
pub(crate) const COMPARE: Form = Form::float(0xc2).only(Encodings::Vex);
/// `vcmp` into a mask register.
pub(crate) const COMPARE_MASK: Form = Form::float(0xc2).only(Encodings::Evex);
/// `vucomiss`, `vucomisd`: format F32 or F64, packed length; writes EFLAGS.
pub(crate) const COMPARE_TO_FLAGS: Form = Form::float(0x2e).only(Encodings::Vex);
/// `vmovups`, `vmovupd`; from memory `vmovss`, `vmovsd`, which zero the rest of the register.
pub(crate) const LOAD: Form = Form::float(0x10);
/// `vmovups`, `vmovupd` towards `rm`.
pub(crate) const STORE: Form = Form::float(0x11);
/// `vmovaps`, `vmovapd`, between registers; packed only.
pub(crate) const MOVE: Form = Form::float(0x28);
/// `vmovss`, `vmovsd` between registers: the lowest lane of `rm`, the rest of the low 16 bytes of `second`.
pub(crate) const MOVE_LOW: Form = Form::float(0x10);
/// `vcvtss2sd`, `vcvtps2pd`: format is F32; its length that of the result.
pub(crate) const WIDEN: Form = Form::float(0x5a).memory(Memory::Half);
/// `vcvtsd2ss`, `vcvtpd2ps`: format is F64; its length that of the operand.
pub(crate) const NARROW: Form = Form::float(0x5a);

/// `vcvtph2ps`: length that of the result. Format F32.
pub(crate) const WIDEN_HALF: Form = Form::fixed(2, 1, 0x13).wide(Wide::Never).memory(Memory::Half);
/// `vcvtps2ph`, towards `rm`, rounding by the immediate: length that of the operand. Format F32.
pub(crate) const NARROW_HALF: Form = Form::fixed(3, 1, 0x1d).wide(Wide::Never).memory(Memory::Half);

/// `vunpcklps`, `vunpcklpd`; packed only.
pub(crate) const UNPACK_LOW: Form = Form::float(0x14);
/// `vunpckhps`, `vunpckhpd`; packed only.
pub(crate) const UNPACK_HIGH: Form = Form::float(0x15);
/// `vshufps`, `vshufpd` by immediate; packed only.
pub(crate) const SHUFFLE: Form = Form::float(0xc6);
/// `vpand`, as `vpandd`, `vpandq` in EVEX. Logic is packed: length is never scalar.
pub(crate) const AND: Form = Form::fixed(1, 1, 0xdb);
/// `vpandn`: `rm` where `second` has no bit.
pub(crate) const AND_NOT: Form = Form::fixed(1, 1, 0xdf);
/// `vpor`.
pub(crate) const OR: Form = Form::fixed(1, 1, 0xeb);
/// `vpxor`.
pub(crate) const XOR: Form = Form::fixed(1, 1, 0xef);
/// `vpternlogd`, `vpternlogq`: any function of `reg`, `second` and `rm`, by truth table.
pub(crate) const TERNARY: Form = Form::fixed(3, 1, 0x25).only(Encodings::Evex);
/// `vpaddd`.
pub(crate) const ADD_32: Form = Form::fixed(1, 1, 0xfe).wide(Wide::Never);
/// `vpaddq`.
pub(crate) const ADD_64: Form = Form::fixed(1, 1, 0xd4);
/// `vpsubd`.
pub(crate) const SUB_32: Form = Form::fixed(1, 1, 0xfa).wide(Wide::Never);
/// `vpslld`, `vpsrad` and `vpsrld` by immediate, into `second`: 6, 4 and 2 in place of the register.
pub(crate) const SHIFT_32: Form = Form::fixed(1, 1, 0x72).wide(Wide::Never);
/// `vpsllq` and `vpsrlq` by immediate, into `second`: 6 and 2 in place of the register.
pub(crate) const SHIFT_64: Form = Form::fixed(1, 1, 0x73);
/// `vcvtuqq2pd`: format F64.
pub(crate) const FROM_UNSIGNED_64: Form = Form::fixed(1, 2, 0x7a).only(Encodings::Evex);
/// `vpcmpuq`: the comparison of the immediate, of unsigned lanes.
pub(crate) const COMPARE_UNSIGNED_64: Form = Form::fixed(3, 1, 0x1e).only(Encodings::Evex);
/// `vpinsrw`: `second` with the word `rm` in place of that of the immediate. Format F16, length 16 bytes.
pub(crate) const INSERT_16: Form = Form::fixed(1, 1, 0xc4).wide(Wide::Never).memory(Memory::Lane);
/// `vpextrw` towards `rm`: the word of the immediate. Format F16, length 16 bytes.
pub(crate) const EXTRACT_16: Form = Form::fixed(3, 1, 0x15).wide(Wide::Never).memory(Memory::Lane);
/// `vmovhpd`: `rm` as the upper half of the low 16 bytes, the lower of `second`. Format F64, length 16 bytes.
pub(crate) const LOAD_HIGH: Form = Form::fixed(1, 1, 0x16).memory(Memory::Lane);
/// `vcvtdq2ps`.
pub(crate) const FROM_INTEGER_32: Form = Form::fixed(1, 0, 0x5b).wide(Wide::Never);
/// `vcvtdq2pd`, from a register: format F64, length 16 bytes.
pub(crate) const DOUBLE_OF_INTEGER_32: Form = Form::fixed(1, 2, 0xe6).wide(Wide::Never);
/// `vscalefps`: `second` times two to the power of `rm`, rounded down.
pub(crate) const SCALE: Form = Form::fixed(2, 1, 0x2c).wide(Wide::Never).only(Encodings::Evex);
/// `vptestmd`, `vptestmq`: mask of lanes that have a bit in common.
pub(crate) const TEST: Form = Form::fixed(2, 1, 0x27).only(Encodings::Evex);
/// `vptestnmd`, `vptestnmq`: mask of lanes that have none.
pub(crate) const TEST_NOT: Form = Form::fixed(2, 2, 0x27).only(Encodings::Evex);
/// `vpblendmd`, `vpblendmq`: `rm` where the mask has a bit, `second` elsewhere.
pub(crate) const BLEND_MASK: Form = Form::fixed(2, 1, 0x64).only(Encodings::Evex);
/// `vpblendmb` (format F32), `vpblendmw` (F64): `rm` where the mask has a bit, `second` elsewhere.
pub(crate) const BLEND_MASK_SMALL: Form = Form::fixed(2, 1, 0x66).only(Encodings::Evex);
/// `vpmovb2m`: signs of the bytes of `rm` to mask register `reg`.
pub(crate) const SIGNS_MASK_8: Form = Form::fixed(2, 2, 0x29).wide(Wide::Never).only(Encodings::Evex);
/// `vpcmpeqd` into a vector.
pub(crate) const EQUAL_32: Form = Form::fixed(1, 1, 0x76).only(Encodings::Vex);
/// `vpcmpeqq` into a vector.
pub(crate) const EQUAL_64: Form = Form::fixed(2, 1, 0x29).only(Encodings::Vex);
/// `vblendvps`: `rm` where the mask register in the immediate has its sign, `second` elsewhere.
pub(crate) const BLEND_VECTOR_32: Form = Form::fixed(3, 1, 0x4a).only(Encodings::Vex);
/// `vblendvpd`.
pub(crate) const BLEND_VECTOR_64: Form = Form::fixed(3, 1, 0x4b).only(Encodings::Vex);
/// `vpblendvb`.
pub(crate) const BLEND_VECTOR_8: Form = Form::fixed(3, 1, 0x4c).only(Encodings::Vex);
/// `vblendps` by immediate, 32-bit lanes whatever the format: `rm` where it has a bit.
pub(crate) const BLEND: Form = Form::fixed(3, 1, 0x0c).only(Encodings::Vex);
/// `vptest`: ZF says whether `reg` and `rm` have no bit in common.
pub(crate) const TEST_FLAGS: Form = Form::fixed(2, 1, 0x17).only(Encodings::Vex);
/// `vmovmskps`, `vmovmskpd`: signs of the lanes of `rm` to general register `reg`; packed only.
pub(crate) const SIGNS: Form = Form::float(0x50).only(Encodings::Vex);
/// `vinsertps`; 32-bit lanes. Length 16 bytes.
pub(crate) const INSERT_32: Form = Form::fixed(3, 1, 0x21).wide(Wide::Never).memory(Memory::Lane);
/// `vmovq` between vector registers: 8 bytes, the rest zero. Format F64, length 16 bytes.
pub(crate) const MOVE_64: Form = Form::fixed(1, 2, 0x7e).memory(Memory::Lane);
/// `vmovd`, `vmovq` to a vector register from a general one. Length 16 bytes.
#[cfg_attr(not(test), expect(dead_code, reason = "a row that no rule needs yet"))]
pub(crate) const FROM_GENERAL: Form = Form::fixed(1, 1, 0x6e).wide(Wide::Both).memory(Memory::Lane);
/// `vmovd`, `vmovq` from a vector register to a general one. Length 16 bytes.
#[cfg_attr(not(test), expect(dead_code, reason = "a row that no rule needs yet"))]
pub(crate) const TO_GENERAL: Form = Form::fixed(1, 1, 0x7e).wide(Wide::Both).memory(Memory::Lane);
/// `vbroadcastss` from memory or a register. Format F32, any packed length.
pub(crate) const BROADCAST_32: Form = Form::fixed(2, 1, 0x18).wide(Wide::Never).memory(Memory::Lane);
/// `vbroadcastsd`. Format F64; 32 or 64 bytes.
pub(crate) const BROADCAST_64: Form = Form::fixed(2, 1, 0x19).memory(Memory::Lane);

/// Copies of one float of `format`, which is no long double.
pub(crate) fn broadcast(format: Format) -> Form {
    if format == Format::F32 { BROADCAST_32 } else { BROADCAST_64 }
}

/// `kmovw` (format F32), `kmovq` (F64) to mask register `reg` from a mask register or memory. Length 16 bytes.
pub(crate) const MASK_LOAD: Form = Form::fixed(1, 0, 0x90).wide(Wide::Both).only(Encodings::Vex);
/// `kmovw` (format F32), `kmovq` (F64) to memory. Length 16 bytes.
pub(crate) const MASK_STORE: Form = Form::fixed(1, 0, 0x91).wide(Wide::Both).only(Encodings::Vex);

/// Order of a fused multiply-add's operands: which of reg (1), second (2) and rm (3) are multiplied, and which added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// reg · rm + second.
    O132,
    /// second · reg + rm.
    O213,
    /// second · rm + reg.
    O231,
}

/// `vfmadd`, or with `negate_product` `vfnmadd`, or with `negate_addend` `vfmsub` and `vfnmsub`.
pub(crate) const fn fused(order: Order, negate_product: bool, negate_addend: bool) -> Form {
    let base = match order {
        Order::O132 => 0x98,
        Order::O213 => 0xa8,
        Order::O231 => 0xb8,
    };
    Form::fused(base + 2 * negate_addend as u8 + 4 * negate_product as u8)
}
