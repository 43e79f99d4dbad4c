//! Floats that enter and leave by name or by being printed: what becomes of them in the report.

use super::known::Known;
use super::observer::Observer;
use super::seeds::{self, Purpose, When};
use super::state::State;
use crate::hooks::abi::Float;
use crate::hooks::machine::Machine;
use shadowgrind_core::findings::{Input, Label, Output, OutputKind, TextNumbers, Value};
use shadowgrind_core::moves::Moves;
use shadowgrind_core::shadow::{Leaves, Location, Seed};
use shadowgrind_core::site::Site;
use shadowgrind_core::spec::Calls;
use shadowgrind_core::text::Notation;

/// Label of an output, and the place where it left.
#[derive(Clone, Copy)]
pub(super) struct Leaving {
    pub(super) kind: OutputKind,
    pub(super) label: Label,
    pub(super) site: Site,
    /// The notation, where that is known.
    pub(super) notation: Option<Notation>,
    /// Address of the string that its text is put into, where that is known.
    pub(super) string: Option<u64>,
}

impl Leaving {
    /// As it is, not as text.
    pub(super) fn new(kind: OutputKind, label: Label, site: Site) -> Leaving {
        Leaving { kind, label, site, notation: None, string: None }
    }
}

/// An input of which nothing has been seen yet.
pub(super) fn unseeded(spec: &str, seed: f64) -> Input {
    let text = TextNumbers::default();
    Input { spec: spec.to_owned(), value: None, seed, count: 0, at_once: 0, largest: None, text }
}

impl State {
    /// Records an output.
    pub(super) fn output(
        &mut self,
        leaving: Leaving,
        position: usize,
        x: Float,
        observer: &mut dyn Observer,
        m: &mut dyn Machine,
    ) {
        let Leaving { kind, label, site, notation, string } = leaving;
        let leaves = Leaves { site, output: self.report.outputs.len(), notation, written: false };
        let is_active = m.cell(x.location, x.format.bytes()) != 0;
        let (value, said) = observer.output(m, &leaves, x);
        let is_text = !matches!(kind, OutputKind::Spec | OutputKind::Mark);
        match notation {
            Some(notation) if is_active => self.own_texts.note(leaves.output, value, notation),
            None if is_active && is_text => self.own_texts.note_digits(value),
            Some(_) if self.leaves_out_unwritten => self.own_texts.note_shadowless(leaves.output),
            _ => {}
        }
        if is_text {
            let kept = observer.keep(m, x);
            let (value, output) = (value.to_f64(), leaves.output);
            let known = Known { value, kept, format: x.format, output, notation, string, position };
            observer.release(&[self.known.note(known)]);
        }
        let position = u16::try_from(position).unwrap_or(u16::MAX);
        let said = said.as_deref();
        self.report.outputs.push(&Output { kind, label, value, site, position, said, notation });
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
                self.do_job(number, Site::NONE, &[], observer, m);
            }
        }
    }

    /// Seeds or samples the floats of a job, if this time is one of those that are wanted. `given` is what the function
    /// was given, if it is done at one.
    pub(super) fn do_job(
        &mut self,
        number: usize,
        site: Site,
        given: &[(usize, u64)],
        observer: &mut dyn Observer,
        m: &mut dyn Machine,
    ) {
        let job = &mut self.jobs.all[number];
        let time = job.met;
        job.met += 1;
        if matches!(&job.calls, Calls::Numbers(numbers) if !numbers.contains(&time)) {
            return;
        }
        let mut floats = match job.place.floats(m, &self.loaded, given) {
            Ok(floats) => floats,
            Err(missed) => return self.missed(number, missed),
        };
        if let Calls::Alike { value, .. } = self.jobs.all[number].calls {
            floats.retain(|x| is_alike(*x, value));
        }
        self.deal(number, floats, (time, site), observer, m);
    }

    /// Seeds or samples `floats` for job `number`, for which that is done for the time `time` (from 0), at `site`.
    pub(super) fn deal(
        &mut self,
        number: usize,
        floats: Vec<Float>,
        (time, site): (u64, Site),
        observer: &mut dyn Observer,
        m: &mut dyn Machine,
    ) {
        match self.jobs.all[number].purpose {
            Purpose::Seed(input, weight) => {
                let seed = Seed { input, weight };
                seed_all(&mut self.report.inputs[input], &floats, seed, &self.moves, observer, m);
                if time == 0 {
                    m.watch(input, &in_memory(&floats));
                }
            }
            Purpose::Sample(spec) => {
                let leaving = Leaving::new(OutputKind::Spec, self.labels[spec], site);
                for (position, x) in floats.into_iter().enumerate() {
                    self.output(leaving, position, x, observer, m);
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
        seed_all(&mut inputs[number], floats, Seed { input: number, weight }, &self.moves, observer, m);
    }
}

/// Gives `floats`, numbers of `input`, their seeds, as far as they are in the direction of this run; first they are moved, if
/// this run is beside the program's point.
pub(super) fn seed_all(
    input: &mut Input,
    floats: &[Float],
    seed: Seed,
    moves: &Moves,
    observer: &mut dyn Observer,
    m: &mut dyn Machine,
) {
    input.at_once = floats.len() as u64;
    for &x in floats {
        input.value.get_or_insert(Value::new(x.format, &x.bits.to_le_bytes()));
        let number = input.count;
        input.count += 1;
        if moves.steps.is_some() {
            let size = Some(x.format.to_f64(x.bits).abs()).filter(|size| size.is_finite());
            input.largest = input.largest.into_iter().chain(size).reduce(f64::max);
        }
        let moved = moves.moved(x.format, x.bits, seed.weight, seed.input, number);
        let x = Float { bits: moved.unwrap_or(x.bits), ..x };
        if moved.is_some() {
            m.set_value(x.location, &x.bits.to_le_bytes()[..x.format.bytes()]);
        }
        let weight = seed.weight * moves.along.factor(seed.input, number);
        observer.seed(m, x, Seed { weight, ..seed });
    }
}

/// Places of the floats that are in memory: address and bytes.
fn in_memory(floats: &[Float]) -> Vec<(u64, u64)> {
    let place = |x: &Float| match x.location {
        Location::Memory(at) => Some((at, x.format.bytes() as u64)),
        Location::State(_) => None,
    };
    floats.iter().filter_map(place).collect()
}

/// Tells whether `x` is the number `value`, as far as its format has it.
fn is_alike(x: Float, value: f64) -> bool {
    let number = x.format.to_f64(x.bits);
    number == x.format.to_f64(x.format.from_f64(value)) || number.is_nan() && value.is_nan()
}
