//! Texts that the program wrote, and the places of printed floats in them.
//!
//! Knows neither how texts are caught nor how floats are found in them.

use std::borrow::Cow;

use crate::spec::Stream;

/// Bytes of all texts together that are kept.
const KEPT: usize = 64 << 20;

/// Text that went to one stream, from its first byte.
#[derive(Clone, Debug)]
pub struct WrittenText {
    /// The stream.
    pub stream: Stream,
    /// The bytes; none if they are no text.
    pub bytes: Vec<u8>,
    /// True if a byte was written that no text has.
    is_binary: bool,
}

/// Place of a number in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrintedAt {
    /// Number of the text.
    pub text: u32,
    /// The line, from 1.
    pub line: u32,
    /// The number among those of the line, from 1.
    pub number: u32,
    /// Offset of its first byte in the line, from 1.
    pub column: u32,
    /// Offset of its first byte in the text, from 0.
    pub start: u32,
    /// Offset past its last byte in the text.
    pub end: u32,
    /// Bytes on the line between it and the number before it, or the line's start.
    pub apart: u32,
}

/// Label of a number that is printed after `text`: its last line, without what separates it from what is before. None if no
/// letter or digit is left.
pub fn label_at_end(text: &str) -> Option<&str> {
    let line = text.rsplit('\n').next().unwrap_or_default();
    const BETWEEN: &str = ",;:|)]}=>-*#";
    let is_between = |c: char| c.is_whitespace() || BETWEEN.contains(c);
    let label = line.trim_start_matches(is_between).trim_end();
    label.contains(char::is_alphanumeric).then_some(label)
}

/// Texts that the program wrote.
#[derive(Debug, Default)]
pub struct WrittenTexts {
    texts: Vec<WrittenText>,
    size: usize,
    is_cut: bool,
    /// The place of each output, as far as it was found.
    places: Vec<Option<PrintedAt>>,
    /// More places of outputs, in ascending order of these: in copies of their lines.
    copies: Vec<(u64, PrintedAt)>,
}

impl WrittenTexts {
    /// Appends `bytes` to the text of `stream`. Of what exceeds 64 MiB in all nothing is kept.
    pub fn append(&mut self, stream: Stream, bytes: &[u8]) {
        let number = self.texts.iter().position(|text| text.stream == stream).unwrap_or_else(|| {
            self.texts.push(WrittenText { stream, bytes: Vec::new(), is_binary: false });
            self.texts.len() - 1
        });
        let text = &mut self.texts[number];
        if text.is_binary {
            return;
        }
        if bytes.contains(&0) {
            self.size -= text.bytes.len();
            *text = WrittenText { stream: text.stream.clone(), bytes: Vec::new(), is_binary: true };
            return;
        }
        self.is_cut |= bytes.len() > KEPT - self.size;
        if !self.is_cut {
            self.size += bytes.len();
            text.bytes.extend_from_slice(bytes);
        }
    }

    /// Tells whether more was written than is kept.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// The texts, in the order of their first bytes.
    pub fn all(&self) -> &[WrittenText] {
        &self.texts
    }

    /// Notes that output `index` stands at `place`. Outputs are placed in ascending order.
    pub fn put(&mut self, index: u64, place: PrintedAt) {
        let index = index as usize;
        if self.places.len() <= index {
            self.places.resize(index + 1, None);
        }
        self.places[index] = Some(place);
    }

    /// Notes that output `index`, which has a place, stands at `place` as well; in ascending order of outputs.
    pub fn put_copy(&mut self, index: u64, place: PrintedAt) {
        self.copies.push((index, place));
    }

    /// All places of output `index`, copies last.
    pub fn places(&self, index: u64) -> impl Iterator<Item = PrintedAt> + '_ {
        let first = self.copies.partition_point(|(of, _)| *of < index);
        let copies = self.copies[first..].iter().take_while(move |(of, _)| *of == index);
        self.place(index).into_iter().chain(copies.map(|(_, at)| *at))
    }

    /// The place of output `index`, if it was found.
    pub fn place(&self, index: u64) -> Option<PrintedAt> {
        self.places.get(index as usize).copied().flatten()
    }

    /// The stream that `place` is in.
    pub fn stream(&self, place: PrintedAt) -> &Stream {
        &self.texts[place.text as usize].stream
    }

    /// The text of the number at `place`.
    pub fn text(&self, place: PrintedAt) -> Cow<'_, str> {
        let PrintedAt { text, start, end, .. } = place;
        String::from_utf8_lossy(&self.texts[text as usize].bytes[start as usize..end as usize])
    }

    /// The text before `place` on its line.
    pub fn before(&self, place: PrintedAt) -> Cow<'_, str> {
        let start = place.start as usize;
        let line = start + 1 - place.column as usize;
        String::from_utf8_lossy(&self.texts[place.text as usize].bytes[line..start])
    }

    /// Label of the number at `place`: the text between it and the number before it on its line.
    pub fn label(&self, place: PrintedAt) -> Option<String> {
        let PrintedAt { text, start, apart, .. } = place;
        let between = &self.texts[text as usize].bytes[(start - apart) as usize..start as usize];
        label_at_end(&String::from_utf8_lossy(between)).map(str::to_owned)
    }

    /// Leaves the places of outputs with these indices, which are ascending; they get new ones, from 0.
    pub(super) fn keep(&mut self, kept: &[u64]) {
        let copies = (0..).zip(kept).flat_map(|(now, &index)| {
            let copies: Vec<PrintedAt> = self.places(index).skip(1).collect();
            copies.into_iter().map(move |at| (now, at))
        });
        (self.copies, self.places) =
            (copies.collect(), kept.iter().map(|&index| self.place(index)).collect());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_grow_by_stream_until_they_are_none() {
        let mut texts = WrittenTexts::default();
        texts.append(Stream::Stdout, b"1.5\n");
        texts.append(Stream::Stderr, b"x");
        texts.append(Stream::Stdout, b"2.5\n");
        texts.append(Stream::Stderr, b"\0");
        texts.append(Stream::Stderr, b"y");
        let found: Vec<&[u8]> = texts.all().iter().map(|text| &text.bytes[..]).collect();
        assert_eq!(found, [&b"1.5\n2.5\n"[..], b""]);
        assert!(!texts.is_cut());
        texts.append(Stream::Stdout, &vec![b' '; KEPT]);
        assert!(texts.is_cut());
        assert_eq!(texts.all()[0].bytes.len(), 8);
    }

    #[test]
    fn places_follow_their_outputs() {
        let mut texts = WrittenTexts::default();
        let place = PrintedAt { text: 0, line: 2, number: 1, column: 4, start: 10, end: 13, apart: 3 };
        let copy = PrintedAt { text: 1, ..place };
        texts.put(3, place);
        texts.put_copy(3, copy);
        texts.keep(&[1, 3]);
        assert_eq!((texts.place(0), texts.place(1), texts.place(3)), (None, Some(place), None));
        assert_eq!(texts.places(1).collect::<Vec<_>>(), [place, copy]);
        assert_eq!(texts.places(0).count(), 0);
    }
}
