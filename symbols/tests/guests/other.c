/* Variables with names that variables.c uses too. */
static double hidden = 6;
static double nu = 7;
double other(void) { return hidden++ + nu++; }
