package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"jp/config"
	"jp/conversation"
	"jp/gitcmd"
	"jp/gitstore"
	"jp/gitstore/odb"
	"jp/internal/ownfolder"
	"jp/internal/safetext"
	"jp/process"
	"jp/provider"
	"jp/turnloop"
)

// Exit codes.
const (
	exitFailed      = 1
	exitUsage       = 2 // usage, configuration, model, key
	exitDecision    = 3 // somebody has to decide first
	exitLocked      = 4
	exitNotFound    = 5
	exitDamaged     = 6
	exitProvider    = 7
	exitInterrupted = 130
)

// A hint is a command that helps, and what it does.
type hint struct {
	Command string `json:"command"`
	Text    string `json:"text"`
}

// A failure is an error with what the user needs to get out of it.
type failure struct {
	exit         int
	code         string
	message      string
	details      []string // further lines, as they stand
	hints        []hint
	conversation conversation.ID
	silent       bool // everything was said already
	wanted       bool // the user chose it: it is said, and not called an error
	gone         bool // it says that something has taken the conversation away
}

func (f *failure) Error() string { return f.message }

func fail(exit int, code, format string, args ...any) *failure {
	return &failure{exit: exit, code: code, message: fmt.Sprintf(format, args...)}
}

// unchanged is the end of a command whose user said no.
func unchanged(exit int, code string) *failure {
	f := fail(exit, code, "nothing was changed.")
	f.wanted = true
	return f
}

// sentence is a text that begins with a capital.
func sentence(text string) string {
	r, n := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(r)) + text[n:]
}

func usage(format string, args ...any) *failure { return fail(exitUsage, "usage", format, args...) }

func (f *failure) hint(command, text string) *failure {
	f.hints = append(f.hints, hint{command, text})
	return f
}

func (f *failure) about(id conversation.ID) *failure {
	f.conversation = id
	return f
}

// failureOf is the one place where errors become exit codes.
func failureOf(err error) *failure {
	var f *failure
	var refusal *gitcmd.Refusal
	var locked *process.LockedError
	var badConfig *config.Error
	var interrupt *turnloop.Interrupt
	var denied *turnloop.DeniedError
	var link *ownfolder.LinkError
	switch {
	case errors.As(err, &f):
		return f
	case errors.As(err, &denied):
		return fail(exitFailed, "denied", "%v.", strings.TrimSuffix(oneLine(denied.Error()), "."))
	case errors.As(err, &link):
		return fail(exitFailed, "untrusted", "%v.", link).
			hint("ls -ld "+safetext.Escape(link.Path), "where it leads").
			hint("rm "+safetext.Escape(link.Path), "jp makes its own folder anew")
	case errors.As(err, &interrupt):
		return interrupted(interrupt)
	case errors.Is(err, context.Canceled):
		return interrupted(&turnloop.Interrupt{Signal: "SIGINT"})
	case errors.As(err, &refusal):
		return refused(refusal)
	case errors.As(err, &locked):
		return lockedBy(locked, "")
	case errors.As(err, &badConfig):
		return fail(exitUsage, "config", "%v", err)
	}
	return storeFailure(err)
}

// removeRefsLock is what a user does about a lock of git that nobody holds.
const removeRefsLock = `rm "$(git rev-parse --git-common-dir)/packed-refs.lock"`

// readTree makes the index anew, and does not read the one that is there.
const (
	readTree      = "git read-tree HEAD"
	readTreeLoses = "makes it anew; what was staged is no longer, and files stay as they are"
)

func storeFailure(err error) *failure {
	var damage *gitstore.DamageError
	var failed *turnloop.ProviderError
	var exit *gitcmd.ExitError
	var two *gitstore.TwiceError
	switch {
	case errors.As(err, &two):
		return twice(two)
	case errors.Is(err, provider.ErrAbsent):
		return fail(exitNotFound, "not_found", "%v. Large texts are kept beside the events, and are fetched apart.", err).
			hint("jp verify --all", "which texts are not here, whether they are lost, and what brings them")
	case errors.Is(err, gitstore.ErrShallow):
		return fail(exitNotFound, "not_found", "%v.", err).hint(unshallow(""), "brings them")
	case errors.As(err, &exit) && strings.Contains(exit.Stderr, "from promisor remote"):
		return fail(exitNotFound, "not_found", "this is a partial clone that lacks some content, and jp fetches none: %v", err).
			hint("git fetch --refetch --no-filter", "brings all of it")
	case errors.As(err, &exit) && exit.IndexDamaged():
		return fail(exitFailed, "unreadable", "git's index is damaged: %v", err).hint(readTree, readTreeLoses)
	case errors.As(err, &failed):
		return providerFailure(failed)
	case isFull(err):
		return noSpace(err)
	case errors.Is(err, conversation.ErrReadOnlyStore), errors.Is(err, syscall.EROFS):
		return unwritable(err)
	case errors.Is(err, gitstore.ErrRefsLocked):
		return fail(exitLocked, "locked", "%v", err).
			hint(removeRefsLock, "where no git runs any more: one that was killed has left it")
	case errors.As(err, &damage):
		return fail(exitDamaged, "damaged", "%v. Events before it are readable: %d.", err, damage.Good)
	case errors.Is(err, conversation.ErrDamaged):
		return fail(exitDamaged, "damaged", "%v", err).takeAway(gitstore.BrokenRef(err))
	case errors.Is(err, conversation.ErrBadID), errors.Is(err, conversation.ErrNotFound):
		return fail(exitNotFound, "not_found", "%v", err)
	case errors.Is(err, fs.ErrPermission):
		return fail(exitFailed, "unreadable", "%v", err).hint("jp doctor", "what you may read and write here")
	case errors.Is(err, conversation.ErrNewer):
		return fail(exitDecision, "untrusted", "%v", err)
	case errors.Is(err, provider.ErrModel):
		return fail(exitUsage, "usage", "%v", err)
	}
	return fail(exitFailed, "internal", "%v", err)
}

// takeAway hints at what is left to do about a ref whose file names nothing; ref is
// "" where there is none. git itself may refuse to delete it, and to collect
// garbage while it is there.
func (f *failure) takeAway(ref string) *failure {
	if ref == "" {
		return f
	}
	return f.hint(`rm "$(git rev-parse --git-common-dir)/`+ref+`"`, "takes the file away: the conversation is then as packed-refs has it, or gone; git fsck --lost-found finds its commits until git gc")
}

// isFull reports whether something could not be written for want of space, or of
// the right to use more.
func isFull(err error) bool {
	return errors.Is(err, conversation.ErrNoSpace) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

// noSpace says what is full, and that it costs nothing that was recorded.
func noSpace(err error) *failure {
	f := fail(exitFailed, "no_space", "%s", withoutSentinel(err, conversation.ErrNoSpace))
	switch {
	case errors.Is(err, syscall.EFBIG):
		f.hint("ulimit -f unlimited", "lifts the limit on the size of files in this shell")
	case errors.Is(err, syscall.EDQUOT):
		f.hint("quota", "how much you may use")
	default:
		f.hint("df -h .", "what is full: bytes").hint("df -i .", "or files")
	}
	return f.hint("jp status", "with room again: what was recorded, and how to go on")
}

// unwritable says that jp cannot write where it has to.
func unwritable(err error) *failure {
	why := withoutSentinel(err, conversation.ErrReadOnlyStore)
	var cause syscall.Errno
	if errors.As(err, &cause) {
		why = cause.Error()
	}
	return fail(exitFailed, "read_only", "the repository cannot be written to: %s", why).
		hint("jp verify --all", "reading goes on: what was recorded is there")
}

// withoutSentinel is an error's text without a sentinel that only says what the
// rest says in more detail.
func withoutSentinel(err, sentinel error) string {
	return strings.ReplaceAll(err.Error(), sentinel.Error()+": ", "")
}

func interrupted(i *turnloop.Interrupt) *failure {
	exit := map[string]int{"SIGTERM": 143, "SIGHUP": 129, "SIGQUIT": 131}[i.Signal]
	if exit == 0 {
		exit = exitInterrupted
	}
	return fail(exit, "interrupted", "%v", i)
}

// gitInitSHA1 makes a repository of the one kind that jp speaks.
const gitInitSHA1 = "git init --object-format=sha1 DIR"

func refused(r *gitcmd.Refusal) *failure {
	f := fail(exitUsage, "usage", "%v", r)
	if errors.Is(r, gitcmd.ErrNotRepository) {
		if git := looksLikeOne(r.Dir); git != "" && danglingLink(git) != "" {
			f.message = fmt.Sprintf("%s names %s, which is not there.", git, danglingLink(git))
			return f.hint(worktreeRepair, "in the main working tree, where that was moved")
		}
		return f.withoutRepository(r)
	}
	if errors.Is(r, gitcmd.ErrObjectFormat) {
		f.hint(gitInitSHA1, "makes one that jp can work in")
	}
	if git := looksLikeOne(r.Dir); len(r.Extensions) > 0 && isFile(filepath.Join(git, "config")) {
		f.details = append(f.details, "A newer git may know it.")
		for _, key := range r.Extensions {
			f.hint("git config --file "+safetext.Escape(filepath.Join(git, "config"))+" --unset "+safetext.Escape(key), "where the entry is a mistake")
		}
	}
	if advice := r.Hint(); advice != "" {
		f.details = append(f.details, advice)
	}
	return f
}

// withoutRepository says of a folder that git finds no repository for it, or none that jp
// can use, and why.
func (f *failure) withoutRepository(r *gitcmd.Refusal) *failure {
	dir := safetext.Show(r.Dir)
	if advice := r.Hint(); advice != "" {
		f.message = dir + " is in no git repository that can be used."
		f.details = append(f.details, advice)
	} else {
		f.message = dir + " is not in a git repository; conversations live in one."
		f.hint("git init", "make one here")
	}
	if len(r.Ignored) > 0 {
		f.details = append(f.details, notFollowed(r.Ignored))
	}
	return f.hint(`jp -C DIR query "…"`, "ask in another one")
}

// notFollowed says of variables of the environment that they change nothing.
func notFollowed(names []string) string {
	verb := "is"
	if len(names) > 1 {
		verb = "are"
	}
	return fmt.Sprintf("%s %s set, which jp does not follow: it works in the repository of its folder, or of that of -C.", strings.Join(names, " and "), verb)
}

// lockedBy names the process that holds a conversation, and what more is known of
// it.
func lockedBy(l *process.LockedError, more string) *failure {
	return fail(exitLocked, "locked", "Conversation %s is locked by %s%s.", l.ID, l.Holder.Name(), more).about(l.ID)
}

// typedFor makes the hints right for where the command was typed: what jp or git is to
// do happens where -C has sent this command. It may be asked twice.
func (f *failure) typedFor(e *env) *failure {
	if !e.elsewhere() {
		return f
	}
	for i, h := range f.hints {
		for _, program := range []string{"jp", "git"} {
			rest, found := strings.CutPrefix(h.Command, program+" ")
			if found && h.Command != gitInitSHA1 && !strings.HasPrefix(rest, "-C ") && !strings.HasSuffix(rest, "--help") {
				f.hints[i].Command = program + " -C " + safetext.Escape(e.dir) + " " + rest
			}
		}
	}
	return f
}

// report prints a failure for people or for programs.
func (f *failure) report(w io.Writer, asJSON bool) {
	switch {
	case f.silent:
	case asJSON:
		line, err := json.Marshal(map[string]any{"error": f.object()})
		if err == nil {
			fmt.Fprintf(w, "%s\n", safetext.EscapeJSON(line))
		}
	default:
		fmt.Fprint(w, f.text())
	}
}

func (f *failure) object() map[string]any {
	o := map[string]any{"code": f.code, "message": f.message, "exit": f.exit, "hints": f.hints}
	if f.hints == nil {
		o["hints"] = []hint{}
	}
	if f.conversation != "" {
		o["conversation"] = f.conversation
	}
	return o
}

func (f *failure) text() string {
	var b strings.Builder
	if f.wanted {
		fmt.Fprintf(&b, "%s\n", sentence(safetext.Clean(f.message)))
	} else {
		fmt.Fprintf(&b, "Error: %s\n", safetext.Clean(f.message))
	}
	for _, line := range f.details {
		fmt.Fprintf(&b, "  %s\n", safetext.Clean(line))
	}
	width := 0
	for _, h := range f.hints {
		width = max(width, len([]rune(safetext.Clean(h.Command))))
	}
	if len(f.hints) > 0 {
		b.WriteByte('\n')
	}
	for _, h := range f.hints {
		fmt.Fprintf(&b, "    %-*s   %s\n", width, safetext.Clean(h.Command), safetext.Clean(h.Text))
	}
	return b.String()
}

// cannotWrite reports whether an error comes from a repository that cannot be written to.
func cannotWrite(err error) bool {
	return isReadOnly(err) || errors.Is(err, conversation.ErrReadOnlyStore) || errors.Is(err, odb.ErrReadOnly)
}
