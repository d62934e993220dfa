-- What a model is made of, and what decides about one row.

CREATE FUNCTION support_vectors(model bytea)
    RETURNS TABLE (support_vector float8[], label text, coefficients float8[])
    AS 'MODULE_PATHNAME', 'kml_support_vectors' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION support_vectors(bytea) IS
    'the rows that a kernel model keeps, in input units where its steps can be undone, their labels, '
    'and their coefficients in each value of decision';

CREATE FUNCTION coefficients(model bytea)
    RETURNS TABLE (output int4, label text, against text, coefficients float8[], intercept float8)
    AS 'MODULE_PATHNAME', 'kml_coefficients' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 10;
COMMENT ON FUNCTION coefficients(bytea) IS
    'of a linear model: for each value of decision the coefficients of the features, '
    'in input units where its steps can be undone, and the intercept';

CREATE FUNCTION explain(model bytea, x "any", n int4, output int4 DEFAULT 1)
    RETURNS TABLE (support_vector float8[], label text, contribution float8, share float8)
    AS 'MODULE_PATHNAME', 'kml_explain' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 10;
COMMENT ON FUNCTION explain(bytea, "any", int4, int4) IS
    'the n rows of a kernel model that weigh most in one value of decision, '
    'with what they add to it and their share';
CREATE FUNCTION explain(model bytea, x text, n int4, output int4 DEFAULT 1)
    RETURNS TABLE (support_vector float8[], label text, contribution float8, share float8)
    AS 'MODULE_PATHNAME', 'kml_explain' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 10;
COMMENT ON FUNCTION explain(bytea, text, int4, int4) IS
    'the n rows of a kernel model that weigh most in one value of decision, '
    'with what they add to it and their share; the row as an array literal';
