package redact

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// A Vault keeps the values of placeholders in a file for its owner only, which is made with the first value.
// Several processes may add to it; values of other processes are found on demand. A line that is damaged, or
// whose value does not fit its placeholder, is ignored.
type Vault struct {
	path     string
	redactor *Redactor

	mu     sync.Mutex
	read   int64 // bytes of the file that were read
	secret map[string]int
	list   []Secret
	unkept []byte // lines whose write failed
	still  bool   // writes are off
}

// NewVault is the vault in a file.
func NewVault(path string, r *Redactor) *Vault {
	return &Vault{path: path, redactor: r, secret: map[string]int{}}
}

// Still keeps later values out of the file: only this vault knows them.
func (v *Vault) Still() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.still = true
}

// entry is one line of the file. JSON cannot represent all bytes, so the value is base64.
type entry struct {
	Placeholder string `json:"placeholder"`
	Value       []byte `json:"value"`
}

// Add keeps secrets. On an error they are known to this vault only, until another
// Add succeeds, which keeps them as well.
func (v *Vault) Add(secrets ...Secret) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	err := v.load()
	lines := v.unkept
	for _, s := range secrets {
		if _, known := v.secret[codeOf(s.Placeholder)]; known {
			continue
		}
		v.put(s)
		line, _ := json.Marshal(entry{s.Placeholder, []byte(s.Value)})
		lines = append(append(append(lines, '\n'), line...), '\n') // behind the rest of a crash
	}
	if len(lines) == 0 || v.still {
		return nil
	}
	writeErr := v.write(lines)
	if v.unkept = nil; writeErr != nil {
		v.unkept = lines
	}
	return errors.Join(err, writeErr)
}

// write returns when the lines are on the disk: the event that has a placeholder
// is acknowledged after that.
func (v *Vault) write(lines []byte) error {
	if err := os.MkdirAll(filepath.Dir(v.path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(v.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(lines)
	return errors.Join(err, f.Sync(), f.Close())
}

func (v *Vault) put(s Secret) {
	v.secret[codeOf(s.Placeholder)] = len(v.list)
	v.list = append(v.list, s)
}

// load reads the additions to the file since the last time.
func (v *Vault) load() error {
	info, err := os.Stat(v.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || info.Size() == v.read {
		return err
	}
	text, err := os.ReadFile(v.path)
	if err != nil {
		return err
	}
	v.read = int64(len(text))
	for line := range bytes.Lines(text) {
		var e entry
		if json.Unmarshal(line, &e) != nil || !isPlaceholder(e.Placeholder) {
			continue
		}
		s := Secret{e.Placeholder, string(e.Value)}
		if _, known := v.secret[codeOf(s.Placeholder)]; !known && v.redactor.HasSecret(s) {
			v.put(s)
		}
	}
	return nil
}

// isPlaceholder reports whether a text is exactly one placeholder.
func isPlaceholder(text string) bool { return text != "" && placeholderLength(text) == len(text) }

// Value is the value of a placeholder. The name of its rule does not matter.
func (v *Vault) Value(placeholder string) (value string, ok bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !isPlaceholder(placeholder) || v.load() != nil {
		return "", false
	}
	i, ok := v.secret[codeOf(placeholder)]
	if !ok {
		return "", false
	}
	return v.list[i].Value, true
}

// Known are all secrets that the vault holds, in the order in which they came.
func (v *Vault) Known() []Secret {
	v.mu.Lock()
	defer v.mu.Unlock()
	_ = v.load() // unreadable values are unknown
	return v.list[:len(v.list):len(v.list)]
}

// Path is the present or future path of the vault's file.
func (v *Vault) Path() string { return v.path }
