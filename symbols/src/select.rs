//! From a variable's type and the selectors of a SPEC to floats: their format, and the way to them.

use shadowgrind_core::format::Format;
use shadowgrind_core::spec::{Selector, Subscript, Variable as Wanted};

use super::containers;
use super::dies::{At, Dies, Storage};
use super::error::{LookupError, OpenError};
use super::reach::{Extent, Step};
use super::types::{Array, Dimension, Member, Type};
use super::way::{Bounds, WHOLE, Way, place};

/// Number of wrappers around one member that are looked through: a corrupt file may nest types in a circle.
const NESTING: u32 = 64;

/// The floats a SPEC selects from a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Floats {
    pub(super) format: Format,
    /// The storage at which the way to them begins.
    pub(super) storage: Storage,
    pub(super) steps: Vec<Step>,
}

/// Facts about a variable before its selectors are looked at.
pub(super) struct Start<'a> {
    pub(super) kind: At,
    pub(super) storage: Storage,
    /// Size of the whole variable, if its symbol says so.
    pub(super) size: Option<u64>,
    pub(super) bounds: Bounds<'a>,
    /// True if there is a pointer to the variable, not the variable.
    pub(super) is_pointer: bool,
}

/// The floats of a variable of a known type.
pub(super) fn typed(
    dies: &Dies,
    start: Start<'_>,
    wanted: &Wanted,
    failed: &dyn Fn(gimli::Error) -> OpenError,
) -> Result<Floats, LookupError> {
    let Start { kind, storage, size, bounds, is_pointer } = start;
    let here = Here::Type(kind);
    let mut way = Way::from(storage);
    if is_pointer {
        way.follow_pointer();
    }
    let name = wanted.name.clone();
    let mut cursor = Cursor { dies, failed, bounds, name, size, here, way };
    for selector in &wanted.selectors {
        match selector {
            Selector::Index(subscripts) => cursor.index(subscripts)?,
            Selector::Member(member) => cursor.member(member, 0)?,
            Selector::Pointee => cursor.pointee()?,
        }
    }
    cursor.finish()
}

/// The floats of an object of which nothing is known but where it is: elements of `format`, one after the other from
/// index `lower` on. `size` is that of the object in bytes, where its symbol says so.
pub(super) fn untyped(
    format: Format,
    storage: Storage,
    size: Option<u64>,
    lower: i64,
    wanted: &Wanted,
    bounds: Bounds<'_>,
) -> Result<Floats, LookupError> {
    let stride = part_stride(format);
    let mut way = Way::from(storage);
    let mut selectors = wanted.selectors.as_slice();
    let mut count = size.map(|size| size / stride);
    while let [rest @ .., Selector::Pointee] = selectors {
        way.follow_pointer();
        (selectors, count) = (rest, Some(1));
    }
    let whole = Dimension::of(lower, count);
    match selectors {
        [] if count == Some(1) => {}
        [] => place(&wanted.name, &WHOLE, &whole, &Extent::Known(stride as i64), &mut way, bounds)?,
        [Selector::Index(subscripts)] => match subscripts.as_slice() {
            [subscript] => {
                place(&wanted.name, subscript, &whole, &Extent::Known(stride as i64), &mut way, bounds)?;
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
    Ok(Floats { format, storage: way.storage, steps: way.steps })
}

/// The first of `members` that `is_it`, also one of a base class or an anonymous structure; `depth` of these have been looked
/// into.
pub(super) fn search(
    dies: &Dies,
    failed: &dyn Fn(gimli::Error) -> OpenError,
    members: &[Member],
    is_it: IsIt<'_>,
    depth: u32,
) -> Result<Option<Member>, LookupError> {
    for member in members {
        if is_it(member)? {
            return Ok(Some(member.clone()));
        }
        if member.name.is_empty() && depth < NESTING {
            let kind = dies.resolve(&member.kind).map_err(failed)?;
            let Type::Structure(inner) = kind else { continue };
            if let Some(found) = search(dies, failed, &inner, is_it, depth + 1)? {
                return Ok(Some(Member { offset: member.offset + found.offset, ..found }));
            }
        }
    }
    Ok(None)
}

/// Progress through a SPEC.
struct Cursor<'a> {
    dies: &'a Dies,
    failed: &'a dyn Fn(gimli::Error) -> OpenError,
    bounds: Bounds<'a>,
    /// The part that was followed, as it would be written.
    name: String,
    size: Option<u64>,
    here: Here,
    way: Way,
}

/// Predicate for the member that is looked for.
pub(super) type IsIt<'a> = &'a dyn Fn(&Member) -> Result<bool, LookupError>;

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

    /// The type here, looking through references and structures that only wrap one member: `std::array`,
    /// `std::complex`, newtypes.
    fn unwrapped(&mut self) -> Result<Type, LookupError> {
        for _ in 0..NESTING {
            match self.resolve()? {
                Type::Structure(mut members) if members.len() == 1 => self.enter(members.remove(0)),
                Type::Structure(members) => {
                    let find = |name: &str| self.find(&members, name);
                    let elements = containers::elements(self.dies, &find, self.failed)?;
                    return Ok(elements.map_or(Type::Structure(members), Type::Array));
                }
                Type::Reference(to) => self.follow(to),
                other => return Ok(other),
            }
        }
        Err(self.not_float("of a type that contains itself".to_owned()))
    }

    fn enter(&mut self, member: Member) {
        self.way.move_by(member.offset);
        self.here = Here::Type(member.kind);
    }

    /// Goes where the pointer or reference here leads.
    fn follow(&mut self, to: At) {
        self.way.follow_pointer();
        self.here = Here::Type(to);
        self.size = None;
    }

    fn pointee(&mut self) -> Result<(), LookupError> {
        let mut kind = self.unwrapped()?;
        if let Type::Structure(members) = &kind
            && let Some(pointer) = self.smart_pointer(members)?
        {
            self.enter(pointer);
            kind = self.resolve()?;
        }
        match kind {
            Type::Pointer(Some(to)) => self.follow(to),
            Type::Pointer(None) => return Err(self.not_float("a pointer to nothing known".to_owned())),
            _ => return Err(LookupError::NoPointer { name: self.name.clone() }),
        }
        self.name.insert(0, '*');
        Ok(())
    }

    fn index(&mut self, mut subscripts: &[Subscript]) -> Result<(), LookupError> {
        let given = subscripts.len();
        while !subscripts.is_empty() {
            let array = match self.unwrapped()? {
                Type::Array(array) => array,
                // As in C, what a pointer leads to may be the first of many.
                Type::Pointer(Some(to)) => {
                    let stride = self.dies.size(&to).map_err(self.failed)?.unwrap_or(0);
                    self.follow(to.clone());
                    let dimensions = vec![Dimension::of(0, None)];
                    Array { data: None, dimensions, column_major: false, element: to, stride }
                }
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

    /// The dimension, with the end that the size of the object gives it if it has none of its own.
    fn ended(&self, dimension: Dimension, stride: &Extent) -> Dimension {
        let (Extent::Unknown, Extent::Known(stride @ 1..), &Extent::Known(lower)) =
            (&dimension.upper, stride, &dimension.lower)
        else {
            return dimension;
        };
        match self.elements(*stride as u64) {
            Some(count) => Dimension::of(lower, Some(count)),
            None => dimension,
        }
    }

    /// Goes to the elements of `array` that `subscripts` choose; dimensions beyond them are taken whole.
    fn descend(&mut self, array: Array, subscripts: &[Subscript]) -> Result<(), LookupError> {
        let dimensions = array.dimensions.iter().cloned().zip(array.strides());
        let dimensions: Vec<_> =
            dimensions.map(|(dimension, stride)| (self.ended(dimension, &stride), stride)).collect();
        if let Some(data) = array.data {
            self.way.steps.push(Step::Data(data));
        }
        let mut chosen: Vec<_> = dimensions.iter().enumerate().collect();
        if array.column_major {
            // Slowest first, so that counting through them goes through memory in order.
            chosen.reverse();
        }
        for (i, (dimension, stride)) in chosen {
            let subscript = subscripts.get(i).unwrap_or(&WHOLE);
            place(&self.name, subscript, dimension, stride, &mut self.way, self.bounds)?;
        }
        self.here = Here::Type(array.element);
        Ok(())
    }

    /// Number of elements from here to the end of the variable, if its symbol says how large that is.
    fn elements(&self, stride: u64) -> Option<u64> {
        self.way.steps.is_empty().then_some(self.size?.saturating_sub(self.way.moved) / stride)
    }

    fn member(&mut self, wanted: &str, depth: u32) -> Result<(), LookupError> {
        match self.resolve()? {
            Type::Structure(mut members) => match self.find(&members, wanted)? {
                Some(member) => self.enter(member),
                None if depth < NESTING
                    && let Some(pointer) = self.smart_pointer(&members)? =>
                {
                    self.enter(pointer);
                    return self.member(wanted, depth + 1);
                }
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
                self.way.move_by(imaginary * part_stride(format));
                self.here = Here::Float(format);
            }
            Type::Pointer(Some(to)) | Type::Reference(to) if depth < NESTING => {
                self.follow(to);
                return self.member(wanted, depth + 1);
            }
            Type::Pointer(_) | Type::Reference(_) => {
                return Err(self.not_float("a pointer to nothing known".to_owned()));
            }
            Type::Other(kind) => return Err(self.not_float(kind)),
            Type::Dynamic => return Err(LookupError::Dynamic { name: self.name.clone() }),
            Type::Float(_) | Type::Array(_) => return Err(self.not_float("without members".to_owned())),
        }
        self.name.push('.');
        self.name.push_str(wanted);
        Ok(())
    }

    /// The pointer that a structure with these members stands for, if it is of a type that is made for that.
    fn smart_pointer(&self, members: &[Member]) -> Result<Option<Member>, LookupError> {
        let is_it = |member: &Member| {
            let named = containers::POINTERS.contains(&member.name.as_str());
            Ok(named
                && matches!(self.dies.resolve(&member.kind).map_err(self.failed)?, Type::Pointer(Some(_))))
        };
        search(self.dies, self.failed, members, &is_it, 0)
    }

    /// The member called `wanted`; `.0` is Rust's `__0`.
    fn find(&self, members: &[Member], wanted: &str) -> Result<Option<Member>, LookupError> {
        let is_it = |member: &Member| {
            let numbered = member.name.strip_prefix("__").is_some_and(|n| n == wanted);
            let fortran = member.name.eq_ignore_ascii_case(wanted) && self.is_fortran(&member.kind)?;
            Ok(member.name == wanted || numbered || fortran)
        };
        search(self.dies, self.failed, members, &is_it, 0)
    }

    fn is_fortran(&self, at: &At) -> Result<bool, LookupError> {
        self.dies.is_fortran(&at.unit).map_err(|error| (self.failed)(error).into())
    }

    fn finish(mut self) -> Result<Floats, LookupError> {
        for _ in 0..NESTING {
            let format = match self.unwrapped()? {
                Type::Float(format) => format,
                Type::Complex(format) => {
                    self.way.steps.push(Step::Each { count: 2, stride: part_stride(format) });
                    format
                }
                Type::Array(array) => {
                    self.descend(array, &[])?;
                    continue;
                }
                Type::Structure(members) => return Err(self.members(&members, None)),
                Type::Dynamic => return Err(LookupError::Dynamic { name: self.name }),
                Type::Pointer(_) | Type::Reference(_) => {
                    return Err(LookupError::Pointer { name: self.name });
                }
                Type::Other(kind) => return Err(self.not_float(kind)),
            };
            let Way { storage, steps, .. } = self.way;
            if matches!(storage, Storage::Value(_)) && !steps.is_empty() {
                return Err(LookupError::InParts { name: self.name });
            }
            return Ok(Floats { format, storage, steps });
        }
        Err(self.not_float("of a type that contains itself".to_owned()))
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
pub(super) fn part_stride(format: Format) -> u64 {
    if format == Format::F80 { 16 } else { format.bytes() as u64 }
}
