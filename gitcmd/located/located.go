// Package located remembers which repositories git found to be ordinary ones, so
// that not every command begins with a git.
//
// A repository is ordinary where a folder above or at the place has a .git
// folder, both are this user's own, and git says that they are the top level and
// the git directory, with an object format that the configuration seems to name, and not
// shallow. All that git's answer rests on
// is looked at each time: the folders up to that one, who owns them, the
// configuration's bytes, what is in the git directory, and which git it is. Where
// anything of it is otherwise than when git was asked, git is asked again. So it is
// wherever something is unusual: linked working trees, bare and shallow
// repositories, other people's, ceilings, a configuration that includes another one
// or names a working tree. What only the next git meets: a mistake in a file that
// the user's own configuration includes, or in a machine's that is not
// /etc/gitconfig, and another git behind the same wrapper script.
//
// It refuses to answer by itself: what git never said is not known here.
//
// Whom the configuration names as the user is remembered in the same way, where it
// stands in files that are looked at.
package located

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"

	"jp/gitcmd"
	"jp/internal/safefile"
)

// enough is how many notes are kept.
const enough = 1000

// Notes are kept in a folder of the user's own that no tool may write to, two
// small files for each repository. Without a folder nothing is remembered.
type Notes struct {
	Dir string // absolute, or ""; made when it is needed
}

// Locate is [gitcmd.Locate], with the same result and the same errors. It starts a
// child only where the answer is not known to hold. What cannot be remembered is
// not an error.
func (n Notes) Locate(ctx context.Context, dir string, opts gitcmd.Options) (gitcmd.Repository, error) {
	if n.Dir == "" {
		return gitcmd.Locate(ctx, dir, opts)
	}
	seen, ordinary := look(dir, opts)
	if ordinary && n.holds(seen) {
		return seen.repository(), nil
	}
	repo, err := gitcmd.Locate(ctx, dir, opts)
	if err != nil || !ordinary || repo != seen.repository() {
		return repo, err
	}
	if again, ordinary := look(dir, opts); ordinary && again == seen {
		n.note(seen)
	}
	return repo, nil
}

// file is where a repository's note is.
func (n Notes) file(s sight) string {
	name := sha256.Sum256([]byte(s.top))
	return filepath.Join(n.Dir, hex.EncodeToString(name[:16]))
}

func (n Notes) holds(s sight) bool {
	text, err := os.ReadFile(n.file(s))
	return err == nil && string(text) == s.note()
}

// note remembers. A note that is lost or torn costs one git.
func (n Notes) note(s sight) {
	n.forget()
	_ = safefile.Replace(n.file(s), []byte(s.note()), safefile.Options{Volatile: true})
}

// forget makes room: of too many notes none is known to be needed again.
func (n Notes) forget() {
	if entries, err := os.ReadDir(n.Dir); err == nil && len(entries) >= enough {
		for _, e := range entries {
			_ = os.Remove(filepath.Join(n.Dir, e.Name()))
		}
	}
}
