// System calls that write over code that has run: whole, from the middle of a buffer on, in pieces, and where no bytes are asked for.
#include "jit.h"
#include <fcntl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>

static unsigned char *memory;
static int file;

/* A function that adds n, and then zeros. */
static void image(unsigned char *to, size_t bytes, int n)
{
    memset(to, 0, bytes);
    write_add(to, n);
}

/* Runs what is at offset 4096, after a call has put the function that adds n there. */
static void ran(const char *how, long result, int n)
{
    printf("%s: %ld, %d\n", how, result, call(memory + 4096, n));
}

int main(void)
{
    static unsigned char bytes[3 * 4096];
    memory = pages(3 * 4096, RWX);
    file = open("code", O_RDWR | O_CREAT | O_TRUNC, 0600);
    CHECK(file >= 0 && unlink("code") == 0);
    write_add(memory + 4096, 1);
    ran("by hand", 0, 1);

    image(bytes, 600, 2);
    CHECK(pwrite(file, bytes, 600, 0) == 600);
    ran("read", read(file, memory + 4096, 600), 2);

    image(bytes + 1000, 4096, 3);
    CHECK(pwrite(file, bytes, 1000 + 4096, 0) == 1000 + 4096);
    ran("across", pread(file, memory + 3096, 1000 + 4096, 0), 3);

    write_add(bytes, 4);
    struct iovec pieces[2] = {{memory, 100}, {memory + 4096, 64}};
    CHECK(pwrite(file, bytes, 64, 100) == 64);
    ran("pieces", preadv(file, pieces, 2, 0), 4);

    int ends[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    write_add(bytes, 5);
    CHECK(send(ends[0], bytes, 64, 0) == 64);
    ran("socket", recv(ends[1], memory + 4096, 64, 0), 5);

    struct stat status;
    CHECK(fstat(file, (struct stat *)(memory + 4096 + 256)) == 0 && fstat(file, &status) == 0);
    CHECK(memcmp(memory + 4096 + 256, &status, sizeof status) == 0);
    ran("status", 0, 6);
    ran("random", getrandom(memory + 4096 + 512, 64, 0), 7);
    ran("nothing", read(file, memory + 4096, 0), 8);
    return 0;
}
