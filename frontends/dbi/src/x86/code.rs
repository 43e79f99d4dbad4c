//! Description of translated code: the places of its pieces, the meaning of its exits, and the guest instruction that
//! each host address belongs to. Knows neither how it is made nor how it is linked.

use super::asm::{Asm, Gpr};
use super::mode::{Mode, TABLES};
use crate::context::{Context, SPILL_SLOTS};

/// Context slots that blocks spill guest registers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    /// rax, while guest bytes are compared.
    Rax,
    /// rcx, during an indirect branch.
    Rcx,
    /// A second scratch register of an annotation, or that of a far operand.
    SecondScratch,
    /// The scratch register of an annotation.
    Scratch,
    /// The scratch register for the linear address of a segment operand.
    Address,
    /// The processor's MXCSR, while an isolated rule runs or the guest stores its own.
    Mxcsr,
    /// Value that an annotation has loaded of the guest's memory.
    Loaded,
    /// A third scratch register of an annotation.
    ThirdScratch,
}

/// Addresses of a thread's fixed pieces, all in the engine's gigabyte.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    /// The [`Context`].
    pub(crate) context: u64,
    /// The indirect-branch tables ([`Mode::table`]): 32-bit code addresses by the low bits of the guest target. Those of
    /// modes that do not occur are 0.
    pub(crate) branch_tables: [u64; TABLES],
    /// Place of the bits of which an index in tables of isolated modes is made.
    pub(crate) index_bits: u64,
    /// Common exit: rax is stored, eax holds the exit's number.
    pub(crate) exit: u64,
    /// Misses of the tables: `Context::ib_target` holds the target, its slot rcx.
    pub(crate) ib_misses: [u64; TABLES],
    /// System call: ecx holds the guest address after it, r11 the code to resume at.
    pub(crate) syscall: u64,
    /// A function that runs as one operation has returned: rcx holds the return address, its slot rcx.
    pub(crate) function_returned: u64,
    /// Evaluates the shadow of the function's result; r11 holds the code to resume at.
    pub(crate) evaluate: u64,
    /// Evaluates the shadow of an instruction's result in the midst of code, all registers but r11 as before afterwards: where upper
    /// halves may be in use, and where they are clean. r11 holds the code to resume at.
    pub(crate) evaluate_between: [u64; 2],
}

impl Frame {
    /// A frame whose common exit is at `exit`, and which has no other stub yet.
    pub(crate) fn new(context: u64, branch_tables: [u64; TABLES], exit: u64) -> Frame {
        Frame {
            context,
            branch_tables,
            index_bits: 0,
            exit,
            ib_misses: [0; TABLES],
            syscall: 0,
            function_returned: 0,
            evaluate: 0,
            evaluate_between: [0; 2],
        }
    }

    pub(crate) fn field(&self, offset: u32) -> u64 {
        self.context + u64::from(offset)
    }

    pub(crate) fn slot(&self, slot: Slot) -> u64 {
        self.field(Context::OFFSET_SLOTS + 8 * slot as u32)
    }
}

/// Meaning of an exit of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExitKind {
    /// On to the guest address, in the mode: the field at `ExitSite::patch` can be linked to its block.
    Jump(u64, Mode),
    /// Back to the host address in the block itself, where the next turn of a loop begins: the field at `ExitSite::patch`
    /// goes there, and to `ExitSite::stub` while the thread is wanted.
    Turn(u64),
    /// Through the branch table: the load at `ExitSite::patch` fetches the address.
    Indirect,
    /// To the guest address in `Context::ib_target`.
    Lookup,
    /// The engine carries out the instruction at this address.
    Engine(u64),
    /// The instruction at this address has run; the engine puts right what it left.
    Executed(u64),
    /// The guest bytes of the block at this address are no longer what it was made from.
    Changed(u64),
    /// The block at this address has run often.
    Hot(u64),
    /// The isolated block at this address is to go on without isolation.
    Settled(u64),
    /// The one instruction of a block out of line has run; the guest goes on at the address.
    Stepped(u64),
    /// The instruction at this address meets shadows that translated code does not see to.
    OutOfLine(u64),
    /// The comparison at this address, which is to be made, has been counted often enough.
    Counted(u64),
    /// The buffer of records is full; the guest goes on at the address.
    Flush(u64),
    /// The address is hooked.
    Hook(u64),
    /// The instruction at this address is a client request.
    Request(u64),
}

impl ExitKind {
    /// Guest address at which the guest goes on, where the exit alone tells.
    pub(crate) fn resumes_at(self) -> Option<u64> {
        match self {
            ExitKind::Jump(pc, _)
            | ExitKind::Changed(pc)
            | ExitKind::Hot(pc)
            | ExitKind::Settled(pc)
            | ExitKind::Stepped(pc)
            | ExitKind::OutOfLine(pc)
            | ExitKind::Counted(pc)
            | ExitKind::Flush(pc)
            | ExitKind::Hook(pc) => Some(pc),
            ExitKind::Turn(_)
            | ExitKind::Indirect
            | ExitKind::Lookup
            | ExitKind::Engine(_)
            | ExitKind::Executed(_)
            | ExitKind::Request(_) => None,
        }
    }
}

/// One exit of a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExitSite {
    pub(crate) kind: ExitKind,
    /// For `Jump` and `Turn` the address of the branch's 32-bit field, for `Indirect` that of the load, else 0.
    pub(crate) patch: u64,
    /// The stub of the exit to the engine; 0 for `Indirect`.
    pub(crate) stub: u64,
    /// The mode that translated code takes for granted at the exit.
    pub(crate) mode: Mode,
}

/// Guest registers that are not in their place at some point of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spilled {
    pub(crate) rax: bool,
    pub(crate) rcx: bool,
    /// In [`Slot::SecondScratch`].
    pub(crate) second_scratch: Option<Gpr>,
    /// In [`Slot::Scratch`].
    pub(crate) scratch: Option<Gpr>,
    /// In [`Slot::Address`].
    pub(crate) address: Option<Gpr>,
    /// The processor's MXCSR, in its slot.
    pub(crate) mxcsr: bool,
    /// No register: the thread holds the lock of exchanges.
    pub(crate) locked: bool,
    /// Vector registers, in the places of [`Context::spills`].
    pub(crate) vectors: [Option<SpilledVector>; SPILL_SLOTS],
    /// No register of the guest: for each vector register, the register that holds its shadow, if that is not in its place.
    pub(crate) shadows: [Option<u8>; 16],
}

/// A guest vector register that is spilled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SpilledVector {
    pub(crate) register: u8,
    /// Size of the part that is spilled, in bytes; the bytes above that were zero.
    pub(crate) bytes: u8,
}

/// From this host address on, code belongs to instruction `insn` of the superblock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MapEntry {
    pub(crate) host: u64,
    pub(crate) insn: usize,
    pub(crate) spilled: Spilled,
    pub(crate) mode: Mode,
    /// True if everything before `insn` has run, and nothing of `insn`.
    pub(crate) begins: bool,
}

/// Place of a rule's code, in hot or cold code. The same superblock has the same rules in the same order in every mode
/// that differs by isolation alone, and they have the same code.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RuleCode {
    pub(crate) start: u64,
    pub(crate) end: u64,
}

/// Offsets, from the start of a check of arrivals, of the ends of the jumps to the miss stub in it; 0 where there are no more.
pub(crate) type Misses = [u8; 3];

/// A superblock's code and what must be known about it. Reused from block to block.
pub(crate) struct Emitted {
    pub(crate) hot: Asm,
    pub(crate) cold: Asm,
    pub(crate) exits: Vec<ExitSite>,
    /// Jumps to the miss stub in the check of arrivals.
    pub(crate) misses: Misses,
    /// Entry for direct jumps.
    pub(crate) entry: u64,
    /// Host addresses to guest instructions, ascending; hot code only.
    pub(crate) map: Vec<MapEntry>,
    /// Rules whose instructions may raise exceptions, in the order in which they were made.
    pub(crate) rules: Vec<RuleCode>,
}

/// Place of a block's code, and the numbers of its exits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placement {
    pub(crate) hot: u64,
    pub(crate) cold: u64,
    pub(crate) first_exit: u32,
    /// Address of the word that counts the runs left until the block exits as `ExitKind::Hot`.
    pub(crate) runs: Option<u64>,
}
