/*
 * random_kernels.h: kernels for tests of all of them: texts with every number given, single ones and
 * compositions, for rows of d columns of numbers between 0 and 0.4.
 */
#ifndef KM_TEST_RANDOM_KERNELS_H
#define KM_TEST_RANDOM_KERNELS_H

#include "kernel_support.h"

/* One @ stands for a list of d positive numbers, # for two rows of them, ~ for d + 1 numbers of any sign. */
static const char *const leaf_texts[] = {
    "linear", "2.5", "constant(0.7)", "poly(3, 1.3, 0.6)", "poly(2, 0.7, 0)", "cosine", "geometric",
    "rbf(gamma=3)", "rbf(length_scale=0.3)", "rbf(length_scale=@)", "laplacian(2)", "exponential(0.4)",
    "exponential(@)", "matern(0.5, 0.5)", "matern(1.5, @)", "matern(2.5, 0.3)", "matern(2.5, @)",
    "matern(0.3, 0.5)", "matern(0.8, @)", "matern(3.7, @)", "matern(120, 0.4)",
    "rational_quadratic(0.7, 0.3)", "rational_quadratic(2, @)", "cauchy(0.4)", "cauchy(@)",
    "inverse_multiquadric(0.6)", "periodic(0.5, 0.9)", "periodic(1.3, @)", "wave(0.7)",
    "spectral_mixture([0.6, 1.1], #, #)", "gibbs(~)", "chi2(2)", "chi2_mercer", "min", "brownian",
};
#define N_LEAF_TEXTS (sizeof leaf_texts / sizeof leaf_texts[0])

static inline size_t
write_list(uint64_t *seed, size_t n, double low, double high, char *out)
{
    size_t length = (size_t) sprintf(out, "[");

    for (size_t k = 0; k < n; k++)
        length += (size_t) sprintf(out + length, "%s%.3f", k > 0 ? ", " : "", next_uniform(seed, low, high));
    return length + (size_t) sprintf(out + length, "]");
}

/* The text with its lists filled in; returns its length. */
static inline size_t
write_leaf(uint64_t *seed, const char *text, size_t d, char *out)
{
    size_t length = 0;

    for (; *text != 0; text++)
    {
        if (*text == '@')
            length += write_list(seed, d, 0.2, 1, out + length);
        else if (*text == '~')
            length += write_list(seed, d + 1, -1, 1, out + length);
        else if (*text == '#')
        {
            out[length++] = '[';
            length += write_list(seed, d, 0.2, 1, out + length);
            out[length++] = ',';
            length += write_list(seed, d, 0.2, 1, out + length);
            out[length++] = ']';
        }
        else
            out[length++] = *text;
    }
    out[length] = 0;
    return length;
}

/* Operations that keep kernels positive semidefinite, at most `depth` deep. */
static inline size_t
write_kernel(uint64_t *seed, int depth, size_t d, char *out)
{
    static const char *const forms[][3] = {
        {"(", " + ", ")"}, {"(", "*", ")"}, {"1.5*", NULL, ""}, {"(", NULL, ")^2"}, {"exp(0.3*", NULL, ")"},
        {"normalize(0.5 + ", NULL, ")"}};
    const char *const *form;
    size_t length;

    if (depth == 0 || next_bits(seed) % 5 == 0)
        return write_leaf(seed, leaf_texts[next_bits(seed) % N_LEAF_TEXTS], d, out);
    form = forms[next_bits(seed) % (sizeof forms / sizeof forms[0])];
    length = (size_t) sprintf(out, "%s", form[0]);
    length += write_kernel(seed, depth - 1, d, out + length);
    if (form[1] != NULL)
    {
        length += (size_t) sprintf(out + length, "%s", form[1]);
        length += write_kernel(seed, depth - 1, d, out + length);
    }
    return length + (size_t) sprintf(out + length, "%s", form[2]);
}

#endif
