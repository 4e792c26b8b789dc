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
#include "connect.h"

/* Of evzk's caller. */
static void (*caller_pipe)(int) = SIG_DFL;
static sigset_t caller_mask;

void child_prepare(void)
{
    sigset_t unblocked;

    sigemptyset(&unblocked);
    sigaddset(&unblocked, SIGCHLD);
    sigprocmask(SIG_UNBLOCK, &unblocked, &caller_mask);
    caller_pipe = signal(SIGPIPE, SIG_IGN);
}

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

static void run(char **argv)
{
    signal(SIGPIPE, caller_pipe);
    sigprocmask(SIG_SETMASK, &caller_mask, NULL);
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
    c->stopped = false;
    c->terminal = tcgetpgrp(STDIN_FILENO) == getpgrp();
    c->pid = fork();
    if (c->pid == 0)
        become(argv, go, c->terminal, kill_us);
    close(go[0]);
    if (c->pid > 0) {
        setpgid(c->pid, c->pid); /* The child does the same. */
        if (!watchdog_guard(w, c->pid, kill_us) || write(go[1], "", 1) != 1)
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

static void on_passed_on(evutil_socket_t signo, short what, void *arg)
{
    (void)what;
    child_signal(arg, (int)signo);
}

static bool pass_on(struct child *c, struct event_base *base, int i, int signo)
{
    if (signal_ignored(signo))
        return true;
    c->passed_on[i] = evsignal_new(base, signo, on_passed_on, c);
    return c->passed_on[i] && event_add(c->passed_on[i], NULL) == 0;
}

bool child_pass_on(struct child *c, struct event_base *base)
{
    return pass_on(c, base, 0, SIGUSR1) && pass_on(c, base, 1, SIGUSR2);
}

void child_free(struct child *c)
{
    for (int i = 0; i < 2; i++) {
        if (c->passed_on[i])
            event_free(c->passed_on[i]);
    }
}

bool child_stands(struct child *c)
{
    if (c->pid <= 0 || !c->stopped)
        return false;
    if (tcgetpgrp(STDIN_FILENO) != getpgrp())
        return true;
    c->terminal = true;
    c->stopped = false;
    give_terminal(c->pid);
    kill(-c->pid, SIGCONT);
    return false;
}

/* A user's Ctrl-Z would keep the lock from others, and leave the terminal with
 * nobody.  A SIGSTOP is meant as it is.  In the background CMD would stop again
 * at once for want of the terminal. */
static void stopped(struct child *c, int signo)
{
    bool again = c->stopped;

    if (signo == SIGSTOP)
        return;
    if (signo == SIGTSTP) {
        complain("a command that holds something for others cannot be "
                 "suspended");
        kill(-c->pid, SIGCONT);
        return;
    }
    c->stopped = true;
    if (child_stands(c) && !again)
        complain("the command is stopped, since it needs the terminal: bring "
                 "evzk to the foreground, or end it");
}

static void end(struct child *c, struct watchdog *w)
{
    kill(-c->pid, SIGKILL); /* Background processes that it has left. */
    watchdog_rest(w);
    if (c->terminal && tcgetpgrp(STDIN_FILENO) == c->pid)
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
        int signo = info.si_status;

        /* Heard: no other SIGCHLD brings the same stop again. */
        waitid(P_PID, (id_t)c->pid, &info, WSTOPPED | WNOHANG);
        stopped(c, signo);
        return false;
    }
    c->status =
        info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
    end(c, w);
    return true;
}
