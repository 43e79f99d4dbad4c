//! Numbers that Java parses: entries of the methods that do, in code that is made while the program runs, and the numbers of
//! which nobody saw a float made.
//!
//! What a method is given and where it leaves the float is known elsewhere, and so is which numbers are wanted.

use super::modules::Meaning;
use super::parsed::{ParsedInput, ParsedInputs, Parsing, number_at};
use super::state::{Hooked, Session, State};
use super::texts;
use crate::hooks::machine::Machine;
use crate::hooks::{Characters, Hook, Hotspot, JAVA_PARSER, Memory, Parse, Parser};
use shadowgrind_core::format::Format;
use shadowgrind_core::site::Site;
use std::sync::atomic::Ordering;

/// Letters, of the types of literals, that Java takes behind a number; spaces may follow.
const ENDS: &[u8] = b"fFdD";

/// Said of numbers that were read.
const UNSEEN: &str =
    "was read, but the float came from where nobody looks, as that of a zero does in code that Java compiles";

impl Session {
    /// Tells whether a mathematical function of Java's, or a method that parses, is entered at `pc`, where code is about to be translated;
    /// it is hooked then.
    pub(crate) fn is_java(&self, pc: u64, memory: Memory<'_>) -> bool {
        if !self.has_java.load(Ordering::Relaxed) {
            return false;
        }
        let mut state = self.state.lock();
        if state.file_at(pc).is_some() {
            return false;
        }
        let Some((hook, name)) = self.java_hook(&mut state, pc, memory) else {
            // Other code may have come to be where one was.
            if state.hooked.get(&pc).is_some_and(|hooked| matches!(hooked.meaning.hook, Hook::Java(_))) {
                state.hooked.remove(&pc);
            }
            return false;
        };
        let meaning = Meaning { hook, name: state.name(name) };
        state.hooked.insert(pc, Hooked { meaning, is_resolver: false });
        self.note(pc);
        true
    }

    /// Meaning and name of Java's code at `pc`, as far as this session asks for it.
    fn java_hook(&self, state: &mut State, pc: u64, memory: Memory<'_>) -> Option<(Hook, &'static str)> {
        let java = state.java.as_mut()?;
        let function = java.function(pc, memory).map(|(math, name)| (Hook::Math(math), name));
        if let Some((hook, name)) = function {
            return self.wants(&hook, state.printed).then_some((hook, name));
        }
        let entry = if self.wants_texts() { java.entry(pc, memory) } else { None };
        entry.map(|entry| (Hook::Java(entry), JAVA_PARSER))
    }
}

impl State {
    /// The number that Java is about to read in the string at this address; nothing if that is none.
    pub(super) fn begin_java(&mut self, string: u64, site: Site, m: &dyn Machine) -> Option<Parsing> {
        let characters = self.java.as_mut()?.characters(string, m)?;
        is_number(characters, m).then_some(())?;
        let parse = Parse::of(Parser::returning(Format::F64), characters);
        let parsing = self.begin_parse(parse, (true, site.into()), m)?;
        let lists = self.report.listing.is_some();
        self.parsed.as_mut()?.awaits(&parsing, lists);
        Some(parsing)
    }

    /// The user's line that has a text read by the method of Java that is entered now, which returns to `at` and leaves this
    /// stack pointer: where numbers are listed, or text may be the program's own.
    pub(super) fn java_site(&mut self, (at, stack): (u64, u64), m: &dyn Machine) -> Option<Site> {
        let is_of_use = self.report.listing.is_some() || !self.own_texts.is_empty();
        let line = self.java.as_ref().filter(|_| is_of_use)?.line(at, stack, m)?;
        Some(self.report.sites.script(line))
    }

    /// A word on the numbers of which no float was seen though they were read.
    pub(super) fn unmade(&self) -> Option<String> {
        self.parsed.as_ref()?.unmade(None)
    }

    /// The reason why numbers that Java parses are not known, if there is one.
    pub(super) fn java_is_unknown(&self) -> Option<String> {
        self.java.as_ref().and_then(Hotspot::unknown)
    }
}

impl ParsedInputs {
    /// Notes that a float will be made of a number, if an input names that or all are listed.
    pub(super) fn awaits(&mut self, parsing: &Parsing, lists: bool) {
        let inputs: Vec<usize> = self.naming(parsing).map(|(input, ..)| input).collect();
        if lists || !inputs.is_empty() {
            self.unmade.insert(parsing.order, (parsing.number().0, inputs));
        }
    }

    /// A word on the numbers that `input` names, or on all, of which no float was seen though they were read.
    pub(super) fn unmade(&self, input: Option<&ParsedInput>) -> Option<String> {
        let is_named = |inputs: &[usize]| input.is_none_or(|input| inputs.contains(&input.number));
        let mut numbers = self.unmade.values().filter(|(_, inputs)| is_named(inputs));
        let (first, _) = numbers.next()?;
        Some(match numbers.count() {
            0 => format!("{first} {UNSEEN}"),
            more => format!("{first}, as {more} more, {UNSEEN}"),
        })
    }
}

/// Tells whether a text is a number and nothing else, as Java has it.
fn is_number((address, length, character): Characters, m: &dyn Machine) -> bool {
    let Some((start, text, _)) = number_at(m, address, Some(length), character) else { return false };
    let end = address + length * character;
    let rest = texts::readable(m, start + text.len() as u64 * character, end);
    let mut rest = rest.chunks(character as usize).map(|character| character[0]).peekable();
    rest.next_if(|byte| ENDS.contains(byte));
    rest.all(|byte| byte <= b' ')
}
