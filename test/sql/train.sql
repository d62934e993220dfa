-- train and train_query: passes over tables and queries, equal to fit, safe with any names and any text.
\i test/helpers.sql

CREATE TABLE points AS
    SELECT i AS id, ARRAY[i * 37 % 101 / 50.0 - 1, i * i * 13 % 97 / 48.0 + 7]::float8[] AS x,
        (i * 37 % 101 / 50.0 + i % 7 / 7.0)::float8 AS y, i % 4 AS w, i % 3 = 0 AS sick
    FROM generate_series(1, 1000) i;
INSERT INTO points VALUES (1001, NULL, 1, 1, false), (1002, '{1,2}', NULL, 1, false);
ANALYZE points;

-- The constants of fit, to 1e-12, and then the same sums.
CREATE FUNCTION numbers_of(learner) RETURNS float8[] LANGUAGE sql AS $$
    SELECT array_agg(m[1]::float8 ORDER BY i)
    FROM regexp_matches($1::text, '[-+0-9.]+(?:e[-+]?[0-9]+)?', 'g') WITH ORDINALITY t (m, i) WHERE m[1] ~ '[0-9]'
$$;
SELECT l, near(numbers_of(learner(t)), numbers_of(learner(f)), 1e-12) AS same_constants,
    near(predict(t, '{0.5,7.5}'), predict(f, '{0.5,7.5}'), 1e-9) AS same_prediction,
    model_info(t) - 'learner' = model_info(f) - 'learner' AS same_rows
FROM (SELECT l, train('points', 'x', 'y', l) AS t, (SELECT fit(l, x, y) FROM points) AS f
      FROM unnest('{scale | rff(rbf(gamma=scale)\, 20) | ridge(lambda=0.1),
          minmax | rff(rbf(gamma=median)\, 20) | ridge(lambda=0.1), rff(laplacian\, 20) | ridge, orf(rbf\, 20) | ridge,
          scale | ridge, ridge(lambda=0.1), "rff(rbf(gamma=1), 20) | ridge"}'::learner[]) l) s;
-- Landmarks come from a sample of rows; lambda is chosen from the sums.
SELECT model_info(t) - 'learner' AS landmarks,
    (SELECT avg((y - predict(t, x)) ^ 2) < 1.05 * avg((y - predict(f, x)) ^ 2) FROM points) AS as_good_as_fit
FROM (SELECT train('points', 'x', 'y', l) AS t, (SELECT fit(l, x, y) FROM points) AS f
      FROM (SELECT 'scale | nystroem(rbf(gamma=median), 30) | ridge(lambda=0.01)'::learner) l (l)) s;
SELECT learner(t)::text = learner(f)::text AS same_choice FROM (SELECT train('points', 'x', 'y', l) AS t,
    (SELECT fit(l, x, y) FROM points) AS f
    FROM (SELECT 'rff(rbf(gamma=1), 40) | ridge(lambda=logspace(-3, 3, 7), select=gcv)'::learner) l (l)) s;
-- Weights; rows with a NULL weight are skipped.
SELECT near(numbers_of(learner(t)), numbers_of(learner(f)), 1e-12) AS same_constants, predict(t, '{0.5,7.5}') - predict(f,
    '{0.5,7.5}') < 1e-9 AS same_prediction
FROM (SELECT train_query('SELECT x, y, nullif(w, 3) AS weight FROM points', 'scale | rff(rbf(gamma=scale), 20) | ridge') AS t,
      fit('scale | rff(rbf(gamma=scale), 20) | ridge', x, y, nullif(w, 3)) AS f FROM points) s;
-- Learners that keep rows are fitted by one query; labels of any type; steps alone.
SELECT train('points', 'x', 'y', 'krr(rbf(gamma=1), lambda=0.1)') = fit('krr(rbf(gamma=1), lambda=0.1)', x, y) AS krr,
    train('points', 'x', 'sick', 'svc(rbf(gamma=1))') = fit('svc(rbf(gamma=1))', x, sick) AS svc,
    train_query('SELECT x FROM points WHERE x IS NOT NULL', 'scale') = fit('scale', x) FILTER (WHERE x IS NOT NULL)
        AS steps FROM points;
-- Several passes, several targets; no rows.
SELECT near(predict_vector(train('points', 'x', 'y, w', 'scale | ridge'), '{0,8}'),
    predict_vector(fit('scale | ridge', x, ARRAY[y, w]), '{0,8}'), 1e-12) AS targets FROM points WHERE y IS NOT NULL;
SELECT train_query('SELECT x, y FROM points WHERE false', 'scale | ridge') IS NULL AS no_rows,
    train_query('SELECT x, y FROM points WHERE false', 'ridge') IS NULL AS still_none,
    train_query('SELECT x, y FROM points WHERE false', 'krr(linear)') IS NULL AS nor_kept,
    train_query('SELECT x, NULL::int AS y FROM points', 'scale | ridge') IS NULL AS no_targets;

-- Names: by the rules of SQL, whatever is in them.
CREATE SCHEMA my;
CREATE TABLE my."Mixed Case" ("Y Val" float8, "x-1" int, x2 numeric, flag bool, "from" float8[]);
INSERT INTO my."Mixed Case" SELECT y, id, id % 5, sick, x FROM points WHERE id <= 50;
CREATE TABLE "9Täble; DROP TABLE points --" AS SELECT * FROM my."Mixed Case";
CREATE TEMP TABLE points_here AS SELECT * FROM my."Mixed Case";
CREATE VIEW my.shown AS SELECT * FROM my."Mixed Case";
CREATE TABLE parted (x float8[], "Y" float8, k int) PARTITION BY LIST (k);
CREATE TABLE parted_0 PARTITION OF parted FOR VALUES IN (0);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES IN (1);
INSERT INTO parted SELECT "from", "Y Val", "x-1" % 2 FROM my."Mixed Case";
CREATE TEMP TABLE expected AS SELECT predict(fit('scale | ridge', "from", "Y Val"), '{0,9}') AS arrays,
    predict(fit('scale | ridge', ARRAY["x-1", x2, flag::int], "Y Val"), '{1,2,1}') AS columns FROM my."Mixed Case";
SELECT relation, near(predict(train(relation, '"from"', '"Y Val"', 'scale | ridge'), '{0,9}'), arrays, 1e-12) AS one_column,
    near(predict(train(relation, ' "x-1" , X2, FLAG', '"Y Val"', 'scale | ridge'), '{1,2,1}'), columns, 1e-12) AS several,
    train(relation, 'x2', '"Y Val"', 'ridge') IS NOT NULL AS one_number
FROM expected, unnest('{"my.\"Mixed Case\"", "\"9Täble; DROP TABLE points --\"", points_here, pg_temp.points_here,
    my.shown}'::regclass[]) relation;
SELECT near(predict(train('parted', 'X', '"Y"', 'scale | ridge'), '{0,9}'), arrays, 1e-12) AS partitioned,
    near(predict(train('PARTED', 'x', '"Y"', 'scale | ridge'), '{0,9}'), arrays, 1e-12) AS folded FROM expected;
SELECT whole_error_of($$SELECT train('parted', 'x', 'Y', 'ridge')$$) AS folded,
    whole_error_of($$SELECT train('parted', 'x; DROP TABLE parted', '"Y"', 'ridge')$$) AS injected,
    whole_error_of($$SELECT train('parted', 'x', '"Y" FROM parted; DROP TABLE parted; --', 'ridge')$$) AS again,
    whole_error_of($$SELECT train('parted', '"x"" FROM parted; DROP TABLE parted; --"', '"Y"', 'ridge')$$) AS quoted,
    whole_error_of($$SELECT train('parted; DROP TABLE parted', 'x', '"Y"', 'ridge')$$) AS relation,
    whole_error_of($$SELECT train('parted', '', '"Y"', 'ridge')$$) AS none;

-- One SELECT, which can write nothing.
CREATE FUNCTION erase() RETURNS float8 LANGUAGE plpgsql AS $$ BEGIN DELETE FROM points; RETURN 1; END $$;
CREATE SEQUENCE ticks;
SELECT error_of(format('SELECT train_query(%L, %L)', query, 'ridge')) FROM unnest(ARRAY[
    'SELECT x, y FROM points; DROP TABLE points',
    'SELECT x, y FROM points) q; DROP TABLE points; --',
    'DROP TABLE points',
    'DELETE FROM points RETURNING x, y',
    'WITH gone AS (DELETE FROM points RETURNING x, y) SELECT * FROM gone',
    'SELECT x, erase() AS y FROM points',
    'SELECT x, nextval(''ticks'') AS y FROM points',
    'SELECT x, y INTO copied FROM points',
    'SELECT x, y FROM points FOR UPDATE',
    'COPY points TO STDOUT',
    'SELECT x, $1 AS y FROM points',
    'SELECT x, y FROM nowhere',
    'SELECT x, y, x FROM points',
    'SELECT id, y FROM points',
    'SELECT x FROM points',
    'SELECT id AS x, y FROM points',
    'SELECT x, ''a'' AS y FROM points',
    '', ';', '/*']) query;
SELECT count(*) AS all_there FROM points;
CREATE TABLE writable_again ();
-- What may surround one.
SELECT count(DISTINCT train_query(query, 'scale | ridge')) AS same FROM unnest(ARRAY['SELECT x, y FROM points',
    'SELECT x, y FROM points;', E'/* ; */ SELECT x, y FROM points; -- ) q', '(SELECT y, x FROM points ORDER BY id)',
    'WITH p AS (SELECT x, y FROM points) SELECT * FROM p']) query;

-- The rights of the caller.
CREATE ROLE kernelml_reader;
GRANT SELECT ON my.shown TO kernelml_reader;
GRANT USAGE ON SCHEMA my TO kernelml_reader;
SET ROLE kernelml_reader;
SELECT train('my.shown', '"from"', '"Y Val"', 'scale | ridge') IS NOT NULL AS granted,
    error_of($$SELECT train('points', 'x', 'y', 'scale | ridge')$$) AS refused,
    error_of($$SELECT train_query('SELECT x, y FROM points', 'ridge')$$) AS refused_too;
RESET ROLE;

-- One snapshot: rows that other statements of the same transaction make do not come between the passes, and a
-- function's own changes are seen.
CREATE FUNCTION add_and_train() RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO points VALUES (2000, '{0,0}', 0, 1, false);
    RETURN (model_info(train('points', 'x', 'y', 'scale | ridge')) ->> 'n_rows')::bigint;
END $$;
SELECT add_and_train();

-- What cannot be trained in passes says so.
SELECT whole_error_of($$SELECT train('points', 'x', 'y', 'impute(median) | ridge')$$) AS median,
    whole_error_of($$SELECT train('points', 'x', 'y', 'scale | rff(rbf, 10)')$$) AS no_estimator,
    whole_error_of($$SELECT train_query('SELECT ''{1,NULL}''::float8[] AS x, 1 AS y', 'scale | ridge')$$) AS missing,
    whole_error_of($$SELECT train_query('SELECT ''{1,NaN}''::float8[] AS x, 1 AS y', 'scale | ridge')$$) AS nan,
    whole_error_of($$SELECT train_query('SELECT x, y, -1 AS weight FROM points', 'scale | ridge')$$) AS weight;
-- Errors speak of the arguments of train and the columns of the query, not of the aggregates inside.
CREATE TABLE kinds AS SELECT id, x, y, sick, 'k' || id % 3 AS label, now() AS at, ARRAY[y, w] AS pair FROM points
    WHERE y IS NOT NULL;
SELECT features, target, learner, whole_error_of(format('SELECT train(''kinds'', %L, %L, %L)', features, target, learner))
FROM (VALUES ('x', 'label', 'ridge'), ('x', 'label', 'scale | krr'), ('x', 'sick', 'ridge'), ('x', 'at', 'svc'),
    ('x', 'y, label', 'ridge'), ('x', 'y, pair', 'krr'), ('x', 'y, id', 'svc'), ('x', 'pair', 'svc'),
    ('id, x', 'y', 'ridge'), ('id, label', 'y', 'krr'), ('at', 'y', 'ridge'),
    ('x', 'y', 'scale'), ('x', 'y', 'one_class')) c (features, target, learner);
SELECT columns, learner, whole_error_of(format('SELECT train_query(''SELECT %s FROM kinds'', %L)', columns, learner))
FROM (VALUES ('x', 'ridge'), ('x', 'krr'), ('x', 'svc'), ('x, label AS y', 'ridge'), ('x, y', 'one_class'), ('x, y', 'scale'),
    ('x, y, label AS weight', 'ridge'), ('x, y, sick AS weight', 'krr'), ('x, pair AS y', 'svc'), ('x, ARRAY[label] AS y', 'ridge'),
    ('id AS x, y', 'krr'), ('id AS x, y', 'ridge')) c (columns, learner);
SELECT train('kinds', 'id, sick', 'pair', 'scale | ridge') IS NOT NULL AS arrays_of_targets,
    train('kinds', 'sick', 'label', 'svc') IS NOT NULL AS labels;
DROP TABLE kinds;
SELECT learner(train_query('SELECT x, 1 AS y FROM (VALUES (''{1,NULL}''::float8[]), (''{3,5}'')) v (x)',
    'impute | ridge(lambda=1)'));
SELECT error_of($$SELECT train_survey('ridge', '{1}', 1)$$) AS nothing_to_learn,
    error_of($$SELECT train_survey(NULL, '{1}', 1)$$) AS no_learner,
    train_survey('scale', NULL, 1) IS NULL AND train_survey('scale', '{1}', 0) IS NULL AS no_rows,
    error_of($$SELECT train_survey('scale', x, 1) FROM (VALUES ('{1}'::float8[]), ('{1,2}')) v (x)$$) AS lengths;

-- Parallel plans of the passes give what serial ones give.
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT plan_has($$SELECT train_survey('scale', x, 1) FROM points$$, 'Partial Aggregate') AS survey_is_parallel;
CREATE TEMP TABLE together AS
    SELECT train('points', 'x', 'y', 'scale | rff(rbf(gamma=median), 20) | ridge') AS m;
SET max_parallel_workers_per_gather = 0;
SELECT near(numbers_of(learner(m)), numbers_of(learner(train('points', 'x', 'y', 'scale | rff(rbf(gamma=median), 20) | ridge'))),
    1e-12) AS same FROM together;

DROP OWNED BY kernelml_reader;
DROP ROLE kernelml_reader;
DROP TABLE points, writable_again, parted, "9Täble; DROP TABLE points --";
SET client_min_messages = warning;
DROP SCHEMA my CASCADE;
DROP FUNCTION erase, add_and_train, numbers_of;
DROP SEQUENCE ticks;
