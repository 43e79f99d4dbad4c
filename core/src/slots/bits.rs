//! The float that a slot belongs to, in as few bytes as it takes: its format, and its bits in that.

use crate::format::Format;

/// Two words to compare, whatever the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bits {
    low: u64,
    /// The bits above the lowest 64, and the format above those.
    high: u32,
}

impl Bits {
    /// Bits that no float has.
    pub(super) const NONE: Bits = Bits { low: 0, high: u32::MAX };

    /// The bits of `format` of `bits`; those above are ignored.
    #[inline(always)]
    pub(super) fn of(format: Format, bits: u128) -> Bits {
        let (low, high) = match format {
            Format::F16 => (bits as u16 as u64, 0),
            Format::F32 => (bits as u32 as u64, 0),
            Format::F64 => (bits as u64, 0),
            Format::F80 => (bits as u64, (bits >> 64) as u16 as u32),
        };
        Bits { low, high: (format as u32) << 16 | high }
    }

    /// The bits, if they are of a float of `format`.
    pub(super) fn float(self, format: Format) -> Option<u128> {
        let high = self.high & 0xffff;
        (self.high >> 16 == format as u32).then_some(u128::from(high) << 64 | u128::from(self.low))
    }
}
