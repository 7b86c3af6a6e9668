package worktree

import (
	"fmt"
	"path"
	"strings"

	"golang.org/x/sys/unix"

	"jp/gitcmd"
)

// Skipped is a path whose present state a snapshot lacks, or that a restore has not put back.
type Skipped struct {
	Path   string
	Why    string
	Failed bool // a write of it failed
}

// A refusal is why a path stays as it is although jp could put it back.
type refusal string

func (r refusal) Error() string { return string(r) }

// Why a path is left out.
const (
	whySecret  = "looks like a secret"
	whyIgnored = "ignored"
	whyForeign = "in another repository"
	whyKind    = "not a regular file"
	whyLinked  = "has other names"
	whyBudget  = "too much new content"
	whyNoRead  = "cannot be recorded: "
	whyHidden  = "git was told not to look at it"
	whyFsck    = "git fsck refuses it: "
	whyBlind   = "what git does not track could not be listed: "
	// WhyGone is for an untracked file that has disappeared.
	WhyGone = "deleted, or moved away"
)

func whyLarge(limit int64) string { return fmt.Sprintf("new and over %d bytes", limit) }

// secretName reports whether a file's name is one that keys and passwords have.
func secretName(p string) bool {
	name := strings.ToLower(path.Base(p))
	switch name {
	case "id_rsa", "id_dsa", "id_ecdsa", "id_ecdsa_sk", "id_ed25519", "id_ed25519_sk":
		return true
	}
	return strings.HasPrefix(name, ".env") || strings.HasSuffix(name, ".pem")
}

// budget is the new content that a snapshot may still take, in bytes.
type budget int64

// spend takes size from the budget, and returns false if it is too small.
func (b *budget) spend(size int64) bool {
	if size > int64(*b) {
		return false
	}
	*b -= budget(size)
	return true
}

// admitKnown returns the reason to skip a changed file of the tree, or "".
func admitKnown(st *unix.Stat_t, left *budget) string {
	switch {
	case isDir(st): // a submodule: git records its commit
	case !recordable(st):
		return whyKind
	case !left.spend(st.Size):
		return whyBudget
	}
	return ""
}

// admitNew returns the reason to skip a file that is new to the tree, or "".
func admitNew(p string, st *unix.Stat_t, limit int64, left *budget) string {
	switch fault := gitcmd.FsckName(p); {
	case fault != "":
		return whyFsck + fault
	case secretName(p):
		return whySecret
	case !recordable(st):
		return whyKind
	case st.Mode&unix.S_IFMT == unix.S_IFREG && st.Nlink > 1: // one of them may be outside
		return whyLinked
	case st.Size > limit:
		return whyLarge(limit)
	case !left.spend(st.Size):
		return whyBudget
	}
	return ""
}

// recordable reports whether git has a kind of entry for the file.
func recordable(st *unix.Stat_t) bool {
	kind := st.Mode & unix.S_IFMT
	return kind == unix.S_IFREG || kind == unix.S_IFLNK
}

func isDir(st *unix.Stat_t) bool { return st.Mode&unix.S_IFMT == unix.S_IFDIR }

// lookup is lstat for a path of git's: with a symbolic link among its folders the path counts as missing.
func (w *Worktree) lookup(p string) (*unix.Stat_t, error) {
	var st unix.Stat_t
	for i, c := range p {
		if c != '/' {
			continue
		}
		if err := unix.Lstat(w.abs(p[:i]), &st); err != nil {
			return nil, err
		}
		if !isDir(&st) {
			return nil, unix.ENOTDIR
		}
	}
	if err := unix.Lstat(w.abs(p), &st); err != nil {
		return nil, err
	}
	return &st, nil
}

// isNotExist reports whether an error of lookup means that the file is missing.
func isNotExist(err error) bool { return err == unix.ENOENT || err == unix.ENOTDIR }

// IsPath reports whether a name can be the path of a file in a tree. Snapshots refuse
// others with ErrBadPath.
func IsPath(p string) bool { return checkPath(p) == nil }

// checkPath refuses an invalid path of a tree.
func checkPath(p string) error {
	for part := range strings.SplitSeq(p, "/") {
		if part == "" || part == "." || part == ".." || strings.EqualFold(part, ".git") {
			return fmt.Errorf("%q: %w", p, ErrBadPath)
		}
	}
	if strings.ContainsRune(p, 0) {
		return fmt.Errorf("%q: %w", p, ErrBadPath)
	}
	return nil
}
