/* machines.c: what the support vector machines share (see machines.h). */
#include "machines.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define SINGLE_TOL 1e-4         /* float32 rows for tolerances from here on … */
#define SINGLE_BOX 1e4          /* … and boxes up to here: rounding times the box stays below them */
#define WORK_ARRAYS 16          /* float64 arrays of a solver over all variables, and its caller's */
#define WORK_BYTES ((size_t) 4 << 20)   /* blocks of variables, tiles */
#define POINT_ARRAYS 6          /* copies of the rows: points, in float32, of a pair, in the model */

KmStatus
km_machine_kernel(KmContext *ctx, const KmArgs *args, KmNode *node, const KmTable *table, KmKernel **out)
{
    const KmValue *value = km_arg(args, "kernel");
    KmArgs again;

    KM_TRY(km_kernel_compile(ctx, value->node, out));
    KM_TRY(km_kernel_resolve(ctx, *out, table->n, table->d, table->x, table->w));
    if (value->given)
        return KM_OK;
    KM_TRY(km_node_set(ctx, node, "kernel", (*out)->node));
    return km_signature_bind(ctx, args->signature, node, &again);
}

KmStatus
km_machine_reserve(KmContext *ctx, const char *what, size_t n, size_t d)
{
    double rows = 8.0 * (double) (n + KM_ROWS_PAD) * KM_ROWS_BATCH;
    double arrays = 8.0 * (double) n * (WORK_ARRAYS + POINT_ARRAYS * (double) d);
    char text[100];

    snprintf(text, sizeof text, "%s on %zu rows", what, n);
    return km_reserve(ctx, WORK_BYTES + arrays + rows, text,
                      "Use a sample of the rows, or raise kernelml.max_memory.");
}

KmStatus
km_machine_rows(KmContext *ctx, const KmKernel *kernel, const KmPoints *points, size_t n_max, size_t d,
                double tol, double box, KmMachineRows *out)
{
    bool single = km_kernel_has_f32(kernel) && (kernel->flags & KM_BOUNDED) && tol >= SINGLE_TOL &&
        box <= SINGLE_BOX;
    size_t work = WORK_BYTES + 8 * n_max * (WORK_ARRAYS + 2 * d), left;

    KM_TRY(km_row_source_create(ctx, kernel, n_max, d, single, points, &out->source));
    left = ctx->max_bytes - ctx->used_bytes;
    return km_rows_create(ctx, n_max, single, left > work ? left - work : 0, &out->rows);
}

KmStatus
km_machine_open(KmContext *ctx, KmMachineRows *rows, const KmPoints *points)
{
    KM_TRY(km_row_source_open(ctx, rows->source, points));
    km_rows_open(rows->rows, rows->source);
    return KM_OK;
}

void
km_machine_count(KmMachineFacts *facts, const KmSolution *solution)
{
    facts->objective -= solution->objective;
    facts->gap = fmax(facts->gap, solution->gap);
    facts->iterations += solution->iterations;
    facts->unfinished += !solution->converged;
}

KmStatus
km_machine_add_facts(KmContext *ctx, const KmArgs *args, const KmMachineFacts *facts, size_t n_sv,
                     KmModel *model)
{
    if (facts->unfinished > 0)
        km_warn(ctx, "%s did not converge: after %" PRIu64 " iterations the gap is %g, tol is %g",
                args->signature->name, facts->iterations, facts->gap, km_arg_number(args, "tol"));
    KM_TRY(km_model_add_fact(ctx, model, "n_sv", KM_FACT_COUNT, (double) n_sv));
    KM_TRY(km_model_add_fact(ctx, model, "objective", KM_FACT_NUMBER, facts->objective));
    KM_TRY(km_model_add_fact(ctx, model, "gap", KM_FACT_NUMBER, facts->gap));
    KM_TRY(km_model_add_fact(ctx, model, "iterations", KM_FACT_COUNT, (double) facts->iterations));
    return km_model_add_fact(ctx, model, "converged", KM_FACT_BOOL, facts->unfinished == 0);
}
