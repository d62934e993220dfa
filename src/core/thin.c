/* thin.c: packing, and the choice of instruction set (see thin.h). */
#include "thin.h"

#include <string.h>

#include "simd.h"
#include "simd/thin_ops.h"
#include "sizes.h"

size_t
km_thin_size(size_t n, size_t d)
{
    return round_up(n, KM_THIN_WIDTH) * d;
}

void
km_thin_pack(size_t n, size_t d, const float *z, float *panels)
{
    memset(panels, 0, km_thin_size(n, d) * sizeof *panels);
    for (size_t j = 0; j < n; j++)
    {
        float *column = panels + j / KM_THIN_WIDTH * KM_THIN_WIDTH * d + j % KM_THIN_WIDTH;

        for (size_t k = 0; k < d; k++)
            column[k * KM_THIN_WIDTH] = z[j * d + k];
    }
}

void
km_thin_dot(size_t m, size_t n, size_t d, const float *x, const float *panels, size_t j0,
            size_t ld, float *out)
{
    KM_PICK(km_thin_ops)->dot(m, n, d, x, panels + j0 * d, ld, out);
}

void
km_thin_list_dot(size_t m, size_t n, size_t d, const KmThinList *x, const float *panels,
                 size_t j0, size_t ld, float *out)
{
    KM_PICK(km_thin_ops)->list_dot(m, n, d, x, panels + j0 * d, ld, out);
}
