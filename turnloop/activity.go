package turnloop

import (
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"jp/conversation"
	"jp/internal/safetext"
)

// An Activity is something that the loop does and that takes time: a model call, a tool
// run, or a hook.
type Activity struct {
	Seq      int       // event number of the tool call; of a model call, the number that its first event gets
	Call     int       // ordinal of the model call
	Name     string    // name of the tool; "" during a model call
	Argument string    // the part of the tool's arguments that says most
	Hook     string    // the hook that runs before the tool, or ""
	Started  time.Time // when it began
	Waits    bool      // for another loop that changes the same files, before the tool starts

	Model   string            // that answers in place of the turn's; "": the turn's does
	Part    conversation.Part // part that the model writes: reasoning, message or data; "" for a tool call, or before its first word
	Writing string            // name of the tool whose call the model writes, or another text that is no answer
	Tokens  int               // estimate of how many tokens the model has written
	Context int               // about how many tokens the model was sent
	Window  int               // tokens that it can read; 0: unknown
	// Tail is the last line of the tool's output or of the model's reasoning, clean and without
	// secrets. It is for display, and never becomes an event.
	Tail     string
	Progress string // how far the tool says it is, on one clean line
	Over     bool   // it has ended
}

// Key tells activities of one time apart: 0 for the model call, of which there is one.
func (a Activity) Key() int {
	if a.Name == "" && a.Hook == "" {
		return 0
	}
	return a.Seq
}

// every is the least time between two calls of an observer.
const every = 100 * time.Millisecond

// activities tell an observer what the loop does, at most ten times a second. An activity that ends before its
// turn comes stays untold. All of it is for display, and none is recorded. A nil one ignores everything.
type activities struct {
	tell   func(Activity)
	redact func(string) string

	group   sync.WaitGroup // of the timer
	mu      sync.Mutex
	running map[int]*openActivity
	changed []*openActivity // to be told, in this order
	timer   *time.Timer     // nil if there is no news
	last    time.Time       // when something was told
}

// newActivities tells an observer. Redact replaces secrets in the texts.
func newActivities(tell func(Activity), redact func(string) string) *activities {
	return &activities{tell: tell, redact: redact, running: map[int]*openActivity{}}
}

// An openActivity may still change. Its methods may be called from any goroutine,
// and never wait for the observer. A nil one ignores everything.
type openActivity struct {
	all     *activities
	now     Activity
	tail    tail
	written int  // bytes by the model
	changed bool // it is in the list of the same name
	told    bool
	deaf    bool // the tool has ended
}

// Begin adds an activity.
func (all *activities) Begin(now Activity) *openActivity {
	if all == nil {
		return nil
	}
	a := &openActivity{all: all, now: now}
	all.mu.Lock()
	defer all.mu.Unlock()
	all.running[now.Key()] = a
	a.note()
	return a
}

// Of is the open activity with a key.
func (all *activities) Of(key int) *openActivity {
	if all == nil {
		return nil
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	return all.running[key]
}

// Quiet returns when the observer has its last news.
func (all *activities) Quiet() {
	if all == nil {
		return
	}
	all.mu.Lock()
	all.changed = nil
	if all.timer != nil && all.timer.Stop() {
		all.timer = nil
		all.group.Done()
	}
	all.mu.Unlock()
	all.group.Wait()
}

// note lists a change of the activity. The lock is held.
func (a *openActivity) note() {
	if !a.changed {
		a.changed = true
		a.all.changed = append(a.all.changed, a)
	}
	a.all.arm()
}

// arm lets something be told as soon as it is time. The lock is held.
func (all *activities) arm() {
	if all.timer == nil && len(all.changed) > 0 {
		all.group.Add(1)
		all.timer = time.AfterFunc(time.Until(all.last.Add(every)), all.next)
	}
}

// next tells the change that has waited longest.
func (all *activities) next() {
	defer all.group.Done()
	now, end, found := all.take()
	if found {
		now.Tail = all.lastLine(end, now.Part == conversation.PartReasoning)
		if now.Progress != "" {
			now.Progress = all.redact(now.Progress)
		}
		all.tell(now)
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	all.timer = nil
	all.arm()
}

// take removes the first change from the list, with the end of the activity's text.
func (all *activities) take() (now Activity, end string, found bool) {
	all.mu.Lock()
	defer all.mu.Unlock()
	for len(all.changed) > 0 {
		a := all.changed[0]
		all.changed = all.changed[1:]
		a.changed = false
		if a.now.Over && !a.told {
			continue
		}
		a.told, all.last = true, time.Now()
		return a.now, a.tail.end(), true
	}
	return Activity{}, "", false
}

// update changes the activity, unless it has ended.
func (a *openActivity) update(change func()) {
	if a == nil {
		return
	}
	a.all.mu.Lock()
	defer a.all.mu.Unlock()
	if !a.now.Over && !a.deaf {
		change()
		a.note()
	}
}

// End says that the activity is over.
func (a *openActivity) End() {
	if a == nil {
		return
	}
	a.all.mu.Lock()
	defer a.all.mu.Unlock()
	if a.now.Over {
		return
	}
	a.now.Over = true
	if a.all.running[a.now.Key()] == a {
		delete(a.all.running, a.now.Key())
	}
	a.note()
}

// Silence ignores the rest of the tool's output: its run is over.
func (a *openActivity) Silence() {
	if a != nil {
		a.all.mu.Lock()
		defer a.all.mu.Unlock()
		a.deaf = true
	}
}

// Write takes output of the tool as it comes.
func (a *openActivity) Write(p []byte) (int, error) {
	a.update(func() { a.tail.add(p) })
	return len(p), nil
}

// Progress takes how far the tool says it is.
func (a *openActivity) Progress(text string) { a.update(func() { a.now.Progress = text }) }

// Wait records since when the activity waits for another loop, or that it goes on.
func (a *openActivity) Wait(waits bool, now time.Time) {
	a.update(func() { a.now.Waits, a.now.Started = waits, now })
}

// Ask forgets the output of an earlier try of the model call.
func (a *openActivity) Ask(ordinal int) {
	a.update(func() {
		a.now = Activity{Seq: a.now.Seq, Call: ordinal, Started: a.now.Started, Context: a.now.Context, Window: a.now.Window}
		a.tail, a.written = tail{}, 0
	})
}

// By says which model answers in place of the turn's.
func (a *openActivity) By(model string) { a.update(func() { a.now.Model = model }) }

// Fills says how much of the model's context a call fills.
func (a *openActivity) Fills(tokens, window int) {
	a.update(func() { a.now.Context, a.now.Window = tokens, window })
}

// bytesPerToken is a rough measure: most servers tell the number only at the end.
const bytesPerToken = 4

// Add takes a piece of the model's output.
func (a *openActivity) Add(part conversation.Part, toolName, text string) {
	a.update(func() {
		if part == conversation.PartReasoning {
			a.tail.add([]byte(text))
		} else {
			a.tail = tail{}
		}
		a.written += len(text)
		a.now.Part, a.now.Writing, a.now.Tokens = part, toolName, (a.written+bytesPerToken-1)/bytesPerToken
	})
}

// A tail keeps the end of a text that grows.
type tail struct {
	text []byte
	cut  bool // its beginning is gone
}

// Sizes of a tail. It has room for the longest private key: the rest of a secret that begins before it would
// stay unrecognized.
const (
	tailBytes   = 16 << 10
	tailColumns = 400 // of the line that is shown
)

func (t *tail) add(p []byte) {
	if len(p) > tailBytes {
		p, t.text, t.cut = p[len(p)-tailBytes:], t.text[:0], true
	}
	if len(t.text)+len(p) > 2*tailBytes {
		rest := t.text[len(t.text)+len(p)-tailBytes:]
		t.text, t.cut = append(make([]byte, 0, 2*tailBytes), rest...), true
	}
	t.text = append(t.text, p...)
}

// end is the text from its first whole line on.
func (t *tail) end() string {
	text := string(t.text)
	if t.cut {
		if begin := strings.IndexAny(text, "\r\n"); begin >= 0 {
			return text[begin+1:]
		}
		return ""
	}
	return text
}

// lastLine is the last line of a text that is not empty, clean and without secrets. A word that may still
// grow is left out: it may be half a secret. Of a long line it keeps the end if prose is set, else the
// beginning.
func (all *activities) lastLine(text string, prose bool) string {
	if text == "" {
		return ""
	}
	text = safetext.Clean(strings.ReplaceAll(text, "\r", "\n"))
	text = strings.TrimRight(all.redact(finished(text)), " \t\n")
	line := text[strings.LastIndexByte(text, '\n')+1:]
	line = strings.TrimSpace(strings.ReplaceAll(line, "\t", " "))
	if prose {
		line = endOf(line)
	}
	return conversation.Shorten(line, tailColumns)
}

// endOf is a line without the part that is more than a step before its last whole step. So its beginning
// stays while it grows by a step, and the rows of a display stay in place.
func endOf(line string) string {
	const step = tailColumns / 4 // runes, of which each may take two columns
	runes := []rune(line)
	if len(runes) < 2*step {
		return line
	}
	rest := string(runes[(len(runes)/step-1)*step:])
	if word := strings.IndexByte(rest, ' '); word >= 0 && word < step/2 {
		rest = rest[word+1:]
	}
	return "…" + rest
}

// finished is a text without its last, unfinished word. A run of dots is no word.
func finished(text string) string {
	begin := strings.LastIndexFunc(text, unicode.IsSpace)
	if begin >= 0 {
		_, size := utf8.DecodeRuneInString(text[begin:])
		begin += size
	} else {
		begin = 0
	}
	if strings.ContainsFunc(text[begin:], func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
		return text[:begin]
	}
	return text
}
