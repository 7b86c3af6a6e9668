package main

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

	"jp/conversation"
	"jp/gitcmd"
	"jp/internal/safetext"
)

// A blamedLine is a line of a file with who wrote it: an event, a commit from
// before the conversation, or, where both are nil, nobody knows yet.
type blamedLine struct {
	view   *view
	number int // in the file as it is now, from 1
	text   string
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

// blameLines says of each line of the file as it is now who wrote it; of one
// line only if it is not 0.
func (v *view) blameLines(ctx context.Context, path string, line int) ([]blamedLine, error) {
	newest := v.events[len(v.events)-1]
	then, err := v.repo.git.Run(ctx, "cat-file", "blob", newest.Tree+":"+path)
	var exit *gitcmd.ExitError
	if errors.As(err, &exit) {
		return nil, fail(exitNotFound, "not_found", "the newest snapshot of %s has no file %q.", v.id, path).about(v.id).
			hint("jp blame --all "+safetext.Escape(path), "look in all conversations")
	}
	if err != nil {
		return nil, fmt.Errorf("read %s in event %d: %w", path, newest.Seq, err)
	}
	now := v.repo.content(path, string(then))
	lines := strings.SplitAfter(now, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	if line > len(lines) {
		return nil, fail(exitNotFound, "not_found", "%s has %s.", path, conversation.Count(len(lines), "line")).about(v.id)
	}
	from := sameLines(unixEnds(string(then)), now)
	by, err := v.attribute(ctx, path, newest.Commit, from, line)
	if err != nil {
		return nil, err
	}
	var blamed []blamedLine
	for i, text := range lines {
		if line > 0 && i != line-1 {
			continue
		}
		l := blamedLine{view: v, number: i + 1, text: strings.TrimSuffix(text, "\n")}
		if a, ok := by[from[i]]; ok {
			l.event, l.path = v.committed(a.commit.oid), a.commit.file
			switch unrecorded, err := v.unrecorded(ctx, l.event, a.commit.file); {
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

// unrecorded says whether nobody knows what a file held before an event, so that its lines
// need not be the event's.
func (v *view) unrecorded(ctx context.Context, e *conversation.Event, path string) (bool, error) {
	if e == nil {
		return false, nil
	}
	response, is := e.Body.(*conversation.ToolCallResponse)
	switch {
	case !is:
		return false, nil
	case slices.Contains(unquoted(response.Unrecorded), path):
		return true, nil
	case response.UnrecordedMore == 0:
		return false, nil
	}
	_, err := v.repo.git.Run(ctx, "rev-parse", "-q", "--verify", v.beforeTree(e)+":"+path)
	var exit *gitcmd.ExitError
	if errors.As(err, &exit) {
		return true, nil
	}
	return false, err
}

// content is a file as it is now, or else as the newest snapshot has it.
func (r *repo) content(path, otherwise string) string {
	if r.TopLevel == "" {
		return unixEnds(otherwise)
	}
	root, err := os.OpenRoot(r.TopLevel)
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

// sameLines says for each line of now which line of then it is, from 1, or 0.
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
func (v *view) attribute(ctx context.Context, path, head string, from []int, line int) (map[int]attribution, error) {
	only := 0
	if line > 0 {
		if only = from[line-1]; only == 0 {
			return nil, nil
		}
	}
	base, err := v.base(ctx)
	if err != nil {
		return nil, err
	}
	by, err := v.gitBlame(ctx, head, base, path, only)
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
			if before, err = v.gitBlame(ctx, base, "", a.commit.file, single); err != nil {
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
func (v *view) base(ctx context.Context) (string, error) {
	out, err := v.repo.git.Run(ctx, "rev-list", "--parents", "-n", "1", v.events[0].Commit)
	if err != nil {
		return "", fmt.Errorf("find the beginning of %s: %w", v.id, err)
	}
	if words := strings.Fields(string(out)); len(words) > 1 {
		return words[1], nil
	}
	return "", nil
}

// gitBlame attributes the lines of a file in a commit, by their number; below
// the commit base everything counts as its.
func (v *view) gitBlame(ctx context.Context, commit, base, path string, line int) (map[int]attribution, error) {
	args := []string{"blame", "--porcelain"}
	if line > 0 {
		args = append(args, "-L", fmt.Sprintf("%d,%d", line, line))
	}
	args = append(args, commit)
	if base != "" {
		args = append(args, "^"+base)
	}
	out, err := v.repo.git.RunWith(ctx, gitcmd.Command{Args: append(args, "--", path), Config: []string{"blame.ignoreRevsFile="}})
	var exit *gitcmd.ExitError
	if errors.As(err, &exit) && strings.Contains(exit.Stderr, "could not open object name list") {
		return nil, fail(exitFailed, "config", "git blame does not work here: blame.ignoreRevsFile names a file that cannot be read.").
			hint("git config --show-origin --get-all blame.ignoreRevsFile", "where that is set")
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
		if fields := strings.Fields(value); len(key) == 40 && len(fields) >= 2 {
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
func (v *view) committed(oid string) *conversation.Event {
	for _, e := range v.events {
		if e.Commit == oid {
			return e
		}
	}
	return nil
}

// ref names what wrote the line.
func (l blamedLine) ref(all bool) string {
	switch {
	case l.event != nil && all:
		return fmt.Sprintf("%s@%d", l.view.id.Short(), l.event.Seq)
	case l.event != nil:
		return fmt.Sprintf("@%d", l.event.Seq)
	case l.commit != nil:
		return l.commit.oid[:7]
	}
	return "-"
}

func (l blamedLine) author() string {
	switch {
	case l.event != nil:
		return safetext.Clean(l.event.Author)
	case l.commit != nil:
		return safetext.Clean(l.commit.author)
	}
	return "(not recorded)"
}

func (l blamedLine) time() time.Time {
	switch {
	case l.event != nil:
		return l.event.Time
	case l.commit != nil:
		return l.commit.time
	}
	return time.Time{}
}

func (l blamedLine) when() string {
	if l.time().IsZero() {
		return ""
	}
	return l.time().In(l.view.repo.env.now().Location()).Format("2006-01-02 15:04")
}
