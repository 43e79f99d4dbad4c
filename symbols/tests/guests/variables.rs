// Prints what it knows of its own variables, as variables.c does.
use std::ptr::addr_of;

mod phys {
    pub mod grid {
        pub static mut SPACING: f64 = 0.25;
    }
    pub static mut NU: f64 = 0.1;
    pub static mut SINGLE: f32 = 2.0;
}

struct Point {
    x: f64,
    y: [f32; 3],
}

struct Metres(f64);

static mut ROWS: [[f64; 3]; 4] = [[0.5; 3]; 4];
static mut POINT: Point = Point { x: 1.0, y: [2.0; 3] };
static mut PAIR: (f32, f64) = (1.0, 2.0);
static mut HEIGHT: Metres = Metres(8848.0);

fn say<T>(need: &str, spec: &str, format: &str, at: &[*const T]) {
    print!("{need}\t{spec}\t{format}");
    at.iter().for_each(|p| print!("\t{:p}", *p));
    println!();
}

fn main() {
    // Only addresses are taken, from variables that nothing else uses.
    unsafe {
        say("s", "variables::phys::NU", "f64", &[addr_of!(phys::NU)]);
        say("s", "phys::NU", "f64", &[addr_of!(phys::NU)]);
        say("s", "NU", "f64", &[addr_of!(phys::NU)]);
        say("s", "variables::phys::SINGLE", "f32", &[addr_of!(phys::SINGLE)]);
        say("s", "phys::grid::SPACING", "f64", &[addr_of!(phys::grid::SPACING)]);
        say("d", "ROWS[1][2]", "f64", &[addr_of!(ROWS[1][2])]);
        say("d", "variables::ROWS[1..3][0]", "f64", &[addr_of!(ROWS[1][0]), addr_of!(ROWS[2][0])]);
        say("d", "POINT.x", "f64", &[addr_of!(POINT.x)]);
        say("d", "POINT.y[1..]", "f32", &[addr_of!(POINT.y[1]), addr_of!(POINT.y[2])]);
        say("d", "PAIR.0", "f32", &[addr_of!(PAIR.0)]);
        say("d", "PAIR.1", "f64", &[addr_of!(PAIR.1)]);
        say("s", "HEIGHT", "f64", &[addr_of!(HEIGHT.0)]);
    }
}
