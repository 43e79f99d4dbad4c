//! The smallest shadow there can be, for tests: how often each operation is performed, and where.

use hashbrown::HashMap;
use shadowgrind_core::findings::{Finding, FindingKind, Subject};
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;
use shadowgrind_core::recorded::Recorded;
use shadowgrind_core::shadow::{Lane, Policy, Rule, Settings, Shadow, Since, reach};
use shadowgrind_core::site::Site;
use shadowgrind_core::slots::{Negated, Slots};

/// Shadow that counts operations by place.
pub(super) struct Count {
    performed: HashMap<(Site, Op), u64>,
}

/// The shadow of a float: none, as no float ever gets it.
#[derive(Clone)]
pub(super) struct Nobody;

impl Negated for Nobody {
    fn negated(&self, _format: Format) -> Nobody {
        Nobody
    }
}

impl Rule for Count {
    type Value = Nobody;

    fn op(&mut self, lane: &Lane<'_, Nobody>) -> Option<Nobody> {
        *self.performed.entry((lane.site, lane.op)).or_default() += 1;
        None
    }

    fn scale(&mut self, _: &Nobody, _: Format, _negate: bool, _power: i32) -> Option<Nobody> {
        None
    }
}

impl Shadow for Count {
    const NAME: &'static str = "count";
    const SUMMARY: &'static str = "How often operations are performed, and where";
    const NUMBER: u64 = 0x636f_756e;
    const SUBJECT: Subject = Subject::Program;
    const POLICY: Policy = Policy { since: Since::Start, is_born: true, ..Policy::SEEDED };

    type Reach = reach::Recorded;
    type Words = Slots<Nobody>;

    fn new(_: &Settings) -> Self {
        Count { performed: HashMap::new() }
    }

    fn findings(&mut self) -> Vec<Finding> {
        let finding = |(&(site, op), &count): (&(Site, Op), &u64)| Finding {
            count,
            ..Finding::new(FindingKind::Rounding, op.name(), site)
        };
        self.performed.iter().map(finding).collect()
    }
}

impl<P> Recorded<P> for Count {
    type Recurring = ();

    fn recurring(_: Site) {}
}
