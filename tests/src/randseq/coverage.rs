//! Coverage: which of iced's instructions really occur in generated cases, and a statement of those that do not.

use super::campaign::build;
use super::catalog::{Catalog, Isa};
use super::op::{Case, Piece};
use super::profile::PROFILES;
use iced_x86::Code;
use std::collections::HashSet;
use std::fmt::Write;

/// The instructions in `cases` cases, spread over all profiles that need no more than `isa`.
pub fn generated(catalog: &Catalog, isa: Isa, seed: u64, cases: u64) -> HashSet<Code> {
    let profiles: Vec<_> = PROFILES.iter().filter(|p| p.isa <= isa).collect();
    let all: u64 = profiles.iter().map(|p| p.cases).sum();
    let mut seen = HashSet::new();
    for profile in profiles {
        for index in 0..cases * profile.cases / all {
            seen.extend(codes(&build(catalog, profile, seed, index).0));
        }
    }
    seen
}

fn codes(case: &Case) -> impl Iterator<Item = Code> {
    case.ops.iter().filter_map(|op| match &op.piece {
        Piece::Instr(instr, _) => Some(instr.code()),
        _ => None,
    })
}

pub fn statement(catalog: &Catalog, isa: Isa, seen: &HashSet<Code>) -> String {
    let expected = catalog.expected(isa);
    let covered = expected.iter().filter(|c| seen.contains(c)).count();
    let mut text = format!("{covered} of {} instructions (iced codes) generated; by idioms:", expected.len());
    for (name, codes) in catalog.idioms() {
        write!(text, " {name} {},", codes.len()).expect("writing to a string");
    }
    write!(text, "\nnot on this machine: {}; denied:", catalog.absent.len()).expect("writing to a string");
    for (why, codes) in &catalog.denied {
        write!(text, "\n  {:4} {why}", codes.len()).expect("writing to a string");
    }
    text
}
