//! Floats that the run-time systems of Go, JavaScript (V8), PHP and Tcl turn into text: functions by symbol, and the notation of
//! a call.
//!
//! All take the float by value, in the first vector register. Go has a calling convention of its own since 1.17. Where
//! something is not as expected, the notation is not known.

use super::abi;
use super::machine::{Machine, Unmapped};
use super::notations::readable;
use shadowgrind_core::findings::OutputKind;
use shadowgrind_core::format::Format;
use shadowgrind_core::text::{Notation, Plain, Sign, Style};

/// Function of a run-time system that turns a double into text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Runtime {
    /// Go's `strconv.genericFtoa(buffer []byte, value float64, letter byte, precision, bits int)`.
    Go,
    /// Go's `runtime.printfloat(value float64)`, behind `println`.
    GoPrintln,
    /// V8's `DoubleToCString(value, …)`.
    JavaScript,
    /// V8's `DoubleToFixedCString(value, precision)`.
    JavaScriptFixed,
    /// V8's `DoubleToExponentialCString(value, precision)`.
    JavaScriptExponential,
    /// V8's `DoubleToPrecisionCString(value, precision)`.
    JavaScriptPrecision,
    /// V8's `DoubleToRadixCString(value, radix)`, or its like.
    JavaScriptRadix,
    /// Tcl's `Tcl_PrintDouble(interpreter, value, to)`, as long as its variable `tcl_precision` is not set.
    Tcl,
    /// PHP's `zend_gcvt(value, digits, point, letter, …)`.
    Php,
    /// PHP's `smart_str_append_double(to, value, precision, zero_fraction)`.
    PhpAppended,
    /// PHP's `php_conv_fp(letter, value, &negative, precision, …)`.
    PhpConverted,
}

/// Functions of V8, mangled, without what follows the value.
const V8: [(&str, Runtime); 7] = [
    ("_ZN2v88internal15DoubleToCStringEd", Runtime::JavaScript),
    ("_ZN2v88internal18DoubleToStringViewEd", Runtime::JavaScript),
    ("_ZN2v88internal20DoubleToFixedCStringEd", Runtime::JavaScriptFixed),
    ("_ZN2v88internal26DoubleToExponentialCStringEd", Runtime::JavaScriptExponential),
    ("_ZN2v88internal24DoubleToPrecisionCStringEd", Runtime::JavaScriptPrecision),
    ("_ZN2v88internal20DoubleToRadixCStringEd", Runtime::JavaScriptRadix),
    ("_ZN2v88internal23DoubleToFixedStringViewEd", Runtime::JavaScriptFixed),
];

/// The function of this name.
pub(super) fn of(symbol: &str) -> Option<(OutputKind, Runtime)> {
    let of_php = |runtime| Some((OutputKind::Php, runtime));
    match symbol {
        "strconv.genericFtoa" => Some((OutputKind::Go, Runtime::Go)),
        "Tcl_PrintDouble" => Some((OutputKind::Printf, Runtime::Tcl)),
        "runtime.printfloat" => Some((OutputKind::Go, Runtime::GoPrintln)),
        "zend_gcvt" => of_php(Runtime::Php),
        "smart_str_append_double" => of_php(Runtime::PhpAppended),
        "php_conv_fp" => of_php(Runtime::PhpConverted),
        _ => {
            let (_, runtime) = V8.iter().find(|(name, _)| symbol.starts_with(name))?;
            Some((OutputKind::JavaScript, *runtime))
        }
    }
}

/// The notation that a function is given.
pub(super) fn notation(m: &dyn Machine, runtime: Runtime) -> Result<Option<Notation>, Unmapped> {
    let precision = |index| Ok(abi::integer(m, index)? as i32);
    let notation = match runtime {
        Runtime::Go => go(m),
        Runtime::GoPrintln => Some(Notation {
            sign: Sign::Plus,
            exponent_digits: 3,
            words: GO_WORDS,
            ..Notation::new(Style::Scientific, Some(6))
        }),
        Runtime::Tcl => Some(Notation {
            exponent_digits: 0,
            point_zero: true,
            words: ["NaN", "Inf"],
            ..Notation::new(Style::Shortest(Format::F64, Plain::Between(-3, 17)), None)
        }),
        Runtime::JavaScript => Some(java_script(Style::Shortest(Format::F64, Plain::Between(-5, 21)), None)),
        Runtime::JavaScriptFixed => Some(java_script(Style::Fixed, u32::try_from(precision(0)?).ok())),
        Runtime::JavaScriptExponential => Some(match u32::try_from(precision(0)?) {
            Ok(precision) => java_script(Style::Scientific, Some(precision)),
            Err(_) => java_script(Style::Shortest(Format::F64, Plain::Never), None),
        }),
        Runtime::JavaScriptPrecision | Runtime::JavaScriptRadix => None,
        Runtime::Php => {
            let upper = (precision(2)? as u8).is_ascii_uppercase();
            Some(Notation { upper, ..php(precision(0)?) })
        }
        Runtime::PhpAppended => Some(Notation { point_zero: precision(2)? as u8 != 0, ..php(precision(1)?) }),
        Runtime::PhpConverted => match precision(0)? as u8 {
            letter @ (b'e' | b'E') => Some(Notation {
                exponent_digits: 0,
                upper: letter == b'E',
                ..Notation::new(Style::Scientific, None)
            }),
            b'f' | b'F' => Some(Notation::new(Style::Fixed, None)),
            _ => None,
        }
        .zip(u32::try_from(precision(2)?).ok())
        .map(|(notation, precision)| Notation { precision: Some(precision), ..notation }),
    };
    Ok(notation.and_then(readable))
}

fn java_script(style: Style, precision: Option<u32>) -> Notation {
    Notation { exponent_digits: 0, words: ["NaN", "Infinity"], ..Notation::new(style, precision) }
}

/// PHP's `%g`, and with a negative precision the fewest digits.
fn php(precision: i32) -> Notation {
    let (style, precision) = match u32::try_from(precision) {
        Ok(precision) => (Style::General, Some(precision.max(1))),
        Err(_) => (Style::Shortest(Format::F64, Plain::Between(-3, 17)), None),
    };
    let words = ["NAN", "INF"];
    Notation {
        exponent_digits: 0,
        exponent_zero: true,
        upper: true,
        words,
        ..Notation::new(style, precision)
    }
}

/// The letter is Go's fourth integer argument, in rdi, the precision the fifth, in rsi, the number of bits the sixth, in r8.
fn go(m: &dyn Machine) -> Option<Notation> {
    const RDI: usize = 7;
    const RSI: usize = 6;
    const R8: usize = 8;
    let format = if m.general(R8) == 32 { Format::F32 } else { Format::F64 };
    let precision = u32::try_from(m.general(RSI) as i64).ok();
    let letter = m.general(RDI) as u8;
    let (style, plain) = match letter.to_ascii_lowercase() {
        b'e' => (Style::Scientific, Plain::Never),
        b'f' => (Style::Fixed, Plain::Always),
        b'g' => (Style::General, Plain::Between(-3, GO_PLAIN)),
        _ => return None,
    };
    let style = if precision.is_some() { style } else { Style::Shortest(format, plain) };
    Some(Notation { upper: letter.is_ascii_uppercase(), words: GO_WORDS, ..Notation::new(style, precision) })
}

/// Digits before the point up to which Go writes the fewest digits without an exponent.
const GO_PLAIN: i16 = 6;
/// Go's words for what is no number.
const GO_WORDS: [&str; 2] = ["NaN", "Inf"];

/// Tells whether a function is the one by which Go's `fmt` prints integers.
pub(super) fn prints_integer(symbol: &str) -> bool {
    symbol == "fmt.(*fmt).fmtInteger"
}

/// Format of the number that a function of Go's puts into a box, for an interface to lead to.
pub(super) fn boxes(symbol: &str) -> Option<Format> {
    match symbol {
        "runtime.convT64" => Some(Format::F64),
        "runtime.convT32" => Some(Format::F32),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::fake::{Fake, RDI, RSI};
    use super::*;
    use shadowgrind_core::text::Float;

    fn written(m: &Fake, runtime: Runtime, x: f64) -> Option<String> {
        let float = Float { format: Format::F64, bits: x.to_bits().into() };
        Some(notation(m, runtime).unwrap()?.write(&float))
    }

    /// Texts as Go 1.19, node 20, PHP 8.2 and Tcl 8.6 print them.
    #[test]
    fn notations_are_those_of_each_language() {
        let mut m = Fake::called(0x1000);
        let mut text = |runtime, first: i64, second: i64, third: u64, x| {
            (m.general[RDI], m.general[RSI], m.general[2], m.general[8]) =
                (first as u64, second as u64, third, 64);
            written(&m, runtime, x)
        };
        let g = i64::from(b'g');
        assert_eq!(text(Runtime::Go, g, -1, 0, -1.5e-8).as_deref(), Some("-1.5e-08"));
        assert_eq!(text(Runtime::Go, g, -1, 0, 123_456_789.0).as_deref(), Some("1.23456789e+08"));
        assert_eq!(text(Runtime::Go, g, -1, 0, 123_456.0).as_deref(), Some("123456"));
        assert_eq!(text(Runtime::Go, i64::from(b'f'), 2, 0, 2.5).as_deref(), Some("2.50"));
        assert_eq!(text(Runtime::Go, i64::from(b'e'), 3, 0, 2.5).as_deref(), Some("2.500e+00"));
        assert_eq!(text(Runtime::JavaScript, 0, 0, 0, 1e21).as_deref(), Some("1e+21"));
        assert_eq!(text(Runtime::JavaScript, 0, 0, 0, 1.5e-7).as_deref(), Some("1.5e-7"));
        assert_eq!(text(Runtime::JavaScript, 0, 0, 0, 0.000_001_5).as_deref(), Some("0.0000015"));
        assert_eq!(text(Runtime::JavaScriptFixed, 3, 0, 0, 2.0).as_deref(), Some("2.000"));
        assert_eq!(text(Runtime::JavaScriptExponential, -1, 0, 0, 120.0).as_deref(), Some("1.2e+2"));
        let upper = u64::from(b'E');
        assert_eq!(text(Runtime::Php, 14, 0, upper, -2e-8).as_deref(), Some("-2.0E-8"));
        assert_eq!(text(Runtime::Php, 15, 0, 0, 1e25).as_deref(), Some("1.0e+25"));
        assert_eq!(text(Runtime::Php, 14, 0, 0, 1.0 / 3.0).as_deref(), Some("0.33333333333333"));
        for (x, printed) in
            [(1e16, "10000000000000000.0"), (1e17, "1e+17"), (0.0001, "0.0001"), (1e-5, "1e-5")]
        {
            assert_eq!(text(Runtime::Tcl, 0, 0, 0, x).as_deref(), Some(printed));
        }
        assert_eq!(text(Runtime::PhpAppended, 0, -1, 0, 1e25).as_deref(), Some("1.0E+25"));
        assert_eq!(text(Runtime::PhpAppended, 0, 17, 1, 2.0).as_deref(), Some("2.0"));
    }
}
