//! The floating-point formats a lane can have: what bits mean, how a number becomes bits, how far apart two floats are.
//!
//! Bits are a `u128` whose low bits are the value's memory image, little end first; those above the format's width are
//! ignored. Conversions round to nearest even whatever the guest's rounding mode: shadows are not the guest's
//! arithmetic. Knows no decimal notation and no operation.

/// A binary floating-point format of the guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Format {
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary64.
    F64,
    /// x87 double extended: 64-bit significand with an explicit integer bit, in ten bytes.
    F80,
    /// IEEE 754 binary16, in which floats are kept; nothing is computed in it.
    F16,
}

/// Number that the bits of a float stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// ±significand · 2^exponent; zero has significand 0.
    Finite {
        /// The sign bit.
        negative: bool,
        /// Not normalised: the fraction as the format has it, with its integer bit.
        significand: u64,
        /// The exponent of the significand's last bit.
        exponent: i32,
    },
    /// ±∞.
    Infinite {
        /// The sign bit.
        negative: bool,
    },
    /// Not a number.
    Nan {
        /// The sign bit.
        negative: bool,
        /// The fraction, aligned to bit 62; bit 62 itself tells quiet from signalling.
        payload: u64,
    },
}

/// A long double rounded to a double, where both are normal: the significand is rounded as an integer.
#[inline]
fn extended_to_double(bits: u128) -> Option<f64> {
    /// Exponents of significands with their first bit, as integers, and of long doubles.
    const BIASES: i32 = 0x3fff + 63;
    const LEAST: i32 = 1 - 1023 - 63;
    const MOST: i32 = 1023 - 64;
    let (significand, end) = (bits as u64, (bits >> 64) as u16);
    let power = i32::from(end & 0x7fff) - BIASES;
    if significand >> 63 == 0 || !(LEAST..=MOST).contains(&power) {
        return None;
    }
    let magnitude = (significand as f64).to_bits().wrapping_add_signed(i64::from(power) << 52);
    Some(f64::from_bits(magnitude | u64::from(end >> 15) << 63))
}

impl Format {
    /// Every format that operations compute in.
    pub const ALL: [Format; 3] = [Format::F32, Format::F64, Format::F80];

    /// Size of a value in memory, in bytes.
    #[inline]
    pub const fn bytes(self) -> usize {
        match self {
            Format::F16 => 2,
            Format::F32 => 4,
            Format::F64 => 8,
            Format::F80 => 10,
        }
    }

    /// Size of a value in bits.
    #[inline]
    pub const fn width(self) -> u32 {
        8 * self.bytes() as u32
    }

    /// Precision p: bits of the significand, the leading one included.
    #[inline]
    pub const fn precision(self) -> u32 {
        match self {
            Format::F16 => 11,
            Format::F32 => 24,
            Format::F64 => 53,
            Format::F80 => 64,
        }
    }

    /// Exponent of the least subnormal number, a power of two.
    pub const fn least_exponent(self) -> i32 {
        match self {
            Format::F16 => -24,
            Format::F32 => -149,
            Format::F64 => -1074,
            Format::F80 => -16445,
        }
    }

    /// The exponent field of infinities and NaN.
    const fn special_exponent(self) -> u128 {
        match self {
            Format::F16 => 0x1f,
            Format::F32 => 0xff,
            Format::F64 => 0x7ff,
            Format::F80 => 0x7fff,
        }
    }

    /// Bits of a fraction, p − 1.
    const fn fraction_width(self) -> u32 {
        self.precision() - 1
    }

    /// The bits of the value whose memory image `bytes` starts with; panics if that is cut short.
    pub fn bits_of(self, bytes: &[u8]) -> u128 {
        let mut image = [0; 16];
        image[..self.bytes()].copy_from_slice(&bytes[..self.bytes()]);
        u128::from_le_bytes(image)
    }

    /// The sign bit.
    pub const fn is_negative(self, bits: u128) -> bool {
        bits >> (self.width() - 1) & 1 == 1
    }

    /// The number of floats of this format in (0, |x|]: floats numbered upwards from zero, infinity included. `None`
    /// for NaN, and for the 80-bit encodings without their integer bit that processors since the 80387 refuse.
    /// A pseudo-denormal (exponent field 0, integer bit set) is the normal number it equals.
    fn magnitude(self, bits: u128) -> Option<u128> {
        let magnitude = match self {
            Format::F16 | Format::F32 | Format::F64 => bits & !(u128::MAX << (self.width() - 1)),
            Format::F80 => {
                let (field, significand) = (bits >> 64 & 0x7fff, bits & u128::from(u64::MAX));
                if field != 0 && significand >> 63 == 0 {
                    return None;
                }
                ((field.max(1) - 1) << 63) + significand
            }
        };
        (magnitude <= self.infinity()).then_some(magnitude)
    }

    /// The number of +∞ in that order.
    const fn infinity(self) -> u128 {
        self.special_exponent() << self.fraction_width()
    }

    /// The bits with this sign, exponent field and fraction.
    fn assemble(self, negative: bool, field: u128, fraction: u128) -> u128 {
        let (sign, width) = (u128::from(negative) << (self.width() - 1), self.fraction_width());
        match self {
            Format::F16 | Format::F32 | Format::F64 => sign | field << width | fraction,
            Format::F80 => sign | field << 64 | u128::from(field != 0) << 63 | fraction,
        }
    }

    /// The bits of the float with this magnitude; infinity if there is none so large.
    fn with_magnitude(self, negative: bool, magnitude: u128) -> u128 {
        let magnitude = magnitude.min(self.infinity());
        let width = self.fraction_width();
        self.assemble(negative, magnitude >> width, magnitude & !(u128::MAX << width))
    }

    /// The number that `bits` stand for.
    pub fn decode(self, bits: u128) -> Number {
        let (negative, width) = (self.is_negative(bits), self.fraction_width());
        let fraction = bits & !(u128::MAX << width);
        match self.magnitude(bits) {
            None => Number::Nan { negative, payload: (fraction << (63 - width)) as u64 },
            Some(magnitude) if magnitude == self.infinity() => Number::Infinite { negative },
            Some(magnitude) => {
                let (field, fraction) = (magnitude >> width, (magnitude & !(u128::MAX << width)) as u64);
                let significand = if field == 0 { fraction } else { fraction | 1 << width };
                let exponent = self.least_exponent() + (field.max(1) - 1) as i32;
                Number::Finite { negative, significand, exponent }
            }
        }
    }

    /// The bits of the float nearest to `number`, ties to even. A NaN becomes quiet and keeps what fits of its payload,
    /// as in the processor's own conversions.
    pub fn encode(self, number: Number) -> u128 {
        match number {
            Number::Infinite { negative } => self.with_magnitude(negative, self.infinity()),
            Number::Nan { negative, payload } => {
                let fraction = (payload | 1 << 62) >> (63 - self.fraction_width());
                self.assemble(negative, self.special_exponent(), fraction.into())
            }
            Number::Finite { negative, significand, exponent } => {
                self.with_magnitude(negative, self.rounded(significand, exponent))
            }
        }
    }

    /// The magnitude nearest to significand · 2^exponent. Without its bounds: beyond infinity, it counts on.
    fn rounded(self, significand: u64, exponent: i32) -> u128 {
        if significand == 0 {
            return 0;
        }
        // The leading bit is at 63 now, the last bit of the result at `last` ≥ `exponent`.
        let zeros = significand.leading_zeros();
        let (significand, exponent) =
            (u128::from(significand << zeros), exponent.saturating_sub_unsigned(zeros));
        let last = exponent.saturating_add_unsigned(64 - self.precision()).max(self.least_exponent());
        // Shifts beyond 65 leave less than a quarter, as 65 does.
        let shift = last.abs_diff(exponent).min(65);
        let (kept, lost) = (significand >> shift, significand & !(u128::MAX << shift));
        let half = (1 << shift) >> 1;
        let up = lost > half || lost == half && shift > 0 && kept & 1 == 1;
        // A significand that rounds up to 2^p carries into the exponent, where it belongs.
        (u128::from(last.abs_diff(self.least_exponent())) << self.fraction_width()) + kept + u128::from(up)
    }

    /// The value nearest to the float `bits` in the format `to`.
    pub fn convert(self, bits: u128, to: Format) -> u128 {
        to.encode(self.decode(bits))
    }

    /// The nearest `f64`; exact for all but the widest format.
    #[inline]
    pub fn to_f64(self, bits: u128) -> f64 {
        match self {
            Format::F32 => f64::from(f32::from_bits(bits as u32)),
            Format::F64 => f64::from_bits(bits as u64),
            Format::F80 => extended_to_double(bits)
                .unwrap_or_else(|| f64::from_bits(self.convert(bits, Format::F64) as u64)),
            Format::F16 => f64::from_bits(self.convert(bits, Format::F64) as u64),
        }
    }

    /// Tells whether two floats are equal as a comparison has it: zeros of either sign are, NaN is not.
    pub fn are_equal(self, [a, b]: [u128; 2]) -> bool {
        let magnitude = (1 << (self.width() - 1)) - 1;
        (a == b && !self.to_f64(a).is_nan()) || (a | b) & magnitude == 0
    }

    /// The bits of the float nearest to `x`.
    pub fn from_f64(self, x: f64) -> u128 {
        match self {
            Format::F32 => (x as f32).to_bits().into(),
            Format::F64 => x.to_bits().into(),
            Format::F16 | Format::F80 => Format::F64.convert(x.to_bits().into(), self),
        }
    }

    /// The position of a float among all of its format: neighbours differ by 1, both zeros are 0, infinities count.
    /// `None` for NaN.
    #[inline]
    pub fn ordinal(self, bits: u128) -> Option<i128> {
        let magnitude = self.magnitude(bits)? as i128;
        Some(if self.is_negative(bits) { -magnitude } else { magnitude })
    }

    /// The error of the float `x` whose real, rounded to this format, is `real`: log₂ (1 + n) with n the number of
    /// floats from one to the other, counted through zero; the width of the format where one of them is NaN.
    pub fn error_bits(self, x: u128, real: u128) -> f64 {
        match (self.ordinal(x), self.ordinal(real)) {
            (Some(x), Some(real)) => (1.0 + x.abs_diff(real) as f64).log2(),
            (None, None) => 0.0,
            _ => self.width().into(),
        }
    }
}
