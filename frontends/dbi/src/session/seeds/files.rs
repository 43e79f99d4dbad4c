//! Files that SPECs are looked up in: the program's own and those of its libraries, or that of one module.
//!
//! Knows how they are numbered; which jobs come of what is found is not its business.

use super::Wanted;
use crate::session::needed::Needed;
use crate::session::places::{NoPlace, Place, Whence};
use crate::session::spec_failure::SpecFailure;
use shadowgrind_core::spec::Callee;
use shadowgrind_symbols::{Function, Lacks, LookupError, OpenError, Signature, SymbolFile};
use std::path::{Path, PathBuf};

/// The program's file, and those of its libraries once something was not found there; or that of one module.
pub(in crate::session) struct Files {
    first: SymbolFile,
    /// The number.
    number: usize,
    needed: Option<Needed>,
}

impl Files {
    pub(super) fn of_program(program: &Path) -> Result<Files, OpenError> {
        Ok(Files { first: SymbolFile::open(program)?, number: 0, needed: None })
    }

    pub(super) fn of_module(module: &Path, number: usize) -> Result<Files, OpenError> {
        Ok(Files { first: SymbolFile::open(module)?, number, needed: Some(Needed::default()) })
    }

    /// Places of what is `wanted` in the functions that `callee` means, each with its function, and the number of the file they are
    /// in.
    pub(super) fn places_in(
        &mut self,
        callee: &Callee,
        wanted: &Wanted,
    ) -> Result<(usize, Vec<(Function, Place)>), SpecFailure> {
        let failed = |error: NoPlace| error.into_failure(&wanted.option);
        let (file, functions) = self.functions(callee).map_err(failed)?;
        let mut places = Vec::new();
        for function in functions {
            let whence = Whence { file, address: function.address, is_ifunc: function.is_ifunc };
            let place = self.place(&wanted.target, Some(whence)).map_err(failed)?;
            places.push((function, place));
        }
        Ok((file, places))
    }

    /// Tells whether there is debug information of all these functions of a file.
    pub(super) fn know(&self, file: usize, functions: &[(Function, Place)]) -> bool {
        let is_known = |function: &Function| {
            let Function { address, is_ifunc, .. } = *function;
            self.signature(Whence { file, address, is_ifunc }).is_some()
        };
        functions.iter().all(|(function, _)| is_known(function))
    }

    /// The signature of a function, if there is debug information of it. Which function an IFUNC is, and so what is known of that, is
    /// not known before the program runs.
    pub(in crate::session) fn signature(&self, whence: Whence) -> Option<Signature> {
        let file = self.get(whence.file);
        whence.described().and_then(|address| file.signature(address))
    }

    fn needed(&mut self) -> &Needed {
        self.needed.get_or_insert_with(|| Needed::by(self.first.path()))
    }

    /// Tells whether modules or programs may come that the program does not need to start.
    pub(super) fn more_may_come(&mut self) -> bool {
        self.needed().more_may_come
    }

    pub(super) fn library_paths(&self) -> impl Iterator<Item = PathBuf> {
        self.needed.iter().flat_map(|needed| &needed.files).map(|file| file.path().to_owned())
    }

    /// The file of this number.
    pub(in crate::session) fn get(&self, number: usize) -> &SymbolFile {
        match &self.needed {
            Some(needed) if number > self.number => &needed.files[number - self.number - 1],
            _ => &self.first,
        }
    }

    /// Result of `look_up` in a file of this number, and the number; failures are the first file's.
    pub(in crate::session) fn find<T>(
        &mut self,
        look_up: impl Fn(usize, &SymbolFile) -> Result<T, LookupError>,
    ) -> Result<(usize, T), LookupError> {
        let first = self.number;
        let unknown = match look_up(first, &self.first) {
            Ok(found) => return Ok((first, found)),
            Err(error @ LookupError::Unknown { .. }) => error,
            Err(error) => return Err(error),
        };
        let mut libraries = (first + 1..).zip(&self.needed().files);
        let found = libraries.find_map(|(number, file)| Some((number, look_up(number, file).ok()?)));
        found.ok_or(unknown)
    }

    /// The functions that `callee` means, and the number of the file they are in.
    pub(super) fn functions(&mut self, callee: &Callee) -> Result<(usize, Vec<Function>), NoPlace> {
        match callee {
            Callee::Named(name) => Ok(self.find(|_, file| file.function(name))?),
            Callee::At { module, offset } => {
                let unknown = |file: &SymbolFile| LookupError::Unknown {
                    what: "module",
                    name: module.clone(),
                    path: file.path().to_owned(),
                    near: Vec::new(),
                    lacks: Lacks::Nothing,
                };
                let (number, function) = self.find(|_, file| match file.path().ends_with(module) {
                    true => Ok(file.function_at(*offset)),
                    false => Err(unknown(file)),
                })?;
                Ok((number, vec![function.ok_or_else(|| NoPlace::NoCode(module.clone()))?]))
            }
        }
    }
}
