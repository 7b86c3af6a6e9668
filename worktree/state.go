package worktree

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"jp/gitcmd"
)

// State is where HEAD is.
type State struct {
	Head       string // commit id; "" where nothing was committed yet
	Branch     string // short name; "" where HEAD is detached
	Worktree   string // git's name for a linked working tree; "" for the main one
	InProgress string // "merge", "rebase", "am", "cherry-pick", "revert", "bisect" or ""
}

// State reads where HEAD is. It reads git's files, and starts one child only
// where they do not say it plainly.
func (w *Worktree) State(ctx context.Context) (State, error) {
	s := State{InProgress: w.inProgress()}
	if w.repo.GitDir != w.repo.CommonDir {
		s.Worktree = filepath.Base(w.repo.GitDir)
	}
	ref, symbolic := strings.CutPrefix(firstLine(filepath.Join(w.repo.GitDir, "HEAD")), "ref: ")
	if !symbolic && isOID(ref) {
		s.Head = ref
		return s, nil
	}
	if branch, ok := strings.CutPrefix(ref, "refs/heads/"); ok && symbolic {
		s.Branch = branch
		if s.Head = w.readRef(ref); s.Head != "" {
			return s, nil
		}
	}
	head, err := w.resolveHead(ctx)
	s.Head = head
	return s, err
}

// HeadTree returns the tree of HEAD, or EmptyTree where nothing was committed.
func (w *Worktree) HeadTree(ctx context.Context) (string, error) {
	out, err := w.git.Run(ctx, "rev-parse", "--verify", "--quiet", "HEAD^{tree}")
	if err == nil {
		return strings.TrimSpace(string(out)), nil
	}
	if head, headErr := w.resolveHead(ctx); headErr == nil && head == "" {
		return EmptyTree, nil
	}
	return "", fmt.Errorf("read the tree of HEAD: %w", err)
}

// resolveHead asks git; "" is an unborn branch.
func (w *Worktree) resolveHead(ctx context.Context) (string, error) {
	out, err := w.git.Run(ctx, "rev-parse", "--verify", "--quiet", "HEAD")
	var exit *gitcmd.ExitError
	if errors.As(err, &exit) && exit.Code == 1 {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read HEAD: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// readRef looks for a ref's own file, then among the packed ones, then once
// more: packing moves it from the one to the other between two looks.
func (w *Worktree) readRef(ref string) string {
	loose := filepath.Join(w.repo.CommonDir, filepath.FromSlash(ref))
	if oid := firstLine(loose); oid != "" {
		return onlyOID(oid)
	}
	if oid := packedRef(filepath.Join(w.repo.CommonDir, "packed-refs"), ref); oid != "" {
		return oid
	}
	return onlyOID(firstLine(loose))
}

func packedRef(path, ref string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if oid, ok := strings.CutSuffix(lines.Text(), " "+ref); ok && isOID(oid) {
			return oid
		}
	}
	return ""
}

// inProgress names the operation that git keeps state of, the outermost first.
func (w *Worktree) inProgress() string {
	for _, c := range []struct{ file, name string }{
		{"rebase-merge", "rebase"},
		{"rebase-apply/applying", "am"},
		{"rebase-apply", "rebase"},
		{"MERGE_HEAD", "merge"},
		{"CHERRY_PICK_HEAD", "cherry-pick"},
		{"REVERT_HEAD", "revert"},
		{"BISECT_LOG", "bisect"},
	} {
		if _, err := os.Lstat(filepath.Join(w.repo.GitDir, filepath.FromSlash(c.file))); err == nil {
			return c.name
		}
	}
	return ""
}

// firstLine is the first line of a small file, or "" where it cannot be read.
func firstLine(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimRight(line, " \t\r")
}

func onlyOID(s string) string {
	if isOID(s) {
		return s
	}
	return ""
}

func isOID(s string) bool {
	return len(s) == 40 && strings.Trim(s, "0123456789abcdef") == ""
}
