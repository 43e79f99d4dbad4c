//! The functions a SPEC means.

use super::demangle;
use super::error::LookupError;
use super::symtab::{Symbol, SymbolKind};
use super::{OpenError, SymbolFile};

/// A function to be watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// The symbol.
    pub symbol: String,
    /// The link-time address; that of the resolver for an IFUNC.
    pub address: u64,
    /// The size in bytes, 0 where unknown.
    pub size: u64,
    /// The address is that of a function which returns the address to call.
    pub is_ifunc: bool,
}

/// Finds the functions called `name` in `file`.
pub(super) fn find(file: &SymbolFile, name: &str) -> Result<Vec<Function>, LookupError> {
    let functions = || {
        let all = file.all_symbols()?;
        let function = |s: &Symbol<'_>| matches!(s.kind, SymbolKind::Function | SymbolKind::Ifunc);
        Ok::<_, OpenError>(all.filter(move |s| function(s) && !demangle::is_part(s.name)))
    };
    for matches in [exact_name, source_name, inner_name] {
        let mut found: Vec<Function> =
            functions()?.filter(|s| matches(s.name, name)).map(Function::from).collect();
        found.sort_by(|a, b| (a.address, &a.symbol).cmp(&(b.address, &b.symbol)));
        found.dedup_by_key(|f| f.address);
        if !found.is_empty() {
            return Ok(found);
        }
    }
    Err(file.unknown("function", name, functions()?.map(|s| demangle::demangle(s.name))))
}

/// Tells whether a function of this symbol, or name of its own, is called `wanted` in the source, with or without scopes.
pub(super) fn is_called(symbol: &str, wanted: &str) -> bool {
    [exact_name, source_name, inner_name].iter().any(|matches| matches(symbol, wanted))
}

/// Tells whether `symbol` is a function that begins at `address`.
pub(super) fn is_at(symbol: &Symbol<'_>, address: u64) -> bool {
    matches!(symbol.kind, SymbolKind::Function | SymbolKind::Ifunc) && symbol.address == address
}

impl From<Symbol<'_>> for Function {
    fn from(symbol: Symbol<'_>) -> Self {
        Function {
            symbol: symbol.name.to_owned(),
            address: symbol.address,
            size: symbol.size,
            is_ifunc: symbol.kind == SymbolKind::Ifunc,
        }
    }
}

/// The symbol itself, or one of the compiler's clones of it.
fn exact_name(symbol: &str, wanted: &str) -> bool {
    symbol == wanted || demangle::original(symbol) == wanted
}

/// The whole name in the source language, or a Fortran procedure outside modules.
fn source_name(symbol: &str, wanted: &str) -> bool {
    let fortran = symbol.strip_suffix('_').is_some_and(|name| name.eq_ignore_ascii_case(wanted));
    fortran || names(symbol, wanted).is_some_and(|(path, last)| path.len() == last.len() && path == last)
}

/// The end of the name in the source language.
fn inner_name(symbol: &str, wanted: &str) -> bool {
    names(symbol, wanted).is_some_and(|(path, wanted)| path.ends_with(&wanted))
}

/// Both names as components; nothing where they cannot be the same, or differ in parameters that were written.
fn names(symbol: &str, wanted: &str) -> Option<(Vec<String>, Vec<String>)> {
    // Fortran's names are lower-case in symbols, and its letter case does not matter.
    let any_case = symbol.contains("_MOD_");
    let folded = |name: &str| if any_case { name.to_lowercase() } else { name.to_owned() };
    let components =
        |name: &str| -> Vec<String> { demangle::components(name).into_iter().map(str::to_owned).collect() };
    let wanted = folded(wanted);
    let path = components(&wanted);
    // Demangling is not cheap: a symbol that does not hold the name's first letters is none of it.
    if !symbol.contains(path.last()?.split(['<', ' ']).next()?) {
        return None;
    }
    let demangled = demangle::with_parameters(symbol);
    let parameters = wanted.ends_with(')') && !wanted.ends_with("operator()");
    (!parameters || demangled.ends_with(&wanted)).then(|| (components(&demangled), path))
}
