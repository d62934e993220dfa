/*
 * primitives.c: the bare operations that bound a job, one thread, on the BLAS
 * and the elementary functions that the extension links.
 *
 *   primitives wall|cpu NAME SIZE…    seconds of one run, operands in memory beforehand
 *   primitives kernels                the OpenBLAS kernels chosen for this CPU
 *
 * Values do not matter to the time: rows are pseudo-random in [-1,1].
 */
#include "blas.h"
#include "clock.h"
#include "vmath.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MAX_SIZES = 3, BLOCK = 256, PASS = 16384 };

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

/* Zeroed doubles in large pages, each page touched, so that no fault is timed. */
static double *matrix(size_t rows, size_t columns)
{
    size_t alignment = 1 << 21;
    size_t bytes = (rows * columns * sizeof(double) / alignment + 1) * alignment;
    double *block = aligned_alloc(alignment, bytes);

    if (block == NULL)
    {
        fprintf(stderr, "primitives: no memory for %zu x %zu\n", rows, columns);
        exit(1);
    }
    madvise(block, bytes, MADV_HUGEPAGE);
    return memset(block, 0, bytes);
}

static double *random_matrix(size_t rows, size_t columns)
{
    double *x = matrix(rows, columns);
    unsigned long long state = 1;

    for (size_t i = 0; i < rows * columns; i++)
    {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        x[i] = (double) (state >> 11) * 0x1p-52 - 1.0;
    }
    return x;
}

/*
 * Rows whose inner products are the exponents -gamma |x_i - x_j|^2 of an rbf
 * kernel, gamma = 1/d: left (2 gamma x, -gamma |x|^2, 1), right (x, 1, -gamma |x|^2).
 */
static void exponent_rows(size_t n, size_t d, double *left, double *right)
{
    double *x = random_matrix(n, d);
    double gamma = 1.0 / (double) d;

    for (size_t i = 0; i < n; i++)
    {
        double *l = left + i * (d + 2), *r = right + i * (d + 2);
        double norm = cblas_ddot((int) d, x + i * d, 1, x + i * d, 1);

        for (size_t j = 0; j < d; j++)
        {
            l[j] = 2 * gamma * x[i * d + j];
            r[j] = x[i * d + j];
        }
        l[d] = r[d + 1] = -gamma * norm;
        l[d + 1] = r[d] = 1.0;
    }
    free(x);
}

/* The upper triangle (in rows) of an rbf Gram matrix: GEMM by blocks of rows, then exp. */
static void fill_gram(size_t n, size_t width, const double *left, const double *right, double *K)
{
    for (size_t first = 0; first < n; first += BLOCK)
    {
        size_t rows = smaller(BLOCK, n - first);

        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int) rows, (int) (n - first), (int) width, 1.0,
                    left + first * width, (int) width, right + first * width, (int) width, 0.0,
                    K + first * n + first, (int) n);
        for (size_t i = first; i < first + rows; i++)
            km_exp(n - i, K + i * n + i, K + i * n + i);
    }
}

/* Sizes n, d. */
static double time_gram(const size_t *size)
{
    size_t n = size[0], width = size[1] + 2;
    double *left = matrix(n, width), *right = matrix(n, width), *K = matrix(n, n);
    double start;

    exponent_rows(n, size[1], left, right);
    start = seconds();
    fill_gram(n, width, left, right, K);
    return seconds() - start;
}

/* Noise below a diagonal of n: well conditioned, and the other triangle is not read. */
static double *definite_matrix(size_t n)
{
    double *A = random_matrix(n, n);

    for (size_t i = 0; i < n; i++)
        A[i * n + i] = (double) n;
    return A;
}

typedef void InPlace(const char *triangle, const int *order, double *A, const int *ld, int *info);

extern InPlace dpotri_;

/* A routine of LAPACK that puts its result in place of the matrix. */
static double time_in_place(InPlace *routine, size_t n, double *A)
{
    int order = (int) n, info;
    double start = seconds();

    routine("L", &order, A, &order, &info);
    start = seconds() - start;
    if (info != 0)
        exit(1);
    return start;
}

/* Size n. */
static double time_dpotrf(const size_t *size)
{
    return time_in_place(dpotrf_, size[0], definite_matrix(size[0]));
}

/* Size n: the inverse from the factor. */
static double time_dpotri(const size_t *size)
{
    double *A = definite_matrix(size[0]);

    time_in_place(dpotrf_, size[0], A);
    return time_in_place(dpotri_, size[0], A);
}

/* Sizes n, m: a triangle of n, m right sides. */
static double time_dtrsm(const size_t *size)
{
    int n = (int) size[0], m = (int) size[1];
    double *L = definite_matrix(size[0]), *B = random_matrix(size[1], size[0]);
    double start = seconds();

    cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, n, m, 1.0, L, n, B, n);
    return seconds() - start;
}

/* Sizes n, D: the D x D sums of n rows; very many of them by passes over the same PASS rows. */
static double time_dsyrk(const size_t *size)
{
    size_t n = size[0], D = size[1];
    double *Z = random_matrix(smaller(n, PASS), D), *G = matrix(D, D);
    double start = seconds();

    for (size_t first = 0; first < n; first += PASS)
        cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, (int) D, (int) smaller(PASS, n - first), 1.0,
                    Z, (int) D, 1.0, G, (int) D);
    return seconds() - start;
}

/* Sizes n, d, D: n rows projected on D/2 frequencies, then sine and cosine, block by block. */
static double time_features(const size_t *size)
{
    size_t n = size[0], d = size[1], half = size[2] / 2;
    double *X = random_matrix(n, d), *W = random_matrix(half, d);
    double *P = matrix(BLOCK, half), *sine = matrix(BLOCK, half), *cosine = matrix(BLOCK, half);
    double start = seconds();

    for (size_t first = 0; first < n; first += BLOCK)
    {
        size_t rows = smaller(BLOCK, n - first);

        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int) rows, (int) half, (int) d, 1.0,
                    X + first * d, (int) d, W, (int) d, 0.0, P, (int) half);
        km_sincos(rows * half, P, sine, cosine);
    }
    return seconds() - start;
}

static const struct
{
    const char *name;
    int sizes;
    double (*time)(const size_t *size);
} primitives[] = {
    {"gram", 2, time_gram},
    {"dpotrf", 1, time_dpotrf},
    {"dpotri", 1, time_dpotri},
    {"dtrsm", 2, time_dtrsm},
    {"dsyrk", 2, time_dsyrk},
    {"features", 3, time_features},
};

static int usage(void)
{
    fprintf(stderr, "primitives: kernels, or wall|cpu and one of "
            "gram n d, dpotrf n, dpotri n, dtrsm n m, dsyrk n D, features n d D\n");
    return 2;
}

int main(int count, char **arguments)
{
    size_t size[MAX_SIZES] = {0};

    if (count == 2 && strcmp(arguments[1], "kernels") == 0)
        return printf("%s\n", openblas_get_config()) < 0;
    if (count < 4 || count - 3 > MAX_SIZES)
        return usage();
    choose_clock(arguments[1]);
    for (int i = 3; i < count; i++)
        if ((size[i - 3] = strtoul(arguments[i], NULL, 10)) == 0)
            return usage();
    for (size_t p = 0; p < sizeof primitives / sizeof *primitives; p++)
        if (strcmp(arguments[2], primitives[p].name) == 0 && count == primitives[p].sizes + 3)
            return printf("%.6f\n", primitives[p].time(size)) < 0;
    return usage();
}
