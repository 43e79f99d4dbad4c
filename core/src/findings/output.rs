//! One output: a float that left the program, and what its shadow said of it.
//!
//! Knows nothing of how many there are or how they are kept.

use serde::{Deserialize, Serialize};

use super::value::Value;
use crate::site::Site;
use crate::text::{Float, Notation, first_difference};

/// Way by which an output left the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OutputKind {
    /// The printf family.
    Printf,
    /// `std::ostream`.
    Iostream,
    /// gfortran's write and print.
    Fortran,
    /// Python's float formatting.
    Python,
    /// Rust's float formatting.
    Rust,
    /// Go's `strconv`, behind `fmt`.
    Go,
    /// V8's float formatting.
    JavaScript,
    /// PHP's float formatting.
    Php,
    /// GNAT's `Put` and `'Image`.
    Ada,
    /// Free Pascal's `write` and `str`.
    Pascal,
    /// Named by `--output=SPEC`.
    Spec,
    /// Named by the program itself, by client request.
    Mark,
    /// In binary form, by `write` and its kin: the worst float of each place, or that with the largest derivative, stands for all
    /// that left there.
    Written,
    /// By code that nobody knows: found in what the program has written, by its value.
    Value,
}

impl OutputKind {
    /// Every kind, in the order of their records' bytes.
    pub const ALL: [OutputKind; 14] = [
        OutputKind::Printf,
        OutputKind::Iostream,
        OutputKind::Fortran,
        OutputKind::Python,
        OutputKind::Rust,
        OutputKind::Go,
        OutputKind::JavaScript,
        OutputKind::Php,
        OutputKind::Ada,
        OutputKind::Pascal,
        OutputKind::Spec,
        OutputKind::Mark,
        OutputKind::Written,
        OutputKind::Value,
    ];
}

/// The `--output` SPEC or the name of a mark, interned in [`Outputs`](super::Outputs).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Label(pub(super) u32);

impl Label {
    /// No label: a printed float.
    pub const NONE: Label = Label(0);
}

/// Verdict on a float that left the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Judgement {
    /// Output that is as good as its format, or its text, allows.
    #[default]
    Right,
    /// Output that is wrong.
    Wrong,
    /// The shadow cannot tell.
    Unsettled,
}

impl Judgement {
    /// Every judgement, in the order of their bits in records.
    pub(super) const ALL: [Judgement; 3] = [Judgement::Right, Judgement::Wrong, Judgement::Unsettled];
}

/// Text of a real in the notation of its float, if that is known; texts are of type `T`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RealText<T> {
    /// Text of the float, as far as it has one.
    #[default]
    Same,
    /// Another text.
    Other(T),
    /// Text that may be one of several: the real is not known well enough to tell which.
    Unknown,
}

impl<T> RealText<T> {
    /// The text with what `f` makes of it.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> RealText<U> {
        match self {
            RealText::Same => RealText::Same,
            RealText::Other(text) => RealText::Other(f(text)),
            RealText::Unknown => RealText::Unknown,
        }
    }

    /// Reference to the text, if there is another one.
    pub fn as_ref(&self) -> RealText<&T> {
        match self {
            RealText::Same => RealText::Same,
            RealText::Other(text) => RealText::Other(text),
            RealText::Unknown => RealText::Unknown,
        }
    }

    /// The text, if it is known to be another one.
    pub fn other(self) -> Option<T> {
        if let RealText::Other(text) = self { Some(text) } else { None }
    }
}

/// Statement of a shadow about an output; texts are of type `T`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OutputShadow<T> {
    /// Nothing: no shadow was carried.
    Nothing,
    /// The forward derivative; 0 when the value was never shadowed.
    Dot(Value),
    /// The distance from the reals.
    Error {
        /// The real value in decimal digits, where the shadow knows it.
        real: Option<T>,
        /// Error bits of the value; 0 when it was never shadowed.
        error_bits: f64,
        /// Decimal digits of the value that are right; NaN where it has none: NaN and infinities.
        correct_digits: f32,
        /// The judgement on its text or its bits.
        judgement: Judgement,
        /// The text of the real in the same notation.
        exact: RealText<T>,
    },
}

impl<T> OutputShadow<T> {
    /// Number of decimal digits that are right, of a float that has any and of which it is settled.
    pub fn right_digits(&self) -> Option<f32> {
        match *self {
            OutputShadow::Error { correct_digits, judgement, .. } => {
                (judgement != Judgement::Unsettled && !correct_digits.is_nan()).then_some(correct_digits)
            }
            OutputShadow::Nothing | OutputShadow::Dot(_) => None,
        }
    }
}

impl OutputShadow<String> {
    /// Borrows the texts of a statement.
    pub fn as_deref(&self) -> OutputShadow<&str> {
        match *self {
            OutputShadow::Nothing => OutputShadow::Nothing,
            OutputShadow::Dot(derivative) => OutputShadow::Dot(derivative),
            OutputShadow::Error { ref real, error_bits, correct_digits, judgement, ref exact } => {
                let (real, exact) = (real.as_deref(), exact.as_ref().map(String::as_str));
                OutputShadow::Error { real, error_bits, correct_digits, judgement, exact }
            }
        }
    }
}

impl<T> OutputShadow<T> {
    /// Badness of the output, for ranking: the judgement, then error bits.
    pub fn badness(&self) -> (u8, f64) {
        match *self {
            OutputShadow::Error { judgement: Judgement::Right, error_bits, .. } => (0, error_bits),
            OutputShadow::Error { judgement: Judgement::Unsettled, error_bits, .. } => (1, error_bits),
            OutputShadow::Error { judgement: Judgement::Wrong, error_bits, .. } => (2, error_bits),
            OutputShadow::Nothing | OutputShadow::Dot(_) => (0, 0.0),
        }
    }

    /// Statement that a float has this derivative.
    pub fn of_derivative(derivative: Value) -> Self {
        OutputShadow::Dot(derivative)
    }

    /// The derivative, if that is what is said.
    pub fn derivative(&self) -> Option<Value> {
        if let OutputShadow::Dot(derivative) = *self { Some(derivative) } else { None }
    }
}

/// One float that left the program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Output<'a> {
    /// The way by which it left.
    pub kind: OutputKind,
    /// Under which name, if it has one.
    pub label: Label,
    /// The value, in the format it had before any promotion for the call.
    pub value: Value,
    /// The instruction it left at: the call, for printed floats.
    pub site: Site,
    /// Number, from 0, of the float among those of one call: `printf("%g %g")` has two. It keeps columns of a printed
    /// table apart when repeated prints are folded.
    pub position: u16,
    /// The shadow's word.
    pub said: OutputShadow<&'a str>,
    /// The notation it was written in, where that is known.
    pub notation: Option<Notation>,
}

impl<'a> Output<'a> {
    /// The text of the real in the same notation.
    pub fn exact(&self) -> RealText<&'a str> {
        match self.said {
            OutputShadow::Error { exact, .. } => exact,
            OutputShadow::Nothing | OutputShadow::Dot(_) => RealText::Same,
        }
    }

    /// The text, where its notation is known.
    pub fn printed(&self) -> Option<String> {
        Some(self.notation?.write(&Float::from(self.value)))
    }

    /// Index of the first character of its text, which is `printed`, that is not the one that the real would have had.
    pub fn wrong_from(&self, printed: &str) -> Option<usize> {
        first_difference(printed, self.exact().other()?)
    }
}

impl From<Value> for Float {
    fn from(value: Value) -> Float {
        let format = value.format();
        Float { format, bits: format.bits_of(&value.bits()) }
    }
}
