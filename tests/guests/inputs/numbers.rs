// The same by str::parse.
fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let (a, path) = (&arguments[arguments.len() - 2], &arguments[arguments.len() - 1]);
    let (a, w): (f64, f64) = (a.parse().unwrap(), std::env::var("SG_W").unwrap().parse().unwrap());
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    let mut words = line.split_whitespace();
    let mut next = || words.next().unwrap().parse::<f64>().unwrap();
    let mut sum = a * a + w * next() * next();
    let text = std::fs::read_to_string(path).unwrap();
    for (i, row) in text.lines().skip(2).enumerate() {
        let words: Vec<&str> = row.split_whitespace().collect();
        let (p, q): (f64, f32) = (words[0].parse().unwrap(), words[1].parse().unwrap());
        sum += (i + 1) as f64 * p * p * f64::from(q);
    }
    println!("{sum}");
}
