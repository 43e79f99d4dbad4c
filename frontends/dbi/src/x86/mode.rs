//! Modes: what a block's code takes for granted. The same guest address has one block per mode it is met in.

/// Number of indirect-branch tables.
pub(crate) const TABLES: usize = 8;
/// The table that all annotated modes share which have none of their own.
pub(crate) const SHARED_TABLE: usize = TABLES - 1;

/// Facts that a block's code takes for granted.
///
/// A block annotated for shadows knows which general registers may carry one (their *cells* may be non-zero; all other
/// cells are zero), so that code which moves no floats through general registers pays next to nothing for them. Without
/// AVX-512 a block may also be *narrow*: what is above the low 16 bytes of vector registers 0 to 15, and of their
/// shadows, is zero, so that annotations need no more than those bytes and never put the upper halves in use. Between
/// instructions that put them in use and SSE instructions, processors may need hundreds of cycles.
///
/// What the top of the x87 stack is at the start is a guess (`mirror::x87`): a block made for another top is as good as any, but
/// for the jump from it to the right one.
///
/// What a block that computes on that stack knows at its end it hands on by direct jumps, and by those alone (*carried*): that the
/// top is the mode's for sure, and, isolated, that MXCSR is still that of rules.
///
/// Without AVX-512 a block may be *isolated* as well: its rules run under an MXCSR of their own, because the guest would
/// notice what they do to its own (`mirror::isolation`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Mode(u32);

impl Mode {
    /// A mode is a number of so many bits.
    pub(crate) const BITS: u32 = 25;
    const CELLS: u32 = 0xffff;
    /// Bit position of the kind of mode: 0 if annotated.
    const KIND_AT: u32 = 16;
    const KIND: u32 = 7 << Self::KIND_AT;
    /// The kind of what is not annotated; the bits of cells say which it is.
    const PLAIN: u32 = 1 << Self::KIND_AT;
    /// No annotations: there is no shadow yet, or the tool carries none.
    pub(crate) const BARE: Mode = Mode(Self::PLAIN);
    /// Inside a function taken as one operation: no annotations. The address it returns to is hooked.
    pub(crate) const WRAPPED: Mode = Mode(Self::PLAIN | 1);
    /// One instruction on its own, without annotations.
    pub(crate) const OUT_OF_LINE: Mode = Mode(Self::PLAIN | 2);
    /// The hook at the block's first instruction has been seen to.
    const PAST_HOOK: u32 = 1 << 19;
    /// Bit position of what the top of the x87 stack is taken to be.
    const TOP_AT: u32 = 20;
    const TOP: u32 = 7 << Self::TOP_AT;
    /// Carried: the top is that for sure.
    const TOP_IS_KNOWN: u32 = 1 << 23;
    /// Carried: MXCSR is that of rules, and the processor's in its slot.
    const RULES_MXCSR: u32 = 1 << 24;
    /// Annotated, but results of operations carry no shadow: the program has switched shadowing off.
    const OFF: u32 = 2 << Self::KIND_AT;
    /// Annotated and narrow.
    const NARROW: u32 = 3 << Self::KIND_AT;
    /// Annotated, narrow and off.
    const NARROW_OFF: u32 = 4 << Self::KIND_AT;
    /// Annotated and isolated.
    const ISOLATED: u32 = 5 << Self::KIND_AT;
    /// Annotated, narrow and isolated.
    const NARROW_ISOLATED: u32 = 6 << Self::KIND_AT;

    /// Annotated; bit n of `cells` says that general register n may carry a shadow.
    pub(crate) fn cells(cells: u16) -> Mode {
        Mode(u32::from(cells))
    }

    /// Replaces the cells of a mode; it must be annotated.
    pub(crate) fn with_cells(self, cells: u16) -> Mode {
        Mode(self.0 & !Self::CELLS | u32::from(cells))
    }

    /// Takes physical register `top` for the top of the x87 stack; it must be annotated.
    pub(crate) fn with_top(self, top: u8) -> Mode {
        Mode(self.0 & !Self::TOP | u32::from(top & 7) << Self::TOP_AT)
    }

    /// Physical register that is taken to be the top of the x87 stack: a guess, which code asks about before it relies on it.
    pub(crate) fn top(self) -> u8 {
        ((self.0 & Self::TOP) >> Self::TOP_AT) as u8
    }

    /// Adds what is carried from one block to the next.
    pub(crate) fn carrying(self, top_is_known: bool, rules_mxcsr: bool) -> Mode {
        let bits = [(top_is_known, Self::TOP_IS_KNOWN), (rules_mxcsr, Self::RULES_MXCSR)];
        bits.into_iter()
            .filter(|&(carried, _)| carried)
            .fold(self.alone(), |mode, (_, bit)| Mode(mode.0 | bit))
    }

    /// Drops what is carried.
    pub(crate) fn alone(self) -> Mode {
        Mode(self.0 & !(Self::TOP_IS_KNOWN | Self::RULES_MXCSR))
    }

    /// Tells whether the top of the x87 stack is the mode's for sure.
    pub(crate) fn knows_top(self) -> bool {
        self.0 & Self::TOP_IS_KNOWN != 0
    }

    /// Tells whether MXCSR is that of rules.
    pub(crate) fn has_rules_mxcsr(self) -> bool {
        self.0 & Self::RULES_MXCSR != 0
    }

    /// Switches shadowing off; it must be annotated.
    pub(crate) fn off(self) -> Mode {
        self.with_kind(if self.is_narrow() { Self::NARROW_OFF } else { Self::OFF })
    }

    /// Tells whether results of operations carry no shadow.
    pub(crate) fn is_off(self) -> bool {
        matches!(self.0 & Self::KIND, Self::OFF | Self::NARROW_OFF)
    }

    /// Makes a mode narrow, or not; it must be annotated.
    pub(crate) fn narrow(self, narrow: bool) -> Mode {
        self.with_kind(match self.0 & Self::KIND {
            Self::OFF | Self::NARROW_OFF if narrow => Self::NARROW_OFF,
            Self::OFF | Self::NARROW_OFF => Self::OFF,
            Self::ISOLATED | Self::NARROW_ISOLATED if narrow => Self::NARROW_ISOLATED,
            Self::ISOLATED | Self::NARROW_ISOLATED => Self::ISOLATED,
            _ if narrow => Self::NARROW,
            _ => 0,
        })
    }

    /// Tells whether upper halves of vector registers and of their shadows are zero.
    pub(crate) fn is_narrow(self) -> bool {
        matches!(self.0 & Self::KIND, Self::NARROW | Self::NARROW_OFF | Self::NARROW_ISOLATED)
    }

    /// Makes a mode isolated, or not; it must be annotated. Off, all that is left of rules is isolated anyway.
    pub(crate) fn isolated(self, isolated: bool) -> Mode {
        match (self.is_off(), isolated, self.is_narrow()) {
            (true, ..) => self,
            (_, true, _) if self.may_settle() => self,
            (_, false, narrow) => self.with_kind(0).narrow(narrow),
            (_, true, narrow) => self.with_kind(Self::ISOLATED).narrow(narrow),
        }
    }

    /// Tells whether rules run under an MXCSR of their own.
    pub(crate) fn is_isolated(self) -> bool {
        self.is_off() || self.may_settle()
    }

    /// Tells whether the mode is isolated until the guest has raised what it is isolated for.
    pub(crate) fn may_settle(self) -> bool {
        matches!(self.0 & Self::KIND, Self::ISOLATED | Self::NARROW_ISOLATED)
    }

    fn with_kind(self, kind: u32) -> Mode {
        // Another kind may have another MXCSR.
        Mode(self.0 & !(Self::KIND | Self::RULES_MXCSR) | kind)
    }

    /// General registers that may carry a shadow; the mode must be annotated.
    pub(crate) fn mask(self) -> u16 {
        (self.0 & Self::CELLS) as u16
    }

    /// Tells whether shadows are carried along.
    pub(crate) fn is_annotated(self) -> bool {
        self.0 & Self::KIND != Self::PLAIN
    }

    pub(crate) fn is_wrapped(self) -> bool {
        self.onwards() == Self::WRAPPED
    }

    pub(crate) fn is_out_of_line(self) -> bool {
        self.onwards() == Self::OUT_OF_LINE
    }

    pub(crate) fn is_bare(self) -> bool {
        self.onwards() == Self::BARE
    }

    /// Takes the hook at the first instruction for seen to.
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

    /// Modes that the indirect-branch tables serve; the first serves bare code too, which never runs beside annotated
    /// code.
    const SERVED: [Mode; SHARED_TABLE] =
        // With 1, a float returned, or about to be stored, through rax.
        [
            Mode(0),
            Mode(1),
            Mode::WRAPPED,
            Mode(Mode::NARROW),
            Mode(Mode::NARROW | 1),
            Mode(Mode::ISOLATED),
            Mode(Mode::NARROW_ISOLATED),
        ];

    /// The indirect-branch table that serves the mode, but for the guess at the x87 stack's top; `None`: the engine is asked each
    /// time, or nothing enters that way.
    pub(crate) fn table(self) -> Option<usize> {
        match self.onwards() {
            Self::BARE => Some(0),
            mode if mode != mode.alone() => None,
            mode => {
                let own = Self::SERVED.iter().position(|&served| served == mode.with_top(0));
                own.or(mode.is_annotated().then_some(SHARED_TABLE))
            }
        }
    }

    /// The tables of isolated modes.
    pub(crate) const ISOLATED_TABLES: std::ops::Range<usize> = 5..SHARED_TABLE;

    /// Mode that table `table` serves, but for bare code; nothing for the shared one.
    pub(crate) fn of_table(table: usize) -> Option<Mode> {
        Self::SERVED.get(table).copied()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_serve_the_modes_they_are_of() {
        for table in 0..SHARED_TABLE {
            let mode = Mode::of_table(table).expect("a mode");
            assert_eq!(mode.table(), Some(table));
            assert_eq!(Mode::ISOLATED_TABLES.contains(&table), mode.may_settle());
        }
        for mode in [Mode::cells(4), Mode::cells(1).isolated(true), Mode::cells(0).off()] {
            assert_eq!(mode.table(), Some(SHARED_TABLE));
        }
        assert_eq!((Mode::of_table(SHARED_TABLE), Mode::OUT_OF_LINE.table()), (None, None));
    }

    #[test]
    fn isolated_is_what_it_says() {
        for (narrow, cells) in [(false, 0), (false, 9), (true, 0), (true, 9)] {
            let mode = Mode::cells(cells).narrow(narrow);
            let isolated = mode.isolated(true);
            assert!(isolated.is_isolated() && isolated.may_settle() && isolated.is_annotated());
            assert_eq!((isolated.is_narrow(), isolated.mask(), isolated.is_off()), (narrow, cells, false));
            assert_eq!(isolated.narrow(!narrow).narrow(narrow), isolated);
            assert_eq!(isolated.isolated(false), mode);
            assert_eq!(isolated.past_hook().isolated(false), mode.past_hook());
            assert!(!mode.is_isolated());
            let off = isolated.off();
            assert!(off.is_off() && off.is_isolated() && !off.may_settle());
            assert_eq!(off.isolated(false), off);
        }
    }

    #[test]
    fn a_guess_at_the_top_changes_nothing_else() {
        for (top, cells) in [(0, 0), (7, 9), (3, 1)] {
            let mode = Mode::cells(cells);
            let guess = mode.with_top(top);
            assert_eq!((guess.top(), guess.with_top(0), guess.mask()), (top, mode, cells));
            assert_eq!((guess.narrow(true).top(), guess.table()), (top, mode.table()));
            assert!(guess.is_annotated() && guess.past_hook().bits() >> Mode::BITS == 0);
        }
    }

    #[test]
    fn what_is_carried_is_found_by_direct_jumps_alone() {
        let mode = Mode::cells(5).narrow(true).isolated(true).with_top(3);
        let carrying = mode.carrying(true, true);
        assert!(carrying.knows_top() && carrying.has_rules_mxcsr() && carrying.bits() >> Mode::BITS == 0);
        assert_eq!((carrying.table(), carrying.alone(), carrying.top()), (None, mode, 3));
        assert_eq!(carrying.isolated(true), carrying);
        assert_eq!(carrying.isolated(false), mode.isolated(false).carrying(true, false));
        assert_eq!(carrying.off(), mode.off().carrying(true, false));
    }

    #[test]
    fn what_is_not_annotated_is_apart() {
        let plain = [Mode::BARE, Mode::WRAPPED, Mode::OUT_OF_LINE];
        let which = |mode: Mode| [mode.is_bare(), mode.is_wrapped(), mode.is_out_of_line()];
        for (n, mode) in plain.into_iter().enumerate() {
            assert_eq!(which(mode), [0, 1, 2].map(|m| m == n));
            assert_eq!(which(mode.past_hook()), which(mode));
            assert!(!mode.is_annotated() && !mode.is_isolated());
        }
    }

    #[test]
    fn narrow_and_off_are_apart() {
        for (narrow, off) in [(false, false), (false, true), (true, false), (true, true)] {
            let mode = Mode::cells(5).narrow(narrow);
            let mode = if off { mode.off() } else { mode };
            assert_eq!((mode.is_narrow(), mode.is_off(), mode.mask()), (narrow, off, 5));
            assert!(mode.is_annotated() && mode.bits() >> Mode::BITS == 0);
            assert_eq!(mode.narrow(!narrow).is_off(), off);
        }
    }
}
