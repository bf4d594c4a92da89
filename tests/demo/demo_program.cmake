# Runs ${program} with files in ${folder} and looks at what it prints and writes. ${shown} is the
# picture in the documents: scaledot_demo --svg docs/demo.svg
set(picture ${folder}/picture.svg)

function(demo)
  file(REMOVE ${picture})
  execute_process(COMMAND ${program} --svg ${picture} ${ARGN} OUTPUT_VARIABLE output
                  ERROR_VARIABLE errors RESULT_VARIABLE result)
  set(output "${output}" PARENT_SCOPE)
  set(errors "${errors}" PARENT_SCOPE)
  set(result "${result}" PARENT_SCOPE)
endfunction()

function(expect condition)
  cmake_language(EVAL CODE "
    if(NOT (${condition}))
      message(FATAL_ERROR [[${condition}]] \": \${result}\\n\${output}\\n\${errors}\")
    endif()")
endfunction()

demo()
expect([[result EQUAL 0 AND errors STREQUAL "" AND EXISTS "${picture}"]])
expect([[output MATCHES "Divisor 17.3" AND output MATCHES "fichier +[. ]+100"]])
file(READ ${picture} written)
# It may be read by whom any new file may be read.
file(REMOVE ${picture}.other)
file(TOUCH ${picture}.other)
execute_process(COMMAND stat -c %a ${picture} OUTPUT_VARIABLE mode)
execute_process(COMMAND stat -c %a ${picture}.other OUTPUT_VARIABLE usual_mode)
expect([[mode STREQUAL usual_mode AND mode MATCHES "^[0-7]+"]])
file(READ ${shown} expected)
expect([[written STREQUAL expected]])
string(ASCII 27 escape)
expect([[NOT output MATCHES "${escape}"]])  # it is not a terminal

demo(--english "open the zorglub" --french "ouvrir le schtroumpf" --divisor 0.1)
expect([[result EQUAL 0 AND errors MATCHES "English word 'zorglub' is unknown"]])
expect([[errors MATCHES "French word 'schtroumpf' is unknown" AND output MATCHES "Divisor 0.1:"]])
expect([[NOT errors MATCHES "'(open|the|ouvrir|le)'"]])

foreach(wrong "0" "-1" "-0" "1e-40" "inf" "nan" "1e39" "x")
  demo(--divisor ${wrong})
  expect([[result EQUAL 2 AND output STREQUAL "" AND NOT EXISTS "${picture}"]])
  expect([[errors MATCHES "^scaledot_demo: --divisor is '${wrong}', expected [^\n]+\n$"]])
endforeach()
demo(--divisor 1e-37)
expect([[result EQUAL 0 AND EXISTS "${picture}"]])

foreach(wrong "--english;?!" "--vectors;${folder}/missing" "--nonsense")
  demo(${wrong})
  expect([[result EQUAL 2 AND output STREQUAL "" AND errors MATCHES "^scaledot_demo: [^\n]+\n$"]])
  expect([[NOT EXISTS "${picture}"]])
endforeach()
