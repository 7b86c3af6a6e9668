package gitcmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"jp/internal/safefile"
)

// A Sharing is the value of core.sharedRepository, which shares files in the git directory. 0 leaves their
// modes to the umask, a positive one adds permissions, a negative one replaces all permissions.
type Sharing int

// Values of core.sharedRepository that have a name.
const (
	ShareUmask     Sharing = 0
	ShareGroup     Sharing = 0o660
	ShareEverybody Sharing = 0o664
)

// ErrSharing is a value of core.sharedRepository that git refuses.
var ErrSharing = errors.New("invalid core.sharedRepository (want umask, group, all, a boolean, or an octal mode that includes 0600)")

// Perm is the mode, its twelve low bits, of a file or folder that was made with perm, by git's rules: a file
// that is read-only for its owner stays so for all, an executable one can be executed by all who can read it,
// and folders pass on their group.
func (s Sharing) Perm(perm uint32, dir bool) uint32 {
	if s == ShareUmask {
		return perm
	}
	tweak := uint32(max(s, -s))
	if perm&0o200 == 0 {
		tweak &^= 0o222
	}
	if perm&0o100 != 0 {
		tweak |= tweak & 0o444 >> 2
	}
	if s < 0 {
		perm &^= 0o777
	}
	perm |= tweak
	if dir {
		perm |= perm & 0o444 >> 2
	}
	if dir && perm&0o060 != 0 && inheritsByBit {
		perm |= unix.S_ISGID
	}
	return perm
}

// inheritsByBit is true on systems whose new files get the group of their maker, unless the folder's mode
// says otherwise. On other systems they always get the folder's.
const inheritsByBit = runtime.GOOS == "linux"

// sharingOnce keeps one answer.
type sharingOnce struct {
	once  sync.Once
	value Sharing
	err   error
}

// Sharing is the configuration's value at the first call. It starts git only if a file of the configuration
// has the setting's name in it or may include another file. The machine's file is taken to be /etc/gitconfig.
func (g *Git) Sharing() (Sharing, error) {
	s := &g.sharing
	s.once.Do(func() {
		if g.unshared() {
			return
		}
		out, err := g.Run(context.Background(), "config", "--null", "--get-regexp", `^core\.sharedrepository$`)
		var exit *ExitError
		if errors.As(err, &exit) && exit.Code == 1 { // unset
			return
		}
		if err == nil {
			s.value, err = lastSharing(string(out))
		}
		if err != nil {
			s.err = fmt.Errorf("read how the repository is shared: %w", err)
		}
	})
	return s.value, s.err
}

// unshared reports whether all files of the configuration leave the repository unshared. It reads files and
// starts no process.
func (g *Git) unshared() bool {
	if g.repo.CommonDir == "" {
		return false
	}
	others, ok := UserConfigs(g.environ)
	if !ok {
		return false
	}
	for _, path := range append(g.configFiles(), others...) {
		text, err := safefile.ReadRegular(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) || mentions(text, "sharedrepository", "include") {
			return false
		}
	}
	return true
}

// mentions reports whether one of the words appears in a configuration, in any case of letters. Names of
// settings have no other spelling.
func mentions(config []byte, words ...string) bool {
	text := bytes.ToLower(config)
	return slices.ContainsFunc(words, func(word string) bool { return bytes.Contains(text, []byte(word)) })
}

// UserConfigs are the files that git reads beside the repository's own. ok is false unless all paths are
// absolute.
func UserConfigs(environ []string) (paths []string, ok bool) {
	get := func(name string) (value string, set bool) {
		for _, pair := range environ { // the last one counts
			if v, is := strings.CutPrefix(pair, name+"="); is {
				value, set = v, true
			}
		}
		return value, set
	}
	if path, set := get("GIT_CONFIG_GLOBAL"); set {
		paths = append(paths, path)
	} else {
		home, _ := get("HOME")
		xdg, _ := get("XDG_CONFIG_HOME")
		if xdg == "" {
			xdg = filepath.Join(home, ".config")
		}
		paths = append(paths, filepath.Join(xdg, "git", "config"), filepath.Join(home, ".gitconfig"))
	}
	system, set := get("GIT_CONFIG_SYSTEM")
	if !set {
		system = "/etc/gitconfig"
	}
	paths = append(paths, system)
	return paths, !slices.ContainsFunc(paths, func(path string) bool { return !filepath.IsAbs(path) })
}

// lastSharing reads the settings that git found. The last one counts. A setting without a value lacks the
// line feed.
func lastSharing(out string) (Sharing, error) {
	settings := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	_, value, set := strings.Cut(settings[len(settings)-1], "\n")
	if !set {
		return ShareGroup, nil
	}
	return parseSharing(value)
}

// parseSharing reads the values that git accepts.
func parseSharing(value string) (Sharing, error) {
	switch value {
	case "", "umask":
		return ShareUmask, nil
	case "group":
		return ShareGroup, nil
	case "all", "world", "everybody":
		return ShareEverybody, nil
	}
	mode, err := strconv.ParseInt(value, 8, 32)
	switch {
	case err != nil:
		return booleanSharing(value)
	case mode == 0:
		return ShareUmask, nil
	case mode == 1:
		return ShareGroup, nil
	case mode == 2:
		return ShareEverybody, nil
	case mode&0o600 != 0o600:
		return 0, fmt.Errorf("%w: %q", ErrSharing, value)
	}
	return -Sharing(mode & 0o666), nil
}

func booleanSharing(value string) (Sharing, error) {
	switch strings.ToLower(value) {
	case "true", "yes", "on":
		return ShareGroup, nil
	case "false", "no", "off":
		return ShareUmask, nil
	}
	if n, err := strconv.ParseInt(value, 0, 32); err == nil {
		if n == 0 {
			return ShareUmask, nil
		}
		return ShareGroup, nil
	}
	return 0, fmt.Errorf("%w: %q", ErrSharing, value)
}

// Share gives a file or folder that this process has just made in the git directory
// the mode that git would give it.
func (g *Git) Share(f *os.File) error {
	sharing, err := g.Sharing()
	if err != nil || sharing == ShareUmask {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	was := modeBits(info.Mode())
	perm := sharing.Perm(was, info.IsDir())
	if perm == was {
		return nil
	}
	mode := fs.FileMode(perm & 0o777)
	if perm&unix.S_ISGID != 0 {
		mode |= fs.ModeSetgid
	}
	return f.Chmod(mode)
}

// modeBits are the twelve low bits of a mode, except the sticky bit, which files in a git directory never
// have.
func modeBits(mode fs.FileMode) uint32 {
	bits := uint32(mode.Perm())
	if mode&fs.ModeSetgid != 0 {
		bits |= unix.S_ISGID
	}
	return bits
}
