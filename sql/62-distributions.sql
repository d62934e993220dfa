-- Gaussian processes: distributions and samples.

CREATE TYPE distribution AS (mean float8, variance float8);
COMMENT ON TYPE distribution IS 'mean and variance of a predicted value';

CREATE FUNCTION predict_dist(model bytea, x "any") RETURNS distribution
    AS 'MODULE_PATHNAME', 'kml_predict_dist'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT predict_support;
COMMENT ON FUNCTION predict_dist(bytea, "any") IS
    'mean and variance of the latent value of a Gaussian process: without the noise of an observation';
CREATE FUNCTION predict_dist(model bytea, x text) RETURNS distribution
    AS 'MODULE_PATHNAME', 'kml_predict_dist'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT predict_support;
COMMENT ON FUNCTION predict_dist(bytea, text) IS
    'mean and variance of the latent value of a Gaussian process: without the noise of an observation; '
    'the row as an array literal';

CREATE FUNCTION predict_dist_observed(model bytea, x "any") RETURNS distribution
    AS 'MODULE_PATHNAME', 'kml_predict_dist_observed'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT predict_support;
COMMENT ON FUNCTION predict_dist_observed(bytea, "any") IS
    'mean and variance of an observation of a Gaussian process: the latent value and the noise';
CREATE FUNCTION predict_dist_observed(model bytea, x text) RETURNS distribution
    AS 'MODULE_PATHNAME', 'kml_predict_dist_observed'
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE SUPPORT predict_support;
COMMENT ON FUNCTION predict_dist_observed(bytea, text) IS
    'mean and variance of an observation of a Gaussian process: the latent value and the noise; '
    'the row as an array literal';

CREATE FUNCTION predict_dist_batch(model bytea, x float8[]) RETURNS SETOF distribution
    AS 'MODULE_PATHNAME', 'kml_predict_dist_batch' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION predict_dist_batch(bytea, float8[]) IS
    'predict_dist of every row of a two-dimensional array, in order: within 1e-10, faster';

CREATE FUNCTION gp_sample(model bytea, x float8[], draws int DEFAULT 1, seed int8 DEFAULT 0) RETURNS float8[]
    AS 'MODULE_PATHNAME', 'kml_gp_sample' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION gp_sample(bytea, float8[], int, int8) IS
    'draws from the posterior of a Gaussian process at the rows of x together: '
    'a row for each draw, a column for each row of x; the same seed gives the same draws';

CREATE FUNCTION kernel_sample(kernel, x float8[], draws int DEFAULT 1, seed int8 DEFAULT 0) RETURNS float8[]
    AS 'MODULE_PATHNAME', 'kml_kernel_sample' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION kernel_sample(kernel, float8[], int, int8) IS
    'draws from the Gaussian process with mean 0 and this covariance at the rows of x together: '
    'a row for each draw, a column for each row of x; the same seed gives the same draws';
