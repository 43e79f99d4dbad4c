// Floats with derivatives leave the process in binary form: by a socket to nobody, three of them beside one that has none.
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

double x = 2;

int main(void)
{
    int sockets[2];
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, sockets) != 0)
        return 1;
    double all[4] = {x, x * x, 5, 1 / x};
    if (send(sockets[0], all, sizeof all, 0) != sizeof all)
        return 2;
    printf("%g\n", x * x);
    return 0;
}
