//! Derivgrind's requests about indices: numbers that a program has for what a record of the run holds.
//!
//! With them a program makes results of its own, inputs and outputs among them. An index of Derivgrind's says nothing of the
//! format of the float that it belongs to, nor do the requests: it is found by the value that the index was made with.

use super::answers::Asked;
use super::outputs::unseeded;
use crate::hooks::abi::{self, Float};
use crate::hooks::machine::{Machine, Unmapped, read_u64};
use shadowgrind_core::findings::{Output, OutputKind, OutputShadow};
use shadowgrind_core::format::Format;
use shadowgrind_core::shadow::{Leaves, Seed};

/// Names of the files in which Derivgrind lists indices: here, of the inputs and outputs that are listed there.
const FILES: [&str; 2] = ["dg-input-indices", "dg-output-indices"];

/// Formats that an index may belong to, in the order they are tried.
const FORMATS: [Format; 3] = [Format::F64, Format::F32, Format::F80];

/// Index of what depends on no input.
const NOTHING: u64 = 0;
/// Index of an output that depends on no input: other than 0, and no number of a record.
const CONSTANT: u64 = 1 << 52;

/// Addresses of what a new result is made of.
struct Made {
    indices: [u64; 2],
    partials: [u64; 2],
    new: u64,
    /// 0 if the value is not told.
    value: u64,
}

impl Made {
    /// Indices that the result is made of, and its partial derivatives by them.
    fn terms(&self, m: &dyn Machine) -> Result<Vec<(u64, f64)>, Unmapped> {
        let term = |(&index, &partial)| Ok((read_u64(m, index)?, f64::from_bits(read_u64(m, partial)?)));
        self.indices.iter().zip(&self.partials).map(term).collect()
    }
}

impl Asked<'_> {
    /// Writes the index of the float at `at` to `into`.
    pub(super) fn get_index(&mut self, at: u64, into: u64) -> Result<u64, Unmapped> {
        let mut index = NOTHING;
        for format in FORMATS {
            let Ok(x) = abi::memory(self.m, at, format) else { continue };
            if let Some(number) = self.observer.number(self.m, x) {
                index = number;
                break;
            }
        }
        self.m.write(into, &index.to_le_bytes())?;
        Ok(1)
    }

    /// Gives the float at `at` the index at `from`.
    pub(super) fn set_index(&mut self, at: u64, from: u64) -> Result<u64, Unmapped> {
        let index = read_u64(self.m, from)?;
        let x = self.float_of(at, index)?;
        self.observer.set_number(self.m, x, index);
        Ok(1)
    }

    /// The float at `at` that has the value of `index`; a double if that is not known, or none has it.
    fn float_of(&self, at: u64, index: u64) -> Result<Float, Unmapped> {
        let float = |format| abi::memory(self.m, at, format);
        let value = self.state.indices.get(&index);
        let is_it = |x: &Float| value.is_some_and(|value| x.value().to_f64().to_bits() == value.to_bits());
        let found = FORMATS.into_iter().find_map(|format| float(format).ok().filter(is_it));
        found.map_or_else(|| float(Format::F64), Ok)
    }

    /// Makes a result of two others. If it depends on nothing and `always` has an index, it is a component of the inputs when
    /// no partial derivative is given either, and a constant otherwise.
    pub(super) fn new_index(&mut self, always: bool) -> Result<u64, Unmapped> {
        let made = self.made()?;
        let value = if made.value == 0 { f64::NAN } else { f64::from_bits(read_u64(self.m, made.value)?) };
        let mut terms = made.terms(self.m)?;
        let is_input = terms.iter().all(|&(_, partial)| partial == 0.0);
        terms.retain(|&(index, _)| index != NOTHING && index != CONSTANT);
        let index = match (terms.is_empty(), always) {
            (false, _) => self.observer.append_result(&terms).unwrap_or(NOTHING),
            (true, false) => NOTHING,
            (true, true) if is_input => self.new_component(value).unwrap_or(NOTHING),
            (true, true) => CONSTANT,
        };
        if always {
            self.state.indices.insert(index, value);
        }
        self.m.write(made.new, &index.to_le_bytes())?;
        Ok(1)
    }

    /// Parts of a new result: older programs pass five addresses, later ones one of all six.
    fn made(&self) -> Result<Made, Unmapped> {
        let [_, first, second, third, fourth, fifth] = self.words;
        if second != 0 {
            let (indices, partials) = ([first, second], [third, fourth]);
            return Ok(Made { indices, partials, new: fifth, value: 0 });
        }
        let word = |i: u64| read_u64(self.m, first.wrapping_add(8 * i));
        let (indices, partials) = ([word(0)?, word(1)?], [word(2)?, word(3)?]);
        Ok(Made { indices, partials, new: word(4)?, value: word(5)? })
    }

    fn new_component(&mut self, value: f64) -> Option<u64> {
        let inputs = &mut self.state.report.inputs;
        let number = inputs.iter().position(|input| input.spec == FILES[0]).unwrap_or_else(|| {
            inputs.push(unseeded(FILES[0], 1.0));
            inputs.len() - 1
        });
        let input = &mut inputs[number];
        input.value.get_or_insert(value.into());
        (input.count, input.at_once) = (input.count + 1, 1);
        self.observer.component(value, Seed { input: number, weight: 1.0 })
    }

    /// Lists an index among the inputs, where its component is already, or the outputs.
    pub(super) fn name_index(&mut self, file: u64, at: u64) -> Result<u64, Unmapped> {
        const OUTPUTS: u64 = 1;
        let index = read_u64(self.m, at)?;
        if file != OUTPUTS || self.calls.is_disabled() {
            return Ok(1);
        }
        let value = self.state.indices.get(&index).copied().unwrap_or(f64::NAN);
        let outputs = &mut self.state.report.outputs;
        let (kind, label, site) = (OutputKind::Mark, outputs.label(FILES[1]), self.site);
        let leaves = Leaves { site, output: outputs.len(), notation: None, written: false };
        self.observer.output_number(&leaves, index, value);
        let said = OutputShadow::Nothing;
        let value = value.into();
        outputs.push(&Output { kind, label, value, site, position: 0, said, notation: None });
        Ok(1)
    }
}
