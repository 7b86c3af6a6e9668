package share

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/internal/action"
	"jp/internal/safefile"
	"jp/internal/safetext"
)

// namespace keeps a signature of a manifest from counting anywhere else, and one of anything else from counting here.
const namespace = "jp-push-v1"

// A Key is a public SSH key, as it stands in a .pub file.
type Key struct {
	Kind, Data string // "ssh-ed25519", base64
	Comment    string
}

// ParseKey reads a line of a .pub file.
func ParseKey(line string) (Key, error) {
	fields := strings.Fields(line)
	if len(fields) < 2 || !strings.Contains(fields[0], "-") {
		return Key{}, problem.Usage("this is no public SSH key: %s.", safetext.Show(problem.OneLine(line)))
	}
	if raw, err := base64.StdEncoding.DecodeString(fields[1]); err != nil || len(raw) < 32 {
		return Key{}, problem.Usage("this is no public SSH key: %s.", safetext.Show(problem.OneLine(line)))
	}
	return Key{fields[0], fields[1], strings.Join(fields[2:], " ")}, nil
}

// String is the key as one line.
func (k Key) String() string { return strings.TrimSpace(k.Kind + " " + k.Data + " " + k.Comment) }

const fingerprintBytes = 16

// Fingerprint names the key in a ref: the SHA-256 of its data in hex.
func (k Key) Fingerprint() string {
	raw, _ := base64.StdEncoding.DecodeString(k.Data)
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:fingerprintBytes])
}

func (k Key) same(other Key) bool { return k.Kind == other.Kind && k.Data == other.Data }

// A Keyring has the keys whose manifests this user believes, in the user's state.
type Keyring struct{ path string }

// Keys is the user's.
func Keys(r *repo.Repo) Keyring { return Keyring{filepath.Join(r.Paths.StateDir, "keys")} }

// All are the keys, in the order in which they were added.
func (k Keyring) All() (keys []Key, err error) {
	text, err := os.ReadFile(k.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for line := range strings.Lines(string(text)) {
		key, err := ParseKey(line)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", k.path, err)
		}
		keys = append(keys, key)
	}
	return keys, err
}

// Set adds or removes a key, and reports whether that changed anything.
func (k Keyring) Set(ctx context.Context, key Key, is bool) (changed bool, err error) {
	if err := os.MkdirAll(filepath.Dir(k.path), 0o700); err != nil {
		return false, err
	}
	unlock, err := safefile.LockFile(ctx, k.path+".lock")
	if err != nil {
		return false, err
	}
	defer unlock()
	keys, err := k.All()
	if err != nil || slices.ContainsFunc(keys, key.same) == is {
		return false, err
	}
	if keys = slices.DeleteFunc(keys, key.same); is {
		keys = append(keys, key)
	}
	var text strings.Builder
	for _, key := range keys {
		fmt.Fprintln(&text, key)
	}
	return true, safefile.Replace(k.path, []byte(text.String()), safefile.Options{})
}

// SigningKey is the user's SSH key for signing with git, and the file for ssh-keygen: the setting user.signingKey with
// gpg.format ssh, as the user's own configuration has it. A repository cannot choose it. path is "" if there is none.
func SigningKey(ctx context.Context, r *repo.Repo) (key Key, path string, err error) {
	own := func(name string) string {
		out, err := r.Git.Run(ctx, "config", "--show-scope", "-z", "--get-all", name)
		if err != nil {
			return ""
		}
		value := ""
		fields := strings.Split(string(out), "\x00")
		for i := 0; i+1 < len(fields); i += 2 {
			if fields[i] == "global" || fields[i] == "system" {
				value = fields[i+1]
			}
		}
		return value
	}
	word := own("user.signingKey")
	if own("gpg.format") != "ssh" || word == "" {
		return key, "", nil
	}
	if literal, is := strings.CutPrefix(word, "key::"); is || strings.HasPrefix(word, "ssh-") {
		if !is {
			literal = word
		}
		key, err = ParseKey(literal)
		return key, literal, err
	}
	if rest, home := strings.CutPrefix(word, "~/"); home {
		word = filepath.Join(r.Env.Get("HOME"), rest)
	}
	public := word
	if !strings.HasSuffix(word, ".pub") {
		public = word + ".pub"
	}
	text, err := os.ReadFile(public)
	if err != nil {
		return key, "", problem.New(problem.ExitUsage, "config", "cannot read the public key of user.signingKey: %v.", err)
	}
	key, err = ParseKey(string(text))
	return key, word, err
}

// sign signs a text with the user's key. ssh-keygen asks for a passphrase at the terminal, or asks the agent.
func sign(ctx context.Context, r *repo.Repo, path string, text []byte) ([]byte, error) {
	if strings.Contains(path, " ") { // the key itself: the agent has the private one
		file, err := os.CreateTemp("", "jp-key-*.pub")
		if err != nil {
			return nil, err
		}
		defer os.Remove(file.Name())
		if _, err := file.WriteString(path + "\n"); err != nil {
			return nil, err
		}
		if err := file.Close(); err != nil {
			return nil, err
		}
		path = file.Name()
	}
	return keygen(ctx, r, text, "-Y", "sign", "-n", namespace, "-f", path)
}

// verify checks a signature of a text by a key.
func verify(ctx context.Context, r *repo.Repo, key Key, text, signature []byte) error {
	dir, err := os.MkdirTemp("", "jp-verify-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	allowed, sig := filepath.Join(dir, "allowed"), filepath.Join(dir, "signature")
	if err := os.WriteFile(allowed, []byte("jp namespaces=\""+namespace+"\" "+key.Kind+" "+key.Data+"\n"), 0o600); err != nil {
		return err
	}
	if err := os.WriteFile(sig, signature, 0o600); err != nil {
		return err
	}
	_, err = keygen(ctx, r, text, "-Y", "verify", "-n", namespace, "-f", allowed, "-I", "jp", "-s", sig)
	return err
}

func keygen(ctx context.Context, r *repo.Repo, text []byte, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "ssh-keygen", args...)
	cmd.Env, cmd.Stdin = r.Env.Environ, bytes.NewReader(text)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, problem.New(problem.ExitFailed, "signature", "ssh-keygen %s: %s.", args[1], safetext.Show(strings.TrimSuffix(problem.OneLine(stderr.String()+" "+err.Error()), "."))).
			Hint(action.TrustKey, "the keys that count")
	}
	return out, nil
}
