// Calls every function of WASI (preview 1) with odd descriptors, lengths and pointers, and ends without an answer.
#include <stdint.h>

#define WASI(name) __attribute__((import_module("wasi_snapshot_preview1"), import_name(#name)))

typedef uint32_t u;
typedef uint64_t l;

WASI(args_get) int args_get(u, u);
WASI(args_sizes_get) int args_sizes_get(u, u);
WASI(environ_get) int environ_get(u, u);
WASI(environ_sizes_get) int environ_sizes_get(u, u);
WASI(clock_res_get) int clock_res_get(u, u);
WASI(clock_time_get) int clock_time_get(u, l, u);
WASI(fd_advise) int fd_advise(u, l, l, u);
WASI(fd_allocate) int fd_allocate(u, l, l);
WASI(fd_close) int fd_close(u);
WASI(fd_datasync) int fd_datasync(u);
WASI(fd_fdstat_get) int fd_fdstat_get(u, u);
WASI(fd_fdstat_set_flags) int fd_fdstat_set_flags(u, u);
WASI(fd_fdstat_set_rights) int fd_fdstat_set_rights(u, l, l);
WASI(fd_filestat_get) int fd_filestat_get(u, u);
WASI(fd_filestat_set_size) int fd_filestat_set_size(u, l);
WASI(fd_filestat_set_times) int fd_filestat_set_times(u, l, l, u);
WASI(fd_pread) int fd_pread(u, u, u, l, u);
WASI(fd_prestat_get) int fd_prestat_get(u, u);
WASI(fd_prestat_dir_name) int fd_prestat_dir_name(u, u, u);
WASI(fd_pwrite) int fd_pwrite(u, u, u, l, u);
WASI(fd_read) int fd_read(u, u, u, u);
WASI(fd_readdir) int fd_readdir(u, u, u, l, u);
WASI(fd_renumber) int fd_renumber(u, u);
WASI(fd_seek) int fd_seek(u, l, u, u);
WASI(fd_sync) int fd_sync(u);
WASI(fd_tell) int fd_tell(u, u);
WASI(fd_write) int fd_write(u, u, u, u);
WASI(path_create_directory) int path_create_directory(u, u, u);
WASI(path_filestat_get) int path_filestat_get(u, u, u, u, u);
WASI(path_filestat_set_times) int path_filestat_set_times(u, u, u, u, l, l, u);
WASI(path_link) int path_link(u, u, u, u, u, u, u);
WASI(path_open) int path_open(u, u, u, u, u, l, l, u, u);
WASI(path_readlink) int path_readlink(u, u, u, u, u, u);
WASI(path_remove_directory) int path_remove_directory(u, u, u);
WASI(path_rename) int path_rename(u, u, u, u, u, u);
WASI(path_symlink) int path_symlink(u, u, u, u, u);
WASI(path_unlink_file) int path_unlink_file(u, u, u);
WASI(poll_oneoff) int poll_oneoff(u, u, u, u);
WASI(proc_raise) int proc_raise(u);
WASI(random_get) int random_get(u, u);
WASI(sched_yield) int sched_yield(void);
WASI(sock_accept) int sock_accept(u, u, u);
WASI(sock_recv) int sock_recv(u, u, u, u, u, u);
WASI(sock_send) int sock_send(u, u, u, u, u);
WASI(sock_shutdown) int sock_shutdown(u, u);

// First what lies in memory, then its end, what is behind it, and the end of addresses.
static const u INSIDE[] = {1024, 1025, 2048, 4096};
static const u SHORT[] = {0, 1, 3, 8};
static const u ODD[] = {0, 1, 7, 65532, 65535, 65536, 131072, 0x7fffffff, 0x80000000, 0xfffffffc, 0xffffffff};
static const u LONG[] = {0, 8, 65536, 0x7fffffff, 0x80000000, 0xffffffff};
static const u DESCRIPTORS[] = {0, 1, 2, 3, 4, 1000, 0x7fffffff, 0xffffffff};

#define COUNT(of) (sizeof of / sizeof *of)
#define EACH(of, count, name) for (unsigned name##_ = 0; name##_ < count; name##_++) for (u name = of[name##_], name##once = 1; name##once; name##once = 0)

static void calls(const u *odd, unsigned odds, const u *lengths, unsigned count) {
    EACH(odd, odds, p) {
        args_get(p, p);
        args_sizes_get(p, p);
        environ_get(p, p);
        environ_sizes_get(p, p);
        sched_yield();
        EACH(DESCRIPTORS, COUNT(DESCRIPTORS), d) {
            clock_res_get(d, p);
            clock_time_get(d, p, p);
            fd_advise(d, p, p, d);
            fd_allocate(d, (l)p << 32, p);
            fd_datasync(d);
            fd_fdstat_get(d, p);
            fd_fdstat_set_flags(d, p);
            fd_fdstat_set_rights(d, p, p);
            fd_filestat_get(d, p);
            fd_filestat_set_size(d, (l)p << 31);
            fd_filestat_set_times(d, p, p, p);
            fd_prestat_get(d, p);
            fd_seek(d, (l)p << 32, d, p);
            fd_sync(d);
            fd_tell(d, p);
            EACH(lengths, count, n) {
                fd_prestat_dir_name(d, p, n);
                fd_read(d, p, n, p);
                fd_pread(d, p, n, p, p);
                // Never to standard output: what it says there is its answer.
                if (d != 1) fd_write(d, p, n, p), fd_pwrite(d, p, n, p, p);
                fd_readdir(d, p, n, p, p);
                path_create_directory(d, p, n);
                path_filestat_get(d, p, p, n, p);
                path_filestat_set_times(d, p, p, n, p, p, p);
                path_link(d, p, p, n, d, p, n);
                path_open(d, p, p, n, p, p, p, p, p);
                path_readlink(d, p, n, p, n, p);
                path_remove_directory(d, p, n);
                path_rename(d, p, n, d, p, n);
                path_symlink(p, n, d, p, n);
                path_unlink_file(d, p, n);
                poll_oneoff(p, p, n, p);
                random_get(p, n > 65536 ? n : n % 16);
                sock_accept(d, p, p);
                sock_recv(d, p, n, d, p, p);
                sock_send(d, p, n, d, p);
            }
            sock_shutdown(d, p);
            if (d > 2) fd_renumber(d, p), fd_close(d);
        }
    }
}

int main(void) {
    calls(INSIDE, COUNT(INSIDE), SHORT, COUNT(SHORT));
    calls(ODD, COUNT(ODD), LONG, COUNT(LONG));
    for (u n = 0; n < 40; n++) proc_raise(n);
    return 0;
}
