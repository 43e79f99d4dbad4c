//! Settings of annotation: what the processor has, what the shadow asks for, and where what code refers to is.
//!
//! Knows no code.

use crate::x86::rules::InlineRule;
use shadowgrind_core::shadow::Policy;

/// Settings of annotation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// Number of vector registers whose shadows are in the upper vector registers, from zmm16 on; 0 without AVX-512.
    pub(crate) in_registers: u8,
    /// True if operations are recorded, and their shadows not computed beside the guest's.
    pub(crate) records: bool,
    /// True if operations are appended, and their results numbered.
    pub(crate) appends: bool,
    /// True if what is appended says how operations were rounded.
    pub(crate) roundings: bool,
    /// Rule by which shadows are computed beside the guest's operations otherwise.
    pub(crate) rule: Option<InlineRule>,
    /// Rule of the question asked beside comparisons, if those are to be seen and operations are not recorded.
    pub(crate) doubt: Option<InlineRule>,
    /// Rule of the question asked before operations that are watched.
    pub(crate) suspicion: Option<InlineRule>,
    /// Policy of the shadow: what else is to be done for it.
    pub(crate) policy: &'static Policy,
    /// True if whatever meets a shadow is left to the engine: the reference path of everything else, for tests.
    pub(crate) slow: bool,
    /// Address of the constants.
    pub(crate) constants: u64,
    /// True if vector registers have 64 bytes although no shadow is in an upper one: the guest may use all of them.
    pub(crate) wide: bool,
    /// True if the processor has AVX-512.
    pub(crate) has_avx512: bool,
    /// Address of the lock of exchanges.
    pub(crate) atomics: u64,
    /// Address of the table of turned doubles; 0 if there is none.
    pub(crate) turned: u64,
    /// First address without a mirror.
    pub(crate) guest_end: u64,
    /// First address of the vDSO's code and the one behind it: it reads the kernel's data above the guest's range, which has no
    /// mirror and holds no float.
    pub(crate) vdso: (u64, u64),
}

/// Executions of an operation that are left to the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Watched {
    /// All.
    Always,
    /// Executions that are suspicious.
    Suspicious,
    /// None.
    Never,
}
