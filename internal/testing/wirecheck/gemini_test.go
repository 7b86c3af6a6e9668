package wirecheck_test

import (
	"strings"
	"testing"

	"jp/internal/testing/wirecheck"
)

func gUser(parts ...string) string { return `{"role":"user","parts":` + array(parts...) + `}` }

func gModel(parts ...string) string { return `{"role":"model","parts":` + array(parts...) + `}` }

func gText(s string) string { return `{"text":` + quoted(s) + `}` }

// gCall is a call with a signature, if that is not empty.
func gCall(name, signature string) string {
	p := `{"functionCall":{"name":"` + name + `","args":{"path":"a"}}`
	if signature != "" {
		p += `,"thoughtSignature":"` + signature + `"`
	}
	return p + "}"
}

func gResult(name string) string { return gResultOf(name, `{"output":"done"}`, "") }

func gResultOf(name, response, extra string) string {
	p := `{"functionResponse":{"name":"` + name + `","response":` + response
	if extra != "" {
		p += "," + extra
	}
	return p + "}}"
}

// gCallID is a call with an id, and gResultID its result.
func gCallID(id string) string {
	return `{"functionCall":{"id":"` + id + `","name":"read","args":{"path":"a"}},"thoughtSignature":"s"}`
}

func gResultID(id string) string { return gResultOf("read", `{"output":"done"}`, `"id":"`+id+`"`) }

func contents(all ...string) fields { return fields{"contents": array(all...)} }

var geminiBase = fields{
	"systemInstruction": `{"parts":[{"text":"be brief"}]}`,
	"tools":             `[{"functionDeclarations":[{"name":"read"},{"name":"write"}]}]`,
	"contents":          array(gUser(gText("Q"))),
}

func google(m wirecheck.GeminiModel) wirecheck.Capability { return wirecheck.Capability{Gemini: m} }

const (
	dummy  = "skip_thought_signature_validator"
	schema = `{"responseMimeType":"application/json","responseSchema":{"type":"OBJECT"}}`
	signed = `{"text":"","thoughtSignature":"s9"}`
)

// called is a turn with one call and one result.
func called(call, result string) fields {
	return contents(gUser(gText("Q")), gModel(call), gUser(result))
}

var geminiGood = []bodyTest{
	{name: "S1", body: contents(gUser(gText("Q"), gText("the tree moved")))},
	{name: "snake case", body: fields{"systemInstruction": "", "system_instruction": `{"parts":[{"text":"be brief"}]}`,
		"tools":    `[{"function_declarations":[{"name":"read"}]}]`,
		"contents": array(gUser(gText("Q")), gModel(`{"function_call":{"name":"read","args":{}},"thought_signature":"s"}`), gUser(`{"function_response":{"name":"read","response":{"output":"x"}}}`))}},
	{name: "S2", body: contents(gUser(gText("Q")), gModel(gText("M")), gUser(gText("Q2")))},
	{name: "S4", body: contents(gUser(gText("Q")), gModel(gText("M"), gCall("read", "s"), gCall("write", "")), gUser(gResult("read"), gResult("write")), gUser(gText("resumed")))},
	{name: "text behind the results", body: contents(gUser(gText("Q")), gModel(gCall("read", "s")), gUser(gResult("read"), gText("resumed")))},
	{name: "S5", body: called(gCall("read", "s"), gResult("read"))},
	{name: "S7", body: contents(gUser(gText("Q")), gModel(gCall("read", "s")), gUser(gResult("read")), gModel(gText("M"), gCall("write", "t")), gUser(gResult("write")))},
	{name: "earlier turn without signature", body: contents(gUser(gText("Q")), gModel(gCall("read", "")), gUser(gResult("read")), gModel(gText("M")), gUser(gText("Q2")))},
	{name: "another model's step", body: called(gCall("read", dummy), gResult("read"))},
	{name: "2.5", body: called(gCall("read", ""), gResult("read")), c: google(wirecheck.GeminiModel{Major: 2})},
	{name: "ids", body: contents(gUser(gText("Q")), gModel(gCallID("1")), gUser(gResultID("1")))},
	{name: "no arguments", body: called(`{"functionCall":{"name":"read"},"thoughtSignature":"s"}`, gResult("read"))},
	{name: "error", body: called(gCall("read", "s"), gResultOf("read", `{"error":"no such file"}`, ""))},
	{name: "images", body: contents(gUser(gText("Q"), `{"inlineData":{"mimeType":"image/png","data":"AA=="}}`))},
	{name: "image in a result", body: called(gCall("read", "s"), gResultOf("read", `{"output":"image"}`, `"parts":[{"inlineData":{"mimeType":"image/png","data":"AA=="}}]`)), c: google(wirecheck.GeminiModel{ResponseParts: true})},
	{name: "signed empty text", body: contents(gUser(gText("Q")), gModel(gText("M"), signed), gUser(gText("Q2"))), c: wirecheck.Capability{Received: raws(signed)}},
	{name: "structured", body: fields{"tools": "", "generationConfig": schema}},
	{name: "structured beside functions", body: fields{"generation_config": schema}, c: google(wirecheck.GeminiModel{SchemaWithTools: true})},
	{name: "data", body: contents(gUser(gText("Q")), gModel(gText(`{"a":1}`)), gUser(gText("Q2"))), c: wirecheck.Capability{Data: raws(`{"a":1}`)}},
}

var geminiBad = []bodyTest{
	{rule: "format", name: "two things in a part", body: contents(gUser(`{"text":"Q","inlineData":{"mimeType":"image/png","data":"AA=="}}`))},
	{rule: "format", name: "unknown part", body: contents(gUser(`{"video":{}}`))},
	{rule: "format", name: "call of the user", body: contents(gUser(gText("Q"), gCall("read", "s")))},
	{rule: "format", name: "result of the model", body: contents(gUser(gText("Q")), gModel(gResult("read")), gUser(gText("Q2")))},
	{rule: "G1", name: "none", body: contents()},
	{rule: "G1", name: "answer first", body: contents(gModel(gText("M")), gUser(gText("Q")))},
	{rule: "G1", name: "answer last", body: contents(gUser(gText("Q")), gModel(gText("M")))},
	{rule: "G1", name: "two of the user", body: contents(gUser(gText("Q")), gUser(gText("Q2")))},
	{rule: "G1", name: "two of the model", body: contents(gUser(gText("Q")), gModel(gText("M")), gModel(gText("N")), gUser(gText("Q2")))},
	{rule: "G2", name: "too few results", body: contents(gUser(gText("Q")), gModel(gCall("read", "s"), gCall("write", "")), gUser(gResult("read")))},
	{rule: "G2", name: "no results", body: contents(gUser(gText("Q")), gModel(gCall("read", "s")), gUser(gText("Q2")))},
	{rule: "G2", name: "another order", body: contents(gUser(gText("Q")), gModel(gCall("read", "s"), gCall("write", "")), gUser(gResult("write"), gResult("read")))},
	{rule: "G2", name: "another id", body: contents(gUser(gText("Q")), gModel(gCallID("1")), gUser(gResultID("2")))},
	{rule: "G2", name: "text before the results", body: contents(gUser(gText("Q")), gModel(gCall("read", dummy)), gUser(gText("no"), gResult("read")))},
	{rule: "G3", name: "call after an answer", body: contents(gUser(gText("Q")), gModel(gText("M")), gModel(gCall("read", "s")), gUser(gResult("read")))},
	{rule: "G3", name: "call first", body: contents(gModel(gCall("read", "s")), gUser(gResult("read")))},
	{rule: "G4", name: "text", body: called(gCall("read", "s"), gResultOf("read", `"done"`, ""))},
	{rule: "G4", name: "other key", body: called(gCall("read", "s"), gResultOf("read", `{"result":"done"}`, ""))},
	{rule: "G4", name: "image", body: called(gCall("read", "s"), gResultOf("read", `{"output":"image"}`, `"parts":[{"inlineData":{"mimeType":"image/png","data":"AA=="}}]`))},
	{rule: "G4", name: "no media", body: called(gCall("read", "s"), gResultOf("read", `{"output":"x"}`, `"parts":[{"text":"x"}]`)), c: google(wirecheck.GeminiModel{ResponseParts: true})},
	{rule: "G4", name: "output and error", body: called(gCall("read", "s"), gResultOf("read", `{"output":"x","error":"y"}`, ""))},
	{rule: "G5", name: "merged", body: contents(gUser(gText("Q")), gModel(`{"text":"MN","thoughtSignature":"s9"}`), gUser(gText("Q2"))), c: wirecheck.Capability{Received: raws(`{"text":"N","thoughtSignature":"s9"}`)}},
	{rule: "G5", name: "left out", body: contents(gUser(gText("Q")), gModel(gText("M")), gUser(gText("Q2"))), c: wirecheck.Capability{Received: raws(signed)}},
	{rule: "G6", name: "no signature", body: called(gCall("read", ""), gResult("read"))},
	{rule: "G6", name: "second call signed", body: contents(gUser(gText("Q")), gModel(gCall("read", ""), gCall("write", "s")), gUser(gResult("read"), gResult("write")))},
	{rule: "G6", name: "stand-in on 2.5", body: called(gCall("read", dummy), gResult("read")), c: google(wirecheck.GeminiModel{Major: 2})},
	{rule: "G7", name: "no parts", body: contents(gUser())},
	{rule: "G7", name: "empty text", body: contents(gUser(gText("")))},
	{rule: "G7", name: "arguments", body: called(`{"functionCall":{"name":"read","args":"{}"},"thoughtSignature":"s"}`, gResult("read"))},
	{rule: "G7", name: "long name", body: fields{"tools": `[{"functionDeclarations":[{"name":"` + strings.Repeat("n", 65) + `"}]}]`}},
	{rule: "G7", name: "name starts with a digit", body: fields{"tools": `[{"functionDeclarations":[{"name":"3d"}]}]`}},
	{rule: "G8", name: "system content", body: contents(`{"role":"system","parts":[{"text":"be brief"}]}`, gUser(gText("Q")))},
	{rule: "G8", name: "thought", body: contents(gUser(gText("Q")), gModel(`{"text":"hm","thought":true}`, gText("M")), gUser(gText("Q2")))},
	{rule: "G9", name: "schema beside functions", body: fields{"generationConfig": schema}},
	{rule: "G9", name: "schema without type", body: fields{"tools": "", "generationConfig": `{"responseSchema":{}}`}},
	{rule: "P1", name: "refused text", body: contents(gUser(gText("secret"))), c: wirecheck.Capability{Refused: []string{"secret"}}},
	{rule: "P4", name: "no call", body: contents(gUser(gText("Q")), gModel(gText("M")), gUser(gResult("read")))},
	{rule: "P4", name: "id used twice", body: contents(gUser(gText("Q")), gModel(gCallID("1")), gUser(gResultID("1")), gModel(gCallID("1")), gUser(gResultID("1")))},
	{rule: "P6", name: "blank text", body: contents(gUser(gText(" ")))},
	{rule: "P6", name: "empty result", body: called(gCall("read", "s"), gResultOf("read", `{"output":""}`, ""))},
	{rule: "P7", name: "NUL", body: contents(gUser(gText("a\x00")))},
	{rule: "P8", name: "malformed", body: contents(gUser(gText("Q")), gModel(gCallID("1")), gUser(gResultID("1"))), c: wirecheck.Capability{Malformed: []string{"1"}}},
	{rule: "P8", name: "data left out", c: wirecheck.Capability{Data: raws(`{"a":1}`)}},
	{rule: "P11", name: "given id is made anew", body: contents(gUser(gText("Q")), gModel(gCallID("1")), gUser(gResultID("1"))), c: wirecheck.Capability{Given: []string{"functions.read:0"}}},
	{rule: "P11", name: "unknown function", body: called(gCall("gone", "s"), gResult("gone"))},
	{rule: "P11", name: "name with a dot", body: fields{"tools": `[{"functionDeclarations":[{"name":"fs.read"}]}]`}},
}

func TestGemini(t *testing.T) {
	judge(t, wirecheck.Gemini, geminiBase, "G1 G2 G3 G4 G5 G6 G7 G8 G9 P1 P4 P6 P7 P8 P11 format", geminiGood, geminiBad)
}

func FuzzGemini(f *testing.F) { fuzz(f, wirecheck.Gemini, geminiBase, geminiGood, geminiBad) }
