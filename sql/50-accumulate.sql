-- The type accumulator: mergeable Gram sums of a feature map, and what is done with it.

CREATE TYPE accumulator;
CREATE FUNCTION accumulator_in(cstring) RETURNS accumulator
    AS 'MODULE_PATHNAME', 'kml_accumulator_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION accumulator_in(cstring) IS 'input of type accumulator: base64, checked';
CREATE FUNCTION accumulator_out(accumulator) RETURNS cstring
    AS 'MODULE_PATHNAME', 'kml_accumulator_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION accumulator_out(accumulator) IS
    'output of type accumulator: base64 of its bytes, lossless';
CREATE FUNCTION accumulator_recv(internal) RETURNS accumulator
    AS 'MODULE_PATHNAME', 'kml_accumulator_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION accumulator_recv(internal) IS 'binary input of type accumulator, checked';
CREATE FUNCTION accumulator_send(accumulator) RETURNS bytea
    AS 'MODULE_PATHNAME', 'kml_accumulator_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION accumulator_send(accumulator) IS 'binary output of type accumulator';
CREATE TYPE accumulator (INPUT = accumulator_in, OUTPUT = accumulator_out, RECEIVE = accumulator_recv,
                         SEND = accumulator_send, INTERNALLENGTH = VARIABLE, ALIGNMENT = double,
                         STORAGE = external);
COMMENT ON TYPE accumulator IS 'mergeable sums over rows of a feature map: solve() makes a model from them';

CREATE FUNCTION accumulator_combine(accumulator, accumulator) RETURNS accumulator
    AS 'MODULE_PATHNAME', 'kml_accumulator_combine' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION accumulator_combine(accumulator, accumulator) IS
    'combine function of accumulate and transition function of merge';
CREATE FUNCTION accumulator_final(accumulator) RETURNS accumulator
    AS 'MODULE_PATHNAME', 'kml_accumulator_final' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION accumulator_final(accumulator) IS 'final function of accumulate and merge';

CREATE FUNCTION accumulate_transition(accumulator, learner, float8[], float8) RETURNS accumulator
    AS 'MODULE_PATHNAME', 'kml_accumulate_transition' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 200;
COMMENT ON FUNCTION accumulate_transition(accumulator, learner, float8[], float8) IS
    'transition function of the aggregate accumulate';
CREATE AGGREGATE accumulate(learner, x float8[], y float8) (
    SFUNC = accumulate_transition, STYPE = accumulator, SSPACE = 1000000, COMBINEFUNC = accumulator_combine,
    FINALFUNC = accumulator_final, FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE);
COMMENT ON AGGREGATE accumulate(learner, float8[], float8) IS
    'sums over rows x with target y of the features of a learner';

CREATE FUNCTION accumulate_transition(accumulator, learner, float8[], float8, float8) RETURNS accumulator
    AS 'MODULE_PATHNAME', 'kml_accumulate_transition' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 200;
COMMENT ON FUNCTION accumulate_transition(accumulator, learner, float8[], float8, float8) IS
    'transition function of the aggregate accumulate';
CREATE AGGREGATE accumulate(learner, x float8[], y float8, weight float8) (
    SFUNC = accumulate_transition, STYPE = accumulator, SSPACE = 1000000, COMBINEFUNC = accumulator_combine,
    FINALFUNC = accumulator_final, FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE);
COMMENT ON AGGREGATE accumulate(learner, float8[], float8, float8) IS
    'sums over rows x with target y and weights of the features of a learner';

CREATE FUNCTION accumulate_transition(accumulator, learner, float8[], float8[]) RETURNS accumulator
    AS 'MODULE_PATHNAME', 'kml_accumulate_transition' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 200;
COMMENT ON FUNCTION accumulate_transition(accumulator, learner, float8[], float8[]) IS
    'transition function of the aggregate accumulate';
CREATE AGGREGATE accumulate(learner, x float8[], y float8[]) (
    SFUNC = accumulate_transition, STYPE = accumulator, SSPACE = 1000000, COMBINEFUNC = accumulator_combine,
    FINALFUNC = accumulator_final, FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE);
COMMENT ON AGGREGATE accumulate(learner, float8[], float8[]) IS
    'sums over rows x with several targets y of the features of a learner';

CREATE FUNCTION accumulate_transition(accumulator, learner, float8[], float8[], float8) RETURNS accumulator
    AS 'MODULE_PATHNAME', 'kml_accumulate_transition' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 200;
COMMENT ON FUNCTION accumulate_transition(accumulator, learner, float8[], float8[], float8) IS
    'transition function of the aggregate accumulate';
CREATE AGGREGATE accumulate(learner, x float8[], y float8[], weight float8) (
    SFUNC = accumulate_transition, STYPE = accumulator, SSPACE = 1000000, COMBINEFUNC = accumulator_combine,
    FINALFUNC = accumulator_final, FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE);
COMMENT ON AGGREGATE accumulate(learner, float8[], float8[], float8) IS
    'sums over rows x with several targets y and weights of the features of a learner';

CREATE AGGREGATE merge(accumulator) (
    SFUNC = accumulator_combine, STYPE = accumulator, SSPACE = 1000000, COMBINEFUNC = accumulator_combine,
    FINALFUNC = accumulator_final, FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE);
COMMENT ON AGGREGATE merge(accumulator) IS
    'all accumulators of a group in one: as if their rows had been accumulated together';

CREATE FUNCTION merge(a accumulator, b accumulator) RETURNS accumulator
    AS 'MODULE_PATHNAME', 'kml_merge' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION merge(accumulator, accumulator) IS 'two accumulators of the same map in one';
CREATE FUNCTION subtract(a accumulator, b accumulator) RETURNS accumulator
    AS 'MODULE_PATHNAME', 'kml_subtract' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION subtract(accumulator, accumulator) IS
    'a without the rows of b, which must be among those of a';
CREATE OPERATOR + (LEFTARG = accumulator, RIGHTARG = accumulator, FUNCTION = merge, COMMUTATOR = +);
COMMENT ON OPERATOR + (accumulator, accumulator) IS 'merge';
CREATE OPERATOR - (LEFTARG = accumulator, RIGHTARG = accumulator, FUNCTION = subtract);
COMMENT ON OPERATOR - (accumulator, accumulator) IS 'subtract';

CREATE FUNCTION solve(accumulator, learner) RETURNS bytea
    AS 'MODULE_PATHNAME', 'kml_solve' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION solve(accumulator, learner) IS
    'a model from sums: the learner is the estimator alone, such as ridge(lambda=0.1), or the whole; '
    'NULL for no rows';

CREATE FUNCTION squared_error(model bytea, accumulator, OUT weight float8, OUT sse float8, OUT sst float8)
    AS 'MODULE_PATHNAME', 'kml_squared_error' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION squared_error(bytea, accumulator) IS
    'how well a ridge model fits the rows in sums of its own map: their weight, the sum of squared errors, '
    'and that of squared deviations from the mean';
CREATE FUNCTION accumulator_info(accumulator) RETURNS jsonb
    AS 'MODULE_PATHNAME', 'kml_accumulator_info' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION accumulator_info(accumulator) IS
    'what an accumulator is of: learner, rows, weight, columns, whether its sums are exact, bytes';
