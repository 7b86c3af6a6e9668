package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// A trial is the use of jp in one hostile repository.
type trial struct {
	place  *hostileRepo
	row    *row
	number int // of the attack, by which a sample is chosen
}

// all uses jp in every way, before and after the repository's settings were
// approved.
func (v *trial) all(ctx context.Context) error {
	if err := v.each(ctx, v.lines()); err != nil {
		return err
	}
	if err := v.script(ctx); err != nil {
		return err
	}
	if err := v.place.approve(); err != nil {
		return err
	}
	if v.place.field.quick {
		return v.each(ctx, first[:1])
	}
	if err := v.each(ctx, v.lines()); err != nil {
		return err
	}
	return v.script(ctx)
}

func (v *trial) each(ctx context.Context, lines [][]string) error {
	for _, line := range lines {
		if v.place.attack.asked {
			line = withoutConsent(line)
		}
		if err := v.jp(ctx, line); err != nil {
			return err
		}
	}
	return nil
}

// script runs the attack's own uses of jp.
func (v *trial) script(ctx context.Context) error {
	if text, err := v.place.attack.optional("jp.sh"); text == nil || err != nil {
		return err
	}
	out, code, err := v.place.script(ctx, "jp.sh")
	if err != nil {
		return fmt.Errorf("jp.sh: %w", err)
	}
	v.row.commands++
	v.note("jp.sh", out, false)
	if code != 0 {
		return fmt.Errorf("jp.sh: exit %d: %s", code, out)
	}
	return nil
}

// consent are the words by which the user allows something.
var consent = []string{"-y", "--policy", "auto", "yes"}

// withoutConsent is a command line without the user's advance consent.
func withoutConsent(line []string) []string {
	return slices.DeleteFunc(slices.Clone(line), func(word string) bool { return slices.Contains(consent, word) })
}

// seen are the commands that a sample tries at a terminal, too.
var seen = []string{"query", "print", "status"}

// first are the lines that come before all others, in a sample too: the others show their records.
var first = [][]string{{"query", "-m", "@MODEL@", "--new", "-y", "Look."}, {"print"}, {"diff", "--worktree"}, {"status"}}

// lines are those of all commands, deletions last, or a sample of them that is
// another one for each attack.
func (v *trial) lines() [][]string {
	var last, lines [][]string
	for _, c := range v.place.field.commands {
		if c[0] == "rm" || c[0] == "archive" {
			last = append(last, c.lines()...)
			continue
		}
		lines = append(lines, c.lines()...)
	}
	lines = append(lines, last...)
	if !v.place.field.quick {
		return slices.Concat(first, lines, first[:1])
	}
	const every = 48
	sample := slices.Clone(first)
	for i, line := range lines {
		if i%every == v.number%every {
			sample = append(sample, line)
		}
	}
	return sample
}

// jp runs one command line, and at a terminal too if the attack wants that.
func (v *trial) jp(ctx context.Context, line []string) error {
	args := v.filled(line)
	out, _, err := v.place.output(ctx, exec.Command(v.place.field.program, args...))
	if err != nil {
		return fmt.Errorf("jp %s: %w: %s", strings.Join(args, " "), err, out)
	}
	v.row.commands++
	v.note("jp "+strings.Join(line, " "), out, false)
	if len(line) > 1 && line[0] == "config" && line[1] == "init" {
		return v.takeBack()
	}
	if !v.place.attack.terminal || v.place.field.quick && !slices.Contains(seen, line[0]) {
		return nil
	}
	out, err = v.place.atTerminal(ctx, args)
	if err != nil {
		return fmt.Errorf("jp %s at a terminal: %w: %q", strings.Join(args, " "), err, out[:min(len(out), 400)])
	}
	v.row.commands++
	v.note("at a terminal: jp "+strings.Join(line, " "), out, true)
	return nil
}

// note adds the signs after a command.
func (v *trial) note(command string, out []byte, onTerminal bool) {
	for _, sign := range v.place.watch.signs(out, onTerminal) {
		if !v.expected(command, sign) {
			v.row.signs = append(v.row.signs, command+": "+sign)
		}
	}
}

// expected reports whether a sign is one that the user asked for: a settings file of their own.
func (v *trial) expected(command, sign string) bool {
	return strings.HasPrefix(command, "jp config init") && strings.HasPrefix(sign, "changed: ") && strings.HasSuffix(sign, "/.jp/config.toml")
}

// takeBack removes the files that jp config init wrote, and leaves those of the attack.
func (v *trial) takeBack() error {
	file := filepath.Join(v.place.repo, ".jp", "config.toml")
	text, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(text), "# ") || v.place.own {
		return nil
	}
	err = os.RemoveAll(filepath.Dir(file))
	v.place.watch.renew()
	return err
}

// filled replaces the placeholders.
func (v *trial) filled(line []string) []string {
	args := slices.Clone(line)
	for i, word := range args {
		switch word {
		case "@MODEL@":
			args[i] = "script/" + v.place.path("model.toml")
		case "@ID@":
			args[i] = v.place.conversation()
		}
	}
	return args
}

// conversation is the id of any conversation there. It does not ask git, since some attacks have git wait
// for ever.
func (p *hostileRepo) conversation() string {
	entries, _ := os.ReadDir(filepath.Join(p.repo, ".git", "refs", "jp", "conversations"))
	for _, e := range entries {
		if e.Type().IsRegular() {
			return e.Name()
		}
	}
	return "jp-c00000000001"
}
