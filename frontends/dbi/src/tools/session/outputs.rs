//! Floats that enter and leave by name or by being printed: what becomes of them in the report.

use super::observer::{Observer, Word};
use super::seeds::{self, Loaded, Place, Purpose, When};
use super::state::State;
use crate::tools::hooks::abi::Float;
use crate::tools::machine::{Machine, Unmapped};
use shadowgrind_core::findings::{Input, Label, Output, OutputKind, Said, Value};
use shadowgrind_core::site::Site;

/// What an output is called and where it left.
#[derive(Clone, Copy)]
pub(super) struct Leaving {
    pub(super) kind: OutputKind,
    pub(super) label: Label,
    pub(super) site: Site,
}

/// An input of which nothing has been seen yet.
pub(super) fn unseeded(spec: &str, seed: f64) -> Input {
    Input { spec: spec.to_owned(), value: None, seed, count: 0 }
}

impl State {
    /// Records an output.
    pub(super) fn output(
        &mut self,
        leaving: Leaving,
        position: usize,
        x: Float,
        promoted: bool,
        observer: &mut dyn Observer,
        m: &mut dyn Machine,
    ) {
        let outputs = &mut self.report.outputs;
        let (value, word) = observer.output(m, outputs.len(), leaving.site, x, promoted);
        let said = match &word {
            Word::Nothing => Said::Nothing,
            Word::Dot(dot) => Said::Dot(*dot),
            Word::Error { real, error_bits, correct_digits } => {
                let (error_bits, correct_digits) = (*error_bits, *correct_digits);
                Said::Error { real: real.as_deref(), error_bits, correct_digits }
            }
        };
        let Leaving { kind, label, site } = leaving;
        let position = u16::try_from(position).unwrap_or(u16::MAX);
        outputs.push(&Output { kind, label, value, site, position, said });
    }

    /// Does the jobs without a function that `wanted` selects.
    pub(super) fn do_all(
        &mut self,
        wanted: impl Fn(&seeds::Job) -> bool,
        observer: &mut dyn Observer,
        m: &mut dyn Machine,
    ) {
        for number in 0..self.jobs.all.len() {
            let job = &self.jobs.all[number];
            if job.when == When::Once && wanted(job) {
                self.do_job(number, Site::NONE, 0, observer, m);
            }
        }
    }

    pub(super) fn do_job(
        &mut self,
        number: usize,
        site: Site,
        address: u64,
        observer: &mut dyn Observer,
        m: &mut dyn Machine,
    ) {
        let job = &self.jobs.all[number];
        let (purpose, floats) = (job.purpose, floats(m, &job.place, &self.loaded, address));
        let Ok(floats) = floats else { return };
        match purpose {
            Purpose::Seed(input, weight) => {
                let input = &mut self.report.inputs[input];
                seed(input, &floats, weight, observer, m);
            }
            Purpose::Sample(spec) => {
                let leaving = Leaving { kind: OutputKind::Spec, label: self.labels[spec], site };
                for (position, x) in floats.into_iter().enumerate() {
                    self.output(leaving, position, x, false, observer, m);
                }
            }
        }
    }

    /// Seeds floats for the input that a request names.
    pub(super) fn seed_named(
        &mut self,
        name: &str,
        floats: &[Float],
        weight: f64,
        observer: &mut dyn Observer,
        m: &mut dyn Machine,
    ) {
        let inputs = &mut self.report.inputs;
        let same = |input: &Input| input.spec == name && input.seed.to_bits() == weight.to_bits();
        let number = inputs.iter().position(same).unwrap_or_else(|| {
            inputs.push(unseeded(name, weight));
            inputs.len() - 1
        });
        seed(&mut inputs[number], floats, weight, observer, m);
    }
}

fn seed(input: &mut Input, floats: &[Float], weight: f64, observer: &mut dyn Observer, m: &mut dyn Machine) {
    for &x in floats {
        input.value.get_or_insert(Value::new(x.format, &x.bits.to_le_bytes()));
        input.count += 1;
        observer.seed(m, x, weight);
    }
}

/// The floats at a place; those of a file that is not loaded are nowhere.
fn floats(
    m: &dyn Machine,
    place: &Place,
    loaded: &[Option<Loaded>],
    address: u64,
) -> Result<Vec<Float>, Unmapped> {
    match place {
        Place::Variable(file, variable) => {
            let loaded = loaded.get(*file).copied().flatten().ok_or(Unmapped)?;
            seeds::variable(m, variable, loaded)
        }
        Place::Spots(spots) => spots.iter().map(|spot| spot.float(m, address)).collect(),
    }
}
