// Thread stacks: sizes, guard pages, own memory as a stack, and the main thread's stack as pthread_getattr_np sees it.
#include "guest.h"
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>

static void inside(void *where)
{
    pthread_attr_t attributes;
    void *low;
    size_t size;
    CHECK(pthread_getattr_np(pthread_self(), &attributes) == 0 && pthread_attr_getstack(&attributes, &low, &size) == 0);
    CHECK((char *)where > (char *)low && (char *)where < (char *)low + size);
    pthread_attr_destroy(&attributes);
}

static void *body(void *argument)
{
    volatile char room[10000];
    memset((char *)room, 1, sizeof room);
    inside((void *)room);
    if (argument) CHECK((char *)room > (char *)argument && (char *)room < (char *)argument + (1 << 20));
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_attr_t attributes;
    struct rlimit limit;
    size_t size;
    void *low;
    char here;
    inside(&here);
    CHECK(pthread_getattr_np(pthread_self(), &attributes) == 0 && pthread_attr_getstack(&attributes, &low, &size) == 0);
    CHECK(getrlimit(RLIMIT_STACK, &limit) == 0 && size >= limit.rlim_cur - (1 << 20) && size <= limit.rlim_cur);
    pthread_attr_init(&attributes);
    for (size_t wanted = 64 << 10; wanted <= 32 << 20; wanted *= 4) {
        CHECK(pthread_attr_setstacksize(&attributes, wanted) == 0);
        CHECK(pthread_create(&thread, &attributes, body, NULL) == 0 && pthread_join(thread, NULL) == 0);
    }
    void *own = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
    CHECK(pthread_attr_setstack(&attributes, own, 1 << 20) == 0);
    for (int i = 0; i < 5; i++) CHECK(pthread_create(&thread, &attributes, body, own) == 0 && pthread_join(thread, NULL) == 0);
    puts("ok");
    return 0;
}
