package recall_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/tool"
	"jp/tool/recall"
)

func ask(t require.TestingT, text string, room int, arguments map[string]any) tool.Result {
	raw, err := json.Marshal(arguments)
	require.NoError(t, err)
	raw, err = tool.Check(recall.EventTool().Definition(), raw)
	require.NoError(t, err)
	result, err := recall.EventTool().Run(context.Background(), tool.Call{Arguments: raw, Room: room, Event: func(_ context.Context, seq int) (tool.EventText, error) {
		if seq != 5 {
			return tool.EventText{}, errors.New("there is no such event")
		}
		return tool.EventText{Of: "result of shell_run", Text: text}, nil
	}})
	require.NoError(t, err)
	return result
}

func TestLines(t *testing.T) {
	const text = "one\ntwo\nthree\n"
	for name, test := range map[string]struct {
		arguments map[string]any
		want      string
	}{
		"all":           {map[string]any{"event": 5}, "[event 5, result of shell_run: lines 1 to 3 of 3]\none\ntwo\nthree"},
		"from":          {map[string]any{"event": 5, "first_line": 2}, "[event 5, result of shell_run: lines 2 to 3 of 3]\ntwo\nthree"},
		"one":           {map[string]any{"event": 5, "first_line": 2, "last_line": 2}, "[event 5, result of shell_run: lines 2 to 2 of 3]\ntwo\n"},
		"to beyond":     {map[string]any{"event": 5, "last_line": 9}, "[event 5, result of shell_run: lines 1 to 3 of 3]\none\ntwo\nthree"},
		"within a line": {map[string]any{"event": 5, "first_line": 3, "skip_bytes": 2}, "[event 5, result of shell_run: lines 3 to 3 of 3]\nree"},
		"no event":      {map[string]any{"event": 6}, "Error: event 6: there is no such event.\n"},
		"behind":        {map[string]any{"event": 5, "first_line": 4}, "Error: event 5 has 3 lines, and first_line is 4.\n"},
		"backwards":     {map[string]any{"event": 5, "first_line": 3, "last_line": 2}, "Error: last_line 2 is before first_line 3.\n"},
		"behind a line": {map[string]any{"event": 5, "skip_bytes": 4}, "Error: line 1 of event 5 has 4 bytes, and skip_bytes is 4.\n"},
	} {
		t.Run(name, func(t *testing.T) {
			result := ask(t, text, 0, test.arguments)
			require.Equal(t, test.want, string(result.Content))
			require.Equal(t, strings.HasPrefix(test.want, "Error"), result.IsError)
		})
	}
}

// A eventReader that follows each answer has read the whole text in the end, with any lines.
func TestReadingOnReadsAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.StringOfN(rapid.RuneFrom([]rune("aé🙂\t")), 0, 2000, -1)
		text := strings.Join(rapid.SliceOfN(line, 1, 40).Draw(t, "lines"), "\n")
		room := rapid.IntRange(1024, 4096).Draw(t, "room")
		var all strings.Builder
		next := map[string]any{"event": 5}
		for range 200 {
			result := ask(t, text, room, next)
			require.LessOrEqual(t, len(result.Content), room)
			require.True(t, utf8.Valid(result.Content))
			head, part, _ := strings.Cut(string(result.Content), "\n")
			all.WriteString(part)
			var line, skip int
			_, more, found := strings.Cut(head, "go on with ")
			if !found {
				require.Equal(t, strings.TrimSuffix(text, "\n"), all.String())
				return
			}
			_, _ = fmt.Sscanf(more, "first_line %d, skip_bytes %d", &line, &skip)
			next = map[string]any{"event": 5, "first_line": line, "skip_bytes": skip}
		}
		t.Fatal("it never ends")
	})
}
