# Cancelling: whatever kernelml is doing, at 10,000 rows, it stops within 200 ms of being asked to,
# and gives its memory back.  Eigenvalue problems may take 1 s: their two matrices as SQL values, 1.6 GB,
# are given back page by page.
use strict;
use warnings;
use Server;
use Test::More;

my $late = 0.2;            # seconds
my $late_spectrum = 1;
my $attempts = 5;          # of which the best counts: other programs may hold the processor

my $node = server(points(10000),
    settings => "kernelml.max_memory = '4GB'\nmax_parallel_workers_per_gather = 0");

# canceled_after(STATEMENT, SECONDS): how long it went on after the timeout, and how much memory the
# backend kept; nothing if it ended before.
sub canceled_after
{
    my ($statement, $seconds) = @_;
    my ($out, $err) = ('', '');
    my $milliseconds = 1000 * $seconds;
    $node->psql('postgres', qq{
        SELECT kernelml.kernel_value('linear', '{1}', '{1}');
        SELECT sum(total_bytes) AS before FROM pg_backend_memory_contexts \\gset
        SELECT extract(epoch FROM clock_timestamp()) AS start \\gset
        SET statement_timeout = $milliseconds;
        $statement;
        SET statement_timeout = 0;
        SELECT extract(epoch FROM clock_timestamp()) - :start - $seconds;
        SELECT sum(total_bytes) - :before FROM pg_backend_memory_contexts;
    }, stdout => \$out, stderr => \$err, on_error_stop => 0);
    return unless $err =~ /canceling statement due to statement timeout/;
    return (split /\n/, $out)[-2, -1];
}

sub stops
{
    my ($what, $limit, $statement, @seconds) = @_;
    for my $seconds (@seconds)
    {
        my ($best, $kept);
        for (1 .. $attempts)
        {
            my ($overrun, $bytes) = canceled_after($statement, $seconds);
            next unless defined $overrun;
            ($best, $kept) = ($overrun, $bytes) if !defined $best || $overrun < $best;
            last if $best < $limit;
        }
        ok(defined $best && $best < $limit, "$what stops after $seconds s")
            or diag(defined $best ? "it went on for $best s" : 'it was over before');
        ok(defined $kept && $kept < 2_000_000, "$what gives its memory back") or diag("it kept $kept bytes");
    }
}

sub fit { sprintf("SELECT length(kernelml.fit('%s', x, %s)) FROM points", @_) }

stops('a Gram matrix', $late, q{
    SELECT cardinality(kernelml.gram('exponential * laplacian(gamma=0.1) + matern(nu=1.3)', x)) FROM points},
    0.2, 1);
stops('an indefiniteness test', $late_spectrum, q{
    SELECT kernelml.is_psd(kernelml.gram('rbf(gamma=0.01)', x)) FROM points}, 2, 3);
stops('an eigenvalue solve', $late_spectrum, q{
    SELECT kernelml.gram_eigenvalues(kernelml.gram('rbf(gamma=0.01)', x)) FROM points}, 4);
stops('kernel ridge', $late, fit('krr(rbf(gamma=0.1), lambda=1e-3)', 'y'), 0.5, 2, 4);
stops('a support vector machine', $late, fit('svc(rbf(gamma=0.001), c=1e6, tol=1e-6)', 'noise'),
    0.3, 1.5, 3);
stops('text of large sums', $late, q{
    SELECT length(kernelml.accumulate('rff(rbf(gamma=0.1), n_components=8000)', x, y)::text)
    FROM points WHERE i <= 5}, 0.1, 0.3);
stops('random features', $late, fit('rff(rbf(gamma=0.1), n_components=4000) | ridge(lambda=1e-3)', 'y'),
    1, 3);

done_testing();
