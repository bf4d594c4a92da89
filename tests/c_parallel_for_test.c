/* A loop of the caller's through the C interface, compiled as C11; exit code 1 on failure. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "scaledot/attention.h"

enum { heads = 2, length = 300, dim = 4, count = heads * length * dim };

/* Runs all tasks itself, on the workers' numbers in turn. */
typedef struct own_loop {
  int calls;
  int32_t most_threads;
} own_loop;

static void run_own(void* context, int64_t tasks, int32_t threads, scaledot_task task, void* data) {
  own_loop* loop = context;
  int64_t index;
  ++loop->calls;
  if (threads > loop->most_threads) loop->most_threads = threads;
  for (index = 0; index < tasks; ++index) task(data, index, (int32_t)(index % threads));
}

static scaledot_tensor tensor(float* data) {
  scaledot_tensor made = {
      sizeof made, data, SCALEDOT_F32, 3, {heads, length, dim, 0}, {length * dim, dim, 1, 0}};
  return made;
}

int main(void) {
  static float zeros[count], ones[count], result[count];
  own_loop loop = {0, 0};
  scaledot_tensor query = tensor(zeros), value = tensor(ones), output = tensor(result);
  scaledot_outputs outputs = {sizeof outputs, &output, NULL, NULL};
  scaledot_options options;
  int n, right = 1;
  for (n = 0; n < count; ++n) ones[n] = 1;
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.threads = 2;
  options.parallel_for_context = &loop; /* without a function this says nothing */
  right &= scaledot_attend(&query, &query, &value, &outputs, &options, NULL) == SCALEDOT_OK;
  right &= loop.calls == 0 && result[0] == 1;

  memset(result, 0, sizeof result);
  options.parallel_for = run_own;
  right &= scaledot_attend(&query, &query, &value, &outputs, &options, NULL) == SCALEDOT_OK;
  right &= loop.calls > 0 && loop.most_threads == 2;
  for (n = 0; n < count; ++n) right &= result[n] == 1;

  /* An older program's options end before parallel_for: what lies behind them is not looked at. */
  loop.calls = 0;
  options.size = offsetof(scaledot_options, parallel_for);
  right &= scaledot_attend(&query, &query, &value, &outputs, &options, NULL) == SCALEDOT_OK;
  right &= loop.calls == 0;
  --options.size;
  right &= scaledot_attend(&query, &query, &value, &outputs, &options, NULL) == SCALEDOT_EXTENT;
  if (!right) fprintf(stderr, "%d calls, %d threads\n", loop.calls, (int)loop.most_threads);
  return !right;
}
