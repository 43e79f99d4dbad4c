//! Returns that surely go back to the call they belong to, so that nothing has to compare the address.
//!
//! Follows rsp and rbp through a superblock, as offsets from values that are not known themselves, and with them what was
//! pushed: a return is certain if the address that its call pushed is still there, whatever else was stored meanwhile. A
//! store through any other register may have gone anywhere. Knows no code but the superblock's: what another thread stores
//! on this one's stack between the call and the return comes too late, as it might have natively.

use super::access::is_write;
use super::insn::{Flow, Insn};
use super::rows;
use super::table::{General, Integral, Row};
use iced_x86::{FlowControl, Instruction, InstructionInfoFactory, OpKind, Register, UsedMemory};

/// Bytes of a return address, and of rbp.
const WORD: i64 = 8;

/// Makes the expected returns among `insns`, a superblock in order of execution, certain ones where they are.
pub(super) fn make_certain(insns: &mut [Insn]) {
    let mut walk = Walk::new();
    let mut facts = InstructionInfoFactory::new();
    for insn in insns {
        match insn.flow {
            Flow::FollowedCall => walk.push(WORD, Some(Pushed::Address(insn.decoded.next_ip()))),
            Flow::ExpectedReturn(address) => {
                if walk.pushed_at(walk.rsp) == Some(Pushed::Address(address)) {
                    insn.flow = Flow::CertainReturn;
                }
                walk.rsp = walk.rsp.plus(return_pops(&insn.decoded));
            }
            Flow::Straight => walk.straight(&insn.decoded, &mut facts),
            _ => {}
        }
    }
}

/// Place of the return address that the last of `insns` takes, if it is a return that leaves the superblock: at this
/// distance from the content of this register, rsp or rbp, before the first.
pub(crate) fn address_taken(insns: &[Insn]) -> Option<(Register, i64)> {
    let (last, others) = insns.split_last()?;
    if last.flow != Flow::Ends || last.decoded.flow_control() != FlowControl::Return {
        return None;
    }
    let mut walk = Walk::new();
    let mut facts = InstructionInfoFactory::new();
    for insn in others {
        match insn.flow {
            Flow::FollowedCall => walk.push(WORD, None),
            Flow::ExpectedReturn(_) | Flow::CertainReturn => {
                walk.rsp = walk.rsp.plus(return_pops(&insn.decoded));
            }
            _ => walk.straight(&insn.decoded, &mut facts),
        }
    }
    let register = [Register::RSP, Register::RBP].into_iter().nth(walk.rsp.origin)?;
    Some((register, walk.rsp.offset))
}

/// Bytes by which the return instruction `insn` moves rsp.
pub(super) fn return_pops(insn: &Instruction) -> i64 {
    let arguments = if insn.op_count() == 1 { i64::from(insn.immediate16()) } else { 0 };
    WORD + arguments
}

/// The sum of an unknown number, of which two are never compared, and a known one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Value {
    origin: usize,
    offset: i64,
}

impl Value {
    fn plus(self, bytes: i64) -> Self {
        Value { offset: self.offset.wrapping_add(bytes), ..self }
    }
}

/// Content of eight bytes of the stack, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pushed {
    /// Return address.
    Address(u64),
    /// Value of rbp.
    Frame(Value),
}

struct Walk {
    rsp: Value,
    rbp: Value,
    /// Number of origins.
    origins: usize,
    /// Pushed values, by their places on the stack.
    pushed: Vec<(Value, Pushed)>,
}

impl Walk {
    fn new() -> Self {
        Walk {
            rsp: Value { origin: 0, offset: 0 },
            rbp: Value { origin: 1, offset: 0 },
            origins: 2,
            pushed: Vec::new(),
        }
    }

    fn unknown(&mut self) -> Value {
        self.origins += 1;
        Value { origin: self.origins - 1, offset: 0 }
    }

    fn pushed_at(&self, address: Value) -> Option<Pushed> {
        self.pushed.iter().find(|(at, _)| *at == address).map(|(_, what)| *what)
    }

    /// Forgets what `bytes` bytes stored at `address` may have replaced.
    fn store(&mut self, address: Value, bytes: i64) {
        self.pushed.retain(|(at, _)| {
            let distance = address.offset.wrapping_sub(at.offset);
            at.origin == address.origin && (distance >= WORD || distance <= -bytes)
        });
    }

    fn push(&mut self, bytes: i64, what: Option<Pushed>) {
        self.rsp = self.rsp.plus(-bytes);
        self.store(self.rsp, bytes);
        self.pushed.extend(what.map(|what| (self.rsp, what)));
    }

    fn pop_frame(&mut self) {
        self.rbp = match self.pushed_at(self.rsp) {
            Some(Pushed::Frame(value)) => value,
            _ => self.unknown(),
        };
        self.rsp = self.rsp.plus(WORD);
    }

    fn straight(&mut self, insn: &Instruction, facts: &mut InstructionInfoFactory) {
        let wide = |operand: Register| operand.size() == WORD as usize;
        let row = rows::row(insn);
        match (row, insn.op0_register()) {
            (Row::General(General::Push), pushed) if insn.op0_kind() == OpKind::Register && wide(pushed) => {
                let frame = (pushed == Register::RBP).then_some(Pushed::Frame(self.rbp));
                self.push(WORD, frame);
            }
            (Row::General(General::Pop), Register::RBP) => self.pop_frame(),
            (Row::General(General::Pop), popped) if wide(popped) && popped != Register::RSP => {
                self.rsp = self.rsp.plus(WORD);
            }
            (Row::General(General::Leave), _) if rows::operand_bits(insn.code()) == 64 => {
                self.rsp = self.rbp;
                self.pop_frame();
            }
            (_, result @ (Register::RSP | Register::RBP)) => match self.sum(row, insn) {
                Some(sum) => self.set(result, sum),
                None => self.other(insn, facts),
            },
            _ => self.other(insn, facts),
        }
    }

    /// Value that `insn` of this row gives its first operand, a whole register, if that is a known sum.
    fn sum(&self, row: Row, insn: &Instruction) -> Option<Value> {
        use General::{Bits, Move};
        let immediate = || insn.try_immediate(1).ok().map(|bytes| bytes as i64);
        match row {
            _ if rows::computes_address(insn) => {
                let base =
                    self.value(insn.memory_base()).filter(|_| insn.memory_index() == Register::None)?;
                Some(base.plus(insn.memory_displacement64() as i64))
            }
            Row::General(Move) if insn.op1_kind() == OpKind::Register => self.value(insn.op1_register()),
            Row::General(Bits(Integral::Add)) => Some(self.value(insn.op0_register())?.plus(immediate()?)),
            Row::General(Bits(Integral::Subtract)) => {
                Some(self.value(insn.op0_register())?.plus(immediate()?.wrapping_neg()))
            }
            _ => None,
        }
    }

    fn value(&self, register: Register) -> Option<Value> {
        match register {
            Register::RSP => Some(self.rsp),
            Register::RBP => Some(self.rbp),
            _ => None,
        }
    }

    fn set(&mut self, register: Register, value: Value) {
        match register {
            Register::RSP => self.rsp = value,
            _ => self.rbp = value,
        }
    }

    /// Any instruction: what it stores where is asked of the decoder.
    fn other(&mut self, insn: &Instruction, facts: &mut InstructionInfoFactory) {
        let info = facts.info(insn);
        for memory in info.used_memory().iter().filter(|memory| is_write(memory.access())) {
            match self.address(memory) {
                Some(address) => self.store(address, memory.memory_size().size() as i64),
                None => self.pushed.clear(),
            }
        }
        for register in [Register::RSP, Register::RBP] {
            let is_it = |used: Register| used.full_register() == register;
            if info.used_registers().iter().any(|used| is_it(used.register()) && is_write(used.access())) {
                let value = self.unknown();
                self.set(register, value);
            }
        }
    }

    /// The address of a memory operand whose size is known, if it is a known sum.
    fn address(&self, memory: &UsedMemory) -> Option<Value> {
        let plain = memory.index() == Register::None
            && matches!(memory.segment(), Register::SS | Register::DS)
            && memory.memory_size().size() > 0;
        let base = self.value(memory.base()).filter(|_| plain)?;
        Some(base.plus(memory.displacement() as i64))
    }
}

#[cfg(test)]
mod tests {
    use super::super::discover::discovered;
    use super::*;

    /// Tells whether each return of the code at 0x1000 is certain, in order of execution.
    fn certain(code: &[u8]) -> Vec<bool> {
        let flow = |insn: &Insn| match insn.flow {
            Flow::CertainReturn => Some(true),
            Flow::ExpectedReturn(_) => Some(false),
            _ => None,
        };
        discovered(0x1000, code, 9).insns.iter().filter_map(flow).collect()
    }

    /// `call f; jmp rax; f: body`.
    fn of_body(body: &[u8]) -> Vec<bool> {
        certain(&[b"\xe8\x02\0\0\0\xff\xe0", body].concat())
    }

    #[test]
    fn frames_and_locals_leave_the_address_alone() {
        // push rbp; mov rbp, rsp; sub rsp, 16; mov [rbp-8], rdi; movsd [rsp], xmm0; leave; ret
        let body = b"\x55\x48\x89\xe5\x48\x83\xec\x10\x48\x89\x7d\xf8\xf2\x0f\x11\x04\x24\xc9\xc3";
        assert_eq!(of_body(body), [true]);
        // push rbx; lea rsp, [rsp-8]; add rsp, 8; pop rbx; ret 16
        assert_eq!(of_body(b"\x53\x48\x8d\x64\x24\xf8\x48\x83\xc4\x08\x5b\xc2\x10\0"), [true]);
    }

    #[test]
    fn calls_within_calls_restore_the_outer_frame() {
        // call f; jmp rax; f: push rbp; mov rbp, rsp; call g; pop rbp; ret; g: push rbp; mov rbp, rsp; pop rbp; ret
        let code = b"\xe8\x02\0\0\0\xff\xe0\x55\x48\x89\xe5\xe8\x02\0\0\0\x5d\xc3\x55\x48\x89\xe5\x5d\xc3";
        assert_eq!(certain(code), [true, true]);
    }

    #[test]
    fn stores_that_may_reach_the_address_leave_it_uncertain() {
        // mov [rax], rdi; ret - anywhere. mov [rsp], rdi; ret and mov byte [rsp+7], al; ret - the address itself.
        assert_eq!(of_body(b"\x48\x89\x38\xc3"), [false]);
        assert_eq!(of_body(b"\x48\x89\x3c\x24\xc3"), [false]);
        assert_eq!(of_body(b"\x88\x44\x24\x07\xc3"), [false]);
        // mov [rsp-4], rdi; ret - across its lower end. mov [rsp-8], rdi; ret and mov [rsp+8], rdi; ret - beside it.
        assert_eq!(of_body(b"\x48\x89\x7c\x24\xfc\xc3"), [false]);
        assert_eq!(of_body(b"\x48\x89\x7c\x24\xf8\xc3"), [true]);
        assert_eq!(of_body(b"\x48\x89\x7c\x24\x08\xc3"), [true]);
        // mov [rsp+rax], rdi; ret, rep stosb; ret, mov fs:[rsp+8], rdi; ret
        assert_eq!(of_body(b"\x48\x89\x3c\x04\xc3"), [false]);
        assert_eq!(of_body(b"\xf3\xaa\xc3"), [false]);
        assert_eq!(of_body(b"\x64\x48\x89\x7c\x24\x08\xc3"), [false]);
        // push qword [rsp]; pop qword [rsp]; ret
        assert_eq!(of_body(b"\xff\x34\x24\x8f\x04\x24\xc3"), [false]);
    }

    #[test]
    fn a_moved_stack_leaves_it_uncertain() {
        // pop rax; push rax; ret - the same address, but nothing says so.
        assert_eq!(of_body(b"\x58\x50\xc3"), [false]);
        // mov rsp, rax; ret; xchg rsp, rbp; ret; and rsp, -16; ret; add esp, 0; ret
        assert_eq!(of_body(b"\x48\x89\xc4\xc3"), [false]);
        assert_eq!(of_body(b"\x48\x87\xec\xc3"), [false]);
        assert_eq!(of_body(b"\x48\x83\xe4\xf0\xc3"), [false]);
        assert_eq!(of_body(b"\x83\xc4\0\xc3"), [false]);
        // push rbp; mov [rax], rdi; pop rbp; mov rsp, rbp; ret - rbp is no longer known.
        assert_eq!(of_body(b"\x55\x48\x89\x38\x5d\x48\x89\xec\xc3"), [false]);
    }

    #[test]
    fn the_address_taken_is_found_from_the_stack_or_the_frame() {
        let taken = |code: &[u8]| address_taken(&discovered(0x1000, code, 9).insns);
        assert_eq!(taken(b"\xc3"), Some((Register::RSP, 0)));
        // push rbx; sub rsp, 16; mov [rax], rdi; add rsp, 16; pop rbx; ret
        let code = b"\x53\x48\x83\xec\x10\x48\x89\x38\x48\x83\xc4\x10\x5b\xc3";
        assert_eq!(taken(code), Some((Register::RSP, 0)));
        // add rsp, 24; pop rbx; ret
        assert_eq!(taken(b"\x48\x83\xc4\x18\x5b\xc3"), Some((Register::RSP, 32)));
        // leave; ret
        assert_eq!(taken(b"\xc9\xc3"), Some((Register::RBP, 8)));
        // call f; ret; f: ret
        assert_eq!(taken(b"\xe8\x01\0\0\0\xc3\xc3"), Some((Register::RSP, 0)));
        // mov rsp, rax; ret; jmp rax
        assert_eq!(taken(b"\x48\x89\xc4\xc3"), None);
        assert_eq!(taken(b"\xff\xe0"), None);
    }
}
