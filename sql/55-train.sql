-- train and train_query: learners fitted in passes over a table or a query; the aggregate behind them.

CREATE FUNCTION train_survey_transition(internal, learner, float8[], float8) RETURNS internal
    AS 'MODULE_PATHNAME', 'kml_train_survey_transition' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 20;
COMMENT ON FUNCTION train_survey_transition(internal, learner, float8[], float8) IS
    'transition function of the aggregate train_survey';
CREATE FUNCTION train_survey_combine(internal, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'kml_train_survey_combine' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION train_survey_combine(internal, internal) IS
    'combine function of the aggregate train_survey';
CREATE FUNCTION train_survey_serial(internal) RETURNS bytea
    AS 'MODULE_PATHNAME', 'kml_train_survey_serial' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION train_survey_serial(internal) IS 'serialization function of the aggregate train_survey';
CREATE FUNCTION train_survey_deserial(bytea, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'kml_train_survey_deserial' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION train_survey_deserial(bytea, internal) IS
    'deserialization function of the aggregate train_survey';
CREATE FUNCTION train_survey_final(internal) RETURNS bytea
    AS 'MODULE_PATHNAME', 'kml_train_survey_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION train_survey_final(internal) IS 'final function of the aggregate train_survey';
CREATE AGGREGATE train_survey(learner, x float8[], weight float8) (
    SFUNC = train_survey_transition, STYPE = internal, SSPACE = 1000000, COMBINEFUNC = train_survey_combine,
    SERIALFUNC = train_survey_serial, DESERIALFUNC = train_survey_deserial, FINALFUNC = train_survey_final,
    FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE);
COMMENT ON AGGREGATE train_survey(learner, float8[], float8) IS
    'a pass of train: what the first step without constants learns from';

CREATE FUNCTION train(relation regclass, features text, target text, learner) RETURNS bytea
    AS 'MODULE_PATHNAME', 'kml_train' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 1000000;
COMMENT ON FUNCTION train(regclass, text, text, learner) IS
    'a model fitted to a table in as many parallel passes as the learner needs: '
    'features names an array column or several columns; NULL for no rows';
CREATE FUNCTION train_query(query text, learner) RETURNS bytea
    AS 'MODULE_PATHNAME', 'kml_train_query' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 1000000;
COMMENT ON FUNCTION train_query(text, learner) IS
    'a model fitted to the rows of one SELECT with columns x, y and, if rows have one, weight, '
    'in passes like those of train';
