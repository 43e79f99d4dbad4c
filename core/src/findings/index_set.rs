//! Sets of output indices: which outputs a cause reached.
//!
//! A loop that prints three numbers a turn, one of them wrong, makes an arithmetic progression; a set is a list of
//! those, so that a cause of ten million wrong outputs is still a few bytes.

use std::fmt;

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Indices first, first + step, … : `count` of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    first: u64,
    step: u64,
    count: u64,
}

impl Run {
    fn last(&self) -> u64 {
        self.first + self.step * (self.count - 1)
    }

    fn iter(self) -> impl Iterator<Item = u64> {
        (0..self.count).map(move |i| self.first + i * self.step)
    }
}

/// A set of output indices, small when they are regular.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexSet {
    runs: Vec<Run>,
}

impl IndexSet {
    /// The empty set.
    pub fn new() -> Self {
        IndexSet::default()
    }

    /// Adds `index`. Cheap in increasing order, which is how outputs come.
    pub fn insert(&mut self, index: u64) {
        match self.runs.last_mut() {
            Some(run) if index < run.last() => self.insert_inside(index),
            Some(run) if index == run.last() => {}
            Some(run) if run.count == 1 => *run = Run { step: index - run.first, count: 2, ..*run },
            Some(run) if index == run.last() + run.step => run.count += 1,
            _ => self.runs.push(Run { first: index, step: 1, count: 1 }),
        }
    }

    fn insert_inside(&mut self, index: u64) {
        let mut all: Vec<u64> = self.iter().chain([index]).collect();
        all.sort_unstable();
        *self = all.into_iter().collect();
    }

    /// The union of two sets.
    pub fn union(&self, other: &IndexSet) -> IndexSet {
        let (mut a, mut b) = (self.iter().peekable(), other.iter().peekable());
        std::iter::from_fn(|| match (a.peek(), b.peek()) {
            (Some(x), Some(y)) if y < x => b.next(),
            (Some(_), _) => a.next(),
            (None, _) => b.next(),
        })
        .collect()
    }

    /// Indices that these outputs have when only those of `kept`, ascending, are left and numbered anew.
    pub fn among(&self, kept: &[u64]) -> IndexSet {
        self.iter().filter_map(|index| kept.binary_search(&index).ok()).map(|index| index as u64).collect()
    }

    /// The indices in increasing order.
    pub fn iter(&self) -> impl Iterator<Item = u64> {
        self.runs.iter().flat_map(|run| run.iter())
    }

    /// Number of indices.
    pub fn len(&self) -> u64 {
        self.runs.iter().map(|run| run.count).sum()
    }

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }
}

impl FromIterator<u64> for IndexSet {
    fn from_iter<I: IntoIterator<Item = u64>>(indices: I) -> Self {
        let mut set = IndexSet::new();
        indices.into_iter().for_each(|index| set.insert(index));
        set
    }
}

/// A list of all indices, ascending.
impl Serialize for IndexSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for IndexSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = IndexSet;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of indices")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<IndexSet, A::Error> {
                let mut set = IndexSet::new();
                while let Some(index) = list.next_element()? {
                    set.insert(index);
                }
                Ok(set)
            }
        }
        deserializer.deserialize_seq(Read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_third_output_is_one_run() {
        let set: IndexSet = (0..1_000_000).map(|i| 1 + 3 * i).collect();
        assert_eq!(set.runs.len(), 1);
        assert_eq!(set.len(), 1_000_000);
        assert_eq!(set.iter().nth(2), Some(7));
    }

    #[test]
    fn irregular_sets_keep_their_members_in_order() {
        let members = [0, 5, 6, 7, 8, 20, 22, 24, 100];
        let set: IndexSet = members.into_iter().collect();
        assert_eq!(set.iter().collect::<Vec<_>>(), members);
        assert_eq!(set.len(), members.len() as u64);
    }

    #[test]
    fn order_and_repetition_do_not_matter() {
        let set: IndexSet = [9, 3, 9, 1, 3].into_iter().collect();
        assert_eq!(set.iter().collect::<Vec<_>>(), [1, 3, 9]);
    }

    #[test]
    fn union_merges() {
        let even: IndexSet = (0..5).map(|i| 2 * i).collect();
        let low: IndexSet = (0..4).collect();
        assert_eq!(even.union(&low).iter().collect::<Vec<_>>(), [0, 1, 2, 3, 4, 6, 8]);
        assert_eq!(IndexSet::new().union(&low), low);
        assert!(IndexSet::new().is_empty());
    }
}
