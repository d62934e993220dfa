/* data.h: the rows that a learner is fitted to, as core sees them. */
#ifndef KM_DATA_H
#define KM_DATA_H

#include "context.h"

/* A missing (NULL) element: one particular NaN, told apart by its bits. */
#define KM_MISSING_BITS UINT64_C(0x7ff84b4d4d495353)
extern double km_missing(void);
extern bool km_is_missing(double value);
/* Fail with KM_DATA: element j (0-based) of a row is NULL. */
extern KmStatus km_fail_missing(KmContext *ctx, size_t j);
/* Fail with KM_DATA, naming the position, at NaN, infinity, and (unless taken) a missing element. */
extern KmStatus km_row_check(KmContext *ctx, size_t d, const double *x, bool takes_missing);

/* 64 bits that stand for a row's content; -0 counts as 0. */
extern uint64_t km_row_hash(size_t d, const double *x);

typedef enum KmLabelKind { KM_LABEL_TEXT, KM_LABEL_NUMBER, KM_LABEL_BOOL } KmLabelKind;

/* The classes in sorted order. */
typedef struct KmClasses
{
    size_t n;
    KmLabelKind kind;
    const char **text;          /* as the label's type prints it, NUL-terminated */
    double *number;             /* NUMBER and BOOL (0, 1); NaN for TEXT */
} KmClasses;

/* The class of a label's text: as it is printed, else by its number (1.0 is 1) or as a word (true); n if
 * there is none. */
extern size_t km_classes_find(const KmClasses *classes, const char *text);

/* n rows in canonical order (see km_rows_order).  Arrays belong to the caller. */
typedef struct KmTable
{
    size_t n, d;
    const double *x;            /* n x d row-major; finite, or missing where the learner imputes */
    size_t n_targets;
    const double *y;            /* n x n_targets, or NULL */
    const uint32_t *label;      /* n class numbers, or NULL */
    const KmClasses *classes;   /* with label */
    const double *w;            /* n weights > 0, or NULL for ones */
    uint64_t n_skipped;         /* rows with NULL x, y or weight, left out */
    uint64_t n_zero;            /* rows with weight 0, left out */
} KmTable;

static inline double
km_table_weight(const KmTable *table, size_t i)
{
    return table->w == NULL ? 1 : table->w[i];
}

extern double km_table_weights(const KmTable *table);   /* their sum */

/* status, but where it is an error and double precision cannot add the weights, or one and them, another that
 * says so. */
extern KmStatus km_blame_weights(KmContext *ctx, const KmTable *table, KmStatus status);

/* order[0..n-1] = indices of the rows sorted by content: x column by column, then y, label,
 * weight, -0 equal to 0.  row(state, i) gives a pointer to `width` doubles. */
typedef const double *(*KmRowOf)(const void *state, size_t i);
extern KmStatus km_rows_order(KmContext *ctx, size_t n, size_t width, KmRowOf row, const void *state,
                              size_t *order);

#endif
