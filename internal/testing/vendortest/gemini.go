package vendortest

import (
	"encoding/json"
	"fmt"
	"strings"

	"jp/internal/testing/wirecheck"
)

// gemini is generateContent of the Gemini API, streamed.
type gemini struct{}

func (gemini) format() wirecheck.API { return wirecheck.GeminiContents }

func (gemini) judge(body []byte, model string, known known) []wirecheck.Violation {
	able := wirecheck.Capability{Received: known.received, Given: known.given, Gemini: wirecheck.GeminiModel{Major: 3, ResponseParts: true, SchemaWithTools: true}}
	if strings.HasPrefix(model, "gemini-2") {
		able.Gemini = wirecheck.GeminiModel{Major: 2}
	}
	return wirecheck.Gemini(body, able)
}

func (gemini) models(name string) string {
	return string(object("models", list{
		object("name", "models/"+name, "supportedGenerationMethods", list{"generateContent", "countTokens"}),
		object("name", "models/embedding", "supportedGenerationMethods", list{"embedContent"}),
	}))
}

func (g gemini) events(r Reply, s style) ([]event, []json.RawMessage) {
	a := contentStream{style: s}
	a.odd()
	for _, piece := range s.pieces(r.Reasoning) {
		a.part(MarkReasoning, object("text", piece, "thought", true))
	}
	for _, piece := range s.pieces(r.Text + r.Data) {
		a.part(MarkText, object("text", piece))
		a.events[len(a.events)-1].word = true
	}
	signature := fmt.Sprintf("CiQB/%d+Ω==", s.reply)
	if r.Reasoning != "" && len(r.Calls) == 0 {
		a.signed(MarkText, object("text", "", "thoughtSignature", signature))
	}
	for i, c := range r.Calls {
		if i == 0 && r.Reasoning != "" {
			a.signed(MarkCall, object("functionCall", functionCall(c), "thoughtSignature", signature))
			continue
		}
		a.part(MarkCall, object("functionCall", functionCall(c)))
	}
	a.odd()
	u := r.Usage
	a.add("", object("content", object("parts", list{object("text", "")}, "role", "model"), "finishReason", g.stop(r), "index", 0),
		object("promptTokenCount", u.Input, "cachedContentTokenCount", u.Cached, "candidatesTokenCount", u.Output, "totalTokenCount", u.Input+u.Output))
	a.events[len(a.events)-1].finish = true
	return a.events, a.items
}

func (g gemini) whole(r Reply, s style) string {
	parts := list{}
	if r.Reasoning != "" {
		parts = append(parts, object("text", r.Reasoning, "thought", true))
	}
	if text := r.Text + r.Data; text != "" {
		parts = append(parts, object("text", text))
	}
	for _, c := range r.Calls {
		parts = append(parts, object("functionCall", functionCall(c)))
	}
	return string(object("candidates", list{object("content", object("parts", parts, "role", "model"), "finishReason", g.stop(r), "index", 0)},
		"usageMetadata", object("promptTokenCount", r.Usage.Input, "candidatesTokenCount", r.Usage.Output)))
}

func (gemini) alive() string { return `{"usageMetadata":{"promptTokenCount":1}}` }

// misdo repeats the finish, or lets the figures follow it.
func (gemini) misdo(events []event, d *draw) []event {
	events = d.repeat(events, "the finish twice", func(e event) bool { return e.finish })
	if d.may("usage behind the finish", 4) {
		events = append(events, event{data: `{"usageMetadata":{"promptTokenCount":100,"candidatesTokenCount":20}}`})
	}
	return d.forget(events, "role", "index", "usageMetadata", "modelVersion", "responseId", "thoughtSignature")
}

func functionCall(c Call) json.RawMessage {
	args := json.RawMessage(c.Arguments)
	if !json.Valid(args) {
		args = encode(c.Arguments)
	}
	if c.ID == "" {
		return object("name", c.Name, "args", args)
	}
	return object("id", c.ID, "name", c.Name, "args", args)
}

func (gemini) stop(r Reply) string {
	switch r.Finish {
	case FinishLength:
		return "MAX_TOKENS"
	case FinishRefusal, FinishFiltered:
		return "SAFETY"
	}
	return "STOP"
}

// A contentStream is an answer in the making.
type contentStream struct {
	style  style
	events []event
	items  []json.RawMessage
}

func (a *contentStream) add(mark Mark, candidate, usage json.RawMessage) {
	pairs := []any{}
	if candidate != nil {
		pairs = append(pairs, "candidates", list{candidate})
	}
	pairs = append(pairs, "usageMetadata", usage, "modelVersion", a.style.model, "responseId", fmt.Sprint("r", a.style.reply))
	a.events = append(a.events, event{data: a.style.unknown(string(object(pairs...))), mark: mark})
}

func (a *contentStream) part(mark Mark, part json.RawMessage) {
	a.add(mark, object("content", object("parts", list{part}, "role", "model"), "index", 0), object("promptTokenCount", 1))
}

// signed adds a part that has to go back.
func (a *contentStream) signed(mark Mark, part json.RawMessage) {
	a.part(mark, part)
	a.items = append(a.items, part)
}

func (a *contentStream) odd() {
	if a.style.Pings {
		a.add("", nil, object("promptTokenCount", 1))
	}
	if a.style.Unknown {
		a.events = append(a.events, event{name: "x_unheard_of", data: `{"xUnheardOf":{"deep":[]}}`})
	}
}

func (gemini) failing() event {
	return event{data: `{"error":{"code":503,"message":"The model is overloaded. Please try again later.","status":"UNAVAILABLE"}}`}
}

func (gemini) refusal(f Failure) (int, string) {
	quota := func(id string) list {
		return list{object("@type", "type.googleapis.com/google.rpc.QuotaFailure", "violations", list{object("quotaId", id)})}
	}
	said := map[FailureKind]struct {
		code         int
		status, text string
		details      list
	}{
		RateLimit:  {429, "RESOURCE_EXHAUSTED", "You exceeded your current quota.", quota("GenerateRequestsPerMinutePerProjectPerModel")},
		Overloaded: {503, "UNAVAILABLE", "The model is overloaded. Please try again later.", nil},
		Broken:     {500, "INTERNAL", "An internal error has occurred.", nil},
		BadKey: {400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", list{
			object("@type", "type.googleapis.com/google.rpc.ErrorInfo", "reason", "API_KEY_INVALID", "domain", "googleapis.com")}},
		NoMoney:    {429, "RESOURCE_EXHAUSTED", "You exceeded your current quota, please check your plan and billing details.", quota("GenerateRequestsPerDayPerProjectPerModel")},
		NoModel:    {404, "NOT_FOUND", "models/gemini-nope is not found for API version v1beta.", nil},
		TooLong:    {400, "INVALID_ARGUMENT", "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", nil},
		BadRequest: {400, "INVALID_ARGUMENT", "Invalid value at 'contents'.", nil},
	}[f.Kind]
	return said.code, string(object("error", object("code", said.code, "message", f.words(said.text), "status", said.status, "details", said.details)))
}
