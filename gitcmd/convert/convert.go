// Package convert finds the files that jp must not store or write as they are: those that need a filter that
// jp refuses to run.
//
// A file needs the filter that its attributes name now, and the one that they named in HEAD. Removing the
// attribute, in any file, does not allow storing the content without the filter. A name without a
// configuration counts as a filter, too.
//
// A file that has the content of such a file needs its filter, too: one that was moved or
// copied to a name without the filter.
//
// It never runs a filter, and reads files only to compare them.
package convert

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"jp/gitcmd"
	"jp/internal/safefile"
)

// A Gap is a file that needs a filter that jp refuses to run.
type Gap struct {
	Path   string
	Filter string
	Now    string // if the attributes of HEAD name Filter: the present one, or ""
	Lost   bool   // the attributes of HEAD name Filter, and the present ones do not
	Case   bool   // the attributes name Filter only if case is ignored, as the repository has it
	Of     string // the file that needs Filter, if this one only has its content; else ""
	reason error  // of the refusal; nil if the filter has no configuration
}

// Why is the reason, for a text behind the name of the file.
func (g Gap) Why() string {
	switch {
	case g.Of != "" && g.reason != nil:
		return fmt.Sprintf("has the content of %s, which needs the filter %s, which %v", g.Of, g.Filter, g.reason)
	case g.Of != "":
		return fmt.Sprintf("has the content of %s, which needs the filter %s", g.Of, g.Filter)
	case g.Case:
		return fmt.Sprintf("needs the filter %s by a pattern in another case, which jp does not follow (core.ignoreCase)", g.Filter)
	case g.Lost && g.Now != "":
		return fmt.Sprintf("needs the filter %s, which it has in HEAD, and has the filter %s now", g.Filter, g.Now)
	case g.Lost:
		return fmt.Sprintf("needs the filter %s, which it has in HEAD and no longer has here", g.Filter)
	case g.reason != nil:
		return fmt.Sprintf("needs the filter %s, which %v", g.Filter, g.reason)
	}
	return fmt.Sprintf("needs the filter %s, which is not configured here", g.Filter)
}

// A Checker finds the gaps in one repository. It may be used by several goroutines.
type Checker struct {
	git  *gitcmd.Git
	repo gitcmd.Repository
	info []byte // info/attributes as it was at first

	mu    sync.Mutex
	files map[string]map[string]string   // attribute files by commit and path: their object's id, or ""
	texts map[string][]byte              // by object
	had   map[string]map[string][]string // filters by commit and path

	foldsOnce sync.Once
	folds     bool // the configuration ignores case
}

// New returns a Checker. It reads info/attributes, and this content counts until the end, so make the Checker
// before a tool runs.
func New(git *gitcmd.Git, repo gitcmd.Repository) *Checker {
	var info []byte
	if repo.CommonDir != "" {
		info, _ = safefile.ReadRegular(infoFile(repo)) // the file may be missing
	}
	return &Checker{
		git: git, repo: repo, info: info,
		files: map[string]map[string]string{}, texts: map[string][]byte{}, had: map[string]map[string][]string{},
	}
}

func infoFile(repo gitcmd.Repository) string {
	return filepath.Join(repo.CommonDir, "info", "attributes")
}

// Gaps are those of the files that need a filter that jp refuses to run, by path. head is a commit, "" for
// none. paths must be regular files, since git converts only these.
func (c *Checker) Gaps(ctx context.Context, paths []string, head string) (map[string]Gap, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	now, err := Attributes(ctx, c.git, paths)
	if err != nil {
		return nil, err
	}
	return c.Judge(ctx, now, head)
}

// JudgeContent is Judge for storing files: it also finds those that have the content of a file with a gap.
func (c *Checker) JudgeContent(ctx context.Context, now map[string]string, head string) (map[string]Gap, error) {
	gaps, err := c.Judge(ctx, now, head)
	if err != nil {
		return nil, err
	}
	return gaps, c.copies(ctx, now, gaps, head)
}

// Judge is Gaps for callers that have the attribute filter of each path from git check-attr. It checks
// attributes alone.
func (c *Checker) Judge(ctx context.Context, now map[string]string, head string) (map[string]Gap, error) {
	had, err := c.before(ctx, now, head)
	if err != nil {
		return nil, err
	}
	folded, err := c.inOtherCase(ctx, now)
	if err != nil {
		return nil, err
	}
	d := drivers{git: c.git}
	gaps := map[string]Gap{}
	for p, value := range now {
		name, why, err := d.judge(ctx, value)
		if err != nil {
			return nil, err
		}
		lost := ""
		for _, was := range had[p] {
			if was == name {
				lost = ""
				break
			}
			lost = was
		}
		switch {
		case folded[p] != "":
			gaps[p] = Gap{Path: p, Filter: folded[p], Case: true}
		case lost != "":
			gaps[p] = Gap{Path: p, Filter: lost, Now: name, Lost: true}
		case why != nil:
			gaps[p] = Gap{Path: p, Filter: name, reason: why.reason}
		}
	}
	return gaps, nil
}

// drivers are the filters of the configuration. They are read when the first file has a filter.
type drivers struct {
	git   *gitcmd.Git
	known map[string]gitcmd.Filter
}

type unrun struct{ reason error }

// judge is the filter that a value of the attribute names, "" for none, and the reason if jp refuses it.
func (d *drivers) judge(ctx context.Context, value string) (name string, why *unrun, err error) {
	if None(value) { // or a filter of that name, which looks the same in git check-attr
		untrusted, err := d.git.UntrustedFilters(ctx)
		for _, other := range untrusted {
			if other == value {
				return value, &unrun{gitcmd.ErrForeignFilter}, err
			}
		}
		return "", nil, err
	}
	if d.known == nil {
		filters, err := d.git.Filters(ctx)
		if err != nil {
			return "", nil, err
		}
		d.known = map[string]gitcmd.Filter{}
		for _, f := range filters {
			d.known[f.Name] = f
		}
	}
	f, defined := d.known[value]
	if !defined {
		return value, &unrun{}, nil
	}
	if reason := d.git.Refuses(f); reason != nil {
		return value, &unrun{reason}, nil
	}
	return value, nil, nil
}

// None reports whether a value of the attribute filter stands for no filter.
func None(value string) bool {
	switch value {
	case "", "unspecified", "unset", "set":
		return true
	}
	return false
}

// Attributes returns the attribute filter of paths, as printed by git check-attr.
func Attributes(ctx context.Context, git *gitcmd.Git, paths []string) (map[string]string, error) {
	out, err := git.RunWith(ctx, gitcmd.Command{
		Args:  []string{"check-attr", "-z", "--stdin", "filter"},
		Stdin: strings.NewReader(strings.Join(paths, "\x00") + "\x00"),
	})
	if err != nil {
		return nil, fmt.Errorf("read attributes: %w", err)
	}
	return attributesIn(out, len(paths)), nil
}

// attributesIn reads the output of git check-attr -z for one attribute of n paths.
func attributesIn(out []byte, n int) map[string]string {
	fields := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	values := make(map[string]string, n)
	for i := 0; i+2 < len(fields); i += 3 {
		values[fields[i]] = fields[i+2]
	}
	return values
}

// above are the files whose attributes hold for a path.
func above(p string) (files []string) {
	for dir := path.Dir(p); ; dir = path.Dir(dir) {
		files = append(files, path.Join(dir, attributesFile))
		if dir == "." || dir == "/" {
			return files
		}
	}
}

const attributesFile = ".gitattributes"

// IsAttributes reports whether a path is that of a file with attributes of others.
func IsAttributes(p string) bool { return path.Base(p) == attributesFile }

// Weakened is a line of the present attributes that removes a filter of the former ones, also from files that
// do not exist yet. It is "" if there is none.
func Weakened(was, is string) string {
	now := map[string]bool{}
	for line := range strings.Lines(is) {
		now[strings.TrimSpace(line)] = true
	}
	before := map[string]bool{}
	for line := range strings.Lines(was) {
		line = strings.TrimSpace(line)
		before[line] = true
		if !strings.HasPrefix(line, "#") && strings.Contains(line, "filter") && !now[line] {
			return line
		}
	}
	for line := range strings.Lines(is) {
		line = strings.TrimSpace(line)
		if !before[line] && !strings.HasPrefix(line, "#") && (strings.Contains(line, "-filter") || strings.Contains(line, "!filter")) {
			return line
		}
	}
	return ""
}
