//! The mathematical functions of C: which operation a symbol is, where a call's operands are and where its results.
//!
//! A call is one operation, or two (`sincos`, `modf`), or a conversion to an integer (`lround`), or asks of which class a float is
//! (`isnan`); what the function's own code does is nobody's business. Other functions without a floating-point result (`ilogb`, `lrint`)
//! are not here: their instructions say all there is to say.

use super::abi::{self, Float};
use super::call::{Argument, Given, Made, Outcome};
use super::libmvec::{self, Vectors};
use super::library::Library;
use crate::hooks::machine::{Machine, Unmapped, read_bytes};
use crate::x86::function::{self, Function};
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;
use shadowgrind_symbols::Symbol;

/// A function of the mathematical library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Math {
    /// The operation on most of its operands.
    op: Op,
    /// Of operands and results.
    format: Format,
    shape: Shape,
}

/// Passing of operands and results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// Floats, so many; the result is returned.
    Floats(u8),
    /// A float and an `int`.
    FloatInt,
    /// A float and a `long`.
    FloatLong,
    /// An `int` and a float.
    IntFloat,
    /// `sincos(x, &sin, &cos)`.
    SinCos,
    /// `frexp(x, &exponent)`: the result is x · 2^−exponent.
    Frexp,
    /// Floats, so many, and a pointer through which an `int` goes besides: `remquo(x, y, &quotient)`, `lgamma_r(x, &sign)`.
    Beside(u8),
    /// `modf(x, &whole)`.
    Modf,
    /// `nexttoward(x, long double)`.
    Toward,
    /// Vector registers of floats.
    Vectors(Vectors),
    /// `lround(x)`: the result is the integer that the operation makes of x.
    Integer,
    /// `isnan(x)`: the result is an integer for which no digit of x matters. The operation says no more than how many operands there are.
    Class,
}

/// Functions by the name of the variant for `double`.
#[rustfmt::skip]
const FUNCTIONS: &[(&str, Op, Shape)] = &[
    ("exp",        Op::Exp,        Shape::Floats(1)),
    ("exp2",       Op::Exp2,       Shape::Floats(1)),
    ("exp10",      Op::Exp10,      Shape::Floats(1)),
    ("pow10",      Op::Exp10,      Shape::Floats(1)),
    ("expm1",      Op::Expm1,      Shape::Floats(1)),
    ("exp2m1",     Op::Exp2m1,     Shape::Floats(1)),
    ("exp10m1",    Op::Exp10m1,    Shape::Floats(1)),
    ("log",        Op::Log,        Shape::Floats(1)),
    ("log2",       Op::Log2,       Shape::Floats(1)),
    ("log10",      Op::Log10,      Shape::Floats(1)),
    ("log1p",      Op::Log1p,      Shape::Floats(1)),
    ("log2p1",     Op::Log2p1,     Shape::Floats(1)),
    ("log10p1",    Op::Log10p1,    Shape::Floats(1)),
    ("logb",       Op::Logb,       Shape::Floats(1)),
    ("pow",        Op::Pow,        Shape::Floats(2)),
    ("cbrt",       Op::Cbrt,       Shape::Floats(1)),
    ("hypot",      Op::Hypot,      Shape::Floats(2)),
    ("sin",        Op::Sin,        Shape::Floats(1)),
    ("cos",        Op::Cos,        Shape::Floats(1)),
    ("tan",        Op::Tan,        Shape::Floats(1)),
    ("sincos",     Op::Sin,        Shape::SinCos),
    ("asin",       Op::Asin,       Shape::Floats(1)),
    ("acos",       Op::Acos,       Shape::Floats(1)),
    ("atan",       Op::Atan,       Shape::Floats(1)),
    ("atan2",      Op::Atan2,      Shape::Floats(2)),
    ("sinpi",      Op::SinPi,      Shape::Floats(1)),
    ("cospi",      Op::CosPi,      Shape::Floats(1)),
    ("tanpi",      Op::TanPi,      Shape::Floats(1)),
    ("asinpi",     Op::AsinPi,     Shape::Floats(1)),
    ("acospi",     Op::AcosPi,     Shape::Floats(1)),
    ("atanpi",     Op::AtanPi,     Shape::Floats(1)),
    ("atan2pi",    Op::Atan2Pi,    Shape::Floats(2)),
    ("sinh",       Op::Sinh,       Shape::Floats(1)),
    ("cosh",       Op::Cosh,       Shape::Floats(1)),
    ("tanh",       Op::Tanh,       Shape::Floats(1)),
    ("asinh",      Op::Asinh,      Shape::Floats(1)),
    ("acosh",      Op::Acosh,      Shape::Floats(1)),
    ("atanh",      Op::Atanh,      Shape::Floats(1)),
    ("erf",        Op::Erf,        Shape::Floats(1)),
    ("erfc",       Op::Erfc,       Shape::Floats(1)),
    ("lgamma",     Op::Lgamma,     Shape::Floats(1)),
    ("lgamma_r",   Op::Lgamma,     Shape::Beside(1)),
    ("gamma",      Op::Lgamma,     Shape::Floats(1)),
    ("tgamma",     Op::Tgamma,     Shape::Floats(1)),
    ("j0",         Op::J0,         Shape::Floats(1)),
    ("j1",         Op::J1,         Shape::Floats(1)),
    ("jn",         Op::Jn,         Shape::IntFloat),
    ("y0",         Op::Y0,         Shape::Floats(1)),
    ("y1",         Op::Y1,         Shape::Floats(1)),
    ("yn",         Op::Yn,         Shape::IntFloat),
    ("fmod",       Op::Fmod,       Shape::Floats(2)),
    ("remainder",  Op::Remainder,  Shape::Floats(2)),
    ("drem",       Op::Remainder,  Shape::Floats(2)),
    ("remquo",     Op::Remainder,  Shape::Beside(2)),
    ("fdim",       Op::Fdim,       Shape::Floats(2)),
    ("fmin",       Op::Fmin,       Shape::Floats(2)),
    ("fmax",       Op::Fmax,       Shape::Floats(2)),
    ("fma",        Op::Fmadd,      Shape::Floats(3)),
    ("ldexp",      Op::Ldexp,      Shape::FloatInt),
    ("scalbn",     Op::Ldexp,      Shape::FloatInt),
    ("scalbln",    Op::Ldexp,      Shape::FloatLong),
    ("frexp",      Op::Ldexp,      Shape::Frexp),
    ("modf",       Op::Modf,       Shape::Modf),
    ("nextafter",  Op::Nextafter,  Shape::Floats(2)),
    ("nexttoward", Op::Nextafter,  Shape::Toward),
    ("sqrt",       Op::Sqrt,       Shape::Floats(1)),
    ("rsqrt",      Op::Rsqrt,      Shape::Floats(1)),
    ("fabs",       Op::Abs,        Shape::Floats(1)),
    ("copysign",   Op::CopySign,   Shape::Floats(2)),
    ("round",      Op::Round,      Shape::Floats(1)),
    ("lround",     Op::Round,      Shape::Integer),
    ("llround",    Op::Round,      Shape::Integer),
    ("roundeven",  Op::RoundEven,  Shape::Floats(1)),
    ("rint",       Op::Rint,       Shape::Floats(1)),
    ("nearbyint",  Op::Rint,       Shape::Floats(1)),
    ("floor",      Op::Floor,      Shape::Floats(1)),
    ("ceil",       Op::Ceil,       Shape::Floats(1)),
    ("trunc",      Op::Trunc,      Shape::Floats(1)),
    ("isnan",      Op::Abs,        Shape::Class),
    ("isinf",      Op::Abs,        Shape::Class),
    ("finite",     Op::Abs,        Shape::Class),
    ("signbit",    Op::Abs,        Shape::Class),
    ("fpclassify", Op::Abs,        Shape::Class),
    ("issignaling", Op::Abs,       Shape::Class),
];

/// The function that `symbol` is.
pub(super) fn of(symbol: &Symbol<'_>, library: &Library) -> Option<Math> {
    if let Some((vectors, name)) = libmvec::of(symbol.name) {
        let (op, format, shape) = scalar(name)?;
        let operands = match shape {
            Shape::Floats(n) => usize::from(n),
            Shape::SinCos => 1,
            _ => return None,
        };
        let shape = Shape::Vectors(vectors.for_format(format, operands, shape == Shape::SinCos)?);
        return Some(Math { op, format, shape });
    }
    // Asked first: large programs have a hundred thousand symbols.
    let (op, format, shape) = match library.is_math(symbol) {
        true => scalar(body(symbol.name))?,
        false => brought_along(symbol.name)?,
    };
    Some(Math { op, format, shape })
}

/// The function that a symbol of a run-time system or a library of another language is, which brings its own along. Those that return
/// several things do so otherwise than C's.
fn brought_along(symbol: &str) -> Option<(Op, Format, Shape)> {
    let name = of_v8(symbol).or_else(|| of_java(symbol)).or_else(|| of_rust(symbol))?;
    let found = scalar(name)?;
    matches!(found.2, Shape::Floats(_) | Shape::FloatInt | Shape::IntFloat).then_some(found)
}

/// The name of a function of doubles of Java's `StrictMath`, as far as that is native (JDK 20 and before): by what Java calls, or by fdlibm's
/// name inside.
fn of_java(symbol: &str) -> Option<&str> {
    let name =
        symbol.strip_prefix("Java_java_lang_StrictMath_").or_else(|| symbol.strip_prefix("__j__ieee754_"))?;
    Some(if name == "IEEEremainder" { "remainder" } else { name })
}

/// The name of a function of Rust's crate `libm`: `libm::math::log1p::log1p` or `libm::math::j0::y0f`. Those below, as
/// `libm::math::generic::floor`, may be of any format.
fn of_rust(symbol: &str) -> Option<&str> {
    const BELOW: [&str; 3] = ["generic", "support", "arch"];
    let path = symbol.strip_prefix("_ZN4libm4math")?;
    let (module, rest) = component(path)?;
    let (name, rest) = component(rest)?;
    let is_last = component(rest).is_none_or(|(hash, rest)| hash.starts_with('h') && rest == "E");
    (is_last && !BELOW.contains(&module)).then_some(name)
}

/// First component of a mangled path, which has its length before it, and what is behind it.
fn component(path: &str) -> Option<(&str, &str)> {
    let digits = path.find(|c: char| !c.is_ascii_digit())?;
    path[digits..].split_at_checked(path[..digits].parse().ok()?)
}

/// The name of a function of the mathematical library that V8 brings along, of doubles: `v8::base::ieee754::exp(double)`.
fn of_v8(symbol: &str) -> Option<&str> {
    let name = symbol.strip_prefix("_ZN2v84base7ieee754")?.trim_start_matches(|c: char| c.is_ascii_digit());
    name.strip_suffix('d')?.trim_end_matches('d').strip_suffix('E')
}

/// The name without what marks a variant: `__exp_finite` (`-ffast-math` before glibc 2.31), `__ieee754_exp` and `__log1p`
/// (glibc's inside, in a static program).
fn body(symbol: &str) -> &str {
    let finite = symbol.strip_prefix("__").and_then(|name| name.strip_suffix("_finite"));
    let inside = || symbol.strip_prefix("__ieee754_").or_else(|| symbol.strip_prefix("__"));
    finite.or_else(inside).unwrap_or(symbol)
}

/// The function of this name: that of the variant for `double`, or with an `f` or `l` after it.
fn scalar(name: &str) -> Option<(Op, Format, Shape)> {
    let find = |stem: &str, format| {
        let (_, op, shape) = FUNCTIONS.iter().find(|row| row.0 == stem)?;
        Some((*op, format, *shape))
    };
    // Reentrant variants have their suffix inside: lgammaf_r.
    if let Some(stem) = name.strip_suffix("_r").filter(|stem| *stem != "lgamma") {
        let (stem, format) = suffix(stem)?;
        return (stem == "lgamma").then(|| find("lgamma_r", format))?;
    }
    find(name, Format::F64).or_else(|| suffix(name).and_then(|(stem, format)| find(stem, format)))
}

fn suffix(name: &str) -> Option<(&str, Format)> {
    let float = name.strip_suffix('f').map(|stem| (stem, Format::F32));
    float.or_else(|| name.strip_suffix('l').map(|stem| (stem, Format::F80)))
}

/// The function of doubles of this name, as C has it.
pub(super) fn of_name(name: &str) -> Option<Math> {
    let (op, format, shape) = scalar(name)?;
    Some(Math { op, format, shape })
}

impl Math {
    /// The function, if it is one of those that translated code sees to.
    pub(crate) fn simple(self) -> Option<Function> {
        let Math { op, format, shape } = self;
        /// Bytes of a long double as an argument.
        const EXTENDED: u8 = 16;
        let extended = (format == Format::F80).then_some(EXTENDED);
        let (shape, width) = match shape {
            Shape::Floats(n) if usize::from(n) == op.arity() => (function::Shape::Floats, None),
            Shape::FloatInt | Shape::IntFloat => (function::Shape::Int, None),
            Shape::FloatLong => (function::Shape::Long, None),
            Shape::SinCos => (function::Shape::SinCos, None),
            Shape::Frexp => (function::Shape::Frexp, None),
            Shape::Beside(_) => (function::Shape::Beside, None),
            Shape::Modf => (function::Shape::Modf, None),
            Shape::Integer => (function::Shape::Integer, None),
            Shape::Class => (function::Shape::Class, None),
            Shape::Vectors(vectors) => (function::Shape::Floats, Some(vectors.plain()?)),
            Shape::Floats(_) | Shape::Toward => return None,
        };
        let width = width.or(extended).unwrap_or(format.bytes() as u8);
        Some(Function { op, format, width, shape })
    }

    /// Number of operands it is given in vector registers, if it is given nothing else but on the stack.
    pub(crate) fn vector_operands(self) -> Option<u32> {
        match self.shape {
            Shape::Floats(_) | Shape::Beside(_) if self.format == Format::F80 => Some(0),
            Shape::Floats(n) | Shape::Beside(n) => Some(n.into()),
            Shape::Integer | Shape::Class => Some(u32::from(self.format != Format::F80)),
            _ => None,
        }
    }

    /// The address of the `int` that it has written, of a call that was given these pointers, if it writes one.
    pub(crate) fn int_written(self, pointers: &[u64]) -> Option<u64> {
        let writes = self.simple().is_some_and(Function::writes_int);
        pointers.first().copied().filter(|_| writes)
    }

    /// The format operands are handed over in.
    pub(crate) fn format(self) -> Format {
        self.format
    }
}

/// Reads the call that is about to begin.
pub(crate) fn arguments(m: &dyn Machine, math: Math, given: &mut Given) -> Result<(), Unmapped> {
    let float = |index| abi::float(m, index, math.format).map(Argument::Float);
    let int = |n: u64| Argument::Integer(i64::from(n as i32));
    let Given { arguments: into, pointers } = given;
    match math.shape {
        Shape::Floats(n) | Shape::Beside(n) => {
            for index in 0..usize::from(n) {
                into.push(float(index)?);
            }
            if math.shape == Shape::Beside(n) {
                pointers.push(abi::integer(m, 0)?);
            }
        }
        Shape::FloatInt => into.extend([float(0)?, int(abi::integer(m, 0)?)]),
        Shape::FloatLong => into.extend([float(0)?, Argument::Integer(abi::integer(m, 0)? as i64)]),
        Shape::IntFloat => into.extend([int(abi::integer(m, 0)?), float(0)?]),
        Shape::SinCos | Shape::Frexp | Shape::Modf => {
            into.push(float(0)?);
            pointers.extend([abi::integer(m, 0)?, abi::integer(m, 1)?]);
        }
        Shape::Toward => into.extend([float(0)?, toward(m, math.format)?]),
        Shape::Vectors(vectors) => vectors.arguments(m, given),
        Shape::Integer | Shape::Class => into.push(float(0)?),
    }
    Ok(())
}

/// The second operand of `nexttoward`, in the format of the first. Nothing depends on more than its side.
fn toward(m: &dyn Machine, format: Format) -> Result<Argument, Unmapped> {
    let at = abi::stack(m) + if format == Format::F80 { 16 } else { 0 };
    let wide = abi::memory(m, at, Format::F80)?;
    let bits = Format::F80.convert(wide.bits, format);
    Ok(Argument::Float(Float { format, bits, ..wide }))
}

/// Operation number `index` of the call that has just returned; `None` after the last.
pub(crate) fn outcome(
    m: &dyn Machine,
    math: Math,
    pointers: &[u64],
    index: usize,
) -> Result<Option<Outcome>, Unmapped> {
    let Math { op, format, shape } = math;
    let one = |op, result| Outcome { first: 0, count: 1, integer: None, made: Made::Float(op, result) };
    Ok(match (shape, index) {
        (Shape::Vectors(vectors), _) => vectors.outcome(m, op, pointers, index)?,
        (Shape::SinCos, 0) => Some(one(Op::Sin, abi::memory(m, pointers[0], format)?)),
        (Shape::SinCos, 1) => Some(one(Op::Cos, abi::memory(m, pointers[1], format)?)),
        (Shape::Modf, 0) => Some(one(op, abi::result(m, format))),
        (Shape::Modf, 1) => Some(one(Op::Trunc, abi::memory(m, pointers[0], format)?)),
        (Shape::Frexp, 0) => {
            let exponent = i32::from_le_bytes(read_bytes(m, pointers[0])?);
            Some(Outcome { integer: Some(-i64::from(exponent)), ..one(op, abi::result(m, format)) })
        }
        (Shape::Integer, 0) => {
            let made = math.simple().and_then(Function::converts).map(Made::Integer);
            made.map(|made| Outcome { first: 0, count: 1, integer: None, made })
        }
        (
            Shape::Floats(_)
            | Shape::Beside(_)
            | Shape::FloatInt
            | Shape::FloatLong
            | Shape::IntFloat
            | Shape::Toward,
            0,
        ) => Some(Outcome { count: op.arity(), ..one(op, abi::result(m, format)) }),
        _ => None,
    })
}

#[cfg(test)]
mod tests;
