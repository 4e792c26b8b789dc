/* Starts the processes, kills, freezes and drains them, and ends them. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "run.h"

#define LEAVE_US 5000000u

/* Before there is any event_base or session: neither may be used on both sides
 * of a fork. */
static void start(struct parent *p, unsigned who)
{
    int pair[2], out[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) || pipe(out)) {
        p->trouble = !complain("cannot start it", who);
        return;
    }
    p->pid[who] = fork();
    if (p->pid[who] == 0) {
        for (unsigned i = 0; i < who; i++)
            close(p->channel[i]); /* Else they would not see the parent end. */
        close(pair[0]);
        close(out[0]);
        exit(worker_run(p->opt, who, pair[1], out[1]));
    }
    close(pair[1]);
    close(out[1]);
    p->channel[who] = pair[0];
    p->pipe[who] = out[0];
    p->has[who] = p->pid[who] > 0;
    p->trouble |= !p->has[who];
}

static void kill_one(struct parent *p)
{
    did(p, DID_KILL, SUBJECT_KILL, 0);
    p->has[SUBJECT_KILL] = false;
    kill(p->pid[SUBJECT_KILL], SIGKILL);
}

static void kill_server(struct parent *p)
{
    if (system(p->opt->kill) != 0)
        p->trouble = !complain("no ZooKeeper server was killed", 0);
}

void act(struct parent *p, enum phase phase)
{
    switch (phase) {
    case JOIN:
        for (unsigned i = 0; i < PROCESSES - 1; i++)
            start(p, i);
        break;
    case ADD:
        start(p, PROCESSES - 1);
        break;
    case KILL:
        kill_one(p);
        break;
    case FREEZE:
        p->has[SUBJECT_FREEZE] = false;
        kill(p->pid[SUBJECT_FREEZE], SIGSTOP);
        break;
    case THAW:
        p->has[SUBJECT_FREEZE] = true;
        kill(p->pid[SUBJECT_FREEZE], SIGCONT);
        break;
    case DRAIN:
        p->has[SUBJECT_DRAIN] = false;
        send(p->channel[SUBJECT_DRAIN], "d", 1, MSG_NOSIGNAL);
        break;
    case SERVER:
        kill_server(p);
        break;
    case PHASES:
        break;
    }
}

/* Waits for the process to close its session, and to end; reads its last
 * events. */
static void wait_for(struct parent *p, unsigned who, uint64_t by)
{
    static const struct timespec pause = {0, 1000000};
    int status = 0;

    while (waitpid(p->pid[who], &status, WNOHANG) == 0) {
        if (now_us() > by)
            kill(p->pid[who], SIGKILL);
        if (p->pipe[who] >= 0)
            listen_to_all(p);
        else
            nanosleep(&pause, NULL);
    }
    if (status && who != SUBJECT_KILL)
        p->trouble = !complain("it did not end as it should", who);
}

/* Hangs up on all. */
void dismiss(struct parent *p)
{
    uint64_t by = now_us() + LEAVE_US;

    for (unsigned i = 0; i < PROCESSES; i++) {
        p->has[i] = false;
        if (p->pid[i] > 0) {
            close(p->channel[i]);
            kill(p->pid[i], SIGCONT);
        }
    }
    for (unsigned i = 0; i < PROCESSES; i++) {
        if (p->pid[i] > 0)
            wait_for(p, i, by);
        if (p->pipe[i] >= 0)
            close(p->pipe[i]);
        p->pipe[i] = -1;
    }
}
