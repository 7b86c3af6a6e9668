package gitcmd

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
	"syscall"
	"time"

	"jp/internal/safefile"
)

// A Filter is a driver that git's configuration defines, as git takes it.
type Filter struct {
	Name                   string
	Clean, Smudge, Process string // command lines; "" where there is none
	Required               bool
	Origins                []string // where it is set, as git prints it, such as "file:.git/config"
	UserOnly               bool     // only the user's and the system's configuration say so
}

// Runs reports whether there is anything to run.
func (f Filter) Runs() bool { return f.Clean != "" || f.Smudge != "" || f.Process != "" }

// Commands are its command lines, by key.
func (f Filter) Commands() map[string]string {
	return map[string]string{"clean": f.Clean, "smudge": f.Smudge, "process": f.Process}
}

// A setting is one line of a configuration.
type setting struct{ key, value string }

// converters are what the configuration says of filters, and of what they read.
type converters struct {
	filters []Filter  // sorted by name
	emptied []setting // keys of the repository that a filter of the user's would obey, with what stands for them
}

// filterCache keeps the answer of one look at the configuration for as long
// as its files are the same ones.
type filterCache struct {
	converters
	stamp string // of the files that were read; "" where nothing may be kept
}

// quietPeriod is how long a configuration file must have been left alone before
// what it said is kept: a later write could else have the same time stamp.
const quietPeriod = 100 * time.Millisecond

// converted finds the settings that have a say in how files are converted: filters,
// other files that may define some, and what git-lfs reads.
const converted = `^(filter|include|includeif|lfs)\.|^remote\..*\.(lfsurl|lfspushurl)$`

// Filters returns the filters that the configuration defines, sorted by name: the
// user's, the system's and the repository's.
func (g *Git) Filters(ctx context.Context) ([]Filter, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	all, err := g.converters(ctx)
	return all.filters, err
}

// ErrForeignFilter says that the repository's configuration sets a filter. jp runs those of the user's own.
var ErrForeignFilter = errors.New("only this repository configures")

// Refuses says why jp does not run a filter. It is nil for one of the user's own.
func (g *Git) Refuses(f Filter) error {
	if g.mayRun != nil {
		return g.mayRun(f)
	}
	if !f.UserOnly {
		return ErrForeignFilter
	}
	return nil
}

// UntrustedFilters returns the names of the filters that the repository's own configuration defines or changes, also
// through its includes, sorted.
func (g *Git) UntrustedFilters(ctx context.Context) ([]string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.plain() {
		return nil, nil
	}
	all, err := g.converters(ctx)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, f := range all.filters {
		if g.Refuses(f) != nil {
			names = append(names, f.Name)
		}
	}
	return names, nil
}

// converters asks git, unless its answer is known to hold. The caller holds the mutex.
func (g *Git) converters(ctx context.Context) (converters, error) {
	stamp, newest := g.configStamp()
	if stamp != "" && stamp == g.filters.stamp {
		return g.filters.converters, nil
	}
	out, err := g.RunWith(ctx, Command{Args: []string{"config", "--show-scope", "--show-origin", "-z", "--get-regexp", converted}})
	var exit *ExitError
	if err != nil && !(errors.As(err, &exit) && exit.Code == 1) {
		return converters{}, fmt.Errorf("read filter configuration: %w", err)
	}
	all, includes := g.parseConverters(string(out))
	if includes || time.Since(newest) < quietPeriod {
		stamp = ""
	}
	g.filters = filterCache{all, stamp}
	return all, nil
}

// plain reports whether the repository's own configuration has neither a filter nor
// a word of LFS nor the name of another file: those words stand in it as they are, in
// any case of letters. It never asks the user.
func (g *Git) plain() bool {
	if g.repo.CommonDir == "" {
		return false
	}
	for _, path := range g.configFiles() {
		text, err := safefile.ReadRegular(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false
		}
		if mentions(text, "filter", "include", "lfs") {
			return false
		}
	}
	return true
}

// AttributesElsewhere reports whether a file of attributes outside of the repository may name
// a filter. It never asks the user.
func (g *Git) AttributesElsewhere() bool {
	others, ok := UserConfigs(g.environ)
	if !ok {
		return true
	}
	files := append(g.configFiles(), others...)
	for _, file := range files {
		if text, err := safefile.ReadRegular(file); err == nil && mentions(text, "attributesfile", "include") {
			return true
		}
	}
	for _, config := range others { // the file of attributes lies beside the user's or the system's configuration
		for _, file := range []string{filepath.Join(filepath.Dir(config), "attributes"), filepath.Join(filepath.Dir(config), ".config", "git", "attributes"), filepath.Join(filepath.Dir(config), "gitattributes")} {
			if text, err := safefile.ReadRegular(file); err == nil && mentions(text, "filter") {
				return true
			}
		}
	}
	return false
}

// configFiles are the repository's own.
func (g *Git) configFiles() []string {
	return []string{filepath.Join(g.repo.CommonDir, "config"), filepath.Join(g.repo.GitDir, "config.worktree")}
}

// parseConverters reads triples of scope, origin and setting. includes says that a
// configuration pulls in other files.
func (g *Git) parseConverters(out string) (all converters, includes bool) {
	found := map[string]*drafted{}
	own, foreign := map[string]string{}, []string(nil)
	fields := strings.Split(out, "\x00")
	for i := 0; i+2 < len(fields); i += 3 {
		scope, origin := fields[i], fields[i+1]
		key, value, given := strings.Cut(fields[i+2], "\n")
		mine := g.users(scope, origin)
		section, rest, _ := strings.Cut(key, ".")
		switch section {
		case "include", "includeif":
			includes = true
			continue
		case "filter":
		default:
			if mine {
				own[key] = value
			} else if !harmless(key) {
				foreign = append(foreign, key)
			}
			continue
		}
		dot := strings.LastIndexByte(rest, '.')
		if dot < 0 {
			continue
		}
		name, field := rest[:dot], rest[dot+1:]
		if found[name] == nil {
			found[name] = &drafted{}
		}
		found[name].set(field, value, given, mine, origin)
	}
	for name, d := range found {
		all.filters = append(all.filters, d.filter(name))
	}
	slices.SortFunc(all.filters, func(a, b Filter) int { return cmp.Compare(a.Name, b.Name) })
	slices.Sort(foreign)
	for _, key := range slices.Compact(foreign) {
		all.emptied = append(all.emptied, setting{key, own[key]})
	}
	return all, includes
}

// A drafted filter is one as the user's configuration has it, and as all of it has.
type drafted struct {
	mine, all Filter
	foreign   bool // the repository has a say
	stopped   bool // its process is set to nothing: git then runs the other two as little
}

func (d *drafted) set(field, value string, given, mine bool, origin string) {
	d.foreign = d.foreign || !mine
	if !slices.Contains(d.all.Origins, origin) {
		d.all.Origins = append(d.all.Origins, origin)
	}
	for _, f := range []*Filter{&d.mine, &d.all} {
		if f == &d.mine && !mine {
			continue
		}
		switch field {
		case "clean":
			f.Clean = value
		case "smudge":
			f.Smudge = value
		case "process":
			f.Process, d.stopped = value, value == ""
		case "required":
			f.Required = !given || truth(value)
		}
	}
}

// filter is the user's own where the repository says nothing else.
func (d *drafted) filter(name string) Filter {
	f := d.all
	f.Name = name
	if d.stopped {
		f.Clean, f.Smudge = "", ""
	}
	f.UserOnly = !d.foreign || d.mine.Clean == f.Clean && d.mine.Smudge == f.Smudge && d.mine.Process == f.Process && d.mine.Runs()
	return f
}

// truth reads a truth value as git does.
func truth(value string) bool {
	switch strings.ToLower(value) {
	case "", "false", "no", "off", "0":
		return false
	}
	return true
}

// users reports whether a setting is the user's or the system's: neither in the
// repository's configuration nor in a file of the repository that another one includes.
func (g *Git) users(scope, origin string) bool {
	switch scope {
	case "system", "global", "command":
	default:
		return false
	}
	path, isFile := strings.CutPrefix(origin, "file:")
	return !isFile || g.usersFile(path)
}

// usersFile reports whether a file of a configuration is not the repository's. The
// user's own configuration is that wherever it lies, where no variable names it.
func (g *Git) usersFile(path string) bool {
	if !filepath.IsAbs(path) {
		return false
	}
	if places, ok := UserConfigs(without(g.full, "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM")); ok && slices.Contains(places, path) {
		return true
	}
	return !g.repo.Holds(path)
}

// Holds reports whether a path leads to something in the working tree or in a git
// directory of the repository, as it is written or through links.
func (r Repository) Holds(path string) bool {
	for _, dir := range []string{r.TopLevel, r.GitDir, r.CommonDir} {
		if dir != "" && (within(dir, path) || within(resolved(dir), resolved(path))) {
			return true
		}
	}
	return false
}

// resolved follows the links of a path as far as there is something.
func resolved(path string) string {
	for at, rest := path, ""; ; {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		if at == filepath.Dir(at) {
			return path
		}
		at, rest = filepath.Dir(at), filepath.Join(filepath.Base(at), rest)
	}
}

func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// filterSettings are what a command that converts files gets: filters that jp does not
// run are emptied, the others are passed as they were looked at, so that a later change
// runs nothing.
func (g *Git) filterSettings(ctx context.Context, required []string) ([]setting, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	settings := slices.Clone(offlineLFS)
	if len(required) == 0 && g.plain() {
		return settings, nil
	}
	all, err := g.converters(ctx)
	if err != nil {
		return nil, err
	}
	for _, f := range all.filters {
		settings = append(settings, g.passed(f, required)...)
	}
	return append(settings, all.emptied...), nil
}

// passed are the settings of one filter.
func (g *Git) passed(f Filter, required []string) []setting {
	switch {
	case g.Refuses(f) != nil:
		f = Filter{Name: f.Name}
	case required != nil && !slices.Contains(required, f.Name):
		f.Required = false
	case required != nil && f.Runs():
		f.Required = true
		if f.Process == "" { // what one direction does not convert is not a failure
			f.Clean, f.Smudge = cmp.Or(f.Clean, "cat"), cmp.Or(f.Smudge, "cat")
		}
	}
	key := "filter." + f.Name + "."
	settings := []setting{{key + "clean", f.Clean}, {key + "smudge", f.Smudge}, {key + "required", fmt.Sprint(f.Required)}}
	if f.Process != "" || !f.Runs() { // an empty one keeps git from running the other two
		settings = append(settings, setting{key + "process", f.Process})
	}
	return settings
}

// configStamp identifies the configuration files, and says when the newest changed. It
// is "" where the files are not known.
func (g *Git) configStamp() (stamp string, newest time.Time) {
	if g.repo.CommonDir == "" {
		return "", time.Time{}
	}
	others, ok := UserConfigs(g.environ)
	if !ok {
		return "", time.Time{}
	}
	var b strings.Builder
	for _, path := range append(g.configFiles(), others...) {
		info, err := os.Stat(path)
		if err != nil {
			b.WriteString("-;")
			continue
		}
		changed := ChangeTime(info)
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
