/*
 * blas_memory.c: the work memory of OpenBLAS, asked for before OpenBLAS does.
 *
 * It allocates 128 MB of address space at the first call of a process and keeps them.  Where the system
 * refuses (ulimit -v, vm.overcommit_memory = 2) it tries again for ever, deaf to a cancel and to a shutdown.
 * The linker turns its calls of blas_memory_alloc() into calls of the function here (--wrap), which raises an
 * error instead; nothing of OpenBLAS is held then, so that it may be left by a longjmp.
 */
#include "glue.h"

#define WORK_BYTES ((size_t) 129 << 20)

extern void *__real_blas_memory_alloc(int position);
extern void *__wrap_blas_memory_alloc(int position);

static bool reserved = false;

void *
__wrap_blas_memory_alloc(int position)
{
    /* volatile: a compiler may leave out memory that is only asked for */
    void *volatile work = reserved ? NULL : malloc(WORK_BYTES);

    if (!reserved && work == NULL)
        ereport(ERROR,
                (errcode(ERRCODE_OUT_OF_MEMORY),
                 errmsg("out of memory"),
                 errdetail("The linear algebra needs %zu MB of address space.", WORK_BYTES >> 20)));
    free(work);
    reserved = true;
    return __real_blas_memory_alloc(position);
}
