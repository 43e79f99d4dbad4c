//! Inputs, outputs and mathematical functions under any shadow: its rule and words, met with a stopped thread.

use super::carried::{Shared, lock_caught_up};
use crate::hooks::abi::{self, Float};
use crate::hooks::machine::Machine;
use crate::session::observer::{LibraryCall, Observer, SavedShadow};
use shadowgrind_core::findings::{self, Answers, Coverage, Finding, OutputShadow, Questions};
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;
use shadowgrind_core::shadow::{Lane, Leaves, Observed, Seed, Shadow, Traced};
use shadowgrind_core::site::Site;
use shadowgrind_core::step::ToInteger;
use shadowgrind_core::words::Words;

/// Relative distance of two derivatives that are the same but for roundings: a few units in the last place.
const ROUNDED: f64 = 4.0 * f64::EPSILON;

/// The observer of shadow `S`.
pub(crate) struct Observing<S: Shadow> {
    carried: Shared<S>,
    /// Shadows of operands of functions that are under way; what is kept for a call is an index, from 1.
    kept: Vec<Option<S::Value>>,
    free: Vec<usize>,
}

impl<S: Shadow> Observing<S> {
    pub(crate) fn new(carried: Shared<S>) -> Self {
        Observing { carried, kept: Vec::new(), free: Vec::new() }
    }

    fn shadow(&self, m: &mut dyn Machine, x: Float) -> Option<S::Value> {
        let cell = m.cell(x.location, x.format.bytes());
        if cell == 0 {
            return None;
        }
        lock_caught_up(&self.carried).words.decode(x.format, cell, x.bits)
    }

    fn set(&self, m: &mut dyn Machine, x: Float, shadow: Option<S::Value>) {
        let encode = |shadow| lock_caught_up(&self.carried).words.encode(x.format, x.bits, shadow);
        m.set_cell(x.location, x.format.bytes(), shadow.map_or(0, encode));
    }

    fn keep_shadow(&mut self, shadow: S::Value) -> SavedShadow {
        let index = self.free.pop().unwrap_or_else(|| {
            self.kept.push(None);
            self.kept.len() - 1
        });
        self.kept[index] = Some(shadow);
        SavedShadow(index as u64 + 1)
    }

    /// Puts beside `x` what `make` makes of it and its present shadow.
    fn replace(
        &self,
        m: &mut dyn Machine,
        x: Float,
        make: impl FnOnce(&mut S, Observed<'_, S::Value>) -> Option<S::Value>,
    ) {
        let before = self.shadow(m, x);
        let shadow = make(&mut lock_caught_up(&self.carried).shadow, seen(x, before.as_ref()));
        self.set(m, x, shadow);
    }

    /// The float at `address` of the first format in which there is one with a shadow.
    fn float(&self, m: &mut dyn Machine, address: u64) -> Option<(Float, S::Value)> {
        // A handle is found for the format and bits that it was given for only.
        [Format::F64, Format::F32, Format::F80].into_iter().find_map(|format| {
            let x = abi::memory(m, address, format).ok()?;
            self.shadow(m, x).map(|shadow| (x, shadow))
        })
    }

    fn index(kept: SavedShadow) -> Option<usize> {
        (kept.0 as usize).checked_sub(1)
    }
}

/// A float with its shadow.
fn seen<V>(x: Float, shadow: Option<&V>) -> Observed<'_, V> {
    Observed { format: x.format, bits: x.bits, shadow }
}

/// A double that is nowhere, with its shadow.
fn double<V>(value: f64, shadow: Option<&V>) -> Observed<'_, V> {
    Observed { format: Format::F64, bits: value.to_bits().into(), shadow }
}

impl<S: Shadow> Observer for Observing<S> {
    fn output(
        &mut self,
        m: &mut dyn Machine,
        leaves: &Leaves,
        x: Float,
    ) -> (findings::Value, OutputShadow<String>) {
        let shadow = self.shadow(m, x);
        let carried = &mut *lock_caught_up(&self.carried);
        if m.has_underflowed() {
            carried.shadow.underflowed(leaves.site);
        }
        if shadow.is_none() {
            let cell = m.cell(x.location, x.format.bytes());
            if cell != 0 && carried.words.is_any(cell as u32) {
                carried.shadow.mismatch(leaves.site);
            }
        }
        carried.shadow.output(leaves, seen(x, shadow.as_ref()))
    }

    fn sent(
        &mut self,
        m: &mut dyn Machine,
        output: u64,
        site: Site,
        address: u64,
    ) -> Option<(Float, OutputShadow<String>)> {
        let (x, shadow) = self.float(m, address)?;
        let leaves = Leaves { site, output, notation: None, written: true };
        let (_, said) = lock_caught_up(&self.carried).shadow.output(&leaves, seen(x, Some(&shadow)));
        Some((x, said))
    }

    fn seed(&mut self, m: &mut dyn Machine, x: Float, seed: Seed) {
        self.replace(m, x, |shadow, x| shadow.seed(x, seed));
    }

    fn keep(&mut self, m: &mut dyn Machine, x: Float) -> SavedShadow {
        self.shadow(m, x).map_or(SavedShadow::NONE, |shadow| self.keep_shadow(shadow))
    }

    fn put_back(&mut self, m: &mut dyn Machine, x: Float, kept: SavedShadow) {
        let Some(index) = Self::index(kept) else { return };
        if let Some(shadow) = self.kept[index].take() {
            self.free.push(index);
            self.set(m, x, Some(shadow));
        }
    }

    fn give(&mut self, m: &mut dyn Machine, x: Float, kept: SavedShadow) {
        let shadow = Self::index(kept).and_then(|index| self.kept[index].clone());
        self.set(m, x, shadow);
    }

    fn keep_cell(&mut self, format: Format, bits: u128, cell: u128) -> SavedShadow {
        let shadow = lock_caught_up(&self.carried).words.decode(format, cell, bits);
        shadow.map_or(SavedShadow::NONE, |shadow| self.keep_shadow(shadow))
    }

    fn keeps_alike(&mut self, a: SavedShadow, b: SavedShadow) -> bool {
        let [Some(a), Some(b)] =
            [a, b].map(|kept| Self::index(kept).and_then(|index| self.kept[index].as_ref()))
        else {
            return false;
        };
        let shadow = &mut lock_caught_up(&self.carried).shadow;
        let mut said = |value| {
            let real = shadow.real(double(0.0, Some(value)), 0);
            (shadow.derivative(Some(value)), (shadow.number(value), real))
        };
        let ((a, of_a), (b, of_b)) = (said(a), said(b));
        // A derivative that was carried in halves is rounded once more.
        let is_near = |a: f64, b: f64| a.to_bits() == b.to_bits() || (a - b).abs() <= ROUNDED * a.abs();
        of_a == of_b && a.zip(b).map_or(a.is_none() && b.is_none(), |(a, b)| is_near(a, b))
    }

    fn kept_error(&mut self, (format, bits): (Format, u128), kept: SavedShadow) -> Option<f64> {
        let shadow = Self::index(kept).and_then(|index| self.kept[index].as_ref());
        lock_caught_up(&self.carried).shadow.error_bits(Observed { format, bits, shadow })
    }

    fn output_kept(
        &mut self,
        m: &mut dyn Machine,
        leaves: &Leaves,
        (format, bits): (Format, u128),
        (kept, is_negated): (SavedShadow, bool),
    ) -> (findings::Value, OutputShadow<String>) {
        let shadow = Self::index(kept).and_then(|index| self.kept[index].as_ref());
        let carried = &mut *lock_caught_up(&self.carried);
        if m.has_underflowed() {
            carried.shadow.underflowed(leaves.site);
        }
        if !is_negated {
            return carried.shadow.output(leaves, Observed { format, bits, shadow });
        }
        let r = bits ^ 1 << (format.width() - 1);
        let (site, op) = (leaves.site, Op::Neg);
        let lane = Lane { site, op, from: format, to: format, x: &[bits], r, shadows: &[shadow] };
        let negated = carried.shadow.op(&lane);
        carried.shadow.output(leaves, Observed { format, bits: r, shadow: negated.as_ref() })
    }

    /// Of operands without shadows every function makes results without, if shadows are not born of such, however it
    /// goes about it: most calls need not return here.
    fn wraps(&mut self, kept: &[SavedShadow]) -> bool {
        S::POLICY.is_born || kept.iter().any(|&kept| kept != SavedShadow::NONE)
    }

    fn function(&mut self, m: &mut dyn Machine, applied: &LibraryCall<'_>) {
        let format = applied.result.format;
        let shadows: Vec<Option<&S::Value>> = applied
            .kept
            .iter()
            .map(|&kept| Self::index(kept).and_then(|index| self.kept[index].as_ref()))
            .collect();
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
            let rule = &mut lock_caught_up(&self.carried).shadow;
            rule.set_rounding(x87, others);
            rule.op(&lane)
        };
        self.set(m, applied.result, shadow);
    }

    fn converted(
        &mut self,
        m: &dyn Machine,
        site: Site,
        how: ToInteger,
        (format, bits): (Format, u128),
        kept: SavedShadow,
    ) {
        let shadow = Self::index(kept).and_then(|index| self.kept[index].as_ref());
        let [x87, others] = m.rounding();
        let rule = &mut lock_caught_up(&self.carried).shadow;
        rule.set_rounding(x87, others);
        rule.to_integer(site, how, Observed { format, bits, shadow });
    }

    fn release(&mut self, kept: &[SavedShadow]) {
        for index in kept.iter().filter_map(|&kept| Self::index(kept)) {
            if self.kept[index].take().is_some() {
                self.free.push(index);
            }
        }
    }

    fn track(&mut self, m: &mut dyn Machine, x: Float) {
        if self.shadow(m, x).is_none() {
            self.replace(m, x, S::track);
        }
    }

    fn derivative(&mut self, m: &mut dyn Machine, x: Float) -> Option<f64> {
        let shadow = self.shadow(m, x);
        lock_caught_up(&self.carried).shadow.derivative(shadow.as_ref())
    }

    fn set_derivative(&mut self, m: &mut dyn Machine, x: Float, derivative: f64) -> bool {
        let shadow = lock_caught_up(&self.carried).shadow.of_derivative(derivative);
        let Some(shadow) = shadow else { return false };
        self.set(m, x, Some(shadow));
        true
    }

    fn number(&mut self, m: &mut dyn Machine, x: Float) -> Option<u64> {
        let shadow = self.shadow(m, x)?;
        lock_caught_up(&self.carried).shadow.number(&shadow)
    }

    fn set_number(&mut self, m: &mut dyn Machine, x: Float, number: u64) -> bool {
        let shadow = lock_caught_up(&self.carried).shadow.numbered(number);
        let is_there = shadow.is_some();
        self.set(m, x, shadow);
        is_there
    }

    fn component(&mut self, value: f64, seed: Seed) -> Option<u64> {
        let shadow = &mut lock_caught_up(&self.carried).shadow;
        let component = shadow.seed(double(value, None), seed)?;
        shadow.number(&component)
    }

    fn append_result(&mut self, terms: &[(u64, f64)]) -> Option<u64> {
        lock_caught_up(&self.carried).shadow.append_result(terms)
    }

    fn output_number(&mut self, leaves: &Leaves, number: u64, value: f64) {
        let carried = &mut *lock_caught_up(&self.carried);
        let shadow = carried.shadow.numbered(number);
        carried.shadow.output(leaves, double(value, shadow.as_ref()));
    }

    fn real(&mut self, m: &mut dyn Machine, x: Float, digits: usize) -> Option<String> {
        let shadow = self.shadow(m, x);
        lock_caught_up(&self.carried).shadow.real(seen(x, shadow.as_ref()), digits)
    }

    fn error_bits(&mut self, m: &mut dyn Machine, x: Float) -> Option<f64> {
        let shadow = self.shadow(m, x);
        lock_caught_up(&self.carried).shadow.error_bits(seen(x, shadow.as_ref()))
    }

    fn matters(&mut self, m: &mut dyn Machine, x: Float) -> bool {
        let Some(shadow) = self.shadow(m, x) else { return false };
        let shadows = &mut lock_caught_up(&self.carried).shadow;
        match shadows.error_bits(seen(x, Some(&shadow))) {
            Some(bits) => bits != 0.0,
            None => shadows.derivative(Some(&shadow)).is_none_or(|derivative| derivative != 0.0),
        }
    }

    fn is_shadowed(&mut self, m: &mut dyn Machine, x: Float) -> bool {
        self.shadow(m, x).is_some()
    }

    fn noted(&mut self) -> Option<Site> {
        lock_caught_up(&self.carried).shadow.noted()
    }

    fn findings(&mut self) -> Vec<Finding> {
        lock_caught_up(&self.carried).shadow.findings()
    }

    fn answers(&mut self, questions: &Questions) -> Option<Answers> {
        lock_caught_up(&self.carried).shadow.answers(questions)
    }

    fn trace(&mut self) -> Vec<Traced> {
        lock_caught_up(&self.carried).shadow.trace()
    }

    fn coverage(&mut self, into: &mut Coverage) {
        self.carried.lock().shadow.coverage(into);
    }

    fn settings(&self) -> findings::Settings {
        lock_caught_up(&self.carried).shadow.settings()
    }
}
