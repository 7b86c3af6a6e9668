package shell

import (
	"encoding/json"
	"path/filepath"

	"jp/conversation"
	"jp/internal/lazy"
	"jp/tool"
	"jp/tool/command"
)

// noteNetwork ends the result of a program that failed for lack of a network.
const noteNetwork = "[network is off in the sandbox: N runs it again with network]"

// networkFailure matches the messages of programs that fail to resolve a name, connect or listen.
var networkFailure = lazy.Regexp(`(?i)resolve (host|proxy)|name resolution|name or service not known|network is unreachable|` +
	`getaddrinfo|socket: (permission denied|operation not permitted)|(dial|listen) (tcp|udp)|(listen|connect|bind) EACCES|` +
	`failed to (connect|establish a new connection)|couldn't connect to|socket\.py|creating socket|socket creation|` +
	`connection refused|ECONNREFUSED|ENETUNREACH|EADDRNOTAVAIL|cannot assign requested address|no route to host`)

// needsNetwork reports whether the output of a program shows that it failed for lack of a network.
func needsNetwork(ended command.Ending, out *tool.Capture) bool {
	content, _ := out.Content()
	return !ended.Success() && networkFailure().Match(content)
}

// networkQuestion asks whether a program runs again with the network.
func networkQuestion(name string) *tool.Question {
	return &tool.Question{ID: tool.QuestionNetwork, Optional: true, Question: conversation.Question{
		Text:       "Network is off in the sandbox, and " + quote(filepath.Base(name)) + " failed. Run it again, this once with the network?",
		AnswerType: conversation.AnswerType{Type: "boolean"}, Default: json.RawMessage("false"),
	}}
}
