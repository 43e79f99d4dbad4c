//! Strings of Java, in the memory of HotSpot: the array that has a string's characters.
//!
//! The only pointer to an array of bytes in a string is that to its characters, so its place need not be known. Classes are
//! told by their names. Headers without a word for the class, and pointers that are no addresses, as those of ZGC, are
//! not read.

use super::layout::{Layout, Narrow};
use super::memory::Memory;
use super::{Characters, is_symbol};

/// Bytes of a string that are looked at for the pointer.
const STRING: u64 = 40;
/// Offset of the size of an array's header in the word that tells how objects of its class are laid out.
const ARRAY_HEADER: u64 = 2;
/// Characters that are believed, at most.
const LONGEST: u64 = 1 << 30;

/// Objects of the program.
#[derive(Clone, Copy)]
pub(super) struct Objects<'a> {
    pub(super) layout: &'a Layout,
    pub(super) memory: Memory<'a>,
}

impl Objects<'_> {
    /// The characters of the string at `address`.
    pub(super) fn characters(&self, address: u64) -> Option<Characters> {
        let (_, fields) = self.class(address, b"java/lang/String")?;
        let narrow = (fields..STRING).step_by(4).map(|at| (at, false));
        let wide = (fields.next_multiple_of(8)..STRING).step_by(8).map(|at| (at, true));
        narrow.chain(wide).find_map(|(at, is_wide)| {
            let array = self.pointer(address + at, is_wide, self.layout.objects)?;
            let (klass, length) = self.class(array, b"[B")?;
            let bytes = u64::from(self.memory.u32(array + length)?);
            let header = u64::from(self.memory.u8(klass + self.layout.layout_helper + ARRAY_HEADER)?);
            (bytes < LONGEST).then(|| self.of_elements(array + header, bytes))
        })
    }

    /// The characters of an array with so many bytes at `first`. Numbers have no zeros: where the second byte is one, a
    /// character has two.
    fn of_elements(&self, first: u64, bytes: u64) -> Characters {
        match self.memory.u8(first + 1) {
            Some(0) if bytes > 1 => (first, bytes / 2, 2),
            _ => (first, bytes, 1),
        }
    }

    /// The class of the object at `object`, and the offset of what follows that, if it is the one of this name.
    fn class(&self, object: u64, name: &[u8]) -> Option<(u64, u64)> {
        let at = self.layout.object_klass;
        [false, true].into_iter().find_map(|is_wide| {
            let klass = self.pointer(object.checked_add(at)?, is_wide, self.layout.klasses)?;
            let symbol = self.memory.u64(klass.checked_add(self.layout.klass_name)?)?;
            let is_it = is_symbol(self.layout, symbol, name, self.memory);
            is_it.then_some((klass, at + if is_wide { 8 } else { 4 }))
        })
    }

    /// The pointer at `at`: of eight bytes, or of four with a base and a shift.
    fn pointer(&self, at: u64, is_wide: bool, narrow: Narrow) -> Option<u64> {
        if is_wide {
            return self.memory.u64(at).filter(|&pointer| pointer != 0);
        }
        let short = self.memory.u32(at).filter(|&short| short != 0)?;
        let shifted = u64::from(short).checked_shl(self.memory.u32(narrow.shift)?)?;
        self.memory.u64(narrow.base)?.checked_add(shifted)
    }
}
