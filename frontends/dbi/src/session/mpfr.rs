//! What reals make of inputs, outputs and mathematical functions.

use super::observer::{Applied, Kept, Observer, Word, value};
use crate::engine::Lock;
use crate::hooks::abi::{self, Float};
use crate::hooks::machine::Machine;
use crate::runtime::cells::Encoding;
use crate::runtime::reals::{Reals, Tickets};
use shadowgrind_core::findings::{self, Coverage, Finding};
use shadowgrind_core::format::Format;
use shadowgrind_core::shadow::{Lane, Seen, Shadow};
use shadowgrind_core::site::Site;
use shadowgrind_shadows::mpfr::{SpotKind, Value, measure};
use std::sync::Arc;

/// The observer of `--shadow=mpfr`.
pub(crate) struct MpfrObserver {
    reals: Arc<Lock<Reals>>,
    /// Shadows of operands of functions that are under way; what is kept for a call is an index, from 1.
    kept: Vec<Option<Value>>,
    free: Vec<usize>,
}

impl MpfrObserver {
    pub(crate) fn new(reals: Arc<Lock<Reals>>) -> Self {
        MpfrObserver { reals, kept: Vec::new(), free: Vec::new() }
    }

    fn shadow(&self, m: &mut dyn Machine, x: Float) -> Option<Value> {
        let cell = m.cell(x.location, x.format.bytes());
        if cell == 0 {
            return None;
        }
        let slots = &mut self.reals.lock().slots;
        Tickets { slots }.decode(x.format, cell, x.bits)
    }

    fn set(&self, m: &mut dyn Machine, x: Float, shadow: Option<Value>) {
        let slots = &mut self.reals.lock().slots;
        let cell = shadow.map_or(0, |shadow| Tickets { slots }.encode(x.format, x.bits, shadow));
        m.set_cell(x.location, x.format.bytes(), cell);
    }
}

impl Observer for MpfrObserver {
    fn output(
        &mut self,
        m: &mut dyn Machine,
        index: u64,
        site: Site,
        x: Float,
        _promoted: bool,
    ) -> (findings::Value, Word) {
        let shadow = self.shadow(m, x);
        let seen = Seen { format: x.format, bits: x.bits, shadow: shadow.as_ref() };
        let (measured, judgement) =
            self.reals.lock().shadow.leaves(SpotKind::Printed, site, Some(index), seen);
        let own =
            shadow.as_ref().map_or((x.format, x.bits), |real| measure::own_format(x.format, x.bits, real));
        let word = Word::Error {
            real: Some(measured.real),
            error_bits: measured.error_bits,
            correct_digits: measured.correct_digits as f32,
            judgement,
        };
        (value(Float { format: own.0, bits: own.1, ..x }), word)
    }

    fn sent(&mut self, m: &mut dyn Machine, index: u64, site: Site, address: u64) -> Option<(Float, Word)> {
        // A ticket is found for the format and bits that it was given for only.
        let float = |format| {
            let x = abi::memory(m, address, format).ok()?;
            self.shadow(m, x).map(|shadow| (x, shadow))
        };
        let (x, shadow) = [Format::F64, Format::F32, Format::F80].into_iter().find_map(float)?;
        let seen = Seen { format: x.format, bits: x.bits, shadow: Some(&shadow) };
        let (measured, judgement) =
            self.reals.lock().shadow.leaves(SpotKind::Written, site, Some(index), seen);
        let word = Word::Error {
            real: Some(measured.real),
            error_bits: measured.error_bits,
            correct_digits: measured.correct_digits as f32,
            judgement,
        };
        Some((x, word))
    }

    fn seed(&mut self, m: &mut dyn Machine, x: Float, _weight: f64) {
        self.track(m, x);
    }

    fn keep(&mut self, m: &mut dyn Machine, x: Float) -> Kept {
        let Some(shadow) = self.shadow(m, x) else { return Kept::NONE };
        let index = self.free.pop().unwrap_or_else(|| {
            self.kept.push(None);
            self.kept.len() - 1
        });
        self.kept[index] = Some(shadow);
        Kept(index as u64 + 1)
    }

    fn function(&mut self, m: &mut dyn Machine, applied: &Applied<'_>) {
        let shadows: Vec<Option<Value>> = applied
            .kept
            .iter()
            .map(|kept| (kept.0 as usize).checked_sub(1).and_then(|index| self.kept[index].clone()))
            .collect();
        let shadows: Vec<Option<&Value>> = shadows.iter().map(Option::as_ref).collect();
        let format = applied.result.format;
        let lane = Lane {
            site: applied.site,
            op: applied.op,
            from: format,
            to: format,
            x: applied.x,
            r: applied.result.bits,
            shadows: &shadows,
        };
        let [x87, others] = m.rounding();
        let shadow = {
            let rule = &mut self.reals.lock().shadow;
            rule.set_rounding(x87, others);
            rule.op(&lane)
        };
        self.set(m, applied.result, shadow);
    }

    fn release(&mut self, kept: &[Kept]) {
        for kept in kept.iter().filter(|kept| kept.0 != 0) {
            let index = kept.0 as usize - 1;
            if self.kept[index].take().is_some() {
                self.free.push(index);
            }
        }
    }

    fn track(&mut self, m: &mut dyn Machine, x: Float) {
        if self.shadow(m, x).is_none() {
            let shadow = self.reals.lock().shadow.force_track(x.format, x.bits);
            self.set(m, x, Some(shadow));
        }
    }

    fn real(&mut self, m: &mut dyn Machine, x: Float, digits: usize) -> Option<String> {
        let shadow = self.shadow(m, x);
        if let (Some(real), true) = (&shadow, digits > 0) {
            return Some(measure::decimal(&real.value().float(), digits));
        }
        let seen = Seen { format: x.format, bits: x.bits, shadow: shadow.as_ref() };
        Some(self.reals.lock().shadow.real_string(&seen))
    }

    fn error_bits(&mut self, m: &mut dyn Machine, x: Float) -> Option<f64> {
        let shadow = self.shadow(m, x);
        let seen = Seen { format: x.format, bits: x.bits, shadow: shadow.as_ref() };
        Some(self.reals.lock().shadow.measure(&seen).error_bits)
    }

    fn is_shadowed(&mut self, m: &mut dyn Machine, x: Float) -> bool {
        self.shadow(m, x).is_some()
    }

    fn findings(&mut self) -> Vec<Finding> {
        let shadow = &mut self.reals.lock().shadow;
        let mut findings = shadow.findings();
        findings.extend(shadow.unreached());
        findings
    }

    fn coverage(&mut self, into: &mut Coverage) {
        let shadow = &self.reals.lock().shadow;
        into.operations = Some(shadow.operations());
        into.exhausted = shadow.exhausted();
    }

    fn settings(&self) -> findings::Settings {
        let settings = self.reals.lock().shadow.settings();
        findings::Settings {
            precision: Some(settings.precision),
            error_threshold: Some(settings.error_threshold),
        }
    }
}
