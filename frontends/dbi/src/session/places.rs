//! Places, in the running program, of the floats that a SPEC names: found in its memory and registers when the time has
//! come.

use super::seeds::Files;
use super::spec_failure::SpecFailure;
use crate::hooks::abi::{self, Float};
use crate::hooks::machine::{Machine, Unmapped};
use crate::hooks::{self, IntegerPlace, Spot};
use shadowgrind_core::format::Format;
use shadowgrind_core::spec::{Slot, Target};
use shadowgrind_symbols::{
    Holder, Integer, LookupError, Memory, Signature, Storage, Unreached, Variable, general_register,
};
use std::fmt;

/// Place of a module in this process, for its floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Loaded {
    pub(super) bias: u64,
    /// Size of its thread-local block, which ends at the thread pointer.
    pub(super) tls_size: Option<u64>,
}

/// Floats that a SPEC names.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// The floats that a call passes by value.
    Spots(Vec<Spot>),
    /// In memory.
    Memory {
        /// Number of the file whose variable it is.
        file: usize,
        variable: Variable,
        /// The parameters that the way to it begins with or ends at, by number.
        parameters: Vec<(usize, IntegerPlace)>,
    },
}

/// The function at which a place is looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Whence {
    /// Number of its file.
    pub(super) file: usize,
    /// The link-time address.
    pub(super) address: u64,
    /// True if that is the resolver's of an IFUNC, whose parameters are none of the function's.
    pub(super) is_ifunc: bool,
}

impl Whence {
    /// The address at which debug information may have something of the function.
    pub(super) fn described(self) -> Option<u64> {
        (!self.is_ifunc).then_some(self.address)
    }
}

/// Reason why a target has no place.
pub(super) enum NoPlace {
    Lookup(LookupError),
    Slot(hooks::NoSpot),
    NoCode(String),
}

impl From<LookupError> for NoPlace {
    fn from(error: LookupError) -> NoPlace {
        NoPlace::Lookup(error)
    }
}

impl From<hooks::NoSpot> for NoPlace {
    fn from(error: hooks::NoSpot) -> NoPlace {
        NoPlace::Slot(error)
    }
}

impl NoPlace {
    pub(super) fn into_failure(self, option: &str) -> SpecFailure {
        let option = option.to_owned();
        match self {
            NoPlace::Lookup(error) => SpecFailure::Lookup { option, error },
            NoPlace::Slot(error) => SpecFailure::Unsupported { option, why: error.to_string() },
            NoPlace::NoCode(module) => SpecFailure::Unsupported {
                option,
                why: format!("there is no code at this offset of {module}"),
            },
        }
    }
}

impl Files {
    /// Place of `target`: for the function it is looked at in, if it is.
    pub(super) fn place(&mut self, target: &Target, whence: Option<Whence>) -> Result<Place, NoPlace> {
        match (target, whence) {
            (Target::Variable { variable, .. }, whence) => {
                let (file, found) = self.find(|number, file| {
                    let own = whence.filter(|whence| whence.file == number);
                    let found = file.variable(variable, own.and_then(Whence::described))?;
                    // Any object of a library might be meant, were its size all there is to know.
                    if found.guessed && number > 0 {
                        return Err(LookupError::NoPlace { name: variable.name.clone() });
                    }
                    Ok(found)
                })?;
                self.reached(file, found, whence)
            }
            (Target::Call { slot, selectors, format, .. }, Some(whence)) => {
                if let Slot::Pointee(number) = slot {
                    let found = self.get(whence.file).pointee(whence.address, *number, selectors, *format)?;
                    return self.reached(whence.file, found, Some(whence));
                }
                let signature = self.signature(whence);
                Ok(Place::Spots(hooks::spots(signature.as_ref(), *slot, *format)?))
            }
            (Target::Call { .. } | Target::Local { .. } | Target::Script { .. }, _) => {
                unreachable!("these are looked at in functions")
            }
        }
    }

    /// The place of a variable, with the parameters that lead to it.
    pub(super) fn reached(
        &self,
        file: usize,
        variable: Variable,
        whence: Option<Whence>,
    ) -> Result<Place, NoPlace> {
        let signature = whence.and_then(|whence| self.signature(whence));
        if let Storage::Value(Holder::Parameter(number)) = variable.storage {
            return Ok(Place::Spots(hooks::parameter(signature.as_ref(), number)?));
        }
        if let Storage::Value(Holder::Register(register)) = variable.storage {
            return Ok(Place::Spots(vec![hooks::register(register, variable.format)?]));
        }
        let parameters = parameters(&variable, signature.as_ref())?;
        Ok(Place::Memory { file, variable, parameters })
    }
}

fn parameters(
    variable: &Variable,
    signature: Option<&Signature>,
) -> Result<Vec<(usize, IntegerPlace)>, hooks::NoSpot> {
    let storages = variable.integers().map(|integer| integer.storage).chain([variable.storage]);
    let numbers = storages.filter_map(|storage| match storage {
        Storage::Value(Holder::Parameter(number)) | Storage::Through(Holder::Parameter(number)) => {
            Some(number)
        }
        _ => None,
    });
    numbers.map(|number| hooks::word(signature, number).map(|word| (number, word))).collect()
}

/// Values of a call's parameters when it was entered, by their numbers.
pub(crate) type Given = Vec<(usize, u64)>;

/// Reason why floats cannot be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Missed {
    /// The file is not loaded, or its memory is not to be read.
    Unmapped,
    /// The way to them leads nowhere.
    Unreached(Unreached),
}

impl From<Unmapped> for Missed {
    fn from(Unmapped: Unmapped) -> Missed {
        Missed::Unmapped
    }
}

impl fmt::Display for Missed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Missed::Unmapped => write!(f, "its file is not loaded at the time"),
            Missed::Unreached(why) => write!(f, "{why}"),
        }
    }
}

impl Place {
    /// Tells whether the place is taken for that of doubles because nothing is known but its size.
    pub(super) fn is_guessed(&self) -> bool {
        matches!(self, Place::Memory { variable, .. } if variable.guessed && variable.format == Format::F64)
    }

    /// Tells whether the way to it is through pointers in memory.
    pub(super) fn is_through_pointers(&self) -> bool {
        matches!(self, Place::Memory { variable, .. } if variable.is_through_pointers())
    }

    /// Tells whether it is an argument that is passed in memory.
    pub(super) fn is_on_stack(&self) -> bool {
        matches!(self, Place::Spots(spots) if spots.iter().any(|spot| spot.is_on_stack()))
    }

    /// Values that a call passes by which the floats are found: to be asked for where the function is entered.
    pub(super) fn given(&self, m: &dyn Machine) -> Given {
        match self {
            Place::Spots(_) => Given::new(),
            Place::Memory { parameters, .. } => {
                let read = |&(number, word): &(usize, IntegerPlace)| Some((number, word.read(m).ok()?));
                parameters.iter().filter_map(read).collect()
            }
        }
    }

    /// The floats, in memory order. `loaded` says where files are.
    pub(super) fn floats(
        &self,
        m: &dyn Machine,
        loaded: &[Option<Loaded>],
        given: &[(usize, u64)],
    ) -> Result<Vec<Float>, Missed> {
        let (file, variable) = match self {
            Place::Spots(spots) => {
                return Ok(spots.iter().map(|spot| spot.float(m)).collect::<Result<_, _>>()?);
            }
            Place::Memory { file, variable, .. } => (*file, variable),
        };
        let loaded = loaded.get(file).copied().flatten().ok_or(Missed::Unmapped)?;
        let guest = Guest { m, loaded, given };
        let start = guest.address(variable.storage).ok_or(Missed::Unmapped)?;
        if matches!(variable.storage, Storage::Through(_)) && start == 0 {
            return Err(Missed::Unreached(Unreached::Pointer(0)));
        }
        let addresses = variable.addresses(start, &guest).map_err(Missed::Unreached)?;
        addresses
            .into_iter()
            .map(|at| {
                let bad = |Unmapped| Missed::Unreached(Unreached::Pointer(at));
                abi::memory(m, at, variable.format).map_err(bad)
            })
            .collect()
    }
}

/// The program's memory, as the symbols of one of its files describe it.
struct Guest<'a> {
    m: &'a dyn Machine,
    loaded: Loaded,
    given: &'a [(usize, u64)],
}

impl Guest<'_> {
    /// The address that a way begins at.
    fn address(&self, storage: Storage) -> Option<u64> {
        match storage {
            Storage::Static(address) => Some(address.wrapping_add(self.loaded.bias)),
            // No thread pointer: the program has not set one up yet.
            Storage::ThreadLocal(offset) => match (self.loaded.tls_size, self.m.thread_pointer()) {
                (None, _) | (_, 0) => None,
                (Some(size), pointer) => Some(pointer.wrapping_sub(size).wrapping_add(offset)),
            },
            Storage::Through(Holder::Parameter(number)) => self.parameter(number),
            Storage::Through(Holder::Register(register)) => self.register(register),
            Storage::Frame { register, offset } => Some(self.register(register)?.wrapping_add_signed(offset)),
            Storage::Value(_) => None,
        }
    }

    /// Value of a general register, by its number in DWARF.
    fn register(&self, number: u16) -> Option<u64> {
        general_register(number).map(|number| self.m.general(number))
    }

    fn parameter(&self, number: usize) -> Option<u64> {
        self.given.iter().find(|(given, _)| *given == number).map(|(_, value)| *value)
    }
}

impl Memory for Guest<'_> {
    fn load(&self, address: u64, bytes: u8) -> Option<u64> {
        let mut word = [0; 8];
        self.m.read(address, &mut word[..usize::from(bytes.min(8))]).ok()?;
        Some(u64::from_le_bytes(word))
    }

    fn integer(&self, integer: &Integer) -> Option<i64> {
        let word = match integer.storage {
            Storage::Value(Holder::Parameter(number)) => self.parameter(number)?,
            storage => self.load(self.address(storage)?, integer.bytes)?,
        };
        let unused = 64 - 8 * u32::from(integer.bytes.clamp(1, 8));
        Some(match integer.signed {
            true => ((word << unused) as i64) >> unused,
            false => ((word << unused) >> unused) as i64,
        })
    }
}
