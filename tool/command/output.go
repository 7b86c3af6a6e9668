package command

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"jp/conversation"
	"jp/tool"
)

const (
	// maxAnswer is how many bytes an answer in JSON may have. A longer output is
	// plain text.
	maxAnswer = 32 << 20
	// errorRoom is how much of the standard error is kept.
	errorRoom = 32 << 10
	// noteRoom is the space for the lines about the end of a program.
	noteRoom = 1 << 10
)

// An output is the output of a program: the whole of a possible answer, and the beginning of anything else.
type output struct {
	text   *tool.Capture
	errors *tool.Capture
	whole  bytes.Buffer
	other  bool // its beginning or its length rules out an answer

	watcher io.Writer // receives plain text as it comes; may be nil
}

func newOutput() *output {
	return &output{text: tool.NewCapture(tool.Limit - errorRoom - noteRoom), errors: tool.NewCapture(errorRoom)}
}

// Write takes the standard output of the program. It always succeeds.
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

// result is the result of a run. An answer counts unless the program was ended early, and a success only if
// it exited with 0.
func (o *output) result(ended Ending) tool.Result {
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

// failed is the result of a program that failed: its whole output, and its ending.
func (o *output) failed(ended Ending) tool.Result {
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

// faulty is the result of a program with an invalid answer.
func faulty(err error, said []byte) tool.Result {
	text := fmt.Appendf(nil, "The tool's answer cannot be used: %v.\n", err)
	if len(said) > 0 {
		text = append(text, "It said:\n"...)
		kept, _ := tool.Truncate(said, shown)
		text = append(text, kept...)
	}
	return tool.Result{Content: text, IsError: true, Effect: "error: " + conversation.Shorten(err.Error(), 48)}
}

// errNoText is an answer whose text has another type.
var errNoText = errors.New("its message is not a text")
