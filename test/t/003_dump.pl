# Models, kernels and learners are values: a dump brings them back byte for byte, and a standby
# answers as its primary does.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Server;
use Test::More;

my $node = server(q{
    CREATE TABLE points AS
        SELECT i, ARRAY[sin(i), cos(3 * i)]::float8[] AS x, sin(i) + i % 5 AS y
        FROM generate_series(1, 200) i;
    CREATE TABLE specs (k kernelml.kernel, l kernelml.learner);
    INSERT INTO specs
        VALUES ('rbf(gamma=0.1) + 2 * linear', 'scale | krr(laplacian(gamma=0.3), lambda=1e-3)');
    CREATE TABLE models AS SELECT kernelml.fit(l, x, y) AS model FROM points, specs;
    CREATE VIEW scores AS SELECT i, kernelml.predict(model, x) AS score FROM points, models;
    CREATE INDEX ON points (kernelml.kernel_value('rbf(gamma=1)', x, '{0,0}'::float8[]));
    CREATE DATABASE restored;
}, init => [ allows_streaming => 1 ]);

my $answer = q{
    SELECT md5(string_agg(i || ' ' || score, ',' ORDER BY i)) || k || l
    FROM scores, specs GROUP BY k::text, l::text, k, l};
my $here = $node->safe_psql('postgres', $answer);

my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump.sql';
$node->command_ok([ 'pg_dump', '-f', $dump, $node->connstr('postgres') ], 'dumped');
$node->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', $dump, $node->connstr('restored') ],
    'restored');
is($node->safe_psql('restored', $answer), $here, 'the restored view scores the same');

$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->start;
is($standby->safe_psql('postgres', $answer), $here, 'a standby scores the same');

done_testing();
