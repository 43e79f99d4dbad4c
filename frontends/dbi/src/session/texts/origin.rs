//! The origin of a parsed text: the number of some text that it is.

use super::alike::Alike;
use super::{CONTEXT, Candidates, Origin, Place, TELLING, Text, Texts, key, readable};
use crate::hooks::machine::Machine;
use shadowgrind_core::spec::TextSource;

impl Texts {
    /// The number that the program is about to parse at `address`, in characters of one byte: `text` begins with it, and
    /// `value` is its value.
    pub(crate) fn origin(&mut self, m: &dyn Machine, address: u64, text: &[u8], value: f64) -> Origin {
        self.all.iter_mut().for_each(Text::update);
        let origin = match self.held_at(address, text) {
            Some(place) => {
                self.all[place.text].in_place.insert(place.token);
                Origin::Known(place)
            }
            None => self.copied_from(m, address, text, value),
        };
        if let Origin::Known(place) = origin {
            let text = &mut self.all[place.text];
            (text.next, text.is_parsed) = (place.token + 1, true);
            self.current = Some(place.text);
        }
        self.last = origin.clone().known();
        origin
    }

    /// The number that the program is about to read as an integer at `address`, like [`Texts::origin`]; nothing if that cannot be
    /// told, or if the number has a fraction. Hardly anybody will make a float of it afterwards.
    pub(crate) fn integer(
        &mut self,
        m: &dyn Machine,
        address: u64,
        text: &[u8],
        value: f64,
    ) -> Option<Place> {
        self.all.iter_mut().for_each(Text::update);
        let place = match self.held_at(address, text) {
            Some(place) => place,
            None => self.integer_copied_from(m, address, text, value)?,
        };
        if !self.token(place).is_integer {
            return None;
        }
        self.pass(place);
        Some(place)
    }

    /// The integer of which there is a copy, `text`, at `address`: one that was read before only where the bytes around say so.
    fn integer_copied_from(&self, m: &dyn Machine, address: u64, text: &[u8], value: f64) -> Option<Place> {
        let around = Around::of(m, address, text.len());
        if !around.tells()
            && let Some(origin) = self.in_order_of_alike(Alike::integers(value))
        {
            return origin.known();
        }
        let mut places = self.alike(value);
        places.retain(|place| {
            self.token(*place).is_integer && !self.all[place.text].in_place.contains(&place.token)
        });
        if places.len() > 1 {
            places = self.with_most_around(&around, places);
        }
        if let [place] = places[..] {
            return Some(place);
        }
        places.retain(|place| !self.all[place.text].integers.contains(&place.token));
        self.in_order(places).known()
    }

    /// The next number with this value that the program may have read as an integer.
    pub(crate) fn integer_of(&mut self, value: f64) -> Option<Place> {
        self.all.iter_mut().for_each(Text::update);
        let place = self.in_order(self.unread_integers(value)).known()?;
        self.pass(place);
        Some(place)
    }

    fn unread_integers(&self, value: f64) -> Vec<Place> {
        let mut places = self.alike(value);
        places.retain(|place| self.token(*place).is_integer && !self.all[place.text].is_read(place.token));
        places
    }

    /// Notes that the program has read past the integer at `place`. If it had done so before, it stays where it is in the
    /// text.
    fn pass(&mut self, place: Place) {
        let text = &mut self.all[place.text];
        if text.integers.insert(place.token) {
            text.next = place.token + 1;
        }
    }

    /// The number, of a file, that is parsed as a literal of a script: it is expected nowhere else.
    pub(crate) fn literal(&mut self, value: f64) -> Origin {
        self.all.iter_mut().for_each(Text::update);
        let alike = |value| {
            let mut places = self.alike(value);
            places.retain(|place| matches!(self.all[place.text].name, TextSource::File(_)));
            places.retain(|place| !self.all[place.text].in_place.contains(&place.token));
            places
        };
        let mut places = alike(value);
        if places.is_empty() {
            // A sign is an operation of its own in a script.
            places = alike(-value);
        }
        let origin = match places[..] {
            [first, ..] if places.iter().all(|place| place.text == first.text) => Origin::Known(first),
            _ => self.in_order(places),
        };
        if let Origin::Known(place) = origin {
            let text = &mut self.all[place.text];
            text.in_place.insert(place.token);
            (text.next, text.is_parsed) = (place.token + 1, true);
        }
        origin
    }

    /// The number that memory at `address` still holds of the text that was put there.
    fn held_at(&self, address: u64, parsed: &[u8]) -> Option<Place> {
        let held = self.held.iter().find(|held| held.memory.contains(&address))?;
        let Text { bytes, scan, .. } = &self.all[held.text];
        let offset = held.offset + (address - held.memory.start) as usize;
        let here = bytes.get(offset..offset + parsed.len())?;
        if here != parsed {
            return None;
        }
        let index = scan.tokens.partition_point(|token| token.end <= offset);
        let token = scan.tokens.get(index)?;
        // A sign may be read apart.
        let begins =
            token.start == offset || token.start + 1 == offset && !bytes[token.start].is_ascii_digit();
        begins.then_some(Place { text: held.text, token: index })
    }

    /// The number of which there is a copy, `text`, at `address`.
    fn copied_from(&self, m: &dyn Machine, address: u64, text: &[u8], value: f64) -> Origin {
        let around = Around::of(m, address, text.len());
        let follows_minus = around.before.last() == Some(&b'-');
        if !around.tells()
            && !follows_minus
            && let Some(origin) = self.in_order_of_alike(Alike::written(text, value))
        {
            return origin;
        }
        let alike = |is_negated| if is_negated { self.negated(text, value) } else { self.alike(value) };
        let mut places = alike(follows_minus);
        if places.is_empty() {
            places = alike(!follows_minus);
        }
        // A number that the program parses where it was given, or reads past, is hardly parsed from a copy too.
        let is_read = |place: &Place| self.all[place.text].is_read(place.token);
        if !places.iter().all(is_read) {
            places.retain(|place| !is_read(place));
        }
        let is_same = |place: &Place| {
            let token = self.token(*place);
            &self.all[place.text].bytes[token.start..token.end] == text
        };
        if places.iter().any(is_same) {
            places.retain(is_same);
        }
        if places.len() > 1 {
            places = self.with_most_around(&around, places);
        }
        self.in_order(places)
    }

    /// All numbers that are `text`, of this value, behind a minus sign: one that the program reads apart.
    fn negated(&self, text: &[u8], value: f64) -> Vec<Place> {
        let mut places = self.alike(-value);
        places.retain(|place| {
            let token = self.token(*place);
            let number = &self.all[place.text].bytes[token.start..token.end];
            number.strip_prefix(b"-") == Some(text)
        });
        places
    }

    /// All numbers with this value.
    fn alike(&self, value: f64) -> Vec<Place> {
        let found = |(text, of): (usize, &Text)| {
            let tokens = of.of_value(key(value), 0);
            tokens.iter().map(move |&token| Place { text, token }).collect::<Vec<_>>()
        };
        self.all.iter().enumerate().flat_map(found).collect()
    }

    /// Places among `places` around which most bytes are those around a copy, if that means something; all of them otherwise.
    fn with_most_around(&self, around: &Around, places: Vec<Place>) -> Vec<Place> {
        let same = |place: &Place| {
            let (token, bytes) = (self.token(*place), &self.all[place.text].bytes);
            let backwards = bytes[..token.start].iter().rev().zip(around.before.iter().rev());
            let forwards = bytes[token.end..].iter().zip(&around.after);
            backwards.take_while(|(a, b)| a == b).count() + forwards.take_while(|(a, b)| a == b).count()
        };
        let counts: Vec<usize> = places.iter().map(same).collect();
        let most = counts.iter().copied().max().unwrap_or(0);
        if most < TELLING {
            return places;
        }
        places.into_iter().zip(counts).filter(|(_, count)| *count == most).map(|(place, _)| place).collect()
    }

    /// The one of `places` that is next in a text, if only one is; the only one that there is otherwise.
    pub(super) fn in_order(&self, places: Vec<Place>) -> Origin {
        if let [] | [_] = places[..] {
            return places.first().map_or(Origin::Unknown, |&place| Origin::Known(place));
        }
        let first = places[0].text;
        if !self.all[first].is_in_order() || places.iter().any(|place| place.text != first) {
            let next = self.current.filter(|&text| self.stand_in_variables(&places, text));
            let next = next.and_then(|text| self.next_of(&places, text));
            let next = next.or_else(|| places.iter().copied().find(|&place| self.follows_last(place)));
            return next.map_or(Origin::Ambiguous(Candidates::At(places)), Origin::Known);
        }
        match self.next_of(&places, first) {
            Some(next) => Origin::Known(next),
            None => Origin::Ambiguous(Candidates::At(places)),
        }
    }

    /// Tells whether the number at `place` stands behind the one that was parsed last.
    pub(super) fn follows_last(&self, place: Place) -> bool {
        self.last.is_some_and(|last| (last.text, last.token + 1) == (place.text, place.token))
    }

    /// Tells whether those of `places` that are not in `text`, which is read in order, are in variables of the environment, many of
    /// which hold a small integer that nobody parses.
    pub(super) fn stand_in_variables(&self, places: &[Place], text: usize) -> bool {
        let is_variable = |place: &Place| matches!(self.all[place.text].name, TextSource::Environment(_));
        self.all[text].is_in_order() && places.iter().all(|place| place.text == text || is_variable(place))
    }

    /// The one of `places` that is [next](Text::is_next) in a text.
    fn next_of(&self, places: &[Place], text: usize) -> Option<Place> {
        let of = &self.all[text];
        let place = places.iter().find(|place| place.text == text && place.token >= of.next)?;
        of.is_next(place.token).then_some(*place)
    }
}

/// Memory around a copy of a number, up to [`CONTEXT`] bytes on each side.
struct Around {
    before: Vec<u8>,
    after: Vec<u8>,
}

impl Around {
    /// Memory around the `length` bytes at `address`.
    fn of(m: &dyn Machine, address: u64, length: usize) -> Around {
        Around { before: bytes_before(m, address), after: bytes_from(m, address + length as u64) }
    }

    /// Tells whether so many bytes around the copy may be those of a text, which has none of zeros, that they mean something.
    fn tells(&self) -> bool {
        let is_text = |byte: &&u8| **byte != 0;
        let before = self.before.iter().rev().take_while(is_text).count();
        before + self.after.iter().take_while(is_text).count() >= TELLING
    }
}

/// Bytes of memory from `address` on, as many as there are, up to [`CONTEXT`].
fn bytes_from(m: &dyn Machine, address: u64) -> Vec<u8> {
    readable(m, address, address.saturating_add(CONTEXT as u64))
}

/// Bytes of memory before `address`.
fn bytes_before(m: &dyn Machine, address: u64) -> Vec<u8> {
    let start = address.saturating_sub(CONTEXT as u64);
    let page = address & !0xfff;
    if start < page {
        let mut bytes = readable(m, start, page);
        let whole = bytes.len() as u64 == page - start;
        if !whole {
            bytes.clear();
        }
        bytes.extend(readable(m, page, address));
        return bytes;
    }
    readable(m, start, address)
}
