-- kernel_value and kernel_matrix: values against closed forms, features of every type, errors.
\i test/helpers.sql

-- Each kernel at x = (1,2), z = (3,1): <x,z> = 5, |x-z|^2 = 5, |x-z|_1 = 3, |x|^2 = 5, |z|^2 = 10.
SELECT k, near(kernel_value(k, '{1,2}'::float8[], '{3,1}'::float8[]), expected, 1e-12 * greatest(1,
    abs(expected))) AS right
FROM (VALUES
    ('linear'::kernel, 5.0::float8),
    ('constant', 1),
    ('constant(2.5)', 2.5),
    ('poly', 216),                                              -- (5 + 1)^3
    ('poly(degree=2, gamma=1, coef0=0)', 25),                   -- the worked example (x.z)^2
    ('poly(degree=4, gamma=0.5, coef0=-1)', 5.0625),            -- 1.5^4
    ('rbf(gamma=0.5)', exp(-2.5)),
    ('rbf(length_scale=2)', exp(-0.625)),
    ('rbf(length_scale=[2, 0.5])', exp(-0.5 * (1 + 4))),        -- (2/2)^2 + (1/0.5)^2
    ('rbf(metric=[[2, 0.5], [0.5, 1]])', exp(-0.5 * (8 + 1 - 2))),     -- r = (-2, 1)
    ('laplacian(gamma=0.5)', exp(-1.5)),
    ('exponential(length_scale=2)', exp(-sqrt(5.0) / 2)),
    ('matern(nu=0.5)', exp(-sqrt(5.0))),
    ('matern(nu=1.5, length_scale=2)', (1 + sqrt(15.0) / 2) * exp(-sqrt(15.0) / 2)),
    ('matern(nu=2.5, length_scale=2)', (1 + 2.5 + 25.0 / 12) * exp(-2.5)),
    ('sigmoid(gamma=0.1, coef0=0.5)', tanh(1.0)),
    ('cosine', 5 / sqrt(50.0)),
    ('rbf(gamma=0.5) + 2*linear', exp(-2.5) + 10),
    ('linear * linear', 25),
    ('0.5 * linear ^ 3', 62.5),
    ('exp(0.1 * linear)', exp(0.5)),
    ('normalize(linear)', 5 / sqrt(50.0)),
    ('normalize(poly(2))', 36 / sqrt(36.0 * 121)),
    ('linear(dims=[2])', 2),
    ('rbf(gamma=1, dims=[1]) * linear(dims=[2])', 2 * exp(-4.0)),
    ('3', 3)) t(k, expected);

-- Matern at distance 1 and 2 (the quadratic term of 5/2), and exactly 1 at distance 0.
SELECT near(kernel_value('matern(nu=2.5)', '{0}', '{1}'), 0.523994108832, 1e-12) AS a,
       near(kernel_value('matern(nu=2.5, length_scale=0.5)', '{0}', '{2}'), 0.004777084547, 1e-12) AS b,
       near(kernel_value('matern(nu=1.5)', '{0}', '{1}'), 0.483357724597, 1e-12) AS c;
SELECT k, kernel_value(k, '{1,2}', '{1,2}') = 1 AS one
FROM unnest('{matern(nu=0.5),matern(nu=1.5),matern(nu=2.5),rbf(gamma=3),laplacian(gamma=3),exponential(3)}'::kernel[]) k;

-- Close points far from the origin, far points, parallel points.
SELECT near(kernel_value('rbf(gamma=1)', '{100000000}', '{100000001}'), 0.36787944117144233, 1e-12) AS close,
       kernel_value('rbf(gamma=1)', '{0}', '{28.3}') AS far, kernel_value('rbf(gamma=1)', '{0}',
           '{1000}') AS farther;
SELECT near((kernel_matrix('rbf(gamma=1)', '{{100000000},{100000001}}'))[1][2], 0.36787944117144233,
    1e-12) AS in_a_matrix;
SELECT c <= 1 AND c > 1 - 1e-12 AS clamped
FROM kernel_value('cosine', array_fill(0.111::float8, '{1536}'), array_fill(0.1::float8, '{1536}')) c;
SELECT kernel_value('cosine', '{0,0}', '{1,2}') AS zero_row;

-- Features of every type; float4 is widened, never summed in single precision.
CREATE DOMAIN features AS float8[];
CREATE DOMAIN small_features AS int[] CHECK (cardinality(VALUE) = 2);
SELECT kernel_value('linear', '{1,2}'::real[], '{3,1}'::int[]) AS real_int,
       kernel_value('linear', '{1,2}'::bigint[], '{3,1}'::smallint[]) AS bigint_smallint,
       kernel_value('linear', '{1,2}'::numeric[], '{3,1}'::features) AS numeric_domain,
       kernel_value('linear', '{1,2}'::small_features, '{3,1}'::text) AS domain_text,
       kernel_value('linear', '{1,2}', '{3,1}') AS untyped,
       kernel_value('linear', '{1,2}'::varchar, '{3,1}'::float8[]) AS varchar_float,
       kernel_value('linear', '{1,2}', '{3,1}'::float8[]) AS untyped_float;
SELECT kernel_value('linear', '{0.1,0.2}'::float8[], '{0.1,0.2}'::float8[]) = 0.05000000000000001 AS float8,
       kernel_value('linear', '{0.1,0.2}'::real[], '{0.1,0.2}'::real[]) = 0.05000000149011613 AS real,
       kernel_value('linear', '{16777217}'::real[], '{1}'::real[]) AS real_integer,
       kernel_value('linear', ARRAY[9007199254740993]::int8[], '{1}'::float8[]) = 9007199254740992 AS int8;

-- Lower bounds are ignored.
SELECT a, kernel_value('linear', a::float8[], '{1,1,1}'::float8[]) AS six
FROM unnest('{"[0:2]={1,2,3}","[5:7]={1,2,3}","[-1:1]={1,2,3}"}'::text[]) a;

-- What is not one row of numbers.
SELECT a, error_of(format('SELECT kernel_value(''linear'', %L::float8[], ''{1,2}'')', a)) AS error
FROM unnest('{"{{1,2},{3,4}}","{{1,2}}","{{{1}}}","{}","{1,2,3}","{1,NULL}","{NaN,1}","{1,Infinity}","{-Infinity,1}"}'::text[]) a;
SELECT error_of($$SELECT kernel_value('linear', '{1,2}', '{{1,2}}')$$);
SELECT error_of($$SELECT kernel_value('linear', 'one', '{1}')$$);
SELECT error_of($$SELECT kernel_value('linear', '{a}'::text[], '{1}'::text[])$$);
SELECT error_of($$SELECT kernel_value('linear', 1, 2)$$);
SELECT left(error_of($$SELECT kernel_value('linear', ARRAY[1e400]::numeric[], ARRAY[1]::numeric[])$$), 5);
SELECT error_of($$SELECT kernel_value('linear', ARRAY['NaN']::numeric[], ARRAY[1]::numeric[])$$);
SELECT error_of($$SELECT kernel_value('linear', ARRAY['Infinity']::numeric[], ARRAY[1]::numeric[])$$);

-- NaN is refused in either argument, at any length, by any kernel.
SELECT count(*) AS calls, count(*) FILTER (WHERE e = format('22023: element %s of %s is NaN', 1,
    which)) AS refused
FROM unnest('{linear,rbf(gamma=1),poly}'::text[]) k, unnest('{3,4,8,16,520}'::int[]) n,
    unnest('{x,z}'::text[]) which,
     error_of(format('SELECT kernel_value(%L, %L::float8[], %L::float8[])', k,
        array_cat(ARRAY[CASE which WHEN 'x' THEN 'NaN' ELSE '1' END::float8], array_fill(1::float8,
            ARRAY[n - 1])),
        array_cat(ARRAY[CASE which WHEN 'z' THEN 'NaN' ELSE '1' END::float8], array_fill(1::float8,
            ARRAY[n - 1])))) e;

-- Values that need data, values that come from the data's dimension, and values out of range.
SELECT whole_error_of($$SELECT kernel_value('rbf(gamma=scale)', '{1}', '{2}')$$);
SELECT whole_error_of($$SELECT kernel_value('rbf', '{1}', '{2}')$$);
SELECT whole_error_of($$SELECT kernel_value('rbf(gamma=grid(1, 2))', '{1}', '{2}')$$);
SELECT error_of($$SELECT kernel_value('linear(dims=[3])', '{1,2}', '{2,3}')$$);
SELECT error_of($$SELECT kernel_value('rbf(length_scale=[1,2,3])', '{1,2}', '{2,3}')$$);
SELECT error_of($$SELECT kernel_value('rbf(metric=[[1,2],[3,4]])', '{1,2}', '{2,3}')$$);
SELECT error_of($$SELECT kernel_value('rbf(metric=[[1,0],[0,-1]])', '{1,2}', '{2,3}')$$);
SELECT error_of($$SELECT kernel_value('linear', '{1e200}', '{1e200}')$$),
    error_of($$SELECT kernel_matrix('poly(degree=200)', '{{1000}}')$$),
       error_of($$SELECT kernel_matrix('poly(degree=200)', '{{1000}}', '{{1000}}')$$);
SELECT kernel_value('rbf(gamma=1)', '{1e-170}', '{3e-170}') AS tiny;

-- Matrices: a cross Gram, a Gram, empty ones, other types, symmetry to the bit.
SELECT kernel_matrix('linear', '{{1,2},{3,4},{5,6}}', '{{1,0},{0,1}}');
SELECT kernel_matrix('linear', '{{1,2},{3,4}}');
SELECT kernel_matrix('linear', ARRAY[[1,2],[3,4]]::int[]);
SELECT kernel_matrix('linear', '{}') AS empty, kernel_matrix('linear', '{}', '{{1}}') AS no_rows,
       kernel_matrix('linear', '{{1}}', '{}') AS no_columns;
SELECT kernel_matrix('linear', '[0:1][5:6]={{1,2},{3,4}}') AS lower_bounds_ignored;
SELECT bool_and(m[i][j] = m[j][i]) AS symmetric, bool_and(m[i][i] = 1) AS diagonal,
       bool_and(near(m[i][j], kernel_value('rbf(gamma=0.3)', ARRAY[sin(i), cos(i*i)], ARRAY[sin(j),
           cos(j*j)]), 1e-12)) AS values
FROM (SELECT kernel_matrix('rbf(gamma=0.3)', array_agg(ARRAY[sin(i), cos(i*i)] ORDER BY i)) m
    FROM generate_series(1, 70) i) g,
     generate_series(1, 70) i, generate_series(1, 70) j;
SELECT error_of($$SELECT kernel_matrix('linear', '{1,2}')$$);
SELECT error_of($$SELECT kernel_matrix('linear', '{{1,2}}', '{{1}}')$$);
SELECT error_of($$SELECT kernel_matrix('linear', '{{1,NULL}}')$$);
SELECT error_of($$SELECT kernel_matrix('linear', '{{1,2},{3,NaN}}')$$);
SELECT error_of($$SELECT kernel_matrix('rbf', '{{1,2}}')$$);

-- NULL arguments.
SELECT kernel_value(NULL, '{1}', '{1}') IS NULL AS k, kernel_value('linear', NULL, '{1}') IS NULL AS x,
       kernel_value('linear', '{1}'::float8[], NULL::float8[]) IS NULL AS z, kernel_matrix('linear',
           NULL) IS NULL AS m;

-- The kernel may change from row to row.
SELECT k, kernel_value(k, '{1}', '{2}') FROM (VALUES ('linear'::kernel), ('linear^2'), ('linear'),
    ('linear^3')) v(k);

-- Prepared statements with parameters of unknown type.
PREPARE value_of AS SELECT kernel_value('linear', $1, $2);
EXECUTE value_of('{1,2}', '{3,4}');
DEALLOCATE value_of;

-- In an index expression and in a generated column.
CREATE TABLE indexed (id int, x float8[], k float8 GENERATED ALWAYS AS (kernel_value('rbf(gamma=0.1)', x,
    '{0,0}'::float8[])) STORED);
INSERT INTO indexed SELECT i, ARRAY[i % 10, i % 7] FROM generate_series(1, 500) i;
CREATE INDEX ON indexed (kernel_value('linear', x, '{1,1}'::float8[]));
ANALYZE indexed;
SET enable_seqscan = off;
SELECT plan_has($$SELECT FROM indexed WHERE kernel_value('linear', x, '{1,1}'::float8[]) > 14$$,
    'Index Cond') AS index_used;
SELECT count(*) FROM indexed WHERE kernel_value('linear', x, '{1,1}'::float8[]) > 14;
RESET enable_seqscan;
SELECT bool_and(near(k, exp(-0.1 * (x[1] ^ 2 + x[2] ^ 2)), 1e-14)) AS generated FROM indexed;
DROP TABLE indexed;
DROP DOMAIN features, small_features;
