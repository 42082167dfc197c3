/* A whole training step of the default objective: to start seventy small operations of numpy costs more than the
 * operations themselves. tamis/neural/analytic.py says what is computed and stays the reference.
 *
 * Matrix products go to the BLAS that scipy brings, whose pointer Python hands over, so that nothing has to be linked.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdlib.h>

#ifdef __SSE__
#include <xmmintrin.h>
#endif

#include "_graph_loops.h"

typedef void (*sgemm_t)(const char *, const char *, const int *, const int *, const int *, const float *, const float *,
                        const int *, const float *, const int *, const float *, float *, const int *);
static sgemm_t sgemm;

/* C (m x n) = A (m x k) B (k x n), or A B' if B is stored as (n x k). */
static void product(const float *a, const float *b, int b_transposed, float *c, int m, int n, int k)
{
    const float one = 1.0f, zero = 0.0f;
    const int b_width = b_transposed ? k : n;
    sgemm(b_transposed ? "T" : "N", "N", &n, &m, &k, &one, b, &b_width, a, &k, &zero, c, &n);
}

/* A term enters the loss as w m(v)/sg|m(v)|, m being v itself or its odds v/(1 - v). */
typedef struct { double weight; int odds; } term_t;

/* What a step is told: sizes, the batch, the graph, the terms, and how Adam moves. */
typedef struct {
    int rows, width, kept, restarts, units, candidates, goal_width, self_loops;
    double temperature, factor, redundancy, tiny, smallest, least_rest, beta1, beta2, rate, root_bias, epsilon;
    term_t rebuilding, scoring;
    const float *shown, *goal; /* of the batch, once it was gathered; no goal, no reconstruction */
} step_t;

/* Memory of a step, cut from one block. */
typedef struct {
    float *shown, *goal, *part, *gram, *distances, *walk, *by_walk, *weighed, *moved; /* by rows */
    float *mean, *gates, *passed, *wanted, *norms, *totals, *z, *p;                   /* by columns and units */
    int *holder;
} scratch_t;

static float *cut(float *block, size_t *used, size_t size)
{
    float *piece = block ? block + *used : NULL;
    *used += size;
    return piece;
}

/* Cut the pieces from a block; without one, only tell how many floats it must have. */
static size_t lay_out(scratch_t *m, const step_t *s, float *block)
{
    const size_t n = s->rows, w = s->width, d = s->candidates, k = s->units, g = s->goal_width;
    float **square[] = {&m->goal, &m->gram, &m->distances, &m->walk, &m->by_walk};
    float **like_table[] = {&m->shown, &m->weighed, &m->moved};
    float **by_column[] = {&m->gates, &m->passed, &m->wanted};
    size_t used = 0;
    for (int i = 0; i < 5; i++)
        *square[i] = cut(block, &used, n * n);
    for (int i = 0; i < 3; i++)
        *like_table[i] = cut(block, &used, n * w);
    for (int i = 0; i < 3; i++)
        *by_column[i] = cut(block, &used, w);
    m->part = cut(block, &used, n * g);
    m->mean = cut(block, &used, w > g ? w : g);
    m->norms = cut(block, &used, n);
    m->totals = cut(block, &used, k);
    m->z = cut(block, &used, k * d);
    m->p = cut(block, &used, d);
    m->holder = (int *)cut(block, &used, d);
    return used;
}

static double slope_of(const step_t *s, const term_t *term, double value)
{
    double measure = value, slope = 1.0;
    if (term->odds) {
        const double rest = 1.0 - value, shown = rest > s->least_rest ? rest : s->least_rest;
        measure = value / shown;
        slope = rest > s->least_rest ? 1.0 / (rest * rest) : 1.0 / s->least_rest;
    }
    measure = fabs(measure);
    return term->weight * slope / (measure > s->smallest ? measure : s->smallest);
}

/* Copy the rows of a batch, and give the Gram matrix of its goal, from the goal's columns or from that of all rows. */
static void gather(step_t *s, scratch_t *m, const float *table, const float *goal, const int64_t *rows, int64_t all_rows)
{
    gather_centred(table, rows, s->rows, s->width, m->mean, m->shown);
    s->shown = m->shown;
    if (!goal)
        return;
    if (s->goal_width) {
        gather_centred(goal, rows, s->rows, s->goal_width, m->mean, m->part);
        product(m->part, m->part, 1, m->goal, s->rows, s->rows, s->goal_width);
    } else {
        gather_gram(goal, rows, s->rows, all_rows, m->norms, m->goal);
    }
    s->goal = m->goal;
}

static double trace(const float *matrix, int n)
{
    double sum = 0.0;
    for (int a = 0; a < n; a++)
        sum += matrix[(size_t)a * n + a];
    return sum;
}

/* The share that P does not reconstruct; what is left, M - P M, in m->by_walk. */
static double unexplained(const step_t *s, scratch_t *m)
{
    const int n = s->rows;
    product(m->walk, s->goal, 0, m->by_walk, n, n, n);
    subtract(s->goal, m->by_walk, n * n);
    return (trace(m->by_walk, n) - sum_of_products(m->by_walk, m->walk, n)) / (trace(s->goal, n) + s->tiny);
}

/* The walk on the graph of m->gram; gives -1/2v and the score of the columns behind the Gram matrix. */
static float walk_and_score(const step_t *s, scratch_t *m, float share, double *score)
{
    const int n = s->rows;
    const float variance = distances_of(m->gram, n, m->norms, m->distances) * share;
    const float inverse = (float)(-0.5 / (variance + s->tiny / 2));
    walk_on(m->distances, n, inverse, s->self_loops, m->walk);
    *score = sum_of_products(m->walk, m->gram, n) / (trace(m->gram, n) + s->tiny);
    return inverse;
}

static float share_of(const step_t *s) { return (float)(s->factor / ((double)s->rows * (s->rows - 1))); }

/* Values of the two terms of the graph, and the derivative of the loss by the Gram matrix in m->by_walk. */
static void graph_gradient(const step_t *s, scratch_t *m, float *values)
{
    const int n = s->rows;
    const float share = share_of(s);
    double score, error = 0.0, error_slope = 0.0;
    const float inverse = walk_and_score(s, m, share, &score);
    const double score_slope = slope_of(s, &s->scoring, score) / (trace(m->gram, n) + s->tiny);
    if (s->goal) {
        error = unexplained(s, m);
        error_slope = slope_of(s, &s->rebuilding, error) * -2.0 / (trace(s->goal, n) + s->tiny);
    } else {
        memset(m->by_walk, 0, (size_t)n * n * sizeof(float));
    }
    through_walk(m->by_walk, (float)error_slope, m->gram, m->walk, m->distances, m->norms, n, (float)score,
                 (float)score_slope, inverse, share);
    values[0] = (float)error;
    values[1] = (float)score;
}

/* Draw all units of a restart; gives how much more often than once the most wanted column is wanted. */
static float sample_units(const step_t *s, scratch_t *m, const float *logits, const float *noise, int64_t stride)
{
    const int d = s->candidates;
    const float inverse = (float)(1.0 / s->temperature);
    memset(m->wanted, 0, d * sizeof(float));
    for (int i = 0; i < s->units; i++) {
        sample_unit(logits + (size_t)i * d, noise + i * stride, i, d, inverse, m->z + (size_t)i * d,
                    m->gates + s->kept, m->holder);
        if (s->redundancy > 0.0) {
            wishes_of(logits + (size_t)i * d, d, inverse, m->p);
            add_to(m->wanted, m->p, d);
        }
    }
    const float excess = largest(m->wanted, d) - 1.0f;
    return excess > 0.0f ? excess : 0.0f;
}

/* What each gate passes on to the unit that holds it, in m->passed; values of the terms of the graph. */
static void pass_through_graph(const step_t *s, scratch_t *m, float *values)
{
    const int n = s->rows, w = s->width;
    for (int j = 0; j < s->kept; j++)
        m->gates[j] = 1.0f;
    weigh_columns(s->shown, m->gates, n, w, m->weighed);
    product(m->weighed, s->shown, 1, m->gram, n, n, w);
    graph_gradient(s, m, values);
    product(m->by_walk, s->shown, 0, m->moved, n, w, n);
    pass_to_gates(s->shown, m->moved, n, w, s->kept, m->gates + s->kept, (float)(2.0 / s->temperature), m->passed);
    memset(m->totals, 0, s->units * sizeof(float));
    for (int j = 0; j < s->candidates; j++)
        m->totals[m->holder[j]] += m->passed[j];
}

static int place_of_largest(const float *x, int n)
{
    const float most = largest(x, n);
    int j = 0;
    while (x[j] != most && j < n - 1)
        j++;
    return j;
}

/* Move the units of a restart one by one: gradient, penalty and Adam while a row is in the cache. */
static void move_units(const step_t *s, scratch_t *m, float *logits, float *mean, float *square, float excess)
{
    const int d = s->candidates, most = place_of_largest(m->wanted, d);
    const float inverse = (float)(1.0 / s->temperature);
    for (int i = 0; i < s->units; i++) {
        const size_t row = (size_t)i * d;
        float slope = 0.0f;
        if (excess > 0.0f) {
            wishes_of(logits + row, d, inverse, m->p);
            slope = m->p[most] * (float)s->redundancy * inverse;
        }
        through_unit(m->z + row, m->passed, m->holder, i, d, m->totals[i], m->p, slope);
        m->z[row + most] += slope;
        adam(logits + row, mean + row, square + row, m->z + row, d, (float)s->beta1, (float)s->beta2, (float)s->rate,
             (float)s->root_bias, (float)s->epsilon);
    }
}

/* What Python hands over beside the numbers. */
typedef struct {
    Py_buffer table, rows, goal, pool, logits, mean, square, values;
    long long all_rows, start, stride;
} given_t;

static void release(given_t *g)
{
    Py_buffer *held[] = {&g->table, &g->rows, &g->goal, &g->pool, &g->logits, &g->mean, &g->square, &g->values};
    for (int i = 0; i < 8; i++)
        PyBuffer_Release(held[i]);
}

/* Arrays that are too short for their sizes would be read beyond their end. */
static int fits(const step_t *s, const given_t *g)
{
    const int64_t size = (int64_t)s->restarts * s->units * s->candidates, f = sizeof(float);
    const int64_t batch = g->rows.len ? g->all_rows : s->rows, goal_width = s->goal_width ? s->goal_width : batch;
    return g->table.len == batch * s->width * f && (!g->rows.len || g->rows.len == (int64_t)sizeof(int64_t) * s->rows)
        && (!g->goal.len || g->goal.len == batch * goal_width * f) && s->width == s->kept + s->candidates
        && g->logits.len == size * f && g->mean.len == size * f && g->square.len == size * f
        && g->values.len == 3 * s->restarts * f && g->start >= 0 && g->stride >= 0
        && (g->start + (s->restarts * s->units - 1) * g->stride + s->candidates) * f <= g->pool.len;
}

/* Numbers below the smallest normal one, as what units no longer want and its moments become, cost a hundred times more:
 * take them for zero; gives what to go back to. */
static unsigned int without_denormals(void)
{
#ifdef __SSE__
    const unsigned int before = _mm_getcsr();
    _mm_setcsr(before | 0x8040);
    return before;
#else
    return 0;
#endif
}

static void go_back_to(unsigned int mode)
{
#ifdef __SSE__
    _mm_setcsr(mode);
#else
    (void)mode;
#endif
}

static void take_step(step_t *s, scratch_t *m, const given_t *g)
{
    const Py_ssize_t size = (Py_ssize_t)s->units * s->candidates;
    const float *goal = g->goal.len ? g->goal.buf : NULL;
    s->shown = g->table.buf;
    s->goal = goal;
    const unsigned int mode = without_denormals();
    if (g->rows.len)
        gather(s, m, g->table.buf, goal, g->rows.buf, g->all_rows);
    for (int r = 0; r < s->restarts; r++) {
        float *logits = (float *)g->logits.buf + r * size;
        const float *noise = (float *)g->pool.buf + g->start + (int64_t)r * s->units * g->stride;
        float *values = (float *)g->values.buf + 3 * r;
        values[2] = sample_units(s, m, logits, noise, g->stride);
        pass_through_graph(s, m, values);
        move_units(s, m, logits, (float *)g->mean.buf + r * size, (float *)g->square.buf + r * size, values[2]);
    }
    go_back_to(mode);
}

PyDoc_STRVAR(step_doc,
             "graph_step(sizes, numbers, terms, table, rows, goal, pool, start, stride, logits, mean, square, values)\n"
             "--\n\n"
             "Train on one batch: move logits and Adam's moments in place, and write (restarts, 3) values: the share\n"
             "not reconstructed, the score and the redundancy.\n\n"
             "Without rows, table and goal are those of the batch, the goal as a Gram matrix.");

static PyObject *graph_step(PyObject *self, PyObject *args)
{
    step_t s = {0};
    scratch_t m;
    given_t g;
    float *block = NULL;
    (void)self;
    if (!PyArg_ParseTuple(args, "(iiiiiiiiL)(ddddddddddd)(didi)y*y*y*y*LLw*w*w*w*", &s.rows, &s.width, &s.kept,
                          &s.restarts, &s.units, &s.candidates, &s.goal_width, &s.self_loops, &g.all_rows,
                          &s.temperature, &s.factor, &s.redundancy, &s.tiny, &s.smallest, &s.least_rest, &s.beta1,
                          &s.beta2, &s.rate, &s.root_bias, &s.epsilon, &s.rebuilding.weight, &s.rebuilding.odds,
                          &s.scoring.weight, &s.scoring.odds, &g.table, &g.rows, &g.goal, &g.pool, &g.start, &g.stride,
                          &g.logits, &g.mean, &g.square, &g.values))
        return NULL;
    if (!sgemm || !fits(&s, &g))
        PyErr_SetString(PyExc_ValueError, "the arrays of a step do not fit their sizes, or no matrix product was given");
    else if (!(block = malloc(lay_out(&m, &s, NULL) * sizeof(float))))
        PyErr_NoMemory();
    else {
        lay_out(&m, &s, block);
        Py_BEGIN_ALLOW_THREADS
        take_step(&s, &m, &g);
        Py_END_ALLOW_THREADS
    }
    free(block);
    release(&g);
    if (PyErr_Occurred())
        return NULL;
    Py_RETURN_NONE;
}

/* The share of columns (rows, goal_width) that P does not reconstruct: cheaper than M - P M if they are few. */
static double unexplained_columns(const step_t *s, scratch_t *m)
{
    const int n = s->rows, g = s->goal_width;
    double energy = s->tiny, error = 0.0;
    product(m->walk, s->goal, 0, m->part, n, g, n);
    subtract(s->goal, m->part, n * g);
    for (int a = 0; a < n; a++) {
        energy += sum_of_squares(s->goal + (size_t)a * g, g);
        error += sum_of_squares(m->part + (size_t)a * g, g);
    }
    return error / energy;
}

PyDoc_STRVAR(values_doc,
             "hard_values(sizes, numbers, codes, goal, values)\n--\n\n"
             "Write the share not reconstructed and the score, (selections, 2), of hard codes (selections, rows, k).\n"
             "A goal of width 0 is a Gram matrix; an empty one is not reconstructed.");

static PyObject *hard_values(PyObject *self, PyObject *args)
{
    step_t s = {0};
    scratch_t m;
    int n_selections;
    Py_buffer codes, goal, values;
    float *block = NULL;
    (void)self;
    if (!PyArg_ParseTuple(args, "(iiiii)(dd)y*y*w*", &n_selections, &s.rows, &s.width, &s.goal_width, &s.self_loops,
                          &s.factor, &s.tiny, &codes, &goal, &values))
        return NULL;
    const int64_t f = sizeof(float), size = (int64_t)s.rows * s.width;
    const int64_t goal_size = (int64_t)s.rows * (s.goal_width ? s.goal_width : s.rows);
    if (!sgemm || codes.len != n_selections * size * f || (goal.len && goal.len != goal_size * f)
        || values.len != 2 * n_selections * f)
        PyErr_SetString(PyExc_ValueError, "the arrays of selections do not fit their sizes");
    else if (!(block = malloc(lay_out(&m, &s, NULL) * sizeof(float))))
        PyErr_NoMemory();
    else {
        lay_out(&m, &s, block);
        s.goal = goal.len ? goal.buf : NULL;
        Py_BEGIN_ALLOW_THREADS
        for (int i = 0; i < n_selections; i++) {
            const float *x = (const float *)codes.buf + i * size;
            float *out = (float *)values.buf + 2 * i;
            double score;
            product(x, x, 1, m.gram, s.rows, s.rows, s.width);
            walk_and_score(&s, &m, share_of(&s), &score);
            out[0] = !s.goal ? 0.0f : (float)(s.goal_width ? unexplained_columns(&s, &m) : unexplained(&s, &m));
            out[1] = (float)score;
        }
        Py_END_ALLOW_THREADS
    }
    free(block);
    PyBuffer_Release(&codes);
    PyBuffer_Release(&goal);
    PyBuffer_Release(&values);
    if (PyErr_Occurred())
        return NULL;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(use_doc, "use_product(capsule)\n--\n\nTake the pointer of BLAS's sgemm from scipy.linalg.cython_blas.");

static PyObject *use_product(PyObject *self, PyObject *capsule)
{
    (void)self;
    sgemm = (sgemm_t)PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule));
    if (!sgemm)
        return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"graph_step", graph_step, METH_VARARGS, step_doc},
    {"hard_values", hard_values, METH_VARARGS, values_doc},
    {"use_product", use_product, METH_O, use_doc},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, .m_name = "_graph_step", .m_doc = "A training step in C.", .m_size = -1, .m_methods = methods};

PyMODINIT_FUNC PyInit__graph_step(void) { return PyModule_Create(&module); }
