//! Calls of one thread that something waits for: what is to be done when they return.
//!
//! A call is told from others by its return address and the stack pointer after the return, so recursion, exceptions and
//! `longjmp` are no danger; frames that were left without returning are dropped when the stack has grown past them.

use super::boxes::Boxing;
use super::hidden::Hidden;
use super::integers::Reading;
use super::locals::Assigning;
use super::modules::Meaning;
use super::observer::SavedShadow;
use super::parsed::Parsing;
use super::places;
use super::reread::{ReadBack, Rounded};
use crate::hooks::{Given, Math};
use shadowgrind_core::format::Format;
use shadowgrind_core::site::Site;

/// Usual size of a stack, in bytes. A frame less than this above the stack pointer is on the same stack and was left; one
/// farther away is on another, of a signal or a coroutine.
const SAME_STACK: u64 = 8 << 20;

/// Purpose for which the end of a call is waited for.
#[derive(Debug)]
pub(crate) enum Then {
    /// A function that formats floats, of which these are hidden from it: what it calls to that end is its own business.
    Formatted(Vec<Hidden>),
    /// A function that formats what it is given by way of others: they print at this site.
    Prints(Site),
    /// An IFUNC's resolver: returns the address of a function that means this.
    Resolved(Meaning),
    /// An IFUNC's resolver: returns the address of a function that these jobs, by number, are to be done at.
    Chosen(Vec<usize>),
    /// An operation.
    LibraryCall(Call),
    /// A function whose own floats are of no consequence.
    Digits,
    /// A float is made of digits that were found of another.
    ReadBack(ReadBack),
    /// The function at this address, whose floats are none of the program's: nothing is looked at meanwhile.
    LeftOut(u64),
    /// A function of Go's that leads to a box.
    Boxed(Boxing),
    /// A function that parses a number, if it was given one, and the number of its name: what it calls to that end is its
    /// own business.
    Parsed(Option<Box<Parsing>>, usize),
    /// A function that reads an integer.
    ReadsInteger(Reading),
    /// A function that has data parsed, not literals of a script.
    Data,
    /// The code of a Python script, whose global variables are in the dictionary at this address.
    Script(u64),
    /// A function named by a SPEC: the number of what is to be done, and what it was given.
    Named(usize, places::Given),
    /// A function that may assign a local variable of its caller.
    Assigned(Box<Assigning>),
}

/// A mathematical function that is under way.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) math: Math,
    pub(crate) site: Site,
    pub(crate) operands: Operands,
}

/// The operands of a call that is under way.
#[derive(Debug, Default)]
pub(crate) struct Operands {
    pub(crate) given: Given,
    /// Bits of the operands, in the function's format.
    pub(crate) x: Vec<u128>,
    pub(crate) kept: Vec<SavedShadow>,
}

impl Operands {
    /// Tells whether one of them had a shadow when the function was entered.
    pub(super) fn have_shadows(&self) -> bool {
        self.kept.iter().any(|&kept| kept != SavedShadow::NONE)
    }

    fn clear(&mut self) {
        self.given.arguments.clear();
        self.given.pointers.clear();
        self.x.clear();
        self.kept.clear();
    }
}

/// A call that is waited for.
#[derive(Debug)]
struct Pending {
    /// The return address.
    at: u64,
    /// The stack pointer after the return.
    stack: u64,
    then: Then,
}

impl Pending {
    /// Tells whether this is the stack pointer after the return. Where a loop of Java's goes from the interpreter to code that was
    /// compiled meanwhile, the frame is taken off, and its place aligned as compiled code wants it.
    fn returns_with(&self, stack: u64) -> bool {
        const ALIGNMENT: u64 = 16;
        stack == self.stack || stack == self.stack & !(ALIGNMENT - 1)
    }
}

/// A number that a method of Java was given to read.
#[derive(Debug)]
pub(crate) struct Read {
    parsing: Box<Parsing>,
    /// The return address, the stack pointer after the return, and the address of the string.
    call: (u64, u64, u64),
    /// The entry.
    pc: u64,
}

impl Read {
    pub(super) fn new(parsing: Parsing, call: (u64, u64, u64), pc: u64) -> Read {
        Read { parsing: Box::new(parsing), call, pc }
    }

    /// Tells whether the call that is at the entry `pc` is this one: code that was given up sends its callers on to what is valid
    /// by now.
    pub(super) fn is_entered_again(&self, call: (u64, u64, u64), pc: u64) -> bool {
        self.call == call && self.pc != pc
    }

    /// The call, by which a float of this format is made.
    pub(super) fn made(mut self, format: Format) -> Box<Parsing> {
        self.parsing.make(format);
        self.parsing
    }
}

/// Calls of one thread that something waits for.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    pending: Vec<Pending>,
    /// Number of these that run without shadows.
    wrapped: usize,
    /// Number of those that format floats.
    formatting: usize,
    /// Number of those that parse numbers.
    parsing: usize,
    /// Number of those that have data parsed.
    data: usize,
    /// Number of those that run a script.
    scripts: usize,
    /// Assignments of local variables that the next instruction is past.
    assigning: Vec<Assigning>,
    /// The call sites of functions that print by way of others.
    prints: Vec<Site>,
    /// Number of times that the program has switched shadowing off for this thread, and of calls that are left out.
    disabled: u64,
    /// To be used again: a mathematical function is called often, and memory is to be had only once.
    spare: Vec<Operands>,
    /// The last float whose digits a function has found, until a text is parsed.
    pub(super) digits: Option<Rounded>,
    /// A number that a method of Java has read, and of which another will make the float.
    pub(super) read: Option<Read>,
    /// Operands that were kept for calls that never returned.
    lost: Vec<SavedShadow>,
    /// Floats that were hidden from such.
    left: Vec<Hidden>,
}

impl Calls {
    /// No calls.
    pub(crate) fn new() -> Self {
        Calls::default()
    }

    /// Tells whether a function that is taken as a whole is under way: what runs now carries no shadows.
    pub(crate) fn wrapped(&self) -> bool {
        self.wrapped > 0
    }

    /// Tells whether the program has switched shadowing off.
    pub(crate) fn is_disabled(&self) -> bool {
        self.disabled > 0
    }

    /// Changes how often shadowing is switched off; how often it is now.
    pub(super) fn disable(&mut self, by: i64) -> u64 {
        self.disabled = self.disabled.saturating_add_signed(by);
        self.disabled
    }

    /// Tells whether what is called now is inside a function that formats floats.
    pub(crate) fn is_formatting(&self) -> bool {
        self.formatting > 0
    }

    /// Tells whether what is called now is inside a function that parses a number.
    pub(super) fn is_parsing(&self) -> bool {
        self.parsing > 0
    }

    /// Tells whether what is called now is inside a function that has data parsed.
    pub(super) fn is_data(&self) -> bool {
        self.data > 0
    }

    /// Tells whether a script runs.
    pub(super) fn is_in_script(&self) -> bool {
        self.scripts > 0
    }

    /// The outermost site that prints by way of what is called now.
    pub(super) fn printing(&self) -> Option<Site> {
        self.prints.first().copied()
    }

    /// Waits for the next instruction.
    pub(super) fn assign(&mut self, assigning: Assigning) {
        self.assigning.push(assigning);
    }

    /// The assignments that the thread, which is at `pc`, has done.
    pub(super) fn assigned(&mut self, pc: u64) -> Vec<Assigning> {
        let decided = self.assigning.extract_if(.., |assigning| assigning.is_done(pc).is_some());
        decided.filter(|assigning| assigning.is_done(pc) == Some(true)).collect()
    }

    /// Waits for a call that returns to `at` with this stack pointer.
    pub(super) fn push(&mut self, at: u64, stack: u64, then: Then) {
        match then {
            Then::LibraryCall(_) | Then::Digits => self.wrapped += 1,
            Then::ReadBack(_) => self.parsing += 1,
            Then::Formatted(_) => self.formatting += 1,
            Then::Prints(site) => self.prints.push(site),
            Then::Parsed(..) => self.parsing += 1,
            Then::Data => self.data += 1,
            Then::Script(_) => self.scripts += 1,
            Then::LeftOut(_) => self.disabled += 1,
            Then::Resolved(_)
            | Then::Chosen(_)
            | Then::Named(..)
            | Then::Assigned(_)
            | Then::Boxed(_)
            | Then::ReadsInteger(_) => {}
        }
        self.pending.push(Pending { at, stack, then });
    }

    /// The function at `pc` begins again, on a stack that was moved meanwhile: its call that is waited for, and returns to `at`,
    /// returns with this stack pointer. Whether there is one.
    pub(super) fn restarted(&mut self, pc: u64, at: u64, stack: u64) -> bool {
        let is_it = |call: &&mut Pending| {
            call.at == at && matches!(call.then, Then::LeftOut(function) if function == pc)
        };
        let call = self.pending.iter_mut().rev().find(is_it);
        call.map(|call| call.stack = stack).is_some()
    }

    fn pop(&mut self) -> Option<Then> {
        let then = self.pending.pop()?.then;
        match then {
            Then::LibraryCall(_) | Then::Digits => self.wrapped -= 1,
            Then::ReadBack(_) => self.parsing -= 1,
            Then::Formatted(_) => self.formatting -= 1,
            Then::Prints(_) => drop(self.prints.pop()),
            Then::Parsed(..) => self.parsing -= 1,
            Then::Data => self.data -= 1,
            Then::Script(_) => self.scripts -= 1,
            Then::LeftOut(_) => self.disabled = self.disabled.saturating_sub(1),
            Then::Resolved(_)
            | Then::Chosen(_)
            | Then::Named(..)
            | Then::Assigned(_)
            | Then::Boxed(_)
            | Then::ReadsInteger(_) => {}
        }
        Some(then)
    }

    /// The purpose for which `at` was waited for, where the thread has come with this stack pointer. To be asked until
    /// there is no more: a function may end by jumping to another, which then returns for both.
    pub(super) fn returned(&mut self, at: u64, stack: u64) -> Option<Then> {
        let found = self.pending.iter().rposition(|call| call.at == at && call.returns_with(stack))?;
        while self.pending.len() > found + 1 {
            self.drop_last();
        }
        self.pop()
    }

    /// Forgets calls whose frames are gone, now that a function is entered with this stack pointer and return address:
    /// an exception or a `longjmp` left them.
    pub(super) fn settle(&mut self, stack: u64, at: u64) {
        // The frames of calls under way are above that of a function they enter, or the very same, return address
        // included, where one ends by jumping to the other.
        let gone = |call: &Pending| {
            let above = stack.wrapping_sub(call.stack.wrapping_sub(8));
            above < SAME_STACK && (above > 0 || at != call.at)
        };
        while self.pending.last().is_some_and(gone) {
            self.drop_last();
        }
    }

    fn drop_last(&mut self) {
        match self.pop() {
            Some(Then::LibraryCall(call)) => {
                self.lost.extend_from_slice(&call.operands.kept);
                self.reuse(call.operands);
            }
            Some(Then::Formatted(hidden)) => self.left.extend(hidden),
            _ => {}
        }
    }

    /// Room for the operands of a call.
    pub(super) fn operands(&mut self) -> Operands {
        self.spare.pop().unwrap_or_default()
    }

    /// Gives it back.
    pub(super) fn reuse(&mut self, mut operands: Operands) {
        operands.clear();
        self.spare.push(operands);
    }

    /// Floats that are hidden from functions under way, which are about to be left: they are hidden no more.
    pub(super) fn uncover(&mut self) -> Vec<Hidden> {
        let formatted = self.pending.iter_mut().filter_map(|call| match &mut call.then {
            Then::Formatted(hidden) => Some(std::mem::take(hidden)),
            _ => None,
        });
        formatted.flatten().collect()
    }

    /// Operands that were kept for calls that will not return.
    pub(super) fn lost(&mut self) -> Vec<SavedShadow> {
        std::mem::take(&mut self.lost)
    }

    /// Floats that were hidden from calls that will not return.
    pub(super) fn left(&mut self) -> Vec<Hidden> {
        std::mem::take(&mut self.left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(then: Option<Then>) -> Option<usize> {
        match then {
            Some(Then::Named(number, _)) => Some(number),
            _ => None,
        }
    }

    #[test]
    fn calls_return_in_order_and_to_their_own_frames() {
        let mut calls = Calls::new();
        calls.push(0x10, 0x8000, Then::Named(1, Vec::new()));
        calls.push(0x10, 0x7000, Then::Named(2, Vec::new()));
        assert!(calls.returned(0x10, 0x7500).is_none());
        assert!(calls.returned(0x20, 0x7000).is_none());
        assert_eq!(named(calls.returned(0x10, 0x7000)), Some(2));
        assert_eq!(named(calls.returned(0x10, 0x8000)), Some(1));
        assert!(calls.returned(0x10, 0x8000).is_none());
    }

    #[test]
    fn a_frame_that_was_replaced_may_be_aligned() {
        let mut calls = Calls::new();
        calls.push(0x10, 0x8008, Then::Named(1, Vec::new()));
        assert!(calls.returned(0x10, 0x7ff8).is_none());
        assert_eq!(named(calls.returned(0x10, 0x8000)), Some(1));
        calls.push(0x10, 0x8000, Then::Named(2, Vec::new()));
        assert!(calls.returned(0x10, 0x7ff8).is_none());
    }

    #[test]
    fn frames_that_were_jumped_over_are_forgotten() {
        let mut calls = Calls::new();
        calls.push(0x10, 0x8000, Then::Named(1, Vec::new()));
        calls.push(0x20, 0x7000, Then::Formatted(Vec::new()));
        calls.push(0x30, 0x6000, Then::Formatted(Vec::new()));
        assert_eq!(named(calls.returned(0x10, 0x8000)), Some(1));
        assert!(!calls.is_formatting());
        calls.push(0x20, 0x7000, Then::Formatted(Vec::new()));
        calls.settle(0x6ff0, 0x40);
        assert!(calls.is_formatting(), "a call from inside");
        calls.settle(0x6ff8, 0x20);
        assert!(calls.is_formatting(), "a jump to another function in its place");
        calls.settle(0x6ff8, 0x24);
        assert!(!calls.is_formatting(), "a new call from the frame that the old one had been called from");
        calls.push(0x20, 0x7000, Then::Formatted(Vec::new()));
        calls.settle(0x7100, 0x40);
        assert!(!calls.is_formatting(), "a call from above");
    }

    #[test]
    fn another_stack_says_nothing_about_this_one() {
        let mut calls = Calls::new();
        calls.push(0x20, 0x7000, Then::Formatted(Vec::new()));
        calls.settle(0x7000 + SAME_STACK, 0x40);
        assert!(calls.is_formatting());
    }
}
