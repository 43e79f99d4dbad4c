//! Calls that led to a method of Java, by the frames of the interpreter and of compiled code.
//!
//! A frame is believed if all of it agrees: the interpreter's has a method, and a place in that method's code that is a call; a
//! compiled method tells of the very return address, by scopes whose outermost is its own. Where one does not, no more is said.
//! Frames of native code, and of other stubs, end the walk.

use super::code::Code;
use super::compressed::Form;
use super::layout::{Part, Scopes};
use super::methods::{Method, Methods};
use shadowgrind_core::site::ScriptLine;

/// Place in the code of a method.
type Scope = (Method, u32);

/// Frame of the interpreter: places from where rbp points to.
const RETURN: u64 = 8;
const SENDER: u64 = 8;
const METHOD: u64 = 24;
const BYTECODE: u64 = 64;

/// Frames that are looked at, methods that one was made of, and places of a compiled method, at most.
const DEEPEST: usize = 256;
const SCOPES: usize = 64;
const PLACES: u64 = 1 << 20;
/// Bytes of a scope that matter: three numbers.
const SCOPE: usize = 15;
/// Number of a scope's place at the beginning of the code: there is one less for where the method is entered.
const ENTERED: u32 = 1;

/// Call that is waited for: the return address, the stack pointer after the return, and rbp.
#[derive(Clone, Copy, Debug)]
pub(super) struct Caller {
    pub(super) pc: u64,
    pub(super) stack: u64,
    pub(super) frame: u64,
}

/// Reader of frames.
#[derive(Clone, Copy)]
pub(super) struct Frames<'a> {
    pub(super) code: Code<'a>,
    pub(super) methods: Methods<'a>,
}

impl Frames<'_> {
    /// The innermost line of a method that is none of Java's own, from `caller` outwards. What the virtual machine makes for a
    /// reference to a method has no lines.
    pub(super) fn line(&self, mut caller: Caller) -> Option<ScriptLine> {
        for _ in 0..DEEPEST {
            let (scopes, next) = self.frame(caller)?;
            let mut foreign =
                scopes.into_iter().filter(|&(method, _)| self.methods.is_own(method) == Some(false));
            let line = foreign.find_map(|(method, place)| self.methods.line(method, place));
            if line.is_some() {
                return line;
            }
            // The stack grows downwards: a frame that is not further up is none.
            caller = Some(next).filter(|next| next.stack > caller.stack)?;
        }
        None
    }

    /// The methods that wait in a frame, from the innermost outwards, and the frame's own caller.
    fn frame(&self, caller: Caller) -> Option<(Vec<Scope>, Caller)> {
        let Code { layout, memory } = self.code;
        let blob = self.code.blob(caller.pc)?;
        match &*memory.string(memory.u64(blob + layout.blob_name)?)? {
            "Interpreter" => self.interpreted(caller.frame),
            "nmethod" => self.compiled(blob, caller),
            _ => None,
        }
    }

    /// The frame of the interpreter at `frame`.
    fn interpreted(&self, frame: u64) -> Option<(Vec<Scope>, Caller)> {
        let below = |offset| self.code.memory.u64(frame.checked_sub(offset)?);
        let method = self.methods.at(below(METHOD)?)?;
        let place = self.methods.place(method, below(BYTECODE)?)?;
        let next = Caller {
            pc: self.code.memory.u64(frame.checked_add(RETURN)?)?,
            stack: below(SENDER)?,
            frame: below(0)?,
        };
        self.methods.calls(method, place).then(|| (vec![(method, place)], next))
    }

    /// The frame of the compiled method at `blob`.
    fn compiled(&self, blob: u64, caller: Caller) -> Option<(Vec<Scope>, Caller)> {
        let Code { layout, memory } = self.code;
        let own = layout.scopes?;
        let scopes = self.scopes(own, blob, caller.pc)?;
        let words = u64::from(memory.u32(blob + own.frame_size)?);
        let stack = caller.stack.checked_add(8 * words)?;
        let pc = memory.u64(stack.checked_sub(8)?)?;
        Some((scopes, Caller { pc, stack, frame: memory.u64(stack.checked_sub(16)?)? }))
    }

    /// The methods whose code the instruction before `pc` is, from the innermost outwards.
    fn scopes(&self, own: Scopes, blob: u64, pc: u64) -> Option<Vec<Scope>> {
        let memory = self.code.memory;
        let mut scope = self.scope_at(own, blob, pc)?;
        let (first, named) = (self.part(blob, own.scopes)?, self.part(blob, own.methods)?);
        let form = self.methods.form()?;
        let mut scopes = Vec::new();
        let mut outermost = 0;
        // A scope is behind that of its caller.
        while scope != 0 && scopes.len() < SCOPES {
            let (next, number, place) =
                numbers(form, &memory.piece(first.checked_add(scope.into())?, SCOPE)?)?;
            outermost = memory.u64(named.checked_add(8 * u64::from(number.checked_sub(1)?))?)?;
            let (method, place) = (self.methods.at(outermost)?, place.checked_sub(ENTERED)?);
            self.methods.calls(method, place).then(|| scopes.push((method, place)))?;
            scope = Some(next).filter(|&next| next < scope)?;
        }
        let is_whole = scope == 0 && outermost == memory.u64(blob + self.code.layout.compiled_method)?;
        is_whole.then_some(scopes)
    }

    /// Place of the scope of the instruction before `pc`.
    fn scope_at(&self, own: Scopes, blob: u64, pc: u64) -> Option<u32> {
        let memory = self.code.memory;
        let [first, end] = own.places.map(|part| self.part(blob, part));
        let (first, end) = (first?, end?);
        let offset = u32::try_from(pc.checked_sub(self.part(blob, own.code)?)?).ok()?;
        let count = end.checked_sub(first)?.checked_div(own.place_size)?;
        let mut places = (0..count.min(PLACES)).map(|index| first + index * own.place_size);
        let place = places.find(|place| memory.u32(place + own.place_code) == Some(offset))?;
        memory.u32(place + own.place_scope)
    }

    /// Address of a part of the compiled method at `blob`.
    fn part(&self, blob: u64, part: Part) -> Option<u64> {
        let memory = self.code.memory;
        let base = part.base.map_or(Some(blob), |at| memory.u64(blob + at))?;
        let offset = part.offset.map_or(Some(0), |at| memory.u32(blob + at))?;
        base.checked_add(offset.into())
    }
}

/// Numbers of a scope: its caller's, its method's and its place in the code.
fn numbers(form: Form, bytes: &[u8]) -> Option<(u32, u32, u32)> {
    let mut bytes = bytes.iter().copied();
    let mut number = || form.number(&mut bytes);
    Some((number()?, number()?, number()?))
}
