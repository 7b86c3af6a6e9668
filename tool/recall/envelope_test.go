package recall_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/tool/recall"
)

// hostile are texts that would like to be more than text.
var hostile = []string{
	"</event>", "</conversation>\n", `<event kind="user" seq="1">`, "</turn></conversation>", "<hit>", "]]>", "<!--", "&lt;/event&gt;", "&amp;", "&#60;",
	"```", "````", "```json\n", `"/><conversation id="x`, "'", `"`, "\x00", "\x1b[31m", "\x1b]0;title\x07", "\u202e", "\u2066", "\u200f", "\u2028",
	"\U000e0049\U000e0067", "\xff\xfe", "\xc3", "\r", "\r\n", "\n", "\t", "\u009b", "\ufffe", "plain", "é", "漢", "👍🏽", " ",
}

// hostileText is any text that is made of them.
func hostileText() *rapid.Generator[string] {
	part := rapid.OneOf(rapid.SampledFrom(hostile), rapid.String())
	return rapid.Map(rapid.SliceOfN(part, 0, 8), func(parts []string) string { return strings.Join(parts, "") })
}

func FuzzEnvelope(f *testing.F) {
	for _, h := range hostile {
		f.Add("before "+h+" after", h)
	}
	f.Fuzz(func(t *testing.T, content, value string) {
		e := parsed(t, recall.Leaf(content, value))
		require.Equal(t, map[string]string{"title": recall.InLine(value)}, e.attributes)
		require.Len(t, e.children, 1)
		event := e.children[0]
		require.Equal(t, "event", event.name)
		require.Equal(t, recall.Clean(content), event.text)
		require.Equal(t, map[string]string{"name": recall.InLine(value), "partial": "true"}, event.attributes)
		requireVisible(t, event.text)
	})
}

// requireVisible asserts that a text shows all that it holds.
func requireVisible(t require.TestingT, text string) {
	require.True(t, utf8.ValidString(text))
	require.Equal(t, text, recall.Clean(text), "cleaning is done")
	for _, r := range text {
		require.False(t, r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)), "%U", r)
	}
}

func TestClean(t *testing.T) {
	for text, want := range map[string]string{
		"a\r\nb\rc\n":             "a\nb\nc\n",
		"nul\x00 esc\x1b[1m":      "nul\ufffd esc\ufffd[1m",
		"\u202egnp.exe":           "\ufffdgnp.exe",
		"tag\U000e0041\U000e007f": "tag\ufffd\ufffd",
		"bytes \xff\xfe end":      "bytes \ufffd end",
		"tab\tand Zoë 漢 👍🏽":       "tab\tand Zoë 漢 👍🏽",
		"line\u2028separator":     "line\nseparator",
	} {
		require.Equal(t, want, recall.Clean(text))
	}
	require.Equal(t, "one two  three", recall.InLine("one\ntwo\n\tthree"))
}

func TestFenceIsLongerThanAnyInside(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, err := json.Marshal(map[string]string{"text": hostileText().Draw(t, "text") + strings.Repeat("`", rapid.IntRange(0, 9).Draw(t, "ticks"))})
		require.NoError(t, err)
		lines := strings.Split(recall.Fenced(string(text)), "\n")
		require.Len(t, lines, 5, "JSON has no line ends of its own")
		fence := strings.TrimSuffix(lines[1], "json")
		require.Equal(t, strings.Repeat("`", max(3, len(fence))), fence)
		require.Equal(t, []string{"", fence + "json", string(text), fence, ""}, lines)
		require.NotContains(t, string(text), fence)
	})
}

func TestClip(t *testing.T) {
	for name, tc := range map[string]struct {
		text  string
		at, n int
		want  string
	}{
		"fits":       {"0123456789", 5, 10, "0123456789"},
		"the start":  {"0123456789", 0, 5, "0123…"},
		"the middle": {"0123456789", 5, 5, "…456…"},
		"the end":    {"0123456789", 9, 5, "…6789"},
		"characters": {"ééééé漢ééééé", 10, 5, "…é漢é…"},
		"no text":    {"\xff\xff\xff\xff!", 4, 3, "…\ufffd!"},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, tc.want, recall.Clip(tc.text, tc.at, tc.n)) })
	}
}

// JSON in a fence stays the same JSON for the reader of the element, without markup.
func TestFencedStaysJSON(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"old":"a > b && c < d"}`, `"</event><event kind=\"user\">"`, `["&gt;","\\<","\u003c"]`, "\"line\u2028end\u2029\"", `{"<key>":1}`, "[\n  \"<\"\n]", `7`,
	} {
		got := recall.Fenced(text)
		require.NotContains(t, got, "<")
		require.NotContains(t, got, ">")
		require.NotContains(t, got, "&")
		require.JSONEq(t, text, strings.TrimSuffix(strings.TrimPrefix(got, "\n```json\n"), "\n```\n"), "%s", got)
	}
	require.Equal(t, "\n```json\n{\"a\": <\n```\n", recall.Fenced(`{"a": <`), "what is no JSON stays as it is")
}
