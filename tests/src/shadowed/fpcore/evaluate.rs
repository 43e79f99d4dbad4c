//! Evaluation of a core: the results of its program and the true ones, floats and reals side by side.
//!
//! The float half uses the same C library as the compiled program, so that both take the same branches; the real half
//! is MPFR's. Constants are rounded as in the program.

use super::{Core, Expression};
use rug::{Float, ops::Pow};

/// Precision of the truth.
pub const TRUTH_BITS: u32 = 3200;

/// A float and the real it stands for.
#[derive(Clone, Debug)]
pub struct Dual {
    /// In a binary32 core a value of that type.
    pub float: f64,
    /// The number, to [`TRUTH_BITS`] bits.
    pub real: Float,
}

impl Dual {
    fn exact(float: f64) -> Dual {
        Dual { float, real: Float::with_val(TRUTH_BITS, float) }
    }
}

/// The core at these arguments.
pub fn evaluate(core: &Core, arguments: &[f64]) -> Dual {
    let scope: Vec<_> =
        core.arguments.iter().cloned().zip(arguments.iter().map(|a| Dual::exact(*a))).collect();
    let evaluator = Evaluator { single: core.single };
    evaluator.value(&core.body, &scope)
}

/// The error of a float in bits: log2(1 + n), with n floats of its type between it and the real, counted through zero.
pub fn error_bits(float: f64, real: &Float, single: bool) -> f64 {
    let (rounded, width) = if single { (f64::from(real.to_f32()), 32.0) } else { (real.to_f64(), 64.0) };
    if float.is_nan() || rounded.is_nan() {
        return if float.is_nan() == rounded.is_nan() { 0.0 } else { width };
    }
    let distance = (ordinal(float, single) - ordinal(rounded, single)).unsigned_abs();
    (distance as f64 + 1.0).log2()
}

/// Neighbouring floats have neighbouring numbers; both zeros have 0.
fn ordinal(float: f64, single: bool) -> i128 {
    let magnitude =
        if single { i128::from((float as f32).abs().to_bits()) } else { i128::from(float.abs().to_bits()) };
    if float < 0.0 { -magnitude } else { magnitude }
}

struct Evaluator {
    single: bool,
}

type Scope = [(String, Dual)];

impl Evaluator {
    fn value(&self, expression: &Expression, scope: &Scope) -> Dual {
        if let Some(atom) = expression.atom() {
            return self.atom(atom, scope);
        }
        let items = expression.items();
        let operator = items[0].atom().expect("an operator");
        match operator {
            "let" | "let*" => {
                let mut inner = scope.to_vec();
                for binding in items[1].items() {
                    let [name, value] = binding.items() else { panic!("not a binding: {binding:?}") };
                    let value = self.value(value, if operator == "let*" { &inner } else { scope });
                    inner.push((name.atom().expect("a name").to_owned(), value));
                }
                self.value(&items[2], &inner)
            }
            "if" => self.value(if self.holds(&items[1], scope) { &items[2] } else { &items[3] }, scope),
            "while" | "while*" => self.repeat(operator == "while*", &items[1..], scope),
            _ => {
                let operands: Vec<Dual> = items[1..].iter().map(|e| self.value(e, scope)).collect();
                self.operation(operator, &operands)
            }
        }
    }

    fn atom(&self, atom: &str, scope: &Scope) -> Dual {
        if let Some((_, value)) = scope.iter().rev().find(|(name, _)| name == atom) {
            return value.clone();
        }
        let number: f64 = atom.parse().unwrap_or_else(|e| panic!("{atom:?}: {e}"));
        let rounded = if self.single { atom.parse::<f32>().map_or(number, f64::from) } else { number };
        Dual::exact(rounded)
    }

    fn holds(&self, condition: &Expression, scope: &Scope) -> bool {
        let items = condition.items();
        let operator = items[0].atom().expect("an operator");
        match operator {
            "and" => items[1..].iter().all(|c| self.holds(c, scope)),
            "or" => items[1..].iter().any(|c| self.holds(c, scope)),
            "not" => !self.holds(&items[1], scope),
            _ => {
                let (a, b) = (self.value(&items[1], scope).float, self.value(&items[2], scope).float);
                match operator {
                    "<" => a < b,
                    ">" => a > b,
                    "<=" => a <= b,
                    ">=" => a >= b,
                    "==" => a == b,
                    _ => panic!("not a condition: {condition:?}"),
                }
            }
        }
    }

    fn repeat(&self, one_by_one: bool, parts: &[Expression], scope: &Scope) -> Dual {
        let [condition, list, body] = parts else { panic!("not a while: {parts:?}") };
        let mut inner = scope.to_vec();
        for binding in list.items() {
            let value = self.value(&binding.items()[1], if one_by_one { &inner } else { scope });
            inner.push((binding.items()[0].atom().expect("a name").to_owned(), value));
        }
        let first = scope.len();
        while self.holds(condition, &inner) {
            let before = inner.clone();
            for (i, binding) in list.items().iter().enumerate() {
                let value = self.value(&binding.items()[2], if one_by_one { &inner } else { &before });
                inner[first + i].1 = value;
            }
        }
        self.value(body, &inner)
    }

    fn operation(&self, operator: &str, operands: &[Dual]) -> Dual {
        let floats: Vec<f64> = operands.iter().map(|o| o.float).collect();
        let float =
            if self.single { f64::from(in_single(operator, &floats)) } else { in_double(operator, &floats) };
        let reals: Vec<&Float> = operands.iter().map(|o| &o.real).collect();
        Dual { float, real: in_reals(operator, &reals) }
    }
}

/// The one list of operations, made a function on `f64` and one on `f32`.
macro_rules! float_operations {
    ($name:ident, $float:ty) => {
        fn $name(operator: &str, operands: &[f64]) -> $float {
            let x = |i: usize| operands[i] as $float;
            match (operator, operands.len()) {
                ("+", 2) => x(0) + x(1),
                ("-", 2) => x(0) - x(1),
                ("*", 2) => x(0) * x(1),
                ("/", 2) => x(0) / x(1),
                ("-", 1) => -x(0),
                ("fabs", 1) => x(0).abs(),
                ("fma", 3) => x(0).mul_add(x(1), x(2)),
                ("fmin", 2) => x(0).min(x(1)),
                ("fmax", 2) => x(0).max(x(1)),
                ("sqrt", 1) => x(0).sqrt(),
                ("cbrt", 1) => x(0).cbrt(),
                ("exp", 1) => x(0).exp(),
                ("expm1", 1) => x(0).exp_m1(),
                ("log", 1) => x(0).ln(),
                ("log1p", 1) => x(0).ln_1p(),
                ("pow", 2) => x(0).powf(x(1)),
                ("hypot", 2) => x(0).hypot(x(1)),
                ("sin", 1) => x(0).sin(),
                ("cos", 1) => x(0).cos(),
                ("tan", 1) => x(0).tan(),
                ("asin", 1) => x(0).asin(),
                ("acos", 1) => x(0).acos(),
                ("atan", 1) => x(0).atan(),
                ("atan2", 2) => x(0).atan2(x(1)),
                ("sinh", 1) => x(0).sinh(),
                ("cosh", 1) => x(0).cosh(),
                ("tanh", 1) => x(0).tanh(),
                _ => panic!("unknown operation {operator}"),
            }
        }
    };
}
float_operations!(in_double, f64);
float_operations!(in_single, f32);

fn in_reals(operator: &str, x: &[&Float]) -> Float {
    let own = || x[0].clone();
    match (operator, x.len()) {
        ("+", 2) => own() + x[1],
        ("-", 2) => own() - x[1],
        ("*", 2) => own() * x[1],
        ("/", 2) => own() / x[1],
        ("-", 1) => -own(),
        ("fabs", 1) => own().abs(),
        ("fma", 3) => own().mul_add(x[1], x[2]),
        ("fmin", 2) => own().min(x[1]),
        ("fmax", 2) => own().max(x[1]),
        ("sqrt", 1) => own().sqrt(),
        ("cbrt", 1) => own().cbrt(),
        ("exp", 1) => own().exp(),
        ("expm1", 1) => own().exp_m1(),
        ("log", 1) => own().ln(),
        ("log1p", 1) => own().ln_1p(),
        ("pow", 2) => own().pow(x[1]),
        ("hypot", 2) => own().hypot(x[1]),
        ("sin", 1) => own().sin(),
        ("cos", 1) => own().cos(),
        ("tan", 1) => own().tan(),
        ("asin", 1) => own().asin(),
        ("acos", 1) => own().acos(),
        ("atan", 1) => own().atan(),
        ("atan2", 2) => own().atan2(x[1]),
        ("sinh", 1) => own().sinh(),
        ("cosh", 1) => own().cosh(),
        ("tanh", 1) => own().tanh(),
        _ => panic!("unknown operation {operator}"),
    }
}
