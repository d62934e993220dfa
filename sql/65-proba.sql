-- Probabilities of classes.

CREATE FUNCTION predict_proba(model bytea, x "any") RETURNS float8[]
    AS 'MODULE_PATHNAME', 'kml_predict_proba'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT predict_support;
COMMENT ON FUNCTION predict_proba(bytea, "any") IS
    'probabilities of the classes, in the order of classes(model)';

CREATE FUNCTION predict_proba(model bytea, x text) RETURNS float8[]
    AS 'MODULE_PATHNAME', 'kml_predict_proba'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT predict_support;
COMMENT ON FUNCTION predict_proba(bytea, text) IS
    'probabilities of the classes, in the order of classes(model); the row as an array literal';

CREATE FUNCTION probability(model bytea, x "any", label "any") RETURNS float8
    AS 'MODULE_PATHNAME', 'kml_probability' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT predict_support;
COMMENT ON FUNCTION probability(bytea, "any", "any") IS
    'probability of the class with this label';

CREATE FUNCTION probability(model bytea, x "any", label text) RETURNS float8
    AS 'MODULE_PATHNAME', 'kml_probability' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT predict_support;
COMMENT ON FUNCTION probability(bytea, "any", text) IS
    'probability of the class with this label';

CREATE FUNCTION probability(model bytea, x text, label "any") RETURNS float8
    AS 'MODULE_PATHNAME', 'kml_probability' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT predict_support;
COMMENT ON FUNCTION probability(bytea, text, "any") IS
    'probability of the class with this label; the row as an array literal';

CREATE FUNCTION probability(model bytea, x text, label text) RETURNS float8
    AS 'MODULE_PATHNAME', 'kml_probability' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT predict_support;
COMMENT ON FUNCTION probability(bytea, text, text) IS
    'probability of the class with this label; the row as an array literal';

CREATE FUNCTION predict_top(model bytea, x "any", n int4) RETURNS TABLE (label text, probability float8)
    AS 'MODULE_PATHNAME', 'kml_predict_top' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 5;
COMMENT ON FUNCTION predict_top(bytea, "any", int4) IS
    'the n most probable classes, the most probable first; no rows for a row with NaN';

CREATE FUNCTION predict_top(model bytea, x text, n int4) RETURNS TABLE (label text, probability float8)
    AS 'MODULE_PATHNAME', 'kml_predict_top' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 5;
COMMENT ON FUNCTION predict_top(bytea, text, int4) IS
    'the n most probable classes, the most probable first; no rows for a row with NaN; '
    'the row as an array literal';
