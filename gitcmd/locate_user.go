package gitcmd

import (
	"bytes"
	"context"
	"encoding/json"
	"os"

	"jp/internal/safefile"
)

// User is [gitcmd.Git.User] for the repository. It starts a child unless the stored answer still holds. The
// answer depends on the same facts as that of Locate. It is stored only if all configurations are without
// includes and the machine's files have no effect.
func (n LocateCache) User(ctx context.Context, repo Repository, opts Options) (User, error) {
	seen, plain := n.plain(repo, opts)
	if plain {
		if user, known := n.user(seen); known {
			return user, nil
		}
	}
	user, own, err := At(repo, opts).User(ctx)
	if err != nil || !own || !plain {
		return user, err
	}
	if again, plain := n.plain(repo, opts); plain && again == seen {
		n.noteUser(seen, user)
	}
	return user, nil
}

// plain looks whether git's answer about the user can be stored.
func (n LocateCache) plain(repo Repository, opts Options) (sight, bool) {
	if n.Dir == "" || repo.TopLevel == "" {
		return sight{}, false
	}
	s, ordinary := look(repo.TopLevel, opts)
	return s, ordinary && !s.includes && s.repository() == repo
}

// userFile is the file for the user of a repository: the facts behind the answer, and after a line feed the
// bytes of the name and the address as JSON.
func (n LocateCache) userFile(s sight) string { return n.file(s) + ".user" }

func (n LocateCache) user(s sight) (user User, known bool) {
	text, err := os.ReadFile(n.userFile(s))
	if err != nil {
		return user, false
	}
	var fields [2][]byte
	answer, holds := bytes.CutPrefix(text, []byte(s.note()))
	if !holds || json.Unmarshal(answer, &fields) != nil {
		return user, false
	}
	return User{Name: string(fields[0]), Email: string(fields[1])}, true
}

func (n LocateCache) noteUser(s sight, user User) {
	if answer, err := json.Marshal([2][]byte{[]byte(user.Name), []byte(user.Email)}); err == nil {
		n.forget()
		_ = safefile.Replace(n.userFile(s), append([]byte(s.note()), answer...), safefile.Options{Volatile: true})
	}
}
