package wirecheck_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/internal/testing/wirecheck"
)

// fields are the members of a body, each value as JSON.
type fields map[string]string

// with is the body that has these members and, in their place, others; an empty
// value takes a member away.
func (f fields) with(others fields) []byte {
	all := maps.Clone(f)
	maps.Copy(all, others)
	var members []string
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if all[key] != "" {
			members = append(members, quoted(key)+":"+all[key])
		}
	}
	return []byte("{" + strings.Join(members, ",") + "}")
}

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

func array(items ...string) string { return "[" + strings.Join(items, ",") + "]" }

// A bodyTest is one body and the one rule that it breaks; or none.
type bodyTest struct {
	name string
	rule string
	body fields
	c    wirecheck.Capability
}

type validator func([]byte, wirecheck.Capability) []wirecheck.Violation

// judge runs the tables; rules are those that must have a body that breaks only
// them.
func judge(t *testing.T, validate validator, base fields, rules string, tables ...[]bodyTest) {
	t.Helper()
	broken := map[string]bool{}
	for _, test := range slices.Concat(tables...) {
		t.Run(strings.TrimSpace(test.rule+" "+test.name), func(t *testing.T) {
			body := base.with(test.body)
			require.True(t, json.Valid(body), "%s", body)
			found := validate(body, test.c)
			want := []string{}
			if test.rule != "" {
				want = append(want, test.rule)
			}
			require.Equal(t, want, ruleSet(found), "%s\n%v", body, found)
		})
		broken[test.rule] = true
	}
	for _, rule := range strings.Fields(rules) {
		require.True(t, broken[rule], "no body breaks only %s", rule)
	}
}

// ruleSet are the names of the broken rules, each once.
func ruleSet(found []wirecheck.Violation) []string {
	set := map[string]bool{}
	for _, v := range found {
		set[v.Rule] = true
	}
	return slices.AppendSeq([]string{}, slices.Values(slices.Sorted(maps.Keys(set))))
}

func raws(values ...string) []json.RawMessage {
	list := []json.RawMessage{}
	for _, v := range values {
		list = append(list, json.RawMessage(v))
	}
	return list
}

var validators = map[string]validator{
	"anthropic": wirecheck.Anthropic, "chat": wirecheck.Chat,
	"responses": wirecheck.Responses, "gemini": wirecheck.Gemini,
}

func TestWhatIsNoRequest(t *testing.T) {
	deep := `{"messages":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + "}"
	bodies := []string{"", " ", "null", "[]", `"x"`, "{", "{}", "{} {}", `{"a":1,}`, "\xff", deep,
		`{"messages":5,"input":5,"contents":5}`,
		`{"messages":[5],"input":[5],"contents":[5]}`,
		`{"messages":[{}],"input":[{}],"contents":[{}]}`,
		`{"messages":[{"role":"pilot","content":"x"}],"input":[{"role":"pilot","content":"x"}],"contents":[{"role":"pilot","parts":[{"text":"x"}]}]}`,
	}
	for name, validate := range validators {
		for _, body := range bodies {
			require.Contains(t, ruleSet(validate([]byte(body), wirecheck.Capability{})), wirecheck.Format, "%s: %.80q", name, body)
		}
	}
}

func TestKeysStandOnce(t *testing.T) {
	good := map[string][]byte{
		"anthropic": anthropicBase.with(nil), "chat": chatBase.with(nil),
		"responses": responsesBase.with(nil), "gemini": geminiBase.with(nil),
	}
	for name, body := range good {
		require.Empty(t, validators[name](body, wirecheck.Capability{}), name)
		twice := append([]byte(`{"user":1,"user":1,`), body[1:]...)
		found := validators[name](twice, wirecheck.Capability{})
		require.Equal(t, []string{wirecheck.Format}, ruleSet(found), name)
	}
}

func TestStringsAreText(t *testing.T) {
	for text, rule := range map[string]string{
		`"\u0000"`:               "P7",
		`"a\ud800b"`:             "P7",
		`"\udc00"`:               "P7",
		"\"\xc3\x28\"":           "P7",
		`"\ufffd"`:               "",
		"\"\uFFFD\"":             "",
		`"\ud83d\ude00 \\ud800"`: "",
		`{"\u0000":1}`:           "P7",
	} {
		body := anthropicBase.with(fields{"metadata": text})
		want := []string{}
		if rule != "" {
			want = append(want, rule)
		}
		require.Equal(t, want, ruleSet(wirecheck.Anthropic(body, wirecheck.Capability{})), "%q", text)
	}
}

func TestViolationSaysItAll(t *testing.T) {
	v := wirecheck.Violation{Rule: "A1", Where: "messages[0]", Problem: "is odd"}
	require.EqualError(t, v, "A1: messages[0]: is odd")
	v.Where = ""
	require.Equal(t, "A1: is odd", v.String())
	found := wirecheck.Anthropic(anthropicBase.with(fields{"messages": array(aUser(say("Q")), aUser(say("Q")))}), wirecheck.Capability{})
	require.Len(t, found, 1)
	require.Equal(t, "messages[1]", found[0].Where)
}
