-- Geometry of feature space: distances, centred and normalised Gram matrices, spectra, norms.
\i test/helpers.sql

-- The distance of the linear kernel is Euclidean; worked values of others.
SELECT distance('linear', '{1,2}', '{4,6}') AS linear, near(distance('rbf(gamma=0.5)', '{0,0}', '{1,1}'), sqrt(2 - 2 * exp(-1)), 1e-15) AS rbf,
       near(distance('poly(degree=2)', '{1}', '{2}'), sqrt(4.0 - 2 * 9 + 25), 1e-14) AS poly,
       distance('cosine', '{1,0}', '{0,5}') = sqrt(2::float8) AS cosine;
-- Small ones are exact: sqrt(2 gamma) |r| for rbf, where the formula as written gives 0.
SELECT k, near(distance(k::kernel, '{1e6,3}', '{1e6,3.000000001}') / (f * (3.000000001 - 3::float8) ^ p), 1, 1e-6) AS small,
       distance(k::kernel, '{0.1,3}', '{0.1,3}') AS none
FROM (VALUES ('linear', 1, 1.0), ('rbf(gamma=2)', 2, 1.0), ('rbf(length_scale=[1, 0.1])', 10, 1), ('laplacian(gamma=2)', 2, 0.5),
             ('exponential(length_scale=0.5)', 2, 0.5), ('rbf(gamma=2) + 3*linear', sqrt(7), 1), ('rbf(gamma=2)*rbf(gamma=1)', sqrt(6), 1),
             ('5*rbf(gamma=2)^3', sqrt(60), 1), ('exp(rbf(gamma=0.5))', sqrt(exp(1)), 1), ('normalize(rbf(gamma=2) + rbf(gamma=4))', sqrt(6), 1)
     ) v(k, f, p);
-- The formula itself, for kernels and rows of any kind.
SELECT bool_and(near(distance(k::kernel, x, z), sqrt(kernel_value(k::kernel, x, x) - 2 * kernel_value(k::kernel, x, z) + kernel_value(k::kernel, z, z)), 1e-9)) AS formula
FROM unnest('{linear,"rbf(gamma=0.3)","matern(nu=2.5)","poly(degree=3)","linear*rbf(gamma=0.1)","exp(0.1*linear)","normalize(poly)","(linear + 1)^4","laplacian(gamma=1) + 2*cosine"}'::text[]) k,
     (VALUES ('{1,2}'::float8[], '{2,-1}'::float8[]), ('{0.5,0}', '{-1,3}'), ('{1,1}', '{1,1.5}')) v(x, z);
SELECT distance('linear', ARRAY[1, 2], ARRAY[4, 6]::real[]) AS types, distance('linear', NULL, '{1}') IS NULL AS null_row;
SELECT whole_error_of($$SELECT distance('linear', '{1}', '{1,2}')$$);
SELECT whole_error_of($$SELECT distance('rbf(gamma=scale)', '{1}', '{2}')$$);
SELECT whole_error_of($$SELECT distance('linear', '{NaN}', '{2}')$$);
SELECT whole_error_of($$SELECT distance('linear', '{1e200}', '{-1e200}')$$);
SELECT whole_error_of($$SELECT distance('sigmoid(gamma=1, coef0=0)', '{1}', '{3}')$$);

-- median_distance: distances 1, 3, 4 of three points; by content, so in any order; NULL rows are skipped.
SELECT median_distance(ARRAY[v]) FROM unnest('{1,2,5}'::float8[]) v;
SELECT median_distance(ARRAY[v, 0]) FROM unnest('{1,2,5,NULL}'::float8[]) v WHERE v IS NOT NULL;
SELECT median_distance(x) AS some FROM (VALUES ('{0,0}'::float8[]), (NULL), ('{3,4}')) v(x);
SELECT median_distance('{1}') IS NULL AS one_row, (SELECT median_distance(ARRAY[1.0]) FROM pg_class WHERE false) IS NULL AS no_rows;
SELECT median_distance('{7}') AS equal_rows FROM generate_series(1, 5);
-- Equal rows are pairs at distance 0: half of the pairs, most of them (then the median of the rest), fewer.
SELECT (SELECT median_distance(ARRAY[v]) FROM unnest('{0,0,0,1}'::float8[]) v) AS half,
    (SELECT median_distance(ARRAY[v]) FROM unnest('{0,0,0,0,0,0,0,0,100,103,0.001}'::float8[]) v) AS most,
    (SELECT median_distance(ARRAY[v]) FROM unnest('{0,0,0,0,0,0,1,5,9}'::float8[]) v) AS fewer;
SELECT whole_error_of($$SELECT median_distance(ARRAY[v]) FROM unnest('{0,1e200}'::float8[]) v$$) AS median,
    whole_error_of($$SELECT learner(fit('krr(laplacian(gamma=median))', ARRAY[v], v)) FROM unnest('{0,1e308,-1e308}'::float8[]) v$$)
        AS gamma, whole_error_of($$SELECT fit('krr(laplacian(gamma=scale))', ARRAY[v], 1) FROM unnest('{0,1,1e200}'::float8[]) v$$) AS scale;
-- The row to blame is the largest, though it moves the mean away from the others.
SELECT whole_error_of($$SELECT kernel_matrix('rbf(gamma=1)', '{{2},{1},{1e200}}')$$);
-- A row that is too large for k(x,x) has no normalised values.
SELECT whole_error_of($$SELECT kernel_value('normalize(linear)', '{1e200}', '{1}')$$) AS value,
    whole_error_of($$SELECT gram('normalize(poly(degree=3))', ARRAY[v]) FROM unnest('{1e52,1}'::float8[]) v$$) AS gram,
    whole_error_of($$SELECT predict(fit('krr(normalize(linear + 1))', ARRAY[i], i), '{1e160}') FROM generate_series(1, 5) i$$) AS predict;
SELECT count(DISTINCT m) AS any_order FROM (
    SELECT median_distance(ARRAY[sin(i), cos(3 * i)] ORDER BY i) AS m FROM generate_series(1, 2500) i UNION ALL
    SELECT median_distance(ARRAY[sin(i), cos(3 * i)] ORDER BY -i) FROM generate_series(1, 2500) i) t;
SELECT near(kernel_value(format('rbf(gamma=%s)', 1 / (2 * m * m))::kernel, '{0}', '{1}'),
            kernel_value(substring(learner(fit)::text FROM 'rbf.[^)]*.')::kernel, '{0}', '{1}'), 1e-15) AS as_gamma_median
FROM (SELECT median_distance(ARRAY[i * i]) AS m, fit('krr(rbf(gamma=median))', ARRAY[i * i], i) AS fit FROM generate_series(1, 40) i) t;
SELECT whole_error_of($$SELECT median_distance(x) FROM (VALUES ('{1,2}'::float8[]), ('{1}')) v(x)$$);
SELECT whole_error_of($$SELECT median_distance(x) FROM (VALUES ('{1,2}'::float8[]), ('{1,NaN}')) v(x)$$);

-- Centring: rows sum to 0; of the linear kernel, the Gram matrix of centred rows.
CREATE TABLE points AS SELECT i AS id, ARRAY[sin(i), cos(3 * i), i % 3] AS x FROM generate_series(1, 30) i;
SELECT near(center_gram(gram('linear', x ORDER BY id)), gram('linear', c ORDER BY id), 1e-13) AS centred
FROM points, LATERAL (SELECT ARRAY[x[1] - a, x[2] - b, x[3] - d] AS c FROM (SELECT avg(x[1]) a, avg(x[2]) b, avg(x[3]) d FROM points) m) l;
SELECT center_gram('{{1,2},{2,4}}') AS two, center_gram('{{5}}') AS one, center_gram('{}') AS none;
SELECT near(normalize_gram(gram('poly(degree=2)', x ORDER BY id)), gram('normalize(poly(degree=2))', x ORDER BY id), 1e-14) AS normalised FROM points;
SELECT normalize_gram('{{4,2},{2,9}}') AS two, normalize_gram('{{0,0},{0,4}}') AS zero, normalize_gram('{{1e300,1e300},{1e300,1e300}}') AS large;
SELECT whole_error_of($$SELECT center_gram('{{1,2},{3,4}}')$$);
SELECT whole_error_of($$SELECT normalize_gram('{{1,2,3},{2,4,5}}')$$);
SELECT whole_error_of($$SELECT center_gram('{{1,NaN},{NaN,4}}')$$);

-- Degrees of freedom: of a diagonal, those of krr, the rank for lambda = 0.
SELECT near(effective_df('{{1,0},{0,3}}', '{1,3}'), ARRAY[0.5 + 0.75, 0.25 + 0.5], 1e-15) AS diagonal,
       effective_df('{{1,2},{2,4}}', '{0}') AS rank, effective_df('{}', '{1}') AS none;
SELECT near((effective_df(gram('rbf(gamma=1)', x), '{0.1}'))[1], (model_info(fit('krr(rbf(gamma=1), lambda=0.1, loo=true)', x, id)) ->> 'effective_df')::float8, 1e-9) AS krr
FROM points;
SELECT whole_error_of($$SELECT effective_df('{{1}}', '{-1}')$$);
SELECT whole_error_of($$SELECT effective_df('{{1}}', '{NULL}')$$);

-- The eigen-expansion: known values; G = sum of value * vector vector'; signs.
SELECT value, near(vector, ARRAY[sqrt(0.5), s * sqrt(0.5)], 1e-15) AS vector
FROM kernel_eigen('{{2,1},{1,2}}', 2), LATERAL (SELECT CASE WHEN value > 2 THEN 1 ELSE -1 END AS s) t;
SELECT value, vector FROM kernel_eigen('{{3,0,0},{0,-1,0},{0,0,2}}', 3);
CREATE TABLE expansion AS SELECT row_number() OVER () AS j, value, vector FROM kernel_eigen((SELECT gram('rbf(gamma=1)', x ORDER BY id) FROM points), 30);
SELECT near((SELECT array_agg(value ORDER BY j DESC) FROM expansion), gram_eigenvalues(gram('rbf(gamma=1)', x ORDER BY id)), 1e-12) AS values FROM points;
SELECT near(array_agg(s ORDER BY a, b), (SELECT array_agg(v) FROM (SELECT unnest(gram('rbf(gamma=1)', x ORDER BY id)) AS v FROM points) t), 1e-12) AS expansion
FROM (SELECT a, b, sum(value * vector[a] * vector[b]) AS s FROM expansion, generate_series(1, 30) a, generate_series(1, 30) b GROUP BY a, b) t;
SELECT bool_and((SELECT max(v) = max(abs(v)) FROM unnest(vector) v)) AS signs FROM expansion;
-- Nystrom's extension of an eigenfunction is the vector at the rows themselves: sum_i k(x, x_i) u_i / value = u(x).
SELECT bool_and(abs(s / value - vector[a.id]) < 1e-9) AS extension
FROM (SELECT * FROM expansion WHERE j <= 5) e, points a,
     LATERAL (SELECT sum(kernel_value('rbf(gamma=1)', a.x, b.x) * e.vector[b.id]) AS s FROM points b) t;
SELECT whole_error_of($$SELECT kernel_eigen('{{1}}', 2)$$);
SELECT whole_error_of($$SELECT kernel_eigen('{{1}}', 0)$$);

-- Norms of models: alpha K alpha by hand; two targets together; one over the margin for svc.
SELECT near(rkhs_norm(fit('krr(linear, lambda=0.5, center=false)', ARRAY[x], y)), abs(21 / 14.5), 1e-14) AS slope
FROM (VALUES (1.0, 1.0), (2, 4), (3, 4)) v(x, y);
SELECT near(rkhs_norm(m) ^ 2, rkhs_norm(a) ^ 2 + rkhs_norm(b) ^ 2, 1e-10) AS targets, near(rkhs_norm(g), rkhs_norm(a), 1e-12) AS gp
FROM (SELECT fit('krr(rbf(gamma=1), lambda=0.1)', x, ARRAY[id, x[1]]) AS m, fit('krr(rbf(gamma=1), lambda=0.1)', x, id) AS a,
             fit('krr(rbf(gamma=1), lambda=0.1)', x, x[1]) AS b, fit('gp(rbf(gamma=1), noise=0.1)', x, id) AS g FROM points) t;
SELECT near(rkhs_norm(fit('svc(linear, c=inf, tol=1e-9)', ARRAY[v], v > 0)), 1, 1e-6) AS margin FROM unnest('{-2,-1,1,3}'::float8[]) v;
SELECT whole_error_of($$SELECT rkhs_norm(fit('ridge', x, id)) FROM points$$);
SELECT whole_error_of($$SELECT rkhs_norm(fit('svc', x, id % 3)) FROM points$$);
SELECT whole_error_of($$SELECT rkhs_norm(fit('scale', x)) FROM points$$);

-- Copies and results are held against the cap before they are made.
CREATE TEMP TABLE large AS SELECT gram('rbf(gamma=1)', ARRAY[sin(i), cos(i)]) AS g FROM generate_series(1, 300) i;
SET kernelml.max_memory = '1MB';
SELECT whole_error_of('SELECT is_psd(g) FROM large') AS within, whole_error_of('SELECT count(*) FROM (SELECT kernel_eigen(g, 5) FROM large) t') AS few,
    whole_error_of('SELECT center_gram(g) FROM large') AS result,
    whole_error_of('SELECT count(*) FROM (SELECT kernel_eigen(g, 200) FROM large) t') AS vectors;
INSERT INTO large SELECT array_fill(0::float8, ARRAY[400, 400]);
SELECT call, whole_error_of(format('SELECT %s FROM (SELECT g FROM large OFFSET 1) t', call))
FROM unnest('{gram_eigenvalues(g),is_psd(g),"effective_df(g, ARRAY[1])",center_gram(g),normalize_gram(g),"kernel_eigen(g, 1)"}'::text[]) call;
SELECT whole_error_of('SELECT gram(''linear'', ARRAY[i]) FROM generate_series(1, 363) i') AS gram,
    cardinality(gram('linear', ARRAY[i])) AS within FROM generate_series(1, 300) i;
SELECT whole_error_of('SELECT kernel_matrix(''linear'', (SELECT array_agg(ARRAY[i]) FROM generate_series(1, 363) i))') AS matrix,
    whole_error_of('SELECT kernel_matrix(''linear'', (SELECT array_agg(ARRAY[i]) FROM generate_series(1, 263) i),
        (SELECT array_agg(ARRAY[i]) FROM generate_series(1, 500) i))') AS cross_matrix;
RESET kernelml.max_memory;

DROP TABLE points, expansion, large;
