//! Calls that led to where a thread is: machine code by its files' call frames, and lines of scripts.

use super::state::{Session, State};
use super::walk::{Start, Walk};
use crate::hooks::abi;
use crate::hooks::machine::{Machine, read_u64};
use shadowgrind_core::site::Site;
use shadowgrind_symbols::{CallFrames, Registers, SymbolFile};
use std::path::Path;

/// Reason why a stack is noted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Noted {
    /// An operation has run, without error so far: its last stack is kept.
    Ran,
    /// An error was noted there: the first such stack is kept.
    Erred,
}

impl Session {
    /// Notes the stack of a thread at the instruction at `pc`, which is `site`.
    pub(crate) fn note_stack(&self, site: Site, pc: u64, noted: Noted, m: &dyn Machine) {
        self.state.lock().note_stack(site, pc, (noted, self.config.num_callers), m);
    }
}

impl Session {
    /// Tells whether it is known how the program came to an error at `site`, or is not to be.
    pub(crate) fn knows_stack(&self, site: Site) -> bool {
        self.config.num_callers == 0 || self.state.lock().erred.contains(&site)
    }
}

impl State {
    /// Notes the stack of a thread at the instruction at `pc`, which is `site`: at most so many callers.
    pub(super) fn note_stack(&mut self, site: Site, pc: u64, (noted, most): (Noted, usize), m: &dyn Machine) {
        if most == 0 || site == Site::NONE || self.erred.contains(&site) {
            return;
        }
        if noted == Noted::Erred {
            self.erred.insert(site);
        }
        let stack = self.stack(pc, most, m);
        self.report.stacks.insert(site, stack);
    }

    /// Line of the script that the thread runs, if an interpreter is there that is known; otherwise `site`.
    pub(super) fn script_site(&mut self, site: Site, m: &dyn Machine) -> Site {
        let line = self.python.and_then(|python| python.lines(m, 1).pop());
        line.map_or(site, |line| self.report.sites.script(line))
    }

    /// Line of the script that the thread runs, likewise. Scripts whose paths have `package` in them do not count: they
    /// print for others.
    pub(super) fn printing_site(&mut self, site: Site, package: Option<&str>, m: &dyn Machine) -> Site {
        const DEEPEST: usize = 32;
        let Some(package) = package else { return self.script_site(site, m) };
        let lines = self.python.map_or_else(Vec::new, |python| python.lines(m, DEEPEST));
        let line = lines.into_iter().find(|line| !line.file.contains(package));
        match line {
            Some(line) => self.report.sites.script(line),
            None => self.script_site(site, m),
        }
    }

    /// Callers of the code at `pc`, from the innermost outwards, at most so many. Where a script runs, its lines stand for the
    /// interpreter and what called it.
    fn stack(&mut self, pc: u64, most: usize, m: &dyn Machine) -> Vec<Site> {
        let lines = self.python.map_or_else(Vec::new, |python| python.lines(m, most));
        let mut stack = self.native_stack(pc, most, !lines.is_empty(), m);
        stack.extend(lines.into_iter().map(|line| self.report.sites.script(line)));
        stack.truncate(most);
        stack
    }

    /// Callers of the code at `site` that prints by calling the function at `pc`, from the innermost outwards.
    pub(super) fn printing_stack(&mut self, site: Site, pc: u64, m: &dyn Machine) -> Vec<Site> {
        if self.num_callers == 0 {
            return Vec::new();
        }
        // The call that prints is the first of them, or jumps there, and what prints for others stands before it.
        let mut stack = self.stack(pc, self.num_callers + 1, m);
        if let Some(own) = stack.iter().position(|&caller| caller == site) {
            stack.drain(..=own);
        }
        stack.truncate(self.num_callers);
        stack
    }

    /// Callers in machine code, but for those in the C library; with `scripted` up to where the interpreter begins.
    pub(super) fn native_stack(
        &mut self,
        pc: u64,
        most: usize,
        scripted: bool,
        m: &dyn Machine,
    ) -> Vec<Site> {
        let from = (pc, m.general(abi::RSP), most, scripted);
        if let Some(stack) = self.walks.stack(&from, m) {
            return stack.to_vec();
        }
        let mut met = Vec::new();
        let stack = self.walk_up(from, &mut met, m);
        self.walks.keep(from, Walk { met, stack: stack.clone() });
        stack
    }

    /// Walks from there, and notes the return addresses that are met.
    fn walk_up(
        &mut self,
        (pc, _, most, scripted): Start,
        met: &mut Vec<(u64, u64)>,
        m: &dyn Machine,
    ) -> Vec<Site> {
        const WORD: u64 = 8;
        let mut stack = Vec::new();
        let mut from_c_library = false;
        let mut registers = Registers { general: std::array::from_fn(|n| m.general(n)), pc };
        // Of a return address, the call before it is meant.
        let mut looked_up = pc;
        while let Some(file) = self.file_at(looked_up).cloned() {
            if scripted && file.python.is_some() {
                break;
            }
            if looked_up != pc && !file.is_c_library {
                stack.push(self.call_site(registers.pc, None, m));
            }
            if stack.len() == most {
                break;
            }
            let Some((_, offset)) = self.report.sites.locate(looked_up) else { break };
            let frames = self.frames.entry_ref(file.canonical.as_path());
            let frames = frames.or_insert_with(|| frames_of(&file.canonical));
            let callee = Registers { pc: offset, ..registers };
            let read = |address| read_u64(m, address).ok();
            let Some(caller) = frames.as_mut().and_then(|frames| frames.caller(&callee, read)) else {
                if from_c_library && !file.is_c_library {
                    // Code that starts the program.
                    stack.pop();
                }
                break;
            };
            // The stack grows downwards: a frame that is not further up is none.
            if caller.general[abi::RSP] <= registers.general[abi::RSP] {
                break;
            }
            met.push((caller.general[abi::RSP].wrapping_sub(WORD), caller.pc));
            from_c_library = file.is_c_library;
            registers = caller;
            looked_up = caller.pc - 1;
        }
        stack
    }
}

fn frames_of(path: &Path) -> Option<CallFrames> {
    SymbolFile::open(path).ok()?.call_frames()
}
