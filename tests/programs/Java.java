// java: trivial, and loops hot enough for both compilers, garbage, exceptions, threads, null checks by signal.
//@ needs: java javac
//@ prepare: javac -d . Java.java
//@ run version: java -Xint -version
//@ run interpreted: java -Xint -Xshare:auto Java 1
//@ run compiled: java -XX:TieredStopAtLevel=1 Java 10
//@ run optimised: java Java 20
//@ run serial: java -XX:+UseSerialGC -Xmx64m Java 10
//@ timeout: 400
import java.util.*;
import java.util.concurrent.*;
import java.util.stream.*;

public class Java {
    interface Shape { double area(); }
    record Square(double side) implements Shape { public double area() { return side * side; } }
    record Circle(double r) implements Shape { public double area() { return Math.PI * r * r; } }

    static double heat(int n, int steps) {
        double[] u = new double[n], v = new double[n];
        for (int i = 0; i < n; i++) u[i] = Math.sin(i * 0.1);
        for (int s = 0; s < steps; s++) {
            for (int i = 1; i < n - 1; i++) v[i] = u[i] + 0.2 * (u[i - 1] - 2 * u[i] + u[i + 1]);
            double[] t = u; u = v; v = t;
        }
        return Arrays.stream(u).sum();
    }

    static int length(String s) { return s.length(); }

    public static void main(String[] args) throws Exception {
        int scale = Integer.parseInt(args[0]), nulls = 0;
        System.out.println(heat(2000, 100 * scale));
        double total = 0;
        Shape[] shapes = {new Square(2), new Circle(1), new Square(3)};
        for (int i = 0; i < 50000 * scale; i++) total += shapes[i % 3].area();
        System.out.println(total);
        Map<Integer, List<String>> map = IntStream.range(0, 20000).mapToObj(Integer::toString).collect(Collectors.groupingBy(String::length));
        System.out.println(map.get(4).size());
        for (int i = 0; i < 3000 * scale; i++) {
            try { nulls += length(i % 100 == 0 ? null : "x"); } catch (NullPointerException e) { nulls += 2; }
            try { nulls += 10 / (i % 50); } catch (ArithmeticException e) { nulls++; }
        }
        System.out.println(nulls);
        ExecutorService pool = Executors.newFixedThreadPool(4);
        List<Future<Double>> futures = new ArrayList<>();
        for (int t = 0; t < 8; t++) { final int n = t; futures.add(pool.submit(() -> heat(500 + n, 200))); }
        for (Future<Double> f : futures) System.out.printf("%.12g%n", f.get());
        pool.shutdown();
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 100000; i++) text.append((char) ('a' + i % 26));
        System.out.println(text.toString().hashCode() + " " + String.format("%.3f %e", Math.E, 1e-10));
        try { recurse(0); } catch (StackOverflowError e) { System.out.println("stack overflow"); }
    }

    static int recurse(int n) { return recurse(n + 1) + 1; }
}
