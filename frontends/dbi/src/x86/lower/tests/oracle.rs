//! Annotations against replay: an instruction is emitted with what is emitted beside it, run on random values and shadows, and
//! everything that is left, registers, memory and shadows, is compared with the instruction run alone and its steps replayed.
//!
//! An annotation may leave the instruction to the engine, which is the reference path: nothing must have changed then. Knows
//! shadows whose cells are numbers in place, by whatever name.

use super::check::{Checker, record};
use super::native::{Machine, WINDOW};
use super::{is_evex, operands};
use crate::context::{Context, XSAVE_MASK};
use crate::engine::{planes, stubs, switch, sys};
use crate::mailbox;
use crate::registers::{self, RegisterShadows};
use crate::runtime::{Carrier, has_upper_registers};
use crate::shadows::ShadowKind;
use crate::x86::access;
use crate::x86::code::{ExitKind, ExitSite, Frame, Placement};
use crate::x86::discover::discovered;
use crate::x86::emit::Emitter;
use crate::x86::lower::{LoweredInsn, Lowering};
use crate::x86::mirror::{Mirror, Settings};
use crate::x86::mode::Mode;
use crate::x86::rules::constant_bytes;
use crate::x86::state;
use iced_x86::{Code, Encoder, Instruction};
use shadowgrind_core::site::Site;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Layout of the engine's memory, which code addresses relative to itself; beyond what the arena hands out to other tests.
const CONTEXT: u64 = 0x7001_0000;
const CONSTANTS: u64 = 0x7004_0000;
const ATOMICS: u64 = 0x7005_0000;
const STUBS: u64 = 0x7006_0000;
const TABLE: u64 = 0x7010_0000;
const CODE: u64 = 0x7100_0000;
const COLD: u64 = CODE + 0x1_0000;
const END: u64 = CODE + 0x2_0000;
/// Guest address of the instruction.
const START: u64 = 0x1000_0000;

const FIRST_EXIT: u32 = 16;

/// Binding of shadows to the processor.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Binding {
    /// Shadows in upper registers.
    Upper,
    /// Shadows in memory, on a processor without AVX-512.
    Memory,
    /// Likewise, the upper halves of registers being zero.
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
}

/// Share of cells that carry a shadow.
#[derive(Clone, Copy, Debug)]
enum Density {
    None,
    Some,
    All,
}

/// Everything that an instruction may change, in one row of bytes: state and window, and the shadows of both.
#[derive(Clone, PartialEq)]
struct Snapshot {
    values: Vec<u8>,
    shadows: Vec<u8>,
    flags: u64,
}

/// Counts of what became of executions, by binding.
#[derive(Default, Debug)]
struct Tally {
    beside: u64,
    left: u64,
    skipped: u64,
}

struct Oracle {
    checker: Checker,
    kind: ShadowKind,
    carrier: Arc<dyn Carrier>,
    frame: Frame,
    context: &'static mut Context,
}

impl Oracle {
    fn new(kind: ShadowKind) -> Oracle {
        let all = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
        sys::map_at(CONTEXT - 0x1_0000, END + 0x1_0000 - CONTEXT, all).expect("the engine's place is free");
        planes::map().expect("the mirror's place is free");
        sys::set_gs_base(planes::GS_BASE);
        let (frame, stubs, code) =
            stubs::build(CONTEXT, std::array::from_fn(|n| TABLE + 0x10_0000 * n as u64), STUBS, [0, 0]);
        put(STUBS, code.code());
        put(CONSTANTS, &constant_bytes());
        // SAFETY: the mapping was just made, has room for it, and stays for the life of the process.
        let (context, _) = unsafe { mailbox::place_context(CONTEXT) };
        context.xsave_mask = XSAVE_MASK & components();
        context.host_fs = sys::fs_base();
        context.guest_fs = context.host_fs;
        context.enter_stub = stubs.enter;
        let carrier = kind.carry(&Default::default(), None);
        let mut checker = Checker::new(u64::MAX);
        assert!(checker.native().memory() < crate::engine::layout::GUEST_END);
        Oracle { checker, kind, carrier, frame, context }
    }

    /// Problems with an instruction of this code; nothing if there was nothing to compare.
    fn check(&mut self, code: Code, binding: Binding, density: Density, tally: &mut Tally) -> Option<String> {
        let window = self.checker.native().memory();
        let insn = operands::random(code, window, self.checker.rng())?;
        let bytes = encoded(&insn)?;
        let block = discovered(START, &bytes, 0);
        let insn = block.insns.first()?.decoded;
        if insn.code() != code || !binding.takes(&insn) || block.insns.len() != 1 {
            return None;
        }
        let mut before = self.checker.machine(&insn, crate::x86::rows::row(&insn));
        if binding != Binding::Wide {
            narrow(&mut before, if binding == Binding::Narrow { 16 } else { 32 });
        }
        let lowering = self.checker.lowerer().lower(&insn, before.top, None);
        let steps = match lowering {
            Lowering::Steps(steps) => Some(steps),
            Lowering::Nothing => None,
            _ => {
                tally.skipped += 1;
                return None;
            }
        };
        let shadows = self.shadows(binding, density);
        let after = self.checker.native().run(&insn, &before)?;
        let expected = self.replayed(binding, steps.as_deref(), (&before, &after), &shadows);
        self.prepare(binding, &before, &shadows);
        let start = self.snapshot(binding);
        let (exits, found) = self.emitted(&block, binding, &before);
        let exit = *exits.get((found.checked_sub(FIRST_EXIT)?) as usize)?;
        let end = self.snapshot(binding);
        let problems = match exit.kind {
            // The engine has the last word on it.
            ExitKind::Executed(_) => return None,
            ExitKind::Jump(to, _) if to != START => {
                tally.beside += 1;
                if access::has_more_than_sse(&insn) {
                    differences(&expected, &end)
                } else {
                    differences(&as_sse(&expected, &end), &end)
                }
                .into_iter()
                .chain(self.unknown_cells(exit))
                .collect()
            }
            // To the engine, or to the block for more cells. The instruction is to come, and flags that it sets are free.
            _ => {
                tally.left += 1;
                differences(&Snapshot { flags: end.flags, ..start }, &end)
            }
        };
        Some(describe(&insn, binding, density, exit, problems))
    }

    /// Random shadows of state and window. Those of stack pointers and of what no shadow is kept of are none.
    fn shadows(&mut self, binding: Binding, density: Density) -> Vec<u8> {
        let rng = self.checker.rng();
        let mut shadows = vec![0; usize::from(state::BYTES) + WINDOW];
        for cell in shadows.as_chunks_mut::<8>().0 {
            let is_there = match density {
                Density::None => false,
                Density::Some => rng.below(3) == 0,
                Density::All => true,
            };
            if is_there {
                let exponents = [rng.below(16), rng.below(16)];
                let bits = rng.next();
                // A double, or two floats, of ordinary size.
                *cell = if rng.below(2) == 0 {
                    (bits & !(0x7ff << 52) | (1015 + exponents[0]) << 52).to_le_bytes()
                } else {
                    let half = |bits: u64, exponent: u64| bits & 0x807f_ffff | (119 + exponent) << 23;
                    (half(bits, exponents[0]) | half(bits >> 32, exponents[1]) << 32).to_le_bytes()
                };
            }
        }
        let vectors = usize::from(state::VECTOR);
        let kept = if binding == Binding::Wide {
            64
        } else if binding == Binding::Narrow {
            16
        } else {
            32
        };
        for n in 0..32 {
            let register = &mut shadows[vectors + 64 * n..][..64];
            register[if n < 16 || binding == Binding::Wide { kept } else { 0 }..].fill(0);
        }
        shadows[usize::from(state::general(4))..][..8].fill(0);
        // x87 has values of its own beside it, which are not looked at here.
        shadows[usize::from(state::X87)..usize::from(state::BYTES)].fill(0);
        shadows
    }

    /// Puts a machine and its shadows where translated code has them.
    fn prepare(&mut self, binding: Binding, machine: &Machine, shadows: &[u8]) {
        let in_registers = binding.in_registers(self.kind);
        let window = self.checker.native().memory();
        self.checker.native().window().copy_from_slice(&machine.memory);
        let context = &mut *self.context;
        context.reset_cpu_state();
        registers::complete_image(context);
        // The top first: physical registers are found by it.
        context.xsave.0[3] = machine.top << 3;
        context.xsave.0[4] = machine.in_use;
        let state = machine.state();
        let (general, vectors) = state.split_at(usize::from(state::VECTOR));
        registers::write_value(context, 0, general);
        let kept = if in_registers > 0 { 16 } else { 32 };
        registers::write_value(context, state::VECTOR, &vectors[..64 * kept]);
        for n in 0..8 {
            let at = state::x87(n, 0);
            registers::write_value(context, at, &state[usize::from(at)..][..10]);
        }
        context.rflags = machine.flags;
        context.guest_fs = sys::fs_base();
        context.x87_shadowed = 0;
        let mut registers = RegisterShadows { context, in_registers };
        registers.keep_masks();
        for (n, cell) in shadows[..usize::from(state::SCRATCH)].chunks_exact(8).enumerate() {
            let at = 8 * n as u16;
            registers.bytes(at, 8).copy_from_slice(cell);
        }
        planes::write(window, &shadows[usize::from(state::BYTES)..]);
    }

    fn snapshot(&mut self, binding: Binding) -> Snapshot {
        let in_registers = binding.in_registers(self.kind);
        let window = self.checker.native().memory();
        let memory = self.checker.native().window().to_vec();
        let context = &mut *self.context;
        registers::complete_image(context);
        let vectors = if in_registers > 0 { 16 } else { 32 };
        let mut values = vec![0; usize::from(state::VECTOR) + 64 * vectors];
        registers::read_value(context, 0, &mut values);
        values.resize(usize::from(state::X87), 0);
        for n in 0..8 {
            let mut register = [0; 16];
            registers::read_value(context, state::x87(n, 0), &mut register[..10]);
            values.extend(register);
        }
        values.extend(memory);
        let flags = context.rflags;
        let mut registers = RegisterShadows { context, in_registers };
        let mut shadows: Vec<u8> =
            (0..state::SCRATCH / 8).flat_map(|n| registers.bytes(8 * n, 8).to_vec()).collect();
        let mut mirror = vec![0; WINDOW];
        planes::read(window, &mut mirror);
        shadows.extend(mirror);
        Snapshot { values, shadows, flags }
    }

    /// The state after the instruction alone, and the shadows that its steps leave.
    fn replayed(
        &mut self,
        binding: Binding,
        steps: Option<&LoweredInsn>,
        (before, after): (&Machine, &Machine),
        shadows: &[u8],
    ) -> Snapshot {
        self.prepare(binding, after, shadows);
        if let Some(steps) = steps {
            let window = self.checker.native().memory();
            let mut record = record(steps, before, after, window);
            self.checker.lowerer().complete(steps, &mut record);
            let in_registers = binding.in_registers(self.kind);
            let carrier = self.carrier.clone();
            let mut registers = RegisterShadows { context: self.context, in_registers };
            carrier.replay(&steps.lowered, Site::default(), &record, &mut registers, false);
        }
        self.snapshot(binding)
    }

    /// Emits the block and runs it; returns its exits, and the number of the one by which it left.
    fn emitted(
        &mut self,
        block: &crate::x86::superblock::Superblock,
        binding: Binding,
        before: &Machine,
    ) -> (Vec<ExitSite>, u32) {
        let in_registers = binding.in_registers(self.kind);
        let cells = RegisterShadows { context: self.context, in_registers }.cells();
        let settings = Settings {
            in_registers,
            records: false,
            appends: false,
            roundings: false,
            rule: self.kind.inline().map(|inline| inline.rule),
            doubt: None,
            suspicion: None,
            policy: self.kind.policy(),
            slow: false,
            constants: CONSTANTS,
            atomics: ATOMICS,
            wide: binding == Binding::Wide,
            has_avx512: matches!(binding, Binding::Upper | Binding::Wide),
            guest_end: crate::engine::layout::GUEST_END,
            vdso: (0, 0),
        };
        let mut emitter = Emitter::new(self.frame, Some(Mirror::new(settings)));
        let place = Placement { hot: CODE, cold: COLD, first_exit: FIRST_EXIT, runs: None };
        emitter.emit(block, place, binding.mode(cells).with_top(before.top), false);
        put(CODE, emitter.out.hot.code());
        put(COLD, emitter.out.cold.code());
        let context = &mut *self.context;
        context.entry = emitter.out.entry;
        // SAFETY: the context is this thread's, and the code at its entry was made for it.
        unsafe { switch::enter(context) };
        (emitter.out.exits, self.context.exit as u32)
    }

    /// General registers that carry a shadow although the code that follows takes it that they do not.
    fn unknown_cells(&mut self, exit: ExitSite) -> Option<String> {
        let ExitKind::Jump(_, mode) = exit.kind else { return None };
        let cells = RegisterShadows { context: self.context, in_registers: 0 }.cells();
        let unknown = cells & !mode.mask();
        (unknown != 0).then(|| format!("cells {unknown:#x} are taken for empty"))
    }
}

/// State components that this processor has.
fn components() -> u64 {
    if has_upper_registers() { u64::MAX } else { super::WITHOUT_AVX512 }
}

/// Tells whether mask registers are operands: annotations have them for themselves, where the guest is shown no AVX-512.
fn uses_masks(code: Code) -> bool {
    use iced_x86::OpCodeOperandKind as Kind;
    let is_mask = |kind: &Kind| matches!(kind, Kind::k_or_mem | Kind::k_reg | Kind::k_rm | Kind::k_vvvv);
    !is_evex(code) && code.op_code().op_kinds().iter().any(is_mask)
}

/// Copies bytes into the engine's memory.
fn put(at: u64, bytes: &[u8]) {
    assert!((CONTEXT..END).contains(&at) && at + (bytes.len() as u64) < END);
    // SAFETY: inside the mapping that `Oracle::new` has made, to which no reference exists now.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), at as *mut u8, bytes.len()) };
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

/// Expected state after an SSE instruction: annotations of one may leave no shadow above the low 16 bytes of a vector register, where
/// the instruction itself leaves what is there alone.
fn as_sse(expected: &Snapshot, found: &Snapshot) -> Snapshot {
    let mut expected = expected.clone();
    let vectors = usize::from(state::VECTOR)..usize::from(state::X87);
    let shadows = expected.shadows[vectors.clone()].chunks_exact_mut(64);
    for (expected, found) in shadows.zip(found.shadows[vectors].chunks_exact(64)) {
        if found[16..].iter().all(|&byte| byte == 0) {
            expected[16..].fill(0);
        }
    }
    expected
}

/// Pieces that differ, named.
fn differences(expected: &Snapshot, found: &Snapshot) -> Vec<String> {
    let mut problems = Vec::new();
    let state = usize::from(state::SCRATCH);
    for (what, expected, found) in
        [("value", &expected.values, &found.values), ("shadow", &expected.shadows, &found.shadows)]
    {
        let pairs = expected.chunks(8).zip(found.chunks(8)).enumerate();
        for (n, (expected, found)) in pairs.filter(|(_, (expected, found))| expected != found) {
            let at = 8 * n;
            let place = match at {
                _ if at < usize::from(state::VECTOR) => format!("register {n}"),
                _ if at < usize::from(state::X87) => format!("xmm{}+{}", at / 64 - 2, at % 64),
                _ if at < state => format!("x87 {}+{}", (at - usize::from(state::X87)) / 16, at % 16),
                _ => format!("memory {:#x}", at - state),
            };
            problems.push(format!("{what} of {place} is {found:02x?}, not {expected:02x?}"));
        }
    }
    if expected.flags != found.flags {
        problems.push(format!("flags are {:#x}, not {:#x}", found.flags, expected.flags));
    }
    problems
}

fn describe(
    insn: &Instruction,
    binding: Binding,
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
    let exit = exit.kind;
    format!(
        "{:?} {binding:?} {density:?}: {text} ({:?}, {exit:?})\n    {}",
        insn.code(),
        crate::x86::rows::row(insn),
        problems.join("\n    ")
    )
}

#[test]
fn annotations_do_what_replay_does() {
    let kinds = ShadowKind::ALL.iter().copied();
    let kind = kinds.into_iter().find(|kind| kind.inline().is_some()).expect("a shadow of numbers in place");
    let mut oracle = Oracle::new(kind);
    let mut bindings = vec![Binding::Memory, Binding::Narrow];
    if has_upper_registers() {
        bindings.extend([Binding::Upper, Binding::Wide]);
    } else {
        println!("SKIPPED: annotations that keep shadows in upper registers: no AVX-512");
    }
    let mut problems: BTreeMap<String, String> = BTreeMap::new();
    let mut tallies = Vec::new();
    for binding in bindings {
        let mut tally = Tally::default();
        for code in Code::values().filter(|&code| operands::can_run(code)) {
            for round in 0..6 {
                let density = [Density::None, Density::Some, Density::All][round % 3];
                let found = oracle.check(code, binding, density, &mut tally);
                if let Some(found) = found.filter(|found| !found.is_empty()) {
                    if !uses_masks(code) {
                        problems.insert(format!("{code:?} {binding:?}"), found);
                    }
                    break;
                }
            }
        }
        tallies.push((binding, tally));
    }
    println!("{tallies:?}");
    let problems: Vec<String> = problems.into_values().collect();
    assert!(problems.is_empty(), "{} codes differ:\n{}", problems.len(), problems.join("\n"));
}
