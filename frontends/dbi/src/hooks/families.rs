//! The functions that turn floats into text, by symbol, and the floats of a call of one.

use super::Hook;
use super::abi::{self, Float};
use super::gfortran::{self, Item, Statements};
use super::library::Library;
use super::notations::{self, Chosen, Trait};
use super::numpy::{self, Layout};
use super::printf::{self, Formatted, Printf};
use super::runtimes::{self, Runtime};
use crate::hooks::machine::{Machine, Unmapped};
use shadowgrind_core::findings::OutputKind;
use shadowgrind_core::format::Format;
use shadowgrind_symbols::Symbol;

/// Manner in which a function takes the floats it formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    /// As arguments named by a format string.
    Printf(Printf),
    /// One, by value: the first floating-point argument.
    Value(Format),
    /// One, by value, by a stream of libstdc++.
    Stream(Format),
    /// One, by value, by `std::to_chars`.
    ToChars(Format, Chosen),
    /// One, by value, by GNAT.
    Ada(Format),
    /// One, by value, by CPython.
    Python,
    /// One, by address, by numpy.
    Dragon4(Format, Layout),
    /// One, by address, by a trait of Rust's.
    Rust(Format, Trait),
    /// One, by value, by the run-time system of a language.
    Runtime(Runtime),
    /// The items of a Fortran statement.
    Fortran(Item),
    /// One element of an array, by numpy, if it is not just measured.
    Numpy(Layout),
}

impl Family {
    /// Tells whether the function may move its stack: at its beginning, to begin again, and before it returns, so that its
    /// return is not known again. It calls no other that formats floats.
    pub(crate) fn moves_stack(self) -> bool {
        matches!(self, Family::Runtime(Runtime::Go | Runtime::GoPrintln))
    }

    /// Tells whether the function finds the digits with floats of its own, and decides with them.
    pub(crate) fn reckons(self) -> bool {
        self == Family::Runtime(Runtime::GoPrintln)
    }

    /// Tells whether floats are given by value, to a function that calls nobody's code with them. A stream of libstdc++ may
    /// have the program format them.
    pub(crate) fn takes_copies(self) -> bool {
        let is_by_value = matches!(
            self,
            Family::Printf(_) | Family::Value(_) | Family::ToChars(..) | Family::Ada(_) | Family::Python
        );
        is_by_value && !self.moves_stack()
    }

    /// Tells whether the digits that it finds with floats are of no consequence for those.
    pub(crate) fn finds_digits(self) -> bool {
        matches!(self, Family::Numpy(_) | Family::Ada(_))
    }

    /// Tells whether this call writes no text, but asks how long one would be.
    pub(crate) fn only_measures(self, m: &dyn Machine) -> bool {
        matches!(self, Family::Printf(call) if printf::only_measures(m, call))
    }

    /// Part of the paths of scripts that call it to print what others have them print.
    pub(crate) fn package(self) -> Option<&'static str> {
        matches!(self, Family::Numpy(_)).then_some("/numpy/")
    }
}

/// The function that `symbol` is.
pub(super) fn of(symbol: &Symbol<'_>, library: &Library) -> Option<Hook> {
    let of_c = library.is_c(symbol);
    let symbol = symbol.name;
    // `error` and `warn` may be anybody's.
    let is_own = of_c || symbol.contains("printf") || symbol.starts_with("sqlite3_");
    let printf = printf::of(symbol).filter(|_| is_own).map(Family::Printf);
    let of_printf = printf.or_else(|| conversion(symbol).filter(|_| of_c));
    let output = of_printf
        .map(|family| (OutputKind::Printf, family))
        .or_else(|| Some((OutputKind::Fortran, Family::Fortran(gfortran::of(symbol)?))))
        .or_else(|| Some((OutputKind::Iostream, iostream(symbol)?)))
        .or_else(|| Some((OutputKind::Ada, Family::Ada(ada(symbol)?))))
        .or_else(|| is_pascal(symbol).then_some((OutputKind::Pascal, Family::Value(Format::F80))))
        .or_else(|| Some((OutputKind::Python, python(symbol)?)))
        .or_else(|| rust(symbol).map(|(format, how)| (OutputKind::Rust, Family::Rust(format, how))))
        .or_else(|| runtimes::of(symbol).map(|(kind, runtime)| (kind, Family::Runtime(runtime))));
    let prints = || is_rust_print(symbol) || is_complex_insertion(symbol) || is_to_string(symbol);
    match output {
        Some((kind, family)) => Some(Hook::Output(kind, family)),
        None => prints().then_some(Hook::Prints),
    }
}

/// C's conversions of a single float to text.
fn conversion(symbol: &str) -> Option<Family> {
    let format = match symbol {
        "strfromf" => Format::F32,
        "gcvt" | "ecvt" | "fcvt" | "ecvt_r" | "fcvt_r" => Format::F64,
        "strfroml" | "qgcvt" | "qecvt" | "qfcvt" | "qecvt_r" | "qfcvt_r" => Format::F80,
        _ => return None,
    };
    Some(Family::Value(format))
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
    let format = match symbol {
        "_ZNSolsEf" | "_ZNSt13basic_ostreamIwSt11char_traitsIwEElsEf" => F32,
        "_ZNSolsEd" | "_ZNSt13basic_ostreamIwSt11char_traitsIwEElsEd" => F64,
        "_ZNSolsEe" | "_ZNSt13basic_ostreamIwSt11char_traitsIwEElsEe" => F80,
        "_ZNSo9_M_insertIdEERSoT_" | "_ZNSt13basic_ostreamIwSt11char_traitsIwEE9_M_insertIdEERS2_T_" => F64,
        "_ZNSo9_M_insertIeEERSoT_" | "_ZNSt13basic_ostreamIwSt11char_traitsIwEE9_M_insertIeEERS2_T_" => F80,
        _ => return libcxx(symbol).or_else(|| to_chars(symbol)),
    };
    Some(Family::Stream(format))
}

fn libcxx(symbol: &str) -> Option<Family> {
    let rest = symbol.strip_prefix("_ZNSt3__113basic_ostreamI")?;
    let rest = rest.strip_prefix('c').or_else(|| rest.strip_prefix('w'))?;
    let kind = rest.strip_prefix("NS_11char_traitsI")?.get(1..)?.strip_prefix("EEElsE")?;
    Some(Family::Value(format_of(kind)?))
}

fn to_chars(symbol: &str) -> Option<Family> {
    let rest = symbol
        .strip_prefix("_ZSt8to_charsPcS_")
        .or_else(|| symbol.strip_prefix("_ZNSt3__18to_charsEPcS0_"))?;
    let (kind, how) = rest.split_at_checked(1)?;
    let chosen = match how {
        "" => Chosen::Nothing,
        _ if !how.contains("chars_format") => return None,
        _ if how.ends_with('i') => Chosen::Precision,
        _ => Chosen::Style,
    };
    Some(Family::ToChars(format_of(kind)?, chosen))
}

/// The format of a type of C++, D or Rust, mangled.
pub(super) fn format_of(kind: &str) -> Option<Format> {
    match kind {
        "f" => Some(Format::F32),
        "d" => Some(Format::F64),
        "e" => Some(Format::F80),
        _ => None,
    }
}

/// Free Pascal's functions behind `write` and `str`, which take all floats as long doubles.
fn is_pascal(symbol: &str) -> bool {
    matches!(symbol, "fpc_write_text_float" | "fpc_write_text_float_iso" | "fpc_shortstr_float")
}

/// GNAT's function behind `Put` and `'Image` of its floating-point types.
fn ada(symbol: &str) -> Option<Format> {
    ada_type(symbol.strip_prefix("system__img_")?.strip_suffix("__impl__set_image_real")?)
}

/// Format of one of GNAT's floating-point types, from the name that its library has for it.
pub(super) fn ada_type(name: &str) -> Option<Format> {
    match name {
        "flt" => Some(Format::F32),
        "lflt" => Some(Format::F64),
        "llf" => Some(Format::F80),
        _ => None,
    }
}

/// CPython's `repr`, `str` and formatting of floats all end here; numpy's own in its Dragon4.
fn python(symbol: &str) -> Option<Family> {
    if symbol == "PyOS_double_to_string" {
        return Some(Family::Python);
    }
    let (layout, kind) = symbol.strip_prefix("Dragon4_")?.split_once('_')?;
    let layout = match layout {
        "Positional" => Layout::Positional,
        "Scientific" => Layout::Scientific,
        _ => return None,
    };
    let format = match kind {
        "Float" => Format::F32,
        "Double" => Format::F64,
        "LongDouble" => Format::F80,
        _ => return None,
    };
    Some(Family::Dragon4(format, layout))
}

/// `<f64 as core::fmt::Display>::fmt` and its kin, in both manglings.
fn rust(symbol: &str) -> Option<(Format, Trait)> {
    const TRAITS: [(&str, Trait); 4] = [
        ("Display", Trait::Display),
        ("Debug", Trait::Debug),
        ("LowerExp", Trait::LowerExp),
        ("UpperExp", Trait::UpperExp),
    ];
    let found = |is: &dyn Fn(&str) -> bool| TRAITS.iter().find(|(name, _)| is(name)).map(|(_, how)| *how);
    if let Some(rest) = symbol.strip_prefix("_ZN4core3fmt5float") {
        let how = found(&|name| rest.contains(&format!("core..fmt..{name}$u20$for$u20$")))?;
        return match rest.split_once("$u20$for$u20$f")?.1 {
            rest if rest.starts_with("32$GT$3fmt17h") => Some((Format::F32, how)),
            rest if rest.starts_with("64$GT$3fmt17h") => Some((Format::F64, how)),
            _ => None,
        };
    }
    let (_, rest) = symbol.strip_prefix("_RNvX")?.split_once("4core3fmt5float")?;
    let (kind, rest) = rest.split_at_checked(1)?;
    let how = found(&|name| rest.contains(&format!("{}{name}3fmt", name.len())))?;
    format_of(kind).filter(|format| *format != Format::F80).map(|format| (format, how))
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

/// The floats of a call, in the order they are formatted.
pub(crate) fn floats(
    m: &dyn Machine,
    family: Family,
    statements: &mut Statements,
) -> Result<Vec<Formatted>, Unmapped> {
    let one = |(float, notation)| Formatted { float, notation, label: None, string: None };
    let string = if let Family::ToChars(..) = family { Some(abi::integer(m, 0)?) } else { None };
    let value = |format| abi::float(m, 0, format);
    let (float, notation) = match family {
        Family::Printf(call) => return printf::floats(m, call),
        Family::Fortran(item) => return Ok(statements.floats(m, item)?.into_iter().map(one).collect()),
        Family::Numpy(layout) => return Ok(numpy::element(m, layout)?.map(one).into_iter().collect()),
        Family::Value(format) | Family::Ada(format) => (value(format)?, Ok(None)),
        Family::Stream(format) => (value(format)?, notations::stream(m, format)),
        Family::ToChars(format, chosen) => (value(format)?, notations::to_chars(m, format, chosen)),
        Family::Runtime(runtime) => (value(Format::F64)?, runtimes::notation(m, runtime)),
        Family::Python => (value(Format::F64)?, notations::python(m)),
        Family::Dragon4(format, layout) => (pointee(m, format)?, numpy::scalar(m, format, layout)),
        Family::Rust(format, how) => (pointee(m, format)?, notations::rust(m, format, how)),
    };
    Ok(vec![Formatted { string, ..one((float, notation.unwrap_or_default())) }])
}

/// Float that the first argument points to.
fn pointee(m: &dyn Machine, format: Format) -> Result<Float, Unmapped> {
    abi::memory(m, abi::integer(m, 0)?, format)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Symbols as compilers write them: g++ 12, clang++ with libc++, rustc 1.95 (v0) and 1.70 (legacy).
    #[test]
    fn symbols_of_formatting_functions() {
        let value = |format| Some(Family::Value(format));
        let stream = |format| Some(Family::Stream(format));
        let chars = |format, chosen| Some(Family::ToChars(format, chosen));
        assert_eq!(iostream("_ZNSolsEf"), stream(Format::F32));
        assert_eq!(iostream("_ZNSo9_M_insertIeEERSoT_"), stream(Format::F80));
        assert_eq!(iostream("_ZNSt3__113basic_ostreamIcNS_11char_traitsIcEEElsEd"), value(Format::F64));
        assert_eq!(iostream("_ZNSt3__113basic_ostreamIwNS_11char_traitsIwEEElsEe"), value(Format::F80));
        assert_eq!(iostream("_ZNSt3__113basic_ostreamIcNS_11char_traitsIcEEElsEi"), None);
        assert_eq!(iostream("_ZSt8to_charsPcS_f"), chars(Format::F32, Chosen::Nothing));
        assert_eq!(iostream("_ZSt8to_charsPcS_eSt12chars_formati"), chars(Format::F80, Chosen::Precision));
        assert_eq!(iostream("_ZSt8to_charsPcS_i"), None);
        assert_eq!(ada("system__img_flt__impl__set_image_real"), Some(Format::F32));
        assert_eq!(ada("system__img_flt__impl__image_fixed_point"), None);
        let v0 = "_RNvXs7_NtNtCsgEmfK2I1SDS_4core3fmt5floatdNtB7_7Display3fmt";
        assert_eq!(rust(v0), Some((Format::F64, Trait::Display)));
        assert_eq!(
            rust(&v0.replace("floatd", "floatf").replace("7Display", "5Debug")),
            Some((Format::F32, Trait::Debug))
        );
        assert_eq!(rust("_RINvNtNtCsgEmfK2I1SDS_4core3fmt5float29float_to_decimal_common_exactdEB6_"), None);
        let legacy = "_ZN4core3fmt5float52_$LT$impl$u20$core..fmt..Display$u20$for$u20$f64$GT$3fmt17h0123456789abcdefE";
        assert_eq!(rust(legacy), Some((Format::F64, Trait::Display)));
        assert_eq!(rust(&legacy.replace("f64", "f32")), Some((Format::F32, Trait::Display)));
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
