//! Coverage: instructions that can hold floats and are left to the engine if an operand has a shadow, a microsecond for each.
//!
//! A test finds them by walking all codes, and holds each to have a reason: a new one is seen, and a reason that is none any more.
//! Knows instructions of legacy SSE, AVX and FMA, and moves and arithmetic of AVX-512; x87 and general registers have tests of
//! their own.

use super::element::element_bytes;
use super::tests::{CODE, COLD, START, settings_for};
use super::wide::broadcasts_to_two;
use super::{At, Mirror, Settings, Watched};
use crate::registers;
use crate::shadows::ShadowKind;
use crate::x86::access;
use crate::x86::code::{ExitKind, Placement};
use crate::x86::discover::discovered;
use crate::x86::emit::Emitter;
use crate::x86::lower::tests::operands;
use crate::x86::lower::tests::rng::Rng;
use crate::x86::mode::Mode;
use crate::x86::rows;
use crate::x86::superblock::Superblock;
use crate::x86::table::{Integral, Lanes, Moved, Row, Shape};
use crate::x86::wholes::mixed;
use iced_x86::{
    Code, CpuidFeature, Decoder, Encoder, EncodingKind, FlowControl, Instruction, OpKind, Register,
};
use shadowgrind_core::format::Format;
use std::collections::{BTreeMap, BTreeSet};

/// Random operands that each code is tried with, and the address of those in memory.
const ROUNDS: usize = 12;
const MEMORY: u64 = 0x2000_0000;

/// A shadow in a binding.
#[derive(Clone, Copy)]
struct Setting {
    kind: ShadowKind,
    /// Number of shadows in upper registers.
    in_registers: u8,
    /// The guest uses AVX-512.
    wide: bool,
}

impl Setting {
    fn emitter(self) -> Emitter {
        let (frame, settings) = settings_for(self.kind, self.in_registers);
        let (inline, policy) = (self.kind.inline(), self.kind.policy());
        let doubt = inline.filter(|_| policy.comparisons).map(|inline| inline.doubt);
        let suspicion = inline.filter(|_| policy.watch.is_some()).map(|inline| inline.suspicion);
        let has_avx512 = self.wide || settings.has_avx512;
        let mut mirror = Mirror::new(Settings { doubt, suspicion, wide: self.wide, has_avx512, ..settings });
        mirror.watch(START, if self.wide { Watched::Never } else { Watched::Suspicious });
        Emitter::new(frame, Some(mirror))
    }

    /// Tells whether the instruction of `block` is left to the engine, always or as [`Emitter::checked`] does, once it has been found
    /// to put no double together from parts.
    fn leaves(self, block: &Superblock) -> bool {
        let place = Placement { hot: CODE, cold: COLD, first_exit: 0, runs: None };
        let mut emitter = self.emitter();
        let insn = &block.insns[0].decoded;
        if mixed::may_mix(insn) || mixed::may_insert(insn) {
            emitter.mirror().writes_alone(block.insns[0].pc());
        }
        emitter.emit(block, place, Mode::cells(0), false);
        if emitter.mirror().ended {
            return true;
        }
        let leaves = emitter.out.exits.iter().any(|exit| matches!(exit.kind, ExitKind::OutOfLine(_)));
        leaves && self.checked(block).is_some_and(|checked| is_part(&checked, &code(&emitter)))
    }

    /// Code that leaves the instruction to the engine if there is a shadow among its operands; nothing if all executions are left.
    fn checked(self, block: &Superblock) -> Option<Vec<Instruction>> {
        let mut emitter = self.emitter();
        let place = Placement { hot: CODE, cold: COLD, first_exit: 0, runs: None };
        emitter.emit(block, place, Mode::cells(0), false);
        emitter.out.hot.restart(CODE);
        emitter.begin_annotated(block, Mode::cells(0));
        let at = At { block, index: 0 };
        emitter.begin_instruction(at);
        emitter.checked(at);
        (!emitter.mirror().ended).then(|| code(&emitter))
    }
}

/// Instructions of the hot code, wherever they are and lead to.
fn code(emitter: &Emitter) -> Vec<Instruction> {
    let hot = &emitter.out.hot;
    let decoder = Decoder::with_ip(64, hot.code(), hot.base(), 0);
    let anywhere = |mut insn: Instruction| {
        if insn.flow_control() != FlowControl::Next {
            insn.set_near_branch64(0);
        }
        insn.set_next_ip(0);
        insn
    };
    decoder.into_iter().map(anywhere).collect()
}

fn is_part(part: &[Instruction], of: &[Instruction]) -> bool {
    of.windows(part.len()).any(|window| window == part)
}

/// Tells whether floats may be in what an instruction of this row reads, and x87 and general registers have no part in it.
fn concerns_floats(row: Row) -> bool {
    let others =
        matches!(row, Row::State(..) | Row::Mxcsr(_) | Row::Flags(_) | Row::X87(_) | Row::General(_));
    let none = matches!(row, Row::Integer | Row::Nothing | Row::Hint | Row::Gap(_) | Row::Digits);
    !others && !none
}

/// Tells whether the last two operands are one register.
fn are_same(insn: &Instruction) -> bool {
    let last = insn.op_count() - 1;
    insn.op_kind(last) == OpKind::Register && insn.op_register(last) == insn.op_register(last - 1)
}

/// The reason why `insn` is left to the engine in this setting; nothing if it is not to be.
fn reason(insn: &Instruction, Setting { kind, in_registers, .. }: Setting) -> Option<&'static str> {
    let row = rows::row(insn);
    let register = |n| if insn.op_kind(n) == OpKind::Register { insn.op_register(n) } else { Register::None };
    let registers = || (0..insn.op_count()).map(register);
    let is_last = |r: Register| r.is_vector_register() && r.number() >= usize::from(in_registers);
    let (policy, records) = (kind.policy(), kind.records());
    let made_here = kind.inline().is_some();
    Some(match row {
        _ if registers().any(Register::is_mm) => "MMX registers are those of x87",
        _ if insn.cpuid_features().contains(&CpuidFeature::SSE4A) => "hardly any program has it",
        Row::AddSub(_) | Row::FusedAlternating { .. } | Row::Horizontal(..) | Row::DotProduct(_)
            if !made_here =>
        {
            "a record is of one operation"
        }
        Row::DotProduct(_) if policy.is_born => "its sums are rounded one after the other",
        Row::DotProduct(Format::F32) if insn.op0_register().is_ymm() => "it has two results",
        Row::Logic(..) if in_registers > 0 && registers().any(is_last) => "shadows are in memory",
        Row::Logic(Integral::Or, _) if records && are_same(insn) => "hardly any program has it",
        Row::Logic(Integral::And, _) if records => "the real's sign may be another",
        Row::Logic(Integral::Xor, Lanes::Untyped) if records => "it may be no sign that is turned over",
        Row::Trick(..) => "its place has code once it runs often",
        Row::Move(Moved::Element, _) if element_bytes(insn) < 4 => "it moves a part of a float",
        Row::Move(..) if insn.op0_kind() == OpKind::MemorySegRDI => "it selects bytes of memory",
        Row::Narrow(Shape::Scalar) | Row::Widen(Shape::Scalar) if made_here && insn.op_count() > 2 => {
            "the result takes the source's place, and the rest of another register's"
        }
        Row::Round(..) if records || policy.is_born => "the integer may be another than the real's",
        Row::ToInteger(..) if policy.conversions => "the integer may be another than the real's",
        Row::ToHalf if !made_here || policy.is_born => "half precision has no shadow",
        _ => return None,
    })
}

/// Instructions with this code on some operands, alone in a block.
fn blocks(code: Code, rng: &mut Rng) -> Vec<Superblock> {
    let block = |rng: &mut Rng| {
        let mut insn = operands::random(code, MEMORY, rng)?;
        operands::mask(&mut insn, rng);
        let mut encoder = Encoder::new(64);
        encoder.encode(&insn, START).ok()?;
        let block = discovered(START, &encoder.take_buffer(), 0);
        let is_it = block.insns.len() == 1 && block.insns[0].decoded.code() == code;
        is_it.then_some(block)
    };
    (0..ROUNDS).filter_map(|_| block(rng)).collect()
}

/// Shadows with code of their own beside instructions.
fn kinds() -> impl Iterator<Item = ShadowKind> {
    let kinds = ShadowKind::ALL.iter().copied();
    kinds.filter(|kind| kind.inline().is_some() || kind.records() || kind.appends())
}

/// Codes of instructions that may hold floats, with AVX-512 or without, and their rows.
fn codes(with_avx512: bool) -> impl Iterator<Item = (Code, Row)> {
    let row = |code: Code| {
        let mut insn = Instruction::new();
        insn.set_code(code);
        rows::row(&insn)
    };
    let is_evex = |code: Code| code.op_code().encoding() == EncodingKind::EVEX;
    Code::values()
        .filter(move |&code| operands::can_run(code) && is_evex(code) == with_avx512)
        .map(move |code| (code, row(code)))
        .filter(|&(_, row)| concerns_floats(row))
}

#[test]
fn what_is_left_to_the_engine_has_a_reason() {
    let mut rng = Rng(1);
    let setting = |kind, in_registers| Setting { kind, in_registers, wide: false };
    let settings: Vec<Setting> = kinds()
        .flat_map(|kind| [registers::in_registers(kind.policy()), 0].map(|n| setting(kind, n)))
        .collect();
    let (mut reasons, mut left) = (BTreeMap::new(), BTreeSet::new());
    for (code, _) in codes(false) {
        for block in blocks(code, &mut rng) {
            let insn = &block.insns[0].decoded;
            for &setting in &settings {
                match reason(insn, setting) {
                    Some(reason) => *reasons.entry(reason).or_insert(false) |= setting.leaves(&block),
                    None if setting.leaves(&block) => {
                        left.insert(format!("{code:?} under {}: {insn}", setting.kind.name()));
                    }
                    None => {}
                }
            }
        }
    }
    assert!(left.is_empty(), "left to the engine without a reason: {left:#?}");
    let unused: Vec<&str> =
        reasons.into_iter().filter(|&(_, is_used)| !is_used).map(|(reason, _)| reason).collect();
    assert!(unused.is_empty(), "nothing is left to the engine any more for {unused:?}");
}

/// Moves, and where rules are computed in place arithmetic and logic, of a guest that uses AVX-512, with masks or without; but not with roundings
/// of their own.
#[test]
fn plain_instructions_of_avx512_have_code() {
    let mut rng = Rng(2);
    let mut left = BTreeSet::new();
    for (code, row) in codes(true) {
        for block in blocks(code, &mut rng) {
            let insn = &block.insns[0].decoded;
            // The control of some is where the result goes, and others take a general register to many lanes.
            let is_general = |n| insn.op_register(n).is_gpr();
            let is_spread = insn.has_op_mask() && (0..insn.op_count()).any(is_general);
            let is_move = matches!(row, Row::Move(_, control) if control & 1 == 0) && !is_spread;
            let is_arithmetic = match row {
                Row::Arith(op, ..) | Row::Unary(op, ..) | Row::Fused(op, ..) => op.is_arithmetic(),
                _ => false,
            };
            if access::raises_otherwise(insn) || broadcasts_to_two(insn) {
                continue;
            }
            let is_logic = matches!(row, Row::Logic(..) | Row::Ternary(_)) && !insn.has_op_mask();
            let is_logic = is_logic && !(insn.is_broadcast() && insn.op0_register().is_xmm());
            let is_computed = is_arithmetic || is_logic;
            for kind in kinds().filter(|kind| is_move || is_computed && kind.inline().is_some()) {
                let setting = Setting { kind, in_registers: 0, wide: true };
                if reason(insn, setting).is_none() && setting.leaves(&block) {
                    left.insert(format!("{code:?} under {}", kind.name()));
                }
            }
        }
    }
    assert!(left.is_empty(), "left to the engine: {left:#?}");
}

/// Rules that take many registers, where shadows of all operands are held in others.
#[test]
fn registers_suffice_for_alternating_sums_of_held_shadows() {
    const GUEST: &[u8] = b"\xc5\xfd\x28\x0e\xc5\xfd\x28\x16\xc5\xfd\x28\x1e\xc4\xe2\xed\xb6\xcb";
    let block = discovered(START, GUEST, 0);
    let sum = block.insns[3].decoded;
    assert!(matches!(rows::row(&sum), Row::FusedAlternating { .. }) && block.insns.len() == 4);
    for kind in kinds().filter(|kind| kind.inline().is_some()) {
        for watched in [Watched::Suspicious, Watched::Never] {
            let mut emitter = Setting { kind, in_registers: 0, wide: false }.emitter();
            emitter.mirror().watch(sum.ip(), watched);
            let place = Placement { hot: CODE, cold: COLD, first_exit: 0, runs: None };
            emitter.emit(&block, place, Mode::cells(0), false);
            assert!(!emitter.mirror().ended, "{} leaves it to the engine", kind.name());
        }
    }
}
