package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/internal/safefile"
)

const talkScript = "[[reply]]\nmessage = \"Hi.\"\n[[reply]]\nmessage = \"Hi again.\"\n"

// edited is a place with a talk script and an editor, a shell script.
func edited(t *testing.T, editor string) *workspace {
	t.Helper()
	p := newPlace(t)
	p.write("../talk.toml", talkScript)
	p.write("../editor", "#!/bin/sh\n"+editor)
	p.environ = append(p.environ, "JP_EDITOR=../editor")
	return p
}

func TestAnEditorGivesTheText(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"nothing given": {nil, "more"},
		"words, -e":     {[]string{"-e", "Some", "words"}, "Some words\n\nmore"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := edited(t, "echo more >>\"$1\"\n")
			s := p.sit(80, append([]string{"query", "-m", "script/../talk.toml"}, tt.args...)...)
			require.Zero(t, s.exit())
			s.WaitFor("Hi.")
			require.Equal(t, tt.want, p.ofType("chat_request")[0]["content"])
			drafts, err := filepath.Glob(filepath.Join(p.dir, ".git/jp/drafts/*"))
			require.NoError(t, err)
			drafts = slices.DeleteFunc(drafts, func(name string) bool { return strings.HasSuffix(name, ".lock") })
			require.Empty(t, drafts, "what was asked is no draft any more")
		})
	}
}

// Text typed in a conversation at one terminal stays there: the editor of a query at another one has a
// draft of its own, and so has a question that is kept.
func TestTheEditorLeavesTheDraftOfAChat(t *testing.T) {
	t.Parallel()
	p := edited(t, "cp \"$1\" ../shown; echo mine >\"$1\"\n")
	chat := p.chat(80)
	chat.Type("half a thought")
	chat.waitLine("> half a thought")
	p.awaitDraft("half a thought\n")
	s := p.sit(80, "query", "--new", "-m", "script/../talk.toml")
	require.Zero(t, s.exit(), s.Text())
	require.NotContains(t, p.read("../shown"), "half a thought")
	require.Equal(t, "mine", p.ofType("chat_request")[0]["content"])
	require.Equal(t, "half a thought\n", string(safefile.Unsealed([]byte(p.read(".git/jp/drafts/new.query")))))
	require.NoError(t, chat.cmd.Process.Kill())
	_ = chat.cmd.Wait()
}

func TestAnEditorThatFailsAsksNothing(t *testing.T) {
	t.Parallel()
	p := edited(t, "echo kept >>\"$1\"\nexit 3\n")
	s := p.sit(80, "query", "-m", "script/../talk.toml")
	require.Equal(t, 1, s.exit())
	s.WaitFor("Error: the editor")
	require.Empty(t, p.jp("ls").stdout)
	p.write("../editor", "#!/bin/sh\ntrue\n")
	require.Zero(t, p.sit(80, "query", "-m", "script/../talk.toml").exit())
	require.Equal(t, "kept", p.ofType("chat_request")[0]["content"], "the draft is there again")
}

func TestAnEditorWithoutATextAsksNothing(t *testing.T) {
	t.Parallel()
	p := edited(t, "true\n")
	s := p.sit(80, "query", "-m", "script/../talk.toml")
	require.Equal(t, 2, s.exit())
	s.WaitFor("there is nothing to ask")
	require.Empty(t, p.jp("ls").stdout)
	p.write("../editor", "#!/bin/sh\necho 'And now?' >\"$1\"\n")
	s = p.helpsAt(s.Text(), "ask-in-editor", "+ -m script/../talk.toml")
	require.Zero(t, s.exit())
	require.Equal(t, "And now?", p.ofType("chat_request")[0]["content"])
}

// A question that is kept comes into the editor by the command beside the error, for any conversation.
func TestAKeptQuestionComesIntoTheEditor(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		args []string
		help func(*workspace, string) *sitting
	}{
		"the session's": {[]string{"And then?"}, func(p *workspace, said string) *sitting { return p.helpsAt(said, "edit-in") }},
		"another one":   {[]string{"--id=-", "And then?"}, func(p *workspace, said string) *sitting { return p.helpsAt(said, "edit-in") }},
		"a fork":        {[]string{"--fork", "And then?"}, func(p *workspace, said string) *sitting { return p.helpsAt(said, "edit-in-fork") }},
		"a fork of one": {[]string{"--fork=-1", "--id=-", "And then?"}, func(p *workspace, said string) *sitting { return p.helpsAt(said, "edit-in-fork") }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := edited(t, "cp \"$1\" ../seen\n")
			p.write("../fail.toml", "[[reply]]\nfail = \"auth\"\nfail_times = 1\nmessage = \"Over.\"\n"+talkScript)
			require.Equal(t, 7, p.jp("query", "-m", "script/../fail.toml", "What is one?").exit)
			if slices.Contains(tt.args, "--id=-") {
				require.Zero(t, p.jp("query", "--new", "-m", "script/../talk.toml", "Hello").exit)
			}
			s := p.sit(100, append([]string{"query"}, tt.args...)...)
			s.prompted()
			s.Type("q")
			require.Equal(t, 3, s.exit())
			s = tt.help(p, s.Text())
			s.prompted()
			s.Type("r")
			require.Zero(t, s.exit(), s.Text())
			seen, err := os.ReadFile(filepath.Join(p.dir, "../seen"))
			require.NoError(t, err, s.Text())
			require.Contains(t, string(seen), "And then?")
			require.Equal(t, "And then?", p.ofType("chat_request")[1]["content"])
		})
	}
}

// No written text is lost: a draft comes back with the next request, and stays if the person asks for
// something else.
func TestADraftIsKept(t *testing.T) {
	t.Parallel()
	p := edited(t, "{ echo 'First thought'; cat \"$1\"; } >\"$1.new\" && mv \"$1.new\" \"$1\"\nexit 3\n")
	require.Equal(t, 1, p.sit(80, "query", "-m", "script/../talk.toml").exit())
	require.Zero(t, p.jp("query", "-m", "script/../talk.toml", "Something else").exit)
	require.FileExists(t, filepath.Join(p.dir, ".git/jp/drafts/new.query"))

	p.write("../editor", "#!/bin/sh\ncp \"$1\" ../seen\n")
	s := p.sit(80, "query", "--new", "-m", "script/../talk.toml", "-e", "Second thought")
	require.Zero(t, s.exit())
	require.Equal(t, "First thought\n\nSecond thought", p.ofType("chat_request")[0]["content"])
	require.NoFileExists(t, filepath.Join(p.dir, ".git/jp/drafts/new.query"))

	s = p.sit(80, "query", "-e", "Third")
	require.Zero(t, s.exit())
	seen, err := os.ReadFile(filepath.Join(p.dir, "../seen"))
	require.NoError(t, err)
	require.Contains(t, string(seen), "\n# The last answer:\n#\n# Hi.\n")
}

func TestAPager(t *testing.T) {
	t.Parallel()
	p := edited(t, "true\n")
	require.Zero(t, p.jp("query", "-m", "script/../talk.toml", "Hello").exit)
	p.environ = append(p.environ, "JP_PAGER=sed s/^/paged:/")
	s := p.sit(80, "print")
	require.Zero(t, s.exit())
	s.WaitFor("paged:Hello")
	s = p.sit(80, "--no-pager", "print")
	require.Zero(t, s.exit())
	s.WaitFor("\nHello")
	require.NotContains(t, p.jp("print").stdout, "paged:", "a pipe is not paged")
}

func TestAPickerForASessionWithoutAConversation(t *testing.T) {
	t.Parallel()
	p := edited(t, "true\n")
	require.Zero(t, p.jp("query", "--title", "The first", "-m", "script/../talk.toml", "One").exit)
	require.Zero(t, p.jp("query", "--new", "--title", "The second", "-m", "script/../talk.toml", "Two").exit)
	p.environ = append(p.environ, "JP_SESSION=other")
	s := p.sit(80, "print", "--style", "chat")
	s.WaitFor("Which conversation?")
	s.WaitFor("The first")
	s.Type("\x1b[B")
	s.Wait("the second line is chosen", func() bool { return chosenLine(s, "The first") })
	s.Type("\r")
	require.Zero(t, s.exit())
	s.WaitFor("\nOne")
	s = p.sit(80, "print")
	s.WaitFor("Which conversation?")
	s.Type("\x03")
	require.Equal(t, 130, s.exit())
}

// chosenLine reports whether the picker's mark stands before a title.
func chosenLine(s *sitting, title string) bool {
	for line := range strings.Lines(s.Text()) {
		if strings.Contains(line, "> ") && strings.Contains(line, title) {
			return true
		}
	}
	return false
}

// The text of a transient question is written into a file that is not kept.
func TestAnEditorForWhatIsNotRecorded(t *testing.T) {
	t.Parallel()
	p := edited(t, "echo \"$1\" >../named; echo kept >>\"$1\"\n")
	s := p.sit(80, "query", "--no-persist", "-m", "script/../talk.toml")
	require.Zero(t, s.exit())
	s.WaitFor("Hi.")
	s.WaitFor("not recorded")
	require.Empty(t, p.jp("ls").stdout)
	require.NoDirExists(t, filepath.Join(p.dir, ".git/jp/drafts"))
	named, err := os.ReadFile(filepath.Join(p.dir, "../named"))
	require.NoError(t, err)
	require.NoFileExists(t, strings.TrimSpace(string(named)))
}

// A model writes the title after the first turn, in a process of its own, which outlives the one of the turn.
func TestTitleInTheBackground(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{"a query": nil, "a turn in the background": {"--detach"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write("../talk.toml", "[[reply]]\nmessage = \"Over.\"\ntimes = 9\n")
			p.write("../title.toml", "[[reply]]\nmessage = \"Cap the retries\"\nchunk_size = 1\nchunk_delay = \"20ms\"\nusage = { input = 9, output = 2 }\n")
			p.configure("[titles]\nmodel = \"script/" + filepath.Dir(p.dir) + "/title.toml\"\n")
			out := p.jp(append([]string{"query", "-m", "script/../talk.toml"}, append(args, "Why does it hang?")...)...)
			require.Zero(t, out.exit, out.stderr)
			for !strings.Contains(p.jp("ls", "--json").stdout, `"title_source":"model"`) { // ends with the test's time
				require.NotContains(t, p.jp("ls", "--json").stdout, `"title_source":"user"`)
			}
			require.Contains(t, p.jp("ls").stdout, "Cap the retries")
			require.Contains(t, p.jp("usage", "--by", "model").stdout, "title.toml")
			require.Zero(t, p.jp("verify").exit)
		})
	}
}
