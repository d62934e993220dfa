# Models exchanged with LIBSVM's own programs: what svm-train made scores the same here, what was fitted here
# scores the same in svm-predict.
use strict;
use warnings;
use PostgreSQL::Test::Utils;
use Server;
use Test::More;

plan skip_all => 'no svm-train and svm-predict (Debian: libsvm-tools)'
    if grep { system("command -v $_ > /dev/null") } qw(svm-train svm-predict);

my $folder = PostgreSQL::Test::Utils::tempdir();

# Targets of every kind; class 7 is seen first, 2 last; feature 3 is 0 in every third row.
my $node = server(q{
    CREATE TABLE points AS
        SELECT i, ARRAY[u, v, CASE WHEN i % 3 = 0 THEN 0 ELSE u * v END] AS x,
               CASE WHEN u + v + 0.6 * sin(31 * i) > 0 THEN 1 ELSE -1 END AS two,
               CASE WHEN i = 1 OR u + 0.3 * sin(31 * i) > 0.3 THEN 7
                    WHEN v + 0.3 * cos(17 * i) > 0 THEN -4 ELSE 2 END AS three,
               u - 2 * v + 0.1 * sin(31 * i) AS y
        FROM generate_series(1, 150) i, LATERAL (SELECT sin(12.9898 * i), cos(78.233 * i)) r(u, v);
    CREATE TABLE precomputed AS
        SELECT p.i, p.two, p.three, p.y, array_prepend(p.i::float8, array_agg(
                   kernelml.kernel_value('rbf(gamma=0.7)', p.x, q.x) ORDER BY q.i)) AS x
        FROM points p, points q GROUP BY p.i, p.x, p.two, p.three, p.y;
    CREATE TABLE models (name text PRIMARY KEY, model bytea NOT NULL);});

sub query
{
    return $node->safe_psql('postgres', "SET search_path = public, kernelml; $_[0]");
}

# A file of rows with the target in front; rows of precomputed begin with index 0.
sub data_file
{
    my ($target, $table) = (@_, 'points');
    my $file = "$folder/$target.$table";
    my $first = $table eq 'precomputed' ? 1 : 0;
    append_to_file($file, query(qq{
        SELECT $target || (SELECT string_agg(format(' %s:%s', j - $first, x[j]), '' ORDER BY j)
                           FROM generate_series(1, cardinality(x)) j WHERE x[j] <> 0)
        FROM $table ORDER BY i}) . "\n") unless -e $file;
    return $file;
}

sub run_quietly
{
    my $output = "$folder/output";
    system("@_ > $output 2>&1") == 0 or BAIL_OUT("@_: " . slurp_file($output));
}

# What svm-predict says of all rows, a list for each row; with probabilities without its line of labels.
sub predict_there
{
    my ($model, $data, $probability) = @_;
    run_quietly('svm-predict', $probability ? '-b 1' : (), $data, $model, "$folder/predicted");
    my @lines = grep { !/^labels/ } split /\n/, slurp_file("$folder/predicted");
    return [map { [split] } @lines];
}

sub predict_here
{
    my ($name, $probability, $table) = (@_[0, 1], $_[2] || 'points');
    my $proba = $probability ? q{|| ' ' || array_to_string(predict_proba(model, x), ' ')} : '';
    return [map { [split] } split /\n/, query(qq{
        SELECT predict(model, x) $proba FROM $table, models WHERE name = '$name' ORDER BY i})];
}

# The rows in which two lists of predictions differ by more than the tolerances of label or value, and of the
# rest.
sub differing
{
    my ($one, $two, $first, $rest) = @_;
    my @rows;
    for my $i (0 .. $#$one)
    {
        my @difference = map { abs($one->[$i][$_] - $two->[$i][$_]) } 0 .. $#{ $one->[$i] };
        push @rows, $i + 1
            if @{ $one->[$i] } != @{ $two->[$i] } or shift(@difference) > $first
            or grep { $_ > $rest } @difference;
    }
    return "@rows";
}

sub import
{
    my ($name, $file, @features) = @_;
    my $arguments = join ', ', '$libsvm$' . slurp_file($file) . '$libsvm$', @features;
    query("INSERT INTO models VALUES ('$name', import_libsvm($arguments))");
}

sub export
{
    my ($name, $file) = @_;
    append_to_file($file, query("SELECT export_libsvm(model) FROM models WHERE name = '$name'") . "\n");
    return $file;
}

# ---- trained there ----

my %kernels = (
    linear => '-t 0', polynomial => '-t 1 -d 2 -g 0.5 -r 1', rbf => '-t 2 -g 0.7',
    sigmoid => '-t 3 -g 0.2 -r -0.3');
my @machines = (
    [ 'c_svc', '-s 0 -c 3', 'two' ], [ 'c_svc_3', '-s 0', 'three' ], [ 'nu_svc', '-s 1 -n 0.3', 'two' ],
    [ 'nu_svc_3', '-s 1 -n 0.2', 'three' ], [ 'one_class', '-s 2 -n 0.3', 'two' ],
    [ 'svr', '-s 3 -c 2 -p 0.05', 'y' ], [ 'nu_svr', '-s 4 -n 0.4', 'y' ]);

for my $machine (@machines)
{
    my ($type, $options, $target) = @$machine;
    my $data = data_file($target);
    for my $kernel (sort keys %kernels)
    {
        my $name = "$type $kernel";
        my $model = "$folder/$type.$kernel";
        run_quietly("svm-train -q $options $kernels{$kernel}", $data, $model);
        import($name, $model, 3);
        my $there = predict_there($model, $data);
        is(differing($there, predict_here($name), $target eq 'y' ? 1e-4 : 0), '',
            "$name of svm-train, scored here");
        is(differing($there, predict_there(export($name, "$model.again"), $data), $target eq 'y' ? 1e-4 : 0),
            '', "$name of svm-train, imported and exported");
    }
}

# ---- precomputed kernels ----

for my $case ([ '-s 0', 'three', 0 ], [ '-s 3 -p 0.05', 'y', 1e-4 ])
{
    my ($options, $target, $tolerance) = @$case;
    my $data = data_file($target, 'precomputed');
    my $model = "$folder/precomputed.$target.model";
    run_quietly("svm-train -q -t 4 $options", $data, $model);
    import($model, $model, 151);
    my $there = predict_there($model, $data);
    is(differing($there, predict_here($model, 0, 'precomputed'), $tolerance), '',
        "precomputed $options, scored here");
    is(differing($there, predict_there(export($model, "$model.again"), $data), $tolerance), '',
        'and after export');
}

# ---- probabilities ----

# The order of probabilities here: labels ascending; there: as first seen.
sub sort_probabilities
{
    my ($rows, @labels) = @_;
    my @order = sort { $labels[$a] <=> $labels[$b] } 0 .. $#labels;
    return [map { my $row = $_; [$row->[0], map { $row->[$_ + 1] } @order] } @$rows];
}

# LIBSVM stops coupling early, within 0.005 / k.
for my $case ([ 'two', '-s 0 -c 3', 1e-5 ], [ 'three', '-s 0', 6e-3 ], [ 'three', '-s 1 -n 0.2', 6e-3 ])
{
    my ($target, $options, $tolerance) = @$case;
    my $data = data_file($target);
    my $model = "$folder/calibrated.$target.$tolerance" . ($options =~ s/\W//gr);
    run_quietly("svm-train -q -b 1 $options -g 0.7", $data, $model);
    my @labels = split ' ', (slurp_file($model) =~ /^label (.*)$/m)[0];
    import($model, $model);
    my $there = sort_probabilities(predict_there($model, $data, 1), @labels);
    is(differing($there, predict_here($model, 1), 0, $tolerance), '',
        "probabilities of svm-train $options, $target");
    my $again = predict_there(export($model, "$model.again"), $data, 1);
    is(differing($there, $again, 0, $tolerance), '', "and after export");
}

# Of a regression: the scale of the errors, told by model_info and exported again.
for my $options ('-s 3 -p 0.05', '-s 4')
{
    my $model = "$folder/errors" . ($options =~ s/\W//gr);
    run_quietly("svm-train -q -b 1 -g 0.7 $options", data_file('y'), $model);
    my ($sigma) = slurp_file($model) =~ /^probA (.*)$/m;
    import($model, $model);
    cmp_ok(query("SELECT model_info(model) ->> 'laplace_scale' FROM models WHERE name = '$model'"), '==',
        $sigma, "scale of the errors of $options");
    my ($again) = slurp_file(export($model, "$model.again")) =~ /^probA (.*)$/m;
    cmp_ok($again, '==', $sigma, 'and after export');
}

# ---- fitted here ----

for my $case (
    [ 'svc(rbf(gamma=0.7), c=3)', 'two' ], [ 'svc(rbf(length_scale=1), probability=true)', 'two' ],
    [ 'svc(poly(degree=3, gamma=0.5, coef0=1), class_weight=balanced)', 'three' ],
    [ 'svc(sigmoid(gamma=0.2, coef0=-0.3), probability=true)', 'three' ], [ 'nu_svc(linear, nu=0.3)', 'two' ],
    [ 'svr(rbf(gamma=1), c=2, epsilon=0.05)', 'y' ], [ 'nu_svr(linear, nu=0.4)', 'y' ])
{
    my ($learner, $target) = @$case;
    my $probability = $learner =~ /probability/;
    query("INSERT INTO models SELECT '$learner', fit('$learner', x, $target) FROM points");
    my $model = export($learner, "$folder/" . ($learner =~ s/\W//gr));
    is(differing(predict_there($model, data_file($target), $probability),
            predict_here($learner, $probability), $target eq 'y' ? 1e-4 : 0, 6e-3), '',
        "$learner in svm-predict");
}

# Rows on the boundary itself are inliers here; rounding decides there.
query(q{INSERT INTO models SELECT 'one_class', fit('one_class(rbf(gamma=0.7), nu=0.3)', x) FROM points});
my $there = predict_there(export('one_class', "$folder/one_class"), data_file('two'));
my @inside = split /\n/, query(q{
    SELECT CASE WHEN abs(score(model, x)) < 1e-9 THEN 0 ELSE predict(model, x) END
    FROM points, models WHERE name = 'one_class' ORDER BY i});
is(scalar(grep { $inside[$_] != 0 && $inside[$_] != $there->[$_][0] } 0 .. 149), 0,
    'one_class in svm-predict');
is(scalar(grep { $_ < 0 } @inside) > 20, 1, 'which has outliers');

done_testing();
