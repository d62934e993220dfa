-- Estimators on features: ridge with a choice of lambda, ridge_classifier, logistic, linear_svc, linear_svr.
\i test/helpers.sql

CREATE TABLE points AS
    SELECT i AS id, ARRAY[i * 37 % 101 / 50.0 - 1, i * i * 13 % 97 / 48.0 - 1, i % 7 / 7.0]::float8[] AS x,
           (i * 37 % 101 / 50.0 + i % 7 / 7.0 + i % 5 / 10.0)::float8 AS y,
           CASE WHEN i * 37 % 101 + i % 11 > i * i * 13 % 97 + 5 THEN 'up' ELSE 'down' END AS label,
           CASE WHEN i * 37 % 101 < 30 THEN 1 WHEN i * i * 13 % 97 < 50 THEN 2 ELSE 3 END AS class, i % 3 + 1 AS w
    FROM generate_series(1, 150) i;
ANALYZE points;

-- lambda from a grid, from rows and from sums, and the same model as with the value alone.
CREATE TEMP TABLE choices AS
    SELECT fit('ridge(lambda=logspace(-4, 2, 7), select=gcv)', x, y) AS rows,
           fit('rff(rbf(gamma=1), 40) | ridge(lambda=logspace(-4, 2, 7), select=gcv)', x, y) AS streamed,
           solve(accumulate('rff(rbf(gamma=1), 40)', x, y), 'ridge(lambda=logspace(-4, 2, 7), select=gcv)') AS solved
    FROM points;
SELECT learner(rows), learner(streamed), streamed = solved AS same, near(predict(rows, '{0,0,0}'),
    predict(fit(learner(rows), x, y), '{0,0,0}'), 1e-12) AS alone,
       model_info(rows) ? 'gcv' AND model_info(streamed) ? 'effective_df' AS facts
FROM choices, points GROUP BY rows, streamed, solved;
SELECT (model_info(streamed)->>'gcv')::float8 <= min((model_info(m)->>'gcv')::float8) AS best
FROM choices, (SELECT fit(format('rff(rbf(gamma=1), 40) | ridge(lambda=grid(%s), select=gcv)', lambda)::learner, x, y) AS m
               FROM points, unnest('{0.0001,0.01,1,100}'::float8[]) lambda GROUP BY lambda) others
GROUP BY streamed;

-- Classifiers: two and three classes, texts and numbers, the values they give.
CREATE TEMP TABLE classifiers AS
    SELECT l, fit(l, x, label) AS two, fit(l, x, class) AS three
    FROM points, (VALUES ('ridge_classifier(0.1)'::learner), ('logistic(c=10)'), ('linear_svc(c=10)'),
                  ('rff(rbf(gamma=1), 60) | logistic(c=10)'), ('nystroem(rbf(gamma=1), 30) | linear_svc'),
                  ('scale | poly_features(2) | ridge_classifier')) t(l) GROUP BY l;
SELECT l, classes(two) AS two, classes(three) AS three, array_length(decision(three, '{0,0,0}'), 1) AS values,
       model_info(two)->'converged' AS converged,
       avg((predict_label(two, x) = label)::int) > 0.8 AS right_of_two, avg((predict(three, x) = class)::int) > 0.7 AS
           right_of_three
FROM classifiers, points GROUP BY l, two, three ORDER BY l;
SELECT l, bool_and((score(two, x) > 0) = (predict_label(two, x) = 'up')) AS sign,
       bool_and((decision(three, x))[predict(three, x)::int] = (SELECT max(v) FROM unnest(decision(three, x)) v))
           AS largest
FROM classifiers, points WHERE l::text !~ 'linear_svc' GROUP BY l ORDER BY l;

-- Two rows at 0 and one at 300: w = 2/300, b = -1, objective w^2/2, for every c that separates; a gap that is as
-- large as the objective is no end.
SELECT c, near(k.coefficients, ARRAY[2 / 300.0], 1e-4 / 300) AND near(k.intercept, -1, 1e-4) AS plane,
       near((model_info(m)->>'objective')::float8 * 45000, 1, 1e-6) AS objective, model_info(m)->'converged' AS converged
FROM (SELECT c, fit(format('linear_svc(c=%s)', c)::learner, ARRAY[a::float8], b) AS m
      FROM (VALUES (0, 0), (0, 0), (300, 1)) v(a, b), unnest(ARRAY[1, 100, 1e4, 1e6]) c GROUP BY c) t,
     LATERAL coefficients(m) k ORDER BY c;

-- Probabilities of logistic: those of its values; the label is the most probable class.
SELECT bool_and(near(probability(two, x, 'up'), 1 / (1 + exp(-score(two, x))), 1e-12)) AS logistic,
       bool_and(near((SELECT sum(p) FROM unnest(predict_proba(three, x)) p), 1, 1e-12)) AS sums,
       bool_and((SELECT label FROM predict_top(three, x, 1)) = predict_label(three, x)) AS label
FROM classifiers, points WHERE l = 'logistic(c=10)';
SELECT error_of($$SELECT predict_proba(two, '{0,0,0}') FROM classifiers WHERE l = 'linear_svc(c=10)'$$);
-- Classes weighed, and each against the rest, as svc does.
SELECT o AS options, sum((predict_label(a, x) = predict_label(b, x))::int) AS same,
    max(abs((decision(a, x))[1] - (decision(b, x))[1])) < 1e-3 AS near,
    (SELECT array_agg(concat_ws(' against ', label, against) ORDER BY output) FROM coefficients(a)) AS functions
FROM points, (SELECT o, fit(format('linear_svc(c=1, %s)', o)::learner, x, class) AS a,
                     fit(format('svc(linear, c=1, tol=1e-6, %s)', o)::learner, x, class) AS b
              FROM points, unnest('{"multiclass=ovr","class_weight=balanced","class_weight={1: 4}, multiclass=ovr"}'::text[]) o
              GROUP BY o) m GROUP BY o, a ORDER BY o;

-- Linear machines are those with the linear kernel.
SELECT c, near((model_info(a)->>'objective')::float8 / (model_info(b)->>'objective')::float8, 1, 1e-6) AS objective,
       bool_and(near(decision(a, x), decision(b, x), 1e-3)) AS decisions
FROM points, (SELECT c, fit(format('linear_svc(c=%s)', c)::learner, x, class, w) AS a,
                     fit(format('svc(linear, c=%s, tol=1e-7)', c)::learner, x, class, w) AS b
              FROM points, unnest('{0.05,1,100}'::float8[]) c GROUP BY c) models GROUP BY c, a, b ORDER BY c;
SELECT epsilon, near((model_info(a)->>'objective')::float8 / (model_info(b)->>'objective')::float8, 1, 1e-6) AS objective,
       bool_and(near(predict(a, x), predict(b, x), 1e-4)) AS values
FROM points, (SELECT epsilon, fit(format('linear_svr(2, epsilon=%s)', epsilon)::learner, x, y, w) AS a,
                     fit(format('svr(linear, c=2, epsilon=%s, tol=1e-7)', epsilon)::learner, x, y, w) AS b
              FROM points, unnest('{0,0.05,0.3}'::float8[]) epsilon GROUP BY epsilon) models
GROUP BY epsilon, a, b ORDER BY epsilon;
SELECT near(predict_vector(m, '{0,0,0}'), ARRAY[predict(a, '{0,0,0}'), predict(b, '{0,0,0}')], 1e-6) AS targets
FROM (SELECT fit('linear_svr', x, ARRAY[y, -y]) AS m, fit('linear_svr', x, y) AS a, fit('linear_svr', x, -y) AS b
      FROM points) models;

-- Whole-number weights are repeated rows; the order of rows does not matter; the same bits in every form.
SELECT l, bool_and(near(decision(a, x), decision(b, x), 1e-5)) AS weights, bool_and(again) AS bytes,
       bool_and(predict(a, x) = (predict_batch(a, ARRAY[x]))[1]) AS bits
FROM points, (SELECT l, fit(l, x, class, w) AS a, fit(l, x, class ORDER BY id) = fit(l, x, class ORDER BY -id) AS again,
                     (SELECT fit(l, x, class) FROM points, generate_series(1, w)) AS b
              FROM points, (VALUES ('ridge_classifier'::learner), ('logistic'), ('linear_svc')) t(l) GROUP BY l) models
GROUP BY l ORDER BY l;

-- Coefficients.
SELECT l, (SELECT bool_and(near((decision(three, '{0.5,-0.2,0.3}'))[output], c.intercept +
    0.5 * coefficients[1] - 0.2 * coefficients[2] + 0.3 * coefficients[3], 1e-9)) FROM coefficients(three) c) AS same
FROM classifiers WHERE l::text !~ '\|' ORDER BY l;

-- Weights whose squares overflow, as those without squares that do; where the loss overflows, an error.
SELECT near(decision(m, '{0.5,-0.2,0.3}'), decision(c, '{0.5,-0.2,0.3}'), 1e-6) AS as_smaller, model_info(m)->'converged' AS converged,
    near(decision(u, '{0.5,-0.2,0.3}'), decision(v, '{0.5,-0.2,0.3}'), 1e-5) AS as_smaller_class
FROM (SELECT fit('logistic', x, id % 3, 1e200) AS m, fit('logistic', x, id % 3, 1e140) AS c,
    fit('logistic(class_weight={0: 1e160, 1: 1, 2: 1})', x, id % 3) AS u, fit('logistic(class_weight={0: 1e140, 1: 1, 2: 1})', x, id % 3) AS v
    FROM points) models;
SELECT error_of($$SELECT fit('logistic', x, class, 1e307) FROM points$$) AS overflow;

-- What is refused, and an iteration limit.
SELECT l, error_of(format('SELECT fit(%L, x, label) FROM points WHERE label = ''up''', l)) FROM (VALUES
    ('ridge_classifier'), ('logistic'), ('linear_svc')) t(l);
SELECT l, error_of(format('SELECT fit(%L, x, y) FROM points', l)) FROM (VALUES
    ('ridge(1, select=gcv)'), ('ridge(grid(1, 2))'), ('linear_svr(c=inf)'), ('linear_svr(c=0)'), ('ridge(lambda=grid(1, 2), select=loo)'))
    t(l);
SET client_min_messages = warning;
SELECT model_info(fit('logistic(c=100, max_iter=1)', x, label))->'converged' AS converged FROM points;
SELECT model_info(fit('linear_svr(max_iter=2)', x, y))->'converged' AS converged FROM points;
RESET client_min_messages;
SET statement_timeout = '100ms';
SELECT error_of('SELECT fit(''rff(rbf(gamma=1), 1000) | logistic(c=1e4)'', ARRAY[sin(i), cos(i * i)], i % 3)
    FROM generate_series(1, 20000) i') AS cancelled;
RESET statement_timeout;
DROP TABLE points;
