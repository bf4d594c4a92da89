/* from_cpp.cpp in C. */
#include <scaledot/attention.h>

#include <stdio.h>

static scaledot_tensor matrix(void* data, int64_t rows, int64_t columns) {
  scaledot_tensor tensor = {sizeof tensor, data, SCALEDOT_F32, 2, {rows, columns}, {columns, 1}};
  return tensor;
}

int main(void) {
  float query_data[] = {0, 0, 0};
  float key_data[] = {1, 2, 3, 4, 5, 6};
  float value_data[] = {1, 10, 3, 30};
  float output_data[] = {0, 0};

  const scaledot_tensor query = matrix(query_data, 1, 3);
  const scaledot_tensor key = matrix(key_data, 2, 3);
  const scaledot_tensor value = matrix(value_data, 2, 2);
  const scaledot_tensor output = matrix(output_data, 1, 2);
  const scaledot_outputs outputs = {sizeof outputs, &output, NULL, NULL};
  scaledot_status status = {sizeof status, 0, 0, NULL, NULL, 0, 0, 0, 0};
  const int32_t code = scaledot_attend(&query, &key, &value, &outputs, NULL, &status);

  char sentence[200];
  scaledot_describe(&status, sentence, sizeof sentence);
  printf("scaledot %s on %s: %s, output %g %g\n", scaledot_version(), scaledot_isa(),
         code == SCALEDOT_OK ? "ok" : sentence, (double)output_data[0], (double)output_data[1]);
  return code == SCALEDOT_OK && output_data[0] == 2 && output_data[1] == 20 ? 0 : 1;
}
