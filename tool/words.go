package tool

import "strings"

// words name the actions of jp's own tools, and one of their calls.
var words = map[string]struct{ verb, noun string }{
	"fs_read_file": {"read", "reading"}, "fs_list_files": {"list", "list"}, "fs_grep_files": {"search", "search"},
	"fs_modify_file": {"edit", "edit"}, "fs_create_file": {"create", "new file"}, "fs_delete_file": {"delete", "deletion"},
	"fs_move_file": {"move", "move"}, "shell_run": {"run", "command"}, "git_commit": {"commit", "commit"}, "web_fetch": {"fetch", "fetch"},
}

// Verb is the action of a tool, in a word for people. For any other tool it is the name.
func Verb(name string) string {
	if w, own := words[name]; own {
		return w.verb
	}
	return name
}

// Noun is one call of a tool, in words for people. For any other tool it is the name.
func Noun(name string) string {
	if w, own := words[name]; own {
		return w.noun
	}
	return name
}

// Every is all calls of a tool, in words for people.
func Every(name string) string {
	if noun := Noun(name); noun != name {
		return "every " + noun
	}
	return "all " + name
}

// Line is a call in one line for people: the action and its object, as in "edit a.go". A command stands for
// itself.
func Line(name, object string) string {
	object = strings.TrimSpace(object)
	if name == "shell_run" && object != "" {
		return object
	}
	return strings.TrimSpace(Verb(name) + " " + object)
}

// Done is the subject of a result, for people.
func Done(name, subject string) string {
	rest := strings.TrimPrefix(subject, name)
	if strings.HasPrefix(rest, " ") {
		return Line(name, rest)
	}
	return Verb(name) + rest
}

// Event is the subject of an event about a call, for people.
func Event(subject string) string {
	for _, begin := range []string{"ask: run ", "call ", "start "} {
		call, is := strings.CutPrefix(subject, begin)
		name := call
		if end := strings.IndexAny(call, " ?"); end >= 0 {
			name = call[:end]
		}
		if !is || Verb(name) == name {
			continue
		}
		if begin == "ask: run " && name != "shell_run" {
			begin = "ask: "
		}
		return begin + Done(name, call)
	}
	return subject
}

// Resumed is the line of a resumed turn for people, with the nouns of jp's own tools in the place of their names.
func Resumed(line string) string {
	parts := strings.Split(line, "; ")
	for i, part := range parts {
		if name, state, found := strings.Cut(part, " "); found {
			parts[i] = Noun(name) + " " + state
		}
	}
	return strings.Join(parts, "; ")
}

// EffectIn is what the subject of a result says behind the tool and its object, which may be cut.
func EffectIn(subject, call string) string {
	same := 0
	for same < len(subject) && same < len(call) && subject[same] == call[same] {
		same++
	}
	_, effect, _ := strings.Cut(subject[same:], ": ")
	return effect
}

// Shown is an effect for people, behind the line of the call. It drops words that the line has already.
func Shown(name, effect string) string {
	switch {
	case name == "shell_run":
		effect, _, _ = strings.Cut(effect, ", ")
		return strings.TrimPrefix(effect, "exit 0")
	case effect == "moved", effect == "deleted":
		return ""
	case strings.HasPrefix(effect, "+"):
		return strings.Replace(effect, " -", " −", 1)
	}
	return effect
}

// asking are the beginnings of jp's own questions about a call. The tool's name follows.
var asking = []string{"Run ", "Deliver the result of ", "What does the tool-pre hook say to "}

// Asked is the text of a question for people. A question of jp's own names the call's action in place of the
// tool.
func Asked(text string) string {
	for _, begin := range asking {
		call, own := strings.CutPrefix(text, begin)
		end := strings.IndexAny(call, " ?")
		if !own || end < 0 || Verb(call[:end]) == call[:end] {
			continue
		}
		switch name, rest := call[:end], call[end:]; {
		case rest[0] == '?':
			return begin + "the " + Noun(name) + rest
		case begin == asking[0] && name != "shell_run":
			line := Line(name, rest)
			return strings.ToUpper(line[:1]) + line[1:]
		default:
			return begin + Line(name, rest)
		}
	}
	return text
}

// waiting takes the delegates from the name of the tool that they wait for, as in "delegate → shell_run".
func waiting(names string) (delegates, name string) {
	const arrow = " → "
	at := strings.LastIndex(names, arrow)
	if at < 0 {
		return "", names
	}
	return names[:at+len(arrow)], names[at+len(arrow):]
}

// Verbs is the tool that waits, behind its delegates, in words for people.
func Verbs(names string) string {
	delegates, name := waiting(names)
	return delegates + Verb(name)
}

// AskedBy names the caller that waits for an answer, on one line for people. A question of jp's own says
// which call it is about. A tool's question has the call in front.
func AskedBy(names, object, text string) string {
	delegates, name := waiting(names)
	for _, begin := range asking {
		if strings.HasPrefix(text, begin+name) {
			return delegates + Asked(text)
		}
	}
	return delegates + Line(name, object) + " asks: " + text
}
