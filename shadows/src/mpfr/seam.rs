//! The reals as a shadow: what a front end asks of them besides the rule.

use shadowgrind_core::findings::{self, Coverage, Finding, OutputShadow, Subject};
use shadowgrind_core::format::Format;
use shadowgrind_core::shadow::{Errors, Leaves, Observed, Policy, Seed, Settings, Shadow, Watch, reach};
use shadowgrind_core::site::Site;
use shadowgrind_core::slots::{Negated, Slots};

use super::{MpfrShadow, Value};
use crate::diagnosis::number::Attributed;
use crate::diagnosis::spots::Left;
use crate::reals::measure;
use crate::reals::real::Real;

/// Number of executions of each operation that are not recorded but seen as they run, so that a report can say how the
/// program came to an error.
const WATCH: Watch = Watch { first: 64, suspicious: 0 };

impl Negated for Real {
    fn negated(&self, format: Format) -> Self {
        self.scaled(format, true, 0)
    }
}

impl Shadow for MpfrShadow {
    const NAME: &'static str = "mpfr";
    const SUMMARY: &'static str = "Reals of high precision: which digits are wrong, and why";
    const NUMBER: u64 = 2;
    const SUBJECT: Subject = Subject::Errors;
    const POLICY: Policy =
        Policy { magic_rounds: true, watch: Some(WATCH), errors: Some(Errors::Reals), ..Policy::BORN };

    type Reach = reach::Recorded;
    type Words = Slots<Value>;

    fn new(settings: &Settings) -> Self {
        MpfrShadow::new(settings.clone())
    }

    fn seed(&mut self, x: Observed<'_, Value>, _seed: Seed) -> Option<Value> {
        self.track(x)
    }

    fn track(&mut self, x: Observed<'_, Value>) -> Option<Value> {
        Some(x.shadow.cloned().unwrap_or_else(|| self.force_track(x.format, x.bits)))
    }

    fn output(&mut self, leaves: &Leaves, x: Observed<'_, Value>) -> (findings::Value, OutputShadow<String>) {
        let own = match x.shadow {
            Some(real) if !leaves.written => real.narrowed(x.format, x.bits),
            _ => (x.format, x.bits),
        };
        if x.shadow.is_none() {
            self.execution.diagnosis.leaves_without(leaves.site, x.format, x.bits);
        }
        let notation = leaves.notation.as_ref();
        let Left { measured, judgement, exact } = self.leaves(Some(leaves.output), &x, notation);
        let said = OutputShadow::Error {
            real: Some(measured.real),
            error_bits: measured.error_bits,
            correct_digits: measured.correct_digits as f32,
            judgement,
            exact,
        };
        (findings::Value::new(own.0, &own.1.to_le_bytes()), said)
    }

    fn real(&self, x: Observed<'_, Value>, digits: usize) -> Option<String> {
        Some(match x.shadow {
            Some(real) if digits > 0 => measure::decimal(&real.value().float(), digits),
            _ => self.real_string(&x),
        })
    }

    fn error_bits(&self, x: Observed<'_, Value>) -> Option<f64> {
        Some(self.measure(&x).error_bits)
    }

    fn noted(&mut self) -> Option<Site> {
        self.execution.diagnosis.take_noted()
    }

    fn noted_first(&mut self) -> Vec<Site> {
        self.execution.diagnosis.take_noted_first()
    }

    fn findings(&mut self) -> Vec<Finding> {
        let mut findings = MpfrShadow::findings(self);
        findings.extend(self.execution.diagnosis.unreached());
        findings
    }

    fn coverage(&self, into: &mut Coverage) {
        into.operations = Some(self.operations());
        into.exhausted = self.exhausted();
        into.unjudged.extend_from_slice(self.execution.diagnosis.unjudged());
        into.gaps.extend(self.execution.diagnosis.lost());
    }

    fn settings(&self) -> findings::Settings {
        let settings = MpfrShadow::settings(self);
        findings::Settings {
            precision: Some(settings.precision),
            error_threshold: Some(settings.error_threshold),
        }
    }
}
