/* The loops of a training step, over arrays of float32 stored row by row.
 *
 * tamis/neural/analytic.py says what they compute together.
 */
#ifndef TAMIS_GRAPH_LOOPS_H
#define TAMIS_GRAPH_LOOPS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* On x86 under Linux each hot loop is compiled twice, and the loader takes what the processor can do. */
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__)
#define HOT __attribute__((target_clones("arch=x86-64-v3", "default"))) static
#else
#define HOT static
#endif

/* exp(x) for x <= 0, to about 2 units in the last place: 2^n times a polynomial on [-ln 2 / 2, ln 2 / 2]. Unlike
 * expf of the C library, the compiler can compute several at once. */
static inline float exp_of_nonpositive(float x)
{
    const float shift = 12582912.0f; /* 1.5 * 2^23: adding it rounds to the nearest whole number */
    x = x > -87.0f ? x : -87.0f;
    const float rounded = x * 1.44269504f + shift, n = rounded - shift;
    const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1.0f;
    uint32_t bits; /* the last bits of the rounded number are n: shifted, they are the exponent of 2^n */
    float power;
    memcpy(&bits, &rounded, sizeof bits);
    bits = (bits + 127) << 23;
    memcpy(&power, &bits, sizeof power);
    return p * power;
}

HOT float largest(const float *x, int n)
{
    float most = x[0];
#pragma omp simd reduction(max : most)
    for (int j = 0; j < n; j++)
        most = x[j] > most ? x[j] : most;
    return most;
}

/* Overwrite x by its softmax. */
HOT void softmax(float *restrict x, int n)
{
    const float most = largest(x, n);
    float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
    for (int j = 0; j < n; j++) {
        x[j] = exp_of_nonpositive(x[j] - most);
        sum += x[j];
    }
    const float scale = 1.0f / sum;
    for (int j = 0; j < n; j++)
        x[j] *= scale;
}

/* Draw Z = softmax((logits + noise)/temperature); tell the largest entry of each column and the unit that has it. */
HOT void sample_unit(const float *restrict logits, const float *restrict noise, int unit, int d, float inverse,
                     float *restrict z, float *restrict opened, int *restrict holder)
{
    for (int j = 0; j < d; j++)
        z[j] = (logits[j] + noise[j]) * inverse;
    softmax(z, d);
    for (int j = 0; j < d; j++) {
        const int better = unit == 0 || z[j] > opened[j];
        opened[j] = better ? z[j] : opened[j];
        holder[j] = better ? unit : holder[j];
    }
}

/* What a unit wants without noise, p = softmax(logits/temperature). */
HOT void wishes_of(const float *restrict logits, int d, float inverse, float *restrict p)
{
    for (int j = 0; j < d; j++)
        p[j] = logits[j] * inverse;
    softmax(p, d);
}

HOT void add_to(float *restrict sums, const float *restrict x, int n)
{
    for (int j = 0; j < n; j++)
        sums[j] += x[j];
}

/* Copy rows of a table, or all of them in order, with every column centred within the copy. */
HOT void gather_centred(const float *restrict table, const int64_t *rows, int n, int width, float *restrict mean,
                        float *restrict out)
{
    memset(mean, 0, width * sizeof(float));
    for (int b = 0; b < n; b++) {
        const float *row = table + (size_t)rows[b] * width;
        for (int j = 0; j < width; j++) {
            out[(size_t)b * width + j] = row[j];
            mean[j] += row[j];
        }
    }
    for (int j = 0; j < width; j++)
        mean[j] /= n;
    for (int b = 0; b < n; b++)
        for (int j = 0; j < width; j++)
            out[(size_t)b * width + j] -= mean[j];
}

/* Take the part of a Gram matrix that belongs to some rows, as if their columns were centred there. */
HOT void gather_gram(const float *restrict gram, const int64_t *rows, int n, int64_t width, float *restrict mean,
                     float *restrict out)
{
    float all = 0.0f;
    for (int a = 0; a < n; a++) {
        float sum = 0.0f;
        for (int b = 0; b < n; b++)
            sum += out[a * n + b] = gram[rows[a] * width + rows[b]];
        mean[a] = sum / n;
        all += mean[a] / n;
    }
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++)
            out[a * n + b] -= mean[a] + mean[b] - all;
}

HOT void weigh_columns(const float *restrict x, const float *restrict gates, int n, int width, float *restrict out)
{
    for (int b = 0; b < n; b++)
        for (int j = 0; j < width; j++)
            out[(size_t)b * width + j] = x[(size_t)b * width + j] * gates[j] * gates[j];
}

/* Squared distances from a Gram matrix; gives their sum. */
HOT float distances_of(const float *restrict gram, int n, float *restrict norms, float *restrict distances)
{
    double total = 0.0;
    for (int a = 0; a < n; a++)
        norms[a] = gram[a * n + a];
    for (int a = 0; a < n; a++) {
        float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
        for (int b = 0; b < n; b++) {
            float d = norms[a] + norms[b] - 2.0f * gram[a * n + b];
            d = d > 0.0f ? d : 0.0f;
            distances[a * n + b] = d;
            sum += d;
        }
        total += sum;
    }
    return (float)total;
}

/* One step of the walk, P = softmax(-D/2v), without self-loops unless they are asked for. */
HOT void walk_on(const float *restrict distances, int n, float inverse, int self_loops, float *restrict walk)
{
    for (int a = 0; a < n; a++) {
        float *row = walk + a * n;
        for (int b = 0; b < n; b++)
            row[b] = distances[a * n + b] * inverse;
        if (!self_loops)
            row[a] = -1e30f;
        softmax(row, n);
        if (!self_loops)
            row[a] = 0.0f;
    }
}

HOT double sum_of_products(const float *restrict a, const float *restrict b, int n)
{
    double total = 0.0;
    for (int i = 0; i < n; i++) {
        float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
        for (int j = 0; j < n; j++)
            sum += a[i * n + j] * b[i * n + j];
        total += sum;
    }
    return total;
}

HOT float sum_of_squares(const float *x, int n)
{
    float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
    for (int j = 0; j < n; j++)
        sum += x[j] * x[j];
    return sum;
}

HOT void subtract(const float *restrict a, float *restrict b, int size)
{
    for (int i = 0; i < size; i++)
        b[i] = a[i] - b[i];
}

/* Take the derivative of the loss by P back to the Gram matrix, through the softmax, the bandwidth and the distances;
 * to what reconstruction gives (`by_walk`, overwritten by the result) comes what the score gives. */
HOT void through_walk(float *restrict by_walk, float residual_slope, const float *restrict gram,
                      const float *restrict walk, const float *restrict distances, float *restrict norms, int n,
                      float score, float score_slope, float inverse, float share)
{
    double by_variance = 0.0;
    for (int a = 0; a < n; a++) {
        float *row = by_walk + a * n;
        const float *p = walk + a * n, *g = gram + a * n, *d = distances + a * n;
        float mean = 0.0f, sum = 0.0f;
#pragma omp simd reduction(+ : mean)
        for (int b = 0; b < n; b++) {
            row[b] = (row[b] * residual_slope + g[b] * score_slope) * p[b];
            mean += row[b];
        }
#pragma omp simd reduction(+ : sum)
        for (int b = 0; b < n; b++) {
            row[b] -= p[b] * mean;
            sum += row[b] * d[b];
        }
        by_variance += sum;
    }
    const float everywhere = (float)(by_variance * 2.0 * inverse * inverse) * share;
    memset(norms, 0, n * sizeof(float));
    for (int a = 0; a < n; a++) {
        float *row = by_walk + a * n, sum = 0.0f;
#pragma omp simd reduction(+ : sum)
        for (int b = 0; b < n; b++) {
            row[b] = row[b] * inverse + everywhere;
            sum += row[b];
            norms[b] += row[b];
        }
        norms[a] += sum;
    }
    for (int a = 0; a < n; a++) {
        for (int b = 0; b < n; b++)
            by_walk[a * n + b] = -2.0f * by_walk[a * n + b] + walk[b * n + a] * score_slope;
        by_walk[a * n + a] += norms[a] - score_slope * score;
    }
}

/* What each gate passes on: e_j = g_j dL/dg_j = 2 g_j^2 sum_b x_bj (dL/dK X)_bj. */
HOT void pass_to_gates(const float *restrict x, const float *restrict moved, int n, int width, int n_kept,
                       const float *restrict opened, float factor, float *restrict passed)
{
    const int d = width - n_kept;
    memset(passed, 0, d * sizeof(float));
    for (int b = 0; b < n; b++)
        for (int j = 0; j < d; j++)
            passed[j] += x[(size_t)b * width + n_kept + j] * moved[(size_t)b * width + n_kept + j];
    for (int j = 0; j < d; j++)
        passed[j] *= opened[j] * opened[j] * factor;
}

/* Overwrite the row of Z that belongs to a unit by the derivative by its logits: of what the columns that it shows pass
 * on, and of the penalty of wishes p, if there is any (slope > 0). */
HOT void through_unit(float *restrict z, const float *restrict passed, const int *restrict holder, int unit, int d,
                      float total, const float *restrict p, float slope)
{
    for (int j = 0; j < d; j++)
        z[j] = (holder[j] == unit ? passed[j] : 0.0f) - total * z[j];
    if (slope > 0.0f)
        for (int j = 0; j < d; j++)
            z[j] -= slope * p[j];
}

HOT void adam(float *restrict values, float *restrict mean, float *restrict square, const float *restrict gradient,
              int size, float beta1, float beta2, float rate, float root_bias, float epsilon)
{
    for (int i = 0; i < size; i++) {
        const float g = gradient[i];
        mean[i] += (g - mean[i]) * (1.0f - beta1);
        square[i] = square[i] * beta2 + g * g * (1.0f - beta2);
        values[i] -= rate * mean[i] / (sqrtf(square[i]) * root_bias + epsilon);
    }
}

#endif
