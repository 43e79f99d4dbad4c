//! Bitwise logic without AVX-512: as in `logic`, with vectors of all-ones and zeros for masks.

use super::At;
use super::logic::Lanes;
use crate::x86::emit::Emitter;
use crate::x86::rules::Constants;
use crate::x86::vector::{Form, Place, forms};
use shadowgrind_core::format::Format;

/// An operand's part in the shadow of a result, in temporaries.
struct Part {
    /// The shadow, with the sign that it has in the result, in the lanes in which the result is ± the operand.
    shadow: u8,
    /// All ones in the lanes in which it has none.
    absent: u8,
}

/// Mask that selects lanes: a register, or its complement.
#[derive(Clone, Copy)]
struct Mask {
    register: u8,
    complement: bool,
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
        if form == forms::AND || form == forms::AND_NOT {
            return self.let_through_lower(at, lanes, form, [d, a, b.unwrap_or(a)], rm);
        }
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
            self.is_zero(lanes, result, result);
            self.out.hot.vector(lanes.vector(forms::AND_NOT, [unclear, result], Place::Reg(unclear)));
        }
        self.check_register(at, unclear);
        self.guest(at);
        self.put_shadow(d, shadow);
    }

    /// A conjunction of register `a` or its complement and `rm`, which is register `b` or has no shadow, as in `logic`.
    fn let_through_lower(&mut self, at: At<'_>, lanes: Lanes, form: Form, [d, a, b]: [u8; 3], rm: Place) {
        let [shadow, unclear] = [1, 2].map(|i| self.temporary(i));
        let both = matches!(rm, Place::Reg(_));
        let masked = match rm {
            Place::Reg(register) => register,
            Place::Mem(mem) => {
                let register = self.temporary(3);
                self.out.hot.vector_load(register, mem, lanes.bytes);
                register
            }
        };
        if form == forms::AND {
            self.through(lanes, a, Mask { register: masked, complement: false }, [1, 2]);
            if both {
                self.through(lanes, b, Mask { register: a, complement: false }, [3, 4]);
                for (onto, other) in [(1, 3), (2, 4)] {
                    let [onto, other] = [onto, other].map(|i| self.temporary(i));
                    self.merge(lanes, forms::OR, onto, other);
                }
            }
        } else {
            if both {
                self.through(lanes, b, Mask { register: a, complement: true }, [1, 2]);
            } else {
                self.zero(shadow);
                self.zero(unclear);
            }
            // A mask is no float.
            let [own, zero] = [4, 5].map(|i| self.temporary(i));
            let Place::Mem(mem) = self.shadow(a) else { unreachable!("shadows are in memory") };
            self.out.hot.vector_load(own, mem, lanes.bytes);
            self.is_zero(lanes, zero, masked);
            self.out.hot.vector(lanes.vector(forms::AND_NOT, [own, zero], Place::Reg(own)));
            self.merge(lanes, forms::OR, unclear, own);
        }
        if self.mirror().settings.policy.is_born {
            let temps = [3, 4, 5].map(|i| self.temporary(i));
            let beyond = self.beyond_zero(lanes, form, [shadow, a], rm, temps);
            let sign = Place::Mem(Constants::at(self.mirror().settings.constants).sign(lanes.format));
            self.out.hot.vector(lanes.vector(forms::AND, [beyond, beyond], sign));
            self.merge(lanes, forms::OR, unclear, beyond);
        }
        self.check_register(at, unclear);
        self.guest(at);
        self.put_shadow(d, shadow);
    }

    /// Lets register `float` through a mask, in temporaries `places`: its shadow, with the sign that it has then, in
    /// the lanes of which all is let through, the sign aside; and a bit in those of which a part is but that. Uses temporaries 0
    /// and 5.
    fn through(&mut self, lanes: Lanes, float: u8, mask: Mask, places: [usize; 2]) {
        let [shadow, unclear] = places.map(|i| self.temporary(i));
        let [covers, nothing] = [0, 5].map(|i| self.temporary(i));
        let Place::Mem(own) = self.shadow(float) else { unreachable!("shadows are in memory") };
        let constants = Constants::at(self.mirror().settings.constants);
        let (sign, magnitude) = (constants.sign(lanes.format), constants.magnitude(lanes.format));
        let equal = if lanes.format == Format::F32 { forms::EQUAL_32 } else { forms::EQUAL_64 };
        let turned = if mask.complement { forms::AND } else { forms::AND_NOT };
        // What of the sign is cut off, in the lanes with a shadow of which all else is let through.
        let hot = &mut self.out.hot;
        hot.vector(lanes.vector(forms::AND, [covers, mask.register], Place::Mem(magnitude)));
        hot.vector(lanes.vector(turned, [shadow, mask.register], Place::Reg(float)));
        hot.vector(lanes.vector(forms::AND, [shadow, shadow], Place::Mem(sign)));
        hot.vector_load(unclear, own, lanes.bytes);
        hot.vector(lanes.vector(forms::XOR, [shadow, shadow], Place::Reg(unclear)));
        // All and nothing, the sign aside.
        let [none, full] = if mask.complement { [covers, nothing] } else { [nothing, covers] };
        let all = lanes.vector(equal, [full, covers], Place::Mem(magnitude));
        if mask.complement {
            self.out.hot.vector(all);
            self.is_zero(lanes, none, covers);
        } else {
            self.is_zero(lanes, none, covers);
            self.out.hot.vector(all);
        }
        self.merge(lanes, forms::AND, shadow, covers);
        self.merge(lanes, forms::OR, covers, nothing);
        self.is_zero(lanes, nothing, unclear);
        self.out.hot.vector(lanes.vector(forms::AND_NOT, [shadow, nothing], Place::Reg(shadow)));
        self.out.hot.vector(lanes.vector(forms::AND_NOT, [unclear, covers], Place::Reg(unclear)));
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
