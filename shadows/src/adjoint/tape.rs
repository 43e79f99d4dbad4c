//! The tape: statements in the order of the run, as columns.
//!
//! A statement says that a result moves by the sum of partial derivatives times what its operands move by. Its number is
//! its place on the tape. A byte says how many operands it has and which partials are 1 or −1; the numbers of operands
//! have four bytes each (eight beyond 2³²), and only other partials are written down. Columns come in chunks, the first
//! of which stay in memory and the rest of which go to a file ([`store`](super::store)).

use super::store::{Place, Store};
use shadowgrind_core::ops::MAX_OPERANDS;
use shadowgrind_core::site::Site;
use std::io;
use std::path::PathBuf;

/// Statements per chunk.
const CHUNK: usize = 1 << 14;

/// Kinds of partials, two bits for each operand.
const NONE: u8 = 0;
const ONE: u8 = 1;
const MINUS_ONE: u8 = 2;
const FACTOR: u8 = 3;
/// Set where the numbers of a statement's operands have eight bytes.
const WIDE: u8 = 1 << 6;

/// A partial derivative, and the statement whose result it is by.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Term {
    pub(super) statement: u64,
    pub(super) partial: f64,
}

/// The terms that a result is the sum of, to first order.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Statement {
    terms: [Term; MAX_OPERANDS],
    len: usize,
    /// The rounding of the result, where that is recorded.
    pub(super) rounding: Option<Rounding>,
}

/// Local rounding error of an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Rounding {
    pub(super) site: Site,
    /// The real result of the operation on its floats, less the float it gave.
    pub(super) residual: f64,
}

impl Statement {
    /// One that depends on one more result.
    #[inline(always)]
    pub(super) fn add(&mut self, term: Term) {
        self.terms[self.len] = term;
        self.len += 1;
    }

    pub(super) fn terms(&self) -> &[Term] {
        &self.terms[..self.len]
    }
}

/// Consecutive statements.
#[derive(Debug, Default)]
pub(super) struct Columns {
    pub(super) kinds: Vec<u8>,
    pub(super) operands: Vec<u32>,
    pub(super) partials: Vec<f64>,
    /// Sites and residuals of all statements, or of none.
    pub(super) sites: Vec<u32>,
    pub(super) residuals: Vec<f64>,
}

impl Columns {
    /// With room for a chunk of usual statements.
    fn new() -> Columns {
        Columns {
            kinds: Vec::with_capacity(CHUNK),
            operands: Vec::with_capacity(2 * CHUNK),
            partials: Vec::with_capacity(CHUNK),
            ..Columns::default()
        }
    }

    #[inline(always)]
    fn push(&mut self, statement: &Statement) {
        let wide = statement.terms().iter().any(|term| term.statement > u64::from(u32::MAX));
        let mut kinds = if wide { WIDE } else { 0 };
        for (i, term) in statement.terms().iter().enumerate() {
            self.operands.push(term.statement as u32);
            if wide {
                self.operands.push((term.statement >> 32) as u32);
            }
            let kind = match term.partial {
                1.0 => ONE,
                -1.0 => MINUS_ONE,
                partial => {
                    self.partials.push(partial);
                    FACTOR
                }
            };
            kinds |= kind << (2 * i);
        }
        self.kinds.push(kinds);
        if let Some(Rounding { site, residual }) = statement.rounding {
            self.sites.push(site.bits());
            self.residuals.push(residual);
        }
    }

    /// The rounding of the statement at this place, if roundings are recorded.
    pub(super) fn rounding(&self, at: usize) -> Option<Rounding> {
        Some(Rounding { site: Site::from_bits(*self.sites.get(at)?), residual: *self.residuals.get(at)? })
    }

    pub(super) fn clear(&mut self) {
        self.kinds.clear();
        self.operands.clear();
        self.partials.clear();
        self.sites.clear();
        self.residuals.clear();
    }

    /// Bytes of it all.
    pub(super) fn bytes(&self) -> u64 {
        let words = self.operands.len() + self.sites.len();
        let doubles = self.partials.len() + self.residuals.len();
        (self.kinds.len() + 4 * words + 8 * doubles) as u64
    }

    /// Hands the statements to `each` from the first to the last, by their place among these.
    #[inline(always)]
    pub(super) fn forward(&self, mut each: impl FnMut(usize, &[Term])) {
        let (mut operand, mut partial) = (0, 0);
        for (at, &kinds) in self.kinds.iter().enumerate() {
            let Extent { operands, partials } = Extent::of(kinds);
            let statement = self.statement(kinds, operand, partial);
            each(at, statement.terms());
            (operand, partial) = (operand + operands, partial + partials);
        }
    }

    /// The same from the last to the first.
    #[inline(always)]
    pub(super) fn backward(&self, mut each: impl FnMut(usize, &[Term])) {
        let (mut operand, mut partial) = (self.operands.len(), self.partials.len());
        for (at, &kinds) in self.kinds.iter().enumerate().rev() {
            let Extent { operands, partials } = Extent::of(kinds);
            (operand, partial) = (operand - operands, partial - partials);
            each(at, self.statement(kinds, operand, partial).terms());
        }
    }

    /// The statement whose operands and partials begin there.
    #[inline(always)]
    fn statement(&self, kinds: u8, mut operand: usize, mut partial: usize) -> Statement {
        let mut statement = Statement::default();
        for i in 0..MAX_OPERANDS {
            let value = match kinds >> (2 * i) & 3 {
                NONE => break,
                ONE => 1.0,
                MINUS_ONE => -1.0,
                _ => {
                    partial += 1;
                    self.partials[partial - 1]
                }
            };
            let mut number = self.operands[operand].into();
            operand += 1;
            if kinds & WIDE != 0 {
                number |= u64::from(self.operands[operand]) << 32;
                operand += 1;
            }
            statement.add(Term { statement: number, partial: value });
        }
        statement
    }
}

/// Number of elements of the columns that a statement takes.
#[derive(Clone, Copy)]
struct Extent {
    operands: usize,
    partials: usize,
}

impl Extent {
    #[inline(always)]
    fn of(kinds: u8) -> Extent {
        const LOW: u8 = 0b01_0101;
        let (low, high) = (kinds & LOW, kinds >> 1 & LOW);
        let operands = (low | high).count_ones() << (kinds >> 6 & 1);
        Extent { operands: operands as usize, partials: (low & high).count_ones() as usize }
    }
}

/// A full chunk.
#[derive(Debug)]
enum Chunk {
    Memory(Columns),
    File(Place),
}

/// See the module's description.
#[derive(Debug)]
pub(super) struct Tape {
    full: Vec<Chunk>,
    open: Columns,
    /// Bytes that may be kept in memory, and that are.
    memory: u64,
    kept: u64,
    store: Store,
    values: u64,
    bytes: u64,
    /// The reason why nothing can be recorded any more.
    failure: Option<String>,
}

impl Tape {
    /// An empty tape of which at most so many bytes are kept in memory, the rest in a file in `dir`.
    pub(super) fn new(memory: u64, dir: PathBuf) -> Tape {
        Tape {
            full: Vec::new(),
            open: Columns::default(),
            memory,
            kept: 0,
            store: Store::new(dir),
            values: 0,
            bytes: 0,
            failure: None,
        }
    }

    /// Number of statements.
    pub(super) fn len(&self) -> u64 {
        (self.full.len() * CHUNK + self.open.kinds.len()) as u64
    }

    /// Number of partials that have been written down.
    pub(super) fn values(&self) -> u64 {
        self.values + self.open.partials.len() as u64
    }

    /// Bytes of it all.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes + self.open.bytes()
    }

    /// The reason why nothing is recorded any more, if that is so.
    pub(super) fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// Records a statement. Its number; nothing if it depends on nothing, or nothing can be recorded.
    #[inline(always)]
    pub(super) fn push(&mut self, statement: &Statement) -> Option<u64> {
        if statement.terms().is_empty() { None } else { self.append(statement) }
    }

    /// Records something that depends on nothing: a component of the inputs, `rounding` as of all statements.
    pub(super) fn input(&mut self, rounding: Option<Rounding>) -> Option<u64> {
        self.append(&Statement { rounding, ..Statement::default() })
    }

    #[inline(always)]
    fn append(&mut self, statement: &Statement) -> Option<u64> {
        if self.open.kinds.len() == self.open.kinds.capacity() && !self.make_room() {
            return None;
        }
        let number = (self.full.len() * CHUNK + self.open.kinds.len()) as u64;
        self.open.push(statement);
        Some(number)
    }

    /// Puts the chunk away that is being written. False if that fails, from then on always.
    #[cold]
    fn make_room(&mut self) -> bool {
        if self.failure.is_some() {
            return false;
        }
        if self.open.kinds.is_empty() {
            self.open = Columns::new();
            return true;
        }
        let bytes = self.open.bytes();
        if self.kept + bytes <= self.memory {
            self.kept += bytes;
            self.count(bytes);
            let full = std::mem::replace(&mut self.open, Columns::new());
            self.full.push(Chunk::Memory(full));
            return true;
        }
        match self.store.append(&self.open) {
            Ok(place) => {
                self.count(bytes);
                self.full.push(Chunk::File(place));
                self.open.clear();
                true
            }
            Err(error) => {
                self.failure = Some(error.to_string());
                false
            }
        }
    }

    fn count(&mut self, bytes: u64) {
        self.bytes += bytes;
        self.values += self.open.partials.len() as u64;
    }

    /// Nothing is read any more: the process ends, and leaves no file behind.
    pub(super) fn discard(&mut self) {
        self.store.discard();
    }

    /// Number of chunks, the last of which is being written.
    pub(super) fn chunks(&self) -> usize {
        self.full.len() + 1
    }

    /// The number of a chunk's first statement.
    pub(super) fn start(&self, chunk: usize) -> u64 {
        (chunk * CHUNK) as u64
    }

    /// Hands a chunk's columns to `look`. `room` is for one that has to be read.
    pub(super) fn chunk<T>(
        &self,
        chunk: usize,
        room: &mut Columns,
        look: impl FnOnce(&Columns) -> T,
    ) -> io::Result<T> {
        Ok(match self.full.get(chunk) {
            None => look(&self.open),
            Some(Chunk::Memory(columns)) => look(columns),
            Some(Chunk::File(place)) => {
                self.store.read(place, room)?;
                look(room)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statement(terms: &[(u64, f64)]) -> Statement {
        let mut statement = Statement::default();
        terms
            .iter()
            .for_each(|&(statement_, partial)| statement.add(Term { statement: statement_, partial }));
        statement
    }

    #[test]
    fn statements_come_back_from_either_end() {
        let all = [
            statement(&[]),
            statement(&[(0, 1.0), (7, -1.0)]),
            statement(&[(1, 2.5)]),
            statement(&[(1 << 40, 0.0), (3, 1.0), (u64::from(u32::MAX), f64::INFINITY)]),
            statement(&[(u64::from(u32::MAX), -1.0), (2, -0.5), (1, 1.0)]),
        ];
        let mut columns = Columns::new();
        all.iter().for_each(|statement| columns.push(statement));
        let (mut forward, mut backward) = (Vec::new(), Vec::new());
        columns.forward(|at, terms| forward.push((at, terms.to_vec())));
        columns.backward(|at, terms| backward.push((at, terms.to_vec())));
        backward.reverse();
        assert_eq!(forward, backward);
        let terms: Vec<_> = all.iter().map(|statement| statement.terms().to_vec()).enumerate().collect();
        assert_eq!(forward, terms);
    }

    #[test]
    fn what_does_not_fit_into_memory_is_read_back() {
        let mut tape = Tape::new(100_000, std::env::temp_dir());
        for n in 0..3 * CHUNK as u64 + 5 {
            let terms = [(n.saturating_sub(1), n as f64 + 0.5), (n / 2, 1.0)];
            assert_eq!(tape.push(&statement(&terms)), Some(n));
        }
        assert!(tape.full.iter().any(|chunk| matches!(chunk, Chunk::File(_))));
        let (mut room, mut n) = (Columns::default(), 0);
        for chunk in 0..tape.chunks() {
            let look = |columns: &Columns| {
                columns.forward(|at, terms| {
                    assert_eq!(tape.start(chunk) + at as u64, n);
                    assert_eq!(terms[0], Term { statement: n.saturating_sub(1), partial: n as f64 + 0.5 });
                    n += 1;
                });
            };
            tape.chunk(chunk, &mut room, look).unwrap();
        }
        assert_eq!((n, tape.values()), (tape.len(), tape.len()));
        assert_eq!(tape.bytes(), 17 * tape.len());
        let file = std::env::temp_dir().join(format!("shadowgrind-{}.tape", std::process::id()));
        assert!(file.exists());
        tape.discard();
        assert!(!file.exists());
    }

    #[test]
    fn a_tape_that_fits_nowhere_says_why() {
        let mut tape = Tape::new(0, PathBuf::from("/nowhere"));
        let one = statement(&[(0, 1.0)]);
        let recorded = (0..2 * CHUNK).filter_map(|_| tape.push(&one)).count();
        assert_eq!(recorded, CHUNK);
        assert!(tape.failure().is_some_and(|why| why.contains("/nowhere")));
    }
}
