# Who may do what: nothing of kernelml needs a superuser.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->start;
$node->safe_psql('postgres', q{
    CREATE ROLE owner LOGIN;
    CREATE ROLE plain LOGIN;
    CREATE DATABASE shop OWNER owner;
    CREATE DATABASE planted OWNER owner;
});

# sql(ROLE, STATEMENTS, DATABASE): (status, output, error)
sub sql
{
    my ($role, $statements, $database) = @_;
    my ($out, $err) = ('', '');
    my $status = $node->psql($database // 'shop', $statements,
        extra_params => [ '-U', $role ], stdout => \$out, stderr => \$err);
    return ($status, $out, $err);
}

my ($status, $out, $err) = sql('owner', 'CREATE EXTENSION kernelml');
is($status, 0, 'the owner of a database, no superuser, creates the extension');

($status, $out, $err) = sql('plain', q{SELECT kernelml.kernel_value('linear', '{1,2}', '{3,1}')});
is($out, '5', 'a plain role uses it');

($status, $out, $err) = sql('plain', q{
    CREATE TEMP TABLE points AS
        SELECT ARRAY[i, i * i % 7]::float8[] AS x, i::float8 AS y FROM generate_series(1, 30) i;
    CREATE TEMP TABLE model AS SELECT kernelml.fit('krr(rbf(gamma=0.1), lambda=1e-6)', x, y) AS m FROM points;
    SELECT max(abs(kernelml.predict(m, x) - y)) < 0.01 FROM points, model;});
is($out, 't', 'a plain role fits and predicts') or diag($err);

($status, $out, $err) =
    sql('plain', 'CREATE FUNCTION kernelml.planted() RETURNS int LANGUAGE sql AS $$SELECT 1$$');
like($err, qr/permission denied for schema kernelml/, 'a plain role cannot add to the schema');

# A schema made beforehand could hold functions that the script would then trust.
sql('owner', 'CREATE SCHEMA kernelml', 'planted');
($status, $out, $err) = sql('owner', 'CREATE EXTENSION kernelml', 'planted');
like($err, qr/schema "kernelml" already exists/, 'a schema that is already there is refused');

is($node->safe_psql('shop', q{
    SELECT count(*) FROM pg_depend d JOIN pg_proc p ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass
    WHERE d.deptype = 'e' AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'kernelml')
      AND obj_description(p.oid, 'pg_proc') IS NULL}), '0', 'every function has a comment');

($status, $out, $err) = sql('owner', 'DROP EXTENSION kernelml');
is($status, 0, 'the owner drops it') or diag($err);
is($node->safe_psql('shop', q{SELECT count(*) FROM pg_namespace WHERE nspname = 'kernelml'}), '0',
    'and nothing is left');

done_testing();
