/* The interpreter, QuickJS-ng as it is, and the few looks into it that its interface does not offer. */

/* One switch for all instructions: jumps between them would each become a copy of it in WebAssembly. */
#define EMSCRIPTEN
#include "quickjs.c"

#include "engine.h"

void engine_seed(JSContext *context, uint64_t seed)
{
    /* Any state but 0 is one of the generator. */
    context->random_state = seed ^ 0x9e3779b97f4a7c15u ? seed ^ 0x9e3779b97f4a7c15u : 1;
    for (int i = 0; i < 4; i++)
        xorshift64star(&context->random_state);
}

const char *engine_error(JSContext *context, JSValueConst value)
{
    /* By the object it is made from, along prototypes as they are stored: no code of a submission runs here. */
    if (JS_VALUE_GET_TAG(value) != JS_TAG_OBJECT)
        return "";
    JSObject *object = JS_VALUE_GET_OBJ(value);
    for (int steps = 0; object && steps < 1000; steps++) {
        for (int i = 0; i < JS_NATIVE_ERROR_COUNT; i++) {
            JSValue known = context->native_error_proto[i];
            if (JS_VALUE_GET_TAG(known) == JS_TAG_OBJECT && JS_VALUE_GET_OBJ(known) == object)
                return native_error_name[i];
        }
        JSValue plain = context->class_proto[JS_CLASS_ERROR];
        if (JS_VALUE_GET_TAG(plain) == JS_TAG_OBJECT && JS_VALUE_GET_OBJ(plain) == object)
            return "Error";
        object = object->shape->proto;
    }
    return "";
}

const char *engine_kind(JSContext *context, JSValueConst value)
{
    if (JS_VALUE_GET_TAG(value) != JS_TAG_OBJECT)
        return "";
    JSObject *object = JS_VALUE_GET_OBJ(value);
    JSObject *proto = object->shape->proto;
    switch (object->class_id) {
    case JS_CLASS_OBJECT:
        if (!proto || proto == JS_VALUE_GET_OBJ(context->class_proto[JS_CLASS_OBJECT]))
            return "object";
        return "";
    case JS_CLASS_ARRAY:
        return "array";
    case JS_CLASS_MAP:
        return "map";
    case JS_CLASS_SET:
        return "set";
    case JS_CLASS_DATE:
        return "date";
    case JS_CLASS_PROMISE:
        return "promise";
    case JS_CLASS_UINT8_ARRAY:
        return "bytes";
    default:
        return "";
    }
}

JSValue engine_raw_json(JSContext *context, JSValueConst text)
{
    return js_json_rawJSON(context, JS_UNDEFINED, 1, &text);
}

int engine_wanted(JSContext *context, JSModuleDef *module, engine_each *each)
{
    const char *name = JS_AtomToCString(context, module->module_name);
    struct list_head *at;
    int failed = !name;
    list_for_each(at, &context->loaded_modules) {
        JSModuleDef *other = list_entry(at, JSModuleDef, link);
        for (int i = 0; i < other->import_entries_count && !failed; i++) {
            JSImportEntry *entry = &other->import_entries[i];
            const char *base = JS_AtomToCString(context, other->module_name);
            const char *from =
                JS_AtomToCString(context, other->req_module_entries[entry->req_module_idx].module_name);
            const char *member = JS_AtomToCString(context, entry->import_name);
            char *whole = base && from ? js_default_module_normalize_name(context, base, from) : NULL;
            failed = !member || !whole;
            if (!failed && strcmp(whole, name) == 0) {
                if (entry->import_name == JS_ATOM__star_) {
                    JS_ThrowTypeError(context, "import each name of the submission by itself, and not all with `*`");
                    failed = 1;
                } else {
                    failed = each(context, module, member) < 0;
                }
            }
            js_free(context, whole);
            JS_FreeCString(context, member);
            JS_FreeCString(context, from);
            JS_FreeCString(context, base);
        }
    }
    JS_FreeCString(context, name);
    return failed ? -1 : 0;
}

int engine_add_export(JSContext *context, JSModuleDef *module, const char *name)
{
    JSAtom atom = JS_NewAtom(context, name);
    bool is_known = atom != JS_ATOM_NULL && find_export_entry(context, module, atom);
    JS_FreeAtom(context, atom);
    return is_known ? 0 : JS_AddModuleExport(context, module, name);
}
