package redact

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/internal/testing/crashtest/row"
)

// source is a file with many keywords.
func source(t testing.TB) string {
	text, err := os.ReadFile("scan.go")
	require.NoError(t, err)
	more, err := os.ReadFile("known_secrets.go")
	require.NoError(t, err)
	return strings.Repeat(string(text)+string(more), 4)
}

func TestPlaceholder(t *testing.T) {
	r := New([]byte("a key"))
	out, secrets := r.Redact("", "use "+pat(1)+" and "+pat(1)+", then "+pat(2))
	require.Regexp(t, `^use (\[secret:github-pat:[0-9a-f]{16}\]) and \[secret:github-pat:[0-9a-f]{16}\], then \[secret:github-pat:[0-9a-f]{16}\]$`, out)
	require.Len(t, secrets, 3)
	require.Equal(t, secrets[0], secrets[1])
	require.NotEqual(t, secrets[0], secrets[2])
	require.True(t, r.HasSecret(secrets[0]))

	again, _ := New([]byte("a key")).Redact("", out)
	require.Equal(t, out, again)
	other, _ := New([]byte("another key")).Redact("", "use "+pat(1))
	require.NotContains(t, out, strings.TrimPrefix(other, "use "), "the code depends on the key")
}

func TestValueIsFoundByItsName(t *testing.T) {
	r, value := New([]byte("k")), made(1, base62, 24)
	out, _ := r.Redact("api_key", value)
	require.Contains(t, out, "[secret:generic-api-key:")
	out, _ = r.Redact("path", value)
	require.Equal(t, value, out)
	inText, secrets := r.Redact("", `{"api_key": "`+value+`"}`)
	require.Contains(t, inText, secrets[0].Placeholder)
}

// pieces are the parts of redacted texts.
func pieces(r *Redactor) *rapid.Generator[string] {
	held, _ := r.Redact("", pat(9))
	return rapid.OneOf(rapid.StringN(0, 12, -1), rapid.SampledFrom([]string{
		pat(1), pat(2), pem(1, "\n"), pem(1, `\n`), held, "[secret:jwt:0123456789abcdef]", "token = ", made(1, base62, 30), made(2, base62, 24), "https://u:", "pa55w0rd", "@h/",
		"Authorization: Bearer ", "curl -u \"me:", "\" x\n", " ", "\n", "password: ", "'", "AK" + "IA" + made(3, base32, 16), "," + made(4, base64ish, 40) + ",", "-----BEGIN RSA PRIVATE KEY-----\n",
	}))
}

func TestRedactingTwiceIsRedactingOnce(t *testing.T) {
	r := New([]byte("k"))
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(pieces(r), 0, 12).Draw(t, "pieces"), "")
		name := rapid.SampledFrom([]string{"", "password", "path"}).Draw(t, "name")
		once, _ := r.Redact(name, text)
		twice, more := r.Redact(name, once)
		require.Equal(t, once, twice, "%v", more)
	})
}

func TestRestoringUndoesRedacting(t *testing.T) {
	r := New([]byte("k"))
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(pieces(r), 0, 12).Draw(t, "pieces"), "")
		text = strings.ReplaceAll(text, "\x1b", "") // sequences within a secret are not part of its value
		redacted, secrets := r.Redact("", text)
		v := NewVault(filepath.Join(os.TempDir(), "no such folder", "vault"), r)
		for _, s := range secrets {
			v.put(s)
		}
		restored, _ := Restore(redacted, v.Value)
		require.Equal(t, text, restored)
	})
}

func TestUnknownStays(t *testing.T) {
	text := "a [secret:jwt:0123456789abcdef] b [secret:jwt:0123456789abcdef] [secret:jwt:012345678]"
	out, unknown := Restore(text, func(string) (string, bool) { return "", false })
	require.Equal(t, text, out)
	require.Equal(t, []string{"[secret:jwt:0123456789abcdef]"}, unknown)
}

func TestKnown(t *testing.T) {
	r := New([]byte("k"))
	value := made(1, base62, 30) + "7"
	_, secrets := r.Redact("", "token = "+value)
	require.Len(t, secrets, 1)
	place := secrets[0].Placeholder
	require.Equal(t, "echo "+place+place, ReplaceKnown("echo "+value+value, secrets))
	require.Equal(t, place, ReplaceKnown(place, append(secrets, Secret{"[secret:x:0123456789abcdef]", codeOf(place)})))
	require.Equal(t, "postgres", ReplaceKnown("postgres", []Secret{{"[secret:x:0123456789abcdef]", "postgres"}}))
	require.Equal(t, "echo [secret:…", ReplaceCut("echo "+value[:9]+"…", secrets))
	require.Equal(t, "echo "+value[:2]+"…", ReplaceCut("echo "+value[:2]+"…", secrets))
	require.Equal(t, "echo "+value[:9], ReplaceCut("echo "+value[:9], secrets))
}

func TestUsable(t *testing.T) {
	for value, want := range map[string]bool{
		pat(1): true, "pa55w0rd!x": true, "p%40ss": true, made(1, base64ish, 40) + "==": true, "a$-1": true, "a$1": false,
		"x$(curl evil)": false, "x`id`": false, "x;id": false, "x|sh": false, "a b": false, "-oProxy": false, "a\nb": false, "$HOME": false, "a'b": false, "é": false,
	} {
		require.Equal(t, want, Usable(Secret{"[secret:url-password:0123456789abcdef]", value}), value)
	}
	key := func(value string) bool { return Usable(Secret{"[secret:private-key:0123456789abcdef]", value}) }
	require.True(t, key(pem(1, "\n")))
	require.True(t, key(pem(1, "\r\n")))
	require.True(t, key(pem(1, `\n`)))
	require.False(t, key(strings.Replace(pem(1, "\n"), "\n", "\ncurl evil.example\n", 1)))
	require.False(t, key(strings.Replace(pem(1, "\n"), "\n", "\nreboot\n", 1)))
	require.False(t, key(strings.Replace(pem(1, "\n"), "\n", "$(id)\n", 1)))
}

func TestVault(t *testing.T) {
	r := New([]byte("k"))
	path := filepath.Join(t.TempDir(), "secrets", "jp-c1")
	_, secrets := r.Redact("", pat(1)+" "+pat(2)+"\n"+pem(1, "\n"))
	require.Len(t, secrets, 3)
	first, second := NewVault(path, r), NewVault(path, r)
	require.NoError(t, first.Add(secrets[0], secrets[0]))
	require.NoError(t, second.Add(secrets[1:]...))
	for _, s := range secrets {
		value, ok := first.Value(s.Placeholder)
		require.True(t, ok)
		require.Equal(t, s.Value, value)
	}
	require.Len(t, NewVault(path, r).Known(), 3)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	info, err = os.Stat(filepath.Dir(path))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())

	require.Empty(t, NewVault(path, New([]byte("another key"))).Known(), "values that are not the placeholders'")
}

func TestDamagedVaultKnowsLess(t *testing.T) {
	r := New([]byte("k"))
	path := filepath.Join(t.TempDir(), "vault")
	_, secrets := r.Redact("", pat(1)+" "+pat(2))
	require.NoError(t, NewVault(path, r).Add(secrets[0]))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	for cut := range len(text) - 1 {
		require.NoError(t, os.WriteFile(path, text[:cut], 0o600))
		v := NewVault(path, r)
		_, ok := v.Value(secrets[0].Placeholder)
		require.False(t, ok)
		require.NoError(t, v.Add(secrets[1]))
		_, ok = NewVault(path, r).Value(secrets[1].Placeholder)
		require.True(t, ok, "what follows a torn line is read")
	}
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(text), `"value":"`, `"value":"AAAA`, 1)), 0o600))
	_, ok := NewVault(path, r).Value(secrets[0].Placeholder)
	require.False(t, ok, "another value")
	row.Log(t, row.Row{
		Class: "a", Name: "vault of secrets: the file ends at byte k", Points: len(text) - 1,
		Note: "what was cut is not known, what is added behind it is",
	})
}

func TestVaultKeepsLaterWhatItCouldNot(t *testing.T) {
	r := New([]byte("k"))
	dir := filepath.Join(t.TempDir(), "secrets")
	_, secrets := r.Redact("", pat(1)+" "+pat(2))
	require.NoError(t, os.WriteFile(dir, nil, 0o600)) // in the way of the folder
	v := NewVault(filepath.Join(dir, "vault"), r)
	require.Error(t, v.Add(secrets[0]))
	require.Error(t, v.Add(secrets[0]))
	require.NoError(t, os.Remove(dir))
	require.NoError(t, v.Add(secrets[1]))
	require.ElementsMatch(t, secrets[:2], NewVault(filepath.Join(dir, "vault"), r).Known())
	require.NoError(t, v.Add(secrets[0]))
	require.Len(t, NewVault(filepath.Join(dir, "vault"), r).Known(), 2)
}

func FuzzVault(f *testing.F) {
	f.Add([]byte(`{"placeholder":"[secret:jwt:0123456789abcdef]","value":"YQ=="}`))
	r := New([]byte("k"))
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "vault")
		require.NoError(t, os.WriteFile(path, text, 0o600))
		for _, s := range NewVault(path, r).Known() {
			require.True(t, r.HasSecret(s))
		}
	})
}

func FuzzRestore(f *testing.F) {
	f.Add("[secret:jwt:0123456789abcdef] [secret:")
	f.Fuzz(func(t *testing.T, text string) {
		out, _ := Restore(text, func(p string) (string, bool) { return p, true })
		require.Equal(t, text, out)
	})
}

func FuzzScan(f *testing.F) {
	f.Add("token = " + made(1, base62, 30) + pem(1, "\n"))
	r := New([]byte("k"))
	f.Fuzz(func(t *testing.T, text string) {
		once, _ := r.Redact("", text)
		twice, _ := r.Redact("", once)
		require.Equal(t, once, twice)
	})
}

func TestGitleaksRelease(t *testing.T) {
	text, err := os.ReadFile("../tools/gitleaks/go.mod")
	require.NoError(t, err)
	require.Contains(t, string(text), "github.com/zricethezav/gitleaks/v8 "+GitleaksVersion+"\n", "the table is not that of the release: go generate ./redact")
	notice, err := os.ReadFile("NOTICE")
	require.NoError(t, err)
	require.Contains(t, string(notice), GitleaksVersion)
}

// A still vault knows the file and its own additions, and leaves the file as it is.
func TestAStillVaultWritesNothing(t *testing.T) {
	r := New([]byte("key"))
	path := filepath.Join(t.TempDir(), "secrets", "vault")
	_, first := r.Redact("", pat(1))
	_, second := r.Redact("", pat(2))
	still := NewVault(path, r)
	still.Still()
	require.NoError(t, still.Add(first...))
	require.NoDirExists(t, filepath.Dir(path))
	require.NoError(t, NewVault(path, r).Add(second...))
	kept, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, still.Add(first...))
	require.ElementsMatch(t, append(first, second...), still.Known())
	again, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, kept, again)
}
