//! The bits of a float of any format, in as few bytes as they take.

use crate::format::Format;

/// Ten bytes, packed so that they take no more in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(Rust, packed(2))]
pub(super) struct Bits {
    low: u64,
    high: u16,
}

impl Bits {
    pub(super) const ZERO: Bits = Bits { low: 0, high: 0 };

    /// The bits of `format` of `bits`; those above are ignored.
    #[inline]
    pub(super) fn of(format: Format, bits: u128) -> Bits {
        match format {
            Format::F16 => Bits { low: bits as u16 as u64, high: 0 },
            Format::F32 => Bits { low: bits as u32 as u64, high: 0 },
            Format::F64 => Bits { low: bits as u64, high: 0 },
            Format::F80 => Bits { low: bits as u64, high: (bits >> 64) as u16 },
        }
    }

    /// Whether these are the bits of `bits` in `format`.
    #[inline]
    pub(super) fn equals(self, bits: u128, format: Format) -> bool {
        self == Bits::of(format, bits)
    }
}
