// The program's own memory through process_vm_readv, /proc/self/mem and pipes with vmsplice.
#include "guest.h"
#include <fcntl.h>
#include <sys/uio.h>

static char secret[] = "through the back door";
extern char code_bytes[];
__asm__(".text\n.globl code_bytes\ncode_bytes: mov $0x11223344, %eax\n ret\n");

int main(void)
{
    char copy[64] = {0};
    struct iovec local = {copy, sizeof secret}, remote = {secret, sizeof secret};
    CHECK(process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == sizeof secret);
    puts(copy);
    int fd = open("/proc/self/mem", O_RDWR);
    CHECK(fd >= 0);
    memset(copy, 0, sizeof copy);
    CHECK(pread(fd, copy, 7, (off_t)(uintptr_t)(secret + 8)) == 7);
    puts(copy);
    CHECK(pwrite(fd, "BACK", 4, (off_t)(uintptr_t)(secret + 12)) == 4);
    puts(secret);
    // Code reads as it is in the file, not as anybody runs it.
    CHECK(!memcmp(code_bytes, "\xb8\x44\x33\x22\x11\xc3", 6));
    CHECK(pread(fd, copy, 6, (off_t)(uintptr_t)code_bytes) == 6 && !memcmp(copy, code_bytes, 6));
    return 0;
}
