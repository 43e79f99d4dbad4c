//! Floats with derivatives that have left in binary form at one place, read in every format they may be of until it is told which.

use super::told::{Evidence, Half};
use crate::hooks::abi::Float;
use crate::hooks::machine::Machine;
use shadowgrind_core::format::Format;
use shadowgrind_core::shadow::Location;
use shadowgrind_core::words::{InPlace, Words};
use std::ops::Range;

/// Bytes that are looked at at once, and those behind them that may be of a float which begins there.
const WINDOW: u64 = 1 << 16;
const BEHIND: u64 = 16;

/// Long doubles that are one by one too likely to be something else.
const FEWEST: u64 = 4;

/// Ways of reading bytes: as floats, as doubles that begin at either of two multiples of four, as long doubles.
const WAYS: [Way; 4] = [
    Way { format: Format::F32, start: 0, step: 4 },
    Way { format: Format::F64, start: 0, step: 8 },
    Way { format: Format::F64, start: 4, step: 8 },
    Way { format: Format::F80, start: 0, step: 16 },
];

/// Way of reading bytes: a float of this format begins at each address that is so much more than a multiple of `step`.
#[derive(Clone, Copy, Debug)]
struct Way {
    format: Format,
    start: u64,
    step: u64,
}

/// Floats of one format.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reading {
    /// Number of floats with a derivative.
    pub(super) count: u64,
    /// Euclidean norm of the derivatives.
    pub(super) norm: f64,
    /// The float with the largest derivative, the first of several, and that.
    pub(super) largest: Option<(Float, f64)>,
}

impl Reading {
    fn add(&mut self, x: Float, derivative: f64) {
        self.count += 1;
        self.norm = self.norm.hypot(derivative);
        let size = |derivative: f64| if derivative.is_nan() { f64::INFINITY } else { derivative.abs() };
        if self.largest.is_none_or(|(_, largest)| size(derivative) > size(largest)) {
            self.largest = Some((x, derivative));
        }
    }
}

/// All that has left at a place.
#[derive(Clone, Debug, Default)]
pub(super) struct Readings {
    ways: [Reading; WAYS.len()],
    /// Of words of eight bytes, by where these begin.
    evidence: [Evidence; 2],
    /// Pieces of sixteen bytes with a shadow, and those that are long doubles.
    wide: u64,
    extended: u64,
}

/// Values and cells of some memory.
struct Window {
    start: u64,
    values: Vec<u8>,
    cells: Vec<u8>,
}

impl Window {
    /// The memory from `start` to `end`, if it is there.
    fn of(m: &dyn Machine, start: u64, end: u64) -> Option<Window> {
        let (mut values, mut cells) = (vec![0; (end - start) as usize], vec![0; (end - start) as usize]);
        m.read(start, &mut values).ok()?;
        m.read_mirror(start, &mut cells);
        Some(Window { start, values, cells })
    }

    /// Numbers that stand in `bytes` bytes, at most sixteen, and in their cells; nothing where the memory ends before, or there is
    /// no shadow.
    fn at(&self, address: u64, bytes: usize) -> Option<(u128, u128)> {
        let from = (address - self.start) as usize;
        let number = |all: &[u8]| {
            let mut image = [0; 16];
            image[..bytes].copy_from_slice(all.get(from..from + bytes)?);
            Some(u128::from_le_bytes(image))
        };
        let cell = number(&self.cells).filter(|&cell| cell != 0)?;
        Some((number(&self.values)?, cell))
    }
}

impl Readings {
    /// Adds what has left of this memory.
    pub(super) fn add(&mut self, m: &dyn Machine, memory: Range<u64>) {
        let mut start = memory.start;
        while start < memory.end {
            let end = (start / WINDOW + 1) * WINDOW;
            if let Some(window) = Window::of(m, start, (end + BEHIND).min(memory.end)) {
                self.add_window(&window, start..end.min(memory.end));
            }
            start = end;
        }
    }

    /// Adds what begins in `part` of a window.
    fn add_window(&mut self, window: &Window, part: Range<u64>) {
        let starts = |way: Way| {
            let first = (part.start + way.step - way.start - 1) / way.step * way.step + way.start;
            (first..part.end).step_by(way.step as usize)
        };
        for (way, reading) in WAYS.into_iter().zip(&mut self.ways) {
            let format = way.format;
            for at in starts(way) {
                let Some((bits, cell)) = window.at(at, format.bytes()) else { continue };
                if let Some(derivative) = InPlace.decode(format, cell, bits) {
                    reading.add(Float { format, bits, location: Location::Memory(at) }, derivative);
                }
            }
        }
        let doubles = WAYS.into_iter().filter(|way| way.format == Format::F64);
        for (way, evidence) in doubles.zip(&mut self.evidence) {
            for at in starts(way) {
                let Some((bits, cell)) = window.at(at, way.step as usize) else { continue };
                let half = |shift: u32| Half { bits: (bits >> shift) as u32, cell: (cell >> shift) as u32 };
                evidence.note(at, half(0), half(32));
            }
        }
        let bytes = Format::F80.bytes();
        for (value, cell) in starts(WAYS[3]).filter_map(|at| window.at(at, WAYS[3].step as usize)) {
            let is_normal = value >> 63 & 1 == 1;
            self.wide += 1;
            self.extended += u64::from(is_normal && InPlace.is_extended(cell) && cell >> (8 * bytes) == 0);
        }
    }

    /// The reading in the format that all is of, if that is told.
    pub(super) fn told(&self) -> Option<Reading> {
        let [even, odd] = &self.evidence;
        let told = match () {
            () if self.wide >= FEWEST && self.wide == self.extended => 3,
            () if even.is_of_floats() && odd.is_of_floats() => 0,
            () if even.is_of_doubles() && !odd.is_of_doubles() => 1,
            () if odd.is_of_doubles() && !even.is_of_doubles() => 2,
            () => return None,
        };
        Some(self.ways[told]).filter(|reading| reading.count > 0)
    }
}
