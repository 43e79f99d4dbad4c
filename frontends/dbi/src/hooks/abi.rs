//! Places of arguments, fixed and variable, in the System V calling convention for x86-64 (psABI, section 3.2.3).
//!
//! Everything is read at a function's first instruction, when the return address is on top of the stack. Knows the
//! convention, not what any function does.

use crate::hooks::machine::{Machine, Unmapped, read_u64};
use crate::x86::state;
use shadowgrind_core::findings::Value;
use shadowgrind_core::format::Format;
use shadowgrind_core::shadow::Location;

/// Hardware numbers of general registers that have a role in calls.
pub(crate) const RAX: usize = 0;
pub(crate) const RDX: usize = 2;
pub(crate) const RBX: usize = 3;
pub(crate) const RSP: usize = 4;

/// The registers of the first six integer arguments: rdi, rsi, rdx, rcx, r8, r9.
const INTEGERS: [usize; 6] = [7, 6, 2, 1, 8, 9];

/// Vector registers that hold arguments.
const VECTORS: usize = 8;

/// A float of the program: what it is and where its shadow is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Float {
    pub(crate) location: Location,
    pub(crate) format: Format,
    pub(crate) bits: u128,
}

impl Float {
    /// The float with the other sign, where it is.
    pub(crate) fn negated(self) -> Float {
        Float { bits: self.bits ^ 1 << (self.format.width() - 1), ..self }
    }

    /// The float as reports have it.
    pub(crate) fn value(self) -> Value {
        Value::new(self.format, &self.bits.to_le_bytes())
    }
}

/// The return address: what is on top of the stack.
pub(crate) fn return_address(m: &dyn Machine) -> Result<u64, Unmapped> {
    read_u64(m, m.general(RSP))
}

/// Integer or pointer argument `index`, from 0, of a function that takes no structures.
pub(crate) fn integer(m: &dyn Machine, index: usize) -> Result<u64, Unmapped> {
    match INTEGERS.get(index) {
        Some(&register) => Ok(m.general(register)),
        None => read_u64(m, stack(m) + 8 * (index - INTEGERS.len()) as u64),
    }
}

/// Address of the first argument on the stack.
pub(crate) fn stack(m: &dyn Machine) -> u64 {
    m.general(RSP).wrapping_add(8)
}

/// Lane `lane` of vector register `register`.
pub(crate) fn lane(m: &dyn Machine, register: usize, lane: usize, format: Format) -> Float {
    let start = lane * format.bytes();
    let bits = format.bits_of(&m.vector(register)[start..]);
    Float { location: Location::State(state::vector(register) + start as u16), format, bits }
}

/// The float at `address`.
pub(crate) fn memory(m: &dyn Machine, address: u64, format: Format) -> Result<Float, Unmapped> {
    let mut bytes = [0; 10];
    m.read(address, &mut bytes[..format.bytes()])?;
    Ok(Float { location: Location::Memory(address), format, bits: format.bits_of(&bytes) })
}

/// The float that is where `x` is, by now; nothing if that is no vector register or memory that is there.
pub(crate) fn present(m: &dyn Machine, x: Float) -> Option<Float> {
    match x.location {
        Location::Memory(address) => memory(m, address, x.format).ok(),
        Location::State(at) => {
            let (register, byte) = state::vector_at(at)?;
            Some(lane(m, register, byte / x.format.bytes(), x.format))
        }
    }
}

/// Float on top of the x87 stack.
pub(crate) fn x87_top(m: &dyn Machine) -> Float {
    let location = Location::State(state::x87(m.x87_top(), 0));
    Float { location, format: Format::F80, bits: Format::F80.bits_of(&m.x87(0)) }
}

/// Floating-point argument `index`, from 0, of a function all of whose floating-point arguments have this format.
pub(crate) fn float(m: &dyn Machine, index: usize, format: Format) -> Result<Float, Unmapped> {
    match format {
        Format::F80 => memory(m, stack(m) + 16 * index as u64, format),
        _ if index < VECTORS => Ok(lane(m, index, 0, format)),
        _ => memory(m, stack(m) + 8 * (index - VECTORS) as u64, format),
    }
}

/// A floating-point result.
pub(crate) fn result(m: &dyn Machine, format: Format) -> Float {
    match format {
        Format::F80 => x87_top(m),
        _ => lane(m, 0, 0, format),
    }
}

/// The arguments of a `...`, read one after the other.
pub(crate) struct Varargs {
    /// Registers used up so far.
    integers: usize,
    vectors: usize,
    /// The next argument on the stack.
    overflow: u64,
    /// Address at which the registers were saved, if this is a `va_list`.
    saved: Option<u64>,
}

/// Bytes of the integer registers in a register save area; vector registers follow, 16 bytes each.
const SAVED_INTEGERS: u64 = 48;

impl Varargs {
    /// Arguments of a variadic function with `fixed` integer arguments before the `...`.
    pub(crate) fn after(m: &dyn Machine, fixed: usize) -> Varargs {
        let on_stack = fixed.saturating_sub(INTEGERS.len()) as u64;
        let integers = fixed.min(INTEGERS.len());
        Varargs { integers, vectors: 0, overflow: stack(m) + 8 * on_stack, saved: None }
    }

    /// Arguments of the `va_list` at `address`, which is left as it is.
    pub(crate) fn of_list(m: &dyn Machine, address: u64) -> Result<Varargs, Unmapped> {
        let offsets = read_u64(m, address)?;
        let (general, vector) = (offsets & 0xffff_ffff, offsets >> 32);
        Ok(Varargs {
            integers: (general / 8) as usize,
            vectors: (vector.saturating_sub(SAVED_INTEGERS) / 16) as usize,
            overflow: read_u64(m, address + 8)?,
            saved: Some(read_u64(m, address + 16)?),
        })
    }

    /// The next integer or pointer.
    pub(crate) fn integer(&mut self, m: &dyn Machine) -> Result<u64, Unmapped> {
        if self.integers >= INTEGERS.len() {
            return read_u64(m, self.take(8));
        }
        let number = self.integers;
        self.integers += 1;
        match self.saved {
            Some(area) => read_u64(m, area.wrapping_add(8 * number as u64)),
            None => Ok(m.general(INTEGERS[number])),
        }
    }

    /// The next `double`.
    pub(crate) fn double(&mut self, m: &dyn Machine) -> Result<Float, Unmapped> {
        if self.vectors >= VECTORS {
            return memory(m, self.take(8), Format::F64);
        }
        let number = self.vectors;
        self.vectors += 1;
        match self.saved {
            Some(area) => memory(m, area.wrapping_add(SAVED_INTEGERS + 16 * number as u64), Format::F64),
            None => Ok(lane(m, number, 0, Format::F64)),
        }
    }

    /// The next `long double`: always on the stack, aligned to 16 bytes.
    pub(crate) fn long_double(&mut self, m: &dyn Machine) -> Result<Float, Unmapped> {
        self.overflow = self.overflow.wrapping_add(15) & !15;
        memory(m, self.take(16), Format::F80)
    }

    fn take(&mut self, bytes: u64) -> u64 {
        let at = self.overflow;
        self.overflow = at.wrapping_add(bytes);
        at
    }
}
