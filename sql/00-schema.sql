\echo Use "CREATE EXTENSION kernelml" to load this file. \quit

-- The script creates its schema itself, and only ever creates: a schema that
-- somebody made beforehand, with functions planted in it, makes it fail.
CREATE SCHEMA kernelml;
COMMENT ON SCHEMA kernelml IS
    'kernel learning: kernels, Gram matrices, models fitted by aggregates and scored by functions';
GRANT USAGE ON SCHEMA kernelml TO PUBLIC;
SET LOCAL search_path = kernelml, pg_temp;

CREATE FUNCTION kernelml_version() RETURNS text
    AS 'MODULE_PATHNAME', 'kml_kernelml_version' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION kernelml_version() IS
    'version of the loaded library; warns if the objects of this database are of another version';
