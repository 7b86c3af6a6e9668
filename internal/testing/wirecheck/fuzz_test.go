package wirecheck_test

import (
	"testing"

	"jp/internal/testing/wirecheck"
)

// fuzz starts from the bodies of the tables: a validator must never panic, and must name the rule of each
// report.
func fuzz(f *testing.F, validate validator, base fields, tables ...[]bodyTest) {
	for _, table := range tables {
		for _, test := range table {
			f.Add(base.with(test.body))
		}
	}
	f.Add([]byte(`{"messages":[{"role":"user","content":[null,{"type":5}]}],"contents":[{"parts":[1]}],"input":[[]]}`))
	capabilities := []wirecheck.Capability{{}, fuzzCapability}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, c := range capabilities {
			for _, v := range validate(body, c) {
				if v.Rule == "" || v.Problem == "" {
					t.Fatalf("%#v says nothing", v)
				}
			}
		}
		for api := range wirecheck.API(5) {
			wirecheck.AppendOnly(api, body, base.with(nil))
			wirecheck.AppendOnly(api, base.with(nil), body)
		}
	})
}

// fuzzCapability turns on every rule that needs more than the body.
var fuzzCapability = wirecheck.Capability{
	Anthropic: wirecheck.AnthropicModel{FixedSampling: true, MidSystem: true, Paused: []byte("["),
		Producers: map[string][]byte{"s": []byte(`{"messages":[{}]}`), "s1": []byte("{"), "": nil}},
	Chat:      wirecheck.ChatDialect{UserAfterTool: wirecheck.UserFolded, ReasoningBack: wirecheck.ReasoningAll, AlnumIDs: true, ToolNames: true, ReasoningDetails: true},
	Responses: wirecheck.ResponsesModel{Phase: true, CutOff: []string{"1"}},
	Gemini:    wirecheck.GeminiModel{Major: 2},
	Received:  raws(`{"id":"rs_1","type":"reasoning"}`, "{", "5", `[]`),
	Turn:      []byte(`{}`), Malformed: []string{"1"}, Data: raws("{", "{}"), Refused: []string{"x"},
}
