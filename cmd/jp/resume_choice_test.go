package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/process"
)

// suicideScript makes a file, then lets a tool kill jp, the first time.
const suicideScript = `
[[reply]]
message = "I make a file and count."
[[reply.tool_call]]
name = "fs_create_file"
arguments = { path = "made.txt", content = "made\n" }
[[reply.tool_call]]
name = "shell_run"
arguments = { argv = ["sh", "-c", "echo x >>count; [ -e ../killed ] || { touch ../killed; kill -9 $PPID; }"] }
[[reply.tool_call]]
name = "shell_run"
arguments = { argv = ["sh", "-c", "echo x >>later"] }
[[reply]]
message = "Over."
[[reply]]
message = "And out."
`

// killedPlace is a place whose turn was killed while a tool ran.
func killedPlace(t *testing.T) *workspace {
	t.Helper()
	p := newPlace(t)
	p.environ = append(p.environ, unconfined)
	p.write("../suicide.toml", suicideScript)
	cmd := p.command("query", "-y", "-m", "script/../suicide.toml", "Count")
	err := cmd.Run()
	require.Error(t, err)
	require.Equal(t, syscall.SIGKILL, cmd.ProcessState.Sys().(syscall.WaitStatus).Signal())
	p.toolsEnded()
	return p
}

// toolsEnded waits until all tools of a dead jp have ended: a tool that kills jp ends a little later.
func (p *workspace) toolsEnded() {
	p.t.Helper()
	locks := process.LocksIn(filepath.Join(p.dir, ".git"))
	require.Eventually(p.t, func() bool { return len(locks.OrphanedTools(".")) == 0 }, time.Minute, time.Millisecond)
}

// lines is how many lines a file of the place has.
func (p *workspace) lines(name string) int {
	text, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil {
		return 0
	}
	return strings.Count(string(text), "\n")
}

// result is the text of the n-th tool response.
func (p *workspace) result(n int) string {
	p.t.Helper()
	text, ok := p.ofType("tool_call_response")[n]["content"].(string)
	require.True(p.t, ok)
	return text
}

func TestUnknownOutcomeOnATerminal(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		answer func(*sitting)
		exit   int
		counts [2]int // lines of count and later
		says   string // to the model, of the call
	}{
		"again":  {func(s *sitting) { s.Type("a") }, 0, [2]int{2, 1}, ""},
		"report": {func(s *sitting) { s.Type("r") }, 0, [2]int{1, 1}, "The outcome of this call is unknown"},
		"by hand": {func(s *sitting) { s.Type("w"); s.WaitFor("The result, for the model:"); s.Type("It counted.\r") },
			0, [2]int{1, 1}, "The user says how this call ended: It counted."},
		"quit":   {func(s *sitting) { s.Type("q") }, 3, [2]int{1, 0}, ""},
		"Ctrl+D": {func(s *sitting) { s.Type("\x04") }, 3, [2]int{1, 0}, ""},
		"Esc":    {func(s *sitting) { s.Type("\x1b") }, 3, [2]int{1, 0}, ""},
		"back from by hand, then quit": {func(s *sitting) {
			s.Type("w")
			s.WaitFor("The result, for the model:")
			s.Type("It\x1b")
			s.promptedAgain(2)
			s.Type("q")
		}, 3, [2]int{1, 0}, ""},
		"Ctrl+C": {func(s *sitting) { s.Type("\x03") }, 130, [2]int{1, 0}, ""},
		"help, then nothing by hand, then quit": {func(s *sitting) {
			s.Type("?")
			s.WaitFor("the model takes that for the result")
			s.prompted()
			s.Type("w")
			s.WaitFor("The result, for the model:")
			s.Type("  \r")
			s.prompted()
			s.Type("q")
		}, 3, [2]int{1, 0}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := killedPlace(t)
			before := p.git("for-each-ref", "refs/jp")
			s := p.sit(100, "continue", "-y")
			s.WaitFor("  It was started, and its outcome is unknown.")
			s.WaitFor("  Files: 1 file changed since: count.")
			s.prompted()
			tt.answer(s)
			require.Equal(t, tt.exit, s.exit())
			require.Equal(t, tt.counts, [2]int{p.lines("count"), p.lines("later")})
			if tt.exit == 0 {
				require.Contains(t, p.result(1), tt.says)
				require.Contains(t, p.jp("ls").stdout, "idle")
			} else {
				require.Contains(t, p.jp("ls").stdout, "interrupted (pending tool execution)")
				require.Equal(t, before, p.git("for-each-ref", "refs/jp"), "nothing is changed")
			}
			require.Equal(t, 0, p.jp("verify").exit)
		})
	}
}

// In a chat a question about an interrupted turn goes away with its answer, and leaves one line.
func TestInterruptedTurnLeavesALine(t *testing.T) {
	t.Parallel()
	for _, columns := range []int{80, 48} {
		t.Run(strconv.Itoa(columns), func(t *testing.T) {
			t.Parallel()
			p := killedPlace(t)
			s := p.sit(columns)
			s.idle()
			s.Type("Second\r")
			s.answers("\n  ?  help", "q")
			s.WaitForEnd("Nothing was changed. Your question is kept.\n\n> Second")
			require.Regexp(t, `\n> Second\njp-c[^\n]* · quit, change nothing\nNothing`, s.Text())
			s.Type("\r")
			s.answers("\n  ?  help", "r")
			s.answers("? help", "r")
			s.WaitFor("report it to the model\nresumed after")
			s.WaitFor("turn 2 · ")
			require.Regexp(t, `then ask your new question\n[^\n]+ · report it to the model\nresumed`, s.Text())
			require.NotContains(t, s.Text(), "? help")
		})
	}
}

func TestUnknownOutcomeDecidedInAdvance(t *testing.T) {
	t.Parallel()
	for flags, counts := range map[string][2]int{
		"":                 {1, 1},
		"--pending=report": {1, 1},
		"--pending=run":    {2, 1},
	} {
		t.Run(flags, func(t *testing.T) {
			t.Parallel()
			p := killedPlace(t)
			out := p.jp(append([]string{"continue", "-y", "--non-interactive"}, strings.Fields(flags)...)...)
			require.Zero(t, out.exit, out.stderr)
			require.Contains(t, out.stderr, "resumed after ")
			found := "command of unknown outcome"
			if flags == "--pending=run" {
				found = "command runs again"
			}
			require.Contains(t, out.stderr, ": count added; "+found+"; command not started")
			resumed := p.ofType("resumed")[0]
			require.Contains(t, resumed["message"], `A "count" +1 -0`, "git does not track it, and the tool may have made it")
			require.Contains(t, p.git("show", "--format=%an", "--stat", resumed["commit"].(string)), "jp\n\n count | 1 +")
			require.Equal(t, counts, [2]int{p.lines("count"), p.lines("later")})
			again := p.jp("continue")
			require.Zero(t, again.exit)
			require.Contains(t, again.stderr, "No turn is incomplete")
			locks, err := filepath.Glob(filepath.Join(p.dir, ".git/jp/locks/*.[0-9]*"))
			require.NoError(t, err)
			require.Empty(t, locks, "nothing is left of the tools' locks")
		})
	}
}

func TestOfferSaysWhatIsTrue(t *testing.T) {
	t.Parallel()
	p := killedPlace(t)
	head := p.git("rev-parse", "--short=7", "HEAD")
	p.git("checkout", "-q", "-b", "x\u202ey") // a name that would turn the line around
	p.git("checkout", "-q", "main")
	s := p.sit(120, "query")
	s.WaitFor("stopped in turn 1, ")
	s.WaitFor("  ✓ create made.txt — completed (+1 -0)")
	s.WaitFor("— started; its outcome is unknown")
	s.WaitFor("— not started")
	s.WaitFor("Files: 1 file changed since: count. HEAD: as recorded (" + head + ", main).")
	s.WaitFor("  r  resume: go on with the tools that are left")
	s.prompted()
	s.Type("q")
	require.Equal(t, 3, s.exit())

	p.git("commit", "-q", "--allow-empty", "-m", "second")
	s = p.sit(120, "query", "And then?")
	s.WaitFor(", main, went on from " + head)
	s.WaitFor("  r  finish turn 1, then ask your new question")
	s.prompted()
	s.Type("q")
	require.Equal(t, 3, s.exit())
	s.WaitFor("Your question is kept.")

	p.git("checkout", "-q", "x\u202ey")
	s = p.sit(120, "query")
	s.WaitFor(`This is not where it stopped:  branch main → $'x\u202ey'`)
	s.prompted()
	s.Type("q")
	require.Equal(t, 3, s.exit())
}

func TestElsewhereOnATerminal(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		flags, keys []string
		exit        int
	}{
		"anyway":          {nil, []string{"r"}, 0},
		"said in advance": {[]string{"--anyway"}, nil, 0},
		"quit":            {nil, []string{"q"}, 3},
		"Ctrl+D":          {nil, []string{"\x04"}, 3},
		"Esc":             {nil, []string{"\x1b"}, 3},
		"Ctrl+C":          {nil, []string{"\x03"}, 130},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := killedPlace(t)
			p.git("checkout", "-q", "-b", "elsewhere")
			before := p.git("for-each-ref", "refs/jp")
			s := p.sit(100, append([]string{"continue", "-y", "--pending", "report"}, tt.flags...)...)
			for _, key := range tt.keys {
				s.WaitFor("This is not where it stopped:  branch main → elsewhere")
				s.prompted()
				s.Type(key)
			}
			require.Equal(t, tt.exit, s.exit())
			if tt.exit != 0 {
				require.Equal(t, before, p.git("for-each-ref", "refs/jp"))
				return
			}
			resumed := p.ofType("resumed")[0]
			require.Contains(t, resumed["message"], `Branch was "elsewhere", and before "main".`)
		})
	}
}

// survivorScript runs a tool that lives until a file is there.
const survivorScript = `
[[reply]]
[[reply.tool_call]]
name = "shell_run"
arguments = { argv = ["sh", "-c", "echo x >>count; while [ -e count ] && [ ! -e ../go ]; do sleep 0.02; done; echo x >>count"] }
[[reply]]
message = "Over."
`

// outlivedPlace is a place whose jp was killed while its tool lives on.
func outlivedPlace(t *testing.T) *workspace {
	t.Helper()
	p := newPlace(t)
	p.write("../survivor.toml", survivorScript)
	cmd := p.command("query", "-y", "-m", "script/../survivor.toml", "Wait")
	require.NoError(t, cmd.Start())
	t.Cleanup(p.endSurvivor)
	require.Eventually(t, func() bool { return p.lines("count") == 1 }, time.Minute, 10*time.Millisecond)
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	return p
}

// endSurvivor lets the tool of survivorScript end, and waits for that.
func (p *workspace) endSurvivor() {
	p.write("../go", "")
	require.Eventually(p.t, func() bool {
		locks, _ := filepath.Glob(filepath.Join(p.dir, ".git/jp/locks/*.[0-9]*")) // the pattern is right
		for _, path := range locks {
			f, err := os.Open(path)
			if err != nil {
				continue // it has ended meanwhile
			}
			held := syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) != nil
			_ = f.Close()
			if held {
				return false
			}
		}
		return true
	}, time.Minute, 10*time.Millisecond)
}

func TestToolThatOutlivedJp(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		answer func(*sitting)
		exit   int
		count  int
	}{
		"wait": {func(s *sitting) {
			s.Type("w")
			s.WaitFor("w wait for it   e end it   q quit, change nothing\n> w")
			s.place.write("../go", "")
		}, 0, 2},
		"end it": {func(s *sitting) { s.Type("e") }, 0, 1},
		"quit":   {func(s *sitting) { s.Type("q") }, 4, 1},
		"Ctrl+C": {func(s *sitting) { s.Type("\x03") }, 130, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := outlivedPlace(t)
			require.Contains(t, p.jp("print").stdout, "… — running\n")
			s := p.sit(120, "continue", "-y", "--pending", "report")
			s.WaitFor("  It is still running, from before.")
			s.WaitForEnd("q quit, change nothing\n>")
			tt.answer(s)
			require.Equal(t, tt.exit, s.exit())
			require.Equal(t, tt.count, p.lines("count"))
			if tt.exit == 0 {
				require.Contains(t, p.result(0), "The outcome of this call is unknown")
				require.Contains(t, p.jp("print", "--answer").stdout, "Over.")
			}
		})
	}
}

// The changes of a tool that outlived its jp are not charged to another conversation's.
func TestToolThatOutlivedJpBesideAnother(t *testing.T) {
	t.Parallel()
	p := outlivedPlace(t)
	lines := p.lines("README.md")
	require.Contains(t, p.jp("ls").stdout, "interrupted (pending tool execution), with 1 tool still running")
	require.Regexp(t, `its process has ended, and what it started still runs: jp kill \w{4} ends that;\n  jp continue \w{4} asks at a terminal whether to wait for it, and fails without one\n`, p.jp("status").stdout)
	require.Equal(t, 4, p.jp("continue").exit)
	for _, command := range []string{"rm", "archive"} {
		out := p.jp(command, "-y", ".")
		require.Equal(t, 4, out.exit, out.stderr)
		require.Contains(t, out.stderr, "still runs, though its jp has ended")
	}
	p.write("../beside.toml", `[[reply]]
[[reply.tool_call]]
name = "shell_run"
arguments = { argv = ["sh", "-c", "echo b >b.txt; echo x >>README.md"] }
[[reply]]
message = "Over."
`)
	out := p.jp("query", "-n", "-y", "-m", "script/../beside.toml", "Beside")
	require.Zero(t, out.exit, out.stderr)
	require.Contains(t, out.stderr, "still runs here, though its jp has ended")
	require.Contains(t, p.jp("blame", "README.md:"+strconv.Itoa(lines+1)).stdout, "or another tool that ran meanwhile")
	undone := p.jp("undo", "-y")
	require.Contains(t, undone.stdout+undone.stderr, "others wrote it, too")
	require.Equal(t, lines+1, p.lines("README.md"))
	require.FileExists(t, filepath.Join(p.dir, "b.txt"))
	p.endSurvivor()
	require.Contains(t, p.jp("status", "-").stdout, "interrupted (pending tool execution)  ")
	out = p.jp("query", "Go on", "-m", "script/../beside.toml", "-y")
	require.NotContains(t, out.stderr, "still runs here")
	require.Zero(t, p.jp("verify", "--all").exit)
}

// A tool that outlived its jp in one working tree does not concern another one.
func TestToolThatOutlivedJpInAnotherWorktree(t *testing.T) {
	t.Parallel()
	p := outlivedPlace(t)
	linked := *p
	linked.dir = filepath.Join(filepath.Dir(p.dir), "linked")
	p.git("worktree", "add", "-q", linked.dir)
	p.write("../beside.toml", "[[reply]]\n[[reply.tool_call]]\nname = \"shell_run\"\narguments = { argv = [\"sh\", \"-c\", \"echo x >>README.md\"] }\n[[reply]]\nmessage = \"Over.\"\n")
	out := linked.jp("query", "-n", "-y", "-m", "script/../beside.toml", "Beside")
	require.Zero(t, out.exit, out.stderr)
	require.NotContains(t, out.stderr, "still runs here")
	require.Zero(t, linked.jp("undo", "-y").exit)
	require.Empty(t, linked.git("status", "--porcelain"))
}

// Without a terminal no person can decide: jp changes nothing, and runs nothing beside the tool.
func TestToolThatOutlivedJpUnattended(t *testing.T) {
	t.Parallel()
	p := outlivedPlace(t)
	before := p.git("for-each-ref", "refs/jp")
	out := p.jp("continue", "-y", "--non-interactive", "--json")
	require.Equal(t, 4, out.exit)
	require.Contains(t, out.stderr, `"code":"locked"`)
	require.Equal(t, 3, p.jp("query", "--non-interactive", "More").exit)
	require.Equal(t, before, p.git("for-each-ref", "refs/jp"))
	out = p.jp("continue", "--discard")
	require.Zero(t, out.exit, "a discard ends it first")
	require.Regexp(t, `^jp-\w+-\w+: ended 1 tool that had outlived the process\.\nDiscarded turn 1 of `, out.stderr)
	require.Equal(t, 1, p.lines("count"))
	require.Contains(t, p.jp("ls").stdout, "idle")
	locks, err := filepath.Glob(filepath.Join(p.dir, ".git/jp/locks/*.[0-9]*"))
	require.NoError(t, err)
	require.Empty(t, locks)
}

func TestEditThePendingQuestion(t *testing.T) {
	t.Parallel()
	p := edited(t, "printf 'What is new, in one word?\\n' >\"$1\"\n")
	p.write("../fail.toml", "[[reply]]\nmessage = \"Nothing.\"\nfail = \"auth\"\nfail_times = 1\n")
	require.Equal(t, 7, p.jp("query", "-m", "script/../fail.toml", "What is nwe?").exit)
	s := p.sit(100, "query")
	s.WaitFor("e  edit the question and ask again")
	s.prompted()
	s.Type("e")
	require.Zero(t, s.exit())
	requests := p.ofType("chat_request")
	require.Len(t, requests, 2)
	require.Equal(t, "What is new, in one word?", requests[1]["content"])
	require.Equal(t, requests[0]["seq"], requests[1]["replaces"])
	require.Len(t, p.ofType("turn_start"), 1)
	require.Contains(t, p.jp("print", "--answer").stdout, "Nothing.")
}

// The editor of the pending question locks no conversation either.
func TestEditorOfAQuestionLeavesTheConversationFree(t *testing.T) {
	t.Parallel()
	p := edited(t, "cat \"$1\" >../before\nprintf 'What is new, in one word?\\n' >\"$1\"\necho open >../open\nwhile ! test -e ../go; do sleep 0.05; done\n")
	p.write("../fail.toml", "[[reply]]\nmessage = \"Nothing.\"\nfail = \"auth\"\nfail_times = 1\n[[reply]]\nmessage = \"More.\"\n")
	require.Equal(t, 7, p.jp("query", "-m", "script/../fail.toml", "What is nwe?").exit)
	s := p.sit(100, "query")
	s.WaitFor("e  edit the question and ask again")
	s.prompted()
	s.Type("e")
	require.Eventually(t, func() bool { return p.read("../open") != "" }, 20*time.Second, 10*time.Millisecond)
	out := p.jp("edit", "--title", "Of another terminal")
	require.Zero(t, out.exit, out.stderr)
	p.write("../go", "")
	s.WaitFor("The conversation has changed since jp asked.")
	s.prompted()
	s.Type("e")
	require.Zero(t, s.exit(), s.Text())
	require.Contains(t, p.read("../before"), "What is new, in one word?", "the text is kept")
	requests := p.ofType("chat_request")
	require.Equal(t, "What is new, in one word?", requests[len(requests)-1]["content"])
	require.Zero(t, p.jp("verify").exit)
}

// If the user discards a turn, jp attributes the possible effects of its lost tool to no one, and the model is told
// of them.
func TestDiscardOfALostTool(t *testing.T) {
	t.Parallel()
	p := killedPlace(t)
	require.Zero(t, p.jp("continue", "--discard").exit)
	moved := p.ofType("resumed")[0]
	require.Equal(t, "jp\n\n count | 1 +\n 1 file changed, 1 insertion(+)", p.git("show", "--format=%an", "--stat", moved["commit"].(string)))
	require.Zero(t, p.jp("query", "--non-interactive", "--policy", "deny", "Next").exit)
	require.Contains(t, p.ofType("note")[0]["content"], "\n  \"count\"")
	require.Empty(t, p.ofType("workspace"), "the user did nothing")
	dry := p.jp("undo", "@0", "--dry-run")
	require.Contains(t, dry.stdout, "count")
	require.Contains(t, dry.stdout, "it is unknown who changed it before @")
	require.Equal(t, 0, p.jp("verify").exit)
}

// A question of jp's own locks no conversation. Changes by another terminal meanwhile count.
func TestQuestionLeavesTheConversationFree(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		deeper    bool // the question about a call's outcome, not the one about the turn
		meanwhile []string
		types     string
		exit      int
		says      string
		requests  int // that the conversation has then
	}{
		"nothing else, then quit":    {types: "q", exit: 3, says: "othing was changed", requests: 1},
		"discarded, then quit":       {meanwhile: []string{"discard"}, types: "q", exit: 3, says: "othing was changed", requests: 1},
		"discarded, then resume":     {meanwhile: []string{"discard"}, types: "r", says: "has changed since jp asked", requests: 2},
		"discarded, then discard":    {meanwhile: []string{"discard"}, types: "d", says: "has changed since jp asked", requests: 2},
		"finished, then resume":      {meanwhile: []string{"continue", "--pending", "report"}, types: "r", says: "has changed since jp asked", requests: 2},
		"of a call, then run again":  {deeper: true, meanwhile: []string{"discard"}, types: "a", says: "has changed since jp asked", requests: 2},
		"of a call, then not at all": {deeper: true, meanwhile: []string{"discard"}, types: "q", exit: 3, says: "othing was changed", requests: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := killedPlace(t)
			p.write("../over.toml", "[[reply]]\nmessage = \"Over.\"\ntimes = 9\n")
			s := p.sit(100, "query", "-y", "-m", "script/../over.toml", "And now?")
			s.WaitFor("d  discard turn 1, then ask your new question")
			s.prompted()
			if test.deeper {
				s.Type("r")
				s.WaitFor("run it again")
				s.prompted()
			}
			if test.meanwhile != nil {
				r := p.jp(test.meanwhile...)
				require.Zero(t, r.exit, r.stderr)
			}
			s.Type(test.types)
			require.Equal(t, test.exit, s.exit())
			s.WaitFor(test.says)
			require.Len(t, p.ofType("chat_request"), test.requests)
			require.Zero(t, p.jp("verify").exit)
		})
	}
}
