# What a backend keeps to itself: it gains no thread, and another BLAS in it is not disturbed.
use strict;
use warnings;
use Server;
use Test::More;

my $node = server(q{
    CREATE TABLE points AS
        SELECT i, ARRAY[sin(i), cos(3 * i), i % 5]::float8[] AS x, i % 2 AS label, sin(i) + i % 5 AS y
        FROM generate_series(1, 600) i;
});

# Fit, then count the backend's threads while it is still there.
my $threads = $node->safe_psql('postgres', q{
    SELECT length(kernelml.fit('svc(rbf(gamma=1))', x, label)) > 0 FROM points;
    SELECT length(kernelml.fit('krr(rbf(gamma=1), lambda=0.1)', x, y)) > 0 FROM points;
    SELECT kernelml.is_psd(kernelml.gram('rbf(gamma=1)', x ORDER BY i)) FROM points;
    SELECT (regexp_match(pg_read_file('/proc/' || pg_backend_pid() || '/status'), 'Threads:\s+(\d+)'))[1];});
is($threads, "t\nt\nt\n1", 'a backend has one thread after fits');

SKIP: {
    my ($out, $err) = ('', '');
    my $status = $node->psql('postgres',
        q{CREATE EXTENSION plpython3u; DO LANGUAGE plpython3u 'import numpy'},
        stdout => \$out, stderr => \$err);
    skip "no PL/Python with numpy here: $err", 2 if $status;

    $node->safe_psql('postgres', q{
        CREATE FUNCTION numpy_solve(n int) RETURNS float8 LANGUAGE plpython3u AS $$
            import numpy
            a = numpy.fromfunction(lambda i, j: 1.0 / (1 + abs(i - j)), (n, n)) + n * numpy.eye(n)
            b = numpy.linalg.solve(a, a @ numpy.arange(n))
            off = numpy.linalg.eigvalsh(a).sum() - numpy.trace(a)
            return float(abs(b - numpy.arange(n)).max() + abs(off))
        $$;});

    my $fit = q{SELECT md5(kernelml.fit('krr(rbf(gamma=1), lambda=0.1)', x, y)) FROM points};
    my $alone = $node->safe_psql('postgres', $fit);
    is($node->safe_psql('postgres', "SELECT numpy_solve(300) < 1e-6; $fit; SELECT numpy_solve(300) < 1e-6"),
        "t\n$alone\nt", 'numpy first, then a fit: both right');
    is($node->safe_psql('postgres', "$fit; SELECT numpy_solve(300) < 1e-6; $fit"),
        "$alone\nt\n$alone", 'a fit first, then numpy: both right');
}

done_testing();
