-- Kernel ridge regression: several targets, the choice of lambda, conjugate gradients.
\i test/helpers.sql

CREATE TABLE curve AS
    SELECT i AS id, ARRAY[sin(i * 1.1) * 2, cos(i * 2.3)] AS x, sin(3 * sin(i * 1.1)) + 0.1 * sin(7.7 * i) AS y,
           cos(i * 2.3) ^ 2 AS z, 1 + i % 3 AS w
    FROM generate_series(1, 120) i;

-- Several targets: one model with the values of a model per target.
CREATE TABLE two AS SELECT fit('krr(rbf(gamma=1), lambda=0.1)', x, ARRAY[y, z]) AS m,
       fit('krr(rbf(gamma=1), lambda=0.1)', x, y) AS m_y, fit('krr(rbf(gamma=1), lambda=0.1)', x, z) AS m_z FROM curve;
SELECT bool_and(near(predict_vector(m, x), ARRAY[predict(m_y, x), predict(m_z, x)], 1e-12)) AS same FROM curve, two;
SELECT bool_and(predict_vector(m, x::text) = decision(m, x)) AS text_row, bool_and(array_length(predict_vector(m_y, x), 1) = 1) AS one
FROM curve, two;
SELECT whole_error_of($$SELECT predict(m, '{1,2}') FROM two$$);
SELECT whole_error_of($$SELECT predict_batch(m, '{{1,2}}') FROM two$$);
SELECT whole_error_of($$SELECT predict_vector(fit('svc', ARRAY[id], id > 3), '{1}') FROM curve WHERE id < 9$$);
SELECT predict_vector(m, NULL::float8[]) IS NULL AS null_row, predict_vector(m, '{NaN,1}') AS nan_row FROM two;
-- Types of arrays, a domain, ridge by streaming and by rows.
CREATE DOMAIN targets AS numeric[];
SELECT near(predict_vector(fit('krr(linear, lambda=0.5)', x, ARRAY[id, w]), '{1,2}'),
            predict_vector(fit('krr(linear, lambda=0.5)', x, ARRAY[id, w]::targets), '{1,2}'), 0) AS types,
       near(predict_vector(fit('ridge(lambda=0.5)', x, ARRAY[id, w]::real[]), '{1,2}'),
            ARRAY[predict(fit('ridge(lambda=0.5)', x, id), '{1,2}'), predict(fit('ridge(lambda=0.5)', x, w), '{1,2}')], 1e-9) AS ridge,
       near(predict_vector(fit('rff(rbf(gamma=1), n_components=20) | ridge', x, ARRAY[y, z]), '{1,2}'),
            ARRAY[predict(fit('rff(rbf(gamma=1), n_components=20) | ridge', x, y), '{1,2}'),
                  predict(fit('rff(rbf(gamma=1), n_components=20) | ridge', x, z), '{1,2}')], 1e-12) AS streaming
FROM curve;
-- Weights count as repeated rows; a NULL array is skipped.
SELECT near(predict_vector((SELECT fit('krr(rbf, lambda=0.3)', x, ARRAY[y, z], w) FROM curve), '{1,0.5}'),
            predict_vector((SELECT fit('krr(rbf, lambda=0.3)', x, ARRAY[y, z]) FROM curve, generate_series(1, w)), '{1,0.5}'), 1e-11) AS weights,
       (SELECT model_info(fit('krr', x, CASE WHEN id > 4 THEN ARRAY[y, z] END)) ->> 'n_skipped' FROM curve) AS skipped;
SELECT whole_error_of($$SELECT fit('krr', x, CASE id WHEN 3 THEN ARRAY[y] ELSE ARRAY[y, z] END ORDER BY id) FROM curve$$);
SELECT whole_error_of($$SELECT fit('krr', x, ARRAY[y, CASE WHEN id <> 5 THEN z END] ORDER BY id) FROM curve$$);
SELECT whole_error_of($$SELECT fit('krr', x, ARRAY[y, CASE id WHEN 5 THEN 'NaN' ELSE z END] ORDER BY id) FROM curve$$);
SELECT whole_error_of($$SELECT fit('svc', x, ARRAY[id]) FROM curve$$);
SELECT whole_error_of($$SELECT fit('krr', x, ARRAY[id::text]) FROM curve$$);
SELECT whole_error_of($$SELECT fit('krr', x, '{}'::float8[]) FROM curve$$);

-- A path of lambda, few values and many: the chosen one is as if it had been given.
CREATE TABLE path AS
    SELECT s, g, fit(format('krr(rbf(gamma=1), lambda=%s, select=%s)', g, s)::learner, x, y) AS m
    FROM curve, unnest('{loo,gcv}'::text[]) s, unnest('{"grid(1, 0.01, 0.1)","logspace(-6, 2, 17)"}'::text[]) g GROUP BY s, g;
SELECT s, g, learner(m), jsonb_array_length(model_info(m) -> 'lambda_path') AS values, model_info(m) -> 'lambda' AS lambda
FROM path ORDER BY s, g;
SELECT s, g, (SELECT fit(learner(m), x, y) FROM curve) = fit(learner(m), x, y) AS deterministic,
       model_info(m) ->> 'loo_mse' = model_info(fit(format('krr(rbf(gamma=1), lambda=%s, loo=true)', substring(learner(m)::text FROM 'lambda=([^,]*)'))::learner, x, y)) ->> 'loo_mse' AS facts
FROM path, curve GROUP BY s, g, m ORDER BY s, g;
-- Every value of the path is what its own fit says.
SELECT s, g, bool_and(near((p ->> 1)::float8, (info ->> CASE s WHEN 'loo' THEN 'loo_mse' ELSE 'gcv' END)::float8, 1e-10)) AS scores,
       bool_and(near((p ->> 2)::float8, (info ->> 'effective_df')::float8, 1e-8)) AS df
FROM path, jsonb_array_elements(model_info(m) -> 'lambda_path') p,
     LATERAL (SELECT model_info(fit(format('krr(rbf(gamma=1), lambda=%s, loo=true)', p ->> 0)::learner, x, y)) AS info FROM curve) f
GROUP BY s, g ORDER BY s, g;
SELECT whole_error_of($$SELECT 'krr(select=loo)'::learner$$);
SELECT whole_error_of($$SELECT 'krr(lambda=1, select=gcv)'::learner$$);
SELECT whole_error_of($$SELECT 'krr(rbf, [1, 2], select=gcv)'::learner$$);
SELECT whole_error_of($$SELECT 'krr(lambda=grid(1, 2), select=aic)'::learner$$);
SELECT whole_error_of($$SELECT fit('krr(lambda=grid(1, 2))', x, y) FROM curve$$);
SELECT whole_error_of($$SELECT fit('krr(rbf(gamma=grid(1, 2)), lambda=grid(1, 2), select=loo)', x, y) FROM curve$$);
SELECT whole_error_of($$SELECT fit('krr(rbf(gamma=1), lambda=grid(0, 0), select=loo)', ARRAY[id % 3], y) FROM curve$$);
SELECT whole_error_of($$SELECT fit('krr(rbf(gamma=1), lambda=0)', ARRAY[id % 3], y) FROM curve$$);

-- Conjugate gradients: the exact solution, to tol.
SELECT near(predict(fit('krr(rbf(gamma=1), lambda=0.01)', x, y), '{1,0.5}'),
            predict(fit('krr(rbf(gamma=1), lambda=0.01, method=cg, tol=1e-12)', x, y), '{1,0.5}'), 1e-10) AS cg,
       near(predict_vector(fit('krr(rbf(gamma=1), lambda=0.01)', x, ARRAY[y, z], w), '{1,0.5}'),
            predict_vector(fit('krr(rbf(gamma=1), lambda=0.01, method=cg, rank=10, tol=1e-12)', x, ARRAY[y, z], w), '{1,0.5}'), 1e-10) AS weighted
FROM curve;
SELECT learner(m), model_info(m) -> 'converged' AS converged, (model_info(m) ->> 'residual')::float8 <= 1e-8 AS residual,
       (model_info(m) ->> 'iterations')::int BETWEEN 1 AND 20 AS iterations, model_info(m) -> 'rank' AS rank
FROM (SELECT fit('krr(rbf(gamma=1), lambda=0.01, method=cg, rank=60)', x, y) AS m FROM curve) t;
SELECT model_info(fit('krr(rbf(gamma=1), lambda=1e-9, method=cg, rank=0, max_iter=2)', x, y)) -> 'converged' AS converged FROM curve;
-- Targets and weights whose squares are no numbers; weights that span more than numbers can.
SELECT k, near(predict(fit('krr(rbf(gamma=1), lambda=0.01, method=cg)', x, y * k), '{1,0.5}') / k,
               predict(fit('krr(rbf(gamma=1), lambda=0.01, method=cg)', x, y), '{1,0.5}'), 1e-12) AS same
FROM curve, unnest('{1e-300,1e-200,1e200,1e300}'::float8[]) AS k GROUP BY k ORDER BY k;
SELECT whole_error_of($$SELECT fit('gp(rbf(gamma=1), method=cg, variance=false)', x, y, CASE id WHEN 1 THEN 1e300 ELSE 1 END) FROM curve$$) AS gp,
       whole_error_of($$SELECT fit('gpc(rbf(gamma=1))', ARRAY[id % 7], y > 0, CASE id % 2 WHEN 1 THEN 1e300 ELSE 1 END) FROM curve$$) AS gpc,
       whole_error_of($$SELECT fit('gpc(rbf(gamma=1))', ARRAY[id % 7], y > 0, 1e300) FROM curve$$) AS all_large;
SELECT whole_error_of($$SELECT 'krr(tol=1e-3)'::learner$$);
SELECT whole_error_of($$SELECT 'krr(method=cg, loo=true)'::learner$$);
SELECT whole_error_of($$SELECT 'krr(method=cg, lambda=0)'::learner$$);

-- Over the cap nothing is allocated, and nothing else is chosen in silence; memory is as small as cg needs.
SET kernelml.max_memory = '16MB';
SELECT whole_error_of($$SELECT fit('krr(rbf(gamma=1))', ARRAY[sin(i), cos(i)], i) FROM generate_series(1, 60000) i$$);
SELECT model_info(fit('krr(rbf(gamma=1), method=cg, rank=100)', ARRAY[sin(i), cos(i)], sin(2 * i))) -> 'converged' AS converged
FROM generate_series(1, 3000) i;
RESET kernelml.max_memory;

DROP TABLE curve, two, path;
DROP DOMAIN targets;
