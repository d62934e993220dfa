-- Models and rows exchanged with LIBSVM.

CREATE FUNCTION export_libsvm(model bytea) RETURNS text
    AS 'MODULE_PATHNAME', 'kml_export_libsvm' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION export_libsvm(bytea) IS
    'a support vector machine without steps as the text of a LIBSVM model, for svm-predict and others';

CREATE FUNCTION import_libsvm(model text) RETURNS bytea
    AS 'MODULE_PATHNAME', 'kml_import_libsvm' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION import_libsvm(text) IS
    'the model in the text of a LIBSVM model, for rows of as many features as its largest index';
CREATE FUNCTION import_libsvm(model text, n_features int4) RETURNS bytea
    AS 'MODULE_PATHNAME', 'kml_import_libsvm' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION import_libsvm(text, int4) IS
    'the model in the text of a LIBSVM model, for rows of n_features features';

CREATE FUNCTION features_from_libsvm(line text, n int4) RETURNS float8[]
    AS 'MODULE_PATHNAME', 'kml_features_from_libsvm' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION features_from_libsvm(text, int4) IS
    'a line of LIBSVM data, index:value from 1 on, after a label or without one, as n features';
