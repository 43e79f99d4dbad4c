//! Numbers of texts that are alike: of one value, and written in one way, or integers. Thousands are, where a table has many zeros.
//!
//! Says without a look at all of them which a copy is of which nothing around tells. Knows no memory.

use super::{Candidates, Origin, Place, Text, Texts, key};
use shadowgrind_core::spec::TextSource;

/// Kind of numbers that have not been read where they were given, nor been read past.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Alike {
    /// The [`key`] of their value.
    key: u64,
    /// The text as which they are written; nothing for integers, however they are.
    text: Option<Vec<u8>>,
}

impl Alike {
    /// Numbers of this value that are written as `text`.
    pub(super) fn written(text: &[u8], value: f64) -> Alike {
        Alike { key: key(value), text: Some(text.to_vec()) }
    }

    /// Integers of this value.
    pub(super) fn integers(value: f64) -> Alike {
        Alike { key: key(value), text: None }
    }
}

impl Text {
    /// Tells whether the program reads the numbers of the text in order: arguments and variables it does not.
    pub(super) fn is_in_order(&self) -> bool {
        matches!(self.name, TextSource::Stdin | TextSource::File(_))
    }

    /// Tells whether the program has parsed a number where it was given, or read past it: it hardly parses a copy too then.
    pub(super) fn is_read(&self, token: usize) -> bool {
        self.in_place.contains(&token) || self.integers.contains(&token)
    }

    /// The numbers from `first` on whose values have this [`key`].
    pub(super) fn of_value(&self, key: u64, first: usize) -> &[usize] {
        let tokens = self.by_value.get(&key).map_or(&[][..], |tokens| &tokens[..]);
        &tokens[tokens.partition_point(|&token| token < first)..]
    }

    /// The numbers from `first` on that are `alike`.
    fn fitting<'a>(&'a self, alike: &'a Alike, first: usize) -> impl Iterator<Item = usize> + 'a {
        let is_written = move |token: usize| {
            let token = &self.scan.tokens[token];
            match &alike.text {
                Some(text) => self.bytes[token.start..token.end] == text[..],
                None => token.is_integer,
            }
        };
        let tokens = self.of_value(alike.key, first).iter().copied();
        tokens.filter(move |&token| !self.is_read(token) && is_written(token))
    }

    /// Tells whether a number is next in the text, past integers that may have been read by a function for integers.
    pub(super) fn is_next(&self, token: usize) -> bool {
        self.scan.tokens[self.next..token].iter().all(|token| token.is_integer)
    }
}

impl Texts {
    /// The numbers of text `text` from number `first` on that are `alike`.
    fn fitting<'a>(
        &'a self,
        text: usize,
        alike: &'a Alike,
        first: usize,
    ) -> impl Iterator<Item = Place> + 'a {
        self.all[text].fitting(alike, first).map(move |token| Place { text, token })
    }

    /// The origin of a copy of a number that is `alike`, where nothing around the copy tells: as [`Texts::in_order`] says it of all
    /// of these. Nothing if there are none.
    pub(super) fn in_order_of_alike(&self, alike: Alike) -> Option<Origin> {
        let fitting = |n: usize, first: usize| self.fitting(n, &alike, first);
        let firsts: Vec<Place> = (0..self.all.len()).filter_map(|n| fitting(n, 0).next()).collect();
        let next =
            |n: usize| fitting(n, self.all[n].next).next().filter(|place| self.all[n].is_next(place.token));
        let found = match firsts[..] {
            [] => return None,
            [first] if fitting(first.text, first.token + 1).next().is_none() => Some(first),
            [first] if self.all[first.text].is_in_order() => next(first.text),
            _ => {
                let current = self.current.filter(|&n| self.stand_in_variables(&firsts, n));
                let last = self.last.and_then(|last| fitting(last.text, last.token + 1).next());
                current.and_then(next).or_else(|| last.filter(|&place| self.follows_last(place)))
            }
        };
        Some(match found {
            Some(place) => Origin::Known(place),
            None => Origin::Ambiguous(Candidates::Alike(alike)),
        })
    }

    /// The places of these numbers.
    pub(crate) fn places(&self, candidates: &Candidates) -> Vec<Place> {
        match candidates {
            Candidates::At(places) => places.clone(),
            Candidates::Alike(alike) => (0..self.all.len()).flat_map(|n| self.fitting(n, alike, 0)).collect(),
        }
    }

    /// Tells whether a text has a number among these.
    pub(crate) fn has_any(&self, name: &TextSource, candidates: &Candidates) -> bool {
        let Some(&n) = self.by_name.get(name) else { return false };
        match candidates {
            Candidates::At(places) => places.iter().any(|place| place.text == n),
            Candidates::Alike(alike) => self.fitting(n, alike, 0).next().is_some(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: [(&str, f64); 5] = [("0", 0.0), ("0.5", 0.5), (".5", 0.5), ("7", 7.0), ("0.25", 0.25)];

    fn places_of(texts: &Texts, origin: &Origin) -> Vec<Place> {
        match origin {
            Origin::Known(place) => vec![*place],
            Origin::Ambiguous(candidates) => texts.places(candidates),
            Origin::Unknown => Vec::new(),
        }
    }

    /// Numbers parsed in any order are what a look at all of them says.
    #[test]
    fn a_look_at_all_says_the_same() {
        let tables = ["0 0.5 7 0 .5 0.5 0 0\n7 0.25 0.5", "0 7 0.5 0.25 .5", "0.5 0 0.5", "0", ".5"];
        let names = [
            TextSource::File("a".to_owned()),
            TextSource::Stdin,
            TextSource::Argument(1),
            TextSource::Environment("HOME".to_owned()),
            TextSource::Argument(2),
        ];
        for given in 1..1 << tables.len() {
            let mut texts = Texts::default();
            for n in (0..tables.len()).filter(|n| given >> n & 1 == 1) {
                texts.read(names[n].clone(), 0, tables[n].as_bytes(), 0x1000 * (n as u64 + 1));
            }
            texts.all.iter_mut().for_each(Text::update);
            for step in 0_usize..40 {
                let (text, value) = WORDS[step * step % 11 % WORDS.len()];
                let alike = match step % 3 {
                    0 => Alike::integers(value),
                    _ => Alike::written(text.as_bytes(), value),
                };
                let all = texts.places(&Candidates::Alike(alike.clone()));
                let Some(origin) = texts.in_order_of_alike(alike) else {
                    assert!(all.is_empty());
                    continue;
                };
                assert_eq!(places_of(&texts, &origin), places_of(&texts, &texts.in_order(all)));
                if let Some(place) = origin.known() {
                    texts.all[place.text].next = place.token + 1;
                    (texts.current, texts.last) = (Some(place.text), Some(place));
                }
            }
        }
    }
}
