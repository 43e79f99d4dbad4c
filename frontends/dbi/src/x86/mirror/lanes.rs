//! Arithmetic that does not go lane by lane: between neighbours, alternating, inner products.
//!
//! The shadow is put together from rules of plain operations, on shadows that are shuffled as the instruction shuffles its
//! operands. That takes rules which do not read what is shuffled, and none that reads the result, or [`crossed`](super::crossed);
//! whatever else meets a shadow is left to the engine, and so is a sum that may round by a magic number.

use super::At;
use super::operands::Operands;
use super::rounding::may_round;
use super::temporaries::UPPER;
use crate::x86::emit::Emitter;
use crate::x86::rules::{InlineRule, Job};
use crate::x86::table::Row;
use crate::x86::vector::{Form, Length, Mem, Place, Vector, forms};
use iced_x86::{EncodingKind, Instruction, OpKind};
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;
use shadowgrind_core::step::Sums;

/// Even lanes of two operands, of four 32-bit lanes each; odd ones; both, the even ones first.
const EVEN: u8 = 0x88;
const ODD: u8 = 0xdd;
const EVEN_THEN_ODD: u8 = 0xd8;
/// Of each pair of 64-bit lanes the lower one from the first operand, the upper one from the second.
const LOW_AND_HIGH: u8 = 0b1010;
/// Neighbouring lanes, and neighbouring pairs of lanes, change places.
const SWAP: u8 = 0xb1;
const SWAP_PAIRS: u8 = 0x4e;
const SWAP_64: u8 = 0b01;
/// The first lane everywhere.
const FIRST: u8 = 0;

/// Way in which lanes are combined.
#[derive(Clone, Copy)]
pub(super) enum Across {
    /// The operation between neighbours of each source.
    Neighbours(Op),
    /// One operation in even lanes, the other in odd ones.
    Alternating([Op; 2]),
    /// An inner product, by an immediate.
    Products(u8),
}

impl Across {
    fn of(row: Row, insn: &Instruction) -> Option<(Across, Format)> {
        match row {
            Row::Horizontal(op, format) => Some((Across::Neighbours(op), format)),
            Row::AddSub(format) => Some((Across::Alternating([Op::Sub, Op::Add]), format)),
            Row::FusedAlternating { even, odd, format, .. } => {
                Some((Across::Alternating([even, odd]), format))
            }
            Row::DotProduct(format) => Some((Across::Products(insn.immediate8()), format)),
            _ => None,
        }
    }

    /// Operations on lanes, those on shuffled operands first.
    fn ops(self) -> (Vec<Op>, Vec<Op>) {
        match self {
            Across::Neighbours(op) => (vec![op], Vec::new()),
            Across::Alternating(ops) => (Vec::new(), ops.to_vec()),
            Across::Products(_) => (vec![Op::Add], vec![Op::Mul]),
        }
    }
}

/// Registers that a shadow is computed in.
struct Registers {
    /// The shadow.
    to: u8,
    /// A part of the shadow.
    part: u8,
    /// Temporaries for rules, and for operands before them.
    rest: Vec<u8>,
}

/// Lanes that rules compute.
#[derive(Clone, Copy)]
pub(super) struct Lanes {
    pub(super) format: Format,
    pub(super) width: u8,
}

impl Lanes {
    fn shuffle(self, [to, a]: [u8; 2], b: u8, immediate: u8) -> Vector {
        self.vector(forms::SHUFFLE, [to, a], b).immediate(immediate)
    }

    /// Instructions that make, of registers `a` and `b`, the even lanes of each pair of neighbours and the odd ones, in the order of
    /// the results.
    pub(super) fn sorted(self, [even, odd]: [u8; 2], [a, b]: [u8; 2]) -> [Vector; 2] {
        match self.format {
            Format::F32 => [self.shuffle([even, a], b, EVEN), self.shuffle([odd, a], b, ODD)],
            _ => [self.vector(forms::UNPACK_LOW, [even, a], b), self.vector(forms::UNPACK_HIGH, [odd, a], b)],
        }
    }

    fn vector(self, form: Form, operands: [u8; 2], rm: u8) -> Vector {
        Vector::new(form, self.format, Length::of(self.width), operands, Place::Reg(rm))
    }
}

impl Emitter {
    /// An instruction of one of these rows.
    pub(super) fn across(&mut self, at: At<'_>, row: Row) {
        let insn = &at.insn().decoded;
        let settings = self.mirror().settings;
        let plain = matches!(insn.encoding(), EncodingKind::Legacy | EncodingKind::VEX)
            && (self.has_upper() || !settings.wide);
        let found = Across::of(row, insn).filter(|(how, format)| {
            let is_wide_product = matches!(how, Across::Products(_)) && insn.op0_register().is_ymm();
            plain && !is_wide_product && !may_round(at, *format)
        });
        let (Some((how, format)), Some(rule)) = (found, settings.rule) else { return self.checked(at) };
        if settings.policy.is_born {
            return self.across_values(at, row, how, format);
        }
        let (shuffled, straight) = how.ops();
        let reads = |&op: &Op| (0..op.arity()).any(|i| rule.needs_operand(op, i));
        if shuffled.iter().any(reads) || shuffled.iter().chain(&straight).any(|&op| rule.needs_result(op)) {
            return self.checked(at);
        }
        if !self.open_operand(at) {
            return self.out_of_line(at);
        }
        let operands = self.operands(insn, &source_numbers(insn, row));
        let d = insn.op0_register().number() as u8;
        if operands.are_absent() {
            self.guest(at);
            self.close_operand();
            return self.clear_vector(d);
        }
        let lanes = Lanes { format, width: insn.op0_register().size() as u8 };
        let ops: Vec<Op> = shuffled.into_iter().chain(straight).collect();
        let (registers, saved) = self.registers_for(insn, rule, &ops);
        self.touch(at);
        self.begin_rule(at);
        match how {
            Across::Neighbours(op) => self.neighbours(rule, op, lanes, &operands, &registers),
            Across::Alternating(ops) => self.alternating(rule, ops, lanes, &operands, &registers),
            Across::Products(mask) => self.products(rule, mask, lanes, &operands, &registers),
        }
        self.end_rule(at);
        for (register, mem) in saved {
            self.out.hot.vector_load(register, mem, 64);
        }
        self.guest(at);
        self.put_shadow(d, registers.to);
        self.close_operand();
    }

    /// An instruction of one of these rows where roundings count.
    fn across_values(&mut self, at: At<'_>, row: Row, how: Across, format: Format) {
        let insn = &at.insn().decoded;
        let settings = self.mirror().settings;
        let has_temporaries = settings.policy.long_rules || !self.has_upper();
        let is_known = !matches!(how, Across::Products(_)) && at.block.sums(at.insn().pc()) != Sums::TakenOff;
        if !is_known || !has_temporaries || !self.open_operand(at) {
            return self.out_of_line(at);
        }
        let operands = self.operands(insn, &source_numbers(insn, row));
        let lanes = Lanes { format, width: insn.op0_register().size() as u8 };
        if !self.has_room_to_cross(how) {
            self.close_operand();
            return self.out_of_line(at);
        }
        self.crossed(at, how, lanes, &operands);
        self.close_operand();
    }

    /// Registers for the shadow of `insn`, which takes the rules of `ops`, and what is to be loaded again afterwards.
    fn registers_for(
        &mut self,
        insn: &Instruction,
        rule: InlineRule,
        ops: &[Op],
    ) -> (Registers, Vec<(u8, Mem)>) {
        if !self.has_upper() {
            let most = ops.iter().map(|&op| rule.temporaries(op)).max().unwrap_or(0);
            let [to, part] = [0, 1].map(|i| self.temporary(i));
            let rest = (2..2 + most).map(|i| self.temporary(i)).collect();
            return (Registers { to, part, rest }, Vec::new());
        }
        let is_used = |n: &u8| {
            (0..insn.op_count()).any(|i| {
                insn.op_kind(i) == OpKind::Register && insn.op_register(i).number() == usize::from(*n)
            })
        };
        let in_registers = self.mirror().settings.in_registers;
        let free = (0..in_registers).filter(|n| !is_used(n)).take(2);
        let saved: Vec<(u8, Mem)> =
            free.enumerate().map(|(place, n)| (16 + n, self.spill_slot(place))).collect();
        for &(register, mem) in &saved {
            self.out.hot.vector_store(mem, register, 64);
        }
        let rest = saved.iter().map(|&(register, _)| register).collect();
        (Registers { to: UPPER[0], part: UPPER[1], rest }, saved)
    }

    fn neighbours(&mut self, rule: InlineRule, op: Op, lanes: Lanes, operands: &Operands, in_: &Registers) {
        let [a, b] = [0, 1].map(|i| self.loaded(operands, i, in_.rest[i], lanes.width));
        let [first, second] = lanes.sorted([in_.to, in_.part], [a, b]);
        self.out.hot.vector(first);
        self.out.hot.vector(second);
        self.combine(rule, op, lanes, in_);
    }

    /// Makes of the shadow and its part, as operands of `op`, the shadow.
    fn combine(&mut self, rule: InlineRule, op: Op, lanes: Lanes, in_: &Registers) {
        let shadows = [in_.to, in_.part].map(Place::Reg);
        // The values are not read.
        self.lane_rule(rule, op, lanes, (&[Place::Reg(0), Place::Reg(1)], &shadows, 0), in_.to, &in_.rest);
    }

    fn alternating(
        &mut self,
        rule: InlineRule,
        ops: [Op; 2],
        lanes: Lanes,
        operands: &Operands,
        in_: &Registers,
    ) {
        let count = operands.count;
        let given = (&operands.x[..count], &operands.shadows[..count], operands.absent);
        for (op, to) in ops.into_iter().zip([in_.part, in_.to]) {
            self.lane_rule(rule, op, lanes, given, to, &in_.rest);
        }
        let (even, odd) = (in_.part, in_.to);
        let hot = &mut self.out.hot;
        if lanes.format == Format::F32 {
            hot.vector(lanes.shuffle([odd, even], odd, EVEN_THEN_ODD));
            hot.vector(lanes.shuffle([odd, odd], odd, EVEN_THEN_ODD));
        } else {
            hot.vector(lanes.shuffle([odd, even], odd, LOW_AND_HIGH));
        }
    }

    fn products(&mut self, rule: InlineRule, mask: u8, lanes: Lanes, operands: &Operands, in_: &Registers) {
        let count = operands.count;
        let given = (&operands.x[..count], &operands.shadows[..count], operands.absent);
        self.lane_rule(rule, Op::Mul, lanes, given, in_.to, &in_.rest);
        self.keep_lanes(in_.to, lanes, mask >> 4);
        let swaps: &[u8] = if lanes.format == Format::F32 { &[SWAP, SWAP_PAIRS] } else { &[SWAP_64] };
        for &swap in swaps {
            self.out.hot.vector(lanes.shuffle([in_.part, in_.to], in_.to, swap));
            self.combine(rule, Op::Add, lanes, in_);
        }
        self.out.hot.vector(lanes.shuffle([in_.to; 2], in_.to, FIRST));
        self.keep_lanes(in_.to, lanes, mask);
    }

    /// Clears the lanes of `register`, of 16 bytes, that have no bit in `mask`.
    fn keep_lanes(&mut self, register: u8, lanes: Lanes, mask: u8) {
        let words = match lanes.format {
            Format::F32 => mask & 0xf,
            _ => [0, 0b11, 0b1100, 0b1111][usize::from(mask & 3)],
        };
        if words != 0xf {
            // The first word goes where it is.
            let insert =
                Vector::new(forms::INSERT_32, Format::F32, Length::B16, [register; 2], Place::Reg(register));
            self.out.hot.vector(insert.immediate(!words & 0xf));
        }
    }

    /// The shadow of operand `i` in a register: its own, or loaded into `register`.
    fn loaded(&mut self, operands: &Operands, i: usize, register: u8, width: u8) -> u8 {
        match operands.shadows[i] {
            _ if operands.absent >> i & 1 == 1 => self.zero(register),
            Place::Reg(own) => return own,
            Place::Mem(mem) => self.out.hot.vector_load(register, mem, width),
        }
        register
    }

    /// The rule of `op` on values and shadows, of which some are absent, into `to`.
    fn lane_rule(
        &mut self,
        rule: InlineRule,
        op: Op,
        lanes: Lanes,
        (x, shadows, absent): (&[Place], &[Place], u8),
        to: u8,
        temps: &[u8],
    ) {
        let job = Job::of((rule, op), (lanes.format, lanes.width), [x, shadows], to, temps);
        self.emit_rule(&Job { absent, ..job });
    }
}

/// Numbers of the sources, in the order of the rules' operands.
fn source_numbers(insn: &Instruction, row: Row) -> Vec<u32> {
    if let Row::FusedAlternating { terms, .. } = row {
        return terms.iter().map(|&n| u32::from(n)).collect();
    }
    let sources = insn.op_count() - u32::from(matches!(row, Row::DotProduct(_)));
    if sources > 2 { vec![1, 2] } else { vec![0, 1] }
}
