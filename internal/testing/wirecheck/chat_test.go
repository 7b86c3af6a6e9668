package wirecheck_test

import (
	"strings"
	"testing"

	"jp/internal/testing/wirecheck"
)

func cUser(s string) string { return `{"role":"user","content":` + quoted(s) + `}` }

func cTool(id string) string {
	return `{"role":"tool","tool_call_id":"` + id + `","content":"done"}`
}

// cAnswer is an assistant message with calls, and more members if extra is not
// empty.
func cAnswer(content, extra string, calls ...string) string {
	m := `{"role":"assistant","content":` + content
	if len(calls) > 0 {
		m += `,"tool_calls":` + array(calls...)
	}
	if extra != "" {
		m += "," + extra
	}
	return m + "}"
}

func cCall(id string) string { return cCallOf(id, "read", `{"path":"a"}`) }

func cCallOf(id, name, arguments string) string {
	return `{"type":"function","id":"` + id + `","function":{"name":"` + name + `","arguments":` + quoted(arguments) + `}}`
}

// cTurn is a user message, one call and its result.
func cTurn(extra string) fields {
	return dialogue(cUser("Q"), cAnswer("null", extra, cCall("1")), cTool("1"))
}

var chatBase = fields{
	"model": `"gpt"`, "stream": "true",
	"tools":    `[{"type":"function","function":{"name":"read","parameters":{"type":"object","properties":{}}}}]`,
	"messages": array(`{"role":"system","content":"be brief"}`, cUser("Q")),
}

func endpoint(d wirecheck.ChatDialect) wirecheck.Capability { return wirecheck.Capability{Chat: d} }

// ollama is a turn of Ollama's own API.
func ollama(toolName string) fields {
	return dialogue(cUser("Q"), `{"role":"assistant","content":"","thinking":"hm","tool_calls":[{"function":{"name":"read","arguments":{"path":"a"}}}]}`,
		`{"role":"tool","tool_name":"`+toolName+`","content":"done"}`)
}

var local = endpoint(wirecheck.ChatDialect{ToolNames: true, ReasoningBack: wirecheck.ReasoningAll})

const image = `{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}`

var chatGood = []bodyTest{
	{name: "S1"},
	{name: "no system", body: dialogue(cUser("Q"))},
	{name: "S2", body: dialogue(cUser("Q"), cAnswer(`"M"`, ""), cUser("Q2"))},
	{name: "S4", body: dialogue(cUser("Q"), cAnswer(`"M"`, "", cCall("1"), cCall("2")), cTool("1"), cTool("2"), cUser("resumed"))},
	{name: "S5", body: cTurn("")},
	{name: "S7", body: dialogue(cUser("Q"), cAnswer("null", "", cCall("1")), cTool("1"), cAnswer(`"M"`, "", cCall("2")), cTool("2"))},
	{name: "cut off call", body: dialogue(cUser("Q"), cAnswer("null", "", cCallOf("1", "read", "{}")), cTool("1")), c: wirecheck.Capability{Malformed: []string{"1"}}},
	{name: "images behind results", body: dialogue(cUser("Q"), cAnswer("null", "", cCall("1")), cTool("1"), `{"role":"user","content":`+array(say("Image from read, result of 1:"), image, say("Q2"))+`}`)},
	{name: "images in results", body: dialogue(cUser("Q"), cAnswer("null", "", cCall("1")), `{"role":"tool","tool_call_id":"1","content":`+array(image)+`}`), c: endpoint(wirecheck.ChatDialect{ImagesInTool: true})},
	{name: "structured", body: fields{"response_format": `{"type":"json_schema","json_schema":{"name":"answer","schema":{}}}`, "tool_choice": `"none"`}},
	{name: "nine characters", body: dialogue(cUser("Q"), cAnswer("null", "", cCall("abcdefgh1")), cTool("abcdefgh1")), c: endpoint(wirecheck.ChatDialect{AlnumIDs: true})},
	{name: "bridge", body: dialogue(cUser("Q"), cAnswer("null", "", cCall("1")), cTool("1"), cAnswer(`"Understood."`, ""), cUser("Q2")), c: endpoint(wirecheck.ChatDialect{UserAfterTool: wirecheck.UserBridged})},
	{name: "reasoning in tool turns", body: cTurn(`"reasoning_content":" "`), c: endpoint(wirecheck.ChatDialect{ReasoningBack: wirecheck.ReasoningToolTurns})},
	{name: "reasoning off", body: cTurn("").and("thinking", `{"type":"disabled"}`), c: endpoint(wirecheck.ChatDialect{ReasoningBack: wirecheck.ReasoningAll})},
	{name: "reasoning details", body: cTurn(`"reasoning_details":[{"a":1}]`), c: wirecheck.Capability{Chat: wirecheck.ChatDialect{ReasoningDetails: true}, Received: raws(`[{"a": 1}]`)}},
	{name: "extra content", body: cTurn(`"extra_content":{}`), c: endpoint(wirecheck.ChatDialect{ExtraContent: true})},
	{name: "an empty string beside calls", body: dialogue(cUser("Q"), cAnswer(`""`, "", cCall("1")), cTool("1")), c: endpoint(wirecheck.ChatDialect{EmptyContent: true})},
	{name: "given id", body: dialogue(cUser("Q"), cAnswer("null", "", cCall("functions.read:0")), cTool("functions.read:0")), c: wirecheck.Capability{Given: []string{"functions.read:0"}}},
	{name: "given id of 64", body: dialogue(cUser("Q"), cAnswer("null", "", cCall(strings.Repeat("i", 64))), cTool(strings.Repeat("i", 64))), c: wirecheck.Capability{Given: []string{strings.Repeat("i", 64)}}},
	{name: "given id that cannot go back", body: cTurn(""), c: wirecheck.Capability{Given: []string{"a\n", strings.Repeat("i", 65)}}},
	{name: "numbered id", body: dialogue(cUser("Q"), cAnswer("null", "", cCall("functions.read:0")), cTool("functions.read:0")), c: endpoint(wirecheck.ChatDialect{NumberedIDs: true})},
	{name: "limits", body: fields{"max_tokens": "5", "parallel_tool_calls": "true"}, c: endpoint(wirecheck.ChatDialect{MaxTokens: "max_tokens", ParallelToolCalls: true})},
	{name: "Ollama", body: ollama("read"), c: local},
	{name: "data", body: dialogue(cUser("Q"), cAnswer(quoted(`{"a":1}`), ""), cUser("Q2")), c: wirecheck.Capability{Data: raws(`{"a":1}`)}},
}

var chatBad = []bodyTest{
	{rule: "format", name: "no model", body: fields{"model": ""}},
	{rule: "format", name: "unknown part", body: dialogue(`{"role":"user","content":[{"type":"video"}]}`)},
	{rule: "format", name: "call without a type", body: dialogue(cUser("Q"), cAnswer("null", "", strings.Replace(cCall("1"), "function", "fn", 1)), cTool("1"))},
	{rule: "C1", name: "user between", body: dialogue(cUser("Q"), cAnswer("null", "", cCall("1")), cUser("wait"), cTool("1"))},
	{rule: "C1", name: "result again, later", body: dialogue(cUser("Q"), cAnswer("null", "", cCall("1")), cTool("1"), cUser("Q2"), cAnswer(`"M"`, ""), cTool("1"))},
	{rule: "C1", name: "Ollama, result missing", body: dialogue(cUser("Q"), `{"role":"assistant","thinking":"hm","tool_calls":[{"function":{"name":"read","arguments":{}}}]}`, cUser("Q2")), c: local},
	{rule: "C2", name: "empty answer", body: dialogue(cUser("Q"), cAnswer(`""`, "", cCall("1")), cTool("1"))},
	{rule: "C2", name: "no content beside calls", body: dialogue(cUser("Q"), `{"role":"assistant","tool_calls":[`+cCall("1")+`]}`, cTool("1"))},
	{rule: "C2", name: "null where a string is wanted", body: dialogue(cUser("Q"), cAnswer("null", "", cCall("1")), cTool("1")), c: endpoint(wirecheck.ChatDialect{EmptyContent: true})},
	{rule: "C2", name: "null without calls", body: dialogue(cUser("Q"), cAnswer("null", ""), cUser("Q2"))},
	{rule: "C2", name: "arguments are a list", body: dialogue(cUser("Q"), cAnswer("null", "", cCallOf("1", "read", "[]")), cTool("1"))},
	{rule: "C2", name: "arguments cut off", body: dialogue(cUser("Q"), cAnswer("null", "", cCallOf("1", "read", `{"a":`)), cTool("1"))},
	{rule: "C3", name: "image in a result", body: dialogue(cUser("Q"), cAnswer("null", "", cCall("1")), `{"role":"tool","tool_call_id":"1","content":`+array(image)+`}`)},
	{rule: "C4", name: "long id", body: dialogue(cUser("Q"), cAnswer("null", "", cCall(strings.Repeat("i", 41))), cTool(strings.Repeat("i", 41)))},
	{rule: "C4", name: "id used twice", body: dialogue(cUser("Q"), cAnswer("null", "", cCall("1")), cTool("1"), cAnswer("null", "", cCall("1")), cTool("1"))},
	{rule: "C4", name: "long name", body: fields{"tools": `[{"type":"function","function":{"name":"` + strings.Repeat("n", 65) + `"}}]`}},
	{rule: "C5", name: "system behind", body: dialogue(cUser("Q"), `{"role":"system","content":"now this"}`)},
	{rule: "C5", name: "two of them", body: dialogue(`{"role":"system","content":"a"}`, `{"role":"developer","content":"b"}`, cUser("Q"))},
	{rule: "C6", name: "answer last", body: dialogue(cUser("Q"), cAnswer(`"M"`, ""))},
	{rule: "C7", name: "user after tool", body: dialogue(cUser("Q"), cAnswer("null", "", cCall("1")), cTool("1"), cUser("Q2")), c: endpoint(wirecheck.ChatDialect{UserAfterTool: wirecheck.UserFolded})},
	{rule: "C7", name: "id not of nine", body: cTurn(""), c: endpoint(wirecheck.ChatDialect{AlnumIDs: true})},
	{rule: "C7", name: "reasoning back", body: cTurn(`"reasoning_content":"hm"`)},
	{rule: "C7", name: "empty reasoning", body: cTurn(`"reasoning_content":""`), c: endpoint(wirecheck.ChatDialect{ReasoningBack: wirecheck.ReasoningToolTurns})},
	{rule: "C7", name: "no reasoning", body: dialogue(cUser("Q"), cAnswer(`"M"`, ""), cUser("Q2")), c: endpoint(wirecheck.ChatDialect{ReasoningBack: wirecheck.ReasoningAll})},
	{rule: "C7", name: "details unknown", body: cTurn(`"reasoning_details":[{}]`)},
	{rule: "C7", name: "details changed", body: cTurn(`"reasoning_details":[{"a":2}]`), c: wirecheck.Capability{Chat: wirecheck.ChatDialect{ReasoningDetails: true}, Received: raws(`[{"a":1}]`)}},
	{rule: "C7", name: "extra content", body: cTurn(`"extra_content":{}`)},
	{rule: "C7", name: "other limit", body: fields{"max_tokens": "5"}, c: endpoint(wirecheck.ChatDialect{MaxTokens: "max_completion_tokens"})},
	{rule: "C7", name: "two limits", body: fields{"max_tokens": "5", "max_completion_tokens": "5"}},
	{rule: "C7", name: "parallel", body: fields{"parallel_tool_calls": "false"}},
	{rule: "C7", name: "Ollama, other tool", body: ollama("write"), c: local},
	{rule: "C8", name: "forced tool", body: fields{"tool_choice": `{"type":"function","function":{"name":"read"}}`}},
	{rule: "C8", name: "required tool", body: fields{"tool_choice": `"required"`}},
	{rule: "C8", name: "no schema", body: fields{"response_format": `{"type":"json_schema"}`}},
	{rule: "C8", name: "unknown format", body: fields{"response_format": `{"type":"xml"}`}},
	{rule: "P1", name: "refused text", body: dialogue(cUser("secret")), c: wirecheck.Capability{Refused: []string{"secret"}}},
	{rule: "P2", name: "two answers", body: dialogue(cUser("Q"), cAnswer(`"M"`, ""), cAnswer(`"N"`, ""), cUser("Q2"))},
	{rule: "P3", name: "results in another order", body: dialogue(cUser("Q"), cAnswer("null", "", cCall("1"), cCall("2")), cTool("2"), cTool("1"))},
	{rule: "P4", name: "no result", body: dialogue(cUser("Q"), cAnswer("null", "", cCall("1")), cUser("Q2"))},
	{rule: "P4", name: "no call", body: dialogue(cUser("Q"), cTool("1"))},
	{rule: "P4", name: "two results", body: dialogue(cUser("Q"), cAnswer("null", "", cCall("1")), cTool("1"), cTool("1"))},
	{rule: "P5", name: "none", body: dialogue(`{"role":"system","content":"a"}`)},
	{rule: "P5", name: "answer first", body: dialogue(cAnswer(`"M"`, ""), cUser("Q"))},
	{rule: "P5", name: "two of the user", body: dialogue(cUser("Q"), cUser("Q2"))},
	{rule: "P6", name: "blank user", body: dialogue(cUser(" "))},
	{rule: "P6", name: "blank answer", body: dialogue(cUser("Q"), cAnswer(`"\n"`, ""), cUser("Q2"))},
	{rule: "P6", name: "empty part", body: dialogue(`{"role":"user","content":` + array(say("")) + `}`)},
	{rule: "P6", name: "empty result", body: dialogue(cUser("Q"), cAnswer("null", "", cCall("1")), `{"role":"tool","tool_call_id":"1","content":""}`)},
	{rule: "P6", name: "no calls", body: dialogue(cUser("Q"), `{"role":"assistant","content":"M","tool_calls":[]}`, cUser("Q2"))},
	{rule: "P7", name: "NUL inside arguments", body: dialogue(cUser("Q"), cAnswer("null", "", cCallOf("1", "read", `{"a":"\u0000"}`)), cTool("1"))},
	{rule: "P8", name: "malformed", body: cTurn(""), c: wirecheck.Capability{Malformed: []string{"1"}}},
	{rule: "P11", name: "unknown tool", body: dialogue(cUser("Q"), cAnswer("null", "", cCallOf("1", "gone", "{}")), cTool("1"))},
	{rule: "C4", name: "long id, not given", body: dialogue(cUser("Q"), cAnswer("null", "", cCall(strings.Repeat("i", 64))), cTool(strings.Repeat("i", 64))), c: wirecheck.Capability{Given: []string{}}},
	{rule: "C4", name: "given id of 65", body: dialogue(cUser("Q"), cAnswer("null", "", cCall(strings.Repeat("i", 65))), cTool(strings.Repeat("i", 65))), c: wirecheck.Capability{Given: []string{strings.Repeat("i", 65)}}},
	{rule: "C7", name: "id without a number", body: cTurn(""), c: endpoint(wirecheck.ChatDialect{NumberedIDs: true})},
	{rule: "P11", name: "given id is made anew", body: cTurn(""), c: wirecheck.Capability{Given: []string{"functions.read:0"}}},
	{rule: "P11", name: "id with a dot", body: dialogue(cUser("Q"), cAnswer("null", "", cCall("a.1")), cTool("a.1"))},
	{rule: "P11", name: "two tools of one name", body: fields{"tools": `[{"type":"function","function":{"name":"read"}},{"type":"function","function":{"name":"read"}}]`}},
}

func TestChat(t *testing.T) {
	judge(t, wirecheck.Chat, chatBase, "C1 C2 C3 C4 C5 C6 C7 C8 P1 P2 P3 P4 P5 P6 P7 P8 P11 format", chatGood, chatBad)
}

func FuzzChat(f *testing.F) { fuzz(f, wirecheck.Chat, chatBase, chatGood, chatBad) }
