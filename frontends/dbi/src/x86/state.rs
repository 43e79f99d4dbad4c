//! The state: a thread's registers laid out in bytes, so that steps can name a part of one by its offset.
//!
//! The same offsets are used for values (a captured register) and for their shadows. Knows the layout, not where
//! values or shadows are kept.

use iced_x86::Register;

/// General registers by hardware number, eight bytes each.
pub(crate) const GENERAL: u16 = 0;
/// Vector registers 0 … 31, 64 bytes each.
pub(crate) const VECTOR: u16 = 128;
/// Bytes kept for a vector register.
pub(crate) const VECTOR_BYTES: u16 = 64;
/// *Physical* x87 registers 0 … 7, 16 bytes each, of which a float has ten. MMX register n is the low eight bytes of
/// physical register n.
pub(crate) const X87: u16 = VECTOR + 32 * VECTOR_BYTES;
/// Bytes kept for an x87 register.
pub(crate) const X87_BYTES: u16 = 16;
/// Room for what an instruction needs between its steps; holds nothing from one instruction to the next.
pub(crate) const SCRATCH: u16 = X87 + 8 * X87_BYTES;
/// Bytes of that room.
pub(crate) const SCRATCH_BYTES: u16 = 128;
/// Mask registers 0 … 7, eight bytes each: values, which never have a shadow.
pub(crate) const MASKS: u16 = SCRATCH + SCRATCH_BYTES;
/// Bytes of the whole state.
pub(crate) const BYTES: u16 = MASKS + 8 * 8;

/// Offset of general register `number`.
pub(crate) const fn general(number: usize) -> u16 {
    GENERAL + 8 * number as u16
}

/// Offset of vector register `number`.
pub(crate) const fn vector(number: usize) -> u16 {
    VECTOR + VECTOR_BYTES * number as u16
}

/// Offset of mask register `number`.
pub(crate) const fn mask(number: usize) -> u16 {
    MASKS + 8 * number as u16
}

/// Vector register that offset `at` is in, and the byte of it; nothing if it is in none.
pub(crate) fn vector_at(at: u16) -> Option<(usize, usize)> {
    let at = usize::from((VECTOR..X87).contains(&at).then(|| at - VECTOR)?);
    Some((at / usize::from(VECTOR_BYTES), at % usize::from(VECTOR_BYTES)))
}

/// Offset of the x87 register that is `index` below the top, which is physical register `top`.
pub(crate) const fn x87(top: u8, index: u8) -> u16 {
    X87 + X87_BYTES * ((top + index) & 7) as u16
}

/// Offset of a general (`ah` … `dh` one byte into theirs), vector or MMX register; `None` for all others.
pub(crate) fn offset(register: Register) -> Option<u16> {
    let number = register.full_register().number();
    match register {
        Register::AH | Register::CH | Register::DH | Register::BH => Some(general(number) + 1),
        _ if register.is_gpr() => Some(general(number)),
        _ if register.is_vector_register() => Some(vector(number)),
        _ if register.is_mm() => Some(X87 + X87_BYTES * number as u16),
        _ => None,
    }
}
