/*
 * still.c: makes a build find the same surroundings everywhere, so that the same input gives the same bytes.
 *
 * Loaded with LD_PRELOAD. Random bytes are all alike, clocks stand, and of files only type, size and content differ: times,
 * devices, blocks and numbers of inodes are fixed. Folders are listed in the order of names. The calls are caught below the C
 * library by a seccomp filter, because programs make them directly. Linux on x86-64 and aarch64.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

/* The sixth argument of the calls that the handler makes itself: none of them uses it. */
#define OWN 0x6b617261UL
#define MOMENT 1767225600

#if defined(__x86_64__)
static long call(long n, long a, long b, long c, long d, long e)
{
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = (long)OWN;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}
#define ARGUMENT(context, i) ((long)(context)->uc_mcontext.gregs[(const int[]){REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8}[i]])
#define RESULT(context) ((context)->uc_mcontext.gregs[REG_RAX])
#elif defined(__aarch64__)
static long call(long n, long a, long b, long c, long d, long e)
{
    register long x8 __asm__("x8") = n;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = (long)OWN;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    return x0;
}
#define ARGUMENT(context, i) ((long)(context)->uc_mcontext.regs[i])
#define RESULT(context) ((context)->uc_mcontext.regs[0])
#else
#error "no Linux on x86-64 or aarch64"
#endif

static void stand(struct timespec *time)
{
    time->tv_sec = MOMENT;
    time->tv_nsec = 0;
}

static void level_stat(struct stat *file)
{
    int is_folder = S_ISDIR(file->st_mode);
    file->st_dev = 1;
    file->st_ino = is_folder ? 1 : 2 + (ino_t)file->st_size;
    stand(&file->st_atim);
    stand(&file->st_mtim);
    stand(&file->st_ctim);
    file->st_nlink = 1;
    if (is_folder)
        file->st_size = 4096;
    file->st_blksize = 4096;
    file->st_blocks = (file->st_size + 511) / 512;
}

static void level_statx(struct statx *file)
{
    struct statx_timestamp moment = {.tv_sec = MOMENT};
    int is_folder = S_ISDIR(file->stx_mode);
    file->stx_dev_major = 0;
    file->stx_dev_minor = 1;
    file->stx_ino = is_folder ? 1 : 2 + file->stx_size;
    file->stx_atime = file->stx_btime = file->stx_ctime = file->stx_mtime = moment;
    file->stx_nlink = 1;
    if (is_folder)
        file->stx_size = 4096;
    file->stx_blksize = 4096;
    file->stx_blocks = (file->stx_size + 511) / 512;
}

/* What getdents64 fills its buffer with. */
struct entry {
    uint64_t inode;
    int64_t next;
    uint16_t length;
    uint8_t type;
    char name[];
};

#define LISTING (1 << 20)
#define ENTRIES 16384
#define FOLDERS 64

static int by_name(const void *a, const void *b)
{
    return strcmp((*(struct entry *const *)a)->name, (*(struct entry *const *)b)->name);
}

/* Lists a folder in the order of names: reads all of it each time, and goes on after the entries that were handed out. */
static long sorted(long folder, char *buffer, long size)
{
    static char bytes[LISTING] __attribute__((aligned(8)));
    static struct entry *entries[ENTRIES];
    static struct { long folder, handed_out; } places[FOLDERS];
    long used = 0, count = 0, filled = 0, place = -1, got;
    /* The kernel's position is at the end after the first call, and at the start before it. */
    int is_start = call(SYS_lseek, folder, 0, SEEK_CUR, 0, 0) == 0;
    call(SYS_lseek, folder, 0, SEEK_SET, 0, 0);
    while ((got = call(SYS_getdents64, folder, (long)bytes + used, LISTING - used, 0, 0)) > 0) {
        for (long at = used; at < used + got; at += ((struct entry *)(bytes + at))->length) {
            if (count == ENTRIES)
                return -EOVERFLOW;
            entries[count++] = (struct entry *)(bytes + at);
        }
        used += got;
    }
    if (got < 0)
        return got;
    qsort(entries, (size_t)count, sizeof *entries, by_name);
    for (int i = 0; i < FOLDERS; i++)
        if (places[i].folder == folder + 1 || (!places[i].folder && place < 0))
            place = i;
    if (place < 0)
        return -ENFILE;
    if (is_start || places[place].folder != folder + 1)
        places[place].handed_out = 0;
    places[place].folder = folder + 1;
    for (long at = places[place].handed_out; at < count && filled + entries[at]->length <= size; at++) {
        struct entry *copy = (struct entry *)(buffer + filled);
        memcpy(copy, entries[at], entries[at]->length);
        copy->inode = 1;
        copy->next = ++places[place].handed_out;
        filled += copy->length;
    }
    if (filled == 0)
        places[place].folder = 0;
    return filled;
}

static void on_call(int signal, siginfo_t *info, void *given)
{
    ucontext_t *context = given;
    int before = errno;
    long n = info->si_syscall, result;
    long a = ARGUMENT(context, 0), b = ARGUMENT(context, 1), c = ARGUMENT(context, 2);
    long d = ARGUMENT(context, 3), e = ARGUMENT(context, 4);
    (void)signal;
    switch (n) {
    case SYS_getrandom:
        memset((void *)a, 0x5a, (size_t)b);
        result = b;
        break;
    case SYS_clock_gettime:
        stand((struct timespec *)b);
        result = 0;
        break;
    case SYS_getdents64: {
        static volatile char lock;
        while (__atomic_test_and_set(&lock, __ATOMIC_ACQUIRE))
            ;
        result = sorted(a, (char *)b, c);
        __atomic_clear(&lock, __ATOMIC_RELEASE);
        break;
    }
    default:
        result = call(n, a, b, c, d, e);
        if (result == 0 && n == SYS_statx)
            level_statx((struct statx *)e);
        else if (result == 0)
            level_stat((struct stat *)(n == SYS_newfstatat ? c : b));
    }
    errno = before;
    RESULT(context) = result;
}

/* Those of the C library that make no call of the kernel, or not always. */
ssize_t getrandom(void *bytes, size_t count, unsigned flags)
{
    (void)flags;
    memset(bytes, 0x5a, count);
    return (ssize_t)count;
}

int getentropy(void *bytes, size_t count)
{
    memset(bytes, 0x5a, count);
    return 0;
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    (void)clock;
    stand(time);
    return 0;
}

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define CATCH(n)                                                                                                            \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, n, 0, 4), LOAD(args[5]), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)OWN, 1, 0), \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP), LOAD(nr)

__attribute__((constructor)) static void begin(void)
{
    struct sigaction action = {0};
    struct sock_filter filter[] = {
        LOAD(nr),
        CATCH(SYS_statx),
        CATCH(SYS_newfstatat),
        CATCH(SYS_fstat),
#ifdef SYS_stat
        CATCH(SYS_stat),
        CATCH(SYS_lstat),
#endif
        CATCH(SYS_getdents64),
        CATCH(SYS_getrandom),
        CATCH(SYS_clock_gettime),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    action.sa_sigaction = on_call;
    action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART;
    if (sigaction(SIGSYS, &action, NULL) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        || syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program)) {
        static const char words[] = "still.c: this system allows no filter of calls (seccomp)\n";
        if (write(2, words, sizeof words - 1) < 0) {
        }
        _exit(99);
    }
}
