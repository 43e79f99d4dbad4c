// Numbers whose values are the lines that have them parsed, by way of Java's own code and others of the program, as often as the
// property "rounds" says.
import java.util.Locale;
import java.util.Scanner;
import java.util.function.Supplier;
import java.util.stream.Stream;

public class Lines {
    static class Nested {
        final double value;

        Nested(String unused) {
            value = Double.valueOf("13.5");
        }
    }

    static double small() {
        return Double.parseDouble("18.5");
    }

    static double several(int round) {
        double sum = Double.parseDouble("22.5")
                + Double.parseDouble("23.5");
        if (round % 2 == 0) {
            sum +=





                    // A call far from the line before.


                    Float.parseFloat("34.5");
        }
        return sum + small();
    }

    static double lambdas(int round) {
        Supplier<Double> supplier = () -> Double.parseDouble("40.5");
        double sum = supplier.get();
        sum += Stream.of("42.5", "42.5").mapToDouble(Double::parseDouble).sum();
        return sum + new Scanner("43.5").useLocale(Locale.ROOT).nextDouble();
    }

    static double caught(int round) {
        try {
            return Double.parseDouble("48.5x");
        } catch (NumberFormatException e) {
            return Double.parseDouble("50.5");
        }
    }

    static double deep(int depth) {
        return depth == 0 ? Double.parseDouble("55.5") : deep(depth - 1) + 1;
    }

    public static void main(String[] words) {
        double sum = 0;
        for (int i = 0; i < Integer.getInteger("rounds", 1); i++) {
            sum += several(i) + deep(i % 20) + caught(i) + new Nested("").value;
            if (i % 10 == 0) {
                sum += lambdas(i) + Double.parseDouble(
                        "63.5".trim());
            }
        }
        System.out.println(sum > 0);
    }
}
