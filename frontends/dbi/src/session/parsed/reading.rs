//! Texts in which the program may find numbers, noted as it gets them: what it reads, its arguments and its environment.
//!
//! Which numbers it parses from them is for its parent.

use super::{LONGEST, ParsedInputs};
use crate::hooks::abi;
use crate::hooks::machine::{Machine, read_u64};
use crate::session::state::{Session, State};
use crate::session::texts;
use crate::session::tree;
use shadowgrind_core::spec::TextSource;

/// Beginnings of paths of files that hold no data of a program: what a system says of itself (the last in the tool's words),
/// and an interpreter's own libraries. Their numbers are not looked at, unless an input names the file.
const SYSTEM: [&str; 5] = ["/proc/", "/sys/", "/etc/", "/usr/lib/", "/memfd:shadowgrind"];

/// Tells whether standard input is the file at `path`.
fn is_standard_input(path: &str) -> bool {
    std::fs::read_link("/proc/self/fd/0").is_ok_and(|file| file.as_os_str() == path)
}

impl Session {
    /// Tells whether texts that the program reads are wanted.
    pub(crate) fn wants_texts(&self) -> bool {
        self.parses
    }

    /// Notes what the system call at `pc` has read of a file or pipe from `offset` on, in pieces of address and length. `path`
    /// is the file's, or nothing for standard input.
    pub(crate) fn read(
        &self,
        pc: u64,
        (path, offset): (Option<&str>, Option<usize>),
        pieces: &[(u64, u64)],
        m: &mut dyn Machine,
    ) {
        let mut state = self.state.lock();
        let Some(parsed) = &state.parsed else { return };
        let is_named =
            |name: &TextSource| parsed.inputs.iter().any(|input| input.name.as_ref() == Some(name));
        let file = path.map(|path| (path, TextSource::File(path.to_owned())));
        let name = match file {
            // A program may open /dev/stdin.
            Some((path, file))
                if !is_named(&file) && is_named(&TextSource::Stdin) && is_standard_input(path) =>
            {
                TextSource::Stdin
            }
            Some((_, file)) => file,
            None => TextSource::Stdin,
        };
        let is_of_system = path.is_some_and(|path| SYSTEM.iter().any(|folder| path.starts_with(folder)));
        let is_named = is_named(&name);
        if is_of_system && !is_named {
            return;
        }
        let is_wanted = is_named || state.report.listing.is_some();
        let reader = (is_wanted && !parsed.readers.contains_key(&name)).then(|| state.caller(pc, m));
        let Some(parsed) = &mut state.parsed else { return };
        parsed.readers.extend(reader.map(|reader| (name.clone(), reader)));
        parsed.read(&name, offset, pieces, m);
    }
}

impl ParsedInputs {
    /// Notes the pieces of the text `name` that the program has read, from `offset` on or where it has come to.
    fn read(&mut self, name: &TextSource, offset: Option<usize>, pieces: &[(u64, u64)], m: &dyn Machine) {
        let mut at = offset.unwrap_or_else(|| self.texts.length(name));
        for &(address, length) in pieces {
            if length > texts::LARGEST as u64 {
                return;
            }
            let bytes = texts::readable(m, address, address + length);
            self.texts.read(name.clone(), at, &bytes, address);
            at += bytes.len();
        }
    }

    /// Notes a variable of the environment, `NAME=VALUE` at `address`, if an input names it or all numbers are listed.
    fn read_variable(&mut self, bytes: &[u8], address: u64, lists: bool) {
        let Some(sign) = bytes.iter().position(|&byte| byte == b'=') else { return };
        let name = String::from_utf8_lossy(&bytes[..sign]).into_owned();
        let name = TextSource::Environment(name);
        if lists || self.inputs.iter().any(|input| input.name.as_ref() == Some(&name)) {
            self.texts.read(name, 0, &bytes[sign + 1..], address + sign as u64 + 1);
        }
    }
}

/// Bytes of the string at `address`, without the zero at its end.
fn string(m: &dyn Machine, address: u64) -> Vec<u8> {
    let mut bytes = texts::readable(m, address, address + LONGEST);
    bytes.truncate(bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len()));
    bytes
}

impl State {
    /// Notes the arguments and the environment of the program, whose first instruction is about to run. `words`: the
    /// command as the user typed it.
    pub(in crate::session) fn note_arguments(&mut self, words: &[String], m: &mut dyn Machine) {
        let Some(parsed) = &mut self.parsed else { return };
        let stack = m.general(abi::RSP);
        let Ok(count) = read_u64(m, stack) else { return };

        let mut given = Vec::new();
        for index in 1..count {
            let Ok(address) = read_u64(m, stack + 8 * (index + 1)) else { return };
            given.push((address, string(m, address)));
        }
        for (word, argument) in typed(words, &given) {
            let (address, bytes) = &given[argument];
            parsed.texts.read(TextSource::Argument(word as u32), 0, bytes, *address);
        }
        for index in count + 2.. {
            let Ok(address @ 1..) = read_u64(m, stack + 8 * index) else { return };
            parsed.read_variable(&string(m, address), address, self.report.listing.is_some());
        }
    }
}

/// Words of the command, by their numbers, that are among the arguments which a program was given, without its name: the last
/// of one are the last of the other, if they are the same. One that is executed may be given others, and a word is
/// then the only argument that is the same.
fn typed(words: &[String], given: &[(u64, Vec<u8>)]) -> Vec<(usize, usize)> {
    let is = |word: usize, (_, bytes): &(u64, Vec<u8>)| {
        tree::escaped(&String::from_utf8_lossy(bytes)) == words[word]
    };
    let argument = |word: usize| {
        let last = (word + given.len()).checked_sub(words.len());
        let mut same = (0..given.len()).filter(|&n| is(word, &given[n]));
        match last.filter(|&n| is(word, &given[n])) {
            Some(last) => Some(last),
            None => same.next().filter(|_| same.next().is_none()),
        }
    };
    (1..words.len()).filter_map(|word| Some((word, argument(word)?))).collect()
}
