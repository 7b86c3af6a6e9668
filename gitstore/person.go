package gitstore

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"jp/conversation"
)

// A Person is a name and an e-mail address as they stand in a commit.
type Person struct{ Name, Email string }

// jpPerson is jp itself, as author of its records and as committer where git
// knows no user.
var jpPerson = Person{Name: "jp", Email: "jp@jp.invalid"}

// nameBytes bounds a name in a commit.
const nameBytes = 100

// clean makes a person that every git accepts.
func (p Person) clean() Person {
	email := strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, cleanName(p.Email, ""))
	return Person{Name: cleanName(p.Name, "unknown"), Email: email}
}

// cleanName drops what git forbids in a name, and what would deceive a reader
// of it.
func cleanName(name, fallback string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r == '<' || r == '>' || r == utf8.RuneError || unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r):
			return -1
		case unicode.Is(unicode.Cf, r) || r >= 0xE0000 && r <= 0xE007F:
			return -1
		}
		return r
	}, name)
	const crud = " \t.,:;<>\"\\'"
	name = strings.Trim(name, crud)
	for len(name) > nameBytes {
		_, size := utf8.DecodeLastRuneInString(name)
		name = strings.TrimRight(name[:len(name)-size], crud)
	}
	if name == "" {
		return fallback
	}
	return name
}

// author says who acted in an event.
func author(e *conversation.Event, user Person) Person {
	switch e.Role() {
	case conversation.RoleUser:
		if user.Email == "" {
			user.Email = "user@jp.invalid"
		}
		return user.clean()
	case conversation.RoleAssistant:
		return Person{Name: e.Model, Email: "assistant@jp.invalid"}.clean()
	case conversation.RoleTool:
		p := Person{Name: e.Body.(*conversation.ToolCallResponse).Name, Email: "tool@jp.invalid"}
		if model := emailPart(e.Model); model != "" {
			p.Email = "tool+" + model + "@jp.invalid"
		}
		return p.clean()
	}
	return jpPerson
}

// emailPart is the model's name as a part of an address.
func emailPart(model string) string {
	if _, name, ok := strings.Cut(model, "/"); ok {
		model = name
	}
	model = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("._-", r):
			return r
		}
		return '-'
	}, model)
	return model[:min(len(model), 64)]
}

// appendPerson appends "Name <email> seconds zone".
func appendPerson(dst []byte, p Person, at time.Time) []byte {
	_, offset := at.Zone()
	sign := '+'
	if offset < 0 {
		sign, offset = '-', -offset
	}
	return fmt.Appendf(dst, "%s <%s> %d %c%02d%02d", p.Name, p.Email, max(0, at.Unix()), sign, offset/3600, offset/60%60)
}

// parsePerson reads what appendPerson wrote.
func parsePerson(line []byte) (Person, time.Time, error) {
	open, end := bytes.IndexByte(line, '<'), bytes.LastIndexByte(line, '>')
	if open < 0 || end < open {
		return Person{}, time.Time{}, fmt.Errorf("person %.60q has no address", line)
	}
	p := Person{Name: strings.TrimRight(string(line[:open]), " "), Email: string(line[open+1 : end])}
	seconds, _, _ := strings.Cut(strings.TrimSpace(string(line[end+1:])), " ")
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return Person{}, time.Time{}, fmt.Errorf("person %.60q has no time", line)
	}
	return p, time.Unix(n, 0), nil
}
