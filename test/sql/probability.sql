-- Probabilities of svc: calibrated on rows that a machine has not seen, coupled for more classes.
\i test/helpers.sql

-- Two classes that overlap, with labels of several types; noise by the digits of a hash.
CREATE TEMP TABLE two AS
    SELECT i, ARRAY[u + (i % 2), v] AS x, i % 2 = 1 AS yes, CASE i % 2 WHEN 1 THEN 'yes' ELSE 'no' END
        AS word, i % 2 AS number
    FROM generate_series(1, 200) i,
        LATERAL (SELECT ('x' || substr(md5(i::text), 1, 7))::bit(28)::int / 134217728.0 - 1,
                        ('x' || substr(md5(i::text), 9, 7))::bit(28)::int / 134217728.0 - 1) r(u, v);

-- In the order of classes(), adding up to 1, the label is the larger one, and half is where the sigmoid says.
SELECT classes(m), count(*),
       bool_and(near(p[1] + p[2], 1, 1e-15)) AS sums_to_1,
       bool_and(predict_label(m, x) = (classes(m))[1 + (p[2] > p[1])::int]) AS label_is_larger,
       bool_and(probability(m, x, 'yes') = p[2] AND probability(m, x, 'no') = p[1]) AS by_label,
       avg((predict_label(m, x) = word)::int) > 0.7 AS accurate,
       corr(p[2], score(m, x)) > 0.9 AS follows_decision,
       near(avg(p[2]), 0.5, 0.05) AS mean_is_share
FROM two, (SELECT fit('scale | svc(rbf(gamma=0.5), probability=true)', x, word) FROM two) f(m),
    LATERAL predict_proba(m, x) p
GROUP BY m;

-- Calibrated: of rows with probability about p, about p are of the class.
SELECT width_bucket(p, 0, 1, 4) AS quarter, near(avg(number), avg(p), 0.12) AS calibrated
FROM two, (SELECT fit('svc(linear, probability=true)', x, number) FROM two) f(m), LATERAL probability(m, x,
    1) p
GROUP BY 1 HAVING count(*) > 10 ORDER BY 1;

-- Labels by their value, whatever the type; decision and score are the plain machine's.
SELECT bool_and(probability(b, x, true) = probability(b, x, 't') AND probability(b, x,
    'true') = probability(b, x, true))
           AS of_bool,
       bool_and(probability(n, x, 1) = probability(n, x, '1') AND probability(n, x, 1.0) = probability(n, x,
           1::int8)) AS of_number,
       bool_and(probability(n, x, 1) = probability(b, x, true)) AS same,
       bool_and(predict(n, x) = (probability(n, x, 1) > 0.5)::int) AS predict,
       bool_and(decision(n, x) = decision(plain, x)) AS raw
FROM two, (SELECT fit('svc(probability=true)', x, yes), fit('svc(probability=true)', x, number), fit('svc',
    x, number) FROM two) f(b, n, plain);

-- The same model whatever the order of rows; the seed of the folds matters.
SELECT a = b AS same_bytes, a = c AS same_seed
FROM (SELECT fit('svc(probability=true)', x, word ORDER BY i) AS a, fit('svc(probability=true)', x,
    word ORDER BY i DESC) AS b,
             fit('svc(probability=true, seed=1)', x, word) AS c FROM two) f;

-- A probability belongs to its label, not to the place where the label came first.
CREATE TEMP TABLE forty AS SELECT i, ARRAY[i::float8] AS x, (i > 20)::int AS label FROM generate_series(1,
    40) i;
SELECT classes(m), probability(m, '{35}', 1) > 0.5 AND probability(m, '{35}', 0) < 0.5 AS of_its_label,
       probability(m, '{35}', 1) = (predict_proba(m, '{35}'))[2] AS sorted
FROM (SELECT fit('svc(probability=true)', x, label ORDER BY i) FROM forty UNION ALL
      SELECT fit('svc(probability=true)', x, label ORDER BY i DESC) FROM forty) f(m);

-- A weight counts as repeated rows.
SELECT bool_and(near(predict_proba(w, x), predict_proba(r, x), 1e-4)) AS weights_repeat
FROM two, (SELECT fit('svc(rbf(gamma=1), probability=true, tol=1e-8)', x, word, 1 + i % 3) FROM two) a(w),
    (SELECT fit('svc(rbf(gamma=1), probability=true, tol=1e-8)', x, word) FROM two, generate_series(0,
        i % 3)) b(r);

-- Four classes of very different sizes: nothing collapses to the largest, with probabilities or without.
CREATE TEMP TABLE four AS
    SELECT ARRAY[3 * k + 0.3 * sin(i), 0.3 * cos(7 * i)] AS x, k
    FROM (VALUES (0, 61), (1, 91), (2, 9), (3, 9)) c(k, n), generate_series(1, n) i;
SELECT count(*), bool_and(predict(p, x) = k) AS right, bool_and(predict(plain, x) = k) AS plain_right,
       count(DISTINCT predict(p, x)) AS classes,
       bool_and(near((SELECT sum(u) FROM unnest(predict_proba(p, x)) u), 1, 1e-12)) AS sums_to_1,
       bool_and((SELECT max(u) FROM unnest(predict_proba(p, x)) u) = probability(p, x, k)) AS label_is_largest
FROM four, (SELECT fit('svc(rbf(gamma=scale), probability=true)', x, k), fit('svc(rbf(gamma=scale))', x,
    k) FROM four) f(p, plain);

-- The most probable classes first; rows with NaN have none.
SELECT t.label, near(t.probability, probability(m, '{3,0}', t.label), 0) AS probability
FROM (SELECT fit('svc(probability=true)', x, k) FROM four) f(m), predict_top(m, '{3,0}', 2) t LIMIT 1;
SELECT (SELECT count(*) FROM predict_top(m, '{1,1}', 2)) AS two, (SELECT count(*) FROM predict_top(m,
    '{1,1}', 9)) AS all_four,
       (SELECT count(*) FROM predict_top(m, '{1,NaN}', 9)) AS of_nan, predict_proba(m, '{1,NaN}') AS proba,
           predict_label(m, '{1,NaN}') AS label,
       (SELECT bool_and(t.probability >= u.probability) FROM predict_top(m, ARRAY[1, 1], 4) WITH ORDINALITY t,
            predict_top(m, ARRAY[1, 1], 4) WITH ORDINALITY u WHERE t.ordinality < u.ordinality) AS sorted,
       predict_proba(m, NULL) IS NULL AND probability(m, '{1,1}', NULL::int) IS NULL AS of_null
FROM (SELECT fit('svc(probability=true)', x, k) FROM four) f(m);

-- Too few different rows for the folds: an error that says how many are needed.
SELECT whole_error_of($$SELECT fit('svc(linear, probability=true)', x, y)
                        FROM (VALUES ('{2,0}'::float8[], 1), ('{-2,0}', -1)) v(x, y)$$) AS two_rows;
SELECT error_of($$SELECT fit('svc(linear, probability=true)', x, y)
                  FROM (VALUES ('{0}'::float8[], 'a'), ('{1}', 'a'), ('{2}', 'a'), ('{8}', 'b'), ('{9}',
                      'b')) v(x, y)$$) AS five_rows;
SELECT error_of($$SELECT fit('svc(linear, probability=true)', ARRAY[i % 2], i % 2) FROM generate_series(1,
    50) i$$) AS repeated;
SELECT error_of($$SELECT fit('svc(linear, probability=true, class_weight={0: 0})', x, k % 3) FROM four$$)
    AS left_out;
SELECT whole_error_of($$SELECT fit('svc(probability=true, multiclass=ovr)', x, k) FROM four$$)
    AS against_the_rest;

-- Machines that have none say so when they are typed; models that have none, when they are asked.
SELECT error_of(format('SELECT %L::learner', l))
    FROM unnest('{nu_svc(probability=true),one_class(probability=true)}'::text[]) l;
CREATE TEMP TABLE models AS SELECT fit('svc', x, number) AS plain, fit('svc(probability=true)', x,
    number) AS calibrated FROM two;
SELECT whole_error_of('SELECT predict_proba(plain, ''{1,1}'') FROM models') AS plain,
       error_of('SELECT probability(plain, ''{1,1}'', 1) FROM models') AS probability,
       error_of('SELECT predict_top(plain, ''{1,1}'', 1) FROM models') AS top,
       error_of('SELECT predict_top(calibrated, ''{1,1}'', 0) FROM models') AS none,
       whole_error_of('SELECT probability(calibrated, ''{1,1}'', 7) FROM models') AS label,
       error_of('SELECT predict_proba(calibrated, ''{1}'') FROM models') AS features;
SELECT error_of($$SELECT predict_proba(fit('ridge', x, number), '{1,1}') FROM two$$) AS regression,
       error_of($$SELECT predict_proba(fit('scale', x), '{1,1}') FROM two$$) AS steps;
