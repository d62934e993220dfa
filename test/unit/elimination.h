/* elimination.h: systems of few rows in long double, for the tests of Gaussian processes. */
#ifndef KM_TEST_ELIMINATION_H
#define KM_TEST_ELIMINATION_H

#include <math.h>
#include <stddef.h>

#define MAX_ROWS 12

/* b = A^-1 b, for A (n x n) without zero pivots, which is overwritten; returns log det A. */
static inline long double
eliminate(size_t n, long double A[][MAX_ROWS], long double *b)
{
    long double logdet = 0;

    for (size_t k = 0; k < n; k++)
    {
        logdet += logl(A[k][k]);
        for (size_t i = k + 1; i < n; i++)
        {
            long double factor = A[i][k] / A[k][k];

            for (size_t j = k; j < n; j++)
                A[i][j] -= factor * A[k][j];
            b[i] -= factor * b[k];
        }
    }
    for (size_t i = n; i-- > 0;)
    {
        for (size_t j = i + 1; j < n; j++)
            b[i] -= A[i][j] * b[j];
        b[i] /= A[i][i];
    }
    return logdet;
}

#endif
