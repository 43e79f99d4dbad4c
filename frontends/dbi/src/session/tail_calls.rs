//! Functions that are jumped to: `return log(x);` is a jump where compilers optimise, so that the return address is that
//! of the call before. Which jump it was is found by reading the code which that call leads to.
//!
//! Does not know what a function that was called through a register or a table is: nothing says so afterwards.

use super::wrappers::slot;
use crate::hooks::machine::{Machine, read_u64};
use hashbrown::HashSet;
use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, OpKind};

/// Instructions that are read at most.
const MOST: usize = 4096;
/// Bytes that are read at once.
const WINDOW: usize = 16;

/// Address of the jump that led to the function at `entered`, if it was not the instruction at `call` that did.
pub(super) fn jump_to(m: &dyn Machine, call: u64, entered: u64) -> Option<u64> {
    let start = called(m, &decode(m, call)?)?;
    if through_table(m, start) == entered {
        return None;
    }
    let mut jumps = Vec::new();
    let mut seen = HashSet::new();
    let mut ahead = vec![start];
    while let Some(pc) = ahead.pop() {
        if seen.len() == MOST || !seen.insert(pc) {
            continue;
        }
        let Some(instruction) = decode(m, pc) else { continue };
        match instruction.flow_control() {
            FlowControl::UnconditionalBranch | FlowControl::IndirectBranch => match called(m, &instruction) {
                Some(target) if through_table(m, target) == entered => jumps.push(pc),
                target => ahead.extend(target),
            },
            FlowControl::ConditionalBranch => {
                ahead.extend([instruction.near_branch_target(), instruction.next_ip()]);
            }
            FlowControl::Return | FlowControl::Exception => {}
            _ => ahead.push(instruction.next_ip()),
        }
    }
    // Of several the first will do: they are in one function.
    jumps.into_iter().min()
}

/// Destination of a call or jump, if it says so itself or in memory that it names.
fn called(m: &dyn Machine, instruction: &Instruction) -> Option<u64> {
    if instruction.op0_kind() == OpKind::NearBranch64 {
        Some(instruction.near_branch_target())
    } else if instruction.is_ip_rel_memory_operand() {
        read_u64(m, instruction.ip_rel_memory_address()).ok()
    } else {
        None
    }
}

/// Destination of code at `pc` if it does nothing but jump on, by an address in a table, as linkers put it between
/// modules.
fn through_table(m: &dyn Machine, pc: u64) -> u64 {
    let slot = code(m, pc).and_then(|bytes| slot(&bytes, pc));
    slot.and_then(|slot| read_u64(m, slot).ok()).unwrap_or(pc)
}

/// The instruction at `pc`, if there is one.
pub(super) fn decode(m: &dyn Machine, pc: u64) -> Option<Instruction> {
    let instruction = Decoder::with_ip(64, &code(m, pc)?, pc, DecoderOptions::NONE).decode();
    (!instruction.is_invalid()).then_some(instruction)
}

/// The bytes at `pc`: as many as an instruction or an entry of such a table takes, unless their mapping ends before.
fn code(m: &dyn Machine, pc: u64) -> Option<Vec<u8>> {
    (1..=WINDOW).rev().find_map(|length| {
        let mut bytes = vec![0; length];
        m.read(pc, &mut bytes).ok().map(|()| bytes)
    })
}
