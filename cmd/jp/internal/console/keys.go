package console

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"

	"jp/cmd/jp/internal/terminal"
)

// keys reads the keyboard until it is stopped.
type keys struct {
	stop func()
	done sync.WaitGroup
}

// errPaused ends the reading of keys.
var errPaused = errors.New("another program has the terminal")

// resume takes the terminal, and draws the view. Again: keys may have come for the line while another
// program had the terminal.
func (c *Console) resume(ctx context.Context, again bool) error {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	keyboard, err := c.tty.Keyboard(ctx)
	if err != nil {
		cancel(nil)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.lose(err)
		return err
	}
	resized := make(chan os.Signal, 1)
	signal.Notify(resized, syscall.SIGWINCH)
	k := &keys{}
	k.stop = func() {
		signal.Stop(resized)
		close(resized)
		cancel(errPaused)
	}
	c.mu.Lock()
	c.keys = k
	if c.Background != nil && !again {
		c.emit(ansi.RequestBackgroundColor)
	}
	unseen := c.unseen
	c.unseen = ""
	c.render(unseen)
	c.mu.Unlock()
	go c.resizes(resized)
	k.done.Go(func() {
		err := c.read(keyboard, again)
		_ = keyboard.Close()
		if !errors.Is(err, errPaused) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.lose(err)
		}
	})
	return nil
}

// stillFor is how long a terminal keeps its size before jp draws for it. While a person drags the edge
// of a window, the terminal breaks its text anew for each width, and a drawing for another width would
// stay as pieces.
const stillFor = 300 * time.Millisecond

// resizes draws anew each time the terminal has kept another size for a while.
func (c *Console) resizes(resized <-chan os.Signal) {
	for range resized {
		c.mu.Lock()
		c.resizing = true
		c.mu.Unlock()
		for still := false; !still; {
			select {
			case _, more := <-resized:
				still = !more
			case <-time.After(stillFor):
				still = true
			}
		}
		c.mu.Lock()
		c.resizing = false
		unseen := c.unseen
		if c.keys != nil {
			c.unseen = ""
			c.settle(c.tty.Width(), terminal.Rows(c.file))
			c.render(unseen)
		}
		c.mu.Unlock()
	}
}

// pause gives the terminal its mode back, and reads no more keys.
func (c *Console) pause() {
	c.mu.Lock()
	k := c.keys
	c.keys = nil
	c.mu.Unlock()
	if k != nil {
		k.stop()
		k.done.Wait()
	}
}

// typedAhead takes keys that were typed while the terminal had its usual mode, in which Enter is a
// line break. One line is entered. Several may be pasted, and stay in the line.
func typedAhead(typed []byte) []byte {
	if at := bytes.IndexByte(typed, '\n'); at > 0 && at == len(typed)-1 {
		return append(typed[:at:at], '\r')
	}
	return typed
}

// A keyboard gives typed bytes, and none when the time is up.
type keyboard interface {
	Read(limit time.Duration) ([]byte, error)
}

// sequences are those of the keyboard. The function, which may be nil, takes the background that the terminal names.
func sequences(take func(terminal.Theme)) *terminal.Sequences {
	typed := terminal.TextSequences()
	typed.Answer = func(message []byte) {
		var decoder uv.EventDecoder
		_, event := decoder.Decode(message)
		if background, is := event.(uv.BackgroundColorEvent); is && background.Color != nil && take != nil {
			theme := terminal.Light
			if background.IsDark() {
				theme = terminal.Dark
			}
			take(theme)
		}
	}
	return typed
}

// read takes typed bytes until the keyboard ends.
func (c *Console) read(k keyboard, again bool) error {
	var (
		decoder uv.EventDecoder
		typed   = sequences(c.Background)
		pasted  []byte // with a possible beginning of the mark behind it
		pasting bool
	)
	for {
		wait := typed.Wait(c.now())
		if again {
			wait = 0
		}
		more, err := k.Read(wait)
		if err != nil {
			return err
		}
		if again {
			again, more = false, typedAhead(more)
		}
		typed.Add(more, c.now())
		for alone := true; ; alone = false {
			if pasting {
				text, rest, ends := bytes.Cut(append(pasted, typed.TakeRest()...), []byte(terminal.PasteEnds))
				if pasted = text; !ends {
					break
				}
				c.paste(string(text))
				pasted, pasting = nil, false
				typed.Add(rest, c.now())
			}
			key := typed.Next(c.now())
			if key == nil {
				break
			}
			if string(key) == terminal.PasteBegins {
				pasting = true
				continue
			}
			_, event := decoder.Decode(key)
			if press, ok := event.(uv.KeyPressEvent); ok {
				rest := typed.Rest()
				c.press(press, alone && len(bytes.Trim(rest, "\r\n")) == 0, len(rest) > 0)
			}
		}
	}
}

// paste puts text into the line that is edited: it is no key.
func (c *Console) paste(text string) {
	var changed string
	own, reads := false, false
	_ = c.change(func(v *view) { reads = v.reading != nil })
	if !reads {
		if chip, ok := c.handler.Pasted(text); ok {
			c.Chip(chip)
			return
		}
	}
	_ = c.change(func(v *view) {
		v.typedAt = c.now()
		if r := v.reading; r != nil {
			r.line.insert(strings.Join(strings.Fields(typed(text)), " "))
			return
		}
		v.search = nil
		v.line.paste(text)
		changed, own = v.line.text, true
	})
	if own {
		c.handler.Changed(changed)
	}
}

// press takes a key. Alone: no other key was typed at the same time; follows: more were, behind it.
func (c *Console) press(k uv.KeyPressEvent, alone, follows bool) {
	c.mu.Lock()
	v := &c.view
	now := c.now()
	armed := v.armed(now)
	v.typedAt = now
	if v.reading != nil {
		v.reading.press(k, follows)
		c.render("")
		c.mu.Unlock()
		return
	}
	if q := v.question; q != nil && v.answer(q, k, armed, alone, now) {
		c.render("")
		c.mu.Unlock()
		return
	}
	before := v.line.text
	act := c.edit(k, follows)
	text := v.line.text
	c.mu.Unlock()
	if text != before {
		c.handler.Changed(text) // first: jp keeps a text before it shows it
	}
	c.Redraw()
	if act != nil {
		act()
	}
}

// answer gives a key to the question that waits, if it is meant for it. The lock is held.
func (v *view) answer(q *question, k uv.KeyPressEvent, armed, alone bool, now time.Time) bool {
	key := keyOf(k)
	if k.MatchString("tab") && !q.direct {
		q.chosen = !q.chosen
		return true
	}
	takes := q.accept == nil || q.accept(key)
	switch {
	case key == terminal.KeyCtrlC && !armed && v.line.text != "":
		return false // it empties the line
	case key == terminal.KeyCtrlC:
	case key == terminal.KeyEsc && takes:
	case (!armed || !alone) && !q.direct && v.line.text == "" && k.Text != "":
		return v.tooSoon(q, k.Text, takes, now)
	case !armed, !alone, key == terminal.KeyOther:
		return q.direct
	case key == terminal.KeyCtrlD:
	case !takes:
		return q.direct || q.chosen
	}
	select {
	case q.key <- key:
	default: // it has an answer
	}
	return true
}

// tooSoon takes a character that came before its question could be answered, and reports whether it is
// dropped: a lone answer is. With another character right behind it, it is the beginning of a text.
func (v *view) tooSoon(q *question, text string, takes bool, now time.Time) bool {
	before := q.dropped
	if before != "" && now.Sub(q.droppedAt) >= quiet {
		before = ""
	}
	if takes && (before == "" || before == text) {
		q.dropped, q.droppedAt = text, now
		return true
	}
	q.dropped = ""
	v.line.insert(before)
	return false
}

// answerBefore drops an answer to this question, typed once or again and again right before it appeared, and reports
// whether there was one.
func (v *view) answerBefore(q *question, now time.Time) bool {
	text := v.line.text
	if text == "" || q.direct || q.accept == nil || !q.accept(terminal.Key(text[0])) || strings.Trim(text, text[:1]) != "" || now.Sub(v.typedAt) >= 2*quiet {
		return false
	}
	v.line.set("")
	q.dropped, q.droppedAt = text[:1], v.typedAt
	return true
}

// keyOf translates a key for questions.
func keyOf(k uv.KeyPressEvent) terminal.Key {
	switch {
	case k.MatchString("enter"):
		return terminal.KeyEnter
	case k.MatchString("esc"):
		return terminal.KeyEsc
	case k.MatchString("ctrl+c"):
		return terminal.KeyCtrlC
	case k.MatchString("ctrl+d"):
		return terminal.KeyCtrlD
	}
	if r, size := utf8.DecodeRuneInString(k.Text); size > 0 && size == len(k.Text) && unicode.IsPrint(r) {
		return terminal.Key(r)
	}
	return terminal.KeyOther
}

// press takes a key for the line that is asked for.
func (r *reading) press(k uv.KeyPressEvent, follows bool) {
	end := func(err error) {
		select {
		case <-r.done:
		default:
			r.err = err
			close(r.done)
		}
	}
	switch {
	case k.MatchString("enter") && follows:
		r.line.insert(" ")
	case k.MatchString("enter"):
		end(nil)
	case k.MatchString("esc"):
		end(terminal.ErrBack)
	case k.MatchString("ctrl+c"):
		end(terminal.ErrInterrupted)
	case k.MatchString("ctrl+d") && r.line.text == "":
		end(io.EOF)
	case k.MatchString("tab"):
		if r.line.text == "" {
			r.line.set(typed(r.offered))
		}
	default:
		r.line.press(k)
	}
}

// edit takes a key for the person's line. The lock is held. act is the part that must run without it.
func (c *Console) edit(k uv.KeyPressEvent, follows bool) (act func()) {
	v := &c.view
	e := &v.line
	if v.search != nil {
		return c.searchOn(k, follows)
	}
	switch {
	case k.MatchString("alt+enter", "shift+enter", "ctrl+j"), k.MatchString("enter") && follows:
		e.insert("\n")
	case k.MatchString("enter"):
		if e.at > 0 && e.text[e.at-1] == '\\' {
			e.remove(e.at - 1)
			e.insert("\n")
			return nil
		}
		return c.enter()
	case k.MatchString("ctrl+c"):
		if e.text == "" {
			return func() { c.handler.Stop(true) }
		}
		e.killAll()
	case k.MatchString("esc"):
		return func() { c.handler.Stop(false) }
	case k.MatchString("alt+esc"): // Esc twice at once
		return func() { c.handler.Stop(false); c.handler.Stop(false) }
	case k.MatchString("ctrl+d") && e.text == "":
		return c.handler.Leave
	case k.MatchString("ctrl+z"):
		return c.handler.Suspend
	case k.MatchString("ctrl+v"):
		return c.handler.Picture
	case k.MatchString("ctrl+o"):
		return c.handler.Open
	case k.MatchString("ctrl+g"):
		return c.handler.Edit
	case k.MatchString("ctrl+r"):
		v.search = &searching{e.text, *e}
		return c.find(v.search, false)
	case k.MatchString("shift+tab"):
		return c.handler.Mode
	case k.MatchString("tab"):
		text, at, line := e.text, e.at, *e
		return func() {
			if from, word, ok := c.handler.Complete(Entry{text, line.wasPasted}, at); ok {
				_ = c.change(func(v *view) {
					if v.line.text == text && v.line.at == at {
						v.line.remove(from)
						v.line.insert(word)
					}
				})
				c.handler.Changed(c.Text())
			}
		}
	case k.MatchString("ctrl+l"):
		c.draw.width = 0 // all of it is drawn again
	case k.MatchString("up", "ctrl+p"), k.MatchString("down", "ctrl+n"):
		back := k.MatchString("up", "ctrl+p")
		step := 1
		if back {
			step = -1
		}
		if e.vertical(step, max(c.tty.Width()-1-columns(personMark), 1)) {
			return nil
		}
		text := e.text
		return func() {
			if other, ok := c.handler.History(back, text); ok {
				c.SetText(other)
			}
		}
	default:
		e.press(k)
	}
	return nil
}

// A searching is a search for an earlier entry, which stands in the line.
type searching struct {
	words  string
	before editor // the line
}

// searchOn takes a key while an entry is searched for: letters are words of it. Other keys end the search, and are for the entry
// that it found. The lock is held.
func (c *Console) searchOn(k uv.KeyPressEvent, follows bool) (act func()) {
	v := &c.view
	s := v.search
	switch {
	case k.MatchString("ctrl+r"):
		return c.find(s, true)
	case k.MatchString("backspace", "ctrl+h"):
		_, size := utf8.DecodeLastRuneInString(s.words)
		s.words = s.words[:len(s.words)-size]
		return c.find(s, false)
	case k.Text != "" && k.Mod&(uv.ModAlt|uv.ModCtrl) == 0:
		s.words += k.Text
		return c.find(s, false)
	}
	v.search = nil
	var then func()
	if k.MatchString("esc", "ctrl+c") {
		v.line = s.before
	} else {
		then = c.edit(k, follows)
	}
	text := v.line.text
	return func() {
		c.handler.Changed(text)
		if then != nil {
			then()
		}
	}
}

// find returns a function that puts the entry with the words into the line, or an older one.
func (c *Console) find(s *searching, older bool) func() {
	words := s.words
	return func() {
		if found, ok := c.handler.Search(words, older); ok {
			_ = c.change(func(v *view) {
				if v.search == s {
					v.line.set(typed(found))
				}
			})
		}
	}
}

// enter returns a function that gives the text of the line to the handler. The lock is held.
func (c *Console) enter() func() {
	line := c.view.line
	return func() {
		if c.handler.Enter(Entry{line.text, line.wasPasted}) {
			_ = c.change(func(v *view) {
				if v.line.text == line.text {
					v.line.set("")
				}
			})
		}
	}
}

// press takes a key that edits or moves within the text.
func (e *editor) press(k uv.KeyPressEvent) {
	switch {
	case k.MatchString("backspace", "ctrl+h"):
		e.remove(e.before())
	case k.MatchString("delete", "ctrl+d"):
		e.remove(e.after())
	case k.MatchString("left", "ctrl+b"):
		e.move(e.before())
	case k.MatchString("right", "ctrl+f"):
		e.move(e.after())
	case k.MatchString("alt+b", "alt+left", "ctrl+left"):
		e.move(e.wordBefore())
	case k.MatchString("alt+f", "alt+right", "ctrl+right"):
		e.move(e.wordAfter())
	case k.MatchString("home", "ctrl+a"):
		e.move(e.lineStart())
	case k.MatchString("end", "ctrl+e"):
		e.move(e.lineEnd())
	case k.MatchString("ctrl+w", "alt+backspace"):
		e.kill(e.wordBefore())
	case k.MatchString("alt+d"):
		e.kill(e.wordAfter())
	case k.MatchString("ctrl+u"):
		e.kill(e.lineStart())
	case k.MatchString("ctrl+k"):
		e.kill(e.lineEnd())
	case k.MatchString("ctrl+y"):
		e.insert(e.killed)
	case k.Text != "" && k.Mod&(uv.ModAlt|uv.ModCtrl) == 0:
		e.insert(k.Text)
	}
}
