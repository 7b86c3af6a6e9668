package wirecheck_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"jp/internal/testing/wirecheck"
)

// A growth is a request and a later one of the same conversation.
type growth struct {
	name           string
	api            wirecheck.API
	base           fields
	earlier, later fields
	where          string // the changed part, or empty
}

var growths = []growth{
	{name: "anthropic grows", api: wirecheck.AnthropicMessages, base: anthropicBase,
		earlier: dialogue(aUser(marked("Q"))), later: dialogue(aUser(say("Q")), aAnswer(say("M")), aUser(marked("Q2")))},
	{name: "anthropic, paused answer goes on", api: wirecheck.AnthropicMessages, base: anthropicBase,
		earlier: dialogue(aUser(say("Q")), aAnswer(serverUse)), later: dialogue(aUser(say("Q")), aAnswer(serverUse, serverDone, say("M")), aUser(say("Q2")))},
	{name: "anthropic, finished answer changed", api: wirecheck.AnthropicMessages, base: anthropicBase, where: "messages[1]",
		earlier: dialogue(aUser(say("Q")), aAnswer(serverUse)), later: dialogue(aUser(say("Q")), aAnswer(serverDone), aUser(say("Q2")))},
	{name: "anthropic, system changed", api: wirecheck.AnthropicMessages, base: anthropicBase, where: "system",
		later: dialogue(aUser(say("Q")), aAnswer(say("M")), aUser(say("Q2"))).and("system", `"be long"`)},
	{name: "anthropic, message changed", api: wirecheck.AnthropicMessages, base: anthropicBase, where: "messages[0]",
		later: dialogue(aUser(say("Q?")), aAnswer(say("M")), aUser(say("Q2")))},
	{name: "anthropic, thinking left out", api: wirecheck.AnthropicMessages, base: anthropicBase, where: "messages[1]",
		earlier: twoThoughts(), later: dialogue(aUser(say("Q")), aAnswer(use("1")), aUser(got("1")), aAnswer(thought("s2"), use("2")), aUser(got("2")), aAnswer(say("M")), aUser(say("Q2")))},
	{name: "no answer", api: wirecheck.AnthropicMessages, base: anthropicBase, where: "messages"},
	{name: "chat grows", api: wirecheck.OpenAIChat, base: chatBase,
		earlier: dialogue(cUser("Q")), later: cTurn("")},
	{name: "chat, a message is gone", api: wirecheck.OpenAIChat, base: chatBase, where: "messages[2]",
		earlier: cTurn(""), later: dialogue(cUser("Q"), cAnswer("null", "", cCall("1")))},
	{name: "chat, tools changed", api: wirecheck.OpenAIChat, base: chatBase, where: "tools",
		earlier: dialogue(cUser("Q")), later: cTurn("").and("tools", "")},
	{name: "responses grow", api: wirecheck.OpenAIResponses, base: responsesBase, later: thinker()},
	{name: "responses, instructions changed", api: wirecheck.OpenAIResponses, base: responsesBase, where: "instructions",
		later: thinker().and("instructions", `"be long"`)},
	{name: "gemini grows", api: wirecheck.GeminiContents, base: geminiBase, later: called(gCall("read", "s"), gResult("read"))},
	{name: "gemini, content changed", api: wirecheck.GeminiContents, base: geminiBase, where: "contents[0]",
		later: contents(gUser(gText("Q"), gText("more")), gModel(gText("M")), gUser(gText("Q2")))},
}

func TestAppendOnly(t *testing.T) {
	for _, g := range growths {
		t.Run(g.name, func(t *testing.T) {
			found := wirecheck.AppendOnly(g.api, g.base.with(g.earlier), g.base.with(g.later))
			if g.where == "" {
				require.Empty(t, found)
				return
			}
			require.Len(t, found, 1, "%v", found)
			require.Equal(t, "V1", found[0].Rule)
			require.Equal(t, g.where, found[0].Where)
		})
	}
}

func TestAppendOnlyOfWhatIsNoRequest(t *testing.T) {
	for _, body := range []string{"", "[]", "{"} {
		require.Equal(t, []string{wirecheck.Format}, ruleSet(wirecheck.AppendOnly(wirecheck.OpenAIChat, []byte(body), []byte("{}"))))
		require.Equal(t, []string{wirecheck.Format}, ruleSet(wirecheck.AppendOnly(wirecheck.OpenAIChat, []byte("{}"), []byte(body))))
	}
	require.Equal(t, []string{wirecheck.Format}, ruleSet(wirecheck.AppendOnly(wirecheck.API(9), []byte("{}"), []byte("{}"))))
}

func TestSame(t *testing.T) {
	require.Empty(t, wirecheck.Same([]byte("abc"), []byte("abc")))
	for _, other := range []string{"abd", "ab", "abcd", ""} {
		found := wirecheck.Same([]byte("abc"), []byte(other))
		require.Equal(t, []string{"V2"}, ruleSet(found), other)
	}
	require.Contains(t, wirecheck.Same([]byte("abc"), []byte("abd"))[0].Problem, "byte 2")
}
