package chat

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"

	"jp/agent/contextfiles"
	"jp/cmd/jp/internal/console"
	"jp/cmd/jp/internal/terminal"
	"jp/cmd/jp/internal/ui"
	"jp/internal/action"
	"jp/internal/safetext"
	"jp/tool"
)

// ownCommand is the command line of the person's own behind ! or !!. With ! the model gets its output.
func ownCommand(e console.Entry) (line string, told, is bool) {
	rest, is := strings.CutPrefix(strings.TrimSpace(e.Text), "!")
	rest, quiet := strings.CutPrefix(rest, "!")
	line = strings.TrimSpace(rest)
	return line, !quiet, is && line != "" && !e.Pasted(0)
}

// ownOutput is how many bytes of an output the model gets.
const ownOutput = 32 << 10

// runOwn runs a command of the person's own as their shell does, outside of the sandbox. With told its
// output is for the next request. Without told the command has the terminal.
func runOwn(ctx context.Context, self ui.Self, out line, command string, told bool) (given []contextfiles.Attachment, err error) {
	dim := self.Env.Palette(self.Env.Stdout).Dim
	var output *bytes.Buffer
	if told {
		output = new(bytes.Buffer)
	}
	ended, err := self.Shell(ctx, command, output)
	if err != nil {
		return nil, err
	}
	if ended != "" {
		fmt.Fprintln(out, dim(ended))
	}
	if !told {
		return nil, nil
	}
	printed := tool.Shorten([]byte(safetext.Shown(output.String())), ownOutput, func(g tool.Gap) string { return fmt.Sprintf("[jp left out lines %d to %d.]", g.First, g.Last) })
	if n := len(printed); n > 0 && printed[n-1] != '\n' {
		printed = append(printed, '\n')
	}
	text := fmt.Sprintf("The user ran this command in their own shell:\n$ %s\n%s%s\n", command, printed, ended)
	file, err := contextfiles.NewAttachment("output of "+safetext.Fit(safetext.OneLine(command), 60), []byte(text))
	if err != nil {
		return nil, err
	}
	fmt.Fprintln(out, dim(terminal.Wrap("The output goes with the next request. !! keeps it from the model.", out.Width())))
	return []contextfiles.Attachment{file}, nil
}

// jpLine is a command line of jp that the person typed as in a shell, for a shell.
func jpLine(e console.Entry, has func(name string) bool) (line string, is bool) {
	text := strings.TrimSpace(e.Text)
	words := strings.Fields(text)
	if len(words) < 2 || words[0] != action.Program || strings.Contains(text, "\n") || e.Pasted(0) || has == nil || !has(words[1]) {
		return "", false
	}
	program, err := os.Executable()
	return safetext.Escape(program) + strings.TrimPrefix(text, action.Program), err == nil
}

// runsLine asks whether such a line is a command (y) or words for the model (n). Any other key goes back to the line.
func runsLine(ctx context.Context, out line) (terminal.Key, error) {
	asker := out.Asker()
	if _, plain := out.(*plainLine); !plain {
		asker.Mark()
		defer asker.Erase(true)
	}
	key, err := asker.Choose(ctx, terminal.Choices(out.Width(), 0, "Run it as a command?", "y yes", "n no, send it to the model", "Esc back to the line")+"\n> ", func(k terminal.Key) bool {
		return k.Lower() == 'y' || k.Lower() == 'n' || k == terminal.KeyEsc
	})
	fmt.Fprintln(asker)
	return key.Lower(), err
}
