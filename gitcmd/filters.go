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
	Clean, Smudge, Process string // command lines, or ""
	Required               bool
	Origins                []string // of its settings, as git prints them, such as "file:.git/config"
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

// converters are the configured filters, and the settings that they read.
type converters struct {
	filters []Filter  // sorted by name
	emptied []setting // keys of the repository that a filter of the user's would obey, with their replacements
}

// filterCache keeps the result of reading the configuration for as long as its files are the same.
type filterCache struct {
	converters
	stamp string // of the configuration files; "" if caching is unsafe
}

// quietPeriod is how long a configuration file must have been left alone before jp caches its content, since
// a later write could else have the same time stamp.
const quietPeriod = 100 * time.Millisecond

// converted matches the settings that affect how files are converted: filters, includes of other files, and
// those of git-lfs.
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

// plain reports whether the repository's own configuration is free of filters, settings of LFS and names of
// other files. These words appear literally in it, in any case of letters. It never asks the user.
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

// AttributesElsewhere reports whether a file of attributes outside of the repository may name a filter. It
// reads files only.
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

// parseConverters reads triples of scope, origin and setting. includes means that a configuration pulls in
// other files.
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
	stopped   bool // its process is set to ""; git then skips the other two, too
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

// filter is the user's own, unless the repository changes it.
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

// users reports whether a setting is the user's or the system's: its file is neither the repository's
// configuration nor a file of the repository that another one includes.
func (g *Git) users(scope, origin string) bool {
	switch scope {
	case "system", "global", "command":
	default:
		return false
	}
	path, isFile := strings.CutPrefix(origin, "file:")
	return !isFile || g.usersFile(path)
}

// usersFile reports whether a file of a configuration is outside of the repository. The user's own default
// configuration counts as outside wherever it lies, unless a variable names it.
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

// filterSettings are the settings for a command that converts files: refused filters are emptied, the others
// are passed as they were checked, so that a later change has no effect.
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

func (g *Git) passed(f Filter, required []string) []setting {
	switch {
	case g.Refuses(f) != nil:
		f = Filter{Name: f.Name}
	case required != nil && !slices.Contains(required, f.Name):
		f.Required = false
	case required != nil && f.Runs():
		f.Required = true
		if f.Process == "" { // a missing direction is no failure
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

// configStamp identifies the configuration files, and returns the time of the newest change. It is "" if the
// files are unknown.
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
