package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"jp/gitcmd"
)

// State is the place of HEAD.
type State struct {
	Head       string // commit id; "" before the first commit
	Branch     string // short name; "" if HEAD is detached
	Worktree   string // git's name for a linked working tree; "" for the main one
	InProgress string // "merge", "rebase", "am", "cherry-pick", "revert", "bisect" or ""
}

// State reads HEAD. It reads git's files, and starts one child only if they do not tell it plainly, or refs
// are not in files.
func (w *Worktree) State(ctx context.Context) (State, error) {
	s := State{InProgress: w.inProgress()}
	if w.repo.GitDir != w.repo.CommonDir {
		s.Worktree = filepath.Base(w.repo.GitDir)
	}
	if w.repo.RefFormat != gitcmd.RefFiles {
		var err error
		s.Head, s.Branch, err = w.askHead(ctx)
		return s, err
	}
	ref, symbolic := strings.CutPrefix(firstLine(filepath.Join(w.repo.GitDir, "HEAD")), "ref: ")
	if !symbolic && isOID(ref) {
		s.Head = ref
		return s, nil
	}
	if branch, ok := strings.CutPrefix(ref, "refs/heads/"); ok && symbolic {
		s.Branch = branch
		var plain bool
		if s.Head, plain = w.readRef(ref); plain {
			return s, nil
		}
	}
	head, _, err := w.askHead(ctx)
	s.Head = head
	return s, err
}

// CommitTree returns the tree of a commit, as State has it: the empty tree for "". It asks git for objects
// that are missing in objects, and for all if that is nil.
func (w *Worktree) CommitTree(ctx context.Context, commit string, objects ObjectReader) (string, error) {
	if commit == "" {
		return w.repo.ObjectFormat.EmptyTree(), nil
	}
	if objects != nil {
		kind, text, err := objects.ReadObject(commit)
		tree, is := strings.CutPrefix(lineOf(text), "tree ")
		if err == nil && kind == "commit" && is && isOID(tree) {
			return tree, nil
		}
	}
	out, err := w.git.Run(ctx, "rev-parse", "--verify", "--quiet", commit+"^{tree}")
	if err != nil {
		return "", fmt.Errorf("read the tree of %s: %w", commit, err)
	}
	return strings.TrimSpace(string(out)), nil
}

// askHead asks git for the commit of HEAD, "" on an unborn branch, and for its branch, "" if HEAD is
// detached.
func (w *Worktree) askHead(ctx context.Context) (head, branch string, err error) {
	out, err := w.git.Run(ctx, "rev-parse", "HEAD", "--symbolic-full-name", "HEAD")
	if head, ref, two := strings.Cut(strings.TrimSpace(string(out)), "\n"); err == nil && two && isOID(head) {
		branch, _ = strings.CutPrefix(ref, "refs/heads/")
		if branch == ref { // HEAD itself, or a ref outside of the branches
			branch = ""
		}
		return head, branch, nil
	}
	out, err = w.git.Run(ctx, "symbolic-ref", "--quiet", "HEAD")
	if err != nil {
		return "", "", fmt.Errorf("read HEAD: %w", err)
	}
	branch, _ = strings.CutPrefix(strings.TrimSpace(string(out)), "refs/heads/")
	out, err = w.git.Run(ctx, "rev-parse", "--verify", "--quiet", "HEAD")
	var exit *gitcmd.ExitError
	if errors.As(err, &exit) && exit.Code == 1 {
		return "", branch, nil
	}
	if err != nil {
		return "", "", fmt.Errorf("read HEAD: %w", err)
	}
	return strings.TrimSpace(string(out)), branch, nil
}

// readRef looks for a branch's own file, then among the packed ones, then once more: packing moves it from
// the one to the other between two looks. It is "" before the branch's first commit, and plain is true if
// the files leave no doubt.
func (w *Worktree) readRef(ref string) (oid string, plain bool) {
	loose := filepath.Join(w.repo.CommonDir, filepath.FromSlash(ref))
	text, err := readRegular(loose) // a link is a ref of another kind
	if errors.Is(err, fs.ErrNotExist) {
		packed, packedErr := os.ReadFile(filepath.Join(w.repo.CommonDir, "packed-refs"))
		if oid := packedRef(packed, ref, w.repo.ObjectFormat); oid != "" {
			return oid, true
		}
		if packedErr != nil && !errors.Is(packedErr, fs.ErrNotExist) || mayHold(packed, ref) {
			return "", false
		}
		text, err = readRegular(loose)
	}
	switch {
	case err == nil && isOID(lineOf(text)):
		return lineOf(text), true
	case errors.Is(err, fs.ErrNotExist):
		return "", !w.otherRefs()
	}
	return "", false
}

// mayHold reports whether packed-refs may say something of a ref in another way than
// git writes it, or was cut off.
func mayHold(packed []byte, ref string) bool {
	return len(packed) > 0 && packed[len(packed)-1] != '\n' || bytes.Contains(packed, []byte(ref+"\n")) || bytes.Contains(packed, []byte(ref+"\r"))
}

// otherRefs reports whether refs may be kept in another way than in files.
func (w *Worktree) otherRefs() bool {
	_, err := os.Lstat(filepath.Join(w.repo.CommonDir, "reftable"))
	return !errors.Is(err, fs.ErrNotExist)
}

// packedRef finds a ref among the lines of packed-refs, "" if it is missing.
func packedRef(lines []byte, ref string, format gitcmd.ObjectFormat) string {
	end := []byte(" " + ref + "\n")
	for at := 0; ; {
		i := bytes.Index(lines[at:], end)
		if i < 0 {
			return ""
		}
		at += i
		if begin := at - format.Digits(); begin == 0 || begin > 0 && lines[begin-1] == '\n' {
			if oid := string(lines[begin:at]); format.IsName(oid) {
				return oid
			}
		}
		at += len(end)
	}
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

// firstLine is the first line of a small file, or "" if it is unreadable.
func firstLine(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return lineOf(text)
}

func lineOf(text []byte) string {
	line, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimRight(line, " \t\r")
}

func onlyOID(s string) string {
	if isOID(s) {
		return s
	}
	return ""
}

func isOID(s string) bool { return gitcmd.IsObjectName(s) }
