/* Runs CMD. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "command.h"

/* Gives the terminal to a group.  The caller may be in the background then, and
 * must not be stopped for that. */
static void give_terminal(pid_t group)
{
    sigset_t ttou, before;

    sigemptyset(&ttou);
    sigaddset(&ttou, SIGTTOU);
    sigprocmask(SIG_BLOCK, &ttou, &before);
    tcsetpgrp(STDIN_FILENO, group);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

/* evzk ignores SIGPIPE; a program expects the default. */
static void run(char **argv)
{
    signal(SIGPIPE, SIG_DFL);
    execvp(argv[0], argv);
    complain("cannot run %s: %s", argv[0], strerror(errno));
    _exit(errno == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_RUN);
}

/* In the child.  evzk may have died before prctl() was called: then no byte
 * comes.  Or evzk was stopped meanwhile, and the byte comes too late. */
static void become(char **argv, const int go[2], bool terminal, int64_t kill_us)
{
    char byte;

    close(go[1]);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (read(go[0], &byte, 1) != 1) {
        if (errno != EINTR)
            _exit(STATUS_LOST);
    }
    if (boottime_us() >= kill_us)
        _exit(STATUS_LOST);
    if (terminal)
        give_terminal(getpgrp());
    run(argv);
}

bool child_start(struct child *c, char **argv, struct watchdog *w,
                 int64_t kill_us)
{
    int go[2];

    if (pipe2(go, O_CLOEXEC))
        return false;
    c->terminal = tcgetpgrp(STDIN_FILENO) == getpgrp();
    c->pid = fork();
    if (c->pid == 0)
        become(argv, go, c->terminal, kill_us);
    close(go[0]);
    if (c->pid > 0) {
        setpgid(c->pid, c->pid); /* The child does the same. */
        watchdog_guard(w, c->pid, kill_us);
        if (write(go[1], "", 1) != 1)
            kill(c->pid, SIGKILL);
    }
    close(go[1]);
    if (c->pid > 0)
        return true;
    c->pid = 0;
    return false;
}

void child_hook(const char *command)
{
    char *argv[] = {"sh", "-c", NULL, NULL};

    if (fork() != 0)
        return;
    argv[2] = strdup(command);
    setpgid(0, 0);
    run(argv);
}

void child_signal(const struct child *c, int signo)
{
    if (c->pid <= 0)
        return;
    kill(-c->pid, signo);
    if (signo != SIGKILL && signo != SIGCONT)
        kill(-c->pid, SIGCONT); /* A stopped process hears nothing. */
}

/* A user's Ctrl-Z would keep the lock from others, and leave the terminal with
 * nobody.  A SIGSTOP is meant as it is. */
static void stopped(const struct child *c, int signo)
{
    if (signo == SIGSTOP)
        return;
    complain("a command that holds something for others cannot be suspended");
    kill(-c->pid, SIGCONT);
}

static void end(struct child *c, struct watchdog *w)
{
    kill(-c->pid, SIGKILL); /* Background processes that it has left. */
    watchdog_rest(w);
    if (c->terminal)
        give_terminal(getpgrp());
    waitpid(c->pid, NULL, 0);
    c->pid = 0;
}

bool child_reap(struct child *c, struct watchdog *w)
{
    siginfo_t info = {.si_pid = 0};

    if (c->pid <= 0 ||
        waitid(P_PID, (id_t)c->pid, &info,
               WEXITED | WSTOPPED | WNOHANG | WNOWAIT) ||
        info.si_pid == 0)
        return false;
    if (info.si_code == CLD_STOPPED) {
        stopped(c, info.si_status);
        return false;
    }
    c->status =
        info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
    end(c, w);
    return true;
}
