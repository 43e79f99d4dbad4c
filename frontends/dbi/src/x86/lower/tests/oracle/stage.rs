//! Memory and registers as translated code finds them, and one instruction run there with what is emitted beside it.

use super::snapshot::Snapshot;
use super::{Binding, START};
use crate::context::{Context, XSAVE_MASK};
use crate::engine::stubs::{self, Stubs};
use crate::engine::{planes, switch, sys};
use crate::mailbox::{self, Mailbox};
use crate::registers::{self, RegisterShadows};
use crate::runtime::{Carrier, check_host, has_upper_registers, turned_doubles};
use crate::shadows::ShadowKind;
use crate::x86::code::{ExitSite, Frame, Placement};
use crate::x86::emit::Emitter;
use crate::x86::lower::tests::WITHOUT_AVX512;
use crate::x86::lower::tests::native::{Machine, Native, WINDOW};
use crate::x86::mirror::{Mirror, Settings, Watched};
use crate::x86::rules::constant_bytes;
use crate::x86::state;
use crate::x86::superblock::Superblock;
use shadowgrind_core::shadow;
use shadowgrind_core::site::Site;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard};

/// Layout of the engine's memory, which code addresses relative to itself; beyond what the arena hands out to other tests.
const CONTEXT: u64 = 0x7001_0000;
const CONSTANTS: u64 = 0x7004_0000;
const ATOMICS: u64 = 0x7005_0000;
const STUBS: u64 = 0x7006_0000;
const TABLE: u64 = 0x7010_0000;
const CODE: u64 = 0x7100_0000;
const COLD: u64 = CODE + 0x1_0000;
const END: u64 = CODE + 0x2_0000;

const PAGE: u64 = 4096;
const FIRST_EXIT: u32 = 16;

/// Memory that was made ready, once for all tests.
struct Engine {
    frame: Frame,
    context: &'static mut Context,
    mailbox: &'static Mailbox,
}

static ENGINE: LazyLock<Mutex<Engine>> = LazyLock::new(|| Mutex::new(Engine::new()));

impl Engine {
    fn new() -> Engine {
        let all = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
        sys::map_at(CONTEXT - 0x1_0000, END + 0x1_0000 - CONTEXT, all).expect("the engine's place is free");
        planes::map().expect("the mirror's place is free");
        // The instruction is looked at once more where it is recorded.
        sys::map_at(START, PAGE, libc::PROT_READ | libc::PROT_WRITE).expect("the guest's place is free");
        let (frame, stubs) = put_stubs(0);
        put(CONSTANTS, &constant_bytes());
        // SAFETY: the mapping was just made, has room for it, and stays for the life of the process.
        let (context, mailbox) = unsafe { mailbox::place_context(CONTEXT) };
        context.xsave_mask = XSAVE_MASK & components();
        context.enter_stub = stubs.enter;
        Engine { frame, context, mailbox }
    }
}

/// Puts stubs in their place, the evaluator's for this one.
fn put_stubs(evaluator: u64) -> (Frame, Stubs) {
    let tables = std::array::from_fn(|n| TABLE + 0x10_0000 * n as u64);
    let (frame, stubs, code) = stubs::build(CONTEXT, tables, STUBS, [0, evaluator]);
    put(STUBS, code.code());
    (frame, stubs)
}

/// A shadow carried under a binding, and the memory in which its code runs.
pub(super) struct Stage {
    engine: MutexGuard<'static, Engine>,
    kind: ShadowKind,
    binding: Binding,
    pub(super) carrier: Arc<dyn Carrier>,
    emitter: Emitter,
    /// The thread's number among those that record, and the number of its operations that are known.
    thread: Option<usize>,
    learned: usize,
}

impl Stage {
    pub(super) fn new(kind: ShadowKind, binding: Binding, shadow: &shadow::Settings) -> Stage {
        let mut engine = ENGINE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        sys::set_gs_base(planes::GS_BASE);
        let evaluator = kind.functions().map_or(0, |functions| functions.evaluate as *const () as u64);
        let (frame, stubs) = put_stubs(evaluator);
        (engine.frame, engine.context.enter_stub) = (frame, stubs.enter);
        let carrier = kind.carry(shadow, check_host().ok());
        let thread = carrier.add_buffer(&engine.mailbox.recording);
        let (inline, policy) = (kind.inline(), kind.policy());
        let settings = Settings {
            in_registers: binding.in_registers(kind),
            records: kind.records(),
            appends: kind.appends(),
            roundings: shadow.budget,
            rule: inline.map(|inline| inline.rule),
            doubt: inline.filter(|_| policy.comparisons).map(|inline| inline.doubt),
            suspicion: inline.filter(|_| policy.watch.is_some()).map(|inline| inline.suspicion),
            policy,
            slow: false,
            constants: CONSTANTS,
            atomics: ATOMICS,
            turned: turned_doubles().expect("room for the table").address(),
            wide: binding == Binding::Wide,
            has_avx512: matches!(binding, Binding::Upper | Binding::Wide),
            guest_end: crate::engine::layout::GUEST_END,
            vdso: (0, 0),
        };
        let mut mirror = Mirror::new(settings);
        // The first executions would be the engine's, all of them.
        let wide = binding == Binding::Wide;
        mirror.watch(START, if wide { Watched::Never } else { Watched::Suspicious });
        let emitter = Emitter::new(engine.frame, Some(mirror));
        Stage { engine, kind, binding, carrier, emitter, thread, learned: 0 }
    }

    fn shadows(&mut self) -> RegisterShadows<'_> {
        let in_registers = self.binding.in_registers(self.kind);
        RegisterShadows { context: self.engine.context, in_registers }
    }

    /// Hands the shadows of registers to `f`.
    pub(super) fn with_shadows<R>(
        &mut self,
        f: impl FnOnce(&dyn Carrier, &mut RegisterShadows<'_>) -> R,
    ) -> R {
        let carrier = self.carrier.clone();
        f(&*carrier, &mut self.shadows())
    }

    /// Puts a machine and its shadows where translated code has them.
    pub(super) fn prepare(&mut self, native: &mut Native, machine: &Machine, shadows: &[u8]) {
        let window = native.memory();
        native.window().copy_from_slice(&machine.memory);
        let has_upper = self.binding.in_registers(self.kind) > 0;
        let context = &mut *self.engine.context;
        context.reset_cpu_state();
        registers::complete_image(context);
        // The top first: physical registers are found by it.
        context.xsave.0[3] = machine.top << 3;
        context.xsave.0[4] = machine.in_use;
        let state = machine.state();
        let (general, vectors) = state.split_at(usize::from(state::VECTOR));
        registers::write_value(context, 0, general);
        let kept = if has_upper { 16 } else { 32 };
        registers::write_value(context, state::VECTOR, &vectors[..64 * kept]);
        for n in 0..8 {
            let at = state::x87(n, 0);
            registers::write_value(context, at, &state[usize::from(at)..][..10]);
        }
        if self.binding == Binding::Wide {
            registers::write_value(context, state::MASKS, &state[usize::from(state::MASKS)..][..64]);
        }
        context.rflags = machine.flags;
        // Each test has a thread of its own.
        context.host_fs = sys::fs_base();
        context.guest_fs = context.host_fs;
        let mut registers = self.shadows();
        registers.keep_masks();
        for (n, cell) in shadows[..usize::from(state::SCRATCH)].chunks_exact(8).enumerate() {
            let at = 8 * n as u16;
            registers.bytes(at, 8).copy_from_slice(cell);
        }
        registers.note_x87();
        planes::write(window, &shadows[usize::from(state::BYTES)..]);
    }

    /// The state as it is; cells that are handed out as what they stand for.
    pub(super) fn snapshot(&mut self, native: &mut Native) -> Snapshot {
        let window = native.memory();
        let memory = native.window().to_vec();
        let has_upper = self.binding.in_registers(self.kind) > 0;
        let context = &mut *self.engine.context;
        registers::complete_image(context);
        let vectors = if has_upper { 16 } else { 32 };
        let mut values = vec![0; usize::from(state::VECTOR) + 64 * vectors];
        registers::read_value(context, 0, &mut values);
        values.resize(usize::from(state::X87), 0);
        for n in 0..8 {
            let mut register = [0; 16];
            registers::read_value(context, state::x87(n, 0), &mut register[..10]);
            values.extend(register);
        }
        values.extend(memory);
        if self.binding == Binding::Wide {
            let mut masks = [0; 64];
            registers::read_value(context, state::MASKS, &mut masks);
            values.extend(masks);
        }
        let flags = context.rflags;
        let mut registers = self.shadows();
        let mut shadows: Vec<u8> =
            (0..state::SCRATCH / 8).flat_map(|n| registers.bytes(8 * n, 8).to_vec()).collect();
        let mut mirror = vec![0; WINDOW];
        planes::read(window, &mut mirror);
        shadows.extend(mirror);
        let snapshot = Snapshot { values, shadows, flags };
        match self.thread {
            Some(_) => snapshot.read_cells(&*self.carrier, self.kind.records()),
            None => snapshot,
        }
    }

    /// Emits the block, runs it and replays what it has recorded. Returns the exit that it took; nothing if that is not one
    /// of the block's.
    pub(super) fn emitted(&mut self, bytes: &[u8], block: &Superblock, before: &Machine) -> Option<ExitSite> {
        put(START, bytes);
        let mode = self.binding.mode(self.shadows().cells()).with_top(before.top);
        let place = Placement { hot: CODE, cold: COLD, first_exit: FIRST_EXIT, runs: None };
        self.emitter.emit(block, place, mode, false);
        put(CODE, self.emitter.out.hot.code());
        put(COLD, self.emitter.out.cold.code());
        if let (Some(thread), Some(mirror)) = (self.thread, &self.emitter.mirror) {
            let new: Vec<_> =
                mirror.recorded()[self.learned..].iter().map(|&new| (new, Site::default())).collect();
            self.carrier.learn(thread, &new);
            self.learned += new.len();
        }
        let context = &mut *self.engine.context;
        context.entry = self.emitter.out.entry;
        // SAFETY: the context is the lock's owner's, and the code at its entry was made for it.
        unsafe { switch::enter(context) };
        let exit = (context.exit as u32).checked_sub(FIRST_EXIT)?;
        if let Some(thread) = self.thread {
            self.carrier.replay_records(thread);
        }
        self.emitter.out.exits.get(exit as usize).copied()
    }

    /// From now on the instruction is taken for one that has met shadows often; what it loses is counted under number 0.
    pub(super) fn meets_often(&mut self) {
        self.emitter.mirror.iter_mut().for_each(|mirror| mirror.mark_hot(START, Some(0)));
    }

    /// Number of times that translated code has counted under number 0.
    pub(super) fn counted(&self) -> u64 {
        self.engine.context.counts().iter().next().expect("there are numbers")
    }

    /// Takes what the shadow was shown of comparisons and conversions, in any order.
    pub(super) fn shown(&mut self) -> Vec<u64> {
        let trace = self.carrier.observer().trace();
        let mut shown: Vec<u64> = trace.iter().map(|shown| shown.derivative.to_bits()).collect();
        shown.sort_unstable();
        shown
    }

    /// Forgets what cells stand for that nobody needs any more.
    pub(super) fn sweep(&mut self) {
        self.carrier.sweep(Vec::new(), 0);
    }

    /// General registers that carry a shadow, as a mask.
    pub(super) fn cells(&mut self) -> u16 {
        self.shadows().cells()
    }
}

/// State components that this processor has.
fn components() -> u64 {
    if has_upper_registers() { u64::MAX } else { WITHOUT_AVX512 }
}

/// Copies bytes into the engine's memory, or the guest's page.
fn put(at: u64, bytes: &[u8]) {
    let ends = [CONTEXT..END, START..START + PAGE];
    assert!(ends.iter().any(|range| range.contains(&at) && at + (bytes.len() as u64) < range.end));
    // SAFETY: inside the mappings that `Engine::new` has made, to which no reference exists now.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), at as *mut u8, bytes.len()) };
}
