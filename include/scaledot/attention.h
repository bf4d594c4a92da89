/* The C ABI of scaledot: attention.hpp in C. What each thing means stands there, under the same
   name. Numbers never change and structs only grow: set `size` to sizeof the struct, zero the rest.
 */
#ifndef SCALEDOT_ATTENTION_H
#define SCALEDOT_ATTENTION_H

#include <stddef.h>
#include <stdint.h>

#include "scaledot/export.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SCALEDOT_F32 = 0, SCALEDOT_F16 = 1, SCALEDOT_BF16 = 2, SCALEDOT_BOOLEAN = 3 };
enum { SCALEDOT_CAUSAL_OFF = 0, SCALEDOT_CAUSAL_TOP_LEFT = 1, SCALEDOT_CAUSAL_BOTTOM_RIGHT = 2 };
enum {
  SCALEDOT_ARITHMETIC_AUTOMATIC = 0,
  SCALEDOT_ARITHMETIC_F32 = 1,
  SCALEDOT_ARITHMETIC_BF16 = 2
};
enum {
  SCALEDOT_OK = 0,
  SCALEDOT_NULL_DATA = 1,
  SCALEDOT_ALIGNMENT = 2,
  SCALEDOT_RANK = 3,
  SCALEDOT_EXTENT = 4,
  SCALEDOT_STRIDE = 5,
  SCALEDOT_OVERFLOW = 6,
  SCALEDOT_OVERLAP = 7,
  SCALEDOT_DTYPE = 8,
  SCALEDOT_OPTION = 9,
  SCALEDOT_OUT_OF_MEMORY = 10
};

typedef struct scaledot_tensor {
  size_t size; /* sizeof(scaledot_tensor) */
  void* data;
  int32_t dtype;
  int32_t rank;
  int64_t extent[4];
  int64_t stride[4]; /* in elements */
} scaledot_tensor;

typedef void (*scaledot_task)(void* data, int64_t index, int32_t worker);

typedef struct scaledot_options {
  size_t size;        /* sizeof(scaledot_options) */
  const float* scale; /* NULL: 1 / sqrt(head_dim) */
  float softcap;      /* 0: off */
  int32_t causal;
  int32_t has_window; /* 0: window_left and window_right are not looked at */
  int32_t arithmetic;
  int64_t window_left; /* -1: unlimited */
  int64_t window_right;
  const scaledot_tensor* mask; /* NULL: none */
  const scaledot_tensor* bias; /* NULL: none */
  const int64_t* key_lengths;  /* NULL: none; else one a batch entry */
  int64_t key_lengths_count;
  void* workspace; /* NULL: the library's own memory */
  size_t workspace_bytes;
  int32_t threads; /* 0: as many as the process may use */
  int32_t reserved;
  /* NULL: the library's own threads */
  void (*parallel_for)(void* context, int64_t count, int32_t threads, scaledot_task task,
                       void* data);
  void* parallel_for_context;
} scaledot_options;

typedef struct scaledot_outputs {
  size_t size; /* sizeof(scaledot_outputs) */
  const scaledot_tensor* output;
  const scaledot_tensor* lse;     /* NULL: not wanted */
  const scaledot_tensor* weights; /* NULL: not wanted */
} scaledot_outputs;

typedef struct scaledot_status {
  size_t size; /* sizeof(scaledot_status), set by the caller */
  int32_t code;
  int32_t reserved;
  const char* argument;
  const char* other;
  int64_t axis;
  int64_t got;
  int64_t expected;
  double value;
} scaledot_status;

/* Both return the code; `options` and `status` may be NULL. */
SCALEDOT_EXPORT int32_t scaledot_attend(const scaledot_tensor* query, const scaledot_tensor* key,
                                        const scaledot_tensor* value,
                                        const scaledot_outputs* outputs,
                                        const scaledot_options* options, scaledot_status* status);

SCALEDOT_EXPORT int32_t scaledot_workspace_bytes(const scaledot_tensor* query,
                                                 const scaledot_tensor* key,
                                                 const scaledot_tensor* value,
                                                 const scaledot_outputs* outputs,
                                                 const scaledot_options* options, size_t* bytes,
                                                 scaledot_status* status);

/* Writes describe(status) and a 0 into buffer, cut to fit; returns the length it has in full. */
SCALEDOT_EXPORT size_t scaledot_describe(const scaledot_status* status, char* buffer, size_t bytes);

SCALEDOT_EXPORT void scaledot_release_memory(void);

/* The instruction set in use ("avx512", ...; "amx" stands for bf16 arithmetic on the tiles and f32
   on avx512), and the library's version. */
SCALEDOT_EXPORT const char* scaledot_isa(void);
SCALEDOT_EXPORT const char* scaledot_version(void);

#ifdef __cplusplus
}
#endif

#endif
