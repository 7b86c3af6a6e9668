package terminal_test

import (
	"fmt"
	"os"

	"jp/cmd/jp/internal/terminal"
	"jp/internal/safetext"
)

// Foreign text is cleaned to be printed, and escaped to be approved.
func Example() {
	title := "\x1b]0;gotcha\x07Cap the login retries"
	fmt.Println(safetext.Clean(title))
	fmt.Println(safetext.EscapeAll([]string{"git", "commit", "-m", "cap retries \u202e"}))

	table := terminal.Table{Width: 30, Flexible: 1}
	table.Row("jp-c17952554400", safetext.Clean(title))
	_ = table.Print(os.Stdout)
	// Output:
	// Cap the login retries
	// git commit -m $'cap retries \u202e'
	// jp-c17952554400  Cap the logi…
}
