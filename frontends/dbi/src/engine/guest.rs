//! Reading and writing guest memory from the engine, as the kernel would: a bad address is an error, not a crash.
//!
//! Knows addresses only; what is mapped there, and whether the guest may, is the business of `space`.

use super::switch;
use std::ffi::CString;
use std::mem::MaybeUninit;

/// The guest named memory it does not have (`EFAULT`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault;

/// Types whose every bit pattern is a value, so that guest bytes may become one.
///
/// # Safety
/// Implementors must have no padding and no invalid bit patterns.
pub(crate) unsafe trait Plain: Copy {}

macro_rules! plain {
    ($($ty:ty),* $(,)?) => {
        // SAFETY: integers, and C structures of integers without padding.
        $(unsafe impl Plain for $ty {})*
    };
}
plain!(u8, u16, u32, i32, u64, i64);

// SAFETY: an array of such values is such a value.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}

/// Reads a value at `address`.
pub(crate) fn read<T: Plain>(address: u64) -> Result<T, Fault> {
    let mut value = MaybeUninit::<T>::uninit();
    // SAFETY: the destination is exactly one `T`.
    let left =
        unsafe { switch::guarded_copy(value.as_mut_ptr().cast(), address as *const u8, size_of::<T>()) };
    if left != 0 {
        return Err(Fault);
    }
    // SAFETY: all bytes were copied, and any bytes are a `T`.
    Ok(unsafe { value.assume_init() })
}

/// Writes `value` at `address`.
pub(crate) fn write<T: Plain>(address: u64, value: T) -> Result<(), Fault> {
    write_bytes(address, as_bytes(&value))
}

/// Writes `bytes` at `address`.
pub(crate) fn write_bytes(address: u64, bytes: &[u8]) -> Result<(), Fault> {
    // SAFETY: the source is a valid slice.
    let left = unsafe { switch::guarded_copy(address as *mut u8, bytes.as_ptr(), bytes.len()) };
    if left == 0 { Ok(()) } else { Err(Fault) }
}

/// Reads up to `buffer.len()` bytes and returns how many were readable.
pub(crate) fn read_some(address: u64, buffer: &mut [u8]) -> usize {
    // SAFETY: the destination is a valid slice.
    let left = unsafe { switch::guarded_copy(buffer.as_mut_ptr(), address as *const u8, buffer.len()) };
    buffer.len() - left
}

/// Reads up to `code.len()` bytes of code and returns how many were readable. Another thread may be patching it: what that writes at
/// once, within eight aligned bytes, is read at once, as the processor does.
pub(crate) fn read_code(address: u64, code: &mut [u8]) -> usize {
    const WORD: u64 = size_of::<u64>() as u64;
    let mut words = [0_u64; 32];
    let mut count = 0;
    while count < code.len() {
        let at = address + count as u64;
        let first = at - at % WORD;
        let wanted = ((address + code.len() as u64).div_ceil(WORD) - first / WORD) as usize;
        let wanted = wanted.min(words.len());
        // SAFETY: the words are as many, and the address is aligned.
        let left = unsafe { switch::guarded_words(words.as_mut_ptr(), first as *const u64, wanted) };
        let read = as_bytes(&words).get((at - first) as usize..(wanted - left) * size_of::<u64>());
        let read = read.unwrap_or_default();
        let here = read.len().min(code.len() - count);
        code[count..count + here].copy_from_slice(&read[..here]);
        count += here;
        if left != 0 {
            break;
        }
    }
    count
}

/// Reads exactly `len` bytes.
pub(crate) fn read_bytes(address: u64, len: usize) -> Result<Vec<u8>, Fault> {
    let mut bytes = vec![0; len];
    if read_some(address, &mut bytes) == len { Ok(bytes) } else { Err(Fault) }
}

/// Reads a NUL-terminated string of at most 8 MiB: more than any that the kernel takes, so that it is the kernel who
/// refuses one as too long.
pub(crate) fn read_cstr(address: u64) -> Result<CString, Fault> {
    const LONGEST: usize = 8 << 20;
    let mut bytes = Vec::new();
    let mut chunk = [0; 256];
    while bytes.len() < LONGEST {
        // Stop chunks at multiples of their size, so that a string just below unmapped memory is readable.
        let at = address + bytes.len() as u64;
        let want = chunk.len() - (at as usize % chunk.len());
        let got = read_some(at, &mut chunk[..want]);
        match chunk[..got].iter().position(|&b| b == 0) {
            Some(end) => {
                bytes.extend_from_slice(&chunk[..end]);
                return CString::new(bytes).map_err(|_| Fault);
            }
            None if got < want => return Err(Fault),
            None => bytes.extend_from_slice(&chunk[..got]),
        }
    }
    Err(Fault)
}

/// Reads a NULL-terminated array of string pointers, such as `argv`. A null `address` is an empty array, as Linux
/// has it.
pub(crate) fn read_cstr_array(address: u64) -> Result<Vec<CString>, Fault> {
    let mut strings = Vec::new();
    if address == 0 {
        return Ok(strings);
    }
    for index in 0.. {
        match read::<u64>(address + 8 * index)? {
            0 => break,
            string => strings.push(read_cstr(string)?),
        }
    }
    Ok(strings)
}

/// Tells whether text may have the byte, as far as it is ASCII.
pub(crate) fn is_text(byte: u8) -> bool {
    byte.is_ascii_graphic() || byte.is_ascii_whitespace()
}

/// The bytes of a plain value.
pub(crate) fn as_bytes<T: Plain>(value: &T) -> &[u8] {
    // SAFETY: a plain value has no padding, so all its bytes are initialised; the lifetime is the borrow's.
    unsafe { std::slice::from_raw_parts(std::ptr::from_ref(value).cast(), size_of::<T>()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_read_from_any_address_to_any_other() {
        // Longer than what is wanted: the words around that are read as well.
        let bytes: Vec<u8> = (0..=255).cycle().take(600).collect();
        for start in 0..17 {
            for len in [0, 1, 5, 8, 15, 16, 255, 256, 257, 500] {
                let address = bytes.as_ptr() as u64 + start as u64;
                let mut code = vec![0xcc; len];
                assert_eq!(read_code(address, &mut code), len);
                assert_eq!(code, bytes[start..start + len]);
            }
        }
    }
}
