package gitcmd

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"jp/internal/safefile"
)

// A sight is a place that looks ordinary, and all else that git's answer rests on.
type sight struct {
	top   string // the folder with .git, without symbolic links
	facts [sha256.Size]byte
	// format is how git names objects there, if it takes the configuration as it looks.
	format ObjectFormat
	refs   RefFormat // how it stores refs, likewise
	// includes means that a configuration may include another one. The user's and the machine's cannot lead
	// git to another repository, but may name the user.
	includes bool
}

func (s sight) note() string { return hex.EncodeToString(s.facts[:]) + "\n" }

// repository is git's answer for an ordinary one.
func (s sight) repository() Repository {
	git := filepath.Join(s.top, ".git")
	return Repository{GitDir: git, CommonDir: git, TopLevel: s.top, ObjectFormat: s.format, RefFormat: s.refs}
}

// look examines the files that git would use from dir. ordinary is false if anything is unusual or
// unreadable.
func look(dir string, opts Options) (s sight, ordinary bool) {
	environ := opts.Environ
	if environ == nil {
		environ = os.Environ()
	}
	if bounded(environ) {
		return s, false
	}
	program, ok := programIdentity(opts.Program)
	if !ok {
		return s, false
	}
	if s.top, ok = topOf(dir); !ok {
		return s, false
	}
	git := filepath.Join(s.top, ".git")
	if !ownedByUser(s.top) || !ownedByUser(git) || !complete(git) {
		return s, false
	}
	s.format = SHA1
	facts := fmt.Appendf(nil, "3 %q %d %q", s.top, os.Geteuid(), program)
	// The configuration of this working tree counts if the other one says so.
	for _, name := range []string{"config", "config.worktree"} {
		text, err := safefile.ReadRegular(filepath.Join(git, name))
		if err != nil && (name == "config" || !errors.Is(err, fs.ErrNotExist)) || leadsOn(text) {
			return s, false
		}
		says := func(words string) bool { return name == "config" && bytes.Contains(bytes.ToLower(text), []byte(words)) }
		if says("objectformat") && says("sha256") {
			s.format = SHA256
		}
		if says("refstorage") && says("reftable") {
			s.refs = Reftable
		}
		facts = fmt.Appendf(facts, " %q %t", text, err == nil)
	}
	if isMissing(git, string(Reftable)) == (s.refs == Reftable) {
		return s, false
	}
	// Those of the user and of the machine cannot lead git to another repository, but a mistake in one of
	// them ends it.
	configs, ok := UserConfigs(environ)
	if !ok {
		return s, false
	}
	for _, path := range configs {
		text, err := safefile.ReadRegular(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return s, false
		}
		facts = fmt.Appendf(facts, " %q %q %t", path, text, err == nil)
		s.includes = s.includes || leadsOn(text)
	}
	s.facts = sha256.Sum256(facts)
	return s, true
}

// bounded reports whether the environment limits git's search upwards.
func bounded(environ []string) bool {
	return slices.ContainsFunc(environ, func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		switch name {
		case "GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM", "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS":
			return true
		}
		return false
	})
}

// programIdentity tells one git from another one, and from the same when it was replaced.
func programIdentity(program string) (string, bool) {
	if program == "" {
		program = "git"
	}
	path, err := exec.LookPath(program)
	if err != nil {
		return "", false
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", false
	}
	return fmt.Sprint(path, " ", st.Dev, st.Ino, info.Size(), info.ModTime().UnixNano()), true
}

// topOf walks up from dir to the first folder with a .git, on one file system. A
// folder on the way that may itself be a git directory ends the walk.
func topOf(dir string) (string, bool) {
	if strings.Contains(dir, "..") {
		return "", false // of a link's target, and Abs ignores links
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", false
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return "", false
	}
	device, ok := deviceOf(dir)
	for ok {
		if !isMissing(dir, ".git") {
			return dir, true
		}
		if !isMissing(dir, "HEAD") || filepath.Dir(dir) == dir {
			return "", false
		}
		dir = filepath.Dir(dir)
		var above uint64
		if above, ok = deviceOf(dir); above != device {
			return "", false
		}
	}
	return "", false
}

func deviceOf(dir string) (uint64, bool) {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return 0, false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return uint64(st.Dev), true
}

// ownedByUser reports whether a folder, not a link to one, is this user's.
func ownedByUser(dir string) bool {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

// complete reports whether a folder is a git directory of its own, without shared parts, and complete.
func complete(git string) bool {
	for _, name := range []string{"commondir", "shallow"} {
		if !isMissing(git, name) {
			return false
		}
	}
	for _, name := range []string{"objects", "refs"} {
		path := filepath.Join(git, name)
		if info, err := os.Stat(path); err != nil || !info.IsDir() || unix.Access(path, unix.X_OK) != nil {
			return false
		}
	}
	if info, err := os.Lstat(filepath.Join(git, "HEAD")); err != nil || !info.Mode().IsRegular() {
		return false
	}
	text, err := safefile.ReadRegular(filepath.Join(git, "HEAD"))
	return err == nil && isHead(strings.TrimSuffix(string(text), "\n"))
}

// isHead reports whether git would take a text for that of a HEAD: a branch, or
// the name of a commit.
func isHead(text string) bool {
	if branch, is := strings.CutPrefix(text, "ref: refs/"); is {
		return branch != "" && !strings.ContainsAny(branch, " \t\r\n")
	}
	return IsObjectName(text)
}

// isMissing reports whether a folder surely lacks an entry.
func isMissing(dir, name string) bool {
	_, err := os.Lstat(filepath.Join(dir, name))
	return errors.Is(err, fs.ErrNotExist)
}
