package fs

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"jp/conversation"
	"jp/internal/charset"
	"jp/tool"
)

// causes are the errors that a line about a result names by their text.
var causes = []error{
	errNoSuchFile, ErrOutside, ErrProtected, ErrInvalid, ErrLoop, ErrMoved,
	ErrNotFile, ErrDirectory, charset.ErrWide, ErrBinary, ErrTooLarge, ErrExists,
}

// failure is the result of a failed run.
func failure(err error) tool.Result {
	line := brief(err)
	return tool.Result{
		Content: []byte(err.Error()), IsError: true,
		Effect:       "error: " + conversation.Shorten(strings.TrimPrefix(line, "it is "), 48),
		WrittenFiles: []string{},
	}
}

// brief is an error on one line, without the path that the line about the call names anyway.
func brief(err error) string {
	for _, cause := range causes {
		if errors.Is(err, cause) {
			line, _, _ := strings.Cut(cause.Error(), ":")
			return line
		}
	}
	line, _, _ := strings.Cut(err.Error(), "\n")
	if _, rest, named := strings.Cut(line, ": "); named {
		return rest
	}
	return line
}

// read decodes the arguments of a call, which have passed the schema.
func read[T any](arguments json.RawMessage) (T, error) {
	var args T
	if err := json.Unmarshal(arguments, &args); err != nil {
		return args, fmt.Errorf("read the arguments: %w", err)
	}
	return args, nil
}

// argument returns a function that picks one argument of type string.
func argument(name string) func(json.RawMessage) string {
	return func(arguments json.RawMessage) string {
		var object map[string]any
		if json.Unmarshal(arguments, &object) != nil {
			return ""
		}
		text, _ := object[name].(string)
		return text
	}
}

// paths returns a function that finds the files of the named arguments. It drops the workspace itself, which
// is no file of a tree, and which the tools refuse.
func (w *workspace) paths(follow bool, names ...string) func(json.RawMessage) ([]string, bool) {
	return func(arguments json.RawMessage) ([]string, bool) {
		var found []string
		for _, name := range names {
			p, err := w.find(argument(name)(arguments), access{follow: follow, absent: true})
			if err != nil {
				return nil, false
			}
			p.Close()
			if p.path == "." {
				return nil, false
			}
			found = append(found, p.path)
		}
		return found, true
	}
}

// inLine is a file's name for a list of one name a line. It quotes a name that would begin another line, or
// is invalid UTF-8.
func inLine(name string) string {
	if utf8.ValidString(name) && !strings.ContainsFunc(name, unicode.IsControl) && !strings.HasPrefix(name, `"`) {
		return name
	}
	return strconv.Quote(name)
}

// count writes a number with its noun: "1 line", "16 lines".
func count[N int | int64](n N, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "ch"):
		return fmt.Sprintf("%d %ses", n, noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// lines counts the lines of a text; one without its newline counts.
func lines(text []byte) int {
	n := strings.Count(string(text), "\n")
	if len(text) > 0 && text[len(text)-1] != '\n' {
		n++
	}
	return n
}

// wrote is the result of a change to files.
func wrote(content, effect string, paths ...string) tool.Result {
	return tool.Result{Content: []byte(content), Effect: effect, WrittenFiles: paths}
}
