// The parts of the system's json-c that Kept uses: the tokener and the tree it builds.
#include <json-c/json_object.h>
#include <json-c/json_object_iterator.h>
#include <json-c/json_tokener.h>
