# Where the system refuses memory, linear algebra is an error, and the session goes on.
use strict;
use warnings;
use Server;
use Test::More;

my $node = server('', settings => "shared_buffers = '8MB'\njit = off");
my $fit = q{SELECT kernelml.fit('krr(rbf(gamma=1))', ARRAY[i, i % 7], i) IS NOT NULL
            FROM generate_series(1, 300) i};
is($node->safe_psql('postgres', $fit), 't', 'a factorisation with memory enough');

# kB of address space of a session that has loaded the library
my $size = $node->safe_psql('postgres', q{
    SELECT kernelml.kernel_value('linear', '{1}', '{1}') \g /dev/null
    SELECT substring(pg_read_file('/proc/' || pg_backend_pid() || '/status') FROM 'VmSize:\s+(\d+)')});
$node->stop;

my $limit = $size + 50_000;
my $start = "ulimit -v $limit && pg_ctl -D '" . $node->data_dir . "' -l '" . $node->logfile . "' -w";
is(system("$start start > /dev/null"), 0, 'a server with little memory starts');
my ($out, $err) = ('', '');
$node->psql('postgres', "SET statement_timeout = '20s'; $fit; SELECT 1 + 1;",
    stdout => \$out, stderr => \$err, on_error_stop => 0, timeout => 60);
like($err, qr/out of memory/, 'what OpenBLAS needs and cannot have is an error');
is($out, '2', 'the session goes on');
is(system("pg_ctl -D '" . $node->data_dir . "' -m fast -w -t 20 stop > /dev/null"), 0, 'the server stops');

done_testing();
