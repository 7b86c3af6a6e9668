package watch

import (
	"context"
	"fmt"
	"strings"
	"time"

	"jp/agent/live"
	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
	"jp/internal/safetext"
)

// Columns at which a row shows more than its title and its time.
const (
	showsTokens = 44
	showsPlace  = 64
	mostPlace   = 24
)

// leastList is how many rows of the list stay beside a question.
const leastList = 2

func (s *screen) draw(ctx context.Context) error {
	s.rows = s.board.Rows()
	if (s.current() == nil || !s.pressed) && len(s.rows) > 0 {
		s.selected = s.rows[0].Key()
	}
	width, height := terminal.Width(s.env.Stdout, nil), s.screen.Height()
	row := s.current()
	room := max(height-2, 1) // beside the first line and the keys
	below := 0
	if row != nil && row.Question != nil {
		list := min(len(s.listed(width, false)), max(leastList, room/3))
		below = max(room-list-1, 1)
		room = list
	}
	s.question(ctx, row, width, below)
	lines := append([]string{s.head(width)}, s.list(width, room)...)
	if s.asked != nil {
		lines = append(append(lines, s.palette.Dim(strings.Repeat("─", width))), s.asked.shown()...)
	}
	for len(lines) < height-1 {
		lines = append(lines, "")
	}
	return s.screen.Draw(append(lines[:max(height-1, 0)], s.foot(width)))
}

// head counts the groups.
func (s *screen) head(width int) string {
	count := map[live.Group]int{}
	for _, r := range s.rows {
		count[r.Group]++
	}
	words := []string{"jp watch"}
	for _, g := range []live.Group{live.NeedsYou, live.Working, live.Ready} {
		word := groupWords[g]
		if g == live.NeedsYou && count[g] > 1 {
			word = "need you"
		}
		if count[g] > 0 {
			words = append(words, fmt.Sprintf("%d %s", count[g], word))
		}
	}
	if len(s.rows) == 0 {
		words = append(words, "no conversation runs or waits")
	}
	text := strings.Join(words, " · ")
	if safetext.Columns(text) > width {
		text = strings.Join(words[1:], " · ")
	}
	return s.palette.Dim(safetext.Fit(text, width))
}

// list is the list with the selected row in it.
func (s *screen) list(width, rows int) []string {
	all := s.listed(width, true)
	if len(all) > rows {
		all = s.listed(width, false)
	}
	at := 0
	for i, l := range all {
		if l.key == s.selected {
			at = i
			break
		}
	}
	from := min(max(at-rows/2, 0), max(len(all)-rows, 0))
	var lines []string
	for _, l := range all[from:min(from+rows, len(all))] {
		lines = append(lines, l.text)
	}
	return lines
}

// A listedLine is a line of the list. key is that of its row, "" for a heading.
type listedLine struct{ key, text string }

// listed is the whole list. With lasts the last line of each conversation stands below it.
func (s *screen) listed(width int, lasts bool) (lines []listedLine) {
	var group live.Group
	for _, r := range s.rows {
		if r.Group != group {
			group = r.Group
			words := map[live.Group]func(string) string{live.NeedsYou: s.palette.Yellow, live.Working: s.palette.Green, live.Ready: s.palette.Dim}[group]
			lines = append(lines, listedLine{"", words(groupWords[group])})
		}
		lines = append(lines, listedLine{r.Key(), s.row(r, width)})
		if lasts && r.Last != "" {
			lines = append(lines, listedLine{r.Key(), "    " + s.palette.Dim(safetext.Fit(r.Last, width-4))})
		}
	}
	return lines
}

func (s *screen) row(r live.Row, width int) string {
	mark := "  "
	if r.Key() == s.selected {
		mark = "› "
	}
	right := fmt.Sprintf("%7s", conversation.Ago(max(s.env.Now().Sub(r.Since), time.Second)))
	if width >= showsTokens {
		right = fmt.Sprintf("%6s", tokensOf(r)) + right
	}
	if width >= showsPlace {
		right = pad(safetext.Fit(short(s.env, r.Place), mostPlace), mostPlace) + " " + right
	}
	room := max(width-2-1-safetext.Columns(right), 1)
	title := pad(safetext.Fit(r.Title, room), room)
	if r.Key() == s.selected {
		title = s.palette.Bold(title)
	}
	return mark + title + " " + s.palette.Dim(right)
}

func pad(text string, columns int) string {
	return text + strings.Repeat(" ", max(0, columns-safetext.Columns(text)))
}

// foot is the user's text, a note, or the keys.
func (s *screen) foot(width int) string {
	switch l := s.reading(); {
	case l != nil:
		return l.row(width)
	case s.note != "":
		return s.palette.Yellow(safetext.Fit(s.note, width))
	case s.asked != nil && !s.asked.since.IsZero() && !s.asked.whole && !s.asked.more:
		return s.palette.Yellow(safetext.Fit(tooSmall, width))
	}
	for _, keys := range []string{
		" ↑↓ choose · Enter open · s stop · m send a message · q leave", " ↑↓ · Enter open · s stop · m send · q leave", " ↑↓ · Enter · s stop · m send · q",
	} {
		if safetext.Columns(keys) <= width {
			return s.palette.Dim(keys)
		}
	}
	return safetext.Fit(" q leave", width)
}
