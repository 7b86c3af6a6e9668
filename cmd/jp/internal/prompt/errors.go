package prompt

import "jp/cmd/jp/internal/terminal"

// ErrInterrupted means that the person typed Ctrl+C in the place of an answer. The question stays
// open.
var ErrInterrupted = terminal.ErrInterrupted
