//! GMP set up for the engine: the memory of its numbers, and the code that it reckons with.
//!
//! Numbers are allocated like everything else in the engine: the C library's `malloc` does not know of the
//! engine's threads and would be used by several at once. GMP chooses its inner loops by the processor's model number,
//! and for Intel's of 2019 and later, which it does not know, takes those for any processor, half as fast as the ones
//! for Broadwell, all of whose instructions they have.

use shadowgrind_shadows::gmp;
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error, realloc};
use std::ffi::c_void;

/// A function on limbs. They have various signatures, of which nothing is known here: they are not called.
type Function = unsafe extern "C" fn();
/// Number of functions GMP 6.3 chooses by processor: that many pointers are at the beginning of its table, which no header
/// describes (`struct cpuvec_t`, gmp-impl.h).
const FUNCTIONS: usize = 37;
const _: () = assert!(gmp::VERSION == 6 && gmp::VERSION_MINOR == 3, "another GMP may have another table");

macro_rules! functions {
    ($($any:ident => $broadwell:ident,)+) => {
        unsafe extern "C" {
            $(fn $any();)+
            $(fn $broadwell();)+
            /// Fills the table in.
            fn __gmpn_cpuvec_init();
            static mut __gmpn_cpuvec: [Option<Function>; FUNCTIONS];
        }
        /// GMP's functions for any processor, and the same for Broadwell.
        const FASTER: &[(Function, Function)] = &[$(($any, $broadwell)),+];
    };
}

functions! {
    __gmpn_add_n_x86_64 => __gmpn_add_n_coreihwl,
    __gmpn_sub_n_x86_64 => __gmpn_sub_n_coreihwl,
    __gmpn_mul_1_x86_64 => __gmpn_mul_1_coreibwl,
    __gmpn_addmul_1_x86_64 => __gmpn_addmul_1_coreibwl,
    __gmpn_submul_1_x86_64 => __gmpn_submul_1_coreihwl,
    __gmpn_addmul_2_fat => __gmpn_addmul_2_coreihwl,
    __gmpn_mul_basecase_fat => __gmpn_mul_basecase_coreibwl,
    __gmpn_mullo_basecase_fat => __gmpn_mullo_basecase_coreibwl,
    __gmpn_lshift_x86_64 => __gmpn_lshift_coreisbr,
    __gmpn_rshift_x86_64 => __gmpn_rshift_coreisbr,
}

const ALIGNMENT: usize = 16;

/// Has GMP, and what is built on it, use the engine's heap. Before the first number is made.
pub(super) fn use_engine_heap() {
    // SAFETY: no number exists yet, and the three functions belong together.
    unsafe { gmp::set_memory_functions(Some(allocate), Some(reallocate), Some(free)) };
}

/// Has GMP use the faster of its inner loops, where it has chosen those for any processor. Before the first number is
/// made.
pub(super) fn use_fast_loops() {
    if !(is_x86_feature_detected!("bmi2") && is_x86_feature_detected!("adx")) {
        return;
    }
    // SAFETY: it takes no arguments, and writes the same each time.
    unsafe { __gmpn_cpuvec_init() };
    let table: *mut [Option<Function>; FUNCTIONS] = &raw mut __gmpn_cpuvec;
    // SAFETY: GMP's table begins with that many pointers to functions. No other thread uses it: there are no numbers yet.
    let table = unsafe { &mut *table };
    for function in table.iter_mut().flatten() {
        let known = FASTER.iter().find(|(any, _)| std::ptr::fn_addr_eq(*any, *function));
        if let Some(&(_, faster)) = known {
            *function = faster;
        }
    }
}

/// The layout of a block; GMP never asks for nothing, but a block without size is allowed here.
fn layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes.max(1), ALIGNMENT).expect("numbers are smaller than the address space")
}

extern "C" fn allocate(bytes: usize) -> *mut c_void {
    let layout = layout(bytes);
    // SAFETY: the size is not zero.
    let block = unsafe { alloc(layout) };
    if block.is_null() {
        handle_alloc_error(layout);
    }
    block.cast()
}

unsafe extern "C" fn reallocate(block: *mut c_void, old: usize, new: usize) -> *mut c_void {
    // SAFETY: GMP gives back what `allocate` gave, with the size it asked for.
    let block = unsafe { realloc(block.cast(), layout(old), new.max(1)) };
    if block.is_null() {
        handle_alloc_error(layout(new));
    }
    block.cast()
}

unsafe extern "C" fn free(block: *mut c_void, bytes: usize) {
    // SAFETY: GMP gives back what `allocate` gave, with the size it asked for.
    unsafe { dealloc(block.cast(), layout(bytes)) };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table is as long as it is taken to be: functions of this executable all the way, and no more behind them.
    #[test]
    fn the_table_has_that_many_functions() {
        // SAFETY: it takes no arguments, and writes the same each time.
        unsafe { __gmpn_cpuvec_init() };
        let first = (&raw const __gmpn_cpuvec).cast::<usize>();
        // SAFETY: thresholds follow the functions in GMP's table (`struct cpuvec_t`), so that there is a word more.
        let table: &[usize] = unsafe { std::slice::from_raw_parts(first, FUNCTIONS + 1) };
        let word = |n: usize| table[n];
        let near = |address: usize| address.abs_diff(__gmpn_cpuvec_init as *const () as usize) < 1 << 30;
        assert!((0..FUNCTIONS).all(|n| near(word(n))));
        assert!(!near(word(FUNCTIONS)), "{:#x}", word(FUNCTIONS));
    }
}
