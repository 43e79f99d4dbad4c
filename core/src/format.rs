//! The floating-point formats a lane can have.

/// A binary floating-point format of the guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Format {
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary64.
    F64,
    /// x87 double extended: 64-bit significand with an explicit integer bit, in ten bytes.
    F80,
}

impl Format {
    /// Size of a value in memory, in bytes.
    pub const fn bytes(self) -> usize {
        match self {
            Format::F32 => 4,
            Format::F64 => 8,
            Format::F80 => 10,
        }
    }

    /// Precision p: bits of the significand, the leading one included.
    pub const fn precision(self) -> u32 {
        match self {
            Format::F32 => 24,
            Format::F64 => 53,
            Format::F80 => 64,
        }
    }
}
