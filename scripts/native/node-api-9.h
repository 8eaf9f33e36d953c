/*
 * Forced into the build of better-sqlite3 (-include) when the runtime offers Node-API 9 only, as Node 20 and Electron 33 do.
 *
 * better-sqlite3 keeps references to strings, which Node-API allows from level 10 on. At level 9 a reference may name an
 * object, a function, a symbol or an external value only. Here a value of any other type is put as element 0 into a fresh object that carries
 * a type tag of ours, and the reference names that object; reading the reference takes the value out again. The tag, not
 * the shape, tells such a box from an array of the program. A reference of count 0 is weak, and nothing else would hold the
 * box, so it is refused for such values rather than lost at the next garbage collection.
 */
#ifndef IRIS_NODE_API_9_H
#define IRIS_NODE_API_9_H

#include <node_api.h>

static const napi_type_tag iris_reference_box = {0x6f1d8c52b3a94e07ULL, 0x9be04d7752c1fa36ULL};

static inline napi_status iris_create_reference(napi_env env, napi_value value, uint32_t count, napi_ref* result) {
  napi_valuetype type;
  napi_value box;
  napi_status status = napi_typeof(env, value, &type);
  if (status != napi_ok) return status;
  if (type == napi_object || type == napi_function || type == napi_symbol || type == napi_external) {
    return napi_create_reference(env, value, count, result);
  }
  if (count == 0) return napi_invalid_arg;
  if ((status = napi_create_object(env, &box)) != napi_ok) return status;
  if ((status = napi_type_tag_object(env, box, &iris_reference_box)) != napi_ok) return status;
  if ((status = napi_set_element(env, box, 0, value)) != napi_ok) return status;
  return napi_create_reference(env, box, count, result);
}

static inline napi_status iris_get_reference_value(napi_env env, napi_ref reference, napi_value* result) {
  napi_valuetype type;
  bool boxed = false;
  napi_value value;
  napi_status status = napi_get_reference_value(env, reference, &value);
  if (status != napi_ok) return status;
  *result = value;
  if (value == NULL) return napi_ok; /* A weak reference whose object is gone. */
  if ((status = napi_typeof(env, value, &type)) != napi_ok) return status;
  if (type != napi_object) return napi_ok;
  if ((status = napi_check_object_type_tag(env, value, &iris_reference_box, &boxed)) != napi_ok) return status;
  return boxed ? napi_get_element(env, value, 0, result) : napi_ok;
}

#define napi_create_reference iris_create_reference
#define napi_get_reference_value iris_get_reference_value

#endif
