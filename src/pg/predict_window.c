/*
 * predict_window.c: predict_w, a window function that reads ahead and scores
 * rows in blocks: the same values as predict, faster for large models.
 */
#include "glue.h"

#include <math.h>

#include "windowapi.h"

#define BLOCK 256

/* Rows scored ahead, in the partition's memory. */
typedef struct Block
{
    int64 start;                /* position of the first row */
    int n;
    bool null[BLOCK];
    double value[BLOCK];
} Block;

/* Rows gathered for one model, to be scored together. */
typedef struct Batch
{
    KmlModel *model;
    int n;
    int place[BLOCK];           /* in the block */
    double *x;                  /* BLOCK x d */
} Batch;

static void
score_batch(Batch *batch, Block *block)
{
    KmlModel *model = batch->model;
    size_t n_out;
    double *raw;

    if (batch->n == 0)
        return;
    n_out = model->scorer->score.n_out;
    raw = palloc(batch->n * n_out * sizeof(double));
    kml_check(model->ctx, km_scorer_values(model->ctx, model->scorer, batch->n, batch->x, raw));
    for (int i = 0; i < batch->n; i++)
        kml_check(model->ctx, km_scorer_predict(model->ctx, model->scorer, raw + i * n_out,
                                                &block->value[batch->place[i]]));
    pfree(raw);
    batch->n = 0;
}

/* Begin a batch for another model. */
static void
start_batch(Batch *batch, Block *block, KmlModel *model)
{
    score_batch(batch, block);
    kml_model_require_estimator(model);
    if (batch->x)
        pfree(batch->x);
    batch->x = palloc(BLOCK * model->scorer->d * sizeof(double));
    batch->model = model;
}

static void
read_ahead(WindowObject window, FmgrInfo *flinfo, int64 position, Block *block)
{
    KmlModelCache *cache = kml_model_cache(flinfo);
    KmlVectorReader *reader = kml_row_reader(flinfo);
    Batch batch = {0};

    block->start = position;
    for (block->n = 0; block->n < BLOCK; block->n++)
    {
        bool model_null, row_null, outside;
        Datum model_datum, row;
        KmlModel *model;

        model_datum = WinGetFuncArgInPartition(window, 0, position + block->n, WINDOW_SEEK_HEAD, false,
                                               &model_null, &outside);
        if (outside)
            break;
        block->null[block->n] = true;
        if (model_null)
            continue;
        model = kml_model_lookup(cache, model_datum);
        row = WinGetFuncArgInPartition(window, 1, position + block->n, WINDOW_SEEK_HEAD, false, &row_null,
                                       &outside);
        if (row_null)
            continue;
        if (model != batch.model)
            start_batch(&batch, block, model);
        kml_model_row(model, reader, row);
        memcpy(batch.x + batch.n * model->scorer->d, reader->value, model->scorer->d * sizeof(double));
        batch.place[batch.n++] = block->n;
        block->null[block->n] = false;
    }
    score_batch(&batch, block);
    if (batch.x)
        pfree(batch.x);
}

PG_FUNCTION_INFO_V1(kml_predict_w);

Datum
kml_predict_w(PG_FUNCTION_ARGS)
{
    WindowObject window = PG_WINDOW_OBJECT();
    int64 position = WinGetCurrentPosition(window);
    Block *block = WinGetPartitionLocalMemory(window, sizeof(Block));
    int i;

    if (position < block->start || position >= block->start + block->n)
        read_ahead(window, fcinfo->flinfo, position, block);
    /* rows before this one are not needed again */
    WinSetMarkPosition(window, position);
    i = position - block->start;
    if (block->null[i])
        PG_RETURN_NULL();
    PG_RETURN_FLOAT8(block->value[i]);
}
