//! Standard remedies, by the shape of what goes wrong.

use shadowgrind_core::findings::FindingKind;
use shadowgrind_core::ops::Op;

use super::exact::to_f64;
use super::expression::Term;
use super::operations::What;

/// What is usually done about an error of this kind in this expression.
pub(super) fn hint(kind: FindingKind, term: &Term) -> Option<&'static str> {
    match (kind, operation(term)?) {
        (
            FindingKind::Accumulation | FindingKind::Absorption,
            (Op::Add | Op::Sub | Op::Fmadd | Op::Fnmadd, _),
        ) => Some("sum with compensation (Kahan, Neumaier) or pairwise, or in a wider format"),
        (FindingKind::Overflow | FindingKind::Underflow, (Op::Mul, [a, b])) if a == b => {
            Some("the square leaves the range of the format though its root would not: hypot(x, y) scales")
        }
        (FindingKind::Overflow | FindingKind::Underflow, (Op::Sqrt, [a])) if is_sum_of_squares(a) => {
            Some("hypot(x, y) scales its operands")
        }
        (FindingKind::Cancellation, (Op::Add | Op::Sub, [a, b])) => difference(a, b),
        (FindingKind::Cancellation, (Op::Fmadd | Op::Fmsub | Op::Fnmadd | Op::Fnmsub, [_, _, c])) => is(
            c,
            Op::Mul,
        )
        .then_some(
            "compute the rounding of the product too: d = fma(a, b, -a*b), Kahan's difference of products",
        ),
        (FindingKind::Rounding, (Op::Log, [a])) if is_one_plus(a) => Some("log1p(x) for log(1 + x)"),
        (FindingKind::Rounding, (Op::Sqrt, [a])) if is_sum_of_squares(a) => Some("hypot(x, y)"),
        _ => None,
    }
}

fn difference(a: &Term, b: &Term) -> Option<&'static str> {
    let either = |op| is(a, op) || is(b, op);
    let both = |op| is(a, op) && is(b, op);
    if either(Op::Exp) && (is_one(a) || is_one(b)) {
        return Some("expm1(x) for exp(x) - 1");
    }
    if either(Op::Cos) && (is_one(a) || is_one(b)) {
        return Some("2*sin(x/2)*sin(x/2) for 1 - cos(x)");
    }
    if both(Op::Log) {
        return Some("log(x/y), or log1p((x - y)/y), for log(x) - log(y)");
    }
    if both(Op::Sqrt) {
        return Some("(x - y)/(sqrt(x) + sqrt(y)) for sqrt(x) - sqrt(y)");
    }
    if let Some(root) = [a, b].into_iter().find(|term| is(term, Op::Sqrt)) {
        return Some(if is_discriminant(root) {
            "quadratic roots: take the root whose terms have one sign, and the other as c/(a*root)"
        } else {
            "the conjugate: (x - y*y)/(sqrt(x) + y) for sqrt(x) - y, the numerator simplified on paper"
        });
    }
    if is_square(a) && is_square(b) {
        return Some("(x - y)*(x + y) for x*x - y*y");
    }
    if both(Op::Mul) {
        return Some("Kahan's difference of products by fma: w = b*c; e = fma(-b, c, w); fma(a, d, -w) + e");
    }
    let gives_back = |sum: &Term, other: &Term| {
        let adds = matches!(operation(sum), Some((Op::Add | Op::Sub, _)));
        adds && operation(sum).is_some_and(|(_, args)| args.iter().any(|arg| is_plus_or_minus(arg, other)))
    };
    if gives_back(a, b) || gives_back(b, a) {
        return Some("the smaller addend was lost in the sum before: cancel on paper, or add it last");
    }
    let product = |term: &Term| {
        let is_constant = |arg: &Term| matches!(arg, Term::Constant { .. });
        is(term, Op::Mul) && operation(term).is_some_and(|(_, args)| !args.iter().any(is_constant))
    };
    (product(a) || product(b)).then_some("fma(x, y, z) for x*y + z rounds the product and the sum at once")
}

fn operation(term: &Term) -> Option<(Op, &[Term])> {
    match term {
        Term::Op { what: What::Op(op), args, .. } => Some((*op, args)),
        _ => None,
    }
}

fn is(term: &Term, op: Op) -> bool {
    operation(term).is_some_and(|(own, _)| own == op)
}

fn is_one(term: &Term) -> bool {
    matches!(term, Term::Constant { format, bits } if to_f64(*format, *bits) == 1.0)
}

fn is_square(term: &Term) -> bool {
    matches!(operation(term), Some((Op::Mul, [a, b])) if a == b)
}

/// The same, or a constant and its negative.
fn is_plus_or_minus(a: &Term, b: &Term) -> bool {
    let magnitude = |term: &Term| match term {
        Term::Constant { format, bits } => Some(to_f64(*format, *bits).abs()),
        _ => None,
    };
    a == b || magnitude(a).is_some() && magnitude(a) == magnitude(b)
}

fn is_one_plus(term: &Term) -> bool {
    matches!(operation(term), Some((Op::Add, [a, b])) if is_one(a) || is_one(b))
}

/// The root of a difference.
fn is_discriminant(root: &Term) -> bool {
    let difference = |term: &Term| [Op::Sub, Op::Fmsub, Op::Fnmadd].into_iter().any(|op| is(term, op));
    matches!(operation(root), Some((_, [a])) if difference(a))
}

fn is_sum_of_squares(term: &Term) -> bool {
    matches!(operation(term), Some((Op::Add, [a, b])) if is_square(a) && is_square(b))
}
