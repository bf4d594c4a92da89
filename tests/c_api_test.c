/* The C interface, compiled as C11, without a test framework: a line and exit code 1 on failure. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scaledot/attention.h"

static int failures = 0;

static void expect(int good, const char* what, int line) {
  if (good) return;
  fprintf(stderr, "c_api_test.c:%d: %s\n", line, what);
  ++failures;
}
#define EXPECT(condition) expect((condition), #condition, __LINE__)

enum { queries = 3, keys = 5, dim = 4 };

static float query_data[queries * dim], key_data[keys * dim], value_data[keys * dim];
static float output_data[queries * dim], lse_data[queries], weights_data[queries * keys];

static scaledot_tensor tensor(void* data, int32_t dtype, int64_t rows, int64_t columns) {
  scaledot_tensor made;
  memset(&made, 0, sizeof made);
  made.size = sizeof made;
  made.data = data;
  made.dtype = dtype;
  made.rank = columns > 0 ? 2 : 1;
  made.extent[0] = rows;
  made.extent[1] = columns;
  made.stride[0] = columns > 0 ? columns : 1;
  made.stride[1] = columns > 0;
  return made;
}

/* Everything that a call takes. Queries and keys are 0, value [j, d] is j. */
typedef struct call {
  scaledot_tensor query, key, value, output, lse, weights;
  scaledot_outputs outputs;
  scaledot_options options;
  scaledot_status status;
} call;

static void make(call* made) {
  int n;
  memset(made, 0, sizeof *made);
  memset(query_data, 0, sizeof query_data);
  memset(key_data, 0, sizeof key_data);
  for (n = 0; n < keys * dim; ++n) value_data[n] = (float)(n / dim);
  for (n = 0; n < queries * dim; ++n) output_data[n] = -1;
  made->query = tensor(query_data, SCALEDOT_F32, queries, dim);
  made->key = tensor(key_data, SCALEDOT_F32, keys, dim);
  made->value = tensor(value_data, SCALEDOT_F32, keys, dim);
  made->output = tensor(output_data, SCALEDOT_F32, queries, dim);
  made->lse = tensor(lse_data, SCALEDOT_F32, queries, 0);
  made->weights = tensor(weights_data, SCALEDOT_F32, queries, keys);
  made->outputs.size = sizeof made->outputs;
  made->outputs.output = &made->output;
  made->options.size = sizeof made->options;
  made->status.size = sizeof made->status;
}

static int32_t attend(call* made) {
  return scaledot_attend(&made->query, &made->key, &made->value, &made->outputs, &made->options,
                         &made->status);
}

static int near(float a, double b) { return fabs(a - b) < 1e-6; }

static void test_results(void) {
  call made;
  int i;
  make(&made);
  made.outputs.lse = &made.lse;
  made.outputs.weights = &made.weights;
  EXPECT(attend(&made) == SCALEDOT_OK);
  EXPECT(made.status.code == SCALEDOT_OK);
  for (i = 0; i < queries; ++i) {
    EXPECT(output_data[i * dim] == 2);
    EXPECT(near(lse_data[i], log(5.0)));
    EXPECT(near(weights_data[i * keys], 0.2));
  }

  /* Without options and status. */
  make(&made);
  EXPECT(scaledot_attend(&made.query, &made.key, &made.value, &made.outputs, NULL, NULL) ==
         SCALEDOT_OK);
  EXPECT(output_data[0] == 2);
}

static void test_options(void) {
  static unsigned char mask_data[keys] = {1, 0, 1, 1, 1};
  static float bias_data[keys] = {0, 0, 0, 0, -INFINITY};
  const float scale = 0.5f;
  const int64_t lengths[] = {4};
  scaledot_tensor mask = tensor(mask_data, SCALEDOT_BOOLEAN, keys, 0);
  scaledot_tensor bias = tensor(bias_data, SCALEDOT_F32, keys, 0);
  size_t bytes = 0;
  call made;
  int n;

  make(&made);
  made.options.causal = SCALEDOT_CAUSAL_TOP_LEFT;
  EXPECT(attend(&made) == SCALEDOT_OK);
  EXPECT(output_data[0] == 0 && output_data[dim] == 0.5f && output_data[2 * dim] == 1);
  made.options.causal = SCALEDOT_CAUSAL_BOTTOM_RIGHT;
  EXPECT(attend(&made) == SCALEDOT_OK);
  EXPECT(output_data[0] == 1 && output_data[dim] == 1.5f && output_data[2 * dim] == 2);

  make(&made);
  made.options.window_left = 0; /* without has_window this says nothing */
  made.options.window_right = 1;
  EXPECT(attend(&made) == SCALEDOT_OK);
  EXPECT(output_data[0] == 2);
  made.options.has_window = 1;
  EXPECT(attend(&made) == SCALEDOT_OK);
  EXPECT(output_data[0] == 0.5f && output_data[dim] == 1.5f && output_data[2 * dim] == 2.5f);

  make(&made);
  made.options.mask = &mask;
  EXPECT(attend(&made) == SCALEDOT_OK);
  EXPECT(output_data[0] == 2.25f);
  made.options.bias = &bias;
  EXPECT(attend(&made) == SCALEDOT_OK);
  EXPECT(near(output_data[0], 5.0 / 3));
  made.options.mask = NULL;
  made.options.bias = NULL;
  made.options.key_lengths = lengths;
  made.options.key_lengths_count = 1;
  EXPECT(attend(&made) == SCALEDOT_OK);
  EXPECT(output_data[0] == 1.5f);

  make(&made);
  for (n = 0; n < dim; ++n) query_data[n] = key_data[n] = 1; /* one logit of 4 * scale */
  made.outputs.lse = &made.lse;
  made.options.scale = &scale;
  EXPECT(attend(&made) == SCALEDOT_OK);
  EXPECT(near(lse_data[0], log(exp(2.0) + 4)));
  made.options.softcap = 1.5f;
  EXPECT(attend(&made) == SCALEDOT_OK);
  EXPECT(near(lse_data[0], log(exp(1.5 * tanh(2 / 1.5)) + 4)));
  made.options.threads = 2;
  EXPECT(attend(&made) == SCALEDOT_OK);

  make(&made);
  EXPECT(scaledot_workspace_bytes(&made.query, &made.key, &made.value, &made.outputs, &made.options,
                                  &bytes, &made.status) == SCALEDOT_OK);
  EXPECT(bytes > 0);
  made.options.workspace = malloc(bytes);
  made.options.workspace_bytes = bytes;
  EXPECT(attend(&made) == SCALEDOT_OK);
  EXPECT(output_data[0] == 2);
  made.options.workspace_bytes = bytes - 1;
  EXPECT(attend(&made) == SCALEDOT_EXTENT);
  EXPECT(made.status.got == (int64_t)bytes - 1 && made.status.expected == (int64_t)bytes);
  free(made.options.workspace);
}

static void test_status(void) {
  char text[200], small[8], none = 'x';
  size_t length;
  call made;
  make(&made);
  made.key.extent[1] = 3;
  EXPECT(attend(&made) == SCALEDOT_EXTENT && made.status.code == SCALEDOT_EXTENT);
  EXPECT(strcmp(made.status.argument, "key") == 0);
  EXPECT(strcmp(made.status.other, "query") == 0);
  EXPECT(made.status.axis == 1 && made.status.got == 3 && made.status.expected == 4);
  EXPECT(output_data[0] == -1);

  length = scaledot_describe(&made.status, text, sizeof text);
  EXPECT(length == strlen(text));
  EXPECT(strcmp(text, "key: axis 1 is 3, expected 4 as in query") == 0);
  EXPECT(scaledot_describe(&made.status, small, sizeof small) == length);
  EXPECT(strcmp(small, "key: ax") == 0);
  EXPECT(scaledot_describe(&made.status, &none, 1) == length && none == 0);
  EXPECT(scaledot_describe(&made.status, NULL, 0) == length);

  make(&made);
  made.options.softcap = -2;
  EXPECT(attend(&made) == SCALEDOT_OPTION);
  EXPECT(strcmp(made.status.argument, "softcap") == 0 && made.status.value == -2);
  /* Numbers that have no name in the enums; 256 would be 0 in one byte. */
  make(&made);
  made.options.causal = 256;
  EXPECT(attend(&made) == SCALEDOT_OPTION && made.status.got == 256);
  make(&made);
  made.options.arithmetic = -1;
  EXPECT(attend(&made) == SCALEDOT_OPTION && made.status.got == -1);
  make(&made);
  made.key.dtype = 256;
  EXPECT(attend(&made) == SCALEDOT_DTYPE && made.status.got == 256);
  make(&made);
  made.lse.dtype = 256;
  made.options.mask = &made.lse;
  EXPECT(attend(&made) == SCALEDOT_DTYPE && made.status.expected == SCALEDOT_BOOLEAN);
  make(&made);
  made.options.key_lengths = &made.options.window_left;
  made.options.key_lengths_count = -5;
  EXPECT(attend(&made) == SCALEDOT_EXTENT && made.status.got == -5 && made.status.expected == 1);
  scaledot_describe(&made.status, text, sizeof text);
  EXPECT(strcmp(text, "key_lengths has -5 entries, expected 1, one a batch entry") == 0);
}

/* Pointers that a call cannot do without. */
static void test_null(void) {
  size_t bytes = 7;
  call made;
  make(&made);
  EXPECT(scaledot_attend(NULL, &made.key, &made.value, &made.outputs, NULL, &made.status) ==
         SCALEDOT_NULL_DATA);
  EXPECT(strcmp(made.status.argument, "query") == 0);
  EXPECT(scaledot_attend(&made.query, NULL, &made.value, &made.outputs, NULL, &made.status) ==
         SCALEDOT_NULL_DATA);
  EXPECT(strcmp(made.status.argument, "key") == 0);
  EXPECT(scaledot_attend(&made.query, &made.key, NULL, &made.outputs, NULL, &made.status) ==
         SCALEDOT_NULL_DATA);
  EXPECT(strcmp(made.status.argument, "value") == 0);
  EXPECT(scaledot_attend(&made.query, &made.key, &made.value, NULL, NULL, &made.status) ==
         SCALEDOT_NULL_DATA);
  EXPECT(strcmp(made.status.argument, "outputs") == 0);
  made.outputs.output = NULL;
  EXPECT(attend(&made) == SCALEDOT_NULL_DATA);
  EXPECT(strcmp(made.status.argument, "output") == 0);
  make(&made);
  EXPECT(scaledot_workspace_bytes(NULL, &made.key, &made.value, &made.outputs, NULL, &bytes,
                                  NULL) == SCALEDOT_NULL_DATA);
  EXPECT(scaledot_workspace_bytes(&made.query, &made.key, &made.value, &made.outputs, NULL, NULL,
                                  &made.status) == SCALEDOT_NULL_DATA);
  EXPECT(strcmp(made.status.argument, "bytes") == 0);
  EXPECT(bytes == 7);
}

/* A struct of a later version is longer: it is taken if the rest is 0, so says nothing new. */
typedef struct longer {
  scaledot_options options;
  int64_t later[3];
} longer;

static void test_sizes(void) {
  longer big;
  struct {
    scaledot_status status;
    char after[32];
  } guarded;
  call made;
  make(&made);
  memset(&big, 0, sizeof big);
  big.options.size = sizeof big;
  EXPECT(scaledot_attend(&made.query, &made.key, &made.value, &made.outputs, &big.options,
                         &made.status) == SCALEDOT_OK);
  big.later[2] = 1;
  EXPECT(scaledot_attend(&made.query, &made.key, &made.value, &made.outputs, &big.options,
                         &made.status) == SCALEDOT_EXTENT);
  EXPECT(strcmp(made.status.argument, "options") == 0);

  /* Nothing smaller than the first version has ever been. */
  made.options.size = 0;
  EXPECT(attend(&made) == SCALEDOT_EXTENT);
  EXPECT(strcmp(made.status.argument, "options") == 0);
  EXPECT(made.status.got == 0 && made.status.expected == (int64_t)sizeof made.options);
  make(&made);
  made.options.size = sizeof made.options - 8;
  EXPECT(attend(&made) == SCALEDOT_EXTENT);
  EXPECT(strcmp(made.status.other, "size") == 0);
  make(&made);
  made.key.size = SIZE_MAX / 2; /* forgotten: whatever was there */
  EXPECT(attend(&made) == SCALEDOT_EXTENT);
  made.key.size = 8;
  EXPECT(attend(&made) == SCALEDOT_EXTENT);
  EXPECT(strcmp(made.status.argument, "key") == 0);
  EXPECT(made.status.got == 8 && made.status.expected == (int64_t)sizeof made.key);

  /* Of a status no more is written than its size says. */
  make(&made);
  memset(&guarded, 0x5A, sizeof guarded);
  guarded.status.size = sizeof guarded.status;
  EXPECT(scaledot_attend(&made.query, &made.key, &made.value, &made.outputs, &made.options,
                         &guarded.status) == SCALEDOT_OK);
  EXPECT(guarded.after[0] == 0x5A && guarded.after[31] == 0x5A);
  guarded.status.size = sizeof(size_t) + 8; /* code and reserved */
  guarded.status.axis = 77;
  EXPECT(scaledot_attend(NULL, &made.key, &made.value, &made.outputs, NULL, &guarded.status) ==
         SCALEDOT_NULL_DATA);
  EXPECT(guarded.status.code == SCALEDOT_NULL_DATA);
  EXPECT(guarded.status.axis == 77);
}

int main(void) {
  test_results();
  test_options();
  test_status();
  test_null();
  test_sizes();
  EXPECT(strlen(scaledot_isa()) > 0);
  EXPECT(strchr(scaledot_version(), '.') != NULL);
  if (failures > 0) fprintf(stderr, "%d failures\n", failures);
  return failures > 0;
}
