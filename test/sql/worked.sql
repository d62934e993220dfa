-- Worked examples with known answers.
\i test/helpers.sql

-- The value of (x.z)^2 at (1,2), (3,1) is 25.
SELECT kernel_value('linear^2', '{1,2}', '{3,1}'), kernel_value('poly(degree=2, coef0=0)', '{1,2}', '{3,1}');

-- Kernel ridge on x = (0,1), y = (1,2), sigma = 1, lambda = 0.1, not centred: f = sum alpha_i k(x_i, .)
-- with alpha = (-0.134257878, 1.892210472).
CREATE TEMP TABLE ridge AS
    SELECT fit('krr(rbf(length_scale=1), lambda=0.1, center=false)', x, y) AS m
    FROM (VALUES ('{0}'::float8[], 1.0), ('{1}', 2)) v(x, y);
SELECT near(predict(m, '{0.5}'), 1.5513877191046792, 1e-12) AS f_0_5,
       near(predict(m, '{3}'), 0.2545913698969466, 1e-12) AS f_3,
       near(predict(m, '{-1}'), -0.13425787820991103 * exp(-0.5) + 1.8922104722202504 * exp(-2.0),
           1e-12) AS f_minus_1
FROM ridge;
SELECT bool_and(near(predict(m, ARRAY[x]), f, 1e-12)) AS grid
FROM ridge, unnest('{-5,-4,-3,-2,-1,0,1,2,3,4,5,6,7,8}'::float8[],
    '{-4.7151422054286927e-07,-3.7986888482372064e-05,-0.0008567044067100008,0.0028507316112356407,0.17465132075893652,
      1.013425787820991,1.8107789527779747,1.129513838056617,0.2545913698969466,0.02097552108487969,
      0.0006342655650079505,7.049567413774371e-06,2.8815253015227136e-08,4.332490227138542e-11}'::float8[]) t(x, f);

-- The hard-margin machine: w = (1,1), b = -3.  For a linear machine w and b can be read from decisions:
-- b = f(0,0), w1 = f(1,0) - b, w2 = f(0,1) - b.
CREATE FUNCTION line_of(m bytea) RETURNS float8[] LANGUAGE sql AS
    $$SELECT ARRAY[score(m, '{1,0}') - score(m, '{0,0}'), score(m, '{0,1}') - score(m, '{0,0}'), score(m,
        '{0,0}')]$$;
CREATE TEMP TABLE six (x float8[], label int);
INSERT INTO six VALUES ('{1,3}', 1), ('{3,1}', 1), ('{3,3}', 1), ('{1,1}', -1), ('{0,0}', -1), ('{1,-1}', -1);
SELECT near(line_of(m), '{1,1,-3}', 1e-5) AS line, near((model_info(m)->>'objective')::float8, 1,
    1e-5) AS objective,
       model_info(m)->'n_sv' AS n_sv, model_info(m)->'converged' AS converged
FROM (SELECT fit('svc(linear, c=inf, tol=1e-8)', x, label) AS m FROM six) t;
SELECT near(line_of(fit('svc(linear, c=1, tol=1e-8)', x, label)), '{1,1,-3}', 1e-5) AS soft_enough FROM six;
SELECT near(line_of(fit('svc(linear, c=1)', x, label)), '{1,1,-3}', 2e-3) AS default_tolerance FROM six;

-- With (2,2) labelled -1 the classes overlap.
CREATE TEMP TABLE seven AS SELECT * FROM six UNION ALL SELECT '{2,2}', -1;
SELECT near(line_of(m), '{1,1,-3}', 1e-5) AS line, near((model_info(m)->>'objective')::float8, 5,
    1e-5) AS objective
FROM (SELECT fit('svc(linear, c=2, tol=1e-8)', x, label) AS m FROM seven) t;
SELECT near(line_of(m), ARRAY[1/3.0, 1/3.0, -1], 1e-5) AS line,
       near((model_info(m)->>'objective')::float8, 17 / 18.0, 1e-5) AS objective
FROM (SELECT fit('svc(linear, c=0.25, tol=1e-8)', x, label) AS m FROM seven) t;
-- No row is on the margin here: every b from -2 to -1 is optimal, and the middle is taken.
SELECT near(line_of(m), '{0.5,0.5,-1.5}', 1e-5) AS line,
       near((model_info(m)->>'objective')::float8, 1.75, 1e-5) AS objective
FROM (SELECT fit('svc(linear, c=0.5, tol=1e-8)', x, label) AS m FROM seven) t;
-- No hard margin exists then: an error, or a warning and converged = false, never a wrong machine in silence.
SELECT fit('svc(linear, c=inf)', x, label) IS NULL FROM seven;

-- XOR with (1 + x.z)^2: f(x) = -x1 x2 and every alpha is 1/8; the objective, half of their sum, is 1/4.
CREATE TEMP TABLE xor AS
    SELECT fit('svc(poly(degree=2, gamma=1, coef0=1), c=inf, tol=1e-9)', x, y) AS m
    FROM (VALUES ('{-1,-1}'::float8[], -1), ('{-1,1}', 1), ('{1,-1}', 1), ('{1,1}', -1)) v(x, y);
SELECT near(score(m, '{1,1}'), -1, 1e-8) AS a, near(score(m, '{2,-3}'), 6, 1e-7) AS b, near(score(m, '{0,5}'),
    0, 1e-7) AS c,
       near((model_info(m)->>'objective')::float8, 0.25, 1e-8) AS objective, model_info(m)->'n_sv' AS n_sv
FROM xor;

-- Two moons, C = 1: accuracies, support vectors, objective and decisions of six widths and the linear
-- machine.
CREATE TEMP TABLE moons (id int, x1 float8, x2 float8, is_test int, y int);
\copy moons FROM 'test/data/moons.csv' CSV HEADER
CREATE TEMP TABLE moon_models AS
    SELECT kernel, fit(format('svc(%s, c=1)', kernel)::learner, ARRAY[x1, x2], y) AS m,
           fit(format('svc(%s, c=1, tol=1e-6)', kernel)::learner, ARRAY[x1, x2], y) AS precise
    FROM moons, unnest('{rbf(gamma=0.01),rbf(gamma=0.1),rbf(gamma=1),rbf(gamma=10),rbf(gamma=100),rbf(gamma=1000),linear}'::text[])
         WITH ORDINALITY AS k(kernel, place) WHERE is_test = 0 GROUP BY place, kernel ORDER BY place;
SELECT kernel, avg((predict(m, ARRAY[x1, x2]) = y)::int) FILTER (WHERE is_test = 0)::numeric(4,3) AS train,
       avg((predict(m, ARRAY[x1, x2]) = y)::int) FILTER (WHERE is_test = 1)::numeric(4,3) AS test,
       model_info(precise)->'n_sv' AS n_sv,
       abs((model_info(m)->>'n_sv')::int - (model_info(precise)->>'n_sv')::int) <= 1 AS at_default_tol
FROM moons, moon_models GROUP BY kernel, m, precise ORDER BY kernel COLLATE "C";
CREATE TEMP TABLE moon_reference (kernel text, objective float8, b float8, first float8[]);
INSERT INTO moon_reference VALUES
    ('rbf(gamma=0.01)', 162.19644758929155, 0.07003517817085926,
        '{0.8662147584286601,-1.014157496607599,-0.8655377419778634}'),
    ('rbf(gamma=0.1)', 108.27784781703963, 0.09958533314710115,
        '{1.7666692447213383,-1.8318549499221024,-1.383860169611869}'),
    ('rbf(gamma=1)', 62.38237776806374, -0.07682681575231474,
        '{1.978462670814944,-1.748699654574541,-1.019958925201291}'),
    ('rbf(gamma=10)', 58.312626129450145, -0.0426427030784878,
        '{1.0116301304764548,-0.9936810712043547,-1.1555315424925452}'),
    ('rbf(gamma=100)', 90.10151882539212, 0.020940487918856412,
        '{0.6290419979672313,-0.5401430222198731,-0.574427996943268}'),
    ('rbf(gamma=1000)', 134.46358231647085, 0.029075430501323742,
        '{0.029331751013537893,0.028949485366354655,0.023554258071472694}'),
    ('linear', 93.37244371061178, 0.07633061574753319, NULL);
SELECT kernel, near((model_info(m)->>'objective')::float8 / objective, 1, 1e-5) AS objective,
       near((model_info(precise)->>'objective')::float8 / objective, 1, 1e-9) AS precise,
       near(array_agg(score(m, ARRAY[x1, x2]) ORDER BY id), first, 5e-3) AS decisions,
       near(array_agg(score(precise, ARRAY[x1, x2]) ORDER BY id), first, 1e-5) AS precise_decisions
FROM moon_models JOIN moon_reference USING (kernel), moons WHERE id IN (1, 2, 5)
GROUP BY kernel, m, precise, objective, first ORDER BY kernel COLLATE "C";
SELECT near(score(precise, '{1,0}') - score(precise, '{0,0}'), 1.1142489574107244, 1e-5) AS w1,
       near(score(precise, '{0,1}') - score(precise, '{0,0}'), -2.8308235267648816, 1e-5) AS w2,
       near(score(precise, '{0,0}'), 0.07633061574753319, 1e-5) AS b     -- the middle of what is optimal
FROM moon_models WHERE kernel = 'linear';
