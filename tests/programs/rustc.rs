// rustc compiles this file: a large program with threads of its own, through rustup's shim if there is one.
//@ needs: rustc
//@ run library: rustc --edition=2021 -O --crate-type=lib --emit=obj -o out.o {file}
//@ run metadata: rustc --edition=2021 --crate-type=lib --emit=metadata -o out.rmeta {file}
//@ run version: rustc --version --verbose
//@ run error: sh -c 'rustc --crate-type=lib --cfg broken rustc.rs; echo $?'
//@ timeout: 300
use std::collections::HashMap;
#[cfg(broken)]
compile_error!("as asked");
pub trait Shape {
    fn area(&self) -> f64;
}
pub struct Circle(pub f64);
impl Shape for Circle {
    fn area(&self) -> f64 {
        std::f64::consts::PI * self.0 * self.0
    }
}
pub fn count(words: &[&str]) -> HashMap<String, usize> {
    let mut map = HashMap::new();
    for w in words {
        *map.entry(w.to_string()).or_default() += 1;
    }
    map
}
pub fn total(shapes: &[Box<dyn Shape>]) -> f64 {
    shapes.iter().map(|s| s.area()).sum()
}
