# The measurement library. The program's `bench`, the benchmarks and their tests include this file,
# whichever of them is built.
include_guard(GLOBAL)

find_package(nlohmann_json REQUIRED)

set(measure ${CMAKE_CURRENT_LIST_DIR}/measure)

add_library(scaledot_measure STATIC
  ${measure}/ceiling.cpp ${measure}/check.cpp ${measure}/contest.cpp ${measure}/loops.cpp
  ${measure}/measure.cpp ${measure}/report.cpp ${measure}/result.cpp ${measure}/shape.cpp
  ${measure}/team.cpp ${measure}/tensors.cpp)

# The instruction sets' loops, with the flags that their kernels have. -O2 whatever the build type:
# they say what the machine can do, not what the build can.
function(measure_loops isa)
  target_sources(scaledot_measure PRIVATE ${measure}/loops_${isa}.cpp)
  set_source_files_properties(${measure}/loops_${isa}.cpp PROPERTIES COMPILE_OPTIONS "-O2;${ARGN}")
endfunction()

measure_loops(scalar)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  measure_loops(avx2 -mavx2 -mfma -mf16c)
  measure_loops(avx512 -mavx2 -mfma -mf16c -mavx512f -mavx512bw -mavx512dq -mavx512vl)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  measure_loops(neon)
endif()

target_include_directories(scaledot_measure
  PUBLIC ${CMAKE_CURRENT_LIST_DIR} PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(scaledot_measure
  PUBLIC scaledot::scaledot nlohmann_json::nlohmann_json Threads::Threads PRIVATE scaledot_flags)
