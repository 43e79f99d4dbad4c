//! Events that translated code counts by itself: comparisons of floats where one of them has a shadow, since a derivative is that
//! of the way taken, and roundings of such floats to whole numbers, which have none.
//!
//! Comparisons that ask for equality are left to the engine where that is found: it says so. They are looked at after the
//! comparison, which may be made once more. Knows nothing of what is done with what is compared.

use super::At;
use super::address_registers;
use super::arith::lanes_mask;
use super::check::{SideExit, Source};
use super::encode::{self, EQUAL, NOT_EQUAL};
use super::x87_stack::NUMBER;
use crate::context::Context;
use crate::x86::access;
use crate::x86::asm::{RCX, Rel32};
use crate::x86::code::Slot;
use crate::x86::emit::Emitter;
use crate::x86::lower::predicate;
use crate::x86::rows;
use crate::x86::superblock::Decision;
use crate::x86::table::{Row, Shape};
use crate::x86::vector::{Length, Mem, Place, Vector, forms};
use iced_x86::OpKind;
use shadowgrind_core::format::Format;

/// The operands of a comparison, or what is rounded: shadows, how many bytes of each, and of which floats.
pub(super) struct Compared {
    pub(super) shadows: Vec<Place>,
    pub(super) bytes: u8,
    pub(super) format: Format,
}

/// Limit of what code counts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Until {
    /// Until it is often enough; the instruction has not been begun.
    Enough,
    /// Unless flags say that what was compared is equal, and then the engine counts.
    Equal,
    /// As long as the code is there.
    Ever,
}

impl Compared {
    /// The shadows as memory of up to eight bytes, if all are.
    fn scalars(&self) -> Option<Vec<Mem>> {
        let scalar = |place: &Place| match *place {
            Place::Mem(mem) if self.bytes <= 8 => Some(mem),
            _ => None,
        };
        self.shadows.iter().map(scalar).collect()
    }
}

impl Emitter {
    /// A comparison into flags.
    pub(super) fn compared_to_flags(&mut self, at: At<'_>, format: Format) {
        let Some(decision) = self.counted(at) else { return self.guest(at) };
        let (Some(number), true) = (decision.number, self.open_operand(at)) else {
            return self.out_of_line(at);
        };
        let compared = self.operands_compared(at, &[0, 1], format, Shape::Scalar);
        if decision.for_equality {
            self.guest(at);
            self.count_keeping_flags(at, &compared, number, Until::Equal);
        } else {
            self.count_before(at, &compared, number);
            self.guest(at);
        }
        self.close_operand();
    }

    /// A comparison into masks: a vector, or a mask register.
    pub(super) fn compared_to_masks(&mut self, at: At<'_>, format: Format, shape: Shape) {
        let insn = &at.insn().decoded;
        let Some(decision) = self.counted(at) else { return self.fresh(at, format, shape) };
        let for_equality = predicate(insn).asks_for_equality();
        // Of the lanes that a mask lets through the engine knows.
        let is_plain = !access::is_decorated(insn);
        let (Some(number), false, true) = (decision.number, for_equality, is_plain) else {
            return self.checked(at);
        };
        if !self.open_operand(at) {
            return self.out_of_line(at);
        }
        let first = insn.op_count() - 3;
        let compared = self.operands_compared(at, &[first, first + 1], format, shape);
        self.count_before(at, &compared, number);
        self.close_operand();
        self.fresh(at, format, shape);
    }

    /// The comparison if it is counted: not that a float is compared with itself, which asks whether it is NaN.
    fn counted(&mut self, at: At<'_>) -> Option<Decision> {
        let insn = &at.insn().decoded;
        let first = if insn.op_count() > 2 { insn.op_count() - 3 } else { 0 };
        let is_register = |n| insn.op_kind(n) == OpKind::Register;
        let both = is_register(first) && is_register(first + 1);
        if both && insn.op_register(first) == insn.op_register(first + 1) {
            return None;
        }
        self.decision(at)
    }

    /// Decision that the instruction takes, if it is counted now.
    fn decision(&self, at: At<'_>) -> Option<Decision> {
        at.block.decision(at.insn().pc()).filter(|_| !self.mode.is_off())
    }

    /// Tells whether an instruction that makes whole numbers of floats is for the engine to count.
    pub(super) fn leaves_rounding(&self, at: At<'_>) -> bool {
        let insn = &at.insn().decoded;
        let overwrites_address =
            || address_registers(insn).any(|register| register == insn.op0_register().full_register());
        // Of the lanes that a mask lets through, or that are one in memory, the engine knows.
        let is_left =
            |number: Option<u16>| number.is_none() || access::is_decorated(insn) || overwrites_address();
        self.decision(at).is_some_and(|decision| is_left(decision.number))
    }

    /// After an instruction, while shadows are those of before: if it has made whole numbers of floats, counts where one has a shadow.
    /// Not before, since an instruction that raises an exception may be begun again.
    pub(super) fn count_rounding(&mut self, at: At<'_>) {
        let insn = &at.insn().decoded;
        let (Row::Round(format, shape) | Row::ToInteger(format, _, shape)) = rows::row(insn) else { return };
        let Some(number) = self.decision(at).and_then(|decision| decision.number) else { return };
        let is_float = |&n: &u32| matches!(insn.op_kind(n), OpKind::Register | OpKind::Memory);
        let source = (1..insn.op_count()).rev().find(is_float).expect("an operand to round");
        let compared = self.operands_compared(at, &[source], format, shape);
        self.count_shadowed(at, &compared, number, Until::Ever);
    }

    /// Before `frndint`, `fist` and their kin: counts where the float on top of the x87 stack has a shadow, or leaves that to the
    /// engine.
    pub(super) fn count_x87_rounding(&mut self, at: At<'_>) {
        let Some(decision) = self.decision(at) else { return };
        let top = self.x87_cell(0).plus(NUMBER);
        match decision.number {
            Some(number) => {
                let shadows = vec![Place::Mem(top)];
                self.count_shadowed(
                    at,
                    &Compared { shadows, bytes: 8, format: Format::F64 },
                    number,
                    Until::Ever,
                );
            }
            None => self.check(at, &[Source::Memory(top, 8)]),
        }
    }

    /// Shadows of the operands with these numbers.
    fn operands_compared(&mut self, at: At<'_>, operands: &[u32], format: Format, shape: Shape) -> Compared {
        let insn = &at.insn().decoded;
        let mut shadows = Vec::new();
        for &n in operands {
            let place = match insn.op_kind(n) {
                OpKind::Register => Some(self.shadow(insn.op_register(n).number() as u8)),
                _ => self.mirror_memory(insn).map(Place::Mem),
            };
            shadows.extend(place.filter(|place| !shadows.contains(place)));
        }
        let bytes = match shape {
            Shape::Scalar => format.bytes() as u8,
            Shape::Packed if insn.op_kind(operands[0]) == OpKind::Memory => insn.memory_size().size() as u8,
            Shape::Packed => insn.op_register(operands[0]).size() as u8,
        };
        const HALF: u8 = 32;
        if bytes <= HALF || self.has_upper() {
            return Compared { shadows, bytes, format };
        }
        // In halves, as tests without a mask register have them.
        let halves = shadows.into_iter().flat_map(|place| match place {
            Place::Mem(mem) => vec![Place::Mem(mem), Place::Mem(mem.plus(HALF.into()))],
            Place::Reg(_) => vec![place],
        });
        Compared { shadows: halves.collect(), bytes: HALF, format }
    }

    /// Before a comparison.
    pub(super) fn count_before(&mut self, at: At<'_>, compared: &Compared, number: u16) {
        self.count_shadowed(at, compared, number, Until::Enough);
    }

    /// Before or after an instruction, where flags are dead or else are kept.
    fn count_shadowed(&mut self, at: At<'_>, compared: &Compared, number: u16, until: Until) {
        if compared.shadows.is_empty() {
            return;
        }
        if !self.mirror().liveness.flags_are_dead(at.index) {
            return self.count_keeping_flags(at, compared, number, until);
        }
        let mut fields = Vec::new();
        let skip = match compared.scalars() {
            Some(scalars) => {
                let Some((&last, others)) = scalars.split_last() else { return };
                for &mem in others {
                    encode::compare_zero(&mut self.out.hot, mem, compared.bytes.into());
                    fields.push(self.out.hot.jcc_open(NOT_EQUAL));
                }
                encode::compare_zero(&mut self.out.hot, last, compared.bytes.into());
                self.out.hot.jcc_open(EQUAL)
            }
            None => {
                let union = self.all_compared(compared);
                if self.has_mask_of(compared) {
                    self.mask_of_compared(union, compared);
                    encode::test_mask(&mut self.out.hot);
                } else {
                    self.test_union(union);
                }
                self.out.hot.jcc_open(EQUAL)
            }
        };
        let here = self.out.hot.here();
        let ends = until == Until::Enough;
        let enough = ends.then(|| self.side_exit(SideExit::Counted(at.insn().pc()), false));
        let counter = self.counter(number);
        encode::increment(&mut self.out.hot, counter);
        if let Some(enough) = enough {
            let field = self.out.hot.jcc_open(EQUAL);
            self.out.hot.patch(field, enough);
        }
        fields.into_iter().for_each(|field| self.out.hot.patch(field, here));
        let here = self.out.hot.here();
        self.out.hot.patch(skip, here);
    }

    /// Counts where flags are needed.
    fn count_keeping_flags(&mut self, at: At<'_>, compared: &Compared, number: u16, until: Until) {
        let scalars = compared.scalars();
        let union = if scalars.is_none() { Some(self.all_compared(compared)) } else { None };
        let stub = (until == Until::Equal).then(|| self.side_exit(SideExit::OutOfLine(at.insn().pc()), true));
        self.out.hot.store(self.frame.slot(Slot::Scratch), RCX);
        let spilled = self.spilled(Some(RCX));
        self.note(at.index, spilled);
        let mut fields = Vec::new();
        if let Some(union) = union {
            if self.has_mask_of(compared) {
                self.mask_of_compared(union, compared);
                encode::mask_to_rcx(&mut self.out.hot);
            } else {
                self.union_to_rcx(union);
            }
            fields.push(self.out.hot.jump_unless_rcx_is_zero());
        }
        for (index, &mem) in scalars.iter().flatten().enumerate() {
            if index > 0 && mem.uses(RCX) {
                self.out.hot.load(RCX, self.frame.slot(Slot::Scratch));
            }
            encode::load_rcx(&mut self.out.hot, mem, compared.bytes.into());
            fields.push(self.out.hot.jump_unless_rcx_is_zero());
        }
        self.count_in_passing(at, number, fields, stub, until == Until::Enough);
    }

    /// Counts if mask register 1 has a bit among its lowest eight. After an instruction: flags are kept.
    pub(super) fn count_mask(&mut self, at: At<'_>, number: u16) {
        self.out.hot.store(self.frame.slot(Slot::Scratch), RCX);
        let spilled = self.spilled(Some(RCX));
        self.note(at.index, spilled);
        encode::mask_to_rcx(&mut self.out.hot);
        let field = self.out.hot.jump_unless_rcx_is_zero();
        self.count_in_passing(at, number, vec![field], None, false);
    }

    /// Puts rcx back, and emits cold code that counts before, for the jumps at `fields`; with a `stub`, goes there instead
    /// if flags say "equal". What `ends` is counted until that is enough, before the instruction.
    fn count_in_passing(
        &mut self,
        at: At<'_>,
        number: u16,
        fields: Vec<Rel32>,
        stub: Option<u64>,
        ends: bool,
    ) {
        let back = self.out.hot.here();
        self.out.hot.load(RCX, self.frame.slot(Slot::Scratch));
        self.note_spilled(at.index);
        let counter = self.counter(number);
        let cold = &mut self.out.cold;
        let start = cold.here();
        if let Some(stub) = stub {
            let field = cold.jcc_open(EQUAL);
            cold.patch(field, stub);
        }
        encode::load_rcx(cold, counter, 8);
        cold.add_rcx(1);
        encode::store(cold, counter, RCX, 8);
        if ends {
            cold.jmp_unless_rcx_is_zero(back);
            self.side_exit(SideExit::Counted(at.insn().pc()), true);
        } else {
            cold.jmp(back);
        }
        fields.into_iter().for_each(|field| self.out.hot.patch(field, start));
    }

    pub(super) fn counter(&self, number: u16) -> Mem {
        Mem::rip(self.frame.field(Context::OFFSET_COUNTS + 8 * u32::from(number)))
    }

    /// Leaves in a register the union of all shadows, in the lanes that are compared or in more.
    fn all_compared(&mut self, compared: &Compared) -> u8 {
        let Compared { bytes, format, .. } = *compared;
        let (length, to) = (Length::of(bytes.max(16)), self.temporary(0));
        let mut union = None;
        for &place in &compared.shadows {
            let register = match place {
                Place::Reg(register) => register,
                Place::Mem(mem) => {
                    let temporary = self.temporary(usize::from(union.is_some()));
                    self.out.hot.vector_load(temporary, mem, bytes);
                    temporary
                }
            };
            union = Some(match union {
                None => register,
                Some(others) => {
                    let or = Vector::new(forms::OR, format, length, [to, others], Place::Reg(register));
                    self.out.hot.vector(or);
                    to
                }
            });
        }
        let union = union.expect("a shadow");
        if self.has_upper() { union } else { self.lanes_compared(union, compared) }
    }

    /// Leaves in a register the lanes of `union` that are compared. Without AVX-512.
    fn lanes_compared(&mut self, union: u8, compared: &Compared) -> u8 {
        const LOWEST_LANE: u8 = 0b1110;
        let (to, rm) = (self.temporary(0), Place::Reg(union));
        let length = Length::of(compared.bytes.max(16));
        let lanes = match compared.bytes {
            4 => Vector::new(forms::INSERT_32, Format::F32, length, [to, union], rm).immediate(LOWEST_LANE),
            8 => Vector::unary(forms::MOVE_64, Format::F64, length, to, rm),
            _ => Vector::unary(forms::MOVE, compared.format, length, to, rm),
        };
        self.out.hot.vector(lanes);
        to
    }

    /// Leaves in mask register 1 which lanes of `union` that are compared have a bit. With AVX-512, and of up to eight lanes.
    fn mask_of_compared(&mut self, union: u8, compared: &Compared) {
        let Compared { bytes, format, .. } = *compared;
        let lanes = lanes_mask(bytes / format.bytes() as u8).expect("eight lanes at most");
        let length = Length::of(bytes.max(16));
        let test = Vector::new(forms::TEST, format, length, [encode::MASK, union], Place::Reg(union));
        self.out.hot.vector(test.masked(lanes));
    }

    /// Tells whether lanes that are compared can be told from others by a mask.
    fn has_mask_of(&mut self, compared: &Compared) -> bool {
        self.has_upper() && lanes_mask(compared.bytes / compared.format.bytes() as u8).is_some()
    }
}
