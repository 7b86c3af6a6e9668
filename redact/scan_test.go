package redact

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Values are put together here, so that no scanner takes this file for a leak.
func made(seed uint64, alphabet string, n int) string {
	r := rand.New(rand.NewPCG(seed, 7))
	var b strings.Builder
	for range n {
		b.WriteByte(alphabet[r.IntN(len(alphabet))])
	}
	return b.String()
}

const (
	hexDigits = "0123456789abcdef"
	base62    = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	base32    = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	base64ish = base62 + "+/"
)

func pat(seed uint64) string { return "gh" + "p_" + made(seed, base62, 36) }

func pem(seed uint64, sep string) string {
	lines := []string{"-----BEGIN RSA " + "PRIVATE KEY-----"}
	for i := range uint64(8) {
		lines = append(lines, made(seed+i, base64ish, 64))
	}
	return strings.Join(append(lines, made(seed, base64ish, 30)+"==", "-----END RSA "+"PRIVATE KEY-----"), sep)
}

func TestFinds(t *testing.T) {
	token, key := made(1, base62, 40), made(2, base64ish, 40)
	jwt := "ey" + "J" + made(3, base62, 34) + "." + "ey" + "J" + made(4, base62, 60) + "." + made(5, base62, 43)
	for _, c := range []struct{ rule, before, secret, after string }{
		{"github-pat", "use ", pat(1), " for it"},
		{"github-pat", `{"token": "`, pat(2), `"}`},
		{"github-pat", "Authorization: Bearer ", pat(3), "\r\n"},
		{"aws-access-token", "id ", "AK" + "IA" + made(3, base32, 16), ""},
		{"aws-secret-access-key", "AK" + "IA" + made(6, base32, 16) + ",", key, "\n"},
		{"generic-api-key", "aws_secret_access_key = ", key, "\n"},
		{"jwt", "Set-Cookie: s=", jwt, "; Path=/"},
		{"url-password", "git clone https://bob:", "hunter2pw", "@host.example/x"},
		{"url-password", "DATABASE_URL=postgres://app:", "s3cr%21t", "@db:5432/x"},
		{"authorization-header", "Authorization: Basic ", made(9, base62, 20) + "==", "\n"},
		{"bearer-token", `headers: {a: "Bearer `, token, `"}`},
		{"connection-string", "Server=db;User Id=sa;Password=", "Pa55w0rd!x", ";"},
		{"connection-string", "AccountName=x;AccountKey=", made(7, base64ish, 86) + "==", ";"},
		{"netrc-password", "machine h login me password ", "correct9horse", "\n"},
		{"generic-api-key", "export API_TOKEN=", token, ""},
		{"generic-api-key", `"api_key": "`, made(8, hexDigits, 32), `"`},
		{"private-key", "key:\n", pem(1, "\n"), "\nend"},
		{"private-key", `{"k":"`, pem(2, `\n`), `\n"}`},
		{"private-key", "", strings.TrimSuffix(pem(3, "\r\n"), "-----END RSA "+"PRIVATE KEY-----"), ""},
		{"slack-bot-token", "", "xo" + "xb-" + made(1, "123456789", 12) + "-" + made(2, "123456789", 12) + "-" + made(3, base62, 24), ""},
	} {
		t.Run(c.rule, func(t *testing.T) {
			text := c.before + c.secret + c.after
			var s Scanner
			found := s.Scan(text)
			require.NotEmpty(t, found, text)
			out, secrets := New([]byte("k")).Redact("", text)
			require.Equal(t, c.rule, RuleOf(secrets[len(secrets)-1].Placeholder), out)
			require.NotContains(t, out, strings.TrimSpace(c.secret)[:4+len(c.secret)/2])
		})
	}
}

func TestLeavesAlone(t *testing.T) {
	sum, oid := made(1, hexDigits, 64), made(2, hexDigits, 40)
	for _, text := range []string{
		"commit " + oid, "key: " + oid, "tree token " + sum, "cache_key = " + sum, "token id: 123e4567-e89b-12d3-a456-426614174000",
		"conversation key: jp-c17528832001-k3f9", "golang.org/x/oauth2 v0.35.0 h1:" + made(3, base64ish, 43) + "=",
		`"jsonwebtoken": {"version": "9.0.2", "integrity": "sha512-` + made(4, base64ish, 86) + `=="`,
		`key: "iVBORw0KGgo` + made(5, base64ish, 800) + `"`, "the key=" + "sha256:" + sum,
		"https://user:password@host/x", "postgres://postgres:postgres@localhost/x", "https://$USER:$TOKEN@host", "https://u:${PW}@host", "https://<user>:<password>@host",
		"Authorization: Bearer <token>", "Authorization: Bearer YOUR_TOKEN_HERE", "api_key = os.Getenv(\"API_KEY\")", "password: hunter",
		`key := "whsec_` + "MfKQ9r8GKYqrTwjU" + `PD8ILPZIo2LaLaSw"`, "AI" + "zaSyabcdefghijklmnopqrstuvwxyz1234567", // examples of vendors
		"TOKEN=hunter2hunter2", `secret = "hunter2-of-the-team"`, `RefreshToken: "refresh-456"`, `"clientSecret": "theNameOfAVariable"`,
		"token := strings.TrimSpace(line)", "-----BEGIN RSA PRIVATE KEY-----\n...\n-----END RSA PRIVATE KEY-----",
		"a line `-----BEGIN PRIVATE KEY-----` begins a key, and prose goes on behind it for a while, as it does in documents",
	} {
		var s Scanner
		require.Empty(t, s.Scan(text), text)
	}
}

// samples are texts that a rule's expression matches.
func samples(r rule, n int) []string {
	var list []string
	plain := strings.NewReplacer("ſ", "s", "\u212a", "K", "\x1b", "", "\\", "") // no keyword is written so, and no secret contains escapes
	for seed := range n {
		sample := plain.Replace(rapid.StringMatching(r.regex).Example(seed))
		if !slices.ContainsFunc(r.keywords, func(word string) bool { return strings.Contains(strings.ToLower(sample), word) }) {
			sample = r.keywords[0] + " " + sample
		}
		list = append(list, "at "+sample+"\n")
	}
	return list
}

// Windows and checks in advance must keep each match of an expression in the whole text.
func TestEachRuleFindsWhatItsExpressionDoes(t *testing.T) {
	for _, r := range rules() {
		if r.find != nil {
			continue // without an expression
		}
		t.Run(r.id, func(t *testing.T) {
			m := newMatcher(r)
			m.ready()
			var s Scanner
			s.ready()
			for _, text := range samples(r, 12) {
				for _, want := range m.scan(nil, text, []window{{0, len(text)}}) {
					found := slices.ContainsFunc(s.Scan(text), func(f Finding) bool { return f.Start <= want.Start && f.End >= want.End })
					require.True(t, found, "%q: %v", text, want)
				}
			}
		})
	}
}

func TestScanTakesAnyBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.OneOf(rapid.String(), rapid.Just(pat(4)), rapid.Just("token = "), rapid.Just("\xff\xc3"), rapid.Just("é"), rapid.Just("https://u:"),
			rapid.Just("-----BEGIN "), rapid.Just("PRIVATE KEY-----"), rapid.Just(pem(1, "\n")), rapid.Just("[secret:jwt:"), rapid.Just("@h"), rapid.Just("ſecret=K"))
		text := strings.Join(rapid.SliceOf(piece).Draw(t, "pieces"), "")
		var s Scanner
		end := 0
		for _, f := range s.Scan(text) {
			require.GreaterOrEqual(t, f.Start, end)
			require.Greater(t, f.End, f.Start)
			end = f.End
		}
		require.LessOrEqual(t, end, len(text))
		if out, _ := New([]byte("k")).Redact("", text); utf8.ValidString(text) {
			require.True(t, utf8.ValidString(out), fmt.Sprintf("%q", out))
		}
	})
}

func TestScanIsLinear(t *testing.T) {
	for _, piece := range []string{"token=", "-----BEGIN RSA PRIVATE KEY-----", "curl -u ", "https://u:", "key", "[secret:", "eyJ", "AKIA", "kind: secret data: "} {
		text := strings.Repeat(piece, (1<<18)/len(piece))
		var s Scanner
		s.Scan(text) // a minute if the time were quadratic
	}
}
