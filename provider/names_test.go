package provider

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestWireName(t *testing.T) {
	long := strings.Repeat("x", 65)
	tests := []struct{ registry, want string }{
		{"fs_read_file", `^fs_read_file$`},
		{"_x-1", `^_x-1$`},
		{long[:64], `^x{64}$`},
		{long, `^x{55}_[0-9a-f]{8}$`},
		{"a.b", `^a_b_[0-9a-f]{8}$`},
		{"", `^__e3b0c442$`},
		{"9lives", `^_9lives_[0-9a-f]{8}$`},
		{"get_issue\n", `^get_issue__[0-9a-f]{8}$`},
		{"größe", `^gr_+e_[0-9a-f]{8}$`},
		{"looks_0123abcd", `^looks_0123abcd_[0-9a-f]{8}$`},
	}
	for _, test := range tests {
		require.Regexp(t, test.want, WireName(test.registry), test.registry)
	}
}

func TestWireNamesAreDistinct(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-z._]{1,70}`))
		a, b := name.Draw(t, "a"), name.Draw(t, "b")
		require.Regexp(t, validName, WireName(a))
		require.Equal(t, a == b, WireName(a) == WireName(b))
		require.NotEqual(t, WireName(a), WireName(WireName(a)+"!"))
	})
}

func TestAHashedNameCannotBeForged(t *testing.T) {
	require.NotEqual(t, WireName("a.b"), WireName(WireName("a.b")))
}

func TestNames(t *testing.T) {
	n := NewNames("fs_read_file", "my.tool")
	for _, registry := range []string{"fs_read_file", "my.tool"} {
		wire, ok := n.Wire(registry)
		require.True(t, ok)
		back, ok := n.Registry(wire)
		require.True(t, ok)
		require.Equal(t, registry, back)
	}
	_, ok := n.Wire("other")
	require.False(t, ok)
	invented, ok := n.Registry("run_anything")
	require.False(t, ok)
	require.Equal(t, "run_anything", invented)
}

func TestWireIDs(t *testing.T) {
	tests := []struct {
		name, id string
		seq      int
		want     string
	}{
		{"as given", "call_1", 1, "call_1"},
		{"again", "call_1", 2, "jp2"},
		{"empty", "", 3, "jp3"},
		{"too long", strings.Repeat("x", 41), 40, "jp14"},
		{"spaces", "a b", 5, "jp5"},
		{"a newline", "call_2\n", 6, "jp6"},
		{"not ASCII", "é", 7, "jp7"},
		{"looks made", "jp9", 8, "jp8"},
		{"is made", "", 9, "jp9"},
	}
	ids := wireIDs{}
	for _, test := range tests {
		require.Equal(t, test.want, ids.take(test.id, test.seq), test.name)
	}
}

func TestNamesAreThoseOfTheirPatterns(t *testing.T) {
	patterns := []struct {
		pattern string
		is      func(string) bool
	}{
		{`^[A-Za-z_][A-Za-z0-9_-]{0,63}$`, isWireName},
		{`_[0-9a-f]{8}$`, looksHashed},
		{`^[A-Za-z0-9_-]{1,40}$`, isWireID},
		{`^jp[0-9a-z]+$`, looksGenerated},
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(
			rapid.String(), rapid.StringMatching(`[A-Za-z0-9_-]{0,66}`), rapid.StringMatching(`[a-z_é]{0,3}_[0-9a-f]{7,9}`), rapid.StringMatching(`jp?[0-9a-zA-Z]{0,4}`),
		).Draw(t, "text")
		for _, p := range patterns {
			require.Equal(t, regexp.MustCompile(p.pattern).MatchString(text), p.is(text), p.pattern)
		}
		bytes := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
		require.Equal(t, regexp.MustCompile(`[^A-Za-z0-9_-]`).ReplaceAllString(bytes, "_"), strings.Map(inNames, bytes))
		require.Equal(t, strings.ReplaceAll(strings.ToValidUTF8(bytes, "\uFFFD"), "\x00", "\uFFFD"), cleanText(bytes))
	})
}
