/* The probes in C: they record exactly the same data as the probes in python/, several times faster.

   A probe is a built-in function whose `self` is its `Site`. The interpreter calls such functions directly; an object
   with `__call__` costs four times as much. The records of a site are in the `Site` itself. A bit set marks the sites
   that were touched since `begin`, so the cost of `begin` and of a snapshot depends on the touched sites, not on all
   sites.

   A probe may be entered again while it compares, by methods of the operands, and each of these methods may raise. So
   no state is kept in the site during such a call, and every function that runs code of the program can fail.

   Py_RETURN_NONE and similar macros are not used: the headers of 3.12 and 3.13 assume that these objects are immortal,
   but the built extension must also run on 3.11, where they are not. */

#include "_distance.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifndef SOURCES
#define SOURCES 0 /* checksum of the source files of this build, see setup.py */
#endif

#define WIDEST 3       /* maximal number of distances of one site */
#define FAMILIAR 256   /* numbers of a type that are known to be kept without a set lookup */
#define TOLD 100       /* visits of a site that report their operands, see factory.py */
#define MOST_COUNTED UINT32_MAX

/* Values of the first argument of the probe of a `case`, see rewriting/rewriter.py. */
enum { MATCHED = 1, GUARD_DECIDED = 2 };

enum { ADD, SUBTRACT, MULTIPLY, DIVIDE, FLOOR_DIVIDE, REMAINDER, POWER, AND, OR, XOR, SHIFT_LEFT, SHIFT_RIGHT };

/* How a function was called so far: by the runner, by others, or both (bits combined); or it can be resumed. */
enum { DIRECT = 1, INDIRECT = 2, RESUMABLE = 4 };

/* The listener's answers about two code objects with adjacent frames, see `Relation` in factory.py. */
enum { BY_RUNNER = 1, BY_SUBJECT = 2, PART_OF = 3, BY_OTHERS = 4 };

/* Number of cached answers. Few are needed, because a generator is resumed from few places. */
enum { RELATIONS = 64 };

typedef struct {
    PyObject *called, *caller; /* code objects; owned, so that no other ones can get these addresses */
    int relation;
} Answer;

typedef struct {
    PyTypeObject *sites_type, *site_type, *loop_type;
    PyObject *out_of_fuel, *compared, *async_loop;
} Module;

typedef struct Sites Sites;

typedef struct Site {
    PyObject_HEAD
    Sites *owner; /* never cleared: `sites_clear` of the owner breaks the cycle */
    struct Site *leads[2]; /* blocks that start when the condition is false, or true; borrowed from the owner */
    uint64_t visits; /* since `begin` */
    double distances[WIDEST];
    uint8_t operator; /* Py_LT to Py_GE, or one of the operators of arithmetic */
    char family;      /* operators of one family can replace each other, see `set_operator` */
    bool negative;    /* `not in`, `is not` */
    bool in_place;    /* the operator of an augmented assignment */
    bool decides, passes, burns, catches, enters;
    uint8_t width;
    uint32_t id, function;
    uint32_t bits, settled_bits; /* infected mutants, see `Infected` in trace.py */
    uint64_t settled_visits;
    double settled_distances[WIDEST];
    uint64_t direct_visits;
    double direct_distances[WIDEST];
} Site;

struct Sites {
    PyObject_HEAD
    int64_t threshold; /* a burning block with more visits checks the fuel; -1 when no fuel is left */
    int64_t limit;     /* a burning block with more visits calls `beyond`: `threshold`, or -1 if `direct` */
    bool direct, collect, infect, spent, guard_failed;
    int64_t fuel;
    Py_ssize_t count, words;
    Site **sites;
    uint64_t *touched; /* bit set of the sites with visits since `begin` */
    uint64_t *settled; /* bit set of the sites with settled visits */
    uint32_t functions;
    uint8_t *ways;      /* how each function was called since `next_statement`, as bits */
    uint8_t *resumable; /* by function: 0 unknown, 1 no, 2 yes; cached permanently, as it depends only on the code */
    uint64_t familiar_ints[FAMILIAR], familiar_floats[FAMILIAR];
    PyObject *stopped, *is_resumable, *relation, *keep; /* methods of the listener */
    PyObject *entry_codes;
    Answer answers[RELATIONS];
    PyObject *f_back; /* the interned attribute name */
    PyObject *kept_ints, *kept_floats, *kept_strings, *kept_bytes;
    PyObject *out_of_fuel, *compared, *async_loop;
    PyTypeObject *loop_type;
};

static const double NO_OUTCOME[WIDEST] = {FAR, FAR, FAR};
static const double TRUE_ONLY[2] = {0.0, 1.0};
static const double FALSE_ONLY[2] = {1.0, 0.0};

/* ------------------------------------------------------------------------------------------------------ recording */

static void
touch(Site *site)
{
    site->owner->touched[site->id / 64] |= (uint64_t)1 << site->id % 64;
}

static inline void
visit(Site *site)
{
    if (site->visits++ == 0) {
        touch(site);
    }
}

static inline void
merge(double *least, const double *found, int width)
{
    for (int i = 0; i < width; i++) {
        if (found[i] < least[i]) {
            least[i] = found[i];
        }
    }
}

/* Calls a method of the listener. Returns 1 if its result is true, 0 if not, -1 with an exception set. */
static int
ask(PyObject *method)
{
    PyObject *answer = method == NULL ? Py_NewRef(Py_False) : PyObject_CallNoArgs(method);
    if (answer == NULL) {
        return -1;
    }
    int truth = PyObject_IsTrue(answer);
    Py_DECREF(answer);
    return truth;
}

/* Returns the listener's answer about two code objects, cached if possible; -1 with an exception set. */
static int
relation_of(Sites *owner, PyObject *called, PyObject *caller)
{
    size_t at = ((size_t)called >> 5) * 31 + ((size_t)caller >> 5);
    Answer *known = &owner->answers[at % RELATIONS];
    if (known->called == called && known->caller == caller) {
        return known->relation;
    }
    PyObject *answer = PyObject_CallFunctionObjArgs(owner->relation, called, caller, NULL);
    long relation = answer == NULL ? -1 : PyLong_AsLong(answer);
    Py_XDECREF(answer);
    if (relation < 0) {
        return -1;
    }
    Answer before = *known;
    *known = (Answer){Py_NewRef(called), Py_NewRef(caller), (int)relation};
    Py_XDECREF(before.called);
    Py_XDECREF(before.caller);
    return (int)relation;
}

/* Replaces `frame` by its caller and sets `code`, or sets both to NULL. Returns -1 with an exception set. */
static int
outwards(Sites *owner, PyFrameObject **frame, PyObject **code)
{
    PyObject *back = PyObject_GetAttr((PyObject *)*frame, owner->f_back);
    Py_DECREF(*frame);
    *frame = NULL;
    *code = NULL;
    if (back == Py_None) {
        Py_DECREF(back);
    }
    else if (back != NULL) {
        *frame = (PyFrameObject *)back;
        *code = (PyObject *)PyFrame_GetCode(*frame);
    }
    return back == NULL ? -1 : 0;
}

/* Returns 1 if the runner called the running code of the subject, with no frame of the subject in between, 0 if not, -1
   with an exception set. The same as `Recorder.is_direct`. */
static int
is_direct(Sites *owner)
{
    PyFrameObject *frame = owner->relation == NULL ? NULL : PyThreadState_GetFrame(PyThreadState_Get());
    PyObject *called = frame == NULL ? NULL : (PyObject *)PyFrame_GetCode(frame), *caller = NULL;
    int found = 0;
    bool looking = frame != NULL;
    while (looking && (found = outwards(owner, &frame, &caller)) == 0 && caller != NULL) {
        int relation = relation_of(owner, called, caller);
        if (relation == BY_SUBJECT && PySet_Size(owner->entry_codes) > 0) {
            int entry = PySet_Contains(owner->entry_codes, caller);
            relation = entry < 0 ? -1 : entry ? BY_OTHERS : BY_SUBJECT;
        }
        looking = relation == PART_OF || relation == BY_OTHERS;
        found = relation < 0 ? -1 : relation == BY_RUNNER;
        PyObject *passed = relation == PART_OF ? called : caller;
        called = relation == PART_OF ? caller : called;
        Py_DECREF(passed);
    }
    Py_XDECREF((PyObject *)frame);
    Py_XDECREF(called);
    return found;
}

/* If the visit is direct, counts it and merges its distances into the direct ones. */
static int
record_direct(Site *site, const double *found)
{
    Sites *owner = site->owner;
    uint8_t way = owner->ways[site->function];
    int direct = way == DIRECT;
    if (!direct && way != INDIRECT) {
        direct = is_direct(owner);
    }
    if (direct > 0) {
        site->direct_visits++;
        merge(site->direct_distances, found, site->width);
    }
    return direct < 0 ? -1 : 0;
}

static inline int
record(Site *site, const double *found)
{
    merge(site->distances, found, site->width);
    return site->owner->direct ? record_direct(site, found) : 0;
}

/* Whether a comparison must still be measured: some distance is above 0, or direct visits are recorded. */
static inline bool
is_open(Site *site)
{
    return site->owner->direct || site->distances[0] != 0.0 || site->distances[1] != 0.0 || site->distances[2] != 0.0;
}

/* Marks all mutants of the site as possibly infected, because its distances cannot distinguish them. */
static inline void
note(Site *site)
{
    site->bits |= site->owner->infect;
}

/* Records a visit that raised an exception instead of having an outcome. Returns NULL. */
static PyObject *
no_outcome(Site *site)
{
    merge(site->distances, NO_OUTCOME, site->width);
    note(site);
    if (site->owner->direct) {
        PyObject *type, *value, *traceback;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* the replacements are newer than the limited API */
        PyErr_Fetch(&type, &value, &traceback);
        if (record_direct(site, NO_OUTCOME) < 0) {
            Py_XDECREF(type);
            Py_XDECREF(value);
            Py_XDECREF(traceback);
        }
        else {
            PyErr_Restore(type, value, traceback);
        }
#pragma GCC diagnostic pop
    }
    return NULL;
}

/* Records a loop as reached, in case an exception is raised before its first element. */
static void
unfinished(Site *site)
{
    if (site->distances[0] > FAR) {
        merge(site->distances, NO_OUTCOME, site->width);
    }
}

/* Whether this visit of the site reports its operands. */
static inline bool
tells(Site *site)
{
    return site->owner->collect && site->visits <= TOLD;
}

/* Reports an operand to the listener unless it is kept. Returns 1 if it was, 0 if not, -1 with an exception set. */
static int
tell(Sites *owner, PyObject *value, PyObject *kept)
{
    int known = PySet_Contains(kept, value);
    if (known == 0) {
        PyObject *done = PyObject_CallFunctionObjArgs(owner->keep, value, NULL);
        Py_XDECREF(done);
        known = done == NULL ? -1 : 0;
    }
    return known;
}

/* Reports a number that is identified by 64 bits within its type. `familiar` caches numbers that are kept already. */
static int
keep_number(Sites *owner, PyObject *value, uint64_t bits, PyObject *kept, uint64_t familiar[FAMILIAR])
{
    uint64_t *place = &familiar[(bits ^ bits >> 48) % FAMILIAR];
    if (*place == bits) {
        return 0;
    }
    int known = tell(owner, value, kept);
    if (known > 0) {
        *place = bits;
    }
    return known < 0 ? -1 : 0;
}

static inline int
keep_integer(Sites *owner, PyObject *value, long long integer)
{
    return keep_number(owner, value, (uint64_t)integer, owner->kept_ints, owner->familiar_ints);
}

static int
keep(Sites *owner, PyObject *value)
{
    PyTypeObject *type = Py_TYPE(value);
    if (type == &PyFloat_Type) {
        double number = PyFloat_AsDouble(value);
        uint64_t bits;
        memcpy(&bits, &number, sizeof bits);
        return keep_number(owner, value, bits, owner->kept_floats, owner->familiar_floats);
    }
    PyObject *kept = type == &PyUnicode_Type ? owner->kept_strings
                     : type == &PyLong_Type  ? owner->kept_ints
                     : type == &PyBytes_Type ? owner->kept_bytes
                                             : NULL;
    return kept == NULL || tell(owner, value, kept) >= 0 ? 0 : -1;
}

/* ----------------------------------------------------------------------------------------------------------- fuel */

#if defined(__GNUC__)
#define lowest_bit(word) __builtin_ctzll(word)
#else
static int
lowest_bit(uint64_t word)
{
    int bit = 0;
    while (!(word >> bit & 1)) {
        bit++;
    }
    return bit;
}
#endif

/* Loops in order over the sites in a bit set. `bits` is an expression for one word of it, with the variable `word`. */
#define FOR_EACH_SITE(owner, site, bits)                                                                               \
    for (Py_ssize_t word = 0; word < (owner)->words; word++)                                                           \
        for (uint64_t left_over = (bits); left_over; left_over &= left_over - 1)                                       \
            for (Site *site = (owner)->sites[64 * word + lowest_bit(left_over)]; site != NULL; site = NULL)

static int64_t
burnt(Sites *owner)
{
    int64_t sum = 0;
    FOR_EACH_SITE(owner, site, owner->touched[word]) {
        sum += site->burns ? (int64_t)site->visits : 0;
    }
    return sum;
}

static int64_t
fuel_left(Sites *owner)
{
    return owner->spent ? -1 : owner->fuel - burnt(owner);
}

static void
spend(Sites *owner)
{
    owner->spent = true;
    owner->threshold = owner->limit = -1;
}

/* Called when a burning block has more visits than the threshold. Raises OutOfFuel if no fuel is left. */
static int
check(Sites *owner, int64_t visits)
{
    if (fuel_left(owner) < 0) {
        spend(owner);
        PyErr_SetNone(owner->out_of_fuel);
        return -1;
    }
    owner->threshold = (owner->threshold > visits ? owner->threshold : visits) + owner->fuel / 16 + 1;
    owner->limit = owner->direct ? -1 : owner->threshold;
    return 0;
}

/* --------------------------------------------------------------------------------------------------------- probes */

static PyObject *
wrong_call(void)
{
    PyErr_SetString(PyExc_TypeError, "a probe was called with the wrong number of arguments");
    return NULL;
}

static inline PyObject *
boolean(int truth)
{
    return Py_NewRef(truth ? Py_True : Py_False);
}

/* The slow path of a burning block: above the threshold, and always while direct visits are recorded. */
static int
beyond(Site *site)
{
    Sites *owner = site->owner;
    if ((int64_t)site->visits > owner->threshold && check(owner, (int64_t)site->visits) < 0) {
        return -1;
    }
    if (!owner->direct) {
        return 0;
    }
    if (site->enters) {
        uint8_t *known = &owner->resumable[site->function];
        int resumable = *known ? *known == 2 : ask(owner->is_resumable);
        int direct = resumable ? 0 : is_direct(owner);
        if (resumable < 0 || direct < 0) {
            return -1;
        }
        *known = resumable ? 2 : 1;
        owner->ways[site->function] |= resumable ? RESUMABLE : direct ? DIRECT : INDIRECT;
    }
    return record_direct(site, NULL);
}

static PyObject *
burning(PyObject *self, PyObject *const *Py_UNUSED(args), Py_ssize_t Py_UNUSED(count))
{
    Site *site = (Site *)self;
    /* Hot path: one counter and one comparison. `limit` is -1 while direct visits are recorded. */
    visit(site);
    if ((int64_t)site->visits > site->owner->limit && beyond(site) < 0) {
        return NULL;
    }
    return Py_NewRef(Py_None);
}

static PyObject *
block(PyObject *self, PyObject *const *Py_UNUSED(args), Py_ssize_t Py_UNUSED(count))
{
    Site *site = (Site *)self;
    visit(site);
    if (site->owner->direct && record_direct(site, NULL) < 0) {
        return NULL;
    }
    return Py_NewRef(Py_None);
}

static PyObject *
catching(PyObject *self, PyObject *const *Py_UNUSED(args), Py_ssize_t Py_UNUSED(count))
{
    Site *site = (Site *)self;
    Sites *owner = site->owner;
    visit(site);
    if (owner->stopped != NULL) {
        PyObject *error = PyErr_GetHandledException();
        PyObject *traceback = error == NULL ? NULL : PyException_GetTraceback(error);
        PyObject *done = PyObject_CallFunctionObjArgs(owner->stopped, traceback == NULL ? Py_None : traceback, NULL);
        Py_XDECREF(error);
        Py_XDECREF(traceback);
        Py_XDECREF(done);
        if (done == NULL) {
            return NULL;
        }
    }
    if (owner->direct && record_direct(site, NULL) < 0) {
        return NULL;
    }
    return Py_NewRef(Py_None);
}

static inline void
integer_relations(double found[WIDEST], long long left, long long right)
{
    if (left == right) {
        found[0] = found[2] = 1.0;
        found[1] = 0.0;
        return;
    }
    bool less = left < right;
    unsigned long long gap = less ? (unsigned long long)right - (unsigned long long)left
                                  : (unsigned long long)left - (unsigned long long)right;
    found[1] = (double)gap;
    found[less ? 0 : 2] = 0.0;
    found[less ? 2 : 0] = gap == UINT64_MAX ? 18446744073709551616.0 : (double)(gap + 1);
}

/* Stores a wide integer as a finite float. */
static int
as_distance(PyObject *integer, double *found)
{
    *found = PyLong_AsDouble(integer);
    if (*found == -1.0 && PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(PyExc_OverflowError)) {
            return -1;
        }
        PyErr_Clear();
        *found = FURTHEST;
    }
    return 0;
}

/* Two integers are subtracted exactly, unlike numbers of mixed types. Only the distance is rounded. */
static int
wide_integer_relations(double found[WIDEST], PyObject *left, PyObject *right)
{
    int order = PyObject_RichCompareBool(left, right, Py_LT);
    if (order == 0 && PyObject_RichCompareBool(left, right, Py_EQ)) {
        integer_relations(found, 0, 0);
        return 0;
    }
    PyObject *gap = order ? PyNumber_Subtract(right, left) : PyNumber_Subtract(left, right);
    PyObject *one = PyLong_FromLong(1);
    PyObject *beyond = gap == NULL || one == NULL ? NULL : PyNumber_Add(gap, one);
    found[order ? 0 : 2] = 0.0;
    int failed = beyond == NULL || as_distance(gap, &found[1]) < 0 || as_distance(beyond, &found[order ? 2 : 0]) < 0;
    Py_XDECREF(gap);
    Py_XDECREF(one);
    Py_XDECREF(beyond);
    return failed ? -1 : 0;
}

static inline bool
is_number(PyObject *value)
{
    return Py_IS_TYPE(value, &PyLong_Type) || Py_IS_TYPE(value, &PyFloat_Type) || Py_IS_TYPE(value, &PyBool_Type);
}

static inline bool
is_nan(PyObject *value)
{
    return Py_IS_TYPE(value, &PyFloat_Type) && isnan(PyFloat_AsDouble(value));
}

/* Whether <, = or > holds between the operands, as in infection.py. */
static bool
have_order(PyObject *left, PyObject *right)
{
    if (is_number(left) && is_number(right)) {
        return !is_nan(left) && !is_nan(right);
    }
    return Py_TYPE(left) == Py_TYPE(right)
           && (Py_IS_TYPE(left, &PyUnicode_Type) || Py_IS_TYPE(left, &PyBytes_Type));
}

/* Compares operands that are not two 64-bit integers. The visit is counted already. */
static PyObject *
compare(Site *site, PyObject *left, PyObject *right)
{
    Sites *owner = site->owner;
    if (owner->infect && !have_order(left, right)) {
        note(site);
    }
    PyObject *result = PyObject_RichCompare(left, right, site->operator);
    int truth;
    if (result == Py_True || result == Py_False) {
        truth = result == Py_True;
    }
    else if (result == NULL) {
        return no_outcome(site);
    }
    else if (site->decides) {
        truth = PyObject_IsTrue(result);
        if (truth < 0) {
            Py_DECREF(result);
            return no_outcome(site);
        }
        if (!site->passes) {
            Py_DECREF(result);
            result = boolean(truth);
        }
    }
    else if (record(site, NO_OUTCOME) < 0) { /* an array, an expression or a symbol: the result has no truth value */
        Py_DECREF(result);
        return NULL;
    }
    else {
        return result;
    }
    if (tells(site) && (keep(owner, left) < 0 || keep(owner, right) < 0)) {
        Py_DECREF(result);
        return NULL;
    }
    if (is_open(site)) {
        double found[WIDEST];
        int failed = Py_IS_TYPE(left, &PyLong_Type) && Py_IS_TYPE(right, &PyLong_Type)
                         ? wide_integer_relations(found, left, right)
                         : fitgym_compared(owner->compared, site->operator, left, right, truth, found);
        if (failed || record(site, found) < 0) {
            Py_DECREF(result);
            return NULL;
        }
    }
    return result;
}

static PyObject *
comparison(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    /* The orders that make each operator true, as bits: 1 for less, 2 for equal, 4 for greater. */
    static const uint8_t makes_true[] = {
        [Py_LT] = 1, [Py_LE] = 3, [Py_EQ] = 2, [Py_NE] = 5, [Py_GT] = 4, [Py_GE] = 6,
    };
    Site *site = (Site *)self;
    if (count != 2) {
        return wrong_call();
    }
    PyObject *left = args[0], *right = args[1];
    visit(site);
    /* Fast path: two integers that fit into 64 bits. */
    if (Py_IS_TYPE(left, &PyLong_Type) && Py_IS_TYPE(right, &PyLong_Type)) {
        int left_is_wide, right_is_wide;
        long long a = PyLong_AsLongLongAndOverflow(left, &left_is_wide);
        long long b = PyLong_AsLongLongAndOverflow(right, &right_is_wide);
        if (!(left_is_wide | right_is_wide)) {
            Sites *owner = site->owner;
            if (tells(site) && (keep_integer(owner, left, a) < 0 || keep_integer(owner, right, b) < 0)) {
                return NULL;
            }
            if (is_open(site)) {
                double found[WIDEST];
                integer_relations(found, a, b);
                if (record(site, found) < 0) {
                    return NULL;
                }
            }
            return boolean(makes_true[site->operator] >> ((a >= b) + (a > b)) & 1);
        }
    }
    return compare(site, left, right);
}

static PyObject *
identity(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    Site *site = (Site *)self;
    if (count != 2) {
        return wrong_call();
    }
    visit(site);
    bool result = (args[0] == args[1]) != site->negative;
    return record(site, result ? TRUE_ONLY : FALSE_ONLY) < 0 ? NULL : boolean(result);
}

static PyObject *
inclusion(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    Site *site = (Site *)self;
    Sites *owner = site->owner;
    if (count != 2) {
        return wrong_call();
    }
    PyObject *left = args[0], *right = args[1];
    visit(site);
    int is_in = PySequence_Contains(right, left);
    if (is_in < 0) {
        return no_outcome(site);
    }
    if (tells(site) && keep(owner, left) < 0) {
        return NULL;
    }
    bool result = is_in != site->negative;
    double found[2] = {result ? 0.0 : 1.0, result ? 1.0 : 0.0};
    /* The distance away from membership is 1. The distance towards it is measured only if it can be less than before:
       two different strings have a distance of at least 0.5. */
    double *towards = &site->distances[site->negative];
    if (!is_in && (owner->direct || *towards > 0.5 || (*towards != 0.0 && !Py_IS_TYPE(left, &PyUnicode_Type)))
        && fitgym_nearest(owner->compared, left, right, &found[site->negative]) < 0) {
        return NULL;
    }
    return record(site, found) < 0 ? NULL : boolean(result);
}

static PyObject *
truth(PyObject *self, PyObject *value)
{
    Site *site = (Site *)self;
    visit(site);
    double found[2] = {1.0, 0.0};
    int result;
    if (value == Py_True || value == Py_False) {
        result = value == Py_True;
        found[0] = result ? 0.0 : 1.0;
        found[1] = result ? 1.0 : 0.0;
    }
    else {
        result = PyObject_IsTrue(value);
        if (result < 0) {
            return no_outcome(site);
        }
        if (result) {
            found[0] = 0.0;
            bool matters = site->owner->direct || site->distances[1] != 0.0;
            if (matters && fitgym_from_false(value, &found[1]) < 0) {
                return NULL;
            }
        }
    }
    if (record(site, found) < 0) {
        return NULL;
    }
    return site->passes ? Py_NewRef(value) : boolean(result);
}

/* Counts the block that a condition leads to, which has no probe. `result` is a bool. */
static inline PyObject *
led(PyObject *self, PyObject *result)
{
    Site *block = result == NULL ? NULL : ((Site *)self)->leads[result == Py_True];
    if (block != NULL) {
        visit(block);
        if (block->owner->direct && record_direct(block, NULL) < 0) {
            Py_DECREF(result);
            return NULL;
        }
    }
    return result;
}

static PyObject *
leading_comparison(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    return led(self, comparison(self, args, count));
}

static PyObject *
leading_identity(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    return led(self, identity(self, args, count));
}

static PyObject *
leading_inclusion(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    return led(self, inclusion(self, args, count));
}

static PyObject *
leading_truth(PyObject *self, PyObject *value)
{
    return led(self, truth(self, value));
}

static PyObject *
applied(int operator, bool in_place, PyObject *left, PyObject *right)
{
    switch (operator) {
    case ADD: return in_place ? PyNumber_InPlaceAdd(left, right) : PyNumber_Add(left, right);
    case SUBTRACT: return in_place ? PyNumber_InPlaceSubtract(left, right) : PyNumber_Subtract(left, right);
    case MULTIPLY: return in_place ? PyNumber_InPlaceMultiply(left, right) : PyNumber_Multiply(left, right);
    case DIVIDE: return in_place ? PyNumber_InPlaceTrueDivide(left, right) : PyNumber_TrueDivide(left, right);
    case FLOOR_DIVIDE: return in_place ? PyNumber_InPlaceFloorDivide(left, right) : PyNumber_FloorDivide(left, right);
    case REMAINDER: return in_place ? PyNumber_InPlaceRemainder(left, right) : PyNumber_Remainder(left, right);
    case POWER: return in_place ? PyNumber_InPlacePower(left, right, Py_None) : PyNumber_Power(left, right, Py_None);
    case AND: return in_place ? PyNumber_InPlaceAnd(left, right) : PyNumber_And(left, right);
    case OR: return in_place ? PyNumber_InPlaceOr(left, right) : PyNumber_Or(left, right);
    case XOR: return in_place ? PyNumber_InPlaceXor(left, right) : PyNumber_Xor(left, right);
    case SHIFT_LEFT: return in_place ? PyNumber_InPlaceLshift(left, right) : PyNumber_Lshift(left, right);
    default: return in_place ? PyNumber_InPlaceRshift(left, right) : PyNumber_Rshift(left, right);
    }
}

/* ------------------------------------------------------------------------------------------------------ infection */

/* The rules of infection.py, in C. They run no code of the program. */

/* Returns 1 if two numbers, strings or bytes are indistinguishable, 0 if not, -1 with an exception set. */
static int
same(PyObject *value, PyObject *other)
{
    if (Py_TYPE(value) != Py_TYPE(other)) {
        return 0;
    }
    if (Py_IS_TYPE(value, &PyFloat_Type)) {
        double a = PyFloat_AsDouble(value), b = PyFloat_AsDouble(other);
        return a == b ? signbit(a) == signbit(b) || a != 0.0 : isnan(a) && isnan(b);
    }
    return PyObject_RichCompareBool(value, other, Py_EQ);
}

/* Whether arithmetic may be repeated with this operand. Stores its value if it is an integer. */
static bool
is_looked_at(PyObject *value, bool bitwise, bool *is_integer, long long *integer)
{
    *is_integer = !Py_IS_TYPE(value, &PyFloat_Type);
    if (!*is_integer) {
        return !bitwise;
    }
    int is_wide = 1;
    if (Py_IS_TYPE(value, &PyLong_Type) || Py_IS_TYPE(value, &PyBool_Type)) {
        *integer = PyLong_AsLongLongAndOverflow(value, &is_wide);
    }
    return !is_wide;
}

/* Whether the result would be longer than about 1000 bits. */
static bool
is_too_long(int operator, long long left, long long right)
{
    if (operator == SHIFT_LEFT) {
        return left != 0 && right > 1024;
    }
    if (operator != POWER) {
        return false;
    }
    int bits = 0;
    for (unsigned long long rest = left < 0 ? 0 - (unsigned long long)left : (unsigned long long)left; rest; rest >>= 1) {
        bits++;
    }
    return bits > 1 && right > 1024 / bits;
}

/* Returns the bits of the operators whose result differs from `result` (NULL for an exception); -1 with one set. */
static long
by_operator(int operator, PyObject *left, PyObject *right, PyObject *result, uint32_t known)
{
    bool bitwise = operator >= AND, left_is_integer, right_is_integer;
    int first = bitwise ? AND : ADD, last = bitwise ? SHIFT_RIGHT : POWER;
    long long a = 0, b = 0;
    bool are_looked_at = is_looked_at(left, bitwise, &left_is_integer, &a)
                         && is_looked_at(right, bitwise, &right_is_integer, &b);
    long bits = 0;
    for (int other = first; other <= last; other++) {
        long bit = 1L << (other - first);
        if (other == operator || known & bit) {
            continue;
        }
        if (!are_looked_at || (left_is_integer && right_is_integer && is_too_long(other, a, b))) {
            bits |= bit;
            continue;
        }
        PyObject *alternative = applied(other, false, left, right);
        if (alternative == NULL) {
            if (!PyErr_ExceptionMatches(PyExc_ArithmeticError) && !PyErr_ExceptionMatches(PyExc_ValueError)) {
                return -1;
            }
            PyErr_Clear();
            bits |= result == NULL ? 0 : bit;
            continue;
        }
        int equal = result == NULL ? 0 : same(result, alternative);
        Py_DECREF(alternative);
        if (equal < 0) {
            return -1;
        }
        bits |= equal ? 0 : bit;
    }
    return bits;
}

static PyObject *
arithmetic(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    Site *site = (Site *)self;
    Sites *owner = site->owner;
    if (count != 2) {
        return wrong_call();
    }
    if (!owner->infect) {
        return applied(site->operator, site->in_place, args[0], args[1]);
    }
    visit(site); /* direct visits of expressions are not recorded */
    PyObject *result = applied(site->operator, site->in_place, args[0], args[1]);
    uint32_t every = site->operator >= AND ? 31u & ~(1u << (site->operator - AND)) : 127u & ~(1u << site->operator);
    if (site->bits == every) {
        return result;
    }
    PyObject *type = NULL, *value = NULL, *traceback = NULL;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* the replacements are newer than the limited API */
    if (result == NULL) {
        PyErr_Fetch(&type, &value, &traceback);
    }
    long bits = by_operator(site->operator, args[0], args[1], result, site->bits);
    if (bits < 0) {
        Py_XDECREF(result);
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(traceback);
        return NULL;
    }
    site->bits |= (uint32_t)bits;
    if (result == NULL) {
        PyErr_Restore(type, value, traceback);
    }
#pragma GCC diagnostic pop
    return result;
}

/* Returns the bits of the replacements that differ from a value, see infection.py; -1 with an exception set. */
static long
by_value(PyObject *value, PyObject *const *others, Py_ssize_t count)
{
    long bits = 7;
    bool plain = value == Py_None || is_number(value) || Py_IS_TYPE(value, &PyUnicode_Type)
                 || Py_IS_TYPE(value, &PyBytes_Type);
    if (Py_IS_TYPE(value, &PyLong_Type)) {
        int is_wide;
        bits = PyLong_AsLongLongAndOverflow(value, &is_wide) || is_wide ? 7 : 6;
    }
    else if (Py_IS_TYPE(value, &PyFloat_Type)) {
        double number = PyFloat_AsDouble(value), more = number + 1.0, less = number - 1.0;
        bits = isnan(number) ? 0 : 1 | (more != number) << 1 | (less != number) << 2;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        int equal = value == others[i] ? 1 : plain ? same(value, others[i]) : 0;
        if (equal < 0) {
            return -1;
        }
        bits |= equal ? 0 : 8L << i;
    }
    return bits;
}

static PyObject *
value(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    Site *site = (Site *)self;
    Sites *owner = site->owner;
    if (count < 1) {
        return wrong_call();
    }
    if (owner->infect) {
        visit(site);
        if (site->bits != (8u << (count - 1)) - 1) {
            long bits = by_value(args[0], args + 1, count - 1);
            if (bits < 0) {
                return NULL;
            }
            site->bits |= (uint32_t)bits;
        }
    }
    return Py_NewRef(args[0]);
}

static PyObject *
match(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    Site *site = (Site *)self;
    Sites *owner = site->owner;
    if (count < 1 || count > 2) {
        return wrong_call();
    }
    long stage = PyLong_AsLong(args[0]);
    if (stage == -1 && PyErr_Occurred()) {
        return NULL;
    }
    if (stage == GUARD_DECIDED) {
        int holds = count > 1 ? PyObject_IsTrue(args[1]) : 0;
        if (holds < 0) {
            return NULL;
        }
        owner->guard_failed = !holds;
        return boolean(holds);
    }
    if (stage != MATCHED && owner->guard_failed) {
        owner->guard_failed = false; /* the pattern matched, but the guard failed; no other code ran in between */
        return Py_NewRef(Py_False);
    }
    visit(site);
    return record(site, stage == MATCHED ? TRUE_ONLY : FALSE_ONLY) < 0 ? NULL : boolean(stage == MATCHED);
}

/* ---------------------------------------------------------------------------------------------------------- loops */

/* Wraps the iterator of a loop. The loop is still the direct caller of the iterator, as without the probe. */
typedef struct {
    PyObject_HEAD
    PyObject *iterator; /* NULL when it is exhausted */
    PyObject *first;    /* an element that was read early, or NULL */
    Site *site;         /* not NULL until it is known whether there is a first element */
} Loop;

static PyObject *
new_loop(Site *site, PyObject *iterator, PyObject *first)
{
    PyTypeObject *type = site->owner->loop_type;
    Loop *loop = type == NULL ? NULL : (Loop *)PyType_GenericAlloc(type, 0);
    if (loop == NULL) {
        Py_DECREF(iterator);
        Py_XDECREF(first);
        return NULL;
    }
    loop->iterator = iterator;
    loop->first = first;
    loop->site = first == NULL ? (Site *)Py_NewRef((PyObject *)site) : NULL;
    return (PyObject *)loop;
}

/* Records whether a loop has a first element. An object left by an earlier test case may call it after `begin`. */
static int
record_entered(Site *site, bool entered)
{
    touch(site);
    return record(site, entered ? TRUE_ONLY : FALSE_ONLY);
}

static PyObject *
loop_next(PyObject *self)
{
    Loop *loop = (Loop *)self;
    if (loop->first != NULL) {
        PyObject *first = loop->first;
        loop->first = NULL;
        return first;
    }
    if (loop->iterator == NULL) {
        return NULL;
    }
    /* The iterator is owned here, because code that runs in PyIter_Next may destroy this object. */
    PyObject *iterator = Py_NewRef(loop->iterator);
    PyObject *item = PyIter_Next(iterator);
    Py_DECREF(iterator);
    if (item == NULL && !PyErr_Occurred()) {
        Py_CLEAR(loop->iterator);
    }
    if (loop->site != NULL && !PyErr_Occurred()) {
        Site *site = loop->site;
        loop->site = NULL;
        if (record_entered(site, item != NULL) < 0) {
            Py_CLEAR(item);
        }
        Py_DECREF(site);
    }
    return item;
}

static int
loop_traverse(PyObject *self, visitproc visit, void *arg)
{
    Loop *loop = (Loop *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(loop->iterator);
    Py_VISIT(loop->first);
    Py_VISIT(loop->site);
    return 0;
}

static int
loop_clear(PyObject *self)
{
    Loop *loop = (Loop *)self;
    Py_CLEAR(loop->iterator);
    Py_CLEAR(loop->first);
    Py_CLEAR(loop->site);
    return 0;
}

static void
loop_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    loop_clear(self);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static PyType_Slot loop_slots[] = {
    {Py_tp_doc, "An iterator that tells whether it had a first element."},
    {Py_tp_iter, PyObject_SelfIter},
    {Py_tp_iternext, loop_next},
    {Py_tp_traverse, loop_traverse},
    {Py_tp_clear, loop_clear},
    {Py_tp_dealloc, loop_dealloc},
    {0, NULL},
};

static PyType_Spec loop_spec = {
    .name = "fitgym.instrument._sites.Loop",
    .basicsize = sizeof(Loop),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = loop_slots,
};

/* Iterators whose first element may be read early: they run no code of the program that could inspect callers. */
static bool
is_plain_iterator(PyTypeObject *type)
{
    return type == &PyListIter_Type || type == &PyTupleIter_Type || type == &PyUnicodeIter_Type
           || type == &PyBytesIter_Type || type == &PyRangeIter_Type || type == &PySetIter_Type
           || type == &PyDictIterKey_Type || type == &PyDictIterValue_Type || type == &PyDictIterItem_Type;
}

static PyObject *
loop(PyObject *self, PyObject *iterable)
{
    Site *site = (Site *)self;
    visit(site);
    if (fitgym_is_sized(Py_TYPE(iterable))) {
        double found[2] = {0.0, 0.0};
        if (fitgym_size(iterable, &found[1]) < 0) {
            return NULL;
        }
        return record(site, found[1] > 0.0 ? found : FALSE_ONLY) < 0 ? NULL : Py_NewRef(iterable);
    }
    unfinished(site);
    PyObject *iterator = PyObject_GetIter(iterable);
    if (iterator == NULL) {
        return NULL;
    }
    if (!is_plain_iterator(Py_TYPE(iterator))) {
        return new_loop(site, iterator, NULL);
    }
    PyObject *first = PyIter_Next(iterator);
    if (first != NULL) {
        if (record_entered(site, true) < 0) {
            Py_DECREF(first);
            Py_DECREF(iterator);
            return NULL;
        }
        return new_loop(site, iterator, first);
    }
    Py_DECREF(iterator);
    if (PyErr_Occurred() || record_entered(site, false) < 0) {
        return NULL;
    }
    return PyTuple_New(0);
}

/* Records the outcome of the first step of an asynchronous loop. */
static PyObject *
outcome(PyObject *self, PyObject *entered)
{
    int truth = PyObject_IsTrue(entered);
    if (truth < 0 || record_entered((Site *)self, truth) < 0) {
        return NULL;
    }
    return Py_NewRef(Py_None);
}

static PyMethodDef outcome_method = {"outcome", outcome, METH_O, NULL};

static PyObject *
asynchronous(PyObject *self, PyObject *iterable)
{
    Site *site = (Site *)self;
    visit(site);
    unfinished(site);
    PyObject *method = PyObject_GetAttrString((PyObject *)Py_TYPE(iterable), "__aiter__");
    if (method == NULL) {
        if (!PyErr_ExceptionMatches(PyExc_AttributeError)) {
            return NULL;
        }
        PyErr_Clear();
        return Py_NewRef(iterable); /* the loop itself raises the error */
    }
    Py_DECREF(method);
    PyObject *tell = PyCFunction_NewEx(&outcome_method, self, NULL);
    PyObject *async_loop = site->owner->async_loop;
    PyObject *made = tell == NULL ? NULL : PyObject_CallFunctionObjArgs(async_loop, iterable, tell, NULL);
    Py_XDECREF(tell);
    return made;
}

/* ----------------------------------------------------------------------------------------------------------- Site */

static int
site_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((Site *)self)->owner);
    return 0;
}

static void
site_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    Py_XDECREF((PyObject *)((Site *)self)->owner);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static PyType_Slot site_slots[] = {
    {Py_tp_doc, "What one probe records."},
    {Py_tp_traverse, site_traverse},
    {Py_tp_dealloc, site_dealloc},
    {0, NULL},
};

static PyType_Spec site_spec = {
    .name = "fitgym.instrument._sites.Site",
    .basicsize = sizeof(Site),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = site_slots,
};

/* Returns an integer attribute that must not be negative; -1 with an exception set. */
static long
number_of(PyObject *object, const char *name)
{
    PyObject *value = PyObject_GetAttrString(object, name);
    long number = value == NULL ? -1 : PyLong_AsLong(value);
    Py_XDECREF(value);
    if (number < 0 && !PyErr_Occurred()) {
        PyErr_Format(PyExc_ValueError, "a site's %s is negative: %ld", name, number);
    }
    return number;
}

/* Returns 1 or 0 for the truth of an attribute; -1 with an exception set. */
static int
flag_of(PyObject *object, const char *name)
{
    PyObject *value = PyObject_GetAttrString(object, name);
    int truth = value == NULL ? -1 : PyObject_IsTrue(value);
    Py_XDECREF(value);
    return truth;
}

/* Sets the operator of a site, or replaces it by another one of the same family. */
static int
set_operator(Site *site, PyObject *operator)
{
    static const struct { const char *sign; char family; uint8_t operator; bool negative, in_place; } known[] = {
        {"", 'n', 0, false, false},          {"async for", 'n', 0, false, false},
        {"in", 'm', 0, false, false},        {"not in", 'm', 0, true, false},
        {"is", 'i', 0, false, false},        {"is not", 'i', 0, true, false},
        {"<", 'c', Py_LT, false, false},     {"<=", 'c', Py_LE, false, false},
        {"==", 'c', Py_EQ, false, false},    {"!=", 'c', Py_NE, false, false},
        {">", 'c', Py_GT, false, false},     {">=", 'c', Py_GE, false, false},
        {"+", 'a', ADD, false, false},       {"+=", 'A', ADD, false, true},
        {"-", 'a', SUBTRACT, false, false},  {"-=", 'A', SUBTRACT, false, true},
        {"*", 'a', MULTIPLY, false, false},  {"*=", 'A', MULTIPLY, false, true},
        {"/", 'a', DIVIDE, false, false},    {"/=", 'A', DIVIDE, false, true},
        {"//", 'a', FLOOR_DIVIDE, false, false}, {"//=", 'A', FLOOR_DIVIDE, false, true},
        {"%", 'a', REMAINDER, false, false}, {"%=", 'A', REMAINDER, false, true},
        {"**", 'a', POWER, false, false},    {"**=", 'A', POWER, false, true},
        {"&", 'b', AND, false, false},       {"&=", 'B', AND, false, true},
        {"|", 'b', OR, false, false},        {"|=", 'B', OR, false, true},
        {"^", 'b', XOR, false, false},       {"^=", 'B', XOR, false, true},
        {"<<", 'b', SHIFT_LEFT, false, false},   {"<<=", 'B', SHIFT_LEFT, false, true},
        {">>", 'b', SHIFT_RIGHT, false, false},  {">>=", 'B', SHIFT_RIGHT, false, true},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (PyUnicode_CompareWithASCIIString(operator, known[i].sign) == 0) {
            if (site->family && (site->family != known[i].family || site->family == 'n')) {
                PyErr_Format(PyExc_ValueError, "site %u cannot have the operator %R", site->id, operator);
                return -1;
            }
            site->family = known[i].family;
            site->operator = known[i].operator;
            site->negative = known[i].negative;
            site->in_place = known[i].in_place;
            return 0;
        }
    }
    PyErr_Format(PyExc_ValueError, "a site has an unknown operator: %R", operator);
    return -1;
}

static Site *
new_site(PyTypeObject *type, Sites *owner, PyObject *described, Py_ssize_t id)
{
    Site *site = (Site *)PyType_GenericAlloc(type, 0);
    if (site == NULL) {
        return NULL;
    }
    site->owner = (Sites *)Py_NewRef((PyObject *)owner);
    site->id = (uint32_t)id;
    long function = number_of(described, "function");
    long width = function < 0 ? -1 : number_of(described, "width");
    int decides = width < 0 ? -1 : flag_of(described, "decides");
    int passes = decides < 0 ? -1 : flag_of(described, "passes");
    int burns = passes < 0 ? -1 : flag_of(described, "burns");
    int catches = burns < 0 ? -1 : flag_of(described, "catches");
    PyObject *operator = catches < 0 ? NULL : PyObject_GetAttrString(described, "operator");
    int failed = operator == NULL || set_operator(site, operator) < 0;
    Py_XDECREF(operator);
    if (!failed && width > WIDEST) {
        PyErr_Format(PyExc_ValueError, "a site is %ld wide, at most %d is possible", width, WIDEST);
        failed = 1;
    }
    if (failed) {
        Py_DECREF(site);
        return NULL;
    }
    site->function = (uint32_t)function;
    site->width = (uint8_t)width;
    site->decides = decides;
    site->passes = passes;
    site->burns = burns;
    site->catches = catches;
    for (int i = 0; i < WIDEST; i++) {
        site->distances[i] = site->settled_distances[i] = site->direct_distances[i] = INFINITY;
    }
    return site;
}

/* ---------------------------------------------------------------------------------------------------------- Sites */

static void
restart(Sites *owner)
{
    owner->spent = owner->guard_failed = false;
    owner->threshold = owner->fuel / 16 + 1;
    owner->limit = owner->direct ? -1 : owner->threshold;
    if (owner->ways != NULL) {
        memset(owner->ways, 0, owner->functions);
    }
    for (int i = 0; owner->collect && i < FAMILIAR; i++) { /* the listener may have dropped operands */
        owner->familiar_ints[i] = owner->familiar_floats[i] = (uint64_t)i + 1; /* invalid here */
    }
}

static int
sites_traverse(PyObject *self, visitproc visit, void *arg)
{
    Sites *owner = (Sites *)self;
    Py_VISIT(Py_TYPE(self));
    for (Py_ssize_t i = 0; i < owner->count; i++) {
        Py_VISIT(owner->sites[i]);
    }
    Py_VISIT(owner->stopped);
    Py_VISIT(owner->is_resumable);
    Py_VISIT(owner->relation);
    Py_VISIT(owner->entry_codes);
    Py_VISIT(owner->keep);
    Py_VISIT(owner->kept_ints);
    Py_VISIT(owner->kept_floats);
    Py_VISIT(owner->kept_strings);
    Py_VISIT(owner->kept_bytes);
    Py_VISIT(owner->out_of_fuel);
    Py_VISIT(owner->compared);
    Py_VISIT(owner->async_loop);
    Py_VISIT(owner->loop_type);
    return 0;
}

/* Breaks the reference cycles through the listener and the sites. Remaining probes still count but report nothing. */
static int
sites_clear(PyObject *self)
{
    Sites *owner = (Sites *)self;
    owner->direct = owner->collect = false;
    Py_CLEAR(owner->stopped);
    Py_CLEAR(owner->is_resumable);
    Py_CLEAR(owner->relation);
    Py_CLEAR(owner->keep);
    for (int i = 0; i < RELATIONS; i++) {
        Py_CLEAR(owner->answers[i].called);
        Py_CLEAR(owner->answers[i].caller);
    }
    owner->words = 0;
    for (Py_ssize_t i = 0; i < owner->count; i++) {
        owner->sites[i]->leads[0] = owner->sites[i]->leads[1] = NULL;
    }
    while (owner->count > 0) {
        Py_DECREF(owner->sites[--owner->count]);
    }
    return 0;
}

static void
sites_dealloc(PyObject *self)
{
    Sites *owner = (Sites *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    sites_clear(self);
    Py_XDECREF(owner->entry_codes);
    Py_XDECREF(owner->f_back);
    Py_XDECREF(owner->kept_ints);
    Py_XDECREF(owner->kept_floats);
    Py_XDECREF(owner->kept_strings);
    Py_XDECREF(owner->kept_bytes);
    Py_XDECREF(owner->out_of_fuel);
    Py_XDECREF(owner->compared);
    Py_XDECREF(owner->async_loop);
    Py_XDECREF((PyObject *)owner->loop_type);
    PyMem_Free(owner->sites);
    PyMem_Free(owner->touched);
    PyMem_Free(owner->settled);
    PyMem_Free(owner->ways);
    PyMem_Free(owner->resumable);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

/* Stores the methods and sets of the listener. */
static int
attach(Sites *owner, PyObject *listener)
{
    const struct { const char *name; PyObject **place; } offers[] = {
        {"stopped", &owner->stopped},
        {"is_resumable", &owner->is_resumable},
        {"relation", &owner->relation},
        {"keep", &owner->keep},
        {"entry_codes", &owner->entry_codes},
    };
    for (size_t i = 0; i < sizeof offers / sizeof offers[0]; i++) {
        *offers[i].place = PyObject_GetAttrString(listener, offers[i].name);
        if (*offers[i].place == NULL) {
            return -1;
        }
    }
    const struct { PyTypeObject *type; PyObject **place; } kept[] = {
        {&PyLong_Type, &owner->kept_ints},
        {&PyFloat_Type, &owner->kept_floats},
        {&PyUnicode_Type, &owner->kept_strings},
        {&PyBytes_Type, &owner->kept_bytes},
    };
    PyObject *sets = PyObject_GetAttrString(listener, "kept");
    for (size_t i = 0; sets != NULL && i < sizeof kept / sizeof kept[0]; i++) {
        *kept[i].place = PyObject_GetItem(sets, (PyObject *)kept[i].type);
        if (*kept[i].place == NULL) {
            Py_CLEAR(sets);
        }
    }
    Py_XDECREF(sets);
    return sets == NULL ? -1 : 0;
}

/* Allocates the arrays and creates the sites of `described`, a tuple of sites. */
static int
fill(Sites *owner, PyTypeObject *site_type, PyObject *described)
{
    Py_ssize_t count = PyTuple_Size(described);
    Py_ssize_t words = (count + 63) / 64;
    /* The unused part of the last word has no sites. The additional entry avoids empty allocations. */
    owner->sites = PyMem_Calloc((size_t)(64 * words + 1), sizeof owner->sites[0]);
    owner->touched = PyMem_Calloc((size_t)words + 1, sizeof owner->touched[0]);
    owner->settled = PyMem_Calloc((size_t)words + 1, sizeof owner->settled[0]);
    if (owner->sites == NULL || owner->touched == NULL || owner->settled == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (; owner->count < count; owner->count++) {
        Site *site = new_site(site_type, owner, PyTuple_GetItem(described, owner->count), owner->count);
        if (site == NULL) {
            return -1;
        }
        owner->sites[owner->count] = site;
        if (site->function >= owner->functions) {
            owner->functions = site->function + 1;
        }
    }
    owner->words = words;
    owner->ways = PyMem_Calloc(owner->functions + 1, sizeof owner->ways[0]);
    owner->resumable = PyMem_Calloc(owner->functions + 1, sizeof owner->resumable[0]);
    if (owner->ways == NULL || owner->resumable == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) { /* the first site of a function is its entry */
        uint8_t *seen = &owner->ways[owner->sites[i]->function];
        owner->sites[i]->enters = !*seen;
        *seen = 1;
    }
    return 0;
}

static PyObject *
sites_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"sites", "listener", "fuel", NULL};
    PyObject *described, *listener;
    long long fuel;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OOL:Sites", names, &described, &listener, &fuel)) {
        return NULL;
    }
    Module *module = PyType_GetModuleState(type);
    Sites *owner = module == NULL ? NULL : (Sites *)PyType_GenericAlloc(type, 0);
    if (owner == NULL) {
        return NULL;
    }
    owner->fuel = fuel;
    owner->f_back = PyUnicode_InternFromString("f_back");
    owner->out_of_fuel = Py_NewRef(module->out_of_fuel);
    owner->compared = Py_NewRef(module->compared);
    owner->async_loop = Py_NewRef(module->async_loop);
    owner->loop_type = (PyTypeObject *)Py_NewRef((PyObject *)module->loop_type);
    described = PySequence_Tuple(described);
    if (described == NULL || owner->f_back == NULL || attach(owner, listener) < 0 || fill(owner, module->site_type, described) < 0) {
        Py_CLEAR(owner);
    }
    else {
        restart(owner);
    }
    Py_XDECREF(described);
    return (PyObject *)owner;
}

static PyObject *
sites_begin(PyObject *self, PyObject *args)
{
    Sites *owner = (Sites *)self;
    long long fuel;
    int direct, collect, infect;
    if (!PyArg_ParseTuple(args, "Lppp:begin", &fuel, &direct, &collect, &infect)) {
        return NULL;
    }
    FOR_EACH_SITE(owner, site, owner->touched[word]) {
        site->visits = site->direct_visits = 0;
        site->bits = site->settled_bits;
        memcpy(site->distances, site->settled_distances, sizeof site->distances);
        for (int i = 0; i < WIDEST; i++) {
            site->direct_distances[i] = INFINITY;
        }
    }
    memset(owner->touched, 0, (size_t)owner->words * sizeof owner->touched[0]);
    owner->fuel = fuel;
    owner->direct = direct;
    owner->collect = collect;
    owner->infect = infect;
    restart(owner);
    return Py_NewRef(Py_None);
}

static PyObject *
sites_settle(PyObject *self, PyObject *Py_UNUSED(none))
{
    Sites *owner = (Sites *)self;
    FOR_EACH_SITE(owner, site, owner->touched[word]) {
        site->settled_visits += site->visits;
        site->visits = 0;
        site->settled_bits = site->bits;
        memcpy(site->settled_distances, site->distances, sizeof site->distances);
    }
    for (Py_ssize_t word = 0; word < owner->words; word++) {
        owner->settled[word] |= owner->touched[word];
    }
    return Py_NewRef(Py_None);
}

static PyObject *
sites_next_statement(PyObject *self, PyObject *Py_UNUSED(none))
{
    Sites *owner = (Sites *)self;
    memset(owner->ways, 0, owner->functions);
    return Py_NewRef(Py_None);
}

static PyObject *
sites_interrupt(PyObject *self, PyObject *Py_UNUSED(none))
{
    spend((Sites *)self);
    return Py_NewRef(Py_None);
}

static Site *
site_at(Sites *owner, PyObject *number)
{
    Py_ssize_t id = PyLong_AsSsize_t(number);
    if (id == -1 && PyErr_Occurred()) {
        return NULL;
    }
    if (id < 0 || id >= owner->count) {
        PyErr_Format(PyExc_IndexError, "there is no site %zd of %zd", id, owner->count);
        return NULL;
    }
    return owner->sites[id];
}

static PyObject *
sites_count(PyObject *self, PyObject *number)
{
    Site *site = site_at((Sites *)self, number);
    return site == NULL ? NULL : PyLong_FromUnsignedLongLong(site->settled_visits + site->visits);
}

static PyObject *
sites_flip(PyObject *self, PyObject *args)
{
    PyObject *number, *operator;
    if (!PyArg_ParseTuple(args, "OU:flip", &number, &operator)) {
        return NULL;
    }
    Site *site = site_at((Sites *)self, number);
    if (site == NULL || set_operator(site, operator) < 0) {
        return NULL;
    }
    return Py_NewRef(Py_None);
}

/* Returns the number of visits of the site, or of its direct visits. */
static inline uint64_t
visits_of(Site *site, bool direct)
{
    return direct ? site->direct_visits : site->settled_visits + site->visits;
}

static PyObject *
snapshot_of(Sites *owner, bool direct)
{
    /* The first pass computes the sizes, so that the bytes objects are allocated once and filled in place. */
    Py_ssize_t reached = 0, slots = 0;
    FOR_EACH_SITE(owner, site, owner->settled[word] | owner->touched[word]) {
        if (visits_of(site, direct)) {
            reached++;
            slots += site->width;
        }
    }
    PyObject *sites = PyBytes_FromStringAndSize(NULL, reached * (Py_ssize_t)sizeof(uint32_t));
    PyObject *counts = PyBytes_FromStringAndSize(NULL, reached * (Py_ssize_t)sizeof(uint32_t));
    PyObject *distances = PyBytes_FromStringAndSize(NULL, slots * (Py_ssize_t)sizeof(double));
    PyObject *all = NULL;
    if (sites != NULL && counts != NULL && distances != NULL) {
        char *next_site = PyBytes_AsString(sites);
        char *next_count = PyBytes_AsString(counts);
        char *next_distance = PyBytes_AsString(distances);
        FOR_EACH_SITE(owner, site, owner->settled[word] | owner->touched[word]) {
            uint64_t visits = visits_of(site, direct);
            if (visits) {
                uint32_t count = visits < MOST_COUNTED ? (uint32_t)visits : MOST_COUNTED;
                size_t size = site->width * sizeof(double);
                memcpy(next_site, &site->id, sizeof site->id);
                memcpy(next_count, &count, sizeof count);
                memcpy(next_distance, direct ? site->direct_distances : site->distances, size);
                next_site += sizeof site->id;
                next_count += sizeof count;
                next_distance += size;
            }
        }
        all = PyTuple_Pack(3, sites, counts, distances);
    }
    Py_XDECREF(sites);
    Py_XDECREF(counts);
    Py_XDECREF(distances);
    return all;
}

static PyObject *
sites_snapshot(PyObject *self, PyObject *Py_UNUSED(none))
{
    Sites *owner = (Sites *)self;
    PyObject *all = snapshot_of(owner, false);
    PyObject *direct = all == NULL ? NULL : owner->direct ? snapshot_of(owner, true) : Py_NewRef(Py_None);
    PyObject *both = direct == NULL ? NULL : PyTuple_Pack(2, all, direct);
    Py_XDECREF(all);
    Py_XDECREF(direct);
    return both;
}

static PyObject *
sites_infected(PyObject *self, PyObject *Py_UNUSED(none))
{
    Sites *owner = (Sites *)self;
    if (!owner->infect) {
        return Py_NewRef(Py_None);
    }
    Py_ssize_t count = 0;
    FOR_EACH_SITE(owner, site, owner->settled[word] | owner->touched[word]) {
        count += site->bits != 0;
    }
    PyObject *sites = PyBytes_FromStringAndSize(NULL, count * (Py_ssize_t)sizeof(uint32_t));
    PyObject *bits = PyBytes_FromStringAndSize(NULL, count * (Py_ssize_t)sizeof(uint32_t));
    PyObject *both = NULL;
    if (sites != NULL && bits != NULL) {
        char *next_site = PyBytes_AsString(sites);
        char *next_bits = PyBytes_AsString(bits);
        FOR_EACH_SITE(owner, site, owner->settled[word] | owner->touched[word]) {
            if (site->bits) {
                memcpy(next_site, &site->id, sizeof site->id);
                memcpy(next_bits, &site->bits, sizeof site->bits);
                next_site += sizeof site->id;
                next_bits += sizeof site->bits;
            }
        }
        both = PyTuple_Pack(2, sites, bits);
    }
    Py_XDECREF(sites);
    Py_XDECREF(bits);
    return both;
}

/* Names and calling conventions of probes. */
static PyMethodDef
    burning_probe = {"burning", (PyCFunction)(void (*)(void))burning, METH_FASTCALL, NULL},
    block_probe = {"block", (PyCFunction)(void (*)(void))block, METH_FASTCALL, NULL},
    catching_probe = {"catching", (PyCFunction)(void (*)(void))catching, METH_FASTCALL, NULL},
    comparison_probe = {"comparison", (PyCFunction)(void (*)(void))comparison, METH_FASTCALL, NULL},
    identity_probe = {"identity", (PyCFunction)(void (*)(void))identity, METH_FASTCALL, NULL},
    inclusion_probe = {"inclusion", (PyCFunction)(void (*)(void))inclusion, METH_FASTCALL, NULL},
    truth_probe = {"truth", truth, METH_O, NULL},
    leading_comparison_probe = {"comparison", (PyCFunction)(void (*)(void))leading_comparison, METH_FASTCALL, NULL},
    leading_identity_probe = {"identity", (PyCFunction)(void (*)(void))leading_identity, METH_FASTCALL, NULL},
    leading_inclusion_probe = {"inclusion", (PyCFunction)(void (*)(void))leading_inclusion, METH_FASTCALL, NULL},
    leading_truth_probe = {"truth", leading_truth, METH_O, NULL},
    arithmetic_probe = {"arithmetic", (PyCFunction)(void (*)(void))arithmetic, METH_FASTCALL, NULL},
    value_probe = {"value", (PyCFunction)(void (*)(void))value, METH_FASTCALL, NULL},
    match_probe = {"match", (PyCFunction)(void (*)(void))match, METH_FASTCALL, NULL},
    loop_probe = {"loop", loop, METH_O, NULL},
    asynchronous_probe = {"asynchronous", asynchronous, METH_O, NULL};

static PyMethodDef *
probe_of(Site *site, PyObject *kind, PyObject *operator, bool leading)
{
    if (PyUnicode_CompareWithASCIIString(kind, "block") == 0) {
        return site->burns ? &burning_probe : site->catches ? &catching_probe : &block_probe;
    }
    if (PyUnicode_CompareWithASCIIString(kind, "comparison") == 0) {
        return leading ? &leading_comparison_probe : &comparison_probe;
    }
    if (PyUnicode_CompareWithASCIIString(kind, "membership") == 0) {
        if (PyUnicode_ReadChar(operator, 1) == 's') {
            return leading ? &leading_identity_probe : &identity_probe;
        }
        return leading ? &leading_inclusion_probe : &inclusion_probe;
    }
    if (PyUnicode_CompareWithASCIIString(kind, "truth") == 0) {
        return leading ? &leading_truth_probe : &truth_probe;
    }
    if (PyUnicode_CompareWithASCIIString(kind, "arithmetic") == 0) {
        return &arithmetic_probe;
    }
    if (PyUnicode_CompareWithASCIIString(kind, "value") == 0) {
        return &value_probe;
    }
    if (PyUnicode_CompareWithASCIIString(kind, "case") == 0) {
        return &match_probe;
    }
    if (PyUnicode_CompareWithASCIIString(kind, "loop") == 0) {
        return PyUnicode_CompareWithASCIIString(operator, "async for") == 0 ? &asynchronous_probe : &loop_probe;
    }
    PyErr_Format(PyExc_ValueError, "a site is of an unknown kind: %R", kind);
    return NULL;
}

/* Sets the blocks that a condition leads to. Returns 0, or -1 with an exception set. */
static int
follow(Site *site, PyObject *described)
{
    PyObject *leads = PyObject_GetAttrString(described, "leads");
    Py_ssize_t count = leads == NULL ? -1 : PySequence_Size(leads);
    int failed = count < 0;
    if (!failed && count != 2) {
        PyErr_Format(PyExc_ValueError, "site %u leads nowhere", site->id);
        failed = 1;
    }
    for (int i = 0; !failed && i < 2; i++) {
        PyObject *block = PySequence_GetItem(leads, i);
        long number = block == NULL ? -1 : PyLong_AsLong(block);
        Site *found = number < 0 ? NULL : site_at(site->owner, block);
        failed = PyErr_Occurred() != NULL;
        Py_XDECREF(block);
        if (!failed) {
            site->leads[!i] = found;
        }
    }
    Py_XDECREF(leads);
    return failed ? -1 : 0;
}

static PyObject *
sites_make(PyObject *self, PyObject *args)
{
    PyObject *described;
    int leading = 0;
    if (!PyArg_ParseTuple(args, "O|p:make", &described, &leading)) {
        return NULL;
    }
    PyObject *id = PyObject_GetAttrString(described, "id");
    PyObject *kind = id == NULL ? NULL : PyObject_GetAttrString(described, "kind");
    PyObject *operator = kind == NULL ? NULL : PyObject_GetAttrString(described, "operator");
    Site *site = operator == NULL ? NULL : site_at((Sites *)self, id);
    if (site != NULL && leading && follow(site, described) < 0) {
        site = NULL;
    }
    PyMethodDef *method = site == NULL ? NULL : probe_of(site, kind, operator, leading);
    PyObject *probe = method == NULL ? NULL : PyCFunction_NewEx(method, (PyObject *)site, NULL);
    Py_XDECREF(id);
    Py_XDECREF(kind);
    Py_XDECREF(operator);
    return probe;
}

static PyObject *
sites_burnt(PyObject *self, void *Py_UNUSED(closure))
{
    return PyLong_FromLongLong(burnt((Sites *)self));
}

static PyObject *
sites_fuel_left(PyObject *self, void *Py_UNUSED(closure))
{
    return PyLong_FromLongLong(fuel_left((Sites *)self));
}

static PyObject *
sites_spent(PyObject *self, void *Py_UNUSED(closure))
{
    return boolean(((Sites *)self)->spent);
}

static PyObject *
counts_of(Sites *owner, bool direct)
{
    PyObject *list = PyList_New(owner->count);
    for (Py_ssize_t i = 0; list != NULL && i < owner->count; i++) {
        PyObject *count = PyLong_FromUnsignedLongLong(visits_of(owner->sites[i], direct));
        if (count == NULL || PyList_SetItem(list, i, count) < 0) {
            Py_CLEAR(list);
        }
    }
    return list;
}

static PyObject *
distances_of(Sites *owner, bool direct)
{
    PyObject *list = PyList_New(0);
    for (Py_ssize_t i = 0; list != NULL && i < owner->count; i++) {
        Site *site = owner->sites[i];
        for (int slot = 0; list != NULL && slot < site->width; slot++) {
            PyObject *number = PyFloat_FromDouble(direct ? site->direct_distances[slot] : site->distances[slot]);
            if (number == NULL || PyList_Append(list, number) < 0) {
                Py_CLEAR(list);
            }
            Py_XDECREF(number);
        }
    }
    return list;
}

static PyObject *
sites_counts(PyObject *self, void *Py_UNUSED(closure))
{
    return counts_of((Sites *)self, false);
}

static PyObject *
sites_direct_counts(PyObject *self, void *Py_UNUSED(closure))
{
    return counts_of((Sites *)self, true);
}

static PyObject *
sites_distances(PyObject *self, void *Py_UNUSED(closure))
{
    return distances_of((Sites *)self, false);
}

static PyObject *
sites_direct_distances(PyObject *self, void *Py_UNUSED(closure))
{
    return distances_of((Sites *)self, true);
}

static PyMethodDef sites_methods[] = {
    {"make", sites_make, METH_VARARGS, NULL},
    {"begin", sites_begin, METH_VARARGS, NULL},
    {"settle", sites_settle, METH_NOARGS, NULL},
    {"next_statement", sites_next_statement, METH_NOARGS, NULL},
    {"interrupt", sites_interrupt, METH_NOARGS, NULL},
    {"count", sites_count, METH_O, NULL},
    {"flip", sites_flip, METH_VARARGS, NULL},
    {"snapshot", sites_snapshot, METH_NOARGS, NULL},
    {"infected", sites_infected, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef sites_properties[] = {
    {"counts", sites_counts, NULL, NULL, NULL},
    {"distances", sites_distances, NULL, NULL, NULL},
    {"direct_counts", sites_direct_counts, NULL, NULL, NULL},
    {"direct_distances", sites_direct_distances, NULL, NULL, NULL},
    {"burnt", sites_burnt, NULL, NULL, NULL},
    {"fuel_left", sites_fuel_left, NULL, NULL, NULL},
    {"spent", sites_spent, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot sites_slots[] = {
    {Py_tp_doc, "The factory of probes in C, see `fitgym.instrument.factory.Factory`."},
    {Py_tp_new, sites_new},
    {Py_tp_methods, sites_methods},
    {Py_tp_getset, sites_properties},
    {Py_tp_traverse, sites_traverse},
    {Py_tp_clear, sites_clear},
    {Py_tp_dealloc, sites_dealloc},
    {0, NULL},
};

static PyType_Spec sites_spec = {
    .name = "fitgym.instrument._sites.Sites",
    .basicsize = sizeof(Sites),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = sites_slots,
};

/* --------------------------------------------------------------------------------------------------------- module */

static PyObject *
imported(const char *module, const char *name)
{
    PyObject *from = PyImport_ImportModule(module);
    PyObject *object = from == NULL ? NULL : PyObject_GetAttrString(from, name);
    Py_XDECREF(from);
    return object;
}

static PyTypeObject *
new_type(PyObject *module, PyType_Spec *spec)
{
    return (PyTypeObject *)PyType_FromModuleAndSpec(module, spec, NULL);
}

static int
module_exec(PyObject *self)
{
    Module *module = PyModule_GetState(self);
    if ((module->out_of_fuel = imported("fitgym.instrument.factory", "OutOfFuel")) == NULL
        || (module->compared = imported("fitgym.instrument.distance", "compared")) == NULL
        || (module->async_loop = imported("fitgym.instrument.async_loop", "AsyncLoop")) == NULL
        || (module->site_type = new_type(self, &site_spec)) == NULL
        || (module->loop_type = new_type(self, &loop_spec)) == NULL
        || (module->sites_type = new_type(self, &sites_spec)) == NULL) {
        return -1;
    }
    if (PyModule_AddType(self, module->sites_type) < 0) {
        return -1;
    }
    PyObject *sources = PyLong_FromUnsignedLong(SOURCES);
    int failed = PyModule_AddObjectRef(self, "SOURCES", sources);
    Py_XDECREF(sources);
    return failed;
}

static int
module_traverse(PyObject *self, visitproc visit, void *arg)
{
    Module *module = PyModule_GetState(self);
    Py_VISIT(module->out_of_fuel);
    Py_VISIT(module->compared);
    Py_VISIT(module->async_loop);
    Py_VISIT(module->site_type);
    Py_VISIT(module->loop_type);
    Py_VISIT(module->sites_type);
    return 0;
}

static int
module_clear(PyObject *self)
{
    Module *module = PyModule_GetState(self);
    Py_CLEAR(module->out_of_fuel);
    Py_CLEAR(module->compared);
    Py_CLEAR(module->async_loop);
    Py_CLEAR(module->site_type);
    Py_CLEAR(module->loop_type);
    Py_CLEAR(module->sites_type);
    return 0;
}

static void
module_free(void *self)
{
    (void)module_clear(self);
}

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, module_exec},
    {0, NULL},
};

static PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "fitgym.instrument._sites",
    .m_doc = "The probes in C.",
    .m_size = sizeof(Module),
    .m_slots = module_slots,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
    .m_free = module_free,
};

PyMODINIT_FUNC
PyInit__sites(void)
{
    return PyModuleDef_Init(&module_definition);
}
