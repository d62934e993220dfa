-- helpers.sql: what the SQL tests share.  \i test/helpers.sql from the top folder.
\set ECHO none
\set SHOW_CONTEXT never
SET search_path = public, kernelml;
SET client_min_messages = error;

-- SQLSTATE and message of a statement's error.
CREATE OR REPLACE FUNCTION error_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    sink record;
BEGIN
    EXECUTE statement INTO sink;
    RETURN 'no error';
EXCEPTION
    WHEN OTHERS OR query_canceled THEN RETURN SQLSTATE || ': ' || SQLERRM;
END $$;

-- The same with detail and hint; how many bytes are in use changes with any structure of the library.
CREATE OR REPLACE FUNCTION whole_error_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    sink record;
    detail text;
    hint text;
BEGIN
    EXECUTE statement INTO sink;
    RETURN 'no error';
EXCEPTION
    WHEN OTHERS THEN
        GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
        RETURN concat_ws(E'\n', SQLSTATE || ': ' || SQLERRM, NULLIF(regexp_replace(detail, '^\d+ (bytes are in use)', 'N \1'), ''), NULLIF(hint, ''));
END $$;

-- Equal within a tolerance; of arrays: of the same shape, element by element.
CREATE OR REPLACE FUNCTION near(a float8, b float8, tolerance float8) RETURNS bool LANGUAGE sql IMMUTABLE AS
    'SELECT abs(a - b) <= tolerance';
CREATE OR REPLACE FUNCTION near(a float8[], b float8[], tolerance float8) RETURNS bool LANGUAGE sql IMMUTABLE AS
    'SELECT array_dims(a) = array_dims(b) AND (SELECT bool_and(abs(u - v) <= tolerance) FROM unnest(a, b) AS t(u, v))';

-- Is some node of the plan of this kind?
CREATE OR REPLACE FUNCTION plan_has(statement text, node text) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
    line text;
    found bool := false;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || statement LOOP
        found := found OR line LIKE '%' || node || '%';
    END LOOP;
    RETURN found;
END $$;

RESET client_min_messages;
\set ECHO all
