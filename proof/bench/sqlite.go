package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

const appendSQLite = "SQLite FULL"

// A database is a sqlite3 that runs for as long as it is measured, fed with statements through a pipe. Its
// cost includes the pipe and the parsing of a statement, a few dozen microseconds.
type database struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

// openDatabase makes a database that writes ahead and flushes each transaction.
func openDatabase(ctx context.Context, path string) (*database, error) {
	program, err := exec.LookPath("sqlite3")
	if err != nil {
		return nil, fmt.Errorf("%w: sqlite3 (apt-get install sqlite3)", errAbsent)
	}
	d := &database{cmd: exec.CommandContext(ctx, program, "-batch", "-bail", path)}
	if d.in, err = d.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := d.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	d.out = bufio.NewScanner(out)
	if err := d.cmd.Start(); err != nil {
		return nil, err
	}
	mode, err := d.ask("PRAGMA journal_mode=WAL;")
	if err == nil && mode != "wal" {
		err = fmt.Errorf("sqlite3 writes by %q and not ahead", mode)
	}
	if err == nil {
		_, err = d.ask("PRAGMA synchronous=FULL; CREATE TABLE events(seq INTEGER PRIMARY KEY, line TEXT); SELECT 'made';")
	}
	if err != nil {
		d.close()
		return nil, err
	}
	return d, nil
}

// ask has one line of statements executed, and returns the line that they print.
func (d *database) ask(statements string) (string, error) {
	if _, err := io.WriteString(d.in, statements+"\n"); err != nil {
		return "", fmt.Errorf("tell sqlite3: %w", err)
	}
	if !d.out.Scan() {
		return "", errors.Join(errors.New("sqlite3 has ended"), d.out.Err())
	}
	return d.out.Text(), nil
}

// insert keeps an event in a transaction of its own, and returns when it is kept.
func (d *database) insert(line []byte) error {
	answer, err := d.ask(insertion(line) + " SELECT changes();")
	if err == nil && answer != "1" {
		err = fmt.Errorf("sqlite3 says %q", answer)
	}
	return err
}

// insertion is a transaction that keeps an event, as one line.
func insertion(line []byte) string {
	quoted := strings.ReplaceAll(strings.TrimSuffix(string(line), "\n"), "'", "''")
	return "BEGIN; INSERT INTO events(line) VALUES('" + quoted + "'); COMMIT;"
}

func (d *database) close() {
	_ = d.in.Close()
	_ = d.cmd.Wait() // all was acknowledged
}

// databaseSide keeps the same events as rows.
func (b *bench) databaseSide(d *database) side { return b.lineSide(appendSQLite, d.insert) }
