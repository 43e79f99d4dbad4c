//! Annotation: the code beside guest instructions that carries shadows along, in a mirror of the guest's state.

use super::discover::Superblock;
use super::emit::Emitter;

/// What annotation needs to know.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// Shadows of this many vector registers are in the upper vector registers, from zmm16 on; 0 without AVX-512.
    pub(crate) in_registers: u8,
    /// Operations are recorded, not computed beside the guest's.
    pub(crate) records: bool,
    /// Address of the constants.
    pub(crate) constants: u64,
}

/// See the module's description.
#[derive(Debug)]
pub(crate) struct Mirror {
    settings: Settings,
}

impl Mirror {
    pub(crate) fn new(settings: Settings) -> Self {
        Mirror { settings }
    }
}

impl Emitter {
    /// Prepares for the annotated instructions of `block`.
    pub(super) fn begin_annotated(&mut self, _block: &Superblock) {}

    /// Instruction `index` of `block` with its annotations.
    pub(super) fn annotated(&mut self, block: &Superblock, index: usize) {
        self.instruction(index, &block.insns[index]);
    }
}
