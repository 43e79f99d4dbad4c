//! Beginnings of hooked functions: their arguments are looked at, and their returns are waited for, or they run without shadows.
//! What is done when they return, and how a thread comes here, is not known.

use super::boxes;
use super::calls::{Call, Calls, Operands, Read, Then};
use super::hidden;
use super::modules::Meaning;
use super::observer::{Observer, SavedShadow};
use super::outputs::Leaving;
use super::reread::Rounded;
use super::seeds::When;
use super::state::{Hooked, Named, State};
use crate::hooks::machine::Machine;
use crate::hooks::{
    self, Argument, Conversion, Entry, Family, Formatted, Hook, IntegerParser, LeftOut, LeftOutCalls, Parser,
    Role, abi,
};
use shadowgrind_core::findings::{Label, OutputKind};
use shadowgrind_core::format::Format;

/// Numbers of functions among those of instructions: beyond those in the decoder, and those of system calls.
const FUNCTIONS: usize = 1 << 20;

/// A thread at the first instruction of a function.
pub(super) struct Frame<'a> {
    pub(super) calls: &'a mut Calls,
    pub(super) observer: &'a mut dyn Observer,
    pub(super) m: &'a mut dyn Machine,
    /// The address at which the function begins.
    pub(super) pc: u64,
    /// The return address.
    pub(super) at: u64,
    /// The stack pointer after the return.
    pub(super) stack: u64,
}

impl Frame<'_> {
    fn wait(&mut self, then: Then) {
        self.calls.push(self.at, self.stack, then);
    }

    /// Keeps the operands that the function is given, and their shadows.
    fn keep(&mut self, math: hooks::Math, operands: &mut Operands) {
        for argument in &operands.given.arguments {
            let (bits, kept) = match *argument {
                Argument::Float(x) => (x.bits, self.observer.keep(self.m, x)),
                Argument::Integer(n) => (math.format().from_f64(n as f64), SavedShadow::NONE),
            };
            operands.x.push(bits);
            operands.kept.push(kept);
        }
    }

    /// Keeps the double of which the function will find the digits: the next text that is parsed may be made of these. Its shadow is
    /// hidden meanwhile.
    fn rounds_to_digits(&mut self) -> Entered {
        let Ok(x) = abi::float(self.m, 0, Format::F64) else { return Entered::Go };
        let kept = self.observer.keep(self.m, x);
        let [mode, count] = [0, 1].map(|n| abi::integer(self.m, n).unwrap_or(0) as i32);
        let rounded =
            (kept != SavedShadow::NONE).then(|| Rounded::new(x, kept, (mode == 3).then_some(count)));
        let before = std::mem::replace(&mut self.calls.digits, rounded);
        self.observer.release(before.map(|before| before.kept).as_slice());
        match hidden::hide([x].into_iter(), self.observer, self.m) {
            hidden if hidden.is_empty() => Entered::Go,
            hidden => self.watch(Then::Formatted(hidden)),
        }
    }

    /// Waits for the end of a function that formats `floats`: the copies of them that it was given are hidden meanwhile, and
    /// what finds digits runs without shadows. `is_inner`: another such function has called it, which is waited for already.
    fn format(&mut self, family: Family, floats: &[Formatted], is_inner: bool) -> Entered {
        let copies = floats.iter().map(|x| x.float).filter(|_| family.takes_copies());
        let hidden = hidden::hide(copies, self.observer, self.m);
        if is_inner && hidden.is_empty() {
            return Entered::Go;
        }
        let watched = self.watch(Then::Formatted(hidden));
        if family.finds_digits() { self.finds_digits(watched) } else { watched }
    }

    /// Has a function run without shadows that finds digits with floats of its own, if it must be; `otherwise` is what is
    /// done else.
    fn finds_digits(&mut self, otherwise: Entered) -> Entered {
        if !self.observer.wraps(&[]) {
            return otherwise;
        }
        self.wait(Then::Digits);
        Entered::Wrap
    }

    /// Waits for the function's return, which is to be watched.
    pub(super) fn watch(&mut self, then: Then) -> Entered {
        self.wait(then);
        Entered::Watch
    }
}

/// Outcome of a function's entry.
pub(super) enum Entered {
    Go,
    Watch,
    Wrap,
}

impl State {
    /// Does all that is to be done on a function's entry: for the SPECs that name it, and for what it is known to do.
    pub(super) fn enter_all(&mut self, hooked: Option<Hooked>, frame: &mut Frame<'_>) -> Entered {
        let is_awaited = self.enter_named(frame);
        match hooked.map_or(Entered::Go, |hooked| self.enter(hooked, frame)) {
            Entered::Go if is_awaited => Entered::Watch,
            entered => entered,
        }
    }

    fn enter(&mut self, hooked: Hooked, frame: &mut Frame<'_>) -> Entered {
        if hooked.is_resolver {
            return frame.watch(Then::Resolved(hooked.meaning));
        }
        if let Hook::Output(_, family) = hooked.meaning.hook
            && family.reckons()
            && frame.calls.restarted(frame.pc, frame.at, frame.stack)
        {
            return Entered::Watch;
        }
        if frame.calls.is_disabled() {
            return Entered::Go;
        }
        self.enter_hooked(hooked.meaning, frame)
    }

    /// Does what is to be done on entry to a function that does what `meaning` says.
    fn enter_hooked(&mut self, Meaning { hook, name }: Meaning, frame: &mut Frame<'_>) -> Entered {
        match hook {
            Hook::Math(math) => return self.enter_math(math, name, frame),
            Hook::Output(kind, family) => return self.enter_output(kind, family, frame),
            Hook::Prints => return self.enter_printing(frame),
            Hook::Digits(conversion) => return self.enter_digits(conversion, frame),
            Hook::LeftOut(row) => return self.enter_left_out(row, frame),
            Hook::Boxes(format) => return self.enter_boxing(format, frame),
            Hook::RunsCode(row) => return self.enter_code(row, frame),
            Hook::Parses(parser) => return self.enter_parser(parser, name, frame),
            Hook::Java(entry) => return self.enter_java(entry, name, frame),
            Hook::ParsesInteger(parser) => return self.enter_integer_parser(parser, name, frame),
            Hook::ParsesData => return frame.watch(Then::Data),
            Hook::Software => self.enter_software(name, frame),
            Hook::PrintsInteger => self.boxes.took_integer(frame.m),
            Hook::Unwinds => hidden::reveal(&frame.calls.uncover(), frame.observer, frame.m),
        }
        Entered::Go
    }

    /// A function begins that finds the digits of a float, or the float of some digits.
    fn enter_digits(&mut self, conversion: Conversion, frame: &mut Frame<'_>) -> Entered {
        let otherwise = match conversion {
            Conversion::ToDigits => frame.rounds_to_digits(),
            Conversion::OfText => self.enter_reading_back(frame),
            Conversion::Other => Entered::Go,
        };
        frame.finds_digits(otherwise)
    }

    fn enter_printing(&mut self, frame: &mut Frame<'_>) -> Entered {
        if frame.calls.printing().is_some() {
            return Entered::Go;
        }
        let site = self.call_site(frame.at, Some(frame.pc), frame.m);
        let site = self.script_site(site, frame.m);
        frame.watch(Then::Prints(site))
    }

    fn enter_integer_parser(&mut self, parser: IntegerParser, name: usize, frame: &mut Frame<'_>) -> Entered {
        if frame.calls.is_parsing() {
            return Entered::Go;
        }
        let Some(reading) = self.begin_integer(parser, name, frame.m) else { return Entered::Go };
        frame.watch(Then::ReadsInteger(reading))
    }

    fn enter_parser(&mut self, parser: Parser, name: usize, frame: &mut Frame<'_>) -> Entered {
        let is_of_use = self.parsed.is_some() || !self.own_texts.is_empty();
        if frame.calls.is_parsing() || !is_of_use {
            return if parser.estimates { frame.finds_digits(Entered::Go) } else { Entered::Go };
        }
        let of = |state: &State, pc| state.file_at(pc).map(|file| file.canonical.clone());
        let is_literal =
            parser.reads_literals && !frame.calls.is_data() && of(self, frame.at) == of(self, frame.pc);
        let asker = self.asker(frame.at, frame.pc, frame.m);
        let rounded = frame.calls.digits.take();
        let mut parsing = self.begin_parsing(parser, (!is_literal, asker), frame.m);
        match &mut parsing {
            Some(parsing) => parsing.rounded = rounded,
            None => frame.observer.release(rounded.map(|rounded| rounded.kept).as_slice()),
        }
        let watched = frame.watch(Then::Parsed(parsing.map(Box::new), name));
        if parser.estimates { frame.finds_digits(watched) } else { watched }
    }

    /// A method of Java begins that reads a text, or that makes the float of the one that was read last.
    fn enter_java(&mut self, entry: Entry, name: usize, frame: &mut Frame<'_>) -> Entered {
        let java = self.java.as_mut().filter(|_| !frame.calls.is_parsing());
        let Some(method) = java.and_then(|java| java.entered(entry, frame.m)) else { return Entered::Go };
        match method.role {
            Role::Reads => {
                let call = (frame.at, method.stack, method.string);
                if frame.calls.read.as_ref().is_some_and(|read| read.is_entered_again(call, frame.pc)) {
                    return Entered::Go;
                }
                let line = self.java_site((frame.at, method.stack), frame.m);
                let site = line.unwrap_or_else(|| self.call_site(frame.at, Some(frame.pc), frame.m));
                let parsing = self.begin_java(method.string, site, frame.m);
                frame.calls.read = parsing.map(|parsing| Read::new(parsing, call, frame.pc));
                Entered::Go
            }
            Role::Makes(format) => {
                let Some(read) = frame.calls.read.take() else { return Entered::Go };
                let parsing = read.made(format);
                frame.stack = method.stack;
                frame.watch(Then::Parsed(Some(parsing), name))
            }
        }
    }

    fn enter_math(&mut self, math: hooks::Math, name: usize, frame: &mut Frame<'_>) -> Entered {
        let mut operands = frame.calls.operands();
        if hooks::arguments(frame.m, math, &mut operands.given).is_err() {
            // The function will fault; it may do so in peace.
            frame.calls.reuse(operands);
            return Entered::Go;
        }
        frame.keep(math, &mut operands);
        self.names[name].1 += 1;
        if !frame.observer.wraps(&operands.kept) {
            frame.calls.reuse(operands);
            return Entered::Go;
        }
        let site = self.call_site(frame.at, Some(frame.pc), frame.m);
        frame.wait(Then::LibraryCall(Call { math, site, operands }));
        Entered::Wrap
    }

    /// A function begins some of whose calls are not looked at, if floats without shadows matter at all.
    fn enter_left_out(&mut self, row: &'static LeftOut, frame: &mut Frame<'_>) -> Entered {
        if !frame.observer.wraps(&[]) || !self.is_left_out(row, frame.m) {
            return Entered::Go;
        }
        match self.left_out.iter_mut().find(|(known, _)| *known == row) {
            Some((_, calls)) => *calls += 1,
            None => self.left_out.push((row, 1)),
        }
        frame.watch(Then::LeftOut(frame.pc))
    }

    /// Tells whether the call whose arguments are there is one that the row means.
    fn is_left_out(&self, row: &LeftOut, m: &dyn Machine) -> bool {
        let LeftOutCalls::Runs(file) = row.calls else { return true };
        let code = abi::integer(m, 0).ok();
        let path = self.python.zip(code).and_then(|(python, code)| python.file_of(m, code));
        path.is_some_and(|path| path.ends_with(file))
    }

    /// The code of a script begins: some calls of it are not looked at, and the end of others may be waited for.
    fn enter_code(&mut self, row: &'static LeftOut, frame: &mut Frame<'_>) -> Entered {
        match self.enter_left_out(row, frame) {
            Entered::Go => self.enter_script(frame),
            entered => entered,
        }
    }

    /// Waits for the end of a script, if it begins here and an output names a variable of it.
    fn enter_script(&mut self, frame: &mut Frame<'_>) -> Entered {
        if self.jobs.scripts.is_empty() || frame.calls.is_in_script() {
            return Entered::Go;
        }
        let Some(globals) = self.script_globals(frame.m) else { return Entered::Go };
        frame.watch(Then::Script(globals))
    }

    /// Notes the begin of an operation that nobody follows: a gap, if floats without shadows matter. Shadows that get lost
    /// in it are noticed otherwise.
    fn enter_software(&mut self, name: usize, frame: &mut Frame<'_>) {
        if frame.observer.wraps(&[]) {
            let site = self.call_site(frame.at, Some(frame.pc), frame.m);
            let called = || (format!("{} (floats in software)", self.names[name].0), 0);
            self.gaps.entry((site, FUNCTIONS + name)).or_insert_with(called).1 += 1;
        }
    }

    fn enter_boxing(&mut self, format: Format, frame: &mut Frame<'_>) -> Entered {
        let site = self.call_site(frame.at, Some(frame.pc), frame.m);
        let Some(boxing) = boxes::begin(format, site, frame.observer, frame.m) else { return Entered::Go };
        frame.watch(Then::Boxed(boxing))
    }

    fn enter_output(&mut self, kind: OutputKind, family: Family, frame: &mut Frame<'_>) -> Entered {
        let is_inner = frame.calls.is_formatting();
        if is_inner && !family.takes_copies() {
            return Entered::Go;
        }
        let Ok(floats) = hooks::floats(frame.m, family, &mut self.statements) else { return Entered::Go };
        if floats.is_empty() && !family.finds_digits() {
            return Entered::Go;
        }
        if !is_inner && !floats.is_empty() && !family.only_measures(frame.m) {
            self.formatted((kind, family), &floats, frame);
        }
        if family.reckons() && frame.observer.wraps(&[]) {
            return frame.watch(Then::LeftOut(frame.pc));
        }
        if family.moves_stack() { Entered::Go } else { frame.format(family, &floats, is_inner) }
    }

    /// Records floats that are formatted as outputs.
    fn formatted(
        &mut self,
        (kind, family): (OutputKind, Family),
        floats: &[Formatted],
        frame: &mut Frame<'_>,
    ) {
        let site = match frame.calls.printing() {
            Some(site) => site,
            None => {
                let site = self.call_site(frame.at, Some(frame.pc), frame.m);
                self.printing_site(site, family.package(), frame.m)
            }
        };
        let first = self.report.outputs.len();
        for (position, x) in floats.iter().enumerate() {
            let label = x.label.as_ref().map_or(Label::NONE, |label| self.report.outputs.label(label));
            let leaving = Leaving { kind, label, site, notation: x.notation, string: x.string };
            self.boxes.took_float(x.float, frame.m);
            self.output(leaving, position, x.float, frame.observer, frame.m);
        }
        let (end, stack) = (self.report.outputs.len(), self.printing_stack(site, frame.pc, frame.m));
        self.report.output_stacks.note(first, end, stack);
    }

    /// Does what is to be done for SPECs on the function's entry; true if its return is waited for.
    fn enter_named(&mut self, frame: &mut Frame<'_>) -> bool {
        let Some(Named { jobs, is_resolver }) = self.named.get(&frame.pc).cloned() else { return false };
        if is_resolver {
            frame.wait(Then::Chosen(jobs));
            return true;
        }
        let site = self.call_site(frame.at, Some(frame.pc), frame.m);
        let mut watch = false;
        for number in jobs {
            let job = &self.jobs.all[number];
            let given = job.place.given(frame.m);
            if job.when == When::Return {
                frame.wait(Then::Named(number, given));
                watch = true;
            } else {
                self.do_job(number, site, &given, frame.observer, frame.m);
            }
        }
        watch
    }
}
