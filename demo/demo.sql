-- The main job of kernelml on real rows.  "make demo" runs this in a private server, from the
-- top folder; in a server of yours: psql -f demo/demo.sql.

\pset footer off
\set QUIET on
CREATE EXTENSION kernelml;
SET search_path = public, kernelml;

CREATE TABLE tumours (id int PRIMARY KEY, x float8[] NOT NULL, diagnosis text NOT NULL);
\copy tumours FROM 'test/data/breast_cancer.csv' CSV HEADER
CREATE TABLE digits (id int PRIMARY KEY, x float8[] NOT NULL, digit int NOT NULL);
\copy digits FROM PROGRAM 'gunzip -c test/data/digits.csv.gz' CSV HEADER
CREATE TABLE patients (id int PRIMARY KEY, age float8, sex int, bmi float8, bp float8, s1 float8,
    s2 float8, s3 float8, s4 float8, s5 float8, s6 float8, progression float8 NOT NULL);
\copy patients FROM 'test/data/diabetes.csv' CSV HEADER

-- What the models read of a patient, in one place.
CREATE VIEW patient_rows AS
    SELECT id, sex, progression, ARRAY[age, sex, bmi, bp, s1, s2, s3, s4, s5, s6] AS x FROM patients;

\echo
\echo == A kernel value: how alike two points are, exp(-0.5 * 5) here
SELECT kernel_value('rbf(gamma=0.5)', '{1,2}', '{3,1}');

\echo == A Gram matrix over table rows: 50 tumours; a Gaussian one is positive semidefinite, a sigmoid need not be
SELECT k AS kernel, cardinality(g) AS entries, is_psd(g),
       (SELECT round(min(e)::numeric, 6) FROM unnest(gram_eigenvalues(g)) e) AS smallest_eigenvalue
FROM (SELECT 'rbf(gamma=1e-5)' AS k, gram('rbf(gamma=1e-5)', x ORDER BY id) AS g FROM tumours WHERE id <= 50
      UNION ALL
      SELECT 'sigmoid(gamma=1e-6, coef0=-1)', gram('sigmoid(gamma=1e-6, coef0=-1)', x ORDER BY id)
      FROM tumours WHERE id <= 50) grams;

\echo == Models are values: fitted by an aggregate, kept in a table.  Rows with id % 4 = 0 are held out
CREATE TABLE models (name text PRIMARY KEY, model bytea NOT NULL);

INSERT INTO models SELECT 'tumour', fit('scale | svc(rbf(gamma=auto), c=10)', x, diagnosis)
FROM tumours WHERE id % 4 <> 0;

INSERT INTO models SELECT 'digit', fit('svc(rbf(gamma=0.001), c=10)', x, digit)
FROM digits WHERE id % 4 <> 0;

INSERT INTO models SELECT 'progression', fit('scale | krr(rbf(gamma=0.02), lambda=2)', x, progression)
FROM patient_rows WHERE id % 4 <> 0;

INSERT INTO models SELECT 'progression, random features',
    fit('scale | rff(rbf(gamma=0.02), n_components=500) | ridge(lambda=2)', x, progression)
FROM patient_rows WHERE id % 4 <> 0;

SELECT name, pg_size_pretty(length(model)::bigint) AS size, info->>'n_rows' AS n_rows,
       info->>'n_features' AS n_features, info->>'n_sv' AS n_sv, info->>'classes' AS classes
FROM models, model_info(model) info;

\echo == A model per group: one for each sex, with GROUP BY
CREATE TABLE models_by_sex AS
    SELECT sex, fit('scale | krr(rbf(gamma=0.02), lambda=2)', x, progression) AS model
    FROM patient_rows WHERE id % 4 <> 0 GROUP BY sex;

SELECT sex, model_info(model)->>'n_rows' AS fitted_rows, count(*) AS held_out,
       round(sqrt(avg((predict(model, x) - progression) ^ 2))::numeric, 2) AS rmse
FROM models_by_sex JOIN patient_rows USING (sex) WHERE id % 4 = 0 GROUP BY sex, model ORDER BY sex;

\echo == A view that scores rows as they are read
CREATE VIEW patient_scores AS
    SELECT id, progression, predict(model, x) AS predicted
    FROM patient_rows, models WHERE name = 'progression';

SELECT id, progression, round(predicted::numeric, 1) AS predicted
FROM patient_scores WHERE id % 4 = 0 ORDER BY predicted DESC LIMIT 5;

CREATE VIEW tumour_scores AS
    SELECT id, diagnosis, predict_label(model, x) AS predicted, score(model, x) AS score
    FROM tumours, models WHERE name = 'tumour';

SELECT diagnosis, predicted, count(*) FROM tumour_scores WHERE id % 4 = 0 GROUP BY 1, 2 ORDER BY 1, 2;

\echo == Held-out rows, beside scikit-learn on the same split (demo/sklearn_reference.py)
CREATE TEMP TABLE sklearn (model text, measure text, scikit_learn numeric);
\copy sklearn FROM 'demo/sklearn.csv' CSV HEADER

WITH held_out AS (
    SELECT 'tumour' AS model, avg((predicted = diagnosis)::int) AS value
    FROM tumour_scores WHERE id % 4 = 0
    UNION ALL
    SELECT 'digit', avg((predict(model, x) = digit)::int)
    FROM digits, models WHERE name = 'digit' AND id % 4 = 0
    UNION ALL
    SELECT name, sqrt(avg((predict(model, x) - progression) ^ 2))
    FROM patient_rows, models WHERE name LIKE 'progression%' AND id % 4 = 0 GROUP BY name
)
SELECT model, measure, round(value::numeric, 4) AS kernelml, scikit_learn
FROM held_out JOIN sklearn USING (model) ORDER BY measure, model;
