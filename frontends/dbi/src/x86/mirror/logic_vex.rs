//! Bitwise logic without AVX-512: as in `logic`, with vectors of all-ones and zeros for masks.

use super::At;
use super::logic::Lanes;
use crate::x86::emit::Emitter;
use crate::x86::rules::Constants;
use crate::x86::vector::{Form, Place, forms};
use shadowgrind_core::format::Format;

/// An operand's part in the shadow of a result, in temporaries.
struct Part {
    /// Its shadow, with the sign that it has in the result, in the lanes in which the result is ± the operand.
    shadow: u8,
    /// All ones in the lanes in which it has none.
    absent: u8,
}

impl Emitter {
    /// Register `d` becomes what `form` makes of register `a` and `rm`, which is register `b` or has no shadow.
    pub(super) fn logic_lower(
        &mut self,
        at: At<'_>,
        lanes: Lanes,
        form: Form,
        [d, a]: [u8; 2],
        b: Option<u8>,
        rm: Place,
    ) {
        let result = self.temporary(0);
        self.out.hot.vector(lanes.vector(form, [result, a], rm));
        let Part { shadow, absent } = self.part(lanes, result, a, [1, 2, 3]);
        if let Some(b) = b {
            let other = self.part(lanes, result, b, [3, 4, 5]);
            let free = self.temporary(5);
            if form == forms::XOR {
                // What two shadows become is the engine's business.
                self.out.hot.vector(lanes.vector(forms::OR, [free, absent], Place::Reg(other.absent)));
                self.merge(lanes, forms::AND, shadow, free);
                self.merge(lanes, forms::AND, other.shadow, free);
            }
            self.is_zero(lanes, free, shadow);
            self.merge(lanes, forms::AND, other.shadow, free);
            self.merge(lanes, forms::OR, shadow, other.shadow);
            self.merge(lanes, forms::AND, absent, other.absent);
        }
        // Unclear: an operand has a shadow and the result none, which is no matter if that is not selected.
        let unclear = self.temporary(3);
        self.is_zero(lanes, unclear, shadow);
        self.out.hot.vector(lanes.vector(forms::AND_NOT, [unclear, absent], Place::Reg(unclear)));
        if lanes.may_be_nothing(form) {
            let tested = if form == forms::AND { a } else { result };
            self.is_zero(lanes, result, tested);
            self.out.hot.vector(lanes.vector(forms::AND_NOT, [unclear, result], Place::Reg(unclear)));
        }
        if lanes.may_be_nothing(form) && form == forms::AND {
            let equal = if lanes.format == Format::F32 { forms::EQUAL_32 } else { forms::EQUAL_64 };
            self.zero(result);
            self.out.hot.vector(lanes.vector(equal, [result, result], rm));
            self.out.hot.vector(lanes.vector(forms::AND_NOT, [unclear, result], Place::Reg(unclear)));
        }
        self.guard_register(at, unclear);
        self.guest(at);
        self.put_shadow(d, shadow);
    }

    /// The part of register `operand` in the shadow of what is in `result`, made in temporaries `places`.
    fn part(&mut self, lanes: Lanes, result: u8, operand: u8, places: [usize; 3]) -> Part {
        let [shadow, absent, own] = places.map(|i| self.temporary(i));
        let Place::Mem(mem) = self.shadow(operand) else { unreachable!("shadows are in memory") };
        let magnitude = Constants::at(self.mirror().settings.constants).magnitude(lanes.format);
        // What was turned over: at most the sign where the result is ± the operand.
        self.out.hot.vector(lanes.vector(forms::XOR, [shadow, result], Place::Reg(operand)));
        self.out.hot.vector(lanes.vector(forms::AND, [absent, shadow], Place::Mem(magnitude)));
        self.is_zero(lanes, absent, absent);
        self.out.hot.vector_load(own, mem, lanes.bytes);
        self.merge(lanes, forms::XOR, shadow, own);
        self.merge(lanes, forms::AND, shadow, absent);
        self.is_zero(lanes, absent, own);
        self.out.hot.vector(lanes.vector(forms::AND_NOT, [shadow, absent], Place::Reg(shadow)));
        Part { shadow, absent }
    }

    /// `onto` with `other`, in the form's way.
    fn merge(&mut self, lanes: Lanes, form: Form, onto: u8, other: u8) {
        self.out.hot.vector(lanes.vector(form, [onto, onto], Place::Reg(other)));
    }

    /// Makes `to` all ones in the lanes of `register` without a bit.
    fn is_zero(&mut self, lanes: Lanes, to: u8, register: u8) {
        let zero = Constants::at(self.mirror().settings.constants).zero();
        let form = if lanes.format == Format::F32 { forms::EQUAL_32 } else { forms::EQUAL_64 };
        self.out.hot.vector(lanes.vector(form, [to, register], Place::Mem(zero)));
    }
}
