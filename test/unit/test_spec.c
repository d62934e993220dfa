/* test_spec.c: parsing, canonical printing, building of syntax trees. */
#include "context_support.h"

#include "spec.h"

static KmNode *
parse(KmContext *ctx, const char *text)
{
    KmNode *node = NULL;

    if (km_spec_parse(ctx, text, strlen(text), &node) != KM_OK)
        fail_msg("%s: %s (%s)", text, ctx->message, ctx->detail);
    return node;
}

static const char *
print(KmContext *ctx, const KmNode *node)
{
    KmText text = {0};

    assert_int_equal(km_spec_print(ctx, node, &text), KM_OK);
    return text.data;
}

/* ---- canonical forms ---- */

static void
texts_become_canonical(void **state)
{
    static const char *const cases[][2] = {
        {"  RBF ( Gamma = .5 )+2*Linear", "rbf(gamma=0.5) + 2*linear"},
        {"a + (b + (c + d))", "a + b + c + d"},
        {"(a*b)*(c*d)", "a*b*c*d"},
        {"(a | b) | c|d", "a | b | c | d"},
        {"(a + b)*c", "(a + b)*c"},
        {"a + (b*c)", "a + b*c"},
        {"(a*b)^2", "(a*b)^2"},
        {"(a^2)^3", "(a^2)^3"},
        {"((a))^-1e-5", "a^-1e-05"},
        {"f((a | b), c=(x + y))", "f((a | b), c=x + y)"},
        {"linear()", "linear"},
        {"a+-1", "a + -1"},
        {"a +1", "a + 1"},
        {"f(inf, +inf, -Infinity)", "f(inf, inf, -inf)"},
        {"f(info=inf, inf=2)", "f(info=inf, inf=2)"},
        {"[1,2.50,-3e2,[]]", "[1, 2.5, -300, []]"},
        {"{a:1, 'it''s' : 2, 1.50:3, -1: 4, True:5, '':6}",
         "{'a': 1, 'it''s': 2, '1.50': 3, '-1': 4, 'True': 5, '': 6}"},
        {"f('A b''', '')", "f('A b''', '')"},
        {"\t\n\r\v\f a \n", "a"},
        {"2.5 * k + 3", "2.5*k + 3"},
        {"scale | svc(rbf(gamma=auto), c=grid(0.1, 1, 10))",
         "scale | svc(rbf(gamma=auto), c=grid(0.1, 1, 10))"},
        {"0.1 + 1e-05 + 123456789.125", "0.1 + 1e-05 + 123456789.125"}};
    KmContext *ctx = *state;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    {
        assert_string_equal(print(ctx, parse(ctx, cases[i][0])), cases[i][1]);
        assert_string_equal(print(ctx, parse(ctx, cases[i][1])), cases[i][1]);
    }
}

static void
precedence_shapes_the_tree(void **state)
{
    KmNode *node = parse(*state, "scale | 2*a^3 + B(c, d='x', e=[1])");
    const KmNode *sum, *call;

    assert_int_equal(node->kind, KM_NODE_PIPE);
    assert_int_equal(node->n, 2);
    assert_string_equal(node->item[0]->text, "scale");
    sum = node->item[1];
    assert_int_equal(sum->kind, KM_NODE_SUM);
    assert_int_equal(sum->item[0]->kind, KM_NODE_PRODUCT);
    assert_true(sum->item[0]->item[0]->number == 2);
    assert_int_equal(sum->item[0]->item[1]->kind, KM_NODE_POWER);
    assert_true(sum->item[0]->item[1]->item[1]->number == 3);
    call = sum->item[1];
    assert_int_equal(call->kind, KM_NODE_CALL);
    assert_string_equal(call->text, "b");
    assert_int_equal(call->n, 3);
    assert_null(call->key[0]);
    assert_string_equal(call->key[1], "d");
    assert_int_equal(call->item[1]->kind, KM_NODE_STRING);
    assert_int_equal(call->item[2]->kind, KM_NODE_LIST);
    assert_int_equal(call->position, 16);
    assert_int_equal(call->item[2]->position, 30);
}

/* ---- errors ---- */

static void
assert_error(KmContext *ctx, const char *text, size_t length, KmStatus status, const char *message,
             const char *detail)
{
    KmNode *node;

    assert_int_equal(km_spec_parse(ctx, text, length, &node), status);
    assert_string_equal(ctx->message, message);
    assert_string_equal(ctx->detail, detail);
}

#define SYNTAX "syntax error in kernel or learner: "

static void
errors_point_at_the_place(void **state)
{
    static const char *const cases[][3] = {
        {"rbf(gamma=0.5", SYNTAX "expected \",\" or \")\"", "At character 14: \"rbf(gamma=0.5\" <-- here."},
        {"", SYNTAX "expected a value, found the end", "At character 1: \"\" <-- here."},
        {"a +", SYNTAX "expected a value, found the end", "At character 4: \"a +\" <-- here."},
        {"a b c", SYNTAX "expected an operator or the end", "At character 3: \"a b\" <-- here."},
        {"a)", SYNTAX "expected an operator or the end", "At character 2: \"a)\" <-- here."},
        {"(a", SYNTAX "expected \")\"", "At character 3: \"(a\" <-- here."},
        {"f(a,)", SYNTAX "expected a value", "At character 5: \"f(a,)\" <-- here."},
        {"f(a=1,)", SYNTAX "expected a value", "At character 7: \"f(a=1,)\" <-- here."},
        {"f(a=1, 2)", SYNTAX "an argument without a name after one with a name",
         "At character 8: \"f(a=1, 2\" <-- here."},
        {"[1 2]", SYNTAX "expected \",\" or \"]\"", "At character 4: \"[1 2\" <-- here."},
        {"{a 1}", SYNTAX "expected \":\"", "At character 4: \"{a 1\" <-- here."},
        {"{a: b}", SYNTAX "expected a number", "At character 5: \"{a: b\" <-- here."},
        {"{[1]: b}", SYNTAX "expected a label", "At character 2: \"{[\" <-- here."},
        {"{a: 1", SYNTAX "expected \",\" or \"}\"", "At character 6: \"{a: 1\" <-- here."},
        {"a ^ b", SYNTAX "expected a number", "At character 5: \"a ^ b\" <-- here."},
        {"a ^ 2 ^ 3", SYNTAX "expected an operator or the end", "At character 7: \"a ^ 2 ^\" <-- here."},
        {"2linear", SYNTAX "expected a number", "At character 1: \"2linear\" <-- here."},
        {"f(c=nan)", SYNTAX "NaN is not accepted", "At character 5: \"f(c=nan\" <-- here."},
        {"f(c=-NaN)", SYNTAX "expected a number", "At character 5: \"f(c=-\" <-- here."},
        {"{a: nan}", SYNTAX "expected a number", "At character 5: \"{a: nan\" <-- here."},
        {"'abc", SYNTAX "string without a closing quote", "At character 1: \"'\" <-- here."},
        {"'abc''", SYNTAX "string without a closing quote", "At character 1: \"'\" <-- here."},
        {"'\u00e9' \u20ac + 1", SYNTAX "expected an operator or the end",
         "At character 5: \"'\u00e9' \u20ac\" <-- here."},
        {"a\n;", SYNTAX "expected an operator or the end", "At character 3: \"a ;\" <-- here."},
        {"f(abcdefghij, abcdefghij, abcdefghij, abcdefghij, a b)", SYNTAX "expected \",\" or \")\"",
         "At character 53: \"..., abcdefghij, abcdefghij, abcdefghij, a b\" <-- here."}};
    KmContext *ctx = *state;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_error(ctx, cases[i][0], strlen(cases[i][0]), KM_SYNTAX, cases[i][1], cases[i][2]);
    assert_error(ctx, "'a\0b'", 5, KM_SYNTAX, SYNTAX "zero byte in a string",
                 "At character 3: \"'a \" <-- here.");
    assert_error(ctx, "a\0", 2, KM_SYNTAX, SYNTAX "expected an operator or the end",
                 "At character 2: \"a \" <-- here.");
    assert_error(ctx, "-1e400", 6, KM_RANGE, "number too large for double precision",
                 "At character 1: \"-\" <-- here.");
}

static void
positions_count_characters(void **state)
{
    KmContext *ctx = *state;
    KmNode *node = parse(ctx, "f('\u20ac\u20ac', bad)");

    assert_int_equal(node->item[1]->position, 8);
    assert_int_equal(km_node_fail(ctx, node->item[1], "no %s", "good"), KM_INVALID);
    assert_string_equal(ctx->message, "no good");
    assert_string_equal(ctx->detail, "At character 9: \"bad\".");
}

static void
nodes_in_errors_are_shortened(void **state)
{
    KmContext *ctx = *state;
    double zeros[1000] = {0};
    KmNode *node;

    assert_int_equal(km_node_list(ctx, 1000, zeros, &node), KM_OK);
    km_node_fail(ctx, node, "bad");
    assert_int_equal(strlen(ctx->detail), strlen("In \"\".") + 63);
    assert_string_equal(ctx->detail + strlen(ctx->detail) - 5, "...\".");
    assert_memory_equal(ctx->detail, "In \"[0, 0, ", 11);
}

/* A string of any length costs an error nothing. */
static void
long_strings_are_not_copied_into_errors(void **state)
{
    KmContext *ctx = *state;
    size_t length = (size_t) 5 << 20, used;
    char *text = malloc(length + 1);
    KmNode *node;

    memset(text, 'a', length);
    text[0] = text[length - 1] = '\'';
    text[length] = '\0';
    node = parse(ctx, text);
    used = ctx->used_bytes;
    ctx->peak_bytes = used;
    km_node_fail(ctx, node, "bad");
    assert_memory_equal(ctx->detail, "At character 1: \"'aaa", 20);
    assert_true(ctx->peak_bytes < used + 1024);
    free(text);
}

/* Strings are read in pieces of a megabyte: pairs of quotes on and beside their borders, a poll for each. */
static void
long_strings_are_read_in_pieces(void **state)
{
    KmContext *ctx = *state;
    size_t length = (size_t) 3 << 20;
    char *text = malloc(length + 8);

    for (size_t place = (2 << 20) - 3; place < (2 << 20) + 3; place++)
        for (size_t quotes = 2; quotes <= 4; quotes += 2)
        {
            text[0] = text[length - 1] = '\'';
            memset(text + 1, 'a', length - 2);
            text[length] = '\0';
            memset(text + place, '\'', quotes);
            assert_string_equal(print(ctx, parse(ctx, text)), text);
            km_context_reset(ctx);
        }
    free(text);
}

static void
names_end_somewhere(void **state)
{
    KmContext *ctx = *state;
    char text[1002];
    KmNode *node;

    memset(text, 'a', sizeof text);
    assert_int_equal(km_spec_parse(ctx, text, 1000, &node), KM_OK);
    assert_int_equal(km_spec_parse(ctx, text, 1001, &node), KM_SYNTAX);
    assert_non_null(strstr(ctx->message, "name of more than 1000 bytes"));
}

/* ---- limits ---- */

/* n times `open`, then `middle`, then n times `close`. */
static KmStatus
parse_nested(KmContext *ctx, size_t n, char open, char middle, char close)
{
    char text[400];
    KmNode *node;

    memset(text, open, n);
    text[n] = middle;
    memset(text + n + 1, close, n);
    return km_spec_parse(ctx, text, 2 * n + 1, &node);
}

static void
depth_is_limited(void **state)
{
    KmContext *ctx = *state;

    assert_int_equal(parse_nested(ctx, KM_SPEC_MAX_DEPTH, '(', 'a', ')'), KM_OK);
    assert_int_equal(parse_nested(ctx, KM_SPEC_MAX_DEPTH, '[', '1', ']'), KM_OK);
    assert_int_equal(parse_nested(ctx, KM_SPEC_MAX_DEPTH + 1, '(', 'a', ')'), KM_LIMIT);
    assert_int_equal(parse_nested(ctx, KM_SPEC_MAX_DEPTH + 1, '[', '1', ']'), KM_LIMIT);
    assert_int_equal(parse_nested(ctx, 150, '{', '1', '}'), KM_SYNTAX);
    assert_non_null(strstr(ctx->hint, "single quotes"));
}

/* "[1,1,…]" with n numbers. */
static KmStatus
parse_ones(KmContext *ctx, size_t n, KmNode **out)
{
    char *text = malloc(2 * n + 1);
    KmStatus status;

    for (size_t i = 0; i < n; i++)
        memcpy(text + 2 * i, i == 0 ? "[1" : ",1", 2);
    text[2 * n] = ']';
    status = km_spec_parse(ctx, text, 2 * n + 1, out);
    free(text);
    return status;
}

static void
size_is_limited(void **state)
{
    KmContext *ctx = *state;
    KmNode *node;

    assert_int_equal(parse_ones(ctx, KM_SPEC_MAX_NODES, &node), KM_LIMIT);
    km_context_reset(ctx);
    assert_int_equal(parse_ones(ctx, KM_SPEC_MAX_NODES - 1, &node), KM_OK);
    assert_int_equal(node->n, KM_SPEC_MAX_NODES - 1);
    assert_true(ctx->used_bytes < (size_t) 100 * KM_SPEC_MAX_NODES);
    assert_int_equal(km_spec_parse(ctx, "", (size_t) KM_SPEC_MAX_LENGTH + 1, &node), KM_LIMIT);
}

static void
cap_on_memory_is_an_error(void **state)
{
    KmNode *node;

    (void) state;
    for (size_t cap = 0; cap < 100000; cap = cap * 3 / 2 + 100)
    {
        KmContext *small = km_context_create(cap);

        assert_int_equal(parse_ones(small, 2000, &node), KM_MEMORY);
        km_context_destroy(small);
    }
}

static bool
stop_at_third(KmContext *ctx)
{
    return ++*(int *) ctx->owner == 3;
}

static void
parsing_can_be_stopped(void **state)
{
    KmContext *ctx = *state;
    KmNode *node;
    int polls = 0;

    ctx->owner = &polls;
    ctx->poll = stop_at_third;
    assert_int_equal(parse_ones(ctx, 100000, &node), KM_CANCELLED);
}

/* ---- parse(print(tree)) is the tree ---- */

static KmNode *random_node(KmContext *ctx, uint64_t *seed, int depth, int loosest);

static size_t
pick(uint64_t *seed, size_t n)
{
    return next_bits(seed) % n;
}

static KmNode *
make_node(KmContext *ctx, KmNodeKind kind, size_t n)
{
    KmNode *node;

    assert_int_equal(km_alloc_zero(ctx, 1, &node), KM_OK);
    node->kind = kind;
    node->n = n;
    assert_int_equal(km_alloc_zero(ctx, n, &node->item), KM_OK);
    assert_int_equal(km_alloc_zero(ctx, n, &node->key), KM_OK);
    return node;
}

static const char *
random_name(uint64_t *seed)
{
    static const char *const names[] = {"rbf", "linear", "a", "_x1", "info", "infinit", "true", "gamma",
                                        "nano", "e5"};

    return names[pick(seed, sizeof names / sizeof names[0])];
}

static const char *
random_string(uint64_t *seed)
{
    static const char *const strings[] = {"", "'", "''a'", "A b", "\u20ac", "1.50", "\n|+", "inf"};

    return strings[pick(seed, sizeof strings / sizeof strings[0])];
}

static KmNode *
random_number(KmContext *ctx, uint64_t *seed)
{
    KmNode *node = make_node(ctx, KM_NODE_NUMBER, 0);

    do
        node->number = pick(seed, 2) ? next_any(seed) : (double) pick(seed, 2000) / 8 - 100;
    while (isnan(node->number));
    return node;
}

static KmNode *
random_bracketed(KmContext *ctx, uint64_t *seed, int depth, KmNodeKind kind)
{
    KmNode *node = make_node(ctx, kind, kind == KM_NODE_CALL ? 1 + pick(seed, 4) : pick(seed, 4));
    bool named = false;

    node->text = kind == KM_NODE_CALL ? random_name(seed) : NULL;
    for (size_t i = 0; i < node->n; i++)
    {
        named = named || pick(seed, 3) == 0;
        node->item[i] = kind == KM_NODE_MAP ? random_number(ctx, seed) : random_node(ctx, seed, depth - 1, 1);
        if (kind == KM_NODE_MAP)
            node->key[i] = random_string(seed);
        else if (kind == KM_NODE_CALL && named)
            node->key[i] = random_name(seed);
    }
    return node;
}

static KmNode *
random_atom(KmContext *ctx, uint64_t *seed, int depth)
{
    KmNode *node;

    switch (pick(seed, depth > 0 ? 7 : 3))
    {
        case 0:
            return random_number(ctx, seed);
        case 1:
            node = make_node(ctx, KM_NODE_STRING, 0);
            node->text = random_string(seed);
            return node;
        case 2:
            node = make_node(ctx, KM_NODE_NAME, 0);
            node->text = random_name(seed);
            return node;
        case 3:
            return random_bracketed(ctx, seed, depth, KM_NODE_LIST);
        case 4:
            return random_bracketed(ctx, seed, depth, KM_NODE_MAP);
        default:
            return random_bracketed(ctx, seed, depth, KM_NODE_CALL);
    }
}

/* A chain of two to four operands, none of which is the same chain. */
static KmNode *
random_chain(KmContext *ctx, uint64_t *seed, int depth, KmNodeKind kind)
{
    KmNode *node = make_node(ctx, kind, kind == KM_NODE_POWER ? 2 : 2 + pick(seed, 3));

    for (size_t i = 0; i < node->n; i++)
        do
            node->item[i] = random_node(ctx, seed, depth - 1, 0);
        while (node->item[i]->kind == kind && kind != KM_NODE_POWER);
    if (kind == KM_NODE_POWER)
        node->item[1] = random_number(ctx, seed);
    return node;
}

static KmNode *
random_node(KmContext *ctx, uint64_t *seed, int depth, int loosest)
{
    static const KmNodeKind chains[] = {KM_NODE_PIPE, KM_NODE_SUM, KM_NODE_PRODUCT, KM_NODE_POWER};

    if (depth <= 0 || pick(seed, 2) == 0)
        return random_atom(ctx, seed, depth);
    return random_chain(ctx, seed, depth, chains[(size_t) loosest + pick(seed, 4 - (size_t) loosest)]);
}

static bool
same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool
same_tree(const KmNode *a, const KmNode *b)
{
    bool keyed = a->kind == KM_NODE_CALL || a->kind == KM_NODE_MAP;

    if (a->kind != b->kind || a->n != b->n || !same_text(a->text, b->text) ||
        memcmp(&a->number, &b->number, sizeof a->number) != 0)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (!same_tree(a->item[i], b->item[i]) || (keyed && !same_text(a->key[i], b->key[i])))
            return false;
    return true;
}

static void
random_trees_survive_printing(void **state)
{
    KmContext *ctx = *state;
    uint64_t seed = 20240229;

    for (int i = 0; i < 20000; i++)
    {
        KmNode *tree = random_node(ctx, &seed, 4, 0), *copy;
        const char *text = print(ctx, tree);
        KmNode *again = parse(ctx, text);

        if (!same_tree(tree, again))
            fail_msg("changed: %s", text);
        assert_string_equal(print(ctx, again), text);
        assert_int_equal(km_node_copy(ctx, tree, &copy), KM_OK);
        assert_true(same_tree(tree, copy));
        km_context_reset(ctx);
    }
}

/* Canonical text is a fixed point also when bytes of it are broken at random. */
static void
broken_texts_fail_or_parse(void **state)
{
    static const char alphabet[] = "()[]{}'|+*^,=:. e-1aN\xc3";
    KmContext *ctx = *state;
    uint64_t seed = 5;
    int parsed = 0;

    for (int i = 0; i < 20000; i++)
    {
        char *text = (char *) print(ctx, random_node(ctx, &seed, 3, 0));
        size_t length = strlen(text);
        KmNode *tree;

        for (size_t change = pick(&seed, 3) + 1; change > 0 && length > 0; change--)
            text[pick(&seed, length)] = alphabet[pick(&seed, sizeof alphabet - 1)];
        if (km_spec_parse(ctx, text, length, &tree) == KM_OK)
        {
            const char *once = print(ctx, tree);

            parsed++;
            assert_string_equal(print(ctx, parse(ctx, once)), once);
        }
        km_context_reset(ctx);
    }
    assert_in_range(parsed, 1000, 19000);
}

/* ---- builders ---- */

static void
builders_make_trees(void **state)
{
    static const double values[] = {1, 2, 3, 0.5, -1e300, INFINITY};
    KmContext *ctx = *state;
    KmNode *call, *node;

    assert_int_equal(km_node_call(ctx, "scale", &call), KM_OK);
    assert_string_equal(print(ctx, call), "scale");
    assert_null(km_node_get(call, "mean"));
    assert_int_equal(km_node_list(ctx, 3, values, &node), KM_OK);
    assert_int_equal(km_node_set(ctx, call, "mean", node), KM_OK);
    assert_int_equal(km_node_matrix(ctx, 2, 3, values, &node), KM_OK);
    assert_int_equal(km_node_set(ctx, call, "m", node), KM_OK);
    assert_string_equal(print(ctx, call), "scale(mean=[1, 2, 3], m=[[1, 2, 3], [0.5, -1e+300, inf]])");
    assert_int_equal(km_node_number(ctx, 7, &node), KM_OK);
    assert_int_equal(km_node_set(ctx, call, "m", node), KM_OK);
    assert_ptr_equal(km_node_get(call, "m"), node);
    assert_string_equal(print(ctx, call), "scale(mean=[1, 2, 3], m=7)");
    km_node_unset(call, "other");
    km_node_unset(call, "mean");
    assert_string_equal(print(ctx, call), "scale(m=7)");
    km_node_unset(call, "m");
    assert_int_equal(call->kind, KM_NODE_NAME);
    assert_int_equal(km_node_set(ctx, node, "m", call), KM_INTERNAL);
}

static void
a_copy_is_apart(void **state)
{
    KmContext *ctx = *state;
    KmNode *tree = parse(ctx, "svc(rbf(gamma=1), c=2, w={'a': 1})"), *copy, *node;

    assert_int_equal(km_node_copy(ctx, tree, &copy), KM_OK);
    assert_int_equal(km_node_number(ctx, 9, &node), KM_OK);
    assert_int_equal(km_node_set(ctx, copy->item[0], "gamma", node), KM_OK);
    km_node_unset(copy, "c");
    assert_string_equal(print(ctx, tree), "svc(rbf(gamma=1), c=2, w={'a': 1})");
    assert_string_equal(print(ctx, copy), "svc(rbf(gamma=9), w={'a': 1})");
}

static void
builders_refuse_nan(void **state)
{
    const double values[] = {1, NAN};
    KmContext *ctx = *state;
    KmNode *node;

    assert_int_equal(km_node_number(ctx, NAN, &node), KM_INVALID);
    assert_int_equal(km_node_list(ctx, 2, values, &node), KM_INVALID);
    assert_int_equal(km_node_matrix(ctx, 1, 2, values, &node), KM_INVALID);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(texts_become_canonical),
        TEST(precedence_shapes_the_tree),
        TEST(errors_point_at_the_place),
        TEST(positions_count_characters),
        TEST(nodes_in_errors_are_shortened),
        TEST(long_strings_are_not_copied_into_errors),
        TEST(long_strings_are_read_in_pieces),
        TEST(names_end_somewhere),
        TEST(depth_is_limited),
        TEST(size_is_limited),
        cmocka_unit_test(cap_on_memory_is_an_error),
        TEST(parsing_can_be_stopped),
        TEST(random_trees_survive_printing),
        TEST(broken_texts_fail_or_parse),
        TEST(builders_make_trees),
        TEST(a_copy_is_apart),
        TEST(builders_refuse_nan),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
