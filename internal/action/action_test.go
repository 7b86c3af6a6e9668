package action

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestString(t *testing.T) {
	for want, a := range map[string]Action{
		"":                                  {},
		"jp ls":                             List,
		"jp -C 'a b' ls":                    List.In("a b"),
		"jp continue 4400":                  Continue("4400"),
		"jp fork 4400@3 -a":                 ForkAtAndUse("4400", "3"),
		"jp fork @3":                        ForkAt("", "3"),
		"jp rm -y 4400 4401":                Remove("4400", "4401"),
		"jp undo -y":                        Undo(),
		"jp undo -y @3 'a b'":               Undo("@3", "a b"),
		"jp config set --help":              Help("jp", "config", "set").In("elsewhere"),
		`jp query --no-persist --id=4 "…"`:  AskIn("4").Unrecorded(),
		`jp query --no-persist --new "…"`:   AskUnrecorded.Unrecorded(),
		"jp continue --discard 4":           Discard("4").Unrecorded(),
		`jp -C DIR query "…"`:               AskElsewhere.In("x"),
		"git -C x fetch --unshallow origin": Unshallow("origin").In("x"),
		"git fetch --unshallow":             Unshallow(),
		"git -C x switch --detach":          FreeBranch("x").In("y"),
		"git init --object-format=sha1 DIR": InitSHA1.In("x"),
		"cd x":                              ChangeDir("x").In("y"),
		"jp config set --workspace aliases.NAME PROVIDER/NAME": SetAlias("--workspace"),
		"jp config set aliases.NAME PROVIDER/NAME":             SetAlias(),
	} {
		require.Equal(t, want, a.String())
		require.Equal(t, want, a.In("").String())
	}
	require.True(t, Action{}.None())
	require.False(t, List.None())
}

// A shell gives each word to the program as it is, whatever is in it.
func TestWordsAreQuoted(t *testing.T) {
	hostile := []string{"a b", "it's", `"`, "$(touch x)", "`id`", "a;b", "--", "\x1b[2J\u202e", "*", "~", "#x", "\n", "{id}"}
	for kind, command := range Kinds() {
		n := len(Places(command))
		for _, word := range hostile {
			a := Action{kind: kind}
			for range n {
				a.args = append(a.args, word)
			}
			line := a.String()
			require.NotContains(t, line, "\x1b", kind)
			require.NotContains(t, line, "\n", kind)
			if n == 0 || strings.Contains(command, "&&") || strings.Contains(command, "$(") || strings.Contains(command, "'[") {
				continue
			}
			out, err := exec.Command("bash", "-c", "printf '%s\\0' "+line).Output()
			require.NoError(t, err, line)
			words := strings.Split(string(out), "\x00")
			require.Contains(t, strings.Join(words, "\x00"), word, line)
			require.Equal(t, len(strings.Fields(command)), len(words)-1, "%s: %q", kind, words)
		}
	}
}

func TestNeedsTurn(t *testing.T) {
	for _, a := range []Action{Continue("4"), ContinueSession, ContinueModel("4"), Discard("4"), Again("4"), AgainSession, AgainModel("4"), AgainUnruled("4"), AgainFewerRules("4", "512")} {
		require.True(t, a.NeedsTurn(), a)
	}
	for _, a := range []Action{AskNew, AskInstead, ForkLast("4", "2"), List, {}} {
		require.False(t, a.NeedsTurn(), a)
	}
}

func TestData(t *testing.T) {
	for _, test := range []struct {
		action Action
		want   *Data
	}{
		{Action{}, nil},
		{Init, nil},
		{AskNew, nil},
		{AskElsewhere, nil},
		{ContinueModel("4400"), nil},
		{List, &Data{Verb: "ls"}},
		{Continue("4400"), &Data{Verb: "continue", Conversation: "4400"}},
		{ContinueNamed("4400", "a b"), &Data{Verb: "continue", Conversation: "4400", Options: []string{"-m", "a b"}}},
		{ForkAtAndUse("4400", "3"), &Data{Verb: "fork", Conversation: "4400", Event: "3", Options: []string{"-a"}}},
		{UndoEvent("3"), &Data{Verb: "undo", Event: "3"}},
		{Remove("1", "2"), &Data{Verb: "rm", Options: []string{"-y", "1", "2"}}},
		{Undo(), &Data{Verb: "undo", Options: []string{"-y"}}},
		{ForkAndContinue("4", "4400"), &Data{Verb: "query", Conversation: "4400", Options: []string{"--fork=4", "--continue-turn"}}},
	} {
		require.Equal(t, test.want, test.action.Data(), test.action)
	}
}

func TestNamed(t *testing.T) {
	for kind := range Kinds() {
		a, err := Named(kind, "x", "y", "z")
		require.NoError(t, err)
		require.Equal(t, kind, a.Kind())
		require.Equal(t, []string{"x", "y", "z"}, a.Args())
	}
	_, err := Named("rm -rf")
	require.ErrorContains(t, err, `there is no action "rm -rf"`)
}

// In a chat, the commands that it takes begin with a slash. Others, those elsewhere and those of git stay as they are.
func TestInChat(t *testing.T) {
	InChat()
	t.Cleanup(func() { inChat.Store(false) })
	for want, a := range map[string]Action{
		"/continue n72i":                  Continue("n72i"),
		"/continue":                       ContinueSession,
		"/continue n72i -m PROVIDER/NAME": ContinueModel("n72i"),
		"/undo n72i@5":                    UndoEventOf("n72i", "5"),
		"/ls --archived":                  ListArchived,
		"jp attach n72i":                  Attach("n72i"),
		"jp -C ../x continue n72i":        Continue("n72i").In("../x"),
		"git stash store 5d41":            StoreStash("5d41"),
		"export X_KEY=…":                  SetKey("X_KEY"),
	} {
		require.Equal(t, want, a.String())
	}
	require.Equal(t, "continue", Continue("n72i").Data().Verb)
}
