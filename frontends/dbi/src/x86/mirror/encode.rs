//! Instructions on general registers and memory that annotations use, none of which touches the flags unless it says so.

use crate::x86::asm::{Asm, Gpr, RCX};
use crate::x86::vector::{At, Mem, Place};

/// `opcode` with a register field and a memory operand; `bytes` is the operand's width.
fn memory(code: &mut Asm, opcode: &[u8], reg: u8, mem: Mem, bytes: usize, tail: u64) {
    code.segment(mem);
    if bytes == 2 {
        code.raw(&[0x66]);
    }
    let (x, b) = Place::Mem(mem).extension_bits();
    let rex = u8::from(bytes == 8) << 3 | (reg >> 3) << 2 | x << 1 | b;
    // A byte register beyond bl needs the prefix to be what it is.
    if rex != 0 || (bytes == 1 && reg >= 4) {
        code.raw(&[0x40 | rex]);
    }
    code.raw(opcode);
    code.operand(reg & 7, Place::Mem(mem), 1, tail);
}

/// `mov bytes ptr [mem], 0`, for 1, 2, 4 or 8 bytes.
pub(super) fn store_zero(code: &mut Asm, mem: Mem, bytes: usize) {
    let immediate = bytes.min(4);
    memory(code, &[if bytes == 1 { 0xc6 } else { 0xc7 }], 0, mem, bytes, immediate as u64);
    code.raw(&[0; 4][..immediate]);
}

/// `cmp bytes ptr [mem], 0`. Writes the flags.
pub(super) fn compare_zero(code: &mut Asm, mem: Mem, bytes: usize) {
    memory(code, &[if bytes == 1 { 0x80 } else { 0x83 }], 7, mem, bytes, 1);
    code.raw(&[0]);
}

/// `cmp word ptr [mem], value`. Writes the flags.
pub(super) fn compare_word(code: &mut Asm, mem: Mem, value: u16) {
    memory(code, &[0x81], 7, mem, 2, 2);
    code.raw(&value.to_le_bytes());
}

/// `lock xadd [mem], reg`, of 8 bytes. Writes the flags.
pub(super) fn exchange_add(code: &mut Asm, mem: Mem, reg: Gpr) {
    code.raw(&[0xf0]);
    memory(code, &[0x0f, 0xc1], reg, mem, 8, 0);
}

/// Loads 1, 2, 4 or 8 bytes into rcx, zero-extended.
pub(in crate::x86) fn load_rcx(code: &mut Asm, mem: Mem, bytes: usize) {
    load_part(code, RCX, mem, bytes);
}

/// Loads 1, 2, 4 or 8 bytes into `reg`, zero-extended.
pub(super) fn load_part(code: &mut Asm, reg: Gpr, mem: Mem, bytes: usize) {
    match bytes {
        1 => memory(code, &[0x0f, 0xb6], reg, mem, 4, 0),
        2 => memory(code, &[0x0f, 0xb7], reg, mem, 4, 0),
        _ => memory(code, &[0x8b], reg, mem, bytes, 0),
    }
}

/// `pext rcx, rcx, [mask]`: the bits of rcx that `mask` has, side by side.
pub(super) fn extract_rcx(code: &mut Asm, mask: Mem) {
    const VEX: [u8; 4] = [0xc4, 0xe2, 0xf2, 0xf5];
    code.raw(&VEX);
    code.operand(RCX, Place::Mem(mask), 1, 0);
}

/// Stores the low 1, 2, 4 or 8 bytes of `reg`.
pub(super) fn store(code: &mut Asm, mem: Mem, reg: Gpr, bytes: usize) {
    memory(code, &[if bytes == 1 { 0x88 } else { 0x89 }], reg, mem, bytes, 0);
}

/// Loads 4 or 8 bytes into `reg`, or, not the `first`, adds their bits to it. Writes the flags.
pub(super) fn gather(code: &mut Asm, reg: Gpr, mem: Mem, bytes: usize, first: bool) {
    memory(code, &[if first { 0x8b } else { 0x0b }], reg, mem, bytes, 0);
}

/// `cmp qword ptr [mem], value`. Writes the flags.
pub(super) fn compare_number(code: &mut Asm, mem: Mem, value: i32) {
    memory(code, &[0x81], 7, mem, 8, 4);
    code.raw(&value.to_le_bytes());
}

/// `test dword ptr [mem], bits`. Writes the flags.
pub(super) fn test_bits(code: &mut Asm, mem: Mem, bits: u32) {
    memory(code, &[0xf7], 0, mem, 4, 4);
    code.raw(&bits.to_le_bytes());
}

/// Makes rcx something other than 0 if MXCSR, which was stored to `mem`, says that results are not rounded to the nearest; perhaps as
/// well if it flushes small ones to zero. Keeps the flags.
pub(super) fn rounding_to_rcx(code: &mut Asm, mem: Mem) {
    load(code, RCX, mem, 4);
    // rorx ecx, ecx, 13; movzx ecx, cl
    code.raw(&[0xc4, 0xe3, 0x7b, 0xf0, 0xc9, 13, 0x0f, 0xb6, 0xc9]);
}

/// The bits of MXCSR that say how results are rounded: 0 for the nearest.
pub(super) const ROUNDING: u32 = 3 << 13;

/// `inc qword ptr [mem]`. Writes the flags.
pub(super) fn increment(code: &mut Asm, mem: Mem) {
    memory(code, &[0xff], 0, mem, 8, 0);
}

/// `test rax, rax`. Writes the flags.
pub(super) fn test_rax(code: &mut Asm) {
    code.raw(&[0x48, 0x85, 0xc0]);
}

/// Mask register that tests of lanes write.
pub(super) const MASK: u8 = 1;

/// `kmovb ecx, k1`, of [`MASK`].
pub(super) fn mask_to_rcx(code: &mut Asm) {
    lanes_to_rcx(code, MASK);
}

/// `kmovb ecx, mask`, of a mask register.
pub(super) fn lanes_to_rcx(code: &mut Asm, mask: u8) {
    code.raw(&[0xc5, 0xf9, 0x93, 0xc8 | mask]);
}

/// `kortestb k1, k1`, of [`MASK`]. Writes the flags.
pub(super) fn test_mask(code: &mut Asm) {
    code.raw(&[0xc5, 0xf9, 0x98, 0xc9]);
}

/// Compares 4 or 8 bytes of `reg` with memory. Writes the flags.
pub(super) fn compare(code: &mut Asm, reg: Gpr, mem: Mem, bytes: usize) {
    memory(code, &[0x3b], reg, mem, bytes, 0);
}

/// `test reg, reg`, of 4 or 8 bytes. Writes the flags.
pub(super) fn test(code: &mut Asm, reg: Gpr, bytes: usize) {
    let (high, low) = (reg >> 3, reg & 7);
    code.raw(&[0x40 | u8::from(bytes == 8) << 3 | high << 2 | high, 0x85, 0xc0 | low << 3 | low]);
}

/// `xor byte ptr [mem], 0x80`. Writes the flags.
pub(super) fn turn_sign(code: &mut Asm, mem: Mem) {
    memory(code, &[0x80], 6, mem, 1, 1);
    code.raw(&[0x80]);
}

/// Operation of two operands, by the number under which it has an immediate operand; its opcode with registers follows from that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Alu {
    Add = 0,
    Or = 1,
    AddCarry = 2,
    SubtractBorrow = 3,
    And = 4,
    Subtract = 5,
    Xor = 6,
    Compare = 7,
}

/// Shift or rotation, by its number among those of one opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shift {
    RotateLeft = 0,
    RotateRight = 1,
    Left = 4,
    Right = 5,
}

/// The byte before the opcode of an instruction on registers, of 4 or 8 bytes: `reg` is in the operand's middle field.
fn prefix(reg: Gpr, rm: Gpr, bytes: usize) -> u8 {
    0x40 | u8::from(bytes == 8) << 3 | (reg >> 3) << 2 | rm >> 3
}

fn registers(code: &mut Asm, opcode: u8, reg: u8, rm: Gpr, bytes: usize) {
    code.raw(&[prefix(reg, rm, bytes), opcode, 0xc0 | (reg & 7) << 3 | rm & 7]);
}

/// `mov to, from`, of 4 or 8 bytes.
pub(super) fn copy(code: &mut Asm, to: Gpr, from: Gpr, bytes: usize) {
    registers(code, 0x89, from, to, bytes);
}

/// `by to, from`, of 4 or 8 bytes. Writes the flags.
pub(super) fn alu(code: &mut Asm, by: Alu, to: Gpr, from: Gpr, bytes: usize) {
    registers(code, (by as u8) << 3 | 1, from, to, bytes);
}

/// `by to, value`, of 4 or 8 bytes. Writes the flags.
pub(super) fn alu_constant(code: &mut Asm, by: Alu, to: Gpr, value: i32, bytes: usize) {
    registers(code, 0x81, by as u8, to, bytes);
    code.imm32(value);
}

/// `by to, count`, of 4 or 8 bytes. Writes the flags.
pub(super) fn shift(code: &mut Asm, by: Shift, to: Gpr, count: u8, bytes: usize) {
    registers(code, 0xc1, by as u8, to, bytes);
    code.raw(&[count]);
}

/// `by [mem], count`, of 4 or 8 bytes. Writes the flags.
pub(super) fn shift_memory(code: &mut Asm, by: Shift, mem: Mem, count: u8, bytes: usize) {
    memory(code, &[0xc1], by as u8, mem, bytes, 1);
    code.raw(&[count]);
}

/// `imul to, from, value`, of 8 bytes. Writes the flags.
pub(super) fn multiply(code: &mut Asm, to: Gpr, from: Gpr, value: i32) {
    registers(code, 0x69, to, from, 8);
    code.imm32(value);
}

/// The condition "below", of numbers without a sign: there was a carry.
pub(super) const CARRY: u8 = 2;

/// The condition "above or equal", of numbers without a sign.
pub(super) const ABOVE_OR_EQUAL: u8 = 3;

/// The condition "sign": the result is negative.
pub(super) const SIGN: u8 = 8;

/// The condition "no sign": the result is not negative.
pub(super) const NO_SIGN: u8 = 9;

/// The condition "equal".
pub(super) const EQUAL: u8 = 4;

/// The condition "not equal".
pub(super) const NOT_EQUAL: u8 = 5;

/// Loads 4 or 8 bytes into `reg`, zero-extended.
pub(super) fn load(code: &mut Asm, reg: Gpr, mem: Mem, bytes: usize) {
    memory(code, &[0x8b], reg, mem, bytes, 0);
}

/// Loads 4 or 8 bytes into `reg` if the flags are so, by the processor's number for the `condition`; otherwise it stays, but for what
/// is above 4 bytes.
pub(super) fn load_if(code: &mut Asm, condition: u8, reg: Gpr, mem: Mem, bytes: usize) {
    memory(code, &[0x0f, 0x40 | condition], reg, mem, bytes, 0);
}

/// The address of `mem` in rcx.
pub(super) fn address_to_rcx(code: &mut Asm, mem: Mem) {
    memory(code, &[0x8d], RCX, Mem { gs: false, fs: false, ..mem }, 8, 0);
}

/// Makes rcx 0 if the address of `mem`, of 59 bits, is four more than a multiple of eight, and something else otherwise.
pub(super) fn upper_half_to_rcx(code: &mut Asm, mem: Mem) {
    const ROTATE_RIGHT_BY_3: [u8; 6] = [0xc4, 0xe3, 0xfb, 0xf0, RCX << 3 | 0xc1, 3];
    const ZERO_EXTEND_BYTE: [u8; 3] = [0x0f, 0xb6, 0xc9];
    address_to_rcx(code, mem);
    code.raw(&ROTATE_RIGHT_BY_3);
    reverse(code, RCX, 8);
    code.raw(&ZERO_EXTEND_BYTE);
    code.add_rcx(-0x80);
}

/// `bswap reg`, of 4 or 8 bytes.
pub(super) fn reverse(code: &mut Asm, reg: Gpr, bytes: usize) {
    code.raw(&[prefix(0, reg, bytes), 0x0f, 0xc8 | reg & 7]);
}

/// An instruction of x87 on memory; `digit` is where others name a register.
pub(super) fn x87(code: &mut Asm, opcode: u8, digit: u8, mem: Mem) {
    memory(code, &[opcode], digit, mem, 4, 0);
}

/// `mov dword ptr [mem], value`.
pub(super) fn store_imm32(code: &mut Asm, mem: Mem, value: u32) {
    memory(code, &[0xc7], 0, mem, 4, 4);
    code.raw(&value.to_le_bytes());
}

/// `lea reg, [reg + value]`: an addition that keeps the flags.
pub(super) fn add(code: &mut Asm, reg: Gpr, value: i32) {
    let at = At::Base { base: Some(reg), index: None, displacement: value };
    memory(code, &[0x8d], reg, Mem { gs: false, fs: false, address32: false, at }, 8, 0);
}

/// Zero-extends the low 16 bits of `reg` into rcx.
pub(super) fn low_bits_to_rcx(code: &mut Asm, reg: Gpr) {
    code.raw(&[0x0f, 0xb7, 0xc8 | reg]);
}
