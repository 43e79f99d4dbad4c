//! Records of the program's operations: one per instruction and op, however often it ran.

use shadowgrind_core::findings::{FindingKind, IndexSet, Shares, Spread, Witness};
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::{MAX_OPERANDS, Op};
use shadowgrind_core::site::Site;
use shadowgrind_core::step::{Predicate, Sums, ToInteger};

use super::expression::Expression;
use super::ranges::Ranges;

/// Operation of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// A row of TABLE 1.
    Op(Op),
    /// Compares.
    Compare(Predicate),
    /// Makes an integer.
    Integer(ToInteger),
}

/// The number of an operation in [`Operations`].
pub(crate) type Id = u32;

/// No operation: the end of a chain.
const NONE: Id = Id::MAX;

/// Most causes that are remembered of one operation.
const CAUSES: usize = 16;

/// NaN and infinities that an operation bore.
#[derive(Clone, Debug, Default)]
pub(crate) struct Births {
    /// Number of births.
    pub(crate) count: u64,
    /// The first.
    pub(crate) witness: Option<Box<Witness>>,
}

/// Compensation of a rounding by later operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Compensated {
    /// None.
    Never,
    /// In an exact sum.
    Together,
    /// By what was nothing but a rounding error.
    AsError,
}

/// Sum, maximum and count of something.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    sum: f64,
    max: f64,
    /// Number of additions.
    pub(crate) count: u64,
}

impl Tally {
    /// Counts `x`.
    pub(crate) fn add(&mut self, x: f64) {
        self.sum += x;
        self.max = self.max.max(x);
        self.count += 1;
    }

    /// Mean and maximum; nothing where nothing was added.
    pub(crate) fn spread(&self) -> Option<Spread> {
        (self.count > 0).then(|| Spread { mean: self.sum / self.count as f64, max: self.max })
    }
}

/// Error of results: the same of logarithms, of which only one has to be taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ErrorTally {
    /// The product of all powers of two is `product · 2^exponent`, and `product` is from 1 to 2.
    product: f64,
    exponent: i64,
    most: f64,
    /// Number of executions counted.
    pub(crate) count: u64,
}

impl Default for ErrorTally {
    fn default() -> ErrorTally {
        ErrorTally { product: 1.0, exponent: 0, most: 1.0, count: 0 }
    }
}

impl ErrorTally {
    /// Counts an error of so many bits, given as a power of two.
    #[inline(always)]
    pub(crate) fn add(&mut self, power: f64) {
        const FRACTION: u64 = (1 << 52) - 1;
        let product = (self.product * power).to_bits();
        self.exponent += (product >> 52) as i64 - 1023;
        self.product = f64::from_bits(product & FRACTION | 1.0_f64.to_bits());
        self.most = if power > self.most { power } else { self.most };
        self.count += 1;
    }

    /// Counts what another has counted.
    pub(crate) fn join(&mut self, other: &ErrorTally) {
        let (count, most) = (self.count + other.count, self.most.max(other.most));
        self.add(other.product);
        self.exponent += other.exponent;
        (self.count, self.most) = (count, most);
    }

    /// Mean and maximum in bits; nothing where nothing was counted.
    pub(crate) fn spread(&self) -> Option<Spread> {
        let bits = self.exponent as f64 + self.product.log2();
        (self.count > 0).then(|| Spread { mean: bits / self.count as f64, max: self.most.log2() })
    }
}

/// Effects of an operation on spots, in one role.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reach {
    /// Bits of error it accounts for of spots whose shares are not kept, added up.
    others: f64,
    /// Shares of the error of those spots.
    pub(crate) share: Tally,
    /// The outputs among the spots.
    pub(crate) outputs: IndexSet,
    /// Shares in the errors of the outputs.
    pub(crate) shares: Shares,
}

impl Reach {
    /// Counts a spot that is off by so many bits, an output if it has an index; `share` is that of the operation in its
    /// error, signed.
    pub(crate) fn add(&mut self, bits: f64, share: f64, output: Option<u64>) {
        self.share.add(share.abs());
        let is_kept = output.is_some_and(|index| {
            self.outputs.insert(index);
            self.shares.add(index, share, bits)
        });
        if !is_kept {
            self.others += share.abs() * bits;
        }
    }

    /// Bits of error it accounts for, of all spots.
    pub(crate) fn contribution(&self) -> f64 {
        self.others + self.shares.weight()
    }

    /// Tells whether it mattered anywhere.
    pub(crate) fn is_empty(&self) -> bool {
        self.share.count == 0
    }
}

/// Numbers of times that an operation introduced error, by kind.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LocalErrors {
    /// A difference uncovered the rounding of its operands.
    pub(crate) cancellation: u64,
    /// The result is beyond the format's range where the real is not infinite.
    pub(crate) overflow: u64,
    /// The result has lost bits at the lower end of the format's range.
    pub(crate) underflow: u64,
    /// NaN on one side.
    pub(crate) invalid: u64,
    /// Anything else.
    pub(crate) rounding: u64,
    /// Most bits that a cancellation took.
    pub(crate) bits_lost: f64,
}

impl LocalErrors {
    /// The commonest kind.
    pub(crate) fn kind(&self) -> FindingKind {
        let kinds = [
            (self.rounding, FindingKind::Rounding),
            (self.overflow, FindingKind::Overflow),
            (self.underflow, FindingKind::Underflow),
            (self.invalid, FindingKind::Invalid),
            (self.cancellation, FindingKind::Cancellation),
        ];
        kinds.into_iter().max_by_key(|&(count, _)| count).map_or(FindingKind::Rounding, |(_, kind)| kind)
    }
}

/// One operation of the program.
#[derive(Debug)]
pub(crate) struct Operation {
    /// The instruction.
    pub(crate) site: Site,
    /// The operation.
    pub(crate) what: What,
    /// Format of operands and result.
    pub(crate) formats: (Format, Format),
    /// Purpose of a sum.
    pub(crate) sums: Sums,
    next: Id,
    /// Executions, those without shadows included.
    pub(crate) count: u64,
    /// The ranges of operands in all executions.
    pub(crate) operands: [Ranges; MAX_OPERANDS],
    /// Error of results, where there was a shadow.
    pub(crate) error: ErrorTally,
    /// Error of results where the operation itself was erroneous.
    pub(crate) erroneous: ErrorTally,
    /// The error it introduced itself.
    pub(crate) local_error: ErrorTally,
    /// Of which kind.
    pub(crate) local_errors: LocalErrors,
    /// Number of those with a shadow that were sums in which an addend left no trace.
    pub(crate) absorbed: u64,
    /// Fewest significant bits that a real had left.
    pub(crate) least_significant: i32,
    /// Results of which the reals could not tell whether they are zero, though the floats have errors that small.
    pub(crate) exhausted: u64,
    /// Compensation of its roundings by others.
    pub(crate) compensated: Compensated,
    /// The formula that it computes when it is erroneous.
    pub(crate) expression: Option<Box<Expression>>,
    /// The formula that it usually computes, from a few executions that left a shadow.
    pub(crate) usual: Option<Box<Expression>>,
    /// NaN and infinities that it bore …
    pub(crate) births: Births,
    /// … and spots that these reached.
    pub(crate) special: Reach,
    /// Spots that its local error has reached.
    pub(crate) culprit: Reach,
    /// Spots whose error grew here.
    pub(crate) amplified: Reach,
    /// Spots its roundings reached.
    pub(crate) accumulated: Reach,
    /// Number of comparisons and conversions that the reals decided otherwise.
    pub(crate) flips: u64,
    /// Number of comparisons and conversions that the reals could not decide.
    pub(crate) unsettled: u64,
    /// The sites that made a comparison flip, or an operand leave the domain.
    pub(crate) causes: Vec<Site>,
}

impl Operation {
    fn new(site: Site, what: What, formats: (Format, Format), next: Id) -> Operation {
        Operation {
            site,
            what,
            formats,
            sums: Sums::Unknown,
            next,
            count: 0,
            operands: Default::default(),
            error: ErrorTally::default(),
            erroneous: ErrorTally::default(),
            local_error: ErrorTally::default(),
            local_errors: LocalErrors::default(),
            absorbed: 0,
            least_significant: i32::MAX,
            exhausted: 0,
            compensated: Compensated::Never,
            expression: None,
            usual: None,
            births: Births::default(),
            special: Reach::default(),
            culprit: Reach::default(),
            amplified: Reach::default(),
            accumulated: Reach::default(),
            flips: 0,
            unsettled: 0,
            causes: Vec::new(),
        }
    }
}

impl Operation {
    /// Counts an execution on two doubles, or on the first of them.
    #[inline(always)]
    pub(crate) fn counted(&mut self, arity: usize, [a, b]: [f64; 2]) {
        self.count += 1;
        self.operands[0].add(a);
        if arity == 2 {
            self.operands[1].add(b);
        }
    }

    /// Tells whether it is of TABLE 1, and no decision.
    pub(crate) fn is_row(&self) -> bool {
        matches!(self.what, What::Op(_))
    }

    /// Remembers a cause; a few tell enough.
    pub(crate) fn caused_by(&mut self, site: Site) {
        if self.causes.len() < CAUSES && !self.causes.contains(&site) {
            self.causes.push(site);
        }
    }
}

/// All operations met.
#[derive(Debug, Default)]
pub(crate) struct Operations {
    /// First operation of each site: sites are numbered densely.
    by_site: Vec<Id>,
    all: Vec<Operation>,
}

impl Operations {
    /// The operation `what` at `site`; an instruction may have several.
    #[inline(always)]
    pub(crate) fn at(&mut self, site: Site, what: What, formats: (Format, Format)) -> Id {
        let index = site.bits() as usize;
        if index >= self.by_site.len() {
            self.by_site.resize(index + 1, NONE);
        }
        let mut id = self.by_site[index];
        while let Some(operation) = self.all.get(id as usize) {
            if operation.what == what && operation.formats == formats {
                return id;
            }
            id = operation.next;
        }
        let new = Id::try_from(self.all.len()).expect("fewer than 2^32 operations");
        self.all.push(Operation::new(site, what, formats, self.by_site[index]));
        self.by_site[index] = new;
        new
    }

    /// The numbers.
    pub(crate) fn ids(&self) -> std::ops::Range<Id> {
        0..self.all.len() as Id
    }

    /// All of them, to be changed.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Operation> {
        self.all.iter_mut()
    }

    /// All operations.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Operation> {
        self.all.iter()
    }
}

impl std::ops::Index<Id> for Operations {
    type Output = Operation;
    fn index(&self, id: Id) -> &Operation {
        &self.all[id as usize]
    }
}

impl std::ops::IndexMut<Id> for Operations {
    fn index_mut(&mut self, id: Id) -> &mut Operation {
        &mut self.all[id as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One logarithm of all errors is as good as one of each.
    #[test]
    fn errors_are_added_up_as_logarithms() {
        let (mut powers, mut bits) = (ErrorTally::default(), Tally::default());
        for n in 0..100_000_u32 {
            let power = 1.0 + f64::from(n.wrapping_mul(0x9e37_79b9)) * f64::exp2(f64::from(n % 30));
            powers.add(power);
            bits.add(power.log2());
        }
        let (one, each) = (powers.spread().expect("some"), bits.spread().expect("some"));
        assert!((one.mean - each.mean).abs() < 1e-11 && one.max == each.max, "{one:?}, not {each:?}");
    }
}
