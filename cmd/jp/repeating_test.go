package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// At a terminal, jp asks before it sends another request to a model that repeats itself. Enter has no
// effect, and Esc ends the turn.
func TestAUserDecidesAboutAModelThatRepeatsItself(t *testing.T) {
	t.Parallel()
	read := "[[reply]]\n[[reply.tool_call]]\nname = \"fs_read_file\"\narguments = { path = \"README.md\" }\n"
	for name, tt := range map[string]struct {
		choose func(*sitting)
		want   string // type of the last event besides turn_done
		exit   int
	}{
		"go on": {func(s *sitting) {
			s.Type("\r")
			s.Wait("the question again", func() bool { return strings.Count(s.Raw(), "\n> ") == 2 })
			s.Type("c")
		}, "chat_response", 0},
		"stop":   {func(s *sitting) { s.Type("s") }, "turn_stopped", 0},
		"Esc":    {func(s *sitting) { s.Type("\x1b") }, "turn_stopped", 0},
		"Ctrl+C": {func(s *sitting) { s.Type("\x03") }, "turn_interrupted", 130},
		"help": {func(s *sitting) {
			s.Type("?")
			s.Wait("the question again", func() bool { return strings.Count(s.Raw(), "\n> ") == 2 })
			s.Type("s")
		}, "turn_stopped", 0},
		"reply": {func(s *sitting) {
			s.Type("r")
			s.WaitFor("Your reply:")
			s.Type("Read another.\r")
		}, "chat_response", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write("README.md", "Hello.\n")
			p.write("../same.toml", strings.Repeat(read, 3)+"[[reply]]\nmessage = \"Done.\"\n")
			s := p.sit(80, "query", "-m", "script/../same.toml", "Tell me")
			s.WaitFor("the same call 3 times in a row")
			s.WaitFor("stop the turn")
			s.Wait("the question", func() bool { return strings.Contains(s.Raw(), "\n> ") })
			tt.choose(s)
			require.Equal(t, tt.exit, s.exit())
			events := p.events()
			last := events[len(events)-1]
			if last["type"] == "turn_done" {
				last = events[len(events)-2]
			}
			require.Equal(t, tt.want, last["type"])
			if tt.want == "turn_stopped" {
				require.Contains(t, last["reason"], "3 times in a row")
			}
			require.Equal(t, 0, p.jp("verify").exit)
		})
	}
}
