/* Branch distance in C: what distance.py says, to the last bit, for operands of the built-in types. */

#ifndef FITGYM_DISTANCE_H
#define FITGYM_DISTANCE_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <float.h>

#define FAR 2147483648.0
#define FURTHEST DBL_MAX

/* (d_lt, d_eq, d_gt) of `left operator right`, which came out as `outcome`; the operator is one of Py_LT to Py_GE.
   `elsewhere` is `distance.compared`, asked for operands that are not measured here. All of these functions return 0, or -1
   with an exception set. */
int fitgym_compared(PyObject *elsewhere, int operator, PyObject *left, PyObject *right, int outcome, double found[3]);

/* The least distance of `needle` to equality with an element of `container`, 1 if that cannot be told. */
int fitgym_nearest(PyObject *elsewhere, PyObject *needle, PyObject *container, double *found);

/* How far a true value is from being false. */
int fitgym_from_false(PyObject *value, double *found);

/* The number of elements, `FURTHEST` if it is more than fits. */
int fitgym_size(PyObject *container, double *found);

/* Whether the type is exactly one of the built-in containers, `range` and the views of a dict included. */
int fitgym_is_sized(PyTypeObject *type);

#endif
