/* What module shadowgrind calls: walks Fortran's array descriptors and makes the requests of shadowgrind.h.
 *
 * Knows descriptors and requests only; what a request means is told there. A contiguous array is one request, a section
 * one for each of its elements.
 */
#include "../shadowgrind.h"

#include <ISO_Fortran_binding.h>
#include <string.h>

enum { NAME_BYTES = 256 };

/* Bytes of the floats within an element: a complex number is two of them. */
static size_t float_bytes(const CFI_cdesc_t *x)
{
    switch (x->type) {
    case CFI_type_float_Complex:
    case CFI_type_double_Complex:
    case CFI_type_long_double_Complex:
        return x->elem_len / 2;
    default:
        return x->elem_len;
    }
}

static size_t elements(const CFI_cdesc_t *x)
{
    size_t count = 1;
    for (int i = 0; i < x->rank; i++) count *= (size_t)x->dim[i].extent;
    return count;
}

/* Where the element of this number, counted in array order, lies. */
static char *element(const CFI_cdesc_t *x, size_t number)
{
    char *at = x->base_addr;
    for (int i = 0; i < x->rank; i++) {
        size_t extent = (size_t)x->dim[i].extent;
        at += (CFI_index_t)(number % extent) * x->dim[i].sm;
        number /= extent;
    }
    return at;
}

/* How many elements from a contiguous piece that starts anywhere: all, or one. */
static size_t piece(const CFI_cdesc_t *x)
{
    return x->rank == 0 || CFI_is_contiguous(x) ? elements(x) : 1;
}

static const char *terminated(const CFI_cdesc_t *name, char *copy)
{
    size_t length = name->elem_len < NAME_BYTES - 1 ? name->elem_len : NAME_BYTES - 1;
    memcpy(copy, name->base_addr, length);
    while (length > 0 && copy[length - 1] == ' ') length--;
    copy[length] = 0;
    return copy;
}

int shadowgrind_fortran_mode(void) { return (int)shadowgrind_mode(); }
void shadowgrind_fortran_off(void) { shadowgrind_off(); }
void shadowgrind_fortran_on(void) { shadowgrind_on(); }
void shadowgrind_fortran_begin(void) { shadowgrind_begin(); }
void shadowgrind_fortran_end(void) { shadowgrind_end(); }

/* Floats within an element: 1, or 2. */
static size_t floats_in(const CFI_cdesc_t *x) { return x->elem_len / float_bytes(x); }

/* Dots are one double for each float, so the two arrays are contiguous in different pieces: element by element. */
void shadowgrind_fortran_get_dot(const CFI_cdesc_t *x, CFI_cdesc_t *dot)
{
    size_t in = floats_in(x);
    for (size_t i = 0; i < elements(x) * in; i++)
        shadowgrind_get_dots(element(x, i / in) + i % in * float_bytes(x), 1, float_bytes(x),
                             (double *)element(dot, i));
}

void shadowgrind_fortran_set_dot(CFI_cdesc_t *x, const CFI_cdesc_t *dot)
{
    size_t in = floats_in(x);
    for (size_t i = 0; i < elements(x) * in; i++)
        shadowgrind_set_dots(element(x, i / in) + i % in * float_bytes(x), 1, float_bytes(x),
                             (const double *)element(dot, i));
}

void shadowgrind_fortran_input(const CFI_cdesc_t *name, CFI_cdesc_t *x, const double *weight)
{
    char copy[NAME_BYTES];
    size_t all = elements(x), step = piece(x);
    for (size_t i = 0; i < all; i += step)
        shadowgrind_input(terminated(name, copy), element(x, i), step * floats_in(x), float_bytes(x),
                          weight ? *weight : 1.0);
}

void shadowgrind_fortran_output(const CFI_cdesc_t *name, const CFI_cdesc_t *x)
{
    char copy[NAME_BYTES];
    size_t all = elements(x), step = piece(x);
    for (size_t i = 0; i < all; i += step)
        shadowgrind_output(terminated(name, copy), element(x, i), step * floats_in(x), float_bytes(x));
}

void shadowgrind_fortran_track(const CFI_cdesc_t *x)
{
    size_t all = elements(x), step = piece(x);
    for (size_t i = 0; i < all; i += step)
        shadowgrind_track(element(x, i), step * floats_in(x), float_bytes(x));
}

void shadowgrind_fortran_get_real(const CFI_cdesc_t *x, CFI_cdesc_t *text)
{
    char *out = text->base_addr;
    size_t room = text->elem_len;
    shadowgrind_get_real(x->base_addr, float_bytes(x), out, room, 0);
    size_t length = strnlen(out, room);
    memset(out + length, ' ', room - length);
}

double shadowgrind_fortran_error_bits(const CFI_cdesc_t *x)
{
    return shadowgrind_error_bits(x->base_addr, float_bytes(x));
}
