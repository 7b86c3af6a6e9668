package models

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/agent/repo"
	"jp/config"
	"jp/internal/safetext"
	"jp/provider/catalog"
)

// A loginPlace is a jp without a repository, whose provider "work" is a server of the test.
type loginPlace struct {
	Providers
	host *repo.Host
	sent []string // keys that the server got
}

func newLoginPlace(t *testing.T, answer func(key string) (status int, body string), environ ...string) *loginPlace {
	t.Helper()
	p := &loginPlace{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		p.sent = append(p.sent, key)
		status, body := answer(key)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(s.Close)
	p.host = keyHost(t)
	p.host.Environ = append(p.host.Environ, environ...)
	p.Providers = Providers{&repo.Repo{Paths: config.Paths{StateDir: t.TempDir()}, Env: p.host}}
	require.NoError(t, p.repo.Configure(p.host, nil))
	p.repo.Config.Providers = map[string]config.Provider{"work": {BaseURL: s.URL, APIKeyEnv: "WORK_KEY"}}
	return p
}

const someModels = `{"data":[{"id":"m"}]}`

// onlyGood accepts keys that begin with "good".
func onlyGood(key string) (int, string) {
	if strings.HasPrefix(key, "good") {
		return http.StatusOK, someModels
	}
	return http.StatusUnauthorized, fmt.Sprintf(`{"error":{"message":"invalid api key %s","code":"invalid_api_key"}}`, key)
}

// lists asks the server for its models, and is the key that it got.
func (p *loginPlace) lists(t *testing.T) (string, error) {
	t.Helper()
	v, err := p.Vendor("work")
	require.NoError(t, err)
	p.sent = nil
	_, err = p.modelsOf(t.Context(), p.host, v)
	return strings.Join(p.sent, " "), err
}

func (p *loginPlace) kept() keptKey { return p.keptKey(p.host, catalog.Vendor{Name: "work"}) }

// TestKeysAreKept logs in with each kind of keyring, asks the provider, logs in with another key, and out.
func TestKeysAreKept(t *testing.T) {
	t.Parallel()
	for name, ring := range map[string]func(*testing.T) *secretService{
		"keyring": newSecretService, "no bus": func(*testing.T) *secretService { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := ring(t)
			p := newLoginPlace(t, onlyGood)
			if s != nil {
				p.host.Environ = append(p.host.Environ, busVariable+"="+s.address)
			}
			_, err := p.lists(t)
			require.ErrorContains(t, err, "there is no key for work: WORK_KEY is not set.")
			for _, key := range []string{"good-key-number-1", "good-key-number-2"} {
				said, err := p.Login(t.Context(), p.host, "work", key+"\n")
				require.NoError(t, err)
				require.NotContains(t, strings.Join(said, "\n"), key)
				require.NotContains(t, strings.Join(said, "\n"), "could not try")
				file, err := os.ReadFile(p.kept().path)
				require.NoError(t, err)
				if s != nil {
					require.Equal(t, []string{"jp keeps the key for work in the system's keyring."}, said)
					require.Equal(t, map[string]string{"work": key}, s.kept())
					require.NotContains(t, string(file), key)
				} else {
					require.Equal(t, "jp keeps the key for work in "+safetext.Show(p.kept().path)+".", said[0])
					require.Contains(t, said[1], "there is no session bus")
					require.Equal(t, key+"\n", string(file))
				}
				info, err := os.Stat(p.kept().path)
				require.NoError(t, err)
				require.Equal(t, fs.FileMode(0o600), info.Mode())
				sent, err := p.lists(t)
				require.NoError(t, err)
				require.Equal(t, key, sent)
			}
			said, err := p.Logout(t.Context(), p.host, "work")
			require.NoError(t, err)
			require.Equal(t, []string{"jp has deleted its key for work."}, said)
			require.NoFileExists(t, p.kept().path)
			if s != nil {
				require.Empty(t, s.kept())
			}
			_, err = p.lists(t)
			require.ErrorContains(t, err, "there is no key for work: WORK_KEY is not set.")
			said, err = p.Logout(t.Context(), p.host, "work")
			require.NoError(t, err)
			require.Equal(t, []string{"jp keeps no key for work."}, said)
		})
	}
}

// TestNoKey varies a text that is no key, of which jp keeps nothing.
func TestNoKey(t *testing.T) {
	t.Parallel()
	for text, why := range map[string]string{
		"two words":                       "it has spaces",
		"schlüssel":                       "not ASCII",
		strings.Repeat("a", longestKey+1): "it has more than 16 KiB",
		strings.Repeat("a", 64<<10):       "it has more than 16 KiB",
		"a\x1b[31mb":                      "control characters",
	} {
		p := newLoginPlace(t, onlyGood)
		_, err := p.Login(t.Context(), p.host, "work", text)
		require.ErrorContains(t, err, why)
		require.NoFileExists(t, p.kept().path)
	}
}

// TestAKeyringThatDoesNotAnswer counts as missing after its time: the key goes to the file. A key that is in
// it stays unfound, and jp does not call it deleted.
func TestAKeyringThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func(*secretService){
		"locked": func(s *secretService) { s.locked = true },
		"silent": func(s *secretService) { s.silent = true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSecretService(t)
			fail(s)
			p := newLoginPlace(t, onlyGood, busVariable+"="+s.address)
			kept := p.kept()
			kept.ring.limit = 300 * time.Millisecond
			why, err := kept.keep(t.Context(), "good-key")
			require.NoError(t, err)
			require.ErrorContains(t, why, "no keyring: it does not answer")
			sent, err := p.lists(t)
			require.NoError(t, err)
			require.Equal(t, "good-key", sent)
			require.NoError(t, os.WriteFile(kept.path, []byte(inKeyring+"\n"), 0o600))
			_, _, err = kept.current(t.Context())
			require.ErrorContains(t, err, "there is no key for work: jp could not read the one of jp login: no keyring: it does not answer.")
			had, err := kept.forget(t.Context())
			require.True(t, had)
			require.ErrorIs(t, err, errNoKeyring)
			require.FileExists(t, kept.path)
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			_, err = kept.keep(ctx, "good-key")
			require.ErrorIs(t, err, context.Canceled)
		})
	}
}

// TestAKeyIsTried keeps a key if the provider takes it, or if jp cannot try it.
func TestAKeyIsTried(t *testing.T) {
	t.Parallel()
	always := func(status int, body string) func(string) (int, string) {
		return func(string) (int, string) { return status, body }
	}
	for name, test := range map[string]struct {
		answer  func(string) (int, string)
		key     string
		environ []string
		says    string // beside the place
		fails   string
	}{
		"good":           {answer: onlyGood, key: "good"},
		"blanks around":  {answer: onlyGood, key: " good\r\n"},
		"bad":            {answer: onlyGood, key: "bad-key-of-mine", fails: "jp did not keep the key: work refuses it: auth: HTTP 401: invalid api key [key]"},
		"open list":      {answer: always(200, someModels), key: "any", says: "jp could not try the key: work lists its models to everybody."},
		"no list":        {answer: always(404, `{"error":{"message":"no such route"}}`), key: "any", says: "jp could not try the key: work lists no models."},
		"out of order":   {answer: always(503, "busy"), key: "good", fails: "jp did not keep the key: work lists no models: "},
		"none":           {answer: onlyGood, key: " \n", fails: "no key was given"},
		"no key at all":  {answer: onlyGood, key: "two words", fails: "the value of the input is not a key"},
		"a variable too": {answer: onlyGood, key: "good", environ: []string{"WORK_KEY=other"}, says: "It is not in use: that of $WORK_KEY comes first."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newLoginPlace(t, test.answer, test.environ...)
			said, err := p.Login(t.Context(), p.host, "work", test.key)
			if test.fails != "" {
				require.ErrorContains(t, err, test.fails)
				require.NotContains(t, err.Error(), "key-of-mine")
				require.Empty(t, said)
				require.False(t, p.kept().exists())
				return
			}
			require.NoError(t, err)
			require.True(t, p.kept().exists())
			require.Equal(t, test.says, strings.Join(said[2:], "\n"))
		})
	}
}

// TestFilesOfKeysThatOthersCanUse are refused, and jp login replaces them.
func TestFilesOfKeysThatOthersCanUse(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(path string) error{
		"readable": func(path string) error { return os.Chmod(path, 0o644) },
		"writable": func(path string) error { return os.Chmod(path, 0o620) },
		"a link": func(path string) error {
			target := path + ".target"
			return os.Symlink(target, path+".link")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newLoginPlace(t, onlyGood)
			_, err := p.Login(t.Context(), p.host, "work", "good")
			require.NoError(t, err)
			kept := p.kept()
			require.NoError(t, spoil(kept.path))
			if name == "a link" {
				require.NoError(t, os.Rename(kept.path, kept.path+".target"))
				require.NoError(t, os.Rename(kept.path+".link", kept.path))
			}
			sent, err := p.lists(t)
			require.ErrorContains(t, err, "there is no key for work: jp could not read the one of jp login: ")
			require.Empty(t, sent)
			_, err = p.Login(t.Context(), p.host, "work", "good-2")
			require.NoError(t, err)
			sent, err = p.lists(t)
			require.NoError(t, err)
			require.Equal(t, "good-2", sent)
		})
	}
}

// TestARequestHasTheKeyOfNow asks one provider again after the user has logged in anew, and after logging out.
func TestARequestHasTheKeyOfNow(t *testing.T) {
	t.Parallel()
	p := newLoginPlace(t, onlyGood)
	login := func(key string) {
		_, err := p.Login(t.Context(), p.host, "work", key)
		require.NoError(t, err)
	}
	login("good-1")
	v, err := p.Vendor("work")
	require.NoError(t, err)
	opened, err := p.open(t.Context(), p.host, v, catalog.Options{})
	require.NoError(t, err)
	login("good-2")
	p.sent = nil
	_, err = opened.Models(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"good-2"}, p.sent)
	_, err = p.Logout(t.Context(), p.host, "work")
	require.NoError(t, err)
	p.sent = nil
	_, err = opened.Models(t.Context())
	require.ErrorContains(t, err, "WORK_KEY is not set")
	require.Empty(t, p.sent)
}

// TestNamesOfKeptKeys stay in their folder.
func TestNamesOfKeptKeys(t *testing.T) {
	t.Parallel()
	p := newLoginPlace(t, onlyGood)
	for _, name := range []string{"..", "../../x", "a/b", "a\x00b", "/etc/x"} {
		path := p.keptKey(p.host, catalog.Vendor{Name: name}).path
		require.Equal(t, filepath.Join(p.repo.Paths.StateDir, "keys"), filepath.Dir(path), "%q", name)
	}
}
