package chat

import (
	"fmt"
	"strings"

	"jp/internal/safetext"
)

// Topics of commands, in the order of the help.
const (
	topicConversation = "Conversation"
	topicFiles        = "Files"
	topicModel        = "Model"
	topicContext      = "Context"
	topicChat         = "Chat"
	topicOthers       = "Skills" // and prompts of MCP servers
)

var topics = []string{topicConversation, topicFiles, topicModel, topicContext, topicChat, topicOthers}

// keys are the actions of the keys.
var keys = [][2]string{
	{"Enter", "ask; queue while it works"},
	{"Alt+Enter", `a line break; or \ Enter`},
	{"Tab", "complete; answer question"},
	{"Up, Down", "earlier requests"},
	{"@PATH", "attach a file"},
	{"!COMMAND", "run and tell; !! run only"},
	{"Ctrl+O", "open output; again: older"},
	{"Ctrl+V", "attach a copied picture"},
	{"Ctrl+R", "search your requests"},
	{"Ctrl+G", "write in your editor"},
	{"Shift+Tab", "mode: edits, plan, auto"},
	{"Esc", "menu, at work; again: stop"},
	{"Esc Esc", "change an earlier request"},
	{"Ctrl+C", "empty; stop; twice: leave"},
	{"Ctrl+Y", "bring the line back"},
	{"Ctrl+L", "draw the screen again"},
}

// A keyCell is how many columns a key takes with its words.
const keyCell = 39

// keyRows are the keys in two columns, or in one if there is no room for two.
func keyRows(width int) (rows []string) {
	n := len(keys)
	if width >= 2*keyCell {
		n = (n + 1) / 2
	}
	for i := range n {
		row := ""
		for at := i; at < len(keys); at += n {
			row = fmt.Sprintf("%-*s", at/n*keyCell, row) + fmt.Sprintf("  %-10s %s", keys[at][0], keys[at][1])
		}
		rows = append(rows, row)
	}
	return rows
}

// helpRows are the commands by topic, and the keys if a screen of so many rows has room for all of it.
// Skills have one row.
func helpRows(all []command, width, screen int) (rows []string) {
	const lead = 15
	for _, topic := range topics {
		row, listed, more := fmt.Sprintf("  %-*s", lead-2, topic), false, 0
		empty := len(row)
		for _, o := range all {
			if o.topic == "" {
				o.topic, o.args = topicOthers, ""
			}
			if o.topic != topic {
				continue
			}
			listed = true
			word := strings.TrimSpace("/" + o.name + " " + strings.ReplaceAll(o.args, "[FLAGS]", ""))
			if lead+safetext.Columns(word) > width-1 {
				word = "/" + o.name
			}
			switch columns := safetext.Columns(row) + 2 + safetext.Columns(word); {
			case topic == topicOthers && (more > 0 || len(row) > empty && columns+len("  … 999 more") > width-1):
				more++
				continue
			case len(row) > empty && columns > width-1:
				rows, row = append(rows, row), strings.Repeat(" ", lead-2)+"  "
			case len(row) > empty:
				row += "  "
			}
			row += word
		}
		if more > 0 {
			row += fmt.Sprintf("  … %d more", more)
		}
		if listed {
			rows = append(rows, row)
		}
	}
	const around = 6 // rows of the person's line, of the frame, and between
	if keys := keyRows(width - 1); len(rows)+1+len(keys) <= screen-around {
		return append(append(rows, ""), keys...)
	}
	return append(rows, "", "  "+keysMark+" in an empty line shows the keys")
}
