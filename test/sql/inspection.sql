-- What a model is made of, and what decides about one row.
\i test/helpers.sql

CREATE TEMP TABLE points AS
    SELECT i, ARRAY[10 + 3 * sin(i), cos(3 * i), 5] AS x, i % 4 AS class, (sin(i) > 0) AS positive,
           2 * sin(i) - cos(3 * i) AS y
    FROM generate_series(1, 80) i;
CREATE TEMP TABLE learners (kind text, learner learner);
INSERT INTO learners VALUES
    ('classes', 'svc(rbf(gamma=0.5))'), ('classes', 'scale | svc'), ('classes', 'minmax | svc(poly, c=10)'),
    ('classes', 'impute | scale | minmax | svc(multiclass=ovr)'), ('classes', 'scale | nu_svc(nu=0.2)'),
    ('numbers', 'scale | krr(rbf(gamma=1))'), ('numbers', 'minmax | svr(rbf(gamma=1), epsilon=1)'),
    ('numbers', 'scale | gp(rbf(gamma=1))'),
    ('linear classes', 'svc(linear)'), ('linear classes', 'scale | svc(linear)'),
    ('linear classes', 'minmax | scale | svc(linear, multiclass=ovr)'),
    ('linear classes', 'impute | nu_svc(linear, nu=0.2)'),
    ('linear numbers', 'ridge'), ('linear numbers', 'scale | ridge'),
    ('linear numbers', 'minmax | ridge(intercept=false)'), ('linear numbers', 'scale | krr(linear)'),
    ('linear numbers', 'svr(linear)'), ('linear numbers', 'nu_svr(linear)'), ('linear numbers', 'scale | gp(linear)');

-- Two support rows that can be worked out: alpha 1/2 each, f = -x.
SELECT s.*
FROM (SELECT fit('svc(linear)', x, y) FROM (VALUES ('{1,0}'::float8[], 'a'), ('{-1,0}', 'b')) v(x, y)) f(m),
    support_vectors(m) s;

-- Kept rows come back in input units: they are rows of the table, with their labels.
SELECT learner, count(*) = (model_info(m)->>'n_sv')::int AS all_rows,
       bool_and(s.label = (SELECT p.class::text FROM points p WHERE near(p.x, s.support_vector, 1e-12))) AS are_rows,
       bool_and(cardinality(s.coefficients) = cardinality(decision(m, '{1,1,5}'))) AS one_for_each_value
FROM learners, LATERAL (SELECT fit(learner, x, class) FROM points) f(m), support_vectors(m) s
WHERE kind = 'classes' GROUP BY learner, m ORDER BY learner;
SELECT learner, count(s.label) AS labels, bool_and(cardinality(s.coefficients) = 1) AS one,
       bool_and(EXISTS (SELECT FROM points p WHERE near(p.x, s.support_vector, 1e-12))) AS are_rows
FROM learners, LATERAL (SELECT fit(learner, x, y) FROM points) f(m), support_vectors(m) s
WHERE kind = 'numbers' GROUP BY learner ORDER BY learner;
SELECT bool_and(label IS NULL AND coefficients[1] > 0) AS one_class,
       near(sum(coefficients[1]), 0.3 * 80, 1e-9) AS sum_is_nu_n
FROM (SELECT fit('scale | one_class(nu=0.3)', x) FROM points) f(m), support_vectors(m);

-- Steps that cannot be undone: rows as the steps made them.
SELECT bool_and(cardinality(support_vector) = 6) AS features_of_the_step
FROM (SELECT fit('rff(rbf(gamma=1), n_components=6) | svc(linear)', x, positive) FROM points) f(m), support_vectors(m);

-- Each value is the sum of coefficients times kernel values, and a constant: of all pairs, of one against the rest.
CREATE FUNCTION kernel_sum(model bytea, x float8[], output int) RETURNS float8 LANGUAGE sql AS $$
    SELECT sum(coefficients[output] * kernel_value('rbf(gamma=0.5)', support_vector, x)) FROM support_vectors(model) $$;
SELECT multiclass, count(*), bool_and(near(p.d[o] - q.d[o],
           kernel_sum(m, '{10,1,5}', o) - kernel_sum(m, '{12,0,5}', o), 1e-12)) AS is_the_sum
FROM unnest('{ovo,ovr}'::text[]) multiclass,
    LATERAL (SELECT fit(format('svc(rbf(gamma=0.5), multiclass=%s)', multiclass)::learner, x, class) FROM points) f(m),
    decision(m, '{10,1,5}') p(d), decision(m, '{12,0,5}') q(d), generate_series(1, cardinality(p.d)) o
GROUP BY multiclass ORDER BY multiclass;

-- Linear models: decision[output] = coefficients . x + intercept, in input units where steps can be undone.
CREATE FUNCTION dot(a float8[], b float8[]) RETURNS float8 IMMUTABLE LANGUAGE sql AS
    'SELECT sum(u * v) FROM unnest(a, b) t(u, v)';
SELECT learner, count(*) / 20 AS outputs,
       bool_and(near((decision(m, x))[output], dot(coefficients, x) + intercept, 1e-9)) AS is_the_plane
FROM learners, LATERAL (SELECT fit(learner, x, class) FROM points) f(m), coefficients(m) c, points
WHERE kind = 'linear classes' AND i <= 20 GROUP BY learner ORDER BY learner;
SELECT learner, bool_and(near((decision(m, x))[output], dot(coefficients, x) + intercept, 1e-9)) AS is_the_plane
FROM learners, LATERAL (SELECT fit(learner, x, y) FROM points) f(m), coefficients(m) c, points
WHERE kind = 'linear numbers' AND i <= 20 GROUP BY learner ORDER BY learner;
SELECT output, label, against, cardinality(coefficients)
FROM (SELECT fit('svc(linear)', x, class) FROM points) f(m), coefficients(m);
SELECT output, label, against
FROM (SELECT fit('svc(linear, multiclass=ovr)', x, class) FROM points) f(m), coefficients(m);
SELECT output, label, against FROM (SELECT fit('svc(linear)', x, positive) FROM points) f(m), coefficients(m);
SELECT output, label IS NULL AS of_a_number, near(coefficients, ARRAY[2 * output / 3.0, -output, 0], 0.02) AS close
FROM (SELECT fit('ridge(lambda=0.01)', x, ARRAY[y, 2 * y]) FROM points) f(m), coefficients(m);
SELECT output, cardinality(coefficients) AS features_of_the_step
FROM (SELECT fit('rff(rbf(gamma=1), n_components=6) | ridge', x, y) FROM points) f(m), coefficients(m);

-- The rows that weigh most: shares of all contributions, largest first; together they make the decision.
SELECT bool_and(share > 0 AND contribution <> 0) AS positive, near(sum(share), 1, 1e-12) AS all_together,
       near(sum(contribution) - (SELECT sum(contribution) FROM explain(m, '{12,0,5}', 1000)),
            score(m, '{10,1,5}') - score(m, '{12,0,5}'), 1e-10) AS is_the_decision
FROM (SELECT fit('scale | svc(rbf(gamma=0.5), c=2)', x, positive) FROM points) f(m), explain(m, '{10,1,5}', 1000)
GROUP BY m;
SELECT count(*), bool_and(share <= before) AS descend, string_agg(DISTINCT label, ' ') AS of_pair_3
FROM (SELECT *, lag(share, 1, 1) OVER (ORDER BY ordinality) AS before
      FROM (SELECT fit('scale | svc', x, class) FROM points) f(m),
          explain(m, ARRAY[10, 1, 5], 7, 3) WITH ORDINALITY) e;
SELECT support_vector, label, near(contribution, 0.5, 1e-12) AS half, share
FROM (SELECT fit('svc(linear)', x, y) FROM (VALUES ('{1,0}'::float8[], 'b'), ('{-1,0}', 'a')) v(x, y)) f(m),
    explain(m, '{1,7}', 1);
SELECT (SELECT count(*) FROM explain(m, '{NaN,1,1}', 3)) AS of_nan, (SELECT count(*) FROM explain(m, NULL, 3)) AS of_null
FROM (SELECT fit('svc', x, class) FROM points) f(m);

-- Rows that are no support rows do not matter: the leave-one-out bound.
SELECT near((model_info(m)->>'loo_bound')::float8, (model_info(m)->>'n_sv')::float8 / 80, 1e-15) AS loo_bound,
       near((model_info(w)->>'loo_bound')::float8,
            (SELECT sum(1 + i % 2) FROM points, support_vectors(w) WHERE near(x, support_vector, 1e-12))::float8 / 120,
            1e-12) AS by_weight
FROM (SELECT fit('scale | svc', x, positive), fit('scale | svc', x, positive, 1 + i % 2) FROM points) f(m, w);

-- What there is not.
CREATE TEMP TABLE models AS
    SELECT fit('svc', x, positive) AS svc, fit('ridge', x, y) AS ridge, fit('scale', x) AS steps FROM points;
SELECT whole_error_of('SELECT coefficients(svc) FROM models') AS not_linear,
       whole_error_of('SELECT support_vectors(ridge) FROM models') AS no_rows,
       whole_error_of('SELECT explain(ridge, ''{1,2,3}'', 1) FROM models') AS explain_ridge;
SELECT error_of('SELECT support_vectors(steps) FROM models') AS steps,
       error_of('SELECT coefficients(steps) FROM models') AS steps_too;
SELECT error_of(format('SELECT explain(svc, ''{1,2,3}'', %s) FROM models', a))
FROM unnest('{"0","10001","1, 2","1, 0"}'::text[]) a;
SELECT error_of('SELECT explain(svc, ''{1,2}'', 1) FROM models') AS features,
       error_of('SELECT support_vectors(''\x00'')') AS bytes;
