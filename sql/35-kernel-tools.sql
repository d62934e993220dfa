-- Geometry of a kernel's feature space: distances, Gram matrices changed and expanded, norms.

CREATE FUNCTION distance(kernel, x "any", z "any") RETURNS float8
    AS 'MODULE_PATHNAME', 'kml_distance' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION distance(kernel, "any", "any") IS
    'distance of two rows in the kernel''s feature space: sqrt(k(x,x) - 2 k(x,z) + k(z,z))';
CREATE FUNCTION distance(kernel, x text, z text) RETURNS float8
    AS 'MODULE_PATHNAME', 'kml_distance' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION distance(kernel, text, text) IS
    'distance of two rows, typed as array literals, in the kernel''s feature space';

CREATE FUNCTION median_transition(internal, float8[]) RETURNS internal
    AS 'MODULE_PATHNAME', 'kml_median_transition' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION median_transition(internal, float8[]) IS
    'transition function of the aggregate median_distance';
CREATE FUNCTION median_final(internal) RETURNS float8
    AS 'MODULE_PATHNAME', 'kml_median_final' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION median_final(internal) IS 'final function of the aggregate median_distance';
CREATE AGGREGATE median_distance(x float8[]) (
    SFUNC = median_transition, STYPE = internal, SSPACE = 1000000, FINALFUNC = median_final,
    FINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE);
COMMENT ON AGGREGATE median_distance(float8[]) IS
    'median Euclidean distance of two rows, from at most 1000 distinct rows chosen by their content; '
    'NULL for fewer than two rows';

CREATE FUNCTION center_gram(g float8[]) RETURNS float8[]
    AS 'MODULE_PATHNAME', 'kml_center_gram' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION center_gram(float8[]) IS
    'H g H with H = I - 11''/n: the Gram matrix of the points less their mean in feature space';
CREATE FUNCTION normalize_gram(g float8[]) RETURNS float8[]
    AS 'MODULE_PATHNAME', 'kml_normalize_gram' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION normalize_gram(float8[]) IS
    'g_ij / sqrt(g_ii g_jj): cosines in feature space; 0 where a diagonal element is not positive';

CREATE FUNCTION effective_df(g float8[], lambda float8[]) RETURNS float8[]
    AS 'MODULE_PATHNAME', 'kml_effective_df' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION effective_df(float8[], float8[]) IS
    'trace of g (g + lambda I)^-1 for each lambda; the numerical rank for lambda = 0';
CREATE FUNCTION kernel_eigen(g float8[], k int) RETURNS TABLE (value float8, vector float8[])
    AS 'MODULE_PATHNAME', 'kml_kernel_eigen' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000 ROWS 10;
COMMENT ON FUNCTION kernel_eigen(float8[], int) IS
    'the k largest eigenvalues of a symmetric matrix, descending, with orthonormal vectors whose component '
    'of largest size is positive';

CREATE FUNCTION rkhs_norm(model bytea) RETURNS float8
    AS 'MODULE_PATHNAME', 'kml_rkhs_norm' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION rkhs_norm(bytea) IS
    'norm of a model''s function, without its intercept, in the space of its kernel: sqrt(alpha'' K alpha)';
