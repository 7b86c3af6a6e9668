package journaltest

import (
	"testing"

	"jp/conversation"
)

// Turn is a turn with just its request and answer, numbered from seq 0.
func Turn(t testing.TB, request, answer string) []*conversation.Event {
	t.Helper()
	return NewScript(t).Turn(request).Says(answer).Events()
}

// Sample is a conversation of two complete turns and an incomplete one that
// has nearly everything: reasoning, three tool calls, a permission, a question
// of a tool, and a held result whose delivery question waits.
func Sample(t testing.TB) *Script {
	t.Helper()
	s := NewScript(t)
	s.Turn("What does retry.go do?").Thinks("Look first.").Says("It retries.\n\nThree times, with a pause.")
	s.Records(&conversation.TurnDone{Calls: 1, Input: 120, Output: 34, DurationMS: 900})
	SampleTools(s)
	s.Turn("Publish it.").Calls("call_4", "shell_run", `{"argv":["make","publish"]}`, true)
	s.Asks("call_4", conversation.KindRunTool, "run shell_run make publish?").Answers("call_4", conversation.AnswerRun)
	s.Starts("call_4").Holds("call_4", "published 1.2\n")
	s.Asks("call_4", conversation.KindDeliverResult, "Let the model see the result?")
	return s
}

// SampleTools adds the turn of [Sample] that runs three tools.
func SampleTools(s *Script) *Script {
	s.t.Helper()
	s.Turn("Give it a deadline.").Thinks("Read, then edit.").Mentions("I will read the file and edit it.")
	s.Calls("call_1", "fs_read_file", "{\n  \"path\": \"auth/retry.go\"\n}", false)
	s.Calls("call_2", "fs_modify_file", "{\n  \"path\": \"auth/retry.go\"\n}", false)
	s.Calls("call_3", "fs_create_file", "{\n  \"path\": \"auth/retry_test.go\"\n}", true)
	s.Returns("call_1", "package auth\n")
	s.Asks("call_2", conversation.KindRunTool, "run fs_modify_file auth/retry.go?").Answers("call_2", conversation.AnswerRunTurn)
	s.Starts("call_2").Returns("call_2", "--- auth/retry.go\n+++ auth/retry.go\n")
	s.Starts("call_3").Asks("call_3", conversation.KindToolQuestion, "Overwrite existing file?").Answers("call_3", "yes")
	return s.Returns("call_3", "created").Says("Done.")
}
