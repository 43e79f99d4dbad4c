// Numbers of standard input whose values are the lines that ask for them.
use std::io::Read;

fn main() {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).unwrap();
    let mut words = text.split_whitespace();
    let a: f64 = words.next().unwrap().parse().unwrap(); // 8.5
    let b: f32 =
        words.next().unwrap().parse().unwrap(); // 10.5
    println!("{}", a * f64::from(b));
}
