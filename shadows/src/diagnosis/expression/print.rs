//! Expressions as people write them, and as FPCore (the FPBench standard, version 2.0), which tools read.

use std::fmt::Write;

use shadowgrind_core::findings::{Interval, Value, VariableRange};
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;
use shadowgrind_core::step::{Predicate, ToInteger};

use super::{Expression, Term, What, name};

/// Tightness with which a printed term holds together.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Binding {
    Decision,
    Sum,
    Product,
    Sign,
    Atom,
}

impl Expression {
    /// Infix, for people.
    pub(crate) fn infix(&self) -> String {
        self.infix_of_term(&self.root)
    }

    /// Infix text of `term`, whose variables are those of this expression and have their names.
    pub(crate) fn infix_of_term(&self, term: &Term) -> String {
        self.infix_of(term, &self.order()).0
    }

    /// As FPCore, called `title`, for values in `ranges`; FPCore has no comparison that tells all relations apart.
    pub(crate) fn fpcore(&self, title: &str, ranges: &[VariableRange]) -> Option<String> {
        self.fpcore_of_term(&self.root, title, ranges)
    }

    /// FPCore of `term`, whose variables are those of this expression.
    pub(crate) fn fpcore_of_term(
        &self,
        term: &Term,
        title: &str,
        ranges: &[VariableRange],
    ) -> Option<String> {
        if matches!(term, Term::Op { what: What::Compare(predicate), .. } if symbol(*predicate) == "<=>") {
            return None;
        }
        let order = self.order();
        let names: Vec<String> = (0..order.len()).map(name).collect();
        let format = match term {
            Term::Op { format, .. } | Term::Constant { format, .. } => *format,
            _ => Format::F64,
        };
        let mut text = format!("(FPCore ({}) :name \"{}\"", names.join(" "), title.replace(['"', '\\'], "'"));
        write!(text, " :precision {}", precision(format)).expect("a string takes all");
        if let Some(pre) = precondition(ranges) {
            write!(text, " :pre {pre}").expect("a string takes all");
        }
        write!(text, " {})", self.core_of(term, format, &order)).expect("a string takes all");
        Some(text)
    }

    fn variable(&self, number: usize, order: &[usize]) -> String {
        name(order.iter().position(|&other| other == number).expect("all variables are in order"))
    }

    fn infix_of(&self, term: &Term, order: &[usize]) -> (String, Binding) {
        match term {
            Term::Variable(number) => (self.variable(*number, order), Binding::Atom),
            Term::Below(number, bound, terms) => {
                let [below, otherwise] = terms.each_ref().map(|term| self.infix_of(term, order).0);
                let (name, bound) =
                    (self.variable(*number, order), value(Format::F64, bound.to_bits().into()));
                (format!("{name} < {bound} ? {below} : {otherwise}"), Binding::Decision)
            }
            Term::Constant { format, bits } => {
                let sign = if format.is_negative(*bits) { Binding::Sign } else { Binding::Atom };
                (value(*format, *bits).to_string(), sign)
            }
            Term::Op { what, format, args: terms, .. } => {
                let args: Vec<(String, Binding)> =
                    terms.iter().map(|arg| self.infix_of(arg, order)).collect();
                match what {
                    What::Op(op) => infix_operation(*op, *format, args),
                    What::Compare(predicate) => (comparison(*predicate, terms, &args), Binding::Decision),
                    What::Integer(how) => {
                        (format!("(int) {}({})", function(*how), args[0].0), Binding::Decision)
                    }
                }
            }
        }
    }

    /// `term` where `context` is the precision in force.
    fn core_of(&self, term: &Term, context: Format, order: &[usize]) -> String {
        let (own, text) = match term {
            Term::Variable(number) => return self.variable(*number, order),
            Term::Below(variable, bound, terms) => {
                let [below, otherwise] = terms.each_ref().map(|term| self.core_of(term, context, order));
                let (name, bound) =
                    (self.variable(*variable, order), number(Format::F64, bound.to_bits().into()));
                return format!("(if (< {name} {bound}) {below} {otherwise})");
            }
            // A narrower constant is exact in the context, as the wider number it is.
            Term::Constant { format, bits } if *format <= context => {
                (context, number(context, format.convert(*bits, context)))
            }
            Term::Constant { format, bits } => (*format, number(*format, *bits)),
            Term::Op { what, format, args, .. } => {
                let args: Vec<String> = args.iter().map(|arg| self.core_of(arg, *format, order)).collect();
                let text = match what {
                    What::Op(op) => substitute(*op, &args),
                    What::Compare(predicate) => format!("({} {})", symbol(*predicate), args.join(" ")),
                    What::Integer(how) => format!("({} {})", function(*how), args[0]),
                };
                (*format, text)
            }
        };
        if own == context { text } else { format!("(! :precision {} {text})", precision(own)) }
    }
}

/// Sign of a comparison; the order that it finds, if the condition asked is not known.
pub(crate) fn symbol(predicate: Predicate) -> &'static str {
    const LESS_EQUAL: u8 = Predicate::LESS | Predicate::EQUAL;
    const GREATER_EQUAL: u8 = Predicate::GREATER | Predicate::EQUAL;
    const DIFFERENT: u8 = Predicate::LESS | Predicate::GREATER;
    match predicate.0 & !Predicate::UNORDERED {
        Predicate::LESS => "<",
        LESS_EQUAL => "<=",
        Predicate::EQUAL => "==",
        GREATER_EQUAL => ">=",
        Predicate::GREATER => ">",
        DIFFERENT => "!=",
        _ => "<=>",
    }
}

/// The function of reals that makes an integer.
pub(crate) fn function(how: ToInteger) -> &'static str {
    match how {
        ToInteger::Truncate => "trunc",
        ToInteger::Round => "nearbyint",
        ToInteger::Away => "round",
    }
}

/// A comparison with what is compared before what it is compared with, as people write it.
fn comparison(predicate: Predicate, terms: &[Term], args: &[(String, Binding)]) -> String {
    let is_constant = |index: usize| matches!(terms[index], Term::Constant { .. });
    let (first, second, predicate) = match is_constant(0) && !is_constant(1) {
        true => (&args[1].0, &args[0].0, turned(predicate)),
        false => (&args[0].0, &args[1].0, predicate),
    };
    format!("{first} {} {second}", symbol(predicate))
}

/// Relation between b and a where `predicate` holds between a and b.
fn turned(predicate: Predicate) -> Predicate {
    const SIDES: u8 = Predicate::LESS | Predicate::GREATER;
    match predicate.0 & SIDES {
        Predicate::LESS | Predicate::GREATER => Predicate(predicate.0 ^ SIDES),
        _ => predicate,
    }
}

fn infix_operation(op: Op, format: Format, args: Vec<(String, Binding)>) -> (String, Binding) {
    let at_least = |index: usize, least: Binding| {
        let (text, binding): &(String, Binding) = &args[index];
        if *binding < least { format!("({text})") } else { text.clone() }
    };
    let (sum, product) = (Binding::Sum, Binding::Product);
    match op {
        Op::Add => (format!("{} + {}", at_least(0, sum), at_least(1, product)), sum),
        Op::Sub => (format!("{} - {}", at_least(0, sum), at_least(1, product)), sum),
        Op::Mul => (format!("{} * {}", at_least(0, product), at_least(1, Binding::Sign)), product),
        Op::Div => (format!("{} / {}", at_least(0, product), at_least(1, Binding::Sign)), product),
        Op::Neg => (format!("-{}", at_least(0, Binding::Atom)), Binding::Sign),
        Op::Fmsub => {
            (format!("fma({}, {}, -{})", args[0].0, args[1].0, at_least(2, Binding::Atom)), Binding::Atom)
        }
        Op::Fnmadd => {
            (format!("fma(-{}, {}, {})", at_least(0, Binding::Atom), args[1].0, args[2].0), Binding::Atom)
        }
        Op::Fnmsub => (format!("-fma({}, {}, {})", args[0].0, args[1].0, args[2].0), Binding::Sign),
        _ => {
            let name = match (op, format) {
                (Op::Narrow | Op::Widen, Format::F32) => "float",
                (Op::Narrow | Op::Widen, Format::F64) => "double",
                _ => op.name(),
            };
            let args: Vec<String> = args.into_iter().map(|(text, _)| text).collect();
            (format!("{name}({})", args.join(", ")), Binding::Atom)
        }
    }
}

/// An op's formula with its operands in place.
fn substitute(op: Op, args: &[String]) -> String {
    let mut text = String::new();
    let mut word = String::new();
    let flush = |word: &mut String, text: &mut String| {
        let operand = op.operands().iter().position(|operand| operand.name == *word);
        text.push_str(operand.map_or(word, |index| &args[index]));
        word.clear();
    };
    for c in op.formula().chars() {
        if c.is_alphanumeric() {
            word.push(c);
        } else {
            flush(&mut word, &mut text);
            text.push(c);
        }
    }
    flush(&mut word, &mut text);
    text
}

/// The ranges as a condition on the variables.
fn precondition(ranges: &[VariableRange]) -> Option<String> {
    let side = |range: &VariableRange, side: &Interval| {
        let end = |x: f64| number(Format::F64, x.to_bits().into());
        format!("(<= {} {} {})", end(side.min), range.variable, end(side.max))
    };
    let one = |range: &VariableRange| {
        let sides: Vec<String> = range.all.iter().map(|interval| side(range, interval)).collect();
        match sides.len() {
            0 => None,
            1 => Some(sides[0].clone()),
            _ => Some(format!("(or {})", sides.join(" "))),
        }
    };
    let conditions: Vec<String> = ranges.iter().filter_map(one).collect();
    match conditions.len() {
        0 => None,
        1 => Some(conditions[0].clone()),
        _ => Some(format!("(and {})", conditions.join(" "))),
    }
}

fn precision(format: Format) -> &'static str {
    match format {
        Format::F16 => "binary16",
        Format::F32 => "binary32",
        Format::F64 => "binary64",
        Format::F80 => "binary80",
    }
}

fn value(format: Format, bits: u128) -> Value {
    Value::new(format, &bits.to_le_bytes())
}

/// A float as an FPCore number, all its digits.
fn number(format: Format, bits: u128) -> String {
    match value(format, bits).to_string().as_str() {
        "NaN" => "NAN".into(),
        "Infinity" => "INFINITY".into(),
        "-Infinity" => "(- INFINITY)".into(),
        digits => digits.into(),
    }
}
