//! Sites: the places that shadows and reports talk about, interned to four bytes: guest instructions, as (module, offset),
//! and lines of scripts that the guest interprets.
//!
//! Knows which file was mapped where, so that an address becomes a module and an offset. Deliberately knows nothing of
//! symbols or lines of machine code: such a site is named only when a report is written, by whoever can read the module's
//! file.

use std::ops::Range;

use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

/// A guest instruction or a line of a script, interned in a [`SiteTable`].
///
/// The default is [`Site::NONE`]: a value that comes from no particular instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Site(u32);

impl Site {
    /// No instruction: an output sampled when the program exits, say.
    pub const NONE: Site = Site(0);

    /// The id as plain bits, for stores that keep sites in their own records.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// The site whose [`bits`](Site::bits) these are.
    pub const fn from_bits(bits: u32) -> Site {
        Site(bits)
    }
}

/// The number of a [`Module`] in its [`SiteTable`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ModuleIndex(u32);

/// A file (or `[vdso]`, `[anon]`: names in brackets, as in `/proc/self/maps`, are no files) that holds guest code.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Module {
    /// Path of the file when it was mapped, absolute.
    pub path: String,
    /// The GNU build id: a report written later can tell that the file has changed since.
    pub build_id: Option<Vec<u8>>,
}

/// Part of a module in guest memory: `offset = address − bias`.
#[derive(Clone, Debug)]
struct Mapped {
    range: Range<u64>,
    bias: u64,
    module: ModuleIndex,
}

/// A line of a script that is running.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ScriptLine {
    /// The script's file, as the interpreter calls it.
    pub file: String,
    /// The function, as the interpreter calls it.
    pub function: String,
    /// The line in the file, from 1.
    pub line: u32,
}

/// Place that a site stands for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Origin {
    Instruction(ModuleIndex, u64),
    Script(ScriptLine),
}

/// Every module and site of a run.
///
/// The offset of a site is the address its module was linked at, the one `nm` and `objdump` show: `pc − bias`.
#[derive(Clone, Debug, Default)]
pub struct SiteTable {
    modules: Vec<Module>,
    /// Sorted by start, disjoint.
    mapped: Vec<Mapped>,
    /// Site n is entry n − 1.
    sites: Vec<Origin>,
    interned: HashMap<Origin, Site>,
}

impl SiteTable {
    /// A table without modules.
    pub fn new() -> Self {
        SiteTable::default()
    }

    /// The index of `module`, added unless it is known: a library loaded twice is one module.
    pub fn add_module(&mut self, module: Module) -> ModuleIndex {
        let known = self.modules.iter().position(|m| *m == module);
        let index = known.unwrap_or_else(|| {
            self.modules.push(module);
            self.modules.len() - 1
        });
        ModuleIndex(u32::try_from(index).expect("fewer than 2^32 modules"))
    }

    /// The module `index` stands for.
    pub fn module(&self, index: ModuleIndex) -> &Module {
        &self.modules[index.0 as usize]
    }

    /// Records that `range` of guest memory now shows `module`, loaded `bias` above its link-time addresses.
    ///
    /// What was recorded there before is forgotten, as with `MAP_FIXED`; sites already interned keep their meaning.
    pub fn map(&mut self, range: Range<u64>, module: ModuleIndex, bias: u64) {
        if range.is_empty() {
            return;
        }
        self.unmap(range.clone());
        let at = self.mapped.partition_point(|m| m.range.start < range.start);
        self.mapped.insert(at, Mapped { range, bias, module });
    }

    /// Records that `range` of guest memory shows no module any more.
    pub fn unmap(&mut self, range: Range<u64>) {
        if range.is_empty() {
            return;
        }
        let first = self.mapped.partition_point(|m| m.range.end <= range.start);
        let end = self.mapped.partition_point(|m| m.range.start < range.end);
        let mut kept = Vec::new();
        for old in &self.mapped[first..end] {
            let (before, after) = (old.range.start..range.start, range.end..old.range.end);
            kept.extend(
                [before, after].into_iter().filter(|r| !r.is_empty()).map(|range| Mapped { range, ..*old }),
            );
        }
        self.mapped.splice(first..end, kept);
    }

    /// The module and offset at guest address `pc`, if a module is mapped there.
    pub fn locate(&self, pc: u64) -> Option<(ModuleIndex, u64)> {
        let at = self.mapped.partition_point(|m| m.range.end <= pc);
        let mapped = self.mapped.get(at).filter(|m| m.range.contains(&pc))?;
        Some((mapped.module, pc.wrapping_sub(mapped.bias)))
    }

    /// An address of the site, if it is mapped.
    pub fn address(&self, site: Site) -> Option<u64> {
        let (module, offset) = self.instruction(site)?;
        let addresses = self.mapped.iter().filter(|mapped| mapped.module == module);
        let mut addresses = addresses.map(|mapped| (mapped, offset.wrapping_add(mapped.bias)));
        addresses.find(|(mapped, address)| mapped.range.contains(address)).map(|(_, address)| address)
    }

    /// The site at guest address `pc`; [`Site::NONE`] where no module is mapped.
    pub fn at(&mut self, pc: u64) -> Site {
        match self.locate(pc) {
            Some((module, offset)) => self.intern(module, offset),
            None => Site::NONE,
        }
    }

    /// The site at `offset` of `module`.
    pub fn intern(&mut self, module: ModuleIndex, offset: u64) -> Site {
        self.intern_origin(Origin::Instruction(module, offset))
    }

    /// The site of a line of a script.
    pub fn script(&mut self, line: ScriptLine) -> Site {
        self.intern_origin(Origin::Script(line))
    }

    /// Module and offset of the instruction `site`; nothing for a line of a script, and for [`Site::NONE`].
    pub fn get(&self, site: Site) -> Option<(&Module, u64)> {
        let (module, offset) = self.instruction(site)?;
        Some((self.module(module), offset))
    }

    /// The line of a script that `site` is, if it is one.
    pub fn script_line(&self, site: Site) -> Option<&ScriptLine> {
        match self.origin(site)? {
            Origin::Script(line) => Some(line),
            Origin::Instruction(..) => None,
        }
    }

    fn intern_origin(&mut self, origin: Origin) -> Site {
        let sites = &mut self.sites;
        if let Some(&site) = self.interned.get(&origin) {
            return site;
        }
        sites.push(origin.clone());
        let site = Site(u32::try_from(sites.len()).expect("fewer than 2^32 sites"));
        self.interned.insert(origin, site);
        site
    }

    fn origin(&self, site: Site) -> Option<&Origin> {
        self.sites.get((site.0 as usize).checked_sub(1)?)
    }

    fn instruction(&self, site: Site) -> Option<(ModuleIndex, u64)> {
        match self.origin(site)? {
            Origin::Instruction(module, offset) => Some((*module, *offset)),
            Origin::Script(_) => None,
        }
    }
}

/// Names of a site once symbols have been read: SITE of the JSON report. Unknown parts are `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Path of the module.
    pub module: Option<String>,
    /// Link-time address within the module.
    pub offset: Option<u64>,
    /// The innermost function, inlined ones included, demangled.
    pub function: Option<String>,
    /// Source file, as the compiler recorded it.
    pub file: Option<String>,
    /// Line in `file`, from 1.
    pub line: Option<u32>,
    /// Column in the line, from 1.
    pub column: Option<u32>,
    /// The callers `function` was inlined into, outwards.
    pub inlined_by: Vec<Frame>,
}

impl Place {
    /// Tells whether the code is of this line of a file of this name, or was inlined into it.
    pub fn is_line(&self, file: &str, line: u32) -> bool {
        let is_file = |path: &str| path == file || path.ends_with(&format!("/{file}"));
        let is =
            |path: &Option<String>, at: Option<u32>| path.as_deref().is_some_and(is_file) && at == Some(line);
        is(&self.file, self.line) || self.inlined_by.iter().any(|frame| is(&frame.file, frame.line))
    }
}

/// Folders of what languages bring with them: headers, and sources of their own libraries.
const OF_LANGUAGES: [&str; 6] =
    ["/usr/include/", "/usr/lib/", "/usr/local/go/", "/usr/share/", "/rustc/", "/.cargo/registry/"];

/// Tells whether a source file is the user's: none that comes with a language.
fn is_users(file: &str) -> bool {
    !OF_LANGUAGES.iter().any(|folder| match folder.starts_with("/.") {
        true => file.contains(folder),
        false => file.starts_with(folder),
    })
}

impl Place {
    /// The part of it that is the user's: the innermost line of a file that does not come with the language, and what that was
    /// inlined into.
    pub fn users(&self) -> Option<Place> {
        let is_line = |file: &Option<String>, line: Option<u32>| {
            line.is_some() && file.as_deref().is_some_and(is_users)
        };
        if is_line(&self.file, self.line) {
            return Some(self.clone());
        }
        let at = self.inlined_by.iter().position(|frame| is_line(&frame.file, frame.line))?;
        let Frame { function, file, line } = self.inlined_by[at].clone();
        let inlined_by = self.inlined_by[at + 1..].to_vec();
        let Place { module, offset, .. } = self.clone();
        Some(Place { module, offset, function, file, line, column: None, inlined_by })
    }
}

impl From<&ScriptLine> for Place {
    fn from(line: &ScriptLine) -> Place {
        let ScriptLine { file, function, line } = line.clone();
        Place { function: Some(function), file: Some(file), line: Some(line), ..Place::default() }
    }
}

/// A caller that an inlined function became part of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    /// The caller, demangled.
    pub function: Option<String>,
    /// File of the call.
    pub file: Option<String>,
    /// Line of the call.
    pub line: Option<u32>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_part_is_outside_of_headers() {
        let frame =
            |file: &str, line| Frame { function: None, file: Some(file.to_owned()), line: Some(line) };
        let header = "/usr/include/x86_64-linux-gnu/bits/stdlib-float.h";
        let mut place =
            Place { file: Some(header.to_owned()), line: Some(27), offset: Some(1), ..Place::default() };
        assert_eq!(place.users(), None);
        place.inlined_by =
            vec![frame("/rustc/1/library/core/src/str/mod.rs", 3), frame("a.c", 5), frame("b.c", 6)];
        let users = place.users().unwrap();
        assert_eq!((users.file.as_deref(), users.line, users.offset), (Some("a.c"), Some(5), Some(1)));
        assert_eq!(users.inlined_by, [frame("b.c", 6)]);
        assert_eq!(users.users(), Some(users));
    }

    fn module(path: &str) -> Module {
        Module { path: path.into(), build_id: None }
    }

    #[test]
    fn a_site_is_interned_once_and_found_again() {
        let mut table = SiteTable::new();
        let m = table.add_module(module("/bin/a"));
        table.map(0x5000..0x7000, m, 0x4000);
        let site = table.at(0x5123);
        assert_eq!(table.at(0x5123), site);
        assert_eq!(table.intern(m, 0x1123), site);
        assert_eq!(table.get(site), Some((&module("/bin/a"), 0x1123)));
        assert_eq!(Site::from_bits(site.bits()), site);
    }

    #[test]
    fn a_line_of_a_script_is_a_site_without_a_module() {
        let mut table = SiteTable::new();
        let line = |line| ScriptLine { file: "a.py".into(), function: "f".into(), line };
        let site = table.script(line(3));
        assert_eq!(table.script(line(3)), site);
        assert_ne!(table.script(line(4)), site);
        assert_eq!(table.script_line(site), Some(&line(3)));
        assert_eq!((table.get(site), table.address(site)), (None, None));
    }

    #[test]
    fn addresses_outside_modules_have_no_site() {
        let mut table = SiteTable::new();
        let m = table.add_module(module("/bin/a"));
        table.map(0x5000..0x7000, m, 0);
        assert_eq!(table.at(0x4fff), Site::NONE);
        assert_eq!(table.at(0x7000), Site::NONE);
        assert_eq!(table.get(Site::NONE), None);
    }

    #[test]
    fn a_library_loaded_again_elsewhere_keeps_its_sites() {
        let mut table = SiteTable::new();
        let m = table.add_module(module("/lib/l.so"));
        table.map(0x10000..0x12000, m, 0x10000);
        let before = table.at(0x10010);
        table.unmap(0x10000..0x12000);
        assert_eq!(table.at(0x10010), Site::NONE);
        let again = table.add_module(module("/lib/l.so"));
        assert_eq!(again, m);
        table.map(0x30000..0x32000, again, 0x30000);
        assert_eq!(table.at(0x30010), before);
    }

    #[test]
    fn unmapping_the_middle_leaves_both_ends() {
        let mut table = SiteTable::new();
        let (a, b) = (table.add_module(module("a")), table.add_module(module("b")));
        table.map(0x1000..0x5000, a, 0);
        table.map(0x2000..0x3000, b, 0x2000);
        assert_eq!(table.locate(0x1fff), Some((a, 0x1fff)));
        assert_eq!(table.locate(0x2000), Some((b, 0)));
        assert_eq!(table.locate(0x3000), Some((a, 0x3000)));
        assert_eq!(table.locate(0x5000), None);
    }
}
