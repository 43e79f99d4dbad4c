// Loads the module that its argument names, calls it, and unloads it; twice.
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    for (int i = 0; i < 2; i++) {
        void *module = dlopen(argv[argc - 1], RTLD_NOW);
        if (!module) return puts(dlerror());
        double (*f)(void) = (double (*)(void))dlsym(module, "module_y");
        printf("%g\n", f());
        dlclose(module);
    }
    return 5;
}
