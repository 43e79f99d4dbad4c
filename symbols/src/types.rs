//! Types in debug information, as far as floats are concerned: floats, complex numbers, arrays and structures of them.

use gimli::AttributeValue as Attr;

use shadowgrind_core::format::Format;

use super::debug::Reader;
use super::dies::{At, Dies, Entry, Unit};
use super::expression;
use super::reach::{Expression, Extent};

/// Limit on the nesting of types: a corrupt file may nest them in a circle.
const NESTING: u32 = 64;

/// One layer of a type.
pub(super) enum Type {
    /// A float.
    Float(Format),
    /// Real and imaginary part, one after the other.
    Complex(Format),
    /// An array.
    Array(Array),
    /// A structure or class; a union too, whose members happen to lie on each other.
    Structure(Vec<Member>),
    /// A pointer, and what it points to, if that has a type.
    Pointer(Option<At>),
    /// A reference: another name of what it leads to.
    Reference(At),
    /// The place or number of elements is computed while the program runs.
    Dynamic,
    /// Anything else, described for people.
    Other(String),
}

pub(super) struct Array {
    /// The place of its elements, if a descriptor says so.
    pub(super) data: Option<Expression>,
    /// In the order of the source's subscripts.
    pub(super) dimensions: Vec<Dimension>,
    /// The first subscript varies fastest in memory.
    pub(super) column_major: bool,
    pub(super) element: At,
    /// Bytes from one element to the next.
    pub(super) stride: u64,
}

impl Array {
    /// Bytes between neighbours in each dimension, in the order of the subscripts.
    pub(super) fn strides(&self) -> Vec<Extent> {
        let rank = self.dimensions.len();
        let mut strides = vec![Extent::Known(self.stride as i64); rank];
        let fastest_first: Vec<usize> =
            if self.column_major { (0..rank).collect() } else { (0..rank).rev().collect() };
        for pair in fastest_first.windows(2) {
            strides[pair[1]] = match (&strides[pair[0]], self.dimensions[pair[0]].count()) {
                (Extent::Known(stride), Some(count)) => {
                    Extent::Known(stride.saturating_mul(i64::try_from(count).unwrap_or(i64::MAX)))
                }
                _ => Extent::Unknown,
            };
        }
        for (stride, dimension) in strides.iter_mut().zip(&self.dimensions) {
            if let Some(own) = &dimension.stride {
                *stride = own.clone();
            }
        }
        strides
    }
}

#[derive(Clone)]
pub(super) struct Dimension {
    pub(super) lower: Extent,
    /// Highest index; unknown where the array's end is left open (`extern double a[]`).
    pub(super) upper: Extent,
    /// Bytes between neighbours, where the type says so for each dimension.
    pub(super) stride: Option<Extent>,
}

impl Dimension {
    /// So many elements from `lower` on.
    pub(super) fn of(lower: i64, count: Option<u64>) -> Dimension {
        let upper = count.map(|count| lower.saturating_add_unsigned(count).saturating_sub(1));
        let upper = upper.map_or(Extent::Unknown, Extent::Known);
        Dimension { lower: Extent::Known(lower), upper, stride: None }
    }

    /// The first index; 0 where it is computed.
    pub(super) fn first(&self) -> i64 {
        if let Extent::Known(first) = self.lower { first } else { 0 }
    }

    /// Number of elements, where that is known.
    pub(super) fn count(&self) -> Option<u64> {
        match (&self.lower, &self.upper) {
            (Extent::Known(lower), Extent::Known(upper)) => {
                u64::try_from(upper.checked_sub(*lower)?.checked_add(1)?).ok()
            }
            _ => None,
        }
    }
}

#[derive(Clone)]
pub(super) struct Member {
    /// Empty for a base class or an anonymous structure, whose members count as this structure's own.
    pub(super) name: String,
    pub(super) offset: u64,
    pub(super) kind: At,
}

impl Dies {
    /// The type at `at`, behind names and qualifiers.
    pub(super) fn resolve(&self, at: &At) -> Result<Type, gimli::Error> {
        let at = self.unqualified(at)?;
        let entry = self.entry(&at)?;
        match entry.tag() {
            gimli::DW_TAG_base_type => Ok(self.base(&at, &entry)),
            gimli::DW_TAG_array_type => self.array(&at, &entry),
            gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type | gimli::DW_TAG_union_type => {
                self.members(&at).map(Type::Structure)
            }
            gimli::DW_TAG_pointer_type => self.pointee(&at, &entry).map(Type::Pointer),
            gimli::DW_TAG_reference_type | gimli::DW_TAG_rvalue_reference_type => {
                let to = self.pointee(&at, &entry)?;
                Ok(to.map_or_else(|| Type::Other("a reference".to_owned()), Type::Reference))
            }
            tag => Ok(Type::Other(self.described(&at, &entry, tag))),
        }
    }

    fn pointee(&self, at: &At, entry: &Entry) -> Result<Option<At>, gimli::Error> {
        self.follow(&at.unit, entry.attr_value(gimli::DW_AT_type))
    }

    pub(super) fn unqualified(&self, at: &At) -> Result<At, gimli::Error> {
        let mut at = at.clone();
        for _ in 0..NESTING {
            let entry = self.entry(&at)?;
            // A structure that says no more than which unit of its own it is in.
            let inner = match entry.attr_value(gimli::DW_AT_signature) {
                None if is_transparent(entry.tag()) => {
                    self.follow(&at.unit, entry.attr_value(gimli::DW_AT_type))?
                }
                signature => self.follow(&at.unit, signature)?,
            };
            match inner {
                Some(inner) => at = inner,
                None => break,
            }
        }
        Ok(at)
    }

    fn base(&self, at: &At, entry: &Entry) -> Type {
        let name = self.text(&at.unit, entry, gimli::DW_AT_name).unwrap_or_default();
        let size = entry.attr_value(gimli::DW_AT_byte_size).and_then(|v| v.udata_value()).unwrap_or(0);
        let encoding = match entry.attr_value(gimli::DW_AT_encoding) {
            Some(Attr::Encoding(encoding)) => encoding,
            _ => return Type::Other(described(&name)),
        };
        let format = |size| match size {
            4 => Some(Format::F32),
            8 => Some(Format::F64),
            // Binary128 has the same size; only its names differ.
            16 if !name.contains("128") && !name.contains("kind=16") => Some(Format::F80),
            _ => None,
        };
        let float = match encoding {
            gimli::DW_ATE_float => format(size).map(Type::Float),
            gimli::DW_ATE_complex_float => format(size / 2).map(Type::Complex),
            _ => None,
        };
        float.unwrap_or_else(|| Type::Other(described(&name)))
    }

    fn array(&self, at: &At, entry: &Entry) -> Result<Type, gimli::Error> {
        let Some(element) = self.follow(&at.unit, entry.attr_value(gimli::DW_AT_type))? else {
            return Ok(Type::Other("an array of nothing known".to_owned()));
        };
        let fortran = self.is_fortran(&at.unit)?;
        // Allocatable and pointer arrays: a descriptor in memory says where and how large.
        let data = match entry.attr_value(gimli::DW_AT_data_location) {
            None => None,
            Some(location) => match expression::of(&at.unit, &location)? {
                Some(data) => Some(data),
                None => return Ok(Type::Dynamic),
            },
        };
        let mut dimensions = Vec::new();
        for child in self.children(at)? {
            if child.tag() == gimli::DW_TAG_subrange_type {
                dimensions.push(dimension(&at.unit, &child, i64::from(fortran))?);
            }
        }
        let column_major = match entry.attr_value(gimli::DW_AT_ordering) {
            Some(Attr::Ordering(ordering)) => ordering == gimli::DW_ORD_col_major,
            _ => fortran,
        };
        let stride = match entry.attr_value(gimli::DW_AT_byte_stride).and_then(|v| v.udata_value()) {
            Some(stride) => stride,
            None => self.size(&element)?.unwrap_or(0),
        };
        Ok(Type::Array(Array { data, dimensions, column_major, element, stride }))
    }

    fn members(&self, at: &At) -> Result<Vec<Member>, gimli::Error> {
        let mut members = Vec::new();
        for child in self.children(at)? {
            let wanted = matches!(child.tag(), gimli::DW_TAG_member | gimli::DW_TAG_inheritance);
            // Static members are declarations here; they are variables of their own.
            if !wanted || child.has_attr(gimli::DW_AT_external) || child.has_attr(gimli::DW_AT_declaration) {
                continue;
            }
            let Some(kind) = self.follow(&at.unit, child.attr_value(gimli::DW_AT_type))? else { continue };
            let offset = child.attr_value(gimli::DW_AT_data_member_location).and_then(|v| v.udata_value());
            let name = self.text(&at.unit, &child, gimli::DW_AT_name).unwrap_or_default();
            let name = if child.tag() == gimli::DW_TAG_inheritance { String::new() } else { name };
            members.push(Member { name, offset: offset.unwrap_or(0), kind });
        }
        Ok(members)
    }

    /// Size in bytes and signedness of the integer at `at`; nothing if it is none.
    pub(super) fn integer(&self, at: &At) -> Result<Option<(u8, bool)>, gimli::Error> {
        let at = self.unqualified(at)?;
        let entry = self.entry(&at)?;
        let Some(Attr::Encoding(encoding)) = entry.attr_value(gimli::DW_AT_encoding) else { return Ok(None) };
        let signed = match encoding {
            gimli::DW_ATE_signed | gimli::DW_ATE_signed_char => true,
            gimli::DW_ATE_unsigned | gimli::DW_ATE_unsigned_char => false,
            _ => return Ok(None),
        };
        Ok(self.size(&at)?.and_then(|size| u8::try_from(size).ok()).map(|bytes| (bytes, signed)))
    }

    /// Size of the type at `at` in bytes.
    pub(super) fn size(&self, at: &At) -> Result<Option<u64>, gimli::Error> {
        let mut at = self.unqualified(at)?;
        let mut count = 1u64;
        for _ in 0..NESTING {
            let entry = self.entry(&at)?;
            if let Some(size) = entry.attr_value(gimli::DW_AT_byte_size).and_then(|v| v.udata_value()) {
                return Ok(size.checked_mul(count));
            }
            let Type::Array(array) = self.resolve(&at)? else { return Ok(None) };
            for dimension in &array.dimensions {
                count = count.saturating_mul(dimension.count().unwrap_or(0));
            }
            at = self.unqualified(&array.element)?;
        }
        Ok(None)
    }

    pub(super) fn children(&self, at: &At) -> Result<Vec<Entry>, gimli::Error> {
        let mut tree = at.unit.entries_tree(Some(at.offset))?;
        let mut children = tree.root()?.children();
        let mut entries = Vec::new();
        while let Some(child) = children.next()? {
            entries.push(child.entry().clone());
        }
        Ok(entries)
    }

    /// True for units of the one language that counts from 1, stores columns first and ignores letter case.
    pub(super) fn is_fortran(&self, unit: &Unit) -> Result<bool, gimli::Error> {
        let root = unit.entry(unit.header.root_offset())?;
        Ok(match root.attr_value(gimli::DW_AT_language) {
            Some(Attr::Language(language)) => is_fortran(language),
            _ => false,
        })
    }

    fn described(&self, at: &At, entry: &Entry, tag: gimli::DwTag) -> String {
        let name = self.text(&at.unit, entry, gimli::DW_AT_name);
        match tag {
            gimli::DW_TAG_enumeration_type => "an enumeration".to_owned(),
            gimli::DW_TAG_subroutine_type => "a function".to_owned(),
            gimli::DW_TAG_string_type => "a character string".to_owned(),
            _ => name.map_or_else(|| "of an unknown type".to_owned(), |name| described(&name)),
        }
    }
}

fn described(name: &str) -> String {
    if name.is_empty() { "of an unnamed type".to_owned() } else { format!("of type {name}") }
}

/// Tells whether a type of this kind is another one that it names or qualifies.
fn is_transparent(tag: gimli::DwTag) -> bool {
    matches!(
        tag,
        gimli::DW_TAG_typedef
            | gimli::DW_TAG_const_type
            | gimli::DW_TAG_volatile_type
            | gimli::DW_TAG_restrict_type
            | gimli::DW_TAG_atomic_type
    )
}

fn is_fortran(language: gimli::DwLang) -> bool {
    matches!(
        language,
        gimli::DW_LANG_Fortran77
            | gimli::DW_LANG_Fortran90
            | gimli::DW_LANG_Fortran95
            | gimli::DW_LANG_Fortran03
            | gimli::DW_LANG_Fortran08
            | gimli::DW_LANG_Fortran18
    )
}

/// Bounds of one dimension, and how far its elements are apart if it says so.
fn dimension(unit: &Unit, subrange: &Entry, default_lower: i64) -> Result<Dimension, gimli::Error> {
    let extent = |name| match subrange.attr_value(name) {
        None => Ok::<_, gimli::Error>(None),
        Some(value) => Ok(Some(match signed(&value) {
            Some(number) => Extent::Known(number),
            None => expression::of(unit, &value)?.map_or(Extent::Unknown, Extent::Computed),
        })),
    };
    let lower = extent(gimli::DW_AT_lower_bound)?.unwrap_or(Extent::Known(default_lower));
    let stride = extent(gimli::DW_AT_byte_stride)?;
    let (count, upper) = (extent(gimli::DW_AT_count)?, extent(gimli::DW_AT_upper_bound)?);
    let upper = match (count, &lower) {
        (Some(Extent::Known(count)), Extent::Known(lower)) => {
            Extent::Known(lower.saturating_add(count).saturating_sub(1))
        }
        (Some(_), _) => Extent::Unknown,
        (None, _) => upper.unwrap_or(Extent::Unknown),
    };
    Ok(Dimension { lower, upper, stride })
}

/// A constant attribute; bounds may be negative in Fortran, and are then written in a signed or an eight-byte form.
fn signed(value: &Attr<Reader>) -> Option<i64> {
    match *value {
        Attr::Data1(x) => Some(x.into()),
        Attr::Data2(x) => Some(x.into()),
        Attr::Data4(x) => Some(x.into()),
        Attr::Data8(x) => Some(x as i64),
        Attr::Sdata(x) => Some(x),
        Attr::Udata(x) => i64::try_from(x).ok(),
        _ => None,
    }
}
