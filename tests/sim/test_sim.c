/* The simulated world itself, and what must stay mended: schedules that once
 * showed a defect of the library, played again.  Also a small part of what the
 * explorer does, for the sanitizers and Valgrind, where nothing can be saved.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "coverage.h"
#include "processes.h"
#include "search.h"
#include "tests/real/support/support.h" /* RUNNING_ON_VALGRIND */
#include "world.h"

/* Found by the explorer, or by chance, before the library was mended.  A row
 * speaks only as long as scenes and timing stay as they are. */
static const struct kept {
    const char *recipe, *schedule;
    uint64_t seed;
    const char *was; /* The defect of that time. */
} kept[] = {
    /* clang-format off */
{"two-phase-site-tx", "restart-deleted:", 1, "a site that started again took its entry away without a word: it had voted to commit, and somebody had deleted the transaction"},
{"two-phase-site-tx", "restart-copied:", 1, "a site was told again that a transaction is foreign, when its coordinator died"},
{"two-phase-site-tx", "restart-written:", 1, "the same, of one that was written over"},
{"two-phase-site-tx", "newer:", 1, "a site took away what it had of a transaction of a newer format"},
{"two-phase-site-tx", "restart-copied:132=expire,194=call@abort", 1, "a coordinator that was to stop decided over a copy of a transaction that was decided: its watch had gone with its session"},
{"two-phase-site-tx", "restart-copied:110=refuse,117=delete-own@0,203=forge-vote@1", 1, "the same, behind a lost connection: it saw that nobody had written to the copy"},
{"two-phase", "decide-denied:94=lost-refused,481=partition", 1, "the rule had a site go on that was done, where a coordinator was refused still"},
{"two-phase-site-tx", "presence-leaves:151=call@free,152=hangs-up", 1, "a site that was freed was there still: servers hung up at its question whose znode stands"},
{"two-phase-site-tx", "presence-leaves:157=forge-vote@0,183=callback@1/free", 1, "the same, of a site that was told the decision and had not taken it over"},
{"two-phase-site-tx", "presence-leaves:48=starve,164=malform@61,179=malform@15", 1, "a site took away what it had of a transaction, and had heard meanwhile that somebody had written to that"},
{"two-phase", "site-dies:145=malform@31,250=outage,324=oom-on@2,809=malform@16", 1, "the rule had a site know of a text that was spoilt when the site had read it"},
{"two-phase", "foreign:214=partition,214=malform@76,581=malform@15", 1, "the same, behind the end of its session"},
{"two-phase-site-tx", "coordinator-frozen:81=freeze,185=call@abort,327=malform@51", 1, "the rule had a site remove a transaction to which somebody had written, and of which the site was told so"},
{"two-phase-site", "inbox-many:45=freeze-short,123=forge-vote@1,209=follower,222=delete-own@1,391=oom-on@7,453=oom-on@11,650=oom@12,658=call@free,842=hangs-up", 1, "two decisions at which the servers hang up were asked for again and again: each time the sites asked for so much else that nobody was to blame"},
{"two-phase-site-tx", "restart-copied:94=throttle-reads,156=oom@6,168=slow,169=call@abort,173=hold-replies", 580561951, "a coordinator that was to stop while it listed decided over a copy: it had not looked at the answer"},
{"two-phase-query", "look-up-newer:", 1, "a look-up did not show a transaction of a newer format"},
{"two-phase-query", "look-up-orphan:183=hangs-up", 1, "a site was told every half minute that the servers hang up"},
{"two-phase", "decide-denied:", 1, "a coordinator gave up when its decision was refused, and the sites waited as long as its session lived"},
{"two-phase", "decide-denied-timeout:", 1, "the same, and its time was over"},
{"two-phase", "recover-copied:", 1, "a successor decided to abort a copy of a transaction that was decided to commit"},
{"two-phase", "successor-races:143=malform@3", 1, "a site that had voted to commit took its vote back, since the transaction's text had been written over"},
{"two-phase-site-tx", "presence-leaves:854=malform@4", 1, "the same, by the variant with presence"},
{"shards", "closes-sealed:83=foreign-curator,140=hold-requests", 1, "a shard's FAILED was told in a session that was closed, though nothing is tried again there"},
{"election", "elect-blind:97=replace-own@1", 1, "the rule had only a candidate whose znode stands replace the leader of whom nothing stands"},
{"election-dialect", "curator-latch:0=oom-on@12,60=throttle-reads,110=set-own@1,148=call@volunteer", 1, "the rule took a leader's znode for another's that its own session had left behind"},
{"shards", "planner-drains:147=callback@1/free,159=callback@1/join,162=late,213=call@join,239=slow,239=oom-on@2,253=lagging@1,258=delete-batch,346=replace-away@1,399=lagging@2,441=cut", 1, "five connections ended by chance at one request, and the rule allowed no verdict"},
{"two-phase", "together-timeout:89=forge-vote@0,154=oom-on@4,236=call@free", 1, "the rule took a site for done whose entry stood"},
{"two-phase-site-tx", "presence-dies:50=oom-on@11,129=freeze-short,135=lagging@1,146=oom-on@11,197=malform@75,243=forge-vote@2", 1, "the rule knew no vote that was forged for a site that had gone before the decision"},
{"two-phase-query", "look-up-orphan:5=slow,14=oom-on@10,108=oom-on@7,251=oom-on@3,291=oom@4,330=hold-replies,432=malform@66", 1, "the rule knew no text that was written over behind a decision"},
{"write-once", "expires:35=oom-on@12,125=oom@7,163=slow,204=hide-members,313=lagging@1,336=slow", 1, "the rule did not see a lease that ended and began again in one loop step"},
{"lock", "urgent-leave:86=copy-beside@1,178=throttle-reads", 1, "a lock that had taken an operator's copy for its own ended, CANCELED, while its znode stood"},
{"election", "elect-blind:111=deny,117=deny", 1, "the rule had a leader znode go behind its candidate's, where both were denied"},
{"double-barrier", "step-short:2=oom@10,37=hold-replies,54=late,89=copy-ready,110=expire", 1, "the copy of `ready` that was removed was another by then"},
{"two-phase-site-tx", "site-aborts-slowly:170=forge-vote@1,622=freeze", 1, "a coordinator waited for ever: it had asked once whether a site's entry stands, and missed the change behind that"},
{"two-phase-site-tx", "site-written:203=forge-vote@1", 1, "a site took its vote to commit back, beside which another was forged"},
{"two-phase-site", "inbox-many:224=late,336=malform@6,392=forge-vote@3", 1, "the same, behind a site that started again"},
{"value-writer", "add-bad:17=oom-on@5,184=malform@8", 1, "the rule knew no sum that is too great"},
{"semaphore", "semaphore-reaped-two:0=oom-on@11,99=partition,204=expire-after,255=oom-on@4,270=malform@11,310=deny", 1, "the rule took a left-over that was written over for another attempt's lock"},
{"shards", "two:74=malform@14", 1, "a member whose znode had been written over, and put right, was in no plan until another member came or went"},
{"watch-node", "alone:37=malform@21", 1, "the same, where it had said for a while that its weight is 0"},
{"shards", "closes-sealed:95=call@drain", 1, "DRAINED said that a znode could not be deleted, which had gone with the session"},
{"shards", "names-differ:173=malform@5", 1, "the rule could not read a plan with a member's odd bytes"},
{"election", "elect-away:5=oom-on@8,148=oom-on@5,237=throttle-reads,257=oom-on@1", 1, "the rule wanted RESUMED from who could not look"},
{"two-phase-site-tx", "site-written:165=partition", 1, "a site took back a vote whose answer was lost"},
{"two-phase-site", "inbox-many:179=outage,490=oom-on@7,774=oom-on@3,834=malform@53", 1, "the same, with two sites"},
{"two-phase-site-tx", "coordinator-frozen:123=oom-on@8,129=expire,180=call@abort,191=late-at@2,212=call@free,230=call@stop,262=call@free", 1, "the rule wanted an end in time of a process that was frozen meanwhile"},
{"value-writer", "add-bad:37=expire,71=malform@1", 1, "the rule took an operator's number for a sum"},
{"queue", "queue-moves:23=spoil@1,35=spoil@1,42=spoil@1", 1, "the rule took an item that had gone for the one that is hidden"},
{"semaphore", "semaphore-reaped-two:92=oom-on@4,190=replace-away@1,203=oom@11", 1, "an attempt took a lease with the count from before a lost connection, and another had one"},
{"chubby", "chubby-between:71=oom@12,87=callback@1/set", 1, "a write landed in the file that came next, since the first one's anchor went while it was looked for"},
{"barrier", "wait-behind:50=call@cancel", 1, "a canceled wait was told so when the server had answered"},
{"config", "get-root-comes:41=hold-replies", 1, "a query's time-out waited for the answer"},
{"value", "follow-root-comes:42=call@cancel", 1, "a canceled follower was told so when the server had answered"},
{"config-write", "set-if-late:40=hold-replies", 1, "a replacement's time-out waited for the answer"},
{"config-write", "set:31=call-still@cancel", 1, "so did its cancel"},
{"chubby", "chubby-missing:14=hold-replies", 1, "an open's time-out waited for the answer"},
{"chubby", "chubby-open:15=call-still@close", 1, "so did the close of a handle that was not open yet"},
{"lock-revoke", "revoke-chroot:26=call-still@cancel-revoke", 1, "a canceled revocation was told so when the server had answered"},
{"double-barrier", "step-numbers-end:69=partition", 1, "a participant that had given up was silent behind its time-out, until its znode had gone"},
{"chubby-lock", "chubby-poison-events:89=oom-on@2,97=foreign,189=oom-on@11", 1, "the queue's front was told off a listing that was half taken over"},
{"chubby-anchor", "chubby-litter:169=slow,180=copy-beside@0", 1, "a cache that was freed while the connection was lost never ended"},
{"shards", "differs:119=oom-on@3,134=cut,245=call@join,604=hide-plan,630=copy-member@0,713=follower", 1, "a member gave up over plans for other shards that had named a znode it had lost"},
{"config", "follow-first:39=hold-replies,161=malform@9,248=delete-all", 1, "the rule did not count the tries that made the directory"},
{"config", "follow-long:476=freeze,483=call@close-session,520=malform@12,559=hide-delete@0", 1, "the rule took what a fault had written for an update's"},
{"group", "member-one-leaves:61=throttle-writes", 1, "a member whose deletes were refused left its name and its claim in a session that lived on"},
{"group", "member-rivals:193=hide-change@0,320=call@delete-both,320=oom-on@3", 1, "a member that left had to wait for memory, and deleted what was another's by then"},
{"cache", "cache-tree:98=hide-change@2,247=oom-on@2", 1, "what was to be looked at when there was no memory waited for another round"},
{"two-phase-site-tx", "coordinator-dies-done:141=cut,149=malform@18,327=freeze", 1, "a site that waited behind a spoilt text was deaf behind a lost connection"},
{"group", "member-viewed:108=throttle-writes,120=hangs-up", 1, "the rule had a member that fails at a hang-up get away, though servers refuse"},
{"names", "names-expire:94=oom@10,125=hangs-up,275=throttle-writes", 1, "the same, of an endpoint"},
{"two-phase-site", "inbox-many:147=oom@8,179=malform@54,282=call@stop,421=forge-vote@2", 1, "the rule had a site see an entry beside which a vote was forged, which it had told"},
{"write-once", "expires:9=lagging@1,32=lagging@2,160=starve,193=copy-member@0,232=malform@13,414=throttle-reads", 1, "the rule took a candidate's end, since servers refused, for that of all shards"},
{"watch-node", "later:166=call@join,407=seize-own@0,426=foreign,435=replace-own@0,456=slow", 1, "a transaction that resigns was sent again, though its candidate had heard that its own znode was gone: it deleted what came in its place, and the leader znode of another"},
{"tidy", "tidy-two:2=oom-on@9,125=expire,157=oom-on@5,217=callback@2/close,268=foreign-lower", 2347339497, "the rule had no item that was claimed come to a consumer that claims nothing"},
{"tidy", "tidy-two:62=oom-on@5,143=oom-on@1,272=day", 1, "a tidier had to wait for memory, went on by its old list, and deleted the receipt of a consumer that lived"},
{"tidy", "tidy-two:119=cut-after,161=oom-on@5,220=call@close-session", 1, "the rule had a consumer that its session's end takes by surprise say what a removal did, for which it had no memory to ask"},
{"group", "member-sealed:53=hangs-up,74=set-own@0", 1, "the rule had an update fail alone that is too large, where the data before it were written over and cannot be put back"},
{"group", "member-long:49=hangs-up,111=malform@15", 1, "the same, of data that are malformed"},
{"tidy", "tidy-two:65=cut-after,156=hold-requests,260=day,290=call-still@cancel", 1, "the same, behind a lost connection"},
{"tidy", "tidy:105=hangs-up", 1, "while that was mended: a list was read again, for ever, at whose receipt the servers hang up"},
{"value-writer", "set-tidies:29=call@write,50=oom@8", 1, "a tidier ended, since it had no memory for the names, and the receipt of a killed writer stayed"},
{"producer", "put-small-buffer:", 1, "small puts that were too large only together were told that they are too large"},
{"producer", "put:59=cut-after,80=hangs-up", 1, "a put was told as too large, and was done before the servers hung up at it"},
{"producer", "put-too-large:254=hold-requests", 1, "behind an item that was too large one lost connection proved that the next one was, too"},
{"multi-lock", "multi-lock-stolen-two:79=copy-beside@1,108=hold-replies,152=oom@12,184=replace-away@1,231=oom-on@11,261=freeze-short", 3040867775, "a multi-lock asked itself, again and again, within one step of the loop, whether a part had heard of a new connection, and so kept it from hearing"},
{"lock", "remade-wrap:30=remake-away@0", 1, "the end of a znode by hand, half the ring of numbers before its watcher, was heard by nobody, where others of the session stood behind"},
{"observer", "observe-wrap:8=hold-replies,161=remake-away@0,201=call@volunteer", 1, "the same, of candidates"},
{"election", "elect-wrap-own:82=copy-beside@1,173=throttle-reads", 1, "the rule did not know that a candidate which gives up hands over"},
{"lock-dialect", "curator-shared:37=callback@1/close-session,84=oom-on@9,91=copy-beside@0,152=hangs-up,241=throttle-writes", 1, "the same, of a lock at whose reading the servers hang up"},
{"election", "elect-deleted-late:92=call@volunteer,181=replace-away@1", 1, "the rule had only a candidate that stands replace the leader znode of one whose znode was deleted, and not one in whose place a copy came meanwhile"},
{"observer", "observe-two:65=hangs-up,202=call@observe", 1, "the scene had an observer outlast whoever waits behind what its own session has left"},
{"election-dialect", "kazoo-election:61=hangs-up,241=call@observe", 1, "the same, of the other process"},
{"lock", "chain-broken-first:94=hangs-up,146=throttle-reads", 1, "the rule had a lock that fails at a hang-up get away, though servers refuse"},
{"lock-dialect", "curator-shared:176=hangs-up,204=throttle-reads", 1, "the same, in Curator's dialect"},
{"lock-revoke", "revoke-away:38=refuse,75=set-own@1,77=hangs-up,230=throttle-reads", 1, "the same, beside a revocation"},
{"election-dialect", "curator-latch:94=hangs-up,152=throttle-reads", 1, "the same, of a candidate"},
{"observer", "observe-end:14=oom-on@2,107=call@free-session,130=oom-on@10,150=throttle-reads", 1, "the same, of one that fails at the end of the numbers"},
{"lock", "try:13=late-at@0,79=copy-beside@1,101=throttle-reads", 1, "the same, of one that tries once"},
{"lock", "urgent-again:251=oom@2,268=throttle-writes", 1, "the rule had a lock in a hurry ask for ever for what there was no memory"},
{"lock", "remade:21=call@acquire,43=delete-pair@0", 1, "the rule knew no operator who makes the directory while creates are on their way"},
{"shards", "twice:145=hide-each,156=hide-members,170=forge-plan@5,254=hold-replies,607=malform@25,610=oom@2,631=malform@30,660=malform@34", 1, "the fault left a znode malformed for ever that it malformed twice"},
{"multi-lock", "multi-lock-stolen-two:27=call@cancel,68=hangs-up,215=freeze,347=expire,461=expire-after", 1, "the rule had a request found out at which servers hung up in three sessions, in none of them often enough"},
{"two-phase", "recover-copied:185=delete-all,201=oom-on@11", 1, "a site decided over a copy of a transaction that was decided: it had waited for memory, and heard of the end of the first one only then"},
{"two-phase", "recover-copied:140=delete-all,206=hold-requests", 1, "the same, of one whose decision was sent, and lost"},
{"two-phase", "user-aborts:137=hangs-up", 1, "the rule had a coordinator decide at whose decision the servers hang up"},
{"group", "member-update:21=late-at@0,60=malform@3,61=freeze-short", 1, "the rule looked for data that were written over before the process heard that they are written"},
{"two-phase-site-tx", "restart-copied:89=replace-away@0,101=oom@1,180=malform@0", 2972049891, "the scene's operator copied a malformed znode without its end"},
{"two-phase-site-tx", "overruled:99=callback@1/abort,101=late-at@0", 1, "a scene's operator decided over a decision that was on its way"},
{"double-barrier", "step-four:94=foreign-lower,197=replace-own@3,232=hangs-up,242=replace-own@3,347=throttle-reads", 1, "a participant that was not told what became of its znode went by the answer before: it had two"},
{"cache", "cache-wide:43=hide-delete@0,44=expire-after", 1, "the rule had a cache end that was told of its root before its root was hidden"},
{"group", "member-busy:2=oom-on@1,234=replace-away@1,275=throttle-writes", 1, "the rule had a member that waits for nobody get away behind a rival, though servers refuse"},
{"group", "member-long:254=hangs-up,297=oom-on@7", 1, "no memory for the reads behind a sync at which the servers hang up: a member took what it had not read for nothing, and told LEFT"},
{"consumer", "full-marks:102=deny,363=call@close", 1, "the rule did not know of a claim that nobody was told of, and that the session deletes, since a quota lets its consumer make no receipt"},
{"lock", "one:12=hangs-up", 1, "a request at which the servers hang up was sent again, for ever"},
{"double-barrier-query", "in:59=hangs-up", 1, "a request that waited, and failed with its connection, counted as answered: who asked for what the servers hang up at was never found"},
{"semaphore", "semaphore-beside:130=hangs-up", 1, "the session read an idle directory again and again, at which the servers hang up"},
{"chubby-lock", "chubby-lock:60=hangs-up", 1, "what an ended lock had left was looked for without end, and each look ended the connection"},
{"two-phase-site-tx", "plain:195=hangs-up", 1, "the servers hang up at the list of votes: taken for none, and the site dropped its vote and its entry"},
{"two-phase-site-tx", "site-mute:117=hangs-up", 1, "a site began a transaction anew with each connection, at whose reading the servers hang up"},
{"two-phase-site", "inbox-slow:245=hangs-up", 1, "the same, behind its vote"},
{"config", "get-hidden:42=hangs-up", 1, "a key at which the servers hang up was read again with each connection"},
{"multi-lock", "multi-lock-stolen:90=hangs-up", 1, "a part was lost to a read at which the servers hang up: taken again, for ever"},
{"guard", "guard-cut:58=hangs-up", 1, "UNKNOWN did not say that the servers hang up at the look for the receipt"},
{"value-writer", "make-lost-early:44=hangs-up", 1, "the same, of a write that makes the value: told as a refusal"},
{"consumer", "settles-take:129=hangs-up", 1, "the servers hang up at what settles a removal: its item was never delivered, though its receipt tells"},
{"config-write", "set-two:63=malform@15", 1, "a byte behind what `ready` says was read: an address sanitizer sees it"},
{"lock", "urgent-ageing:190=hangs-up", 1, "the same, where others wait behind it"},
{"consumer", "renews:140=hangs-up", 1, "its own znode was refused while it ended: it asked for it, and closed, without end"},
{"consumer", "unreceipted-return:149=hangs-up", 1, "it ended, and left a claim, whose end no other consumer saw"},
{"cache", "cache-two:30=refuse,95=oom-on@2,112=oom-on@7,130=hide-replace@0", 1, "the rule had a cache outlive that its root was hidden before it told anything"},
{"cache", "cache-name-tree:59=hide-replace@0", 1, "a cache of names alone ended when its root might not be listed any more"},
{"two-phase", "commit:121=hangs-up", 1, "a vote at which the servers hang up was asked for again at once, for ever"},
{"consumer", "claim:60=hangs-up", 1, "a turn that was refused for good was asked for again: the connection was lost before it heard of that"},
{"double-barrier", "step-copied:120=throttle", 1, "a watch was there, and whose znode it was on not known: it waited for a copy"},
{"two-phase-site-tx", "site-mute-given:116=hangs-up", 1, "a change that was none, before anything was decided: a site was told FOREIGN"},
{"two-phase-site-tx", "site-mute-given:2254=call@close-session", 1, "a coordinator waited for a site whose session was closed: taken for a site that does not go on"},
{"consumer", "hold-and-wait:148=delete-own@0", 1, "a give-back deleted the claim that another consumer had made, after an operator had deleted its own"},
{"consumer", "hold-and-wait:227=delete-own@1", 1, "a finish did the same"},
{"consumer", "claim:102=replace-away@0", 1, "a finish was sent again behind a lost connection, whose ever the claim was by then"},
{"consumer", "item-with-child:200=replace-own@0", 1, "two consumers that both believed in their turn would have claimed one item"},
{"two-phase-site-tx", "presence-leaves:807=seize-own@1", 1, "a vote took away the znode by which another process of the site said that it is there"},
{"lock", "two:61=late-at@0", 1, "with a sync as the barrier, a create under way at the leader was not found"},
{"lock", "long:48=lagging@2,55=set-own@0,130=delete-own@1,136=callback@1/free", 1, "freed in REQUEUED, it left its watch on the one before it"},
{"lock", "no-requeue:29=freeze", 1, "a connection made and lost within one turn was not seen"},
{"lock", "two:60=oom-on@2", 1, "no memory for a create's path: taken for the end of the numbers"},
{"lock", "cancel:58=oom-on@2", 1, "the same while it gives up: the znode stayed"},
{"lock", "two:61=cut-after,92=throttle-writes", 1, "a listing showed the znode, and the write before it was refused: not believed"},
{"semaphore", "semaphore-two:56=cut,75=throttle-writes", 1, "the same, nine times, and all behind the znode waited for its session's end"},
{"lock-query", "look:64=oom@5", 1, "no memory for what was read: the program died"},
{"lock-query", "look-foreign:65=oom@1", 1, "no memory for what was read: a contender was told wrongly"},
{"lock", "late-answers:57=call@query", 1, "cut, and then nobody there: it told who had been before"},
{"lock", "doubt:94=oom@4", 1, "nothing to send, and the loop was busy: the pause for memory was long over"},
{"lock", "sequence-end:75=foreign-lower,87=foreign-lower", 382964323, "the far end's number given again and again: several woke for one"},
{"lock", "sequence-end:73=call@acquire,92=call@acquire", 3078588699, "the same: one that came later was granted first"},
{"lock", "doubt:94=cut,108=call@free,118=foreign-lower", 1, "GRANTED with less than a millisecond of the lease left, and not held"},
{"lock", "broken-late:95=set-own@0,111=oom-on@2,177=call@cancel", 1, "an answer owed to what had ended, and the session closed: never freed"},
{"lock", "closed-away:", 1, "CANCELED was told at a close that no server confirmed"},
{"lock", "one:30=throttle", 1, "a delete that was refused for the moment was taken for refused, and the znode stayed"},
{"lock", "chain-broken-late:2=oom@1", 1, "the second at an earlier look was taken for the second now"},
{"lock", "row:82=delete-all", 1, "numbers in a row were taken for neighbours, and nobody had seen the lower one standing"},
{"lock", "timeout:82=freeze-short", 1, "to hear that it had stayed, it was looked at again and again within one turn"},
{"observer", "observe-seated:", 1, "a leader znode by hand, of nobody, with a newer epoch: the leader was not told ever after"},
{"observer", "observe-unseated:51=late", 1, "a leader znode that was made again, since its outcome was unknown, was told again"},
{"shards", "planner-drains:64=hold-replies,166=hide-members", 546581715, "whether it had a znode could not be seen: DRAINED, and the znode stayed"},
{"shards", "alone-drains:27=expire-after,55=late-at@2,68=hide-members", 2239711825, "the same when it was freed"},
{"shards", "member-broken:15=partition,91=forge-plan@4,102=hide-plan", 1917961381, "a forged plan that was mended while it could not be read: FAILED with INVAL"},
{"shards", "freed:116=replace-own@0,120=partition,140=copy-member@1,265=forge-plan@4", 2985727448, "a forged plan that named who it had been: FAILED with INVAL"},
{"shards", "differs:16=expire,119=oom-on@3,164=foreign-kazoo,240=refuse,265=call@join,322=delete-own@0,407=hide-plan,617=oom-on@7,652=partition", 2825042172, "a plan for another number that named its znode of a session that is over: FAILED with INVAL"},
{"watch-node", "later:81=hide-member@0,203=call@drain,211=hide-members", 653392404, "who could not see the others gave up all at once, while they came to take it"},
{"watch-node", "planner-expires:51=oom@2,70=copy-member@0,74=expire,161=hold-replies,242=forge-plan@2,337=oom-on@3,357=hold-replies,382=foreign,472=foreign-kazoo,491=replace-away@1,524=delete-pair@1", 1953769367, "BALANCED, while the plan gave a shard to who it had been"},
{"watch-node", "later:62=foreign-higher,105=callback@1/drain,138=oom-on@5,161=callback@1/acknowledge,240=foreign-higher,252=delete-all,255=lagging@1,269=throttle,306=late-at@0", 144329609, "no memory for a look behind another's sync: later it had more parts than there was room for, and the program died"},
{"shards", "alone:50=call@drain", 1, "DRAINED was told while candidates that were not elected still stood"},
{"shards", "alone-drains:74=call@close-session", 1, "DRAINED was told in a session that was closed, with nothing proved"},
{"shards", "expires:149=call@close-session", 1, "a member was lost and its session closed: FAILED, but not with CLOSED"},
{"shards", "member-broken:189=oom-on@1", 1, "what was just handed over was given back: BALANCED at once"},
{"shards", "broken:83=empty-dir", 1, "a plan that was deleted before all had read it was never written again"},
{"shards", "differs:97=oom-on@2", 1, "a plan of another number of shards was seen before the own znode was known: no FAILED"},
{"shards", "copied:401=throttle", 1, "a read of its own znode was refused: it never asked whose the znode before its own is"},
{"shards", "lost-plan:14=cut-after,85=cut,93=oom@8,127=callback@1/join,140=callback@3/free,215=replace-own@1,222=callback@3/join,306=copy-member@0,354=oom-on@3,364=oom-on@1,374=delete-all,425=throttle,475=oom@12,539=partition,606=callback@2/join,672=oom@8", 823517763, "the same for want of memory, found by chance"},
{"shards", "observer:59=oom@10,87=foreign-curator,202=hold-requests,213=copy-member@1,216=forge-plan@6,217=replace-own@0,267=foreign-mutex,278=oom-on@1,287=foreign-mutex,357=oom@8,406=oom@11,434=forge-plan@0,435=forge-plan@1", 3915972391, "behind an unowned znode, and then not named by a forged plan: it waited half a minute before it made a plan"},
{"shards", "dir-broken:67=delete-all,78=foreign-curator,86=forge-plan@3,122=foreign-mutex,137=replace-own@0,139=forge-plan@1,154=replace-own@0,155=oom@7", 993523233, "no memory for a transaction: the delete in it went out 100 ms later, and nobody had looked again"},
{"lock", "batch:31=cut-after,53=callback@2/acquire", 1, "a rule took a directory for known that went with locks let go in doubt"},
{"lock", "downgrade-one:12=empty-dir,79=remake-away@0", 1, "a rule wanted a copy known that the lock's own swap had struck"},
{"lock", "urgent-readers:135=remake-away@0,139=callback@2/free-query,189=remake-away@1,212=delete-all", 221812284, "a rule forgot what was deleted by force, after sixteen others"},
{"lock", "chain-away:39=callback@1/query,81=foreign,83=copy-beside@1,119=call@query,156=call@acquire,164=callback@1/revoke,186=delete-own@1,205=call@downgrade", 1222121844, "a rule counted an operator's copy of the number of another contender"},
{"lock", "broken-late:76=oom-on@10,91=call@query,138=copy-beside@2,143=replace-away@0,167=call@downgrade,171=call@revoke,242=foreign-mutex,249=copy-beside@2,284=foreign-mutex,296=call@cancel", 2222282777, "a rule did not know that a copy came under a name that was removed before"},
{"lock", "urgent-presses:33=empty-dir,57=callback@3/free,159=copy-beside@1,201=replace-own@1,202=oom@12", 1066650914, "no memory for the read of the znode before its own: the read of its own was not looked at, and the watch was believed; granted by the znode of another, found by chance"},
{"lock", "broken-late:34=call@close-session,102=call@acquire,137=call@add-auth,152=call@acquire", 2301565940, "the rule knew nothing of a directory that another process had taken away"},
{"election", "elect-own:47=lagging@2,58=oom@2,86=remake-away@1,156=hold-replies,161=replace-away@0,178=callback@3/free-observe", 3415145495, "the rule for leaders did not know of an operator's copy of the number of another contender"},
{"config", "get:33=throttle", 1, "a key that might not be read for the moment ended the query"},
{"chubby", "chubby-first-write:125=lagging@2,127=delete-batch", 1, "a rule forgot that an operator may delete the anchor of a create whose answer was lost"},
{"shards", "rivals:369=slow-leader", 1, "a rule asked for the least moves from a plan for another number of shards"},
{"config", "get:26=oom@3,33=empty-dir", 1, "`ready` was deleted while it was read: the row was entered for ever"},
{"cache", "cache-names:22=oom-on@9,74=callback@1/close-session", 490464723, "what a changed root was listed with was told before its change, and its callback closed the session"},
{"config-write", "set:19=throttle-writes", 1, "a transaction that was refused for the moment ended the replacement"},
{"semaphore", "semaphore-frozen:1=slow", 1, "its turn ended with the lease, and it queued again with NODEGONE"},
{"ballot", "ballot-persistent:5=oom-on@4,39=callback@3/cancel,94=lagging@2,130=callback@3/free,160=callback@2/close-session,194=lagging@1,297=partition,303=callback@3/free-session,346=callback@3/free,353=oom@3,456=callback@3/free,479=oom-on@5,496=callback@2/free-session,537=callback@1/free,555=oom@11,617=oom-on@10", 4053274621, "the session ended while a new persistent znode was looked at: it was made twice"},
{"ballot", "ballot-persistent:66=lagging@2,73=oom-on@3,96=call@cancel,129=oom-on@10,137=callback@1/free-session,174=oom@9,191=refuse,248=refuse,263=expire,332=callback@2/free-session,411=oom-on@9,496=partition,546=outage,601=callback@1/free,626=callback@3/free,644=oom-on@2", 2881794094, "the same: one of the two was left"},
{"multi-lock", "multi-lock-try:70=deny", 1, "a part that could not be deleted was not told: only the part that was held"},
{"multi-lock", "multi-lock-sealed-cancel:45=foreign-curator,58=oom@7", 991768733, "the same, and the part that failed first ended later"},
{"config-write", "set-large:53=cut,60=throttle-reads", 1, "a lock that could not find out whether its znode stands was followed by another, which waited for that"},
{"group", "member-twins:50=refuse,50=callback@1/delete-claim", 1, "a member took the name of its twin, which had not looked yet: both had joined"},
{"multi-lock", "multi-lock-try:64=call@cancel", 1, "a part that gave up by itself was told after a cancel"},
{"multi-lock", "multi-lock-denied:36=hold-replies,51=freeze", 1, "a part was blamed for the error of another"},
{"consumer", "prefetch-one:60=slow-leader", 1, "an item that was told after its turn counted for the next turn: no room, for ever"},
{"consumer", "dies:104=replace-away@0", 1, "a claim of unknown outcome was made in the next session, beside a copy of the turn's znode, and forgotten"},
{"consumer", "counts-told:", 1, "three items that were claimed and never told were counted, and became dead letters"},
{"consumer", "counts-closes:", 1, "the same of an item whose delivery was just counted"},
{"write-once", "expires:272=hide-member@0,307=hide-member@1", 1, "neither its own znode nor the one before it might be read: a patient lock asked again and again, without a pause"},
{"watch-node", "later:207=replace-own@1,284=hide-member@0,415=hide-member@1", 1, "the same"},
{"write-once", "expires:153=callback@1/drain,233=hide-each,263=copy-member@0", 1, "another's znode of its name came in place of its own while that was not to be read: a member planned for ever with a place that it had lost"},
{"lock-dialect", "curator-foreign:48=throttle-reads,116=throttle-reads", 1, "it gave up over refused reads, and the first refusal of what it did then ended it: its znode stayed"},
{"two-phase", "abort-three:174=foreign,202=forge-vote@1,216=hold-replies,458=cut-after", 1, "the rule did not know a site that takes away one by one what was forged beside its own"},
{"two-phase-site", "inbox-many:84=expire,135=lagging@2,382=oom@5", 1, "the rule saw no site done where its part and the transaction went at once"},
{"config-write", "set-two-large:13=refuse,140=lagging@2,291=replace-own@2", 1, "the lock was lost to another znode of its name, which let the next transactions pass: two wrote at once"},
{"lock", "downgrade-leaves:13=throttle-reads,55=late-at@2", 1, "the rule asked a lock to delete a znode that no server would show it"},
{"election-dialect", "kazoo-election:84=throttle-reads,160=call@volunteer", 1, "the rule did not know what is left to the session: the candidate and its leader znode, one after the other"},
{"shards", "named:208=forge-plan@0,408=forge-plan@0,457=throttle-writes", 1, "the rule took nine refusals, a second apart, for over with the first"},
{"double-barrier", "step-stay:84=freeze,89=callback@3/close-session", 1, "the rule wanted SUSPENDED behind the session's close"},
{"consumer", "buries-copied:", 1, "dead letters were copied, and the next one had a name that was there: it was tried again and again"},
{"consumer", "full:", 1, "a quota was used up, and the consumer ended"},
{"consumer", "full-takes:", 1, "the same, as it asked for its turn"},
{"consumer", "full-counts:", 1, "the same, as it counted a delivery"},
{"config", "get-rootless:", 1, "a configuration was waited for below a chroot that was missing"},
{"cache", "cache-rootless:", 1, "a cache was READY, and empty, below a chroot that was missing"},
{"value", "follow-rootless:", 1, "a follower was told that there is no value, below a chroot that was missing"},
{"chubby", "chubby-rootless:", 1, "an open said that there is no such file, below a chroot that was missing"},
{"two-phase", "recover-rootless:", 1, "the same of a transaction"},
{"cache", "cache-name-tree:72=hide-change@0,108=expire", 1, "names only: a listing that was denied for a while, in the next session, ended it, though it had told READY"},
{"value", "follow-long:131=hide-delete@0,227=throttle-reads", 1, "the rule took refusals for over with the first"},
{"config", "follow-long:123=refuse,497=refuse,559=history-anew", 1, "the rule counted what it saw again, when the servers were set up anew"},
{"lock", "urgent-own:90=foreign-curator,183=throttle-writes", 1, "the rule asked a lock that another library ended to outlive nine refusals of its delete"},
{"lock", "new-deep:75=throttle-writes,75=deny", 1, "the rule wanted a znode to go that its lock was told it may not delete"},
{"shards", "closes-sealed:21=oom-on@11,34=call@drain", 1, "its znode could not be deleted, and it told DRAINED as if all had gone"},
{"lock", "urgent-refused:102=throttle-writes", 1, "the rule asked a lock that may not enter to outlive nine refusals of its delete"},
{"consumer", "meddles:79=throttle-writes", 1, "items ended while the request that named their claims was under way"},
{"consumer", "settles-take:127=callback@1/close-session", 1, "the rule did not see that a session was closed before it could ask what a removal had done in the session before"},
{"consumer", "settles-take:102=oom-on@5,114=throttle-writes,195=stranger,391=call@close-session", 1, "the same, where the servers refused to say"},
{"consumer", "settles-take:129=deny", 1, "the same, of a receipt that might not be written to"},
{"consumer", "counts-dies:136=freeze-short,192=partition", 1, "the rule counted what a process was told whose session had been ended behind its back"},
{"consumer", "item-with-child:772=spoil@0,777=oom@11", 1, "the rule did not know that an item may be bad twice"},
{"consumer", "full-buries:103=hangs-up,498=call@close", 1, "the rule wanted claims to be given back for which no receipt could be made"},
{"consumer", "settles-take:117=callback@1/close-session", 1, "the rule did not see that a session was closed while it had no connection, and was over in the same turn: what a removal did cannot be known"},
{"cache", "cache-name-tree:100=hide-change@0,110=history-anew", 1, "the rule did not know a znode that was seen, and then not to be listed"},
{"two-phase", "abort-three:165=oom@2,167=oom-on@7,195=forge-vote@3,205=hold-replies,401=oom-on@11,417=forge-vote@2", 1, "the rule wanted a forged vote to be known where nothing of the site stood any more"},
{"shards", "no-plan:87=forge-plan@0,191=lagging@1,301=refuse,425=hide-member@0,499=hide-member@1", 1, "the same"},
{"shards", "closes-sealed:", 1, "its session was closed while no machine of it was under way: FAILED came seconds behind CLOSED"},
{"shards", "closes-sealed:122=call@close-session", 1, "its session was closed, and then a refusal came: FAILED, but not with CLOSED"},
{"shards", "paced-stays:130=hide-each,590=delete-all", 1, "its own znode was not to be read for a while, and it never watched that again: it did not hear that it was gone"},
{"shards", "replaced:95=call@free-session,293=cut,305=call@join,359=forge-plan@3,449=hide-each,468=lagging@2,879=delete-all", 1, "the same, and its planner listed ten times a second what was not there"},
{"watch-node", "later:105=copy-member@0,180=throttle-writes,316=expire-after", 1, "a rule counted from the fault, and the first refusal came seconds later"},
{"watch-node", "planner-expires:52=throttle-writes", 1, "a plan that was refused was written again only after 5 s"},
{"write-once", "expires:230=throttle-writes", 1, "the same"},
{"shards", "freed:138=forge-plan@1,182=expire,242=oom-on@5,276=deny,329=refuse,413=hide-plan,459=call@close-session", 1, "the same, and a watch was begun in the closed session, and never freed"},
{"election", "elect-chain:26=oom-on@6,38=remake-away@0", 1, "a directory that an operator had made in the place of its own was deleted with its last znode"},
{"chubby-lock", "chubby-poison-events:90=hold-requests,93=oom@9,278=oom@1", 1, "a handle heard before its copy of the queue that the session was certain again: LOCK_ACQUIRED was never told"},
{"chubby-check", "chubby-sequencer:77=slow-leader,339=oom-on@8", 1, "the same"},
{"chubby-check", "chubby-sequencer:83=slow-leader,425=oom-on@3", 1, "a rule wanted a lock granted while the lease, which writes that took long had ended, was not proved anew"},
{"chubby-lock", "chubby-events-delay:66=slow-leader,605=refuse", 1, "the same"},
{"chubby-lock", "chubby-many-marks:104=oom-on@12,165=call@close", 1, "a rule counted an old mark's time from the call, and another had waited for it before"},
{"consumer", "buries-denied:", 1, "a consumer ended at an item of which no dead letter could be made, and all items behind it waited"},
{"consumer", "unclaimed-unheard:", 1, "an operator deleted a claim, and the consumer that waited did not look again"},
{"consumer", "dies-unheard:", 1, "the znode that tells of a consumer's end was deleted before, and the consumer that waited did not look again"},
{"consumer", "undeletable:", 1, "a claim that could not be deleted was forgotten, and stood as long as its session"},
{"consumer", "undeletable-closed:", 1, "claims went with the session, after the znode whose end tells so: the consumer that waited did not look again"},
{"consumer", "once:94=call@close-session", 1, "items that were removed were not delivered, since the session was closed meanwhile"},
{"consumer", "buries-settles:170=partition,232=call@free,410=empty-dir", 1, "a rule looked for a dead letter at the end only: an operator had deleted it by then"},
{"consumer", "prefetch:105=callback@2/close-session,106=late-at@1", 1, "a rule wanted a claim gone while the end of its session was decided, and not committed yet"},
{"shards", "alone:13=hangs-up", 1, "the plan, at which the servers hang up, was read again every 5 s"},
{"shards", "alone:37=hangs-up", 1, "a member stood again and again, though the servers hang up at its place"},
{"shards", "alone:65=hangs-up", 1, "the same, of a shard's candidate"},
{"shards", "alone:35=hangs-up", 1, "a planner began anew every 5 s, though the servers hang up at what it reads"},
{"shards", "two:149=hangs-up", 1, "a member wrote every 5 s that it is ready, though the servers hang up at that"},
{"shards", "later:192=hangs-up", 1, "a recipient's znode, at which the servers hang up, was read again every 5 s"},
{"shards", "planner-drains:65=hangs-up", 1, "DRAINED told no error, though a znode may be left at which the servers hang up"},
{"shards", "twice:37=hangs-up", 1, "two that the servers hang up at were found in turns, and neither was proved"},
{"shards", "copied:315=hangs-up", 1, "the same, where one waits while the other goes alone"},
{"watch-node", "planner-expires:31=hangs-up", 1, "a look at which the servers hang up was begun anew in each round"},
{"shards", "paced-expires:117=foreign-mutex,304=malform@30,334=malform@34", 1, "a fault gave a znode back what another fault had written"},
{"shards", "paced-expires:373=hangs-up", 1, "the rule wanted a candidate to stand at which the servers hang up"},
{"lock-query", "look:65=hangs-up,65=throttle-reads", 1, "the rule counted refusals alone: the servers hung up at the lock, and refused the look for its znode"},
{"group", "member-update:49=hangs-up", 1, "an update that was too large for the servers ended the membership"},
{"group", "member-twins:41=hold-replies,56=call@delete-guard,60=call@delete-claim", 1, "a rule did not know that a name passes to its member's twin when guard and claim were deleted"},
{"value", "get-behind:2=oom@1,93=cut", 1, "a rule wanted a session's end to be asked for anew in less time than that takes to a far leader"},
{"cache", "cache-behind:4=oom-on@2,5=refuse,73=cut", 1, "the same"},
{"multi-lock", "multi-lock-once:63=oom@1,65=delete-all", 1, "a rule wanted a lock to know of a znode whose answer it had no memory for"},
{"two-phase-site-tx", "overruled:152=oom@13", 1, "a site that was overruled left with its znode first: FINISHED was told, and its entry stood"},
{"two-phase-site-tx", "coordinator-dies-early:141=throttle-reads", 1, "what watched the coordinator was refused nine times, and nothing watched any more"},
{"two-phase-site-tx", "site-mute:118=throttle-reads", 1, "the first look was refused nine times: the transaction was dropped without a word"},
{"two-phase-site-tx", "site-mute-given:103=throttle-writes", 1, "a change that was none: an undecided transaction was taken for a foreign one, and dropped"},
{"two-phase-site-tx", "site-mute-given:318=throttle-reads", 1, "a coordinator that was to stop was refused while it checked: a move that its table has not"},
{"two-phase-site-tx", "overruled:117=forge-vote@0", 1, "a scene's operator decided anew what was decided"},
{"two-phase-site-tx", "site-mute-given:56=throttle-reads", 1, "a rule wanted a site to go on that had told its end"},
{"two-phase", "recover-copied:138=lost-refused", 1, "a begin whose answer was lost failed where servers refused to say what became of it, and its sites waited"},
{"two-phase-site-tx", "coordinator-dies-done:124=lost-refused", 1, "the same, with a coordinator that is closed later"},
{"consumer", "once:94=lost-refused", 1, "items whose removal was refused nine times behind a lost answer were gone, and not delivered"},
{"consumer", "two-once:107=lost-refused", 1, "an item that was not removed was forgotten: the one behind it came first"},
{"producer", "put-full:58=lost-refused", 1, "what may have been put took no room: a segment became larger than it may"},
{"producer", "put-too-many:86=lost-refused", 1, "the same: a plain queue got more items than can be listed"},
{"producer", "put-busy:4=throttle-reads", 1, "the scene did not know of a producer that ends while it is full"},
{"guard", "guard-cut:22=throttle-reads", 1, "the rule did not know of servers that refuse to say what became of a write"},
{"chubby-lock", "chubby-delay:114=throttle-writes", 1, "the mark of a lock that was given back stayed, since its delete was refused: the next holder waited for its delay"},
{"chubby-lock", "chubby-freed:111=lost-refused", 1, "the same, after a free"},
{"cache", "cache-node:7=throttle-reads", 1, "the rule did not know of a root whose reads are refused"},
{"chubby", "chubby-chroot:68=throttle-writes", 1, "the rule did not know that what is refused is asked again in pauses"},
{"two-phase", "recover-copied:151=partition,497=delete-all,516=oom-on@6", 1, "a site that had no memory to send its decision sent it by an old look, about an operator's copy"},
{"two-phase-site-tx", "presence-two:123=partition,461=remake-away@1", 1, "the rule did not know of a site that was told FAILED about a copy"},
{"watch-node", "planner-expires:320=hangs-up,445=callback@3/drain", 1, "the rule did not know of a member that is about to fail"},
{"lock", "urgent-kept:105=oom-on@6,154=late,299=malform@5", 1, "the rule did not know that a fault had written to the directory"},
{"chubby-lock", "chubby-unclean:139=empty-dir,141=call@free", 1, "the rule took a lock that an operator had ended for one that was given back"},
{"two-phase-site-tx", "coordinator-frozen:200=outage,560=oom-on@9,973=call@close-session", 1, "the last site closed between its acknowledgement and the removal, and the others had ended: the transaction stayed"},
{"lock", "urgent-unlocked:13=oom@1,147=throttle-writes,171=oom@8,220=call-still@close-session", 1, "the rule did not know of a session that is closed while a server stands still, and a znode is still to be deleted"},
{"observer", "observe-wrap:71=lost-refused,193=throttle-reads", 1, "the rule did not know that an election that fails since all is refused wakes the next of its session"},
{"watch-node", "planner-expires:230=copy-member@1,354=hangs-up,557=hide-plan,638=forge-plan@3", 1, "the rule did not know of a member that no event and no look can tell of a new plan"},
{"shards", "acknowledges:108=oom-on@5,168=malform@16,174=oom-on@5,177=throttle-writes,177=call@free,236=call@join,426=hangs-up,516=copy-member@1", 1, "the rule forgot with the next plan that a leader's announcement is hung up at"},
{"shards", "second-broken:84=hide-member@0,152=call@free,178=throttle-writes,191=throttle-reads,263=call@drain", 1, "DRAINED was told without an error, while a former candidate that had failed still stood"},
{"tidy", "tidy-two:23=oom-on@2,210=call@close-session,245=foreign-kazoo,270=call-still@cancel,324=refuse,478=callback@1/close-session", 1, "the rule did not know of a session that is closed before a removal is asked for again"},
{"double-barrier", "step-again:177=foreign-nameless,177=deny", 1, "a run was judged between two things that are mended at one moment"},
{"double-barrier", "step-copied:41=oom-on@11,83=foreign-higher,84=delete-pair@1", 1, "a participant that had waited behind a copy waited for that for ever when it left"},
{"consumer", "counts:77=spoil@0,141=oom-on@12,338=oom-on@8,385=oom-on@10,475=freeze", 1, "the rule did not know that deliveries count which a session's end left untold: the item was a dead letter"},
{"two-phase-site", "inbox-many:137=call-still@stop,152=freeze,334=forge-vote@2,450=oom-on@12", 1, "a coordinator forgot, for want of memory, that it had seen a decision: it waited for votes"},
{"two-phase-site", "inbox-many:70=replace-own@1,85=call@stop,140=lagging@2,289=forge-vote@2,344=oom@1,442=forge-vote@3,472=freeze,566=expire-after,621=hangs-up,659=outage", 1, "a request at which the servers hang up was set free from among the suspects, again and again: it was never found out"},
{"two-phase-query", "look-up:44=oom@6,101=throttle-writes,136=call-still@free,166=call@abort,171=deny", 1, "the rule did not know that a coordinator without a right asks again in half a minute"},
{"two-phase-site", "inbox-entry:96=lost-refused,657=lost-refused", 1, "the fault refused for longer than a run lasts"},
{"cache", "cache-hidden-below:70=hide-delete@0,143=throttle-reads", 1, "the rule did not know that a look that is refused comes again with the next round"},
{"guard", "guard-kept:34=partition,68=throttle-reads,82=lagging@2,139=freeze-short,141=slow-leader,166=malform@12,240=oom-on@3", 1, "the rule did not know that a fault had written to the receipt"},
{"semaphore", "semaphore-many:121=throttle-writes,182=hold-replies", 1, "the rule did not know of a turn that was lost with the lease, and whose znode cannot be deleted"},
{"config", "follow-long:4=history-back,11=empty-dir", 1, "where zxids began anew, a list looked older than ready for ever: a configuration was read, and written, again and again, without a pause"},
{"chubby", "chubby-gets:52=lagging@1,52=callback@2/set", 1, "a handle's copy was older than what the handle had read by the servers"},
{"chubby", "chubby-one-at-a-time:21=throttle-writes,51=oom-on@12", 1, "the rule did not wait for what is refused, and asked for again in pauses"},
{"chubby", "chubby-both-create:101=call@get,105=hangs-up,241=callback@3/set", 1, "the rule did not know of a handle that is about to become invalid"},
{"group", "member-watched:21=oom-on@8,236=hide-replace@0", 1, "the rule did not know of a view that has told nothing, and may not read its group"},
{"chubby-lock", "chubby-mark-child:86=slow,87=expire-after", 1, "the rule did not know of a session that ends while its lock waits for a delay"},
{"chubby-lock", "chubby-queue:31=slow,96=malform@7,108=call@close-session", 1, "the rule did not know of a handle that is open, and cannot be told so in a closed session"},
{"chubby-lock", "chubby-unclean:68=outage,116=throttle-reads", 1, "the rule did not know of a lock whose look is refused for long"},
{"chubby-lock", "chubby-poison:17=oom@6,24=oom-on@2,73=throttle-reads,361=throttle-reads", 1, "the fault refused for longer than a run lasts"},
{"ballot", "ballot-narrow:5=oom-on@2,80=lagging@1,129=freeze,233=partition,471=partition", 1, "the rule did not know of a voter that had no connection in time"},
{"two-phase-site-tx", "overruled:107=foreign-curator,163=lagging@1,207=forge-vote@0", 1, "a site whose entry was gone took a forged vote for its own"},
{"two-phase", "short:152=malform@71,199=lagging@1", 1, "the rule did not know of a site that looks again at what was spoilt, and has gone since"},
{"two-phase", "vote-written:123=oom-on@12,131=oom-on@6,138=forge-vote@0", 1, "the rule did not know of a vote that is forged again"},
{"two-phase-site-tx", "coordinator-dies-early:141=hangs-up,754=call@abort", 1, "the rule did not know of a removal that the servers hang up at"},
{"two-phase-site-tx", "restart-copied:0=oom-on@1,458=malform@11", 3853041940, "the rule took what a fault had written for a decision"},
{"two-phase-site-tx", "overruled:101=starve,118=oom-on@6,160=forge-vote@0,204=lost-refused", 1, "the rule did not know that a coordinator believes a forged vote"},
{"two-phase-site-tx", "presence-leaves:151=hangs-up,711=call@free", 1, "the rule did not know of a delete that the servers hang up at"},
{"consumer", "idle:107=lost-refused,273=call@close-session", 1, "the rule did not know of a removal that was refused behind a lost answer until its session was closed"},
{"consumer", "renews:140=lost-refused,237=call@close,303=delete-all", 1, "the rule did not know of a consumer that closes, and whose znode is refused: its items are lost with CLOSED"},
{"consumer", "undeletable-closed:31=spoil@2,56=oom@1,87=replace-own@0,89=hold-replies,626=delete-own@1,633=oom-on@5,659=remake-away@1", 1, "what was left was deleted by a look on the connection before, since there was no memory to send it: an operator had put a copy there"},
{"group", "member-watched:13=oom-on@10,235=oom@4,252=hide-replace@0", 1, "a view that had told READY of an absent group ended when it might not be read"},
{"double-barrier", "step-three:0=oom-on@2,75=hangs-up,171=refuse,435=replace-own@1", 1, "a znode was to be looked at again, at which servers hang up"},
{"lock", "urgent-unlocked:73=lagging@2,115=throttle-reads", 1, "the rule had a lock delete the znode that it may not look for, where it had the name of the one before"},
{"observer", "observe-away:58=call-still@observe,415=throttle-reads,497=call@free", 1, "the rule did not know that a candidate that is free hears no refusal, and its session deletes both of its znodes"},
{"shards", "dir-broken:60=forge-plan@6,60=lagging@1,78=late-at@0,164=call-still@join,213=hangs-up,462=call-still@drain", 1, "the rule did not know that what is left may stand since the servers hang up at the look for it"},
{"tidy", "tidy-two:0=oom@6,118=foreign,167=follower,449=day", 1, "the rule did not know of a consumer that had no connection for a day, and whose receipt was tidied"},
{"two-phase-site-tx", "site-denied-vote:0=oom@4,46=oom-on@10,202=oom-on@4,273=hangs-up,281=expire,530=foreign-mutex", 1, "each transaction that a site took up anew counted anew at which request the servers hang up"},
{"two-phase", "recover-copied:160=hold-replies,441=malform@48", 1, "the rule asked for an entry whose site was told the decision, and is not done"},
{"two-phase-site-tx", "presence-leaves:129=oom@3,170=late-at@2,234=call@stop", 1, "a site that was stopped forgot that a try to enter was not heard, and left that it is there"},
{"two-phase-site-tx", "restart-copied:1=oom-on@5,3=lagging@1,224=remake-away@0,323=call@stop,324=oom-on@4", 1, "a coordinator that was to stop aborted a copy of what was committed, when there was memory again"},
{"two-phase-site", "inbox-slow:12=oom@4,92=forge-vote@0,267=deny", 1, "the rule did not know of a site that may not take its entry away until the transaction is gone"},
{"two-phase-site", "inbox-many:110=starve,132=cut,280=starve,352=malform@23,849=deny,876=cut", 1, "the rule did not know that a transaction whose entry may not go is taken up anew"},
{"election", "elect-unseated-late:56=lagging@1,75=hangs-up", 1, "the rule did not know that an election that ends since the servers hang up wakes the next of its session"},
{"chubby", "chubby-hidden:38=call-still@free,58=empty-dir,63=empty-dir", 1, "the rule took a file that was made since for the one that was hidden"},
{"chubby-lock", "chubby-unclean:139=call@close-session,142=call-still@close", 1, "the rule took the end of a lock whose znode an operator deleted for a clean one"},
{"chubby-lock", "chubby-tries:161=copy-beside@1,202=late", 1, "the rule did not see a copy of an operator that he deleted before the answer"},
{"ballot", "ballot-chroot:81=oom-on@3,112=malform@13,204=oom-on@8,324=malform@4", 1, "the rule took what a fault had written for a vote"},
{"shards", "end:70=oom-on@6,130=hold-requests,159=stranger,160=expire,173=hide-plan,224=empty-dir,250=lost-refused,340=callback@1/drain", 1, "the rule did not know that LOST of the last shard can say that the object ends"},
{"shards", "rivals:29=oom@2,207=oom-on@10,263=foreign-nameless,297=forge-plan@4,314=expire-after,396=oom@8,441=oom@8,446=foreign-curator,480=hold-replies,501=hide-member@2,509=freeze-short,541=malform@98,586=malform@14", 1, "the rule did not see that a plan which was written back is for other shards"},
{"write-once", "expires:218=call-still@acknowledge,303=replace-own@0,391=deny,392=call@drain", 1, "the rule did not know that what is left may stand since it may not be deleted"},
{"producer", "put-too-large:236=expire", 1, "a short put went on with the count of lost connections of a long one"},
{"consumer", "prefetch:114=call@give-back,202=foreign-kazoo,248=call@close-session", 1, "an item was lost with the reason of its consumer, where its session was closed"},
{"two-phase-site-tx", "restart-decided:125=lagging@1,162=foreign-kazoo,184=forge-vote@1,208=outage", 1, "the rule did not know of a site that lost its connection between what was forged and its entry"},
{"two-phase-site-tx", "coordinator-dies-done:130=oom-on@8,145=malform@53,466=oom@10,503=oom-on@10,519=malform@23", 1, "a site took away what had been written to meanwhile, when there was memory again"},
{"value", "follow-behind:2=oom-on@4,185=call@cancel", 1, "the rule did not know of a session without a connection as it is closed"},
{"group", "member-unguarded:33=call-still@leave,65=malform@10", 1, "the rule did not know that a member that has not heard knows its znode by its claim's data"},
{"chubby-lock", "chubby-tries:89=foreign-lower,139=foreign-lower", 1, "the rule did not know of forged contenders that end uncleanly"},
{"chubby-check", "chubby-seen-next:109=delete-batch,134=call-still@set,330=oom@8", 1, "the rule did not know of a handle whose mark of its file was deleted"},
{"shards", "closes-sealed:173=callback@1/drain", 1, "the rule asked for STATE where LOST of one shard had told the end of all"},
{"two-phase-site-tx", "coordinator-dies-early:214=throttle-writes", 1, "the last site, refused nine times, left the transaction for ever"},
{"two-phase", "decide-denied:3706=deny", 1, "the users gave up in the moment in which all had come to its end"},
{"two-phase-site", "inbox-many:37=hold-replies,230=forge-vote@3,253=hold-requests,486=hangs-up", 1, "a listing that was lost once, with its watch or without, hid at which decision the servers hang up"},
{"semaphore", "semaphore-try:92=oom-on@1,181=lagging@2,213=refuse", 1, "the rule had a lease wait for the delete of its own session's turn before"},
{"config", "follow-long:400=history-back,523=hangs-up", 1, "a read that was asked for rarely, between many others, was never found out"},
{"lock", "chain-away:37=oom@8,67=hangs-up", 1, "what a lock had left was not looked for by the name under which the next of its session waits for it"},
{"tidy", "tidy-two:19=foreign-mutex,101=freeze,240=call@close,346=throttle-writes,509=hangs-up", 1, "an item of which nobody could say what became of it stood, and the next was taken by the old list"},
{"tidy", "tidy-two:62=oom@12,171=outage,555=day", 1, "the rule did not know of an item that was removed, and whose receipt was tidied a day later"},
{"write-once", "expires:128=replace-away@1,316=hide-each,472=copy-member@0,782=oom-on@1", 1, "a member that lacked memory for its own half of a read never asked whose the copy before it is, and nobody planned"},
{"two-phase", "vote-written:145=malform@32,511=deny,582=cut-after", 1, "the rule knew a site's transaction by its address, which another had after it"},
{"two-phase-site-tx", "restart-copied:136=hold-requests,168=call@abort", 1, "the rule did not know of a decision that was on its way when an operator put the copy there"},
{"group", "member-one-leaves:70=throttle-writes,244=throttle-writes", 1, "the rule did not know how long the pauses are after many refusals"},
{"chubby-lock", "chubby-readers:148=call@close,153=lagging@1", 1, "the rule forgot, when the lock was acquired, that the handle had been closed"},
{"chubby-lock", "chubby-freed-one:13=callback@3/close-session", 1926676322, "the rule took a GUID that begins with four noughts for an old mark"},
{"cache", "cache-two:78=hide-delete@0,127=call@cancel", 1, "the rule did not know of two rounds between two looks, where another cache has had the first one done, and has ended"},
{"watch-node", "planner-expires:71=partition,153=hold-replies,217=hangs-up,496=remake-away@0", 1, "the rule did not know of what a candidate has left, at whose listing the servers hang up"},
{"lock", "urgent-leave:195=fill,209=throttle-writes", 1, "the rule did not know of a lock that fails by a quota, and then by nine refusals of its delete"},
{"watch-node", "planner-expires:35=oom-on@11,102=oom-on@7,165=hangs-up,223=delete-pair@0,234=oom@5,276=stranger,293=starve,344=copy-member@0,368=freeze,476=freeze-short,848=foreign-lower", 1, "a planner that reads one member more or less asked for another request each time, and it took long to find the one at which servers hang up"},
{"shards", "copied:330=copy-member@0,348=copy-member@2,503=copy-member@1,601=copy-member@2", 1, "the rule saw eight znodes of a directory at most"},
{"two-phase-site-tx", "overruled:72=lost-refused,213=forge-vote@0,244=lagging@1", 1, "a site took its own znode away before the forged vote, was cut, and believed the vote that was left"},
{"consumer", "counts-told:221=fill,287=expire-after", 1, "the rule did not know of an item that was set aside, for want of room for its dead letter"},
{"two-phase-site-tx", "restart-deleted:139=replace-away@0,233=deny", 1, "the rule did not know of an operator who takes an entry away"},
{"semaphore", "semaphore-kazoo-try:58=call@free", 1, "while that was mended: the rule passed over the very turn by which the lease is taken"},
{"group", "member-watched:36=hangs-up,602=hide-change@1,632=replace-own@1", 1, "the rule did not know that a look at which the servers hang up is not repeated for ten minutes"},
{"double-barrier", "step-copied:2=oom@4,12=lagging@2,54=partition,84=oom-on@8,115=partition,233=partition,271=follower", 1, "a participant that came behind a round with copies in it waited for the copies, for ever"},
{"shards", "rivals:3=oom-on@6,193=copy-member@1,270=follower,300=remake-away@1,357=hangs-up", 1, "the planner rests, since servers hang up at its listing, and what is not in trouble is not read every five seconds by the same sync"},
{"shards", "most:103=oom@11,142=call-still@free,155=foreign-curator,173=lagging@1,257=hangs-up,362=call@drain", 1, "a candidate that ended since servers hang up is still deleting its znode: DRAINED says so"},
{"lock", "urgent-unlocked:124=copy-beside@1,170=throttle-reads,203=call@cancel", 1, "what became of its way into the queue was never found out, and its old znode is gone"},
{"lock-query", "look-again:5=lagging@1,76=call-still@free-session,82=slow", 1, "locks that are freed with their session come to their end one after the other"},
{"lock-revoke", "revoke-parent:0=oom-on@1,124=replace-away@1", 1, "a child is made below the copy that an operator takes away later"},
{"watch-node", "no-plan:20=oom@3,71=foreign-mutex,305=forge-plan@4,367=hangs-up,511=hide-member@0", 1, "servers hang up at the read of its own znode, which goes now with that of a hidden one, now without"},
{"watch-node", "planner-expires:3=oom@1,82=call@join,218=foreign-kazoo,267=oom@6,325=oom@8,353=forge-plan@1,416=call-still@acknowledge,484=remake-away@0,553=delete-own@0,557=cut-after,590=hold-replies", 1, "a member gets another znode while it tells that it is ready by the former one"},
{"lock", "urgent-readers:65=oom-on@7,159=remake-away@2,195=call@cancel", 1, "its way into the queue was not sent, and its znode is gone: all is known"},
{"lock", "rivals-come-and-go:1100=call@acquire", 1, "a second lock comes where rivals come and go"},
{"double-barrier", "step-rush:29=oom-on@4,95=delete-pair@0,143=empty-dir", 1, "an operator deletes ready, and a participant is of two rounds"},
{"consumer", "segments:73=oom-on@9,185=foreign-kazoo", 1, "the segment that it deletes was not empty when it began"},
{"consumer", "undeletable:110=oom-on@3,145=remake-away@1,308=spoil@0", 1, "what is set aside is had by another, and comes back"},
{"two-phase", "recover-copied:54=hold-replies,315=call@abort,323=freeze-short", 1, "a decided transaction is copied while the process of a site stands still"},
{"config-write", "set-two-large:136=delete-own@0,189=replace-own@2", 1, "an operator copies a lock, two write at once, and what they make together is of neither"},
{"lock-revoke", "revoke-writers:74=cut,78=call-still@close-session,94=copy-beside@1", 1, "a copy has the number of a lock that waits, and both that it barred wake"},
{"watch-node", "planner-expires:138=foreign-curator,142=replace-own@0,149=callback@1/free,170=replace-own@0", 1, "a transaction that failed did not say that an operator has replaced the znode"},
{"consumer", "full-takes:145=throttle-writes,240=call@close", 1, "a quota leaves the session the claim of an item whose end nobody knows"},
{"consumer", "buries-denied:36=slow,39=oom@12,130=cut,162=expire-after", 1, "a claim of which nobody was told counts as a delivery"},
{"two-phase-site-tx", "restart-copied:145=malform@8", 1165553637, "what a fault has written is not copied by an operator"},
{"value-writer", "add-bad:32=hangs-up,127=empty-dir", 1, "somebody deletes the value, and the greatest addition fits"},
{"group", "member-unguarded:38=refuse,135=malform@12", 1, "a member that does not know whether it has joined finds other data in its claim"},
{"chubby-lock", "chubby-tries:84=foreign-lower,89=remake-away@0,89=foreign-lower", 1, "a contender with a number below zero stands before one that tries"},
{"lock", "downgrade-next:61=lost-refused,145=throttle-reads", 1, "what a lock has left is asked for in pauses that grow, behind many refusals"},
{"lock", "reader-between:84=call-still@close-session,106=slow", 1, "locks of a session that closes without a connection end one after the other"},
    /* clang-format on */
};

#define KEPT (sizeof kept / sizeof *kept)

static const struct sim_recipe *recipe_named(const char *name)
{
    for (const struct sim_recipe *const *r = sim_recipes; *r; r++) {
        if (strcmp((*r)->name, name) == 0)
            return *r;
    }
    ck_abort_msg("no recipe %s", name);
    return NULL;
}

static void must_be_right(const char *wrong, const struct run *r)
{
    char text[RUN_TEXT];

    if (!wrong)
        return;
    run_text(r, text);
    ck_abort_msg("%s\n  explore --recipe %s --seed %llu --replay '%s'", wrong,
                 r->recipe->name, (unsigned long long)r->seed, text);
}

START_TEST(stays_mended)
{
    const struct kept *k = &kept[_i];
    struct run r;
    const char *wrong =
        search_replay(recipe_named(k->recipe), k->schedule, k->seed, &r);

    ck_assert_msg(!wrong, "%s %s: %s again: %s", k->recipe, k->schedule, k->was,
                  wrong);
}
END_TEST

/* The whole trace of a run, as one number. */

static void add_line(const char *line, void *arg)
{
    XXH3_64bits_update(arg, line, strlen(line));
}

static uint64_t trace_of(const struct sim_recipe *recipe, uint64_t seed,
                         uint64_t nth)
{
    XXH3_state_t *state = XXH3_createState();
    struct run r;
    uint64_t sum;

    XXH3_64bits_reset(state);
    sim_talk(add_line, state);
    must_be_right(search_chance(recipe, sim_scene_at(recipe, 0), seed, nth, &r),
                  &r);
    sim_talk(NULL, NULL);
    sum = XXH3_64bits_digest(state);
    XXH3_freeState(state);
    return sum;
}

/* A short scene may by chance be played the same once, without a fault. */
START_TEST(same_seed_same_trace)
{
    for (const struct sim_recipe *const *r = sim_recipes; *r; r++) {
        bool differs = false;

        for (uint64_t nth = 1; nth <= 8 && !differs; nth++) {
            uint64_t one = trace_of(*r, 1, nth), other = trace_of(*r, 2, nth);

            ck_assert_uint_eq(one, trace_of(*r, 1, nth));
            ck_assert_uint_eq(other, trace_of(*r, 2, nth));
            differs = one != other;
        }
        ck_assert_msg(differs, "%s: two seeds, and one trace", (*r)->name);
    }
}
END_TEST

/* Plays on from the nth step; returns the digest after `steps` more. */
static struct sim_digest go_on(const struct run *r, uint32_t n, uint32_t steps)
{
    struct sim_step step;

    for (uint32_t end = n + steps; n < end; n++) {
        if (run_next(r, n, &step) != RUN_GOES_ON)
            break;
        run_step(r, &step);
    }
    return sim_digest();
}

START_TEST(a_saved_world_goes_on_alike)
{
    struct run r = {.recipe = sim_recipes[0],
                    .scene = sim_scene_at(sim_recipes[0], 0),
                    .seed = 1};
    struct sim_digest a, b, at;
    struct sim_saved *w;

    if (!sim_can_save())
        return;
    run_begin(&r);
    at = go_on(&r, 0, 20);
    w = sim_save(NULL);
    a = go_on(&r, 20, 25);
    ck_assert_mem_ne(&a, &at, sizeof a);
    sim_restore(w);
    b = sim_digest();
    ck_assert_mem_eq(&b, &at, sizeof b);
    b = go_on(&r, 20, 25);
    ck_assert_mem_eq(&a, &b, sizeof a);
    sim_saved_free(w);
}
END_TEST

START_TEST(scenes_go_well_without_a_fault)
{
    for (const struct sim_recipe *const *r = sim_recipes; *r; r++) {
        for (unsigned i = 0; i < sim_scene_count(*r); i++) {
            struct run run;

            must_be_right(search_replay(*r, sim_scene_at(*r, i)->name, 1, &run),
                          &run);
        }
    }
}
END_TEST

/* In Valgrind one of so many: a run is long there. */
static unsigned stride_in(unsigned valgrind)
{
    return RUNNING_ON_VALGRIND ? valgrind : 1;
}

/* Single faults, spread over all.  Where a world can be saved, check-explore
 * plays many more of them; with sanitizers it leaves them to this test. */
static unsigned stride(void)
{
    return RUNNING_ON_VALGRIND || sim_can_save() ? 7993 : 401;
}

START_TEST(single_faults)
{
    unsigned total = 0;

    for (const struct sim_recipe *const *r = sim_recipes; *r; r++) {
        for (unsigned i = 0; i < sim_scene_count(*r); i += stride_in(4)) {
            struct run run;
            unsigned n = 0;

            must_be_right(search_singles(*r, sim_scene_at(*r, i), 1, i,
                                         stride(), &run, &n),
                          &run);
            total += n;
        }
    }
    printf("%u runs with one fault\n", total);
    ck_assert_uint_gt(total, 50);
}
END_TEST

/* Each run has many faults. */
START_TEST(faults_by_chance)
{
    uint64_t n = RUNNING_ON_VALGRIND ? 1 : 8;

    for (const struct sim_recipe *const *r = sim_recipes; *r; r++) {
        for (unsigned i = 0; i < sim_scene_count(*r); i += stride_in(8)) {
            for (uint64_t k = 0; k < n; k++) {
                struct run run;

                must_be_right(
                    search_chance(*r, sim_scene_at(*r, i), 7, k, &run), &run);
            }
        }
    }
}
END_TEST

/* A schedule's text is what it was read from. */
START_TEST(schedules_are_text)
{
    static const char text[] = "three:17=cut,43=oom@3";
    struct run r;
    char again[RUN_TEXT];

    ck_assert(run_parse(recipe_named("lock"), text, &r));
    run_text(&r, again);
    ck_assert_str_eq(again, text);
    ck_assert(!run_parse(recipe_named("lock"), "three:17=nonsense", &r));
    ck_assert(!run_parse(recipe_named("lock"), "nowhere:1=cut", &r));
}
END_TEST

/* A rule that no library keeps: what two cut connections break. */
static void check_two_doubts(void)
{
    recipe_named("lock")->check();
    if (process_doubts(1) >= 2)
        sim_violation("p1 was in doubt %d times", (int)process_doubts(1));
}

/* Of six faults two are left. */
START_TEST(schedules_become_short)
{
    static const char text[] = "two:20=oom@1,30=slow,61=lagging@2,70=oom-on@2,"
                               "78=oom@1,110=cut";
    struct sim_recipe strict = *recipe_named("lock");
    char wrong[SEARCH_TEXT], again[RUN_TEXT];
    struct run r = {.seed = 77};

    strict.check = check_two_doubts;
    ck_assert(run_parse(&strict, text, &r));
    ck_assert_uint_gt(search_shorten(&r, wrong), 6);
    ck_assert_str_eq(wrong, "p1 was in doubt 2 times");
    ck_assert_uint_eq(r.n_strikes, 2);
    ck_assert_uint_eq(r.seed, 1);
    run_text(&r, again);
    ck_assert_msg(search_replay(&strict, again, r.seed, &r) != NULL,
                  "%s is right", again);
    ck_assert(run_parse(recipe_named("lock"), "two:61=cut", &r));
    ck_assert_uint_eq(search_shorten(&r, wrong), 1);
    ck_assert_str_eq(wrong, "");
}
END_TEST

static void set_up(void)
{
    coverage_open();
    seams_open();
}

int main(void)
{
    Suite *suite = suite_create("sim");
    TCase *tests = tcase_create("sim");
    SRunner *runner;
    int failed;

    set_up();
    tcase_set_timeout(tests, 300);
    tcase_add_test(tests, same_seed_same_trace);
    tcase_add_test(tests, a_saved_world_goes_on_alike);
    tcase_add_test(tests, schedules_are_text);
    tcase_add_test(tests, schedules_become_short);
    tcase_add_test(tests, scenes_go_well_without_a_fault);
    /* Valgrind looks through the memory of each process: some will do. */
    for (size_t i = 0; i < KEPT; i += stride_in(3))
        tcase_add_loop_test(tests, stays_mended, (int)i, (int)i + 1);
    tcase_add_test(tests, single_faults);
    tcase_add_test(tests, faults_by_chance);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
