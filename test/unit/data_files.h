/*
 * data_files.h: data sets from the folder KML_DATA, files "id,x1,…,xd,y", plain or compressed; rows with
 * id % 3 = 0 are for testing.
 */
#ifndef KM_TEST_DATA_FILES_H
#define KM_TEST_DATA_FILES_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct DataSet
{
    size_t d, n[2];             /* training, test */
    long *id[2];
    double *x[2], *y[2];
} DataSet;

static inline FILE *
open_data(const char *name)
{
    const char *folder = getenv("KML_DATA");
    char path[500], command[520];

    snprintf(path, sizeof path, "%s/%s.csv", folder, name);
    if (access(path, R_OK) == 0)
        return fopen(path, "r");
    snprintf(command, sizeof command, "zcat '%s.gz'", path);
    return popen(command, "r");
}

static inline void
add_line(DataSet *data, char *line, size_t capacity)
{
    char *field;
    long id = strtol(line, &field, 10);
    size_t part = id % 3 == 0, i = data->n[part]++;

    if (i >= capacity)
        abort();
    data->id[part][i] = id;
    for (size_t k = 0; k < data->d; k++)
        data->x[part][i * data->d + k] = strtod(field + 1, &field);
    data->y[part][i] = strtod(field + 1, &field);
}

static inline DataSet
read_data(const char *name, size_t capacity)
{
    DataSet data = {0};
    char line[5000];
    FILE *file = open_data(name);

    if (file == NULL || fgets(line, sizeof line, file) == NULL)
        abort();
    for (const char *c = line; (c = strchr(c, ',')) != NULL; c++)
        data.d++;
    data.d--;
    for (size_t part = 0; part < 2; part++)
    {
        data.id[part] = malloc(capacity * sizeof *data.id[part]);
        data.x[part] = malloc(capacity * data.d * sizeof *data.x[part]);
        data.y[part] = malloc(capacity * sizeof *data.y[part]);
    }
    while (fgets(line, sizeof line, file) != NULL)
        add_line(&data, line, capacity);
    fclose(file);
    return data;
}

static inline void
free_data(DataSet *data)
{
    for (size_t part = 0; part < 2; part++)
    {
        free(data->id[part]);
        free(data->x[part]);
        free(data->y[part]);
    }
}

/* By mean and population deviation of the training rows. */
static inline void
standardise(DataSet *data)
{
    for (size_t k = 0; k < data->d; k++)
    {
        double n = (double) data->n[0], mean = 0, square = 0;

        for (size_t i = 0; i < data->n[0]; i++)
            mean += data->x[0][i * data->d + k] / n;
        for (size_t i = 0; i < data->n[0]; i++)
            square += pow(data->x[0][i * data->d + k] - mean, 2) / n;
        for (size_t part = 0; part < 2; part++)
            for (size_t i = 0; i < data->n[part]; i++)
                data->x[part][i * data->d + k] = (data->x[part][i * data->d + k] - mean) /
                    (square > 0 ? sqrt(square) : 1);
    }
}

#endif
