-- Support vector machines beside svc: nu_svc, svr, nu_svr, one_class; one against the rest; precomputed
-- kernels.
\i test/helpers.sql

CREATE TEMP TABLE plane AS
    SELECT i, ARRAY[sin(i * 1.3), cos(i * 2.1)] AS x, sin(i * 1.3) > 0.3 * cos(i * 5.0) AS label,
        sin(i * 1.3) + 0.2 * cos(i * 7.0) AS y, chr(97 + i % 3) AS class
    FROM generate_series(1, 90) AS i;

-- Each learner as it prints, and what model_info says of it.
SELECT learner, info ? 'epsilon' AS tube, info->'converged' AS converged,
    (info->>'n_sv')::int BETWEEN 1 AND 90 AS support
FROM (SELECT learner(m) AS learner, model_info(m) AS info FROM (
    SELECT fit('nu_svc(rbf(gamma=1))', x, label) AS m FROM plane
    UNION ALL SELECT fit('svr(rbf(gamma=1))', x, y) FROM plane
    UNION ALL SELECT fit('nu_svr(rbf(gamma=1))', x, y) FROM plane
    UNION ALL SELECT fit('one_class(rbf(gamma=1))', x) FROM plane
    UNION ALL SELECT fit('svc(rbf(gamma=1), multiclass=ovr)', x, class) FROM plane) AS models) AS infos;

-- The same bytes whatever the order of rows.
SELECT learner, fit(learner, x, y ORDER BY i) = fit(learner, x, y ORDER BY i DESC) AS same
FROM plane, unnest(ARRAY['svr', 'nu_svr']::learner[]) AS learner GROUP BY learner ORDER BY learner;
SELECT fit('nu_svc', x, label ORDER BY i) = fit('nu_svc', x, label ORDER BY i DESC) AS nu_svc,
    fit('one_class', x ORDER BY i) = fit('one_class', x ORDER BY i DESC) AS one_class FROM plane;

-- One against the rest: a value for each class, the largest is the answer.
SELECT array_length(decision(m, '{0.5,0.5}'), 1) AS values,
    (SELECT bool_and(predict_label(m, x) = (classes(m))[(SELECT o FROM unnest(decision(m, x))
        WITH ORDINALITY AS d(v, o) ORDER BY v DESC LIMIT 1)]) FROM plane) AS largest
FROM (SELECT fit('svc(rbf(gamma=1), multiclass=ovr)', x, class) AS m FROM plane) AS t;

-- Six rows that keep other software busy for ever (scikit-learn 13075).
SET statement_timeout = '10s';
SELECT model_info(fit('nu_svc(poly(degree=3, gamma=0.3333333333333333, coef0=10), nu=0.2857142857142857)',
    x, y))->'converged' AS converged
FROM (VALUES ('{0,.3,1}'::float8[], false), ('{1,0,.6}', true), ('{0,.3,.99}', true), ('{.6,1,.4}', false),
    ('{1,0,.55}', true), ('{0,.31,1}', false)) AS v(x, y);
RESET statement_timeout;

-- nu that no solution has is refused before any work (scikit-learn 33478, opencv 25812).
CREATE TEMP TABLE skewed AS
    SELECT ARRAY[i]::float8[] AS x, 0 AS y FROM generate_series(0, 8) AS i UNION ALL SELECT '{20}', 1;
SELECT nu, whole_error_of(format('SELECT fit(''nu_svc(linear, nu=%s)'', x, y) FROM skewed', nu)) AS error
FROM unnest(ARRAY[0.19, 0.2, 0.2000001, 0.3]) AS nu;
SET statement_timeout = '1s';
SELECT error_of($$SELECT fit('nu_svc(nu=0.3)', ARRAY[i], i % 10 = 0) FROM generate_series(1, 20000) AS i$$);
RESET statement_timeout;
-- An option that would be ignored is refused.
SELECT error_of($$SELECT fit('nu_svc(class_weight=balanced)', x, label) FROM plane$$);

-- one_class: +1 and -1, values of LIBSVM's scaling (stata-svmachines 13).
CREATE TEMP TABLE ten AS SELECT x FROM (VALUES ('{0,0}'::float8[]), ('{1,0}'), ('{0,1}'), ('{1,1}'),
    ('{.5,.5}'), ('{.2,.8}'), ('{.9,.3}'), ('{.4,.1}'), ('{.6,.9}'), ('{5,5}')) AS v(x);
SELECT near(score(m, '{.5,.6}'), 0.158822, 1e-3) AS inside,
    near(score(m, '{10,10}'), -0.784368, 1e-3) AS outside,
    predict(m, '{.5,.6}') AS inlier, predict(m, '{10,10}') AS outlier, predict(m, '{NaN,0}') AS nan,
    (SELECT count(*) FROM ten WHERE score(m, x) < -1e-6) <= 2 AS share
FROM (SELECT fit('one_class(rbf(gamma=0.5), nu=0.2)', x) AS m FROM ten) AS t;
-- The boundary is inside (scikit-learn 4195), and there are no probabilities of it (libsvm 210).
SELECT nu, array_agg(predict(m, x)) AS labels, near(max(score(m, x)), nu * 0.0099, 2e-6) AS middle
FROM (SELECT nu, fit(format('one_class(rbf(gamma=0.3333333333333333), nu=%s)', nu)::learner, x) AS m
    FROM (VALUES ('{2,1,4.0}'::float8[]), ('{2,1,4.1}'), ('{2,1,4.2}')) AS v(x),
        unnest('{0.02,0.03}'::float8[]) AS nu GROUP BY nu) AS t,
    (VALUES ('{2,1,4.0}'::float8[]), ('{2,1,4.1}'), ('{2,1,4.2}')) AS v(x) GROUP BY nu ORDER BY nu;
SELECT error_of($$SELECT fit('one_class(probability=true)', x) FROM ten$$);
SELECT error_of($$SELECT predict_proba(fit('one_class', x), '{0,0}') FROM ten$$);

-- svr: a tube wider than the targets (mljs/libsvm 14), kept and read again.
CREATE TEMP TABLE kept AS SELECT fit('svr(rbf(gamma=0.5), epsilon=0.1)', ARRAY[x], y) AS m
    FROM (VALUES (0, 1.0), (1, 1.02), (2, 1.05), (3, 1.08), (4, 1.1)) AS v(x, y);
SELECT model_info(m)->'n_sv' AS n_sv, predict(m, '{0}'), predict(m, '{2.5}'), predict(m, '{99}') FROM kept;
-- Within epsilon of the identity (scikit-learn 7862).
SELECT epsilon, max(abs(predict(m, ARRAY[x]) - x)) <= epsilon + 1e-3 AS within
FROM (SELECT epsilon, fit(format('svr(rbf(gamma=0.01), c=1e4, epsilon=%s)', epsilon)::learner,
        ARRAY[i * 0.05], i * 0.05) AS m
    FROM generate_series(0, 20) AS i, unnest('{0.1,0.001}'::float8[]) AS epsilon GROUP BY epsilon) AS t,
    LATERAL (SELECT i * 0.05 AS x FROM generate_series(0, 20) AS i) AS rows GROUP BY epsilon ORDER BY epsilon;
-- Errors are in the units of y (R-help, 2010).
CREATE TEMP TABLE line AS SELECT * FROM (VALUES (0, 100), (1, 180), (2, 290), (3, 405), (4, 500),
    (5, 610)) AS v(x, y);
SELECT array_agg(round(predict(m, ARRAY[x])::numeric, 6) ORDER BY x) AS predictions,
    round(avg((predict(m, ARRAY[x]) - y) ^ 2)::numeric, 3) AS mse
FROM line, (SELECT fit('svr(linear, c=10, epsilon=1)', ARRAY[x], y) AS m FROM line) AS t;
-- Several targets.
SELECT near(predict_vector(m, '{0.5,0.5}'), ARRAY[predict(a, '{0.5,0.5}'), predict(b, '{0.5,0.5}')],
    1e-6) AS same
FROM (SELECT fit('svr(tol=1e-8)', x, ARRAY[y, -2 * y]) AS m, fit('svr(tol=1e-8)', x, y) AS a,
    fit('svr(tol=1e-8)', x, -2 * y) AS b FROM plane) AS t;

-- Precomputed: [row number, k(x,1), …]; a new row's number means nothing.
CREATE TEMP TABLE kernel_rows AS
    SELECT a.i, a.x, a.label, a.y, ARRAY[a.i]::float8[] ||
        array_agg(kernel_value('rbf(gamma=1)', a.x, b.x) ORDER BY b.i) AS k
    FROM plane a, plane b GROUP BY a.i, a.x, a.label, a.y;
SELECT near(max(abs(score(mk, ARRAY[-7.5] || k[2:]) - score(mx, x))), 0, 1e-6) AS svc,
    near(max(abs(predict(rk, k) - predict(rx, x))), 0, 1e-9) AS krr
FROM kernel_rows, (SELECT fit('svc(precomputed, tol=1e-8)', k, label) AS mk,
    fit('svc(rbf(gamma=1), tol=1e-8)', x, label) AS mx, fit('krr(precomputed)', k, y) AS rk,
    fit('krr(rbf(gamma=1))', x, y) AS rx FROM kernel_rows) AS t;
SELECT error_of($$SELECT fit('svc(precomputed)', x, y)
    FROM (VALUES ('{1,1,0.2}'::float8[], 0), ('{2,0.9,1}', 1)) AS v(x, y)$$) AS asymmetric;
SELECT error_of($$SELECT fit('scale | svc(precomputed)', k, label) FROM kernel_rows$$) <> 'no error'
    AS scaled;
SELECT error_of($$SELECT 'svc(precomputed + rbf)'::learner$$) AS mixed;

-- Equal rows are one row.
SELECT near(score(a, '{0.1,0.2}'), score(b, '{0.1,0.2}'), 1e-12) AS same,
    model_info(a)->'n_sv' = model_info(b)->'n_sv' AS n_sv
FROM (SELECT fit('svc(rbf(gamma=1))', x, label) AS a FROM plane, generate_series(1, 3)) AS t,
    (SELECT fit('svc(rbf(gamma=1))', x, label, 3) AS b FROM plane) AS u;
