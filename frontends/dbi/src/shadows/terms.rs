//! Shadows for tests that say how each float came to be: a digest of the operation, of the floats that it read and of its
//! operands' digests, so that two ways of carrying them agree only where both have seen the same. [`Recorded`](Terms) or
//! [appended](Numbering): the emitted code of either kind is held to replay by them.

use hashbrown::HashMap;
use shadowgrind_core::appended::{Appended, BLOCK, Floats, Operation};
use shadowgrind_core::findings::Subject;
use shadowgrind_core::format::Format;
use shadowgrind_core::numbers::{Numbered, Numbers};
use shadowgrind_core::ops::{MAX_OPERANDS, Op};
use shadowgrind_core::recorded::{self, Recorded};
use shadowgrind_core::shadow::{Derivatives, Lane, Observed, Policy, Rule, Settings, Shadow, Traced, reach};
use shadowgrind_core::site::Site;
use shadowgrind_core::slots::{Negated, Slots};
use shadowgrind_core::step::{Predicate, ToInteger};

/// Digest of these words.
fn digest(words: impl IntoIterator<Item = u64>) -> u64 {
    const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
    words.into_iter().fold(MULTIPLIER, |digest, word| {
        (digest.rotate_left(23) ^ word).wrapping_mul(MULTIPLIER) ^ digest >> 29
    })
}

/// Digest of ±2ᵏ times what has this one.
fn scaled(of: u64, negated: bool, power: i32) -> u64 {
    if negated || power != 0 { digest([of, negated.into(), power as u64]) } else { of }
}

/// Digest of an operation: of what it is, and of each operand its bits, if they count, and its digest.
fn operation(op: Op, formats: [Format; 2], operands: impl Iterator<Item = [u64; 2]>, r: u64) -> u64 {
    let [from, to] = formats.map(|format| format.bytes() as u64);
    let name = op.name().bytes().map(u64::from);
    digest(name.chain([from, to]).chain(operands.flatten()).chain([r]))
}

/// Shadow whose operations are recorded, and are born of anything. Its trace says what it was shown of comparisons and conversions of
/// floats with shadows: a digest of each, in the place of a derivative.
#[derive(Default)]
pub(super) struct Terms {
    shown: Vec<Traced>,
}

impl Terms {
    fn show(&mut self, what: u64, x: &[Observed<'_, Term>]) {
        let operand = |x: &Observed<'_, Term>| {
            [
                x.format.bytes() as u64,
                x.bits as u64,
                (x.bits >> 64) as u64,
                x.shadow.map_or(0, |term| term.whole()),
            ]
        };
        let digest = digest([what].into_iter().chain(x.iter().flat_map(operand)));
        if x.iter().any(|x| x.shadow.is_some()) {
            self.shown.push(Traced { site: Site::default(), value: None, derivative: (digest >> 11) as f64 });
        }
    }
}

/// Origin of a float, or of its opposite times a power of two.
#[derive(Clone, Copy)]
pub(super) struct Term {
    digest: u64,
    negated: bool,
    power: i32,
}

impl Term {
    fn new(digest: u64) -> Term {
        Term { digest, negated: false, power: 0 }
    }

    fn whole(self) -> u64 {
        scaled(self.digest, self.negated, self.power)
    }
}

impl Negated for Term {
    fn negated(&self, _format: Format) -> Term {
        Term { negated: !self.negated, ..*self }
    }
}

impl Rule for Terms {
    type Value = Term;

    fn op(&mut self, lane: &Lane<'_, Term>) -> Option<Term> {
        let operands = lane.x.iter().zip(lane.shadows);
        let operands = operands.map(|(&x, shadow)| [x as u64, shadow.map_or(0, |term| term.whole())]);
        Some(Term::new(operation(lane.op, [lane.from, lane.to], operands, lane.r as u64)))
    }

    fn scale(&mut self, term: &Term, _: Format, negate: bool, power: i32) -> Option<Term> {
        Some(Term { negated: term.negated != negate, power: term.power + power, ..*term })
    }

    fn compare(&mut self, _: Site, Predicate(predicate): Predicate, x: [Observed<'_, Term>; 2]) {
        self.show(predicate.into(), &x);
    }

    fn to_integer(&mut self, _: Site, how: ToInteger, x: Observed<'_, Term>) {
        self.show(u64::from(how == ToInteger::Truncate), &[x]);
    }
}

impl Shadow for Terms {
    const NAME: &'static str = "terms";
    const SUMMARY: &'static str = "How each float came to be, by records";
    const NUMBER: u64 = 0x7465_726d;
    const SUBJECT: Subject = Subject::Program;
    const POLICY: Policy = Policy::BORN;

    type Reach = reach::Recorded;
    type Words = Slots<Term>;

    fn new(_: &Settings) -> Self {
        Terms::default()
    }

    fn trace(&mut self) -> Vec<Traced> {
        std::mem::take(&mut self.shown)
    }

    fn number(&mut self, term: &Term) -> Option<u64> {
        Some(term.whole())
    }

    fn numbered(&self, number: u64) -> Option<Term> {
        Some(Term::new(number))
    }
}

impl<P> Recorded<P> for Terms {
    type Recurring = ();

    fn recurring(_: Site) {}

    /// Operations on two operands, so that both ways of reading a record are gone.
    fn is_usual(op: Op, from: Format, to: Format) -> bool {
        op.arity() == 2 && from == to && matches!(from, Format::F32 | Format::F64)
    }

    fn usual(
        &mut self,
        _: P,
        slots: &mut Slots<Term>,
        (_, op, format): (&mut (), Op, Format),
        read: impl FnOnce(&mut Slots<Term>, usize) -> recorded::Floats,
    ) {
        let recorded::Floats { x, cells, r, handle } = read(slots, 2);
        let found = [0, 1].map(|i| slots.shadow(format, cells[i], x[i].into()).map(|term| *term));
        let x = [0, 1].map(|i| u128::from(x[i]));
        let shadows = found.each_ref().map(Option::as_ref);
        let site = Site::default();
        let (x, shadows) = (&x[..], &shadows[..]);
        let term = self.op(&Lane { site, op, from: format, to: format, x, r: r.into(), shadows });
        slots.assign(handle, format, r.into(), term);
    }
}

/// Shadow whose operations are appended, born of seeds alone. Numbers of the first block are digests of themselves.
pub(super) struct Numbering {
    /// True if roundings are recorded: all floats of an operation count then.
    budget: bool,
    digests: HashMap<u64, u64>,
    /// The next block, and the next number of what is not appended.
    blocks: u64,
    others: u64,
}

impl Numbering {
    /// The digest of a shadow; nothing of other bits, or where nothing is known.
    fn whole(&self, shadow: &Numbered) -> Option<u64> {
        let &Numbered { number, negated, power } = shadow;
        let of = if number < BLOCK { Some(number) } else { self.digests.get(&number).copied() };
        of.filter(|_| !shadow.is_bits()).map(|of| scaled(of, negated, power))
    }

    /// The digest of an operation on floats, of which those count that its row reads, in doubles, and operands with these shadows;
    /// nothing if none has one.
    fn operation(
        &self,
        (op, formats): (Op, [Format; 2]),
        (x, r): ([f64; MAX_OPERANDS], f64),
        shadows: [Option<&Numbered>; MAX_OPERANDS],
    ) -> Option<u64> {
        let known = shadows.map(|shadow| shadow.and_then(|shadow| self.whole(shadow)));
        if known == [None; MAX_OPERANDS] {
            return None;
        }
        if op == Op::Widen {
            return known[0];
        }
        // Of long doubles nobody knows how they were rounded.
        let is_long = formats.contains(&Format::F80);
        let reads = op.reads().filter(|_| is_long || !self.budget);
        let operand = |i: usize| {
            let counts = reads.is_none_or(|reads| reads.operand(i));
            [if counts { x[i].to_bits() } else { 0 }, known[i].unwrap_or(0)]
        };
        let r = if reads.is_none_or(|reads| reads.result()) { r.to_bits() } else { 0 };
        Some(operation(op, formats, (0..op.arity()).map(operand), r))
    }
}

impl Rule for Numbering {
    type Value = Numbered;

    fn op(&mut self, lane: &Lane<'_, Numbered>) -> Option<Numbered> {
        use Op::{Ceil, Floor, Rint, RoundEven, Trunc};
        // They have no derivative.
        if matches!(lane.op, Ceil | Floor | Rint | RoundEven | Trunc) {
            return None;
        }
        let mut x = [0.0; MAX_OPERANDS];
        let mut shadows = [None; MAX_OPERANDS];
        for (i, (&bits, &shadow)) in lane.x.iter().zip(lane.shadows).enumerate() {
            (x[i], shadows[i]) = (lane.from.to_f64(bits), shadow);
        }
        let floats = (x, lane.result(&x[..lane.x.len()]));
        let digest = self.operation((lane.op, [lane.from, lane.to]), floats, shadows)?;
        self.others += 1;
        self.digests.insert(self.others, digest);
        Some(Numbered::new(self.others))
    }

    fn scale(&mut self, shadow: &Numbered, _: Format, negate: bool, power: i32) -> Option<Numbered> {
        Some(shadow.scaled(negate, power))
    }
}

impl Shadow for Numbering {
    const NAME: &'static str = "numbering";
    const SUMMARY: &'static str = "How each float came to be, by numbers";
    const NUMBER: u64 = 0x6e75_6d62;
    const SUBJECT: Subject = Subject::Program;
    const POLICY: Policy = Policy { derivatives: Some(Derivatives::Recorded), ..Policy::SEEDED };

    type Reach = reach::Appended;
    type Words = Numbers;

    fn new(settings: &Settings) -> Self {
        // Cells beside floats of four bytes have room for both.
        Numbering { budget: settings.budget, digests: HashMap::new(), blocks: BLOCK, others: 1 << 28 }
    }

    /// A number under which nothing was appended is as good as none.
    fn number(&mut self, shadow: &Numbered) -> Option<u64> {
        (!shadow.is_bits()).then(|| self.whole(shadow).unwrap_or(0))
    }

    fn numbered(&self, number: u64) -> Option<Numbered> {
        Some(Numbered::new(number))
    }
}

impl Appended for Numbering {
    fn block(&mut self) -> u64 {
        self.blocks += BLOCK;
        self.blocks - BLOCK
    }

    fn append(
        &mut self,
        number: u64,
        operation: &Operation,
        floats: &Floats,
        operands: &[Option<Numbered>; MAX_OPERANDS],
    ) {
        let &Operation { op, from, to, .. } = operation;
        let shadows = operands.each_ref().map(Option::as_ref);
        if let Some(digest) = self.operation((op, [from, to]), (floats.x, floats.r), shadows) {
            self.digests.insert(number, digest);
        }
    }

    fn wrote(&mut self, _bytes: usize, _floats: usize) {}
}
