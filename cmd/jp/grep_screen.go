package main

import (
	"fmt"
	"io"
	"strings"

	"jp/agent/problem"
	"jp/cmd/jp/internal/terminal"
	"jp/cmd/jp/internal/ui"
	"jp/internal/safetext"
	"jp/search"
)

// leastText is how many columns of a screen the text of a line has at least. The columns before it
// give way.
const leastText = 20

// grepScreen shows lines for reading, below a heading for each conversation.
type grepScreen struct {
	*grep
	w       io.Writer
	palette terminal.Palette
	width   int
	wrote   bool
}

func (s *grepScreen) close() error { return nil }

func (s *grepScreen) show(r search.Result) error {
	if s.wrote {
		fmt.Fprintln(s.w)
	}
	s.wrote = true
	fmt.Fprintln(s.w, s.heading(r))
	// Without room for it the turn is left out, then the scope.
	turn, seq, scope := 0, 0, 0
	for _, l := range r.Lines {
		turn, seq, scope = max(turn, len(turnWord(l))), max(seq, len(s.seqWord(l))), max(scope, len(l.Scope))
	}
	room := s.width - leastText - 2
	withTurn := turn+seq+scope+4 <= room
	withScope := seq+scope+3 <= room
	before := make([]string, len(r.Lines))
	for i, l := range r.Lines {
		words := []string{s.palette.Yellow(fmt.Sprintf("%-*s", seq, s.seqWord(l)))}
		if withTurn {
			words = append([]string{fmt.Sprintf("%*s", turn, turnWord(l))}, words...)
		}
		if withScope {
			words = append(words, s.palette.Dim(fmt.Sprintf("%-*s", scope, l.Scope)))
		}
		before[i] = "  " + strings.Join(words, " ") + "  "
	}
	for i, l := range r.Lines {
		if s.opts.hasContext() && i > 0 && !adjoin(r.Lines[i-1], l) {
			fmt.Fprintln(s.w, s.palette.Dim("  --"))
		}
		columns := s.width - safetext.Columns(before[i])
		mark := s.palette.Dim(ui.ForksMark(l))
		columns -= safetext.Columns(ui.ForksMark(l))
		if incomplete(r.Info, l) {
			mark += s.palette.Yellow(incompleteMark)
			columns -= safetext.Columns(incompleteMark)
		}
		text := terminal.Excerpt(l.Text, l.Submatches, s.palette.Found, max(columns, 1))
		if !l.Match {
			text = s.palette.Dim(text)
		}
		if _, err := fmt.Fprintln(s.w, before[i]+text+mark); err != nil {
			return err
		}
	}
	return nil
}

// heading names a conversation, and says when it was active.
func (s *grepScreen) heading(r search.Result) string {
	id, title, when := r.Info.Name(), problem.OneLine(r.Info.Summary.Title), ""
	if r.Info.Err == nil {
		when = terminal.Ago(r.Info.Summary.LastEventAt, s.env.Now())
	}
	room := s.width - safetext.Columns(id) - safetext.Columns(when) - 4
	if room < leastText/2 {
		return safetext.Fit(s.palette.Cyan(id)+"  "+s.palette.Bold(title), s.width)
	}
	title = safetext.Fit(title, room)
	gap := strings.Repeat(" ", room-safetext.Columns(title))
	return s.palette.Cyan(id) + "  " + s.palette.Bold(title) + gap + "  " + s.palette.Dim(when)
}

func turnWord(l search.Line) string {
	if l.Seq < 0 {
		return ""
	}
	return problem.Itoa(l.Turn)
}

// seqWord names the event of a line; with lines of context it says whether the
// line matches.
func (s *grepScreen) seqWord(l search.Line) string {
	word := ""
	if l.Seq >= 0 {
		word = "@" + problem.Itoa(l.Seq)
	}
	switch {
	case !s.opts.hasContext():
		return word
	case l.Match:
		return word + ":"
	}
	return word + "-"
}
