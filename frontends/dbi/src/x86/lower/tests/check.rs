//! One instruction: lowered, run, replayed, compared.

use super::cells::{COMPUTED, NONE, OpCheck, Origins, bytes_of};
use super::native::{Machine, Native, WINDOW};
use super::operands;
use super::rng::Rng;
use crate::x86::lower::{Gap, LoweredInsn, Lowerer, Lowering};
use crate::x86::rows;
use crate::x86::state;
use crate::x86::table::{Direction, General, Image, Row, Shape, X87};
use iced_x86::{Code, CpuidFeature, Instruction, MemorySize, Mnemonic, OpKind, Register};
use shadowgrind_core::format::Format;
use shadowgrind_core::replay::replay;
use shadowgrind_core::site::Site;
use shadowgrind_core::step::{Capture, Place};

pub(super) struct Checker {
    native: Native,
    lowerer: Lowerer,
    rng: Rng,
}

/// Content that operands are filled with.
#[derive(Clone, Copy)]
enum Fill {
    Bytes,
    Floats(Format),
}

impl Checker {
    /// With as much of this processor as has state in `components`.
    pub(super) fn new(components: u64) -> Self {
        Checker { native: Native::limited_to(components), lowerer: Lowerer::new(true), rng: Rng(1) }
    }

    /// Problems with random instructions of `code`; `None` if there was nothing to compare.
    pub(super) fn check(&mut self, code: Code, round: u64) -> Option<String> {
        let mut insn = operands::random(code, self.native.memory(), &mut self.rng)?;
        operands::mask(&mut insn, &mut self.rng);
        let insn = normalised(&insn, self.native.memory())?;
        let row = rows::row(&insn);
        let mut runs = Vec::new();
        for _ in 0..3 {
            let mut before = self.machine(&insn, row);
            before.masks = std::array::from_fn(|_| self.rng.next());
            let lowering = self.lowerer.lower(&insn, before.top, None);
            let after = self.native.run(&insn, &before)?;
            runs.push(self.compare(&insn, &lowering, &before, &after)?);
        }
        let mut problems: Vec<String> = runs.iter().flat_map(|run| run.problems.clone()).collect();
        if problems.is_empty() && !runs[0].is_gap {
            problems.extend(lost(&runs, row, &insn));
        }
        problems.truncate(4);
        let mut text = String::new();
        iced_x86::Formatter::format(&mut iced_x86::GasFormatter::new(), &insn, &mut text);
        let title = format!("{code:?} round {round}: {text} {row:?}\n    ");
        Some(if problems.is_empty() { String::new() } else { title + &problems.join("\n    ") })
    }

    pub(super) fn native(&mut self) -> &mut Native {
        &mut self.native
    }

    pub(super) fn rng(&mut self) -> &mut Rng {
        &mut self.rng
    }

    pub(super) fn lowerer(&mut self) -> &mut Lowerer {
        &mut self.lowerer
    }

    /// Format of the floats that operands of an instruction of `row` are filled with, if it is with those.
    pub(super) fn format_of(insn: &Instruction, row: Row) -> Option<Format> {
        match fill_for(insn, row) {
            Fill::Floats(format) => Some(format),
            Fill::Bytes => None,
        }
    }

    /// Random registers and memory that suit an instruction of `row`.
    pub(super) fn machine(&mut self, insn: &Instruction, row: Row) -> Machine {
        let fill = fill_for(insn, row);
        let rng = &mut self.rng;
        let base = self.native.memory();
        let mut general = std::array::from_fn(|_| rng.next());
        for (number, offset) in [(3, 0), (4, 0x800), (5, 0x900), (6, 0x200), (7, 0x400)] {
            general[number] = base + offset;
        }
        let mut memory = vec![0; WINDOW];
        fill_bytes(rng, fill, &mut memory);
        if insn.memory_size() == MemorySize::Float80 {
            for chunk in memory.chunks_exact_mut(64) {
                chunk[..10].copy_from_slice(&float80(rng));
            }
        }
        let mut vectors = self.native.vectors(|vector| fill_bytes(rng, fill, vector));
        if insn.is_vsib() {
            let index = &mut vectors[insn.memory_index().number()];
            let width = if insn.is_vsib64() { 8 } else { 4 };
            for (i, byte) in index.iter_mut().enumerate() {
                *byte = if i % width == 0 { *byte } else { 0 };
            }
        }
        let mut x87 = [[0; 10]; 8];
        for register in &mut x87 {
            *register = float80(rng);
        }
        let top = rng.below(8) as u8;
        // The four below the top are in use, the others empty.
        let in_use = 0x0f_u8.rotate_left(top.into());
        let flags = 0x202 | rng.next() & 0x8d5;
        Machine { general, flags, vectors, masks: [0; 8], x87, top, in_use, memory }
    }

    fn compare(
        &mut self,
        insn: &Instruction,
        lowering: &Lowering,
        before: &Machine,
        after: &Machine,
    ) -> Option<Run> {
        let window = self.native.memory();
        let mut origins = Origins::new(before, after, window);
        let is_directed = matches!(rows::row(insn), Row::Reduce(..));
        let mut ops = OpCheck { is_directed, ..OpCheck::default() };
        match lowering {
            Lowering::Nothing => {}
            Lowering::Gap(gap) => clear_gap(gap, before, &mut origins),
            Lowering::Steps(steps) => {
                let mut record = record(steps, before, after, window);
                self.lowerer.complete(steps, &mut record);
                replay(&steps.lowered, Site::default(), &record, &mut ops, &mut origins);
            }
            Lowering::String(_) | Lowering::State(_) => return None,
        }
        let mut problems = std::mem::take(&mut origins.problems);
        problems.append(&mut ops.problems);
        if !matches!(lowering, Lowering::Gap(_)) {
            problems.extend(unobserved(insn, &ops, after));
        }
        if !is_representation(insn) {
            problems.extend(wrong(&origins));
        }
        if let Some(top) = top_after(insn, before.top)
            && top != after.top
        {
            problems.push(format!("top {} said to be {top}", after.top));
        }
        let is_gap = matches!(lowering, Lowering::Gap(_));
        Some(Run {
            is_gap,
            problems,
            origin: origins.origin,
            before: bytes_of(before),
            after: bytes_of(after),
        })
    }
}

/// Observations of one run.
struct Run {
    is_gap: bool,
    problems: Vec<String>,
    origin: Vec<u32>,
    before: Vec<u8>,
    after: Vec<u8>,
}

/// The instruction as a decoder gives it.
fn normalised(insn: &Instruction, at: u64) -> Option<Instruction> {
    let mut encoder = iced_x86::Encoder::new(64);
    encoder.encode(insn, at).ok()?;
    let bytes = encoder.take_buffer();
    let decoded = iced_x86::Decoder::with_ip(64, &bytes, at, 0).decode();
    (decoded.code() == insn.code()).then_some(decoded)
}

fn fill_for(insn: &Instruction, row: Row) -> Fill {
    match row {
        Row::Arith(_, format, _)
        | Row::Unary(_, format, _)
        | Row::Fused(_, _, format, _)
        | Row::Scale(format, _) => Fill::Floats(format),
        Row::FusedAlternating { format, .. } | Row::AddSub(format) | Row::Horizontal(_, format) => {
            Fill::Floats(format)
        }
        Row::Reduce(format, _)
        | Row::Range(format, _)
        | Row::Significand(format, _)
        | Row::FixUp(format, _) => Fill::Floats(format),
        Row::DotProduct(format) | Row::Round(format, _) | Row::ToInteger(format, ..) => Fill::Floats(format),
        Row::Compare(format, _) | Row::Classify(format, _) | Row::CompareFlags(format) => {
            Fill::Floats(format)
        }
        Row::Narrow(_) => Fill::Floats(Format::F64),
        Row::Widen(_) | Row::ToHalf => Fill::Floats(Format::F32),
        Row::X87(_) => match insn.memory_size() {
            MemorySize::Float32 => Fill::Floats(Format::F32),
            MemorySize::Float64 => Fill::Floats(Format::F64),
            _ => Fill::Bytes,
        },
        _ => Fill::Bytes,
    }
}

/// Random bytes, or floats in ±[2⁻⁴, 16).
fn fill_bytes(rng: &mut Rng, fill: Fill, bytes: &mut [u8]) {
    rng.fill(bytes);
    match fill {
        Fill::Bytes => {}
        Fill::Floats(Format::F32) => {
            for chunk in bytes.chunks_exact_mut(4) {
                let bits = rng.next() as u32;
                let exponent = 127 - 4 + rng.below(8) as u32;
                chunk.copy_from_slice(&(bits & 0x807f_ffff | exponent << 23).to_le_bytes());
            }
        }
        Fill::Floats(_) => {
            for chunk in bytes.chunks_exact_mut(8) {
                let bits = rng.next();
                let exponent = 1023 - 4 + rng.below(8);
                chunk.copy_from_slice(&(bits & 0x800f_ffff_ffff_ffff | exponent << 52).to_le_bytes());
            }
        }
    }
}

/// A float in ±[2⁻⁵, ¼): in the domain of every x87 function, but for signs.
pub(super) fn float80(rng: &mut Rng) -> [u8; 10] {
    let mut bytes = [0; 10];
    rng.fill(&mut bytes);
    bytes[7] |= 0x80;
    let field = (rng.below(2) as u16) << 15 | (0x3fff - 5 + rng.below(3) as u16);
    bytes[8..].copy_from_slice(&field.to_le_bytes());
    bytes
}

pub(super) fn address(recipe: &crate::x86::lower::AddressRecipe, machine: &Machine) -> u64 {
    recipe.address(|number| machine.general[number], 0, 0)
}

/// The record as an engine would make it.
pub(super) fn record(insn: &LoweredInsn, before: &Machine, after: &Machine, window: u64) -> Vec<u8> {
    let lowered = &insn.lowered;
    assert_eq!(usize::from(lowered.addresses), insn.addresses.len());
    let mut record = vec![0; usize::from(lowered.record)];
    for (i, recipe) in insn.addresses.iter().enumerate() {
        record[8 * i..8 * i + 8].copy_from_slice(&address(recipe, before).to_le_bytes());
    }
    let addresses = record.clone();
    let bytes_at = |bytes: &[u8], place: Place| match place {
        Place::State(at) => usize::from(at),
        Place::Memory { operand, offset } => {
            let at = 8 * usize::from(operand);
            let address = u64::from_le_bytes(addresses[at..at + 8].try_into().unwrap()) + u64::from(offset);
            assert!(address - window < (bytes.len() - usize::from(state::BYTES)) as u64);
            usize::from(state::BYTES) + (address - window) as usize
        }
    };
    let (old, new) = (bytes_of(before), bytes_of(after));
    for capture in &lowered.captures {
        let (source, place, bytes, at) = match *capture {
            Capture::Before { place, bytes, at } => (&old, place, bytes, at),
            Capture::After { place, bytes, at } => (&new, place, bytes, at),
            Capture::Condition { condition, at } => {
                record[usize::from(at)] = holds(condition, before.flags).into();
                continue;
            }
            // Completed later.
            Capture::Map { .. } => continue,
        };
        let from = bytes_at(source, place);
        record[usize::from(at)..usize::from(at + bytes)]
            .copy_from_slice(&source[from..from + usize::from(bytes)]);
    }
    record
}

/// The processor's condition `condition` (Intel SDM vol. 1, appendix B).
fn holds(condition: u8, flags: u64) -> bool {
    let flag = |bit: u32| flags >> bit & 1 != 0;
    let (carry, parity, zero, sign, overflow) = (flag(0), flag(2), flag(6), flag(7), flag(11));
    let base = match condition >> 1 {
        0 => overflow,
        1 => carry,
        2 => zero,
        3 => carry || zero,
        4 => sign,
        5 => parity,
        6 => sign != overflow,
        _ => zero || sign != overflow,
    };
    base != (condition & 1 != 0)
}

fn clear_gap(gap: &Gap, before: &Machine, origins: &mut Origins) {
    use shadowgrind_core::shadow::{Cells, Location};
    for &(place, bytes) in &gap.writes {
        let location = match place {
            Place::State(at) => Location::State(at),
            Place::Memory { operand, offset } => {
                Location::Memory(address(&gap.addresses[usize::from(operand)], before) + u64::from(offset))
            }
        };
        origins.clear(location, bytes.into());
    }
}

fn is_stack_pointer(byte: usize) -> bool {
    (32..40).contains(&byte)
}

fn is_scratch(byte: usize) -> bool {
    (usize::from(state::SCRATCH)..usize::from(state::BYTES)).contains(&byte)
}

/// Comparisons and conversions that say another result than the instruction's.
fn unobserved(insn: &Instruction, ops: &OpCheck, after: &Machine) -> Option<String> {
    if insn.has_op_mask() {
        return None;
    }
    let to = insn.op0_register();
    let bytes = match to {
        _ if to.is_vector_register() => &after.vectors[to.number()][..],
        _ if to.is_gpr() => &after.general[to.number()].to_le_bytes()[..],
        _ => return None,
    };
    let (said, found): (Vec<i64>, Vec<i64>) = match rows::row(insn) {
        Row::Compare(format, _) => {
            let signs =
                bytes.chunks_exact(format.bytes()).map(|lane| i64::from(lane[format.bytes() - 1] >> 7));
            (ops.compared.iter().map(|&holds| holds.into()).collect(), signs.collect())
        }
        Row::ToInteger(_, _, shape) if !is_unsigned(insn.mnemonic()) => {
            let integers =
                bytes.chunks_exact(4).map(|lane| i64::from(i32::from_le_bytes(lane.try_into().unwrap())));
            let expected = if shape == Shape::Scalar { 1 } else { usize::from(packed_integers(insn)?) };
            if ops.converted.len() != expected {
                return Some(format!("{} conversions, not {expected}", ops.converted.len()));
            }
            (ops.converted.iter().map(|&value| value as i32 as i64).collect(), integers.collect())
        }
        _ => return None,
    };
    let agrees = said.iter().zip(&found).all(|(said, found)| said == found);
    (!agrees).then(|| format!("said to give {said:?}, gives {found:?}"))
}

/// Conversions that give something else for negative numbers.
fn is_unsigned(mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    matches!(mnemonic, Vcvtss2usi | Vcvtsd2usi | Vcvttss2usi | Vcvttsd2usi)
}

/// Number of signed 32-bit integers a packed conversion gives; `None` for integers of another kind.
fn packed_integers(insn: &Instruction) -> Option<u8> {
    use Mnemonic::*;
    let source = match insn.op1_kind() {
        OpKind::Register => insn.op1_register().size(),
        _ => insn.code().op_code().memory_size().size(),
    };
    match insn.mnemonic() {
        Cvtps2dq | Cvttps2dq | Vcvtps2dq | Vcvttps2dq => Some(source as u8 / 4),
        Cvtpd2dq | Cvttpd2dq | Vcvtpd2dq | Vcvttpd2dq => Some(source as u8 / 8),
        _ => None,
    }
}

/// Tells whether shadows stay or travel although the bytes are others.
fn is_representation(insn: &Instruction) -> bool {
    matches!(insn.mnemonic(), Mnemonic::Fild | Mnemonic::Xor)
        || matches!(rows::row(insn), Row::General(General::Not) | Row::Ternary(_))
}

/// Bytes that are said to come from somewhere but differ from what was there.
pub(super) fn wrong(origins: &Origins) -> Vec<String> {
    let mut found = Vec::new();
    for (byte, &origin) in origins.origin.iter().enumerate() {
        if origin == NONE || origin == COMPUTED || is_stack_pointer(byte) || is_scratch(byte) {
            continue;
        }
        let (before, after) = (origins.before[origin as usize], origins.after[byte]);
        if before != after {
            found.push(format!("byte {byte} is {after:#x}, said to be byte {origin}: {before:#x}"));
        }
    }
    found
}

/// Bytes whose shadow is dropped though they only moved, or did not even change.
fn lost(runs: &[Run], row: Row, insn: &Instruction) -> Vec<String> {
    let moves = match row {
        // Copies of a sign are nothing that moved.
        Row::Move(..) => rows::beside(insn.code()) == insn.code(),
        Row::Gather(_) => true,
        Row::General(General::Move | General::Exchange | General::ByteSwap | General::MoveReversed) => {
            (0..insn.op_count()).all(|n| matches!(insn.op_kind(n), OpKind::Register | OpKind::Memory))
        }
        _ => false,
    };
    let may_clear_unchanged = matches!(
        row,
        Row::Integer
            | Row::Digits
            | Row::General(_)
            | Row::Logic(..)
            | Row::Trick(..)
            | Row::Ternary(_)
            // A constant may have a byte of what was there.
            | Row::FixUp(..)
            | Row::Gap(_)
            | Row::X87(_)
    );
    let mut found = Vec::new();
    for byte in 0..runs[0].origin.len() {
        let dropped = runs.iter().all(|run| run.origin[byte] == NONE);
        if !dropped || is_scratch(byte) || is_stack_pointer(byte) {
            continue;
        }
        let mmx_high =
            byte >= usize::from(state::X87) && byte < usize::from(state::SCRATCH) && byte % 16 >= 8;
        if moves && !mmx_high && !is_gather_mask(insn, byte) && runs.iter().any(|run| run.after[byte] != 0) {
            found.push(format!("byte {byte} moved from somewhere, said to be nothing"));
        }
        if !may_clear_unchanged
            && !mmx_high
            && runs.iter().all(|run| run.before[byte] == run.after[byte] && run.after[byte] != 0)
        {
            found.push(format!("byte {byte} did not change, said to be nothing"));
        }
    }
    found
}

fn is_gather_mask(insn: &Instruction, byte: usize) -> bool {
    insn.is_vsib()
        && insn.op2_register() != Register::None
        && usize::from(state::vector(insn.op2_register().number())) / 64 == byte / 64
}

/// The physical x87 register on top after `insn`; `None` where that depends on data or memory.
fn top_after(insn: &Instruction, top: u8) -> Option<u8> {
    match rows::row(insn) {
        Row::State(Image::Floats, Direction::Save) => return Some(0),
        // With MMX, some processors reset it, some do not.
        Row::X87(X87::Reset) => return insn.cpuid_features().contains(&CpuidFeature::FPU).then_some(0),
        Row::State(_, Direction::Restore) => return None,
        _ => {}
    }
    let change = insn.fpu_stack_increment_info();
    if change.writes_top() {
        let known = !change.conditional() && change.increment() != 0;
        return known.then(|| (i32::from(top) + change.increment()).rem_euclid(8) as u8);
    }
    let is_mmx = |n: u32| insn.op_kind(n) == OpKind::Register && insn.op_register(n).is_mm();
    // Every other MMX instruction resets the top.
    Some(if (0..insn.op_count()).any(is_mmx) { 0 } else { top })
}
