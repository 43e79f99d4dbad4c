//! Floats that the program makes text of and reads back: what it makes of such a text has the shadow of the float, or of its rounding
//! to as many digits as the text has.
//!
//! Knows floats by their values, as [`super::known`] does, and no text but the one that is read.

use super::calls::Then;
use super::entered::{Entered, Frame};
use super::known::{Known, is_rounded_to};
use super::observer::{LibraryCall, Observer, SavedShadow};
use super::own_texts::bare;
use super::parsed::{LONGEST, number_at};
use super::reread::{ReadBack, Rounded};
use super::state::State;
use crate::hooks::abi::{self, Float};
use crate::hooks::machine::Machine;
use shadowgrind_core::findings::{Subject, Value};
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;
use shadowgrind_core::site::Site;
use shadowgrind_core::text::{self, Decimal, Notation, Style};

/// Largest power of ten that is a double.
const POWERS: i32 = 22;

impl State {
    /// A function begins that makes a double of digits, and that no other has called which parses: one by which a number is rounded, if
    /// digits were found before.
    pub(super) fn enter_reading_back(&mut self, frame: &mut Frame<'_>) -> Entered {
        if frame.calls.is_parsing() {
            return Entered::Go;
        }
        let Some(rounded) = frame.calls.digits.take() else { return Entered::Go };
        let text = abi::integer(frame.m, 0).ok().and_then(|text| number_at(frame.m, text, None, 1));
        let Some((_, text, _)) = text else {
            frame.observer.release(&[rounded.kept]);
            return Entered::Go;
        };
        let text = String::from_utf8_lossy(&text).into_owned();
        let site = self.asker(frame.at, frame.pc, frame.m).site;
        frame.watch(Then::ReadBack(ReadBack {
            text,
            address: None,
            site,
            rounded: Some(rounded),
            is_own: false,
            is_given: false,
        }))
    }

    /// Gives the double that this function has returned its shadow.
    pub(super) fn end_reading_back(
        &mut self,
        text: &ReadBack,
        observer: &mut dyn Observer,
        m: &mut dyn Machine,
    ) {
        self.read_back(text, abi::result(m, Format::F64), observer, m);
    }

    /// Gives `x`, which was made of a text, the shadow that it has from the float of which the program had made this. True if it has lost
    /// one.
    pub(super) fn read_back(
        &mut self,
        text: &ReadBack,
        x: Float,
        observer: &mut dyn Observer,
        m: &mut dyn Machine,
    ) -> bool {
        let kept_last = text.rounded.map(|rounded| rounded.kept);
        let placed = self.float_in_string(text, x, observer);
        let from = match placed {
            None if !text.is_given => self.float_of(text, x, observer),
            placed => placed,
        };
        let is_own = text.is_own || placed.is_some();
        let follows = from.is_some_and(|from| self.hand_on(from, (is_own, text.site), x, observer, m));
        if let (true, Some(output)) = (follows, from.and_then(|from| from.output)) {
            self.own_texts.was_read(output);
        }
        observer.release(kept_last.as_slice());
        !follows && (text.is_own || from.is_some())
    }

    /// Gives `x`, which is read at `site`, the shadow of the float `from` whose text that is; false if it has one that is not known. `is_own`:
    /// the text is hardly that of any other number.
    fn hand_on(
        &mut self,
        from: Rounded,
        (is_own, site): (bool, Site),
        x: Float,
        observer: &mut dyn Observer,
        m: &mut dyn Machine,
    ) -> bool {
        let derives = self.report.subject == Subject::Derivatives;
        if derives && !is_own && from.output.is_some() {
            // It may be anybody's: a derivative that is not its own would be worse than none.
            return false;
        }
        if from.is_whole && from.value == x.format.to_f64(x.bits) {
            observer.give(m, x, from.kept);
            return true;
        }
        match (self.report.subject, from.decimals) {
            (Subject::Errors, Some(decimals)) if decimals.abs() <= POWERS => {
                round_to_decimals(from, decimals, (x, site), observer, m);
                true
            }
            // It was made text of to be rounded, and for nobody to read.
            (Subject::Derivatives, _) if from.output.is_none() => {
                self.rounded(site).count += 1;
                true
            }
            _ => false,
        }
    }

    /// The float of which a known function has put the text of `x` where that was read; nothing if there is none, or there are several
    /// that differ.
    fn float_in_string(&self, text: &ReadBack, x: Float, observer: &mut dyn Observer) -> Option<Rounded> {
        let value = x.format.to_f64(x.bits);
        let is_it = |known: &&Known| {
            let is_text = |notation: Notation| match notation.style {
                Style::Hexadecimal(_) => known.value == value,
                _ => bare(&notation.write(&text::Float::from(Value::from(known.value)))) == text.text,
            };
            known.format == x.format && known.notation.is_some_and(is_text)
        };
        let address = text.address.filter(|_| x.format == Format::F64)?;
        let all: Vec<Known> = self.known.in_string(address, LONGEST).filter(is_it).copied().collect();
        let from = Rounded::from(only(&all, observer)?);
        Some(Decimal::of(&text.text).map_or(from, |decimal| from.read_as(&decimal)))
    }

    /// The float of which the program has made the text of `x`; nothing if there is none, or there are several that differ.
    fn float_of(&self, text: &ReadBack, x: Float, observer: &mut dyn Observer) -> Option<Rounded> {
        if x.format != Format::F64 {
            return None;
        }
        // A hexadecimal number is hardly rounded.
        let decimal = Decimal::of(&text.text);
        let (value, unit) = (x.format.to_f64(x.bits), decimal.map_or(0.0, |decimal| decimal.unit()));
        let read = |from: Rounded| decimal.map_or(from, |decimal| from.read_as(&decimal));
        let is_it = |rounded: &Rounded| is_rounded_to(rounded.value, value, unit);
        if let Some(last) = text.rounded.filter(is_it) {
            return Some(read(last));
        }
        // What was written before is hardly read once more, unless the text is nobody else's.
        let are_late = !text.is_own;
        let mut all: Vec<Known> = match are_late {
            true => self.known.late_rounded_to(value, unit).copied().collect(),
            false => self.known.rounded_to(value, unit).copied().collect(),
        };
        all.retain(|known| known.format == Format::F64);
        if are_late && self.report.subject == Subject::Derivatives {
            all.retain(|known| {
                known.value == value
                    && known.kept != SavedShadow::NONE
                    && !decimal.is_some_and(|decimal| decimal.is_integer())
            });
        }
        Some(read(only(&all, observer)?.into()))
    }
}

/// The first of several floats, if the others do not differ from it.
fn only(all: &[Known], observer: &mut dyn Observer) -> Option<Known> {
    let first = *all.first()?;
    let is_same = |known: &Known| {
        known.value == first.value
            && (known.kept == first.kept || observer.keeps_alike(known.kept, first.kept))
    };
    all.iter().all(is_same).then_some(first)
}

/// Gives `x`, at `site`, the shadow of the float `from` rounded to `decimals` digits behind the point: scaled, rounded to an integer, and
/// scaled back. It has none if the real is rounded alike: the text names this number then.
fn round_to_decimals(
    from: Rounded,
    decimals: i32,
    (x, site): (Float, Site),
    observer: &mut dyn Observer,
    m: &mut dyn Machine,
) {
    let power = 10f64.powi(decimals.abs());
    let (up, down, scaled, integer) = {
        let scale = |value: f64| if decimals < 0 { value / power } else { value * power };
        let (up, down) = if decimals < 0 { (Op::Div, Op::Mul) } else { (Op::Mul, Op::Div) };
        (up, down, scale(from.value), scale(x.format.to_f64(x.bits)).round())
    };
    let double = |value: f64| u128::from(value.to_bits());
    let steps = [
        (up, &[double(from.value), double(power)][..], double(scaled)),
        (Op::Rint, &[double(scaled)], double(integer)),
        (down, &[double(integer), double(power)], x.bits),
    ];
    let mut kept = from.kept;
    for (n, (op, operands, result)) in steps.into_iter().enumerate() {
        let result = Float { bits: result, ..x };
        let shadows = [kept, SavedShadow::NONE];
        let call = LibraryCall { site, op, x: operands, kept: &shadows[..operands.len()], result };
        observer.function(m, &call);
        if n > 0 {
            observer.release(&[kept]);
        }
        if op == Op::Rint && !observer.matters(m, result) {
            return m.set_cell(x.location, x.format.bytes(), 0);
        }
        kept = if n == 2 { SavedShadow::NONE } else { observer.keep(m, result) };
    }
}
