package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/internal/safefile"
)

// cutPlace is a place whose jp was killed while the model asked for tools: this many of
// the calls are durable.
func cutPlace(t *testing.T, durable int) *workspace {
	t.Helper()
	p := newPlace(t)
	var b strings.Builder
	b.WriteString("[[reply]]\nhang = true\n")
	for i := range durable + 1 { // the newest one is held back
		fmt.Fprintf(&b, "[[reply.tool_call]]\nname = \"fs_create_file\"\narguments = { path = \"f%d.txt\", content = \"x\" }\n", i)
	}
	b.WriteString("[[reply]]\nmessage = \"Over.\"\n")
	p.write("../cut.toml", b.String())
	cmd := p.command("query", "-y", "-m", "script/../cut.toml", "Make files")
	require.NoError(t, cmd.Start())
	require.Eventually(t, func() bool {
		return strings.Count(p.jp("log", "newest", "--internal").stdout, "call create") == durable
	}, time.Minute, 10*time.Millisecond)
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	return p
}

// A batch that was cut off is reported as such at any point, to user and model.
func TestOfferOfABatchThatWasCutOff(t *testing.T) {
	t.Parallel()
	for durable := 1; durable <= 3; durable++ {
		t.Run(fmt.Sprint(durable), func(t *testing.T) {
			t.Parallel()
			p := cutPlace(t, durable)
			require.Contains(t, p.jp("print").stdout, "The answer was cut off while it asked for tools.")
			s := p.sit(100, "query")
			s.WaitFor("The answer was cut off while it asked for tools.")
			s.prompted()
			s.Type("r")
			require.Equal(t, 0, s.exit())
			require.Contains(t, p.ofType("resumed")[0]["message"], conversation.TextCutOff)
			require.Empty(t, p.ofType("note"), "it is told once")
			require.Len(t, p.ofType("tool_started"), durable)
			require.Equal(t, 0, p.jp("verify").exit)
		})
	}
}

// The model and the user hear of an interrupted batch only once, for any end of the turn.
func TestABatchThatWasCutOffAndAborted(t *testing.T) {
	t.Parallel()
	p := cutPlace(t, 1)
	s := p.sit(100, "query")
	s.WaitFor("cut off while it asked for tools")
	s.prompted()
	s.Type("q")
	require.Equal(t, 3, s.exit())
	require.Equal(t, 0, p.jp("continue", "-y").exit)
	require.Len(t, p.ofType("resumed"), 1)
	require.NotContains(t, p.jp("print").stdout, "cut off while")
}

// A tool that only reads is running as long as its program lives, though no event says that it was
// started, also if it has outlived its jp.
func TestAReadOnlyToolThatRuns(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("../peek.toml", "[[reply]]\n[[reply.tool_call]]\nname = \"peek\"\narguments = {}\n[[reply]]\nmessage = \"Over.\"\n")
	cfg := `tools.peek={command=["sh","-c","echo x >>../count; while [ ! -e ../go ]; do sleep 0.02; done"],mutates=false,run="unattended"}`
	p.environ = append(p.environ, unconfined)
	cmd := p.command("query", "--cfg", cfg, "-m", "script/../peek.toml", "Wait")
	require.NoError(t, cmd.Start())
	t.Cleanup(p.endSurvivor)
	require.Eventually(t, func() bool { return p.lines("../count") == 1 }, time.Minute, 10*time.Millisecond)
	require.Contains(t, p.jp("print", "newest").stdout, "▶ peek — running", "while jp runs it")
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	require.Contains(t, p.jp("print", "newest").stdout, "▶ peek — running", "when it has outlived jp")
	s := p.sit(100, "query", "--id=newest", "--cfg", cfg)
	s.WaitFor("▶ peek — running")
	s.prompted()
	s.Type("q")
	require.Equal(t, 3, s.exit())
	p.endSurvivor()
	require.Contains(t, p.jp("print", "newest").stdout, "○ peek — not started")
	require.Equal(t, 0, p.jp("continue", "newest", "--cfg", cfg).exit)
	require.Equal(t, 2, p.lines("../count"), "it only reads, and runs again")
}

// A question that was edited is printed once, with the one that it replaced marked.
func TestAnEditedQuestionIsPrintedOnce(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("../fail.toml", "[[reply]]\nfail = \"auth\"\nfail_times = 1\nmessage = \"Over.\"\n")
	require.Equal(t, 7, p.jp("query", "-m", "script/../fail.toml", "What is one?").exit)
	p.write("../editor", "#!/bin/sh\necho 'What is two?' >\"$1\"\n")
	p.environ = append(p.environ, "JP_EDITOR=../editor")
	s := p.sit(100, "query")
	s.prompted()
	s.Type("e")
	require.Equal(t, 0, s.exit())
	for _, style := range []string{"full", "chat", "brief"} {
		printed := p.jp("print", "--style", style).stdout
		require.Contains(t, printed, "(replaced by what follows) What is one?\nWhat is two?\n")
		require.Equal(t, 1, strings.Count(printed, "What is one?"))
		require.Equal(t, 1, strings.Count(printed, "What is two?"))
	}
}

// Discarded at the prompt, the question comes into the editor, to be asked in better words.
func TestADiscardedQuestionComesIntoTheEditor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		editor string
		exit   int
		asked  []string // the questions of all turns
	}{
		"edited":    {"sed -i 's/one/two/' \"$1\"", 0, []string{"What is one?", "What is two?"}},
		"as it was": {"true", 0, []string{"What is one?", "What is one?"}},
		"emptied":   {": >\"$1\"", 2, []string{"What is one?"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := edited(t, "cp \"$1\" ../seen; "+c.editor+"\n")
			p.write("../fail.toml", "[[reply]]\nfail = \"auth\"\nfail_times = 1\nmessage = \"Over.\"\n")
			require.Equal(t, 7, p.jp("query", "-m", "script/../fail.toml", "-a", "README.md", "What is one?").exit)
			p.write("../fail.toml", "[[reply]]\nmessage = \"Over.\"\n")
			s := p.sit(100, "query")
			s.prompted()
			s.Type("d")
			require.Equal(t, c.exit, s.exit(), s.Text())
			seen, err := os.ReadFile(filepath.Join(p.dir, "../seen"))
			require.NoError(t, err)
			require.True(t, strings.HasPrefix(string(seen), "What is one?\n"), string(seen))
			require.Contains(t, string(seen), "# README.md goes along, as with the discarded question.\n")
			var asked []string
			for _, e := range p.ofType("chat_request") {
				asked = append(asked, e["content"].(string))
				require.Len(t, e["attachments"], 1)
			}
			require.Equal(t, c.asked, asked)
		})
	}
}

// The offer names the calls that were approved in advance, so that nothing runs unasked unforeseen.
func TestOfferOfAnApprovedTurn(t *testing.T) {
	t.Parallel()
	for approved, flags := range map[bool][]string{true: {"-y"}, false: nil} {
		p := newPlace(t)
		p.write("../make.toml", "[[reply]]\nfail = \"auth\"\nfail_times = 1\n"+
			"[[reply.tool_call]]\nname = \"fs_create_file\"\narguments = { path = \"a.txt\", content = \"a\" }\n[[reply]]\nmessage = \"Over.\"\n")
		require.Equal(t, 7, p.jp(append([]string{"query", "-m", "script/../make.toml", "Make"}, flags...)...).exit)
		s := p.sit(100, "query")
		s.prompted()
		if approved {
			require.Contains(t, s.Text(), "  Its tools: approved in advance (-y)\n")
			s.Type("r")
			require.Zero(t, s.exit())
			require.Contains(t, s.Text(), "its tools are approved in advance (-y)")
			require.Contains(t, s.Text(), " · approved in advance (-y)")
			continue
		}
		require.NotContains(t, s.Text(), "approved in advance")
		s.Type("r")
		s.WaitFor("Create it?")
		s.prompted()
		s.Type("n")
		require.Zero(t, s.exit())
		require.NotContains(t, s.Text(), "approved in advance")
	}
}

// The offer names files that git does not track and that the user made meanwhile, if a question waits,
// if the model is to be asked, and if jp was killed.
func TestOfferNamesUntrackedFiles(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(*workspace){
		"waiting": func(p *workspace) { require.Equal(t, 3, p.jp("query", "-m", "script/../make.toml", "Make").exit) },
		"failed":  func(p *workspace) { require.Equal(t, 7, p.jp("query", "-m", "script/../fail.toml", "Make").exit) },
		"killed": func(p *workspace) {
			cmd := p.command("query", "-m", "script/../hang.toml", "Make")
			require.NoError(t, cmd.Start())
			require.Eventually(t, func() bool {
				records, _ := filepath.Glob(filepath.Join(p.dir, ".git/jp/drafts/*.untracked")) // the pattern is right
				return len(records) == 1
			}, time.Minute, 10*time.Millisecond)
			require.NoError(t, cmd.Process.Kill())
			_ = cmd.Wait()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write("../make.toml", makeScript)
			p.write("../fail.toml", "[[reply]]\nfail = \"auth\"\nfail_times = 1\nmessage = \"Over.\"\n")
			p.write("../hang.toml", "[[reply]]\nmessage = \"Once upon\"\nchunk_size = 4\nhang = true\n")
			stop(p)
			p.write("handmade.go", "package mine\n")
			s := p.sit(100, "query")
			s.WaitFor("Files: untracked: handmade.go new.")
			s.prompted()
			s.Type("q")
			require.Equal(t, 3, s.exit())
		})
	}
}

// A terminal that goes away at the offer changes nothing, and keeps the question that was
// given with the command.
func TestAHangUpAtTheOfferKeepsTheQuestion(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("../make.toml", makeScript)
	require.Equal(t, 3, p.jp("query", "-m", "script/../make.toml", "Make").exit)
	before := p.git("for-each-ref", "refs/jp")
	s := p.sit(100, "query", "And then?")
	s.WaitFor("then ask your new question")
	s.prompted()
	s.Hangup()
	require.NotZero(t, s.exit())
	require.Equal(t, before, p.git("for-each-ref", "refs/jp"))
	drafts, err := filepath.Glob(filepath.Join(p.dir, ".git/jp/drafts/*.query"))
	require.NoError(t, err)
	require.Len(t, drafts, 1)
	kept, err := os.ReadFile(drafts[0])
	require.NoError(t, err)
	require.Equal(t, "And then?\n", string(safefile.Unsealed(kept)))
}
