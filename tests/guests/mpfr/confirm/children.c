// A forked child that reads standard input and writes by a duplicate of standard output, before its parent goes on.
#include <math.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
    int output = dup(1);
    if (fork() == 0) {
        char text[8];
        ssize_t length = read(0, text, 4);
        _exit(write(output, text, length) != length);
    }
    int status;
    wait(&status);
    double x;
    if (scanf("%lf", &x) != 1)
        return 1;
    printf("%.17g\n", sqrt(x + 1) - sqrt(x)); // CULPRIT
    return status;
}
