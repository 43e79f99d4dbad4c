/* The extension module behind the Python package: requests on Python floats and on anything with a buffer of floats.
 *
 * Knows no numpy: an array is whatever exports a buffer of f, d or g (or complex) elements.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "shadowgrind.h"

/* Bytes of one float within an element of this buffer; 0, with an exception, if it holds none. */
static Py_ssize_t float_bytes(const Py_buffer *buffer)
{
    const char *format = buffer->format ? buffer->format : "B";
    while (*format && strchr("@=<", *format)) format++;
    int complex = *format == 'Z';
    format += complex;
    if (strlen(format) == 1 && strchr("fdg", *format)) return complex ? buffer->itemsize / 2 : buffer->itemsize;
    PyErr_Format(PyExc_TypeError, "expected floats, not elements of format '%s'", buffer->format);
    return 0;
}

static int get_buffer(PyObject *object, Py_buffer *buffer, int flags)
{
    if (PyObject_GetBuffer(object, buffer, flags | PyBUF_FORMAT | PyBUF_C_CONTIGUOUS) == 0) {
        if (float_bytes(buffer)) return 1;
        PyBuffer_Release(buffer);
    }
    return 0;
}

static PyObject *mode(PyObject *self, PyObject *args)
{
    (void)self, (void)args;
    return PyLong_FromLong((long)shadowgrind_mode());
}

static PyObject *switch_off(PyObject *self, PyObject *args)
{
    (void)self, (void)args;
    shadowgrind_off();
    Py_RETURN_NONE;
}

static PyObject *switch_on(PyObject *self, PyObject *args)
{
    (void)self, (void)args;
    shadowgrind_on();
    Py_RETURN_NONE;
}

static PyObject *get_dot(PyObject *self, PyObject *value)
{
    (void)self;
    double x = PyFloat_AsDouble(value);
    if (x == -1.0 && PyErr_Occurred()) return NULL;
    return PyFloat_FromDouble(shadowgrind_dot(x));
}

static PyObject *with_dot(PyObject *self, PyObject *args)
{
    (void)self;
    double x, dot;
    if (!PyArg_ParseTuple(args, "dd", &x, &dot)) return NULL;
    /* What the argument carried is replaced, whether or not the tool follows this copy. */
    return PyFloat_FromDouble(shadowgrind_with_dot(x, dot));
}

/* Moves dot values: a buffer of floats and one of as many doubles. */
static PyObject *move_dots(PyObject *args, int set)
{
    PyObject *values, *dots;
    Py_buffer x, d;
    if (!PyArg_ParseTuple(args, "OO", &values, &dots)) return NULL;
    if (!get_buffer(values, &x, set ? PyBUF_WRITABLE : 0)) return NULL;
    if (!get_buffer(dots, &d, set ? 0 : PyBUF_WRITABLE)) {
        PyBuffer_Release(&x);
        return NULL;
    }
    size_t size = (size_t)float_bytes(&x), count = (size_t)x.len / size, done = 0;
    int fits = float_bytes(&d) == sizeof(double) && (size_t)d.len == count * sizeof(double);
    if (!fits)
        PyErr_SetString(PyExc_ValueError, "expected one double for each float");
    else if (set)
        done = shadowgrind_set_dots(x.buf, count, size, d.buf);
    else
        done = shadowgrind_get_dots(x.buf, count, size, d.buf);
    PyBuffer_Release(&d);
    PyBuffer_Release(&x);
    return fits ? PyLong_FromSize_t(done) : NULL;
}

static PyObject *get_dots(PyObject *self, PyObject *args)
{
    (void)self;
    return move_dots(args, 0);
}

static PyObject *set_dots(PyObject *self, PyObject *args)
{
    (void)self;
    return move_dots(args, 1);
}

static PyObject *input_array(PyObject *self, PyObject *args)
{
    (void)self;
    const char *name;
    PyObject *values;
    double weight;
    Py_buffer x;
    if (!PyArg_ParseTuple(args, "sOd", &name, &values, &weight) || !get_buffer(values, &x, PyBUF_WRITABLE)) return NULL;
    size_t size = (size_t)float_bytes(&x);
    size_t done = shadowgrind_input(name, x.buf, (size_t)x.len / size, size, weight);
    PyBuffer_Release(&x);
    return PyLong_FromSize_t(done);
}

static PyObject *input_float(PyObject *self, PyObject *args)
{
    (void)self;
    const char *name;
    double x, weight;
    if (!PyArg_ParseTuple(args, "sdd", &name, &x, &weight)) return NULL;
    shadowgrind_input(name, &x, 1, sizeof x, weight);
    return PyFloat_FromDouble(x);
}

static PyObject *output(PyObject *self, PyObject *args)
{
    (void)self;
    const char *name;
    PyObject *object;
    Py_buffer x;
    if (!PyArg_ParseTuple(args, "sO", &name, &object)) return NULL;
    if (PyFloat_Check(object)) {
        double value = PyFloat_AS_DOUBLE(object);
        return PyLong_FromSize_t(shadowgrind_output(name, &value, 1, sizeof value));
    }
    if (!get_buffer(object, &x, 0)) return NULL;
    size_t size = (size_t)float_bytes(&x);
    size_t done = shadowgrind_output(name, x.buf, (size_t)x.len / size, size);
    PyBuffer_Release(&x);
    return PyLong_FromSize_t(done);
}

static PyObject *get_real(PyObject *self, PyObject *value)
{
    (void)self;
    char text[5200]; /* 16384 bits are 4933 digits */
    double x = PyFloat_AsDouble(value);
    if (x == -1.0 && PyErr_Occurred()) return NULL;
    shadowgrind_get_real(&x, sizeof x, text, sizeof text, 0);
    return PyUnicode_FromString(text);
}

static PyObject *error_bits(PyObject *self, PyObject *value)
{
    (void)self;
    double x = PyFloat_AsDouble(value);
    if (x == -1.0 && PyErr_Occurred()) return NULL;
    return PyFloat_FromDouble(shadowgrind_error_bits(&x, sizeof x));
}

static PyMethodDef methods[] = {
    {"mode", mode, METH_NOARGS, "The shadow in force, as a number."},
    {"off", switch_off, METH_NOARGS, "No shadowing until on()."},
    {"on", switch_on, METH_NOARGS, "Shadowing again."},
    {"get_dot", get_dot, METH_O, "get_dot(x): the dot value of a float."},
    {"with_dot", with_dot, METH_VARARGS, "with_dot(x, dot): a new float that carries dot."},
    {"get_dots", get_dots, METH_VARARGS, "get_dots(values, dots): the dot values of a buffer, into another."},
    {"set_dots", set_dots, METH_VARARGS, "set_dots(values, dots): gives a buffer dot values."},
    {"input_array", input_array, METH_VARARGS, "input_array(name, values, weight)"},
    {"input_float", input_float, METH_VARARGS, "input_float(name, x, weight): a new float, the input."},
    {"output", output, METH_VARARGS, "output(name, values): an output of the report."},
    {"get_real", get_real, METH_O, "get_real(x): the real beside a float, as text."},
    {"error_bits", error_bits, METH_O, "error_bits(x): the error of a float in bits."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "shadowgrind._requests", "Client requests of shadowgrind.", -1, methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__requests(void)
{
    return PyModule_Create(&module);
}
