// Thread-local storage: keys with destructors, __thread in the program and in a library loaded while threads run.
//@ aux: tls.c
#include "guest.h"
#include <dlfcn.h>
#include <pthread.h>

static pthread_key_t key;
static int destroyed;
static __thread long mine = 100;
static long *(*library_variable)(void);
static pthread_barrier_t loaded;

static void destroy(void *value) { __atomic_fetch_add(&destroyed, (int)(long)value, __ATOMIC_RELAXED); }

static void *work(void *argument)
{
    long n = (long)argument;
    CHECK(pthread_getspecific(key) == NULL && pthread_setspecific(key, argument) == 0);
    pthread_barrier_wait(&loaded);
    pthread_barrier_wait(&loaded);
    // Loaded after this thread was created.
    CHECK(*library_variable() == 4242);
    for (int i = 0; i < 1000; i++) mine += n, *library_variable() += n;
    CHECK(mine == 100 + 1000 * n && *library_variable() == 4242 + 1000 * n);
    CHECK(pthread_getspecific(key) == argument);
    return NULL;
}

int main(void)
{
    pthread_t threads[8];
    char path[4096];
    CHECK(pthread_key_create(&key, destroy) == 0 && pthread_barrier_init(&loaded, NULL, 9) == 0);
    for (long i = 0; i < 8; i++) CHECK(pthread_create(&threads[i], NULL, work, (void *)(i + 1)) == 0);
    pthread_barrier_wait(&loaded);
    snprintf(path, sizeof path, "%s/libtls.so", getenv("GUEST_DIR"));
    void *library = dlopen(path, RTLD_NOW);
    CHECK(library);
    library_variable = (long *(*)(void))dlsym(library, "variable");
    pthread_barrier_wait(&loaded);
    for (int i = 0; i < 8; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(mine == 100 && *library_variable() == 4242);
    printf("%d\n", destroyed);
    return 0;
}
