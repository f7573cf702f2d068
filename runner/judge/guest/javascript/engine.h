/* Looks into the interpreter that its interface does not offer. */

#include <stdint.h>

#include "quickjs.h"

/* Begins the random numbers of a context anew. */
void engine_seed(JSContext *context, uint64_t seed);

/* Names the error of the language that a value is, or is made from; "" if it is none. */
const char *engine_error(JSContext *context, JSValueConst value);

/* Names the kind of an object whose content can cross; "" if it has none. */
const char *engine_kind(JSContext *context, JSValueConst value);

/* Makes the value that JSON has in the place of a text of digits. */
JSValue engine_raw_json(JSContext *context, JSValueConst text);

/* Does something for a module and a name. Returns -1 if that fails. */
typedef int engine_each(JSContext *context, JSModuleDef *module, const char *name);

/* Does so for each name that the modules loaded so far import of one. Returns -1 if that fails. */
int engine_wanted(JSContext *context, JSModuleDef *module, engine_each *each);

/* Adds an export, unless the module has it. Returns -1 if that fails. */
int engine_add_export(JSContext *context, JSModuleDef *module, const char *name);
