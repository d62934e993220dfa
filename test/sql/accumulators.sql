-- Accumulators of any features, many groups, what they say of themselves, and errors of models on sums.
\i test/helpers.sql

CREATE TABLE points AS
    SELECT i AS id, i % 7 AS part, i % 4 AS w, ARRAY[i * 37 % 101 / 50.0 - 1, i * i * 13 % 97 / 48.0 + 3]::float8[] AS x,
        (i * 37 % 101 / 50.0 + i % 7 / 7.0)::float8 AS y
    FROM generate_series(1, 1000) i;
ANALYZE points;

-- Raw columns, and after steps with their constants: as fitted, in any order and grouping, weighted.
CREATE TEMP TABLE learners AS SELECT l FROM unnest('{ridge(lambda=0.1), "scale(mean=[0,4], sd=[1,0.5]) | ridge",
    "nystroem(rbf(gamma=1), landmarks=[[0,4],[1,3],[-1,5]]) | ridge(lambda=0.1)", "poly_features(2) | ridge(lambda=10)",
    "impute(values=[0,0]) | minmax(min=[-1,3], max=[1,5]) | ridge(lambda=2, intercept=false)"}'::learner[]) l;
SELECT l, near(predict(solve(accumulate(l, x, y), l), '{0.5,4}'), predict(fit(l, x, y), '{0.5,4}'), 1e-12) AS as_fitted,
    near(predict(solve(accumulate(l, x, y, w + 0.5), l), '{0.5,4}'), predict(fit(l, x, y, w + 0.5), '{0.5,4}'), 1e-12) AS weighted,
    near(predict(solve(accumulate(l, x, y ORDER BY md5(id::text)), l), '{0.5,4}'),
        predict(fit(l, x, y), '{0.5,4}'), 1e-12) AS shuffled,
    near(predict_vector(solve(accumulate(l, x, ARRAY[y, id]), l), '{0.5,4}'),
        predict_vector(fit(l, x, ARRAY[y, id]), '{0.5,4}'), 1e-9) AS targets
FROM points, learners GROUP BY l ORDER BY l;
SELECT l, near(predict(solve(merge(a), l), '{0.5,4}'), predict((SELECT fit(l, x, y) FROM points), '{0.5,4}'), 1e-12) AS merged
FROM (SELECT l, part, accumulate(l, x, y) AS a FROM points, learners GROUP BY l, part) s GROUP BY l ORDER BY l;
SELECT near(predict(solve(total - a, l), '{0.5,4}'), predict((SELECT fit(l, x, y) FROM points WHERE part <> 3), '{0.5,4}'), 1e-11) AS subtracted
FROM (SELECT l, accumulate(l, x, y) AS total, accumulate(l, x, y) FILTER (WHERE part = 3) AS a FROM points, learners GROUP BY l) s;
SELECT solve(total - total, 'ridge') IS NULL AS nothing_left FROM (SELECT accumulate('ridge', x, y) AS total FROM points) s;
SELECT solve(a::text::accumulator, 'ridge') = solve(a, 'ridge') AS same, learner(solve(a, 'ridge')),
    learner(solve(a, 'ridge(lambda=3)')) FROM (SELECT accumulate('ridge', x, y) AS a FROM points) s;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT plan_has('SELECT accumulate(''ridge'', x, y) FROM points', 'Partial Aggregate') AS partial;
SELECT near(predict(solve(accumulate('ridge', x, y), 'ridge'), '{0.5,4}'), predict(fit('ridge', x, y), '{0.5,4}'), 1e-12) AS parallel
FROM points;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;

-- DISTINCT, FILTER and ROLLUP inside one query; a moving frame.
SELECT accumulator_info(accumulate(DISTINCT 'rff(rbf(gamma=1), 10)', x, y))->'n_rows' AS distinct_rows,
    (SELECT count(*) FROM (SELECT DISTINCT x, y FROM points) d) AS expected,
    accumulate(DISTINCT 'rff(rbf(gamma=1), 10)', x, y)::text = (SELECT accumulate('rff(rbf(gamma=1), 10)', x, y)::text
        FROM (SELECT DISTINCT x, y FROM points) d) AS same_bytes FROM points;
SELECT part, accumulator_info(accumulate('rff(rbf(gamma=1), 4)', x, y) FILTER (WHERE id > 500))->'n_rows' AS n_rows
FROM points GROUP BY ROLLUP (part) ORDER BY part;
SELECT bool_and((accumulator_info(a)->>'n_rows')::int = least(id, 3)) AS frames FROM (SELECT id,
    accumulate('ridge', x, y) OVER (ORDER BY id ROWS 2 PRECEDING) AS a FROM points) s;

-- 50,000 groups, hashed within little memory.
CREATE TABLE many AS SELECT i % 50000 AS g, ARRAY[i % 10, i % 13]::float8[] AS x, i % 17 AS y FROM generate_series(1, 150000) i;
ANALYZE many;
SET enable_sort = off;
SET work_mem = '4MB';
SET statement_timeout = '60s';
SELECT plan_has('SELECT g, accumulate(''rff(rbf(gamma=1), 4)'', x, y) FROM many GROUP BY g', 'HashAggregate') AS hashed;
SELECT count(*) AS groups, count(DISTINCT n) AS sizes, min(n) AS n FROM (SELECT g,
    accumulator_info(accumulate('rff(rbf(gamma=1), 4)', x, y))->>'n_rows' AS n FROM many GROUP BY g) s;
RESET enable_sort;
RESET work_mem;
RESET statement_timeout;
DROP TABLE many;

-- What an accumulator says of itself.
SELECT accumulator_info(accumulate('rff(rbf(gamma=1), 10)', x, y)) AS exact,
    accumulator_info(accumulate('rff(rbf(gamma=1), 10)', x, y, 0.5)) - 'learner' AS fractional,
    accumulator_info(accumulate('ridge', x, ARRAY[y, 2, nullif(id, 3)]) FILTER (WHERE id <> 3)) - 'learner' AS plain,
    accumulator_info(accumulate('scale(mean=[1,2,3,4,5,6,7,8,9], sd=[1,2,3,4,5,6,7,8,9])', x, NULL::float8)) AS skipped FROM points;
SELECT accumulator_info(accumulate('rff(rbf(gamma=1), 4)', x, CASE id WHEN 1 THEN 1e300 ELSE y END))->'clipped' AS clipped FROM points;
SELECT accumulator_info(NULL) IS NULL AS nothing, error_of($$SELECT accumulator_info('KMLA')$$) AS no_accumulator;

-- The error of a model on sums is its error on the rows.
SELECT l, near(weight, (SELECT count(*) FROM points), 0) AS weight,
    near(sse / expected, 1, 1e-9) AS sse, near(sst / (SELECT var_pop(y) * count(*) FROM points), 1, 1e-12) AS sst
FROM (SELECT l, accumulate(l, x, y) AS a, fit(l, x, y) AS m FROM points, (SELECT l FROM learners UNION ALL
        SELECT 'rff(rbf(gamma=1), 30) | ridge(lambda=0.1)') k GROUP BY l) s,
    squared_error(m, a), LATERAL (SELECT sum((y - predict(m, x)) ^ 2) AS expected FROM points) e ORDER BY l;
-- Leave one part out, by sums alone and by fitting each rest.
CREATE TEMP TABLE parts AS
    SELECT part, accumulate('rff(rbf(gamma=1), 30)', x, y) AS a FROM points GROUP BY part;
SELECT lambda, near(sum(sse), (SELECT sum((y - predict(m, x)) ^ 2) FROM points JOIN (SELECT k AS part,
        (SELECT fit(format('rff(rbf(gamma=1), 30) | ridge(lambda=%s)', lambda)::learner, x, y) FROM points WHERE part <> k) AS m
        FROM generate_series(0, 6) k) f USING (part)), 1e-8 * sum(sse)) AS same
FROM parts, (SELECT merge(a) AS total FROM parts) t, unnest('{0.1,1,10}'::float8[]) lambda,
    squared_error(solve(total - a, format('ridge(lambda=%s)', lambda)::learner), a) GROUP BY lambda ORDER BY lambda;
SELECT weight, sse, sst FROM squared_error((SELECT solve(accumulate('ridge', x, y), 'ridge') FROM points),
    (SELECT accumulate('ridge', x, NULL::float8) FROM points));
SELECT whole_error_of($$SELECT squared_error(fit('rff(rbf(gamma=1), 10) | ridge', x, y),
        accumulate('rff(rbf(gamma=2), 10)', x, y)) FROM points$$) AS other_map,
    whole_error_of($$SELECT squared_error(fit('krr(linear)', x, y), accumulate('ridge', x, y)) FROM points$$) AS no_ridge,
    whole_error_of($$SELECT squared_error(fit('ridge', x, y), accumulate('scale(mean=[0, 0], sd=[1, 1])', x, y)) FROM points$$)
        AS no_steps,
    whole_error_of($$SELECT squared_error(fit('ridge', x, ARRAY[y, y]), accumulate('ridge', x, y)) FROM points$$) AS targets,
    error_of($$SELECT squared_error('\x00', accumulate('ridge', x, y)) FROM points$$) AS no_model;

-- Digits that rounding has cost are a warning; sums too large an error; nothing is lost silently.
SET client_min_messages = warning;
SELECT solve(accumulate('ridge', ARRAY[x[1], 1e6 + x[2]], y), 'ridge(lambda=1)') IS NOT NULL AS far_from_zero FROM points;
SELECT solve(accumulate('ridge', x, 1e9 + y), 'ridge') IS NOT NULL AS far_target FROM points;
SELECT solve(a - b, 'ridge') IS NOT NULL AS little_left FROM (SELECT accumulate('ridge', ARRAY[x[1], CASE part WHEN 0 THEN 1e6 ELSE x[2] END], y) AS a,
    accumulate('ridge', ARRAY[x[1], 1e6], y) FILTER (WHERE part = 0) AS b FROM points) s;
SELECT solve(a - b, 'ridge') IS NOT NULL AS truncated FROM (SELECT accumulate('rff(rbf(gamma=1), 4)', x, CASE id WHEN 1 THEN 1e300 ELSE y END) AS a,
    accumulate('rff(rbf(gamma=1), 4)', x, 1e300) FILTER (WHERE id = 1) AS b FROM points) s;
SELECT solve(accumulate('rff(rbf(gamma=1), 4)', x, 1e9 + y), 'ridge') IS NOT NULL AS exact_sums FROM points;
RESET client_min_messages;
SELECT whole_error_of($$SELECT accumulate('ridge', ARRAY[id, 1e200], y) FROM points$$) AS overflow,
    error_of($$SELECT accumulate('ridge', x, ARRAY[y, NULL]) FROM points$$) AS null_target,
    error_of($$SELECT accumulate('ridge', x || NULL::float8, y) FROM points$$) AS null_element,
    error_of($$SELECT accumulate('impute | ridge', x, y) FROM points$$) AS no_constants,
    error_of($$SELECT accumulate('krr(linear)', x, y) FROM points$$) AS other_estimator,
    error_of($$SELECT a + b FROM (SELECT accumulate('ridge', x, y) AS a, accumulate('rff(rbf(gamma=1), 2)', x, y) AS b FROM points) s$$) AS different;

-- Groups of different columns that alternate keep their maps: neither the memory nor the time of a map for each row.
SET kernelml.max_memory = '8MB';
SELECT g, (accumulator_info(a)->>'n_rows')::int AS n, (accumulator_info(a)->>'n_features')::int AS d, a::text = (
    SELECT accumulate('rff(rbf(gamma=1), 100)', CASE g WHEN 0 THEN ARRAY[i, 1] ELSE ARRAY[i, 1, g] END::float8[], i)::text
    FROM generate_series(1, 20000) i WHERE i % 3 = g) AS same
FROM (SELECT i % 3 AS g, accumulate('rff(rbf(gamma=1), 100)', CASE i % 3 WHEN 0 THEN ARRAY[i, 1] ELSE ARRAY[i, 1, i % 3] END::float8[], i) AS a
    FROM generate_series(1, 20000) i GROUP BY 1) s ORDER BY g;
SELECT count(*), sum((accumulator_info(a)->>'n_rows')::int) AS n FROM (
    SELECT i % 20 AS g, accumulate('rff(rbf(gamma=1), 100)', array_fill(i, ARRAY[i % 20 + 1])::float8[], i) AS a
    FROM generate_series(1, 2000) i GROUP BY 1) s;
RESET kernelml.max_memory;

-- Tiny weights and huge ones: products of two sums of them would underflow.
SELECT t::text, near(predict(solve(accumulate(l, x, y, t), l), '{0.5,4}'), (SELECT predict(fit('ridge(lambda=10)', x, y), '{0.5,4}') FROM points), 1e-12) AS as_fitted,
    near((squared_error(solve(accumulate(l, x, y, t), l), accumulate(l, x, y, t))).sse / t,
        (SELECT sum((y - predict(m, x)) ^ 2) FROM points, (SELECT fit('ridge(lambda=10)', x, y) AS m FROM points) s), 1e-9) AS error
FROM points, unnest('{1e-305,1e-300,1e-160,1e100}'::float8[]) AS t,
    LATERAL CAST(format('ridge(lambda=%s)', 10 * t) AS learner) AS l GROUP BY 1, t, l ORDER BY min(t);

DROP TABLE points;
