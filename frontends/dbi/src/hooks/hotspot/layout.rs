//! Offsets of the fields that are read of HotSpot's structures, as its tables have them: those of OpenJDK 11 to 25.

use super::tables::Tables;

/// Way in which a compiled method says where callers enter it that know its receiver.
#[derive(Clone, Copy, Debug)]
pub(super) enum VerifiedEntry {
    /// Field that has the address.
    Address(u64),
    /// Fields that have the offset of all code in the method (four bytes), and of the entry in that (two).
    Offset { code: u64, entry: u64 },
}

/// Base and shift of pointers of four bytes: the addresses of both.
#[derive(Clone, Copy, Debug)]
pub(super) struct Narrow {
    pub(super) base: u64,
    pub(super) shift: u64,
}

/// Offsets, and addresses of static fields.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) const_method: u64,
    pub(super) constants: u64,
    pub(super) name_index: u64,
    pub(super) parameters: u64,
    /// Size of a pool of constants: names of methods follow.
    pub(super) pool_size: u64,
    pub(super) pool_holder: u64,
    pub(super) klass_name: u64,
    pub(super) layout_helper: u64,
    pub(super) symbol_length: u64,
    pub(super) symbol_body: u64,
    /// Addresses of the bounds of all generated code, and of the list of its heaps.
    pub(super) low_bound: u64,
    pub(super) high_bound: u64,
    pub(super) heaps: u64,
    pub(super) list_length: u64,
    pub(super) list_data: u64,
    pub(super) heap_memory: u64,
    pub(super) heap_segments: u64,
    pub(super) heap_log2_segment: u64,
    pub(super) space_low: u64,
    pub(super) space_high: u64,
    /// Size of the header before a piece of code.
    pub(super) block_size: u64,
    pub(super) blob_name: u64,
    pub(super) compiled_method: u64,
    pub(super) verified_entry: VerifiedEntry,
    /// Address of the interpreter's pieces.
    pub(super) interpreter: u64,
    pub(super) queue_buffer: u64,
    pub(super) queue_begin: u64,
    pub(super) queue_end: u64,
    pub(super) piece_size: u64,
    pub(super) piece_description: u64,
    /// Size of the header of such a piece.
    pub(super) piece_header: u64,
    pub(super) objects: Narrow,
    pub(super) klasses: Narrow,
    /// Offset of the class in an object.
    pub(super) object_klass: u64,
    /// Fields that tell of lines; nothing where the tables lack one.
    pub(super) lines: Option<Lines>,
    /// Fields that tell where compiled code is in its methods, likewise.
    pub(super) scopes: Option<Scopes>,
}

/// Offsets that tell the lines of a method, and who it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lines {
    /// Size of a method's constant part: its bytecode follows, and then its table of lines.
    pub(super) constant_size: u64,
    /// Words of it in all.
    pub(super) words: u64,
    pub(super) flags: u64,
    pub(super) code_size: u64,
    /// Field of a class that has its pool.
    pub(super) klass_pool: u64,
    pub(super) source_file: SourceFile,
    /// Address of the version.
    pub(super) version: u64,
}

/// Structure that has the index of the source file's name, and its offset there.
#[derive(Clone, Copy, Debug)]
pub(super) enum SourceFile {
    Pool(u64),
    Klass(u64),
}

/// Offsets that tell where compiled code is in its methods.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scopes {
    /// Words of a frame.
    pub(super) frame_size: u64,
    pub(super) code: Part,
    /// Table of places, and its end.
    pub(super) places: [Part; 2],
    pub(super) scopes: Part,
    /// Table of methods that are named there.
    pub(super) methods: Part,
    /// Size of a place, and the offsets in it of the code's and the scope's.
    pub(super) place_size: u64,
    pub(super) place_code: u64,
    pub(super) place_scope: u64,
}

/// Part of a compiled method: what a field of it points to, or its own beginning, and so many bytes on as another field says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) base: Option<u64>,
    pub(super) offset: Option<u64>,
}

impl Layout {
    /// The layout that `tables` have; the name of the first field that they lack.
    #[rustfmt::skip] // a row for each field
    pub(super) fn of(tables: &Tables) -> Result<Layout, String> {
        let field = |owner, name| tables.field(owner, name);
        Ok(Layout {
            const_method: field("Method", "_constMethod")?,
            constants: field("ConstMethod", "_constants")?,
            name_index: field("ConstMethod", "_name_index")?,
            parameters: field("ConstMethod", "_size_of_parameters")?,
            pool_size: tables.size("ConstantPool")?,
            pool_holder: field("ConstantPool", "_pool_holder")?,
            klass_name: field("Klass", "_name")?,
            layout_helper: field("Klass", "_layout_helper")?,
            symbol_length: field("Symbol", "_length")?,
            symbol_body: field("Symbol", "_body")?,
            low_bound: field("CodeCache", "_low_bound")?,
            high_bound: field("CodeCache", "_high_bound")?,
            heaps: field("CodeCache", "_heaps")?,
            list_length: tables.any(&[("GrowableArrayBase", "_len"), ("GenericGrowableArray", "_len")])?,
            list_data: field("GrowableArray<int>", "_data")?,
            heap_memory: field("CodeHeap", "_memory")?,
            heap_segments: field("CodeHeap", "_segmap")?,
            heap_log2_segment: field("CodeHeap", "_log2_segment_size")?,
            space_low: field("VirtualSpace", "_low")?,
            space_high: field("VirtualSpace", "_high")?,
            block_size: tables.size("HeapBlock")?,
            blob_name: field("CodeBlob", "_name")?,
            compiled_method: tables.any(&[("nmethod", "_method"), ("CompiledMethod", "_method")])?,
            verified_entry: verified_entry(tables)?,
            interpreter: field("AbstractInterpreter", "_code")?,
            queue_buffer: field("StubQueue", "_stub_buffer")?,
            queue_begin: field("StubQueue", "_queue_begin")?,
            queue_end: field("StubQueue", "_queue_end")?,
            piece_size: field("InterpreterCodelet", "_size")?,
            piece_description: field("InterpreterCodelet", "_description")?,
            piece_header: tables.size("InterpreterCodelet")?,
            objects: narrow(tables, "CompressedOops", "_narrow_oop.")?,
            klasses: narrow(tables, "CompressedKlassPointers", "_narrow_klass.")?,
            object_klass: field("oopDesc", "_metadata._klass")?,
            lines: lines(tables).ok(),
            scopes: scopes(tables).ok(),
        })
    }
}

fn lines(tables: &Tables) -> Result<Lines, String> {
    const INDEX: &str = "_source_file_name_index";
    let in_pool = tables.field("ConstantPool", INDEX).map(SourceFile::Pool);
    Ok(Lines {
        constant_size: tables.size("ConstMethod")?,
        words: tables.field("ConstMethod", "_constMethod_size")?,
        flags: tables.any(&[("ConstMethod", "_flags"), ("ConstMethod", "_flags._flags")])?,
        code_size: tables.field("ConstMethod", "_code_size")?,
        klass_pool: tables.field("InstanceKlass", "_constants")?,
        source_file: in_pool.or_else(|_| tables.field("InstanceKlass", INDEX).map(SourceFile::Klass))?,
        version: tables.field("Abstract_VM_Version", "_vm_major_version")?,
    })
}

/// Newer versions keep places and scopes apart from the method, and the methods that are named there with what changes.
fn scopes(tables: &Tables) -> Result<Scopes, String> {
    let own = |owner, name| tables.field(owner, name);
    let pointed = |owner, name| Ok::<_, String>(Part { base: Some(own(owner, name)?), offset: None });
    let inside = |owner, name| Ok::<_, String>(Part { base: None, offset: Some(own(owner, name)?) });
    let places = own("nmethod", "_scopes_pcs_offset")?;
    let (places, scopes) = match own("nmethod", "_immutable_data") {
        Ok(data) => {
            let part = |offset| Part { base: Some(data), offset: Some(offset) };
            let scopes = part(own("nmethod", "_scopes_data_offset")?);
            ([part(places), scopes], scopes)
        }
        Err(_) => {
            let end = inside("nmethod", "_dependencies_offset")?;
            (
                [Part { base: None, offset: Some(places) }, end],
                pointed("CompiledMethod", "_scopes_data_begin")?,
            )
        }
    };
    let methods = match own("CodeBlob", "_mutable_data") {
        Ok(data) => Part { base: Some(data), offset: Some(own("CodeBlob", "_relocation_size")?) },
        Err(_) => inside("nmethod", "_metadata_offset")?,
    };
    Ok(Scopes {
        frame_size: own("CodeBlob", "_frame_size")?,
        code: pointed("CodeBlob", "_code_begin").or_else(|_| inside("CodeBlob", "_code_offset"))?,
        places,
        scopes,
        methods,
        place_size: tables.size("PcDesc")?,
        place_code: own("PcDesc", "_pc_offset")?,
        place_scope: own("PcDesc", "_scope_decode_offset")?,
    })
}

fn verified_entry(tables: &Tables) -> Result<VerifiedEntry, String> {
    if let Ok(address) = tables.field("nmethod", "_verified_entry_point") {
        return Ok(VerifiedEntry::Address(address));
    }
    let code = tables.field("CodeBlob", "_code_offset")?;
    Ok(VerifiedEntry::Offset { code, entry: tables.field("nmethod", "_verified_entry_offset")? })
}

/// Base and shift of `owner`, whose fields had a prefix once, and another owner before that.
fn narrow(tables: &Tables, owner: &str, prefix: &str) -> Result<Narrow, String> {
    let field = |name: &str| {
        let old = format!("{prefix}{name}");
        tables.any(&[(owner, name), (owner, &old), ("Universe", &old)])
    };
    Ok(Narrow { base: field("_base")?, shift: field("_shift")? })
}
