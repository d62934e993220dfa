-- The aggregate fit: learners, labels of every type, weights, aggregate syntax, errors in rows.
\i test/helpers.sql

CREATE TABLE points AS
    SELECT i AS id, ARRAY[i * 37 % 101 / 50.0 - 1, i * i * 13 % 97 / 48.0 - 1, i % 7 / 7.0]::float8[] AS x,
           (i * 37 % 101 / 50.0 + i % 7 / 7.0)::float8 AS y,
           CASE WHEN i * 37 % 101 > i * i * 13 % 97 THEN 'up' ELSE 'down' END AS label, i % 3 AS class,
               i % 4 AS w
    FROM generate_series(1, 120) i;
ANALYZE points;

-- Learners resolve what data decides; the resolved learner can be typed again, gives the same model and says
-- so.
CREATE TABLE learners (name text, l learner);
INSERT INTO learners VALUES
    ('svc', 'svc'), ('svc scaled', 'scale | svc(rbf(gamma=auto), c=10)'), ('svc linear', 'svc(linear)'),
    ('svc balanced', 'svc(rbf(gamma=median), class_weight=balanced)'), ('svc poly',
        'minmax | svc(poly(2), c=0.5)');
CREATE TABLE regressions (name text, l learner);
INSERT INTO regressions VALUES
    ('krr', 'krr'), ('krr scaled', 'scale | krr(laplacian, lambda=0.1)'), ('krr loo',
        'krr(rbf(gamma=2), lambda=0.01, loo=true)'),
    ('rff', 'rff(rbf(gamma=1), n_components=40, seed=3) | ridge(lambda=0.1)'),
    ('scaled rff', 'scale | rff(rbf(gamma=scale), n_components=40) | ridge'), ('ridge', 'ridge(lambda=1e-6)'),
    ('orf', 'minmax | orf(rbf(gamma=1), n_components=40, seed=3) | ridge');
CREATE TABLE models AS
    SELECT name, fit(l, x, label) AS m FROM learners, points GROUP BY name
    UNION ALL SELECT name, fit(l, x, y) FROM regressions, points GROUP BY name;
SELECT name, model_info(m)->'n_rows' AS n_rows, model_info(m)->'n_skipped' AS skipped,
    model_info(m)->'n_features' AS d,
       classes(m), model_info(m)->'converged' AS converged
FROM models ORDER BY name COLLATE "C";
SELECT count(*) AS models, count(*) FILTER (WHERE learner(m)::text ~ 'auto|scale\)|median') AS unresolved,
       count(*) FILTER (WHERE learner(m)::text::learner <> learner(m)) AS not_canonical
FROM models;
SELECT name, learner(again) = learner(m) AS learner, near(score(again, '{0.1,0.2,0.3}'), score(m,
    '{0.1,0.2,0.3}'), 1e-9) AS answers
FROM (SELECT name, m, fit(learner(m), x, label) AS again FROM models JOIN learners USING (name), points
    GROUP BY name, m
      UNION ALL SELECT name, m, fit(learner(m), x, y) FROM models JOIN regressions USING (name), points
      GROUP BY name, m) t
ORDER BY name COLLATE "C";

-- Closed forms.  gamma: auto 1/d; scale 1/(d var) with the variance of all entries; median 1/(2 med^2),
-- 1/med for the 1-norm.
CREATE FUNCTION gamma_of(l learner, OUT gamma float8) LANGUAGE sql AS
    $$SELECT (regexp_match(l::text, 'gamma=([0-9.e+-]+)'))[1]::float8$$;
SELECT gamma_of(learner(fit('krr(rbf(gamma=auto))', x, y))) AS auto,
       near(gamma_of(learner(fit('krr(rbf(gamma=scale))', x, y))), 0.005022321428571429, 1e-15) AS scale,
       near(gamma_of(learner(fit('krr(rbf(gamma=scale, dims=[2]))', x, y))), 9 / 800.0, 1e-15) AS scale_dims,
       near(gamma_of(learner(fit('krr(rbf(gamma=median))', x, y))), 1 / (2 * 404.0), 1e-15) AS median,
                -- 4, 404, 416
       near(gamma_of(learner(fit('krr(laplacian(gamma=median))', x, y))), 1 / 22.0, 1e-15) AS median_1,
               -- 2, 22, 24
       near(gamma_of(learner(fit('scale | krr(rbf(gamma=scale))', x, y))), 0.5, 1e-12) AS after_scale
FROM (VALUES ('{0,10}'::float8[], 1), ('{2,10}', 2), ('{4,30}', 3)) v(x, y);
SELECT learner(fit('scale', x)) AS scale, learner(fit('minmax', x)) AS minmax
FROM (VALUES ('{0,10}'::float8[]), ('{2,10}'), ('{4,10}')) v(x);
SELECT learner(fit(l, x))
FROM (VALUES ('{0,10}'::float8[]), ('{2,NULL}'), ('{NULL,10}'), ('{7,40}')) v(x),
     unnest('{impute(mean),impute(median),impute(-1)}'::learner[]) l GROUP BY l ORDER BY l;
-- Ridge with an intercept is least squares at lambda 0; without one it is krr(linear, center=false).
SELECT near(predict(fit('ridge(lambda=0)', x, y), '{10}'), 21, 1e-9) AS line,
       near(predict(fit('ridge(lambda=2)', x, y), '{1}'), 3, 1e-12) AS mean,
                       -- the intercept is not penalised
       near(predict(fit('ridge(lambda=2)', x, y), '{2}'), 4, 1e-12) AS shrunk,           -- slope 4/(2+2)
       near(predict(fit('ridge(lambda=1, intercept=false)', x, y), '{2}'),
            predict(fit('krr(linear, lambda=1, center=false)', x, y), '{2}'), 1e-12) AS dual
FROM (VALUES ('{0}'::float8[], 1), ('{1}', 3), ('{2}', 5)) v(x, y);
-- Leave-one-out of two rows at lambda: each is predicted by the other about the common mean; here K =
-- [[1,k],[k,1]].
SELECT near((model_info(m)->>'loo_mse')::float8, (0.5 + 0.5 * k / 1.5) ^ 2, 1e-12) AS loo_mse,
       near((model_info(m)->>'effective_df')::float8, 2 - 0.5 * 2 * 1.5 / (1.5 * 1.5 - k * k), 1e-12) AS df
FROM (SELECT fit('krr(rbf(gamma=1), lambda=0.5, loo=true)', x, y) AS m, exp(-1.0) AS k
      FROM (VALUES ('{0}'::float8[], 1), ('{1}', 2)) v(x, y)) t;

-- Labels of every type: classes are sorted numerically, in enum order, or bytewise; predict_label prints
-- them as their type does.
CREATE TYPE size AS ENUM ('small', 'medium', 'large', 'XL');
CREATE DOMAIN grade AS int CHECK (VALUE > 0);
CREATE DOMAIN mood AS size;
CREATE TEMP TABLE labels (i int, b bool, i2 int2, i4 int4, i8 int8, f4 float4, f8 float8, n numeric, t text,
    v varchar(20), c char(5),
    e size, g grade, dm mood);
INSERT INTO labels VALUES
    (0, true, 10, -1, 9007199254740993, 0.5, 1e300, 1.0, '', 'b', 'b', 'large', 10, 'XL'),
    (0, true, 10, -1, 9007199254740993, 0.5, 1e300, 1, '', 'b', 'b', 'large', 10, 'XL'),
    (10, false, 9, 2, 9007199254740992, -0.25, -1e300, 12345678901234567890.5, E'O''Ké "è", \\', 'B', 'B',
        'small', 9, 'small'),
    (10, false, 9, 2, 9007199254740992, -0.25, -1e300, 12345678901234567890.50, E'O''Ké "è", \\', 'B', 'B',
        'small', 9, 'small'),
    (20, true, 10, -3, 9223372036854775807, 0.5, 'NaN', 2, 'NULL', 'é', 'c', 'medium', 1, 'medium'),
    (20, true, 10, -3, 9223372036854775807, 0.5, 'NaN', 2, 'NULL', 'é', 'c', 'medium', 1, 'medium');
CREATE FUNCTION label_report(y text) RETURNS TABLE (type text, classes text[], labels text[],
    wrong bigint) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format('WITH model AS (SELECT fit(''svc(rbf(gamma=0.1), c=10)'', ARRAY[i], %1$I) AS m FROM labels)
        SELECT %1$L::text, classes(m), array_agg(DISTINCT predict_label(m, ARRAY[i])),
               count(*) FILTER (WHERE predict_label(m, ARRAY[i])::%2$s IS DISTINCT FROM %1$I)
        FROM labels, model GROUP BY m', y, (SELECT format_type(atttypid, NULL) FROM pg_attribute
        WHERE attrelid = 'labels'::regclass AND attname = y));
END $$;
SELECT type, classes, wrong FROM unnest('{b,i2,i4,i8,f4,n,t,v,c,e,g}'::text[]) y, label_report(y);
SELECT classes(m), predict_label(m, '{20}'), predict_label(m, '{0}')::mood
FROM (SELECT fit('svc(rbf(gamma=0.1), c=10)', ARRAY[i], dm) AS m FROM labels) t;
SELECT error_of($$SELECT fit('svc', ARRAY[i], f8) FROM labels$$);
-- 1 and 1.0, 0 and -0 are one label each; text 'NULL' is a class.
SELECT classes(fit('svc(linear)', ARRAY[i], y)) FROM (VALUES (0, 0.0::float8), (1, '-0'), (5, 1.50), (6,
    1.5)) v(i, y);
SELECT classes(fit('svc(linear)', ARRAY[i], y)) FROM (VALUES (0, 1.0), (1, 1), (5, 2.00), (6, 2.0)) v(i, y);
SELECT classes(m), predict_label(m, '{0.5}') = 'NULL' AS named_null, model_info(m)->'n_skipped' AS skipped
FROM (SELECT fit('svc(linear)', ARRAY[i], y) AS m
      FROM (VALUES (5, NULL), (0, 'NULL'), (1, 'NULL'), (10, 'ok'), (11, 'ok')) v(i, y)) t;
SELECT error_of($$SELECT fit('svc', '{1}'::float8[], now())$$);
SELECT error_of($$SELECT fit('svc', '{1}'::float8[], '{1}'::int[])$$);
SELECT error_of($$SELECT fit('krr', '{1}'::float8[], 'a'::text)$$);
SELECT error_of($$SELECT fit('krr', '{1}'::float8[], true)$$);

-- Weights: a whole number equals repeated rows, 0 drops the row, negative is an error.
CREATE TEMP TABLE repeated AS SELECT p.* FROM points p, generate_series(1, w);
CREATE FUNCTION largest_difference(l learner, target text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
    difference float8;
BEGIN
    EXECUTE format('SELECT max(abs(a - b)) FROM points p,
        (SELECT fit($1, x, %1$I, w) AS weighted FROM points) u, (SELECT fit($1, x, %1$I) AS rows
            FROM repeated) v,
        LATERAL unnest(decision(weighted, x), decision(rows, x)) AS d(a, b)', target) USING l INTO difference;
    RETURN difference;
END $$;
SELECT l, largest_difference(l, 'label') < 1e-4 AS same
FROM unnest('{"svc(rbf(gamma=1), c=5, tol=1e-7)", "scale | svc(rbf(gamma=scale), tol=1e-7)", "minmax | svc(poly(2), tol=1e-7)",
    "svc(rbf(gamma=median), class_weight=balanced, tol=1e-7)"}'::learner[]) l;
SELECT l, largest_difference(l, 'y') < 1e-9 AS same
FROM unnest('{"krr(rbf(gamma=1), lambda=0.1)", "scale | krr(rbf(gamma=scale))", "krr(laplacian(gamma=median), center=false)",
    "rff(rbf(gamma=1), n_components=50) | ridge",
        "scale | rff(rbf(gamma=scale), n_components=50) | ridge(lambda=0.1)",
    "ridge(lambda=0.1)", "ridge(intercept=false)"}'::learner[]) l;
-- The constants that data decides agree to the bit.
SELECT l, learner(weighted) = learner(rows) AS constants
FROM (SELECT l, fit(l, x, y, w) AS weighted FROM points, unnest('{"scale | krr","krr(laplacian(gamma=median))",
    "minmax | krr(rbf(gamma=median))","impute(median) | krr(linear)","impute(mean) | scale | ridge"}'::learner[]) l GROUP BY l) u
JOIN (SELECT l, fit(l, x, y) AS rows FROM repeated, unnest('{"scale | krr","krr(laplacian(gamma=median))",
    "minmax | krr(rbf(gamma=median))","impute(median) | krr(linear)","impute(mean) | scale | ridge"}'::learner[]) l GROUP BY l) v
    USING (l) ORDER BY l;
SELECT near(transform(weighted, '{1,2,3}'), transform(rows, '{1,2,3}'), 1e-9) AS scale_constants
FROM (SELECT fit('scale | ridge', x, y, w) AS weighted FROM points) u, (SELECT fit('scale | ridge', x,
    y) AS rows FROM repeated) v;
SELECT near(score(weighted, '{1,2}'), -0.787417, 1e-3) AS a, near(score(weighted, '{2.5,0.5}'), 1.014752,
    1e-3) AS b,
       near(score(plain, '{1,2}'), -0.772621, 1e-3) AS c, near(score(plain, '{2.5,0.5}'), 1.021690, 1e-3) AS d
FROM (SELECT fit('svc(rbf(gamma=0.5))', x, y, w) AS weighted, fit('svc(rbf(gamma=0.5))', x, y) AS plain
      FROM (VALUES ('{0,0}'::float8[], 0, 1), ('{1,1}', 0, 2), ('{2,0}', 1, 1), ('{3,1}', 1, 3), ('{0,2}', 0,
          1), ('{3,3}', 1, 1)) v(x, y, w)) t;
SELECT fit('krr(rbf(gamma=1))', x, y, w::float8) = fit('krr(rbf(gamma=1))', x, y, w::float8) FILTER
    (WHERE w > 0) AS zero_weights_drop_rows,
       fit('krr(rbf(gamma=1))', x, y, 1) = fit('krr(rbf(gamma=1))', x, y) AS weight_one,
       fit('krr(rbf(gamma=1))', x, y, 0) IS NULL AS nothing_left FROM points;
SELECT l, error_of(format('SELECT fit(%L, x, y, CASE id WHEN 7 THEN %s ELSE 1::float8 END ORDER BY id) FROM points', l, w)) AS error
FROM unnest('{-1,''NaN'',''Infinity''}'::text[]) w,
    unnest('{krr,"rff(rbf(gamma=1), 10) | ridge"}'::learner[]) l;

-- NULL rows are skipped and counted; no usable row gives NULL.
SELECT model_info(fit(l, x, y))->'n_rows' AS n_rows, model_info(fit(l, x, y))->'n_skipped' AS skipped,
       model_info(fit(l, x, y, w))->'n_skipped' AS with_weights
FROM (VALUES ('{1}'::float8[], 1.0, 1.0), (NULL, 2, 1), ('{3}', NULL, 1), ('{4}', 4, NULL), ('{5}', 5,
    1)) v(x, y, w),
     unnest('{krr(rbf(gamma=1)),"rff(rbf(gamma=1), 10) | ridge"}'::learner[]) l GROUP BY l;
SELECT fit('krr', x, y) IS NULL AS no_rows, fit('scale', x) IS NULL AS steps FROM points WHERE false;
SELECT fit('krr', NULL::float8[], y) IS NULL AS null_x, fit('krr', x, NULL::float8) IS NULL AS null_y,
       fit('rff(rbf(gamma=1), 10) | ridge', x, NULL::float8) IS NULL AS streaming FROM points;

-- Errors in rows are kept until the group's end, and name the row and the element.
SELECT l, e, whole_error_of(format('SELECT fit(%L, CASE id WHEN 5 THEN %L::float8[] ELSE x END, y ORDER BY id) FROM points', l, e)) AS error
FROM unnest('{krr,"rff(rbf(gamma=1), 10) | ridge"}'::learner[]) l,
     unnest('{"{1,NULL,3}","{1,2,NaN}","{-Infinity,2,3}","{1,2}","{1,2,3,4}"}'::text[]) e;
SELECT error_of($$SELECT fit('krr', x, CASE id WHEN 9 THEN 'NaN' ELSE y END ORDER BY id) FROM points$$);
SELECT error_of($$SELECT fit('rff(rbf(gamma=1), 10) | ridge', x, CASE id WHEN 9 THEN 'Infinity' ELSE y END
    ORDER BY id) FROM points$$);
SELECT error_of($$SELECT fit('krr', '{{1,2}}'::float8[], 1)$$);
SELECT error_of($$SELECT fit('krr', '{}'::float8[], 1)$$);
SELECT error_of($$SELECT fit(l, x, y) FROM points, unnest('{krr,ridge}'::learner[]) l$$);
SELECT error_of($$SELECT fit(NULL::learner, x, y) FROM points$$);
SELECT error_of($$SELECT fit('svc', x) FROM points$$);
SELECT error_of($$SELECT fit('scale', x, y) FROM points$$);
SELECT whole_error_of($$SELECT fit('svc', x, 'one'::text) FROM points$$);
SELECT whole_error_of($$SELECT fit('svc(rbf, class_weight={up: 2, sideways: 3})', x, label) FROM points$$);
SELECT error_of($$SELECT fit('krr(rbf, lambda=grid(0.1, 1))', x, y) FROM points$$);
SELECT error_of($$SELECT fit('svc(rbf(length_scale=[1,2]))', x, label) FROM points$$);
SELECT error_of($$SELECT fit('svc(linear(dims=[4]))', x, label) FROM points$$);
SELECT error_of($$SELECT fit('impute(values=[1,2]) | krr', x, y) FROM points$$);
SELECT whole_error_of($$SELECT fit('krr(rbf(gamma=1), lambda=0)', x, y) FROM (VALUES ('{0}'::float8[], 1),
    ('{0}', 3), ('{1}', 5)) v(x, y)$$);

-- Several targets: each is fitted as it would be alone.
SELECT l, near(predict_vector(m, '{0.1,0.2,0.3}'), ARRAY[predict(first, '{0.1,0.2,0.3}'), predict(second,
    '{0.1,0.2,0.3}')], 1e-10) AS each_alone,
       predict_vector(m, '{0.1,0.2,0.3}'::real[]) IS NOT NULL AS other_type, predict_vector(first,
           '{0.1,0.2,0.3}') = ARRAY[predict(first, '{0.1,0.2,0.3}')] AS single
FROM (SELECT l, fit(l, x, ARRAY[y, id]) AS m, fit(l, x, y) AS first, fit(l, x, id) AS second
      FROM points, unnest('{krr,"scale | krr(laplacian, center=false)",ridge,"rff(rbf(gamma=1), 20) | ridge","scale | rff(rbf(gamma=scale), 20) | ridge"}'::learner[]) l GROUP BY l) t;
SELECT fit('krr', x, ARRAY[y, id] ORDER BY id) = fit('krr', x, ARRAY[y, id] ORDER BY id DESC) AS any_order,
       fit('krr', x, ARRAY[id, class]) = fit('krr', x, ARRAY[id, class]::numeric[]) AS any_type FROM points;
SELECT error_of($$SELECT fit('krr', x, CASE id WHEN 9 THEN ARRAY[y, NULL] ELSE ARRAY[y, y] END ORDER BY id)
    FROM points$$) AS null_element,
       error_of($$SELECT fit('krr', x, CASE id WHEN 9 THEN ARRAY[y, 'NaN'] ELSE ARRAY[y, y] END ORDER BY id)
           FROM points$$) AS nan;
SELECT error_of($$SELECT fit('krr', x, CASE id WHEN 9 THEN ARRAY[y] ELSE ARRAY[y, y] END ORDER BY id)
    FROM points$$) AS fewer,
       error_of($$SELECT fit('rff(rbf(gamma=1), 20) | ridge', x, CASE id WHEN 9 THEN ARRAY[y, y, y]
           ELSE ARRAY[y, y] END ORDER BY id) FROM points$$) AS more,
       error_of($$SELECT fit('krr', x, '{}'::float8[]) FROM points$$) AS none, error_of($$SELECT fit('krr', x,
           ARRAY[label]) FROM points$$) AS texts;
SELECT whole_error_of($$SELECT predict(fit('krr', x, ARRAY[y, id]), '{1,2,3}') FROM points$$) AS predict,
       whole_error_of($$SELECT predict_vector(fit('svc(rbf(gamma=1))', x, label), '{1,2,3}')
           FROM points$$) AS labels;

-- x as text, as other arrays, untyped.
SELECT bool_and(m = (SELECT fit('krr(rbf(gamma=1))', '{1,2}'::float8[], 3))) AS same
FROM (SELECT fit('krr(rbf(gamma=1))', '{1,2}', 3) UNION ALL SELECT fit('krr(rbf(gamma=1))', '{1,2}'::text, 3)
      UNION ALL SELECT fit('krr(rbf(gamma=1))', '{1,2}'::int[], 3)
          UNION ALL SELECT fit('krr(rbf(gamma=1))', '{1,2}'::numeric[], 3.0)
      UNION ALL SELECT fit('krr(rbf(gamma=1))', '{1,2}'::real[], 3::real)
          UNION ALL SELECT fit('krr(rbf(gamma=1))', '[3:4]={1,2}'::float8[], 3)) t(m);

-- A model per group; ROLLUP, FILTER, DISTINCT, moving frames, HAVING, CTE: the same bytes as fitting those
-- rows alone.
SELECT count(*) AS groups, bool_and(m = (SELECT fit('svc', x, label) FROM points p WHERE p.class =
    g.class)) AS same
FROM (SELECT class, fit('svc', x, label) AS m FROM points GROUP BY class) g;
SELECT class, m = (SELECT fit('krr', x, y) FROM points p WHERE p.class = g.class OR g.class IS NULL) AS same
FROM (SELECT class, fit('krr', x, y) AS m FROM points GROUP BY ROLLUP (class)) g ORDER BY class;
SELECT fit('krr', x, y) FILTER (WHERE class = 1) = (SELECT fit('krr', x, y) FROM points WHERE class =
    1) AS filter,
       fit('krr', x, y ORDER BY random()) = fit('krr', x, y ORDER BY id DESC) AS any_order FROM points;
SELECT fit(DISTINCT 'krr(rbf(gamma=1))'::learner, x, y) = (SELECT fit('krr(rbf(gamma=1))', x, y)
    FROM points) AS distinct_rows
FROM (SELECT * FROM points UNION ALL SELECT * FROM points) twice;
SELECT l, bool_and(m = (SELECT fit(l, x, y) FROM points p WHERE p.id BETWEEN w.id - 9
    AND w.id)) AS moving_frames
FROM (SELECT l, id, fit(l, x, y) OVER (PARTITION BY l ORDER BY id ROWS 9 PRECEDING) AS m
      FROM points, unnest('{"krr(rbf(gamma=1))","rff(rbf(gamma=1), n_components=10) | ridge","scale | ridge"}'::learner[]) l WHERE id <= 40) w
GROUP BY l;
SELECT l, bool_and(m = (SELECT fit(l, x, y) FROM points p WHERE p.id <= w.id)) AS growing_frames
FROM (SELECT l, id, fit(l, x, y) OVER (PARTITION BY l ORDER BY id) AS m
      FROM points, unnest('{"krr(rbf(gamma=1))","rff(rbf(gamma=1), n_components=10) | ridge"}'::learner[]) l
      WHERE id <= 40) w
GROUP BY l;
SELECT count(*), count(m) AS models FROM (SELECT id % 2 AS g, fit('svc', x, label) AS m FROM points
    GROUP BY id % 2 HAVING count(*) > 5) t;

-- Determinism: the same bytes for shuffled rows, on serial and parallel plans, in any session.
CREATE TEMP TABLE orders AS
    SELECT l, fit(l, x, label ORDER BY id) AS forward, fit(l, x, label ORDER BY md5(id::text)) AS shuffled,
        fit(l, x, label) AS scan
    FROM learners, points GROUP BY l;
INSERT INTO orders SELECT l, fit(l, x, y ORDER BY id), fit(l, x, y ORDER BY md5(id::text)), fit(l, x, y)
FROM regressions, points GROUP BY l;
SELECT l, forward = shuffled AS shuffled, forward = scan AS scan FROM orders ORDER BY l;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
CREATE TABLE many AS SELECT points.*, k FROM points, generate_series(1, 200) k;
ANALYZE many;
SELECT plan_has($$SELECT fit('svc', x, label) FROM many WHERE k = 7$$, 'Gather') AS gather;
CREATE TEMP TABLE parallel AS SELECT (SELECT fit('svc', x, label) FROM many WHERE k = 7) AS svc,
    (SELECT fit('krr', x, y) FROM many WHERE k = 7) AS krr,
    (SELECT fit('rff(rbf(gamma=1), n_components=40, seed=3) | ridge(lambda=0.1)', x, y) FROM many WHERE k =
        7) AS rff;
SELECT svc = (SELECT m FROM models WHERE name = 'svc') AS svc, krr = (SELECT m FROM models WHERE name =
    'krr') AS krr,
       rff = (SELECT m FROM models WHERE name = 'rff') AS rff FROM parallel;
RESET ALL;
SET search_path = public, kernelml;
\c -
\i test/helpers.sql
SELECT setseed(0.1), random() < 2;
SELECT name, m = fit(l, x, y) AS same FROM models JOIN regressions USING (name), points
GROUP BY name, m ORDER BY name COLLATE "C";
SELECT fit('rff(rbf(gamma=1), 10, seed=1) | ridge', x, y) <> fit('rff(rbf(gamma=1), 10, seed=2) | ridge', x,
    y) AS seeds_matter FROM points;

-- An error in one call leaves nothing behind for the next; learners may be mixed in one query.
DO $$
DECLARE
    expected bytea := (SELECT fit('svc', x, label) FROM points);
BEGIN
    FOR i IN 1..20 LOOP
        BEGIN
            PERFORM fit('svc', CASE id WHEN 90 THEN '{NaN,1,2}' ELSE x END, label) FROM points;
            RAISE 'no error';
        EXCEPTION WHEN invalid_parameter_value THEN
            IF expected <> (SELECT fit('svc', x, label) FROM points) THEN
                RAISE 'not the same model after an error';
            END IF;
        END;
    END LOOP;
END $$;
SELECT fit('svc', x, label) = (SELECT m FROM models WHERE name = 'svc') AS svc, fit('krr', x, y) = (SELECT m
    FROM models WHERE name = 'krr') AS krr,
       fit('svc(linear)', x, label) = (SELECT m FROM models WHERE name = 'svc linear') AS linear FROM points;

-- Limits: iterations, memory.
SET client_min_messages = warning;
-- One step of x = -1, 1, 2 with labels -, +, -: alpha = 2 for the close pair, f(x) = -2 x + b, the largest
-- violation is 3 - (-3).
SELECT model_info(fit('svc(linear, c=8, max_iter=1)', ARRAY[x], y))->'converged' AS converged
FROM (VALUES (-1, -1), (1, 1), (2, -1)) v(x, y);
SET kernelml.max_memory = '4MB';
SELECT whole_error_of($$SELECT fit('krr(rbf(gamma=1))', ARRAY[i, i % 9], i) FROM generate_series(1,
    3000) i$$);
SELECT whole_error_of($$SELECT fit('krr(rbf(gamma=1))', array_fill(i::float8, '{1000}'), i)
    FROM generate_series(1, 3000) i$$);
SELECT whole_error_of($$SELECT fit('rff(rbf(gamma=1), n_components=1000) | ridge', ARRAY[i], i)
    FROM generate_series(1, 10) i$$);
-- A support vector machine recomputes rows of K instead: all of it would take 36 MB.
SET kernelml.max_memory = '16MB';
SELECT avg((predict(m, ARRAY[i % 100 / 10.0, i / 100 / 3.0]) =
    (i % 100 > i / 100 * 3)::int)::int) > 0.95 AS good
FROM (SELECT fit('svc(rbf(gamma=0.1), c=10)', ARRAY[i % 100 / 10.0, i / 100 / 3.0],
    (i % 100 > i / 100 * 3)::int) AS m
      FROM generate_series(0, 2999) i) t, generate_series(0, 2999, 7) i;
RESET kernelml.max_memory;
SELECT left(error_of($$SET kernelml.max_memory = 0$$), 76) AS error;    -- servers go on in different ways

-- The bytes of a model do not depend on how its learner was spelt.
SELECT fit('svc(rbf(gamma=1))', x, label) = fit('svc(rbf(gamma=1.0), c=1, seed=0, multiclass=ovo, tol=1e-3)', x, label) AS svc,
    fit('svr(rbf(gamma=1))', x, y) = fit('svr(rbf(gamma=1.0), c=1, epsilon=1e-1, tol=1e-3)', x, y) AS svr,
    fit('krr(rbf(gamma=1))', x, y) = fit('krr(rbf(gamma=1.0), lambda=1, center=true)', x, y) AS krr FROM points;

-- Toasted and compressed rows.
CREATE TABLE wide AS SELECT i AS id, array_agg(((i * j) % 7)::float8 ORDER BY j) AS x, i % 2 AS y
FROM generate_series(1, 12) i, generate_series(1, 3000) j GROUP BY i;
CREATE TABLE wide_external (LIKE wide);
ALTER TABLE wide_external ALTER x SET STORAGE EXTERNAL;
INSERT INTO wide_external SELECT * FROM wide;
SELECT fit('svc(linear)', x, y) = (SELECT fit('svc(linear)', x, y) FROM wide_external) AS same,
       fit('svc(linear)', x, y) = (SELECT fit('svc(linear)', array_agg, y) FROM (SELECT i,
           array_agg(((i * j) % 7)::float8 ORDER BY j), i % 2 AS y
                                   FROM generate_series(1, 12) i, generate_series(1, 3000) j
                                   GROUP BY i) t) AS inlined FROM wide;

-- Many small groups.
SELECT count(*) AS groups, count(DISTINCT m) AS models FROM
    (SELECT i % 5000 AS g, fit('krr(rbf(gamma=1))', ARRAY[i % 7], i % 3) AS m FROM generate_series(1, 20000) i
        GROUP BY g) t;

DROP TABLE points, many, learners, regressions, models, wide, wide_external;
DROP FUNCTION gamma_of, largest_difference, label_report;
DROP DOMAIN grade, mood;
DROP TYPE size;
