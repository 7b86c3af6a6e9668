package blame

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/gitcmd"
	"jp/gitstore/trees"
	"jp/internal/safefile"
	"jp/internal/safetext"
	"jp/tool/gittool"
)

// A MessageHook is git's hook commit-msg of a repository, which git runs when the message is written.
// A hook of the user's own stays beside it under another name and runs first.
type MessageHook struct {
	repo    *repo.Repo
	program string // jp
}

const (
	hookName = "commit-msg"
	kept     = hookName + ".before-jp"
	hookHead = "#!/bin/sh\n# by jp hooks install; jp hooks uninstall takes it out again\n" +
		`own="$(dirname "$0")/` + kept + "\"\n" + `if [ -x "$own" ]; then
	read -r run <"$own"
	case "$run" in
	'#!'*[/\ ]sh | '#!'*[/\ ]bash | '#!'*[/\ ]dash | '#!'*[/\ ]ksh) own="$own" ${run#??} -c '. "$own"' "$0" "$@" || exit $? ;; # its $0 is the name that git gives it
	*) "$own" "$@" || exit $? ;;
	esac
fi
` + hookAmend
	hookAmend = `case "$(ps -o args= -p "$PPID" 2>/dev/null) " in *" --amend "*) amend=--amend ;; *) amend= ;; esac` + "\n"
	hookDir   = "# jp made this folder\n" // the last line, if it did
	hookCall  = ` hooks message $amend "$1" || true`
)

// NewMessageHook is the hook of a repository, which starts a program.
func NewMessageHook(r *repo.Repo, program string) MessageHook { return MessageHook{r, program} }

// Dir is the folder of the repository's hooks.
func (h MessageHook) Dir() string { return filepath.Join(h.repo.At.CommonDir, "hooks") }

// line calls jp. The commit goes on if jp fails or is gone.
func (h MessageHook) line() string { return safetext.Escape(h.program) + hookCall }

// Installed reports whether the hook is in place. A hook that someone changed is an error.
func (h MessageHook) Installed() (bool, error) {
	is, _, err := h.installed()
	return is, err
}

// installed reports whether the hook is in place, and whether jp made its folder. A hook that someone changed is an error.
func (h MessageHook) installed() (is, madeDir bool, err error) {
	path, own := filepath.Join(h.Dir(), hookName), filepath.Join(h.Dir(), kept)
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, false, fmt.Errorf("read the hook: %w", err)
	}
	text, madeDir := strings.CutSuffix(string(data), hookDir)
	if call, is := strings.CutPrefix(text, hookHead); is {
		if call, is = strings.CutSuffix(call, hookCall+"\n"); is && !strings.Contains(call, "\n") {
			return true, madeDir, nil
		}
		return false, false, problem.New(problem.ExitUsage, "usage", "%s was changed since jp wrote it. Take the lines of jp out of it yourself.", path)
	}
	if _, err := os.Lstat(own); err == nil {
		return false, false, problem.New(problem.ExitUsage, "usage", "%s is in the way: another program replaced the hook of jp. Rename it to %s, or delete it.", own, hookName)
	}
	return false, false, nil
}

// Check fails if git looks for the repository's hooks elsewhere, or if jp cannot keep its hook.
func (h MessageHook) Check(ctx context.Context) error {
	out, _ := h.repo.Git.Run(ctx, "config", "--show-scope", "-z", "--get-all", "core.hooksPath") // if unset it fails
	path := ""
	fields := strings.Split(string(out), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		if fields[i] != "command" { // jp's own switches hooks off
			path = fields[i+1]
		}
	}
	if path != "" {
		return problem.New(problem.ExitUsage, "config",
			"core.hooksPath is %s: jp does not change the hooks there. Add these lines to its %s:\n\n%s%s", safetext.Show(path), hookName, hookAmend, h.line())
	}
	_, _, err := h.installed()
	return err
}

// Install puts the hook in place, after [MessageHook.Check], and reports its work.
func (h MessageHook) Install() (done string, err error) {
	path, own := filepath.Join(h.Dir(), hookName), filepath.Join(h.Dir(), kept)
	is, madeDir, err := h.installed()
	if err != nil {
		return "", err
	}
	text := hookHead + h.line() + "\n"
	if _, err := os.Lstat(h.Dir()); madeDir || errors.Is(err, fs.ErrNotExist) {
		text += hookDir
	}
	if !is {
		if err := os.Rename(path, own); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("keep your own hook: %w", err)
		}
	}
	if err := safefile.Replace(path, []byte(text), safefile.Options{Mode: 0o755, FolderMode: 0o755}); err != nil {
		return "", fmt.Errorf("write the hook: %w", err)
	}
	done = "Installed the hook " + safetext.Show(path) + "."
	if _, err := os.Lstat(own); err == nil {
		done += " Your own hook is " + kept + " now, and runs first."
	}
	return done, nil
}

// Uninstall takes the hook out, and puts the user's own back.
func (h MessageHook) Uninstall() (done bool, err error) {
	is, madeDir, err := h.installed()
	if err != nil || !is {
		return false, err
	}
	path := filepath.Join(h.Dir(), hookName)
	err = os.Rename(filepath.Join(h.Dir(), kept), path)
	if errors.Is(err, fs.ErrNotExist) {
		err = os.Remove(path)
	}
	if err != nil {
		return false, fmt.Errorf("take out the hook: %w", err)
	}
	if madeDir {
		_ = os.Remove(h.Dir()) // if it is empty
	}
	return true, nil
}

// NameStaged adds to the file of a commit's message the trailers of the staged changes. A merge gets no
// trailers: its lines are those of its parents. amends is the date of the author, as git gives it to its
// hooks, if the commit may take the place of HEAD, or "".
func (x *Index) NameStaged(ctx context.Context, path, index, amends string) error {
	against := "HEAD"
	if amends != "" {
		out, err := x.repo.Git.Run(ctx, "show", "-s", "--format=@%ad %p", "--date=raw", "HEAD")
		if err != nil {
			return fmt.Errorf("read the commit that is amended: %w", err)
		}
		if parents, is := strings.CutPrefix(strings.TrimSpace(string(out))+" ", amends+" "); is {
			if against = "HEAD^"; strings.Contains(strings.TrimSpace(parents), " ") {
				return nil
			}
		}
	}
	if merge, err := revision(ctx, x.repo, "MERGE_HEAD"); err != nil || merge != "" {
		return err
	}
	trailers, err := x.staged(ctx, against, index)
	if err != nil {
		return err
	}
	return addTrailers(path, x.commentChar(ctx), trailers)
}

// staged are the trailers of a commit of the staged changes: of each conversation that wrote some of its
// lines, the newest event. against is the commit's parent, and index the file of git's index, "" for the
// usual one.
func (x *Index) staged(ctx context.Context, against, index string) ([]Trailer, error) {
	if tree, err := revision(ctx, x.repo, against+"^{tree}"); err != nil {
		return nil, err
	} else if tree == "" {
		against = x.repo.Git.Repository().ObjectFormat.EmptyTree()
	}
	c := gitcmd.Command{Args: []string{"diff-index", "--cached", "--raw", "-z", "--no-abbrev", "--no-renames", against}, Content: true}
	if index != "" {
		c.Env = []string{"GIT_INDEX_FILE=" + index}
	}
	out, err := x.repo.Git.RunWith(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("read what is staged: %w", err)
	}
	var changes []trees.Change
	fields := strings.Split(string(out), "\x00")
	for i := 0; i+1 < len(fields); i += 2 { // ":100644 100644 OID OID M", and the path
		facts := strings.Fields(strings.TrimPrefix(fields[i], ":"))
		if len(facts) != 5 {
			break
		}
		change := trees.Change{Path: fields[i+1]}
		if facts[0] != "000000" {
			change.Before = trees.Version{Mode: facts[0], OID: facts[2]}
		}
		if facts[1] != "000000" {
			change.After = trees.Version{Mode: facts[1], OID: facts[3]}
		}
		changes = append(changes, change)
	}
	matches, err := x.added(ctx, changes, "", time.Time{})
	if err != nil {
		return nil, err
	}
	newest := map[string]int{}
	for _, m := range matches {
		if m.source != nil && m.source.Writer == byTool {
			id := m.record.Conversation[strings.LastIndexByte(m.record.Conversation, '/')+1:]
			newest[id] = max(newest[id], m.source.Seq)
		}
	}
	var all []Trailer
	for id, seq := range newest {
		all = append(all, Trailer{Conversation: id, Seq: seq, Here: true})
	}
	slices.SortFunc(all, func(a, b Trailer) int { return cmp.Compare(a.Conversation, b.Conversation) })
	return all, nil
}

// commentChar begins the lines of a message that git leaves out.
func (x *Index) commentChar(ctx context.Context) string {
	out, err := x.repo.Git.Run(ctx, "config", "core.commentChar")
	if c := strings.TrimSpace(string(out)); err == nil && c != "auto" && c != "" {
		return c
	}
	return "#"
}

// scissors is the comment from which on git leaves out everything.
const scissors = " ------------------------ >8 ------------------------\n"

// addTrailers adds to the file of a commit's message the trailers that it lacks, before the comments
// at its end. A message without words stays: git takes it as the wish to stop.
func addTrailers(path, comment string, trailers []Trailer) error {
	data, err := safefile.ReadRegular(path)
	if err != nil {
		return fmt.Errorf("read the message: %w", err)
	}
	lines := strings.SplitAfter(string(data), "\n")
	end := len(lines)
	if at := slices.Index(lines, comment+scissors); at >= 0 {
		end = at
	}
	for end > 0 && (strings.TrimSpace(lines[end-1]) == "" || strings.HasPrefix(lines[end-1], comment)) {
		end--
	}
	message, rest := strings.Join(lines[:end], ""), strings.Join(lines[end:], "")
	var added strings.Builder
	for _, t := range trailers {
		line := fmt.Sprintf("%s: %s@%d\n", TrailerKey, t.Conversation, t.Seq)
		if !strings.Contains(message+"\n", line) {
			added.WriteString(line)
		}
	}
	if message == "" || added.Len() == 0 {
		return nil
	}
	text := gittool.AddTrailers(message, added.String()) + rest
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		return fmt.Errorf("write the message: %w", err)
	}
	return nil
}
