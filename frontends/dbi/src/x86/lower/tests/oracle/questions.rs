//! Questions that are asked beside instructions: whether the engine is to have a look. Replay finds what they are asked of, and the
//! host answers.

use super::super::check::record;
use super::super::native::Machine;
use super::{Binding, Oracle};
use crate::runtime::{InlineCode, MirrorCells};
use crate::x86::lower::Lowering;
use crate::x86::rows;
use crate::x86::table::Row;
use iced_x86::Instruction;
use shadowgrind_core::format::Format;
use shadowgrind_core::inline::Given;
use shadowgrind_core::ops::{MAX_OPERANDS, Op};
use shadowgrind_core::replay;
use shadowgrind_core::shadow::{Lane, Observed, Rule};
use shadowgrind_core::site::Site;
use shadowgrind_core::step::Predicate;
use shadowgrind_core::words::InPlace;

/// Answers to the questions of a shadow in place.
struct Asked {
    inline: InlineCode,
    /// True if one of them is not +0.
    is_any: bool,
}

impl Rule for Asked {
    type Value = f64;

    fn op(&mut self, lane: &Lane<'_, f64>) -> Option<f64> {
        let is_usual = lane.from == lane.to && matches!(lane.to, Format::F32 | Format::F64);
        if is_usual && self.inline.suspicion.is_arithmetic(lane.op) {
            let (mut x, mut shadows) = ([0.0; MAX_OPERANDS], [0.0; MAX_OPERANDS]);
            for (i, (&bits, shadow)) in lane.x.iter().zip(lane.shadows).enumerate() {
                (x[i], shadows[i]) = (lane.from.to_f64(bits), shadow.copied().unwrap_or(0.0));
            }
            let (count, r) = (lane.x.len(), lane.to.to_f64(lane.r));
            let given = Given { x: &x[..count], r, shadows: &shadows[..count] };
            self.is_any |= (self.inline.eval_suspicion)(lane.to, lane.op, given).to_bits() != 0;
        }
        None
    }

    fn scale(&mut self, _: &f64, _: Format, _negate: bool, _power: i32) -> Option<f64> {
        None
    }

    fn compare(&mut self, _: Site, _: Predicate, x: [Observed<'_, f64>; 2]) {
        let shadows = x.each_ref().map(|x| x.shadow.copied().unwrap_or(0.0));
        let (format, x) = (x[0].format, x.each_ref().map(|x| x.format.to_f64(x.bits)));
        let given = Given { x: &x, r: 0.0, shadows: &shadows };
        self.is_any |= (self.inline.eval_doubt)(format, Op::Sub, given).to_bits() != 0;
    }
}

impl Oracle {
    /// Tells whether the binding has code for instructions of this row that are watched no more, and for no others.
    pub(super) fn is_watched_no_more(&self, row: Row) -> bool {
        self.binding == Binding::Wide && row.is_watched(false)
    }

    /// Answer to the questions that are asked beside `insn`; nothing if there are none.
    pub(super) fn is_asked(
        &mut self,
        insn: &Instruction,
        lowering: &Lowering,
        (before, after): (&Machine, &Machine),
        shadows: &[u8],
    ) -> Option<bool> {
        let policy = self.kind.policy();
        let asks = match rows::row(insn) {
            Row::Arith(..)
            | Row::Unary(..)
            | Row::Fused(..)
            | Row::FusedAlternating { .. }
            | Row::AddSub(_)
            | Row::Horizontal(..) => policy.watch.is_some(),
            Row::CompareFlags(_) | Row::Compare(..) => policy.comparisons,
            _ => false,
        };
        let (Some(inline), Lowering::Steps(steps), true) = (self.kind.inline(), lowering, asks) else {
            return None;
        };
        self.stage.prepare(self.checker.native(), before, shadows);
        let record = record(steps, before, after, self.checker.native().memory());
        let mut asked = Asked { inline, is_any: false };
        self.stage.with_shadows(|_, registers| {
            let mut cells = MirrorCells { registers, words: &mut InPlace, turned: None };
            replay::replay(&steps.lowered, Site::default(), &record, &mut asked, &mut cells);
        });
        Some(asked.is_any)
    }
}
