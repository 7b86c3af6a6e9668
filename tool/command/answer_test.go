package command_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/tool"
	"jp/tool/command"
)

// asking is an answer with a question of these fields.
func asking(fields string) string { return `{"type":"needs_input","question":{` + fields + `}}` }

func TestQuestions(t *testing.T) {
	choices := conversation.AnswerType{Type: "select", Options: []conversation.Option{
		{Value: json.RawMessage(`"a"`)}, {Value: json.RawMessage(`2`), Description: "two"}, {Value: json.RawMessage(`{"x":1}`)},
	}}
	for fields, want := range map[string]tool.Question{
		`"id":"sure","text":"Sure?","answer_type":{"type":"boolean"},"default":true`: {ID: "sure", Question: conversation.Question{
			Text: "Sure?", AnswerType: conversation.AnswerType{Type: "boolean"}, Default: json.RawMessage(`true`)}},
		`"id":"sure","text":"Sure?","answer_type":"Boolean","default":null,"more":1`: {ID: "sure", Question: conversation.Question{
			Text: "Sure?", AnswerType: conversation.AnswerType{Type: "boolean"}}},
		`"id":"who/é","text":"Who\u0000\n?","answer_type":"Text","detail":"It is\nlong."`: {ID: "who/é", Question: conversation.Question{
			Text: "Who\x00\n?", AnswerType: conversation.AnswerType{Type: "text"}}, Detail: "It is\nlong."},
		`"id":"w","text":"W","answer_type":{"type":"select","options":["a",{"value":2,"description":"two"},{"x": 1}]},"default":2`: {ID: "w",
			Question: conversation.Question{Text: "W", AnswerType: choices, Default: json.RawMessage(`2`)}},
		`"id":"w","text":"W","answer_type":{"Select":{"options":["a",{"value":2,"description":"two"},{"x":1}]}}`: {ID: "w",
			Question: conversation.Question{Text: "W", AnswerType: choices}},
	} {
		kind, result, is := command.Decode([]byte(asking(fields)))
		require.True(t, is, fields)
		require.Equal(t, "needs_input", kind)
		require.False(t, result.IsError, "%s", result.Content)
		require.Equal(t, want, *result.Question, fields)
	}
}

func TestFaultyQuestions(t *testing.T) {
	long := strings.Repeat("x", 300)
	many := strings.TrimSuffix(strings.Repeat(`"o",`, 101), ",")
	for fields, want := range map[string]string{
		``:                               "has no id",
		`"id":"","text":"?"`:             "has no id",
		`"id":7,"text":"?"`:              "is not an object of texts with an answer type",
		`"id":"` + long + `","text":"?"`: "has an id of 300 bytes, and 64 is the most",
		`"id":"a\u0000b","text":"?"`:     `has the id "a\x00b", with blanks or what cannot be printed`,
		`"id":"a b","text":"?"`:          `has the id "a b"`,
		`"id":"a\ud800","text":"?"`:      "has the id \"a\ufffd\"",
		`"id":"a","text":" "`:            "has no text",
		`"id":"a","text":"` + strings.Repeat("x", 9000) + `"`: "has 9000 bytes, and 8192 is the most",
		`"id":"a","text":"?"`:                                                                                                                "has no answer type",
		`"id":"a","text":"?","answer_type":7`:                                                                                                "has no answer type that there is",
		`"id":"a","text":"?","answer_type":"number"`:                                                                                         `has the answer type "number"`,
		`"id":"a","text":"?","answer_type":"select"`:                                                                                         "has no options to select from",
		`"id":"a","text":"?","answer_type":{"type":"select","options":[]}`:                                                                   "has no options to select from",
		`"id":"a","text":"?","answer_type":{"type":"select","options":[` + many + `]}`:                                                       "has 101 options, and 100 is the most",
		`"id":"a","text":"?","answer_type":{"type":"select","options":["o","p","o"]}`:                                                        "has a wrong option: 3 is there twice",
		`"id":"a","text":"?","answer_type":{"type":"select","options":[null]}`:                                                               "has a wrong option: 1 is null",
		`"id":"a","text":"?","answer_type":{"type":"select","options":[{"a":1,"a":2}]}`:                                                      "has a wrong option: 1 cannot be kept",
		`"id":"a","text":"?","answer_type":{"type":"select","options":["` + strings.Repeat("x", 40000) + `"]}`:                               "has options and a default of 400",
		`"id":"a","text":"?","answer_type":{"type":"boolean"},"default":"yes"`:                                                               "has a wrong default",
		`"id":"a","text":"?","answer_type":{"type":"select","options":["o"]},"default":"p"`:                                                  "has a wrong default",
		`"id":"a","text":"?","answer_type":{"type":"select","options":[{"value":1,"description":"` + strings.Repeat(`\u0000`, 6000) + `"}]}`: "has options and a default of 360",
		`"id":"a","text":"?","answer_type":{"type":"text"},"default":"` + strings.Repeat("x", 40000) + `"`:                                   "has options and a default of 400",
	} {
		kind, result, is := command.Decode([]byte(asking(fields)))
		require.True(t, is, fields)
		require.Equal(t, "needs_input", kind)
		require.Nil(t, result.Question)
		require.True(t, result.IsError)
		require.Contains(t, string(result.Content), "The tool's answer cannot be used: its question "+want, fields)
		require.Less(t, len(result.Content), 5000)
	}
	_, result, is := command.Decode([]byte(`{"type":"needs_input","question":null}`))
	require.True(t, is && result.IsError)
	_, result, is = command.Decode([]byte(`{"type":"needs_input"}`))
	require.True(t, is && result.IsError, "nothing else is called so")
	_, _, is = command.Decode([]byte(`{"type":"success"}`))
	require.False(t, is, "any program may write that")
}

func TestAToolThatAsksForEver(t *testing.T) {
	asks := made(t, workspace(t), script(t, `echo '`+asking(`"id":"next","text":"And?","answer_type":"Text"`)+`'`), command.Options{})
	answers := map[string]json.RawMessage{}
	result, err := asks.Run(t.Context(), tool.Call{Arguments: json.RawMessage(`{}`), Answers: answers})
	require.NoError(t, err)
	require.Equal(t, "next", result.Question.ID)
	for i := range 32 {
		answers[fmt.Sprint(i)] = json.RawMessage(`"x"`)
	}
	result, err = asks.Run(t.Context(), tool.Call{Arguments: json.RawMessage(`{}`), Answers: answers})
	require.NoError(t, err)
	require.Nil(t, result.Question)
	require.Contains(t, string(result.Content), "it has asked too many questions")
}

func TestAttachments(t *testing.T) {
	png := "\x89PNG\r\n\x1a\n"
	answer := func(list string) []byte {
		return []byte(`{"type":"success","content":"see","attachments":` + list + `}`)
	}
	encoded := base64.StdEncoding.EncodeToString([]byte(png))
	_, result, is := command.Decode(answer(`[{"name":"a b.png","media_type":"image/png","data":"` + encoded + `"},{"name":"c","data":"` + encoded + `"},{"name":"d","data":""}]`))
	require.True(t, is)
	require.Equal(t, []tool.Attachment{
		{Name: "a b.png", MediaType: "image/png", Data: []byte(png)}, {Name: "c", MediaType: "image/png", Data: []byte(png)},
		{Name: "d", MediaType: "text/plain; charset=utf-8", Data: []byte{}},
	}, result.Attachments)
	_, result, is = command.Decode(answer(`null`))
	require.True(t, is && !result.IsError && result.Attachments == nil)

	large := base64.StdEncoding.EncodeToString(make([]byte, 5<<20))
	for list, want := range map[string]string{
		`{}`:    "its attachments are not a list of {name, media_type, data}",
		`["a"]`: "its attachments are not a list of {name, media_type, data}",
		`[` + strings.TrimSuffix(strings.Repeat(`{"name":"a","data":""},`, 17), ",") + `]`: "it has 17 attachments, and 16 is the most",
		`[{"data":""}]`:                                           "attachment 1: it has no name",
		`[{"name":"a"}]`:                                          "attachment 1: it has no data",
		`[{"name":"a","path":"/etc/passwd"}]`:                     "attachment 1: it has no data",
		`[{"name":"a","data":"%"}]`:                               "attachment 1: its data is not base64",
		`[{"name":"a","data":""},{"name":"a","data":""}]`:         `attachment 2: another one has the name "a"`,
		`[{"name":"text","data":""}]`:                             `attachment 1: the name "text" is jp's own`,
		`[{"name":"tools.json","data":""}]`:                       `is jp's own`,
		`[{"name":"a\nb","data":""}]`:                             `attachment 1: invalid name "a\nb"`,
		`[{"name":"` + strings.Repeat("x", 101) + `","data":""}]`: "want at most 100 printable bytes",
		`[{"name":"a","media_type":"a b","data":""}]`:             `attachment 1: its media type is "a b"`,
		`[{"name":"a","media_type":"image/png","data":"` + large + `"},{"name":"b","media_type":"image/png","data":"` + large + `"}]`: "attachment 2: all together have more than 8 MiB",
		`[{"name":"a","media_type":"text/plain","data":"` + large + `"}]`:                                                             "attachment 1: attachments other than pictures and PDFs have more than 256 KiB together",
	} {
		kind, result, is := command.Decode(answer(list))
		require.True(t, is)
		require.Equal(t, "error", kind)
		require.True(t, result.IsError)
		require.Nil(t, result.Attachments)
		require.Contains(t, string(result.Content), want)
	}
}

// FuzzDecode looks for a text without an outcome that can be stored.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		``, `{`, `{"type":"success","content":"x","attachments":[{"name":"a","data":"QQ=="}]}`, `{"type":"error","message":"m","transient":true}`,
		asking(`"id":"a","text":"?","answer_type":{"Select":{"options":[1,{"value":"b","description":"c"}]}},"default":1`),
		asking(`"id":"a","text":"?","answer_type":"Text","default":"\ud800"`), asking(`"id":"a","text":"?","answer_type":{"type":"SELECT","options":[{"value":null}]}`),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		_, result, is := command.Decode(text)
		if !is {
			return
		}
		for _, a := range result.Attachments {
			require.NotEmpty(t, a.Name)
			require.NotEmpty(t, a.MediaType)
			require.True(t, utf8.ValidString(a.Name))
		}
		q := result.Question
		if q == nil {
			return
		}
		require.False(t, result.IsError)
		require.NotEmpty(t, q.ID)
		require.LessOrEqual(t, len(q.ID), 64)
		require.Contains(t, []string{"boolean", "text", "select"}, q.AnswerType.Type)
		require.Equal(t, q.AnswerType.Type == "select", len(q.AnswerType.Options) > 0)
		if len(q.Default) > 0 {
			require.NoError(t, q.AnswerType.Accepts(q.Default))
		}
		data, err := conversation.EncodeHeader(&conversation.Event{Version: conversation.Version, Body: &conversation.InquiryRequest{
			Kind: conversation.KindToolQuestion, QuestionID: q.ID, Question: q.Question,
		}}, conversation.Span{})
		require.NoError(t, err)
		require.Less(t, len(data), 48<<10, "an event can hold it")
	})
}
