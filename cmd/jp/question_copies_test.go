package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// rewriteScript overwrites a file with a difference that has more lines than a screen.
func rewriteScript() (before, script string) {
	var after strings.Builder
	for i := range 60 {
		before += fmt.Sprintln("line", i)
		if i%3 == 0 {
			fmt.Fprint(&after, "new ")
		}
		fmt.Fprintln(&after, "line", i)
	}
	return before, fmt.Sprintf("[[reply]]\n[[reply.tool_call]]\nname = \"fs_create_file\"\narguments = { path = \"src/a.txt\", content = %q }\n[[reply]]\nmessage = \"Over.\"\n", after.String())
}

// A question that was explained, shown whole, left and put again leaves the line of its call alone.
func TestAQuestionLeavesNoCopies(t *testing.T) {
	t.Parallel()
	gone := func(s *sitting, text string) {
		s.Wait("no "+text, func() bool { return !strings.Contains(s.Text(), text) })
	}
	steps := map[string]func(s *sitting){
		"help": func(s *sitting) { s.answers("? help", "?"); s.WaitFor("Ctrl+D  as n") },
		"details": func(s *sitting) {
			s.answers("? help", "d")
			s.Wait("the pager", func() bool { return strings.Contains(s.Raw(), "\x1b[0;0;0m") })
		},
		"a rule": func(s *sitting) { s.answers("? help", "A"); s.answers("n back", "n"); gone(s, "n back") },
		"the menu": func(s *sitting) {
			s.answers("? help", "\x1b")
			s.WaitFor("Enter back to the question")
			s.Type("\r")
			gone(s, "Enter back to the question")
		},
	}
	for _, size := range [][2]int{{80, 24}, {48, 30}} {
		for _, names := range [][]string{{"help"}, {"details"}, {"a rule"}, {"the menu"}, {"the menu", "help", "a rule", "details", "help"}} {
			for _, chats := range []bool{true, false} {
				t.Run(fmt.Sprint(names, size, chats), func(t *testing.T) {
					t.Parallel()
					p := newPlace(t)
					before, script := rewriteScript()
					p.write("../rewrite.toml", script)
					p.write("src/a.txt", before)
					p.environ = append(p.environ, `PAGER=cat >../paged; printf '\033[0;0;0m'`)
					args := []string{"query", "-m", "script/../rewrite.toml", "Rewrite it"}
					if chats {
						args = []string{"chat", "-m", "script/../rewrite.toml"}
					}
					s := p.sit(size[0], args...)
					s.Resize(size[0], size[1])
					if chats {
						s.prompted()
						s.Type("Rewrite it\r")
					}
					s.WaitFor("added lines hidden: d")
					for _, name := range names {
						steps[name](s)
					}
					s.answers("? help", "y")
					s.WaitFor("Over.")
					if s.WaitFor("turn 1 ·"); !chats {
						require.Zero(t, s.exit())
					}
					shown := s.Scrolled()
					require.Equal(t, 1, strings.Count(shown, "● create src/a.txt"), shown)
					for _, part := range []string{"hidden: d", "Create it?", "Ctrl+D  as n", "n back", "Enter back"} {
						require.NotContains(t, shown, part)
					}
					if names[0] == "details" {
						require.Contains(t, p.read("../paged"), "new line 57")
					}
				})
			}
		}
	}
}

// A question that is answered at another terminal is replaced by the line of its call, as one that is answered here.
func TestAnsweredAtAnotherTerminal(t *testing.T) {
	t.Parallel()
	steps := map[string]func(s *sitting){
		"at once": func(*sitting) {},
		"help":    func(s *sitting) { s.answers("? help", "?"); s.WaitFor("Ctrl+D  as n") },
		"a reason": func(s *sitting) {
			s.answers("? help", "w")
			s.WaitFor("Why?")
			s.Type("because")
			s.WaitFor("because")
		},
		"the menu": func(s *sitting) { s.answers("? help", "\x1b"); s.WaitFor("Enter back to the question") },
	}
	for _, size := range [][2]int{{80, 24}, {48, 30}} {
		for name, step := range steps {
			for _, at := range []string{"chat", "query", "attach", "chat of a turn in the background"} {
				t.Run(fmt.Sprint(name, size, at), func(t *testing.T) {
					t.Parallel()
					p := newPlace(t)
					p.write("../talk.toml", "[[reply]]\nmessage = \"Hi.\"\n"+overwriteScript)
					args, chats := []string{"query", "-m", "script/../talk.toml", "Write it"}, strings.HasPrefix(at, "chat")
					require.Zero(t, p.jp("query", "-m", "script/../talk.toml", "Hello").exit)
					id := p.events()[0]["conversation"].(string)
					if chats {
						args = []string{"chat", "-c", "-m", "script/../talk.toml"}
					}
					if at == "attach" {
						require.Zero(t, p.jp("query", "--detach", "-m", "script/../talk.toml", "Write it").exit)
						args = []string{"attach"}
					}
					s := p.sit(size[0], args...)
					s.Resize(size[0], size[1])
					if chats {
						s.prompted()
					}
					switch at {
					case "chat":
						s.Type("Write it\r")
					case "chat of a turn in the background":
						require.Zero(t, p.jp("send", id, "Write it").exit)
					}
					s.WaitForEnd("? help\n>")
					step(s)
					require.Zero(t, p.jp("answer", id, "y").exit)
					s.WaitFor("Over.")
					if chats {
						s.WaitFor("\nturn 2 ")
						s.idle()
					} else {
						require.Zero(t, s.exit())
					}
					shown := s.Scrolled()
					require.Contains(t, shown, "you said yes")
					if name == "a reason" && !chats { // the line of the reason cannot be taken away
						require.Contains(t, shown, "\nAnswered elsewhere.\n")
						return
					}
					require.Equal(t, 1, strings.Count(shown, "README.md"), shown)
					for _, part := range []string{"Create it?", "Answered elsewhere", "Ctrl+D  as n", "Why?", "Enter back"} {
						require.NotContains(t, shown, part)
					}
				})
			}
		}
	}
}

// The calls of an answer run behind its last question. Until then the questions name those that are approved.
func TestApprovedCallsAreNamed(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"query", "chat", "attach"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write("../talk.toml", makeScript)
			args := []string{"query", "-m", "script/../talk.toml", "Make files"}
			switch at {
			case "chat":
				args = []string{"chat", "-m", "script/../talk.toml"}
			case "attach":
				require.Zero(t, p.jp("query", "--detach", "-m", "script/../talk.toml", "Make files").exit)
				args = []string{"attach"}
			}
			s := p.sit(48, args...)
			if at == "chat" {
				s.prompted()
				s.Type("Make files\r")
			}
			s.WaitFor("● create made.txt")
			s.answers("? help", "y")
			s.WaitFor("\n  ○ create made.txt · approved\n  ● create other.txt")
			s.answers("? help", "n")
			s.WaitFor("Over.")
			require.NotContains(t, s.Text(), "approved")
			require.Equal(t, 1, strings.Count(s.Text(), "create made.txt"))
		})
	}
}
