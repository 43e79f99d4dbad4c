//! Addresses to functions and lines, inlined callers included.
//!
//! What a compiler's own headers have inlined (intrinsics, the C++ library) is where its user's code is: nobody looks for
//! a fault in `<complex>` or wants to be told that a number was printed by `<ostream>`.

use std::sync::Arc;

use shadowgrind_core::site::{Frame, Place};

use super::debug::{Dwarf, Reader};
use super::demangle::demangle;
use super::symtab::{Symbol, SymbolKind};

/// The line tables of one file, parsed unit by unit as addresses are asked for.
pub(super) struct Lines {
    context: addr2line::Context<Reader>,
}

impl Lines {
    pub(super) fn new(dwarf: Arc<Dwarf>) -> Result<Lines, gimli::Error> {
        addr2line::Context::from_arc_dwarf(dwarf).map(|context| Lines { context })
    }

    /// Fills in what the debug information says about `address`; corrupt information says nothing.
    pub(super) fn describe(&self, address: u64, place: &mut Place) {
        let Ok(mut frames) = self.context.find_frames(address).skip_all_loads() else { return };
        // Nothing has been found yet but what the implementation inlined.
        let mut innermost = true;
        while let Ok(Some(frame)) = frames.next() {
            let function = frame.function.and_then(|name| Some(demangle(&name.raw_name().ok()?)));
            let location = frame.location;
            let file = location.as_ref().and_then(|l| l.file).map(str::to_owned);
            // Line 0 is the compiler's way to say that an instruction belongs to no line.
            let line = location.as_ref().and_then(|l| l.line).filter(|&line| line > 0);
            let within = file.as_deref().is_some_and(is_of_implementation);
            if innermost {
                let column = location.as_ref().and_then(|l| l.column).filter(|&column| column > 0);
                (place.function, place.file, place.line, place.column) = (function, file, line, column);
            } else {
                place.inlined_by.push(Frame { function, file, line });
            }
            innermost &= within;
        }
    }
}

/// Tells whether a source file came with the compiler, as GCC and Clang lay out their headers.
fn is_of_implementation(file: &str) -> bool {
    ["/include/c++/", "/lib/gcc/", "/lib/clang/"].iter().any(|part| file.contains(part))
}

/// Functions by address, for code without debug information.
#[derive(Debug, Default)]
pub(super) struct Functions {
    /// (start, end, name), sorted; end is start where the size is unknown.
    ranges: Vec<(u64, u64, String)>,
}

impl Functions {
    pub(super) fn new<'a>(symbols: impl Iterator<Item = Symbol<'a>>) -> Functions {
        let mut all: Vec<_> = symbols
            .filter(|s| matches!(s.kind, SymbolKind::Function | SymbolKind::Ifunc))
            // Aliases: the exported name is the one people know, then the shortest, then the first of the alphabet.
            .map(|s| {
                (s.address, s.size == 0, !s.global, s.name.len(), s.name, s.address.saturating_add(s.size))
            })
            .collect();
        all.sort_unstable();
        all.dedup_by_key(|s| s.0);
        let ranges =
            all.into_iter().map(|(start, _, _, _, name, end)| (start, end, name.to_owned())).collect();
        Functions { ranges }
    }

    /// The name of the function that holds `address`, demangled.
    pub(super) fn at(&self, address: u64) -> Option<String> {
        let next = self.ranges.partition_point(|(start, ..)| *start <= address);
        let (start, end, name) = self.ranges.get(next.checked_sub(1)?)?;
        // Assembly often gives no size; such a function is taken to reach up to the next.
        (address < *end || start == end).then(|| demangle(name))
    }
}
