//! Everything the assembler writes, read back by iced.

use iced_x86::{
    Decoder, DecoderOptions, EncodingKind, Instruction, Mnemonic, OpKind, Register, RoundingControl,
};

use super::forms::{self as f, Form, Order, fused};
use super::*;

const BASE: u64 = 0x4000_0000;

struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
    fn coin(&mut self) -> bool {
        self.below(2) == 1
    }
    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}

/// Operands of a form.
#[derive(Clone, Copy, PartialEq)]
enum Shape {
    /// reg, second, rm.
    Three,
    /// reg, second, rm; may be quiet with rounding.
    Rounded,
    /// Packed reg, rm; scalar reg, second, rm; rounded.
    Root,
    /// Packed reg, rm; scalar reg, second, rm; `{sae}`.
    Widen,
    /// Packed reg, rm; scalar reg, second, rm; `{sae}` or rounded.
    Narrow,
    /// Packed rm, reg; `{sae}`.
    Halve,
    /// reg, rm.
    Two,
    /// reg, memory.
    Load,
    /// memory, reg.
    Store,
    /// mask, second, rm, `{sae}`.
    CompareMask,
    /// mask, second, rm.
    TestMask,
}

/// Form, operands, lengths, immediate, and mnemonics for F32 and F64: packed, then scalar.
type Case = (Form, Shape, &'static [Length], bool, [[Mnemonic; 2]; 2]);

const PACKED: &[Length] = &[Length::B16, Length::B32, Length::B64];
const NARROWER: &[Length] = &[Length::B16, Length::B32];
const ONE: &[Length] = &[Length::B16];
const ALL: &[Length] = &[Length::Scalar, Length::B16, Length::B32, Length::B64];

/// `$single` and `$double` of the packed variant, and of the scalar one if there is any.
macro_rules! names {
    ($single:ident $double:ident) => {
        [[Mnemonic::$single, Mnemonic::$double], [Mnemonic::INVALID; 2]]
    };
    ($single:ident $double:ident $ss:ident $sd:ident) => {
        [[Mnemonic::$single, Mnemonic::$double], [Mnemonic::$ss, Mnemonic::$sd]]
    };
}

/// Forms whose mnemonic differs between VEX and EVEX are in `logic`.
fn cases() -> Vec<Case> {
    vec![
        (f::ADD, Shape::Rounded, ALL, false, names!(Vaddps Vaddpd Vaddss Vaddsd)),
        (f::MUL, Shape::Rounded, ALL, false, names!(Vmulps Vmulpd Vmulss Vmulsd)),
        (f::SUB, Shape::Rounded, ALL, false, names!(Vsubps Vsubpd Vsubss Vsubsd)),
        (f::DIV, Shape::Rounded, ALL, false, names!(Vdivps Vdivpd Vdivss Vdivsd)),
        (f::MIN, Shape::Three, ALL, false, names!(Vminps Vminpd Vminss Vminsd)),
        (f::MAX, Shape::Three, ALL, false, names!(Vmaxps Vmaxpd Vmaxss Vmaxsd)),
        (f::SQRT, Shape::Root, ALL, false, names!(Vsqrtps Vsqrtpd Vsqrtss Vsqrtsd)),
        (f::WIDEN, Shape::Widen, ALL, false, names!(Vcvtps2pd INVALID Vcvtss2sd INVALID)),
        (f::NARROW, Shape::Narrow, ALL, false, names!(INVALID Vcvtpd2ps INVALID Vcvtsd2ss)),
        (f::WIDEN_HALF, Shape::Widen, PACKED, false, names!(Vcvtph2ps INVALID)),
        (f::NARROW_HALF, Shape::Halve, PACKED, true, names!(Vcvtps2ph INVALID)),
        (f::COMPARE, Shape::Three, &ALL[..3], true, names!(Vcmpps Vcmppd Vcmpss Vcmpsd)),
        (f::COMPARE_MASK, Shape::CompareMask, ALL, true, names!(Vcmpps Vcmppd Vcmpss Vcmpsd)),
        (f::LOAD, Shape::Load, ALL, false, names!(Vmovups Vmovupd Vmovss Vmovsd)),
        (f::STORE, Shape::Store, ALL, false, names!(Vmovups Vmovupd Vmovss Vmovsd)),
        (f::MOVE, Shape::Two, PACKED, false, names!(Vmovaps Vmovapd)),
        (f::UNPACK_LOW, Shape::Three, PACKED, false, names!(Vunpcklps Vunpcklpd)),
        (f::UNPACK_HIGH, Shape::Three, PACKED, false, names!(Vunpckhps Vunpckhpd)),
        (f::SHUFFLE, Shape::Three, PACKED, true, names!(Vshufps Vshufpd)),
        (f::TERNARY, Shape::Three, PACKED, true, names!(Vpternlogd Vpternlogq)),
        (f::TEST, Shape::TestMask, PACKED, false, names!(Vptestmd Vptestmq)),
        (f::TEST_NOT, Shape::TestMask, PACKED, false, names!(Vptestnmd Vptestnmq)),
        (f::ADD_32, Shape::Three, PACKED, false, names!(Vpaddd INVALID)),
        (f::ADD_64, Shape::Three, PACKED, false, names!(INVALID Vpaddq)),
        (f::SUB_32, Shape::Three, PACKED, false, names!(Vpsubd INVALID)),
        (f::FROM_INTEGER_32, Shape::Two, PACKED, false, names!(Vcvtdq2ps INVALID)),
        (f::SCALE, Shape::Rounded, PACKED, false, names!(Vscalefps INVALID)),
        (f::BLEND_MASK, Shape::Three, PACKED, false, names!(Vpblendmd Vpblendmq)),
        (f::BLEND_MASK_SMALL, Shape::Three, PACKED, false, names!(Vpblendmb Vpblendmw)),
        (f::EQUAL_32, Shape::Three, NARROWER, false, names!(Vpcmpeqd Vpcmpeqd)),
        (f::EQUAL_64, Shape::Three, NARROWER, false, names!(Vpcmpeqq Vpcmpeqq)),
        (f::BLEND, Shape::Three, NARROWER, true, names!(Vblendps Vblendps)),
        (f::INSERT_32, Shape::Three, ONE, true, names!(Vinsertps INVALID)),
        (f::MOVE_64, Shape::Two, ONE, false, names!(INVALID Vmovq)),
        (f::FROM_GENERAL, Shape::Load, ONE, false, names!(Vmovd Vmovq)),
        (f::TO_GENERAL, Shape::Store, ONE, false, names!(Vmovd Vmovq)),
        (f::BROADCAST_32, Shape::Two, PACKED, false, names!(Vbroadcastss INVALID)),
        (f::BROADCAST_64, Shape::Two, &PACKED[1..], false, names!(INVALID Vbroadcastsd)),
    ]
}

/// Fused products and sums: order of operands, signs of product and addend.
fn fused_cases() -> Vec<Case> {
    [
        (fused(Order::O132, false, false), names!(Vfmadd132ps Vfmadd132pd Vfmadd132ss Vfmadd132sd)),
        (fused(Order::O213, false, false), names!(Vfmadd213ps Vfmadd213pd Vfmadd213ss Vfmadd213sd)),
        (fused(Order::O231, false, false), names!(Vfmadd231ps Vfmadd231pd Vfmadd231ss Vfmadd231sd)),
        (fused(Order::O231, false, true), names!(Vfmsub231ps Vfmsub231pd Vfmsub231ss Vfmsub231sd)),
        (fused(Order::O213, true, false), names!(Vfnmadd213ps Vfnmadd213pd Vfnmadd213ss Vfnmadd213sd)),
        (fused(Order::O132, true, true), names!(Vfnmsub132ps Vfnmsub132pd Vfnmsub132ss Vfnmsub132sd)),
    ]
    .map(|(form, names)| (form, Shape::Rounded, ALL, false, names))
    .to_vec()
}

/// Form; mnemonics in VEX; in EVEX by format.
const LOGIC: [(Form, Mnemonic, [Mnemonic; 2]); 4] = [
    (f::AND, Mnemonic::Vpand, [Mnemonic::Vpandd, Mnemonic::Vpandq]),
    (f::AND_NOT, Mnemonic::Vpandn, [Mnemonic::Vpandnd, Mnemonic::Vpandnq]),
    (f::OR, Mnemonic::Vpor, [Mnemonic::Vpord, Mnemonic::Vporq]),
    (f::XOR, Mnemonic::Vpxor, [Mnemonic::Vpxord, Mnemonic::Vpxorq]),
];

fn vector_name(number: u8, length: Length) -> Register {
    let first = match length {
        Length::Scalar | Length::B16 => Register::XMM0,
        Length::B32 => Register::YMM0,
        Length::B64 => Register::ZMM0,
    };
    first + u32::from(number)
}

fn general_name(number: u8, address32: bool) -> Register {
    (if address32 { Register::EAX } else { Register::RAX }) + u32::from(number)
}

fn memory(random: &mut Random) -> Mem {
    let gs = random.coin();
    let fs = !gs && random.coin();
    let displacement = match random.below(4) {
        0 => 0,
        1 => random.below(256) as i32 - 128,
        2 => 16 * (random.below(256) as i32 - 128),
        _ => random.below(1 << 31) as i32 - (1 << 30),
    };
    let index = (random.coin())
        .then(|| (random.pick(&[0, 1, 2, 3, 5, 6, 7, 8, 12, 13, 15]), random.pick(&[1, 2, 4, 8])));
    let base = (random.below(8) != 0).then(|| random.below(16) as u8);
    if random.below(4) == 0 {
        return Mem { gs, fs, ..Mem::rip(BASE + random.below(1 << 20)) };
    }
    // Without registers the decoder would name no width of addresses.
    let address32 = (base.is_some() || index.is_some()) && random.below(4) == 0;
    Mem { gs, fs, address32, at: At::Base { base, index, displacement } }
}

fn check_memory(i: &Instruction, mem: Mem, text: &str) {
    let segment = match (mem.gs, mem.fs) {
        (true, _) => Register::GS,
        (_, true) => Register::FS,
        _ => Register::None,
    };
    assert_eq!(i.segment_prefix(), segment, "{text}");
    // GS's base is less by as much.
    let shift = if mem.gs { MIRROR_SHIFT } else { 0 };
    match mem.at {
        At::Rip(target) => {
            assert!(i.is_ip_rel_memory_operand(), "{text}");
            assert_eq!(i.ip_rel_memory_address(), target.wrapping_add_signed(shift.into()), "{text}");
        }
        At::Base { base, index, displacement } => {
            let name = |number: Option<u8>| number.map_or(Register::None, |n| general_name(n, mem.address32));
            assert_eq!(i.memory_base(), name(base), "{text}");
            assert_eq!(i.memory_index(), name(index.map(|(n, _)| n)), "{text}");
            assert_eq!(i.memory_index_scale(), index.map_or(1, |(_, s)| s.into()), "{text}");
            assert_eq!(i.memory_displacement64() as i32, displacement + shift, "{text}");
        }
    }
}

/// Assembles, decodes, and compares what all forms have in common. Returns the instruction and its text.
fn decoded(v: Vector) -> (Instruction, String) {
    let mut asm = Asm::new(BASE);
    asm.vector(v);
    let mut decoder = Decoder::with_ip(64, asm.code(), BASE, DecoderOptions::NONE);
    let i = decoder.decode();
    let text = format!("{v:?} gave {:02x?}: {i}", asm.code());
    assert_eq!(i.len(), asm.code().len(), "{text}");
    let encoding = if v.is_evex() { EncodingKind::EVEX } else { EncodingKind::VEX };
    assert_eq!(i.code().encoding(), encoding, "{text}");
    let opmask = if v.mask == 0 { Register::None } else { Register::K0 + u32::from(v.mask) };
    assert_eq!((i.op_mask(), i.zeroing_masking()), (opmask, v.zeroing), "{text}");
    let rounding =
        if v.noise == Noise::Nearest { RoundingControl::RoundToNearest } else { RoundingControl::None };
    assert_eq!(i.rounding_control(), rounding, "{text}");
    assert_eq!(i.suppress_all_exceptions(), v.noise == Noise::Suppressed, "{text}");
    if let Some(value) = v.immediate {
        assert_eq!(i.immediate8(), value, "{text}");
    }
    if let Place::Mem(mem) = v.rm {
        check_memory(&i, mem, &text);
    }
    (i, text)
}

fn check_operands(i: &Instruction, expected: &[Option<Register>], text: &str) {
    for (n, operand) in expected.iter().enumerate() {
        let n = n as u32;
        match operand {
            Some(register) => assert_eq!(i.op_register(n), *register, "{text}"),
            None => assert_eq!(i.op_kind(n), OpKind::Memory, "{text}"),
        }
    }
}

/// A random instruction of a case, and what its operands should be.
fn instance(
    random: &mut Random,
    &(form, shape, lengths, immediate, _): &Case,
    format: Format,
) -> (Vector, Vec<Option<Register>>) {
    let length = random.pick(lengths);
    let evex = form.has_evex() && (!form.has_vex() || random.coin() || length == Length::B64);
    let registers = if evex { 32 } else { 16 };
    let general = matches!(form, f::FROM_GENERAL | f::TO_GENERAL);
    let to_mask = matches!(shape, Shape::CompareMask | Shape::TestMask);
    let plain = matches!(shape, Shape::Load | Shape::Store);
    let rm = if random.coin() || plain && !general {
        Place::Mem(memory(random))
    } else {
        Place::Reg(random.below(if general { 16 } else { registers }) as u8)
    };
    let reg = random.below(if to_mask { 8 } else { registers }) as u8;
    let has_second = match shape {
        Shape::Two | Shape::Load | Shape::Store | Shape::Halve => false,
        Shape::Root | Shape::Widen | Shape::Narrow => length == Length::Scalar,
        _ => true,
    };
    let second = if has_second { random.below(registers) as u8 } else { 0 };
    let mut v = Vector::new(form, format, length, [reg, second], rm);
    let quiet = evex && matches!(rm, Place::Reg(_)) && random.coin();
    v = match shape {
        Shape::Rounded | Shape::Root | Shape::Narrow if quiet => v.nearest(),
        Shape::Widen | Shape::Halve | Shape::CompareMask if quiet => v.suppressed(),
        _ => v,
    };
    let maskable = evex && !general && !matches!(form, f::INSERT_32 | f::MOVE_64);
    if maskable && random.coin() {
        v = v.masked(random.below(8) as u8);
        let to_memory = shape == Shape::Store || shape == Shape::Halve && !matches!(rm, Place::Reg(_));
        if random.coin() && !to_mask && !to_memory {
            v = v.zeroing();
        }
    }
    if immediate {
        v = v.immediate(random.below(32) as u8);
    }
    (v, operand_registers(&v, shape, has_second))
}

/// Operands that the disassembler should name; nothing for one in memory.
fn operand_registers(v: &Vector, shape: Shape, has_second: bool) -> Vec<Option<Register>> {
    let Vector { form, format, length, reg, second, rm, .. } = *v;
    let to_mask = matches!(shape, Shape::CompareMask | Shape::TestMask);
    let general = matches!(form, f::FROM_GENERAL | f::TO_GENERAL);
    // One side of a conversion is half as long.
    let half = if length == Length::B64 { Length::B32 } else { Length::B16 };
    let (reg_length, rm_length) = match shape {
        Shape::Widen | Shape::Halve => (length, half),
        Shape::Narrow => (half, length),
        _ if matches!(form, f::BROADCAST_32 | f::BROADCAST_64) => (length, Length::B16),
        _ => (length, length),
    };
    let reg = if to_mask { Register::K0 + u32::from(reg) } else { vector_name(reg, reg_length) };
    let rm = match rm {
        Place::Reg(n) if general && format == Format::F32 => Some(Register::EAX + u32::from(n)),
        Place::Reg(n) if general => Some(general_name(n, false)),
        Place::Reg(n) => Some(vector_name(n, rm_length)),
        Place::Mem(_) => None,
    };
    let mut expected = vec![Some(reg)];
    expected.extend(has_second.then(|| Some(vector_name(second, length))));
    expected.push(rm);
    if matches!(shape, Shape::Store | Shape::Halve) {
        expected.reverse();
    }
    expected
}

#[test]
fn every_form_is_what_its_name_says() {
    let mut random = Random(1);
    for case in cases().into_iter().chain(fused_cases()) {
        for (lane, format) in [Format::F32, Format::F64].into_iter().enumerate() {
            if case.4.iter().all(|names| names[lane] == Mnemonic::INVALID) {
                continue;
            }
            for _ in 0..2000 {
                let (v, expected) = instance(&mut random, &case, format);
                let (i, text) = decoded(v);
                let name = case.4[usize::from(v.length == Length::Scalar)][lane];
                assert_eq!(i.mnemonic(), name, "{text}");
                check_operands(&i, &expected, &text);
            }
        }
    }
}

#[test]
fn logic_is_named_by_its_encoding() {
    let mut random = Random(2);
    for (form, plain, by_format) in LOGIC {
        for (lane, format) in [Format::F32, Format::F64].into_iter().enumerate() {
            let case = (form, Shape::Three, PACKED, false, [[Mnemonic::INVALID; 2]; 2]);
            for _ in 0..2000 {
                let (v, expected) = instance(&mut random, &case, format);
                let (i, text) = decoded(v);
                assert_eq!(i.mnemonic(), if v.is_evex() { by_format[lane] } else { plain }, "{text}");
                check_operands(&i, &expected, &text);
            }
        }
    }
}

#[test]
fn odd_ones_out() {
    let mut random = Random(3);
    for _ in 0..2000 {
        let [reg, second, source, mask] = std::array::from_fn(|_| random.below(16) as u8);
        for (form, format, name) in [
            (f::BLEND_VECTOR_32, Format::F32, Mnemonic::Vblendvps),
            (f::BLEND_VECTOR_64, Format::F64, Mnemonic::Vblendvpd),
            (f::BLEND_VECTOR_8, Format::F32, Mnemonic::Vpblendvb),
        ] {
            let v = Vector::new(form, format, Length::B32, [reg, second], Place::Reg(source))
                .immediate(mask << 4);
            let mut asm = Asm::new(BASE);
            asm.vector(v);
            let i = Decoder::with_ip(64, asm.code(), BASE, DecoderOptions::NONE).decode();
            assert_eq!(i.mnemonic(), name);
            let expected = [reg, second, source, mask].map(|n| Some(vector_name(n, Length::B32)));
            check_operands(&i, &expected, &i.to_string());
        }
        for (number, name) in [(2, Mnemonic::Vpsrld), (4, Mnemonic::Vpsrad), (6, Mnemonic::Vpslld)] {
            let to = second + 16;
            let v = Vector::new(f::SHIFT_32, Format::F32, Length::B32, [number, to], Place::Reg(source))
                .immediate(23);
            let (i, text) = decoded(v);
            assert_eq!(i.mnemonic(), name, "{text}");
            check_operands(&i, &[to, source].map(|n| Some(vector_name(n, Length::B32))), &text);
        }
        let v = Vector::new(f::MOVE_LOW, Format::F64, Length::Scalar, [reg, second], Place::Reg(source));
        let (i, text) = decoded(v);
        assert_eq!(i.mnemonic(), Mnemonic::Vmovsd, "{text}");
        check_operands(&i, &[reg, second, source].map(|n| Some(vector_name(n, Length::B16))), &text);
        let mem = memory(&mut random);
        let k = Some(Register::K0 + u32::from(reg & 7));
        let signs = Vector::unary(f::SIGNS_MASK_8, Format::F32, Length::B32, reg & 7, Place::Reg(source));
        let (i, text) = decoded(signs);
        assert_eq!(i.mnemonic(), Mnemonic::Vpmovb2m, "{text}");
        check_operands(&i, &[k, Some(vector_name(source, Length::B32))], &text);
        for (format, names) in [(Format::F32, [Mnemonic::Kmovw; 2]), (Format::F64, [Mnemonic::Kmovq; 2])] {
            let load = Vector::unary(f::MASK_LOAD, format, Length::B16, reg & 7, Place::Mem(mem));
            let (i, text) = decoded(load);
            assert_eq!(i.mnemonic(), names[0], "{text}");
            check_operands(&i, &[k, None], &text);
            let (i, text) =
                decoded(Vector::unary(f::MASK_STORE, format, Length::B16, reg & 7, Place::Mem(mem)));
            assert_eq!(i.mnemonic(), names[1], "{text}");
            check_operands(&i, &[None, k], &text);
        }
    }
}

#[test]
#[should_panic(expected = "quiet instructions take registers")]
fn quiet_memory_operands_do_not_exist() {
    let v = Vector::new(f::ADD, Format::F64, Length::B64, [0, 0], Place::Mem(Mem::rip(BASE)));
    Asm::new(BASE).vector(v.nearest());
}
