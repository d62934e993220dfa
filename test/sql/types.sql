-- The types kernel and learner: canonical text, errors that show the place, order, hash, wire.
\i test/helpers.sql

-- Output is canonical: aliases replaced, arguments named, kernel first; parse(print(s)) = s.
CREATE TEMP TABLE kernels (typed text);
INSERT INTO kernels VALUES
    ('linear'), ('constant'), ('constant(2.5)'), ('poly'), ('poly(2)'),
        ('polynomial(degree=4, gamma=0.5, coef0=0)'),
    ('rbf'), ('RBF(Gamma=0.5)'), ('gaussian(length_scale=2)'), ('rbf(gamma=scale)'), ('rbf(gamma=median)'),
    ('rbf(length_scale=[1,2,3])'), ('rbf(metric=[[2,0],[0,1]])'), ('laplacian(0.25)'), ('exponential(3)'),
    ('matern'), ('matern(nu=2.5, length_scale=0.5)'), ('tanh(0.1, 1)'), ('sigmoid(coef0=-1)'), ('cosine'),
    ('rbf(gamma=0.5)+2*linear'), ('2 * rbf(gamma=1) * linear ^ 3'), ('(linear + rbf(gamma=1)) ^ 2'),
        ('exp(linear)'),
    ('normalize(poly(2))'), ('rbf(gamma=1, dims=[1,3]) + linear(dims=[2])'), ('rbf(gamma=1e-300)'),
        ('linear + 0.5');
SELECT typed, typed::kernel AS canonical FROM kernels;
SELECT bool_and(typed::kernel::text::kernel = typed::kernel) AS parse_undoes_print FROM kernels;

CREATE TEMP TABLE learners (typed text);
INSERT INTO learners VALUES
    ('scale'), ('svc'), ('svc(rbf(gamma=auto),c=10)'), ('svc(linear, 5)'), ('svc(cost=2, kernel=poly(2))'),
    ('scale|svc'), ('impute(median) | scale | krr(rbf, alpha=0.1, center=false)'),
        ('minmax | krr(laplacian(1), loo=true)'),
    ('rff(rbf(gamma=0.1), n_components=50, seed=7)|ridge(0.5)'),
        ('rff(gaussian(1), 20) | ridge(alpha=0.1, intercept=false)'),
    ('svc(rbf, class_weight=balanced)'), ('svc(rbf, class_weight={spam: 3, ''not spam'': 1})'),
        ('svc(linear, c=inf)'),
    ('krr(rbf(gamma=1), lambda=logspace(-3, 2, 6))'), ('scale(mean=[1,2], sd=[3,4])'),
        ('minmax(min=[0], max=[1])'),
    ('impute(values=[1,2])'), ('impute(0)');
SELECT typed, typed::learner AS canonical FROM learners;
SELECT bool_and(typed::learner::text::learner = typed::learner) AS parse_undoes_print FROM learners;

-- A spec may be the value of a text expression.
SELECT format('svc(rbf(gamma=%s), c=%s)', 0.5, 10)::learner;

-- Errors show the place and list what is known.
SELECT 'rbf(gamma=1'::kernel;
SELECT 'rbf(gamma=1))'::kernel;
SELECT ''::kernel;
SELECT 'linear +'::kernel;
SELECT 'svc | scale'::learner;
SELECT 'svc | krr'::learner;
SELECT 'rbf'::learner;
SELECT 'svc(scale)'::learner;
SELECT 'scale | svc(rbf, c=ten)'::learner;
SELECT E'linear +\n  rbf(gamma=oops)'::kernel;
SELECT 'rbf(gamma=0.5) é'::kernel;

SELECT whole_error_of($$SELECT 'rbff(gamma=1)'::kernel$$) ~
    'unknown kernel "rbff"\nAt character 1: "rbff\(gamma=1\)"\.\nPerhaps you mean rbf\. Known: .*linear.*matern.*normalize' AS kernel,
    whole_error_of($$SELECT 'svcc'::learner$$) ~ 'unknown step or estimator "svcc"\n.*\nPerhaps you mean svc\. Known: .*scale.*rff.*krr' AS learner;
SELECT error_of($$SELECT 'linear + rbf(gama=1)'::kernel$$);
SELECT error_of($$SELECT 'rbf(gamma=1, length_scale=2)'::kernel$$);
SELECT error_of($$SELECT 'krr(rbf, lamda=1)'::learner$$);

-- Ranges of parameters: errors name the parameter and its value, never a silent default.
SELECT spec, error_of(format('SELECT %L::learner', spec)) AS error
FROM unnest('{"svc(linear, c=0)", "svc(linear, c=-1)", "svc(linear, c=NaN)", "svc(rbf(gamma=-1))", "svc(rbf(gamma=NaN))",
    "svc(poly(degree=-1))", "svc(poly(degree=1.5))", "svc(rbf(gamma=1, degree=3))", "svc(rbf, gama=1)",
        "svc(rbf, tol=0)",
    "svc(rbf, max_iter=0)", "svc(rbf, max_iter=-1)", "krr(rbf, lambda=-1)", "rff(rbf, n_components=0)",
    "rff(rbf, n_components=-3)", "rff(rbf, n_components=2147483648)", "rff(rbf, n_components=NULL)",
    "rff(rbf, seed=-1)", "rff(rbf, seed=1.5)", "rff(rbf, seed=99999999999999999999)",
    "matern(nu=2)", "svc(matern(nu=0))", "svc(exponential(length_scale=0))",
        "impute(mode)"}'::text[]) AS spec;

-- Limits of depth and size.
SELECT left(error_of(format('SELECT %L::kernel', repeat('(', 100000) || 'linear' || repeat(')', 100000))),
    70);
SELECT length(('linear' || repeat(' + linear', 100000))::kernel::text);
SELECT error_of(format('SELECT %L::kernel', repeat('x', 1000000)));
SELECT whole_error_of(format('SELECT %L::kernel', repeat('x', 1000)));
-- What messages quote is short, and ends between characters.
SELECT whole_error_of(format('SELECT %L::learner', format('svc(class_weight={%L: -1})', repeat('ä', 100000))));
SELECT whole_error_of(format('SELECT %L::learner', format('svc(class_weight={a: 1, %L: 1, %1$L: 2})', 'x' || repeat('ä', 100000))));

-- Names do not depend on the locale, numbers always use a point.
SELECT 'LINEAR + SIGMOID(0.5) + LAPLACIAN(1)'::kernel;

-- Order and hash: bytewise on the canonical text, so equal specs are equal however they were typed.
SELECT 'rbf(gamma=1)'::kernel = 'RBF( gamma = 1.0 )' AS same, 'linear'::kernel < 'rbf' AS less,
       'linear'::kernel <> 'linear' AS different, 'linear'::kernel >= 'cosine' AS not_less;
SELECT k FROM (VALUES ('rbf'::kernel), ('linear'), ('cosine'), ('poly')) v(k) ORDER BY k;
SELECT DISTINCT k FROM (VALUES ('rbf(gamma=1)'::kernel), ('gaussian(gamma=1)'), ('linear')) v(k) ORDER BY k;
SELECT count(DISTINCT l) FROM (VALUES ('svc'::learner), ('SVC'), ('krr')) v(l);
SELECT min(k::text), count(*) FROM (VALUES ('rbf(gamma=1)'::kernel), ('gaussian(gamma=1)'), ('linear')) v(k)
GROUP BY k ORDER BY k;

CREATE TEMP TABLE left_side (l learner, k kernel);
CREATE TEMP TABLE right_side (l learner, k kernel);
INSERT INTO left_side SELECT format('krr(rbf(gamma=%s))', i)::learner, format('rbf(gamma=%s)', i)::kernel
    FROM generate_series(1, 300) i;
INSERT INTO right_side SELECT format('KRR(gaussian(gamma=%s.0))', i)::learner, format('gaussian(gamma=%s.0)',
    i)::kernel
    FROM generate_series(201, 500) i;
ANALYZE left_side, right_side;
SET enable_mergejoin = off;
SET enable_nestloop = off;
SELECT plan_has('SELECT FROM left_side JOIN right_side USING (l)', 'Hash Join') AS hash_join;
SELECT count(*) FROM left_side JOIN right_side USING (l);
SELECT count(*) FROM left_side JOIN right_side USING (k);
SET enable_mergejoin = on;
SET enable_hashjoin = off;
SELECT plan_has('SELECT FROM left_side JOIN right_side USING (k)', 'Merge Join') AS merge_join;
SELECT count(*) FROM left_side JOIN right_side USING (k);
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_nestloop;
CREATE UNIQUE INDEX ON left_side (l);
CREATE INDEX ON left_side USING hash (k);
SELECT error_of($$INSERT INTO left_side VALUES ('krr( rbf( gamma=7))', 'linear')$$);
SET enable_seqscan = off;
SELECT plan_has($$SELECT FROM left_side WHERE l = 'krr(rbf(gamma=7))'$$, 'Index') AS btree,
       plan_has($$SELECT FROM left_side WHERE k = 'rbf(gamma=7)'$$, 'Index') AS hash;
SELECT count(*) FROM left_side WHERE l = 'krr(rbf(gamma=7))';
SELECT count(*) FROM left_side WHERE k = 'rbf(gamma=7)';
RESET enable_seqscan;

-- Hash partitions use the seeded hash.
CREATE TABLE by_kernel (k kernel, n int) PARTITION BY HASH (k);
CREATE TABLE by_kernel_0 PARTITION OF by_kernel FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE by_kernel_1 PARTITION OF by_kernel FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO by_kernel SELECT format('rbf(gamma=%s)', i)::kernel, i FROM generate_series(1, 100) i;
SELECT count(*) FROM by_kernel WHERE k = 'rbf(gamma=42.0)';
SELECT count(*) > 20 AS both_used FROM by_kernel_0;
DROP TABLE by_kernel;

-- The binary form, through COPY and through send.
CREATE TABLE specs (k kernel, l learner);
INSERT INTO specs SELECT k.typed::kernel, l.typed::learner FROM kernels k CROSS JOIN learners l;
CREATE TABLE specs_copy (LIKE specs);
\copy specs TO 'specs.copy' (FORMAT binary)
\copy specs_copy FROM 'specs.copy' (FORMAT binary)
\! rm -f specs.copy
SELECT count(*) > 0 AS some, count(*) FILTER (WHERE s.k::text <> c.k::text
    OR s.l::text <> c.l::text) AS differ
FROM (SELECT *, row_number() OVER (ORDER BY k, l) FROM specs) s
JOIN (SELECT *, row_number() OVER (ORDER BY k, l) FROM specs_copy) c USING (row_number);
SELECT encode(kernel_send('linear'), 'escape') AS wire, encode(learner_send('svc'), 'escape');
DROP TABLE specs, specs_copy;

-- A large spec lives in TOAST and comes back.
CREATE TEMP TABLE large AS
    SELECT format('scale(mean=[%s], sd=[%s])', string_agg(i::text, ','),
        string_agg((i * 7919 % 1000 + 1)::text, ','))::learner AS l
    FROM generate_series(1, 3000) i;
SELECT length(l::text) > 20000 AS large, l = l::text::learner AS same FROM large;

-- NULL in, NULL out.
SELECT NULL::kernel IS NULL, NULL::learner IS NULL, NULL::kernel = 'linear' IS NULL;
