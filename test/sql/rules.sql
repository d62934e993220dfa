-- Promises about the extension as a whole: objects, privileges, names, plans, cancelling.
\i test/helpers.sql

-- Every object has a comment.
SELECT pg_describe_object(d.classid, d.objid, d.objsubid) AS without_comment
FROM pg_depend d
WHERE d.refclassid = 'pg_extension'::regclass AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname =
    'kernelml') AND d.deptype = 'e'
  AND d.classid <> 'pg_cast'::regclass
  AND NOT EXISTS (SELECT FROM pg_type t WHERE d.classid = 'pg_type'::regclass AND t.oid = d.objid
      AND t.typcategory = 'A')
  AND obj_description(d.objid, d.classid::regclass::name) IS NULL;
SELECT obj_description(oid, 'pg_extension') IS NOT NULL AS extension FROM pg_extension
WHERE extname = 'kernelml';

-- What plain functions promise: immutable (but the two that report on the session), strict, parallel safe.
SELECT p.oid::regprocedure AS exception, provolatile, proisstrict, proparallel
FROM pg_proc p JOIN pg_depend d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e'
WHERE d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'kernelml') AND prokind = 'f'
    AND proname !~ '_transition$|_final$'
  AND NOT (provolatile = 'i' AND proisstrict AND proparallel = 's') ORDER BY 1;
SELECT prokind, provolatile, proparallel, count(*) > 0 AS some FROM pg_proc p
WHERE pronamespace = 'kernelml'::regnamespace AND prokind IN ('a', 'w') GROUP BY 1, 2, 3 ORDER BY 1;
SELECT aggfnoid::regprocedure AS aggregate, aggcombinefn <> 0 AS combines, aggfinalmodify AS final,
    aggtransspace > 0 AS space, aggmtransfn = 0 AS no_inverse
FROM pg_aggregate WHERE aggfnoid::regproc::text ~ '^kernelml\.|^fit$|^gram$|^accumulate$|^merge$' AND
    (SELECT pronamespace FROM pg_proc WHERE oid = aggfnoid) = 'kernelml'::regnamespace
ORDER BY aggfnoid::regprocedure::text COLLATE "C";
-- Everything is in the schema kernelml; everybody may use it and nobody but the owner may add to it.
SELECT DISTINCT n.nspname FROM pg_proc p JOIN pg_depend d ON d.objid = p.oid AND d.classid =
    'pg_proc'::regclass AND d.deptype = 'e' JOIN pg_namespace n ON n.oid = pronamespace
WHERE d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'kernelml');
SELECT proname FROM pg_proc WHERE pronamespace = 'kernelml'::regnamespace AND prosecdef;
SELECT extrelocatable FROM pg_extension WHERE extname = 'kernelml';

-- A plain role, with nothing granted, an empty search_path and qualified names.
CREATE TABLE points (id int, x float8[], y float8, label text);
INSERT INTO points SELECT i, ARRAY[i % 10, i / 10], i % 7, CASE WHEN i % 10 > 4 THEN 'hi' ELSE 'lo' END
FROM generate_series(0, 99) i;
GRANT SELECT ON points TO PUBLIC;
CREATE ROLE kernelml_plain;
SET ROLE kernelml_plain;
SET search_path = '';
SELECT has_schema_privilege('kernelml', 'USAGE') AS usage, has_schema_privilege('kernelml',
    'CREATE') AS "create";
CREATE TEMP TABLE model (m bytea);
INSERT INTO model SELECT kernelml.fit('scale | krr(rbf(gamma=auto))', x, y) FROM public.points;
SELECT public.error_of('SELECT fit(''krr'', x, y) FROM public.points') AS unqualified;
SELECT kernelml.predict(m, '{1,2}') IS NOT NULL AS predict, kernelml.predict_batch(m,
    '{{1,2}}') IS NOT NULL AS batch,
       kernelml.model_info(m) IS NOT NULL AS info, kernelml.transform(m, '{1,2}') IS NOT NULL AS transform,
       kernelml.learner(m)::text ~ '^scale' AS learner, kernelml.classes(m) IS NULL AS classes,
           kernelml.score(m, '{1,2}'::real[]) IS NOT NULL AS score,
       kernelml.decision(m, '{1,2}'::numeric[]) IS NOT NULL AS decision FROM model;
SELECT kernelml.predict_w(m, '{1,2}') OVER () IS NOT NULL AS w FROM model;
SELECT kernelml.is_psd(kernelml.gram('rbf(gamma=1)', x ORDER BY id)) AS gram,
    kernelml.predict_label(kernelml.fit('svc(linear)', x, label), '{9,1}') AS label,
       kernelml.predict(kernelml.solve(kernelml.accumulate('rff(rbf(gamma=1), 10)', x, y), 'ridge'),
           '{1,2}') IS NOT NULL AS solve FROM public.points;
SELECT kernelml.kernel_value('linear', '{1,2}', '{3,4}') AS value, kernelml.kernel_matrix('linear',
    '{{1,2}}') AS matrix,
       'linear'::kernelml.kernel OPERATOR(kernelml.=) 'LINEAR' AS equal,
           kernelml.gram_eigenvalues('{{2}}') AS eigenvalues;
SELECT count(DISTINCT k) FROM (VALUES ('linear'::kernelml.kernel), ('LINEAR')) v(k);
SELECT kernelml.merge(a) IS NOT NULL AS merged, public.error_of('SELECT 1')
FROM (SELECT kernelml.accumulate('rff(rbf(gamma=1), 10)', x, y) AS a FROM public.points GROUP BY id % 3) t;
CREATE FUNCTION pg_temp.planted() RETURNS int LANGUAGE sql AS 'SELECT 1';
DO $$ BEGIN CREATE FUNCTION kernelml.planted() RETURNS int LANGUAGE sql AS 'SELECT 1';
    EXCEPTION WHEN insufficient_privilege THEN RAISE NOTICE '%', SQLERRM; END $$;
RESET ROLE;
SET search_path = public, kernelml;

-- Unusual names and sources: quoted identifiers, a temporary table, a view, a partitioned table.
CREATE TABLE "9Täble" ("Y Val" float8, "x-1" float8[]);
INSERT INTO "9Täble" SELECT y, x FROM points;
CREATE TEMP TABLE scratch AS SELECT * FROM points;
CREATE VIEW seen AS SELECT * FROM points;
CREATE TABLE split (LIKE points) PARTITION BY HASH (id);
CREATE TABLE split_0 PARTITION OF split FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE split_1 PARTITION OF split FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO split SELECT * FROM points;
SELECT (SELECT fit('krr(rbf(gamma=1))', "x-1", "Y Val") FROM "9Täble") = m AS quoted,
    (SELECT fit('krr(rbf(gamma=1))', x, y) FROM scratch) = m AS temporary,
       (SELECT fit('krr(rbf(gamma=1))', x, y) FROM seen) = m AS view, (SELECT fit('krr(rbf(gamma=1))', x, y)
           FROM split) = m AS partitioned
FROM (SELECT fit('krr(rbf(gamma=1))', x, y) AS m FROM points) t;
-- NULL in a view's outer join: the element is named.
SELECT error_of($$SELECT fit('krr', ARRAY[f1, f2], y) FROM (SELECT a.id::float8 AS f1, b.id::float8 AS f2, a.y
    FROM points a LEFT JOIN points b ON b.id = a.id + 50 ORDER BY a.id) v$$);
SELECT fit('impute(mean) | krr', ARRAY[f1, f2], y) IS NOT NULL AS imputed
FROM (SELECT a.id::float8 AS f1, b.id::float8 AS f2, a.y FROM points a LEFT JOIN points b ON b.id =
a.id + 50) v;

-- Long work can be cancelled, at once, and the session works afterwards.  (Milliseconds of statement_timeout
-- are not the point: the work takes seconds.)
CREATE TABLE noise AS SELECT i AS id, ARRAY[i * 7919 % 10007 / 10007.0, i * 104729 % 10009 / 10009.0,
    i * 1299709::bigint % 10037 / 10037.0]::float8[] AS x, i * 31 % 17 % 2 AS label, i * 31 % 17 AS y
    FROM generate_series(1, 9000) i;
CREATE PROCEDURE cancelled(statement text) LANGUAGE plpgsql AS $$
DECLARE
    started timestamptz := clock_timestamp();
    sink record;
    seconds float8;
BEGIN
    BEGIN
        EXECUTE statement INTO sink;
        RAISE NOTICE 'ended before it could be cancelled: %', statement;
    EXCEPTION WHEN query_canceled THEN
        seconds := extract(epoch FROM clock_timestamp() - started);
        RAISE NOTICE 'cancelled: % %', SQLSTATE, CASE WHEN seconds < 2 THEN 'soon' ELSE format('after %s s',
            seconds) END;
    END;
END $$;
SET statement_timeout = '150ms';
CALL cancelled($$SELECT fit('svc(rbf(gamma=50), c=1e4, tol=1e-8)', x, label) FROM noise$$);
CALL cancelled($$SELECT fit('svc(poly(5), c=1e6, tol=1e-8)', x, label) FROM noise$$);
CALL cancelled($$SELECT fit('krr(rbf(gamma=1))', x, y) FROM noise$$);
CALL cancelled($$SELECT gram('rbf(gamma=1) + laplacian(gamma=1)', x) FROM noise$$);
CALL cancelled($$SELECT gram_eigenvalues(gram('rbf(gamma=1)', x)) FROM noise WHERE id <= 3000$$);
CALL cancelled($$SELECT is_psd(gram('rbf(gamma=1)', x)) FROM noise WHERE id <= 6000$$);
CALL cancelled($$SELECT fit('rff(rbf(gamma=1), n_components=3000) | ridge', x, y) FROM noise$$);
CALL cancelled($$SELECT accumulate('rff(rbf(gamma=1), n_components=3000)', x, y) FROM noise$$);
CALL cancelled($$SELECT kernel_matrix('matern(nu=2.5)', array_agg(x)) FROM noise$$);
RESET statement_timeout;
SELECT fit('krr(rbf(gamma=1))', x, y) = (SELECT fit('krr(rbf(gamma=1))', x, y) FROM "9Täble" t("y",
    "x")) AS works_afterwards FROM points;

-- Nothing leaks: a hundred fits and errors later, the session's memory is where it was.
DO $$
DECLARE
    before bigint;
    after bigint;
BEGIN
    PERFORM length(fit('svc(rbf(gamma=1))', x, label)) FROM points;
    SELECT sum(total_bytes) INTO before FROM pg_backend_memory_contexts;
    FOR i IN 1..100 LOOP
        PERFORM length(fit('svc(rbf(gamma=1))', x, label)), length(fit('krr(rbf(gamma=1))', x, y)),
            length(fit('rff(rbf(gamma=1), 100) | ridge', x, y)) FROM points;
        BEGIN
            PERFORM fit('krr(rbf(gamma=1), lambda=0)', '{1}'::float8[], y) FROM points;
        EXCEPTION WHEN data_exception THEN NULL;
        END;
    END LOOP;
    SELECT sum(total_bytes) INTO after FROM pg_backend_memory_contexts;
    IF after > before + 4000000 THEN
        RAISE NOTICE 'grew by % bytes', after - before;
    END IF;
END $$;
-- And scoring takes no memory per row.
CREATE FUNCTION growth(statement text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    before bigint;
    after bigint;
    sink record;
BEGIN
    EXECUTE statement INTO sink;
    SELECT sum(total_bytes) INTO before FROM pg_backend_memory_contexts;
    EXECUTE statement INTO sink;
    SELECT sum(total_bytes) INTO after FROM pg_backend_memory_contexts;
    RETURN after - before;
END $$;
CREATE FUNCTION peak_of_scoring() RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
    c refcursor;
    first bigint;
    last bigint;
    p float8;
BEGIN
    OPEN c FOR SELECT predict(m, ARRAY[i % 10, 1.0]) FROM model, generate_series(1, 100000) i;
    FETCH c INTO p;
    MOVE 999 IN c;
    SELECT sum(total_bytes) INTO first FROM pg_backend_memory_contexts;
    MOVE 98000 IN c;
    SELECT sum(total_bytes) INTO last FROM pg_backend_memory_contexts;
    RETURN last - first < 1000000;
END $$;
SELECT peak_of_scoring() AS flat,
    growth('SELECT sum(predict(m, ARRAY[i % 10, 1.0])) FROM model, generate_series(1, 1000) i') < 100000
    AS no_growth;

-- The extension may be dropped and made again; what uses it goes with it.
DROP FUNCTION growth, peak_of_scoring;
DROP PROCEDURE cancelled;
DROP VIEW seen;
DROP TABLE points, "9Täble", split, noise;
DROP OWNED BY kernelml_plain;
DROP ROLE kernelml_plain;
CREATE DATABASE kernelml_again;
\c kernelml_again
CREATE EXTENSION kernelml;
CREATE TABLE uses (k kernelml.kernel);
DROP EXTENSION kernelml;
DROP EXTENSION kernelml CASCADE;
SELECT count(*) AS columns FROM pg_attribute WHERE attrelid = 'uses'::regclass AND attnum > 0
    AND NOT attisdropped;
SELECT count(*) AS schemas FROM pg_namespace WHERE nspname = 'kernelml';
CREATE EXTENSION kernelml;
DROP EXTENSION kernelml;
-- A schema of that name that somebody made beforehand is refused.
CREATE SCHEMA kernelml;
CREATE EXTENSION kernelml;
DROP SCHEMA kernelml;
-- A database owner who is no superuser creates it, and may not be tricked into another schema.
CREATE ROLE kernelml_owner;
GRANT CREATE ON DATABASE kernelml_again TO kernelml_owner;
SET ROLE kernelml_owner;
CREATE EXTENSION kernelml;
SELECT kernelml.kernel_value('linear', '{1,2}', '{3,4}');
DROP EXTENSION kernelml;
RESET ROLE;
\c postgres
DROP DATABASE kernelml_again;
DROP ROLE kernelml_owner;
