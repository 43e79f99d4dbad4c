//! Names as the source language writes them.
//!
//! Parameters are left out: a report shows the line, which tells overloads apart, and a table has no room for them.

use cpp_demangle::{DemangleOptions, Symbol};

/// Suffixes that compilers put after the name of a function they cloned or split.
const CLONES: [&str; 5] = [".constprop.", ".isra.", ".lto_priv.", ".part.", ".cold"];

/// The source language's name of a linker symbol; the symbol itself where none is known.
pub fn demangle(symbol: &str) -> String {
    let symbol = original(symbol);
    rust(symbol)
        .or_else(|| cpp(symbol, false))
        .or_else(|| fortran(symbol))
        .unwrap_or_else(|| symbol.to_owned())
}

/// The source language's name of a linker symbol, with parameters for the languages that overload.
pub(super) fn with_parameters(symbol: &str) -> String {
    let symbol = original(symbol);
    rust(symbol)
        .or_else(|| cpp(symbol, true))
        .or_else(|| fortran(symbol))
        .unwrap_or_else(|| symbol.to_owned())
}

/// The symbol of the function that `symbol` is a clone or part of.
pub(super) fn original(symbol: &str) -> &str {
    let end = CLONES.iter().filter_map(|clone| symbol.find(clone)).min();
    &symbol[..end.unwrap_or(symbol.len())]
}

/// True for a part of a function: entered in its middle, not where it is called.
pub(super) fn is_part(symbol: &str) -> bool {
    symbol.contains(".part.") || symbol.contains(".cold")
}

fn rust(symbol: &str) -> Option<String> {
    // Rust's older scheme is C++'s with a hash in the end; without it the name is C++'s.
    if symbol.starts_with("_Z") && !symbol.contains("17h") {
        return None;
    }
    // The alternate form leaves out the hash, which changes with every compiler.
    rustc_demangle::try_demangle(symbol).ok().map(|name| format!("{name:#}"))
}

fn cpp(symbol: &str, parameters: bool) -> Option<String> {
    if !symbol.starts_with("_Z") {
        return None;
    }
    let options = DemangleOptions::new().no_return_type();
    let options = if parameters { options } else { options.no_params() };
    Symbol::new(symbol).ok()?.demangle_with_options(&options).ok()
}

/// gfortran's `__module_MOD_name`.
fn fortran(symbol: &str) -> Option<String> {
    let (module, name) = symbol.strip_prefix("__")?.split_once("_MOD_")?;
    Some(format!("{module}::{name}"))
}

/// The scopes of a demangled name and the name itself, parameter lists dropped: `f(double)::x` is [f, x].
pub(super) fn components(name: &str) -> Vec<&str> {
    const ANONYMOUS: &str = "(anonymous namespace)";
    let mut parts = Vec::new();
    let (mut start, mut end, mut depth) = (0, None, 0);
    let mut skip = 0;
    for (at, c) in name.char_indices() {
        match c {
            _ if at < skip => {}
            '(' if name[at..].starts_with(ANONYMOUS) => skip = at + ANONYMOUS.len(),
            '(' if depth == 0 && at > start && !name[start..at].ends_with("operator") => {
                end.get_or_insert(at);
                depth += 1;
            }
            '<' | '(' | '{' | '[' => depth += 1,
            '>' | ')' | '}' | ']' => depth = (depth - 1).max(0),
            ':' if depth == 0 && name[at..].starts_with("::") => {
                parts.push(&name[start..end.take().unwrap_or(at)]);
                (start, skip) = (at + 2, at + 2);
            }
            _ => {}
        }
    }
    parts.push(&name[start..end.unwrap_or(name.len())]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language() {
        assert_eq!(demangle("_ZN4phys4stepEdi"), "phys::step");
        assert_eq!(with_parameters("_ZN4phys4stepEdi"), "phys::step(double, int)");
        assert_eq!(demangle("_Z4axpyIdEvT_S0_"), "axpy<double>");
        assert_eq!(demangle("_ZN12_GLOBAL__N_11xE"), "(anonymous namespace)::x");
        assert_eq!(demangle("_ZN7burgers4grid6STATIC17h0123456789abcdefE"), "burgers::grid::STATIC");
        assert_eq!(demangle("_RNvNtCs1234_7burgers4grid6STATIC"), "burgers::grid::STATIC");
        assert_eq!(demangle("__phys_MOD_nu"), "phys::nu");
        assert_eq!(demangle("_ZN4phys4stepEd.isra.0.cold"), "phys::step");
        assert_eq!(demangle("step.constprop.0"), "step");
        assert_eq!(demangle("daxpy_"), "daxpy_");
        assert_eq!(demangle("_Znonsense"), "_Znonsense");
    }

    #[test]
    fn components_of_names() {
        assert_eq!(components("x"), ["x"]);
        assert_eq!(components("ns::C<a::b, 3>::x"), ["ns", "C<a::b, 3>", "x"]);
        assert_eq!(components("f(ns::T, int (*)(int))::x"), ["f", "x"]);
        assert_eq!(components("(anonymous namespace)::f()::x"), ["(anonymous namespace)", "f", "x"]);
        assert_eq!(components("ns::operator()"), ["ns", "operator()"]);
        assert_eq!(components("a::b() const::x"), ["a", "b", "x"]);
        assert_eq!(components("run::{{closure}}::X"), ["run", "{{closure}}", "X"]);
    }
}
