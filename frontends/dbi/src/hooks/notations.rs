//! Notations that functions other than C's are given: C++'s streams and `to_chars`, Python's one function for all of
//! them, Rust's formatters.
//!
//! Layouts are those of libstdc++ since GCC 5 (`ios_base`, `basic_ios`) and of Rust's library since 1.87
//! (`FormattingOptions`). Where something is not as expected, nothing is known.

use super::abi;
use crate::hooks::machine::{Machine, Unmapped, read_bytes, read_u64};
use shadowgrind_core::format::Format;
use shadowgrind_core::text::{Fill, MOST, Notation, Plain, Sign, Style};

/// `std::ios_base::fmtflags` that matter for floats.
mod flags {
    pub(super) const FIXED: u32 = 1 << 2;
    pub(super) const INTERNAL: u32 = 1 << 4;
    pub(super) const LEFT: u32 = 1 << 5;
    pub(super) const SCIENTIFIC: u32 = 1 << 8;
    pub(super) const SHOW_POINT: u32 = 1 << 10;
    pub(super) const SHOW_POSITIVE: u32 = 1 << 11;
    pub(super) const UPPER: u32 = 1 << 14;
}

/// Notation in which libstdc++'s stream at the first argument writes a float of `format`.
pub(super) fn stream(m: &dyn Machine, format: Format) -> Result<Option<Notation>, Unmapped> {
    let stream = abi::integer(m, 0)?;
    // The virtual base's offset is the third word before the table of virtual functions.
    let offset = read_u64(m, read_u64(m, stream)?.wrapping_sub(24))?;
    let base = stream.wrapping_add(offset);
    let (precision, width) = (read_u64(m, base + 8)? as i64, read_u64(m, base + 16)? as i64);
    let set = u32::from_le_bytes(read_bytes(m, base + 24)?);
    let [fill, is_filled] = read_bytes(m, base + 224)?;
    let has = |flag| set & flag != 0;
    let precision = u32::try_from(precision).unwrap_or(6);
    let (style, precision) = match (has(flags::FIXED), has(flags::SCIENTIFIC)) {
        (true, true) => (Style::Hexadecimal(format), None),
        (true, false) => (Style::Fixed, Some(precision)),
        (false, true) => (Style::Scientific, Some(precision)),
        (false, false) => (Style::General, Some(precision)),
    };
    let place = match (has(flags::LEFT), has(flags::INTERNAL)) {
        (true, _) => Fill::After,
        (false, true) => Fill::Inside,
        (false, false) => Fill::Before,
    };
    let notation = Notation {
        sign: if has(flags::SHOW_POSITIVE) { Sign::Plus } else { Sign::None },
        alternate: has(flags::SHOW_POINT),
        upper: has(flags::UPPER),
        width: u32::try_from(width).unwrap_or(0),
        fill: place,
        with: if is_filled == 1 && fill.is_ascii_graphic() { fill.into() } else { ' ' },
        ..Notation::new(style, precision)
    };
    Ok(readable(notation))
}

/// Notation in which `std::to_chars` writes a float of `format`, with what follows it in the parameter list, mangled.
pub(super) fn to_chars(
    m: &dyn Machine,
    format: Format,
    chosen: Chosen,
) -> Result<Option<Notation>, Unmapped> {
    const SCIENTIFIC: u32 = 1;
    const FIXED: u32 = 2;
    const GENERAL: u32 = 3;
    let how = abi::integer(m, 2)? as u32;
    let precision = Some(u32::try_from(abi::integer(m, 3)? as i32).unwrap_or(6));
    let notation = match (chosen, how) {
        (Chosen::Nothing, _) => Notation::new(Style::Shortest(format, Plain::WhereShorter), None),
        (Chosen::Style, SCIENTIFIC) => Notation::new(Style::Shortest(format, Plain::Never), None),
        (Chosen::Precision, SCIENTIFIC) => Notation::new(Style::Scientific, precision),
        (Chosen::Precision, FIXED) => Notation::new(Style::Fixed, precision),
        (Chosen::Precision, GENERAL) => Notation::new(Style::General, precision),
        _ => return Ok(None),
    };
    Ok(readable(notation).filter(|_| format != Format::F80 || chosen == Chosen::Precision))
}

/// Layout that a caller of `std::to_chars` chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Chosen {
    Nothing,
    Style,
    Precision,
}

/// Notation that `PyOS_double_to_string` is given: a letter, a precision, flags. Width and alignment come later.
pub(super) fn python(m: &dyn Machine) -> Result<Option<Notation>, Unmapped> {
    const SIGN: u64 = 1;
    const POINT_ZERO: u64 = 2;
    const ALTERNATE: u64 = 4;
    let [letter, precision, set] = [0, 1, 2].map(|index| abi::integer(m, index));
    let (letter, precision, set) = (letter? as u8, u32::try_from(precision? as i32).ok(), set?);
    let style = match letter.to_ascii_lowercase() {
        b'f' => Style::Fixed,
        b'e' => Style::Scientific,
        b'g' => Style::General,
        b'r' => Style::Shortest(Format::F64, Plain::Between(-3, 16)),
        _ => return Ok(None),
    };
    let notation = Notation {
        sign: if set & SIGN != 0 { Sign::Plus } else { Sign::None },
        alternate: set & ALTERNATE != 0,
        upper: letter.is_ascii_uppercase(),
        point_zero: set & POINT_ZERO != 0,
        ..Notation::new(style, precision.filter(|_| letter != b'r'))
    };
    Ok(readable(notation))
}

/// A trait by which Rust formats floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trait {
    Display,
    Debug,
    LowerExp,
    UpperExp,
}

/// Notation that Rust's formatter at the second argument is given.
pub(super) fn rust(m: &dyn Machine, format: Format, how: Trait) -> Result<Option<Notation>, Unmapped> {
    const PLUS: u32 = 1 << 21;
    const ZEROS: u32 = 1 << 24;
    const WIDTH: u32 = 1 << 27;
    const PRECISION: u32 = 1 << 28;
    const ALIGNED: u32 = 3 << 29;
    const NEVER_SET: u32 = 1 << 31;
    // A wide pointer to the writer comes first.
    let options = read_u64(m, abi::integer(m, 1)?.wrapping_add(16))?;
    let (set, width, precision) = (options as u32, options >> 32 & 0xffff, options >> 48);
    let has = |flag| set & flag != 0;
    // What older libraries have in this place looks otherwise.
    let is_known = !has(NEVER_SET) && (has(WIDTH) || width == 0) && (has(PRECISION) || precision == 0);
    let Some(with) = char::from_u32(set & 0x1f_ffff).filter(|c| is_known && !c.is_control()) else {
        return Ok(None);
    };
    let precision = has(PRECISION).then_some(precision as u32);
    let style = match (how, precision) {
        (Trait::Display | Trait::Debug, Some(_)) => Style::Fixed,
        (_, Some(_)) => Style::Scientific,
        (Trait::Display, None) => Style::Shortest(format, Plain::Always),
        (Trait::Debug, None) => Style::Shortest(format, Plain::Between(-3, 16)),
        (_, None) => Style::Shortest(format, Plain::Never),
    };
    let (fill, with) = match set & ALIGNED {
        _ if has(ZEROS) => (Fill::Inside, '0'),
        0 => (Fill::After, with),
        // In the middle.
        a if a == 2 << 29 => return Ok(None),
        _ => (Fill::Before, with),
    };
    let notation = Notation {
        sign: if has(PLUS) { Sign::Plus } else { Sign::None },
        upper: how == Trait::UpperExp,
        point_zero: how == Trait::Debug && precision.is_none(),
        exponent_digits: 1,
        width: if has(WIDTH) { width as u32 } else { 0 },
        fill,
        with,
        words: ["NaN", "inf"],
        ..Notation::new(style, precision)
    };
    Ok(readable(notation))
}

/// The notation, unless it makes texts that nobody reads.
pub(super) fn readable(notation: Notation) -> Option<Notation> {
    let fits = notation.precision.is_none_or(|precision| precision <= MOST) && notation.width <= MOST;
    fits.then_some(notation)
}
