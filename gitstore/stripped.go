package gitstore

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"jp/conversation"
)

// A StrippedMessage is the commit message of an event that lost its headers. Any part may be forged. It is
// only text to read.
type StrippedMessage struct {
	Commit string
	Author string
	Time   time.Time
	Type   conversation.Type // as its trailer says
	Seq    int               // as its trailer says, -1 if that is not a number
	Text   string            // the message without its trailers
}

// StrippedMessages reads the stripped commits at the end of a chain, oldest first. It stops at the first
// commit that is unreadable, whole, foreign to jp, or event 0 by its own words. read is Store.ReadObject.
func StrippedMessages(ctx context.Context, read func(oid string) (kind string, data []byte, err error), head conversation.Head) (all []StrippedMessage) {
	for at := string(head); at != "" && ctx.Err() == nil; {
		kind, object, err := read(at)
		if err != nil || kind != "commit" {
			break
		}
		c, err := parseCommit(object)
		if err != nil || c.data != nil || !hasTrailers(c.message) {
			break
		}
		m := StrippedMessage{Commit: at, Author: c.author.Name, Time: c.authored, Seq: -1}
		end := bytes.LastIndex(c.message, []byte("\n\n"))
		m.Text = strings.ToValidUTF8(strings.TrimRight(string(c.message[:end]), "\n"), string(utf8.RuneError))
		for line := range strings.Lines(string(c.message[end+2:])) {
			switch name, value, _ := strings.Cut(strings.TrimRight(line, "\n"), ": "); name {
			case "Jp-Event":
				m.Type = conversation.Type(value)
			case "Jp-Seq":
				if n, err := strconv.Atoi(value); err == nil && n >= 0 {
					m.Seq = n
				}
			}
		}
		all = append(all, m)
		if m.Seq == 0 {
			break
		}
		at = string(c.parent())
	}
	slices.Reverse(all)
	return all
}
