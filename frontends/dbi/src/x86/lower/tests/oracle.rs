//! Annotations against replay: an instruction is emitted with what is emitted beside it, run on random values and shadows, and
//! everything that is left, registers, memory and shadows, is compared with the instruction run alone and its steps replayed.
//!
//! An annotation may leave the instruction to the engine, which is the reference path: nothing must have changed then. Knows
//! shadows by the way in which their rules reach the guest: computed in place, recorded, or appended.

mod fields;
mod questions;
mod snapshot;
mod stage;

use super::cells::bytes_of;
use super::check::{Checker, address, record};
use super::native::{Machine, WINDOW};
use super::{is_evex, operands};
use crate::engine::planes;
use crate::registers;
use crate::runtime::{Carrier, has_upper_registers};
use crate::shadows::ShadowKind;
use crate::x86::access;
use crate::x86::code::{ExitKind, ExitSite};
use crate::x86::discover::discovered;
use crate::x86::lower::Lowering;
use crate::x86::mode::Mode;
use crate::x86::rows;
use crate::x86::state;
use crate::x86::superblock::Superblock;
use iced_x86::{Code, Encoder, Instruction};
use shadowgrind_core::format::Format;
use shadowgrind_core::shadow::Settings;
use shadowgrind_core::site::Site;
use shadowgrind_core::step::Place;
use shadowgrind_core::words::{InPlace, Words};
use snapshot::Snapshot;
use stage::Stage;
use std::collections::BTreeMap;

/// Executions at one place that a shadow which watches looks at, and more: after that replay has the rule alone to go by.
const LOOKED_AT: usize = 2048;

/// Said of an instruction that was not left to the engine though a question beside it wants that.
const UNASKED: &str = "the engine was to be asked";

/// Guest address of the instruction.
const START: u64 = 0x1000_0000;

/// Binding of shadows to the processor.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Binding {
    /// Shadows in upper registers.
    Upper,
    /// Shadows in memory, on a processor without AVX-512.
    Memory,
    /// Shadows in memory, the upper halves of registers being zero.
    Narrow,
    /// Shadows in memory, and the guest may use AVX-512.
    Wide,
}

impl Binding {
    fn mode(self, cells: u16) -> Mode {
        Mode::cells(cells).narrow(self == Binding::Narrow)
    }

    fn takes(self, insn: &Instruction) -> bool {
        match self {
            Binding::Wide => is_evex(insn.code()),
            Binding::Narrow => !access::has_more_than_sse(insn),
            Binding::Upper | Binding::Memory => !is_evex(insn.code()),
        }
    }

    fn in_registers(self, kind: ShadowKind) -> u8 {
        if self == Binding::Upper { registers::in_registers(kind.policy()) } else { 0 }
    }

    /// Bytes of a vector register that may be used.
    fn width(self) -> usize {
        match self {
            Binding::Wide => 64,
            Binding::Narrow => 16,
            Binding::Upper | Binding::Memory => 32,
        }
    }
}

/// Fraction of cells that carry a shadow.
#[derive(Clone, Copy, Debug)]
enum Density {
    None,
    Some,
    All,
}

/// Counts of what became of executions under one binding.
#[derive(Default, Debug)]
struct Tally {
    /// With what is emitted beside them, and of these such that changed a shadow.
    beside: u64,
    changed: u64,
    /// Left to the engine.
    left: u64,
    /// Left to the engine although no question beside the instruction wants that.
    unasked: u64,
    /// Asked, and answered.
    asked: u64,
    /// Shown to the shadow by comparisons and conversions.
    shown: u64,
    /// Without steps to compare with.
    skipped: u64,
}

struct Oracle {
    checker: Checker,
    kind: ShadowKind,
    binding: Binding,
    stage: Stage,
    tally: Tally,
    /// The instruction that was replayed last has lost digits of a float with a shadow.
    lost: bool,
}

impl Oracle {
    fn new(kind: ShadowKind, binding: Binding, settings: &Settings) -> Oracle {
        let mut checker = Checker::new(u64::MAX);
        assert!(checker.native().memory() < crate::engine::layout::GUEST_END);
        let stage = Stage::new(kind, binding, settings);
        let mut oracle = Oracle { checker, kind, binding, stage, tally: Tally::default(), lost: false };
        if oracle.watches() {
            let wide = binding == Binding::Wide;
            let code =
                if wide { Code::EVEX_Vaddpd_zmm_k1z_zmm_zmmm512b64_er } else { Code::Addsd_xmm_xmmm64 };
            (0..LOOKED_AT).for_each(|_| drop(oracle.check(code, Density::All)));
        }
        oracle
    }

    fn watches(&self) -> bool {
        self.kind.policy().watch.is_some()
    }

    /// Problems with an instruction of this code; nothing if there was nothing to compare.
    fn check(&mut self, code: Code, density: Density) -> Option<String> {
        let window = self.checker.native().memory();
        let mut insn = operands::random(code, window, self.checker.rng())?;
        if self.binding == Binding::Wide {
            operands::mask(&mut insn, self.checker.rng());
        }
        let bytes = encoded(&insn)?;
        let block = discovered(START, &bytes, 0);
        let insn = block.insns.first()?.decoded;
        if insn.code() != code || !self.binding.takes(&insn) || block.insns.len() != 1 {
            return None;
        }
        let row = rows::row(&insn);
        let mut before = self.checker.machine(&insn, row);
        if self.binding == Binding::Wide {
            before.masks = std::array::from_fn(|_| self.checker.rng().next());
        } else {
            narrow(&mut before, self.binding.width());
        }
        let shadows = self.shadows(density, &before, Checker::format_of(&insn, row));
        self.compare(&block, &before, &shadows, density)
    }

    /// Problems with the one instruction of `block`, run on a machine with these shadows.
    fn compare(
        &mut self,
        block: &Superblock,
        before: &Machine,
        shadows: &[u8],
        density: Density,
    ) -> Option<String> {
        let insn = block.insns.first()?.decoded;
        let lowering = self.checker.lowerer().lower(&insn, before.top, block.whole(insn.ip()));
        if matches!(lowering, Lowering::String(_) | Lowering::State(_)) {
            self.tally.skipped += 1;
            return None;
        }
        let after = self.checker.native().run(&insn, before)?;
        let is_asked = self.is_asked(&insn, &lowering, (before, &after), shadows);
        drop(self.stage.shown());
        let expected = self.replayed(&lowering, (before, &after), shadows);
        let to_show = self.stage.shown();
        if is_asked == Some(true) && self.is_watched_no_more(rows::row(&insn)) {
            // The rule alone has the last word on what is suspicious, too; replay does better.
            self.tally.skipped += 1;
            return None;
        }
        self.stage.prepare(self.checker.native(), before, shadows);
        let start = self.stage.snapshot(self.checker.native());
        let exit = self.stage.emitted(&encoded(&insn)?, block, before)?;
        let end = self.stage.snapshot(self.checker.native());
        let shown = self.stage.shown();
        let problems = match exit.kind {
            // The engine has the last word on it.
            ExitKind::Executed(_) => return None,
            ExitKind::Jump(to, _) if to != START => {
                self.tally.beside += 1;
                self.tally.changed += u64::from(start.shadows != end.shadows);
                let is_wide = access::has_more_than_sse(&insn);
                let expected = if is_wide { expected } else { expected.as_sse(&end) };
                let expected = if self.watches() { expected.as_unknown(&end) } else { expected };
                let mut problems = expected.as_turned(&end).differences(&end);
                problems.extend(self.unknown_cells(exit));
                problems.extend((is_asked == Some(true)).then(|| UNASKED.to_owned()));
                problems
                    .extend((shown != to_show).then(|| format!("shown are {shown:x?}, not {to_show:x?}")));
                self.tally.shown += shown.len() as u64;
                problems
            }
            // To the engine, or to the block for more cells. The instruction is to come, and flags that it sets are free.
            _ => {
                self.tally.left += 1;
                self.tally.unasked += u64::from(is_asked == Some(false));
                self.tally.asked += u64::from(is_asked == Some(true));
                Snapshot { flags: end.flags, ..start }.differences(&end)
            }
        };
        Some(self.describe(&insn, density, exit, problems))
    }

    /// Random shadows of state and window, of floats of `format` if it is known. Those of stack pointers and of what no shadow is
    /// kept of are none.
    fn shadows(&mut self, density: Density, before: &Machine, format: Option<Format>) -> Vec<u8> {
        let rng = self.checker.rng();
        let floats = bytes_of(before);
        let carrier = (self.kind.inline().is_none()).then(|| {
            self.stage.sweep();
            &*self.stage.carrier
        });
        let mut shadows = vec![0; usize::from(state::BYTES) + WINDOW];
        for (cell, float) in shadows.as_chunks_mut::<8>().0.iter_mut().zip(floats.as_chunks().0) {
            let is_there = match density {
                Density::None => false,
                Density::Some => rng.below(3) == 0,
                Density::All => true,
            };
            if is_there {
                let is_double = format.map_or(rng.below(2) == 0, |format| format == Format::F64);
                let bits = [rng.next(), rng.next()];
                *cell = match carrier {
                    Some(carrier) => handed_out(carrier, is_double, *float, bits),
                    None => in_place(is_double, bits),
                };
            }
        }
        let vectors = usize::from(state::VECTOR);
        for n in 0..32 {
            let register = &mut shadows[vectors + 64 * n..][..64];
            register[if n < 16 || self.binding == Binding::Wide { self.binding.width() } else { 0 }..]
                .fill(0);
        }
        shadows[usize::from(state::general(4))..][..8].fill(0);
        self.x87_shadows(density, before, &mut shadows);
        shadows
    }

    /// Random shadows of the x87 registers that are in use.
    fn x87_shadows(&mut self, density: Density, before: &Machine, shadows: &mut [u8]) {
        shadows[usize::from(state::X87)..usize::from(state::BYTES)].fill(0);
        let rng = self.checker.rng();
        for n in (0..8).filter(|n| before.in_use >> n & 1 != 0) {
            let is_there = match density {
                Density::None => false,
                Density::Some => rng.below(3) == 0,
                Density::All => true,
            };
            if !is_there {
                continue;
            }
            let mut float = [0; 16];
            float[..10].copy_from_slice(&before.x87[usize::from(n)]);
            let (bits, numbers) = (u128::from_le_bytes(float), [rng.next(), rng.next()]);
            let cell = match self.kind.inline() {
                Some(_) => InPlace.encode(Format::F80, bits, f64::from_le_bytes(in_place(true, numbers))),
                None => self.stage.carrier.cell(numbers[0] % 0xfffe + 1, Format::F80, bits),
            };
            shadows[usize::from(state::x87(n, 0))..][..16].copy_from_slice(&cell.to_le_bytes());
        }
    }

    /// The state after the instruction alone, and the shadows that its steps leave. Of one without support, what it writes has none:
    /// it is left to the engine wherever it reads one.
    fn replayed(
        &mut self,
        lowering: &Lowering,
        (before, after): (&Machine, &Machine),
        shadows: &[u8],
    ) -> Snapshot {
        self.stage.prepare(self.checker.native(), after, shadows);
        match lowering {
            Lowering::Steps(steps) => {
                let window = self.checker.native().memory();
                let mut record = record(steps, before, after, window);
                self.checker.lowerer().complete(steps, &mut record);
                self.lost = self.stage.with_shadows(|carrier, registers| {
                    carrier.replay(&steps.lowered, Site::default(), &record, registers, false).lost
                });
            }
            Lowering::Gap(gap) => {
                self.lost = self.stage.with_shadows(|_, registers| {
                    let lost = gap.reads.iter().any(|&(place, bytes)| match place {
                        Place::State(at) => registers.bytes(at, bytes.into()).iter().any(|&byte| byte != 0),
                        Place::Memory { operand, offset } => {
                            let at = address(&gap.addresses[usize::from(operand)], before);
                            planes::any(at + u64::from(offset), bytes.into())
                        }
                    });
                    for &(place, bytes) in &gap.writes {
                        match place {
                            Place::State(at) => registers.bytes(at, bytes.into()).fill(0),
                            Place::Memory { operand, offset } => {
                                let at = address(&gap.addresses[usize::from(operand)], before);
                                planes::clear(at + u64::from(offset), bytes.into());
                            }
                        }
                    }
                    lost
                })
            }
            _ => {}
        }
        self.stage.snapshot(self.checker.native())
    }

    /// General registers that carry a shadow although the code that follows takes it that they do not.
    fn unknown_cells(&mut self, exit: ExitSite) -> Option<String> {
        let ExitKind::Jump(_, mode) = exit.kind else { return None };
        let unknown = self.stage.cells() & !mode.mask();
        (unknown != 0).then(|| format!("cells {unknown:#x} are taken for empty"))
    }

    fn describe(
        &self,
        insn: &Instruction,
        density: Density,
        exit: ExitSite,
        mut problems: Vec<String>,
    ) -> String {
        if problems.is_empty() {
            return String::new();
        }
        problems.truncate(4);
        let mut text = String::new();
        iced_x86::Formatter::format(&mut iced_x86::GasFormatter::new(), insn, &mut text);
        let (exit, binding) = (exit.kind, self.binding);
        format!(
            "{:?} {binding:?} {density:?}: {text} ({:?}, {exit:?})\n    {}",
            insn.code(),
            rows::row(insn),
            problems.join("\n    ")
        )
    }
}

/// A number beside a double, or numbers beside two floats of four bytes, of ordinary size.
fn in_place(is_double: bool, [bits, exponents]: [u64; 2]) -> [u8; 8] {
    let [low, high] = [exponents & 15, exponents >> 4 & 15];
    if is_double {
        return (bits & !(0x7ff << 52) | (1015 + low) << 52).to_le_bytes();
    }
    let half = |bits: u64, exponent: u64| bits & 0x807f_ffff | (119 + exponent) << 23;
    (half(bits, low) | half(bits >> 32, high) << 32).to_le_bytes()
}

/// Cells that `carrier` hands out for this float, or these two.
fn handed_out(carrier: &dyn Carrier, is_double: bool, float: [u8; 8], numbers: [u64; 2]) -> [u8; 8] {
    // Small enough to be kept beside any float, and none is 0.
    let [low, high] = numbers.map(|number| number % 0xfffe + 1);
    let bits = u64::from_le_bytes(float);
    let cell = |number, format, bits: u64| carrier.cell(number, format, bits.into()) as u64;
    if is_double {
        return cell(low, Format::F64, bits).to_le_bytes();
    }
    let half = |number, bits| cell(number, Format::F32, bits);
    (half(low, bits & u64::from(u32::MAX)) | half(high, bits >> 32) << 32).to_le_bytes()
}

/// Tells whether mask registers are operands: annotations have them for themselves, where the guest is shown no AVX-512.
fn uses_masks(code: Code) -> bool {
    use iced_x86::OpCodeOperandKind as Kind;
    let is_mask = |kind: &Kind| matches!(kind, Kind::k_or_mem | Kind::k_reg | Kind::k_rm | Kind::k_vvvv);
    !is_evex(code) && code.op_code().op_kinds().iter().any(is_mask)
}

fn encoded(insn: &Instruction) -> Option<Vec<u8>> {
    let mut encoder = Encoder::new(64);
    encoder.encode(insn, START).ok()?;
    Some(encoder.take_buffer())
}

/// Clears vector registers above so many bytes, and those that the binding has not.
fn narrow(machine: &mut Machine, bytes: usize) {
    for (n, vector) in machine.vectors.iter_mut().enumerate() {
        vector[if n < 16 { bytes } else { 0 }..].fill(0);
    }
}

/// Problems with all codes under a shadow with these settings, each tried so many times in each binding.
fn problems(kind: ShadowKind, settings: &Settings, rounds: usize) -> Vec<String> {
    let mut bindings = vec![Binding::Memory, Binding::Narrow];
    if has_upper_registers() {
        bindings.extend([Binding::Upper, Binding::Wide]);
    } else {
        println!("SKIPPED: annotations that keep shadows in upper registers: no AVX-512");
    }
    let mut problems: BTreeMap<String, String> = BTreeMap::new();
    let (mut asked, mut shown) = (0, 0);
    for binding in bindings {
        let mut oracle = Oracle::new(kind, binding, settings);
        for code in Code::values().filter(|&code| operands::can_run(code) && !uses_masks(code)) {
            for round in 0..rounds {
                let density = [Density::All, Density::Some, Density::None][round % 3];
                let found = oracle.check(code, density);
                if let Some(found) = found.filter(|found| !found.is_empty()) {
                    problems.insert(format!("{code:?} {binding:?}"), found);
                    break;
                }
            }
        }
        println!("{binding:?}: {:?}", oracle.tally);
        assert!(oracle.tally.changed > 200 && oracle.tally.left > 0);
        asked += oracle.tally.asked;
        shown += oracle.tally.shown;
    }
    let policy = kind.policy();
    assert!((asked > 0) == (kind.inline().is_some() && policy.comparisons), "questions of {kind:?}: {asked}");
    assert!((shown > 0) == (kind.records() && policy.comparisons), "shown to {kind:?}: {shown}");
    problems.into_values().collect()
}

fn assert_none(problems: &[String]) {
    assert!(problems.is_empty(), "{} codes differ:\n{}", problems.len(), problems.join("\n"));
}

fn kind_named(name: &str) -> ShadowKind {
    *ShadowKind::ALL.iter().find(|kind| kind.name() == name).expect("a shadow of this name")
}

#[test]
fn what_is_computed_in_place_is_what_replay_makes() {
    let mut kinds = ShadowKind::ALL.iter().filter(|kind| kind.inline().is_some());
    let kind = kinds.find(|kind| kind.policy().watch.is_none()).expect("a shadow of numbers in place");
    assert_none(&problems(*kind, &Settings::default(), 6));
}

/// Replay has the rule alone to go by once a shadow has looked at enough executions.
#[test]
fn what_is_watched_is_what_replay_makes_and_seen_where_the_shadow_wants() {
    let mut kinds = ShadowKind::ALL.iter().filter(|kind| kind.inline().is_some());
    let kind = kinds.find(|kind| kind.policy().watch.is_some()).expect("a shadow that watches");
    assert_none(&problems(*kind, &Settings::default(), 6));
}

#[test]
fn what_is_recorded_is_what_replay_makes() {
    assert_none(&problems(kind_named("terms"), &Settings::default(), 3));
}

#[test]
fn what_is_appended_is_what_replay_makes() {
    assert_none(&problems(kind_named("numbering"), &Settings::default(), 3));
}

#[test]
fn what_is_appended_with_roundings_is_what_replay_makes() {
    assert_none(&problems(kind_named("numbering"), &Settings { budget: true, ..Settings::default() }, 3));
}
