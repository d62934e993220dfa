-- Kernel values and matrices.

CREATE FUNCTION kernel_value(kernel, x "any", z "any") RETURNS float8
    AS 'MODULE_PATHNAME', 'kml_kernel_value' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION kernel_value(kernel, "any", "any") IS
    'k(x, z) of two rows of the same length: float8[], real[], integer or numeric arrays';
CREATE FUNCTION kernel_value(kernel, x text, z text) RETURNS float8
    AS 'MODULE_PATHNAME', 'kml_kernel_value' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION kernel_value(kernel, text, text) IS
    'k(x, z) of two rows typed as array literals';

CREATE FUNCTION kernel_matrix(kernel, x float8[]) RETURNS float8[]
    AS 'MODULE_PATHNAME', 'kml_kernel_matrix' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION kernel_matrix(kernel, float8[]) IS
    'Gram matrix, n x n, of the n rows of the two-dimensional array x';
CREATE FUNCTION kernel_matrix(kernel, x float8[], z float8[]) RETURNS float8[]
    AS 'MODULE_PATHNAME', 'kml_kernel_matrix_cross' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION kernel_matrix(kernel, float8[], float8[]) IS
    'cross Gram matrix, n x m, of the n rows of x and the m rows of z';
