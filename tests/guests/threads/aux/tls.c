// Part of threads/local_storage: a dynamic thread-local variable.
static __thread char large[3000];
static __thread long number = 4242;
long *variable(void) { return large[2999] ? 0 : &number; }
