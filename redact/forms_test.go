package redact

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/internal/testing/redacttest"
)

// surroundings are texts around a secret, with %s in its place. bare: they lack a name for it.
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
	for _, c := range []struct{ text, secret string }{ // in any form
		{"MYSQL_PASSWORD=%s", "hunter2"}, {"MYSQL_PASSWORD=%s docker compose up", "horse"}, {"export DB_PASS='%s'", "correct horse"}, {"PASSPHRASE=\"%s\"\n", "a b c"},
		{"docker run -e MYSQL_ROOT_PASSWORD=%s mysql", "tomato"}, {"tool --password=%s go", "abc"}, {"tool --password='%s' go", "my dog"}, {"RESTIC_PASSWORD=%s\n", "p4ss-for-me"},
		{"SECRET=%s", "123456789012"}, {"APP_SECRET=%s\n", "tomatosoup"}, {"export API_TOKEN=%s", "98765432109876"}, {"{\"env\": \"PGPASSWORD=%s\"}", "winter"},
		{"echo %s | sudo -S apt update", "horse"}, {"echo '%s' | sudo -S -p '' ls", "my dog"}, {"printf '%%s\\n' %s | sudo -kS true", "my1dog"}, {"sudo -S id <<< '%s'", "horse"}, {"echo \"%s\"|sudo --stdin id", "horse"},
		{"network={\n\tssid=\"home\"\n\tpsk=\"%s\"\n}", "fluffy cat"}, {"[wifi-security]\npsk=%s\n", "fluffycat"}, {"    wpa-psk %s\n", "fluffycat"}, {"nmcli dev wifi connect home password %s", "fluffycat"},
		{"ALTER ROLE app WITH LOGIN PASSWORD '%s';", "horse"}, {"alter user app password '%s'", "my dog"}, {"CREATE USER a@'%%' IDENTIFIED BY '%s'", "abc"}, {"CREATE USER a IDENTIFIED WITH x BY '%s'", "horse"},
		{"ALTER USER a IDENTIFIED BY \"%s\"", "tiger"}, {"CREATE LOGIN a WITH PASSWORD = '%s'", "horse"}, {"SET PASSWORD FOR a = '%s'", "horse"}, {"SET PASSWORD FOR a@b = PASSWORD('%s')", "horse"},
		{"https://discord.com/api/webhooks/%s", "112233445566778899/" + made(1, base62, 68)}, {"curl https://discordapp.com/api/v10/webhooks/%s?wait=true", "112233445566778899/" + made(2, base62+"-_", 68)},
		{"https://acme-corp.webhook.office.com/webhookb2/%s", "01234567-89ab-cdef-0123-456789abcdef@01234567-89ab-cdef-0123-456789abcdef/IncomingWebhook/" + made(3, hexDigits, 32) + "/01234567-89ab-cdef-0123-456789abcdef/V2abc"},
		{"https://outlook.office.com/webhook/%s", "01234567-89ab-cdef-0123-456789abcdef@01234567-89ab-cdef-0123-456789abcdef/IncomingWebhook/" + made(4, hexDigits, 32) + "/01234567-89ab-cdef-0123-456789abcdef"},
		{"https://prod-1.westus.logic.azure.com:443/workflows/x/triggers/manual/paths/invoke?sp=1&sv=1.0&sig=%s", made(5, base62, 43)},
		{"git clone https://%s@host.example/x.git", made(6, base62, 40)}, {"https://%s:@host.example/x", made(7, hexDigits, 40)}, {"url = https://%s@dev.example.com/o/_git/r", made(8, "abcdefghijklmnopqrstuvwxyz234567", 52)},
		{"http://localhost:8080/callback?code=%s&state=x", made(9, base62, 40)}, {"GET /cb?state=a&code=%s HTTP/1.1", "4/0A" + made(10, base62+"-_", 60)},
	} {
		text := fmt.Sprintf(c.text, c.secret)
		out, _ := New([]byte("k")).Redact("", text)
		require.NotContains(t, out, c.secret, text)
	}
	for _, plain := range []string{ // stand-ins for a password, or its location
		"PASSWORD=$1", "MYSQL_PASSWORD=$(cat x)", "PASSWORD=`cat x`", "DB_PASSWORD=${DB_PASSWORD:-}", "PASSWORD=\"$DB_PASSWORD\"", "MYSQL_PASSWORD=${{ secrets.DB }}", "PASSWORD=os.Getenv(\"X\")", "PASSWORD=***", "PASSWORD=<password>",
		"PASSWORD=/run/secrets/db", "DB_PASSWORD=changeme", "POSTGRES_PASSWORD=postgres", "tool --password=PASS", "--password=string", "--password=%s", "--password=", "PASSWORD=\"\"", "PASSWORD=xxxxx", "PASSWORD={{ .Password }}",
		"DB_PASSWORD=your-password-here", "PASSWORD=None", "PASSWORD=getpass.getpass()", "password: string", "SECRET=mysecret", "TOKEN=token", "echo $PW | sudo -S ls", "echo \"$(cat pw)\" | sudo -S ls", "psk=\"${PSK}\"", "echo hello | sudo tee x",
		"ALTER ROLE x PASSWORD '$1'", "CREATE USER x IDENTIFIED BY '<password>'", "ALTER ROLE x PASSWORD NULL", "https://discord.com/api/webhooks/ID/TOKEN", "https://very-long-user.name-of-someone@host/x", "?code=invalid_request_of_a_client", "PWD=" + "/home/a", "https://example.com/a@b",
	} {
		out, _ := New([]byte("k")).Redact("", plain)
		require.Equal(t, plain, out)
	}
	for _, plain := range []string{"token: my-service.reader", "PASSWORD=my-secret-token", "API_KEY=getToken", "API_KEY=apiKeyOfUser", "password: HTMLInputElement", "SECRET=of-the-art"} {
		out, _ := New([]byte("k")).Redact("", plain)
		require.Equal(t, plain, out)
	}
	letters := "wdFrcrMkKfCape" + "SrvAsVfIkTOgAyoRqb" // a key without digits
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

// TestManyFindings has one text with 20,000 secrets. If each of them needed a look at the whole text, it
// would take minutes.
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
