package ui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
	"jp/internal/lazy"
	"jp/internal/safetext"
	"jp/tool"
	"jp/turnloop"
)

// A live line shows a turn's activity on a terminal, and goes away when there is other text to read. A
// nil one shows nothing.
type liveLine struct {
	status  status
	columns func() int
	palette func() terminal.Palette
	now     func() time.Time
	front   func() bool    // jp is in the terminal's foreground
	gate    *sync.Mutex    // held while another part uses the terminal; may be nil
	echo    *terminal.Echo // off while a turn works, so that no typed key gets into the output
	hint    string         // how the user interrupts the model, "" if they cannot

	mu      sync.Mutex
	doing   []running
	covered bool // the model's text is being shown, or the user is asked
	over    bool
	frame   int
	others  int         // texts that other writers wrote
	since   time.Time   // when the model began to think; zero: it does not
	timer   *time.Timer // nil while nothing is running
}

// A running activity is one of a conversation: that of a delegate, perhaps.
type running struct {
	turnloop.Activity
	child conversation.ID // "" for the turn itself
}

// liveEvery is the time between two draws. A shorter activity is not shown.
const liveEvery = 100 * time.Millisecond

// liveLine is the live line of a run, nil if lines cannot be redrawn in place, or with --quiet or JSON
// output.
func (e *Env) liveLine() *liveLine {
	if e.Quiet || e.Format.Structured() || !IsTerminal(e.Stderr) || !Redraws(e.Style, e.Get("TERM")) {
		return nil
	}
	return &liveLine{
		status: statusOn(e.Console, e.Stderr), columns: func() int { return e.Columns(e.Stderr) },
		palette: func() terminal.Palette { return e.Palette(e.Stderr) }, now: e.Now,
		front: func() bool { return terminal.InForeground(int(e.Stderr.Fd())) }, echo: e.Keys.shownOn(e.Console, e.Stdout, e.Stderr),
	}
}

// working takes an activity of the turn or of a child.
func (l *liveLine) working(child conversation.ID, a turnloop.Activity) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return
	}
	l.forget(func(r running) bool { return r.child == child && r.Seq == a.Seq && r.Name == a.Name })
	if !a.Over {
		l.doing = append(l.doing, running{a, child})
	}
	if a.Part == conversation.PartReasoning && child == "" && l.since.IsZero() {
		l.since = l.now()
	}
	if l.timer == nil && len(l.doing) > 0 {
		if !l.covered {
			l.echo.Off()
		}
		l.timer = time.AfterFunc(liveEvery, l.tick)
	}
}

// sayThought prints how long the model thought before its next activity.
func (l *liveLine) sayThought(say func(line string), dim func(string) string) {
	if l == nil {
		return
	}
	l.mu.Lock()
	since := l.since
	l.since = time.Time{}
	l.mu.Unlock()
	if took := l.now().Sub(since); !since.IsZero() && took >= time.Second {
		say(dim("  thought " + conversation.Ago(took)))
	}
}

// recorded removes activities that the events end. An activity may be reported late.
func (l *liveLine) recorded(child conversation.ID, events []*conversation.Event) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range events {
		seq, finish := -1, conversation.Finish("")
		switch b := e.Body.(type) {
		case *conversation.ToolCallResponse:
			seq = b.For
		case *conversation.InquiryRequest:
			seq = b.For
		case *conversation.ChatResponse:
			finish = b.Finish
		case *conversation.ToolCallRequest:
			finish = b.Finish
		}
		l.forget(func(r running) bool {
			return r.child == child && (r.Seq == seq && r.Name != "" || finish != "" && r.Name == "" && r.Hook == "")
		})
	}
}

// forget removes activities. The lock is held.
func (l *liveLine) forget(which func(running) bool) { l.doing = slices.DeleteFunc(l.doing, which) }

// tick draws, if no other part uses the terminal.
func (l *liveLine) tick() {
	if l.gate != nil {
		if !l.gate.TryLock() {
			l.again()
			return
		}
		defer l.gate.Unlock()
	}
	defer l.again()
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.over || l.covered || !l.front():
	case len(l.doing) == 0:
		_ = l.status.Clear() // the turn's own output reports a terminal that is gone
	default:
		l.echo.Off()
		width := l.columns()
		_ = l.status.Draw(width, l.lines(width)...)
		l.frame++
	}
}

// again plans the next tick, if there is more to draw.
func (l *liveLine) again() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.timer = nil
	if !l.over && len(l.doing) > 0 {
		l.timer = time.AfterFunc(liveEvery, l.tick)
	}
}

// write lets another writer use the terminal, without the line.
func (l *liveLine) write(text func()) {
	if l == nil {
		text()
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.status.Clear()
	l.others++
	text()
}

// written counts the texts that other writers wrote, -1 if results of tools are not shown.
func (l *liveLine) written() int {
	if l == nil {
		return -1
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.others
}

// hide takes the line away until the next tick.
func (l *liveLine) hide() { l.write(func() {}) }

// cover takes the line away until it is uncovered.
func (l *liveLine) cover(covered bool) {
	l.write(func() {
		if l != nil {
			l.covered = covered
		}
	})
}

// close takes the line away for good.
func (l *liveLine) close() {
	l.write(func() {
		if l != nil {
			l.over = true
			l.echo.On()
			if l.timer != nil {
				l.timer.Stop()
			}
		}
	})
}

// spinner turns while something works.
var spinner = []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")

// lines is the live line in so many columns, and below it the last line of the output or the
// reasoning. Of several activities a child's goes first, then the oldest.
func (l *liveLine) lines(width int) []string {
	shown, more := l.doing[0], 0
	for _, r := range l.doing[1:] {
		if (r.child != "") != (shown.child != "") {
			if r.child != "" {
				shown, more = r, 0
			}
			continue
		}
		more++
		if r.Started.Before(shown.Started) {
			shown = r
		}
	}
	width = max(width-1, 1)
	p := l.palette()
	head := string(spinner[l.frame%len(spinner)]) + " " + shown.words()
	behind := shown.behind(l.now(), more, l.hint)
	for len(behind) > 1 && safetext.Columns(strings.Join(behind, "")) > width-min(safetext.Columns(head), leastHead) {
		behind = behind[:len(behind)-1]
	}
	rest := safetext.Fit(strings.Join(behind, ""), width)
	lines := []string{safetext.Fit(head, width-safetext.Columns(rest)) + p.Dim(rest)}
	tail := shown.Tail
	if shown.Progress != "" {
		tail = shown.Progress
	}
	tail = safetext.OneLine(tail)
	if shown.Part == conversation.PartReasoning {
		rows := strings.Split(terminal.Wrap(tail, max(width-2, 1)), "\n")
		tail = cmp.Or(lastSentence(tail), strings.TrimSpace(rows[len(rows)-1])) // the row that is being written
	}
	if tail != "" {
		lines = append(lines, p.Dim(safetext.Fit("  "+tail, width)))
	}
	return lines
}

// sentenceEnd ends a sentence within a text.
var sentenceEnd = lazy.Regexp(`[.!?。！？]['")*]* `)

// lastSentence is the last whole sentence of a text, "" if there is none.
func lastSentence(text string) string {
	ends := sentenceEnd().FindAllStringIndex(text+" ", -1)
	if len(ends) == 0 {
		return ""
	}
	begin := 0
	if n := len(ends) - 2; n >= 0 {
		begin = ends[n][1]
	}
	return strings.TrimSpace(text[begin : ends[len(ends)-1][1]-1])
}

// leastHead is how many columns the running activity keeps before its details are cut.
const leastHead = 24

// words describe the running activity.
func (r running) words() string {
	what := safetext.OneLine(tool.Line(r.Name, r.Argument))
	switch {
	case r.Hook != "":
		what = r.Hook + " hook before " + what
	case r.Name != "":
	case r.Writing != "":
		what = "preparing " + safetext.OneLine(r.Writing)
		if verb := tool.Verb(r.Writing); verb != r.Writing {
			what = "preparing to " + verb
		}
	case r.Part == conversation.PartMessage, r.Part == conversation.PartData:
		what = "answering"
	default:
		what = "thinking"
	}
	if r.Model != "" {
		what = safetext.OneLine(r.Model) + ", in place of the model, is " + what
	}
	if r.child != "" {
		what = r.child.Short() + " " + what
	}
	return what
}

// behind is the details behind it, the least important last. The first is always shown.
func (r running) behind(now time.Time, more int, hint string) []string {
	words := []string{""}
	if since := now.Sub(r.Started); since >= time.Second {
		words[0] = " · " + conversation.Ago(since)
	}
	add := func(format string, args ...any) { words = append(words, " · "+fmt.Sprintf(format, args...)) }
	if r.Waits {
		add("waits for another jp that changes files here")
	}
	if more > 0 {
		add("%d more", more)
	}
	if r.Tokens > 0 {
		add("%s tokens", conversation.Tokens(r.Tokens))
	}
	if r.Context > 0 && r.Window > 0 {
		add("%s", conversation.PartOf(r.Context, r.Window))
	}
	if hint != "" && r.Name == "" {
		add("%s", hint)
	}
	return words
}
