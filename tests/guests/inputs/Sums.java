// Numbers that Java makes text of, of which the last is wrong: nothing is left of it but what a sum of 1e16 keeps.
public class Sums {
    public static void main(String[] arguments) {
        double sum = 0;
        for (int i = 1; i <= 5; i++) {
            sum += 0.1 * i;
            System.out.println("sum = " + sum);
        }
        System.out.printf("root %.6f%n", Math.sqrt(sum));
        System.out.println("left " + ((1e16 + sum) - 1e16));
    }
}
