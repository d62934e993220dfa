-- Gaussian processes: regression, classification, distributions, draws.
\i test/helpers.sql

-- One row (E052, E053): mean 5 k/(1 + noise), latent variance 1 - k^2/(1 + noise).
CREATE TEMP TABLE one AS SELECT fit('gp(rbf(length_scale=1), noise=0.25, center=false)', x, y) AS m
    FROM (VALUES ('{0}'::float8[], 5.0::float8)) v(x, y);
SELECT near(predict(m, '{0}'), 4, 1e-14) AS mean0, near(predict(m, '{1}'), 2.426123, 1e-6) AS mean1,
       near((predict_dist(m, '{0}')).variance, 0.2, 1e-14) AS latent0,
       near((predict_dist(m, ARRAY[1.0])).variance, 0.705696, 1e-6) AS latent1,
       near((predict_dist_observed(m, '{0}')).variance, 0.45, 1e-14) AS observed0,
       near((model_info(m)->>'log_marginal_likelihood')::float8, -11.030510, 1e-6) AS likelihood
FROM one;
SELECT predict(m, '{0}') AS mean, (predict_dist(m, '{3}')).variance BETWEEN 0 AND 1 AS finite
FROM (SELECT fit('gp(rbf(length_scale=1), noise=0.25)', x, y) AS m
      FROM (VALUES ('{0}'::float8[], 5.0::float8)) v(x, y)) t;

-- A constant target (E050).
SELECT predict(m, '{0.5}') AS near_by, predict(m, '{50}') AS far,
       near(sqrt((predict_dist(m, '{0.5}')).variance), 0.170551, 1e-6) AS sd,
       (predict_dist(m, '{50}')).variance AS prior
FROM (SELECT fit('gp(rbf(length_scale=1), noise=1e-10)', ARRAY[x], 2.0::float8) AS m
      FROM unnest('{0,1,3}'::float8[]) x) t;

-- Repeated inputs (E055): an error without noise, the mean of both with it.
CREATE TEMP TABLE twice (x float8[], y float8);
INSERT INTO twice VALUES ('{1}', 0), ('{1}', 2);
SELECT whole_error_of($$SELECT fit('gp(rbf(length_scale=1), noise=0, center=false)', x, y) FROM twice$$);
SELECT near((p).mean, 0.952381, 1e-6) AS mean, near((p).variance, 0.047619, 1e-6) AS variance
FROM (SELECT predict_dist(fit('gp(rbf(length_scale=1), noise=0.1, center=false)', x, y), '{1}') AS p
      FROM twice) t;

-- Little noise (E056): the latent variance at the rows is about the noise.
CREATE TEMP TABLE sine AS SELECT ARRAY[i]::float8[] AS x, sin(i) AS y FROM generate_series(0, 4) i;
CREATE TEMP TABLE sine_model AS
    SELECT fit('gp(rbf(length_scale=1), noise=1e-4, center=false, loo=true)', x, y) AS m FROM sine;
SELECT near(array_agg((p).variance * 1e4 ORDER BY x), '{0.99980,0.99963,0.99958,0.99963,0.99980}',
            1e-5) AS variances,
       near(array_agg((p).mean ORDER BY x), '{0.000073,0.841352,0.909295,0.141050,-0.756683}', 1e-6) AS means
FROM (SELECT x, predict_dist(m, x) AS p FROM sine, sine_model) t;
SELECT near((p).mean, 1.008073, 1e-6) AS mean, near(sqrt((p).variance), 0.090489, 1e-6) AS sd
FROM (SELECT predict_dist(m, '{1.5}') AS p FROM sine_model) t;

-- A target that is NaN or infinite is named as such (E059).
SELECT error_of(format($$SELECT fit('gp', ARRAY[x]::float8[], y)
                         FROM (VALUES (0, 1::float8), (1, %L), (2, 3)) v(x, y)$$, bad))
FROM unnest('{NaN,Infinity}'::text[]) bad;

-- The batch, in the order of its rows; rows with NaN give NaN and disturb no other.
SELECT bool_and(near(b.mean, p.mean, 1e-10) AND near(b.variance, p.variance, 1e-10)) AS same, count(*)
FROM sine_model,
     LATERAL (SELECT array_agg(ARRAY[i / 10.0]::float8[] ORDER BY i) AS xs
              FROM generate_series(-20, 100) i) r,
     LATERAL predict_dist_batch(m, xs) WITH ORDINALITY AS b(mean, variance, row),
     LATERAL predict_dist(m, ARRAY[(b.row - 21) / 10.0]) p;
SELECT b.* FROM sine_model, predict_dist_batch(m, '{{NaN},{1000}}') b;
SELECT count(*) FROM sine_model, predict_dist_batch(m, '{}');
SELECT predict_dist(m, '{NaN}'), predict_dist(m, NULL::float8[]) FROM sine_model;

-- Leave-one-out density and error against fits without the row.
SELECT near(sum(-0.5 * (ln(2 * pi() * o.variance) + (s.y - o.mean) ^ 2 / o.variance)),
            min((model_info(m)->>'loo_log_density')::float8), 1e-8) AS density,
       near(avg((s.y - o.mean) ^ 2), min((model_info(m)->>'loo_mse')::float8), 1e-10) AS error
FROM sine_model, sine s,
     LATERAL (SELECT fit('gp(rbf(length_scale=1), noise=1e-4, center=false)', x, y) AS rest FROM sine r
              WHERE r.x <> s.x) f, LATERAL predict_dist_observed(rest, s.x) o;

-- A whole-number weight is repeated rows for the posterior; the likelihood is that of the rows given.
SELECT near((p).mean, (q).mean, 1e-10) AS mean, near((p).variance, (q).variance, 1e-10) AS variance
FROM (SELECT predict_dist(fit('gp(rbf(length_scale=1), noise=0.3)', x, y, x[1]::int % 3 + 1), '{2.3}') AS p
      FROM sine) w,
     (SELECT predict_dist(fit('gp(rbf(length_scale=1), noise=0.3)', x, y), '{2.3}') AS q
      FROM sine, generate_series(0, x[1]::int % 3)) r;

-- A white kernel is noise: in the observed variance, not in the latent one, divided by weights.
SELECT near((p).mean, (q).mean, 1e-13) AS mean, near((p).variance, (q).variance, 1e-13) AS latent,
       near((r).variance, (s).variance, 1e-13) AS observed
FROM (SELECT predict_dist(white, '{2.3}') AS p, predict_dist(plain, '{2.3}') AS q,
             predict_dist_observed(white, '{2.3}') AS r, predict_dist_observed(plain, '{2.3}') AS s
      FROM (SELECT fit('gp(rbf(length_scale=1) + white(0.2), noise=0.1)', x, y, x[1] + 0.5) AS white,
                   fit('gp(rbf(length_scale=1), noise=0.3)', x, y, x[1] + 0.5) AS plain FROM sine) m) t;

-- variance=false keeps no factor.
SELECT octet_length(m) < 1500 AS small, near(predict(m, '{2.5}'), predict(f, '{2.5}'), 0) AS same_mean,
       error_of(format('SELECT kernelml.predict_dist(%L::bytea, ARRAY[1.0])', m)) AS variance
FROM (SELECT fit('gp(variance=false)', ARRAY[i]::float8[], sin(i)) AS m,
             fit('gp', ARRAY[i]::float8[], sin(i)) AS f FROM generate_series(1, 30) i) t;
SELECT error_of(format('SELECT kernelml.predict_dist(%L::bytea, ARRAY[1.0])', fit('krr', x, y))) FROM sine;

-- Conjugate gradients: the same mean, also with weights and a white kernel; the residual is reported.
SELECT near(predict(cg, '{2.3}'), predict(exact, '{2.3}'), 1e-9) AS mean,
       (model_info(cg)->>'residual')::float8 <= 1e-12 AS residual, model_info(cg)->'converged' AS converged,
       error_of(format('SELECT kernelml.predict_dist(%L::bytea, ARRAY[1.0])', cg)) AS variance
FROM (SELECT fit('gp(rbf(length_scale=1) + white(0.2), noise=0.1, method=cg, tol=1e-12, variance=false)', x, y,
                 x[1] + 0.5) AS cg,
             fit('gp(rbf(length_scale=1) + white(0.2), noise=0.1)', x, y, x[1] + 0.5) AS exact FROM sine) t;
SELECT whole_error_of($$SELECT 'gp(method=cg)'::learner$$);
SELECT whole_error_of($$SELECT 'gp(method=cg, variance=false, optimize=true)'::learner$$);
SELECT whole_error_of($$SELECT 'gp(rank=20)'::learner$$);
SELECT e, whole_error_of(format('SELECT %L::learner', e)) FROM unnest('{gp(restarts=3),"gp(bounds=[1, 2])",gp(seed=1),"gp(rbf, 0.1, restarts=0)"}'::text[]) e;
SELECT whole_error_of($$SELECT kernelml.fit('gp(noise=0, method=cg, variance=false)', x, y) FROM sine$$);

-- Draws (E061): the same for the same seed, others for another one; moments as they should be.
SELECT a = b AS repeats, a <> c AS differs, array_dims(a) AS shape
FROM (SELECT gp_sample(m, xs, 3, 7) AS a, gp_sample(m, xs, 3, 7) AS b, gp_sample(m, xs, 3, 8) AS c
      FROM sine_model,
           (SELECT array_agg(ARRAY[i / 2.0]::float8[] ORDER BY i) AS xs FROM generate_series(0, 9) i) g) t;
SELECT gp_sample(m, '{{1.5}}') = gp_sample(m, '{{1.5}}', 1, 0) AS seed_is_0 FROM sine_model;
SELECT near(avg(v), 1.008073, 0.01) AS mean, near(stddev(v), 0.090489, 0.01) AS sd
FROM sine_model, unnest(gp_sample(m, '{{1.5}}', 2000, 1)) v;
SELECT near(avg(a[i][1]), 0, 0.1) AS mean, near(var_pop(a[i][1]), 2, 0.2) AS variance,
       near(covar_pop(a[i][1], a[i][2]), 2 * exp(-0.5), 0.2) AS covariance,
       bool_and(near(a[i][2], a[i][3], 1e-9)) AS same_row
FROM (SELECT kernel_sample('2*rbf(length_scale=1)', '{{0},{1},{1}}', 2000) AS a) s,
     generate_series(1, 2000) i;
SELECT kernel_sample('linear', '{}') AS none,
       error_of($$SELECT kernel_sample('linear', '{{1}}', 0)$$) AS draws,
       error_of($$SELECT kernel_sample('sigmoid(gamma=1, coef0=-1)', '{{1},{2},{3}}')$$) AS not_psd;

-- Classification: labels of any type, the class of the larger probability, weights as repeated rows.
CREATE TEMP TABLE ring AS
    SELECT ARRAY[sin(i * 1.3), cos(i * 0.7)]::float8[] AS x, sin(i * 1.3) ^ 2 + cos(i * 0.7) ^ 2 > 1.0 AS y, i
    FROM generate_series(1, 60) i;
CREATE TEMP TABLE ring_model AS SELECT fit('gpc(4*rbf(gamma=1))', x, y) AS m,
    fit('gpc(4*rbf(gamma=1))', x, CASE WHEN y THEN 'out' ELSE 'in' END) AS named,
    fit('gpc(4*rbf(gamma=1))', x, y::int + 5.0) AS numbered FROM ring;
SELECT avg((predict(m, x) = y::int)::int) > 0.9 AS accurate,
       bool_and((probability(m, x, true) > 0.5) = (predict_label(m, x) = 't')) AS consistent,
       bool_and(near(predict_proba(m, x), ARRAY[probability(m, x, false), probability(m, x, 't')],
                     0)) AS by_label,
       bool_and(near(probability(m, x, true) + probability(m, x, false), 1, 1e-14)) AS sums_to_1,
       bool_and(predict_proba(named, x) = predict_proba(m, x)) AS named,
       bool_and(probability(numbered, x, '6') = probability(numbered, x, 6::int8)
                AND probability(numbered, x, 6.00) = probability(m, x, true)) AS numbered,
       bool_and(decision(m, x) = ARRAY[(predict_dist(m, x)).mean]) AS latent
FROM ring, ring_model;
SELECT model_info(m) ?& '{log_marginal_likelihood,iterations,converged}' AS facts, classes(named),
       error_of(format('SELECT kernelml.probability(%L::bytea, ARRAY[1.0, 1.0], ''x'')', named)) AS label,
       error_of(format('SELECT kernelml.predict_dist_observed(%L::bytea, ARRAY[1.0, 1.0])',
                       named)) AS observed
FROM ring_model;
SELECT near(predict_proba(w, '{0.3,0.2}'), predict_proba(r, '{0.3,0.2}'), 1e-9) AS weighted
FROM (SELECT fit('gpc(4*rbf(gamma=1))', x, y, i % 3 + 1) AS w FROM ring) a,
     (SELECT fit('gpc(4*rbf(gamma=1))', x, y) AS r FROM ring, generate_series(0, i % 3)) b;
SELECT whole_error_of($$SELECT fit('gpc', ARRAY[i]::float8[], i % 3) FROM generate_series(1, 9) i$$);
SELECT error_of($$SELECT fit('gpc', ARRAY[i]::float8[], 1) FROM generate_series(1, 9) i$$),
       error_of(format('SELECT kernelml.predict_proba(%L::bytea, ARRAY[1.0])', fit('krr', x, y)))
FROM sine;

-- The largest marginal likelihood: not below what was given, written into the learner, which then repeats it.
CREATE TEMP TABLE wave AS SELECT ARRAY[i / 5.0]::float8[] AS x, 3 * sin(i / 5.0) + 0.3 * cos(i * 7.7) AS y
    FROM generate_series(1, 60) i;
CREATE TEMP TABLE found AS
    SELECT fit('gp(1*rbf(length_scale=1), noise=1, optimize=true, restarts=2, seed=1)', x, y) AS m,
           fit('gp(1*rbf(length_scale=1), noise=1)', x, y) AS given FROM wave;
SELECT (model_info(m)->>'log_marginal_likelihood')::float8
           > (model_info(given)->>'log_marginal_likelihood')::float8 AS better,
       (model_info(m)->>'converged')::bool AS converged, model_info(m) ? 'at_bound' AS at_bound,
       (model_info(m)->>'iterations')::int BETWEEN 10 AND 300 AS iterations,
       learner(m)::text ~ 'optimize=false' AS resolved,
       learner(m)::text = learner(again)::text
           AND near(predict(m, '{1}'), predict(again, '{1}'), 0) AS repeats
FROM found, LATERAL (SELECT fit(learner(m), x, y) AS again FROM wave) a;
-- No point near by is better.
SELECT bool_and((model_info(f)->>'log_marginal_likelihood')::float8
                <= (model_info(m)->>'log_marginal_likelihood')::float8) AS maximum, count(*)
FROM found,
     LATERAL (SELECT regexp_match(learner(m)::text, 'gp\(([0-9.e-]+)\*rbf\(length_scale=([0-9.e-]+)\), '
                                  'noise=([0-9.e-]+)') AS p) v,
     LATERAL (SELECT fit(format('gp(%s*rbf(length_scale=%s), noise=%s)', p[1]::float8 * a, p[2]::float8 * b,
                                p[3]::float8 * c)::learner, x, y) AS f
              FROM wave, unnest('{0.99,1,1.01}'::float8[]) a, unnest('{0.99,1,1.01}'::float8[]) b,
                   unnest('{0.99,1,1.01}'::float8[]) c GROUP BY a, b, c) near_by;
-- What a bound stopped is told, and is the bound.
SELECT model_info(m)->>'at_bound' AS at_bound, model_info(m)->'noise' AS noise
FROM (SELECT fit('gp(rbf(length_scale=1), optimize=true, bounds=[0.5, 2])', x, y) AS m FROM wave) t;
-- Row numbers of precomputed kernels are checked, as those of the machines are.
SELECT e, error_of(format('SELECT fit(%L, x, y) FROM (VALUES (''{1,1,0.5}''::float8[], 0), (''{99,0.5,1}'', 1)) v(x, y)', e))
FROM unnest('{gp(precomputed),"gp(precomputed, method=cg, variance=false)",gpc(precomputed),krr(precomputed),svc(precomputed)}'::text[]) e;
-- A white kernel keeps its variance, and a NOTICE says so.
SELECT learner(fit('gp(1*rbf(length_scale=1) + white(variance=0.02), optimize=true)', x, y))::text
       ~ 'white\(variance=0.02\)' AS kept FROM wave;
SELECT error_of($$SELECT 'gp(optimize=true, bounds=[2, 1])'::learner$$) AS bounds,
       error_of($$SELECT fit('gp(linear, noise=0, optimize=true)', x, y) FROM wave$$) AS nothing_free;
-- It can be cancelled.
SET statement_timeout = '300ms';
SELECT error_of($$SELECT fit('gp(rbf(length_scale=1), optimize=true, restarts=1000)',
                             ARRAY[sin(i), cos(i * 3)], i) FROM generate_series(1, 800) i$$);
RESET statement_timeout;
