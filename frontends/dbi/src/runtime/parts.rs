//! Parts of floats overwritten out of line: of which float an instruction writes a part, by what will become of it.
//!
//! Is for what is no float itself: what has a shadow takes it along, byte by byte. Remembers the floats of which parts were written
//! lately, for as long as they are what they were left as: other parts that are written in turn make a new number of them.

use crate::engine::{guest, planes};
use crate::x86::wholes::ahead::{self, Target, Use};
use crate::x86::wholes::{self, Whole};
use hashbrown::HashMap;
use iced_x86::{Instruction, Register};
use shadowgrind_core::format::Format;
use shadowgrind_core::tricks;
use std::collections::VecDeque;

/// Number of floats that are remembered.
const LATELY: usize = 8;
/// Number of bytes on either side of what is written that may be of the same float.
const AROUND: u64 = 9;
/// Bytes of which two may be two floats.
const NARROW: u8 = 4;

/// Floats of which parts were written lately.
#[derive(Default)]
pub(super) struct Parts {
    lately: VecDeque<Written>,
    /// Verdicts on instructions that write to registers, by address, and how often they were met.
    in_registers: HashMap<u64, (Verdict, u32)>,
    /// The last of `lately` is one of which a part is being written.
    pending: bool,
    /// True if shadows are derivatives: only then are parts looked for.
    pub(super) derives: bool,
}

/// Effect of an instruction on a float.
#[derive(Clone, Copy, Default)]
pub(super) struct Verdict {
    /// The part of it that is overwritten; nothing if it is none.
    pub(super) whole: Option<Whole>,
    /// True if nobody can be sure that what is kept beside it then is right.
    pub(super) is_doubtful: bool,
}

impl From<Option<Whole>> for Verdict {
    fn from(whole: Option<Whole>) -> Self {
        Verdict { whole, is_doubtful: false }
    }
}

/// A store of less than eight bytes that is about to run.
#[derive(Clone, Copy)]
pub(super) struct Store<'a> {
    pub(super) insn: &'a Instruction,
    pub(super) address: u64,
    /// Shadow of the bytes that the instruction puts there.
    pub(super) moved: [u8; 8],
    /// The general registers.
    pub(super) general: &'a [u64; 16],
    /// Part that its block tells of.
    pub(super) seen: Option<Whole>,
}

/// A float of which parts were written.
struct Written {
    start: u64,
    format: Format,
    /// As it was before that which is being written, or as it is.
    bits: u128,
    /// Bytes that were written, as a mask; not those of digits that were written over with the same.
    bytes: u16,
    /// Mask of those that are being written.
    writing: u16,
    /// True if all of it is going to be written.
    is_new: bool,
    /// True if some of it was a part of another float with a shadow.
    is_moved: bool,
}

impl Written {
    fn read(start: u64, format: Format) -> Option<u128> {
        let mut bytes = [0; 16];
        let size = format.bytes();
        (guest::read_some(start, &mut bytes[..size]) == size).then(|| u128::from_le_bytes(bytes))
    }

    fn is_as_left(&self) -> bool {
        Written::read(self.start, self.format) == Some(self.bits)
    }

    fn holds(&self, address: u64) -> bool {
        address.wrapping_sub(self.start) < self.format.bytes() as u64
    }

    fn all(&self) -> u16 {
        (1 << self.format.bytes()) - 1
    }

    /// Tells whether its exponent and its first digits have been written, at different times.
    fn is_patchwork(&self) -> bool {
        const END: u16 = 0b11;
        let end = self.format.bytes() - 2;
        let digits = END << (end - 2);
        let all = self.bytes | self.writing;
        self.bytes != 0 && all & (END << end) != 0 && all & digits != 0
    }
}

impl Parts {
    /// No floats; with `derives`, shadows are derivatives.
    pub(super) fn new(derives: bool) -> Self {
        Parts { derives, ..Parts::default() }
    }

    /// Effect of a store on a float.
    pub(super) fn in_memory(&mut self, store: Store<'_>) -> Verdict {
        self.pending = false;
        let Store { insn, address, general, seen, .. } = store;
        let Some(bytes) = wholes::part_in_memory(insn) else { return seen.into() };
        let beside = planes::any(address.saturating_sub(AROUND), 2 * AROUND + u64::from(bytes));
        if !beside || matches!(seen, Some(Whole::Alone | Whole::End { restored: true })) {
            return seen.into();
        }
        self.lately.retain(Written::is_as_left);
        let known = self.lately.iter().find(|written| written.is_new && written.holds(address));
        let used = match (known, seen) {
            (Some(known), _) => Use::New { format: known.format, at: (address - known.start) as u8 },
            (None, Some(Whole::Part { format, at })) => Use::Part { format, at, written: 0 },
            _ => {
                let target = Target::Memory { address, bytes: bytes.into() };
                ahead::next_use(insn, target, general, &guest::read_some)
            }
        };
        match used {
            Use::New { format, at } => self.new_one(store, format, [at, bytes]),
            Use::Part { format, at, written } => self.part(store, format, [at, bytes], written),
            Use::Moved { at } => {
                let start = address.wrapping_sub(at.into());
                let is_doubtful = bytes < NARROW && !store.is_moved() && planes::any(start, 8);
                Verdict { whole: seen, is_doubtful }
            }
            Use::Alone => None.into(),
            Use::Unseen => seen.into(),
        }
    }

    /// Effect of a store of a part of a float all of which is written: it comes with what is kept beside it, or without.
    fn new_one(&mut self, store: Store<'_>, format: Format, [at, bytes]: [u8; 2]) -> Verdict {
        if let Some(written) = self.writes(store.address, format, [at, bytes]) {
            written.is_new = true;
        }
        None.into()
    }

    /// Effect of a store of a part of a float of which the `ahead` bytes, as a mask, are written before it is used.
    fn part(&mut self, store: Store<'_>, format: Format, [at, bytes]: [u8; 2], ahead: u16) -> Verdict {
        let seen = store.seen;
        if store.is_own(format, at) {
            return seen.into();
        }
        let is_moved = store.is_moved();
        let Some(written) = self.writes(store.address, format, [at, bytes]) else { return seen.into() };
        let known = written.bytes | written.writing;
        written.is_moved |= is_moved;
        if written.is_moved {
            // Of which number the other parts are is not known.
            let is_mixed =
                known | ahead != written.all() && planes::any(written.start, format.bytes() as u64);
            return Verdict { whole: seen.filter(|_| is_moved), is_doubtful: is_mixed && !is_moved };
        }
        let is_full = known == written.all();
        let is_lost = !is_full && written.is_patchwork();
        let is_doubtful = is_lost && planes::any(written.start, format.bytes() as u64);
        let whole = match is_full || is_lost {
            true => Whole::Replaced { format, at },
            false => Whole::Part { format, at },
        };
        Verdict { whole: Some(whole), is_doubtful }
    }

    /// Effect of `insn`, which is about to run and whose block tells nothing of it, on a float in a register of which it writes
    /// `bytes` bytes from number `at` on with what has no shadow. `general` are the general registers. Code mostly uses what it
    /// makes as it did before: that is looked up again now and then.
    pub(super) fn in_register(
        &mut self,
        insn: &Instruction,
        register: Register,
        [at, bytes]: [u8; 2],
        general: &[u64; 16],
    ) -> Verdict {
        let (verdict, times) = self.in_registers.entry(insn.ip()).or_default();
        *times = times.saturating_add(1);
        if times.is_power_of_two() {
            let target = Target::Inserted { register, at: at.into(), bytes: bytes.into() };
            *verdict = match ahead::next_use(insn, target, general, &guest::read_some) {
                Use::Part { format, at, .. } => Some(Whole::Part { format, at }).into(),
                Use::Moved { .. } => Verdict { whole: None, is_doubtful: bytes < NARROW },
                Use::New { .. } | Use::Alone | Use::Unseen => Verdict::default(),
            };
        }
        *verdict
    }

    /// The float of `format` of which `bytes` bytes, from number `at` on, are about to be written at `address`, as the last one.
    fn writes(&mut self, address: u64, format: Format, [at, bytes]: [u8; 2]) -> Option<&mut Written> {
        let start = address.wrapping_sub(at.into());
        let known = self.lately.iter().position(|written| (written.start, written.format) == (start, format));
        let mut written = match known.and_then(|n| self.lately.remove(n)) {
            Some(written) => written,
            None => {
                let bits = Written::read(start, format)?;
                let (is_new, is_moved) = (false, false);
                Written { start, format, bits, bytes: 0, writing: 0, is_new, is_moved }
            }
        };
        written.writing = ((1 << bytes) - 1) << at & written.all();
        if self.lately.len() == LATELY {
            self.lately.pop_front();
        }
        self.lately.push_back(written);
        self.pending = true;
        self.lately.back_mut()
    }

    /// The instruction has run.
    pub(super) fn wrote(&mut self) {
        if !std::mem::take(&mut self.pending) {
            return;
        }
        let Some(written) = self.lately.back_mut() else { return };
        let Some(now) = Written::read(written.start, written.format) else { return };
        let end = written.format.bytes() - 2;
        let keeps_digits = tricks::power_between(written.format, written.bits, now).is_some();
        let kept = if keeps_digits && !written.is_new && !written.is_moved { (1 << end) - 1 } else { 0 };
        written.bytes |= written.writing & !kept;
        written.bits = now;
        if written.bytes == written.all() {
            self.lately.pop_back();
        }
    }
}

impl Store<'_> {
    fn is_moved(self) -> bool {
        self.moved != [0; 8]
    }

    /// Tells whether it puts the end of a float back, with another sign or exponent perhaps: what it comes with has the digits
    /// of what is there.
    fn is_own(self, format: Format, at: u8) -> bool {
        let bytes = usize::from(wholes::part_in_memory(self.insn).unwrap_or_default());
        let is_end = usize::from(at) + bytes == format.bytes();
        let mut there = [0; 8];
        planes::read(self.address, &mut there[..bytes]);
        let digits = (8 * bytes as u32).saturating_sub(format.width() + 1 - format.precision());
        let mask = (1 << digits) - 1;
        let [moved, there] = [self.moved, there].map(|cell| u64::from_le_bytes(cell) & mask);
        self.is_moved() && is_end && moved == there
    }
}
