# Server.pm: servers with kernelml in their database postgres, and rows for them.
package Server;
use strict;
use warnings;
use Exporter 'import';
use PostgreSQL::Test::Cluster;

our @EXPORT = qw(server points);

# server(STATEMENTS, OPTION => VALUE…): a started server in which the statements were run.  Options: name,
# settings (lines of postgresql.conf), init (a list of options of initialisation).
sub server
{
    my ($statements, %options) = @_;
    my $node = PostgreSQL::Test::Cluster->new($options{name} // 'main');
    $node->init(@{ $options{init} // [] });
    $node->append_conf('postgresql.conf', $options{settings} // '');
    $node->start;
    $node->safe_psql('postgres', "CREATE EXTENSION kernelml; $statements");
    return $node;
}

# points(N): a statement that makes a table of N rows of 20 features, with labels that they do not explain
# and targets.
sub points
{
    my ($n) = @_;
    return qq{
    CREATE TABLE points AS
        SELECT i, array_agg(sin(i * j) + cos(i * i % 101 * j)) AS x, hashint4(i) % 2 AS noise, sin(i) AS y
        FROM generate_series(1, $n) i, generate_series(1, 20) j GROUP BY i;};
}

1;
