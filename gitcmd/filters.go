package gitcmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"jp/internal/plainfile"
)

// filterCache keeps the answer of one look at the configuration for as long
// as its files are the same ones.
type filterCache struct {
	names []string
	stamp string // of the files that were read; "" where nothing may be kept
}

// settle is how long a configuration file must have been left alone before
// what it said is kept: a later write could else have the same time stamp.
const settle = 100 * time.Millisecond

// UntrustedFilters returns the filter drivers that the repository's own
// configuration names, also through its includes, sorted. A driver that only
// the user's or the system's configuration names is trusted and not listed.
func (g *Git) UntrustedFilters(ctx context.Context) ([]string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.plain() {
		return nil, nil
	}
	stamp, newest := g.configStamp()
	if stamp != "" && stamp == g.filters.stamp {
		return g.filters.names, nil
	}
	out, err := g.RunWith(ctx, Command{Args: []string{
		"config", "--show-scope", "-z", "--name-only", "--get-regexp", `^(filter|include|includeif)\.`,
	}})
	var exit *ExitError
	if err != nil && !(errors.As(err, &exit) && exit.Code == 1) {
		return nil, fmt.Errorf("read filter configuration: %w", err)
	}
	names, includes := parseFilters(string(out))
	if includes || time.Since(newest) < settle {
		stamp = ""
	}
	g.filters = filterCache{names: names, stamp: stamp}
	return names, nil
}

// plain reports whether the repository's own configuration has neither a filter nor
// the name of another file: those words stand in it as they are, in any case of
// letters. It asks nobody.
func (g *Git) plain() bool {
	if g.repo.CommonDir == "" {
		return false
	}
	for _, path := range g.configFiles() {
		text, err := plainfile.Read(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false
		}
		if mentions(text, "filter", "include") {
			return false
		}
	}
	return true
}

// configFiles are the repository's own.
func (g *Git) configFiles() []string {
	return []string{filepath.Join(g.repo.CommonDir, "config"), filepath.Join(g.repo.GitDir, "config.worktree")}
}

// parseFilters reads scope and key pairs. includes says that the repository's
// configuration pulls in other files.
func parseFilters(out string) (names []string, includes bool) {
	fields := strings.Split(out, "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		scope, key := fields[i], fields[i+1]
		if scope == "system" || scope == "global" {
			continue
		}
		rest, isFilter := strings.CutPrefix(key, "filter.")
		if !isFilter {
			includes = true
			continue
		}
		if dot := strings.LastIndexByte(rest, '.'); dot >= 0 {
			names = append(names, rest[:dot])
		}
	}
	slices.Sort(names)
	return slices.Compact(names), includes
}

// filtersOff returns the environment that empties the untrusted filters. The
// settings go through GIT_CONFIG_KEY_n, where no character of a name has a
// meaning; on a command line an "=" in it would end the name.
func (g *Git) filtersOff(ctx context.Context) ([]string, error) {
	names, err := g.UntrustedFilters(ctx)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	var env []string
	n := 0
	for _, name := range names {
		for _, setting := range []struct{ key, value string }{
			{"clean", ""}, {"smudge", ""}, {"process", ""}, {"required", "false"},
		} {
			env = append(env,
				fmt.Sprintf("GIT_CONFIG_KEY_%d=filter.%s.%s", n, name, setting.key),
				fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", n, setting.value))
			n++
		}
	}
	return append(env, fmt.Sprintf("GIT_CONFIG_COUNT=%d", n)), nil
}

// configStamp identifies the repository's configuration files, and says when
// the newest changed. It is "" where the files are not known.
func (g *Git) configStamp() (stamp string, newest time.Time) {
	if g.repo.CommonDir == "" {
		return "", time.Time{}
	}
	var b strings.Builder
	for _, path := range g.configFiles() {
		info, err := os.Stat(path)
		if err != nil {
			b.WriteString("-;")
			continue
		}
		changed := changeTime(info)
		fmt.Fprintf(&b, "%d/%d/%d;", inode(info), info.Size(), changed.UnixNano())
		if changed.After(newest) {
			newest = changed
		}
	}
	return b.String(), newest
}

func inode(info os.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Ino)
	}
	return 0
}
