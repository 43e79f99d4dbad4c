//! Arithmetic that does not go lane by lane, under rules that read values and results, and are watched.
//!
//! Between neighbours the rule is that of the plain operation on operands that are shuffled as the instruction shuffles them.
//! Where operations alternate, both rules compute in all lanes, and each lane has its own one's. What is needed in between
//! waits in memory with AVX-512, and in registers without.

use super::lanes::{Across, Lanes};
use super::operands::Operands;
use super::{At, Watched};
use crate::x86::emit::Emitter;
use crate::x86::rules::{InlineRule, Job};
use crate::x86::vector::{Length, Place, Vector, forms};
use shadowgrind_core::format::Format;

/// Places of values in between, with AVX-512: none of those that rules use.
const ASIDE: [usize; 4] = [0, 1, 6, 7];
/// Bits of even lanes.
const EVEN_LANES: u8 = 0x55;
/// Bits of even 64-bit lanes, two for each.
const EVEN_PAIRS: u8 = 0x33;

impl Emitter {
    /// Tells whether there are temporaries for an instruction that combines lanes `how`, whose operands are known.
    pub(super) fn has_room_to_cross(&mut self, how: Across) -> bool {
        let rule = self.inline_rule();
        // The result, and what waits: what one rule says and a value, or all operands.
        let (ops, beside) = match how {
            Across::Alternating(ops) => (ops.to_vec(), 3),
            Across::Neighbours(op) => (vec![op], 5),
            Across::Products(_) => return false,
        };
        let most = ops.into_iter().map(|op| rule.temporaries(op)).max().unwrap_or(0);
        self.has_upper() || self.mirror().temporaries.has_room(most + beside)
    }

    /// An instruction that combines lanes `how`, of these operands, with its rule; its operand in memory is open.
    pub(super) fn crossed(&mut self, at: At<'_>, how: Across, lanes: Lanes, operands: &Operands) {
        let settings = self.mirror().settings;
        let watched = self.watched(at);
        let asked = settings.suspicion.filter(|_| watched == Watched::Suspicious);
        self.touch(at);
        if let Some(suspicion) = asked {
            // The first one is not for answers.
            self.temporary(0);
            let to = self.crossed_rule(at, suspicion, how, lanes, operands, None);
            self.check_register(at, to);
        }
        self.mirror().temporaries.forget_picked();
        let d = at.insn().decoded.op0_register().number() as u8;
        let rule = self.inline_rule();
        let to = self.crossed_rule(at, rule, how, lanes, operands, Some(d));
        self.put_shadow(d, to);
    }

    /// Computes what `rule` says of the operands in all lanes, in a temporary; after the guest's instruction if that has its result
    /// in register `result`.
    fn crossed_rule(
        &mut self,
        at: At<'_>,
        rule: InlineRule,
        how: Across,
        lanes: Lanes,
        operands: &Operands,
        result: Option<u8>,
    ) -> u8 {
        let (count, upper) = (operands.count, self.has_upper());
        let ops = match how {
            Across::Alternating(ops) => ops.to_vec(),
            Across::Neighbours(op) => vec![op],
            Across::Products(_) => Vec::new(),
        };
        let most = ops.iter().map(|&op| rule.temporaries(op)).max().unwrap_or(0);
        let mut temps = if upper { self.upper_temporaries() } else { self.more_temporaries(most) };
        let (mut x, mut shadows, mut absent) = (operands.x, operands.shadows, operands.absent);
        if let Across::Neighbours(_) = how {
            let none = [0, 1].map(|i| absent >> i & 1 == 1);
            [x[0], x[1]] = self.sorted_lanes([x[0], x[1]], [false; 2], lanes, &temps, 0);
            if none != [true; 2] {
                [shadows[0], shadows[1]] =
                    self.sorted_lanes([shadows[0], shadows[1]], none, lanes, &temps, 2);
                absent = 0;
            }
        }
        if let Some(d) = result {
            self.keep_value(d, &mut x[..count], lanes, &mut temps);
            self.guest(at);
        }
        let to = if upper { temps.pop().expect("a temporary") } else { self.another_temporary() };
        let mut even = None;
        for &op in &ops {
            if op != ops[0] {
                even = Some(self.put_aside(to, lanes, 0));
            }
            self.begin_rule(at);
            let places: [&[Place]; 2] = [&x[..count], &shadows[..count]];
            let job = Job::of((rule, op), (lanes.format, lanes.width), places, to, &temps);
            self.emit_rule(&Job { absent, r: Place::Reg(result.unwrap_or(to)), ..job });
            self.end_rule(at);
        }
        if let Some(even) = even {
            self.take_even(to, even, lanes);
        }
        to
    }

    /// So many temporaries that the present instruction has not had so far; without AVX-512.
    fn more_temporaries(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.another_temporary()).collect()
    }

    /// Even lanes of both places, and odd ones, as the instruction pairs them, put aside; those that are `absent` are zero.
    fn sorted_lanes(
        &mut self,
        of: [Place; 2],
        absent: [bool; 2],
        lanes: Lanes,
        temps: &[u8],
        aside: usize,
    ) -> [Place; 2] {
        let from = [0, 1].map(|i| match of[i] {
            _ if absent[i] => {
                self.zero(temps[i]);
                temps[i]
            }
            Place::Reg(register) => register,
            Place::Mem(mem) => {
                self.out.hot.vector_load(temps[i], mem, lanes.width);
                temps[i]
            }
        });
        let to = temps[2];
        let [even, odd] = lanes.sorted([to; 2], from);
        self.out.hot.vector(even);
        let even = self.put_aside(to, lanes, aside);
        self.out.hot.vector(odd);
        [even, self.put_aside(to, lanes, aside + 1)]
    }

    /// Copies a register to a place in which it can wait, the `i`-th.
    fn put_aside(&mut self, register: u8, lanes: Lanes, i: usize) -> Place {
        if self.has_upper() {
            let mem = self.spill_slot(ASIDE[i]);
            self.out.hot.vector_store(mem, register, lanes.width);
            return Place::Mem(mem);
        }
        let aside = self.another_temporary();
        self.move_shadow(aside, register, lanes.width);
        Place::Reg(aside)
    }

    /// Keeps the value of vector register `d`, which the guest's instruction overwrites, if it is among `x`.
    fn keep_value(&mut self, d: u8, x: &mut [Place], lanes: Lanes, temps: &mut Vec<u8>) {
        if !x.contains(&Place::Reg(d)) {
            return;
        }
        let value = match self.has_upper() {
            true => temps.pop().expect("a temporary"),
            false => self.another_temporary(),
        };
        self.move_shadow(value, d, lanes.width);
        x.iter_mut().filter(|x| **x == Place::Reg(d)).for_each(|x| *x = Place::Reg(value));
    }

    /// Puts the even lanes of `even` in the place of those of `to`.
    fn take_even(&mut self, to: u8, even: Place, lanes: Lanes) {
        let length = Length::of(lanes.width);
        let blend = |form| Vector::new(form, lanes.format, length, [to, to], even);
        if self.has_upper() {
            self.select_bits(EVEN_LANES);
            return self.out.hot.vector(blend(forms::BLEND_MASK).masked(super::encode::MASK));
        }
        let bits = if lanes.format == Format::F32 { EVEN_LANES } else { EVEN_PAIRS };
        self.out.hot.vector(blend(forms::BLEND).immediate(bits));
    }
}
