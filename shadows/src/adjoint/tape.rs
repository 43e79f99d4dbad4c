//! The tape: statements in the order of the run, as columns.
//!
//! A statement says that a result moves by the sum of partial derivatives times what its operands move by. It comes after
//! those that it depends on. Numbers of statements are given out in blocks. Statements come in chunks of
//! [columns](super::columns), the first of which stay in memory and the rest of which go to a file ([`store`](super::store)).

use super::cells::Extent;
use super::columns::{Columns, LOOPS, Rounding, SKIPS, Statement};
use super::loops::Loop;
use super::store::{Place, Store};
use shadowgrind_core::appended::BLOCK;
use shadowgrind_core::numbers::FIRST;
use std::io;
use std::path::PathBuf;

/// Fewest and most statements per chunk.
const FEWEST: u64 = 1 << 12;
const MOST: u64 = 1 << 20;
/// Bytes of memory that a tape may have for each statement of a chunk: several chunks are to fit.
const BYTES: u64 = 64;

/// A full chunk.
#[derive(Debug)]
enum Chunk {
    Memory(Box<Columns>),
    File(Place),
}

/// Tape: the statements of a run in order.
#[derive(Debug)]
pub(super) struct Tape {
    full: Vec<Chunk>,
    open: Columns,
    /// Numbers of all loops' results.
    loops: Vec<Extent>,
    /// Number from which on no block has been given out.
    blocks: u64,
    /// The number of the next statement that has not got one elsewhere, and the end of its block.
    next: u64,
    end: u64,
    /// Number of statements.
    count: u64,
    /// Statements per chunk.
    chunk: usize,
    /// Bytes that may be kept in memory, and that are.
    memory: u64,
    kept: u64,
    store: Store,
    values: u64,
    bytes: u64,
    /// Bytes that were written before they were packed, and those of floats among them.
    raw_bytes: u64,
    raw_float_bytes: u64,
    /// The reason why nothing can be recorded any more.
    failure: Option<String>,
}

impl Tape {
    /// An empty tape of which at most so many bytes are kept in memory, the rest in a file in `dir`.
    pub(super) fn new(memory: u64, dir: PathBuf) -> Tape {
        Tape {
            full: Vec::new(),
            open: Columns::default(),
            loops: Vec::new(),
            blocks: BLOCK,
            next: FIRST,
            end: BLOCK,
            count: 0,
            chunk: (memory / BYTES).clamp(FEWEST, MOST) as usize,
            memory,
            kept: 0,
            store: Store::new(dir),
            values: 0,
            bytes: 0,
            raw_bytes: 0,
            raw_float_bytes: 0,
            failure: None,
        }
    }

    /// Number of statements.
    pub(super) fn len(&self) -> u64 {
        self.count
    }

    /// The numbers of all loops' results.
    pub(super) fn loops(&self) -> &[Extent] {
        &self.loops
    }

    /// A number above those of all statements.
    pub(super) fn limit(&self) -> u64 {
        self.blocks
    }

    /// The first number of a block for statements to be [added](Tape::add).
    pub(super) fn block(&mut self) -> u64 {
        let block = self.blocks;
        self.blocks += BLOCK;
        block
    }

    /// Number of partials that have been written down.
    pub(super) fn values(&self) -> u64 {
        self.values + self.open.values()
    }

    /// Bytes of it all.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes + self.open.bytes()
    }

    /// Bytes that were written as the program ran, before any were packed.
    pub(super) fn raw_bytes(&self) -> u64 {
        self.raw_bytes
    }

    /// Bytes of floats among those.
    pub(super) fn raw_float_bytes(&self) -> u64 {
        self.raw_float_bytes
    }

    /// So many bytes were written, of which so many are floats.
    pub(super) fn wrote(&mut self, bytes: u64, floats: u64) {
        self.raw_bytes += bytes;
        self.raw_float_bytes += floats;
    }

    /// The reason why nothing is recorded any more, if that is so.
    pub(super) fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// Nothing is recorded any more.
    #[cold]
    pub(super) fn fail(&mut self, why: impl FnOnce() -> String) {
        self.failure.get_or_insert_with(why);
    }

    /// Records a statement. Its number; nothing if it depends on nothing, or nothing can be recorded.
    pub(super) fn push(&mut self, statement: &Statement) -> Option<u64> {
        if statement.terms().is_empty() { None } else { self.append(statement) }
    }

    /// Records something that depends on nothing: a component of the inputs, `rounding` as of all statements.
    pub(super) fn input(&mut self, rounding: Option<Rounding>) -> Option<u64> {
        self.append(&Statement::of_nothing(rounding))
    }

    fn append(&mut self, statement: &Statement) -> Option<u64> {
        if self.next == self.end {
            self.next = self.block();
            self.end = self.next + BLOCK;
        }
        let (number, before, values) = (self.next, self.bytes(), self.values());
        self.put(number, statement).then(|| {
            self.next += 1;
            // Nothing of it is packed.
            self.wrote(self.bytes() - before, size_of::<f64>() as u64 * (self.values() - values));
            number
        })
    }

    /// Records a statement under a number of a block, unless it depends on nothing.
    #[inline(always)]
    pub(super) fn add(&mut self, number: u64, statement: &Statement) {
        if !statement.terms().is_empty() {
            self.put(number, statement);
        }
    }

    /// False if nothing can be recorded.
    #[inline(always)]
    fn put(&mut self, number: u64, statement: &Statement) -> bool {
        if self.open.kinds.len() + SKIPS as usize >= self.open.kinds.capacity() && !self.make_room() {
            return false;
        }
        self.open.push(number, statement);
        self.count += 1;
        true
    }

    /// Records a loop, which `build` adds to what it is given: the number of its statements.
    pub(super) fn add_loop(&mut self, build: impl FnOnce(&mut Columns) -> u64) {
        let has_room = self.open.kinds.len() + (SKIPS as usize) < self.open.kinds.capacity();
        let is_full = self.open.loops.bytes() >= (self.chunk * LOOPS) as u64;
        if has_room && !is_full || self.make_room() {
            self.count += build(&mut self.open);
            if let Some(&Loop { number, iterations, numbers, .. }) = self.open.loops.heads.last() {
                self.loops.push(Extent { number, iterations, numbers });
            }
        }
    }

    /// Puts the chunk away that is being written. False if that fails, from then on always.
    #[cold]
    fn make_room(&mut self) -> bool {
        if self.failure.is_some() {
            return false;
        }
        if self.open.kinds.is_empty() && self.open.kinds.capacity() == 0 {
            self.open = Columns::new(self.chunk);
            return true;
        }
        let bytes = self.open.bytes();
        if self.kept + bytes <= self.memory {
            self.kept += bytes;
            self.count(bytes);
            let mut full = std::mem::replace(&mut self.open, Columns::new(self.chunk));
            self.open.loops.make_room_for(&full.loops);
            full.loops.complete();
            self.full.push(Chunk::Memory(Box::new(full)));
            return true;
        }
        match self.store.append(&mut self.open) {
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
        self.values += self.open.values();
    }

    /// Nothing is read any more: the process ends, and leaves no file behind.
    pub(super) fn discard(&mut self) {
        self.store.discard();
    }

    /// Number of chunks, the last of which is being written.
    pub(super) fn chunks(&self) -> usize {
        self.full.len() + 1
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
    use super::super::columns::{Term, tests::statement};
    use super::super::loops::Numbers;
    use super::*;

    #[test]
    fn what_does_not_fit_into_memory_is_read_back() {
        let mut tape = Tape::new(100_000, std::env::temp_dir());
        for n in 1..3 * FEWEST + 5 {
            let terms = [(n - 1, n as f64 + 0.5), (n / 2, 1.0)];
            assert!(tape.push(&statement(&terms)).is_some());
        }
        let in_file = tape.full.iter().filter(|chunk| matches!(chunk, Chunk::File(_))).count();
        assert!(0 < in_file && in_file < tape.full.len());
        let (mut room, mut n) = (Columns::default(), 1);
        for chunk in 0..tape.chunks() {
            let look = |columns: &Columns| {
                columns.forward(|_, terms| {
                    assert_eq!(terms[0], Term { statement: n - 1, partial: n as f64 + 0.5 });
                    n += 1;
                });
            };
            tape.chunk(chunk, &mut room, look).unwrap();
        }
        assert_eq!((n - 1, tape.values()), (tape.len(), tape.len()));
        let file = std::env::temp_dir().join(format!("shadowgrind-{}.tape", std::process::id()));
        assert!(file.exists());
        tape.discard();
        assert!(!file.exists());
    }

    /// Loops of one operand, of which every other one has the same partials, in memory and in a file.
    #[test]
    fn columns_that_come_again_are_kept_once_in_a_chunk() {
        const COUNT: usize = 100;
        const LOOPS: u64 = 2000;
        // A process has one file in a directory.
        let dir = std::env::temp_dir().join(format!("shadowgrind-columns-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let mut tape = Tape::new(300_000, dir.clone());
        let partial =
            |of: u64, n: usize| if of.is_multiple_of(2) { n as f64 + 0.5 } else { (of * n as u64) as f64 };
        let number = |of: u64| 1000 + of * COUNT as u64;
        for of in 0..LOOPS {
            tape.add_loop(|columns| {
                columns.begin_loop(number(of), COUNT, 1);
                let numbers = Numbers { first: 1, step: Some(1) };
                // The second column is of this loop alone.
                for more in [0, 1 << 40] {
                    let column = (0..COUNT).map(|n| partial(of + more, n) + (more * of) as f64);
                    columns.loops.add(0, numbers, std::iter::empty(), |into| into.extend(column));
                }
                COUNT as u64
            });
        }
        let (mut room, mut next) = (Columns::default(), number(0));
        let values = tape.values();
        assert!(values > LOOPS * 3 / 2 * COUNT as u64 && values < LOOPS * 8 / 5 * COUNT as u64, "{values}");
        assert!(tape.full.iter().any(|chunk| matches!(chunk, Chunk::File(_))));
        for chunk in 0..tape.chunks() {
            let look = |columns: &Columns| {
                columns.forward(|statement, terms| {
                    let (of, n) = ((next - 1000) / COUNT as u64, ((next - 1000) % COUNT as u64) as usize);
                    let more = 1 << 40;
                    let expected = [partial(of, n), partial(of + more, n) + (more * of) as f64];
                    assert_eq!((statement, [0, 1].map(|i| terms[i].partial)), (next, expected));
                    next += 1;
                });
            };
            tape.chunk(chunk, &mut room, look).unwrap();
        }
        assert_eq!(next, number(LOOPS));
        tape.discard();
        std::fs::remove_dir(dir).unwrap();
    }

    #[test]
    fn a_tape_that_fits_nowhere_says_why() {
        let mut tape = Tape::new(0, PathBuf::from("/nowhere"));
        let one = statement(&[(0, 1.0)]);
        let recorded = (0..2 * FEWEST).filter_map(|_| tape.push(&one)).count();
        assert_eq!(recorded as u64, FEWEST - SKIPS);
        assert!(tape.failure().is_some_and(|why| why.contains("/nowhere")));
    }
}
