// The memory calls refuse what they should, with the right errno.
#include "guest.h"
#include <fcntl.h>
#include <sys/mman.h>

#define PAGE 4096ul
static const int ANON = MAP_PRIVATE | MAP_ANONYMOUS;

int main(void)
{
    CHECK_ERRNO(mmap(NULL, 0, PROT_READ, ANON, -1, 0), EINVAL);
    CHECK_ERRNO(mmap(NULL, PAGE, PROT_READ, MAP_ANONYMOUS, -1, 0), EINVAL);
    CHECK_ERRNO(mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, -1, 0), EBADF);
    CHECK_ERRNO(mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, 0, 123), EINVAL);
    // Which of two errors it is.
    CHECK_ERRNO(mmap(NULL, 0, PROT_READ, MAP_PRIVATE, -1, 0), EBADF);
    CHECK_ERRNO(mmap(NULL, 0, PROT_READ, MAP_PRIVATE, -1, 5), EINVAL);
    CHECK_ERRNO(mmap(NULL, ~0ul, PROT_READ, MAP_PRIVATE, -1, 0), EBADF);
    CHECK_ERRNO(mmap((void *)123, PAGE, PROT_READ, ANON | MAP_FIXED, -1, 0), EINVAL);
    CHECK_ERRNO(mmap(NULL, 1ul << 60, PROT_READ, ANON, -1, 0), ENOMEM);
    CHECK_ERRNO(mmap(NULL, ~0ul, PROT_READ, ANON, -1, 0), ENOMEM);
    CHECK_ERRNO(mmap((void *)(1ul << 63), PAGE, PROT_READ, ANON | MAP_FIXED, -1, 0), ENOMEM);
    int directory = open("/", O_RDONLY), output = open("out", O_WRONLY | O_CREAT, 0600);
    CHECK_ERRNO(mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, directory, 0), ENODEV);
    CHECK_ERRNO(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, output, 0), EACCES);
    int input = open("/proc/self/exe", O_RDONLY);
    CHECK_ERRNO(mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, input, 0), EACCES);
    char *page = (char *)mmap(NULL, 3 * PAGE, PROT_READ, ANON, -1, 0);
    CHECK_ERRNO(munmap(page + 1, PAGE), EINVAL);
    CHECK_ERRNO(munmap(page, 0), EINVAL);
    CHECK_ERRNO(mprotect(page + 1, PAGE, PROT_READ), EINVAL);
    CHECK_ERRNO(mprotect(page, PAGE, 0x40000), EINVAL);
    CHECK(munmap(page + PAGE, PAGE) == 0);
    CHECK_ERRNO(mprotect(page, 3 * PAGE, PROT_READ | PROT_WRITE), ENOMEM);
    CHECK_ERRNO(mremap(page + 1, PAGE, 2 * PAGE, 0), EINVAL);
    CHECK_ERRNO(mremap(page, PAGE, 2 * PAGE, 0x100), EINVAL);
    CHECK_ERRNO(mremap(page + PAGE, PAGE, 2 * PAGE, MREMAP_MAYMOVE), EFAULT);
    CHECK_ERRNO(mremap(page, PAGE, 0, 0), EINVAL);
    CHECK_ERRNO(mremap(page + 2 * PAGE, PAGE, PAGE, MREMAP_FIXED, page), EINVAL);
    CHECK_ERRNO(madvise(page, PAGE, 12345), EINVAL);
    CHECK_ERRNO(madvise(page + PAGE, PAGE, MADV_WILLNEED), ENOMEM);
    CHECK_ERRNO(msync(page + PAGE, PAGE, MS_SYNC), ENOMEM);
    CHECK(mprotect(page, 0, PROT_READ) == 0);
    puts("ok");
    return 0;
}
