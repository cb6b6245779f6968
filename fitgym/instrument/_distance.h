/* Branch distance in C: the results of distance.py, bit for bit, for operands of the built-in types. */

#ifndef FITGYM_DISTANCE_H
#define FITGYM_DISTANCE_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <float.h>

#define FAR 2147483648.0
#define FURTHEST DBL_MAX

/* Stores (d_lt, d_eq, d_gt) of `left operator right`, whose result was `outcome`. The operator is one of Py_LT to
   Py_GE. `elsewhere` is `distance.compared`, called for operands that are not measured here. All of these functions
   return 0, or -1 with an exception set. */
int fitgym_compared(PyObject *elsewhere, int operator, PyObject *left, PyObject *right, int outcome, double found[3]);

/* Stores the least distance of `needle` to equality with an element of `container`, 1 if it cannot be measured. */
int fitgym_nearest(PyObject *elsewhere, PyObject *needle, PyObject *container, double *found);

/* Stores the distance of a true value to false. */
int fitgym_from_false(PyObject *value, double *found);

/* Stores the number of elements, `FURTHEST` if it does not fit into Py_ssize_t. */
int fitgym_size(PyObject *container, double *found);

/* Returns 1 if the type is exactly a built-in container, including `range` and the views of a dict. */
int fitgym_is_sized(PyTypeObject *type);

#endif
