package located

import (
	"bytes"
	"context"
	"encoding/json"
	"os"

	"jp/gitcmd"
	"jp/internal/safefile"
)

// User is [gitcmd.Git.User] for the repository. It starts a child only where the
// answer is not known to hold: it rests on the same as that of Locate, where no
// configuration includes another one, and the machine's files have no say.
func (n Notes) User(ctx context.Context, repo gitcmd.Repository, opts gitcmd.Options) (gitcmd.User, error) {
	seen, plain := n.plain(repo, opts)
	if plain {
		if user, known := n.user(seen); known {
			return user, nil
		}
	}
	user, own, err := gitcmd.At(repo, opts).User(ctx)
	if err != nil || !own || !plain {
		return user, err
	}
	if again, plain := n.plain(repo, opts); plain && again == seen {
		n.noteUser(seen, user)
	}
	return user, nil
}

// plain looks whether what git says of the user can be remembered.
func (n Notes) plain(repo gitcmd.Repository, opts gitcmd.Options) (sight, bool) {
	if n.Dir == "" || repo.TopLevel == "" {
		return sight{}, false
	}
	s, ordinary := look(repo.TopLevel, opts)
	return s, ordinary && !s.includes && s.repository() == repo
}

// userFile is where the user of a repository is noted: what the answer rests on, and
// behind a line feed the name's and the address's bytes as JSON.
func (n Notes) userFile(s sight) string { return n.file(s) + ".user" }

func (n Notes) user(s sight) (user gitcmd.User, known bool) {
	text, err := os.ReadFile(n.userFile(s))
	if err != nil {
		return user, false
	}
	var fields [2][]byte
	answer, holds := bytes.CutPrefix(text, []byte(s.note()))
	if !holds || json.Unmarshal(answer, &fields) != nil {
		return user, false
	}
	return gitcmd.User{Name: string(fields[0]), Email: string(fields[1])}, true
}

func (n Notes) noteUser(s sight, user gitcmd.User) {
	if answer, err := json.Marshal([2][]byte{[]byte(user.Name), []byte(user.Email)}); err == nil {
		n.forget()
		_ = safefile.Replace(n.userFile(s), append([]byte(s.note()), answer...), safefile.Options{Volatile: true})
	}
}
