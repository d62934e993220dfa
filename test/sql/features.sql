-- Feature steps: orf, nystroem, poly_features, additive_chi2_features.
\i test/helpers.sql

CREATE TABLE points AS
    SELECT i AS id, ARRAY[i * 37 % 101 / 50.0, i * i * 13 % 97 / 48.0, i % 7 / 7.0]::float8[] AS x,
           (i * 37 % 101 / 50.0 + i % 7 / 7.0)::float8 AS y, i % 3 + 1 AS w
    FROM generate_series(1, 120) i;
ANALYZE points;

CREATE FUNCTION dot(a float8[], b float8[]) RETURNS float8 LANGUAGE sql IMMUTABLE AS
    'SELECT sum(u * v) FROM unnest(a, b) AS t(u, v)';
-- The largest difference between <z, z'> and the kernel, over pairs of rows.
CREATE FUNCTION worst(model bytea, k kernel) RETURNS float8 LANGUAGE sql AS
    'SELECT max(abs(dot(transform(model, a.x), transform(model, b.x)) - kernel_value(k, a.x, b.x)))
     FROM points a, points b WHERE a.id <= 20 AND b.id <= a.id';

-- Landmarks: more than rows (E085), all rows, choices of all kinds; what they resolve to.
SET client_min_messages = warning;
SELECT fit('nystroem(rbf(gamma=0.5), 10)', x) IS NOT NULL AS capped
FROM (VALUES ('{0,0}'::float8[]), ('{1,0}'), ('{0,2}'), ('{3,1}')) t(x);
RESET client_min_messages;
SELECT round(dot(z, z)::numeric, 6) AS self
FROM (SELECT transform(fit('nystroem(rbf(gamma=0.5), 4)', x), '{0.5,0.5}') AS z
      FROM (VALUES ('{0,0}'::float8[]), ('{1,0}'), ('{0,2}'), ('{3,1}')) t(x)) s;
SELECT method, array_length(transform(m, '{1,1,0.5}'), 1) AS features,
       worst(m, 'rbf(gamma=0.3)') < 0.1 AS near, (model_info(m)->>'kernel_error')::float8 < 0.05 AS stated,
       (model_info(m)->>'residual_trace')::float8 < 0.05 AS residual,
       learner(m)::text ~ '^nystroem\(rbf\(gamma=0.3\), landmarks=\[\[' AS resolved,
       model_info(m)->>'learner' AS short, fit(learner(m), x) = m AS again
FROM points, (SELECT method, fit(format('nystroem(rbf(gamma=0.3), 30, %s, seed=2)', method)::learner, x) AS m
      FROM points, unnest('{rpcholesky,uniform,kmeans}'::text[]) method GROUP BY method) models
GROUP BY method, m ORDER BY method;
SELECT worst(m, 'matern(nu=2.5) + linear') < 1e-8 AS exact
FROM (SELECT fit('nystroem(matern(nu=2.5) + linear, 120)', x) AS m FROM points) models;

-- Weights are repeated rows; the order of rows does not matter; seeds do.
SELECT learner(fit('nystroem(rbf(gamma=1), 12) | ridge', x, y, w))
           = (SELECT learner(fit('nystroem(rbf(gamma=1), 12) | ridge', x, y))
              FROM points, generate_series(1, w)) AS weights,
       fit('nystroem(rbf(gamma=1), 12) | ridge', x, y ORDER BY id) = fit('nystroem(rbf(gamma=1), 12) | ridge',
           x, y ORDER BY -id) AS order_of_rows,
       fit('nystroem(rbf(gamma=1), 12, seed=1) | ridge', x, y) <> fit('nystroem(rbf(gamma=1), 12) | ridge',
           x, y) AS seeds
FROM points;

-- The same bits for a row alone and later; models of all rows as landmarks are the exact ones.
SELECT bool_and(transform(m, x) = transform(m, ARRAY[x[1], x[2], x[3]])) AS bits,
       bool_and(near(predict(m, x), predict(k, x), 1e-7)) AS exact
FROM points, (SELECT fit('nystroem(rbf(gamma=0.5), 120) | ridge(0.2, intercept=false)', x, y) AS m,
                     fit('krr(rbf(gamma=0.5), lambda=0.2, center=false)', x, y) AS k FROM points) models;

-- Monomials are the polynomial kernel; orthogonal frequencies are closer to rbf than independent ones.
SELECT array_length(transform(m, '{1,1,0.5}'), 1) AS features, worst(m, 'poly(3, gamma=0.5, coef0=2)') < 1e-10 AS exact
FROM (SELECT fit('poly_features(3, gamma=0.5, coef0=2)', x) AS m FROM points) models;
SELECT avg(worst(fit_orf, 'rbf(gamma=0.5)')) < avg(worst(fit_rff, 'rbf(gamma=0.5)')) AS less_error
FROM generate_series(1, 8) seed, LATERAL (
    SELECT fit(format('orf(rbf(gamma=0.5), 60, %s)', seed)::learner, x) AS fit_orf,
           fit(format('rff(rbf(gamma=0.5), 60, %s)', seed)::learner, x) AS fit_rff FROM points) models;

-- The chi-square map.
SELECT array_length(transform(m, '{1,1,0.5}'), 1) AS features, worst(m, 'chi2_mercer') < 0.3 AS near,
       (model_info(m)->>'kernel_error')::float8 < 0.05 AS stated
FROM (SELECT fit('additive_chi2_features(5)', x) AS m FROM points) models;

-- Sums of any of them, and train.
SELECT near(predict(solve(accumulate(learner(m), x, y), learner(m)), '{1,1,0.5}'), predict(m, '{1,1,0.5}'), 1e-9) AS sums
FROM points, (SELECT fit('nystroem(rbf(gamma=0.5), 20) | ridge', x, y) AS m FROM points) models GROUP BY m;
SELECT near(predict(solve(accumulate('poly_features(2)', x, y), 'ridge'), '{1,1,0.5}'),
    predict(fit('poly_features(2) | ridge', x, y), '{1,1,0.5}'), 1e-9) AS monomials FROM points;
SELECT near(predict(train('points', 'x', 'y', 'nystroem(rbf(gamma=0.5), 120) | ridge'), '{1,1,0.5}'),
    (SELECT predict(fit('nystroem(rbf(gamma=0.5), 120) | ridge', x, y), '{1,1,0.5}') FROM points), 1e-6) AS trained;

-- What is refused.
SELECT l, error_of(format('SELECT fit(%L, x) FROM points', l)) FROM (VALUES
    ('nystroem(sigmoid)'), ('nystroem(rbf, 5, landmarks=[[1,2,3]])'), ('nystroem(rbf(gamma=1), landmarks=[[1,2]])'),
    ('nystroem(rbf, 5, best)'), ('orf(laplacian)'), ('orf(rbf, 7)'), ('poly_features'), ('poly_features(2, coef0=-1)'),
    ('poly_features(100)'), ('scale | additive_chi2_features'), ('additive_chi2_features(2)'),
    ('additive_chi2_features(9)')) t(l);
SELECT error_of($$SELECT predict(fit('additive_chi2_features | ridge', x, y), '{1,-1,1}') FROM points$$);
DROP FUNCTION worst, dot;
DROP TABLE points;
