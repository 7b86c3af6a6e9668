package agent_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/internal/testing/front"
)

// calling is a model that makes one call after the other, each as NAME ARGUMENTS.
func calling(all ...string) (script string) {
	for _, c := range all {
		name, arguments, _ := strings.Cut(c, " ")
		script += fmt.Sprintf("[[reply]]\n[[reply.tool_call]]\nname = %q\narguments = %s\n", name, arguments)
	}
	return script + says
}

var placeholder = regexp.MustCompile(`\[secret:[a-z-]+:[0-9a-f]{16}\]`)

// TestSecretsOfTools varies the tool to which a model gives a secret. Tools of this machine get it. Tools
// whose input may be published or leaves the machine do not.
func TestSecretsOfTools(t *testing.T) {
	t.Parallel()
	token := "gh" + "p_q7ZtR2mXc9LwB4nKv8HsD1yGf6PjT3eUoA5i"
	const key = "correct-horse-battery"
	for _, row := range []struct {
		name   string
		secret string
		calls  []string // PLACE stands for the placeholder
		wrong  string   // of the first result, a pattern; "": it ran
		file   string   // is then in token.txt
	}{
		{name: "a file", secret: token, calls: []string{`fs_create_file { path = "token.txt", content = "PLACE" }`}, file: token},
		{
			name: "a message of a commit", secret: token, calls: []string{`git_commit { message = "Rotate PLACE", paths = ["file.txt"] }`},
			wrong: `The tool was not run: \[secret:github-pat:[0-9a-f]{16}\] stands for a secret, and jp gives git, whose history may be published, no secrets\. Leave it out of the arguments\.`,
		},
		{name: "another argument of git", secret: token, calls: []string{`git_log { paths = ["PLACE"] }`}, wrong: "jp gives git, whose history may be published, no secrets"},
		{name: "what only looks like a placeholder", secret: token, calls: []string{`git_commit { message = "Say [secret:…]", paths = ["file.txt"] }`}},
		{
			name: "a server", secret: token, calls: []string{`mcp__fake__echo { text = "PLACE" }`, `fs_create_file { path = "token.txt", content = "PLACE" }`}, file: token,
			wrong: `The tool was not run: \[secret:github-pat:[0-9a-f]{16}\] stands for a secret, and jp gives the MCP server fake no secrets\. The user can set it in the environment of the server\.`,
		},
		{
			name: "a provider's key", secret: key, calls: []string{`fs_create_file { path = "token.txt", content = "PLACE" }`},
			wrong: `The tool was not run: the value of \[secret:provider-key:[0-9a-f]{16}\] is not known here\.`,
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s, f := front.New(t), &front.Front{}
			s.Environ = append(s.Environ, "ANTHROPIC_API_KEY="+key)
			served(t, s, true)
			s.Write("file.txt", "more\n")
			s.Write("notes.txt", "The secret is "+row.secret+".\n")
			read := `shell_run { argv = ["sh", "-c", "sed 's/\\.$/ too/' notes.txt >made.txt; cat notes.txt"] }`
			require.NoError(t, s.Ask(f, approved(s.Request(calling(read), "Use "+row.secret+" for it"))))
			id := f.Last().ID
			place := placeholder.FindString(requests(s.Load(id))[0])
			require.Equal(t, "Use "+place+" for it", requests(s.Load(id))[0])
			require.Contains(t, strings.Join(append(s.Notes(), f.Notices()...), "\n"), "1 secret was replaced before recording ("+strings.Split(place, ":")[1]+").")
			result := bodies[*conversation.ToolCallResponse](f.Events())[0]
			require.Contains(t, result.Content, "The secret is "+place)
			require.Contains(t, result.LeftOut, conversation.SkippedPath{Path: "made.txt", Why: "holds a secret (" + strings.Split(place, ":")[1] + ")"})
			require.Contains(t, s.Read("made.txt"), row.secret, "the file has it")

			request := approved(front.Next(id, "Use it"))
			request.Turn.Model = s.Model("[[reply]]\ntimes = 2\n" + strings.ReplaceAll(calling(row.calls...), "PLACE", place))
			before := len(f.Events())
			require.NoError(t, s.Ask(f, request))
			result = bodies[*conversation.ToolCallResponse](f.Events()[before:])[0]
			require.Equal(t, row.wrong != "", result.IsError, result.Content)
			require.Regexp(t, row.wrong, result.Content)
			require.Equal(t, row.file, s.Read("token.txt"))
			if row.wrong == "" && row.file == "" {
				require.Equal(t, "Say [secret:…]", s.Git("log", "--format=%s", "-1"))
			}
			require.NotContains(t, s.Git("cat-file", "--batch-all-objects", "--batch", "--unordered"), row.secret)
			kept := fmt.Sprintf("alias.kept=!grep -srlaF --exclude-dir=backups --exclude-dir=secrets -e %s .git %s/.local/state/jp %[2]s/log || true", row.secret, s.Home)
			require.Empty(t, s.Git("-c", kept, "kept"), "neither jp's files nor the server have it")
		})
	}
}
