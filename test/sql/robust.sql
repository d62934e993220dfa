-- What an enemy or an accident may hand in: forged bytes with a right checksum, text of another encoding, few
-- rows of very many columns.
\i test/helpers.sql

-- CRC-32C, bit by bit.
CREATE FUNCTION castagnoli(bytes bytea) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    crc bigint = 4294967295;
BEGIN
    FOR i IN 0 .. length(bytes) - 1 LOOP
        crc = crc # get_byte(bytes, i);
        FOR bit IN 1 .. 8 LOOP
            crc = (crc >> 1) # (CASE WHEN crc & 1 = 1 THEN x'82f63b78'::bigint ELSE 0 END);
        END LOOP;
    END LOOP;
    RETURN crc # 4294967295;
END $$;

-- A number as n bytes, the lowest first.
CREATE FUNCTION little_endian(number bigint, n int) RETURNS bytea LANGUAGE sql IMMUTABLE AS
    $$ SELECT string_agg(set_byte('\x00', 0, (number >> 8 * i & 255)::int), '' ORDER BY i)
       FROM generate_series(0, n - 1) i $$;
CREATE FUNCTION number_at(bytes bytea, place int) RETURNS int LANGUAGE sql IMMUTABLE AS
    $$ SELECT sum(get_byte(bytes, place + i) << 8 * i)::int FROM generate_series(0, 3) i $$;

-- Bytes with their length and checksum made right: models check what follows byte 32, accumulators what
-- follows byte 20.
CREATE FUNCTION sealed(bytes bytea, checked int) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
    SELECT overlay(overlay(bytes PLACING little_endian(length(bytes), 8) FROM 9)
                   PLACING little_endian(castagnoli(substr(bytes, checked + 1)), 4) FROM 17) $$;

SELECT castagnoli('123456789') = x'e3069283'::bigint AS crc_is_castagnoli;

-- A model whose label is no text of this database is refused, not given out as text.
CREATE TABLE forged AS
    SELECT fit('svc(linear)', x, label) AS m FROM (VALUES ('{-1}'::float8[], 'low'), ('{1}', 'high')) v(x, label);
UPDATE forged SET m = overlay(m PLACING '\xff' FROM position('high'::bytea IN m));
SELECT error_of(format('SELECT predict_label(%L::bytea, ''{1}'')', m)) AS broken_checksum FROM forged;
UPDATE forged SET m = sealed(m, 32);
SELECT whole_error_of(format('SELECT predict_label(%L::bytea, ''{1}'')', m)) AS foreign_label FROM forged;
SELECT error_of(format('SELECT classes(%L::bytea)', m)) AS foreign_label FROM forged;
SELECT error_of(format('SELECT model_info(%L::bytea)', m)) AS foreign_label FROM forged;

-- A Gaussian process in TOAST whose factor is damaged: what does not read it has its answer, what reads it says so.
CREATE TEMP TABLE gaussian AS SELECT fit('gp(rbf(gamma=1))', ARRAY[i / 50.0]::float8[], sin(i)) AS m
    FROM generate_series(1, 100) i;
CREATE TEMP TABLE torn AS SELECT set_byte(m, length(m) - 9, get_byte(m, length(m) - 9) # 1) AS m FROM gaussian;
SELECT predict(t.m, '{0.3}') = predict(g.m, '{0.3}') AS mean,
       model_info(t.m) = model_info(g.m) AS info FROM torn t, gaussian g;
SELECT error_of('SELECT kernelml.predict_dist(m, ARRAY[0.3]) FROM torn') AS variance;

-- An accumulator that names a map of more features than it has room for: as the start of somebody's aggregate it
-- must not let rows be added beyond its end.
DO $$
DECLARE
    small bytea = (SELECT decode(accumulate('rff(rbf(gamma=1), n_components=4)', ARRAY[i, i], i)::text, 'base64')
                   FROM generate_series(1, 9) i);
    large text = 'rff(rbf(gamma=1), n_components=400, seed=0)';
    text_at int = position('rff'::bytea IN small) - 1;
    text_bytes int = number_at(small, 68);
    forged bytea = substr(small, 1, text_at) || large::bytea ||
        decode(repeat('00', -length(large) & 7), 'hex') || substr(small, text_at + (text_bytes + 7) / 8 * 8 + 1);
BEGIN
    forged = sealed(overlay(forged PLACING little_endian(length(large), 4) FROM 69), 20);
    EXECUTE format('CREATE AGGREGATE sums_from_forged(learner, float8[], float8) (
        SFUNC = accumulate_transition, STYPE = accumulator, FINALFUNC = accumulator_final, INITCOND = %L)',
        translate(encode(forged, 'base64'), E'\n', ''));
END $$;
SELECT error_of($$ SELECT length(sums_from_forged('rff(rbf(gamma=1), n_components=400)', ARRAY[i, i], i)::text)
                   FROM generate_series(1, 2000) i $$) AS forged_accumulator;

-- A few rows of very many columns need memory for themselves only.
SET kernelml.max_memory = '64MB';
SELECT kernel_matrix('rbf(gamma=1)', array_fill(0.5::float8, ARRAY[2, 1000000]));
RESET kernelml.max_memory;

DROP TABLE forged;
DROP AGGREGATE sums_from_forged(learner, float8[], float8);
DROP FUNCTION sealed, little_endian, number_at, castagnoli;

-- Only the ratios of the weights count in nu_svc.
SELECT abs(score(fit('nu_svc(tol=1e-6)', ARRAY[i % 7, i % 5], i % 3 = 0, i * 1e-6), '{1,2}') -
           score(fit('nu_svc(tol=1e-6)', ARRAY[i % 7, i % 5], i % 3 = 0, i), '{1,2}')) < 1e-3 AS same
FROM generate_series(1, 60) i;

-- A kernel that overflows is refused by fit.
SELECT error_of($$SELECT fit('svc(poly(degree=1000000))', x, l)
    FROM (VALUES ('{1,2}'::float8[], 0), ('{1.5,-1}', 1)) v (x, l)$$);
