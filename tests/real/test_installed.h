/*
 * The other libraries where they are installed: Debian's Curator, with a Java
 * compiler, and Debian's Kazoo.
 */
#ifndef TESTS_REAL_TEST_INSTALLED_H
#define TESTS_REAL_TEST_INSTALLED_H

#include <stdbool.h>
#include <unistd.h>

#include "test_peers.h"

/* The class path; with the test's own classes after curator_compile(). */
static char curator_jars[4096];

static inline const char *tool(const char *variable, const char *usual)
{
    const char *set = getenv(variable);

    return set ? set : usual;
}

static inline bool jars_are_there(void)
{
    static const char *const jars[] = {"curator-recipes", "curator-framework",
                                       "curator-client",  "zookeeper",
                                       "zookeeper-jute",  "guava",
                                       "slf4j-api",       "slf4j-nop"};
    size_t n = 0;

    for (size_t i = 0; i < sizeof jars / sizeof jars[0]; i++) {
        char *jar = curator_jars + n;

        n += (size_t)snprintf(jar, sizeof curator_jars - n,
                              "/usr/share/java/%s.jar", jars[i]);
        if (access(jar, R_OK) != 0)
            return false;
        curator_jars[n++] = ':';
    }
    curator_jars[n] = '\0';
    return true;
}

/* If not, prints why the test is skipped. */
static inline bool curator_is_there(void)
{
    char line[512];

    snprintf(line, sizeof line, "%s -version >/dev/null 2>&1",
             tool("JAVAC", "javac"));
    if (jars_are_there() && system(line) == 0)
        return true;
    puts("SKIP: Curator and a Java compiler are not there: apt-get install "
         "libcurator-recipes-java default-jdk-headless");
    return false;
}

/* Once for all tests, into the server's own folder, which goes with it. */
static inline void curator_compile(const char *class)
{
    char line[3 * sizeof curator_jars], *end = strrchr(curator_jars, ':') + 1,
                                        file[64];

    *end = '\0';
    zk_shared();
    snprintf(file, sizeof file, "%s.java", class);
    snprintf(line, sizeof line, "%s -nowarn -cp '%s' -d '%s' '%s'",
             tool("JAVAC", "javac"), curator_jars, zk_folder(zk_shared()),
             in_source(file));
    ck_assert_int_eq(system(line), 0);
    strcpy(end, zk_folder(zk_shared()));
}

/* Debian's, for Debian's Kazoo. */
static inline const char *python(void)
{
    return tool("PYTHON", "/usr/bin/python3");
}

/* If not, prints why the test is skipped. */
static inline bool kazoo_is_there(void)
{
    char line[512];

    snprintf(line, sizeof line, "%s -c 'import kazoo.client' 2>/dev/null",
             python());
    if (system(line) == 0)
        return true;
    puts("SKIP: Kazoo is not there: apt-get install python3-kazoo");
    return false;
}

/* A process of Curator: the class that curator_compile() has compiled. */
static inline void curator_start(struct library *b, const char *class)
{
    char java[256], name[64], server[64];
    char *argv[] = {java,         "-XX:TieredStopAtLevel=1",
                    "-Xmx128m",   "-cp",
                    curator_jars, name,
                    server,       NULL};

    snprintf(java, sizeof java, "%s", tool("JAVA", "java"));
    snprintf(name, sizeof name, "%s", class);
    snprintf(server, sizeof server, "%s", the_server());
    library_run(b, argv);
}

/* A process of Kazoo: a script of the sources. */
static inline void kazoo_start(struct library *b, const char *name)
{
    char program[256], script[4096], server[64];
    char *argv[] = {program, script, server, NULL};

    snprintf(program, sizeof program, "%s", python());
    snprintf(script, sizeof script, "%s", in_source(name));
    snprintf(server, sizeof server, "%s", the_server());
    library_run(b, argv);
}

#endif
