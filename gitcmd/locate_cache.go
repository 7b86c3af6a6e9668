package gitcmd

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"

	"jp/internal/safefile"
)

// mostNotes is how many notes are kept.
const mostNotes = 1000

// A LocateCache remembers the repositories that git found to be ordinary, so that most commands start without
// running git. All of its answers come from git.
//
// A repository is ordinary if a folder above or at the place has a .git folder, both are this user's own, git
// calls them the top level and the git directory, the object format matches the configuration, and the
// repository is not shallow. The cache checks all facts behind git's answer each time: the folders up to
// that one, their owners, the configuration's bytes, the content of the git directory, and the git program.
// If one of them has changed, it asks git again. It also asks git in all unusual cases: linked working trees,
// bare and shallow repositories, other people's, ceilings, a configuration that includes another one or names
// a working tree. It misses three changes until git runs next: a mistake in a file that the user's own
// configuration includes, a mistake in a machine's file other than /etc/gitconfig, and another git behind the
// same wrapper script.
//
// It remembers the user of the configuration in the same way, if the checked files name them.
//
// Its notes are in a folder of the user's own that is closed to tools, two small files for each repository.
// Without a folder there are none.
type LocateCache struct {
	Dir string // absolute, or ""; made when it is needed
}

// Locate is [Locate], with the same result and the same errors. It starts a child unless the stored
// answer still holds. A failure to store the answer is ignored.
func (n LocateCache) Locate(ctx context.Context, dir string, opts Options) (Repository, error) {
	if n.Dir == "" {
		return Locate(ctx, dir, opts)
	}
	seen, ordinary := look(dir, opts)
	if ordinary && n.holds(seen) {
		return seen.repository(), nil
	}
	repo, err := Locate(ctx, dir, opts)
	if err != nil || !ordinary || repo != seen.repository() {
		return repo, err
	}
	if again, ordinary := look(dir, opts); ordinary && again == seen {
		n.note(seen)
	}
	return repo, nil
}

func (n LocateCache) file(s sight) string {
	name := sha256.Sum256([]byte(s.top))
	return filepath.Join(n.Dir, hex.EncodeToString(name[:16]))
}

func (n LocateCache) holds(s sight) bool {
	text, err := os.ReadFile(n.file(s))
	return err == nil && string(text) == s.note()
}

// note remembers. A note that is lost or torn costs one git.
func (n LocateCache) note(s sight) {
	n.forget()
	_ = safefile.Replace(n.file(s), []byte(s.note()), safefile.Options{Volatile: true})
}

// forget makes room. If there are too many notes, any of them may be useless.
func (n LocateCache) forget() {
	if entries, err := os.ReadDir(n.Dir); err == nil && len(entries) >= mostNotes {
		for _, e := range entries {
			_ = os.Remove(filepath.Join(n.Dir, e.Name()))
		}
	}
}
