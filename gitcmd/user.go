package gitcmd

import (
	"context"
	"errors"
	"strings"
)

// A User is the user in git's configuration, unchecked.
type User struct {
	Name, Email string // "" if the configuration has none
}

// User reads author.name and author.email, with user.name and user.email as their defaults. own reports that
// all of it comes from the user's or the repository's configuration, and not from the machine's.
func (g *Git) User(ctx context.Context) (user User, own bool, err error) {
	out, err := g.Run(ctx, "config", "--null", "--show-scope", "--get-regexp", `^(user|author)\.(name|email)$`)
	var exit *ExitError
	if errors.As(err, &exit) && exit.Code == 1 { // no such setting
		return User{}, false, nil
	}
	if err != nil {
		return User{}, false, err
	}
	user, own = parseUser(string(out))
	return user, own, nil
}

// parseUser reads pairs of a scope and a setting; the last one counts.
func parseUser(out string) (user User, own bool) {
	var name, email, foreign bool
	var writes User // as an author
	fields := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	for ; len(fields) >= 2; fields = fields[2:] {
		key, value, _ := strings.Cut(fields[1], "\n")
		from := fields[0] == "global" || fields[0] == "local" || fields[0] == "worktree"
		switch key {
		case "user.name":
			user.Name, name = value, from
		case "user.email":
			user.Email, email = value, from
		case "author.name":
			writes.Name, foreign = value, foreign || !from
		case "author.email":
			writes.Email, foreign = value, foreign || !from
		}
	}
	if writes.Name != "" {
		user.Name = writes.Name
	}
	if writes.Email != "" {
		user.Email = writes.Email
	}
	return user, name && email && !foreign
}
