-- Scoring: predict and its forms give the same bits; features of every type; decoding once; where it may
-- stand.
\i test/helpers.sql

CREATE TABLE points AS
    SELECT i AS id, ARRAY[i * 37 % 101 / 50.0 - 1, i * i * 13 % 97 / 48.0 - 1, i % 7 / 7.0]::float8[] AS x,
           (i * 37 % 101 / 50.0 + i % 7 / 7.0)::float8 AS y,
           CASE WHEN i * 37 % 101 > i * i * 13 % 97 THEN 2 ELSE -1 END AS label, (ARRAY['a', 'b', 'c',
               'd'])[i % 4 + 1] AS letter
    FROM generate_series(1, 300) i;
ANALYZE points;
CREATE TABLE models (name text PRIMARY KEY, m bytea NOT NULL);
INSERT INTO models
    SELECT l::text, fit(l, x, label) FROM points,
        unnest('{"svc(rbf(gamma=1))","scale | svc(poly(3))","svc(rbf(length_scale=[1,2,3]) + laplacian(gamma=0.2))"}'::learner[]) l GROUP BY l
    UNION ALL
    SELECT l::text, fit(l, x, y) FROM points,
        unnest('{"krr(matern(nu=2.5))","minmax | krr(cosine + constant)","scale | rff(rbf(gamma=0.5), n_components=30) | ridge",ridge}'::learner[]) l GROUP BY l;
INSERT INTO models SELECT 'number classes', fit('svc(rbf(gamma=1))', x, id % 4) FROM points;

-- predict = predict_batch = predict_w, bit by bit, alone, in any block and on any plan.
CREATE TEMP TABLE single AS SELECT name, id, predict(m, x) AS p FROM models, points;
SELECT name, array_agg(p ORDER BY id) = predict_batch(m, (SELECT array_agg(x ORDER BY id)
    FROM points)) AS batch
FROM single JOIN models USING (name) GROUP BY name, m ORDER BY name COLLATE "C";
SELECT count(*) AS rows, count(*) FILTER (WHERE p <> w) AS differ
FROM (SELECT name, id, predict_w(m, x) OVER (PARTITION BY name) AS w FROM models, points) t JOIN single USING
    (name, id);
SELECT count(*) FILTER (WHERE p <> w) AS differ
FROM (SELECT name, id, predict_w(m, x) OVER () AS w FROM models, points) t JOIN single USING (name, id);
SELECT count(*) FILTER (WHERE p <> w) AS differ
FROM (SELECT name, id, predict_w(m, x::text) OVER (ORDER BY id DESC, name) AS w FROM models, points
    WHERE id < 60) t JOIN single USING (name, id);
SELECT count(*) AS rows, count(*) FILTER (WHERE p <> (predict_batch(m, ARRAY[x]))[1]) AS alone_in_a_batch
FROM single JOIN models USING (name) JOIN points USING (id);
SELECT array_agg(predict(m, x) ORDER BY id) FILTER (WHERE id <= n) = predict_batch(m, array_agg(x
    ORDER BY id) FILTER (WHERE id <= n)) AS same, n
FROM models, points, unnest('{1,2,3,15,16,17,255,256,257}'::int[]) n WHERE name = 'krr(matern(nu=2.5))'
GROUP BY m, n ORDER BY n;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
ALTER TABLE points SET (parallel_workers = 2);
SELECT plan_has('SELECT id, predict((SELECT m FROM models WHERE name = ''ridge''), x) FROM points',
    'Gather') AS gather;
SELECT name, bool_and(same) AS same FROM models, LATERAL (SELECT p = (SELECT predict(models.m, x) FROM points
    WHERE points.id = single.id) AS same
    FROM single WHERE single.name = models.name AND id < 20) t GROUP BY name ORDER BY name COLLATE "C";
CREATE TEMP TABLE in_parallel AS SELECT id, predict((SELECT m FROM models WHERE name = 'krr(matern(nu=2.5))'),
    x) AS p FROM points;
SELECT count(*) FILTER (WHERE a.p <> b.p) AS differ FROM in_parallel a JOIN single b USING (id)
WHERE name = 'krr(matern(nu=2.5))';
RESET ALL;
SET search_path = public, kernelml;

-- A window over no rows, a NULL model or row among others, frames and marks.
SELECT predict_w(m, x) OVER () FROM models, points WHERE false;
SELECT id, predict_w(CASE WHEN id = 2 THEN NULL ELSE m END, CASE WHEN id = 3 THEN NULL ELSE x END) OVER
    (ORDER BY id) IS NULL AS null_out
FROM models, points WHERE name = 'ridge' AND id <= 4;
SELECT count(*) FILTER (WHERE p IS DISTINCT FROM w) AS differ, count(*) > 500 AS over_several_blocks
FROM (SELECT predict(m, x) AS p, predict_w(m, x) OVER (ORDER BY points.id, k ROWS BETWEEN 3 PRECEDING
    AND CURRENT ROW) AS w
      FROM models, points, generate_series(1, 3) k WHERE name = 'ridge') t;

-- Rows of every type.
CREATE DOMAIN features AS float8[];
SELECT bool_and(p = predict(m, '{1,0,2}'::float8[])) AS same FROM models, LATERAL (VALUES
    (predict(m, '{1,0,2}'::real[])), (predict(m, '{1,0,2}'::int[])), (predict(m, '{1,0,2}'::smallint[])),
        (predict(m, '{1,0,2}'::bigint[])),
    (predict(m, '{1,0,2}'::numeric[])), (predict(m, '{1,0,2}'::features)), (predict(m, '{1,0,2}')),
        (predict(m, '{1,0,2}'::text)),
    (predict(m, '{1,0,2}'::varchar)), (predict(m, '[-1:1]={1,0,2}'::float8[])), (predict(m,
        ARRAY[1,0,2]))) v(p);
PREPARE p AS SELECT predict($1, $2) AS p, predict_label($1, $2) AS label, score($1, $2) = (decision($1,
    $2))[1] AS score;
SELECT predict_label(m, '{1,0,2}') AS label FROM models WHERE name = 'svc(rbf(gamma=1))' \gset
SELECT m AS model FROM models WHERE name = 'svc(rbf(gamma=1))' \gset
\set ECHO none
EXECUTE p(:'model', '{1,0,2}');
\set ECHO all
PREPARE typed(bytea, float8[]) AS SELECT count(predict($1, x)) FROM points
WHERE predict($1, x) >= predict($1, $2);
SET plan_cache_mode = force_generic_plan;
\set ECHO none
EXECUTE typed(:'model', '{1,0,2}');
EXECUTE typed(:'model', '{1,0,2}');
\set ECHO all
RESET plan_cache_mode;
DEALLOCATE ALL;

-- NULL, NaN, infinity, dimensions.
SELECT predict(NULL, '{1}'::float8[]) IS NULL AS model, predict(m, NULL::float8[]) IS NULL AS x, predict(m,
    NULL) IS NULL AS untyped,
       predict_label(m, NULL) IS NULL AS label, decision(m, NULL) IS NULL AS decision, predict_batch(m,
           NULL) IS NULL AS batch
FROM models WHERE name = 'svc(rbf(gamma=1))';
SELECT name, predict(m, '{1,NaN,0}') AS predict, score(m, '{1,NaN,0}') AS score, predict_batch(m,
    '{{1,0,0},{NaN,0,0}}') = ARRAY[predict(m, '{1,0,0}'), 'NaN'] AS batch
FROM models WHERE name <> 'number classes' ORDER BY name COLLATE "C";
SELECT predict_label(m, '{1,NaN,0}') IS NULL AS no_label, decision(m, '{1,NaN,0}') FROM models
WHERE name = 'number classes';
SELECT bool_and(predict(m, '{Infinity,0,0}') IS NOT NULL) AS infinity_is_no_error FROM models;
SELECT whole_error_of(format('SELECT %s(m, %L::float8[]) FROM models WHERE name = ''svc(rbf(gamma=1))''', f,
    x)) AS error
FROM unnest('{predict,predict_label,decision,score,transform}'::text[]) f,
    unnest('{"{1,2}","{1,2,3,4}","{1,NULL,3}"}'::text[]) x
WHERE f = 'predict' OR x = '{1,2}';
SELECT error_of(format('SELECT predict(m, %L::float8[]) FROM models', x)) AS error
FROM unnest('{"{}","{{1,2,3}}","{{1},{2},{3}}"}'::text[]) x;
SELECT error_of($$SELECT predict_batch(m, '{{1,2}}') FROM models$$) AS batch,
    error_of($$SELECT predict_batch(m, '{1,2,3}') FROM models$$) AS row;
SELECT whole_error_of($$SELECT predict_batch(m, '{{1,2,3},{1,NULL,3}}') FROM models$$);
SELECT error_of($$SELECT predict_w(m, '{1,2}'::float8[]) OVER () FROM models$$) AS w,
    error_of($$SELECT predict_w(m, '{1,NULL,2}'::float8[]) OVER () FROM models$$) AS w_null;
SELECT error_of($$SELECT predict(m, 'x') FROM models$$) AS text, error_of($$SELECT predict(m,
    '{a,b,c}'::text[]) FROM models$$) AS texts,
       error_of($$SELECT predict(m, 1.5) FROM models$$) AS number;
SELECT predict_batch(m, '{}') FROM models WHERE name = 'ridge';

-- impute fills NULL elements, in every form.
CREATE TEMP TABLE filling AS SELECT fit('impute(mean) | krr(rbf(gamma=1))', x, y) AS m
    FROM (VALUES ('{1,2}'::float8[], 1), ('{3,NULL}', 2), ('{NULL,4}', 3)) v(x, y);
SELECT predict(m, '{NULL,1}'::float8[]) = predict(m, '{2,1}') AS mean, predict(m, '{NULL,1}'::int[]) =
    predict(m, '{2,1}') AS ints,
       predict(m, '{NULL,1}'::numeric[]) = predict(m, '{2,1}') AS numerics, predict(m, '{NULL,1}') =
           predict(m, '{2,1}') AS text,
       predict_batch(m, '{{NULL,1},{1,NULL}}') = ARRAY[predict(m, '{2,1}'), predict(m, '{1,3}')] AS batch,
       predict(m, '{NaN,1}') AS nan_is_not_missing
FROM filling;
SELECT predict_w(m, '{NULL,1}'::float8[]) OVER () = predict(m, '{2,1}') AS w FROM filling;

-- Labels: predict gives numbers and bool as 0 and 1, and an error with a hint for others; exactly 0 is the
-- first class.
SELECT predict(m, '{5}') AS number, predict_label(m, '{5}') AS label, score(m, '{5}') > 0 AS second
FROM (SELECT fit('svc(linear)', x, y) AS m FROM (VALUES ('{-5}'::float8[], 10.50), ('{5}', 20.0)) v(x, y)) t;
SELECT predict(m, '{5}') AS number, predict_label(m, '{5}') AS label
FROM (SELECT fit('svc(linear)', x, y) AS m FROM (VALUES ('{-5}'::float8[], false), ('{5}', true)) v(x, y)) t;
SELECT whole_error_of($$SELECT predict(m, '{5}') FROM (SELECT fit('svc(linear)', x, y) AS m FROM (VALUES
    ('{-5}'::float8[], 'no'), ('{5}', 'yes')) v(x, y)) t$$);
SELECT score(m, '{0}') AS zero, predict_label(m, '{0}') AS first
FROM (SELECT fit('svc(linear)', x, y) AS m FROM (VALUES ('{-5}'::float8[], 'no'), ('{5}', 'yes')) v(x, y)) t;
SELECT predict_label(m, '{5}') AS exact, predict_label(m, '{-5}') AS too, predict(m, '{5}') =
    9007199254740992 AS rounded
FROM (SELECT fit('svc(linear)', x, y) AS m FROM (VALUES ('{-5}'::float8[], 9223372036854775807), ('{5}',
    9007199254740993)) v(x, y)) t;
-- Several classes: a value per pair, positive for the second of the pair; the votes of the pairs decide.
SELECT classes(m), cardinality(decision(m, '{1,0,2}')) AS pairs FROM models WHERE name = 'number classes';
SELECT bool_and(predict_label(m, ARRAY[v]) = l) AS labels, bool_and((d[1] > 0) = (v > 5)) AS ab,
    bool_and((d[2] > 0) = (v > 10)) AS ac, bool_and((d[3] > 0) = (v > 15)) AS bc
FROM (SELECT fit('svc(linear)', ARRAY[v], l) AS m FROM (VALUES (0, 'a'), (10, 'b'), (20, 'c')) t(v, l)) f,
    (VALUES (0, 'a'), (10, 'b'), (20, 'c'), (3, 'a'), (12, 'b'), (17, 'c')) t(v, l),
     decision(m, ARRAY[v]) d;
SELECT whole_error_of($$SELECT score(m, '{1,0,2}') FROM models WHERE name = 'number classes'$$) AS several,
       whole_error_of($$SELECT predict_label(m, '{1,0,2}') FROM models WHERE name = 'ridge'$$) AS regression;

-- transform: what the steps make of a row; a model of steps alone.
SELECT transform(m, '{4,10}') AS scaled, transform(m, '{2,11}'::int[]) AS other
FROM (SELECT fit('scale(mean=[2,10], sd=[2,1])', x) AS m FROM (VALUES ('{1,2}'::float8[])) v(x)) t;
SELECT transform(m, '{10,5}') FROM (SELECT fit('minmax', x) AS m FROM (VALUES ('{0,5}'::float8[]), ('{10,5}'),
    ('{5,5}')) v(x)) t;
SELECT transform(m, '{1,0,2}') AS itself FROM models WHERE name = 'ridge';
SELECT cardinality(transform(m, '{1,0,2}')) AS components, near(sum(v * v), 1, 1e-3) AS length
FROM models, unnest(transform(m, '{1,0,2}')) v
WHERE name ~ 'rff' GROUP BY m;
SELECT whole_error_of($$SELECT predict(fit('scale(mean=[1], sd=[2])', '{3}'::float8[]), '{3}')$$);
SELECT error_of($$SELECT predict_batch(fit('scale(mean=[1], sd=[2])', '{3}'::float8[]), '{{3}}')$$);
-- Random features approximate their kernel: <z(x), z(y)> near k(x, y).
SELECT near(sum(a * b), exp(-1.0), 0.03) AS inner, near(sum(a * a), 1, 1e-3) AS self
FROM (SELECT fit('rff(rbf(gamma=1), n_components=20000)', '{0}'::float8[]) AS m) t, unnest(transform(m,
    '{0}'), transform(m, '{1}')) AS v(a, b);

-- A model is decoded once per call site and value, however many rows there are.
CREATE FUNCTION decoded(statement text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    before bigint := models_decoded();
    sink record;
BEGIN
    EXECUTE statement INTO sink;
    RETURN models_decoded() - before;
END $$;
CREATE TABLE large_models (name text, m bytea);
ALTER TABLE large_models ALTER m SET STORAGE EXTERNAL;
INSERT INTO large_models SELECT 'large ' || l, fit(l, x, y) FROM points,
    unnest('{krr(rbf(gamma=1)),krr(rbf(gamma=2))}'::learner[]) l GROUP BY l;
SELECT bool_and(length(m) > 8000) AS toasted FROM large_models;
SELECT decoded($$SELECT sum(predict(m, x)) FROM models, points WHERE name = 'ridge'$$) AS inline,
       decoded($$SELECT sum(predict(m, x)) FROM large_models, points WHERE name ~ 'gamma=1'$$) AS toasted,
       decoded($$SELECT sum(predict(m, x)) FROM large_models, points$$) AS two_models,
       decoded($$SELECT sum(predict(m, x)) FROM points, large_models WHERE random() < 2$$) AS row_by_row,
       decoded($$SELECT sum(predict((SELECT m FROM large_models WHERE name ~ 'gamma=1'), x))
           FROM points$$) AS subquery,
       decoded($$WITH best AS MATERIALIZED (SELECT m FROM large_models
           WHERE name ~ 'gamma=1') SELECT sum(predict(m, x)) FROM best, points$$) AS cte,
       decoded($$SELECT sum(predict(m, x) + predict(m, x)) FROM models, points WHERE name =
           'ridge'$$) AS two_call_sites,
       decoded($$SELECT sum(p) FROM (SELECT predict_w(m, x) OVER () AS p FROM large_models, points
           WHERE name ~ 'gamma=1') t$$) AS window;
SELECT decoded($$SELECT sum(predict(m, x)) FROM models, points WHERE name !~ 'letter'$$) = (SELECT count(*)
    FROM models) AS each_once,
       decoded($$SELECT sum(p) FROM (SELECT predict(m, x) AS p FROM points, models ORDER BY id, name) t$$) =
           (SELECT count(*) FROM models) AS by_turns;

-- However a model is stored, its answers are the same: in pieces out of line, compressed, or just made.
CREATE TABLE integers AS SELECT id, array_agg((id * j % 17)::float8 ORDER BY j) AS x, sin(id) AS y
FROM generate_series(1, 700) AS id, generate_series(1, 60) AS j GROUP BY id;
CREATE TABLE stored (pieces bytea, compressed bytea);
ALTER TABLE stored ALTER pieces SET STORAGE EXTERNAL;
INSERT INTO stored SELECT m, m FROM (SELECT fit('gp(rbf(gamma=0.001), noise=0.1)', x, y) AS m FROM integers
    WHERE id % 2 = 0 UNION ALL SELECT fit('krr(rbf(gamma=0.001))', x, y) FROM integers) AS fitted;
SELECT bool_and(length(pieces) > 300000) AS long, bool_and(pg_column_size(pieces) = length(pieces)) AS whole,
       bool_or(pg_column_size(compressed) < length(compressed) / 2) AS compressed FROM stored;
SELECT count(*), count(*) FILTER (WHERE predict(pieces, x) = predict(compressed, x)) AS same
FROM stored, integers WHERE id % 7 = 0;
SELECT count(*), count(*) FILTER (WHERE predict_dist(pieces, x) = predict_dist(compressed, x)) AS same
FROM stored, integers WHERE id % 7 = 0 AND learner(pieces)::text ~ 'gp';
WITH made AS MATERIALIZED (SELECT fit('krr(rbf(gamma=0.001))', x, y) AS m FROM integers)
SELECT count(*), count(*) FILTER (WHERE predict(pieces, x) = predict(m, x)) AS same
FROM stored, made, integers WHERE id % 7 = 0 AND learner(pieces)::text ~ 'krr';

-- The model column may change from row to row: each row is scored by its own model.
SELECT count(*) FILTER (WHERE p <> predict(m, x)) AS differ
FROM (SELECT name, id, p FROM single ORDER BY id, name) s JOIN models USING (name) JOIN points USING (id);
-- A changed model is another model, in the same session and statement.
CREATE TABLE current (m bytea);
INSERT INTO current SELECT m FROM models WHERE name = 'ridge';
CREATE FUNCTION scored() RETURNS float8 LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT predict(m, '{1,0,2}')
    FROM current); END $$;
SELECT scored() = predict(m, '{1,0,2}') AS before FROM models WHERE name = 'ridge';
UPDATE current SET m = (SELECT m FROM models WHERE name = 'krr(matern(nu=2.5))');
SELECT scored() = predict(m, '{1,0,2}') AS after FROM models WHERE name = 'krr(matern(nu=2.5))';
-- A PL/pgSQL variable may hold another model each time its expression runs, and a parameter another each
-- time it is bound.
CREATE FUNCTION scored_by(m bytea) RETURNS float8 LANGUAGE plpgsql AS $$ BEGIN RETURN predict(m,
    '{1,0,2}'::float8[]); END $$;
SELECT bool_and(scored_by(m) = predict(m, '{1,0,2}')) AS own_model FROM models;
DO $$
DECLARE
    model bytea;
    label text;
    classes text[];
BEGIN
    FOREACH classes SLICE 1 IN ARRAY '{{a,b},{c,d},{e,f}}'::text[] LOOP
        model := fit('svc(linear)', ARRAY[i], classes[i]) FROM generate_series(1, 2) i;
        label := predict_label(model, '{2}'::int[]);
        IF label <> classes[2] OR classes(model) <> classes THEN
            RAISE 'expected % but got %', classes[2], label;
        END IF;
    END LOOP;
END $$;
PREPARE by_parameter(bytea) AS SELECT predict($1, '{1,0,2}'::float8[]) AS p;
SET plan_cache_mode = force_generic_plan;
\set ECHO none
SELECT format('EXECUTE by_parameter(%L)', m) FROM models WHERE name IN ('svc(rbf(gamma=1))', 'number classes')
    ORDER BY name \gexec
\set ECHO all
RESET plan_cache_mode;
DEALLOCATE by_parameter;
SELECT count(DISTINCT predict(m, '{1,0,2}')) > 100 AS hundreds_of_models
FROM (SELECT i, fit(format('ridge(lambda=%s)', i)::learner, x, y) AS m FROM points, generate_series(1, 150) i
    GROUP BY i) t, generate_series(1, 2);

-- Views, CTE, CASE, WHERE, ORDER BY, DISTINCT, GROUP BY, UPDATE, cursors, read-only transactions.
CREATE VIEW scores AS SELECT id, predict(m, x) AS p, predict_label(m, x) AS label FROM points, models
WHERE name = 'svc(rbf(gamma=1))';
SELECT count(*), count(DISTINCT p), bool_and(p::int::text = label) FROM scores;
WITH m AS (SELECT fit('ridge', x, y) AS m FROM points) SELECT id FROM points, m
WHERE predict(m, x) > 1 ORDER BY predict(m, x) DESC, id LIMIT 3;
SELECT predict(m, x) AS label, count(*) > 0 AS some FROM points, models WHERE name = 'svc(rbf(gamma=1))'
GROUP BY 1 ORDER BY 1;
BEGIN READ ONLY;
DECLARE c SCROLL CURSOR FOR SELECT id, p = predict(m, x) AS same
FROM single JOIN models USING (name) JOIN points USING (id) WHERE name = 'ridge' ORDER BY id;
FETCH 2 FROM c;
FETCH BACKWARD 1 FROM c;
SELECT fit('ridge', x, y) IS NOT NULL AS fitted FROM points;
COMMIT;

-- In an index and a generated column: the model is an inline constant.
\set ECHO none
SELECT format('CREATE TABLE scored_points (id int, x float8[], p float8 GENERATED ALWAYS AS (predict(%L::bytea, x)) STORED)', m) FROM models WHERE name = 'ridge' \gexec
INSERT INTO scored_points SELECT id, x FROM points;
SELECT format('CREATE INDEX ON scored_points (predict(%L::bytea, x))', m) FROM models
WHERE name = 'ridge' \gexec
ANALYZE scored_points;
SET enable_seqscan = off;
SELECT plan_has(format('SELECT FROM scored_points WHERE predict(%L::bytea, x) = 0.5', m),
    'Index Cond') AS index_used FROM models WHERE name = 'ridge';
SELECT count(*) AS found FROM points, models, LATERAL (SELECT 1 FROM scored_points s WHERE s.id = points.id
    AND s.p = predict(m, points.x)) t WHERE name = 'ridge';
SELECT format('SELECT count(*) AS found_by_batch FROM unnest(predict_batch(%1$L::bytea, (SELECT array_agg(x ORDER BY id) FROM points WHERE id <= 50))) v WHERE EXISTS
    (SELECT FROM scored_points WHERE predict(%1$L::bytea, x) = v)', m) FROM models WHERE name = 'ridge'
\gexec
\set ECHO all
RESET enable_seqscan;

-- The planner's cost grows with the model.
CREATE FUNCTION cost_of(statement text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) ' || statement INTO plan;
    RETURN plan->0->'Plan'->>'Total Cost';
END $$;
SELECT cost_of(format('SELECT predict(%L::bytea, x) FROM points',
    large.m)) > cost_of(format('SELECT predict(%L::bytea, x) FROM points', small.m)) AS grows
FROM large_models large, models small WHERE large.name ~ 'gamma=1' AND small.name = 'ridge';

-- A finite row gives no NaN: what overflows on the way is an error; infinity and NaN in give NaN.
SELECT l, whole_error_of(format('SELECT %s(fit(%L, x, %s), ''{%s,1,0}'') FROM points', call, l, y, value)) FROM (VALUES
    ('orf(rbf(gamma=1), 10) | ridge', 'y', 'decision', '1.797e308'), ('rff(rbf(gamma=1), 10) | ridge', 'y', 'transform', '-1.797e308'),
    ('poly_features(3) | ridge', 'y', 'predict', '-1e200'), ('svc(poly(3))', 'label', 'predict_label', '1e200'), ('krr(poly(3))', 'y', 'predict', '-1e200'),
    ('impute | poly_features(3) | logistic', 'label', 'predict_proba', '-1e200'),
    ('rff(rbf(gamma=1), 10) | ridge', 'y', 'transform', '-1e300'), ('impute | poly_features(3) | ridge', 'y', 'predict', 'NULL')) v (l, y, call, value);
SELECT predict(m, '{Infinity,1,0}') AS infinity, predict(m, '{NaN,1,0}') AS nan, whole_error_of(format('SELECT predict_batch(%L, ''{{1,1,0},{1e200,1,0}}'')', m)) AS batch
FROM (SELECT fit('poly_features(3) | ridge', x, y) AS m FROM points) s;

DROP VIEW scores;
DROP TABLE points, models, large_models, current, scored_points;
DROP FUNCTION decoded, scored, scored_by, cost_of;
DROP DOMAIN features;
