package main

import (
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
)

// A row is the result of one attack.
type row struct {
	attack   attack
	control  string // the control's signs
	commands int    // of jp, that were run
	signs    []string
	err      error // why the attack could not be tried
}

// A table has the results of all attacks.
type table struct{ rows []row }

func (t *table) add(r row) { t.rows = append(t.rows, r) }

// last is a line about the last trial.
func (t *table) last() string {
	r := t.rows[len(t.rows)-1]
	return fmt.Sprintf("%s: %d commands, %d signs", r.attack.name, r.commands, len(r.signs)+count(r.err != nil))
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

// print writes the table, and below it each sign of an attack.
func (t *table) print(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "class\tpublished as\twithout the defence\tjp commands\tsigns with jp")
	commands, signs := 0, 0
	for _, r := range t.rows {
		control := r.control
		if r.err != nil {
			control = "ERROR"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\n", r.attack.name, r.attack.source, control, r.commands, len(r.signs))
		commands, signs = commands+r.commands, signs+len(r.signs)
	}
	fmt.Fprintf(w, "%d classes\t\t\t%d\t%d\n", len(t.rows), commands, signs)
	w.Flush()
	for _, r := range t.rows {
		for _, sign := range r.signs {
			fmt.Fprintf(out, "%s: %s\n", r.attack.name, sign)
		}
		if r.err != nil {
			fmt.Fprintf(out, "%s: %v\n", r.attack.name, r.err)
		}
	}
}

func (t *table) failure() error {
	var all []error
	for _, r := range t.rows {
		if len(r.signs) > 0 {
			all = append(all, fmt.Errorf("%w: %s", errUnsafe, r.attack.name))
		}
		if r.err != nil {
			all = append(all, fmt.Errorf("%s: %w", r.attack.name, r.err))
		}
	}
	return errors.Join(all...)
}
