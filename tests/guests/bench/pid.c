// A PID controller that steers a first-order system in steps of 0.2.
#include <stdio.h>
#include <stdlib.h>

double shift = 0;

int main(int argc, char **argv)
{
    int steps = argc > 1 ? atoi(argv[1]) : 10000;
    double kp = 9.4514, ki = 0.69006, kd = 2.8454, dt = 0.2, inverse = 1 / dt;
    double target = 5 + shift, value = -5, integral = 0, last = 0, checksum = 0;
    for (int s = 0; s < steps; s++) {
        double error = target - value;
        integral += ki * dt * error;
        double output = kp * error + integral + kd * inverse * (error - last);
        last = error;
        value += 0.01 * output;
        checksum += value * 1e-3;
        if (s % 500 == 499) value = -5 + s % 7, integral = 0;
    }
    printf("%.15g\n", checksum);
    return 0;
}
