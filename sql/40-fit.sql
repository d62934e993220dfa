-- The aggregate fit: any learner, a model as bytea.

CREATE FUNCTION fit_transition(internal, learner, float8[]) RETURNS internal
    AS 'MODULE_PATHNAME', 'kml_fit_transition' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION fit_transition(internal, learner, float8[]) IS 'transition function of the aggregate fit';
CREATE FUNCTION fit_transition(internal, learner, float8[], "any") RETURNS internal
    AS 'MODULE_PATHNAME', 'kml_fit_transition' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION fit_transition(internal, learner, float8[], "any") IS
    'transition function of the aggregate fit';
CREATE FUNCTION fit_transition(internal, learner, float8[], "any", float8) RETURNS internal
    AS 'MODULE_PATHNAME', 'kml_fit_transition' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION fit_transition(internal, learner, float8[], "any", float8) IS
    'transition function of the aggregate fit';
CREATE FUNCTION fit_transition(internal, learner, text) RETURNS internal
    AS 'MODULE_PATHNAME', 'kml_fit_transition' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION fit_transition(internal, learner, text) IS 'transition function of the aggregate fit';
CREATE FUNCTION fit_transition(internal, learner, text, "any") RETURNS internal
    AS 'MODULE_PATHNAME', 'kml_fit_transition' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION fit_transition(internal, learner, text, "any") IS
    'transition function of the aggregate fit';
CREATE FUNCTION fit_transition(internal, learner, text, "any", float8) RETURNS internal
    AS 'MODULE_PATHNAME', 'kml_fit_transition' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION fit_transition(internal, learner, text, "any", float8) IS
    'transition function of the aggregate fit';
CREATE FUNCTION fit_final(internal) RETURNS bytea
    AS 'MODULE_PATHNAME', 'kml_fit_final' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100000;
COMMENT ON FUNCTION fit_final(internal) IS 'final function of the aggregate fit';

CREATE AGGREGATE fit(learner, x float8[]) (
    SFUNC = fit_transition, STYPE = internal, SSPACE = 1000000, FINALFUNC = fit_final,
    FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE);
COMMENT ON AGGREGATE fit(learner, float8[]) IS
    'a model fitted to rows x; NULL when no row was usable';
CREATE AGGREGATE fit(learner, x float8[], y "any") (
    SFUNC = fit_transition, STYPE = internal, SSPACE = 1000000, FINALFUNC = fit_final,
    FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE);
COMMENT ON AGGREGATE fit(learner, float8[], "any") IS
    'a model fitted to rows x with targets or labels y; NULL when no row was usable';
CREATE AGGREGATE fit(learner, x float8[], y "any", weight float8) (
    SFUNC = fit_transition, STYPE = internal, SSPACE = 1000000, FINALFUNC = fit_final,
    FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE);
COMMENT ON AGGREGATE fit(learner, float8[], "any", float8) IS
    'a model fitted to rows x with targets or labels y and weights; NULL when no row was usable';
CREATE AGGREGATE fit(learner, x text) (
    SFUNC = fit_transition, STYPE = internal, SSPACE = 1000000, FINALFUNC = fit_final,
    FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE);
COMMENT ON AGGREGATE fit(learner, text) IS
    'a model fitted to rows x typed as array literals; NULL when no row was usable';
CREATE AGGREGATE fit(learner, x text, y "any") (
    SFUNC = fit_transition, STYPE = internal, SSPACE = 1000000, FINALFUNC = fit_final,
    FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE);
COMMENT ON AGGREGATE fit(learner, text, "any") IS
    'a model fitted to rows x with targets or labels y typed as array literals; NULL when no row was usable';
CREATE AGGREGATE fit(learner, x text, y "any", weight float8) (
    SFUNC = fit_transition, STYPE = internal, SSPACE = 1000000, FINALFUNC = fit_final,
    FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE);
COMMENT ON AGGREGATE fit(learner, text, "any", float8) IS
    'a model fitted to rows x with targets or labels y and weights typed as array literals; '
    'NULL when no row was usable';
