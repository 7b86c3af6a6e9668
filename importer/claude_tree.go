package importer

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"time"
)

// A claudeID is a digest of the id of a record, since ids of a file may have any length.
type claudeID [16]byte

func claudeIDOf(uuid string) claudeID {
	sum := sha256.Sum256([]byte(uuid))
	return claudeID(sum[:])
}

const (
	// maxLinks bounds the memory that the links of a session take. Records behind it count as
	// parts of the session itself.
	maxLinks = 1 << 20
	// maxThreads bounds the branches and sub-agents of a session.
	maxThreads = 1000
)

// Values that a line of the file has in place of the number of a node.
const (
	claudeLoose     = -1 // of the session itself
	claudeRepeated  = -2
	claudeOneTooFar = -3 // of a branch beyond maxThreads
)

// A claudeTree assigns each line of a session to a thread.
//
// The session itself is the path from the oldest message, always by its oldest successor. Another message
// that follows the same one begins a branch: a request, or an answer to the same request. So when a session
// grows, all lines stay in their threads. Results of tools that ran at once follow different parts of one
// answer, without a branch. A parent counts only if it stands before, and a line without one follows the
// newest message.
type claudeTree struct {
	ids     map[claudeID]int32
	nodes   []claudeNode
	lines   []int32 // node of each line
	threads []*claudeThread
	keys    map[string]int32
	prompts map[claudeID]string // threads of sub-agents, by their prompts
	calls   map[string]string   // threads of sub-agents, by the calls that they work on
	begun   bool
	side    bool
	newest  int32 // the newest message of the session itself or of a branch
}

type claudeKind uint8

const (
	claudeOther claudeKind = iota
	claudeAsked
	claudeAnswered
	claudeReturned // results, and the agent's words in the user's role
)

type claudeNode struct {
	message int32 // the node itself, if it is a message, else the one before it, or -1
	thread  int32
	line    int32
	kind    claudeKind
	kids    bool   // a message follows it
	answer  uint64 // of an answer: its id
	replied uint64 // the id of the first answer that follows
}

type claudeThread struct {
	key     string
	parent  int32
	child   bool
	started time.Time
	upTo    int32   // line of the parent that it follows
	more    []int32 // lines of the parent behind it that belong to the same answer
	first   int32   // line
	last    int32
	beyond  bool
}

// Threads implements [Threaded].
func (f claude) Threads(file io.ReadSeeker, path string) ([]Thread, error) {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	t := &claudeTree{ids: map[claudeID]int32{}, keys: map[string]int32{}, prompts: map[claudeID]string{}, newest: -1, threads: []*claudeThread{{parent: -1}}}
	lines := linesOf(file)
	for {
		line, refused, err := lines.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		node := int32(claudeLoose)
		if refused == "" {
			node = t.enter(line)
		}
		if len(t.lines) < maxLinks {
			t.lines = append(t.lines, node)
		}
	}
	t.ids = nil
	threads := make([]Thread, 0, len(t.threads))
	for i, at := range t.threads {
		threads = append(threads, Thread{
			Key: at.key, Child: at.child, Started: at.started,
			Decode: func(s *Session, yield func(Record) error) error { return t.decode(file, int32(i), s, yield) },
		})
		if at.parent > 0 {
			threads[i].Parent = t.threads[at.parent].key
		}
	}
	t.calls = map[string]string{}
	for _, a := range claudeSides(path) {
		if _, known := t.keys[a.key]; known || len(threads) >= maxThreads {
			continue
		}
		thread, _, ok := a.thread(f, func(in io.Reader, s *Session, yield func(Record) error) error {
			d := claudeDecoder{session: s, yield: yield, calls: t.calls}
			return linesOf(in).each(s, d.line)
		})
		if !ok {
			continue
		}
		threads = append(threads, thread)
		if a.call != "" {
			t.calls[a.call] = a.key
		}
	}
	return threads, nil
}

// enter finds the place of the next line.
func (t *claudeTree) enter(line []byte) int32 {
	var l claudeLinks
	var message []byte
	if !fields(line, func(key, value []byte) {
		if string(key) == "message" {
			message = value
			return
		}
		l.take(key, value)
	}) {
		return claudeLoose
	}
	if l.UUID == "" || len(t.lines) >= maxLinks {
		return claudeLoose
	}
	id := claudeIDOf(l.UUID)
	if _, known := t.ids[id]; known {
		return claudeRepeated
	}
	n := claudeNode{line: int32(len(t.lines)), message: -1, kind: claudeOther}
	prompt := ""
	switch l.Type {
	case "assistant":
		n.kind = claudeAnswered
		n.answer = answerID(textOf(fieldOf(message, "id")))
	case "user":
		n.kind = claudeReturned
		if prompt = claudePromptOf(line); prompt != "" {
			n.kind = claudeAsked
		}
	}
	if n.kind != claudeOther && !t.begun {
		t.begun, t.side = true, l.IsSidechain
	}
	parent := t.parentOf(l)
	if t.begun && l.IsSidechain != t.side && n.kind != claudeOther {
		return t.put(id, n, t.agent(l, parent, prompt, n))
	}
	if parent >= 0 {
		n.thread = t.nodes[parent].thread
	}
	if n.kind == claudeOther {
		n.message = parent
		return t.put(id, n, n.thread)
	}
	if parent >= 0 {
		p := &t.nodes[parent]
		leaves := n.kind == claudeAsked && p.kids
		if n.kind == claudeAnswered && !l.IsFailure {
			leaves = n.answer != 0 && p.replied != 0 && p.replied != n.answer
			if p.replied == 0 {
				p.replied = n.answer
			}
		}
		p.kids = true
		if leaves && !t.threads[n.thread].child {
			n.thread = t.branch(l, parent)
		}
	}
	at := t.put(id, n, n.thread)
	if at >= 0 {
		t.nodes[at].message = at
		t.newest = at
	}
	return at
}

// parentOf is the message that a line follows, or -1.
func (t *claudeTree) parentOf(l claudeLinks) int32 {
	for _, uuid := range []string{l.Parent, l.Logical} {
		if uuid == "" {
			continue
		}
		if at, known := t.ids[claudeIDOf(uuid)]; known {
			return t.nodes[at].message
		}
	}
	if l.IsSidechain != t.side {
		return -1
	}
	return t.newest
}

func (t *claudeTree) put(id claudeID, n claudeNode, thread int32) int32 {
	if thread < 0 {
		return claudeOneTooFar
	}
	n.thread = thread
	at := int32(len(t.nodes))
	t.nodes = append(t.nodes, n)
	t.ids[id] = at
	t.threads[thread].last = n.line
	if t.threads[thread].beyond {
		return claudeOneTooFar
	}
	return at
}

// branch begins a thread that leaves another one behind a message.
func (t *claudeTree) branch(l claudeLinks, parent int32) int32 {
	p := t.nodes[parent]
	b := &claudeThread{key: l.UUID, parent: p.thread, started: parseTime(l.Timestamp), upTo: p.line, first: int32(len(t.lines))}
	if len(b.key) > 256 || len(t.threads) >= maxThreads || b.started.IsZero() {
		return -1
	}
	answer := p.answer
	if p.kind == claudeReturned && p.message >= 0 {
		answer = p.replied
	}
	for _, at := range t.lines[p.line+1:] {
		if at < 0 || t.nodes[at].thread != p.thread || t.nodes[at].kind == claudeOther {
			continue
		}
		if n := t.nodes[at]; n.kind == claudeReturned && p.kind != claudeAsked || n.kind == claudeAnswered && answer != 0 && n.answer == answer && p.kind == claudeAnswered {
			b.more = append(b.more, n.line)
			continue
		}
		break
	}
	t.threads = append(t.threads, b)
	return int32(len(t.threads) - 1)
}

// agent is the thread of a sub-agent's line.
func (t *claudeTree) agent(l claudeLinks, parent int32, prompt string, n claudeNode) int32 {
	key := l.Agent
	if key == "" {
		if parent >= 0 && t.threads[t.nodes[parent].thread].child {
			return t.nodes[parent].thread
		}
		key = l.UUID
	}
	if at, known := t.keys[key]; known {
		return at
	}
	a := &claudeThread{key: key, child: true, started: parseTime(l.Timestamp), first: n.line, upTo: -1}
	if len(key) > 256 || len(t.threads) >= maxThreads || a.started.IsZero() {
		return -1
	}
	if parent >= 0 {
		a.parent = t.nodes[parent].thread
	} else if t.newest >= 0 {
		a.parent = t.nodes[t.newest].thread
	}
	at := int32(len(t.threads))
	t.threads = append(t.threads, a)
	t.keys[key] = at
	if prompt != "" {
		t.prompts[claudeIDOf(prompt)] = key
	}
	return at
}

// decode gives the records of a thread.
func (t *claudeTree) decode(file io.ReadSeeker, thread int32, s *Session, yield func(Record) error) error {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	own := t.threads[thread]
	shares := map[int32]*claudeThread{} // those that it leaves, by the continuing one
	if !own.child {
		for at := own; at.parent >= 0; at = t.threads[at.parent] {
			shares[at.parent] = at
		}
	}
	d := claudeDecoder{session: s, yield: yield, side: t.side != own.child, begun: true, calls: t.calls, agents: func(prompt string) string { return t.prompts[claudeIDOf(prompt)] }}
	lines, parted := linesOf(file), len(shares) == 0
	for n := int32(0); thread == 0 || n <= own.last; n++ {
		line, refused, err := lines.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		at, of := int32(claudeLoose), int32(0)
		if int(n) < len(t.lines) {
			at = t.lines[n]
		}
		if at >= 0 {
			of = t.nodes[at].thread
		}
		switch {
		case of == thread && thread == 0 && refused != "":
			count(&s.Refused, refused)
			continue
		case of == thread && at == claudeRepeated && thread == 0:
			count(&s.Refused, refusedDuplicate)
			continue
		case at == claudeOneTooFar:
			if thread == 0 {
				count(&s.LeftOut, "of another branch")
			}
			continue
		case of == thread && (at >= 0 || thread == 0):
			if !parted && n >= own.first {
				parted = true
				if err := yield(Record{Kind: KindBranch}); err != nil {
					return err
				}
			}
		case at < 0 || shares[of] == nil || !shares[of].has(n):
			continue
		}
		if err := d.line(line); err != nil {
			return err
		}
	}
	return nil
}

// has reports whether a line of the parent belongs to the branch, too.
func (b *claudeThread) has(line int32) bool {
	if line <= b.upTo {
		return true
	}
	for _, more := range b.more {
		if more == line {
			return true
		}
	}
	return false
}

// answerID stands for the id of an answer, 0 for an empty one.
func answerID(id string) uint64 {
	if id == "" {
		return 0
	}
	sum := claudeIDOf(id)
	return binary.LittleEndian.Uint64(sum[:]) | 1
}

// claudePromptOf is the user's words in a line, "" for any other line.
func claudePromptOf(line []byte) string {
	if bytes.Contains(line, []byte(`"tool_result"`)) {
		return ""
	}
	var l claudeLine
	if !l.read(line) || l.IsMeta || l.IsSummary {
		return ""
	}
	blocks, _ := claudeBlocks(l.Message.Content)
	return claudePrompt(blocks)
}
