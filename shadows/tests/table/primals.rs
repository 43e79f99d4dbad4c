//! Operations in floats against MPFR: the real result, rounded once to nearest.

use shadowgrind_core::arith::Host;
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;

use crate::points::{Random, exact, nearest, operands, real};

/// Every sum and product of operands of `points` is exact in so many bits.
const BITS: u32 = 1500;
const POINTS: usize = 2000;

#[test]
fn primals_are_the_reals_rounded() {
    let mut rows = 0;
    for (&op, format) in Op::ALL.iter().flat_map(|op| [(op, Format::F32), (op, Format::F64)]) {
        let host = Host::new(format);
        let mut random = Random::of(op);
        let mut count = 0;
        for _ in 0..POINTS {
            let x = operands(&mut random, op, format);
            let Some(r) = op.primal(&host, &x) else { break };
            let expected = nearest(format, &real(op, BITS, &exact(BITS, &x)));
            assert!(
                r == expected || r.is_nan() && expected.is_nan(),
                "{op:?} of {x:?} is {r:e}, not {expected:e}"
            );
            count += 1;
        }
        rows += usize::from(count == POINTS);
    }
    assert_eq!(rows, 2 * 14, "rows in two formats");
}
