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

// jpPerson is jp itself, as author of its records and as committer if git knows no user.
var jpPerson = Person{Name: "jp", Email: "jp@jp.invalid"}

// nameBytes bounds a name in a commit.
const nameBytes = 100

// clean makes a person that every git accepts.
func (p Person) clean() Person {
	email := cleanName(p.Email, "")
	if strings.ContainsFunc(email, unicode.IsSpace) {
		email = strings.Join(strings.Fields(email), "")
	}
	return Person{Name: cleanName(p.Name, "unknown"), Email: email}
}

// addressed adds an address if the user has none.
func (p Person) addressed() Person {
	if p.Email == "" {
		p.Email = "user@jp.invalid"
	}
	return p
}

// isForbidden reports whether a name may not have the character.
func isForbidden(r rune) bool {
	if r >= ' ' && r <= '~' {
		return r == '<' || r == '>'
	}
	return r == utf8.RuneError || unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Cf) || r >= 0xE0000 && r <= 0xE007F
}

// cleanName drops the characters that git forbids in a name, and those that would deceive a reader.
func cleanName(name, fallback string) string {
	if strings.ContainsFunc(name, isForbidden) {
		name = strings.Map(func(r rune) rune {
			if isForbidden(r) {
				return -1
			}
			return r
		}, name)
	}
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
		return user.addressed().clean()
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
	sign := byte('+')
	if offset < 0 {
		sign, offset = '-', -offset
	}
	dst = append(append(append(append(dst, p.Name...), " <"...), p.Email...), "> "...)
	dst = strconv.AppendInt(dst, max(0, at.Unix()), 10)
	hours, minutes := offset/3600, offset/60%60
	return append(dst, ' ', sign, digit(hours/10), digit(hours%10), digit(minutes/10), digit(minutes%10))
}

func digit(n int) byte { return '0' + byte(n) }

// parsePerson reads what appendPerson wrote: a name, an address and a time in the one form that git fsck
// accepts, since programs read others differently.
func parsePerson(line []byte) (Person, time.Time, error) {
	name, email, at, err := splitPerson(line)
	return Person{Name: string(name), Email: string(email)}, at, err
}

// splitPerson is parsePerson in the line's own memory.
func splitPerson(line []byte) (name, email []byte, at time.Time, err error) {
	name, rest, named := bytes.Cut(line, []byte(" <"))
	email, when, addressed := bytes.Cut(rest, []byte("> "))
	if !named || !addressed || angled(name) || angled(email) {
		return nil, nil, time.Time{}, fmt.Errorf("person %.60q has no address", line)
	}
	seconds, zone, _ := bytes.Cut(when, []byte(" "))
	n, ok := decimal(seconds)
	if !ok || !isZone(zone) {
		return nil, nil, time.Time{}, fmt.Errorf("person %.60q has no time", line)
	}
	return trimRight(name), email, time.Unix(n, 0), nil // blanks of an address are git's to it, too
}

func angled(text []byte) bool {
	return bytes.IndexByte(text, '<') >= 0 || bytes.IndexByte(text, '>') >= 0
}

// isBlank is for blanks within a line.
func isBlank(r rune) bool { return r == ' ' || r == '\t' || r == '\v' || r == '\f' || r == '\r' }

func trimRight(text []byte) []byte { return bytes.TrimRightFunc(text, isBlank) }

// decimal reads seconds, written in one way only.
func decimal(digits []byte) (n int64, ok bool) {
	if len(digits) == 0 || len(digits) > 15 || len(digits) > 1 && digits[0] == '0' {
		return 0, false
	}
	for _, d := range digits {
		if d < '0' || d > '9' {
			return 0, false
		}
		n = 10*n + int64(d-'0')
	}
	return n, true
}

func isZone(zone []byte) bool {
	if len(zone) != len("+0000") || zone[0] != '+' && zone[0] != '-' {
		return false
	}
	for _, d := range zone[1:] {
		if d < '0' || d > '9' {
			return false
		}
	}
	return true
}
