/* slices.c: cut targets into slices. */
#include "slices.h"

#include <math.h>

#define SLICE_UNIT 4096.0       /* 2^KM_SLICE_BITS */

int32_t
km_slice_top(double y)
{
    int exponent;

    if (y == 0)
        return KM_NO_SLICE;
    frexp(y, &exponent);
    exponent--;                 /* now 2^exponent <= |y| */
    return exponent >= 0 ? exponent / KM_SLICE_BITS : -((-exponent + KM_SLICE_BITS - 1) / KM_SLICE_BITS);
}

/* Every step is exact: the cut takes leading bits away, the product moves the rest up.  Only a y far
 * below the window is rounded when it is scaled, to something below it still. */
bool
km_slice_cut(double y, int32_t top, double *q)
{
    double rest = top == KM_NO_SLICE ? 0 : ldexp(y, -KM_SLICE_BITS * top);
    bool any = false;

    for (size_t b = 0; b < KM_SLICES; b++)
    {
        q[b] = (double) (int) rest;
        any = any || q[b] != 0;
        rest = (rest - q[b]) * SLICE_UNIT;
    }
    return rest == 0 && (any || y == 0);
}
