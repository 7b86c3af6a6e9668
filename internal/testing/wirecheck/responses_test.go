package wirecheck_test

import (
	"strings"
	"testing"

	"jp/internal/testing/wirecheck"
)

func rUser(s string) string { return `{"role":"user","content":` + array(rText("input_text", s)) + `}` }

func rText(kind, s string) string { return `{"type":"` + kind + `","text":` + quoted(s) + `}` }

// rSay is an assistant message, with more members if extra is not empty.
func rSay(s, extra string) string {
	m := `{"type":"message","role":"assistant","content":` + array(rText("output_text", s))
	if extra != "" {
		m += "," + extra
	}
	return m + "}"
}

func rCall(id string) string { return rCallOf(id, "read", `{"path":"a"}`, "") }

func rCallOf(id, name, arguments, extra string) string {
	m := `{"type":"function_call","call_id":"` + id + `","name":"` + name + `","arguments":` + quoted(arguments)
	if extra != "" {
		m += "," + extra
	}
	return m + "}"
}

func rOut(id string) string { return rOutOf(id, `"done"`) }

func rOutOf(id, output string) string {
	return `{"type":"function_call_output","call_id":"` + id + `","output":` + output + `}`
}

func rThink(id string) string {
	return `{"type":"reasoning","id":"` + id + `","summary":[],"encrypted_content":"xyz"}`
}

func input(items ...string) fields { return fields{"input": array(items...)} }

var responsesBase = fields{
	"model": `"gpt"`, "stream": "true", "store": "false", "include": `["reasoning.encrypted_content"]`,
	"instructions": `"be brief"`,
	"tools":        `[{"type":"function","name":"read","parameters":{"type":"object","properties":{}}},{"type":"web_search"}]`,
	"input":        array(rUser("Q")),
}

func openai(m wirecheck.ResponsesModel) wirecheck.Capability {
	return wirecheck.Capability{Responses: m}
}

// thinker is a turn with a reasoning item and the call it came with.
func thinker() fields {
	return input(rUser("Q"), rThink("rs_1"), rCallOf("1", "read", "{}", `"id":"fc_1"`), rOut("1"))
}

var wholeAnswer = wirecheck.Capability{Received: raws(rThink("rs_1"), rCallOf("1", "read", "{}", `"id":"fc_1","status":"completed"`))}

var responsesGood = []bodyTest{
	{name: "S1"},
	{name: "only text", body: fields{"input": `"Q"`}},
	{name: "string content", body: input(`{"role":"developer","content":"be brief"}`, `{"role":"user","content":"Q"}`)},
	{name: "S2", body: input(rUser("Q"), rSay("M", ""), rUser("Q2"))},
	{name: "S4", body: input(rUser("Q"), rSay("M", ""), rCall("1"), rCall("2"), rOut("1"), rOut("2"), rUser("resumed"))},
	{name: "S5", body: input(rUser("Q"), rCall("1"), rOut("1"))},
	{name: "S7", body: input(rUser("Q"), rCall("1"), rOut("1"), rSay("M", ""), rCall("2"), rOut("2"))},
	{name: "reasoning", body: thinker()},
	{name: "reasoning as received", body: thinker(), c: wholeAnswer},
	{name: "reasoning dropped with the ids", body: input(rUser("Q"), rCall("1"), rOut("1")), c: wholeAnswer},
	{name: "another model made it", body: input(rUser("Q"), rCall("1"), rOut("1")), c: wirecheck.Capability{Received: raws()}},
	{name: "two steps", body: input(rUser("Q"), rThink("rs_1"), rCall("1"), rOut("1"), rThink("rs_2"), rSay("M", ""), rUser("Q2"))},
	{name: "search by the server", body: input(rUser("Q"), rThink("rs_1"), `{"type":"web_search_call","id":"ws_1","status":"completed"}`, rSay("M", ""), rUser("Q2"))},
	{name: "phases", body: input(rUser("Q"), rSay("M", `"phase":"commentary"`), rSay("N", `"phase":"final_answer"`), rUser("Q2")), c: openai(wirecheck.ResponsesModel{Phase: true})},
	{name: "images", body: input(`{"role":"user","content":[{"type":"input_image","image_url":"data:"}]}`, rCall("1"), rOutOf("1", `[{"type":"input_image","image_url":"data:"}]`))},
	{name: "structured", body: fields{"text": `{"format":{"type":"json_schema","name":"answer","schema":{}}}`}},
	{name: "no reasoning", body: fields{"include": ""}, c: openai(wirecheck.ResponsesModel{NoReasoning: true})},
	{name: "same turn", c: wirecheck.Capability{Turn: responsesBase.with(nil)}},
	{name: "data in a string", body: input(rUser("Q"), `{"role":"assistant","content":"{\"a\":1}"}`, rUser("Q2")), c: wirecheck.Capability{Data: raws(`{"a": 1}`)}},
	{name: "data", body: input(rUser("Q"), rSay(`{"a":1}`, ""), rUser("Q2")), c: wirecheck.Capability{Data: raws(`{"a":1}`)}},
}

var responsesBad = []bodyTest{
	{rule: "format", name: "unknown item", body: input(rUser("Q"), `{"type":"thing"}`)},
	{rule: "format", name: "input part in an answer", body: input(rUser("Q"), `{"role":"assistant","content":[{"type":"input_text","text":"M"}]}`, rUser("Q2"))},
	{rule: "R1", name: "output before its call", body: input(rUser("Q"), rOut("1"), rCall("1"), rUser("Q2"))},
	{rule: "R1", name: "output behind user text", body: input(rUser("Q"), rCall("1"), rUser("wait"), rOut("1"))},
	{rule: "R1", name: "call between outputs", body: input(rUser("Q"), rCall("1"), rCall("2"), rOut("1"), rCall("3"), rOut("2"), rOut("3"))},
	{rule: "R2", name: "reasoning last", body: input(rUser("Q"), rThink("rs_1"))},
	{rule: "R2", name: "reasoning before user text", body: input(rUser("Q"), rThink("rs_1"), rUser("Q2"))},
	{rule: "R2", name: "reasoning before reasoning", body: input(rUser("Q"), rThink("rs_1"), rThink("rs_2"), rSay("M", ""), rUser("Q2"))},
	{rule: "R2", name: "sibling keeps its id", body: input(rUser("Q"), rCallOf("1", "read", "{}", `"id":"fc_1"`), rOut("1")), c: wholeAnswer},
	{rule: "R2", name: "sibling lost its id", body: input(rUser("Q"), rThink("rs_1"), rCall("1"), rOut("1")), c: wholeAnswer},
	{rule: "R2", name: "reasoning changed", body: thinker(), c: wirecheck.Capability{Received: raws(`{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"abc"}`, rCallOf("1", "read", "{}", `"id":"fc_1"`))}},
	{rule: "R2", name: "order changed", body: input(rUser("Q"), rSay("N", `"id":"msg_2"`), rSay("M", `"id":"msg_1"`), rUser("Q2")), c: wirecheck.Capability{Received: raws(rSay("M", `"id":"msg_1"`), rSay("N", `"id":"msg_2"`))}},
	{rule: "R3", name: "stored", body: fields{"store": ""}},
	{rule: "R3", name: "not encrypted", body: fields{"include": "[]"}},
	{rule: "R3", name: "previous response", body: fields{"previous_response_id": `"resp_1"`}},
	{rule: "R3", name: "reference", body: input(rUser("Q"), `{"type":"item_reference","id":"msg_1"}`)},
	{rule: "R3", name: "reasoning without content", body: input(rUser("Q"), `{"type":"reasoning","id":"rs_1","summary":[]}`, rSay("M", ""), rUser("Q2"))},
	{rule: "R4", name: "reasoning of another account", body: thinker(), c: wirecheck.Capability{Received: raws()}},
	{rule: "R5", name: "long call id", body: input(rUser("Q"), rCall(strings.Repeat("i", 65)), rOut(strings.Repeat("i", 65)))},
	{rule: "R5", name: "long item id", body: input(rUser("Q"), rSay("M", `"id":"`+strings.Repeat("i", 65)+`"`), rUser("Q2"))},
	{rule: "R5", name: "status", body: input(rUser("Q"), rSay("M", `"status":"completed"`), rUser("Q2"))},
	{rule: "R5", name: "arguments", body: input(rUser("Q"), rCallOf("1", "read", "", ""), rOut("1"))},
	{rule: "R6", name: "unknown phase", body: input(rUser("Q"), rSay("M", `"phase":"middle"`), rUser("Q2"))},
	{rule: "R6", name: "no phase", body: input(rUser("Q"), rSay("M", ""), rUser("Q2")), c: openai(wirecheck.ResponsesModel{Phase: true})},
	{rule: "R6", name: "other phase", body: input(rUser("Q"), rSay("M", `"id":"msg_1","phase":"commentary"`), rUser("Q2")), c: wirecheck.Capability{Received: raws(rSay("M", `"id":"msg_1","phase":"final_answer"`))}},
	{rule: "R7", name: "output is an object", body: input(rUser("Q"), rCall("1"), rOutOf("1", "{}"))},
	{rule: "R7", name: "output of the model", body: input(rUser("Q"), rCall("1"), rOutOf("1", array(rText("output_text", "done"))))},
	{rule: "R8", name: "cut off", body: input(rUser("Q"), rCall("1"), rOut("1")), c: openai(wirecheck.ResponsesModel{CutOff: []string{"1"}})},
	{rule: "R9", name: "developer behind", body: input(rUser("Q"), `{"role":"developer","content":"resumed"}`)},
	{rule: "R9", name: "other instructions", c: wirecheck.Capability{Turn: responsesBase.with(fields{"instructions": `"be long"`})}},
	{rule: "P1", name: "refused text", body: input(rUser("secret")), c: wirecheck.Capability{Refused: []string{"secret"}}},
	{rule: "P3", name: "outputs in another order", body: input(rUser("Q"), rCall("1"), rCall("2"), rOut("2"), rOut("1"))},
	{rule: "P4", name: "no output", body: input(rUser("Q"), rCall("1"), rUser("Q2"))},
	{rule: "P4", name: "no call", body: input(rUser("Q"), rOut("1"))},
	{rule: "P11", name: "given id is made anew", body: input(rUser("Q"), rCall("1"), rOut("1")), c: wirecheck.Capability{Given: []string{"functions.read:0"}}},
	{rule: "P4", name: "id used twice", body: input(rUser("Q"), rCall("1"), rOut("1"), rCall("1"), rOut("1"))},
	{rule: "P5", name: "none", body: input()},
	{rule: "P5", name: "answer first", body: input(rSay("M", ""), rUser("Q"))},
	{rule: "P5", name: "answer last", body: input(rUser("Q"), rSay("M", ""))},
	{rule: "P5", name: "two of the user", body: input(rUser("Q"), rUser("Q2"))},
	{rule: "P6", name: "blank text", body: input(rUser(" "))},
	{rule: "P6", name: "blank input", body: fields{"input": `""`}},
	{rule: "P6", name: "no parts", body: input(`{"role":"user","content":[]}`)},
	{rule: "P6", name: "empty output", body: input(rUser("Q"), rCall("1"), rOutOf("1", `""`))},
	{rule: "P7", name: "lone surrogate", body: input(`{"role":"user","content":"a\ud800"}`)},
	{rule: "P8", name: "malformed", body: input(rUser("Q"), rCall("1"), rOut("1")), c: wirecheck.Capability{Malformed: []string{"1"}}},
	{rule: "P8", name: "data left out", c: wirecheck.Capability{Data: raws(`{"a":1}`)}},
	{rule: "P11", name: "unknown tool", body: input(rUser("Q"), rCallOf("1", "gone", "{}", ""), rOut("1"))},
	{rule: "P11", name: "id of 41 characters", body: input(rUser("Q"), rCall(strings.Repeat("i", 41)), rOut(strings.Repeat("i", 41)))},
}

func TestResponses(t *testing.T) {
	judge(t, wirecheck.Responses, responsesBase,
		"R1 R2 R3 R4 R5 R6 R7 R8 R9 P1 P3 P4 P5 P6 P7 P8 P11 format", responsesGood, responsesBad)
}

func FuzzResponses(f *testing.F) {
	fuzz(f, wirecheck.Responses, responsesBase, responsesGood, responsesBad)
}
