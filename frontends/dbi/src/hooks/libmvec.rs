//! Vector variants of mathematical functions, by their names in the vector function ABI for x86-64:
//! `_ZGV` isa mask lanes parameters `_` name.
//!
//! All parameters are vectors in consecutive registers; masked variants and uniform parameters do not occur in libmvec.

use super::abi;
use super::call::{Argument, Given, Made, Outcome};
use crate::hooks::machine::{Machine, Unmapped};
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;

/// Calling convention of a vector variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Vectors {
    /// Bytes of a register: 16, 32, 64.
    width: u8,
    lanes: u8,
    /// Vectors given, those of pointers included.
    parameters: u8,
    operands: u8,
    format: Format,
    /// `sincos`: results go through two vectors of pointers.
    pointers: bool,
}

/// The calling convention that the name says, and the name of the function it is a variant of.
pub(super) fn of(symbol: &str) -> Option<(Vectors, &str)> {
    let rest = symbol.strip_prefix("_ZGV")?;
    let (isa, rest) = rest.split_at_checked(1)?;
    let width = match isa {
        "b" => 16,
        "c" | "d" => 32,
        "e" => 64,
        _ => return None,
    };
    let rest = rest.strip_prefix('N')?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (lanes, rest) = rest.split_at(digits);
    let (parameters, name) = rest.split_once('_')?;
    let all_vectors = !parameters.is_empty() && parameters.bytes().all(|c| c == b'v');
    let lanes = lanes.parse().ok().filter(|_| all_vectors)?;
    let parameters = parameters.len() as u8;
    // The rest depends on the function.
    Some((Vectors { width, lanes, parameters, operands: 0, format: Format::F64, pointers: false }, name))
}

impl Vectors {
    /// The variant of a function of this format with `operands` operands; nothing if the name does not fit it.
    pub(super) fn for_format(self, format: Format, operands: usize, pointers: bool) -> Option<Vectors> {
        let fits = usize::from(self.width) == usize::from(self.lanes) * format.bytes()
            && usize::from(self.parameters) == operands + 2 * usize::from(pointers);
        fits.then_some(Vectors { format, operands: operands as u8, pointers, ..self })
    }

    /// Bytes of a register, if all there is is in such.
    pub(super) fn plain(self) -> Option<u8> {
        (!self.pointers && self.width < 64).then_some(self.width)
    }

    /// The operands lane by lane: those of the first operation, then those of the second …
    pub(super) fn arguments(&self, m: &dyn Machine, given: &mut Given) {
        for lane in 0..self.lanes.into() {
            for register in 0..self.operands.into() {
                given.arguments.push(Argument::Float(abi::lane(m, register, lane, self.format)));
            }
        }
        if self.pointers {
            given.pointers.extend((0..self.results()).map(|number| self.pointer(m, number)));
        }
    }

    /// Pointer `number` of those after the operands: eight bytes each, in as many registers as that takes.
    fn pointer(&self, m: &dyn Machine, number: usize) -> u64 {
        let in_register = usize::from(self.width) / 8;
        let register = usize::from(self.operands) + number / in_register;
        abi::lane(m, register, number % in_register, Format::F64).bits as u64
    }

    /// Number of results.
    fn results(&self) -> usize {
        usize::from(self.lanes) * if self.pointers { 2 } else { 1 }
    }

    /// Operation `index`, with its result. Lanes of `sincos` come twice: sines, then cosines.
    pub(super) fn outcome(
        &self,
        m: &dyn Machine,
        op: Op,
        pointers: &[u64],
        index: usize,
    ) -> Result<Option<Outcome>, Unmapped> {
        if index >= self.results() {
            return Ok(None);
        }
        let (lanes, count) = (usize::from(self.lanes), usize::from(self.operands));
        let op = if index < lanes { op } else { Op::Cos };
        let result = match self.pointers {
            true => abi::memory(m, pointers[index], self.format)?,
            false => abi::lane(m, 0, index, self.format),
        };
        let made = Made::Float(op, result);
        Ok(Some(Outcome { first: index % lanes * count, count, integer: None, made }))
    }
}
