//! Call frames of a file: from the registers in one of its functions to those of the caller.
//!
//! Reads `.eh_frame`, which compilers make for every function on this platform (System V ABI, AMD64 supplement, section 3.7;
//! DWARF 5, section 6.4), by an index of its own: static programs come without `.eh_frame_hdr`. One frame at a time:
//! which file the caller is in is for others.

use std::ops::Range;

use gimli::{
    BaseAddresses, CfaRule, CieOrFde, EhFrame, EhFrameOffset, RegisterRule, UnwindContext, UnwindSection,
};

use hashbrown::HashMap;

use super::debug::{self, Reader};
use super::elf::Elf;

/// General registers by the hardware's numbers, and the address of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registers {
    /// rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 … r15.
    pub general: [u64; 16],
    /// Link-time address of the instruction.
    pub pc: u64,
}

/// Hardware number of rsp.
const RSP: usize = 4;
/// Number of the return address among DWARF's columns.
const RETURN_ADDRESS: usize = 16;
/// Hardware numbers of DWARF's columns 0 … 15 (AMD64 supplement, figure 3.36).
const HARDWARE: [usize; 16] = [0, 2, 1, 3, 6, 7, 5, RSP, 8, 9, 10, 11, 12, 13, 14, 15];

/// Call frame information of a file.
pub struct CallFrames {
    frames: EhFrame<Reader>,
    /// First address of each piece of code that is described, and where: ascending.
    index: Vec<(u64, EhFrameOffset)>,
    bases: BaseAddresses,
    context: UnwindContext<usize>,
    /// Rows that were read, by the address of the instruction; nothing where there is none.
    known: HashMap<u64, Option<Row>>,
}

/// Registers of a caller, made of those at an instruction: a row of the table of call frames.
#[derive(Clone, Copy)]
struct Row {
    /// The canonical frame address: a register, by its number in DWARF, and bytes.
    frame: (u16, i64),
    /// Registers 0 … 15 and the return address, by DWARF's columns.
    columns: [Restored; RETURN_ADDRESS + 1],
}

/// Place of a register's value in the caller.
#[derive(Clone, Copy)]
enum Restored {
    /// In a register, by its number in DWARF.
    Register(u16),
    /// In memory, so many bytes from the canonical frame address.
    Saved(i64),
    /// The address so many bytes from the canonical frame address.
    Address(i64),
    Unknown,
}

impl std::fmt::Debug for CallFrames {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CallFrames").field("bases", &self.bases).finish_non_exhaustive()
    }
}

/// Hardware number of the general register that DWARF numbers `column`.
pub fn general_register(column: u16) -> Option<usize> {
    HARDWARE.get(usize::from(column)).copied()
}

impl CallFrames {
    /// Call frame information of a file, if it has any. Descriptions that cannot be read are left out.
    pub(super) fn of(elf: &Elf) -> Option<CallFrames> {
        let address = |name| Some(elf.section(name)?.address());
        let mut bases = BaseAddresses::default().set_eh_frame(address(".eh_frame")?);
        if let Some(text) = address(".text") {
            bases = bases.set_text(text);
        }
        let mut frames = EhFrame::from(debug::section(elf, ".eh_frame").ok()?);
        frames.set_address_size(8);
        let mut index = Vec::new();
        let mut entries = frames.entries(&bases);
        while let Ok(Some(entry)) = entries.next() {
            let CieOrFde::Fde(partial) = entry else { continue };
            let Ok(description) = partial.parse(EhFrame::cie_from_offset) else { continue };
            index.push((description.initial_address(), EhFrameOffset(description.offset())));
        }
        index.sort_unstable_by_key(|&(address, _)| address);
        Some(CallFrames { frames, index, bases, context: UnwindContext::new(), known: HashMap::new() })
    }

    /// Canonical frame addresses while the code of `wanted` runs: a register, by its number in DWARF, and bytes. Code of which
    /// nothing is known, or whose frame is found by an expression, is left out.
    pub(super) fn addresses(&mut self, wanted: &Range<u64>) -> Vec<(Range<u64>, u16, i64)> {
        let CallFrames { frames, index, bases, context, .. } = self;
        let first = index.partition_point(|&(first, _)| first <= wanted.start).saturating_sub(1);
        let described = index[first..].iter().take_while(|&&(start, _)| start < wanted.end);
        let mut found = Vec::new();
        for &(_, offset) in described {
            let Ok(description) = frames.fde_from_offset(bases, offset, EhFrame::cie_from_offset) else {
                continue;
            };
            let Ok(mut rows) = description.rows(frames, bases, context) else { continue };
            while let Ok(Some(row)) = rows.next_row() {
                let range = row.start_address().max(wanted.start)..row.end_address().min(wanted.end);
                if let (CfaRule::RegisterAndOffset { register, offset }, false) =
                    (row.cfa(), range.is_empty())
                {
                    found.push((range, register.0, *offset));
                }
            }
        }
        found
    }

    /// Registers of the caller, which are those after the return: its `pc` is the return address in memory, not a
    /// link-time one. `read` reads eight bytes of the stack. Nothing in an outermost frame, where nothing is known of the
    /// code, or where the frame is found by an expression.
    pub fn caller(&mut self, callee: &Registers, read: impl Fn(u64) -> Option<u64>) -> Option<Registers> {
        if !self.known.contains_key(&callee.pc) {
            let row = self.row(callee.pc);
            self.known.insert(callee.pc, row);
        }
        let row = self.known.get(&callee.pc)?.as_ref()?;
        let value = |column: u16| callee.general.get(general_register(column)?).copied();
        let (register, offset) = row.frame;
        let frame = value(register)?.wrapping_add_signed(offset);
        let restored = |column: usize| match row.columns[column] {
            Restored::Register(other) => value(other),
            Restored::Saved(offset) => read(frame.wrapping_add_signed(offset)),
            Restored::Address(offset) => Some(frame.wrapping_add_signed(offset)),
            Restored::Unknown => None,
        };
        let mut general = [0; 16];
        for column in 0..RETURN_ADDRESS {
            general[HARDWARE[column]] = restored(column)?;
        }
        general[RSP] = frame;
        let pc = restored(RETURN_ADDRESS).filter(|&pc| pc != 0)?;
        Some(Registers { general, pc })
    }

    /// Reads the row for the instruction at `pc`.
    fn row(&mut self, pc: u64) -> Option<Row> {
        let CallFrames { frames, index, bases, context, .. } = self;
        let (_, offset) = *index[..index.partition_point(|&(first, _)| first <= pc)].last()?;
        let description = frames.fde_from_offset(bases, offset, EhFrame::cie_from_offset).ok()?;
        let row = description.unwind_info_for_address(frames, bases, context, pc).ok()?;
        let &CfaRule::RegisterAndOffset { register, offset } = row.cfa() else { return None };
        let columns = std::array::from_fn(|column| match row.register(gimli::Register(column as u16)) {
            Some(RegisterRule::Offset(offset)) => Restored::Saved(offset),
            Some(RegisterRule::ValOffset(offset)) => Restored::Address(offset),
            Some(RegisterRule::Register(other)) => Restored::Register(other.0),
            Some(RegisterRule::SameValue) => Restored::Register(column as u16),
            // A register that is not kept across calls has no rule.
            _ if column < RETURN_ADDRESS => Restored::Register(column as u16),
            _ => Restored::Unknown,
        });
        Some(Row { frame: (register.0, offset), columns })
    }
}
