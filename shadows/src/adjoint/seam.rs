//! The tape as a shadow: what a front end asks of it besides the rule.

use super::columns::{Rounding, Statement, Term};
use super::{Active, Adjoint, Component};
use shadowgrind_core::findings::{Answers, Coverage, Gap, OutputShadow, Questions, Subject, Tape, Value};
use shadowgrind_core::numbers::Numbers;
use shadowgrind_core::shadow::{Derivatives, Leaves, Observed, Policy, Seed, Sent, Settings, Shadow, reach};
use shadowgrind_core::site::Site;
use std::time::Instant;

impl Shadow for Adjoint {
    const NAME: &'static str = "adjoint";
    const SUMMARY: &'static str = "Derivatives of outputs with respect to each of many inputs";
    const NUMBER: u64 = 4;
    const SUBJECT: Subject = Subject::Derivatives;
    const POLICY: Policy = Policy {
        decisions: true,
        magic_rounds: true,
        sent: Sent::Lost,
        derivatives: Some(Derivatives::Recorded),
        ..Policy::SEEDED
    };

    type Reach = reach::Appended;
    type Words = Numbers;

    fn new(settings: &Settings) -> Self {
        let adjoint = Adjoint::new(settings.tape_memory, settings.tape_dir.clone());
        Adjoint { budget: settings.budget, ..adjoint }
    }

    fn seed(&mut self, _x: Observed<'_, Active>, seed: Seed) -> Option<Active> {
        self.began.get_or_insert_with(Instant::now);
        let statement = self.tape.input(self.budget.then(Rounding::default))?;
        self.components.push(Component { input: seed.input, weight: seed.weight, statement });
        Some(Active::new(statement))
    }

    fn output(&mut self, leaves: &Leaves, x: Observed<'_, Active>) -> (Value, OutputShadow<String>) {
        self.settle_in();
        if x.shadow.is_some_and(|shadow| shadow.is_bits()) {
            self.lost(leaves.site, Gap::MISMATCH);
        } else if let Some(&active) = x.shadow {
            self.outputs.push((leaves.output, active));
        }
        (x.value(), OutputShadow::Nothing)
    }

    fn number(&mut self, shadow: &Active) -> Option<u64> {
        match *shadow {
            bits if bits.is_bits() => None,
            whole if whole == Active::new(whole.number) => Some(whole.number),
            scaled => self.append_result(&[(scaled.number, scaled.by_result(1.0))]),
        }
    }

    fn numbered(&self, number: u64) -> Option<Active> {
        (number > 0 && number < self.tape.limit()).then(|| Active::new(number))
    }

    fn append_result(&mut self, terms: &[(u64, f64)]) -> Option<u64> {
        let mut statement = Statement::of_nothing(self.budget.then(Rounding::default));
        for &(statement_of_term, partial) in terms {
            statement.add(Term { statement: statement_of_term, partial });
        }
        self.tape.push(&statement)
    }

    fn answers(&mut self, questions: &Questions) -> Option<Answers> {
        self.settle_in();
        let began = Instant::now();
        let record_s = self.began.map_or(0.0, |first| (began - first).as_secs_f64());
        let mut answers = Answers {
            components: vec![0; questions.inputs],
            incomplete: self.tape.failure().map(str::to_owned),
            unknown_roundings: self.budget.then_some(self.unknown_roundings),
            ..Answers::default()
        };
        for component in &self.components {
            answers.components[component.input] += 1;
        }
        if let Err(error) = self.answer(questions, &mut answers) {
            answers.incomplete = Some(error.to_string());
        }
        answers.tape = Tape {
            statements: self.tape.len(),
            values: self.tape.values(),
            bytes: self.tape.bytes(),
            raw_bytes: self.tape.raw_bytes(),
            raw_float_bytes: self.tape.raw_float_bytes(),
            record_s,
            sweep_s: began.elapsed().as_secs_f64(),
        };
        self.tape.discard();
        Some(answers)
    }

    fn coverage(&self, into: &mut Coverage) {
        into.operations = Some(self.tape.len() - self.components.len() as u64);
        let gap =
            |(&(site, why), &count): (&(Site, &str), &u64)| Gap { instruction: why.to_owned(), count, site };
        into.gaps.extend(self.lost.iter().map(gap));
    }
}

impl Adjoint {
    /// Forgets the outputs of the process that this one was forked from: it reports those itself.
    fn settle_in(&mut self) {
        let process = std::process::id();
        if self.process != process {
            self.process = process;
            self.outputs.clear();
        }
    }
}
