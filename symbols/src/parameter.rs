//! Names of a function's parameters, and the floats they lead to.
//!
//! Where the calling convention puts a parameter is not known here: it is told from others by its number.

use std::rc::Rc;

use shadowgrind_core::format::Format;
use shadowgrind_core::spec::{End, Selector, Variable as Wanted};

use super::SymbolFile;
use super::dies::{At, Dies, Holder, Storage};
use super::error::LookupError;
use super::reach::Integer;
use super::select::{self, Floats, Start};
use super::signature;
use super::types::Type;
use super::variable::{self, Variable};

/// Scope in which names of parameters mean something: a function, or nowhere.
pub(super) struct Scope<'a> {
    file: &'a SymbolFile,
    /// True if there is a function.
    is_function: bool,
    parameters: Vec<Parameter<'a>>,
}

/// A parameter of a function with debug information.
struct Parameter<'a> {
    dies: &'a Dies,
    name: Option<String>,
    /// The type; what it points to, if it is passed by reference and its language does not say so.
    kind: At,
    by_reference: bool,
    artificial: bool,
    number: usize,
}

impl<'a> Scope<'a> {
    /// No function.
    pub(super) fn none(file: &'a SymbolFile) -> Scope<'a> {
        Scope { file, is_function: false, parameters: Vec::new() }
    }

    /// The function at `address` of `file`.
    pub(super) fn function(file: &'a SymbolFile, address: u64) -> Result<Scope<'a>, LookupError> {
        let mut scope = Scope { is_function: true, ..Scope::none(file) };
        let Some(dies) = file.dies()? else { return Ok(scope) };
        let failed = |error| file.corrupt(error);
        let Some(at) = signature::subprogram(dies, address).map_err(failed)? else { return Ok(scope) };
        scope.parameters = parameters(dies, &at).map_err(failed)?;
        Ok(scope)
    }

    /// The floats that `wanted` names by way of a parameter; nothing if no parameter is called so.
    pub(super) fn parameter(&self, wanted: &Wanted) -> Result<Option<Variable>, LookupError> {
        let [name] = wanted.path.as_slice() else { return Ok(None) };
        let Some(parameter) = self.named(name) else { return Ok(None) };
        self.floats(parameter, wanted).map(Some)
    }

    /// The floats that argument `number`, from 1, points to, those that `selectors` choose. Without debug information
    /// they are of `format`, or doubles.
    pub(super) fn pointee(
        &self,
        number: u32,
        selectors: &[Selector],
        format: Option<Format>,
    ) -> Result<Variable, LookupError> {
        let name = format!("#*{number}");
        let mut wanted =
            Wanted { name: name.clone(), path: Vec::new(), selectors: selectors.to_vec(), format };
        if self.parameters.is_empty() || format.is_some() {
            return self.untyped_pointee(number, &wanted);
        }
        let mut own = self.parameters.iter().filter(|parameter| !parameter.artificial);
        let count = own.clone().count();
        let parameter = own.nth(number as usize - 1).ok_or(LookupError::Arguments { count })?;
        let leads_on = parameter.by_reference || parameter.is_pointer(self.file)?;
        if !leads_on {
            return Err(LookupError::NoPointer { name });
        }
        if selectors.is_empty() && !parameter.by_reference {
            wanted.selectors.push(Selector::Pointee);
        }
        self.floats(parameter, &wanted)
    }

    fn untyped_pointee(&self, number: u32, wanted: &Wanted) -> Result<Variable, LookupError> {
        let format = wanted.format.unwrap_or(Format::F64);
        let storage = Storage::Through(Holder::Parameter(number as usize - 1));
        let one = wanted.selectors.is_empty().then_some(select::part_stride(format));
        let bounds = |end: &End| self.integer(end);
        let Floats { format, storage, steps } = select::untyped(format, storage, one, 0, wanted, &bounds)?;
        Ok(Variable { name: wanted.name.clone(), storage, format, steps, guessed: wanted.format.is_none() })
    }

    fn floats(&self, parameter: &Parameter<'_>, wanted: &Wanted) -> Result<Variable, LookupError> {
        let dies = parameter.dies;
        let failed = |error| self.file.corrupt(error);
        let mut kind = parameter.kind.clone();
        // In Fortran, an array without subscripts is the address of its first element.
        if parameter.by_reference
            && wanted.selectors.is_empty()
            && let Type::Array(array) = dies.resolve(&kind).map_err(failed)?
        {
            kind = array.element;
        }
        let bounds = |end: &End| self.integer(end);
        let start =
            Start { kind, storage: parameter.storage(), size: None, bounds: &bounds, is_pointer: false };
        let Floats { format, storage, steps } = select::typed(dies, start, wanted, &failed)?;
        Ok(Variable { name: wanted.name.clone(), storage, format, steps, guessed: false })
    }

    /// The integer that a range ends at.
    pub(super) fn integer(&self, end: &End) -> Result<Integer, LookupError> {
        let found = match end {
            End::Index(_) => None,
            End::Variable(name) => match self.named(name) {
                Some(parameter) => Some(parameter),
                None => return variable::integer(self.file, name),
            },
            End::Argument(_) if !self.is_function => None,
            End::Argument(number) => {
                let mut own = self.parameters.iter().filter(|parameter| !parameter.artificial);
                match own.nth(*number as usize - 1) {
                    Some(parameter) => Some(parameter),
                    None if self.parameters.is_empty() => {
                        let storage = Storage::Value(Holder::Parameter(*number as usize - 1));
                        return Ok(Integer { storage, bytes: 8, signed: true });
                    }
                    None => return Err(LookupError::Arguments { count: self.parameters.len() }),
                }
            }
        };
        let name = match end {
            End::Index(index) => index.to_string(),
            End::Variable(name) => name.clone(),
            End::Argument(number) => format!("#{number}"),
        };
        let not_integer = LookupError::NotInteger { name };
        let Some(parameter) = found else { return Err(not_integer) };
        let kind = parameter.dies.integer(&parameter.kind).map_err(|error| self.file.corrupt(error))?;
        match kind {
            Some((bytes @ 1..=8, signed)) => Ok(Integer { storage: parameter.storage(), bytes, signed }),
            _ => Err(not_integer),
        }
    }

    fn named(&self, name: &str) -> Option<&Parameter<'a>> {
        self.parameters.iter().find(|parameter| {
            let own = parameter.name.as_deref();
            own == Some(name)
                || parameter.by_reference && own.is_some_and(|own| own.eq_ignore_ascii_case(name))
        })
    }
}

impl Parameter<'_> {
    fn storage(&self) -> Storage {
        let holder = Holder::Parameter(self.number);
        if self.by_reference { Storage::Through(holder) } else { Storage::Value(holder) }
    }

    fn is_pointer(&self, file: &SymbolFile) -> Result<bool, LookupError> {
        let kind = self.dies.resolve(&self.kind).map_err(|error| file.corrupt(error))?;
        Ok(matches!(kind, Type::Pointer(_) | Type::Reference(_)))
    }
}

fn parameters<'a>(dies: &'a Dies, function: &At) -> Result<Vec<Parameter<'a>>, gimli::Error> {
    let fortran = dies.is_fortran(&function.unit)?;
    let mut all = Vec::new();
    for child in dies.children(function)? {
        if child.tag() != gimli::DW_TAG_formal_parameter {
            continue;
        }
        let at = At { unit: Rc::clone(&function.unit), offset: child.offset() };
        let Some(kind) = dies.kind(&at)? else { continue };
        let is_pointer = matches!(dies.resolve(&kind)?, Type::Pointer(_) | Type::Reference(_));
        let by_reference = fortran && !is_pointer && !signature::is_in_register(dies, function, &child)?;
        let artificial = !fortran && signature::is_artificial(dies, function, &child)?;
        let (name, number) = (dies.name(&at)?, all.len());
        all.push(Parameter { dies, name, kind, by_reference, artificial, number });
    }
    Ok(all)
}
