package conversation_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	. "jp/conversation"
)

var allTypes = []Type{
	TypeTurnStart, TypePrompt, TypeNote, TypeChatRequest, TypeChatResponse, TypeToolCallRequest, TypeToolStarted,
	TypeToolCallResponse, TypeInquiryRequest, TypeInquiryResponse, TypeConfigDelta, TypeMetadata, TypeForkOrigin, TypeWorkspace,
	TypeTurnDiscarded, TypeTurnStopped, TypeTurnInterrupted, TypeResumed, TypeRestored, TypeState, TypeTurnDone,
}

// bodyOf makes an empty body by way of the codec.
func bodyOf(t require.TestingT, kind Type) Body {
	e, _, err := DecodeHeader(fmt.Appendf(nil, `{"v":1,"type":%q,"turn":0,"seq":0,"time":"2025-07-19T14:00:00Z"}`, kind))
	require.NoError(t, err)
	return e.Body
}

// fill draws a value for every exported field that is stored.
func fill(t *rapid.T, v reflect.Value, name string) {
	switch p := v.Addr().Interface().(type) {
	case *json.RawMessage:
		if rapid.Bool().Draw(t, name) {
			*p, _ = Canonical(anyJSON().Draw(t, name))
		}
		return
	case *time.Time:
		*p = time.Unix(rapid.Int64Range(-62e9, 253e9).Draw(t, name), rapid.Int64Range(0, 999_999_999).Draw(t, name)).UTC()
		return
	case *Part:
		*p = rapid.SampledFrom([]Part{PartMessage, PartReasoning, PartData}).Draw(t, name)
		return
	case *Option:
		*p = Option{Value: json.RawMessage(`{"a":1.0}`), Description: rapid.String().Draw(t, name)}
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(rapid.String().Draw(t, name))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.Int64().Draw(t, name))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, name))
	case reflect.Pointer:
		if rapid.Bool().Draw(t, name) {
			v.Set(reflect.New(v.Type().Elem()))
			fill(t, v.Elem(), name)
		}
	case reflect.Slice:
		for range rapid.IntRange(0, 2).Draw(t, name) {
			e := reflect.New(v.Type().Elem()).Elem()
			fill(t, e, name)
			v.Set(reflect.Append(v, e))
		}
	case reflect.Map:
		if rapid.Bool().Draw(t, name) {
			v.Set(reflect.ValueOf(rapid.MapOfN(rapid.String(), rapid.String(), 0, 3).Draw(t, name)))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Tag.Get("json") != "-" {
				fill(t, v.Field(i), f.Name)
			}
		}
	default:
		t.Fatalf("%s is a %s", name, v.Kind())
	}
}

// anyEvent draws an event of a type with any fields, as it is loaded.
func anyEvent(t *rapid.T, kind Type) *Event {
	e := &Event{Body: bodyOf(t, kind), Version: Version}
	e.Seq, e.Turn = rapid.IntRange(0, 1<<40).Draw(t, "seq"), rapid.IntRange(0, 1<<40).Draw(t, "turn")
	fill(t, reflect.ValueOf(&e.Time).Elem(), "time")
	fill(t, reflect.ValueOf(e.Body).Elem(), "body")
	fill(t, reflect.ValueOf(&e.Git).Elem(), "git")
	fill(t, reflect.ValueOf(&e.Was).Elem(), "was")
	fill(t, reflect.ValueOf(&e.Payloads).Elem(), "payloads")
	fill(t, reflect.ValueOf(&e.Needs).Elem(), "needs")
	fill(t, reflect.ValueOf(&e.Lossy).Elem(), "lossy")
	return e
}

func TestHeaderRoundTrip(t *testing.T) {
	for _, kind := range allTypes {
		t.Run(string(kind), rapid.MakeCheck(func(r *rapid.T) {
			e := anyEvent(r, kind)
			text, has := e.Text()
			require.Equal(r, len(text), e.TextBytes())
			span := NoText
			if has {
				span = Span{At: rapid.IntRange(0, 1<<30).Draw(r, "at"), Len: len(text)}
			}
			line, err := EncodeHeader(e, span)
			require.NoError(r, err)
			canonical, err := Canonical(line)
			require.NoError(r, err)
			require.Equal(r, string(canonical), string(line))

			back, gotSpan, err := DecodeHeader(line)
			require.NoError(r, err, "%s", line)
			require.Equal(r, span, gotSpan)
			if text != "" {
				back.SetText(text)
			}
			require.Equal(r, e, back)
			again, err := EncodeHeader(back, span)
			require.NoError(r, err)
			require.Equal(r, string(line), string(again))

			view, err := ViewJSON(e, "jp-c17528832001-k3f9", true)
			require.NoError(r, err)
			require.NoError(r, CheckJSON(view), "%s", view)
		}))
	}
}

func TestHeaderExamples(t *testing.T) {
	at := time.Date(2025, 7, 19, 16, 0, 0, 5, time.FixedZone("east", 7200))
	cases := []struct {
		name string
		e    Event
		span Span
		want string
	}{
		{"turn_start", Event{Turn: 1, Body: &TurnStart{Model: "a/b", JP: "1.0", Approved: ApproveAll()}, Git: &Git{Head: "6f71", Branch: "main"}}, NoText,
			`{"approved":"all","git":{"branch":"main","head":"6f71"},"jp":"1.0","model":"a/b","seq":0,"time":"2025-07-19T14:00:00.000000005Z","turn":1,"type":"turn_start","v":1}`},
		{"response", Event{Seq: 18, Turn: 2, Body: &ToolCallResponse{For: 9, ID: "call_2", Name: "fs", Changed: []FileChange{{Path: "a<b", After: "0b"}}}}, Span{At: 31, Len: 40},
			`{"changed":[{"after":"0b","before":null,"path":"a<b"}],"for":9,"is_error":false,"name":"fs","seq":18,"text":[31,40],"time":"2025-07-19T14:00:00.000000005Z","tool_call_id":"call_2","turn":2,"type":"tool_call_response","v":1}`},
		{"what a tool asked", Event{Seq: 18, Turn: 2, Body: &ToolCallResponse{For: 9, Usage: &Usage{Input: 7, Output: 2}}}, NoText,
			`{"for":9,"is_error":false,"seq":18,"time":"2025-07-19T14:00:00.000000005Z","turn":2,"type":"tool_call_response","usage":{"input":7,"output":2},"v":1}`},
		{"discard from 0", Event{Seq: 2, Turn: 1, Body: &TurnDiscarded{ToSeq: 1, By: ByUser}}, NoText,
			`{"by":"user","from_seq":0,"seq":2,"time":"2025-07-19T14:00:00.000000005Z","to_seq":1,"turn":1,"type":"turn_discarded","v":1}`},
		{"fork", Event{Seq: 3, Body: &ForkOrigin{Conversation: "jp-c1752883200", Commit: "c0"}}, NoText,
			`{"seq":3,"source":{"commit":"c0","conversation":"jp-c1752883200","seq":0},"time":"2025-07-19T14:00:00.000000005Z","turn":0,"type":"fork_origin","v":1}`},
		{"empty lists are absent", Event{Body: &WorkState{OpenTasks: []string{}, Errors: nil}}, NoText,
			`{"seq":0,"time":"2025-07-19T14:00:00.000000005Z","turn":0,"type":"state","v":1}`},
		{"cleared", Event{Body: &Metadata{ArchivedAt: &OptionalTime{}, Labels: map[string]string{}, Title: new(string)}}, NoText,
			`{"archived_at":null,"labels":{},"seq":0,"time":"2025-07-19T14:00:00.000000005Z","title":"","turn":0,"type":"metadata","v":1}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.e.Time = at
			line, err := EncodeHeader(&c.e, c.span)
			require.NoError(t, err)
			require.Equal(t, c.want, string(line))
		})
	}
}

const future = `{"v":1,"type":"hologram","turn":1,"seq":3,"time":"2025-07-19T14:00:00Z","x":{"b" : 1.0,"a":[1e400]},"text":[0,3]}`

func TestHeaderKeepsWhatItDoesNotKnow(t *testing.T) {
	e, span, err := DecodeHeader([]byte(future))
	require.NoError(t, err)
	require.Equal(t, Type("hologram"), e.Type())
	require.False(t, e.Opaque())
	e.SetText("hey")
	text, has := e.Text()
	require.True(t, has)
	require.Equal(t, "hey", text)
	line, err := EncodeHeader(e.Clone(), span)
	require.NoError(t, err)
	require.Contains(t, string(line), `"x":{"b" : 1.0,"a":[1e400]}`)

	known := strings.Replace(future, "hologram", "note", 1)
	e, _, err = DecodeHeader([]byte(known))
	require.NoError(t, err)
	require.IsType(t, &Note{}, e.Body)
	line, err = EncodeHeader(e, NoText)
	require.NoError(t, err)
	require.Contains(t, string(line), `"x":{"b" : 1.0,"a":[1e400]}`)

	view, err := ViewJSON(e, "jp-c1752883200", false)
	require.NoError(t, err)
	require.NoError(t, CheckJSON(view))
	require.Contains(t, string(view), "1e400")
}

func TestHeaderOpaque(t *testing.T) {
	newer := strings.Replace(future, `"v":1,"type":"hologram"`, `"v":2,"type":"chat_request","content":7`, 1)
	e, _, err := DecodeHeader([]byte(newer))
	require.NoError(t, err, "a newer version may mean something else by any field")
	require.True(t, e.Opaque())
	require.IsType(t, &Unknown{}, e.Body)
	line, err := EncodeHeader(e, Span{At: 0, Len: 3})
	require.NoError(t, err)
	require.Contains(t, string(line), `"content":7`)
	require.Contains(t, string(line), `"v":2`)

	e, _, err = DecodeHeader([]byte(strings.Replace(future, `"x":`, `"needs":["quorum"],"x":`, 1)))
	require.NoError(t, err)
	require.True(t, e.Opaque())
	require.Equal(t, []string{"quorum"}, e.Needs)
}

func TestHeaderDamage(t *testing.T) {
	good := `{"v":1,"type":"tool_call_response","turn":1,"seq":3,"time":"2025-07-19T14:00:00Z","for":1,"is_error":true,"text":[0,3]}`
	_, _, err := DecodeHeader([]byte(good))
	require.NoError(t, err)
	cases := map[string][2]string{
		"no version":       {`"v":1,`, ``},
		"version 0":        {`"v":1`, `"v":0`},
		"no type":          {`"type":"tool_call_response",`, ``},
		"type is a number": {`"tool_call_response"`, `7`},
		"negative seq":     {`"seq":3`, `"seq":-3`},
		"negative turn":    {`"turn":1`, `"turn":-1`},
		"fractional seq":   {`"seq":3`, `"seq":3.0`},
		"huge seq":         {`"seq":3`, `"seq":99999999999999999999`},
		"text as seq":      {`"seq":3`, `"seq":"3"`},
		"no time":          {`"time":"2025-07-19T14:00:00Z",`, ``},
		"bad time":         {`2025-07-19T14:00:00Z`, `yesterday`},
		"year 10000":       {`2025-07-19T14:00:00Z`, `9999-12-31T23:59:59-01:00`},
		"year -1":          {`2025-07-19T14:00:00Z`, `0000-01-01T00:00:00+01:00`},
		"short span":       {`[0,3]`, `[0]`},
		"negative span":    {`[0,3]`, `[0,-3]`},
		"span of text":     {`[0,3]`, `"0,3"`},
		"flag":             {`true`, `1`},
		"reference":        {`"for":1`, `"for":null`},
		"nested":           {`"for":1`, `"for":1,"truncated":7`},
		"duplicate":        {`"for":1`, `"for":1,"for":2`},
		"two lines":        {`"for":1`, "\n\"for\":1"},
		"not an object":    {good, `[]`},
		"nothing":          {good, ``},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			bad := strings.Replace(good, c[0], c[1], 1)
			require.NotEqual(t, good, bad)
			_, _, err := DecodeHeader([]byte(bad))
			require.ErrorIs(t, err, ErrDamaged)
		})
	}
}

func TestHeaderTimesAreUTC(t *testing.T) {
	e, _, err := DecodeHeader([]byte(strings.Replace(future, "14:00:00Z", "16:00:00.5+02:00", 1)))
	require.NoError(t, err)
	require.Equal(t, time.Date(2025, 7, 19, 14, 0, 0, 5e8, time.UTC), e.Time)
}

func TestEncodeHeaderRefusesBadJSON(t *testing.T) {
	_, err := EncodeHeader(&Event{Body: &ChatRequest{Schema: []byte(`{"a":1,"a":2}`)}}, NoText)
	require.ErrorIs(t, err, ErrJSON)
	_, err = EncodeHeader(&Event{Body: &InquiryRequest{Question: Question{Default: []byte(`{`)}}}, NoText)
	require.Error(t, err)
}

func TestViewJSON(t *testing.T) {
	e := &Event{Seq: 4, Turn: 1, Time: start, Commit: "c0", Tree: "7e", Body: &ToolCallRequest{Call: 1, ID: "x", Name: "fs", Arguments: []byte("{\n \"a\": 1\n}")}}
	view, err := ViewJSON(e, "jp-c1752883200", true)
	require.NoError(t, err)
	require.Equal(t, `{"conversation":"jp-c1752883200","seq":4,"turn":1,"type":"tool_call_request","role":"assistant","time":"2025-07-19T14:00:00Z",`+
		`"commit":"c0","tree":"7e","incomplete":true,"call":1,"tool_call_id":"x","name":"fs","arguments":{"a":1}}`, string(view))
	e.Body = &ChatResponse{Call: 1, Part: PartData, Text: "{broken"}
	view, err = ViewJSON(e, "jp-c1752883200", false)
	require.NoError(t, err)
	require.Contains(t, string(view), `"data":"{broken"`)

	clash, _, err := DecodeHeader([]byte(strings.Replace(future, `"x":`, `"role":"root","commit":"0","x":`, 1)))
	require.NoError(t, err)
	view, err = ViewJSON(clash, "jp-c1752883200", false)
	require.NoError(t, err)
	require.NoError(t, CheckJSON(view))
	require.Contains(t, string(view), `"role":"jp"`)
}

func TestApproval(t *testing.T) {
	require.True(t, ApproveAll().Allows("x"))
	require.True(t, Approval{"x"}.Allows("x"))
	require.False(t, Approval{"x"}.Allows("y"))
	require.False(t, Approval{"x", "*"}.Allows("y"), "all stands alone")
	require.False(t, Approval(nil).Allows("x"))
}

func FuzzDecodeHeader(f *testing.F) {
	f.Add([]byte(future))
	for _, kind := range allTypes {
		f.Add(fmt.Appendf(nil, `{"v":1,"type":%q,"turn":1,"seq":2,"time":"2025-07-19T14:00:00.1Z","part":"data","for":1,"usage":{"input":1},"git":{},"pinned_at":null}`, kind))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		e, span, err := DecodeHeader(line)
		if err != nil {
			require.ErrorIs(t, err, ErrDamaged)
			return
		}
		once, err := EncodeHeader(e, span)
		require.NoError(t, err)
		back, span, err := DecodeHeader(once)
		require.NoError(t, err)
		twice, err := EncodeHeader(back, span)
		require.NoError(t, err)
		require.Equal(t, string(once), string(twice))
		view, err := ViewJSON(e, "jp-c1752883200", false)
		require.NoError(t, err)
		require.NoError(t, CheckJSON(view))
		SubjectOf(e)
		Summary{}.Next(e)
	})
}

func TestHeaderSeq(t *testing.T) {
	for line, want := range map[string]int{
		`{"seq":0,"v":1}`: 0, `{"a":{"seq":9},"b":["seq",{"seq":8}],"seq":41}`: 41, `{"text":"\"seq\":3","seq": 7}`: 7,
		`{"seq":"1"}`: -1, `{"a":1}`: -1, ``: -1, `{"seq":`: -1, `{"x":"seq","y":5}`: -1, `{"seq":-1}`: -1, `"`: -1, `{"\`: -1,
	} {
		seq, ok := HeaderSeq([]byte(line))
		if !ok {
			seq = -1
		}
		require.Equal(t, want, seq, line)
	}
	for _, e := range words("T Q C1. B1 I1 A1 D1 M. G W X").events() {
		line, err := EncodeHeader(e, NoText)
		require.NoError(t, err)
		seq, ok := HeaderSeq(line)
		require.True(t, ok)
		require.Equal(t, e.Seq, seq)
	}
}
