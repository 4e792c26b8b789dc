/**
 * @file evzk/evzk.h
 * ZooKeeper recipes for programs that live in a libevent loop.  Includes every
 * public header.  Each header can also be included alone.
 */
#ifndef EVZK_EVZK_H
#define EVZK_EVZK_H

#include <evzk/barrier.h>
#include <evzk/cache.h>
#include <evzk/chubby.h>
#include <evzk/config.h>
#include <evzk/consumer.h>
#include <evzk/double_barrier.h>
#include <evzk/election.h>
#include <evzk/error.h>
#include <evzk/group.h>
#include <evzk/guard.h>
#include <evzk/lease.h>
#include <evzk/lock.h>
#include <evzk/multi_lock.h>
#include <evzk/names.h>
#include <evzk/producer.h>
#include <evzk/queue.h>
#include <evzk/semaphore.h>
#include <evzk/session.h>
#include <evzk/shards.h>
#include <evzk/two_phase.h>
#include <evzk/value.h>
#include <evzk/version.h>

#endif
