/*
 * The guest of the judge for JavaScript: one instance, two realms. In the first is what is written here and in `guest.js`; in
 * the second runs the submission, or the file of a challenge, which so cannot reach the first.
 *
 * The host writes a request to where `room` says, and `run` says where the answer is: its address in the high half, its length
 * in the low one. The first character of an answer says what the rest is: `=` a result as JSON, `!` the reason why there is
 * none, `?` a fault of the challenge, as LINE:TEXT.
 */

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "dtoa.h"
#include "engine.h"

/* Bytes of stack for the interpreter; what would need more is a RangeError. */
#define STACK (6 << 20)

__attribute__((import_module("karat"), import_name("ask"))) extern uint32_t
karat_ask(const char *what, size_t what_length, const char *request, size_t request_length);
__attribute__((import_module("karat"), import_name("answer"))) extern void karat_answer(char *at);

static const char guest_source[] = {
#embed "guest.js"
    , 0};
static const char prelude_source[] = {
#embed "prelude.js"
    , 0};
static const char library_source[] = {
#embed "library.js"
    , 0};
static const char values_source[] = {
#embed "values.js"
    , 0};
static const char answers_source[] = {
#embed "answers.js"
    , 0};
static const char suite_source[] = {
#embed "suite.js"
    , 0};

static JSRuntime *runtime;
static JSContext *own, *theirs;
/* Functions of the two realms that are called from here. */
static JSValue carry_out, load;
/* Promises that were rejected, and that no one has looked at. */
static JSValue rejected[64];
static unsigned rejected_count;

#define NATIVE(name) static JSValue name(JSContext *context, JSValueConst self, int count, JSValueConst *given)

/* What stays the same text whatever a submission makes of it. */
static JSValue text_of(JSContext *context, const char *text)
{
    return JS_NewStringLen(context, text, strlen(text));
}

/* True if the last text that was to be a script was none. */
static bool is_no_script;

static JSValue compiled_script(JSContext *context, JSValueConst *given)
{
    size_t length;
    const char *name = JS_ToCString(context, given[0]), *source = JS_ToCStringLen(context, &length, given[1]);
    JSValue value = JS_EXCEPTION;
    if (name && source)
        value = JS_Eval(theirs, source, length, name, JS_EVAL_TYPE_GLOBAL | JS_EVAL_FLAG_COMPILE_ONLY);
    is_no_script = JS_IsException(value);
    JS_FreeCString(context, name);
    JS_FreeCString(context, source);
    return value;
}

NATIVE(native_script)
{
    JSValue script = compiled_script(context, given);
    return JS_IsException(script) ? script : JS_EvalFunction(theirs, script);
}

NATIVE(native_is_script)
{
    JSValue script = compiled_script(context, given);
    if (JS_IsException(script))
        script = JS_GetException(context);
    JS_FreeValue(context, script);
    return JS_NewBool(context, !is_no_script);
}

NATIVE(native_was_script)
{
    return JS_NewBool(context, !is_no_script);
}

/* Compiles a module; returns what is to be evaluated. */
static JSValue compiled(const char *name, const char *source, size_t length)
{
    return JS_Eval(theirs, source, length, name, JS_EVAL_TYPE_MODULE | JS_EVAL_FLAG_COMPILE_ONLY);
}

/* Evaluates a module: its namespace, and the promise that it is done. */
NATIVE(native_module)
{
    size_t length;
    const char *name = JS_ToCString(context, given[0]), *source = JS_ToCStringLen(context, &length, given[1]);
    JSValue pair = JS_EXCEPTION;
    if (name && source) {
        JSValue module = compiled(name, source, length);
        if (!JS_IsException(module)) {
            JSModuleDef *definition = JS_VALUE_GET_PTR(module);
            JSValue done = JS_EvalFunction(theirs, module);
            if (!JS_IsException(done)) {
                pair = JS_NewArray(context);
                JS_SetPropertyUint32(context, pair, 0, JS_GetModuleNamespace(theirs, definition));
                JS_SetPropertyUint32(context, pair, 1, done);
            }
        }
    }
    JS_FreeCString(context, name);
    JS_FreeCString(context, source);
    return pair;
}

NATIVE(native_parse)
{
    size_t length;
    const char *text = JS_ToCStringLen(context, &length, given[0]);
    if (!text)
        return JS_EXCEPTION;
    JSValue value = JS_ParseJSON(theirs, text, length, "request");
    JS_FreeCString(context, text);
    return value;
}

/* Refuses numbers without a JSON form, and gives large integers all their digits. */
static JSValue replaced(JSContext *context, JSValueConst self, int count, JSValueConst *given)
{
    if (JS_IsBigInt(given[1])) {
        JSValue digits = JS_ToString(context, given[1]);
        if (JS_IsException(digits))
            return digits;
        JSValue raw = engine_raw_json(context, digits);
        JS_FreeValue(context, digits);
        return raw;
    }
    if (JS_IsNumber(given[1])) {
        double number;
        if (JS_ToFloat64(context, &number, given[1]))
            return JS_EXCEPTION;
        if (number - number != 0)
            return JS_ThrowTypeError(context, "no JSON");
        /* Beyond what a double tells apart, its digits are not those of an integer: an exponent says that it is none. */
        if (number >= 0x1p53 || number <= -0x1p53) {
            char digits[64];
            JSDTOATempMem memory;
            int length = js_dtoa(digits, number, 10, 0, JS_DTOA_FORMAT_FREE | JS_DTOA_EXP_ENABLED, &memory);
            JSValue text = JS_NewStringLen(context, digits, length);
            JSValue raw = JS_IsException(text) ? text : engine_raw_json(context, text);
            JS_FreeValue(context, text);
            return raw;
        }
    }
    return JS_DupValue(context, given[1]);
}

NATIVE(native_text)
{
    JSValue replacer = JS_NewCFunction(theirs, replaced, "", 2);
    JSValue text = JS_JSONStringify(theirs, given[0], replacer, JS_UNDEFINED);
    JS_FreeValue(theirs, replacer);
    return text;
}

NATIVE(native_error)
{
    return text_of(context, engine_error(theirs, given[0]));
}

NATIVE(native_kind)
{
    return text_of(context, engine_kind(theirs, given[0]));
}

NATIVE(native_state)
{
    return JS_NewInt32(context, JS_PromiseState(theirs, given[0]));
}

NATIVE(native_result)
{
    JS_PromiseMarkAsHandled(theirs, given[0]);
    return JS_PromiseResult(theirs, given[0]);
}

/* Does everything that promises wait for. */
NATIVE(native_jobs)
{
    JSContext *of;
    int status;
    while ((status = JS_ExecutePendingJob(runtime, &of)) > 0)
        ;
    return status < 0 ? JS_EXCEPTION : JS_UNDEFINED;
}

/* Returns the first promise that was rejected unseen, or nothing. */
NATIVE(native_unseen)
{
    return rejected_count ? JS_DupValue(context, rejected[0]) : JS_UNDEFINED;
}

static void on_rejection(JSContext *context, JSValueConst promise, JSValueConst reason, bool is_handled, void *opaque)
{
    for (unsigned i = 0; i < rejected_count; i++) {
        if (JS_VALUE_GET_PTR(rejected[i]) != JS_VALUE_GET_PTR(promise))
            continue;
        JS_FreeValue(context, rejected[i]);
        rejected_count--;
        memmove(rejected + i, rejected + i + 1, (rejected_count - i) * sizeof *rejected);
        break;
    }
    if (!is_handled && rejected_count < sizeof rejected / sizeof *rejected)
        rejected[rejected_count++] = JS_DupValue(context, promise);
}

NATIVE(native_write)
{
    size_t length, done = 0;
    int32_t file;
    if (JS_ToInt32(context, &file, given[0]))
        return JS_EXCEPTION;
    const char *text = JS_ToCStringLen(context, &length, given[1]);
    if (!text)
        return JS_EXCEPTION;
    while (done < length) {
        ssize_t more = write(file == 2 ? 2 : 1, text + done, length - done);
        if (more <= 0)
            break;
        done += more;
    }
    JS_FreeCString(context, text);
    return JS_UNDEFINED;
}

/* Returns all of the standard input that is left, as a text. */
NATIVE(native_read)
{
    size_t size = 1 << 16, length = 0;
    char *bytes = js_malloc(context, size);
    while (bytes) {
        ssize_t more = read(0, bytes + length, size - length);
        if (more <= 0)
            break;
        length += more;
        if (length == size) {
            char *larger = js_realloc(context, bytes, size *= 2);
            if (!larger)
                js_free(context, bytes);
            bytes = larger;
        }
    }
    if (!bytes)
        return JS_EXCEPTION;
    JSValue text = JS_NewStringLen(context, bytes, length);
    js_free(context, bytes);
    return text;
}

NATIVE(native_exit)
{
    int32_t status;
    if (JS_ToInt32(context, &status, given[0]))
        return JS_EXCEPTION;
    _Exit(status);
}

/* Returns milliseconds since the start of the instance. */
NATIVE(native_now)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return JS_NewFloat64(context, now.tv_sec * 1e3 + now.tv_nsec / 1e6);
}

NATIVE(native_sleep)
{
    double milliseconds;
    if (JS_ToFloat64(context, &milliseconds, given[0]))
        return JS_EXCEPTION;
    if (!(milliseconds > 0))
        return JS_UNDEFINED;
    if (milliseconds > 1e15)
        milliseconds = 1e15;
    struct timespec time = {(time_t)(milliseconds / 1e3), 0};
    time.tv_nsec = (long)((milliseconds - time.tv_sec * 1e3) * 1e6);
    nanosleep(&time, NULL);
    return JS_UNDEFINED;
}

NATIVE(native_bytes)
{
    uint32_t length;
    if (JS_ToUint32(context, &length, given[0]))
        return JS_EXCEPTION;
    uint8_t *bytes = js_malloc(context, length + 1);
    if (!bytes)
        return JS_EXCEPTION;
    for (uint32_t at = 0; at < length; at += 256)
        getentropy(bytes + at, length - at < 256 ? length - at : 256);
    JSValue array = JS_NewUint8ArrayCopy(context, bytes, length);
    js_free(context, bytes);
    return array;
}

/* The bytes of a text in UTF-8, and back. */
NATIVE(native_encode)
{
    size_t length;
    const char *text = JS_ToCStringLen(context, &length, given[0]);
    if (!text)
        return JS_EXCEPTION;
    JSValue array = JS_NewUint8ArrayCopy(context, (const uint8_t *)text, length);
    JS_FreeCString(context, text);
    return array;
}

NATIVE(native_decode)
{
    size_t length;
    uint8_t *bytes = JS_GetUint8Array(context, &length, given[0]);
    return bytes ? JS_NewStringLen(context, (char *)bytes, length) : JS_EXCEPTION;
}

/* Asks the host; the answer is as long as it says, and is written to where there is room. */
NATIVE(native_ask)
{
    size_t what_length, length;
    const char *what = JS_ToCStringLen(context, &what_length, given[0]);
    const char *request = JS_ToCStringLen(context, &length, given[1]);
    JSValue answer = JS_EXCEPTION;
    if (what && request) {
        uint32_t size = karat_ask(what, what_length, request, length);
        char *bytes = js_malloc(context, (size_t)size + 1);
        if (bytes) {
            karat_answer(bytes);
            answer = JS_NewStringLen(context, bytes, size);
            js_free(context, bytes);
        }
    }
    JS_FreeCString(context, what);
    JS_FreeCString(context, request);
    return answer;
}

/* Evaluates one of the files that this program has in it, in the realm of the caller or in the other. */
static JSValue evaluated(JSContext *context, const char *name, const char *source, size_t length)
{
    return JS_Eval(context, source, length, name, JS_EVAL_TYPE_GLOBAL | JS_EVAL_FLAG_STRICT);
}

NATIVE(native_library)
{
    return evaluated(context, "karat:library", library_source, sizeof library_source - 1);
}

NATIVE(native_values)
{
    return evaluated(context, "karat:values", values_source, sizeof values_source - 1);
}

NATIVE(native_answers)
{
    return evaluated(context, "karat:answers", answers_source, sizeof answers_source - 1);
}

NATIVE(native_suite)
{
    return evaluated(context, "karat:suite", suite_source, sizeof suite_source - 1);
}

static JSValue natives(JSContext *context);

/* Makes the surroundings of a submission: its files are found by what is returned. */
NATIVE(native_prelude)
{
    JSValue prelude = evaluated(theirs, "karat:prelude", prelude_source, sizeof prelude_source - 1);
    if (JS_IsException(prelude))
        return prelude;
    JSValue arguments[] = {natives(theirs), JS_DupValue(theirs, given[0])};
    JSValue made = JS_Call(theirs, prelude, JS_UNDEFINED, 2, (JSValueConst *)arguments);
    JS_FreeValue(theirs, arguments[0]);
    JS_FreeValue(theirs, arguments[1]);
    JS_FreeValue(theirs, prelude);
    if (!JS_IsException(made))
        load = JS_GetPropertyStr(theirs, made, "load");
    return made;
}

NATIVE(native_seed)
{
    double seed;
    if (JS_ToFloat64(context, &seed, given[0]))
        return JS_EXCEPTION;
    uint64_t bits;
    memcpy(&bits, &seed, sizeof bits);
    engine_seed(theirs, bits);
    return JS_UNDEFINED;
}

static JSValue natives(JSContext *context)
{
    static const JSCFunctionListEntry list[] = {
        JS_CFUNC_DEF("script", 2, native_script),   JS_CFUNC_DEF("module", 2, native_module),
        JS_CFUNC_DEF("is_script", 2, native_is_script), JS_CFUNC_DEF("was_script", 0, native_was_script),
        JS_CFUNC_DEF("parse", 1, native_parse),     JS_CFUNC_DEF("text", 1, native_text),
        JS_CFUNC_DEF("error", 1, native_error),     JS_CFUNC_DEF("kind", 1, native_kind),
        JS_CFUNC_DEF("state", 1, native_state),     JS_CFUNC_DEF("result", 1, native_result),
        JS_CFUNC_DEF("jobs", 0, native_jobs),       JS_CFUNC_DEF("unseen", 0, native_unseen),
        JS_CFUNC_DEF("write", 2, native_write),     JS_CFUNC_DEF("read", 0, native_read),
        JS_CFUNC_DEF("exit", 1, native_exit),       JS_CFUNC_DEF("now", 0, native_now),
        JS_CFUNC_DEF("sleep", 1, native_sleep),     JS_CFUNC_DEF("bytes", 1, native_bytes),
        JS_CFUNC_DEF("encode", 1, native_encode),   JS_CFUNC_DEF("decode", 1, native_decode),
        JS_CFUNC_DEF("ask", 2, native_ask),         JS_CFUNC_DEF("library", 0, native_library),
        JS_CFUNC_DEF("suite", 0, native_suite),     JS_CFUNC_DEF("answers", 0, native_answers),
        JS_CFUNC_DEF("values", 0, native_values),   JS_CFUNC_DEF("prelude", 1, native_prelude),
        JS_CFUNC_DEF("seed", 1, native_seed),
    };
    JSValue object = JS_NewObjectProto(context, JS_NULL);
    JS_SetPropertyFunctionList(context, object, list, sizeof list / sizeof *list);
    return object;
}

/* Sets what a module that is no source exports. */
static int fill(JSContext *context, JSModuleDef *module)
{
    JSValue exports = JS_GetModulePrivateValue(context, module);
    JSPropertyEnum *names;
    uint32_t count;
    int status = JS_GetOwnPropertyNames(context, &names, &count, exports, JS_GPN_STRING_MASK | JS_GPN_ENUM_ONLY);
    if (status == 0) {
        for (uint32_t i = 0; i < count; i++) {
            const char *name = JS_AtomToCString(context, names[i].atom);
            if (!name || JS_SetModuleExport(context, module, name, JS_GetProperty(context, exports, names[i].atom)) < 0)
                status = -1;
            JS_FreeCString(context, name);
        }
        JS_FreePropertyEnum(context, names, count);
    }
    JS_FreeValue(context, exports);
    return status;
}

/* Sets one export of a stand-in: what its function gives for the name. */
static int fill_one(JSContext *context, JSModuleDef *module, const char *name)
{
    JSValue make = JS_GetModulePrivateValue(context, module), argument = JS_NewString(context, name);
    JSValue value = JS_Call(context, make, JS_UNDEFINED, 1, (JSValueConst *)&argument);
    JS_FreeValue(context, argument);
    JS_FreeValue(context, make);
    return JS_IsException(value) ? -1 : JS_SetModuleExport(context, module, name, value);
}

static int fill_stand_in(JSContext *context, JSModuleDef *module)
{
    return engine_wanted(context, module, fill_one);
}

/*
 * Finds a module by its name. The prelude answers with a text, the source; with an object, whose members are the exports; or
 * with a function, which gives the value of each name that is imported.
 */
static JSModuleDef *find(JSContext *context, const char *name, void *opaque)
{
    JSValue argument = JS_NewString(context, name);
    JSValue found = JS_Call(context, load, JS_UNDEFINED, 1, (JSValueConst *)&argument);
    JSModuleDef *module = NULL;
    if (JS_IsString(found)) {
        size_t length;
        const char *source = JS_ToCStringLen(context, &length, found);
        JSValue value = source ? compiled(name, source, length) : JS_EXCEPTION;
        if (!JS_IsException(value)) {
            module = JS_VALUE_GET_PTR(value);
            JS_FreeValue(context, value);
        }
        JS_FreeCString(context, source);
    } else if (JS_IsFunction(context, found)) {
        module = JS_NewCModule(context, name, fill_stand_in);
        if (module && engine_wanted(context, module, engine_add_export) == 0)
            JS_SetModulePrivateValue(context, module, JS_DupValue(context, found));
        else
            module = NULL;
    } else if (JS_IsObject(found)) {
        JSPropertyEnum *names;
        uint32_t count;
        if (JS_GetOwnPropertyNames(context, &names, &count, found, JS_GPN_STRING_MASK | JS_GPN_ENUM_ONLY) == 0) {
            module = JS_NewCModule(context, name, fill);
            for (uint32_t i = 0; module && i < count; i++) {
                const char *member = JS_AtomToCString(context, names[i].atom);
                if (!member || JS_AddModuleExport(context, module, member) < 0)
                    module = NULL;
                JS_FreeCString(context, member);
            }
            JS_FreePropertyEnum(context, names, count);
            if (module)
                JS_SetModulePrivateValue(context, module, JS_DupValue(context, found));
        }
    }
    JS_FreeValue(context, found);
    JS_FreeValue(context, argument);
    return module;
}

/* Makes the interpreter and its realms. If there is too little memory for them, there is none, and each request is told. */
__attribute__((export_name("begin"))) void begin(void)
{
    JSRuntime *made = JS_NewRuntime();
    own = made ? JS_NewContext(made) : NULL;
    theirs = own ? JS_NewContext(made) : NULL;
    if (!theirs)
        return;
    JS_SetMaxStackSize(made, STACK);
    JS_SetModuleLoaderFunc(made, NULL, find, NULL);
    JS_SetHostPromiseRejectionTracker(made, on_rejection, NULL);
    JSValue guest = evaluated(own, "karat:guest", guest_source, sizeof guest_source - 1);
    JSValue native = natives(own);
    carry_out = JS_Call(own, guest, JS_UNDEFINED, 1, (JSValueConst *)&native);
    JS_FreeValue(own, native);
    JS_FreeValue(own, guest);
    if (!JS_IsException(carry_out))
        runtime = made;
}

__attribute__((export_name("room"))) char *room(size_t length)
{
    return malloc(length + 1);
}

__attribute__((export_name("run"))) uint64_t run(char *request, size_t length)
{
    const char *answer = NULL;
    size_t answer_length;
    if (runtime) {
        JSValue text = JS_NewStringLen(own, request, length);
        JSValue value = JS_Call(own, carry_out, JS_UNDEFINED, 1, (JSValueConst *)&text);
        JS_FreeValue(own, text);
        answer = JS_IsException(value) ? NULL : JS_ToCStringLen(own, &answer_length, value);
    }
    if (!answer) {
        answer = "!exception: InternalError";
        answer_length = strlen(answer);
    }
    return (uint64_t)(uintptr_t)answer << 32 | answer_length;
}
