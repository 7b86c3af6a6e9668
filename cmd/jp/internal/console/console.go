package console

import (
	"context"
	"os"
	"strings"
	"sync"
	"time"

	"jp/cmd/jp/internal/terminal"
)

// A Handler carries out the person's wishes. Its methods are called one at a time, by the goroutine
// that reads keys.
type Handler interface {
	// Enter takes the text of the line. If taken is false, the text stays in the line.
	Enter(e Entry) (taken bool)
	// Changed is called after each change of the line.
	Changed(text string)
	// Stop is Esc, or Ctrl+C in an empty line.
	Stop(ctrlC bool)
	// Leave is Ctrl+D in an empty line.
	Leave()
	// History is the text an entry further back, or forward; false if there is none.
	History(back bool, text string) (string, bool)
	// Search is Ctrl+R: the newest entry that contains the words, or the next older one; false if there is none.
	Search(words string, older bool) (string, bool)
	// Picture is Ctrl+V: the picture of the clipboard goes into the line.
	Picture()
	// Pasted is called before a text is pasted into the line. A chip goes in its place.
	Pasted(text string) (chip string, ok bool)
	// Open is Ctrl+O: the newest block is shown whole.
	Open()
	// Edit is Ctrl+G: the text of the line goes into an editor.
	Edit()
	// Suspend is Ctrl+Z.
	Suspend()
	// Mode is Shift+Tab.
	Mode()
	// Complete is Tab: text replaces the text between from and the cursor.
	Complete(e Entry, at int) (from int, text string, ok bool)
}

// An Entry is a text that the person entered.
type Entry struct {
	Text   string
	Pasted func(at int) bool // whether the byte at a place was pasted
}

// A Console is a terminal with a line to edit. Its methods may be called by any goroutine.
type Console struct {
	tty     *terminal.TTY
	file    *os.File
	palette terminal.Palette
	handler Handler
	now     func() time.Time

	mu   sync.Mutex
	view view // to show
	draw drawn
	row  int // the cursor is at least so many rows below the top of the screen

	prefix terminal.Prefix // of the block, which has left the screen

	keys   *keys  // nil while another program has the terminal
	away   int    // how many others have it
	unseen string // written meanwhile
	gone   chan struct{}
	lost   error // why the terminal is gone

	resizing bool // the terminal gets one size after the other

	// Background takes the kind of the background when the terminal names it; nil: it is not asked.
	Background func(terminal.Theme)

	unsent terminal.Unsent // keeps lines that were asked for and could not be sent; nil: they are lost
}

// A view is the part of a console below the text that stays.
type view struct {
	partial  string   // text behind the last line break
	block    []string // that is being written
	grows    bool     // the block: its first lines may stay above the screen
	status   []string
	above    []string // lines right above the line
	below    []string // and below it
	bottom   []string // the parts of the last line, the least important last
	right    string   // at the end of it
	line     editor
	search   *searching // nil: there is none
	question *question  // nil: none waits
	reading  *reading   // a line that is asked for in the place of the person's own; nil: none
	holds    bool       // the text of the question goes away when it is answered
	held     string     // that text, while it holds
	typedAt  time.Time  // when the last key came
}

// Open makes a console on the terminal of this process.
func Open(palette terminal.Palette, h Handler) (*Console, error) {
	tty, err := terminal.OpenTTY()
	if err != nil {
		return nil, err
	}
	return On(tty, palette, h), nil
}

// On makes a console on a terminal. Start takes the terminal over.
func On(tty *terminal.TTY, palette terminal.Palette, h Handler) *Console {
	return &Console{
		tty: tty, file: tty.File(), palette: palette, handler: h, now: time.Now, gone: make(chan struct{}),
	}
}

// Start shows the line and reads keys from then on. The caller sets the line's first text before it,
// so that it never replaces a key that the person has typed.
func (c *Console) Start(ctx context.Context) error {
	err := c.resume(ctx, false)
	if err != nil {
		c.tty.Close()
	}
	return err
}

// Close gives the terminal back. The person's unfinished text goes away.
func (c *Console) Close() error {
	c.mu.Lock()
	c.view = view{}
	c.emit(c.draw.erased(c.tty.Width()))
	c.draw, c.row = drawn{}, 0
	c.emit(strings.ReplaceAll(c.unseen, "\n", "\r\n"))
	c.unseen = ""
	c.mu.Unlock()
	c.pause()
	return c.tty.Close()
}

// Gone is closed when the terminal is gone.
func (c *Console) Gone() <-chan struct{} { return c.gone }

// Width is how many columns the terminal has.
func (c *Console) Width() int { return c.tty.Width() }

// Write shows text that stays. The text behind its last line break waits for more.
func (c *Console) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	text := c.view.partial + string(p)
	lines := strings.LastIndexByte(text, '\n') + 1
	c.view.partial = text[lines:]
	c.render(text[:lines])
	return len(p), c.lost
}

// Show implements [terminal.Region].
func (c *Console) Show(lines []string, grow bool) error {
	return c.change(func(v *view) { v.block, v.grows = c.prefix.Rest(lines), grow })
}

// Hide implements [terminal.Region].
func (c *Console) Hide() error { return c.Show(nil, false) }

// Keep implements [terminal.Region].
func (c *Console) Keep() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settle(c.tty.Width(), terminal.Rows(c.file))
	c.prefix = terminal.Prefix{}
	var text string
	if lines := c.view.block; len(lines) > 0 {
		text = strings.Join(lines, "\n") + "\n"
	}
	c.view.block = nil
	c.render(text)
	return c.lost
}

// Draw shows the running activity, in the place of the last one.
func (c *Console) Draw(_ int, lines ...string) error {
	return c.change(func(v *view) { v.status = lines })
}

// Clear takes away the lines of Draw.
func (c *Console) Clear() error { return c.Draw(0) }

// Bottom shows a last line of parts, and something at its right edge. Without room for all, the last
// parts go.
func (c *Console) Bottom(_ string, parts []string, right string) {
	_ = c.change(func(v *view) { v.bottom, v.right = parts, right })
}

// Above shows lines right above the line, and Below right below it.
func (c *Console) Above(lines ...string) {
	_ = c.change(func(v *view) { v.above = lines })
}

// Below shows lines right below the line.
func (c *Console) Below(lines ...string) {
	_ = c.change(func(v *view) { v.below = lines })
}

// SetText replaces the text of the line.
func (c *Console) SetText(text string) {
	_ = c.change(func(v *view) { v.line.set(typed(text)) })
}

// Chip puts a text into the line that is edited as one character.
func (c *Console) Chip(text string) {
	_ = c.change(func(v *view) { v.line.chip(text) })
	c.handler.Changed(c.Text())
}

// Kill empties the line. Ctrl+Y brings the text back.
func (c *Console) Kill() {
	_ = c.change(func(v *view) { v.line.killAll() })
}

// Text is the text of the line.
func (c *Console) Text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.view.line.text
}

// Submit enters the text of the line, as Enter does.
func (c *Console) Submit() {
	c.mu.Lock()
	enter := c.enter()
	c.mu.Unlock()
	enter()
}

// change changes the view. A terminal that is gone is an error.
func (c *Console) change(change func(v *view)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settle(c.tty.Width(), terminal.Rows(c.file))
	change(&c.view)
	c.render("")
	return c.lost
}

// Redraw draws the view for a terminal that has changed.
func (c *Console) Redraw() { _ = c.change(func(*view) {}) }

// Suspend lets another program have the terminal, until resume is called. Text that is written
// meanwhile is shown then.
func (c *Console) Suspend() (resume func()) {
	c.mu.Lock()
	c.away++
	c.emit(c.draw.erased(c.tty.Width()))
	c.draw, c.row = drawn{}, 0
	c.mu.Unlock()
	c.pause()
	return func() {
		c.mu.Lock()
		c.away--
		back := c.away == 0
		c.mu.Unlock()
		if back {
			_ = c.resume(context.Background(), true) // the next read of a key reports a terminal that is gone
		}
	}
}

// lose notes that the terminal is gone. The lock is held.
func (c *Console) lose(err error) {
	if c.lost == nil {
		c.lost = err
		close(c.gone)
	}
}
