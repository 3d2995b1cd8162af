/* The text of a json-c tree: Extended JSON that Kept reads back as the same values. */
#ifndef JSON_TEXT_H
#define JSON_TEXT_H

#include <kept_json.h>

/** Writes a tree. @param[out] text  receives text to be freed with free()
 *  @return KEPT_OK, KEPT_TOO_LARGE if it is nested too deep, or KEPT_FAILED if memory is short. */
kept_status json_text_of(json_object *value, char **text, kept_error *error);

/** Reads text that Kept wrote. @param[out] value  receives a tree that the caller owns
 *  @return KEPT_OK or KEPT_FAILED. */
kept_status json_tree_of(const char *text, json_object **value, kept_error *error);

/** Removes the offset from an error: the caller has passed a tree, not a text. @return the status */
kept_status without_offset(kept_status status, kept_error *error);

/** Fills an error that may be NULL. @return the status */
kept_status refuse(kept_error *error, kept_status status, const char *sentence);

#endif
