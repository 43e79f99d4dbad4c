//! Stretches of a local variable: the locations that debug information lists for it, one after another, with the floats that are there.
//!
//! Knows neither scopes nor functions.

use std::ops::Range;

use shadowgrind_core::spec::End;

use super::{Local, Search, Stretch};
use crate::Integer;
use crate::dies::{At, Holder, Storage};
use crate::error::LookupError;
use crate::locations::{self, Located, Location};
use crate::reach::{self, Nothing};
use crate::select::{self, Floats, Start};
use crate::variable::{self, Variable};

impl Search<'_> {
    /// Adds the places of `location`, which holds in the code `range`, to `local`; if it has none there, adds that code to the
    /// last argument.
    pub(super) fn stretches(
        &mut self,
        whole: &Whole<'_>,
        range: &Range<u64>,
        location: &Location,
        local: &mut Local,
        Placeless { computed, constant }: &mut Placeless,
    ) -> Result<(), LookupError> {
        let Whole { number, kind, is_whole_scope } = *whole;
        let mut push = |range, variable| {
            local.stretches.push(Stretch { range, variable, location: number, is_whole_scope });
        };
        match location {
            Location::Absent => {}
            Location::Nowhere => computed.push(range.clone()),
            Location::Constant => constant.push(range.clone()),
            Location::Whole(Located { base, is_pointer }) => {
                for (range, storage) in base.places(range, self.frames.as_mut()) {
                    push(range, self.floats(kind, storage, *is_pointer)?);
                }
            }
            Location::Pieces(pieces) => {
                let start = Storage::Static(0);
                let floats = self.floats(kind, start, false)?;
                for (bytes, located) in self.pieces(&floats, pieces) {
                    let Some(Located { base, is_pointer: false }) = located else {
                        computed.push(range.clone());
                        continue;
                    };
                    for (range, storage) in base.places(range, self.frames.as_mut()) {
                        let storage = storage.at(bytes);
                        push(range, Variable { storage, steps: Vec::new(), ..floats.clone() });
                    }
                }
            }
        }
        Ok(())
    }

    /// For each of `floats`, which are where a variable begins at address 0, the piece that it is in and its offset there.
    fn pieces(&self, floats: &Variable, pieces: &[(u64, Option<Located>)]) -> Vec<(u64, Option<Located>)> {
        let Storage::Static(start) = floats.storage else { return Vec::new() };
        let Ok(offsets) = reach::walk(&floats.steps, start, &Nothing) else { return vec![(0, None)] };
        let size = floats.format.bytes() as u64;
        let piece_of = |offset: u64| {
            let mut first = 0;
            for &(bytes, located) in pieces {
                if (first..first + bytes).contains(&offset) {
                    let is_register = matches!(
                        located,
                        Some(Located {
                            base: locations::Base::Known(Storage::Value(Holder::Register(_))),
                            ..
                        })
                    );
                    let fits = offset + size <= first + bytes && !(is_register && offset > first);
                    return (offset - first, located.filter(|_| fits));
                }
                first += bytes;
            }
            (0, None)
        };
        offsets.into_iter().map(piece_of).collect()
    }

    fn floats(&self, kind: &At, storage: Storage, is_pointer: bool) -> Result<Variable, LookupError> {
        let failed = |error| self.file.corrupt(error);
        let bounds = |end: &End| self.integer(end);
        let start = Start { kind: kind.clone(), storage, size: None, bounds: &bounds, is_pointer };
        let Floats { format, storage, steps } = select::typed(self.dies, start, self.wanted, &failed)?;
        Ok(Variable { name: self.wanted.name.clone(), storage, format, steps, guessed: false })
    }

    /// The global variable that a range ends at.
    fn integer(&self, end: &End) -> Result<Integer, LookupError> {
        match end {
            End::Variable(name) => variable::integer(self.file, name),
            End::Index(index) => Err(LookupError::NotInteger { name: index.to_string() }),
            End::Argument(number) => Err(LookupError::NotInteger { name: format!("#{number}") }),
        }
    }
}

/// Code in which a variable has a value, but no place.
#[derive(Default)]
pub(super) struct Placeless {
    /// The value is computed from others.
    computed: Vec<Range<u64>>,
    /// Ranges of code in which it is a constant.
    constant: Vec<Range<u64>>,
}

impl Placeless {
    /// Gives `local` that code in which it may have been given a value.
    pub(super) fn leave(self, local: &mut Local) {
        let Placeless { computed, constant } = self;
        let stretches = &local.stretches;
        // What is going to be computed comes to its place afterwards.
        let comes = |range: &Range<u64>| stretches.iter().any(|stretch| stretch.range.start == range.end);
        // What has been in some place, and can still be computed, is the same value.
        let goes_on = |range: &Range<u64>| {
            let ends = stretches.iter().map(|stretch| &stretch.range).chain(&computed).chain(&constant);
            ends.map(|other| other.end).any(|end| end == range.start)
        };
        let given = computed.iter().filter(|range| !goes_on(range)).chain(&constant);
        let nowhere: Vec<_> = given.filter(|range| !comes(range)).cloned().collect();
        local.nowhere.extend(nowhere);
    }
}

/// Facts about a variable that are the same at all its places.
pub(super) struct Whole<'a> {
    pub(super) number: usize,
    pub(super) kind: &'a At,
    pub(super) is_whole_scope: bool,
}
