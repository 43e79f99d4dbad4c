//! Gradients of small programs without a processor, against closed forms and against [`dot`](crate::dot).

use super::*;
use crate::dot;
use rug::Float;
use shadowgrind_core::findings::{Answers, Questions};
use shadowgrind_core::ops::Operand;
use shadowgrind_core::shadow::{Leaves, Observed, Seed, Settings, Shadow};
use shadowgrind_core::step::Sums;

/// A float of a made-up program.
#[derive(Clone, Copy)]
struct Number {
    value: f64,
    shadow: Option<Active>,
}

/// A program whose operations are done by the test.
struct Program(Adjoint);

fn bits(x: f64) -> u128 {
    x.to_bits().into()
}

fn constant(value: f64) -> Number {
    Number { value, shadow: None }
}

impl Program {
    fn new() -> Program {
        Program(Adjoint::new(u64::MAX, PathBuf::new()))
    }

    fn input(&mut self, input: usize, value: f64, weight: f64) -> Number {
        let x = Observed { format: Format::F64, bits: bits(value), shadow: None };
        Number { value, shadow: self.0.seed(x, Seed { input, weight }) }
    }

    fn op(&mut self, op: Op, x: &[Number], r: f64) -> Number {
        let (operands, shadows): (Vec<_>, Vec<_>) =
            x.iter().map(|number| (bits(number.value), number.shadow.as_ref())).unzip();
        let (from, to) = (Format::F64, Format::F64);
        let lane = Lane { site: Site::NONE, op, from, to, x: &operands, r: bits(r), shadows: &shadows };
        Number { value: r, shadow: self.0.op(&lane) }
    }

    fn mul(&mut self, a: Number, b: Number) -> Number {
        self.op(Op::Mul, &[a, b], a.value * b.value)
    }

    fn add(&mut self, a: Number, b: Number) -> Number {
        self.op(Op::Add, &[a, b], a.value + b.value)
    }

    fn print(&mut self, output: u64, x: Number) {
        let leaves = Leaves { site: Site::NONE, output, notation: None, written: false };
        self.0.output(
            &leaves,
            Observed { format: Format::F64, bits: bits(x.value), shadow: x.shadow.as_ref() },
        );
    }

    fn answers(&mut self, inputs: usize) -> Answers {
        self.0.answers(&Questions { inputs, most: 64, gradients: true, ..Questions::default() }).unwrap()
    }
}

#[test]
fn components_stand_by_input_in_the_order_they_were_seeded() {
    let mut p = Program::new();
    let [a, b, c] = [(1, 2.0), (0, 3.0), (1, 5.0)].map(|(input, value)| p.input(input, value, 1.0));
    let ab = p.mul(a, b);
    let abc = p.mul(ab, c);
    p.print(0, abc);
    p.print(1, constant(1.0));
    p.print(2, ab);
    let answers = p.answers(3);
    assert_eq!(answers.components, [1, 2, 0]);
    let rows: Vec<_> = answers.gradients.iter().map(|row| (row.output, &row.values[..])).collect();
    assert_eq!(rows, [(Some(0), &[10.0, 15.0, 6.0][..]), (Some(2), &[2.0, 3.0, 0.0])]);
}

#[test]
fn weights_count_for_inputs_and_outputs() {
    let mut p = Program::new();
    let a = p.input(0, 2.0, -0.5);
    let squared = p.mul(a, a);
    p.print(0, a);
    p.print(1, squared);
    let weights = Some(vec![10.0, 3.0]);
    let outputs = Some(vec![0, 1]);
    let questions = Questions { inputs: 1, outputs, gradients: true, weights, ..Questions::default() };
    let gradients = p.0.answers(&questions).unwrap().gradients;
    assert_eq!((gradients[0].output, &gradients[0].values[..]), (None, &[-0.5 * (10.0 + 3.0 * 4.0)][..]));
}

#[test]
fn many_outputs_take_several_sweeps() {
    let mut p = Program::new();
    let x = p.input(0, 1.5, 1.0);
    for n in 0..70 {
        let y = p.mul(x, constant(f64::from(n)));
        p.print(n as u64, y);
    }
    let answers = p.answers(1);
    assert_eq!((answers.gradients.len(), answers.left_out), (64, 6));
    for (n, row) in answers.gradients.iter().enumerate() {
        assert_eq!(row.values, [n as f64]);
    }
}

/// x·a·b − x·ab + x, of which the derivative is what two of 1e22 leave of each other, and x², with none but its own.
#[test]
fn gradients_that_large_derivatives_leave_are_unsure() {
    let (a, b) = (1.1e10, 1.3e12);
    let mut p = Program::new();
    let x = p.input(0, 1.5, 1.0);
    let scaled = p.mul(x, constant(a));
    let (there, back) = (p.mul(scaled, constant(b)), p.mul(x, constant(-(a * b))));
    let left = p.add(there, back);
    let y = p.add(left, x);
    let squared = p.mul(x, x);
    p.print(0, squared);
    p.print(1, y);
    p.print(2, scaled);
    assert_eq!(p.answers(1).unsure, [Some(1)]);
    let questions = Questions { inputs: 1, most: 64, jacobian: true, ..Questions::default() };
    assert_eq!(p.0.answers(&questions).unwrap().unsure, [Some(1)]);
}

#[test]
fn what_is_zero_contributes_nothing() {
    let mut p = Program::new();
    let x = p.input(0, 0.0, 1.0);
    let root = p.op(Op::Sqrt, &[x], 0.0);
    let unused = p.mul(root, constant(1.0));
    let sum = p.add(x, x);
    let product = p.mul(unused, constant(0.0));
    let sum = p.add(sum, product);
    p.print(0, sum);
    assert_eq!(p.answers(1).gradients[0].values, [2.0]);
}

#[test]
fn scaling_takes_no_statement_where_a_cell_has_room() {
    let mut p = Program::new();
    let x = p.input(0, 1.0, 1.0);
    let mut shadow = x.shadow.unwrap();
    for (negate, power) in [(true, 3), (false, 990), (true, -1100), (false, 107)] {
        shadow = p.0.scale(&shadow, Format::F64, negate, power).unwrap();
    }
    p.print(0, Number { value: 1.0, shadow: Some(shadow) });
    assert_eq!(p.answers(1).gradients[0].values, [1.0]);
    let own = p.0.scale(&x.shadow.unwrap(), Format::F64, true, -3).unwrap();
    assert_eq!(own, Active { number: x.shadow.unwrap().number, negated: true, power: -3 });
    // Beside four bytes is no room for a power.
    let other = p.0.scale(&own, Format::F32, false, 5).unwrap();
    assert!(other.number != own.number && other.power == 0);
    p.print(1, Number { value: -4.0, shadow: Some(other) });
    assert_eq!(p.answers(1).gradients[1].values, [-4.0]);
}

#[test]
fn magic_numbers_round_and_have_no_derivative() {
    const MAGIC: f64 = 1.5 * (1_u64 << 52) as f64;
    let mut p = Program::new();
    let x = p.input(0, 2.25, 1.0);
    let rounded = p.add(x, constant(MAGIC));
    assert!(rounded.shadow.is_none());
    p.0.expect_sums(Sums::Plain);
    assert!(p.add(x, constant(MAGIC)).shadow.is_some());
}

#[test]
fn forked_children_report_their_own_outputs() {
    let mut p = Program::new();
    let x = p.input(0, 2.0, 1.0);
    p.print(0, x);
    p.0.process = 0;
    p.print(0, constant(1.0));
    assert!(p.answers(1).gradients.is_empty());
}

/// Every row of TABLE 1, as `dot` has it in the direction of each operand.
#[test]
fn every_row_is_as_forward() {
    let points = [0.3, -0.7, 1.4, 2.0, 0.0, -3.5, 1e-310, 1e300];
    for &op in Op::ALL {
        for n in 0..200 {
            let operand = |(i, operand): (usize, &Operand)| {
                let x = points[(n * (3 + 2 * i) + i) % points.len()];
                if operand.integer { (n % 5) as f64 } else { x }
            };
            let x: Vec<f64> = op.operands().iter().enumerate().map(operand).collect();
            let r = points[n % points.len()].abs() + 0.5;
            check_row(op, &x, r);
        }
    }
}

fn check_row(op: Op, x: &[f64], r: f64) {
    let mut p = Program::new();
    let numbers: Vec<Number> = (0..x.len()).map(|i| p.input(i, x[i], 1.0)).collect();
    let result = p.op(op, &numbers, r);
    p.print(0, result);
    let answers = p.answers(x.len());
    let gradient = answers.gradients.first().map_or(vec![0.0; x.len()], |row| row.values.clone());
    for i in 0..x.len() {
        let mut dots = vec![0.0; x.len()];
        dots[i] = 1.0;
        let forward = dot::eval(Format::F64, op, x, r, &dots);
        let same = gradient[i] == forward || gradient[i].is_nan() && forward.is_nan();
        let near = (gradient[i] - forward).abs() <= 1e-15 * forward.abs();
        assert!(same || near, "{op:?} {x:?} = {r}, by operand {i}: {} and {forward}", gradient[i]);
    }
}

#[test]
fn settings_say_where_the_tape_is() {
    let settings = Settings { tape_memory: 0, tape_dir: PathBuf::from("/nowhere"), ..Settings::default() };
    let mut p = Program(<Adjoint as Shadow>::new(&settings));
    let x = p.input(0, 1.0, 1.0);
    let mut sum = x;
    p.print(0, sum);
    for _ in 0..100_000 {
        sum = p.add(sum, x);
        if sum.shadow.is_none() {
            break;
        }
    }
    p.print(1, sum);
    let answers = p.answers(1);
    assert!(answers.incomplete.is_some_and(|why| why.contains("/nowhere")));
    assert_eq!(answers.gradients.len(), 1);
}

/// Outputs that each depend on two neighbouring inputs.
fn band(count: usize) -> Program {
    let mut p = Program::new();
    let x: Vec<Number> = (0..count).map(|n| p.input(0, 0.5 + n as f64, 1.0)).collect();
    for n in 0..count {
        let product = p.mul(x[n], x[(n + 1) % count]);
        p.print(n as u64, product);
    }
    p
}

#[test]
fn sparse_jacobians_have_the_numbers_of_full_ones() {
    const COUNT: usize = 600;
    let mut p = band(COUNT);
    let questions = Questions {
        inputs: 1,
        outputs: Some((0..COUNT as u64).collect()),
        gradients: true,
        jacobian: true,
        ..Questions::default()
    };
    let answers = p.0.answers(&questions).unwrap();
    let sparse = answers.jacobian.unwrap();
    assert_eq!((sparse.entries(), sparse.columns), (2 * COUNT as u64, COUNT as u64));
    for (row, full) in sparse.rows.iter().zip(&answers.gradients) {
        let entries = full.values.iter().enumerate().filter(|(_, value)| **value != 0.0);
        let entries: Vec<_> = entries.map(|(column, &value)| (column as u64, value)).collect();
        assert_eq!(*row, entries);
    }
}

#[test]
fn directions_are_products_with_the_jacobian() {
    const COUNT: usize = 40;
    let mut p = band(COUNT);
    let direction = |k: usize| (0..COUNT).map(|n| ((n * (k + 3)) % 7) as f64 - 2.5).collect::<Vec<f64>>();
    let directions: Vec<Vec<f64>> = (0..11).map(direction).collect();
    let questions = Questions {
        inputs: 1,
        most: 64,
        gradients: true,
        directions: Some(directions.clone()),
        ..Questions::default()
    };
    let answers = p.0.answers(&questions).unwrap();
    for (along, gradient) in answers.directions.iter().zip(&answers.gradients) {
        for (value, direction) in along.values.iter().zip(&directions) {
            let product: f64 = gradient.values.iter().zip(direction).map(|(g, d)| g * d).sum();
            assert!((value - product).abs() <= 1e-12 * product.abs().max(1.0), "{value} {product}");
        }
    }
}

#[test]
fn budgets_add_up_to_the_error() {
    let mut p = Program::new();
    p.0.budget = true;
    let x = p.input(0, 0.1, 1.0);
    let mut sum = x;
    let mut exact = 0.1_f64;
    let mut low = 0.0_f64;
    for _ in 0..1000 {
        sum = p.add(sum, x);
        // The sum with its roundings kept apart.
        let next = exact + 0.1;
        let part = next - exact;
        low += (exact - (next - part)) + (0.1 - part);
        exact = next;
    }
    p.print(0, sum);
    let answers = p.answers(1);
    let error = sum.value - (exact + low);
    let told: f64 = answers.budget.iter().map(|share| share.error).sum();
    assert!((told - (sum.value - exact - low)).abs() <= 1e-9 * low.abs(), "{told} {error} {low}");
    assert!((told + low).abs() <= 1e-9 * low.abs(), "{told} {low}");
    assert!(answers.budget[0].magnitude >= told.abs());
    assert_eq!(answers.unknown_roundings, Some(0));
}

#[test]
fn budgets_know_what_functions_are_off_by() {
    let mut p = Program::new();
    p.0.budget = true;
    let x = p.input(0, 0.3, 1.0);
    let power = p.op(Op::Exp, &[x], x.value.exp());
    let sine = p.op(Op::Sin, &[power], power.value.sin());
    let product = p.mul(sine, power);
    p.print(0, product);
    let answers = p.answers(1);
    let told: f64 = answers.budget.iter().map(|share| share.error).sum();
    let exact = Float::with_val(300, x.value).exp();
    let exact = exact.clone().sin() * exact;
    let error = Float::with_val(300, product.value - exact).to_f64();
    assert!((told - error).abs() <= 1e-9 * error.abs(), "{told} {error}");
    assert_eq!(answers.unknown_roundings, Some(0));
}
