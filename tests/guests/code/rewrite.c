// A function rewritten in place thousands of times between calls: by bytes, by words, by memcpy and by read(2).
#include "jit.h"
#include <fcntl.h>
#include <sys/uio.h>

int main(void)
{
    unsigned char *code = pages(4096, RWX), image[ADD_SIZE];
    for (int i = 0; i < 3000; i++) {
        write_add(code + 100, i);
        CHECK(call(code + 100, 5) == i + 5);
        *(int *)(code + 102) = -i;
        CHECK(call(code + 100, 5) == 5 - i);
    }
    // A system call writes into code.
    int pipes[2];
    CHECK(pipe(pipes) == 0);
    for (int i = 0; i < 300; i++) {
        write_add(image, 1000 + i);
        CHECK(write(pipes[1], image, ADD_SIZE) == ADD_SIZE);
        CHECK(read(pipes[0], code + 100, ADD_SIZE) == ADD_SIZE);
        CHECK(call(code + 100, 1) == 1001 + i);
    }
    struct iovec parts[2] = {{code + 100, 4}, {code + 104, 3}};
    write_add(image, 77);
    CHECK(write(pipes[1], image, ADD_SIZE) == ADD_SIZE && readv(pipes[0], parts, 2) == ADD_SIZE && call(code + 100, 0) == 77);
    int fd = open("/dev/zero", O_RDONLY);
    CHECK(read(fd, code + 200, 100) == 100);
    puts("ok");
    return 0;
}
