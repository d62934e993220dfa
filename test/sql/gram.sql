-- The aggregate gram, eigenvalues and is_psd.
\i test/helpers.sql

CREATE TABLE points (id int, x float8[]);
INSERT INTO points VALUES (3, '{5,6}'), (1, '{1,2}'), (2, '{3,4}');

-- Rows in the order asked for; the worked (x.z)^2.
SELECT gram('linear', x ORDER BY id) FROM points;
SELECT gram('linear', x ORDER BY id DESC) FROM points;
SELECT gram('linear^2', x) FROM (VALUES ('{1,2}'::float8[]), ('{3,1}')) v(x);

-- gram = kernel_matrix of the same rows, bit by bit.
SELECT gram('rbf(gamma=0.1)', x ORDER BY id) = kernel_matrix('rbf(gamma=0.1)', array_agg(x
    ORDER BY id)) AS same FROM points;

-- Other array types, lower bounds, one row, no rows, NULL rows.
SELECT gram('linear', ARRAY[id, 1]::int[] ORDER BY id) FROM points;
SELECT gram('linear', x) FROM (VALUES ('[0:1]={1,2}'::float8[]), ('[7:8]={3,1}')) v(x);
SELECT gram('linear', '{2}') AS one;
SELECT gram('linear', x) IS NULL AS no_rows FROM points WHERE false;
SELECT gram('linear', NULL) IS NULL AS null_row;
SELECT gram('linear', x ORDER BY id) FROM (SELECT * FROM points UNION ALL VALUES (0, NULL::float8[]), (9,
    NULL)) t;

-- Aggregate syntax: FILTER, GROUP BY, ROLLUP, DISTINCT, moving frames.
SELECT gram('linear', x ORDER BY id) FILTER (WHERE id > 1) FROM points;
SELECT id % 2 AS odd, gram('linear', x ORDER BY id) FROM points GROUP BY ROLLUP (id % 2) ORDER BY 1;
SELECT gram(DISTINCT 'linear'::kernel, x) FROM (VALUES ('{2}'::float8[]), ('{1}'), ('{2}')) v(x);
SELECT id, gram('linear', x) OVER (ORDER BY id ROWS 1 PRECEDING) FROM points;
SELECT id, gram('linear', x) OVER (ORDER BY id) FROM points;

-- Values that wait for data are learnt from the rows: variance of all entries 99.5556, d = 2.
SELECT near(gram('rbf(gamma=scale)', x), gram('rbf(gamma=0.005022321428571429)', x), 1e-12) AS scale,
       near(gram('rbf(gamma=auto)', x), gram('rbf(gamma=0.5)', x), 1e-12) AS auto
FROM (VALUES ('{0,10}'::float8[]), ('{2,10}'), ('{4,30}')) v(x);

-- Errors: a dimension that changes, elements that are no numbers, a kernel that changes or needs data.
SELECT error_of($$SELECT gram('linear', x) FROM (VALUES ('{1,2}'::float8[]), ('{1,2,3}')) v(x)$$);
SELECT error_of($$SELECT gram('linear', x) FROM (VALUES ('{1,2}'::float8[]), ('{1,NULL}')) v(x)$$);
SELECT error_of($$SELECT gram('linear', x) FROM (VALUES ('{1,2}'::float8[]), (NULL), ('{1,NaN}')) v(x)$$);
SELECT error_of($$SELECT gram('linear', x) FROM (VALUES ('{-Infinity,2}'::float8[])) v(x)$$);
SELECT error_of($$SELECT gram('linear', '{}'::float8[])$$);
SELECT error_of($$SELECT gram('linear', '{{1,2}}'::float8[])$$);
SELECT error_of($$SELECT gram(k, x) FROM (VALUES ('linear'::kernel, '{1}'::float8[]), ('linear^2',
    '{2}')) v(k, x)$$);
SELECT error_of($$SELECT gram('rbf(gamma=grid(1, 2))', '{1}'::float8[])$$);
SELECT error_of($$SELECT gram(NULL::kernel, '{1}'::float8[])$$);
SELECT error_of($$SELECT gram('linear', ARRAY[v]) FROM (VALUES (1e160), (1e170)) t(v)$$);

-- Serial and parallel plans give the same matrix.
CREATE TABLE many AS SELECT i AS id, ARRAY[sin(i), cos(i), i % 5]::float8[] AS x
FROM generate_series(1, 400) i;
ANALYZE many;
CREATE TEMP TABLE serial AS SELECT gram('rbf(gamma=0.5)', x ORDER BY id) AS g FROM many;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SELECT plan_has($$SELECT gram('rbf(gamma=0.5)', x ORDER BY id) FROM many$$, 'Gather') AS parallel;
CREATE TEMP TABLE parallel AS SELECT gram('rbf(gamma=0.5)', x ORDER BY id) AS g FROM many;
SELECT serial.g = parallel.g AS same FROM serial, parallel;
RESET ALL;
SET search_path = public, kernelml;

-- A precise Gram of close points far from the origin has no negative eigenvalue to speak of.
SELECT n, is_psd(g) AS psd, (gram_eigenvalues(g))[1] > -1e-10 AS smallest
FROM (SELECT n, gram('rbf(length_scale=1)', ARRAY[500 + i / (n - 1.0)] ORDER BY i) AS g
      FROM unnest('{512,513}'::int[]) n, generate_series(0, n - 1) i GROUP BY n) t ORDER BY n;

-- Eigenvalues: ascending; of a diagonal, a 2 x 2, a rank one and an empty matrix; trace and square.
SELECT near(gram_eigenvalues('{{3,0,0},{0,1,0},{0,0,2}}'), '{1,2,3}', 1e-14) AS diagonal,
       near(gram_eigenvalues('{{2,1},{1,2}}'), '{1,3}', 1e-14) AS two,
       near(gram_eigenvalues('{{1,2,3},{2,4,6},{3,6,9}}'), '{0,0,14}', 1e-13) AS rank_one,
       gram_eigenvalues('{{-7}}') AS one, gram_eigenvalues('{}') AS none;
SELECT near(sum(e), 400, 1e-9) AS trace, bool_and(e > -1e-12) AS positive,
       near(sum(e * e), (SELECT sum(v * v) FROM serial, unnest(g) v), 1e-6) AS squares
FROM serial, unnest(gram_eigenvalues(g)) e;

-- is_psd: relative to the largest eigenvalue.
SELECT is_psd('{{2,1},{1,2}}') AS psd, is_psd('{{1,2},{2,1}}') AS indefinite, is_psd('{{0,0},{0,0}}') AS zero,
       is_psd('{{-1}}') AS negative, is_psd('{{1,1},{1,1}}') AS singular, is_psd('{}') AS empty;
SELECT is_psd('{{1e-300,0},{0,2e-300}}') AS tiny, is_psd('{{1e300,0},{0,-1e300}}') AS huge,
       is_psd('{{1,0},{0,-1e-3}}') AS slightly_not, is_psd('{{1,0},{0,-1e-3}}', 0.01) AS within_tolerance,
       is_psd('{{1,0},{0,-1e-12}}') AS by_default;
SELECT error_of($$SELECT is_psd('{{1,2},{3,1}}')$$);
SELECT error_of($$SELECT gram_eigenvalues('{{1,2},{3,1}}')$$);
SELECT error_of($$SELECT gram_eigenvalues('{{1,2,3},{2,1,3}}')$$);
SELECT error_of($$SELECT is_psd('{1,2}')$$);
SELECT error_of($$SELECT is_psd('{{1,NULL},{NULL,1}}')$$);
SELECT error_of($$SELECT is_psd('{{1,NaN},{NaN,1}}')$$);
SELECT error_of($$SELECT gram_eigenvalues('{{Infinity}}')$$);
SELECT error_of($$SELECT is_psd('{{1}}', -1)$$);
SELECT error_of($$SELECT is_psd('{{1}}', 'NaN')$$);

-- The indefinite sigmoid kernel of six points: one eigenvalue is -4.2012 (reference).
SELECT is_psd(g) AS psd, near(min(e), -4.2012, 1e-4) AS smallest
FROM (SELECT gram('sigmoid(gamma=4, coef0=-3)', x) AS g
      FROM (VALUES ('{0.766655,0.682869}'::float8[]), ('{0.228259,0.215964}'), ('{0.844907,0.622898}'),
                   ('{0.107109,0.237776}'), ('{0.5,0.9}'), ('{0.3,0.1}')) v(x)) t,
                       unnest(gram_eigenvalues(g)) e
GROUP BY g;

-- A matrix of more elements than an array can hold is refused as its rows arrive, before any work.
SELECT whole_error_of($$SELECT gram('linear', ARRAY[i]::float8[]) FROM generate_series(1, 11586) i$$);
SELECT error_of($$SELECT gram('linear', ARRAY[i]::float8[]) FROM generate_series(1, 46341) i$$);
SELECT error_of($$SELECT kernel_matrix('linear', array_agg(ARRAY[i]::float8[])) FROM generate_series(1,
    11586) i$$);

DROP TABLE points, many;
