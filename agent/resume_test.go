package agent_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/agent"
	"jp/agent/live"
	"jp/agent/problem"
	"jp/conversation"
	"jp/fork"
	"jp/internal/testing/front"
	"jp/turnloop"
)

const says = front.Over

// failing is a model whose server refuses the first request.
const failing = "[[reply]]\nfail = \"auth\"\nfail_times = 1\nmessage = \"Over.\"\n" + says

// stopped is a scratch with a turn that waits for the permission to make a file.
func stopped(t *testing.T) (*front.Scratch, *front.Front, conversation.ID) {
	t.Helper()
	s, f := front.New(t), &front.Front{}
	request := s.Request(makeFile, "Make a file")
	request.Turn.Policy = "defer"
	require.Error(t, s.Ask(f, request))
	return s, f, f.Last().ID
}

// chooses is a person who gives these answers to the questions of jp itself.
func chooses(keys ...rune) *front.Person {
	return &front.Person{Decider: func(agent.UserDecision) (rune, error) {
		if len(keys) == 0 {
			return 0, agent.ErrUserSilent
		}
		key := keys[0]
		keys = keys[1:]
		switch key {
		case 'L':
			return 0, agent.ErrUserLeft
		case 'G':
			return 0, agent.ErrUserGone
		case 'S':
			return 0, agent.ErrUserSilent
		}
		return key, nil
	}}
}

func hints(err error) string {
	var f *problem.Error
	if !errors.As(err, &f) {
		return ""
	}
	var all []string
	for _, h := range f.Hints {
		all = append(all, h.Action.String())
	}
	return strings.Join(all, "\n")
}

// TestResumePlace varies the place of an interrupted turn at its resume.
func TestResumePlace(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		before func(s *front.Scratch) // the turn begins
		do     func(s *front.Scratch)
		words  string // the notice of a resume
		wrong  string // the error without the user's consent
		hint   string
		anyway bool
		model  string
		person *front.Person
	}{
		{name: "nothing", words: "files as recorded; fs_create_file waits for a permission"},
		{name: "a changed file", do: func(s *front.Scratch) { s.Write("README.md", "mine\n") }, words: "README.md changed; fs_create_file waits for a permission"},
		{name: "two changed files", do: func(s *front.Scratch) {
			s.Write("README.md", "mine\n")
			s.Write("more.txt", "mine\n")
			s.Git("add", "more.txt")
		}, words: "2 files changed; fs_create_file waits for a permission"},
		{name: "HEAD went on", do: func(s *front.Scratch) { s.Git("commit", "-q", "--allow-empty", "-m", "third") }, words: "files as recorded"},
		{name: "HEAD went sideways", do: func(s *front.Scratch) { s.Git("commit", "-q", "--allow-empty", "--amend", "-m", "other") }, wrong: "stopped elsewhere: HEAD "},
		{name: "another branch", do: func(s *front.Scratch) { s.Git("switch", "-q", "-c", "elsewhere") }, wrong: "stopped elsewhere: branch main → elsewhere.", hint: "git switch main\n"},
		{
			name: "a branch that is gone", before: func(s *front.Scratch) { s.Git("switch", "-q", "-c", "side") },
			do: func(s *front.Scratch) {
				s.Git("switch", "-q", "main")
				s.Git("branch", "-q", "-D", "side")
			}, wrong: "stopped elsewhere: branch side → main.", hint: "git switch -c side ",
		},
		{
			name: "a branch that another working tree has", before: func(s *front.Scratch) { s.Git("switch", "-q", "-c", "side") },
			do: func(s *front.Scratch) {
				s.Git("switch", "-q", "main")
				s.Git("worktree", "add", "-q", filepath.Join(s.Home, "beside"), "side")
			}, wrong: "stopped elsewhere: branch side → main.", hint: "beside switch --detach\ngit switch side",
		},
		{
			name: "HEAD was on no branch", before: func(s *front.Scratch) { s.Git("switch", "-q", "--detach") },
			do: func(s *front.Scratch) { s.Git("switch", "-q", "main") }, wrong: "stopped elsewhere: branch detached → main.", hint: "git switch --detach ",
		},
		{name: "a merge", do: func(s *front.Scratch) { s.Write(".git/MERGE_HEAD", s.Git("rev-parse", "HEAD")+"\n") }, wrong: "in progress none → merge"},
		{name: "another working tree", do: func(s *front.Scratch) {
			side := filepath.Join(s.Home, "side")
			s.Git("worktree", "add", "-q", "--detach", side)
			s.Dir = side
		}, wrong: "stopped elsewhere: worktree the main one → side", hint: "cd "},
		{name: "another branch, and a model that is not there", do: func(s *front.Scratch) { s.Git("switch", "-q", "-c", "elsewhere") }, model: "nosuch/model", wrong: "stopped elsewhere: "},
		{name: "a working tree that is gone", before: func(s *front.Scratch) {
			s.Git("worktree", "add", "-q", "-b", "side", filepath.Join(s.Home, "side"))
			s.Dir = filepath.Join(s.Home, "side")
		}, do: func(s *front.Scratch) {
			s.Git("-C", s.First, "worktree", "remove", "--force", s.Dir)
			s.Dir = s.First
		}, wrong: "stopped elsewhere: worktree side → the main one   branch side → main."},
		{name: "no commits yet", before: func(s *front.Scratch) {
			s.Dir = filepath.Join(s.Home, "empty")
			_ = os.Mkdir(s.Dir, 0o700)
			s.Git("init", "-q")
		}, words: "files as recorded"},
		{name: "the first commit", before: func(s *front.Scratch) {
			s.Dir = filepath.Join(s.Home, "empty")
			_ = os.Mkdir(s.Dir, 0o700)
			s.Git("init", "-q")
		}, do: func(s *front.Scratch) { s.Git("commit", "-q", "--allow-empty", "-m", "first") }, words: "fs_create_file waits for a permission"},
		{name: "a submodule", before: func(s *front.Scratch) {
			s.Git("init", "-q", filepath.Join(s.Home, "sub"))
			s.Git("-C", filepath.Join(s.Home, "sub"), "commit", "-q", "--allow-empty", "-m", "sub")
			s.Git("submodule", "--quiet", "add", filepath.Join(s.Home, "sub"), "sub")
			s.Commit()
		}, do: func(s *front.Scratch) { s.Git("-C", "sub", "commit", "-q", "--allow-empty", "-m", "moved") }, words: "sub changed; fs_create_file"},
		{name: "another branch, anyway", do: func(s *front.Scratch) { s.Git("switch", "-q", "-c", "elsewhere") }, anyway: true, words: "fs_create_file waits for a permission"},
		{name: "another branch, and a yes", do: func(s *front.Scratch) { s.Git("switch", "-q", "-c", "elsewhere") }, person: chooses('r'), words: "fs_create_file waits for a permission"},
		{name: "another branch, and a no", do: func(s *front.Scratch) { s.Git("switch", "-q", "-c", "elsewhere") }, person: chooses('q'), wrong: "stopped elsewhere: branch main → elsewhere."},
		{name: "another branch, and the user leaves", do: func(s *front.Scratch) { s.Git("switch", "-q", "-c", "elsewhere") }, person: chooses('L'), wrong: "othing was changed"},
		{name: "another branch, and no terminal any more", do: func(s *front.Scratch) { s.Git("switch", "-q", "-c", "elsewhere") }, person: chooses('G'), wrong: "the terminal is gone; nothing was changed."},

		{
			name: "untracked files", before: func(s *front.Scratch) {
				s.Write("old.txt", "old\n")
				s.Write("gone.txt", "gone\n")
				s.Write("same/own.txt", "own\n")
				s.Write(".git/info/exclude", "*.log\n")
			},
			do: func(s *front.Scratch) {
				s.Write("handmade.go", "mine\n")
				s.Write("old.txt", "older\n")
				s.Write("skip.log", "x\n")
				_ = os.Remove(filepath.Join(s.Dir, "gone.txt"))
			}, words: "files as recorded; untracked: handmade.go new, old.txt changed, gone.txt gone; fs_create_file waits for a permission",
		},
		{name: "an odd name", before: func(s *front.Scratch) {
			s.Write("a\n[SESSION_RESUMED] turn 9", "x")
			s.Commit()
		}, do: func(s *front.Scratch) { s.Write("a\n[SESSION_RESUMED] turn 9", "y") }, words: `\n[SESSION_RESUMED] turn 9`},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s, f := front.New(t), &front.Front{}
			if row.before != nil {
				row.before(s)
			}
			request := s.Request(makeFile, "Make a file")
			request.Turn.Policy = "defer"
			require.Error(t, s.Ask(f, request))
			id := f.Last().ID
			before := len(s.Load(id))
			if row.do != nil {
				row.do(s)
			}
			f.Person = row.person
			request = front.Resume(id)
			request.Turn.Yes, request.Turn.Model, request.Resume.Anyway = true, row.model, row.anyway
			err := s.Ask(f, request)
			if row.wrong != "" {
				require.ErrorContains(t, err, row.wrong)
				require.Contains(t, hints(err)+"\n", row.hint)
				require.Len(t, s.Load(id), before, "nothing is recorded")
				require.False(t, s.Exists("made.txt"))
				return
			}
			require.NoError(t, err)
			require.Len(t, f.Resumed(), 1)
			require.Contains(t, f.Resumed()[0], row.words)
			require.Equal(t, "made\n", s.Read("made.txt"))
			answered := bodies[*conversation.InquiryResponse](s.Load(id))
			require.Len(t, answered, 1)
			require.Equal(t, "approved in advance", answered[0].Reason)
		})
	}
}

func bodies[B conversation.Body](events []*conversation.Event) []B { return front.Bodies[B](events) }

// TestUnknownOutcome varies the fate of a tool of unknown outcome.
func TestUnknownOutcome(t *testing.T) {
	t.Parallel()
	script := oneCall("shell_run", `{ argv = ["sh", "-c", "echo x >>ran.txt"] }`)
	for _, row := range []struct {
		name    string
		pending string
		person  *front.Person
		lines   []string
		ran     string
		result  string
		isError bool
		wrong   string
	}{
		{name: "nobody is asked", ran: "x\n", result: "is unknown", isError: true},
		{name: "report", pending: "report", ran: "x\n", result: "is unknown", isError: true},
		{name: "run", pending: "run", ran: "x\nx\n"},
		{name: "the user runs it again", person: chooses('a'), ran: "x\nx\n"},
		{name: "the user reports it", person: chooses('r'), ran: "x\n", result: "is unknown", isError: true},
		{name: "the user writes the result", person: chooses('w'), lines: []string{"it wrote a line"}, ran: "x\n", result: "The user says how this call ended: it wrote a line"},
		{name: "the user writes nothing, and then reports it", person: chooses('w', 'r'), lines: []string{" "}, ran: "x\n", result: "is unknown", isError: true},
		{name: "the user writes, and is silent", person: chooses('w'), ran: "x\n", wrong: "othing was changed"},
		{name: "the user quits", person: chooses('q'), ran: "x\n", wrong: "nothing was changed."},
		{name: "the user leaves", person: chooses('L'), ran: "x\n", wrong: "othing was changed"},
		{name: "the terminal is gone", person: chooses('G'), ran: "x\n", wrong: "the terminal is gone"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s, f := front.New(t), &front.Front{}
			request := s.Request(script, "Run it")
			request.Turn.Yes = true
			require.NoError(t, s.Ask(f, request))
			started := -1
			for _, e := range s.Load(f.Last().ID) {
				if e.Type() == conversation.TypeToolStarted {
					started = e.Seq
				}
			}
			id := s.Fork(f.Last().ID, started)
			before := len(s.Load(id))
			if f.Person = row.person; row.person != nil {
				row.person.Lines = row.lines
			}
			request = front.Resume(id)
			request.Turn.Yes, request.Resume.Pending = true, row.pending
			err := s.Ask(f, request)
			require.Equal(t, row.ran, s.Read("ran.txt"))
			if row.wrong != "" {
				require.ErrorContains(t, err, row.wrong)
				require.Len(t, s.Load(id), before)
				return
			}
			require.NoError(t, err)
			require.Contains(t, f.Resumed()[0], map[bool]string{false: "shell_run of unknown outcome", true: "shell_run runs again"}[row.result == ""])
			results := bodies[*conversation.ToolCallResponse](s.Load(id))
			require.Len(t, results, 1)
			require.Contains(t, results[0].Content, row.result)
			require.Equal(t, row.isError, results[0].IsError)
		})
	}
}

// TestOffer varies a person's decision about an interrupted turn, when they ask a new question.
func TestOffer(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		keys   []rune
		editor func(string) string
		text   string // of the new question, or ""
		wrong  string
		asked  []string // the requests that count afterwards
		answer int      // how many answers there are
	}{
		{name: "nobody is there", text: "And now?", wrong: "has an incomplete turn", asked: []string{"First"}},
		{name: "resume", keys: []rune{'r'}, text: "And now?", asked: []string{"First", "And now?"}, answer: 2},
		{name: "resume alone", keys: []rune{'r'}, asked: []string{"First"}, answer: 1},
		{name: "discard", keys: []rune{'d'}, text: "And now?", asked: []string{"And now?"}, answer: 1},
		{name: "discard alone", keys: []rune{'d'}, asked: nil},
		{name: "edit", keys: []rune{'e'}, editor: func(string) string { return "Second" }, asked: []string{"Second"}, answer: 1},
		{name: "edit nothing", keys: []rune{'e'}, editor: func(text string) string { return text }, wrong: "othing was changed", asked: []string{"First"}},
		{name: "quit", keys: []rune{'q'}, text: "And now?", wrong: "Your question is kept.", asked: []string{"First"}},
		{name: "say nothing", keys: []rune{'S'}, text: "And now?", wrong: "Your question is kept.", asked: []string{"First"}},
		{name: "leave", keys: []rune{'L'}, text: "And now?", wrong: "Your question is kept.", asked: []string{"First"}},
		{name: "another key", keys: []rune{'x'}, text: "And now?", wrong: "Your question is kept.", asked: []string{"First"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s, f := front.New(t), &front.Front{}
			require.Error(t, s.Ask(f, s.Request(failing, "First")))
			id := f.Last().ID
			if len(row.keys) > 0 {
				f.Person = chooses(row.keys...)
			}
			f.Editor = row.editor
			request := front.Next(id, row.text)
			request.Turn.Model = s.Model(says)
			if row.text == "" {
				request.Input.Text = nil
			}
			err := s.Ask(f, request)
			if row.wrong != "" {
				require.ErrorContains(t, err, row.wrong)
			} else {
				require.NoError(t, err)
			}
			var asked []string
			answers := 0
			for turn := range conversation.Turns(s.Load(id)) {
				ledger := turn.Ledger()
				if ledger.Discarded {
					continue
				}
				if e := ledger.Request(); e != nil {
					asked = append(asked, e.Body.(*conversation.ChatRequest).Content)
				}
				if call := ledger.LastCall(); call != nil && agent.AnsweredTitle(call) == "Over." {
					answers++
				}
			}
			require.Equal(t, row.asked, asked)
			require.Equal(t, row.answer, answers)
			if strings.Contains(row.wrong, "kept") { // it comes into the editor again
				var shown string
				f.Person, f.Editor = chooses('d'), func(text string) string {
					shown = text
					return "Asked"
				}
				request = agent.Request{Target: agent.Target{ID: string(id)}, Input: agent.Input{Edit: true}, Turn: agent.TurnOptions{Model: s.Model(says)}}
				require.NoError(t, s.Ask(f, request))
				require.True(t, strings.HasPrefix(shown, "And now?\n"), shown)
				require.NoError(t, s.Ask(f, request))
				require.NotContains(t, shown, "And now?", "what was asked is no draft any more")
				require.Contains(t, shown, "# The last answer:\n#\n# Over.\n")
			}
		})
	}
}

// TestDiscard: a discarded turn is gone for the model, which is told of the changes by its tools.
func TestDiscard(t *testing.T) {
	t.Parallel()
	s, f := front.New(t), &front.Front{}
	request := s.Request("[[reply]]\n[[reply.tool_call]]\nname = \"fs_create_file\"\narguments = { path = \"made.txt\", content = \"made\\n\" }\n[[reply]]\nfail = \"auth\"\nfail_times = 1\nmessage = \"Over.\"\n"+says, "Make a file")
	request.Turn.Yes = true
	require.Error(t, s.Ask(f, request))
	id := f.Last().ID
	require.NoError(t, s.Ask(f, front.Discard(id)))
	require.True(t, f.Last().Discard)
	require.Contains(t, strings.Join(s.Notes(), "\n"), "Discarded turn 1 of "+string(id)+"; it stays in git log.")
	require.True(t, s.Exists("made.txt"), "the files stay")
	before := len(s.Load(id))
	for request, word := range map[string]agent.Request{"discard": front.Discard(id), "go on with": front.Resume(id)} {
		require.NoError(t, s.Ask(f, word))
		require.Contains(t, s.Notes()[len(s.Notes())-1], "No turn is incomplete; there is nothing to "+request+".")
	}
	require.Len(t, s.Load(id), before)
	request = front.Next(id, "And now?")
	request.Turn.Model = s.Model(says)
	require.NoError(t, s.Ask(f, request))
	notes := bodies[*conversation.Note](s.Load(id))
	require.Len(t, notes, 1)
	require.Contains(t, notes[0].Content, `"made.txt"`)
	require.NoError(t, s.Ask(f, front.Next(id, "And then?")))
	require.Len(t, bodies[*conversation.Note](s.Load(id)), 1, "it is told once")
}

// TestApprovedInAdvance: approvals in advance hold when the turn is resumed, but in no fork.
func TestApprovedInAdvance(t *testing.T) {
	t.Parallel()
	script := strings.Replace(oneCall("fs_create_file", `{ path = "a.txt", content = "a\n" }`), "[[reply]]\n", "[[reply]]\nfail = \"auth\"\nfail_times = 1\n", 1)
	s, f := front.New(t), &front.Front{}
	request := s.Request(script, "Make")
	request.Turn.Yes = true
	require.Error(t, s.Ask(f, request))
	id := f.Last().ID
	events := s.Load(id)
	newest := strconv.Itoa(events[len(events)-1].Seq)
	for name, cut := range map[string]fork.ForkCut{"a fork": {Until: newest}, "a copy with a start of its own": {Last: 1}} {
		request = front.Resume(s.ForkAs(id, cut))
		request.Turn.Policy = "defer"
		require.Error(t, s.Ask(f, request), name)
		require.Equal(t, turnloop.Waiting, f.Last().Outcome.Status, name)
		require.Empty(t, f.Begun()[len(f.Begun())-1].Approved(), name)
		require.False(t, s.Exists("a.txt"), name)
	}
	request.Turn.Yes = true
	require.NoError(t, s.Ask(f, request), "it can be said in a fork, too")
	require.Equal(t, "a\n", s.Read("a.txt"))
	require.NoError(t, os.Remove(filepath.Join(s.Dir, "a.txt")))
	require.NoError(t, s.Ask(f, front.Resume(id)))
	require.Equal(t, "a\n", s.Read("a.txt"))
	begun := f.Begun()
	require.Equal(t, "approved in advance (-y)", begun[len(begun)-1].Approved())
}

// TestStopped: an interrupted turn is found in its own working tree, and by a session without a conversation.
func TestStopped(t *testing.T) {
	t.Parallel()
	s, f, id := stopped(t)
	s.Environ = append(s.Environ, "JP_SESSION=another")
	r := s.Open()
	found := agent.StoppedHere(t.Context(), r, "")
	require.Len(t, found, 1)
	require.Equal(t, string(id), found[0].Listing.ID)
	require.True(t, found[0].Resumes())
	require.Equal(t, `waiting 1 s ago: "Make a file" (turn 1, asks to create)`, found[0].Words)
	require.Equal(t, "jp continue "+id.Short(), found[0].Action.String())
	require.Empty(t, agent.StoppedHere(t.Context(), r, id))
	overview, err := agent.OverviewOf(t.Context(), r, "")
	require.NoError(t, err)
	require.Empty(t, overview.ID)
	require.Len(t, overview.Others, 1)
	overview, err = agent.OverviewOf(t.Context(), r, string(id))
	require.NoError(t, err)
	require.Equal(t, "Make a file", overview.Turn)
	require.Equal(t, "Make a file", said(overview.Last)[0])
	require.Empty(t, overview.Others)
	require.NoError(t, r.Close())

	for _, row := range []struct {
		name   string
		person *front.Person
		wrong  string
		note   bool
		fresh  bool // the question is asked in a new conversation
	}{
		{name: "nobody is there", note: true, fresh: true},
		{name: "the user leaves", person: chooses('L'), wrong: "Your question is kept."},
		{name: "the user is silent", person: chooses('S'), wrong: "Your question is kept."},
		{name: "a new conversation", person: chooses('n'), fresh: true},
		{name: "goes on first", person: &front.Person{Decider: chooses('c').Decider, Answers: map[string]string{"Run fs_create_file made.txt?": "run"}}},
	} { // the last one ends the interrupted turn
		f.Person = row.person
		s.Environ[len(s.Environ)-1] = "JP_SESSION=" + strings.ReplaceAll(row.name, " ", "-")
		notes := len(s.Notes())
		request := s.Request(says, "And now?")
		request.Target.New = false
		err := s.Ask(f, request)
		if row.wrong != "" {
			require.ErrorContains(t, err, row.wrong, row.name)
			continue
		}
		require.NoError(t, err, row.name)
		require.Equal(t, row.fresh, f.Last().ID != id, row.name)
		require.Equal(t, row.note, len(s.Notes()) > notes, row.name)
	}
	require.True(t, s.Exists("made.txt"))
	r = s.Open()
	defer r.Close()
	require.Empty(t, agent.StoppedHere(t.Context(), r, ""))

	side := filepath.Join(s.Home, "side")
	s.Git("worktree", "add", "-q", "--detach", side)
	main := s.Dir
	s.Dir = side
	request := s.Request(makeFile, "Make another")
	request.Turn.Policy = "defer"
	f.Person = nil
	require.Error(t, s.Ask(f, request))
	s.Dir = main
	require.Empty(t, agent.StoppedHere(t.Context(), r, ""), "it stopped in another working tree")
	there := func() *agent.Stopped {
		s.Dir = side
		defer func() { s.Dir = main }()
		r := s.Open()
		defer r.Close()
		if found := agent.StoppedHere(t.Context(), r, ""); len(found) > 0 {
			return &found[0]
		}
		return nil
	}()
	require.NotNil(t, there)
}

// TestUnnamed: a resume without a name takes the only interrupted conversation. A discard without a name
// fails.
func TestUnnamed(t *testing.T) {
	t.Parallel()
	s, f, id := stopped(t)
	s.Environ = append(s.Environ, "JP_SESSION=another")
	err := s.Ask(f, front.Discard(""))
	require.ErrorContains(t, err, "say which one is meant")
	require.Contains(t, hints(err), "jp continue --discard "+id.Short())
	request := front.Resume("")
	request.Turn.Yes = true
	require.NoError(t, s.Ask(f, request))
	require.Equal(t, id, f.Last().ID)

	s.Tick(1000)
	for range 2 {
		request := s.Request(makeFile, "Make a file")
		request.Turn.Policy = "defer"
		require.Error(t, s.Ask(f, request))
	}
	s.Environ = append(s.Environ, "JP_SESSION=third")
	err = s.Ask(f, front.Resume(""))
	require.ErrorContains(t, err, "say which one is meant")
	require.Equal(t, 2, strings.Count(hints(err), "jp continue "))
}

// TestQueuedBefore: a resume lets the model read a message that was sent before the turn failed, once. A new turn only names it.
func TestQueuedBefore(t *testing.T) {
	t.Parallel()
	for name, resumes := range map[string]bool{"a resume": true, "a new turn": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, f := front.New(t), &front.Front{}
			require.Error(t, s.Ask(f, s.Request(failing, "First")))
			id := f.Last().ID
			if !resumes {
				require.NoError(t, s.Ask(f, front.Discard(id)))
			}
			r := s.Open()
			defer r.Close()
			head := s.Load(id)
			sent := live.NewQueue(r.StateDir(), id)
			sent.Recorded(head[len(head)-1:])
			require.NoError(t, sent.Add("Leave the tests"))
			request := front.Next(id, "Second")
			if resumes {
				request = front.Resume(id)
			}
			request.Turn.Model = s.Model(says)
			require.NoError(t, s.Ask(f, request))
			var asked []string
			for _, b := range bodies[*conversation.ChatRequest](s.Load(id)) {
				asked = append(asked, b.Content)
			}
			left := len(live.NewQueue(r.StateDir(), id).Waiting())
			if resumes {
				require.Equal(t, []string{"First", "Leave the tests"}, asked)
				require.Contains(t, f.Notices(), `The model reads what you sent before: "Leave the tests"`)
				require.Zero(t, left)
				return
			}
			require.Equal(t, []string{"First", "Second"}, asked)
			require.Contains(t, f.Notices(), `1 message for an earlier turn: "Leave the tests"   jp chat `+id.Short()+` sends or drops it`)
			require.Equal(t, 1, left)
		})
	}
}

// TestGoOn varies the state of the turn with which a message goes on, and the other conditions.
func TestGoOn(t *testing.T) {
	t.Parallel()
	afterTool := "[[reply]]\n[[reply.tool_call]]\nname = \"fs_list_files\"\narguments = {}\n" + failing
	for _, row := range []struct {
		name   string
		script string
		do     func(s *front.Scratch, request *agent.Request)
		goesOn bool
	}{
		{name: "the model", script: failing, goesOn: true},
		{name: "the model, for results", script: afterTool, goesOn: true},
		{name: "a permission", script: makeFile},
		{name: "a changed file", script: failing, do: func(s *front.Scratch, _ *agent.Request) { s.Write("README.md", "mine\n") }},
		{name: "a new file", script: failing, do: func(s *front.Scratch, _ *agent.Request) { s.Write("new.txt", "mine\n") }},
		{name: "another branch", script: failing, do: func(s *front.Scratch, _ *agent.Request) { s.Git("switch", "-q", "-c", "side") }},
		{name: "an attachment", script: failing, do: func(_ *front.Scratch, request *agent.Request) { request.Input.Attachments = []string{"README.md"} }},
		{name: "no queue", script: failing, do: func(_ *front.Scratch, request *agent.Request) { request.Turn.Queue = nil }},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s, f := front.New(t), &front.Front{}
			request := s.Request(row.script, "First")
			request.Turn.Policy = "defer"
			require.Error(t, s.Ask(f, request))
			id := f.Last().ID
			request = front.Next(id, "And now?")
			r := s.Open()
			request.Resume.GoOn, request.Turn.Queue, request.Turn.Model = true, live.NewQueue(r.StateDir(), id), s.Model(says)
			r.Close()
			if row.do != nil {
				row.do(s, &request)
			}
			err := s.Ask(f, request)
			asked := bodies[*conversation.ChatRequest](s.Load(id))
			if !row.goesOn {
				require.ErrorContains(t, err, "has an incomplete turn")
				require.Len(t, asked, 1)
				return
			}
			require.NoError(t, err)
			require.Len(t, asked, 2)
			require.Equal(t, "And now?", asked[1].Content)
			require.Len(t, bodies[*conversation.TurnStart](s.Load(id)), 1)
			require.Equal(t, turnloop.Complete, f.Last().Outcome.Status)
			require.Equal(t, "Over.", f.Last().Outcome.Message)
		})
	}
}
