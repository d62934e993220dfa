/* test_signature.c: binding calls to tables of parameters. */
#include "context_support.h"

#include <float.h>

#include "signature.h"

static const char *const gamma_words[] = {"auto", "scale", "median", NULL};
static const char *const weight_words[] = {"balanced", NULL};

static const KmSignature rbf = {"rbf", {"gaussian"}, "kernel", {
    {"gamma", NULL, KM_KIND_NUMBER | KM_KIND_WORD, "scale", 0, DBL_MAX, .open = true, .grid = true,
     .positional = true, .words = gamma_words, .group = 1},
    {"length_scale", "ell", KM_KIND_NUMBER | KM_KIND_LIST, NULL, 0, DBL_MAX, .open = true, .group = 1},
    {"metric", NULL, KM_KIND_MATRIX, NULL, -DBL_MAX, DBL_MAX, .group = 1}}};

static const KmSignature svc = {"svc", {NULL}, "estimator", {
    {"kernel", NULL, KM_KIND_KERNEL, "rbf", .positional = true},
    {"c", "cost", KM_KIND_NUMBER, "1", 0, INFINITY, .open = true, .grid = true, .positional = true},
    {"nu", NULL, KM_KIND_NUMBER, "0.5", 0, 1, .open = true},
    {"share", NULL, KM_KIND_NUMBER, NULL, 0, 1, .open = false},
    {"seed", NULL, KM_KIND_INTEGER, "0", 0, 9007199254740992, .grid = true},
    {"probability", NULL, KM_KIND_BOOL, .standard = "false"},
    {"class_weight", NULL, KM_KIND_WORD | KM_KIND_MAP, NULL, 0, DBL_MAX, .words = weight_words}}};

static const KmSignature linear = {"linear", {NULL}, "kernel", {{.name = NULL}}};

static const KmSignature mixture = {"mixture", {NULL}, "kernel", {
    {"weights", NULL, KM_KIND_LIST, NULL, 0, DBL_MAX, .required = true},
    {"offset", NULL, KM_KIND_NUMBER, NULL, -DBL_MAX, 3, .open = false}}};

static KmStatus
bind(KmContext *ctx, const KmSignature *signature, const char *text, KmNode **node, KmArgs *args)
{
    if (km_spec_parse(ctx, text, strlen(text), node) != KM_OK)
        fail_msg("%s: %s", text, ctx->message);
    return km_signature_bind(ctx, signature, *node, args);
}

static KmArgs
bound(KmContext *ctx, const KmSignature *signature, const char *text)
{
    KmNode *node;
    KmArgs args;

    if (bind(ctx, signature, text, &node, &args) != KM_OK)
        fail_msg("%s: %s", text, ctx->message);
    return args;
}

static const char *
print(KmContext *ctx, const KmNode *node)
{
    KmText text = {0};

    assert_int_equal(km_spec_print(ctx, node, &text), KM_OK);
    return text.data;
}

/* ---- values ---- */

static void
defaults_are_filled_in(void **state)
{
    KmContext *ctx = *state;
    KmArgs args = bound(ctx, &svc, "svc");

    assert_int_equal(km_arg(&args, "kernel")->kind, KM_KIND_KERNEL);
    assert_string_equal(km_arg(&args, "kernel")->node->text, "rbf");
    assert_false(km_arg(&args, "kernel")->given);
    assert_true(km_arg_number(&args, "c") == 1);
    assert_true(km_arg_number(&args, "nu") == 0.5);
    assert_true(km_arg_number(&args, "probability") == 0);
    assert_int_equal(km_arg(&args, "share")->kind, 0);
    assert_true(isnan(km_arg_number(&args, "share")));
    assert_int_equal(km_arg(&args, "class_weight")->kind, 0);
    assert_int_equal(km_arg(&args, "no such")->kind, 0);
}

static void
each_kind_is_read(void **state)
{
    KmContext *ctx = *state;
    KmArgs args = bound(ctx, &svc,
                        "svc(2*linear, inf, seed=7, probability=true, class_weight={a: 2, 'b': 0})");
    const KmValue *weights = km_arg(&args, "class_weight");

    assert_int_equal(km_arg(&args, "kernel")->node->kind, KM_NODE_PRODUCT);
    assert_true(km_arg(&args, "kernel")->given);
    assert_true(isinf(km_arg_number(&args, "cost")));
    assert_int_equal(km_arg(&args, "seed")->kind, KM_KIND_INTEGER);
    assert_true(km_arg_number(&args, "seed") == 7);
    assert_int_equal(km_arg(&args, "probability")->kind, KM_KIND_BOOL);
    assert_true(km_arg_number(&args, "probability") == 1);
    assert_int_equal(weights->kind, KM_KIND_MAP);
    assert_int_equal(weights->rows, 2);
    assert_string_equal(weights->label[1], "b");
    assert_true(weights->list[0] == 2 && weights->list[1] == 0);

    args = bound(ctx, &rbf, "gaussian(gamma='Median')");
    assert_true(km_arg_is(&args, "gamma", "median"));
    assert_false(km_arg_is(&args, "gamma", "auto"));
    assert_ptr_equal(km_arg(&args, "gamma")->word, gamma_words[2]);
    assert_true(isnan(km_arg_number(&args, "gamma")));
}

static void
lists_and_matrices_are_read(void **state)
{
    KmContext *ctx = *state;
    KmArgs args = bound(ctx, &rbf, "rbf(length_scale=[1, 2.5])");
    const KmValue *value = km_arg(&args, "length_scale");

    assert_int_equal(value->kind, KM_KIND_LIST);
    assert_int_equal(value->rows, 2);
    assert_int_equal(value->columns, 1);
    assert_true(value->list[0] == 1 && value->list[1] == 2.5);
    assert_int_equal(km_arg(&args, "gamma")->kind, 0);       /* its group is taken */

    args = bound(ctx, &rbf, "rbf(metric=[[1, 2, 3], [4, 5, -6]])");
    value = km_arg(&args, "metric");
    assert_int_equal(value->kind, KM_KIND_MATRIX);
    assert_int_equal(value->rows, 2);
    assert_int_equal(value->columns, 3);
    for (int i = 0; i < 6; i++)
        assert_true(value->list[i] == (i < 5 ? i + 1 : -6));
}

static void
grids_are_evaluated(void **state)
{
    static const double decades[] = {1e-3, 1e-2, 1e-1, 1, 10, 100};
    KmContext *ctx = *state;
    KmArgs args = bound(ctx, &svc, "svc(c=grid(0.1, inf, 10), seed=grid(1, 2))");
    const KmValue *value = km_arg(&args, "c");

    assert_true(value->grid && value->given);
    assert_int_equal(value->kind, KM_KIND_NUMBER);
    assert_int_equal(value->rows, 3);
    assert_true(value->list[0] == 0.1 && isinf(value->list[1]) && value->list[2] == 10);
    assert_true(isnan(value->number));
    assert_int_equal(km_arg(&args, "seed")->kind, KM_KIND_INTEGER);

    args = bound(ctx, &svc, "svc(c=logspace(-3, 2, 6))");
    value = km_arg(&args, "c");
    assert_int_equal(value->rows, 6);
    assert_memory_equal(value->list, decades, sizeof decades);
    args = bound(ctx, &svc, "svc(c=logspace(1, 0, 3))");     /* numpy: 10, sqrt(10), 1 */
    value = km_arg(&args, "c");
    assert_true(value->list[0] == 10 && value->list[1] == 3.1622776601683795 && value->list[2] == 1);
    args = bound(ctx, &svc, "svc(c=logspace(2, 5, 1))");
    assert_true(km_arg(&args, "c")->rows == 1 && km_arg(&args, "c")->list[0] == 100);
}

/* ---- canonical form ---- */

static void
calls_become_canonical(void **state)
{
    static const struct { const KmSignature *signature; const char *text, *canonical; } cases[] = {
        {&rbf, "gaussian", "rbf"}, {&rbf, "gaussian(2)", "rbf(gamma=2)"},
        {&rbf, "rbf(ell=3)", "rbf(length_scale=3)"},
        {&rbf, "rbf('AUTO')", "rbf(gamma=auto)"}, {&svc, "svc(cost=3, kernel=linear)", "svc(linear, c=3)"},
        {&svc, "svc(linear, 3)", "svc(linear, c=3)"},
        {&svc, "svc(seed=1, nu=1, c=grid(1,2))", "svc(c=grid(1, 2), nu=1, seed=1)"},
        {&svc, "svc(class_weight='balanced', probability=FALSE)",
         "svc(probability=false, class_weight=balanced)"},
        {&linear, "linear()", "linear"}};
    KmContext *ctx = *state;
    KmNode *node;
    KmArgs args;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    {
        assert_int_equal(bind(ctx, cases[i].signature, cases[i].text, &node, &args), KM_OK);
        assert_string_equal(print(ctx, node), cases[i].canonical);
        assert_int_equal(km_signature_bind(ctx, cases[i].signature, node, &args), KM_OK);
        assert_string_equal(print(ctx, node), cases[i].canonical);
    }
}

/* ---- errors ---- */

static void
errors_name_parameter_value_range(void **state)
{
    static const struct { const KmSignature *signature; const char *text, *message; } cases[] = {
        {&svc, "svc(c=-1)", "parameter \"c\" of svc must be greater than 0, got -1"},
        {&svc, "svc(c=0)", "parameter \"c\" of svc must be greater than 0, got 0"},
        {&svc, "svc(cost=0)", "parameter \"c\" of svc must be greater than 0, got 0"},
        {&svc, "svc(nu=0)", "parameter \"nu\" of svc must be greater than 0 and at most 1, got 0"},
        {&svc, "svc(share=1.5)", "parameter \"share\" of svc must be between 0 and 1, got 1.5"},
        {&svc, "svc(share=inf)", "parameter \"share\" of svc must be between 0 and 1, got inf"},
        {&svc, "svc(seed=0.5)", "parameter \"seed\" of svc must be a whole number, got 0.5"},
        {&svc, "svc(seed=inf)", "parameter \"seed\" of svc must be a whole number, got inf"},
        {&svc, "svc(seed=-1)",
         "parameter \"seed\" of svc must be between 0 and 9.007199254740992e+15, got -1"},
        {&rbf, "rbf(gamma=inf)", "parameter \"gamma\" of rbf must be finite, got inf"},
        {&rbf, "rbf(gamma=-inf)", "parameter \"gamma\" of rbf must be greater than 0, got -inf"},
        {&rbf, "rbf(length_scale=[1, 0])",
         "element 2 of parameter \"length_scale\" of rbf must be greater than 0, got 0"},
        {&rbf, "rbf(metric=[[1, 2], [3, inf]])",
         "element [2,2] of parameter \"metric\" of rbf must be finite, got inf"},
        {&rbf, "rbf(metric=[[1, 2], [3, -inf]])",
         "element [2,2] of parameter \"metric\" of rbf must be finite, got -inf"},
        {&svc, "svc(class_weight={a: 1, b: -2})",
         "number of label 'b' in parameter \"class_weight\" of svc must be at least 0, got -2"},
        {&mixture, "mixture(weights=[1], offset=4)",
         "parameter \"offset\" of mixture must be at most 3, got 4"},
        {&svc, "svc(c=grid(1, 0))", "parameter \"c\" of svc must be greater than 0, got 0"},
        {&svc, "svc(seed=grid(1, 0.5))", "parameter \"seed\" of svc must be a whole number, got 0.5"},

        {&svc, "svc(c=rbf)", "parameter \"c\" of svc must be a number"},
        {&svc, "svc(c=2*3)", "parameter \"c\" of svc must be a number"},
        {&svc, "svc(c=true)", "parameter \"c\" of svc must be a number"},
        {&svc, "svc(10)", "parameter \"kernel\" of svc must be a kernel"},
        {&svc, "svc('rbf')", "parameter \"kernel\" of svc must be a kernel"},
        {&svc, "svc([1])", "parameter \"kernel\" of svc must be a kernel"},
        {&svc, "svc((a | b))", "parameter \"kernel\" of svc must be a kernel"},
        {&svc, "svc(probability=1)", "parameter \"probability\" of svc must be true or false"},
        {&svc, "svc(probability='true')", "parameter \"probability\" of svc must be true or false"},
        {&svc, "svc(class_weight=[1])",
         "parameter \"class_weight\" of svc must be a map of labels to numbers or balanced"},
        {&rbf, "rbf(gamma=often)",
         "parameter \"gamma\" of rbf must be a number or one of auto, scale, median"},
        {&rbf, "rbf(gamma=linear(1))",
         "parameter \"gamma\" of rbf must be a number or one of auto, scale, median"},
        {&rbf, "rbf(metric=[1])", "parameter \"metric\" of rbf must be a matrix"},
        {&rbf, "rbf(length_scale=[[1]])",
         "parameter \"length_scale\" of rbf must be a number or a list of numbers"},
        {&rbf, "rbf(length_scale=[])", "parameter \"length_scale\" of rbf must not be empty"},
        {&rbf, "rbf(metric=[])", "parameter \"metric\" of rbf must not be empty"},
        {&rbf, "rbf(metric=[[], []])", "row 1 of parameter \"metric\" of rbf has 0 numbers, expected 1"},
        {&rbf, "rbf(metric=[[1, 2], [3]])", "row 2 of parameter \"metric\" of rbf has 1 numbers, expected 2"},
        {&rbf, "rbf(metric=[[1, 2], 3])", "row 2 of parameter \"metric\" of rbf must be a list of numbers"},
        {&rbf, "rbf(length_scale=[1, a])", "element 2 of parameter \"length_scale\" of rbf must be a number"},
        {&rbf, "rbf(length_scale=[1, [2]])",
         "element 2 of parameter \"length_scale\" of rbf must be a number"},
        {&svc, "svc(class_weight={a: 1, b: 2, 'a': 3})",
         "label 'a' stands twice in parameter \"class_weight\" of svc"},
        {&svc, "svc(class_weight={})", "parameter \"class_weight\" of svc must not be empty"},

        {&svc, "svc(nu=grid(0.1, 0.2))", "a grid cannot stand for parameter \"nu\" of svc"},
        {&svc, "svc(grid(1, 2))", "a grid cannot stand for parameter \"kernel\" of svc"},
        {&svc, "svc(probability=logspace(1, 2, 3))",
         "a grid cannot stand for parameter \"probability\" of svc"},
        {&rbf, "rbf(length_scale=[grid(1, 2)])", "a grid cannot stand inside a list"},
        {&svc, "svc(c=grid)", "grid takes 1 to 10000 values, got 0"},
        {&svc, "svc(c=grid(1, a))", "argument 2 of grid must be a number"},
        {&svc, "svc(c=grid(1, x=2))", "grid takes arguments without names, got \"x\""},
        {&svc, "svc(c=logspace(1, 2))",
         "logspace takes 3 numbers, the first and the last exponent of ten and the number of values, got 2"},
        {&svc, "svc(c=logspace(1, 2, 0))", "logspace takes 1 to 10000 values"},
        {&svc, "svc(c=logspace(1, 2, 2.5))", "logspace takes 1 to 10000 values"},
        {&svc, "svc(c=logspace(1, 2, 1e9))", "logspace takes 1 to 10000 values"},
        {&svc, "svc(c=logspace(1, inf, 3))", "the exponents of logspace must be finite"},
        {&svc, "svc(c=logspace(1, 400, 3))", "a value of logspace is too large for double precision"},

        {&rbf, "rbf(gama=3)", "unknown parameter \"gama\" of kernel rbf"},
        {&rbf, "rbf(1, 2)", "too many arguments without a name for kernel rbf"},
        {&rbf, "rbf(1, gamma=2)", "parameter \"gamma\" of rbf is given twice"},
        {&svc, "svc(c=1, cost=2)", "parameter \"c\" of svc is given twice"},
        {&rbf, "rbf(gamma=1, length_scale=2)",
         "only one of \"gamma\" and \"length_scale\" of rbf can be given"},
        {&mixture, "mixture", "parameter \"weights\" of mixture is missing"},
        {&linear, "linear(2)", "too many arguments without a name for kernel linear"},
        {&rbf, "[1]", "expected kernel rbf"}};
    KmContext *ctx = *state;
    KmNode *node;
    KmArgs args;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    {
        if (bind(ctx, cases[i].signature, cases[i].text, &node, &args) != KM_INVALID)
            fail_msg("accepted: %s", cases[i].text);
        assert_string_equal(ctx->message, cases[i].message);
    }
}

static void
errors_show_the_place_and_help(void **state)
{
    KmContext *ctx = *state;
    KmNode *node;
    KmArgs args;

    assert_int_equal(bind(ctx, &rbf, "rbf(gama=3)", &node, &args), KM_INVALID);
    assert_string_equal(ctx->detail, "At character 1: \"rbf(gama=3)\".");
    assert_string_equal(ctx->hint, "Parameters of rbf: gamma, length_scale, metric.");
    assert_int_equal(bind(ctx, &linear, "linear(x=1)", &node, &args), KM_INVALID);
    assert_string_equal(ctx->hint, "linear has no parameters.");
    assert_int_equal(bind(ctx, &svc, "svc(c=foo(1, [2]))", &node, &args), KM_INVALID);
    assert_string_equal(ctx->detail, "At character 7: \"foo(1, [2])\".");
}

static void
unknown_names_get_a_hint(void **state)
{
    const KmSignature *const known[] = {&rbf, &linear, &mixture};
    KmContext *ctx = *state;
    KmNode *node;

    assert_int_equal(km_spec_parse(ctx, "2*rbff(1)", 9, &node), KM_OK);
    assert_int_equal(km_unknown_name(ctx, node->item[1], "kernel", 3, known), KM_INVALID);
    assert_string_equal(ctx->message, "unknown kernel \"rbff\"");
    assert_string_equal(ctx->detail, "At character 3: \"rbff(1)\".");
    assert_string_equal(ctx->hint, "Perhaps you mean rbf. Known: rbf, linear, mixture.");
    assert_int_equal(km_spec_parse(ctx, "liner", 5, &node), KM_OK);
    km_unknown_name(ctx, node, "kernel", 3, known);
    assert_string_equal(ctx->hint, "Perhaps you mean linear. Known: rbf, linear, mixture.");
    assert_int_equal(km_spec_parse(ctx, "wavelet", 7, &node), KM_OK);
    km_unknown_name(ctx, node, "kernel", 3, known);
    assert_string_equal(ctx->hint, "Known: rbf, linear, mixture.");
    assert_int_equal(km_node_call(ctx, "a_name_of_more_than_forty_bytes_that_no_table_has_in_it", &node),
                     KM_OK);
    km_unknown_name(ctx, node, "kernel", 3, known);
    assert_string_equal(ctx->hint, "Known: rbf, linear, mixture.");
}

static void
aliases_name_a_signature(void **state)
{
    (void) state;
    assert_true(km_signature_named(&rbf, "rbf"));
    assert_true(km_signature_named(&rbf, "gaussian"));
    assert_false(km_signature_named(&rbf, "gauss"));
    assert_false(km_signature_named(&linear, "rbf"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(defaults_are_filled_in),
        TEST(each_kind_is_read),
        TEST(lists_and_matrices_are_read),
        TEST(grids_are_evaluated),
        TEST(calls_become_canonical),
        TEST(errors_name_parameter_value_range),
        TEST(errors_show_the_place_and_help),
        TEST(unknown_names_get_a_hint),
        cmocka_unit_test(aliases_name_a_signature),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
