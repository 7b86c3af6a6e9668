package blame

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aymanbagabas/go-udiff"

	"jp/agent/action"
	"jp/agent/problem"
	"jp/agent/repo"
	"jp/conversation"
	"jp/gitcmd"
	"jp/gitstore/trees"
	"jp/internal/safetext"
)

// A BlamedLine is a line of a file and its author: an event, or a commit from before
// the conversation. If both are nil the author is still unknown.
type BlamedLine struct {
	view   *repo.View
	Number int // in the file as it is now, from 1
	Text   string
	path   string // that it had in the commit that wrote it
	event  *conversation.Event
	commit *gitCommit
	found  *conversation.Event // the first that has the file, if it is older and was not recorded
}

// A gitCommit is what git blame says of a commit.
type gitCommit struct {
	oid     string
	author  string
	time    time.Time
	summary string
	file    string // the path in it
}

// attribution is which line of which commit a line comes from.
type attribution struct {
	commit *gitCommit
	line   int
}

// BlameLines says of each line of the file as it is now who wrote it; of one
// line only if it is not 0.
func BlameLines(ctx context.Context, v *repo.View, path string, line int) ([]BlamedLine, error) {
	newest := v.Events[len(v.Events)-1]
	at, err := trees.Find(ctx, v.Repo.Trees, newest.Tree, path)
	if err == nil && (at == (trees.Version{}) || at.Mode == trees.ModeFolder || at.Mode == trees.ModeSubmodule) {
		return nil, problem.New(problem.ExitNotFound, "not_found", "the newest snapshot of %s has no file %q.", v.ID, path).About(v.ID).
			Hint(action.BlameAll(path), "look in all conversations")
	}
	var then []byte
	if err == nil {
		then, err = v.Repo.Trees.Blob(ctx, at.OID)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s in event %d: %w", path, newest.Seq, err)
	}
	now := content(v.Repo, path, string(then))
	lines := strings.SplitAfter(now, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	if line > len(lines) {
		return nil, problem.New(problem.ExitNotFound, "not_found", "%s has %s.", path, conversation.Count(len(lines), "line")).About(v.ID)
	}
	from := sameLines(unixEnds(string(then)), now)
	by, err := attribute(ctx, v, path, newest.Commit, from, line)
	if err != nil {
		return nil, err
	}
	var blamed []BlamedLine
	for i, text := range lines {
		if line > 0 && i != line-1 {
			continue
		}
		l := BlamedLine{view: v, Number: i + 1, Text: strings.TrimSuffix(text, "\n")}
		if a, ok := by[from[i]]; ok {
			l.event, l.path = committed(v, a.commit.oid), a.commit.file
			switch unrecorded, err := unrecorded(ctx, v, l.event, a.commit.file); {
			case err != nil:
				return nil, err
			case unrecorded:
				l.event, l.found = nil, l.event
			case l.event == nil:
				l.commit = a.commit
			}
		}
		blamed = append(blamed, l)
	}
	return blamed, nil
}

// unrecorded reports whether the content of a file before an event is unknown, so that
// the event need not have written its lines.
func unrecorded(ctx context.Context, v *repo.View, e *conversation.Event, path string) (bool, error) {
	if e == nil {
		return false, nil
	}
	response, is := e.Body.(*conversation.ToolCallResponse)
	switch {
	case !is:
		return false, nil
	case slices.Contains(repo.Unquoted(response.Unrecorded), path):
		return true, nil
	case response.UnrecordedMore == 0:
		return false, nil
	}
	before, err := trees.Find(ctx, v.Repo.Trees, v.BeforeTree(e), path)
	return before == (trees.Version{}), err
}

// content is a file as it is now, or else as the newest snapshot has it.
func content(r *repo.Repo, path, otherwise string) string {
	if r.At.TopLevel == "" {
		return unixEnds(otherwise)
	}
	root, err := os.OpenRoot(r.At.TopLevel)
	if err != nil {
		return unixEnds(otherwise)
	}
	defer root.Close()
	if info, err := root.Lstat(filepath.FromSlash(path)); err != nil || !info.Mode().IsRegular() {
		return unixEnds(otherwise)
	}
	data, err := root.ReadFile(filepath.FromSlash(path))
	if err != nil {
		return unixEnds(otherwise)
	}
	return unixEnds(string(data))
}

// unixEnds makes content comparable that git may have converted.
func unixEnds(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// sameLines gives for each line of now the equal line of then, from 1, or 0.
func sameLines(then, now string) []int {
	var from []int
	at, line := 0, 1 // the byte and the line of then that come next
	keep := func(until int) {
		for at < until {
			end := strings.IndexByte(then[at:], '\n') + 1
			if end == 0 {
				end = len(then) - at
			}
			from, at, line = append(from, line), at+end, line+1
		}
	}
	for _, edit := range udiff.Lines(then, now) {
		keep(edit.Start)
		for range lineTotal(edit.New) {
			from = append(from, 0)
		}
		line += lineTotal(then[edit.Start:edit.End])
		at = edit.End
	}
	keep(len(then))
	return from
}

func lineTotal(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// attribute asks git who wrote the lines of the newest event's file, within the
// conversation first, and for what is older, what wrote it before.
func attribute(ctx context.Context, v *repo.View, path, head string, from []int, line int) (map[int]attribution, error) {
	only := 0
	if line > 0 {
		if only = from[line-1]; only == 0 {
			return nil, nil
		}
	}
	base, err := base(ctx, v)
	if err != nil {
		return nil, err
	}
	by, err := gitBlame(ctx, v, head, base, path, only)
	if err != nil || base == "" {
		return by, err
	}
	older := map[string]map[int]attribution{} // by path in the base
	for number, a := range by {
		if a.commit.oid != base {
			continue
		}
		before, asked := older[a.commit.file]
		if !asked {
			single := 0
			if only > 0 {
				single = a.line
			}
			if before, err = gitBlame(ctx, v, base, "", a.commit.file, single); err != nil {
				return nil, err
			}
			older[a.commit.file] = before
		}
		if b, ok := before[a.line]; ok {
			by[number] = b
		}
	}
	return by, nil
}

// base is the commit that the conversation branched off, "" for none.
func base(ctx context.Context, v *repo.View) (string, error) {
	out, err := v.Repo.Git.Run(ctx, "rev-list", "--parents", "-n", "1", v.Events[0].Commit)
	if err != nil {
		return "", fmt.Errorf("find the beginning of %s: %w", v.ID, err)
	}
	if words := strings.Fields(string(out)); len(words) > 1 {
		return words[1], nil
	}
	return "", nil
}

// gitBlame attributes the lines of a file in a commit, by their number; below
// the commit base everything counts as its.
func gitBlame(ctx context.Context, v *repo.View, commit, base, path string, line int) (map[int]attribution, error) {
	args := []string{"blame", "--porcelain"}
	if line > 0 {
		args = append(args, "-L", fmt.Sprintf("%d,%d", line, line))
	}
	args = append(args, commit)
	if base != "" {
		args = append(args, "^"+base)
	}
	out, err := v.Repo.Git.RunWith(ctx, gitcmd.Command{Args: append(args, "--", path), Config: []string{"blame.ignoreRevsFile="}})
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

// parseBlame reads git's porcelain format, in which what is known of a commit
// comes with the first of its lines.
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

// committed finds the event that a commit is.
func committed(v *repo.View, oid string) *conversation.Event {
	for _, e := range v.Events {
		if e.Commit == oid {
			return e
		}
	}
	return nil
}

// Ref names what wrote the line.
func (l BlamedLine) Ref(all bool) string {
	switch {
	case l.event != nil && all:
		return fmt.Sprintf("%s@%d", l.view.ID.Short(), l.event.Seq)
	case l.event != nil:
		return fmt.Sprintf("@%d", l.event.Seq)
	case l.commit != nil:
		return l.commit.oid[:7]
	}
	return "-"
}

func (l BlamedLine) Author() string {
	switch {
	case l.event != nil:
		return safetext.Clean(l.event.Author)
	case l.commit != nil:
		return safetext.Clean(l.commit.author)
	}
	return "(not recorded)"
}

func (l BlamedLine) time() time.Time {
	switch {
	case l.event != nil:
		return l.event.Time
	case l.commit != nil:
		return l.commit.time
	}
	return time.Time{}
}

func (l BlamedLine) When() string {
	if l.time().IsZero() {
		return ""
	}
	return l.time().In(l.view.Repo.Env.Now().Location()).Format("2006-01-02 15:04")
}

// Known says how much is known of a line's origin: that a tool wrote it, that
// another person did during the conversation, that it was there before, or nothing.
func (l BlamedLine) Known() int {
	switch {
	case l.event == nil && l.commit == nil:
		return 0
	case l.event == nil || l.event.Type() == conversation.TypeTurnStart:
		return 1
	case l.event.Type() == conversation.TypeToolCallResponse:
		return 3
	}
	return 2
}
