package prompt

import (
	"io"

	"jp/cmd/jp/internal/terminal"
)

// A questionText is the text of a question that goes away when it is answered: the tool's own line
// shows the outcome.
type questionText struct {
	tty    terminal.Asker
	others func() int // as in [Options]
	before int        // its count when the text began
	marked bool       // the text may be erased and written anew
	gone   bool       // it was erased at the end
}

func (t *questionText) begin() {
	if t.others != nil {
		t.before = t.others()
		t.marked = t.before >= 0
	}
	t.mark()
}

func (t *questionText) mark() {
	if t.marked {
		t.tty.Mark()
	}
}

func (t *questionText) erase() bool { return t.marked && t.tty.Erase(t.others() == t.before) }

// anew writes a text in the place of the question's.
func (t *questionText) anew(text string) {
	t.erase()
	t.mark()
	_, _ = io.WriteString(t.tty, text) // the next read of a key reports a terminal that is gone
}

// end takes the text away.
func (t *questionText) end() {
	t.gone = t.erase()
	t.marked = false
}
