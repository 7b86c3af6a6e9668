package conversation

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const marker = "MARKER"

// marked fills every text of a value with the marker.
func marked(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(marker)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		marked(v.Elem())
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes([]byte(`{"` + marker + `": ["` + marker + `", {"k":"a\u004dARKER"}]}`))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		marked(v.Index(0))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf(marker), reflect.ValueOf(marker))
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				marked(v.Field(i))
			}
		}
	}
}

// kept are the fields that say how things belong together, by type.
var kept = map[Type][]string{
	TypeTurnStart:        {"JP"},
	TypeChatResponse:     {"Part", "Finish", "Usage.CostUSD", "Prefix"},
	TypeToolCallRequest:  {"Finish", "Usage.CostUSD", "Prefix"},
	TypeToolStarted:      {"Child", "ControlFiles.Digest"},
	TypeToolCallResponse: {"Truncated.SHA256", "Changed.Before", "Changed.After", "Usage.CostUSD"},
	TypeInquiryRequest:   {"Kind", "Files.Digest"},
	TypeInquiryResponse:  {"Outcome", "By", "Usage.CostUSD"},
	TypeMetadata:         {"TitleSource", "Parent", "Usage.CostUSD"},
	TypeForkOrigin:       {"Conversation", "Commit"},
	TypeWorkspace:        {"Paths.Status"},
	TypeTurnDiscarded:    {"By"},
	TypeTurnStopped:      {"By"},
	TypeTurnInterrupted:  {"By", "Signal", "Phase"},
	TypeResumed:          {"Phase", "Report.HeadWas", "Report.HeadIs", "Report.Changed.Status"},
	TypeTurnDone:         {"CostUSD"},
	TypeInstructions:     {"Files.OID"},
	TypeCompaction:       {"Kind", "Items.Kind", "By", "Usage.CostUSD"},
}

// holders are the fields of a value that hold the marker.
func holders(at string, v reflect.Value) []string {
	switch v.Kind() {
	case reflect.String:
		if strings.Contains(v.String(), marker) {
			return []string{at}
		}
	case reflect.Pointer:
		if !v.IsNil() {
			return holders(at, v.Elem())
		}
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			return holders(at, reflect.ValueOf(string(v.Bytes())))
		}
		return holders(at, v.Index(0))
	case reflect.Map:
		for key, value := range v.Seq2() {
			return append(holders(at, key), holders(at, value)...)
		}
	case reflect.Struct:
		var all []string
		for i := range v.NumField() {
			name := strings.TrimPrefix(at+"."+v.Type().Field(i).Name, ".")
			if v.Type().Field(i).Anonymous {
				name = at
			}
			all = append(all, holders(name, v.Field(i))...)
		}
		return all
	}
	return nil
}

func unmark(_, text string) string { return strings.ReplaceAll(text, marker, "[x]") }

func TestRewriteReachesEveryText(t *testing.T) {
	types := []Type{
		TypeTurnStart, TypePrompt, TypeNote, TypeChatRequest, TypeChatResponse, TypeToolCallRequest, TypeToolStarted, TypeToolCallResponse,
		TypeInquiryRequest, TypeInquiryResponse, TypeConfigDelta, TypeMetadata, TypeForkOrigin, TypeWorkspace, TypeTurnDiscarded, TypeTurnStopped,
		TypeTurnInterrupted, TypeResumed, TypeRestored, TypeState, TypeTurnDone, TypeWithheld, TypeInstructions,
		TypeCompaction, TypeCompactionUndone,
	}
	source, err := os.ReadFile("body.go")
	require.NoError(t, err)
	require.Len(t, types, strings.Count(string(source), "\t\treturn new("), "a type is missing here")
	for _, kind := range types {
		t.Run(string(kind), func(t *testing.T) {
			body := newBody(kind)
			marked(reflect.ValueOf(body).Elem())
			e := &Event{Body: body}
			e.Rewrite(unmark)
			require.Equal(t, kept[kind], holders("", reflect.ValueOf(body).Elem()))
			require.False(t, e.Rewrite(unmark))
		})
	}
}

func TestRewriteReachesTheEnvelope(t *testing.T) {
	git := &Git{Head: marker, HeadWas: marker, Branch: marker, BranchWas: marker, Worktree: marker, Repo: marker}
	e := &Event{
		Body: &Note{Content: "a"}, Subject: "s " + marker, Model: marker, Git: git, Provider: json.RawMessage(`{"item":{"text":"MARKER"}}`),
		Payloads: []Payload{
			{Name: marker, Data: []byte("é " + marker)}, {Name: "x.json", MediaType: "application/json", Data: []byte(`{"a":"\u004dARKER"}`)},
			{Name: "image", Data: []byte(marker + "\x00")}, {Name: PayloadProvider, OID: "0b"}, {Name: "old", OID: "0b"},
		},
		extra: []Field{{Key: "later", Raw: []byte(`{"a":"MARKER"}`)}},
	}
	before := *git
	require.True(t, e.Rewrite(unmark))
	require.Equal(t, before, *git, "what the caller has is left alone")
	require.Equal(t, Git{Head: marker, HeadWas: marker, Branch: "[x]", BranchWas: "[x]", Worktree: "[x]", Repo: marker}, *e.Git)
	require.Equal(t, []string{"s [x]", "[x]", `{"a":"[x]"}`}, []string{e.Subject, e.Model, string(e.extra[0].Raw)})
	require.Nil(t, e.Provider)
	require.Nil(t, e.Payload(PayloadProvider))
	require.Equal(t, "é [x]", string(e.Payload("[x]").Data))
	require.Equal(t, `{"a":"[x]"}`, string(e.Payload("x.json").Data))
	require.Equal(t, marker+"\x00", string(e.Payload("image").Data), "what is no text is not searched")
}

func TestRewriteKeepsStateOfWhatIsUnchanged(t *testing.T) {
	state := json.RawMessage(`{ "item": {"text":"a"} }`)
	e := &Event{Body: &ChatResponse{Call: 1, Part: PartMessage, Text: "a"}, Provider: state}
	require.False(t, e.Rewrite(unmark))
	require.Equal(t, state, e.Provider)
	e.Body.(*ChatResponse).Text = marker
	require.True(t, e.Rewrite(unmark))
	require.Empty(t, e.Provider, "it would say what the text does not")
}

func TestRewriteJSONKeepsTheRest(t *testing.T) {
	names := map[string]string{}
	f := func(name, text string) string {
		names[text] = name
		return unmark(name, text)
	}
	in := "{\n  \"a\" : [1.50, \"MARKER\\n\\u00e9\", null, -1e9],\n\t\"MARKER\": {\"password\":\"p\"}, \"argv\":[\"x\",\"--token\",\"t\",\"u\"]}"
	require.Equal(t, "{\n  \"a\" : [1.50, \"[x]\\né\", null, -1e9],\n\t\"[x]\": {\"password\":\"p\"}, \"argv\":[\"x\",\"--token\",\"t\",\"u\"]}", string(RewriteJSON([]byte(in), f)))
	require.Equal(t, []string{"password", "argv", "token", "argv"}, []string{names["p"], names["x"], names["t"], names["u"]})
	require.Equal(t, `{"a"`, string(RewriteJSON([]byte(`{"a"`), f)))
	same := []byte(`[ {} , [] ,"a" ]`)
	require.Equal(t, same, RewriteJSON(same, f))
}

func FuzzRewriteJSON(f *testing.F) {
	f.Add([]byte(`{"a":["MARKER",1,{"b":"\u004dARKER"}],"MARKER":null}`))
	f.Fuzz(func(t *testing.T, value []byte) {
		out := RewriteJSON(value, unmark)
		if CheckJSON(value) != nil {
			require.Equal(t, value, out)
			return
		}
		if canonical, err := Canonical(value); err == nil && !strings.Contains(string(canonical), marker) {
			require.Equal(t, string(value), string(out))
		}
		require.True(t, json.Valid(out))
	})
}

// The text of each file is found at its new place after secrets in and around it were replaced.
func TestRewriteKeepsThePlacesOfInstructions(t *testing.T) {
	const content = "head MARKER\nbegin\nfirst MARKER MARKER\nend MARKER begin\nsecond\nend MARKER\n"
	at := func(text string) InstructionFile {
		from := strings.Index(content, text)
		return InstructionFile{Path: "a/" + marker, From: from, To: from + len(text)}
	}
	b := &Instructions{Files: []InstructionFile{{Path: "known"}, at("first MARKER MARKER\n"), at("second\n")}, Content: content}
	e := &Event{Body: b}
	require.True(t, e.Rewrite(unmark))
	require.Equal(t, strings.ReplaceAll(content, marker, "[x]"), b.Content)
	require.Equal(t, []string{"known", "a/[x]", "a/[x]"}, b.paths())
	require.Equal(t, []string{"", "first [x] [x]\n", "second\n"}, []string{b.Text(b.Files[0]), b.Text(b.Files[1]), b.Text(b.Files[2])})

	broken := &Instructions{Files: []InstructionFile{{From: 5, To: 900}}, Content: "a MARKER"}
	require.True(t, (&Event{Body: broken}).Rewrite(unmark))
	require.Equal(t, "a [x]", broken.Content)
	require.Empty(t, broken.Text(broken.Files[0]))
}
