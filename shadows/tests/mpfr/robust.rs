//! Random programs over every row of TABLE 1, with special values: nothing panics, and whatever is computed can be
//! explained.

use rug::Float;
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;
use shadowgrind_core::shadow::{Lane, Observed, Rule};
use shadowgrind_core::site::Site;
use shadowgrind_core::step::{Predicate, ToInteger};
use shadowgrind_shadows::mpfr::{MpfrShadow, Settings, Value};
use shadowgrind_shadows::reals::convert::{from_bits, to_bits};
use shadowgrind_shadows::reals::mpfr::Mpfr;

/// A reproducible sequence (Knuth's MMIX generator).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % bound
    }
}

/// Values that programs trip over, and ordinary ones.
const START: [f64; 22] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    3.0,
    0.1,
    -0.7,
    1e-3,
    1e7,
    1e16,
    -1e22,
    1e-40,
    1e39,
    1e-308,
    5e-324,
    1e-310,
    1e308,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    std::f64::consts::E,
];

struct Program {
    shadow: MpfrShadow,
    exact: Mpfr,
    /// Floats by format.
    pool: [Vec<(u128, Option<Value>)>; 3],
    next: Numbers,
}

impl Program {
    fn pick(&mut self, format: Format) -> (u128, Option<Value>) {
        let pool = &self.pool[format as usize];
        pool[self.next.below(pool.len())].clone()
    }

    fn step(&mut self) {
        let formats = Format::ALL;
        let op = Op::ALL[self.next.below(Op::ALL.len())];
        let from = formats[self.next.below(3)];
        let to = match op {
            Op::Narrow => formats[self.next.below(from as usize + 1)],
            Op::Widen => formats[from as usize + self.next.below(3 - from as usize)],
            _ => from,
        };
        let mut operands: Vec<_> = (0..op.arity()).map(|_| self.pick(from)).collect();
        for (operand, (bits, shadow)) in op.operands().iter().zip(&mut operands) {
            if operand.integer {
                (*bits, *shadow) = (from.from_f64(self.next.below(9) as f64 - 4.0), None);
            }
        }
        let (x, shadows): (Vec<u128>, Vec<Option<Value>>) = operands.into_iter().unzip();
        let reals: Vec<Float> = x.iter().map(|&bits| from_bits(from, bits)).collect();
        let r = to_bits(to, &op.real(&self.exact, &reals.iter().collect::<Vec<_>>()));
        let site = Site::from_bits(1 + self.next.below(300) as u32);
        let shadows: Vec<Option<&Value>> = shadows.iter().map(Option::as_ref).collect();
        let shadow = self.shadow.op(&Lane { site, op, from, to, x: &x, r, shadows: &shadows });
        let at = self.next.below(40);
        let pool = &mut self.pool[to as usize];
        if pool.len() < START.len() + 40 {
            pool.push((r, shadow))
        } else {
            pool[START.len() + at] = (r, shadow)
        }
    }

    fn look(&mut self, index: u64) {
        let format = Format::ALL[self.next.below(3)];
        let ((a, of_a), (b, of_b)) = (self.pick(format), self.pick(format));
        let first = Observed { format, bits: a, shadow: of_a.as_ref() };
        let second = Observed { format, bits: b, shadow: of_b.as_ref() };
        let site = Site::from_bits(400 + self.next.below(20) as u32);
        let measured = self.shadow.measure(&first);
        let is_number = format.to_f64(a).is_finite() || format == Format::F80;
        let digits = if is_number { measured.correct_digits.max(0.0) } else { f64::NAN };
        assert!((0.0..=81.0).contains(&measured.error_bits), "{measured:?}");
        assert!(is_number || digits.is_nan() == measured.correct_digits.is_nan(), "{measured:?}");
        match self.next.below(4) {
            0 => self.shadow.compare(site, Predicate(Predicate::LESS | Predicate::EQUAL), [first, second]),
            1 => self.shadow.to_integer(site, ToInteger::Truncate, first),
            2 => drop(self.shadow.scale_of(format, of_a.as_ref())),
            _ => drop(self.shadow.leaves(Some(index), &first, None)),
        }
    }
}

/// Effect of integer code on a float: it flips its sign, or scales it.
trait ScaleOf {
    fn scale_of(&mut self, format: Format, shadow: Option<&Value>) -> Option<Value>;
}

impl ScaleOf for MpfrShadow {
    fn scale_of(&mut self, format: Format, shadow: Option<&Value>) -> Option<Value> {
        self.scale(shadow?, format, true, 0).and_then(|negative| self.scale(&negative, format, false, -7))
    }
}

#[test]
fn nothing_panics_and_all_is_explained() {
    for seed in 0..6 {
        let pool = Format::ALL.map(|format| START.iter().map(|&x| (format.from_f64(x), None)).collect());
        let settings = Settings { precision: [64, 256, 113][seed as usize % 3], ..Settings::default() };
        let shadow = MpfrShadow::new(settings);
        let mut program = Program { shadow, exact: Mpfr::new(300), pool, next: Numbers(seed) };
        for index in 0..20_000 {
            if index % 60 == 0 {
                // Left alone, all values become NaN.
                program.pool.iter_mut().for_each(|pool| pool.truncate(START.len()));
            }
            program.step();
            program.look(index);
        }
        let findings = program.shadow.findings();
        assert!(findings.len() > 20, "{} findings", findings.len());
        for finding in &findings {
            assert!(finding.contribution >= 0.0 && !finding.contribution.is_nan(), "{finding:?}");
            if let Some(core) = &finding.fpcore {
                let depth =
                    core.chars().fold(0, |depth, c| depth + i32::from(c == '(') - i32::from(c == ')'));
                assert_eq!(depth, 0, "{core}");
                assert!(!core.contains("inf") && !core.contains("NaN"), "{core}");
            }
        }
    }
}
