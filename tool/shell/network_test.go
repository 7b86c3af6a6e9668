package shell_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/tool"
	"jp/tool/command"
	"jp/tool/shell"
)

// A program that fails without the network runs again with it if a person lets it.
func TestNetworkOnce(t *testing.T) {
	launch := func(word string) command.Launcher {
		return func(argv []string, _ string) (command.Launch, error) {
			return command.Launch{Argv: argv, Env: []string{"NETWORK=" + word}}, nil
		}
	}
	f := newFixture(t, shell.Options{Launch: launch("off"), Online: launch("on"), Note: "[confined]"})
	require.True(t, f.tool.Definition().Offline)
	require.True(t, f.tool.Definition().Questions[tool.QuestionNetwork].Exclusive)
	script := sh(`echo $NETWORK; [ $NETWORK = on ] || { echo 'curl: (6) Could not resolve host: x'; exit 6; }`)
	const failed = "off\ncurl: (6) Could not resolve host: x\nexit status 6\n[confined]\n[network is off in the sandbox: N runs it again with network]\n"

	result := f.run(t, script)
	require.Equal(t, failed, string(result.Content))
	require.Equal(t, "Network is off in the sandbox, and sh failed. Run it again, this once with the network?", result.Question.Text)
	require.True(t, result.Question.Optional)
	for answer, want := range map[string]string{"true": "on\n", "false": failed} {
		_ = f.run(t, script)
		result, err := f.start(t, t.Context(), script, tool.Call{Network: answer == "true", Answers: map[string]json.RawMessage{"network": json.RawMessage(answer)}})
		require.NoError(t, err)
		require.Equal(t, want, string(result.Content))
		require.Nil(t, result.Question)
	}
	f = newFixture(t, shell.Options{Launch: launch("off"), Online: launch("on")})
	result, err := f.start(t, t.Context(), script, tool.Call{Answers: map[string]json.RawMessage{"network": json.RawMessage("false")}})
	require.NoError(t, err)
	require.Equal(t, "it failed without the network, and its output was lost", string(result.Content), "after a crash it is not run once more")

	for text, want := range map[string]bool{
		"dial tcp: lookup proxy.golang.org: connection refused": true, "socket: Permission denied": true, "listen tcp 127.0.0.1:0: socket: permission denied": true,
		"Error: listen EACCES: permission denied 127.0.0.1": true, "getaddrinfo EAI_AGAIN x": true, "connect ECONNREFUSED ::1:5432": true,
		`connection to server at "localhost" (127.0.0.1), port 5432 failed: Connection refused`: true, "connect ENETUNREACH 192.0.2.1:80": true, "bind: Cannot assign requested address": true,
		"No route to host": true, "Temporary failure in name resolution": true,
		"cat: x: Permission denied": false, "FAIL: TestNetwork": false,
	} {
		require.Equal(t, want, f.run(t, arguments{"argv": []string{"sh", "-c", `echo "$0"; exit 1`, text}}).Question != nil, text)
		require.Nil(t, f.run(t, arguments{"argv": []string{"echo", text}}).Question, text)
	}
	f = newFixture(t, shell.Options{Launch: launch("on")})
	require.False(t, f.tool.Definition().Offline)
	require.Nil(t, f.run(t, sh("echo socket: permission denied; exit 1")).Question)
}
