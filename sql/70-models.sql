-- What a model says of itself.

CREATE FUNCTION model_info(model bytea) RETURNS jsonb
    AS 'MODULE_PATHNAME', 'kml_model_info' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION model_info(bytea) IS
    'learner with resolved values, rows fitted and skipped, classes, and what the learner reports: '
    'n_sv, objective, converged, …';
CREATE FUNCTION learner(model bytea) RETURNS learner
    AS 'MODULE_PATHNAME', 'kml_model_learner' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION learner(bytea) IS 'the learner of a model with every value resolved';
CREATE FUNCTION classes(model bytea) RETURNS text[]
    AS 'MODULE_PATHNAME', 'kml_classes' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION classes(bytea) IS 'labels in sorted order; NULL for a model that is no classifier';

CREATE FUNCTION models_decoded() RETURNS int8
    AS 'MODULE_PATHNAME', 'kml_models_decoded' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION models_decoded() IS
    'how many models this session has decoded: one per call site and model, not per row';
