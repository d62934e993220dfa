-- Models and rows exchanged with LIBSVM (its own programs: test/t/005_libsvm.pl).
\i test/helpers.sql

-- The text of a model that can be worked out by hand.
SELECT export_libsvm(fit('svc(linear)', x, y)) FROM (VALUES ('{1,0}'::float8[], 7), ('{-1,0}', -3)) v(x, y);

-- There and back: the same values, labels and probabilities to the bit; what the model knows of itself.
CREATE TEMP TABLE points AS
    SELECT i, ARRAY[sin(i), cos(3 * i), (i % 3) / 2.0] AS x, i % 3 + (sin(i) > 0.5)::int AS class,
        sin(i) + cos(3 * i) AS y
    FROM generate_series(1, 90) i;
CREATE TEMP TABLE models AS
    SELECT 'svc' AS name, fit('svc(rbf(gamma=0.5), c=3, probability=true)', x, class) AS m
        FROM points UNION ALL
    SELECT 'nu_svc', fit('nu_svc(poly(degree=2), nu=0.1)', x, class) FROM points UNION ALL
    SELECT 'svr', fit('svr(sigmoid(gamma=0.1))', x, y) FROM points UNION ALL
    SELECT 'nu_svr', fit('nu_svr(linear)', x, y) FROM points UNION ALL
    SELECT 'one_class', fit('one_class(rbf(gamma=2))', x) FROM points;
SELECT name, bool_and(decision(m, x) = decision(back, x)) AS decision, bool_and(predict(m,
    x) = predict(back, x)) AS predict
FROM (SELECT name, m, import_libsvm(export_libsvm(m)) AS back FROM models) b,
    points GROUP BY name ORDER BY name;
SELECT bool_and(predict_proba(m, x) = predict_proba(back, x)) AS proba, classes(back) = classes(m)
    AS classes, learner(back),
       model_info(back) - 'n_sv' AS info, model_info(back)->'n_sv' = model_info(m)->'n_sv' AS n_sv
FROM (SELECT m, import_libsvm(export_libsvm(m)) AS back FROM models WHERE name = 'svc') b,
    points GROUP BY m, back;

-- A model of svm-train's: 1 was seen first.  Sparse rows; how many features there are may be said.
SELECT classes(m), decision(m, '{1,0,2}'), predict(m, '{1,0,2}'), predict_label(m, '{-9,0,0}') AS label,
    predict(wide, '{1,0,2,5}') AS wide
FROM (SELECT import_libsvm(t), import_libsvm(t, 4) FROM (VALUES ('svm_type c_svc
kernel_type linear
nr_class 2
total_sv 2
rho 0.5
label 1 -1
nr_sv 1 1
SV
0.25 1:1 3:2 
-0.25 1:-1
')) v(t)) f(m, wide);

-- What LIBSVM has no word for.
SELECT whole_error_of(format('SELECT export_libsvm(fit(%L, x, class)) FROM points', l))
FROM unnest('{scale | svc(linear),svc(laplacian),svc(linear + 1),svc(linear\,
    multiclass=ovr),krr(linear)}'::text[]) l;
SELECT whole_error_of('SELECT export_libsvm(fit(''svc'', x, class::text || ''!'')) FROM points');
SELECT error_of('SELECT export_libsvm(fit(''scale'', x)) FROM points'),
    error_of('SELECT export_libsvm(''\x00'')');

-- Texts that are no models.
SELECT error_of(format('SELECT import_libsvm(%L)', t))
FROM unnest(ARRAY['', 'SV', 'svm_type c_svc', E'svm_type c_svc\nkernel_type rbf\nSV\n', E'svm_type x\nSV',
                  E'svm_type c_svc\nkernel_type string\nSV', 'what else',
                      E'svm_type c_svc\nsvm_typo\nSV',
                  E'svm_type one_class\nkernel_type rbf\ngamma 0,5\nSV',
                  E'svm_type one_class\nkernel_type rbf\ngamma -1\nnr_class 2\ntotal_sv 1\nrho 1\nSV\n1 1:1',
                  E'svm_type one_class\nkernel_type linear\nnr_class 2\ntotal_sv 1\nrho 1\nSV\n1 3:1 2:1',
                  E'svm_type one_class\nkernel_type linear\nnr_class 2\ntotal_sv 1\nrho 1\nSV\n1 2:1\n1 2:1',
                  E'svm_type one_class\nkernel_type linear\nnr_class 2\ntotal_sv 2\nrho 1\nSV\n1 2:1',
                  E'svm_type one_class\nkernel_type linear\nnr_class 2\ntotal_sv 99999999\nrho 1\nSV\n1 2:1']) t;
SELECT error_of(format('SELECT import_libsvm(%L, %s)',
    E'svm_type one_class\nkernel_type linear\nnr_class 2\ntotal_sv 1\nrho 1\nSV\n1 3:1', n))
FROM unnest('{3,2,0,-1}'::int[]) n;

-- Lines of sparse data: indices from 1 on in any order, a label in front or not.
SELECT features_from_libsvm('1:0.5 3:2', 3), features_from_libsvm('3:1 1:2', 4) AS unordered,
       features_from_libsvm('+1 2:-1e-3', 2) AS labelled, features_from_libsvm('', 2) AS empty,
           features_from_libsvm(NULL, 2) AS of_null;
SELECT whole_error_of(format('SELECT features_from_libsvm(%L, 3)', t))
FROM unnest('{0:5,1:5 1:6,4:1,1:x,1,yes 1:1,1:1 x,1:}'::text[]) t;
SELECT error_of('SELECT features_from_libsvm(''1:1'', 0)'), error_of('SELECT features_from_libsvm(''1:1'',
    2000000000)');
