//! Formulas on doubles of all sizes: the error that is measured is the true one, or the reals say that they do not know.

use shadowgrind_core::findings::Judgement;
use shadowgrind_core::format::Format;
use shadowgrind_shadows::mpfr::{Left, Settings};

use crate::formulas::Number;
use crate::machine::Machine;

/// Samples of each formula.
const SAMPLES: u32 = 200;
/// Distance that a measured error may have from the true one, in bits.
const TOLERANCE: f64 = 0.5;

type Formula = for<'m> fn(&[Number<'m>; 3]) -> Number<'m>;

/// Formulas that need many bits for some operands.
const FORMULAS: &[(&str, Formula)] = &[
    ("difference of roots", |[x, _, _]| (x + 1.0).sqrt() - x.sqrt()),
    ("absorbed one", |[x, _, _]| (x + 1.0) - x),
    ("absorbed and doubled", |[x, _, _]| (x + 1.0) * 2.0 - x * 2.0),
    ("sum taken back", |[x, y, z]| (x + y + z) - x - y),
    ("what is left is added to", |[x, y, z]| ((x + y) - x) + z),
    ("product with what is left", |[x, y, z]| ((x + y) - x) * z),
    ("reciprocals", |[x, _, _]| 1.0 / (x + 1.0) - 1.0 / x),
    ("three reciprocals", |[x, _, _]| 1.0 / (x + 1.0) - 2.0 / x + 1.0 / (x - 1.0)),
    ("logarithms", |[x, _, _]| (x + 1.0).log() - x.log()),
    ("cube roots", |[x, _, _]| (x + 1.0).pow(1.0 / 3.0) - x.pow(1.0 / 3.0)),
    ("exponential", |[x, _, _]| x.exp() - 1.0),
    ("exponentials", |[x, _, _]| x.exp() - 2.0 + (-x.clone()).exp()),
    ("hyperbolic", |[x, _, _]| 1.0 - x.tanh()),
    ("sines", |[x, y, _]| (x + y).sin() - x.sin()),
    ("cosine", |[x, _, _]| (1.0 - x.cos()) / (x * x)),
    ("sine of what is rounded", |[x, y, _]| (x * y).sin()),
    ("compound interest", |[x, y, _]| (1.0 + x / y).pow(10.0) - 1.0),
    ("root of a complex number", |[x, y, _]| (((x * x + y * y).sqrt() + x) * 0.5).sqrt()),
    ("root of another", |[x, y, _]| (((x * x + y * y).sqrt() - x) * 0.5).sqrt()),
    ("quadratic", |[a, b, c]| (-b.clone() + (b * b - 4.0 * a * c).sqrt()) / (2.0 * a)),
    ("quotient times divisor", |[x, y, _]| x / y * y - x),
    ("determinant", |[x, y, z]| x * y - z * z),
    ("squares", |[x, y, _]| (x - y) * (x + y) - (x * x - y * y)),
    ("a common denominator", |[x, y, z]| x / (x + y) - x / (x + z)),
];

/// A reproducible sequence of doubles of all sizes.
struct Doubles(u64);

impl Doubles {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let bits = self.0.rotate_left(29);
        // 1e±300, and every third of moderate size.
        let reach = if bits.is_multiple_of(3) { 60 } else { 996 };
        let exponent = 1023 + (bits >> 12) % (2 * reach) - reach;
        f64::from_bits(bits & !(0x7ff << 52) | exponent << 52)
    }
}

/// Number of samples of a formula, how many of these agree with the truth, and which of the others were
/// called right, or wrong without being it.
fn judged(formula: Formula, settings: Settings) -> (u32, u32, Vec<String>) {
    let mut next = Doubles(11);
    let (mut count, mut right, mut wrong) = (0, 0, Vec::new());
    for _ in 0..SAMPLES {
        let machine = Machine::with(settings.clone());
        let x = std::array::from_fn(|_| machine.number(Format::F64, next.next()));
        let result = formula(&x).1;
        let Left { measured, judgement, .. } =
            machine.shadow.borrow_mut().leaves(Some(0), &result.seen(), None);
        let truth = result.true_error_bits();
        let agrees = (measured.error_bits - truth).abs() <= TOLERANCE;
        count += 1;
        right += u32::from(agrees);
        let is_wrong = truth > settings.error_threshold;
        let is_false = match judgement {
            Judgement::Right => !agrees,
            Judgement::Wrong => !is_wrong && result.float().is_finite(),
            Judgement::Unsettled => false,
        };
        if is_false {
            let x = x.map(|x| x.1.float());
            wrong.push(format!("{x:?}: {judgement:?}, {} bits, in truth {truth}", measured.error_bits));
        }
    }
    (count, right, wrong)
}

#[test]
fn what_is_not_known_is_not_called_right() {
    let mut all = Vec::new();
    for precision in [256, 128, 300] {
        let settings = Settings { precision, settles: false, ..Settings::default() };
        for (name, formula) in FORMULAS {
            let (_, _, wrong) = judged(*formula, settings.clone());
            let said = wrong
                .first()
                .map(|first| format!("{name}, {precision} bits, {} times: {first}", wrong.len()));
            all.extend(said);
        }
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
}

/// Reals that lose their bits are found again: at least 999 of a thousand are right to half a bit.
#[test]
fn reals_settle_themselves() {
    let (mut all, mut right) = (0, 0);
    let mut text = String::new();
    for (name, formula) in FORMULAS {
        let (count, agreeing, wrong) = judged(*formula, Settings::default());
        assert!(wrong.is_empty(), "{name}: {}", wrong[0]);
        (all, right) = (all + count, right + agreeing);
        if agreeing < count {
            text += &format!("{name}: {agreeing} of {count}\n");
        }
    }
    assert!(1000 * right >= 999 * all, "{right} of {all}\n{text}");
}
