/*
 * fortran.c: the one function of the Fortran run-time library that LAPACK's code in the static
 * OpenBLAS calls (to build option strings such as "LN"), so that libgfortran is not needed.
 */
#include <stddef.h>
#include <string.h>

extern void _gfortran_concat_string(size_t length, char *out, size_t n, const char *a, size_t m,
                                    const char *b);

/* out[length] = a[n] followed by b[m], cut or padded with blanks, as Fortran's a // b. */
void
_gfortran_concat_string(size_t length, char *out, size_t n, const char *a, size_t m, const char *b)
{
    n = n < length ? n : length;
    m = m < length - n ? m : length - n;
    memcpy(out, a, n);
    memcpy(out + n, b, m);
    memset(out + n + m, ' ', length - n - m);
}
