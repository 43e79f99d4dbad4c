//! Settings of annotation: what the processor has, what the shadow asks for, and where what code refers to is.
//!
//! Knows no code.

use crate::x86::rules::InlineRule;
use shadowgrind_core::shadow::Policy;

/// Settings of annotation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// Shadows of this many vector registers are in the upper vector registers, from zmm16 on; 0 without AVX-512.
    pub(crate) in_registers: u8,
    /// Operations are recorded, not computed beside the guest's.
    pub(crate) records: bool,
    /// Operations are appended, and their results numbered.
    pub(crate) appends: bool,
    /// True if what is appended says how operations were rounded.
    pub(crate) roundings: bool,
    /// The rule by which they are computed otherwise.
    pub(crate) rule: Option<InlineRule>,
    /// The rule of what is asked beside comparisons, if those are to be seen and operations are not recorded.
    pub(crate) doubt: Option<InlineRule>,
    /// The rule of what is asked before operations that are watched.
    pub(crate) suspicion: Option<InlineRule>,
    /// The other services for the shadow.
    pub(crate) policy: &'static Policy,
    /// Whatever meets a shadow is left to the engine: the reference path of everything else, for tests.
    pub(crate) slow: bool,
    /// Address of the constants.
    pub(crate) constants: u64,
    /// With no shadow in an upper register: vector registers have 64 bytes all the same, and the guest may use them.
    pub(crate) wide: bool,
    /// True if the processor has AVX-512.
    pub(crate) has_avx512: bool,
    /// Address of the lock of exchanges.
    pub(crate) atomics: u64,
    /// Address of the table of turned doubles; 0 if there is none.
    pub(crate) turned: u64,
    /// First address without a mirror.
    pub(crate) guest_end: u64,
    /// Code of the vDSO, which reads the kernel's data above the guest's range: that has no mirror, and holds no float.
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
