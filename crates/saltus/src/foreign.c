/* What the specification promises to external C functions (12.9.6), for code that Saltus calls. */
#include "ModelicaUtilities.h"
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 4096 };

struct piece {
    struct piece *before;
    double text[1];
};

static jmp_buf back;
static int inside = 0;
static char last_words[LONGEST];
/* Messages since the last call, each ended by a new line; texts that live until then. */
static char *said = NULL;
static size_t said_length = 0;
static struct piece *lent = NULL;

/* Calls are serialised by Saltus. */
int saltus_guard(void (*bridge)(const void *, const uint64_t *, uint64_t *),
                 const void *function, const uint64_t *words, uint64_t *result) {
    inside = 1;
    if (setjmp(back)) {
        inside = 0;
        return 1;
    }
    bridge(function, words, result);
    inside = 0;
    return 0;
}

const char *saltus_last_words(void) { return last_words; }

const char *saltus_said(void) { return said ? said : ""; }

void saltus_release(void) {
    free(said);
    said = NULL;
    said_length = 0;
    while (lent) {
        struct piece *before = lent->before;
        free(lent);
        lent = before;
    }
}

static void give_up(void) {
    if (inside) longjmp(back, 1);
    abort();
}

static void say(const char *before, const char *text) {
    size_t n = strlen(before) + strlen(text);
    char *longer = realloc(said, said_length + n + 2);
    if (!longer) return;
    said = longer;
    sprintf(said + said_length, "%s%s", before, text);
    said_length += n;
    if (n == 0 || said[said_length - 1] != '\n') strcpy(said + said_length++, "\n");
}

void ModelicaError(const char *text) {
    snprintf(last_words, LONGEST, "%s", text);
    give_up();
}

void ModelicaVFormatError(const char *format, va_list args) {
    vsnprintf(last_words, LONGEST, format, args);
    give_up();
}

void ModelicaFormatError(const char *format, ...) {
    va_list args;
    va_start(args, format);
    ModelicaVFormatError(format, args);
}

void ModelicaMessage(const char *text) { say("", text); }

void ModelicaWarning(const char *text) { say("warning: ", text); }

#define FORMATTED(name, before)                      \
    void ModelicaVFormat##name(const char *format, va_list args) { \
        char text[LONGEST];                          \
        vsnprintf(text, LONGEST, format, args);      \
        say(before, text);                           \
    }                                                \
    void ModelicaFormat##name(const char *format, ...) { \
        va_list args;                                \
        va_start(args, format);                      \
        ModelicaVFormat##name(format, args);         \
        va_end(args);                                \
    }
FORMATTED(Message, "")
FORMATTED(Warning, "warning: ")

char *ModelicaAllocateStringWithErrorReturn(size_t length) {
    struct piece *piece = malloc(sizeof(struct piece) + length + 1);
    if (!piece) return NULL;
    piece->before = lent;
    lent = piece;
    memset(piece->text, 0, length + 1);
    return (char *)piece->text;
}

char *ModelicaAllocateString(size_t length) {
    char *text = ModelicaAllocateStringWithErrorReturn(length);
    if (!text) ModelicaError("ModelicaAllocateString: out of memory");
    return text;
}

char *ModelicaDuplicateStringWithErrorReturn(const char *text) {
    char *copy = ModelicaAllocateStringWithErrorReturn(strlen(text));
    if (copy) strcpy(copy, text);
    return copy;
}

char *ModelicaDuplicateString(const char *text) {
    return strcpy(ModelicaAllocateString(strlen(text)), text);
}
