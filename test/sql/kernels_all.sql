-- The kernels that kernels.sql has not: values, domains, white noise, use in learners.
\i test/helpers.sql

-- x = (1,2), z = (3,1): r = (-2,1), |r|^2 = 5, <x,z> = 5.
SELECT k, near(kernel_value(k, '{1,2}'::float8[], '{3,1}'::float8[]), expected, 1e-12 * greatest(1,
    abs(expected))) AS right
FROM (VALUES
    ('matern(nu=3.5)'::kernel,                                  -- (1 + s + 2s^2/5 + s^3/15) e^-s, s = sqrt 35
        (1 + sqrt(35.0) + 14 + 35 * sqrt(35.0) / 15) * exp(-sqrt(35.0))),
    ('matern(nu=1, length_scale=2)', 0.39072145038294771::float8),     -- s K_1(s), s = sqrt 2.5
    ('rational_quadratic', 1 / 3.5),
    ('rational_quadratic(alpha=2, length_scale=[1, 2])', (1 + 4.25 / 4) ^ -2.0),
    ('cauchy(length_scale=2)', 1 / 2.25),
    ('cauchy(length_scale=[2, 0.5])', 1 / 6.0),
    ('inverse_multiquadric(c=2)', 1 / 3.0),
    ('periodic(period=4, length_scale=2)', exp(-2 * (1 + 0.5) / 4)),   -- sin^2 of -pi/2 and pi/4
    ('periodic(period=4, length_scale=[1, 2])', exp(-2 * (1 + 0.125))),
    ('wave(period=6)', cos(pi() / 3)),
    ('spectral_mixture(weights=[2, 3], means=[[0, 0], [0.25, 0]], variances=[[0, 0], [0, 0]])', -1),
    ('gibbs(log_length=[0, 0, 0])', exp(-2.5)),
    ('gibbs(log_length=[0, 0, 1])', 2 / (exp(1.0) + exp(-1.0)) * exp(-5 / (exp(4.0) + exp(2.0)))),
    ('chi2(gamma=0.5)', exp(-0.5 * (4 / 4.0 + 1 / 3.0))),
    ('additive_chi2', -4 / 3.0),
    ('chi2_mercer', 6 / 4.0 + 4 / 3.0),
    ('min', 2),
    ('brownian', 1),
    ('white(variance=0.3)', 0)) t(k, expected);
SELECT near(kernel_value('geometric', '{0.5,0.25}', '{0.5,1}'), 2, 1e-12) AS geometric;
SELECT k, kernel_value(k, '{1,2}', '{1,2}') = 1 AS one
FROM unnest(ARRAY['matern(nu=0.3)', 'matern(nu=40)', 'rational_quadratic', 'cauchy', 'inverse_multiquadric',
    'periodic', 'wave', 'gibbs([0, 1, -1])', 'chi2']::kernel[]) k;

-- 0/0 counts as 0.
SELECT kernel_value('chi2', '{0,1}', '{0,1}') AS chi2, kernel_value('additive_chi2', '{0,1}', '{0,1}') AS additive,
       kernel_value('chi2_mercer', '{0,1}', '{0,1}') AS mercer;

-- White noise: where both are the same row of a Gram, not where rows are equal.
SELECT kernel_matrix('white(0.3)', '{{1},{1},{2}}') AS of_one,
       kernel_matrix('white(0.3)', '{{1},{2}}', '{{1},{2}}') AS of_two;
SELECT gram('min + white(2)', x ORDER BY i) FROM (VALUES (1, '{1,2}'::float8[]), (2, '{1,2}'), (3, '{0,3}')) t(i, x);
-- Kernel ridge with white noise is kernel ridge with a larger lambda.
SELECT near(predict(a, '{1.5}'), predict(b, '{1.5}'), 1e-14) AS same
FROM (SELECT fit('krr(rbf(gamma=1) + white(0.25), lambda=0.5)', x, y) AS a,
             fit('krr(rbf(gamma=1), lambda=0.75)', x, y) AS b
      FROM (VALUES ('{0}'::float8[], 1.0), ('{1}', 3.0), ('{2}', 2.0), ('{2}', 5.0)) t(x, y)) m;

-- Outside of their domains.
SELECT error_of(format('SELECT kernel_value(%L, %L, %L)', k, x, z)) FROM (VALUES
    ('chi2', '{1,-1}', '{1,1}'), ('additive_chi2', '{1,1}', '{-2,1}'), ('chi2_mercer', '{-1}', '{1}'),
    ('min', '{-1}', '{1}'), ('brownian', '{-0.5}', '{1}'), ('min(dims=[2])', '{-1,1}', '{1,1}'),
    ('geometric', '{1,2}', '{0.5,0.25}'), ('geometric', '{-1,2}', '{0.5,0.25}'),
    ('spectral_mixture([1], [0.5], [1])', '{1,2}', '{1,2}'), ('gibbs([0, 1])', '{1,2}', '{1,2}'),
    ('periodic(1, [1, 2, 3])', '{1,2}', '{1,2}')) t(k, x, z);
SELECT error_of($$SELECT kernel_matrix('1 + geometric', '{{0.1,0.2},{0.5,0.1},{2,1}}')$$);
SELECT error_of(format('SELECT %L::kernel', k))
FROM unnest(ARRAY['matern(nu=0)', 'rational_quadratic(alpha=-1)', 'inverse_multiquadric(c=0)',
    'periodic(period=-1)', 'gibbs', 'gibbs([1])', 'spectral_mixture([1], [1, 2], [1])', '2 * white',
    'rbf * (linear + white)', 'exp(white)', 'white(-1)']) k;

-- In learners: canonical text, lengths learnt from data, random features of a mixture, kernels of rows.
CREATE TEMP TABLE points AS SELECT i AS id, ARRAY[(i * 7 % 20) / 20.0, (i * 3 % 11) / 11.0]::float8[] AS x,
    sin(i / 3.0) AS y, (i * 7 % 20) > 9 AS label FROM generate_series(1, 40) i;
SELECT learner(fit('krr(rational_quadratic(length_scale=median) + chi2)', x, y))::text
    ~ 'rational_quadratic\(alpha=1, length_scale=0\.\d+\) \+ chi2' AS learnt
FROM points;
SELECT k, accuracy >= 0.95 AS separates
FROM unnest(ARRAY['matern(nu=0.8)', 'cauchy', 'periodic(period=2)', 'chi2(gamma=5)', 'min', 'gibbs([0, 0, 0])',
    'rational_quadratic(0.5) + white(0.01)', 'inverse_multiquadric*brownian + 1']) k, LATERAL
    (SELECT avg((predict_label(m, x)::bool = label)::int) AS accuracy
     FROM (SELECT fit(format('svc(%s, c=1000)', k)::learner, x, label) AS m FROM points) f, points) a;
SELECT k, sqrt(avg((predict(a, x) - predict(b, x)) ^ 2)) < 0.1 * stddev(y) AS close
FROM unnest(ARRAY['rational_quadratic', 'cauchy', 'matern(nu=3.2)',
    'spectral_mixture([0.5, 1.5], [[0.3, 0], [0, 0.2]], [[0.1, 0.2], [0.1, 0.1]])']) k,
    LATERAL (SELECT fit(format('krr(%s, lambda=0.1, center=false)', k)::learner, x, y) AS a,
                    fit(format('rff(%s, n_components=2000) | ridge(lambda=0.1, intercept=false)',
                        k)::learner, x, y) AS b
             FROM points) f, points GROUP BY k ORDER BY k;
