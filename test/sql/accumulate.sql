-- Accumulators: one pass, merged in any order, subtracted, stored, solved.
\i test/helpers.sql

CREATE TABLE points AS
    SELECT i AS id, ARRAY[i * 37 % 101 / 50.0 - 1, i * i * 13 % 97 / 48.0 - 1]::float8[] AS x,
        (i * 37 % 101 / 50.0 + i % 7 / 7.0)::float8 AS y, i % 4 AS w
    FROM generate_series(1, 1000) i;
ANALYZE points;
\set learner '\'rff(rbf(gamma=1), n_components=20, seed=5) | ridge(lambda=0.1)\''

-- solve(accumulate(…)) = fit(…), byte by byte, with the whole learner or the estimator alone.
SELECT solve(accumulate(:learner, x, y), :learner) = fit(:learner, x, y) AS whole, solve(accumulate(:learner,
    x, y), 'ridge(lambda=0.1)') = fit(:learner, x, y) AS alone,
       solve(accumulate(:learner, x, y, w), :learner) = fit(:learner, x, y, w) AS weighted FROM points;
-- One accumulator serves every lambda.
SELECT lambda, solve(a, format('ridge(lambda=%s)', lambda)::learner) =
    (SELECT fit(format('rff(rbf(gamma=1), n_components=20, seed=5) | ridge(lambda=%s)', lambda)::learner, x,
    y) FROM points) AS same
FROM (SELECT accumulate(:learner, x, y) AS a FROM points) t, unnest('{0.001,1,100}'::float8[]) lambda;
-- Orthogonal features, and a learner with resolved steps before the map.
SELECT solve(accumulate(l, x, y), l) = fit(l, x, y) AS same
FROM points, (SELECT 'orf(rbf(gamma=1), 20) | ridge'::learner AS l) t GROUP BY l;
SELECT solve(accumulate(l, x, y), l) = fit(l, x, y) AS same FROM points,
    (SELECT 'scale(mean=[1,2], sd=[3,4]) | rff(rbf(gamma=1), 20) | ridge'::learner AS l) t GROUP BY l;
SELECT solve(accumulate(learner(m), x, y), learner(m)) = m AS in_one_pass
FROM points, (SELECT fit('scale | rff(rbf(gamma=scale), n_components=20) | ridge', x, y) AS m FROM points) t
GROUP BY m;

-- Merges in any order and grouping give the same bytes.
CREATE TEMP TABLE whole AS SELECT accumulate(:learner, x, y) AS a FROM points;
CREATE TEMP TABLE parts AS SELECT id % 7 AS part, accumulate(:learner, x, y) AS a FROM points GROUP BY id % 7;
SELECT merge(p.a)::text = whole.a::text AS merged, merge(p.a ORDER BY part DESC)::text =
    whole.a::text AS backwards,
       merge(p.a ORDER BY md5(part::text))::text = whole.a::text AS shuffled FROM parts p, whole
       GROUP BY whole.a::text;
SELECT ((p0.a + p1.a) + p2.a)::text = (p0.a + (p1.a + p2.a))::text AS associative, (p0.a + p1.a)::text =
    (p1.a + p0.a)::text AS commutative,
       merge(p0.a, p1.a)::text = (p0.a + p1.a)::text AS operator, (p0.a + p1.a - p1.a)::text =
           p0.a::text AS undone,
       subtract(p0.a + p1.a, p0.a)::text = p1.a::text AS other
FROM parts p0, parts p1, parts p2 WHERE p0.part = 0 AND p1.part = 1 AND p2.part = 2;
SELECT (whole.a - p.a)::text = (SELECT accumulate(:learner, x, y) FROM points
    WHERE id % 7 <> 3)::text AS without FROM whole, parts p WHERE part = 3;
SELECT accumulate(:learner, x, y ORDER BY random())::text = accumulate(:learner, x, y)::text AS any_order
FROM points;
SELECT near(predict(solve(weighted, 'ridge'), '{0.3,0.4}'), predict(solve(rows, 'ridge'), '{0.3,0.4}'),
    1e-12) AS weights_are_repeated_rows
FROM (SELECT accumulate(:learner, x, y, w) AS weighted FROM points) u, (SELECT accumulate(:learner, x,
    y) AS rows FROM points p, generate_series(1, p.w)) v;

-- Serial and parallel plans give the same bytes, with partial aggregation.
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
ALTER TABLE points SET (parallel_workers = 3);
SET max_parallel_workers_per_gather = 3;
SELECT plan_has('SELECT accumulate(''rff(rbf(gamma=1), n_components=20, seed=5)'', x, y) FROM points',
    'Partial Aggregate') AS partial;
CREATE TEMP TABLE in_parallel AS SELECT accumulate(:learner, x, y)::text AS a FROM points;
CREATE TEMP TABLE shares AS SELECT accumulate(:learner, x, y)::text AS a FROM points WHERE id <= 3;
CREATE TEMP TABLE nobody AS SELECT accumulate(:learner, x, y)::text AS a FROM points WHERE id < 0;
SET parallel_leader_participation = off;
CREATE TEMP TABLE no_leader AS SELECT accumulate(:learner, x, y)::text AS a FROM points;
RESET ALL;
SET search_path = public, kernelml;
SELECT p.a = w.a::text AS parallel, n.a = w.a::text AS no_leader FROM in_parallel p, no_leader n, whole w;
SELECT a = (SELECT accumulate(:learner, x, y) FROM points WHERE id <= 3)::text AS empty_shares FROM shares;
SELECT a IS NULL AS no_rows FROM nobody;

-- n = 0 is a value: rows skipped for NULL are counted, and it solves to NULL; no rows at all give NULL.
SELECT accumulate(:learner, x, y) IS NULL AS nothing FROM points WHERE false;
CREATE TEMP TABLE skipped AS SELECT accumulate(:learner, x, NULL::float8) AS a FROM points WHERE id <= 10;
SELECT a IS NOT NULL AS value, solve(a, 'ridge') IS NULL AS no_model FROM skipped;
SELECT model_info(solve(skipped.a + whole.a, 'ridge'))->'n_skipped' AS skipped,
    model_info(solve(whole.a + skipped.a, 'ridge'))->'n_rows' AS n_rows FROM skipped, whole;
SELECT model_info(solve(accumulate(:learner, x, CASE WHEN id % 5 = 0 THEN NULL ELSE y END),
    'ridge'))->'n_skipped' AS skipped FROM points;
SELECT merge(a)::text = (SELECT a::text FROM whole) AS null_values
FROM (SELECT a FROM whole UNION ALL SELECT NULL) t;
SELECT merge(a) IS NULL AS nothing FROM whole WHERE false;

-- Aggregate syntax: GROUP BY, ROLLUP, FILTER, moving frames.
SELECT bool_and(a::text = (SELECT accumulate(:learner, x, y)::text FROM points WHERE id % 3 = g
    OR g IS NULL)) AS rollup
FROM (SELECT id % 3 AS g, accumulate(:learner, x, y) AS a FROM points GROUP BY ROLLUP (id % 3)) t;
SELECT accumulate(:learner, x, y) FILTER (WHERE id % 7 = 3)::text = (SELECT a::text FROM parts WHERE part =
    3) AS filter FROM points;
SELECT bool_and(a::text = (SELECT accumulate(:learner, x, y)::text FROM points p WHERE p.id BETWEEN t.id - 4
    AND t.id)) AS frames
FROM (SELECT id, accumulate(:learner, x, y) OVER (ORDER BY id ROWS 4 PRECEDING) AS a FROM points
    WHERE id <= 30) t WHERE id > 4;
SELECT bool_and(a::text = (SELECT accumulate(:learner, x, y)::text FROM points p
    WHERE p.id <= t.id)) AS growing
FROM (SELECT id, accumulate(:learner, x, y) OVER (ORDER BY id) AS a FROM points WHERE id <= 30) t;
SELECT bool_and(a::text = (SELECT merge(p.a ORDER BY part)::text FROM parts p
    WHERE p.part <= t.part)) AS merge_frames
FROM (SELECT part, merge(a) OVER (ORDER BY part) AS a FROM parts) t;
-- Hash aggregation, spilled or not.
SET enable_sort = off;
SELECT count(*), bool_and(a = (SELECT accumulate(:learner, x, y)::text FROM points p WHERE p.id % 300 =
    t.g)) AS same
FROM (SELECT id % 300 AS g, accumulate(:learner, x, y)::text AS a FROM points GROUP BY id % 300) t;
SET work_mem = '64kB';
SELECT count(*) AS spilled FROM (SELECT id % 300 AS g, accumulate(:learner, x, y)::text AS a FROM points
    GROUP BY id % 300) t;
RESET work_mem;
RESET enable_sort;

-- Text and binary forms lose nothing; a stored value is the value.
CREATE TABLE stored (part int, a accumulator);
INSERT INTO stored SELECT * FROM parts;
SELECT bool_and(a::text::accumulator::text = a::text) AS text,
    bool_and(a::text ~ '^[A-Za-z0-9+/]+=*$') AS base64 FROM stored;
CREATE TABLE copied (LIKE stored);
\copy stored TO 'accumulators.copy' (FORMAT binary)
\copy copied FROM 'accumulators.copy' (FORMAT binary)
\! rm -f accumulators.copy
SELECT count(*) AS rows, bool_and(s.a::text = c.a::text) AS binary_copy
FROM stored s JOIN copied c USING (part);
SELECT merge(c.a)::text = (SELECT a::text FROM whole) AS merged_again FROM copied c;
SELECT attalign, attstorage FROM pg_attribute WHERE attrelid = 'stored'::regclass AND attname = 'a';
SELECT predict(solve(a, 'ridge(lambda=1)'), '{0.1,0.2}') = predict(solve(a::text::accumulator,
    'ridge(lambda=1)'), '{0.1,0.2}') AS same FROM whole;

-- Several targets.
SELECT predict_vector(m, x) = decision(m, x) AS vector, m = fitted AS as_fitted, near((decision(m, x))[1],
    predict(m1, x), 1e-12) AS first, near((decision(m, x))[2], predict(m2, x), 1e-12) AS second,
    cardinality(decision(m, x)) AS targets
FROM (SELECT solve(accumulate(:learner, x, ARRAY[y, -id]), 'ridge') AS m, solve(accumulate(:learner, x, y),
    'ridge') AS m1,
             solve(accumulate(:learner, x, -id), 'ridge') AS m2,
                 fit('rff(rbf(gamma=1), n_components=20, seed=5) | ridge', x, ARRAY[y, -id]) AS fitted
             FROM points) t, (SELECT '{0.1,0.2}'::float8[] AS x) u;
SELECT whole_error_of($$SELECT predict(solve(accumulate('rff(rbf(gamma=1), 10)', x, ARRAY[y, -id]), 'ridge'),
    '{0.1,0.2}') FROM points$$);

-- Errors.
SELECT whole_error_of($$SELECT accumulate('scale | rff(rbf(gamma=1), 10) | ridge', x, y)
    FROM points$$) AS step_without_constants;
SELECT whole_error_of($$SELECT accumulate('rff(rbf(gamma=scale), 10) | ridge', x, y)
    FROM points$$) AS kernel_without_constants;
SELECT error_of($$SELECT accumulate('svc', x, y) FROM points$$) AS svc;
SELECT error_of($$SELECT accumulate('rff(rbf(gamma=1), 10)', CASE id WHEN 5 THEN '{1,NULL}' ELSE x END, y)
    FROM points$$) AS null_element,
       error_of($$SELECT accumulate('rff(rbf(gamma=1), 10)', CASE id WHEN 5 THEN '{1,NaN}' ELSE x END, y)
           FROM points$$) AS nan,
       error_of($$SELECT accumulate('rff(rbf(gamma=1), 10)', x, CASE id WHEN 5 THEN 'Infinity' ELSE y END)
           FROM points$$) AS infinite_y;
SELECT error_of($$SELECT accumulate('rff(rbf(gamma=1), 10)', CASE id WHEN 5 THEN '{1,2,3}' ELSE x END, y
    ORDER BY id) FROM points$$) AS dimension,
       error_of($$SELECT accumulate('rff(rbf(gamma=1), 10)', x, CASE id WHEN 5 THEN ARRAY[y] ELSE ARRAY[y,
           y] END ORDER BY id) FROM points$$) AS targets,
       error_of($$SELECT accumulate('rff(rbf(gamma=1), 10)', '{}', y) FROM points$$) AS empty;
SELECT error_of($$SELECT accumulate('rff(rbf(gamma=1), 10)', x, y, -1) FROM points$$) AS negative_weight,
       error_of($$SELECT accumulate('rff(rbf(gamma=1), 10)', x, y, 'NaN') FROM points$$) AS nan_weight,
       error_of($$SELECT accumulate(l, x, y) FROM points,
           unnest('{"rff(rbf(gamma=1), 10)","rff(rbf(gamma=2), 10)"}'::learner[]) l$$) AS learner_changes;
SELECT whole_error_of(format($$SELECT a + b FROM (SELECT accumulate('rff(rbf(gamma=1), 10, seed=1)', x,
    y) AS a, accumulate(%L, x, y) AS b FROM points) t$$, l)) AS error
FROM unnest('{"rff(rbf(gamma=1), 10, seed=2)","rff(rbf(gamma=2), 10, seed=1)","rff(rbf(gamma=1), 12, seed=1)"}'::text[]) l;
SELECT error_of($$SELECT a + b FROM (SELECT accumulate('rff(rbf(gamma=1), 10)', x, y) AS a,
    accumulate('rff(rbf(gamma=1), 10)', x || 1.0::float8, y) AS b FROM points) t$$) AS columns;
SELECT whole_error_of($$SELECT p.a - whole.a FROM whole, parts p WHERE part = 1$$) AS more_than_there_is;
SELECT whole_error_of($$SELECT solve(a, 'svc') FROM whole$$) AS estimator, whole_error_of($$SELECT solve(a,
    'rff(rbf(gamma=2), 20, seed=5) | ridge') FROM whole$$) AS other_map;
SELECT error_of($$SELECT ''::accumulator$$) AS empty, error_of($$SELECT 'AAAA'::accumulator$$) AS short,
    error_of($$SELECT '?'::accumulator$$) AS not_base64;
SELECT error_of($$SELECT accumulate('rff(rbf(gamma=1), n_components=20000)', x, y)
    FROM points$$) AS too_large;

SET kernelml.max_memory = '64MB';
SELECT error_of($$SELECT accumulate('rff(rbf(gamma=1), n_components=6000)', x, y) FROM points$$) AS accumulated,
    error_of($$SELECT fit('rff(rbf(gamma=1), n_components=6000) | ridge', x, y) FROM points$$) AS fitted;
RESET kernelml.max_memory;

-- Text of more than one slice, back and forth.
SELECT length(a::text) > 5000000 AS long, (a::text::accumulator)::text = a::text AS same,
    error_of(format('SELECT %L::accumulator', left(a::text, 4194304 - 4) || '====' || right(a::text, 8))) AS padded
FROM (SELECT accumulate('rff(rbf(gamma=1), n_components=1000)', x, y) FROM points) s (a);

-- Any change of a stored byte is an error, never a crash; but for the two of the minor version.
CREATE FUNCTION corrupted(OUT tried bigint, OUT corrupt bigint, OUT answers bigint) LANGUAGE plpgsql AS $$
DECLARE
    bytes bytea;
BEGIN
    tried := 0;
    corrupt := 0;
    answers := 0;
    SELECT decode(accumulate('rff(rbf(gamma=1), 4)', x, y)::text, 'base64') INTO bytes FROM points
    WHERE id <= 5;
    FOR i IN 0..length(bytes) - 1 LOOP
        FOR change IN 1..2 LOOP
            tried := tried + 1;
            BEGIN
                PERFORM solve(translate(encode(CASE change WHEN 1 THEN set_byte(bytes, i, get_byte(bytes,
                    i) # 255) ELSE substr(bytes, 1, i) END,
                                               'base64'), E'\n', '')::accumulator, 'ridge');
                answers := answers + 1;
            EXCEPTION WHEN data_corrupted OR feature_not_supported THEN corrupt := corrupt + 1;
            END;
        END LOOP;
    END LOOP;
END $$;
SELECT tried > 500 AS many, corrupt + answers = tried AS all_told, answers FROM corrupted();

DROP TABLE points, stored, copied;
DROP FUNCTION corrupted;
