-- Scoring rows with a model.

CREATE FUNCTION predict_support(internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'kml_predict_support' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION predict_support(internal) IS 'planner support: the cost of scoring grows with the model';

CREATE FUNCTION predict(model bytea, x "any") RETURNS float8
    AS 'MODULE_PATHNAME', 'kml_predict' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT predict_support;
COMMENT ON FUNCTION predict(bytea, "any") IS
    'value of a regression, or the label as a number (bool as 0 and 1)';

CREATE FUNCTION predict(model bytea, x text) RETURNS float8
    AS 'MODULE_PATHNAME', 'kml_predict' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT predict_support;
COMMENT ON FUNCTION predict(bytea, text) IS
    'value of a regression, or the label as a number (bool as 0 and 1); the row as an array literal';

CREATE FUNCTION predict_vector(model bytea, x "any") RETURNS float8[]
    AS 'MODULE_PATHNAME', 'kml_predict_vector'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT predict_support;
COMMENT ON FUNCTION predict_vector(bytea, "any") IS 'values of a regression, one per target';

CREATE FUNCTION predict_vector(model bytea, x text) RETURNS float8[]
    AS 'MODULE_PATHNAME', 'kml_predict_vector'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT predict_support;
COMMENT ON FUNCTION predict_vector(bytea, text) IS
    'values of a regression, one per target; the row as an array literal';

CREATE FUNCTION predict_label(model bytea, x "any") RETURNS text
    AS 'MODULE_PATHNAME', 'kml_predict_label'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT predict_support;
COMMENT ON FUNCTION predict_label(bytea, "any") IS 'label as its type prints it; NULL for rows with NaN';

CREATE FUNCTION predict_label(model bytea, x text) RETURNS text
    AS 'MODULE_PATHNAME', 'kml_predict_label'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT predict_support;
COMMENT ON FUNCTION predict_label(bytea, text) IS
    'label as its type prints it; NULL for rows with NaN; the row as an array literal';

CREATE FUNCTION decision(model bytea, x "any") RETURNS float8[]
    AS 'MODULE_PATHNAME', 'kml_decision' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT predict_support;
COMMENT ON FUNCTION decision(bytea, "any") IS
    'raw values: one for two classes (positive: the second in sorted order), one per pair for more, '
    'positive: the second of the pair';

CREATE FUNCTION decision(model bytea, x text) RETURNS float8[]
    AS 'MODULE_PATHNAME', 'kml_decision' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT predict_support;
COMMENT ON FUNCTION decision(bytea, text) IS
    'raw values: one for two classes (positive: the second in sorted order), one per pair for more, '
    'positive: the second of the pair; the row as an array literal';

CREATE FUNCTION score(model bytea, x "any") RETURNS float8
    AS 'MODULE_PATHNAME', 'kml_score' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT predict_support;
COMMENT ON FUNCTION score(bytea, "any") IS
    'the single raw value of a regression or of a machine for two classes';

CREATE FUNCTION score(model bytea, x text) RETURNS float8
    AS 'MODULE_PATHNAME', 'kml_score' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT predict_support;
COMMENT ON FUNCTION score(bytea, text) IS
    'the single raw value of a regression or of a machine for two classes; the row as an array literal';

CREATE FUNCTION transform(model bytea, x "any") RETURNS float8[]
    AS 'MODULE_PATHNAME', 'kml_transform' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT predict_support;
COMMENT ON FUNCTION transform(bytea, "any") IS 'the features that the steps of the model make of a row';

CREATE FUNCTION transform(model bytea, x text) RETURNS float8[]
    AS 'MODULE_PATHNAME', 'kml_transform' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT predict_support;
COMMENT ON FUNCTION transform(bytea, text) IS
    'the features that the steps of the model make of a row; the row as an array literal';

CREATE FUNCTION predict_batch(model bytea, x float8[]) RETURNS float8[]
    AS 'MODULE_PATHNAME', 'kml_predict_batch' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION predict_batch(bytea, float8[]) IS
    'predict of every row of a two-dimensional array: the same bits, faster';

CREATE FUNCTION predict_w(model bytea, x "any") RETURNS float8
    AS 'MODULE_PATHNAME', 'kml_predict_w' LANGUAGE C IMMUTABLE WINDOW PARALLEL SAFE COST 100;
COMMENT ON FUNCTION predict_w(bytea, "any") IS
    'predict as a window function, predict_w(model, x) OVER (): reads ahead and scores in blocks; '
    'the same bits, faster';

CREATE FUNCTION predict_w(model bytea, x text) RETURNS float8
    AS 'MODULE_PATHNAME', 'kml_predict_w' LANGUAGE C IMMUTABLE WINDOW PARALLEL SAFE COST 100;
COMMENT ON FUNCTION predict_w(bytea, text) IS
    'predict as a window function, predict_w(model, x) OVER (): reads ahead and scores in blocks; '
    'the same bits, faster';
