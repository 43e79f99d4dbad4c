//! Records of made-up loops, packed and one by one: the statements are the same.

use super::super::columns::Columns;
use super::super::distances::NOTHING;
use super::super::sweep::{self, tests::Words as Sums};
use super::super::{Adjoint, Term};
use shadowgrind_core::appended::{self, Appended, HEAD, Kinds, Operation, Part, Records, Source, Step};
use shadowgrind_core::format::Format;
use shadowgrind_core::numbers::Numbers;
use shadowgrind_core::ops::{MAX_OPERANDS, Op};
use shadowgrind_core::site::Site;
use shadowgrind_core::words::Words;

/// Numbers with the period of a linear congruence (Knuth, TAOCP 2, 3.3.4).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn float(&mut self) -> f64 {
        self.below(2000) as f64 / 64.0 - 7.0
    }
}

/// The way in which the cells of an operand follow each other.
#[derive(Clone, Copy)]
enum Cells {
    Inactive,
    /// The first number, the step, and the sign and power of two.
    Regular(u64, u64, (bool, i32)),
    /// The first number and the step, but in one iteration another number.
    Edged(u64, u64, u64),
    /// The result that was so many numbers before.
    Recent(u64),
    /// Results of up to so many numbers before, of the iteration itself or others.
    Near(u64),
    /// Numbers below this.
    Irregular(u64),
    /// Of so many numbers the same in an iteration for all operands, and so many more; now and then inactive, or always active.
    Gathered(u64, u64, bool),
    /// Now and then inactive.
    Changing(u64),
    /// Now and then that of no float.
    Broken(u64),
}

impl Cells {
    fn any(random: &mut Random, before: u64, format: Format) -> Cells {
        let scale = if format == Format::F32 { (random.below(2) == 0, 0) } else { (random.below(2) == 0, 3) };
        match random.below(24) {
            20.. => Cells::Gathered(before / 2, random.below(before / 2), random.below(2) == 0),
            18.. => Cells::Edged(1 + random.below(before / 2), random.below(3), random.below(40)),
            13.. => Cells::Recent(1 + random.below(24)),
            12 => Cells::Near(2 + random.below(30)),
            0 | 1 => Cells::Inactive,
            2 => Cells::Irregular(before),
            3 => Cells::Changing(before),
            4 => Cells::Broken(before),
            5 => Cells::Regular(1 + random.below(before / 2), random.below(3), scale),
            _ => Cells::Regular(1 + random.below(before / 2), random.below(3), (false, 0)),
        }
    }

    /// The cell in an iteration, beside a float of `format`.
    fn cell(self, random: &mut Random, (iteration, number): (u64, u64), format: Format) -> u64 {
        let of = |number, (negated, power)| {
            let shadow = super::Active { number, negated, power };
            Numbers.encode(format, 0, shadow) as u64
        };
        match self {
            Cells::Inactive => 0,
            Cells::Regular(first, step, scale) => of(first + iteration * step, scale),
            Cells::Edged(_, _, edge) if edge == iteration => of(1 + edge, (false, 0)),
            Cells::Edged(first, step, _) => of(first + iteration * step, (false, 0)),
            Cells::Recent(distance) => of(number - distance, (false, 0)),
            Cells::Near(reach) => of(number - 1 - random.below(reach), (false, 0)),
            Cells::Irregular(limit) => of(1 + random.below(limit - 1), (false, 0)),
            Cells::Gathered(limit, more, lacks) => {
                let gathered = Random(iteration).below(limit);
                let is_lacking = lacks && gathered.is_multiple_of(5);
                if is_lacking { 0 } else { of(1 + gathered + more, (false, 0)) }
            }
            Cells::Changing(limit) if random.below(4) == 0 => of(1 + random.below(limit - 1), (false, 0)),
            Cells::Changing(_) => 0,
            Cells::Broken(_) if random.below(5) == 0 => 3,
            Cells::Broken(limit) => of(1 + random.below(limit - 1), (random.below(9) == 0, 0)),
        }
    }
}

/// An operation on long doubles as [`step`] makes those of others.
fn long_step(random: &mut Random, op: Op, before: Option<(u32, &Step)>, mut cell_bytes: u16) -> (Step, u16) {
    let (mut float_bytes, number) = before
        .map_or((0, 0), |(_, Step { part, bytes, .. })| (bytes[1], part.number + u16::from(part.lanes)));
    let (mut cells, mut x) = ([Source::Absent; MAX_OPERANDS], [0; MAX_OPERANDS]);
    let mut kept = [Format::F64; MAX_OPERANDS];
    let reads = op.reads().unwrap().without_result();
    for i in 0..op.arity() {
        let at = cell_bytes.next_multiple_of(8);
        cell_bytes = at + 8;
        cells[i] = Source::Cells(HEAD + at);
        if reads.operand(i) {
            kept[i] = [Format::F32, Format::F64, Format::F80][random.below(3) as usize];
            x[i] = 1 + float_bytes;
            float_bytes += (kept[i].bytes() as u16).next_multiple_of(8);
        }
    }
    let bytes = [cell_bytes.next_multiple_of(8), float_bytes];
    let operation = Operation { site: Site::NONE, op, from: Format::F80, to: Format::F80 };
    let part = Part { operation, lanes: 1, number, cells, x, r: 0, kept };
    (Step { before: before.map(|(n, _)| n), part, bytes }, cell_bytes)
}

/// An operation after `before`, in the same record, if there is one, and so many bytes of cells; and how many there are then.
fn step(random: &mut Random, op: Op, before: Option<(u32, &Step)>, mut cell_bytes: u16) -> (Step, u16) {
    let lanes = 1 << random.below(3);
    let from = if op == Op::Narrow || random.below(3) > 0 { Format::F64 } else { Format::F32 };
    let to = if op == Op::Narrow { Format::F32 } else { from };
    let absent = if op.arity() == 1 { 0 } else { random.below(4).saturating_sub(2) };
    let (mut float_bytes, mut number) = (0, 0);
    let mut own = None;
    if let Some((_, Step { part, bytes: so_far, .. })) = before {
        (float_bytes, number) = (so_far[1], part.number + u16::from(part.lanes));
        own = Some(part.number).filter(|_| part.operation.to == from && part.lanes >= lanes);
    }
    let length = |format: Format| u16::from(lanes) * format.bytes() as u16;
    let reads = op.reads().unwrap();
    let (mut cells, mut x) = ([Source::Absent; 3], [0; 3]);
    for i in (0..op.arity()).filter(|i| absent >> i & 1 == 0) {
        cells[i] = match own.filter(|_| random.below(2) == 0) {
            Some(first) => Source::Results(first),
            None => {
                let at = cell_bytes.next_multiple_of(length(from).min(8));
                cell_bytes = at + length(from);
                Source::Cells(HEAD + at)
            }
        };
    }
    let mut float = |is_read: bool, format: Format| {
        let at = float_bytes;
        float_bytes += if is_read { length(format).next_multiple_of(8) } else { 0 };
        if is_read { 1 + at } else { 0 }
    };
    (0..op.arity()).for_each(|i| x[i] = float(reads.operand(i), from));
    let r = float(reads.result(), to);
    let bytes = [cell_bytes.next_multiple_of(8), float_bytes];
    let operation = Operation { site: Site::NONE, op, from, to };
    let part = Part { operation, lanes, number, cells, x, r, kept: [from; MAX_OPERANDS] };
    (Step { before: before.map(|(n, _)| n), part, bytes }, cell_bytes)
}

fn kinds(random: &mut Random) -> Kinds {
    let ops = [Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Sqrt, Op::Min, Op::Fmadd, Op::Fnmadd, Op::Narrow];
    let mut kinds = Kinds::default();
    let mut last: Option<(Step, u16)> = None;
    for (n, &op) in ops.iter().cycle().take(36).enumerate() {
        let last_one = last.as_ref().filter(|_| random.below(3) > 0);
        let (before, cell_bytes) =
            (last_one.map(|(step, _)| (n as u32 - 1, step)), last_one.map_or(0, |last| last.1));
        let is_long = matches!(op, Op::Add | Op::Mul | Op::Div | Op::Sqrt) && random.below(3) == 0;
        let next = if is_long { long_step } else { step }(random, op, before, cell_bytes);
        kinds.learn(next.0);
        last = Some(next);
    }
    kinds
}

/// Bytes of loops, whose results have numbers from `first` on, after `before` others; and the ends of records.
fn program(random: &mut Random, kinds: &Kinds, before: u64, first: u64) -> (Vec<u8>, Vec<usize>) {
    let (mut bytes, mut ends, mut number) = (Vec::new(), Vec::new(), first);
    for _ in 0..12 {
        let mut some = || -> Vec<usize> {
            (0..1 + random.below(7)).map(|_| random.below(kinds.count() as u64) as usize).collect()
        };
        let mut body = some();
        let tail = some();
        if random.below(3) == 0 {
            // A loop in a loop.
            body = body.repeat(8 + random.below(8) as usize);
            body.extend(tail);
        }
        // For each record, part and operand in each lane.
        let mut cells_of = |part: &Part| -> Vec<Cells> {
            (0..12).map(|_| Cells::any(random, before, part.operation.from)).collect()
        };
        let cells: Vec<Vec<Vec<Cells>>> =
            body.iter().map(|&kind| kinds.of(kind).parts.iter().map(&mut cells_of).collect()).collect();
        let constants: Vec<bool> = (0..12).map(|_| random.below(2) == 0).collect();
        // Now and then more iterations than are evaluated together.
        let most = if random.below(6) == 0 { 300 } else { 40 };
        for iteration in 0..random.below(most) {
            for (&kind, cells) in body.iter().zip(&cells) {
                let start = bytes.len();
                let record = kinds.of(kind);
                bytes.resize(start + record.bytes, 0);
                bytes[start..start + 4].copy_from_slice(&(kind as u32).to_le_bytes());
                let mut put = |at: u16, format: Format, n: usize, word: u128| {
                    let (from, width) = (start + usize::from(at) + n * format.bytes(), format.bytes());
                    if at != 0 {
                        bytes[from..from + width].copy_from_slice(&word.to_le_bytes()[..width]);
                    }
                };
                for (part, cells) in record.parts.iter().zip(cells) {
                    let Operation { from, to, .. } = part.operation;
                    let is_long = from == Format::F80;
                    let beside = if is_long { Format::F64 } else { from };
                    let number = number + u64::from(part.number);
                    for n in 0..usize::from(part.lanes) {
                        for i in 0..3 {
                            if let Source::Cells(at) = part.cells[i] {
                                let cell = cells[3 * n + i].cell(random, (iteration, number), beside);
                                put(at, beside, n, cell.into());
                            }
                            let x = if constants[3 * n + i] { 1.25 } else { random.float() };
                            let kept = if is_long { part.kept[i] } else { from };
                            put(part.x[i], kept, n, kept.from_f64(x));
                        }
                        put(part.r, to, n, to.from_f64(random.float()));
                    }
                }
                number += record.numbers as u64;
                ends.push(bytes.len());
            }
        }
    }
    (bytes, ends)
}

/// All statements, with the bits of partials.
fn statements(adjoint: &Adjoint) -> Vec<(u64, Vec<(u64, u64)>)> {
    let (mut room, mut all) = (Columns::default(), Vec::new());
    for chunk in 0..adjoint.tape.chunks() {
        let look = |columns: &Columns| {
            columns.forward(|number, terms| {
                let terms = terms.iter().map(|term: &Term| (term.statement, term.partial.to_bits()));
                all.push((number, terms.collect()));
            });
        };
        adjoint.tape.chunk(chunk, &mut room, look).unwrap();
    }
    all
}

/// Adjoints that a sweep of `outputs` leaves behind at the inputs: numbers and values.
fn swept(adjoint: &Adjoint, outputs: &[u64]) -> Vec<(u64, u64)> {
    let mut found = Vec::new();
    let outputs = outputs.iter().map(|&output| (output, 1, 1.0));
    sweep::backward::<Sums>(&adjoint.tape, outputs, |passed, &cell| {
        if passed.is_input {
            found.push((passed.statement, cell));
        }
    })
    .unwrap();
    found
}

#[test]
fn loops_say_what_their_records_say() {
    const INPUTS: u64 = 800;
    let dir = std::env::temp_dir().join(format!("shadowgrind-loops-{}", std::process::id()));
    std::fs::create_dir(&dir).unwrap();
    let (mut loops, mut lacking) = (0, 0);
    for seed in 0..120 {
        let mut random = Random(seed);
        let kinds = kinds(&mut random);
        // Some of them through a file.
        let memory = if seed % 3 == 0 { 0 } else { u64::MAX };
        let mut packed = Adjoint::new(memory, dir.clone());
        let mut single = Adjoint::new(u64::MAX, dir.clone());
        for adjoint in [&mut packed, &mut single] {
            (1..INPUTS).for_each(|_| assert!(adjoint.tape.input(None).is_some()));
            adjoint.block();
        }
        let (mut at, mut next) = (0, packed.block());
        let (bytes, ends) = program(&mut random, &kinds, INPUTS, next);
        while at < bytes.len() {
            let end = ends
                [(ends.partition_point(|&end| end <= at) + random.below(400) as usize).min(ends.len() - 1)];
            let records = Records { kinds: &kinds, bytes: &bytes[at..end], number: next };
            let after = packed.append_all(0, &records);
            assert_eq!(appended::append_each(&mut single, &records), after);
            (at, next) = (end, after);
        }
        let all = statements(&single);
        assert_eq!(statements(&packed), all, "seed {seed}");
        assert_eq!((packed.tape.len(), &packed.lost), (single.tape.len(), &single.lost));
        let outputs: Vec<u64> = all.iter().rev().take(50).map(|(number, _)| *number).collect();
        assert_eq!(swept(&packed, &outputs), swept(&single, &outputs));
        let mut count = |columns: &Columns| {
            loops += columns.loops.heads.len();
            lacking += columns.loops.distances.iter().filter(|distance| **distance == NOTHING).count();
        };
        let mut room = Columns::default();
        (0..packed.tape.chunks()).for_each(|n| packed.tape.chunk(n, &mut room, &mut count).unwrap());
        packed.tape.discard();
    }
    std::fs::remove_dir(&dir).unwrap();
    assert!(loops > 500 && lacking > 500, "{loops}, {lacking}");
}
