# Citus, where the server has it: aggregates run on the workers in parts, and give the bytes of one server.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $learner = q{scale(mean=[20, 50], sd=[5, 29]) | rff(rbf(gamma=0.5), 50, seed=1)};
my $rows = q{SELECT i, i % 5 AS machine, ARRAY[20 + 5 * sin(i / 23.0), i * 31 % 100]::float8[] AS x,
        sin(i / 23.0) * 1e3 + i % 7 / 7.0 AS load FROM generate_series(1, 4000) i};

my ($coordinator, @workers) = map { PostgreSQL::Test::Cluster->new($_) } ('coordinator', 'north', 'south');
$coordinator->init;
$coordinator->start;
unless ($coordinator->safe_psql('postgres', q{SELECT 1 FROM pg_available_extensions WHERE name = 'citus'}))
{
    diag('no Citus here');
    plan skip_all => 'this server has no Citus';
}

sub sql { return $coordinator->safe_psql('postgres', shift); }

# The value of an expression on both tables: t when equal.
sub same
{
    my ($what, $value) = @_;
    is(sql("SELECT (SELECT $value FROM readings) = (SELECT $value FROM one)"), 't', $what);
}

$coordinator->stop;
$_->init for @workers;
for ($coordinator, @workers)
{
    $_->append_conf('postgresql.conf', qq{
        shared_preload_libraries = 'citus'
        citus.node_conninfo = 'sslmode=disable'
        citus.enable_statistics_collection = off});
    $_->start;
    $_->safe_psql('postgres', 'CREATE EXTENSION citus');
}
sql(sprintf q{SELECT citus_set_coordinator_host('%s', %d)}, $coordinator->host, $coordinator->port);
sql(sprintf q{SELECT citus_add_node('%s', %d)}, $_->host, $_->port) for @workers;
sql('CREATE EXTENSION kernelml');
sql(qq{CREATE TABLE readings AS $rows; CREATE TABLE one AS $rows;
    SELECT create_distributed_table('readings', 'machine', shard_count => 4)});

my $accumulate = qq{kernelml.accumulate('$learner', x, load)};
like(sql("EXPLAIN (VERBOSE) SELECT $accumulate FROM readings"),
    qr/coord_combine_agg.*worker_partial_agg/s, 'accumulate is pushed down');
same('the sums of one server', "$accumulate\::text");
same('weights and several targets',
    qq{kernelml.accumulate('$learner', x, ARRAY[load, i], machine)::text});
same('two maps in one query',
    qq{ARRAY[$accumulate\::text, kernelml.accumulate('rff(laplacian(gamma=1), 10)', x, i)::text]});
same('no rows', "$accumulate FILTER (WHERE i < 0) IS NULL");
same('rows without a target',
    qq{kernelml.accumulate('$learner', x, CASE WHEN machine > 2 THEN load END)::text});

my ($status, $out, $err) = $coordinator->psql('postgres',
    q{SELECT kernelml.accumulate('rff(rbf(gamma=1), 10)', x[1:1 + i % 2], load) FROM readings});
like($err, qr/features/, 'an error on a worker arrives');
same('and leaves nothing behind', "$accumulate\::text");

sql(qq{CREATE TABLE load_sums (machine int, sums kernelml.accumulator);
    SELECT create_distributed_table('load_sums', 'machine', colocate_with => 'readings');
    INSERT INTO load_sums SELECT machine, $accumulate FROM readings GROUP BY machine;
    CREATE TABLE models AS
        SELECT kernelml.solve(kernelml.merge(sums), 'ridge(lambda=0.1)') AS model FROM load_sums;
    SELECT create_reference_table('models')});
is(sql(qq{SELECT model = (SELECT kernelml.fit('$learner | ridge(lambda=0.1)', x, load) FROM one)
        FROM models}),
    't', 'sums kept on the workers, merged and solved: the model fitted on one server');
like(sql('EXPLAIN (VERBOSE) SELECT i, kernelml.predict(model, x) FROM readings, models'),
    qr/Query: SELECT [^\n]*kernelml\.predict\(/, 'rows are scored on the workers');
is(sql(qq{SELECT md5(kernelml.train('readings', 'x', 'load', 'scale | rff(rbf(gamma=median), 50) | ridge'))
        = md5(kernelml.train('one', 'x', 'load', 'scale | rff(rbf(gamma=median), 50) | ridge'))}),
    't', 'train');

done_testing();
