//! Numbers in boxes that others share: Go leads from an interface to a number's own memory, but to a table where the number is
//! a small integer, or the bits of a small float, of which zero is one that programs have.
//!
//! A place in the table has the shadow of the number that was put there last, which what is printed next takes from it. Where
//! another comes before that, nobody knows which is printed: neither has a shadow then, and that is a gap, unless both say
//! no more than that the floats are exact.

use super::observer::Observer;
use crate::hooks::abi::{self, Float};
use crate::hooks::machine::Machine;
use crate::x86::state;
use hashbrown::HashMap;
use shadowgrind_core::format::Format;
use shadowgrind_core::shadow::Location;
use shadowgrind_core::site::Site;

/// A number on its way into a box.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Boxing {
    /// Size of the number, in bytes.
    bytes: usize,
    shadow: Shadow,
}

/// Shadow of a number in a box.
#[derive(Clone, Copy, Debug)]
struct Shadow {
    /// The number's bits.
    bits: u64,
    /// The bytes beside the number.
    cell: u128,
    /// False if it says no more than that the number is an exact float, or an integer.
    matters: bool,
    /// False once it was printed.
    waits: bool,
    /// The place where the number was put into the box.
    site: Site,
}

/// A number of this format, in Go's first register, is put into a box at `site`: nothing, if that box is its own.
pub(super) fn begin(
    format: Format,
    site: Site,
    observer: &mut dyn Observer,
    m: &mut dyn Machine,
) -> Option<Boxing> {
    let bytes = format.bytes();
    let bits = m.general(abi::RAX) & u64::MAX >> (64 - 8 * bytes);
    if bits >= SHARED {
        return None;
    }
    let x = Float { location: Location::State(state::general(abi::RAX)), format, bits: bits.into() };
    let matters = observer.matters(m, x);
    let cell = m.cell(x.location, bytes);
    Some(Boxing { bytes, shadow: Shadow { bits, cell, matters, waits: true, site } })
}

/// Integers that share boxes (`runtime.staticuint64s`) are below this.
const SHARED: u64 = 256;

/// Numbers in boxes that others share, by the boxes' addresses.
#[derive(Debug, Default)]
pub(super) struct Boxes {
    shadows: HashMap<u64, Shadow>,
}

impl Boxes {
    /// The number is in its box, to which the first register leads. The site of a number whose shadow is lost by that.
    pub(super) fn end_boxing(&mut self, boxing: &Boxing, m: &mut dyn Machine) -> Option<Site> {
        let Boxing { bytes, mut shadow } = *boxing;
        let address = m.general(abi::RAX);
        let before = self.shadows.get(&address).filter(|before| before.waits && before.cell != shadow.cell);
        let lost = before.filter(|before| before.matters || shadow.matters);
        let lost = lost.map(|before| if before.matters { before.site } else { shadow.site });
        if lost.is_some() {
            (shadow.cell, shadow.matters) = (0, false);
        }
        self.shadows.insert(address, shadow);
        m.set_cell(Location::Memory(address), bytes, shadow.cell);
        lost
    }

    /// A float is printed, perhaps from a box.
    pub(super) fn took_float(&mut self, x: Float, m: &mut dyn Machine) {
        if !self.shadows.is_empty() && x.bits < u128::from(SHARED) {
            let cell = m.cell(x.location, x.format.bytes());
            self.took(|shadow| u128::from(shadow.bits) == x.bits && shadow.cell == cell);
        }
    }

    /// An integer is printed, perhaps from a box: the second of Go's registers holds it.
    pub(super) fn took_integer(&mut self, m: &dyn Machine) {
        let bits = m.general(abi::RBX);
        self.took(|shadow| shadow.bits == bits && shadow.cell == 0);
    }

    fn took(&mut self, is_it: impl Fn(&Shadow) -> bool) {
        self.shadows.values_mut().filter(|shadow| is_it(shadow)).for_each(|shadow| shadow.waits = false);
    }
}
