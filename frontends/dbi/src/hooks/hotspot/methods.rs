//! Methods of Java: whether a pointer leads to one, whether a byte of its code is a call, and the line of that.
//!
//! Nothing is believed that is not borne out: the class of a method has the very pool that the method has.

use super::compressed::Form;
use super::layout::{Layout, Lines, SourceFile};
use super::memory::Memory;
use shadowgrind_core::site::ScriptLine;

/// Bit of a method's flags: there is a table of lines.
const HAS_LINES: u8 = 1;
/// Bytecodes that call, and the first of those that the interpreter puts in the place of others.
const CALLS: std::ops::RangeInclusive<u8> = 0xb6..=0xba;
const INTERNAL: u8 = 0xca;
/// Longest name, and longest table, in bytes.
const LONGEST_NAME: u16 = 1 << 12;
const LONGEST_TABLE: u64 = 1 << 20;
/// Beginnings of the names of Java's own classes.
const OWN: [&str; 5] = ["java/", "javax/", "jdk/", "sun/", "com/sun/"];

/// Method, by the addresses of its constant part, its pool of constants and its class.
#[derive(Clone, Copy, Debug)]
pub(super) struct Method {
    constant: u64,
    pool: u64,
    holder: u64,
}

/// Reader of methods.
#[derive(Clone, Copy)]
pub(super) struct Methods<'a> {
    pub(super) layout: &'a Layout,
    pub(super) lines: Lines,
    pub(super) memory: Memory<'a>,
}

impl Methods<'_> {
    /// The method at `address`.
    pub(super) fn at(&self, address: u64) -> Option<Method> {
        let Methods { layout, lines, memory } = *self;
        let constant = memory.u64(address.checked_add(layout.const_method)?)?;
        let pool = memory.u64(constant.checked_add(layout.constants)?)?;
        let holder = memory.u64(pool.checked_add(layout.pool_holder)?)?;
        let own = memory.u64(holder.checked_add(lines.klass_pool)?)?;
        (own == pool).then_some(Method { constant, pool, holder })
    }

    /// Form of compressed numbers.
    pub(super) fn form(&self) -> Option<Form> {
        self.memory.u32(self.lines.version).map(Form::of)
    }

    /// Place in the method's code of the byte at `address`.
    pub(super) fn place(&self, method: Method, address: u64) -> Option<u32> {
        let place = address.checked_sub(method.constant.checked_add(self.lines.constant_size)?)?;
        u32::try_from(place).ok()
    }

    /// Tells whether byte `place` of the method's code is a call.
    pub(super) fn calls(&self, method: Method, place: u32) -> bool {
        let code = method.constant.wrapping_add(self.lines.constant_size);
        let byte = self.memory.u8(code.wrapping_add(place.into()));
        self.code_size(method).is_some_and(|size| place < size)
            && byte.is_some_and(|byte| CALLS.contains(&byte) || byte >= INTERNAL)
    }

    fn code_size(&self, method: Method) -> Option<u32> {
        self.memory.u16(method.constant.checked_add(self.lines.code_size)?).map(u32::from)
    }

    /// Tells whether the class of the method is one of Java's own; nothing if its name cannot be read.
    pub(super) fn is_own(&self, method: Method) -> Option<bool> {
        let class = self.class(method)?;
        Some(OWN.iter().any(|beginning| class.starts_with(beginning)))
    }

    fn class(&self, method: Method) -> Option<String> {
        self.symbol(self.memory.u64(method.holder.checked_add(self.layout.klass_name)?)?)
    }

    /// The line of byte `place` of the method's code: its file is where the class's package has it.
    pub(super) fn line(&self, method: Method, place: u32) -> Option<ScriptLine> {
        let class = self.class(method)?;
        let name = self.constant(method, self.memory.u16(method.constant + self.layout.name_index)?)?;
        let source = match self.lines.source_file {
            SourceFile::Pool(at) => self.memory.u16(method.pool + at)?,
            SourceFile::Klass(at) => self.memory.u16(method.holder + at)?,
        };
        let package = class.rfind('/').map_or("", |end| &class[..=end]);
        let file = format!("{package}{}", self.constant(method, source).filter(|_| source != 0)?);
        let line = self.form()?.line(&self.table(method)?, place, self.code_size(method)?)?;
        Some(ScriptLine { file, function: format!("{}.{name}", class.replace('/', ".")), line })
    }

    /// The table of lines, and what is behind it.
    fn table(&self, method: Method) -> Option<Vec<u8>> {
        let Method { constant, .. } = method;
        let has_lines = self.memory.u8(constant + self.lines.flags)? & HAS_LINES != 0;
        let first = self.lines.constant_size + u64::from(self.code_size(method)?);
        let end = 8 * u64::from(self.memory.u32(constant + self.lines.words)?);
        let length = end.checked_sub(first).filter(|&length| has_lines && length <= LONGEST_TABLE)?;
        self.memory.piece(constant + first, length as usize)
    }

    /// The symbol of this number in the method's pool.
    fn constant(&self, method: Method, index: u16) -> Option<String> {
        self.symbol(self.memory.u64(method.pool + self.layout.pool_size + 8 * u64::from(index))?)
    }

    /// Text of the virtual machine's symbol at `symbol`.
    fn symbol(&self, symbol: u64) -> Option<String> {
        let length = self.memory.u16(symbol.checked_add(self.layout.symbol_length)?)?;
        let text = (length <= LONGEST_NAME)
            .then(|| self.memory.piece(symbol + self.layout.symbol_body, length.into()))??;
        String::from_utf8(text).ok()
    }
}
