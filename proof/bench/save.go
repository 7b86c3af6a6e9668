package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode"
)

// Sides in the names of saved benchmarks.
const (
	savedJP    = "jp"
	savedRival = "rival"
)

// savedUnits are the units of Go's benchmark format, and how many of them one of
// ours has.
var savedUnits = map[string]struct {
	name string
	per  float64
}{
	seconds: {"ns/op", 1e9},
	octets:  {"B/op", 1},
}

// savedDigits are behind the point.
const savedDigits = 1

// save writes the measurements to a file in Go's benchmark format: a line for each round of each side,
// those of one row in the same order.
func (r *report) save(path, date string) error {
	var out bytes.Buffer
	fmt.Fprintf(&out, "pkg: jp/proof/bench\ndate: %s\nmachine: %s\n", date, r.Machine)
	for _, p := range r.Places {
		fmt.Fprintf(&out, "place-%s: %s, journal: %s\n", p.Name, p.Type, p.Journal)
	}
	if r.Partial {
		fmt.Fprintln(&out, "partial: the run was ended before its last row")
	}
	for _, row := range r.Rows {
		unit := savedUnits[row.Unit]
		for _, side := range []struct {
			name   string
			values []float64
		}{{savedJP, row.rounds.jp}, {savedRival, row.rounds.rival}} {
			for _, v := range side.values {
				fmt.Fprintf(&out, "%s/side=%s 1 %s %s\n", row.benchmark(), side.name, strconv.FormatFloat(v*unit.per, 'f', savedDigits, 64), unit.name)
			}
		}
	}
	return os.WriteFile(path, out.Bytes(), 0o644)
}

// benchmark is the row's name as a benchmark's, without spaces.
func (r row) benchmark() string {
	name := []rune(r.Name)
	name[0] = unicode.ToUpper(name[0])
	dashed := strings.NewReplacer(" ", "_", "/", "|")
	return fmt.Sprintf("Benchmark%s/on=%s/vs=%s", dashed.Replace(string(name)), r.On, dashed.Replace(r.RivalName))
}

// readSaved reads a file of save, by the names of the rows as benchmarks.
func readSaved(in io.Reader) (map[string]pairs, error) {
	saved := map[string]pairs{}
	lines := bufio.NewScanner(in)
	for n := 1; lines.Scan(); n++ {
		if !strings.HasPrefix(lines.Text(), "Benchmark") {
			continue
		}
		name, side, v, err := parseSaved(lines.Text())
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		p := saved[name]
		if side == savedJP {
			p.jp = append(p.jp, v)
		} else {
			p.rival = append(p.rival, v)
		}
		saved[name] = p
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(saved) == 0 {
		return nil, errNotSaved
	}
	return saved, nil
}

// parseSaved reads the line of one round of one side.
func parseSaved(line string) (name, side string, v float64, err error) {
	f := strings.Fields(line)
	if len(f) < 4 {
		return "", "", 0, fmt.Errorf("%q has no value", line)
	}
	name, side, ok := strings.Cut(f[0], "/side=")
	if !ok || (side != savedJP && side != savedRival) {
		return "", "", 0, fmt.Errorf("%q is no side of a row", f[0])
	}
	v, err = strconv.ParseFloat(f[2], 64)
	return name, side, v, err
}

// readBaseline reads a file that an earlier run has saved.
func readBaseline(path string) (map[string]pairs, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	saved, err := readSaved(f)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return saved, nil
}
