// A module that a program loads while it runs. Its variable has its value before any code runs; a constructor uses it.
double module_x = 3, from_constructor;

__attribute__((constructor)) static void construct(void) { from_constructor = 2 * module_x; }

__attribute__((noinline)) double scaled(double factor) { return factor * module_x; }

double module_y(void) { return scaled(4) * module_x + from_constructor; }
