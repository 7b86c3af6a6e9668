package wirecheck_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"jp/internal/testing/wirecheck"
)

func aUser(blocks ...string) string {
	return `{"role":"user","content":` + array(blocks...) + `}`
}

func aAnswer(blocks ...string) string {
	return `{"role":"assistant","content":` + array(blocks...) + `}`
}

func say(s string) string { return `{"type":"text","text":` + quoted(s) + `}` }

func marked(s string) string {
	return `{"type":"text","text":` + quoted(s) + `,"cache_control":{"type":"ephemeral"}}`
}

func use(id string) string { return useOf(id, "read", `{"path":"a.go"}`) }

func useOf(id, name, input string) string {
	return `{"type":"tool_use","id":"` + id + `","name":"` + name + `","input":` + input + `}`
}

func got(id string) string { return gotThis(id, `"done"`) }

func gotThis(id, content string) string {
	return `{"type":"tool_result","tool_use_id":"` + id + `","content":` + content + `}`
}

func thought(signature string) string {
	return `{"type":"thinking","thinking":"","signature":"` + signature + `"}`
}

func picture(media string, data []byte) string {
	return `{"type":"image","source":{"type":"base64","media_type":"` + media + `","data":"` + base64.StdEncoding.EncodeToString(data) + `"}}`
}

const (
	redacted   = `{"type":"redacted_thinking","data":"xyz"}`
	serverUse  = `{"type":"server_tool_use","id":"srv1","name":"web_search","input":{}}`
	serverDone = `{"type":"web_search_tool_result","tool_use_id":"srv1","content":[]}`
	document   = `{"type":"document","source":{"type":"text","media_type":"text/plain","data":"x"}}`
	manual     = `{"type":"enabled","budget_tokens":2000}`
	adaptive   = `{"type":"adaptive"}`
)

var (
	png           = []byte("\x89PNG\r\n\x1a\n0000")
	anthropicBase = fields{
		"model": `"claude"`, "max_tokens": "1000", "stream": "true", "system": array(say("be brief")),
		"tools":    `[{"name":"read","input_schema":{"type":"object"}},{"name":"write","input_schema":{"type":"object"}}]`,
		"messages": array(aUser(say("Q"))),
	}
)

func dialogue(messages ...string) fields { return fields{"messages": array(messages...)} }

// and are members beside those of the body.
func (f fields) and(key, value string) fields {
	f[key] = value
	return f
}

var claude = func(m wirecheck.AnthropicModel) wirecheck.Capability { return wirecheck.Capability{Anthropic: m} }

var anthropicGood = []bodyTest{
	{name: "S1", body: dialogue(aUser(say("Q"), say("the tree moved")))},
	{name: "string content and system", body: dialogue(`{"role":"user","content":"Q"}`).and("system", `"be brief"`)},
	{name: "S2", body: dialogue(aUser(say("Q")), aAnswer(say("M")), aUser(say("Q2")))},
	{name: "S4", body: dialogue(aUser(say("Q")), aAnswer(say("M"), use("1"), use("2")), aUser(got("1"), got("2"), say("resumed")))},
	{name: "S5", body: dialogue(aUser(say("Q")), aAnswer(use("1")), aUser(got("1")))},
	{name: "S7", body: dialogue(aUser(say("Q")), aAnswer(use("1")), aUser(got("1")), aAnswer(say("M"), use("2")), aUser(got("2")))},
	{name: "S15 stopped, next query", body: dialogue(aUser(say("Q")), aAnswer(say("P"), use("1")), aUser(got("1"), say("Q2")))},
	{name: "cut off call", body: dialogue(aUser(say("Q")), aAnswer(useOf("1", "read", "{}")), aUser(got("1"))), c: wirecheck.Capability{Malformed: []string{"1"}}},
	{name: "no tools", body: fields{"tools": ""}},
	{name: "cloud", body: fields{"model": "", "anthropic_version": `"vertex"`}},
	{name: "manual thinking", body: dialogue(aUser(say("Q")), aAnswer(thought("s"), say("M"), use("1")), aUser(got("1"))).and("thinking", manual)},
	{name: "redacted first", body: dialogue(aUser(say("Q")), aAnswer(redacted, use("1")), aUser(got("1"))).and("thinking", manual)},
	{name: "adaptive, old answer without thinking", body: dialogue(aUser(say("Q")), aAnswer(use("1")), aUser(got("1"))).and("thinking", adaptive)},
	{name: "manual in the next turn of another model's", body: dialogue(aUser(say("Q")), aAnswer(say("M")), aUser(say("Q2"))).and("thinking", manual)},
	{name: "always thinks", body: dialogue(aUser(say("Q")), aAnswer(thought("s"), say("M")), aUser(say("Q2"))), c: claude(wirecheck.AnthropicModel{Thinking: wirecheck.ThinkingAlways})},
	{name: "images", body: dialogue(aUser(say("Q"), picture("image/png", png)), aAnswer(use("1")), aUser(gotThis("1", array(say("a"), picture("image/gif", []byte("GIF89a.."))))))},
	{name: "images of every kind", body: dialogue(aUser(picture("image/jpeg", []byte("\xff\xd8\xff\xe0")), picture("image/gif", []byte("GIF87a..")), picture("image/webp", []byte("RIFF0000WEBPVP8 "))))},
	{name: "images kept elsewhere", body: dialogue(aUser(`{"type":"image","source":{"type":"url","url":"https://example.org/a.png"}}`, `{"type":"image","source":{"type":"file","file_id":"f1"}}`))},
	{name: "documents", body: dialogue(aUser(document), aAnswer(use("1")), aUser(gotThis("1", array(document))))},
	{name: "server tool with result", body: dialogue(aUser(say("Q")), aAnswer(serverUse, serverDone, say("M")), aUser(say("Q2")))},
	{name: "open server tool", body: dialogue(aUser(say("Q")), aAnswer(serverUse, use("1")), aUser(got("1")))},
	{name: "four marks", body: dialogue(aUser(marked("a")), aAnswer(marked("b")), aUser(marked("c"))).and("system", array(marked("s")))},
	{name: "structured", body: fields{"output_config": `{"format":{"type":"json_schema","schema":{"type":"object"}}}`}},
	{name: "free choice", body: fields{"thinking": adaptive, "tool_choice": `{"type":"auto"}`, "temperature": "1"}},
	{name: "forced choice without thinking", body: fields{"tool_choice": `{"type":"any"}`, "temperature": "0.2"}},
	{name: "system between", body: dialogue(aUser(say("Q")), `{"role":"system","content":"new"}`), c: claude(wirecheck.AnthropicModel{MidSystem: true})},
	{name: "paused", body: dialogue(aUser(say("Q")), aAnswer(serverUse)), c: claude(wirecheck.AnthropicModel{Paused: json.RawMessage(array(serverUse))})},
	{name: "data", body: dialogue(aUser(say("Q")), aAnswer(say(`{"a":1,"b":"<"}`)), aUser(say("Q2"))), c: wirecheck.Capability{Data: raws(`{"b":"<", "a":1}`)}},
	{name: "turn of another model", body: fields{"thinking": adaptive}, c: wirecheck.Capability{Turn: []byte(`{"model":"other"}`)}},
	{name: "received, first ones dropped", body: twoThoughts(), c: wirecheck.Capability{Received: raws(thought("s0"), thought("s1"), thought("s2"))}},
	{name: "bound", body: twoThoughts(), c: claude(wirecheck.AnthropicModel{Producers: map[string][]byte{
		"s1": anthropicBase.with(dialogue(aUser(say("Q")))),
		"s2": anthropicBase.with(dialogue(aUser(say("Q")), aAnswer(thought("s1"), use("1")), aUser(got("1")))),
	}})},
	{name: "bound elsewhere, but the API drops", body: twoThoughts(), c: claude(wirecheck.AnthropicModel{Drop: true, Producers: map[string][]byte{"s1": []byte("{}")}})},
	{name: "bound, earlier thinking dropped", body: twoThoughts(), c: claude(wirecheck.AnthropicModel{Producers: map[string][]byte{
		"s2": anthropicBase.with(dialogue(aUser(say("Q")), aAnswer(thought("s0"), thought("s1"), use("1")), aUser(got("1")))),
	}})},
}

// twoThoughts is a turn with two steps that begin with thinking.
func twoThoughts() fields {
	return dialogue(aUser(say("Q")), aAnswer(thought("s1"), use("1")), aUser(got("1")), aAnswer(thought("s2"), use("2")), aUser(got("2"))).and("thinking", adaptive)
}

var anthropicBad = []bodyTest{
	{rule: "format", name: "no limit", body: fields{"max_tokens": ""}},
	{rule: "format", name: "unknown block", body: dialogue(aUser(`{"type":"video"}`))},
	{rule: "format", name: "result in an answer", body: dialogue(aUser(say("Q")), aAnswer(say("M"), got("1")), aUser(say("Q2")))},
	{rule: "format", name: "tool without schema", body: fields{"tools": `[{"name":"read"}]`}},
	{rule: "format", name: "image from nowhere", body: dialogue(aUser(`{"type":"image","source":{"type":"disk"}}`))},
	{rule: "format", name: "system of images", body: fields{"system": array(picture("image/png", png))}},
	{rule: "format", name: "output of another form", body: fields{"output_format": `{"type":"xml","schema":{}}`}},
	{rule: "format", name: "unknown choice", body: fields{"tool_choice": `{"type":"maybe"}`}},
	{rule: "A1", name: "none", body: fields{"messages": "[]"}},
	{rule: "A1", name: "answer first", body: dialogue(aAnswer(say("M")), aUser(say("Q")))},
	{rule: "A1", name: "answer last", body: dialogue(aUser(say("Q")), aAnswer(say("M")))},
	{rule: "A1", name: "two of the user", body: dialogue(aUser(say("Q")), aUser(say("Q2")))},
	{rule: "A2", name: "text before a result", body: dialogue(aUser(say("Q")), aAnswer(use("1")), aUser(say("no"), got("1")))},
	{rule: "A3", name: "text with an open server tool", body: dialogue(aUser(say("Q")), aAnswer(serverUse, use("1")), aUser(got("1"), say("and")))},
	{rule: "A4", name: "id used twice", body: dialogue(aUser(say("Q")), aAnswer(use("1")), aUser(got("1")), aAnswer(use("1")), aUser(got("1")))},
	{rule: "A4", name: "id with a dot", body: dialogue(aUser(say("Q")), aAnswer(use("a.1")), aUser(got("a.1")))},
	{rule: "A4", name: "long id with a dot", body: dialogue(aUser(say("Q")), aAnswer(use(strings.Repeat("i", 41)+".")), aUser(got(strings.Repeat("i", 41)+".")))},
	{rule: "A4", name: "input is text", body: dialogue(aUser(say("Q")), aAnswer(useOf("1", "read", `"{}"`)), aUser(got("1")))},
	{rule: "A4", name: "result again, later", body: dialogue(aUser(say("Q")), aAnswer(use("1")), aUser(got("1")), aAnswer(say("M")), aUser(got("1")))},
	{rule: "A5", name: "content is an object", body: resultOf(`{}`)},
	{rule: "A5", name: "empty text", body: resultOf(array(say(" ")))},
	{rule: "A5", name: "block in a result", body: resultOf(array(use("2")))},
	{rule: "A5", name: "media type", body: resultOf(array(picture("image/bmp", png)))},
	{rule: "A5", name: "another image than said", body: resultOf(array(picture("image/jpeg", png)))},
	{rule: "A5", name: "not base64", body: dialogue(aUser(`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"?"}}`))},
	{rule: "A5", name: "no known image", body: dialogue(aUser(picture("image/webp", []byte("RIFF0000WAVE"))))},
	{rule: "A5", name: "error is text", body: dialogue(aUser(say("Q")), aAnswer(use("1")), aUser(`{"type":"tool_result","tool_use_id":"1","content":"x","is_error":"true"}`))},
	{rule: "A6", name: "empty block", body: dialogue(aUser(say("")))},
	{rule: "A6", name: "blank block of the system", body: fields{"system": array(say("\n "))}},
	{rule: "A6", name: "five marks", body: dialogue(aUser(marked("a"), marked("b"), marked("c"))).and("system", array(marked("s"), marked("t")))},
	{rule: "A6", name: "mark on thinking", body: dialogue(aUser(say("Q")), aAnswer(`{"type":"redacted_thinking","data":"x","cache_control":{"type":"ephemeral"}}`, say("M")), aUser(say("Q2"))).and("thinking", adaptive)},
	{rule: "A7", name: "no tools", body: dialogue(aUser(say("Q")), aAnswer(use("1")), aUser(got("1"))).and("tools", "")},
	{rule: "A7", name: "two tools of one name", body: fields{"tools": `[{"name":"read","input_schema":{"type":"object"}},{"name":"read","input_schema":{"type":"object"}}]`}},
	{rule: "A8", name: "no signature", body: dialogue(aUser(say("Q")), aAnswer(thought(""), say("M")), aUser(say("Q2"))).and("thinking", adaptive)},
	{rule: "A8", name: "no thinking in it", body: dialogue(aUser(say("Q")), aAnswer(`{"type":"thinking","signature":"s"}`, say("M")), aUser(say("Q2"))).and("thinking", adaptive)},
	{rule: "A8", name: "no data", body: dialogue(aUser(say("Q")), aAnswer(`{"type":"redacted_thinking"}`, say("M")), aUser(say("Q2"))).and("thinking", adaptive)},
	{rule: "A8", name: "thinking last", body: dialogue(aUser(say("Q")), aAnswer(say("M"), thought("s")), aUser(say("Q2"))).and("thinking", adaptive)},
	{rule: "A8", name: "never received", body: twoThoughts(), c: wirecheck.Capability{Received: raws(thought("s2"))}},
	{rule: "A8", name: "out of order", body: twoThoughts(), c: wirecheck.Capability{Received: raws(thought("s2"), thought("s1"))}},
	{rule: "A9", name: "manual, no thinking before the results", body: dialogue(aUser(say("Q")), aAnswer(say("M"), use("1")), aUser(got("1"))).and("thinking", manual)},
	{rule: "A9", name: "off, thinking in the last answer", body: dialogue(aUser(say("Q")), aAnswer(thought("s"), say("M")), aUser(say("Q2")))},
	{rule: "A10", name: "manual on a new model", body: fields{"thinking": manual}, c: claude(wirecheck.AnthropicModel{Thinking: wirecheck.ThinkingAdaptive})},
	{rule: "A10", name: "adaptive on an old model", body: fields{"thinking": adaptive}, c: claude(wirecheck.AnthropicModel{Thinking: wirecheck.ThinkingManual})},
	{rule: "A10", name: "off where it cannot be", body: fields{"thinking": `{"type":"disabled"}`}, c: claude(wirecheck.AnthropicModel{Thinking: wirecheck.ThinkingAlways})},
	{rule: "A10", name: "on where there is none", body: fields{"thinking": adaptive}, c: claude(wirecheck.AnthropicModel{Thinking: wirecheck.ThinkingNone})},
	{rule: "A10", name: "small budget", body: fields{"thinking": `{"type":"enabled","budget_tokens":10}`}},
	{rule: "A10", name: "adaptive with a budget", body: fields{"thinking": `{"type":"adaptive","budget_tokens":2000}`}},
	{rule: "A10", name: "forced tool", body: fields{"thinking": adaptive, "tool_choice": `{"type":"tool","name":"read"}`}},
	{rule: "A10", name: "sampling with thinking", body: fields{"thinking": adaptive, "temperature": "0.5"}},
	{rule: "A10", name: "fixed sampling", body: fields{"top_p": "0.9"}, c: claude(wirecheck.AnthropicModel{FixedSampling: true})},
	{rule: "A10", name: "changed in the turn", body: fields{"thinking": adaptive}, c: wirecheck.Capability{Turn: anthropicBase.with(nil)}},
	{rule: "A11", name: "gap", body: twoThoughts(), c: wirecheck.Capability{Received: raws(thought("s1"), thought("s1b"), thought("s2"))}},
	{rule: "A11", name: "last one left out", body: twoThoughts(), c: wirecheck.Capability{Received: raws(thought("s1"), thought("s2"), thought("s3"))}},
	{rule: "A11", name: "other prefix", body: twoThoughts(), c: claude(wirecheck.AnthropicModel{Producers: map[string][]byte{"s1": anthropicBase.with(dialogue(aUser(say("Q0"))))}})},
	{rule: "A11", name: "other place", body: twoThoughts(), c: claude(wirecheck.AnthropicModel{Producers: map[string][]byte{"s2": anthropicBase.with(dialogue(aUser(say("Q"))))}})},
	{rule: "A12", name: "system between", body: dialogue(aUser(say("Q")), `{"role":"system","content":"new"}`)},
	{rule: "A12", name: "system after an answer", body: dialogue(aUser(say("Q")), aAnswer(say("M")), `{"role":"system","content":"new"}`, aUser(say("Q2"))), c: claude(wirecheck.AnthropicModel{MidSystem: true})},
	{rule: "A13", name: "refused text", body: dialogue(aUser(say("Q"), say("secret plan"))), c: wirecheck.Capability{Refused: []string{"secret"}}},
	{rule: "A14", name: "changed", body: dialogue(aUser(say("Q")), aAnswer(say("M"))), c: claude(wirecheck.AnthropicModel{Paused: json.RawMessage(array(serverUse))})},
	{rule: "A14", name: "not last", body: dialogue(aUser(say("Q")), aAnswer(serverUse, serverDone), aUser(say("Q2"))), c: claude(wirecheck.AnthropicModel{Paused: json.RawMessage(array(serverUse, serverDone))})},
	{rule: "A15", name: "only thinking", body: dialogue(aUser(say("Q")), aAnswer(thought("s")), aUser(say("Q2"))).and("thinking", adaptive)},
	{rule: "P3", name: "results in another order", body: dialogue(aUser(say("Q")), aAnswer(use("1"), use("2")), aUser(got("2"), got("1")))},
	{rule: "P4", name: "no result", body: dialogue(aUser(say("Q")), aAnswer(use("1"), use("2")), aUser(got("1")))},
	{rule: "P4", name: "no call", body: dialogue(aUser(got("1")))},
	{rule: "P4", name: "two results", body: dialogue(aUser(say("Q")), aAnswer(use("1")), aUser(got("1"), got("1")))},
	{rule: "P6", name: "empty content", body: dialogue(`{"role":"user","content":[]}`)},
	{rule: "P6", name: "blank content", body: dialogue(`{"role":"user","content":" \n"}`)},
	{rule: "P6", name: "empty result", body: resultOf(`""`)},
	{rule: "P6", name: "absent result", body: dialogue(aUser(say("Q")), aAnswer(use("1")), aUser(`{"type":"tool_result","tool_use_id":"1"}`))},
	{rule: "P7", name: "NUL", body: dialogue(aUser(say("a\x00b")))},
	{rule: "P8", name: "malformed", body: dialogue(aUser(say("Q")), aAnswer(use("1")), aUser(got("1"))), c: wirecheck.Capability{Malformed: []string{"1"}}},
	{rule: "P8", name: "data not canonical", body: dialogue(aUser(say("Q")), aAnswer(say(`{"a": 1}`)), aUser(say("Q2"))), c: wirecheck.Capability{Data: raws(`{"a":1}`)}},
	{rule: "P11", name: "unknown tool", body: dialogue(aUser(say("Q")), aAnswer(useOf("1", "gone", "{}")), aUser(got("1")))},
	{rule: "P11", name: "name with a dot", body: fields{"tools": `[{"name":"fs.read","input_schema":{"type":"object"}}]`}},
	{rule: "P11", name: "given id is made anew", body: dialogue(aUser(say("Q")), aAnswer(use("1")), aUser(got("1"))), c: wirecheck.Capability{Given: []string{"functions.read:0"}}},
	{rule: "P11", name: "long id", body: dialogue(aUser(say("Q")), aAnswer(use(strings.Repeat("i", 41))), aUser(got(strings.Repeat("i", 41))))},
}

// resultOf is a turn with one call and this result.
func resultOf(content string) fields {
	return dialogue(aUser(say("Q")), aAnswer(use("1")), aUser(gotThis("1", content)))
}

func TestAnthropic(t *testing.T) {
	judge(t, wirecheck.Anthropic, anthropicBase,
		"A1 A2 A3 A4 A5 A6 A7 A8 A9 A10 A11 A12 A13 A14 A15 P3 P4 P6 P7 P8 P11 format", anthropicGood, anthropicBad)
}

func FuzzAnthropic(f *testing.F) {
	fuzz(f, wirecheck.Anthropic, anthropicBase, anthropicGood, anthropicBad)
}
