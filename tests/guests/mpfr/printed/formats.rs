// The same by Rust's formatters.
use std::hint::black_box;

macro_rules! both {
    ($format:literal, $wrong:expr, $right:expr $(, $more:expr)*) => {
        println!(concat!("w=[", $format, "] r={{", $format, "}}"), $wrong $(, $more)*, $right $(, $more)*)
    };
}

fn main() {
    let pairs = [
        (1e16, 1.2345, 1.2345f32),
        (3e22, -9.5, -9.5),
        (1e16, 999.9996, 999.9996),
        (1e16, 0.0009765625, 0.0009765625),
        (1e37, 1.5e20, 1.5e20),
        (1e12, 1e-7, 1e-7),
    ];
    for (large, small, part) in black_box(pairs) {
        let wrong: f64 = (large + small) - large;
        let right: f64 = small;
        let single = large as f32;
        let lost: f32 = (single + part) - single;
        both!("{}", wrong, right);
        both!("{:?}", wrong, right);
        both!("{}", lost, part);
        both!("{:?}", lost, part);
        both!("{:.3}", wrong, right);
        both!("{:+.0}", wrong, right);
        both!("{:12.2}", wrong, right);
        both!("{:<12.2}", wrong, right);
        both!("{:*>12.2}", wrong, right);
        both!("{:012.2}", wrong, right);
        both!("{:.2?}", wrong, right);
        both!("{:e}", wrong, right);
        both!("{:E}", lost, part);
        both!("{:.4e}", wrong, right);
    }
}
