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
		back, ok := n.Registry(WireName(registry))
		require.True(t, ok)
		require.Equal(t, registry, back)
	}
	invented, ok := n.Registry("run_anything")
	require.False(t, ok)
	require.Equal(t, "run_anything", invented)
}

func TestWireIDs(t *testing.T) {
	long := strings.Repeat("x", 64)
	tests := []struct {
		name, id string
		seq      int
		own      bool
		want     string
	}{
		{"as given", "call_1", 1, false, "call_1"},
		{"again", "call_1", 2, false, "jp2"},
		{"empty", "", 3, false, "jp3"},
		{"too long", strings.Repeat("x", 41), 40, false, "jp14"},
		{"spaces", "a b", 5, false, "jp5"},
		{"a newline", "call_2\n", 6, false, "jp6"},
		{"not ASCII", "é", 7, false, "jp7"},
		{"looks made", "jp9", 8, false, "jp8"},
		{"is made", "", 9, false, "jp9"},
		{"another's", "functions.fs_read_file:0", 10, false, "jpa"},
		{"its own", "functions.fs_read_file:0", 11, true, "functions.fs_read_file:0"},
		{"its own again", "functions.fs_read_file:0", 12, true, "jpc"},
		{"its own with spaces", "a b", 13, true, "a b"},
		{"its own, not ASCII", "é", 14, true, "é"},
		{"its own of 64 characters", long, 15, true, long},
		{"its own of 65", long + "x", 16, true, "jpg"},
		{"its own with a newline", "call_3\n", 17, true, "jph"},
		{"its own, damaged", "call_\uFFFD", 18, true, "jpi"},
		{"its own, no UTF-8", "call_\xff", 19, true, "jpj"},
		{"its own, empty", "", 20, true, "jpk"},
		{"its own looks made", "jpm", 21, true, "jpm"},
		{"is made when it is taken", "", 22, true, "jpm-"},
		{"looks made when it was taken", "jpm-", 23, false, "jpn"},
	}
	ids := newWireIDs(nil)
	for _, test := range tests {
		require.Equal(t, test.want, ids.take(test.id, test.seq, test.own), test.name)
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
		{`^jp[0-9a-z]+-*$`, looksGenerated},
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
