-- The aggregate gram, and spectra of Gram matrices.

CREATE FUNCTION gram_transition(internal, kernel, float8[]) RETURNS internal
    AS 'MODULE_PATHNAME', 'kml_gram_transition' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION gram_transition(internal, kernel, float8[]) IS
    'transition function of the aggregate gram';
CREATE FUNCTION gram_final(internal) RETURNS float8[]
    AS 'MODULE_PATHNAME', 'kml_gram_final' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION gram_final(internal) IS 'final function of the aggregate gram';

CREATE AGGREGATE gram(kernel, x float8[]) (
    SFUNC = gram_transition, STYPE = internal, SSPACE = 1000000, FINALFUNC = gram_final,
    FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE);
COMMENT ON AGGREGATE gram(kernel, float8[]) IS
    'Gram matrix, n x n, of the rows in input order (use ORDER BY inside); at most 11585 rows';

CREATE FUNCTION gram_eigenvalues(g float8[]) RETURNS float8[]
    AS 'MODULE_PATHNAME', 'kml_gram_eigenvalues' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION gram_eigenvalues(float8[]) IS 'eigenvalues of a symmetric matrix, ascending';

CREATE FUNCTION is_psd(g float8[], tolerance float8 DEFAULT 1e-10) RETURNS bool
    AS 'MODULE_PATHNAME', 'kml_is_psd' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION is_psd(float8[], float8) IS
    'whether a symmetric matrix is positive semidefinite, to tolerance times its largest |eigenvalue|';
