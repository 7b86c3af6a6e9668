package fs

import (
	"bytes"
	"fmt"
	"regexp"

	"jp/conversation"
	"jp/tool"
)

// maxColumns is how much of a line is shown.
const maxColumns = 400

// A sweep collects the matches of one expression, file after file.
type sweep struct {
	expression *regexp.Regexp
	context    int // lines around a match
	limit      int // matching lines
	out        *tool.Capture

	matches, tooLarge int
	files             []string // with a match
	full              bool     // there was one match more than the limit
}

// search adds the matches of one file.
func (s *sweep) search(name string, content []byte) {
	all := bytes.Split(bytes.TrimSuffix(content, []byte("\n")), []byte("\n"))
	last, owed, before := -1, 0, s.matches // the last line shown; lines of context to come
	for i, line := range all {
		switch {
		case s.expression.Match(bytes.TrimSuffix(line, []byte("\r"))):
			if s.full = s.matches == s.limit; s.full {
				break
			}
			s.matches++
			s.lead(name, all, i, last)
			s.show(name, i, line, ':')
			last, owed = i, s.context
		case owed > 0:
			s.show(name, i, line, '-')
			last, owed = i, owed-1
		}
		if s.full {
			break
		}
	}
	if s.matches > before {
		s.files = append(s.files, name)
	}
}

// lead shows the context before the match in line i, after a separator if it does not touch the lines shown
// before.
func (s *sweep) lead(name string, all [][]byte, i, last int) {
	first := max(i-s.context, last+1)
	if s.context > 0 && s.out.Bytes() > 0 && (last < 0 || first > last+1) {
		fmt.Fprintln(s.out, "--")
	}
	for n := first; n < i; n++ {
		s.show(name, n, all[n], '-')
	}
}

func (s *sweep) show(name string, index int, line []byte, mark byte) {
	text := conversation.Shorten(string(bytes.TrimSuffix(line, []byte("\r"))), maxColumns)
	fmt.Fprintf(s.out, "%s%c%d%c%s\n", inLine(name), mark, index+1, mark, text)
}

func (s *sweep) result() tool.Result {
	if s.matches == 0 {
		fmt.Fprintln(s.out, "[no matches]")
	}
	if s.full {
		fmt.Fprintf(s.out, "[stopped after %s: narrow the pattern, path or glob, or raise limit]\n", count(s.matches, "match"))
	}
	if s.tooLarge > 0 {
		fmt.Fprintf(s.out, "[%s of more than %d MiB not searched]\n", count(s.tooLarge, "file"), maxText>>20)
	}
	content, whole := s.out.Content()
	effect := fmt.Sprintf("%s in %s", count(s.matches, "match"), count(len(s.files), "file"))
	if s.matches == 0 {
		effect = "no matches"
	}
	return tool.Result{Content: content, Truncated: whole, Effect: effect, WrittenFiles: []string{}, Found: s.files}
}
