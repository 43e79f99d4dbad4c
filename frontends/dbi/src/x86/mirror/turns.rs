//! Turns of a loop that a block closes on itself, without AVX-512: registers that are spilled stay so from one turn to the
//! next, and shadows that a turn hands to the next stay in them.
//!
//! Before its first instruction such a block spills registers that no turn uses, and loads into some of them the shadows
//! that a turn reads before it writes them. There a turn *begins*. The branch back goes there, past what comes before,
//! once registers hold again what they held then, whether memory has that too or not. Everything else that leads to the
//! block, and a branch back where more has changed than can be put right, goes to its entry.
//!
//! What is spilled must not depend on anything in which an isolated block differs (`isolation`), which never branches so.

use crate::context::SPILL_SLOTS;
use crate::x86::access::{is_read, is_write};
use crate::x86::code::{ExitKind, ExitSite, SpilledVector};
use crate::x86::emit::Emitter;
use crate::x86::insn::{Flow, Insn};
use crate::x86::mode::Mode;
use crate::x86::rows;
use crate::x86::superblock::Superblock;
use crate::x86::table::Row;
use iced_x86::InstructionInfoFactory;

use super::{Mirror, Settings};

/// Registers that are left for the values of rules, at least and if there are any.
const LEAST: usize = 5;
const MOST: usize = 7;
/// Registers that moves and comparisons take.
const FEWEST: usize = 3;

/// Registers where a turn begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beginning {
    /// The guest address of the loop, and the host address at which its turns begin.
    target: u64,
    entry: u64,
    mode: Mode,
    /// The top of the x87 stack is the mode's, and code of the turn does not ask again.
    knows_top: bool,
    spilled: [Option<SpilledVector>; SPILL_SLOTS],
    /// For each guest vector register, the register that holds its shadow.
    held: [Option<u8>; 16],
}

/// Index of the last instruction that branches back to the start of `block`, if everything up to there keeps registers
/// spilled, and something computes.
fn last_of_turn(block: &Superblock) -> Option<usize> {
    let goes_back =
        |insn: &Insn| insn.flow == Flow::SideExit && insn.decoded.near_branch_target() == block.start;
    let last = block.insns.iter().rposition(goes_back)?;
    let turn = &block.insns[..=last];
    let stays = |insn: &Insn| {
        use Flow::{CertainReturn, FollowedCall, FollowedJump, SideExit, Straight};
        matches!(insn.flow, Straight | SideExit | FollowedJump | FollowedCall | CertainReturn)
    };
    let computes = |insn: &Insn| rows::row(&insn.decoded).computes();
    (turn.iter().all(stays) && turn.iter().any(computes)).then_some(last)
}

/// Vector registers that a turn reads before it writes them, those first that it writes later.
fn handed_on(turn: &[Insn], facts: &mut InstructionInfoFactory) -> Vec<u8> {
    let (mut read, mut written) = (0_u16, 0_u16);
    for insn in turn {
        let used = facts.info(&insn.decoded).used_registers().iter();
        let vectors =
            used.filter(|used| used.register().is_vector_register() && used.register().number() < 16);
        let (mut reads, mut writes) = (0, 0);
        for used in vectors {
            let bit = 1 << used.register().number();
            reads |= if is_read(used.access()) { bit } else { 0 };
            writes |= if is_write(used.access()) { bit } else { 0 };
        }
        read |= reads & !written;
        written |= writes;
    }
    let of = |mask: u16| (0..16).filter(move |n| mask >> n & 1 == 1);
    of(read & written).chain(of(read & !written)).collect()
}

impl Mirror {
    /// Tells whether shadows are in memory, and computed beside the guest's operations.
    fn has_turns(&self) -> bool {
        let Settings { in_registers, records, appends, slow, wide, rule, .. } = self.settings;
        in_registers == 0 && rule.is_some() && !records && !appends && !slow && !wide
    }
}

impl Emitter {
    /// Before the first instruction of `block`: prepares for its turns, if it is a loop.
    pub(super) fn begin_turns(&mut self, block: &Superblock) {
        self.mirror().beginning = None;
        if !self.mirror().has_turns() || self.mode.is_off() {
            return;
        }
        let Some(last) = last_of_turn(block) else { return };
        let free: Vec<u8> = self.mirror().temporaries.unused_up_to(last);
        if free.len() < LEAST {
            return;
        }
        let mut carried = handed_on(&block.insns[..=last], &mut self.facts);
        carried.truncate(free.len() - LEAST);
        let values = self.values_of(&block.insns[..=last], &carried);
        let wanted = (values + carried.len()).min(free.len()).min(SPILL_SLOTS);
        for &register in &free[..wanted] {
            self.spill(register);
        }
        for (&n, &register) in carried.iter().zip(&free[..wanted]) {
            self.load_shadow(n, register);
        }
        let temporaries = &mut self.mirror().temporaries;
        temporaries.begin_turn(last, &carried);
        let (spilled, held) = (temporaries.spilled(), temporaries.held());
        let (target, entry, mode) = (block.start, self.out.hot.here(), self.mode);
        let knows_top = self.mirror().top_is_known;
        self.mirror().beginning = Some(Beginning { target, entry, mode, knows_top, spilled, held });
    }

    /// Number of registers for what a turn computes beside the shadows that are carried.
    fn values_of(&mut self, turn: &[Insn], carried: &[u8]) -> usize {
        let inline = self.inline_rule();
        let takes = |insn: &Insn| match rows::row(&insn.decoded) {
            Row::Arith(op, ..) | Row::Unary(op, ..) | Row::Fused(op, ..) => inline.temporaries(op),
            _ => FEWEST,
        };
        let most = turn.iter().map(takes).max().unwrap_or(FEWEST);
        let mut written = 0_u16;
        for insn in turn {
            let used = self.facts.info(&insn.decoded).used_registers().iter();
            let vectors = used.filter(|used| used.register().is_vector_register() && is_write(used.access()));
            written |= vectors.fold(0, |mask, used| mask | 1 << (used.register().number() & 15));
        }
        let others = (0..16_u8).filter(|n| written >> n & 1 == 1 && !carried.contains(n)).count();
        (most + others).min(MOST)
    }

    /// Before a branch to guest address `target`: puts registers as they are where a turn begins; the host address of
    /// that. Nothing if none begins there, or more has changed.
    pub(in crate::x86) fn turns_back(&mut self, target: u64) -> Option<u64> {
        let beginning = self.mirror.as_ref()?.beginning.filter(|beginning| beginning.target == target)?;
        if beginning.knows_top && !self.mirror().top_is_known {
            return None;
        }
        let spilled = self.mirror().temporaries.spilled();
        let is_there =
            |(then, now): (&Option<SpilledVector>, &Option<SpilledVector>)| then.is_none() || then == now;
        if self.rcx_spilled
            || self.mode != beginning.mode
            || !beginning.spilled.iter().zip(&spilled).all(is_there)
        {
            return None;
        }
        let more = spilled.iter().zip(&beginning.spilled).filter(|(now, then)| now != then);
        let more = more.filter_map(|(now, _)| *now).fold(0, |mask, spilled| mask | 1 << spilled.register);
        self.put_back(more);
        self.hold_again(&beginning.held);
        self.loops.then_some(beginning.entry)
    }

    /// Has registers hold the shadows of the guest registers that they held before, and memory those that nothing is to hold.
    fn hold_again(&mut self, before: &[Option<u8>; 16]) {
        let elsewhere = (0..16).filter(|&n| before[n].is_none()).fold(0, |mask, n| mask | 1 << n);
        self.save_shadows(elsewhere);
        let wanted = (0..16_u8).filter_map(|n| Some((n, before[usize::from(n)]?)));
        let mut left: Vec<(u8, u8)> = wanted.collect();
        loop {
            let held = self.mirror().temporaries.held();
            left.retain(|&(n, register)| held[usize::from(n)] != Some(register));
            // One that is not to be moved elsewhere any more may be overwritten; in a circle, one is had from memory.
            let is_source = |register| left.iter().any(|&(n, _)| held[usize::from(n)] == Some(register));
            let free = left.iter().position(|&(_, register)| !is_source(register));
            let Some(&(n, register)) = free.map_or(left.first(), |at| left.get(at)) else { return };
            match held[usize::from(n)].filter(|_| free.is_some()) {
                Some(from) => {
                    let (bytes, saved) = (self.shadow_bytes(), !self.mirror().temporaries.is_unsaved(n));
                    self.release(register);
                    self.move_shadow(register, from, bytes);
                    self.hold(n, register, saved);
                }
                None => {
                    let circle = left.iter().fold(0, |mask, (n, _)| mask | 1 << n);
                    self.save_shadows(circle);
                    self.load_shadow(n, register);
                }
            }
        }
    }

    /// Loads the shadow of vector register `n`, which memory has, into `register`, which is spilled and holds it then.
    fn load_shadow(&mut self, n: u8, register: u8) {
        self.release(register);
        let (mem, bytes) = (self.shadow_memory(n), self.shadow_bytes());
        self.out.hot.vector_load(register, mem, bytes);
        self.hold(n, register, true);
    }

    /// Has the branch at `field` go on at `entry`, where a turn begins, unless the thread is wanted: then it goes to the block at
    /// `target` like any other.
    pub(in crate::x86) fn link_turn(&mut self, field: crate::x86::asm::Rel32, target: u64, entry: u64) {
        let start = self.out.cold.here();
        self.put_back_in_passing();
        let onwards = self.out.cold.jmp_open();
        let stub = self.stub(ExitKind::Jump(target, self.mode), onwards.0);
        self.out.cold.patch(onwards, stub);
        self.out.hot.patch(field, entry);
        let site = ExitSite { kind: ExitKind::Turn(entry), patch: field.0, stub: start, mode: self.mode };
        self.out.exits.push(site);
    }
}
