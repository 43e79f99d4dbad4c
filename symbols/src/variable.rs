//! The variable a SPEC means: a global or static one, or a function's parameter.
//!
//! Symbols are searched first: they are few and say where a variable is. Debug information says what it is, and knows
//! names that no symbol has. Both are merged by address, and the best match must be the only one.

use std::ops::Range;

use shadowgrind_core::format::Format;
use shadowgrind_core::spec::{End, Selector, Variable as Wanted};

use super::demangle;
use super::dies::Storage;
use super::error::LookupError;
use super::parameter::Scope;
use super::reach::{self, Integer, Memory, Nothing, Step, Unreached};
use super::search::{self, Declared};
use super::select::{self, Floats, Start};
use super::symtab::{Symbol, SymbolKind};
use super::way::Bounds;
use super::{Lacks, SymbolFile};

/// Floats of a program, as its files describe them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// The variable's full name.
    pub name: String,
    /// The storage at which the way to the floats begins; addresses are link-time ones.
    pub storage: Storage,
    /// The format.
    pub format: Format,
    /// The way.
    pub(super) steps: Vec<Step>,
    /// The format is a guess from the size: neither debug information nor the SPEC says it.
    pub guessed: bool,
}

impl Variable {
    /// The addresses of the floats, in memory order, where the way to them begins at `start`.
    pub fn addresses(&self, start: u64, memory: &dyn Memory) -> Result<Vec<u64>, Unreached> {
        reach::walk(&self.steps, start, memory)
    }

    /// Bytes from its storage that its floats are in, if that is known before the program runs.
    pub fn span(&self) -> Option<Range<u64>> {
        let floats = reach::walk(&self.steps, 0, &Nothing).ok()?;
        let (first, last) = (floats.iter().min()?, floats.iter().max()?);
        Some(*first..last + self.format.bytes() as u64)
    }

    /// Tells whether it is one float for sure.
    pub fn is_one(&self) -> bool {
        self.steps.iter().all(Step::is_single)
    }

    /// Tells whether the way to it is through pointers in memory, which the program sets while it runs.
    pub fn is_through_pointers(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, Step::Pointer | Step::Data(_)))
    }

    /// The integers that ranges end at.
    pub fn integers(&self) -> impl Iterator<Item = &Integer> {
        self.steps.iter().filter_map(Step::integer)
    }
}

/// Quality of a name's fit; the smaller the better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    /// The very name, of a variable all files of the link share.
    Global,
    /// The very name.
    Exact,
    /// The name, in some scope that was not written.
    Inner,
}

/// A variable that may be meant.
#[derive(Clone)]
struct Candidate {
    fit: Fit,
    name: String,
    storage: Storage,
    /// Size, from the symbol.
    size: Option<u64>,
    declared: Option<Declared>,
    /// The symbol's own name contains what looks like a member: `count.0`.
    consumed: bool,
}

/// Finds the floats that `wanted` names in `file`: a variable, or first a parameter of the function at `scope`.
pub(super) fn find(file: &SymbolFile, wanted: &Wanted, scope: &Scope<'_>) -> Result<Variable, LookupError> {
    if let Some(parameter) = scope.parameter(wanted)? {
        return Ok(parameter);
    }
    let candidate = only(file, wanted)?;
    floats(file, wanted, candidate, scope)
}

/// The integer variable called `name` that a range ends at.
pub(super) fn integer(file: &SymbolFile, name: &str) -> Result<Integer, LookupError> {
    let (name, path) = (name.to_owned(), vec![name.to_owned()]);
    let Candidate { name, storage, size, declared, .. } =
        only(file, &Wanted { name, path, selectors: Vec::new(), format: None })?;
    let kind = match (declared.and_then(|v| v.kind), file.dies()?) {
        (Some(kind), Some(dies)) => dies.integer(&kind).map_err(|error| file.corrupt(error))?,
        // Without debug information, what is as large as an integer.
        _ => size.and_then(|size| u8::try_from(size).ok()).map(|size| (size, true)),
    };
    match kind {
        Some((bytes @ 1..=8, signed)) => Ok(Integer { storage, bytes, signed }),
        _ => Err(LookupError::NotInteger { name: demangle::demangle(&name) }),
    }
}

/// The one variable that `wanted` names.
fn only(file: &SymbolFile, wanted: &Wanted) -> Result<Candidate, LookupError> {
    let mut candidates = by_symbol(file, wanted)?;
    let declared = declared(file, wanted, &candidates)?;
    for variable in &declared {
        merge(&mut candidates, variable, wanted);
    }
    let best = candidates.iter().map(|c| c.fit).min();
    candidates.retain(|c| Some(c.fit) == best);
    let mut candidate = match candidates.as_slice() {
        [one] => one.clone(),
        [] if !declared.is_empty() => return Err(without_place(&declared, wanted)),
        [] => return Err(unknown(file, wanted)?),
        several => return Err(ambiguous(several, wanted)),
    };
    if candidate.declared.is_none() {
        // Defined where there is no debug information, or copied from a library, but declared where there is.
        candidate.declared =
            declared.into_iter().find(|v| v.storage.is_none() && fit(&v.path, v, wanted).is_some());
    }
    Ok(candidate)
}

/// The floats of an object of which nothing is known but where it is, and its size.
fn untyped(
    name: &str,
    (storage, size): (Storage, Option<u64>),
    wanted: &Wanted,
    bounds: Bounds<'_>,
) -> Result<Floats, LookupError> {
    let size = size.filter(|&size| size > 0);
    let size = size.ok_or_else(|| not_float(wanted, "of unknown size".to_owned()))?;
    let format = wanted.format.map_or_else(|| guess(size, wanted), Ok)?;
    // Fortran counts from 1 unless told otherwise; what it was told is in the debug information.
    let lower = i64::from(name.contains("_MOD_"));
    select::untyped(format, storage, Some(size), lower, wanted, bounds)
}

fn floats(
    file: &SymbolFile,
    wanted: &Wanted,
    candidate: Candidate,
    scope: &Scope<'_>,
) -> Result<Variable, LookupError> {
    let Candidate { name, storage, size, declared, consumed, .. } = candidate;
    let rest = if consumed { &wanted.selectors[1..] } else { &wanted.selectors[..] };
    let wanted = &Wanted { selectors: rest.to_vec(), ..wanted.clone() };
    let kind = declared.and_then(|v| v.kind).filter(|_| wanted.format.is_none());
    let failed = |error| file.corrupt(error);
    let bounds = |end: &End| scope.integer(end);
    let (floats, guessed) = match (kind, file.dies()?) {
        (Some(kind), Some(dies)) => {
            let start = Start { kind, storage, size, bounds: &bounds, is_pointer: false };
            (select::typed(dies, start, wanted, &failed)?, false)
        }
        _ => (untyped(&name, (storage, size), wanted, &bounds)?, wanted.format.is_none()),
    };
    let Floats { format, storage, steps } = floats;
    Ok(Variable { name: demangle::demangle(&name), storage, format, steps, guessed })
}

/// The likeliest format of an object of this size: doubles where they fit.
fn guess(size: u64, wanted: &Wanted) -> Result<Format, LookupError> {
    match size {
        _ if size.is_multiple_of(8) => Ok(Format::F64),
        _ if size.is_multiple_of(4) => Ok(Format::F32),
        _ => Err(not_float(wanted, format!("an object of {size} bytes"))),
    }
}

fn not_float(wanted: &Wanted, kind: String) -> LookupError {
    LookupError::NotFloat { name: wanted.name.clone(), kind }
}

fn by_symbol(file: &SymbolFile, wanted: &Wanted) -> Result<Vec<Candidate>, LookupError> {
    let mut candidates: Vec<Candidate> = Vec::new();
    let names = Names::of(wanted);
    for symbol in file.all_symbols()? {
        let storage = match symbol.kind {
            SymbolKind::Object | SymbolKind::Untyped => Storage::Static(symbol.address),
            SymbolKind::ThreadLocal => Storage::ThreadLocal(symbol.address),
            SymbolKind::Function | SymbolKind::Ifunc => continue,
        };
        let Some((fit, consumed)) = names.fit(&symbol) else { continue };
        // The same variable is in .symtab and .dynsym, and may have aliases.
        match candidates.iter_mut().find(|c| c.storage == storage) {
            Some(known) => known.fit = known.fit.min(fit),
            None => {
                let (name, size) = (symbol.name.to_owned(), Some(symbol.size));
                candidates.push(Candidate { fit, name, storage, size, declared: None, consumed });
            }
        }
    }
    Ok(candidates)
}

/// The symbols a SPEC may stand for.
struct Names<'a> {
    wanted: &'a Wanted,
    /// gfortran's symbol of `module::name`.
    fortran: Option<String>,
    /// `local.2`: a symbol that reads like a member.
    numbered: Option<String>,
}

impl Names<'_> {
    fn of(wanted: &Wanted) -> Names<'_> {
        let fortran = match wanted.path.as_slice() {
            [module, name] => Some(format!("__{}_MOD_{}", module.to_lowercase(), name.to_lowercase())),
            _ => None,
        };
        let numbered = match wanted.selectors.first() {
            Some(Selector::Member(member)) => Some(format!("{}.{member}", wanted.name)),
            _ => None,
        };
        Names { wanted, fortran, numbered }
    }

    /// Quality of the fit of `symbol`, and whether its name takes the first selector.
    fn fit(&self, symbol: &Symbol<'_>) -> Option<(Fit, bool)> {
        let exact = if symbol.global { Fit::Global } else { Fit::Exact };
        let name = Some(symbol.name);
        if name == Some(&self.wanted.name) || name == self.fortran.as_deref() {
            return Some((exact, false));
        }
        if name == self.numbered.as_deref() {
            return Some((exact, true));
        }
        let last = self.wanted.path.last()?;
        if !symbol.name.contains(last.as_str()) {
            return None;
        }
        if !symbol.global && is_static_of_function(symbol.name, &self.wanted.path) {
            return Some((Fit::Inner, false));
        }
        let demangled = demangle::with_parameters(symbol.name);
        let components = demangle::components(&demangled);
        match ends_with(&components, &self.wanted.path, false)? {
            true => Some((exact, false)),
            false => Some((Fit::Inner, false)),
        }
    }
}

/// A static of a C function: gcc numbers it (`x.0`), clang puts the function before it (`f.x`), which is worth knowing
/// since its debug information may lack the function when that was inlined.
fn is_static_of_function(symbol: &str, path: &[String]) -> bool {
    let mut parts = symbol.split('.');
    let first = parts.next();
    match path {
        [name] => {
            first == Some(name) && parts.next().is_some() || first != Some(name) && parts.next() == Some(name)
        }
        [.., function, name] => first == Some(function) && parts.next() == Some(name),
        [] => false,
    }
}

fn declared(
    file: &SymbolFile,
    wanted: &Wanted,
    candidates: &[Candidate],
) -> Result<Vec<Declared>, LookupError> {
    let (Some(dies), None) = (file.dies()?, wanted.format) else { return Ok(Vec::new()) };
    let Some(name) = wanted.path.last() else { return Ok(Vec::new()) };
    // A global symbol leaves only the type to be found.
    let global = candidates.iter().find(|c| c.fit == Fit::Global).map(|c| c.storage);
    let found = search::variables(dies, name, global).map_err(|error| file.corrupt(error))?;
    let at_global = |v: &Declared| global.is_some() && v.storage == global;
    Ok(found.into_iter().filter(|v| fit(&v.path, v, wanted).is_some() || at_global(v)).collect())
}

/// Adds a declared variable to the candidate at its address, or as a new one.
fn merge(candidates: &mut Vec<Candidate>, variable: &Declared, wanted: &Wanted) {
    let Some(storage) = variable.storage else { return };
    let fit = fit(&variable.path, variable, wanted);
    match candidates.iter_mut().find(|c| c.storage == storage) {
        Some(known) => {
            known.fit = fit.map_or(known.fit, |fit| fit.min(known.fit));
            known.declared.get_or_insert_with(|| variable.clone());
        }
        None => candidates.extend(fit.map(|fit| Candidate {
            fit,
            name: variable.path.join("::"),
            storage,
            size: None,
            declared: Some(variable.clone()),
            consumed: false,
        })),
    }
}

fn fit(path: &[String], variable: &Declared, wanted: &Wanted) -> Option<Fit> {
    let whole = match ends_with(path, &wanted.path, variable.fortran) {
        Some(whole) => whole,
        None => {
            // `'solve.c'::nu`, as debuggers write it.
            let (file, rest) = wanted.path.split_first()?;
            let of_file = variable.file == *file || variable.file.ends_with(&format!("/{file}"));
            of_file.then(|| ends_with(path, rest, variable.fortran)).flatten()?
        }
    };
    Some(if whole { Fit::Exact } else { Fit::Inner })
}

/// Tells whether `path` ends in `wanted`, and if so, whether it is all of it.
fn ends_with(path: &[impl AsRef<str>], wanted: &[String], any_case: bool) -> Option<bool> {
    let start = path.len().checked_sub(wanted.len()).filter(|_| !wanted.is_empty())?;
    let same = |(a, b): (&_, &String)| {
        let a: &str = AsRef::as_ref(a);
        a == b || (any_case && a.eq_ignore_ascii_case(b))
    };
    path[start..].iter().zip(wanted).all(same).then_some(start == 0)
}

fn ambiguous(several: &[Candidate], wanted: &Wanted) -> LookupError {
    let mut candidates: Vec<String> = several
        .iter()
        .map(|candidate| match &candidate.declared {
            Some(variable) if variable.path.len() > 1 => variable.path.join("::"),
            Some(variable) => format!("'{}'::{}", variable.file, candidate.name),
            None => demangle::with_parameters(&candidate.name),
        })
        .collect();
    candidates.sort();
    candidates.dedup();
    LookupError::Ambiguous { name: wanted.name.clone(), candidates }
}

/// The error that says why a variable that is declared has no place of its own; for a local one, by which names it is known.
fn without_place(declared: &[Declared], wanted: &Wanted) -> LookupError {
    let locals = declared.iter().filter(|variable| variable.is_local);
    let mut locals: Vec<String> = locals.filter_map(|variable| search::local_name(&variable.path)).collect();
    locals.sort();
    locals.dedup();
    let name = wanted.name.clone();
    if locals.is_empty() { LookupError::NoPlace { name } } else { LookupError::Local { name, locals } }
}

/// The error that says so and suggests.
fn unknown(file: &SymbolFile, wanted: &Wanted) -> Result<LookupError, LookupError> {
    let is_function = |kind| matches!(kind, SymbolKind::Function | SymbolKind::Ifunc);
    if file.all_symbols()?.any(|s| is_function(s.kind) && s.name == wanted.name) {
        return Ok(not_float(wanted, "a function".to_owned()));
    }
    let variables = file.all_symbols()?.filter(|s| !is_function(s.kind)).map(|s| demangle::demangle(s.name));
    let declared = match file.dies()? {
        Some(dies) => search::names(dies).map_err(|error| file.corrupt(error))?,
        None => Vec::new(),
    };
    Ok(file.unknown("variable", &wanted.name, variables.chain(declared)))
}

/// Parts that `file` lacks to know more names.
pub(super) fn lacks(has_debug: bool, has_symbols: bool) -> Lacks {
    match (has_debug, has_symbols) {
        (true, _) => Lacks::Nothing,
        (false, true) => Lacks::Debug,
        (false, false) => Lacks::Symbols,
    }
}
