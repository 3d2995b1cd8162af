# Turns the library that SwiftPM linked into the shipped one: the versioned name, its two links, only exported symbols,
# and a size below the limit. Every build runs it: cmake -D built=… -D library=… -D soname=… -P ShipLibrary.cmake

cmake_path(GET library PARENT_PATH folder)
cmake_path(GET library FILENAME name)
file(MAKE_DIRECTORY ${folder})

# SwiftPM writes the search path $ORIGIN, where a wheel has pcre2; a system library uses the system's search path.
set(whole ${library}.whole)
set(stripped ${library}.stripped)
file(COPY_FILE ${built} ${whole})
if(NOT bundle)
  file(RPATH_REMOVE FILE ${whole})
endif()
execute_process(COMMAND ${strip_program} --strip-unneeded -o ${stripped} ${whole} COMMAND_ERROR_IS_FATAL ANY)
file(SIZE ${stripped} size)

# Decimal megabytes: 1 MB is 1,000,000 bytes.
math(EXPR hundredths "${size} / 10000")
string(REGEX REPLACE "(..)$" ".\\1" megabytes ${hundredths})
message("${name}: ${megabytes} MB stripped (${size} bytes; the limit is ${limit})")
if(limit GREATER 0 AND size GREATER limit)
  message(FATAL_ERROR "${name} is too large: ${size} bytes stripped, ${limit} are allowed. Check for a new dependency, "
    "or for generic code that is specialised too often; raise KEPT_SIZE_LIMIT only deliberately.")
endif()

# The library is replaced only if it differs, so that nothing is linked again needlessly.
if(strip)
  file(COPY_FILE ${stripped} ${library} ONLY_IF_DIFFERENT)
else()
  file(COPY_FILE ${whole} ${library} ONLY_IF_DIFFERENT)
endif()
file(REMOVE ${whole} ${stripped})

file(CREATE_LINK ${name} ${folder}/${soname} SYMBOLIC)
file(CREATE_LINK ${soname} ${folder}/libkept.so SYMBOLIC)
