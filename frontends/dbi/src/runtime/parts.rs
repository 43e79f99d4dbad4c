//! Parts of floats overwritten out of line: of which float an instruction writes a part, by what will become of it.
//!
//! Is for what is no float itself: what has a shadow takes it along, byte by byte. Remembers the floats of which parts were written
//! lately, for as long as they are what they were left as: other parts that are written in turn make a new number of them.

pub(super) mod looks;
mod registers;
mod store;

pub(super) use registers::Put;
pub(super) use store::Store;

use crate::engine::{guest, planes};
use crate::x86::wholes::Whole;
use crate::x86::wholes::ahead::{self, Target, Use};
use hashbrown::HashMap;
use looks::{Held, Looks};
use shadowgrind_core::format::Format;
use shadowgrind_core::tricks;
use shadowgrind_core::words::Words;
use std::collections::VecDeque;
use store::{bits, cell};

/// Number of floats that are remembered.
const LATELY: usize = 8;
/// Number of bytes on either side of what is written that may be of the same float.
const AROUND: u64 = 9;
/// Bytes of which two may be two floats.
const NARROW: u8 = 4;

/// Number of the byte of a long double with which sign and exponent begin.
const EXTENDED_END: u8 = 8;

/// Facts that cells tell of floats without the table that they may refer to.
#[derive(Clone, Copy)]
pub(crate) struct Layout {
    /// True if a cell beside a long double tells at both of its ends of which number it is.
    ends_twice: bool,
    looks_wide: fn(u64, u64) -> bool,
    /// True if each byte of a cell belongs to the byte of the float beside it.
    is_bytewise: bool,
}

impl Layout {
    /// The layout of cells that hold such words.
    pub(super) fn of<W: Words>() -> Layout {
        Layout { ends_twice: W::ENDS_TELL, looks_wide: W::looks_wide, is_bytewise: W::BYTEWISE }
    }

    /// Tells whether eight bytes are rather a double than two narrow floats, by the cell beside them.
    pub(super) fn looks_wide(self, cell: u64, bits: u64) -> bool {
        cell != 0 && (self.looks_wide)(cell, bits)
    }

    /// Tells whether `cell`, which is not zero, may be that of a double: beside sign and exponent there is something.
    pub(super) fn may_be_wide(self, cell: u64) -> bool {
        !self.is_bytewise || cell >> 32 != 0
    }
}

/// Floats of which parts were written lately.
pub(super) struct Parts {
    lately: VecDeque<Written>,
    /// Verdicts on instructions that write to registers, by address, and how often they were met.
    in_registers: HashMap<(u64, Put), (Option<Verdict>, u32)>,
    /// The last of `lately` is one of which a part is being written.
    pending: bool,
    looks: Looks,
    /// True if shadows are derivatives: only then are parts looked for.
    pub(super) derives: bool,
    pub(super) layout: Layout,
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

/// Next use of what is about to be stored.
fn next_use(store: Store<'_>) -> Use {
    let (address, bytes, is_shadowed) = (store.address, store.bytes.into(), store.is_moved());
    let target = Target::Memory { address, bytes, is_shadowed };
    ahead::next_use(store.insn, target, store.general, &guest::read_some)
}

impl Parts {
    /// No floats; with `derives`, shadows are derivatives, and `layout` is that of cells.
    pub(super) fn new(derives: bool, layout: Layout) -> Self {
        let (lately, in_registers) = (VecDeque::new(), HashMap::new());
        Parts { lately, in_registers, pending: false, looks: Looks::default(), derives, layout }
    }

    /// Effect of a store on a float.
    pub(super) fn in_memory(&mut self, store: Store<'_>) -> Verdict {
        self.pending = false;
        let Store { address, bytes, seen, .. } = store;
        let beside = planes::any(address.saturating_sub(AROUND), 2 * AROUND + u64::from(bytes));
        let is_told = matches!(seen, Some(Whole::Alone | Whole::Ended | Whole::End { restored: true }));
        if is_told || !beside && !store.is_moved() || seen.is_none() && store.goes_on_with_text() {
            self.looks.copies_double(store);
            return seen.into();
        }
        let breaks_off = self.looks.broken_off(store).is_some_and(|last| {
            let used = next_use(Store { address: last, ..store });
            matches!(used, Use::Part { .. } | Use::Moved { .. })
        });
        let is_copied = self.looks.copies_double(store);
        let verdict = self.overwrites(store, is_copied);
        Verdict { is_doubtful: verdict.is_doubtful || breaks_off, ..verdict }
    }

    /// The looks on behalf of instructions.
    pub(super) fn looks(&mut self) -> &mut Looks {
        &mut self.looks
    }

    /// Effect of a store on a float that there may be; if it `is_copied`, all of that is written byte by byte.
    fn overwrites(&mut self, store: Store<'_>, is_copied: bool) -> Verdict {
        let Store { address, bytes, seen, .. } = store;
        self.lately.retain(Written::is_as_left);
        let known = self.lately.iter().find(|written| written.is_new && written.holds(address));
        let used = match (known, seen) {
            (Some(known), _) => {
                self.looks.writes_new(store);
                Use::New { format: known.format, at: (address - known.start) as u8 }
            }
            (None, Some(Whole::Part { format, at })) => Use::Part { format, at, written: 0 },
            _ if is_copied => Use::Unseen,
            _ => match self.looks.held(store, self.layout) {
                Some(Held::Half) => return Some(Whole::Part { format: Format::F64, at: 0 }).into(),
                Some(Held::Use(used)) => used,
                None => self.looks.note(store, next_use(store)),
            },
        };
        match used {
            // What is put back leaves a float the same, whatever is put beside it.
            Use::New { format, at } if store.is_own(format, at, self.layout) => seen.into(),
            Use::New { format, at } => self.new_one(store, format, [at, bytes]),
            Use::Part { format, at, written } => self.part(store, format, [at, bytes], written),
            Use::Moved { at } => {
                let start = address.wrapping_sub(at.into());
                let is_active = !store.is_moved() && planes::any(start, 8);
                match is_active && bytes == NARROW && self.looks_wide(start) {
                    true => {
                        Verdict { whole: Some(Whole::Part { format: Format::F64, at }), is_doubtful: true }
                    }
                    false => Verdict { whole: seen, is_doubtful: is_active && bytes < NARROW },
                }
            }
            Use::Alone => None.into(),
            Use::Unseen if seen == Some(Whole::End { restored: false }) => {
                store.overwrites_with_text(bytes).or(seen).into()
            }
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
        let (seen, layout) = (store.seen, self.layout);
        if store.is_own(format, at, layout) {
            return seen.into();
        }
        if store.is_there(layout) {
            if !layout.ends_twice {
                self.writes(store.address, format, [at, bytes]);
            }
            return seen.into();
        }
        let is_moved = store.is_moved();
        let Some(written) = self.writes(store.address, format, [at, bytes]) else { return seen.into() };
        let known = written.bytes | written.writing;
        let is_active = planes::any(written.start, format.bytes() as u64);
        if known | ahead != written.all() && store.mixes(format, at) {
            // What is put elsewhere afterwards may make it whole.
            written.is_moved = true;
            return Verdict { whole: None, is_doubtful: true };
        }
        let is_mixed = match store.is_of_another(format, at, layout) {
            Some(is_other) if layout.ends_twice => is_other && ahead & 1 == 0,
            Some(is_other) => is_other && known | ahead == written.writing,
            None => !is_moved && known | ahead != written.all() && is_active,
        };
        // Digits that stay have the exponent of another number then, and that says nothing of them.
        let is_end = usize::from(at + bytes) == format.bytes();
        if is_mixed && is_moved && is_end && known | ahead == written.writing && store.is_over_active(bytes) {
            return Verdict { whole: Some(Whole::Part { format, at }), is_doubtful: true };
        }
        written.is_moved |= is_moved;
        if written.is_moved {
            // Of which number the other parts are is not known.
            return Verdict { whole: seen.filter(|_| is_moved), is_doubtful: is_mixed };
        }
        if format == Format::F80 && at == EXTENDED_END && store.is_beside_another(layout) {
            return Verdict { whole: Some(Whole::Replaced { format, at }), is_doubtful: true };
        }
        let is_full = known == written.all();
        let is_lost = !is_full && written.is_patchwork();
        let is_doubtful = is_lost && is_active;
        let whole = match is_full || is_lost {
            true => Whole::Replaced { format, at },
            false => Whole::Part { format, at },
        };
        Verdict { whole: Some(whole), is_doubtful }
    }

    fn looks_wide(&self, start: u64) -> bool {
        self.layout.looks_wide(cell(start, 8), bits(start, 8))
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
