//! Floats with shadows whose digits an instruction out of line takes for integers: what they were before it ran.
//!
//! Of a part of a double, as many formatters take it, the whole is looked for where it may still be: in the registers and on
//! the stack. Knows nothing of what becomes of them.

use super::entries::Entry;
use super::parts::Layout;
use super::shadowed::Shadowed;
use super::{Tool, visit};
use crate::context::{Context, TAKEN, reg};
use crate::engine::thread::Thread;
use crate::engine::{guest, planes};
use crate::registers;
use crate::session::{Taken, Taker, Taking};
use crate::x86::lower::{LoweredInsn, Lowering, doubles, is_product};
use crate::x86::table::{General, Integral, Row};
use crate::x86::{rows, state};
use shadowgrind_core::format::Format;
use shadowgrind_core::shadow::Location;
use shadowgrind_core::step::{Operand, Place, Step};

/// Bytes of the stack below and above its pointer in which a float is looked for.
const BELOW: u64 = 128;
const ABOVE: u64 = 1024;
/// Digits of a double behind the first.
const DIGITS: u32 = 52;
/// Vector registers in which one is, and bytes of each.
const REGISTERS: usize = 16;
const LOW: usize = 16;

/// Operand of which digits may be taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct Before {
    float: Taken,
    location: Location,
}

/// Operands of the steps of an instruction that take floats apart.
fn operands(steps: &LoweredInsn) -> impl Iterator<Item = (Operand, Format)> + '_ {
    steps.lowered.steps.iter().flat_map(|step| {
        let mut all = Vec::new();
        match *step {
            Step::Bits { x, bytes, lane, .. } => {
                let others = if x[0] == x[1] { 1 } else { 2 };
                for operand in &x[..others] {
                    let lane = if bytes < 8 && lane == Format::F64 { Format::F32 } else { lane };
                    let lanes =
                        (0..bytes / lane.bytes() as u16).map(|n| operand.plus(n * lane.bytes() as u16));
                    all.extend(lanes.map(|operand| (operand, lane)));
                }
            }
            Step::Part { format, x, .. } => all.push((x, format)),
            Step::Digits { ref x, .. } => all.extend(x.iter().filter_map(|&(x, bytes)| {
                let format = [Format::F32, Format::F64]
                    .into_iter()
                    .find(|format| format.bytes() == usize::from(bytes));
                Some((x, format?))
            })),
            _ => {}
        }
        all
    })
}

/// Tells whether the instruction may take floats apart.
pub(super) fn may_take(lowering: &Lowering) -> bool {
    matches!(lowering, Lowering::Steps(steps) if operands(steps).next().is_some())
}

/// The operands with shadows of an instruction that has run, and whose steps have not; `record` is what it was given.
pub(super) fn before(
    shadowed: &Shadowed,
    context: &mut Context,
    steps: &LoweredInsn,
    record: &[u8],
) -> Vec<Before> {
    let location = |place| match place {
        Place::State(at) => Location::State(at),
        Place::Memory { operand, offset } => {
            let at = 8 * usize::from(operand);
            let address = u64::from_le_bytes(record[at..at + 8].try_into().expect("eight bytes"));
            Location::Memory(address + u64::from(offset))
        }
    };
    let taken = |(operand, format): (Operand, Format)| {
        let at = usize::from(operand.value);
        let location = location(operand.place);
        let cell = cell(shadowed, context, location, format.bytes());
        let bits = format.bits_of(record.get(at..at + format.bytes())?);
        (cell != 0).then_some(Before { float: Taken { format, bits, cell }, location })
    };
    operands(steps).filter_map(taken).collect()
}

fn cell(shadowed: &Shadowed, context: &mut Context, location: Location, bytes: usize) -> u128 {
    let mut cell = [0; 16];
    match location {
        Location::State(at) => cell[..bytes].copy_from_slice(shadowed.registers(context).bytes(at, bytes)),
        Location::Memory(address) => planes::read(address, &mut cell[..bytes]),
    }
    u128::from_le_bytes(cell)
}

/// Floats that an instruction that is not followed reads, before it runs: what is as wide as one.
pub(super) fn read(
    shadowed: &Shadowed,
    context: &mut Context,
    reads: &[(Place, u16)],
    addresses: &[u64],
) -> Vec<Before> {
    let taken = |&(place, bytes): &(Place, u16)| {
        let format =
            [Format::F32, Format::F64].into_iter().find(|format| format.bytes() == usize::from(bytes))?;
        let mut value = [0; 8];
        let location = match place {
            Place::State(at) => {
                registers::read_value(context, at, &mut value[..format.bytes()]);
                Location::State(at)
            }
            Place::Memory { operand, offset } => {
                let address = addresses[usize::from(operand)].wrapping_add(offset.into());
                guest::read_some(address, &mut value[..format.bytes()]);
                Location::Memory(address)
            }
        };
        let cell = cell(shadowed, context, location, format.bytes());
        let bits = u64::from_le_bytes(value).into();
        (cell != 0).then_some(Before { float: Taken { format, bits, cell }, location })
    };
    reads.iter().filter_map(taken).collect()
}

/// Tells the session of the operands, digits of which were taken.
pub(super) fn took(thread: &mut Thread, entry: &Entry, before: &[Before]) {
    let by = (entry.site, entry.insn.code() as usize);
    catch_up(thread);
    let Some(Shadowed { parts, .. }) = Shadowed::of_mut(&mut thread.client_state) else { return };
    let layout = parts.layout;
    for operand in before {
        let float = operand.float;
        // A number of its own, or the digits of a power of two.
        let is_zero = float.format == Format::F64 && float.bits == 0 && layout.may_be_wide(float.cell as u64);
        let is_part = !is_zero && (float.format == Format::F32 || float.bits >> DIGITS <= 1);
        if is_part && is_known(thread, by, operand) {
            continue;
        }
        let Some(shadowed) = Shadowed::of_mut(&mut thread.client_state) else { return };
        let mut floats =
            if is_part || is_zero { wholes(shadowed, thread.context, operand) } else { Vec::new() };
        entry.takes_parts.set(entry.takes_parts.get() || !floats.is_empty());
        let may_be_whole = is_zero || is_part && may_be_narrow(layout, &float, &floats);
        // A part is told of behind its whole.
        floats.push(float);
        let taking = Taking { by, is_reversible: is_reversible(entry), may_be_whole };
        visit::took(thread, taking, &floats, &entry.insn);
    }
}

/// Tells whether `part` may be a narrow float, and none of `wholes`, of which it may be a half, is a double for sure.
fn may_be_narrow(layout: Layout, part: &Taken, wholes: &[Taken]) -> bool {
    let looks_wide = |float: &Taken| layout.looks_wide(float.cell as u64, float.bits as u64);
    let is_double = |whole: &Taken| whole.cell as u32 != 0 && whole.cell >> 32 != 0 && looks_wide(whole);
    part.narrowed().format == Format::F32 && !looks_wide(part) && !wholes.iter().any(is_double)
}

/// Tells whether the instruction leaves all bits of what it takes, rotated, turned over or moved by a sum.
fn is_reversible(entry: &Entry) -> bool {
    use Integral::{Add, Decrement, Increment, Subtract, Xor};
    match rows::row(&entry.insn) {
        Row::General(General::Bits(by)) => {
            let keeps = matches!(by, Add | Subtract | Increment | Decrement | Xor);
            by.rotates() || keeps && !doubles(&entry.insn, by)
        }
        Row::General(General::Address) => !is_product(&entry.insn),
        Row::General(general) => general == General::Not,
        _ => false,
    }
}

/// Tells whether the session knows of what this is a part.
fn is_known(thread: &Thread, by: Taker, part: &Before) -> bool {
    Tool::of(thread.process).is_some_and(|tool| tool.session.took_part(by, &part.float))
}

/// Tells the session of the floats that translated code has noted since it was told last, as far as they are still there.
pub(super) fn catch_up(thread: &mut Thread) {
    let Some(shadowed) = Shadowed::of_mut(&mut thread.client_state) else { return };
    let next = thread.context.taken_next;
    if shadowed.taken == next {
        return;
    }
    let first = shadowed.taken.max(next.saturating_sub(TAKEN as u64));
    shadowed.taken = next;
    let noted = (first..next).map(|n| {
        let [bits, cell, number, bytes] = thread.context.taken[n as usize % TAKEN];
        let (format, mask) =
            if bytes == 8 { (Format::F64, u64::MAX) } else { (Format::F32, u32::MAX.into()) };
        (number as u16, Taken { format, bits: (bits & mask).into(), cell: (cell & mask).into() })
    });
    let noted: Vec<(u16, Taken)> = noted.collect();
    visit::took_counted(thread, &noted);
}

/// Doubles with shadows of which `part` may be a half, or the digits.
fn wholes(shadowed: &Shadowed, context: &mut Context, part: &Before) -> Vec<Taken> {
    let bits = part.float.bits as u64;
    let digits = |bits: u64| bits & ((1 << DIGITS) - 1);
    let may_be_half = part.float.format == Format::F32 || bits != 0 && bits >> 32 == 0;
    let mut found = Vec::new();
    let mut look = |whole: u64, cell: u128| {
        let is_half = may_be_half && [whole as u32, (whole >> 32) as u32].contains(&(bits as u32));
        let is_whole = whole >> DIGITS > 1 && (is_half || digits(whole) == digits(bits));
        if is_whole && cell != 0 {
            found.push(Taken { format: Format::F64, bits: whole.into(), cell });
        }
    };
    for number in 0..REGISTERS {
        let mut bytes = [0; LOW];
        registers::read_value(context, state::vector(number), &mut bytes);
        for (n, &whole) in bytes.as_chunks().0.iter().enumerate() {
            let place = Location::State(state::vector(number) + 8 * n as u16);
            look(u64::from_le_bytes(whole), cell(shadowed, context, place, 8));
        }
    }
    for number in 0..context.regs.len() {
        look(context.regs[number], cell(shadowed, context, Location::State(state::general(number)), 8));
    }
    let stack = context.regs[reg::RSP] & !7;
    let around = match part.location {
        Location::Memory(address) => Some(address & !7),
        Location::State(_) => None,
    };
    for address in (stack - BELOW..stack + ABOVE).step_by(8).chain(around) {
        if planes::any(address, 8) {
            let mut bytes = [0; 8];
            if guest::read_some(address, &mut bytes) == bytes.len() {
                look(u64::from_le_bytes(bytes), cell(shadowed, context, Location::Memory(address), 8));
            }
        }
    }
    found.sort_by_key(|taken| (taken.bits, taken.cell));
    found.dedup();
    found
}

/// Tells whether the session of `tool` wants to know of such floats.
pub(super) fn is_wanted(tool: Option<&Tool>) -> bool {
    tool.is_some_and(|tool| tool.session.wants_taken())
}
