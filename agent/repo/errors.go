package repo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"jp/agent/problem"
	"jp/config"
	"jp/conversation"
	"jp/gitcmd"
	"jp/gitstore"
	"jp/gitstore/odb"
	"jp/gitstore/trees"
	"jp/internal/action"
	"jp/internal/safefile"
	"jp/internal/safetext"
	"jp/process"
	"jp/provider"
	"jp/turnloop"
)

// Newer is the error of a conversation that needs a newer jp, with the version.
func Newer(id conversation.ID, events []*conversation.Event) *problem.Error {
	version := "a newer version"
	for _, e := range slices.Backward(events) {
		if b, ok := e.Body.(*conversation.TurnStart); ok && b.JP != "" {
			version = "jp " + safetext.Show(b.JP) + " or a newer version"
			break
		}
	}
	return problem.New(problem.ExitUsage, "untrusted", "a newer jp wrote conversation %s: this one can read it only. Install %s.", id, version).About(id)
}

// ProblemOf alone turns errors into exit codes.
func ProblemOf(err error) *problem.Error {
	var f *problem.Error
	var refusal *gitcmd.Refusal
	var locked *process.LockedError
	var badConfig *config.Error
	var interrupt *turnloop.Interrupt
	var denied *turnloop.DeniedError
	var link *safefile.LinkError
	switch {
	case errors.As(err, &f):
		return f
	case errors.As(err, &denied):
		return problem.New(problem.ExitFailed, "denied", "%v.", strings.TrimSuffix(problem.OneLine(denied.Error()), "."))
	case errors.As(err, &link):
		return problem.New(problem.ExitFailed, "untrusted", "%v.", link).
			Hint(action.ListLink(link.Path), "where it leads").
			Hint(action.RemoveFile(link.Path), "jp makes its own again")
	case errors.As(err, &interrupt):
		return Interrupted(interrupt)
	case errors.Is(err, context.Canceled):
		return Interrupted(&turnloop.Interrupt{Signal: "SIGINT"})
	case errors.As(err, &refusal):
		return refused(refusal)
	case errors.Is(err, gitcmd.ErrGitMissing):
		f := problem.New(problem.ExitFailed, "internal", "%v.", err)
		f.Details = append(f.Details, gitcmd.InstallGit)
		return f
	case errors.As(err, &locked):
		return lockedBy(locked, "")
	case errors.As(err, &badConfig):
		return problem.New(problem.ExitUsage, "config", "%v", err)
	}
	return storeFailure(err)
}

// readTreeLoses is the cost of making a new index.
const readTreeLoses = "makes a new one; what was staged is no longer staged, and files stay as they are"

func storeFailure(err error) *problem.Error {
	var damage *gitstore.DamageError
	var failed *turnloop.ProviderError
	var exit *gitcmd.ExitError
	var two *gitstore.DuplicateIDError
	switch {
	case errors.As(err, &two):
		return duplicateProblem(two)
	case errors.Is(err, provider.ErrAbsent):
		return problem.New(problem.ExitNotFound, "not_found", "%v. Large texts are kept beside the events, and are fetched apart.", err).
			Hint(action.VerifyAll, "which texts are not here, whether they are lost, and what brings them")
	case errors.Is(err, gitstore.ErrShallow):
		return problem.New(problem.ExitNotFound, "not_found", "%v.", err).Hint(Unshallow(""), "brings them")
	case errors.As(err, &exit) && exit.LeftOut():
		return problem.New(problem.ExitNotFound, "not_found", "this is a partial clone that lacks some content, and jp fetches none: %v", err).
			Hint(action.FetchContent, "brings all of it")
	case errors.Is(err, trees.ErrMissing):
		return problem.New(problem.ExitNotFound, "not_found", "part of a snapshot is not in this repository, and jp fetches none: %v", err).
			Hint(action.FetchContent, "brings what a partial clone lacks")
	case errors.As(err, &exit) && exit.IndexDamaged():
		return problem.New(problem.ExitFailed, "unreadable", "git's index is damaged: %v", err).Hint(action.ReadTree, readTreeLoses)
	case errors.As(err, &failed):
		return providerFailure(failed)
	case isFull(err):
		return noSpace(err)
	case errors.Is(err, conversation.ErrReadOnlyStore), errors.Is(err, syscall.EROFS):
		return Unwritable(err)
	case errors.Is(err, gitstore.ErrRefsLocked):
		return problem.New(problem.ExitLocked, "locked", "%v", err).
			Hint(action.RemoveRefsLock, "where no git runs any more: one that was killed has left it")
	case errors.Is(err, gitstore.ErrTablesLocked):
		return problem.New(problem.ExitLocked, "locked", "%v", err).
			Hint(action.RemoveTables, "where no git runs any more: one that was killed has left it")
	case errors.Is(err, gitstore.ErrRefConflict):
		return problem.New(problem.ExitFailed, "unreadable", "%v", err).Hint(action.Doctor, "names the ref, and commands that keep it under another name")
	case errors.As(err, &damage):
		return problem.New(problem.ExitDamaged, "damaged", "%v. Events before it are readable: %d.", err, damage.Good)
	case errors.Is(err, conversation.ErrDamaged):
		return TakeAway(problem.New(problem.ExitDamaged, "damaged", "%v", err), gitstore.BrokenRef(err))
	case errors.Is(err, conversation.ErrBadID), errors.Is(err, conversation.ErrNotFound):
		return problem.New(problem.ExitNotFound, "not_found", "%v", err)
	case errors.Is(err, fs.ErrPermission):
		return problem.New(problem.ExitFailed, "unreadable", "%v", err).Hint(action.Doctor, "what you may read and write here")
	case errors.Is(err, conversation.ErrNewer):
		return problem.New(problem.ExitUsage, "untrusted", "%v", err)
	case errors.Is(err, provider.ErrModel):
		return problem.New(problem.ExitUsage, "usage", "%v", err)
	}
	return problem.New(problem.ExitFailed, "internal", "%v", err)
}

// TakeAway adds hints about a ref whose file is damaged. ref is "" if it has no file. git may refuse to
// delete it, and to collect garbage meanwhile.
func TakeAway(f *problem.Error, ref string) *problem.Error {
	if ref == "" {
		return f
	}
	return f.Hint(action.RemoveRef(ref), "takes the file away: the conversation is then as packed-refs has it, or gone; "+action.FindCommits.String()+" finds its commits until git gc")
}

// isFull reports whether a write failed for want of space, or of the right to use more.
func isFull(err error) bool {
	return errors.Is(err, conversation.ErrNoSpace) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

// noSpace is the error of a full disk or quota, after which all recorded events remain.
func noSpace(err error) *problem.Error {
	f := problem.New(problem.ExitFailed, "no_space", "%s", withoutSentinel(err, conversation.ErrNoSpace))
	switch {
	case errors.Is(err, syscall.EFBIG):
		f.Hint(action.LiftFileSize, "lifts the limit on the size of files in this shell, if it is a soft one")
	case errors.Is(err, syscall.EDQUOT):
		f.Hint(action.Quota, "how much you may use")
	default:
		f.Hint(action.FreeBytes, "what is full: bytes").Hint(action.FreeFiles, "or files")
	}
	return f.Hint(action.Status, "with room again: what was recorded, and how to go on")
}

// Unwritable is the error of a place that jp cannot write.
func Unwritable(err error) *problem.Error {
	why := withoutSentinel(err, conversation.ErrReadOnlyStore)
	var cause syscall.Errno
	if errors.As(err, &cause) {
		why = cause.Error()
	}
	return problem.New(problem.ExitFailed, "read_only", "the repository cannot be written to: %s", why).
		Hint(action.VerifyAll, "reading goes on: what was recorded is there")
}

// withoutSentinel is an error's text without a sentinel that repeats the rest in general words.
func withoutSentinel(err, sentinel error) string {
	return strings.ReplaceAll(err.Error(), sentinel.Error()+": ", "")
}

func Interrupted(i *turnloop.Interrupt) *problem.Error {
	exit := map[string]int{"SIGTERM": 143, "SIGHUP": 129, "SIGQUIT": 131}[i.Signal]
	if exit == 0 {
		exit = problem.ExitInterrupted
	}
	return problem.New(exit, "interrupted", "%v", i)
}

func refused(r *gitcmd.Refusal) *problem.Error {
	f := problem.New(problem.ExitUsage, "usage", "%v", r)
	if errors.Is(r, gitcmd.ErrNotRepository) {
		git := LooksLikeOne(r.Dir)
		if common := MissingCommonOf(git); git != "" && common.File != "" {
			f.Message = common.Error()
			act, why := common.WayOut()
			if act.None() {
				f.Details = append(f.Details, why)
				return f
			}
			return f.Hint(act, why)
		}
		if git != "" && DanglingLink(git) != "" {
			f.Message = fmt.Sprintf("%s names %s, which is not there.", git, DanglingLink(git))
			return f.Hint(action.RepairWorktree, "in the main working tree, where that was moved")
		}
		return withoutRepository(f, r)
	}
	if errors.Is(r, gitcmd.ErrObjectFormat) {
		f.Hint(action.InitSHA1, "makes one that jp can work in")
	}
	for _, way := range WaysOut(r) {
		f.Hint(way.Action, way.Why)
	}
	if advice := r.Hint(); advice != "" {
		f.Details = append(f.Details, advice)
	}
	return f
}

// A WayOut of a refusal is a command, and its purpose.
type WayOut struct {
	Action action.Action
	Why    string
}

// WaysOut of a refusal change the configuration of a repository whose extensions are in the way.
func WaysOut(r *gitcmd.Refusal) (ways []WayOut) {
	file := filepath.Join(LooksLikeOne(r.Dir), "config")
	if len(r.Extensions) == 0 || !safefile.IsRegular(file) {
		return nil
	}
	why := "where the entry is a mistake"
	switch {
	case errors.Is(r, gitcmd.ErrVersionZero):
		ways = append(ways, WayOut{action.SetVersionOne(file), "lets git take the extension"})
	case errors.Is(r, gitcmd.ErrSecondFormat):
		why = "gives up the second names"
	}
	for _, key := range r.Extensions {
		ways = append(ways, WayOut{action.UnsetExtension(file, key), why})
	}
	return ways
}

// withoutRepository is the error of a folder for which git finds no usable repository, with the reason.
func withoutRepository(f *problem.Error, r *gitcmd.Refusal) *problem.Error {
	dir := safetext.Show(r.Dir)
	if advice := r.Hint(); advice != "" {
		f.Message = dir + " is in no git repository that can be used."
		f.Details = append(f.Details, advice)
	} else {
		f.Message = dir + " is not in a git repository. Conversations live in one."
		f.Hint(action.Init, "make one here")
	}
	if len(r.Ignored) > 0 {
		f.Details = append(f.Details, notFollowed(r.Ignored))
	}
	return f.Hint(action.AskElsewhere, "ask in another one")
}

// notFollowed names variables of the environment that have no effect.
func notFollowed(names []string) string {
	verb := "is"
	if len(names) > 1 {
		verb = "are"
	}
	return fmt.Sprintf("%s %s set, which jp does not follow: it works in the repository of its folder, or of that of -C.", strings.Join(names, " and "), verb)
}

// lockedBy names the process that holds a conversation, and adds further facts.
func lockedBy(l *process.LockedError, more string) *problem.Error {
	return problem.New(problem.ExitLocked, "locked", "Conversation %s is locked by %s%s.", l.ID, l.Holder.Name(), more).About(l.ID)
}

// CannotWrite reports whether an error comes from a repository that jp cannot write.
func CannotWrite(err error) bool {
	return IsReadOnly(err) || errors.Is(err, conversation.ErrReadOnlyStore) || errors.Is(err, odb.ErrReadOnly)
}

// QuestionKept tells the user of a failed turn that its question is recorded.
const QuestionKept = "Your question is recorded."

// providerFailure is the error of a turn whose model could not be asked.
func providerFailure(p *turnloop.ProviderError) *problem.Error {
	f := problem.New(problem.ExitProvider, "provider", "%v. %s", p, QuestionKept)
	var e *provider.Error
	if !errors.As(p, &e) {
		return f
	}
	tries := ""
	if p.Tries > 1 {
		tries = fmt.Sprintf("; gave up after %d tries", p.Tries)
	}
	asks := ""
	if p.Wait > 0 {
		asks = " It asks to wait " + conversation.Ago(p.Wait) + ", longer than limits.retry_wait allows."
	}
	f.Message = fmt.Sprintf("%s%s.%s %s", complaint(e), tries, asks, QuestionKept)
	if e.Class == provider.ClassInvalid && namesReasoning(e.Message) {
		f.Details = append(f.Details, "parameters.reasoning says how much the model is to think; unset, it thinks as much as suits it.")
	}
	if e.Class == provider.ClassNoCall {
		f.Exit = problem.ExitFailed // the provider did answer
	}
	if e.Class == provider.ClassAuth || e.Class == provider.ClassQuota {
		f.Code = "auth"
	}
	return f
}

// Complaint explains an error of a model call, as the end of a turn does.
func Complaint(err error) string {
	var e *provider.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	return complaint(e)
}

// namesReasoning reports whether a provider's words are about how much a model thinks.
func namesReasoning(words string) bool {
	words = strings.ToLower(words)
	return slices.ContainsFunc([]string{"reasoning", "effort", "thinking_level", "thinkinglevel"}, func(word string) bool { return strings.Contains(words, word) })
}

// complaint explains a provider's error, and quotes it.
func complaint(e *provider.Error) string {
	means := map[provider.Class]string{
		provider.ClassOverloaded: "is overloaded or out of order",
		provider.ClassRateLimit:  "takes no more requests for now",
		provider.ClassDisconnect: "cannot be reached, or its answer broke off",
		provider.ClassTimeout:    "said nothing for too long",
		provider.ClassAuth:       "refuses the key",
		provider.ClassQuota:      "says that the account has nothing left to spend",
		provider.ClassContext:    "cannot read so much: the conversation is longer than the model allows",
		provider.ClassModel:      "has no such model, or not for this account",
		provider.ClassAddress:    "has nothing that answers at its address (providers.NAME.base_url)",
		provider.ClassInvalid:    "refuses the request",
		provider.ClassNoCall:     "did not finish its answer",
	}[e.Class]
	if means == "" || e.Class == provider.ClassAuth && e.Status == 0 { // the key is missing
		means = "cannot be asked"
	}
	said := (&provider.Error{Status: e.Status, Message: strings.TrimRight(e.Message, "."), Err: e.Err}).Error()
	if said == "" {
		return e.Provider + " " + means
	}
	return e.Provider + " " + means + ": " + said
}

// IsReadOnly reports whether an error comes from a file system that jp cannot write.
func IsReadOnly(err error) bool {
	return errors.Is(err, unix.EROFS) || errors.Is(err, fs.ErrPermission)
}
