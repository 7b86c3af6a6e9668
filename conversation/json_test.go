package conversation_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	. "jp/conversation"
)

func TestCanonical(t *testing.T) {
	cases := []struct{ name, in, want string }{
		{"white space", " { \"b\" : [ 1 , 2 ] ,\r\n\t\"a\" : null } ", `{"a":null,"b":[1,2]}`},
		{"keys in byte order", `{"é":1,"z":2,"Z":3,"":4}`, `{"":4,"Z":3,"z":2,"é":1}`},
		{"keys sort decoded", `{"b":1,"\u0061":2}`, `{"a":2,"b":1}`},
		{"no needless escapes", `"\u0041\/\u00e9\ud83d\ude00<>&"`, `"A/é😀<>&"`},
		{"needed escapes", `"\"\\\u0000\u001f\u007f\u2028\u2029"`, `"\"\\\u0000\u001f\u007f\u2028\u2029"`},
		{"raw ones are escaped", "\"\x7f\u2028\u2029\"", `"\u007f\u2028\u2029"`},
		{"short forms", `"\u000a\u0009\u000d\u0008\u000c"`, `"\n\t\r\b\f"`},
		{"upper case hex", `"\u001F\u00E9"`, `"\u001fé"`},
		{"big integer", `9007199254740993`, `9007199254740993`},
		{"fraction", `1.0`, `1.0`},
		{"big exponent", `1e400`, `1e400`},
		{"signs", `[-0,-1.5E+7,0.10]`, `[-0,-1.5E+7,0.10]`},
		{"literals", `[true,false,null]`, `[true,false,null]`},
		{"empty", `[{},[],""]`, `[{},[],""]`},
		{"of the format", `{"usage":{"output":544,"input":8900,"cost_usd":"0.0123"},"call":2}`,
			`{"call":2,"usage":{"cost_usd":"0.0123","input":8900,"output":544}}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := Canonical([]byte(c.in))
			require.NoError(t, err)
			require.Equal(t, c.want, string(got))
			require.NoError(t, CheckJSON([]byte(c.in)))
		})
	}
}

func TestJSONRefuses(t *testing.T) {
	cases := map[string]string{
		"nothing":             ``,
		"blank":               ` `,
		"duplicate":           `{"a":1,"a":2}`,
		"duplicate, escaped":  `{"a":1,"\u0061":2}`,
		"duplicate of many":   `{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"a":1}`,
		"duplicate, nested":   `[{"x":{"a":1,"a":2}}]`,
		"high surrogate":      `"\ud800"`,
		"low surrogate":       `"\udc00"`,
		"high and text":       `"\ud800x"`,
		"two high":            `"\ud800\ud800"`,
		"not UTF-8":           "\"\xff\"",
		"not UTF-8, escaped":  "\"\\n\xe4\xb8\"",
		"encoded surrogate":   "\"\xed\xa0\x80\"",
		"control":             "\"a\nb\"",
		"control, escaped":    "\"\\n\x01\"",
		"last control":        "\"\x1f\"",
		"last control, esc.":  "\"\\n\x1f\"",
		"bad escape":          `"\x41"`,
		"bad hex":             `"\u00g0"`,
		"short hex":           `"\u00`,
		"trailing":            `{} {}`,
		"trailing comma":      `[1,]`,
		"trailing comma, obj": `{"a":1,}`,
		"leading comma":       `[,1]`,
		"no comma":            `[1 2]`,
		"no colon":            `{"a" 1}`,
		"open array":          `[1`,
		"open object":         `{"a":1`,
		"open string":         `"a`,
		"open escape":         `"a\`,
		"NUL":                 "\x00",
		"leading zero":        `01`,
		"plus":                `+1`,
		"no fraction":         `1.`,
		"no integer":          `.5`,
		"no exponent":         `1e`,
		"minus":               `-`,
		"not a number":        `NaN`,
		"word":                `nul`,
		"longer word":         `nulls`,
		"byte order mark":     "\ufeff{}",
		"comment":             `{}//`,
	}
	for name, in := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := Canonical([]byte(in))
			require.ErrorIs(t, err, ErrJSON)
			require.ErrorIs(t, CheckJSON([]byte(in)), ErrJSON)
			_, err = ParseObject([]byte(in))
			require.ErrorIs(t, err, ErrJSON)
		})
	}
}

func TestJSONDepth(t *testing.T) {
	for _, pair := range [][2]string{{"[", "]"}, {`{"a":`, "}"}} {
		at := func(depth int) []byte {
			return []byte(strings.Repeat(pair[0], depth) + "[]" + strings.Repeat(pair[1], depth))
		}
		require.NoError(t, CheckJSON(at(63)), "64 levels")
		require.ErrorIs(t, CheckJSON(at(64)), ErrJSON, "65 levels")
		require.ErrorIs(t, CheckJSON(at(100_000)), ErrJSON)
	}
	inner := strings.Repeat("[", 63) + strings.Repeat("]", 63)
	_, err := ParseObject([]byte(`{"a":` + inner + `}`))
	require.NoError(t, err)
	_, err = ParseObject([]byte(`{"a":[` + inner + `]}`))
	require.ErrorIs(t, err, ErrJSON)
}

func TestCompactKeepsTheBytes(t *testing.T) {
	const compact = "{\"b\":1.0,\"a\":[1e400,\"\\u0041<\u2028\"]}"
	for _, in := range []string{
		"{ \"b\" : 1.0 ,\n \"a\":[1e400,\"\\u0041<\u2028\"] }",
		"{\n  \"b\": 1.0,\n  \"a\": [\n    1e400,\n    \"\\u0041<\u2028\"\n  ]\n}",
		compact,
	} {
		got, err := Compact([]byte(in))
		require.NoError(t, err)
		require.Equal(t, compact, string(got))
	}
	_, err := Compact([]byte(`{"a":1,"a":2}`))
	require.ErrorIs(t, err, ErrJSON)
}

func TestParseObject(t *testing.T) {
	fields, err := ParseObject([]byte(` {"b": 1.0 ,"a":{"z" : 1}} `))
	require.NoError(t, err)
	require.Equal(t, []Field{{Key: "b", Raw: []byte("1.0")}, {Key: "a", Raw: []byte(`{"z" : 1}`)}}, fields)
	_, err = ParseObject([]byte(`[1]`))
	require.ErrorIs(t, err, ErrJSON)
}

// anyJSON draws a value as encoding/json writes it, with white space.
func anyJSON() *rapid.Generator[[]byte] {
	return rapid.Custom(func(t *rapid.T) []byte {
		var value func(depth int) any
		value = func(depth int) any {
			switch rapid.IntRange(0, 6-min(depth, 2)).Draw(t, "kind") {
			case 0:
				return rapid.String().Draw(t, "string")
			case 1:
				return rapid.Float64().Draw(t, "number")
			case 2:
				return rapid.Int64().Draw(t, "integer")
			case 3:
				return rapid.Bool().Draw(t, "bool")
			case 4:
				return nil
			case 5:
				list := []any{}
				for range rapid.IntRange(0, 3).Draw(t, "n") {
					list = append(list, value(depth+1))
				}
				return list
			}
			object := map[string]any{}
			for range rapid.IntRange(0, 10).Draw(t, "n") {
				object[rapid.String().Draw(t, "key")] = value(depth + 1)
			}
			return object
		}
		out, err := json.MarshalIndent(value(0), "", "  ")
		require.NoError(t, err)
		return out
	})
}

func TestCanonicalProperties(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		in := anyJSON().Draw(r, "json")
		checkCanonical(r, in)
		require.NoError(r, CheckJSON(in))
	})
}

// checkCanonical asserts the properties of every accepted value.
func checkCanonical(t require.TestingT, in []byte) {
	out, err := Canonical(in)
	require.Equal(t, err == nil, CheckJSON(in) == nil, "writing and checking agree")
	if err != nil {
		require.ErrorIs(t, err, ErrJSON)
		return
	}
	again, err := Canonical(out)
	require.NoError(t, err)
	require.Equal(t, string(out), string(again), "idempotent")
	require.False(t, bytes.ContainsAny(out, "\n\r\t\x00\x7f\u2028\u2029"))
	require.True(t, json.Valid(in))
	require.Equal(t, generic(t, in), generic(t, out), "the same value")
	compact, err := Compact(in)
	require.NoError(t, err)
	var want bytes.Buffer
	require.NoError(t, json.Compact(&want, in))
	require.Equal(t, want.String(), string(compact))
}

func generic(t require.TestingT, in []byte) any {
	d := json.NewDecoder(bytes.NewReader(in))
	d.UseNumber()
	var v any
	require.NoError(t, d.Decode(&v))
	return v
}

func FuzzCanonical(f *testing.F) {
	for _, seed := range []string{`{"b":[1,2.50,-0e1],"a":"\ud83d\ude00\u2028"}`, `"\ud800"`, `[[[[]]]]`, "{\"\xff\":1}", `{"a":1,"a":2}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) { checkCanonical(t, in) })
}
