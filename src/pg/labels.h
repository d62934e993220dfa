/*
 * labels.h: targets of fit: numbers for regression, labels for classification.
 */
#ifndef KML_LABELS_H
#define KML_LABELS_H

#include "glue.h"

/* How to read the target argument, worked out once per query. */
typedef struct KmlTargetReader
{
    Oid type;                   /* base type of the argument */
    bool by_value;
    int16 length;
    FmgrInfo output;            /* text of a label */
    FmgrInfo compare;           /* btree order; fn_oid 0: bytewise on the text */
    KmLabelKind kind;
    bool is_vector;             /* an array: several targets of a regression */
    KmlVectorReader vector;     /* then how to read it */
    double single;              /* the number last read, else */
} KmlTargetReader;

/* Raise unless a target of this type is one that the learner's estimator takes; what: "y" in errors. */
extern void kml_target_check(const KmLearner *learner, Oid type, const char *what);
/* Set up for values of a type that was checked. */
extern void kml_target_reader_init(KmlTargetReader *reader, Oid type, MemoryContext memory);

/* The *n targets of a regression, until the next call.  NaN, infinity and km_missing() are returned. */
extern const double *kml_target_numbers(KmlTargetReader *reader, Datum datum, size_t *n);

/* The distinct labels of one group in order of first sight. */
typedef struct KmlLabels
{
    MemoryContext memory;
    size_t n, capacity;
    char **text;                /* as the type prints it */
    Datum *datum;               /* a copy, for the type's own order */
    uint32 *bucket;             /* open addressing on the text's hash: index + 1 */
    size_t n_buckets;
} KmlLabels;

extern void kml_labels_init(KmlLabels *labels, MemoryContext memory);
/* Number of the label, added if new.  Label numbers are those of first sight. */
extern uint32 kml_label_number(KmlLabels *labels, const KmlTargetReader *reader, Datum datum);
/* Classes in sorted order in ctx; number[old] = place in that order. */
extern KmClasses *kml_labels_sort(KmContext *ctx, const KmlLabels *labels, const KmlTargetReader *reader,
                                  uint32_t *number);

#endif
