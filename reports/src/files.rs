//! Names of places from the files themselves: modules and sources, each opened once.

use std::fs;
use std::path::Path;

use hashbrown::HashMap;
use shadowgrind_core::site::{Module, Place};

use crate::document::Symbols;
use shadowgrind_symbols::SymbolFile;

/// A source file beyond this size is not one that people read.
const LARGEST_SOURCE: u64 = 16 << 20;

/// Symbols read from the modules' files when they are first asked for.
#[derive(Default)]
pub struct Files {
    modules: HashMap<Module, Option<SymbolFile>>,
    sources: HashMap<String, Vec<String>>,
}

impl Files {
    /// No file is open yet.
    pub fn new() -> Files {
        Files::default()
    }
}

impl Symbols for Files {
    fn place(&mut self, module: &Module, offset: u64) -> Place {
        let file = self.modules.entry_ref(module).or_insert_with(|| open(module));
        let place = file.as_ref().map(|file| file.place(offset));
        // The path is the module's in any case: the file may have been found by another.
        Place { module: Some(module.path.clone()), offset: Some(offset), ..place.unwrap_or_default() }
    }

    fn source_line(&mut self, file: &str, line: u32) -> Option<String> {
        let lines = self.sources.entry_ref(file).or_insert_with(|| read(file).unwrap_or_default());
        lines.get((line as usize).checked_sub(1)?).cloned()
    }
}

/// The module's file, if it is the one that was mapped: names from another build would be wrong.
fn open(module: &Module) -> Option<SymbolFile> {
    if module.path.starts_with('[') {
        return None;
    }
    let file = SymbolFile::open(Path::new(&module.path)).ok()?;
    let same = module.build_id.is_none() || module.build_id == file.build_id();
    same.then_some(file)
}

fn read(file: &str) -> Option<Vec<String>> {
    let meta = fs::metadata(file).ok()?;
    if !meta.is_file() || meta.len() > LARGEST_SOURCE {
        return None;
    }
    let text = fs::read(file).ok()?;
    Some(String::from_utf8_lossy(&text).lines().map(str::to_owned).collect())
}
