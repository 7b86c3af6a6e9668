package shell

import (
	"errors"
	"fmt"
	"os/exec"

	"jp/tool"
	"jp/tool/command"
)

// noteRoom is the space for the lines about the end of a program.
const noteRoom = 1 << 10

// result is the output, with a last line about a bad ending of the program, and with the note if the exit
// code is not 0.
func result(ended command.Ending, out *tool.Capture, note string) tool.Result {
	short, long := ended.Words()
	var exit *exec.ExitError
	if note != "" && !ended.Cancelled && !ended.TimedOut && !ended.Keys && errors.As(ended.Err, &exit) && exit.ExitCode() > 0 {
		long += "\n" + note
	}
	content, whole := out.Content()
	if long != "" {
		if len(content) > 0 && content[len(content)-1] != '\n' {
			content = append(content, '\n')
		}
		content = append(content, long+"\n"...)
	}
	return tool.Result{
		Content: content, Truncated: whole, IsError: !ended.Success(),
		Effect: fmt.Sprintf("%s, %s", short, count(out.Lines())),
	}
}

func count(lines int64) string {
	if lines == 1 {
		return "1 line"
	}
	return fmt.Sprintf("%d lines", lines)
}
