//! Parts of floats overwritten out of line: of which float an instruction writes a part, by what will become of it.
//!
//! Is for what is no float itself: what has a shadow takes it along, byte by byte. Remembers the floats of which parts were written
//! lately, for as long as they are what they were left as: other parts that are written in turn make a new number of them.

use crate::engine::{guest, planes};
use crate::x86::wholes::ahead::{self, Target, Use};
use crate::x86::wholes::{self, Whole, mixed};
use hashbrown::HashMap;
use iced_x86::{Instruction, Register};
use shadowgrind_core::format::Format;
use shadowgrind_core::tricks;
use shadowgrind_core::words::Words;
use std::collections::VecDeque;

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
}

impl Layout {
    /// The layout of cells that hold such words.
    pub(super) fn of<W: Words>() -> Layout {
        Layout { ends_twice: W::ENDS_TWICE, looks_wide: W::looks_wide }
    }

    /// Tells whether eight bytes are rather a double than two narrow floats, by the cell beside them.
    pub(super) fn looks_wide(self, cell: u64, bits: u64) -> bool {
        cell != 0 && (self.looks_wide)(cell, bits)
    }
}

/// Floats of which parts were written lately.
pub(super) struct Parts {
    lately: VecDeque<Written>,
    /// Verdicts on instructions that write to registers, by address, and how often they were met.
    in_registers: HashMap<(u64, Put), (Verdict, u32)>,
    /// The last of `lately` is one of which a part is being written.
    pending: bool,
    /// Last look at a single byte, if it saw no use of that.
    unseen: Option<Unseen>,
    /// True if shadows are derivatives: only then are parts looked for.
    pub(super) derives: bool,
    pub(super) layout: Layout,
}

/// Look that saw no use of a single byte: it holds for some that the same instruction puts next to that, as a loop does which copies
/// bytes. Of those it has seen almost as far.
#[derive(Clone, Copy)]
struct Unseen {
    /// Address of the instruction.
    by: u64,
    /// Address of the byte that was put there last.
    address: u64,
    /// Number of bytes for which the look still holds.
    left: u8,
}

impl Unseen {
    /// Number of bytes for which a look holds.
    const MOST: u8 = 8;

    /// What is left of the look after a byte that it holds for; nothing if it does not.
    fn after(self, by: u64, address: u64) -> Option<Unseen> {
        let is_next = self.by == by && self.address.abs_diff(address) == 1;
        let left = self.left.checked_sub(1).filter(|_| is_next)?;
        Some(Unseen { address, left, ..self })
    }
}

/// Kind of bytes that an instruction puts into a float in a register.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Put {
    /// Bytes without a shadow.
    Constant,
    /// Bytes of another float.
    Part,
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
    /// Number of bytes that it writes there, less than eight.
    pub(super) bytes: u8,
    /// Bits that it puts there, and the shadow of these.
    pub(super) value: u64,
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
    /// No floats; with `derives`, shadows are derivatives, and `layout` is that of cells.
    pub(super) fn new(derives: bool, layout: Layout) -> Self {
        let (lately, in_registers) = (VecDeque::new(), HashMap::new());
        Parts { lately, in_registers, pending: false, unseen: None, derives, layout }
    }

    /// Effect of a store on a float.
    pub(super) fn in_memory(&mut self, store: Store<'_>) -> Verdict {
        self.pending = false;
        let Store { insn, address, bytes, general, seen, .. } = store;
        let beside = planes::any(address.saturating_sub(AROUND), 2 * AROUND + u64::from(bytes));
        let is_told = matches!(seen, Some(Whole::Alone | Whole::Ended | Whole::End { restored: true }));
        if is_told || !beside && !store.is_moved() || seen.is_none() && store.goes_on_with_text() {
            return seen.into();
        }
        self.lately.retain(Written::is_as_left);
        let known = self.lately.iter().find(|written| written.is_new && written.holds(address));
        let used = match (known, seen) {
            (Some(known), _) => Use::New { format: known.format, at: (address - known.start) as u8 },
            (None, Some(Whole::Part { format, at })) => Use::Part { format, at, written: 0 },
            _ => self.next_use(insn, [address, bytes.into()], general),
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

    /// Next use of so many bytes at an address, which `insn` is about to write.
    fn next_use(&mut self, insn: &Instruction, [address, bytes]: [u64; 2], general: &[u64; 16]) -> Use {
        let unseen = self.unseen.take().and_then(|unseen| unseen.after(insn.ip(), address));
        self.unseen = unseen.filter(|_| bytes == 1);
        if self.unseen.is_some() {
            return Use::Unseen;
        }
        let used = ahead::next_use(insn, Target::Memory { address, bytes }, general, &guest::read_some);
        let left = Unseen::MOST - 1;
        self.unseen = (used == Use::Unseen && bytes == 1).then_some(Unseen { by: insn.ip(), address, left });
        used
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

    /// Effect of `insn`, which is about to run and whose block tells nothing of it, on a float in a register of which it writes
    /// `bytes` bytes from number `at` on. `general` are the general registers.
    pub(super) fn in_register(
        &mut self,
        insn: &Instruction,
        register: Register,
        [at, bytes]: [u8; 2],
        put: Put,
        general: &[u64; 16],
    ) -> Verdict {
        let target = Target::Inserted { register, at: at.into(), bytes: bytes.into() };
        self.as_before(insn, put, || match ahead::next_use(insn, target, general, &guest::read_some) {
            Use::Part { format, at, .. } => Some(Whole::Part { format, at }).into(),
            Use::Moved { .. } if put == Put::Constant => Verdict { whole: None, is_doubtful: bytes < NARROW },
            _ => Verdict::default(),
        })
    }

    /// Effect of `insn`, which is about to run and whose block tells nothing of it, on a float in a register: it cuts bits out of
    /// that, or puts some in. `is_wide`: by whole bytes, and the float is rather a double than two narrow ones.
    pub(super) fn joined(&mut self, insn: &Instruction, general: &[u64; 16], is_wide: bool) -> Verdict {
        let register = insn.op0_register();
        // What is left of the first byte tells.
        let target = Target::Inserted { register, at: 0, bytes: 1 };
        let is_as_wide = |format: Format| !register.is_gpr() || format.bytes() == register.size();
        self.as_before(insn, Put::Constant, || {
            match ahead::next_use(insn, target, general, &guest::read_some) {
                Use::Part { format, at: 0, .. } if is_as_wide(format) => Some(Whole::Result(format)).into(),
                Use::Moved { at: 0 } if is_wide && is_as_wide(Format::F64) => {
                    let is_doubtful = wholes::cuts(insn);
                    Verdict { whole: Some(Whole::Result(Format::F64)), is_doubtful }
                }
                _ => Verdict::default(),
            }
        })
    }

    /// Effect of `insn`, which is about to run and whose block tells nothing of it, on doubles in a register: it may put them together
    /// from parts of several.
    pub(super) fn mixed(&mut self, insn: &Instruction, general: &[u64; 16]) -> Verdict {
        let (register, joins) = (insn.op0_register(), mixed::joins_registers(insn));
        let target = match joins {
            true => Target::Inserted { register, at: 0, bytes: 1 },
            false => Target::Lane { register },
        };
        let cuts_narrow = joins && !insn.immediate8().is_multiple_of(8 * NARROW);
        self.as_before(insn, Put::Part, || match ahead::next_use(insn, target, general, &guest::read_some) {
            Use::Part { format: Format::F64, .. } => Some(Whole::Mixed).into(),
            // As two narrow floats are, too.
            Use::Moved { .. } if cuts_narrow => Some(Whole::Mixed).into(),
            _ => Verdict::default(),
        })
    }

    /// Effect of `insn`, which is about to move the upper half of a double, loaded without the other one, to its place: that it has
    /// no other may be known.
    pub(super) fn shifted(&mut self, insn: &Instruction, general: &[u64; 16]) -> Verdict {
        let target = Target::Inserted { register: insn.op0_register(), at: 4, bytes: 4 };
        self.as_before(insn, Put::Constant, || {
            let is_doubtful = ahead::is_double_alone(insn, target, general, &guest::read_some);
            Verdict { whole: None, is_doubtful }
        })
    }

    /// The verdict on an instruction that writes to a register. Code mostly uses what it makes as it did before: that is looked up
    /// again now and then. Not so where one or two bytes are put, or two words are made one, which is rare.
    fn as_before(&mut self, insn: &Instruction, put: Put, look: impl FnOnce() -> Verdict) -> Verdict {
        if wholes::may_be_part(insn) || mixed::joins_registers(insn) {
            return look();
        }
        let (verdict, times) = self.in_registers.entry((insn.ip(), put)).or_default();
        *times = times.saturating_add(1);
        if times.is_power_of_two() {
            *verdict = look();
        }
        *verdict
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

impl Store<'_> {
    fn is_moved(self) -> bool {
        self.moved != [0; 8]
    }

    /// Tells whether it puts there the end of another long double than that whose digits are there; nothing if it is no such end, the
    /// digits have no shadow, or nothing tells.
    fn is_of_another(self, format: Format, at: u8, layout: Layout) -> Option<bool> {
        let first = cell(self.address.wrapping_sub(at.into()), 2);
        if format != Format::F80 || at != EXTENDED_END || !self.is_moved() || first == 0 {
            return None;
        }
        let moved = u64::from_le_bytes(self.moved);
        if layout.ends_twice {
            return Some(!is_same_but_sign(moved, first));
        }
        // That of the same number has been changed as the float has.
        let there = cell(self.address, 2);
        let is_whole = there != 0 && self.seen != Some(Whole::Assembled);
        is_whole.then(|| change(2, there, moved) != change(2, bits(self.address, 2), self.value))
    }

    /// Tells whether the end of a long double that it overwrites is not that of the digits that are there.
    fn is_beside_another(self, layout: Layout) -> bool {
        let [first, last] =
            [self.address.wrapping_sub(EXTENDED_END.into()), self.address].map(|at| cell(at, 2));
        first != 0 && if layout.ends_twice { first != last } else { self.seen == Some(Whole::Assembled) }
    }

    /// Tells whether it puts a part of a number with a shadow into another one, of which the rest stays.
    fn mixes(self, format: Format, at: u8) -> bool {
        const DIGITS: u64 = 8;
        let is_among_digits = || match format {
            Format::F80 => at < EXTENDED_END || !planes::any(self.address - DIGITS, DIGITS),
            _ => true,
        };
        self.is_moved() && is_among_digits()
    }

    /// Tells whether it puts down what has the shadow that is there. Parts of shadows that are numbers are the same by chance, as are
    /// those of fewer bytes than a float has: unless what they are for is the same, too.
    fn is_there(self, layout: Layout) -> bool {
        let tells = layout.ends_twice && self.bytes >= NARROW;
        self.is_moved()
            && cell(self.address, self.bytes.into()) == u64::from_le_bytes(self.moved)
            && (tells || bits(self.address, self.bytes.into()) == self.value)
    }

    fn is_over_active(self, bytes: u8) -> bool {
        planes::any(self.address, bytes.into())
    }

    /// Tells whether it puts a character behind eight that are there. Only of a float that begins just there is it a part, the last one.
    fn goes_on_with_text(self) -> bool {
        const BEFORE: usize = 8;
        let before = || bits(self.address.wrapping_sub(BEFORE as u64), BEFORE).to_le_bytes();
        let is_character = self.bytes == 1 && !self.is_moved() && guest::is_text(self.value as u8);
        is_character && before().into_iter().all(guest::is_text)
    }

    /// The float that it goes over with text, whose end it reaches: buffers of text lie where floats were that have been freed, and
    /// nothing of those is left then. A double is one if its bytes as far as these are text, which digits are by chance once in a
    /// thousand times, and a narrow float if so are as many, with those before it. Digits of numbers are put down from the last
    /// one on: either is one as well before as many bytes of text, if it would have an exponent that nobody gives a float.
    fn overwrites_with_text(self, bytes: u8) -> Option<Whole> {
        const WORD: u64 = 8;
        if self.is_moved() || !self.value.to_le_bytes()[..bytes.into()].iter().copied().all(guest::is_text) {
            return None;
        }
        let end = self.address + u64::from(bytes);
        let is_text = |from: u64, to: u64| {
            let len = to.saturating_sub(from) as usize;
            bits(from, len).to_le_bytes()[..len].iter().copied().all(guest::is_text)
        };
        let over = |format: Format, from: u64| {
            let (size, at) = (format.bytes() as u64, self.address % format.bytes() as u64);
            let reaches_end = (size - 1..=size).contains(&(at + u64::from(bytes)));
            let last = self.address - at + size - 1;
            let top = if last < end { self.value >> (8 * (last - self.address)) } else { bits(last, 1) };
            let is_absurd = !(b';'..=b'`').contains(&(top as u8));
            let is_amid = || is_text(from, self.address) || is_absurd && is_text(end, end + WORD);
            (reaches_end && is_amid()).then_some(Whole::Replaced { format, at: at as u8 })
        };
        over(Format::F64, self.address & !(WORD - 1)).or_else(|| over(Format::F32, end.saturating_sub(WORD)))
    }

    /// Tells whether it puts the end of a float back, with another sign or exponent perhaps, or that of the float whose digits are
    /// there: what it comes with has the digits of what is there, and has been changed as the float has.
    fn is_own(self, format: Format, at: u8, layout: Layout) -> bool {
        let bytes = usize::from(self.bytes);
        if usize::from(at) + bytes != format.bytes() || !self.is_moved() {
            return false;
        }
        let (moved, there) = (u64::from_le_bytes(self.moved), cell(self.address, bytes));
        let first = || cell(self.address.wrapping_sub(at.into()), bytes);
        if format == Format::F80 && layout.ends_twice && is_same_but_sign(moved, first()) {
            return true;
        }
        let before = bits(self.address, bytes);
        let digits =
            (1_u64 << (8 * bytes as u32).saturating_sub(format.width() + 1 - format.precision())) - 1;
        let is_same = |a: u64, b: u64| (a ^ b) & digits == 0;
        // The upper end of a number has none of its digits.
        let may_differ = layout.ends_twice && !is_same(before, self.value);
        let is_changed_alike = || change(bytes, there, moved) == change(bytes, before, self.value);
        is_same(moved, there) && (may_differ || is_same(before, self.value) && is_changed_alike())
    }
}

/// Shadow beside the `bytes` bytes at `address`.
fn cell(address: u64, bytes: usize) -> u64 {
    let mut cell = [0; 8];
    planes::read(address, &mut cell[..bytes]);
    u64::from_le_bytes(cell)
}

/// The `bytes` bytes at `address`, as far as there is memory.
fn bits(address: u64, bytes: usize) -> u64 {
    let mut bits = [0; 8];
    guest::read_some(address, &mut bits[..bytes]);
    u64::from_le_bytes(bits)
}

/// Tells whether two ends of long doubles differ in their signs at most.
fn is_same_but_sign(a: u64, b: u64) -> bool {
    (a ^ b) & 0x7fff == 0
}

/// Change of sign and exponent from one end of a float, of so many bytes, to another.
fn change(bytes: usize, from: u64, to: u64) -> (bool, i64) {
    let sign = 1_u64 << (8 * bytes - 1);
    let magnitude = |end: u64| (end & (sign - 1)).cast_signed();
    ((from ^ to) & sign != 0, magnitude(to) - magnitude(from))
}
