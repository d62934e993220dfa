-- What errors, warnings and notices tell one to do.
\i test/helpers.sql

CREATE TABLE points AS
    SELECT i AS id, ARRAY[i * 37 % 101 / 50.0 - 1, i * i * 13 % 97 / 48.0 - 1]::float8[] AS x, i + 0.5 AS y
    FROM generate_series(1, 120) i;

-- A number as target of a classifier; not where a class has its rows, nor where labels are names.
SELECT length(fit('svc', x, y)) > 0 AS svc, length(fit('ridge_classifier', x, y)) > 0 AS ridge FROM points;
SELECT length(train('points', 'x', 'y', 'scale | linear_svc')) > 0 AS trained;
SELECT length(fit('ridge_classifier', x, id % 100)) > 0 AS few, length(fit('ridge_classifier', x, id::text)) > 0 AS names FROM points;
SELECT length(fit('ridge_classifier', x, i % 101)) > 0 AS of_four_rows FROM points, generate_series(1, 404) i WHERE id = 1;

-- Memory: the classes, what else could be done, the setting.
SET kernelml.max_memory = '2MB';
SELECT whole_error_of($$SELECT fit('linear_svc', array_fill(i, ARRAY[250]), i) FROM generate_series(1, 100) i$$) AS linear_svc;
SELECT whole_error_of($$SELECT fit('svc', ARRAY[i], i) FROM generate_series(1, 800) i$$) AS svc;
SET kernelml.max_memory = '4MB';
SELECT whole_error_of($$SELECT fit('ridge', array_fill(i, ARRAY[600]), i) FROM generate_series(1, 4) i$$) AS ridge;
SET kernelml.max_memory = '2MB';
SELECT whole_error_of($$SELECT fit('ridge_classifier', ARRAY[i], i) FROM generate_series(1, 800) i$$) AS ridge_classifier;
SELECT whole_error_of($$SELECT fit('poly_features(2) | krr', array_fill(i, ARRAY[60]), i) FROM generate_series(1, 200) i$$) AS step;
SELECT whole_error_of($$SELECT train('points', 'x', 'y', 'scale | rff(rbf, 500) | ridge')$$) ~ 'aise kernelml.max_memory.$' AS train;
RESET kernelml.max_memory;

-- A constant feature beside an intercept; one that follows from others.
SELECT whole_error_of($$SELECT fit('poly_features(2) | ridge(lambda=0)', x, y) FROM points$$) AS constant;
SELECT whole_error_of($$SELECT fit('ridge(lambda=0)', x || 0.1::float8, y) FROM points$$) AS constant_last;
SELECT whole_error_of($$SELECT solve(accumulate('poly_features(2)', x, y), 'ridge(lambda=0)') FROM points$$) AS solved;
SELECT whole_error_of($$SELECT fit('ridge(lambda=0)', x || x, y) FROM points$$) AS dependent;
SELECT length(fit('poly_features(2) | ridge(lambda=0, intercept=false)', x, y)) > 0 AS fitted FROM points;

-- Grids.
SELECT whole_error_of(format('SELECT fit(%L, x, y) FROM points', l)) FROM (VALUES ('ridge(lambda=grid(1, 2))'),
    ('krr(rbf(gamma=1), lambda=grid(1, 2))'), ('krr(rbf(gamma=grid(0.1, 1)), lambda=grid(1, 2), select=loo)'),
    ('svr(c=grid(1, 2))'), ('nystroem(2 * rbf(gamma=grid(1, 2)) + linear, 10) | ridge')) v(l);

-- The language.
SELECT l, whole_error_of(format('SELECT %L::learner', l)) FROM (VALUES ('krr(3)'), ('gp(rbf, bounds=[[1e-2, 1e2]])'),
    ('svc(class_weight={"ham": 2})'), ('additive_chi2_features(7)'), ('nystroem(sigmoid, 50)')) v(l);
SELECT whole_error_of($$SELECT kernel_matrix('rbf(gamma=scale)', ARRAY[[1, 2], [3, 4]])$$);

-- A model without an estimator, by a short form of its learner.
SELECT left(error_of(format('SELECT predict(%L::bytea, %L::float8[])', fit('scale', x || x), '{1,2,3,4}')), 90) AS short
FROM points;
SELECT error_of(format('SELECT predict(%L::bytea, %L::float8[])', fit((repeat('minmax | scale | ', 12) || 'scale')::learner, x || x), '{1,2,3,4}'))
    AS cut FROM points;

-- An accumulator of plain rows has no steps.
SELECT accumulator_info(accumulate('ridge', x, y))->'learner' AS learner FROM points;

-- What bounds errors bounds those of classes; ridge tells its path as krr does.
SELECT model_info(fit('svr', x, y)) ? 'loo_bound' AS svr, model_info(fit('svc', x, id > 60)) ? 'loo_bound' AS svc,
    model_info(fit('one_class', x)) ? 'loo_bound' AS one_class FROM points;
SELECT jsonb_array_length(p) AS n, p->0->>0 AS first, (SELECT min((r->>1)::float8) FROM jsonb_array_elements(p) r) = (i->>'gcv')::float8 AS least,
    p->0->2 = i->'effective_df' AS df
FROM (SELECT model_info(fit('ridge(grid(1e6, 0.01), select=gcv)', x, y)) AS i FROM points) m, LATERAL (SELECT i->'lambda_path' AS p) path;

DROP TABLE points;
