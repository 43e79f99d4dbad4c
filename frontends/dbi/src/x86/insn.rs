//! Guest instructions as superblocks hold them: decoded, with their bytes, and with what becomes of control flow.
//!
//! Knows nothing of the others in the same superblock.

use iced_x86::Instruction;

/// Place of an instruction's control flow in its superblock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// Runs on to the next instruction of the superblock.
    Straight,
    /// A conditional branch assumed not taken; taken, it is a side exit.
    SideExit,
    /// A direct jump whose target is the next instruction of the superblock.
    FollowedJump,
    /// A direct call whose target is the next instruction of the superblock.
    FollowedCall,
    /// A return expected to go back to the address, which is the next instruction of the superblock.
    ExpectedReturn(u64),
    /// A return that surely goes back to the next instruction of the superblock.
    CertainReturn,
    /// Ends the superblock; always the last instruction.
    Ends,
    /// Handed to the engine, which continues after it; always the last instruction.
    Engine,
}

impl Flow {
    /// Tells whether the next instruction of the block runs after it for sure, wherever the stack says that a function returns to.
    pub(crate) fn goes_straight_on(self) -> bool {
        matches!(self, Flow::Straight | Flow::FollowedJump | Flow::FollowedCall)
    }
}

/// One guest instruction of a superblock.
#[derive(Clone, Copy)]
pub(crate) struct Insn {
    pub(crate) decoded: Instruction,
    pub(crate) bytes: [u8; 15],
    /// Position of the displacement field in `bytes`, if that is relative to rip.
    pub(crate) displacement_at: u8,
    pub(crate) flow: Flow,
}

impl Insn {
    pub(crate) fn pc(&self) -> u64 {
        self.decoded.ip()
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.decoded.len()]
    }
}
