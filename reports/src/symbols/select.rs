//! From a variable's type and the selectors of a SPEC to floats: their format, how many, how far apart.

use shadowgrind_core::format::Format;
use shadowgrind_core::spec::{Selector, Subscript, Variable as Wanted};

use super::dies::{At, Dies};
use super::error::{LookupError, OpenError};
use super::types::{Array, Dimension, Member, Type};

/// How many wrappers around one member are looked through: a corrupt file may nest types in a circle.
const NESTING: u32 = 64;

/// `count` elements, `stride` bytes apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dim {
    /// How many.
    pub count: u64,
    /// Bytes from one to the next.
    pub stride: u64,
}

/// The floats a SPEC selects from a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Floats {
    pub(super) format: Format,
    /// Bytes from the start of the variable to the first.
    pub(super) offset: u64,
    /// Slowest first, so that counting through them goes through memory in order.
    pub(super) dims: Vec<Dim>,
}

/// The floats of a variable of a known type. `size` is that of the whole variable, if its symbol says so.
pub(super) fn typed(
    dies: &Dies,
    kind: &At,
    size: Option<u64>,
    wanted: &Wanted,
    failed: &dyn Fn(gimli::Error) -> OpenError,
) -> Result<Floats, LookupError> {
    let name = wanted.name.clone();
    let here = Here::Type(kind.clone());
    let mut cursor = Cursor { dies, failed, name, size, here, offset: 0, dims: Vec::new() };
    for selector in &wanted.selectors {
        match selector {
            Selector::Index(subscripts) => cursor.index(subscripts)?,
            Selector::Member(member) => cursor.member(member, 0)?,
        }
    }
    cursor.finish()
}

/// The floats of a variable of which only the size is known: elements of `format` one after the other, from `lower`.
pub(super) fn untyped(format: Format, size: u64, lower: i64, wanted: &Wanted) -> Result<Floats, LookupError> {
    let stride = if format == Format::F80 { 16 } else { format.bytes() as u64 };
    let whole = Dimension { lower, count: Some(size / stride) };
    let mut floats = Floats { format, offset: 0, dims: Vec::new() };
    match wanted.selectors.as_slice() {
        [] if size == stride => {}
        [] => floats.dims.push(Dim { count: size / stride, stride }),
        [Selector::Index(subscripts)] => match subscripts.as_slice() {
            [subscript] => {
                place(&wanted.name, subscript, whole, stride, &mut floats.offset, &mut floats.dims)?
            }
            more => {
                return Err(LookupError::WrongRank { name: wanted.name.clone(), rank: 1, given: more.len() });
            }
        },
        _ => {
            let kind = "of an unknown type: there is no debug information".to_owned();
            return Err(LookupError::NotFloat { name: wanted.name.clone(), kind });
        }
    }
    Ok(floats)
}

/// How far a SPEC has been followed.
struct Cursor<'a> {
    dies: &'a Dies,
    failed: &'a dyn Fn(gimli::Error) -> OpenError,
    /// What has been followed, as it would be written.
    name: String,
    size: Option<u64>,
    here: Here,
    offset: u64,
    dims: Vec<Dim>,
}

enum Here {
    Type(At),
    /// A part of a complex number has no type of its own.
    Float(Format),
}

impl Cursor<'_> {
    fn resolve(&self) -> Result<Type, LookupError> {
        match &self.here {
            Here::Float(format) => Ok(Type::Float(*format)),
            Here::Type(at) => self.dies.resolve(at).map_err(|error| (self.failed)(error).into()),
        }
    }

    /// The type here, looking through structures that only wrap one member: `std::array`, `std::complex`, newtypes.
    fn unwrapped(&mut self) -> Result<Type, LookupError> {
        for _ in 0..NESTING {
            match self.resolve()? {
                Type::Structure(mut members) if members.len() == 1 => self.enter(members.remove(0)),
                other => return Ok(other),
            }
        }
        Err(self.not_float("of a type that contains itself".to_owned()))
    }

    fn enter(&mut self, member: Member) {
        self.offset = self.offset.wrapping_add(member.offset);
        self.here = Here::Type(member.kind);
    }

    fn index(&mut self, mut subscripts: &[Subscript]) -> Result<(), LookupError> {
        let given = subscripts.len();
        while !subscripts.is_empty() {
            let array = match self.unwrapped()? {
                Type::Array(array) => array,
                Type::Dynamic => return Err(LookupError::Dynamic { name: self.name.clone() }),
                Type::Other(kind) => return Err(self.not_float(kind)),
                _ => {
                    let rank = given - subscripts.len();
                    return Err(LookupError::WrongRank { name: self.name.clone(), rank, given });
                }
            };
            let rank = array.dimensions.len();
            if rank == 0 || (array.column_major && subscripts.len() != rank) {
                return Err(LookupError::WrongRank { name: self.name.clone(), rank, given });
            }
            let (now, later) = subscripts.split_at(rank.min(subscripts.len()));
            self.descend(array, now)?;
            subscripts = later;
        }
        self.name.push_str("[…]");
        Ok(())
    }

    /// Goes to the elements of `array` that `subscripts` choose; dimensions beyond them are taken whole.
    fn descend(&mut self, array: Array, subscripts: &[Subscript]) -> Result<(), LookupError> {
        const WHOLE: Subscript = Subscript::Range { start: None, end: None };
        let mut dims = Vec::new();
        let strides = self.strides(&array);
        for (i, (dimension, stride)) in array.dimensions.iter().zip(strides).enumerate() {
            let mut dimension = *dimension;
            if dimension.count.is_none() && stride > 0 {
                dimension.count = self.size.map(|size| size.saturating_sub(self.offset) / stride);
            }
            let subscript = subscripts.get(i).unwrap_or(&WHOLE);
            place(&self.name, subscript, dimension, stride, &mut self.offset, &mut dims)?;
        }
        if array.column_major {
            dims.reverse();
        }
        self.dims.extend(dims);
        self.here = Here::Type(array.element);
        Ok(())
    }

    /// Bytes between neighbours in each dimension, in the order of the subscripts.
    fn strides(&self, array: &Array) -> Vec<u64> {
        let rank = array.dimensions.len();
        let mut strides = vec![array.stride; rank];
        let fastest_first: Vec<usize> =
            if array.column_major { (0..rank).collect() } else { (0..rank).rev().collect() };
        for pair in fastest_first.windows(2) {
            let count = array.dimensions[pair[0]].count.unwrap_or(0);
            strides[pair[1]] = strides[pair[0]].saturating_mul(count);
        }
        strides
    }

    fn member(&mut self, wanted: &str, depth: u32) -> Result<(), LookupError> {
        match self.resolve()? {
            Type::Structure(mut members) => match self.find(&members, wanted, 0)? {
                Some(member) => self.enter(member),
                // A wrapper, `std::complex`: the member may be one of what it wraps.
                None if members.len() == 1 && depth < NESTING => {
                    self.enter(members.remove(0));
                    return self.member(wanted, depth + 1);
                }
                None => return Err(self.members(&members, Some(wanted))),
            },
            Type::Complex(format) => {
                let imaginary = match wanted {
                    "re" | "real" => 0,
                    "im" | "imag" => 1,
                    _ => {
                        return Err(
                            self.not_float(format!("a complex number: write {}.re or .im", self.name))
                        );
                    }
                };
                self.offset += imaginary * part_stride(format);
                self.here = Here::Float(format);
            }
            Type::Other(kind) => return Err(self.not_float(kind)),
            Type::Dynamic => return Err(LookupError::Dynamic { name: self.name.clone() }),
            Type::Float(_) | Type::Array(_) => return Err(self.not_float("without members".to_owned())),
        }
        self.name.push('.');
        self.name.push_str(wanted);
        Ok(())
    }

    /// The member called `wanted`, also one of a base class or an anonymous structure; `.0` is Rust's `__0`.
    fn find(&self, members: &[Member], wanted: &str, depth: u32) -> Result<Option<Member>, LookupError> {
        for member in members {
            let numbered = member.name.strip_prefix("__").is_some_and(|n| n == wanted);
            let fortran = member.name.eq_ignore_ascii_case(wanted) && self.is_fortran(&member.kind)?;
            if member.name == wanted || numbered || fortran {
                return Ok(Some(Member {
                    name: String::new(),
                    offset: member.offset,
                    kind: member.kind.clone(),
                }));
            }
            if member.name.is_empty() && depth < NESTING {
                let kind = self.dies.resolve(&member.kind).map_err(self.failed)?;
                let Type::Structure(inner) = kind else { continue };
                if let Some(found) = self.find(&inner, wanted, depth + 1)? {
                    return Ok(Some(Member { offset: member.offset + found.offset, ..found }));
                }
            }
        }
        Ok(None)
    }

    fn is_fortran(&self, at: &At) -> Result<bool, LookupError> {
        self.dies.is_fortran(&at.unit).map_err(|error| (self.failed)(error).into())
    }

    fn finish(mut self) -> Result<Floats, LookupError> {
        loop {
            let format = match self.unwrapped()? {
                Type::Float(format) => format,
                Type::Complex(format) => {
                    self.dims.push(Dim { count: 2, stride: part_stride(format) });
                    format
                }
                Type::Array(array) if self.dims.len() < NESTING as usize => {
                    self.descend(array, &[])?;
                    continue;
                }
                Type::Array(_) => return Err(self.not_float("of a type that contains itself".to_owned())),
                Type::Structure(members) => return Err(self.members(&members, None)),
                Type::Dynamic => return Err(LookupError::Dynamic { name: self.name }),
                Type::Other(kind) => return Err(self.not_float(kind)),
            };
            return Ok(Floats { format, offset: self.offset, dims: self.dims });
        }
    }

    fn members(&self, members: &[Member], asked: Option<&str>) -> LookupError {
        let members = members.iter().map(|m| m.name.clone()).filter(|name| !name.is_empty()).collect();
        LookupError::Members { name: self.name.clone(), asked: asked.map(str::to_owned), members }
    }

    fn not_float(&self, kind: String) -> LookupError {
        LookupError::NotFloat { name: self.name.clone(), kind }
    }
}

/// Bytes from the real to the imaginary part; those of `long double` are padded.
fn part_stride(format: Format) -> u64 {
    if format == Format::F80 { 16 } else { format.bytes() as u64 }
}

/// Moves `offset` to the first element of `dimension` that `subscript` chooses; a range adds to `dims`.
fn place(
    name: &str,
    subscript: &Subscript,
    dimension: Dimension,
    stride: u64,
    offset: &mut u64,
    dims: &mut Vec<Dim>,
) -> Result<(), LookupError> {
    let lower = dimension.lower;
    let count = dimension.count.ok_or_else(|| LookupError::Dynamic { name: name.to_owned() })?;
    let upper = lower.saturating_add_unsigned(count).saturating_sub(1);
    let inside = |index: i64| match (lower..=upper).contains(&index) {
        true => Ok(()),
        false => Err(LookupError::OutOfRange { name: name.to_owned(), index, lower, upper }),
    };
    let (first, last) = match *subscript {
        Subscript::One(index) => (index, None),
        Subscript::Range { start, end } => {
            let last = end.map_or(upper, |(end, included)| if included { end } else { end - 1 });
            (start.unwrap_or(lower), Some(last))
        }
    };
    inside(first)?;
    inside(last.unwrap_or(first))?;
    *offset = offset.wrapping_add(first.abs_diff(lower).wrapping_mul(stride));
    if let Some(last) = last {
        // `[5..]` of an array of five starts outside, so at least one element is left here.
        dims.push(Dim { count: last.abs_diff(first) + 1, stride });
    }
    Ok(())
}
