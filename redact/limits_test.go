package redact

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAtTheLimits has values just inside and just outside of the limits of rules. Every useful piece of a
// secret must go.
func TestAtTheLimits(t *testing.T) {
	digits := func(n int) string { return made(11, base62, n-1) + "7" }
	for name, c := range map[string]struct {
		before, secret, after string
		found                 bool
	}{
		"bearer, at the least":         {"Use Bearer ", digits(20), " here", true},
		"bearer, below it":             {"Use Bearer ", digits(19), " here", false},
		"header, at the least":         {"Authorization: Bearer ", "a1B2c3D4", "\n", true},
		"header, below it":             {"Authorization: Bearer ", "a1B2c3D", "\n", false},
		"url, at the least":            {"https://bob:", "x7q", "@host.example/", true},
		"url, below it":                {"https://bob:", "x7", "@host.example/", false},
		"url, at the most":             {"https://bob:", digits(200), "@host.example/", true},
		"url, after another without":   {"https://host.example/a https://bob:", "hunter2pw", "@h/", true},
		"netrc, at the least":          {"machine h login me password ", "x7q", "\n", true},
		"connection, at the least":     {"Server=db;Password=", "x7q9", ";", true},
		"connection, below it":         {"Server=db;Password=", "x7q", ";", false},
		"account key, at the least":    {"AccountKey=", digits(20), ";", true},
		"aws, far from its id":         {"AK" + "IA" + made(6, base32, 16) + strings.Repeat(" .", 99) + " ", made(2, base64ish, 40), "\n", true},
		"at the end of the text":       {"export API_TOKEN=", digits(40), "", true},
		"longer than rules look":       {"export API_TOKEN=", digits(140), "\n", true},
		"a key that is cut in a line":  {"", strings.TrimSuffix(pem(3, "\n"), "-----END RSA "+"PRIVATE KEY-----")[:400], "", true},
		"a key behind a public one":    {"-----BEGIN PUBLIC KEY-----\n" + made(1, base64ish, 64) + "\n-----END PUBLIC KEY-----\n", pem(4, "\n"), "\nend", true},
		"a key behind a certificate":   {"-----BEGIN CERTIFICATE-----\n" + made(1, base64ish, 64) + "\n-----END CERTIFICATE-----\n", pem(5, "\n"), "", true},
		"a key behind one that is cut": {pem(6, "\n")[:300] + "\n", pem(7, "\n"), "\nend", true},
	} {
		t.Run(name, func(t *testing.T) {
			out, _ := New([]byte("k")).Redact("", c.before+c.secret+c.after)
			if !c.found {
				require.Contains(t, out, c.secret)
				return
			}
			require.NotContains(t, out, c.secret)
			for at := 0; at+12 <= len(c.secret); at++ {
				if piece := c.secret[at : at+12]; !strings.Contains(piece, "-----") && !strings.Contains(c.before, piece) {
					require.NotContains(t, out, piece)
				}
			}
			require.True(t, strings.HasSuffix(out, strings.TrimSpace(c.after)) || c.after == "\n", out)
		})
	}
}

// TestBesidePlaceholders has a value with a placeholder in the middle: every useful part on both sides is
// found.
func TestBesidePlaceholders(t *testing.T) {
	r := New([]byte("k"))
	held, _ := r.Redact("", pat(1))
	require.Len(t, placeholders(held), 1, held)
	for _, n := range []int{leastPiece - 1, leastPiece, leastPiece + 1} {
		piece := Finding{"x", 0, 2*n + len(held)}
		text := made(1, base62, n) + held + made(2, base62, n)
		found := outside(text, []Finding{piece})
		if n < leastPiece {
			require.Empty(t, found, n)
			continue
		}
		require.Equal(t, []Finding{{"x", 0, n}, {"x", n + len(held), len(text)}}, found)
	}
}

// TestOverlaps has findings of several rules: all that one of them covers is covered.
func TestOverlaps(t *testing.T) {
	text := strings.Repeat("x", 60)
	for name, c := range map[string]struct{ found, want []Finding }{
		"apart":           {[]Finding{{"b", 20, 30}, {"a", 0, 10}}, []Finding{{"a", 0, 10}, {"b", 20, 30}}},
		"side by side":    {[]Finding{{"a", 0, 10}, {"b", 10, 20}}, []Finding{{"a", 0, 10}, {"b", 10, 20}}},
		"one in another":  {[]Finding{{genericRule, 0, 40}, {"jwt", 10, 20}}, []Finding{{"jwt", 0, 40}}},
		"one longer":      {[]Finding{{"jwt", 0, 20}, {genericRule, 10, 40}}, []Finding{{"jwt", 0, 40}}},
		"own comes first": {[]Finding{{"jwt", 0, 20}, {OwnRule, 0, 20}, {"url-password", 5, 50}}, []Finding{{OwnRule, 0, 50}}},
	} {
		require.Equal(t, c.want, mergeFindings(text, c.found), name)
	}
}
