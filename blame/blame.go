package blame

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/conversation"
	"jp/gitcmd"
	"jp/gitstore/trees"
	"jp/internal/action"
	"jp/internal/safetext"
)

// A BlamedLine is a line of a file with its writer: an event, or else a commit. If both are nil the writer is
// unknown.
type BlamedLine struct {
	Number  int // in the file as it is now, from 1
	Text    string
	repo    *repo.Repo
	path    string // that it had in the commit
	record  *record
	event   *source
	commit  *gitCommit
	alone   bool // only one conversation was searched
	session string
	origin  *origin
	subject string // of the event
}

type gitCommit struct {
	oid     string
	author  string
	time    time.Time // of the author
	made    time.Time
	summary string
	file    string // the path in it
}

// attribution is the commit that a line comes from, and its line there.
type attribution struct {
	commit *gitCommit
	line   int
}

// A Question is a file, or one line of it, and the conversations to search.
type Question struct {
	Path    string
	Line    int    // 0: all
	Only    string // this conversation; "": all
	Session string // the session's conversation, "" without one
}

// Lines gives each line of the present file with its writer.
func (x *Index) Lines(ctx context.Context, q Question) ([]BlamedLine, error) {
	head, err := x.headVersion(ctx, q.Path)
	if err != nil {
		return nil, err
	}
	now, there := fileNow(x.repo, q.Path), true
	if now == nil {
		now, there = head, head != nil
	}
	if !there {
		if now, err = x.newest(ctx, q.Path); err != nil {
			return nil, err
		}
	}
	lines := splitLines(*now)
	if q.Line > len(lines) {
		return nil, problem.New(problem.ExitNotFound, "not_found", "%s has %s.", q.Path, conversation.Count(len(lines), "line"))
	}
	var by map[int]attribution
	from := make([]int, len(lines))
	if head != nil {
		from = alignLines(*head, *now)
		only := 0
		if q.Line > 0 {
			only = from[q.Line-1]
		}
		if q.Line == 0 || only > 0 {
			if by, err = x.gitBlame(ctx, "HEAD", q.Path, only); err != nil {
				return nil, err
			}
		}
	}
	current, paths := currentLines(lines, from, by, q.Path)
	matches := x.match(ctx, current, paths, q.Only)
	var blamed []BlamedLine
	for i, text := range lines {
		if q.Line > 0 && i != q.Line-1 {
			continue
		}
		l := BlamedLine{
			Number: i + 1, Text: strings.TrimSuffix(text, "\n"), repo: x.repo, path: q.Path, alone: q.Only != "", session: cmp.Or(q.Only, q.Session),
			record: matches[i].record, event: matches[i].source,
		}
		if a, is := by[from[i]]; is && l.event == nil {
			l.commit, l.path = a.commit, a.commit.file
		}
		blamed = append(blamed, l)
	}
	return blamed, nil
}

// currentLines are lines with the commits that brought them, and the names that the file had there.
// from is the line of git's attribution for each, or 0.
func currentLines(lines []string, from []int, by map[int]attribution, path string) (current []currentLine, paths []string) {
	current, paths = make([]currentLine, len(lines)), []string{path}
	for i, text := range lines {
		current[i].key, current[i].weight = keyOf(text)
		if a, is := by[from[i]]; is {
			current[i].commit, current[i].oid = a.commit.made, a.commit.oid
			if !slices.Contains(paths, a.commit.file) {
				paths = append(paths, a.commit.file)
			}
		}
	}
	return current, paths
}

// match finds the events that wrote lines, in one conversation or in all.
func (x *Index) match(ctx context.Context, lines []currentLine, paths []string, only string) []match {
	records := x.records
	if only != "" {
		records = slices.DeleteFunc(slices.Clone(records), func(r *record) bool { return r.Conversation != only })
	}
	m := newMatcher(records, lines, paths)
	known := map[[2]string]bool{}
	m.earlier = func(commit, head string) bool {
		is, asked := known[[2]string{commit, head}]
		if !asked {
			_, err := x.repo.Git.Run(ctx, "merge-base", "--is-ancestor", commit, head)
			is = err == nil
			known[[2]string{commit, head}] = is
		}
		return is
	}
	return m.match()
}

func (x *Index) headVersion(ctx context.Context, path string) (*string, error) {
	tree, err := revision(ctx, x.repo, "HEAD^{tree}")
	if err != nil || tree == "" {
		return nil, err
	}
	return x.version(ctx, tree, path)
}

func (x *Index) version(ctx context.Context, tree, path string) (*string, error) {
	at, err := trees.Find(ctx, x.repo.Trees, tree, path)
	if err == nil && !regular(at) {
		return nil, nil
	}
	var data []byte
	if err == nil {
		data, err = x.repo.Trees.Blob(ctx, at.OID)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	text := unixEnds(string(data))
	return &text, nil
}

// newest is a file that the working tree lacks, in the conversation that changed it last.
func (x *Index) newest(ctx context.Context, path string) (*string, error) {
	var last *string
	var at time.Time
	for _, r := range x.records {
		if !slices.Contains(r.Paths, path) || len(r.Sources) == 0 {
			continue
		}
		changed := r.Sources[len(r.Sources)-1].Time
		c, err := x.readCommit(r.Head)
		if err != nil || last != nil && !changed.After(at) {
			continue
		}
		text, err := x.version(ctx, c.tree, path)
		if err != nil {
			return nil, err
		}
		if text != nil {
			last, at = text, changed
		}
	}
	if last == nil {
		return nil, problem.New(problem.ExitNotFound, "not_found", "there is no file %q here, and no conversation has one.", path).
			Hint(action.DiffTools, "what the tools changed")
	}
	return last, nil
}

// fileNow is the present file, nil unless it is a regular one.
func fileNow(r *repo.Repo, path string) *string {
	if r.At.TopLevel == "" {
		return nil
	}
	root, err := os.OpenRoot(r.At.TopLevel)
	if err != nil {
		return nil
	}
	defer root.Close()
	if info, err := root.Lstat(filepath.FromSlash(path)); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	data, err := root.ReadFile(filepath.FromSlash(path))
	if err != nil {
		return nil
	}
	text := unixEnds(string(data))
	return &text
}

// gitBlame attributes the lines of a file in a commit, by their number, ignoring white space.
func (x *Index) gitBlame(ctx context.Context, commit, path string, line int) (map[int]attribution, error) {
	args := []string{"blame", "--porcelain", "-w"}
	if line > 0 {
		args = append(args, "-L", fmt.Sprintf("%d,%d", line, line))
	}
	out, err := x.repo.Git.RunWith(ctx, gitcmd.Command{Args: append(args, commit, "--", path), Config: []string{"blame.ignoreRevsFile="}})
	var exit *gitcmd.ExitError
	if errors.As(err, &exit) && strings.Contains(exit.Stderr, "could not open object name list") {
		return nil, problem.New(problem.ExitFailed, "config", "git blame does not work here: blame.ignoreRevsFile names a file that cannot be read.").
			Hint(action.BlameIgnored, "where that is set")
	}
	if err != nil {
		return nil, fmt.Errorf("find who wrote %s: %w", path, err)
	}
	return parseBlame(string(out)), nil
}

// parseBlame reads git's porcelain format, which has the facts about a commit at the first of its lines.
func parseBlame(out string) map[int]attribution {
	by := map[int]attribution{}
	commits := map[string]*gitCommit{}
	var current attribution
	number := 0
	for text := range strings.Lines(out) {
		text = strings.TrimSuffix(text, "\n")
		if strings.HasPrefix(text, "\t") {
			by[number] = current
			continue
		}
		key, value, _ := strings.Cut(text, " ")
		if fields := strings.Fields(value); gitcmd.IsObjectName(key) && len(fields) >= 2 {
			if commits[key] == nil {
				commits[key] = &gitCommit{oid: key}
			}
			current.commit = commits[key]
			current.line, _ = strconv.Atoi(fields[0])
			number, _ = strconv.Atoi(fields[1])
			continue
		}
		if current.commit != nil {
			current.commit.set(key, value)
		}
	}
	return by
}

func (c *gitCommit) set(key, value string) {
	switch key {
	case "author":
		c.author = value
	case "author-time":
		if n, err := strconv.ParseInt(value, 10, 64); err == nil {
			c.time = time.Unix(n, 0)
		}
	case "committer-time":
		if n, err := strconv.ParseInt(value, 10, 64); err == nil {
			c.made = time.Unix(n, 0)
		}
	case "summary":
		c.summary = value
	case "filename":
		if strings.HasPrefix(value, `"`) {
			value = gitEscapes.Replace(value)
		}
		if path, err := conversation.UnquotePath(value); err == nil {
			c.file = path
		}
	}
}

// gitEscapes gives codes for the letters that git has for some of them.
var gitEscapes = strings.NewReplacer(`\\`, `\\`, `\a`, `\007`, `\b`, `\010`, `\t`, `\011`, `\n`, `\012`, `\v`, `\013`, `\f`, `\014`, `\r`, `\015`)

// Short is the short name of a conversation that may be fetched.
func Short(name string) string {
	slash := strings.LastIndexByte(name, '/') + 1
	return name[:slash] + conversation.ID(name[slash:]).Short()
}

func (l BlamedLine) tool() bool { return l.event != nil && l.event.Writer == byTool }

func (l BlamedLine) at(seq int) string {
	if l.alone {
		return fmt.Sprintf("@%d", seq)
	}
	return fmt.Sprintf("%s@%d", Short(l.record.Conversation), seq)
}

// Ref names the event or commit that wrote the line.
func (l BlamedLine) Ref() string {
	switch {
	case l.event != nil && l.event.Writer != unproven:
		return l.at(l.event.Seq)
	case l.commit != nil:
		return l.commit.oid[:7]
	}
	return "-"
}

// Author is who wrote the line.
func (l BlamedLine) Author() string {
	switch {
	case l.event != nil && l.event.Writer != unproven:
		return safetext.Clean(l.event.Author)
	case l.commit != nil:
		return safetext.Clean(l.commit.author)
	}
	return "(not recorded)"
}

func (l BlamedLine) time() time.Time {
	switch {
	case l.event != nil && l.event.Writer != unproven:
		return l.event.Time
	case l.commit != nil:
		return l.commit.time
	}
	return time.Time{}
}

// When is the time of the event or commit.
func (l BlamedLine) When() string {
	if l.time().IsZero() {
		return ""
	}
	return l.time().In(l.repo.Env.Now().Location()).Format("2006-01-02 15:04")
}
