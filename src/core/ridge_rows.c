/*
 * ridge_rows.c: ridge regression from rows, a block of them at a time.
 *
 * Sums are those of deviations from a shift near the means; what is left of the means is taken away at the
 * end.
 *
 * Where the features are z = U a of plainer ones (learner.h), summing those instead and going over to U A U'
 * once saves the work of U for every row.  Rounding of A = sum a a', about eps tr A, then comes back times
 * |U|^2; over lambda, that bounds the relative error of the coefficients.  A bound up to ERROR is accepted
 * (the error itself is hundreds of times less), one up to its root is squared by a step of iterative
 * refinement, with residuals y - <z, w> of the rows themselves; beyond that the features are summed.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "blas.h"
#include "cholesky.h"
#include "design.h"
#include "linear.h"
#include "ridge.h"
#include "sizes.h"

#define BLOCK_ROWS ((size_t) 256)
#define ERROR 1e-6
#define FEW_COLUMNS 8

typedef struct Rows
{
    const KmTable *table;
    const KmStep *step;         /* makes the features; NULL: the rows are the features */
    bool plain, refined, centred;
    size_t d, m;                /* features, targets */
    double *shift;              /* d + m; zeros where nothing is centred */
    double *raw;                /* BLOCK_ROWS x columns of the table */
    double *x;                  /* BLOCK_ROWS x d: features less their shift */
    double *y;                  /* BLOCK_ROWS x (m + 1): targets less theirs, then a one */
    double *products;           /* d x (m + 1): X'Y */
    double *sum;                /* m: of the targets less their shift */
    double total;               /* weight */
} Rows;

/* ---- blocks ---- */

static KmStatus
create_rows(KmContext *ctx, const KmArgs *args, const KmStep *step, const KmTable *table, Rows *rows)
{
    size_t d = step != NULL ? step->d_out : table->d, m = table->n_targets;

    *rows = (Rows) {.table = table, .step = step, .d = d, .m = m, .total = km_table_weights(table),
                    .centred = km_arg_number(args, "intercept") != 0};
    KM_TRY(km_alloc_zero(ctx, d + m, &rows->shift));
    KM_TRY(km_alloc_zero(ctx, m, &rows->sum));
    KM_TRY(km_alloc(ctx, BLOCK_ROWS * table->d, &rows->raw));
    KM_TRY(km_alloc(ctx, BLOCK_ROWS * d, &rows->x));
    KM_TRY(km_alloc(ctx, BLOCK_ROWS * (m + 1), &rows->y));
    return km_alloc_zero(ctx, d * (m + 1), &rows->products);
}

static void
free_rows(KmContext *ctx, Rows *rows)
{
    km_free(ctx, rows->raw);
    km_free(ctx, rows->x);
    km_free(ctx, rows->y);
    km_free(ctx, rows->products);
}

/* x: the features of the block's raw rows. */
static KmStatus
make_features(KmContext *ctx, const Rows *rows, size_t count)
{
    const KmStep *step = rows->step;

    KM_TRY(km_poll(ctx));
    if (step == NULL)
    {
        memcpy(rows->x, rows->raw, count * rows->d * sizeof *rows->x);
        return KM_OK;
    }
    for (size_t i = 0; i < count; i += KM_SCORE_ROWS)
        KM_TRY((rows->plain ? step->apply_plain : step->apply)(
                   ctx, step, min_size(KM_SCORE_ROWS, count - i), rows->raw + i * step->d_in,
                   rows->x + i * rows->d));
    return KM_OK;
}

/* count rows from `first` on, every stride-th. */
static KmStatus
load_block(KmContext *ctx, const Rows *rows, size_t first, size_t stride, size_t count)
{
    const KmTable *table = rows->table;

    for (size_t r = 0; r < count; r++)
    {
        size_t i = first + r * stride;
        double *y = rows->y + r * (rows->m + 1);

        memcpy(rows->raw + r * table->d, table->x + i * table->d, table->d * sizeof *table->x);
        memcpy(y, table->y + i * rows->m, rows->m * sizeof *y);
        cblas_daxpy((int) rows->m, -1, rows->shift + rows->d, 1, y, 1);
        y[rows->m] = 1;
    }
    KM_TRY(make_features(ctx, rows, count));
    for (size_t r = 0; r < count; r++)
        cblas_daxpy((int) rows->d, -1, rows->shift, 1, rows->x + r * rows->d, 1);
    return KM_OK;
}

/* The block's rows times roots of their weights. */
static void
weigh_block(const Rows *rows, size_t first, size_t count)
{
    for (size_t r = 0; r < count && rows->table->w != NULL; r++)
    {
        double root = sqrt(rows->table->w[first + r]);

        cblas_dscal((int) rows->d, root, rows->x + r * rows->d, 1);
        cblas_dscal((int) rows->m + 1, root, rows->y + r * (rows->m + 1), 1);
    }
}

/* ---- the shift, and which features to sum ---- */

/* shift += the weighted mean of the block's rows over `total`, which they add to. */
static void
add_means(const Rows *rows, size_t first, size_t stride, size_t count, double *mean, double *total)
{
    for (size_t r = 0; r < count; r++)
    {
        double w = km_table_weight(rows->table, first + r * stride), share = w / (*total += w);

        for (size_t j = 0; j < rows->d; j++)
            mean[j] += share * (rows->x[r * rows->d + j] - mean[j]);
        for (size_t t = 0; t < rows->m; t++)
            mean[rows->d + t] += share * (rows->y[r * (rows->m + 1) + t] - mean[rows->d + t]);
    }
}

/* The means of all rows; of as many as make a block, evenly spaced, where rows weigh the same and their
 * features are some work: no more than a few deviations away. */
static KmStatus
learn_shift(KmContext *ctx, Rows *rows)
{
    size_t n = rows->table->n, stride = 1, last = n;
    double *mean, total = 0;

    if (!rows->centred)
        return KM_OK;
    if (rows->step != NULL && rows->table->w == NULL && n > BLOCK_ROWS)
    {
        stride = n / BLOCK_ROWS;
        last = BLOCK_ROWS;
    }
    KM_TRY(km_alloc_zero(ctx, rows->d + rows->m, &mean));
    for (size_t i = 0; i < last; i += BLOCK_ROWS)
    {
        size_t count = min_size(BLOCK_ROWS, last - i);

        KM_TRY(load_block(ctx, rows, i * stride, stride, count));
        add_means(rows, i * stride, stride, count, mean, &total);
    }
    rows->shift = mean;
    return KM_OK;
}

/* The mean square of plainer features about the shift, of a block of rows evenly spaced. */
static KmStatus
mean_square(KmContext *ctx, const Rows *rows, double *out)
{
    size_t n = rows->table->n, count = min_size(BLOCK_ROWS, n);

    KM_TRY(load_block(ctx, rows, 0, n / count, count));
    *out = cblas_ddot((int) (count * rows->d), rows->x, 1, rows->x, 1) / (double) count;
    return KM_OK;
}

static double
least_lambda(const KmArgs *args)
{
    const KmValue *lambda = km_arg(args, "lambda");
    double least = lambda->grid ? INFINITY : lambda->number;

    for (size_t i = 0; i < lambda->rows && lambda->grid; i++)
        least = fmin(least, lambda->list[i]);
    return least;
}

/* Sum plainer features where the head comment allows it, with the shift for what is summed. */
static KmStatus
choose_features(KmContext *ctx, const KmArgs *args, Rows *rows)
{
    double square, growth, bound;

    rows->plain = rows->step != NULL && rows->step->apply_plain != NULL;
    KM_TRY(learn_shift(ctx, rows));
    if (!rows->plain)
        return KM_OK;
    KM_TRY(mean_square(ctx, rows, &square));
    KM_TRY(rows->step->plain_growth(ctx, rows->step, &growth));
    bound = DBL_EPSILON * rows->total * square * growth / least_lambda(args);
    rows->refined = bound > ERROR;
    rows->plain = bound <= sqrt(ERROR);
    if (rows->plain)
        return KM_OK;
    memset(rows->shift, 0, (rows->d + rows->m) * sizeof *rows->shift);
    return learn_shift(ctx, rows);
}

/* ---- sums ---- */

/* out (d x width) += X'V of the block, V of stride ldv.  For few columns dgemm's packing of X costs more than
 * the products. */
static void
add_products(const Rows *rows, size_t count, size_t width, size_t ldv, const double *v, double *out)
{
    int d = (int) rows->d, n = (int) count, ld = (int) ldv;

    if (width > FEW_COLUMNS)
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, d, (int) width, n, 1, rows->x, d, v, ld, 1, out,
                    (int) width);
    for (size_t t = 0; t < width && width <= FEW_COLUMNS; t++)
        cblas_dgemv(CblasRowMajor, CblasTrans, n, d, 1, rows->x, d, v + t, ld, 1, out + t, (int) width);
}

/* A feature that is not finite shows in the sums of its products with the ones. */
static KmStatus
check_features(KmContext *ctx, const Rows *rows, size_t count)
{
    bool finite = true;

    for (size_t j = 0; j < rows->d; j++)
        finite &= isfinite(rows->products[j * (rows->m + 1) + rows->m]) != 0;
    for (size_t i = 0; i < count * rows->d && !finite && rows->step != NULL; i++)
        if (!isfinite(rows->x[i]))
            return km_fail(ctx, KM_RANGE, "feature %zu after %s is too large for double precision",
                           i % rows->d + 1, rows->step->name);
    return KM_OK;
}

static KmStatus
add_block(KmContext *ctx, Rows *rows, size_t count, KmRidge *ridge)
{
    size_t width = rows->m + 1;

    for (size_t r = 0; r < count; r++)
        for (size_t t = 0; t < rows->m; t++)
        {
            const double *y = rows->y + r * width;

            ridge->square[t] += y[t] * y[t];
            rows->sum[t] += y[t] * y[rows->m];
        }
    add_products(rows, count, width, width, rows->y, rows->products);
    KM_TRY(check_features(ctx, rows, count));
    return km_add_squares(ctx, count, rows->d, rows->d, rows->x, rows->d, ridge->a);
}

static KmStatus
sum_rows(KmContext *ctx, Rows *rows, KmRidge *ridge)
{
    size_t n = rows->table->n;

    memset(ridge->a, 0, ridge->d * ridge->d * sizeof *ridge->a);
    memset(ridge->square, 0, ridge->m * sizeof *ridge->square);
    for (size_t i = 0; i < n; i += BLOCK_ROWS)
    {
        size_t count = min_size(BLOCK_ROWS, n - i);

        KM_TRY(load_block(ctx, rows, i, 1, count));
        weigh_block(rows, i, count);
        KM_TRY(add_block(ctx, rows, count, ridge));
    }
    return KM_OK;
}

/* From sums about the shift to those about the means: with e = mean - shift, X'X loses total e e'.  The shift
 * becomes the means. */
static void
finish_sums(Rows *rows, KmRidge *ridge)
{
    size_t d = rows->d, m = rows->m;

    for (size_t i = 0; i < d && rows->centred; i++)
    {
        double e = rows->products[i * (m + 1) + m] / rows->total;

        for (size_t j = 0; j <= i; j++)
            ridge->a[i * d + j] -= e * rows->products[j * (m + 1) + m];
        for (size_t t = 0; t < m; t++)
            rows->products[i * (m + 1) + t] -= e * rows->sum[t];
        rows->shift[i] += e;
    }
    for (size_t t = 0; t < m && rows->centred; t++)
    {
        double e = rows->sum[t] / rows->total;

        ridge->square[t] -= e * rows->sum[t];
        rows->shift[d + t] += e;
    }
    for (size_t i = 0; i < d; i++)
        memcpy(ridge->b + i * m, rows->products + i * (m + 1), m * sizeof *ridge->b);
}

/* ---- plainer features ---- */

/* The lower triangle to the upper, or all elements to their mirror places. */
static void
mirror(size_t n, double *a, bool swap)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
        {
            double upper = a[j * n + i];

            a[j * n + i] = a[i * n + j];
            if (swap)
                a[i * n + j] = upper;
        }
}

/* A becomes U A U', B becomes U B. */
static KmStatus
push_equations(KmContext *ctx, const KmStep *step, KmRidge *ridge)
{
    mirror(ridge->d, ridge->a, false);
    KM_TRY(step->push(ctx, step, ridge->d, ridge->a));
    mirror(ridge->d, ridge->a, true);
    KM_TRY(step->push(ctx, step, ridge->d, ridge->a));
    return step->push(ctx, step, ridge->m, ridge->b);
}

/* y -= X v of the block. */
static void
subtract_scores(const Rows *rows, size_t count, const double *v)
{
    int n = (int) count, d = (int) rows->d, m = (int) rows->m;

    if (rows->m > FEW_COLUMNS)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, m, d, -1, rows->x, d, v, m, 1, rows->y,
                    m + 1);
    for (int t = 0; t < m && rows->m <= FEW_COLUMNS; t++)
        cblas_dgemv(CblasRowMajor, CblasNoTrans, n, d, -1, rows->x, d, v + t, m, 1, rows->y + t, m + 1);
}

/* gradient (d x m) = sum of w a (y - <a, v>) over all rows. */
static KmStatus
sum_residuals(KmContext *ctx, const Rows *rows, const double *v, double *gradient)
{
    size_t n = rows->table->n;

    memset(gradient, 0, rows->d * rows->m * sizeof *gradient);
    for (size_t i = 0; i < n; i += BLOCK_ROWS)
    {
        size_t count = min_size(BLOCK_ROWS, n - i);

        KM_TRY(load_block(ctx, rows, i, 1, count));
        weigh_block(rows, i, count);
        subtract_scores(rows, count, v);
        add_products(rows, count, rows->m, rows->m + 1, rows->y, gradient);
    }
    return KM_OK;
}

/* One step from the solution in ridge->b by its factored equations. */
static KmStatus
refine(KmContext *ctx, const Rows *rows, double lambda, KmRidge *ridge)
{
    const KmStep *step = rows->step;
    size_t size = ridge->d * ridge->m;
    double *v, *gradient;

    KM_TRY(km_alloc(ctx, size, &v));
    KM_TRY(km_alloc(ctx, size, &gradient));
    memcpy(v, ridge->b, size * sizeof *v);
    KM_TRY(step->pull(ctx, step, ridge->m, v));
    KM_TRY(sum_residuals(ctx, rows, v, gradient));
    KM_TRY(step->push(ctx, step, ridge->m, gradient));
    cblas_daxpy((int) size, -lambda, ridge->b, 1, gradient, 1);
    KM_TRY(km_cholesky_solve(ctx, ridge->d, ridge->d, ridge->a, ridge->m, ridge->m, gradient));
    cblas_daxpy((int) size, 1, gradient, 1, ridge->b, 1);
    km_free(ctx, v);
    km_free(ctx, gradient);
    return KM_OK;
}

/* ---- the whole ---- */

/* b = ybar - <zbar, w>. */
static KmStatus
find_intercepts(KmContext *ctx, Rows *rows, KmRidgeFit *fit)
{
    size_t d = rows->d, m = rows->m;

    KM_TRY(km_alloc(ctx, m, &fit->intercept));
    memcpy(fit->intercept, rows->shift + d, m * sizeof *fit->intercept);
    if (rows->plain)
        KM_TRY(rows->step->push(ctx, rows->step, 1, rows->shift));
    km_linear_uncentre(d, m, rows->shift, fit->w, fit->intercept);
    return KM_OK;
}

KmStatus
km_ridge_fit(KmContext *ctx, const KmArgs *args, const KmStep *step, const KmTable *table, KmRidgeFit *out)
{
    KmRidge *ridge;
    Rows rows;

    KM_TRY(create_rows(ctx, args, step, table, &rows));
    KM_TRY(km_ridge_create(ctx, rows.d, rows.m, &ridge));
    ridge->n = rows.total;
    ridge->centred = rows.centred;
    KM_TRY(choose_features(ctx, args, &rows));
    KM_TRY(sum_rows(ctx, &rows, ridge));
    finish_sums(&rows, ridge);
    if (rows.plain)
        KM_TRY(push_equations(ctx, step, ridge));
    KM_TRY(km_ridge_choose(ctx, args, ridge, &out->choice));
    KM_TRY(km_ridge_solve(ctx, ridge, out->choice.lambda));
    if (rows.plain && rows.refined)
        KM_TRY(refine(ctx, &rows, out->choice.lambda, ridge));
    out->d = rows.d;
    out->w = ridge->b;
    KM_TRY(find_intercepts(ctx, &rows, out));
    km_free(ctx, ridge->a);
    free_rows(ctx, &rows);
    return KM_OK;
}
