/* Branch distance in C. distance.py explains every number; this file only computes them faster.
   No function here runs code of the program: operands are inspected only if they have exactly a built-in type, and
   elements of containers only if all of them do. Still, every element is owned while it is inspected: an allocation may
   start a garbage collection, and a finalizer may change the container. */

#include "_distance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TEXT 16
#define ITEMS 8
#define LONGEST 64
#define FEW 3 /* up to so many characters, reading them one by one is faster than all at once */
#define LONGEST_TEXT 1024 /* longer text is measured in Python, by slices */

typedef enum {
    INT, BOOL, FLOAT, COMPLEX, STR, BYTES, NONE, /* leaves: comparing them never runs code of the program */
    LIST, TUPLE, SET, FROZENSET, DICT, /* containers */
    BYTEARRAY, RANGE, VIEW, OTHER
} Kind;

typedef enum { FAILED = -1, UNKNOWN, MEASURED, ELSEWHERE } Answer;

static Kind
kind_of(PyTypeObject *type)
{
    if (type == &PyLong_Type) return INT;
    if (type == &PyUnicode_Type) return STR;
    if (type == &PyFloat_Type) return FLOAT;
    if (type == &PyBool_Type) return BOOL;
    if (type == Py_TYPE(Py_None)) return NONE;
    if (type == &PyList_Type) return LIST;
    if (type == &PyTuple_Type) return TUPLE;
    if (type == &PyDict_Type) return DICT;
    if (type == &PySet_Type) return SET;
    if (type == &PyFrozenSet_Type) return FROZENSET;
    if (type == &PyBytes_Type) return BYTES;
    if (type == &PyByteArray_Type) return BYTEARRAY;
    if (type == &PyComplex_Type) return COMPLEX;
    if (type == &PyRange_Type) return RANGE;
    if (type == &PyDictKeys_Type || type == &PyDictValues_Type || type == &PyDictItems_Type) return VIEW;
    return OTHER;
}

static inline int is_number(Kind kind) { return kind <= FLOAT; }
static inline int is_leaf(Kind kind) { return kind <= NONE; }
static inline int is_container(Kind kind) { return kind >= LIST && kind <= DICT; }
static inline int is_set(Kind kind) { return kind == SET || kind == FROZENSET; }

int
fitgym_is_sized(PyTypeObject *type)
{
    Kind kind = kind_of(type);
    return kind != OTHER && (kind == STR || kind == BYTES || !is_leaf(kind));
}

/* Returns 1 if `left operator right`, 0 if not, -1 with an exception set. Identical operands are compared too. */
static int
holds(PyObject *left, PyObject *right, int operator)
{
    PyObject *result = PyObject_RichCompare(left, right, operator);
    if (result == NULL) {
        return -1;
    }
    int truth = PyObject_IsTrue(result);
    Py_DECREF(result);
    return truth;
}

static inline double
nu(double distance)
{
    return distance / (distance + 1.0);
}

static inline Answer
relations(double found[3], double less, double equal, double greater)
{
    found[0] = less;
    found[1] = equal;
    found[2] = greater;
    return MEASURED;
}

static inline Answer
ordered(double found[3], int is_less, double equality, double gap)
{
    double beyond = gap + 1.0 < FURTHEST ? gap + 1.0 : FURTHEST;
    return is_less ? relations(found, 0.0, equality, beyond) : relations(found, beyond, equality, 0.0);
}

static inline double
bounded(double number)
{
    number = fabs(number);
    return number <= FURTHEST ? number : FURTHEST;
}

/* Stores the absolute value of a number as a finite float. Clears the OverflowError of a number that is too large. */
static int
finite_of(PyObject *number, double *found)
{
    double value = number == NULL ? -1.0 : PyFloat_AsDouble(number);
    if (value == -1.0 && PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(PyExc_OverflowError)) {
            return -1;
        }
        PyErr_Clear();
        value = FURTHEST;
    }
    *found = bounded(value);
    return 0;
}

/* Returns 1 if a double represents the number exactly, and stores it in `value`; 0 for a wider integer. */
static int
exactly(PyObject *number, Kind kind, double *value)
{
    if (kind == FLOAT) {
        *value = PyFloat_AsDouble(number);
        return 1;
    }
    int overflow;
    long long integer = PyLong_AsLongLongAndOverflow(number, &overflow);
    *value = (double)integer;
    return !overflow && integer <= (1LL << DBL_MANT_DIG) && integer >= -(1LL << DBL_MANT_DIG);
}

static Answer
numbers(PyObject *left, Kind kind, PyObject *right, Kind other, double found[3])
{
    double a, b, gap;
    int is_less;
    /* Both are always converted, so that a NaN is detected. */
    int exact = exactly(left, kind, &a) & exactly(right, other, &b);
    if (exact) {
        if (a == b) {
            return relations(found, 1.0, 0.0, 1.0);
        }
        if (isnan(a) || isnan(b)) {
            return relations(found, 0.0, FAR, 0.0);
        }
        gap = bounded(a - b);
        is_less = a < b;
    }
    else {
        int same = holds(left, right, Py_EQ);
        if (same) {
            return same < 0 ? FAILED : relations(found, 1.0, 0.0, 1.0);
        }
        if ((kind == FLOAT && isnan(a)) || (other == FLOAT && isnan(b))) {
            return relations(found, 0.0, FAR, 0.0);
        }
        PyObject *difference = PyNumber_Subtract(left, right);
        int failed = finite_of(difference, &gap);
        Py_XDECREF(difference);
        is_less = failed ? -1 : holds(left, right, Py_LT);
        if (is_less < 0) {
            return FAILED;
        }
    }
    if (gap == 0.0) {
        gap = DBL_MIN;
    }
    return ordered(found, is_less, gap, gap);
}

static Answer
complexes(PyObject *left, PyObject *right, double found[3])
{
    int same = holds(left, right, Py_EQ);
    if (same) {
        return same < 0 ? FAILED : relations(found, 1.0, 0.0, 1.0);
    }
    PyObject *difference = PyNumber_Subtract(left, right);
    if (difference == NULL) {
        return FAILED;
    }
    PyObject *absolute = PyNumber_Absolute(difference);
    Py_DECREF(difference);
    double gap;
    int failed = finite_of(absolute, &gap);
    Py_XDECREF(absolute);
    return failed ? FAILED : relations(found, 0.0, gap > 0.0 ? gap : FAR, 0.0);
}

/* Text: strings, bytes and bytearrays as arrays of code points. */

static Py_ssize_t
text_length(PyObject *text, Kind kind)
{
    return kind == STR ? PyUnicode_GetLength(text) : kind == BYTES ? PyBytes_Size(text) : PyByteArray_Size(text);
}

/* Stores the first `length` code points. Either the text is not longer than LONGEST_TEXT, or only a prefix is read. */
static int
code_points(PyObject *text, Kind kind, Py_ssize_t length, Py_UCS4 *codes)
{
    if (kind == STR) {
        if (length > FEW && PyUnicode_GetLength(text) == length) {
            return PyUnicode_AsUCS4(text, codes, length, 0) == NULL ? -1 : 0;
        }
        for (Py_ssize_t i = 0; i < length; i++) {
            codes[i] = PyUnicode_ReadChar(text, i);
        }
        return 0;
    }
    const char *bytes = kind == BYTES ? PyBytes_AsString(text) : PyByteArray_AsString(text);
    if (bytes == NULL) {
        return -1;
    }
    for (Py_ssize_t i = 0; i < length; i++) {
        codes[i] = (unsigned char)bytes[i];
    }
    return 0;
}

static inline Py_ssize_t
least(Py_ssize_t one, Py_ssize_t two)
{
    return one < two ? one : two;
}

/* Returns the sum of nu of the code point differences, or any number >= `enough` if the sum is. */
static double
apart(const Py_UCS4 *left, const Py_UCS4 *right, Py_ssize_t length, double enough)
{
    double total = 0.0;
    for (Py_ssize_t i = 0; i < length && total < enough; i++) {
        if (left[i] != right[i]) {
            total += nu(left[i] > right[i] ? left[i] - right[i] : right[i] - left[i]);
        }
    }
    return total;
}

static Answer
text(PyObject *left, PyObject *right, Kind kind, double found[3])
{
    Py_ssize_t size = text_length(left, kind);
    Py_ssize_t other = text_length(right, kind);
    if (size > LONGEST_TEXT || other > LONGEST_TEXT) {
        return ELSEWHERE;
    }
    Py_UCS4 a[LONGEST_TEXT], b[LONGEST_TEXT];
    if (code_points(left, kind, size, a) < 0 || code_points(right, kind, other, b) < 0) {
        return FAILED;
    }
    Py_ssize_t shorter = least(size, other);
    Py_ssize_t start = 0;
    while (start < shorter && a[start] == b[start]) {
        start++;
    }
    double longer = (double)(size > other ? size - other : other - size);
    if (start == shorter) {
        if (size == other) {
            return relations(found, 1.0, 0.0, 1.0);
        }
        /* One text is a prefix of the other: there are no aligned positions after it. */
        return ordered(found, size < other, longer, longer);
    }
    Py_ssize_t aligned = shorter - start;
    while (aligned > 0 && a[size - (shorter - start - aligned) - 1] == b[other - (shorter - start - aligned) - 1]) {
        aligned--;
    }
    double equality = longer + apart(a + start, b + start, least(aligned, TEXT), DBL_MAX);
    equality += (double)(aligned > TEXT ? aligned - TEXT : 0);
    int is_less = a[start] < b[start];
    return ordered(found, is_less, equality, (double)(is_less ? b[start] - a[start] : a[start] - b[start]));
}

/* Stores the least number of characters of `hay` to change so that it contains `needle`. Both have the same kind. */
static int
within(PyObject *needle, PyObject *hay, Kind kind, double *found)
{
    Py_ssize_t size = text_length(needle, kind);
    Py_ssize_t length = text_length(hay, kind);
    Py_UCS4 wanted[TEXT], codes[2 * TEXT];
    Py_ssize_t compared = least(size, TEXT);
    Py_ssize_t positions = size > length ? 1 : least(length - size + 1, TEXT);
    if (code_points(needle, kind, compared, wanted) < 0
        || code_points(hay, kind, least(length, positions - 1 + compared), codes) < 0) {
        return -1;
    }
    if (size > length) {
        *found = (double)(size - length) + apart(wanted, codes, least(compared, length), DBL_MAX);
        return 0;
    }
    double nearest = DBL_MAX;
    for (Py_ssize_t start = 0; start < positions; start++) {
        double total = apart(wanted, codes + start, compared, nearest);
        if (total < nearest) {
            nearest = total;
        }
    }
    *found = nearest > 0.5 ? nearest : 0.5;
    return 0;
}

/* Containers. */

static void
release(PyObject **items, Py_ssize_t count)
{
    while (count > 0) {
        Py_DECREF(items[--count]);
    }
}

/* Stores the first elements of a container, or values of a dict, at most `most` of them. The caller owns them.
   Returns their number, -1 with an exception set. */
static Py_ssize_t
take(PyObject *container, Kind kind, int values, PyObject **items, Py_ssize_t most)
{
    Py_ssize_t count = 0;
    if (kind == LIST) {
        for (; count < most && count < PyList_Size(container); count++) {
            items[count] = Py_NewRef(PyList_GetItem(container, count));
        }
    }
    else if (kind == TUPLE) {
        for (; count < most && count < PyTuple_Size(container); count++) {
            items[count] = Py_NewRef(PyTuple_GetItem(container, count));
        }
    }
    else if (kind == DICT) {
        PyObject *key, *value;
        Py_ssize_t position = 0;
        while (count < most && PyDict_Next(container, &position, &key, &value)) {
            items[count++] = Py_NewRef(values ? value : key);
        }
    }
    else {
        PyObject *iterator = PyObject_GetIter(container);
        if (iterator == NULL) {
            return -1;
        }
        while (count < most && (items[count] = PyIter_Next(iterator)) != NULL) {
            count++;
        }
        Py_DECREF(iterator);
        if (count < most && PyErr_Occurred()) {
            release(items, count);
            return -1;
        }
    }
    return count;
}

/* Returns 1 if comparing the container cannot run code of the program and it has at most LONGEST elements; 0 if not; -1
   with an exception set. */
static int
is_plain(PyObject *container, Kind kind, int values, int depth)
{
    PyObject *items[LONGEST + 1];
    Py_ssize_t count = take(container, kind, values, items, LONGEST + 1);
    int plain = count < 0 ? -1 : count <= LONGEST;
    for (Py_ssize_t i = 0; i < count && plain == 1; i++) {
        Kind inner = kind_of(Py_TYPE(items[i]));
        if (!is_leaf(inner)) {
            plain = is_container(inner) && inner != DICT && depth > 0 ? is_plain(items[i], inner, 0, depth - 1) : 0;
        }
    }
    release(items, count);
    return plain;
}

static int
are_plain(PyObject *left, Kind kind, PyObject *right, Kind other)
{
    int plain = is_plain(left, kind, 0, 2);
    if (plain == 1) {
        plain = is_plain(right, other, 0, 2);
    }
    if (plain == 1 && kind == DICT) {
        plain = is_plain(left, kind, 1, 2);
        if (plain == 1) {
            plain = is_plain(right, other, 1, 2);
        }
    }
    return plain;
}

/* The relations of two containers whose elements cannot be inspected. */
static Answer
by_length(PyObject *left, PyObject *right, double found[3])
{
    Py_ssize_t longer = PyObject_Size(left) - PyObject_Size(right);
    longer = longer < 0 ? -longer : longer;
    return relations(found, 0.0, (double)(longer > 1 ? longer : 1), 0.0);
}

static Answer
sequences(PyObject *elsewhere, PyObject *left, PyObject *right, Kind kind, double found[3])
{
    int plain = are_plain(left, kind, right, kind);
    if (plain <= 0) {
        return plain < 0 ? FAILED : by_length(left, right, found);
    }
    int same = holds(left, right, Py_EQ);
    if (same) {
        return same < 0 ? FAILED : relations(found, 1.0, 0.0, 1.0);
    }
    PyObject *ones[ITEMS], *twos[ITEMS];
    Py_ssize_t size = PyObject_Size(left), other = PyObject_Size(right);
    Py_ssize_t count = take(left, kind, 0, ones, ITEMS);
    Py_ssize_t count_of_other = take(right, kind, 0, twos, ITEMS);
    Py_ssize_t longer = size > other ? size - other : other - size;
    double total = (double)longer;
    double first[3] = {0.0}, pair[3];
    int differ = 0;
    for (Py_ssize_t i = 0; i < least(count, count_of_other) && same >= 0; i++) {
        same = holds(ones[i], twos[i], Py_EQ);
        if (same) {
            continue;
        }
        if (fitgym_compared(elsewhere, Py_EQ, ones[i], twos[i], 0, pair) < 0) {
            same = -1;
            continue;
        }
        total += nu(pair[1]);
        if (!differ) {
            memcpy(first, pair, sizeof first);
            differ = 1;
        }
    }
    release(ones, count);
    release(twos, count_of_other);
    if (same < 0) {
        return FAILED;
    }
    if (differ) {
        return relations(found, first[0], total, first[2]);
    }
    if (longer == 0 || least(size, other) > ITEMS) { /* they differ beyond the first ITEMS pairs */
        return relations(found, 0.0, total != 0.0 ? total : 1.0, 0.0);
    }
    return ordered(found, size < other, total, total);
}

/* Sets `total` to the number of keys that only one dict has, plus nu of the distance to equality of the values of each
   common key. */
static int
values_apart(PyObject *elsewhere, PyObject *left, PyObject *right, PyObject **keys, Py_ssize_t count, double *total)
{
    Py_ssize_t common = 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        int has = PyDict_Contains(right, keys[i]);
        if (has < 0) {
            return -1;
        }
        common += has;
    }
    *total = (double)(count - common + PyDict_Size(right) - common);
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *one = PyDict_GetItemWithError(left, keys[i]);
        PyObject *two = one == NULL ? NULL : PyDict_GetItemWithError(right, keys[i]);
        if (two == NULL) {
            if (PyErr_Occurred()) {
                return -1;
            }
            continue;
        }
        Py_INCREF(one);
        Py_INCREF(two);
        double pair[3];
        int differ = holds(one, two, Py_NE);
        if (differ > 0) {
            differ = fitgym_compared(elsewhere, Py_EQ, one, two, 0, pair);
            *total += differ < 0 ? 0.0 : nu(pair[1]);
        }
        Py_DECREF(one);
        Py_DECREF(two);
        if (differ < 0) {
            return -1;
        }
    }
    return 0;
}

static Answer
mappings(PyObject *elsewhere, PyObject *left, PyObject *right, double found[3])
{
    int plain = are_plain(left, DICT, right, DICT);
    if (plain <= 0) {
        return plain < 0 ? FAILED : by_length(left, right, found);
    }
    int same = holds(left, right, Py_EQ);
    if (same) {
        return same < 0 ? FAILED : relations(found, 1.0, 0.0, 1.0);
    }
    PyObject *keys[LONGEST];
    double total;
    Py_ssize_t count = take(left, DICT, 0, keys, LONGEST);
    int failed = values_apart(elsewhere, left, right, keys, count, &total);
    release(keys, count);
    return failed ? FAILED : relations(found, 0.0, total, 0.0);
}

static Answer
sets(PyObject *left, Kind kind, PyObject *right, Kind other, double found[3])
{
    int plain = are_plain(left, kind, right, other);
    if (plain <= 0) {
        return plain < 0 ? FAILED : by_length(left, right, found);
    }
    PyObject *difference = PyNumber_Xor(left, right);
    if (difference == NULL) {
        return FAILED;
    }
    Py_ssize_t size = PySet_Size(difference);
    Py_DECREF(difference);
    return size ? relations(found, 0.0, (double)size, 0.0) : relations(found, 1.0, 0.0, 1.0);
}

/* Returns 1 if the type has the name of a standard library class that is measured in Python, 0 if not, -1 with an
   exception set. The name is read without the metaclass, which may override attribute access. */
static int
may_be_measured(PyTypeObject *type)
{
    if (type == &PyBaseObject_Type || type == &PyType_Type) {
        return 0; /* these are never measured, and their name objects would have to be created */
    }
    PyObject *name = PyType_GetQualName(type);
    if (name == NULL) {
        return -1;
    }
    Py_ssize_t length = PyUnicode_GetLength(name);
    int found = (length == 7 && (PyUnicode_CompareWithASCIIString(name, "Decimal") == 0))
                || (length == 8 && (PyUnicode_CompareWithASCIIString(name, "Fraction") == 0
                                    || PyUnicode_CompareWithASCIIString(name, "datetime") == 0))
                || (length == 9 && PyUnicode_CompareWithASCIIString(name, "timedelta") == 0)
                || (length == 4 && PyUnicode_CompareWithASCIIString(name, "date") == 0);
    Py_DECREF(name);
    return found;
}

static Answer
measured(PyObject *elsewhere, PyObject *left, PyObject *right, double found[3])
{
    Kind kind = kind_of(Py_TYPE(left));
    Kind other = kind_of(Py_TYPE(right));
    if (is_number(kind) && is_number(other)) {
        return numbers(left, kind, right, other, found);
    }
    if (kind == other) {
        switch (kind) {
        case STR:
        case BYTES:
        case BYTEARRAY:
            return text(left, right, kind, found);
        case LIST:
        case TUPLE:
            return sequences(elsewhere, left, right, kind, found);
        case DICT:
            return mappings(elsewhere, left, right, found);
        case SET:
        case FROZENSET:
            return sets(left, kind, right, other, found);
        case NONE:
            return relations(found, 1.0, 0.0, 1.0);
        case COMPLEX:
            return complexes(left, right, found);
        default:
            break;
        }
    }
    int named = kind == OTHER ? may_be_measured(Py_TYPE(left)) : 0;
    if (named == 0 && other == OTHER) {
        named = may_be_measured(Py_TYPE(right));
    }
    if (named) {
        return named < 0 ? FAILED : ELSEWHERE;
    }
    if (is_set(kind) && is_set(other)) {
        return sets(left, kind, right, other, found);
    }
    if (kind <= BYTEARRAY || other <= BYTEARRAY) {
        return relations(found, 0.0, FAR, 0.0);
    }
    return UNKNOWN;
}

/* The relations that make each operator true, as bits: 1 for <, 2 for =, 4 for >. */
static const unsigned char MAKE_TRUE[] = {[Py_LT] = 1, [Py_LE] = 3, [Py_EQ] = 2, [Py_NE] = 5, [Py_GT] = 4, [Py_GE] = 6};
/* The relations of operands that cannot be measured, by operator and outcome, as bits of the slots that are 0. */
static const unsigned char UNMEASURED[][2] = {
    [Py_LT] = {4, 1}, [Py_LE] = {4, 1}, [Py_EQ] = {5, 2}, [Py_NE] = {2, 5}, [Py_GT] = {1, 4}, [Py_GE] = {1, 4},
};

static int
compared_elsewhere(PyObject *elsewhere, int operator, PyObject *left, PyObject *right, int outcome, double found[3])
{
    static const char *const signs[] = {
        [Py_LT] = "<", [Py_LE] = "<=", [Py_EQ] = "==", [Py_NE] = "!=", [Py_GT] = ">", [Py_GE] = ">=",
    };
    PyObject *answer = PyObject_CallFunction(elsewhere, "sOOO", signs[operator], left, right, outcome ? Py_True : Py_False);
    if (answer == NULL) {
        return -1;
    }
    int parsed = PyArg_ParseTuple(answer, "ddd", &found[0], &found[1], &found[2]);
    Py_DECREF(answer);
    return parsed ? 0 : -1;
}

int
fitgym_compared(PyObject *elsewhere, int operator, PyObject *left, PyObject *right, int outcome, double found[3])
{
    double scale = 1.0;
    switch (measured(elsewhere, left, right, found)) {
    case FAILED:
        return -1;
    case ELSEWHERE:
        return compared_elsewhere(elsewhere, operator, left, right, outcome, found);
    case MEASURED: {
        int zeros = (found[0] == 0.0) | (found[1] == 0.0) << 1 | (found[2] == 0.0) << 2;
        int true_is_zero = (zeros & MAKE_TRUE[operator]) != 0;
        int false_is_zero = (zeros & ~MAKE_TRUE[operator]) != 0;
        if (true_is_zero == outcome && false_is_zero != outcome) {
            /* The measured relation agrees with the outcome. */
            return 0;
        }
        scale = found[1] > 1.0 ? found[1] : 1.0;
        break;
    }
    case UNKNOWN:
        break;
    }
    /* The outcome is authoritative: it replaces a relation that contradicts it (NaN, partial orders, rounding). */
    for (int slot = 0; slot < 3; slot++) {
        found[slot] = UNMEASURED[operator][outcome] >> slot & 1 ? 0.0 : scale;
    }
    return 0;
}

/* Returns the element of a range at `index`. It may be wider than 64 bits. */
static PyObject *
element(PyObject *range, long index)
{
    PyObject *number = PyLong_FromLong(index);
    PyObject *item = number == NULL ? NULL : PyObject_GetItem(range, number);
    Py_XDECREF(number);
    return item;
}

static int
nearest_in_range(PyObject *needle, Kind own, PyObject *range, double *found)
{
    double to_first[3], to_last[3];
    PyObject *first = element(range, 0);
    PyObject *last = element(range, -1);
    int between = -1;
    if (first != NULL && last != NULL) {
        int falling = holds(last, first, Py_LT);
        between = falling < 0 ? -1 : holds(falling ? last : first, needle, Py_LE);
        if (between > 0) {
            between = holds(needle, falling ? first : last, Py_LE);
        }
        if (between == 0
            && (numbers(needle, own, first, INT, to_first) == FAILED
                || numbers(needle, own, last, INT, to_last) == FAILED)) {
            between = -1;
        }
        if (between >= 0) {
            *found = between ? 1.0 : to_last[1] < to_first[1] ? to_last[1] : to_first[1];
        }
    }
    Py_XDECREF(first);
    Py_XDECREF(last);
    return between < 0 ? -1 : 0;
}

int
fitgym_nearest(PyObject *elsewhere, PyObject *needle, PyObject *container, double *found)
{
    Kind kind = kind_of(Py_TYPE(container));
    Kind own = kind_of(Py_TYPE(needle));
    if (kind == STR || kind == BYTES) {
        if (own == kind) {
            return within(needle, container, kind, found);
        }
        *found = (own == INT || own == BOOL) && text_length(container, kind) > 0 ? 1.0 : FAR;
        return 0;
    }
    *found = 1.0;
    if (!is_leaf(own) || !(is_container(kind) || kind == RANGE)) {
        return 0;
    }
    int filled = PyObject_IsTrue(container);
    if (filled <= 0) {
        return filled;
    }
    if (kind == RANGE) {
        if (!is_number(own)) {
            *found = FAR;
            return 0;
        }
        return nearest_in_range(needle, own, container, found);
    }
    PyObject *items[ITEMS];
    Py_ssize_t count = take(container, kind, 0, items, ITEMS);
    double nearest = FAR, pair[3];
    int differ = count < 0 ? -1 : 0;
    for (Py_ssize_t i = 0; i < count && differ >= 0; i++) {
        Kind inner = kind_of(Py_TYPE(items[i]));
        if (own == STR && inner == STR) {
            /* The distance of two strings is at least their difference in length. */
            Py_ssize_t longer = text_length(items[i], STR) - text_length(needle, STR);
            if ((double)(longer < 0 ? -longer : longer) >= nearest) {
                continue;
            }
        }
        if (is_leaf(inner)) {
            differ = holds(items[i], needle, Py_NE);
            if (differ > 0) {
                differ = fitgym_compared(elsewhere, Py_EQ, needle, items[i], 0, pair);
                if (pair[1] < nearest) {
                    nearest = pair[1];
                }
            }
        }
    }
    release(items, count);
    *found = nearest;
    return differ < 0 ? -1 : 0;
}

int
fitgym_size(PyObject *container, double *found)
{
    Py_ssize_t size = PyObject_Size(container);
    if (size < 0) { /* only a range can be longer than Py_ssize_t allows */
        if (!PyErr_ExceptionMatches(PyExc_OverflowError)) {
            return -1;
        }
        PyErr_Clear();
        *found = FURTHEST;
        return 0;
    }
    *found = (double)size;
    return 0;
}

int
fitgym_from_false(PyObject *value, double *found)
{
    Kind kind = kind_of(Py_TYPE(value));
    if (is_number(kind)) {
        int exact = exactly(value, kind, found);
        *found = bounded(*found);
        return exact ? 0 : finite_of(value, found);
    }
    if (kind == COMPLEX) {
        PyObject *absolute = PyNumber_Absolute(value);
        int failed = finite_of(absolute, found);
        Py_XDECREF(absolute);
        return failed;
    }
    if (kind == NONE || kind >= VIEW) {
        *found = 1.0;
        return 0;
    }
    return fitgym_size(value, found);
}
