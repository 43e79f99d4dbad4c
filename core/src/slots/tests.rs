//! Tests of slots against a plain map.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::*;

const F64: Format = Format::F64;

/// A reproducible sequence (Knuth's MMIX generator).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % bound
    }
}

/// Has a handle stand for a double, with a shadow or without.
fn fill<V>(slots: &mut Slots<V>, handle: u64, bits: u128, shadow: Option<V>) {
    slots.assign(handle, F64, bits, shadow);
}

#[test]
fn a_cell_is_as_small_as_planned() {
    assert_eq!(size_of::<page::Slot<Arc<u8>>>(), 24);
}

#[test]
fn other_bits_or_another_format_find_nothing() {
    let mut slots = Slots::new();
    let handle = slots.insert(Format::F80, 7 << 64 | 9, 'a');
    assert_ne!(handle, NO_HANDLE);
    assert_eq!(slots.get(handle, Format::F80, 7 << 64 | 9), Some(&'a'));
    assert_eq!(slots.get(handle, Format::F80, 8 << 64 | 9), None);
    assert_eq!(slots.get(handle, F64, 9), None);
    assert_eq!(slots.get(NO_HANDLE, F64, 0), None);
    assert_eq!(slots.get(u64::MAX, F64, 0), None);
}

#[test]
fn memory_of_a_handle_is_where_its_shadow_is() {
    let mut slots = Slots::new();
    let handles: Vec<u64> = (0..2000).map(|n| slots.insert(F64, n, n)).collect();
    for (n, &handle) in (0..2000).zip(&handles) {
        let shadow = std::ptr::from_ref(slots.get(handle, F64, n).expect("a shadow"));
        let start = slots.address(handle).expect("it was handed out");
        let slot = start..start.wrapping_add(Slots::<u64>::SLOT_BYTES);
        assert!(slot.contains(&shadow.cast()));
    }
    assert!(slots.address(u64::MAX).is_none() && Slots::<u8>::new().address(1).is_none());
}

#[test]
fn traces_of_traces_come_to_an_end() {
    let mut slots = Slots::new();
    let handle = slots.insert(Format::F64, 1, 'a');
    let mut trace = slots.trace_of(handle);
    let mut traces = 0;
    while let Some(byte) = trace {
        let word = u32::from_le_bytes([byte; 4]);
        assert!(slots.stands_for_any(word.into()) && slots.get(word.into(), Format::F64, 1).is_none());
        // A byte that is masked off leaves one.
        assert_eq!(slots.trace_of((word & 0xff_ffff).into()), slots.trace_of(word.into()));
        trace = slots.trace_of(word.into());
        traces += 1;
    }
    assert_eq!(traces, 16);
    // Parts of handles and of traces, as code has them that takes floats apart byte by byte.
    for part in [0x7f, 0x7f7f, 0x70, 3, 0x1200] {
        assert!(slots.stands_for_any(part) && slots.get(part, Format::F64, 1).is_none());
    }
    assert_eq!(
        [0x7f, 0x7f00, 0x70, 3].map(|part| slots.trace_of(part)),
        [Some(0x7e), Some(0x7e), None, Some(0x7f)]
    );
    assert!(!slots.stands_for_any(NO_HANDLE) && slots.trace_of(NO_HANDLE).is_none());
    assert_eq!(slots.trace_of(handle + 1), None);
}

#[test]
fn slots_are_many_beyond_what_is_handed_out_between_sweeps() {
    let mut slots = Slots::new();
    for n in 0..SWEEP_INTERVAL.into() {
        slots.insert(F64, n, 'a');
    }
    assert!(!slots.are_many());
    for n in 0..2 * MANY as u128 {
        slots.insert(F64, n, 'a');
    }
    assert!(slots.are_many());
}

#[test]
fn bits_above_the_format_are_ignored() {
    let mut slots = Slots::new();
    let handle = slots.insert(Format::F32, 0xffff_0000_0001, 'a');
    assert_eq!(slots.get(handle, Format::F32, 1), Some(&'a'));
}

#[test]
fn handles_are_pending_from_when_they_are_handed_out_until_they_are_assigned() {
    let mut slots = Slots::new();
    let handle = slots.reserve();
    assert!(slots.is_pending(handle) && !slots.is_pending(NO_HANDLE) && !slots.is_pending(u64::MAX));
    fill(&mut slots, handle, 1, None::<char>);
    assert!(!slots.is_pending(handle));
    slots.sweep([]);
    assert!(!slots.is_pending(handle), "nobody has it");
}

#[test]
fn reserved_handles_survive_until_assigned() {
    let mut slots = Slots::new();
    let [first, second, third] = std::array::from_fn(|_| slots.reserve());
    fill(&mut slots, first, 1, Some('a'));
    fill(&mut slots, second, 2, None);
    slots.sweep([first]);
    assert_eq!(slots.live(), 1);
    // The third is still out: nobody else may get it.
    let others: Vec<u64> = (0..2000).map(|_| slots.insert(F64, 5, 'b')).collect();
    assert!(!others.contains(&third) && !others.contains(&first));
    assert!(others.contains(&second));
    fill(&mut slots, third, 3, Some('c'));
    assert_eq!(slots.get(third, F64, 3), Some(&'c'));
    assert_eq!(slots.get(first, F64, 1), Some(&'a'));
}

#[test]
fn sweeping_frees_what_is_not_marked_and_recycles_handles() {
    let mut slots = Slots::new();
    let shadow = Arc::new(());
    for round in 0..50 {
        let handles: Vec<u64> = (0..5000).map(|i| slots.insert(F64, i, shadow.clone())).collect();
        assert!(handles.iter().all(|&t| t < FIRST + 12_000), "round {round}: handles are not recycled");
        slots.sweep(handles.iter().copied().step_by(10).chain([u64::MAX, 0, 1 << 31]));
        assert_eq!(slots.live(), 500);
        // Shadows nobody refers to are dropped when their slots are used again.
        assert!(Arc::strong_count(&shadow) <= 1 + 500 * (round + 1) + 5000);
        assert!(handles[1..10].iter().all(|&handle| slots.get(handle, F64, 1).is_none()));
        slots.sweep([]);
    }
    slots.sweep([]);
    assert_eq!(slots.live(), 0);
}

#[test]
fn sweeps_are_wanted_in_proportion() {
    let mut slots = Slots::new();
    assert!(!slots.wants_sweep());
    for _ in 0..SWEEP_INTERVAL {
        slots.insert(F64, 0, ());
    }
    assert!(slots.wants_sweep());
    slots.sweep([]);
    assert!(!slots.wants_sweep());
    assert_eq!(slots.live(), 0);
}

#[test]
fn random_use_agrees_with_a_map() {
    let (mut slots, mut truth, mut next) = (Slots::new(), BTreeMap::new(), Numbers(1));
    for step in 0..200_000u64 {
        match next.below(1000) {
            0 => {
                truth.retain(|_, _| next.below(3) == 0);
                slots.sweep(truth.keys().copied());
                assert_eq!(slots.live(), truth.len());
            }
            1..=20 => {
                let handles: Vec<u64> = (0..1 + next.below(700)).map(|_| slots.reserve()).collect();
                for handle in handles {
                    let shadow = (next.below(4) > 0).then_some(step);
                    fill(&mut slots, handle, u128::from(step), shadow);
                    match shadow {
                        Some(shadow) => assert_eq!(truth.insert(handle, shadow), None),
                        None => assert_eq!(slots.get(handle, F64, u128::from(step)), None),
                    }
                }
            }
            _ => {
                let handle = slots.insert(F64, u128::from(step), step);
                assert_eq!(truth.insert(handle, step), None, "handle {handle} was in use");
            }
        }
    }
    for (&handle, &shadow) in &truth {
        assert_eq!(slots.get(handle, F64, u128::from(shadow)), Some(&shadow));
    }
    assert!(PAGE * slots.pages.len() < 600_000, "handles are recycled");
}
