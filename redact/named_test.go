package redact

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestApart has secrets that stand apart from their names, and commands that get a password in an argument or a pipe.
func TestApart(t *testing.T) {
	secrets := []string{"Qz8" + made(41, base62, 22), "Tr0ub4dor" + "-COX6", made(42, hexDigits, 31) + "7", "k9#Lm" + "!2vQx"}
	for _, around := range []string{
		"- name: DB_PASSWORD\n  value: %s\n", "- name: DB_PASSWORD\n  value: \"%s\"\n", `{"name": "DB_PASSWORD", "value": "%s"},`, `{\"name\": \"API_KEY\",\n \"value\": \"%s\"}`, `{"Key":"API_KEY","Value":"%s"}`,
		"variable \"db_password\" {\n  type = string\n  default = \"%s\"\n}", `<add key="ApiKey" value="%s"/>`, `<property name="password" value="%s"/>`, `<string name="api_key">%s</string>`,
		"const apiKey: string = '%s'", "api_key: str = \"%s\"", "var token = []byte(\"%s\")", "let token = String::from(\"%s\");", "password = b\"%s\"", "key = process.env.API_KEY || '%s'",
		"set -x API_KEY %s", "set -gx api_key '%s'", "setenv API_KEY %s", "setx API_KEY \"%s\"", "FROM x\nENV API_KEY %s\n", "#define API_KEY \"%s\"", "gh secret set X_TOKEN --body \"%s\"", "export API_KEY=\\\n%s\n",
		"| API_KEY | %s |", "│ API_KEY │ %s │", "| password | `%s` |", "password    %s\n", "Key    Value\n---    -----\ntoken  %s\n", "{&quot;password&quot;:&quot;%s&quot;}",
		"password:\n  %s\n", "password: >-\n  %s\n", "\"password\":\n    \"%s\"", "the password is %s", "Password for bob: %s", "Your new API key: %s", "API key created: %s\n", "Kennwort: %s", "mot de passe : %s", "пароль: %s", "密码：%s",
		"echo -n '%s' | docker login -u bob --password-stdin", "echo %s | podman login r.example --password-stdin", "echo \"%s\" | gh auth login --with-token", "echo 'bob:%s' | sudo chpasswd",
		"zip -P %s x.zip y", "7z a \"-p%s\" x.7z y", "openssl enc -aes-256-cbc -k %s -in x", "ldapsearch -x -D cn=a -w '%s'", "mongosh -u bob -p %s h", "ipmitool -H h -U a -P %s power on", "az login --service-principal -u x -p %s",
		`tool -p "%s" --username bob`, "tool -p '%s' --username=bob", "tool --username bob x -p %s", `tool login --user=bob -p "%s" h`, "helm registry login -u bob -p '%s' r.example", "skopeo login -u bob -p %s r.example",
		"tool --password-file <(echo %s)", "tool --token-file=<(printf '%s')", "ansible-playbook --vault-password-file <(echo '%s') x.yml", `restic --password-file <( echo -n "%s" ) backup`, "openssl x -pass file:<(echo %s)", `gpg --batch --passphrase-fd 3 3< <(echo "%s")`, "wg set wg0 private-key <(echo %s)",
		"expect \"assword:\"\nsend \"%s\\r\"", `expect -re "Password: *$" { send -- "%s\r" }`, `expect { "assword" { send {%s} } }`, `expect "Enter passphrase for key"; send -s "%s\r"`, "expect *assword*\nsleep 1\nsend -- '%s'\n", "c.expect(\"[Pp]assword:\")\nc.sendline(\"%s\")", `c.expect('Password'); c.send('%s\n')`,
		"Authorization: Bearer !%s#x", "Authorization: Bot %s", "Authorization: GenieKey %s", "Authorization: Key me:%s", "-H 'Authorization: Splunk %s'", "authorization: key=%s", `{"Authorization":"ApiKey @%s&"}`, "Proxy-Authorization: SSWS %s",
		"curl --proxy-user bob:%s x", "requirepass %s\n", "ConvertTo-SecureString \"%s\" -AsPlainText", "requests.get(u, auth=(\"bob\", \"%s\"))", "HTTPBasicAuth('bob', '%s')", `net use z: \\h\s %s /user:bob`,
	} {
		for _, secret := range secrets {
			text := strings.ReplaceAll(around, "%s", secret)
			out, _ := New([]byte("k")).Redact("", text)
			require.NotContains(t, out, secret, text)
		}
	}
	out, _ := New([]byte("k")).Redact("", "Authorization: "+secrets[0]+"\r\n")
	require.NotContains(t, out, secrets[0], "without a scheme")
	pair := "bob:" + secrets[0]
	for _, code := range []string{hex.EncodeToString([]byte(pair)), base64.StdEncoding.EncodeToString([]byte(pair)), base64.StdEncoding.EncodeToString([]byte(pair + "x"))} {
		for _, around := range []string{`{"auths":{"r.example":{"auth":"%s"}}}`, `{"auth" : "%s"}`, `{\"auth\":\"%s\"}`} {
			out, _ := New([]byte("k")).Redact("", strings.Replace(around, "%s", code, 1))
			require.NotContains(t, out, code, around)
		}
	}
	for _, plain := range []string{
		"- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef:\n      name: db-secret-1\n      key: password1\n", "- name: API_KEY\n  value: $(KEY_1)\n", "- name: API_KEY\n  value: \"{{ .Values.key1 }}\"\n", "- name: TOKEN_TTL\n  value: \"86400000\"\n",
		"variable \"db_password\" {\n  default = var.password1\n}\n", `<property name="password" value="${db.password1}"/>`, `<input name="password" type="password" id="password-field-1">`,
		"| Name | Type |\n| password | string(255) |\n| api_key | varchar(32) |", "| `token` | The token of user 1 |", "| `ANTHROPIC_API_KEY` | `claude-sonnet-5-5` |", "secret      kubernetes.io/v1\n", "type Token struct {\n\tToken    string12\n}", "\tToken     *oauth2.Token\n", "password  pbkdf2.Key32\n",
		"const apiKey: string = process.env.API_KEY1", "var token = []byte(\"token-1\")", "apiKey = process.env.API_KEY || \"changeme\"", "password: str = Field(\"Password 1\")", "password is required", "password is stored in /etc/x1", "the key is 12345678",
		"setenv PASSWORD $pw1", "ENV API_KEY $KEY1", "#define TOKEN_PLUS 43", "#define API_KEY_LEN 32", "password:\n  type: string1\n", "password: |\n  Multi line text 1\n", "token:\nnext line 1 of text\n",
		"docker run --user=bob -p 8080:80 x", "psql --username=bob -p 5432 x", "tool --username bob -p 127.0.0.1:80:8080/tcp", "tool --username bob -p ./src/x1", "tool --username bob -p \"$PW1\"", "systemctl --user show -p ActiveState1 x", "mkdir -p build/x1 && tool --username bob",
		"diff <(echo abc1) <(echo abc2)", "tool --password-file <(echo \"$PW1\")", "tool --token-file <(cat token1)", "expect(page).toHaveTitle('Password1'); await send(\"hello12\")", "expect \"assword:\"\nsend \"$pw1\\r\"", "expect \"\\$ \"\nsend \"ls -la1\\r\"",
		`{"auth": "none1234"}`, `"auth":"0123456789abcdef0123456789abcdef"`, `{"auth":"Zm9vYmFyYmF6cXV4"}`, "Authorization: Bearer {{token1234}}", "Authorization: AWS4-HMAC-SHA256 Credential=x1", "Authorization: the-name-of-a-header-1", "authorization: handlers/check/authorization1.go", "Authorization: Bearer ${TOKEN12345}",
		"echo \"$TOKEN\" | docker login -u x --password-stdin", "echo \"${{ secrets.X }}\" | docker login ghcr.io --password-stdin", "echo \"root:$PASS\" | chpasswd", "openssl enc -k $PASS1", "ldapsearch -w \"$PW1\"", "auth=(\"user\", os.environ[\"PW1\"])", "unzip -P \"$PW\" x",
	} {
		out, _ := New([]byte("k")).Redact("", plain)
		require.Equal(t, plain, out)
	}
}
