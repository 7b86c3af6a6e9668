package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// An attack is one folder of the corpus:
//
//	README.md      a line that describes the attack, and "Source: …"
//	build.sh       makes the repository, in the working directory
//	control.sh     acts there as a program without the defence
//	model.toml     the model's texts and calls (default: a tour of the tools)
//	user.toml      added to the user's own configuration
//	approved.toml  the .jp/config.toml that the user approved before (default: the present one)
//	jp.sh          further uses of jp, as $JP
type attack struct {
	name, dir string
	what      string
	source    string
	terminal  bool // "Terminal: yes": jp is used at a terminal, too
	asked     bool // "Consent: no": the user refuses everything
}

// readCorpus reads all attacks, in the order of their names.
func readCorpus(dir string) ([]attack, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read the corpus: %w", err)
	}
	var all []attack
	for _, e := range entries {
		a, err := readAttack(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}

func readAttack(dir string) (attack, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return attack{}, err
	}
	a := attack{name: filepath.Base(dir), dir: dir}
	readme, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		return a, fmt.Errorf("read %s: %w", a.name, err)
	}
	for line := range strings.Lines(string(readme)) {
		line = strings.TrimSpace(line)
		source, isSource := strings.CutPrefix(line, "Source: ")
		switch {
		case a.what == "":
			a.what = strings.TrimSpace(strings.TrimLeft(line, "#"))
		case isSource:
			a.source = source
		case line == "Terminal: yes":
			a.terminal = true
		case line == "Consent: no":
			a.asked = true
		}
	}
	for _, name := range []string{"build.sh", "control.sh"} {
		if _, err := os.Stat(a.file(name)); err != nil {
			return a, fmt.Errorf("read %s: %w", a.name, err)
		}
	}
	if a.what == "" || a.source == "" {
		return a, fmt.Errorf("read %s: the README does not say what it is and where it was published", a.name)
	}
	return a, nil
}

func (a attack) file(name string) string { return filepath.Join(a.dir, name) }

// optional reads a file of the attack, nil if it has no such file.
func (a attack) optional(name string) ([]byte, error) {
	data, err := os.ReadFile(a.file(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}
