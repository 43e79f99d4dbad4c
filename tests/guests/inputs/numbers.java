// The same by Double.parseDouble, Float.parseFloat and a scanner, beside a constant that looks like the argument. The property
// "rounds" says how many others are parsed first, so that what parses is compiled; with "zeros" half of them are zeros.
import java.io.BufferedReader;
import java.io.FileReader;
import java.io.IOException;
import java.math.BigDecimal;
import java.util.Locale;
import java.util.Scanner;

class Numbers {
    static double warm(int rounds) {
        double sum = 0;
        boolean zeros = Boolean.getBoolean("zeros");
        for (int i = 0; i < rounds; i++) {
            if (zeros) {
                sum += Double.parseDouble("0." + i % 2);
            }
            sum += Double.parseDouble("1." + i) + Float.parseFloat("2.5e" + i % 9);
        }
        return sum;
    }

    public static void main(String[] words) throws IOException {
        int rounds = Integer.getInteger("rounds", 0);
        double unlike = 0.625 + warm(rounds);
        boolean isDecimal = Boolean.getBoolean("decimal");
        double a = isDecimal ? new BigDecimal(words[0]).doubleValue() : Double.parseDouble(words[0]);
        double w = Double.valueOf(System.getenv("SG_W"));
        Scanner input = new Scanner(System.in).useLocale(Locale.ROOT);
        double s = input.nextDouble();
        double t = input.nextDouble();
        double total = a * a + w * s * t;
        try (BufferedReader file = new BufferedReader(new FileReader(words[1]))) {
            file.readLine();
            int rows = Integer.parseInt(file.readLine().trim());
            for (int i = 0; i < rows; i++) {
                String[] pair = file.readLine().trim().split("\\s+");
                double p = Double.parseDouble(pair[0]);
                double q = Float.parseFloat(pair[1]);
                total += (i + 1) * p * p * q;
            }
        }
        if (unlike > 0) {
            System.out.println(total);
        }
    }
}
