//! Effects of an instruction that has run out of line, on the shadows: by its steps, or by what it is.

use super::super::cells::MirrorCells;
use super::super::entries::Pending;
use super::super::shadowed::Shadowed;
use super::super::stops;
use super::{goes_down, lowest, take};
use crate::context::{Context, reg};
use crate::engine::process::Process;
use crate::engine::{guest, planes};
use crate::x86::lower::{AddressRecipe, Gap, ImageRun, LoweredInsn, StateOp, StringKind, StringOp, Transfer};
use crate::x86::state;
use shadowgrind_core::replay::Outcome;
use shadowgrind_core::shadow::Cells;
use shadowgrind_core::site::Site;
use shadowgrind_core::step::{Capture, Place};
use shadowgrind_core::words::Raw;

/// Replays the steps of the instruction, which has run.
pub(super) fn replay(
    shadowed: &mut Shadowed,
    process: &Process,
    context: &mut Context,
    steps: &LoweredInsn,
    site: Site,
) -> Outcome {
    let mut record = std::mem::take(&mut shadowed.out_of_line.record);
    for capture in &steps.lowered.captures {
        if let Capture::After { place, bytes, at } = *capture {
            take(context, &mut record, place, bytes, at);
        }
    }
    shadowed.out_of_line.lowerer.complete(steps, &mut record);
    let mut registers = shadowed.registers(context);
    let outcome = stops::replay(process, &steps.lowered, site, &record, &mut registers, &shadowed.calls);
    shadowed.out_of_line.record = record;
    outcome
}

/// Clears the shadow of the bytes that a gap writes.
pub(super) fn overwrite(shadowed: &mut Shadowed, context: &mut Context, gap: &Gap) {
    let record = std::mem::take(&mut shadowed.out_of_line.record);
    let mut registers = shadowed.registers(context);
    for &(place, bytes) in &gap.writes {
        match place {
            Place::State(at) => registers.bytes(at, usize::from(bytes)).fill(0),
            Place::Memory { operand, offset } => {
                let at = 8 * usize::from(operand);
                let address = u64::from_le_bytes(record[at..at + 8].try_into().expect("eight bytes"));
                planes::clear(address.wrapping_add(u64::from(offset)), u64::from(bytes));
            }
        }
    }
    shadowed.out_of_line.record = record;
}

/// A repeated string instruction, by what it has done: an interruption leaves the rest in rcx.
pub(super) fn string(
    shadowed: &mut Shadowed,
    context: &mut Context,
    gs: u64,
    op: &StringOp,
    pending: &Pending,
) {
    let [count, rsi, rdi] = pending.before;
    let width = if op.short_count { 0xffff_ffff } else { u64::MAX };
    let done = (count & width).wrapping_sub(context.regs[reg::RCX] & width);
    let element = u64::from(op.element);
    let bytes = done.saturating_mul(element);
    if bytes == 0 {
        return;
    }
    let start = |recipe: &AddressRecipe, register: u64| {
        let first = recipe.address(|_| register, context.guest_fs, gs);
        lowest(context, first, bytes, element)
    };
    let (from, to) = (start(&op.source, rsi), start(&op.destination, rdi));
    match op.kind {
        // What is copied over what is still to be read is read again: a pattern is repeated.
        StringKind::Move if repeats(from, to, bytes, !goes_down(context)) => {
            let last = (done - 1) * element;
            for at in (0..bytes).step_by(element as usize) {
                let at = if to > from { at } else { last - at };
                planes::copy(from + at, to + at, element);
            }
        }
        StringKind::Move => planes::copy(from, to, bytes),
        StringKind::Store => {
            let mut cell = [0; 8];
            let element = element as usize;
            cell[..element].copy_from_slice(shadowed.registers(context).bytes(state::general(0), element));
            if cell == [0; 8] {
                planes::clear(to, bytes);
            } else {
                (0..done).for_each(|n| planes::write(to + n * element as u64, &cell[..element]));
            }
        }
        StringKind::Load => shadowed.registers(context).bytes(state::general(0), 8).fill(0),
    }
}

/// Tells whether copying `bytes` bytes upwards, or downwards, overwrites what is read later.
fn repeats(from: u64, to: u64, bytes: u64, upwards: bool) -> bool {
    let distance = if upwards { to.wrapping_sub(from) } else { from.wrapping_sub(to) };
    (1..bytes).contains(&distance)
}

/// State is saved in, or restored from, an image in memory: so are its shadows, in the image's mirror.
pub(super) fn state_image(shadowed: &mut Shadowed, context: &mut Context, op: &StateOp, pending: &Pending) {
    /// Components that the guest knows of while the upper vector registers hold shadows: x87, SSE, AVX.
    const WITHOUT_AVX512: u64 = 7;
    let half = |register: usize| u64::from(context.regs[register] as u32);
    let mut header = [0; StateOp::HEADER];
    let known = guest::read_some(pending.before[0], &mut header);
    let hidden = if shadowed.in_registers > 0 { WITHOUT_AVX512 } else { u64::MAX };
    let transfers = op.transfers(&ImageRun {
        address: pending.before[0],
        top: pending.top,
        requested: half(reg::RDX) << 32 | half(reg::RAX),
        enabled: context.xsave_mask & hidden,
        header: &header[..known],
    });
    let mut registers = shadowed.registers(context);
    registers.keep_masks();
    let mut cells = MirrorCells { registers: &mut registers, words: &mut Raw, turned: None };
    for transfer in transfers {
        match transfer {
            Transfer::Copy(from, to, bytes) => cells.copy(from, to, usize::from(bytes)),
            Transfer::Clear(at, bytes) => cells.clear(at, usize::from(bytes)),
        }
    }
}
