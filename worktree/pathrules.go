package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"jp/gitcmd"
	"jp/gitcmd/convert"
)

// pathRules are git's rules for the content of a path.
type pathRules struct {
	stamp     string // of the files that the rules come from
	filter    string // the attribute, as git check-attr says it
	always    bool   // a filter, an encoding or ident: only git can tell
	lineEnds  bool   // carriage returns may be taken out
	binary    bool   // lines are uncounted
	trustMode bool   // the executable bit counts
	links     bool   // symbolic links are kept as links
	sparse    bool   // a missing path may be outside of the checkout instead of deleted
}

// rulesFile reports whether a file has attributes of others.
func rulesFile(p string) bool { return path.Base(p) == ".gitattributes" }

// convert reports whether git might store other bytes than these.
func (r pathRules) convert(data []byte) bool {
	return r.always || r.lineEnds && bytes.IndexByte(data, '\r') >= 0
}

func (r pathRules) fileMode(old entry, st *unix.Stat_t) string {
	switch {
	case !r.trustMode && (old.mode == modeFile || old.mode == modeExec):
		return old.mode
	case r.trustMode && st.Mode&0o100 != 0:
		return modeExec
	}
	return modeFile
}

// ruleAttributes are those that change what git stores or counts.
var ruleAttributes = []string{"filter", "text", "crlf", "eol", "ident", "working-tree-encoding", "diff"}

// rulesFor returns the rules by path. They are asked for once, and again when
// a file that they come from changed.
func (w *Worktree) rulesFor(ctx context.Context, paths []string) (map[string]pathRules, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	rules := make(map[string]pathRules, len(paths))
	stamps, folders := map[string]string{}, map[string]string{}
	var unknown []string
	for _, p := range paths {
		dir := path.Dir(p)
		if folders[dir] == "" {
			folders[dir] = w.rulesStamp(p)
		}
		stamps[p] = folders[dir]
		if known, ok := w.attrs[p]; ok && known.stamp == stamps[p] {
			rules[p] = known
			continue
		}
		unknown = append(unknown, p)
	}
	if len(unknown) == 0 {
		return rules, nil
	}
	var config map[string]string
	found := make(chan error, 1)
	go func() { // each is a git
		var err error
		config, err = w.contentConfig(ctx)
		found <- err
	}()
	values, err := w.attributes(ctx, unknown, ruleAttributes...)
	if err = errors.Join(err, <-found); err != nil {
		return nil, err
	}
	for _, p := range unknown {
		r := newRules(values[p], config)
		r.stamp = stamps[p]
		rules[p], w.attrs[p] = r, r
	}
	return rules, nil
}

// ConvertingAttributes are those by which git stores other bytes than a file has.
var ConvertingAttributes = []string{"filter", "ident", "working-tree-encoding"}

// Converts reports whether one of these is in force, by their values.
func Converts(attrs map[string]string) bool {
	return slices.ContainsFunc(ConvertingAttributes, func(name string) bool { return attrs[name] != "unspecified" && attrs[name] != "unset" })
}

func newRules(attrs, config map[string]string) pathRules {
	asks := attrs["text"] != "unspecified" || attrs["crlf"] != "unspecified" || attrs["eol"] != "unspecified"
	return pathRules{
		filter:    attrs["filter"],
		always:    Converts(attrs),
		lineEnds:  attrs["text"] != "unset" && (asks || !isFalse(config["core.autocrlf"])),
		binary:    attrs["diff"] == "unset",
		trustMode: trustMode(config),
		links:     config["core.symlinks"] == "" || !isFalse(config["core.symlinks"]),
		sparse:    !isFalse(config["core.sparsecheckout"]),
	}
}

// unconverted returns, by path, why those of the paths that need a filter that jp does not run must neither
// be stored as they are nor be written. filters are those of the other paths that have one. stores says
// that the files are to be stored as they are now, so that their content counts, too.
func (w *Worktree) unconverted(ctx context.Context, paths []string, stores bool) (why, filters map[string]string, err error) {
	if len(paths) == 0 {
		return nil, nil, nil
	}
	rules, err := w.rulesFor(ctx, paths)
	if err != nil {
		return nil, nil, err
	}
	state, err := w.State(ctx)
	if err != nil {
		return nil, nil, err
	}
	filters = make(map[string]string, len(paths))
	for _, p := range paths {
		filters[p] = rules[p].filter
	}
	judge := w.gaps.Judge
	if stores {
		judge = w.gaps.JudgeContent
	}
	gaps, err := judge(ctx, filters, state.Head)
	why = make(map[string]string, len(gaps))
	for p, gap := range gaps {
		why[p] = gap.Why()
	}
	maps.DeleteFunc(filters, func(p, filter string) bool { return why[p] != "" || convert.None(filter) })
	return why, filters, err
}

// names are the values of a map, each once, sorted.
func names(filters map[string]string) []string {
	return slices.Compact(slices.Sorted(maps.Values(filters)))
}

// trustMode reports whether git records the executable bit.
func trustMode(config map[string]string) bool {
	return config["core.filemode"] == "" || !isFalse(config["core.filemode"])
}

// contentSettings are settings as long as the files that they come from are the same.
type contentSettings struct {
	stamp  string // "" if they must be read again
	values map[string]string
}

// settled is how long a configuration must have been left alone before jp keeps its values: a later write
// could else leave it the same times.
const settled = 100 * time.Millisecond

// contentConfig reads the settings that change which files git stores, and their content. The caller holds
// the mutex.
func (w *Worktree) contentConfig(ctx context.Context) (map[string]string, error) {
	stamp, newest, whole := w.git.ConfigStamp()
	if whole && stamp == w.config.stamp {
		return w.config.values, nil
	}
	out, err := w.git.Run(ctx, "config", "-z", "--get-regexp", `^core\.(autocrlf|filemode|symlinks|sparsecheckout)$`)
	var exit *gitcmd.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.Code == 1) {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	config := map[string]string{}
	for _, pair := range splitNUL(out) {
		key, value, given := strings.Cut(pair, "\n")
		if !given {
			value = "true"
		}
		config[key] = strings.ToLower(value)
	}
	if whole && time.Since(newest) > settled {
		w.config = contentSettings{stamp, config}
	}
	return config, nil
}

// isFalse reads a truth value as git does. An unset one is false.
func isFalse(value string) bool {
	switch value {
	case "", "false", "no", "off", "0":
		return true
	}
	return false
}

// rulesStamp identifies the files in which rules for a path stand, inside the
// repository.
func (w *Worktree) rulesStamp(p string) string {
	files := []string{
		filepath.Join(w.repo.CommonDir, "config"),
		filepath.Join(w.repo.GitDir, "config.worktree"),
		filepath.Join(w.repo.CommonDir, "info", "attributes"),
	}
	for dir := path.Dir(p); ; dir = path.Dir(dir) {
		files = append(files, w.abs(path.Join(dir, ".gitattributes")))
		if dir == "." {
			break
		}
	}
	var b strings.Builder
	for _, file := range files {
		info, err := os.Lstat(file)
		if err != nil {
			b.WriteString("-;")
			continue
		}
		var st unix.Stat_t
		_ = unix.Lstat(file, &st) // it was there a moment ago; zero is another stamp
		fmt.Fprintf(&b, "%d/%d/%v;", st.Ino, info.Size(), changed(&st))
	}
	return b.String()
}
