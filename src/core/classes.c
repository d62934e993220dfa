/* classes.c: labels among the classes of a model. */
#include <math.h>
#include <string.h>

#include "data.h"

#define WHOLE_LIMIT 9007199254740992.0  /* 2^53: doubles from here on stand for several whole numbers */

/* The number that a label's text means: that of a number, 0 and 1 for words of a boolean; NaN for none. */
static double
number_of(KmLabelKind kind, const char *text)
{
    static const char *const words[2][3] = {{"f", "false", "no"}, {"t", "true", "yes"}};
    size_t length = strlen(text);
    double number;

    if (kind == KM_LABEL_NUMBER)
        return length > 0 && km_number_read(text, length, &number) == length ? number : NAN;
    for (size_t w = 0; kind == KM_LABEL_BOOL && w < 6; w++)
        if (strcmp(words[w / 3][w % 3], text) == 0)
            return (double) (w / 3);
    return NAN;
}

size_t
km_classes_find(const KmClasses *classes, const char *text)
{
    double number = number_of(classes->kind, text);

    for (size_t c = 0; c < classes->n; c++)
        if (strcmp(classes->text[c], text) == 0)
            return c;
    for (size_t c = 0; c < classes->n && !(fabs(number) >= WHOLE_LIMIT && isfinite(number)); c++)
        if (classes->number[c] == number)
            return c;
    return classes->n;
}
