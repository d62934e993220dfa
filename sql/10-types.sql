-- The types kernel and learner: canonical text, checked when typed.

CREATE TYPE kernel;
CREATE FUNCTION kernel_in(cstring) RETURNS kernel
    AS 'MODULE_PATHNAME', 'kml_kernel_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION kernel_out(kernel) RETURNS cstring
    AS 'MODULE_PATHNAME', 'kml_spec_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION kernel_recv(internal) RETURNS kernel
    AS 'MODULE_PATHNAME', 'kml_kernel_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION kernel_send(kernel) RETURNS bytea
    AS 'MODULE_PATHNAME', 'kml_spec_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE TYPE kernel (INPUT = kernel_in, OUTPUT = kernel_out, RECEIVE = kernel_recv, SEND = kernel_send,
                    INTERNALLENGTH = VARIABLE, STORAGE = extended);
COMMENT ON TYPE kernel IS 'a similarity of two rows, such as rbf(gamma=0.5) + 2 * linear';
COMMENT ON FUNCTION kernel_in(cstring) IS 'input of type kernel: parses, checks and canonicalises';
COMMENT ON FUNCTION kernel_out(kernel) IS 'output of type kernel: canonical text';
COMMENT ON FUNCTION kernel_recv(internal) IS 'binary input of type kernel';
COMMENT ON FUNCTION kernel_send(kernel) IS 'binary output of type kernel';

CREATE FUNCTION kernel_lt(kernel, kernel) RETURNS bool
    AS 'MODULE_PATHNAME', 'kml_spec_lt' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION kernel_lt(kernel, kernel) IS 'implementation of < operator: bytewise on canonical text';
CREATE OPERATOR < (LEFTARG = kernel, RIGHTARG = kernel, FUNCTION = kernel_lt,
    COMMUTATOR = >, NEGATOR = >=, RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
COMMENT ON OPERATOR < (kernel, kernel) IS 'less than';

CREATE FUNCTION kernel_le(kernel, kernel) RETURNS bool
    AS 'MODULE_PATHNAME', 'kml_spec_le' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION kernel_le(kernel, kernel) IS 'implementation of <= operator: bytewise on canonical text';
CREATE OPERATOR <= (LEFTARG = kernel, RIGHTARG = kernel, FUNCTION = kernel_le,
    COMMUTATOR = >=, NEGATOR = >, RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
COMMENT ON OPERATOR <= (kernel, kernel) IS 'less than or equal';

CREATE FUNCTION kernel_eq(kernel, kernel) RETURNS bool
    AS 'MODULE_PATHNAME', 'kml_spec_eq' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION kernel_eq(kernel, kernel) IS 'implementation of = operator: bytewise on canonical text';
CREATE OPERATOR = (LEFTARG = kernel, RIGHTARG = kernel, FUNCTION = kernel_eq,
    COMMUTATOR = =, NEGATOR = <>, RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
COMMENT ON OPERATOR = (kernel, kernel) IS 'equal';

CREATE FUNCTION kernel_ne(kernel, kernel) RETURNS bool
    AS 'MODULE_PATHNAME', 'kml_spec_ne' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION kernel_ne(kernel, kernel) IS 'implementation of <> operator: bytewise on canonical text';
CREATE OPERATOR <> (LEFTARG = kernel, RIGHTARG = kernel, FUNCTION = kernel_ne,
    COMMUTATOR = <>, NEGATOR = =, RESTRICT = neqsel, JOIN = neqjoinsel);
COMMENT ON OPERATOR <> (kernel, kernel) IS 'not equal';

CREATE FUNCTION kernel_ge(kernel, kernel) RETURNS bool
    AS 'MODULE_PATHNAME', 'kml_spec_ge' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION kernel_ge(kernel, kernel) IS 'implementation of >= operator: bytewise on canonical text';
CREATE OPERATOR >= (LEFTARG = kernel, RIGHTARG = kernel, FUNCTION = kernel_ge,
    COMMUTATOR = <=, NEGATOR = <, RESTRICT = scalargesel, JOIN = scalargejoinsel);
COMMENT ON OPERATOR >= (kernel, kernel) IS 'greater than or equal';

CREATE FUNCTION kernel_gt(kernel, kernel) RETURNS bool
    AS 'MODULE_PATHNAME', 'kml_spec_gt' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION kernel_gt(kernel, kernel) IS 'implementation of > operator: bytewise on canonical text';
CREATE OPERATOR > (LEFTARG = kernel, RIGHTARG = kernel, FUNCTION = kernel_gt,
    COMMUTATOR = <, NEGATOR = <=, RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
COMMENT ON OPERATOR > (kernel, kernel) IS 'greater than';

CREATE FUNCTION kernel_cmp(kernel, kernel) RETURNS int4
    AS 'MODULE_PATHNAME', 'kml_spec_cmp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION kernel_cmp(kernel, kernel) IS 'order of two values, bytewise on canonical text';
CREATE FUNCTION kernel_hash(kernel) RETURNS int4
    AS 'MODULE_PATHNAME', 'kml_spec_hash' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION kernel_hash(kernel) IS 'hash of a kernel';
CREATE FUNCTION kernel_hash_extended(kernel, int8) RETURNS int8
    AS 'MODULE_PATHNAME', 'kml_spec_hash_extended' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION kernel_hash_extended(kernel, int8) IS 'seeded hash of a kernel';
CREATE OPERATOR CLASS kernel_ops DEFAULT FOR TYPE kernel USING btree AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
    FUNCTION 1 kernel_cmp(kernel, kernel);
COMMENT ON OPERATOR CLASS kernel_ops USING btree IS 'bytewise order of canonical text';
CREATE OPERATOR CLASS kernel_ops DEFAULT FOR TYPE kernel USING hash AS
    OPERATOR 1 =, FUNCTION 1 kernel_hash(kernel), FUNCTION 2 kernel_hash_extended(kernel, int8);
COMMENT ON OPERATOR CLASS kernel_ops USING hash IS 'hash of canonical text';
COMMENT ON OPERATOR FAMILY kernel_ops USING btree IS 'bytewise order of canonical text';
COMMENT ON OPERATOR FAMILY kernel_ops USING hash IS 'hash of canonical text';

CREATE TYPE learner;
CREATE FUNCTION learner_in(cstring) RETURNS learner
    AS 'MODULE_PATHNAME', 'kml_learner_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION learner_out(learner) RETURNS cstring
    AS 'MODULE_PATHNAME', 'kml_spec_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION learner_recv(internal) RETURNS learner
    AS 'MODULE_PATHNAME', 'kml_learner_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION learner_send(learner) RETURNS bytea
    AS 'MODULE_PATHNAME', 'kml_spec_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE TYPE learner (INPUT = learner_in, OUTPUT = learner_out, RECEIVE = learner_recv, SEND = learner_send,
                     INTERNALLENGTH = VARIABLE, STORAGE = extended);
COMMENT ON TYPE learner IS
    'what to fit: feature steps, then an estimator, such as scale | svc(rbf(gamma=auto), c=10)';
COMMENT ON FUNCTION learner_in(cstring) IS 'input of type learner: parses, checks and canonicalises';
COMMENT ON FUNCTION learner_out(learner) IS 'output of type learner: canonical text';
COMMENT ON FUNCTION learner_recv(internal) IS 'binary input of type learner';
COMMENT ON FUNCTION learner_send(learner) IS 'binary output of type learner';

CREATE FUNCTION learner_lt(learner, learner) RETURNS bool
    AS 'MODULE_PATHNAME', 'kml_spec_lt' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION learner_lt(learner, learner) IS
    'implementation of < operator: bytewise on canonical text';
CREATE OPERATOR < (LEFTARG = learner, RIGHTARG = learner, FUNCTION = learner_lt,
    COMMUTATOR = >, NEGATOR = >=, RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
COMMENT ON OPERATOR < (learner, learner) IS 'less than';

CREATE FUNCTION learner_le(learner, learner) RETURNS bool
    AS 'MODULE_PATHNAME', 'kml_spec_le' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION learner_le(learner, learner) IS
    'implementation of <= operator: bytewise on canonical text';
CREATE OPERATOR <= (LEFTARG = learner, RIGHTARG = learner, FUNCTION = learner_le,
    COMMUTATOR = >=, NEGATOR = >, RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
COMMENT ON OPERATOR <= (learner, learner) IS 'less than or equal';

CREATE FUNCTION learner_eq(learner, learner) RETURNS bool
    AS 'MODULE_PATHNAME', 'kml_spec_eq' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION learner_eq(learner, learner) IS
    'implementation of = operator: bytewise on canonical text';
CREATE OPERATOR = (LEFTARG = learner, RIGHTARG = learner, FUNCTION = learner_eq,
    COMMUTATOR = =, NEGATOR = <>, RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
COMMENT ON OPERATOR = (learner, learner) IS 'equal';

CREATE FUNCTION learner_ne(learner, learner) RETURNS bool
    AS 'MODULE_PATHNAME', 'kml_spec_ne' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION learner_ne(learner, learner) IS
    'implementation of <> operator: bytewise on canonical text';
CREATE OPERATOR <> (LEFTARG = learner, RIGHTARG = learner, FUNCTION = learner_ne,
    COMMUTATOR = <>, NEGATOR = =, RESTRICT = neqsel, JOIN = neqjoinsel);
COMMENT ON OPERATOR <> (learner, learner) IS 'not equal';

CREATE FUNCTION learner_ge(learner, learner) RETURNS bool
    AS 'MODULE_PATHNAME', 'kml_spec_ge' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION learner_ge(learner, learner) IS
    'implementation of >= operator: bytewise on canonical text';
CREATE OPERATOR >= (LEFTARG = learner, RIGHTARG = learner, FUNCTION = learner_ge,
    COMMUTATOR = <=, NEGATOR = <, RESTRICT = scalargesel, JOIN = scalargejoinsel);
COMMENT ON OPERATOR >= (learner, learner) IS 'greater than or equal';

CREATE FUNCTION learner_gt(learner, learner) RETURNS bool
    AS 'MODULE_PATHNAME', 'kml_spec_gt' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION learner_gt(learner, learner) IS
    'implementation of > operator: bytewise on canonical text';
CREATE OPERATOR > (LEFTARG = learner, RIGHTARG = learner, FUNCTION = learner_gt,
    COMMUTATOR = <, NEGATOR = <=, RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
COMMENT ON OPERATOR > (learner, learner) IS 'greater than';

CREATE FUNCTION learner_cmp(learner, learner) RETURNS int4
    AS 'MODULE_PATHNAME', 'kml_spec_cmp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION learner_cmp(learner, learner) IS 'order of two values, bytewise on canonical text';
CREATE FUNCTION learner_hash(learner) RETURNS int4
    AS 'MODULE_PATHNAME', 'kml_spec_hash' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION learner_hash(learner) IS 'hash of a learner';
CREATE FUNCTION learner_hash_extended(learner, int8) RETURNS int8
    AS 'MODULE_PATHNAME', 'kml_spec_hash_extended' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION learner_hash_extended(learner, int8) IS 'seeded hash of a learner';
CREATE OPERATOR CLASS learner_ops DEFAULT FOR TYPE learner USING btree AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
    FUNCTION 1 learner_cmp(learner, learner);
COMMENT ON OPERATOR CLASS learner_ops USING btree IS 'bytewise order of canonical text';
CREATE OPERATOR CLASS learner_ops DEFAULT FOR TYPE learner USING hash AS
    OPERATOR 1 =, FUNCTION 1 learner_hash(learner), FUNCTION 2 learner_hash_extended(learner, int8);
COMMENT ON OPERATOR CLASS learner_ops USING hash IS 'hash of canonical text';
COMMENT ON OPERATOR FAMILY learner_ops USING btree IS 'bytewise order of canonical text';
COMMENT ON OPERATOR FAMILY learner_ops USING hash IS 'hash of canonical text';
