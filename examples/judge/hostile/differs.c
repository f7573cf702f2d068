// Writes what differs from run to run and from machine to machine elsewhere, and then uses it as a number of turns, so that the fuel
// differs wherever one of them does.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <math.h>

extern char **environ;

int main(int count, char **words) {
    uint64_t mixed = 14695981039346656037u;
#define MIX(value) mixed = (mixed ^ (uint64_t)(value)) * 1099511628211u
    struct timespec now;
    for (int clock = 0; clock < 3; clock++) {
        if (clock_gettime(clock == 0 ? CLOCK_REALTIME : CLOCK_MONOTONIC, &now) == 0) MIX(now.tv_sec), MIX(now.tv_nsec);
    }
    unsigned char bytes[64];
    if (getentropy(bytes, sizeof bytes) == 0) {
        for (unsigned at = 0; at < sizeof bytes; at++) MIX(bytes[at]);
    }
    MIX(count);
    for (int at = 0; at < count; at++) {
        for (char *sign = words[at]; *sign; sign++) MIX(*sign);
    }
    for (char **at = environ; at && *at; at++) MIX(**at);
    MIX((uintptr_t)malloc(100000));
    volatile double zero = 0, part = 0.1;
    union { double value; uint64_t bits; } nan = {zero / zero};
    MIX(nan.bits);
    for (int at = 1; at < 100; at++) {
        union { double value; uint64_t bits; } last = {sin(part * at) * exp(part * at) + pow(part, at)};
        MIX(last.bits);
    }
    for (uint64_t turn = mixed % 1000000; turn > 0; turn--) MIX(turn);
    printf("%llx\n", (unsigned long long)mixed);
    return 0;
}
