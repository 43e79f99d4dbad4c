//! Services of a shadow that a process carries, for whoever does not know which it is.
//!
//! Everything else in the engine knows a shadow by its [`Carrier`], called where translated code has been left, and by
//! its policy.

use super::appends::Lanes;
use super::appends::{append_call, append_with_room};
use super::buffers::{All, Buffers};
use super::carried::{Carried, Shared, lock_caught_up};
use super::cells::MirrorCells;
use super::evaluate::{evaluate, evaluate_slowly};
use super::host::turned_doubles;
use super::merging::Vectors;
use super::observing::Observing;
use super::parts::Layout;
use crate::context::{FunctionCall, Staging};
use crate::engine::{Held, Lock};
use crate::mailbox::Recording;
use crate::registers::{self, RegisterShadows};
use crate::session::Observer;
use crate::x86::mirror::descriptor::RecordDescriptor;
use crate::x86::rules::InlineRule;
use shadowgrind_core::appended::Appended;
use shadowgrind_core::inline::Inline;
use shadowgrind_core::recorded::Recorded;
use shadowgrind_core::replay::{self, Outcome};
use shadowgrind_core::shadow::{Settings, Shadow, reach};
use shadowgrind_core::site::Site;
use shadowgrind_core::step::Lowered;
use shadowgrind_core::words::Words;
#[cfg(test)]
use shadowgrind_core::{arith::Host, format::Format, inline::Given, ops::Op};
use std::sync::Arc;

/// A shadow that a process carries, whichever it is.
pub(crate) trait Carrier: Send + Sync {
    /// The observer through which a session sees the shadow.
    fn observer(&self) -> Box<dyn Observer + Send>;

    /// Runs the steps of an instruction that has run; `is_formatting` says whether it was on the way to printing a
    /// number: what is lost or decided by printing does not count.
    fn replay(
        &self,
        lowered: &Lowered,
        site: Site,
        record: &[u8],
        registers: &mut RegisterShadows<'_>,
        is_formatting: bool,
    ) -> Outcome;

    /// Tells whether a cell beside a float of two bytes says as much as any.
    fn fits_half(&self) -> bool;

    /// The layout of cells.
    fn layout(&self) -> Layout;

    /// A buffer for the records of a thread: the thread's number. Nothing if operations are not recorded, or there is no
    /// memory.
    fn add_buffer(&self, thread: &'static Recording) -> Option<usize>;

    /// The next of what a thread's code records are these, each at its site.
    fn learn(&self, thread: usize, recorded: &[(RecordDescriptor, Site)]);

    /// Completes the record that a thread, which is stopped, was writing when its code was left.
    fn close_record(&self, thread: usize, staging: &mut Staging);

    /// Replays the records of a thread, which is stopped. Tells whether a sweep is worth its price.
    fn replay_records(&self, thread: usize) -> bool;

    /// Takes the places where an error was noted for the first time.
    fn noted_first(&self) -> Vec<Site>;

    /// Forgets what threads other than this one have recorded, in a forked child.
    fn forget_others(&self, thread: usize);

    /// Frees what is not among `marked`; finding that took as long as handing out `cost` handles.
    fn sweep(&self, marked: Vec<u32>, cost: u64);

    /// Keeps all other threads from the shadow, across a `fork`, until dropped on both sides. What was recorded is
    /// replayed before: the child does not have the threads that go on with it.
    fn hold(&self) -> Box<dyn Held + '_>;

    /// Cell beside the float of `format` and `bits` for what the shadow has under `number`.
    #[cfg(test)]
    fn cell(&self, number: u64, format: Format, bits: u128) -> u128;

    /// Number that the shadow has for what `cell`, which is not zero, stands for beside the float of `format` and `bits`.
    #[cfg(test)]
    fn number(&self, cell: u128, format: Format, bits: u128) -> Option<u64>;
}

/// A shadow that nothing is carried of yet.
pub(crate) fn carry<S: Shadow<Reach: Reach<S>>>(
    settings: &Settings,
    vectors: Option<Vectors>,
) -> Arc<dyn Carrier> {
    Arc::new(Carrying(share::<S>(settings, vectors)))
}

fn share<S: Shadow<Reach: Reach<S>>>(settings: &Settings, vectors: Option<Vectors>) -> Shared<S> {
    super::gmp_setup::use_engine_heap();
    super::gmp_setup::use_fast_loops();
    let (shadow, words) = (S::new(settings), S::Words::default());
    Arc::new(Lock::new(Carried {
        shadow,
        words,
        turned: turned_doubles(),
        records: S::Reach::buffers(vectors),
    }))
}

struct Carrying<S: Shadow>(Shared<S>);

impl<S: Shadow<Reach: Reach<S>>> Carrier for Carrying<S> {
    fn observer(&self) -> Box<dyn Observer + Send> {
        Box::new(Observing::new(self.0.clone()))
    }

    fn replay(
        &self,
        lowered: &Lowered,
        site: Site,
        record: &[u8],
        registers: &mut RegisterShadows<'_>,
        is_formatting: bool,
    ) -> Outcome {
        let Carried { shadow, words, turned, .. } = &mut *lock_caught_up(&self.0);
        let [x87, others] = registers::rounding(registers.context);
        shadow.set_rounding(x87, others);
        shadow.ignore_decisions(is_formatting);
        let mut cells = MirrorCells { registers, words, turned: *turned };
        let Outcome { lost, of_zero, taken, mixed, decided, equal, made_whole, rounded, .. } =
            replay::replay(lowered, site, record, shadow, &mut cells);
        let decides = S::POLICY.decisions && !is_formatting;
        Outcome {
            rounded,
            of_zero,
            mixed: mixed && !is_formatting,
            taken: taken && !is_formatting,
            lost: lost && !is_formatting && S::POLICY.derivatives.is_some(),
            decided: decided && decides,
            equal: equal && decides,
            made_whole: made_whole && decides,
            noted: shadow.noted() == Some(site),
        }
    }

    fn fits_half(&self) -> bool {
        S::Words::FITS_HALF
    }

    fn layout(&self) -> Layout {
        Layout::of::<S::Words>()
    }

    fn add_buffer(&self, thread: &'static Recording) -> Option<usize> {
        let Carried { shadow, words, records, .. } = &mut *self.0.lock();
        records.as_deref_mut()?.add(thread, shadow, words)
    }

    fn learn(&self, thread: usize, recorded: &[(RecordDescriptor, Site)]) {
        let records = &mut self.0.lock().records;
        for &(recorded, site) in recorded {
            records.iter_mut().for_each(|records| records.learn(thread, recorded, site));
        }
    }

    fn close_record(&self, thread: usize, staging: &mut Staging) {
        self.0.lock().records.iter_mut().for_each(|records| records.close(thread, staging));
    }

    fn replay_records(&self, thread: usize) -> bool {
        let Carried { shadow, words, records, .. } = &mut *self.0.lock();
        records.iter_mut().for_each(|records| records.replay(thread, shadow, words));
        S::Reach::wants_sweep(words)
    }

    fn noted_first(&self) -> Vec<Site> {
        self.0.lock().shadow.noted_first()
    }

    fn forget_others(&self, thread: usize) {
        self.0.lock().records.iter_mut().for_each(|records| records.forget_others(thread));
    }

    fn sweep(&self, marked: Vec<u32>, cost: u64) {
        S::Reach::sweep(&self.0, marked, cost);
    }

    fn hold(&self) -> Box<dyn Held + '_> {
        Box::new(lock_caught_up(&self.0))
    }

    #[cfg(test)]
    fn cell(&self, number: u64, format: Format, bits: u128) -> u128 {
        let Carried { shadow, words, .. } = &mut *self.0.lock();
        shadow.numbered(number).map_or(0, |value| words.encode(format, bits, value))
    }

    #[cfg(test)]
    fn number(&self, cell: u128, format: Format, bits: u128) -> Option<u64> {
        let Carried { shadow, words, .. } = &mut *self.0.lock();
        let value = words.decode(format, cell, bits)?;
        shadow.number(&value)
    }
}

/// A rule that is machine code beside the guest's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InlineCode {
    pub(crate) rule: InlineRule,
    /// The question asked beside comparisons, as a rule of differences.
    pub(crate) doubt: InlineRule,
    /// The question asked before operations, if the policy has a watch.
    pub(crate) suspicion: InlineRule,
    /// The rule as a number: the oracle of emitted code.
    #[cfg(test)]
    pub(crate) eval: fn(Format, Op, Given<'_, f64>) -> f64,
    /// The rule of what is asked beside comparisons, as a number.
    #[cfg(test)]
    pub(crate) eval_doubt: fn(Format, Op, Given<'_, f64>) -> f64,
    /// The rule of what is asked before operations, as a number.
    #[cfg(test)]
    pub(crate) eval_suspicion: fn(Format, Op, Given<'_, f64>) -> f64,
}

/// Code that gives the results of functions that run as one operation their shadows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FunctionCode {
    /// Function that translated code calls where that takes more than its arithmetic: says whether it takes even more.
    pub(crate) evaluate: extern "C" fn(&mut FunctionCall, &Recording),
    /// Whatever it takes, when the engine has the thread, and the thread's buffer is empty.
    pub(crate) evaluate_slowly: fn(&mut FunctionCall, &Recording),
}

/// Services of the run time for shadows whose rule reaches the guest in one way.
pub(crate) trait Reach<S: Shadow> {
    /// The rule, if it is machine code beside the guest's.
    const INLINE: Option<InlineCode> = None;
    /// The code for functions, if translated code sees to any.
    const FUNCTIONS: Option<FunctionCode> = None;
    /// True if operations are recorded.
    const RECORDS: bool = false;
    /// True if operations are appended, and their results numbered.
    const APPENDS: bool = false;

    /// The records of all threads; nothing if operations are not recorded, or replaying them takes `vectors` and there are none.
    fn buffers(_vectors: Option<Vectors>) -> Option<Box<dyn Buffers<S>>> {
        None
    }

    /// Tells whether a sweep is worth its price.
    fn wants_sweep(_words: &S::Words) -> bool {
        false
    }

    /// Frees slots that nothing refers to, as [`Carrier::sweep`] has it.
    fn sweep(_carried: &Shared<S>, _marked: Vec<u32>, _cost: u64) {}
}

impl<S: Shadow> Reach<S> for reach::Nowhere {}

impl<S: Inline> Reach<S> for reach::Inline {
    const INLINE: Option<InlineCode> = Some(InlineCode {
        rule: InlineRule::of::<S>(),
        doubt: InlineRule::of_doubt::<S>(),
        suspicion: InlineRule::of_suspicion::<S>(),
        #[cfg(test)]
        eval: S::eval,
        #[cfg(test)]
        eval_doubt: |format, op, given| S::doubt(&Host::new(format), op, given),
        #[cfg(test)]
        eval_suspicion: |format, op, given| S::suspicion(&Host::new(format), op, given),
    });
    const FUNCTIONS: Option<FunctionCode> =
        Some(FunctionCode { evaluate: evaluate::<S>, evaluate_slowly: evaluate_slowly::<S> });
}

impl<S: Recorded<Vectors, Recurring: Send>> Reach<S> for reach::Recorded {
    const RECORDS: bool = true;

    fn buffers(vectors: Option<Vectors>) -> Option<Box<dyn Buffers<S>>> {
        Some(Box::new(All::new(vectors?)))
    }

    fn wants_sweep(words: &S::Words) -> bool {
        words.wants_sweep()
    }

    fn sweep(carried: &Shared<S>, marked: Vec<u32>, cost: u64) {
        let slots = &mut carried.lock().words;
        slots.sweep(marked.into_iter().map(u64::from));
        slots.sweeps_cost(cost);
    }
}

impl<S: Appended> Reach<S> for reach::Appended {
    const FUNCTIONS: Option<FunctionCode> =
        Some(FunctionCode { evaluate: append_call, evaluate_slowly: append_with_room });
    const APPENDS: bool = true;

    fn buffers(_vectors: Option<Vectors>) -> Option<Box<dyn Buffers<S>>> {
        Some(Box::<Lanes>::default())
    }
}
