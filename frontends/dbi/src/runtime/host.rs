//! Demands of shadows on the processor, and the constants their code uses.

use super::merging::Vectors;
use crate::engine::arena::{self, Exhausted};
use crate::engine::sys;
use crate::x86::rules::constant_bytes;
use shadowgrind_core::turned::{self, Turned};
use std::arch::is_x86_feature_detected;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// Tells whether shadows can be kept in zmm16–31.
pub(crate) fn has_upper_registers() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512bw")
}

/// The instructions that shadows are carried with.
///
/// # Errors
/// The processor lacks some of them, in words for a user.
pub(crate) fn check_host() -> Result<Vectors, &'static str> {
    Vectors::detect().ok_or("shadows need a processor with AVX2 and FMA (x86-64-v3)")
}

/// A processor that can carry shadows, and what the process has mapped for them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Host {
    pub(crate) vectors: Vectors,
    /// Address of the [`constants`].
    pub(crate) constants: u64,
    /// The [`shared_word`] that is the lock of exchanges.
    pub(crate) atomics: &'static AtomicU32,
}

/// A word that is 0, mapped within reach of translated code, in a page of its own: all threads write there.
pub(crate) fn shared_word() -> Result<&'static AtomicU32, Exhausted> {
    let at = arena::take(size_of::<AtomicU32>() as u64, libc::PROT_READ | libc::PROT_WRITE)?;
    // SAFETY: the memory was just mapped for this, is zeroed and aligned to a page, and is never unmapped.
    Ok(unsafe { &*(at as *const AtomicU32) })
}

/// Address of the constants, mapped within reach of translated code.
pub(crate) fn constants() -> Result<u64, Exhausted> {
    let bytes = constant_bytes();
    let at = arena::take(bytes.len() as u64, libc::PROT_READ | libc::PROT_WRITE)?;
    // SAFETY: the memory was just mapped for this and is at least as long.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), at as *mut u8, bytes.len()) };
    Ok(at)
}

/// The process's table of turned doubles, which is there once for all; nothing if there is no memory for it.
pub(crate) fn turned_doubles() -> Option<Turned> {
    static TABLE: LazyLock<Option<Turned>> = LazyLock::new(|| {
        let bytes = (turned::WORDS * size_of::<AtomicU64>()) as u64;
        let at = sys::map_anywhere(bytes, libc::PROT_READ | libc::PROT_WRITE).ok()?;
        // SAFETY: the memory was just mapped for this, is as long, zeroed and aligned to a page, and is never unmapped.
        Some(Turned::new(unsafe { std::slice::from_raw_parts(at as *const AtomicU64, turned::WORDS) }))
    });
    *TABLE
}
