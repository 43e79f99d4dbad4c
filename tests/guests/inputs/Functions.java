/** Mathematical functions of a number that is given, by the virtual machine's own code and by Java's strict ones. */
public class Functions {
    static void print(String name, double value) {
        System.out.println(name + " " + value);
    }

    public static void main(String[] words) {
        double x = Double.parseDouble(words[0]);
        int rounds = Integer.getInteger("rounds", 1);
        for (int i = 1; i < rounds; i++) {
            all(x + i, false);
        }
        all(x, true);
    }

    static double sum;

    static void all(double x, boolean shown) {
        double[] values = {
            Math.sin(9 * x), Math.cos(x), Math.tan(x), Math.exp(x), Math.log(30 * x), Math.log10(x), Math.pow(x, 2.5),
            Math.pow(2.5, x), Math.sqrt(x), Math.cbrt(x), Math.abs(-3 * x), Math.log1p(x), Math.sinh(x), Math.tanh(x),
            StrictMath.sin(9 * x), StrictMath.cos(x), StrictMath.tan(x), StrictMath.asin(x), StrictMath.acos(x),
            StrictMath.atan(x), StrictMath.exp(x), StrictMath.expm1(x), StrictMath.log(30 * x), StrictMath.log10(70 * x),
            StrictMath.log1p(x), StrictMath.log1p(50 * x), StrictMath.pow(x, 2.5), StrictMath.pow(x, -3), StrictMath.sinh(x),
            StrictMath.cosh(x), StrictMath.tanh(x), StrictMath.sqrt(1.3 * x), StrictMath.cbrt(x), StrictMath.atan2(x, 2),
            StrictMath.hypot(x, 1),
        };
        for (int i = 0; i < values.length; i++) {
            sum += values[i];
            if (shown) {
                print("f" + i, values[i]);
            }
        }
    }
}
