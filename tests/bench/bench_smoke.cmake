# Runs ${program} bench on small shapes and looks at its JSON. No value that a clock decides is
# compared with another.
function(bench json)
  execute_process(COMMAND ${program} bench --json ${ARGN}
                  OUTPUT_VARIABLE output ERROR_VARIABLE errors RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "bench ${ARGN} ended with ${result}: ${errors}")
  endif()
  foreach(key batch heads key_heads queries keys head_dim value_dim causal window dtype arithmetic
              threads microseconds best_microseconds gflops peak_gflops fraction_of_peak
              bandwidth_gbytes fraction_of_bandwidth isa)
    string(JSON found ERROR_VARIABLE missing GET "${output}" ${key})
    if(missing)
      message(FATAL_ERROR "bench ${ARGN}: ${missing} in ${output}")
    endif()
  endforeach()
  set(${json} "${output}" PARENT_SCOPE)
endfunction()

function(expect_member json key value)
  string(JSON found GET "${json}" ${key})
  if(NOT found STREQUAL value)
    message(FATAL_ERROR "${key} is ${found}, expected ${value}, in ${json}")
  endif()
endfunction()

bench(json --queries 64 --keys 64)
expect_member("${json}" queries 64)
expect_member("${json}" keys 64)
expect_member("${json}" heads 8)
expect_member("${json}" arithmetic f32)
expect_member("${json}" threads 1)
string(JSON type TYPE "${json}" fraction_of_bandwidth)
if(NOT type STREQUAL "NULL")
  message(FATAL_ERROR "more than one query has a fraction_of_bandwidth")
endif()

bench(json --batch 2 --heads 4 --key-heads 2 --queries 1 --keys 96 --head-dim 32 --value-dim 16
      --causal bottom_right --window -1,0 --dtype bf16 --threads 2)
expect_member("${json}" batch 2)
expect_member("${json}" key_heads 2)
expect_member("${json}" value_dim 16)
expect_member("${json}" causal bottom_right)
expect_member("${json}" dtype bf16)
expect_member("${json}" arithmetic bf16)
expect_member("${json}" threads 2)
string(JSON left GET "${json}" window 0)
string(JSON type TYPE "${json}" fraction_of_bandwidth)
if(NOT left EQUAL -1 OR NOT type STREQUAL "NUMBER")
  message(FATAL_ERROR "one query: ${json}")
endif()

execute_process(COMMAND ${program} bench --heads 8 --key-heads 3 --queries 4 --keys 4
                OUTPUT_VARIABLE output ERROR_VARIABLE errors RESULT_VARIABLE result)
if(result EQUAL 0 OR NOT output STREQUAL "" OR NOT errors MATCHES "key")
  message(FATAL_ERROR "8 heads on 3 were accepted: ${result} ${output} ${errors}")
endif()
