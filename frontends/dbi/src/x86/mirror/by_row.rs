//! The choice of an annotation: by the instruction's row, what the shadow asks for, and the mode.
//!
//! Says which annotation an instruction gets, not what that is: the other modules do.

use super::check::Source;
use super::descriptor::What;
use super::record::Plan;
use super::{At, Settings, Watched, mask_of};
use crate::x86::access;
use crate::x86::emit::Emitter;
use crate::x86::insn::{Flow, Insn};
use crate::x86::lower::predicate;
use crate::x86::lower::rounded::rounding;
use crate::x86::rows;
use crate::x86::superblock::Superblock;
use crate::x86::table::{Direction, General, Row, Shape};
use crate::x86::wholes::Whole;
use iced_x86::{CpuidFeature, EncodingKind};
use shadowgrind_core::format::Format;
use shadowgrind_core::step::Predicate;

impl Emitter {
    /// Instruction `index` of `block` with its annotations.
    pub(in crate::x86) fn annotated(&mut self, block: &Superblock, index: usize) {
        if self.mirror().ended {
            return;
        }
        let at = At { block, index };
        let insn = at.insn();
        if self.mode.is_narrow() && access::has_more_than_sse(&insn.decoded) {
            self.mode = self.mode.narrow(false);
        }
        if uses_mmx(&insn.decoded) {
            self.mirror().top_is_known = false;
        }
        let leaves_alone = match insn.flow {
            Flow::Straight => leaves_mxcsr_alone(&insn.decoded),
            _ => leads_directly(insn),
        };
        if !leaves_alone {
            self.put_back_mxcsr(index);
        }
        self.begin_instruction(at);
        self.close_before(at);
        if matches!(insn.flow, Flow::ExpectedReturn(_) | Flow::Ends | Flow::Engine) {
            self.put_back_all();
        }
        match insn.flow {
            Flow::Straight => {
                self.straight(at);
                if self.rcx_spilled && !self.leaves_rcx(at) {
                    self.put_back_rcx();
                }
            }
            Flow::Engine if matches!(rows::row(&insn.decoded), Row::State(..)) => self.out_of_line(at),
            Flow::Engine => {
                self.clear_cells(mask_of(rows::results(&insn.decoded)));
                self.instruction(index, insn);
            }
            _ => self.instruction(index, insn),
        }
        self.follow_registers(at);
    }

    fn straight(&mut self, at: At<'_>) {
        let insn = &at.insn().decoded;
        let Settings { records, slow, .. } = self.mirror().settings;
        let row = rows::row(insn);
        if self.mode.is_off() && has_vector_result(row, insn) {
            return self.integer(at);
        }
        self.check_upper(at);
        if self.asks_of_addresses(insn) {
            self.check_address(at);
        }
        if insn.op0_register().is_mm() {
            // What it writes is a register of x87's as well, which may carry a shadow.
            self.check(at, &[Source::X87]);
        }
        if slow && has_reference_path(row) {
            let is_recorded =
                records && matches!(row, Row::Arith(..) | Row::Unary(..) | Row::Fused(..) | Row::Narrow(_));
            return if is_recorded { self.out_of_line(at) } else { self.checked(at) };
        }
        self.by_row(at, row);
    }

    /// Emits the instruction with what goes beside one of this row, by what the shadow asks for.
    fn by_row(&mut self, at: At<'_>, row: Row) {
        let insn = &at.insn().decoded;
        let Settings { records, appends, slow, policy, .. } = self.mirror().settings;
        let is_born = policy.is_born;
        let (compares, converts) = (records && policy.comparisons, records && policy.conversions);
        let doubts = self.mirror().settings.doubt.is_some() && !self.mode.is_off();
        match row {
            row if row.is_watched(compares) && self.watched(at) == Watched::Always => self.out_of_line(at),
            Row::Nothing => self.guest(at),
            // Records are replayed with the rounding mode that code was entered with.
            Row::Mxcsr(Direction::Restore) if records => self.out_of_line(at),
            // AVX-512 rounds to fractions as well.
            Row::Round(..) if records && insn.encoding() == EncodingKind::EVEX => self.out_of_line(at),
            Row::Round(format, shape) if records => self.arithmetic(at, rounding(insn), None, format, shape),
            row if is_masked(row, insn) && !has_masked_rule(row) => self.checked(at),
            Row::Mxcsr(_) if self.hides_mxcsr() => self.annotated_mxcsr(at),
            Row::Flags(by) => self.flags(at, by),
            Row::Integer | Row::Hint | Row::Mxcsr(_) => self.integer(at),
            Row::Digits if self.mode.is_off() => self.integer(at),
            Row::Digits if self.digits_alone(at) => {}
            Row::Move(..) | Row::Trick(..) | Row::General(General::Bits(_) | General::Address)
                if at.block.whole(insn.ip()) == Some(Whole::Asked) =>
            {
                self.integer(at);
            }
            Row::General(general) => self.general(at, general),
            Row::X87(row) => self.x87(at, row),
            Row::State(..) => self.out_of_line(at),
            Row::CompareFlags(format) if doubts => self.compared(at, format, Shape::Scalar),
            Row::Compare(format, shape) if doubts => self.compared(at, format, shape),
            Row::CompareFlags(format) if !compares => self.compared_to_flags(at, format),
            Row::CompareFlags(_) if self.mode.is_off() => self.guest(at),
            Row::CompareFlags(format) => {
                self.record_decision(at, What::Compare(Predicate::ORDER), (format, Shape::Scalar), &[0, 1]);
            }
            // In memory the first operand is no register.
            Row::ToInteger(format, how, Shape::Scalar) if converts && insn.op0_register().is_gpr() => {
                self.record_decision(at, What::Integer(how), (format, Shape::Scalar), &[1]);
            }
            Row::ZeroUpper => self.zero_upper(at, false),
            Row::ZeroAll => self.zero_upper(at, true),
            Row::Move(..) if at.block.whole(insn.ip()) == Some(Whole::Mixed) || self.may_mix(at) => {
                self.checked(at)
            }
            Row::Move(moved, control) => self.vector_move(at, moved, control),
            Row::Gather(format) => self.gather(at, format),
            Row::Logic(..) | Row::Trick(..) if self.scaled(at) => {}
            Row::Logic(by, lanes) => self.logic(at, by, lanes),
            Row::Ternary(format) => self.ternary_wide(at, format),
            Row::Arith(op, format, shape) => self.arithmetic(at, op, None, format, shape),
            Row::Unary(op, format, shape) => self.arithmetic(at, op, None, format, shape),
            Row::Fused(op, terms, format, shape) => self.arithmetic(at, op, Some(terms), format, shape),
            Row::FusedAlternating { .. } | Row::AddSub(_) | Row::Horizontal(..) | Row::DotProduct(_)
                if !slow && !records && !appends =>
            {
                self.across(at, row);
            }
            Row::Narrow(shape) => self.conversion(at, false, shape),
            Row::Widen(shape) => self.conversion(at, true, shape),
            Row::FromHalf if records || appends => self.fresh(at, Format::F32, Shape::Packed),
            Row::FromHalf => self.half_to_single(at),
            Row::ToHalf if !records && !appends => self.single_to_half(at),
            Row::Compare(format, shape) if !compares => self.compared_to_masks(at, format, shape),
            Row::Compare(format, shape) if self.mode.is_off() => self.fresh(at, format, shape),
            Row::Compare(format, shape) if insn.op0_register().is_vector_register() => {
                self.record_compared(at, format, shape);
            }
            Row::Round(..) | Row::ToInteger(..) if self.leaves_rounding(at) => self.checked(at),
            // Where roundings count, an integer may be another than the real's.
            Row::Round(format, shape) if !is_born => self.fresh(at, format, shape),
            Row::Round(format, shape) if doubts => self.rounded(at, rounding(insn), format, shape),
            Row::ToInteger(format, how, shape) if doubts && insn.op0_register().is_gpr() => {
                self.rounded(at, how.op(), format, shape);
            }
            Row::FromInteger(format, shape) => self.fresh(at, format, shape),
            Row::ToInteger(..) if !policy.conversions => self.integer(at),
            _ => self.checked(at),
        }
    }

    /// Records what a comparison says of each lane.
    fn record_compared(&mut self, at: At<'_>, format: Format, shape: Shape) {
        let insn = &at.insn().decoded;
        let first = insn.op_count() - 3;
        self.record_decision(at, What::Compare(predicate(insn)), (format, shape), &[first, first + 1]);
    }

    /// Records what an instruction decides by floats.
    fn record_decision(&mut self, at: At<'_>, what: What, of: (Format, Shape), sources: &[u32]) {
        let (format, shape) = of;
        self.record(at, &Plan { what, from: format, to: format, shape, sources, rest: None });
    }
}

/// Tells whether some lanes of a vector may be left as they are. Moves and gathers have their own ways.
fn is_masked(row: Row, insn: &iced_x86::Instruction) -> bool {
    insn.has_op_mask()
        && insn.op0_register().is_vector_register()
        && !matches!(row, Row::Move(..) | Row::Gather(_))
}

/// Tells whether a rule goes beside an instruction of this row under a mask too.
fn has_masked_rule(row: Row) -> bool {
    matches!(row, Row::Arith(..) | Row::Unary(..) | Row::Fused(..))
}

/// Tells whether the engine sees to an instruction of this row where it stands for what translated code does.
fn has_reference_path(row: Row) -> bool {
    matches!(
        row,
        Row::Move(..)
            | Row::Gather(_)
            | Row::Logic(..)
            | Row::Arith(..)
            | Row::Unary(..)
            | Row::Fused(..)
            | Row::Narrow(_)
            | Row::Widen(_)
            | Row::ToHalf
            | Row::FromHalf
            | Row::CompareFlags(_)
            | Row::ToInteger(..)
            | Row::Round(..)
    )
}

/// Tells whether an instruction computes floats, or reads them for a decision, and leaves what it makes where its
/// shadow is simply cleared when shadowing is off.
fn has_vector_result(row: Row, insn: &iced_x86::Instruction) -> bool {
    match row {
        Row::Arith(..)
        | Row::Unary(..)
        | Row::Fused(..)
        | Row::FusedAlternating { .. }
        | Row::AddSub(..)
        | Row::Horizontal(..)
        | Row::Narrow(..)
        | Row::Round(..)
        | Row::Compare(..) => insn.op0_register().is_vector_register(),
        Row::ToInteger(..) | Row::ToHalf => true,
        _ => false,
    }
}

/// Tells whether the branch, call or return goes on in translated code that is known when the block is made.
fn leads_directly(insn: &Insn) -> bool {
    use iced_x86::FlowControl::{Call, ConditionalBranch, UnconditionalBranch};
    match insn.flow {
        Flow::SideExit | Flow::FollowedJump | Flow::FollowedCall | Flow::CertainReturn => true,
        Flow::Ends => {
            matches!(insn.decoded.flow_control(), Call | ConditionalBranch | UnconditionalBranch)
        }
        Flow::Straight | Flow::ExpectedReturn(_) | Flow::Engine => false,
    }
}

/// Tells whether the instruction neither looks at MXCSR nor has a rule that does, but for x87's.
fn leaves_mxcsr_alone(insn: &iced_x86::Instruction) -> bool {
    let row = rows::row(insn);
    matches!(row, Row::X87(_) | Row::Nothing | Row::Hint | Row::General(_) | Row::Flags(_) | Row::Integer)
}

/// Tells whether the instruction has to do with MMX registers, which resets the top of the x87 stack.
fn uses_mmx(insn: &iced_x86::Instruction) -> bool {
    let is_mmx = |n| insn.op_kind(n) == iced_x86::OpKind::Register && insn.op_register(n).is_mm();
    insn.cpuid_features().contains(&CpuidFeature::MMX) || (0..insn.op_count()).any(is_mmx)
}
