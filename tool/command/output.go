package command

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"jp/conversation"
	"jp/tool"
	"jp/tool/program"
)

const (
	// maxAnswer is how many bytes an answer in JSON may have. A longer output is
	// plain text.
	maxAnswer = 32 << 20
	// errorRoom is how much of the standard error is kept.
	errorRoom = 32 << 10
	// noteRoom is what is kept free for the lines that say how a program ended.
	noteRoom = 1 << 10
)

// An output is what a program writes: the whole of what may be an answer, and
// the beginning of anything else.
type output struct {
	text   *tool.Capture
	errors *tool.Capture
	whole  bytes.Buffer
	other  bool // it is no answer: it does not begin as one, or is too long

	watcher io.Writer // sees text as it comes, but no answer; may be nil
}

func newOutput() *output {
	return &output{text: tool.NewCapture(tool.Limit - errorRoom - noteRoom), errors: tool.NewCapture(errorRoom)}
}

// Write takes what the program writes to its standard output, and never fails.
func (o *output) Write(p []byte) (int, error) {
	if o.other {
		o.watch(p)
		return o.text.Write(p)
	}
	o.whole.Write(p)
	begun := bytes.TrimLeft(o.whole.Bytes()[:min(o.whole.Len(), 512)], " \t\r\n")
	if o.whole.Len() > maxAnswer || len(begun) > 0 && begun[0] != '{' || len(begun) == 0 && o.whole.Len() >= 512 {
		o.watch(o.whole.Bytes())
		o.other, o.whole = true, bytes.Buffer{}
	}
	return o.text.Write(p)
}

func (o *output) watch(p []byte) {
	if o.watcher != nil {
		_, _ = o.watcher.Write(p) // it only shows it
	}
}

// result is what a run came to. An answer counts where the program had its time;
// a success only where it ended well, too.
func (o *output) result(ended program.Ending) tool.Result {
	if said, is := decode(o.whole.Bytes()); is && !ended.Cancelled && !ended.TimedOut && !ended.Keys {
		if ended.Success() || said.kind != kindSuccess {
			return said.result
		}
	}
	if ended.Success() {
		content, whole := o.text.Content()
		return tool.Result{Content: content, Truncated: whole}
	}
	return o.failed(ended)
}

// failed is the result of a program that ended badly: all that it said, and how
// it ended.
func (o *output) failed(ended program.Ending) tool.Result {
	short, long := ended.Words()
	said, whole := o.text.Content()
	complained, _ := o.errors.Content()
	var b bytes.Buffer
	if len(said) > 0 && len(complained) > 0 {
		b.WriteString("Standard output:\n")
	}
	addLines(&b, said)
	if len(said) > 0 && len(complained) > 0 {
		b.WriteString("Standard error:\n")
	}
	addLines(&b, complained)
	addLines(&b, []byte(long))
	return tool.Result{
		Content: b.Bytes(), IsError: true, Truncated: whole,
		Effect: short + ", " + conversation.Count(int(o.text.Lines()+o.errors.Lines()), "line"),
	}
}

func addLines(b *bytes.Buffer, text []byte) {
	b.Write(text)
	if len(text) > 0 && text[len(text)-1] != '\n' {
		b.WriteByte('\n')
	}
}

// shown is how much of a faulty answer the error shows, in bytes.
const shown = 2000

// faulty is the result of a program whose answer is not one.
func faulty(err error, said []byte) tool.Result {
	text := fmt.Appendf(nil, "The tool's answer cannot be used: %v.\n", err)
	if len(said) > 0 {
		text = append(text, "It said:\n"...)
		kept, _ := tool.Truncate(said, shown)
		text = append(text, kept...)
	}
	return tool.Result{Content: text, IsError: true, Effect: "error: " + conversation.Shorten(err.Error(), 48)}
}

// errNoText is an answer whose text is none.
var errNoText = errors.New("its message is not a text")
