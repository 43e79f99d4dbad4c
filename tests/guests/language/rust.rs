// Rust: panics caught and unwound, threads, channels, collections, formatting of floats, a child process.
//@ link: pie static
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, mpsc};

struct Noisy(&'static str);
impl Drop for Noisy {
    fn drop(&mut self) {
        println!("dropped {}", self.0);
    }
}

fn threads() -> f64 {
    let (sender, receiver) = mpsc::channel();
    let total = Arc::new(Mutex::new(0.0));
    let handles: Vec<_> = (0..4)
        .map(|n| {
            let (sender, total) = (sender.clone(), total.clone());
            std::thread::spawn(move || {
                let sum: f64 = (1..1000).map(|k| f64::from(n * k).sqrt()).sum();
                *total.lock().unwrap() += f64::from(n);
                sender.send((n, sum)).unwrap();
            })
        })
        .collect();
    drop(sender);
    let results: BTreeMap<i32, f64> = receiver.iter().collect();
    handles.into_iter().for_each(|h| h.join().unwrap());
    for (n, sum) in &results {
        println!("{n} {sum:?}");
    }
    *total.lock().unwrap()
}

fn main() {
    std::panic::set_hook(Box::new(|_| {}));
    let caught = std::panic::catch_unwind(|| {
        let _noisy = Noisy("while unwinding");
        let empty: Vec<i32> = Vec::new();
        empty[std::hint::black_box(3)]
    });
    println!("{}", caught.is_err());
    println!("{}", threads());
    let mut words = HashMap::new();
    for word in "one two three two three three".split(' ') {
        *words.entry(word).or_insert(0) += 1;
    }
    let mut sorted: Vec<_> = words.into_iter().collect();
    sorted.sort();
    println!("{sorted:?}");
    println!("{} {:e} {:.3} {:?} {}", 0.1 + 0.2, 1e-300, 2.0f64.sqrt(), f64::MIN_POSITIVE, 1e21);
    println!("{:?} {:?}", "3.25".parse::<f64>(), "abc".parse::<f32>());
    let output = std::process::Command::new("echo").arg("child").output().unwrap();
    print!("{}", String::from_utf8_lossy(&output.stdout));
    std::process::exit(i32::from(checked(std::hint::black_box(i32::MAX)).is_some()));
}

fn checked(x: i32) -> Option<i32> {
    x.checked_add(1)
}
