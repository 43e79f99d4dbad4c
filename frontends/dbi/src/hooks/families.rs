//! The functions that turn floats into text, by symbol, and the floats of a call of one.

use super::Hook;
use super::abi::{self, Float};
use super::gfortran::{self, Item};
use super::library::Library;
use super::printf::{self, Printf};
use crate::hooks::machine::{Machine, Unmapped};
use shadowgrind_core::findings::OutputKind;
use shadowgrind_core::format::Format;
use shadowgrind_symbols::Symbol;

/// How a function takes the floats it formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    /// As arguments named by a format string.
    Printf(Printf),
    /// One, by value: the first floating-point argument. It may have been a `float` if the function takes doubles only.
    Value(Format, Printed),
    /// One, by address: integer argument of this number, from 0.
    Pointee(Format, u8),
    /// The items of a Fortran statement.
    Fortran(Item),
}

/// Whether a float may have been widened for the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Printed {
    /// It is passed as it is.
    AsIs,
    /// A `float` comes as a `double`.
    Promoted,
}

/// The function that `symbol` is.
pub(super) fn of(symbol: &Symbol<'_>, library: &Library) -> Option<Hook> {
    let of_c = library.is_c(symbol);
    let symbol = symbol.name;
    // `error` and `warn` may be anybody's.
    let is_own = of_c || symbol.contains("printf") || symbol.starts_with("sqlite3_");
    if let Some(printf) = printf::of(symbol).filter(|_| is_own) {
        return Some(Hook::Output(OutputKind::Printf, Family::Printf(printf)));
    }
    if let Some(family) = conversion(symbol).filter(|_| of_c) {
        return Some(Hook::Output(OutputKind::Printf, family));
    }
    if let Some(item) = gfortran::of(symbol) {
        return Some(Hook::Output(OutputKind::Fortran, Family::Fortran(item)));
    }
    if let Some(family) = iostream(symbol) {
        return Some(Hook::Output(OutputKind::Iostream, family));
    }
    if let Some(family) = python(symbol) {
        return Some(Hook::Output(OutputKind::Python, family));
    }
    if let Some(format) = rust(symbol) {
        return Some(Hook::Output(OutputKind::Rust, Family::Pointee(format, 0)));
    }
    let prints = is_rust_print(symbol) || is_complex_insertion(symbol) || is_to_string(symbol);
    prints.then_some(Hook::Prints)
}

/// C's conversions of a single float to text.
fn conversion(symbol: &str) -> Option<Family> {
    let format = match symbol {
        "strfromf" => Format::F32,
        "strfromd" | "gcvt" | "ecvt" | "fcvt" | "ecvt_r" | "fcvt_r" => Format::F64,
        "strfroml" | "qgcvt" | "qecvt" | "qfcvt" | "qecvt_r" | "qfcvt_r" => Format::F80,
        _ => return None,
    };
    Some(Family::Value(format, if format == Format::F64 { Printed::Promoted } else { Printed::AsIs }))
}

/// `operator<<(std::ostream&, const std::complex<T>&)`, which inserts both parts.
fn is_complex_insertion(symbol: &str) -> bool {
    symbol.starts_with("_ZStlsI") && symbol.contains("RKSt7complexI")
}

/// libstdc++'s `std::to_string` of floats, and what is left of it where it is inlined.
fn is_to_string(symbol: &str) -> bool {
    let of_float = |kind| matches!(kind, "f" | "d" | "e");
    symbol.strip_prefix("_ZNSt7__cxx119to_stringE").is_some_and(of_float)
        || symbol.starts_with("_ZN9__gnu_cxx12__to_xstringI")
}

/// libstdc++'s `ostream::operator<<` and `_M_insert`, narrow and wide; libc++'s `operator<<`; `std::to_chars`, which
/// `std::format` and `std::print` are made of.
fn iostream(symbol: &str) -> Option<Family> {
    use Format::{F32, F64, F80};
    use Printed::{AsIs, Promoted};
    let (format, printed) = match symbol {
        "_ZNSolsEf" | "_ZNSt13basic_ostreamIwSt11char_traitsIwEElsEf" => (F32, AsIs),
        "_ZNSolsEd" | "_ZNSt13basic_ostreamIwSt11char_traitsIwEElsEd" => (F64, AsIs),
        "_ZNSolsEe" | "_ZNSt13basic_ostreamIwSt11char_traitsIwEElsEe" => (F80, AsIs),
        "_ZNSo9_M_insertIdEERSoT_" | "_ZNSt13basic_ostreamIwSt11char_traitsIwEE9_M_insertIdEERS2_T_" => {
            (F64, Promoted)
        }
        "_ZNSo9_M_insertIeEERSoT_" | "_ZNSt13basic_ostreamIwSt11char_traitsIwEE9_M_insertIeEERS2_T_" => {
            (F80, AsIs)
        }
        _ => return libcxx(symbol).or_else(|| to_chars(symbol)),
    };
    Some(Family::Value(format, printed))
}

fn libcxx(symbol: &str) -> Option<Family> {
    let rest = symbol.strip_prefix("_ZNSt3__113basic_ostreamI")?;
    let rest = rest.strip_prefix('c').or_else(|| rest.strip_prefix('w'))?;
    let kind = rest.strip_prefix("NS_11char_traitsI")?.get(1..)?.strip_prefix("EEElsE")?;
    Some(Family::Value(format_of(kind)?, Printed::AsIs))
}

fn to_chars(symbol: &str) -> Option<Family> {
    let rest = symbol
        .strip_prefix("_ZSt8to_charsPcS_")
        .or_else(|| symbol.strip_prefix("_ZNSt3__18to_charsEPcS0_"))?;
    let (kind, how) = rest.split_at_checked(1)?;
    let known = how.is_empty() || how.contains("chars_format");
    Some(Family::Value(format_of(kind).filter(|_| known)?, Printed::AsIs))
}

/// The format of a C++ type, mangled.
fn format_of(kind: &str) -> Option<Format> {
    match kind {
        "f" => Some(Format::F32),
        "d" => Some(Format::F64),
        "e" => Some(Format::F80),
        _ => None,
    }
}

/// CPython's `repr`, `str` and formatting of floats all end here; numpy's own in its Dragon4.
fn python(symbol: &str) -> Option<Family> {
    let format = match symbol {
        "PyOS_double_to_string" => return Some(Family::Value(Format::F64, Printed::AsIs)),
        "Dragon4_Positional_Float" | "Dragon4_Scientific_Float" => Format::F32,
        "Dragon4_Positional_Double" | "Dragon4_Scientific_Double" => Format::F64,
        "Dragon4_Positional_LongDouble" | "Dragon4_Scientific_LongDouble" => Format::F80,
        _ => return None,
    };
    Some(Family::Pointee(format, 0))
}

/// `<f64 as core::fmt::Display>::fmt` and its kin, in both manglings.
fn rust(symbol: &str) -> Option<Format> {
    const TRAITS: [&str; 4] = ["Display", "Debug", "LowerExp", "UpperExp"];
    if let Some(rest) = symbol.strip_prefix("_ZN4core3fmt5float") {
        let implements = TRAITS.iter().any(|name| rest.contains(&format!("core..fmt..{name}$u20$for$u20$")));
        return match rest.split_once("$u20$for$u20$f") {
            Some((_, rest)) if implements && rest.starts_with("32$GT$3fmt17h") => Some(Format::F32),
            Some((_, rest)) if implements && rest.starts_with("64$GT$3fmt17h") => Some(Format::F64),
            _ => None,
        };
    }
    let (_, rest) = symbol.strip_prefix("_RNvX")?.split_once("4core3fmt5float")?;
    let (kind, rest) = rest.split_at_checked(1)?;
    let known = TRAITS.iter().any(|name| rest.contains(&format!("{}{name}3fmt", name.len())));
    format_of(kind).filter(|format| known && *format != Format::F80)
}

/// Functions behind `println!`, `format!`, `write!`: the line to name is that of their caller.
fn is_rust_print(symbol: &str) -> bool {
    const LEGACY: [&str; 5] = [
        "_ZN3std2io5stdio6_print17h",
        "_ZN3std2io5stdio7_eprint17h",
        "_ZN5alloc3fmt6format12format_inner17h",
        "_ZN3std2io5Write9write_fmt17h",
        "_ZN4core3fmt5write17h",
    ];
    const V0: [&str; 4] =
        ["3std2io5stdio6__print", "3std2io5stdio7__eprint", "12format_inner", "4core3fmt5write"];
    match symbol.starts_with("_RNv") {
        true => V0.iter().any(|name| symbol.ends_with(name)) || symbol.contains("5Write9write_fmt"),
        false => LEGACY.iter().any(|name| symbol.starts_with(name)),
    }
}

/// The floats of a call, in the order they are formatted, and whether they may have been `float`s.
pub(crate) fn floats(m: &dyn Machine, family: Family) -> Result<(Vec<Float>, Printed), Unmapped> {
    match family {
        Family::Printf(call) => printf::floats(m, call).map(|floats| (floats, Printed::Promoted)),
        Family::Value(format, printed) => abi::float(m, 0, format).map(|float| (vec![float], printed)),
        Family::Pointee(format, number) => {
            let address = abi::integer(m, number.into())?;
            abi::memory(m, address, format).map(|float| (vec![float], Printed::AsIs))
        }
        Family::Fortran(item) => gfortran::floats(m, item).map(|floats| (floats, Printed::AsIs)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Symbols as compilers write them: g++ 12, clang++ with libc++, rustc 1.95 (v0) and 1.70 (legacy).
    #[test]
    fn symbols_of_formatting_functions() {
        let value = |format| Some(Family::Value(format, Printed::AsIs));
        assert_eq!(iostream("_ZNSolsEf"), value(Format::F32));
        assert_eq!(iostream("_ZNSo9_M_insertIeEERSoT_"), value(Format::F80));
        assert_eq!(iostream("_ZNSt3__113basic_ostreamIcNS_11char_traitsIcEEElsEd"), value(Format::F64));
        assert_eq!(iostream("_ZNSt3__113basic_ostreamIwNS_11char_traitsIwEEElsEe"), value(Format::F80));
        assert_eq!(iostream("_ZNSt3__113basic_ostreamIcNS_11char_traitsIcEEElsEi"), None);
        assert_eq!(iostream("_ZSt8to_charsPcS_f"), value(Format::F32));
        assert_eq!(iostream("_ZSt8to_charsPcS_eSt12chars_formati"), value(Format::F80));
        assert_eq!(iostream("_ZSt8to_charsPcS_i"), None);
        let v0 = "_RNvXs7_NtNtCsgEmfK2I1SDS_4core3fmt5floatdNtB7_7Display3fmt";
        assert_eq!(rust(v0), Some(Format::F64));
        assert_eq!(rust(&v0.replace("floatd", "floatf").replace("7Display", "5Debug")), Some(Format::F32));
        assert_eq!(rust("_RINvNtNtCsgEmfK2I1SDS_4core3fmt5float29float_to_decimal_common_exactdEB6_"), None);
        let legacy = "_ZN4core3fmt5float52_$LT$impl$u20$core..fmt..Display$u20$for$u20$f64$GT$3fmt17h0123456789abcdefE";
        assert_eq!(rust(legacy), Some(Format::F64));
        assert_eq!(rust(&legacy.replace("f64", "f32")), Some(Format::F32));
        for print in [
            "_RNvNtNtCsjrHSEGnQ3l9_3std2io5stdio6__print",
            "_RNvNtCsgEmfK2I1SDS_4core3fmt5write",
            "_RNvNvNtCslNYArtu3iFV_5alloc3fmt6format12format_inner",
            "_RNvXsf_NtNtCsjrHSEGnQ3l9_3std2io5stdioRNtB5_6StdoutNtB7_5Write9write_fmt",
            "_ZN3std2io5stdio6_print17h0123456789abcdefE",
        ] {
            assert!(is_rust_print(print), "{print}");
        }
    }
}
