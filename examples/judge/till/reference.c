// A till: sales, payments and corrections on standard input, a receipt on standard output.
// Only `read` and `write`, so that the module is small.
#include <stdint.h>
#include <unistd.h>

#define SALES 4096

static char text[1 << 20];
static int64_t sales[SALES];

static void put(const char *bytes, int length) {
    while (length > 0) {
        ssize_t written = write(1, bytes, (size_t)length);
        if (written <= 0) _exit(1);
        bytes += written;
        length -= (int)written;
    }
}

static void say(const char *words) {
    int length = 0;
    while (words[length]) length++;
    put(words, length);
}

static void money(int64_t cents) {
    char digits[24];
    int at = 24, count = 0;
    uint64_t left = cents < 0 ? 0 - (uint64_t)cents : (uint64_t)cents;
    do {
        digits[--at] = (char)('0' + left % 10);
        left /= 10;
        if (++count == 2) digits[--at] = '.';
    } while (left > 0 || count < 3);
    if (cents < 0) digits[--at] = '-';
    put(digits + at, 24 - at);
}

static int is_space(char sign) { return sign == ' ' || sign == '\t' || sign == '\r'; }

// Reads digits, at most two of them after a point, as hundredths; -1 if it is anything else or above 10^15.
static int64_t amount(const char *from, const char *to, int decimals) {
    int64_t value = 0;
    int after = -1;
    if (from == to || *from == '.') return -1;
    for (; from < to; from++) {
        if (*from == '.' && after < 0 && decimals) {
            after = 0;
            continue;
        }
        if (*from < '0' || *from > '9' || after == 2) return -1;
        value = value * 10 + (*from - '0');
        if (after >= 0) after++;
        if (value > 1000000000000000) return -1;
    }
    if (after == 0) return -1;
    for (after = after < 0 ? 0 : after; decimals && after < 2; after++) value *= 10;
    return value;
}

static int is(const char *from, const char *to, const char *word) {
    while (from < to && *word && *from == *word) from++, word++;
    return from == to && !*word;
}

int main(void) {
    int length = 0;
    for (;;) {
        ssize_t got = read(0, text + length, sizeof text - (size_t)length);
        if (got <= 0) break;
        length += (int)got;
    }
    int64_t total = 0;
    int count = 0;
    const char *end = text + length;
    for (const char *line = text; line < end;) {
        const char *stop = line;
        while (stop < end && *stop != '\n') stop++;
        const char *word[4][2];
        int words = 0;
        for (const char *at = line; at < stop;) {
            while (at < stop && is_space(*at)) at++;
            if (at == stop) break;
            const char *from = at;
            while (at < stop && !is_space(*at)) at++;
            if (words < 4) word[words][0] = from, word[words][1] = at;
            words++;
        }
        line = stop + 1;
        if (words == 0) continue;
        int is_known = 0;
        if (is(word[0][0], word[0][1], "sell") && (words == 2 || words == 3) && count < SALES) {
            int64_t price = amount(word[1][0], word[1][1], 1);
            int64_t pieces = words == 3 ? amount(word[2][0], word[2][1], 0) : 1;
            if (price >= 0 && pieces > 0 && pieces <= 1000000 && price <= 1000000000) {
                sales[count++] = price * pieces;
                total += price * pieces;
                is_known = 1;
            }
        } else if (is(word[0][0], word[0][1], "void") && words == 1) {
            // The last sale that is still there.
            if (count > 0) total -= sales[--count];
            is_known = 1;
        } else if (is(word[0][0], word[0][1], "total") && words == 1) {
            say("total ");
            money(total);
            say("\n");
            is_known = 1;
        } else if (is(word[0][0], word[0][1], "pay") && words == 2) {
            int64_t paid = amount(word[1][0], word[1][1], 1);
            if (paid >= 0) {
                is_known = 1;
                if (paid < total) {
                    say("short ");
                    money(total - paid);
                } else {
                    say("change ");
                    money(paid - total);
                    total = 0;
                    count = 0;
                }
                say("\n");
            }
        }
        if (!is_known) say("what?\n");
    }
    return 0;
}
