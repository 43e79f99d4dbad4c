//! Java's functions that turn text into a float, in code that HotSpot makes while the program runs: which addresses are
//! their entries, and the text that they are given.
//!
//! Such code has no symbols. The virtual machine's own tables tell the fields of its structures, which are read, never
//! written. The text is known where [`Entry`]'s methods that read it are entered, the float where the method that makes it
//! returns. Both are too large to be put into their callers. Frames lead to the line that asked for it. Knows nothing of
//! which text a user means.

mod code;
mod compressed;
mod frames;
mod layout;
mod memory;
mod methods;
mod strings;
mod tables;

pub(crate) use memory::Memory;
pub(crate) use tables::Exports;

use super::abi;
use super::libm::{self, Math};
use super::machine::Machine;
use hashbrown::HashMap;
use layout::Layout;
use shadowgrind_core::format::Format;
use shadowgrind_core::site::ScriptLine;
use tables::Tables;

/// Part that a method has in turning text into a float.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Reads the text that its first argument is.
    Reads,
    /// Returns the float.
    Makes(Format),
}

/// Entry of generated code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// The interpreter's for all methods of a kind: rbx points to the method.
    Interpreted,
    /// Entry of one method, which was compiled.
    Compiled(Role),
}

/// Method that is about to run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entered {
    pub(crate) role: Role,
    /// The stack pointer after its return.
    pub(crate) stack: u64,
    /// Address of the string that it is given, if it reads one.
    pub(crate) string: u64,
}

/// Text of a string: the address of its first character, the number of characters and bytes of each.
pub(crate) type Characters = (u64, u64, u64);

/// The class of the methods, and of those whose objects are numbers that were read.
const READER: &[u8] = b"jdk/internal/math/FloatingDecimal";
const NUMBERS: [&[u8]; 2] = [
    b"jdk/internal/math/FloatingDecimal$ASCIIToBinaryBuffer",
    b"jdk/internal/math/FloatingDecimal$PreparedASCIIToBinaryBuffer",
];
/// Name that people know the methods by.
pub(crate) const PARSER: &str = "FloatingDecimal";

/// Said where characters were not found.
const UNREADABLE: &str =
    "under these options Java's strings, which have the texts, are kept in a way that is not known";

/// Register of the frame, of the first argument of a compiled method, and of the caller's stack pointer where the interpreter is
/// entered.
const FRAME: usize = 5;
const FIRST_ARGUMENT: usize = 6;
const SENDER: usize = 13;
/// Bytes by which an adapter may have moved the arguments of a method with so few.
const MOVED: u64 = 1 << 10;

/// Java virtual machine in the program.
#[derive(Debug)]
pub(crate) struct Hotspot {
    exports: Exports,
    /// Layout of its structures, or the name of what its tables lack; nothing as long as they were not read.
    layout: Option<Result<Layout, String>>,
    /// The interpreter's entry for usual methods.
    interpreted: Option<u64>,
    /// True once the characters of a string were not found.
    is_unreadable: bool,
    /// Methods by address, each with that of its constant part and its role, if it has one.
    methods: HashMap<u64, (u64, Option<Role>)>,
}

impl Hotspot {
    /// The virtual machine with these tables.
    pub(crate) fn new(exports: Exports) -> Hotspot {
        Hotspot { exports, layout: None, interpreted: None, is_unreadable: false, methods: HashMap::new() }
    }

    /// The mathematical function that was made at `pc`, in code that is from no file, and its name.
    pub(crate) fn function(&self, pc: u64, memory: Memory<'_>) -> Option<(Math, &'static str)> {
        let name = self.exports.function(pc, memory)?;
        Some((libm::of_name(name)?, name))
    }

    /// The reason why texts that Java parses are not known, if there is one.
    pub(crate) fn unknown(&self) -> Option<String> {
        match &self.layout {
            Some(Err(missing)) => Some(format!("this version of Java does not tell where it has {missing}")),
            Some(Ok(_)) if self.is_unreadable => Some(UNREADABLE.to_owned()),
            _ => None,
        }
    }

    /// The structures, if they are known.
    fn known(&self) -> Option<&Layout> {
        self.layout.as_ref()?.as_ref().ok()
    }

    /// The entry at `pc`, in code that is from no file; nothing if none is there that matters.
    pub(crate) fn entry(&mut self, pc: u64, memory: Memory<'_>) -> Option<Entry> {
        if self.layout.is_none() {
            let tables = Tables::read(self.exports, memory)?;
            self.layout = Some(Layout::of(&tables));
        }
        let layout = self.known()?;
        let code = code::Code { layout, memory };
        let blob = code.blob(pc)?;
        match &*memory.string(memory.u64(blob + layout.blob_name)?)? {
            "Interpreter" => {
                let entry = self.interpreted.or_else(|| code.interpreted());
                self.interpreted = entry;
                (entry == Some(pc)).then_some(Entry::Interpreted)
            }
            "nmethod" if code.verified_entry(blob) == Some(pc) => {
                let method = memory.u64(blob + layout.compiled_method)?;
                self.role(method, memory).map(Entry::Compiled)
            }
            _ => None,
        }
    }

    /// The method that the thread is about to run at an entry, if it matters.
    pub(crate) fn entered(&mut self, entry: Entry, m: &dyn Machine) -> Option<Entered> {
        let read = |address: u64, into: &mut [u8]| m.read(address, into).is_ok();
        let memory = Memory(&read);
        let top = m.general(abi::RSP);
        if let Entry::Compiled(role) = entry {
            return Some(Entered { role, stack: top.wrapping_add(8), string: m.general(FIRST_ARGUMENT) });
        }
        let method = m.general(abi::RBX);
        let role = self.role(method, memory)?;
        let layout = self.known()?;
        let constant = memory.u64(method + layout.const_method)?;
        let parameters = u64::from(memory.u16(constant + layout.parameters)?);
        let string = memory.u64(top.wrapping_add(8 * parameters))?;
        let sender = m.general(SENDER);
        let stack = if sender.wrapping_sub(top) <= MOVED { sender } else { top.wrapping_add(8) };
        Some(Entered { role, stack, string })
    }

    /// The user's line that had a method called which is entered now, returns to `at` and leaves this stack pointer.
    pub(crate) fn line(&self, at: u64, stack: u64, m: &dyn Machine) -> Option<ScriptLine> {
        let read = |address: u64, into: &mut [u8]| m.read(address, into).is_ok();
        let (layout, memory) = (self.known()?, Memory(&read));
        let methods = methods::Methods { layout, lines: layout.lines?, memory };
        let frames = frames::Frames { code: code::Code { layout, memory }, methods };
        frames.line(frames::Caller { pc: at, stack, frame: m.general(FRAME) })
    }

    /// The characters of the string at `address`.
    pub(crate) fn characters(&mut self, address: u64, m: &dyn Machine) -> Option<Characters> {
        let read = |address: u64, into: &mut [u8]| m.read(address, into).is_ok();
        let found = strings::Objects { layout: self.known()?, memory: Memory(&read) }.characters(address);
        self.is_unreadable |= found.is_none() && address != 0;
        found
    }

    /// The role of the method at `method`. Another may come to be there when its class is unloaded.
    fn role(&mut self, method: u64, memory: Memory<'_>) -> Option<Role> {
        let layout = self.layout.as_ref()?.as_ref().ok()?;
        let constant = memory.u64(method.checked_add(layout.const_method)?)?;
        match self.methods.get(&method) {
            Some(&(known, role)) if known == constant => role,
            _ => {
                let role = role_of(layout, constant, memory);
                self.methods.insert(method, (constant, role));
                role
            }
        }
    }
}

/// The role of the method whose constant part is at `constant`.
fn role_of(layout: &Layout, constant: u64, memory: Memory<'_>) -> Option<Role> {
    let pool = memory.u64(constant.checked_add(layout.constants)?)?;
    let holder = memory.u64(pool.checked_add(layout.pool_holder)?)?;
    let class = memory.u64(holder.checked_add(layout.klass_name)?)?;
    let index = u64::from(memory.u16(constant + layout.name_index)?);
    let name = memory.u64(pool + layout.pool_size + 8 * index)?;
    let is = |symbol, text| is_symbol(layout, symbol, text, memory);
    if is(class, READER) {
        return is(name, b"readJavaFormatString").then_some(Role::Reads);
    }
    if !NUMBERS.iter().any(|number| is(class, number)) {
        return None;
    }
    let format = |name_of, format| is(name, name_of).then_some(Role::Makes(format));
    format(b"doubleValue", Format::F64).or_else(|| format(b"floatValue", Format::F32))
}

/// Tells whether the virtual machine's symbol at `symbol` is this text.
fn is_symbol(layout: &Layout, symbol: u64, text: &[u8], memory: Memory<'_>) -> bool {
    let length = symbol.checked_add(layout.symbol_length).and_then(|at| memory.u16(at));
    length.is_some_and(|length| usize::from(length) == text.len())
        && memory.is(symbol.wrapping_add(layout.symbol_body), text)
}
