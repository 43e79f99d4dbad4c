//! Modes: what a block's code takes for granted. The same guest address has one block per mode it is met in.

/// Number of indirect-branch tables.
pub(crate) const TABLES: usize = 3;

/// See the module's description.
///
/// A block annotated for shadows knows which general registers may carry one (their *cells* may be non-zero; all other
/// cells are zero), so that code which moves no floats through general registers pays next to nothing for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Mode(u32);

impl Mode {
    /// A mode is a number of so many bits.
    pub(crate) const BITS: u32 = 20;
    const CELLS: u32 = 0xffff;
    /// What kind of mode it is: 0 if annotated.
    const KIND_AT: u32 = 16;
    const KIND: u32 = 7 << Self::KIND_AT;
    /// No annotations: there is no shadow yet, or the tool carries none.
    pub(crate) const BARE: Mode = Mode(1 << Self::KIND_AT);
    /// Inside a function taken as one operation: no annotations. The address it returns to is hooked.
    pub(crate) const WRAPPED: Mode = Mode(2 << Self::KIND_AT);
    /// The hook at the block's first instruction has been seen to.
    const PAST_HOOK: u32 = 1 << 19;
    /// One instruction on its own, without annotations.
    pub(crate) const SOLO: Mode = Mode(3 << Self::KIND_AT);
    /// Annotated, but results of operations carry no shadow: the program has switched shadowing off.
    const OFF: u32 = 4 << Self::KIND_AT;

    /// Annotated; bit n of `cells` says that general register n may carry a shadow.
    pub(crate) fn cells(cells: u16) -> Mode {
        Mode(u32::from(cells))
    }

    /// The same with these cells; the mode must be annotated.
    pub(crate) fn with_cells(self, cells: u16) -> Mode {
        Mode(self.0 & !Self::CELLS | u32::from(cells))
    }

    /// The same with shadowing switched off; the mode must be annotated.
    pub(crate) fn off(self) -> Mode {
        Mode(self.0 | Self::OFF)
    }

    /// Whether results of operations carry no shadow.
    pub(crate) fn is_off(self) -> bool {
        self.0 & Self::KIND == Self::OFF
    }

    /// General registers that may carry a shadow.
    pub(crate) fn mask(self) -> u16 {
        (self.0 & Self::CELLS) as u16
    }

    /// Whether shadows are carried along.
    pub(crate) fn is_annotated(self) -> bool {
        matches!(self.0 & Self::KIND, 0 | Self::OFF)
    }

    pub(crate) fn is_wrapped(self) -> bool {
        self.0 & Self::KIND == Self::WRAPPED.0
    }

    pub(crate) fn is_solo(self) -> bool {
        self.0 & Self::KIND == Self::SOLO.0
    }

    pub(crate) fn is_bare(self) -> bool {
        self.0 & Self::KIND == Self::BARE.0
    }

    /// The same, with the hook at the first instruction seen to.
    pub(crate) fn past_hook(self) -> Mode {
        Mode(self.0 | Self::PAST_HOOK)
    }

    pub(crate) fn is_past_hook(self) -> bool {
        self.0 & Self::PAST_HOOK != 0
    }

    /// The mode of code that follows.
    pub(crate) fn onwards(self) -> Mode {
        Mode(self.0 & !Self::PAST_HOOK)
    }

    /// The indirect-branch table that serves the mode; `None`: the engine is asked each time.
    pub(crate) fn table(self) -> Option<usize> {
        match self.0 & !Self::PAST_HOOK {
            m if m == Self::BARE.0 => Some(0),
            0 => Some(0),
            // A float returned, or about to be stored, through rax.
            1 => Some(1),
            m if m == Self::WRAPPED.0 => Some(2),
            _ => None,
        }
    }

    /// The mode whose [`bits`](Mode::bits) these are.
    pub(crate) fn from_bits(bits: u32) -> Mode {
        Mode(bits)
    }

    /// As plain bits, for translated code and keys.
    pub(crate) fn bits(self) -> u32 {
        self.0
    }
}
