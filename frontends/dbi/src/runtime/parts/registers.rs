//! Parts of floats in registers, and what is looked up at places made of floats: by what will become of it.
//!
//! Remembers what it has said of each instruction. Knows nothing of memory, of which [`super::store`] and [`super::looks`] do.

use super::{NARROW, Parts, Verdict};
use crate::engine::guest;
use crate::x86::rows;
use crate::x86::table::{General, Row};
use crate::x86::wholes::ahead::{self, Target, Use};
use crate::x86::wholes::{self, Whole, mixed};
use iced_x86::{Instruction, Register};
use shadowgrind_core::format::Format;

/// Kind of bytes that an instruction puts into a register, or into a float there.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::runtime) enum Put {
    /// Bytes without a shadow.
    Constant,
    /// Bytes of another float.
    Part,
    /// Bytes that were found at a place made of a float.
    Found,
}

impl Parts {
    /// Effect of `insn`, which is about to run and whose block tells nothing of it, on a float in a register of which it writes
    /// `bytes` bytes from number `at` on. `general` are the general registers.
    pub(in crate::runtime) fn in_register(
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
    pub(in crate::runtime) fn joined(
        &mut self,
        insn: &Instruction,
        general: &[u64; 16],
        is_wide: bool,
    ) -> Verdict {
        let register = insn.op0_register();
        // What is left of the first byte tells.
        let target = Target::Inserted { register, at: 0, bytes: 1 };
        let is_as_wide = |format: Format| !register.is_gpr() || format.bytes() == register.size();
        self.as_before(insn, Put::Constant, || {
            match ahead::next_use(insn, target, general, &guest::read_some) {
                Use::Part { format, at: 0, .. } if is_as_wide(format) => Some(Whole::Result(format)).into(),
                Use::Part { format: Format::F64, at: NARROW, .. } if register.is_gpr32() => {
                    Some(Whole::Upper).into()
                }
                Use::Moved { at: 0 } if is_wide && is_as_wide(Format::F64) => {
                    let is_doubtful = wholes::cuts(insn);
                    Verdict { whole: Some(Whole::Result(Format::F64)), is_doubtful }
                }
                _ => Verdict::default(),
            }
        })
    }

    /// Effect of `insn`, which is about to run and whose block tells nothing of it, on a word in a register: it may be the upper half of
    /// a double.
    pub(in crate::runtime) fn word(&mut self, insn: &Instruction, general: &[u64; 16]) -> Verdict {
        let target = Target::Inserted { register: insn.op0_register(), at: 0, bytes: NARROW.into() };
        self.as_before(insn, Put::Part, || match ahead::next_use(insn, target, general, &guest::read_some) {
            Use::Part { format: Format::F64, at: NARROW, .. } => Some(Whole::Upper).into(),
            _ => Verdict::default(),
        })
    }

    /// Effect of `insn`, which is about to run and whose block tells nothing of it, on doubles in a register: it may put them together
    /// from parts of several.
    pub(in crate::runtime) fn mixed(&mut self, insn: &Instruction, general: &[u64; 16]) -> Verdict {
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

    /// Effect of `insn`, which is about to run and whose block tells nothing of it: it adds narrow lanes, which may be halves of doubles.
    /// If no use is seen, what is beside them decides, which is a guess where that is a float itself.
    pub(in crate::runtime) fn summed(
        &mut self,
        insn: &Instruction,
        general: &[u64; 16],
        looks_wide: bool,
    ) -> Verdict {
        let target = Target::Lane { register: insn.op0_register() };
        let double = Some(Whole::Result(Format::F64));
        let known = self.seen_before(insn, Put::Part, || {
            match ahead::next_use(insn, target, general, &guest::read_some) {
                Use::Part { format: Format::F64, .. } => Some(double.into()),
                Use::Unseen | Use::Moved { .. } => None,
                _ => Some(Verdict::default()),
            }
        });
        let is_doubtful = looks_wide && self.layout.ends_twice;
        known.unwrap_or(Verdict { whole: double.filter(|_| looks_wide), is_doubtful })
    }

    /// Effect of `insn`, which is about to move the upper half of a double, loaded without the other one, to its place: that it has
    /// no other may be known.
    pub(in crate::runtime) fn shifted(&mut self, insn: &Instruction, general: &[u64; 16]) -> Verdict {
        let target = Target::Inserted { register: insn.op0_register(), at: 4, bytes: 4 };
        self.as_before(insn, Put::Constant, || {
            let is_doubtful = ahead::is_double_alone(insn, target, general, &guest::read_some);
            Verdict { whole: None, is_doubtful }
        })
    }

    /// Tells whether `insn`, which is about to run with an address that is made of a float, may look up there what a float is made of: that
    /// is no integer that only says where something is stored.
    pub(in crate::runtime) fn looks_up(&mut self, insn: &Instruction, general: &[u64; 16]) -> bool {
        let register = insn.op0_register();
        let may_be_integer = match rows::row(insn) {
            Row::General(General::Move) => register.is_gpr32(),
            Row::General(General::Extend(_)) => register.is_gpr(),
            _ => false,
        };
        if !may_be_integer {
            return rows::may_look_up(insn);
        }
        let known = self.seen_before(insn, Put::Found, || {
            let is_doubtful = !ahead::says_where(insn, register, general, &guest::read_some);
            Some(Verdict { whole: None, is_doubtful })
        });
        known.is_none_or(|verdict| verdict.is_doubtful)
    }

    /// The verdict on an instruction that writes to a register. Code mostly uses what it makes as it did before: that is looked up
    /// again now and then. Not so where one or two bytes are put, or two words are made one, which is rare.
    fn as_before(&mut self, insn: &Instruction, put: Put, look: impl FnOnce() -> Verdict) -> Verdict {
        if wholes::may_be_part(insn) || mixed::joins_registers(insn) {
            return look();
        }
        self.seen_before(insn, put, || Some(look())).unwrap_or_default()
    }

    /// The verdict on an instruction of which it is looked up again now and then; the last one, if such a look sees nothing.
    fn seen_before(
        &mut self,
        insn: &Instruction,
        put: Put,
        look: impl FnOnce() -> Option<Verdict>,
    ) -> Option<Verdict> {
        let (verdict, times) = self.in_registers.entry((insn.ip(), put)).or_default();
        *times = times.saturating_add(1);
        if times.is_power_of_two() {
            *verdict = look().or(*verdict);
        }
        *verdict
    }
}
