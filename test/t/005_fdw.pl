# Two servers: sums of rows are made where the rows are and merged on the other, and are then the bytes of
# one pass over all rows on one server.
use strict;
use warnings;
use Server;
use Test::More;

my $learner = q{scale(mean=[20, 50], sd=[5, 29]) | rff(rbf(gamma=0.5), 50, seed=1)};
my $rows = q{SELECT i, i % 5 AS machine, ARRAY[20 + 5 * sin(i / 23.0), i * 31 % 100]::float8[] AS x,
        sin(i / 23.0) * 1e3 + i % 7 / 7.0 AS load FROM generate_series(1, 4000) i};

# near: keeps machines 0 to 2 and solves; far: has machines 3 and 4.
my ($near, $far) = map {
    my ($name, $condition) = @$_;
    server(qq{
        CREATE TABLE readings AS SELECT * FROM ($rows) r WHERE $condition;
        CREATE VIEW load_sums AS
            SELECT machine, kernelml.accumulate('$learner', x, load) AS sums FROM readings GROUP BY machine;},
        name => $name);
} ([ 'near', 'machine < 3' ], [ 'far', 'machine >= 3' ]);

my ($status, $out, $err) = $near->psql('postgres', 'CREATE EXTENSION postgres_fdw');
if ($status)
{
    diag('no postgres_fdw here');
    plan skip_all => 'this server was built without postgres_fdw';
}

my ($host, $port) = ($far->host, $far->port);
my $user = $near->safe_psql('postgres', 'SELECT current_user');
$near->safe_psql('postgres', qq{
    CREATE SERVER far FOREIGN DATA WRAPPER postgres_fdw
        OPTIONS (host '$host', port '$port', dbname 'postgres');
    CREATE USER MAPPING FOR CURRENT_USER SERVER far OPTIONS (user '$user');
    CREATE FOREIGN TABLE far_sums (machine int, sums kernelml.accumulator) SERVER far
        OPTIONS (table_name 'load_sums');
    CREATE FOREIGN TABLE far_readings (i int, machine int, x float8[], load float8) SERVER far
        OPTIONS (table_name 'readings');
    CREATE TABLE all_readings AS $rows;
    CREATE VIEW all_sums AS SELECT * FROM load_sums UNION ALL SELECT * FROM far_sums;
});

is($near->safe_psql('postgres', q{
        SELECT count(*), sum((kernelml.accumulator_info(sums) ->> 'n_rows')::int) FROM far_sums}),
    '2|1600', 'sums arrive from the other server');
is($near->safe_psql('postgres', qq{
        SELECT kernelml.merge(sums)::text =
            (SELECT kernelml.accumulate('$learner', x, load)::text FROM all_readings) FROM all_sums}),
    't', 'sums merged from two servers are the bytes of one pass');
is($near->safe_psql('postgres', q{
        SELECT kernelml.solve(kernelml.merge(sums), 'ridge(lambda=0.1)')
            = (SELECT kernelml.fit('} . $learner . q{ | ridge(lambda=0.1)', x, load) FROM all_readings)
        FROM all_sums}),
    't', 'and the model solved from them is the model fitted to all rows');
is($near->safe_psql('postgres', qq{
        SELECT kernelml.accumulate('$learner', x, load)::text =
            (SELECT kernelml.merge(sums)::text FROM far_sums) FROM far_readings}),
    't', 'rows that are fetched instead give the same sums');

# Only sums travel, and they come back as they were.
like($near->safe_psql('postgres', 'EXPLAIN (VERBOSE) SELECT kernelml.merge(sums) FROM far_sums'),
    qr/Remote SQL: SELECT sums FROM public\.load_sums/, 'the other server is asked for sums');
$near->safe_psql('postgres', q{CREATE TABLE kept AS SELECT machine, sums FROM far_sums});
is($near->safe_psql('postgres', q{
        SELECT bool_and(k.sums::text = f.sums::text) FROM kept k JOIN far_sums f USING (machine)}),
    't', 'they are kept to the last bit');

# Another map on the other side is refused by name.
$far->safe_psql('postgres', q{
    CREATE OR REPLACE VIEW load_sums AS SELECT machine,
        kernelml.accumulate('scale(mean=[20, 50], sd=[5, 29]) | rff(rbf(gamma=0.5), 50, seed=2)', x, load)
            AS sums
    FROM readings GROUP BY machine});
($status, $out, $err) = $near->psql('postgres', 'SELECT kernelml.merge(sums) FROM all_sums');
like($err, qr/accumulators of different feature maps.*seed=1.*seed=2/s,
    'another map there is an error that names both');

done_testing();
