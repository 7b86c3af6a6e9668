package redact

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/redact/redacttest"
)

// surroundings are where a secret stands, with %s in its place. bare: it stands there without
// a name that says so.
var surroundings = []struct {
	text string
	bare bool
}{
	{"use %s for it", true},
	{"%s", true},
	{"The key is `%s`, do not tell.", true},
	{"see https://api.example.com/v1/x?q=1&k=%s&n=2 for it", true},
	{`{"value":"%s"}`, true},
	{`{"out":"first\n%s\n"}`, true},
	{"\x1b[01;31m\x1b[K%s\x1b[m\x1b[K", true},
	{"MY_API_KEY=%s\n", false},
	{"export SERVICE_TOKEN='%s'", false},
	{"CLIENT_SECRET=\"%s\"", false},
	{"DB_PASSWORD=%s", false},
	{`{"api_key": "%s", "n": 1}`, false},
	{`{\"client_secret\":\"%s\"}`, false},
	{"service:\n  password: %s\n", false},
	{"password = %s\n", false},
	{"x-api-key: %s\r\n", false},
	{"https://host.example/x?api_key=%s&n=1", false},
	{"tool --api-key %s go", false},
	{"process.env.MY_SECRET = '%s';", false},
	{"os.environ[\"MY_TOKEN\"] = \"%s\"", false},
}

// TestVendorsSecrets makes random secrets of each kind in each surroundings.
// JP_SECRETS=10000 is how many of each.
func TestVendorsSecrets(t *testing.T) {
	n := 4
	if more := os.Getenv("JP_SECRETS"); more != "" {
		n, _ = strconv.Atoi(more)
	}
	r := rand.New(rand.NewPCG(uint64(n), 3))
	letters := func(alphabet string, n int) string {
		var b strings.Builder
		for range n {
			b.WriteByte(alphabet[r.IntN(len(alphabet))])
		}
		return b.String()
	}
	redactor := New([]byte("k"))
	for _, kind := range redacttest.Forms() {
		t.Run(kind.Name, func(t *testing.T) {
			missed := 0
			for i := range n {
				secret := kind.Make(letters)
				for j, place := range surroundings {
					if place.bare && !kind.Bare || n > 1000 && i%len(surroundings) != j {
						continue
					}
					text := fmt.Sprintf(place.text, secret)
					out, _ := redactor.Redact("", text)
					if at := len(secret) / 2; strings.Contains(out, secret[at:]) || strings.Contains(out, secret[:at]) {
						if missed++; missed < 6 {
							t.Errorf("%q stays %q", text, out)
						}
					}
				}
			}
			require.Zero(t, missed)
		})
	}
}

// TestPlaces has secrets that only their place makes ones.
func TestPlaces(t *testing.T) {
	secret := "Qx7" + made(4, base62, 21)
	for _, around := range []string{
		"db.example.com:5432:app:bob:%s\n", "*:*:*:bob:%s", "Cookie: session=%s; theme=dark", "Cookie: theme=dark; sid=%s", "Set-Cookie: connect.sid=%s; Path=/",
		"curl -b 'session=%s' https://x", `{"Cookie": "JSESSIONID=%s"}`, "mysql -u root -p%s shop", "mysqldump --all -p'%s'", "sshpass -p %s ssh h", "redis-cli -h h -a %s",
		"openssl rsa -passin pass:%s", "docker login -u bob -p %s r.example",
		"https://a.blob.core.windows.net/c/f?sv=2022-11-02&sp=r&sig=%s%%3D&se=2030", "https://b.s3.amazonaws.com/f?X-Amz-Date=1&X-Amz-Signature=%s&X-Amz-Expires=9",
		"<password>%s</password>", "PGPASSWORD=%s psql", "-----\npassword: \"%s\"\n-----", "machine h login me password %s\n", "CREATE ROLE x WITH PASSWORD '%s'; ALTER USER x IDENTIFIED BY '%s'",
		"curl -u me:%s https://x", "amqp://bob:%s@h:5672/", "redis://:%s@h/0", "Ocp-Apim-Subscription-Key: %s", "smtp_pass=%s", "MYSQL_PWD=%s",
		"SECRET_KEY_BASE: %s", "bob:%s@tcp(db:3306)/shop", "dsn = \"bob:%s@unix(/run/db.sock)/shop\"", "htpasswd -b .users bob %s", "htpasswd -nbB bob '%s'",
	} {
		text := strings.ReplaceAll(strings.ReplaceAll(around, "%s", secret), "%%", "%")
		out, _ := New([]byte("k")).Redact("", text)
		require.NotContains(t, out, secret, text)
	}
	for _, words := range []string{"plum-" + "orbit-" + "cellar", "Blue-" + "Horse-" + "vpfSxYQ", "PODn" + "EECykU", "pgCKGz" + "IcHe", "tAhu" + "FNAWea"} { // letters alone
		for _, name := range []string{"PGPASSWORD=", "export JWT_SECRET=", "env MY_APP_TOKEN="} {
			out, _ := New([]byte("k")).Redact("", name+words+"\n")
			require.NotContains(t, out, words)
		}
	}
	for _, plain := range []string{"token: my-service.reader", "PASSWORD=my-secret-token", "API_KEY=getToken", "API_KEY=apiKeyOfUser", "password: HTMLInputElement", "SECRET=of-the-art"} {
		out, _ := New([]byte("k")).Redact("", plain)
		require.Equal(t, plain, out)
	}
	letters := "wdFrcrMkKfCape" + "SrvAsVfIkTOgAyoRqb" // a key may have no digit
	out, _ := New([]byte("k")).Redact("", `CLIENT_SECRET="`+letters+`"`)
	require.NotContains(t, out, letters)
}

// A secret that a program coloured in pieces is one secret, with the value that it has
// without colours.
func TestEscapeSequences(t *testing.T) {
	r, secret := New([]byte("k")), pat(7)
	_, plain := r.Redact("", secret)
	require.Len(t, plain, 1)
	for _, sequence := range []string{"\x1b[01;31m\x1b[K", "\x1b[m", "\x1b]8;;https://x\x1b\\", "\x1b]0;t\a", "\x1b(B", "\x1b7"} {
		for _, at := range []int{2, 4, 20, len(secret) - 1} {
			text := "x " + sequence + secret[:at] + sequence + secret[at:] + sequence + " y"
			out, found := r.Redact("", text)
			require.Equal(t, "x "+sequence+plain[0].Placeholder+sequence+" y", out, "%q", text)
			require.Equal(t, plain, found)
			require.Equal(t, out, ReplaceKnown(text, plain))
		}
	}
	r.AddSecret("correct-horse-battery")
	out, _ := r.Redact("", "correct-\x1b[1mhorse\x1b[m-battery")
	require.Regexp(t, `^\[secret:provider-key:[0-9a-f]{16}\]$`, out)
}

// TestManyFindings has one text with 20,000 secrets. Where each of them costs a look at the
// whole text, that is minutes.
func TestManyFindings(t *testing.T) {
	var b strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&b, "TOKEN_%d=%s\n", i%10, pat(uint64(i))[:39]+"7")
	}
	out, found := New([]byte("k")).Redact("", b.String())
	require.Len(t, found, 20_000)
	require.NotContains(t, out, "ghp_")
	require.NotContains(t, ReplaceKnown(b.String(), found), "ghp_")
}
