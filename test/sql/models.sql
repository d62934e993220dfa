-- What a model says of itself, and models that are damaged, foreign or new.
\i test/helpers.sql

CREATE TABLE points AS
    SELECT i AS id, ARRAY[i * 37 % 101 / 50.0 - 1, i * i * 13 % 97 / 48.0 - 1]::float8[] AS x,
        (i * 37 % 101 / 50.0 + i % 7 / 7.0)::float8 AS y,
           (ARRAY['b', 'a', 'c'])[i * 37 % 101 / 34 + 1] AS label
    FROM generate_series(1, 60) i;
CREATE TABLE models (name text, m bytea NOT NULL);
INSERT INTO models
    SELECT l::text, fit(l, x, label) FROM points,
        unnest('{"scale | svc(rbf(gamma=auto), c=10)"}'::learner[]) l GROUP BY l
    UNION ALL SELECT l::text, fit(l, x, y) FROM points,
        unnest('{"krr(rbf(gamma=1), lambda=0.1, loo=true)","krr(linear, center=false)","minmax | rff(rbf(gamma=0.5), n_components=6, seed=4) | ridge",ridge}'::learner[]) l GROUP BY l
    UNION ALL SELECT l::text, fit(l, x) FROM points,
        unnest('{"impute(mean) | scale","rff(laplacian(gamma=2), 4)"}'::learner[]) l GROUP BY l;

-- model_info: the keys that apply, of the right types.
SELECT name, key, jsonb_typeof(value) AS type FROM models, jsonb_each(model_info(m))
    ORDER BY name COLLATE "C", key COLLATE "C";
SELECT name, model_info(m)->'n_rows' AS n_rows, model_info(m)->'n_features' AS d,
    model_info(m)->>'version' AS version, classes(m),
       model_info(m)->'classes' = to_jsonb(classes(m)) AS classes_agree
FROM models ORDER BY name COLLATE "C";
-- Every value is resolved, and the text can be typed again.
SELECT name, learner(m)::text::learner = learner(m) AS typed FROM models ORDER BY name COLLATE "C";
SELECT learner(fit('svc(linear)', x, label)), learner(fit('krr(rbf(gamma=1))', x, y)), learner(fit('ridge', x,
    y)) FROM points;
SELECT learner(fit('minmax | rff(rbf(gamma=0.5), n_components=6) | ridge', x, y))
FROM (VALUES ('{0,5}'::float8[], 1), ('{4,7}', 2)) v(x, y);
-- Long constants are shortened to their counts in model_info, not in learner.
SELECT model_info(m)->>'learner' AS short, length(learner(m)::text) > 200 AS long
FROM (SELECT fit('scale', array_agg) AS m FROM (SELECT array_agg(i::float8 * j) FROM generate_series(1, 50) i,
    generate_series(1, 3) j GROUP BY j) t) u;
-- Numbers that JSON has not are strings.
SELECT model_info(m)->'c' IS NULL AS no_c, learner(m)
FROM (SELECT fit('svc(linear, c=inf)', x, y) AS m FROM (VALUES ('{-1}'::float8[], 0), ('{1}', 1)) v(x, y)) t;
SELECT near((model_info(m)->>'loo_mse')::float8, avg((y - p) ^ 2), 1e-10) AS loo_mse_is_that_of_refits
FROM models, (SELECT a.id, a.y, predict((SELECT fit('krr(rbf(gamma=1), lambda=0.1, center=false)', x, y -
    (SELECT avg(y) FROM points)) FROM points b WHERE b.id <> a.id), a.x)
              + (SELECT avg(y) FROM points) AS p FROM points a) t WHERE name ~ 'loo' GROUP BY m;
SELECT model_info(NULL) IS NULL AS info, classes(NULL) IS NULL AS classes,
    learner(NULL::bytea) IS NULL AS learner;

-- What is no model.
SELECT error_of($$SELECT predict('', '{1}'::float8[])$$) AS empty, error_of($$SELECT predict('\x0102030405',
    '{1}'::float8[])$$) AS short,
       error_of($$SELECT model_info(convert_to(repeat('not a model ', 100), 'UTF8'))$$) AS other;
SELECT error_of($$SELECT learner(''::bytea)$$) AS learner, error_of($$SELECT classes('\x00')$$) AS classes,
       error_of($$SELECT predict_batch('\x00', '{{1}}')$$) AS batch, error_of($$SELECT predict_w('\x00',
           '{1}') OVER ()$$) AS w;
-- Wrong magic; a format of the future (the version stands after the magic); more bytes than it says.
SELECT whole_error_of(format('SELECT model_info(%L::bytea)', set_byte(m, 0, 0))) AS magic FROM models
WHERE name = 'ridge';
SELECT whole_error_of(format('SELECT model_info(%L::bytea)', set_byte(m, 4, 200))) AS newer FROM models
WHERE name = 'ridge';
SELECT error_of(format('SELECT model_info(%L::bytea)', m || '\x00'::bytea)) AS longer FROM models
WHERE name = 'ridge';

-- Any changed byte and any truncation is an error, never a crash and never another answer.  Two bytes may
-- change: the minor
-- version, of formats that add what older readers skip.
CREATE FUNCTION damaged(m bytea, OUT tried bigint, OUT refused bigint, OUT same bigint,
    OUT other bigint) LANGUAGE plpgsql AS $$
DECLARE
    bytes bytea;
    before text;
    after text;
BEGIN
    tried := 0; refused := 0; same := 0; other := 0;
    before := concat(learner(m), transform(m, '{0.1,0.2}'), CASE WHEN learner(m)::text ~ 'svc|krr|ridge'
        THEN decision(m, '{0.1,0.2}') END, classes(m));
    FOR i IN 0..least(length(m) - 1, 1500) LOOP
        FOREACH bytes IN ARRAY ARRAY[set_byte(m, i, get_byte(m, i) # 1), set_byte(m, i, get_byte(m, i) # 255),
            substr(m, 1, i)] LOOP
            tried := tried + 1;
            BEGIN
                after := concat(learner(bytes), transform(bytes, '{0.1,0.2}'),
                                CASE WHEN learner(bytes)::text ~ 'svc|krr|ridge' THEN decision(bytes,
                                    '{0.1,0.2}') END, classes(bytes));
                IF after = before THEN same := same + 1; ELSE other := other + 1; END IF;
            EXCEPTION WHEN data_corrupted OR feature_not_supported THEN refused := refused + 1;
            END;
        END LOOP;
    END LOOP;
END $$;
SELECT name, tried > 300 AS many, tried - refused AS accepted, same, other
FROM models, damaged(m) ORDER BY name COLLATE "C";

-- Versions of the library and of the SQL objects agree.
SELECT kernelml_version() = extversion AS versions_agree FROM pg_extension WHERE extname = 'kernelml';

-- A model survives what values survive: a temporary table, a text cast, a function's argument, TOAST
-- compression.
CREATE TEMP TABLE compressed (m bytea);
INSERT INTO compressed SELECT fit('krr(rbf(gamma=1))', array_fill(i::float8, '{500}'), i)
FROM generate_series(1, 10) i;
SELECT pg_column_size(m) < length(m) / 2 AS compressed, near(predict(m, array_fill(3::float8, '{500}')),
    predict(m::text::bytea, array_fill(3::float8, '{500}')), 0) AS same FROM compressed;

DROP TABLE points, models;
DROP FUNCTION damaged;
