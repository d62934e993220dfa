-- Inputs on which other software was caught out, with the right answers.
\i test/helpers.sql

-- A three-way tie of one-vs-one votes goes to the earlier class, whatever the order of rows.  Positive: the
-- second of the pair.
CREATE TEMP TABLE tie (x float8[], label text);
INSERT INTO tie VALUES ('{6,0}', 'a'), ('{4,7}', 'a'), ('{8,1}', 'b'), ('{6,2}', 'b'), ('{2,1}', 'c'),
    ('{3,5}', 'c');
SELECT near(decision(m, '{5,9}'), '{0.375,-3.0,0.4667}', 1e-3) AS pairs, predict_label(m, '{5,9}') AS label,
    predict_label(backwards, '{5,9}') AS backwards
FROM (SELECT fit('svc(linear, tol=1e-6)', x, label) AS m, fit('svc(linear, tol=1e-6)', x, label
    ORDER BY x DESC) AS backwards FROM tie) t;

-- Class weights belong to their class, and the sign does not depend on which label comes first.
CREATE TEMP TABLE three (x float8[], label int);
INSERT INTO three VALUES ('{0}', -1), ('{7}', -1), ('{6}', 1);
SELECT bool_and(near(ARRAY[score(m, '{0}'), score(m, '{7}'), score(m, '{6}'), score(m, '{3}')], ARRAY[-1,
    4 / 3.0, 1, 0], 1e-4)) AS decisions,
       bool_and(near((model_info(m)->>'objective')::float8, 23.3889, 1e-3)) AS objective
FROM (SELECT fit('svc(linear, c=40, class_weight={-1: 0.25, 1: 1}, tol=1e-7)', x, label ORDER BY x) AS m
    FROM three
      UNION ALL SELECT fit('svc(linear, c=40, class_weight={1: 1, -1: 0.25}, tol=1e-7)', x, label
          ORDER BY x DESC) FROM three) t;
SELECT near(ARRAY[score(m, '{0}'), score(m, '{2}'), score(m, '{3}')], '{1.0,-0.8182,-1.7273}',
    1e-3) AS weighted,
       near(ARRAY[score(u, '{0}'), score(u, '{2}'), score(u, '{3}')], '{2,0,-1}', 1e-3) AS unweighted,
           classes(m)
FROM (SELECT fit('svc(linear, c=0.5, class_weight={hi: 3})', x, y) AS m, fit('svc(linear, c=0.5)', x, y) AS u
      FROM (VALUES ('{0}'::float8[], 'lo'), ('{1}', 'lo'), ('{2}', 'lo'), ('{3}', 'hi'), ('{2.2}', 'hi')) v(x,
          y)) t;
SELECT classes(m), near(ARRAY[score(m, '{0}'), score(m, '{2}'), score(m, '{3}')], '{-1.0,0.8182,1.7273}',
    1e-3) AS positive_is_second
FROM (SELECT fit('svc(linear, c=0.5, class_weight={zhi: 3}, tol=1e-6)', x, y) AS m
      FROM (VALUES ('{0}'::float8[], 'lo'), ('{1}', 'lo'), ('{2}', 'lo'), ('{3}', 'zhi'), ('{2.2}',
          'zhi')) v(x, y)) t;

-- gamma=scale: the variance of all entries, so that scaling the features changes nothing; 1 where it is 0 or
-- underflows.
SELECT near(score(m, '{1,20}'), score(m10, '{10,200}'), 1e-5) AS scale_free
FROM (SELECT fit('svc(rbf(gamma=scale), tol=1e-7)', x, y) AS m, fit('svc(rbf(gamma=scale), tol=1e-7)',
    ARRAY[10 * x[1], 10 * x[2]], y) AS m10
      FROM (VALUES ('{0,10}'::float8[], 0), ('{2,10}', 1), ('{4,30}', 0)) v(x, y)) t;
SELECT learner(m) AS constant_rows, abs(score(m, '{3,3}')) < 1e-6 AS zero
FROM (SELECT fit('svc(rbf(gamma=scale))', '{3,3}'::float8[], i % 2) AS m FROM generate_series(0, 3) i) t;
SELECT learner(m) AS underflow, score(m, '{1e-170}') AS a, score(m, '{3e-170}') AS b
FROM (SELECT fit('svc(rbf(gamma=scale))', ARRAY[x], y) AS m FROM (VALUES (1e-170::float8, 0), (3e-170,
1)) v(x, y)) t;
-- gamma=median where most distances are 0: the median of the others.
SELECT learner(fit('krr(rbf(gamma=median))', ARRAY[x], x)) AS median FROM unnest('{1,1,1,1,2}'::int[]) x;
SELECT learner(fit('krr(rbf(gamma=median))', '{3}'::float8[], i)) AS all_equal FROM generate_series(1, 3) i;

-- Values whose products overflow: out of range, nothing infinite in a model.
SELECT v, left(error_of(format('SELECT fit(''svc(linear)'', ARRAY[%s * i], i) FROM unnest(''{-1,1}''::int[]) i', v)), 5) AS svc,
       left(error_of(format('SELECT fit(''krr(linear)'', ARRAY[%s * i], i) FROM unnest(''{-1,1}''::int[]) i',
           v)), 5) AS krr,
       left(error_of(format('SELECT fit(''ridge'', ARRAY[%s * i], i) FROM unnest(''{-1,1}''::int[]) i', v)),
           5) AS ridge,
       left(error_of(format('SELECT fit(''svc(poly(degree=9))'', ARRAY[%s * i], i) FROM unnest(''{-1,1}''::int[]) i', v)), 5) AS poly
FROM unnest('{1e160::float8,1.7e308::float8}'::text[]) v;
SELECT left(error_of($$SELECT fit('krr(poly(degree=200))', ARRAY[i * 1000], i) FROM generate_series(1,
    3) i$$), 5) AS poly_overflows;
SELECT learner(fit('scale', ARRAY[i * 1e308::float8])) AS scale,
       left(error_of($$SELECT fit('minmax', ARRAY[i * 1e308::float8]) FROM unnest('{-1,1}'::int[]) i$$),
           5) AS minmax
FROM unnest('{-1,1}'::int[]) i;

-- A Gram matrix that is the identity, C so large that the margin is hard, an indefinite kernel.
SELECT near(ARRAY[score(m, '{5}'), score(m, '{0}'), score(m, '{20}')], ARRAY[1 / 3.0, 1, -1],
    1e-3) AS identity
FROM (SELECT fit('svc(rbf(gamma=1e6), c=10)', ARRAY[x], y) AS m FROM (VALUES (0, 1), (10, 1), (20, -1)) v(x,
    y)) t;
SELECT c, near(ARRAY[score(m, '{2,2}'), score(m, '{3,3}'), score(m, '{0,0}'), score(m, '{1,0}')],
    '{1,2.2,-1.4,-1}', 1e-3) AS decisions
FROM (SELECT c, fit(format('svc(linear, c=%s)', c)::learner, x, y) AS m
      FROM (VALUES ('{2,2}'::float8[], 1), ('{3,3}', 1), ('{0,0}', -1), ('{1,0}', -1)) v(x, y),
          unnest('{1e3,1e5,1e8,inf}'::text[]) c GROUP BY c) t ORDER BY c;
SELECT model_info(m)->'converged' AS ends, abs(score(m, '{0.5,0.5}')) < 1e6 AS finite
FROM (SELECT fit('svc(sigmoid(gamma=4, coef0=-3), c=10)', x, y) AS m
      FROM (VALUES ('{0.766655,0.682869}'::float8[], 0), ('{0.228259,0.215964}', 1), ('{0.844907,0.622898}',
          0), ('{0.107109,0.237776}', 1), ('{0.5,0.9}', 1), ('{0.3,0.1}', 0)) v(x, y)) t;

-- One class is an error that names it.
SELECT error_of($$SELECT fit('svc', ARRAY[i], false) FROM generate_series(1, 5) i$$) AS bool,
    error_of($$SELECT fit('svc', ARRAY[i], CASE WHEN i > 9 THEN 'x' END) FROM generate_series(1,
    12) i$$) AS text;
-- A class of one row.
SELECT array_agg(predict_label(m, x) ORDER BY x) AS rows, predict_label(m, '{9,1}') AS near_c
FROM (SELECT fit('svc(rbf(gamma=0.1), c=10)', x, y) AS m FROM (VALUES ('{0,0}'::float8[], 'a'), ('{0,1}',
    'a'), ('{5,5}', 'b'), ('{5,6}', 'b'), ('{10,0}', 'c')) v(x, y)) t,
     unnest('{"{0,0}","{0,1}","{5,5}","{5,6}","{10,0}"}'::text[]) x GROUP BY m;
SELECT near(decision(m, '{9,1}'), '{0.0311,0.8141,0.7881}', 1e-3) AS pairs
FROM (SELECT fit('svc(rbf(gamma=0.1), c=10, tol=1e-6)', x, y) AS m FROM (VALUES ('{0,0}'::float8[], 'a'),
    ('{0,1}', 'a'), ('{5,5}', 'b'), ('{5,6}', 'b'), ('{10,0}', 'c')) v(x, y)) t;
-- Text labels, byte for byte; the empty string is a class.
SELECT classes(m), bool_and(predict_label(m, ARRAY[v]) = l) AS returned
FROM (SELECT fit('svc(linear)', ARRAY[v], l) AS m FROM (VALUES (0, 'anger'), (1, 'anger'), (10, ''), (11, ''),
    (20, 'E''O''''Ké è'), (21, 'E''O''''Ké è')) t(v, l)) f,
     (VALUES (0, 'anger'), (11, ''), (20, 'E''O''''Ké è')) t(v, l) GROUP BY m;
-- Labels 1 and 2 stay 1 and 2.
SELECT classes(m), cardinality(decision(m, '{50,60,70}')) AS values, predict(m, '{50,60,70}'::int[]) AS one
FROM (SELECT fit('svc(linear)', x, y) AS m FROM (VALUES ('{1,2,3}'::int[], 1), ('{2,3,4}', 2), ('{3,4,5}', 1),
    ('{4,5,6}', 2), ('{50,60,70}', 1), ('{51,61,71}', 2)) v(x, y)) t;
-- Rare classes are not lost.
SELECT count(*) FILTER (WHERE predict(m, ARRAY[x, y]) = k) AS right, count(DISTINCT predict(m, ARRAY[x,
    y])) AS classes
FROM (SELECT k, 3 * k + i * 37 % 61 / 100.0 - 0.3 AS x, i * 17 % 53 / 100.0 - 0.26 AS y FROM (VALUES (0, 61),
    (1, 91), (2, 9), (3, 9)) c(k, n), generate_series(1, n) i) p,
     (SELECT fit('svc(rbf(gamma=scale))', ARRAY[x, y], k) AS m
      FROM (SELECT k, 3 * k + i * 37 % 61 / 100.0 - 0.3 AS x, i * 17 % 53 / 100.0 - 0.26 AS y FROM (VALUES (0,
          61), (1, 91), (2, 9), (3, 9)) c(k, n), generate_series(1, n) i) p) t;

-- Kernel ridge adds lambda to the diagonal as given.
SELECT near(predict(fit('krr(rbf(gamma=1), lambda=0.1, center=false)', ARRAY[x], y), '{1.5}'), 2.646786,
    1e-6) AS uncentred FROM (VALUES (0, 0), (1, 1), (2, 4)) v(x, y);
-- NaN in the target, from wherever it comes.
SELECT error_of($$SELECT fit('krr', ARRAY[x], y) FROM (VALUES (0, 1::float8), (1, 'NaN'), (2, 3)) v(x,
    y)$$) AS float8, error_of($$SELECT fit('krr', ARRAY[x], y)
FROM (VALUES (0, 1::numeric), (1, 'NaN'), (2, 3)) v(x, y)$$) AS numeric,
       error_of($$SELECT fit('ridge', ARRAY[x], y) FROM (VALUES (0, 1::real), (1, 'Infinity'), (2, 3)) v(x,
           y)$$) AS real;

-- The first label is NULL; all are.
SELECT classes(m), model_info(m)->'n_skipped' AS skipped FROM (SELECT fit('svc(linear)', ARRAY[x], y
    ORDER BY x) AS m FROM (VALUES (0, NULL), (1, 'a'), (2, 'b')) v(x, y)) t;
SELECT fit('svc', ARRAY[1.0], NULL::text) IS NULL AS no_usable_rows;
-- Ten rows: a NULL row, a NULL label, a NULL element; means and scales are of the rows that are trained on.
CREATE TEMP TABLE ten AS SELECT i, CASE i WHEN 3 THEN NULL ELSE ARRAY[i, CASE i WHEN 5 THEN NULL
    ELSE i % 4 END]::float8[] END AS x, CASE i WHEN 7 THEN NULL ELSE i::float8 END AS y
FROM generate_series(1, 10) i;
SELECT error_of('SELECT fit(''scale | krr'', x, y ORDER BY i) FROM ten') AS element;
SELECT learner(fit('scale | krr(rbf(gamma=1))', x, y)) = learner(fit('scale | krr(rbf(gamma=1))', x, y) FILTER
    (WHERE x IS NOT NULL AND y IS NOT NULL)) AS same_constants FROM ten WHERE i <> 5;
SELECT i, predict(m, x) IS NULL AS is_null FROM ten, (SELECT fit('impute(median) | scale | krr', x, y) AS m
    FROM ten) t WHERE i IN (2, 3, 5) ORDER BY i;

-- Nothing in, nothing out; a group of one class spoils the query, and a filter mends it.
SELECT fit('svc', '{1}'::float8[], 1) IS NULL AS empty FROM generate_series(1, 0);
SELECT count(predict(m, '{1}'::float8[])) FROM (SELECT fit('krr', '{1}'::float8[], 1) AS m) t WHERE false;
SELECT error_of($$SELECT min(length(m)) FROM (SELECT g, fit('svc', ARRAY[i], CASE g WHEN 0 THEN i % 2
    ELSE 1 END) AS m FROM generate_series(1, 20) i, generate_series(0, 1) g GROUP BY g) t$$) AS one_class;
SELECT error_of($$SELECT fit('svc', x, y) FROM (VALUES ('{}'::float8[], 0), ('{}', 1)) v(x,
    y)$$) AS no_features;

-- Misspelt names list what there is; options are not ignored.
SELECT whole_error_of($$SELECT fit('svc(rbff)', '{1}'::float8[], 1)$$) ~ 'At character 5: "rbff".*Known: linear, .*rbf, ' AS kernel;
SELECT error_of($$SELECT predict('models.best', '{1}')$$) AS model_name,
    error_of($$SELECT fit('{"kernel": "rbf"}', '{1}'::float8[], 1)$$) AS json,
       error_of($$SELECT predict(fit('krr', '{1}'::float8[], 1), '{"1": 5}'::jsonb)$$) AS sparse;

-- Standardising a constant column leaves the rest as it is.
SELECT near(ARRAY[score(m, '{1,7}'), score(m, '{2,7}'), score(m, '{3,7}'), score(m, '{5,7}')],
    '{-1.0,-0.600011,0.265272,1.0}', 1e-3) AS decisions,
       near(score(m, '{2,7}'), score(without, '{2}'), 1e-3) AS same_without
FROM (SELECT fit('scale | svc(rbf(gamma=0.5))', ARRAY[x, 7], y) AS m, fit('scale | svc(rbf(gamma=0.5))',
    ARRAY[x], y) AS without FROM (VALUES (1, 0), (2, 0), (3, 1), (5, 1)) v(x, y)) t;

-- Dimensions at which 16-bit counters wrap.
SELECT d, model_info(m)->'n_features' AS n_features, predict(m, array_fill(1::float8,
    ARRAY[d])) IS NOT NULL AS predicts
FROM (SELECT d, fit('krr(linear)', array_fill(i::float8, ARRAY[d]), i) AS m
    FROM unnest('{16001,65536}'::int[]) d, generate_series(1, 2) i GROUP BY d) t ORDER BY d;
-- Random features: seeds, an odd number of components, a kernel without a spectrum.
SELECT error_of(format('SELECT fit(%L, ''{1}''::float8[], 1)', l)) AS error
FROM unnest('{"rff(rbf(gamma=1), 3) | ridge","rff(linear, 4) | ridge","rff(rbf(gamma=1) + laplacian(gamma=1), 4) | ridge"}'::text[]) l;
SELECT fit('rff(rbf(gamma=1), 10) | ridge', '{1}'::float8[], 1) = fit('rff(rbf(gamma=1), 10, seed=0) | ridge',
    '{1}'::float8[], 1) AS default_seed_is_0,
       fit('rff(rbf(gamma=1), 10, seed=9007199254740991) | ridge', '{1}'::float8[],
           1) IS NOT NULL AS largest_seed,
       error_of($$SELECT 'rff(rbf, seed=NULL)'::learner$$) AS null_seed;

-- Weights that are no weights.
SELECT error_of($$SELECT fit('krr', ARRAY[i], i, CASE i WHEN 2 THEN -1 ELSE 1 END ORDER BY i)
    FROM generate_series(1, 3) i$$) AS negative,
       error_of($$SELECT fit('krr', ARRAY[i], i, CASE i WHEN 2 THEN 'NaN' ELSE 1::float8 END ORDER BY i)
           FROM generate_series(1, 3) i$$) AS nan,
       error_of($$SELECT fit('krr', ARRAY[i], i, ARRAY[1.0, 2]) FROM generate_series(1, 3) i$$) AS array;

-- Repeated rows without a ridge have no unique solution: an error that asks for one.
SELECT whole_error_of($$SELECT fit('krr(rbf(gamma=1), lambda=0)', ARRAY[x], y) FROM (VALUES (0, 1), (0, 3), (1, 5)) v(x, y)$$);
-- Matérn kernels of a row with itself are 1, whatever nu; a Gaussian process with repeated rows finds its length.
SELECT array_agg(DISTINCT kernel_value(format('matern(nu=%s)', nu)::kernel, '{1,2}', '{1,2}')) AS ones
FROM unnest('{0.5,1.5,2.5,0.7,20}'::text[]) nu;
SELECT nu, model_info(m)->'converged' AS converged,
    (model_info(m)->>'log_marginal_likelihood')::float8 BETWEEN -100 AND 100 AS finite
FROM (SELECT nu, fit(format('gp(1*matern(nu=%s), optimize=true)', nu)::learner, ARRAY[i % 7 / 2.0],
          sin(i % 7 / 2.0) + i / 100.0) AS m
      FROM generate_series(1, 20) i, unnest('{0.5,1.5,2.5}'::text[]) nu GROUP BY nu) f ORDER BY nu;
-- One class; numbers that are no seeds.
SELECT e, error_of(format('SELECT fit(%L, ARRAY[i], false) FROM generate_series(1, 5) i', e)) FROM unnest('{nu_svc,gpc,logistic,linear_svc,ridge_classifier}'::text[]) e;
SELECT seed, error_of(format('SELECT %L::learner', 'rff(rbf, seed=' || seed || ')')) FROM unnest('{-1,0.5,2147483648,9007199254740992,9223372036854775807,18446744073709551616}'::text[]) seed;

-- Real data, every third row held out: as many right, and as many support vectors, as scikit-learn has.
CREATE TEMP TABLE iris (id int, a float8, b float8, c float8, d float8, class text);
\copy iris FROM 'test/data/iris.csv' CSV HEADER
SELECT classes(m), count(*) AS held_out, count(*) FILTER (WHERE predict_label(m, ARRAY[a, b, c, d]) =
    class) AS right, model_info(m)->'n_sv' AS n_sv
FROM iris, (SELECT fit('scale | svc(rbf(gamma=auto), tol=1e-5)', ARRAY[a, b, c, d], class) AS m FROM iris
    WHERE id % 3 <> 0) t
WHERE id % 3 = 0 GROUP BY m;
CREATE TEMP TABLE wine (id int, x1 float8, x2 float8, x3 float8, x4 float8, x5 float8, x6 float8, x7 float8,
    x8 float8, x9 float8, x10 float8, x11 float8,
    x12 float8, x13 float8, class text);
\copy wine FROM 'test/data/wine.csv' CSV HEADER
CREATE TEMP VIEW wines AS SELECT id, ARRAY[x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13] AS x, class
FROM wine;
SELECT classes(m), count(*) AS held_out, count(*) FILTER (WHERE predict_label(m, x) = class) AS right,
    model_info(m)->'n_sv' AS n_sv
FROM wines, (SELECT fit('scale | svc(rbf(gamma=auto), tol=1e-5)', x, class) AS m FROM wines
    WHERE id % 3 <> 0) t
WHERE id % 3 = 0 GROUP BY m;
