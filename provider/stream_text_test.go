package provider

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestPiecesOfAText(t *testing.T) {
	tests := map[string]struct {
		pieces []string // JSON strings
		want   []string // the output of each
		end    string
	}{
		"nothing cut":                  {[]string{`"a"`, `"b🎉"`}, []string{"a", "b🎉"}, ""},
		"a pair in one piece":          {[]string{`"a\ud83c\udf89b"`}, []string{"a🎉b"}, ""},
		"between the halves":           {[]string{`"a\ud83c"`, `"\udf89b"`}, []string{"a", "🎉b"}, ""},
		"capital letters":              {[]string{`"a\uD83C"`, `"\uDF89b"`}, []string{"a", "🎉b"}, ""},
		"an empty piece between":       {[]string{`"a\ud83c"`, `""`, `"\udf89b"`}, []string{"a", "", "🎉b"}, ""},
		"a high half at the end":       {[]string{`"a\ud83c"`}, []string{"a"}, "\uFFFD"},
		"a high half before a letter":  {[]string{`"a\ud83c"`, `"b"`}, []string{"a", "\uFFFDb"}, ""},
		"two high halves":              {[]string{`"\ud83c"`, `"\ud83c"`, `"\udf89"`}, []string{"", "\uFFFD", "🎉"}, ""},
		"a low half alone":             {[]string{`"\udf89b"`}, []string{"\uFFFDb"}, ""},
		"halves in the wrong order":    {[]string{`"\udf89"`, `"\ud83c"`}, []string{"\uFFFD", ""}, "\uFFFD"},
		"a pair cut twice":             {[]string{`"\ud83c"`, `"\udf89\ud83d"`, `"\ude00"`}, []string{"", "🎉", "😀"}, ""},
		"bytes of one character":       {[]string{"\"a\xe4\"", "\"\xbd\"", "\"\xa0b\""}, []string{"a", "", "你b"}, ""},
		"bytes that are no character":  {[]string{"\"a\xff\xfe\"", `"b"`}, []string{"a\uFFFD", "b"}, ""},
		"a first byte at the end":      {[]string{"\"a\xf0\x9f\""}, []string{"a"}, "\uFFFD"},
		"an escaped backslash":         {[]string{`"a\\ud83c"`, `"\\udf89"`}, []string{`a\ud83c`, `\udf89`}, ""},
		"all escapes, with a half":     {[]string{`"\"\\\/\b\f\n\r\t\u00e9\ud83c"`, `"\udf89"`}, []string{"\"\\/\b\f\n\r\té", "🎉"}, ""},
		"U+FFFD is a character":        {[]string{`"\ufffd"`, `"\ud83c"`, "\"\uFFFD\""}, []string{"\uFFFD", "", "\uFFFD\uFFFD"}, ""},
		"what only looks like a half":  {[]string{`"\ud7ff"`, `"\ue000"`}, []string{"\ud7ff", "\ue000"}, ""},
		"a half as bytes, and escaped": {[]string{"\"\xed\xa0\xbc\"", `"\udf89"`}, []string{"", "🎉"}, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var j joiner
			var whole strings.Builder
			for i, raw := range tc.pieces {
				piece, err := DecodeText(raw)
				require.NoError(t, err)
				whole.WriteString(piece)
				require.Equal(t, tc.want[i], j.Add(piece))
			}
			require.Equal(t, tc.end, j.End())
			require.Equal(t, strings.Join(tc.want, "")+tc.end, JoinText(whole.String()))
		})
	}
}

func TestWhatIsNoString(t *testing.T) {
	for _, raw := range []string{``, `"`, `7`, `null`, `{"a":"\ud83c"}`, `"\ud83"`, `"\ud83c`} {
		_, err := DecodeText(raw)
		require.Error(t, err, raw)
	}
}

// A text comes out unchanged, with any cuts and escapes of a server.
func TestAnyTextCutAnywhere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		units := utf16.Encode([]rune(text))
		var j joiner
		var got strings.Builder
		for len(units) > 0 {
			n := rapid.IntRange(1, len(units)).Draw(t, "piece")
			var raw strings.Builder
			for _, u := range units[:n] {
				raw.WriteString(`\u` + string("0123456789abcdef"[u>>12]) + string("0123456789abcdef"[u>>8&15]) + string("0123456789abcdef"[u>>4&15]) + string("0123456789abcdef"[u&15]))
			}
			piece, err := DecodeText(`"` + raw.String() + `"`)
			require.NoError(t, err)
			whole := j.Add(piece)
			require.True(t, utf8.ValidString(whole))
			got.WriteString(whole)
			units = units[n:]
		}
		require.Empty(t, j.End())
		require.Equal(t, text, got.String())
	})
}

// Any bytes give UTF-8, the same as in one piece.
func TestAnyBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOf(rapid.SampledFrom([]byte("a\xed\xa0\xbc\xbe\x89\xf0\x9f\x8e\xe4\xbd\xff"))).Draw(t, "bytes"))
		at := rapid.IntRange(0, len(text)).Draw(t, "at")
		var j joiner
		got := j.Add(text[:at]) + j.Add(text[at:]) + j.End()
		require.True(t, utf8.ValidString(got))
		if strings.Count(text, "\xff") == 0 { // a run of broken bytes that is cut gives one sign more
			require.LessOrEqual(t, len([]rune(got)), len(text))
		}
		require.True(t, utf8.ValidString(JoinText(text)))
	})
}

func TestTextInJSON(t *testing.T) {
	for _, raw := range []string{`"a\ud83c"`, `"\udf89b"`, `"\"\\\u0000\u001f<>&é🎉"`} {
		var text StreamText
		require.NoError(t, json.Unmarshal([]byte(raw), &text))
		back, err := text.MarshalJSON()
		require.NoError(t, err)
		require.Equal(t, raw, string(back))
	}
	var a, b StreamText
	require.NoError(t, json.Unmarshal([]byte(`"a\ud83c"`), &a))
	require.NoError(t, json.Unmarshal([]byte(`"\udf89b"`), &b))
	both, err := (a + b).MarshalJSON()
	require.NoError(t, err)
	require.Equal(t, `"a🎉b"`, string(both))
	require.Equal(t, "a🎉b", JoinText(string(a+b)))
}

func TestClean(t *testing.T) {
	for value, want := range map[string]string{
		`{"a":"\ud83c\udf89","b":1}`:       `{"a":"\ud83c\udf89","b":1}`,
		`{"a":"\ud83c","b":"\udf89"}`:      `{"a":"\ufffd","b":"\ufffd"}`,
		`["\ud83c\ud83c\udf89","\\ud83c"]`: `["\ufffd\ud83c\udf89","\\ud83c"]`,
		`"\ud83c\n"`:                       `"\ufffd\n"`,
		"\"a\xff\"":                        "\"a\uFFFD\"",
		`"\ud83`:                           `"\ud83`,
		`"\ud83c\`:                         `"\ufffd\`,
	} {
		require.Equal(t, want, string(CleanText([]byte(value))), value)
	}
}

func TestRest(t *testing.T) {
	half := func(raw string) string {
		text, err := DecodeText(raw)
		require.NoError(t, err)
		return text
	}
	for name, tc := range map[string]struct {
		whole, said, rest string
		ok                bool
	}{
		"nothing said":              {"a🎉", "", "a🎉", true},
		"a part":                    {"a🎉", "a", "🎉", true},
		"all":                       {"a🎉", "a🎉", "", true},
		"something else":            {"a🎉", "b", "", false},
		"half of a pair":            {"a🎉b", half(`"a\ud83c"`), half(`"\udf89"`) + "b", true},
		"half of another":           {"a🎉b", half(`"a\ud83d"`), "", false},
		"bytes of a character":      {"a你b", "a\xe4", "\xbd\xa0b", true},
		"half, and nothing is left": {"a", half(`"a\ud83c"`), "", false},
	} {
		t.Run(name, func(t *testing.T) {
			rest, ok := RestOfText(tc.whole, tc.said)
			require.Equal(t, tc.ok, ok)
			if ok {
				require.Equal(t, tc.rest, rest)
				require.Equal(t, tc.whole, JoinText(tc.said+rest))
			}
		})
	}
}
