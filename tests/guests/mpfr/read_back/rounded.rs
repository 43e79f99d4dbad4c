// As rounded.c.
fn main() {
    let sum: f64 = (0..10).map(|_| std::hint::black_box(0.1)).sum();
    let rounded: f64 = format!("{:.2}", sum * 0.015).parse().unwrap();
    println!("{}", rounded * 1.5);
}
