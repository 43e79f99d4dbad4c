//! Classic BPF as seccomp(2) has it: programs over `struct seccomp_data`
//! (Documentation/userspace-api/seccomp_filter.rst), read from guest memory, checked, and run.
//!
//! Knows nothing of what a verdict leads to.

use crate::engine::guest;

/// One instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Instruction {
    code: u16,
    if_true: u8,
    if_false: u8,
    k: u32,
}

/// A program.
pub(super) type Filter = Vec<Instruction>;

/// Bytes of `struct seccomp_data`.
const DATA_BYTES: u32 = 64;

/// `ret k`, `ld [k]` and `jeq k`.
const RETURN: u16 = 0x06;
const LOAD: u16 = 0x20;
const JUMP_EQUAL: u16 = 0x15;

/// The program of the `struct sock_fprog` at `at`, for a thread that is `allowed` to have one; an errno if the kernel would not
/// take it.
pub(super) fn read(at: u64, allowed: bool) -> Result<Filter, i32> {
    const LONGEST: u64 = 4096;
    let [len, instructions] = guest::read::<[u64; 2]>(at).map_err(|_| libc::EFAULT)?;
    let len = len & 0xffff;
    if len == 0 || len > LONGEST {
        return Err(libc::EINVAL);
    }
    if !allowed {
        return Err(libc::EACCES);
    }
    let bytes = guest::read_bytes(instructions, 8 * len as usize).map_err(|_| libc::EFAULT)?;
    let decode = |b: &[u8]| Instruction {
        code: u16::from_le_bytes([b[0], b[1]]),
        if_true: b[2],
        if_false: b[3],
        k: u32::from_le_bytes([b[4], b[5], b[6], b[7]]),
    };
    let filter: Filter = bytes.chunks_exact(8).map(decode).collect();
    if is_valid(&filter) { Ok(filter) } else { Err(libc::EINVAL) }
}

/// Tells whether the program uses what seccomp allows only, stays within itself and ends by returning.
fn is_valid(filter: &Filter) -> bool {
    let within = |at: usize, by: u32| at + 1 + (by as usize) < filter.len();
    let valid = |(at, i): (usize, &Instruction)| match i.code {
        LOAD => i.k < DATA_BYTES && i.k.is_multiple_of(4),
        // ld #len, ldx #len, ld #k, ldx #k, tax, txa, ret k, ret a
        0x80 | 0x81 | 0x00 | 0x01 | 0x07 | 0x87 | RETURN | 0x16 => true,
        // ld M[k], ldx M[k], st, stx
        0x60 | 0x61 | 0x02 | 0x03 => i.k < 16,
        // div by a constant, and shifts by one
        0x34 => i.k != 0,
        0x64 | 0x74 => i.k < 32,
        // add, sub, mul, div, and, or, xor, shifts, neg
        0x04 | 0x0c | 0x14 | 0x1c | 0x24 | 0x2c | 0x3c | 0x54 | 0x5c | 0x44 | 0x4c | 0xa4 | 0xac | 0x6c
        | 0x7c | 0x84 => true,
        // ja
        0x05 => within(at, i.k),
        // jeq, jgt, jge, jset, with a constant or x
        JUMP_EQUAL | 0x1d | 0x25 | 0x2d | 0x35 | 0x3d | 0x45 | 0x4d => {
            within(at, i.if_true.into()) && within(at, i.if_false.into())
        }
        _ => false,
    };
    let returns = filter.last().is_some_and(|last| matches!(last.code, RETURN | 0x16));
    returns && filter.iter().enumerate().all(valid)
}

/// The verdict of a program that divides by zero.
const KILL: u32 = 0x8000_0000;

/// Result of a valid program; a division by zero kills.
pub(super) fn run(filter: &Filter, data: &[u32; 16]) -> u32 {
    let (mut a, mut x, mut memory) = (0_u32, 0_u32, [0_u32; 16]);
    let mut at = 0_usize;
    while let Some(&Instruction { code, if_true, if_false, k }) = filter.get(at) {
        at += 1;
        let slot = k as usize & 15;
        let operand = if code & 0x08 != 0 { x } else { k };
        match code & 0x07 {
            // ld: word of the data, immediate, scratch memory, or the data's length
            0x00 => a = load(code, k, data, &memory),
            0x01 => x = load(code, k, data, &memory),
            0x02 => memory[slot] = a,
            0x03 => memory[slot] = x,
            0x04 => match alu(code & 0xf0, a, operand) {
                Some(value) => a = value,
                None => return KILL,
            },
            0x05 => {
                let taken = match code & 0xf0 {
                    0x00 => {
                        at += k as usize;
                        continue;
                    }
                    0x10 => a == operand,
                    0x20 => a > operand,
                    0x30 => a >= operand,
                    _ => a & operand != 0,
                };
                at += usize::from(if taken { if_true } else { if_false });
            }
            0x06 => return if code & 0x18 == 0x10 { a } else { k },
            _ if code & 0xf8 == 0 => x = a,
            _ => a = x,
        }
    }
    KILL
}

fn load(code: u16, k: u32, data: &[u32; 16], memory: &[u32; 16]) -> u32 {
    match code & 0xe0 {
        0x00 => k,
        0x20 => data.get(k as usize / 4).copied().unwrap_or(0),
        0x60 => memory[k as usize & 15],
        _ => DATA_BYTES,
    }
}

fn alu(operation: u16, a: u32, b: u32) -> Option<u32> {
    Some(match operation {
        0x00 => a.wrapping_add(b),
        0x10 => a.wrapping_sub(b),
        0x20 => a.wrapping_mul(b),
        0x30 => a.checked_div(b)?,
        0x40 => a | b,
        0x50 => a & b,
        0x60 => a.checked_shl(b).unwrap_or(0),
        0x70 => a.checked_shr(b).unwrap_or(0),
        0x80 => a.wrapping_neg(),
        0xa0 => a ^ b,
        _ => return None,
    })
}

/// The program as the kernel reads it: a word for each instruction.
pub(super) fn encode(filter: &Filter) -> Vec<u64> {
    let word = |i: &Instruction| {
        u64::from(i.code) | u64::from(i.if_true) << 16 | u64::from(i.if_false) << 24 | u64::from(i.k) << 32
    };
    filter.iter().map(word).collect()
}
