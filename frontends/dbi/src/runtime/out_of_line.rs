//! Instructions out of line: run on their own between two stops, and replayed on the shadows then.
//!
//! The reference path of every annotation, and the only way of what is rare. The engine stops before the instruction with
//! all registers in the context, captures what the lowering asks for, has a block of this one instruction run, captures
//! the rest and replays.

mod edges;
mod parts_written;
mod replayed;

use super::Tool;
use super::entries::{Entry, LONGEST, OFTEN, Pending, runs_often};
use super::exchange;
use super::shadowed::Shadowed;
use super::stops;
use super::taken::{self, Before};
use super::visit;
use crate::context::{Context, DIRECTION_FLAG, reg};
use crate::engine::guest;
use crate::engine::planes::{self, GS_BASE};
use crate::engine::process::Process;
use crate::engine::sys;
use crate::engine::thread::Thread;
use crate::registers::{self, RegisterShadows};
use crate::session::{Decision, Noted};
use crate::x86::discover;
use crate::x86::lower::{AddressRecipe, LoweredInsn, Lowering};
use crate::x86::mirror::address_registers;
use crate::x86::mode::Mode;
use crate::x86::table::{General, Row};
use crate::x86::wholes::{self, Whole};
use crate::x86::{rows, state};
use iced_x86::{Instruction, OpKind};
use parts_written::{Ahead, is_alone};
use replayed::{overwrite, replay, state_image, string};
use shadowgrind_core::replay::Outcome;
use shadowgrind_core::shadow::{Derivatives, Exchange};
use shadowgrind_core::step::{Capture, Place};
use std::rc::Rc;

/// Tells whether string instructions go downwards.
fn goes_down(context: &Context) -> bool {
    context.rflags & DIRECTION_FLAG != 0
}

/// Lowest address of the `bytes` bytes of memory that a string instruction works on, by elements of `element` bytes; `first` is where the
/// element is that it begins with.
fn lowest(context: &Context, first: u64, bytes: u64, element: u64) -> u64 {
    let before = if goes_down(context) { bytes.saturating_sub(element) } else { 0 };
    first.wrapping_sub(before)
}

/// Guest addresses of an instruction's memory operands.
fn address_of(context: &Context, gs: u64, recipe: &AddressRecipe) -> u64 {
    recipe.address(|n| context.regs[n], context.guest_fs, gs)
}

/// An instruction that is to run out of line, at `thread.pc`.
pub(super) fn begin(thread: &mut Thread) {
    let gs = thread.guest_gs();
    let Some(pending) = prepared(thread, gs) else { return };
    if let Some(pc) = refused(thread, &pending) {
        thread.pc = pc;
        release(thread, &pending);
        thread.mode = stops::mode(thread);
        return;
    }
    if pending.guest_gs {
        sys::set_gs_base(gs);
    }
    set_going(thread, pending);
}

/// The instruction at `thread.pc` with what it needs from before it runs, its locks taken.
fn prepared(thread: &mut Thread, gs: u64) -> Option<Pending> {
    let mode = thread.mode;
    thread.mode = Mode::OUT_OF_LINE;
    registers::complete_image(thread.context);
    let top = registers::x87_top(thread.context);
    let (entry, is_doubtful) = lowered(thread, top)?;
    let shadowed = Shadowed::of_mut(&mut thread.client_state)?;
    let guest_gs = discover::uses_gs(&entry.insn);
    let locked = is_atomic(&entry.insn);
    let mut pending =
        Pending { entry, mode, top, guest_gs, locked, before: [0; 3], met: false, reads: Vec::new() };
    if locked {
        stops::lock_atomics(thread.process);
    }
    prepare(shadowed, thread.context, gs, &mut pending);
    pending.met |= is_doubtful;
    Some(pending)
}

/// Place where the program goes on if the instruction is refused, as [`exchange::refuse`] says.
fn refused(thread: &mut Thread, pending: &Pending) -> Option<u64> {
    if !pending.locked {
        return None;
    }
    let shadowed = Shadowed::of_mut(&mut thread.client_state)?;
    let tool = Tool::of(thread.process);
    let catches_up = tool.is_some_and(|tool| tool.policy().exchange == Exchange::Add);
    exchange::refuse(shadowed, thread.context, &pending.entry.insn, catches_up)
}

/// Lets the instruction run. If it does so often, it is annotated in its block from now on; and operations whose time has come
/// are watched.
fn set_going(thread: &mut Thread, pending: Pending) {
    let tool = Tool::of(thread.process);
    let Some(shadowed) = Shadowed::of_mut(&mut thread.client_state) else { return };
    let is_inline = tool.is_some_and(|tool| tool.inline().is_some());
    let in_place = tool.is_some_and(|tool| tool.policy().derivatives == Some(Derivatives::InPlace));
    let often = is_inline && runs_often(&pending.entry, shadowed.in_registers > 0, in_place);
    let entry = pending.entry.clone();
    let place = [thread.pc, entry.insn.next_ip() - 1];
    let due = tool.map(|tool| shadowed.out_of_line.watched_from_now(&entry, place, tool));
    shadowed.out_of_line.pending = Some(pending);
    let due = due.unwrap_or_default();
    due.iter().for_each(|&([pc, _], watched)| thread.translator.watch(pc, watched));
    if often {
        mark_hot(thread, &entry);
    }
    let own = often.then_some(place);
    thread.cache.forget_around(own.into_iter().chain(due.into_iter().map(|(place, _)| place)).flatten());
}

/// Has the instruction at `thread.pc` annotated in its block, by its number among the gaps if it is one.
fn mark_hot(thread: &mut Thread, entry: &Entry) {
    let insn = &entry.insn;
    let number = Tool::of(thread.process)
        .and_then(|tool| tool.session.number_of_gap(entry.site, insn.code() as usize, || stops::name(insn)));
    thread.translator.mark_hot(thread.pc, number);
}

/// The instruction at `thread.pc`, and whether it is doubtful that what it does to shadows is right.
fn lowered(thread: &mut Thread, top: u8) -> Option<(Rc<Entry>, bool)> {
    let (pc, gs) = (thread.pc, thread.guest_gs());
    let mut bytes = [0; LONGEST];
    guest::read_some(pc, &mut bytes);
    let sums = thread.translator.sums(pc);
    let derives = Tool::of(thread.process).is_some_and(|tool| tool.policy().derivatives.is_some());
    let seen =
        thread.translator.whole(pc).filter(|&whole| derives || matches!(whole, Whole::Mixed | Whole::Upper));
    let shadowed = Shadowed::of_mut(&mut thread.client_state)?;
    let entry = shadowed.out_of_line.entry(thread.process, pc, bytes, top, sums, seen)?;
    let context = &mut *thread.context;
    let copier = thread.translator.copier(pc);
    if let Some(number) = copier {
        shadowed.parts.looks().has_copied_to(pc, context.copied_to[number]);
    }
    let verdict =
        Ahead { shadowed: &mut *shadowed, context: &mut *context, gs, insn: &entry.insn }.part(seen);
    let may_copy = copier.is_none() && shadowed.parts.looks().copies_often(pc);
    let copies = may_copy && thread.translator.copies_doubles(pc);
    if let Some(number) = copier {
        context.copied_to[number] = shadowed.parts.looks().copied_to(pc);
    }
    let insn = &entry.insn;
    let may_be_alone = shadowed.parts.derives && (wholes::may_be_alone(insn) || wholes::may_be_beside(insn));
    let told = match verdict.whole {
        whole if whole == seen => entry.clone(),
        whole => shadowed.out_of_line.entry(thread.process, pc, bytes, top, sums, whole)?,
    };
    let is_unseen = matches!(seen, None | Some(Whole::Assembled));
    let writes_alone = is_unseen && may_be_alone && is_alone(&entry, verdict);
    if writes_alone {
        thread.translator.writes_alone(pc);
    }
    let becomes_upper = verdict.whole == Some(Whole::Upper) && seen != verdict.whole;
    if becomes_upper {
        thread.translator.changes_upper_half(pc);
    }
    if writes_alone || copies || becomes_upper {
        thread.cache.forget_around([pc, entry.insn.next_ip() - 1]);
    }
    Some((told, verdict.is_doubtful))
}

fn is_atomic(insn: &Instruction) -> bool {
    let memory = (0..insn.op_count()).any(|n| insn.op_kind(n) == OpKind::Memory);
    memory && (insn.has_lock_prefix() || rows::row(insn) == Row::General(General::Exchange))
}

/// Captures what is asked for before the instruction.
fn prepare(shadowed: &mut Shadowed, context: &mut Context, gs: u64, pending: &mut Pending) {
    let entry = pending.entry.clone();
    let is_of_float = address_registers(&entry.insn).any(|register| {
        let mut registers = RegisterShadows { context, in_registers: shadowed.in_registers };
        registers.bytes(state::general(register.number()), 8).iter().any(|&byte| byte != 0)
    });
    pending.met = is_of_float && shadowed.parts.looks_up(&entry.insn, &context.regs);
    match &entry.lowering {
        Lowering::Nothing => {}
        Lowering::Steps(steps) => capture_before(shadowed, context, gs, steps),
        Lowering::String(_) => {
            pending.before = [context.regs[reg::RCX], context.regs[reg::RSI], context.regs[reg::RDI]];
        }
        Lowering::State(op) => pending.before[0] = address_of(context, gs, &op.image),
        Lowering::Gap(gap) => {
            let addresses: Vec<u64> =
                gap.addresses.iter().map(|recipe| address_of(context, gs, recipe)).collect();
            shadowed.out_of_line.record.clear();
            addresses.iter().for_each(|address| shadowed.out_of_line.record.extend(address.to_le_bytes()));
            pending.reads = taken::read(shadowed, context, &gap.reads, &addresses);
            pending.met |= gap.reads.iter().any(|&(place, bytes)| {
                let mut registers = RegisterShadows { context, in_registers: shadowed.in_registers };
                carries(&mut registers, &addresses, place, bytes)
            });
        }
    }
}

fn carries(registers: &mut RegisterShadows<'_>, addresses: &[u64], place: Place, bytes: u16) -> bool {
    match place {
        Place::State(at) => registers.bytes(at, usize::from(bytes)).iter().any(|&byte| byte != 0),
        Place::Memory { operand, offset } => {
            planes::any(addresses[usize::from(operand)].wrapping_add(u64::from(offset)), u64::from(bytes))
        }
    }
}

fn capture_before(shadowed: &mut Shadowed, context: &mut Context, gs: u64, steps: &LoweredInsn) {
    let record = &mut shadowed.out_of_line.record;
    record.clear();
    record.resize(usize::from(steps.lowered.record), 0);
    for (n, recipe) in steps.addresses.iter().enumerate() {
        let address = address_of(context, gs, recipe);
        record[8 * n..8 * n + 8].copy_from_slice(&address.to_le_bytes());
    }
    for capture in &steps.lowered.captures {
        match *capture {
            Capture::Before { place, bytes, at } => take(context, record, place, bytes, at),
            Capture::Condition { condition, at } => {
                record[usize::from(at)] = u8::from(holds(condition, context.rflags));
            }
            Capture::After { .. } | Capture::Map { .. } => {}
        }
    }
}

/// Copies the bytes at `place` into the record; memory that is not there stays zero, as the instruction will fault.
fn take(context: &Context, record: &mut [u8], place: Place, bytes: u16, at: u16) {
    let range = usize::from(at)..usize::from(at + bytes);
    match place {
        Place::State(offset) => registers::read_value(context, offset, &mut record[range]),
        Place::Memory { operand, offset } => {
            let base = 8 * usize::from(operand);
            let address = u64::from_le_bytes(record[base..base + 8].try_into().expect("eight bytes"));
            guest::read_some(address.wrapping_add(u64::from(offset)), &mut record[range]);
        }
    }
}

/// Tells whether the processor's condition number `condition` holds (Intel SDM vol. 1, appendix B).
fn holds(condition: u8, flags: u64) -> bool {
    let flag = |bit: u32| flags >> bit & 1 == 1;
    let (cf, pf, zf, sf, of) = (flag(0), flag(2), flag(6), flag(7), flag(11));
    let positive = match condition >> 1 {
        0 => of,
        1 => cf,
        2 => zf,
        3 => cf || zf,
        4 => sf,
        5 => pf,
        6 => sf != of,
        _ => zf || sf != of,
    };
    positive != (condition & 1 == 1)
}

/// The instruction out of line has run.
pub(super) fn finish(thread: &mut Thread) {
    registers::complete_image(thread.context);
    let gs = thread.guest_gs();
    let Some(shadowed) = Shadowed::of_mut(&mut thread.client_state) else { return };
    let Some(pending) = shadowed.out_of_line.pending.take() else {
        thread.mode = stops::mode(thread);
        return;
    };
    let (mut outcome, operands) = carried_out(shadowed, thread.process, thread.context, gs, &pending);
    let insn = &pending.entry.insn;
    // Whoever compares a zero may go on with a constant for it.
    if outcome.lost && !outcome.of_zero && shadowed.parts.derives && thread.translator.only_asks(insn) {
        outcome.lost = false;
        if thread.translator.whole(insn.ip()) != Some(Whole::Compared) {
            thread.cache.forget_around([insn.ip(), insn.next_ip() - 1]);
        }
    }
    shadowed.parts.wrote();
    shadowed.registers(thread.context).note_x87();
    let is_gap = matches!(pending.entry.lowering, Lowering::Gap(_));
    let loses = loses_shadows(thread.process, &pending) && !shadowed.calls.is_formatting();
    note_outcome(thread.process, &pending.entry, &outcome, loses);
    release(thread, &pending);
    if outcome.taken {
        taken::took(thread, &pending.entry, &operands);
    } else if is_gap && loses {
        taken::took(thread, &pending.entry, &pending.reads);
    }
    thread.mode = stops::mode(thread);
    note_stack(thread, &pending.entry, outcome.noted);
}

/// Does on the shadows what the instruction has done on its operands; the outcome, and the floats with shadows that it may
/// have taken apart.
fn carried_out(
    shadowed: &mut Shadowed,
    process: &Process,
    context: &mut Context,
    gs: u64,
    pending: &Pending,
) -> (Outcome, Vec<Before>) {
    let entry = &pending.entry;
    let (mut outcome, mut operands) = (Outcome::default(), Vec::new());
    match &entry.lowering {
        Lowering::Nothing => {}
        Lowering::Steps(steps) => {
            if entry.may_take && taken::is_wanted(Tool::of(process)) {
                operands = taken::before(shadowed, context, steps, &shadowed.out_of_line.record);
            }
            outcome = replay(shadowed, process, context, steps, entry.site);
        }
        Lowering::String(op) => string(shadowed, context, gs, op, pending),
        Lowering::State(op) => state_image(shadowed, context, op, pending),
        Lowering::Gap(gap) => overwrite(shadowed, context, gap),
    }
    (outcome, operands)
}

/// Tells whether the instruction may have lost shadows: it met some, or rounds unseen where errors are born.
fn loses_shadows(process: &Process, pending: &Pending) -> bool {
    let entry = &pending.entry;
    // An address made of a float matters to derivatives alone.
    let policy = Tool::of(process).map(|tool| tool.policy());
    let derivatives = policy.is_some_and(|policy| policy.derivatives.is_some());
    let is_gap = matches!(entry.lowering, Lowering::Gap(_));
    // What rounds unseen loses what nothing has carried yet.
    let may_bear = is_gap && policy.is_some_and(|policy| policy.is_born) && rows::row(&entry.insn).rounds();
    may_bear || pending.met && (derivatives || is_gap)
}

/// Notes what the instruction has lost and decided.
fn note_outcome(process: &Process, entry: &Entry, outcome: &Outcome, loses: bool) {
    if outcome.lost || outcome.mixed || loses {
        stops::met_gap(process, entry.site, &entry.insn);
    }
    if outcome.rounded {
        // Faster ways know nothing of that.
        entry.runs.set(OFTEN);
    }
    if outcome.decided {
        let decision = Decision::Comparison { is_equal: outcome.equal };
        stops::decided(process, entry.insn.ip(), entry.site, decision);
    }
    if outcome.made_whole {
        stops::decided(process, entry.insn.ip(), entry.site, Decision::Rounding);
    }
}

/// Notes the callers of an operation that is watched and erred, or has run a power of two of times.
fn note_stack(thread: &mut Thread, entry: &Entry, erred: bool) {
    let watches = Tool::of(thread.process).is_some_and(|tool| tool.policy().watch.is_some());
    if watches && (erred || entry.runs.get().is_power_of_two()) {
        let noted = if erred { Noted::Erred } else { Noted::Ran };
        visit::note_stack(thread, entry.site, entry.insn.ip(), noted);
    }
}

/// The instruction out of line was not run: as if it had not been begun.
pub(super) fn abandon(thread: &mut Thread) {
    let Some(pending) =
        Shadowed::of_mut(&mut thread.client_state).and_then(|shadowed| shadowed.out_of_line.pending.take())
    else {
        return;
    };
    release(thread, &pending);
    thread.mode = pending.mode;
}

fn release(thread: &mut Thread, pending: &Pending) {
    if pending.guest_gs {
        thread.context.guest_gs = sys::gs_base();
        sys::set_gs_base(GS_BASE);
    }
    if pending.locked {
        stops::unlock_atomics(thread.process);
    }
}
