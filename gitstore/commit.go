package gitstore

import (
	"bytes"
	"fmt"
	"time"

	"jp/gitstore/odb"
)

// Headers of ours in a commit. git shows them in raw views only, and keeps them.
const (
	headerData     = "jp-data"
	headerState    = "jp-state"
	headerProvider = "jp-provider"
	headerHome     = "jp-home"
	headerMAC      = "jp-mac"
)

// Limits of the headers, in bytes.
const (
	maxData     = 64 << 10
	maxState    = 16 << 10
	maxProvider = 16 << 10
)

// A commit is a git commit object, taken apart.
type commit struct {
	tree      odb.OID
	parents   []odb.OID
	author    Person
	authored  time.Time
	committer Person
	committed time.Time
	data      []byte // jp-data, nil if absent
	state     []byte
	provider  []byte
	home      []byte // "<repository> <conversation>"
	mac       []byte
	message   []byte
}

// encode returns the object's bytes; without the code if mac is empty.
func (c *commit) encode() []byte {
	return c.appendRest(c.head())
}

// head is the object up to the place of its code, with room for the rest.
func (c *commit) head() []byte {
	dst := make([]byte, 0, 704+len(c.data)+len(c.state)+len(c.provider)+len(c.message))
	dst = append(append(append(dst, "tree "...), c.tree...), '\n')
	for _, p := range c.parents {
		dst = append(append(append(dst, "parent "...), p...), '\n')
	}
	dst = append(appendPerson(append(dst, "author "...), c.author, c.authored), '\n')
	dst = append(appendPerson(append(dst, "committer "...), c.committer, c.committed), '\n')
	dst = appendHeader(dst, headerData, c.data)
	dst = appendHeader(dst, headerState, c.state)
	dst = appendHeader(dst, headerProvider, c.provider)
	return appendHeader(dst, headerHome, c.home)
}

// appendRest appends the headers and the message behind the code.
func (c *commit) appendRest(head []byte) []byte {
	return append(append(appendHeader(head, headerMAC, c.mac), '\n'), c.message...)
}

func appendHeader(dst []byte, name string, value []byte) []byte {
	if len(value) == 0 {
		return dst
	}
	return append(append(append(append(dst, name...), ' '), value...), '\n')
}

// The order of a commit's headers. Readers that keep to another one would see
// another commit than git does.
const (
	atStart = iota
	atTree
	atParent
	atAuthor
	atCommitter
	atOther
)

// parseCommit reads a commit object as git does: tree, parents, author and committer first and in this
// order. Other headers that it does not know are skipped. The result shares the object's memory; with an
// error it has the headers before the fault.
func parseCommit(object []byte) (*commit, error) {
	c := &commit{}
	rest, at, ours := object, atStart, false
	for {
		line, after, ok := bytes.Cut(rest, []byte{'\n'})
		if !ok {
			return c, fmt.Errorf("commit has no message")
		}
		rest = after
		if len(line) == 0 {
			break
		}
		if bytes.IndexByte(line, 0) >= 0 {
			return c, fmt.Errorf("a header holds a zero byte, where git takes the commit to end")
		}
		if line[0] == ' ' && at == atOther && !ours { // the continuation of a header such as gpgsig
			continue
		}
		if line[0] == ' ' {
			return c, fmt.Errorf("a header has more than one line")
		}
		name, value, _ := bytes.Cut(line, []byte{' '})
		next := headerOrder(name)
		if next != at+1 && !(next == at && (at == atParent || at == atOther)) && !(at == atTree && next == atAuthor) {
			return c, fmt.Errorf("header %.40q stands in the wrong place", name)
		}
		if err := c.header(name, value); err != nil {
			return c, err
		}
		at, ours = next, bytes.HasPrefix(name, []byte("jp-"))
	}
	if at < atCommitter {
		return c, fmt.Errorf("commit has no tree, author or committer")
	}
	c.message = rest
	return c, nil
}

func headerOrder(header []byte) int {
	switch string(header) {
	case "tree":
		return atTree
	case "parent":
		return atParent
	case "author":
		return atAuthor
	case "committer":
		return atCommitter
	}
	return atOther
}

func (c *commit) header(name, value []byte) (err error) {
	switch string(name) {
	case "tree":
		c.tree, err = odb.ParseOID(string(value))
	case "parent":
		var p odb.OID
		p, err = odb.ParseOID(string(value))
		c.parents = append(c.parents, p)
	case "author":
		c.author, c.authored, err = parsePerson(value)
	case "committer":
		c.committer, c.committed, err = parsePerson(value)
	case headerData:
		err = setOnce(&c.data, value)
	case headerState:
		err = setOnce(&c.state, value)
	case headerProvider:
		err = setOnce(&c.provider, value)
	case headerHome:
		err = setOnce(&c.home, value)
	case headerMAC:
		err = setOnce(&c.mac, value)
	}
	return err
}

func setOnce(header *[]byte, value []byte) error {
	if *header != nil {
		return fmt.Errorf("a header stands twice")
	}
	if value == nil {
		return fmt.Errorf("a header has no value")
	}
	*header = value[:len(value):len(value)]
	return nil
}

// parentState reads what an event inherits from its parent commit. git may refuse to make such a commit
// today.
func parentState(object []byte) (tree odb.OID, committed time.Time, err error) {
	line, rest, _ := bytes.Cut(object, []byte{'\n'})
	oid, ok := bytes.CutPrefix(line, []byte("tree "))
	if !ok {
		return "", time.Time{}, fmt.Errorf("commit has no tree")
	}
	for len(rest) > 0 && rest[0] != '\n' {
		line, rest, _ = bytes.Cut(rest, []byte{'\n'})
		if person, ok := bytes.CutPrefix(line, []byte("committer ")); ok {
			_, _, committed, _ = splitPerson(person)
			break
		}
	}
	tree, err = odb.ParseOID(string(oid))
	return tree, committed, err
}

// parent is the first parent, "" for a root.
func (c *commit) parent() odb.OID {
	if len(c.parents) == 0 {
		return ""
	}
	return c.parents[0]
}
