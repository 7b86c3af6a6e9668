package importer

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A side is the work of a sub-agent in a file of its own.
type side struct {
	path, key string
	depth     int    // 1 is called by the session itself
	call      string // the id of the call that it works on, or ""
}

// thread is the thread of the file. ok is false if the file is no session.
func (a side) thread(f Format, decode func(io.Reader, *Session, func(Record) error) error) (t Thread, s Session, ok bool) {
	in, err := Open(a.path)
	if err != nil {
		return t, s, false
	}
	defer in.Close()
	if s, ok, err = identify(f, in, a.path); err != nil || !ok {
		return t, s, false
	}
	return Thread{Key: a.key, Child: true, Started: s.Started, Decode: func(s *Session, yield func(Record) error) error {
		in, err := Open(a.path)
		if err != nil {
			return err
		}
		defer in.Close()
		return decode(in, s, yield)
	}}, s, true
}

// claudeSides are the sub-agents of a session that lie in a folder beside it, those first that
// may have called the others.
func claudeSides(path string) (sides []side) {
	session, ok := strings.CutSuffix(path, ".jsonl")
	if !ok {
		return nil
	}
	folder := filepath.Join(session, "subagents")
	entries, _ := os.ReadDir(folder) // the folder is optional
	for _, e := range entries {
		key, ok := strings.CutSuffix(e.Name(), ".jsonl")
		if key, is := strings.CutPrefix(key, agentFile); ok && is && key != "" && e.Type().IsRegular() && len(sides) < maxThreads {
			a := side{path: filepath.Join(folder, e.Name()), key: key, depth: 1}
			a.describe(filepath.Join(folder, agentFile+key+".meta.json"))
			sides = append(sides, a)
		}
	}
	slices.SortStableFunc(sides, func(a, b side) int { return cmp.Compare(a.depth, b.depth) })
	return sides
}

func (a *side) describe(path string) {
	in, err := Open(path)
	if err != nil {
		return
	}
	defer in.Close()
	const most = 64 << 10
	text, _ := io.ReadAll(io.LimitReader(in, most))
	var meta struct {
		Call  string `json:"toolUseId"`
		Depth int    `json:"spawnDepth"`
	}
	if json.Unmarshal(text, &meta) == nil && len(meta.Call) <= 256 {
		a.call, a.depth = meta.Call, max(1, meta.Depth)
	}
}

// codexSpawns are the threads of sub-agents, by the calls that began them.
type codexSpawns map[string]string

// note looks for a sub-agent in a line.
func (c codexSpawns) note(line []byte) {
	if !containsAny(line, "spawn_agent", "agent_thread_id", "new_thread_id") && (len(c) == 0 || !containsAny(line, "agent_id")) {
		return
	}
	var l codexLine
	var p struct {
		Type   string          `json:"type"`
		Name   string          `json:"name"`
		Call   string          `json:"call_id"`
		Output json.RawMessage `json:"output"`
		New    string          `json:"new_thread_id"`
		Item   struct {
			ID      string   `json:"id"`
			Tool    string   `json:"tool"`
			Kind    string   `json:"kind"`
			Thread  string   `json:"agent_thread_id"`
			Threads []string `json:"receiver_thread_ids"`
		} `json:"item"`
	}
	if !l.read(line) || json.Unmarshal(l.Payload, &p) != nil {
		return
	}
	_, known := c[p.Call]
	switch {
	case p.Type == "function_call" && p.Name == "spawn_agent" && !known:
		c.put(p.Call, "")
	case p.Type == "function_call_output" && known:
		var text string
		var result struct {
			Agent string `json:"agent_id"`
		}
		if json.Unmarshal(p.Output, &text) == nil && json.Unmarshal([]byte(text), &result) == nil && result.Agent != "" {
			c.put(p.Call, result.Agent)
		}
	case p.Type == "collab_agent_spawn_end":
		c.put(p.Call, p.New)
	case p.Type == "item_completed" && p.Item.Tool == "spawn_agent" && len(p.Item.Threads) == 1:
		c.put(p.Item.ID, p.Item.Threads[0])
	case p.Type == "item_completed" && p.Item.Kind == "started":
		c.put(p.Item.ID, p.Item.Thread)
	}
}

func (c codexSpawns) put(call, thread string) {
	if _, known := c[call]; (known || len(c) < maxThreads) && len(call) <= 256 && len(thread) <= 256 {
		c[call] = thread
	}
}

// codexSides adds the threads of a session's sub-agents, and of theirs. Each has a file among
// all sessions, which names the thread in its name and its parent in its first line.
func codexSides(threads []Thread, path, session string, spawned codexSpawns) []Thread {
	type caller struct {
		key, session string
		spawned      codexSpawns
	}
	var files map[string]string
	seen := map[string]bool{session: true}
	for callers := []caller{{"", session, spawned}}; len(callers) > 0; callers = callers[1:] {
		for _, key := range callers[0].spawned.threads() {
			if key == "" || seen[key] || len(threads) >= maxThreads {
				continue
			}
			seen[key] = true
			if files == nil {
				files = rolloutsBeside(path)
			}
			a := side{path: files[key], key: key}
			of := codexSpawns{}
			t, s, ok := a.thread(codex{}, func(in io.Reader, s *Session, yield func(Record) error) error {
				d := codexDecoder{session: s, yield: yield, spawned: of}
				return linesOf(in).each(s, d.line)
			})
			if !ok || s.ID != key || s.parent != callers[0].session {
				continue
			}
			if in, err := Open(a.path); err == nil {
				_ = linesOf(in).each(new(Session), func(line []byte) error { of.note(line); return nil }) // of a damaged file, the readable part
				_ = in.Close()
			}
			t.Parent = callers[0].key
			threads = append(threads, t)
			callers = append(callers, caller{key, key, of})
		}
	}
	return threads
}

// threads are those that calls began, in a stable order.
func (c codexSpawns) threads() (all []string) {
	for _, thread := range c {
		all = append(all, thread)
	}
	slices.Sort(all)
	return all
}

// rolloutsBeside are the sessions in the folders by date that a session lies in, by their ids.
// A session elsewhere may have others in its own folder.
func rolloutsBeside(path string) map[string]string {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil
	}
	folder, names := filepath.Dir(path), []string(nil)
	day, parts := "", strings.Split(filepath.ToSlash(folder), "/")
	if len(parts) > 3 {
		day = strings.Join(parts[len(parts)-3:], "/")
	}
	if byDate, _ := filepath.Match("[0-9][0-9][0-9][0-9]/[0-9][0-9]/[0-9][0-9]", day); byDate {
		names, _ = codex{}.Files(filepath.Dir(filepath.Dir(filepath.Dir(folder))), "") // an unreadable folder counts as empty
	} else if entries, err := os.ReadDir(folder); err == nil {
		for _, e := range entries {
			if e.Type().IsRegular() {
				names = append(names, filepath.Join(folder, e.Name()))
			}
		}
	}
	files := map[string]string{}
	for _, at := range names {
		const id = len("01a21f76-03ef-7151-80b7-23a657f3f42c")
		if name, ok := strings.CutSuffix(at, ".jsonl"); ok && len(name) > id {
			files[name[len(name)-id:]] = at
		}
	}
	return files
}

func containsAny(line []byte, words ...string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return bytes.Contains(line, []byte(word)) })
}
