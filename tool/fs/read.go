package fs

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"jp/internal/charset"
	"jp/tool"
)

func (w *workspace) readFile() tool.Tool {
	return &fileTool{run: w.runRead, def: &tool.Definition{
		Name: "fs_read_file",
		Description: "Read a text file, exactly as it is, without line numbers. For a large file, give start_line and end_line. " +
			"Binary files are refused.",
		Parameters: json.RawMessage(`{"type":"object","required":["path"],"additionalProperties":false,"properties":{
			"path":{"type":"string","minLength":1},
			"start_line":{"type":"integer","minimum":1,"description":"Counted from 1. Default: the first."},
			"end_line":{"type":"integer","minimum":1,"description":"Inclusive. Default: the last."}}}`),
		Effect: tool.Reads, Idempotent: true, Run: tool.Unattended, Result: tool.Unattended,
		Subject: argument("path"), Paths: w.paths(true, "path"),
	}}
}

type readArguments struct {
	Path  string `json:"path"`
	Start int    `json:"start_line"`
	End   int    `json:"end_line"`
}

func (w *workspace) runRead(ctx context.Context, call tool.Call) (tool.Result, error) {
	args, err := read[readArguments](call.Arguments)
	if err != nil {
		return tool.Result{}, err
	}
	args.Start = max(args.Start, 1)
	if args.End != 0 && args.End < args.Start {
		return tool.Result{}, fmt.Errorf("end_line %d is before start_line %d", args.End, args.Start)
	}
	p, err := w.find(args.Path, access{follow: true})
	if err != nil {
		return tool.Result{}, err
	}
	defer p.Close()
	f, err := p.openFile()
	if err != nil {
		return tool.Result{}, fmt.Errorf("%s: %w", args.Path, err)
	}
	defer f.Close()
	in, encoding, err := readable(f)
	if err != nil {
		return tool.Result{}, fmt.Errorf("%s: %w", args.Path, err)
	}
	kept := tool.NewCapture(tool.Limit)
	total, err := copyLines(ctx, kept, in, args.Start, args.End)
	if err != nil {
		return tool.Result{}, fmt.Errorf("%s: %w", args.Path, err)
	}
	if args.Start > 1 && args.Start > total {
		return tool.Result{}, fmt.Errorf("%s has %s, start_line is %d", args.Path, count(total, "line"), args.Start)
	}
	content, whole := kept.Content()
	effect := count(kept.Lines(), "line")
	switch {
	case encoding.Name == "", encoding.Unknown && utf8.Valid(content):
	case encoding.Unknown:
		content = append([]byte("[The file is "+encoding.Name+". Each byte that is no UTF-8 shows as U+FFFD. jp keeps these bytes, and writes only ASCII into the file.]\n"), content...)
		effect += ", " + encoding.Name
	default:
		content = append([]byte("[The file is "+encoding.Name+". This is its text. jp keeps the encoding when it writes the file.]\n"), content...)
		effect += ", " + encoding.Name
	}
	return tool.Result{Content: content, Truncated: whole, Effect: effect, WrittenFiles: []string{}}, nil
}

// readable is the text of a file, and its encoding. For a file that is too large for memory, or of an unknown
// encoding, it is the file as it is.
func readable(f io.Reader) (io.Reader, charset.Encoding, error) {
	start, err := io.ReadAll(io.LimitReader(f, maxText+1))
	if err != nil {
		return nil, charset.Encoding{}, reason(err)
	}
	whole := io.MultiReader(bytes.NewReader(start), f)
	if len(start) > maxText {
		return whole, charset.Encoding{}, nil
	}
	text, encoding, err := charset.Decode(start)
	if err != nil || encoding.Name == "" || encoding.Unknown {
		return whole, encoding, nil
	}
	return strings.NewReader(text), encoding, nil
}

// copyLines copies the lines from start to end, 0 for the last, and returns how many it has seen. It stops at
// end.
func copyLines(ctx context.Context, out io.Writer, in io.Reader, start, end int) (int, error) {
	reader := bufio.NewReaderSize(in, 64<<10)
	line, begun := 1, false
	for ctx.Err() == nil && (end == 0 || line <= end) {
		part, err := reader.ReadSlice('\n')
		if charset.IsBinary(part) {
			return 0, charset.Binary(part)
		}
		begun = begun || len(part) > 0
		if line >= start {
			_, _ = out.Write(part) // a capture takes everything
		}
		if err == nil {
			line, begun = line+1, false
			continue
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return 0, reason(err)
		}
	}
	if !begun {
		line--
	}
	return line, ctx.Err()
}
