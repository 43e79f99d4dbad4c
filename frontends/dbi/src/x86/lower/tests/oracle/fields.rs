//! Floats taken apart in general registers, on floats, masks and exponents of all kinds: the code that follows them, and replay.

use super::{Binding, Density, Oracle, START, encoded, in_place};
use crate::runtime::{has_upper_registers, turned_doubles};
use crate::shadows::ShadowKind;
use crate::x86::discover::discovered;
use crate::x86::lower::tests::check::Checker;
use crate::x86::lower::tests::rng::Rng;
use crate::x86::rows;
use crate::x86::state;
use crate::x86::wholes::Whole;
use iced_x86::{Code, Instruction, MemoryOperand, Mnemonic, OpKind, Register};
use shadowgrind_core::format::Format;
use shadowgrind_core::shadow::{Derivatives, Settings};
use shadowgrind_core::turned::{TURN, turns};
use shadowgrind_core::words::{InPlace, Words};

/// Registers of the two operands, and another.
const FIRST: usize = 8;
const SECOND: usize = 2;
const THIRD: usize = 1;
/// Place in the window of an operand in memory, to whose start a register points.
const IN_MEMORY: usize = 40;
const WINDOW_START: Register = Register::RBX;

/// Floats of eight bytes, or of four.
fn float(rng: &mut Rng, is_double: bool) -> u64 {
    let special = [0.0, 1.0, -2.0, 1.5, 0.3, f64::INFINITY, f64::NAN, 5e-324, f64::MAX];
    let value = match rng.below(4) {
        0 => special[rng.below(9) as usize],
        1 => f64::from(rng.next() as i32),
        _ => f64::from_bits(rng.next() & !(0x7ff << 52) | (1000 + rng.below(50)) << 52),
    };
    let bits = if is_double { value.to_bits() } else { (value as f32).to_bits().into() };
    // Some that have been taken apart.
    let digits = if is_double { 52 } else { 23 };
    match rng.below(6) {
        0 => bits & ((1 << digits) - 1),
        1 => bits >> digits << digits,
        _ => bits,
    }
}

/// Operand to be combined with a float: exponents, signs, masks, small numbers, anything.
fn other(rng: &mut Rng, is_double: bool) -> u64 {
    let (digits, width) = if is_double { (52_u64, 64_u64) } else { (23, 32) };
    let all = u64::MAX >> (64 - width);
    let exponent = (rng.below(40) << digits) & all;
    let bits = match rng.below(12) {
        0 | 1 => exponent,
        2 => exponent.wrapping_neg(),
        3 => 1 << (width - 1),
        4 => all >> 1,
        5 => (1 << digits) - 1,
        6 => (1 << (width - 1)) | ((1 << digits) - 1),
        7 => (all >> digits) << digits,
        8 => all << rng.below(digits),
        9 => rng.below(1 << 10) << (digits - 2),
        10 => [0, 1, 0xffff_ffff, 0xff00_ff00_ff00_ff00, 0x8000_0000, 0x8000_0000_8000_0000]
            [rng.below(6) as usize],
        _ => rng.next(),
    };
    bits & all
}

/// An instruction on the registers, or one of them and memory, of eight bytes or four.
fn any_instruction(rng: &mut Rng, is_double: bool, constant_of: impl Fn(&mut Rng) -> u64) -> Instruction {
    match rng.below(4) {
        0 => instruction(rng, is_double, constant_of),
        1 => with_source(rng, is_double),
        2 => mixed(rng, is_double, constant_of),
        _ => {
            let made = instruction(rng, is_double, constant_of);
            in_memory(rng, made)
        }
    }
}

/// The operand in memory.
fn memory() -> MemoryOperand {
    MemoryOperand::with_base_displ(WINDOW_START, IN_MEMORY as i64)
}

/// The instruction with its first operand in memory, or its second if that is not a constant.
fn in_memory(rng: &mut Rng, insn: Instruction) -> Instruction {
    let loads = match insn.code() {
        Code::And_rm64_r64 => Code::And_r64_rm64,
        Code::And_rm32_r32 => Code::And_r32_rm32,
        Code::Or_rm64_r64 => Code::Or_r64_rm64,
        Code::Or_rm32_r32 => Code::Or_r32_rm32,
        Code::Xor_rm64_r64 => Code::Xor_r64_rm64,
        Code::Xor_rm32_r32 => Code::Xor_r32_rm32,
        Code::Add_rm64_r64 => Code::Add_r64_rm64,
        Code::Add_rm32_r32 => Code::Add_r32_rm32,
        Code::Sub_rm64_r64 => Code::Sub_r64_rm64,
        Code::Sub_rm32_r32 => Code::Sub_r32_rm32,
        _ => insn.code(),
    };
    let mut made = insn;
    if rows::computes_address(&insn) {
        return insn;
    }
    let n = u32::from(loads != insn.code() && rng.below(2) == 0);
    if n == 1 {
        made.set_code(loads);
    }
    to_memory(&mut made, n);
    made
}

/// Tells whether an operand is in memory.
fn is_in_memory(insn: &Instruction) -> bool {
    !rows::computes_address(insn) && insn.op_kinds().any(|kind| kind == OpKind::Memory)
}

/// Makes operand `n` that in memory.
fn to_memory(insn: &mut Instruction, n: u32) {
    insn.set_op_kind(n, OpKind::Memory);
    insn.set_memory_base(memory().base);
    insn.set_memory_displacement64(memory().displacement as u64);
    insn.set_memory_displ_size(1);
}

/// Registers of eight bytes, or of four: of the two operands, and another.
fn registers(is_double: bool) -> [Register; 3] {
    match is_double {
        true => [Register::R8, Register::RDX, Register::RCX],
        false => [Register::R8D, Register::EDX, Register::ECX],
    }
}

/// An instruction that leaves its source alone, or one of a single bit, or a shift by cl.
fn with_source(rng: &mut Rng, is_double: bool) -> Instruction {
    let [first, second, third] = registers(is_double);
    let code = |wide, narrow| if is_double { wide } else { narrow };
    let by_register = [
        code(Code::VEX_Shlx_r64_rm64_r64, Code::VEX_Shlx_r32_rm32_r32),
        code(Code::VEX_Shrx_r64_rm64_r64, Code::VEX_Shrx_r32_rm32_r32),
        code(Code::VEX_Sarx_r64_rm64_r64, Code::VEX_Sarx_r32_rm32_r32),
        code(Code::VEX_Bzhi_r64_rm64_r64, Code::VEX_Bzhi_r32_rm32_r32),
        code(Code::VEX_Bextr_r64_rm64_r64, Code::VEX_Bextr_r32_rm32_r32),
    ];
    let by_cl = [
        code(Code::Shl_rm64_CL, Code::Shl_rm32_CL),
        code(Code::Shr_rm64_CL, Code::Shr_rm32_CL),
        code(Code::Sar_rm64_CL, Code::Sar_rm32_CL),
    ];
    let one_bit = [
        code(Code::Btc_rm64_imm8, Code::Btc_rm32_imm8),
        code(Code::Bts_rm64_imm8, Code::Bts_rm32_imm8),
        code(Code::Btr_rm64_imm8, Code::Btr_rm32_imm8),
    ];
    let n = rng.below(5) as usize;
    let (made, at) = match rng.below(5) {
        0 => {
            let andn = code(Code::VEX_Andn_r64_r64_rm64, Code::VEX_Andn_r32_r32_rm32);
            (Instruction::with3(andn, third, second, first), 2)
        }
        1 => (Instruction::with3(by_register[n], third, first, second), 1),
        2 => (Instruction::with2(by_cl[n % 3], first, Register::CL), 0),
        3 => {
            let bit = if is_double { 50 + rng.below(14) } else { 21 + rng.below(11) };
            (Instruction::with2(one_bit[n % 3], first, bit as u32), 0)
        }
        _ => {
            let rorx = code(Code::VEX_Rorx_r64_rm64_imm8, Code::VEX_Rorx_r32_rm32_imm8);
            (Instruction::with3(rorx, third, first, 8 * rng.below(8) as u32), 1)
        }
    };
    let mut made = made.expect("an instruction");
    if rng.below(3) == 0 {
        to_memory(&mut made, at);
    }
    made
}

/// An instruction after which digits are mostly elsewhere, or one that adds the carry flag.
fn mixed(rng: &mut Rng, is_double: bool, constant_of: impl Fn(&mut Rng) -> u64) -> Instruction {
    let [first, second, third] = registers(is_double);
    let code = |wide, narrow| if is_double { wide } else { narrow };
    let two = [
        code(Code::Adc_rm64_r64, Code::Adc_rm32_r32),
        code(Code::Sbb_rm64_r64, Code::Sbb_rm32_r32),
        code(Code::Imul_r64_rm64, Code::Imul_r32_rm32),
    ];
    let constant = [
        code(Code::Adc_rm64_imm8, Code::Adc_rm32_imm8),
        code(Code::Sbb_rm64_imm8, Code::Sbb_rm32_imm8),
        code(Code::Add_rm64_imm8, Code::Add_rm32_imm8),
        code(Code::Sub_rm64_imm8, Code::Sub_rm32_imm8),
    ];
    let by_one = [code(Code::Inc_rm64, Code::Inc_rm32), code(Code::Dec_rm64, Code::Dec_rm32)];
    let gathers = [
        code(Code::VEX_Pext_r64_r64_rm64, Code::VEX_Pext_r32_r32_rm32),
        code(Code::VEX_Pdep_r64_r64_rm64, Code::VEX_Pdep_r32_r32_rm32),
    ];
    let funnels = [
        code(Code::Shld_rm64_r64_imm8, Code::Shld_rm32_r32_imm8),
        code(Code::Shrd_rm64_r64_imm8, Code::Shrd_rm32_r32_imm8),
    ];
    let by_cl = [code(Code::Rol_rm64_CL, Code::Rol_rm32_CL), code(Code::Ror_rm64_CL, Code::Ror_rm32_CL)];
    let funnels_by_cl = [
        code(Code::Shld_rm64_r64_CL, Code::Shld_rm32_r32_CL),
        code(Code::Shrd_rm64_r64_CL, Code::Shrd_rm32_r32_CL),
    ];
    let digits = [
        code(Code::Mul_rm64, Code::Mul_rm32),
        code(Code::VEX_Blsr_r64_rm64, Code::VEX_Blsr_r32_rm32),
        code(Code::Rcl_rm64_1, Code::Rcl_rm32_1),
        code(Code::Crc32_r64_rm64, Code::Crc32_r32_rm32),
    ];
    let n = rng.below(4) as usize;
    let small = [1, -1, 0, 2, 127][rng.below(5) as usize];
    let made = match rng.below(11) {
        9 if n == 0 => Instruction::with1(digits[n], first),
        9 if n == 2 => Instruction::with2(digits[n], first, 1),
        9 => Instruction::with2(digits[n], second, first),
        10 if n < 2 => {
            let both = [Code::Add_rm64_r64, Code::Add_rm32_r32][usize::from(!is_double)];
            Instruction::with2(both, first, first)
        }
        10 => {
            let double = MemoryOperand::with_base_index(first, first);
            let product = MemoryOperand::new(Register::None, first, 4, 0, 0, false, Register::None);
            let lea = code(Code::Lea_r64_m, Code::Lea_r32_m);
            Instruction::with2(lea, third, if n == 2 { double } else { product })
        }
        0 | 1 => Instruction::with2(two[n % 3], first, second),
        2 => Instruction::with2(constant[n], first, small),
        3 => Instruction::with1(by_one[n % 2], first),
        4 => Instruction::with3(gathers[n % 2], third, first, second),
        5 => Instruction::with3(funnels[n % 2], first, second, rng.below(64) as u32),
        6 => Instruction::with3(funnels_by_cl[n % 2], first, second, Register::CL),
        7 => Instruction::with2(by_cl[n % 2], first, Register::CL),
        _ => {
            let imul = code(Code::Imul_r64_rm64_imm32, Code::Imul_r32_rm32_imm32);
            Instruction::with3(imul, third, first, constant_of(rng) as i32)
        }
    };
    let mut made = made.expect("an instruction");
    if rng.below(4) == 0 {
        let at = match made.mnemonic() {
            Mnemonic::Imul | Mnemonic::Crc32 | Mnemonic::Blsr => 1,
            // Both operands are the same, or none is a float.
            Mnemonic::Lea | Mnemonic::Add
                if made.op_count() == 2 && made.op1_kind() != OpKind::Immediate8 =>
            {
                return made;
            }
            Mnemonic::Pext | Mnemonic::Pdep => 2,
            _ => 0,
        };
        to_memory(&mut made, at);
    }
    made
}

/// Number of bits.
fn places(rng: &mut Rng) -> u64 {
    let special = [0, 20, 23, 31, 52, 63, 64];
    if rng.below(2) == 0 { special[rng.below(7) as usize] } else { rng.below(70) }
}

/// Number of bits, or where they start and how many they are.
fn count_for(rng: &mut Rng, insn: &Instruction, other: u64) -> u64 {
    use iced_x86::Mnemonic::{Bextr, Bzhi, Sarx, Shlx, Shrx};
    match insn.mnemonic() {
        Bzhi | Sarx | Shlx | Shrx => places(rng),
        Bextr => places(rng) | [11, 52, 64, rng.below(70)][rng.below(4) as usize] << 8,
        _ => other,
    }
}

/// An instruction on the registers, of eight bytes or four.
fn instruction(rng: &mut Rng, is_double: bool, constant_of: impl Fn(&mut Rng) -> u64) -> Instruction {
    let [first, second, third] = registers(is_double);
    let code = |wide, narrow| if is_double { wide } else { narrow };
    let two = [
        code(Code::And_rm64_r64, Code::And_rm32_r32),
        code(Code::Or_rm64_r64, Code::Or_rm32_r32),
        code(Code::Xor_rm64_r64, Code::Xor_rm32_r32),
        code(Code::Add_rm64_r64, Code::Add_rm32_r32),
        code(Code::Sub_rm64_r64, Code::Sub_rm32_r32),
    ];
    let constant = [
        code(Code::And_rm64_imm32, Code::And_rm32_imm32),
        code(Code::Or_rm64_imm32, Code::Or_rm32_imm32),
        code(Code::Xor_rm64_imm32, Code::Xor_rm32_imm32),
        code(Code::Add_rm64_imm32, Code::Add_rm32_imm32),
        code(Code::Sub_rm64_imm32, Code::Sub_rm32_imm32),
    ];
    let shifts = [
        code(Code::Shl_rm64_imm8, Code::Shl_rm32_imm8),
        code(Code::Shr_rm64_imm8, Code::Shr_rm32_imm8),
        code(Code::Sar_rm64_imm8, Code::Sar_rm32_imm8),
        code(Code::Rol_rm64_imm8, Code::Rol_rm32_imm8),
        code(Code::Ror_rm64_imm8, Code::Ror_rm32_imm8),
    ];
    let n = rng.below(5) as usize;
    let immediate = constant_of(rng) as i32;
    let made = match rng.below(9) {
        0..=3 => Instruction::with2(two[n], first, second),
        4 => Instruction::with2(constant[n], first, immediate),
        5 | 6 => Instruction::with2(shifts[n], first, rng.below(64) as u32),
        7 if n < 2 => Instruction::with1(code(Code::Inc_rm64, Code::Inc_rm32), first),
        7 => {
            let sum = MemoryOperand::with_base_displ(first, i64::from(immediate));
            Instruction::with2(code(Code::Lea_r64_m, Code::Lea_r32_m), third, sum)
        }
        _ => {
            let sum = MemoryOperand::with_base_index(first, second);
            Instruction::with2(code(Code::Lea_r64_m, Code::Lea_r32_m), third, sum)
        }
    };
    made.expect("an instruction")
}

/// Operand to be combined with a turned double: a tag, a mask of one, or anything.
fn tag(rng: &mut Rng) -> u64 {
    if rng.below(4) == 0 { other(rng, true) } else { rng.below(16).wrapping_sub(8) }
}

/// A double, in one case of three, or the word that it is turned to, with a tag as Ruby's code has it; and what is kept beside it.
fn turned(rng: &mut Rng, shadow: u64) -> (u64, u64) {
    let double = float(rng, true);
    let word = double.rotate_left(TURN);
    let cell = || {
        turned_doubles().expect("room for the table").insert(InPlace::TURNED.expect("a mark"), double, shadow)
    };
    match rng.below(6) {
        0 | 1 => (double, shadow),
        _ if !turns(double, word) => (double, shadow),
        2 => (word, cell()),
        3 => (word & !3, cell()),
        4 => (word & !3 | 2, cell()),
        _ => (word ^ rng.below(8), cell()),
    }
}

/// A rotation as Ruby has it.
fn rotation(rng: &mut Rng) -> Instruction {
    let code = if rng.below(2) == 0 { Code::Rol_rm64_imm8 } else { Code::Ror_rm64_imm8 };
    Instruction::with2(code, Register::R8, TURN).expect("a rotation")
}

impl Oracle {
    /// Problems with an instruction on a double that is turned, or may be.
    fn check_turned(&mut self) -> Option<String> {
        let rng = self.checker.rng();
        let is_wide = rng.below(4) > 0;
        let made = if rng.below(3) == 0 { rotation(rng) } else { instruction(rng, is_wide, tag) };
        let shadow = u64::from_le_bytes(in_place(true, [rng.next(), rng.next()]));
        let (value, cell) = turned(rng, shadow);
        let other = tag(rng);
        let is_turned = InPlace::TURNED.is_some_and(|tag| tag.is_in(cell));
        let (value, cell) = match (is_wide, is_turned) {
            (true, _) => (value, cell),
            (false, true) => (value & !0 >> 32, cell & !0 >> 32),
            (false, false) => (float(rng, false), (cell & !0 >> 33) | 1 << 30),
        };
        self.check_cell(&made, [value, other], [cell.max(1), 0], is_wide)
    }

    /// Problems with an instruction on chosen operands, one of which is a float with a shadow, or both.
    fn check_fields(&mut self) -> Option<String> {
        let rng = self.checker.rng();
        let is_double = rng.below(3) > 0;
        let constant = |rng: &mut Rng| {
            let is_double = rng.0.is_multiple_of(2);
            other(rng, is_double)
        };
        let made = any_instruction(rng, is_double, constant);
        let (values, kept) = ([float(rng, is_double), other(rng, is_double)], [rng.next(), rng.next()]);
        // A few shadows as they hardly ever are: small, large, or with bytes of zeros.
        let cell = match rng.below(14) {
            12 | 13 => {
                let bits = rng.next() & 0xff_ffff;
                1 + (bits >> (8 * rng.below(3)))
            }
            0 => (5 + rng.below(3)) << 52,
            1 => rng.below(1 << 62) & 0x7fff_0000_0000_0001,
            2 => f64::to_bits([1.0, f64::NAN, f64::INFINITY, 1e308][rng.below(4) as usize]),
            n => u64::from_le_bytes(in_place(is_double || n == 3, kept)),
        };
        // Four bytes of memory are read without what is above.
        let is_odd = !is_in_memory(&made) && rng.below(16) == 0;
        let cell = if is_double || is_odd { cell } else { u64::from(cell as u32) };
        // Without any shadow nothing is replayed.
        let cell = if cell == 0 { 1 } else { cell };
        self.check_cell(&made, values, [cell, 0], is_double)
    }

    /// Problems with a word that is put together from bytes of two with shadows, or from bits.
    fn check_joined(&mut self) -> Option<String> {
        let rng = self.checker.rng();
        let is_double = rng.below(2) == 0;
        let [first, second, third] = registers(is_double);
        let code = |wide, narrow| if is_double { wide } else { narrow };
        let made = match rng.below(4) {
            0 => Instruction::with2(code(Code::Add_rm64_r64, Code::Add_rm32_r32), first, second),
            1 => {
                let sum = MemoryOperand::with_base_index(first, second);
                Instruction::with2(code(Code::Lea_r64_m, Code::Lea_r32_m), third, sum)
            }
            _ => Instruction::with2(code(Code::Or_rm64_r64, Code::Or_rm32_r32), first, second),
        };
        let some_bytes = |rng: &mut Rng| {
            let bits = rng.next();
            (0..8).filter(|n| bits >> n & 1 == 1).fold(0, |mask, n| mask | 0xff_u64 << (8 * n))
        };
        let all = if is_double { u64::MAX } else { u32::MAX.into() };
        let (mut mask, zeros) = (some_bytes(rng), some_bytes(rng) | some_bytes(rng));
        let [a, b] = [0, 1].map(|_| [float(rng, is_double), rng.next()][rng.below(2) as usize] & all);
        let cells = [0, 1].map(|_| u64::from_le_bytes(in_place(is_double, [rng.next(), rng.next()])) & all);
        let cells = [cells[0] & mask & zeros, cells[1] & !mask];
        if rng.below(4) == 0 {
            mask ^= 0xff << (8 * rng.below(8)) | 1 << rng.below(64);
        }
        if cells.contains(&0) {
            return None;
        }
        self.check_cell(&made.expect("an instruction"), [a & mask, b & !mask], cells, is_double)
    }

    /// Problems with an instruction on two operands, the first of which has this cell beside it, and the other that or, if it is 0,
    /// perhaps one.
    fn check_cell(
        &mut self,
        made: &Instruction,
        values: [u64; 2],
        [cell, second_cell]: [u64; 2],
        is_double: bool,
    ) -> Option<String> {
        let bytes = encoded(made)?;
        let mut block = discovered(START, &bytes, 0);
        let insn = block.insns.first()?.decoded;
        let rng = self.checker.rng();
        let kept = [rng.next(), rng.next()];
        let has_memory = is_in_memory(&insn);
        let named = |n: usize| {
            let is_named = |register: Register| register.is_gpr() && register.full_register().number() == n;
            (0..insn.op_count()).any(|i| is_named(insn.op_register(i))) || is_named(insn.memory_index())
        };
        // What is in memory takes the place of either.
        let first = (!has_memory || named(FIRST)).then_some(FIRST);
        let second = (!has_memory || named(SECOND) || first.is_none()).then_some(SECOND);
        let has_second = second.is_none() || named(SECOND);
        let (swapped, both, is_whole) =
            (has_second && rng.below(4) == 0, rng.below(8) == 0, rng.below(3) == 0);
        let (other, cl) = (count_for(rng, &insn, values[1]), places(rng));
        if is_whole && block.whole(START).is_none() && is_join(&insn) {
            let facts = block.facts.get_or_insert_default();
            facts.wholes.push((START, Whole::Result(if is_double { Format::F64 } else { Format::F32 })));
        }
        let mut before = self.checker.machine(&insn, rows::row(&insn));
        let [one, two] = if swapped { [second, first] } else { [first, second] };
        before.general[THIRD] = cl;
        for (place, value) in [(two, other), (one, values[0])] {
            match place {
                Some(n) => before.general[n] = value,
                None => before.memory[IN_MEMORY..][..8].copy_from_slice(&value.to_le_bytes()),
            }
        }
        let mut shadows = self.shadows(Density::None, &before, Checker::format_of(&insn, rows::row(&insn)));
        let mut put = |n: Option<usize>, cell: u64| {
            let in_memory = usize::from(state::BYTES) + IN_MEMORY;
            let at = n.map_or(in_memory, |n| usize::from(state::general(n)));
            shadows[at..at + 8].copy_from_slice(&cell.to_le_bytes());
        };
        put(one, cell);
        put(Some(THIRD), u64::from_le_bytes(in_place(true, kept)));
        if second_cell != 0 {
            put(two, second_cell);
        } else if both {
            put(two, u64::from_le_bytes(in_place(is_double, kept)));
        }
        let (counted, beside) = (self.stage.counted(), self.tally.beside);
        self.lost = false;
        let found = self.compare(&block, &before, &shadows, Density::Some)?;
        let counts = self.stage.counted() - counted;
        let is_counted = self.tally.beside == beside || counts == u64::from(self.lost);
        if found.is_empty() && !is_counted {
            return Some(format!("{insn:?}: counted {counts} times, lost: {}", self.lost));
        }
        if found.is_empty() { None } else { Some(format!("{found}\n    {values:#x?} beside {cell:#x}")) }
    }
}

fn is_join(insn: &Instruction) -> bool {
    use iced_x86::Mnemonic::{And, Andn, Or};
    matches!(insn.mnemonic(), And | Andn | Or)
}

/// Compares what is emitted with replay, `check` by `check`, under all bindings. One of so many as are left to the engine, at least,
/// is seen to beside the instruction (`share`).
fn compare(share: u64, check: fn(&mut Oracle) -> Option<String>) {
    let mut bindings = vec![Binding::Memory];
    if has_upper_registers() {
        bindings.push(Binding::Upper);
    } else {
        println!("SKIPPED: floats taken apart beside upper registers: no AVX-512");
    }
    for binding in bindings {
        let kinds = ShadowKind::ALL.iter().copied();
        let has_them = |kind: &ShadowKind| kind.policy().derivatives == Some(Derivatives::InPlace);
        let kind = kinds.into_iter().find(has_them).expect("a shadow of derivatives in place");
        let mut oracle = Oracle::new(kind, binding, &Settings::default());
        oracle.stage.meets_often();
        let problems: Vec<String> = (0..20_000).filter_map(|_| check(&mut oracle)).take(5).collect();
        println!("{binding:?}: {:?}", oracle.tally);
        assert!(problems.is_empty(), "{}", problems.join("\n"));
        assert!(oracle.tally.changed > oracle.tally.left / share);
    }
}

#[test]
fn floats_taken_apart_are_what_replay_makes() {
    compare(2, Oracle::check_fields);
}

#[test]
fn words_put_together_from_bytes_are_what_replay_makes() {
    compare(2, Oracle::check_joined);
}

#[test]
fn doubles_that_are_turned_are_what_replay_makes() {
    compare(8, Oracle::check_turned);
}
